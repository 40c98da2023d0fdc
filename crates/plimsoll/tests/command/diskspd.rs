//! diskspd's command lines and profiles on real files and devices.

use std::{fs, os::unix::fs::symlink, process::Command, process::Stdio};

use rustix::process::{Pid, kill_process};

use crate::{
    interruption::{interruption, wait_until_journalled},
    support::{LoopDevice, Place, Said, is_root},
};

/// What a table says of threads and in total: bytes and operations.
struct Table {
    threads: Vec<(u64, u64)>,
    total: (u64, u64),
}

impl Table {
    /// The table below a title.
    fn of(report: &str, title: &str) -> Self {
        let (_, rest) = report.split_once(&format!("\n{title}\n")).unwrap_or_else(|| panic!("no {title} in\n{report}"));
        let numbers = |row: &str| {
            let cells: Vec<&str> = row.split([':', '|']).map(str::trim).collect();
            (cells[1].parse().unwrap(), cells[2].parse().unwrap())
        };
        let rows = rest.lines().skip(2).take_while(|row| !row.starts_with("---"));
        let total = rest.lines().find(|row| row.starts_with("total:")).unwrap();
        Self { threads: rows.map(numbers).collect(), total: numbers(total) }
    }
}

/// The text of each element of that name.
fn elements<'a>(xml: &'a str, name: &str) -> Vec<&'a str> {
    let (start, end) = (format!("<{name}>"), format!("</{name}>"));
    xml.split(&start).skip(1).map(|rest| rest.split_once(&end).unwrap().0).collect()
}

#[test]
fn a_command_line_is_done_and_told_as_diskspd_tells() {
    let place = Place::new();
    let said = place.run("diskspd -c4M -d1 -W0 -r -w50 -t2 -o4 -b4K -Su -L -D DATA/test.dat");
    assert_eq!((said.code, said.stderr.as_str()), (Some(0), ""), "{}", said.stdout);
    assert_eq!(fs::metadata(place.data().join("test.dat")).unwrap().len(), 4 << 20);
    let [total, reads, writes] = ["Total IO", "Read IO", "Write IO"].map(|title| Table::of(&said.stdout, title));
    for table in [&total, &reads, &writes] {
        let sum = table.threads.iter().fold((0, 0), |sum, row| (sum.0 + row.0, sum.1 + row.1));
        assert_eq!((table.threads.len(), sum), (2, table.total), "{}", said.stdout);
        assert!(table.total.1 > 0 && table.total.0 == table.total.1 * 4096, "{}", said.stdout);
    }
    assert_eq!(reads.total.1 + writes.total.1, total.total.1);
    let (_, id) = said.stdout.split_once("everything is in the record ").unwrap();
    let record = place.record(&format!("show {}", id.trim()));
    let operations = |direction: &str| record["cells"][0][direction]["operations"].as_u64().unwrap();
    assert_eq!((operations("read"), operations("write")), (reads.total.1, writes.total.1));
    assert_eq!(record["cells"][0]["job_results"][1]["read"]["operations"], reads.threads[1].1);
    assert_eq!(record["tags"]["dialect"], "diskspd");
    // The file may be used again.
    assert_eq!(place.run("diskspd -d1 -W0 -r -w100 -Su DATA/test.dat").code, Some(0));
}

#[test]
fn a_profile_that_is_printed_can_be_done() {
    let place = Place::new();
    let said = place.run("diskspd -Rpxml -c1M -b8K -r -L -Sh *1");
    assert_eq!((said.code, said.stderr.as_str()), (Some(0), ""));
    fs::write(place.path("profile.xml"), &said.stdout).unwrap();
    let said = place.run("diskspd -Xprofile.xml -d1 -W0 -Rxml DATA/test.dat");
    assert_eq!((said.code, said.stderr.as_str()), (Some(0), ""), "{}", said.stdout);
    assert!(said.stdout.starts_with("<Results>\n  <System>"), "{}", said.stdout);
    assert_eq!(elements(&said.stdout, "BlockSize"), ["8192"]);
    assert_eq!(elements(&said.stdout, "TestTimeSeconds"), ["1.00"]);
    let [reads, bytes] = ["ReadCount", "ReadBytes"].map(|name| elements(&said.stdout, name)[0].parse::<u64>().unwrap());
    assert!(reads > 0 && bytes == reads * 8192);
    let text = place.run("diskspd -Rp -b8K -r *1");
    assert!(text.stdout.contains("path: template target '1'"), "{}", text.stdout);
}

