//! One life: its steps one after the other, each waited for.

mod changing;
mod seen;

use std::{
    cell::OnceCell,
    collections::{BTreeMap, BTreeSet},
    fmt::Debug,
    future::Future,
    pin::pin,
    sync::atomic::{AtomicBool, Ordering},
    time::Duration,
};

use jiff::Timestamp;
use k8s_openapi::{
    api::{
        batch::v1::Job,
        core::v1::{PersistentVolume, PersistentVolumeClaim, Pod},
    },
    apimachinery::pkg::apis::meta::v1::OwnerReference,
};
use kube::{Api, Resource, ResourceExt as _, api::DeleteParams};
use plimsoll_record::{
    lifecycle::{Happening, UsedAs},
    numbers,
};
use serde::{Serialize, de::DeserializeOwned};
use tokio::{
    sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel},
    time::{Instant, interval, sleep, timeout, timeout_at},
};

use super::{
    Lives, TICK,
    routing::Routes,
    snapshots::{self, SnapshotClass},
    uses::{Use, too_long},
};
use crate::{
    cluster::Cluster,
    error::ClusterError,
    following::Followed,
    manifests::lives::{Content, Place, PodOfLife, claim, pod_of_life},
    request::VolumeSource,
    run::{
        Patience, SILENCE,
        facts::Facts,
        member::Lines,
        starting::{not_created, persist, try_to_create},
        stopping::HASTE,
    },
    timeline::{Observation, Timeline},
    troubles::JobEnd,
    watching::WatchClock,
};

/// How long to wait before something is tried again.
const PAUSE: Duration = Duration::from_millis(250);

/// Where nothing is known of why.
const NOBODY_SAYS: &str = "the cluster does not say why";

/// What all lives have in common.
pub(super) struct Surroundings<'a> {
    pub(super) cluster: &'a Cluster,
    pub(super) lives: &'a Lives,
    /// What everything belongs to.
    pub(super) owner: OwnerReference,
    pub(super) facts: &'a Facts,
    /// For each kind of volume.
    pub(super) snapshot_classes: Vec<Option<SnapshotClass>>,
    pub(super) patience: Patience,
    pub(super) stop: &'a AtomicBool,
    /// When there is no time left for any life: the cluster is about to remove all of them.
    pub(super) ends: Instant,
    /// How the Job ended that everything belongs to.
    pub(super) job_end: OnceCell<JobEnd>,
    pub(super) clock: WatchClock,
    /// What may not be watched.
    pub(super) denied: BTreeSet<&'static str>,
    /// What is to be said.
    pub(super) notes: UnboundedSender<String>,
}

impl Surroundings<'_> {
    /// Whether all of it is to end.
    pub(super) fn is_over(&self) -> bool {
        self.stop.load(Ordering::Relaxed) || self.job_end.get().is_some() || Instant::now() > self.ends
    }

    /// Looks whether the Job is still there that everything belongs to.
    pub(super) async fn look_at_job(&self) {
        let jobs = self.cluster.here::<Job>();
        if let Ok(Ok(job)) = timeout(HASTE, jobs.get_opt(&self.lives.run.name())).await
            && let Some(end) = JobEnd::of(job.as_ref())
        {
            // The first is why.
            let _ = self.job_end.set(end);
        }
    }

    /// Why lives were ended that nobody here wanted to end.
    pub(super) fn why_over(&self) -> String {
        match self.job_end.get() {
            None | Some(JobEnd::Late) => "the deadline of the run has passed: allow more with --deadline".to_owned(),
            Some(end) => end.sentence(),
        }
    }
}

/// Why a life goes no further.
enum End {
    /// All of it is to end.
    Stopped,
    Failed(String),
}

impl From<ClusterError> for End {
    fn from(error: ClusterError) -> Self {
        Self::Failed(error.to_string())
    }
}

