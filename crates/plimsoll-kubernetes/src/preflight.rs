//! Whether a run would work here, found out without making anything: what may be done, what the namespace allows, what
//! the cluster has, and what admission says to a dry run.
//!
//! This file asks; each topic has a file of pure functions that judge.

pub(crate) mod claims;
mod classes;
pub(crate) mod limit_ranges;
pub(crate) mod placement;
mod pod_security;
mod quotas;

use std::collections::BTreeMap;

use futures_util::future::join_all;
use k8s_openapi::api::{
    authentication::v1::SelfSubjectReview,
    authorization::v1::{ResourceAttributes, SelfSubjectAccessReview, SelfSubjectAccessReviewSpec},
    batch::v1::Job,
    core::v1::{LimitRange, Namespace, Node, PersistentVolumeClaim, Pod, ResourceQuota},
    storage::v1::{CSIDriver, CSINode, StorageClass, VolumeAttachment},
};
use kube::{
    Api, ResourceExt as _,
    api::{ObjectMeta, PostParams},
    core::Status,
};
use serde::Serialize;

use self::limit_ranges::Limits;
use crate::{
    cluster::Cluster,
    error::{ClusterError, not_allowed},
    looking::{Blindness, Seen, list, seen},
    manifests,
    request::PodRun,
    rights::{self, Need, Permission, RIGHTS, Right, Scope, Subject},
};

/// How a check ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// Nothing stands in the way.
    Ok,
    /// It could not be looked at.
    Unknown,
    /// A run would work, and not be what somebody expects.
    Warning,
    /// A run would not work.
    Fails,
}

impl State {
    /// The word for it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Unknown => "unknown",
            Self::Warning => "warning",
            Self::Fails => "fails",
        }
    }
}

/// One thing that was looked at.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Check {
    /// How it ended.
    pub state: State,
    /// What it is about.
    pub about: &'static str,
    /// What was found, and what to do.
    pub text: String,
}

impl Check {
    fn new(state: State, about: &'static str, text: impl Into<String>) -> Self {
        Self { state, about, text: text.into() }
    }
}

/// What was found out.
#[derive(Clone, Debug, Serialize)]
pub struct Preflight {
    /// The version of the API server.
    pub version: String,
    /// Where the run would be.
    pub namespace: String,
    /// Who asks.
    pub subject: Subject,
    /// Whether a run would work, as far as that can be known.
    pub would_work: bool,
    /// All that was looked at.
    pub checks: Vec<Check>,
    /// What may be done.
    pub permissions: Vec<Permission>,
    /// Objects that give what is missing, as YAML; empty when nothing is.
    pub rules: String,
}

/// What can be seen of what surrounds a run.
struct Surroundings {
    namespace: Seen<Namespace>,
    quotas: Seen<Vec<ResourceQuota>>,
    ranges: Seen<Vec<LimitRange>>,
    classes: Seen<Vec<StorageClass>>,
    nodes: Seen<Vec<Node>>,
    csi_nodes: Seen<Vec<CSINode>>,
    drivers: Seen<Vec<CSIDriver>>,
    attachments: Seen<Vec<VolumeAttachment>>,
    claims: Seen<Vec<PersistentVolumeClaim>>,
}

/// Finds out whether a run would work.
pub fn preflight(cluster: &Cluster, run: &PodRun) -> Result<Preflight, ClusterError> {
    cluster.wait_for(async {
        let subject = subject(cluster).await?;
        let mut permissions = permissions(cluster).await?;
        permissions.retain(|permission| is_needed(permission, run));
        let surroundings = Surroundings::look(cluster).await?;
        let mut checks = judge_rights(&permissions);
        checks.extend(surroundings.judge(cluster, run));
        if !matches!(&surroundings.namespace, Err(unseen) if unseen.why == Blindness::Absent) {
            checks.extend(admission(cluster, run, &permissions).await?);
        }
        let missing: Vec<Permission> =
            permissions.iter().filter(|permission| permission.is_allowed == Some(false)).copied().collect();
        Ok(Preflight {
            version: cluster.version().to_owned(),
            namespace: cluster.namespace().to_owned(),
            would_work: checks.iter().all(|check| check.state != State::Fails),
            rules: rights::rules(&missing, cluster.namespace(), &subject),
            subject,
            checks,
            permissions,
        })
    })
}

