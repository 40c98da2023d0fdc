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
        &[
            "3,000 IOPS, or 500 per GiB where that is less, and 140 MiB/s are included",
            "at most 500 IOPS per GiB, up to 160,000, and 2,400 MiB/s",
        ],
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
        &["MiB/s as provisioned, at least 400 and 0.12 per GiB, up to 1,600 per GiB and 1,200,000; 16 IOPS for each"],
        &["MB/s on one page, MiB/s on the other"],
        &["gcp-hyperdisk-gke"],
    ),
];

/// The least and the most of a rate, which differ by size.
struct Range {
    least: f64,
    most: f64,
    least_per_gib: f64,
    most_per_gib: f64,
}

struct Figures {
    iops: Option<Range>,
    mib_s: Option<Range>,
    iops_per_mib_s: Option<f64>,
}

impl Range {
    const fn of(least: f64, most: f64) -> Self {
        Self { least, most, least_per_gib: 0.0, most_per_gib: f64::INFINITY }
    }

    /// The least and the most that so many GiB can have. A least is bought in whole units.
    fn at(&self, size: f64) -> (f64, f64) {
        let most = self.most.min(self.most_per_gib * size);
        (self.least.max((self.least_per_gib * size).ceil()).min(self.most_per_gib * size), most)
    }
}

fn figures(name: &str) -> Figures {
    let balanced = |iops| Figures { iops: Some(iops), mib_s: Some(Range::of(140.0, 2400.0)), iops_per_mib_s: None };
    let by_throughput = |mib_s, each| Figures { iops: None, mib_s: Some(mib_s), iops_per_mib_s: Some(each) };
    match name {
        "hyperdisk-balanced" => balanced(Range { most_per_gib: 500.0, ..Range::of(3000.0, 160_000.0) }),
        "hyperdisk-balanced-high-availability" => balanced(Range::of(3000.0, 100_000.0)),
        "hyperdisk-throughput" => {
            let per_tib = Range { least_per_gib: 10.0 / 1024.0, most_per_gib: 90.0 / 1024.0, ..Range::of(0.0, 2400.0) };
            by_throughput(per_tib, 4.0)
        }
        "hyperdisk-ml" => {
            let per_gib = Range { least_per_gib: 0.12, most_per_gib: 1600.0, ..Range::of(400.0, 1_200_000.0) };
            by_throughput(per_gib, 16.0)
        }
        _ => {
            let iops = Range { least_per_gib: 2.0, ..Range::of(0.0, 350_000.0) };
            Figures { iops: Some(iops), mib_s: None, iops_per_mib_s: None }
        }
    }
}

fn ceilings(product: &Product, provisioned: &Provisioned) -> Result<Vec<Ceiling>, CatalogError> {
    let size = product.size_gib(provisioned)?;
    let figures = figures(product.name);
    if figures.iops.as_ref().is_some_and(|iops| iops.least <= 0.0) && provisioned.iops.is_none() {
        return Err(product.incomplete("its IOPS are provisioned: give them, as --iops 10000"));
    }
    if figures.iops_per_mib_s.is_some() && provisioned.bandwidth.is_none() {
        return Err(product.incomplete("its throughput is provisioned: give it, as --bandwidth 180MiB"));
    }
    let bytes = figures
        .mib_s
        .map(|mib_s| {
            let (included, most) = mib_s.at(size);
            product.bandwidth_within(provisioned, included * MIB, most * MIB, &gib(size))
        })
        .transpose()?;
    let iops = match (figures.iops, figures.iops_per_mib_s) {
        (Some(iops), _) => {
            let (included, most) = iops.at(size);
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
        let small = Ok(Limits::lasting(Some(2000.0), Some(140.0 * MIB)));
        assert_eq!(rates("hyperdisk-balanced", "size = \"4Gi\""), small, "500 for each GiB");
        assert_eq!(rates("hyperdisk-balanced", "size = \"4Gi\"\niops = 2000"), small);
        for (name, text) in [
            ("hyperdisk-extreme", "size = \"100Gi\"\niops = 200"),
            ("hyperdisk-throughput", "size = \"2Ti\"\nbandwidth = \"20MiB\""),
            ("hyperdisk-ml", "size = \"10000Gi\"\nbandwidth = \"1200MiB\""),
            ("hyperdisk-ml", "size = \"10Gi\"\nbandwidth = \"16000MiB\""),
        ] {
            assert!(rates(name, text).is_ok(), "{name}: {text}");
        }
        for (name, text, words) in [
            ("hyperdisk-extreme", "size = \"1Ti\"", "--iops"),
            ("hyperdisk-balanced", "size = \"10Gi\"\niops = 6000", "10 GiB can have at most 5000 IOPS, not 6000"),
            ("hyperdisk-ml", "size = \"10Gi\"", "--bandwidth"),
            (
                "hyperdisk-ml",
                "size = \"100Gi\"\nbandwidth = \"300MiB\"",
                "has at least 400MiB/s with 100 GiB, not 300MiB/s",
            ),
            ("hyperdisk-balanced", "size = \"4Gi\"\niops = 3000", "4 GiB can have at most 2000 IOPS, not 3000"),
            ("hyperdisk-balanced", "size = \"4Gi\"\niops = 1999", "has at least 2000 IOPS with 4 GiB, not 1999"),
            ("hyperdisk-extreme", "size = \"100Gi\"\niops = 100", "has at least 200 IOPS with 100 GiB, not 100"),
            ("hyperdisk-throughput", "size = \"2Ti\"\nbandwidth = \"10MiB\"", "has at least 20MiB/s with 2 TiB"),
            ("hyperdisk-ml", "size = \"20Ti\"\nbandwidth = \"400MiB\"", "has at least 2458MiB/s with 20 TiB"),
            ("hyperdisk-ml", "size = \"1Gi\"\nbandwidth = \"1601MiB\"", "1 GiB can have at most 1600MiB/s"),
            ("hyperdisk-throughput", "size = \"1Ti\"\nbandwidth = \"600MiB\"", "1 TiB can have at most 90MiB/s"),
        ] {
            let error = rates(name, text).unwrap_err();
            assert!(error.contains(words), "{error}");
        }
    }
}
