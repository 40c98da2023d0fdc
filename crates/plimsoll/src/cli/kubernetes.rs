//! Arguments of `plimsoll kubernetes`.

pub mod image;
pub mod lifecycle;
pub mod manifest;

use std::path::PathBuf;

use clap::{
    ArgMatches, Args, Command, Error, FromArgMatches, Subcommand,
    builder::{PossibleValuesParser, TypedValueParser},
};
use plimsoll_catalog::quantity::Quantity;
use plimsoll_image::image::Label;
use plimsoll_kubernetes::request::{AccessMode, Seccomp, Toleration, VolumeMode};
use plimsoll_workload::units::{ByteCount, Span, ValueError};
use uuid::Uuid;

use super::{
    provisioned::ProvisionedArguments,
    run::{self, MeasuringArguments},
};

const CLUSTER: &str = "Cluster";
const VOLUMES: &str = "Volumes";
const POD: &str = "Pod";

/// The image that `plimsoll kubernetes image` makes.
pub const IMAGE: &str = Label::RELEASE.name;

/// Arguments of `plimsoll kubernetes`.
#[derive(Args, Debug)]
pub struct KubernetesArguments {
    /// Which cluster, for who says it before the command. What stands behind the command comes first.
    #[command(flatten)]
    pub cluster: AccessArguments,
    /// What to do.
    #[command(subcommand)]
    pub command: KubernetesCommand,
}

/// Commands about clusters.
#[derive(Debug, Subcommand)]
pub enum KubernetesCommand {
    /// List StorageClasses, drivers and nodes, with what volumes should deliver; changes nothing
    Discover(DiscoverArguments),
    /// Say whether a run would work, and which rights are missing; makes nothing
    Preflight(Box<PreflightArguments>),
    /// Measure a volume of each class, in a pod or in several, from claim to last byte
    Run(Box<KubernetesRunArguments>),
    /// Time many volumes from claim to gone without measuring rates: attached again, moved, grown, copied
    Lifecycle(Box<lifecycle::LifecycleArguments>),
    /// List the runs of a namespace, whoever started them
    Status(StatusArguments),
    /// Get the results of a run that is there, waiting for its end, and remove it
    Collect(CollectArguments),
    /// Remove what runs made and nobody removed
    Cleanup(CleanupArguments),
    /// Make the image that pods run, of this program
    #[command(subcommand)]
    Image(image::ImageCommand),
    /// Print a Job for diskspd on Windows, or for SQL Server
    #[command(subcommand)]
    Manifest(manifest::ManifestCommand),
    /// Put the results of a run together from logs of its pods that somebody has kept
    Merge(MergeArguments),
    /// Measure in a pod, and tell the client by the log
    #[command(hide = true)]
    Agent(AgentArguments),
    /// Say by the exit code whether a pod is ready to measure
    #[command(hide = true)]
    Ready,
    /// Have a volume in a pod until it is ended
    #[command(hide = true)]
    Live(LiveArguments),
}

impl KubernetesCommand {
    /// Whether it puts runs into a history.
    pub const fn keeps_runs(&self) -> bool {
        matches!(self, Self::Run(_) | Self::Lifecycle(_) | Self::Collect(_) | Self::Merge(_))
    }

    /// Which cluster, for commands about one.
    pub fn cluster(&mut self) -> Option<&mut AccessArguments> {
        match self {
            Self::Discover(arguments) => Some(&mut arguments.cluster),
            Self::Preflight(arguments) => Some(&mut arguments.cluster),
            Self::Run(arguments) => Some(&mut arguments.cluster),
            Self::Lifecycle(arguments) => Some(&mut arguments.cluster),
            Self::Status(arguments) => Some(&mut arguments.cluster),
            Self::Collect(arguments) => Some(&mut arguments.cluster),
            Self::Cleanup(arguments) => Some(&mut arguments.cluster),
            Self::Image(_) | Self::Manifest(_) | Self::Merge(_) | Self::Agent(_) | Self::Ready | Self::Live(_) => None,
        }
    }
}

/// Arguments of `plimsoll kubernetes discover`.
#[derive(Args, Debug)]
#[command(
    after_help = "What may not be looked at is named, with what is lost; docs/kubernetes.md has the rights that it \
                  takes, and the fields of --json."
)]
pub struct DiscoverArguments {
    /// How large the volumes are that something is expected of
    #[arg(long, value_name = "SIZE", default_value = "8Gi", help_heading = VOLUMES)]
    pub size: ByteCount,
    /// Read limits of one's own from this file instead of the user's limits.toml
    #[arg(long, value_name = "FILE", help_heading = VOLUMES)]
    pub limits: Option<PathBuf>,
    /// Which cluster.
    #[command(flatten)]
    pub cluster: AccessArguments,
    /// Print JSON
    #[arg(long, help_heading = run::OUTPUT)]
    pub json: bool,
}

