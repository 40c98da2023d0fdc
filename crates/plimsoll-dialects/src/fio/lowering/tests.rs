//! What jobs become, seen in the plan that `--to-plan` would write.

use plimsoll_workload::{
    certainty::Certainty,
    file_sizes::FileSizes,
    file_space::FileOrder,
    plan::Plan,
    settings::{Effort, Layout},
    target_facts::{TargetFacts, TargetKind},
    units::{ByteCount, Extent, Rate},
};

use super::*;
use crate::{
    fio::{Surroundings, translate_command_line},
    found::{Found, FoundKind},
};

fn jobs(file: &str) -> Jobs {
    let mut read_file = |_: &str| Ok(Some(file.as_bytes().to_vec()));
    let mut surroundings = Surroundings {
        environment: &|_| None,
        page_size_bytes: 4096,
        memory_mib: 1024,
        processors: 2,
        read_file: &mut read_file,
    };
    translate_command_line(&["job.fio".to_owned()], &mut surroundings).unwrap()
}

/// A machine with one disk and one file.
fn look(path: &str) -> Option<Found> {
    let found = |kind, size_bytes| Some(Found { kind, size_bytes });
    match path {
        "/dev/sdb" => found(FoundKind::Device, 10 << 30),
        "/data/old" => found(FoundKind::File, 1 << 20),
        "/data" | "/more" => found(FoundKind::Directory, 0),
        "/dev/null" => found(FoundKind::Other, 0),
        _ => None,
    }
}

/// The same with another disk.
fn look_at_two(path: &str) -> Option<Found> {
    look(if path == "/dev/sdc" { "/dev/sdb" } else { path })
}

pub(super) fn lowered(file: &str) -> Lowered {
    lower(&jobs(file), &look).unwrap_or_else(|problems| panic!("{problems}"))
}

pub(super) fn refused(file: &str) -> String {
    lower(&jobs(file), &look).unwrap_err().to_string()
}

