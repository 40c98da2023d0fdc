//! Pushing an image: the parts that the registry lacks, and then the manifest by its tag.
//!
//! The protocol is OCI's distribution specification; who pushes is proven by Basic or by tokens of the registry's
//! authority (`challenge.rs`), once the registry asks for it.

mod challenge;
pub mod proxies;

use std::{error::Error, io::ErrorKind, path::PathBuf, sync::Arc, time::Duration};

use serde_json::Value;
use thiserror::Error;
use ureq::{
    Agent, AsSendBody, Body, Proxy, Timeout,
    http::{self, HeaderMap, Method, Request, Response, StatusCode, Uri, header},
    tls::{Certificate, PemItem, RootCerts, TlsConfig, parse_pem},
};

use self::{challenge::Challenge, proxies::Proxies};
use crate::{
    credentials::{self, Credentials, CredentialsError},
    image::{Blob, Image, MANIFEST},
    reference::Reference,
};

const CONNECT_MAX: Duration = Duration::from_secs(15);
/// Registries that keep blobs elsewhere answer when they are there.
const ANSWER_MAX: Duration = Duration::from_secs(300);
const ANSWER_BYTES_MAX: u64 = 1 << 20;
/// What to look at where a layer does not get through.
const IS_LIMITED: &str = ": a proxy before the registry may limit how long a body is, as nginx does with \
                          client_max_body_size";

/// How to reach a registry.
#[derive(Clone, Debug)]
pub struct Access {
    /// Without encryption.
    pub plain_http: bool,
    /// PEM texts of the certificates to trust instead of the system's.
    pub certificates: Option<Vec<u8>>,
    /// Where credentials may be, the first one first.
    pub credentials: Vec<PathBuf>,
    /// Proxies on the way.
    pub proxies: Proxies,
}

/// What has been pushed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pushed {
    /// Bytes that the registry did not have.
    pub uploaded_bytes: u64,
}

/// Why an image was not pushed.
#[derive(Debug, Error)]
pub enum PushError {
    /// Nobody answers.
    #[error("{registry} does not answer: {reason}")]
    Unreachable {
        /// Who.
        registry: String,
        /// What happened instead.
        reason: String,
    },
    /// The registry does not know who pushes, or does not let them.
    #[error("{image}: {registry} does not permit this to {who}{said}: {advice}")]
    Unauthorized {
        /// The image.
        image: String,
        /// Who said no.
        registry: String,
        /// To whom.
        who: &'static str,
        /// What it said about it.
        said: String,
        /// What to do.
        advice: String,
    },
    /// The registry said no.
    #[error("{doing} at {registry}: {reason}")]
    Refused {
        /// What was being done.
        doing: String,
        /// Who said no.
        registry: String,
        /// What it said.
        reason: String,
    },
    /// Nobody knows who pushes.
    #[error(transparent)]
    Credentials(#[from] CredentialsError),
    /// A proxy is named that cannot be used.
    #[error("{0}")]
    Proxy(String),
    /// What should be certificates is none.
    #[error("the file of --ca has no certificate: it has to have PEM, which begins with -----BEGIN CERTIFICATE-----")]
    Certificates,
}

/// Pushes an image. What the registry has is not sent again.
///
/// # Errors
/// When the registry does not answer, or does not take it.
pub fn push(image: &Image, reference: &Reference, access: &Access) -> Result<Pushed, PushError> {
    let mut registry = Registry::of(reference, access)?;
    let mut uploaded_bytes = 0;
    for blob in [&image.layer, &image.configuration] {
        if !registry.has_blob(blob)? {
            registry.upload(blob)?;
            uploaded_bytes += blob.bytes.len() as u64;
        }
    }
    if !registry.has_manifest(&image.manifest)? {
        registry.put_manifest(&image.manifest)?;
        registry.check(&image.manifest)?;
        uploaded_bytes += image.manifest.bytes.len() as u64;
    }
    Ok(Pushed { uploaded_bytes })
}

/// A conversation about one image.
struct Registry<'a> {
    reference: &'a Reference,
    access: &'a Access,
    agent: Agent,
    /// Scheme and host.
    origin: String,
    /// The value of the header that says who this is, once that was asked for.
    authorization: Option<String>,
    /// Whether that is of somebody who has credentials.
    is_somebody: bool,
}