/// Who asks; nobody in particular where the cluster does not say.
async fn subject(cluster: &Cluster) -> Result<Subject, ClusterError> {
    let review = cluster.everywhere::<SelfSubjectReview>();
    let answer = review.create(&PostParams::default(), &SelfSubjectReview::default()).await;
    let said = seen("selfsubjectreviews", answer)?.ok();
    let user = said.and_then(|review| review.status?.user_info).unwrap_or_default();
    Ok(Subject { name: user.username.unwrap_or_default(), groups: user.groups.unwrap_or_default() })
}

/// What may be done of all that plimsoll does.
async fn permissions(cluster: &Cluster) -> Result<Vec<Permission>, ClusterError> {
    let asked = RIGHTS.iter().flat_map(|right| right.verbs.iter().map(move |verb| (right, *verb)));
    let reviews = cluster.everywhere::<SelfSubjectAccessReview>();
    let answers = asked.map(|(right, verb)| {
        let review = access_review(cluster.namespace(), right, verb);
        let reviews = &reviews;
        async move {
            let answer = reviews.create(&PostParams::default(), &review).await;
            let said = seen("selfsubjectaccessreviews", answer)?.ok();
            let status = said.and_then(|review| review.status);
            Ok(Permission { right, verb, is_allowed: status.map(|status| status.allowed) })
        }
    });
    join_all(answers).await.into_iter().collect()
}

/// Whether a run needs it: where the cluster makes claims with pods, nobody else makes or removes them.
fn is_needed(permission: &Permission, run: &PodRun) -> bool {
    let is_of_claims = permission.right.resource == "persistentvolumeclaims";
    !(run.is_ephemeral && is_of_claims && ["create", "delete"].contains(&permission.verb))
}

/// Whether the first verb of a right may be used; `None` when the cluster does not say.
async fn is_allowed(cluster: &Cluster, right: &Right) -> Option<bool> {
    let review = access_review(cluster.namespace(), right, right.verbs[0]);
    let answer = cluster.everywhere::<SelfSubjectAccessReview>().create(&PostParams::default(), &review).await;
    Some(answer.ok()?.status?.allowed)
}

/// Fails where it is certain that a right is missing without which nothing goes.
pub(crate) async fn demand(cluster: &Cluster, verb: &str, resource: &str) -> Result<(), ClusterError> {
    let Some(right) = rights::to(verb, resource) else { return Ok(()) };
    match is_allowed(cluster, right).await {
        Some(false) => Err(not_allowed(format!("{verb} {resource} in namespace {}", cluster.namespace()))),
        _ => Ok(()),
    }
}

fn access_review(namespace: &str, right: &Right, verb: &str) -> SelfSubjectAccessReview {
    let (resource, subresource) = match right.resource.split_once('/') {
        Some((resource, part)) => (resource, Some(part.to_owned())),
        None => (right.resource, None),
    };
    let is_here = right.scope == Scope::Namespace;
    SelfSubjectAccessReview {
        spec: SelfSubjectAccessReviewSpec {
            resource_attributes: Some(ResourceAttributes {
                group: Some(right.group.to_owned()),
                resource: Some(resource.to_owned()),
                subresource,
                verb: Some(verb.to_owned()),
                namespace: is_here.then(|| namespace.to_owned()),
                // A namespace is in itself, as far as rights are concerned.
                name: (resource == "namespaces").then(|| namespace.to_owned()),
                ..ResourceAttributes::default()
            }),
            ..SelfSubjectAccessReviewSpec::default()
        },
        ..SelfSubjectAccessReview::default()
    }
}

