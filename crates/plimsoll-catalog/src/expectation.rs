//! What a load should get: the least that any part of the way to its storage lets through.

use std::collections::BTreeSet;

use plimsoll_record::environment::Environment;
use plimsoll_workload::{
    file_set::FilePlan,
    limit::{Expected, GIVEN, Limit, Part, RateLimit},
    plan::{BlockPlan, Plan, Work},
    provisioned::{Caching, Provisioned, Provisioning},
    units::ByteCount,
};

use crate::{
    azure::machines,
    bucket::{self, Bucket},
    catalog::Catalog,
    ceiling::{Ceiling, Limits, Load, MB, Tolerance},
    detection,
    error::CatalogError,
    product::{Product, Way},
    source::Source,
};

/// More disks are striped nowhere, and no machine is shared by more loads.
pub const COUNT_MAX: u32 = 1024;

/// What a limit is called that somebody gave, in sentences about it: `the 3,000 IOPS of the given limit`.
const GIVEN_LIMIT: &str = "the given limit";

/// What a limit is called that somebody said disks to share.
const SHARED_LIMIT: &str = "the limit that the disks share";

/// Longer than any bucket lasts.
const FOR_EVER: f64 = 1e12;

/// What the parts of the way to a storage let through.
#[derive(Clone, Debug, PartialEq)]
pub struct Expectation {
    /// The parts, storage first.
    pub parts: Vec<Ceiling>,
    /// What the host's cache answers, where there is one.
    pub host_cache: Option<HostCache>,
    /// Whether reads and writes are held back apart, and have no bursts.
    pub is_emulated: bool,
    /// What a reader has to know, that no part says.
    pub notes: Vec<String>,
}

/// A cache of the machine's host.
#[derive(Clone, Debug, PartialEq)]
pub struct HostCache {
    /// What it is of.
    pub caching: Caching,
    /// The most that hits get; empty when that is not known.
    pub hits: Limit,
    /// What it holds for all disks, where that is known.
    pub size_gib: Option<f64>,
    /// Where that stands.
    pub source: Option<&'static Source>,
}

impl Expectation {
    /// What follows from what was bought; `None` when nothing is said of it.
    pub fn of(provisioned: &Provisioned, catalog: &Catalog) -> Result<Option<Self>, CatalogError> {
        let is_in_range = |count: Option<u32>| count.is_none_or(|count| (1..=COUNT_MAX).contains(&count));
        if !is_in_range(provisioned.disks) || !is_in_range(provisioned.vm_share) {
            return Err(CatalogError::Incomplete {
                product: "disks and vm_share".to_owned(),
                what: format!("are from 1 to {COUNT_MAX}"),
            });
        }
        let mut notes = Vec::new();
        let product = provisioned.sku.as_deref().and_then(|sku| catalog.product(sku));
        let mut parts = storage(provisioned, product, catalog)?;
        parts.extend(provisioned.shared_limit.map(|limit| given(limit, Part::Pool, SHARED_LIMIT)));
        let way = product.filter(|_| provisioned.limit.is_none()).map_or(Way::Attached, Product::way);
        if let Some(vm) = &provisioned.vm {
            match way {
                Way::Attached => {
                    parts.push(catalog.machine(vm, provisioned)?.shared_by(provisioned.vm_share.unwrap_or(1)));
                }
                Way::Network => notes.push(format!("what the network of {vm} lets through to it is not known")),
                Way::Inside => {}
            }
        }
        if parts.is_empty() {
            return Ok(None);
        }
        let is_cacheable = provisioned.sku.as_deref().is_some_and(|sku| catalog.is_cacheable(sku));
        let caching = provisioned.caching.filter(|caching| *caching != Caching::None);
        if let (Some(caching), Some(product)) = (caching, product.filter(|_| !is_cacheable)) {
            return Err(CatalogError::Impossible {
                product: product.name.to_owned(),
                why: format!("no host caches it: leave the caching {caching} out"),
            });
        }
        let host_cache = caching.map(|caching| host_cache(caching, provisioned.vm.as_deref()));
        if is_cacheable && provisioned.caching.is_none() {
            notes.push(
                "nothing is said of host caching: reads may be answered by the host (ReadOnly is what the Kubernetes \
                 driver sets by itself)"
                    .to_owned(),
            );
        }
        Ok(Some(Self { parts, host_cache, is_emulated: provisioned.emulated == Some(true), notes }))
    }

