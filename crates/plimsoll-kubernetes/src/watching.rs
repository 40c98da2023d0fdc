//! Watches: what happens to the objects of a run, each with the time of its arrival. A watch that breaks off begins
//! anew: what is different then happened meanwhile, nobody knows when.

#[cfg(test)]
mod tests;

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Debug,
    mem,
    time::Duration,
};

use futures_util::{StreamExt as _, stream::BoxStream};
use k8s_openapi::api::{
    core::v1::{Event, PersistentVolume, PersistentVolumeClaim, Pod},
    storage::v1::VolumeAttachment,
};
use kube::{
    Api, Resource, ResourceExt as _,
    runtime::{
        WatchStreamExt as _,
        watcher::{self, watcher},
    },
};
use serde::de::DeserializeOwned;
use tokio::{
    sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel},
    task::JoinHandle,
    time::{Instant, sleep, timeout},
};

use crate::{
    cluster::Cluster,
    error::{ClusterError, not_allowed},
    rights::{self, Need},
    timeline::{Observation, Seen},
};

/// How long the first answers of the API server may take.
const PATIENCE: Duration = Duration::from_secs(30);

/// How long to wait before a watch that broke off begins anew.
const PAUSE: Duration = Duration::from_secs(2);

/// What is watched, until it is dropped.
#[derive(Debug)]
pub(crate) struct Watching {
    origin: Instant,
    pub(crate) observations: UnboundedReceiver<Observation>,
    tasks: Vec<JoinHandle<()>>,
    /// What may not be watched here.
    pub(crate) denied: BTreeSet<&'static str>,
    /// What broke off, and why.
    breaks: UnboundedReceiver<(&'static str, String)>,
}

/// The clock that arrivals are timed by.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WatchClock(Instant);

impl WatchClock {
    /// Whose zero this is.
    pub(crate) const fn since(origin: Instant) -> Self {
        Self(origin)
    }

    /// Now.
    pub(crate) fn now_ns(self) -> u64 {
        u64::try_from(self.0.elapsed().as_nanos()).unwrap_or(u64::MAX)
    }
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
    breaks: UnboundedSender<(&'static str, String)>,
}

/// What objects of a run are called.
#[derive(Clone, Debug)]
struct Names {
    /// What names of those that it makes begin with.
    beginning: String,
    /// Claims that were there before.
    claims: Vec<String>,
}

impl Names {
    fn have(&self, name: Option<&str>) -> bool {
        let name = name.unwrap_or_default();
        name.starts_with(&self.beginning) || self.claims.iter().any(|claim| claim == name)
    }

    /// Whether a claim of the run has the volume. A cluster may have many thousands that it has not.
    fn have_volume(&self, namespace: &str, volume: &PersistentVolume) -> bool {
        let claim = volume.spec.as_ref().and_then(|spec| spec.claim_ref.as_ref());
        claim.is_some_and(|claim| claim.namespace.as_deref() == Some(namespace) && self.have(claim.name.as_deref()))
    }
}

type Events<K> = BoxStream<'static, watcher::Result<watcher::Event<K>>>;

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
        let (breaking, breaks) = unbounded_channel();
        let origin = Instant::now();
        let watch = || Watch {
            origin,
            observations: observations.clone(),
            beginnings: beginnings.clone(),
            breaks: breaking.clone(),
        };
        let labelled = || watcher::Config::default().labels(selector);
        let of_run = Names { beginning: name.to_owned(), claims: claims.to_vec() };
        let (of_event, namespace) = (of_run.clone(), cluster.namespace().to_owned());
        let is_about_ours = move |event: &Event| of_event.have(event.involved_object.name.as_deref());
        let is_our_volume = move |volume: &PersistentVolume| of_run.have_volume(&namespace, volume);
        let all = watcher::Config::default;
        let tasks = vec![
            watch().spawn(
                "persistentvolumeclaims",
                cluster.endless_here::<PersistentVolumeClaim>(),
                labelled(),
                |_| true,
                |it| Seen::Claim(Box::new(it)),
            ),
            watch().spawn("pods", cluster.endless_here::<Pod>(), labelled(), |_| true, |it| Seen::Pod(Box::new(it))),
            watch()
                .spawn("events", cluster.endless_here::<Event>(), all(), is_about_ours, |it| Seen::Event(Box::new(it))),
            watch().spawn(
                "persistentvolumes",
                cluster.endless_everywhere::<PersistentVolume>(),
                all(),
                is_our_volume,
                |it| Seen::Volume(Box::new(it)),
            ),
            watch().spawn(
                "volumeattachments",
                cluster.endless_everywhere::<VolumeAttachment>(),
                all(),
                |_| true,
                |it| Seen::Attachment(Box::new(it)),
            ),
        ];
        let mut watching = Self { origin, observations: receiver, tasks, denied: BTreeSet::new(), breaks };
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

