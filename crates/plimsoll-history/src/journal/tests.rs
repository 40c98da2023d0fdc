//! Journals cut off, damaged and found: what a reader may make of them.

use plimsoll_record::results::ErrorCount;
use proptest::{prop_assert, proptest};

use super::*;
use crate::{location::HISTORY_FILE, test_records};

fn bytes_of(number: u32) -> Vec<u8> {
    let (started, events) = test_records::events(number);
    let beginning = Beginning { history: HISTORY_FILE.into(), directory: None, started: Box::new(started) };
    let (mut bytes, mut checksum) = encode(0, &serde_json::to_vec(&beginning).unwrap());
    for event in events {
        let (line, next) = encode(checksum, &serde_json::to_vec(&event).unwrap());
        bytes.extend(line);
        checksum = next;
    }
    bytes
}

/// The records that the first one, two, ... lines of a journal amount to: all that any damage may leave.
fn prefixes(bytes: &[u8]) -> Vec<Record> {
    let ends = bytes.iter().enumerate().filter(|(_, byte)| **byte == b'\n');
    ends.map(|(end, _)| folded(&bytes[..=end]).unwrap()).collect()
}

fn folded(bytes: &[u8]) -> Option<Record> {
    match fold(bytes) {
        Folded::Record { record, .. } => Some(*record),
        Folded::Nothing | Folded::Damaged | Folded::OfAnotherVersion { .. } => None,
    }
}

#[test]
fn a_journal_folds_to_the_record_of_its_run() {
    let record = folded(&bytes_of(3)).unwrap();
    assert!(record == test_records::record(3), "the golden record, under this id");
}

#[test]
fn a_journal_cut_off_anywhere_gives_the_record_of_its_whole_lines() {
    let bytes = bytes_of(0);
    let prefixes = prefixes(&bytes);
    let ends: Vec<_> = bytes.iter().enumerate().filter(|(_, byte)| **byte == b'\n').map(|(at, _)| at).collect();
    let around_ends = ends.iter().flat_map(|end| [*end, end + 1]);
    for length in (0..=bytes.len()).step_by(97).chain(around_ends) {
        let lines = bytes[..length].iter().filter(|byte| **byte == b'\n').count();
        let record = folded(&bytes[..length]);
        match lines {
            0 => assert!(record.is_none(), "cut off after {length} bytes"),
            _ => assert!(record.unwrap() == prefixes[lines - 1], "cut off after {length} bytes"),
        }
    }
}

#[test]
fn a_run_that_did_not_end_is_lost_and_keeps_what_it_had() {
    let bytes = bytes_of(0);
    let end = bytes[..bytes.len() - 1].iter().rposition(|byte| *byte == b'\n').unwrap();
    let record = folded(&bytes[..=end]).unwrap();
    assert_eq!(record.outcome, Outcome::Lost);
    assert_eq!(record.cells[0].read.as_ref().unwrap().operations, 10_200);
    assert_eq!(record.elapsed_ns, 5_000_000_000);
}

#[test]
fn a_flipped_bit_of_a_line_is_always_seen() {
    let (started, _) = test_records::events(0);
    let (line, _) = encode(7, &serde_json::to_vec(&RunEvent::Started(Box::new(started))).unwrap());
    let mut line = line.strip_suffix(b"\n").unwrap().to_owned();
    for at in 0..line.len() {
        for bit in 0..8 {
            line[at] ^= 1 << bit;
            let is_capital_digit = LINE_START.len() <= at && at < LINE_START.len() + CHECKSUM_DIGITS && bit == 5;
            assert!(
                decode::<RunEvent>(7, &line).err() == Some(Untold::Damaged) || is_capital_digit,
                "byte {at}, bit {bit}"
            );
            line[at] ^= 1 << bit;
        }
    }
    assert!(decode::<RunEvent>(7, &line).is_ok() && decode::<RunEvent>(8, &line).is_err());
}

