//! A file of one's own: disks and machines that no catalog has or has wrong, and prices, which no catalog has.

use plimsoll_workload::{limit::Limit, units::ByteCount};
use serde::Deserialize;

use crate::{catalog::Catalog, error::CatalogError};

/// The file as written, in TOML.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct LimitsFile {
    /// Disks, volumes or shares. One with the name of a product or a size takes its place.
    #[serde(rename = "disk")]
    pub disks: Vec<OwnLimit>,
    /// Machine sizes.
    #[serde(rename = "vm")]
    pub machines: Vec<OwnLimit>,
    /// Prices.
    #[serde(rename = "price")]
    pub prices: Vec<Price>,
}

/// What somebody says that a disk or machine lets through.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OwnLimit {
    /// What it is called.
    pub name: String,
    /// What it lets through, as `--limit` takes it.
    pub limit: Limit,
    /// The size that it is sold with, where it is one.
    pub size: Option<ByteCount>,
    /// Where that stands.
    pub source: String,
    /// Of when that is.
    pub date: Option<String>,
}

/// What an entry costs. Prices are the user's own: there are none in the catalog.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Price {
    /// The entry or product that it is the price of: `P30`, `gp3`.
    pub name: String,
    /// For a month, without what follows.
    #[serde(default)]
    pub per_month: f64,
    /// For a month and each GiB.
    #[serde(default)]
    pub per_gib_month: f64,
    /// For a month and each provisioned operation per second above those that are included.
    #[serde(default)]
    pub per_iops_month: f64,
    /// For a month and each provisioned MB/s (or MiB/s, as the product counts) above those that are included.
    #[serde(default)]
    pub per_mbps_month: f64,
    /// In what.
    pub currency: String,
    /// Of when.
    pub date: String,
    /// Where it stands.
    pub source: Option<String>,
}

impl LimitsFile {
    /// Reads the text of a file of this name.
    pub fn parse(file: &str, text: &str) -> Result<Self, CatalogError> {
        let wrong = |problem: String| CatalogError::File { file: file.to_owned(), problem };
        let parsed: Self = toml::from_str(text).map_err(|error| wrong(error.to_string().trim_end().to_owned()))?;
        for (kind, names) in [("disk", names(&parsed.disks)), ("vm", names(&parsed.machines))] {
            if let Some(twice) = names.iter().enumerate().find(|(at, name)| names[..*at].contains(name)) {
                return Err(wrong(format!("[[{kind}]] {} stands there twice: keep one", twice.1)));
            }
        }
        for price in &parsed.prices {
            let parts = [price.per_month, price.per_gib_month, price.per_iops_month, price.per_mbps_month];
            if parts.iter().any(|part| !part.is_finite() || *part < 0.0) || parts.iter().all(|part| *part <= 0.0) {
                return Err(wrong(format!(
                    "[[price]] {} needs a price above 0: per_month, per_gib_month, per_iops_month or per_mbps_month",
                    price.name
                )));
            }
        }
        let catalog = Catalog::with(parsed);
        for price in &catalog.own().prices {
            catalog.storage(&price.name).map_err(|error| wrong(format!("[[price]]: {error}")))?;
        }
        Ok(catalog.into_own())
    }
}

fn names(limits: &[OwnLimit]) -> Vec<String> {
    limits.iter().map(|limit| limit.name.to_ascii_lowercase()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_of_ones_own_has_disks_machines_and_prices() {
        let file = LimitsFile::parse(
            "limits.toml",
            r#"
            [[disk]]
            name = "gold"
            limit = "iops=8000,bandwidth=400MB"
            source = "contract of 2026-03"
            [[vm]]
            name = "Standard_B2s"
            limit = "iops=1280,bandwidth=22MB"
            source = "measured"
            date = "2026-10-01"
            [[price]]
            name = "P30 "
            per_month = 135.17
            currency = "USD"
            date = "2026-10-01"
            "#,
        )
        .unwrap();
        assert_eq!((file.disks.len(), file.machines.len(), file.prices.len()), (1, 1, 1));
        assert!(Catalog::with(file).price(&["P30"]).is_some(), "a blank behind a name is none of it");
    }

    #[test]
    fn what_is_wrong_in_a_file_is_said_with_its_line() {
        for (text, words) in [
            ("[[disk]]\nname = \"a\"\nlimit = \"iops=1\"", "missing field `source`"),
            ("[[disk]]\nname = \"a\"\nlimit = \"iops\"\nsource = \"x\"", "line 3"),
            ("[[disks]]\nname = \"a\"", "unknown field `disks`"),
            (
                "[[vm]]\nname='a'\nlimit='iops=1'\nsource='x'\n[[vm]]\nname='A'\nlimit='iops=1'\nsource='x'",
                "[[vm]] a stands there twice",
            ),
            ("[[price]]\nname='a'\ncurrency='USD'\ndate='2026'", "needs a price above 0"),
            (
                "[[price]]\nname='P3O'\nper_month=1\ncurrency='USD'\ndate='2026'",
                "[[price]]: the catalog has no product \"P3O\"; did you mean P3 or P30",
            ),
        ] {
            let error = LimitsFile::parse("my.toml", text).unwrap_err().to_string();
            assert!(error.starts_with("my.toml: ") && error.contains(words), "{error}");
        }
    }
}
