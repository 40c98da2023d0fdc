//! The program in the pods of `plimsoll kubernetes lifecycle`: makes sure of its volume, tells when, and then waits
//! until it is ended, looking whether the volume grows.

use std::{path::Path, sync::atomic::Ordering, thread, time::Duration};

use anyhow::Context;
use jiff::Timestamp;
use plimsoll_io::mounts;
use plimsoll_kubernetes::frames::Message;
use plimsoll_run::life_mark::{LifeMark, size_bytes};
use plimsoll_workload::error_chain::chain;

use super::agent::{LINGER, Telling, of_target, say_at_the_end};
use crate::{cli::kubernetes::LiveArguments, exit::Exit, printer::Printer, stop};

/// How often to look at what nobody tells: signals, and the size of the volume.
const TICK: Duration = Duration::from_millis(50);

/// Lives in a pod until it is ended.
pub(super) fn live(arguments: &LiveArguments, printer: Printer) -> anyhow::Result<Exit> {
    let stop = stop::on_signals().context("listen for signals")?;
    let Some((target, mark)) = arguments.target.as_deref().zip(arguments.mark.as_deref()) else {
        while !stop.load(Ordering::Relaxed) {
            thread::sleep(TICK);
        }
        return Ok(Exit::Success);
    };
    let telling = Telling::start(printer)?;
    telling.tell(Message::Running { at: Timestamp::now(), run: arguments.run, number: 0, count: 1 });
    let mut known_bytes = match make_sure(target, &LifeMark::new(mark), arguments.find) {
        Ok(size_bytes) => size_bytes,
        Err(error) => {
            let (exit, text) = (Exit::of(&error), chain(error.as_ref()));
            say_at_the_end(&text);
            telling.tell(Message::Failed { exit: exit as u8, text });
            telling.end();
            thread::sleep(LINGER);
            return Ok(exit);
        }
    };
    telling.tell(Message::FirstIo { target: target.display().to_string(), at: Timestamp::now() });
    while !stop.load(Ordering::Relaxed) {
        thread::sleep(TICK);
        let now_bytes = size_bytes(target).unwrap_or(known_bytes);
        if now_bytes > known_bytes {
            telling.tell(Message::Grown { at: Timestamp::now() });
            known_bytes = now_bytes;
        }
    }
    telling.end();
    Ok(Exit::Success)
}

/// Marks a new volume, or finds the mark in one that is not new; how large it is.
fn make_sure(target: &Path, mark: &LifeMark, is_marked: bool) -> anyhow::Result<u64> {
    if target.is_dir() {
        mounts::expect_mount(target)?;
    }
    let size_bytes = size_bytes(target).map_err(|error| of_target(error, "look how large it is:", target))?;
    if is_marked {
        mark.find(target)?;
    } else {
        mark.write(target)?;
    }
    Ok(size_bytes)
}
