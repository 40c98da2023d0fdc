//! What a Kubernetes volume was bought as: from the parameters of its StorageClass, of its VolumeAttributesClass and of
//! its PersistentVolume. Names of parameters are in any case, as drivers take them.

use std::{collections::BTreeMap, sync::LazyLock};

use plimsoll_workload::{
    provisioned::{Caching, Provisioned},
    units::{Bandwidth, ByteCount},
};
use serde::Deserialize;

use crate::{
    aws::volumes,
    error::CatalogError,
    quantity,
    table::{self, Named},
};

/// A StorageClass that a cluster comes with.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct BuiltInClass {
    pub(crate) name: String,
    pub(crate) provisioner: String,
    pub(crate) product: String,
    pub(crate) note: String,
    pub(crate) source: String,
}

/// Which product a value of a parameter names.
#[derive(Clone, Debug, Deserialize)]
struct ParameterValue {
    provisioner: String,
    parameter: String,
    alias: String,
    value: String,
    product: String,
    is_default: String,
}

static BUILT_IN: LazyLock<Vec<BuiltInClass>> =
    LazyLock::new(|| table::rows(include_str!("../data/aks_storage_classes.csv")));
static VALUES: LazyLock<Vec<ParameterValue>> =
    LazyLock::new(|| table::rows(include_str!("../data/storage_class_products.csv")));

impl Named for BuiltInClass {
    fn name(&self) -> &str {
        &self.name
    }
}

impl BuiltInClass {
    /// What it is, in a few words.
    pub(crate) fn about(&self) -> String {
        format!("StorageClass of AKS, by {}", self.provisioner)
    }
}

/// The StorageClasses that clusters come with.
pub(crate) fn built_in() -> &'static [BuiltInClass] {
    &BUILT_IN
}

/// How a volume was asked for, and what its driver made of that.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct VolumeParameters {
    /// The driver, as StorageClass and PersistentVolume name it.
    pub(crate) provisioner: String,
    /// Parameters of the StorageClass.
    pub(crate) parameters: BTreeMap<String, String>,
    /// `csi.volumeAttributes` of the PersistentVolume: drivers write what they made of the parameters there.
    pub(crate) volume_attributes: BTreeMap<String, String>,
    /// Parameters of its VolumeAttributesClass.
    pub(crate) attributes_class: BTreeMap<String, String>,
    /// Whether the parameters are known, so that what they leave out is what the driver takes by itself.
    pub(crate) are_all: bool,
    /// The capacity of the PersistentVolume, which may exceed what was requested.
    pub(crate) capacity_bytes: Option<u64>,
}

/// Drivers of former versions of Kubernetes, and of managed ones, whose parameters are those of another.
/// What they take by themselves is not documented with the others.
const OTHER_NAMES: [(&str, &str); 5] = [
    ("ebs.csi.eks.amazonaws.com", "ebs.csi.aws.com"),
    ("kubernetes.io/aws-ebs", "ebs.csi.aws.com"),
    ("kubernetes.io/azure-disk", "disk.csi.azure.com"),
    ("kubernetes.io/azure-file", "file.csi.azure.com"),
    ("kubernetes.io/gce-pd", "pd.csi.storage.gke.io"),
];

/// Parameters that say how fast: those of one product mean nothing to another.
const RATES: [&str; 9] = [
    "diskiopsreadwrite",
    "diskmbpsreadwrite",
    "iops",
    "iopspergb",
    "throughput",
    "provisioned-iops-on-create",
    "provisioned-throughput-on-create",
    "provisionediops",
    "provisionedbandwidth",
];

/// Parameters by their names in small letters; later sources override earlier ones.
struct Parameters(BTreeMap<String, String>);

