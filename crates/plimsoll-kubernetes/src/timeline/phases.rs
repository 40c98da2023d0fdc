//! How long phases took: differences of moments, each within one kind of clock.

use plimsoll_record::lifecycle::{Disagreement, Happening, Moment, Phases};

/// The phases by the clock of the watch, and by those of events.
pub(super) fn phases(moments: &[Moment]) -> (Phases, Phases) {
    let seen = By { moments, time: |moment| moment.seen_ns.and_then(|seen_ns| i64::try_from(seen_ns).ok()) };
    let told = By { moments, time: |moment| moment.told_ns };
    let running = told.between(Happening::Running, Happening::FirstIo);
    let by_watch = Phases {
        create_ns: seen.between(Happening::ClaimSent, Happening::ClaimAccepted),
        provision_ns: seen.between(seen.provision_begins(), Happening::Provisioned),
        bind_ns: seen.between(seen.provision_begins(), Happening::Bound),
        schedule_ns: seen.between(Happening::PodReleased, Happening::Scheduled),
        // Whoever may not look at attachments knows what the pod is told: that includes the way to it.
        attach_ns: seen
            .between(Happening::AttachAsked, Happening::Attached)
            .or_else(|| seen.between(Happening::Scheduled, Happening::AttachReported)),
        mount_ns: seen.between(seen.mount_begins(), Happening::Mounted),
        start_ns: seen.between(Happening::Mounted, Happening::Started),
        // The program is on the node, and so is its clock: what it tells takes its time to arrive.
        first_io_ns: running,
        ready_ns: ready(&seen, &told),
        detach_ns: seen.between(Happening::DetachAsked, Happening::Detached),
        resize_ns: seen.between(Happening::ResizeSent, Happening::Resized),
        grow_ns: seen.between(Happening::ResizeSent, Happening::Grown),
        snapshot_ns: seen.between(Happening::SnapshotSent, Happening::SnapshotReady),
        delete_ns: seen.between(Happening::DeleteSent, Happening::VolumeGone),
    };
    let by_events = Phases {
        provision_ns: told.between(Happening::Provisioning, Happening::Provisioned),
        attach_ns: told.between(Happening::Scheduled, Happening::AttachReported),
        mount_ns: told.between(told.mount_begins(), Happening::Mounted),
        start_ns: told.between(Happening::Mounted, Happening::Started),
        first_io_ns: running,
        ..Phases::default()
    };
    (by_watch, by_events)
}

/// Phases of which both kinds of clocks tell, and not the same.
pub(super) fn disagreements(by_watch: &Phases, by_events: &Phases) -> Vec<Disagreement> {
    const SLACK_NS: u64 = 250_000_000;
    // Attaching and mounting begin and end elsewhere for a watch: at the attachment, of which events do not tell.
    let both = [
        ("provision", by_watch.provision_ns, by_events.provision_ns),
        ("start", by_watch.start_ns, by_events.start_ns),
    ];
    let both = both.into_iter().filter_map(|(phase, seen, told)| Some((phase, seen?, told?)));
    both.filter(|(_, seen_ns, told_ns)| seen_ns.abs_diff(*told_ns) > SLACK_NS.max(seen_ns.max(told_ns) / 10))
        .map(|(phase, seen_ns, told_ns)| Disagreement { phase: phase.to_owned(), seen_ns, told_ns })
        .collect()
}

/// Until the first operation: until the container was seen to have started, and from there on by the node's clock.
fn ready(seen: &By<'_>, told: &By<'_>) -> Option<u64> {
    let since_start = told.between(Happening::Started, Happening::FirstIo);
    match (seen.between(Happening::ClaimSent, Happening::Started), since_start) {
        (Some(until_start), Some(since_start)) => Some(until_start + since_start),
        _ => seen.between(Happening::ClaimSent, Happening::FirstIo),
    }
}

/// Moments by one kind of clock.
struct By<'a> {
    moments: &'a [Moment],
    time: fn(&Moment) -> Option<i64>,
}

impl By<'_> {
    fn at(&self, what: Happening) -> Option<i64> {
        self.moments.iter().find(|moment| moment.what == what).and_then(self.time)
    }

    /// Watches deliver what happened at once in any order: what seems to end before it begins took no time.
    fn between(&self, from: Happening, to: Happening) -> Option<u64> {
        Some(u64::try_from(self.at(to)? - self.at(from)?).unwrap_or(0))
    }

    /// A class that waits for a consumer makes volumes when a node is chosen.
    fn provision_begins(&self) -> Happening {
        let is_known = self.at(Happening::NodeChosen).is_some();
        if is_known { Happening::NodeChosen } else { Happening::ClaimAccepted }
    }

    /// A driver that attaches nothing mounts as soon as the pod has its node.
    fn mount_begins(&self) -> Happening {
        let ways = [Happening::Attached, Happening::AttachReported, Happening::Scheduled];
        ways.into_iter().find(|what| self.at(*what).is_some()).unwrap_or(Happening::Scheduled)
    }
}
