//! What is to be measured in a cluster, and in what kind of pod.

use std::collections::BTreeMap;

use jiff::Timestamp;
use uuid::Uuid;

use crate::error::ClusterError;

/// The label that every object of a run has, with the run's id.
pub const RUN_LABEL: &str = "plimsoll/run";

/// The label that tells whose objects they are.
pub(crate) const MANAGED_BY_LABEL: &str = "app.kubernetes.io/managed-by";
pub(crate) const OURS: &str = "plimsoll";

/// Where volumes are in the pod; targets are named by their paths below it.
pub const VOLUMES: &str = "/volumes";

/// The user and group of the pod, where the cluster does not choose them: any but root does.
pub(crate) const USER: u32 = 10001;

/// One run, in one pod or in several at the same time.
#[derive(Clone, Debug)]
pub struct PodRun {
    /// Identity of the run.
    pub id: Uuid,
    /// What is measured.
    pub volumes: Vec<VolumeAsked>,
    /// Whether the cluster makes new volumes with their pods, and removes them with these.
    pub is_ephemeral: bool,
    /// What the cluster calls the pod of the Job, once it is there: claims of ephemeral volumes are named after pods.
    pub first_pod: Option<String>,
    /// How many pods measure, each its own new volumes.
    pub pods: PodCount,
    /// Whether all pods use the same files in the volumes that they share.
    pub shares_files: bool,
    /// Where pods may go.
    pub placement: Placement,
    /// What the pod runs.
    pub image: ImageAsked,
    /// What the pod may use.
    pub resources: Resources,
    /// Whether the cluster chooses users, so that the pod must not.
    pub assigns_users: bool,
    /// Whether the program is root in its container, because devices belong to root there.
    pub runs_as_root: bool,
    /// The user and group that it is otherwise, where somebody says it.
    pub user: Option<u32>,
    /// The group that all files of the volumes are given, where somebody says it.
    pub file_group: Option<u32>,
    /// What the program in the pod is to do: a plan file.
    pub plan: String,
    /// The user's own file of limits, where there is one.
    pub limits: Option<String>,
    /// How long the objects of a run that is over stay when nobody removes them.
    pub keep_s: u32,
    /// How long its pods may take to start.
    pub start_s: u32,
    /// When the cluster ends a run that nobody ended.
    pub deadline_s: u32,
}

/// How many pods measure at the same time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PodCount {
    /// On so many nodes.
    pub nodes: u32,
    /// On each of them.
    pub per_node: u32,
    /// How they agree when to begin, where there are several.
    pub start: StartBy,
    /// Whether each measures another volume than the others at the same time, in turns.
    pub take_turns: bool,
}

/// How several pods agree when to begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StartBy {
    /// They watch an object, which says it when all are ready.
    Watching,
    /// At this time of day, ready or not.
    Time(Timestamp),
}

impl PodCount {
    /// One pod, which waits for nobody.
    pub const ONE: Self = Self { nodes: 1, per_node: 1, start: StartBy::Watching, take_turns: false };

    /// All of them.
    pub const fn all(&self) -> u32 {
        self.nodes.saturating_mul(self.per_node)
    }

    /// Whether there are several.
    pub const fn are_several(&self) -> bool {
        self.all() > 1
    }
}

/// A volume to measure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VolumeAsked {
    /// What the target is called.
    pub target: String,
    /// Where it comes from.
    pub source: VolumeSource,
    /// With a file system, or as a device.
    pub mode: VolumeMode,
    /// Who may use it.
    pub access: AccessMode,
}

/// Where a volume comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum VolumeSource {
    /// It is made for the run.
    Class {
        /// The StorageClass.
        class: String,
        /// How large it is to be.
        size_bytes: u64,
    },
    /// It is there, and stays.
    Claim {
        /// The claim.
        name: String,
    },
}

/// What a volume is to the pod.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum VolumeMode {
    /// A directory.
    #[default]
    Filesystem,
    /// A device.
    Block,
}

impl VolumeMode {
    /// What Kubernetes calls it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Filesystem => "Filesystem",
            Self::Block => "Block",
        }
    }
}

/// How many may use a volume.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AccessMode {
    /// One node.
    #[default]
    ReadWriteOnce,
    /// Several nodes.
    ReadWriteMany,
}

impl AccessMode {
    /// What Kubernetes calls it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::ReadWriteOnce => "ReadWriteOnce",
            Self::ReadWriteMany => "ReadWriteMany",
        }
    }
}

