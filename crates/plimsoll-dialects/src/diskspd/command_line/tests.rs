//! What lines of diskspd mean, and what is wrong with others.

use super::{
    super::{
        flags::FLAGS,
        profile::{Content, Flush, Priority, Processor, Rate},
        write_profile,
    },
    *,
};
use crate::support::Support;

pub(crate) fn parse(line: &str) -> Result<Asked, Problems> {
    let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
    let mut read_file = |name: &str| match name {
        "profile.xml" => Ok(Some(write_profile(&parsed("-b8K -d7 -Rxml *1").profile))),
        "broken" => Err("Input/output error".to_owned()),
        _ => Ok(None),
    };
    translate(&words, &mut Surroundings { fresh_seed: 77, read_file: &mut read_file })
}

fn parsed(line: &str) -> Asked {
    // A profile with places for targets is shown and not done.
    let line = if line.contains('*') { format!("-Rp {line}") } else { line.to_owned() };
    parse(&line).unwrap_or_else(|problems| panic!("{line}: {problems}"))
}

/// The only target of a line.
fn target(line: &str) -> Target {
    let mut spans = parsed(line).profile.spans;
    spans.remove(0).targets.remove(0)
}

fn problems(line: &str) -> String {
    parse(line).map_or_else(|problems| problems.to_string(), |asked| format!("taken: {asked:?}"))
}

#[test]
fn every_flag_has_an_example_that_says_something_or_is_refused() {
    let without = parsed("f").profile;
    for flag in FLAGS {
        assert!(!flag.help.is_empty() && !flag.help.ends_with('.'), "{}", flag.form);
        let outcome = parse(&format!("{} f", flag.example));
        match flag.support {
            Support::Refused(reason) if flag.apply.is_none() => {
                assert!(outcome.unwrap_err().to_string().contains(reason), "{}", flag.form);
            }
            _ if flag.form.starts_with("-X") => {
                assert_eq!(outcome.unwrap().profile.spans[0].targets[0].path, "f", "it is the place of *1");
            }
            _ => {
                let asked = outcome.unwrap_or_else(|problems| panic!("{}: {problems}", flag.form));
                let is_default = matches!(flag.example, "-ag" | "-Sb" | "-W5");
                let says = asked.profile != without || asked.action != Action::Run;
                assert_eq!(says, !is_default, "{} says nothing", flag.example);
            }
        }
    }
}

#[test]
fn the_line_of_the_containers_means_what_it_says() {
    let asked = parsed("-c1G -d30 -r -w0 -t8 -o8 -b4K -Sh -L /disk/file");
    let span = &asked.profile.spans[0];
    assert_eq!((span.duration_s, span.warmup_s, span.measures_latency), (30, 5, true));
    let expected = Target {
        path: "/disk/file".to_owned(),
        block_size: 4096,
        file_size: Some(1 << 30),
        access: Access::Random { alignment: None, percent: 100, distribution: None },
        cache: Cache::None,
        writes_through: true,
        threads: 8,
        depth: 8,
        ..Target::default()
    };
    assert_eq!(span.targets, [expected]);
    assert!(asked.notes.is_empty(), "{:?}", asked.notes);
}

#[test]
fn values_are_where_they_belong() {
    assert_eq!(target("-B1M:8M f").max_offset, 9 << 20);
    assert_eq!(target("-f8b -b4K f").max_offset, 32 << 10);
    assert_eq!(target("-g500i f").rate, Some(Rate::Iops(500)));
    assert_eq!(target("-g500 f").rate, Some(Rate::BytesPerMillisecond(500)));
    assert_eq!(target("-I1 f").priority, Priority::VeryLow);
    assert_eq!(target("-Sm -Nv f").flush, Some(Flush::View));
    assert_eq!(target("-Z1M,a,b f").content, Content::Buffer { size: 1 << 20, file: Some("a,b".to_owned()) });
    assert_eq!(target("-s4K -b4K f").access, target("-b4K f").access);
    assert_eq!(target("-rs100 -r f").access, target("-r f").access);
    assert!(target("-frs f").hints_random && target("-fsr f").hints_sequential);
    assert_eq!(parsed("-a0,1 -ag0,3 f").profile.spans[0].affinity[2], Processor { group: 0, number: 3 });
    assert_eq!(parsed("-z f").profile.spans[0].seed, 77);
    assert_eq!(parsed("a b c").profile.spans[0].targets.len(), 3);
    for word in ["-Suw", "-Swu", "-Sh", "-h"] {
        let target = target(&format!("{word} f"));
        assert_eq!((target.cache, target.writes_through), (Cache::None, true), "{word}");
    }
}

