//! Sizes, durations, rates, percentages and limits: what people type after a flag.
#![no_main]

use libfuzzer_sys::fuzz_target;
use plimsoll_workload::{
    limit::Limit,
    units::{ByteCount, Extent, Percent, Rate, Span},
};

fuzz_target!(|text: &str| {
    if let Ok(bytes) = text.parse::<ByteCount>() {
        assert_eq!(bytes.to_string().parse(), Ok(bytes), "a printed size parses back");
    }
    if let Ok(span) = text.parse::<Span>() {
        assert_eq!(span.to_string().parse(), Ok(span), "a printed duration parses back");
    }
    if let Ok(limit) = text.parse::<Limit>() {
        assert_eq!(limit.to_string().parse(), Ok(limit), "a printed limit parses back");
    }
    let _ = text.parse::<Rate>();
    let _ = text.parse::<Extent>();
    let _ = text.parse::<Percent>();
});
