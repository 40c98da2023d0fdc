//! One process and its history: what is put in comes out, and what is no history is refused.

use std::collections::BTreeMap;

use super::*;
use crate::{summary::Filter, test_records};

fn with_runs(count: u32) -> (tempfile::TempDir, History) {
    let directory = tempfile::tempdir().unwrap();
    let mut history = History::open(&directory.path().join("state/history.db")).unwrap();
    (0..count).for_each(|number| history.save(&test_records::record(number)).unwrap());
    (directory, history)
}

fn ids(history: &History, filter: &Filter) -> Vec<Uuid> {
    history.list(filter).unwrap().into_iter().map(|run| run.id).collect()
}

#[test]
fn a_record_comes_back_as_it_was_put_in() {
    let (_directory, history) = with_runs(2);
    assert!(history.get(test_records::id(1)).unwrap() == test_records::record(1));
    assert!(matches!(history.get(test_records::id(9)), Err(HistoryError::NotFound(_))));
}

#[test]
fn a_list_tells_what_the_records_say() {
    let (_directory, history) = with_runs(3);
    let runs = history.list(&Filter::default()).unwrap();
    assert_eq!(runs.len(), 3);
    let record = test_records::record(2);
    let run = &runs[0];
    assert_eq!((run.id, run.started, run.elapsed_ns), (record.id, record.started, record.elapsed_ns));
    assert_eq!((run.outcome.as_str(), run.name.as_deref(), run.version.as_str()), ("failed", Some("golden"), "0.1.0"));
    assert_eq!(run.targets, ["/mnt/data"]);
    assert_eq!(run.tags, record.tags);
    assert_eq!(run.cells.len(), 2);
    assert_eq!(run.cells[0].read_iops, Some(5100.0));
    assert_eq!(run.cells[0].write_iops, None);
    assert_eq!(run.cells[1].iops(), Some(2400.0));
    assert_eq!(run.cells[1].bytes_per_second, Some(2400.0 * 4096.0));
    assert_eq!(run.cells[0].verdict.as_deref(), Some("short"));
    assert_eq!(run.cells[0].latency_p99_ns, record.cells[0].read.as_ref().unwrap().latency_ns.p99);
}

#[test]
fn filters_leave_the_latest_that_fit() {
    let (_directory, mut history) = with_runs(3);
    let mut other = test_records::record(3);
    other.asked.targets = vec!["/dev/sdb".to_owned(), "/mnt/a\"b\\c\nd".to_owned()];
    other.tags = BTreeMap::from([("disk".to_owned(), "P40".to_owned())]);
    other.environment.targets[0].path = Some("/srv/here/data".to_owned());
    history.save(&other).unwrap();
    let all = Filter::default;
    let target = |text: &str| Filter { target: Some(text.to_owned()), ..all() };
    let tags = |pairs: &[(&str, &str)]| Filter {
        tags: pairs.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect(),
        ..all()
    };
    let numbers = |numbers: &[u32]| numbers.iter().map(|number| test_records::id(*number)).collect::<Vec<_>>();
    assert_eq!(ids(&history, &all()), numbers(&[3, 2, 1, 0]));
    assert_eq!(ids(&history, &Filter { limit: Some(2), ..all() }), numbers(&[3, 2]));
    assert_eq!(ids(&history, &Filter { limit: Some(0), ..all() }), numbers(&[]));
    assert_eq!(ids(&history, &target("sdb")), numbers(&[3]));
    assert_eq!(ids(&history, &target("a\"b\\c\nd")), numbers(&[3]));
    assert_eq!(ids(&history, &target("here/data")), numbers(&[3]), "where a target is that was called otherwise");
    assert_eq!(ids(&history, &target("%")), numbers(&[]));
    assert_eq!(ids(&history, &tags(&[("disk", "P30")])), numbers(&[2, 1, 0]));
    assert_eq!(ids(&history, &tags(&[("disk", "P30"), ("zone", "1")])), numbers(&[2, 1, 0]));
    assert_eq!(ids(&history, &tags(&[("disk", "P30"), ("zone", "2")])), numbers(&[]));
    let since = Some(test_records::record(2).started);
    assert_eq!(ids(&history, &Filter { since, ..all() }), numbers(&[3, 2]));
    assert_eq!(ids(&history, &Filter { offset: 1, limit: Some(2), ..all() }), numbers(&[2, 1]));
    let text = |text: &str| Filter { text: Some(text.to_owned()), ..all() };
    assert_eq!(ids(&history, &text("SDB")), numbers(&[3]));
    assert_eq!(ids(&history, &text("Here/Data")), numbers(&[3]));
    assert_eq!(ids(&history, &text("GOLD")), numbers(&[3, 2, 1, 0]));
    assert_eq!(ids(&history, &text(&test_records::id(2).to_string()[..18])), numbers(&[2]));
    assert_eq!(ids(&history, &text("%")), numbers(&[]));
    let page = history.page(&Filter { offset: 1, limit: Some(2), ..text("golden") }).unwrap();
    assert_eq!((page.total, page.runs), (4, history.list(&Filter { offset: 1, limit: Some(2), ..all() }).unwrap()));
    assert_eq!(history.count().unwrap(), 4);
}

