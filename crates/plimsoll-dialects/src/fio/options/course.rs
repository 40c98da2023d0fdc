//! Options about time, loops, clones, groups, errors and processors.

use super::{
    Category::Course,
    Entry,
    kind::{Kind, word},
};
use crate::fio::{
    error_numbers, lists,
    settings::{ContinueOn, Ends, IgnoredErrors, ProcessorPolicy, SteadyQuantity, SteadyState},
    value::{Reading, TimeUnit, TimeUnit::Seconds},
};
use crate::problem::Wrong;

/// Clones of a job; fio has the same bound for all jobs.
pub(in crate::fio) const CLONES_MAX: u32 = 4096;

pub(super) const ENTRIES: &[Entry] = &[
    Entry::exact(
        Course,
        "name",
        Kind::Text,
        "What reports call the job; on the command line it begins one",
        |s, v, _| {
            s.name = Some(v.text());
            Ok(())
        },
    ),
    Entry::exact(Course, "description", Kind::Text, "A text that the report repeats", |s, v, _| {
        s.description = Some(v.text());
        Ok(())
    }),
    Entry::exact(
        Course,
        "numjobs",
        Kind::Integer { min: 1, max: CLONES_MAX as i64 },
        "How many clones of the job run",
        |s, v, _| {
            s.course.clones = v.small();
            Ok(())
        },
    )
    .default("1"),
    Entry::exact(
        Course,
        "loops",
        Kind::Integer { min: 0, max: u32::MAX as i64 },
        "How often it is all done",
        |s, v, _| {
            s.course.loops = v.small().max(1);
            Ok(())
        },
    )
    .default("1")
    .approximate("blocks are verified once, after the last loop")
    .when(|s| s.course.loops > 1 && s.content.verify.is_some() && s.pattern.direction.writes),
    Entry::exact(Course, "runtime", Kind::Time(Seconds), "For how long at most", |s, v, _| {
        s.course.runtime = v.time_unless_zero();
        Ok(())
    })
    .aliases(&["timeout"])
    .default("0"),
    Entry::exact(Course, "time_based", Kind::Flag, "Repeat until the runtime is over", |s, v, _| {
        s.course.is_time_based = v.truth();
        Ok(())
    })
    .approximate("a sequence begins anywhere in the region")
    .when(|s| s.course.is_time_based && !s.pattern.direction.is_random),
    Entry::exact(Course, "ramp_time", Kind::Time(Seconds), "Load before anything is measured", |s, v, _| {
        s.course.ramp = v.time_unless_zero();
        Ok(())
    })
    .approximate("what the ramp does comes on top of a size")
    .when(|s| s.course.ramp.is_some() && !s.course.is_time_based),
    Entry::exact(Course, "startdelay", Kind::TimeRange(Seconds), "Wait before the job starts", |s, v, _| {
        s.course.start_delay = Some(v.time_range()).filter(|range| range.high.ns > 0);
        Ok(())
    })
    .default("0")
    .approximate("of a range, it is the shorter end")
    .told_by_lowering(),
    Entry::exact(Course, "stonewall", Kind::Flag, "Wait for all jobs before this one", |s, v, _| {
        s.course.waits_for_all = v.truth();
        Ok(())
    })
    .aliases(&["wait_for_previous"]),
    Entry::exact(Course, "new_group", Kind::Flag, "Begin a group of the report", |s, v, _| {
        s.course.begins_group = v.truth();
        Ok(())
    }),
    Entry::exact(Course, "wait_for", Kind::Text, "Wait for the job of this name", |s, v, _| {
        s.course.waits_for = Some(v.text());
        Ok(())
    })
    .approximate("everything that runs beside that job is waited for")
    .told_by_lowering(),
    Entry::exact(Course, "exitall", Kind::Flag, "The end of this job ends others", |s, v, _| {
        s.course.ends_all = v.truth();
        Ok(())
    })
    .approximate("everything that runs beside this job ends, whatever its group")
    .told_by_lowering(),
    Entry::exact(
        Course,
        "exit_what",
        Kind::Choice(&["group", "stonewall", "all"]),
        "Which others exitall ends",
        |s, v, _| {
            s.course.ends = match v.word() {
                "stonewall" => Ends::Stonewall,
                "all" => Ends::All,
                _ => Ends::Group,
            };
            Ok(())
        },
    )
    .default("group")
    .approximate("everything that runs beside this job ends, and what comes later is run")
    .told_by_lowering(),
    Entry::exact(Course, "exitall_on_error", Kind::Flag, "An error of this job ends others", |s, v, _| {
        s.course.error_ends_all = v.truth();
        Ok(())
    })
    .ignored_for("an error ends its own job")
    .when(|s| s.course.error_ends_all),
    Entry::exact(
        Course,
        "continue_on_error",
        Kind::Choice(&["none", "read", "write", "io", "verify", "all", "0", "1"]),
        "Which errors do not end the job",
        |s, v, _| {
            let word = v.word();
            let is_all = word == "all" || word == "1";
            s.course.continues_on = ContinueOn {
                read: is_all || word == "read" || word == "io",
                write: is_all || word == "write" || word == "io",
                verify: is_all || word == "verify",
            };
            Ok(())
        },
    )
    .default("none")
    .approximate("errors of all kinds count; in a mix, those of both directions; bad blocks never end a job")
    .when(|s| {
        let (direction, continues) = (s.pattern.direction, s.course.continues_on);
        direction.reads && direction.writes && continues.read != continues.write
    }),
    Entry::exact(
        Course,
        "ignore_error",
        Kind::Special("names or numbers of errors between colons, for reads, writes and verification with commas"),
        "Which errors are not counted",
        |s, v, _| {
            s.course.ignored_errors = ignored_errors(&v.text())?;
            Ok(())
        },
    )
    .approximate("all errors of a direction that has a list are gone on after, and counted")
    .when(|s| s.course.ignored_errors != IgnoredErrors::default()),
    Entry::exact(
        Course,
        "steadystate",
        Kind::Special("iops, bw or lat, with _slope or without, a colon, and a limit: iops_slope:0.3%"),
        "When the job is steady enough to end",
        |s, v, reading| {
            s.course.steady_state = Some(steady_state(&v.text(), reading)?);
            Ok(())
        },
    )
    .aliases(&["ss"])
    .approximate("judged by plimsoll's rules; fio's figures are reported beside its verdict"),
    Entry::exact(Course, "steadystate_duration", Kind::Time(Seconds), "For how long it has to be steady", |s, v, _| {
        s.course.steady_state_duration = v.time_unless_zero();
        Ok(())
    })
    .aliases(&["ss_dur"])
    .default("0")
    .approximate("the span of fio's figures in the report; plimsoll's rules decide")
    .told_by_lowering(),
    Entry::exact(Course, "steadystate_ramp_time", Kind::Time(Seconds), "When to begin to watch", |s, v, _| {
        s.course.steady_state_ramp = v.time();
        Ok(())
    })
    .aliases(&["ss_ramp"])
    .default("0")
    .ignored_for("plimsoll's rules find out from when on a job is steady")
    .unless(&["0"]),
    Entry::exact(Course, "steadystate_check_interval", Kind::Time(Seconds), "How often to look", |s, v, _| {
        let interval = v.time();
        if interval.ns < 1_000_000_000 {
            return Err(Wrong::new("the interval is shorter than a second").instead("write at least 1"));
        }
        s.course.steady_state_interval = interval;
        Ok(())
    })
    .aliases(&["ss_interval"])
    .default("1")
    .ignored_for("each second is looked at")
    .unless(&["1", "1s"]),
    Entry::exact(
        Course,
        "cpus_allowed",
        Kind::Special("processors and ranges as 0,2-4"),
        "Where threads may run",
        |s, v, _| {
            s.course.processors = lists::processors(&v.text())?;
            Ok(())
        },
    )
    .approximate("each thread is bound to one of them, in turn")
    .when(|s| s.course.processors.len() > 1 && s.course.processor_policy == ProcessorPolicy::Shared),
    Entry::exact(Course, "cpumask", Kind::Size, "Where threads may run, as the bits of a number", |s, v, _| {
        let mask = v.size().0;
        s.course.processors = (0..u64::BITS).filter(|bit| mask >> bit & 1 == 1).collect();
        Ok(())
    })
    .approximate("each thread is bound to one of them, in turn")
    .when(|s| s.course.processors.len() > 1 && s.course.processor_policy == ProcessorPolicy::Shared),
    Entry::exact(
        Course,
        "cpus_allowed_policy",
        Kind::Choice(&["shared", "split"]),
        "Whether each clone may use all of these processors or has one",
        |s, v, _| {
            s.course.processor_policy =
                if v.word() == "split" { ProcessorPolicy::Split } else { ProcessorPolicy::Shared };
            Ok(())
        },
    )
    .default("shared")
    .approximate("with shared, too, each thread is bound to one processor, in turn")
    .when(|s| s.course.processors.len() > 1 && s.course.processor_policy == ProcessorPolicy::Shared),
    Entry::exact(Course, "thread", Kind::Flag, "Clones are threads instead of processes", |s, v, _| {
        s.course.is_thread = v.truth();
        Ok(())
    })
    .approximate("clones are always threads")
    .when(|s| !s.course.is_thread),
    Entry::ignored(
        Course,
        "clocksource",
        Kind::Choice(&["gettimeofday", "clock_gettime", "cpu"]),
        "Where time comes from",
        "time is always that of the monotonic clock",
    )
    .unless(&["clock_gettime"]),
    Entry::ignored(Course, "error_dump", Kind::Boolean, "Tell of each error", "errors are always in the report")
        .default("0"),
    Entry::ignored(
        Course,
        "nice",
        Kind::Integer { min: -20, max: 19 },
        "The priority of threads",
        "run plimsoll under nice(1) instead",
    )
    .default("0")
    .unless(&["0"]),
    Entry::ignored(
        Course,
        "prio",
        Kind::Integer { min: 0, max: 7 },
        "The priority of I/O",
        "run plimsoll under ionice(1) instead",
    ),
    Entry::ignored(
        Course,
        "prioclass",
        Kind::Integer { min: 0, max: 3 },
        "The class of the priority of I/O",
        "run plimsoll under ionice(1) instead",
    ),
    Entry::ignored(
        Course,
        "ioscheduler",
        Kind::Text,
        "The scheduler of the device",
        "plimsoll does not change devices; the report names the scheduler that is there",
    ),
    Entry::ignored(
        Course,
        "numa_cpu_nodes",
        Kind::Text,
        "Nodes whose processors are used",
        "run plimsoll under numactl(8) instead",
    ),
    Entry::ignored(
        Course,
        "numa_mem_policy",
        Kind::Text,
        "Nodes whose memory is used",
        "run plimsoll under numactl(8) instead",
    ),
];

