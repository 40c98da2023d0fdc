//! The store of a metrics server: samples go into a log that is written ahead; when there is enough of it, another
//! thread reads it, writes a block and a checkpoint, and removes it; blocks are merged, and the oldest are removed.

use std::{
    fs::{self, File},
    io::{Read as _, Write as _},
    path::{Path, PathBuf},
    sync::mpsc,
    thread,
};

use plimsoll_measure::latency::LatencyHistogram;
use plimsoll_workload::units::ByteCount;

use crate::{Amount, Figure, ProgramError, Stretch, files, pages::Pages};

/// The log is written in pages of this length.
const PAGE_BYTES: usize = 32 << 10;
/// Blocks are written in chunks of this length.
const CHUNK_BYTES: usize = 512 << 10;
/// Segments of the log that become one block.
const SEGMENTS_OF_BLOCK: u64 = 3;
/// Blocks that become a merged one.
const BLOCKS_OF_MERGED: usize = 3;
/// Merged blocks that are kept.
const MERGED_KEPT: usize = 2;
/// Of a page, this part goes into the block: samples are packed.
const PART_OF_BLOCK: usize = 2;
/// Of a page, this part goes into the index of the block, and as much into the checkpoint.
const PART_OF_INDEX: usize = 8;
/// The stream that the pages of the log are.
const LOG: u64 = 0;

/// What the store is like.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// Length of a segment of the log; it is synced when the next one begins.
    pub segment: ByteCount,
    /// When it ends.
    pub amount: Amount,
}

/// Takes in samples in a directory, until there is enough and all full segments are in blocks.
///
/// # Errors
/// When there is a store already, the system refuses something, or what is read of the log is not what was written.
pub fn run(directory: &Path, settings: &Settings, seed: u64) -> Result<Vec<Figure>, ProgramError> {
    let pages_per_segment = settings.segment.0 / PAGE_BYTES as u64;
    if pages_per_segment == 0 {
        return Err(ProgramError::Setting("--segment is at least one page of 32KiB"));
    }
    if settings.amount.bytes.0 < PAGE_BYTES as u64 || settings.amount.time.ns == 0 {
        return Err(ProgramError::Setting("--amount is at least one page of 32KiB, and --time more than nothing"));
    }
    let log = Log { directory: directory.join("wal"), pages_per_segment };
    let blocks = directory.join("blocks");
    files::make_directory(&log.directory)?;
    files::make_directory(&blocks)?;
    files::sync_directory(directory)?;
    let pages = Pages::new(seed, PAGE_BYTES as u64)?;
    let mut appends = LatencyHistogram::fine();
    let stretch = Stretch::begin();
    // A writer that is a block ahead waits, so that the log has an end.
    let (full, taken) = mpsc::sync_channel(SEGMENTS_OF_BLOCK as usize);
    let (bytes, compactor) = thread::scope(|scope| {
        let compactor = scope.spawn(|| Compactor::new(&log, blocks).compact_all(taken));
        let written = log.write(&pages, settings.amount, &stretch, &mut appends, &full);
        // Nothing more comes.
        drop(full);
        let compactor = compactor.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
        Ok((written?, compactor))
    })?;
    let mean_s = |total_ns: u64, count: u64| total_ns as f64 / 1e9 / count as f64;
    let compaction = (compactor.count > 0).then(|| Figure {
        name: "compaction",
        value: mean_s(compactor.total_ns, compactor.count),
        unit: "s",
    });
    let ingested = Figure::bandwidth("ingested", bytes, stretch.seconds());
    Ok([Some(ingested), compaction, Figure::p99("append_p99", &appends)].into_iter().flatten().collect())
}

/// The log of samples.
struct Log {
    directory: PathBuf,
    pages_per_segment: u64,
}

impl Log {
    fn segment(&self, number: u64) -> PathBuf {
        self.directory.join(format!("{number:08}"))
    }

    /// Appends pages, and tells each segment that is full. Ends when the compactor does not take it any longer.
    fn write(
        &self,
        pages: &Pages,
        amount: Amount,
        stretch: &Stretch,
        appends: &mut LatencyHistogram,
        full: &mpsc::SyncSender<u64>,
    ) -> Result<u64, ProgramError> {
        let mut page = pages.buffer();
        let mut bytes = 0;
        // Who appends waits for the next segment too.
        let mut waited_ns = 0;
        for number in 0.. {
            let begin = Stretch::begin();
            let path = self.segment(number);
            let mut file = files::create(&path)?;
            files::sync_directory(&self.directory)?;
            waited_ns += begin.ns();
            for index in 0..self.pages_per_segment {
                if bytes >= amount.bytes.0 || stretch.is_past(amount.time) {
                    file.sync_data().map_err(ProgramError::file(&path))?;
                    return Ok(bytes);
                }
                pages.fill(&mut page, LOG, number * self.pages_per_segment + index);
                let append = Stretch::begin();
                file.write_all(&page).map_err(ProgramError::file(&path))?;
                appends.record_many(append.ns() + std::mem::take(&mut waited_ns), 1);
                bytes += page.len() as u64;
            }
            let end = Stretch::begin();
            file.sync_data().map_err(ProgramError::file(&path))?;
            if full.send(number).is_err() {
                break;
            }
            waited_ns = end.ns();
        }
        Ok(bytes)
    }
}

