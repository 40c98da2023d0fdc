//! Numbers that are a cache's: said so, with what shows it.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
    thread,
};

use serde_json::Value;

use crate::support::{Place, RateGroup, is_root, skip};

fn finding<'a>(cell: &'a Value, code: &str) -> Option<&'a Value> {
    cell["findings"].as_array().unwrap().iter().find(|finding| finding["code"] == code)
}

#[test]
fn buffered_reads_of_a_cached_file_are_called_cached_and_show_what_the_cache_held() {
    let place = Place::new();
    let file = place.path("file");
    // What was just written is in the page cache.
    fs::write(&file, vec![7; 4 << 20]).unwrap();
    let file = file.to_str().unwrap();
    let arguments = format!("run {file} --rw randread --buffered --passes 3 --duration 200ms --ramp 0s");
    let record = place.record(&arguments);
    let cell = &record["cells"][0];
    if cell["cache"]["storage_read_bytes"].is_null() {
        skip("a build directory on a disk");
        return;
    }
    assert_eq!(cell["verdict"], "cached", "{}", cell["findings"]);
    let evidence = &finding(cell, "cached-reads").unwrap()["evidence"];
    assert_eq!((&evidence["resident_bytes"], &evidence["working_set_bytes"]), (&(4 << 20).into(), &(4 << 20).into()));

    let said = place.run(&arguments);
    assert_eq!(said.code, Some(0), "{}", said.stderr);
    let text = said.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains("cached"), "{text}");
    assert!(text.contains("the page cache answered 100 % of what was read"), "{text}");
    assert!(text.contains("the cache held 100 % of the working set"), "{text}");
}

#[test]
fn each_pass_of_a_job_of_fio_is_read_from_the_storage_unless_it_says_otherwise() {
    let place = Place::new();
    let job = "fio --output-format=json --name=a --directory=data --rw=randread --bs=64k --size=4m --loops=3";
    // The file is there and cached before the job that counts.
    for options in ["", " --invalidate=0", ""] {
        let said = place.run(&format!("{job}{options}"));
        assert_eq!((said.code, said.stderr.as_str()), (Some(0), ""));
        let cache = &place.run("show latest --json").json()["cells"][0]["cache"];
        let Some(read) = cache["storage_read_bytes"].as_u64() else {
            skip("a build directory on a disk");
            return;
        };
        assert_eq!(cache["requested_read_bytes"], 12 << 20);
        let expected = if options.is_empty() { 12 << 20 } else { 0 };
        assert!(read.abs_diff(expected) <= 4 << 20, "{options}: {read} bytes");
    }
}

/// A device with a rate cap for whoever is in its control group, and a device on top of it; removed when dropped.
struct Stack {
    top: PathBuf,
    bottom: PathBuf,
    group: RateGroup,
}

impl Stack {
    fn new(image: &Path, rate: u64, top_direct: &str) -> Option<Self> {
        let group = RateGroup::new(&format!("stack-{top_direct}"))?;
        let mut stack = Self { top: PathBuf::new(), bottom: PathBuf::new(), group };
        fs::write(image, vec![7; 32 << 20]).unwrap();
        stack.bottom = attach(image, "on")?;
        stack.group.limit(&stack.bottom, "read_iops", rate);
        stack.top = attach(&stack.bottom, top_direct)?;
        Some(stack)
    }
}

fn attach(file: &Path, direct: &str) -> Option<PathBuf> {
    let direct = format!("--direct-io={direct}");
    let output = Command::new("losetup").args([direct.as_str(), "--find", "--show"]).arg(file).output().unwrap();
    if !output.status.success() {
        skip(&format!("losetup: {}", String::from_utf8_lossy(&output.stderr)));
        return None;
    }
    Some(String::from_utf8(output.stdout).unwrap().trim().into())
}

impl Drop for Stack {
    fn drop(&mut self) {
        for device in [&self.top, &self.bottom].into_iter().filter(|device| !device.as_os_str().is_empty()) {
            let _ = Command::new("losetup").arg("--detach").arg(device).status();
        }
    }
}

/// The only cell of random reads on top of a stack, where a plain device lets 1,000 operations pass each second.
fn read_from_stack(place: &Place, top_direct: &str) -> Option<Value> {
    let stack = Stack::new(&place.path(&format!("image-{top_direct}")), 1000, top_direct)?;
    let arguments = format!("run {} --rw randread --queue-depth 4 --max-time 14s --json", stack.top.display());
    let said = stack.group.run(&place.command(&arguments));
    assert_eq!(said.code, Some(0), "{}", said.stderr);
    Some(said.json()["cells"][0].take())
}

#[test]
fn a_cache_that_direct_reads_do_not_avoid_is_found_by_reading_twice() {
    if !is_root() {
        return;
    }
    let place = Place::new();
    let (cached, direct) = thread::scope(|scope| {
        let direct = scope.spawn(|| read_from_stack(&place, "on"));
        (read_from_stack(&place, "off"), direct.join().unwrap())
    });
    let (Some(cached), Some(direct)) = (cached, direct) else { return };
    let repeats = &cached["cache"]["repeats"];
    assert!(repeats["ratio_lowest"].as_f64().unwrap() > 1.05, "{repeats}");
    assert_eq!(cached["verdict"], "cached", "{repeats} {}", cached["findings"]);
    let found = finding(&cached, "repeated-reads-faster").unwrap();
    assert!(found["text"].as_str().unwrap().contains("remembers reads"), "{found}");
    assert_ne!(direct["verdict"], "cached", "{}", direct["findings"]);
    assert_eq!(finding(&direct, "cache-behind"), None);
}
