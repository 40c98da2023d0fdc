//! Asking the services: one short conversation with each, bounded in time and size.

use std::{error::Error, time::Duration};

use plimsoll_record::environment::CloudEnvironment;
use ureq::{
    Agent, Body, Timeout,
    http::{Response, StatusCode},
};

use super::{Failure, NotUnderstood, aws, azure, google};

const CONNECT_MAX: Duration = Duration::from_secs(1);
const ANSWER_MAX: Duration = Duration::from_secs(2);
/// With AWS there are two answers to wait for.
const HALF_ANSWER_MAX: Duration = Duration::from_secs(1);

/// What the services tell is a few kibibytes.
const ANSWER_BYTES_MAX: u64 = 1 << 20;

/// How long AWS's token is to be valid: it is used at once, and never kept.
const TOKEN_LIFETIME_S: &str = "60";
const TOKEN_CHARACTERS_MAX: usize = 1024;

/// Who to ask.
pub(super) struct Service {
    address: String,
    agent: Agent,
}

type Asked = Result<Response<Body>, ureq::Error>;

impl Service {
    pub(super) fn new(address: &str) -> Self {
        let agent = Agent::config_builder()
            // The service is on this machine's own host: what variables say of proxies is not about it, and where an
            // answer would send us on is not the service.
            .proxy(None)
            .max_redirects(0)
            .http_status_as_error(false)
            .timeout_connect(Some(CONNECT_MAX))
            .timeout_global(Some(ANSWER_MAX))
            .user_agent(concat!("plimsoll/", env!("CARGO_PKG_VERSION")))
            .build()
            .into();
        Self { address: address.to_owned(), agent }
    }

    pub(super) fn azure(&self) -> Result<CloudEnvironment, Failure> {
        let answer =
            self.agent.get(self.url("/metadata/instance?api-version=2021-12-13")).header("Metadata", "true").call();
        understood(answer.map_err(silent)?, azure::parse)
    }

    /// The second version of the interface wants a token first, the first one knows none. To a container that is a hop
    /// too far away the token is sent, and never comes.
    pub(super) fn aws(&self) -> Result<CloudEnvironment, Failure> {
        let asked = self
            .agent
            .put(self.url("/latest/api/token"))
            .config()
            .timeout_global(Some(HALF_ANSWER_MAX))
            .build()
            .header("X-aws-ec2-metadata-token-ttl-seconds", TOKEN_LIFETIME_S)
            .send_empty();
        let is_lost = matches!(asked, Err(ureq::Error::Timeout(_)));
        let token = token(asked)?;
        let document = self
            .agent
            .get(self.url("/latest/dynamic/instance-identity/document"))
            .config()
            .timeout_global(Some(HALF_ANSWER_MAX))
            .build();
        let answer = match &token {
            Some(token) => document.header("X-aws-ec2-metadata-token", token).call(),
            None => document.call(),
        };
        let answer = answer.map_err(silent)?;
        if is_lost && answer.status() == StatusCode::UNAUTHORIZED {
            let hint = "it wants a token, which did not come, as it does not to containers beyond its hop limit";
            return Err(Failure::Foreign(hint.to_owned()));
        }
        understood(answer, aws::parse)
    }

    pub(super) fn google(&self) -> Result<CloudEnvironment, Failure> {
        let url = self.url("/computeMetadata/v1/instance/?recursive=true");
        let answer = self.agent.get(url).header("Metadata-Flavor", "Google").call().map_err(silent)?;
        let is_google = answer.headers().get("Metadata-Flavor").is_some_and(|flavor| flavor == "Google");
        if answer.status() == StatusCode::OK && !is_google {
            return Err(Failure::Foreign("no header Metadata-Flavor: Google".to_owned()));
        }
        understood(answer, google::parse)
    }

    fn url(&self, route: &str) -> String {
        format!("{}{route}", self.address)
    }
}

/// The token, or none when the service has none to give; an error when there is no service.
fn token(asked: Asked) -> Result<Option<String>, Failure> {
    let answer = match asked {
        Ok(answer) => answer,
        // Whoever was reached may still answer the other question.
        Err(ureq::Error::Timeout(timeout)) if !matches!(timeout, Timeout::Connect | Timeout::Resolve) => {
            return Ok(None);
        }
        Err(error) => return Err(silent(error)),
    };
    if answer.status() != StatusCode::OK {
        return Ok(None);
    }
    let is_token = |text: &String| {
        (1..=TOKEN_CHARACTERS_MAX).contains(&text.len()) && text.chars().all(|character| character.is_ascii_graphic())
    };
    Ok(content(answer).ok().map(|text| text.trim().to_owned()).filter(is_token))
}

fn understood(
    answer: Response<Body>,
    parse: fn(&str) -> Result<CloudEnvironment, NotUnderstood>,
) -> Result<CloudEnvironment, Failure> {
    if answer.status() != StatusCode::OK {
        return Err(Failure::Foreign(format!("status {}", answer.status().as_u16())));
    }
    parse(&content(answer)?).map_err(|problem| Failure::Garbled(problem.to_string()))
}

/// What an answer says, in whole.
fn content(answer: Response<Body>) -> Result<String, Failure> {
    let bytes = answer.into_body().into_with_config().limit(ANSWER_BYTES_MAX).read_to_vec().map_err(|error| {
        Failure::Garbled(match error {
            ureq::Error::BodyExceedsLimit(_) => "the answer is longer than 1 MiB".to_owned(),
            ureq::Error::Timeout(_) => "the answer does not end in time".to_owned(),
            error => format!("the answer breaks off ({})", innermost(&error)),
        })
    })?;
    String::from_utf8(bytes).map_err(|_| Failure::Garbled("the answer is not text".to_owned()))
}

/// What it means that there is no answer.
fn silent(error: ureq::Error) -> Failure {
    match error {
        ureq::Error::Timeout(Timeout::Connect | Timeout::Resolve) => {
            Failure::Silent("no connection in time".to_owned())
        }
        ureq::Error::Timeout(_) => Failure::Silent("no answer in time".to_owned()),
        ureq::Error::HostNotFound => Failure::Silent("no such host".to_owned()),
        ureq::Error::Io(error) => Failure::Silent(innermost(&error)),
        error @ (ureq::Error::Protocol(_) | ureq::Error::LargeResponseHeader(..)) => {
            Failure::Garbled(format!("the answer is not HTTP ({})", innermost(&error)))
        }
        error => Failure::Silent(innermost(&error)),
    }
}

/// The last of the causes, without the number that Rust adds to those of the kernel.
fn innermost(error: &dyn Error) -> String {
    let mut cause = error;
    while let Some(source) = cause.source() {
        cause = source;
    }
    let text = cause.to_string();
    text.split(" (os error").next().unwrap_or_default().to_lowercase()
}
