//! Records: JSON that another version of plimsoll, or somebody's script, wrote.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let Ok(record) = plimsoll_record::upgrade::read(text) else { return };
    let again = serde_json::to_string(&record).expect("a record that was read can be written");
    plimsoll_record::upgrade::read(&again).expect("a written record reads back");
});
