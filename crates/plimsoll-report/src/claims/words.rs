//! The words that statements are made of, and what each means.

/// A number that a result has.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Figure {
    /// Operations, or files, per second.
    Iops,
    /// Bytes per second.
    Bandwidth,
    /// Bytes transferred.
    Bytes,
    /// Operations.
    Operations,
    /// Mean time of an operation.
    Latency,
    /// A percentile of it.
    Percentile(f64),
    /// How long a command, or the measurement, took.
    Elapsed,
    /// Processor time of a command's programs.
    User,
    /// Processor time of the kernel for it.
    System,
    /// Both.
    Processor,
    /// Both as a share of the time it took.
    ProcessorShare,
    /// Threads.
    Threads,
    /// Jobs.
    Jobs,
    /// Operations that each job kept in flight.
    QueueDepth,
    /// Bytes of an operation.
    BlockSize,
    /// Operations that failed.
    Errors,
}

impl Figure {
    /// Whether less of it is faster.
    pub(super) const fn is_time(self) -> bool {
        matches!(
            self,
            Self::Latency | Self::Percentile(_) | Self::Elapsed | Self::User | Self::System | Self::Processor
        )
    }

    /// Whether that of reads and that of writes add up.
    pub(super) const fn adds_up(self) -> bool {
        matches!(self, Self::Iops | Self::Bandwidth | Self::Bytes | Self::Operations)
    }

    pub(super) fn name(self) -> String {
        let name = match self {
            Self::Iops => "IOPS",
            Self::Bandwidth => "bandwidth",
            Self::Bytes => "bytes",
            Self::Operations => "operations",
            Self::Latency => "latency",
            Self::Percentile(percent) => return format!("p{percent} latency"),
            Self::Elapsed => "duration",
            Self::User => "user time",
            Self::System => "system time",
            Self::Processor => "cpu time",
            Self::ProcessorShare => "cpu share",
            Self::Threads => "thread count",
            Self::Jobs => "jobs",
            Self::QueueDepth => "queue depth",
            Self::BlockSize => "block size",
            Self::Errors => "errors",
        };
        name.to_owned()
    }
}

/// One number of several.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Aggregate {
    Mean,
    Median,
    Lowest,
    Highest,
    Fastest,
    Slowest,
    Sum,
    Count,
    Deviation,
    Spread,
    Range,
}

impl Aggregate {
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Mean => "average",
            Self::Median => "median",
            Self::Lowest => "lowest",
            Self::Highest => "highest",
            Self::Fastest => "fastest",
            Self::Slowest => "slowest",
            Self::Sum => "sum",
            Self::Count => "count",
            Self::Deviation => "standard deviation",
            Self::Spread => "spread",
            Self::Range => "range",
        }
    }
}

/// Which operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Direction {
    Read,
    Write,
    Total,
    /// Reads and writes, each by itself.
    Each,
}

impl Direction {
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Total => "total",
            Self::Each => "read and write",
        }
    }
}

/// Which threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Threads {
    All,
    Odd,
    Even,
    One(usize),
}

/// Where a figure is from that was not measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Expected {
    /// From whoever knows what the storage is sold as.
    Catalog(Level),
    /// What stands beside the figure in the text.
    Assumed,
}

/// Which of the limits of a storage.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Level {
    /// What binds: the least of all for as long as one likes.
    #[default]
    Sustained,
    /// While its credit lasts.
    Burst,
    /// What the machine permits for it.
    Machine,
    /// What the machine permits from its cache.
    Cached,
}

impl Level {
    /// The word behind `expected`.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Sustained => "",
            Self::Burst => " burst",
            Self::Machine => " machine",
            Self::Cached => " cached",
        }
    }
}

/// What a word within the name of a figure means.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Meaning {
    Figure(Figure),
    Aggregate(Aggregate),
    Direction(Direction),
    Threads(Threads),
    /// It stands before `threads`.
    OnlyThreads(Threads),
    Expected(Expected),
    /// Of every workload by itself.
    Each,
    Filler,
}

