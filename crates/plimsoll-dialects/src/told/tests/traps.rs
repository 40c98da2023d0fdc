//! Texts that a reader is tempted to misread.

use super::*;

/// A job of fio as its report tells it.
fn job(name: &str, group: u32, pid: u32, iops: u64) -> String {
    format!(
        "{name}: (groupid={group}, jobs=1): err= 0: pid={pid}: Sun Nov 22 08:57:42 2026\n  read: IOPS={iops}, \
         BW={}KiB/s (0kB/s)({}KiB/1000msec)\n    clat (usec): min=1, max=9, avg=5.00, stdev=1.00\n    clat percentiles \
         (usec):\n     | 99.00th=[    8]\n     issued rwts: total={iops},0,0,0 short=0,0,0,0\n",
        iops * 4,
        iops * 4
    )
}

fn load(name: &str, group: u32) -> String {
    format!(
        "{name}: (g={group}): rw=randread, bs=(R) 4096B-4096B, (W) 4096B-4096B, (T) 4096B-4096B, ioengine=psync, \
         iodepth=1\n"
    )
}

fn group(group: u32, iops: u64) -> String {
    let kib = iops * 4;
    format!(
        "Run status group {group} (all jobs):\n   READ: bw={kib}KiB/s (0kB/s), io={kib}KiB ({}kB), \
         run=1000-1000msec\n",
        kib * 1024 / 1000
    )
}

fn loads_of(text: &str) -> Vec<(String, f64, usize)> {
    let of = |result: FoundResult| {
        let iops = transfers(&result).read.as_ref().and_then(|read| read.iops).unwrap_or(0.0);
        (result.workload.clone().unwrap_or_default(), iops, result.findings.len())
    };
    find(text).into_iter().map(of).collect()
}

#[test]
fn names_of_jobs_have_spaces_and_groups_of_jobs_follow_all_jobs() {
    let text = load("seq read", 0)
        + &load("rand read", 1)
        + "Starting 2 processes\n\n"
        + &job("seq read", 0, 7, 100)
        + &job("rand read", 1, 8, 300)
        + &group(0, 100)
        + "\n"
        + &group(1, 300);
    // One note each, about the zone of the time.
    let expected = [("seq read".to_owned(), 100.0, 1), ("rand read".to_owned(), 300.0, 1)];
    assert_eq!(loads_of(&text), expected);
    for prefix in ["# ", "2024-05-01T10:00:00.5Z stdout F "] {
        let marked: String = text.lines().map(|line| format!("{prefix}{line}\n")).collect();
        assert_eq!(loads_of(&marked), expected, "{prefix}");
    }
    // Clones are of one group.
    let again =
        load("x", 0) + &load("x", 1) + &job("x", 0, 7, 100) + &job("x", 1, 8, 300) + &group(0, 100) + &group(1, 300);
    assert_eq!(loads_of(&again).len(), 2);
    // A quote that is cut behind percentiles does not hide what follows, nor end behind the text.
    let cut = job("a", 0, 7, 100).split("     issued").next().unwrap().to_owned() + &job("b", 0, 8, 300);
    assert_eq!(loads_of(&cut).len(), 2);
    let cut = job("a", 0, 7, 100).split("     issued").next().unwrap().to_owned();
    assert_eq!(find(&cut)[0].told.lines, (1, 5));
}

#[test]
fn a_group_has_its_own_load_where_nothing_is_told_of_its_jobs() {
    let of = |text: &str| {
        let load = |result: &FoundResult| {
            let load = transfers(result);
            (load.block_size_bytes, load.read.as_ref().unwrap().operations, load.jobs)
        };
        find(text).iter().map(load).collect::<Vec<_>>()
    };
    let large = |group| load("large", group).replace("4096B", "1024KiB");
    let groups = group(0, 2048) + "\n" + &group(1, 4096);
    let text = load("small", 0) + &large(1) + "Starting 2 processes\n\n" + &groups;
    let each = [(Some(4096), Some(2048), None), (Some(1 << 20), Some(16), None)];
    assert_eq!(of(&text), each);
    // Another run has its own, and jobs of a group that differ are no load.
    assert_eq!(of(&(text + &groups)), [&each[..], &[(None, None, None); 2]].concat());
    let same = load("small", 0) + &load("other", 0) + "Starting 2 processes\n" + &group(0, 2048);
    assert_eq!(of(&same), [(Some(4096), Some(2048), Some(2))]);
    assert_eq!(of(&(same + &load("small", 0) + &large(0) + &group(0, 2048)))[1], (None, None, None));
}

