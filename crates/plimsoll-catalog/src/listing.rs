//! What the catalog has: its entries in lists, and all that is known of one.

use plimsoll_workload::{
    limit::{Limit, RateLimit},
    provisioned::Provisioned,
};
use serde::Serialize;

use crate::{
    aws::instances::{self, Instance},
    azure::{
        machines::{self, ListedMachine, LocalKind, LocalStorage, Machine},
        managed_disks::{self, Tier},
    },
    bucket,
    catalog::Catalog,
    ceiling::{Ceiling, InCommon, Limits, Load, MB},
    error::CatalogError,
    gcp,
    limits_file::{OwnLimit, Price},
    product::{Product, Provider, products},
    source::Source,
    storage_class::{self, BuiltInClass},
};

/// What kind of thing an entry is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// A product whose limits follow from what is bought of it.
    Product,
    /// A size that is sold.
    Size,
    /// The size of a virtual machine, or the type of an instance.
    Machine,
    /// A StorageClass that a cluster comes with.
    StorageClass,
}

/// An entry.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Entry {
    /// Its name.
    pub name: String,
    /// What it is.
    pub kind: Kind,
    /// Who sells it.
    pub provider: Provider,
    /// What it is, in a few words.
    pub about: String,
    /// What it lets through of small writes, where that needs nothing else to be said.
    pub limit: Option<Limit>,
}

/// All that is known of an entry.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Shown {
    /// Its name.
    pub name: String,
    /// What it is, in a few words.
    pub about: String,
    /// What is known, in the order in which people ask.
    pub facts: Vec<Fact>,
    /// What is not known, or contradicts itself.
    pub doubts: Vec<String>,
    /// Where it stands.
    pub sources: Vec<&'static Source>,
}

/// Something that is known.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Fact {
    /// What it is about.
    pub label: &'static str,
    /// What is known.
    pub text: String,
}

const SMALL_WRITES: Load = Load { read_share: 0.0, operation_bytes: 4096.0, is_sequential: false };

/// The entries whose names have this in them, or whose kind or seller is this word; products alone when it is empty.
pub fn list(catalog: &Catalog, filter: &str) -> Vec<Entry> {
    let filter = filter.trim().to_ascii_lowercase();
    let mut entries: Vec<Entry> = all(catalog).filter(|entry| entry.is_meant(&filter)).collect();
    entries.sort_by_key(|entry| entry.kind);
    entries
}

/// How many entries there are of a kind.
pub fn count(catalog: &Catalog, kind: Kind) -> usize {
    all(catalog).filter(|entry| entry.kind == kind).count()
}

impl Entry {
    fn is_meant(&self, filter: &str) -> bool {
        if filter.is_empty() {
            return self.kind == Kind::Product;
        }
        self.name.to_ascii_lowercase().contains(filter)
            || self.about.to_ascii_lowercase().contains(filter)
            || format!("{:?}", self.provider).eq_ignore_ascii_case(filter)
    }
}