/// Makes blocks of the log.
struct Compactor<'l> {
    log: &'l Log,
    blocks: PathBuf,
    /// The blocks that are not merged yet, and the merged ones.
    fresh: Vec<PathBuf>,
    merged: Vec<PathBuf>,
    checkpoint: Option<PathBuf>,
    count: u64,
    total_ns: u64,
}

impl<'l> Compactor<'l> {
    fn new(log: &'l Log, blocks: PathBuf) -> Self {
        let (fresh, merged) = (Vec::new(), Vec::new());
        Self { log, blocks, fresh, merged, checkpoint: None, count: 0, total_ns: 0 }
    }

    /// Compacts as segments fill up, until the writer is gone.
    fn compact_all(mut self, full: mpsc::Receiver<u64>) -> Result<Self, ProgramError> {
        for number in full {
            if (number + 1).is_multiple_of(SEGMENTS_OF_BLOCK) {
                let stretch = Stretch::begin();
                self.compact(number + 1 - SEGMENTS_OF_BLOCK, number)?;
                self.total_ns += stretch.ns();
                self.count += 1;
            }
        }
        Ok(self)
    }

    /// Makes a block and a checkpoint of some segments, and removes these.
    fn compact(&mut self, first: u64, last: u64) -> Result<(), ProgramError> {
        let mut block = Block::begin(self.blocks.join(format!("{last:08}")))?;
        let checkpoint = self.log.directory.join(format!("checkpoint.{last:08}"));
        let unfinished = self.log.directory.join(format!("checkpoint.{last:08}.unfinished"));
        let mut kept = files::create(&unfinished)?;
        let mut page = vec![0; PAGE_BYTES];
        for number in first..=last {
            let path = self.log.segment(number);
            let mut segment = File::open(&path).map_err(ProgramError::file(&path))?;
            for index in 0..self.log.pages_per_segment {
                segment.read_exact(&mut page).map_err(ProgramError::file(&path))?;
                Pages::check(&page, LOG, number * self.log.pages_per_segment + index, &path)?;
                block.add(&page[..PAGE_BYTES / PART_OF_BLOCK], &page[..PAGE_BYTES / PART_OF_INDEX])?;
                kept.write_all(&page[..PAGE_BYTES / PART_OF_INDEX]).map_err(ProgramError::file(&unfinished))?;
            }
        }
        self.fresh.push(block.finish()?);
        kept.sync_all().map_err(ProgramError::file(&unfinished))?;
        files::publish(&unfinished, &checkpoint)?;
        let outdated = self.checkpoint.replace(checkpoint).into_iter();
        for path in outdated.chain((first..=last).map(|number| self.log.segment(number))) {
            fs::remove_file(&path).map_err(ProgramError::file(&path))?;
        }
        if self.fresh.len() == BLOCKS_OF_MERGED {
            self.merge()?;
        }
        Ok(())
    }

    /// Makes one block of those that are not merged, and removes what is no longer kept.
    fn merge(&mut self) -> Result<(), ProgramError> {
        let sources = std::mem::take(&mut self.fresh);
        let mut block = Block::begin(self.blocks.join(format!("merged-{:08}", self.count)))?;
        let mut chunk = Vec::with_capacity(CHUNK_BYTES);
        for source in &sources {
            let path = source.join(CHUNKS);
            let mut file = File::open(&path).map_err(ProgramError::file(&path))?;
            loop {
                chunk.clear();
                let read = (&mut file).take(CHUNK_BYTES as u64).read_to_end(&mut chunk);
                if read.map_err(ProgramError::file(&path))? == 0 {
                    break;
                }
                block.add(&chunk, &chunk[..chunk.len() * PART_OF_BLOCK / PART_OF_INDEX])?;
            }
        }
        self.merged.push(block.finish()?);
        let outdated = self.merged.len().saturating_sub(MERGED_KEPT);
        for path in sources.into_iter().chain(self.merged.drain(..outdated)) {
            fs::remove_dir_all(&path).map_err(ProgramError::file(&path))?;
        }
        Ok(())
    }
}

/// The file of a block that has the samples.
const CHUNKS: &str = "chunks";

/// A block that is being written: it has its name when it is whole.
struct Block {
    finished: PathBuf,
    unfinished: PathBuf,
    chunks: File,
    index: File,
    chunk: Vec<u8>,
}

