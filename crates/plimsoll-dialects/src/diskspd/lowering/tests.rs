//! What profiles become, seen in their plans.

use plimsoll_workload::{
    certainty::Certainty,
    plan::Plan,
    settings::Effort,
    target_facts::{TargetFacts, TargetKind},
};

use super::{
    super::{Surroundings, flags::FLAGS, translate},
    *,
};
use crate::{
    found::{Found, FoundKind},
    support::Support,
};

fn look(path: &str) -> Option<Found> {
    let found = |kind, size_bytes| Some(Found { kind, size_bytes });
    match path {
        "/dev/sdb" => found(FoundKind::Device, 10 << 30),
        "/data/old" => found(FoundKind::File, 1 << 30),
        "/data" => found(FoundKind::Directory, 0),
        "/dev/null" => found(FoundKind::Other, 0),
        _ => None,
    }
}

fn lowered(line: &str) -> Result<Lowered, Problems> {
    let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
    let mut none = |_: &str| Ok(None);
    let asked = translate(&words, &mut Surroundings { fresh_seed: 5, read_file: &mut none })?;
    lower(&asked, &look)
}

/// The only workload of a line, which the planner takes as well.
fn workload(line: &str) -> Workload {
    let lowered = lowered(line).unwrap_or_else(|problems| panic!("{line}: {problems}"));
    plan(&lowered).unwrap_or_else(|error| panic!("{line}: {error}"));
    assert_eq!(lowered.plan.workloads.len(), 1);
    lowered.plan.workloads[0].clone()
}

fn plan(lowered: &Lowered) -> Result<Plan, plimsoll_workload::plan::PlanError> {
    let facts = |name: &String| {
        let is_device = name.starts_with("/dev/");
        TargetFacts {
            name: name.clone(),
            kind: if is_device { TargetKind::Device } else { TargetKind::Directory },
            size_bytes: is_device.then_some(10 << 30),
            free_bytes: (!is_device).then_some(100 << 30),
            direct_alignment_bytes: Some(512),
        }
    };
    let targets: Vec<TargetFacts> = lowered.plan.targets.iter().map(facts).collect();
    Plan::resolve(&targets, &lowered.plan.workloads, &Certainty::of(Effort::Standard), 1)
}

#[test]
fn the_line_of_the_containers_is_eight_jobs_on_one_file() {
    let workload = workload("-c1G -d30 -r -w50 -t8 -o8 -b4K -Sh -L -z77 /data/new");
    let text = toml::to_string(&workload).unwrap();
    for line in [
        "target = \"/data\"",
        "rw = \"randrw\"",
        "block_size = \"4KiB\"",
        "queue_depth = 8",
        "jobs = 8",
        "size = \"1GiB\"",
        "file_size = \"1GiB\"",
        "file_names = [\"new\"]",
        "buffered = false",
        "sync = \"dsync\"",
        "ramp = \"5s\"",
        "duration = \"30s\"",
        "seed = 77",
        "layout = \"written\"",
    ] {
        assert!(text.contains(line), "{line} is not in\n{text}");
    }
    assert!(lowered("-c1G -r -b4K -Sh /data/new").unwrap().notes.is_empty());
}

#[test]
fn every_flag_is_done_noted_or_refused() {
    for flag in FLAGS.iter().filter(|flag| flag.apply.is_some() && !matches!(flag.form, "-?" | "-X<file>")) {
        // What it takes for a target to ask for what a flag is about.
        let besides = match flag.form {
            "-O<count>" | "-si[stride]" => "-c1G -w50 -t2 /data/a /data/b",
            "-p" => "-c1G -o2 /data/a",
            "-r[align]" => "-c1G -b4K /data/a",
            _ => "-c1G -w50 /data/a",
        };
        let besides = if flag.form == "-O<count>" { besides.replace("-t2 ", "") } else { besides.to_owned() };
        let is_file = flag.form == "-c<size>";
        let line = format!("{} {}", flag.example, if is_file { "/data/a".to_owned() } else { besides });
        let outcome = lowered(&line);
        let told = |text: &str| text.contains(flag.form);
        match flag.support {
            Support::Refused(_) => assert!(told(&outcome.unwrap_err().to_string()), "{line}"),
            _ => {
                let lowered = outcome.unwrap_or_else(|problems| panic!("{line}: {problems}"));
                plan(&lowered).unwrap_or_else(|error| panic!("{line}: {error}"));
                let is_harmless = matches!(flag.form, "-ag" | "-P[count]" | "-v" | "-vs");
                let is_noted = lowered.notes.iter().any(|note| told(&note.text));
                assert_eq!(is_noted, flag.support != Support::Exact && !is_harmless, "{line}: {:?}", lowered.notes);
            }
        }
    }
}