/// Words that mean something together; longer ones stand before those that they begin with.
const VOCABULARY: &[(&[&str], Meaning)] = &[
    (&["operations", "per", "second"], Meaning::Figure(Figure::Iops)),
    (&["files", "per", "second"], Meaning::Figure(Figure::Iops)),
    (&["iops"], Meaning::Figure(Figure::Iops)),
    (&["bandwidth"], Meaning::Figure(Figure::Bandwidth)),
    (&["throughput"], Meaning::Figure(Figure::Bandwidth)),
    (&["transfer", "rate"], Meaning::Figure(Figure::Bandwidth)),
    (&["bytes"], Meaning::Figure(Figure::Bytes)),
    (&["data"], Meaning::Figure(Figure::Bytes)),
    (&["operations"], Meaning::Figure(Figure::Operations)),
    (&["i/os"], Meaning::Figure(Figure::Operations)),
    (&["response", "time"], Meaning::Figure(Figure::Latency)),
    (&["time", "per", "file"], Meaning::Figure(Figure::Latency)),
    (&["ms", "per", "file"], Meaning::Figure(Figure::Latency)),
    (&["latency"], Meaning::Figure(Figure::Latency)),
    (&["latencies"], Meaning::Figure(Figure::Latency)),
    (&["elapsed", "time"], Meaning::Figure(Figure::Elapsed)),
    (&["elapsed"], Meaning::Figure(Figure::Elapsed)),
    (&["duration"], Meaning::Figure(Figure::Elapsed)),
    (&["runtime"], Meaning::Figure(Figure::Elapsed)),
    (&["user", "time"], Meaning::Figure(Figure::User)),
    (&["user"], Meaning::Figure(Figure::User)),
    (&["system", "time"], Meaning::Figure(Figure::System)),
    (&["sys"], Meaning::Figure(Figure::System)),
    (&["cpu", "share"], Meaning::Figure(Figure::ProcessorShare)),
    (&["cpu", "time"], Meaning::Figure(Figure::Processor)),
    (&["time"], Meaning::Figure(Figure::Elapsed)),
    (&["number", "of", "threads"], Meaning::Figure(Figure::Threads)),
    (&["thread", "count"], Meaning::Figure(Figure::Threads)),
    (&["jobs"], Meaning::Figure(Figure::Jobs)),
    (&["queue", "depth"], Meaning::Figure(Figure::QueueDepth)),
    (&["iodepth"], Meaning::Figure(Figure::QueueDepth)),
    (&["block", "size"], Meaning::Figure(Figure::BlockSize)),
    (&["errors"], Meaning::Figure(Figure::Errors)),
    (&["on", "average"], Meaning::Aggregate(Aggregate::Mean)),
    (&["average"], Meaning::Aggregate(Aggregate::Mean)),
    (&["mean"], Meaning::Aggregate(Aggregate::Mean)),
    (&["avg"], Meaning::Aggregate(Aggregate::Mean)),
    (&["median"], Meaning::Aggregate(Aggregate::Median)),
    (&["lowest"], Meaning::Aggregate(Aggregate::Lowest)),
    (&["min"], Meaning::Aggregate(Aggregate::Lowest)),
    (&["minimum"], Meaning::Aggregate(Aggregate::Lowest)),
    (&["smallest"], Meaning::Aggregate(Aggregate::Lowest)),
    (&["shortest"], Meaning::Aggregate(Aggregate::Lowest)),
    (&["highest"], Meaning::Aggregate(Aggregate::Highest)),
    (&["max"], Meaning::Aggregate(Aggregate::Highest)),
    (&["maximum"], Meaning::Aggregate(Aggregate::Highest)),
    (&["largest"], Meaning::Aggregate(Aggregate::Highest)),
    (&["longest"], Meaning::Aggregate(Aggregate::Highest)),
    (&["fastest"], Meaning::Aggregate(Aggregate::Fastest)),
    (&["best"], Meaning::Aggregate(Aggregate::Fastest)),
    (&["slowest"], Meaning::Aggregate(Aggregate::Slowest)),
    (&["worst"], Meaning::Aggregate(Aggregate::Slowest)),
    (&["sum"], Meaning::Aggregate(Aggregate::Sum)),
    (&["count"], Meaning::Aggregate(Aggregate::Count)),
    (&["number"], Meaning::Aggregate(Aggregate::Count)),
    (&["standard", "deviation"], Meaning::Aggregate(Aggregate::Deviation)),
    (&["stddev"], Meaning::Aggregate(Aggregate::Deviation)),
    (&["coefficient", "of", "variation"], Meaning::Aggregate(Aggregate::Spread)),
    (&["spread"], Meaning::Aggregate(Aggregate::Spread)),
    (&["cv"], Meaning::Aggregate(Aggregate::Spread)),
    (&["range"], Meaning::Aggregate(Aggregate::Range)),
    (&["read"], Meaning::Direction(Direction::Read)),
    (&["reads"], Meaning::Direction(Direction::Read)),
    (&["reading"], Meaning::Direction(Direction::Read)),
    (&["write"], Meaning::Direction(Direction::Write)),
    (&["writes"], Meaning::Direction(Direction::Write)),
    (&["writing"], Meaning::Direction(Direction::Write)),
    (&["written"], Meaning::Direction(Direction::Write)),
    (&["total"], Meaning::Direction(Direction::Total)),
    (&["overall"], Meaning::Direction(Direction::Total)),
    (&["odd"], Meaning::OnlyThreads(Threads::Odd)),
    (&["even"], Meaning::OnlyThreads(Threads::Even)),
    (&["threads"], Meaning::Threads(Threads::All)),
    (&["thread"], Meaning::Threads(Threads::All)),
    (&["expected"], Meaning::Expected(Expected::Catalog(Level::Sustained))),
    (&["provisioned"], Meaning::Expected(Expected::Catalog(Level::Sustained))),
    (&["assumed"], Meaning::Expected(Expected::Assumed)),
    (&["always"], Meaning::Each),
    (&["consistently"], Meaning::Each),
    (&["everywhere"], Meaning::Each),
];