#[test]
fn what_is_told_of_a_job_that_goes_on_is_told_again() {
    let told = |iops| job("a", 0, 7, iops) + "\n" + &group(0, iops);
    let text = load("a", 0) + &told(100) + &told(200) + &told(300);
    assert_eq!(loads_of(&text), [("a".to_owned(), 300.0, 1)]);
}

#[test]
fn trims_are_no_writes_and_mixed_is_all() {
    let text = job("a", 0, 7, 100).replace(
        "     issued",
        "  trim: IOPS=5, BW=20KiB/s (0kB/s)(20KiB/1000msec)\n    clat (msec): min=1, max=9, avg=7.00, stdev=1.00\n     issued",
    );
    let found = find(&text);
    assert!(close(transfers(&found[0]).read.as_ref().unwrap().latency_mean_ns, 5000.0));
    let mixed = find(&job("a", 0, 7, 100).replace("  read:", "  mixed:"));
    assert!(close(transfers(&mixed[0]).total.as_ref().unwrap().iops, 100.0));
}

#[test]
fn sizes_of_reads_and_writes_that_differ_are_nobodys_block_size() {
    let load = load("a", 0).replace("(W) 4096B-4096B", "(W) 65536B-65536B");
    let of = |rw: &str| {
        let text = load.replace("randread", rw) + "   READ: bw=4KiB/s (0kB/s), io=4KiB (4kB), run=1000-1000msec\n";
        transfers(&find(&text)[0]).block_size_bytes
    };
    assert_eq!([of("randread"), of("randwrite"), of("randrw")], [Some(4096), Some(65536), None]);
}

const JSON: &str = r#"{ "fio version" : "fio-3.33", "jobs" : [ { "jobname" : "NAME", "groupid" : 0, "error" : 0,
  "job options" : { "rw" : "randread", "bs" : "4k", "direct" : "1", "size" : "64m", "filename" : "/d" },
  "read" : { "io_bytes" : 4096000, "io_kbytes" : 4000, "bw_bytes" : 409600, "iops" : 100.0, "runtime" : 10000,
    "total_ios" : 1000 } } ] }"#;

#[test]
fn clones_whose_reads_and_writes_are_told_together_are_added_up() {
    let (head, rest) = JSON.split_once('[').unwrap();
    let (job, tail) = rest.rsplit_once(']').unwrap();
    let job = job.replace("\"read\"", "\"mixed\"");
    let found = find(&format!("{head}[{job}, {job}]{tail}"));
    let [result] = found.as_slice() else { panic!("{found:?}") };
    let total = transfers(result).total.as_ref().unwrap();
    assert!(close(total.iops, 200.0), "{total:?}");
    assert_eq!((total.operations, transfers(result).jobs), (Some(2000), Some(2)));
}

#[test]
fn sizes_in_options_of_fio_are_what_they_are_to_fio() {
    let of = |size: &str, more: &str| {
        let text = JSON.replace("\"4k\"", "\"4kb\"").replace("\"64m\"", &format!("\"{size}\"{more}"));
        let found = find(&text);
        (transfers(&found[0]).block_size_bytes, transfers(&found[0]).working_set_bytes)
    };
    assert_eq!(of("10GB", ""), (Some(4096), Some(10 << 30)));
    assert_eq!(of("1GiB", ""), (Some(4096), Some(1_000_000_000)));
    // Then 4kb are 4000 bytes, which is not what was moved.
    assert_eq!(of("10GB", ", \"kb_base\" : \"1000\""), (None, Some(10_000_000_000)));
}

