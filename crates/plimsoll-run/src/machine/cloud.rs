//! What this machine is in the cloud it runs in, as the instance metadata service tells.
//!
//! Nothing here happens unless it was asked for: it is the one thing that plimsoll says to a network. All services have
//! the same address and different routes, so that all are asked at once, and who answers as it must is believed. What
//! they answer is understood by pure functions, which keep the facts about size, place and disks and nothing personal.

pub mod aws;
pub mod azure;
mod fields;
pub mod google;
mod service;

use std::{fmt, panic::resume_unwind, str::FromStr, thread};

use plimsoll_record::environment::{CloudEnvironment, CloudProvider};
use thiserror::Error;
use ureq::http::{Uri, uri::Scheme};

use self::service::Service;

/// Where all three services are, from within a machine of theirs.
pub const USUAL_ADDRESS: &str = "http://169.254.169.254";

/// The address of an instance metadata service: `http://HOST` or `http://HOST:PORT`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServiceAddress(String);

impl Default for ServiceAddress {
    fn default() -> Self {
        Self(USUAL_ADDRESS.to_owned())
    }
}

impl fmt::Display for ServiceAddress {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

/// What was typed is no address of a service.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("\"{text}\" is not the address of an instance metadata service: write it as {USUAL_ADDRESS}, or with a port")]
pub struct AddressError {
    /// What was typed.
    text: String,
}

impl FromStr for ServiceAddress {
    type Err = AddressError;

    fn from_str(text: &str) -> Result<Self, AddressError> {
        let error = || AddressError { text: text.to_owned() };
        let uri: Uri = text.parse().map_err(|_| error())?;
        match uri.authority() {
            // What follows a # is lost in parsing.
            Some(authority) if is_bare(&uri) && !text.contains('#') => Ok(Self(format!("http://{authority}"))),
            _ => Err(error()),
        }
    }
}

/// Whether there is a host, and nothing but a port behind it. The services speak without encryption.
fn is_bare(uri: &Uri) -> bool {
    let host = uri.host().unwrap_or_default();
    let port = uri.port_u16().map_or_else(String::new, |port| format!(":{port}"));
    uri.scheme() == Some(&Scheme::HTTP)
        && !host.is_empty()
        && uri.authority().is_some_and(|authority| authority.as_str() == format!("{host}{port}"))
        && matches!(uri.path(), "" | "/")
        && uri.query().is_none()
}

/// Why an answer is not understood.
#[derive(Debug, Error)]
pub enum NotUnderstood {
    /// It is no JSON.
    #[error("the answer is not JSON ({0})")]
    NotJson(#[from] serde_json::Error),
    /// It lacks the one thing that every machine has.
    #[error("the answer has no {0}")]
    Lacking(&'static str),
    /// More disks than any machine has.
    #[error("the answer lists {0} disks")]
    Disks(usize),
}

/// Why it is not known which cloud's machine this is.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum CloudUnknown {
    /// There is no service, or it keeps silent.
    #[error(
        "no instance metadata service answered at {address} ({reason}), so it is not known which cloud's machine this is"
    )]
    Silent {
        /// Who was asked.
        address: ServiceAddress,
        /// What happened instead.
        reason: String,
    },
    /// Something answers, but as none of the services does.
    #[error(
        "what answers at {address} is not the instance metadata service of {services}, so it is not known which cloud's machine this is"
    )]
    Foreign {
        /// Who was asked.
        address: ServiceAddress,
        /// Each service that it is not, with the reason.
        services: String,
    },
    /// Something answers as a service does, with what is not understood.
    #[error(
        "the instance metadata service at {address} is not understood, so it is not known which cloud's machine this is: {services}"
    )]
    NotUnderstood {
        /// Who was asked.
        address: ServiceAddress,
        /// Each service that it could be, with what is wrong.
        services: String,
    },
}

/// Why one service did not tell.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Failure {
    /// Nobody said anything.
    Silent(String),
    /// Somebody answered, but it is not this service.
    Foreign(String),
    /// It answered what is not understood.
    Garbled(String),
}

impl Failure {
    fn reason(&self) -> &str {
        let (Self::Silent(reason) | Self::Foreign(reason) | Self::Garbled(reason)) = self;
        reason
    }
}

/// Asks what this machine is. Takes at most about two seconds, whatever answers or does not.
///
/// # Errors
/// When nobody answers as one of the services does; the message says what happened instead.
pub fn detect(address: &ServiceAddress) -> Result<CloudEnvironment, CloudUnknown> {
    type Ask = fn(&Service) -> Result<CloudEnvironment, Failure>;
    let services: [(CloudProvider, Ask); 3] = [
        (CloudProvider::Azure, Service::azure),
        (CloudProvider::Aws, Service::aws),
        (CloudProvider::Gcp, Service::google),
    ];
    let service = &Service::new(&address.0);
    let answers = thread::scope(|scope| {
        let asked = services.map(|(provider, ask)| (provider, scope.spawn(move || ask(service))));
        asked.map(|(provider, answer)| (provider, answer.join().unwrap_or_else(|panic| resume_unwind(panic))))
    });
    let mut failures = Vec::new();
    for (provider, answer) in answers {
        match answer {
            Ok(cloud) => return Ok(cloud),
            Err(failure) => failures.push((provider, failure)),
        }
    }
    Err(unknown(address.clone(), &failures))
}

/// The most telling of what happened.
fn unknown(address: ServiceAddress, failures: &[(CloudProvider, Failure)]) -> CloudUnknown {
    let is_garbled = |failure: &Failure| matches!(failure, Failure::Garbled(_));
    let is_silent = |failure: &Failure| matches!(failure, Failure::Silent(_));
    if failures.iter().any(|(_, failure)| is_garbled(failure)) {
        let garbled = failures.iter().filter(|(_, failure)| is_garbled(failure));
        let services: Vec<String> =
            garbled.map(|(provider, failure)| format!("as {}'s, {}", provider.name(), failure.reason())).collect();
        return CloudUnknown::NotUnderstood { address, services: services.join("; ") };
    }
    if failures.iter().all(|(_, failure)| is_silent(failure)) {
        let mut reasons: Vec<&str> = failures.iter().map(|(_, failure)| failure.reason()).collect();
        reasons.dedup();
        return CloudUnknown::Silent { address, reason: reasons.join(", ") };
    }
    let services: Vec<String> =
        failures.iter().map(|(provider, failure)| format!("{} ({})", provider.name(), failure.reason())).collect();
    CloudUnknown::Foreign { address, services: services.join(", ") }
}

#[cfg(test)]
mod tests;
