//! What a user is promised, tried on the built program with real directories, files and loop devices.

#![expect(clippy::unwrap_used, reason = "a test ends at the first thing that is not as it must be")]

mod agents;
mod application_presets;
mod applications;
mod background;
mod caches;
mod capped_disk;
mod catalog;
mod claims;
mod cloud;
mod clusters;
mod compare;
mod dashboard;
mod devices;
mod diskspd;
mod emulation;
mod explain;
mod file_sets;
mod fio;
mod fio_names;
mod fio_options;
mod fio_readers;
mod fio_reports;
mod foreign_jobs;
mod generate;
mod history;
mod images;
mod import;
mod interruption;
mod merging;
mod needs;
mod objects;
mod phases;
mod plugin;
mod reading;
mod replay;
mod report;
mod resuming;
mod run;
mod serve;
mod support;
mod threads;
mod usage;
mod verification;
