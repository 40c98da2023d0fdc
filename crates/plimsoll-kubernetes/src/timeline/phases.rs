//! How long phases took: differences of moments, each within one kind of clock.

use plimsoll_record::lifecycle::{Happening, Moment, Phases};

/// The phases by the clock of the watch, and by those of events.
pub(super) fn phases(moments: &[Moment]) -> (Phases, Phases) {
    let seen = By { moments, time: |moment| moment.seen_ns.and_then(|seen_ns| i64::try_from(seen_ns).ok()) };
    let told = By { moments, time: |moment| moment.told_ns };
    let running = told.between(Happening::Running, Happening::FirstIo);
    let by_watch = Phases {
        create_ns: seen.between(Happening::ClaimSent, Happening::ClaimAccepted),
        provision_ns: seen.between(Happening::Provisioning, Happening::Provisioned),
        bind_ns: seen.between(seen.bind_begins(), Happening::Bound),
        schedule_ns: seen.between(Happening::PodReleased, Happening::Scheduled),
        attach_ns: seen.between(Happening::AttachAsked, Happening::Attached),
        mount_ns: seen.between(seen.mount_begins(), Happening::Mounted),
        start_ns: seen.between(Happening::Mounted, Happening::Started),
        // The program is on the node, and so is its clock: what it tells takes its time to arrive.
        first_io_ns: running,
        ready_ns: ready(&seen, &told),
        detach_ns: seen.between(Happening::DetachAsked, Happening::Detached),
        delete_ns: seen.between(Happening::DeleteSent, Happening::VolumeGone),
    };
    let by_events = Phases {
        provision_ns: told.between(Happening::Provisioning, Happening::Provisioned),
        start_ns: told.between(Happening::Mounted, Happening::Started),
        first_io_ns: running,
        ..Phases::default()
    };
    (by_watch, by_events)
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

    /// A class that waits for a consumer binds when a node is chosen.
    fn bind_begins(&self) -> Happening {
        let is_known = self.at(Happening::NodeChosen).is_some();
        if is_known { Happening::NodeChosen } else { Happening::ClaimAccepted }
    }

    /// A driver that attaches nothing mounts as soon as the pod has its node.
    fn mount_begins(&self) -> Happening {
        match (self.at(Happening::Attached), self.at(Happening::Scheduled)) {
            (Some(attached), scheduled) if scheduled.is_none_or(|scheduled| attached >= scheduled) => {
                Happening::Attached
            }
            _ => Happening::Scheduled,
        }
    }
}
