//! Cells that run at the same time as others, or after them.

use super::*;

#[test]
fn a_phase_of_one_cell_is_no_company_and_another_cell_in_it_is() {
    let in_turns = alone("/mnt/a", 1.0, 0.02, 1);
    let with_phases = |phases: [u32; 2], seed: u64| {
        let mut record = alone("/mnt/a", 1.0, 0.02, seed);
        record.cells.iter_mut().zip(phases).for_each(|(cell, phase)| cell.phase = Some(phase));
        record
    };
    let (one_by_one, together) = (with_phases([1, 2], 2), with_phases([1, 1], 3));
    assert!(compare(&[&in_turns, &one_by_one]).pairs[0].cells.iter().all(|cell| cell.differs_in.is_empty()));
    for lone in [&in_turns, &one_by_one] {
        let refused = Comparison::of(&[lone, &together], &Wishes::default()).unwrap_err().to_string();
        assert!(refused.contains("company (A none, B one of 2 at the same time)"), "{refused}");
    }
    let mut staggered = with_phases([1, 1], 5);
    staggered.cells[1].slots.iter_mut().for_each(|slot| slot.from_ns += 5_000_000_000);
    assert!(compare(&[&in_turns, &staggered]).pairs[0].cells.iter().all(|cell| cell.differs_in.is_empty()));
    assert!(compare(&[&together, &with_phases([7, 7], 4)]).pairs[0].cells[0].differs_in.is_empty());
}

#[test]
fn what_one_run_measured_one_after_another_is_not_said_to_be_in_turns_and_not_paired() {
    let said = |phases: [Option<u32>; 2], later_ns: u64| {
        let mut record =
            run(&[("/mnt/a", 1.0), ("/mnt/b", 1.1)], &workloads("canonical")[..1], &[(5_000, 600_000)], 0.02, 1);
        record.cells.iter_mut().zip(phases).for_each(|(cell, phase)| cell.phase = phase);
        record.cells[1].slots.iter_mut().for_each(|slot| slot.from_ns += later_ns);
        let comparison = compare(&[&record]);
        let title =
            text::text(&comparison, 100, PLAIN).lines().find(|line| line.starts_with("B against")).map(str::to_owned);
        (title.unwrap(), iops(&comparison, 0).method)
    };
    for (phases, later_ns, how, method) in [
        ([None, None], 0, "in turns", Method::PairedBlocks),
        ([Some(1), Some(1)], 0, "at the same time", Method::PairedBlocks),
        ([Some(1), Some(1)], 5_000_000_000, "one after another", Method::UnpairedVisits),
        ([Some(1), Some(2)], 0, "one after another", Method::UnpairedVisits),
        ([None, Some(1)], 0, "one after another", Method::UnpairedVisits),
    ] {
        assert_eq!(said(phases, later_ns), (format!("B against A, measured {how} in one run"), method), "{phases:?}");
    }
}
