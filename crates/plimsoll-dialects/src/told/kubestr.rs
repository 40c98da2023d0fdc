//! What kubestr prints of fio: a job's name and options, and below them `IOPS=982.05 BW(KiB/s)=3944` of each direction.

use plimsoll_record::told::{Direction, FoundResult, Measured, Source, Transfers, note};

use super::{
    RESULTS_MAX,
    numbers::{bytes, number},
    passage::Passage,
    result,
};

/// A job has fewer lines.
const LINES_MAX: usize = 20;

pub(super) fn find(passage: &Passage<'_>) -> Vec<FoundResult> {
    let job = |(index, line): (usize, &str)| {
        let name = line.split_once("JobName: ")?.1.trim();
        job_result(passage, index, name)
    };
    passage.each().filter_map(job).take(RESULTS_MAX + 1).collect()
}

fn job_result(passage: &Passage<'_>, first: usize, name: &str) -> Option<FoundResult> {
    let options = passage.line(first + 1);
    let option = |name: &str| {
        let mut words = options.split_whitespace().filter_map(|word| word.split_once('='));
        words.find(|(key, _)| *key == name).map(|(_, value)| value)
    };
    let block = option("blocksize").and_then(|size| bytes(&size.to_ascii_uppercase()).or(size.parse().ok()));
    let mut transfers = Transfers {
        pattern: option("rw").map(str::to_owned),
        block_size_bytes: block.map(|bytes| bytes as u64).filter(|bytes| *bytes > 0),
        queue_depth: option("iodepth").and_then(|depth| depth.parse().ok()),
        ..Transfers::default()
    };
    let mut last = None;
    for index in first + 2..first + LINES_MAX {
        let line = passage.line(index);
        if line.contains("JobName: ") || line.contains("Disk stats") {
            break;
        }
        let Some((_, rest)) = line.split_once("IOPS=") else { continue };
        let (iops, rest) = rest.split_once(" BW(KiB/s)=")?;
        let kib = number(rest.split_whitespace().next()?)?;
        let direction = Direction { iops: number(iops), bytes_per_second: Some(kib * 1024.0), ..Direction::default() };
        let title = passage.line(index - 1);
        *(if title.contains("write:") { &mut transfers.write } else { &mut transfers.read }) = Some(direction);
        last = Some(index);
    }
    let findings = vec![note("kubestr's own jobs measure no latency, and read what was never written")];
    let measured = Measured::Transfers(Box::new(transfers));
    let found = result(passage, Source::Kubestr, first..=last?, measured, findings);
    Some(FoundResult { workload: Some(name.to_owned()), ..found })
}
