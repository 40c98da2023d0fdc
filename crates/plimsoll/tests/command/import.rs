//! Reading what other programs told.

use std::{fs, io::Write as _, process::Stdio};

use crate::support::{Place, Said};

const TEXT: &str = "\
# A post about disks

    READ: bw=100MiB/s (105MB/s), io=1000MiB (1049MB), run=10000-10000msec

real\t3m10.5s
user\t1m0.0s
sys\t0m1.5s
";

#[test]
fn results_are_found_in_a_post() {
    let place = Place::new();
    fs::write(place.path("post.md"), TEXT).unwrap();
    let said = place.run("import ROOT/post.md");
    assert_eq!((said.code, said.stderr.as_str()), (Some(0), ""));
    for words in ["1 x fio status line, 1 x time of a command", "105 MB/s", "3m 11s", "A post about disks"] {
        assert!(said.stdout.contains(words), "{words} is not in\n{}", said.stdout);
    }
    let found = place.run("import --json ROOT/post.md").json();
    assert_eq!(found[0]["results"][0]["measured"]["transfers"]["read"]["bytes"], 1_048_576_000);
    assert_eq!(found[0]["results"][1]["measured"]["duration"]["elapsed_ns"], 190_500_000_000_u64);
    assert_eq!(found[0]["results"][1]["lines"], serde_json::json!([5, 7]));
}

#[test]
fn windows_and_pipes_are_read_as_well() {
    let place = Place::new();
    let units: Vec<u8> = [0xFEFF].into_iter().chain(TEXT.encode_utf16()).flat_map(u16::to_le_bytes).collect();
    fs::write(place.path("utf16.txt"), units).unwrap();
    assert!(place.run("import ROOT/utf16.txt").stdout.contains("1 x fio status line"));
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
    assert!(said.stdout.contains("1 x fio status line"), "{}", said.stdout);
    assert!(said.stderr.contains("has no results that are known"), "{}", said.stderr);
    assert!(said.stderr.contains("there is no file") && said.stderr.lines().count() == 2, "{}", said.stderr);
    // What our own reports say is read back.
    let report = place.run("diskspd -c1M -d1 -W0 -r -t2 -b4K -Su -L DATA/test.dat");
    fs::write(place.path("report.txt"), &report.stdout).unwrap();
    let found = place.run("import --json ROOT/report.txt").json();
    let total = &found[0]["results"][0]["measured"]["transfers"]["total"];
    let row = report.stdout.lines().find(|line| line.starts_with("total:")).unwrap();
    let cells: Vec<&str> = row.split([':', '|']).map(str::trim).collect();
    assert_eq!(
        (total["bytes"].to_string(), total["operations"].to_string()),
        (cells[1].to_owned(), cells[2].to_owned())
    );
}
