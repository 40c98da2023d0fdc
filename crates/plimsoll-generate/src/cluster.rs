//! A cluster, decided: its nodes, its StorageClasses, and what makes volumes in it.

use plimsoll_catalog::{before_buying::MachineFacts, catalog::Catalog, expectation::Expectation, product::Provider};
use plimsoll_workload::{
    cloud::{ContainerStorage, Kubernetes},
    provisioned::Provisioned,
    units::ByteCount,
};

use crate::{
    error::{GenerateError, impossible, missing, of_catalog},
    keys,
    setup::{Rates, decide_product, facts, rates, size_gib},
    words,
};

/// Nodes of a cluster that nobody counted: a volume that moves needs two.
const NODES: u32 = 2;
const NODES_MAX: u32 = 1000;
/// What the first pool of nodes takes at least: <https://learn.microsoft.com/azure/aks/use-system-pools>, of which newer
/// revisions recommend 4.
const VCPUS_OF_AKS: u32 = 2;
/// The volume that is measured where nobody said how large.
const VOLUME: ByteCount = ByteCount(100 << 30);
const POOL_PLACE: &str = "cloud.kubernetes.container_storage.pool";
/// How large the SAN of a class is that asks for no size, as that of version 2 of Azure Container Storage. Its volumes
/// do not make it larger:
/// <https://learn.microsoft.com/azure/storage/container-storage/use-container-storage-with-elastic-san>.
const SAN_TIB: u64 = 1;
/// What version 1 of Azure Container Storage takes at least.
const NODES_OF_VERSION_1: u32 = 3;
const NODES_OF_VERSION_1_WITH_NVME: u32 = 4;
const VCPUS_OF_VERSION_1: u32 = 4;

/// A cluster.
#[derive(Debug)]
pub(crate) struct Cluster {
    pub(crate) version: Option<String>,
    pub(crate) nodes: u32,
    pub(crate) node: MachineFacts,
    pub(crate) classes: Vec<Class>,
    pub(crate) container_storage: Option<Pool>,
}

/// A StorageClass.
#[derive(Debug)]
pub(crate) struct Class {
    pub(crate) name: String,
    pub(crate) product: &'static str,
    /// The size of the volume that is measured.
    pub(crate) size_gib: u64,
    pub(crate) bought: Rates,
    pub(crate) provisioned: Provisioned,
}

/// Azure Container Storage.
#[derive(Debug)]
pub(crate) struct Pool {
    pub(crate) version: u32,
    pub(crate) backing: Backing,
    /// The StorageClass whose volumes come from it.
    pub(crate) class: &'static str,
    /// The size of the volume that is measured.
    pub(crate) size_gib: u64,
}

/// What volumes of Azure Container Storage are made of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Backing {
    /// Managed disks, with version 1.
    Disks {
        /// The product.
        sku: &'static str,
        /// What the pool holds.
        size_gib: u64,
    },
    /// NVMe disks of the nodes.
    LocalNvme,
    /// Temporary disks of the nodes, with version 1.
    Temporary,
    /// Elastic SAN.
    ElasticSan {
        /// Its base size.
        tib: u64,
    },
}

impl Cluster {
    /// The volumes that are measured: a class and a size in GiB of each, and whether it is made with its pod.
    pub(crate) fn volumes(&self) -> impl Iterator<Item = (&str, u64, bool)> {
        let of_classes = self.classes.iter().map(|class| (class.name.as_str(), class.size_gib, false));
        of_classes.chain(self.container_storage.iter().map(|pool| (pool.class, pool.size_gib, pool.is_ephemeral())))
    }
}

impl Pool {
    /// Whether what is in its volumes is gone with the node: such volumes are made for pods alone, unless a claim says
    /// in an annotation that it accepts that.
    ///
    /// <https://learn.microsoft.com/azure/storage/container-storage/use-container-storage-with-local-disk>
    pub(crate) fn is_ephemeral(&self) -> bool {
        matches!(self.backing, Backing::LocalNvme | Backing::Temporary)
    }
}

