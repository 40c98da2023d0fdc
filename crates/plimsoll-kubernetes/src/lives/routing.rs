//! Which life an object belongs to, by its name, or by the volume that it is about. Pure.

use std::collections::BTreeMap;

use kube::ResourceExt as _;

use crate::timeline::{Observation, Seen};

/// How long attachments wait for their volume to be known.
const EARLY_NS: u64 = 60_000_000_000;

/// What is known of objects that say nothing of their life themselves.
#[derive(Debug)]
pub(super) struct Routes {
    job: String,
    namespace: String,
    volumes: BTreeMap<String, u32>,
    /// Attachments that were seen before their volumes.
    early: Vec<(String, Observation)>,
}

impl Routes {
    /// Of the lives of a Job.
    pub(super) fn new(job: String, namespace: String) -> Self {
        Self { job, namespace, volumes: BTreeMap::new(), early: Vec::new() }
    }

    /// The name of an object of a life.
    pub(super) fn name(job: &str, life: u32, what: &str) -> String {
        format!("{job}-{life}-{what}")
    }

    /// What is to be told to which life.
    pub(super) fn route(&mut self, observation: Observation) -> Vec<(u32, Observation)> {
        let (life, volume) = match &observation.seen {
            Seen::Claim(claim) => {
                let volume = claim.spec.as_ref().and_then(|spec| spec.volume_name.clone());
                (self.life(&claim.name_any()), volume)
            }
            Seen::Volume(volume) => {
                let of = volume.spec.as_ref().and_then(|spec| spec.claim_ref.as_ref());
                let of = of.filter(|of| of.namespace.as_deref() == Some(self.namespace.as_str()));
                (of.and_then(|of| self.life(of.name.as_deref()?)), Some(volume.name_any()))
            }
            Seen::Attachment(attachment) => {
                let Some(volume) = attachment.spec.source.persistent_volume_name.clone() else { return Vec::new() };
                let known = self.volumes.get(&volume).copied();
                if known.is_none() && !observation.is_initial {
                    let since_ns = observation.at_ns.saturating_sub(EARLY_NS);
                    self.early.retain(|(_, early)| early.at_ns >= since_ns);
                    self.early.push((volume, observation));
                    return Vec::new();
                }
                (known, None)
            }
            Seen::Pod(pod) => (self.life(&pod.name_any()), None),
            Seen::Event(event) => (event.involved_object.name.as_deref().and_then(|name| self.life(name)), None),
        };
        let Some(life) = life else { return Vec::new() };
        let mut told = vec![(life, observation)];
        if let Some(volume) = volume
            && self.volumes.insert(volume.clone(), life).is_none()
        {
            let (ours, others) = std::mem::take(&mut self.early).into_iter().partition(|(of, _)| *of == volume);
            self.early = others;
            let ours: Vec<(String, Observation)> = ours;
            told.extend(ours.into_iter().map(|(_, observation)| (life, observation)));
        }
        told
    }

    fn life(&self, name: &str) -> Option<u32> {
        name.strip_prefix(&self.job)?.strip_prefix('-')?.split_once('-')?.0.parse().ok()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn seen(at_ns: u64, seen: Seen) -> Observation {
        Observation { at_ns, is_initial: false, is_deleted: false, seen }
    }

    fn object<T: serde::de::DeserializeOwned>(value: Value) -> Box<T> {
        Box::new(serde_json::from_value(value).unwrap())
    }

    fn claim(name: &str, volume: Option<&str>) -> Seen {
        Seen::Claim(object(json!({ "metadata": { "name": name }, "spec": { "volumeName": volume } })))
    }

    fn attachment(volume: &str) -> Seen {
        let spec = json!({ "attacher": "d", "nodeName": "n", "source": { "persistentVolumeName": volume } });
        Seen::Attachment(object(json!({ "metadata": { "name": "csi-1" }, "spec": spec })))
    }

    fn volume(name: &str, namespace: &str, claim: &str) -> Seen {
        let spec = json!({ "claimRef": { "namespace": namespace, "name": claim } });
        Seen::Volume(object(json!({ "metadata": { "name": name }, "spec": spec })))
    }

    fn routes() -> Routes {
        Routes::new("plimsoll-abc".to_owned(), "bench".to_owned())
    }

    fn lives(routes: &mut Routes, at_ns: u64, what: Seen) -> Vec<u32> {
        routes.route(seen(at_ns, what)).into_iter().map(|(life, _)| life).collect()
    }

    #[test]
    fn objects_go_to_the_life_whose_number_they_have() {
        let mut routes = routes();
        for (name, expected) in [
            ("plimsoll-abc-1-data", vec![1]),
            ("plimsoll-abc-10-data", vec![10]),
            // The pod of the Job itself.
            ("plimsoll-abc-x7k2p", vec![]),
            ("plimsoll-abcd-1-data", vec![]),
            ("plimsoll-abc", vec![]),
            ("data", vec![]),
        ] {
            assert_eq!(lives(&mut routes, 0, claim(name, None)), expected, "{name}");
        }
        let event = |kind: &str, name: &str| -> Seen {
            let about = json!({ "kind": kind, "name": name });
            Seen::Event(object(json!({ "metadata": { "name": "e" }, "involvedObject": about })))
        };
        assert_eq!(lives(&mut routes, 0, event("Pod", "plimsoll-abc-3-moved")), [3]);
    }

    #[test]
    fn volumes_of_other_namespaces_are_not_ours() {
        let mut routes = routes();
        assert_eq!(lives(&mut routes, 0, volume("pv-1", "other", "plimsoll-abc-1-data")), Vec::<u32>::new());
        assert_eq!(lives(&mut routes, 0, volume("pv-1", "bench", "plimsoll-abc-1-data")), [1]);
    }

    #[test]
    fn an_attachment_that_is_seen_before_its_volume_is_told_behind_it() {
        let mut routes = routes();
        assert_eq!(lives(&mut routes, 5, attachment("pv-1")), Vec::<u32>::new());
        assert_eq!(lives(&mut routes, 6, attachment("pv-2")), Vec::<u32>::new());
        let told = routes.route(seen(7, claim("plimsoll-abc-2-data", Some("pv-1"))));
        assert_eq!(told.iter().map(|(life, one)| (*life, one.at_ns)).collect::<Vec<_>>(), [(2, 7), (2, 5)]);
        assert_eq!(lives(&mut routes, 8, attachment("pv-1")), [2]);
        // Those of others are forgotten.
        assert_eq!(lives(&mut routes, EARLY_NS + 7, attachment("pv-3")), Vec::<u32>::new());
        assert_eq!(lives(&mut routes, EARLY_NS + 8, volume("pv-2", "bench", "plimsoll-abc-4-data")), [4]);
    }
}