fn steady_state(text: &str, reading: &mut Reading) -> Result<SteadyState, Wrong> {
    let Some((name, limit)) = text.split_once(':') else {
        let wrong = Wrong::new(format!("\"{text}\" has no limit"));
        return Err(wrong.instead(format!("write {text}:10%")));
    };
    let name = word(name, &["iops", "iops_slope", "bw", "bw_slope", "lat", "lat_slope"])?;
    let is_slope = name.ends_with("_slope");
    let quantity = match name.trim_end_matches("_slope") {
        "bw" => SteadyQuantity::Bandwidth,
        "lat" => SteadyQuantity::Latency,
        _ => SteadyQuantity::Operations,
    };
    let limit = limit.trim();
    let (limit, is_percent) = match limit.strip_suffix('%') {
        Some(percent) => (reading.decimal(percent)?, true),
        None => {
            let limit = match quantity {
                SteadyQuantity::Operations => reading.decimal(limit)?,
                SteadyQuantity::Bandwidth => reading.number(limit)? as f64,
                SteadyQuantity::Latency => reading.time(limit, TimeUnit::Microseconds)?.ns as f64,
            };
            (limit, false)
        }
    };
    if limit < 0.0 {
        return Err(Wrong::new(format!("the limit of \"{text}\" is negative")));
    }
    Ok(SteadyState { quantity, is_slope, limit, is_percent })
}