#[test]
fn reports_in_json_are_found_wherever_they_stand() {
    let report = |name: &str| JSON.replace("NAME", name);
    let names = |text: &str| find(text).into_iter().filter_map(|result| result.workload).collect::<Vec<_>>();
    // Latencies may be switched off.
    assert_eq!(names(&report("a")), ["a"]);
    let load = transfers(&find(&report("a"))[0]).clone();
    assert_eq!((load.is_direct, load.working_set_bytes, load.pace), (Some(true), Some(64 << 20), None));
    let paced = report("a").replace("\"direct\"", "\"rate\" : \"0\", \"rate_iops\" : \"100,200\", \"direct\"");
    assert_eq!(transfers(&find(&paced)[0]).pace.as_deref(), Some("rate_iops=100,200"));
    // Many behind each other, two in a line, in an array, behind JSON of other programs, with sorted keys.
    assert_eq!(find(&(report("a") + "\n").repeat(300)).len(), 300);
    let compact = |name: &str| report(name).replace('\n', "");
    assert_eq!(names(&format!("[{},{}]", compact("a"), compact("b"))), ["a", "b"]);
    let other = "{\n \"kind\": \"Pod\", \"items\": [ {\n } ]\n}\n".repeat(2000);
    assert_eq!(names(&(other + &report("a"))), ["a"]);
    let sorted =
        report("a").replace("{ \"fio version\" : \"fio-3.33\",", "{ \"a\": [{}], \"fio version\" : \"fio-3.33\",");
    assert_eq!(names(&sorted), ["a"]);
    // In comments and logs.
    for prefix in ["# ", "2024-05-01T10:00:00Z stdout F "] {
        let marked: String = report("a").lines().map(|line| format!("{prefix}{line}\n")).collect();
        let found = find(&format!("before\n{marked}after\n"));
        assert_eq!((found.len(), found[0].told.lines), (1, (2, 5)), "{prefix}");
    }
    // Torn ones are not, and hide no other.
    let torn = &report("a")[..200];
    assert_eq!(names(&format!("{torn}\n{}", report("b"))), ["b"]);
    // The same in words is not another result.
    let both = report("a") + "\n" + &job("a", 0, 7, 1000);
    assert_eq!(names(&both), ["a"]);
    let wrong = find(&report("a").replace("\"bw_bytes\" : 409600", "\"bw_bytes\" : 999999"));
    assert!(texts(&wrong[0])[0].contains("are not 999999 bytes per second"), "{wrong:?}");
}

#[test]
fn numbers_that_are_none_are_not_told() {
    let text = job("a", 0, 7, 100).replace("99.00th=[    8]", "99.00th=[1e305]").replace("(usec)", "(msec)");
    let read = transfers(&find(&text)[0]).read.clone().unwrap();
    assert!(
        read.percentiles.iter().all(|of| of.latency_ns.is_finite() && of.percent < 99.0 || of.percent > 99.5),
        "{read:?}"
    );
}

#[test]
fn what_does_not_agree_is_said_of_every_source() {
    let said = |from: &str, to: &str| {
        assert!(DISKSPD.contains(from), "{from}");
        texts(&find(&DISKSPD.replacen(from, to, 1))[0]).join("; ")
    };
    assert_eq!(said("a.dat", "a.dat"), "");
    let wrong = said(
        "total:          12288000 |         3000 |       1.17",
        "total:          12288000 |         3000 |       11.7",
    );
    assert!(wrong.contains("12288000 bytes of operations in 10.00 s"), "{wrong}");
    let headed = format!("Input parameters:\n\ttimespan:   1\n\tpath: 'a.dat'\n\t\tblock size: 64KiB\n{DISKSPD}");
    let wrong = texts(&find(&headed)[0]).join("; ");
    assert!(wrong.contains("4096 bytes on average, and blocks of 65536"), "{wrong}");
}

#[test]
fn targets_of_diskspd_are_told_as_what_they_share() {
    let target = |path: &str, depth: u32| {
        format!(
            "\tpath: '{path}'\n\t\tperforming read test\n\t\tblock size: 4KiB\n\t\tusing random I/O (alignment: \
             4KiB)\n\t\tnumber of outstanding I/O operations per thread: {depth}\n"
        )
    };
    let tables = DISKSPD.replace("### A disk\n", "");
    let text =
        format!("Command Line: diskspd\n\ttimespan:   1\n{}{}\n{tables}", target("a.dat", 1), target("b.dat", 8));
    let found = find(&text);
    let load = transfers(&found[0]);
    assert_eq!(
        (load.pattern.as_deref(), load.block_size_bytes, load.queue_depth),
        (Some("randread"), Some(4096), None)
    );
    assert_eq!(found[0].target.as_deref(), Some("a.dat, b.dat"));
    // Each time span has its own.
    let spans = format!(
        "Command Line: diskspd\n\ttimespan:   1\n{}\ttimespan:   2\n{}\nResults for timespan 1:\n{tables}\nResults for \
         timespan 2:\n{tables}",
        target("a.dat", 1),
        target("b.dat", 8)
    );
    let found = find(&spans);
    let of = |result: &FoundResult| (result.target.clone().unwrap(), transfers(result).queue_depth);
    assert_eq!(
        found.iter().map(of).collect::<Vec<_>>(),
        [("a.dat".to_owned(), Some(1)), ("b.dat".to_owned(), Some(8))]
    );
    // What was asked there is not about a table that follows without a word.
    let third = find(&(spans + &tables));
    assert_eq!((third.len(), transfers(&third[2]).queue_depth, third[2].target.as_deref()), (3, None, None));
    // In a comment of a shell as well.
    let marked: String = text.lines().map(|line| format!("# {line}\n")).collect();
    assert_eq!(find(&marked)[0].target.as_deref(), Some("a.dat, b.dat"));
}

