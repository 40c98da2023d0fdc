//! Who pushes: credentials as docker, podman and skopeo keep them.
//!
//! They are in JSON files, by registry, or with a program whose name the file has. Nothing of them is ever told.

use std::{
    fs,
    io::{self, Write as _},
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use base64::{Engine as _, prelude::BASE64_STANDARD};
use serde_json::Value;
use thiserror::Error;

use crate::reference::Reference;

/// The user's name that programs tell where the secret is a token for tokens.
const TOKEN_USER: &str = "<token>";

/// What says who somebody is.
pub(crate) enum Credentials {
    /// A name and a password.
    Password(String, String),
    /// What is changed into tokens at the registry's authority.
    IdentityToken(String),
    /// What the registry itself takes.
    RegistryToken(String),
}

/// Why nobody knows who pushes.
#[derive(Debug, Error)]
pub enum CredentialsError {
    /// A file cannot be read.
    #[error("read credentials for registries from {}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// A file is not what it should be.
    #[error("credentials for registries in {}: {why}", path.display())]
    Wrong {
        /// The file.
        path: PathBuf,
        /// What is wrong, without what is in it.
        why: String,
    },
    /// A program does not tell.
    #[error("{program}, which {} names for {registry}, {why}", path.display())]
    Program {
        /// The program.
        program: String,
        /// The file that names it.
        path: PathBuf,
        /// Whose credentials were asked for.
        registry: String,
        /// What it did instead.
        why: String,
    },
}

/// The first credentials for an image that one of the files has; files need not be there.
pub(crate) fn find(files: &[PathBuf], image: &Reference) -> Result<Option<Credentials>, CredentialsError> {
    for path in files {
        let text = match fs::read(path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            Err(source) => return Err(CredentialsError::Read { path: path.clone(), source }),
        };
        let wrong = |why: String| CredentialsError::Wrong { path: path.clone(), why };
        let file: Value = serde_json::from_slice(&text).map_err(|error| wrong(format!("this is no JSON: {error}")))?;
        let account = image.account();
        let programs = [&file["credHelpers"][account], &file["credHelpers"][&image.registry], &file["credsStore"]];
        if let Some(name) = programs.into_iter().filter_map(Value::as_str).find(|name| !name.is_empty())
            && let Some(found) = ask(name, account, path)?
        {
            return Ok(Some(found));
        }
        if let Some(entry) = entry(&file["auths"], image)
            && let Some(found) = of_entry(entry).map_err(|why| wrong(format!("{why} for {}", image.registry)))?
        {
            return Ok(Some(found));
        }
    }
    Ok(None)
}

/// The entry that is most about an image: one for its name or the beginning of it, or one for the registry.
fn entry<'a>(entries: &'a Value, image: &Reference) -> Option<&'a Value> {
    let entries = entries.as_object()?;
    let mut name = format!("{}/{}", image.registry, image.repository);
    loop {
        if let Some(entry) = entries.get(&name) {
            return Some(entry);
        }
        name.truncate(name.rfind('/')?);
        if !name.contains('/') {
            break;
        }
    }
    // Registries are also there by addresses, which were the rule once.
    let host = |key: &str| {
        let rest = key.trim_start_matches("https://").trim_start_matches("http://");
        rest.split('/').next().unwrap_or_default().to_owned()
    };
    let is_bare = |key: &str| !key.contains('/') || key.contains("://");
    let wanted = host(image.account());
    entries
        .iter()
        .find(|(key, _)| is_bare(key) && (host(key) == wanted || **key == image.registry))
        .map(|(_, entry)| entry)
}

/// What an entry has; none when it only says that a program has it.
fn of_entry(entry: &Value) -> Result<Option<Credentials>, &'static str> {
    let text = |field: &str| entry[field].as_str().filter(|text| !text.is_empty()).map(str::to_owned);
    if let Some(token) = text("identitytoken") {
        return Ok(Some(Credentials::IdentityToken(token)));
    }
    if let Some(token) = text("registrytoken") {
        return Ok(Some(Credentials::RegistryToken(token)));
    }
    let Some(pair) = text("auth") else {
        return Ok(text("username").zip(text("password")).map(|(user, secret)| Credentials::Password(user, secret)));
    };
    let pair = BASE64_STANDARD.decode(pair).ok().and_then(|pair| String::from_utf8(pair).ok());
    let pair = pair.ok_or("\"auth\" is not base64 of USER:PASSWORD")?;
    let (user, secret) = pair.split_once(':').ok_or("\"auth\" is not base64 of USER:PASSWORD")?;
    // Some programs write what others read as the end of a text.
    Ok(Some(Credentials::Password(user.to_owned(), secret.trim_end_matches('\0').to_owned())))
}

