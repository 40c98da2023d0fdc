//! Understands the texts of /proc and of control groups that counters are read from: pure functions.

/// Ticks of all processors together, since the machine was started.
///
/// Busy ones are left out. Most kernels count them by what runs when the clock ticks, which misses most of the short
/// bursts of work that I/O consists of; idle time is measured exactly, so what is not idle is busy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct MachineTicks {
    /// Processors online.
    pub(super) processors: Vec<ProcessorTicks>,
    /// Spent on nothing, or on waiting for I/O with nothing to do meanwhile.
    pub(super) idle: u64,
    /// Given to others by the hypervisor.
    pub(super) steal: u64,
}

/// Ticks of one processor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ProcessorTicks {
    /// Its number.
    pub(super) number: u32,
    /// Spent on programs, as far as the clock ticked while they ran.
    pub(super) user: u64,
    /// As of all processors.
    pub(super) idle: u64,
}

/// The text of /proc/stat: `cpu  user nice system idle iowait irq softirq steal guest guest_nice` for all processors,
/// then a line for each. Stolen time is there since Linux 2.6.11.
pub(super) fn machine_ticks(stat: &str) -> Option<MachineTicks> {
    let (_, ticks) = ticks(stat.lines().next()?)?;
    let processor = |line| {
        let (number, ticks) = ticks_of_processor(line)?;
        Some(ProcessorTicks { number, user: ticks.user, idle: ticks.idle })
    };
    let processors = stat.lines().skip(1).take_while(|line| line.starts_with("cpu")).map_while(processor).collect();
    Some(MachineTicks { processors, idle: ticks.idle, steal: ticks.steal })
}

/// What a line of /proc/stat says.
struct Ticks {
    user: u64,
    idle: u64,
    steal: u64,
}

fn ticks(line: &str) -> Option<(&str, Ticks)> {
    let mut words = line.strip_prefix("cpu")?.splitn(2, ' ');
    let (number, rest) = (words.next()?, words.next()?);
    let ticks: Vec<u64> = rest.split_whitespace().map_while(|word| word.parse().ok()).collect();
    let [user, nice, _, idle, iowait, _, _, steal, ..] = ticks[..] else { return None };
    Some((number, Ticks { user: user + nice, idle: idle + iowait, steal }))
}

fn ticks_of_processor(line: &str) -> Option<(u32, Ticks)> {
    let (number, ticks) = ticks(line)?;
    Some((number.parse().ok()?, ticks))
}

/// The total, kept in microseconds, of the line `some avg10=0.00 avg60=0.00 avg300=0.00 total=123` of a pressure
/// file.
pub(super) fn pressure_some_ns(text: &str) -> Option<u64> {
    let some = text.lines().find_map(|line| line.strip_prefix("some "))?;
    some.split(' ').find_map(|word| word.strip_prefix("total="))?.trim().parse::<u64>().ok()?.checked_mul(1000)
}

/// The number on the line `NAME NUMBER`, as in /proc/vmstat, `cpu.stat` and `memory.events`.
pub(super) fn named(text: &str, name: &str) -> Option<u64> {
    let mut lines = text.lines().filter_map(|line| line.split_once(' '));
    lines.find(|(word, _)| *word == name)?.1.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn idle_and_stolen_time_are_told_apart() {
        let linux_6 = "cpu  6937 1 8534 307570 1672 2 67 21 4 0\ncpu0 2835 0 3544 155505 471 0 14 5 0 0\n\
                       cpu3 1 0 3 5 4 0 1 5 0 0\nintr 1\n";
        let processors = vec![
            ProcessorTicks { number: 0, user: 2835, idle: 155_505 + 471 },
            ProcessorTicks { number: 3, user: 1, idle: 9 },
        ];
        let ticks = MachineTicks { processors, idle: 307_570 + 1672, steal: 21 };
        assert_eq!(machine_ticks(linux_6), Some(ticks));
        for text in ["cpu  6937 0 8534 307570\n", "cpux 1 2\n", ""] {
            assert_eq!(machine_ticks(text), None, "{text}");
        }
    }

    #[test]
    fn pressure_is_the_time_of_some_task() {
        let io =
            "some avg10=2.69 avg60=2.47 avg300=0.82 total=12453926\nfull avg10=2.58 avg60=2.40 avg300=0.79 total=1\n";
        assert_eq!(pressure_some_ns(io), Some(12_453_926_000));
        assert_eq!(pressure_some_ns("full avg10=0.00 avg60=0.00 avg300=0.00 total=3\n"), None);
        assert_eq!(pressure_some_ns(""), None);
    }

    #[test]
    fn a_named_number_is_found_by_its_whole_name() {
        let events = "low 0\nhigh 3\nmax 17\noom 1\noom_kill 2\n";
        let found = ["high", "max", "oom", "oom_kill"].map(|name| named(events, name));
        assert_eq!(found, [Some(3), Some(17), Some(1), Some(2)]);
        assert_eq!(named(events, "hig"), None);
        assert_eq!(named("oom many\n", "oom"), None);
    }
}