#[test]
fn a_direction_without_operations_was_not_asked_for() {
    let of = |section: &str, operations: u32| {
        DISKSPD.replace("Total IO", section).replace("1000 |", &format!("{operations} |")).replace("### A disk\n", "")
    };
    let zero = of("Write IO", 0).replace("2000 |", "0 |").replace("3000 |", "0 |").replace("12288000", "0");
    let found = find(&(of("Read IO", 1000) + &zero));
    let load = transfers(&found[0]);
    assert!(load.read.is_some() && load.write.is_none(), "{load:?}");
}

#[test]
fn times_are_told_in_other_ways_too() {
    let one = |text: &str| {
        let found = find(text);
        let [result] = found.as_slice() else { panic!("{text}: {found:?}") };
        let [duration] = result.told.durations() else { panic!("{result:?}") };
        (duration.elapsed_ns, duration.user_ns, duration.system_ns)
    };
    let seconds = |seconds: f64| (seconds * 1e9) as u64;
    let expected = (seconds(61.52), seconds(1.0), seconds(0.5));
    assert_eq!(one("real 61.52\nuser 1.00\nsys 0.50\n"), expected);
    assert_eq!(one("./restore.sh  1.00s user 0.50s system 2% cpu 1:01.52 total\n"), expected);
    assert_eq!(one("1.00user 0.50system 1:01.52elapsed 2%CPU (0avgtext+0avgdata 2000maxresident)k\n"), expected);
    // Parameters of commands, and steps of a sweep, are no runs of one command.
    let time = |label: &str| format!("{label}\nreal\t1m0s\nuser\t0m1s\nsys\t0m1s\n");
    for labels in [["$ time restore --jobs 1", "$ time restore --jobs 2"], ["jobs 2", "jobs 4"]] {
        assert_eq!(find(&labels.map(time).concat()).len(), 2, "{labels:?}");
    }
    // Nor are those below another heading; and "run" names nothing.
    let text =
        ["# ext4\n\n", "\n# xfs\n\n"].map(|heading| heading.to_owned() + &["Run 1/2", "Run 2/2"].map(time).concat());
    let found = find(&text.concat());
    let of = |result: &FoundResult| (result.target.clone(), result.heading.clone(), result.told.durations().len());
    let expected = ["ext4", "xfs"].map(|heading| (None, Some(heading.to_owned()), 2));
    assert_eq!(found.iter().map(of).collect::<Vec<_>>(), expected);
}

#[test]
fn dd_speaks_many_languages() {
    for line in [
        "1073741824 bytes (1.1 GB, 1.0 GiB) copied, 0.9345 s, 1.1 GB/s",
        "1073741824 Bytes (1,1 GB, 1,0 GiB) kopiert, 0,9345 s, 1,1 GB/s",
        "1073741824 octets (1,1 GB, 1,0 GiB) copiés, 0,9345 s, 1,1 GB/s",
        "1073741824 bytes (1.0GB) copied, 0.934500 seconds, 1.1GB/s",
        // BusyBox counts in powers of 1024.
        "1073741824 bytes (1.0GB) copied, 0.934500 seconds, 1095.8MB/s",
        "1073741824 bytes transferred in 0.9345 secs (1149001416 bytes/sec)",
        "1 bytes copied, 0.1 s, 0.0 kB/s\r1073741824 bytes (1.1 GB, 1.0 GiB) copied, 0.9345 s, 1.1 GB/s",
        "# 1073741824 bytes (1.1 GB, 1.0 GiB) copied, 9.345e-01 s, 1.1 GB/s",
    ] {
        let found = find(line);
        let [result] = found.as_slice() else { panic!("{line}: {found:?}") };
        assert_eq!(transfers(result).elapsed_ns, Some(934_500_000), "{line}");
        assert_eq!(texts(result).len(), 1, "{line}: {result:?}");
    }
}

