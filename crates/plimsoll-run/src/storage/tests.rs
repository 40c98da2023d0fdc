//! Accounts that are worked out by hand.

use std::path::PathBuf;

use plimsoll_io::process_usage::ProcessIo;
use plimsoll_record::results::ErrorCount;

use super::*;
use crate::test_plans::plan_on_directory;

/// The device that a directory lies on, wherever the tests run.
fn device_of(target: &Path) -> BackingDevice {
    let device = DeviceNumber::from_raw(fs::metadata(target).unwrap().dev());
    BackingDevice { device, disk: device }
}

fn plan(toml: &str) -> BlockPlan {
    plan_on_directory(toml).cells.remove(0).work.into_blocks().unwrap()
}

/// A thousand reads of 4 KiB in the measured time, a hundred outside of it.
fn tally() -> SlotTally {
    let mut tally = SlotTally::new();
    tally.read.operations = 1000;
    tally.read.bytes = 1000 * 4096;
    tally.read.outside_operations = 100;
    tally.read.outside_bytes = 100 * 4096;
    tally
}

fn cost(read_bytes: u64) -> SlotCost {
    let disk = DiskCounters { read_operations: read_bytes / 4096, read_bytes, write_bytes: 512, ..Default::default() };
    let io = ProcessIo { read_bytes, ..ProcessIo::default() };
    SlotCost { disk: Some(disk), io: Some(io), ..SlotCost::default() }
}

fn foreign(plan: &BlockPlan, tally: &SlotTally, cost: &SlotCost) -> ForeignActivity {
    let target = Path::new("/");
    SlotAccounts { plan, target, device: Some(device_of(target)), tally, cost, is_alone: true }.foreign()
}

#[test]
fn what_the_disk_did_beyond_our_operations_is_foreign() {
    let direct = plan("rw = 'randread'");
    let found = foreign(&direct, &tally(), &cost(1300 * 4096));
    assert_eq!((found.read_bytes, found.write_bytes), (Some(200 * 4096), Some(512)));
    assert_eq!(foreign(&direct, &tally(), &cost(1100 * 4096)).read_bytes, Some(0));
}

#[test]
fn operations_are_told_apart_where_each_of_ours_reaches_the_disk_whole() {
    let long = plan("rw = 'read'\nblock_size = '1MiB'");
    let found = foreign(&long, &tally(), &cost(1100 * 4096));
    assert_eq!((found.read_bytes, found.read_operations), (Some(0), None));
    assert!(found.reason.unwrap().contains("several requests"));
    // Where the disk tells how long its requests are. Merged ones had been asked for one by one.
    let tells =
        |device: DeviceNumber| block_device::facts(device).and_then(|facts| facts.request_bytes_max) >= Some(4096);
    let Some((device, path)) = some_device(tells) else { return };
    let (short, accounts) = (plan("rw = 'randread'"), cost(1300 * 4096));
    let told = |cost: &SlotCost| {
        let device = Some(BackingDevice { device, disk: device });
        SlotAccounts { plan: &short, target: &path, device, tally: &tally(), cost, is_alone: true }.foreign()
    };
    assert_eq!((told(&accounts).read_operations, told(&accounts).reason), (Some(200), None));
    let mut merged = accounts;
    merged.disk.as_mut().unwrap().read_merges = 3;
    assert_eq!(told(&merged).read_operations, Some(203));
}

#[test]
fn what_a_file_system_writes_for_our_syncs_is_nobody_elses() {
    let (after_each, none) = (plan("rw = 'randread'\nsync = 'dsync'"), plan("rw = 'randread'"));
    let accounts = cost(1300 * 4096);
    let mut synced = tally();
    synced.sync.outside_operations = 1;
    for (plan, tally) in [(&after_each, &tally()), (&none, &synced)] {
        let found = foreign(plan, tally, &accounts);
        assert_eq!((found.read_bytes, found.write_bytes), (Some(200 * 4096), None));
        assert_eq!(found.write_operations, None);
        assert!(found.reason.unwrap().contains("the file system writes for syncs"));
    }
    // On a device itself nobody else has a reason to write.
    let Some((device, path)) = some_device(|_| true) else { return };
    let backing = BackingDevice { device, disk: device };
    let on_device = SlotAccounts {
        plan: &none,
        target: &path,
        device: Some(backing),
        tally: &synced,
        cost: &accounts,
        is_alone: true,
    };
    assert_eq!(on_device.foreign().write_bytes, Some(512));
}

