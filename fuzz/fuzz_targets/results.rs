//! Texts in which results of other programs may stand.
#![no_main]

use libfuzzer_sys::fuzz_target;
use plimsoll_dialects::results::find;

fuzz_target!(|text: &str| {
    let lines = text.lines().count();
    for result in find(text) {
        assert!(1 <= result.lines.0 && result.lines.0 <= result.lines.1 && result.lines.1 <= lines);
    }
});