/// Where a pod may go.
#[derive(Clone, Debug, Default)]
pub struct Placement {
    /// On this node only.
    pub node: Option<String>,
    /// On nodes with these labels.
    pub selector: BTreeMap<String, String>,
    /// Taints that do not keep it away: `key=value:effect`, `key:effect` or `key`.
    pub tolerations: Vec<Toleration>,
    /// Its priority.
    pub priority_class: Option<String>,
}

/// A taint that does not keep the pod away.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Toleration {
    /// The key; empty for all taints.
    pub key: String,
    /// The value; any when absent.
    pub value: Option<String>,
    /// The effect; any when absent.
    pub effect: Option<String>,
}

impl std::str::FromStr for Toleration {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (taint, effect) = match text.rsplit_once(':') {
            Some((taint, effect)) => (taint, Some(effect)),
            None => (text, None),
        };
        if let Some(effect) = effect
            && !["NoSchedule", "PreferNoSchedule", "NoExecute"].contains(&effect)
        {
            return Err(format!("there is no effect \"{effect}\": NoSchedule, PreferNoSchedule or NoExecute"));
        }
        let (key, value) = match taint.split_once('=') {
            Some((key, value)) => (key, Some(value)),
            None => (taint, None),
        };
        if key.is_empty() && (value.is_some() || effect.is_none()) {
            return Err("write KEY=VALUE:EFFECT, KEY:EFFECT, KEY, or :EFFECT for all taints of an effect".to_owned());
        }
        Ok(Self { key: key.to_owned(), value: value.map(str::to_owned), effect: effect.map(str::to_owned) })
    }
}

/// What the pod runs.
#[derive(Clone, Debug)]
pub struct ImageAsked {
    /// The image.
    pub name: String,
    /// `Always`, `IfNotPresent` or `Never`.
    pub pull_policy: String,
    /// Secrets to pull it with.
    pub pull_secrets: Vec<String>,
}

/// What the pod may use, as Kubernetes writes it.
#[derive(Clone, Debug)]
pub struct Resources {
    /// Processors that it asks for.
    pub cpu: String,
    /// Processors that it is limited to: none unless somebody insists.
    pub cpu_limit: Option<String>,
    /// Memory that it asks for, and is limited to.
    pub memory: String,
    /// The seccomp profile: `RuntimeDefault`, `Unconfined`, or the file of a profile on the nodes.
    pub seccomp: Seccomp,
}

/// A seccomp profile.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Seccomp {
    /// The container runtime's.
    #[default]
    RuntimeDefault,
    /// None.
    Unconfined,
    /// A file on the nodes.
    Localhost(String),
}

impl std::str::FromStr for Seccomp {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.split_once(':') {
            None if text == "RuntimeDefault" => Ok(Self::RuntimeDefault),
            None if text == "Unconfined" => Ok(Self::Unconfined),
            Some(("Localhost", file)) if !file.is_empty() => Ok(Self::Localhost(file.to_owned())),
            _ => Err("write RuntimeDefault, Unconfined or Localhost:FILE".to_owned()),
        }
    }
}

/// What names of Jobs begin with.
pub(crate) const JOB_PREFIX: &str = "plimsoll-";

/// So many of the last digits of its id does the name of a Job have.
pub(crate) const ID_END: usize = 12;

/// The name of a run's Job.
pub(crate) fn job_name(id: Uuid) -> String {
    let id = id.simple().to_string();
    format!("{JOB_PREFIX}{}", &id[id.len() - ID_END..])
}

impl PodRun {
    /// The name of the run's objects. The end of an id is what differs.
    pub fn name(&self) -> String {
        job_name(self.id)
    }

    /// The claim of a volume of a pod.
    pub fn claim(&self, pod: u32, index: usize) -> String {
        match &self.volumes[index].source {
            VolumeSource::Claim { name } => name.clone(),
            VolumeSource::Class { .. } if self.is_ephemeral => {
                // No name has a question mark: until the pod is there, there is no claim either.
                let unknown = || format!("{}-?", self.name());
                let first = || self.first_pod.clone().unwrap_or_else(unknown);
                let of_pod = if pod == 0 { first() } else { self.pod_name(pod) };
                format!("{of_pod}-{}", volume_name(index))
            }
            VolumeSource::Class { .. } if pod == 0 || self.is_shared(index) => format!("{}-{index}", self.name()),
            VolumeSource::Class { .. } => format!("{}-{index}-{pod}", self.name()),
        }
    }

