//! One use of a volume: a pod with a claim, and what was seen of them since.

use std::time::Duration;

use jiff::Timestamp;
use k8s_openapi::api::core::v1::{PersistentVolumeClaim, Pod};
use plimsoll_record::lifecycle::{Happening, UsedAs, VolumeLifecycle};

use crate::{
    following::Followed,
    frames::{Line, Message},
    run::member::Member,
    timeline::{Observation, Seen, Timeline},
    troubles::Troubles,
    watching::WatchClock,
};

/// A use.
#[derive(Debug)]
pub(super) struct Use {
    pub(super) used_as: UsedAs,
    pub(super) claim: String,
    pub(super) pod: String,
    pub(super) timeline: Timeline,
    pub(super) troubles: Troubles,
    pub(super) member: Member,
    /// Whether its pod was sent.
    pub(super) is_sent: bool,
    /// Whether its pod is to end.
    pub(super) is_ending: bool,
    /// Whether what happens to attachments is another's.
    pub(super) is_closed: bool,
    /// Whether the volume was there as it should be.
    pub(super) is_used: bool,
    /// When the program saw the volume grow, by its clock and by that of whoever watches.
    pub(super) grown: Option<(Timestamp, Option<u64>)>,
    /// What the program said went wrong.
    said: Option<String>,
    /// Whether its log has ended.
    is_silent: bool,
    /// Why it went no further.
    pub(super) failed: Option<String>,
}

impl Use {
    pub(super) fn new(used_as: UsedAs, claim: String, pod: String, timeline: Timeline) -> Self {
        Self {
            used_as,
            claim,
            pod,
            timeline,
            troubles: Troubles::default(),
            member: Member::default(),
            is_sent: false,
            is_ending: false,
            is_closed: false,
            is_used: false,
            grown: None,
            said: None,
            is_silent: false,
            failed: None,
        }
    }

    /// Has it know a claim that was there before.
    pub(super) fn know(&mut self, claim: &PersistentVolumeClaim) {
        let seen = Seen::Claim(Box::new(claim.clone()));
        self.timeline.observe(&Observation { at_ns: 0, is_initial: true, is_deleted: false, seen });
    }

    /// What it did, for the record.
    pub(super) fn life(&self, target: &str) -> VolumeLifecycle {
        let life = self.timeline.life(target, &self.claim);
        VolumeLifecycle { used_as: self.used_as, failed: self.failed.clone(), ..life }
    }

    /// The node of its pod.
    pub(super) fn node(&self) -> Option<&str> {
        self.member.node()
    }

    /// Whether its pod is gone, or never was.
    pub(super) fn is_gone(&self) -> bool {
        !self.is_sent || self.member.is_gone
    }

    /// Why it will not go on, when that is certain.
    pub(super) fn why_broken(&self) -> Option<String> {
        if let Some(said) = &self.said {
            return Some(said.clone());
        }
        let pod = self.member.pod.as_deref()?;
        if self.member.is_gone || self.member.has_failed() || self.is_silent {
            return Some(self.troubles.of_end(pod, &self.member.last_lines));
        }
        if self.member.has_begun() {
            return None;
        }
        self.troubles.of_start(pod).filter(|trouble| trouble.is_final).map(|trouble| trouble.text)
    }

    /// What the cluster says while it waits.
    pub(super) fn trouble(&self) -> Option<String> {
        let starting = self.member.pod.as_deref().filter(|_| !self.member.has_begun());
        let of_pod = |pod: &Pod| self.troubles.of_start(pod).map(|trouble| trouble.text);
        starting.and_then(of_pod).or_else(|| self.troubles.of_claim())
    }