#[test]
fn a_job_of_a_cloud_disk_test_becomes_a_named_file_of_its_size() {
    let lowered =
        lowered("[reader1]\nsize=30g\ndirect=1\niodepth=256\nioengine=libaio\nbs=4k\nrw=randread\ndirectory=/data\n");
    insta::assert_snapshot!(toml::to_string(&lowered.plan).unwrap(), @r#"
    targets = ["/data"]
    keep_files = true

    [[workload]]
    name = "reader1"
    target = "/data"
    rw = "randread"
    block_size = "4KiB"
    queue_depth = 256
    size = "30GiB"
    offset = "0B"
    io_size = "30GiB"
    file_count = 1
    file_names = ["reader1.0.0"]
    layout = "written"
    distribution = "exact-once"
    buffered = false
    ramp = "0s"
    payload = "random"
    seed = 137
    engine = "libaio"
    submit = 1
    keep_going = false
    phase = 0
    "#);
    assert_eq!(lowered.cells, [CellOf { job: 0, clone: 0 }]);
    assert!(lowered.keeps_files && lowered.creation.is_none());
}

#[test]
fn jobs_run_at_once_until_a_stonewall() {
    let lowered = lowered(
        "[global]\nsize=1m\ndirectory=/data\ntime_based\nruntime=5\n[a]\n[b]\nrw=write\n[c]\nstonewall\n[d]\nwait_for=c\n",
    );
    let phases: Vec<_> = lowered.plan.workloads.iter().map(|workload| workload.phase).collect();
    assert_eq!(phases, [Some(0), Some(0), Some(1), Some(2)]);
    // Who waits for one job lets those run at once that wait for none.
    let lowered = self::lowered("[global]\nsize=1m\ndirectory=/data\n[a]\n[b]\nwait_for=a\n[c]\n[d]\nstonewall\n");
    let phases: Vec<_> = lowered.plan.workloads.iter().map(|workload| workload.phase).collect();
    assert_eq!(phases, [Some(0), Some(1), Some(0), Some(2)]);
}

#[test]
fn sums_beyond_what_numbers_hold_are_refused_or_wrap_where_that_is_harmless() {
    for job in ["nrfiles=2\noffset=18446744073709551615\nsize=1m", "filesize=8000p\nnrfiles=4096"] {
        let told = refused(&format!("[a]\ndirectory=/data\n{job}\n"));
        assert!(told.contains("16 EiB") || told.contains("no room"), "{told}");
    }
    let seeds = lowered("[global]\nsize=1m\ndirectory=/data\nrandseed=0xffffffffffffffff\n[a]\n[b]\n").plan.workloads;
    assert_eq!((seeds[0].seed, seeds[1].seed), (Some(u64::MAX), Some(0)));
    let told = refused("[global]\ndirectory=/data\nsize=8g\n[a]\nnrfiles=1\n[b]\nnrfiles=1000000\nnumjobs=4\n");
    assert!(told.contains("more than 4000000 in all"), "{told}");
}

#[test]
fn a_steady_state_that_ends_nothing_says_so_whatever_comes_after_it() {
    let job = "[a]\nfilename=/dev/sdb\nrw=randread\ntime_based\nruntime=100\nss_dur=10\nsteadystate=iops:2%\n";
    let notes = |job: &str| lowered(job).notes.iter().map(ToString::to_string).collect::<String>();
    assert!(notes(job).contains("by plimsoll's own rules"), "{}", notes(job));
    let before_another = format!("{job}[b]\nstonewall\nfilename=/dev/sdb\nruntime=5\ntime_based\n");
    assert!(notes(&before_another).contains("does not end"), "{}", notes(&before_another));
    assert!(!notes(&before_another).contains("own rules"));
}

#[test]
fn clones_are_one_workload_when_they_are_reported_together() {
    let job = "size=1m\ndirectory=/data\nnumjobs=3\noffset_increment=4k\nfilename=x\n";
    let together = lowered(&format!("[a]\n{job}group_reporting\n")).plan;
    let [workload] = &together.workloads[..] else { panic!("{together:?}") };
    assert_eq!(workload.offset_increment.map(|apart| apart.0), Some(4096));
    // Each does what it would do alone.
    assert_eq!(workload.io_size.map(|size| size.0), Some(3 << 20));
    let apart = lowered(&format!("[a]\n{job}")).plan;
    let offsets: Vec<_> = apart.workloads.iter().map(|workload| workload.offset.unwrap().to_string()).collect();
    assert_eq!(offsets, ["0B", "4KiB", "8KiB"]);
    let names: Vec<_> = apart.workloads.iter().map(|workload| workload.name.clone().unwrap()).collect();
    assert_eq!(names, ["a.0", "a.1", "a.2"]);
}

#[test]
fn clones_have_files_of_their_own_unless_these_are_named() {
    let plan = lowered("[a]\nsize=1m\ndirectory=/data\nnumjobs=2\nnrfiles=2\ngroup_reporting\n").plan;
    let workload = &plan.workloads[0];
    assert_eq!(workload.file_names.as_ref().unwrap().0, ["a.0.0", "a.0.1", "a.1.0", "a.1.1"]);
    assert_eq!((workload.file_count, workload.files.unwrap().as_str()), (Some(2), "per-job"));
    let plan = lowered("[a]\nsize=1m\ndirectory=/data:/more\nnumjobs=2\n").plan;
    assert_eq!(plan.targets, ["/data", "/more"]);
}

#[test]
fn a_section_named_after_a_device_means_the_device() {
    let plan = lowered("[/dev/sdb]\nrw=randread\nruntime=10\ntime_based\n").plan;
    assert_eq!((plan.targets[0].as_str(), plan.workloads[0].file_names.is_none()), ("/dev/sdb", true));
    assert!(refused("[x]\nfilename=/dev/sdb:/dev/sdc\nsize=1m\n").contains("there is no device /dev/sdc"));
    assert!(refused("[x]\nfilename=/dev/null\nsize=1m\n").contains("neither a file nor a block device"));
}

#[test]
fn a_size_comes_from_what_is_there() {
    let plan = lowered("[a]\nfilename=/data/old\nsize=50%\n").plan;
    assert_eq!(plan.workloads[0].size.unwrap().to_string(), "512KiB");
    let plan = lowered("[a]\nfilename=/data/old\n").plan;
    assert_eq!(plan.workloads[0].io_size.unwrap().0, 1 << 20);
    assert!(refused("[a]\nfilename=/data/new\n").contains("write size="));
}

/// Where the regions of all workloads begin and how long they are, in KiB.
fn regions(file: &str) -> Vec<(u64, u64)> {
    let kib = |extent: Option<Extent>| match extent {
        Some(Extent::Bytes(bytes)) => bytes.0 >> 10,
        _ => panic!("{extent:?}"),
    };
    let workloads = lowered(file).plan.workloads;
    workloads.iter().map(|workload| (kib(workload.offset), kib(workload.size))).collect()
}

#[test]
fn a_job_finds_files_as_long_as_the_jobs_before_it_need_them() {
    // As fio 3.33 does them: it makes all files before any job runs, with and without a stonewall.
    let of = |jobs: &str| regions(&format!("[global]\ndirectory=/data\nfilename=x\nbs=64k\n{jobs}"));
    let write = "[w]\nrw=write\nsize=16m\n";
    for wall in ["stonewall\n", ""] {
        assert_eq!(of(&format!("[a]\nrw=write\nsize=1m\n[b]\n{wall}rw=write\nsize=1m\nfile_append=1\n"))[1].0, 1024);
        assert_eq!(of(&format!("{write}[r]\n{wall}offset=50%\nsize=4m\n"))[1], (8192, 4096));
        assert_eq!(of(&format!("{write}[r]\n{wall}"))[1], (0, 16384));
        assert_eq!(of(&format!("{write}[r]\n{wall}size=25%\n"))[1], (0, 4096));
    }
    let grown = "[a]\nrw=write\nsize=1m\n[b]\noffset=50%\nsize=4m\n[c]\n";
    assert_eq!(of(grown), [(0, 1024), (512, 4096), (0, 4608)], "reads make a file longer, too");
    assert_eq!(of("[r]\noffset=50%\nsize=1m\n[w]\nrw=write\nsize=4m\n")[0].1, 1024, "later jobs do not count");
    for unmade in ["fallocate=none\n", "fallocate=keep\n", "create_on_open=1\n", "fill_device=1\n"] {
        let appends = "[b]\nstonewall\nrw=write\nsize=1m\nfile_append=1\n";
        let look = |path: &str| look(path).map(|found| Found { size_bytes: 100 << 20, ..found });
        let file = format!("[global]\ndirectory=/data\nfilename=x\n[a]\nrw=write\nsize=1m\n{unmade}{appends}");
        let second = lower(&jobs(&file), &look).unwrap().plan.workloads.remove(1);
        assert_eq!(second.offset, Some(Extent::Bytes(ByteCount(0))), "{unmade}");
    }
    let share = refused("[a]\nfilename=/data/x\nsize=50%\n");
    assert!(share.contains("a share of a file that is not there yet; write it in bytes"), "{share}");
}

#[test]
fn a_clone_finds_files_as_long_as_the_clones_before_it_need_them() {
    let of = |more: &str| regions(&format!("[a]\ndirectory=/data\nrw=write\nsize=1m\ngroup_reporting\nbs=64k\n{more}"));
    // fio makes the files of the last clone after those of the first.
    assert_eq!(of("filename=x\nnumjobs=3\nfile_append=1\n"), [(0, 1024), (2048, 1024), (1024, 1024)]);
    assert_eq!(of("filename=x\nnumjobs=3\noffset_increment=25%\n"), [(0, 1024), (384, 1024), (512, 1024)]);
    assert_eq!(of("numjobs=2\noffset_increment=1m\n"), [(0, 1024), (1024, 1024)], "in files of their own");
    assert_eq!(of("filename=x\nnumjobs=3\noffset_increment=1m\n"), [(0, 1024)]);
    assert_eq!(of("numjobs=3\n"), [(0, 1024)]);
}

#[test]
fn files_of_a_range_of_sizes_have_together_what_fio_draws_for_them() {
    let done = |more: &str| {
        let workload = lowered(&format!("[a]\ndirectory=/data\nrw=write\nnrfiles=10\n{more}")).plan.workloads.remove(0);
        (workload.file_size, workload.io_size.map(|size| size.0 >> 10))
    };
    let each = |bytes: u64| Some(FileSizes::One(bytes));
    assert_eq!(done("filesize=4k-64k\nsize=256k\n"), (each(32 << 10), Some(256)), "64 operations, as fio does");
    assert_eq!(done("filesize=4k-64k\n"), (each(32 << 10), Some(320)));
    assert_eq!(done("filesize=6k-6k\nbs=2k\n"), (each(6 << 10), Some(60)));
    assert_eq!(done("filesize=6k-7k\n"), (each(6 << 10), Some(40)));
}

#[test]
fn a_share_is_of_what_a_file_will_be_only_where_no_job_before_makes_it() {
    let is_noted = |jobs: &str| {
        let lowered = lowered(&format!("[global]\ndirectory=/data\nfilename=x\nsize=1m\n{jobs}"));
        lowered.notes.iter().any(|note| note.text.contains("of a new file"))
    };
    assert!(is_noted("[r]\noffset=50%\n"));
    assert!(!is_noted("[w]\nrw=write\n[r]\nstonewall\noffset=50%\n"));
    assert!(!is_noted("[r]\nnumjobs=2\noffset_increment=25%\n"), "the second clone finds the file of the first");
}

#[test]
fn a_job_that_only_writes_finds_files_that_nothing_was_written_to() {
    let layout = |options: &str| {
        let plan = lowered(&format!("[a]\nsize=1m\ndirectory=/data\n{options}\n")).plan;
        plan.workloads[0].layout.unwrap().as_str()
    };
    assert_eq!(layout("rw=randwrite"), "allocated");
    assert_eq!(layout("rw=write\nfallocate=none"), "empty");
    assert_eq!(layout("rw=write\noverwrite=1"), "written");
    assert_eq!(layout("rw=randrw"), "written");
}

#[test]
fn a_rate_is_an_open_loop_of_each_job() {
    let plan = lowered("[a]\nsize=1m\ndirectory=/data\nrw=randrw\nrate_iops=300,100\nrate_process=poisson\n").plan;
    let workload = &plan.workloads[0];
    assert_eq!(
        (workload.rate.unwrap().to_string(), workload.arrival.unwrap().as_str()),
        ("400/s".to_owned(), "poisson")
    );
    assert_eq!(workload.read_percent.as_ref().unwrap().to_string(), "75%");
}

#[test]
fn what_no_plan_can_say_is_refused_with_what_to_write() {
    for option in ["rw=randread:8\nrw_sequencer=identical", "rw=read:-4k"] {
        let text = refused(&format!("[a]\nsize=1m\ndirectory=/data\n{option}\n"));
        assert!(text.contains("not there yet; "), "{text}");
    }
}

#[test]
fn a_job_that_a_size_ends_is_not_prolonged_until_it_is_steady() {
    let lowered = lowered("[a]\nfilename=/dev/sdb\nrw=randread\nsize=1m\nsteadystate=iops:5%\nss_dur=30\n");
    assert_eq!(lowered.plan.workloads[0].io_size.unwrap().0, 1 << 20);
    assert!(lowered.notes.iter().any(|note| note.text.contains("has a size to do")), "{:?}", lowered.notes);
}

#[test]
fn a_steady_state_is_decided_by_the_rules() {
    let lowered = lowered(
        "[a]\nfilename=/dev/sdb\nrw=randread\ntime_based\nruntime=300\nsteadystate=iops:5%\nsteadystate_duration=30\n",
    );
    assert_eq!(lowered.plan.max_time.unwrap().to_string(), "5m");
    assert!(!lowered.plan.workloads[0].has_own_end());
    assert!(lowered.notes.iter().any(|note| note.text.contains("measuring.md")), "{:?}", lowered.notes);
}

#[test]
fn a_steady_state_has_all_of_its_runtime_after_what_comes_before_it() {
    let job = "[a]\nfilename=/dev/sdb\nrw=randread\ntime_based\nruntime=60\nss_dur=10\nsteadystate=iops:50%\n";
    let max_time = |more: &str| lowered(&format!("{job}{more}")).plan.max_time.unwrap().to_string();
    assert_eq!(max_time("startdelay=55\n"), "115s");
    assert_eq!(max_time("startdelay=55\nramp_time=5\n"), "2m");
    let beside_another = lowered(&format!("{job}startdelay=55\n[b]\nfilename=/dev/sdb\nruntime=5\ntime_based\n"));
    assert_eq!(beside_another.plan.max_time, None);
    assert_eq!(beside_another.plan.workloads[0].duration.unwrap().to_string(), "1m");
}

#[test]
fn a_job_on_several_devices_has_a_cell_on_each_and_shares_its_depth() {
    let job = "[a]\nfilename=/dev/sdb:/dev/sdc\nioengine=libaio\niodepth=32\nrw=randread\nrate_iops=100\n";
    let of = |file: &str| lower(&jobs(file), &look_at_two).unwrap_or_else(|problems| panic!("{problems}"));
    let devices = of(job);
    assert_eq!(devices.plan.targets, ["/dev/sdb", "/dev/sdc"]);
    for workload in &devices.plan.workloads {
        assert_eq!(workload.queue_depth.as_ref().unwrap().values(), [16]);
        assert_eq!(workload.rate, Some(Rate::Operations(50.0)));
        assert_eq!(workload.io_size.unwrap().0, 10 << 30, "without a size, all of each");
    }
    assert_eq!(devices.cells, [CellOf { job: 0, clone: 0 }; 2]);
    assert!(devices.notes.iter().any(|note| note.text.contains("several targets")), "{:?}", devices.notes);
    let sized = of(&format!("{job}size=8g\nnumjobs=2\ngroup_reporting\n"));
    let sizes: Vec<_> = sized.plan.workloads.iter().map(|workload| workload.io_size.unwrap().0).collect();
    assert_eq!(sizes, [8 << 30; 2], "two clones, half of the size on each device");
}

#[test]
fn a_load_that_several_targets_cannot_share_is_refused() {
    let of = |more: &str| {
        let job = format!("[a]\nfilename=/dev/sdb:/dev/sdc\nioengine=libaio\n{more}");
        lower(&jobs(&job), &look_at_two).map_err(|problems| problems.to_string())
    };
    assert!(of("iodepth=1\n").unwrap_err().contains("1 in flight cannot be shared; write iodepth=2"));
    assert!(of("iodepth=5\n").unwrap_err().contains("5 in flight cannot be shared"));
    assert!(of("iodepth=4\nthinktime=1ms\n").unwrap_err().contains("cannot pause together"));
    of("iodepth=4\n").unwrap();
}

#[test]
fn a_device_is_used_to_its_end_and_no_further() {
    let regions = |more: &str| {
        let lowered = lowered(&format!("[a]\nfilename=/dev/sdb\n{more}"));
        let bytes = |extent: Option<Extent>| match extent {
            Some(Extent::Bytes(bytes)) => bytes.0 >> 30,
            _ => panic!("{extent:?}"),
        };
        let region = |workload: &Workload| {
            (bytes(workload.offset), bytes(workload.size), workload.io_size.unwrap_or_default().0 >> 30)
        };
        (lowered.plan.workloads.iter().map(region).collect::<Vec<_>>(), lowered.notes)
    };
    let apart = "offset_increment=3g\nnumjobs=3\n";
    assert_eq!(regions(apart).0, [(0, 10, 10), (3, 7, 7), (6, 4, 4)]);
    assert_eq!(regions(&format!("{apart}group_reporting\n")).0.len(), 3, "regions of several sizes are not one");
    let (cut, notes) = regions("size=100g\n");
    assert_eq!(cut, [(0, 10, 10)]);
    assert!(notes.iter().any(|note| note.text.contains("/dev/sdb ends before that")), "{notes:?}");
    assert_eq!(regions("offset=8g\nsize=5g\nio_size=20g\n").0, [(8, 2, 20)]);
    assert!(refused("[a]\nfilename=/dev/sdb\noffset=20g\nsize=1g\n").contains("no room"));
}

#[test]
fn a_sequence_with_gaps_ends_where_it_meets_the_end() {
    let blocks = |more: &str| {
        let lowered = lowered(&format!("[a]\ndirectory=/data\nsize=1m\n{more}"));
        lowered.plan.workloads[0].io_size.unwrap().0 / 4096
    };
    assert_eq!(blocks("rw=read:64k\n"), 16);
    assert_eq!(blocks("rw=write:8k\nloops=2\n"), 2 * 86);
    assert_eq!(blocks("rw=write:4k\n"), 256, "from the end it begins anew");
    assert_eq!(blocks("rw=rw:8k\n"), 256);
}

/// The directory in which files are made.
fn data() -> TargetFacts {
    TargetFacts {
        name: "/data".to_owned(),
        kind: TargetKind::Directory,
        size_bytes: None,
        free_bytes: Some(1 << 30),
        direct_alignment_bytes: Some(512),
    }
}

#[test]
fn a_gap_begins_after_blocks_of_the_sizes_that_occur() {
    let gap = |more: &str| {
        let file = format!("[a]\ndirectory=/data\ndirect=1\nsize=1m\nbs=4k,64k\nnumber_ios=8\n{more}");
        let workloads = lowered(&file).plan.workloads;
        let plan = Plan::resolve(&[data()], &workloads, &Certainty::of(Effort::Standard), 1).unwrap();
        let blocks = plan.cells[0].blocks().unwrap();
        (blocks.block_size_bytes_max, blocks.gap_bytes)
    };
    assert_eq!(gap("rw=rw:8k\nrwmixread=100\n"), (4096, 8192), "0, 12288, 24576, as fio does");
    assert_eq!(gap("rw=rw:8k\nrwmixread=0\n"), (65536, 8192));
    assert_eq!(gap("rw=rw:8k\nrwmixread=50\n"), (65536, 8192));
    assert_eq!(gap("rw=read:8k\n"), (4096, 8192));
    assert_eq!(gap("rw=write:8k\n"), (65536, 8192));
}

#[test]
fn a_sequence_with_gaps_goes_through_several_files_one_after_the_other() {
    for order in ["", "file_service_type=random\n"] {
        let file = format!("[a]\ndirectory=/data\nsize=4m\nnrfiles=4\nrw=read:8k\n{order}");
        let plan = lowered(&file).plan;
        assert_eq!(plan.workloads[0].file_order, Some(FileOrder::Sequential));
        let plan = Plan::resolve(&[data()], &plan.workloads, &Certainty::of(Effort::Standard), 1);
        assert!(plan.is_ok(), "{plan:?}");
    }
}

#[test]
fn files_that_are_named_again_are_more_files() {
    let names = |file: &str| {
        let lowered = lowered(file);
        let workload = &lowered.plan.workloads[0];
        let (Some(Extent::Bytes(region)), Some(done)) = (workload.size, workload.io_size) else {
            panic!("{workload:?}")
        };
        (workload.file_names.as_ref().unwrap().0.join(":"), region.0 >> 20, done.0 >> 20, lowered.notes)
    };
    let (all, region, done, notes) = names("[global]\ndirectory=/data\nfilename=a:b\n[j]\nfilename=c:d\nsize=8m\n");
    assert_eq!((&*all, region, done), ("a:b:c:d", 8, 8));
    assert!(notes.is_empty(), "{notes:?}");
    let (all, region, done, notes) = names("[global]\ndirectory=/data\nfilename=a\n[j]\nfilename=a\nsize=8m\n");
    assert_eq!((&*all, region, done), ("a", 4, 8));
    assert!(notes.iter().any(|note| note.text.contains("named 2 times")), "{notes:?}");
    let (all, region, ..) = names("[global]\ndirectory=/data\nfilename=a:b:c\n[j]\nnrfiles=2\nsize=8m\n");
    assert_eq!((&*all, region), ("a:b", 8));
    assert!(refused("[j]\nfilename=/data/a:/data/a:/data/b\nsize=8m\n").contains("as often as the others"));
}

#[test]
fn names_in_several_directories_are_a_cell_in_each() {
    let lowered = lowered("[a]\nfilename=/data/x:/more/y:/data/z\nsize=3m\nioengine=libaio\niodepth=3\n");
    let names: Vec<_> = lowered.plan.workloads.iter().map(|workload| workload.file_names.clone().unwrap().0).collect();
    assert_eq!(names, [vec!["x", "z"], vec!["y"]]);
    let sizes: Vec<_> = lowered.plan.workloads.iter().map(|workload| workload.io_size.unwrap().0).collect();
    assert_eq!(sizes, [2 << 20, 1 << 20]);
}

#[test]
fn a_device_that_is_not_there_is_not_made() {
    assert!(refused("[a]\nfilename=/dev/sdz\nsize=1m\n").contains("there is no device /dev/sdz"));
}

#[test]
fn a_file_that_may_not_be_made_is_named() {
    let refused = refused("[j]\nsize=1m\nrw=read\nallow_file_create=0\ndirectory=/data\nfilename=old:new\n");
    assert!(refused.contains("/data/new is missing, and allow_file_create=0; make the file"), "{refused}");
}

#[test]
fn directories_in_names_are_made_and_others_have_to_be_there() {
    let made = |file: &str| lowered(file).directories;
    assert_eq!(made("[a]\ndirectory=/data\nfilename_format=$jobname/$filenum\nsize=1m\n"), ["/data/a"]);
    assert_eq!(made("[a]\nfilename=x/y\nsize=1m\n"), ["x"]);
    assert_eq!(made("[sub/job]\nsize=1m\n"), ["sub"]);
    assert_eq!(made("[a]\nfilename=/none/x/y\nsize=1m\n"), ["/none/x"]);
    assert!(made("[a]\ndirectory=/none\nsize=1m\n").is_empty());
}

#[test]
fn jobs_that_only_create_have_no_cell_and_their_files_are_made_before() {
    let lowered = lowered("[global]\nsize=1m\ndirectory=/data\n[a]\ncreate_only=1\n[b]\nstonewall\nrw=randread\n");
    assert_eq!(lowered.cells, [CellOf { job: 1, clone: 0 }]);
    assert_eq!(lowered.plan.workloads.iter().map(|workload| workload.phase).collect::<Vec<_>>(), [Some(0)]);
    let creation = lowered.creation.unwrap();
    assert_eq!((creation.workloads.len(), creation.targets), (1, vec!["/data".to_owned()]));
    assert_eq!(creation.workloads[0].file_names.as_ref().unwrap().0, ["a.0.0"]);
}

#[test]
fn clones_do_not_go_to_the_same_places() {
    let plan = lowered("[a]\nfilename=/dev/sdb\nrw=randread\nnumjobs=2\n[b]\nfilename=/dev/sdb\n").plan;
    let mut seeds: Vec<_> = plan.workloads.iter().map(|workload| workload.seed.unwrap()).collect();
    seeds.sort_unstable();
    seeds.dedup();
    assert_eq!(seeds.len(), 3);
}

#[test]
fn rates_of_operations_count_the_smallest_blocks_where_they_differ() {
    let rate = |options: &str| {
        let job = "[a]\nsize=1m\ndirectory=/data\nrw=randwrite\nrate_iops=100\n";
        lowered(&format!("{job}{options}")).plan.workloads[0].rate.unwrap()
    };
    assert_eq!(rate("bsrange=4k-16k\n"), Rate::Bytes(409_600));
    assert_eq!(rate("bssplit=4k/50:64k/50\n"), Rate::Bytes(409_600));
    assert_eq!(rate("bsrange=4k-16k\nrate_process=poisson\n"), Rate::Operations(100.0));
    assert_eq!(rate("bs=64k,4k\n"), Rate::Operations(100.0));
}

#[test]
fn rates_in_bytes_make_the_mix_by_how_long_operations_are() {
    let job = "[a]\nsize=16m\ndirectory=/data\nrw=randrw\nbs=4k,60k\n";
    let plan = lowered(&format!("{job}rate=4m,4m\n")).plan;
    // Fifteen reads are as long as one write.
    assert_eq!(plan.workloads[0].read_percent.as_ref().unwrap().to_string(), "94%");
    assert!(refused(&format!("{job}rate_iops=,50\n")).contains("one direction of a mix"));
    // Of ten writes a second, a hundred would become.
    let text = refused(&format!("{job}rate_iops=10000,10\n"));
    assert!(text.contains("9910 reads and 100 writes") && text.contains("two jobs"), "{text}");
}

#[test]
fn reads_are_not_said_to_verify_what_nobody_of_this_run_wrote() {
    let job = "[a]\nsize=1m\nfilename=/data/x\nverify=crc32c\nrw=";
    assert!(refused(&format!("{job}read\n")).contains("an earlier run"));
    let both = lowered(&format!("{job}write\n[b]\nstonewall\nsize=1m\nfilename=/data/x\nverify=crc32c\nrw=read\n"));
    assert!(both.plan.workloads[0].verify == Some(true) && both.plan.workloads[1].verify.is_none());
}

#[test]
fn what_cannot_be_verified_is_refused_where_it_stands() {
    let refused =
        |options: &str| refused(&format!("[a]\nsize=1m\ndirectory=/data\nverify=crc32c\nrw=randwrite\n{options}\n"));
    for (options, words) in [
        ("bssplit=4k/50:8k/50", "blocks of several sizes cannot be verified; write one bs, or do_verify=0"),
        ("bsrange=4k-16k", "blocks of several sizes"),
        ("rw=randrw\nbs=4k,8k", "blocks of several sizes"),
        ("bs=12k", "write a bs that is a power of two from 512 to 1m, or do_verify=0"),
        ("rw=write:4k", "blocks with holes between them"),
        ("percentage_random=50", "write percentage_random=0 or 100"),
    ] {
        let told = refused(options);
        assert!(told.contains(words) && told.starts_with("job.fio:1:1: "), "{options}: {told}");
    }
    let unread =
        lowered("[a]\nsize=1m\ndirectory=/data\nverify=crc32c\ndo_verify=0\nbssplit=4k/50:8k/50\nrw=randwrite\n");
    assert_eq!(unread.plan.workloads[0].verify, None);
}

#[test]
fn a_disk_is_filled_as_far_as_the_size_says_and_no_further_than_it_can_be() {
    let look = |path: &str| look(path).map(|found| Found { size_bytes: 100 << 20, ..found });
    for (options, size) in [("", "98MiB"), ("size=1m\n", "1MiB"), ("size=1g\n", "98MiB")] {
        let job = format!("[a]\nrw=write\ndirectory=/data\nfill_device=1\n{options}");
        let workload = lower(&jobs(&job), &look).unwrap().plan.workloads.remove(0);
        assert_eq!(
            (workload.size.unwrap().to_string(), workload.io_size.unwrap().to_string()),
            (size.into(), size.into())
        );
    }
}

#[test]
fn files_of_several_sizes_need_one() {
    let look = |path: &str| match path {
        "/data/new" => look("/data/old").map(|found| Found { size_bytes: 1 << 19, ..found }),
        _ => look(path),
    };
    let job = "[a]\nfilename=/data/old:/data/new\n";
    assert!(lower(&jobs(job), &look).unwrap_err().to_string().contains("several"));
    assert!(lower(&jobs(&format!("{job}size=512k\n")), &look).is_ok());
    let rest = lower(&jobs("[a]\nfilename=/data/old\nsize=50%\noffset=75%\n"), &look).unwrap().plan;
    assert_eq!(rest.workloads[0].size.unwrap().to_string(), "256KiB");
}

#[test]
fn fewer_operations_between_pauses_than_fio_sends_are_noted() {
    let job = "[a]\nsize=1m\ndirectory=/data\nioengine=libaio\niodepth=16\nthinktime=2ms\n";
    let is_noted =
        |options: &str| lowered(&format!("{job}{options}")).notes.iter().any(|note| note.text.contains("queue"));
    assert!(is_noted("") && is_noted("thinktime_blocks=15\n"));
    assert!(
        !is_noted("thinktime_blocks=16\n") && !is_noted("thinktime_blocks_type=issue\n") && !is_noted("iodepth=1\n")
    );
}

#[test]
fn what_is_not_read_back_is_not_written_before() {
    let layout = |options: &str| {
        lowered(&format!("[a]\ndirectory=/data\nsize=1m\nrw=write\n{options}")).plan.workloads[0].layout
    };
    assert_eq!((layout(""), layout("verify=md5\ndo_verify=0\n")), (Some(Layout::Allocated), Some(Layout::Allocated)));
    assert_eq!(layout("verify=null\n"), Some(Layout::Allocated));
    assert_eq!(layout("verify=md5\n"), Some(Layout::Written));
}

#[test]
fn jobs_that_share_a_file_find_it_alike_in_any_order() {
    let layouts = |jobs: &str| {
        let lowered = lowered(&format!("[global]\ndirectory=/data\nsize=1m\n{jobs}"));
        lowered.plan.workloads.iter().map(|workload| workload.layout.unwrap().as_str()).collect::<Vec<_>>()
    };
    let (write, grow) = ("[w]\nfilename=x\nrw=write\n", "[g]\nfilename=x\nrw=write\nfallocate=none\n");
    let (read, other) = ("[r]\nfilename=y:x\nnrfiles=2\nrw=read\n", "[o]\nfilename=z\nrw=write\n");
    assert_eq!(layouts(&format!("{grow}{write}{other}")), ["allocated", "allocated", "allocated"]);
    assert_eq!(layouts(&format!("{grow}{other}")), ["empty", "allocated"]);
    for jobs in [[grow, write, read], [read, grow, write], [write, read, grow]] {
        assert_eq!(layouts(&jobs.concat()), ["written"; 3], "{jobs:?}");
    }
}