impl<'a> Registry<'a> {
    fn of(reference: &'a Reference, access: &'a Access) -> Result<Self, PushError> {
        let is_plain = access.plain_http || (reference.is_local() && access.certificates.is_none());
        let origin = format!("{}://{}", if is_plain { "http" } else { "https" }, reference.host());
        let mut roots = RootCerts::PlatformVerifier;
        if let Some(pem) = &access.certificates {
            let certificates: Vec<Certificate<'static>> = parse_pem(pem)
                .filter_map(|item| match item {
                    Ok(PemItem::Certificate(certificate)) => Some(certificate),
                    _ => None,
                })
                .collect();
            if certificates.is_empty() {
                return Err(PushError::Certificates);
            }
            roots = RootCerts::Specific(Arc::new(certificates));
        }
        let tls = TlsConfig::builder()
            .root_certs(roots)
            .unversioned_rustls_crypto_provider(Arc::new(rustls::crypto::ring::default_provider()))
            .build();
        let config = Agent::config_builder()
            .tls_config(tls)
            // Each address may have another one, or none.
            .proxy(None)
            // Where an answer would send us on is looked at here: credentials are for the registry alone.
            .max_redirects(0)
            .http_status_as_error(false)
            .timeout_connect(Some(CONNECT_MAX))
            .timeout_recv_response(Some(ANSWER_MAX))
            // A connection that is used again may be one that the other side has just closed, and an upload is not
            // begun a second time to find out. There are few requests.
            .max_idle_connections(0)
            .user_agent(concat!("plimsoll/", env!("CARGO_PKG_VERSION")));
        let agent = config.build().into();
        Ok(Self { reference, access, agent, origin, authorization: None, is_somebody: false })
    }

    fn has_blob(&mut self, blob: &Blob) -> Result<bool, PushError> {
        let url = self.url(&format!("blobs/{}", blob.digest));
        let doing = "ask for a part of the image";
        let answer = self.send(doing, &Method::HEAD, &url, &[], None)?;
        // Some registries keep blobs elsewhere, and send on who asks for one that is there.
        Ok(answer.status().is_redirection() || self.is_there(doing, answer)?.is_some())
    }

    fn upload(&mut self, blob: &Blob) -> Result<(), PushError> {
        let doing = "begin to upload";
        let url = self.url("blobs/uploads/");
        let answer = self.send(doing, &Method::POST, &url, &[], Some(&[]))?;
        let answer = self.done(doing, answer)?;
        let place = answer.headers().get(header::LOCATION).and_then(|place| place.to_str().ok());
        let place = place.ok_or_else(|| self.refused(doing, "the answer does not say where to".to_owned()))?;
        let nowhere = || self.refused(doing, format!("the answer leads nowhere: Location: {place}"));
        let place = resolved(&self.origin, &url, place).ok_or_else(nowhere)?;
        let separator = if place.contains('?') { '&' } else { '?' };
        let url = format!("{place}{separator}digest={}", blob.digest);
        let doing = "upload a part of the image";
        let kind = [(header::CONTENT_TYPE.as_str(), "application/octet-stream")];
        let answer = self.send(doing, &Method::PUT, &url, &kind, Some(&blob.bytes))?;
        self.done(doing, answer).map(drop)
    }

    /// Whether the tag is of this very image.
    fn has_manifest(&mut self, manifest: &Blob) -> Result<bool, PushError> {
        let url = self.url(&format!("manifests/{}", self.reference.tag));
        let doing = "ask for the tag";
        let answer = self.send(doing, &Method::HEAD, &url, &[(header::ACCEPT.as_str(), MANIFEST)], None)?;
        let answer = self.is_there(doing, answer)?;
        let digest =
            |answer: Response<Body>| Some(answer.headers().get("Docker-Content-Digest")?.to_str().ok()?.to_owned());
        Ok(answer.and_then(digest).is_some_and(|digest| digest == manifest.digest))
    }

    fn put_manifest(&mut self, manifest: &Blob) -> Result<(), PushError> {
        let doing = "write the tag";
        let url = self.url(&format!("manifests/{}", self.reference.tag));
        let kind = [(header::CONTENT_TYPE.as_str(), MANIFEST)];
        let answer = self.send(doing, &Method::PUT, &url, &kind, Some(&manifest.bytes))?;
        self.done(doing, answer).map(drop)
    }