/// Arguments of `plimsoll kubernetes merge`.
#[derive(Args, Debug)]
#[command(
    after_help = "A log is what `kubectl logs POD` prints; lines may have times and names before them. One log is one \
                  pod, and the run is whole with those of all its pods. What only the client knew, the lives of volumes for example, is in no log."
)]
pub struct MergeArguments {
    /// The logs, one for each pod of the run; `-` is standard input
    #[arg(value_name = "LOG", required = true)]
    pub logs: Vec<PathBuf>,
    /// Print the record as JSON
    #[arg(long, help_heading = run::OUTPUT)]
    pub json: bool,
}

/// Arguments of the program in the pod.
#[derive(Args, Debug)]
pub struct AgentArguments {
    /// Identity of the run.
    #[arg(long)]
    pub run: Uuid,
}

/// Arguments of the program in the pods of lives; without any it only waits.
#[derive(Args, Debug)]
pub struct LiveArguments {
    /// Identity of the run.
    #[arg(long)]
    pub run: Uuid,
    /// The volume.
    #[arg(long, requires = "mark")]
    pub target: Option<PathBuf>,
    /// What it is known by.
    #[arg(long, requires = "target")]
    pub mark: Option<String>,
    /// Whether that has to be in it already.
    #[arg(long)]
    pub find: bool,
}

/// Arguments of `plimsoll kubernetes status`.
#[derive(Args, Debug)]
pub struct StatusArguments {
    /// Which cluster.
    #[command(flatten)]
    pub cluster: AccessArguments,
    /// Print JSON
    #[arg(long, help_heading = run::OUTPUT)]
    pub json: bool,
}

/// Arguments of `plimsoll kubernetes collect`.
#[derive(Args, Debug)]
pub struct CollectArguments {
    /// The run: the beginning of its id, or its Job
    pub run: String,
    /// Leave everything in the cluster, so that it can be collected again
    #[arg(long)]
    pub leave: bool,
    /// Which cluster.
    #[command(flatten)]
    pub cluster: AccessArguments,
    /// How long the pod may take to start
    #[arg(long, value_name = "TIME", value_parser = some_time, default_value = "10m", help_heading = POD, hide_short_help = true)]
    pub start_timeout: Span,
    /// How long to wait until everything is gone
    #[arg(long, value_name = "TIME", default_value = "5m", help_heading = POD, hide_short_help = true)]
    pub cleanup_timeout: Span,
    /// Print the record as JSON
    #[arg(long, help_heading = run::OUTPUT)]
    pub json: bool,
}

/// Arguments of `plimsoll kubernetes cleanup`.
#[derive(Args, Debug)]
pub struct CleanupArguments {
    /// The runs: beginnings of their ids, or their Jobs
    #[arg(value_name = "RUN")]
    pub runs: Vec<String>,
    /// Remove every run of the namespace, those that are going on too
    #[arg(long, conflicts_with = "runs")]
    pub all: bool,
    /// Which cluster.
    #[command(flatten)]
    pub cluster: AccessArguments,
    /// How long to wait until everything is gone
    #[arg(long, value_name = "TIME", default_value = "5m", help_heading = POD, hide_short_help = true)]
    pub cleanup_timeout: Span,
}

/// Which cluster.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = CLUSTER)]
pub struct AccessArguments {
    /// The file that describes the cluster [default: KUBECONFIG, ~/.kube/config, or the pod's service account]
    #[arg(long, value_name = "FILE")]
    pub kubeconfig: Option<PathBuf>,
    /// Which context of that file [default: the current one]
    #[arg(long, value_name = "NAME")]
    pub context: Option<String>,
    /// In which namespace [default: the context's]
    #[arg(long, short, value_name = "NAME")]
    pub namespace: Option<String>,
}

impl AccessArguments {
    /// Takes what is not said here from what was said elsewhere.
    pub fn or(&mut self, other: Self) {
        let Self { kubeconfig, context, namespace } = other;
        self.kubeconfig = self.kubeconfig.take().or(kubeconfig);
        self.context = self.context.take().or(context);
        self.namespace = self.namespace.take().or(namespace);
    }
}