#[test]
fn how_far_dd_is_is_no_result() {
    let done = |bytes: u64| format!("{bytes} bytes ({bytes} B) copied, 2 s, {} B/s\n", bytes / 2);
    let counted = "7+0 records in\n6+1 Datensätze aus\n";
    let bytes = |text: &str| {
        let found = find(text);
        let of = |result: &FoundResult| transfers(result).total.as_ref().and_then(|total| total.bytes).unwrap();
        found.iter().map(of).collect::<Vec<_>>()
    };
    let run = |so_far: u64, all: u64| format!("{}{counted}{}", done(so_far), done(all));
    assert_eq!(bytes(&(run(100, 200) + &run(300, 400))), [200, 400]);
    // Two that do not say how far they are, and one that was cut.
    assert_eq!(bytes(&format!("{counted}{}{counted}{}", done(100), done(200))), [100, 200]);
    assert_eq!(bytes(&format!("{}{counted}", done(100))), [100]);
}

#[test]
fn people_write_thousands() {
    let of = |line: &str| {
        let found = find(line);
        let Measured::Figure(figure) = &found[0].told.measured else { panic!("{found:?}") };
        (figure.low, figure.expected)
    };
    assert_eq!(of("fio a.ini # 10,500 IOPS (expected 12,000 IOPS)"), (10_500.0, Some(12_000.0)));
    assert_eq!(of("fio a.ini # 20k IOPS (20k provisioned)"), (20_000.0, Some(20_000.0)));
    assert_eq!(of("fio a.ini # 20.5k IOPS"), (20_500.0, None));
    assert_eq!(of("fio a.ini # 1.5 ms"), (1.5, None));
}

#[test]
fn large_texts_cost_what_they_are_long() {
    // Each of these took minutes in some reader that looked back too far.
    let header = COLUMNS_OF_IOMETER.to_owned();
    let rows = "ALL,All,a,1,1,1,300,200,100\n".repeat(20_000) + &"WORKER,w,a,1,1,1,1,1,1\n".repeat(20_000);
    assert_eq!(find(&format!("{header}\n{rows}")).len(), 1);
    assert_eq!(find(&"{ \"fio version\" ".repeat(50_000)).len(), 0);
    assert!(find(&"1 bytes copied, 1 s, 1 B/s\n".repeat(30_000)).len() > RESULTS_MAX);
}

const COLUMNS_OF_IOMETER: &str = "'Target Type,Target Name,Access Specification Name,# Managers,# Workers,# Disks,IOps,\
                                  Read IOps,Write IOps";

#[test]
fn runs_that_follow_each_other_are_no_clones() {
    // A quote without status lines.
    let run = |pid| load("a", 0) + "Starting 1 process\n" + &job("a", 0, pid, 100) + "\n";
    let expected = vec![("a".to_owned(), 100.0, 1); 2];
    assert_eq!(loads_of(&(run(7) + &run(8))), expected);
    let unnamed = |pid| "Starting 1 process\n".to_owned() + &job("a", 0, pid, 100);
    assert_eq!(loads_of(&(unnamed(7) + &unnamed(8))), expected);
    // Reads and writes as one.
    let mixed = |pid| run(pid).replace("read:", "mixed:") + &group(0, 100).replace(" READ:", "MIXED:");
    let found = find(&(mixed(7) + &mixed(8)));
    let rates = found.iter().map(|result| transfers(result).total.as_ref().and_then(|total| total.iops));
    assert_eq!(rates.collect::<Vec<_>>(), [Some(100.0); 2], "{found:?}");
    assert!(found.iter().all(|result| texts(result).len() == 1), "{found:?}");
}

/// A report in JSON of a job that is so far.
fn so_far(head: &str, job: &str, operations: u64) -> String {
    let counted = format!("\"total_ios\" : {operations}");
    JSON.replace("\"jobs\"", &format!("{head}, \"jobs\""))
        .replace("\"groupid\"", &format!("{job}, \"groupid\""))
        .replace("\"total_ios\" : 1000", &counted)
        .replace("\"io_bytes\" : 4096000", &format!("\"io_bytes\" : {}", operations * 4096))
}