/// What a program that keeps credentials has for a registry.
fn ask(name: &str, account: &str, path: &Path) -> Result<Option<Credentials>, CredentialsError> {
    let program = format!("docker-credential-{name}");
    let failed = |why: String| CredentialsError::Program {
        program: program.clone(),
        path: path.to_owned(),
        registry: account.to_owned(),
        why,
    };
    let run = || {
        let mut child = Command::new(&program)
            .arg("get")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()?;
        // Who does not listen may still answer.
        let _ = child.stdin.take().map(|mut input| input.write_all(account.as_bytes()));
        child.wait_with_output()
    };
    let output = run().map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => failed("is not installed".to_owned()),
        _ => failed(format!("cannot be started: {error}")),
    })?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stdout);
        if said.contains("credentials not found") {
            return Ok(None);
        }
        return Err(failed(format!("says: {}", said.trim())));
    }
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap_or_default();
    match (answer["Username"].as_str(), answer["Secret"].as_str()) {
        (Some(TOKEN_USER), Some(token)) => Ok(Some(Credentials::IdentityToken(token.to_owned()))),
        (Some(user), Some(secret)) => Ok(Some(Credentials::Password(user.to_owned(), secret.to_owned()))),
        _ => Err(failed("tells no Username and Secret".to_owned())),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn found(file: &Value, image: &str) -> Result<String, String> {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("config.json");
        fs::write(&path, file.to_string()).unwrap();
        let files = [place.path().join("absent.json"), path];
        match find(&files, &image.parse().unwrap()) {
            Ok(Some(Credentials::Password(user, secret))) => Ok(format!("{user} {secret}")),
            Ok(Some(Credentials::IdentityToken(token))) => Ok(format!("identity {token}")),
            Ok(Some(Credentials::RegistryToken(token))) => Ok(format!("registry {token}")),
            Ok(None) => Ok("nobody".to_owned()),
            Err(error) => Err(error.to_string()),
        }
    }

    fn auth(pair: &str) -> Value {
        json!({ "auth": BASE64_STANDARD.encode(pair) })
    }

    #[test]
    fn the_entry_that_is_most_about_the_image_counts() {
        let file = json!({ "auths": {
            "example.org": auth("all:a"),
            "example.org/bench": auth("bench:b:c"),
            "https://old.example.org/v2/": auth("old:o"),
            "https://index.docker.io/v1/": auth("hub:h"),
            "azure.example.org": { "auth": BASE64_STANDARD.encode("0000:"), "identitytoken": "i" },
            "token.example.org": { "registrytoken": "r" },
            "empty.example.org": {},
        } });
        for (image, who) in [
            ("example.org/other/plimsoll", "all a"),
            ("example.org/bench/plimsoll", "bench b:c"),
            ("example.org/bench2/plimsoll", "all a"),
            ("old.example.org/plimsoll", "old o"),
            ("docker.io/me/plimsoll", "hub h"),
            ("azure.example.org/plimsoll", "identity i"),
            ("token.example.org/plimsoll", "registry r"),
            ("empty.example.org/plimsoll", "nobody"),
            ("sub.example.org/plimsoll", "nobody"),
        ] {
            assert_eq!(found(&file, image).unwrap(), who, "{image}");
        }
    }

    #[test]
    fn what_is_wrong_with_a_file_is_said_without_its_secrets() {
        let file = json!({ "auths": { "example.org": { "auth": "c2VjcmV0" } } });
        let error = found(&file, "example.org/plimsoll").unwrap_err();
        assert!(error.contains("config.json") && error.contains("USER:PASSWORD"), "{error}");
        assert!(!error.contains("c2VjcmV0") && !error.contains("secret"), "{error}");
    }

    #[test]
    fn a_program_that_is_not_there_is_named() {
        let file = json!({ "credHelpers": { "example.org": "no-such" }, "auths": { "other.org": auth("o:p") } });
        let error = found(&file, "example.org/plimsoll").unwrap_err();
        assert!(error.contains("docker-credential-no-such") && error.contains("not installed"), "{error}");
        assert_eq!(found(&file, "other.org/plimsoll").unwrap(), "o p");
    }
}
