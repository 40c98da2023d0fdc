//! Looking at a cluster without changing it: what may not be looked at is said, and is no error.

use std::fmt::Debug;

use kube::{
    Api, Resource,
    api::{ApiResource, DynamicObject, ListParams},
};
use serde::{Serialize, de::DeserializeOwned};

use crate::{cluster::Cluster, error::ClusterError, rights};

/// Something that could not be seen.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Unseen {
    /// The kind, in the plural.
    pub what: &'static str,
    /// Why not.
    pub why: Blindness,
    /// What is lost.
    pub lost: &'static str,
}

/// Why something cannot be seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Blindness {
    /// Whoever asks has no right to.
    Denied,
    /// The cluster knows no such kind.
    Absent,
}

impl Unseen {
    /// What cannot be seen, and what is lost by it.
    pub(crate) fn new(what: &'static str, why: Blindness) -> Self {
        let right = rights::of(what);
        Self { what, why, lost: right.map_or("", |right| right.lost) }
    }

    /// The same in a sentence.
    pub fn sentence(&self) -> String {
        let Self { what, why, lost } = self;
        match why {
            Blindness::Denied => format!("{what} may not be looked at: {lost}"),
            Blindness::Absent => format!("the cluster has no {what}"),
        }
    }
}

/// What was seen, or why not.
pub(crate) type Seen<T> = Result<T, Unseen>;

/// All objects of a kind.
pub(crate) async fn list<K>(api: Api<K>, what: &'static str) -> Result<Seen<Vec<K>>, ClusterError>
where
    K: Resource + Clone + DeserializeOwned + Debug,
{
    seen(what, api.list(&ListParams::default()).await.map(|list| list.items))
}

/// What an answer shows; an error when there is none.
pub(crate) fn seen<T>(what: &'static str, answer: Result<T, kube::Error>) -> Result<Seen<T>, ClusterError> {
    match answer {
        Ok(seen) => Ok(Ok(seen)),
        Err(kube::Error::Api(status)) if status.code == 403 => Ok(Err(Unseen::new(what, Blindness::Denied))),
        Err(kube::Error::Api(status)) if status.code == 404 => Ok(Err(Unseen::new(what, Blindness::Absent))),
        Err(error) => Err(ClusterError::of(format!("look at the {what}"), &error)),
    }
}

/// All objects of a kind that not every cluster has, in the first of the versions that this one knows.
pub(crate) async fn list_of_versions(
    cluster: &Cluster,
    (group, kind, what): (&str, &str, &'static str),
    versions: &[&str],
) -> Result<Seen<Vec<DynamicObject>>, ClusterError> {
    for version in versions {
        let resource = ApiResource {
            group: group.to_owned(),
            version: (*version).to_owned(),
            api_version: format!("{group}/{version}"),
            kind: kind.to_owned(),
            plural: what.to_owned(),
        };
        let found = list(Api::<DynamicObject>::all_with(cluster.client.clone(), &resource), what).await?;
        if !matches!(found, Err(Unseen { why: Blindness::Absent, .. })) {
            return Ok(found);
        }
    }
    Ok(Err(Unseen::new(what, Blindness::Absent)))
}
