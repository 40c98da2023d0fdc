//! Loop devices with rate caps, for whoever is put into their control group; all of it is removed on drop.

use std::{fs, path::Path, process::Command};

use anyhow::Context as _;

use super::{
    control_group::{ControlGroup, Controller, Version},
    loop_device::{Backing, LoopDevice},
};

/// What a device may do in a second, reads and writes each for themselves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Cap {
    /// Operations.
    pub(super) operations: Option<u64>,
    /// Bytes.
    pub(super) bytes: Option<u64>,
}

impl Cap {
    pub(super) const fn operations(operations: u64) -> Self {
        Self { operations: Some(operations), bytes: None }
    }

    pub(super) const fn bytes(bytes: u64) -> Self {
        Self { operations: None, bytes: Some(bytes) }
    }
}

/// The devices and the group that they are capped for.
pub(super) struct CappedDevices {
    pub(super) devices: Vec<LoopDevice>,
    group: ControlGroup,
}

impl CappedDevices {
    /// So many devices of `size_bytes` in `directory`, not capped yet.
    pub(super) fn create(count: usize, directory: &Path, size_bytes: u64, backing: Backing) -> anyhow::Result<Self> {
        let group = ControlGroup::create(Controller::Block)?;
        let devices = (0..count).map(|_| LoopDevice::create(directory, size_bytes, backing));
        Ok(Self { devices: devices.collect::<Result<_, _>>()?, group })
    }

    /// The first device.
    pub(super) fn first(&self) -> &LoopDevice {
        &self.devices[0]
    }

    /// Replaces the cap of a device, also while it is in use.
    pub(super) fn cap(&self, device: &LoopDevice, cap: Cap) -> anyhow::Result<()> {
        settings(self.group.version, &device.number, cap)
            .iter()
            .try_for_each(|(setting, value)| self.group.set(setting, value))
    }

    /// Replaces the caps of all.
    pub(super) fn cap_all(&self, cap: Cap) -> anyhow::Result<()> {
        self.devices.iter().try_for_each(|device| self.cap(device, cap))
    }

    /// The command inside of the control group.
    pub(super) fn inside(&self, command: &Command) -> Command {
        self.group.inside(command)
    }
}

/// What to write where. A rate of zero is none in version 1.
fn settings(version: Version, number: &str, cap: Cap) -> Vec<(String, String)> {
    let Cap { operations, bytes } = cap;
    match version {
        Version::One => {
            let rates = [("bps", bytes), ("iops", operations)];
            let setting = |direction: &str, (unit, rate): (&str, Option<u64>)| {
                (format!("blkio.throttle.{direction}_{unit}_device"), format!("{number} {}", rate.unwrap_or(0)))
            };
            ["read", "write"].iter().flat_map(|direction| rates.map(|rate| setting(direction, rate))).collect()
        }
        Version::Two => {
            let word = |rate: Option<u64>| rate.map_or_else(|| "max".to_owned(), |rate| rate.to_string());
            let (bytes, operations) = (word(bytes), word(operations));
            let value = format!("{number} rbps={bytes} wbps={bytes} riops={operations} wiops={operations}");
            vec![("io.max".to_owned(), value)]
        }
    }
}

/// Huge pages for the buffers of programs that ask for them; the number there was before is restored on drop.
///
/// A request of many scattered pages is split, and passes the throttle again for each part. Kernels have been seen to
/// charge its bytes again then, which halves a cap in bytes. Buffers in huge pages are never scattered.
pub(super) struct HugePages {
    before: String,
}

const HUGE_PAGES: &str = "/proc/sys/vm/nr_hugepages";

impl HugePages {
    /// Adds so many.
    pub(super) fn reserve(pages: u64) -> anyhow::Result<Self> {
        let before = fs::read_to_string(HUGE_PAGES).with_context(|| format!("read {HUGE_PAGES}"))?;
        let count: u64 = before.trim().parse().with_context(|| format!("parse {HUGE_PAGES}"))?;
        let reserved = Self { before };
        fs::write(HUGE_PAGES, (count + pages).to_string()).with_context(|| format!("write {HUGE_PAGES}"))?;
        Ok(reserved)
    }
}

impl Drop for HugePages {
    fn drop(&mut self) {
        if let Err(error) = fs::write(HUGE_PAGES, &self.before) {
            eprintln!("restore {HUGE_PAGES}: {error}");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cap_holds_for_both_directions_and_lifts_what_was_capped_before() {
        let both = Cap { operations: Some(5000), bytes: Some(200) };
        let two = settings(Version::Two, "7:3", both);
        assert_eq!(two, [("io.max".into(), "7:3 rbps=200 wbps=200 riops=5000 wiops=5000".into())]);
        let one = settings(Version::One, "7:3", Cap::operations(5000));
        let value = |setting: &str| one.iter().find(|(name, _)| name == setting).map(|(_, value)| value.as_str());
        assert_eq!(one.len(), 4);
        assert_eq!(value("blkio.throttle.write_iops_device"), Some("7:3 5000"));
        assert_eq!(value("blkio.throttle.read_bps_device"), Some("7:3 0"));
        assert_eq!(settings(Version::Two, "7:3", Cap::bytes(1))[0].1, "7:3 rbps=1 wbps=1 riops=max wiops=max");
    }
}