#[test]
fn what_contradicts_itself_is_refused_where_it_stands() {
    for (line, expected) in [
        ("", "word 1: there is no target"),
        ("-b4K f -r", "word 3: -r stands behind a target"),
        ("-d1m f", "word 1: -d<seconds>: \"1m\" is not a whole number"),
        ("-b 4K f", "word 1: -b<size>: there is no size"),
        ("-s -r f", "word 2: -r[align]: sequential access (-s) contradicts random access"),
        ("-rs50 -s f", "contradicts random access"),
        ("-r -r f", "-r is given twice"),
        ("-rs50 -rs50 f", "-rs is given twice"),
        ("-rs f", "\"\" is not a percentage"),
        ("-rs0 f", "write a number from 1 to 100"),
        ("-rdpct50/50 f", "there are none; write -r as well"),
        ("-r -rdpct50/100 f", "cover the target before all operations"),
        ("-r -rdpct60/50:60/50 f", "120 of a hundred operations"),
        ("-r -rdabs50/512:50/1G f", "shorter than a block"),
        ("-r0 f", "multiples of 0"),
        ("-r -T1M -t2 f", "word 2: -T says where sequences begin, and access is random"),
        ("-si -T1M -t2 f", "with -si there is one"),
        ("-T1M f", "how far threads begin apart, and there is one"),
        ("-F2 -t2 f", "word 1: -F is the number of threads in all"),
        ("-O4 f", "there is no -F"),
        ("-i5 f", "word 1: -i says how many"),
        ("-j5 f", "word 1: -i says how many operations there are between pauses"),
        ("-F2 -O4 -g500 f", "-g cannot be given with -O"),
        ("-x -g500 f", "-g cannot be given with -x"),
        ("-n -a0 f", "-n says that threads are not bound"),
        ("-Nv f", "-N is about mapped memory"),
        ("-Sum f", "-Sm contradicts"),
        ("-Sm -Su f", "-Su contradicts"),
        ("-Sbu f", "-Su contradicts"),
        ("-Sww f", "-Sw contradicts"),
        ("-Sx f", "write -S, -Sb, -Sh"),
        ("-Sux f", "there is no flag \"-Sux\""),
        ("-h -Sw f", "-Sw contradicts"),
        ("-Z1K -b4K f", "smaller than a block"),
        ("-f1M -B2M f", "would end before they begin"),
        ("-f1M -B0:2M f", "said twice"),
        ("-B0 -B0 f", "-B is given twice"),
        ("-w f", "write -w<percentage>"),
        ("-w101 f", "write a number from 0 to 100"),
        ("-Rjson f", "\"json\" is not a format"),
        ("-Qx f", "there is no flag \"-Qx\"; plimsoll diskspd -? prints all"),
        ("--jsn f", "did you mean --json?"),
        ("--history", "--history has no value"),
        ("-Xnone *1", "there is no file none"),
        ("-Xbroken f", "broken cannot be read: Input/output error"),
        ("-b4K -Xprofile.xml f", "word 1: an XML profile says this itself"),
        ("-Xprofile.xml", "*1 stands for a target of the command line, and there is none"),
        ("-Xprofile.xml a b", "b has no place in the XML profile"),
        ("*1", "*1 stands for a target"),
        ("-eDISK_IO f", "Event Tracing"),
    ] {
        let said = problems(line);
        assert!(said.contains(expected), "{line}: {said}");
    }
}

#[test]
fn all_problems_are_told_at_once() {
    assert_eq!(problems("-d1m -w200 -Qx f").lines().count(), 3);
}

#[test]
fn a_profile_gives_way_to_times_seeds_and_formats_of_the_command_line() {
    let asked = parsed("-Xprofile.xml -d3 -W1 -z9 -Rtext /dev/sdb");
    let span = &asked.profile.spans[0];
    assert_eq!((span.duration_s, span.warmup_s, span.seed), (3, 1, 9));
    assert_eq!((asked.profile.format, span.targets[0].block_size), (ResultFormat::Text, 8192));
    assert_eq!(span.targets[0].path, "/dev/sdb");
}

#[test]
fn what_may_be_meant_otherwise_is_noted() {
    for (line, expected) in [
        ("f", "through the page cache"),
        ("-Su -t2 f", "each thread goes through the whole target"),
        ("-Su -si f", "-si changes nothing for one thread"),
    ] {
        let notes = parsed(line).notes;
        assert!(notes.iter().any(|note| note.text.contains(expected)), "{line}: {notes:?}");
    }
    assert!(parsed("-Sb f").notes.is_empty());
}

#[test]
fn no_length_of_intervals_is_the_usual_one() {
    let length = |line: &str| parsed(line).profile.spans[0].bucket_ms;
    assert_eq!([length("-D -c1M a"), length("-D0 -c1M a"), length("-D2000 -c1M a")], [1000, 1000, 2000]);
}
