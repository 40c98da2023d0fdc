//! Names for the cells of a run: each workload has one of its own, the same on every target.

use std::collections::BTreeMap;

use super::{BlockPlan, names};
use crate::workload::Workload;

/// A name for a workload of blocks that has none: `randread 4KiB QD32`.
pub(super) fn describe(plan: &BlockPlan) -> String {
    if plan.name_operation().is_some() {
        return names::describe(plan);
    }
    let mut name = plan.rw.as_str().to_owned();
    if plan.rw.is_mixed() {
        name += &format!(" {}% read", plan.read_percent);
    }
    if plan.random_percent != if plan.rw.is_random() { 100 } else { 0 } {
        name += &format!(" {}% random", plan.random_percent);
    }
    name += &format!(" {}", if plan.reads() { &plan.read_block_sizes } else { &plan.write_block_sizes });
    name += &format!(" QD{}", plan.queue_depth);
    if plan.jobs > 1 {
        name += &format!(" x{}", plan.jobs);
    }
    name
}

/// Makes labels unique. Workloads that would have the same one get what they ask for and the others do not, in the
/// words of the flags; those that ask for the very same are numbered.
pub(super) fn told_apart(mut labels: Vec<String>, workloads: &[Workload]) -> Vec<String> {
    for alike in groups(&labels) {
        let settings: Vec<_> = alike.iter().map(|index| workloads[*index].settings()).collect();
        for (number, index) in alike.iter().enumerate() {
            for (position, (flag, value)) in settings[number].iter().enumerate() {
                if flag != "name" && settings.iter().any(|others| others[position].1 != *value) {
                    labels[*index] += &particular(flag, value);
                }
            }
        }
    }
    for alike in groups(&labels) {
        let mut number = 1;
        for index in alike.into_iter().skip(1) {
            labels[index] = loop {
                number += 1;
                let numbered = format!("{} #{number}", labels[index]);
                if !labels.contains(&numbered) {
                    break numbered;
                }
            };
        }
    }
    labels
}

/// The places of labels that are there more than once.
fn groups(labels: &[String]) -> Vec<Vec<usize>> {
    let mut places = BTreeMap::<&str, Vec<usize>>::new();
    for (index, label) in labels.iter().enumerate() {
        places.entry(label).or_default().push(index);
    }
    places.into_values().filter(|alike| alike.len() > 1).collect()
}

/// What a label says of a parameter; nothing when the workload leaves it open.
fn particular(flag: &str, value: &str) -> String {
    match value {
        "" => String::new(),
        "true" => format!(" {flag}"),
        "false" => format!(" not {flag}"),
        value => format!(" {flag} {value}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(label: &str, workloads: &[&str]) -> Vec<String> {
        let workloads: Vec<Workload> = workloads.iter().map(|text| toml::from_str(text).unwrap()).collect();
        told_apart(vec![label.to_owned(); workloads.len()], &workloads)
    }

    #[test]
    fn a_label_says_what_the_others_do_not_ask_for() {
        assert_eq!(
            labels("randwrite", &["", "buffered = true", "sync = 'dsync'", "fsync = 8", "write_block_size = '8k'"]),
            [
                "randwrite",
                "randwrite buffered",
                "randwrite sync dsync",
                "randwrite fsync 8",
                "randwrite write-block-size 8KiB"
            ]
        );
        assert_eq!(
            labels("randread", &["random_percent = 50", "random_percent = 20", "rate = 5000\narrival = 'poisson'"]),
            ["randread random-percent 50%", "randread random-percent 20%", "randread rate 5000/s arrival poisson"]
        );
    }

    #[test]
    fn what_all_have_in_common_is_not_said() {
        assert_eq!(
            labels("read", &["size = '1G'\nbatch = 4", "size = '1G'\nbatch = 8\nbuffered = false"]),
            ["read batch 4", "read not buffered batch 8"]
        );
        assert_eq!(labels("read", &["name = 'read'", "loops = 3"]), ["read", "read loops 3"]);
    }

    #[test]
    fn access_that_is_random_in_part_says_so() {
        let of = |text: &str| {
            let target = crate::plan::tests::directory();
            let plan = crate::plan::tests::one(&target, &toml::from_str(text).unwrap()).unwrap();
            describe(&plan.work.into_blocks().unwrap())
        };
        assert_eq!(of("rw = 'randread'"), "randread 4KiB QD1");
        assert_eq!(of("rw = 'randread'\nrandom_percent = 0"), "randread 0% random 4KiB QD1");
        assert_eq!(of("rw = 'rw'\nrandom_percent = 30\njobs = 2"), "rw 50% read 30% random 4KiB QD1 x2");
    }

    #[test]
    fn the_same_workload_twice_is_numbered() {
        assert_eq!(labels("read", &["jobs = 2", "jobs = 2"]), ["read", "read #2"]);
        let (named, same) = (["a", "a", "a #2"].map(str::to_owned), vec![Workload::default(); 3]);
        assert_eq!(told_apart(named.to_vec(), &same), ["a", "a #3", "a #2"]);
    }
}
