//! A pod that measures at the same time as others: what it does for itself, and how it begins with them.

use std::{
    ffi::OsString,
    fs, io,
    os::unix::fs::symlink,
    path::{Path, PathBuf},
    sync::{Arc, atomic::AtomicBool},
};

use anyhow::Context;
use jiff::Timestamp;
use plimsoll_io::mounts;
use plimsoll_kubernetes::{beginning, manifests::READY_FILE};
use plimsoll_run::{objects::in_common::CommonFiles, run::RunRequest};
use plimsoll_workload::random::{Purpose, derive_seed};

use super::{super::run::AskedRun, agent::of_target};
use crate::{
    environment_variables::{
        self, PLIMSOLL_POD, PLIMSOLL_PODS, PLIMSOLL_SHARED_FILE, PLIMSOLL_START, PLIMSOLL_TAKE_TURNS,
    },
    exit::Exit,
};

/// Where the program finds its targets by the names that the plan has.
const TARGETS: &str = "targets";

/// The pod.
pub(super) struct OneOfSeveral {
    number: u32,
    /// When it begins; absent when the cluster is to be asked.
    start: Option<Timestamp>,
    /// Whether it measures another target than the others.
    takes_turns: bool,
    /// Whether it uses the same files as the others.
    shares_files: bool,
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
        let takes_turns = environment_variables::get(PLIMSOLL_TAKE_TURNS).is_some();
        let shares_files = environment_variables::get(PLIMSOLL_SHARED_FILE).is_some();
        Ok(Some(Self { number, start: start.transpose()?, takes_turns, shares_files }))
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
                make(&place).map_err(|error| of_target(error, "make", &place))?;
                own.0.push(OwnPlace { target: target.clone(), directory: place.clone() });
            }
            lead(&places.join(target), &place)?;
        }
        std::env::set_current_dir(&places).with_context(|| format!("go to {}", places.display()))?;
        Ok(own)
    }

    /// Leads to where all pods find the same files, when they are to use the same, instead of to places of its own.
    pub(super) fn share_files(&self, asked: &mut AskedRun, own: &OwnPlaces) -> anyhow::Result<()> {
        if !self.shares_files {
            return Ok(());
        }
        for OwnPlace { target, directory } in &own.0 {
            let link = ready_file().with_file_name(TARGETS).join(target);
            fs::remove_file(&link).with_context(|| format!("remove {}", link.display()))?;
            lead(&link, directory.parent().unwrap_or(directory))?;
        }
        // The first one finds out for all whether there is room.
        asked.needs_room = self.number == 0;
        Ok(())
    }

    /// Has the run begin with those of the other pods, and touch other blocks than they.
    pub(super) fn begin_together(self, request: &mut RunRequest, stop: Arc<AtomicBool>) {
        for cell in &mut request.started.plan.cells {
            let seed = cell.work.seed_mut();
            *seed = derive_seed(*seed, Purpose::Pod, self.number.into());
        }
        request.started.plan.turn = self.takes_turns.then_some(self.number);
        request.common = self.shares_files.then_some(CommonFiles { number: self.number, until: self.start });
        let (run, start) = (request.started.id, self.start);
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

/// Which pod this is, of how many: of one, where the environment says nothing.
pub(super) fn number_and_count() -> (u32, u32) {
    let number = |value: OsString| value.to_string_lossy().parse().ok();
    let (pod, pods) = (environment_variables::get(PLIMSOLL_POD), environment_variables::get(PLIMSOLL_PODS));
    pod.and_then(number).zip(pods.and_then(number)).unwrap_or((0, 1))
}

/// Directories of its own, which go with the run, also where their volume stays; not those with something in them.
pub(super) struct OwnPlaces(Vec<OwnPlace>);

/// One of them.
struct OwnPlace {
    /// The name of the target that it is in.
    target: String,
    directory: PathBuf,
}

impl Drop for OwnPlaces {
    fn drop(&mut self) {
        self.0.iter().for_each(|place| drop(fs::remove_dir(&place.directory)));
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

/// Has a name lead somewhere.
fn lead(name: &Path, place: &Path) -> anyhow::Result<()> {
    symlink(place, name).with_context(|| format!("lead to {}", place.display()))
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
        let place = |directory: &PathBuf| OwnPlace { target: String::new(), directory: directory.clone() };
        drop(OwnPlaces(vec![place(&empty), place(&used)]));
        assert!(!empty.exists() && used.join("file").exists());
    }
}
