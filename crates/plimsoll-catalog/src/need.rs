//! What to buy for a need: of each product the least that holds it in the long run, and which of them costs least.
//!
//! Bursts do not count, latencies are in no catalog, and one disk, volume or share has to hold all of it.

mod cost;
mod demand;
mod families;
mod solving;
#[cfg(test)]
mod tests;

use std::cmp::Ordering;

use plimsoll_workload::{need::Need, provisioned::Provisioned};
use serde::Serialize;

pub use self::{
    cost::Cost,
    demand::{Demand, Dimension, Lack, Rates},
};
use self::{
    families::{FAMILIES, Family},
    solving::{Offer, Smaller},
};
use crate::{
    alternatives::{self, Alternative},
    aws::instances,
    azure::machines,
    catalog::{Catalog, Storage},
    ceiling::{Ceiling, Part},
    error::CatalogError,
    gcp,
    product::{Product, Provider, Way, products},
};

/// Where storage for a need may come from.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Market {
    /// Whose products; all when empty.
    pub providers: Vec<Provider>,
    /// Products that were named: one of them is taken before others when no prices decide.
    pub named: Vec<&'static str>,
    /// The machine that has to carry the load, with how disks are attached to it and how many loads share it.
    pub machine: Option<Provisioned>,
}

/// What to buy for a need.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Advice {
    /// What it has to hold.
    pub demand: Demand,
    /// Where it may come from.
    pub market: Market,
    /// Of each product what holds it, the chosen one first.
    pub candidates: Vec<Candidate>,
    /// Why the first one is chosen; `None` when none is.
    pub chosen: Option<Choice>,
    /// Products that do not hold it, and what the most that is sold of them lacks.
    pub too_small: Vec<TooSmall>,
    /// The first size of the machine's series that lets enough through, where the machine does not.
    pub larger_machine: Option<Alternative>,
    /// Whether what is reached over the network was left out, because nobody says what the machine lets through to it.
    pub leaves_out_network: bool,
    /// The currency in which prices were compared.
    pub currency: Option<String>,
    /// Currencies of prices that were therefore not compared.
    pub other_currencies: Vec<String>,
}

/// Why one is chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Choice {
    /// It costs least.
    Cheapest,
    /// It is the smallest of a product that was named.
    SmallestOfNamed,
    /// It is the smallest.
    Smallest,
}

/// Something that holds a need, as far as storage goes.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Candidate {
    /// What it is called: `P30`, `gp3`.
    pub name: String,
    /// The product that it is of.
    pub product: String,
    /// What that is.
    pub about: String,
    /// Who sells it.
    pub provider: Provider,
    /// What to buy.
    pub provisioned: Provisioned,
    /// GiB that it holds, where that is known.
    pub size_gib: Option<f64>,
    /// Bytes of the unit in which its throughput is bought.
    pub unit: f64,
    /// Operations per second that last, the machine considered.
    pub iops: Option<f64>,
    /// Bytes per second that last.
    pub bytes_per_second: Option<f64>,
    /// What of the need makes it as large as it is; nothing when the least that is sold will do.
    pub binds: Vec<Dimension>,
    /// Why not the next smaller one.
    pub below: Below,
    /// What it costs.
    pub cost: Option<Cost>,
    /// Why that is not known, where there is a price that does not tell all.
    pub cost_unknown: Option<String>,
    /// Why the machine does not carry it.
    pub refused_by_machine: Option<MachineRefusal>,
    /// Whether the smallest size that is sold is known: else it may be less than can be bought.
    pub least_size_is_known: bool,
    /// What a reader has to know besides.
    pub notes: Vec<String>,
}

/// Why the next smaller one will not do.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Below {
    /// It has too little.
    Lacks {
        /// Its name; absent where it is the same product with 1 GiB less.
        name: Option<String>,
        /// Of what.
        lack: Lack,
    },
    /// With 1 GiB less it cannot be bought so.
    Refused(String),
    /// Nothing smaller is sold.
    Nothing,
    /// It would do, and costs no less as far as that is known.
    WouldDo,
}

/// Why a machine does not carry a load.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MachineRefusal {
    /// The machine, as its limits are called.
    pub machine: String,
    /// What it lets too little through of; `None` when it takes no such disks.
    pub lack: Option<Lack>,
    /// Why it takes none.
    pub why: Option<String>,
}

/// A product of which nothing holds a need.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TooSmall {
    /// The product.
    pub product: String,
    /// What the most of it lacks.
    pub lack: Lack,
}

