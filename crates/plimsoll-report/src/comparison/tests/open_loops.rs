//! Open loops have the rate that was asked for: what is compared is how long operations took.

use super::*;

fn paced(rw: ReadWrite) -> Workload {
    Workload { name: Some("paced".into()), rw: Some(rw), rate: Some("5k".parse().unwrap()), ..Workload::default() }
}

fn sentence(record: &Record) -> String {
    compare(&[record]).pairs[0].cells[0].sentence.clone()
}

/// Two targets with reads that take as long, and writes that take this many times as long on the second.
fn mixed(factor: f64) -> Record {
    let paced = [paced(ReadWrite::RandRw)];
    let [mut record, writes] = [(1.0, 1), (1.0 / factor, 2)]
        .map(|(level, seed)| run(&[("/mnt/a", 1.0), ("/mnt/b", level)], &paced, &[(100_000, 210_000)], 0.02, seed));
    for (cell, other) in record.cells.iter_mut().zip(writes.cells) {
        cell.write = other.read.or(other.write);
        for (slot, other) in cell.slots.iter_mut().zip(other.slots) {
            slot.write = other.read.or(other.write);
        }
    }
    record
}

#[test]
fn an_open_loop_is_compared_by_its_latency() {
    let mut record =
        run(&[("/mnt/a", 1.0), ("/mnt/b", 0.5)], &[paced(ReadWrite::RandRead)], &[(5_000, 210_000)], 0.02, 1);
    assert_eq!(sentence(&record), "B's p99 is 1.99x [1.96, 2.02] longer");
    record.cells[1].verdict = Some(Verdict::ClientLimited);
    assert!(sentence(&record).starts_with("B client-limited: B's p99 is"));
}

#[test]
fn writes_that_became_slower_are_told_beside_reads_that_did_not() {
    let said = sentence(&mixed(20.0));
    assert!(said.starts_with("B's p99 of writes is ") && said.ends_with(" longer"), "{said}");
}

#[test]
fn where_no_latency_differs_it_is_told_which_is_meant() {
    let alike = sentence(&run(
        &[("/mnt/a", 1.0), ("/mnt/b", 1.0)],
        &[paced(ReadWrite::RandRead)],
        &[(5_000, 210_000)],
        0.02,
        1,
    ));
    assert!(alike.starts_with("no difference found in p99;") || alike == "equal within 2 % in p99", "{alike}");
    let mixed = sentence(&mixed(1.0));
    assert!(mixed.contains(" in p99 of reads") || mixed.contains(" in p99 of writes"), "{mixed}");
}