/// Which volumes.
#[derive(Args, Clone, Debug)]
pub struct VolumeArguments {
    /// Measure a new volume of each of these classes
    #[arg(long, value_name = "CLASS", value_delimiter = ',', help_heading = VOLUMES)]
    pub storage_class: Vec<String>,
    /// Measure these claims, which are there and stay
    #[arg(long, value_name = "CLAIM", value_delimiter = ',', help_heading = VOLUMES)]
    pub pvc: Vec<String>,
    /// How large new volumes are to be; of several sizes, each class in each [default: 8Gi]
    #[arg(id = "volume_size", long = "size", value_name = "SIZE", value_delimiter = ',', help_heading = VOLUMES)]
    pub volume_size: Vec<ByteCount>,
    /// Volumes for one node, or for many
    #[arg(long, default_value = "rwo", value_parser = access_modes(), help_heading = VOLUMES)]
    pub access: AccessMode,
    /// Have the cluster make new volumes with their pods, for who may not create claims
    #[arg(long, help_heading = VOLUMES)]
    pub ephemeral: bool,
    /// Volumes with a file system, or as devices
    #[arg(long, default_value = "filesystem", value_parser = volume_modes(), help_heading = VOLUMES)]
    pub mode: VolumeMode,
}

/// Where pods go, and what they run.
#[derive(Args, Clone, Debug)]
pub struct PlaceArguments {
    /// On this node
    #[arg(long, value_name = "NODE", help_heading = POD)]
    pub node: Option<String>,
    /// On a node with this label; may be repeated
    #[arg(long, short = 'l', value_name = "KEY=VALUE", value_parser = label, help_heading = POD)]
    pub node_selector: Vec<(String, String)>,
    /// On nodes with this taint too: KEY=VALUE:EFFECT, KEY:EFFECT, KEY or :EFFECT; may be repeated
    #[arg(long, value_name = "TAINT", help_heading = POD, hide_short_help = true)]
    pub toleration: Vec<Toleration>,
    /// The pod's priority
    #[arg(long, value_name = "NAME", help_heading = POD, hide_short_help = true)]
    pub priority_class: Option<String>,
    /// The image with plimsoll: `plimsoll kubernetes image` makes it
    #[arg(long, default_value = IMAGE, help_heading = POD)]
    pub image: String,
    /// Put this before the image's name, up to its last part
    #[arg(long, value_name = "REGISTRY", help_heading = POD, hide_short_help = true)]
    pub registry_prefix: Option<String>,
    /// When to pull it
    #[arg(long, default_value = "IfNotPresent", value_parser = ["Always", "IfNotPresent", "Never"], help_heading = POD, hide_short_help = true)]
    pub image_pull_policy: String,
    /// A secret to pull it with; may be repeated
    #[arg(long, value_name = "SECRET", help_heading = POD, hide_short_help = true)]
    pub image_pull_secret: Vec<String>,
    /// The seccomp profile: RuntimeDefault, Unconfined or Localhost:FILE
    #[arg(long, value_name = "PROFILE", default_value = "RuntimeDefault", help_heading = POD, hide_short_help = true)]
    pub seccomp: Seccomp,
    /// Run as root, without any of its privileges: many clusters give devices to root alone
    #[arg(long, help_heading = POD, hide_short_help = true)]
    pub run_as_root: bool,
}

