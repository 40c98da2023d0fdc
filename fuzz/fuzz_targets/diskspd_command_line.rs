//! diskspd's command lines, a word a line: what is taken means the same as its profile, and makes a plan or says why.
#![no_main]

use libfuzzer_sys::fuzz_target;
use plimsoll_dialects::{
    diskspd::{Surroundings, lowering::lower, read_profile, translate, write_profile},
    found::{Found, FoundKind},
};

fuzz_target!(|text: &str| {
    let arguments: Vec<String> = text.lines().map(str::to_owned).collect();
    let mut read_file = |_: &str| Ok(None);
    match translate(&arguments, &mut Surroundings { fresh_seed: 1, read_file: &mut read_file }) {
        Ok(asked) => {
            // What XML cannot hold, or would trim, is in names.
            let is_plain = |name: &str| !name.is_empty() && name.chars().all(|letter| letter.is_ascii_graphic());
            if arguments.iter().all(|word| is_plain(word)) && !asked.profile.spans.is_empty() {
                let (profile, _) = read_profile(&write_profile(&asked.profile), "p").expect("it was written");
                assert_eq!(profile, asked.profile);
            }
            let look =
                |path: &str| (path.len() % 2 == 0).then_some(Found { kind: FoundKind::File, size_bytes: 1 << 30 });
            if let Err(problems) = lower(&asked, &look) {
                assert!(!problems.0.is_empty());
            }
        }
        Err(problems) => assert!(!problems.0.is_empty()),
    }
});