impl Parameters {
    fn of(volume: &VolumeParameters, driver: &str) -> Self {
        let lower = |all: &BTreeMap<String, String>| -> BTreeMap<String, String> {
            all.iter().map(|(name, value)| (name.to_ascii_lowercase(), value.trim().to_owned())).collect()
        };
        let mut all = lower(&volume.parameters);
        all.extend(lower(&volume.volume_attributes));
        let later = lower(&volume.attributes_class);
        let is_other = |name: &str| later.contains_key(name) && later.get(name) != all.get(name);
        if product_parameters(driver).any(|name| is_other(&name.to_ascii_lowercase())) {
            all.retain(|name, _| !RATES.contains(&name.as_str()));
        }
        all.extend(later);
        Self(all)
    }

    fn get(&self, name: &str) -> Option<&str> {
        self.0.get(&name.to_ascii_lowercase()).map(String::as_str).filter(|value| !value.is_empty())
    }

    fn first(&self, names: &[&str]) -> Option<&str> {
        names.iter().find_map(|name| self.get(name))
    }

    fn number(&self, names: &[&str]) -> Result<Option<u64>, CatalogError> {
        let Some(text) = self.first(names) else { return Ok(None) };
        text.parse().map(Some).map_err(|_| wrong(names[0], text, "a whole number"))
    }

    /// A rate in units of so many bytes.
    fn bandwidth(&self, name: &str, unit: u64) -> Result<Option<Bandwidth>, CatalogError> {
        let Some(rate) = self.number(&[name])? else { return Ok(None) };
        let bytes = rate.checked_mul(unit);
        bytes.map(|bytes| Some(Bandwidth(bytes))).ok_or_else(|| wrong(name, &rate.to_string(), "a rate of this world"))
    }

    fn is_true(&self, name: &str) -> Option<bool> {
        self.get(name).map(|value| value.eq_ignore_ascii_case("true"))
    }
}

fn wrong(parameter: &str, value: &str, what: &str) -> CatalogError {
    CatalogError::Impossible { product: format!("parameter {parameter}"), why: format!("\"{value}\" is not {what}") }
}

/// What a volume was bought as; `None` when its driver is not known.
pub(crate) fn provisioned(volume: &VolumeParameters) -> Result<Option<Provisioned>, CatalogError> {
    let other_name = OTHER_NAMES.iter().find(|(name, _)| *name == volume.provisioner);
    let driver = other_name.map_or(volume.provisioner.as_str(), |(_, driver)| driver);
    let parameters = Parameters::of(volume, driver);
    let has_default = volume.are_all && other_name.is_none();
    let Some(sku) = product(driver, &parameters, has_default)? else { return Ok(None) };
    let mut provisioned =
        Provisioned { sku: Some(sku), size: volume.capacity_bytes.map(ByteCount), ..Provisioned::default() };
    match driver {
        "disk.csi.azure.com" => azure_disk(&parameters, &mut provisioned)?,
        "file.csi.azure.com" => {
            provisioned.iops = parameters.number(&["provisionedIOPS"])?;
            provisioned.bandwidth = parameters.bandwidth("provisionedBandwidth", 1 << 20)?;
        }
        "san.csi.azure.com" => {
            let bytes = |tib: u64| tib.checked_mul(1 << 40).map(ByteCount);
            provisioned.pool = parameters.number(&["initialStorageTiB"])?.and_then(bytes);
        }
        "ebs.csi.aws.com" => {
            provisioned.iops = ebs_iops(&parameters, &provisioned)?;
            provisioned.bandwidth = parameters.bandwidth("throughput", 1 << 20)?;
        }
        "pd.csi.storage.gke.io" => {
            provisioned.iops = parameters.number(&["iops", "provisioned-iops-on-create"])?;
            let throughput = parameters.first(&["throughput", "provisioned-throughput-on-create"]);
            let rate = |text| quantity::whole(text).ok_or_else(|| wrong("throughput", text, "a quantity, as 250Mi"));
            provisioned.bandwidth = throughput.map(rate).transpose()?.map(Bandwidth);
        }
        _ => {}
    }
    Ok(Some(provisioned))
}

