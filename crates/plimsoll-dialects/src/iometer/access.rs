//! One access specification.

use plimsoll_workload::{
    block_sizes::{BlockSizes, WeightedBlockSize, common_divisor},
    settings::ReadWrite,
    sweep::Sweep,
    units::{Percent, Span},
    workload::{ThinkTime, Workload},
};

use super::{FIRST, Reader};

/// Lines of a specification; Iometer allows a hundred.
const LINES_MAX: usize = 1000;

/// A mix with a name.
pub(super) struct Specification {
    pub(super) name: String,
    /// Where the name stands.
    index: usize,
    lines: Vec<Line>,
}

/// `size,% of size,% reads,% random,delay,burst,align,reply`.
struct Line {
    index: usize,
    bytes: u32,
    share: u32,
    reads: u32,
    random: u8,
    delay_ms: u64,
    burst: u32,
    align: u64,
    reply: u64,
}

impl Specification {
    /// Reads the lines below the one with the name and a comment, to the next comment.
    pub(super) fn read(reader: &mut Reader<'_>, name: String, index: usize) -> Self {
        let mut lines = Vec::new();
        for index in (index + 2..reader.lines.len()).take(LINES_MAX) {
            let line = reader.lines[index];
            if line.starts_with('\'') || line.starts_with(FIRST) || line.trim().is_empty() {
                break;
            }
            match read_line(reader, index) {
                Some(line) => lines.push(line),
                None => {
                    let what = "a line of an access specification has eight numbers: size, % of size, % reads, % random, \
                                delay, burst, align, reply";
                    reader.problem(index, what, "save the file again with Iometer");
                    break;
                }
            }
        }
        Self { name, index, lines }
    }

    /// A workload that says the same; nothing, and a problem, when none does.
    pub(super) fn workload(&self, reader: &mut Reader<'_>) -> Option<Workload> {
        let name = &self.name;
        let lines: Vec<&Line> = self.lines.iter().filter(|line| line.share > 0 && line.bytes > 0).collect();
        let Some(first) = lines.first() else {
            reader.note(self.index, format!("\"{name}\" asks for no operations, and is left out"));
            return None;
        };
        for line in &lines[1..] {
            let differs = [
                ("% random", line.random != first.random),
                ("delay", line.delay_ms != first.delay_ms),
                ("burst", line.burst != first.burst && first.delay_ms > 0),
                ("align", line.align != first.align),
            ];
            if let Some((what, _)) = differs.into_iter().find(|(_, differs)| *differs) {
                let what = format!("\"{name}\": its lines differ in {what}, which a workload says once for all sizes");
                reader.problem(line.index, what, "split it into specifications that agree in it");
                return None;
            }
        }
        if first.align > 0 && lines.iter().any(|line| u64::from(line.bytes) != first.align) {
            let text =
                format!("\"{name}\": offsets are multiples of what all sizes are, and not of align {}", first.align);
            reader.note(first.index, text);
        }
        if lines.iter().any(|line| line.reply > 0) {
            reader.note(first.index, format!("\"{name}\": replies are those of a network, and storage has none"));
        }
        let all: u32 = lines.iter().map(|line| line.share).sum();
        let read: u32 = lines.iter().map(|line| line.share * line.reads).sum();
        let exact = f64::from(read) / f64::from(all);
        let reads = Percent::new(exact.round() as u8)?;
        if (exact - exact.round()).abs() > 1e-9 {
            let text =
                format!("\"{name}\": {exact:.2} % of its operations are reads, which is taken for {}", reads.get());
            reader.note(first.index, text);
        }
        let of_reads = sizes(&lines, |line| line.share * line.reads);
        let of_writes = sizes(&lines, |line| line.share * (100 - line.reads));
        let rw = match (reads.get(), first.random) {
            (100, 0) => ReadWrite::Read,
            (0, 0) => ReadWrite::Write,
            (_, 0) => ReadWrite::Rw,
            (100, _) => ReadWrite::RandRead,
            (0, _) => ReadWrite::RandWrite,
            _ => ReadWrite::RandRw,
        };
        let block = of_reads.clone().or_else(|| of_writes.clone())?;
        Some(Workload {
            name: Some(name.to_owned()),
            rw: Some(rw),
            read_percent: rw.is_mixed().then(|| Sweep::one(reads)),
            random_percent: Percent::new(first.random).filter(|random| !matches!(random.get(), 0 | 100)),
            write_block_size: of_writes.filter(|sizes| rw.is_mixed() && *sizes != block),
            block_size: Some(Sweep::one(block)),
            think_time: (first.delay_ms > 0)
                .then(|| ThinkTime { pause: Span::from_milliseconds(first.delay_ms), operations: first.burst.max(1) }),
            ..Workload::default()
        })
    }
}

/// The sizes of operations with their weights; `None` when there are none.
fn sizes(lines: &[&Line], weight: fn(&Line) -> u32) -> Option<BlockSizes> {
    let mut parts: Vec<WeightedBlockSize> = Vec::new();
    for line in lines.iter().filter(|line| weight(line) > 0) {
        match parts.iter_mut().find(|part| part.bytes == line.bytes) {
            Some(part) => part.weight += weight(line),
            None => parts.push(WeightedBlockSize { bytes: line.bytes, weight: weight(line) }),
        }
    }
    let common = parts.iter().fold(0, |common, part| common_divisor(common, part.weight));
    parts.iter_mut().for_each(|part| part.weight /= common.max(1));
    match parts.as_slice() {
        [] => None,
        [one] => Some(BlockSizes::One(one.bytes)),
        _ => Some(BlockSizes::Split(parts)),
    }
}

fn read_line(reader: &Reader<'_>, index: usize) -> Option<Line> {
    let [bytes, share, reads, random, delay_ms, burst, align, reply] = *reader.numbers(index) else { return None };
    let percent = |number: u64| u32::try_from(number).ok().filter(|percent| *percent <= 100);
    Some(Line {
        index,
        bytes: u32::try_from(bytes).ok()?,
        share: percent(share)?,
        reads: percent(reads)?,
        random: u8::try_from(percent(random)?).ok()?,
        delay_ms: Some(delay_ms).filter(|delay| *delay < 1 << 32)?,
        burst: u32::try_from(burst).ok()?,
        align,
        reply,
    })
}
