//! Profiles that are written and read back.

use proptest::prelude::*;

use super::{
    super::{Action, Surroundings, flags::FLAGS, translate},
    *,
};

/// Words that may stand together; a few of them contradict each other, and are left out then.
fn words() -> impl Strategy<Value = Vec<String>> {
    let number = |flag: &'static str, range: std::ops::Range<u32>| {
        prop::option::of(range.prop_map(move |number| format!("{flag}{number}")))
    };
    let any = |words: &'static [&'static str]| prop::option::of(prop::sample::select(words).prop_map(str::to_owned));
    let access = prop_oneof![
        Just(vec!["-r".to_owned()]),
        Just(vec!["-r512".to_owned()]),
        (1_u32..101).prop_map(|share| vec!["-r8K".to_owned(), format!("-rs{share}")]),
        Just(vec!["-r".to_owned(), "-rdpct90/10:0/10:5/20".to_owned()]),
        Just(vec!["-r".to_owned(), "-rdabs90/10G:0/10G:5/20G".to_owned()]),
        Just(vec!["-si".to_owned()]),
        (0_u32..300).prop_map(|stride| vec![format!("-s{stride}K")]),
        Just(vec!["-t4".to_owned(), "-T1M".to_owned()]),
        Just(Vec::new()),
    ];
    let pace = prop_oneof![
        Just(Vec::new()),
        (1_u32..9999).prop_map(|rate| vec![format!("-g{rate}")]),
        (1_u32..9999).prop_map(|rate| vec![format!("-g{rate}i")]),
        Just(vec!["-i10".to_owned(), "-j5".to_owned()]),
        Just(vec!["-F3".to_owned(), "-O6".to_owned()]),
    ];
    let sizes =
        (number("-b", 1..9_000_000), number("-B", 0..5000), number("-f", 6000..u32::MAX), any(&["-c1G", "-c8b"]));
    let times = (number("-d", 1..9999), number("-W", 0..9999), number("-C", 0..9999), number("-z", 0..u32::MAX));
    let caches = any(&["-S", "-Sb", "-Sh", "-Suw", "-Sbw", "-Sr", "-Sw", "-h", "-Sm", "-Smw"]);
    let others = (
        any(&["-D", "-D500"]),
        any(&["-Z", "-Zr", "-Z9M", "-Z9M,/dev/urandom"]),
        any(&["-a0,1,2", "-ag0,0,1,g1,0", "-n", "-ag"]),
        any(&["-fr", "-frs", "-fst"]),
        any(&["-I1", "-I2", "-I3"]),
        any(&["-L", "-l", "-x", "-v", "-vs", "-P", "-:1", "-Rxml", "-Rtext", "-p"]),
    );
    (access, pace, sizes, times, caches, others, number("-o", 1..9999), number("-w", 0..101), 1_usize..4).prop_map(
        |(access, pace, sizes, times, cache, others, depth, writes, targets)| {
            let mut words = [access, pace].concat();
            let single = [
                sizes.0, sizes.1, sizes.2, sizes.3, times.0, times.1, times.2, times.3, cache, others.0, others.1,
                others.2, others.3, others.4, others.5, depth, writes,
            ];
            words.extend(single.into_iter().flatten());
            words.extend((0..targets).map(|index| format!("/mnt/a & <b>/{index}.dat").replace(' ', "_")));
            words
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, max_global_rejects: 100_000, ..ProptestConfig::default() })]

    #[test]
    fn a_command_line_means_the_same_as_its_profile(words in words()) {
        let mut none = |_: &str| Ok(None);
        let asked = translate(&words, &mut Surroundings { fresh_seed: 5, read_file: &mut none });
        prop_assume!(asked.is_ok());
        let asked = asked.unwrap();
        let text = write(&asked.profile);
        let (read_back, lines) = read(&text, "profile.xml").map_err(|problems| TestCaseError::fail(problems.to_string()))?;
        prop_assert_eq!(&read_back, &asked.profile, "{}", text);
        prop_assert_eq!(&write(&read_back), &text);
        prop_assert_eq!(lines[0].len(), asked.profile.spans[0].targets.len());
        // And back: the same as a command line with the file.
        let mut file = |_: &str| Ok(Some(text.clone()));
        let through = translate(&["-Xp.xml".to_owned()], &mut Surroundings { fresh_seed: 5, read_file: &mut file });
        prop_assert_eq!(through.unwrap().profile, asked.profile);
    }

    #[test]
    fn no_text_makes_the_reader_panic(text in "(<(/?)(Profile|TimeSpans|TimeSpan|Targets|Target|Path|Random|Range)>|[a-z0-9<>&; \n]){0,60}") {
        let _ = read(&text, "profile.xml");
    }
}

