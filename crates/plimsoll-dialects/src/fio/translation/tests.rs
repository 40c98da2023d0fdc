//! Promises about whole translations.

use plimsoll_workload::units::{ByteCount, Span};

use super::*;
use crate::fio::{
    lists::Directional,
    settings::{Engine, Extent},
};

/// Translates a command line, where words that name one of the files have its text.
fn translated(arguments: &[&str], files: &[(&str, &str)]) -> Result<Jobs, Problems> {
    let arguments: Vec<String> = arguments.iter().map(ToString::to_string).collect();
    let mut read_file = |name: &str| {
        let file = files.iter().find(|(file, _)| *file == name);
        Ok(file.map(|(_, text)| text.as_bytes().to_vec()))
    };
    let environment = |name: &str| (name == "SIZE").then(|| "2g".to_owned());
    let mut surroundings = Surroundings {
        environment: &environment,
        page_size_bytes: 4096,
        memory_mib: 1024,
        processors: 4,
        read_file: &mut read_file,
    };
    translate_command_line(&arguments, &mut surroundings)
}

fn file(text: &str) -> Result<Jobs, Problems> {
    translated(&["a.fio"], &[("a.fio", text)])
}

fn line(arguments: &[&str]) -> Result<Jobs, Problems> {
    translated(arguments, &[])
}

fn problems(result: Result<Jobs, Problems>) -> Vec<String> {
    result.unwrap_err().0.iter().map(ToString::to_string).collect()
}

fn notes(jobs: &Jobs) -> String {
    jobs.notes.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}

#[test]
fn a_job_has_what_globals_above_it_say_and_its_own_values_before_theirs() {
    let jobs = file(
        "[global]\nioengine=libaio\ndirect=1\nsize=${SIZE}\nbs=4k\n[one]\nrw=randread\niodepth=32\n\
         [global]\nbs=8k\n[two]\nrw=write\ndirect=0\n",
    )
    .unwrap();
    let [one, two] = jobs.jobs.as_slice() else { panic!("{jobs:?}") };
    assert_eq!((one.name.as_str(), one.settings.engine, one.settings.submission.depth), ("one", Engine::Libaio, 32));
    assert_eq!(one.settings.files.size, Some(Extent::Bytes(ByteCount(2 << 30))));
    assert_eq!(one.settings.pattern.block_size, Directional::all(ByteCount(4096)));
    assert_eq!(two.settings.pattern.block_size, Directional::all(ByteCount(8192)));
    assert!(one.settings.submission.is_direct && !two.settings.submission.is_direct);
    let echo: Vec<_> = one.given.iter().map(|option| (option.name, option.value.as_deref())).collect();
    assert_eq!(echo, [("rw", Some("randread")), ("iodepth", Some("32"))]);
    assert!(jobs.global_options.iter().any(|option| option.name == "size" && option.value.as_deref() == Some("2g")));
}

#[test]
fn all_problems_are_told_at_once_with_line_column_and_what_to_write() {
    let text = "[global]\nsize=1.5g\nruntime = 2sec\n[x]\ndirecotry=/mnt\nrw=randrea\nzonemode=zbd\nhipri\n";
    let found = problems(file(text));
    let expected = [
        "a.fio:2:6: size: fio stops reading \"1.5g\" at the point and ignores the unit; write 1536m",
        "a.fio:3:11: runtime: fio reads \"2sec\" as microseconds, because it does not know \"sec\"; write 2s",
        "a.fio:5:1: there is no option \"direcotry\"; did you mean directory?",
        "a.fio:6:4: rw: \"randrea\" is not one of the possible words; did you mean randread? Possible are read, write, \
         randread, randwrite, rw, readwrite, randrw",
        "a.fio:7:1: zonemode is not possible: strided zones and zoned block devices are not supported; remove it",
        "a.fio:8:1: hipri belongs to the engine io_uring or pvsync2, and this one is psync; set ioengine before it, or \
         remove it",
    ];
    assert_eq!(found, expected);
}

