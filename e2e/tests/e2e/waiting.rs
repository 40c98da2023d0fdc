//! Waiting for something that the cluster will do, with an end.

use std::{
    thread,
    time::{Duration, Instant},
};

/// How often is asked.
const INTERVAL: Duration = Duration::from_millis(200);

/// Asks until there is an answer. After `seconds` the test fails, with what was waited for and what was there instead.
pub(crate) fn until<T>(what: &str, seconds: u64, mut ask: impl FnMut() -> Result<T, String>) -> T {
    let deadline = Instant::now() + Duration::from_secs(seconds);
    loop {
        match ask() {
            Ok(answer) => return answer,
            Err(instead) if Instant::now() > deadline => panic!("not in {seconds} s: {what}; {instead}"),
            Err(_) => thread::sleep(INTERVAL),
        }
    }
}