#[test]
fn of_each_target_and_workload_the_latest_run_is_known() {
    let (_directory, history) = with_runs(3);
    let record = test_records::record(2);
    let cells = history.latest_cells(10).unwrap();
    assert_eq!(cells.len(), record.cells.len());
    for (latest, cell) in cells.iter().zip(&record.cells) {
        assert_eq!((&latest.target, &latest.workload, latest.run), (&cell.target, &cell.workload, record.id));
    }
    assert_eq!(history.latest_cells(1).unwrap().len(), 1);
}

#[test]
fn what_was_typed_alike_in_two_directories_is_two_targets() {
    let (_directory, mut history) = with_runs(0);
    for (number, path) in [(0, "/mnt/a"), (1, "/mnt/b"), (2, "/mnt/a")] {
        let mut record = test_records::record(number);
        record.environment.targets.truncate(1);
        let target = &mut record.environment.targets[0];
        let typed = std::mem::replace(&mut target.name, ".".to_owned());
        target.path = Some(path.to_owned());
        record.cells.retain(|cell| cell.target == typed);
        record.cells.truncate(1);
        record.cells[0].target = ".".to_owned();
        history.save(&record).unwrap();
    }
    let runs: Vec<_> = history.latest_cells(10).unwrap().iter().map(|cell| cell.run).collect();
    assert_eq!(runs, [2, 1].map(test_records::id));
}

#[test]
fn a_run_is_found_by_a_piece_of_its_id_by_latest_and_by_its_baseline() {
    let (_directory, mut history) = with_runs(3);
    let id = test_records::id(1);
    history.set_baseline("before", id).unwrap();
    for text in ["before", &id.to_string(), &id.simple().to_string(), &id.to_string().to_uppercase()] {
        assert_eq!(history.find(text).unwrap(), id, "{text}");
    }
    assert_eq!(history.find("latest").unwrap(), test_records::id(2));
    let short = history.short_ids(&[id]).unwrap().remove(0);
    assert!(short.len() >= 8 && short.len() < 16, "{short}");
    assert_eq!(history.find(&short).unwrap(), id);
}