/// Words between others that change nothing.
const FILLERS: &[&str] = &[
    "a",
    "all",
    "an",
    "at",
    "be",
    "bit",
    "both",
    "by",
    "can",
    "clearly",
    "even",
    "for",
    "from",
    "in",
    "it",
    "its",
    "just",
    "much",
    "noticeably",
    "of",
    "on",
    "only",
    "over",
    "per",
    "run",
    "runs",
    "significantly",
    "slightly",
    "somewhat",
    "that",
    "the",
    "those",
    "their",
    "times",
    "to",
    "under",
    "when",
    "with",
    "within",
];

/// What ends the name of a figure.
const ENDS: &[&str] = &[
    "about",
    "above",
    "achieved",
    "achieves",
    "almost",
    "and",
    "approximately",
    "are",
    "around",
    "as",
    "beat",
    "beats",
    "below",
    "between",
    "but",
    "delivered",
    "delivers",
    "different",
    "differs",
    "equal",
    "equals",
    "exactly",
    "exceeds",
    "faster",
    "fewer",
    "gets",
    "gives",
    "got",
    "greater",
    "had",
    "has",
    "have",
    "higher",
    "identical",
    "is",
    "larger",
    "less",
    "longer",
    "lower",
    "more",
    "nearly",
    "needs",
    "not",
    "or",
    "outperformed",
    "outperforms",
    "provides",
    "quicker",
    "reached",
    "reaches",
    "roughly",
    "same",
    "shorter",
    "shows",
    "slower",
    "smaller",
    "takes",
    "than",
    "took",
    "was",
    "were",
    "while",
];

/// Verbs that only join a figure and what is said of it.
pub(super) const VERBS: &[&str] = &[
    "achieved",
    "achieves",
    "are",
    "delivered",
    "delivers",
    "gets",
    "gives",
    "got",
    "had",
    "has",
    "have",
    "is",
    "needs",
    "provides",
    "reached",
    "reaches",
    "shows",
    "takes",
    "took",
    "was",
    "were",
];

/// What every workload is called.
const EACH_OF: &[&str] = &["case", "cases", "size", "sizes", "test", "tests", "workload", "workloads"];

pub(super) fn ends_a_name(word: &str) -> bool {
    ENDS.contains(&word)
}

pub(super) fn is_filler(word: &str) -> bool {
    FILLERS.contains(&word)
}

/// What the next words mean, and how many of them belong together; `None` of a word that is none of the language.
pub(super) fn meaning(words: &[String]) -> Option<(Meaning, usize)> {
    if let [quantifier, noun, ..] = words
        && matches!(quantifier.as_str(), "each" | "every" | "all")
        && EACH_OF.contains(&noun.as_str())
    {
        return Some((Meaning::Each, 2));
    }
    let is_next = |(spelling, _): &&(&[&str], Meaning)| {
        words.len() >= spelling.len() && spelling.iter().zip(words).all(|(one, other)| one == other)
    };
    if let Some((spelling, meaning)) = VOCABULARY.iter().find(is_next) {
        return Some((*meaning, spelling.len()));
    }
    let first = words.first()?;
    if let Some(percent) = first.strip_prefix('p').and_then(percentile).filter(|percent| is_usual(*percent)) {
        return Some((Meaning::Figure(Figure::Percentile(percent)), 1));
    }
    let ordinal = ["th", "st", "nd", "rd"].iter().find_map(|ending| first.strip_suffix(ending));
    if let Some(percent) =
        ordinal.and_then(percentile).filter(|_| words.get(1).is_some_and(|next| next == "percentile"))
    {
        return Some((Meaning::Figure(Figure::Percentile(percent)), 2));
    }
    is_filler(first).then_some((Meaning::Filler, 1))
}

/// Whether people speak of such a percentile: P10 to P80 are disks.
fn is_usual(percent: f64) -> bool {
    percent >= 90.0 || [0.0, 25.0, 50.0, 75.0].into_iter().any(|usual| (percent - usual).abs() < f64::EPSILON)
}

/// Whether a word that is written so is a percentile all the same: P50 is a disk, and p50 is none.
pub(super) fn is_disk(word: &str) -> bool {
    word.strip_prefix('P').and_then(percentile).is_some_and(|percent| percent < 90.0)
}

fn percentile(digits: &str) -> Option<f64> {
    let is_plain = digits.starts_with(|digit: char| digit.is_ascii_digit());
    digits.parse().ok().filter(|percent: &f64| is_plain && (0.0..=100.0).contains(percent))
}
