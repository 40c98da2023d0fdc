//! Tools of the system that make devices.

use std::{
    io::{self, Write},
    path::Path,
    process::{Command, Output, Stdio},
};

use plimsoll_io::children;

use crate::error::DeviceError;

/// Tools of administration are not in everybody's path.
const PATH: &str = "/usr/local/sbin:/usr/sbin:/sbin:/usr/local/bin:/usr/bin:/bin";

/// Runs a tool to its end, and gives what it printed.
pub(crate) fn run(tool: &str, arguments: &[&str]) -> Result<String, DeviceError> {
    run_or(tool, arguments, &[])
}

/// The same, where some exit codes besides zero say that all went well.
pub(crate) fn run_or(tool: &str, arguments: &[&str], also_fine: &[i32]) -> Result<String, DeviceError> {
    let output = command(tool).args(arguments).output();
    judge(tool, arguments, output, also_fine)
}

/// The same of one that reads from its input.
pub(crate) fn run_with(tool: &str, arguments: &[&str], input: &str) -> Result<String, DeviceError> {
    let piped = |mut command: Command| {
        let command = command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn()?;
        if let Some(mut pipe) = child.stdin.take() {
            // What it does not want to read, it will say.
            let _ = pipe.write_all(input.as_bytes());
        }
        child.wait_with_output()
    };
    judge(tool, arguments, piped(command(tool)), &[])
}

/// Whether a tool is installed.
pub(crate) fn is_installed(tool: &str) -> bool {
    PATH.split(':').any(|directory| Path::new(directory).join(tool).exists())
}

fn command(tool: &str) -> Command {
    let mut command = Command::new(tool);
    command.stdin(Stdio::null()).env("PATH", PATH).env("LC_ALL", "C");
    // They get what is locked, so that it is as long as they go on.
    command.env("LVM_SUPPRESS_FD_WARNINGS", "1");
    children::ends_with_us(&mut command);
    command
}

fn judge(tool: &str, arguments: &[&str], output: io::Result<Output>, also_fine: &[i32]) -> Result<String, DeviceError> {
    let failed = |why: String| DeviceError::Tool { tool: tool.to_owned(), why };
    let output = output.map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => DeviceError::NoTool { tool: tool.to_owned() },
        _ => failed(format!("could not be started: {error}")),
    })?;
    if output.status.success() || output.status.code().is_some_and(|code| also_fine.contains(&code)) {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    let mut lines = said.lines().map(str::trim).filter(|line| !line.is_empty());
    let prefix = format!("{tool}: ");
    // The first line is often that something begins.
    let error = lines.clone().find(|line| line.to_ascii_lowercase().contains("error") || line.starts_with(&prefix));
    let line = error.or_else(|| lines.next()).unwrap_or("it did not say why");
    let line = line.strip_prefix(&prefix).unwrap_or(line);
    let remedy = if rustix::process::geteuid().is_root() { "" } else { ": it takes root (sudo)" };
    Err(failed(format!("{} failed: {line}{remedy}", arguments.join(" "))))
}
