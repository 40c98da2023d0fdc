//! The page, without data: it asks for it.

use axum::{
    http::{HeaderValue, StatusCode, header},
    response::Response,
};

use super::answer::of_type;

/// What only a header may say.
const OF_HEADERS: &str = "frame-ancestors 'none'";

/// The page; or, when the program was built without it, why there is none.
pub(crate) async fn page() -> Response {
    let page = match plimsoll_page::served() {
        Ok(page) => page,
        Err(error) => {
            let text = format!("{error}\n\nWhat the page would show is served all the same, as /api/runs.\n");
            return of_type("text/plain; charset=utf-8", text, StatusCode::OK);
        }
    };
    let mut response = of_type("text/html; charset=utf-8", page, StatusCode::OK);
    let policy = plimsoll_page::policy(page).map_or_else(|| OF_HEADERS.to_owned(), |of| format!("{of}; {OF_HEADERS}"));
    if let Ok(policy) = HeaderValue::from_str(&policy) {
        response.headers_mut().insert(header::CONTENT_SECURITY_POLICY, policy);
    }
    response
}
