//! What kubectl prints, or anything in its place.
#![no_main]

use libfuzzer_sys::fuzz_target;
use plimsoll_catalog::{
    catalog::Catalog,
    objects::{Objects, named},
};

fuzz_target!(|text: &str| {
    let Ok(objects) = Objects::read("objects", text) else { return };
    let all = objects.describe(&Catalog::default());
    for one in &all {
        assert!(one.paths.is_subset(&one.names));
        for name in &one.names {
            assert_eq!(named(&all, name).map(|found| &found.what), Ok(&one.what), "a name means one volume");
        }
    }
});
