//! Reading what other programs told, and treating it as what was measured here.

use std::{fs, io::Write as _, process::Stdio};

use serde_json::{Value, json};

use crate::support::{Place, Said, has};

pub(crate) const TEXT: &str = "\
# A post about disks

    READ: bw=100MiB/s (105MB/s), io=1000MiB (1049MB), run=10000-10000msec

real\t3m10.5s
user\t1m0.0s
sys\t0m1.5s
";

/// A status line of fio with this rate, below the line that says what the load was.
fn told(mib_per_second: u32) -> String {
    let (amount, decimal) = (mib_per_second * 10, f64::from(mib_per_second) * 10.48576);
    format!(
        "job: (g=0): rw=randread, bs=(R) 4096B-4096B, (W) 4096B-4096B, (T) 4096B-4096B, ioengine=libaio, iodepth=4\n   \
         READ: bw={mib_per_second}MiB/s (0MB/s), io={amount}MiB ({decimal:.0}MB), run=10000-10000msec\n"
    )
}

#[test]
fn results_in_a_post_become_a_run_of_the_history() {
    let place = Place::new();
    fs::write(place.path("post.md"), TEXT).unwrap();
    let said = place.run("import ROOT/post.md --name post --tag source=blog");
    assert_eq!((said.code, said.stderr.as_str()), (Some(0), ""));
    for words in ["1 x fio job, 1 x time of a command", "105 MB/s", "190 s", "A post about disks", "kept as run"] {
        assert!(said.stdout.contains(words), "{words} is not in\n{}", said.stdout);
    }

    let record = place.run("show post --json").json();
    assert_eq!(record["import"]["text"], TEXT, "the original is kept");
    assert_eq!(record["tags"]["source"], "blog");
    let [fio, time] = record["cells"].as_array().unwrap().as_slice() else { panic!("{record}") };
    assert_eq!(fio["told"]["measured"]["transfers"]["read"]["bytes"], 1_048_576_000);
    assert_eq!((&fio["plan"], &fio["verdict"], &fio["read"]), (&Value::Null, &Value::Null, &Value::Null));
    assert_eq!(time["told"]["measured"]["durations"][0]["elapsed_ns"], 190_500_000_000_u64);
    assert_eq!((&time["told"]["lines"], &time["kind"]), (&json!([5, 7]), &json!("application")));

    let shown = place.run("show post").stdout;
    for words in ["post.md: 1 x fio job, 1 x time of a command", "told = so fio, time said", "105", "190 s", "imported"]
    {
        assert!(shown.contains(words), "{words} is not in\n{shown}");
    }
    let listed = place.run("history").stdout;
    assert!(listed.contains("post") && listed.contains("imported"), "{listed}");
    let csv = place.run("export post --format csv").stdout;
    let rows: Vec<Vec<&str>> = csv.lines().map(|line| line.split(',').collect()).collect();
    let column = |name: &str| rows[0].iter().position(|column| *column == name).unwrap();
    assert_eq!((rows.len(), rows[1][column("verdict")], rows[1][column("engine")]), (3, "told", "fio"));
    assert_eq!((rows[1][column("read_bytes")], rows[1][column("buffered")]), ("1048576000", ""));
    assert_eq!(rows[2][column("all_latency_mean_ns")], "190500000000");
    assert_eq!(place.run("remove post").code, Some(2), "a name may be that of several");
}

#[test]
fn what_is_kept_can_be_chosen() {
    let place = Place::new();
    fs::write(place.path("one.txt"), told(100)).unwrap();
    fs::write(place.path("two.txt"), told(200)).unwrap();
    let one = place.run("import --json --no-history --target disk ROOT/one.txt").json();
    assert_eq!((&one["schema"], &one["cells"][0]["target"]), (&json!("plimsoll/1"), &json!("disk")));
    let both = place.run("import --json --no-history ROOT/one.txt ROOT/two.txt").json();
    assert_eq!(both.as_array().map(Vec::len), Some(2));
    assert!(place.run("history").stdout.contains("no runs yet"));
}

