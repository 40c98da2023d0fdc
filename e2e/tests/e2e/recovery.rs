//! The cluster's components are killed and come back as they were.

use plimsoll_e2e::component::Component;

use crate::{
    kubectl::{ask, is_full},
    namespace::{Namespace, SOON_S, attempts},
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
    let arguments = [&arguments[..], &how].concat();
    let records = attempts(|| {
        space.plimsoll("before", "data", &arguments);
        space.wait_for_phase("pod", "before", "Running", SOON_S);
        for node in ["node1", "node2"] {
            let mut driver = Component::load(&format!("csi-{node}")).unwrap();
            driver.kill().unwrap();
            driver.start_again().unwrap();
        }
        // A new container has a new control group, which the new process has to find.
        space.plimsoll("after", "more", &arguments);
        let records = ["before", "after"].map(|pod| space.record(pod, 3 * SOON_S));
        ["before", "after"].into_iter().for_each(|pod| space.delete("pod", pod));
        records.into_iter().collect::<Result<Vec<_>, _>>()
    });
    for record in records {
        let rate = record.pointer("/cells/0/read/iops").and_then(serde_json::Value::as_f64).unwrap();
        assert!((rate / 500.0 - 1.0).abs() < 0.05, "{rate}");
    }
    until("the drivers are registered again", SOON_S, || ask(&["get", "csinodes"]).map(drop));
}
