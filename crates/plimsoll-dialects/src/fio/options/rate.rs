//! Options about how fast: rates, think time, and latencies to stay below.

use plimsoll_workload::units::Span;

use super::{Category::Rate, Entry, kind::Kind};
use crate::fio::{
    lists::Directional,
    settings::{Arrivals, Settings, ThinkTimeCounts},
    value::TimeUnit::{Microseconds, Seconds},
};

const OPERATIONS: Kind = Kind::Integers { min: 0, max: u32::MAX as i64 };
const OPERATIONS_ONCE: Kind = Kind::Integer { min: 0, max: u32::MAX as i64 };

const LATE: &str = "judged when the job is over: it fails, and does not end early";

pub(super) const ENTRIES: &[Entry] = &[
    Entry::exact(Rate, "rate", Kind::Sizes, "Bytes per second at most", |s, v, _| {
        limits(v.sizes(), |size| size.0).put_over(&mut s.rate.bytes);
        Ok(())
    })
    .approximate("rates of both directions of a mix are one, with a drawn mix of the bytes that they make")
    .when(|s| is_mix(s) && s.rate.bytes.read.and(s.rate.bytes.write).is_some()),
    Entry::exact(Rate, "rate_iops", OPERATIONS, "Operations per second at most", |s, v, _| {
        limits(v.integers(), i64::cast_unsigned).put_over(&mut s.rate.operations);
        Ok(())
    })
    .approximate("rates of both directions of a mix are one, with the drawn mix that they make")
    .when(|s| is_mix(s) && s.rate.operations.read.and(s.rate.operations.write).is_some()),
    Entry::exact(Rate, "rate_min", Kind::Sizes, "Bytes per second at least; a slower job ends", |s, v, _| {
        limits(v.sizes(), |size| size.0).put_over(&mut s.rate.bytes_min);
        Ok(())
    })
    .aliases(&["ratemin"])
    .approximate(LATE),
    Entry::exact(Rate, "rate_iops_min", OPERATIONS, "Operations per second at least; a slower job ends", |s, v, _| {
        limits(v.integers(), i64::cast_unsigned).put_over(&mut s.rate.operations_min);
        Ok(())
    })
    .approximate(LATE),
    Entry::exact(
        Rate,
        "rate_process",
        Kind::Choice(&["linear", "poisson"]),
        "How operations arrive under a rate",
        |s, v, _| {
            s.rate.arrivals = if v.word() == "poisson" { Arrivals::Poisson } else { Arrivals::Linear };
            Ok(())
        },
    )
    .default("linear"),
    Entry::exact(Rate, "rate_cycle", Kind::Milliseconds, "The span over which a least rate is judged", |s, v, _| {
        s.rate.cycle = v.time();
        Ok(())
    })
    .aliases(&["ratecycle"])
    .default("1000")
    .ignored_for("each second is judged")
    .unless(&["1000"]),
    Entry::exact(Rate, "rate_ignore_thinktime", Kind::Boolean, "A rate catches up with think time", |s, v, _| {
        s.rate.ignores_think_time = v.truth();
        Ok(())
    })
    .default("0")
    .ignored_for("thinktime has no effect beside a rate")
    .when(|s| s.rate.ignores_think_time && s.rate.think_time > Span::default()),
    Entry::exact(Rate, "thinktime", Kind::Time(Microseconds), "Pause between operations", |s, v, _| {
        s.rate.think_time = v.time();
        Ok(())
    })
    .default("0")
    .approximate("it has no effect beside a rate")
    .told_by_lowering(),
    Entry::exact(
        Rate,
        "thinktime_spin",
        Kind::Time(Microseconds),
        "How much of the pause keeps the processor busy",
        |s, v, _| {
            s.rate.think_time_spin = v.time();
            Ok(())
        },
    )
    .default("0")
    .approximate("it is slept as the rest of thinktime is")
    .told_by_lowering(),
    Entry::exact(Rate, "thinktime_blocks", OPERATIONS_ONCE, "Operations between pauses", |s, v, _| {
        s.rate.think_time_blocks = v.small().max(1);
        Ok(())
    })
    .default("1"),
    Entry::exact(
        Rate,
        "thinktime_blocks_type",
        Kind::Choice(&["complete", "issue"]),
        "Whether operations between pauses are counted when they complete or when they are issued",
        |s, v, _| {
            s.rate.think_time_counts =
                if v.word() == "issue" { ThinkTimeCounts::Issued } else { ThinkTimeCounts::Completed };
            Ok(())
        },
    )
    .default("complete")
    .approximate("those that are issued are counted, and all of them complete before a pause")
    .when(|s| {
        let counts_completed = s.rate.think_time_counts == ThinkTimeCounts::Completed;
        counts_completed && s.rate.think_time > Span::default() && s.submission.depth > 1
    }),
    Entry::exact(Rate, "thinktime_iotime", Kind::Time(Seconds), "Time between pauses", |s, v, _| {
        s.rate.think_time_after = v.time_unless_zero();
        Ok(())
    })
    .default("0")
    .ignored_for("a pause comes after so many operations")
    .told_by_lowering(),
    Entry::exact(
        Rate,
        "max_latency",
        Kind::Times(Microseconds),
        "An operation that takes longer ends the job with an error",
        |s, v, _| {
            let times = v.times();
            let limit = |time| Some(Some(time).filter(|time: &Span| time.ns > 0));
            let limits = Directional {
                read: times.read.and_then(limit),
                write: times.write.and_then(limit),
                trim: times.trim.and_then(limit),
            };
            limits.put_over(&mut s.rate.latency_max);
            Ok(())
        },
    )
    .approximate(LATE),
    Entry::exact(
        Rate,
        "latency_target",
        Kind::Time(Microseconds),
        "Search the queue depth that stays below this latency",
        |s, v, _| {
            s.rate.latency_target = v.time_unless_zero();
            Ok(())
        },
    )
    .approximate("each depth is a run of its own, and the report is about the one at the depth that was found"),
    Entry::exact(Rate, "latency_window", Kind::Time(Microseconds), "For how long it has to stay below", |s, v, _| {
        s.rate.latency_window = v.time();
        Ok(())
    }),
    Entry::exact(
        Rate,
        "latency_percentile",
        Kind::Decimals { min: 0.0, max: 100.0, count: 1 },
        "How many percent of the operations have to stay below",
        |s, v, _| {
            s.rate.latency_percentile = v.decimals().first().copied().unwrap_or(100.0);
            Ok(())
        },
    )
    .default("100"),
    Entry::exact(Rate, "latency_run", Kind::Boolean, "Go on when the depth is found", |s, v, _| {
        s.rate.continues_at_target = v.truth();
        Ok(())
    })
    .default("0"),
];

fn is_mix(settings: &Settings) -> bool {
    settings.pattern.direction.reads && settings.pattern.direction.writes
}

/// Limits, of which 0 is none.
fn limits<A: Copy>(values: Directional<Option<A>>, number: impl Fn(A) -> u64) -> Directional<Option<Option<u64>>> {
    let limit = |value: A| Some(number(value)).filter(|number| *number > 0);
    Directional { read: values.read.map(limit), write: values.write.map(limit), trim: values.trim.map(limit) }
}
