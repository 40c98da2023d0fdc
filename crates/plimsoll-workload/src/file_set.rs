//! Workloads of file sets: the words, and the plan of one.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::{
    file_mix::FileMix,
    file_sizes::{FileSizes, SizeSampler},
    payload::Payload,
    pinning::Pinning,
    plan::share,
    settings::{SyncMode, words},
    units::{ValueError, serde_as_text},
};

words! {
    /// What is done with all files of a set, before anything else is done with any of them.
    FilePhase("a phase") {
        /// Make them, empty.
        Create = "create",
        /// Make them and write their content.
        Write = "write",
        /// Make each, write its content and read it again.
        WriteRead = "write_read",
        /// Write one more block behind the end of each.
        Append = "append",
        /// Read each, and write one more block behind its end.
        ReadAppend = "read_append",
        /// Write one more block behind the end of a file that all jobs share.
        Log = "log",
        /// Write the content of each again, in place.
        Overwrite = "overwrite",
        /// Read each from beginning to end.
        Read = "read",
        /// Ask for the attributes of each.
        Stat = "stat",
        /// Open and close each.
        Open = "open",
        /// List every directory.
        List = "list",
        /// List every directory, and ask for the attributes of all that is in it.
        ListLong = "list_long",
        /// Look through all directories for names with `01` in them, and ask for their attributes.
        Find = "find",
        /// Give each another name in its directory.
        Rename = "rename",
        /// Move each to another directory.
        RenameCross = "rename_cross",
        /// Give each a second name.
        Link = "link",
        /// Make a symbolic link to each.
        Symlink = "symlink",
        /// Set an extended attribute of each.
        SetXattr = "set_xattr",
        /// Read an extended attribute of each.
        GetXattr = "get_xattr",
        /// Cut each to nothing.
        Truncate = "truncate",
        /// Remove each.
        Delete = "delete",
        /// Make as many directories as there are files.
        Mkdir = "mkdir",
        /// Remove as many directories.
        Rmdir = "rmdir",
        /// For a while, whatever `mix` says, with files drawn at random.
        Mix = "mix",
    }
}

/// What a phase finds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Precondition {
    /// No file of the set.
    Absent,
    /// The files, whatever is in them.
    Present,
    /// The files with their content.
    Filled,
    /// No directory of those that are made and removed.
    NoDirectories,
    /// As many directories as there are files.
    Directories,
}

impl FilePhase {
    /// What must be there, or must not, when it begins.
    pub const fn precondition(self) -> Precondition {
        match self {
            Self::Create | Self::Write | Self::WriteRead => Precondition::Absent,
            Self::Mkdir => Precondition::NoDirectories,
            Self::Read | Self::Overwrite | Self::ReadAppend | Self::Truncate | Self::Mix => Precondition::Filled,
            Self::Rmdir => Precondition::Directories,
            _ => Precondition::Present,
        }
    }

    /// Whether content is read.
    pub const fn reads(self) -> bool {
        matches!(self, Self::Read | Self::WriteRead | Self::ReadAppend | Self::Mix)
    }

    /// Whether content is written.
    pub const fn writes(self) -> bool {
        matches!(
            self,
            Self::Write | Self::WriteRead | Self::Append | Self::ReadAppend | Self::Log | Self::Overwrite | Self::Mix
        )
    }

    /// Whether files, or a log, are longer afterwards, or may be.
    pub const fn appends(self) -> bool {
        matches!(self, Self::Append | Self::ReadAppend | Self::Log | Self::Mix)
    }

    /// Whether every iteration has to begin with new files, to find what the first one found.
    pub const fn needs_new_files(self) -> bool {
        self.appends() || matches!(self, Self::Truncate) || matches!(self.precondition(), Precondition::Absent)
    }

    /// Whether it can be a step of a mix.
    pub const fn goes_into_mixes(self) -> bool {
        matches!(
            self,
            Self::Write
                | Self::Read
                | Self::Append
                | Self::ReadAppend
                | Self::Log
                | Self::Overwrite
                | Self::Stat
                | Self::Open
                | Self::Delete
        )
    }

    /// Whether anything changes that `file_sync` makes durable.
    pub const fn changes(self) -> bool {
        !matches!(
            self,
            Self::Read | Self::Stat | Self::Open | Self::List | Self::ListLong | Self::Find | Self::GetXattr
        )
    }

