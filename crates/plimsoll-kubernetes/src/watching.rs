//! Watches: what happens to the objects of a run, each with the time of its arrival.

use std::{collections::BTreeSet, fmt::Debug, time::Duration};

use futures_util::{StreamExt as _, stream::BoxStream};
use k8s_openapi::api::{
    core::v1::{Event, PersistentVolume, PersistentVolumeClaim, Pod},
    storage::v1::VolumeAttachment,
};
use kube::{
    Api, Resource,
    runtime::{WatchStreamExt as _, watcher},
};
use serde::de::DeserializeOwned;
use tokio::{
    sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel},
    task::JoinHandle,
    time::{Instant, timeout},
};

use crate::{
    cluster::Cluster,
    error::ClusterError,
    timeline::{Observation, Seen},
};

/// How long the first answers of the API server may take.
const PATIENCE: Duration = Duration::from_secs(30);

/// What is watched, until it is dropped.
#[derive(Debug)]
pub(crate) struct Watching {
    origin: Instant,
    pub(crate) observations: UnboundedReceiver<Observation>,
    tasks: Vec<JoinHandle<()>>,
    /// What may not be watched here.
    pub(crate) denied: BTreeSet<&'static str>,
}

/// How the beginning of a watch went.
enum Beginning {
    Watched,
    Denied,
    Failed(ClusterError),
}

/// What one watch needs.
struct Watch {
    origin: Instant,
    observations: UnboundedSender<Observation>,
    beginnings: UnboundedSender<(&'static str, Beginning)>,
}

impl Watching {
    /// Begins to watch, and returns when all that may be watched is: what is created afterwards is seen. `name` is what
    /// names of the run's objects begin with.
    pub(crate) async fn start(
        cluster: &Cluster,
        selector: &str,
        name: &str,
        claims: &[String],
    ) -> Result<Self, ClusterError> {
        let (observations, receiver) = unbounded_channel();
        let (beginnings, mut begun) = unbounded_channel();
        let origin = Instant::now();
        let watch = || Watch { origin, observations: observations.clone(), beginnings: beginnings.clone() };
        let labelled = || watcher::Config::default().labels(selector);
        let claims = claims.to_vec();
        let name = name.to_owned();
        let is_ours = move |event: &Event| {
            let object = event.involved_object.name.as_deref().unwrap_or_default();
            object.starts_with(&name) || claims.iter().any(|claim| claim == object)
        };
        let all = watcher::Config::default;
        let tasks = vec![
            watch().spawn(
                "persistentvolumeclaims",
                cluster.here::<PersistentVolumeClaim>(),
                labelled(),
                |_| true,
                |it| Seen::Claim(Box::new(it)),
            ),
            watch().spawn("pods", cluster.here::<Pod>(), labelled(), |_| true, |it| Seen::Pod(Box::new(it))),
            watch().spawn("events", cluster.here::<Event>(), all(), is_ours, |it| Seen::Event(Box::new(it))),
            watch().spawn(
                "persistentvolumes",
                cluster.everywhere::<PersistentVolume>(),
                all(),
                |_| true,
                |it| Seen::Volume(Box::new(it)),
            ),
            watch().spawn(
                "volumeattachments",
                cluster.everywhere::<VolumeAttachment>(),
                all(),
                |_| true,
                |it| Seen::Attachment(Box::new(it)),
            ),
        ];
        let mut watching = Self { origin, observations: receiver, tasks, denied: BTreeSet::new() };
        for _ in 0..watching.tasks.len() {
            let late = || ClusterError::Unreachable {
                doing: "watch the cluster".to_owned(),
                reason: format!("no answer within {} seconds", PATIENCE.as_secs()),
            };
            let (what, beginning) = timeout(PATIENCE, begun.recv()).await.ok().flatten().ok_or_else(late)?;
            match beginning {
                Beginning::Watched => {}
                Beginning::Denied => {
                    watching.denied.insert(what);
                }
                Beginning::Failed(error) => return Err(error),
            }
        }
        Ok(watching)
    }

    /// Now, on the clock of the watch.
    pub(crate) fn now_ns(&self) -> u64 {
        u64::try_from(self.origin.elapsed().as_nanos()).unwrap_or(u64::MAX)
    }
}

impl Drop for Watching {
    fn drop(&mut self) {
        self.tasks.iter().for_each(JoinHandle::abort);
    }
}

impl Watch {
    fn spawn<K>(
        self,
        what: &'static str,
        api: Api<K>,
        config: watcher::Config,
        is_ours: impl Fn(&K) -> bool + Send + 'static,
        seen: fn(K) -> Seen,
    ) -> JoinHandle<()>
    where
        K: Resource + Clone + DeserializeOwned + Debug + Send + Sync + 'static,
        K::DynamicType: Default + Clone + Send,
    {
        // An error is told at once the first time, and waited out later.
        let stream = watcher(api, config).default_backoff().boxed();
        tokio::spawn(self.forward(what, stream, is_ours, seen))
    }

    async fn forward<K>(
        self,
        what: &'static str,
        mut stream: BoxStream<'static, watcher::Result<watcher::Event<K>>>,
        is_ours: impl Fn(&K) -> bool,
        seen: fn(K) -> Seen,
    ) {
        let mut beginning = Some(self.beginnings);
        let mut begun = |how: Beginning| match beginning.take() {
            Some(beginning) => beginning.send((what, how)).is_ok(),
            None => true,
        };
        while let Some(event) = stream.next().await {
            let at_ns = u64::try_from(self.origin.elapsed().as_nanos()).unwrap_or(u64::MAX);
            let (object, is_initial, is_deleted) = match event {
                Ok(watcher::Event::Apply(object)) => (object, false, false),
                Ok(watcher::Event::Delete(object)) => (object, false, true),
                // After a relist nobody knows since when it is so.
                Ok(watcher::Event::InitApply(object)) => (object, true, false),
                Ok(watcher::Event::InitDone) => {
                    begun(Beginning::Watched);
                    continue;
                }
                Ok(watcher::Event::Init) => continue,
                Err(error) => {
                    if is_denied(&error) {
                        begun(Beginning::Denied);
                        return;
                    }
                    let doing = || format!("watch {what}");
                    let error = ClusterError::Unreachable { doing: doing(), reason: error.to_string() };
                    begun(Beginning::Failed(error));
                    continue;
                }
            };
            let is_wanted = is_ours(&object);
            if is_wanted
                && self.observations.send(Observation { at_ns, is_initial, is_deleted, seen: seen(object) }).is_err()
            {
                return;
            }
        }
    }
}

fn is_denied(error: &watcher::Error) -> bool {
    let error = match error {
        watcher::Error::InitialListFailed(error)
        | watcher::Error::WatchStartFailed(error)
        | watcher::Error::WatchFailed(error) => error,
        watcher::Error::WatchError(status) => return status.code == 403,
        _ => return false,
    };
    matches!(error, kube::Error::Api(status) if status.code == 403)
}