fn all(catalog: &Catalog) -> impl Iterator<Item = Entry> {
    let own = |of: &[OwnLimit], kind| {
        let entry = move |own: &OwnLimit| Entry {
            name: own.name.clone(),
            kind,
            provider: Provider::Own,
            about: own.source.clone(),
            limit: Some(own.limit),
        };
        of.iter().map(entry).collect::<Vec<_>>()
    };
    let products = products().map(|product| Entry {
        name: product.name.to_owned(),
        kind: Kind::Product,
        provider: product.provider,
        about: product.about.to_owned(),
        limit: None,
    });
    let tiers = managed_disks::tiers().iter().map(|tier| Entry {
        name: tier.name.clone(),
        kind: Kind::Size,
        provider: Provider::Azure,
        about: format!("{} of {}", tier.family, crate::product::gib(tier.size_gib)),
        limit: tier.ceiling(&Provisioned::default()).ok().map(|ceiling| ceiling.limits.of(SMALL_WRITES)),
    });
    let machine = |name: &str, provider, about: String, limits: Limits| Entry {
        name: name.to_owned(),
        kind: Kind::Machine,
        provider,
        about,
        limit: Some(limits.of(SMALL_WRITES)),
    };
    let azure = machines::machines().iter().map(move |of| {
        let interface = of.interface.map(|interface| format!(", {interface}")).unwrap_or_default();
        let about = format!("{} series, {} vCPUs{interface}", of.series, of.vcpus);
        machine(&of.name, Provider::Azure, about, of.ceiling(false).limits)
    });
    let listed = machines::listed()
        .iter()
        .map(move |of| machine(&of.name, Provider::Azure, format!("{} vCPUs", of.vcpus), of.ceiling().limits));
    let aws = instances::instances()
        .iter()
        .map(move |of| machine(&of.name, Provider::Aws, format!("{} vCPUs", of.vcpus), of.ceiling().limits));
    let gcp = gcp::machines::limits().iter().map(move |of| {
        let name = match of.key_kind {
            gcp::machines::KeyKind::MachineType => of.key.clone(),
            gcp::machines::KeyKind::Vcpus => format!("{} {} vCPUs", of.series, of.key),
        };
        machine(&name, Provider::Gcp, format!("{}, with {}", of.series, of.disk_type), of.ceiling("").limits)
    });
    let classes = storage_class::built_in().iter().map(|class| Entry {
        name: class.name.clone(),
        kind: Kind::StorageClass,
        provider: Provider::Azure,
        about: class.about(),
        limit: None,
    });
    own(&catalog.own().disks, Kind::Size)
        .into_iter()
        .chain(own(&catalog.own().machines, Kind::Machine))
        .chain(products)
        .chain(tiers)
        .chain(azure)
        .chain(listed)
        .chain(aws)
        .chain(gcp)
        .chain(classes)
}

/// All that is known under a name: one entry, or those of a machine with limits for several interfaces or disks.
pub fn show(catalog: &Catalog, name: &str) -> Result<Vec<Shown>, CatalogError> {
    let name = name.trim();
    let full_name = machines::full_name(name);
    let mut shown: Vec<Shown> = Vec::new();
    let own = catalog.own();
    shown.extend(own.disks.iter().chain(&own.machines).filter(|own| own.name.eq_ignore_ascii_case(name)).map(of_own));
    shown.extend(products().filter(|product| product.is_called(name)).map(of_product));
    shown.extend(managed_disks::tier(name).map(|tier| of_tier(tier, catalog)));
    let of_name = machines::machines().iter().filter(|of| of.name.eq_ignore_ascii_case(&full_name));
    shown.extend(of_name.map(of_machine));
    shown.extend(machines::listed().iter().filter(|of| of.name.eq_ignore_ascii_case(&full_name)).map(of_listed));
    shown.extend(instances::instance(name).map(of_instance));
    shown.extend(gcp::machines::limits().iter().filter(|of| of.is_about(name)).map(|of| of_gcp(of, name)));
    shown.extend(storage_class::built_in().iter().filter(|of| of.name.eq_ignore_ascii_case(name)).map(of_class));
    if shown.is_empty() {
        let names = catalog.storage_names().chain(Catalog::machine_names());
        return Err(CatalogError::unknown("entry", name, names));
    }
    Ok(shown)
}

fn fact(label: &'static str, text: impl Into<String>) -> Fact {
    Fact { label, text: text.into() }
}

/// Operations per second as vendors print them.
fn whole(value: f64) -> String {
    if value.fract() == 0.0 { plimsoll_record::numbers::count(value as u64) } else { format!("{value}") }
}

/// A rate with its burst: `500 IOPS; bursts to 3,500 for 30 min, refilled in 3 h`.
fn rate(limit: RateLimit, scale: f64, unit: &str) -> String {
    let lasting = format!("{} {unit}", whole(limit.sustained / scale));
    let Some((burst, seconds)) = limit.burst.zip(limit.burst.and_then(|burst| bucket::burst_seconds(limit, burst)))
    else {
        return lasting;
    };
    let refilled = bucket::refill_seconds(limit).map(|seconds| format!(", refilled in {}", time(seconds)));
    format!("{lasting}; bursts to {} for {}{}", whole(burst / scale), time(seconds), refilled.unwrap_or_default())
}