/// A life.
pub(super) struct Life<'a> {
    around: &'a Surroundings<'a>,
    number: u32,
    kind: usize,
    observations: UnboundedReceiver<Observation>,
    lines: Lines,
    followed: UnboundedReceiver<(u32, Followed)>,
    uses: Vec<Use>,
    /// Claims that were sent and are not gone, as they were seen last.
    claims: BTreeMap<String, Option<PersistentVolumeClaim>>,
    /// The claims of volumes.
    claimed: BTreeMap<String, String>,
    volumes: BTreeMap<String, PersistentVolume>,
    volumes_gone: BTreeSet<String>,
    /// Volume and node of each attachment that is there, by its name.
    attachments: BTreeMap<String, (String, String)>,
    snapshot: Option<String>,
    /// What that is to the cluster.
    snapshot_content: Option<String>,
    was_stopped: bool,
    /// The trouble that was told last.
    troubled: Option<String>,
}

impl<'a> Life<'a> {
    pub(super) fn new(around: &'a Surroundings<'a>, number: u32, observations: UnboundedReceiver<Observation>) -> Self {
        let (sender, followed) = unbounded_channel();
        let deadline = Duration::from_secs(around.lives.run.deadline_s.into());
        Self {
            around,
            number,
            kind: number as usize % around.lives.run.volumes.len().max(1),
            observations,
            lines: Lines { pods: around.cluster.endless_here(), deadline, sender },
            followed,
            uses: Vec::new(),
            claims: BTreeMap::new(),
            claimed: BTreeMap::new(),
            volumes: BTreeMap::new(),
            volumes_gone: BTreeSet::new(),
            attachments: BTreeMap::new(),
            snapshot: None,
            snapshot_content: None,
            was_stopped: false,
            troubled: None,
        }
    }

    /// From the first claim until all is gone.
    pub(super) async fn live(mut self) -> Self {
        match self.steps().await {
            Ok(()) => {}
            Err(End::Stopped) => {
                self.was_stopped = true;
                return self;
            }
            Err(End::Failed(why)) => {
                // Whoever removes all of it begins somewhere.
                self.around.look_at_job().await;
                if self.around.job_end.get().is_some() {
                    self.was_stopped = true;
                    return self;
                }
                self.say(&format!("failed: {why}"));
                if let Some(last) = self.uses.last_mut() {
                    last.failed = Some(why);
                }
            }
        }
        match self.take_away().await {
            Err(End::Stopped) if !self.has_failed() => self.was_stopped = true,
            // What stays is said at the end of all lives.
            Err(_) => {}
            Ok(()) if self.has_failed() => {}
            Ok(()) => {
                let phases = self.uses[0].life(self.target()).phases;
                let [ready, gone] =
                    [phases.ready_ns, phases.delete_ns].map(|ns| numbers::or_absent(ns, numbers::duration));
                self.say(&format!("ready in {ready}, gone in {gone}"));
            }
        }
        self
    }

    async fn steps(&mut self) -> Result<(), End> {
        let lives = self.around.lives;
        let data = self.name("data");
        let mut size_bytes = match lives.run.volumes[self.kind].source {
            VolumeSource::Class { size_bytes, .. } => size_bytes,
            VolumeSource::Claim { .. } => return Err(End::Failed("only new volumes have lives".to_owned())),
        };
        let first = self.use_new(UsedAs::First, &data, size_bytes, Content::None).await?;
        let node = self.uses[first].node().unwrap_or_default().to_owned();
        self.end_pod(first).await?;
        self.until_detached(first).await?;
        let again = self.use_there(UsedAs::Again, &data, Place::On(node.clone())).await?;
        if let Some(larger) = lives.resize_bytes {
            self.resize(first, again, larger).await?;
            size_bytes = larger;
        }
        if lives.snapshot.is_some() {
            let (name, restore_bytes) = self.take_snapshot(first).await?;
            let restored = self.name("restored");
            // Drivers round up, and none makes a copy that is smaller than what it is of.
            let copy_bytes = size_bytes.max(restore_bytes.unwrap_or(0));
            let copy = self.use_new(UsedAs::Restored, &restored, copy_bytes, Content::Snapshot(&name)).await?;
            self.end_pod(copy).await?;
        }
        if lives.clones {
            let cloned = self.name("cloned");
            let copy_bytes = size_bytes.max(self.capacity(&data).unwrap_or(0));
            let copy = self.use_new(UsedAs::Cloned, &cloned, copy_bytes, Content::Claim(&data)).await?;
            self.end_pod(copy).await?;
        }
        if lives.moves {
            self.move_away(again, &data, node).await?;
        }
        Ok(())
    }

