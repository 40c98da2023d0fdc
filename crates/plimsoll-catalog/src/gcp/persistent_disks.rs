//! Persistent Disks: so much for each GiB of a type on a machine, above a base. Throughput is MiB/s.

use plimsoll_workload::provisioned::Provisioned;

use crate::{
    ceiling::{Ceiling, InCommon, Limits, MIB, lasting},
    error::CatalogError,
    product::{Product, Provider, gib},
};

const ALL_SHARED: &str = "reads and writes share both: half of one leaves half of the other";
const IOPS_SHARED: &str = "reads and writes share IOPS, half of one leaves half of the other; each has its own MiB/s";
const SUM: &str = "all disks of the type on a machine count together, base once";

const fn disk(name: &'static str, about: &'static str, rules: &'static [&'static str]) -> Product {
    Product {
        name,
        aliases: &[],
        provider: Provider::Gcp,
        about,
        rules,
        doubts: &["data of 2024-08"],
        sources: &["gcp-pd"],
        ceilings,
    }
}

pub(crate) static PRODUCTS: &[Product] = &[
    disk(
        "pd-standard",
        "Persistent Disk, magnetic",
        &["per GiB: 0.75 reads and 1.5 writes a second, 0.12 MiB/s", ALL_SHARED, SUM],
    ),
    disk(
        "pd-balanced",
        "Persistent Disk, balanced",
        &["3,000 IOPS and 140 MiB/s; per GiB: 6 IOPS, 0.28 MiB/s", IOPS_SHARED, SUM],
    ),
    disk(
        "pd-ssd",
        "Persistent Disk, SSD",
        &["6,000 IOPS and 240 MiB/s; per GiB: 30 IOPS, 0.48 MiB/s", IOPS_SHARED, SUM],
    ),
    Product {
        name: "pd-extreme",
        aliases: &[],
        provider: Provider::Gcp,
        about: "Persistent Disk, extreme",
        rules: &["IOPS as provisioned, typically 10,000 to 120,000"],
        doubts: &["no documented throughput: figures per GiB that circulate look derived"],
        sources: &["gcp-pd", "gcp-csi-parameters"],
        ceilings: extreme,
    },
];

/// Reads, writes and MiB/s: a base, and what each GiB adds.
fn figures(name: &str) -> [(f64, f64); 3] {
    match name {
        "pd-standard" => [(0.0, 0.75), (0.0, 1.5), (0.0, 0.12)],
        "pd-balanced" => [(3000.0, 6.0), (3000.0, 6.0), (140.0, 0.28)],
        _ => [(6000.0, 30.0), (6000.0, 30.0), (240.0, 0.48)],
    }
}

/// What reads and writes of a type of disk use up together: magnetic disks all, others their operations.
///
/// <https://cloud.google.com/compute/docs/disks/optimizing-pd-performance#simultaneous-reads-writes>
pub(super) fn in_common(disk_type: &str) -> InCommon {
    if disk_type == "pd-standard" { InCommon::ALL } else { InCommon::OPERATIONS }
}

fn ceilings(product: &Product, provisioned: &Provisioned) -> Result<Vec<Ceiling>, CatalogError> {
    product.refuse_provisioned(provisioned)?;
    // Several disks count by their sum.
    let most = 65_536.0 * f64::from(provisioned.disks.unwrap_or(1));
    let size = product.size_gib_within(provisioned, 10.0, most)?;
    let [reads, writes, mib_s] = figures(product.name).map(|(base, per_gib)| size.mul_add(per_gib, base));
    let limits = Limits::ByDirection {
        read: lasting(Some(reads), Some(mib_s * MIB)),
        write: lasting(Some(writes), Some(mib_s * MIB)),
        in_common: in_common(product.name),
    };
    let mut ceiling = ceiling(product, size, limits);
    if provisioned.vm.is_none() {
        ceiling.notes.push("every machine binds it too: say which, as --vm n2-standard-8".to_owned());
    }
    Ok(vec![ceiling])
}

fn extreme(product: &Product, provisioned: &Provisioned) -> Result<Vec<Ceiling>, CatalogError> {
    let size = product.size_gib(provisioned)?;
    if provisioned.iops.is_none() {
        return Err(product.incomplete("its IOPS are provisioned: give them, as --iops 10000"));
    }
    let iops = product.iops_within(provisioned, 1.0, f64::INFINITY, &gib(size))?;
    let mut ceiling = ceiling(product, size, Limits::lasting(Some(iops), None));
    ceiling.notes = product.doubts();
    Ok(vec![ceiling])
}

fn ceiling(product: &Product, size: f64, limits: Limits) -> Ceiling {
    product.ceiling(format!("{} of {}", product.name, gib(size)), limits)
}

#[cfg(test)]
mod tests {
    use plimsoll_workload::limit::{Limit, Part, RateLimit};

    use super::*;
    use crate::{catalog::Catalog, ceiling::Load, expectation::Expectation};

    /// Of a mix, on a machine, whole operations and MiB a second.
    fn of(sku: &str, machine: &str, read_share: f64, operation_bytes: f64) -> (f64, f64, Part) {
        let provisioned = toml::from_str(&format!("sku = \"{sku}\"\nsize = \"4Ti\"\nvm = \"{machine}\"")).unwrap();
        let expectation = Expectation::of(&provisioned, &Catalog::default()).unwrap().unwrap();
        let expected = expectation.for_load(Load { read_share, operation_bytes, is_sequential: false });
        let Limit { operations, bytes, .. } = expected.limit;
        let of = |rate: Option<RateLimit>| rate.unwrap().sustained;
        (of(operations).round(), (of(bytes) / MIB).round(), expected.operations_by)
    }

    #[test]
    fn reads_and_writes_of_an_ssd_share_its_operations_but_not_its_bytes() {
        for read_share in [0.0, 0.25, 0.5, 1.0] {
            assert_eq!(of("pd-ssd", "n2-standard-64", read_share, 4096.0).0, 100_000.0, "{read_share}");
        }
        let (alone, both) = (of("pd-ssd", "n2-standard-64", 1.0, 1e6), of("pd-ssd", "n2-standard-64", 0.5, 1e6));
        assert_eq!((alone.1, both.1), (1200.0, 2400.0));
    }

    #[test]
    fn reads_and_writes_of_a_magnetic_disk_share_all_that_it_has() {
        let at = |read_share| of("pd-standard", "n2-standard-64", read_share, 4096.0);
        assert_eq!((at(1.0).0, at(0.0).0), (3072.0, 6144.0));
        assert_eq!(at(0.5), (4096.0, 492.0, Part::Disk), "2,048 reads leave a third of 6,144 writes");
    }
}