#[test]
fn two_targets_are_loaded_at_the_same_time() {
    let place = Place::new();
    let said = place.run("diskspd -c1M -d1 -W0 -r -t2 -Su -Rxml DATA/a DATA/b");
    assert_eq!(said.code, Some(0), "{}", said.stderr);
    let data = place.data();
    let paths: Vec<String> = ["a", "a", "b", "b"].map(|name| data.join(name).display().to_string()).into();
    let told: Vec<&str> = elements(&said.stdout, "Thread").iter().map(|thread| elements(thread, "Path")[0]).collect();
    assert_eq!(told, paths);
    assert_eq!(elements(&said.stdout, "TestTimeSeconds"), ["1.00"]);
}

#[test]
fn it_answers_to_the_name_of_diskspd() {
    let place = Place::new();
    symlink(env!("CARGO_BIN_EXE_plimsoll"), place.path("diskspd")).unwrap();
    let output = Command::new(place.path("diskspd")).arg("-?").output().unwrap();
    let said = Said::of(output);
    assert_eq!(said.code, Some(0));
    assert!(said.stdout.contains("-b<size>"), "{}", said.stdout);
}

#[test]
fn what_is_there_is_not_overwritten() {
    let place = Place::new();
    fs::write(place.data().join("precious"), vec![7; 1 << 20]).unwrap();
    let said = place.run("diskspd -d1 -W0 -w100 -b4K -Su DATA/precious");
    assert_eq!((said.code, said.stdout.as_str()), (Some(3), ""), "{}", said.stderr);
    let said = place.run("diskspd -c1M -d1 -W0 -w100 -b4K -Su DATA/precious");
    assert_eq!((said.code, said.stdout.as_str()), (Some(3), ""), "{}", said.stderr);
    assert!(fs::read(place.data().join("precious")).unwrap().iter().all(|byte| *byte == 7));
    // Reading it is no harm.
    assert_eq!(place.run("diskspd -d1 -W0 -b4K -Su DATA/precious").code, Some(0));
    if !is_root() {
        return;
    }
    let device = LoopDevice::new(4 << 20);
    let line = format!("-d1 -W0 -w100 -b4K -Su {}", device.name());
    assert_eq!(place.run(&format!("diskspd {line}")).code, Some(3));
    assert_eq!(place.run(&format!("diskspd --destroy {} {line}", device.name())).code, Some(0));
}

#[test]
fn what_is_wrong_is_told_at_once_and_nothing_is_made() {
    let place = Place::new();
    let said = place.run("diskspd -c1M -d1m -w200 -y DATA/new");
    assert_eq!((said.code, said.stdout.as_str()), (Some(2), ""));
    assert_eq!(said.stderr.lines().count(), 3, "{}", said.stderr);
    assert!(place.leftovers().is_empty());
    let said = place.run("diskspd -d1 -r DATA/missing");
    assert!(said.error(2).contains("write -c<size> to make it"), "{}", said.stderr);
    let said = place.run("diskspd -b3000 -c1M -d1 -Su DATA/new");
    assert!(said.error(3).contains("or add -Sb"), "{}", said.stderr);
    let said = place.run("diskspd -Xnone DATA/new");
    assert!(said.error(2).contains("there is no file none"), "{}", said.stderr);
}

#[test]
fn an_interruption_tells_what_was_measured() {
    let place = Place::new();
    let child = place
        .command("diskspd -c1M -d60 -W0 -r -L -Su DATA/test.dat")
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    wait_until_journalled(&place.path("state"));
    kill_process(Pid::from_child(&child), interruption()).unwrap();
    let said = Said::of(child.wait_with_output().unwrap());
    assert_eq!(said.code, Some(130), "{}", said.stderr);
    assert!(Table::of(&said.stdout, "Read IO").total.1 > 0, "{}", said.stdout);
}

#[test]
fn a_plan_says_the_same() {
    let place = Place::new();
    let said = place.run("diskspd --to-plan -c1M -d1 -W0 -r -w30 -t2 -o4 -b4K -Sh DATA/test.dat");
    assert_eq!((said.code, said.stderr.as_str()), (Some(0), ""));
    assert!(place.leftovers().is_empty());
    fs::write(place.path("plan.toml"), &said.stdout).unwrap();
    let record = place.record("run --plan ROOT/plan.toml");
    let plan = &record["cells"][0]["plan"];
    assert_eq!((&plan["jobs"], &plan["queue_depth"], &plan["read_percent"]), (&2.into(), &4.into(), &70.into()));
    let record = place.record("diskspd -c1M -d1 -W0 -r -w30 -t2 -o4 -b4K -Sh DATA/test.dat");
    assert_eq!(record["schema"], "plimsoll/1");
}
