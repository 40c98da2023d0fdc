//! The plan of a workload of file sets, in words.

use plimsoll_record::numbers;
use plimsoll_workload::{
    block_sizes::BlockSizes,
    certainty::StoppingRule,
    file_set::{CacheState, FilePlan, FileSync, PhaseEnd},
    plan::Plan,
    units::Span,
};

use super::{counted, exact, iterations};

/// What sets of files take of a target at the same time, in a clause; nothing where there are none.
pub(super) fn in_all(plan: &Plan) -> String {
    let of_sets = plan.cells.iter().filter(|cell| cell.files().is_some());
    let largest = of_sets
        .map(|cell| plan.room(|target| target == cell.target, 1))
        .max_by_key(|room| (room.content_bytes, room.names));
    largest.map_or_else(String::new, |room| {
        let bytes = numbers::bytes(room.content_bytes);
        match room.names {
            1 => format!("; on each target one file, with {bytes} in it"),
            names => {
                format!("; on each target up to {} files and directories, with {bytes} in them", numbers::count(names))
            }
        }
    })
}

/// Every parameter of a set of files. All fields are named, so that a new one cannot be forgotten here.
pub(super) fn parameters(stopping: &StoppingRule, plan: &FilePlan) -> Vec<(&'static str, String)> {
    let FilePlan {
        phases,
        mix,
        file_count,
        file_size,
        files_per_directory,
        jobs,
        block_size_bytes,
        buffered,
        sync,
        file_sync,
        cache,
        phase_end,
        phase_limit_ns,
        payload,
        verify,
        seed,
        pin,
        keep_going,
    } = plan;
    let yes_no = |value: bool| if value { "yes" } else { "no" }.to_owned();
    let directories = match files_per_directory {
        Some(files) => {
            format!("{} with {} each", numbers::count(plan.directory_count().into()), counted((*files).into(), "file"))
        }
        None => "all in one".to_owned(),
    };
    let limit = phase_limit_ns.map_or_else(|| "none".to_owned(), |ns| Span { ns }.to_string());
    let mix = mix.as_ref().map(|mix| ("mix", format!("{mix}, repeated by each job with files drawn at random")));
    let others = vec![
        (
            "files",
            format!("{} of {file_size}, {} in all", numbers::count((*file_count).into()), exact(plan.total_bytes())),
        ),
        ("directories", directories),
        ("jobs", format!("{jobs}, each with a stretch of the files")),
        ("blocks", format!("at most {}", BlockSizes::One(*block_size_bytes))),
        ("cache", cache_in_words(*buffered, *cache)),
        ("sync", format!("each write {sync}, {}", sync_in_words(*file_sync))),
        (
            "phase end",
            match phase_end {
                PhaseEnd::All => "when every job has done its files".to_owned(),
                PhaseEnd::Stonewall => "when the first job has done its files".to_owned(),
            },
        ),
        ("phase limit", limit),
        ("iterations", iterations(stopping)),
        ("payload", payload.to_string()),
        ("verify", yes_no(*verify)),
        ("seed", seed.to_string()),
        ("processors", pin.to_string()),
        ("keep going", yes_no(*keep_going)),
    ];
    [("phases", phases.to_string())].into_iter().chain(mix).chain(others).collect()
}

fn cache_in_words(buffered: bool, cache: CacheState) -> String {
    let state = match cache {
        CacheState::AsIs => "files are read from wherever they are",
        CacheState::Cold => "files are taken out of it before they are read",
        CacheState::Warm => "files are read once before they are read",
    };
    if buffered { format!("buffered: through the page cache; {state}") } else { "direct I/O".to_owned() }
}

/// What makes files durable, in words.
pub(crate) const fn sync_in_words(sync: FileSync) -> &'static str {
    match sync {
        FileSync::None => "files are not synced",
        FileSync::File => "fsync before a file is closed",
        FileSync::Data => "fdatasync before a file is closed",
        FileSync::Directory => "fsync of each file and of its directory",
        FileSync::Reverse => "fsync of all files at the end of a phase, the last one first",
        FileSync::Phase => "syncfs at the end of a phase",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_records;

    #[test]
    fn one_file_is_not_called_files_and_directories() {
        let told = |workload: &str| in_all(&test_records::plan(&["/mnt/data"], &[toml::from_str(workload).unwrap()]));
        let one = told("phases = 'write,read'\nfile_count = 1\nfile_size = '1M'");
        assert_eq!(one, "; on each target one file, with 1 MiB in it");
        let several = told("phases = 'write,read'\nfile_count = 3\nfile_size = '1M'");
        assert_eq!(several, "; on each target up to 3 files and directories, with 3 MiB in them");
    }
}