/// In which pod.
#[derive(Args, Clone, Debug)]
pub struct PodArguments {
    /// Where, and with what.
    #[command(flatten)]
    pub place: PlaceArguments,
    /// Measure on so many nodes at the same time, a pod with volumes of its own on each [default: 1]
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u32).range(1..=5000), conflicts_with = "all_nodes", help_heading = POD)]
    pub nodes: Option<u32>,
    /// Measure on every node that takes the pod
    #[arg(long, conflicts_with = "node", help_heading = POD)]
    pub all_nodes: bool,
    /// So many pods on each node
    #[arg(long, value_name = "NUMBER", default_value = "1", value_parser = clap::value_parser!(u32).range(1..=250), help_heading = POD)]
    pub pods_per_node: u32,
    /// Measure another class on each node at the same time, in turns: as many nodes as there are volumes to compare
    #[arg(long, conflicts_with_all = ["node", "pods_per_node", "shared_file"], help_heading = POD)]
    pub parallel: bool,
    /// Have all pods use the same file in a volume that they share, instead of one each
    #[arg(long, help_heading = POD)]
    pub shared_file: bool,
    /// Have several pods begin this long after they were made, instead of when all are ready
    #[arg(long, value_name = "TIME", help_heading = POD, hide_short_help = true)]
    pub start_after: Option<Span>,
    /// Processors that the pod asks for
    #[arg(long, value_name = "QUANTITY", value_parser = quantity, default_value = "500m", help_heading = POD, hide_short_help = true)]
    pub cpu: String,
    /// Processors that the pod is limited to: what is throttled measures the limit [default: none]
    #[arg(long, value_name = "QUANTITY", value_parser = quantity, help_heading = POD, hide_short_help = true)]
    pub cpu_limit: Option<String>,
    /// Memory that the pod asks for and is limited to
    #[arg(long, value_name = "QUANTITY", value_parser = quantity, default_value = "1Gi", help_heading = POD, hide_short_help = true)]
    pub memory: String,
    /// Run as this user and group: who owns what is in a claim of --pvc [default: 10001]
    #[arg(long, value_name = "UID", value_parser = clap::value_parser!(u32).range(1..), conflicts_with = "run_as_root", help_heading = POD, hide_short_help = true)]
    pub run_as_user: Option<u32>,
    /// Give every file in the volumes to this group, which may write then: changes who owns what is in claims of --pvc
    /// [default: the user's group where all volumes are new, otherwise none]
    #[arg(long, value_name = "GID", value_parser = clap::value_parser!(u32).range(1..), help_heading = POD, hide_short_help = true)]
    pub fs_group: Option<u32>,
}

/// Arguments of `plimsoll kubernetes preflight`.
#[derive(Args, Debug)]
#[command(
    after_help = "Give it the flags for volumes and pods that the run is to have. Everything that it looks at stays as it is: what it asks \
                  the cluster to make, it asks in dry runs. It ends with 0 when a run would work, and with 1 when not. \
                  Missing rights are added by `plimsoll kubernetes preflight --rules | kubectl auth reconcile -f -`, \
                  by somebody who has them."
)]
pub struct PreflightArguments {
    /// Which volumes.
    #[command(flatten)]
    pub volumes: VolumeArguments,
    /// In which pod.
    #[command(flatten)]
    pub pod: PodArguments,
    /// Which cluster.
    #[command(flatten)]
    pub cluster: AccessArguments,
    /// Print only the rules that are missing, as YAML
    #[arg(long, conflicts_with = "json", help_heading = run::OUTPUT)]
    pub rules: bool,
    /// Print JSON
    #[arg(long, help_heading = run::OUTPUT)]
    pub json: bool,
}

/// Arguments of `plimsoll kubernetes run`.
#[derive(Args, Debug)]
#[command(
    after_help = "Targets are named by their classes. Everything that the run makes in the cluster belongs to one Job, \
                  and is removed at the end; should plimsoll be killed, the cluster removes it when its time is over."
)]
pub struct KubernetesRunArguments {
    /// Which volumes.
    #[command(flatten)]
    pub volumes: VolumeArguments,
    /// Permit writing to the device of this claim; its content is lost; may be repeated
    #[arg(long, value_name = "CLAIM", help_heading = VOLUMES, hide_short_help = true)]
    pub destroy: Vec<String>,

    /// What to measure, and how sure to be.
    #[command(flatten)]
    pub measuring: PodMeasuringArguments,
    /// What was bought.
    #[command(flatten)]
    pub provisioned: ProvisionedArguments,

    /// Which cluster.
    #[command(flatten)]
    pub cluster: AccessArguments,

    /// In which pod.
    #[command(flatten)]
    pub pod: PodArguments,
    /// How long the pod may take to start
    #[arg(long, value_name = "TIME", value_parser = some_time, default_value = "10m", help_heading = POD, hide_short_help = true)]
    pub start_timeout: Span,
    /// How long to wait until everything is gone
    #[arg(long, value_name = "TIME", default_value = "5m", help_heading = POD, hide_short_help = true)]
    pub cleanup_timeout: Span,
    /// When the cluster ends a run that nobody ended
    #[arg(long, value_name = "TIME", value_parser = some_time, default_value = "24h", help_heading = POD, hide_short_help = true)]
    pub deadline: Span,
    /// How long the cluster keeps what nobody removed after the end of the run
    #[arg(long, value_name = "TIME", default_value = "1h", help_heading = POD, hide_short_help = true)]
    pub keep: Span,

