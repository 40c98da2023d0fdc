//! Ending early: by somebody's wish, or because the cluster cannot be reached any more. What may have results is not
//! taken away.

use std::{
    pin::pin,
    sync::atomic::{AtomicBool, Ordering},
    time::Duration,
};

use futures_util::future::join_all;
use k8s_openapi::api::core::v1::Pod;
use kube::{
    ResourceExt as _,
    api::{DeleteParams, ListParams},
};
use tokio::time::{Instant, sleep, timeout};

use super::{Running, TICK, Told};
use crate::{
    error::{ClusterError, may_pass},
    following::{Followed, last_log},
    manifests::POD_LABEL,
    request::RUN_LABEL,
    run::member::Member,
    timeline::{has_ended, has_started},
};

/// How long a pod that was asked to end may take to tell what it has, and a cluster to hear that it should be asked.
pub(crate) const LAST_WORDS: Duration = Duration::from_secs(25);

/// How long one request may take when somebody waits for the end.
pub(crate) const HASTE: Duration = Duration::from_secs(5);

/// What comes of something, unless somebody asks to stop meanwhile.
pub(crate) async fn unless_stopped<T>(stop: &AtomicBool, what: impl Future<Output = T>) -> Option<T> {
    let was_stopped = stop.load(Ordering::Relaxed);
    let mut what = pin!(what);
    loop {
        tokio::select! {
            result = &mut what => return Some(result),
            () = sleep(TICK) => {}
        }
        if !was_stopped && stop.load(Ordering::Relaxed) {
            return None;
        }
    }
}

/// How far ending is.
#[derive(Debug, Default)]
pub(super) struct Stopping {
    /// Since when.
    since: Option<Instant>,
    /// Whether the pods were asked to end.
    is_asked: bool,
}

impl Stopping {
    pub(super) const fn is_going_on(&self) -> bool {
        self.since.is_some()
    }

    /// Why a run is not left going on.
    pub(super) const fn why_not_left(&self) -> Result<(), ClusterError> {
        if self.is_going_on() { Err(ClusterError::Interrupted) } else { Ok(()) }
    }

    /// Whether nothing more is waited for.
    fn is_over(&self) -> bool {
        self.since.is_some_and(|since| since.elapsed() > LAST_WORDS)
    }
}

