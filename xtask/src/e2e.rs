//! `cargo xtask e2e`: a Kubernetes of two nodes on this machine, and the tests that need one.
//!
//! The programs of the cluster are built from Go modules (`e2e/cluster/`). Everything runs in a network namespace of
//! its own, keeps its state in one folder (`place::STATE`) and is removed at the end, however that comes.

mod cluster;
mod control_plane;
mod node;
mod programs;
mod removal;
mod requirements;
mod run_tests;

use std::{env, time::Instant};

use anyhow::Context as _;
use plimsoll_e2e::{component::Component, place};

use self::cluster::Cluster;
pub(crate) use self::requirements::NETWORK_PLUGINS;
use crate::interruption;

#[derive(clap::Args)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    action: Option<Action>,
    /// The profile of cargo that plimsoll is built in.
    #[arg(long, global = true, default_value = "release")]
    profile: String,
    /// Also run the tests that take long.
    #[arg(long, global = true)]
    full: bool,
}

/// One part, for working on it. Without any, all of them are done in turn.
#[derive(clap::Subcommand)]
enum Action {
    /// Starts the cluster and leaves it running; removes the one before.
    Up,
    /// Removes the cluster, or what is left of one.
    Down,
    /// Runs the tests in the cluster that is up, after plimsoll was built and handed to its nodes again.
    Test {
        /// Only tests whose name contains this.
        filter: Option<String>,
    },
    /// Kills a component of the cluster that is up, and starts it again.
    Restart {
        /// Such as `kube-apiserver` or `kubelet-node1`.
        name: String,
    },
}

pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let _listening = interruption::listen()?;
    match &arguments.action {
        None => all(arguments, &mut |line| println!("{line}")),
        Some(Action::Up) => {
            requirements::check()?;
            removal::refuse_if_owned()?;
            programs::build(&arguments.profile)?;
            Cluster::up()?.leave_running();
            println!("e2e: the cluster is up and stays; what talks to it has to be in its network:");
            println!("  export KUBECONFIG={}", place::kubeconfig().display());
            let (network, tools) = (place::network_namespace(), programs::folder());
            println!("  nsenter --net={} {}/kube-all kubectl get pods -A", network.display(), tools.display());
            println!("e2e: `cargo xtask e2e down` ends whatever is in that network, a shell too");
            Ok(())
        }
        Some(Action::Down) => {
            removal::refuse_if_owned()?;
            removal::remove()
        }
        Some(Action::Test { filter }) => {
            requirements::check()?;
            removal::refuse_if_owned()?;
            let _owner = removal::own().context("take the cluster; \"cargo xtask e2e up\" starts one")?;
            programs::build_plimsoll(&arguments.profile)?;
            run_tests::build()?;
            cluster::import_images().context("hand the image to the nodes; \"cargo xtask e2e up\" starts them")?;
            run_tests::run(arguments.full, filter.as_deref(), &mut |line| println!("{line}"))
        }
        Some(Action::Restart { name }) => {
            let mut components = vec![Component::load(name)?];
            if name == control_plane::DRIVER {
                // Its sidecars end at their next call when they have lost it.
                for (sidecar, _) in control_plane::sidecars() {
                    components.push(Component::load(sidecar)?);
                }
            }
            components.iter().try_for_each(Component::kill)?;
            components.iter_mut().try_for_each(Component::start_again)
        }
    }
}

/// For `cargo xtask ci`: everything, with the lines of the tests handed to whoever counts them.
pub(crate) fn for_ci(observe: &mut dyn FnMut(&str)) -> anyhow::Result<()> {
    let _listening = interruption::listen()?;
    all(&Arguments { action: None, profile: "release".into(), full: false }, observe)
}

/// Builds, starts, tests and removes. A machine that cannot do it skips it loudly, and fails where CI is set.
fn all(arguments: &Arguments, observe: &mut dyn FnMut(&str)) -> anyhow::Result<()> {
    if let Err(missing) = requirements::check() {
        if env::var_os("CI").is_some() {
            return Err(missing.context("CI is set, so the end-to-end tests may not be skipped"));
        }
        println!("e2e: NOTHING TESTED");
        observe(&format!("skipped: the end-to-end tests: {missing:#}"));
        return Ok(());
    }
    removal::refuse_if_owned()?;
    let started = Instant::now();
    programs::build(&arguments.profile)?;
    run_tests::build()?;
    println!("e2e: programs built after {:.1} s", started.elapsed().as_secs_f64());
    let cluster = Cluster::up()?;
    println!("e2e: cluster up after {:.1} s", started.elapsed().as_secs_f64());
    let tested = run_tests::run(arguments.full, None, observe);
    println!("e2e: tests ended after {:.1} s", started.elapsed().as_secs_f64());
    if tested.is_err() && !interruption::has_come() {
        cluster.keep_logs();
    }
    let removed = cluster.remove();
    println!("e2e: cluster removed after {:.1} s", started.elapsed().as_secs_f64());
    tested.and(removed)
}