    /// Leave the run going on once it measures, and print its id: `plimsoll kubernetes collect` gets the results
    #[arg(long, help_heading = run::OUTPUT, conflicts_with_all = ["dry_run", "json"])]
    pub detach: bool,
    /// Print the objects that would be created, and create nothing
    #[arg(long, help_heading = run::OUTPUT)]
    pub dry_run: bool,
    /// How to print them
    #[arg(long, short, value_name = "FORMAT", default_value = "yaml", value_parser = ["yaml", "json"], requires = "dry_run", help_heading = run::OUTPUT)]
    pub output: String,
    /// Print the record as JSON
    #[arg(long, help_heading = run::OUTPUT)]
    pub json: bool,
    /// A name for the run, shown in the history
    #[arg(long, help_heading = run::OUTPUT)]
    pub name: Option<String>,
    /// A pair to find the run by; may be repeated
    #[arg(long = "tag", value_name = "KEY=VALUE", value_parser = run::tag, help_heading = run::OUTPUT, hide_short_help = true)]
    pub tags: Vec<(String, String)>,
}

/// What commands are timed with, which are not in pods: who asks for it is told so.
const OF_COMMANDS: [&str; 11] = [
    "command",
    "setup",
    "ready",
    "prepare",
    "verify_command",
    "conclude",
    "cleanup",
    "warmup",
    "timeout",
    "settle",
    "user",
];

/// The same flags as of `plimsoll run`; but `--size` is the volume's here, so the region has a name of its own.
#[derive(Debug)]
pub struct PodMeasuringArguments(pub MeasuringArguments);

impl PodMeasuringArguments {
    fn renamed(command: Command) -> Command {
        let command =
            OF_COMMANDS.into_iter().fold(command, |all, name| all.mut_arg(name, |argument| argument.hide(true)));
        command.mut_arg("size", |argument| argument.long("region")).mut_arg("plan", |argument| {
            let help = argument.get_long_help().map(ToString::to_string).unwrap_or_default();
            argument.long_help(help.replace("Targets of both are measured", "Its targets are those that flags name"))
        })
    }

    /// What is said of a plan, with the flags that it is asked for by here.
    pub fn in_these_flags(text: &str) -> String {
        text.replace("--size", "--region")
    }
}

impl FromArgMatches for PodMeasuringArguments {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        MeasuringArguments::from_arg_matches(matches).map(Self)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        self.0.update_from_arg_matches(matches)
    }
}

impl Args for PodMeasuringArguments {
    fn augment_args(command: Command) -> Command {
        Self::renamed(MeasuringArguments::augment_args(command))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::renamed(MeasuringArguments::augment_args_for_update(command))
    }
}

fn access_modes() -> impl TypedValueParser<Value = AccessMode> {
    PossibleValuesParser::new(["rwo", "rwx"]).map(|word| match word.as_str() {
        "rwx" => AccessMode::ReadWriteMany,
        _ => AccessMode::ReadWriteOnce,
    })
}

fn volume_modes() -> impl TypedValueParser<Value = VolumeMode> {
    PossibleValuesParser::new(["filesystem", "block"]).map(|word| match word.as_str() {
        "block" => VolumeMode::Block,
        _ => VolumeMode::Filesystem,
    })
}

/// A name that pods may have too, with what the cluster adds.
fn object_name(text: &str) -> Result<String, String> {
    let is_word = |character: char| character.is_ascii_lowercase() || character.is_ascii_digit();
    let is_name = text.starts_with(is_word) && text.ends_with(is_word);
    if is_name && text.len() <= 50 && text.chars().all(|character| is_word(character) || character == '-') {
        return Ok(text.to_owned());
    }
    Err("a name has at most 50 small letters, digits and - between them".to_owned())
}

/// A quantity as Kubernetes takes it, of something.
fn quantity(text: &str) -> Result<String, String> {
    match Quantity::read(text) {
        Some(quantity) if quantity > Quantity::default() => Ok(text.to_owned()),
        _ => Err("write an amount as Kubernetes does: 500m, 2 or 1Gi, and more than 0".to_owned()),
    }
}

/// A time in which something can be done; Kubernetes counts whole seconds.
fn some_time(text: &str) -> Result<Span, String> {
    let time: Span = text.parse().map_err(|error: ValueError| error.to_string())?;
    if time.ns == 0 { Err("0 leaves no time for anything: allow more".to_owned()) } else { Ok(time) }
}

fn label(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((key, value)) if !key.is_empty() => Ok((key.to_owned(), value.to_owned())),
        _ => Err("write a label of nodes as KEY=VALUE".to_owned()),
    }
}
