//! The lives of many volumes, timed without measuring rates: made, used, used again, grown, copied, moved and deleted,
//! so many at a time. Everything belongs to one Job, and goes when it does; but nothing goes on without the client.

mod checks;
mod life;
mod routing;
mod snapshots;
mod uses;

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::atomic::{AtomicBool, Ordering},
    time::Duration,
};

use futures_util::{StreamExt as _, stream::FuturesUnordered};
use jiff::Timestamp;
use k8s_openapi::api::batch::v1::Job;
use plimsoll_record::{cluster::ClusterEnvironment, lifecycle::VolumeLifecycle};
use tokio::{
    sync::mpsc::unbounded_channel,
    time::{Instant, interval},
};

use self::{
    life::{Life, Surroundings},
    routing::Routes,
};
use crate::{
    cluster::Cluster,
    error::ClusterError,
    manifests,
    request::{PodRun, RUN_LABEL},
    run::{Patience, Told, facts::Facts, starting},
    teardown::{Left, Made, remove},
    watching::Watching,
};

pub(crate) use self::snapshots::list as list_snapshots;

/// How often to look at what nobody tells: signals and the time.
const TICK: Duration = Duration::from_millis(100);

/// What is to be timed.
#[derive(Clone, Debug)]
pub struct Lives {
    /// Which kinds of volumes, and what their pods are like.
    pub run: PodRun,
    /// How many lives of each kind.
    pub count: u32,
    /// How many at a time.
    pub concurrency: u32,
    /// Whether volumes become snapshots, and those volumes again.
    pub snapshot: Option<SnapshotAsked>,
    /// Whether volumes are cloned.
    pub clones: bool,
    /// How large volumes are to become while a pod has them.
    pub resize_bytes: Option<u64>,
    /// Whether they are taken to another node.
    pub moves: bool,
}

/// A snapshot.
#[derive(Clone, Debug, Default)]
pub struct SnapshotAsked {
    /// The VolumeSnapshotClass, where somebody said it.
    pub class: Option<String>,
}

/// What came of it.
#[derive(Debug)]
pub struct LivesEnded {
    /// When it began.
    pub started: Timestamp,
    /// How long it took.
    pub elapsed: Duration,
    /// The uses of volumes, those of one life behind each other.
    pub volumes: Vec<VolumeLifecycle>,
    /// Where.
    pub cluster: ClusterEnvironment,
    /// How many lives were to be.
    pub planned: u32,
    /// How many came to their end, well or not.
    pub ended: u32,
    /// How many of those failed.
    pub failed: u32,
    /// Whether no time was left for others.
    pub is_late: bool,
    /// What is left in the cluster.
    pub leftovers: Vec<Left>,
}

/// Has volumes live, and takes everything away whatever happens.
pub fn live(
    cluster: &Cluster,
    lives: &Lives,
    patience: Patience,
    stop: &AtomicBool,
    tell: &mut dyn FnMut(Told<'_>),
) -> Result<LivesEnded, ClusterError> {
    cluster.wait_for(async {
        let facts = Facts::gather(cluster, &lives.run).await?;
        let snapshot_classes = checks::check(cluster, lives, &facts).await?;
        let selector = format!("{RUN_LABEL}={}", lives.run.id);
        let mut watching = Watching::start(cluster, &selector, &lives.run.name(), &[]).await?;
        watching.what_is_lost()?.into_iter().for_each(|note| tell(Told::Note(note)));
        let (started, began) = (Timestamp::now(), Instant::now());
        let job: Job = starting::create(cluster, "Job", &manifests::lives::job(lives), &mut Vec::new()).await?;
        let (notes, mut said) = unbounded_channel();
        let around = Surroundings {
            cluster,
            lives,
            owner: manifests::owner(&job),
            facts: &facts,
            snapshot_classes,
            patience,
            stop,
            ends: began + Duration::from_secs(lives.run.deadline_s.into()),
            clock: watching.clock(),
            denied: watching.denied.clone(),
            notes,
        };
        let ended = all(&around, &mut watching, &mut || {
            while let Ok(note) = said.try_recv() {
                tell(Told::Note(note));
            }
        })
        .await;
        let (planned, over) = (number_of(lives), count(ended.iter().filter(|life| !life.was_stopped())));
        let is_late = over < planned && !stop.load(Ordering::Relaxed);
        tell(Told::Note("removing what is left in the cluster".to_owned()));
        let made = Made {
            id: lives.run.id,
            job: lives.run.name(),
            claims: ended.iter().flat_map(Life::claims_there).collect(),
            volumes: ended.iter().flat_map(Life::volumes_there).collect(),
        };
        let leftovers = remove(cluster, &made, patience.cleanup, stop, &mut || {}).await;
        if let Some(breaks) = watching.breaks() {
            tell(Told::Note(breaks));
        }
        Ok(LivesEnded {
            started,
            elapsed: began.elapsed(),
            volumes: ended.iter().flat_map(Life::uses).collect(),
            cluster: environment(cluster, lives, facts.clone(), &ended).await,
            planned,
            ended: over,
            failed: count(ended.iter().filter(|life| life.has_failed())),
            is_late,
            leftovers,
        })
    })
}

fn number_of(lives: &Lives) -> u32 {
    lives.count.saturating_mul(u32::try_from(lives.run.volumes.len()).unwrap_or(u32::MAX))
}

fn count<'a>(lives: impl Iterator<Item = &'a Life<'a>>) -> u32 {
    u32::try_from(lives.count()).unwrap_or(u32::MAX)
}

