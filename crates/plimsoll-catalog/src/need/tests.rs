//! Edges of the products, machines and prices; and what holds of every choice.

use plimsoll_workload::units::{Bandwidth, ByteCount};
use proptest::prelude::*;

use super::*;
use crate::limits_file::LimitsFile;

fn market(text: &str) -> Market {
    let mut market = Market::default();
    market.add(&toml::from_str(text).unwrap_or_else(|error| panic!("{error}")), &Catalog::default());
    market
}

fn prices(text: &str) -> Catalog {
    Catalog::with(LimitsFile::parse("own", text).unwrap_or_else(|error| panic!("{error}")))
}

fn advice(need: &str, market: &Market, catalog: &Catalog) -> Advice {
    let need = need.parse().unwrap_or_else(|error| panic!("{error}"));
    Advice::of(&need, market, catalog).unwrap_or_else(|error| panic!("{error}")).expect("something is asked")
}

/// What is advised without prices of what somebody has bought.
fn of(need: &str, bought: &str) -> Advice {
    advice(need, &market(bought), &Catalog::default())
}

fn product<'a>(advice: &'a Advice, name: &str) -> &'a Candidate {
    advice.candidates.iter().find(|candidate| candidate.product == name).unwrap_or_else(|| panic!("{name}"))
}

#[test]
fn the_first_size_above_a_need_is_taken_and_the_one_below_says_why() {
    let of = |need: &str| of(need, "sku = \"Premium_LRS\"\nsize = \"64Gi\"");
    let p30 = of("iops=3000");
    let first = &p30.candidates[0];
    assert_eq!((first.name.as_str(), p30.chosen), ("P30", Some(Choice::SmallestOfNamed)));
    assert_eq!((first.iops, first.bytes_per_second, first.size_gib), (Some(5000.0), Some(200e6), Some(1024.0)));
    assert_eq!(first.binds, [Dimension::Iops]);
    let Below::Lacks { name: Some(name), lack } = &first.below else { panic!("{:?}", first.below) };
    assert_eq!((name.as_str(), lack.has, lack.needs), ("P20", Some(2300.0), 3000.0));
    assert_eq!(of("iops=2300").candidates[0].name, "P20", "what is just enough is enough");
    assert_eq!(of("iops=2300,bandwidth=150MB").candidates[0].binds, [Dimension::Iops, Dimension::Bandwidth]);
    assert_eq!(of("size=513Gi").candidates[0].binds, [Dimension::Size]);
    assert_eq!(of("iops=3500").candidates[0].name, "P30", "a burst of 3,500 does not last");
}

#[test]
fn provisioned_disks_get_the_least_that_their_ratios_allow() {
    let of = |need: &str, name: &str| {
        let advice = of(need, &format!("sku = \"{name}\""));
        let found = product(&advice, name);
        let mib = |Bandwidth(bytes): Bandwidth| bytes as f64 / found.unit;
        (found.size_gib, found.provisioned.iops, found.provisioned.bandwidth.map(mib))
    };
    assert_eq!(of("iops=5000,bandwidth=300MiB", "gp3"), (Some(10.0), Some(5000), Some(300.0)));
    assert_eq!(of("iops=5001", "gp3"), (Some(11.0), Some(5001), Some(125.0)));
    assert_eq!(of("bandwidth=1000MiB", "gp3"), (Some(8.0), Some(4000), Some(1000.0)));
    assert_eq!(of("iops=80000", "PremiumV2_LRS"), (Some(160.0), Some(80_000), Some(328.0)), "of 4 KiB");
    assert_eq!(of("iops=79500", "PremiumV2_LRS"), (Some(159.0), Some(79_500), Some(326.0)));
    assert_eq!(of("size=1Ti", "PremiumV2_LRS"), (Some(1024.0), Some(3000), Some(125.0)));
    assert_eq!(of("bandwidth=200MB", "UltraSSD_LRS"), (Some(4.0), Some(800), Some(200.0)));
    assert_eq!(of("bandwidth=1000MiB", "io1"), (Some(1280.0), Some(64_000), None));
    assert_eq!(of("iops=100,bandwidth=180MiB", "hyperdisk-throughput"), (Some(2048.0), None, Some(180.0)));
    assert_eq!(of("iops=10", "hyperdisk-throughput").2, Some(3.0), "4 IOPS for each MiB/s");
    assert_eq!(of("size=10Ti", "hyperdisk-extreme"), (Some(10_240.0), Some(20_480), None));
    assert_eq!(of("iops=10000", "hyperdisk-extreme"), (Some(1.0), Some(10_000), None));
    assert_eq!(of("size=20Ti", "hyperdisk-ml"), (Some(20_480.0), None, Some(2458.0)));
    assert_eq!(of("bandwidth=3000MiB", "hyperdisk-ml"), (Some(2.0), None, Some(3000.0)), "1,600 for each GiB");
}

