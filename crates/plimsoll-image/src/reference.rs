//! Names of images: `REGISTRY/NAME:TAG`.

use std::{fmt, net::IpAddr, str::FromStr};

use thiserror::Error;

/// The longest name that registries take.
const NAME_CHARACTERS_MAX: usize = 255;
const TAG_CHARACTERS_MAX: usize = 128;

/// The registry that everybody calls by another name than its address.
const HUB: &str = "docker.io";

/// A whole name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reference {
    /// The registry: a host, with a port or without.
    pub registry: String,
    /// What the image is called there.
    pub repository: String,
    /// Which of those.
    pub tag: String,
}

/// What was typed is no name of an image.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("\"{text}\" is no name of an image: {why}")]
pub struct ReferenceError {
    /// What was typed.
    text: String,
    /// What is wrong with it.
    why: &'static str,
}

impl Reference {
    /// The address that is behind the registry's name.
    #[must_use]
    pub fn host(&self) -> &str {
        if self.registry == HUB { "registry-1.docker.io" } else { &self.registry }
    }

    /// How files with credentials call the registry.
    #[must_use]
    pub fn account(&self) -> &str {
        if self.registry == HUB { "https://index.docker.io/v1/" } else { &self.registry }
    }

    /// Whether the registry is on this machine.
    #[must_use]
    pub fn is_local(&self) -> bool {
        let registry = &self.registry;
        // The last part of a bare IPv6 address in brackets is no port.
        let host = registry.rsplit_once(':').filter(|_| !registry.ends_with(']')).map_or(&**registry, |(host, _)| host);
        let address = host.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>();
        host == "localhost" || address.is_ok_and(|address| address.is_loopback())
    }
}

impl fmt::Display for Reference {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}/{}:{}", self.registry, self.repository, self.tag)
    }
}

impl FromStr for Reference {
    type Err = ReferenceError;

    fn from_str(text: &str) -> Result<Self, ReferenceError> {
        let error = |why| ReferenceError { text: text.to_owned(), why };
        if text.contains("://") {
            return Err(error("leave the scheme out, write REGISTRY/NAME:TAG"));
        }
        if text.contains('@') {
            return Err(error("a digest follows from what is in the image, write a tag"));
        }
        let (registry, rest) = text.split_once('/').unwrap_or(("", text));
        let is_host = registry == "localhost" || registry.contains(['.', ':']);
        if !is_host
            || !registry.chars().all(|character| character.is_ascii_alphanumeric() || ".-:[]".contains(character))
        {
            return Err(error(
                "it begins with a registry, as in registry.example.org/NAME:TAG or docker.io/USER/NAME:TAG",
            ));
        }
        let (repository, tag) = rest.split_once(':').unwrap_or((rest, env!("CARGO_PKG_VERSION")));
        if repository.len() > NAME_CHARACTERS_MAX || !repository.split('/').all(is_part) {
            return Err(error("between registry and tag are small letters, digits and single ., _ or - between them"));
        }
        if !is_tag(tag) {
            return Err(error("a tag has at most 128 letters, digits, ., _ and -, and begins with none of . and -"));
        }
        let registry = if registry == "index.docker.io" { HUB } else { registry };
        Ok(Self { registry: registry.to_owned(), repository: repository.to_owned(), tag: tag.to_owned() })
    }
}

/// Whether text may stand between slashes.
fn is_part(text: &str) -> bool {
    let is_word = |character: char| character.is_ascii_lowercase() || character.is_ascii_digit();
    let separators = text.split(is_word).filter(|separator| !separator.is_empty());
    text.starts_with(is_word)
        && text.ends_with(is_word)
        && separators.into_iter().all(|text| matches!(text, "." | "_" | "__") || text.chars().all(|each| each == '-'))
}

fn is_tag(text: &str) -> bool {
    let is_word = |character: char| character.is_ascii_alphanumeric() || character == '_';
    text.starts_with(is_word)
        && text.len() <= TAG_CHARACTERS_MAX
        && text.chars().all(|character| is_word(character) || character == '.' || character == '-')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_as_registries_read_them() {
        for (text, registry, repository, tag) in [
            ("registry.example.org/bench/plimsoll:1.2", "registry.example.org", "bench/plimsoll", "1.2"),
            ("localhost:5000/plimsoll:e2e", "localhost:5000", "plimsoll", "e2e"),
            ("localhost/plimsoll", "localhost", "plimsoll", env!("CARGO_PKG_VERSION")),
            ("[::1]:5000/a__b/c-d--e", "[::1]:5000", "a__b/c-d--e", env!("CARGO_PKG_VERSION")),
            ("index.docker.io/me/plimsoll:a", "docker.io", "me/plimsoll", "a"),
        ] {
            let reference: Reference = text.parse().unwrap();
            assert_eq!([&reference.registry, &reference.repository, &reference.tag], [registry, repository, tag]);
        }
    }

    #[test]
    fn what_no_registry_would_take_is_refused() {
        for (text, word) in [
            ("plimsoll", "registry.example.org"),
            ("me/plimsoll:1", "docker.io"),
            ("https://registry.example.org/plimsoll", "scheme"),
            ("registry.example.org/plimsoll@sha256:00", "digest"),
            ("registry.example.org/Plimsoll", "small letters"),
            ("registry.example.org/a//b", "small letters"),
            ("registry.example.org/", "small letters"),
            ("registry.example.org/plimsoll:", "tag"),
            ("registry.example.org/plimsoll:a b", "tag"),
            ("exa mple.org/plimsoll", "registry"),
        ] {
            let error = text.parse::<Reference>().unwrap_err().to_string();
            assert!(error.contains(word), "{error}");
        }
    }

    #[test]
    fn only_this_machine_is_local() {
        let is_local = |text: &str| text.parse::<Reference>().unwrap().is_local();
        assert!(
            ["localhost/a", "localhost:1/a", "127.0.0.1:5000/a", "127.1.2.3/a", "[::1]:1/a", "[::1]/a"]
                .into_iter()
                .all(is_local)
        );
        assert!(
            !["localhost.example.org/a", "10.0.0.1:5000/a", "127.0.0.1.example.org/a", "[::2]:1/a"]
                .into_iter()
                .any(is_local)
        );
    }
}