fn time(seconds: f64) -> String {
    plimsoll_record::numbers::duration((seconds * 1e9) as u64)
}

fn limits(ceiling: &Ceiling) -> Vec<Fact> {
    let of = |label_iops, label_bytes, limit: Limit| {
        let mut facts = Vec::new();
        facts.extend(limit.operations.map(|limit| fact(label_iops, rate(limit, 1.0, "IOPS"))));
        facts.extend(limit.bytes.map(|limit| fact(label_bytes, rate(limit, MB, "MB/s"))));
        facts
    };
    let mut facts = match ceiling.limits {
        Limits::Shared(limit) => of("operations", "bytes", limit),
        Limits::ByOrder { sequential, random } => {
            [of("in order", "bytes in order", sequential), of("at random", "bytes at random", random)].concat()
        }
        Limits::ByDirection { read, write, in_common } => {
            let mut facts = [of("reads", "bytes read", read), of("writes", "bytes written", write)].concat();
            let shared = match in_common {
                InCommon { operations: true, bytes: true } => Some("operations and bytes"),
                InCommon { operations: true, bytes: false } => Some("operations"),
                InCommon { operations: false, bytes: true } => Some("bytes"),
                InCommon { operations: false, bytes: false } => None,
            };
            facts.extend(shared.map(|what| fact("in common", format!("{what}: what reads use up, writes lack"))));
            facts
        }
    };
    if let Limits::Shared(Limit { io_size: Some(size), .. }) = ceiling.limits {
        facts.push(fact("counted as", format!("one operation for each {size} or part of it")));
    }
    facts
}

fn of_ceiling(about: String, ceiling: Ceiling, more: Vec<Fact>) -> Shown {
    let mut facts = limits(&ceiling);
    facts.extend(more);
    let mut sources = ceiling.sources;
    sources.dedup();
    Shown { name: ceiling.name, about, facts, doubts: ceiling.notes, sources }
}

fn of_own(own: &OwnLimit) -> Shown {
    let ceiling = own.ceiling(crate::ceiling::Part::Disk);
    of_ceiling("of the user's file".to_owned(), ceiling, Vec::new())
}

fn of_product(product: &'static Product) -> Shown {
    let mut facts: Vec<Fact> = product.rules.iter().map(|rule| fact("rule", *rule)).collect();
    if !product.aliases.is_empty() {
        facts.push(fact("also called", product.aliases.join(", ")));
    }
    Shown {
        name: product.name.to_owned(),
        about: product.about.to_owned(),
        facts,
        doubts: product.doubts(),
        sources: product.sources.iter().map(|id| Source::of(id)).collect(),
    }
}

fn of_tier(tier: &Tier, catalog: &Catalog) -> Shown {
    let mut more = Vec::new();
    if let (Some(iops), Some(mbps)) = (tier.plus_iops, tier.plus_mbps) {
        more.push(fact("with performance plus", format!("{} IOPS, {} MB/s", whole(iops), whole(mbps))));
    }
    if let (Some(managed_disks::Burst::OnDemand), Some(iops), Some(mbps)) =
        (tier.burst, tier.burst_iops, tier.burst_mbps)
    {
        more.push(fact("bursting on demand", format!("{} IOPS, {} MB/s, for a price", whole(iops), whole(mbps))));
    }
    more.push(fact("shared by", format!("at most {} machines", tier.max_shares)));
    more.push(fact("product", tier.skus.replace(' ', ", ")));
    more.extend(catalog.price(&[&tier.name]).map(of_price));
    match tier.ceiling(&Provisioned::default()) {
        Ok(ceiling) => {
            let about = format!("{} of {}", tier.family, crate::product::gib(tier.size_gib));
            Shown { name: tier.name.clone(), ..of_ceiling(about, ceiling, more) }
        }
        Err(error) => Shown {
            name: tier.name.clone(),
            about: tier.family.clone(),
            facts: more,
            doubts: vec![error.to_string()],
            sources: Vec::new(),
        },
    }
}

