//! Emulated disks: what each lets through.

use std::fmt;

use plimsoll_record::numbers;

use crate::grid::{Column, Grid, Side};

/// An emulated disk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EmulatedRow {
    /// The emulation that it is of.
    pub emulation: String,
    /// What it stands for.
    pub disk: String,
    /// The device.
    pub device: EmulatedDevice,
    /// Reads per second that it lets through.
    pub read_iops: Option<u64>,
    /// Writes per second.
    pub write_iops: Option<u64>,
    /// Bytes read per second.
    pub read_bytes: Option<u64>,
    /// Bytes written per second.
    pub write_bytes: Option<u64>,
    /// How large it is.
    pub size_bytes: u64,
}

/// The device of an emulated disk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EmulatedDevice {
    /// It was not made yet.
    NotMade,
    /// Somebody else took it away, as the machine's end does.
    Gone,
    /// Where it is.
    Path(String),
}

impl fmt::Display for EmulatedDevice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NotMade => "not made",
            Self::Gone => "gone",
            Self::Path(path) => path,
        })
    }
}

/// The list of emulated disks.
pub fn list(rows: &[EmulatedRow], width: usize) -> String {
    let text = |value: &dyn Fn(&EmulatedRow) -> String| rows.iter().map(value).collect::<Vec<_>>();
    let absent = || "-".to_owned();
    // Of reads and of writes, where they differ.
    let both = |read: Option<u64>, write: Option<u64>, format: fn(f64) -> String| {
        let text = |value: Option<u64>| value.map_or_else(absent, |value| format(value as f64));
        if read == write { text(read) } else { format!("{}/{}", text(read), text(write)) }
    };
    let columns = vec![
        Column::new("emulation", Side::Left, 1, text(&|row| row.emulation.clone())),
        Column::new("disk", Side::Left, 0, text(&|row| row.disk.clone())),
        Column::new("device", Side::Left, 0, text(&|row| row.device.to_string())),
        Column::new("IOPS", Side::Right, 0, text(&|row| both(row.read_iops, row.write_iops, numbers::iops))),
        Column::new("MB/s", Side::Right, 0, text(&|row| both(row.read_bytes, row.write_bytes, numbers::throughput))),
        Column::new("size", Side::Right, 1, text(&|row| numbers::bytes(row.size_bytes))),
    ];
    Grid::breaking(1, columns).fit(width).text()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn disks_are_listed_with_what_they_let_through() {
        let row = |disk: &str, device: EmulatedDevice, iops: [Option<u64>; 2]| EmulatedRow {
            emulation: "disks".to_owned(),
            disk: disk.to_owned(),
            write_bytes: (device != EmulatedDevice::NotMade).then_some(200_000_000),
            device,
            read_iops: iops[0],
            write_iops: iops[1],
            read_bytes: Some(200_000_000),
            size_bytes: 1 << 30,
        };
        let rows = [
            row("P30", EmulatedDevice::Path("/dev/loop0".to_owned()), [Some(5000), Some(5000)]),
            row("pd-standard", EmulatedDevice::NotMade, [Some(75), Some(150)]),
            row("bandwidth=200MB", EmulatedDevice::Gone, [None, None]),
        ];
        insta::assert_snapshot!(list(&rows, 80), @r#"
    emulation  disk             device          IOPS   MB/s   size
    ──────────────────────────────────────────────────────────────
    disks      P30              /dev/loop0     5,000    200  1 GiB
    disks      pd-standard      not made    75.0/150  200/-  1 GiB
    disks      bandwidth=200MB  gone               -    200  1 GiB
    "#);
    }
}
