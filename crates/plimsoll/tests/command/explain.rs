//! `plimsoll explain`: expected beside measured, what binds, and why.

use std::{
    fs::{self, File},
    io::Write,
    path::{Path, PathBuf},
    process::Command,
    thread,
};

use serde_json::Value;

use crate::support::{LoopDevice, Place, RateGroup, is_root, skip};

/// The report of fio's that says so much, of an hour of 4 KiB operations.
fn fio_report(rw: &str, lines: &str) -> String {
    format!(
        "job: (g=0): rw={rw}, bs=(R) 4096B-4096B, (W) 4096B-4096B, (T) 4096B-4096B, ioengine=libaio, iodepth=16\n\
         Starting 4 processes\n\nRun status group 0 (all jobs):\n{lines}\n"
    )
}

fn explained(place: &Place, text: &str, arguments: &str) -> Value {
    fs::write(place.path("told.txt"), text).unwrap();
    let said = place.run(&format!("explain ROOT/told.txt {arguments} --json"));
    assert_eq!(said.code, Some(0), "{}", said.stderr);
    said.json()["runs"][0]["cells"][0].take()
}

fn codes(cell: &Value) -> Vec<&str> {
    cell["causes"].as_array().unwrap().iter().map(|cause| cause["code"].as_str().unwrap()).collect()
}

#[test]
fn an_hour_of_a_bursting_disk_is_what_its_bucket_gives() {
    let place = Place::new();
    // P10: 3,500 for half an hour and 500 for the other half are 2,000 IOPS on average.
    let lines = "  WRITE: bw=7.97MiB/s (8.36MB/s), 1.99MiB/s-1.99MiB/s (2.09MB/s-2.09MB/s), io=28.0GiB (30.1GB), \
                 run=3600001-3600002msec";
    let cell = explained(&place, &fio_report("randwrite", lines), "--sku P10");
    let judged = &cell["judged"][0];
    assert_eq!(judged["standing"], "burst-only");
    assert!((judged["mean_from_full"].as_f64().unwrap() - 2000.0).abs() < 0.1, "{judged}");
    assert_eq!(codes(&cell), ["burst-credits"]);
    let text = place.run("explain ROOT/told.txt --sku P10").stdout;
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains("gives 3,500 IOPS for 30m 00s, then 500 IOPS, so 2,000 IOPS over 1h 00m"), "{text}");
    assert!(text.contains("takes 3h 00m of rest to be full again"), "{text}");
}

#[test]
fn a_machine_that_binds_is_named_with_the_first_that_would_not() {
    let place = Place::new();
    let lines = "   READ: bw=12.5MiB/s (13.1MB/s), 3.12MiB/s-3.13MiB/s (3.28MB/s-3.28MB/s), io=43.9GiB (47.2GB), \
                 run=3600001-3600002msec";
    let cell = explained(&place, &fio_report("randread", lines), "--sku P40 --vm Standard_D2s_v3 --caching None");
    assert_eq!((&cell["judged"][0]["standing"], &cell["judged"][0]["part"]), (&"within".into(), &"vm".into()));
    let cause = &cell["causes"][0];
    assert_eq!(cause["code"], "vm-limit");
    assert!(
        cause["text"].as_str().unwrap().contains("P40 (Premium SSD of 2 TiB) alone would do 7,500 IOPS"),
        "{cause}"
    );
    assert!(cause["advice"].as_str().unwrap().starts_with("Standard_D8s_v3 is the first size"), "{cause}");
}

#[test]
fn reads_that_no_disk_could_answer_are_a_cache_s() {
    let place = Place::new();
    let lines = "   READ: bw=234MiB/s (246MB/s), 58.6MiB/s-58.6MiB/s (61.4MB/s-61.4MB/s), io=823GiB (884GB), \
                 run=3600001-3600002msec";
    let cell = explained(&place, &fio_report("randread", lines), "--sku P40 --vm D16s_v5");
    assert_eq!(cell["judged"][0]["standing"], "impossible");
    assert_eq!(codes(&cell), ["host-cache"]);
    let cell = explained(&place, &fio_report("randread", lines), "--sku P40 --vm D16s_v5 --caching None");
    assert_eq!(codes(&cell), ["cache"]);
}

