//! `plimsoll catalog`, and what runs make of what was bought.

use std::fs;

use serde_json::Value;

use crate::support::Place;

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is no number"))
}

#[test]
fn a_size_is_shown_with_its_figures_its_source_and_the_date_of_it() {
    let place = Place::new();
    let said = place.run("catalog show P30");
    assert_eq!((said.code, said.stderr.as_str()), (Some(0), ""));
    for words in ["5,000 IOPS", "200 MB/s", "disk-storage-premium-ssd-sizes.md", "(2023-03-16)"] {
        assert!(said.stdout.contains(words), "{words}: {}", said.stdout);
    }
    let shown = place.run("catalog show Standard_D2s_v3 --json").json();
    assert_eq!(shown[0]["name"], "Standard_D2s_v3");
    assert_eq!(shown[0]["sources"][0]["date"], "2024-09-24");
}

#[test]
fn lists_are_of_products_or_of_what_has_a_word_in_its_name() {
    let place = Place::new();
    let products = place.run("catalog list").stdout;
    assert!(products.contains("Premium_LRS") && products.contains("gp3") && products.contains("pd-ssd"), "{products}");
    assert!(products.contains("2,728 machine sizes"), "{products}");
    let names: Vec<String> = place
        .run("catalog list D16s_v5 --json")
        .json()
        .as_array()
        .unwrap()
        .iter()
        .map(|entry| entry["name"].as_str().unwrap().to_owned())
        .collect();
    assert!(names.contains(&"Standard_D16s_v5".to_owned()), "{names:?}");
    let nothing = place.run("catalog list D16dv5");
    assert!(nothing.error(2).contains("no entry of the catalog has \"D16dv5\""), "{}", nothing.stderr);
}

#[test]
fn the_least_of_disk_and_machine_is_expected_and_named() {
    let place = Place::new();
    let of = |arguments: &str| place.run(&format!("catalog expect {arguments} --json")).json()["expected"].take();
    let disk = of("--sku Premium_LRS --size 1Ti --vm Standard_D16s_v5 --caching ReadOnly");
    assert_eq!((&disk["limit"], &disk["operations_by"]), (&"iops=5000,bandwidth=200MB".into(), &"disk".into()));
    let machine = of("--sku Premium_LRS --size 2Ti --vm Standard_D2s_v3");
    assert_eq!((&machine["operations_by"], &machine["bytes_by"]), (&"vm".into(), &"vm".into()));
    assert!(machine["limit"].as_str().unwrap().starts_with("iops=3200,burst-iops=4000,"), "{machine}");
    let text = place.run("catalog expect --sku P10 --block-size 1M").stdout;
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains("Operations of 1 MiB get 95.4 IOPS in the long run: 100 MB/s bind them"), "{text}");
    assert!(text.contains("A full bucket lasts 30m 00s at 170 MB/s, and takes 21m 00s of rest"), "{text}");
}

#[test]
fn what_cannot_be_told_is_refused_with_what_to_write() {
    let place = Place::new();
    for (arguments, words) in [
        ("expect", "give --sku, --vm or --limit"),
        ("expect --sku Premium_LRS", "Premium_LRS: its limits follow from its size: give the provisioned size"),
        ("expect --sku Premum_LRS --size 1Ti", "did you mean Premium_LRS"),
        ("expect --sku P30 --vm Standard_D16dv5", "no machine size \"Standard_D16dv5\"; did you mean Standard_D16d_v5"),
        ("expect --sku P30 --vm D16d_v5", "takes no premium disks"),
        ("expect --sku PremiumV2_LRS --size 4Gi --iops 5000", "4 GiB can have at most 3000 IOPS, not 5000"),
        (
            "expect --sku P40 --size 1Ti",
            "P40: it holds 2 TiB, and a disk of 1 TiB is sold as P30: leave the size out, or name the product, as Premium_LRS, \
             whose tier may be P40",
        ),
        ("expect --sku P30 --size 64Gi", "a disk of 64 GiB is sold as P6"),
        ("expect --sku P30 --size 2Ti", "a disk of 2 TiB is sold as P40"),
        ("expect --sku hyperdisk-extreme --size 100Gi --iops 100", "has at least 200 IOPS with 100 GiB, not 100"),
        ("expect --sku P30 --block-size 0", "--block-size 0 transfers nothing"),
        ("show P31", "the catalog has no entry \"P31\""),
        ("expect --sku P30 --limits ROOT/none.toml", "read the limits"),
    ] {
        let said = place.run(&format!("catalog {arguments}"));
        assert!(said.error(2).contains(words), "{arguments}: {}", said.stderr);
    }
}