impl Block {
    fn begin(finished: PathBuf) -> Result<Self, ProgramError> {
        let unfinished = finished.with_extension("unfinished");
        files::make_directory(&unfinished)?;
        let chunks = files::create(&unfinished.join(CHUNKS))?;
        let index = files::create(&unfinished.join("index"))?;
        Ok(Self { finished, unfinished, chunks, index, chunk: Vec::with_capacity(2 * CHUNK_BYTES) })
    }

    fn add(&mut self, samples: &[u8], index: &[u8]) -> Result<(), ProgramError> {
        self.chunk.extend_from_slice(samples);
        if self.chunk.len() >= CHUNK_BYTES {
            self.write_chunk()?;
        }
        self.index.write_all(index).map_err(ProgramError::file(&self.unfinished))
    }

    fn write_chunk(&mut self) -> Result<(), ProgramError> {
        self.chunks.write_all(&self.chunk).map_err(ProgramError::file(&self.unfinished))?;
        self.chunk.clear();
        Ok(())
    }

    fn finish(mut self) -> Result<PathBuf, ProgramError> {
        self.write_chunk()?;
        for file in [&self.chunks, &self.index] {
            file.sync_all().map_err(ProgramError::file(&self.unfinished))?;
        }
        files::sync_directory(&self.unfinished)?;
        files::publish(&self.unfinished, &self.finished)?;
        Ok(self.finished)
    }
}

#[cfg(test)]
mod tests {
    use plimsoll_workload::units::Span;

    use super::*;

    const SEGMENT: u64 = 2 * PAGE_BYTES as u64;

    fn settings(segments: u64) -> Settings {
        let amount = Amount { bytes: ByteCount(segments * SEGMENT), time: Span { ns: u64::MAX } };
        Settings { segment: ByteCount(SEGMENT), amount }
    }

    fn names(directory: &Path) -> Vec<String> {
        let entries = fs::read_dir(directory).unwrap();
        let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn full_segments_become_blocks_and_old_ones_go() {
        let directory = tempfile::tempdir().unwrap();
        // Thirteen blocks, of which twelve are merged into four, and a segment that is not full.
        let segments = 13 * SEGMENTS_OF_BLOCK;
        let amount = Amount { bytes: ByteCount(segments * SEGMENT + 1), ..settings(0).amount };
        let figures = run(directory.path(), &Settings { amount, ..settings(0) }, 7).unwrap();
        assert_eq!(figures.iter().map(|figure| figure.name).take(2).collect::<Vec<_>>(), ["ingested", "compaction"]);
        assert_eq!(names(&directory.path().join("wal")), ["00000039", "checkpoint.00000038"]);
        let blocks = directory.path().join("blocks");
        assert_eq!(names(&blocks), ["00000038", "merged-00000008", "merged-00000011"]);
        let length = |block: &str, file: &str| fs::metadata(blocks.join(block).join(file)).unwrap().len();
        let (samples, index) = (3 * SEGMENT / PART_OF_BLOCK as u64, 3 * SEGMENT / PART_OF_INDEX as u64);
        assert_eq!((length("00000038", CHUNKS), length("00000038", "index")), (samples, index));
        assert_eq!((length("merged-00000011", CHUNKS), length("merged-00000011", "index")), (3 * samples, 3 * index));
        let told = run(directory.path(), &settings(1), 7).unwrap_err().to_string();
        assert!(told.contains("wal") && told.contains("exists"), "{told}");
    }

    #[test]
    fn damage_of_the_log_is_found_when_it_is_compacted() {
        let directory = tempfile::tempdir().unwrap();
        let log = Log { directory: directory.path().join("wal"), pages_per_segment: 2 };
        let blocks = directory.path().join("blocks");
        files::make_directory(&log.directory).unwrap();
        files::make_directory(&blocks).unwrap();
        let (full, taken) = mpsc::sync_channel(3);
        let pages = Pages::new(7, PAGE_BYTES as u64).unwrap();
        let amount = settings(3).amount;
        log.write(&pages, amount, &Stretch::begin(), &mut LatencyHistogram::fine(), &full).unwrap();
        drop(full);
        let mut bytes = fs::read(log.segment(1)).unwrap();
        bytes[PAGE_BYTES + 100] ^= 1;
        fs::write(log.segment(1), bytes).unwrap();
        let told = Compactor::new(&log, blocks).compact_all(taken).err().unwrap().to_string();
        assert!(told.ends_with("00000001: page 3 has not the content that was written"), "{told}");
    }

    #[test]
    fn a_segment_of_less_than_a_page_is_refused() {
        let directory = tempfile::tempdir().unwrap();
        for settings in [Settings { segment: ByteCount(1), ..settings(1) }, settings(0)] {
            assert!(matches!(run(directory.path(), &settings, 7), Err(ProgramError::Setting(_))));
        }
        assert_eq!(names(directory.path()), Vec::<String>::new());
    }
}
