//! File systems that do not answer, as network mounts whose servers are gone.

use plimsoll_io::clock::{Clock as _, MonotonicClock};
use plimsoll_run::objects::leftovers::{LeftReason, sweep};

use super::{
    Scene,
    support::{Mount, skipped},
};

#[test]
fn a_mount_that_does_not_answer_holds_up_no_command_and_is_swept_when_it_is_back() {
    let scene = Scene::new();
    drop(scene.spawn("wait"));
    let left = scene.tree();
    let Some(silent) = Mount::silent(&scene.target()) else {
        return skipped("a mount that does not answer: it takes root and FUSE");
    };
    let before_ns = MonotonicClock.now_ns();
    let swept = sweep(&scene.state()).unwrap();
    let took_ns = MonotonicClock.now_ns() - before_ns;
    assert!(swept.removed.is_empty() && !swept.left.is_empty(), "{swept:?}");
    assert!(swept.left.iter().all(|left| matches!(left.reason, LeftReason::Silent)), "{swept:?}");
    assert!(took_ns < 10_000_000_000, "{took_ns} ns");
    drop(silent);
    assert_eq!(scene.tree(), left);
    assert_eq!(sweep(&scene.state()).unwrap().removed.len(), swept.left.len());
    scene.assert_clean("afterwards");
    scene.assert_no_lists("afterwards");
}