#[test]
fn a_published_number_that_took_decimal_units_for_binary_ones_is_corrected() {
    let place = Place::new();
    let lines = "  WRITE: bw=7.97MiB/s (8.36MB/s), 1.99MiB/s-1.99MiB/s (2.09MB/s-2.09MB/s), io=28.0GiB (30.1GB), \
                 run=3600001-3600002msec";
    // 30.1 GB as if they were GiB: 30.1 x 1024 x 1024 / 4 / 3600 = 2,191.8.
    let table = "| test | IOPS |\n|---|---|\n| writes | 2.192 |\n| reads | 2.039 |\n\n";
    let cell = explained(&place, &format!("{table}{}", fio_report("randwrite", lines)), "--sku P10");
    let slips = cell["slips"].as_array().unwrap();
    assert_eq!(slips.len(), 1, "{slips:?}");
    assert_eq!((&slips[0]["stated"], &slips[0]["lines"][0]), (&"2.192".into(), &3.into()));
    assert!((slips[0]["iops"].as_f64().unwrap() - 2039.0).abs() < 1.0, "{slips:?}");
}

#[test]
fn without_a_word_about_the_storage_it_is_said_what_to_say() {
    let place = Place::new();
    let lines = "   READ: bw=12.5MiB/s (13.1MB/s), 3.12MiB/s-3.13MiB/s (3.28MB/s-3.28MB/s), io=43.9GiB (47.2GB), \
                 run=3600001-3600002msec";
    fs::write(place.path("told.txt"), fio_report("randread", lines)).unwrap();
    let said = place.run("explain ROOT/told.txt");
    assert_eq!(said.code, Some(0), "{}", said.stderr);
    assert!(
        said.stderr.contains("give --sku, --size and --vm, --limit, --kubernetes FILE, or --context FILE.toml"),
        "{}",
        said.stderr
    );
    let bad = place.run("explain ROOT/told.txt --context ROOT/none.toml");
    assert!(bad.error(2).contains("there is no file") && bad.stderr.contains("none.toml"), "{}", bad.stderr);
    let endless = place.run("explain ROOT/told.txt --context /dev/zero");
    assert!(endless.error(2).contains("/dev/zero is longer than 16 MiB"), "{}", endless.stderr);
    fs::write(place.path("bad.toml"), "[targets.a]\nskuu = 'P30'\n").unwrap();
    let bad = place.run("explain ROOT/told.txt --context ROOT/bad.toml");
    assert!(bad.error(2).contains("bad.toml") && bad.stderr.contains("unknown field `skuu`"), "{}", bad.stderr);
    assert!(place.run("explain").error(2).contains("history"));
}

#[test]
fn a_disk_stands_by_its_limit_and_a_machine_below_it_is_named() {
    if !is_root() {
        return;
    }
    let Some(group) = RateGroup::new("explain") else { return };
    let cases = [
        ("P2", "", 120, "within", "disk"),
        ("P4", "", 120, "within", "disk"),
        ("P10", "", 500, "within", "disk"),
        ("P30", "", 5000, "within", "disk"),
        ("P40", "", 7500, "within", "disk"),
        ("S4", "", 500, "within", "disk"),
        ("P30", "", 2500, "under", "disk"),
        ("P10", "", 3500, "burst-only", "disk"),
        ("P40", "--vm Standard_D2s_v3", 3200, "within", "vm"),
    ];
    for few in cases.chunks(3) {
        thread::scope(|scope| {
            for &(sku, more, rate, standing, part) in few {
                let group = &group;
                scope.spawn(move || {
                    let place = Place::new();
                    let device = LoopDevice::new(64 << 20);
                    group.limit(&device.path, "read_iops", rate);
                    let load = "--rw randread --queue-depth 32 --passes 1 --duration 6s --caching None";
                    let run = format!("run {} {load} --sku {sku} {more}", device.path.display());
                    let explained = || {
                        let said = group.run(&place.command(&run));
                        assert_eq!(said.code, Some(0), "{}", said.stderr);
                        let cell = place.run("explain latest --json").json()["runs"][0]["cells"][0].take();
                        let measured = cell["judged"][0]["measured"].as_f64().unwrap();
                        ((measured / rate as f64 - 1.0).abs() < 0.03).then_some(cell).ok_or(measured)
                    };
                    // A machine that is busy with other tests may not reach the cap: then nothing is shown.
                    let cell = explained().or_else(|_| explained()).or_else(|_| explained());
                    let cell = cell.unwrap_or_else(|measured| panic!("{sku}: {measured} of {rate}"));
                    let judged = &cell["judged"][0];
                    assert_eq!(
                        (&judged["standing"], &judged["part"]),
                        (&standing.into(), &part.into()),
                        "{sku}: {cell}"
                    );
                });
            }
        });
    }
}

