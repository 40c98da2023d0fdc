//! What a run says about itself and its surroundings, where the truth is known.

#![expect(clippy::unwrap_used, reason = "a failing helper fails its test")]

#[expect(dead_code, reason = "file systems are mounted by other tests")]
mod support;

use std::{
    collections::BTreeMap,
    fs::{self, OpenOptions},
    os::unix::fs::FileExt,
    path::{Path, PathBuf},
    process::{self, Command},
    sync::{Mutex, MutexGuard, PoisonError, atomic::AtomicBool},
};

use plimsoll_io::{block_device, process_usage::ProcessIo, target};
use plimsoll_record::{
    environment::Environment,
    event::{RunEvent, RunStarted},
    record::{Asked, Cell, Tool},
};
use plimsoll_run::run::{RunRequest, run};
use plimsoll_workload::{certainty::Certainty, plan::Plan, settings::Effort, workload::Workload};
use rustix::fs::{Advice, fadvise};
use support::{output_of, skipped};
use tempfile::TempDir;
use uuid::Uuid;

/// Names the control group in which a second process of this program is to run.
const GROUP: &str = "PLIMSOLL_TEST_GROUP";

/// One test at a time: the counters are those of the whole process.
fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The only cell of a run of one workload, written as in a plan file.
fn measure(place: &Path, toml: &str) -> Cell {
    measure_while(place, toml, &mut |_| {})
}

fn measure_while(place: &Path, toml: &str, on_event: &mut dyn FnMut(&RunEvent)) -> Cell {
    let workload: Workload = toml::from_str(toml).unwrap();
    let facts = target::facts(place).unwrap();
    let certainty = Certainty::of(Effort::Quick);
    let request = RunRequest::new(RunStarted {
        id: Uuid::from_u128(1),
        started: "2025-10-08T09:30:00Z".parse().unwrap(),
        tool: Tool { version: String::new(), commit: None, profile: String::new() },
        name: None,
        tags: BTreeMap::new(),
        asked: Asked::of(Certainty::of(Effort::Quick)),
        plan: Plan::resolve(&[facts], &[workload], &certainty, 42).unwrap(),
        environment: Environment::default(),
    });
    run(request, &AtomicBool::new(false), on_event).unwrap().cells.remove(0)
}

/// A directory beside the build output; `None`, told as skipped, where that is not on a disk.
fn directory_on_disk() -> Option<TempDir> {
    let directory = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    if block_device::device_of(directory.path()).is_none() {
        skipped("a build directory on a disk");
        return None;
    }
    Some(directory)
}

const SHORT: &str = "duration = '400ms'\nramp = '100ms'\nsize = '16MiB'\n";

#[test]
fn a_run_says_what_its_workers_and_the_machine_did() {
    let _alone = alone();
    let place = tempfile::tempdir().unwrap();
    let cell = measure(place.path(), &format!("{SHORT}rw = 'randread'\nengine = 'memory'\njobs = 2\nqueue_depth = 8"));
    let read = cell.read.as_ref().unwrap();
    assert_eq!(cell.worker_operations.len(), 2);
    assert_eq!(cell.worker_operations.iter().sum::<u64>(), read.operations);
    let client = cell.client.as_ref().unwrap();
    // Without storage a worker does nothing but work, as far as the machine lets it.
    let busiest = client.busiest_worker_share().unwrap();
    assert!((0.05..1.05).contains(&busiest), "{busiest}");
    assert!(client.process_ns >= client.busiest_worker_ns.unwrap() / 2);
    assert!(client.machine_busy_ns.unwrap() as f64 >= client.process_ns as f64 * 0.8);
    assert!(client.hiccups.as_ref().unwrap().count() > 0);
    assert_eq!((cell.cache, cell.foreign, client.null_operations_per_second), (None, None, None));
}

