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
    assert!(compare(&[&together, &with_phases([7, 7], 4)]).pairs[0].cells[0].differs_in.is_empty());
}
