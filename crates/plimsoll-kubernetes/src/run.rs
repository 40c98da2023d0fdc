//! Doing a run in pods: create, watch, listen, take away.

mod facts;
mod member;
mod starting;

use std::{
    future::pending,
    sync::atomic::{AtomicBool, Ordering},
    time::Duration,
};

use futures_util::future::try_join_all;
use jiff::Timestamp;
use k8s_openapi::api::{
    batch::v1::Job,
    core::v1::{Node, Pod},
};
use kube::{
    ResourceExt as _,
    api::{DeleteParams, ListParams, Patch, PatchParams},
};
use plimsoll_record::{
    event::RunEvent,
    lifecycle::{Happening, VolumeLifecycle},
    record::Record,
};
use serde_json::json;
use tokio::{
    sync::mpsc::{UnboundedReceiver, unbounded_channel},
    time::{Instant, interval},
};

use self::{
    facts::Facts,
    member::{Lines, Member},
};
use crate::{
    cluster::Cluster,
    error::{ClusterError, may_pass},
    following::Followed,
    hearing::{Heard, Hearing, Teller},
    manifests::{self, POD_LABEL},
    preflight::placement::why_none,
    request::{PodRun, RUN_LABEL},
    rights::{self, Need},
    runs::RunThere,
    teardown::{Left, Made, remove},
    timeline::{Observation, Seen, Timeline},
    troubles::{Troubles, unschedulable},
    watching::Watching,
};

pub use self::starting::{may_be_watched, nodes_for};
pub use crate::preflight::placement::NodesFor;

/// How often to look at what nobody tells: signals and the time.
const TICK: Duration = Duration::from_millis(100);

/// How long a pod that does not start may keep silent before a trouble is told.
const SILENCE: Duration = Duration::from_secs(10);

