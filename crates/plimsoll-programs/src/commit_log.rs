//! The log of a message broker: partitions of segments that grow by batches, each with a consumer some way behind.

use std::{
    fs::{self, File},
    io::{self, Read as _, Write as _},
    path::{Path, PathBuf},
    sync::{Condvar, Mutex, PoisonError},
    thread,
};

use plimsoll_measure::latency::LatencyHistogram;
use plimsoll_workload::units::ByteCount;

use crate::{Amount, Figure, ProgramError, Stretch, files, pages::Pages, timed};

/// More partitions than that are not made.
const PARTITIONS_MAX: u32 = 1024;
/// Segments that a partition keeps, the one that grows included.
const SEGMENTS_KEPT: u64 = 2;

/// What the log is like.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// Logs beside each other, each with a producer and a consumer.
    pub partitions: u32,
    /// Length of a segment; it is synced when the next one begins.
    pub segment: ByteCount,
    /// Length of a batch of messages.
    pub batch: ByteCount,
    /// Batches after which they are synced; without it that is left to the kernel.
    pub flush_every: Option<u32>,
    /// How far consumers are behind.
    pub behind: ByteCount,
    /// When it ends, over all partitions.
    pub amount: Amount,
}

/// How far the two ends of a partition are.
#[derive(Default)]
struct Ends {
    appended: u64,
    consumed: u64,
    is_over: bool,
}

struct Partition<'s> {
    number: u64,
    directory: PathBuf,
    settings: &'s Settings,
    pages: &'s Pages,
    batches_per_segment: u64,
    ends: Mutex<Ends>,
    changed: Condvar,
}

/// What producers have seen.
struct Appended {
    batches: u64,
    appends: LatencyHistogram,
    flushes: LatencyHistogram,
}

/// Writes and reads the log in a directory, until there is enough.
///
/// # Errors
/// When there is one already, the system refuses something, or what is read is not what was written.
pub fn run(directory: &Path, settings: &Settings, seed: u64) -> Result<Vec<Figure>, ProgramError> {
    let batches_per_segment = settings.segment.0 / settings.batch.0.max(1);
    if batches_per_segment == 0 {
        return Err(ProgramError::Setting(
            "--segment has to be at least as long as --batch, which is longer than nothing",
        ));
    }
    if settings.flush_every == Some(0) {
        return Err(ProgramError::Setting("--flush-every 0 is after no batch: leave it out, or say 1"));
    }
    if !(1..=PARTITIONS_MAX).contains(&settings.partitions) {
        return Err(ProgramError::Setting("--partitions is 1 to 1024"));
    }
    if settings.amount.bytes.0 / u64::from(settings.partitions) < settings.batch.0 || settings.amount.time.ns == 0 {
        return Err(ProgramError::Setting(
            "--amount has to be at least one --batch for each partition, and --time more than nothing",
        ));
    }
    if settings.behind.0 > settings.segment.0 {
        return Err(ProgramError::Setting("--behind is at most --segment, as older segments are removed"));
    }
    let pages = Pages::new(seed, settings.batch.0)?;
    let partition = |number: u32| -> Result<Partition<'_>, ProgramError> {
        let directory = directory.join(format!("partition-{number}"));
        files::make_directory(&directory)?;
        let (ends, changed) = Default::default();
        let number = number.into();
        Ok(Partition { number, directory, settings, pages: &pages, batches_per_segment, ends, changed })
    };
    let partitions: Vec<_> = (0..settings.partitions).map(partition).collect::<Result<_, _>>()?;
    files::sync_directory(directory)?;
    let stretch = Stretch::begin();
    let (mut batches, mut consumed) = (0, 0);
    let (mut appends, mut flushes) = (LatencyHistogram::fine(), LatencyHistogram::fine());
    thread::scope(|scope| {
        let stretch = &stretch;
        let thread = thread::Builder::new;
        let begun: io::Result<Vec<_>> = partitions
            .iter()
            .map(|partition| {
                let producer = thread().spawn_scoped(scope, move || partition.produce(stretch))?;
                Ok((producer, thread().spawn_scoped(scope, move || partition.consume())?))
            })
            .collect();
        // Those that have begun must not wait for those that have not.
        let begun = begun.inspect_err(|_| partitions.iter().for_each(Partition::end));
        for (producer, consumer) in begun.map_err(ProgramError::Threads)? {
            let told = joined(producer.join())?;
            consumed += joined(consumer.join())?;
            batches += told.batches;
            appends.merge(&told.appends);
            flushes.merge(&told.flushes);
        }
        Ok(())
    })?;
    let seconds = stretch.seconds();
    let figures = [
        Some(Figure::bandwidth("appended", batches * settings.batch.0, seconds)),
        Some(Figure::bandwidth("consumed", consumed * settings.batch.0, seconds)),
        Figure::p99("append_p99", &appends),
        Figure::p99("flush_p99", &flushes),
    ];
    Ok(figures.into_iter().flatten().collect())
}

