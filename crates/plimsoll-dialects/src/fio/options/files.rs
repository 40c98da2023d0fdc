//! Options about files: which, how large, and how they come to be.

use std::sync::Arc;

use plimsoll_workload::units::Extent;

use super::{
    Category::Files,
    Entry,
    kind::{Kind, Value, word},
};
use crate::fio::{
    lists,
    settings::{FileService, Preallocation, Settings},
    value::Reading,
};
use crate::problem::Wrong;

const FILES_MAX: i64 = 1 << 20;
const COUNT: Kind = Kind::Integer { min: 1, max: FILES_MAX };

pub(super) const ENTRIES: &[Entry] = &[
    Entry::exact(Files, "filename", Kind::Special("names between colons"), "The files or devices to use", |s, v, _| {
        // As in fio, names of a job are added to those of its [global] section.
        s.files.are_names_added |= !s.files.names.is_empty();
        s.files.names = s.files.names.iter().cloned().chain(names(v)?.iter().cloned()).collect();
        Ok(())
    })
    .approximate("in several directories or devices each has its share of iodepth, which has to come out even")
    .told_by_lowering(),
    Entry::exact(
        Files,
        "directory",
        Kind::Special("directories between colons, which clones take in turn"),
        "Where files are that plimsoll names",
        |s, v, _| {
            s.files.directories = names(v)?;
            Ok(())
        },
    ),
    Entry::exact(
        Files,
        "filename_format",
        Kind::Text,
        "How files are named, of $jobname, $jobnum, $filenum and $clientuid",
        |s, v, _| {
            s.files.format = v.text();
            Ok(())
        },
    )
    .default("$jobname.$jobnum.$filenum"),
    Entry::exact(Files, "nrfiles", COUNT, "How many files a clone of the job has", |s, v, _| {
        s.files.count = v.small();
        // Names that are there already are the most that there can be, and names that follow are all used.
        if let Some(first) = s.files.names.get(..s.files.count as usize) {
            s.files.names = first.into();
        }
        Ok(())
    })
    .aliases(&["nr_files"])
    .default("1"),
    Entry::exact(
        Files,
        "openfiles",
        Kind::Integer { min: 0, max: FILES_MAX },
        "How many of them are open at once; 0 means all",
        |s, v, _| {
            s.files.open = v.small_unless_zero();
            Ok(())
        },
    )
    .approximate("all files are open all the time")
    .when(|s| s.files.open.is_some()),
    Entry::exact(
        Files,
        "file_service_type",
        Kind::Special("roundrobin[:N], random[:N], sequential, zipf[:theta[:center]], pareto[:h[:center]] or normal[:deviation[:center]]"),
        "Which file is next",
        |s, v, reading| {
            s.files.service = service(&v.text(), reading)?;
            Ok(())
        },
    )
    .default("roundrobin")
    .approximate("random operations go to any file; others take turns, or do each file before the next")
    .when(file_order_differs),
    Entry::exact(
        Files,
        "size",
        Kind::Extent,
        "The region of a clone, and how much it does without a time",
        |s, v, _| {
            s.files.size = given(v);
            Ok(())
        },
    )
    .approximate("files that there is no room for are refused before anything is written")
    .told_by_lowering(),
    Entry::exact(Files, "io_size", Kind::Extent, "How much a clone does, where that is not the region", |s, v, _| {
        s.files.io_size = given(v);
        Ok(())
    })
    .aliases(&["io_limit"]),
    Entry::exact(Files, "filesize", Kind::SizeRange, "The size of each file", |s, v, _| {
        let range = v.size_range();
        if range.low.0 == 0 {
            return Err(Wrong::new("a file of 0 bytes").instead("write at least 1"));
        }
        s.files.file_size = Some(range);
        Ok(())
    })
    .approximate("of a range, all files have the mean")
    .when(|s| s.files.file_size.is_some_and(|range| range.low != range.high)),
    Entry::exact(Files, "offset", Kind::Extent, "Where the region begins", |s, v, _| {
        s.files.offset = v.extent();
        Ok(())
    })
    .aliases(&["fileoffset"])
    .default("0")
    .approximate("of a new file, a share is of what it will be; fio takes it for nothing")
    .told_by_lowering(),
    Entry::exact(
        Files,
        "offset_increment",
        Kind::Extent,
        "What each clone adds to where its region begins",
        |s, v, _| {
            s.files.offset_increment = v.extent();
            Ok(())
        },
    )
    .default("0")
    .approximate("a share is that of offset, too; with group_reporting, each distance is rounded up to a block")
    .when(|s| {
        let is_percent = matches!(s.files.offset_increment, Extent::Percent(percent) if percent.get() > 0);
        is_percent && s.report.is_by_group && s.course.clones > 1
    }),
    Entry::exact(Files, "offset_align", Kind::Size, "What offsets in percent are rounded up to", |s, v, _| {
        s.files.offset_alignment = Some(v.size()).filter(|size| size.0 > 0);
        Ok(())
    })
    .default("0"),
    Entry::exact(Files, "fill_device", Kind::Boolean, "Write until there is no space", |s, v, _| {
        s.files.fills_device = v.truth();
        Ok(())
    })
    .aliases(&["fill_fs"])
    .default("0")
    .approximate("98 % of what is free is filled, so that the file system has room for itself")
    .when(|s| s.files.fills_device && s.files.size.is_none()),
    Entry::exact(Files, "file_append", Kind::Boolean, "Begin at the end of the file", |s, v, _| {
        s.files.appends = v.truth();
        Ok(())
    })
    .default("0"),
    Entry::exact(
        Files,
        "fallocate",
        Kind::Choice(&["none", "native", "posix", "keep", "truncate", "0", "1"]),
        "How the space of a file is reserved",
        |s, v, _| {
            s.files.preallocation = match v.word() {
                "native" => Preallocation::Native,
                "posix" | "1" => Preallocation::Posix,
                "keep" => Preallocation::Keep,
                "truncate" => Preallocation::Truncate,
                _ => Preallocation::None,
            };
            Ok(())
        },
    )
    .default("native")
    .approximate("with keep a file has its length at once; with truncate it has that of what was written")
    .when(|s| {
        !s.files.is_laid_out && matches!(s.files.preallocation, Preallocation::Keep | Preallocation::Truncate)
    }),
    Entry::exact(
        Files,
        "overwrite",
        Kind::Boolean,
        "Write files before a job that only writes writes them",
        |s, v, _| {
            s.files.is_laid_out = v.truth();
            Ok(())
        },
    )
    .default("0"),
    Entry::exact(Files, "create_on_open", Kind::Boolean, "Create a file when it is opened", |s, v, _| {
        s.files.is_created_on_open = v.truth();
        Ok(())
    })
    .default("0")
    .approximate("files that are read are written before")
    .when(|s| s.files.is_created_on_open && s.pattern.direction.reads),
    Entry::exact(Files, "create_only", Kind::Boolean, "Create the files, and do nothing else", |s, v, _| {
        s.files.is_creation_only = v.truth();
        Ok(())
    })
    .default("0"),
    Entry::exact(Files, "create_serialize", Kind::Boolean, "Create the files of one job after the other", |s, v, _| {
        s.files.is_creation_serial = v.truth();
        Ok(())
    })
    .default("1")
    .ignored_for("files are always laid out one job after the other, before any job runs")
    .unless(&["1"]),
    Entry::exact(Files, "create_fsync", Kind::Boolean, "Sync a file after it was written for the job", |s, v, _| {
        s.files.is_creation_synced = v.truth();
        Ok(())
    })
    .default("1")
    .ignored_for("files are always synced after they are laid out")
    .unless(&["1"]),
    Entry::exact(Files, "allow_file_create", Kind::Boolean, "Whether files may be created", |s, v, _| {
        s.files.may_create = v.truth();
        Ok(())
    })
    .default("1"),
    Entry::exact(Files, "pre_read", Kind::Boolean, "Read the files before the job", |s, v, _| {
        s.files.is_read_before = v.truth();
        Ok(())
    })
    .default("0")
    .ignored_for("the cache is left as it is")
    .when(|s| s.files.is_read_before),
    Entry::exact(Files, "invalidate", Kind::Boolean, "Drop the cache of a file when it is opened", |s, v, _| {
        s.files.drops_cache = v.truth();
        Ok(())
    })
    .default("1")
    .approximate("what is cached of a new file is dropped in any case")
    .when(|s| !s.submission.is_direct && !s.files.drops_cache),
    Entry::exact(Files, "unlink", Kind::Boolean, "Remove the files after the job", |s, v, _| {
        s.files.is_removed_after = v.truth();
        Ok(())
    })
    .default("0")
    .approximate("files that plimsoll made are removed after all jobs, if all jobs ask for it")
    .told_by_lowering(),
    Entry::exact(Files, "unlink_each_loop", Kind::Boolean, "Remove the files after each loop", |s, v, _| {
        s.files.is_removed_each_loop = v.truth();
        Ok(())
    })
    .default("0")
    .ignored_for("files stay from loop to loop")
    .when(|s| s.files.is_removed_each_loop && s.course.loops > 1),
    Entry::ignored(
        Files,
        "allow_mounted_write",
        Kind::Boolean,
        "Whether mounted devices may be written",
        "devices in use are never written; --destroy DEVICE permits one without a known signature",
    )
    .default("0")
    .unless(&["0"]),
    Entry::ignored(
        Files,
        "unique_filename",
        Kind::Boolean,
        "Put the address of the client before names",
        "there are no clients",
    )
    .default("1")
    .unless(&["0", "1"]),
    Entry::ignored(
        Files,
        "lockfile",
        Kind::Choice(&["none", "exclusive", "readwrite"]),
        "Lock files around operations",
        "operations on a file are not locked against each other",
    )
    .default("none")
    .unless(&["none"]),
];