/// How long a pod that was asked to end may take to tell what it has.
const LAST_WORDS: Duration = Duration::from_secs(25);

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
        running.is_begun = starting::has_begun(cluster, &there.run).await;
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
    members: Vec<Member>,
    lines: Lines,
    followed: UnboundedReceiver<(u32, Followed)>,
    hearing: Hearing,
    /// Whether several pods were told when to begin.
    is_begun: bool,
    /// The trouble that was told last.
    troubled: Option<String>,
    /// When nodes were looked at.
    nodes_seen: Option<Instant>,
    /// When pods were asked to end.
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
        let claims: Vec<String> = run.claims().into_iter().map(|(_, claim)| claim).collect();
        let watching = Watching::start(cluster, &selector, &run.name(), &claims).await?;
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
        let (sender, followed) = unbounded_channel();
        Ok(Self {
            cluster,
            run,
            patience,
            facts,
            watching,
            timeline,
            troubles: Troubles::default(),
            members: (0..run.pods.all()).map(|_| Member::default()).collect(),
            lines: Lines { pods: cluster.here(), sender },
            followed,
            hearing: Hearing::new(run),
            is_begun: !manifests::watches(run),
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
        let leaves = self.leaves_alone && !self.is_over() && matches!(error, Some(ClusterError::Interrupted));
        let leftovers = if removes && !leaves {
            tell(Told::Note("removing what the run made in the cluster".to_owned()));
            self.remove(stop).await
        } else {
            Vec::new()
        };
        let lost: u64 = self.members.iter().map(|member| member.reader.lost()).sum();
        if lost > 0 {
            tell(Told::Warning(format!("{lost} lines of the pod's log were lost on the way")));
        }
        if let Some(breaks) = self.watching.breaks() {
            tell(Told::Note(breaks));
        }
        let is_cut = self.stopping.is_some();
        let error = error.or_else(|| self.hearing.why_not_together().filter(|_| !is_cut));
        Finished { record: self.record(tell), error, leftovers }
    }

    /// The Job first, which everything else belongs to.
    async fn create(&mut self) -> Result<(), ClusterError> {
        let (cluster, run) = (self.cluster, self.run);
        let job: Job = starting::create(cluster, "Job", &manifests::job(run)).await?;
        let owner = manifests::owner(&job);
        self.timeline.begin(Some(self.watching.now_ns()), Timestamp::now());
        for claim in manifests::claims(run, Some(&owner)) {
            let name = claim.name_any();
            self.timeline.claim_happened(&name, Happening::ClaimSent, self.watching.now_ns());
            starting::create(cluster, "claim", &claim).await?;
            self.timeline.claim_happened(&name, Happening::ClaimAccepted, self.watching.now_ns());
        }
        starting::create_start(cluster, run, &owner).await?;
        for pod in manifests::other_pods(run, Some(&owner)) {
            starting::create(cluster, "pod", &pod).await?;
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
                Some((number, followed)) = self.followed.recv() => {
                    if !matches!(followed, Followed::Line(_)) {
                        self.look_again(number).await;
                    }
                    self.line(number, followed, tell)?;
                    if self.is_over() {
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
                return if self.hearing.has_begun() { Ok(()) } else { Err(ClusterError::Interrupted) };
            }
            self.release().await?;
            self.look_at_nodes().await;
            if !self.members.iter().all(Member::has_begun) {
                self.look_at_start(began, tell)?;
                continue;
            }
            if !self.is_begun && self.members.iter().all(Member::is_ready) {
                self.is_begun = starting::begin(self.cluster, self.run, tell).await?;
            }
            if until == Until::Started && self.is_begun {
                return Ok(());
            }
        }
    }

    /// Whether every pod has told all.
    fn is_over(&self) -> bool {
        self.members.iter().all(|member| member.is_done)
    }

    /// Lets the scheduler look at the pods, all at once, when every claim that needs no pod is bound.
    async fn release(&mut self) -> Result<(), ClusterError> {
        let gated: Vec<String> = self.members.iter().filter_map(|member| Some(member.gated()?.name_any())).collect();
        let are_all_there = self.members.iter().all(|member| member.pod.is_some());
        let is_awaited = self.run.claims().iter().any(|(index, claim)| {
            self.run.is_made(*index) && self.facts.is_made_at_once(*index) && self.timeline.volume_of(claim).is_none()
        });
        if gated.is_empty() || !are_all_there || is_awaited {
            return Ok(());
        }
        let pods = self.cluster.here::<Pod>();
        let patch = Patch::Merge(json!({ "spec": { "schedulingGates": null } }));
        let parameters = PatchParams::default();
        let release = async |name: &String| match pods.patch(name, &parameters, &patch).await {
            Ok(_) => Ok(true),
            // At the next look it is tried again.
            Err(error) if may_pass(&error) => Ok(false),
            Err(error) => Err(ClusterError::of(format!("let the pod {name} be scheduled"), &error)),
        };
        let released = try_join_all(gated.iter().map(release)).await?;
        for (name, _) in gated.iter().zip(released).filter(|(_, is_released)| *is_released) {
            let member = self.members.iter_mut().find(|member| member.name() == *name);
            member.into_iter().for_each(|member| member.is_released = true);
        }
        Ok(())
    }

    /// Looks at nodes now and then while the scheduler has none for a pod: they say more than the scheduler.
    async fn look_at_nodes(&mut self) {
        let is_unschedulable = |pod: &Pod| unschedulable(pod).is_some();
        let mut waiting = self.members.iter().filter(|member| !member.is_gone);
        let is_waiting = waiting.any(|member| member.pod.as_deref().is_some_and(is_unschedulable));
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
                let number = pod.labels().get(POD_LABEL).and_then(|number| number.parse().ok()).unwrap_or(0);
                if let Some(member) = self.members.get_mut(number as usize) {
                    member.observe(number, pod, (observation.is_initial, observation.is_deleted), &self.lines);
                }
            }
            Seen::Claim(_) | Seen::Volume(_) | Seen::Attachment(_) => {}
        }
    }

    /// Looks at pods that have not started: what keeps them, and whether that has lasted long enough.
    fn look_at_start(&mut self, began: Instant, tell: &mut dyn FnMut(Told<'_>)) -> Result<(), ClusterError> {
        let mut first = None;
        for member in self.members.iter().filter(|member| !member.has_begun()) {
            let trouble = match &member.pod {
                None => self.troubles.of_job(),
                Some(pod) if !member.is_gone => {
                    if member.has_failed() {
                        return Err(ClusterError::Run(self.troubles.of_end(pod, &[])));
                    }
                    self.troubles.of_start(pod)
                }
                Some(pod) if self.stopping.is_none() => {
                    let why = self.troubles.of_end(pod, &[]);
                    return Err(ClusterError::Run(format!("the pod was deleted before it had started: {why}")));
                }
                Some(_) => return Err(ClusterError::Interrupted),
            };
            if let Some(trouble) = trouble.as_ref().filter(|trouble| trouble.is_final) {
                return Err(ClusterError::Run(trouble.text.clone()));
            }
            first = first.or(trouble);
        }
        if let Some(trouble) = &first
            && began.elapsed() > SILENCE
            && self.troubled.as_ref() != Some(&trouble.text)
        {
            tell(Told::Note(format!("waiting: {}", trouble.text)));
            self.troubled = Some(trouble.text.clone());
        }
        if began.elapsed() > self.patience.start {
            let why = first.map_or_else(|| "the cluster does not say why".to_owned(), |trouble| trouble.text);
            let waited_s = self.patience.start.as_secs();
            let missing = self.members.iter().filter(|member| !member.has_begun()).count();
            let who = match self.members.len() {
                1 => "the pod has".to_owned(),
                all => format!("{missing} of {all} pods have"),
            };
            return Err(ClusterError::Run(format!("{who} not started within {waited_s} s: {why}")));
        }
        Ok(())
    }

    /// Asks the pods to end, so that they tell what they have.
    async fn stop(&mut self, tell: &mut dyn FnMut(Told<'_>)) -> Result<(), ClusterError> {
        self.stopping = Some(Instant::now());
        if !self.members.iter().all(Member::has_begun) {
            return Err(ClusterError::Interrupted);
        }
        for member in self.members.iter().filter(|member| !member.is_gone) {
            let name = member.name();
            match self.cluster.here::<Pod>().delete(&name, &DeleteParams::default()).await {
                Ok(_) => {}
                Err(kube::Error::Api(status)) if status.code == 404 => {}
                // At the next look it is tried again.
                Err(error) if may_pass(&error) => {
                    self.stopping = None;
                    return Ok(());
                }
                Err(error) => return Err(ClusterError::of(format!("end the pod {name}"), &error)),
            }
        }
        tell(Told::Note(
            "ending the run in the cluster; once more ends plimsoll at once and leaves the run going on".into(),
        ));
        Ok(())
    }

    /// Takes in a line of a pod's log.
    fn line(&mut self, number: u32, followed: Followed, tell: &mut dyn FnMut(Told<'_>)) -> Result<(), ClusterError> {
        let Some(member) = self.members.get_mut(number as usize) else { return Ok(()) };
        let line = match followed {
            Followed::Line(line) => line,
            Followed::End | Followed::Failed(_) if member.is_done => return Ok(()),
            Followed::End | Followed::Failed(_) if self.stopping.is_some() => return Err(ClusterError::Interrupted),
            Followed::End => return Err(self.ended_without_result(number)),
            Followed::Failed(_) if member.is_gone => return Err(self.ended_without_result(number)),
            Followed::Failed(reason) => {
                return Err(ClusterError::Run(format!("the log of the pod cannot be read: {reason}")));
            }
        };
        let now_ns = Some(self.watching.now_ns()).filter(|_| !member.follows_late);
        let is_stopping = self.stopping.is_some();
        let teller = Teller { number: number as usize, name: member.name(), node: member.node().map(str::to_owned) };
        let environment = || Some(self.facts.environment(self.cluster, self.run));
        let mut tell = |event: &RunEvent| tell(Told::Event(event));
        let heard = self.hearing.line(&teller, &mut member.reader, line, environment, &mut tell)?;
        match heard {
            Heard::Nothing => {}
            Heard::Text(line) => member.keep_line(line),
            Heard::Running { at } => {
                self.timeline.told(&self.run.claims_of(number), Happening::Running, at, now_ns);
            }
            Heard::FirstIo { volume, at } => {
                self.timeline.told(&[self.run.claim(number, volume)], Happening::FirstIo, at, now_ns);
            }
            Heard::Done { is_cut_short } => {
                member.is_done = true;
                // Whoever ended the pod gave it time to tell what it had.
                if is_cut_short && !is_stopping {
                    return Err(self.ended_without_result(number));
                }
            }
        }
        Ok(())
    }

    /// Looks at a pod whose log has ended: the watch may not have told yet how it did.
    async fn look_again(&mut self, number: u32) {
        let Some(member) = self.members.get_mut(number as usize) else { return };
        match self.cluster.here::<Pod>().get_opt(&member.name()).await {
            Ok(Some(pod)) => (member.pod, member.is_gone) = (Some(Box::new(pod)), false),
            Ok(None) => member.is_gone = member.pod.is_some(),
            Err(_) => {}
        }
    }

    fn ended_without_result(&self, number: u32) -> ClusterError {
        let why = match self.members.get(number as usize) {
            Some(Member { pod: Some(pod), last_lines, .. }) => self.troubles.of_end(pod, last_lines),
            _ => "the pod is gone".to_owned(),
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
        let volume = |(_, claim): (usize, String)| self.timeline.volume_of(&claim).map(str::to_owned);
        let volumes = self.run.claims().into_iter().map(volume).collect();
        let nodes = self.timeline.nodes().into_iter().map(str::to_owned).collect();
        self.facts.learn(self.cluster, volumes, nodes).await;
    }

    /// The record with what only the client knows.
    fn record(self, tell: &mut dyn FnMut(Told<'_>)) -> Option<Record> {
        let volumes = self.lives();
        let cluster = self.facts.environment(self.cluster, self.run);
        let mut record = self.hearing.record(&mut |event| tell(Told::Event(event)))?;
        record.environment.cluster = Some(cluster);
        record.volumes = volumes;
        Some(record)
    }

    fn lives(&self) -> Vec<VolumeLifecycle> {
        let life = |(index, claim): (usize, String)| self.timeline.life(&self.run.volumes[index].target, &claim);
        self.run.claims().into_iter().map(life).collect()
    }
}
