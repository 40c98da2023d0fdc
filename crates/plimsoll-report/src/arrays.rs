//! Arrays of disks side by side: a table for each question that a run's arrays answer, with rates, throughput and
//! response time of all operations, of reads and of writes in every row.

use plimsoll_record::{
    environment::ArrayEnvironment,
    figures::Operation,
    limit::Bound,
    numbers::{self, or_absent},
    record::{Cell, Record},
    results::MemberActivity,
};
use plimsoll_workload::{
    array::{Array, ArrayKind, FileSystem, Placement},
    units::ByteCount,
};

use crate::{
    grid::{Column, Grid, Rank, Side},
    rows,
};

/// What arrays of one table differ in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Question {
    Cluster,
    Disks,
    Placement,
    Kind,
    Chunk,
    FileSystem,
}

/// In the order of the tables.
const QUESTIONS: [Question; 6] =
    [Question::Cluster, Question::Disks, Question::Placement, Question::Kind, Question::Chunk, Question::FileSystem];

/// A cell of an array.
#[derive(Clone, Copy)]
struct Measured<'a> {
    cell: &'a Cell,
    own: &'a ArrayEnvironment,
}

/// The tables, each with what it is about.
pub(crate) fn grids(record: &Record) -> Vec<(String, Grid)> {
    let measured = measured(record);
    let tables = tables(&measured).into_iter();
    let told =
        |(question, group): (Question, Vec<Measured<'_>>)| (question.title(&group), table(question, &group, &measured));
    tables.map(told).collect()
}

/// Of each table, its first array and each other: the targets.
pub(crate) fn pairs(record: &Record) -> Vec<[&str; 2]> {
    let measured = measured(record);
    let mut pairs = Vec::new();
    for (_, group) in tables(&measured) {
        let targets: Vec<&str> = group.iter().map(|own| own.cell.target.as_str()).collect();
        let [first, others @ ..] = &targets[..] else { continue };
        for pair in others.iter().filter(|other| *other != first).map(|other| [*first, *other]) {
            if !pairs.contains(&pair) {
                pairs.push(pair);
            }
        }
    }
    pairs
}

/// Whether all that was measured are arrays.
pub(crate) fn are_all(record: &Record) -> bool {
    record.cells.iter().all(|cell| of_cell(cell, record).is_some())
}

fn measured(record: &Record) -> Vec<Measured<'_>> {
    let mut measured: Vec<Measured<'_>> = record.cells.iter().filter_map(|cell| of_cell(cell, record)).collect();
    measured.sort_by_key(|own| own.own.array.disks.len());
    measured
}

/// The questions, and what answers each.
fn tables<'a>(measured: &[Measured<'a>]) -> Vec<(Question, Vec<Measured<'a>>)> {
    let mut tables = Vec::new();
    for question in QUESTIONS {
        let mut done: Vec<&ArrayEnvironment> = Vec::new();
        for first in measured {
            let group = question.group(first.own, measured);
            if done.contains(&first.own) || question.kinds_of_answers(&group) < 2 {
                continue;
            }
            done.extend(group.iter().map(|own| own.own));
            tables.push((question, group));
        }
    }
    tables
}

fn of_cell<'a>(cell: &'a Cell, record: &'a Record) -> Option<Measured<'a>> {
    let target = record.environment.targets.iter().find(|target| target.name == cell.target)?;
    Some(Measured { cell, own: target.array.as_ref()? })
}

