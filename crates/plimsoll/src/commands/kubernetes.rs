//! `plimsoll kubernetes`: storage of clusters.

mod agent;
mod discover;
mod following;
mod image;
mod lifecycle;
mod live;
mod manifest;
mod merge;
mod one_of_several;
mod preflight;
pub(super) mod run;
mod runs;

use anyhow::bail;
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
        KubernetesCommand::Lifecycle(arguments) => lifecycle::lifecycle(arguments, state, printer),
        KubernetesCommand::Status(arguments) => runs::status(arguments, printer),
        KubernetesCommand::Collect(arguments) => runs::collect(arguments, state, printer),
        KubernetesCommand::Cleanup(arguments) => runs::cleanup(arguments, printer),
        KubernetesCommand::Image(command) => image::image(command, printer),
        KubernetesCommand::Manifest(command) => manifest::manifest(command, printer),
        KubernetesCommand::Agent(arguments) => agent::agent(arguments, printer),
        KubernetesCommand::Merge(arguments) => merge::merge(arguments, state, printer),
        KubernetesCommand::Ready => Ok(one_of_several::ready()),
        KubernetesCommand::Live(arguments) => live::live(arguments, printer),
    }
}

/// The cluster that is meant.
pub(super) fn connect(arguments: &AccessArguments) -> anyhow::Result<Cluster> {
    let kubeconfig = match &arguments.kubeconfig {
        Some(file) => vec![file.clone()],
        None => environment_variables::kubeconfig_files(),
    };
    if let Some(namespace) = &arguments.namespace
        && !is_name(namespace)
    {
        bail!("\"{namespace}\" is no name of a namespace: small letters, digits and hyphens are, at most 63");
    }
    let (context, namespace) = (arguments.context.clone(), arguments.namespace.clone());
    Ok(Cluster::connect(&Access { kubeconfig, context, namespace })?)
}

/// Whether Kubernetes takes it as a name that stands in paths.
fn is_name(text: &str) -> bool {
    let is_inner = |character: char| character.is_ascii_lowercase() || character.is_ascii_digit() || character == '-';
    let edges = [text.chars().next(), text.chars().last()];
    (1..=63).contains(&text.len()) && text.chars().all(is_inner) && !edges.contains(&Some('-'))
}
