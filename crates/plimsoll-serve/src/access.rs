//! Who may ask, and who may change something.
//!
//! A browser sends requests of any page to a server on the same machine. So a server on the loopback interface answers
//! only who calls it by a name of that interface and is no page of another origin, and changes something only for who
//! says so in a header that pages of others cannot send. Everywhere else a token is needed.

use std::{hint, net::SocketAddr, sync::Arc};

use axum::{
    extract::{Request, State},
    http::{HeaderMap, HeaderValue, Method, StatusCode, header},
    middleware::Next,
    response::{IntoResponse, Response},
};
use thiserror::Error;

use super::answer::Refusal;

/// What a writing request says.
pub(crate) const WRITING: &str = "x-plimsoll";

/// Where browsers say whose page asks: `same-origin`, `same-site`, `cross-site`, or `none` for whoever uses them.
const SEC_FETCH_SITE: &str = "sec-fetch-site";

/// Fewer characters can be tried out.
const TOKEN_LENGTH_MIN: usize = 16;
/// More do not fit into a header.
const TOKEN_LENGTH_MAX: usize = 512;

/// What whoever asks has to know.
#[derive(Clone)]
pub struct Token(String);

/// Why a text is no token.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
pub enum TokenError {
    /// Too short or too long.
    #[error("a token has {TOKEN_LENGTH_MIN} to {TOKEN_LENGTH_MAX} characters: `openssl rand -hex 32` makes a good one")]
    Length,
    /// It would have to be quoted somewhere.
    #[error("a token has letters, digits and - . _ ~ + / = only: `openssl rand -hex 32` makes a good one")]
    Character,
}

impl Token {
    /// The token in a text, which may end with a line end.
    pub fn parse(text: &str) -> Result<Self, TokenError> {
        let text = text.trim();
        if !(TOKEN_LENGTH_MIN..=TOKEN_LENGTH_MAX).contains(&text.len()) {
            return Err(TokenError::Length);
        }
        let is_fine = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~+/=".contains(&byte);
        if text.bytes().all(is_fine) { Ok(Self(text.to_owned())) } else { Err(TokenError::Character) }
    }

    /// Whether a text is the token. How long it takes says nothing of how far it was right.
    fn is(&self, text: &str) -> bool {
        let (own, other) = (self.0.as_bytes(), text.as_bytes());
        let differs = own.iter().zip(other).fold(0, |differs, (a, b)| hint::black_box(differs | (a ^ b)));
        own.len() == other.len() && hint::black_box(differs) == 0
    }
}

/// What is asked of requests.
pub(crate) struct Access {
    address: SocketAddr,
    token: Option<Token>,
    is_read_only: bool,
}

impl Access {
    pub(crate) const fn new(address: SocketAddr, token: Option<Token>, is_read_only: bool) -> Self {
        Self { address, token, is_read_only }
    }

    /// Whether a name of this server is one that it is called by on the loopback interface. Another one means that a
    /// page of that name has made the browser believe that it lives here.
    fn is_own_name(&self, host: &str) -> bool {
        let port = self.address.port();
        let own = ["localhost", "127.0.0.1", "[::1]"].map(str::to_owned);
        let own = own.into_iter().chain([match self.address {
            SocketAddr::V4(address) => address.ip().to_string(),
            SocketAddr::V6(address) => format!("[{}]", address.ip()),
        }]);
        own.into_iter().any(|name| {
            host.eq_ignore_ascii_case(&format!("{name}:{port}")) || (port == 80 && host.eq_ignore_ascii_case(&name))
        })
    }

    fn check_name(&self, headers: &HeaderMap) -> Result<(), Refusal> {
        // Who has the token may come by another name, through a proxy say: no page of others makes a browser send it.
        if self.token.is_some() || host(headers).is_some_and(|host| self.is_own_name(host)) {
            return Ok(());
        }
        let port = self.address.port();
        Err(forbidden(format!("this server answers only as localhost:{port} or 127.0.0.1:{port}: ask it by that name")))
    }

    /// Keeps pages of others from having this machine work while it measures: they do not see the answer, but it would
    /// be made. Who has a token needs no such care, as browsers do not send it for others.
    fn check_asking_page(&self, headers: &HeaderMap) -> Result<(), Refusal> {
        if self.token.is_some() {
            return Ok(());
        }
        let site = headers.get(SEC_FETCH_SITE);
        let is_own_site = site.is_none_or(|site| site == "same-origin" || site == "none");
        let is_own_origin = headers.get(header::ORIGIN).is_none_or(|origin| {
            let origin = origin.to_str().unwrap_or_default();
            let name = origin.strip_prefix("http://").or_else(|| origin.strip_prefix("https://"));
            name.zip(host(headers)).is_some_and(|(name, host)| name.eq_ignore_ascii_case(host))
        });
        if is_own_site && is_own_origin {
            return Ok(());
        }
        Err(forbidden("a page of another origin is told nothing here, and changes nothing"))
    }

    fn cookie_name(&self) -> String {
        // Servers on other ports of the same machine get the same cookies.
        format!("plimsoll_token_{}", self.address.port())
    }

