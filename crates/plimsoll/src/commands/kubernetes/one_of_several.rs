//! A pod that measures at the same time as others: what it does for itself, and how it begins with them.

use std::{
    fs, io,
    os::unix::fs::symlink,
    path::{Path, PathBuf},
    sync::{Arc, atomic::AtomicBool},
};

use anyhow::Context;
use jiff::Timestamp;
use plimsoll_io::mounts;
use plimsoll_kubernetes::{beginning, manifests::READY_FILE};
use plimsoll_run::run::RunRequest;
use plimsoll_workload::random::{Purpose, derive_seed};

use super::super::run::AskedRun;
use crate::{
    environment_variables::{self, PLIMSOLL_POD, PLIMSOLL_START},
    exit::Exit,
};

/// Where the program finds its targets by the names that the plan has.
const TARGETS: &str = "targets";

/// The pod.
pub(super) struct OneOfSeveral {
    number: u32,
    /// When it begins; absent when the cluster is to be asked.
    start: Option<Timestamp>,
}

impl OneOfSeveral {
    /// What the environment says; `None` of a pod that is alone.
    pub(super) fn of_environment() -> anyhow::Result<Option<Self>> {
        let Some(number) = environment_variables::get(PLIMSOLL_POD) else { return Ok(None) };
        let number = number.to_string_lossy();
        let number = number.parse().with_context(|| format!("{PLIMSOLL_POD}={number} is no number of a pod"))?;
        let start = environment_variables::get(PLIMSOLL_START).map(|start| {
            let start = start.to_string_lossy();
            start.parse().with_context(|| format!("{PLIMSOLL_START}={start} is no time"))
        });
        Ok(Some(Self { number, start: start.transpose()? }))
    }

    /// Gives it a directory of its own in each that it may share with others. By the names that the plan has, targets
    /// are found from a place that leads to these directories.
    pub(super) fn use_places_of_its_own(&self, asked: &mut AskedRun) -> anyhow::Result<OwnPlaces> {
        let places = ready_file().with_file_name(TARGETS);
        fs::create_dir_all(&places).with_context(|| format!("make {}", places.display()))?;
        let here = std::env::current_dir().context("find the working directory")?;
        if std::mem::take(&mut asked.expect_mount) {
            asked.targets.iter().try_for_each(|target| mounts::expect_mount(target.as_ref()))?;
        }
        let mut own = OwnPlaces(Vec::new());
        for target in &asked.targets {
            let mut place = here.join(target);
            if place.is_dir() {
                place.push(format!("pod-{}", self.number));
                make(&place).with_context(|| format!("make {}", place.display()))?;
                own.0.push(place.clone());
            }
            symlink(&place, places.join(target)).with_context(|| format!("lead to {}", place.display()))?;
        }
        std::env::set_current_dir(&places).with_context(|| format!("go to {}", places.display()))?;
        Ok(own)
    }

    /// Has the run begin with those of the other pods, and touch other blocks than they.
    pub(super) fn begin_together(self, request: &mut RunRequest, stop: Arc<AtomicBool>) {
        for cell in &mut request.plan.cells {
            cell.blocks.seed = derive_seed(cell.blocks.seed, Purpose::Pod, self.number.into());
        }
        let (run, start) = (request.id, self.start);
        request.start = Some(Box::new(move || match start {
            Some(at) => {
                say_ready()?;
                Ok(Some(at))
            }
            None => {
                let mut said = Ok(());
                let at = beginning::wait(run, &stop, || said = say_ready())?;
                said?;
                Ok(at)
            }
        }));
    }
}

/// Directories of its own, which go with the run, also where their volume stays; not those with something in them.
pub(super) struct OwnPlaces(Vec<PathBuf>);

impl Drop for OwnPlaces {
    fn drop(&mut self) {
        self.0.iter().for_each(|place| drop(fs::remove_dir(place)));
    }
}

/// Whether the pod is ready to measure.
pub(super) fn ready() -> Exit {
    if ready_file().exists() { Exit::Success } else { Exit::Failure }
}

fn ready_file() -> PathBuf {
    PathBuf::from(READY_FILE)
}

fn say_ready() -> Result<(), String> {
    let file = ready_file();
    fs::write(&file, []).map_err(|error| format!("say by {} that the pod is ready: {error}", file.display()))
}

/// Makes a directory, which may be there from an earlier run on a claim that stays.
fn make(place: &Path) -> io::Result<()> {
    match fs::create_dir(place) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        result => result,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directories_go_with_the_run_unless_somebody_uses_them() {
        let root = tempfile::tempdir().unwrap();
        let [empty, used] = ["pod-0", "pod-1"].map(|name| root.path().join(name));
        [&empty, &used].into_iter().for_each(|place| make(place).unwrap());
        make(&empty).expect("one of an earlier run is taken");
        fs::write(used.join("file"), "of somebody").unwrap();
        drop(OwnPlaces(vec![empty.clone(), used.clone()]));
        assert!(!empty.exists() && used.join("file").exists());
    }
}
