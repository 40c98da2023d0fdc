//! What cannot be excluded without a catalog: a burst allowance larger than the session used.

/// The rate that the sustained one is supposed to be, as a share of the measured one.
const SUPPOSED: f64 = 0.5;

/// Load on a target: all cells', ramps included.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Load {
    /// When it began, in nanoseconds since the session began.
    pub from_ns: u64,
    /// When it ended.
    pub to_ns: u64,
    /// Operations completed.
    pub operations: f64,
}

/// The allowance that would have had to be there, had the measured rate been a burst.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HiddenBurst {
    /// Time from the first load on the target to the last.
    pub span_ns: u64,
    /// The sustained rate that is supposed.
    pub supposed_rate: f64,
    /// Operations that the allowance would exceed.
    pub operations: f64,
}

/// Plays the session against a bucket that refills at half of the measured rate: the most that it would have lacked at
/// any moment is what it must have held. Load is in the order of time. `None` without load.
pub fn hidden_burst(rate: f64, load: &[Load]) -> Option<HiddenBurst> {
    let first = load.first()?;
    let end_ns = load.iter().map(|part| part.to_ns).max()?;
    let supposed_rate = SUPPOSED * rate;
    let refill = |from_ns: u64, to_ns: u64| supposed_rate * to_ns.saturating_sub(from_ns) as f64 / 1e9;
    let (mut lacking, mut most, mut t_ns) = (0.0_f64, 0.0_f64, first.from_ns);
    for part in load {
        lacking = (lacking - refill(t_ns, part.from_ns)).max(0.0);
        // What goes on at the same time does not fill the bucket twice.
        lacking = (lacking + part.operations - refill(part.from_ns.max(t_ns), part.to_ns)).max(0.0);
        most = most.max(lacking);
        t_ns = t_ns.max(part.to_ns);
    }
    Some(HiddenBurst { span_ns: end_ns - first.from_ns, supposed_rate, operations: most })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const SECOND: u64 = 1_000_000_000;

    #[test]
    fn load_in_one_piece_leaves_half_of_its_operations_unexplained() {
        let load = [Load { from_ns: 0, to_ns: 120 * SECOND, operations: 600_000.0 }];
        let hidden = hidden_burst(5000.0, &load).unwrap();
        assert!((hidden.operations - 300_000.0).abs() < 1e-6);
        assert_eq!(hidden.span_ns, 120 * SECOND);
    }

    #[test]
    fn loads_at_the_same_time_share_what_refills() {
        let load = |from: u64, to: u64| Load { from_ns: from * SECOND, to_ns: to * SECOND, operations: 500_000.0 };
        let hidden = hidden_burst(5000.0, &[load(0, 100), load(0, 100)]).unwrap();
        assert!((hidden.operations - 750_000.0).abs() < 1e-6, "{hidden:?}");
        assert_eq!(hidden_burst(5000.0, &[load(0, 100), load(1, 10)]).unwrap().span_ns, 100 * SECOND);
    }

    #[test]
    fn rest_between_visits_fills_the_bucket_again() {
        let visit = |at: u64| Load { from_ns: at * SECOND, to_ns: (at + 7) * SECOND, operations: 35_000.0 };
        let hidden = hidden_burst(5000.0, &[visit(0), visit(84), visit(168)]).unwrap();
        assert!((hidden.operations - 17_500.0).abs() < 1e-6);
    }

    proptest! {
        #[test]
        fn more_load_never_needs_a_smaller_allowance(
            operations in proptest::collection::vec(0.0..1e4_f64, 1..50),
            rate in 1.0..1e4_f64,
        ) {
            let load: Vec<Load> = operations
                .iter()
                .enumerate()
                .map(|(t, operations)| Load {
                    from_ns: t as u64 * SECOND,
                    to_ns: (t as u64 + 1) * SECOND,
                    operations: *operations,
                })
                .collect();
            let most = |load: &[Load]| hidden_burst(rate, load).unwrap().operations;
            prop_assert!(most(&load) >= most(&load[..load.len().div_ceil(2)]));
        }
    }
}
