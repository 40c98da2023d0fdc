//! Hyperdisks: performance is provisioned. The documents have gaps, which stay gaps.

use plimsoll_workload::provisioned::Provisioned;

use crate::{
    ceiling::{Ceiling, Limits, MIB},
    error::CatalogError,
    product::{Product, Provider, gib},
};

const fn disk(
    name: &'static str,
    about: &'static str,
    rules: &'static [&'static str],
    doubts: &'static [&'static str],
    sources: &'static [&'static str],
) -> Product {
    Product { name, aliases: &[], provider: Provider::Gcp, about, rules, doubts, sources, ceilings }
}

pub(crate) static PRODUCTS: &[Product] = &[
    disk(
        "hyperdisk-balanced",
        "Hyperdisk Balanced",
        &["3,000 IOPS and 140 MiB/s are included", "at most 500 IOPS per GiB, up to 160,000, and 2,400 MiB/s"],
        &["how throughput is bound by IOPS is not documented"],
        &["gcp-hyperdisk"],
    ),
    disk(
        "hyperdisk-balanced-high-availability",
        "Hyperdisk Balanced High Availability",
        &["3,000 IOPS and 140 MiB/s are included", "up to 100,000 IOPS and 2,400 MiB/s"],
        &["a single source, of a third party"],
        &["gcp-hyperdisk"],
    ),
    disk(
        "hyperdisk-extreme",
        "Hyperdisk Extreme",
        &["IOPS as provisioned, at least 2 per GiB, up to 350,000; throughput follows"],
        &["500,000 IOPS on newer machines, by third parties"],
        &["gcp-hyperdisk-gke"],
    ),
    disk(
        "hyperdisk-throughput",
        "Hyperdisk Throughput",
        &["MiB/s as provisioned, 10 to 90 per TiB; 4 IOPS for each"],
        &["the most a volume can have is 600 MiB/s on one page, 2,400 on the other"],
        &["gcp-hyperdisk-gke", "gcp-hyperdisk"],
    ),
    disk(
        "hyperdisk-ml",
        "Hyperdisk ML",
        &["MiB/s as provisioned, at least 400 and 0.12 per GiB, up to 1,200,000; 16 IOPS for each"],
        &["MB/s on one page, MiB/s on the other"],
        &["gcp-hyperdisk-gke"],
    ),
];

/// Included IOPS, the most, IOPS per GiB at most; included MiB/s, the most; IOPS for each MiB/s.
struct Figures {
    iops: Option<(f64, f64)>,
    iops_per_gib: f64,
    mib_s: Option<(f64, f64)>,
    iops_per_mib_s: Option<f64>,
    /// MiB/s for each GiB, at most.
    most_per_gib: f64,
}

fn figures(name: &str) -> Figures {
    let balanced = |most, iops_per_gib| Figures {
        iops: Some((3000.0, most)),
        iops_per_gib,
        mib_s: Some((140.0, 2400.0)),
        iops_per_mib_s: None,
        most_per_gib: f64::INFINITY,
    };
    let by_throughput = |least, most, each, most_per_gib| Figures {
        iops: None,
        iops_per_gib: f64::INFINITY,
        mib_s: Some((least, most)),
        iops_per_mib_s: Some(each),
        most_per_gib,
    };
    match name {
        "hyperdisk-balanced" => balanced(160_000.0, 500.0),
        "hyperdisk-balanced-high-availability" => balanced(100_000.0, f64::INFINITY),
        "hyperdisk-throughput" => by_throughput(0.0, 2400.0, 4.0, 90.0 / 1024.0),
        "hyperdisk-ml" => by_throughput(400.0, 1_200_000.0, 16.0, f64::INFINITY),
        _ => Figures {
            iops: Some((0.0, 350_000.0)),
            iops_per_gib: f64::INFINITY,
            mib_s: None,
            iops_per_mib_s: None,
            most_per_gib: f64::INFINITY,
        },
    }
}

fn ceilings(product: &Product, provisioned: &Provisioned) -> Result<Vec<Ceiling>, CatalogError> {
    let size = product.size_gib(provisioned)?;
    let figures = figures(product.name);
    if figures.iops.is_some_and(|(included, _)| included <= 0.0) && provisioned.iops.is_none() {
        return Err(product.incomplete("its IOPS are provisioned: give them, as --iops 10000"));
    }
    if figures.iops_per_mib_s.is_some() && provisioned.bandwidth.is_none() {
        return Err(product.incomplete("its throughput is provisioned: give it, as --bandwidth 180MiB"));
    }
    let bytes = figures
        .mib_s
        .map(|(included, most)| {
            let most = most.min(figures.most_per_gib * size);
            product.bandwidth_within(provisioned, included * MIB, most * MIB, &gib(size))
        })
        .transpose()?;
    let iops = match (figures.iops, figures.iops_per_mib_s) {
        (Some((included, most)), _) => {
            let most = most.min((figures.iops_per_gib * size).max(included));
            Some(product.iops_within(provisioned, included, most, &gib(size))?)
        }
        (None, each) => each.zip(bytes).map(|(each, bytes)| each * bytes / MIB),
    };
    Ok(vec![Ceiling {
        notes: product.doubts(),
        ..product.ceiling(format!("{} of {}", product.name, gib(size)), Limits::lasting(iops, bytes))
    }])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn performance_is_what_was_provisioned_within_what_is_sold() {
        let rates = |name: &str, text: &str| {
            let product = PRODUCTS.iter().find(|product| product.name == name).unwrap();
            let parts = ceilings(product, &toml::from_str(text).unwrap()).map_err(|error| error.to_string())?;
            Ok::<_, String>(parts[0].limits)
        };
        assert_eq!(
            rates("hyperdisk-balanced", "size = \"100Gi\""),
            Ok(Limits::lasting(Some(3000.0), Some(140.0 * MIB)))
        );
        assert_eq!(
            rates("hyperdisk-throughput", "size = \"2Ti\"\nbandwidth = \"180MiB\""),
            Ok(Limits::lasting(Some(720.0), Some(180.0 * MIB)))
        );
        assert_eq!(rates("hyperdisk-extreme", "size = \"1Ti\"\niops = 9000"), Ok(Limits::lasting(Some(9000.0), None)));
        for (name, text, words) in [
            ("hyperdisk-extreme", "size = \"1Ti\"", "--iops"),
            ("hyperdisk-balanced", "size = \"10Gi\"\niops = 6000", "10 GiB can have at most 5000 IOPS, not 6000"),
            ("hyperdisk-ml", "size = \"10Gi\"", "--bandwidth"),
            ("hyperdisk-ml", "size = \"100Gi\"\nbandwidth = \"300MiB\"", "has at least 400MiB/s, not 300MiB/s"),
            ("hyperdisk-throughput", "size = \"1Ti\"\nbandwidth = \"600MiB\"", "1 TiB can have at most 90MiB/s"),
        ] {
            let error = rates(name, text).unwrap_err();
            assert!(error.contains(words), "{error}");
        }
    }
}
