//! What the iterations of an application did: times, the processors' work, what the disk did meanwhile, and what the
//! program told of itself.

use std::fmt;

use plimsoll_measure::student;
use serde::{Deserialize, Serialize};

use crate::{results::DeviceActivity, told::Duration};

/// Fewer iterations tell nothing of how far a mean may be off.
const ITERATIONS_MIN: usize = 3;
/// What takes less time than this on average is over before anybody can tell what it waited for.
const TOLD_FROM_NS: f64 = 50e6;
/// A disk may have so many bytes to move for each that a process does: file systems write journals and metadata.
const BYTES_FOR_EACH: f64 = 4.0;
/// From this part on in what a disk did, that says something of who had it done.
const PART_MIN: f64 = 0.2;
/// Fewer looks at processes say nothing of what was between them.
const LOOKS_MIN: u32 = 20;
/// Own figures of a program: more are not taken.
const FIGURES_MAX: usize = 100;
/// What programs count, before which a prefix may stand: kops/s. In other words the same letter is part of the word.
const COUNTED: [&str; 18] = [
    "op",
    "ops",
    "operations",
    "IO",
    "IOs",
    "tx",
    "txn",
    "txns",
    "transactions",
    "commits",
    "req",
    "reqs",
    "requests",
    "queries",
    "rows",
    "records",
    "msgs",
    "messages",
];

/// One iteration of an application.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Iteration {
    /// Which slot.
    pub round: u32,
    /// When the command began, since the start of the run.
    pub from_ns: u64,
    /// From the start of the command to its end.
    pub elapsed_ns: u64,
    /// User time of the command and all that it waited for.
    pub user_ns: u64,
    /// System time of these.
    pub system_ns: u64,
    /// Most memory that one of these had; null when it was no more than plimsoll had, with which each begins.
    pub max_resident_bytes: Option<u64>,
    /// User time, meanwhile, of other processes that commands of the cell have started: servers.
    pub server_user_ns: u64,
    /// System time of those.
    pub server_system_ns: u64,
    /// Bytes that all of them read from storage; null where the kernel does not tell.
    pub read_bytes: Option<u64>,
    /// Bytes that all of them wrote to it, or to the page cache.
    pub written_bytes: Option<u64>,
    /// What the disk did meanwhile, whoever asked it.
    pub device: Option<DeviceActivity>,
    /// How often was looked at what they do; zero also in records from before it was told.
    #[serde(default)]
    pub looks: u32,
    /// Share of looks at which one of them waited for a disk; null without any.
    pub disk_wait_share: Option<f64>,
    /// Share of looks at which one of them ran, or would have if it had a processor.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runnable_share: Option<f64>,
    /// Processors that it was kept on, because others were timed at the same time; empty when it had all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cpus: Vec<u32>,
    /// How long the storage took to come to rest before.
    pub settle_ns: u64,
    /// Whether it came to rest in the time that it had.
    pub is_at_rest: bool,
    /// Figures that the command told of itself.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub figures: Vec<OwnFigure>,
    /// Why the iteration does not count.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub invalid: Option<String>,
    /// The end of what the commands of the iteration said, where it does not count.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub output: String,
    /// Whether it is part of the numbers.
    #[serde(default)]
    pub counted: bool,
}

impl Iteration {
    /// Time of processors, servers included.
    pub const fn processor_ns(&self) -> u64 {
        self.user_ns + self.system_ns + self.server_user_ns + self.server_system_ns
    }

    /// Processors that were busy with it on average.
    pub fn processors(&self) -> f64 {
        share(self.processor_ns(), self.elapsed_ns)
    }

    /// What the disk did, unless it was not for it: these processes moved hardly any of the bytes.
    pub fn own_device(&self) -> Option<&DeviceActivity> {
        self.device.as_ref().filter(|device| self.part_in(device) >= PART_MIN)
    }

