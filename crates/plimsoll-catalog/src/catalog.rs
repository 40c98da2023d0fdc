//! What is known of products and machines: the catalog that comes with plimsoll, and what a user knows better.

use plimsoll_workload::provisioned::Provisioned;

use crate::{
    aws::instances,
    azure::{machines, managed_disks},
    ceiling::{Ceiling, Limits, Part, Tolerance},
    error::CatalogError,
    gcp,
    limits_file::{LimitsFile, OwnLimit, Price},
    product::{Product, Provider, products},
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

    /// The same without the catalog.
    pub(crate) fn into_own(self) -> LimitsFile {
        self.own
    }

    /// The price of an entry, by its names, the most particular first.
    pub fn price(&self, names: &[&str]) -> Option<&Price> {
        names.iter().find_map(|name| self.own.prices.iter().find(|price| price.name.trim().eq_ignore_ascii_case(name)))
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
            Storage::Product(product) => {
                product.refuse_options(provisioned)?;
                let parts = (product.ceilings)(product, provisioned)?;
                // A size that the user knows better is so under whatever name it is asked for.
                let name = parts.first().and_then(|part| part.name.split(' ').next()).unwrap_or_default();
                let is_plain = managed_disks::tier(name).is_some()
                    && provisioned.tier.is_none()
                    && provisioned.on_demand_bursting != Some(true)
                    && provisioned.performance_plus != Some(true);
                let own = self.own.disks.iter().find(|own| is_plain && own.name.eq_ignore_ascii_case(name));
                Ok(own.map_or(parts, |own| vec![own.ceiling(Part::Disk)]))
            }
            Storage::Tier(tier) => {
                if provisioned.size.is_some() {
                    tier.refuse_other_sizes(provisioned)?;
                }
                Ok(vec![tier.ceiling(provisioned)?])
            }
        }
    }

    /// Whether a host may cache a storage.
    pub fn is_cacheable(&self, sku: &str) -> bool {
        self.product(sku)
            .is_some_and(|product| managed_disks::PRODUCTS.iter().any(|cached| cached.name == product.name))
    }

    /// The product that a name of storage is of.
    pub(crate) fn product(&self, sku: &str) -> Option<&'static Product> {
        match self.storage(sku).ok()? {
            Storage::Product(product) => Some(product),
            Storage::Tier(tier) => Some(tier.product()),
            Storage::Own(_) => None,
        }
    }

    /// What a machine lets through to remote storage.
    pub(crate) fn machine(&self, vm: &str, provisioned: &Provisioned) -> Result<Ceiling, CatalogError> {
        let full_name = machines::full_name(vm);
        let is_it = |own: &&OwnLimit| {
            own.name.eq_ignore_ascii_case(vm.trim()) || machines::full_name(&own.name).eq_ignore_ascii_case(&full_name)
        };
        if let Some(own) = self.own.machines.iter().find(is_it) {
            return Ok(own.ceiling(Part::Vm));
        }
        let sku = provisioned.sku.as_deref().unwrap_or_default();
        let product = self.product(sku);
        let name = product.map_or("", |product| product.name);
        let is_v2 = matches!(name, "PremiumV2_LRS" | "UltraSSD_LRS");
        let azure = || machines::remote(vm, provisioned.interface, is_v2).map(|found| (Provider::Azure, found));
        let aws = || instances::instance(vm).map(|instance| (Provider::Aws, Ok(instance.ceiling())));
        let gcp = || gcp::machines::remote(vm, name).map(|found| (Provider::Gcp, found));
        let Some((provider, found)) = azure().or_else(aws).or_else(gcp) else {
            return Err(CatalogError::unknown("machine size", vm, Self::machine_names()));
        };
        let ceiling = found?;
        let impossible = |why: String| Err(CatalogError::Impossible { product: ceiling.name.clone(), why });
        if let Some(product) = product.filter(|product| product.provider != provider) {
            return impossible(format!("a machine of {provider} has no {sku} of {}", product.provider));
        }
        if (is_v2 || name == "Premium_LRS") && provider == Provider::Azure && !machines::takes_premium(vm) {
            return impossible(format!("a size without an s in its name takes no premium disks, so not {sku}"));
        }
        let most = machines::max_data_disks(&full_name).or_else(|| instances::instance(vm)?.max_attachments);
        match (provisioned.disks, most) {
            (Some(disks), Some(most)) if disks > most => {
                impossible(format!("at most {most} disks can be attached, not {disks}"))
            }
            _ => Ok(ceiling),
        }
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
            notes: vec![format!("a figure of the user's file: {}{date}", self.source)],
        }
    }
}