#[test]
fn sizes_follow_from_rates_that_last() {
    let size = |need: &str, name: &str| product(&of(need, &format!("sku = \"{name}\"")), name).size_gib;
    assert_eq!(size("iops=3000", "gp2"), Some(1000.0), "bursts of 3,000 do not count");
    assert_eq!(size("bandwidth=128MiB", "gp2"), Some(171.0), "3 IOPS a GiB, of 256 KiB each");
    assert_eq!(size("write_iops=1500", "pd-standard"), Some(1000.0));
    assert_eq!(size("iops=1500", "pd-standard"), Some(2000.0), "reads have half as many");
    assert_eq!(size("read_iops=750,write_iops=1500", "pd-standard"), Some(2000.0), "half a disk of each");
    assert_eq!(size("read_iops=750,write_bandwidth=120MiB", "pd-standard"), Some(1025.0), "reads are of 4 KiB");
    assert_eq!(size("read_iops=30000,write_iops=30000", "pd-ssd"), Some(1800.0), "operations come from one budget");
    assert_eq!(size("read_bandwidth=480MiB,write_bandwidth=480MiB", "pd-ssd"), Some(500.0), "bytes do not");
    assert_eq!(size("iops=3100", "azure-files-ssd-v1"), Some(100.0));
    let san = of("iops=12000,size=100Gi", "sku = \"elastic-san\"");
    let san = product(&san, "elastic-san");
    assert_eq!((san.size_gib, san.provisioned.pool), (Some(100.0), Some(ByteCount(3 << 40))));
    assert_eq!(san.iops, Some(15_000.0), "the base units of the SAN bind");
}

#[test]
fn reads_and_writes_that_share_a_limit_are_added() {
    let both = of("read_iops=2000,write_iops=1500", "sku = \"P10\"");
    assert_eq!(both.candidates[0].name, "P30");
    assert_eq!(of("read_iops=2000", "sku = \"P10\"").candidates[0].name, "P20");
}

#[test]
fn a_machine_that_lets_too_little_through_is_named() {
    let machine = "sku = \"P30\"\nvm = \"Standard_D2s_v3\"";
    let small = of("iops=5000", machine);
    assert_eq!(small.chosen, None);
    let refusal = product(&small, "Premium_LRS").refused_by_machine.as_ref().expect("3,200 IOPS");
    assert_eq!(refusal.machine, "Standard_D2s_v3");
    let lack = refusal.lack.expect("a figure");
    assert!(lack.is_of_machine() && lack.has == Some(3200.0) && lack.needs == 5000.0, "{lack:?}");
    assert_eq!(small.larger_machine.expect("one of the series").name, "Standard_D4s_v3");
    let enough = of("iops=3200", machine);
    assert_eq!((enough.candidates[0].iops, enough.chosen), (Some(3200.0), Some(Choice::SmallestOfNamed)));
    let plain = of("iops=500", "vm = \"Standard_D2_v3\"");
    assert!(product(&plain, "Premium_LRS").refused_by_machine.as_ref().is_some_and(|by| by.why.is_some()));
    assert_eq!(plain.candidates[0].product, "StandardSSD_LRS");
    let error = Advice::of(&"iops=1".parse().expect("a need"), &market("vm = \"D2s_v99\""), &Catalog::default());
    assert!(error.unwrap_err().to_string().contains("no machine size \"D2s_v99\""));
}