/// What missing rights mean: one check for all that are there, one for each kind that lacks some.
fn judge_rights(permissions: &[Permission]) -> Vec<Check> {
    const ABOUT: &str = "rights";
    let mut lacking = BTreeMap::<(Need, usize), Vec<&str>>::new();
    let mut unknown = 0;
    for permission in permissions {
        let at = RIGHTS.iter().position(|right| right == permission.right).unwrap_or_default();
        match permission.is_allowed {
            Some(true) => {}
            Some(false) => lacking.entry((permission.right.need, at)).or_default().push(permission.verb),
            None => unknown += 1,
        }
    }
    let mut checks = Vec::new();
    if unknown > 0 {
        let text = format!("the cluster does not say of {unknown} of {} whether they are there", permissions.len());
        checks.push(Check::new(State::Unknown, ABOUT, text));
    } else if lacking.keys().all(|(need, _)| *need != Need::Required) {
        checks.push(Check::new(State::Ok, ABOUT, "all that a run needs may be done"));
    }
    for ((need, at), verbs) in lacking {
        let Right { resource, lost, .. } = RIGHTS[at];
        let verbs = verbs.join(", ");
        checks.push(match need {
            Need::Required => Check::new(State::Fails, ABOUT, format!("{resource}: may not {verbs}")),
            Need::Optional => Check::new(State::Warning, ABOUT, format!("{resource}: may not {verbs}: {lost}")),
            Need::Looking => Check::new(State::Unknown, ABOUT, format!("{resource}: may not {verbs}: {lost}")),
        });
    }
    checks
}

impl Surroundings {
    async fn look(cluster: &Cluster) -> Result<Self, ClusterError> {
        let namespace = cluster.everywhere::<Namespace>().get(cluster.namespace()).await;
        Ok(Self {
            namespace: seen("namespaces", namespace)?,
            quotas: list(cluster.here::<ResourceQuota>(), "resourcequotas").await?,
            ranges: list(cluster.here::<LimitRange>(), "limitranges").await?,
            classes: list(cluster.everywhere::<StorageClass>(), "storageclasses").await?,
            nodes: list(cluster.everywhere::<Node>(), "nodes").await?,
            csi_nodes: list(cluster.everywhere::<CSINode>(), "csinodes").await?,
            drivers: list(cluster.everywhere::<CSIDriver>(), "csidrivers").await?,
            attachments: list(cluster.everywhere::<VolumeAttachment>(), "volumeattachments").await?,
            claims: list(cluster.here::<PersistentVolumeClaim>(), "persistentvolumeclaims").await?,
        })
    }

    /// Whatever could not be seen has been said where rights are.
    fn judge(&self, cluster: &Cluster, run: &PodRun) -> Vec<Check> {
        let mut checks = Vec::new();
        match &self.namespace {
            Ok(namespace) => {
                checks.extend(pod_security::judge(namespace.metadata.labels.as_ref(), run));
            }
            Err(unseen) if unseen.why == Blindness::Absent => {
                let text = format!("there is no namespace {}: create it, or name another with -n", cluster.namespace());
                checks.push(Check::new(State::Fails, "namespace", text));
            }
            Err(_) => {}
        }
        let limits = Limits::of(run, self.ranges.as_deref().unwrap_or_default());
        if self.ranges.is_ok() {
            checks.extend(limits.judge(run));
        }
        if let Ok(quotas) = &self.quotas {
            checks.extend(quotas::judge(quotas, run, &limits));
        }
        if let Ok(classes) = &self.classes {
            checks.extend(classes::judge(classes, self.drivers.as_deref().ok(), run));
        }
        if let Ok(there) = &self.claims {
            checks.extend(claims::judge(there, cluster.namespace(), run));
        }
        checks.extend(claims::devices(run));
        if let Ok(nodes) = &self.nodes {
            let classes = self.classes.as_deref().unwrap_or_default();
            let needed = classes::volumes_of_drivers(classes, self.drivers.as_deref().unwrap_or_default(), run);
            let (csi_nodes, attachments) = (self.csi_nodes.as_deref().ok(), self.attachments.as_deref().ok());
            let found = crate::nodes::describe(nodes, csi_nodes, attachments);
            checks.extend(placement::judge(nodes, &found, run, &needed));
        }
        checks
    }
}

