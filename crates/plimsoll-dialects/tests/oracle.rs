//! The parsers against fio itself: what it accepts is accepted, what it refuses is refused, and what it shows as a
//! command line is what we show; but for what is refused on purpose.

use std::{collections::BTreeSet, fmt::Write as _, fs, path::Path, process::Command};

use plimsoll_dialects::{
    fio::{Jobs, Surroundings, options, translate_command_line},
    problem::Problems,
};

/// Says what a test could not have, and fails it where everything must be there.
#[expect(clippy::disallowed_methods, reason = "only tests ask whether they run in continuous integration")]
#[expect(clippy::print_stderr, reason = "what was skipped is told to whoever runs the tests")]
fn skipped(missing: &str) {
    eprintln!("skipped: {missing}");
    assert!(std::env::var_os("CI").is_none(), "nothing may be skipped when CI is set: {missing}");
}

/// What fio prints, and whether it was content; none when it is not there.
fn fio(arguments: &[&str]) -> Option<(String, bool)> {
    let output = Command::new("fio").args(arguments).output().ok()?;
    Some((String::from_utf8_lossy(&output.stdout).into_owned(), output.status.success()))
}

fn translated(arguments: &[&str]) -> Result<Jobs, Problems> {
    let mut read_file = |name: &str| fs::read(name).map(Some).map_err(|error| error.to_string());
    let mut surroundings = Surroundings {
        environment: &|_| None,
        page_size_bytes: 4096,
        memory_mib: 1024,
        processors: 2,
        read_file: &mut read_file,
    };
    let arguments: Vec<String> = arguments.iter().map(ToString::to_string).collect();
    translate_command_line(&arguments, &mut surroundings)
}

/// Numbers that follow from a seed.
struct Draws(u64);

impl Draws {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % bound
    }

    fn of<'a, T>(&mut self, list: &'a [T]) -> &'a T {
        &list[self.below(list.len())]
    }
}

/// Options with values about which we mean to agree, those that both accept first.
const ACCEPTED: &[(&str, &[&str])] = &[
    (
        "rw",
        &["read", "write", "randread", "randwrite", "rw", "randrw", "readwrite", "randread:8", "write:4k", "read:8"],
    ),
    ("bs", &["4k", "512", "8k,32k", "8k,32k,", ",8k", "1M", "4096b", "0x1000", "64Kb", "4k,8k,16k"]),
    ("bsrange", &["4k-8k", "1k-4k,8k-16k", "8k:4k", "512-4k,"]),
    ("bssplit", &["4k/10:64k/50:32k/40", "4k/50:8k/", "4k", "4k/50:8k/50,64k/100", "8k/:4k/", "4k/10:8k/10"]),
    ("ba", &["4k", "512,4k"]),
    ("size", &["1g", "100%", "20G", "1073741824", "10%", "512m", "1t"]),
    ("io_size", &["1g", "50%", "2g"]),
    ("filesize", &["1m", "4k-8k", "1g"]),
    ("offset", &["0", "1m", "10%"]),
    ("offset_increment", &["1g", "5%"]),
    ("number_ios", &["100", "10k"]),
    ("iodepth", &["1", "32", "256", "1k"]),
    ("iodepth_batch", &["0", "8"]),
    ("iodepth_batch_complete_min", &["0", "1", "16"]),
    ("numjobs", &["1", "4", "16"]),
    ("nrfiles", &["1", "16"]),
    ("openfiles", &["4"]),
    ("file_service_type", &["random", "roundrobin:4", "sequential", "zipf:1.2", "normal:10", "pareto:0.2:0"]),
    ("ioengine", &["libaio", "io_uring", "psync", "sync", "null", "mmap", "vsync", "pvsync2", "posixaio"]),
    ("direct", &["0", "1"]),
    ("buffered", &["0", "1"]),
    ("sync", &["0", "1", "dsync", "none", "sync"]),
    ("fsync", &["0", "16"]),
    ("fdatasync", &["1"]),
    ("end_fsync", &["1"]),
    ("runtime", &["30", "1m", "500ms", "2h", "10s", "1d", "900000us"]),
    ("ramp_time", &["5", "2s", "100ms"]),
    ("startdelay", &["1", "1-5", "100ms"]),
    ("time_based", &["", "=1", "=0", "=10"]),
    ("group_reporting", &["", "=1"]),
    ("norandommap", &["", "=0", "=1"]),
    ("refill_buffers", &["", "=1"]),
    ("zero_buffers", &["", "=0"]),
    ("stonewall", &["", "=0"]),
    ("new_group", &[""]),
    ("thread", &["", "=1"]),
    ("invalidate", &["0", "1"]),
    ("fallocate", &["none", "native", "posix", "keep", "truncate", "0"]),
    ("rwmixread", &["0", "70", "100"]),
    ("rwmixwrite", &["30"]),
    ("percentage_random", &["50", "10,90", "100,0,0"]),
    (
        "random_distribution",
        &["random", "zipf", "zipf:1.2", "pareto:0.9", "normal:20", "zoned:60/10:40/90", "zoned_abs:60/1g:40/2g"],
    ),
    ("random_generator", &["tausworthe", "lfsr", "tausworthe64"]),
    ("randrepeat", &["0", "1"]),
    ("randseed", &["42", "0x89"]),
    ("rate", &["1m", "1m,2m", "500k,"]),
    ("rate_process", &["linear", "poisson"]),
    ("thinktime", &["100", "5ms", "1s"]),
    ("thinktime_blocks", &["4"]),
    ("max_latency", &["1s", "500ms"]),
    ("latency_target", &["1000", "10ms"]),
    ("latency_percentile", &["99.9"]),
    ("percentile_list", &["50:99:99.9", "1"]),
    ("verify", &["0", "md5", "crc32c", "xxhash", "sha3-256", "null", "meta"]),
    ("verify_pattern", &["0xdeadbeef", "\"abc\"", "%o", "12"]),
    ("buffer_pattern", &["0xff", "\"text\"", "255"]),
    ("verify_interval", &["512", "4k"]),
    ("continue_on_error", &["none", "all", "io", "verify"]),
    ("ignore_error", &["EIO", "ENOSPC:5,EIO", ",,EILSEQ"]),
    ("cpus_allowed", &["0", "0-1"]),
    ("unified_rw_reporting", &["none", "mixed", "both", "1"]),
    ("steadystate", &["iops:5%", "bw_slope:0.1%", "iops:100", "bw:1m"]),
    ("steadystate_duration", &["10", "60s"]),
    ("write_bw_log", &["", "=log", "=a/b"]),
    ("write_lat_log", &["", "=log"]),
    ("log_avg_msec", &["0", "1000"]),
    ("filename", &["/tmp/a", "/tmp/a:/tmp/b", "/dev/disk\\:1"]),
    ("filename_format", &["$jobname.$filenum"]),
    ("description", &["some text", "a=b"]),
    ("kb_base", &["1000", "1024"]),
    ("unlink", &["0", "1"]),
    ("nice", &["5", "-5"]),
    ("loops", &["3"]),
    ("exitall", &[""]),
];

