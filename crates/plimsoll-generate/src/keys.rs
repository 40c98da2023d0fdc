//! Which keys of a plan a product has. What it has not nothing would read, so it is refused instead of passed over.

use plimsoll_workload::provisioned::Provisioned;

use crate::error::{GenerateError, impossible, missing};

/// The keys by which something of a product is bought, besides its size and what the catalog checks by itself.
pub(crate) fn of_product(product: &str) -> &'static [&'static str] {
    match product {
        "Premium_LRS" | "Premium_ZRS" => &["tier", "on_demand_bursting", "performance_plus", "interface"],
        "StandardSSD_LRS" | "StandardSSD_ZRS" | "Standard_LRS" => &["performance_plus", "interface"],
        "PremiumV2_LRS" | "UltraSSD_LRS" => &["iops", "bandwidth", "interface"],
        "elastic-san" => &["pool"],
        "gp3" | "hyperdisk-balanced" | "hyperdisk-balanced-high-availability" => &["iops", "bandwidth"],
        "io1" | "io2" | "pd-extreme" | "hyperdisk-extreme" => &["iops"],
        "hyperdisk-throughput" | "hyperdisk-ml" => &["bandwidth"],
        _ => &[],
    }
}

/// Refuses one rate of an Ultra Disk alone: what the other is decides whoever makes it, and a machine has no driver.
pub(crate) fn both_rates(place: &str, asked: &Provisioned, product: &str) -> Result<(), GenerateError> {
    match (product, asked.iops, asked.bandwidth) {
        ("UltraSSD_LRS", None, Some(_)) => Err(missing(place, "say its IOPS as well, as iops = 20000")),
        ("UltraSSD_LRS", Some(_), None) => Err(missing(place, "say its throughput as well, as bandwidth = \"300MB\"")),
        _ => Ok(()),
    }
}

/// Refuses keys that something has not.
pub(crate) fn check(place: &str, asked: &Provisioned, what: &str, has: &[&str]) -> Result<(), GenerateError> {
    let said = [
        ("iops", asked.iops.is_some()),
        ("bandwidth", asked.bandwidth.is_some()),
        ("tier", asked.tier.is_some()),
        ("pool", asked.pool.is_some()),
        ("on_demand_bursting", asked.on_demand_bursting == Some(true)),
        ("performance_plus", asked.performance_plus == Some(true)),
        ("interface", asked.interface.is_some()),
    ];
    match said.into_iter().find(|(key, is_said)| *is_said && !has.contains(key)) {
        Some((key, _)) => Err(impossible(place, format!("{what} has no {key}: leave it out"))),
        None => Ok(()),
    }
}