    /// Makes a claim and a pod that uses it.
    async fn use_new(
        &mut self,
        used_as: UsedAs,
        name: &str,
        size_bytes: u64,
        content: Content<'_>,
    ) -> Result<usize, End> {
        let Surroundings { cluster, lives, owner, facts, patience, .. } = self.around;
        let index = self.begin(used_as, name);
        let deadline = Instant::now() + patience.start;
        self.happened(index, Happening::ClaimSent);
        self.claims.insert(name.to_owned(), None);
        let object = claim(lives, (name, self.kind), size_bytes, content, owner);
        self.create(&cluster.here(), "claim", &object, deadline).await?;
        self.happened(index, Happening::ClaimAccepted);
        if facts.is_made_at_once(self.kind) {
            let claim = name.to_owned();
            let is_bound = move |life: &Self| life.uses[index].timeline.is_bound(&claim);
            self.until(deadline, index, "the volume is not made", is_bound).await?;
        }
        self.send_pod(index, used_as != UsedAs::First, Place::Any, deadline).await?;
        self.until_used(deadline, index).await?;
        Ok(index)
    }

    /// Makes a pod that uses a volume which was used before.
    async fn use_there(&mut self, used_as: UsedAs, name: &str, place: Place) -> Result<usize, End> {
        let index = self.begin(used_as, name);
        let deadline = Instant::now() + self.around.patience.start;
        self.send_pod(index, true, place, deadline).await?;
        self.until_used(deadline, index).await?;
        Ok(index)
    }

    /// Ends the pod that has a volume, and makes another on another node at the same moment.
    async fn move_away(&mut self, from: usize, name: &str, node: String) -> Result<(), End> {
        let index = self.begin(UsedAs::Moved, name);
        let deadline = Instant::now() + self.around.patience.start;
        self.send_end(from).await?;
        self.send_pod(index, true, Place::NotOn(node), deadline).await?;
        self.until_used(deadline, index).await
    }

    /// Takes everything away, and times how long volumes take to be gone. What stays is said at the end of all lives.
    async fn take_away(&mut self) -> Result<(), End> {
        let Surroundings { cluster, patience, .. } = self.around;
        let deadline = Instant::now() + patience.cleanup;
        for index in 0..self.uses.len() {
            self.send_end(index).await?;
        }
        let are_free =
            |life: &Self| life.uses.iter().all(Use::is_gone) && life.attachments.values().all(|(of, _)| !life.has(of));
        self.until_gone(deadline, are_free).await?;
        if let Some(name) = self.snapshot.clone() {
            let snapshots = snapshots::here(cluster);
            self.delete(&snapshots, &name, deadline).await?;
            while !matches!(snapshots.get_opt(&name).await, Ok(None)) && Instant::now() < deadline {
                self.unless_over(deadline, sleep(PAUSE)).await?;
            }
        }
        let names: Vec<String> = self.claims.keys().cloned().collect();
        for name in names {
            if let Some(index) = self.uses.iter().position(|one| one.claim == name) {
                self.happened(index, Happening::DeleteSent);
            }
            if !self.delete(&cluster.here::<PersistentVolumeClaim>(), &name, deadline).await? {
                self.claims.remove(&name);
            }
        }
        let are_gone =
            |life: &Self| life.claims.is_empty() && life.volumes_there().iter().all(|volume| life.is_retained(volume));
        self.until_gone(deadline, are_gone).await
    }

