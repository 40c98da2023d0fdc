//! What command lines of clouds and kubectl print, or anything in its place.
#![no_main]

use libfuzzer_sys::fuzz_target;
use plimsoll_catalog::{catalog::Catalog, product::Provider};
use plimsoll_generate::{existing, generate};
use plimsoll_workload::plan_file::PlanFile;

fuzz_target!(|text: &str| {
    let catalog = Catalog::default();
    for provider in [Provider::Azure, Provider::Aws, Provider::Gcp] {
        let found = [existing::of_machine(text, provider, &catalog), existing::of_objects(text, provider, &catalog)];
        for found in found.into_iter().flatten() {
            let cloud = found.cloud.clone();
            let Ok(plan) = found.plan() else { continue };
            let plan: PlanFile = toml::from_str(&plan).expect("what is printed is a plan");
            assert_eq!(plan.cloud.as_ref(), Some(&cloud));
            for file in generate(&plan, provider, &catalog).into_iter().flatten().filter(|file| file.is_executable) {
                assert!(file.text.is_ascii(), "nothing of what was read comes into a script unlooked at");
            }
        }
    }
});
