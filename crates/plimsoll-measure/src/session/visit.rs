//! What a visit to a cell measured.

const SECOND_NS: f64 = 1e9;

/// What completed in a stretch of time.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Sample {
    /// Operations completed.
    pub count: f64,
    /// The length of the stretch, as the clock had it.
    pub elapsed_ns: u64,
}

impl Sample {
    /// The length in seconds.
    pub fn seconds(&self) -> f64 {
        self.elapsed_ns as f64 / SECOND_NS
    }

    /// Operations a second; 0 in no time.
    pub fn rate(&self) -> f64 {
        if self.elapsed_ns == 0 { 0.0 } else { self.count / self.seconds() }
    }

    fn and(self, other: Self) -> Self {
        Self { count: self.count + other.count, elapsed_ns: self.elapsed_ns + other.elapsed_ns }
    }
}

/// One visit.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Visit {
    /// When the measured part began, in nanoseconds since the session began.
    pub from_ns: u64,
    /// The ramp before it, which is not judged but spends tokens.
    pub ramp: Sample,
    /// The measured part, second by second; the last one may be shorter.
    pub seconds: Vec<Sample>,
}

impl Visit {
    /// The end of the measured part.
    pub fn to_ns(&self) -> u64 {
        self.from_ns + self.total().elapsed_ns
    }

    /// All of the measured part.
    pub fn total(&self) -> Sample {
        self.seconds.iter().fold(Sample::default(), |sum, second| sum.and(*second))
    }

    /// When the ramp began.
    pub(super) const fn load_from_ns(&self) -> u64 {
        self.from_ns.saturating_sub(self.ramp.elapsed_ns)
    }

    /// The ramp and the seconds of the measured part, and when each began.
    pub(super) fn samples(&self) -> impl Iterator<Item = (u64, Sample)> {
        let mut at_ns = self.load_from_ns();
        std::iter::once(&self.ramp).chain(&self.seconds).map(move |sample| {
            let began_ns = at_ns;
            at_ns += sample.elapsed_ns;
            (began_ns, *sample)
        })
    }

    /// The rates of the seconds. A last stretch of less than half a second counts with the one before: alone, it would
    /// be noisier than the others.
    pub fn rates(&self) -> Vec<f64> {
        let mut seconds = self.seconds.clone();
        if let [.., before, last] = seconds.as_mut_slice()
            && last.seconds() < 0.5
        {
            *before = before.and(*last);
            seconds.pop();
        }
        seconds.iter().map(Sample::rate).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn visit(seconds: &[(f64, u64)]) -> Visit {
        let sample =
            |(count, milliseconds): &(f64, u64)| Sample { count: *count, elapsed_ns: milliseconds * 1_000_000 };
        Visit { seconds: seconds.iter().map(sample).collect(), ..Visit::default() }
    }

    #[test]
    fn rates_use_the_time_that_really_went_by() {
        assert_eq!(visit(&[(500.0, 1000), (300.0, 500)]).rates(), [500.0, 600.0]);
    }

    #[test]
    fn a_crumb_at_the_end_joins_the_second_before() {
        assert_eq!(visit(&[(500.0, 1000), (100.0, 250)]).rates(), [480.0]);
        assert_eq!(visit(&[(10.0, 250)]).rates(), [40.0]);
    }

    #[test]
    fn nothing_measured_is_a_rate_of_zero() {
        assert_eq!(visit(&[]).rates(), [0.0; 0]);
        assert!(visit(&[]).total().rate() < f64::MIN_POSITIVE);
    }
}