#[test]
fn a_damaged_line_costs_itself_and_what_follows_and_is_told() {
    let mut bytes = bytes_of(0);
    let prefixes = prefixes(&bytes);
    for at in (0..bytes.len() - 1).step_by(89) {
        let line = bytes[..at].iter().filter(|byte| **byte == b'\n').count();
        bytes[at] ^= 0x10;
        match folded(&bytes) {
            None => assert_eq!(line, 0, "byte {at}: only a damaged start leaves nothing"),
            Some(mut record) => {
                assert!(record.warnings.pop().unwrap().contains(&format!("line {} on", line + 1)), "byte {at}");
                assert!(record == prefixes[line - 1], "byte {at}");
            }
        }
        bytes[at] ^= 0x10;
    }
}

proptest! {
    #![proptest_config(proptest::test_runner::Config::with_cases(64))]

    #[test]
    fn no_bytes_make_a_reader_panic(bytes: Vec<u8>) {
        prop_assert!(folded(&bytes).is_none());
    }

    #[test]
    fn what_is_cut_out_of_the_middle_is_missed(from in 0_usize..10_000, length in 1_usize..2000) {
        let mut bytes = bytes_of(0);
        let prefixes = prefixes(&bytes);
        let from = from.min(bytes.len() - 1);
        let to = (from + length).min(bytes.len());
        bytes.drain(from..to);
        if let Some(mut record) = folded(&bytes) {
            record.warnings.retain(|warning| !warning.contains("damaged"));
            prop_assert!(prefixes.contains(&record));
        }
    }
}

/// Lines are lost one by one, which no torn write does but a copy might.
#[test]
fn a_line_that_is_missing_or_doubled_ends_the_journal() {
    let bytes = bytes_of(0);
    let lines: Vec<_> = bytes.split_inclusive(|byte| *byte == b'\n').collect();
    for number in 1..lines.len() - 1 {
        let without = [&lines[..number], &lines[number + 1..]].concat().concat();
        let twice = [&lines[..=number], &lines[number..]].concat().concat();
        for damaged in [without, twice] {
            let record = folded(&damaged).unwrap();
            assert_eq!(record.outcome, Outcome::Lost, "line {number}");
            assert!(record.warnings.last().unwrap().contains("damaged"), "line {number}");
        }
    }
}

#[test]
fn a_journal_without_sense_is_set_aside_and_an_empty_one_removed() {
    let directory = tempfile::tempdir().unwrap();
    let runs = directory.path().join(RUNS_DIRECTORY);
    fs::create_dir(&runs).unwrap();
    fs::write(runs.join("a.ndjson"), "no journal\n").unwrap();
    fs::write(runs.join("b.ndjson"), "{\"crc32\":\"00").unwrap();
    fs::write(runs.join("c.ndjson"), "").unwrap();
    fs::write(runs.join("other.txt"), "not ours").unwrap();
    assert!(any(directory.path()));
    let recovery = recover(directory.path());
    assert!(recovery.runs.is_empty() && recovery.problems.is_empty(), "{recovery:?}");
    assert_eq!(recovery.set_aside, [runs.join("a.damaged")]);
    assert!(!any(directory.path()));
    let mut left: Vec<_> = fs::read_dir(&runs).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    left.sort();
    assert_eq!(left, ["a.damaged", "other.txt"]);
}

/// The runs that are recovered, without a problem.
fn recovered(state_directory: &Path) -> Vec<Uuid> {
    let Recovery { runs, problems, .. } = recover(state_directory);
    assert!(problems.is_empty(), "{problems:?}");
    runs.into_iter().map(|recovered| recovered.run).collect()
}

fn dead_run(state_directory: &Path, history: &Path, number: u32) {
    let (started, events) = test_records::events(number);
    let mut journal = Journal::create(state_directory, history, &started).unwrap();
    journal.append(&events[0]).unwrap();
}