    /// The claims of a pod, in the order of the volumes.
    pub fn claims_of(&self, pod: u32) -> Vec<String> {
        (0..self.volumes.len()).map(|index| self.claim(pod, index)).collect()
    }

    /// All claims with the volumes that they are for, in the order of the volumes.
    pub fn claims(&self) -> Vec<(usize, String)> {
        let of = |index: usize| {
            let pods = if self.is_shared(index) { 1 } else { self.pods.all() };
            (0..pods).map(move |pod| (index, self.claim(pod, index)))
        };
        (0..self.volumes.len()).flat_map(of).collect()
    }

    /// Those that are made for the run, by whomever.
    pub fn made_claims(&self) -> Vec<String> {
        let made = self.claims().into_iter().filter(|(index, _)| self.is_made(*index));
        made.map(|(_, claim)| claim).collect()
    }

    /// Whether all pods have the same volume of this kind, instead of one each.
    pub fn is_shared(&self, index: usize) -> bool {
        !self.is_made(index) || (self.volumes[index].access == AccessMode::ReadWriteMany && !self.is_ephemeral)
    }

    /// The names of pods but the first, whose Job names it.
    pub fn pod_name(&self, pod: u32) -> String {
        format!("{}-pod-{pod}", self.name())
    }

    /// Whether a volume is made for the run.
    pub fn is_made(&self, index: usize) -> bool {
        matches!(self.volumes[index].source, VolumeSource::Class { .. })
    }
}

/// What a volume is called in the pod.
pub(crate) fn volume_name(index: usize) -> String {
    format!("volume-{index}")
}

/// The volumes of classes and sizes, each class in each size, then the claims that are there; named so that a reader
/// sees what differs.
pub fn volumes(
    classes: &[String],
    sizes_bytes: &[u64],
    claims: &[String],
    mode: VolumeMode,
    access: AccessMode,
) -> Result<Vec<VolumeAsked>, ClusterError> {
    if sizes_bytes.contains(&0) && !classes.is_empty() {
        return Err(ClusterError::Usage("a volume of 0 bytes holds nothing: give --size more".to_owned()));
    }
    let mut volumes = Vec::new();
    for class in classes {
        for &size_bytes in sizes_bytes {
            let target =
                if sizes_bytes.len() > 1 { format!("{class}-{}", quantity(size_bytes)) } else { class.clone() };
            let source = VolumeSource::Class { class: class.clone(), size_bytes };
            volumes.push(VolumeAsked { target, source, mode, access });
        }
    }
    for name in claims {
        let source = VolumeSource::Claim { name: name.clone() };
        volumes.push(VolumeAsked { target: name.clone(), source, mode, access });
    }
    for (index, volume) in volumes.iter().enumerate() {
        let target = &volume.target;
        if volumes[..index].iter().any(|earlier| earlier.target == *target) {
            return Err(ClusterError::Usage(format!("{target} is given twice: name each class, size and claim once")));
        }
        let (VolumeSource::Class { class: name, .. } | VolumeSource::Claim { name }) = &volume.source;
        if !is_name(name) || target.len() > 253 {
            return Err(ClusterError::Usage(format!(
                "\"{name}\" is no name of Kubernetes: small letters, digits, dots and hyphens are"
            )));
        }
    }
    Ok(volumes)
}

/// Whether Kubernetes takes it for the name of a class or a claim.
fn is_name(text: &str) -> bool {
    let is_small = |character: char| character.is_ascii_lowercase() || character.is_ascii_digit();
    let is_word = |word: &str| {
        word.starts_with(is_small)
            && word.ends_with(is_small)
            && word.chars().all(|character| is_small(character) || character == '-')
    };
    text.split('.').all(is_word)
}

/// A size as Kubernetes writes it, in the largest unit that it is a whole number of.
pub fn quantity(bytes: u64) -> String {
    let units = [(1 << 40, "Ti"), (1 << 30, "Gi"), (1 << 20, "Mi"), (1 << 10, "Ki")];
    match units.iter().find(|(unit, _)| bytes >= *unit && bytes.is_multiple_of(*unit)) {
        Some((unit, name)) => format!("{}{name}", bytes / unit),
        None => bytes.to_string(),
    }
}

/// Runs for tests.
#[cfg(test)]
pub(crate) mod test_runs {
    use super::*;

