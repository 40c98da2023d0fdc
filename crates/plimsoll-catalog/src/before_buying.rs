//! What has to be known before something is bought: which product a name is of, and what a machine takes.

use plimsoll_workload::units::ByteCount;

use crate::{
    aws::instances,
    azure::machines,
    catalog::{Catalog, Storage},
    error::CatalogError,
    gcp,
    product::{Product, Provider},
};

/// What a name of storage is sold as.
#[derive(Clone, Copy, Debug)]
pub struct Sold {
    /// The product.
    pub product: &'static Product,
    /// The size, where the name is that of a size: `P30`.
    pub size: Option<ByteCount>,
}

/// What is known of a machine besides its limits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MachineFacts {
    /// Its name in full, as its provider writes it.
    pub name: String,
    /// Who sells it; `None` of a machine of one's own file, which may be anybody's.
    pub provider: Option<Provider>,
    /// Its processors, where that is known.
    pub vcpus: Option<u32>,
    /// How many disks can be attached, where that is known.
    pub max_disks: Option<u32>,
    /// Whether premium disks can be attached to it, a question of Azure alone.
    pub takes_premium: bool,
}

impl Catalog {
    /// What a name of storage is sold as. Entries of one's own are sold by nobody.
    pub fn sold_as(&self, sku: &str) -> Result<Sold, CatalogError> {
        match self.storage(sku)? {
            Storage::Product(product) => Ok(Sold { product, size: None }),
            Storage::Tier(tier) => {
                Ok(Sold { product: tier.product(), size: Some(ByteCount(tier.size_gib as u64 * (1 << 30))) })
            }
            Storage::Own(own) => Err(CatalogError::Impossible {
                product: own.name.clone(),
                why: "it is an entry of your own file: name the product that is sold".to_owned(),
            }),
        }
    }

    /// What is known of a machine.
    pub fn machine_facts(&self, name: &str) -> Result<MachineFacts, CatalogError> {
        let name = name.trim();
        let full_name = machines::full_name(name);
        let of_azure = machines::machines().iter().find(|machine| machine.name.eq_ignore_ascii_case(&full_name));
        let listed = machines::listed().iter().find(|machine| machine.name.eq_ignore_ascii_case(&full_name));
        let azure = of_azure.map(|found| (&found.name, found.vcpus)).or(listed.map(|found| (&found.name, found.vcpus)));
        if let Some((name, vcpus)) = azure {
            return Ok(MachineFacts {
                name: name.clone(),
                provider: Some(Provider::Azure),
                vcpus: Some(vcpus),
                max_disks: machines::max_data_disks(name),
                takes_premium: machines::takes_premium(name),
            });
        }
        if let Some(instance) = instances::instance(name) {
            return Ok(MachineFacts {
                name: instance.name.clone(),
                provider: Some(Provider::Aws),
                vcpus: Some(instance.vcpus),
                max_disks: instance.max_attachments,
                takes_premium: true,
            });
        }
        let found = |provider, name: &str| MachineFacts {
            name: name.to_owned(),
            provider,
            vcpus: None,
            max_disks: None,
            takes_premium: true,
        };
        if gcp::machines::remote(name, "pd-balanced").is_some() {
            return Ok(found(Some(Provider::Gcp), &name.to_ascii_lowercase()));
        }
        match self.own().machines.iter().find(|own| own.name.eq_ignore_ascii_case(name)) {
            Some(own) => Ok(found(None, &own.name)),
            None => Err(CatalogError::unknown("machine size", name, Self::machine_names())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_of_a_size_is_its_product_and_its_size() {
        let catalog = Catalog::default();
        let sold = catalog.sold_as("p30").unwrap();
        assert_eq!((sold.product.name, sold.size), ("Premium_LRS", Some(ByteCount(1 << 40))));
        assert_eq!(catalog.sold_as("gp3").unwrap().product.provider, Provider::Aws);
        assert!(catalog.sold_as("Premum_LRS").unwrap_err().to_string().contains("did you mean Premium_LRS"));
    }

    #[test]
    fn a_machine_is_somebody_s_and_takes_so_many_disks() {
        let catalog = Catalog::default();
        let facts = catalog.machine_facts("d16s_v5").unwrap();
        assert_eq!((facts.name.as_str(), facts.provider), ("Standard_D16s_v5", Some(Provider::Azure)));
        assert_eq!((facts.vcpus, facts.max_disks, facts.takes_premium), (Some(16), Some(32), true));
        assert!(!catalog.machine_facts("Standard_D16_v5").unwrap().takes_premium);
        assert_eq!(catalog.machine_facts("m5.large").unwrap().provider, Some(Provider::Aws));
        assert_eq!(catalog.machine_facts("N2-standard-8").unwrap().name, "n2-standard-8");
        let error = catalog.machine_facts("Standard_D16dv5").unwrap_err().to_string();
        assert!(error.contains("no machine size \"Standard_D16dv5\"; did you mean"), "{error}");
    }
}
