//! Names for the cells of a run: each workload has one of its own, the same on every target.

use std::collections::BTreeMap;

use crate::workload::Workload;

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
    fn the_same_workload_twice_is_numbered() {
        assert_eq!(labels("read", &["jobs = 2", "jobs = 2"]), ["read", "read #2"]);
        let (named, same) = (["a", "a", "a #2"].map(str::to_owned), vec![Workload::default(); 3]);
        assert_eq!(told_apart(named.to_vec(), &same), ["a", "a #3", "a #2"]);
    }
}
