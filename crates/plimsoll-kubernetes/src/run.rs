//! Doing a run in pods: create, watch, listen, take away.

mod ending;
pub(crate) mod facts;
pub(crate) mod member;
mod processors;
pub(crate) mod starting;
pub(crate) mod stopping;
#[cfg(test)]
mod tests;
mod waiting;

use std::{future::pending, mem, sync::atomic::AtomicBool, time::Duration};

use jiff::Timestamp;
use k8s_openapi::api::batch::v1::Job;
use kube::ResourceExt as _;
use plimsoll_record::{
    event::RunEvent,
    lifecycle::{Happening, VolumeLifecycle},
    numbers,
    record::Record,
};
use tokio::{
    sync::mpsc::{UnboundedReceiver, unbounded_channel},
    time::{Instant, interval},
};

use self::{
    facts::Facts,
    member::{Lines, Member},
    stopping::{Stopping, unless_stopped},
    waiting::HowFar,
};
use crate::{
    cluster::Cluster,
    error::ClusterError,
    following::Followed,
    frames::Reader,
    hearing::{Heard, Hearing, Teller},
    manifests::{self, POD_LABEL},
    preflight::demand,
    request::{PodRun, RUN_LABEL},
    runs::{RunState, RunThere},
    teardown::{Left, Made, remove},
    timeline::{Observation, Seen, Timeline},
    troubles::Troubles,
    watching::Watching,
};

pub use self::starting::{may_be_watched, nodes_for};
pub use crate::preflight::placement::NodesFor;

/// How often to look at what nobody tells: signals and the time.
const TICK: Duration = Duration::from_millis(100);

/// How long a pod that does not start may keep silent before a trouble is told.
pub(crate) const SILENCE: Duration = Duration::from_secs(10);

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
    /// Whether the run is to stay in the cluster: it goes on, or has something that was not got.
    pub stays: bool,
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
        let beginning = Running::begin(cluster, run, Facts::gather(cluster, run), patience, tell);
        let mut running = unless_stopped(stop, beginning).await.unwrap_or(Err(ClusterError::Interrupted))?;
        let done = match running.create(stop, tell).await {
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
        let beginning = Running::begin(cluster, run, Facts::gather(cluster, run), patience, tell);
        let mut running = unless_stopped(stop, beginning).await.unwrap_or(Err(ClusterError::Interrupted))?;
        let started = match running.create(stop, tell).await {
            Ok(()) => running.follow(Until::Started, stop, tell).await,
            Err(error) => Err(error),
        };
        // What has ended because somebody asked for it has not started, however well it ended.
        if let Err(error) = started.and_then(|()| running.stopping.why_not_left()) {
            if matches!(error, ClusterError::Left { .. }) {
                return Err(error);
            }
            let leftovers = running.remove(stop).await;
            leftovers.into_iter().for_each(|left| tell(Told::Warning(left.text)));
            return Err(error);
        }
        Ok(())
    })
}