    /// What a load should get, reads and writes together.
    pub fn for_load(&self, load: Load) -> Expected {
        if !self.is_emulated {
            return self.of_all(load);
        }
        // Of a mix, the direction that is full first holds the other one back, which waits for it.
        let directions = [(1.0, load.read_share), (0.0, 1.0 - load.read_share)];
        let directions = directions.into_iter().filter(|(_, share)| *share > 0.0);
        let each: Vec<(Expected, f64)> =
            directions.map(|(read_share, share)| (self.of_all(Load { read_share, ..load }), share)).collect();
        let lasting = |limit: Option<RateLimit>, share: f64| Some(RateLimit::lasting(limit?.sustained / share));
        let operations = least(each.iter().map(|(of, share)| (of.operations_by, lasting(of.limit.operations, *share))));
        let bytes = least(each.iter().map(|(of, share)| (of.bytes_by, lasting(of.limit.bytes, *share))));
        self.expected(operations, bytes)
    }

    /// The same where all operations count alike.
    fn of_all(&self, load: Load) -> Expected {
        let limits: Vec<(Part, Limit)> = self.parts.iter().map(|part| (part.part, part.limits.of(load))).collect();
        // A dimension that a part says nothing of is unknown, unless somebody gave just the other one.
        let is_known = |of: fn(&Limit) -> Option<RateLimit>| {
            let mut known = self.parts.iter().zip(&limits);
            known.all(|(part, (_, limit))| {
                of(limit).is_some() || [GIVEN_LIMIT, SHARED_LIMIT].iter().any(|name| part.name.ends_with(name))
            })
        };
        let of = |value: fn(&Limit) -> Option<RateLimit>| {
            let all = limits.iter().map(|(part, limit)| (*part, value(limit)));
            least(all).filter(|_| is_known(value))
        };
        self.expected(of(|limit| limit.operations), of(|limit| limit.bytes))
    }

    fn expected(&self, operations: Option<(Part, RateLimit)>, bytes: Option<(Part, RateLimit)>) -> Expected {
        Expected {
            limit: Limit {
                operations: operations.map(|(_, limit)| limit),
                bytes: bytes.map(|(_, limit)| limit),
                io_size: None,
            },
            operations_by: operations.map_or(Part::Disk, |(part, _)| part),
            bytes_by: bytes.map_or(Part::Disk, |(part, _)| part),
            source: self.parts.iter().map(|part| part.name.as_str()).collect::<Vec<_>>().join("; "),
        }
    }

    /// The part of this kind.
    pub fn part(&self, part: Part) -> Option<&Ceiling> {
        self.parts.iter().find(|ceiling| ceiling.part == part)
    }

    /// How exactly the part that binds is kept.
    pub fn tolerance(&self, part: Part) -> Tolerance {
        self.part(part).map_or(Tolerance::USUAL, |ceiling| ceiling.tolerance)
    }
}

/// What a load of a plan is, as far as limits care.
pub fn load(blocks: &BlockPlan) -> Load {
    Load {
        read_share: f64::from(blocks.read_percent) / 100.0,
        operation_bytes: blocks.operation_bytes(),
        is_sequential: blocks.random_percent == 0,
    }
}