#[test]
fn a_name_means_the_latest_run_that_has_it_after_baselines_and_ids() {
    let (_directory, mut history) = with_runs(4);
    let name = |history: &mut History, index: u32, name: &str| {
        let mut record = test_records::record(index);
        record.name = Some(name.to_owned());
        history.save(&record).unwrap();
    };
    let id = test_records::id;
    for (index, text) in [(0, "q1"), (2, "q1"), (1, "ab"), (3, "0199c0de")] {
        name(&mut history, index, text);
    }
    assert_eq!(history.find("q1").unwrap(), id(2));
    assert_eq!(history.find("ab").unwrap(), id(1), "too short for an id, but a name");
    for text in ["q", "Q1", "q1 ", "q%"] {
        assert!(matches!(history.find(text), Err(HistoryError::NotFound(_))), "{text}");
    }
    assert_eq!(history.find("0199c0de").unwrap(), id(3), "several ids begin so, and one run is called so");
    assert_eq!(history.find(&id(1).to_string()[..23]).unwrap(), id(1));
    let refused = history.find_unmistakable("q1").unwrap_err();
    assert!(refused.is_usage() && refused.to_string().contains(&id(2).to_string()), "{refused}");
    history.set_baseline("q1", id(3)).unwrap();
    assert_eq!(history.find("q1").unwrap(), id(3));
}

#[test]
fn a_name_that_fits_no_run_or_several_is_an_error_that_helps() {
    let (_directory, history) = with_runs(3);
    let error = history.find("0199c0de").unwrap_err();
    assert!(error.is_usage());
    let text = error.to_string();
    assert!(text.contains("fits 3 runs") && text.contains(&test_records::id(2).to_string()), "{text}");
    assert!(matches!(history.find("019"), Err(HistoryError::TooShort(_))));
    assert!(matches!(history.find("ffff"), Err(HistoryError::NotFound(_))));
    assert!(matches!(history.find("after"), Err(HistoryError::NotFound(_))));
    assert!(matches!(history.find("' OR 1"), Err(HistoryError::NotFound(_))));
    let (_directory, empty) = with_runs(0);
    assert!(matches!(empty.find("latest"), Err(HistoryError::Empty)));
}

#[test]
fn short_ids_are_as_long_as_their_neighbours_demand() {
    let (_directory, mut history) = with_runs(1);
    let mut twin = test_records::record(0);
    twin.id = Uuid::from_u128(twin.id.as_u128() ^ 1);
    history.save(&twin).unwrap();
    let short = history.short_ids(&[twin.id]).unwrap().remove(0);
    assert_eq!(short, twin.id.to_string());
    assert_eq!(history.find(&short).unwrap(), twin.id);
    assert_eq!(history.short_ids(&[]).unwrap(), Vec::<String>::new());
}

#[test]
fn removing_is_all_or_nothing_and_spares_baselines() {
    let (_directory, mut history) = with_runs(4);
    let id = test_records::id;
    history.set_baseline("before", id(1)).unwrap();
    let error = history.remove(&[id(0), id(1)]).unwrap_err();
    assert!(error.to_string().contains("baseline unset before"), "{error}");
    assert!(history.remove(&[id(0), id(9)]).is_err());
    assert_eq!(history.list(&Filter::default()).unwrap().len(), 4);
    history.remove(&[id(0)]).unwrap();
    let removed = history.remove_before(test_records::record(3).started).unwrap();
    assert_eq!(removed.runs, [id(2)]);
    assert_eq!(removed.kept, [Baseline { name: "before".to_owned(), run: id(1) }]);
    assert_eq!(ids(&history, &Filter::default()), [id(3), id(1)]);
    let orphans: i64 = history
        .connection
        .query_row("SELECT count(*) FROM cells WHERE run NOT IN (SELECT id FROM runs)", [], |row| row.get(0))
        .unwrap();
    assert_eq!(orphans, 0);
}

#[test]
fn a_baseline_moves_stays_over_a_second_save_and_goes() {
    let (_directory, mut history) = with_runs(2);
    let id = test_records::id;
    assert_eq!(history.set_baseline("before", id(0)).unwrap(), None);
    assert_eq!(history.set_baseline("before", id(1)).unwrap(), Some(id(0)));
    history.save(&test_records::record(1)).unwrap();
    assert_eq!(history.baselines().unwrap(), [Baseline { name: "before".to_owned(), run: id(1) }]);
    assert_eq!(history.unset_baseline("before").unwrap(), id(1));
    assert!(matches!(history.unset_baseline("before"), Err(HistoryError::NoBaseline(_))));
    assert!(matches!(history.set_baseline("latest", id(1)), Err(HistoryError::BaselineName(_))));
    assert!(matches!(history.set_baseline("after", id(9)), Err(HistoryError::NotFound(_))));
}

