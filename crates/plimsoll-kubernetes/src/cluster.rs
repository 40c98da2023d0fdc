//! The cluster that is talked to.

use std::{fs, future::Future, path::PathBuf, time::Duration};

use http::{Method, Request, Response};
use kube::{
    Api, Client, Config, Resource,
    client::{AuthError, Body, ClientBuilder, retry::RetryPolicy},
    config::{ExecConfig, KubeConfigOptions, Kubeconfig},
};
use tokio::{
    runtime::{self, Runtime},
    time::Sleep,
};
use tower::{
    BoxError,
    buffer::BufferLayer,
    retry::{Policy, RetryLayer},
};

use crate::error::ClusterError;

/// How long a connection may take to come about.
const CONNECT_PATIENCE: Duration = Duration::from_secs(10);

/// How long an answer may keep silent.
const ANSWER_PATIENCE: Duration = Duration::from_secs(30);

/// The same of one that goes on until somebody ends it: longer than an API server lets a watch go on.
const ENDLESS_PATIENCE: Duration = Duration::from_secs(300);

/// How many requests may wait to be sent.
const QUEUE_MAX: usize = 1024;

/// Which cluster, and where in it.
#[derive(Clone, Debug, Default)]
pub struct Access {
    /// Files that describe clusters; the first that says something decides. Empty in a pod.
    pub kubeconfig: Vec<PathBuf>,
    /// Which of the contexts that they describe, instead of the current one.
    pub context: Option<String>,
    /// Which namespace, instead of the context's.
    pub namespace: Option<String>,
}

/// A cluster that answers.
pub struct Cluster {
    pub(crate) client: Client,
    endless: Client,
    runtime: Runtime,
    namespace: String,
    version: String,
    assigns_users: bool,
}

impl Cluster {
    /// Finds the cluster and asks for its version.
    pub fn connect(access: &Access) -> Result<Self, ClusterError> {
        let runtime = runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(|error| ClusterError::Configuration(format!("start talking to a cluster: {error}")))?;
        let (client, endless, namespace, version, assigns_users) = runtime.block_on(async {
            let mut config = config(access).await?;
            config.connect_timeout = Some(CONNECT_PATIENCE);
            config.read_timeout = Some(ANSWER_PATIENCE);
            // How long a connection was not used does not count.
            config.reset_reader_on_write = true;
            let namespace = access.namespace.clone().unwrap_or_else(|| config.default_namespace.clone());
            let address = config.cluster_url.to_string();
            // Kube's own way of trying again may take minutes, in which nobody is heard who wants to stop.
            config.default_retry = false;
            let mut of_endless = config.clone();
            of_endless.read_timeout = Some(ENDLESS_PATIENCE);
            let plugin = config.auth_info.exec.clone();
            let unusable = |error| {
                let why = credentials_error(plugin.as_ref(), &error);
                ClusterError::Configuration(format!("use the credentials for {address}: {why}"))
            };
            let client = patient(config).map_err(unusable)?;
            // Whoever follows something tries again himself.
            let endless = Client::try_from(of_endless).map_err(unusable)?;
            let doing = || format!("ask {address} for its version");
            let version = client.apiserver_version().await.map_err(|error| ClusterError::of(doing(), &error))?;
            let groups = client.list_api_groups().await.map_err(|error| ClusterError::of(doing(), &error))?;
            let assigns_users = groups.groups.iter().any(|group| group.name == "security.openshift.io");
            Ok((client, endless, namespace, version.git_version, assigns_users))
        })?;
        Ok(Self { client, endless, runtime, namespace, version, assigns_users })
    }

    /// The namespace that is meant.
    pub fn namespace(&self) -> &str {
        &self.namespace
    }

    /// The version of the API server.
    pub fn version(&self) -> &str {
        &self.version
    }

    /// Whether the cluster chooses the users that containers run as, as OpenShift does.
    pub const fn assigns_users(&self) -> bool {
        self.assigns_users
    }

    /// Waits for something that talks to the cluster.
    pub(crate) fn wait_for<T>(&self, what: impl Future<Output = T>) -> T {
        self.runtime.block_on(what)
    }

