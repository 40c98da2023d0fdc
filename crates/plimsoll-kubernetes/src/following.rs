//! A pod's log, line by line, from its beginning to its end, whatever happens to the connection.

use std::time::Duration;

use futures_util::{AsyncBufReadExt as _, StreamExt as _};
use k8s_openapi::api::core::v1::Pod;
use kube::{Api, api::LogParams};
use tokio::{sync::mpsc::UnboundedSender, task::JoinHandle, time::sleep};

use crate::{manifests::CONTAINER, timeline};

/// How long to wait before a log is asked for again.
const PAUSE: Duration = Duration::from_millis(500);

/// How often in a row a log may not be had before it is given up.
const FAILURES_MAX: u32 = 240;

/// What following gives.
#[derive(Debug)]
pub(crate) enum Followed {
    /// A line. After the connection broke, lines come again from the first.
    Line(String),
    /// The container ended, and this was all.
    End,
    /// The log cannot be had.
    Failed(String),
}

/// Where lines of a pod go, with the pod's number.
#[derive(Clone, Debug)]
pub(crate) struct FromPod {
    pub(crate) number: u32,
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
        let mut failures = 0;
        loop {
            match once(&pods, &pod, &lines).await {
                // The stream ends with the container, and when a proxy or the API server ends it.
                Ok(()) if has_ended(&pods, &pod).await => {
                    let last = once(&pods, &pod, &lines).await;
                    lines.send(last.map_or_else(Followed::Failed, |()| Followed::End));
                    return;
                }
                Ok(()) => failures = 0,
                Err(reason) => {
                    failures += 1;
                    if failures > FAILURES_MAX {
                        lines.send(Followed::Failed(reason));
                        return;
                    }
                }
            }
            if lines.sender.is_closed() {
                return;
            }
            sleep(PAUSE).await;
        }
    })
}

async fn once(pods: &Api<Pod>, pod: &str, lines: &FromPod) -> Result<(), String> {
    let parameters = LogParams { container: Some(CONTAINER.to_owned()), follow: true, ..LogParams::default() };
    let stream = pods.log_stream(pod, &parameters).await.map_err(|error| error.to_string())?;
    let mut stream = stream.lines();
    while let Some(line) = stream.next().await {
        let line = line.map_err(|error| error.to_string())?;
        if !lines.send(Followed::Line(line)) {
            return Ok(());
        }
    }
    Ok(())
}

/// Whether no more lines will come: the container has ended, or there is no such pod any more.
async fn has_ended(pods: &Api<Pod>, pod: &str) -> bool {
    match pods.get_opt(pod).await {
        Ok(Some(pod)) => timeline::has_ended(&pod),
        Ok(None) => true,
        Err(_) => false,
    }
}
