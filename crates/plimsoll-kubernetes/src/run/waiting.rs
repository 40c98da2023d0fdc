//! Waiting for pods to start: letting them go to nodes, what keeps them, how long that may last, and how many of them
//! are how far.

use std::{collections::BTreeMap, time::Duration};

use futures_util::future::try_join_all;
use k8s_openapi::api::core::v1::{Node, Pod};
use kube::{ResourceExt as _, api::ListParams};
use tokio::time::Instant;

use super::{Running, SILENCE, Told, starting};
use crate::{error::ClusterError, preflight::placement::why_none, request::PodCount, troubles::unschedulable};

/// How often it is told how far pods are, at most.
const BETWEEN: Duration = Duration::from_secs(5);

impl Running<'_> {
    /// Lets the scheduler look at the pods, all at once, when every claim that needs no pod is bound.
    pub(super) async fn release(&mut self) -> Result<(), ClusterError> {
        let gated: Vec<String> = self.members.iter().filter_map(|member| Some(member.gated()?.name_any())).collect();
        if gated.is_empty() {
            return Ok(());
        }
        let are_all_there = self.members.iter().all(|member| member.pod.is_some());
        let is_awaited = self.run.claims().iter().any(|(index, claim)| {
            self.run.is_made(*index) && self.facts.is_made_at_once(*index) && !self.timeline.is_bound(claim)
        });
        if !are_all_there || is_awaited {
            return Ok(());
        }
        let pods = self.cluster.here::<Pod>();
        let released = try_join_all(gated.iter().map(|name| starting::release(&pods, name))).await?;
        for (name, _) in gated.iter().zip(released).filter(|(_, is_released)| *is_released) {
            let member = self.members.iter_mut().find(|member| member.name() == *name);
            member.into_iter().for_each(|member| member.is_released = true);
        }
        Ok(())
    }

    /// Looks at nodes now and then while the scheduler has none for a pod: they say more than the scheduler.
    pub(super) async fn look_at_nodes(&mut self) {
        let is_unschedulable = |pod: &Pod| unschedulable(pod).is_some();
        let mut waiting = self.members.iter().filter(|member| !member.is_gone);
        let is_waiting = waiting.any(|member| member.pod.as_deref().is_some_and(is_unschedulable));
        if !is_waiting || self.nodes_seen.is_some_and(|since| since.elapsed() < SILENCE) {
            return;
        }
        let nodes = self.cluster.everywhere::<Node>().list(&ListParams::default()).await;
        self.troubles.of_nodes = nodes.ok().and_then(|nodes| why_none(&nodes.items, &self.run));
        self.nodes_seen = Some(Instant::now());
    }

    /// Says of several pods now and then how many have started, until all have and are told to begin.
    pub(super) fn tell_how_far(&mut self, tell: &mut dyn FnMut(Told<'_>)) {
        let (all, started) = (self.members.len(), self.members.iter().filter(|member| member.has_begun()).count());
        let ready = self.members.iter().filter(|member| member.is_ready()).count();
        let is_over = ready == all || (self.is_begun && started == all) || self.stopping.is_going_on();
        if all == 1 || is_over {
            return;
        }
        if let Some(text) = self.how_far.next(Instant::now(), [all, started, ready]) {
            tell(Told::Note(text));
        }
    }

    /// Whether pods have taken too long to start. Those that may have, unseen, are waited for as long as they may take
    /// to measure.
    pub(super) async fn is_too_late(&self, began: Instant) -> Result<bool, ClusterError> {
        let deadline = Duration::from_secs(self.run.deadline_s.into());
        if began.elapsed() <= self.patience.start {
            return Ok(false);
        }
        if !self.may_have_started().await {
            return Ok(true);
        }
        if began.elapsed() <= self.patience.start + deadline {
            return Ok(false);
        }
        let why = "the cluster did not say that the run has started until its deadline had passed";
        Err(self.left(why.to_owned(), false))
    }

    /// Looks at pods that have not started: what keeps them, and whether that has lasted long enough.
    pub(super) fn look_at_start(
        &mut self,
        began: Instant,
        is_too_late: bool,
        tell: &mut dyn FnMut(Told<'_>),
    ) -> Result<(), ClusterError> {
        let mut first = None;
        for member in self.members.iter().filter(|member| !member.has_begun()) {
            let trouble = match &member.pod {
                None => self.troubles.of_job(),
                Some(pod) if !member.is_gone => {
                    if member.has_failed() {
                        return Err(self.not_started(pod));
                    }
                    self.troubles.of_start(pod)
                }
                Some(pod) if !self.stopping.is_going_on() => return Err(self.not_started(pod)),
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
        if is_too_late {
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

    /// Why a pod ended that had not started, and what had kept it until then.
    fn not_started(&self, pod: &Pod) -> ClusterError {
        let why = self.troubles.of_end(pod, &[]);
        let kept = self.troubled.as_ref().map(|trouble| format!(": {trouble}")).unwrap_or_default();
        ClusterError::Run(format!("{why}; until then the pod had not started{kept}"))
    }
}

/// That pods are on other nodes than asked, once all have one: not every scheduler does as pods say.
pub(super) fn misplaced<'a>(nodes: impl Iterator<Item = Option<&'a str>>, pods: PodCount) -> Option<String> {
    let mut counts: BTreeMap<&str, u32> = BTreeMap::new();
    for node in nodes.collect::<Option<Vec<_>>>()? {
        *counts.entry(node).or_default() += 1;
    }
    let PodCount { nodes: asked, per_node, .. } = pods;
    let (least, most) = (counts.values().min()?, counts.values().max()?);
    let is_as_asked = counts.len() == asked as usize && (*least, *most) == (per_node, per_node);
    let there = counts.len();
    let text =
        || format!("nodes with pods: {there}, with {least} to {most} each, not {asked} with {per_node} as asked");
    (!is_as_asked).then(text)
}

/// What was told of how far pods are.
#[derive(Debug, Default)]
pub(super) struct HowFar {
    told: [usize; 2],
    /// Since when nothing was told.
    since: Option<Instant>,
}

impl HowFar {
    /// What is to be told of so many pods: all, those that have started, and those that are ready. Nothing when it is
    /// the same as before, or when something was told a moment ago.
    fn next(&mut self, now: Instant, [all, started, ready]: [usize; 3]) -> Option<String> {
        let since = *self.since.get_or_insert(now);
        if self.told == [started, ready] || now.duration_since(since) < BETWEEN {
            return None;
        }
        (self.told, self.since) = ([started, ready], Some(now));
        let have = if started == 1 { "has" } else { "have" };
        Some(format!("{started} of {all} pods {have} started, {ready} ready"))
    }
}

#[cfg(test)]
mod tests {
    use std::{
        convert::Infallible,
        future::pending,
        sync::{
            Arc,
            atomic::{AtomicBool, Ordering},
        },
    };

    use http::{Request, Response};
    use kube::{Client, client::Body};
    use serde_json::json;
    use tower::service_fn;

    use super::*;
    use crate::{
        cluster::test_clusters::answered_by,
        request::{PodRun, test_runs::run},
        run::{Patience, Until, facts::Facts},
    };

    #[test]
    fn a_run_whose_cluster_does_not_come_back_is_left_once_its_deadline_has_passed() {
        let is_away = Arc::new(AtomicBool::new(false));
        let is_gone = Arc::clone(&is_away);
        let service = service_fn(move |request: Request<Body>| {
            let is_gone = is_gone.load(Ordering::Relaxed);
            async move {
                if request.uri().query().is_some_and(|query| query.contains("watch=")) {
                    return pending().await;
                }
                let none =
                    json!({ "kind": "List", "apiVersion": "v1", "metadata": { "resourceVersion": "1" }, "items": [] });
                let away =
                    json!({ "kind": "Status", "apiVersion": "v1", "status": "Failure", "code": 503, "message": "" });
                let (code, answer) = if is_gone { (503, away) } else { (200, none) };
                let body = Body::from(answer.to_string().into_bytes());
                Ok::<_, Infallible>(Response::builder().status(code).body(body).unwrap())
            }
        });
        let cluster = answered_by(|| Client::new(service, "default"));
        let run = PodRun { deadline_s: 60, ..run(&["slow"], 8) };
        let patience = Patience { start: Duration::from_secs(10), cleanup: Duration::from_secs(10) };
        let ended = cluster.wait_for(async {
            let facts = async { Ok(Facts::default()) };
            let mut running = Running::begin(&cluster, &run, facts, patience, &mut |_| {}).await.unwrap();
            is_away.store(true, Ordering::Relaxed);
            let began = Instant::now();
            let ended = running.follow(Until::Started, &AtomicBool::new(false), &mut |_| {}).await;
            assert!(began.elapsed() > Duration::from_secs(70) && began.elapsed() < Duration::from_secs(75));
            ended
        });
        assert!(matches!(ended, Err(ClusterError::Left { is_interrupted: false, .. })), "{ended:?}");
    }

    #[test]
    fn pods_that_are_on_other_nodes_than_asked_are_told_once_all_have_one() {
        let pods = PodCount { nodes: 2, per_node: 2, ..PodCount::ONE };
        let told = |nodes: [Option<&str>; 4]| misplaced(nodes.into_iter(), pods);
        assert_eq!(told([Some("a"), Some("a"), Some("b"), Some("b")]), None);
        assert_eq!(told([Some("a"), Some("c"), Some("b"), None]), None, "one has no node yet");
        let spread = "nodes with pods: 3, with 1 to 2 each, not 2 with 2 as asked";
        assert_eq!(told([Some("a"), Some("c"), Some("b"), Some("b")]).as_deref(), Some(spread));
        assert!(told([Some("a"), Some("a"), Some("a"), Some("b")]).is_some());
    }

    #[test]
    fn how_far_pods_are_is_told_when_it_changes_and_not_too_often() {
        let (mut how_far, begin) = (HowFar::default(), Instant::now());
        let mut next =
            |seconds: u64, started, ready| how_far.next(begin + Duration::from_secs(seconds), [100, started, ready]);
        assert_eq!(next(0, 0, 0), None);
        assert_eq!(next(1, 12, 0), None, "all may have started in a moment");
        assert_eq!(next(6, 12, 3).as_deref(), Some("12 of 100 pods have started, 3 ready"));
        assert_eq!(next(8, 50, 3), None, "it was told a moment ago");
        assert_eq!(next(11, 50, 3).as_deref(), Some("50 of 100 pods have started, 3 ready"));
        assert_eq!(next(60, 50, 3), None, "nothing has changed");
    }
}
