//! Units as people write them, and what kind of quantity each is of.

/// What kind of quantity a number is: powers of bytes and of seconds. IOPS are one over seconds; operations, runs and
/// ratios are plain numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Dimension {
    pub(super) bytes: i8,
    pub(super) seconds: i8,
}

impl Dimension {
    pub(super) const PLAIN: Self = Self { bytes: 0, seconds: 0 };
    pub(super) const BYTES: Self = Self { bytes: 1, seconds: 0 };
    pub(super) const SECONDS: Self = Self { bytes: 0, seconds: 1 };
    pub(super) const RATE: Self = Self { bytes: 0, seconds: -1 };
    pub(super) const BYTE_RATE: Self = Self { bytes: 1, seconds: -1 };

    pub(super) const fn times(self, other: Self) -> Self {
        Self { bytes: self.bytes.saturating_add(other.bytes), seconds: self.seconds.saturating_add(other.seconds) }
    }

    pub(super) const fn per(self, other: Self) -> Self {
        Self { bytes: self.bytes.saturating_sub(other.bytes), seconds: self.seconds.saturating_sub(other.seconds) }
    }

    /// What it is called when it does not fit.
    pub(super) fn name(self) -> String {
        match self {
            Self::PLAIN => "a plain number".to_owned(),
            Self::BYTES => "bytes".to_owned(),
            Self::SECONDS => "a time".to_owned(),
            Self::RATE => "a rate of operations".to_owned(),
            Self::BYTE_RATE => "a rate of bytes".to_owned(),
            Self { bytes, seconds } => format!("bytes^{bytes} seconds^{seconds}"),
        }
    }
}

/// What a unit does beside scaling.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// It scales.
    Scale,
    /// `%`: a share, or a difference in a comparison.
    Percent,
    /// `times`: a factor.
    Times,
    /// Orders of magnitude: a power of ten.
    Orders,
    /// It may be bits or bytes, so that it only helps to find names of workloads.
    Ambiguous,
}

/// A unit.
#[derive(Debug, PartialEq)]
pub(crate) struct Unit {
    /// How it is written back, then other spellings. Longer ones are tried first.
    pub(super) spellings: &'static [&'static str],
    pub(crate) factor: f64,
    pub(super) dimension: Dimension,
    pub(super) kind: Kind,
}

impl Unit {
    pub(crate) const fn name(&self) -> &'static str {
        self.spellings[0]
    }

    /// Whether bytes in it are powers of 1024.
    pub(super) fn is_binary(&self) -> bool {
        self.name().contains("iB")
    }
}

const fn scale(spellings: &'static [&'static str], factor: f64, dimension: Dimension) -> Unit {
    Unit { spellings, factor, dimension, kind: Kind::Scale }
}

const KIB: f64 = 1024.0;

/// No unit at all.
pub(super) static PLAIN: Unit = scale(&[""], 1.0, Dimension::PLAIN);
pub(super) static PERCENT: Unit =
    Unit { spellings: &["%", "percent", "per cent"], factor: 0.01, dimension: Dimension::PLAIN, kind: Kind::Percent };
pub(super) static TIMES: Unit = Unit {
    spellings: &["times", "x", "×", "fold", "-fold"],
    factor: 1.0,
    dimension: Dimension::PLAIN,
    kind: Kind::Times,
};
/// That of a word which is a factor by itself: `twice`.
pub(super) static FACTOR: Unit = Unit { spellings: &[""], factor: 1.0, dimension: Dimension::PLAIN, kind: Kind::Times };
static ORDERS: Unit = Unit {
    spellings: &["orders of magnitude", "order of magnitude"],
    factor: 1.0,
    dimension: Dimension::PLAIN,
    kind: Kind::Orders,
};
static AMBIGUOUS: [Unit; 3] = [
    ambiguous(&["kb", "kb/s", "Kb", "Kb/s"]),
    ambiguous(&["Mb", "Mb/s", "mb", "mb/s"]),
    ambiguous(&["Gb", "Gb/s", "gb", "gb/s"]),
];

const fn ambiguous(spellings: &'static [&'static str]) -> Unit {
    Unit { spellings, factor: 1.0, dimension: Dimension::PLAIN, kind: Kind::Ambiguous }
}