    fn check_token(&self, headers: &HeaderMap) -> Result<(), Refusal> {
        let Some(token) = &self.token else { return Ok(()) };
        let bearer = headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok()).and_then(|value| {
            let (scheme, token) = value.split_once(' ')?;
            scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
        });
        let name = self.cookie_name();
        let cookies = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
        let mut cookies = cookies.flat_map(|value| value.split(';')).filter_map(|pair| pair.trim().split_once('='));
        let is_known =
            bearer.is_some_and(|text| token.is(text)) || cookies.any(|(known, value)| known == name && token.is(value));
        if is_known {
            return Ok(());
        }
        Err(Refusal::new(
            StatusCode::UNAUTHORIZED,
            "a token is needed: open /?token=TOKEN in the browser, or send the header \"Authorization: Bearer TOKEN\"",
        ))
    }

    /// What a writing request has to say.
    fn check_writing(&self, headers: &HeaderMap) -> Result<(), Refusal> {
        if self.is_read_only {
            return Err(forbidden("this server was started with --read-only and changes nothing"));
        }
        if headers.get(WRITING).is_none_or(|value| value != "1") {
            return Err(forbidden(format!("what changes something needs the header \"{WRITING}: 1\"")));
        }
        Ok(())
    }

    /// Takes a token out of the address of the page and into a cookie.
    fn log_in(&self, query: Option<&str>) -> Option<Response> {
        let token = self.token.as_ref()?;
        let pairs = form_urlencoded::parse(query?.as_bytes());
        // No token has a blank, and a plus becomes one in an address.
        let text = pairs.filter(|(name, _)| name == "token").map(|(_, value)| value.replace(' ', "+")).last()?;
        if !token.is(&text) {
            return Some(
                Refusal::new(StatusCode::UNAUTHORIZED, "that is not the token of this server").into_response(),
            );
        }
        let cookie = format!("{}={}; Path=/; HttpOnly; SameSite=Lax", self.cookie_name(), token.0);
        let mut response = StatusCode::SEE_OTHER.into_response();
        response.headers_mut().insert(header::LOCATION, HeaderValue::from_static("/"));
        response.headers_mut().insert(header::SET_COOKIE, HeaderValue::from_str(&cookie).ok()?);
        Some(response)
    }
}

fn forbidden(sentence: impl Into<String>) -> Refusal {
    Refusal::new(StatusCode::FORBIDDEN, sentence)
}

/// The name that a server was asked by, which every request has once.
fn host(headers: &HeaderMap) -> Option<&str> {
    let mut names = headers.get_all(header::HOST).iter();
    let name = names.next()?.to_str().ok()?;
    names.next().is_none().then_some(name)
}

/// Lets nobody in who may not ask.
pub(crate) async fn check(State(access): State<Arc<Access>>, request: Request, next: Next) -> Response {
    if let Err(refusal) = access.check_name(request.headers()) {
        return refusal.into_response();
    }
    let is_page = request.uri().path() == "/";
    // The page itself is the same for all, and other pages may have links to it.
    if !is_page && let Err(refusal) = access.check_asking_page(request.headers()) {
        return refusal.into_response();
    }
    if is_page
        && request.method() == Method::GET
        && let Some(response) = access.log_in(request.uri().query())
    {
        return response;
    }
    if let Err(refusal) = access.check_token(request.headers()) {
        let mut response = refusal.into_response();
        response.headers_mut().insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        return response;
    }
    next.run(request).await
}

/// Lets nobody change anything who may not.
pub(crate) async fn check_writing(State(access): State<Arc<Access>>, request: Request, next: Next) -> Response {
    match access.check_writing(request.headers()) {
        Ok(()) => next.run(request).await,
        Err(refusal) => refusal.into_response(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_long_enough_and_needs_no_quotes() {
        let token = Token::parse("0123456789abcdef\n").unwrap();
        assert!(token.is("0123456789abcdef"));
        for other in ["", "0123456789abcde", "0123456789abcdef0", "0123456789abcdeF"] {
            assert!(!token.is(other), "{other}");
        }
        assert_eq!(Token::parse("short").err(), Some(TokenError::Length));
        assert_eq!(Token::parse("0123456789 abcdef").err(), Some(TokenError::Character));
        assert_eq!(Token::parse("0123456789;abcdef").err(), Some(TokenError::Character));
    }

    #[test]
    fn a_server_on_the_loopback_interface_has_few_names() {
        let access = Access::new("127.0.0.1:7457".parse().unwrap(), None, false);
        for name in ["localhost:7457", "LOCALHOST:7457", "127.0.0.1:7457", "[::1]:7457"] {
            assert!(access.is_own_name(name), "{name}");
        }
        for name in ["localhost", "localhost:80", "example.org:7457", "127.0.0.1.example.org:7457", "", "0.0.0.0:7457"]
        {
            assert!(!access.is_own_name(name), "{name}");
        }
        assert!(Access::new("[::1]:80".parse().unwrap(), None, false).is_own_name("[::1]"));
    }
}