#[test]
fn a_damaged_record_is_told_and_never_half_read() {
    let (_directory, mut history) = with_runs(2);
    let id = test_records::id(0);
    let whole = test_records::record(0);
    let bytes = stored::encode(&whole).unwrap();
    let mut broken = bytes.clone();
    for at in 0..bytes.len() {
        for bit in [at % 8, (at + 5) % 8] {
            broken[at] = bytes[at] ^ (1 << bit);
            // A bit of the header that means nothing may change.
            assert!(stored::decode(id, &broken).map_or(true, |record| record == whole), "byte {at}, bit {bit}");
        }
        broken[at] = bytes[at];
        assert!(stored::decode(id, &bytes[..at]).is_err(), "cut off after {at} bytes");
    }
    assert!(stored::decode(test_records::id(1), &bytes).is_err(), "the record of another run");

    let update = "UPDATE runs SET record = ?1 WHERE id = ?2";
    history.connection.execute(update, params![&bytes[..100], stored_id(id)]).unwrap();
    let error = history.get(id).unwrap_err();
    assert!(error.to_string().contains("plimsoll remove"), "{error}");
    assert!(!error.is_usage());
    assert_eq!(history.list(&Filter::default()).unwrap().len(), 2);
    history.remove(&[id]).unwrap();
}

#[test]
fn a_history_that_does_not_exist_is_read_as_empty_and_not_made() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("none/history.db");
    let history = History::read(&path).unwrap();
    assert_eq!(history.list(&Filter::default()).unwrap(), []);
    assert!(!path.exists() && !path.parent().unwrap().exists());
}

#[test]
fn what_is_no_history_is_refused_and_left_as_it_is() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("file");
    let refused = |what: &str| {
        let before = fs::read(&path).unwrap();
        let errors =
            [History::open(&path).unwrap_err(), History::read(&path).unwrap_err(), check_writable(&path).unwrap_err()];
        assert!(fs::read(&path).unwrap() == before, "{what} was changed");
        errors.map(|error| {
            assert!(!error.is_usage());
            error.to_string()
        })
    };

    fs::write(&path, "a text of some length that is no database at all, whatever one may try with it\n").unwrap();
    assert!(refused("a text").iter().all(|error| error.contains("no history") && error.contains("--history")));

    fs::remove_file(&path).unwrap();
    Connection::open(&path).unwrap().execute_batch("CREATE TABLE ships (name TEXT)").unwrap();
    assert!(refused("a database").iter().all(|error| error.contains("no history")));

    fs::remove_file(&path).unwrap();
    drop(History::open(&path).unwrap());
    Connection::open(&path).unwrap().pragma_update(None, "user_version", 99).unwrap();
    assert!(refused("a newer history").iter().all(|error| error.contains("version 99") && error.contains("newer")));
    assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 1, "nothing is left beside it");
}

#[test]
fn a_history_that_is_busy_when_a_run_begins_may_take_it_when_it_ends() {
    let (_directory, history) = with_runs(1);
    history.connection.execute_batch("PRAGMA journal_mode = delete; BEGIN EXCLUSIVE").unwrap();
    check_writable(history.path()).unwrap();
}

