//! How a registry asks who somebody is.

use base64::{Engine as _, prelude::BASE64_STANDARD};

/// What a header `WWW-Authenticate` asks for.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Challenge {
    /// Name and password.
    Basic,
    /// A token, which somebody else gives.
    Bearer {
        /// Where.
        realm: String,
        /// For whom.
        service: String,
    },
}

impl Challenge {
    /// Reads one; none of what nobody here can do.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let (scheme, rest) = text.trim().split_once(' ').unwrap_or((text.trim(), ""));
        if scheme.eq_ignore_ascii_case("basic") {
            return Some(Self::Basic);
        }
        if !scheme.eq_ignore_ascii_case("bearer") {
            return None;
        }
        let parameters = parameters(rest);
        let value = |name: &str| {
            let found = parameters.iter().find(|(found, _)| found.eq_ignore_ascii_case(name));
            found.map(|(_, value)| value.clone())
        };
        Some(Self::Bearer { realm: value("realm")?, service: value("service").unwrap_or_default() })
    }
}

/// Pairs of a name and a value, which may be in quotes and have commas then.
fn parameters(text: &str) -> Vec<(String, String)> {
    let mut pairs = Vec::new();
    let mut rest = text;
    while let Some((name, after)) = rest.split_once('=') {
        let name = name.trim_matches([' ', ',', '\t']);
        let (value, after) = match after.strip_prefix('"') {
            Some(quoted) => quoted.split_once('"').unwrap_or((quoted, "")),
            None => after.split_once(',').unwrap_or((after, "")),
        };
        pairs.push((name.to_owned(), value.trim().to_owned()));
        rest = after;
    }
    pairs
}

/// The header for a name and a password.
pub(super) fn basic(user: &str, secret: &str) -> String {
    format!("Basic {}", BASE64_STANDARD.encode(format!("{user}:{secret}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn challenges_are_read_as_registries_write_them() {
        let text =
            r#"Bearer realm="https://auth.example.org/token",service="example.org",scope="repository:a:pull,push""#;
        let (realm, service) = ("https://auth.example.org/token".to_owned(), "example.org".to_owned());
        assert_eq!(Challenge::parse(text), Some(Challenge::Bearer { realm, service }));
        assert_eq!(
            Challenge::parse("bearer service=b, realm=a"),
            Some(Challenge::Bearer { realm: "a".into(), service: "b".into() })
        );
        assert_eq!(Challenge::parse(r#"Basic realm="Registry""#), Some(Challenge::Basic));
        assert_eq!(Challenge::parse("Negotiate"), None);
        assert_eq!(Challenge::parse("Bearer"), None);
        assert!(Challenge::parse(r#"Bearer realm="unfinished"#).is_some());
    }
}