impl Question {
    /// The cells of arrays that differ from this one in what is asked, and in nothing else.
    fn group<'a>(self, of: &ArrayEnvironment, measured: &[Measured<'a>]) -> Vec<Measured<'a>> {
        let array = &of.array;
        let is_usual = |own: &Array| own.cluster_bytes == own.block_bytes;
        let is_like = |own: &Array| {
            let kind = own.kind == array.kind;
            let disks = own.disks == array.disks;
            // Disks side by side have no chunk, whatever the others have.
            let chunk = own.chunk_bytes == array.chunk_bytes || own.kind.is_apart();
            let file_system = (own.file_system, own.block_bytes) == (array.file_system, array.block_bytes);
            let cluster = own.cluster_bytes == array.cluster_bytes;
            match self {
                Self::Cluster => kind && disks && chunk && file_system && own.file_system == FileSystem::Ext4,
                // One disk is of no kind, and what every kind begins with.
                Self::Disks => {
                    (kind || own.disks.len() == 1 && own.kind == ArrayKind::None)
                        && array.disks.len() > 1
                        && chunk
                        && is_usual(own)
                        && is_usual(array)
                        && (file_system || own.disks.len() == 1 && array.kind == ArrayKind::Btrfs)
                }
                Self::Placement => {
                    let are_placed = [own, array].iter().all(|array| array.placement != Placement::InOrder);
                    let number = own.disks.len() == array.disks.len();
                    are_placed && kind && number && chunk && file_system && cluster
                }
                Self::Kind => {
                    disks
                        && own.placement == array.placement
                        && chunk
                        && is_usual(own)
                        && is_usual(array)
                        && array.disks.len() > 1
                }
                Self::Chunk => kind && disks && file_system && cluster && array.disks.len() > 1,
                Self::FileSystem => kind && disks && chunk && is_usual(own) && is_usual(array),
            }
        };
        let is_of = |own: &&Measured<'a>| own.own.stripe == of.stripe && is_like(&own.own.array);
        measured.iter().filter(is_of).copied().collect()
    }

    /// How many different answers there are.
    fn kinds_of_answers(self, group: &[Measured<'_>]) -> usize {
        let mut answers: Vec<String> = group.iter().map(|own| self.answer(own.own)).collect();
        answers.sort();
        answers.dedup();
        answers.len()
    }

    /// What makes an array different from the others.
    fn answer(self, own: &ArrayEnvironment) -> String {
        let array = &own.array;
        match self {
            Self::Cluster => match array.cluster_bytes {
                Some(cluster) if Some(cluster) != array.block_bytes => ByteCount(cluster).to_string(),
                _ => or_absent(array.block_bytes, |block| format!("{}, a block", ByteCount(block))),
            },
            Self::Disks => match (array.placement, own.groups.len()) {
                (Placement::InOrder, _) | (_, 0) => array.disks.len().to_string(),
                (_, 1) => format!("{}, in 1 group", array.disks.len()),
                (_, groups) => format!("{}, in {groups} groups", array.disks.len()),
            },
            Self::Placement if own.groups.len() == 1 => "in 1 group".to_owned(),
            Self::Placement => format!("in {} groups", own.groups.len()),
            Self::Kind => array.kind.to_string(),
            Self::Chunk => ByteCount(array.chunk_bytes).to_string(),
            Self::FileSystem => match array.block_bytes {
                Some(block) => format!("{}, {} blocks", array.file_system, ByteCount(block)),
                None => array.file_system.to_string(),
            },
        }
    }

    const fn head(self) -> &'static str {
        match self {
            Self::Cluster => "cluster size",
            Self::Disks => "disks",
            Self::Placement => "groups",
            Self::Kind => "kind",
            Self::Chunk => "chunk",
            Self::FileSystem => "file system",
        }
    }

    fn title(self, group: &[Measured<'_>]) -> String {
        // Of those with one disk, only the number of disks is asked, and they are of no kind.
        let Some(array) = group.iter().map(|own| &own.own.array).next_back() else { return String::new() };
        let disks = match array.disks.len() {
            1 => "1 disk".to_owned(),
            count => format!("{count} disks"),
        };
        let on = if array.disks.len() == 1 { disks.clone() } else { format!("{disks} by {}", array.kind) };
        match self {
            Self::Cluster => format!("Cluster sizes of {} on {on}", array.file_system),
            Self::Disks => format!("Number of disks, by {}", array.kind),
            Self::Placement => format!("Disks of one group and of several, {on}"),
            Self::Kind => format!("Kinds of arrays of {disks}"),
            Self::Chunk => format!("Chunks on {on}"),
            Self::FileSystem => format!("File systems on {on}"),
        }
    }
}

