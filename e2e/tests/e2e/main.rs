//! What holds in a real cluster. `cargo xtask e2e` starts one, runs these tests in its network, and removes it;
//! e2e/README.md says what a test is told and what it may rely on.

#![expect(clippy::disallowed_methods, reason = "tests wait for a cluster, which has the real time")]
#![expect(clippy::unwrap_used, reason = "a test fails where it cannot go on, in its own functions too")]
#![expect(clippy::print_stderr, reason = "a guard that fails while its test panics can only say so")]

mod alone;
mod claims;
mod client;
mod deadlines;
mod disturbing;
mod ephemeral;
mod fitting;
mod kubectl;
mod lab;
mod leaving;
mod limited;
mod lives;
mod measuring;
mod namespace;
mod preflight;
mod serving;
mod several;
mod silence;
mod volumes;
mod waiting;
mod way;
