//! The lives of many volumes, timed without measuring rates: made, used, used again, grown, copied, moved and deleted,
//! so many at a time. Everything belongs to one Job, and goes when it does; but nothing goes on without the client.

mod checks;
mod life;
mod routing;
mod snapshots;
mod uses;

use std::{
    cell::OnceCell,
    collections::{BTreeMap, BTreeSet},
    pin::pin,
    sync::atomic::{AtomicBool, Ordering},
    time::Duration,
};

use futures_util::{StreamExt as _, stream::FuturesUnordered};
use jiff::Timestamp;
use k8s_openapi::api::batch::v1::Job;
use plimsoll_record::{cluster::ClusterEnvironment, lifecycle::VolumeLifecycle};
use tokio::{
    sync::mpsc::unbounded_channel,
    time::{Instant, interval, sleep, timeout},
};

use self::{
    life::{Life, Surroundings},
    routing::Routes,
    snapshots::SnapshotClass,
};
use crate::{
    cluster::Cluster,
    error::ClusterError,
    manifests,
    preflight::demand,
    request::{PodRun, RUN_LABEL},
    run::{
        Patience, Told,
        facts::Facts,
        starting,
        stopping::{HASTE, LAST_WORDS, unless_stopped},
    },
    teardown::{Left, Made, remove},
    watching::Watching,
};

pub(crate) use self::snapshots::list as list_snapshots;

/// How often to look at what nobody tells: signals and the time.
const TICK: Duration = Duration::from_millis(100);

/// How often to look at the Job.
const BETWEEN: Duration = Duration::from_secs(3);

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
    /// Why others were not, where nobody here wanted that.
    pub ended_by: Option<String>,
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
        let ready = unless_stopped(stop, prepare(cluster, lives)).await;
        let (facts, snapshot_classes, mut watching) = ready.unwrap_or(Err(ClusterError::Interrupted))?;
        watching.what_is_lost()?.into_iter().for_each(|note| tell(Told::Note(note)));
        snapshots::warning(&snapshot_classes).into_iter().for_each(|warning| tell(Told::Warning(warning)));
        let (started, began) = (Timestamp::now(), Instant::now());
        let mut made = Made { id: lives.run.id, job: lives.run.name(), claims: Vec::new(), volumes: Vec::new() };
        let job = starting::create(cluster, "Job", &manifests::lives::job(lives), &mut Vec::new()).await;
        let job: Job = match job {
            Ok(job) => job,
            Err(error) => {
                // The cluster may have heard what it did not answer.
                let left = remove(cluster, &made, patience.cleanup, stop, &mut |_| {}).await;
                left.into_iter().for_each(|left| tell(Told::Warning(left.text)));
                return Err(error);
            }
        };
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
            job_end: OnceCell::new(),
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
        let ended_by = (over < planned && !stop.load(Ordering::Relaxed)).then(|| around.why_over());
        tell(Told::Note("removing what is left in the cluster".to_owned()));
        made.claims = ended.iter().flat_map(Life::claims_there).collect();
        made.volumes = ended.iter().flat_map(Life::volumes_there).collect();
        let mut leftovers = remove(cluster, &made, patience.cleanup, stop, &mut |_| {}).await;
        leftovers.extend(ended.iter().filter_map(Life::stays));
        if let Some(breaks) = watching.breaks() {
            tell(Told::Note(breaks));
        }
        Ok(LivesEnded {
            started,
            elapsed: began.elapsed(),
            volumes: ended.iter().flat_map(Life::uses).collect(),
            cluster: environment(cluster, lives, facts.clone(), &ended, stop).await,
            planned,
            ended: over,
            failed: count(ended.iter().filter(|life| life.has_failed())),
            ended_by,
            leftovers,
        })
    })
}

/// Looks at what is to be used, and begins to watch.
async fn prepare(
    cluster: &Cluster,
    lives: &Lives,
) -> Result<(Facts, Vec<Option<SnapshotClass>>, Watching), ClusterError> {
    let facts = Facts::gather(cluster, &lives.run).await?;
    demand(cluster, "get", "pods/log").await?;
    demand(cluster, "create", "pods").await?;
    if lives.resize_bytes.is_some() {
        demand(cluster, "patch", "persistentvolumeclaims").await?;
    }
    if lives.snapshot.is_some() {
        demand(cluster, "create", "volumesnapshots").await?;
    }
    let snapshot_classes = checks::check(cluster, lives, &facts).await?;
    let selector = format!("{RUN_LABEL}={}", lives.run.id);
    let watching = Watching::start(cluster, &selector, &lives.run.name(), &[]).await?;
    Ok((facts, snapshot_classes, watching))
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
    let mut job_ends = pin!(async {
        while around.job_end.get().is_none() {
            sleep(BETWEEN).await;
            around.look_at_job().await;
        }
    });
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
            () = &mut job_ends, if around.job_end.get().is_none() => {}
            _ = tick.tick() => say(),
        }
    }
}

/// The cluster as the record has it: of the volumes of each kind, the first that was seen.
async fn environment(
    cluster: &Cluster,
    lives: &Lives,
    mut facts: Facts,
    ended: &[Life<'_>],
    stop: &AtomicBool,
) -> ClusterEnvironment {
    let of_kind = |kind: usize| ended.iter().filter(move |life| life.kind() == kind);
    let kinds = 0..lives.run.volumes.len();
    let volumes = kinds.clone().map(|kind| of_kind(kind).find_map(Life::first_volume)).collect();
    let nodes: BTreeSet<String> = ended.iter().flat_map(Life::nodes).collect();
    let patience = if stop.load(Ordering::Relaxed) { HASTE } else { LAST_WORDS };
    // What is not known is null.
    let _ = timeout(patience, facts.learn_seen(cluster, volumes, nodes.into_iter().collect())).await;
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