/// Whether files are not used in the order that is asked for.
fn file_order_differs(settings: &Settings) -> bool {
    let draws_places = settings.pattern.direction.is_random;
    let differs = match settings.files.service {
        FileService::RoundRobin { .. } | FileService::Sequential => draws_places,
        // A place that is drawn is in any file.
        FileService::Random { operations: 1 } => !draws_places,
        FileService::Random { .. } | FileService::Drawn(_) => true,
    };
    differs && settings.files.count > 1 && !settings.engine.is_of_names()
}

/// Shared by all jobs that have them from a global section.
fn names(value: &Value) -> Result<Arc<[String]>, Wrong> {
    let names = lists::names(&value.text());
    if names.is_empty() {
        return Err(Wrong::new("no name is given").instead("write names between colons"));
    }
    Ok(names.into())
}

/// fio takes 0 for "not given".
fn given(value: &Value) -> Option<Extent> {
    let is_nothing = match value.extent() {
        Extent::Bytes(bytes) => bytes.0 == 0,
        Extent::Percent(percent) => percent.get() == 0,
    };
    (!is_nothing).then(|| value.extent())
}

fn service(text: &str, reading: &mut Reading) -> Result<FileService, Wrong> {
    let (name, rest) = text.split_once(':').map_or((text, None), |(name, rest)| (name, Some(rest)));
    match word(name, &["roundrobin", "random", "sequential", "zipf", "pareto", "normal", "gauss"])? {
        "sequential" => Ok(FileService::Sequential),
        kind @ ("roundrobin" | "random") => {
            let operations = rest.map_or(Ok(1), |rest| reading.number(rest))?;
            let operations = u32::try_from(operations).ok().filter(|operations| *operations > 0);
            let wrong =
                || Wrong::new(format!("\"{text}\" is out of range")).instead("write at least 1 after the colon");
            let operations = operations.ok_or_else(wrong)?;
            Ok(match kind {
                "random" => FileService::Random { operations },
                _ => FileService::RoundRobin { operations },
            })
        }
        "gauss" => super::pattern::distribution(&text.replacen("gauss", "normal", 1), reading).map(FileService::Drawn),
        _ => super::pattern::distribution(text, reading).map(FileService::Drawn),
    }
}
