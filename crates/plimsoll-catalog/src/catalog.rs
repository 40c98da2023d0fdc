//! What is known of products and machines: the catalog that comes with plimsoll, and what a user knows better.

use plimsoll_workload::provisioned::Provisioned;

use crate::{
    aws::instances,
    azure::{machines, managed_disks},
    ceiling::{Ceiling, Limits, Part, Tolerance},
    error::CatalogError,
    gcp,
    limits_file::{LimitsFile, OwnLimit, Price},
    product::{Product, Provider, gib, products},
};

/// The catalog, with what a user added.
#[derive(Clone, Debug, Default)]
pub struct Catalog {
    own: LimitsFile,
}

/// What a name of storage stands for.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Storage<'a> {
    /// A user's own.
    Own(&'a OwnLimit),
    /// A product, whose limits follow from what was bought of it.
    Product(&'static Product),
    /// A size of a product.
    Tier(&'static managed_disks::Tier),
}

impl Catalog {
    /// With a user's own entries, which come first.
    pub const fn with(own: LimitsFile) -> Self {
        Self { own }
    }

    /// A user's own entries.
    pub const fn own(&self) -> &LimitsFile {
        &self.own
    }

    /// The price of an entry, by its names, the most particular first.
    pub fn price(&self, names: &[&str]) -> Option<&Price> {
        names.iter().find_map(|name| self.own.prices.iter().find(|price| price.name.eq_ignore_ascii_case(name)))
    }

    /// What a name of storage stands for.
    pub(crate) fn storage(&self, name: &str) -> Result<Storage<'_>, CatalogError> {
        let name = name.trim();
        let own = self.own.disks.iter().find(|disk| disk.name.eq_ignore_ascii_case(name)).map(Storage::Own);
        let product = || products().find(|product| product.is_called(name)).map(Storage::Product);
        let tier = || managed_disks::tier(name).map(Storage::Tier);
        own.or_else(product).or_else(tier).ok_or_else(|| CatalogError::unknown("product", name, self.storage_names()))
    }

    /// All names of storage.
    pub(crate) fn storage_names(&self) -> impl Iterator<Item = &str> {
        let own = self.own.disks.iter().map(|disk| disk.name.as_str());
        let products = products().flat_map(Product::names).map(|name: &str| name);
        own.chain(products).chain(managed_disks::tiers().iter().map(|tier| tier.name.as_str()))
    }

    /// All names of machines that come with the catalog.
    pub(crate) fn machine_names<'a>() -> impl Iterator<Item = &'a str> {
        let azure = machines::machines().iter().map(|machine| machine.name.as_str());
        let listed = machines::listed().iter().map(|machine| machine.name.as_str());
        let aws = instances::instances().iter().map(|instance| instance.name.as_str());
        azure.chain(listed).chain(aws).chain(gcp::machines::limits().iter().map(|limit| limit.key.as_str()))
    }

    /// What one disk, volume or share lets through, and perhaps its pool.
    pub(crate) fn storage_ceilings(&self, sku: &str, provisioned: &Provisioned) -> Result<Vec<Ceiling>, CatalogError> {
        match self.storage(sku)? {
            Storage::Own(own) => Ok(vec![own.ceiling(Part::Disk)]),
            Storage::Product(product) => (product.ceilings)(product, provisioned),
            Storage::Tier(tier) => {
                let size = provisioned.size.map(|size| size.0 as f64 / crate::ceiling::GIB);
                if let Some(size) = size.filter(|size| *size > tier.size_gib) {
                    return Err(CatalogError::Impossible {
                        product: tier.name.clone(),
                        why: format!(
                            "it holds {}, not {}: name the product, as {}, and the size tells the rest",
                            gib(tier.size_gib),
                            gib(size),
                            tier.product().name
                        ),
                    });
                }
                Ok(vec![tier.ceiling(provisioned)?])
            }
        }
    }

    /// Who sells a storage, and whether it is one that hosts do not cache.
    pub(crate) fn seller(&self, sku: &str) -> (Option<Provider>, bool) {
        match self.storage(sku) {
            Ok(Storage::Product(product)) => {
                (Some(product.provider), managed_disks::PRODUCTS.iter().all(|cached| cached.name != product.name))
            }
            Ok(Storage::Tier(_)) => (Some(Provider::Azure), false),
            Ok(Storage::Own(_)) | Err(_) => (None, true),
        }
    }

    /// Whether a storage is part of the machine, whose limits of remote storage do not bind it then.
    pub(crate) fn is_local(&self, sku: &str) -> bool {
        matches!(self.storage(sku), Ok(Storage::Product(product)) if product.is_local())
    }

    /// What a machine lets through to remote storage.
    pub(crate) fn machine(&self, vm: &str, provisioned: &Provisioned) -> Result<Ceiling, CatalogError> {
        if let Some(own) = self.own.machines.iter().find(|own| {
            own.name.eq_ignore_ascii_case(vm.trim()) || own.name.eq_ignore_ascii_case(&machines::full_name(vm))
        }) {
            return Ok(own.ceiling(Part::Vm));
        }
        let sku = provisioned.sku.as_deref().unwrap_or_default();
        let product = match self.storage(sku) {
            Ok(Storage::Product(product)) => product.name,
            Ok(Storage::Tier(tier)) => tier.product().name,
            Ok(Storage::Own(_)) | Err(_) => "",
        };
        let is_v2 = matches!(product, "PremiumV2_LRS" | "UltraSSD_LRS");
        let found = machines::remote(vm, provisioned.interface, is_v2)
            .or_else(|| instances::instance(vm).map(|instance| Ok(instance.ceiling())))
            .or_else(|| gcp::machines::remote(vm, product));
        let ceiling = found.unwrap_or_else(|| Err(CatalogError::unknown("machine size", vm, Self::machine_names())))?;
        let is_premium = is_v2 || product == "Premium_LRS";
        if is_premium && ceiling.name.starts_with("Standard_") && !machines::takes_premium(vm) {
            return Err(CatalogError::Impossible {
                product: ceiling.name,
                why: format!("a size without an s in its name takes no premium disks, so not {sku}"),
            });
        }
        Ok(ceiling)
    }
}

impl OwnLimit {
    /// What it lets through.
    pub(crate) fn ceiling(&self, part: Part) -> Ceiling {
        let date = self.date.as_ref().map(|date| format!(" ({date})")).unwrap_or_default();
        Ceiling {
            part,
            name: self.name.clone(),
            limits: Limits::Shared(self.limit),
            tolerance: Tolerance::USUAL,
            sources: Vec::new(),
            notes: vec![format!("by the user's file: {}{date}", self.source)],
        }
    }
}
