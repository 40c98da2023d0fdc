//! The cluster, asked by the `kubectl` that is part of it.

use std::{
    env,
    io::Write as _,
    process::{Command, Output, Stdio},
};

use serde_json::Value;

/// A variable that `cargo xtask e2e` sets.
pub(crate) fn variable(name: &str) -> String {
    env::var(name).unwrap_or_else(|_| panic!("{name} is not set: run the tests by \"cargo xtask e2e test\""))
}

/// Whether the tests that take long run too.
pub(crate) fn is_full() -> bool {
    env::var_os("PLIMSOLL_E2E_FULL").is_some()
}

/// plimsoll outside of the cluster: the client.
pub(crate) fn plimsoll(arguments: &[&str]) -> Command {
    let mut command = Command::new(variable("PLIMSOLL_E2E_BINARY"));
    command.args(arguments);
    command
}

/// `kubectl` with these arguments, and this on its standard input.
pub(crate) fn kubectl(arguments: &[&str], input: &str) -> Output {
    let mut command = Command::new(variable("PLIMSOLL_E2E_KUBE_ALL"));
    command.arg("kubectl").args(arguments);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // What does not read its input ends before it is written.
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    child.wait_with_output().unwrap()
}

/// What it answers, or what it complains about.
pub(crate) fn ask(arguments: &[&str]) -> Result<String, String> {
    let output = kubectl(arguments, "");
    if output.status.success() {
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    } else {
        Err(format!("kubectl {}: {}", arguments.join(" "), String::from_utf8_lossy(&output.stderr).trim()))
    }
}

/// Objects as JSON: one by its name, or a list.
pub(crate) fn get(arguments: &[&str]) -> Result<Value, String> {
    let text = ask(&[&["get", "--output=json"], arguments].concat())?;
    serde_json::from_str(&text).map_err(|error| format!("{error}: {text}"))
}

/// The items of a list.
pub(crate) fn list(arguments: &[&str]) -> Result<Vec<Value>, String> {
    Ok(get(arguments)?["items"].as_array().cloned().unwrap_or_default())
}

/// Creates or changes an object.
pub(crate) fn apply(object: &Value) {
    let output = kubectl(&["apply", "--filename=-"], &object.to_string());
    assert!(output.status.success(), "apply {object}: {}", String::from_utf8_lossy(&output.stderr));
}

/// The text at a path such as `/status/phase`; nothing where there is none.
pub(crate) fn text<'a>(object: &'a Value, path: &str) -> &'a str {
    object.pointer(path).and_then(Value::as_str).unwrap_or_default()
}