#[test]
fn what_json_tells_of_a_job_that_goes_on_is_told_again() {
    let operations = |texts: &[String]| {
        let of = |result: &FoundResult| transfers(result).read.as_ref().and_then(|read| read.operations).unwrap();
        find(&texts.join("\n")).iter().map(of).collect::<Vec<_>>()
    };
    let at = |start: u64, count| so_far("\"timestamp_ms\" : 5000", &format!("\"job_start\" : {start}"), count);
    assert_eq!(operations(&[at(4000, 10), at(4000, 20), at(4000, 30), at(9000, 5)]), [30, 5]);
    // Versions that do not tell when a job began.
    let report = |written_ms: u64, elapsed: u64, eta: u64, count| {
        let job = format!("\"eta\" : {eta}, \"elapsed\" : {elapsed}");
        so_far(&format!("\"timestamp_ms\" : {written_ms}"), &job, count)
    };
    let run = [report(10_659, 1, 3, 10), report(11_663, 3, 1, 20), report(12_659, 3, 0, 30), report(12_794, 4, 0, 31)];
    assert_eq!(operations(&run), [31]);
    let later = [&run[..], &[report(20_659, 1, 3, 40), report(23_000, 4, 0, 50)]].concat();
    assert_eq!(operations(&later), [31, 50]);
    // Two machines that run the same at the same time.
    assert_eq!(operations(&[report(12_659, 3, 0, 30), report(12_700, 3, 0, 31)]), [30, 31]);
    assert_eq!(operations(&[report(12_659, 3, 1, 30), report(12_700, 3, 1, 29)]), [30, 29]);
    // Short runs one after another, which end without a guess of what is left.
    let short = |written_ms| report(written_ms, 1, 2_147_483_647, 16);
    assert_eq!(operations(&[short(12_000), short(12_300), short(12_600)]), [16, 16, 16]);
    // The first seconds of a long one have no guess either.
    let after = |written_ms, elapsed, eta, ran_ms: u64, count| {
        report(written_ms, elapsed, eta, count).replace("10000", &ran_ms.to_string())
    };
    let first = after(12_889, 1, 2_147_483_647, 889, 100);
    let run = [first.clone(), after(13_890, 2, 2_147_483_647, 1890, 200), after(14_889, 3, 1, 2889, 300)];
    assert_eq!(operations(&run), [300]);
    assert_eq!(operations(&[first, after(14_600, 2, 0, 1200, 200)]), [100, 200]);
    // At the end of a ramp they are counted again.
    let ramp =
        [after(13_895, 2, 2_147_483_647, 1895, 200), after(15_895, 4, 3, 500, 20), after(18_895, 7, 0, 3500, 90)];
    assert_eq!(operations(&ramp), [200, 90]);
    assert_eq!(operations(&ramp.map(|text| text.replace("\"4k\"", "\"4k\", \"ramp_time\" : \"3\""))), [90]);
    // Another load.
    assert_eq!(operations(&[at(4000, 10), at(4000, 20).replace("\"4k\"", "\"4096\"")]), [10, 20]);
}

#[test]
fn a_report_that_is_torn_is_named() {
    let report = |name: &str| JSON.replace("NAME", name);
    let torn = &report("b")[..200];
    let found = find(&format!("{}\n{torn}\n{}", report("a"), report("c")));
    assert_eq!((found.len(), texts(&found[1])), (2, vec![]));
    let said = texts(&found[0]).join("; ");
    assert!(said.starts_with("fio's JSON that begins in line 5 is not valid in line "), "{said}");
    assert!(said.ends_with("; its results are missing here"), "{said}");
    let hint = hint(&format!("before\n{torn}")).unwrap();
    assert!(hint.starts_with("fio's JSON that begins in line 2 is not valid in line 4: EOF"), "{hint}");
}

#[test]
fn a_report_that_is_too_long_is_not_torn() {
    let long = JSON.replace("\"jobs\"", &format!("{}\"jobs\"", " ".repeat(16 << 20)));
    let hint = hint(&long).unwrap();
    assert!(hint.starts_with("fio's JSON that begins in line 1 is longer than the 16 MiB that are read; "), "{hint}");
}

