//! A pod's log, line by line, from its beginning to its end, whatever happens to the connection.

use std::{io, sync::Arc, time::Duration};

use futures_util::{AsyncBufReadExt as _, StreamExt as _};
use k8s_openapi::api::core::v1::Pod;
use kube::{Api, api::LogParams};
use tokio::{
    sync::{Notify, mpsc::UnboundedSender},
    task::JoinHandle,
    time::{Instant, sleep, sleep_until, timeout},
};

use crate::{
    error::{ClusterError, may_pass},
    manifests::CONTAINER,
    timeline,
};

#[cfg(test)]
mod tests;

/// How long to wait before a log is asked for again.
const PAUSE: Duration = Duration::from_millis(500);

/// How long an answer or a log may keep silent: connections also break without anybody being told.
const SILENCE: Duration = Duration::from_secs(30);

/// The same of a log that had nothing new each time.
const SILENCE_MAX: Duration = Duration::from_secs(240);

/// The same when there should be something new.
const DOUBT: Duration = Duration::from_secs(3);

/// How long something has to be refused: an API server that has just started refuses what it allows a little later.
const REFUSALS: Duration = Duration::from_secs(10);

/// How long beyond its deadline a run is followed.
const BEYOND: Duration = Duration::from_secs(120);

/// How long a question may take that is asked before the end.
const LAST_QUESTION: Duration = Duration::from_secs(5);

/// How long the log of a pod that has ended may take to be read before the end.
const LAST_READING: Duration = Duration::from_secs(15);

/// What following gives.
#[derive(Debug)]
pub(crate) enum Followed {
    /// A line. After the connection broke, lines come again from the first.
    Line(String),
    /// The container ended or is gone, and this was all.
    End,
    /// The log cannot be had.
    Failed(ClusterError),
}

/// Where lines of a pod go, with the pod's number.
#[derive(Clone, Debug)]
pub(crate) struct FromPod {
    pub(crate) number: u32,
    /// How long a run may take: as long its log is asked for, whatever happens to the cluster.
    pub(crate) deadline: Duration,
    /// Somebody knows that there should be something new.
    pub(crate) doubt: Arc<Notify>,
    pub(crate) sender: UnboundedSender<(u32, Followed)>,
}

impl FromPod {
    /// Whether anybody listens.
    fn send(&self, followed: Followed) -> bool {
        self.sender.send((self.number, followed)).is_ok()
    }
}

/// Follows the log of a pod that has started.
pub(crate) fn follow(pods: Api<Pod>, pod: String, lines: FromPod) -> JoinHandle<()> {
    tokio::spawn(async move {
        let result = to_the_end(&pods, &pod, &lines).await;
        lines.send(result.map_or_else(Followed::Failed, |()| Followed::End));
    })
}

async fn to_the_end(pods: &Api<Pod>, pod: &str, lines: &FromPod) -> Result<(), ClusterError> {
    let began = Instant::now();
    let mut silence = Silence::default();
    let mut refused_since = None;
    while !lines.sender.is_closed() {
        let doing = || format!("read the log of the pod {pod}");
        match once(pods, pod, lines, &mut silence).await {
            Ok(is_all) if is_all => return Ok(()),
            Err(error) if !may_pass(&error) => {
                if refused_since.get_or_insert_with(Instant::now).elapsed() > REFUSALS {
                    return Err(ClusterError::of(doing(), &error));
                }
            }
            // However long it takes, the pod measures on.
            Ok(_) | Err(_) => refused_since = None,
        }
        if began.elapsed() > lines.deadline + BEYOND {
            let reason = "and the deadline of the run has passed".to_owned();
            return Err(ClusterError::Unreachable { doing: doing(), reason });
        }
        sleep(PAUSE).await;
    }
    Ok(())
}

/// Reads a log as far as it can be read, and says whether that was all.
async fn once(pods: &Api<Pod>, pod: &str, to: &FromPod, silence: &mut Silence) -> Result<bool, kube::Error> {
    // Of a container that has ended before its log is read nothing comes behind that.
    let Ok(there) = timeout(SILENCE, pods.get_opt(pod)).await else { return Ok(false) };
    let Some(there) = there? else { return Ok(true) };
    let has_ended = timeline::has_ended(&there);
    let Ok(stream) = timeout(SILENCE, pods.log_stream(pod, &parameters(!has_ended))).await else { return Ok(false) };
    let mut lines = stream?.lines();
    let (mut heard, mut patience, mut since) = (0, silence.patience(), Instant::now());
    loop {
        tokio::select! {
            line = lines.next() => match line {
                Some(Ok(line)) => {
                    (heard, since) = (heard + 1, Instant::now());
                    if !to.send(Followed::Line(line)) {
                        return Ok(true);
                    }
                }
                // Not ours.
                Some(Err(error)) if error.kind() == io::ErrorKind::InvalidData => {}
                Some(Err(_)) => return Ok(false),
                // The stream ends with the container, and when a proxy or the API server ends it.
                None => return Ok(has_ended),
            },
            () = to.doubt.notified() => (since, patience) = (Instant::now(), patience.min(DOUBT)),
            () = sleep_until(since + patience) => {
                silence.was_silent(heard);
                return Ok(false);
            }
        }
    }
}

/// What is known at last of a pod: its log when it has ended, to be read before the pod is taken away.
pub(crate) async fn last_log(pods: &Api<Pod>, pod: &str) -> Result<Option<String>, ()> {
    let there = timeout(LAST_QUESTION, pods.get_opt(pod)).await.map_err(drop)?.map_err(drop)?;
    if !there.is_some_and(|there| timeline::has_ended(&there)) {
        return Ok(None);
    }
    let log = timeout(LAST_READING, pods.logs(pod, &parameters(false))).await;
    log.map_err(drop)?.map(Some).map_err(drop)
}

fn parameters(follow: bool) -> LogParams {
    LogParams { container: Some(CONTAINER.to_owned()), follow, ..LogParams::default() }
}

/// How long a log may keep silent: the longer, the more often it was read again in vain.
#[derive(Debug, Default)]
struct Silence {
    in_vain: u32,
    heard: u64,
}

impl Silence {
    fn patience(&self) -> Duration {
        SILENCE.saturating_mul(2_u32.saturating_pow(self.in_vain)).min(SILENCE_MAX)
    }

    /// A log of so many lines has had no more for too long.
    const fn was_silent(&mut self, heard: u64) {
        self.in_vain = if heard > self.heard { 0 } else { self.in_vain.saturating_add(1) };
        self.heard = heard;
    }
}