#[test]
fn a_history_of_every_earlier_version_is_brought_to_this_one_with_all_that_it_holds() {
    for version in 1..schema::MIGRATIONS.len() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("history.db");
        let record = test_records::record(1);
        let current = directory.path().join("current.db");
        History::open(&current).unwrap().save(&record).unwrap();
        let connection = Connection::open(&path).unwrap();
        schema::MIGRATIONS[..version].iter().for_each(|migration| connection.execute_batch(migration).unwrap());
        connection.pragma_update(None, "application_id", schema::APPLICATION_ID).unwrap();
        connection.pragma_update(None, "user_version", version).unwrap();
        connection.execute("ATTACH ?1 AS current", [current.to_str().unwrap()]).unwrap();
        // What every version has.
        for (table, columns) in [
            ("runs", "id, started_ns, elapsed_ns, outcome, name, targets, version, record"),
            (
                "cells",
                "run, position, target, workload, read_iops, write_iops, bytes_per_second, latency_mean_ns, \
                 latency_p99_ns, verdict",
            ),
            ("tags", "run, key, value"),
        ] {
            let copy = format!("INSERT INTO {table} ({columns}) SELECT {columns} FROM current.{table}");
            connection.execute_batch(&copy).unwrap();
        }
        drop(connection);
        let expected: Vec<_> = record.cells.iter().map(CellSummary::of).collect();
        let mut history = History::open(&path).unwrap();
        assert_eq!(history.list(&Filter::default()).unwrap()[0].cells, expected, "from version {version}");
        assert!(history.get(record.id).unwrap() == record);
        history.remove(&[record.id]).unwrap();
        let left: i64 = history.connection.query_row("SELECT count(*) FROM cells", [], |row| row.get(0)).unwrap();
        assert_eq!(left, 0, "cells go with their run");
    }
}

#[test]
fn a_cell_that_was_not_run_is_listed_without_a_verdict() {
    let (_directory, mut history) = with_runs(0);
    let (started, _) = test_records::events(1);
    let record = plimsoll_record::builder::RecordBuilder::new(started).finish();
    history.save(&record).unwrap();
    assert_eq!(history.list(&Filter::default()).unwrap()[0].cells[0].verdict, None);
}

#[test]
fn a_damaged_file_is_an_error_and_not_a_panic() {
    let (directory, history) = with_runs(6);
    let path = history.path().to_owned();
    drop(history);
    let whole = fs::read(&path).unwrap();
    for (number, at) in (0..whole.len()).step_by(whole.len() / 40).enumerate() {
        let copy = directory.path().join(format!("{number}.db"));
        let mut bytes = whole.clone();
        bytes[at..(at + 64).min(whole.len())].fill(0xa5);
        fs::write(&copy, &bytes).unwrap();
        let Ok(history) = History::read(&copy) else { continue };
        for number in 0..6 {
            if let Ok(record) = history.get(test_records::id(number)) {
                assert!(record == test_records::record(number), "damage at {at}");
            }
        }
        let _ = history.list(&Filter::default());
        let _ = history.find("0199");
    }
}

#[test]
fn a_place_that_cannot_be_written_is_named() {
    let error = History::open(Path::new("/proc/plimsoll/history.db")).unwrap_err();
    assert!(matches!(error, HistoryError::Directory { .. }) && error.to_string().contains("/proc/plimsoll"), "{error}");
    let directory = tempfile::tempdir().unwrap();
    let error = History::open(directory.path()).unwrap_err();
    assert!(matches!(error, HistoryError::NoFile { .. }), "{error}");
}

#[test]
fn a_history_that_can_neither_be_read_nor_made_is_not_taken_for_an_empty_one() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("file");
    fs::write(&file, "").unwrap();
    for path in [Path::new("/proc/history.db"), Path::new("/proc/deep/history.db"), &file.join("history.db")] {
        let error = History::read(path).unwrap_err();
        assert!(matches!(error, HistoryError::Unreachable { .. }) && !error.is_usage(), "{error}");
        assert!(error.to_string().contains(&path.display().to_string()), "{error}");
    }
    assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 1, "nothing is left of the trial");
}

#[test]
fn of_a_file_that_is_there_it_is_not_said_that_it_cannot_be_read_or_made() {
    // Whoever may write it all the same makes nothing beside it.
    let error = check_writable(Path::new("/proc/version")).unwrap_err();
    assert!(
        matches!(error, HistoryError::Unwritable { .. }) && error.to_string().contains("cannot be written"),
        "{error}"
    );
    assert!(!error.is_of_disk());
}