    /// What is lost by what may not be watched, in sentences; an error where nothing goes without it.
    pub(crate) fn what_is_lost(&self) -> Result<Vec<String>, ClusterError> {
        let mut notes = Vec::new();
        for what in &self.denied {
            let right = rights::of(what);
            if right.is_some_and(|right| right.need == Need::Required) {
                return Err(not_allowed(format!("watch {what}")));
            }
            let lost = right.map_or("", |right| right.lost);
            notes.push(format!("{what} may not be watched here: {lost}"));
        }
        Ok(notes)
    }

    /// That watches broke off since the last question, in a sentence.
    pub(crate) fn breaks(&mut self) -> Option<String> {
        let (mut broken, mut reason) = (BTreeSet::new(), String::new());
        while let Ok((what, why)) = self.breaks.try_recv() {
            broken.insert(what);
            reason = why;
        }
        let broken: Vec<_> = broken.into_iter().collect();
        let lost = "the watch broke off and began anew, so when happened what happened meanwhile is not known";
        (!broken.is_empty()).then(|| format!("{}: {lost} ({reason})", broken.join(", ")))
    }

    /// Now, on the clock of the watch.
    pub(crate) fn now_ns(&self) -> u64 {
        self.clock().now_ns()
    }

    /// That clock.
    pub(crate) const fn clock(&self) -> WatchClock {
        WatchClock::since(self.origin)
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
        // Who set which field is most of many objects, and nothing to us.
        let begin =
            move || watcher(api.clone(), config.clone()).modify(|object| object.managed_fields_mut().clear()).boxed();
        tokio::spawn(self.forward(what, begin, is_ours, seen))
    }

    async fn forward<K>(
        self,
        what: &'static str,
        mut begin: impl FnMut() -> Events<K>,
        is_ours: impl Fn(&K) -> bool,
        seen: fn(K) -> Seen,
    ) where
        K: Resource + Clone,
    {
        let mut beginning = Some(self.beginnings);
        let mut stream = begin();
        // By the identity that no later object of the same name has.
        let (mut there, mut listed) = (BTreeMap::new(), BTreeMap::new());
        // Those that were there and not ours: a volume of a cluster's administrator becomes ours when it is bound.
        let mut of_nobody = BTreeSet::new();
        while let Some(event) = stream.next().await {
            let at_ns = u64::try_from(self.origin.elapsed().as_nanos()).unwrap_or(u64::MAX);
            let tell = |object: K, is_initial: bool, is_deleted: bool| {
                self.observations.send(Observation { at_ns, is_initial, is_deleted, seen: seen(object) }).is_ok()
            };
            let is_heard = match event {
                Ok(watcher::Event::Apply(object)) if is_ours(&object) => {
                    there.insert(object.uid(), object.clone());
                    let was_there = of_nobody.remove(&object.uid());
                    tell(object, was_there, false)
                }
                Ok(watcher::Event::Delete(object)) if is_ours(&object) || there.contains_key(&object.uid()) => {
                    there.remove(&object.uid());
                    tell(object, false, true)
                }
                // Of what is in a list nobody knows since when it is so.
                Ok(watcher::Event::InitApply(object)) if is_ours(&object) => {
                    listed.insert(object.uid(), object.clone());
                    tell(object, true, false)
                }
                Ok(watcher::Event::InitDone) => {
                    let before = mem::replace(&mut there, mem::take(&mut listed));
                    let mut gone = before.into_iter().filter(|(uid, _)| !there.contains_key(uid));
                    let is_heard = gone.all(|(_, object)| tell(object, true, true));
                    is_heard && beginning.take().is_none_or(|first| first.send((what, Beginning::Watched)).is_ok())
                }
                Ok(watcher::Event::InitApply(object)) => {
                    of_nobody.insert(object.uid());
                    true
                }
                Ok(watcher::Event::Init) => {
                    listed.clear();
                    of_nobody.clear();
                    true
                }
                Ok(watcher::Event::Apply(_) | watcher::Event::Delete(_)) => true,
                Err(error) => {
                    let reason = error.to_string();
                    if let Some(first) = beginning.take() {
                        let doing = format!("watch {what}");
                        let is_denied = is_denied(&error);
                        let failed = || Beginning::Failed(ClusterError::Unreachable { doing, reason });
                        let _ = first.send((what, if is_denied { Beginning::Denied } else { failed() }));
                        return;
                    }
                    let is_heard = self.breaks.send((what, reason)).is_ok();
                    // A watch that went on where it was would deliver what happened meanwhile as if it happened now.
                    stream = begin();
                    sleep(PAUSE).await;
                    is_heard
                }
            };
            if !is_heard {
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
