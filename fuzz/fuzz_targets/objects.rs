//! What kubectl prints, or anything in its place.
#![no_main]

use std::path::Path;

use libfuzzer_sys::fuzz_target;
use plimsoll_catalog::{
    catalog::Catalog,
    objects::{Found, Objects},
};
use plimsoll_workload::provisioned::Provisioned;

fuzz_target!(|text: &str| {
    let catalog = Catalog::default();
    let Ok(objects) = Objects::read("objects", text, &catalog) else { return };
    for (name, one) in objects.names() {
        assert_eq!(objects.named(name), Ok(one), "a name means one volume");
    }
    for one in objects.all() {
        if let Ok(bought) = one.completing(&Provisioned::default(), &catalog) {
            assert!(bought.sku.is_some(), "what is known has a product");
        }
    }
    if let Found::Volume(one) = objects.at(Path::new("/var/lib/data/base"), None) {
        assert!(objects.all().contains(one) && objects.has_paths());
    }
});
