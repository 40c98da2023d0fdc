//! How deep the queue has to be, and where more depth only makes operations wait.

/// The knee is the lowest depth whose rate is this close to the highest.
const CLOSE: f64 = 0.05;

/// One depth of a sweep.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DepthPoint {
    /// Operations in flight, all jobs together.
    pub depth: u32,
    /// Operations a second.
    pub rate: f64,
    /// The interval of that, where there is one.
    pub interval: Option<(f64, f64)>,
}

/// The knee of a sweep.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Knee {
    /// The lowest depth within 5 % of the highest rate.
    pub depth: u32,
    /// The rate there.
    pub rate: f64,
    /// The highest rate of the sweep.
    pub highest_rate: f64,
    /// Whether the knee is the deepest point: deeper might still be faster.
    pub open_ended: bool,
}

/// Finds the knee of a sweep; `None` below two depths, without any rate, and where only the deepest is close to the
/// highest and the error of another reaches it: nobody knows then whether depth still helps.
pub fn knee(points: &[DepthPoint]) -> Option<Knee> {
    let highest = points.iter().max_by(|left, right| left.rate.total_cmp(&right.rate))?;
    let deepest = points.iter().map(|point| point.depth).max()?;
    let close = |point: &&DepthPoint| point.rate >= (1.0 - CLOSE) * highest.rate;
    let at = points.iter().filter(close).min_by_key(|point| point.depth)?;
    let is_deepest = at.depth == deepest;
    let reaches_it = |point: &DepthPoint| {
        point.depth != at.depth && point.interval.zip(at.interval).is_some_and(|(one, deepest)| one.1 >= deepest.0)
    };
    if is_deepest && points.iter().any(reaches_it) {
        return None;
    }
    let is_sweep = points.iter().any(|point| point.depth != deepest) && highest.rate > 0.0;
    is_sweep.then_some(Knee { depth: at.depth, rate: at.rate, highest_rate: highest.rate, open_ended: is_deepest })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn sweep(rates: &[f64]) -> Vec<DepthPoint> {
        known_to(rates, None)
    }

    /// The same with an error, a share of each rate.
    fn known_to(rates: &[f64], error: Option<f64>) -> Vec<DepthPoint> {
        let point = |(power, rate): (usize, &f64)| DepthPoint {
            depth: 1 << power,
            rate: *rate,
            interval: error.map(|error| (rate * (1.0 - error), rate * (1.0 + error))),
        };
        rates.iter().enumerate().map(point).collect()
    }

    #[test]
    fn the_knee_is_where_more_depth_stops_to_help() {
        let found = knee(&sweep(&[1000.0, 1990.0, 3800.0, 4850.0, 5000.0, 4990.0])).unwrap();
        assert_eq!((found.depth, found.open_ended), (8, false));
    }

    #[test]
    fn a_rate_that_still_rises_has_an_open_knee() {
        assert!(knee(&sweep(&[1.0, 2.0, 4.0, 8.0])).unwrap().open_ended);
        assert_eq!(knee(&sweep(&[1.0])), None);
        assert_eq!(knee(&sweep(&[0.0, 0.0])), None);
    }

    #[test]
    fn a_rate_does_not_rise_within_its_error() {
        let rates = [1000.0, 2000.0, 4000.0, 4400.0];
        assert!(knee(&known_to(&rates, Some(0.01))).unwrap().open_ended);
        assert_eq!(knee(&known_to(&rates, Some(0.1))), None);
        assert_eq!(
            knee(&known_to(&[4000.0, 4100.0], Some(0.1))).unwrap().depth,
            1,
            "the lowest that is close is enough"
        );
    }

    proptest! {
        #[test]
        fn no_lower_depth_is_close_to_the_highest_rate(rates in proptest::collection::vec(1.0..1e5_f64, 2..9)) {
            let points = sweep(&rates);
            let found = knee(&points).unwrap();
            prop_assert!(found.rate >= 0.95 * found.highest_rate);
            let lower = points.iter().filter(|point| point.depth < found.depth);
            prop_assert!(lower.clone().all(|point| point.rate < 0.95 * found.highest_rate));
        }
    }
}