#[test]
fn imports_are_compared_with_each_other_and_with_runs() {
    let place = Place::new();
    fs::write(place.path("one.txt"), told(100)).unwrap();
    fs::write(place.path("two.txt"), told(150)).unwrap();
    // Files are compared as they are, without a history.
    let said = place.run("compare ROOT/one.txt ROOT/two.txt");
    assert_eq!(said.code, Some(0), "{}", said.stderr);
    for words in
        ["as other programs told", "told: B has 1.50x the IOPS of A; no interval was told", "not told, and perhaps"]
    {
        assert!(said.stdout.contains(words), "{words} is not in\n{}", said.stdout);
    }
    let json = place.run("compare ROOT/one.txt ROOT/two.txt --json").json();
    let metric = &json["pairs"][0]["cells"][0]["metrics"][0];
    assert_eq!((&metric["compared"], &metric["reason"]), (&Value::Null, &json!("no interval was told")));
    assert!(json["pairs"][0]["untold"].as_array().unwrap().contains(&json!("cache-mode")), "{json}");
    // What cannot be judged breaks no expectation, and is said.
    let judged = place.run("compare ROOT/one.txt ROOT/two.txt --fail-if iops>+10%");
    assert_eq!(judged.code, Some(0));
    assert!(judged.stderr.contains("not judged"), "{}", judged.stderr);

    let run =
        "run DATA --rw randread --block-size 4k --queue-depth 4 --size 1M --duration 200ms --passes 1 --engine psync";
    assert_eq!(place.run(run).code, Some(0));
    let said = place.run("compare latest ROOT/one.txt --despite engine");
    assert_eq!(said.code, Some(0), "{}", said.stderr);
    assert!(said.stdout.contains("A short, B told: B has"), "{}", said.stdout);
    let said = place.run("compare latest ROOT/one.txt");
    assert!(said.stderr.contains("--despite engine"), "{}{}", said.stdout, said.stderr);
    // A file that is neither says so in its own words.
    fs::write(place.path("torn.json"), "{\"schema\": \"plimsoll/1\"").unwrap();
    assert!(place.run("compare ROOT/one.txt ROOT/torn.json").stderr.contains("not a plimsoll record"));
    fs::write(place.path("fio.json"), "{ \"fio version\" : \"fio-3.33\", \"jobs\" : [").unwrap();
    let said = place.run("compare ROOT/one.txt ROOT/fio.json");
    assert!(said.error(2).contains("fio's JSON that begins in line 1 is not valid"), "{}", said.stderr);
    fs::write(place.path("other.txt"), "nothing\n").unwrap();
    assert!(place.run("compare ROOT/one.txt ROOT/other.txt").stderr.contains("has no results that are known"));
    fs::write(place.path("job.fio"), "[global]\nrw=read\n[a]\nsize=1m\n").unwrap();
    let said = place.run("explain ROOT/job.fio");
    assert!(said.error(2).contains("job.fio has no results that are known"), "{}", said.stderr);
}

#[test]
fn runs_of_a_command_are_compared_with_an_interval() {
    let place = Place::new();
    let times = |label: &str, seconds: [f64; 5]| {
        let time =
            |(index, seconds): (usize, &f64)| format!("{label} {index}\n\nreal\t0m{seconds}s\nuser\t0m1s\nsys\t0m1s\n");
        seconds.iter().enumerate().map(time).collect::<String>()
    };
    let text =
        times("restore old", [10.0, 10.1, 9.9, 10.05, 9.95]) + &times("restore new", [5.0, 5.05, 4.95, 5.02, 4.98]);
    fs::write(place.path("times.txt"), text).unwrap();
    let said = place.run("import ROOT/times.txt --name times");
    assert!(said.stdout.contains("10 x time of a command"), "{}", said.stdout);
    let said = place.run("compare times");
    let sentence = said.stdout.lines().find(|line| line.starts_with("command")).unwrap();
    assert!(sentence.contains("B's time is 2.0") && sentence.ends_with("shorter"), "{}", said.stdout);
    let broken = place.run("compare times --fail-if elapsed<-10%");
    assert_eq!(broken.code, Some(1), "{}", broken.stdout);
}

#[test]
fn records_of_our_own_come_back_as_they_were_and_replace_nothing() {
    let place = Place::new();
    for name in ["first", "second"] {
        place.record(&format!("run DATA --rw randread --size 4M --operations 100 --name {name}"));
    }
    let runs = || place.run("history --json").json();
    let (before, exported) = (runs(), place.run("export first second").stdout);
    fs::write(place.path("runs.json"), &exported).unwrap();
    let said = place.run("import ROOT/runs.json");
    assert_eq!((said.code, said.stdout.matches("is there already").count()), (Some(0), 2), "{}", said.stdout);
    fs::remove_file(place.path("state/plimsoll/history.db")).unwrap();
    let said = place.run("import ROOT/runs.json");
    assert_eq!((said.code, said.stdout.matches("kept as run").count()), (Some(0), 2), "{}{}", said.stdout, said.stderr);
    assert_eq!((runs(), place.run("export first second").stdout), (before, exported));
    assert!(place.run("import ROOT/runs.json --name x").error(2).contains("leave --name"));
}

#[test]
fn windows_and_pipes_are_read_as_well() {
    let place = Place::new();
    let units: Vec<u8> = [0xFEFF].into_iter().chain(TEXT.encode_utf16()).flat_map(u16::to_le_bytes).collect();
    fs::write(place.path("utf16.txt"), units).unwrap();
    assert!(place.run("import ROOT/utf16.txt").stdout.contains("1 x fio job"));
    let mut command = place.command("import -");
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(TEXT.as_bytes()).unwrap();
    let said = Said::of(child.wait_with_output().unwrap());
    assert!(said.stdout.contains("1 x time of a command"), "{}{}", said.stdout, said.stderr);
}

