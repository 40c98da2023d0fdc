//! What plans of `fixtures/generate` become, word for word.

use std::{fs, path::Path};

use plimsoll_catalog::{catalog::Catalog, objects::Objects, product::Provider};
use plimsoll_workload::{plan_file::PlanFile, provisioned::Provisioned};

use crate::support::{cases, fixtures, provider};

#[test]
fn plans_become_what_they_became() {
    let mut stale = Vec::new();
    for case in cases() {
        let golden = fixtures().join(&case.name);
        let candidate = Path::new(env!("CARGO_TARGET_TMPDIR")).join("generate").join(&case.name);
        let _ = fs::remove_dir_all(&candidate);
        let is_as_it_was = |file: &plimsoll_generate::GeneratedFile| {
            fs::read_to_string(golden.join(file.name)).is_ok_and(|expected| expected == file.text)
        };
        let names: Vec<&str> = case.files.iter().map(|file| file.name).collect();
        let is_known = |name: &&str| !names.contains(name) && golden.join(name).exists();
        if case.files.iter().all(is_as_it_was) && !plimsoll_generate::NAMES.iter().any(is_known) {
            continue;
        }
        for file in &case.files {
            let path = candidate.join(file.name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, &file.text).unwrap();
        }
        stale.push(candidate);
    }
    assert!(stale.is_empty(), "compare with fixtures/generate, and copy what is right: {stale:?}");
}

#[test]
fn every_name_of_a_file_is_known_and_no_place_of_a_template_stays() {
    for case in cases() {
        for file in &case.files {
            assert!(plimsoll_generate::NAMES.contains(&file.name), "{}", file.name);
            assert!(file.text.contains(plimsoll_generate::MARK), "{}: {}", case.name, file.name);
            assert!(!file.text.contains("{{"), "{}: {}", case.name, file.name);
            assert!(file.text.ends_with('\n') && !file.text.ends_with("\n\n"), "{}: {}", case.name, file.name);
        }
    }
}

#[test]
fn plans_for_the_machine_are_plans_and_know_what_was_bought() {
    for case in cases() {
        for file in case.files.iter().filter(|file| file.name.ends_with(".toml")) {
            let plan: PlanFile = toml::from_str(&file.text).unwrap();
            assert!(plan.cloud.is_none());
            let asked: PlanFile = toml::from_str(&case.plan).unwrap();
            assert_eq!((plan.presets, plan.workloads), (asked.presets, asked.workloads), "{}", case.name);
            if file.name == "plan.toml" {
                assert!(!plan.targets.is_empty());
                for target in &plan.targets {
                    let bought = plan.provisioned.of(target);
                    assert!(bought.sku.is_some() && bought.vm.is_some(), "{}: {target}", case.name);
                }
            }
        }
    }
}

#[test]
fn classes_are_read_back_as_what_was_asked_for() {
    let mut read = 0;
    for case in cases() {
        let asked: PlanFile = toml::from_str(&case.plan).unwrap();
        let Some(kubernetes) = asked.cloud.unwrap().kubernetes else { continue };
        if kubernetes.classes.is_empty() {
            continue;
        }
        let objects = Objects::read("classes.yaml", case.text("classes.yaml"), &Catalog::default()).unwrap();
        for (name, asked) in &kubernetes.classes {
            let class = objects.named(name).unwrap();
            let said = Provisioned { size: asked.size, ..Provisioned::default() };
            let found = class.completing(&said, &Catalog::default()).unwrap();
            let sold = Catalog::default().sold_as(asked.sku.as_deref().unwrap()).unwrap();
            assert_eq!(found.sku.as_deref(), Some(sold.product.name), "{}: {name}", case.name);
            assert_eq!((found.iops, found.bandwidth), (asked.iops, asked.bandwidth), "{}: {name}", case.name);
            if provider(&case.name) == Provider::Azure && asked.caching.is_some() {
                assert_eq!(found.caching, asked.caching, "{}: {name}", case.name);
            }
            read += 1;
        }
    }
    assert!(read >= 11, "{read}");
}