    /// Whether the image is there: servers that are no registries say of anything that it went well.
    fn check(&mut self, manifest: &Blob) -> Result<(), PushError> {
        let doing = "look for the image that was pushed";
        let url = self.url(&format!("manifests/{}", manifest.digest));
        let answer = self.send(doing, &Method::GET, &url, &[(header::ACCEPT.as_str(), MANIFEST)], None)?;
        let answer = self.done(doing, answer)?;
        if content(answer).as_bytes() == manifest.bytes {
            return Ok(());
        }
        Err(self.refused(doing, "it answers with something else: no registry is there".to_owned()))
    }

    fn url(&self, rest: &str) -> String {
        format!("{}/v2/{}/{rest}", self.origin, self.reference.repository)
    }

    /// Asks, and once more with what says who this is when the registry wants to know, or no longer believes it.
    fn send(
        &mut self,
        doing: &str,
        method: &Method,
        url: &str,
        headers: &[(&str, &str)],
        body: Option<&[u8]>,
    ) -> Result<Response<Body>, PushError> {
        let answer = self.send_once(doing, method, url, headers, body)?;
        if answer.status() != StatusCode::UNAUTHORIZED {
            return Ok(answer);
        }
        // Whoever else asks has no business with it.
        if !self.is_ours(url) {
            return Err(self.refused(doing, format!("it has us upload to {url}, which asks who this is")));
        }
        self.introduce(doing, answer.headers())?;
        self.send_once(doing, method, url, headers, body)
    }

    fn is_ours(&self, url: &str) -> bool {
        origin(url).is_some_and(|of_url| Some(of_url) == origin(&self.origin))
    }

    fn send_once(
        &self,
        doing: &str,
        method: &Method,
        url: &str,
        headers: &[(&str, &str)],
        body: Option<&[u8]>,
    ) -> Result<Response<Body>, PushError> {
        let mut request = Request::builder().method(method).uri(url);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        // Uploads may go to somebody else, who has no business with it.
        if let Some(authorization) = self.authorization.as_ref().filter(|_| self.is_ours(url)) {
            request = request.header(header::AUTHORIZATION, authorization);
        }
        let proxy = self.proxy(url)?;
        let answer = match body {
            Some(body) => self.run(request.body(body), proxy.clone()),
            None => self.run(request.body(()), proxy.clone()),
        };
        answer.map_err(|error| match body {
            Some(body) if !body.is_empty() && is_broken_off(&error) => {
                let reason = reason(&error, url.starts_with("http:"));
                let bytes = body.len();
                self.refused(doing, format!("it broke off while {bytes} bytes were being sent ({reason}){IS_LIMITED}"))
            }
            _ => self.unreachable(url, proxy.as_ref(), &error),
        })
    }

    fn run<B: AsSendBody>(
        &self,
        request: Result<Request<B>, http::Error>,
        proxy: Option<Proxy>,
    ) -> Result<Response<Body>, ureq::Error> {
        self.agent.run(self.agent.configure_request(request?).proxy(proxy).build())
    }

    /// Finds out who this is, in the way that the registry asks for.
    fn introduce(&mut self, doing: &str, headers: &HeaderMap) -> Result<(), PushError> {
        let known = credentials::find(&self.access.credentials, self.reference)?;
        self.is_somebody = known.is_some();
        let asked = headers.get_all(header::WWW_AUTHENTICATE).iter().filter_map(|value| value.to_str().ok());
        let asked: Vec<Challenge> = asked.filter_map(Challenge::parse).collect();
        let bearer = asked.iter().find_map(|challenge| match challenge {
            Challenge::Bearer { realm, service } => Some((realm, service)),
            Challenge::Basic => None,
        });
        self.authorization = match (bearer, known) {
            (_, Some(Credentials::RegistryToken(token))) => Some(format!("Bearer {token}")),
            (Some((realm, service)), known) => Some(format!("Bearer {}", self.token(realm, service, known.as_ref())?)),
            (None, Some(Credentials::Password(user, secret))) if !asked.is_empty() => {
                Some(challenge::basic(&user, &secret))
            }
            (None, None) => return Err(self.unauthorized(String::new())),
            (None, Some(_)) => {
                let why = "the registry does not say how it wants to know who this is, or in no way that goes with \
                           the credentials for it";
                return Err(self.refused(doing, why.to_owned()));
            }
        };
        Ok(())
    }