#[test]
fn a_text_without_results_is_an_error_and_the_others_are_read() {
    let place = Place::new();
    fs::write(place.path("post.md"), TEXT).unwrap();
    fs::write(place.path("empty.txt"), "nothing\n").unwrap();
    let said = place.run("import ROOT/empty.txt ROOT/missing ROOT/post.md");
    assert_eq!(said.code, Some(2));
    assert!(said.stdout.contains("1 x fio job"), "{}", said.stdout);
    assert!(said.stderr.contains("has no results that are known"), "{}", said.stderr);
    assert!(said.stderr.contains("there is no file") && said.stderr.lines().count() == 2, "{}", said.stderr);
}

#[test]
fn what_our_own_reports_say_is_read_back() {
    let place = Place::new();
    let report = place.run("diskspd -c1M -d1 -W0 -r -t2 -b4K -Su -L DATA/test.dat");
    fs::write(place.path("report.txt"), &report.stdout).unwrap();
    let found = place.run("import --json ROOT/report.txt").json();
    let total = &found["cells"][0]["told"]["measured"]["transfers"]["total"];
    let row = report.stdout.lines().find(|line| line.starts_with("total:")).unwrap();
    let cells: Vec<&str> = row.split([':', '|']).map(str::trim).collect();
    assert_eq!(
        (total["bytes"].to_string(), total["operations"].to_string()),
        (cells[1].to_owned(), cells[2].to_owned())
    );
}

#[test]
fn both_reports_of_one_run_of_fio_say_the_same() {
    if !has(&["fio"]) {
        return;
    }
    let place = Place::new();
    let options = [
        "--name=clones --rw=randrw --rwmixread=70 --bs=8k --iodepth=4 --ioengine=libaio --numjobs=3",
        "--name=grouped --rw=randrw --bs=4k --ioengine=psync --numjobs=2 --group_reporting",
        "--name=writes --rw=write --bs=64k --ioengine=psync",
    ];
    for (number, options) in options.into_iter().enumerate() {
        let mut fio = std::process::Command::new("fio");
        fio.args(options.split(' ')).args(["--size=4m", "--runtime=1", "--time_based", "--output-format=json,normal"]);
        let output = fio.arg(format!("--filename={}", place.path("fio.dat").display())).output().unwrap();
        assert!(output.status.success(), "{options}");
        let both = String::from_utf8(output.stdout).unwrap();
        let (start, end) = (both.find('{').unwrap(), both.find("\n}\n").unwrap() + 3);
        let in_words = both[..start].to_owned() + &both[end..];
        let told = |name: &str, text: &str| {
            let name = format!("{name}{number}.txt");
            fs::write(place.path(&name), text).unwrap();
            let record = place.run(&format!("import --json --no-history ROOT/{name}")).json();
            let [cell] = record["cells"].as_array().unwrap().as_slice() else { panic!("{options}: {name}") };
            cell.clone()
        };
        let [json, text] = [told("both", &both), told("words", &in_words)];
        assert_eq!((&json["told"]["source"], &text["told"]["source"]), (&json!("fio-json"), &json!("fio-text")));
        let load = |cell: &Value, name: &str| cell["told"]["measured"]["transfers"][name].clone();
        for name in ["pattern", "block_size_bytes", "queue_depth", "jobs", "engine"] {
            // What is not written down for fio is not in its JSON.
            assert!(load(&json, name).is_null() || load(&json, name) == load(&text, name), "{options}: {name}");
        }
        for direction in ["read", "write"] {
            let [one, other] = [&json, &text].map(|cell| load(cell, direction));
            assert_eq!(
                (&one["operations"], &one["bytes"]),
                (&other["operations"], &other["bytes"]),
                "{options}: {direction}"
            );
            for rate in ["iops", "bytes_per_second", "latency_mean_ns"] {
                let [one, other] = [&one, &other].map(|of| of[rate].as_f64().unwrap_or(0.0));
                assert!((one - other).abs() <= 0.01 * one, "{options}: {direction} {rate}: {one}, {other}");
            }
        }
    }
}

#[test]
fn any_table_is_read_when_its_columns_are_named() {
    let place = Place::new();
    fs::write(place.path("table.csv"), "Disk;IOPS;Read (MiB/s);99 %\nP10;500;2;12,5\nP30;5000;20;1,5\n").unwrap();
    let import = "import ROOT/table.csv --column target=Disk --column read-iops=IOPS";
    let said = place.run(&format!("{import} --name table"));
    assert_eq!(said.code, Some(0), "{}", said.stderr);
    assert!(said.stdout.contains("2 x row of a table"), "{}", said.stdout);
    assert!(place.run("compare table").stdout.contains("B has 10.0x the IOPS of A"));
    let mut command = place.command(&format!("{import} --json --no-history --column"));
    let said = Said::of(command.arg("read-latency-p99[ms]=99 %").output().unwrap());
    let percentile = &said.json()["cells"][1]["told"]["measured"]["transfers"]["read"]["percentiles"][0];
    assert_eq!(percentile, &json!({ "percent": 99.0, "latency_ns": 1.5e6 }));
    let said = place.run(&format!("{import} --column write-iops=Writes"));
    assert_eq!(said.code, Some(2));
    assert!(said.stderr.contains("no line names \"Writes\": the columns are"), "{}", said.stderr);
    assert!(place.run("import ROOT/table.csv --column speed=IOPS").stderr.contains("is nothing that is read"));
}
