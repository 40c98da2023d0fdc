//! `plimsoll kubernetes`: storage of clusters.

mod agent;
mod discover;
mod following;
mod image;
mod manifest;
mod merge;
mod one_of_several;
mod preflight;
mod run;
mod runs;

use plimsoll_kubernetes::cluster::{Access, Cluster};

use crate::{
    cli::kubernetes::{AccessArguments, KubernetesArguments, KubernetesCommand},
    environment_variables,
    exit::Exit,
    printer::Printer,
    state::State,
};

/// Does what the command line says.
pub(super) fn run(arguments: KubernetesArguments, state: &State, printer: Printer) -> anyhow::Result<Exit> {
    let KubernetesArguments { cluster, mut command } = arguments;
    if let Some(after) = command.cluster() {
        after.or(cluster);
    }
    match &command {
        KubernetesCommand::Discover(arguments) => discover::discover(arguments, printer),
        KubernetesCommand::Preflight(arguments) => preflight::preflight(arguments, printer),
        KubernetesCommand::Run(arguments) => run::run(arguments, state, printer),
        KubernetesCommand::Status(arguments) => runs::status(arguments, printer),
        KubernetesCommand::Collect(arguments) => runs::collect(arguments, state, printer),
        KubernetesCommand::Cleanup(arguments) => runs::cleanup(arguments, printer),
        KubernetesCommand::Image(command) => image::image(command, printer),
        KubernetesCommand::Manifest(command) => manifest::manifest(command, printer),
        KubernetesCommand::Agent(arguments) => agent::agent(arguments, printer),
        KubernetesCommand::Merge(arguments) => merge::merge(arguments, state, printer),
        KubernetesCommand::Ready => Ok(one_of_several::ready()),
    }
}

/// The cluster that is meant.
fn connect(arguments: &AccessArguments) -> anyhow::Result<Cluster> {
    let kubeconfig = match &arguments.kubeconfig {
        Some(file) => vec![file.clone()],
        None => environment_variables::kubeconfig_files(),
    };
    let (context, namespace) = (arguments.context.clone(), arguments.namespace.clone());
    Ok(Cluster::connect(&Access { kubeconfig, context, namespace })?)
}