pub(super) static IOPS: Unit = scale(&["IOPS", "iops", "IOps", "IO/s", "ops/s", "files/s"], 1.0, Dimension::RATE);
pub(super) static SECONDS: Unit = scale(&["s", "sec", "secs", "second", "seconds"], 1.0, Dimension::SECONDS);
pub(super) static MINUTES: Unit = scale(&["min", "mins", "minute", "minutes"], 60.0, Dimension::SECONDS);
pub(super) static HOURS: Unit = scale(&["h", "hr", "hrs", "hour", "hours"], 3600.0, Dimension::SECONDS);
pub(super) static MILLISECONDS: Unit = scale(&["ms", "msec", "milliseconds"], 1e-3, Dimension::SECONDS);
pub(super) static MICROSECONDS: Unit = scale(&["us", "µs", "μs", "usec", "microseconds"], 1e-6, Dimension::SECONDS);
static NANOSECONDS: Unit = scale(&["ns", "nsec", "nanoseconds"], 1e-9, Dimension::SECONDS);

/// Units of bytes, decimal beside binary ones.
pub(crate) static BYTES: [Unit; 9] = [
    scale(&["B", "byte", "bytes"], 1.0, Dimension::BYTES),
    scale(&["kB", "KB"], 1e3, Dimension::BYTES),
    scale(&["KiB"], KIB, Dimension::BYTES),
    scale(&["MB"], 1e6, Dimension::BYTES),
    scale(&["MiB"], KIB * KIB, Dimension::BYTES),
    scale(&["GB"], 1e9, Dimension::BYTES),
    scale(&["GiB"], KIB * KIB * KIB, Dimension::BYTES),
    scale(&["TB"], 1e12, Dimension::BYTES),
    scale(&["TiB"], KIB * KIB * KIB * KIB, Dimension::BYTES),
];

/// Units of bytes, or bits, per second.
pub(super) static BYTE_RATES: [Unit; 12] = [
    scale(&["B/s", "bytes/s"], 1.0, Dimension::BYTE_RATE),
    scale(&["kB/s", "KB/s", "kBps", "KBps"], 1e3, Dimension::BYTE_RATE),
    scale(&["KiB/s", "KiBps"], KIB, Dimension::BYTE_RATE),
    scale(&["MB/s", "MBps", "MBPS"], 1e6, Dimension::BYTE_RATE),
    scale(&["MiB/s", "MiBps"], KIB * KIB, Dimension::BYTE_RATE),
    scale(&["GB/s", "GBps"], 1e9, Dimension::BYTE_RATE),
    scale(&["GiB/s", "GiBps"], KIB * KIB * KIB, Dimension::BYTE_RATE),
    scale(&["TB/s", "TBps"], 1e12, Dimension::BYTE_RATE),
    scale(&["TiB/s", "TiBps"], KIB * KIB * KIB * KIB, Dimension::BYTE_RATE),
    scale(&["kbit/s", "kbps", "Kbps"], 125.0, Dimension::BYTE_RATE),
    scale(&["Mbit/s", "Mbps"], 125e3, Dimension::BYTE_RATE),
    scale(&["Gbit/s", "Gbps"], 125e6, Dimension::BYTE_RATE),
];

/// Every unit.
fn all() -> impl Iterator<Item = &'static Unit> {
    let others =
        [&PERCENT, &TIMES, &ORDERS, &IOPS, &SECONDS, &MINUTES, &HOURS, &MILLISECONDS, &MICROSECONDS, &NANOSECONDS];
    BYTES.iter().chain(&BYTE_RATES).chain(&AMBIGUOUS).chain(others)
}

/// The unit that a text begins with, and how many bytes it takes there: the longest one that is a word.
pub(super) fn leading(text: &str) -> Option<(&'static Unit, usize)> {
    let spelled = |unit: &'static Unit| {
        let fits = |spelling: &&&str| {
            let rest = text.strip_prefix(**spelling);
            rest.is_some_and(|rest| {
                spelling.ends_with('%') || !rest.starts_with(|next: char| next.is_alphanumeric() || next == '_')
            })
        };
        unit.spellings.iter().filter(fits).map(|spelling| spelling.len()).max().map(|length| (unit, length))
    };
    all().filter_map(spelled).max_by_key(|(_, length)| *length)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_unit_that_is_a_word_is_taken() {
        let of = |text| leading(text).map(|(unit, length)| (unit.name(), length));
        assert_eq!(of("MB/s of it"), Some(("MB/s", 4)));
        assert_eq!(of("GiB/101 GiB"), Some(("GiB", 3)));
        assert_eq!(of("MBps"), Some(("MB/s", 4)));
        assert_eq!(of("Mb/s"), Some(("Mb", 4)));
        assert_eq!((of("sectors"), of("xfs"), of("%"), of("%x")), (None, None, Some(("%", 1)), Some(("%", 1))));
        assert_eq!(of("order of magnitude slower"), Some(("orders of magnitude", 18)));
    }
}