fn table(question: Question, group: &[Measured<'_>], all: &[Measured<'_>]) -> Grid {
    let text = |value: &dyn Fn(&Measured<'_>) -> String| group.iter().map(value).collect::<Vec<_>>();
    // One disk may have what arrays of btrfs are compared with, for want of one of their own.
    let last = group.last().map(|own| own.own.array.file_system);
    let besides = |own: &Measured<'_>| match own.own.array.file_system {
        other if question == Question::Disks && Some(other) != last => format!(", {other}"),
        _ => String::new(),
    };
    let mut columns =
        vec![Column::new(question.head(), Side::Left, 0, text(&|own| question.answer(own.own) + &besides(own)))];
    if group.iter().any(|own| own.cell.workload != group[0].cell.workload) {
        columns.push(Column::new("workload", Side::Left, 0, text(&|own| own.cell.workload.clone())));
    }
    let has = |own: &Measured<'_>, operation| Numbers::of(own.cell, operation).is_some();
    // What is of one direction is that of all.
    let of = match group.iter().any(|own| has(own, Operation::Read) && has(own, Operation::Write)) {
        true => &[("", Operation::All), (" read", Operation::Read), (" write", Operation::Write)][..],
        false => &[("", Operation::All)],
    };
    // Of reads and writes apart the response times are the first to go.
    let mut metric = |head: &str, apart: Rank, value: &dyn Fn(&Numbers) -> String| {
        for (which, operation) in of {
            let rank = if which.is_empty() { 0 } else { apart };
            let values = text(&|own| or_absent(Numbers::of(own.cell, *operation), |numbers| value(&numbers)));
            columns.push(Column::new(format!("{head}{which}"), Side::Right, rank, values));
        }
    };
    metric("IOPS", 3, &|numbers| numbers::iops(numbers.iops));
    metric("MB/s", 4, &|numbers| or_absent(numbers.bytes_per_second, numbers::throughput));
    metric("mean", 5, &|numbers| or_absent(numbers.mean_ns, numbers::latency));
    let efficiency = |own: &Measured<'_>| or_absent(efficiency(own, all), numbers::percent);
    if question == Question::Disks || question == Question::Kind {
        columns.push(Column::new("of N x 1", Side::Right, 1, text(&efficiency)));
    }
    columns.push(Column::new(
        "balance",
        Side::Right,
        2,
        text(&|own| or_absent(balance(own.cell), |off| format!("+-{}", numbers::percent(off)))),
    ));
    let limit = |own: &Measured<'_>| own.cell.sustained_bound();
    columns.push(Column::new(
        "limit",
        Side::Right,
        2,
        text(&|own| or_absent(limit(own), |bound| told(own.cell, bound))),
    ));
    columns.push(Column::new(
        "of limit",
        Side::Right,
        1,
        text(&|own| or_absent(limit(own).map(Bound::share), numbers::percent)),
    ));
    columns.push(rows::verdicts(&group.iter().map(|own| Some(own.cell.word())).collect::<Vec<_>>()));
    Grid::new(columns)
}

/// A limit in the unit of what it is of.
fn told(cell: &Cell, bound: Bound) -> String {
    let bytes = cell.limit.as_ref().and_then(|limit| limit.bytes_per_second);
    match bytes == Some(bound.limit) {
        true => format!("{} MB/s", numbers::throughput(bound.limit)),
        false => numbers::iops(bound.limit),
    }
}

/// The three numbers of one kind of operations.
struct Numbers {
    iops: f64,
    bytes_per_second: Option<f64>,
    mean_ns: Option<f64>,
}

impl Numbers {
    fn of(cell: &Cell, operation: Operation) -> Option<Self> {
        if operation != Operation::All {
            let figures = cell.figures(operation)?;
            return Some(Self {
                iops: figures.iops?,
                bytes_per_second: figures.bytes_per_second,
                mean_ns: figures.latency_ns.mean,
            });
        }
        let both = [Self::of(cell, Operation::Read), Self::of(cell, Operation::Write)];
        let each: Vec<&Self> = both.iter().flatten().collect();
        let iops: f64 = each.iter().map(|numbers| numbers.iops).sum();
        let weighted: Option<f64> = each.iter().map(|numbers| Some(numbers.mean_ns? * numbers.iops)).sum();
        (!each.is_empty()).then(|| Self {
            iops,
            bytes_per_second: each.iter().map(|numbers| numbers.bytes_per_second).sum(),
            mean_ns: weighted.filter(|_| iops > 0.0).map(|sum| sum / iops),
        })
    }
}

/// The rate as a share of what so many of the smallest array of the same would do.
fn efficiency(own: &Measured<'_>, all: &[Measured<'_>]) -> Option<f64> {
    let array = &own.own.array;
    let is_base = |base: &&Measured<'_>| {
        let other = &base.own.array;
        base.cell.workload == own.cell.workload
            && base.own.stripe == own.own.stripe
            && other.disks.len() == 1
            && other.cluster_bytes == array.cluster_bytes
            && (other.chunk_bytes == array.chunk_bytes || other.kind.is_apart())
            && (other.file_system == array.file_system || array.kind == ArrayKind::Btrfs)
    };
    // Best one disk of the same kind, then one of none.
    let likeness = |base: &&Measured<'_>| {
        let other = &base.own.array;
        (other.file_system == array.file_system, other.kind == array.kind, other.kind == ArrayKind::None)
    };
    let base = all.iter().filter(is_base).max_by_key(likeness);
    // Against btrfs stands whatever one disk has, where no btrfs is on one disk.
    let base = base.or_else(|| {
        let is_usual = |base: &&Measured<'_>| {
            let other = &base.own.array;
            array.kind == ArrayKind::Btrfs && other.disks.len() == 1 && other.cluster_bytes == other.block_bytes
        };
        let is_beside =
            |base: &&Measured<'_>| base.own.stripe == own.own.stripe && base.cell.workload == own.cell.workload;
        all.iter().filter(is_beside).find(is_usual)
    })?;
    let of = |measured: &Measured<'_>| Numbers::of(measured.cell, Operation::All).map(|numbers| numbers.iops);
    Some(of(own)? / (of(base)? * array.disks.len() as f64))
}

