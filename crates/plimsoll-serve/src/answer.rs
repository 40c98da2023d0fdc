//! What goes back: JSON, and refusals of one sentence with a fitting status.

use std::error::Error;

use axum::{
    body::Body,
    http::{HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use plimsoll_history::history::HistoryError;
use plimsoll_workload::error_chain::chain;
use serde::Serialize;
use serde_json::json;

/// What a handler gives back.
pub(crate) type Answer = Result<Response, Refusal>;

/// Why something was not done, in one sentence.
#[derive(Debug)]
pub(crate) struct Refusal {
    pub(crate) status: StatusCode,
    pub(crate) sentence: String,
}

impl Refusal {
    pub(crate) fn new(status: StatusCode, sentence: impl Into<String>) -> Self {
        Self { status, sentence: sentence.into() }
    }

    /// What was asked has no sense.
    pub(crate) fn usage(sentence: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, sentence)
    }

    /// Something here went wrong that is not the fault of who asked.
    pub(crate) fn failure(error: &dyn Error) -> Self {
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, chain(error))
    }
}

impl From<HistoryError> for Refusal {
    fn from(error: HistoryError) -> Self {
        let status = match &error {
            HistoryError::NotFound(_)
            | HistoryError::Empty
            | HistoryError::TooShort(_)
            | HistoryError::NoBaseline(_) => StatusCode::NOT_FOUND,
            HistoryError::IsBaseline { .. } => StatusCode::CONFLICT,
            HistoryError::Busy { .. } => StatusCode::SERVICE_UNAVAILABLE,
            error if error.is_usage() => StatusCode::BAD_REQUEST,
            _ => StatusCode::INTERNAL_SERVER_ERROR,
        };
        Self::new(status, chain(&error))
    }
}

impl From<serde_json::Error> for Refusal {
    fn from(error: serde_json::Error) -> Self {
        Self::failure(&error)
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let text = json!({ "error": self.sentence }).to_string();
        of_type("application/json", text, self.status)
    }
}

/// JSON.
pub(crate) fn json(value: &impl Serialize) -> Answer {
    Ok(of_type("application/json", serde_json::to_vec(value)?, StatusCode::OK))
}

/// A body of a type.
pub(crate) fn of_type(content_type: &'static str, body: impl Into<Body>, status: StatusCode) -> Response {
    let mut response = Response::new(body.into());
    *response.status_mut() = status;
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(content_type));
    response
}

/// Does what waits for a disk where nobody else waits for it.
pub(crate) async fn away<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Refusal> + Send + 'static,
) -> Result<T, Refusal> {
    tokio::task::spawn_blocking(work).await.unwrap_or_else(|_| {
        let sentence = "this answer ended in a bug in plimsoll, please report it";
        Err(Refusal::new(StatusCode::INTERNAL_SERVER_ERROR, sentence))
    })
}