/// What a thread returned; its panic is ours.
fn joined<T>(outcome: thread::Result<T>) -> T {
    outcome.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

/// Ends a partition however one of its ends does.
struct Ending<'p>(&'p Partition<'p>);

impl Drop for Ending<'_> {
    fn drop(&mut self) {
        self.0.end();
    }
}

impl Partition<'_> {
    fn segment(&self, number: u64) -> PathBuf {
        self.directory.join(format!("{number:020}.log"))
    }

    /// Changes how far the ends are, and lets the other one know. Returns whether the partition goes on.
    fn change(&self, change: impl FnOnce(&mut Ends)) -> bool {
        let mut ends = self.ends.lock().unwrap_or_else(PoisonError::into_inner);
        change(&mut ends);
        self.changed.notify_all();
        !ends.is_over
    }

    /// Nobody waits for anything in it any longer.
    fn end(&self) {
        self.change(|ends| ends.is_over = true);
    }

    /// Waits until the ends are so, or the partition is over. Returns whether they are.
    fn wait_until(&self, holds: impl Fn(&Ends) -> bool) -> bool {
        let ends = self.ends.lock().unwrap_or_else(PoisonError::into_inner);
        let ends = self.changed.wait_while(ends, |ends| !ends.is_over && !holds(ends));
        holds(&ends.unwrap_or_else(PoisonError::into_inner))
    }

    fn produce(&self, stretch: &Stretch) -> Result<Appended, ProgramError> {
        let _ending = Ending(self);
        self.append(stretch)
    }

    fn append(&self, stretch: &Stretch) -> Result<Appended, ProgramError> {
        let Settings { batch, partitions, flush_every, amount, .. } = *self.settings;
        let batches_max = amount.bytes.0 / u64::from(partitions) / batch.0;
        let (appends, flushes) = (LatencyHistogram::fine(), LatencyHistogram::fine());
        let mut told = Appended { batches: 0, appends, flushes };
        let mut page = self.pages.buffer();
        let mut open: Option<(PathBuf, File)> = None;
        let mut unsynced = 0;
        while told.batches < batches_max && !stretch.is_past(amount.time) {
            self.pages.fill(&mut page, self.number, told.batches);
            // Who appends waits for the next segment too.
            let append = Stretch::begin();
            let (path, file) = match open.take() {
                Some(segment) if !told.batches.is_multiple_of(self.batches_per_segment) => segment,
                full => match self.next_segment(told.batches / self.batches_per_segment, full)? {
                    Some(segment) => segment,
                    None => break,
                },
            };
            (&file).write_all(&page).map_err(ProgramError::file(&path))?;
            told.appends.record_many(append.ns(), 1);
            unsynced += 1;
            if flush_every == Some(unsynced) {
                unsynced = 0;
                timed(&mut told.flushes, || file.sync_data()).map_err(ProgramError::file(&path))?;
            }
            open = Some((path, file));
            told.batches += 1;
            if !self.change(|ends| ends.appended = told.batches) {
                break;
            }
        }
        if let Some((path, file)) = open {
            file.sync_all().map_err(ProgramError::file(&path))?;
        }
        Ok(told)
    }

    /// Finishes a segment, removes those that are no longer kept once they were consumed, and begins the next one; none
    /// when the consumer has failed.
    fn next_segment(
        &self,
        number: u64,
        full: Option<(PathBuf, File)>,
    ) -> Result<Option<(PathBuf, File)>, ProgramError> {
        if let Some((path, file)) = full {
            file.sync_all().map_err(ProgramError::file(&path))?;
        }
        if let Some(oldest) = number.checked_sub(SEGMENTS_KEPT) {
            let end = (oldest + 1) * self.batches_per_segment;
            if !self.wait_until(|ends| ends.consumed >= end) {
                return Ok(None);
            }
            let path = self.segment(oldest);
            fs::remove_file(&path).map_err(ProgramError::file(&path))?;
        }
        let path = self.segment(number);
        let file = files::create(&path)?;
        files::sync_directory(&self.directory)?;
        Ok(Some((path, file)))
    }

    fn consume(&self) -> Result<u64, ProgramError> {
        let _ending = Ending(self);
        self.read()
    }

    fn read(&self) -> Result<u64, ProgramError> {
        let behind = self.settings.behind.0.div_ceil(self.settings.batch.0).max(1);
        let mut page = self.pages.buffer();
        let mut open: Option<(PathBuf, File)> = None;
        let mut number = 0;
        while self.wait_until(|ends| ends.appended >= number + behind) {
            let (path, file) = match open.take() {
                Some(segment) if !number.is_multiple_of(self.batches_per_segment) => segment,
                _ => {
                    let path = self.segment(number / self.batches_per_segment);
                    let file = File::open(&path).map_err(ProgramError::file(&path))?;
                    (path, file)
                }
            };
            (&file).read_exact(&mut page).map_err(ProgramError::file(&path))?;
            Pages::check(&page, self.number, number, &path)?;
            open = Some((path, file));
            number += 1;
            self.change(|ends| ends.consumed = number);
        }
        Ok(number)
    }
}

