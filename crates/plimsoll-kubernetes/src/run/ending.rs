//! How a run ended that told no whole result: what its pods and its Job say, and what it left in claims that stay.

use std::time::Duration;

use k8s_openapi::api::{batch::v1::Job, core::v1::Pod};
use plimsoll_run::objects::directory_name;
use tokio::time::{Instant, sleep};

use super::{Running, TICK, member::Member};
use crate::{
    error::ClusterError,
    request::{PodRun, VolumeMode, VolumeSource},
    teardown::Left,
    troubles::JobEnd,
};

/// How often to look at the Job while a pod is missing.
const BETWEEN: Duration = Duration::from_secs(3);

/// How long a pod that has ended and its Job may take to say how.
const SETTLING: Duration = Duration::from_secs(5);

impl Running<'_> {
    /// Looks at a pod whose log has ended: no watch may have told yet how it did, and who took it away the Job may
    /// know.
    pub(super) async fn look_at_end(&mut self, number: u32) {
        let deadline = Instant::now() + SETTLING;
        let (pods, is_stopping) = (self.cluster.here::<Pod>(), self.stopping.is_going_on());
        let member = self.members.get_mut(number as usize).filter(|member| !is_stopping && !member.is_done);
        let Some(member) = member else { return };
        loop {
            match pods.get_opt(&member.name()).await {
                Ok(Some(pod)) => (member.pod, member.is_gone) = (Some(Box::new(pod)), false),
                Ok(None) => member.is_gone = member.pod.is_some(),
                Err(_) => {}
            }
            if member.is_taken() {
                return self.look_at_job_until(deadline).await;
            }
            if member.is_settled() || Instant::now() > deadline {
                return;
            }
            sleep(TICK).await;
        }
    }

    /// Looks at the Job while pods are missing that have not begun: now and then where one has not come, and until it
    /// says why where one is gone.
    pub(super) async fn look_for_missing(&mut self) {
        let mut missing = self.members.iter().filter(|member| !member.has_begun());
        if missing.clone().any(|member| member.is_gone || member.has_failed()) {
            self.look_at_job_until(Instant::now() + SETTLING).await;
        } else if missing.any(|member| member.pod.is_none()) && self.job_seen.elapsed() > BETWEEN {
            self.look_at_job_until(Instant::now()).await;
        }
    }

    /// Looks at the Job until it says how it ended, or there is no time left.
    async fn look_at_job_until(&mut self, deadline: Instant) {
        loop {
            if let Ok(job) = self.cluster.here::<Job>().get_opt(&self.run.name()).await {
                self.troubles.job_end = JobEnd::of(job.as_ref());
            }
            self.job_seen = Instant::now();
            if self.troubles.job_end.is_some() || Instant::now() > deadline {
                return;
            }
            sleep(TICK).await;
        }
    }

    /// Why a pod whose log has ended told no whole result.
    pub(super) fn ended_without_result(&self, number: u32) -> ClusterError {
        let why = match self.members.get(number as usize) {
            Some(Member { pod: Some(pod), last_lines, .. }) => self.troubles.of_end(pod, last_lines),
            _ => "the pod is gone".to_owned(),
        };
        ClusterError::Run(why)
    }

    /// The test files of programs that were killed, in claims that stay: they had no time to remove them.
    pub(super) fn left_in_claims(&self) -> Vec<Left> {
        let was_killed = |member: &Member| member.has_begun() && !member.has_told_all() && member.was_killed();
        // Files that all pods use are those of the first.
        let is_its_own = |number: u32| number == 0 || !self.run.shares_files;
        let killed = self.members.iter().zip(0_u32..);
        let killed = killed.filter(|(member, number)| was_killed(member) && is_its_own(*number));
        killed.flat_map(|(member, number)| left_in_claims(&self.run, number, member.node())).collect()
    }
}

/// What a pod of a run that was killed leaves in claims, and who removes it: where one pod measures, the next one that
/// finds it on the same machine.
fn left_in_claims(run: &PodRun, number: u32, node: Option<&str>) -> Vec<Left> {
    let directory = directory_name(run.id, 0);
    let is_alone = !run.pods.are_several();
    let directory = if is_alone || run.shares_files { directory } else { format!("pod-{number}/{directory}") };
    let left = |claim: &str| {
        let anybody = "any pod that has the claim can remove them";
        let text = match node.filter(|_| is_alone) {
            Some(node) => format!(
                "the next run of one pod with --pvc {claim} removes them if it is on {node} and that has not restarted; \
                 otherwise {anybody}"
            ),
            None => anybody.to_owned(),
        };
        Left {
            text: format!("claim {claim} may still have test files of the run, in {directory}: {text}"),
            stays: false,
        }
    };
    let file_systems = run.volumes.iter().filter(|volume| volume.mode == VolumeMode::Filesystem);
    let claims = file_systems.filter_map(|volume| match &volume.source {
        VolumeSource::Claim { name } => Some(left(name)),
        VolumeSource::Class { .. } => None,
    });
    claims.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::request::{AccessMode, PodCount, test_runs::pod_run, volumes};

    fn run(mode: VolumeMode, pods: PodCount) -> PodRun {
        let (classes, claims) = (["slow".to_owned()], ["data".to_owned()]);
        let volumes = volumes(&classes, &[8 << 30], &claims, mode, AccessMode::ReadWriteOnce).unwrap();
        PodRun { pods, ..pod_run(volumes) }
    }

    #[test]
    fn what_a_killed_program_leaves_is_told_of_claims_that_stay_and_have_files() {
        let left = left_in_claims(&run(VolumeMode::Filesystem, PodCount::ONE), 0, Some("n1"));
        let texts: Vec<&str> = left.iter().map(|left| left.text.as_str()).collect();
        let expected = "claim data may still have test files of the run, in \
                        plimsoll-01a20451-96fb-7259-8ace-7b5e21365415: the next run of one pod with --pvc data \
                        removes them if it is on n1 and that has not restarted; otherwise any pod that has the claim can remove them";
        assert_eq!(texts, [expected]);
        assert!(left_in_claims(&run(VolumeMode::Block, PodCount::ONE), 0, Some("n1")).is_empty());
    }

    #[test]
    fn of_several_pods_each_has_a_directory_of_its_own() {
        let several = PodCount { nodes: 3, ..PodCount::ONE };
        let run = run(VolumeMode::Filesystem, several);
        let directory = "in pod-2/plimsoll-01a20451-96fb-7259-8ace-7b5e21365415: any pod that has the claim can";
        assert!(left_in_claims(&run, 2, Some("n1"))[0].text.contains(directory));
        let shared = PodRun { shares_files: true, ..run };
        assert!(left_in_claims(&shared, 2, Some("n1"))[0].text.contains(&directory.replace("pod-2/", "")));
    }
}