/// Follows a run that is there to its end, and leaves it to whoever has made sure of the results to take everything
/// away. Of what happened before, it knows what events still tell.
pub fn collect(
    cluster: &Cluster,
    there: &RunThere,
    patience: Patience,
    stop: &AtomicBool,
    tell: &mut dyn FnMut(Told<'_>),
) -> Result<Finished, ClusterError> {
    if there.lives.is_some() {
        return Err(ClusterError::Usage(format!(
            "run {} times lives of volumes, and only its client has the results: there is nothing to collect, and \
             `plimsoll kubernetes cleanup {}` removes what is there",
            there.id(),
            there.run.name(),
        )));
    }
    if let Some(why) = there.why_lost() {
        let why = if why.is_empty() { String::new() } else { format!(": {why}") };
        let text = format!("run {} ended, and its pod with the results is gone{why}", there.id());
        return Err(ClusterError::Run(format!("{text}; `plimsoll kubernetes cleanup` removes what is left")));
    }
    cluster.wait_for(async {
        let facts = Facts::recall(cluster, &there.run);
        let beginning = Running::begin(cluster, &there.run, facts, patience, tell);
        let left = || ClusterError::Left {
            why: "interrupted".to_owned(),
            id: there.id(),
            has_ended: matches!(there.state, RunState::Done | RunState::Failed),
            is_interrupted: true,
        };
        let mut running = unless_stopped(stop, beginning).await.unwrap_or_else(|| Err(left()))?;
        running.timeline.begin(None, there.created.unwrap_or_default());
        running.observe_existing_claims();
        running.leaves_alone = true;
        running.is_begun = starting::has_begun(cluster, &there.run).await;
        let done = match running.miss(&there.missing) {
            Ok(()) => running.follow(Until::Done, stop, tell).await,
            Err(error) => Err(error),
        };
        Ok(running.finish(done.err(), false, stop, tell).await)
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
    run: PodRun,
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
    /// What is not as it should be in the cluster, as it was told.
    warnings: Vec<String>,
    how_far: HowFar,
    /// The trouble that was told last.
    troubled: Option<String>,
    /// When nodes were looked at.
    nodes_seen: Option<Instant>,
    /// When the Job was looked at.
    job_seen: Instant,
    stopping: Stopping,
    /// Why what pods tell cannot be whole.
    broken: Option<ClusterError>,
    /// Whether whoever stops following leaves the run going on.
    leaves_alone: bool,
}

impl<'a> Running<'a> {
    /// Looks at what is to be used, and begins to watch.
    async fn begin(
        cluster: &'a Cluster,
        run: &'a PodRun,
        facts: impl Future<Output = Result<Facts, ClusterError>>,
        patience: Patience,
        tell: &mut dyn FnMut(Told<'_>),
    ) -> Result<Self, ClusterError> {
        let facts = facts.await?;
        let selector = format!("{RUN_LABEL}={}", run.id);
        let claims: Vec<String> = run.claims().into_iter().map(|(_, claim)| claim).collect();
        let watching = Watching::start(cluster, &selector, &run.name(), &claims).await?;
        watching.what_is_lost()?.into_iter().for_each(|note| tell(Told::Note(note)));
        demand(cluster, "get", "pods/log").await?;
        let timeline = Timeline::new(facts.minor_version, cluster.namespace());
        let (sender, followed) = unbounded_channel();
        Ok(Self {
            cluster,
            run: run.clone(),
            patience,
            facts,
            watching,
            timeline,
            troubles: Troubles::default(),
            members: (0..run.pods.all()).map(|_| Member::default()).collect(),
            lines: Lines { pods: cluster.endless_here(), deadline: Duration::from_secs(run.deadline_s.into()), sender },
            followed,
            hearing: Hearing::new(run),
            is_begun: !manifests::watches(run),
            warnings: Vec::new(),
            how_far: HowFar::default(),
            troubled: None,
            nodes_seen: None,
            job_seen: Instant::now(),
            stopping: Stopping::default(),
            broken: None,
            leaves_alone: false,
        })
    }

    /// Takes in that pods are gone of a run that others began, and that nobody makes them again.
    fn miss(&mut self, missing: &[u32]) -> Result<(), ClusterError> {
        for number in missing {
            self.members.get_mut(*number as usize).into_iter().for_each(|member| member.is_lost = true);
        }
        if missing.is_empty() {
            return Ok(());
        }
        let why = format!("{} of the {} pods of the run are gone", missing.len(), self.members.len());
        if !self.is_begun {
            return Err(ClusterError::Run(format!("{why}, and the others wait for them: run it again")));
        }
        let text = format!("{why}, and what others told says nothing about all of them: run it again");
        self.broken = Some(ClusterError::Run(text));
        Ok(())
    }

    /// What came of it, when everything is taken away or is to stay.
    async fn finish(
        mut self,
        mut error: Option<ClusterError>,
        removes: bool,
        stop: &AtomicBool,
        tell: &mut dyn FnMut(Told<'_>),
    ) -> Finished {
        if let Some(ClusterError::Left { is_interrupted: true, .. }) = error {
            // Whoever collects it gets all of it.
            return Finished { record: None, error, leftovers: Vec::new(), stays: true };
        }
        let leaves = matches!(error, Some(ClusterError::Left { .. }));
        if !leaves && !self.is_over() && matches!(self.read_last_logs(tell).await, Ok(true)) && self.is_over() {
            error = None;
        }
        let is_cut = self.stopping.is_going_on();
        let has_nothing = !self.hearing.has_begun() && !self.hearing.is_whole();
        let is_forgotten = error.is_none() && self.is_over() && has_nothing && !is_cut;
        if is_forgotten {
            error = Some(ClusterError::Run(format!(
                "what pods told is gone, but for rates in short, which `plimsoll kubernetes status` has; the run stays \
                 until `plimsoll kubernetes cleanup {}` removes it",
                self.run.id
            )));
        }
        if error.is_none() && has_nothing && is_cut {
            error = Some(ClusterError::Interrupted);
        }
        self.learn_facts_in_time().await;
        let mut leftovers = if removes && !leaves && !is_forgotten {
            tell(Told::Note("removing what the run made in the cluster".to_owned()));
            self.remove(stop).await
        } else {
            Vec::new()
        };
        leftovers.extend(self.left_in_claims());
        self.tell_what_is_lost(tell);
        if let Some(breaks) = self.watching.breaks() {
            tell(Told::Note(breaks));
        }
        let error = error.or_else(|| self.hearing.why_not_together().filter(|_| !is_cut));
        Finished { record: self.record(tell), error, leftovers, stays: leaves || is_forgotten }
    }

    /// How many lines of what pods told are missing.
    fn lost(&self) -> u64 {
        self.members.iter().map(|member| member.reader.lost()).sum()
    }

    /// Of what pods told. Nodes keep the end of a long log; who has followed it has heard the rest.
    fn tell_what_is_lost(&mut self, tell: &mut dyn FnMut(Told<'_>)) {
        let lost = self.lost();
        let why = if self.members.iter().map(|member| &member.reader).any(Reader::begins_late) {
            "their nodes no longer had the beginning of their logs: follow runs that are as long as this one"
        } else {
            "they were lost on the way"
        };
        if lost > 0 && !self.hearing.is_whole() {
            let text = format!("missing lines of what pods told: {}: {why}", numbers::count(lost));
            tell(Told::Warning(text.clone()));
            self.warnings.push(text);
        }
    }

    /// The Job first, which everything else belongs to.
    async fn create(&mut self, stop: &AtomicBool, tell: &mut dyn FnMut(Told<'_>)) -> Result<(), ClusterError> {
        let (cluster, run) = (self.cluster, self.run.clone());
        let (job, mut delays) = (manifests::job(&run), Vec::new());
        let creating = starting::create(cluster, "Job", &job, &mut delays);
        let job: Job = self.wait_for_whole(stop, tell, creating).await?;
        // That is before times begin.
        delays.clear();
        let owner = manifests::owner(&job);
        self.timeline.begin(Some(self.watching.now_ns()), Timestamp::now());
        for claim in manifests::claims(&run, Some(&owner)) {
            let name = claim.name_any();
            self.timeline.claim_happened(&name, Happening::ClaimSent, self.watching.now_ns());
            self.wait_for_whole(stop, tell, starting::create(cluster, "claim", &claim, &mut delays)).await?;
            self.timeline.claim_happened(&name, Happening::ClaimAccepted, self.watching.now_ns());
        }
        self.wait_for_whole(stop, tell, starting::create_start(cluster, &run, &owner, &mut delays)).await?;
        for pod in manifests::other_pods(&run, Some(&owner)) {
            self.wait_for_whole(stop, tell, starting::create(cluster, "pod", &pod, &mut delays)).await?;
        }
        delays.iter().for_each(|delay| tell(Told::Warning(delay.clone())));
        self.warnings.extend(delays);
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
                    Some(observation) => self.observe(observation, tell),
                    None => pending().await,
                },
                Some((number, followed)) = self.followed.recv() => {
                    if !matches!(followed, Followed::Line(_)) {
                        unless_stopped(stop, self.look_at_end(number)).await;
                    }
                    if let Err(why) = self.line(number, followed, tell) {
                        self.lose(number, why, tell)?;
                    }
                    if self.is_over() {
                        return self.broken.take().map_or(Ok(()), Err);
                    }
                }
                _ = tick.tick() => {}
            }
            if let Some(end) = self.look_at_stop(stop, tell).await {
                // A run that is left has more to tell.
                let is_left = matches!(end, Err(ClusterError::Left { .. }));
                return self.broken.take().filter(|_| !is_left).map_or(end, Err);
            }
            if self.stopping.is_going_on() {
                continue;
            }
            if let Some(released) = unless_stopped(stop, self.release()).await {
                released?;
            }
            unless_stopped(stop, self.look_at_nodes()).await;
            self.tell_how_far(tell);
            if !self.members.iter().all(Member::has_begun) {
                unless_stopped(stop, self.look_for_missing()).await;
                let is_too_late = unless_stopped(stop, self.is_too_late(began)).await.unwrap_or(Ok(false))?;
                self.look_at_start(began, is_too_late, tell)?;
                continue;
            }
            if !self.is_begun && self.members.iter().all(Member::is_ready) {
                let begins = starting::begin(self.cluster, &self.run, tell);
                self.is_begun = unless_stopped(stop, begins).await.unwrap_or(Ok(false))?;
            }
            if until == Until::Started && self.is_begun {
                return Ok(());
            }
        }
    }

    /// Whether every pod has told all.
    fn is_over(&self) -> bool {
        let is_stopping = self.stopping.is_going_on();
        self.members.iter().all(|member| member.is_done || member.is_lost || (is_stopping && member.is_cut_short))
    }

    fn observe(&mut self, mut observation: Observation, tell: &mut dyn FnMut(Told<'_>)) {
        // Whoever comes late sees what was there, not when it came.
        observation.is_initial |= self.leaves_alone;
        self.timeline.observe(&observation);
        match observation.seen {
            Seen::Event(event) => self.troubles.observe(&event),
            Seen::Pod(pod) => {
                let mut warning = processors::not_asked_for(&pod, self.run.resources.cpu_limit.as_deref());
                let number = pod.labels().get(POD_LABEL).and_then(|number| number.parse().ok()).unwrap_or(0);
                if number == 0 {
                    self.run.first_pod = Some(pod.name_any());
                }
                if let Some(member) = self.members.get_mut(number as usize) {
                    let had_node = member.node().is_some();
                    member.observe(number, pod, (observation.is_initial, observation.is_deleted), &self.lines);
                    if !had_node && member.node().is_some() {
                        warning = warning.or(waiting::misplaced(self.members.iter().map(Member::node), self.run.pods));
                    }
                }
                if let Some(warning) = warning.filter(|warning| !self.warnings.contains(warning)) {
                    tell(Told::Warning(warning.clone()));
                    self.warnings.push(warning);
                }
            }
            Seen::Claim(_) | Seen::Volume(_) | Seen::Attachment(_) => {}
        }
    }

    /// Takes in a line of a pod's log.
    fn line(&mut self, number: u32, followed: Followed, tell: &mut dyn FnMut(Told<'_>)) -> Result<(), ClusterError> {
        let Some(member) = self.members.get_mut(number as usize) else { return Ok(()) };
        let line = match followed {
            Followed::Line(line) => line,
            Followed::End | Followed::Failed(_) if member.is_done => return Ok(()),
            Followed::End if self.stopping.is_going_on() && member.is_cut_short => return Ok(()),
            Followed::End if self.stopping.is_going_on() => return Err(ClusterError::Interrupted),
            Followed::End => return Err(self.ended_without_result(number)),
            Followed::Failed(why) => return Err(self.left(why.to_string(), false)),
        };
        let now_ns = Some(self.watching.now_ns()).filter(|_| !member.follows_late);
        let teller = Teller { number: number as usize, name: member.name(), node: member.node().map(str::to_owned) };
        let environment = || Some(self.facts.environment(self.cluster, &self.run));
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
            // Why is known when its pod has ended.
            Heard::Done { is_cut_short } => {
                (member.is_done, member.is_cut_short) = (!is_cut_short, is_cut_short);
                if is_cut_short {
                    self.lines.end_of(number);
                }
            }
        }
        Ok(())
    }

    /// Takes everything away, and gives what is left.
    async fn remove(&mut self, stop: &AtomicBool) -> Vec<Left> {
        let mut claims = self.run.made_claims();
        let volumes = claims.iter().filter_map(|claim| self.timeline.volume_of(claim)).map(str::to_owned).collect();
        // Those go with their pods, and these with the Job.
        claims.retain(|_| !self.run.is_ephemeral);
        let made = Made { id: self.run.id, job: self.run.name(), claims, volumes };
        let (watching, timeline) = (&mut self.watching, &mut self.timeline);
        remove(self.cluster, &made, self.patience.cleanup, stop, &mut |deleted| {
            if let Some(claim) = deleted {
                timeline.claim_happened(claim, Happening::DeleteSent, watching.now_ns());
            }
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
    fn record(mut self, tell: &mut dyn FnMut(Told<'_>)) -> Option<Record> {
        let warnings = mem::take(&mut self.warnings);
        let volumes = self.lives();
        let cluster = self.facts.environment(self.cluster, &self.run);
        let lacks_lines = self.lost() > 0;
        let mut record = self.hearing.record(lacks_lines, &mut |event| tell(Told::Event(event)))?;
        record.environment.cluster = Some(cluster);
        record.volumes = volumes;
        record.warnings.extend(warnings);
        Some(record)
    }

    fn lives(&self) -> Vec<VolumeLifecycle> {
        let life = |(index, claim): (usize, String)| self.timeline.life(&self.run.volumes[index].target, &claim);
        self.run.claims().into_iter().map(life).collect()
    }
}