#[test]
fn candidates_are_those_of_the_seller_or_of_all() {
    let sellers = |text: &str| {
        let mut found: Vec<Provider> = of("iops=500", text).candidates.iter().map(|found| found.provider).collect();
        found.dedup();
        found.sort_by_key(|provider| *provider as u8);
        found.dedup();
        found
    };
    assert_eq!(sellers("sku = \"gp2\""), [Provider::Aws]);
    assert_eq!(sellers("vm = \"m5.large\""), [Provider::Aws]);
    assert_eq!(sellers("vm = \"n2-standard-8\""), [Provider::Gcp]);
    assert_eq!(sellers("vm = \"D16s_v5\""), [Provider::Azure]);
    assert_eq!(sellers(""), [Provider::Azure, Provider::Aws, Provider::Gcp]);
    let all = of("iops=1M", "sku = \"st1\"");
    assert!(all.candidates.is_empty() && all.chosen.is_none());
    let st1 = all.too_small.iter().find(|small| small.product == "st1").expect("its most");
    assert_eq!((st1.lack.has, st1.lack.dimension), (Some(500.0), Dimension::Iops));
}

const OWN_DISK: &str = "[[disk]]\nname='gold'\nlimit='iops=8000,bandwidth=400MB'\nsize='1Ti'\nsource='contract'\n\
                        [[price]]\nname='gold'\nper_month=10\ncurrency='USD'\ndate='2026'";

const PRICES: &str = r#"
    [[price]]
    name = "P30"
    per_month = 135.17
    currency = "USD"
    date = "2026-10-01"
    [[price]]
    name = "P40"
    per_month = 259.05
    currency = "USD"
    date = "2026-10-01"
    [[price]]
    name = "PremiumV2_LRS"
    per_gib_month = 0.081
    per_iops_month = 0.005
    per_mbps_month = 0.04
    currency = "USD"
    date = "2026-10-01"
"#;

#[test]
fn a_provisioned_disk_is_paid_by_what_is_above_what_is_included() {
    let catalog = prices(PRICES);
    let of = |need: &str| advice(need, &market("sku = \"P30\""), &catalog);
    let small = of("iops=5000,size=1Ti,bandwidth=200MB");
    assert_eq!((small.candidates[0].product.as_str(), small.chosen), ("PremiumV2_LRS", Some(Choice::Cheapest)));
    let cost = small.candidates[0].cost.as_ref().expect("a price").per_month;
    assert!((cost - (1024.0 * 0.081 + 2000.0 * 0.005 + 75.0 * 0.04)).abs() < 1e-9, "{cost}");
    assert_eq!(product(&small, "Premium_LRS").cost.as_ref().expect("a price").per_month, 135.17);
    assert_eq!(product(&small, "UltraSSD_LRS").cost, None);
    let large = of("iops=5000,size=2Ti");
    assert_eq!(product(&large, "Premium_LRS").name, "P40");
}

#[test]
fn what_was_bought_costs_what_its_rows_say() {
    let apart = "[[price]]\nname = 'elastic-san'\nper_gib_month = 0.5\ncurrency = 'USD'\ndate = '2026-10-01'\n\
        [[price]]\nname = 'UltraSSD_LRS'\nper_gib_month = 0.1\nper_iops_month = 0.05\nper_mbps_month = 0.4\n\
        currency = 'USD'\ndate = '2026-10-01'\n";
    let catalog = prices(&format!("{PRICES}\n{apart}{OWN_DISK}"));
    let of = |bought: &str| {
        let provisioned: Provisioned = toml::from_str(bought).unwrap_or_else(|error| panic!("{error}"));
        Cost::of(&provisioned, &catalog).map(|cost| cost.map(|cost| (cost.row, (cost.per_month * 1e6).round() / 1e6)))
    };
    let row = |name: &str, month: f64| Ok(Some((name.to_owned(), month)));
    assert_eq!(of("sku = 'P30'"), row("P30", 135.17));
    assert_eq!(of("sku = 'Premium_LRS'\nsize = '800Gi'\ndisks = 3"), row("P30", 405.51));
    assert_eq!(of("sku = 'P30'\ntier = 'P40'"), row("P40", 259.05), "the tier is paid, and not the size");
    let v2 = "sku = 'PremiumV2_LRS'\nsize = '1Ti'\niops = 5000\nbandwidth = '200MB'";
    assert_eq!(of(v2), row("PremiumV2_LRS", 1024.0 * 0.081 + 2000.0 * 0.005 + 75.0 * 0.04));
    assert_eq!(of("sku = 'PremiumV2_LRS'\nsize = '1Ti'"), row("PremiumV2_LRS", 82.944), "what is included is free");
    assert_eq!(of("sku = 'PremiumV2_LRS'"), Err("its size is not known".to_owned()));
    assert_eq!(of("sku = 'gold'"), row("gold", 10.0));
    assert_eq!(of("sku = 'elastic-san'\nsize = '100Gi'"), row("elastic-san", 512.0), "no SAN is smaller than 1 TiB");
    let ultra = "sku = 'UltraSSD_LRS'\nsize = '100Gi'";
    assert!(of(ultra).is_err_and(|why| why.starts_with("its IOPS are not said")));
    assert!(of(&format!("{ultra}\niops = 100")).is_err_and(|why| why.starts_with("its MB/s are not said")));
    assert_eq!(of(&format!("{ultra}\niops = 100\nbandwidth = '10MB'")), row("UltraSSD_LRS", 10.0 + 5.0 + 4.0));
    assert_eq!(of("sku = 'P10'"), Ok(None));
    assert_eq!(of("limit = 'iops=500'"), Ok(None));
    assert!(of("sku = 'P30'\non_demand_bursting = true").is_err_and(|why| why.contains("bursts on demand")));
}