#[test]
fn groups_are_counted_as_fio_counts_them() {
    let text = "[a]\nstonewall\n[b]\n[c]\nstonewall\nnumjobs=3\n[d]\nnew_group\n[e]\n";
    let jobs = file(text).unwrap();
    assert_eq!(jobs.jobs.iter().map(|job| job.group).collect::<Vec<_>>(), [0, 0, 1, 2, 2]);
    let jobs = translated(&["a", "b"], &[("a", "[one]\n[two]\n"), ("b", "[three]\n[four]\n")]).unwrap();
    assert_eq!(jobs.jobs.iter().map(|job| job.group).collect::<Vec<_>>(), [0, 0, 1, 1]);
    let walls: Vec<_> = jobs.jobs.iter().map(|job| job.settings.course.waits_for_all).collect();
    assert_eq!(walls, [false, false, true, false]);
}

#[test]
fn each_job_file_begins_with_nothing() {
    let files = [("a", "[global]\nbs=8k\n[one]\n"), ("b", "[two]\n")];
    let jobs = translated(&["a", "b", "--direct=1"], &files).unwrap();
    assert_eq!(jobs.jobs[0].settings.pattern.block_size.read, ByteCount(8192));
    assert_eq!(jobs.jobs[1].settings.pattern.block_size.read, ByteCount(4096));
    assert!(jobs.jobs[0].settings.submission.is_direct && !jobs.jobs[1].settings.submission.is_direct);
    assert!(notes(&jobs).contains("first job file only"), "{}", notes(&jobs));
    assert!(jobs.global_options.is_empty());
}

#[test]
fn sections_can_be_chosen() {
    let text = "[global]\nbs=8k\n[a]\n[b]\n";
    let jobs = translated(&["--section=b", "a.fio"], &[("a.fio", text)]).unwrap();
    assert_eq!(jobs.jobs.iter().map(|job| job.name.as_str()).collect::<Vec<_>>(), ["b"]);
    let found = problems(translated(&["--section=c", "a.fio"], &[("a.fio", text)]));
    assert!(found[0].contains("no job has the name of --section=c"), "{found:?}");
}

#[test]
fn command_lines_of_every_style_mean_the_same() {
    let expected =
        line(&["--name=x", "--size=1m", "--rw=randread", "--ioengine=libaio", "--time_based", "--runtime=5"]);
    let expected = expected.unwrap().jobs[0].settings.clone();
    for arguments in [
        &["--name", "x", "--size", "1m", "--rw", "randread", "--ioengine", "libaio", "--time_based", "--runtime", "5"]
            [..],
        &["-name=x", "-size=1m", "-rw=randread", "-ioengine=libaio", "-time_based", "-runtime=5"],
        &["--name=x", "--siz=1m", "--readwrite=randread", "--ioengin=libaio", "--time_based=1", "--timeout=5"],
        &["--size=1m", "--rw=randread", "--ioengine=libaio", "--time_based", "--runtime=5", "--name=x"],
        &[
            "--name=global",
            "--size=1m",
            "--name=x",
            "--rw=randread",
            "--ioengine=libaio",
            "--time_based",
            "--runtime=5s",
        ],
    ] {
        let jobs = line(arguments).unwrap_or_else(|problems| panic!("{arguments:?}: {problems}"));
        let mut settings = jobs.jobs[0].settings.clone();
        settings.name = Some("x".into());
        assert_eq!(settings, expected, "{arguments:?}");
        assert_eq!((jobs.jobs.len(), jobs.jobs[0].name.as_str()), (1, "x"));
    }
}

#[test]
fn options_around_a_job_file_are_global_and_the_file_goes_before_them() {
    let text = "[a]\nbs=8k\n";
    for arguments in [&["--bs=4k", "--size=1m", "a.fio"][..], &["a.fio", "--bs", "4k", "--size=1m"]] {
        let jobs = translated(arguments, &[("a.fio", text)]).unwrap();
        assert_eq!(jobs.jobs[0].settings.pattern.block_size.read, ByteCount(8192));
        assert_eq!(jobs.jobs[0].settings.files.size, Some(Extent::Bytes(ByteCount(1 << 20))));
        assert_eq!(jobs.global_options.len(), 2);
    }
}