    /// How much of what the disk did was for these processes, from 0 to 1, as far as the bytes tell that they moved.
    fn part_in(&self, device: &DeviceActivity) -> f64 {
        let bytes = (device.read_bytes + device.write_bytes) as f64;
        let own_bytes = self.read_bytes.zip(self.written_bytes).map(|(read, written)| (read + written) as f64);
        own_bytes.filter(|_| bytes > 0.0).map_or(1.0, |own| (own * BYTES_FOR_EACH / bytes).min(1.0))
    }

    /// Share of its time in which the disk had something to do for it, or a process waited for one. Of too few looks
    /// the first alone, which is the least that is certain; it is shown, as of a brief iteration nothing else is known.
    pub fn disk_share(&self) -> Option<f64> {
        let seen = self.disk_wait_share.filter(|_| self.looks == 0 || self.looks >= LOOKS_MIN);
        self.busy_share().into_iter().chain(seen).max_by(f64::total_cmp)
    }

    /// Share of its time in which the disk had something to do for it.
    fn busy_share(&self) -> Option<f64> {
        let busy = |device| self.part_in(device) * share(device.busy_ns, self.elapsed_ns).min(1.0);
        self.device.as_ref().map(busy)
    }

    /// The times that `time` would have told.
    pub const fn duration(&self) -> Duration {
        Duration { elapsed_ns: self.elapsed_ns, user_ns: self.user_ns, system_ns: self.system_ns }
    }

    /// The rate that the command told of itself.
    pub fn rate(&self) -> Option<&OwnFigure> {
        self.figures.iter().find(|figure| figure.is_rate())
    }
}

fn share(part_ns: u64, whole_ns: u64) -> f64 {
    if whole_ns == 0 { 0.0 } else { part_ns as f64 / whole_ns as f64 }
}

/// A figure that a command told of itself.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OwnFigure {
    /// Its name.
    pub name: String,
    /// Its value.
    pub value: f64,
    /// Its unit, as told: of `/s` more is better, of a time less.
    pub unit: String,
}

impl OwnFigure {
    /// Whether it is a rate, of which more is better.
    pub fn is_rate(&self) -> bool {
        per_second(&self.unit).is_some()
    }

    /// Bytes per second, of a rate in bytes.
    pub fn bytes_per_second(&self) -> Option<f64> {
        bytes_of(&self.unit).map(|bytes| self.value * bytes)
    }

    /// What else is counted per second.
    pub fn operations_per_second(&self) -> Option<f64> {
        let counted = per_second(&self.unit).filter(|_| bytes_of(&self.unit).is_none())?;
        let prefix =
            COUNTED.iter().find_map(|what| counted.strip_suffix(what).filter(|prefix| scale_of(prefix).is_some()));
        Some(self.value * scale_of(prefix.unwrap_or(counted)).unwrap_or(1.0))
    }

    /// Reads lines of a name, a value and a unit, with blanks between them. Lines that are empty or begin with # are
    /// not read.
    ///
    /// # Errors
    /// Says which line is another, and what is expected.
    pub fn parse(text: &str) -> Result<Vec<Self>, String> {
        let lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
        let figures: Vec<Self> = lines.map(Self::of_line).collect::<Result<_, _>>()?;
        if figures.len() > FIGURES_MAX {
            return Err(format!("{} figures are more than {FIGURES_MAX}", figures.len()));
        }
        Ok(figures)
    }

    fn of_line(line: &str) -> Result<Self, String> {
        let mut words = line.split_whitespace();
        let name = words.next().map(str::to_owned);
        let value = words.next().and_then(|word| word.parse::<f64>().ok()).filter(|value| value.is_finite());
        let unit = words.next().unwrap_or_default().to_owned();
        match (name, value, words.next()) {
            (Some(name), Some(value), None) if value < 0.0 && per_second(&unit).is_some() => {
                Err(format!("{name} is a rate, and {value} is less than nothing"))
            }
            (Some(name), Some(value), None) => Ok(Self { name, value, unit }),
            _ => Err(format!("\"{line}\" is no figure: write a name, a value and a unit, as in: commits 131.5 /s")),
        }
    }
}

/// What a unit of a rate counts.
fn per_second(unit: &str) -> Option<&str> {
    ["/s", "/sec", "/second"].iter().find_map(|second| unit.strip_suffix(second))
}