#[test]
fn a_size_without_a_price_gives_way_to_one_that_has_one() {
    let catalog = prices(PRICES);
    let p10 = advice("iops=200", &market("sku = \"P10\""), &catalog);
    let premium = product(&p10, "Premium_LRS");
    assert_eq!((premium.name.as_str(), &premium.below), ("P30", &Below::WouldDo));
}

#[test]
fn a_row_that_does_not_price_all_is_no_price() {
    let row = "[[price]]\nname='gp3'\nper_gib_month=0.08\ncurrency='USD'\ndate='2026'";
    let of = |need: &str| {
        let advice = advice(need, &market("sku = \"gp3\""), &prices(row));
        let found = product(&advice, "gp3");
        (found.cost.clone().map(|cost| cost.per_month), found.cost_unknown.clone())
    };
    assert_eq!(of("iops=3000,size=100Gi"), (Some(8.0), None));
    assert_eq!(of("iops=3001,size=100Gi"), (None, Some("the row gp3 has no per_iops_month".to_owned())));
    assert_eq!(of("bandwidth=126MiB").1.as_deref(), Some("the row gp3 has no per_mbps_month"));
}

#[test]
fn prices_of_different_currencies_are_not_compared() {
    let rows = format!(
        "{PRICES}\n[[price]]\nname='StandardSSD_LRS'\nper_gib_month=0.000001\ncurrency='EUR'\ndate='2026-10-01'"
    );
    let both = advice("iops=500", &market("sku = \"P30\""), &prices(&rows));
    assert_eq!((both.currency.as_deref(), both.other_currencies.as_slice()), (Some("USD"), &["EUR".to_owned()][..]));
    assert_eq!(both.candidates[0].cost.as_ref().map(|cost| cost.currency.as_str()), Some("USD"));
}

#[test]
fn disks_of_ones_own_are_candidates() {
    let found = advice("iops=5000", &market("sku = \"P30\""), &prices(OWN_DISK));
    assert_eq!((found.candidates[0].name.as_str(), found.candidates[0].provider), ("gold", Provider::Own));
    let short = advice("iops=9000", &market("sku = \"P30\""), &prices(OWN_DISK));
    assert!(short.too_small.iter().any(|small| small.product == "gold" && small.lack.has == Some(8000.0)));
}

/// Whether what a candidate says to buy holds a need, asked of the catalog anew.
fn holds(candidate: &Candidate, provisioned: &Provisioned, demand: &Demand, catalog: &Catalog) -> bool {
    let is_tier = candidate.name != candidate.product;
    let size = provisioned.size.map_or(candidate.size_gib, |size| Some(size.0 as f64 / crate::ceiling::GIB));
    let parts = catalog.storage_ceilings(&candidate.name, if is_tier { &candidate.provisioned } else { provisioned });
    parts.is_ok_and(|parts| demand.lack(&parts).is_none()) && demand.lack_of_size(size).is_none()
}