#[test]
fn command_lines_are_refused_where_a_word_is_missing_or_unknown() {
    for (arguments, part) in [
        (&["--name=a", "--bs"][..], "--bs has no value"),
        (&["--name=a", "--bs", "--size=1m"], "--bs has no value"),
        (&["--name=a", "--o_direct=1"], "did you mean --direct?"),
        (&["--name=a", "--rate_=1"], "may be several options"),
        (&["--name=a", "--minimal=1"], "takes no value"),
        (&["--name=a", "--hipri", "--ioengine=io_uring"], "belongs to the engine"),
        (&["--client=host", "--name=a"], "one machine"),
        (&["--output-format=xml", "--name=a"], "not a format"),
        (&["--terse-version=9", "--name=a"], "write 2 to 5"),
        (&["--eta-newline=1sec", "--name=a"], "write 1s"),
        (&["--readonly", "--name=a", "--rw=write"], "--readonly is given"),
        (&["--name=a", "--rw=write", "--readonly"], "--readonly is given"),
        (&["none.fio"], "no such job file"),
        (&["--rw=read"], "no job is given"),
        (&[], "no job is given"),
    ] {
        let found = problems(line(arguments));
        assert!(found[0].contains(part), "{arguments:?}: {found:?}");
    }
    let jobs = line(&["--ioengine=io_uring", "--hipri", "--name=a"]).unwrap();
    assert!(jobs.jobs[0].settings.engine_options.polled);
}

#[test]
fn switches_are_apart_from_jobs() {
    let arguments =
        ["--output-format=json,normal", "-o", "out", "--status-interval=500ms", "--eta=never", "--name=a", "--to-plan"];
    let jobs = line(&[&arguments[..], &["--destroy", "/dev/x", "--no-history", "--max-jobs=3"]].concat()).unwrap();
    let switches = &jobs.switches;
    assert!(switches.formats.json && switches.formats.normal && !switches.formats.terse && switches.to_plan);
    assert_eq!(switches.output.as_deref(), Some("out"));
    assert_eq!(switches.status_interval, Some(Span::from_milliseconds(500)));
    assert_eq!((switches.destroys.as_slice(), switches.is_without_history), (&["/dev/x".to_owned()][..], true));
    assert!(notes(&jobs).contains("--max-jobs is ignored"));
    assert!(line(&["--version", "none.fio"]).unwrap().switches.question.is_some());
}

#[test]
fn overrides_go_before_everything_and_are_not_echoed() {
    let arguments = ["--override", "size=64m,bs=4k,8k,runtime=2", "a.fio"];
    let jobs = translated(&arguments, &[("a.fio", "[a]\nsize=20g\nruntime=600\n")]).unwrap();
    let job = &jobs.jobs[0];
    assert_eq!(job.settings.files.size, Some(Extent::Bytes(ByteCount(64 << 20))));
    assert_eq!(job.settings.pattern.block_size.write, ByteCount(8192));
    assert_eq!(job.settings.course.runtime, Some(Span::from_seconds(2)));
    assert_eq!(job.given.iter().find(|option| option.name == "size").unwrap().value.as_deref(), Some("20g"));
}

#[test]
fn an_override_with_at_most_lowers_what_is_above_it_and_leaves_the_rest() {
    let arguments = ["--override", "numjobs<=4,filesize<=1m,startdelay<=1,runtime<=2", "a.fio"];
    let text = "[global]\nnumjobs=9\n[a]\nstartdelay=3-5\nfilesize=2m\n[b]\nnumjobs=2\nfilesize=4k\n";
    let jobs = translated(&arguments, &[("a.fio", text)]).unwrap().jobs;
    let clones = jobs.iter().map(|job| job.settings.course.clones).collect::<Vec<_>>();
    assert_eq!(clones, [4, 2]);
    let sizes = jobs.iter().map(|job| job.settings.files.file_size.unwrap().high.0).collect::<Vec<_>>();
    assert_eq!(sizes, [1 << 20, 4096]);
    assert_eq!(jobs[0].settings.course.start_delay.unwrap().high, Span::from_seconds(1));
    assert_eq!(jobs[0].settings.course.runtime, None);
}