/// How many bytes per second one of a unit such as `MB/s` or `Mbit/s` is.
fn bytes_of(unit: &str) -> Option<f64> {
    let counted = per_second(unit)?;
    let kinds = [("bytes", 1.0), ("byte", 1.0), ("B", 1.0), ("bits", 0.125), ("bit", 0.125), ("b", 0.125)];
    let (prefix, each) = kinds.iter().find_map(|(kind, each)| Some((counted.strip_suffix(kind)?, each)))?;
    Some(scale_of(prefix)? * each)
}

/// What a prefix of a unit multiplies it by.
fn scale_of(prefix: &str) -> Option<f64> {
    let (letter, base) = match prefix.strip_suffix('i') {
        Some(letter) => (letter, 1024.0_f64),
        None => (prefix, 1000.0),
    };
    let power = match letter {
        "" if prefix.is_empty() => 0,
        "k" | "K" => 1,
        "M" => 2,
        "G" => 3,
        "T" => 4,
        _ => return None,
    };
    Some(base.powi(power))
}

/// How values of several iterations lie.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Spread {
    /// How many.
    pub count: u64,
    /// The least.
    pub min: f64,
    /// Their mean.
    pub mean: f64,
    /// The one in the middle.
    pub median: f64,
    /// The greatest.
    pub max: f64,
    /// Standard deviation; null of a single one.
    pub stddev: Option<f64>,
    /// Lower end of the 95 % interval of the mean; null below three.
    pub low: Option<f64>,
    /// Upper end.
    pub high: Option<f64>,
}

impl Spread {
    /// Of values; `None` of none.
    pub fn of(values: impl IntoIterator<Item = f64>) -> Option<Self> {
        let mut values: Vec<f64> = values.into_iter().collect();
        values.sort_by(f64::total_cmp);
        let (min, max) = (*values.first()?, *values.last()?);
        let count = values.len() as f64;
        let mean = values.iter().sum::<f64>() / count;
        let middle = values.len() / 2;
        let median =
            if values.len() % 2 == 1 { values[middle] } else { f64::midpoint(values[middle - 1], values[middle]) };
        let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
        let stddev = (values.len() > 1).then(|| (squares / (count - 1.0)).sqrt());
        let half = stddev
            .filter(|_| values.len() >= ITERATIONS_MIN)
            .map(|stddev| student::quantile_975(count - 1.0) * stddev / count.sqrt());
        Some(Self {
            count: values.len() as u64,
            min,
            mean,
            median,
            max,
            stddev,
            low: half.map(|half| mean - half),
            high: half.map(|half| mean + half),
        })
    }
}

/// What kept an application from being faster: what took the largest part of its time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum BoundBy {
    /// It computed.
    #[serde(rename = "cpu-bound")]
    Cpu,
    /// It waited for the disk.
    #[serde(rename = "io-bound")]
    Io,
    /// Neither: it waited for locks, the network, the clock, or a processor that others kept busy.
    #[serde(rename = "waiting")]
    Waiting,
}

impl BoundBy {
    /// The word for it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Cpu => "cpu-bound",
            Self::Io => "io-bound",
            Self::Waiting => "waiting",
        }
    }
}

impl fmt::Display for BoundBy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// All iterations of an application on one target.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ApplicationResult {
    /// Each of them, in their order.
    pub iterations: Vec<Iteration>,
    /// Time of the command, in nanoseconds.
    pub elapsed_ns: Option<Spread>,
    /// The rate that the command told of itself.
    pub rate: Option<RateSpread>,
    /// Processors that were busy with it on average, servers included.
    pub processors: Option<f64>,
    /// Share of the time in which the disk had something to do, or a process waited for one.
    pub disk_share: Option<f64>,
    /// Share of the time in which one of its processes would have run if it had a processor; null of too few looks.
    #[serde(default)]
    pub ready_share: Option<f64>,
    /// What kept it from being faster.
    pub bound_by: Option<BoundBy>,
}

