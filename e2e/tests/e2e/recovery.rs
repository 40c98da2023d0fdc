//! The cluster's components are killed and come back as they were.

use plimsoll_e2e::component::Component;

use crate::{
    kubectl::{ask, is_full},
    namespace::{Namespace, SOON_S, container},
    waiting::until,
};

#[test]
fn a_throttle_outlives_the_driver() {
    let space = Namespace::new("driver-restart");
    space.claim("data", "slow", "128Mi");
    space.claim("more", "slow", "128Mi");
    let seconds = if is_full() { "60s" } else { "12s" };
    let arguments = ["run", "/data", "--rw", "randread", "--queue-depth", "16", "--size", "32MiB"];
    let container = container(&[&arguments[..], &["--duration", seconds]].concat());
    space.measure("before", &[("data", "/data")], &container);
    space.wait_until_it_measures("before");
    for node in ["node1", "node2"] {
        let mut driver = Component::load(&format!("csi-{node}")).unwrap();
        driver.kill().unwrap();
        driver.start_again().unwrap();
    }
    // A new container has a new control group, which the new process has to find.
    space.measure("after", &[("more", "/data")], &container);
    for pod in ["before", "after"] {
        let rows = space.rows(pod, 3 * SOON_S);
        let rate: f64 = rows[0]["read_operations_per_second"].parse().unwrap();
        assert!((rate / 500.0 - 1.0).abs() < 0.05, "{rate}");
    }
    until("the drivers are registered again", SOON_S, || ask(&["get", "csinodes"]).map(drop));
}