/// What the API server says to the very objects of a run, when it is asked to make them and not to keep them.
async fn admission(cluster: &Cluster, run: &PodRun, permissions: &[Permission]) -> Result<Vec<Check>, ClusterError> {
    const ABOUT: &str = "dry run";
    let may_create = |resource: &str| {
        permissions.iter().any(|permission| {
            permission.right.resource == resource && permission.verb == "create" && permission.is_allowed == Some(true)
        })
    };
    let mut checks = Vec::new();
    let mut note = |what: String, answer: Result<Vec<String>, kube::Error>| {
        match answer {
            Ok(changes) if changes.is_empty() => {
                checks.push(Check::new(State::Ok, ABOUT, format!("{what} is admitted")));
            }
            Ok(changes) => {
                let text = format!("{what} is admitted, and changed: {}", changes.join("; "));
                checks.push(Check::new(State::Warning, ABOUT, text));
            }
            Err(kube::Error::Api(status)) => {
                checks.push(refused(ABOUT, &what, &status));
            }
            Err(error) => return Err(ClusterError::of(format!("try {what}"), &error)),
        }
        Ok(())
    };
    let job = manifests::job(run);
    if may_create("jobs") {
        note("the Job".to_owned(), try_it(cluster.here(), &job).await.map(|_| Vec::new()))?;
    }
    if may_create("pods") {
        let pod = pod_of(&job);
        let answer = try_it(cluster.here(), &pod).await;
        note("its pod".to_owned(), answer.map(|admitted| limit_ranges::changes(&pod, &admitted)))?;
    }
    if !run.is_ephemeral && may_create("persistentvolumeclaims") {
        for (target, claim) in claims_to_try(run) {
            let answer = try_it::<PersistentVolumeClaim>(cluster.here(), &claim).await;
            note(format!("the claim for {target}"), answer.map(|_| Vec::new()))?;
        }
    }
    Ok(checks)
}

/// A claim for each volume that is made, with its target: those of other pods than the first are like it.
fn claims_to_try(run: &PodRun) -> Vec<(String, PersistentVolumeClaim)> {
    let claims = manifests::claims(run, None);
    let of = |index: usize| {
        let claim = claims.iter().find(|claim| claim.name_any() == run.claim(0, index))?;
        Some((run.volumes[index].target.clone(), claim.clone()))
    };
    (0..run.volumes.len()).filter_map(of).collect()
}

/// What it means that the API server would not make something.
fn refused(about: &'static str, what: &str, status: &Status) -> Check {
    let message = if status.message.is_empty() { &status.reason } else { &status.message };
    // A webhook that does not say whether it changes anything elsewhere is not asked in a dry run.
    if message.contains("does not support dry run") {
        return Check::new(State::Unknown, about, format!("{what} cannot be tried: {message}"));
    }
    Check::new(State::Fails, about, format!("{what} is refused: {message}"))
}

/// Asks the API server to make something, and not to keep it.
async fn try_it<K>(api: Api<K>, object: &K) -> Result<K, kube::Error>
where
    K: Clone + std::fmt::Debug + Serialize + serde::de::DeserializeOwned,
{
    api.create(&PostParams { dry_run: true, ..PostParams::default() }, object).await
}