impl Market {
    /// Where storage comes from that was bought so: from whoever sells what was named, or else the machine.
    pub fn add(&mut self, provisioned: &Provisioned, catalog: &Catalog) {
        let sku = provisioned.sku.as_deref();
        let product = sku.and_then(|sku| product_of(sku, catalog));
        if let Some(product) = product
            && !self.named.contains(&product.name)
        {
            self.named.push(product.name);
        }
        let vm = provisioned.vm.as_deref();
        self.sold_by(product.map(|product| product.provider).or_else(|| vm.and_then(seller_of_machine)));
        if self.machine.is_none() && vm.is_some() {
            self.machine = Some(Provisioned {
                vm: provisioned.vm.clone(),
                interface: provisioned.interface,
                vm_share: provisioned.vm_share,
                ..Provisioned::default()
            });
        }
    }

    /// Adds a seller, where one is known.
    pub fn sold_by(&mut self, provider: Option<Provider>) {
        if let Some(provider) = provider.filter(|provider| !self.providers.contains(provider)) {
            self.providers.push(provider);
        }
    }

    fn sells(&self, product: &Product) -> bool {
        self.providers.is_empty() || self.providers.contains(&product.provider)
    }
}

fn product_of(sku: &str, catalog: &Catalog) -> Option<&'static Product> {
    match catalog.storage(sku).ok()? {
        Storage::Product(product) => Some(product),
        Storage::Tier(tier) => Some(tier.product()),
        Storage::Own(_) => None,
    }
}

fn seller_of_machine(vm: &str) -> Option<Provider> {
    let full_name = machines::full_name(vm);
    let is = |name: &str| name.eq_ignore_ascii_case(&full_name);
    if machines::machines().iter().any(|machine| is(&machine.name))
        || machines::listed().iter().any(|machine| is(&machine.name))
    {
        return Some(Provider::Azure);
    }
    let aws = instances::instance(vm).map(|_| Provider::Aws);
    aws.or_else(|| gcp::machines::remote(vm, "").map(|_| Provider::Gcp))
}

impl Advice {
    /// What to buy for a need; `None` when it has nothing that is in a catalog.
    pub fn of(need: &Need, market: &Market, catalog: &Catalog) -> Result<Option<Self>, CatalogError> {
        let demand = Demand::of(need);
        if demand.dimensions().next().is_none() {
            return Ok(None);
        }
        let mut too_small = Vec::new();
        let mut of_products: Vec<Vec<Candidate>> = Vec::new();
        for family in FAMILIES {
            let product = products().find(|product| product.name == family.product);
            let Some(product) = product.filter(|product| market.sells(product)) else { continue };
            if market.machine.is_some() && product.way() == Way::Network {
                continue;
            }
            // A user's own figures take the place of a product's, and are looked at by themselves.
            if matches!(catalog.storage(product.name), Ok(Storage::Own(_))) {
                continue;
            }
            match solving::offers(family, &demand, catalog) {
                Ok(offers) => {
                    let scene = Scene { family, product, demand: &demand, market, catalog };
                    let candidates = offers.iter().map(|offer| scene.candidate(offer));
                    of_products.push(candidates.collect::<Result<_, _>>()?);
                }
                Err(lack) => too_small.push(TooSmall { product: product.name.to_owned(), lack }),
            }
        }
        let own = catalog.own().disks.iter().filter(|own| managed_disk(&own.name).is_none());
        for own in own {
            match own_candidate(own, &demand, market, catalog)? {
                Ok(candidate) => of_products.push(vec![candidate]),
                Err(lack) => too_small.push(TooSmall { product: own.name.clone(), lack }),
            }
        }
        Ok(Some(choose(demand, market, of_products, too_small, catalog)))
    }
}

fn managed_disk(name: &str) -> Option<&'static crate::azure::managed_disks::Tier> {
    crate::azure::managed_disks::tier(name)
}

/// What a candidate is made from.
struct Scene<'a> {
    family: &'static Family,
    product: &'static Product,
    demand: &'a Demand,
    market: &'a Market,
    catalog: &'a Catalog,
}

