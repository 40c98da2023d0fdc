//! The rows: an option, a job with it, and what has to be the same in both programs.

use Same::{Blocks, Bytes, Content, Counts, Different, Jobs, Keys, Millisecond, Names, Sizes, Syncs, Takes};

/// What is compared.
#[derive(Clone, Copy, Debug)]
pub(super) enum Same {
    /// Operations and bytes of each job and direction.
    Counts,
    /// Bytes of each job and direction.
    Bytes,
    /// Syncs of each job.
    Syncs,
    /// Names of files.
    Names,
    /// Names and lengths of files.
    Sizes,
    /// Which blocks of each file are not zeros.
    Blocks,
    /// Every byte of every file.
    Content,
    /// How many blocks of a file differ from all others.
    Different,
    /// Names, groups and descriptions of jobs.
    Jobs,
    /// What stands at a place of the report: of an object its keys.
    Keys(&'static str),
    /// How long jobs were measured, about.
    Millisecond(u64),
    /// How long all of it takes, in milliseconds, from and below.
    Takes([u64; 2]),
}

/// An option and how to see what it does.
#[derive(Clone, Copy)]
pub(super) struct Row {
    pub(super) option: &'static str,
    /// A job that each program does first, to have its files.
    pub(super) before: &'static str,
    pub(super) job: &'static str,
    pub(super) same: &'static [Same],
    /// Whether plimsoll says that it does not honour the option quite as it was given.
    pub(super) is_noted: bool,
}

const fn row(option: &'static str, job: &'static str, same: &'static [Same]) -> Row {
    Row { option, before: "", job, same, is_noted: false }
}

/// One whose file `f` is there before, a MiB of zeros.
const fn with_file(option: &'static str, job: &'static str, same: &'static [Same]) -> Row {
    Row {
        before: "[f]\nfilename=DIRECTORY/f\nrw=write\nbs=1m\nzero_buffers\nsize=1m\nfilesize=1m\n",
        ..row(option, job, same)
    }
}

const fn noted(row: Row) -> Row {
    Row { is_noted: true, ..row }
}

/// A job that writes a file of 64 KiB, with more options.
macro_rules! writes {
    ($options:literal) => {
        concat!("[a]\ndirectory=DIRECTORY\nrw=write\nsize=64k\n", $options, "\n")
    };
}

/// A job that writes the file that is there.
macro_rules! writes_file {
    ($options:literal) => {
        concat!("[a]\nfilename=DIRECTORY/f\nrw=write\n", $options, "\n")
    };
}

pub(super) const ROWS: &[Row] = &[
    // Those that take longest come first.
    row(
        "exitall",
        "[global]\ndirectory=DIRECTORY\nsize=64k\n[a]\nexitall\n[b]\ntime_based\nruntime=20\n",
        &[Jobs, Takes([0, 10_000])],
    ),
    row("runtime", writes!("time_based\nruntime=1"), &[Millisecond(1000), Sizes]),
    row("ramp_time", writes!("time_based\nruntime=1\nramp_time=1"), &[Millisecond(1000), Takes([2000, 10_000])]),
    noted(row("ramp_time", writes!("ramp_time=200ms"), &[Sizes, Blocks])),
    row(
        "stonewall",
        "[global]\ndirectory=DIRECTORY\nsize=64k\ntime_based\nruntime=700ms\n[a]\n[b]\nstonewall\n",
        &[Jobs, Takes([1400, 10_000])],
    ),
    row("startdelay", writes!("startdelay=700ms"), &[Counts, Takes([700, 10_000])]),
    noted(row("startdelay", writes!("startdelay=100ms-200ms"), &[Counts, Takes([100, 10_000])])),
    row("rate_iops", writes!("rate_iops=50"), &[Counts, Millisecond(300)]),
    noted(row("rate_iops", "[a]\ndirectory=DIRECTORY\nrw=rw\nsize=64k\nrate_iops=1000,1000\n", &[Sizes])),
    row("rate", writes!("rate=128k\nsize=64k"), &[Counts, Millisecond(470)]),
    row("thinktime", writes!("thinktime=50000\nnumber_ios=8"), &[Counts, Millisecond(390)]),
    row("thinktime_blocks", writes!("thinktime=100000\nthinktime_blocks=4"), &[Counts, Millisecond(380)]),
    noted(row(
        "thinktime_spin",
        writes!("thinktime=200000\nthinktime_spin=1000\nnumber_ios=4"),
        &[Counts, Millisecond(700)],
    )),
    // Files.
    row("filename", "[a]\nfilename=DIRECTORY/x:DIRECTORY/y\nrw=write\nsize=64k\n", &[Sizes, Blocks, Counts]),
    row(
        "filename_format",
        writes!("filename_format=$jobname-$jobnum-$filenum\nnrfiles=2\nnumjobs=2"),
        &[Sizes, Counts],
    ),
    row("nrfiles", writes!("nrfiles=3"), &[Sizes, Blocks, Counts]),
    noted(row("openfiles", writes!("nrfiles=4\nopenfiles=2"), &[Sizes, Blocks, Counts])),
    row("openfiles", writes!("nrfiles=4\nopenfiles=4"), &[Sizes, Blocks, Counts]),
    row("file_service_type", writes!("nrfiles=4\nfile_service_type=sequential\nio_size=40k"), &[Sizes, Blocks, Counts]),
    row(
        "file_service_type",
        writes!("nrfiles=4\nfile_service_type=roundrobin:2\nio_size=40k"),
        &[Sizes, Blocks, Counts],
    ),
    noted(row("file_service_type", writes!("nrfiles=4\nfile_service_type=random"), &[Sizes, Blocks, Counts])),
    row("io_size", writes!("io_size=24k"), &[Sizes, Blocks, Counts]),
    row("io_size", writes!("io_size=100k"), &[Sizes, Blocks, Counts]),
    with_file("size", writes_file!("size=50%"), &[Sizes, Blocks, Counts]),
    with_file("io_size", writes_file!("size=50%\nio_size=50%"), &[Sizes, Blocks, Counts]),
    with_file("io_size", writes_file!("size=100k\nio_size=50%"), &[Sizes, Blocks, Counts]),
    row("filesize", writes!("filesize=32k\nnrfiles=3"), &[Sizes, Blocks, Counts]),
    noted(row("filesize", writes!("filesize=16k-32k\nnrfiles=10"), &[Counts])),
    row("offset", writes!("offset=8k"), &[Sizes, Blocks, Counts]),
    noted(row("offset", writes!("offset=50%"), &[Counts])),
    row("offset", writes!("offset=1000"), &[Sizes, Blocks, Counts]),
    with_file("offset", writes_file!("offset=33%\nsize=16k"), &[Sizes, Blocks, Counts]),
    with_file("offset_align", writes_file!("offset=33%\noffset_align=16k\nsize=16k"), &[Sizes, Blocks, Counts]),
    with_file(
        "offset_increment",
        writes_file!("offset_increment=64k\nnumjobs=3\nsize=16k\ngroup_reporting"),
        &[Sizes, Blocks, Counts],
    ),
    with_file("offset_increment", writes_file!("offset_increment=33%\nnumjobs=3\nsize=16k"), &[Sizes, Blocks, Counts]),
    row("fallocate", writes!("fallocate=none\nnumber_ios=2"), &[Sizes, Blocks, Counts]),
    row("fallocate", writes!("fallocate=native\nnumber_ios=2"), &[Sizes, Blocks, Counts]),
    row("fallocate", writes!("fallocate=posix\nnumber_ios=2"), &[Sizes, Blocks, Counts]),
    noted(row("fallocate", writes!("fallocate=keep\nnumber_ios=2"), &[Blocks, Counts])),
    noted(row("fallocate", writes!("fallocate=truncate\nnumber_ios=2"), &[Blocks, Counts])),
    row("overwrite", writes!("overwrite=1\nnumber_ios=2"), &[Sizes, Blocks, Counts]),
    row("create_on_open", writes!("create_on_open=1\nnumber_ios=2"), &[Sizes, Blocks, Counts]),
    row("create_only", writes!("create_only=1"), &[Sizes, Counts]),
    row("create_serialize", writes!("create_serialize=1"), &[Sizes, Counts]),
    row("allow_file_create", writes!("allow_file_create=0"), &[Sizes]),
    with_file("file_append", writes_file!("file_append=1\nsize=16k"), &[Sizes, Blocks, Counts]),
    row("unlink", writes!("unlink=1"), &[Sizes, Counts]),
    row("unlink_each_loop", writes!("unlink_each_loop=1"), &[Sizes, Counts]),
    noted(row("unlink_each_loop", writes!("unlink_each_loop=1\nloops=2"), &[Sizes, Counts])),
    noted(row("pre_read", writes!("pre_read=1"), &[Sizes, Counts])),
    row("invalidate", writes!("invalidate=0\ndirect=1"), &[Sizes, Counts]),
    noted(row("invalidate", writes!("invalidate=0"), &[Sizes, Counts])),
    // What is done.
    row("rw", writes!("rw=write:4k\nio_size=32k"), &[Blocks, Counts]),
    noted(row("rw", writes!("rw=write:4k\nio_size=32k\nnrfiles=2"), &[Counts])),
    row("rw", writes!("rw=randwrite"), &[Blocks, Counts]),
    row("rw_sequencer", writes!("rw=randwrite\nrw_sequencer=identical"), &[Blocks, Counts]),
    row("bs", writes!("bs=1k,16k"), &[Blocks, Counts]),
    noted(row("bsrange", writes!("bsrange=4k-16k"), &[Bytes])),
    noted(row("bssplit", writes!("bssplit=4k/50:8k/50"), &[Bytes])),
    row("bs_is_seq_rand", writes!("bs=4k,16k\nbs_is_seq_rand=1"), &[Blocks, Counts]),
    row("bs_is_seq_rand", writes!("bs=4k,16k\nbs_is_seq_rand=1\nrw=randwrite"), &[Blocks, Counts]),
    row("ba", writes!("rw=randwrite\nba=4k"), &[Blocks, Counts]),
    row("percentage_random", writes!("rw=randwrite\npercentage_random=100"), &[Blocks, Counts]),
    row("percentage_random", writes!("rw=randwrite\npercentage_random=0\nnumber_ios=4"), &[Blocks, Counts]),
    row("number_ios", writes!("number_ios=5"), &[Blocks, Counts]),
    row("number_ios", writes!("number_ios=5\nloops=2\nnumjobs=2"), &[Blocks, Counts]),
    row("loops", writes!("loops=3"), &[Blocks, Counts]),
    noted(row("loops", writes!("loops=3\nverify=crc32c"), &[Blocks, Sizes])),
    row("randseed", writes!("rw=randwrite"), &[Blocks, Counts]),
    row("softrandommap", writes!("rw=randwrite\nsoftrandommap=1"), &[Blocks, Counts]),
    // How it reaches the storage.
    row("iodepth_low", writes!("ioengine=libaio\ndirect=1\niodepth=8\niodepth_low=2"), &[Blocks, Counts]),
    row("iodepth_batch", writes!("ioengine=libaio\ndirect=1\niodepth=8\niodepth_batch=4"), &[Blocks, Counts]),
    row(
        "iodepth_batch",
        writes!("ioengine=libaio\ndirect=1\niodepth=8\niodepth_batch=4\niodepth_batch_complete_min=4"),
        &[Blocks, Counts],
    ),
    row("fsync", writes!("fsync=4"), &[Counts, Syncs]),
    row("fdatasync", writes!("fdatasync=5"), &[Counts]),
    row("sync", writes!("sync=dsync"), &[Counts, Syncs]),
    noted(row("end_fsync", writes!("end_fsync=1"), &[Counts])),
    row("fsync_on_close", writes!("fsync_on_close=1"), &[Counts]),
    // Time, groups and clones.
    row("numjobs", writes!("numjobs=3"), &[Sizes, Counts, Jobs]),
    row("group_reporting", writes!("numjobs=3\ngroup_reporting"), &[Sizes, Counts, Jobs]),
    row("new_group", "[global]\ndirectory=DIRECTORY\nsize=64k\n[a]\n[b]\nnew_group\n", &[Counts, Jobs]),
    row("description", writes!("description=what it is for"), &[Jobs]),
    row("name", writes!("name=other"), &[Jobs, Sizes]),
    row("thread", writes!("thread"), &[Jobs, Sizes]),
    noted(row("exitall_on_error", writes!("exitall_on_error"), &[Jobs, Sizes])),
    // Content.
    row("buffer_pattern", writes!("buffer_pattern=0xdeadbeef"), &[Content]),
    row("buffer_pattern", writes!("buffer_pattern=\"abc\"12"), &[Content]),
    row("zero_buffers", writes!("zero_buffers"), &[Content]),
    row("buffer_compress_percentage", writes!("buffer_compress_percentage=100"), &[Content]),
    noted(row("buffer_compress_percentage", writes!("buffer_compress_percentage=50"), &[Different])),
    row("refill_buffers", writes!("refill_buffers"), &[Different]),
    noted(row("refill_buffers", writes!("refill_buffers=0"), &[Different])),
    noted(row("verify", writes!("verify=crc32c"), &[Counts, Sizes])),
    noted(row("do_verify", writes!("verify=crc32c\ndo_verify=0"), &[Counts, Sizes])),
    noted(row("verify_interval", writes!("verify=crc32c\nverify_interval=512"), &[Counts, Sizes])),
    row("verify_interval", writes!("verify=crc32c\nverify_interval=4k"), &[Counts, Sizes]),
    noted(row("verify_fatal", writes!("verify=crc32c\nverify_fatal=1"), &[Counts, Sizes])),
    noted(row("verify_dump", writes!("verify=crc32c\nverify_dump=1"), &[Counts, Sizes])),
    noted(row("verify_backlog", writes!("verify=crc32c\nverify_backlog=4"), &[Counts, Sizes])),
    noted(row("verify_pattern", writes!("verify=pattern\nverify_pattern=0xff"), &[Counts, Sizes])),
    // Reports.
    row("stats", "[global]\ndirectory=DIRECTORY\nsize=64k\n[a]\nstats=0\n[b]\n", &[Keys("/jobs/0/jobname")]),
    row(
        "unified_rw_reporting",
        writes!("unified_rw_reporting=mixed"),
        &[Keys("/jobs/0/mixed/total_ios"), Keys("/jobs/0/write")],
    ),
    row("percentile_list", writes!("percentile_list=50:99.9"), &[Keys("/jobs/0/write/clat_ns/percentile")]),
    row("clat_percentiles", writes!("clat_percentiles=0"), &[Keys("/jobs/0/write/clat_ns/percentile")]),
    row(
        "lat_percentiles",
        writes!("lat_percentiles=1"),
        &[Keys("/jobs/0/write/lat_ns/percentile"), Keys("/jobs/0/write/clat_ns/percentile")],
    ),
    row("per_job_logs", writes!("write_bw_log=DIRECTORY/x\nwrite_lat_log=DIRECTORY/x\nnumjobs=2"), &[Names]),
    row("per_job_logs", writes!("write_iops_log=DIRECTORY/x\nper_job_logs=0\nnumjobs=2"), &[Names]),
    noted(row("write_bw_log", writes!("write_bw_log=DIRECTORY/x"), &[Names])),
    noted(row("steadystate", writes!("steadystate=iops:5%\nsteadystate_duration=2"), &[Counts])),
    row("disk_util", writes!("disk_util=0"), &[Keys("/disk_util")]),
];