impl Running<'_> {
    /// Says that the run is about to end, once.
    pub(super) fn begin_to_stop(&mut self, tell: &mut dyn FnMut(Told<'_>)) {
        if self.stopping.since.is_none() {
            self.stopping.since = Some(Instant::now());
            let text = "ending the run in the cluster; once more ends plimsoll at once and leaves the run going on";
            tell(Told::Note(text.to_owned()));
        }
    }

    /// Takes in that a pod cannot tell all it was to tell. Once they measure, the others are asked to end and tell what
    /// they have; before that, there is nothing.
    pub(super) fn lose(
        &mut self,
        number: u32,
        why: ClusterError,
        tell: &mut dyn FnMut(Told<'_>),
    ) -> Result<(), ClusterError> {
        let is_alone = self.members.len() == 1 || !self.hearing.has_begun();
        let Some(member) = self.members.get_mut(number as usize).filter(|_| !is_alone) else { return Err(why) };
        if matches!(why, ClusterError::Left { .. }) {
            return Err(why);
        }
        member.is_lost = true;
        if self.stopping.since.is_none() {
            self.stopping.since = Some(Instant::now());
            tell(Told::Note(format!("{why}; asking the other pods to end")));
        }
        self.broken.get_or_insert(why);
        Ok(())
    }

    /// Waits for something that is not to be left half done, and says meanwhile that the run is about to end when
    /// somebody asks for that.
    pub(super) async fn wait_for_whole<T>(
        &mut self,
        stop: &AtomicBool,
        tell: &mut dyn FnMut(Told<'_>),
        what: impl Future<Output = Result<T, ClusterError>>,
    ) -> Result<T, ClusterError> {
        let mut what = pin!(what);
        loop {
            tokio::select! {
                result = &mut what => {
                    let is_stopping = self.stopping.is_going_on() || stop.load(Ordering::Relaxed);
                    return if is_stopping { result.and(Err(ClusterError::Interrupted)) } else { result };
                }
                () = sleep(TICK) => {}
            }
            if stop.load(Ordering::Relaxed) {
                self.begin_to_stop(tell);
            }
        }
    }

    /// What is to be done about somebody's wish to end. `Some` when nothing more is to be waited for.
    pub(super) async fn look_at_stop(
        &mut self,
        stop: &AtomicBool,
        tell: &mut dyn FnMut(Told<'_>),
    ) -> Option<Result<(), ClusterError>> {
        if !self.stopping.is_going_on() {
            if !stop.load(Ordering::Relaxed) {
                return None;
            }
            if self.leaves_alone {
                return Some(Err(self.left("interrupted".to_owned(), true)));
            }
            self.begin_to_stop(tell);
            if !self.members.iter().all(Member::has_begun) {
                return Some(Err(ClusterError::Interrupted));
            }
        }
        if !self.stopping.is_asked {
            match self.ask_to_end(tell).await {
                Ok(is_asked) => self.stopping.is_asked = is_asked,
                Err(error) => return Some(Err(error)),
            }
            if self.is_over() {
                return Some(Ok(()));
            }
        }
        if !self.stopping.is_over() {
            return None;
        }
        Some(if !self.stopping.is_asked {
            Err(self.left("the cluster does not answer, so the run was not ended".to_owned(), false))
        } else if self.hearing.has_begun() {
            Ok(())
        } else {
            Err(ClusterError::Interrupted)
        })
    }

    /// Asks the pods to end, so that they tell what they have; `false` when that has to be tried again.
    async fn ask_to_end(&mut self, tell: &mut dyn FnMut(Told<'_>)) -> Result<bool, ClusterError> {
        if !self.read_last_logs(tell).await? {
            return Ok(false);
        }
        let pods = self.cluster.here::<Pod>();
        let names = self
            .members
            .iter()
            .filter(|member| !member.is_gone && !member.is_lost && !member.has_told_all())
            .map(Member::name);
        let parameters = DeleteParams::default();
        let asked = names.map(async |name| match timeout(HASTE, pods.delete(&name, &parameters)).await {
            Ok(Ok(_)) => Ok(true),
            Ok(Err(kube::Error::Api(status))) if status.code == 404 => Ok(true),
            Ok(Err(error)) if !may_pass(&error) => Err(ClusterError::of(format!("end the pod {name}"), &error)),
            Ok(Err(_)) | Err(_) => Ok(false),
        });
        let asked: Vec<bool> = join_all(asked).await.into_iter().collect::<Result<_, _>>()?;
        // Their last words may come on a connection that is broken.
        self.members.iter().for_each(Member::doubt);
        Ok(asked.into_iter().all(|is_asked| is_asked))
    }

    /// Reads the logs of pods that have ended and have not told all; `false` when that has to be tried again. They are
    /// lost with their pods.
    pub(super) async fn read_last_logs(&mut self, tell: &mut dyn FnMut(Told<'_>)) -> Result<bool, ClusterError> {
        let pods = self.cluster.here::<Pod>();
        let of_whom = self.members.iter().zip(0_u32..).filter(|(member, _)| member.has_more());
        let read = of_whom.map(async |(member, number)| (number, last_log(&pods, &member.name()).await));
        let read = join_all(read).await;
        let is_read = read.iter().all(|(_, log)| log.is_ok());
        for (number, log) in read {
            for line in log.ok().flatten().iter().flat_map(|log| log.lines()) {
                self.line(number, Followed::Line(line.to_owned()), tell)?;
            }
        }
        Ok(is_read)
    }

    /// That the run is left as it is.
    pub(super) fn left(&self, why: String, is_interrupted: bool) -> ClusterError {
        let has_ended = self.members.iter().all(|member| member.pod.as_deref().is_some_and(has_ended));
        ClusterError::Left { why, id: self.run.id, has_ended, is_interrupted }
    }

    /// Whether pods may have started that no watch has told of yet: because they have, or the cluster does not say.
    pub(super) async fn may_have_started(&self) -> bool {
        let ours = ListParams::default().labels(&format!("{RUN_LABEL}={}", self.run.id));
        match self.cluster.here::<Pod>().list(&ours).await {
            Ok(pods) => pods.iter().any(|pod| {
                let number = pod.labels().get(POD_LABEL).and_then(|number| number.parse::<usize>().ok()).unwrap_or(0);
                has_started(pod) && self.members.get(number).is_some_and(|member| !member.has_begun())
            }),
            Err(error) => may_pass(&error),
        }
    }

    /// What can be known only now, as far as it is known soon.
    pub(super) async fn learn_facts_in_time(&mut self) {
        let patience = if self.stopping.is_going_on() { HASTE } else { LAST_WORDS };
        // What is not known is null.
        let _ = timeout(patience, self.learn_facts()).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_whose_end_was_asked_for_before_all_its_pods_were_ready_is_not_left_going_on() {
        assert!(Stopping::default().why_not_left().is_ok());
        let stopping = Stopping { since: Some(Instant::now()), is_asked: true };
        assert!(matches!(stopping.why_not_left(), Err(ClusterError::Interrupted)));
    }
}
