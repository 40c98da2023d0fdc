//! Arrays of disks: what each is made of, and where it is.

use plimsoll_record::numbers;

use crate::grid::{Column, Grid, Side};

/// An array.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StripedRow {
    /// What it is called.
    pub array: String,
    /// The disks that it is made of.
    pub disks: Vec<String>,
    /// The chunk, where disks have turns.
    pub chunk_bytes: Option<u64>,
    /// The file system, when there is one.
    pub file_system: Option<String>,
    /// What that gives out at once, where it is more than a block.
    pub cluster_bytes: Option<u64>,
    /// Where it is measured.
    pub target: StripedTarget,
}

/// Where an array is measured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StripedTarget {
    /// There.
    Path(String),
    /// It was not made to the end.
    NotMade,
    /// It is not in its place, as after a boot.
    NotInPlace,
}

/// The list of arrays.
pub fn list(rows: &[StripedRow], width: usize) -> String {
    let text = |value: &dyn Fn(&StripedRow) -> String| rows.iter().map(value).collect::<Vec<_>>();
    let size = |bytes: Option<u64>| bytes.map_or_else(|| "-".to_owned(), numbers::bytes);
    let target = |row: &StripedRow| match &row.target {
        StripedTarget::Path(path) => path.clone(),
        StripedTarget::NotMade => "not made to the end".to_owned(),
        StripedTarget::NotInPlace => "not in its place".to_owned(),
    };
    let disks = |row: &StripedRow| {
        let names = row.disks.iter().map(|disk| disk.rsplit('/').next().unwrap_or(disk));
        names.collect::<Vec<_>>().join(" ")
    };
    let columns = vec![
        Column::new("array", Side::Left, 0, text(&|row| row.array.clone())),
        Column::new("disks", Side::Left, 2, text(&disks)),
        Column::new("chunk", Side::Right, 1, text(&|row| size(row.chunk_bytes))),
        Column::new(
            "file system",
            Side::Left,
            1,
            text(&|row| row.file_system.clone().unwrap_or_else(|| "-".to_owned())),
        ),
        Column::new("cluster", Side::Right, 1, text(&|row| size(row.cluster_bytes))),
        Column::new("target", Side::Left, 0, text(&target)),
    ];
    Grid::breaking(0, columns).fit(width).text()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrays_are_listed_with_what_they_are_made_of() {
        let row = |array: &str, disks: &[&str], file_system: Option<&str>| StripedRow {
            array: array.to_owned(),
            disks: disks.iter().map(|disk| format!("/dev/disk/by-id/{disk}")).collect(),
            chunk_bytes: (disks.len() > 1).then_some(64 << 10),
            file_system: file_system.map(str::to_owned),
            cluster_bytes: file_system.map(|_| 32 << 10),
            target: StripedTarget::Path(format!("/run/plimsoll/stripe/{array}")),
        };
        let rows = [row("md-2", &["a", "b"], None), row("none-1-ext4-32KiB", &["a"], Some("ext4"))];
        insta::assert_snapshot!(list(&rows, 100), @r#"
    array              disks   chunk  file system  cluster  target
    ──────────────────────────────────────────────────────────────────────────────────────────────
    md-2               a b    64 KiB  -                  -  /run/plimsoll/stripe/md-2
    none-1-ext4-32KiB  a           -  ext4          32 KiB  /run/plimsoll/stripe/none-1-ext4-32KiB
    "#);
    }
}