#[test]
fn a_job_that_only_trimmed_is_named() {
    let [report, trims] = ["reads", "trims"].map(|name| JSON.replace("NAME", name));
    let job = |report: &str| report[report.find("{ \"jobname").unwrap()..report.rfind(']').unwrap()].trim().to_owned();
    let trims = job(&trims).replace("\"read\" :", "\"trim\" :");
    let both = report.replace(&job(&report), &format!("{trims}, {}, {trims}", job(&report)));
    let found = find(&both);
    assert_eq!((found.len(), found[0].workload.as_deref()), (1, Some("reads")));
    assert_eq!(texts(&found[0]), ["job \"trims\" of fio's JSON only trimmed; its results are missing here"]);
    let hint = hint(&report.replace(&job(&report), &trims)).unwrap();
    assert!(hint.starts_with("job \"trims\" of fio's JSON only trimmed; "), "{hint}");
}

#[test]
fn what_only_speaks_of_reports_is_none_that_is_torn() {
    let found = find(&format!("jq '{{v: .\"fio version\"}}' out.json\n{}", JSON.replace("NAME", "a")));
    assert_eq!((found.len(), texts(&found[0])), (1, vec![]));
    assert_eq!(hint("jq '{v: .\"fio version\"}' out.json"), None);
    assert_eq!(hint("{ \"a\" : 1, \"b\" : 2, \"c\" : 3 }"), None, "JSON is no table");
}

#[test]
fn shares_of_reads_are_told_apart_from_those_of_writes() {
    for (mix, reads) in
        [("read/write ratio: 70/30", 70), ("write/read ratio: 30/100", 70), ("write/read ratio: 9/100", 91)]
    {
        let asked = format!("Input parameters:\n\ttimespan:   1\n\tpath: 'a.dat'\n\t\tperforming mix test ({mix})\n");
        assert_eq!(transfers(&find(&(asked + DISKSPD))[0]).read_percent, Some(reads), "{mix}");
    }
}

#[test]
fn what_is_random_in_part_is_no_pattern() {
    let in_words = |line: &str| {
        let asked =
            format!("Input parameters:\n\ttimespan:   1\n\tpath: 'a.dat'\n\t\tperforming read test\n\t\t{line}\n");
        transfers(&find(&(asked + DISKSPD))[0]).pattern.clone()
    };
    assert_eq!(in_words("using random I/O (alignment: 4KiB)").as_deref(), Some("randread"));
    assert_eq!(in_words("using interlocked sequential I/O (stride: 4KiB)").as_deref(), Some("read"));
    assert_eq!(in_words("using mixed random/sequential I/O (20% random) (alignment: 4KiB)"), None);
    let in_xml = |access: &str| {
        let text = format!(
            "<Results><Profile><TimeSpans><TimeSpan><Targets><Target><Path>a</Path>{access}</Target></Targets>\
             </TimeSpan></TimeSpans></Profile><TimeSpan><TestTimeSeconds>1.0</TestTimeSeconds><Thread><Target><Path>a\
             </Path></Target></Thread></TimeSpan></Results>\n"
        );
        transfers(&find(&text)[0]).pattern.clone()
    };
    let ratio = |percent: u8| in_xml(&format!("<Random>4096</Random><RandomRatio>{percent}</RandomRatio>"));
    assert_eq!([in_xml(""), in_xml("<Random>4096</Random>")].map(Option::unwrap), ["read", "randread"]);
    assert_eq!([ratio(20), ratio(100)], [None, Some("randread".to_owned())]);
}

#[test]
fn threads_for_all_targets_have_the_depth_of_the_time_span() {
    let target = "<Target><Path>a</Path><BlockSize>4096</BlockSize><RequestCount>2</RequestCount></Target>";
    let depth = |threads: u32, depth: u32, targets: usize| {
        let text = format!(
            "<Results><Profile><TimeSpans><TimeSpan><ThreadCount>{threads}</ThreadCount><RequestCount>{depth}\
             </RequestCount><Targets>{}</Targets></TimeSpan></TimeSpans></Profile><TimeSpan><TestTimeSeconds>1.0\
             </TestTimeSeconds><ThreadCount>2</ThreadCount><Thread><Id>0</Id><Target><Path>a</Path><BytesCount>4096\
             </BytesCount><IOCount>1</IOCount><ReadBytes>4096</ReadBytes><ReadCount>1</ReadCount><WriteBytes>0\
             </WriteBytes><WriteCount>0</WriteCount></Target></Thread></TimeSpan></Results>\n",
            target.repeat(targets)
        );
        transfers(&find(&text)[0]).queue_depth
    };
    assert_eq!([depth(0, 0, 1), depth(2, 8, 1), depth(2, 0, 1), depth(2, 8, 2)], [Some(2), Some(8), Some(2), None]);
}