/// Decides what a plan asks for, or says what cannot be.
pub(crate) fn decide(
    kubernetes: &Kubernetes,
    provider: Provider,
    zone: Option<&str>,
    catalog: &Catalog,
) -> Result<Cluster, GenerateError> {
    let place = "cloud.kubernetes";
    let name = kubernetes.node_type.as_deref();
    let name = name.ok_or_else(|| missing(place, "say the size of its nodes, as node_type = \"Standard_D16s_v5\""))?;
    let node = facts(place, name, provider, catalog)?;
    if let Some(vcpus) = node.vcpus.filter(|vcpus| provider == Provider::Azure && *vcpus < VCPUS_OF_AKS) {
        return Err(impossible(
            place,
            format!(
                "nodes of AKS have at least {VCPUS_OF_AKS} processors, and {} has {vcpus}: take a larger size",
                node.name
            ),
        ));
    }
    let nodes = kubernetes.nodes.unwrap_or(NODES);
    if !(1..=NODES_MAX).contains(&nodes) {
        return Err(impossible(place, format!("nodes is from 1 to {NODES_MAX}, not {nodes}")));
    }
    let version = kubernetes.version.as_deref().map(|text| words::VERSION.of("cloud.kubernetes.version", text));
    let version = version.transpose()?;
    let asked = kubernetes.container_storage.as_ref();
    let container_storage = asked.map(|asked| decide_pool(asked, provider, nodes, &node, catalog)).transpose()?;
    let has_san = container_storage
        .as_ref()
        .is_some_and(|pool| pool.version == 2 && matches!(pool.backing, Backing::ElasticSan { .. }));
    let mut classes = Vec::new();
    for (name, asked) in &kubernetes.classes {
        let place = format!("cloud.kubernetes.classes.{name}");
        let name = words::OBJECT.of(&place, name)?;
        if words::is_built_in(&name, provider) {
            return Err(impossible(
                &place,
                format!("{provider} makes a class of this name by itself, which cannot be changed: take another name"),
            ));
        }
        let class = decide_class(&place, name, asked, provider, &node, zone, catalog)?;
        if class.product == "elastic-san" && !has_san {
            return Err(impossible(
                &place,
                "classes of Elastic SAN need version 2 of Azure Container Storage with sku = \"elastic-san\": \
                 [cloud.kubernetes.container_storage.pool]",
            ));
        }
        classes.push(class);
    }
    container_storage.iter().try_for_each(|pool| check_san(pool, &classes))?;
    if classes.is_empty() && container_storage.is_none() {
        return Err(missing(place, "say what to measure: a class, as [cloud.kubernetes.classes.premium]"));
    }
    Ok(Cluster { version, nodes, node, classes, container_storage })
}

fn decide_class(
    place: &str,
    name: String,
    asked: &Provisioned,
    provider: Provider,
    node: &MachineFacts,
    zone: Option<&str>,
    catalog: &Catalog,
) -> Result<Class, GenerateError> {
    if asked.disks.is_some() || asked.vm.is_some() {
        return Err(impossible(place, "a class knows no disks or vm: leave them out"));
    }
    let mut provisioned = Provisioned { vm: Some(node.name.clone()), ..asked.clone() };
    let product = decide_product(place, &mut provisioned, provider, zone, catalog)?;
    Expectation::of(&provisioned, catalog).map_err(of_catalog(place))?;
    keys::check(place, asked, product, keys::of_product(product))?;
    // What drivers make volumes by knows fewer.
    let has = ["iops", "bandwidth", "on_demand_bursting", "performance_plus"];
    keys::check(place, asked, "a class", &has)?;
    let size_gib = size_gib(place, &provisioned)?;
    Ok(Class { name, product, size_gib, bought: rates(place, &provisioned, provider)?, provisioned })
}