/// All lives, so many at a time, kinds in turns; in the order of their numbers when they are over.
async fn all<'a>(around: &'a Surroundings<'a>, watching: &mut Watching, say: &mut dyn FnMut()) -> Vec<Life<'a>> {
    let lives = around.lives;
    let mut routes = Routes::new(lives.run.name(), around.cluster.namespace().to_owned());
    let mut numbers = 0..number_of(lives);
    let mut senders = BTreeMap::new();
    let mut going = FuturesUnordered::new();
    let mut ended: Vec<Life<'_>> = Vec::new();
    let mut tick = interval(TICK);
    loop {
        while going.len() < lives.concurrency as usize && !around.is_over() {
            let Some(number) = numbers.next() else { break };
            let (sender, observations) = unbounded_channel();
            senders.insert(number, sender);
            going.push(Life::new(around, number, observations).live());
        }
        if going.is_empty() {
            ended.sort_by_key(Life::number);
            say();
            return ended;
        }
        tokio::select! {
            Some(observation) = watching.observations.recv() => {
                for (life, observation) in routes.route(observation) {
                    // Those that are over hear nothing any more.
                    let _ = senders.get(&life).map(|sender| sender.send(observation));
                }
            }
            Some(life) = going.next() => {
                senders.remove(&life.number());
                ended.push(life);
            }
            _ = tick.tick() => say(),
        }
    }
}

/// The cluster as the record has it: of the volumes of each kind, the first that was seen.
async fn environment(cluster: &Cluster, lives: &Lives, mut facts: Facts, ended: &[Life<'_>]) -> ClusterEnvironment {
    let of_kind = |kind: usize| ended.iter().filter(move |life| life.kind() == kind);
    let kinds = 0..lives.run.volumes.len();
    let volumes = kinds.clone().map(|kind| of_kind(kind).find_map(Life::first_volume)).collect();
    let nodes: BTreeSet<String> = ended.iter().flat_map(Life::nodes).collect();
    facts.learn_seen(cluster, volumes, nodes.into_iter().collect()).await;
    let mut environment = facts.environment(cluster, &lives.run);
    for (kind, volume) in kinds.zip(&mut environment.volumes) {
        volume.claim = of_kind(kind).next().map(Life::first_claim).unwrap_or_default();
    }
    environment
}

/// Lives for tests.
#[cfg(test)]
pub(crate) mod test_lives {
    use super::*;
    use crate::request::test_runs;

    /// Two lives of each class.
    pub(crate) fn lives(classes: &[&str]) -> Lives {
        Lives {
            run: test_runs::run(classes, 8),
            count: 2,
            concurrency: 1,
            snapshot: None,
            clones: false,
            resize_bytes: None,
            moves: false,
        }
    }
}
