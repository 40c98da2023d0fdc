//! Quantities of Kubernetes: what the cluster, and people after a flag, write of bytes and processors.
#![no_main]

use libfuzzer_sys::fuzz_target;
use plimsoll_catalog::quantity::Quantity;

fuzz_target!(|text: &str| {
    let Some(quantity) = Quantity::read(text) else { return };
    assert_eq!(Quantity::read(&quantity.to_string()), Some(quantity), "a printed quantity reads back");
    assert_eq!(quantity.minus(quantity), Quantity::of(0));
    assert_eq!(quantity.plus(quantity), quantity.times(2));
    assert_eq!(quantity.whole().is_none(), quantity < Quantity::of(0), "only what is negative is none");
});