fn decide_pool(
    asked: &ContainerStorage,
    provider: Provider,
    nodes: u32,
    node: &MachineFacts,
    catalog: &Catalog,
) -> Result<Pool, GenerateError> {
    let place = "cloud.kubernetes.container_storage";
    if provider != Provider::Azure {
        return Err(impossible(place, format!("{provider} has no Azure Container Storage: leave it out")));
    }
    let version = asked.version.unwrap_or(2);
    if !(1..=2).contains(&version) {
        return Err(impossible(place, format!("there are versions 1 and 2, not {version}")));
    }
    let pool = &asked.pool;
    let sku = pool.sku.as_deref();
    let sku = sku.ok_or_else(|| missing(POOL_PLACE, "say what it is made of, as sku = \"azure-local-nvme\""))?;
    let sold = catalog.sold_as(sku).map_err(of_catalog(POOL_PLACE))?;
    let (sold, sold_size) = (sold.product, sold.size);
    let in_zones = sold.names().find(|name| name.ends_with("_ZRS") && name.eq_ignore_ascii_case(sku.trim()));
    let product = in_zones.unwrap_or(sold.name);
    let asked_size = pool.size.or(sold_size);
    let size = asked_size.unwrap_or(VOLUME);
    let bought =
        Provisioned { sku: Some(product.to_owned()), vm: Some(node.name.clone()), size: Some(size), ..pool.clone() };
    Expectation::of(&bought, catalog).map_err(of_catalog(POOL_PLACE))?;
    let has: &[&str] = if product == "elastic-san" { &["pool"] } else { &[] };
    keys::check(POOL_PLACE, pool, &format!("a pool of {product}"), has)?;
    let backing = match (product, version) {
        ("azure-local-nvme", _) => Backing::LocalNvme,
        ("elastic-san", _) => Backing::ElasticSan { tib: pool.pool.map_or(SAN_TIB, |pool| pool.0 >> 40) },
        ("azure-temporary-disk", 1) => Backing::Temporary,
        (
            "Premium_LRS" | "Premium_ZRS" | "PremiumV2_LRS" | "Standard_LRS" | "StandardSSD_LRS" | "StandardSSD_ZRS"
            | "UltraSSD_LRS",
            1,
        ) => Backing::Disks {
            sku: product,
            size_gib: size_gib(POOL_PLACE, &Provisioned { size: asked_size, ..pool.clone() })?,
        },
        _ => {
            let why = if version == 1 {
                "is made of disks, of local NVMe or temporary disks, or of Elastic SAN"
            } else {
                "is made of local NVMe disks or of Elastic SAN alone: say version = 1, or another sku"
            };
            return Err(impossible(
                POOL_PLACE,
                format!("Azure Container Storage version {version} {why}, not of {product}"),
            ));
        }
    };
    if version == 1 {
        let least = if backing == Backing::LocalNvme { NODES_OF_VERSION_1_WITH_NVME } else { NODES_OF_VERSION_1 };
        if nodes < least {
            return Err(impossible(place, format!("version 1 takes at least {least} nodes for that, not {nodes}")));
        }
        if let Some(vcpus) = node.vcpus.filter(|vcpus| *vcpus < VCPUS_OF_VERSION_1) {
            return Err(impossible(
                place,
                format!(
                    "version 1 takes nodes with at least {VCPUS_OF_VERSION_1} processors, and {} has {vcpus}",
                    node.name
                ),
            ));
        }
        if !node.takes_premium {
            return Err(impossible(
                place,
                format!("version 1 takes sizes with premium disks, and {} has none", node.name),
            ));
        }
    }
    let class = match (version, &backing) {
        (1, _) => "acstor-plimsoll",
        (_, Backing::ElasticSan { .. }) => "azuresan-csi",
        _ => "local-csi",
    };
    // What a pool of disks holds is not what is measured of it.
    let of_disks = matches!(backing, Backing::Disks { .. });
    let size_gib = size_gib(
        POOL_PLACE,
        &Provisioned { size: Some(if of_disks { size.min(VOLUME) } else { size }), ..pool.clone() },
    )?;
    Ok(Pool { version, backing, class, size_gib })
}

/// Refuses a SAN that nobody would ask for, and volumes that have no room in it.
fn check_san(pool: &Pool, classes: &[Class]) -> Result<(), GenerateError> {
    let Backing::ElasticSan { tib } = pool.backing else { return Ok(()) };
    let sizes: Vec<u64> =
        classes.iter().filter(|class| class.product == "elastic-san").map(|class| class.size_gib).collect();
    if pool.version == 2 && tib != SAN_TIB && sizes.is_empty() {
        return Err(impossible(
            POOL_PLACE,
            format!(
                "the class {} makes a SAN of {SAN_TIB} TiB: leave pool out, or say a class that asks for more, with \
                 sku = \"elastic-san\"",
                pool.class
            ),
        ));
    }
    let room_gib = tib << 10;
    match sizes.into_iter().chain([pool.size_gib]).max() {
        Some(size_gib) if size_gib > room_gib => Err(impossible(
            POOL_PLACE,
            format!(
                "a volume of {size_gib} GiB has no room in a SAN of {room_gib} GiB: say a larger one, as pool = \"{}Ti\"",
                size_gib.div_ceil(1 << 10)
            ),
        )),
        _ => Ok(()),
    }
}