/// How far the disk that is furthest from its part is from it.
fn balance(cell: &Cell) -> Option<f64> {
    Numbers::of(cell, Operation::All)?;
    let members = &cell.device.as_ref()?.members;
    let operations = |member: &MemberActivity| (member.read_operations + member.write_operations) as f64;
    let even = members.iter().map(operations).sum::<f64>() / members.len() as f64;
    if members.len() < 2 || even == 0.0 {
        return None;
    }
    members.iter().map(|member| (operations(member) / even - 1.0).abs()).reduce(f64::max)
}

#[cfg(test)]
mod tests {
    use plimsoll_record::record::Outcome;
    use plimsoll_workload::{array::Striping, settings::ReadWrite, workload::Workload};

    use super::*;
    use crate::{style::Style, table, test_records::Story};

    /// A record in which each disk of an array adds 500 operations a second.
    fn record(arrays: &[Array]) -> Record {
        let targets: Vec<String> = arrays.iter().map(|array| format!("/run/plimsoll/stripe/{}", array.name)).collect();
        let targets: Vec<&str> = targets.iter().map(String::as_str).collect();
        let workload = Workload { rw: Some(ReadWrite::RandRw), read_percent: "70".parse().ok(), ..Workload::default() };
        let mut story = Story::new(&targets, &[workload]);
        for (cell, array) in arrays.iter().enumerate() {
            story.measure(cell, 500 * array.disks.len() as u64, 2_000_000);
        }
        let mut record = story.end(60_000_000_000, Outcome::Complete);
        for (target, array) in record.environment.targets.iter_mut().zip(arrays) {
            target.array = Some(ArrayEnvironment {
                stripe: "stripe".to_owned(),
                id: None,
                array: array.clone(),
                disks: array.disks.iter().map(|disk| format!("/dev/disk/by-id/{disk}")).collect(),
                groups: Vec::new(),
            });
        }
        record
    }

    #[test]
    fn the_matrix_is_told_in_the_tables_of_its_source() {
        let text = r#"
            devices = ["/dev/a", "/dev/b", "/dev/c", "/dev/d"]
            preset = "matrix"
            kinds = ["md", "lvm"]
        "#;
        let striping: Striping = toml::from_str(text).unwrap();
        let record = record(&striping.expand().unwrap());
        let tables = grids(&record);
        let titles: Vec<&str> = tables.iter().map(|(title, _)| title.as_str()).collect();
        let expected = [
            "Cluster sizes of ext4 on 1 disk",
            "Cluster sizes of ext4 on 3 disks by md",
            "Number of disks, by md",
            "Number of disks, by lvm",
            "Kinds of arrays of 2 disks",
            "Kinds of arrays of 3 disks",
            "Kinds of arrays of 4 disks",
        ];
        assert_eq!(titles, expected);
        // A question is answered against what it begins with.
        let pairs = pairs(&record);
        let name = |target: &str| target.rsplit('/').next().unwrap_or_default().to_owned();
        let told: Vec<String> = pairs.iter().map(|[first, other]| format!("{} {}", name(first), name(other))).collect();
        assert!(told.contains(&"md-3-ext4 md-3-ext4-32KiB".to_owned()), "{told:?}");
        assert!(told.contains(&"md-4-ext4 lvm-4-ext4".to_owned()), "{told:?}");
        // Several have the same heads.
        let (text, markdown) = (table::record(&record, 100, Style { colour: false }), table::markdown(&record));
        for title in expected {
            assert!(text.contains(&format!("\n\n{title}\n")) && markdown.contains(&format!("\n\n**{title}**\n\n")));
        }
        // What does not fit is named, and nothing is where all of it does.
        assert!(text.contains("\nnote: no room here for mean write, mean read: "), "{text}");
        assert!(!table::record(&record, 200, Style { colour: false }).contains("no room here"));
        insta::assert_snapshot!(tables[2].1.clone().fit(100).text(), @r#"
    disks   IOPS  IOPS read  IOPS write  MB/s  MB/s read  MB/s write     mean  of N x 1  verdict
    ────────────────────────────────────────────────────────────────────────────────────────────
    1        500        350         150  2.05       1.43       0.614  2.00 ms     100 %  short
    2      1,000        700         300  4.10       2.87        1.23  2.02 ms     100 %  short
    3      1,500      1,050         450  6.14       4.30        1.84  2.03 ms     100 %  short
    4      2,000      1,400         600  8.19       5.73        2.46  2.03 ms     100 %  short
    "#);
    }
}