/// The driver buys at most what the volume can have, and at least what it must when it may: `capIOPS` of
/// kubernetes-sigs/aws-ebs-csi-driver, `pkg/cloud/cloud.go`.
fn ebs_iops(parameters: &Parameters, provisioned: &Provisioned) -> Result<Option<u64>, CatalogError> {
    let size = provisioned.size.map(|size| size.0 as f64 / crate::ceiling::GIB);
    let per_gib = parameters.number(&["iopsPerGB"])?;
    let of_size = per_gib.zip(size).map(|(per_gib, size)| (per_gib as f64 * size) as u64);
    let Some(asked) = parameters.number(&["iops"])?.or(of_size) else { return Ok(None) };
    let sku = provisioned.sku.as_deref().unwrap_or_default();
    let Some((least, most)) = size.and_then(|size| volumes::iops_range(sku, size)) else { return Ok(Some(asked)) };
    let may_rise = parameters.is_true("allowAutoIOPSPerGBIncrease") == Some(true);
    let least = if may_rise { least } else { 0 };
    Ok(Some(asked.min(most).max(least)))
}

fn azure_disk(parameters: &Parameters, provisioned: &mut Provisioned) -> Result<(), CatalogError> {
    /// The host caches no disk that is as large as this, whatever is asked for: `diskCachingLimit` of
    /// kubernetes-sigs/azuredisk-csi-driver, `pkg/azuredisk/azure_controller_common.go`.
    const CACHED_BELOW: ByteCount = ByteCount(4096 << 30);
    let is_uncached = matches!(provisioned.sku.as_deref(), Some("PremiumV2_LRS" | "UltraSSD_LRS"));
    let mode = parameters.get("cachingMode");
    let mode = mode.map(|mode| mode.parse().map_err(|_| wrong("cachingMode", mode, "None, ReadOnly or ReadWrite")));
    let is_too_large = provisioned.size.is_some_and(|size| size >= CACHED_BELOW);
    provisioned.caching = match mode.transpose()? {
        _ if is_uncached || is_too_large => Some(Caching::None),
        mode => mode.or(Some(Caching::ReadOnly)),
    };
    provisioned.iops = parameters.number(&["DiskIOPSReadWrite"])?;
    provisioned.bandwidth = parameters.bandwidth("DiskMBpsReadWrite", 1_000_000)?;
    provisioned.on_demand_bursting = parameters.is_true("enableBursting");
    provisioned.performance_plus = parameters.is_true("enablePerformancePlus");
    Ok(())
}

/// The parameters by which a driver is told the product.
fn product_parameters(driver: &str) -> impl Iterator<Item = &'static str> {
    let first = VALUES.iter().find(|value| value.provisioner == driver);
    first.into_iter().flat_map(|first| [first.parameter.as_str(), first.alias.as_str()]).filter(|name| !name.is_empty())
}