    /// Whether names in directories change.
    pub const fn changes_names(self) -> bool {
        self.changes()
            && !matches!(
                self,
                Self::Append
                    | Self::ReadAppend
                    | Self::Log
                    | Self::Overwrite
                    | Self::SetXattr
                    | Self::Truncate
                    | Self::Mix
            )
    }

    /// Whether nothing but names changes, which no sync of a file makes durable.
    pub const fn changes_only_names(self) -> bool {
        self.changes_names() && !self.writes() && !matches!(self, Self::Create)
    }
}

words! {
    /// How files are made durable.
    FileSync("a way to make files durable") {
        /// Not at all: what is written may be lost.
        None = "none",
        /// `fsync` of each file before it is closed.
        File = "file",
        /// `fdatasync` of each file before it is closed.
        Data = "data",
        /// `fsync` of each file, and of its directory after each change of a name.
        Directory = "directory",
        /// `fsync` of all files at the end of a phase, the last one first.
        Reverse = "reverse",
        /// `syncfs` at the end of a phase.
        Phase = "phase",
    }
}

words! {
    /// What the page cache holds of the files when they are to be read.
    CacheState("a state of the cache") {
        /// Whatever is there.
        AsIs = "as-is",
        /// Nothing.
        Cold = "cold",
        /// All of them.
        Warm = "warm",
    }
}

words! {
    /// When a phase of several jobs ends.
    PhaseEnd("an end of phases") {
        /// When each job has done its files.
        All = "all",
        /// When the first job has: from then on not all jobs work.
        Stonewall = "stonewall",
    }
}

/// Phases in their order; none of them empty.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FilePhases(Vec<FilePhase>);

impl FilePhases {
    /// These phases.
    pub fn of<const N: usize>(phases: [FilePhase; N]) -> Self {
        const { assert!(N > 0, "there is something to do") };
        Self(phases.into())
    }

    /// The phases.
    pub fn as_slice(&self) -> &[FilePhase] {
        &self.0
    }
}

impl FromStr for FilePhases {
    type Err = ValueError;

    fn from_str(text: &str) -> Result<Self, ValueError> {
        let phases = text.split(',').map(|word| word.trim().parse()).collect::<Result<Vec<FilePhase>, _>>()?;
        let repeated = phases.iter().enumerate().find(|(index, phase)| phases[..*index].contains(phase));
        match repeated {
            Some((_, phase)) => Err(ValueError::new(format!(
                "\"{phase}\" is listed twice: name each phase once, and repeat them all with --iterations"
            ))),
            None => Ok(Self(phases)),
        }
    }
}

impl fmt::Display for FilePhases {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0
            .iter()
            .enumerate()
            .try_for_each(|(index, phase)| write!(f, "{}{phase}", if index == 0 { "" } else { "," }))
    }
}

serde_as_text! { FilePhases, "phases in their order, joined by commas, as \"write,read,delete\""; }

/// The exact parameters of a workload of file sets on one target.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FilePlan {
    /// What is done, in this order; once in each slot.
    pub phases: FilePhases,
    /// What each job of a mix repeats.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mix: Option<FileMix>,
    /// Files of the set.
    pub file_count: u32,
    /// Their sizes.
    pub file_size: FileSizes,
    /// Files of a directory; all are in one without this.
    pub files_per_directory: Option<u32>,
    /// Jobs that share the files: each has a stretch of them of its own.
    pub jobs: u32,
    /// Most bytes of a read or write.
    pub block_size_bytes: u32,
    /// Whether I/O goes through the page cache.
    pub buffered: bool,
    /// Durability of each write.
    pub sync: SyncMode,
    /// Durability of files.
    pub file_sync: FileSync,
    /// What the page cache holds before files are read.
    pub cache: CacheState,
    /// When a phase ends.
    pub phase_end: PhaseEnd,
    /// A phase ends then at the latest, and what follows works with what there is.
    pub phase_limit_ns: Option<u64>,
    /// What files contain.
    pub payload: Payload,
    /// Whether what is read is checked, and the whole set once it is written.
    pub verify: bool,
    /// Where sizes and content come from.
    pub seed: u64,
    /// Which processors jobs run on.
    pub pin: Pinning,
    /// Count errors and go on.
    pub keep_going: bool,
}