fn of_price(price: &Price) -> Fact {
    fact("price", format!("{} {} a month, by the user's file of {}", price.per_month, price.currency, price.date))
}

fn of_machine(machine: &Machine) -> Shown {
    let mut more = Vec::new();
    if machine.v2_iops.is_some() {
        let facts = limits(&machine.ceiling(true));
        let texts: Vec<String> = facts.into_iter().map(|fact| fact.text).collect();
        more.push(fact("with v2 and Ultra", texts.join("; ")));
    }
    more.extend(machine.max_data_disks.map(|disks| fact("data disks", format!("at most {disks}"))));
    let takes = if machines::takes_premium(&machine.name) { "yes" } else { "no: no s in its name" };
    more.push(fact("premium disks", takes));
    let mut sources = Vec::new();
    for local in machines::local(&machine.name) {
        more.extend(of_local(local));
        sources.push(Source::of(&local.source));
    }
    let interface = machine.interface.map(|interface| format!(", by {interface}")).unwrap_or_default();
    let about = format!("{} series, {} vCPUs; to remote disks{interface}", machine.series, machine.vcpus);
    let mut shown = of_ceiling(about, machine.ceiling(false), more);
    shown.sources.extend(sources);
    shown.sources.dedup();
    shown
}

fn of_local(local: &LocalStorage) -> Vec<Fact> {
    let rates = |iops: Option<f64>, mbps: Option<f64>| {
        let iops = iops.map(|iops| format!("{} IOPS", whole(iops)));
        let mbps = mbps.map(|mbps| format!("{} MB/s", whole(mbps)));
        iops.into_iter().chain(mbps).collect::<Vec<_>>().join(", ")
    };
    let label = match local.kind {
        LocalKind::TemporaryAndCache => "cached and temporary",
        LocalKind::Temporary => "temporary disk",
        LocalKind::Nvme => "local NVMe",
        LocalKind::Cache => "cached",
    };
    let mut parts = Vec::new();
    match (local.disks, local.total_gib) {
        (Some(disks), Some(gib)) if disks > 1 => parts.push(format!("{disks} disks, {} GiB in all", whole(gib))),
        (_, Some(gib)) => parts.push(format!("{} GiB", whole(gib))),
        _ => {}
    }
    let (reads, writes) = (rates(local.read_iops, local.read_mbps), rates(local.write_iops, local.write_mbps));
    match (reads.is_empty(), writes.is_empty()) {
        (true, true) => {}
        (false, true) => parts.push(reads),
        (true, false) => parts.push(format!("writes {writes}")),
        (false, false) => parts.push(format!("reads {reads}; writes {writes}")),
    }
    parts.extend(Some(local.note.clone()).filter(|note| !note.is_empty()));
    let mut facts = vec![fact(label, parts.join("; "))];
    facts.extend(local.host_cache_gib.map(|gib| fact("host cache", format!("{} GiB for all disks", whole(gib)))));
    facts
}

fn of_listed(machine: &ListedMachine) -> Shown {
    let mut more = Vec::new();
    more.extend(machine.max_data_disks.map(|disks| fact("data disks", format!("at most {disks}"))));
    for local in machines::local(&machine.name) {
        more.extend(of_local(local));
    }
    of_ceiling(format!("{} vCPUs; to remote disks", machine.vcpus), machine.ceiling(), more)
}

fn of_instance(instance: &Instance) -> Shown {
    let mut more = Vec::new();
    more.extend(instance.max_attachments.map(|count| fact("EBS attachments", format!("at most {count}"))));
    if let (Some(disks), Some(gb)) = (instance.store_disks, instance.store_gb) {
        more.push(fact("instance store", format!("{disks} disks, {} GB in all", whole(gb))));
    }
    of_ceiling(format!("{} vCPUs; to EBS volumes", instance.vcpus), instance.ceiling(), more)
}