#[test]
fn a_full_disk_is_told_from_a_path_that_is_wrong() {
    let sqlite = |code| {
        let source = rusqlite::Error::SqliteFailure(rusqlite::ffi::Error::new(code), None);
        HistoryError::of_sqlite(Path::new("h.db"), Use::Writing, source)
    };
    let kernel = |kind: io::ErrorKind| HistoryError::Unreachable { path: "h.db".into(), source: kind.into() };
    for full in [
        sqlite(rusqlite::ffi::SQLITE_FULL),
        sqlite(rusqlite::ffi::SQLITE_IOERR_SHMSIZE),
        kernel(io::ErrorKind::StorageFull),
        kernel(io::ErrorKind::QuotaExceeded),
    ] {
        assert!(full.is_of_disk(), "{full:?}");
    }
    for wrong in [sqlite(rusqlite::ffi::SQLITE_READONLY), kernel(io::ErrorKind::PermissionDenied)] {
        assert!(!wrong.is_of_disk(), "{wrong:?}");
    }
}

#[test]
fn a_history_that_may_not_be_written_can_be_read() {
    let (_directory, history) = with_runs(2);
    let path = history.path().to_owned();
    drop(history);
    let mut history = History::open_read_only(&path).unwrap();
    assert!(history.get(test_records::id(1)).unwrap() == test_records::record(1));
    let error = history.save(&test_records::record(5)).unwrap_err();
    assert!(matches!(error, HistoryError::Inaccessible { .. }), "{error}");
}

#[test]
fn a_file_system_without_shared_memory_gets_the_older_journal() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("history.db");
    // Locks by files beside the database, as for network file systems, and offers no shared memory.
    let mut history = History::open_on(&path, Some("unix-dotfile")).unwrap();
    let mode = |history: &History| {
        history.connection.pragma_query_value(None, "journal_mode", |row| row.get::<_, String>(0)).unwrap()
    };
    assert_eq!(mode(&history), "delete");
    history.save(&test_records::record(0)).unwrap();
    drop(history);
    let history = History::open_on(&path, Some("unix-dotfile")).unwrap();
    assert!(history.get(test_records::id(0)).unwrap() == test_records::record(0));
    drop(history);
    assert_eq!(mode(&History::open(&path).unwrap()), "wal");
}

#[test]
fn a_file_system_of_several_machines_gets_the_older_journal_also_when_it_had_the_newer_one() {
    let (nfs, smb2, fuse) = (0x6969, 0xfe53_4d42, 0x6573_5546);
    assert!([nfs, smb2, fuse].iter().all(|number| !can_share(*number, 4096)));
    let (ext4, xfs, btrfs, tmpfs) = (0xef53, 0x5846_5342, 0x9123_683e, 0x0102_1994);
    assert!([ext4, xfs, btrfs, tmpfs].iter().all(|number| can_share(*number, 4096)));
    assert!(!can_share(ext4, 1024), "small blocks leave holes in what is shared");

    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("history.db");
    let record = test_records::record(0);
    let mut history = History::open(&path).unwrap();
    history.save(&record).unwrap();
    let mode = |history: &History| {
        history.connection.pragma_query_value(None, "journal_mode", |row| row.get::<_, String>(0)).unwrap()
    };
    for (shares_memory, expected) in [(false, "delete"), (false, "delete"), (true, "wal"), (true, "wal")] {
        choose_journal(&history.connection, shares_memory).unwrap();
        assert_eq!(mode(&history), expected);
        assert_eq!(history.get(record.id).unwrap(), record);
    }

    let mut other = History::open(&path).unwrap();
    choose_journal(&other.connection, false).unwrap();
    assert_eq!(mode(&other), "wal", "it is open elsewhere");
    other.save(&test_records::record(1)).unwrap();
    drop(history);
    choose_journal(&other.connection, false).unwrap();
    assert_eq!(mode(&other), "delete");
    assert_eq!(other.count().unwrap(), 2);
}