impl Scene<'_> {
    fn candidate(&self, offer: &Offer) -> Result<Candidate, CatalogError> {
        let Self { family, product, demand, market, catalog } = *self;
        let below = match solving::smaller(family, offer, demand, catalog) {
            Smaller::Lacks(name, lack) => Below::Lacks { name: (!name.is_empty()).then_some(name), lack },
            Smaller::Refused(why) => Below::Refused(why),
            Smaller::None => Below::Nothing,
            Smaller::Holds => Below::WouldDo,
        };
        let amounts = |demand: &Demand| {
            let offers = solving::offers(family, demand, catalog).ok();
            offers.and_then(|offers| offers.first().map(Offer::amounts))
        };
        let (all, least) = (offer.amounts(), amounts(&Demand::default()).unwrap_or_default());
        let makes_it_so = |dimension: &Dimension| {
            amounts(&demand.only(*dimension))
                .is_some_and(|alone| (0..3).any(|at| alone[at] >= all[at] && all[at] > least[at]))
        };
        let binds =
            if below == Below::WouldDo { Vec::new() } else { demand.dimensions().filter(makes_it_so).collect() };
        let candidate = Candidate {
            product: product.name.to_owned(),
            about: product.about.to_owned(),
            provider: product.provider,
            unit: family.unit(),
            least_size_is_known: family.least_size_is_known(),
            binds,
            below,
            ..unplaced(offer, cost::cost(Some(family), offer, catalog))
        };
        candidate.placed(offer.ceilings(catalog)?, demand, market, catalog)
    }
}

/// A candidate of which only the offer is known.
fn unplaced(offer: &Offer, cost: Result<Cost, String>) -> Candidate {
    Candidate {
        name: offer.name.clone(),
        product: offer.name.clone(),
        about: String::new(),
        provider: Provider::Own,
        provisioned: offer.provisioned.clone(),
        size_gib: offer.size_gib,
        unit: crate::ceiling::MB,
        iops: None,
        bytes_per_second: None,
        binds: Vec::new(),
        below: Below::Nothing,
        cost_unknown: cost.as_ref().err().filter(|why| !why.is_empty()).cloned(),
        cost: cost.ok(),
        refused_by_machine: None,
        least_size_is_known: true,
        notes: Vec::new(),
    }
}

/// A user's own disk, or what it lacks.
fn own_candidate(
    own: &crate::limits_file::OwnLimit,
    demand: &Demand,
    market: &Market,
    catalog: &Catalog,
) -> Result<Result<Candidate, Lack>, CatalogError> {
    let provisioned = Provisioned { sku: Some(own.name.clone()), size: own.size, ..Provisioned::default() };
    let size_gib = own.size.map(|size| size.0 as f64 / crate::ceiling::GIB);
    let offer = Offer { name: own.name.clone(), provisioned, size_gib };
    if let Some(lack) = offer.lack(demand, catalog)? {
        return Ok(Err(lack));
    }
    let candidate = Candidate { about: own.source.clone(), ..unplaced(&offer, cost::cost(None, &offer, catalog)) };
    candidate.placed(offer.ceilings(catalog)?, demand, market, catalog).map(Ok)
}

impl Candidate {
    /// On the machine that has to carry it, with what lasts there.
    fn placed(
        mut self,
        mut parts: Vec<Ceiling>,
        demand: &Demand,
        market: &Market,
        catalog: &Catalog,
    ) -> Result<Self, CatalogError> {
        self.notes = parts.iter().flat_map(|part| part.notes.iter().cloned()).collect();
        if let Some(machine) = &market.machine {
            let vm = machine.vm.as_deref().unwrap_or_default();
            let with_disk = Provisioned { sku: self.provisioned.sku.clone(), ..machine.clone() };
            match catalog.machine(vm, &with_disk) {
                Ok(ceiling) => {
                    let ceiling = ceiling.shared_by(machine.vm_share.unwrap_or(1));
                    let lack = demand.lack(std::slice::from_ref(&ceiling));
                    self.notes.extend(ceiling.notes.iter().map(|note| format!("{}: {note}", ceiling.name)));
                    self.refused_by_machine =
                        lack.map(|lack| MachineRefusal { machine: ceiling.name.clone(), lack: Some(lack), why: None });
                    parts.push(ceiling);
                }
                Err(CatalogError::Impossible { product, why }) => {
                    self.refused_by_machine = Some(MachineRefusal { machine: product, lack: None, why: Some(why) });
                }
                Err(error) => return Err(error),
            }
        }
        let lasting = demand.lasting(&parts);
        (self.iops, self.bytes_per_second) = (lasting.iops, lasting.bytes_per_second);
        Ok(self)
    }

    fn is_carried(&self) -> bool {
        self.refused_by_machine.is_none()
    }

    /// What it costs in a currency.
    fn price_in(&self, currency: Option<&str>) -> Option<f64> {
        self.cost.as_ref().filter(|cost| Some(cost.currency.as_str()) == currency).map(|cost| cost.per_month)
    }

    /// The GiB that are bought.
    fn bought_gib(&self) -> f64 {
        let pool = self.provisioned.pool.map(|pool| pool.0 as f64 / crate::ceiling::GIB);
        pool.or(self.size_gib).unwrap_or(f64::INFINITY)
    }