    fn begin(&mut self, used_as: UsedAs, claim: &str) -> usize {
        let pod = self.name(match used_as {
            UsedAs::First => "first",
            UsedAs::Again => "again",
            UsedAs::Moved => "moved",
            UsedAs::Restored => "restored",
            UsedAs::Cloned => "cloned",
        });
        let mut timeline = Timeline::new(self.around.facts.minor_version, self.around.cluster.namespace());
        timeline.begin(Some(self.around.clock.now_ns()), Timestamp::now());
        let mut one = Use::new(used_as, claim.to_owned(), pod, timeline);
        self.claims.get(claim).and_then(Option::as_ref).into_iter().for_each(|claim| one.know(claim));
        self.uses.push(one);
        self.uses.len() - 1
    }

    async fn send_pod(&mut self, index: usize, is_marked: bool, place: Place, deadline: Instant) -> Result<(), End> {
        let Surroundings { cluster, lives, owner, .. } = self.around;
        let Use { pod, claim, .. } = &self.uses[index];
        let mark = format!("{}-{}", lives.run.id, self.number);
        let asked = PodOfLife { name: pod, claim, kind: self.kind, mark, is_marked, place };
        let object = pod_of_life(lives, &asked, owner);
        self.uses[index].is_sent = true;
        self.create::<Pod>(&cluster.here(), "pod", &object, deadline).await
    }

    /// Asks a pod to end, if there is one.
    async fn send_end(&mut self, index: usize) -> Result<(), End> {
        if self.uses[index].is_gone() || self.uses[index].is_ending {
            return Ok(());
        }
        self.uses[index].is_ending = true;
        let (pods, name) = (self.around.cluster.here::<Pod>(), self.uses[index].pod.clone());
        let was_there = self.delete(&pods, &name, Instant::now() + self.around.patience.cleanup).await?;
        self.uses[index].is_sent = was_there;
        Ok(())
    }

    async fn end_pod(&mut self, index: usize) -> Result<(), End> {
        self.send_end(index).await?;
        let deadline = Instant::now() + self.around.patience.start;
        self.until_over(deadline, "its pod does not end", move |life: &Self| life.uses[index].is_gone()).await
    }

    async fn until_detached(&mut self, index: usize) -> Result<(), End> {
        let deadline = Instant::now() + self.around.patience.start;
        let volume = self.uses[index].timeline.volume_of(&self.uses[index].claim).map(str::to_owned);
        let is_free = move |life: &Self| life.attachments.values().all(|(of, _)| Some(of) != volume.as_ref());
        self.until_over(deadline, "the volume is not detached", is_free).await?;
        self.uses[index].is_closed = true;
        Ok(())
    }

    async fn until_used(&mut self, deadline: Instant, index: usize) -> Result<(), End> {
        let is_used = move |life: &Self| life.uses[index].is_used;
        self.until(deadline, index, "the volume is not used", is_used).await
    }

    /// Waits for something about a use, unless it cannot come any more.
    async fn until(
        &mut self,
        deadline: Instant,
        index: usize,
        what: &str,
        is_so: impl Fn(&Self) -> bool,
    ) -> Result<(), End> {
        if self.wait(deadline, is_so, Some(index)).await? {
            return Ok(());
        }
        let why = self.uses[index].trouble();
        let why = why.as_deref().unwrap_or(NOBODY_SAYS);
        Err(End::Failed(too_long(what, self.around.patience.start, why)))
    }

    /// Waits for something to be over.
    async fn until_over(&mut self, deadline: Instant, what: &str, is_so: impl Fn(&Self) -> bool) -> Result<(), End> {
        if self.wait(deadline, is_so, None).await? {
            return Ok(());
        }
        Err(End::Failed(too_long(what, self.around.patience.start, NOBODY_SAYS)))
    }

    /// Waits for something to be gone, or until there is no time left.
    async fn until_gone(&mut self, deadline: Instant, is_so: impl Fn(&Self) -> bool) -> Result<(), End> {
        self.wait(deadline, is_so, None).await.map(drop)
    }