#[test]
fn a_run_is_recovered_into_the_history_that_it_belongs_to() {
    let directory = tempfile::tempdir().unwrap();
    let state = directory.path().join("state");
    let (own, other) = (state.join(HISTORY_FILE), directory.path().join("other.db"));
    dead_run(&state, &own, 1);
    dead_run(&state, &other, 2);
    assert_eq!(recovered(&state), [1, 2].map(test_records::id));
    for (path, number) in [(own, 1), (other, 2)] {
        let runs = History::read(&path).unwrap().list(&crate::summary::Filter::default()).unwrap();
        assert_eq!(runs.iter().map(|run| run.id).collect::<Vec<_>>(), [test_records::id(number)]);
    }
}

#[test]
fn a_history_that_is_not_there_or_not_well_keeps_its_journal_and_stops_no_other() {
    let directory = tempfile::tempdir().unwrap();
    let state = directory.path().join("state");
    let (absent, broken) = (directory.path().join("unmounted/x.db"), directory.path().join("broken.db"));
    fs::write(&broken, "no history at all").unwrap();
    dead_run(&state, &absent, 1);
    let (mount, disk) = (absent.parent().unwrap(), directory.path().join("disk"));
    fs::rename(mount, &disk).unwrap();
    dead_run(&state, &broken, 2);
    dead_run(&state, &broken, 3);
    dead_run(&state, &state.join(HISTORY_FILE), 4);
    let recovery = recover(&state);
    assert_eq!(recovery.runs.iter().map(|recovered| recovered.run).collect::<Vec<_>>(), [test_records::id(4)]);
    assert_eq!(recovery.problems.len(), 1, "{:?}", recovery.problems);
    let problem = &recovery.problems[0];
    assert!(problem.to_string().contains(&format!("{}.ndjson", test_records::id(2))), "{problem}");
    assert!(problem.to_string().contains("doctor --clean"), "{problem}");
    assert!(std::error::Error::source(problem).unwrap().to_string().contains("broken.db"));
    assert_eq!(journals(&state).len(), 3);
    assert!(!mount.exists(), "nothing is made in place of what is not mounted");
    assert_eq!(waiting(&state), [(absent.clone(), 1)].into());
    fs::create_dir(mount).unwrap();
    assert!(recover(&state).runs.is_empty() && !absent.exists(), "nor where it is to be mounted");
    assert_eq!(waiting(&state), [(absent.clone(), 1)].into());
    fs::remove_dir(mount).unwrap();
    fs::rename(&disk, mount).unwrap();
    fs::remove_file(&broken).unwrap();
    assert_eq!(recovered(&state), [1, 2, 3].map(test_records::id));
    assert!(waiting(&state).is_empty());
}

#[test]
fn a_journal_whose_history_takes_nothing_can_be_set_aside() {
    let directory = tempfile::tempdir().unwrap();
    let state = directory.path().join("state");
    let broken = directory.path().join("broken.db");
    fs::write(&broken, "no history at all").unwrap();
    dead_run(&state, &broken, 1);
    dead_run(&state, &broken, 2);
    dead_run(&state, &state.join(HISTORY_FILE), 3);
    let (aside, problems) = set_aside(&state);
    assert!(problems.is_empty(), "{problems:?}");
    let expected = [1, 2].map(|number| state.join(RUNS_DIRECTORY).join(format!("{}.aside", test_records::id(number))));
    assert_eq!(aside, expected);
    assert!(aside.iter().all(|path| folded(&fs::read(path).unwrap()).is_some()), "nothing of them is lost");
    assert!(!any(&state) && recovered(&state).is_empty() && set_aside(&state).0.is_empty());
    assert!(History::read(&state.join(HISTORY_FILE)).unwrap().contains(test_records::id(3)).unwrap());
}