    /// A run of a volume of each class, of so many gibibytes.
    pub(crate) fn run(classes: &[&str], gib: u64) -> PodRun {
        let classes: Vec<String> = classes.iter().map(|class| (*class).to_owned()).collect();
        let (mode, access) = (VolumeMode::Filesystem, AccessMode::ReadWriteOnce);
        pod_run(volumes(&classes, &[gib << 30], &[], mode, access).expect("classes differ"))
    }

    /// A run with everything that most runs have.
    pub(crate) fn pod_run(volumes: Vec<VolumeAsked>) -> PodRun {
        PodRun {
            id: Uuid::from_u128(0x01a2_0451_96fb_7259_8ace_7b5e_2136_5415),
            volumes,
            is_ephemeral: false,
            first_pod: None,
            pods: PodCount::ONE,
            shares_files: false,
            placement: Placement::default(),
            image: ImageAsked {
                name: "registry.example/plimsoll:1".to_owned(),
                pull_policy: "IfNotPresent".to_owned(),
                pull_secrets: Vec::new(),
            },
            resources: Resources {
                cpu: "500m".to_owned(),
                cpu_limit: None,
                memory: "1Gi".to_owned(),
                seccomp: Seccomp::RuntimeDefault,
            },
            assigns_users: false,
            runs_as_root: false,
            user: None,
            file_group: None,
            plan: "targets = [\"slow\"]\n".to_owned(),
            limits: None,
            keep_s: 3600,
            start_s: 300,
            deadline_s: 86400,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(words: &[&str]) -> Vec<String> {
        words.iter().map(|word| (*word).to_owned()).collect()
    }

    #[test]
    fn targets_are_named_by_what_differs() {
        let names = |classes: &[&str], sizes: &[u64], claims: &[&str]| {
            let (mode, access) = (VolumeMode::Filesystem, AccessMode::ReadWriteOnce);
            let volumes = volumes(&words(classes), sizes, &words(claims), mode, access).unwrap();
            volumes.into_iter().map(|volume| volume.target).collect::<Vec<_>>()
        };
        assert_eq!(names(&["slow", "fast"], &[8 << 30], &["data"]), ["slow", "fast", "data"]);
        assert_eq!(names(&["slow"], &[8 << 30, 1 << 40], &[]), ["slow-8Gi", "slow-1Ti"]);
    }

    #[test]
    fn names_that_would_collide_or_are_none_are_refused() {
        let try_it = |classes: &[&str]| {
            volumes(&words(classes), &[1], &[], VolumeMode::Block, AccessMode::ReadWriteMany).unwrap_err().to_string()
        };
        assert!(try_it(&["a", "a"]).contains("given twice"));
        for name in ["", "a/b", "../x", "-a", "a b", "A.b", "a-", "a.", "a..b", "a.-b", &"a".repeat(254)] {
            assert!(try_it(&[name]).contains("no name of Kubernetes"), "{name}");
        }
        let claim = volumes(&[], &[], &words(&["Data"]), VolumeMode::Block, AccessMode::ReadWriteMany);
        assert!(claim.is_err(), "{claim:?}");
    }

    #[test]
    fn sizes_are_whole_in_the_largest_unit() {
        for (bytes, text) in [(8 << 30, "8Gi"), (1536 << 20, "1536Mi"), (1000, "1000"), (2 << 40, "2Ti"), (0, "0")] {
            assert_eq!(quantity(bytes), text);
        }
    }

    #[test]
    fn tolerations_are_what_kubectl_taint_writes() {
        let parsed = |text: &str| text.parse::<Toleration>();
        let toleration = |key: &str, value: Option<&str>, effect: Option<&str>| Toleration {
            key: key.to_owned(),
            value: value.map(str::to_owned),
            effect: effect.map(str::to_owned),
        };
        assert_eq!(parsed("a=b:NoSchedule"), Ok(toleration("a", Some("b"), Some("NoSchedule"))));
        assert_eq!(parsed("a:NoExecute"), Ok(toleration("a", None, Some("NoExecute"))));
        assert_eq!(parsed("a/b"), Ok(toleration("a/b", None, None)));
        assert_eq!(parsed(":NoSchedule"), Ok(toleration("", None, Some("NoSchedule"))));
        assert!(parsed("a:Never").is_err() && parsed("").is_err() && parsed("=b").is_err());
    }
}
