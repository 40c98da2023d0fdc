//! `plimsoll run --resume`: an interrupted run goes on, and ends as if nothing had happened but time.

use std::{
    collections::BTreeSet,
    fs,
    path::Path,
    process::{Child, Command, Stdio},
    thread,
    time::Duration,
};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::{
    applications::{Desk, iterations},
    emulation::{Up, take_down},
    interruption::interruption,
    support::{LoopDevice, Place, Said, comes_true, is_root, names},
};

fn start(place: &Place, arguments: &str) -> Child {
    place.command(arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

fn end(child: Child, signal: Signal) -> Said {
    kill_process(Pid::from_child(&child), signal).unwrap();
    Said::of(child.wait_with_output().unwrap())
}

/// Waits until so many slots of a run are in its journal, and a second of the one after.
fn wait_for_slots(place: &Place, slots: usize) {
    let runs = place.path("state/plimsoll/runs");
    let is_far_enough = |text: &str| {
        let done = text.matches("\"event\":\"slot_finished\"").count();
        done >= slots && text.rfind("\"event\":\"interval\"") > text.rfind("\"event\":\"slot_finished\"")
    };
    let are_journalled = comes_true(|| {
        let texts = fs::read_dir(&runs).into_iter().flatten().flatten().map(|entry| fs::read_to_string(entry.path()));
        texts.flatten().any(|text| is_far_enough(&text))
    });
    assert!(are_journalled, "the run never had {slots} slots");
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn number(value: &Value, name: &str) -> u64 {
    value[name].as_u64().unwrap()
}

fn files(directory: &Path) -> Vec<String> {
    if directory.exists() { names(directory) } else { Vec::new() }
}

/// The rounds of each cell, in the order of the record.
fn rounds(record: &Value) -> Vec<Vec<u64>> {
    let of = |cell: &Value| {
        let slots: Vec<u64> = list(&cell["slots"]).iter().map(|slot| number(slot, "round")).collect();
        let seconds: BTreeSet<u64> = list(&cell["series"]).iter().map(|second| number(second, "round")).collect();
        assert_eq!(slots, seconds.into_iter().collect::<Vec<_>>(), "seconds belong to slots");
        slots
    };
    list(&record["cells"]).iter().map(of).collect()
}

/// A record of [`RUN`] has every slot once, and its time never runs backwards.
fn assert_whole(record: &Value) {
    let all: Vec<u64> = (0..6).collect();
    assert_eq!(rounds(record), [all.clone(), all]);
    for cell in list(&record["cells"]) {
        let mut now_ns = 0;
        for (round, slot) in list(&cell["slots"]).iter().enumerate() {
            assert_eq!(slot["purpose"], if round == 0 { "discarded" } else { "measured" });
            // Later ones count as well, unless the verdict's window begins after them.
            assert!(round > 0 || slot["counted"] == false, "{slot}");
            assert!(number(slot, "elapsed_ns") >= 500_000_000, "a slot that was cut off is done again");
            assert!(number(slot, "from_ns") >= now_ns, "{slot}");
            now_ns = number(slot, "from_ns") + number(slot, "elapsed_ns");
        }
        assert!(now_ns <= number(record, "elapsed_ns"));
        let counted = list(&cell["slots"]).iter().filter(|slot| slot["counted"] == true);
        let operations: u64 = counted.map(|slot| number(&slot["read"], "operations")).sum();
        assert_eq!(number(&cell["read"], "operations"), operations);
    }
}

/// Two cells with six slots each, a file that is there already, short slots.
const RUN: &str = "run DATA/file --rw randread --block-size 4k,8k --passes 6 --discard-first 1 --duration 500ms \
                   --ramp 200ms --name twice --json";

fn place_with_file() -> Place {
    let place = Place::new();
    fs::write(place.data().join("file"), vec![7_u8; 4 << 20]).unwrap();
    place
}

/// Interrupts a run in the slot after so many, and resumes it.
fn interrupt_and_resume(slots: usize, signal: Signal) {
    let place = place_with_file();
    let child = start(&place, RUN);
    wait_for_slots(&place, slots);
    let said = end(child, signal);
    let before = place.run("show --json").json();
    let id = before["id"].as_str().unwrap();
    if signal == Signal::KILL {
        assert_eq!(before["outcome"], "lost");
    } else {
        assert_eq!((said.code, before["outcome"].as_str()), (Some(130), Some("interrupted")));
        let told = format!("`plimsoll run --resume {id}` goes on with it");
        assert!(said.stderr.contains(&told), "{}", said.stderr);
    }
    let said = place.run(&format!("run --resume {} --json", &id[..13]));
    assert_eq!(said.code, Some(0), "{}", said.stderr);
    assert!(said.stderr.contains("going on with run"), "{}", said.stderr);
    let record = said.json();
    for field in ["id", "started", "seed", "asked", "name", "environment", "tool"] {
        assert_eq!(record[field], before[field], "{field}");
    }
    assert_eq!(record["outcome"], "complete");
    assert_whole(&record);
    for (cell, earlier) in list(&record["cells"]).iter().zip(list(&before["cells"])) {
        assert_eq!(cell["plan"], earlier["plan"]);
        // What had been done to the end is in the record, as it was.
        for slot in list(&earlier["slots"]).iter().filter(|slot| number(slot, "elapsed_ns") >= 500_000_000) {
            assert!(list(&cell["slots"]).iter().any(|other| number(other, "from_ns") == number(slot, "from_ns")));
        }
    }
    let [resumed] = list(&record["resumed"]) else { panic!("{}", record["resumed"]) };
    assert!(number(resumed, "t_ns") >= number(resumed, "paused_ns"));
    assert_eq!(list(&place.run("history --json").json()).len(), 1);
    assert_eq!(place.run(&format!("show {id} --json")).json(), record);
    assert!(place.run(&format!("show {id}")).stdout.contains(" (paused for "));
    let again = place.run(&format!("run --resume {id}"));
    assert!(again.error(2).contains("is complete"), "{}", again.stderr);
    assert_eq!(files(&place.path("state/plimsoll/runs")), Vec::<String>::new());
}

#[test]
fn a_run_interrupted_at_any_moment_goes_on_with_the_missing_slots() {
    thread::scope(|scope| {
        for (slots, signal) in [(0, Signal::TERM), (3, interruption()), (7, Signal::KILL), (10, Signal::TERM)] {
            scope.spawn(move || interrupt_and_resume(slots, signal));
        }
    });
}

#[test]
fn a_resumed_run_can_be_interrupted_and_killed_again_and_loses_nothing() {
    let place = place_with_file();
    let child = start(&place, RUN);
    wait_for_slots(&place, 2);
    end(child, Signal::TERM);
    // Killed before anything is done: nothing has changed.
    let before = place.run("show --json").json();
    let child = start(&place, "run --resume latest --json");
    wait_for_slots(&place, 2);
    end(child, Signal::KILL);
    assert_eq!(place.run("show --json").json(), before);
    for (slots, signal, outcome) in
        [(5, Signal::KILL, "lost"), (8, Signal::TERM, "interrupted"), (10, Signal::KILL, "lost")]
    {
        let child = start(&place, "run --resume latest --json");
        wait_for_slots(&place, slots);
        end(child, signal);
        let record = place.run("show --json").json();
        assert_eq!((&record["id"], record["outcome"].as_str()), (&before["id"], Some(outcome)));
        let done: usize = list(&record["cells"]).iter().map(|cell| list(&cell["slots"]).len()).sum();
        assert!(done >= slots, "{done} of {slots}");
    }
    let record = place.record("run --resume latest");
    assert_whole(&record);
    assert_eq!((&record["id"], list(&record["resumed"]).len()), (&before["id"], 4));
    assert_eq!(list(&place.run("history --json").json()).len(), 1);
}

#[test]
fn a_run_is_resumed_by_one_process_only() {
    let place = place_with_file();
    let child = start(&place, RUN);
    wait_for_slots(&place, 1);
    end(child, Signal::TERM);
    let child = start(&place, "run --resume latest --json");
    wait_for_slots(&place, 2);
    let said = place.run("run --resume latest");
    assert!(said.error(2).contains("is going on already"), "{}", said.stderr);
    let said = end(child, Signal::TERM);
    assert_eq!(said.code, Some(130), "{}", said.stderr);
}

#[test]
fn files_that_a_run_made_are_made_again_and_removed_again() {
    let place = Place::new();
    let child = start(&place, "run DATA --rw randrw --verify --size 2M --passes 4 --duration 500ms --ramp 200ms");
    wait_for_slots(&place, 2);
    end(child, Signal::KILL);
    let record = place.record("run --resume latest");
    assert_eq!(record["outcome"], "complete");
    assert_eq!(rounds(&record), [[0, 1, 2, 3]]);
    let verification = &record["cells"][0]["verification"];
    assert_eq!(verification["mismatches"], 0);
    assert!(number(verification, "blocks_checked") > 0);
    assert_eq!(list(&record["layouts"]).len(), 2);
    assert_eq!(place.leftovers(), Vec::<String>::new());
}

/// What a record warns of that has these words.
fn warnings(record: &Value, words: &str) -> Vec<String> {
    let all = list(&record["warnings"]).iter().filter_map(Value::as_str);
    all.filter(|text| text.contains(words)).map(str::to_owned).collect()
}

#[test]
fn files_that_were_to_be_kept_are_kept_and_told_of_as_long_as_they_are_there() {
    let place = Place::new();
    fs::write(place.path("plan.toml"), "keep_files = true\n[[workload]]\nrw = 'randread'\n").unwrap();
    for is_removed in [false, true] {
        let child = start(&place, "run DATA --plan ROOT/plan.toml --size 2M --passes 6 --duration 500ms --ramp 200ms");
        wait_for_slots(&place, 1);
        let said = end(child, Signal::TERM);
        assert!(said.stderr.contains(" --keep-files` goes on with it"), "{}", said.stderr);
        let before = warnings(&place.run("show --json").json(), "kept ");
        let [kept] = &names(&place.data())[..] else { panic!("{:?}", names(&place.data())) };
        assert!(matches!(&before[..], [told] if told.contains(kept)), "{before:?}");
        let child = start(&place, "run --resume latest --keep-files");
        wait_for_slots(&place, 2);
        end(child, Signal::TERM);
        assert_eq!(warnings(&place.run("show --json").json(), "kept ").len(), 2);
        if is_removed {
            assert_eq!(place.run("doctor --clean DATA").code, Some(0));
        }
        let after = warnings(&place.record("run --resume latest --keep-files"), "kept ");
        let there = names(&place.data());
        assert_eq!(there.len(), if is_removed { 1 } else { 3 }, "{there:?}");
        assert_eq!(after.len(), there.len(), "{after:?}");
        assert!(there.iter().all(|name| after.iter().any(|told| told.contains(&format!("{name}:")))), "{after:?}");
        assert_eq!(place.run("doctor --clean DATA").code, Some(0));
    }
}

#[test]
fn a_named_file_that_was_kept_is_told_of_by_who_goes_on_and_only_reads_it() {
    let place = Place::new();
    let child =
        start(&place, "run DATA/new --rw randread --size 2M --passes 3 --duration 500ms --ramp 200ms --keep-files");
    wait_for_slots(&place, 1);
    end(child, Signal::TERM);
    let told = warnings(&place.record("run --resume latest --keep-files"), "kept ");
    assert!(matches!(&told[..], [one] if one.contains("/new:")), "{told:?}");
    // Another run that reads it has not made it.
    let other = place.record("run DATA/new --rw randread --size 2M --operations 10 --keep-files");
    assert_eq!(warnings(&other, "kept "), Vec::<String>::new());
}

#[test]
fn a_command_in_the_background_that_ended_is_told_where_what_was_measured_without_it_counts() {
    thread::scope(|scope| {
        for (slots, is_told) in [(0, false), (1, true)] {
            scope.spawn(move || {
                let place = place_with_file();
                let [ends, ended, stays] = ["ends", "ended", "stays"].map(|name| place.path(name));
                let looks = format!("until [ -e {} ]; do sleep 0.1; done; : > {}", ends.display(), ended.display());
                let load = format!("[ -e {} ] && exec sleep 600; {looks}", stays.display());
                let mut run = place.command("run DATA/file --rw randread --passes 3 --duration 3s --ramp 200ms");
                run.args(["--background", &load]).stdout(Stdio::piped()).stderr(Stdio::piped());
                let child = run.spawn().unwrap();
                wait_for_slots(&place, 0);
                fs::write(&ends, "").unwrap();
                assert!(comes_true(|| ended.exists()), "the command in the background never looked");
                thread::sleep(Duration::from_millis(300));
                wait_for_slots(&place, slots);
                end(child, Signal::TERM);
                let told = |record: &Value| warnings(record, "the background command ended ").len();
                assert_eq!(told(&place.run("show --json").json()), 1, "it ended, whatever counts");
                fs::write(&stays, "").unwrap();
                let record = place.record("run --resume latest");
                assert_eq!(told(&record), usize::from(is_told), "after {slots} slots");
                assert_eq!(warnings(&record, "the background command was started again ").len(), told(&record));
            });
        }
    });
}

#[test]
fn time_that_may_be_used_at_most_is_time_that_is_used() {
    let place = place_with_file();
    let child = start(&place, &format!("{RUN} --max-time 20s"));
    wait_for_slots(&place, 6);
    end(child, Signal::TERM);
    thread::sleep(Duration::from_secs(16));
    let record = place.record("run --resume latest");
    assert_whole(&record);
}

#[test]
fn nothing_can_be_changed_about_a_run_that_goes_on() {
    let place = Place::new();
    for flags in [
        "DATA",
        "--rw randread",
        "--passes 2",
        "--effort quick",
        "--seed 1",
        "--name x",
        "--preset iops",
        "--duration 1s",
    ] {
        let said = place.run(&format!("run --resume latest {flags}"));
        assert_eq!(said.code, Some(2), "{flags}");
        let sentence = said.stderr.lines().next().unwrap();
        let named = flags.split(' ').next().unwrap().replace("DATA", "[TARGET]...");
        let (of, with) = sentence.split_once("cannot be used with").unwrap();
        assert!(sentence.contains("--resume <RUN>") && format!("{of}{with}").contains(&named), "{sentence}");
    }
    assert!(place.run("run --resume latest").error(2).contains("history is empty"));
    assert!(place.run("run --resume 0199c0de").error(2).contains("no run or baseline"));
    assert!(place.run("run --resume latest --no-history").error(2).contains("no history here"));
}

#[test]
fn what_cannot_go_on_says_why() {
    let place = place_with_file();
    place.record("run DATA/file --rw randread --operations 10");
    assert!(place.run("run --resume latest").error(2).contains("complete"));
    let child = start(&place, RUN);
    wait_for_slots(&place, 1);
    end(child, Signal::TERM);
    let before = place.run("show --json").json();
    let file = place.data().join("file");
    let aside = place.data().join("aside");
    fs::rename(&file, &aside).unwrap();
    assert!(place.run("run --resume latest").error(3).contains("the file is gone"));
    fs::create_dir(&file).unwrap();
    assert!(place.run("run --resume latest").error(3).contains("was a file and is a directory"));
    fs::remove_dir(&file).unwrap();
    fs::write(&file, "short").unwrap();
    assert!(place.run("run --resume latest").error(3).contains("has 5 bytes, and the run needs 4194304"));
    fs::rename(&aside, &file).unwrap();
    assert!(place.run("run --resume latest --destroy /dev/zero").error(2).contains("names no target"));
    // No refusal has cost anything.
    assert_eq!(place.run("show --json").json(), before);
    assert_eq!(place.record("run --resume latest")["outcome"], "complete");
}

#[test]
fn a_path_from_where_the_command_was_typed_is_said_to_lead_nowhere_from_elsewhere() {
    let place = Place::new();
    fs::create_dir(place.path("data/in")).unwrap();
    fs::create_dir(place.path("other")).unwrap();
    for target in ["data", "data/in/new"] {
        let flags = "--rw randread --size 4M --passes 3 --duration 1s --buffered";
        let child = start(&place, &format!("run {target} {flags}"));
        wait_for_slots(&place, 1);
        end(child, Signal::TERM);
        let elsewhere = place.command("run --resume latest").current_dir(place.path("other")).output().unwrap();
        let told = Said::of(elsewhere);
        let wanted = format!("it led to {} and leads nowhere now", place.path(target).display());
        let error = told.error(3);
        assert!(error.contains(&wanted) && error.contains("type the command where it was typed before"), "{error}");
        assert_eq!(place.record("run --resume latest")["outcome"], "complete");
    }
    // Without the directory, going back to where it was typed would not help.
    let child = start(&place, "run data/in --rw randread --size 4M --passes 3 --duration 1s --buffered");
    wait_for_slots(&place, 1);
    end(child, Signal::TERM);
    fs::remove_dir(place.path("data/in")).unwrap();
    let gone = Said::of(place.command("run --resume latest").current_dir(place.path("other")).output().unwrap());
    assert!(gone.error(3).contains("does not exist, and no file is made there"), "{}", gone.stderr);
}

#[test]
fn what_is_kept_to_go_on_goes_with_the_run() {
    let place = place_with_file();
    let child = start(&place, RUN);
    wait_for_slots(&place, 1);
    end(child, Signal::TERM);
    let id = place.run("show --json").json()["id"].as_str().unwrap().to_owned();
    assert_eq!(place.run(&format!("remove {id}")).code, Some(0));
    assert!(place.run(&format!("run --resume {id}")).error(2).contains("no run or baseline"));
}

#[test]
fn a_device_that_is_written_to_has_to_be_named_again_and_is_guarded_as_before() {
    if !is_root() {
        return;
    }
    let (place, device) = (Place::new(), LoopDevice::new(16 << 20));
    let name = device.name();
    let child =
        start(&place, &format!("run {name} --rw randwrite --passes 4 --duration 500ms --ramp 200ms --destroy {name}"));
    wait_for_slots(&place, 2);
    let said = end(child, Signal::TERM);
    assert!(said.stderr.contains(&format!(" --destroy {name}` goes on with it")), "{}", said.stderr);
    let said = place.run("run --resume latest");
    assert!(said.error(3).contains(&format!("add --destroy {name}")), "{}", said.stderr);
    assert!(Command::new("mkfs.ext4").arg("-q").arg(name).status().unwrap().success());
    let before = fs::read(&device.backing).unwrap();
    let said = place.run(&format!("run --resume latest --destroy {name}"));
    assert!(said.error(3).contains("ext4"), "{}", said.stderr);
    assert!(fs::read(&device.backing).unwrap() == before);
    assert!(Command::new("wipefs").arg("-qa").arg(name).status().unwrap().success());
    let record = place.record(&format!("run --resume latest --destroy {name}"));
    assert_eq!((record["outcome"].as_str(), rounds(&record)), (Some("complete"), vec![vec![0, 1, 2, 3]]));
}

#[test]
fn another_device_behind_the_same_path_is_refused() {
    if !is_root() {
        return;
    }
    let (place, first, other) = (Place::new(), LoopDevice::new(16 << 20), LoopDevice::new(16 << 20));
    let link = place.path("device");
    std::os::unix::fs::symlink(&first.path, &link).unwrap();
    let child = start(&place, "run ROOT/device --rw randread --passes 4 --duration 500ms --ramp 200ms");
    wait_for_slots(&place, 1);
    end(child, Signal::TERM);
    fs::remove_file(&link).unwrap();
    std::os::unix::fs::symlink(&other.path, &link).unwrap();
    let said = place.run("run --resume latest");
    assert!(said.error(3).contains("the backing file of its disk was"), "{}", said.stderr);
}

#[test]
fn an_emulated_disk_that_was_made_anew_with_another_limit_is_told() {
    if !is_root() {
        return;
    }
    let place = Place::new();
    let _up = Up(&place);
    let up = |iops: u32| {
        let said = place.run(&format!("emulate up --limit iops={iops} --size 16MiB --json"));
        said.json()["emulations"][0]["disks"][0]["device"].as_str().unwrap().to_owned()
    };
    let device = up(500);
    let link = place.path("device");
    std::os::unix::fs::symlink(&device, &link).unwrap();
    let child = start(&place, "run ROOT/device --rw randread --passes 4 --duration 500ms --ramp 200ms");
    wait_for_slots(&place, 1);
    end(child, Signal::TERM);
    take_down(&place);
    let device = up(1000);
    fs::remove_file(&link).unwrap();
    std::os::unix::fs::symlink(&device, &link).unwrap();
    let said = place.run("run --resume latest --json");
    let told = said.json()["warnings"].to_string();
    assert!(told.contains("stood for iops=500 before the interruption"), "{told}");
    assert!(told.contains("stands for iops=1000 now"), "{told}");
}

#[test]
fn an_application_is_warmed_up_again_when_its_run_goes_on() {
    let desk = Desk::new();
    let [began, goes_on] = ["began", "goes-on"].map(|name| desk.place.path(name));
    let command = format!(
        "[ $ITERATION != 3 ] || [ -e {} ] || {{ echo here > {}; sleep 600; }}",
        goes_on.display(),
        began.display()
    );
    let mut command =
        desk.command(&["DATA", "--command", &command, "--iterations", "3", "--warmup", "1", "--keep-files"]);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    assert!(comes_true(|| began.exists()), "the run never began");
    assert_eq!(end(child, interruption()).code, Some(130));
    fs::write(goes_on, "").unwrap();
    let id = desk.record()["id"].as_str().unwrap().to_owned();
    let before = warnings(&desk.record(), "kept ");
    let said = desk.run(&["--resume", &id, "--keep-files"]);
    assert_eq!(said.code, Some(0), "{}{}", said.stdout, said.stderr);
    let record = desk.record();
    let after = warnings(&record, "kept ");
    assert!(before.len() == 2 && after.len() == 4 && before.iter().all(|told| after.contains(told)), "{after:?}");
    let counted: Vec<bool> = iterations(&record["cells"][0]).iter().map(|of| of["counted"] == true).collect();
    assert_eq!(counted, [false, true, false, true, true]);
    for place in [desk.place.data(), desk.elsewhere.path().to_owned()] {
        let mut clean = desk.place.command("doctor --clean");
        assert!(clean.arg(place).output().unwrap().status.success());
    }
    desk.assert_only(&[]);
}