/// Directories of a directory, where there are more than that.
const DIRECTORIES_WIDE: u32 = 1000;

impl FilePlan {
    /// How many directories the files are in.
    pub fn directory_count(&self) -> u32 {
        self.files_per_directory.map_or(0, |files| self.file_count.div_ceil(files))
    }

    /// Which directory a file is in, by its number; `None` when files are in the directory of the set.
    pub fn directory_of(&self, file: u32) -> Option<u32> {
        self.files_per_directory.map(|files| file / files)
    }

    /// The path of a directory in that of the set.
    pub fn directory_path(&self, directory: u32) -> String {
        if self.directory_count() <= DIRECTORIES_WIDE {
            return format!("d{directory}");
        }
        format!("d{}/d{}", directory / DIRECTORIES_WIDE, directory % DIRECTORIES_WIDE)
    }

    /// The directories that only hold others.
    pub fn directories_above(&self) -> impl Iterator<Item = String> {
        let count = self.directory_count();
        let above = if count <= DIRECTORIES_WIDE { 0 } else { count.div_ceil(DIRECTORIES_WIDE) };
        (0..above).map(|number| format!("d{number}"))
    }

    /// The files of a job: the first one, and the one after the last.
    pub const fn files_of(&self, job: u32) -> (u32, u32) {
        let (each, more) = (self.file_count / self.jobs, self.file_count % self.jobs);
        let first = each * job + if job < more { job } else { more };
        (first, first + share(self.file_count as u64, job, self.jobs) as u32)
    }

    /// The sizes of the files.
    pub fn sizes(&self) -> SizeSampler {
        SizeSampler::new(&self.file_size, self.seed)
    }

    /// Bytes of all files.
    pub fn total_bytes(&self) -> u64 {
        self.sizes().total(self.file_count.into())
    }

    /// The same of content that any phase writes, or has to find: files may be there only to be counted.
    pub fn content_bytes(&self) -> u64 {
        let mut are_there = false;
        let fills = |phase: &FilePhase| {
            let needs_content = match phase.precondition() {
                Precondition::Filled => true,
                Precondition::Present => !are_there,
                Precondition::Absent | Precondition::NoDirectories | Precondition::Directories => false,
            };
            are_there = *phase != FilePhase::Delete && (are_there || *phase == FilePhase::Create);
            needs_content || phase.writes()
        };
        if self.phases.as_slice().iter().any(fills) { self.total_bytes() } else { 0 }
    }

    /// Whether memory alone has what a phase changed when it ends; of a mix, what any of its steps did.
    pub fn leaves_in_memory(&self, phase: FilePhase) -> bool {
        if phase == FilePhase::Mix {
            return self.mix.iter().flat_map(FileMix::phases).any(|step| self.leaves_in_memory(step));
        }
        let is_synced = match self.file_sync {
            FileSync::Directory | FileSync::Phase => true,
            FileSync::File | FileSync::Data | FileSync::Reverse => !phase.changes_only_names(),
            FileSync::None => self.sync != SyncMode::None && phase.writes(),
        };
        phase.changes() && !is_synced
    }

    /// Whether the files stay until the end of the run, as each iteration would make the same again.
    pub fn stays(&self) -> bool {
        !self.phases.as_slice().iter().any(|phase| match (phase, &self.mix) {
            (FilePhase::Mix, Some(mix)) => mix.changes(),
            (phase, _) => phase.needs_new_files(),
        })
    }