/// The pod that the Job would make.
fn pod_of(job: &Job) -> Pod {
    let template = job.spec.as_ref().map(|spec| spec.template.clone()).unwrap_or_default();
    let metadata = template.metadata.unwrap_or_default();
    let name = job.metadata.name.as_ref().map(|name| format!("{name}-preflight"));
    Pod { metadata: ObjectMeta { name, ..metadata }, spec: template.spec, ..Pod::default() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::request::{PodCount, test_runs::run};

    fn asked(is_allowed: impl Fn(&Right, &str) -> Option<bool>) -> Vec<Permission> {
        let of = |right: &'static Right| {
            let is_allowed = &is_allowed;
            right.verbs.iter().map(move |verb| Permission { right, verb, is_allowed: is_allowed(right, verb) })
        };
        RIGHTS.iter().flat_map(of).collect()
    }

    #[test]
    fn a_run_fails_without_what_it_needs_and_only_knows_less_without_the_rest() {
        let all = judge_rights(&asked(|_, _| Some(true)));
        assert_eq!((all.len(), all[0].state), (1, State::Ok));
        let without = judge_rights(&asked(|right, verb| Some(right.resource != "pods" || verb != "patch")));
        assert_eq!((without.len(), without[0].state), (1, State::Fails));
        assert_eq!(without[0].text, "pods: may not patch");
        let here = judge_rights(&asked(|right, _| Some(right.scope == Scope::Namespace)));
        assert_eq!(here[0].state, State::Ok);
        assert!(here[1..].iter().all(|check| check.state == State::Warning || check.state == State::Unknown));
        assert!(here.iter().any(|check| check.text.contains("attaching")), "it says what is lost");
        assert_eq!(judge_rights(&asked(|_, _| None))[0].state, State::Unknown);
    }

    #[test]
    fn who_may_not_make_claims_may_have_the_cluster_make_them_with_pods() {
        let may_not = |right: &Right, verb: &str| Some(right.resource != "persistentvolumeclaims" || verb != "create");
        let states = |run: &PodRun| {
            let needed = asked(may_not).into_iter().filter(|permission| is_needed(permission, run));
            judge_rights(&needed.collect::<Vec<_>>()).into_iter().map(|check| check.state).collect::<Vec<_>>()
        };
        let run = run(&["a"], 8);
        assert_eq!(states(&run), [State::Fails]);
        assert_eq!(states(&PodRun { is_ephemeral: true, ..run }), [State::Ok]);
    }

    #[test]
    fn of_several_pods_a_claim_of_every_volume_is_tried() {
        let pods = PodCount { nodes: 3, ..PodCount::ONE };
        let run = PodRun { pods, ..run(&["slow", "fast"], 8) };
        let tried = claims_to_try(&run).into_iter();
        let tried: Vec<_> = tried.map(|(target, claim)| (target, claim.spec.unwrap().storage_class_name)).collect();
        let of = |class: &str| (class.to_owned(), Some(class.to_owned()));
        assert_eq!(tried, [of("slow"), of("fast")]);
    }

    #[test]
    fn a_webhook_that_cannot_be_asked_in_a_dry_run_does_not_stand_in_the_way() {
        let status = |message: &str| Status { message: message.to_owned(), code: 400, ..Status::default() };
        let webhook = status("admission webhook \"x\" does not support dry run");
        assert_eq!(refused("dry run", "the Job", &webhook).state, State::Unknown);
        assert_eq!(refused("dry run", "the Job", &status("exceeded quota")).state, State::Fails);
    }

    #[test]
    fn parts_of_kinds_and_places_are_asked_for_as_the_cluster_knows_them() {
        let review = |resource: &str| {
            let right = RIGHTS.iter().find(|right| right.resource == resource).unwrap();
            access_review("load", right, right.verbs[0]).spec.resource_attributes.unwrap()
        };
        let log = review("pods/log");
        assert_eq!((log.resource.as_deref(), log.subresource.as_deref()), (Some("pods"), Some("log")));
        assert_eq!(log.namespace.as_deref(), Some("load"));
        assert_eq!(review("nodes").namespace, None);
    }
}
