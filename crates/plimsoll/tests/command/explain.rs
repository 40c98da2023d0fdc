<<<<<<< HEAD
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
    assert!(said.stderr.contains("give --sku, --size and --vm, --limit, or --context FILE.toml"), "{}", said.stderr);
    let bad = place.run("explain ROOT/told.txt --context ROOT/none.toml");
    assert!(bad.error(2).contains("read the context"), "{}", bad.stderr);
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
    thread::scope(|scope| {
        for (sku, more, rate, standing, part) in [
            ("P2", "", 120, "within", "disk"),
            ("P4", "", 120, "within", "disk"),
            ("P10", "", 500, "within", "disk"),
            ("P30", "", 5000, "within", "disk"),
            ("P40", "", 7500, "within", "disk"),
            ("S4", "", 500, "within", "disk"),
            ("P30", "", 2500, "under", "disk"),
            ("P10", "", 3500, "burst-only", "disk"),
            ("P40", "--vm Standard_D2s_v3", 3200, "within", "vm"),
        ] {
            let group = &group;
            scope.spawn(move || {
                let place = Place::new();
                let device = LoopDevice::new(64 << 20);
                group.limit(&device.path, "read_iops", rate);
                let load = "--rw randread --queue-depth 32 --passes 1 --duration 6s --caching None";
                let run = format!("run {} {load} --sku {sku} {more}", device.path.display());
                let said = group.run(&place.command(&run));
                assert_eq!(said.code, Some(0), "{}", said.stderr);
                let cell = place.run("explain latest --json").json()["runs"][0]["cells"][0].take();
                let judged = &cell["judged"][0];
                assert_eq!((&judged["standing"], &judged["part"]), (&standing.into(), &part.into()), "{sku}: {cell}");
                let measured = judged["measured"].as_f64().unwrap();
                assert!((measured / rate as f64 - 1.0).abs() < 0.05, "{sku}: {measured}");
            });
        }
    });
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
=======
//! What people say about numbers, checked against the numbers.

use std::fs;

use serde_json::json;

use crate::support::{Place, Said};

const RESULTS: &str = "\
load: (g=0): rw=randread, bs=(R) 16.0KiB-16.0KiB, (W) 16.0KiB-16.0KiB, (T) 16.0KiB-16.0KiB, ioengine=libaio, iodepth=16
   READ: bw=864MiB/s (906MB/s), io=3037GiB (3261GB), run=3600002-3600002msec
sudo fio async-r-basic.ini    # 530 IOPS (expected 500 IOPS)
";

fn with(claims: &str) -> Place {
    let place = Place::new();
    fs::write(place.path("results.txt"), RESULTS).unwrap();
    fs::write(place.path("claims.csv"), claims).unwrap();
    place
}

#[test]
fn claims_are_judged_by_what_a_text_tells() {
    let place = with("id,claim\na,basic delivers 530 IOPS\nb,iops of randread = 59365\nc,all is well\n");
    let said = place.run("explain --claims ROOT/claims.csv ROOT/results.txt");
    assert_eq!((said.code, said.stderr.as_str()), (Some(0), ""));
    for words in ["does not follow", "3 claims: 1 follows, 1 does not follow, 1 no data", "no figure of the data"] {
        assert!(said.stdout.contains(words), "{words} is not in\n{}", said.stdout);
    }
    let json = place.run("explain --claims ROOT/claims.csv ROOT/results.txt --json").json();
    assert_eq!(json["schema"], "plimsoll-claims/1");
    let words: Vec<_> = json["claims"].as_array().unwrap().iter().map(|claim| claim["verdict"].clone()).collect();
    assert_eq!(words, ["follows", "does-not-follow", "no-data"].map(|word| json!(word)));
    let recomputation = json["claims"][1]["recomputation"].as_str().unwrap();
    assert!(recomputation.contains("3,261 GB divided as if they were GiB gives 59,364.7"), "{recomputation}");
    assert_eq!(place.run("explain --claims ROOT/claims.csv ROOT/results.txt --fail").code, Some(1));
}

#[test]
fn a_claim_that_holds_fails_nothing_and_a_run_of_the_history_is_data_too() {
    let place = with("claim\nread iops of mine = 55.287\n");
    assert_eq!(place.run("import ROOT/results.txt --name mine").code, Some(0));
    let said = place.run("explain --claims ROOT/claims.csv mine --thousands . --fail");
    assert_eq!(said.code, Some(0), "{}{}", said.stdout, said.stderr);
    assert!(said.stdout.contains("1 follows"), "{}", said.stdout);
}

#[test]
fn what_is_wrong_in_a_file_of_claims_is_shown_where_it_stands() {
    let refused = |claims: &str, arguments: &str| {
        let place = with(claims);
        let said = place.run(&format!("explain {arguments}"));
        assert_eq!(said.code, Some(2), "{}", said.stdout);
        said.stderr
    };
    let all = "--claims ROOT/claims.csv ROOT/results.txt";
    let error = refused("claim,check\nit,x is\n", all);
    assert!(error.contains("claims.csv: line 2, column 8: the end where"), "{error}");
    assert!(refused("text\nit\n", all).contains("no column claim"), "{error}");
    assert!(refused("claim\nit\n", "--claims ROOT/missing.csv ROOT/results.txt").contains("there is no file"));
    assert!(refused("claim\nit\n", "--claims ROOT/claims.csv").contains("RUN|FILE"));
    assert!(refused("claim\nit\n", &format!("{all} --thousands x")).contains("separates no thousands"));
}

/// The fenced blocks of a document: what stands behind the fence, and the text.
fn blocks(document: &str) -> Vec<(String, String)> {
    let mut blocks = Vec::new();
    let mut lines = document.lines();
    while let Some(line) = lines.next() {
        if let Some(info) = line.strip_prefix("```") {
            let text: Vec<&str> = lines.by_ref().take_while(|line| *line != "```").collect();
            blocks.push((info.to_owned(), text.join("\n") + "\n"));
        }
    }
    blocks
}

#[test]
fn the_examples_of_the_document_are_what_the_commands_print() {
    let place = Place::new();
    let blocks = blocks(include_str!("../../../../docs/claims.md"));
    for (info, text) in &blocks {
        if let Some(name) = info.strip_prefix("text ") {
            fs::write(place.path(name), text).unwrap();
        }
    }
    let commands: Vec<&String> = blocks.iter().filter(|(info, _)| info == "console").map(|(_, text)| text).collect();
    assert_eq!(commands.len(), 2);
    for example in commands {
        let (command, expected) = example.split_once('\n').unwrap();
        let arguments = command.strip_prefix("$ plimsoll ").unwrap();
        let said = Said::of(place.command(arguments).env("COLUMNS", "100").output().unwrap());
        assert_eq!(said.stdout, expected, "{command}: {}", said.stderr);
    }
}

#[test]
fn the_claims_of_the_case_studies_can_all_be_evaluated() {
    let place = with(include_str!("../../../../docs/case-studies/claims.csv"));
    let json = place.run("explain --claims ROOT/claims.csv ROOT/results.txt --json").json();
    let claims = json["claims"].as_array().unwrap();
    assert_eq!(claims.len(), 65);
    assert!(claims.iter().all(|claim| claim["id"].as_str().is_some_and(|id| id.starts_with('C'))), "{json}");
>>>>>>> claims
}