    /// A name for a workload that has none: `1000 x 10KiB`; of files without content `1000 files`.
    pub fn describe(&self) -> String {
        let makes_directories = |phase: &FilePhase| matches!(phase, FilePhase::Mkdir | FilePhase::Rmdir);
        let mut name = match self.content_bytes() {
            _ if self.phases.as_slice().iter().all(makes_directories) => format!("{} directories", self.file_count),
            0 => format!("{} files", self.file_count),
            _ => format!("{} x {}", self.file_count, self.file_size),
        };
        if self.jobs > 1 {
            name += &format!(" x{}", self.jobs);
        }
        name
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn phases_print_as_they_parse_and_none_stands_twice() {
        let text = "write,read,write_read,delete";
        assert_eq!(text.parse::<FilePhases>().unwrap().to_string(), text);
        let error = "read,stat,read".parse::<FilePhases>().unwrap_err().to_string();
        assert!(error.contains("--iterations"), "{error}");
        assert!("".parse::<FilePhases>().is_err() && "reed".parse::<FilePhases>().is_err());
    }

    fn plan(file_count: u32, jobs: u32, files_per_directory: Option<u32>) -> FilePlan {
        FilePlan {
            phases: FilePhases::of([FilePhase::Write]),
            mix: None,
            file_count,
            file_size: FileSizes::One(1),
            files_per_directory,
            jobs,
            block_size_bytes: 4096,
            buffered: true,
            sync: SyncMode::None,
            file_sync: FileSync::None,
            cache: CacheState::AsIs,
            phase_end: PhaseEnd::All,
            phase_limit_ns: None,
            payload: Payload::default(),
            verify: false,
            seed: 1,
            pin: Pinning::None,
            keep_going: false,
        }
    }

    #[test]
    fn a_set_is_called_by_its_sizes_only_where_it_has_content() {
        for (phases, name) in [
            ("mkdir,rmdir", "9 directories x2"),
            ("mkdir,create,delete,rmdir", "9 files x2"),
            ("create,stat,delete", "9 files x2"),
            ("stat", "9 x 1B x2"),
            ("write,delete", "9 x 1B x2"),
        ] {
            let plan = FilePlan { phases: phases.parse().unwrap(), ..plan(9, 2, None) };
            assert_eq!(plan.describe(), name, "{phases}");
        }
    }

    #[test]
    fn what_a_sync_does_not_reach_is_left_in_memory() {
        let left = |file_sync, sync, mix: &str| {
            let mix = Some(mix.parse().unwrap());
            let plan = FilePlan { file_sync, sync, mix, ..plan(1, 1, None) };
            let all = [FilePhase::Write, FilePhase::Append, FilePhase::Truncate, FilePhase::Rename, FilePhase::Delete];
            all.into_iter()
                .chain([FilePhase::Mix, FilePhase::Read])
                .filter(|phase| plan.leaves_in_memory(*phase))
                .fold(String::new(), |all, phase| all + phase.as_str() + " ")
        };
        let none = SyncMode::None;
        assert_eq!(left(FileSync::None, none, "read,stat"), "write append truncate rename delete ");
        assert_eq!(left(FileSync::None, none, "read,append"), "write append truncate rename delete mix ");
        for file_sync in [FileSync::File, FileSync::Data, FileSync::Reverse] {
            assert_eq!(left(file_sync, none, "write"), "rename delete ", "{file_sync}");
            assert_eq!(left(file_sync, none, "delete,write"), "rename delete mix ", "{file_sync}");
        }
        assert_eq!(left(FileSync::None, SyncMode::DataSync, "write"), "truncate rename delete ");
        for file_sync in [FileSync::Directory, FileSync::Phase] {
            assert_eq!(left(file_sync, none, "delete,write"), "", "{file_sync}");
        }
    }

    proptest! {
        #[test]
        fn jobs_have_all_files_and_none_twice(files in 1_u32..100_000, jobs in 1_u32..200) {
            let plan = plan(files, jobs, None);
            let mut next = 0;
            for job in 0..jobs {
                let (first, end) = plan.files_of(job);
                prop_assert_eq!(first, next);
                next = end;
            }
            prop_assert_eq!(next, files);
        }

        #[test]
        fn every_directory_has_a_path_of_its_own(files in 1_u32..5_000, each in 1_u32..10) {
            let plan = plan(files, 1, Some(each));
            let last = plan.directory_of(files - 1).unwrap();
            prop_assert_eq!(last + 1, plan.directory_count());
            let paths: std::collections::BTreeSet<_> = (0..=last).map(|number| plan.directory_path(number)).collect();
            prop_assert_eq!(paths.len() as u32, plan.directory_count());
            let above: Vec<_> = plan.directories_above().collect();
            for path in &paths {
                let parent = path.rsplit_once('/').map(|(parent, _)| parent.to_owned());
                prop_assert!(parent.is_none_or(|parent| above.contains(&parent)));
            }
        }
    }
}
