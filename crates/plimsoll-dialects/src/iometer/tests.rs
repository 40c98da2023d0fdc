//! Configurations as Iometer saves them, and what becomes of them.

use proptest::prelude::*;

use super::*;

/// A configuration with these specifications and workers (outstanding operations, assigned specification).
fn configuration(specifications: &[(&str, &[&str])], workers: &[(u32, &str)]) -> String {
    let mut text =
        "Version 1.1.0 \n'TEST SETUP ====\n'Test Description\n\ta test\n'Run Time\n'\thours      minutes    \
                    seconds\n\t0          1          30\n'Ramp Up Time (s)\n\t10\n'END test setup\n\
                    'ACCESS SPECIFICATIONS ====\n"
            .to_owned();
    for (name, lines) in specifications {
        text += &format!("'Access specification name,default assignment\n\t{name},DISK\n");
        text += &format!("'size,% of size,% reads,% random,delay,burst,align,reply\n\t{}\n", lines.join("\n\t"));
    }
    text += "'END access specifications\n'MANAGER LIST ====\n'Manager ID, manager name\n\t1,HOST\n";
    for (index, (outstanding, assigned)) in workers.iter().enumerate() {
        text += &format!(
            "'Worker\n\tWorker {index}\n'Worker type\n\tDISK\n'Default target settings for worker\n'Number of outstanding \
             IOs,test connection rate,transactions per connection,use fixed seed,fixed seed value\n\
             \t{outstanding},DISABLED,1,DISABLED,0\n'Disk maximum size,starting sector,Data pattern\n\t2097152,0,0\n\
             'End default target settings for worker\n'Assigned access specs\n\t{assigned}\n'End assigned access specs\n"
        );
    }
    text + "'END manager list\nVersion 1.1.0 \n"
}

fn translated(text: &str) -> Translation {
    translate("lab.icf", text).unwrap()
}

fn as_text(workload: &Workload) -> String {
    toml::to_string(workload).unwrap().replace('\n', " ").trim_end().to_owned()
}

#[test]
fn a_specification_is_a_workload_with_what_workers_agree_in() {
    let text = configuration(&[("Database", &["8192,100,67,100,0,1,0,0"])], &[(32, "Database"), (32, "Database")]);
    let Translation { workloads, notes } = translated(&text);
    assert_eq!(notes, []);
    assert_eq!(
        workloads.iter().map(as_text).collect::<Vec<_>>(),
        [
            "name = \"Database\" rw = \"randrw\" read_percent = \"67%\" block_size = \"8KiB\" queue_depth = 32 jobs = 2 size = \
          \"1GiB\" ramp = \"10s\" duration = \"90s\""
        ]
    );
    // Windows ends lines differently.
    assert_eq!(translated(&text.replace('\n', "\r\n")).workloads, workloads);
}

#[test]
fn sizes_of_reads_and_writes_are_apart_where_their_shares_differ() {
    let lines = ["512,10,80,100,0,1,0,0", "4096,60,80,100,0,1,0,0", "65536,30,80,100,0,1,0,0"];
    let of = |lines: &[&str]| as_text(&translated(&configuration(&[("mix", lines)], &[])).workloads[0]);
    let setup = "ramp = \"10s\" duration = \"90s\"";
    assert_eq!(
        of(&lines),
        format!("name = \"mix\" rw = \"randrw\" read_percent = \"80%\" block_size = \"512B/1:4KiB/6:64KiB/3\" {setup}")
    );
    // Reads are 4 KiB, and one write in four is 64 KiB.
    assert_eq!(
        of(&["4096,75,100,0,0,1,0,0", "65536,25,0,0,0,1,0,0"]),
        format!(
            "name = \"mix\" rw = \"rw\" read_percent = \"75%\" block_size = \"4KiB\" write_block_size = \"64KiB\" {setup}"
        )
    );
    assert_eq!(
        of(&["4096,100,0,30,5,8,0,0"]),
        format!(
            "name = \"mix\" rw = \"randwrite\" random_percent = \"30%\" block_size = \"4KiB\" think_time = \"5ms/8\" {setup}"
        )
    );
}

#[test]
fn what_is_not_literal_is_noted_and_what_no_workload_says_is_refused() {
    let notes = |lines: &[&str]| {
        let notes = translated(&configuration(&[("mix", lines)], &[(1, "mix"), (2, "mix")])).notes;
        notes.into_iter().map(|note| note.to_string()).collect::<Vec<_>>().join("\n")
    };
    let all = notes(&["4096,33,100,0,0,1,512,9", "8192,67,50,0,0,1,512,0"]);
    for words in
        ["66.50 % of its operations are reads, which is taken for 67", "align 512", "replies are those of a network"]
    {
        assert!(all.contains(words), "{words} is not in {all}");
    }
    assert!(all.contains("lab.icf:1:1: workers differ in \"Number of outstanding IOs\""), "{all}");

    let refused = |text: &str| translate("lab.icf", text).unwrap_err().to_string();
    let mixed = configuration(&[("All in one", &["4096,50,100,100,0,1,0,0", "4096,50,100,0,0,1,0,0"])], &[]);
    assert_eq!(
        refused(&mixed),
        "lab.icf:16:1: \"All in one\": its lines differ in % random, which a workload says once for all sizes; split it \
         into specifications that agree in it"
    );
    assert!(refused("[global]\nrw=read\n").starts_with("lab.icf:1:1: it is no configuration of Iometer"));
    assert!(refused(&configuration(&[("torn", &["4096,100,67"])], &[])).contains("eight numbers"));
    assert!(refused(&configuration(&[("a", &["4096,100,67,100,0,1,0,0"])], &[(1, "b")])).contains("is assigned \"b\""));
    assert!(refused(&configuration(&[], &[])).contains("it has no access specification"));
    assert!(refused(&configuration(&[("Idle", &["0,100,0,0,0,1,0,0"])], &[])).contains("asks for any operation"));
}

proptest! {
    #[test]
    fn no_configuration_makes_the_reader_panic(
        text in "('Access specification name,default assignment\n|name,DISK\n|'size,% of size\n|[0-9,]{1,30}\n|'Worker type\n|DISK\n|'Assigned access specs\n|'Run Time\n|\n){0,40}"
    ) {
        if let Ok(Translation { workloads, .. }) = translate("lab.icf", &format!("Version 1.1.0 \n{text}")) {
            prop_assert!(!workloads.is_empty());
        }
    }
}
