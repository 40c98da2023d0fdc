//! What is refused of a plan before its targets are there: for whoever has it done where nobody can look yet.

use std::path::PathBuf;

use plimsoll_io::write_guard::Refusal;
use plimsoll_workload::{
    plan::Plan,
    target_facts::{TargetFacts, TargetKind},
};

use crate::{layout::LayoutError, run, run::RunError, site};

/// Refuses a plan that no target of which this much is known can have done. Directories are empty as far as they say
/// what is free, and of devices only those of `destroy` may be written to.
///
/// # Errors
/// As a run of it would have.
pub fn check(plan: &Plan, targets: &[TargetFacts], destroy: &[String]) -> Result<(), RunError> {
    run::check_time(plan)?;
    let mut devices = targets.iter().filter(|target| target.kind == TargetKind::Device);
    let is_written = |name: &str| plan.cells.iter().any(|cell| cell.target == name && cell.work.writes());
    if let Some(device) = devices.find(|device| is_written(&device.name) && !destroy.contains(&device.name)) {
        return Err(Refusal::NotNamed(PathBuf::from(&device.name)).into());
    }
    let is_directory = |name: &str| targets.iter().any(|target| target.name == name && target.kind.is_directory());
    site::checks::check_verification(plan, is_directory, |_| false)?;
    let kind = |name: &str| {
        let target = targets.iter().find(|target| target.name == name);
        target.map_or(TargetKind::Directory, |target| target.kind)
    };
    site::check_layouts(plan, kind, |_| false)?;
    for TargetFacts { name, free_bytes, .. } in targets {
        let needed_bytes = site::bytes_of_files(plan, name);
        if let Some(free_bytes) = free_bytes.filter(|free| *free < needed_bytes) {
            let path = PathBuf::from(name);
            return Err(RunError::Layout(LayoutError::NoSpace { path, needed_bytes, free_bytes }));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use plimsoll_workload::{certainty::Certainty, settings::Effort, workload::Workload};

    use super::*;

    fn refusal(kind: TargetKind, bytes: u64, workloads: &[&str], certainty: Certainty) -> Option<String> {
        let (size_bytes, free_bytes) =
            if kind == TargetKind::Device { (Some(bytes), None) } else { (None, Some(bytes)) };
        let targets =
            [TargetFacts { name: "slow".to_owned(), kind, size_bytes, free_bytes, direct_alignment_bytes: Some(1) }];
        let workloads: Vec<Workload> = workloads.iter().map(|workload| toml::from_str(workload).unwrap()).collect();
        let plan = Plan::resolve(&targets, &workloads, &certainty, 7).unwrap();
        check(&plan, &targets, &["slow".to_owned()]).err().map(|error| error.to_string())
    }

    #[test]
    fn files_that_fit_one_by_one_and_not_together_are_refused() {
        let usual = Certainty::of(Effort::Standard);
        let refused = |workload: &str| refusal(TargetKind::Directory, 8 << 30, &[workload, workload], usual);
        let why = refused("rw = 'write'\nsize = '6GiB'\nverify = true").unwrap();
        assert!(why.contains("12GiB needed, 8GiB free"), "{why}");
        assert_eq!(refused("rw = 'write'\nsize = '6GiB'"), None, "both have the same file");
        let layouts = ["empty", "written"].map(|layout| format!("rw = 'write'\nsize = '6GiB'\nlayout = '{layout}'"));
        let why = refusal(TargetKind::Directory, 8 << 30, &layouts.each_ref().map(String::as_str), usual).unwrap();
        assert!(why.contains("12GiB needed, 8GiB free"), "what is empty at first is written too: {why}");
    }

    #[test]
    fn a_file_that_workloads_want_to_find_in_different_ways_is_refused_in_any_order() {
        let usual = Certainty::of(Effort::Standard);
        let named = |layout: &str, names: &str| {
            format!("rw = 'write'\nsize = '1MiB'\nlayout = '{layout}'\nfile_names = [{names}]")
        };
        let refused = |kind, workloads: [&str; 2]| refusal(kind, 8 << 30, &workloads, usual);
        let [empty, allocated, other] = [named("empty", "'x'"), named("allocated", "'x'"), named("written", "'y'")];
        for workloads in [[&*empty, &*allocated], [&*allocated, &*empty]] {
            let why = refused(TargetKind::Directory, workloads).unwrap();
            assert!(why.contains("\"slow/x\"") && why.contains("empty") && why.contains("allocated"), "{why}");
        }
        assert_eq!(refused(TargetKind::Directory, [&empty, &other]), None);
        assert_eq!(refused(TargetKind::Directory, [&empty, &empty]), None);
        let [zeros, random] = ["zero", "random"].map(|payload| format!("rw = 'read'\npayload = '{payload}'"));
        let why = refused(TargetKind::File, [&zeros, &random]).unwrap();
        assert!(why.contains("wants it filled with payload zero, another filled with payload random"), "{why}");
        assert_eq!(refused(TargetKind::File, [&zeros, &zeros]), None);
        let [zeros, random] = [zeros, random].map(|workload| workload + "\nsize = '1MiB'\nfile_names = ['x']");
        assert_eq!(refused(TargetKind::Directory, [&zeros, &random]), None, "it holds what the first says");
        let unnamed = ["rw = 'write'\nlayout = 'empty'", "rw = 'randread'"];
        assert_eq!(refused(TargetKind::Directory, unnamed), None, "each has files of its own");
        assert_eq!(refused(TargetKind::Device, unnamed), None, "nothing is laid out there");
    }

    #[test]
    fn what_nobody_could_verify_and_what_no_time_is_left_for_is_refused() {
        let usual = Certainty::of(Effort::Standard);
        let verified = ["rw = 'write'\nverify = true", "rw = 'randwrite'\nverify = true"];
        let refused = |kind| refusal(kind, 64 << 30, &verified, usual);
        assert!(refused(TargetKind::Device).unwrap().contains("one workload at a time"));
        assert_eq!(refused(TargetKind::Directory), None);
        let named = verified.map(|workload| format!("{workload}\nfile_names = ['x']"));
        let named = refusal(TargetKind::Directory, 64 << 30, &named.each_ref().map(String::as_str), usual);
        assert!(named.unwrap().contains("file_names of its own"));
        let hurried = Certainty { max_time: "1ms".parse().ok(), ..usual };
        let why = refusal(TargetKind::Directory, 8 << 30, &["rw = 'write'"], hurried).unwrap();
        assert!(why.contains("--max-time"), "{why}");
    }
}
