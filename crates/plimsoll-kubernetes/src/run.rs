//! Doing a run in a pod: create, watch, listen, take away.

mod facts;

use std::{
    future::pending,
    sync::atomic::{AtomicBool, Ordering},
    time::Duration,
};

use jiff::Timestamp;
use k8s_openapi::api::{
    batch::v1::Job,
    core::v1::{Node, PersistentVolumeClaim, Pod},
};
use kube::api::{DeleteParams, ListParams, Patch, PatchParams, PostParams};
use plimsoll_record::{
    builder::RecordBuilder,
    cluster::ClusterEnvironment,
    event::RunEvent,
    lifecycle::{Happening, VolumeLifecycle},
    record::{Outcome, Record},
};
use serde_json::json;
use tokio::{
    sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel},
    task::JoinHandle,
    time::{Instant, interval},
};

use self::facts::Facts;
use crate::{
    cluster::Cluster,
    error::{ClusterError, may_pass},
    following::{Followed, follow},
    frames::{Line, Message, Reader},
    manifests,
    preflight::placement::why_none,
    request::{PodRun, RUN_LABEL},
    rights::{self, Need},
    runs::RunThere,
    teardown::{Left, Made, remove},
    timeline::{Observation, Seen, Timeline, has_started},
    troubles::{Troubles, unschedulable},
    watching::Watching,
};

/// How often to look at what nobody tells: signals and the time.
const TICK: Duration = Duration::from_millis(100);

/// How long a pod that does not start may keep silent before a trouble is told.
const SILENCE: Duration = Duration::from_secs(10);

/// How long a pod that was asked to end may take to tell what it has.
const LAST_WORDS: Duration = Duration::from_secs(25);

/// How many lines for people are kept for the case that something goes wrong.
const LAST_LINES: usize = 5;

/// How long things may take.
#[derive(Clone, Copy, Debug)]
pub struct Patience {
    /// From the claims until the program runs.
    pub start: Duration,
    /// Until everything is gone again.
    pub cleanup: Duration,
}

/// What is told meanwhile.
#[derive(Debug)]
pub enum Told<'a> {
    /// Something happened in the run.
    Event(&'a RunEvent),
    /// Something to say in passing.
    Note(String),
    /// Something that is not as it should be.
    Warning(String),
}

/// What came of a run.
#[derive(Debug)]
pub struct Finished {
    /// The record, or as much of it as arrived; `None` when the run had not begun.
    pub record: Option<Record>,
    /// Why it is not whole.
    pub error: Option<ClusterError>,
    /// What is left in the cluster.
    pub leftovers: Vec<Left>,
}