/// Values that both refuse.
const REFUSED: &[&str] = &[
    "rw=foo",
    "rw",
    "bs",
    "bs=",
    "bs=abc",
    "size=",
    "size",
    "direct=2",
    "direct=x",
    "rwmixread=101",
    "time_based=",
    "stonewall=x",
    "verify=crc99",
    "bsrange=4k",
    "bssplit=4k/60:8k/60:16k/:32k/",
    "random_distribution=zipf:1.0",
    "random_distribution=pareto:1.5",
    "random_distribution=normal:100",
    "random_distribution=zoned:60/10:20/90",
    "random_distribution=foo",
    "sync=2",
    "verify_interval=4",
    "io_size=200%",
    "blah=3",
    "Rw=read",
    "steadystate=iops",
    "latency_percentile=101",
    "fallocate=maybe",
    "buffer_pattern=abc",
    "file_service_type=foo",
    "unlink=2",
    "directory=",
    "filename=",
    "hipri",
    "userspace_reap=1",
];

/// What fio accepts and does not do: refused here.
const MISREAD: &[&str] = &[
    "size=1.5g",
    "runtime=2sec",
    "runtime=1min",
    "runtime=0.5",
    "runtime=1m30s",
    "bs=4x",
    "bs=4k/8k",
    "bs=0x1k",
    "bs=4e3",
    "size=4 k",
    "runtime=100 ms",
    "size=200%",
    "log_avg_msec=1s",
    "bssplit=4k-8k/100",
    "percentile_list=50:101",
    "numjobs=0",
    "direct=1x",
];

/// An option as a line; flags bring their own `=`.
fn option_line(name: &str, value: &str) -> String {
    if value.is_empty() || value.starts_with('=') { format!("{name}{value}") } else { format!("{name}={value}") }
}

/// A job file drawn from the options, with a refused one now and then.
fn job_file(draws: &mut Draws) -> String {
    let mut text = String::new();
    let jobs = 1 + draws.below(3);
    let has_global = draws.below(2) == 0;
    for section in 0..jobs + usize::from(has_global) {
        if section == 0 && has_global {
            text.push_str("[global]\n");
        } else {
            writeln!(text, "[job{section}]").expect("writing to a string succeeds");
        }
        let mut names = BTreeSet::new();
        for _ in 0..draws.below(8) {
            let (name, values) = *draws.of(ACCEPTED);
            if names.insert(name) {
                let comment = ["", "\n; a comment", " # another", "\r", "\n\n"][draws.below(5)];
                let value = *draws.of::<&str>(values);
                writeln!(text, "{}{comment}", option_line(name, value)).expect("writing to a string succeeds");
            }
        }
        if draws.below(12) == 0 {
            writeln!(text, "{}", draws.of(REFUSED)).expect("writing to a string succeeds");
        }
    }
    text
}

