//! fio's command lines, a word a line.
#![no_main]

use libfuzzer_sys::fuzz_target;
use plimsoll_dialects::fio::{Surroundings, translate_command_line};

fuzz_target!(|text: &str| {
    let arguments: Vec<String> = text.lines().map(str::to_owned).collect();
    let mut read_file = |name: &str| Ok(name.ends_with('o').then(|| b"[a]\nrw=randrw\n[b]\nstonewall\n".to_vec()));
    let mut surroundings = Surroundings {
        environment: &|_| None,
        page_size_bytes: 4096,
        memory_mib: 1024,
        processors: 8,
        read_file: &mut read_file,
    };
    match translate_command_line(&arguments, &mut surroundings) {
        Ok(jobs) => assert!(jobs.jobs.windows(2).all(|pair| pair[0].group <= pair[1].group)),
        Err(problems) => assert!(!problems.0.is_empty()),
    }
});
