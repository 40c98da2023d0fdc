//! In a pod of several: hearing from the cluster when all of them begin.

use std::{
    pin::pin,
    sync::atomic::{AtomicBool, Ordering},
    time::Duration,
};

use futures_util::StreamExt as _;
use jiff::Timestamp;
use k8s_openapi::api::core::v1::ConfigMap;
use kube::runtime::{WatchStreamExt as _, watcher};
use tokio::time::{Instant, interval};
use uuid::Uuid;

use crate::{
    cluster::{Access, Cluster},
    manifests::START_KEY,
    request::job_name,
};

/// How often to look whether the run is to stop.
const TICK: Duration = Duration::from_millis(100);

/// How long the right to look may take to come, and the API server to be reached.
const PATIENCE: Duration = Duration::from_secs(60);

/// Waits for the moment at which the pods of a run begin; `None` when this one is to stop. `ready` is called once it is
/// sure that the moment will be heard.
pub fn wait(run: Uuid, stop: &AtomicBool, ready: impl FnOnce()) -> Result<Option<Timestamp>, String> {
    const ADVICE: &str = "have pods begin by the clock with --start-after";
    let access = Access { kubeconfig: Vec::new(), context: None, namespace: None };
    let cluster = Cluster::connect(&access).map_err(|error| format!("ask when to begin: {error}: {ADVICE}"))?;
    let name = job_name(run);
    let failed = |why: String| format!("look at the ConfigMap {name}, which says when to begin: {why}: {ADVICE}");
    cluster.wait_for(async {
        let of_run = watcher::Config::default().fields(&format!("metadata.name={name}"));
        let mut events = pin!(watcher(cluster.here::<ConfigMap>(), of_run).default_backoff());
        let (mut tick, began) = (interval(TICK), Instant::now());
        let (mut ready, mut why) = (Some(ready), "it does not come".to_owned());
        loop {
            if stop.load(Ordering::Relaxed) {
                return Ok(None);
            }
            if ready.is_some() && began.elapsed() > PATIENCE {
                return Err(failed(why));
            }
            let event = tokio::select! {
                event = events.next() => event,
                _ = tick.tick() => continue,
            };
            match event {
                Some(Ok(watcher::Event::Apply(start) | watcher::Event::InitApply(start))) => {
                    ready.take().into_iter().for_each(|ready| ready());
                    if let Some(at) = start.data.as_ref().and_then(|data| data.get(START_KEY)) {
                        let at = at.parse().map_err(|error| failed(format!("\"{at}\" is no time: {error}")))?;
                        return Ok(Some(at));
                    }
                }
                Some(Err(error)) => why = error.to_string(),
                Some(Ok(watcher::Event::Delete(_))) => return Err(failed("it was deleted".to_owned())),
                Some(Ok(watcher::Event::Init | watcher::Event::InitDone)) => {}
                None => return Err(failed(why)),
            }
        }
    })
}