/// The product that the parameters name, or that the driver takes when they name none.
fn product(driver: &str, parameters: &Parameters, has_default: bool) -> Result<Option<String>, CatalogError> {
    match driver {
        "san.csi.azure.com" => return Ok(Some("elastic-san".to_owned())),
        "filestore.csi.storage.gke.io" if has_default || parameters.get("tier").is_some() => {
            let tier = parameters.get("tier").unwrap_or_default().to_ascii_lowercase();
            let is_zonal = matches!(tier.as_str(), "zonal" | "high_scale_ssd" | "high-scale-ssd");
            return Ok(Some(if is_zonal { "filestore-zonal" } else { "filestore" }.to_owned()));
        }
        _ => {}
    }
    let mut of_driver = VALUES.iter().filter(|value| value.provisioner == driver);
    let is_known = driver == "filestore.csi.storage.gke.io" || of_driver.clone().next().is_some();
    let Some(value) = parameters.first(&product_parameters(driver).collect::<Vec<_>>()) else {
        let default = of_driver.find(|value| !value.is_default.is_empty()).filter(|_| has_default);
        return match default {
            Some(default) => Ok(Some(default.product.clone())),
            None if is_known => Err(CatalogError::Incomplete {
                product: format!("a volume of {driver}"),
                what: "nothing says which product it is: add the StorageClass that it was made by, or say --sku"
                    .to_owned(),
            }),
            None => Ok(None),
        };
    };
    match of_driver.clone().find(|known| known.value.eq_ignore_ascii_case(value)) {
        Some(known) => Ok(Some(known.product.clone())),
        None => Err(CatalogError::unknown("product", value, of_driver.map(|known| known.value.as_str()))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{catalog::Catalog, ceiling::Load, expectation::Expectation, source::Source};

    fn parameters(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
        pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    }

    fn of(provisioner: &str, pairs: &[(&str, &str)], gib: u64) -> Result<Option<Provisioned>, CatalogError> {
        provisioned(&VolumeParameters {
            provisioner: provisioner.to_owned(),
            parameters: parameters(pairs),
            are_all: true,
            capacity_bytes: Some(gib << 30),
            ..VolumeParameters::default()
        })
    }

    #[test]
    fn parameters_name_products_in_any_case_and_drivers_have_defaults() {
        let sku = |provisioner, pairs: &[(&str, &str)]| of(provisioner, pairs, 1024).unwrap().unwrap().sku.unwrap();
        assert_eq!(sku("disk.csi.azure.com", &[]), "StandardSSD_LRS");
        assert_eq!(sku("disk.csi.azure.com", &[("skuname", "premium_lrs")]), "Premium_LRS");
        assert_eq!(sku("disk.csi.azure.com", &[("storageAccountType", "UltraSSD_LRS")]), "UltraSSD_LRS");
        assert_eq!(sku("file.csi.azure.com", &[("skuName", "PremiumV2_LRS")]), "azure-files-ssd-v2");
        assert_eq!(sku("ebs.csi.aws.com", &[]), "gp3");
        assert_eq!(sku("pd.csi.storage.gke.io", &[("type", "pd-ssd")]), "pd-ssd");
        assert_eq!(of("rancher.io/local-path", &[], 1).unwrap(), None);
        let error = of("disk.csi.azure.com", &[("skuName", "Premum_LRS")], 1).unwrap_err().to_string();
        assert!(error.contains("did you mean Premium_LRS"), "{error}");
    }

    #[test]
    fn the_san_of_a_class_is_as_large_as_the_class_says() {
        let pool = |pairs: &[(&str, &str)]| of("san.csi.azure.com", pairs, 100).unwrap().unwrap().pool;
        assert_eq!(pool(&[("initialStorageTiB", "2")]), Some(ByteCount(2 << 40)));
        assert_eq!(pool(&[]), None);
        assert!(of("san.csi.azure.com", &[("initialStorageTiB", "two")], 100).is_err());
    }

    #[test]
    fn what_the_driver_and_the_attributes_class_say_overrides_the_class() {
        let volume = VolumeParameters {
            provisioner: "disk.csi.azure.com".to_owned(),
            parameters: parameters(&[("skuName", "PremiumV2_LRS"), ("DiskIOPSReadWrite", "5000")]),
            volume_attributes: parameters(&[("diskiopsreadwrite", "6000"), ("diskmbpsreadwrite", "250")]),
            attributes_class: parameters(&[("DiskIOPSReadWrite", "7000")]),
            capacity_bytes: Some(64 << 30),
            are_all: true,
        };
        let provisioned = provisioned(&volume).unwrap().unwrap();
        assert_eq!((provisioned.iops, provisioned.bandwidth), (Some(7000), Some(Bandwidth(250_000_000))));
        assert_eq!(provisioned.caching, Some(Caching::None));
        let expectation = Expectation::of(&provisioned, &Catalog::default()).unwrap().unwrap();
        let limit = expectation.for_load(Load { read_share: 1.0, operation_bytes: 4096.0, is_sequential: false }).limit;
        assert_eq!(limit.operations.unwrap().sustained, 7000.0);
    }

    #[test]
    fn a_class_without_a_caching_mode_caches_reads() {
        let provisioned = of("disk.csi.azure.com", &[("skuName", "Premium_LRS")], 8).unwrap().unwrap();
        assert_eq!(provisioned.caching, Some(Caching::ReadOnly));
        let gp3 = of("ebs.csi.aws.com", &[("type", "io1"), ("iopsPerGB", "50")], 100).unwrap().unwrap();
        assert_eq!(gp3.iops, Some(5000));
        let error = of("ebs.csi.aws.com", &[("iops", "many")], 100).unwrap_err().to_string();
        assert!(error.contains("\"many\" is not a whole number"), "{error}");
        let hyperdisk = [("type", "hyperdisk-balanced"), ("provisioned-throughput-on-create", "250Mi")];
        assert_eq!(of("pd.csi.storage.gke.io", &hyperdisk, 64).unwrap().unwrap().bandwidth, Some(Bandwidth(250 << 20)));
    }

    #[test]
    fn what_nothing_says_is_not_what_the_driver_would_have_taken() {
        for (provisioner, are_all) in
            [("ebs.csi.aws.com", false), ("kubernetes.io/aws-ebs", true), ("filestore.csi.storage.gke.io", false)]
        {
            let volume =
                VolumeParameters { provisioner: provisioner.to_owned(), are_all, ..VolumeParameters::default() };
            let error = provisioned(&volume).unwrap_err().to_string();
            assert!(error.contains("add the StorageClass"), "{error}");
        }
        let former = of("kubernetes.io/aws-ebs", &[("type", "gp2")], 100).unwrap().unwrap();
        assert_eq!(former.sku.as_deref(), Some("gp2"));
    }

    #[test]
    fn rates_of_one_product_are_not_those_of_the_next() {
        let volume = VolumeParameters {
            provisioner: "ebs.csi.aws.com".to_owned(),
            parameters: parameters(&[("type", "gp3"), ("throughput", "250"), ("iops", "4000")]),
            attributes_class: parameters(&[("type", "io2"), ("iops", "9000")]),
            are_all: true,
            capacity_bytes: Some(100 << 30),
            ..VolumeParameters::default()
        };
        let bought = provisioned(&volume).unwrap().unwrap();
        assert_eq!((bought.sku.as_deref(), bought.iops, bought.bandwidth), (Some("io2"), Some(9000), None));
        let same = parameters(&[("type", "gp3"), ("iops", "5000")]);
        let bought = provisioned(&VolumeParameters { attributes_class: same, ..volume }).unwrap().unwrap();
        assert_eq!((bought.iops, bought.bandwidth), (Some(5000), Some(Bandwidth(250 << 20))));
    }

    #[test]
    fn rates_are_as_the_driver_buys_them() {
        let iops = |pairs: &[(&str, &str)], gib| of("ebs.csi.aws.com", pairs, gib).unwrap().unwrap().iops;
        assert_eq!(iops(&[("type", "io1"), ("iopsPerGB", "50")], 2000), Some(64_000));
        assert_eq!(iops(&[("type", "gp3"), ("iops", "20000")], 10), Some(5000));
        assert_eq!(iops(&[("type", "io2"), ("iopsPerGB", "1"), ("allowAutoIOPSPerGBIncrease", "true")], 10), Some(100));
        for (name, value) in [("iopsPerGB", "NaN"), ("iopsPerGB", "-5"), ("throughput", "18446744073709551615")] {
            let error = of("ebs.csi.aws.com", &[(name, value)], 10).unwrap_err().to_string();
            assert!(error.contains(name) && error.contains(value), "{error}");
        }
        let large = of("disk.csi.azure.com", &[("skuName", "Premium_LRS")], 4096).unwrap().unwrap();
        assert_eq!(large.caching, Some(Caching::None));
        let less = of("disk.csi.azure.com", &[("skuName", "Premium_LRS")], 4095).unwrap().unwrap();
        assert_eq!(less.caching, Some(Caching::ReadOnly));
    }

    #[test]
    fn every_product_that_a_class_or_parameter_names_is_in_the_catalog() {
        let catalog = Catalog::default();
        for value in VALUES.iter() {
            assert!(catalog.storage(&value.product).is_ok(), "{value:?}");
        }
        for class in BUILT_IN.iter() {
            assert!(Source::is_known(&class.source));
            assert!(class.product.is_empty() || catalog.storage(&class.product).is_ok(), "{class:?}");
        }
    }
}
