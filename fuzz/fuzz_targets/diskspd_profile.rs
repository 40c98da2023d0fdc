//! diskspd's XML profiles: what is read is written and read again as the same.
#![no_main]

use libfuzzer_sys::fuzz_target;
use plimsoll_dialects::diskspd::{read_profile, write_profile};

fuzz_target!(|text: &str| {
    match read_profile(text, "p") {
        Ok((profile, lines)) => {
            assert_eq!(lines.len(), profile.spans.len());
            let (again, _) = read_profile(&write_profile(&profile), "p").expect("it was written");
            assert_eq!(again, profile);
        }
        Err(problems) => assert!(!problems.0.is_empty()),
    }
});