#[test]
fn within_a_directory_no_job_names_anything_outside() {
    let arguments = ["--within", "/tmp/try", "a.fio"];
    let text = "[a]\nfilename=/dev/sda:/dev/sdb\nsize=1m\n[b]\ndirectory=/mnt/x\nsize=1m\n";
    let jobs = translated(&arguments, &[("a.fio", text)]).unwrap().jobs;
    assert_eq!(*jobs[0].settings.files.names, ["/tmp/try/dev/sda", "/tmp/try/dev/sdb"]);
    assert_eq!(*jobs[1].settings.files.directories, ["/tmp/try/mnt/x"]);
}

#[test]
fn an_alignment_that_changes_no_places_is_taken() {
    for text in ["rw=write\nba=16k\n", "rw=randread\nba=4k\n", "rw=randread\nba=4k,16k\n"] {
        file(&format!("[x]\nsize=1m\n{text}")).unwrap_or_else(|problems| panic!("{text}: {problems}"));
    }
}

#[test]
fn options_that_contradict_each_other_are_told_with_their_place() {
    for (text, part) in [
        ("rate=1m\nrate_iops=5\n", "a.fio:3:1: rate_iops and rate are given at once"),
        ("rate_iops=5\nrate_iops_min=6\n", "a.fio:3:1: rate_iops_min is above rate_iops"),
        ("size=1k\n", "a.fio:2:1: size is 1KiB, which is smaller than a block of 4KiB"),
        ("wait_for=y\n", "a.fio:2:1: no job before this one is named \"y\""),
        ("wait_for=x\n", "waits for itself"),
        ("steadystate=iops:1%\nsteadystate_duration=1500ms\n", "write a multiple"),
        ("numjobs=4000\n[y]\nnumjobs=4000\n", "8000 jobs with their clones"),
        ("group_reporting\n[y]\ngroup_reporting\nlat_percentiles=1\n", "differs from others of its group"),
        ("verify=pattern\n", "has no pattern"),
        (
            "rw=randwrite\nba=16k\n",
            "a.fio:3:1: ba is 16KiB, and random places are multiples of the smallest block, which",
        ),
        ("rw=randread\nbs=16k\nba=4k\n", "leave ba out, or write blocks of that size"),
    ] {
        let found = problems(file(&format!("[x]\n{text}")));
        assert!(found.len() == 1 && found[0].contains(part), "{text}: {found:?}");
    }
}

#[test]
fn what_is_not_taken_literally_is_noted_once() {
    let text =
        "[global]\nnice=5\nsize=1GiB\ngtod_reduce=1\n[x]\ntime_based\niodepth=8\n[y]\nioengine=libaio\niodepth=4\n";
    let jobs = file(text).unwrap();
    let notes = notes(&jobs);
    for part in [
        "a.fio:2:1: nice is ignored",
        "a.fio:3:6: GiB in \"1GiB\" is 1000^3 = 1000000000 bytes",
        "a.fio:4:1: gtod_reduce is approximate",
        "a.fio:6:1: time_based has no effect without runtime (job \"x\")",
        "a.fio:7:1: iodepth=8 is 1 with the engine psync",
        "a.fio:10:1: libaio waits for each operation",
    ] {
        assert_eq!(notes.matches(part).count(), 1, "{part}\n{notes}");
    }
    assert!(!jobs.jobs[0].settings.course.is_time_based);
    let fatal = translated(&["--warnings-fatal", "a.fio"], &[("a.fio", "[x]\ntime_based\n")]);
    assert!(problems(fatal)[0].contains("time_based has no effect"));
}

#[test]
fn what_options_imply_is_put_in() {
    let jobs = file("[x]\nrw=randwrite\nrandom_distribution=zipf:1.2\nbuffer_compress_percentage=100\nverify=crc32c\n")
        .unwrap();
    let settings = &jobs.jobs[0].settings;
    assert!(settings.pattern.may_repeat_blocks && settings.content.is_zero && !settings.files.is_laid_out);
    assert_eq!(settings.content.is_refilled, Some(true));
    let jobs = file("[x]\nfilename=/tmp/a:/tmp/b\nnrfiles=7\npre_read=1\niodepth_batch=0\n").unwrap();
    let settings = &jobs.jobs[0].settings;
    assert_eq!((settings.files.count, settings.submission.batch), (2, 1));
    assert!(settings.files.is_laid_out && !settings.files.drops_cache);
}