/// Does a run: creates its objects, follows it, and takes everything away again whatever happens.
pub fn run(
    cluster: &Cluster,
    run: &PodRun,
    patience: Patience,
    stop: &AtomicBool,
    tell: &mut dyn FnMut(Told<'_>),
) -> Result<Finished, ClusterError> {
    cluster.wait_for(async {
        let mut running = Running::begin(cluster, run, patience, tell).await?;
        let done = match running.create().await {
            Ok(()) => running.follow(Until::Done, stop, tell).await,
            Err(error) => Err(error),
        };
        Ok(running.finish(done.err(), true, stop, tell).await)
    })
}

/// Starts a run and leaves it going on once its program runs; takes everything away again when it does not start.
pub fn start(
    cluster: &Cluster,
    run: &PodRun,
    patience: Patience,
    stop: &AtomicBool,
    tell: &mut dyn FnMut(Told<'_>),
) -> Result<(), ClusterError> {
    cluster.wait_for(async {
        let mut running = Running::begin(cluster, run, patience, tell).await?;
        let started = match running.create().await {
            Ok(()) => running.follow(Until::Started, stop, tell).await,
            Err(error) => Err(error),
        };
        if let Err(error) = started {
            let leftovers = running.remove(stop).await;
            leftovers.into_iter().for_each(|left| tell(Told::Warning(left.text)));
            return Err(error);
        }
        Ok(())
    })
}

/// Follows a run that is there to its end, and takes everything away unless it is to stay. Of what happened before, it
/// knows what events still tell.
pub fn collect(
    cluster: &Cluster,
    there: &RunThere,
    stays: bool,
    patience: Patience,
    stop: &AtomicBool,
    tell: &mut dyn FnMut(Told<'_>),
) -> Result<Finished, ClusterError> {
    if let Some(why) = there.why_lost() {
        let why = if why.is_empty() { String::new() } else { format!(": {why}") };
        let text = format!("run {} ended, and its pod with the results is gone{why}", there.id());
        return Err(ClusterError::Run(format!("{text}; `plimsoll kubernetes cleanup` removes what is left")));
    }
    cluster.wait_for(async {
        let mut running = Running::begin(cluster, &there.run, patience, tell).await?;
        running.timeline.begin(None, there.created.unwrap_or_default());
        running.observe_existing_claims();
        running.leaves_alone = true;
        let done = running.follow(Until::Done, stop, tell).await;
        Ok(running.finish(done.err(), !stays, stop, tell).await)
    })
}

/// How long a run is followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Until {
    Started,
    Done,
}

/// A run that is going on.
struct Running<'a> {
    cluster: &'a Cluster,
    run: &'a PodRun,
    patience: Patience,
    facts: Facts,
    watching: Watching,
    timeline: Timeline,
    troubles: Troubles,
    /// The pod as it was seen last, with whether it is gone.
    pod: Option<(Box<Pod>, bool)>,
    is_released: bool,
    /// Where the follower of the log puts lines, until there is one.
    lines: Option<UnboundedSender<Followed>>,
    followed: UnboundedReceiver<Followed>,
    following: Option<JoinHandle<()>>,
    reader: Reader,
    last_lines: Vec<String>,
    builder: Option<RecordBuilder>,
    /// The record that the pod told at its end.
    outcome: Option<Box<Record>>,
    /// The trouble that was told last.
    troubled: Option<String>,
    /// When nodes were looked at.
    nodes_seen: Option<Instant>,
    /// When the pod was asked to end.
    stopping: Option<Instant>,
    /// Whether whoever stops following leaves the run going on.
    leaves_alone: bool,
}

impl<'a> Running<'a> {
    /// Looks at what is to be used, and begins to watch.
    async fn begin(
        cluster: &'a Cluster,
        run: &'a PodRun,
        patience: Patience,
        tell: &mut dyn FnMut(Told<'_>),
    ) -> Result<Self, ClusterError> {
        let facts = Facts::gather(cluster, run).await?;
        let selector = format!("{RUN_LABEL}={}", run.id);
        let watching = Watching::start(cluster, &selector, &run.name(), &run.claims()).await?;
        for what in &watching.denied {
            let right = rights::of(what);
            if right.is_some_and(|right| right.need == Need::Required) {
                let reason = "that is not allowed: `plimsoll kubernetes preflight` prints the rules that are missing";
                return Err(ClusterError::Refused { doing: format!("watch {what}"), reason: reason.to_owned() });
            }
            let lost = right.map_or("", |right| right.lost);
            tell(Told::Note(format!("{what} may not be watched here: {lost}")));
        }
        let timeline = Timeline::new(facts.minor_version);
        let (lines, followed) = unbounded_channel();
        Ok(Self {
            cluster,
            run,
            patience,
            facts,
            watching,
            timeline,
            troubles: Troubles::default(),
            pod: None,
            is_released: false,
            lines: Some(lines),
            followed,
            following: None,
            reader: Reader::default(),
            last_lines: Vec::new(),
            builder: None,
            outcome: None,
            troubled: None,
            nodes_seen: None,
            stopping: None,
            leaves_alone: false,
        })
    }

    /// What came of it, when everything is taken away or is to stay.
    async fn finish(
        mut self,
        error: Option<ClusterError>,
        removes: bool,
        stop: &AtomicBool,
        tell: &mut dyn FnMut(Told<'_>),
    ) -> Finished {
        self.learn_facts().await;
        let leaves = self.leaves_alone && self.outcome.is_none() && matches!(error, Some(ClusterError::Interrupted));
        let leftovers = if removes && !leaves {
            tell(Told::Note("removing what the run made in the cluster".to_owned()));
            self.remove(stop).await
        } else {
            Vec::new()
        };
        let lost = self.reader.lost();
        if lost > 0 {
            tell(Told::Warning(format!("{lost} lines of the pod's log were lost on the way")));
        }
        if let Some(breaks) = self.watching.breaks() {
            tell(Told::Note(breaks));
        }
        Finished { record: self.record(), error, leftovers }
    }

    /// The Job first, which everything else belongs to.
    async fn create(&mut self) -> Result<(), ClusterError> {
        let parameters = PostParams { field_manager: Some("plimsoll".to_owned()), ..PostParams::default() };
        let (cluster, run) = (self.cluster, self.run);
        let name = run.name();
        let doing = || format!("create the Job {name} in namespace {}", cluster.namespace());
        let jobs = cluster.here::<Job>();
        let job = match jobs.create(&parameters, &manifests::job(run)).await {
            Ok(job) => job,
            // A request that was sent again: nobody else has names like these.
            Err(kube::Error::Api(status)) if status.code == 409 => {
                jobs.get(&name).await.map_err(|error| ClusterError::of(doing(), &error))?
            }
            Err(error) => return Err(ClusterError::of(doing(), &error)),
        };
        let owner = manifests::owner(&job);
        self.timeline.begin(Some(self.watching.now_ns()), Timestamp::now());
        let claims = cluster.here::<PersistentVolumeClaim>();
        for claim in manifests::claims(run, Some(&owner)) {
            let name = claim.metadata.name.clone().unwrap_or_default();
            self.timeline.claim_happened(&name, Happening::ClaimSent, self.watching.now_ns());
            match claims.create(&parameters, &claim).await {
                Err(kube::Error::Api(status)) if status.code == 409 => {}
                Err(error) => return Err(ClusterError::of(format!("create the claim {name}"), &error)),
                Ok(_) => {}
            }
            self.timeline.claim_happened(&name, Happening::ClaimAccepted, self.watching.now_ns());
        }
        self.observe_existing_claims();
        Ok(())
    }

    /// No watch tells of claims that were there before.
    fn observe_existing_claims(&mut self) {
        for claim in self.facts.existing_claims() {
            let seen = Seen::Claim(Box::new(claim));
            self.timeline.observe(&Observation { at_ns: 0, is_initial: true, is_deleted: false, seen });
        }
    }

    /// Until the run is over, whatever way.
    async fn follow(
        &mut self,
        until: Until,
        stop: &AtomicBool,
        tell: &mut dyn FnMut(Told<'_>),
    ) -> Result<(), ClusterError> {
        let mut tick = interval(TICK);
        let began = Instant::now();
        loop {
            tokio::select! {
                observation = self.watching.observations.recv() => match observation {
                    Some(observation) => self.observe(observation),
                    None => pending().await,
                },
                Some(followed) = self.followed.recv() => {
                    if !matches!(followed, Followed::Line(_)) {
                        self.look_again().await;
                    }
                    if self.line(followed, tell)? {
                        return Ok(());
                    }
                }
                _ = tick.tick() => {}
            }
            if stop.load(Ordering::Relaxed) && self.stopping.is_none() {
                if self.leaves_alone {
                    return Err(ClusterError::Interrupted);
                }
                self.stop(tell).await?;
            }
            if self.stopping.is_some_and(|since| since.elapsed() > LAST_WORDS) {
                return self.builder.as_ref().map(|_| ()).ok_or(ClusterError::Interrupted);
            }
            if !self.is_released {
                self.release().await?;
            }
            self.look_at_nodes().await;
            match self.following {
                None => self.look_at_start(began, tell)?,
                Some(_) if until == Until::Started => return Ok(()),
                Some(_) => {}
            }
        }
    }

    /// Lets the scheduler look at the pod once every claim that needs no pod is bound.
    async fn release(&mut self) -> Result<(), ClusterError> {
        let is_awaited = self.run.claims().iter().enumerate().any(|(index, claim)| {
            self.run.is_made(index) && self.facts.is_made_at_once(index) && self.timeline.volume_of(claim).is_none()
        });
        let Some((pod, false)) = self.pod.as_ref().filter(|_| !is_awaited) else { return Ok(()) };
        let mut gates = pod.spec.iter().flat_map(|spec| spec.scheduling_gates.iter().flatten());
        if gates.next().is_none() {
            // Somebody did so before, or the cluster is older than gates.
            self.is_released = true;
            return Ok(());
        }
        let name = pod.metadata.name.clone().unwrap_or_default();
        let patch = Patch::Merge(json!({ "spec": { "schedulingGates": null } }));
        match self.cluster.here::<Pod>().patch(&name, &PatchParams::default(), &patch).await {
            Ok(_) => self.is_released = true,
            Err(error) if may_pass(&error) => {}
            Err(error) => return Err(ClusterError::of(format!("let the pod {name} be scheduled"), &error)),
        }
        Ok(())
    }

    /// Looks at nodes now and then while the scheduler has none for the pod: they say more than the scheduler.
    async fn look_at_nodes(&mut self) {
        let is_waiting = self.pod.as_ref().is_some_and(|(pod, is_gone)| !is_gone && unschedulable(pod).is_some());
        if !is_waiting || self.nodes_seen.is_some_and(|since| since.elapsed() < SILENCE) {
            return;
        }
        let nodes = self.cluster.everywhere::<Node>().list(&ListParams::default()).await;
        self.troubles.of_nodes = nodes.ok().and_then(|nodes| why_none(&nodes.items, self.run));
        self.nodes_seen = Some(Instant::now());
    }

    fn observe(&mut self, mut observation: Observation) {
        // Whoever comes late sees what was there, not when it came.
        observation.is_initial |= self.leaves_alone;
        self.timeline.observe(&observation);
        match observation.seen {
            Seen::Event(event) => self.troubles.observe(&event),
            Seen::Pod(pod) => {
                if has_started(&pod)
                    && let Some(lines) = self.lines.take()
                {
                    let name = pod.metadata.name.clone().unwrap_or_default();
                    self.following = Some(follow(self.cluster.here(), name, lines));
                }
                self.pod = Some((pod, observation.is_deleted));
            }
            Seen::Claim(_) | Seen::Volume(_) | Seen::Attachment(_) => {}
        }
    }

    /// Looks at a pod that has not started: what keeps it, and whether that has lasted long enough.
    fn look_at_start(&mut self, began: Instant, tell: &mut dyn FnMut(Told<'_>)) -> Result<(), ClusterError> {
        let trouble = match &self.pod {
            None => self.troubles.of_job(),
            Some((pod, false)) => self.troubles.of_start(pod),
            Some((pod, true)) if self.stopping.is_none() => {
                let why = self.troubles.of_end(pod, &[]);
                return Err(ClusterError::Run(format!("the pod was deleted before it had started: {why}")));
            }
            Some(_) => return Err(ClusterError::Interrupted),
        };
        // A pod that never ran may end all the same: evicted, or out of time.
        if let Some((pod, false)) = &self.pod
            && pod.status.as_ref().and_then(|status| status.phase.as_deref()) == Some("Failed")
        {
            return Err(ClusterError::Run(self.troubles.of_end(pod, &[])));
        }
        if let Some(trouble) = &trouble {
            if trouble.is_final {
                return Err(ClusterError::Run(trouble.text.clone()));
            }
            if began.elapsed() > SILENCE && self.troubled.as_ref() != Some(&trouble.text) {
                tell(Told::Note(format!("waiting: {}", trouble.text)));
                self.troubled = Some(trouble.text.clone());
            }
        }
        if began.elapsed() > self.patience.start {
            let why = trouble.map_or_else(|| "the cluster does not say why".to_owned(), |trouble| trouble.text);
            let waited_s = self.patience.start.as_secs();
            return Err(ClusterError::Run(format!("the pod has not started within {waited_s} s: {why}")));
        }
        Ok(())
    }

    /// Asks the pod to end, so that it tells what it has.
    async fn stop(&mut self, tell: &mut dyn FnMut(Told<'_>)) -> Result<(), ClusterError> {
        self.stopping = Some(Instant::now());
        let Some((pod, _)) = self.pod.as_ref().filter(|_| self.following.is_some()) else {
            return Err(ClusterError::Interrupted);
        };
        let name = pod.metadata.name.clone().unwrap_or_default();
        match self.cluster.here::<Pod>().delete(&name, &DeleteParams::default()).await {
            Ok(_) => tell(Told::Note(
                "ending the run in the pod; once more ends plimsoll at once and leaves the run going on".into(),
            )),
            // At the next look it is tried again.
            Err(error) if may_pass(&error) => self.stopping = None,
            Err(error) => return Err(ClusterError::of(format!("end the pod {name}"), &error)),
        }
        Ok(())
    }

    /// Takes in a line of the log; tells whether the run is over.
    fn line(&mut self, followed: Followed, tell: &mut dyn FnMut(Told<'_>)) -> Result<bool, ClusterError> {
        let now_ns = Some(self.watching.now_ns()).filter(|_| !self.leaves_alone);
        let line = match followed {
            Followed::Line(line) => line,
            Followed::End | Followed::Failed(_) if self.stopping.is_some() => return Err(ClusterError::Interrupted),
            Followed::End => return Err(self.ended_without_result()),
            Followed::Failed(_) if self.pod.as_ref().is_some_and(|(_, is_gone)| *is_gone) => {
                return Err(self.ended_without_result());
            }
            Followed::Failed(reason) => {
                return Err(ClusterError::Run(format!("the log of the pod cannot be read: {reason}")));
            }
        };
        match self.reader.line(&line) {
            Line::Part => {}
            Line::Text => {
                self.last_lines.push(line);
                let surplus = self.last_lines.len().saturating_sub(LAST_LINES);
                self.last_lines.drain(..surplus);
            }
            Line::Message(message) => return self.message(message, now_ns, tell),
        }
        Ok(false)
    }

    fn message(
        &mut self,
        message: Message,
        now_ns: Option<u64>,
        tell: &mut dyn FnMut(Told<'_>),
    ) -> Result<bool, ClusterError> {
        match message {
            Message::Running { at } => {
                self.timeline.told(&self.run.claims(), Happening::Running, at, now_ns);
            }
            Message::FirstIo { target, at } => {
                if let Some(index) = self.run.volumes.iter().position(|volume| volume.target == target) {
                    self.timeline.told(&[self.run.claim(index)], Happening::FirstIo, at, now_ns);
                }
            }
            Message::Event { mut event } => {
                if let RunEvent::Started(started) = &mut *event {
                    started.environment.cluster = Some(self.facts.environment(self.cluster, self.run));
                }
                match (&mut self.builder, &*event) {
                    (None, RunEvent::Started(started)) => self.builder = Some(RecordBuilder::new((**started).clone())),
                    (Some(builder), event) => builder.apply(event),
                    (None, _) => {}
                }
                tell(Told::Event(&event));
            }
            Message::Done { record } => {
                let is_cut_short = record.outcome == Outcome::Interrupted && self.stopping.is_none();
                self.outcome = Some(record);
                // Whoever ended the pod gave it time to tell what it had.
                return if is_cut_short { Err(self.ended_without_result()) } else { Ok(true) };
            }
            Message::Failed { exit, text } => return Err(ClusterError::InPod { exit, text }),
        }
        Ok(false)
    }

    /// Looks at a pod whose log has ended: the watch may not have told yet how it did.
    async fn look_again(&mut self) {
        let name = self.pod.as_ref().and_then(|(pod, _)| pod.metadata.name.clone()).unwrap_or_default();
        match (self.cluster.here::<Pod>().get_opt(&name).await, &mut self.pod) {
            (Ok(Some(pod)), seen) => *seen = Some((Box::new(pod), false)),
            (Ok(None), Some((_, is_gone))) => *is_gone = true,
            (Ok(None), None) | (Err(_), _) => {}
        }
    }

    fn ended_without_result(&self) -> ClusterError {
        let why = match &self.pod {
            Some((pod, _)) => self.troubles.of_end(pod, &self.last_lines),
            None => "the pod is gone".to_owned(),
        };
        ClusterError::Run(why)
    }

    /// Takes everything away, and gives what is left.
    async fn remove(&mut self, stop: &AtomicBool) -> Vec<Left> {
        let claims = self.run.made_claims();
        let volumes = claims.iter().filter_map(|claim| self.timeline.volume_of(claim)).map(str::to_owned).collect();
        for claim in &claims {
            self.timeline.claim_happened(claim, Happening::DeleteSent, self.watching.now_ns());
        }
        let made = Made { id: self.run.id, job: self.run.name(), claims, volumes };
        let (watching, timeline) = (&mut self.watching, &mut self.timeline);
        remove(self.cluster, &made, self.patience.cleanup, stop, &mut || {
            while let Ok(observation) = watching.observations.try_recv() {
                timeline.observe(&observation);
            }
        })
        .await
    }

    /// What can be known only now: which volumes and nodes it was.
    async fn learn_facts(&mut self) {
        let volumes = self.run.claims().iter().map(|claim| self.timeline.volume_of(claim).map(str::to_owned)).collect();
        let nodes = self.timeline.nodes().into_iter().map(str::to_owned).collect();
        self.facts.learn(self.cluster, volumes, nodes).await;
    }

    /// The record with what only the client knows.
    fn record(&mut self) -> Option<Record> {
        let lives = self.lives();
        let cluster = self.cluster_environment();
        let mut record = match self.outcome.take() {
            Some(record) => *record,
            None => self.builder.take()?.finish(),
        };
        record.environment.cluster = Some(cluster);
        record.volumes = lives;
        Some(record)
    }

    fn lives(&self) -> Vec<VolumeLifecycle> {
        let claims = self.run.claims();
        self.run.volumes.iter().zip(&claims).map(|(volume, claim)| self.timeline.life(&volume.target, claim)).collect()
    }

    fn cluster_environment(&self) -> ClusterEnvironment {
        self.facts.environment(self.cluster, self.run)
    }
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        if let Some(following) = &self.following {
            following.abort();
        }
    }
}