#[test]
fn a_workload_that_pauses_does_not_keep_its_depth() {
    let _alone = alone();
    let Some(place) = directory_on_disk() else { return };
    // Little's law: as many are in flight as complete in the time of one.
    let in_flight = |cell: Cell| cell.read.map(|read| read.iops * read.latency_ns.mean.unwrap() / 1e9).unwrap();
    let busy = measure(place.path(), &format!("{SHORT}rw = 'randread'\nqueue_depth = 4"));
    let share = in_flight(busy) / 4.0;
    // A worker that others keep from its processor at either end of the slot shifts it a little.
    assert!((0.6..1.5).contains(&share), "{share}");
    let thoughtful = measure(place.path(), &format!("{SHORT}rw = 'randread'\nqueue_depth = 4\nthink_time = '20ms'"));
    let thoughtful = in_flight(thoughtful);
    assert!(thoughtful < 2.0, "{thoughtful}");
}

#[test]
fn what_the_page_cache_answers_shows_and_direct_io_shows_none() {
    let _alone = alone();
    let Some(place) = directory_on_disk() else { return };
    let direct = measure(place.path(), &format!("{SHORT}rw = 'randread'"));
    let cache = direct.cache.as_ref().unwrap();
    assert_eq!(cache.storage_read_bytes, Some(cache.requested_read_bytes), "{:?}", cache.storage_reason);
    assert!(direct.client.unwrap().null_operations_per_second.unwrap() > direct.read.unwrap().iops);

    let buffered = measure(place.path(), "rw = 'randread'\nbuffered = true\nsize = '1MiB'\nduration = '500ms'");
    let cache = buffered.cache.as_ref().unwrap();
    // There are 256 pages, so most reads meet one that was read before.
    assert!(cache.storage_read_bytes.unwrap() < cache.requested_read_bytes / 2, "{cache:?}");
    let residency = cache.residency.as_ref().unwrap();
    assert_eq!(residency.total_bytes, 1 << 20);
    assert!(residency.after_bytes.unwrap() > residency.before_bytes, "{residency:?}");
    assert!(buffered.foreign.unwrap().reason.unwrap().contains("buffered"));

    let written = measure(place.path(), &format!("{SHORT}rw = 'write'\nbuffered = true"));
    let cache = written.cache.unwrap();
    assert!(cache.requested_write_bytes > 0 && cache.residency.unwrap().after_bytes > Some(0));
}

#[test]
fn what_was_written_through_the_page_cache_is_read_back_from_the_storage() {
    let _alone = alone();
    let Some(place) = directory_on_disk() else { return };
    let read_bytes = || ProcessIo::now().unwrap().read_bytes;
    let before = read_bytes();
    let cell = measure(place.path(), "rw = 'write'\nbuffered = true\nverify = true\nsize = '8MiB'\nloops = 1");
    let verification = cell.verification.unwrap();
    assert_eq!((verification.blocks_read_back, verification.mismatches), (2048, 0));
    let read_bytes = read_bytes() - before;
    assert!(read_bytes >= 8 << 20, "{read_bytes} bytes came from the storage");
}

/// A loop device on a file in memory, which nobody else uses; detached when dropped.
struct LoopDevice(PathBuf);

impl LoopDevice {
    fn new(image: &Path) -> Option<Self> {
        fs::write(image, vec![7; 32 << 20]).unwrap();
        let device = output_of(Command::new("losetup").args(["--find", "--show"]).arg(image))?;
        Some(Self(device.trim().into()))
    }
}

impl Drop for LoopDevice {
    fn drop(&mut self) {
        let detached = Command::new("losetup").arg("--detach").arg(&self.0).status();
        if !std::thread::panicking() {
            assert!(detached.is_ok_and(|status| status.success()), "detach {}", self.0.display());
        }
    }
}

