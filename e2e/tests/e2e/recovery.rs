//! The cluster's components are killed and come back as they were.

use plimsoll_e2e::component::Component;

use crate::{
    kubectl::{ask, is_full},
    namespace::{Namespace, SOON_S},
    waiting::until,
};

#[test]
fn a_throttle_outlives_the_driver() {
    let space = Namespace::new("driver-restart");
    space.claim("data", "slow", "128Mi");
    space.claim("more", "slow", "128Mi");
    let seconds = if is_full() { "60s" } else { "12s" };
    let arguments = ["run", "/data", "--rw", "randread", "--queue-depth", "16", "--size", "32MiB"];
    let how = ["--duration", seconds, "--no-history", "--json"];
    space.plimsoll("before", "data", &[&arguments[..], &how].concat());
    space.wait_for_phase("pod", "before", "Running", SOON_S);
    for node in ["node1", "node2"] {
        let mut driver = Component::load(&format!("csi-{node}")).unwrap();
        driver.kill().unwrap();
        driver.start_again().unwrap();
    }
    // A new container has a new control group, which the new process has to find.
    space.plimsoll("after", "more", &[&arguments[..], &how].concat());
    for pod in ["before", "after"] {
        let record = space.record(pod, 180);
        let rate = record.pointer("/cells/0/read/iops").and_then(serde_json::Value::as_f64).unwrap();
        assert!((rate / 500.0 - 1.0).abs() < 0.05, "{pod}: {rate}");
    }
    until("the drivers are registered again", SOON_S, || ask(&["get", "csinodes"]).map(drop));
}