fn needs() -> impl Strategy<Value = Need> {
    let part = |name: &'static str, values: std::ops::Range<u32>, unit: &'static str| {
        proptest::option::of(values.prop_map(move |value| format!("{name}={value}{unit}")))
    };
    let parts = (
        part("iops", 1..100_000, ""),
        part("read_iops", 1..20_000, ""),
        part("bandwidth", 1..3000, "MB"),
        part("write_bandwidth", 1..500, "MiB"),
        part("size", 1..20_000, "Gi"),
    );
    parts.prop_filter_map("something is asked", |(one, two, three, four, five)| {
        let all: Vec<String> = [one, two, three, four, five].into_iter().flatten().collect();
        all.join(",").parse().ok()
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn what_is_chosen_holds_the_need_and_no_smaller_one_of_its_product_does(need in needs()) {
        let catalog = Catalog::default();
        let advice = Advice::of(&need, &Market::default(), &catalog).unwrap().expect("something is asked");
        let demand = Demand::of(&need);
        for candidate in &advice.candidates {
            let provisioned = &candidate.provisioned;
            prop_assert!(holds(candidate, provisioned, &demand, &catalog), "{candidate:?}");
            prop_assert!(candidate.below != Below::WouldDo, "{candidate:?}");
            // No size below it, in steps that are not those of the search.
            let size = provisioned.size.map_or(0, |size| size.0 >> 30);
            for part in 1..32 {
                let less = size * part / 32;
                let smaller = Provisioned { size: Some(ByteCount(less << 30)), ..provisioned.clone() };
                prop_assert!(
                    less == 0 || !holds(candidate, &smaller, &demand, &catalog),
                    "{less} GiB: {candidate:?}"
                );
            }
        }
        let of_tiers = |product: &str| advice.candidates.iter().find(|found| found.product == product);
        for tier in crate::azure::managed_disks::tiers() {
            let limits = tier.ceiling(&Provisioned::default()).unwrap();
            let holds = demand.lack(&[limits]).is_none() && tier.size_gib >= demand.size_gib as f64;
            let found = of_tiers(tier.product().name).and_then(|found| found.size_gib);
            prop_assert!(!holds || found.is_some_and(|found| found <= tier.size_gib), "{}", tier.name);
        }
    }

    #[test]
    fn with_prices_no_candidate_is_cheaper(
        need in needs(),
        each in proptest::collection::vec((0.001..1.0_f64, 0.001..0.1_f64, 0.001..2.0_f64), FAMILIES.len()),
        tiers in proptest::collection::vec(1.0..5000.0_f64, 39),
    ) {
        use std::fmt::Write as _;
        let mut file = String::new();
        let rest = "currency='USD'\ndate='2026'";
        for (family, (gib, iops, mbps)) in FAMILIES.iter().zip(each) {
            let name = family.product;
            writeln!(file, "[[price]]\nname='{name}'\nper_gib_month={gib}\nper_iops_month={iops}").unwrap();
            writeln!(file, "per_mbps_month={mbps}\n{rest}").unwrap();
        }
        let all = crate::azure::managed_disks::tiers();
        for (tier, month) in all.iter().zip(&tiers) {
            writeln!(file, "[[price]]\nname='{}'\nper_month={month}\n{rest}", tier.name).unwrap();
        }
        let advice = Advice::of(&need, &Market::default(), &prices(&file)).unwrap().expect("something is asked");
        let demand = Demand::of(&need);
        let month = |candidate: &Candidate| candidate.cost.as_ref().map(|cost| cost.per_month);
        let Some(first) = advice.candidates.first() else { return Ok(()) };
        prop_assert_eq!(advice.chosen, Some(Choice::Cheapest));
        let chosen = month(first).expect("all have prices");
        prop_assert!(advice.candidates.iter().all(|other| month(other).is_some_and(|other| other >= chosen)));
        for (tier, month) in all.iter().zip(tiers) {
            let limits = tier.ceiling(&Provisioned::default()).unwrap();
            let holds = demand.lack(&[limits]).is_none() && tier.size_gib >= demand.size_gib as f64;
            prop_assert!(!holds || month >= chosen, "{} for {month}, and {first:?}", tier.name);
        }
    }
}