    /// Takes in a line of its log.
    pub(super) fn line(&mut self, followed: Followed, clock: WatchClock) {
        let line = match followed {
            Followed::Line(line) => line,
            Followed::End | Followed::Failed(_) if self.is_ending => return,
            Followed::End => {
                self.is_silent = true;
                return;
            }
            Followed::Failed(why) => {
                self.said = Some(why.to_string());
                return;
            }
        };
        let message = match self.member.reader.line(&line) {
            Line::Message(message) => message,
            Line::Part => return,
            Line::Text => return self.member.keep_line(line),
        };
        let now_ns = Some(clock.now_ns()).filter(|_| !self.member.follows_late);
        let claims = [self.claim.clone()];
        match message {
            Message::Running { at, .. } => self.timeline.told(&claims, Happening::Running, at, now_ns),
            Message::FirstIo { at, .. } => {
                self.timeline.told(&claims, Happening::FirstIo, at, now_ns);
                self.is_used = true;
            }
            Message::Grown { at } => self.grown = Some((at, now_ns)),
            Message::Failed { text, .. } => self.said = Some(text),
            Message::Event { .. } | Message::Slot { .. } | Message::Done { .. } | Message::DoneTogether { .. } => {}
        }
    }
}

/// A wait that was too long, in a sentence.
pub(super) fn too_long(what: &str, waited: Duration, why: &str) -> String {
    format!("{what} within {} s: {why}", waited.as_secs())
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};
    use tokio::time::Instant;

    use super::*;
    use crate::frames::Writer;

    fn used(used_as: UsedAs) -> Use {
        let mut timeline = Timeline::new(36, "bench");
        timeline.begin(Some(1_000), Timestamp::UNIX_EPOCH);
        Use::new(used_as, "c".to_owned(), "p".to_owned(), timeline)
    }

    fn seen(at_ns: u64, seen: Seen) -> Observation {
        Observation { at_ns, is_initial: false, is_deleted: false, seen }
    }

    fn object<T: serde::de::DeserializeOwned>(value: Value) -> Box<T> {
        Box::new(serde_json::from_value(value).unwrap())
    }

    #[test]
    fn a_later_use_tells_of_its_own_attaching_and_not_how_the_volume_was_made() {
        let mut again = used(UsedAs::Again);
        let selected = json!({ "volume.kubernetes.io/selected-node": "n" });
        again.know(&object(json!({
            "metadata": { "name": "c", "annotations": selected },
            "spec": { "volumeName": "pv" }, "status": { "phase": "Bound" },
        })));
        let pod = json!({
            "metadata": { "name": "p" },
            "spec": {
                "nodeName": "n", "containers": [],
                "volumes": [{ "name": "v", "persistentVolumeClaim": { "claimName": "c" } }],
            },
        });
        again.timeline.observe(&seen(2_000, Seen::Pod(object(pod))));
        let spec = json!({ "attacher": "d", "nodeName": "n", "source": { "persistentVolumeName": "pv" } });
        let attachment = |attached: bool| {
            let status = json!({ "attached": attached });
            Seen::Attachment(object(json!({ "metadata": { "name": "a" }, "spec": spec, "status": status })))
        };
        again.timeline.observe(&seen(3_000, attachment(false)));
        again.timeline.observe(&seen(5_000, attachment(true)));
        let life = again.life("slow");
        assert_eq!(
            (life.used_as, life.volume.as_deref(), life.node.as_deref()),
            (UsedAs::Again, Some("pv"), Some("n"))
        );
        assert_eq!(life.phases.attach_ns, Some(2_000));
        assert_eq!((life.phases.create_ns, life.phases.provision_ns, life.phases.bind_ns), (None, None, None));
    }

    #[test]
    fn what_the_program_says_is_why_a_life_fails() {
        let (mut one, mut writer) = (used(UsedAs::Cloned), Writer::default());
        let clock = WatchClock::since(Instant::now());
        let mut tell = |one: &mut Use, message: &Message| {
            writer.lines(message).lines().for_each(|line| one.line(Followed::Line(line.to_owned()), clock));
        };
        tell(&mut one, &Message::FirstIo { target: "volume".to_owned(), at: Timestamp::UNIX_EPOCH });
        assert!(one.is_used && one.why_broken().is_none());
        assert!(one.life("slow").phases.ready_ns.is_some());
        tell(&mut one, &Message::Failed { exit: 5, text: "volume has no mark".to_owned() });
        assert_eq!(one.why_broken().as_deref(), Some("volume has no mark"));
    }
}