#[test]
fn a_journal_of_another_version_stays_until_it_is_given_up() {
    let directory = tempfile::tempdir().unwrap();
    let state = directory.path().join("state");
    dead_run(&state, &state.join(HISTORY_FILE), 1);
    let path = state.join(RUNS_DIRECTORY).join(test_records::id(1).to_string()).with_extension(EXTENSION);
    let whole = fs::read(&path).unwrap();
    let lines: Vec<_> = whole.split_inclusive(|byte| *byte == b'\n').collect();
    let [first, _] = lines[..] else { panic!("a start and an event") };
    let Line { checksum, .. } = decode::<Beginning>(0, first.strip_suffix(b"\n").unwrap()).unwrap();
    let later = encode(checksum, br#"{"event":"dreamt"}"#).0;
    let anew = encode(0, br#"{"history":{"at":"home"}}"#).0;
    let other = Some(directory.path().join("other.db"));
    for bytes in [[first, &later].concat(), anew] {
        fs::write(&path, &bytes).unwrap();
        for only in [None, Some(state.join(HISTORY_FILE)), other.clone()] {
            let Recovery { runs, problems, .. } = recover_into(&state, only.as_deref());
            assert!(runs.is_empty(), "{runs:?}");
            let is_told = only.is_none() || (only != other && bytes.starts_with(first));
            assert_eq!(problems.len(), usize::from(is_told), "{only:?} {problems:?}");
            if let Some(problem) = problems.first() {
                assert!(problem.to_string().contains("another version"), "{problem}");
            }
            assert_eq!(fs::read(&path).unwrap(), bytes);
        }
    }
    let (aside, problems) = set_aside(&state);
    assert!(problems.is_empty(), "{problems:?}");
    assert_eq!(aside, [path.with_extension(ASIDE_EXTENSION)]);
    assert!(!any(&state) && recovered(&state).is_empty());
}

#[test]
fn a_state_directory_that_moves_takes_its_history_along() {
    let directory = tempfile::tempdir().unwrap();
    let (before, after) = (directory.path().join("before"), directory.path().join("after"));
    dead_run(&before, &before.join(HISTORY_FILE), 1);
    fs::rename(&before, &after).unwrap();
    let recovery = recover(&after);
    let history = after.join(HISTORY_FILE);
    let lost = Recovered { run: test_records::id(1), history, has_ended: false, rest: Rest::Resumable };
    assert_eq!(recovery.runs, [lost]);
}

#[test]
fn of_a_run_that_only_its_history_did_not_take_it_is_known_that_it_ended() {
    let directory = tempfile::tempdir().unwrap();
    let (started, events) = test_records::events(1);
    let history = directory.path().join(HISTORY_FILE);
    let mut journal = Journal::create(directory.path(), &history, &started).unwrap();
    events.iter().for_each(|event| journal.append(event).unwrap());
    drop(journal);
    let saved = Recovered { run: test_records::id(1), history, has_ended: true, rest: Rest::Nowhere };
    assert_eq!(recover(directory.path()).runs, [saved]);
}

#[test]
fn the_journal_of_a_living_run_is_left_alone() {
    let directory = tempfile::tempdir().unwrap();
    let (started, events) = test_records::events(1);
    let history_file = directory.path().join(HISTORY_FILE);
    let mut journal = Journal::create(directory.path(), &history_file, &started).unwrap();
    journal.append(&events[0]).unwrap();
    assert!(recovered(directory.path()).is_empty());
    assert!(journal.path().exists());
    drop(journal);
    assert_eq!(recovered(directory.path()), [test_records::id(1)]);
    let history = History::open(&history_file).unwrap();
    assert_eq!(history.get(test_records::id(1)).unwrap().outcome, Outcome::Lost);
    assert!(!any(directory.path()));
}

#[test]
fn a_record_that_was_saved_is_not_replaced_by_its_journal() {
    let directory = tempfile::tempdir().unwrap();
    let (started, events) = test_records::events(1);
    let history_file = directory.path().join(HISTORY_FILE);
    let mut journal = Journal::create(directory.path(), &history_file, &started).unwrap();
    events[..3].iter().for_each(|event| journal.append(event).unwrap());
    drop(journal);
    let mut history = History::open(&history_file).unwrap();
    history.save(&test_records::record(1)).unwrap();
    assert!(recovered(directory.path()).is_empty());
    assert!(history.get(test_records::id(1)).unwrap() == test_records::record(1));
    assert!(!any(directory.path()));
}

#[test]
fn a_journal_is_for_its_owner_alone_and_gone_when_it_is_finished() {
    let directory = tempfile::tempdir().unwrap();
    let (started, events) = test_records::events(1);
    let state = directory.path().join("state");
    let mut journal = Journal::create(&state, &state.join(HISTORY_FILE), &started).unwrap();
    events.iter().for_each(|event| journal.append(event).unwrap());
    let path = journal.path().to_owned();
    assert_eq!(fs::metadata(&path).unwrap().mode() & 0o777, 0o600);
    assert_eq!(fs::metadata(path.parent().unwrap()).unwrap().mode() & 0o777, 0o700);
    assert_eq!(fs::read(&path).unwrap(), bytes_of(1));
    journal.finish().unwrap();
    assert!(!path.exists());
}

#[test]
fn of_a_layout_each_percent_is_written_once_and_a_record_is_the_same() {
    let directory = tempfile::tempdir().unwrap();
    let (started, events) = test_records::events(1);
    let history_file = directory.path().join(HISTORY_FILE);
    let mut journal = Journal::create(directory.path(), &history_file, &started).unwrap();
    let lines = |journal: &Journal| fs::read_to_string(journal.path()).unwrap().lines().count();
    let total_bytes = 64 << 40;
    for part in 0..=1000 {
        let written_bytes = total_bytes / 1000 * part;
        let progress = RunEvent::LayoutProgress { target: "/mnt/data".to_owned(), written_bytes, total_bytes };
        journal.append(&progress).unwrap();
    }
    // 0 to 99, as a thousandth of the bytes is rounded down.
    assert_eq!(lines(&journal), 1 + 100);
    journal.append(&RunEvent::Started(Box::new(started.clone()))).unwrap();
    journal.append(&RunEvent::LayoutProgress { target: String::new(), written_bytes: 0, total_bytes: 0 }).unwrap();
    assert_eq!(lines(&journal), 1 + 100 + 1);
    events.iter().for_each(|event| journal.append(event).unwrap());
    assert_eq!(folded(&fs::read(journal.path()).unwrap()).unwrap(), folded(&bytes_of(1)).unwrap());
}

#[test]
fn a_journal_that_cannot_be_made_is_an_error_that_names_it() {
    let (started, _) = test_records::events(1);
    let error = Journal::create(Path::new("/proc/plimsoll"), Path::new("/h.db"), &started).unwrap_err();
    assert!(error.to_string().contains("/proc/plimsoll/runs"), "{error}");
}

/// The events of the golden run up to the end of its first slot, its second and so on.
fn until_slot(number: u32, slots: usize) -> (RunStarted, Vec<RunEvent>) {
    let (started, events) = test_records::events(number);
    let is_end = |event: &RunEvent| matches!(event, RunEvent::SlotFinished(_));
    let ends: Vec<usize> = events.iter().enumerate().filter(|(_, event)| is_end(event)).map(|(at, _)| at).collect();
    let end = slots.checked_sub(1).map_or(0, |last| ends[last] + 1);
    (started, events[..end].to_vec())
}

fn unfinished(history: &Path, number: u32) -> Vec<RunEvent> {
    let id = test_records::id(number);
    History::read(history).unwrap().resumable(id).unwrap().read(id).unwrap().events
}

#[test]
fn of_a_dead_run_everything_up_to_the_last_slot_that_counts_is_kept() {
    let directory = tempfile::tempdir().unwrap();
    let history = directory.path().join(HISTORY_FILE);
    let (started, all) = test_records::events(1);
    for (number, slots) in [(1, 0), (2, 1), (3, 2)] {
        let started = RunStarted { id: test_records::id(number), ..started.clone() };
        let (_, events) = until_slot(number, slots);
        let mut journal = Journal::create(directory.path(), &history, &started).unwrap();
        let rest = all[events.len()..].iter().take_while(|event| !matches!(event, RunEvent::SlotFinished(_)));
        events.iter().chain(rest).for_each(|event| journal.append(event).unwrap());
        drop(journal);
        assert_eq!(recovered(directory.path()), [started.id]);
        assert!(unfinished(&history, number) == events, "{slots} slots");
    }
}

#[test]
fn neither_a_slot_that_was_cut_off_is_kept_nor_what_was_warned_of_since() {
    let directory = tempfile::tempdir().unwrap();
    let history = directory.path().join(HISTORY_FILE);
    let (started, mut events) = until_slot(1, 2);
    let warning = |text: &str| RunEvent::Warning { text: text.to_owned() };
    let (_, mut first) = until_slot(1, 1);
    first.insert(first.len() - 1, warning("of what counts"));
    events.splice(..first.len() - 1, first.clone());
    let Some(RunEvent::SlotFinished(slot)) = events.last_mut() else { panic!("it ends with a slot") };
    slot.is_cut = true;
    events.push(warning("kept /mnt/data"));
    events.push(RunEvent::Finished { elapsed_ns: 9, outcome: Outcome::Interrupted });
    let mut journal = Journal::create(directory.path(), &history, &started).unwrap();
    events.iter().for_each(|event| journal.append(event).unwrap());
    let kept = journal.unfinished().unwrap().unwrap().read(started.id).unwrap();
    assert!(kept.started == started && kept.events == first);
}

#[test]
fn what_a_slot_found_wrong_is_kept_although_it_is_done_again() {
    let directory = tempfile::tempdir().unwrap();
    let history = directory.path().join(HISTORY_FILE);
    let (started, events) = until_slot(1, 2);
    let (_, first) = until_slot(1, 1);
    let [seconds @ .., RunEvent::SlotFinished(whole)] = &events[first.len()..] else { panic!("it ends with a slot") };
    let slot = |is_cut, mismatches, errors| {
        let checked = VerificationResult { mismatches, blocks_checked: 9, blocks_left: 5, ..Default::default() };
        RunEvent::SlotFinished(Box::new(SlotResult {
            is_cut,
            verification: Some(checked),
            errors,
            ..SlotResult::clone(whole)
        }))
    };
    let (operation, error) = ("read".to_owned(), "EIO".to_owned());
    let error = ErrorCount { operation, error, count: 3, first_offset: 0, first_file: None };
    // What is kept after a slot that follows on what was kept before.
    let after = |before: &Unfinished, slot: RunEvent| {
        let mut journal = Journal::resume(directory.path(), &history, &started, before).unwrap();
        seconds.iter().chain([&slot]).for_each(|event| journal.append(event).unwrap());
        let kept = journal.unfinished().unwrap().unwrap();
        journal.finish().unwrap();
        kept
    };
    let told = |kept: &Unfinished| {
        let events = kept.read(started.id).unwrap().events;
        let mut builder = RecordBuilder::new(started.clone());
        events.iter().for_each(|event| builder.apply(event));
        let cell = &builder.record().cells[whole.cell];
        let checked = cell.verification.clone().unwrap_or_default();
        (cell.rounds_done, checked.mismatches, checked.blocks_checked, checked.blocks_left, cell.errors)
    };
    let mut before = Unfinished::new(&started).unwrap();
    first.iter().for_each(|event| before.push(&serde_json::to_vec(event).unwrap()));
    let wrong = after(&before, slot(true, 2, Vec::new()));
    assert!(wrong.continues(&before));
    assert_eq!(told(&wrong), (0, 2, 9, 0, 0), "what was not read back is due again");
    assert!(after(&wrong, slot(true, 0, Vec::new())) == wrong, "nothing was found");
    let failed = after(&wrong, slot(true, 0, vec![error]));
    assert!(failed.continues(&wrong));
    assert_eq!(told(&failed), (0, 2, 18, 0, 3));
    assert_eq!(told(&after(&failed, slot(false, 1, Vec::new()))), (1, 3, 27, 5, 3));
}

#[test]
fn slots_that_began_together_are_kept_together_or_not_at_all() {
    let directory = tempfile::tempdir().unwrap();
    let (started, events) = until_slot(1, 2);
    let (_, first) = until_slot(1, 1);
    // The first two slots, which are of two cells, as those of a phase are told.
    let is_start = |event: &&RunEvent| matches!(event, RunEvent::SlotStarted { .. });
    let is_end = |event: &&RunEvent| matches!(event, RunEvent::SlotFinished(_));
    let before = events.iter().position(|event| is_start(&event)).unwrap();
    let (starts, rest): (Vec<_>, Vec<_>) = events[before..].iter().partition(is_start);
    let (ends, seconds): (Vec<_>, Vec<_>) = rest.into_iter().partition(is_end);
    let group: Vec<_> = events[..before].iter().chain(starts).chain(seconds).chain(ends).cloned().collect();
    let cut = |slot: usize| {
        let mut events = group.clone();
        let [.., one, other] = &mut events[..] else { panic!("two slots end it") };
        let RunEvent::SlotFinished(slot) = [one, other][slot] else { panic!("it is the end of a slot") };
        slot.is_cut = true;
        events
    };
    let kept = |number: u32, events: &[RunEvent]| {
        let started = RunStarted { id: test_records::id(number), ..started.clone() };
        let mut journal = Journal::create(directory.path(), &directory.path().join(HISTORY_FILE), &started).unwrap();
        events.iter().for_each(|event| journal.append(event).unwrap());
        journal.unfinished().unwrap().unwrap().read(started.id).unwrap().events
    };
    assert!(kept(1, &group) == group);
    assert_eq!(kept(2, &cut(0)), []);
    assert_eq!(kept(3, &cut(1)), []);
    assert_eq!(kept(4, &group[..group.len() - 1]), [], "the process died between their ends");
    let after_another: Vec<_> = [&first[..], &cut(0)[before..]].concat();
    assert!(kept(5, &after_another) == first);
}

#[test]
fn a_resumed_run_that_dies_replaces_what_it_went_on_with_and_a_complete_one_forgets_it() {
    let directory = tempfile::tempdir().unwrap();
    let history_file = directory.path().join(HISTORY_FILE);
    let id = test_records::id(1);
    let (started, first) = until_slot(1, 1);
    let mut journal = Journal::create(directory.path(), &history_file, &started).unwrap();
    first.iter().for_each(|event| journal.append(event).unwrap());
    drop(journal);
    assert_eq!(recovered(directory.path()), [id]);
    let mut history = History::open(&history_file).unwrap();
    let resume = |history: &History, events: &[RunEvent]| {
        let unfinished = history.resumable(id).unwrap();
        let mut journal = Journal::resume(directory.path(), &history_file, &started, &unfinished).unwrap();
        let second = Journal::resume(directory.path(), &history_file, &started, &unfinished).unwrap_err();
        assert!(matches!(second, HistoryError::GoingOn { .. }), "{second}");
        events.iter().for_each(|event| journal.append(event).unwrap());
    };
    // Nothing was done before it died: the record stays as it was.
    let resumed = RunEvent::Resumed(plimsoll_record::record::Resumption {
        at: started.started,
        t_ns: 9_000_000_000,
        paused_ns: 1,
    });
    resume(&history, std::slice::from_ref(&resumed));
    assert!(recovered(directory.path()).is_empty());
    assert!(history.get(id).unwrap().resumed.is_empty() && unfinished(&history_file, 1) == first);
    // A slot was done.
    let (_, both) = until_slot(1, 2);
    let more: Vec<_> = [&[resumed], &both[first.len()..]].concat();
    resume(&history, &more);
    assert_eq!(recovered(directory.path()), [id]);
    assert_eq!(history.get(id).unwrap().resumed.len(), 1);
    assert_eq!(unfinished(&history_file, 1).len(), first.len() + more.len());
    // It was done, and died before it was saved.
    resume(&history, &[RunEvent::Finished { elapsed_ns: 99_000_000_000, outcome: Outcome::Complete }]);
    assert_eq!(recovered(directory.path()), [id]);
    assert_eq!(history.unfinished(id).unwrap(), None);
    assert!(matches!(history.resumable(id), Err(HistoryError::NothingMissing { .. })));
    let failed = Record { outcome: Outcome::Failed, ..test_records::record(1) };
    history.save(&failed).unwrap();
    assert!(matches!(history.resumable(id), Err(HistoryError::RunFailed { .. })));
    history.save(&Record { outcome: Outcome::Lost, ..failed }).unwrap();
    assert!(matches!(history.resumable(id), Err(HistoryError::NotKept { .. })));
}

#[test]
fn a_journal_that_could_not_be_written_still_says_that_its_run_goes_on() {
    let directory = tempfile::tempdir().unwrap();
    let (started, events) = until_slot(1, 2);
    let (_, first) = until_slot(1, 1);
    let mut journal = Journal::create(directory.path(), &directory.path().join(HISTORY_FILE), &started).unwrap();
    first.iter().for_each(|event| journal.append(event).unwrap());
    let (writable, full) = (journal.file.try_clone().unwrap(), File::open("/dev/null").unwrap());
    journal.file = full;
    let [failing, rest @ ..] = &events[first.len()..] else { panic!("a slot has events") };
    journal.append(failing).unwrap_err();
    journal.file = writable;
    rest.iter().for_each(|event| journal.append(event).unwrap());
    assert!(recovered(directory.path()).is_empty() && journal.path().exists());
    let kept = journal.unfinished().unwrap().unwrap().read(started.id).unwrap();
    assert!(kept.events == first, "what was written before is kept, and nothing after it");
    journal.finish().unwrap();
    assert!(!any(directory.path()));
}

#[test]
fn a_journal_is_opened_as_network_file_systems_need_it_to_lock_it() {
    let directory = tempfile::tempdir().unwrap();
    dead_run(directory.path(), &directory.path().join(HISTORY_FILE), 1);
    let path = journals(directory.path()).pop().unwrap();
    let (mut file, bytes) = open_abandoned(&path).unwrap().unwrap();
    assert!(!bytes.is_empty());
    file.write_all(b"\n").expect("what is only read is not locked on NFS");
}

#[test]
fn an_interrupted_run_that_goes_on_without_a_journal_keeps_what_was_kept_before() {
    let directory = tempfile::tempdir().unwrap();
    let history_file = directory.path().join(HISTORY_FILE);
    let (started, first) = until_slot(1, 1);
    let mut journal = Journal::create(directory.path(), &history_file, &started).unwrap();
    first.iter().for_each(|event| journal.append(event).unwrap());
    drop(journal);
    assert_eq!(recovered(directory.path()), [started.id]);
    let interrupted = Record { outcome: Outcome::Interrupted, ..test_records::record(1) };
    History::open(&history_file).unwrap().save(&interrupted).unwrap();
    assert!(unfinished(&history_file, 1) == first);
}

#[test]
fn what_is_kept_goes_with_its_run() {
    let directory = tempfile::tempdir().unwrap();
    let history_file = directory.path().join(HISTORY_FILE);
    dead_run(directory.path(), &history_file, 1);
    dead_run(directory.path(), &history_file, 2);
    recovered(directory.path());
    let mut history = History::open(&history_file).unwrap();
    history.remove(&[test_records::id(1)]).unwrap();
    history.remove_before(jiff::Timestamp::MAX).unwrap();
    let connection = rusqlite::Connection::open(&history_file).unwrap();
    let count = connection.query_row("SELECT count(*) FROM unfinished", [], |row| row.get::<_, i64>(0)).unwrap();
    assert_eq!(count, 0);
}