#[test]
fn a_profile_is_written_as_diskspd_writes_it() {
    let words = ["-c1G", "-d30", "-r", "-rdpct90/10:5/5", "-w50", "-t8", "-o8", "-b4K", "-Sh", "-L", "-a0,1", "f.dat"];
    let words: Vec<String> = words.map(str::to_owned).into();
    let mut none = |_: &str| Ok(None);
    let asked = translate(&words, &mut Surroundings { fresh_seed: 5, read_file: &mut none }).unwrap();
    assert_eq!(asked.action, Action::Run);
    insta::assert_snapshot!(write(&asked.profile));
}

#[test]
fn what_is_wrong_with_a_profile_is_told_with_its_line() {
    let whole = |inside: &str| {
        format!(
            "<Profile>\n<TimeSpans>\n<TimeSpan>\n<Targets>\n<Target>\n<Path>a</Path>\n{inside}\n</Target>\n</Targets>\n\
             </TimeSpan>\n</TimeSpans>\n</Profile>"
        )
    };
    assert!(read(&whole(""), "p").is_ok());
    for (inside, line, expected) in [
        ("<BlockSise>1</BlockSise>", 7, "did you mean <BlockSize>?"),
        ("<BlockSize>4K</BlockSize>", 7, "not a whole number"),
        ("<BlockSize>0</BlockSize>", 7, "is 0"),
        ("<WriteRatio>101</WriteRatio>", 7, "write 0 to 100"),
        ("<Path>b</Path>", 7, "stands twice"),
        ("<Random>4096</Random><StrideSize>1</StrideSize>", 5, "contradict"),
        ("<Throughput unit=\"MBPS\">4</Throughput>", 7, "\"MBPS\""),
        ("<Distribution><Percent/></Distribution>", 7, "has no ranges"),
        ("<WriteThrough>yes</WriteThrough>", 7, "write true, false, 1, 0"),
        ("<IOPriority>4</IOPriority>", 7, "cannot be \"4\""),
    ] {
        let problems = read(&whole(inside), "p.xml").unwrap_err().to_string();
        assert!(problems.starts_with(&format!("p.xml:{line}:")), "{inside}: {problems}");
        assert!(problems.contains(expected), "{inside}: {problems}");
    }
    for (text, expected) in [
        ("", "there is no element"),
        ("<Profile>", "this is not XML"),
        ("<Results/>", "begins with <Profile>, and this with <Results>"),
        ("<Profile/>", "there are no <TimeSpans>"),
        ("<Profile><TimeSpans/></Profile>", "<TimeSpans> is empty"),
        ("<Profile><ETW/><TimeSpans><TimeSpan/></TimeSpans></Profile>", "no Event Tracing"),
    ] {
        let problems = read(text, "p.xml").unwrap_err().to_string();
        assert!(problems.contains(expected), "{text}: {problems}");
    }
}

#[test]
fn every_flag_that_a_profile_can_say_survives_it() {
    let mut none = |_: &str| Ok(None);
    for flag in FLAGS.iter().filter(|flag| flag.apply.is_some() && !flag.form.starts_with("-X")) {
        let mut words: Vec<String> = flag.example.split(' ').map(str::to_owned).collect();
        words.push("f".to_owned());
        let asked = translate(&words, &mut Surroundings { fresh_seed: 5, read_file: &mut none }).unwrap();
        if asked.action == Action::Help {
            continue;
        }
        let (profile, _) = read(&write(&asked.profile), "p").unwrap();
        assert_eq!(profile, asked.profile, "{}", flag.example);
    }
}