/// A file system on a loop device, unmounted when dropped.
struct Mounted {
    directory: PathBuf,
    device: LoopDevice,
}

impl Mounted {
    fn ext4(directory: PathBuf) -> Option<Self> {
        let device = LoopDevice::new(256 << 20);
        fs::create_dir(&directory).unwrap();
        let made = Command::new("mkfs.ext4").arg("-q").arg(&device.path).output();
        if !made.is_ok_and(|output| output.status.success()) {
            skip("mkfs.ext4");
            return None;
        }
        let status = Command::new("mount").arg(&device.path).arg(&directory).status().unwrap();
        assert!(status.success(), "mount");
        Some(Self { directory, device })
    }

    /// Writes that the device completed.
    fn writes(&self) -> u64 {
        let name = self.device.path.file_name().unwrap();
        let stat = fs::read_to_string(Path::new("/sys/block").join(name).join("stat")).unwrap();
        stat.split_whitespace().nth(4).unwrap().parse().unwrap()
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(&self.directory).status();
    }
}

#[test]
fn a_file_that_is_synced_costs_ext4_three_writes() {
    if !is_root() {
        return;
    }
    let place = Place::new();
    let Some(mounted) = Mounted::ext4(place.path("mounted")) else { return };
    for size in [10 << 10, 100 << 10] {
        const FILES: u64 = 100;
        rustix::fs::sync();
        let before = mounted.writes();
        for index in 0..FILES {
            let mut file = File::create(mounted.directory.join(format!("{size}-{index}"))).unwrap();
            file.write_all(&vec![0; size]).unwrap();
            file.sync_all().unwrap();
        }
        let each = (mounted.writes() - before) as f64 / FILES as f64;
        assert!((each - 3.0).abs() < 0.2, "{size} bytes: {each} writes");
    }
    // The same of a set of files: the limit is told in files.
    let set = "run ROOT/mounted --phases write --file-count 100 --file-size 10k --file-sync file --iterations 3";
    place.record(&format!("{set} --name files"));
    let said = place.run("explain files --limit iops=30000 --json").json();
    let judged = &said["runs"][0]["cells"][0]["judged"];
    assert_eq!(
        (&judged[0]["operation"], &judged[0]["unit"]),
        (&"write".into(), &"files_per_second".into()),
        "{judged}"
    );
    let lasting = judged[0]["lasting"].as_f64().unwrap();
    assert!((lasting - 10_000.0).abs() < 700.0, "{judged}");
    assert_eq!(judged.as_array().unwrap().len(), 1, "{judged}");
}

/// What the sources' authors did not state, but a reader can compute: a context that has it would be circular.
const COMPUTED: [&str; 24] = [
    "55287", "76495", "7664", "1838", "121.8", "121.6", "62.5", "62.9", "1810", "4.14", "4.17", "14.1", "0.99", "0.68",
    "25.0", "25.1", "26.7", "24.8", "101.7", "211.8", "207.6", "335.5", "48202", "3388",
];

#[test]
fn contexts_of_published_comparisons_have_what_their_sources_state_and_nothing_computed() {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/case-studies");
    let mut contexts = 0;
    for entry in fs::read_dir(&directory).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "toml") {
            continue;
        }
        contexts += 1;
        let text = fs::read_to_string(&path).unwrap();
        let plain = text.replace([',', '_'], "");
        for computed in COMPUTED {
            assert!(!plain.contains(computed), "{}: {computed}", path.display());
        }
        let context: toml::Table = toml::from_str(&text).unwrap();
        let tables = context.iter().flat_map(|(name, value)| {
            let value = value.as_table().unwrap();
            if name == "defaults" { vec![value] } else { value.values().map(|of| of.as_table().unwrap()).collect() }
        });
        for key in tables.flat_map(toml::Table::keys) {
            assert!(["sku", "size", "vm", "iops", "bandwidth", "caching"].contains(&key.as_str()), "{key}");
        }
    }
    assert_eq!(contexts, 4);
}
