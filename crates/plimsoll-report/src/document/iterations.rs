//! How long a command took, each time.

use plimsoll_record::{numbers, record::Cell};

use super::{IterationView, Iterations, rounded};

/// Each time that a command ran; `None` where none was timed.
pub(super) fn of(cell: &Cell) -> Option<Iterations> {
    let view = |elapsed_ns: u64, user_ns: u64, system_ns: u64, is_counted: bool| IterationView {
        seconds: seconds(elapsed_ns),
        user_seconds: seconds(user_ns),
        system_seconds: seconds(system_ns),
        is_counted,
    };
    let iterations: Vec<IterationView> = match &cell.application {
        Some(application) => {
            let counted: Vec<u64> = application.counted().map(|one| one.from_ns).collect();
            let all = application.iterations.iter();
            all.map(|one| {
                let (user_ns, system_ns) = (one.user_ns + one.server_user_ns, one.system_ns + one.server_system_ns);
                view(one.elapsed_ns, user_ns, system_ns, counted.contains(&one.from_ns))
            })
            .collect()
        }
        None => {
            let told = cell.durations();
            told.iter().map(|one| view(one.elapsed_ns, one.user_ns, one.system_ns, true)).collect()
        }
    };
    Some(Iterations { title: title(cell)?, iterations })
}

fn seconds(ns: u64) -> f64 {
    rounded(ns as f64 / 1e9)
}

/// The finding.
fn title(cell: &Cell) -> Option<String> {
    let durations = cell.durations();
    let elapsed = || durations.iter().map(|duration| duration.elapsed_ns);
    let (least, most) = (elapsed().min()?, elapsed().max()?);
    let mean = elapsed().sum::<u64>() / durations.len() as u64;
    let busy: u64 = durations.iter().map(|duration| duration.user_ns + duration.system_ns).sum();
    let share = numbers::percent(busy as f64 / elapsed().sum::<u64>().max(1) as f64);
    let range = match durations.len() {
        1 => "once".to_owned(),
        count => format!("{count} times, {}", numbers::range(least, most, numbers::elapsed)),
    };
    Some(format!(
        "{}: {} ({range}); its commands kept {share} of a processor busy",
        cell.workload,
        numbers::elapsed(mean)
    ))
}
