//! Values of fio's options, each as every kind of value that there is.
#![no_main]

use libfuzzer_sys::fuzz_target;
use plimsoll_dialects::fio::{
    options,
    value::{KilobyteBase, Reading, TimeUnit},
};

fuzz_target!(|text: &str| {
    for kilobyte_base in [KilobyteBase::K1024, KilobyteBase::K1000] {
        let mut reading = Reading { kilobyte_base, ..Reading::default() };
        if let Ok(number) = reading.number(text) {
            assert_eq!(reading.number(&number.to_string()), Ok(number), "a number reads back");
        }
        if let Ok(span) = reading.time(text, TimeUnit::Seconds) {
            assert_eq!(reading.time(&format!("{}us", span.ns / 1000), TimeUnit::Seconds), Ok(span), "a time reads back");
        }
        let _ = reading.decimal(text);
    }
    // A sixteenth of the options at a time, by the first letter, so that an input takes microseconds.
    let part = usize::from(text.bytes().next().unwrap_or_default()) % 16;
    for entry in options::all().skip(part).step_by(16) {
        let _ = entry.accepts(text) | entry.accepts(text.get(1..).unwrap_or_default());
    }
});