/// A special file of a block device that is fit, if the machine shows any: says so when it does not, and fails the test
/// where everything must be there.
#[expect(clippy::disallowed_methods, reason = "only tests ask whether they run in continuous integration")]
fn some_device(is_fit: impl Fn(DeviceNumber) -> bool) -> Option<(DeviceNumber, PathBuf)> {
    let mut paths = fs::read_dir("/dev").unwrap().filter_map(|entry| Some(entry.ok()?.path()));
    let found = paths.find_map(|path| {
        let device = DeviceNumber::of_special_file(&path).filter(|device| is_fit(*device))?;
        Some((device, path))
    });
    if found.is_none() {
        eprintln!("skipped: a block device in /dev");
        assert!(std::env::var_os("CI").is_none(), "nothing may be skipped when CI is set: a block device in /dev");
    }
    found
}

#[test]
fn what_cannot_be_told_apart_has_a_reason() {
    let (direct, buffered) = (plan("rw = 'randread'"), plan("rw = 'randread'\nbuffered = true"));
    let enough = cost(1100 * 4096);
    let reason = |plan: &BlockPlan, tally: &SlotTally, cost: &SlotCost| foreign(plan, tally, cost).reason.unwrap();
    assert!(reason(&buffered, &tally(), &enough).contains("buffered"));
    assert!(reason(&direct, &tally(), &cost(1000 * 4096)).contains("fewer bytes"));
    let mut failed = tally();
    failed.errors.push(ErrorCount {
        operation: "read".into(),
        error: "EIO".into(),
        count: 1,
        first_offset: 0,
        first_file: None,
    });
    assert!(reason(&direct, &failed, &enough).contains("failed"));
    assert!(reason(&direct, &tally(), &SlotCost::default()).contains("no counters"));
    let elsewhere = BackingDevice {
        device: DeviceNumber { major: 0, minor: u32::MAX },
        disk: DeviceNumber { major: 0, minor: u32::MAX },
    };
    let target = Path::new("/");
    let accounts = |device| {
        SlotAccounts { plan: &direct, target, device, tally: &tally(), cost: &enough, is_alone: true }.foreign()
    };
    assert!(accounts(Some(elsewhere)).reason.unwrap().contains("spread"));
    assert!(accounts(None).reason.unwrap().contains("no block device"));
}

#[test]
fn what_the_cache_is_told_counts_whole_slots_on_both_sides() {
    let (buffered, tally, cost) = (plan("rw = 'randread'\nbuffered = true"), tally(), cost(275 * 4096));
    let target = Path::new("/");
    let accounts =
        |device| SlotAccounts { plan: &buffered, target, device, tally: &tally, cost: &cost, is_alone: true };
    let held = Held { method: "cachestat", total_bytes: 9000, resident_bytes: 10, dirty_bytes: Some(3) };
    let after = Held { resident_bytes: 20, ..held };
    let cache = accounts(Some(device_of(target))).cache(Ok(held), Some(Ok(after)));
    assert_eq!((cache.requested_read_bytes, cache.storage_read_bytes), (1100 * 4096, Some(275 * 4096)));
    let residency = cache.residency.unwrap();
    assert_eq!((residency.total_bytes, residency.before_bytes), (9000, 10));
    assert_eq!((residency.after_bytes, residency.dirty_after_bytes), (Some(20), Some(3)));
    let unknown = accounts(None).cache(Err("hidden".to_owned()), None);
    assert_eq!((unknown.storage_read_bytes, unknown.residency), (None, None));
    assert_eq!(unknown.residency_reason.as_deref(), Some("hidden"));
    assert!(unknown.storage_reason.unwrap().contains("no block device"));
}
