//! What is generated is what it was, and is what the programs take that it is written for.

#![expect(clippy::unwrap_used, reason = "a test ends at the first thing that is not as it must be")]

mod azure_command_line;
mod changes;
mod golden;
mod preparing;
mod refusals;
mod scripts;
mod support;
mod teardown;
mod terraform;