fn of_gcp(limit: &gcp::machines::MachineLimit, name: &str) -> Shown {
    of_ceiling(format!("{} series; with {}", limit.series, limit.disk_type), limit.ceiling(name), Vec::new())
}

fn of_class(class: &'static BuiltInClass) -> Shown {
    let mut facts = vec![fact("provisioner", class.provisioner.clone())];
    let product = if class.product.is_empty() { "that of the machine's own disks" } else { &class.product };
    facts.push(fact("product", product));
    Shown {
        name: class.name.clone(),
        about: class.about(),
        facts,
        doubts: Some(class.note.clone()).filter(|note| !note.is_empty()).into_iter().collect(),
        sources: vec![Source::of(&class.source)],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(name: &str) -> String {
        let shown = show(&Catalog::default(), name).unwrap_or_else(|error| panic!("{error}"));
        shown.iter().flat_map(|shown| &shown.facts).map(|fact| format!("{}: {}\n", fact.label, fact.text)).collect()
    }

    #[test]
    fn an_entry_tells_its_figures_its_burst_and_where_they_stand() {
        let text = texts("P10");
        assert!(text.contains("operations: 500 IOPS; bursts to 3,500 for 30m 00s, refilled in 3h 00m"), "{text}");
        assert!(text.contains("bytes: 100 MB/s; bursts to 170 for 30m 00s"), "{text}");
        let shown = show(&Catalog::default(), "p10").unwrap().remove(0);
        assert_eq!(shown.name, "P10");
        assert!(shown.sources.iter().any(|source| source.date == "2023-03-16"), "{shown:?}");
    }

    #[test]
    fn machines_tell_what_they_let_through_and_what_they_have() {
        let text = texts("Standard_D2s_v3");
        assert!(text.contains("operations: 3,200 IOPS; bursts to 4,000"), "{text}");
        assert!(text.contains("cached and temporary: 16 GiB; 4,000 IOPS, 32 MB/s"), "{text}");
        assert!(text.contains("host cache: 50 GiB"), "{text}");
        assert_eq!(show(&Catalog::default(), "E8bds_v5").unwrap().len(), 2);
        assert!(texts("m5.large").contains("3,600 IOPS; bursts to 18,750"));
        let of_google = texts("n2-standard-8");
        for what in ["operations and bytes", "operations"] {
            let line = format!("in common: {what}: what reads use up, writes lack\n");
            assert!(of_google.contains(&line), "{of_google}");
        }
    }

    #[test]
    fn what_is_not_there_is_said_with_what_is_like_it() {
        let error = |name: &str| show(&Catalog::default(), name).unwrap_err().to_string();
        assert!(error("P31").contains("no entry \"P31\""), "{}", error("P31"));
        assert!(error("Standard_D16dv5").contains("Standard_D16d_v5"), "{}", error("Standard_D16dv5"));
    }

    #[test]
    fn lists_are_of_products_until_something_is_looked_for() {
        let catalog = Catalog::default();
        assert!(list(&catalog, "").iter().all(|entry| entry.kind == Kind::Product));
        assert!(list(&catalog, "").len() > 30);
        assert_eq!(list(&catalog, "p30").len(), 1);
        assert!(list(&catalog, "D16").iter().any(|entry| entry.name == "Standard_D16s_v5"));
        assert!(list(&catalog, "managed-csi").iter().any(|entry| entry.kind == Kind::StorageClass));
        assert_eq!(count(&catalog, Kind::Machine), 292 + 809 + 1354 + 273);
    }

    #[test]
    fn every_source_of_every_entry_is_known() {
        let catalog = Catalog::default();
        for entry in all(&catalog) {
            if entry.provider != Provider::Gcp || entry.kind == Kind::Product {
                let shown = show(&catalog, &entry.name).unwrap_or_else(|error| panic!("{error}"));
                assert!(shown.iter().all(|shown| !shown.sources.is_empty()), "{entry:?}");
            }
        }
    }
}