/// A rate that a command told of itself, in several iterations.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RateSpread {
    /// What was counted.
    pub name: String,
    /// The unit, as told.
    pub unit: String,
    /// How it lay.
    pub spread: Spread,
}

impl RateSpread {
    /// The mean as a figure.
    pub fn mean(&self) -> OwnFigure {
        OwnFigure { name: self.name.clone(), value: self.spread.mean, unit: self.unit.clone() }
    }
}

impl ApplicationResult {
    /// Says what all iterations show.
    pub(crate) fn summarize(&mut self) {
        let counted = || self.iterations.iter().filter(|iteration| iteration.counted);
        let elapsed_ns = Spread::of(counted().map(|iteration| iteration.elapsed_ns as f64));
        let rates: Vec<&OwnFigure> = counted().filter_map(Iteration::rate).collect();
        let is_one = |first: &OwnFigure| rates.iter().all(|rate| rate.name == first.name && rate.unit == first.unit);
        let rate = rates.first().filter(|first| is_one(first)).and_then(|first| {
            // What some iterations did not tell says nothing of all.
            let spread = Spread::of(rates.iter().map(|rate| rate.value)).filter(|_| rates.len() == counted().count());
            Some(RateSpread { name: first.name.clone(), unit: first.unit.clone(), spread: spread? })
        });
        let total_ns: u64 = counted().map(|iteration| iteration.elapsed_ns).sum();
        let processors = share(counted().map(Iteration::processor_ns).sum(), total_ns);
        let weighted = |of: fn(&Iteration) -> Option<f64>| {
            let sum: Option<f64> = counted().map(|iteration| Some(of(iteration)? * iteration.elapsed_ns as f64)).sum();
            sum.filter(|_| total_ns > 0).map(|sum| sum / total_ns as f64)
        };
        let looks: u32 = counted().map(|iteration| iteration.looks).sum();
        // Of all looks, because those at a brief iteration tell too little of it.
        let seen = |of: fn(&Iteration) -> Option<f64>| {
            let sum: f64 = counted().filter_map(|iteration| Some(of(iteration)? * f64::from(iteration.looks))).sum();
            (looks >= LOOKS_MIN).then(|| sum / f64::from(looks))
        };
        let disk_wait_share = seen(|iteration| iteration.disk_wait_share);
        let disk_share = weighted(Iteration::busy_share).into_iter().chain(disk_wait_share).max_by(f64::total_cmp);
        // While it computes it is runnable as well.
        let ready_share = seen(|iteration| iteration.runnable_share).map(|runnable| (runnable - processors).max(0.0));
        let is_long = elapsed_ns.is_some_and(|spread| spread.mean >= TOLD_FROM_NS);
        // Whose processes nobody saw may have waited for a disk that had nothing to do yet: some are held back.
        let is_seen = disk_wait_share.is_some();
        let bound_by = is_long
            .then(|| bound_by(processors, disk_share.unwrap_or(0.0)))
            .filter(|bound| is_seen || *bound != BoundBy::Waiting);
        (self.elapsed_ns, self.rate) = (elapsed_ns, rate);
        (self.processors, self.disk_share) = ((total_ns > 0).then_some(processors), disk_share);
        (self.ready_share, self.bound_by) = (ready_share, bound_by);
    }

    /// Those that are part of the numbers.
    pub fn counted(&self) -> impl Iterator<Item = &Iteration> {
        self.iterations.iter().filter(|iteration| iteration.counted)
    }
}

