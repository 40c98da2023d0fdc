//! Where the operations of a workload go: the part of a device or file, or of the free space.

use super::Draft;
use crate::{
    plan::PlanError,
    settings::{Effort, EngineChoice, FileSharing},
    units::{ByteCount, Extent, in_one_unit},
};

/// The size of the working set in a directory or new file when none is given. It must be written before it is read,
/// which an answer within a minute has little time for.
const fn default_size(effort: Effort) -> ByteCount {
    match effort {
        Effort::Quick => ByteCount(512 << 20),
        Effort::Standard | Effort::Thorough => ByteCount(1 << 30),
    }
}

/// What decides how large files are.
#[derive(Clone, Copy)]
pub(super) struct Spread {
    pub(super) jobs: u32,
    pub(super) files: FileSharing,
    pub(super) file_count: u32,
    pub(super) alignment_bytes: u32,
    pub(super) block_size_bytes_max: u32,
}

impl Spread {
    /// How often there are as many bytes as the size says.
    pub(super) fn copies(self) -> u64 {
        if self.files == FileSharing::PerJob { u64::from(self.jobs) } else { 1 }
    }
}

impl Draft<'_> {
    /// Offset and length of the region, within the device or file, or within the free space.
    pub(super) fn region(&self, spread: Spread) -> Result<(u64, u64), PlanError> {
        let Spread { jobs, files, file_count, alignment_bytes: alignment, block_size_bytes_max: block } = spread;
        let whole = self.target.size_bytes;
        let default = default_size(self.certainty.effort).0;
        let default = self.dealt.map_or(default, |dealt| dealt.share_of(default, jobs));
        let copies = spread.copies();
        // Where there is nothing yet, it is the default, or a quarter of what is free where that is less.
        let room = self.target.free_bytes.unwrap_or(u64::MAX) / 4 / copies;
        let basis = whole.unwrap_or(default.min(room / (1 << 20) * (1 << 20)));
        let align = u64::from(alignment.max(1));
        let offset = match self.workload.offset {
            None => 0,
            Some(Extent::Bytes(bytes)) => bytes.0,
            Some(share @ Extent::Percent(_)) => {
                let whole = if self.workload.verify == Some(true) { u64::from(block) } else { align };
                share.of(basis) / whole * whole
            }
        };
        if !offset.is_multiple_of(align) {
            return Err(self.unusable(format!(
                "offset {} is not a multiple of {alignment} bytes, which direct I/O needs here",
                ByteCount(offset)
            )));
        }
        let size = match (self.workload.size, whole) {
            (Some(size), _) => size.of(basis),
            (None, Some(whole)) => whole.saturating_sub(offset),
            (None, None) => basis,
        };
        let size = match u64::from(file_count) {
            1 => size / align * align,
            // Each file has whole blocks.
            count => size / count / u64::from(block) * u64::from(block) * count,
        };
        let apart = match (files, self.workload.offset_increment) {
            (FileSharing::Shared, Some(increment)) => increment.0.saturating_mul(u64::from(jobs - 1)),
            _ => 0,
        };
        if !apart.is_multiple_of(align) {
            return Err(self.unusable(format!(
                "--offset-increment is not a multiple of {alignment} bytes, which direct I/O needs here"
            )));
        }
        let end = offset
            .checked_add(apart)
            .and_then(|from| from.checked_add(size))
            .ok_or_else(|| self.contradiction("offset and size together exceed 16 EiB"))?;
        if let Some(whole) = whole
            && end > whole
        {
            let [whole, end] = in_one_unit([whole, end]);
            let way_out = if self.workload.size.is_some() { "lower --size or --offset" } else { "lower --offset" };
            return Err(self.unusable(format!("it has {whole} but offset and size need {end}: {way_out}")));
        }
        if size < u64::from(block) {
            return Err(match self.workload.size {
                Some(Extent::Bytes(asked)) if file_count > 1 && asked.0 >= u64::from(block) => {
                    let [asked, block] = in_one_unit([asked.0, u64::from(block)]);
                    self.contradiction(format!(
                        "--size {asked} among {file_count} files is less than one block of {block} for each: raise it, or \
                         lower --file-count"
                    ))
                }
                Some(Extent::Bytes(asked)) => self.smaller_than_a_block("--size", asked.0, block),
                Some(share @ Extent::Percent(_)) => {
                    let [size, block] = in_one_unit([size, u64::from(block)]);
                    self.unusable(format!("too small: --size {share} of it is {size} and one block is {block}"))
                }
                None => {
                    let [size, block] = in_one_unit([size, u64::from(block)]);
                    self.unusable(format!("too small: there is room for {size} and one block is {block}"))
                }
            });
        }
        let each = (end - size + size / u64::from(file_count)).max(self.file_size()?.unwrap_or(0));
        let needed = each.saturating_mul(u64::from(file_count)).saturating_mul(copies);
        // The memory engine needs no files.
        if whole.is_none()
            && self.workload.engine != Some(EngineChoice::Memory)
            && let Some(free) = self.target.free_bytes
            && needed > free
        {
            return Err(PlanError::NoRoom { target: self.target.name.clone(), free_bytes: free, needed_bytes: needed });
        }
        Ok((offset, size))
    }
}

#[cfg(test)]
mod tests {
    use crate::{
        plan::tests::{directory, one},
        target_facts::TargetFacts,
    };

    #[test]
    fn percent_are_of_the_default_that_fits_what_is_free() {
        let region = |free_mib: u64, toml: &str| {
            let target = TargetFacts { free_bytes: Some(free_mib << 20), ..directory() };
            let cell = one(&target, &toml::from_str(toml).unwrap()).unwrap();
            let blocks = cell.blocks().unwrap();
            (blocks.offset_bytes >> 20, blocks.size_bytes >> 20)
        };
        assert_eq!(region(251, ""), (0, 62));
        assert_eq!(region(251, "size = '50%'"), (0, 31));
        assert_eq!(region(251, "size = '50%'\noffset = '50%'"), (31, 31));
        assert_eq!(region(251, "size = '100%'\njobs = 2\nfiles = 'per-job'"), (0, 31), "each job has as much");
        assert_eq!(region(4096, "size = '50%'"), (0, 256));
    }
}