/// Tells each cell of a plan what its storage should deliver, as far as it is said or was found out what was bought.
/// Returns what a reader has to know besides.
pub fn expect(
    plan: &mut Plan,
    said: &Provisioning,
    environment: &Environment,
    catalog: &Catalog,
) -> Result<Vec<String>, CatalogError> {
    let mut notes = Vec::new();
    // Operations on names transfer nothing, so that no limit of a disk is about them.
    for cell in &mut plan.cells {
        let load = match &cell.work {
            Work::Blocks(plan) if plan.name_operation().is_some() => None,
            Work::Blocks(plan) => Some(load(plan)),
            Work::Files(plan) => Some(of_files(plan)),
            // What a command asks of its storage is not known.
            Work::Application(_) => None,
        };
        let Some(load) = load else {
            // Names that nobody has are slips all the same.
            match Expectation::of(&said.of(&cell.target), catalog) {
                Err(unknown @ CatalogError::Unknown { .. }) => return Err(unknown),
                _ => continue,
            }
        };
        let mut provisioned = detection::complete(said.of(&cell.target), environment, &cell.target, catalog);
        notes.extend(detection::unknown_machine(&provisioned, environment));
        if let Some(given) = cell.expected.as_ref().filter(|_| provisioned.limit.is_none()) {
            provisioned.sku.as_deref().map(|sku| catalog.storage(sku)).transpose()?;
            // It is what all disks of the target let through.
            (provisioned.limit, provisioned.disks) = (Some(given.limit), None);
        }
        if let Some(expectation) = Expectation::of(&provisioned, catalog)? {
            let Expectation { parts, notes: others, .. } = &expectation;
            let of_parts = parts.iter().flat_map(|part| part.notes.iter().map(|note| format!("{}: {note}", part.name)));
            notes.extend(of_parts.chain(others.iter().cloned()));
            let expected = expectation.for_load(load);
            // Records call it by its word of old.
            cell.expected = Some(Expected { source: expected.source.replace(GIVEN_LIMIT, GIVEN), ..expected });
        }
    }
    let mut known = BTreeSet::new();
    notes.retain(|note| known.insert(note.clone()));
    Ok(notes)
}

/// What a set of files is like for the storage: mostly it is written to.
fn of_files(plan: &FilePlan) -> Load {
    let operation_bytes = plan.file_size.max().clamp(4096, plan.block_size_bytes.into()) as f64;
    Load { read_share: 0.0, operation_bytes, is_sequential: false }
}

/// What the storage lets through: all disks together, and perhaps their pool.
fn storage(
    provisioned: &Provisioned,
    product: Option<&Product>,
    catalog: &Catalog,
) -> Result<Vec<Ceiling>, CatalogError> {
    let disks = provisioned.disks.unwrap_or(1);
    let adds_sizes_up = product.is_some_and(Product::adds_sizes_up);
    let parts = match (provisioned.limit, &provisioned.sku) {
        (Some(limit), _) => vec![given(limit, Part::Disk, GIVEN_LIMIT)],
        (None, Some(sku)) if adds_sizes_up && disks > 1 => {
            let size = provisioned.size.map(|size| ByteCount(size.0.saturating_mul(disks.into())));
            return catalog.storage_ceilings(sku, &Provisioned { size, ..provisioned.clone() });
        }
        (None, Some(sku)) => catalog.storage_ceilings(sku, provisioned)?,
        (None, None) => Vec::new(),
    };
    Ok(parts.into_iter().map(|part| if part.part == Part::Disk { part.striped(disks) } else { part }).collect())
}

fn given(limit: Limit, part: Part, name: &str) -> Ceiling {
    Ceiling {
        part,
        name: name.to_owned(),
        limits: Limits::Shared(limit),
        tolerance: Tolerance::USUAL,
        sources: Vec::new(),
        notes: Vec::new(),
    }
}

fn host_cache(caching: Caching, vm: Option<&str>) -> HostCache {
    let local = vm.and_then(machines::host_cache);
    let rate = |value: Option<f64>, unit: f64| value.map(|value| RateLimit::lasting(value * unit));
    HostCache {
        caching,
        hits: Limit {
            operations: local.and_then(|local| rate(local.read_iops, 1.0)),
            bytes: local.and_then(|local| rate(local.read_mbps, MB)),
            io_size: None,
        },
        size_gib: local.and_then(|local| local.host_cache_gib),
        source: local.map(|local| Source::of(&local.source)),
    }
}