#[test]
fn sizes_follow_the_base_that_the_same_section_gives_wherever_it_stands() {
    let jobs = file("[x]\nsize=1m\nkb_base=1000\n").unwrap();
    assert_eq!(jobs.jobs[0].settings.files.size, Some(Extent::Bytes(ByteCount(1_000_000))));
}

#[test]
fn variables_that_are_not_set_are_noted() {
    let jobs = file("[x]\nfilename=/tmp/x${NONE}\n").unwrap();
    assert!(notes(&jobs).contains("the variable NONE is not set"), "{}", notes(&jobs));
    let found = problems(file("[x]\nsize=${NONE}\n"));
    assert!(found[0].contains("the value is empty"), "{found:?}");
}

#[test]
fn a_job_file_is_shown_as_the_command_line_that_means_the_same() {
    let text = "[global]\nioengine=io_uring\nsize=1m\n[a b]\nhipri\nreadwrite=randrw\n[global]\nbs=8k\n[c]\nfilename=/tmp/it's\n";
    let shown = translated(&["--showcmd", "a.fio"], &[("a.fio", text)]).unwrap().command_lines;
    let expected = "fio --ioengine=io_uring --size=1m '--name=a b' --rw=randrw --hipri --name=global --bs=8k --name=c \
                    '--filename=/tmp/it'\\''s'";
    assert_eq!(shown, [expected]);
}

#[test]
fn a_waited_for_job_is_found() {
    let jobs = file("[a]\n[b]\nwait_for=a\n").unwrap();
    assert_eq!(jobs.jobs[1].waits_for, Some(0));
}

#[test]
fn input_without_end_is_refused_soon() {
    let many = |line: &str, times| format!("[x]\n{}", line.repeat(times));
    for text in [
        many("qqqqqqqqqqqq=1\n", 60_000),
        many("[y]\n", 10_000),
        many("bs=4k\n", 20_000),
        many("[globalx]\nbs=4k\n[y]\n", 20_000),
        many("x", 2 << 20),
        many("[\n", 100_000),
    ] {
        let found = problems(file(&text));
        assert!((1..=PROBLEMS_MAX).contains(&found.len()), "{}", found.len());
    }
    let words: Vec<String> = (0..9_000).map(|word| format!("--qqqq{word}")).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    assert!(problems(line(&words)).len() <= PROBLEMS_MAX);
}

#[test]
fn a_letter_may_have_its_value_behind_it() {
    let jobs = line(&["-Fjson", "-oout", "--name=a"]).unwrap();
    assert!(jobs.switches.formats.json && !jobs.switches.formats.normal);
    assert_eq!(jobs.switches.output.as_deref(), Some("out"));
    // What has a = is a name that is not known, and what begins a name is that.
    assert!(problems(line(&["-offet=4k", "--name=a"]))[0].contains("did you mean --offset?"));
    assert!(problems(line(&["-outp", "out", "--name=a"]))[0].contains("may be several options"));
}

#[test]
fn engines_have_the_other_names_that_fio_knows() {
    for name in ["libaio", "linuxaio", "aio", "aio_linux"] {
        let option = format!("--ioengine={name}");
        let jobs = line(&["--name=a", &option, "--userspace=1"]).unwrap();
        assert_eq!(jobs.jobs[0].settings.engine, Engine::Libaio, "{name}");
    }
    assert!(line(&["--name=a", "--ioengine=libaio2"]).is_err());
}

#[test]
fn advice_that_nothing_is_read_again_is_noted() {
    let jobs = file("[a]\nsize=1m\nfadvise_hint=noreuse\n").unwrap();
    assert!(notes(&jobs).contains("the kernel is told nothing instead of noreuse"), "{}", notes(&jobs));
}

#[test]
fn a_single_share_may_have_its_sign() {
    let percent = |text: &str| file(&format!("[a]\nsize=1m\nlatency_percentile={text}\n")).map(|_| ());
    assert_eq!((percent("99%").is_ok(), percent("101%").is_ok(), percent("99x").is_ok()), (true, false, false));
    assert!(file("[a]\nsize=1m\npercentile_list=99%:50\n").is_err());
}