    /// A token of the registry's authority, to pull and push this one image.
    fn token(&self, realm: &str, service: &str, known: Option<&Credentials>) -> Result<String, PushError> {
        let doing = format!("get a token from {realm}");
        let is_plain = realm.parse::<Uri>().is_ok_and(|uri| uri.scheme_str() != Some("https"));
        if is_plain && self.origin.starts_with("https:") {
            let why = "the registry sends us there without encryption: no credentials are sent".to_owned();
            return Err(self.refused(&doing, why));
        }
        let scope = format!("repository:{}:pull,push", self.reference.repository);
        let mut form = vec![("service", service), ("scope", &scope), ("client_id", "plimsoll")];
        let proxy = self.proxy(realm)?;
        let through = proxy.clone();
        let answer = match known {
            Some(Credentials::IdentityToken(token)) => {
                form.extend([("grant_type", "refresh_token"), ("refresh_token", token)]);
                self.agent.post(realm).config().proxy(through).build().send_form(form)
            }
            known => {
                let mut ask = self.agent.get(realm).query_pairs(form).config().proxy(through).build();
                if let Some(Credentials::Password(user, secret)) = known {
                    ask = ask.header(header::AUTHORIZATION, challenge::basic(user, secret));
                }
                ask.call()
            }
        };
        let answer = answer.map_err(|error| self.unreachable(realm, proxy.as_ref(), &error))?;
        let answer = self.done(&doing, answer)?;
        let answer: Value = serde_json::from_str(&content(answer)).unwrap_or_default();
        let token = ["token", "access_token"].into_iter().find_map(|field| answer[field].as_str());
        token.map(str::to_owned).ok_or_else(|| self.refused(&doing, "there is no token in the answer".to_owned()))
    }

    /// What is there, if anything.
    fn is_there(&self, doing: &str, answer: Response<Body>) -> Result<Option<Response<Body>>, PushError> {
        if answer.status() == StatusCode::NOT_FOUND { Ok(None) } else { self.done(doing, answer).map(Some) }
    }

    /// The answer, when it says that all went well.
    fn done(&self, doing: &str, answer: Response<Body>) -> Result<Response<Body>, PushError> {
        let status = answer.status();
        if status.is_success() {
            return Ok(answer);
        }
        let is_plain = self.origin.starts_with("http:");
        let said = said(&content(answer));
        if matches!(status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN) {
            return Err(self.unauthorized(said));
        }
        let advice = match status {
            StatusCode::NOT_FOUND => ": no registry is there, or it has to be told first that there will be this image",
            StatusCode::BAD_REQUEST if is_plain => ": if it wants HTTPS, give its certificate with --ca",
            StatusCode::PAYLOAD_TOO_LARGE => IS_LIMITED,
            StatusCode::TOO_MANY_REQUESTS => ": try again later",
            status if status.is_server_error() => ": this is the registry's fault, try again later",
            status if status.is_redirection() => ": it sends us elsewhere, push there",
            _ => "",
        };
        Err(self.refused(doing, format!("status {}{said}{advice}", status.as_u16())))
    }

    fn refused(&self, doing: &str, reason: String) -> PushError {
        PushError::Refused { doing: doing.to_owned(), registry: self.reference.registry.clone(), reason }
    }

    fn unauthorized(&self, said: String) -> PushError {
        let registry = self.reference.registry.clone();
        let files: Vec<String> = self.access.credentials.iter().map(|file| file.display().to_string()).collect();
        let (who, advice) = if self.is_somebody {
            ("whose credentials were found", format!("`docker login {registry}` with those of somebody who may"))
        } else {
            let places = if files.is_empty() { "no file".to_owned() } else { files.join(", ") };
            (
                "nobody in particular",
                format!("`docker login {registry}` first; credentials were looked for in {places}"),
            )
        };
        PushError::Unauthorized { image: self.reference.to_string(), registry, who, said, advice }
    }

    fn proxy(&self, url: &str) -> Result<Option<Proxy>, PushError> {
        self.access.proxies.to(url).map_err(PushError::Proxy)
    }

    fn unreachable(&self, url: &str, proxy: Option<&Proxy>, error: &ureq::Error) -> PushError {
        let is_plain = url.starts_with("http:");
        let host = url.parse::<Uri>().ok().and_then(|uri| uri.authority().map(ToString::to_string));
        let mut registry = host.unwrap_or_else(|| self.origin.clone());
        if let Some(proxy) = proxy {
            // Not as it is written: that may have a password.
            registry = format!("{registry}, asked through the proxy {}:{},", proxy.host(), proxy.port());
        }
        PushError::Unreachable { registry, reason: reason(error, is_plain) }
    }
}

