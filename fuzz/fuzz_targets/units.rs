//! Sizes, durations, rates, percentages and sweeps: what people type after a flag.
#![no_main]

use libfuzzer_sys::fuzz_target;
use plimsoll_workload::units::{ByteCount, Extent, Percent, Rate, Span};

fuzz_target!(|text: &str| {
    if let Ok(bytes) = text.parse::<ByteCount>() {
        assert_eq!(bytes.to_string().parse(), Ok(bytes), "a printed size parses back");
    }
    if let Ok(span) = text.parse::<Span>() {
        assert_eq!(span.to_string().parse(), Ok(span), "a printed duration parses back");
    }
    let _ = text.parse::<Rate>();
    let _ = text.parse::<Extent>();
    let _ = text.parse::<Percent>();
});