    /// Smaller ones first; those whose size may be less than is sold come last.
    fn by_size(&self, other: &Self) -> Ordering {
        let amounts = |candidate: &Self| {
            let bandwidth = candidate.provisioned.bandwidth.map_or(0, |bandwidth| bandwidth.0);
            (!candidate.least_size_is_known, candidate.provisioned.iops.unwrap_or(0), bandwidth)
        };
        let (one, two) = (amounts(self), amounts(other));
        one.0.cmp(&two.0).then(self.bought_gib().total_cmp(&other.bought_gib())).then(one.cmp(&two))
    }
}

/// The best of each product, and of them the best.
fn choose(
    demand: Demand,
    market: &Market,
    of_products: Vec<Vec<Candidate>>,
    too_small: Vec<TooSmall>,
    catalog: &Catalog,
) -> Advice {
    let (currency, other_currencies) = currencies(&of_products, catalog);
    let currency_name = currency.as_deref();
    let cheaper =
        |one: &Candidate, other: &Candidate| match (one.price_in(currency_name), other.price_in(currency_name)) {
            (Some(price), Some(of_other)) => price.total_cmp(&of_other).then(one.by_size(other)),
            (Some(_), None) => Ordering::Less,
            (None, Some(_)) => Ordering::Greater,
            (None, None) => Ordering::Equal,
        };
    let best = |offers: Vec<Candidate>| offers.into_iter().min_by(|one, other| cheaper(one, other));
    let mut candidates: Vec<Candidate> = of_products.into_iter().filter_map(best).collect();
    let is_named = |candidate: &Candidate| market.named.iter().any(|named| *named == candidate.product);
    candidates.sort_by(|one, other| {
        let carried = other.is_carried().cmp(&one.is_carried());
        carried.then(cheaper(one, other)).then(is_named(other).cmp(&is_named(one))).then(one.by_size(other))
    });
    let chosen = candidates.first().filter(|first| first.is_carried()).map(|first| {
        if first.price_in(currency_name).is_some() {
            Choice::Cheapest
        } else if is_named(first) {
            Choice::SmallestOfNamed
        } else {
            Choice::Smallest
        }
    });
    let vm = market.machine.as_ref().and_then(|machine| machine.vm.as_deref());
    let larger_machine = vm.filter(|_| chosen.is_none() && !candidates.is_empty()).and_then(|vm| {
        let shares = f64::from(market.machine.as_ref().and_then(|machine| machine.vm_share).unwrap_or(1));
        let is_enough = |has: Option<f64>, needs: f64| needs <= 0.0 || has.is_some_and(|has| has >= needs * shares);
        alternatives::larger_machine(vm, |machine| {
            is_enough(machine.iops, demand.iops.together())
                && is_enough(machine.bytes_per_second, demand.bytes_per_second.together())
        })
    });
    let is_sold_over_network = |family: &Family| {
        let product = products().find(|product| product.name == family.product);
        product.is_some_and(|product| product.way() == Way::Network && market.sells(product))
    };
    let leaves_out_network = market.machine.is_some() && FAMILIES.iter().any(is_sold_over_network);
    Advice {
        demand,
        market: market.clone(),
        candidates,
        chosen,
        too_small,
        larger_machine,
        leaves_out_network,
        currency,
        other_currencies,
    }
}

/// The currency in which most products have a price, the first of the user's file among equals; and the others.
fn currencies(of_products: &[Vec<Candidate>], catalog: &Catalog) -> (Option<String>, Vec<String>) {
    let mut counted: Vec<(&str, usize)> = Vec::new();
    for price in &catalog.own().prices {
        let currency = price.currency.as_str();
        let has = |candidate: &Candidate| candidate.is_carried() && candidate.price_in(Some(currency)).is_some();
        let count = of_products.iter().filter(|offers| offers.iter().any(has)).count();
        if count > 0 && counted.iter().all(|(known, _)| *known != currency) {
            counted.push((currency, count));
        }
    }
    let most = counted.iter().map(|(_, count)| *count).max().unwrap_or(0);
    let first = counted.iter().find(|(_, count)| *count == most).map(|(currency, _)| (*currency).to_owned());
    let others = counted.iter().filter(|(currency, _)| Some(*currency) != first.as_deref());
    let others = others.map(|(currency, _)| (*currency).to_owned()).collect();
    (first, others)
}

impl Lack {
    /// Whether it is the machine that has too little.
    pub fn is_of_machine(&self) -> bool {
        self.part == Part::Vm
    }
}
