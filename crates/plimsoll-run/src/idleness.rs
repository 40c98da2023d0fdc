//! How idle each processor was between two moments, by the kernel's own count.

use std::fs;

/// Ticks of each processor since the machine was started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProcessorTimes(Vec<Ticks>);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Ticks {
    idle: u64,
    all: u64,
}

impl ProcessorTimes {
    /// Those of now; `None` where the kernel does not tell.
    pub fn now() -> Option<Self> {
        Self::of(&fs::read_to_string("/proc/stat").ok()?)
    }

    /// The lines `cpuN user nice system idle iowait irq softirq steal guest guest_nice`. Guests are part of user time.
    fn of(stat: &str) -> Option<Self> {
        let lines = stat.lines().skip(1).take_while(|line| line.starts_with("cpu"));
        let ticks = lines.map(|line| {
            let numbers = line.split_whitespace().skip(1).take(8).map(|number| number.parse().ok());
            let numbers = numbers.collect::<Option<Vec<u64>>>()?;
            let [_, _, _, idle, iowait, ..] = numbers[..] else { return None };
            Some(Ticks { idle: idle + iowait, all: numbers.iter().sum() })
        });
        ticks.collect::<Option<Vec<_>>>().filter(|ticks| !ticks.is_empty()).map(Self)
    }

    /// How much of the time until then each processor was idle, in percent. Nothing when processors came or went.
    pub fn idle_percents(&self, to: &Self) -> Vec<f64> {
        if self.0.len() != to.0.len() {
            return Vec::new();
        }
        let percent = |(from, to): (&Ticks, &Ticks)| match to.all.saturating_sub(from.all) {
            // Without a tick nothing is known to have been done.
            0 => 100.0,
            all => (to.idle.saturating_sub(from.idle) as f64 / all as f64 * 100.0).min(100.0),
        };
        self.0.iter().zip(&to.0).map(percent).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn idle_time_is_told_of_each_processor() {
        let from =
            ProcessorTimes::of("cpu  9 9 9 9 9 9 9 9\ncpu0 10 0 0 80 10 0 0 0 5 0\ncpu1 0 0 0 0 0 0 0 0\nintr 1\n");
        let to =
            ProcessorTimes::of("cpu  9 9 9 9 9 9 9 9\ncpu0 10 0 20 140 30 0 0 0 5 0\ncpu1 0 0 0 0 0 0 0 0\nintr\n");
        assert_eq!(from.unwrap().idle_percents(&to.unwrap()), [80.0, 100.0]);
        assert_eq!(ProcessorTimes::of("cpu  1 2 3 4 5 6 7 8\n"), None);
        assert_eq!(ProcessorTimes::of("cpu  1 2 3 4 5\ncpu0 x\n"), None);
    }

    #[test]
    fn this_machine_tells() {
        let now = ProcessorTimes::now().unwrap();
        assert!(now.idle_percents(&now).iter().all(|idle| *idle >= 100.0));
    }
}
