//! A kernel that denies engines: plimsoll falls back and says why. In a program of its own, because kernel settings
//! are the whole machine's.

#![expect(clippy::unwrap_used, reason = "a test ends at the first thing that is not as it must be")]

use std::{fs, path::PathBuf, process::Command};

use serde_json::Value;

/// A kernel setting, put back when dropped.
struct Setting {
    path: PathBuf,
    before: String,
}

impl Setting {
    fn set(name: &str, value: &str) -> Self {
        let path = PathBuf::from("/proc/sys").join(name);
        let before = fs::read_to_string(&path).unwrap();
        fs::write(&path, value).unwrap();
        Self { path, before }
    }
}

impl Drop for Setting {
    fn drop(&mut self) {
        let _ = fs::write(&self.path, self.before.trim());
    }
}

fn cell() -> Value {
    let directory = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_plimsoll"))
        .args(["run", "--rw", "randread", "--size", "4M", "--operations", "100", "--no-history", "--json"])
        .arg(directory.path())
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let record: Value = serde_json::from_slice(&output.stdout).unwrap();
    record["cells"][0].clone()
}

#[test]
#[expect(clippy::disallowed_methods, reason = "a test asks whether it runs in CI")]
fn denied_engines_are_replaced_and_the_record_says_why() {
    if !rustix::process::geteuid().is_root() {
        assert!(std::env::var_os("CI").is_none(), "CI must run as root");
        println!("skipped: kernel settings need root");
        return;
    }
    assert_eq!(cell()["engine"], "io_uring");
    let _uring = Setting::set("kernel/io_uring_disabled", "2");
    let without_uring = cell();
    assert_eq!(without_uring["engine"], "libaio");
    let reason = without_uring["engine_reason"].as_str().unwrap();
    assert!(reason.contains("io_uring_disabled"), "{reason}");
    let _aio = Setting::set("fs/aio-max-nr", "0");
    let without_both = cell();
    assert_eq!(without_both["engine"], "psync");
    let reason = without_both["engine_reason"].as_str().unwrap();
    assert!(reason.contains("aio-max-nr"), "{reason}");
}