fn ignored_errors(text: &str) -> Result<IgnoredErrors, Wrong> {
    const ERRORS_MAX: usize = 256;
    let lists: Vec<_> = text.splitn(4, ',').collect();
    if lists.len() > 3 {
        return Err(Wrong::new(format!("\"{text}\" has more than three lists"))
            .instead("write lists for reads, writes and verification"));
    }
    let list = |index: usize| -> Result<Vec<i32>, Wrong> {
        let names = lists.get(index).copied().unwrap_or_default().trim().split(':').filter(|name| !name.is_empty());
        names.take(ERRORS_MAX).map(error).collect()
    };
    Ok(IgnoredErrors { read: list(0)?, write: list(1)?, verify: list(2)? })
}

fn error(name: &str) -> Result<i32, Wrong> {
    const NUMBER_MAX: u32 = 4095;
    if let Some(number) = error_numbers::of(name) {
        return Ok(number);
    }
    let hexadecimal = name.strip_prefix("0x").or_else(|| name.strip_prefix("0X"));
    let number = match hexadecimal {
        Some(digits) => u32::from_str_radix(digits, 16).ok(),
        None => name.strip_prefix('-').unwrap_or(name).parse::<u32>().ok(),
    };
    let number =
        number.filter(|number| (1..=NUMBER_MAX).contains(number)).and_then(|number| i32::try_from(number).ok());
    number.ok_or_else(|| Wrong::new(format!("\"{name}\" is not a known error")).instead("write its number"))
}