/// Whether fio sees such a problem before it runs.
fn is_about_parsing(problems: &Problems) -> bool {
    let later = ["given at once", "is above", "smaller than a block", "multiple", "with their clones", "differs from"];
    !problems.0.iter().all(|problem| later.iter().any(|text| problem.to_string().contains(text)))
}

#[test]
fn every_option_that_the_installed_fio_knows_is_in_the_table() {
    let Some((all, _)) = fio(&["--cmdhelp=all"]) else {
        return skipped("fio");
    };
    let engines = ["libaio", "io_uring", "pvsync2", "mmap", "filestat", "rbd", "net", "cpuio", "sg", "rdma", "exec"];
    let engines = engines.iter().filter_map(|engine| fio(&[&format!("--enghelp={engine}")]));
    let texts: String = std::iter::once(all).chain(engines.map(|(text, _)| text)).collect();
    let names = texts.lines().filter_map(|line| line.split_once(':')).map(|(name, _)| name.trim());
    let names: Vec<_> = names.filter(|name| !name.is_empty() && !name.contains(' ')).collect();
    let missing: Vec<_> = names.iter().filter(|name| options::find(name).is_none()).collect();
    assert!(names.len() > 200 && missing.is_empty(), "{missing:?}");
}

#[test]
fn generated_job_files_are_taken_where_fio_takes_them_and_shown_alike() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("job.fio");
    let name = path.to_str().unwrap();
    let (mut accepted, mut refused) = (0, 0);
    for seed in 0..120 {
        let text = job_file(&mut Draws(seed));
        fs::write(&path, &text).unwrap();
        let Some((shown, is_taken)) = fio(&["--showcmd", name]) else {
            return skipped("fio");
        };
        let ours = translated(&["--parse-only", name]);
        match &ours {
            Ok(_) => assert!(is_taken, "seed {seed}: fio refuses\n{text}"),
            Err(problems) if is_about_parsing(problems) => {
                assert!(!is_taken, "seed {seed}: fio takes\n{text}\n{problems}");
            }
            Err(_) => {}
        }
        if is_taken {
            accepted += 1;
            let ours = translated(&["--showcmd", name]).unwrap_or_else(|problems| panic!("{text}\n{problems}"));
            // Each quotes in its own way.
            let bare = |text: &str| text.replace(['\'', '"'], "").trim_end().to_owned();
            assert_eq!(bare(&ours.command_lines.join("\n")), bare(&shown), "seed {seed}: {text}");
        } else {
            refused += 1;
        }
    }
    assert!(accepted > 70 && refused > 10, "{accepted} accepted, {refused} refused");
}

#[test]
fn a_job_file_means_the_same_as_the_command_line_that_shows_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("job.fio");
    let name = path.to_str().unwrap();
    let mut compared = 0;
    for seed in 0..300 {
        let text = job_file(&mut Draws(seed));
        if text.contains(' ') && text.contains("description") || text.contains('"') || text.contains('\\') {
            continue; // The shell's part, which has a test of its own.
        }
        fs::write(&path, &text).unwrap();
        let Ok(from_file) = translated(&[name]) else { continue };
        let shown = translated(&["--showcmd", name]).unwrap().command_lines.remove(0).replace('\'', "");
        // An option without a value before a word of its own would take that word on a command line.
        let words: Vec<&str> = shown.split(' ').skip(1).collect();
        if words.iter().any(|word| word.starts_with("--write_") && !word.contains('=')) {
            continue;
        }
        let again = translated(&words).unwrap_or_else(|problems| panic!("{text}\n{problems}"));
        compared += 1;
        assert_eq!(again.jobs.len(), from_file.jobs.len());
        for (again, from_file) in again.jobs.iter().zip(&from_file.jobs) {
            let mut settings = again.settings.clone();
            settings.name = None;
            assert_eq!((again.group, &settings), (from_file.group, &from_file.settings), "seed {seed}: {text}");
        }
    }
    assert!(compared > 100, "{compared}");
}

#[test]
fn values_that_both_refuse_are_refused_one_by_one() {
    each_alone(REFUSED, false);
}

#[test]
fn what_fio_misreads_is_refused_with_something_to_write() {
    each_alone(MISREAD, true);
}

fn each_alone(lines: &[&str], is_taken_by_fio: bool) {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let path = folder.path().join("job.fio");
    for line in lines {
        fs::write(&path, format!("[job]\n{line}\n")).expect("a file can be written");
        let name = Path::to_str(&path).expect("its name is text");
        let Some((_, is_taken)) = fio(&["--parse-only", name]) else {
            return skipped("fio");
        };
        assert_eq!(is_taken, is_taken_by_fio, "fio about {line}");
        let problems = translated(&["--parse-only", name]).expect_err(line);
        assert_eq!(problems.0.len(), 1, "{line}: {problems}");
        assert!(!is_taken_by_fio || problems.0[0].instead.is_some(), "{line}: {problems}");
    }
}