/// What kept something from being faster that had so many processors busy and waited so much for the disk.
fn bound_by(processors: f64, disk_share: f64) -> BoundBy {
    let computing = processors.min(1.0);
    let others = 1.0 - computing - disk_share;
    if others > computing.max(disk_share) {
        BoundBy::Waiting
    } else if disk_share > computing {
        BoundBy::Io
    } else {
        BoundBy::Cpu
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn iteration(elapsed_ns: u64) -> Iteration {
        Iteration { elapsed_ns, counted: true, ..Iteration::default() }
    }

    impl ApplicationResult {
        fn add(&mut self, iteration: Iteration) {
            self.iterations.push(iteration);
            self.summarize();
        }
    }

    #[test]
    fn a_spread_says_what_a_table_of_seconds_does() {
        let spread = Spread::of([5.0, 3.0, 4.0]).unwrap();
        assert_eq!((spread.count, spread.min, spread.mean, spread.median, spread.max), (3, 3.0, 4.0, 4.0, 5.0));
        assert_eq!(spread.stddev, Some(1.0));
        // t(0.975, 2) / sqrt(3) = 4.303 / 1.732.
        let (low, high) = (spread.low.unwrap(), spread.high.unwrap());
        assert!((low - 1.516).abs() < 1e-3 && (high - 6.484).abs() < 1e-3, "{low} {high}");
        let two = Spread::of([1.0, 2.0]).unwrap();
        assert_eq!((two.median, two.low, two.high), (1.5, None, None));
        assert_eq!(Spread::of([]), None);
    }

    #[test]
    fn who_computes_is_bound_by_processors_and_who_waits_for_the_disk_by_it() {
        let mut cpu = ApplicationResult::default();
        cpu.add(Iteration {
            user_ns: 700_000_000,
            server_system_ns: 200_000_000,
            looks: 48,
            disk_wait_share: Some(0.3),
            ..iteration(1_000_000_000)
        });
        assert_eq!((cpu.bound_by, cpu.processors, cpu.disk_share), (Some(BoundBy::Cpu), Some(0.9), Some(0.3)));
        let mut io = ApplicationResult::default();
        let device = DeviceActivity { busy_ns: 900_000_000, ..DeviceActivity::default() };
        io.add(Iteration {
            user_ns: 500_000_000,
            looks: 48,
            disk_wait_share: Some(0.7),
            device: Some(device),
            ..iteration(1_000_000_000)
        });
        assert_eq!((io.bound_by, io.disk_share), (Some(BoundBy::Io), Some(0.9)));
        let mut waiting = ApplicationResult::default();
        let seen = Iteration { looks: 48, disk_wait_share: Some(0.0), ..iteration(1_000_000_000) };
        waiting.add(Iteration { user_ns: 200_000_000, runnable_share: Some(0.75), ..seen });
        assert_eq!((waiting.bound_by, waiting.disk_share), (Some(BoundBy::Waiting), Some(0.0)));
        let ready = waiting.ready_share.unwrap();
        assert!((ready - 0.55).abs() < 1e-9, "{ready}");
        let mut unseen = ApplicationResult::default();
        unseen.add(Iteration { looks: 3, disk_wait_share: Some(0.0), ..iteration(1_000_000_000) });
        assert_eq!((unseen.bound_by, unseen.ready_share), (None, None), "nobody saw what it did");
        let mut brief = ApplicationResult::default();
        brief.add(Iteration { user_ns: 900_000, ..iteration(1_000_000) });
        assert_eq!(brief.bound_by, None, "it is over before anybody can tell");
    }

    #[test]
    fn who_moves_hardly_anything_is_not_bound_by_what_others_have_the_disk_do() {
        let device = DeviceActivity { busy_ns: 650_000_000, write_bytes: 40 << 20, ..DeviceActivity::default() };
        let beside = |own: Option<u64>| {
            let mut result = ApplicationResult::default();
            result.add(Iteration {
                device: Some(device.clone()),
                read_bytes: own,
                written_bytes: own,
                looks: 48,
                disk_wait_share: Some(0.01),
                ..iteration(1_000_000_000)
            });
            (result.bound_by.unwrap(), result.disk_share.unwrap())
        };
        assert_eq!(beside(Some(8 << 10)), (BoundBy::Waiting, 0.01));
        assert_eq!(beside(Some(5 << 20)), (BoundBy::Io, 0.65));
        let (bound, share) = beside(Some(1 << 20));
        assert!(bound == BoundBy::Waiting && (share - 0.13).abs() < 1e-9, "a fifth of it was for this one: {share}");
        assert_eq!(beside(None), (BoundBy::Io, 0.65), "who does not know keeps what the disk tells");
    }

    #[test]
    fn looks_at_all_iterations_say_together_what_those_at_one_do_not() {
        let mut result = ApplicationResult::default();
        for (share, disk_share) in [(1.0, None), (0.5, None), (0.0, None), (0.5, Some(0.5))] {
            let brief = Iteration { looks: 6, disk_wait_share: Some(share), ..iteration(120_000_000) };
            assert_eq!(brief.disk_share(), None);
            result.add(brief);
            assert_eq!((result.disk_share, result.bound_by.is_some()), (disk_share, disk_share.is_some()));
        }
    }

    #[test]
    fn what_does_not_count_is_kept_and_not_counted() {
        let mut result = ApplicationResult::default();
        result.add(iteration(10));
        result.add(Iteration { counted: false, invalid: Some("verify failed".to_owned()), ..iteration(90) });
        assert_eq!((result.iterations.len(), result.elapsed_ns.map(|spread| spread.max)), (2, Some(10.0)));
    }

    #[test]
    fn a_rate_is_one_of_all_iterations_or_none() {
        let with = |figure: &str| Iteration { figures: OwnFigure::parse(figure).unwrap(), ..iteration(10) };
        let mut result = ApplicationResult::default();
        result.add(with("latency 3 ms\ntps 100 /s"));
        result.add(with("tps 200 /s"));
        let rate = result.rate.clone().unwrap();
        assert_eq!((rate.name.as_str(), rate.spread.mean), ("tps", 150.0));
        result.add(iteration(10));
        assert_eq!(result.rate, None);
    }

    #[test]
    fn a_rate_is_in_bytes_or_in_something_else() {
        for (unit, bytes, operations) in [
            ("/s", None, Some(2.0)),
            ("tx/s", None, Some(2.0)),
            ("k/s", None, Some(2000.0)),
            ("kops/s", None, Some(2000.0)),
            ("Mreq/s", None, Some(2e6)),
            ("Krows/s", None, Some(2000.0)),
            ("tops/s", None, Some(2.0)),
            ("1/s", None, Some(2.0)),
            ("ops/sec", None, Some(2.0)),
            ("/second", None, Some(2.0)),
            ("MB/sec", Some(2e6), None),
            ("bytes/s", Some(2.0), None),
            ("Mbit/s", Some(250_000.0), None),
            ("kb/s", Some(250.0), None),
            ("i/s", None, Some(2.0)),
            ("jobs/s", None, Some(2.0)),
            ("4kB/s", None, Some(2.0)),
            ("B/s", Some(2.0), None),
            ("MB/s", Some(2e6), None),
            ("KiB/s", Some(2048.0), None),
            ("XB/s", None, Some(2.0)),
            ("MB", None, None),
        ] {
            let figure = OwnFigure { name: "x".to_owned(), value: 2.0, unit: unit.to_owned() };
            assert_eq!((figure.bytes_per_second(), figure.operations_per_second()), (bytes, operations), "{unit}");
        }
    }

    #[test]
    fn figures_are_lines_of_a_name_a_value_and_a_unit() {
        let figures = OwnFigure::parse("# of pgbench\n\n tps  131.5 /s\nshare 0.5\n").unwrap();
        let unit = |figure: &OwnFigure| (figure.name.clone(), figure.value, figure.unit.clone());
        let due = [("tps".to_owned(), 131.5, "/s".to_owned()), ("share".to_owned(), 0.5, String::new())];
        assert_eq!(figures.iter().map(unit).collect::<Vec<_>>(), due);
        assert!(OwnFigure::parse("tps -5 /s").unwrap_err().contains("less than nothing"));
        assert!(OwnFigure::parse("tps -5 ops/sec").unwrap_err().contains("less than nothing"));
        assert!(OwnFigure::parse("drift -5 ms").unwrap()[0].value < 0.0, "what is no rate may be less than nothing");
        for wrong in ["tps", "tps many /s", "tps inf /s", "tps 1 /s more"] {
            assert!(OwnFigure::parse(wrong).unwrap_err().contains("is no figure"), "{wrong}");
        }
    }
}