    /// Waits, taking in what happens, and what becomes of a use; `false` when there is no time left.
    async fn wait(
        &mut self,
        deadline: Instant,
        is_so: impl Fn(&Self) -> bool,
        used: Option<usize>,
    ) -> Result<bool, End> {
        let (mut tick, began) = (interval(TICK), Instant::now());
        loop {
            if is_so(self) {
                return Ok(true);
            }
            if let Some(one) = used.and_then(|index| self.uses.get(index)) {
                if let Some(why) = one.why_broken() {
                    return Err(End::Failed(why));
                }
                let trouble = one.trouble();
                if began.elapsed() > SILENCE && trouble.is_some() && self.troubled != trouble {
                    trouble.iter().for_each(|trouble| self.say(&format!("waiting: {trouble}")));
                    self.troubled = trouble;
                }
            }
            if self.around.is_over() {
                return Err(End::Stopped);
            }
            if Instant::now() > deadline {
                return Ok(false);
            }
            tokio::select! {
                Some(observation) = self.observations.recv() => self.observe(&observation),
                Some((number, followed)) = self.followed.recv() => {
                    if let Some(one) = self.uses.get_mut(number as usize) {
                        one.line(followed, self.around.clock);
                    }
                }
                _ = tick.tick() => {}
            }
        }
    }

    /// Waits for an answer; `None` when there is no time left.
    async fn unless_over<T>(&self, deadline: Instant, answer: impl Future<Output = T>) -> Result<Option<T>, End> {
        self.unless_stopped(timeout_at(deadline, answer)).await.map(Result::ok)
    }

    async fn unless_stopped<T>(&self, answer: impl Future<Output = T>) -> Result<T, End> {
        let (mut tick, mut answer) = (interval(TICK), pin!(answer));
        loop {
            tokio::select! {
                answer = &mut answer => return Ok(answer),
                _ = tick.tick() => {}
            }
            if self.around.is_over() {
                return Err(End::Stopped);
            }
        }
    }

    /// Deletes an object; `false` when there is none.
    async fn delete<K>(&self, objects: &Api<K>, name: &str, deadline: Instant) -> Result<bool, End>
    where
        K: Resource + Clone + DeserializeOwned + Debug,
    {
        let what = format!("delete {name}");
        match self.persist(&what, deadline, async || objects.delete(name, &DeleteParams::background()).await).await? {
            Ok(_) => Ok(true),
            Err(kube::Error::Api(status)) if status.code == 404 => Ok(false),
            Err(error) => Err(ClusterError::of(what, &error).into()),
        }
    }

    /// Creates an object.
    async fn create<K>(&self, objects: &Api<K>, kind: &str, object: &K, deadline: Instant) -> Result<(), End>
    where
        K: Resource + Clone + Serialize + DeserializeOwned + Debug,
    {
        let name = object.name_any();
        let what = format!("create the {kind} {name}");
        let created = self.persist(&what, deadline, async || try_to_create(objects, object).await).await?;
        created.map(drop).map_err(|error| not_created(self.around.cluster, kind, &name, &error).into())
    }

    /// Sends a request until there is an answer that waiting would not change, or no time left.
    async fn persist<T>(
        &self,
        what: &str,
        deadline: Instant,
        request: impl AsyncFn() -> Result<T, kube::Error>,
    ) -> Result<Result<T, kube::Error>, End> {
        let mut delays = Vec::new();
        // What comes of a request that nobody waits for any more belongs to the Job, and goes with it.
        let answer = self.unless_stopped(persist(what, deadline, &mut delays, request)).await?;
        delays.iter().for_each(|delay| self.say(delay));
        Ok(answer)
    }

    fn happened(&mut self, index: usize, what: Happening) {
        let (now_ns, one) = (self.around.clock.now_ns(), &mut self.uses[index]);
        one.timeline.claim_happened(&one.claim, what, now_ns);
    }

    fn name(&self, what: &str) -> String {
        Routes::name(&self.around.lives.run.name(), self.number, what)
    }

    fn target(&self) -> &str {
        &self.around.lives.run.volumes[self.kind].target
    }

    fn say(&self, what: &str) {
        let planned = super::number_of(self.around.lives);
        let text = format!("life {} of {planned}, {}: {what}", self.number + 1, self.target());
        // Nobody listens any more when all is over.
        let _ = self.around.notes.send(text);
    }
}
