//! Targets that somebody changes while a run makes them ready.

use std::{fs, mem, os::unix::fs::symlink};

use plimsoll_workload::{certainty::Certainty, settings::Effort, workload::Workload};

use super::*;

fn open(path: &Path, emit: &mut dyn FnMut(RunEvent)) -> Result<Sites, RunError> {
    let workload = "rw = \"randread\"\nsize = 1048576\nengine = \"psync\"\nbuffered = true\nduration = \"1s\"\n";
    let workload: Workload = toml::from_str(workload).unwrap();
    let facts = target::facts(path).unwrap();
    let plan = Plan::resolve(&[facts], &[workload], &Certainty::of(Effort::Quick), 42).unwrap();
    let run = Uuid::from_u128(1);
    let making = Making { run, files_after: FilesAfter::Kept, state_directory: None, common: None };
    Sites::open(&plan, Sites::guard(&plan, &[])?, making, &AtomicBool::new(false), emit)
}

/// What is told of a kept file comes after it was taken and before it is filled anew; the end of that before it is
/// opened to be read.
#[test]
fn a_file_whose_directory_is_exchanged_meanwhile_is_neither_filled_nor_read() {
    let is_moment: [fn(&RunEvent) -> bool; 2] =
        [|event| matches!(event, RunEvent::Found { .. }), |event| matches!(event, RunEvent::LayoutFinished { .. })];
    for is_moment in is_moment {
        let root = tempfile::tempdir().unwrap();
        let [shared, moved, victim] = ["shared", "moved", "victim"].map(|name| root.path().join(name));
        let path = shared.join("data");
        fs::create_dir(&shared).unwrap();
        fs::create_dir(&victim).unwrap();
        fs::write(victim.join("data"), "precious").unwrap();
        open(&path, &mut |_| {}).unwrap().close(&mut |_| {});
        let mut is_exchanged = false;
        let exchange = &mut |event| {
            if is_moment(&event) && !mem::replace(&mut is_exchanged, true) {
                fs::rename(&shared, &moved).unwrap();
                symlink(&victim, &shared).unwrap();
            }
        };
        let Err(error) = open(&path, exchange) else { panic!("it was opened") };
        assert!(is_exchanged && error.to_string().contains("no longer the file that plimsoll made"), "{error}");
        assert_eq!(fs::read(victim.join("data")).unwrap(), b"precious");
        assert_eq!(moved.join("data").metadata().unwrap().len(), 1 << 20);
    }
}