#[test]
fn access_is_where_it_was_asked_for() {
    let sequential = workload("-d1 -b64K -t2 -T1M -B1M:9M /data/old");
    assert_eq!(sequential.offset_increment, Some(ByteCount(1 << 20)));
    assert_eq!(sequential.size, Some(Extent::Bytes(ByteCount(8 << 20))));
    assert_eq!(sequential.offset, Some(Extent::Bytes(ByteCount(1 << 20))));
    let overlapping = workload("-t4 /data/old");
    assert_eq!((overlapping.offset_increment, overlapping.rw), (Some(ByteCount(0)), Some(ReadWrite::Read)));
    let interlocked = workload("-si128K -t4 -o3 /data/old");
    assert_eq!((interlocked.jobs, interlocked.queue_depth), (Some(Sweep::one(1)), Some(Sweep::one(12))));
    assert_eq!(interlocked.stride, Some(ByteCount(128 << 10)));
    // What each thread may do, the one job may do for all.
    let rate = |line: &str| workload(line).rate.unwrap().to_string();
    assert_eq!([rate("-si -t4 -g100i /data/old"), rate("-t4 -g100i /data/old")], ["400/s", "100/s"]);
    assert_eq!(workload("-si -t4 -i8 -j10 /data/old").think_time.unwrap().operations, 32);
    let mixed = workload("-rs25 -w100 -b4K /data/old");
    assert_eq!((mixed.rw, mixed.random_percent), (Some(ReadWrite::RandWrite), Percent::new(25)));
    let device = workload("-f8M -r -Su /dev/sdb");
    assert_eq!((device.target.as_deref(), device.file_names), (Some("/dev/sdb"), None));
    assert_eq!(device.size, Some(Extent::Bytes(ByteCount(8 << 20))));
}

#[test]
fn ranges_are_shares_of_the_region() {
    let zones = |line: &str| workload(line).distribution.unwrap().to_string();
    assert_eq!(zones("-r -rdpct90/10:0/10:5/20 /data/old"), "zoned:90/10:0/10:5/20:5/60");
    assert_eq!(zones("-r -rdabs90/256M:10/256M /data/old"), "zoned:90/25:10/25:0/50");
    assert_eq!(zones("-r -rdabs90/256M /data/old"), "zoned:90/25:10/75");
    // What lies behind the end leaves its operations to the others.
    assert_eq!(zones("-r -rdabs50/512M:25/512M:25/1G /data/old").split(':').count(), 3);
}

#[test]
fn rates_and_pauses_are_those_of_each_thread() {
    let rate = workload("-g500i -r /data/old");
    assert_eq!((rate.rate, rate.rate_per), (Some(Pace::Operations(500.0)), Some(RateScope::Job)));
    assert_eq!(workload("-g500 -r /data/old").rate, Some(Pace::Bytes(500_000)));
    let pause = workload("-i8 -j10 -r /data/old").think_time.unwrap();
    assert_eq!(pause.to_string(), "10ms/8");
}

#[test]
fn several_targets_and_spans_are_loaded_together_and_in_turn() {
    let several = lowered("-F2 -O8 -r /data/old /dev/sdb").unwrap();
    let loads: Vec<_> = several.plan.workloads.iter().map(|workload| (&workload.jobs, &workload.queue_depth)).collect();
    assert_eq!(loads, vec![(&Some(Sweep::one(2)), &Some(Sweep::one(4))); 2]);
    assert!(several.plan.workloads.iter().all(|workload| workload.phase == Some(0)));
    assert_eq!(several.cells.iter().map(|cell| cell.target).collect::<Vec<_>>(), [0, 1]);
    assert!(plan(&several).is_ok());
}

#[test]
fn what_cannot_be_done_is_told_where_it_stands() {
    for (line, expected) in [
        ("-r /data/new", "word 2: there is no file /data/new; write -c<size> to make it"),
        ("-r /data", "/data is a directory"),
        ("-r /dev/null", "neither a file nor a block device"),
        ("-r /dev/sdz", "there is no device /dev/sdz"),
        ("-c1G /dev/sdb", "word 1: /dev/sdb is a device, which has its size"),
        ("-r #1", "as Windows counts them; name a block device as /dev/sdb"),
        ("-r c:", "is a name of Windows"),
        ("-r c:\\x.dat", "is a name of Windows"),
        ("-B2G /data/old", "word 1: /data/old has 1073741824 bytes"),
        ("-b4K -r8K /data/old", "word 2: random access at multiples of 8192 bytes"),
        ("-b4K -s1K /data/old", "a stride of 1024 bytes is less than a block"),
        ("-s0 /data/old", "a stride of 0 bytes"),
        ("-F2 -O3 -r /data/old /dev/sdb", "no whole number for each of 2 targets"),
        ("-t2 -T2G /data/old", "would begin behind the end"),
        ("-ag1,0 /data/old", "there is no processor group 1"),
        ("-w100 -Z1M,/x /data/old", "-Z<size>,<file> is not possible"),
        ("-Sr /data/old", "-Sr is not possible"),
    ] {
        let said = lowered(line).map_or_else(|problems| problems.to_string(), |_| "taken".to_owned());
        assert!(said.contains(expected), "{line}: {said}");
    }
}
