//! Tools of the system that make devices.

use std::{io, process::Command};

use crate::error::DeviceError;

/// Runs a tool to its end, and gives what it printed.
pub(crate) fn run(tool: &str, arguments: &[&str]) -> Result<String, DeviceError> {
    let failed = |why: String| DeviceError::Tool { tool: tool.to_owned(), why };
    // Tools of administration are not in everybody's path.
    let path = "/usr/local/sbin:/usr/sbin:/sbin:/usr/local/bin:/usr/bin:/bin";
    let output = Command::new(tool).args(arguments).env("PATH", path).env("LC_ALL", "C").output();
    let output = output.map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => failed("is not installed".to_owned()),
        _ => failed(format!("could not be started: {error}")),
    })?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    let line = said.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or("it did not say why");
    let line = line.strip_prefix(&format!("{tool}: ")).unwrap_or(line);
    Err(failed(format!("{} failed: {line}", arguments.join(" "))))
}
