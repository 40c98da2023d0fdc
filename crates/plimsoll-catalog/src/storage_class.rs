//! What a Kubernetes volume was bought as: from its StorageClass, its PersistentVolume, its attributes class and its
//! node. Names of parameters are in any case, as drivers take them.

use std::{collections::BTreeMap, sync::LazyLock};

use plimsoll_workload::{
    provisioned::{Caching, Provisioned},
    units::{Bandwidth, ByteCount},
};
use serde::Deserialize;

use crate::{
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

/// What is known of a volume in a cluster.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Volume<'a> {
    /// The driver, as StorageClass and PersistentVolume name it.
    pub provisioner: &'a str,
    /// Parameters of the StorageClass.
    pub parameters: BTreeMap<String, String>,
    /// `csi.volumeAttributes` of the PersistentVolume: drivers write what they made of the parameters there.
    pub volume_attributes: BTreeMap<String, String>,
    /// Parameters of its VolumeAttributesClass.
    pub attributes_class: BTreeMap<String, String>,
    /// The capacity of the PersistentVolume, which may exceed what was requested.
    pub capacity_bytes: Option<u64>,
    /// The label `node.kubernetes.io/instance-type` of its node.
    pub instance_type: Option<&'a str>,
}

/// Parameters by their names in small letters; later sources override earlier ones.
struct Parameters(BTreeMap<String, String>);

impl Parameters {
    fn of(volume: &Volume<'_>) -> Self {
        let all = [&volume.parameters, &volume.volume_attributes, &volume.attributes_class];
        let lower = |(name, value): (&String, &String)| (name.to_ascii_lowercase(), value.trim().to_owned());
        Self(all.into_iter().flatten().map(lower).collect())
    }

    fn get(&self, name: &str) -> Option<&str> {
        self.0.get(&name.to_ascii_lowercase()).map(String::as_str).filter(|value| !value.is_empty())
    }

    fn first(&self, names: &[&str]) -> Option<&str> {
        names.iter().find_map(|name| self.get(name))
    }

    fn number<T: std::str::FromStr>(&self, names: &[&str]) -> Result<Option<T>, CatalogError> {
        let Some(text) = self.first(names) else { return Ok(None) };
        text.parse().map(Some).map_err(|_| wrong(names[0], text, "a whole number"))
    }

    fn is_true(&self, name: &str) -> Option<bool> {
        self.get(name).map(|value| value.eq_ignore_ascii_case("true"))
    }
}

fn wrong(parameter: &str, value: &str, what: &str) -> CatalogError {
    CatalogError::Impossible { product: format!("parameter {parameter}"), why: format!("\"{value}\" is not {what}") }
}

/// What a volume was bought as; `None` when its driver is not known.
pub fn provisioned(volume: &Volume<'_>) -> Result<Option<Provisioned>, CatalogError> {
    let parameters = Parameters::of(volume);
    let Some(sku) = product(volume.provisioner, &parameters)? else { return Ok(None) };
    let mut provisioned = Provisioned {
        sku: Some(sku),
        size: volume.capacity_bytes.map(ByteCount),
        vm: volume.instance_type.map(str::to_owned),
        ..Provisioned::default()
    };
    let size_gib = volume.capacity_bytes.map(|bytes| bytes as f64 / crate::ceiling::GIB);
    match volume.provisioner {
        "disk.csi.azure.com" => azure_disk(&parameters, &mut provisioned)?,
        "file.csi.azure.com" => {
            provisioned.iops = parameters.number(&["provisionedIOPS"])?;
            provisioned.bandwidth = mebibytes(parameters.number(&["provisionedBandwidth"])?);
        }
        "ebs.csi.aws.com" => {
            provisioned.iops = parameters.number(&["iops"])?;
            if let (None, Some(per_gib), Some(size)) =
                (provisioned.iops, parameters.number::<f64>(&["iopsPerGB"])?, size_gib)
            {
                provisioned.iops = Some((per_gib * size) as u64);
            }
            provisioned.bandwidth = mebibytes(parameters.number(&["throughput"])?);
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

fn mebibytes(rate: Option<u64>) -> Option<Bandwidth> {
    rate.map(|rate| Bandwidth(rate << 20))
}

fn azure_disk(parameters: &Parameters, provisioned: &mut Provisioned) -> Result<(), CatalogError> {
    let is_uncached = matches!(provisioned.sku.as_deref(), Some("PremiumV2_LRS" | "UltraSSD_LRS"));
    provisioned.caching = match parameters.get("cachingMode") {
        _ if is_uncached => Some(Caching::None),
        Some(mode) => Some(mode.parse().map_err(|_| wrong("cachingMode", mode, "None, ReadOnly or ReadWrite"))?),
        None => Some(Caching::ReadOnly),
    };
    provisioned.iops = parameters.number(&["DiskIOPSReadWrite"])?;
    let megabytes: Option<u64> = parameters.number(&["DiskMBpsReadWrite"])?;
    provisioned.bandwidth = megabytes.map(|rate| Bandwidth(rate * 1_000_000));
    provisioned.on_demand_bursting = parameters.is_true("enableBursting");
    provisioned.performance_plus = parameters.is_true("enablePerformancePlus");
    Ok(())
}

/// The product that the parameters name, or that the driver takes when they name none.
fn product(provisioner: &str, parameters: &Parameters) -> Result<Option<String>, CatalogError> {
    match provisioner {
        "san.csi.azure.com" => return Ok(Some("elastic-san".to_owned())),
        "filestore.csi.storage.gke.io" => {
            let tier = parameters.get("tier").unwrap_or_default().to_ascii_lowercase();
            let is_zonal = matches!(tier.as_str(), "zonal" | "high_scale_ssd" | "high-scale-ssd");
            return Ok(Some(if is_zonal { "filestore-zonal" } else { "filestore" }.to_owned()));
        }
        _ => {}
    }
    let mut of_driver = VALUES.iter().filter(|value| value.provisioner == provisioner);
    let Some(first) = of_driver.clone().next() else { return Ok(None) };
    let names = [first.parameter.as_str(), first.alias.as_str()];
    let Some(value) = parameters.first(&names) else {
        return Ok(of_driver.find(|value| !value.is_default.is_empty()).map(|value| value.product.clone()));
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
        let volume =
            Volume { provisioner, parameters: parameters(pairs), capacity_bytes: Some(gib << 30), ..Volume::default() };
        provisioned(&volume)
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
    fn what_the_driver_and_the_attributes_class_say_overrides_the_class() {
        let volume = Volume {
            provisioner: "disk.csi.azure.com",
            parameters: parameters(&[("skuName", "PremiumV2_LRS"), ("DiskIOPSReadWrite", "5000")]),
            volume_attributes: parameters(&[("diskiopsreadwrite", "6000"), ("diskmbpsreadwrite", "250")]),
            attributes_class: parameters(&[("DiskIOPSReadWrite", "7000")]),
            capacity_bytes: Some(64 << 30),
            instance_type: Some("Standard_D16s_v5"),
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