/// What limits that all apply let through together, and which of them binds in the long run.
fn least(limits: impl Iterator<Item = (Part, Option<RateLimit>)>) -> Option<(Part, RateLimit)> {
    let known: Vec<(Part, RateLimit)> = limits.filter_map(|(part, limit)| Some((part, limit?))).collect();
    let (part, binding) = *known.iter().min_by(|(_, one), (_, other)| one.sustained.total_cmp(&other.sustained))?;
    let sustained = binding.sustained;
    let highest = known.iter().map(|(_, limit)| limit.highest().unwrap_or(f64::INFINITY)).fold(f64::INFINITY, f64::min);
    if highest <= sustained {
        return Some((part, RateLimit::lasting(sustained)));
    }
    if highest.is_infinite() {
        return Some((part, binding));
    }
    let mut buckets: Vec<Bucket> = known.iter().map(|(_, limit)| Bucket::full(*limit)).collect();
    // Where two buckets empty one after another, one limit has room for the first of them.
    let first = bucket::serve(&mut buckets, highest, FOR_EVER).first().map_or(0.0, |stretch| stretch.seconds);
    Some((part, RateLimit { sustained, burst: Some(highest), bucket: Some((highest - sustained) * first) }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn expect(text: &str) -> Expectation {
        let provisioned = toml::from_str(text).unwrap();
        let expectation = Expectation::of(&provisioned, &Catalog::default());
        expectation.unwrap_or_else(|error| panic!("{text}: {error}")).unwrap()
    }

    fn small(text: &str) -> Expected {
        expect(text).for_load(Load { read_share: 0.0, operation_bytes: 4096.0, is_sequential: false })
    }

    #[test]
    fn disks_that_share_a_limit_get_no_more_than_that_together() {
        let load = Load { read_share: 1.0, operation_bytes: 4096.0, is_sequential: false };
        let of = |disks: u32| {
            let text = format!("sku = \"P10\"\ndisks = {disks}\nshared_limit = \"iops=800\"");
            let expected = expect(&text).for_load(load);
            (expected.limit.operations.unwrap().sustained, expected.operations_by, expected.limit.bytes.is_some())
        };
        assert_eq!(of(1), (500.0, Part::Disk, true));
        assert_eq!(of(2), (800.0, Part::Pool, true));
        assert_eq!(of(4), (800.0, Part::Pool, true));
        let both = expect("limit = \"iops=500\"\ndisks = 4\nshared_limit = \"bandwidth=2MB\"").for_load(load).limit;
        let rates = [both.operations, both.bytes].map(|rate| rate.map(|rate| rate.sustained));
        assert_eq!(rates, [Some(2000.0), Some(2e6)], "whoever gives one dimension leaves the other one open");
    }

    #[test]
    fn an_emulated_disk_holds_each_direction_back_and_does_not_burst() {
        let of = |text: &str, read_share: f64| {
            let load = Load { read_share, operation_bytes: 4096.0, is_sequential: false };
            let expected = expect(&format!("{text}\nemulated = true")).for_load(load);
            (expected.limit.operations.unwrap(), expected.limit.bytes.map(|limit| limit.sustained))
        };
        let lasting = RateLimit::lasting;
        assert_eq!(of("sku = \"P10\"", 1.0), (lasting(500.0), Some(100e6)));
        assert_eq!(of("sku = \"P10\"", 0.0), (lasting(500.0), Some(100e6)));
        assert_eq!(of("sku = \"P10\"", 0.5), (lasting(1000.0), Some(200e6)), "both at once");
        assert_eq!(of("sku = \"P10\"\nshared_limit = \"iops=300\"", 0.75), (lasting(400.0), Some(100e6 / 0.75)));
    }

    #[test]
    fn the_least_of_disk_and_machine_binds_each_dimension_by_itself() {
        let of = |text: &str| {
            let expected = small(text);
            let rate = |limit: Option<RateLimit>| limit.unwrap().sustained;
            (rate(expected.limit.operations), expected.operations_by, rate(expected.limit.bytes), expected.bytes_by)
        };
        let p30 = of("sku = \"P30\"\nvm = \"Standard_D16s_v5\"");
        assert_eq!(p30, (5000.0, Part::Disk, 200e6, Part::Disk));
        let p20 = of("sku = \"P20\"\nvm = \"Standard_D2s_v3\"");
        assert_eq!(p20, (2300.0, Part::Disk, 48e6, Part::Vm));
        let p40 = of("sku = \"P40\"\nvm = \"Standard_D2s_v3\"");
        assert_eq!(p40, (3200.0, Part::Vm, 48e6, Part::Vm));
        assert_eq!(of("sku = \"P30\"\ndisks = 4\nvm = \"Standard_D16s_v5\"").0, 20_000.0);
        assert_eq!(of("sku = \"P30\"\nvm = \"Standard_D2s_v3\"\nvm_share = 2").0, 1600.0);
    }

    #[test]
    fn a_burst_behind_a_machine_lasts_longer_and_is_lower() {
        let disk = small("sku = \"P10\"").limit.operations.unwrap();
        assert_eq!((disk.sustained, disk.burst, disk.bucket), (500.0, Some(3500.0), Some(5.4e6)));
        let behind = small("sku = \"P10\"\nvm = \"Standard_D2s_v3\"").limit.operations.unwrap();
        assert_eq!((behind.sustained, behind.burst), (500.0, Some(3500.0)));
        assert!((behind.bucket.unwrap() - 5.4e6).abs() < 1.0, "the machine bursts to 4,000 as long: {behind:?}");
    }

    #[test]
    fn of_two_buckets_the_first_that_empties_ends_the_burst() {
        let own = "[[disk]]\nname = 'd'\nlimit = 'iops=500,burst-iops=5000,bucket=9M'\nsource = 'x'\n\
                   [[vm]]\nname = 'v'\nlimit = 'iops=1000,burst-iops=3000,bucket=100k'\nsource = 'x'";
        let catalog = Catalog::with(crate::limits_file::LimitsFile::parse("own", own).unwrap());
        let provisioned = toml::from_str("sku = 'd'\nvm = 'v'").unwrap();
        let expectation = Expectation::of(&provisioned, &catalog).unwrap().unwrap();
        let load = Load { read_share: 1.0, operation_bytes: 4096.0, is_sequential: false };
        let limit = expectation.for_load(load).limit.operations.unwrap();
        assert_eq!(bucket::burst_seconds(limit, 3000.0).map(f64::round), Some(50.0));
    }

    #[test]
    fn nothing_said_is_nothing_expected() {
        assert_eq!(Expectation::of(&Provisioned::default(), &Catalog::default()), Ok(None));
        let names = |text: &str| {
            let provisioned = toml::from_str(text).unwrap();
            Expectation::of(&provisioned, &Catalog::default()).unwrap_err().to_string()
        };
        assert!(names("sku = \"Premum_LRS\"\nsize = \"1Ti\"").contains("did you mean Premium_LRS"));
        assert!(names("sku = \"P30\"\nvm = \"Standard_D16dv5\"").contains("Standard_D16d_v5"));
        assert!(names("sku = \"P30\"\nvm = \"Standard_D16d_v5\"").contains("takes no premium disks"));
        assert!(names("sku = \"P30\"\nsize = \"2Ti\"").contains("name the product, as Premium_LRS"));
    }

    #[test]
    fn a_host_cache_bounds_hits_and_nothing_else() {
        let expectation = expect("sku = \"P4\"\nvm = \"Standard_D2s_v3\"\ncaching = \"ReadOnly\"");
        let cache = expectation.host_cache.unwrap();
        assert_eq!(cache.hits.operations, Some(RateLimit::lasting(4000.0)));
        assert_eq!(cache.size_gib, Some(50.0));
        assert!(expect("sku = \"P4\"").notes[0].contains("nothing is said of host caching"));
        assert!(expect("sku = \"PremiumV2_LRS\"\nsize = \"64Gi\"").notes.is_empty());
    }

    #[test]
    fn a_machine_s_limits_of_disks_bind_neither_networks_nor_what_it_does_not_know() {
        let files = expect("sku = \"azure-files-ssd-v1\"\nsize = \"1Ti\"\nvm = \"Standard_D2s_v3\"");
        assert_eq!(files.parts.len(), 1);
        assert!(files.notes[0].contains("what the network of Standard_D2s_v3 lets through"), "{:?}", files.notes);
        // Two documents contradict each other about this machine's operations, and both are below the disk's.
        let unknown = small("sku = \"P30\"\nvm = \"Standard_B1ls\"").limit;
        assert_eq!((unknown.operations, unknown.bytes), (None, None));
        let given = small("limit = \"iops=100\"\nvm = \"Standard_D2s_v3\"").limit;
        assert_eq!(given.bytes.map(|bytes| bytes.sustained), Some(48e6), "nobody spoke of the disk's bytes");
    }

    #[test]
    fn disks_of_google_count_by_the_sum_of_their_sizes() {
        let two = small("sku = \"pd-ssd\"\nsize = \"100Gi\"\ndisks = 2").limit;
        assert_eq!(two.operations.map(|limit| limit.sustained), Some(12_000.0));
        let three = small("sku = \"pd-balanced\"\nsize = \"100Gi\"\ndisks = 3").limit;
        assert_eq!(three.operations.map(|limit| limit.sustained), Some(4800.0));
    }

    #[test]
    fn what_cannot_be_bought_together_is_refused() {
        for (text, words) in [
            ("sku = \"gp3\"\nsize = \"1Ti\"\nvm = \"Standard_D2s_v3\"", "a machine of Azure has no gp3 of AWS"),
            ("sku = \"P30\"\nvm = \"m5.large\"", "a machine of AWS has no P30 of Azure"),
            ("sku = \"gp3\"\nsize = \"1Ti\"\ncaching = \"ReadOnly\"", "no host caches it"),
            ("sku = \"P30\"\ndisks = 8\nvm = \"Standard_D2s_v3\"", "at most 4 disks can be attached, not 8"),
            (
                "sku = \"P40\"\nsize = \"1Ti\"",
                "it holds 2 TiB, and a disk of 1 TiB is sold as P30: leave the size out, or name the product, as Premium_LRS, \
                 whose tier may be P40",
            ),
            ("sku = \"P40\"\nsize = \"4Ti\"", "a disk of 4 TiB is sold as P50"),
            (
                "sku = \"E40\"\nsize = \"1Ti\"",
                "is sold as E30: leave the size out, or name the product, as StandardSSD_LRS",
            ),
            ("sku = \"P30\"\niops = 4000", "no IOPS of its own can be bought"),
            ("sku = \"P30\"\ndisks = 0", "are from 1 to 1024"),
            ("sku = \"P30\"\nvm_share = 4294967295", "are from 1 to 1024"),
            ("sku = \"P30\"\nsize = \"0\"", "a size of 0 holds nothing"),
            ("sku = \"pd-extreme\"\nsize = \"1Ti\"\niops = 0", "has at least 1 IOPS with 1 TiB, not 0"),
            ("sku = \"netapp-standard\"\nsize = \"1Ti\"\nbandwidth = \"100GB\"", "follows from its quota"),
            ("sku = \"PremiumV2_LRS\"\nsize = \"64Gi\"\niops = 2000", "has at least 3000 IOPS with 64 GiB, not 2000"),
            ("sku = \"elastic-san\"\nsize = \"64Gi\"\npool = \"500Gi\"", "a whole number of TiB"),
        ] {
            let provisioned = toml::from_str(text).unwrap();
            let error = Expectation::of(&provisioned, &Catalog::default()).unwrap_err().to_string();
            assert!(error.contains(words), "{text}: {error}");
        }
    }

    #[test]
    fn a_size_that_needs_the_tier_agrees_with_it() {
        for size in ["513Gi", "1048473Mi", "1Ti"] {
            small(&format!("sku = \"P30\"\nsize = \"{size}\""));
        }
    }

    #[test]
    fn figures_of_ones_own_come_first() {
        let own = "[[disk]]\nname = 'P30'\nlimit = 'iops=5100'\nsource = 'measured'";
        let catalog = Catalog::with(crate::limits_file::LimitsFile::parse("own", own).unwrap());
        let provisioned = toml::from_str("sku = \"p30\"").unwrap();
        let expected = Expectation::of(&provisioned, &catalog).unwrap().unwrap();
        let limit = expected.for_load(Load { read_share: 1.0, operation_bytes: 4096.0, is_sequential: false }).limit;
        assert_eq!(limit.operations, Some(RateLimit::lasting(5100.0)));
        assert_eq!(limit.bytes, None, "what is not said is not known");
        let by_size = toml::from_str("sku = \"Premium_LRS\"\nsize = \"1Ti\"").unwrap();
        let by_size = Expectation::of(&by_size, &catalog).unwrap().unwrap();
        assert_eq!(by_size.parts[0].limits, expected.parts[0].limits);
    }
}