#[test]
fn what_others_read_from_the_disk_is_told_to_the_byte() {
    let _alone = alone();
    let folder = tempfile::tempdir().unwrap();
    let Some(device) = LoopDevice::new(&folder.path().join("image")) else { return };
    let workload = "rw = 'randread'\nqueue_depth = 4\nduration = '600ms'\nramp = '0s'\nsize = '16MiB'";
    let alone = measure(&device.0, workload);
    let foreign = alone.foreign.unwrap();
    assert_eq!((foreign.read_bytes, foreign.write_bytes), (Some(0), Some(0)), "{:?}", foreign.reason);
    assert_eq!(foreign.read_operations, Some(0), "{:?}", foreign.reason);

    // In the middle of the slot somebody reads pages that nothing else touches.
    let others = OpenOptions::new().read(true).open(&device.0).unwrap();
    fadvise(&others, 0, None, Advice::Random).unwrap();
    let mut unread = Some(0..500);
    let cell = measure_while(&device.0, workload, &mut |event| {
        if matches!(event, RunEvent::Interval { .. }) {
            for page in unread.take().into_iter().flatten() {
                others.read_exact_at(&mut [0; 4096], (16 << 20) + page * 4096).unwrap();
            }
        }
    });
    let foreign = cell.foreign.unwrap();
    assert_eq!((foreign.read_bytes, foreign.write_bytes), (Some(500 * 4096), Some(0)), "{:?}", foreign.reason);
    assert_eq!((foreign.read_operations, foreign.write_operations), (Some(500), Some(0)));
}

/// A group whose quota is a tenth of a processor; removed when dropped.
struct Quota(PathBuf);

impl Quota {
    fn a_tenth() -> Option<Self> {
        let name = format!("plimsoll-test-{}", process::id());
        let (first, unified) = (Path::new("/sys/fs/cgroup/cpu").join(&name), Path::new("/sys/fs/cgroup").join(&name));
        for (group, settings) in [
            (first, vec![("cpu.cfs_period_us", "100000"), ("cpu.cfs_quota_us", "10000")]),
            (unified, vec![("cpu.max", "10000 100000")]),
        ] {
            if fs::create_dir(&group).is_err() {
                continue;
            }
            let quota = Self(group);
            if settings.iter().all(|(file, value)| fs::write(quota.0.join(file), value).is_ok()) {
                return Some(quota);
            }
        }
        skipped("a control group with a CPU quota");
        None
    }
}

impl Drop for Quota {
    fn drop(&mut self) {
        let removed = fs::remove_dir(&self.0);
        assert!(removed.is_ok() || std::thread::panicking(), "{removed:?}");
    }
}

/// Not a test of its own: what the process in the group does.
#[test]
#[expect(clippy::disallowed_methods, reason = "how a test talks to the process it starts")]
fn what_the_process_in_the_group_does() {
    let Some(group) = std::env::var_os(GROUP) else { return };
    fs::write(Path::new(&group).join("cgroup.procs"), process::id().to_string()).unwrap();
    let place = tempfile::tempdir().unwrap();
    let cell = measure(place.path(), "rw = 'randread'\nengine = 'memory'\nduration = '1s'\nramp = '0s'");
    let client = cell.client.unwrap();
    let delay = client.worker_run_delay_share().unwrap();
    println!("{} {} {delay}", client.throttled_share().unwrap(), client.throttled_periods.unwrap());
}

#[test]
fn a_quota_of_a_tenth_of_a_processor_shows() {
    let _alone = alone();
    let Some(quota) = Quota::a_tenth() else { return };
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "what_the_process_in_the_group_does", "--nocapture", "--test-threads=1", "--quiet"])
        .env(GROUP, &quota.0)
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let number = |line: &str| {
        let mut numbers = line.split_whitespace().map(|number| number.parse::<f64>().ok());
        Some((numbers.next()??, numbers.next()??, numbers.next()??))
    };
    let Some((share, periods, delay)) = text.lines().find_map(number) else {
        panic!("{text}{}", String::from_utf8_lossy(&output.stderr))
    };
    // Held back nine tenths of the time, and never less than half even where ticks are coarse.
    assert!(share > 0.5 && periods >= 3.0, "{share} of the time in {periods} periods");
    // The worker wanted to run all the time.
    assert!(delay > 0.5, "{delay} of the time");
}