#[cfg(test)]
mod tests {
    use plimsoll_workload::units::Span;

    use super::*;

    fn settings(bytes: u64) -> Settings {
        Settings {
            partitions: 2,
            segment: ByteCount(64 << 10),
            batch: ByteCount(4 << 10),
            flush_every: None,
            behind: ByteCount(16 << 10),
            amount: Amount { bytes: ByteCount(bytes), time: Span { ns: u64::MAX } },
        }
    }

    fn partition<'s>(settings: &'s Settings, pages: &'s Pages, directory: &Path) -> Partition<'s> {
        let (ends, changed) = Default::default();
        let batches_per_segment = settings.segment.0 / settings.batch.0;
        Partition { number: 0, directory: directory.to_owned(), settings, pages, batches_per_segment, ends, changed }
    }

    /// Files of a directory with their lengths.
    fn files_of(directory: &Path) -> Vec<(String, u64)> {
        let entries = fs::read_dir(directory).unwrap().map(Result::unwrap);
        let mut files: Vec<_> =
            entries.map(|entry| (entry.file_name().into_string().unwrap(), entry.metadata().unwrap().len())).collect();
        files.sort();
        files
    }

    #[test]
    fn all_that_is_asked_for_is_appended_and_old_segments_go() {
        for flush_every in [None, Some(3)] {
            let directory = tempfile::tempdir().unwrap();
            // Ten and a half segments each.
            let settings = Settings { flush_every, ..settings((2 * (640 + 32)) << 10) };
            let figures = run(directory.path(), &settings, 7).unwrap();
            assert_eq!((figures[0].name, figures[0].unit), ("appended", "MB/s"));
            for number in 0..2 {
                let left = files_of(&directory.path().join(format!("partition-{number}")));
                let due = [(format!("{:020}.log", 9), 64 << 10), (format!("{:020}.log", 10), 32 << 10)];
                assert_eq!(left, due);
            }
            let told = run(directory.path(), &settings, 7).unwrap_err().to_string();
            assert!(told.contains("partition-0") && told.contains("exists"), "{told}");
        }
    }

    #[test]
    fn who_reads_something_else_says_so_and_ends_the_partition() {
        let directory = tempfile::tempdir().unwrap();
        let settings = settings(128 << 10);
        let pages = Pages::new(7, 4 << 10).unwrap();
        let partition = partition(&settings, &pages, directory.path());
        assert_eq!(partition.append(&Stretch::begin()).unwrap().batches, 16);
        let path = partition.segment(0);
        let mut bytes = fs::read(&path).unwrap();
        bytes[5 * 4096 + 99] ^= 1;
        fs::write(&path, bytes).unwrap();
        let told = partition.consume().unwrap_err().to_string();
        assert!(told.ends_with("page 5 has not the content that was written"), "{told}");
        assert!(partition.ends.lock().unwrap().is_over);
    }

    #[test]
    fn a_producer_without_a_consumer_ends() {
        let directory = tempfile::tempdir().unwrap();
        let settings = settings(2 << 20);
        let pages = Pages::new(7, 4 << 10).unwrap();
        let partition = partition(&settings, &pages, directory.path());
        partition.end();
        assert_eq!(partition.produce(&Stretch::begin()).unwrap().batches, 1);
    }

    #[test]
    fn a_log_that_cannot_be_is_refused() {
        let directory = tempfile::tempdir().unwrap();
        let wrong = [
            settings(4 << 10),
            Settings { partitions: 0, ..settings(1 << 20) },
            Settings { partitions: u32::MAX, ..settings(u64::MAX) },
            Settings { segment: ByteCount(1), ..settings(1 << 20) },
            Settings { behind: ByteCount(1 << 30), ..settings(1 << 20) },
            Settings { flush_every: Some(0), ..settings(1 << 20) },
            Settings { batch: ByteCount(8), ..settings(1 << 20) },
            Settings { batch: ByteCount(1 << 40), segment: ByteCount(1 << 40), ..settings(u64::MAX) },
        ];
        for settings in wrong {
            assert!(matches!(run(directory.path(), &settings, 7), Err(ProgramError::Setting(_))), "{settings:?}");
        }
        assert_eq!(files_of(directory.path()), []);
    }
}