    /// Objects of the namespace.
    pub(crate) fn here<K>(&self) -> Api<K>
    where
        K: Resource<Scope = k8s_openapi::NamespaceResourceScope>,
        K::DynamicType: Default,
    {
        Api::namespaced(self.client.clone(), &self.namespace)
    }

    /// Objects of the whole cluster.
    pub(crate) fn everywhere<K>(&self) -> Api<K>
    where
        K: Resource,
        K::DynamicType: Default,
    {
        Api::all(self.client.clone())
    }

    /// Objects of the namespace, to be watched or followed: their answers may keep silent for long.
    pub(crate) fn endless_here<K>(&self) -> Api<K>
    where
        K: Resource<Scope = k8s_openapi::NamespaceResourceScope>,
        K::DynamicType: Default,
    {
        Api::namespaced(self.endless.clone(), &self.namespace)
    }

    /// The same of the whole cluster.
    pub(crate) fn endless_everywhere<K>(&self) -> Api<K>
    where
        K: Resource,
        K::DynamicType: Default,
    {
        Api::all(self.endless.clone())
    }
}

/// A client that asks an API server which is busy a few seconds longer.
fn patient(config: Config) -> kube::Result<Client> {
    let client = ClientBuilder::try_from(config)?.with_layer(&BufferLayer::new(QUEUE_MAX));
    Ok(client.with_layer(&RetryLayer::new(Questions(RetryPolicy::default()))).build())
}

/// Tries again what changes nothing. Whoever changes something tries again himself, and says so.
#[derive(Clone)]
struct Questions(RetryPolicy);

impl<R> Policy<Request<Body>, Response<R>, BoxError> for Questions {
    type Future = Sleep;

    fn retry(
        &mut self,
        request: &mut Request<Body>,
        answer: &mut Result<Response<R>, BoxError>,
    ) -> Option<Self::Future> {
        self.0.retry(request, answer)
    }

    fn clone_request(&mut self, request: &Request<Body>) -> Option<Request<Body>> {
        let changes_nothing = *request.method() == Method::GET
            || request.uri().path().ends_with("reviews")
            || request.uri().query().is_some_and(|query| query.contains("dryRun="));
        if changes_nothing { Policy::<_, Response<R>, BoxError>::clone_request(&mut self.0, request) } else { None }
    }
}

async fn config(access: &Access) -> Result<Config, ClusterError> {
    let options = KubeConfigOptions { context: access.context.clone(), ..KubeConfigOptions::default() };
    let named = |file: &PathBuf| format!("read the kubeconfig {}", file.display());
    let mut merged: Option<Kubeconfig> = None;
    for file in access.kubeconfig.iter().filter(|file| access.kubeconfig.len() == 1 || file.exists()) {
        // Said here, because what kube says of a file that is not there is longer.
        fs::metadata(file).map_err(|error| ClusterError::Configuration(format!("{}: {error}", named(file))))?;
        let next = Kubeconfig::read_from(file)
            .map_err(|error| ClusterError::Configuration(format!("{}: {}", named(file), without_excerpt(&error))))?;
        merged = Some(match merged {
            None => next,
            Some(merged) => {
                merged.merge(next).map_err(|error| ClusterError::Configuration(format!("{}: {error}", named(file))))?
            }
        });
    }
    match merged {
        Some(kubeconfig) => Config::from_custom_kubeconfig(kubeconfig, &options)
            .await
            .map_err(|error| ClusterError::Configuration(format!("choose a cluster: {error}"))),
        None => Config::incluster().map_err(|_| {
            ClusterError::Configuration(
                "no cluster: there is no kubeconfig, and this is no pod with a service account: name one with \
                 KUBECONFIG=FILE"
                    .to_owned(),
            )
        }),
    }
}

/// What is wrong with a kubeconfig, without the lines around it that the parser shows: they may have secrets.
fn without_excerpt(error: &dyn std::error::Error) -> String {
    error.to_string().lines().next().unwrap_or_default().to_owned()
}

