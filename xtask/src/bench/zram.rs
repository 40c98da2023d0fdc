//! The memory disk that engines are compared on: fast enough that the engine is what limits.

use std::{
    fs, io,
    path::{Path, PathBuf},
    thread,
    time::Duration,
};

use anyhow::Context as _;

const SIZE: &str = "2G";

/// A zram device that was given its size here, and is reset on drop.
pub(super) struct Zram {
    system: PathBuf,
}

/// Sizes the device when it is a zram device without a size. One that has a size is somebody's, and used as it is.
pub(super) fn prepare(device: &Path) -> anyhow::Result<Option<Zram>> {
    let name = device.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let system = Path::new("/sys/block").join(&name);
    if !name.starts_with("zram") || size_bytes(&system) != Some(0) {
        return Ok(None);
    }
    let disksize = system.join("disksize");
    fs::write(&disksize, SIZE).with_context(|| format!("write {SIZE} to {}", disksize.display()))?;
    Ok(Some(Zram { system }))
}

fn size_bytes(system: &Path) -> Option<u64> {
    fs::read_to_string(system.join("disksize")).ok()?.trim().parse().ok()
}

impl Drop for Zram {
    fn drop(&mut self) {
        let reset = || fs::write(self.system.join("reset"), "1");
        let mut done = reset();
        // What a ring of a program that has ended had open is closed a moment later.
        for _ in 0..50 {
            if !done.as_ref().is_err_and(|error| error.kind() == io::ErrorKind::ResourceBusy) {
                break;
            }
            thread::sleep(Duration::from_millis(20));
            done = reset();
        }
        if let Err(error) = done {
            eprintln!("reset {}: {error}", self.system.display());
        }
    }
}