#[test]
fn a_file_of_ones_own_overrides_and_adds_and_is_found_where_configuration_belongs() {
    let place = Place::new();
    let own = "[[disk]]\nname = 'P30'\nlimit = 'iops=5100'\nsource = 'measured'\n\
               [[disk]]\nname = 'gold'\nlimit = 'iops=9000,bandwidth=400MB'\nsource = 'a contract'\n";
    fs::create_dir_all(place.path(".config/plimsoll")).unwrap();
    fs::write(place.path(".config/plimsoll/limits.toml"), own).unwrap();
    let limit = |sku: &str| place.run(&format!("catalog expect --sku {sku} --json")).json()["expected"]["limit"].take();
    assert_eq!((limit("P30"), limit("gold")), ("iops=5100".into(), "iops=9000,bandwidth=400MB".into()));
    assert!(place.run("catalog show gold").stdout.contains("a contract"));
    fs::write(place.path("bad.toml"), "[[disk]]\nname = 'x'\nlimit = 'iops=fast'\nsource = 'y'\n").unwrap();
    let bad = place.run("catalog list --limits ROOT/bad.toml");
    assert!(bad.error(2).contains("bad.toml") && bad.stderr.contains("line 3"), "{}", bad.stderr);
}

#[test]
fn a_run_knows_from_what_was_bought_what_each_target_should_do() {
    let place = Place::new();
    fs::create_dir(place.path("other")).unwrap();
    let plan = "targets = ['DATA', 'ROOT/other']\npresets = ['iops', 'throughput']\neffort = 'quick'\n\
                [defaults]\nengine = 'memory'\nduration = '100ms'\n\
                [provisioned.defaults]\nvm = 'Standard_D2s_v3'\ncaching = 'None'\n\
                [provisioned.targets.'ROOT/other']\nsku = 'P10'\n";
    let text = |name: &str| place.path(name).to_str().unwrap().to_owned();
    let plan = plan.replace("DATA", &text("data")).replace("ROOT/other", &text("other"));
    fs::write(place.path("plan.toml"), plan).unwrap();
    let record = place.record("run --plan ROOT/plan.toml");
    assert_eq!(record["asked"]["provisioned"]["defaults"]["vm"], "Standard_D2s_v3");
    let limits = |target: &str, bytes: u64| -> Value {
        let is_it = |cell: &&Value| {
            cell["target"].as_str() == Some(&text(target)) && cell["plan"]["block_size_bytes_max"] == bytes
        };
        record["cells"].as_array().unwrap().iter().find(is_it).unwrap()["limit"].clone()
    };
    let machine = limits("data", 4096);
    assert_eq!((number(&machine["iops"]), &machine["operations_by"]), (3200.0, &"vm".into()));
    let disk = limits("other", 4096);
    assert_eq!(
        (number(&disk["iops"]), &disk["operations_by"], &disk["bytes_by"]),
        (500.0, &"disk".into(), &"vm".into())
    );
    assert!(disk["source"].as_str().unwrap().starts_with("P10 (Premium SSD of 128 GiB); Standard_D2s_v3"), "{disk}");
    // An operation of 1 MiB counts as four of 256 KiB.
    assert_eq!(limits("other", 1 << 20)["iops"].as_f64(), Some(125.0));
    let given = place.record(
        "run DATA --engine memory --rw randread --size 4M --operations 10 --sku P10 --disks 4 --limit iops=300",
    );
    let iops = given["cells"][0]["limit"]["iops"].as_f64();
    assert_eq!(iops, Some(300.0), "a limit of the target is not one of each disk");
    let slip = place.run("run DATA --rw read --sku gp33 --disk-size 1Ti");
    assert!(slip.error(2).contains("no product \"gp33\"; did you mean gp3"), "{}", slip.stderr);
    assert!(place.leftovers().is_empty());
}