/// Clusters for tests.
#[cfg(test)]
pub(crate) mod test_clusters {
    use super::*;

    /// One whose API server is a function, and whose time passes when nothing else is to do.
    pub(crate) fn answered_by(client: impl FnOnce() -> Client) -> Cluster {
        let runtime = runtime::Builder::new_current_thread().enable_all().start_paused(true).build();
        let runtime = runtime.expect("a runtime of one thread");
        let client = runtime.block_on(async { client() });
        Cluster {
            endless: client.clone(),
            client,
            runtime,
            namespace: "default".to_owned(),
            version: "v1.36.1".to_owned(),
            assigns_users: false,
        }
    }
}

/// What is wrong with credentials. Kube names neither a plugin that is not there nor what one says in a readable form.
fn credentials_error(plugin: Option<&ExecConfig>, error: &kube::Error) -> String {
    let kube::Error::Auth(error) = error else { return error.to_string() };
    match (error, plugin) {
        (AuthError::AuthExecStart(error), Some(ExecConfig { command: Some(command), install_hint, .. })) => {
            let hint = install_hint.as_deref().map_or_else(String::new, |hint| format!(": {}", hint.trim()));
            format!("the kubeconfig asks the program {command} for them, which cannot be started: {error}{hint}")
        }
        (AuthError::AuthExecRun { cmd, out }, _) => {
            let said = String::from_utf8_lossy(&out.stderr);
            format!("the program {cmd}, which the kubeconfig asks for them, failed ({}): {}", out.status, said.trim())
        }
        _ => error.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_changes_nothing_is_asked_again_unsaid() {
        let mut policy = Questions(RetryPolicy::default());
        let mut is_asked_again = |method, path| {
            let request = Request::builder().method(method).uri(path).body(Body::from(b"{}".to_vec())).unwrap();
            Policy::<_, Response<()>, BoxError>::clone_request(&mut policy, &request).is_some()
        };
        for (method, path) in [
            (Method::GET, "/api/v1/pods"),
            (Method::POST, "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"),
            (Method::POST, "/api/v1/namespaces/n/configmaps?dryRun=All"),
        ] {
            assert!(is_asked_again(method, path), "{path}");
        }
        for method in [Method::POST, Method::PATCH, Method::DELETE] {
            assert!(!is_asked_again(method, "/api/v1/namespaces/n/persistentvolumeclaims"));
        }
    }

    #[test]
    fn a_program_that_gives_no_credentials_is_named() {
        let said = |exec: &str| {
            let exec = format!("{{apiVersion: client.authentication.k8s.io/v1, {exec}}}");
            let told = Kubeconfig::from_yaml(&format!("users: [{{name: u, user: {{exec: {exec}}}}}]")).unwrap();
            let mut config = Config::new("http://127.0.0.1:1".parse().unwrap());
            config.auth_info = told.auth_infos[0].auth_info.clone().unwrap();
            let plugin = config.auth_info.exec.clone();
            let runtime = runtime::Builder::new_current_thread().enable_all().build().unwrap();
            credentials_error(plugin.as_ref(), &runtime.block_on(async { Client::try_from(config).err().unwrap() }))
        };
        assert_eq!(
            said("command: no-such-login, installHint: install no-such-login"),
            "the kubeconfig asks the program no-such-login for them, which cannot be started: No such file or directory \
             (os error 2): install no-such-login"
        );
        let failed = said("command: sh, args: [-c, 'echo log in again >&2; exit 3'], interactiveMode: Never");
        assert!(failed.contains("failed (exit status: 3): log in again"), "{failed}");
    }

    #[test]
    fn what_is_wrong_with_a_kubeconfig_shows_no_secret_of_it() {
        let text = "clusters: [{name: \"a\"b}]\nusers: [{name: u, user: {token: hidden}}]\n";
        let error = Kubeconfig::from_yaml(text).unwrap_err();
        let said = without_excerpt(&error);
        assert!(said.contains("line 1") && !said.contains("hidden"), "{said}");
    }
}
