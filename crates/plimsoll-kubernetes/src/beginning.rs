//! In a pod of several: hearing from the cluster when all of them begin.

use std::{
    pin::pin,
    sync::atomic::{AtomicBool, Ordering},
    thread,
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
    error::ClusterError,
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
    let connected = persist(stop, || thread::sleep(TICK), || Cluster::connect(&access));
    let Some(cluster) = connected.map_err(|error| format!("ask when to begin: {error}: {ADVICE}"))? else {
        return Ok(None);
    };
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

/// Tries to reach the API server, which may be away for a moment; `None` when this pod is to stop meanwhile.
fn persist<T>(
    stop: &AtomicBool,
    pause: impl Fn(),
    mut connect: impl FnMut() -> Result<T, ClusterError>,
) -> Result<Option<T>, ClusterError> {
    let began = Instant::now();
    loop {
        if stop.load(Ordering::Relaxed) {
            return Ok(None);
        }
        match connect() {
            Err(ClusterError::Unreachable { .. }) if began.elapsed() < PATIENCE => pause(),
            answer => return answer.map(Some),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_api_server_that_is_away_for_a_moment_is_asked_again_and_one_that_refuses_is_not() {
        let away = || ClusterError::Unreachable { doing: "ask".to_owned(), reason: "connection refused".to_owned() };
        let refused = || ClusterError::Refused { doing: "ask".to_owned(), reason: "forbidden".to_owned() };
        let (mut asked, stop) = (0, AtomicBool::new(false));
        let mut ask = |answer: &dyn Fn(u32) -> Result<u32, ClusterError>| {
            let connect = || {
                asked += 1;
                answer(asked)
            };
            persist(&stop, || {}, connect)
        };
        assert!(matches!(ask(&|asked| if asked < 3 { Err(away()) } else { Ok(asked) }), Ok(Some(3))));
        assert!(ask(&|asked| if asked < 5 { Err(refused()) } else { Ok(asked) }).is_err());
        let stops = |_| {
            stop.store(true, Ordering::Relaxed);
            Err(away())
        };
        assert!(matches!(ask(&stops), Ok(None)));
    }
}