/// Scheme, host and port of an address, so that two that are the same compare so however they are written.
fn origin(url: &str) -> Option<(String, String, u16)> {
    let url: Uri = url.parse().ok()?;
    let scheme = url.scheme_str()?.to_ascii_lowercase();
    let port = url.port_u16().unwrap_or(if scheme == "https" { 443 } else { 80 });
    Some((scheme, url.host()?.to_ascii_lowercase(), port))
}

/// Where an answer leads; `None` when that is nowhere.
fn resolved(origin: &str, asked: &str, place: &str) -> Option<String> {
    let scheme = origin.split_once("//").map_or("", |(scheme, _)| scheme);
    let folder = asked.rsplit_once('/').map_or(asked, |(folder, _)| folder);
    let url = match place {
        _ if place.starts_with("https://") || place.starts_with("http://") => place.to_owned(),
        _ if place.starts_with("//") => format!("{scheme}{place}"),
        _ if place.starts_with('/') => format!("{origin}{place}"),
        _ if place.is_empty() || place.contains("://") || place.split('/').any(|part| part == "..") => return None,
        _ => format!("{folder}/{place}"),
    };
    url.parse::<Uri>().is_ok_and(|uri| uri.host().is_some_and(|host| !host.is_empty())).then_some(url)
}

/// Whether the other side has closed the connection while it was being sent something.
fn is_broken_off(error: &ureq::Error) -> bool {
    let ureq::Error::Io(error) = error else { return false };
    matches!(error.kind(), ErrorKind::ConnectionReset | ErrorKind::BrokenPipe)
}

/// Why there is no answer.
fn reason(error: &ureq::Error, is_plain: bool) -> String {
    match error {
        ureq::Error::HostNotFound => "no such host".to_owned(),
        ureq::Error::Timeout(Timeout::Connect | Timeout::Resolve) => "no connection in time".to_owned(),
        ureq::Error::Timeout(_) => "no answer in time".to_owned(),
        ureq::Error::Protocol(_) if is_plain => "what it says is not HTTP: it may want HTTPS".to_owned(),
        ureq::Error::Rustls(error) => tls_reason(&error.to_string()),
        ureq::Error::Io(error) if error.get_ref().is_some_and(<dyn Error + Send + Sync>::is::<rustls::Error>) => {
            tls_reason(&error.to_string())
        }
        error => {
            let text = error.to_string().trim_start_matches("io: ").to_owned();
            if text.starts_with("failed to lookup address") {
                return "no such host".to_owned();
            }
            text.split(" (os error").next().unwrap_or_default().to_lowercase()
        }
    }
}

/// What went wrong with encryption, and what to do about it.
fn tls_reason(text: &str) -> String {
    let advice = if text.contains("UnknownIssuer") || text.contains("BadSignature") {
        ": its certificate is of nobody whom this machine trusts, give who signed it with --ca"
    } else if text.contains("CaUsedAsEndEntity") {
        ": its certificate is that of an authority, which signs others: make it with basicConstraints=CA:FALSE"
    } else if text.contains("InvalidContentType") || text.contains("InvalidMessage") {
        ": it may speak plain HTTP, which --plain-http is for"
    } else {
        ""
    };
    format!("TLS: {text}{advice}")
}

/// The text of an answer, as far as it is short.
fn content(answer: Response<Body>) -> String {
    let bytes = answer.into_body().into_with_config().limit(ANSWER_BYTES_MAX).read_to_vec().unwrap_or_default();
    String::from_utf8_lossy(&bytes).into_owned()
}

/// What a registry says about its refusal.
fn said(content: &str) -> String {
    let answer: Value = serde_json::from_str(content).unwrap_or_default();
    let of_error = |error: &Value| {
        let code = error["code"].as_str().unwrap_or_default();
        let message = error["message"].as_str().filter(|message| !message.is_empty()).unwrap_or(code);
        (!message.is_empty()).then(|| message.to_owned())
    };
    let errors: Vec<String> = answer["errors"].as_array().into_iter().flatten().filter_map(of_error).collect();
    if errors.is_empty() { String::new() } else { format!(" ({})", errors.join("; ")) }
}

#[cfg(test)]
mod tests;
