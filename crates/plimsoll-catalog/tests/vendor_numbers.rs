//! Every number that vendors print in their tables of bursts, against what the catalog answers. Rows that do not agree
//! stay in the file, with the reason.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail by panicking")]

use plimsoll_catalog::{
    bucket::{self, Bucket},
    catalog::Catalog,
    ceiling::Load,
    expectation::Expectation,
};
use plimsoll_workload::{
    limit::{Limit, RateLimit},
    provisioned::Provisioned,
    units::ByteCount,
};
use serde::Deserialize;

const GIB: f64 = 1_073_741_824.0;
const MIB: f64 = 1_048_576.0;
const HOUR: f64 = 3600.0;

/// A number as a vendor prints it.
#[derive(Debug, Deserialize)]
struct Printed {
    product: String,
    amount: Option<f64>,
    unit: String,
    quantity: String,
    printed: f64,
    tolerance: f64,
    mismatch: String,
}

fn printed() -> Vec<Printed> {
    let text = include_str!("vendor_numbers.csv");
    csv::Reader::from_reader(text.as_bytes()).deserialize().map(|row| row.unwrap()).collect()
}

impl Printed {
    /// What the catalog says of writes to the storage that the row is about.
    fn limit(&self) -> Limit {
        let amount = self.amount.unwrap_or(100.0);
        let size = |gib: f64| Some(ByteCount((gib * GIB) as u64));
        let (size, iops) = match self.unit.as_str() {
            "TiB" => (size(amount * 1024.0), None),
            "IOPS" => (size(1024.0), Some(amount as u64)),
            _ => (size(amount), None),
        };
        let provisioned = Provisioned { sku: Some(self.product.clone()), size, iops, ..Provisioned::default() };
        let expectation = Expectation::of(&provisioned, &Catalog::default()).unwrap().unwrap();
        expectation.for_load(Load { read_share: 0.0, operation_bytes: 1.0, is_sequential: false }).limit
    }

    fn computed(&self) -> f64 {
        let limit = self.limit();
        let operations = || limit.operations.unwrap();
        let mib_s = || limit.bytes.unwrap().times(1.0 / MIB);
        // What has no burst bursts to its lasting rate, and has no credits.
        let credits = |limit: RateLimit| limit.bucket.unwrap_or(0.0);
        match self.quantity.as_str() {
            "base IOPS" => operations().sustained,
            "burst IOPS" => operations().highest().unwrap(),
            "credits" => credits(operations()),
            "seconds of burst" => bucket::burst_seconds(operations(), 3000.0).unwrap(),
            "seconds to refill" => bucket::refill_seconds(operations()).unwrap(),
            "base MiB/s" => mib_s().sustained,
            "burst MiB/s" => mib_s().highest().unwrap(),
            "hours of a full scan" => hours_to_transfer(mib_s(), self.amount.unwrap() * MIB),
            "MiB of credits after 24 hours idle" => after_idle(mib_s(), 24.0 * HOUR)[0].credits(),
            "minutes at 100 MiB/s after 24 hours idle" => {
                bucket::serve(&mut after_idle(mib_s(), 24.0 * HOUR), 100.0, 1e9)[0].seconds / 60.0
            }
            "hours at the burst rate after 12 hours idle" => {
                bucket::serve(&mut after_idle(mib_s(), 12.0 * HOUR), 1e9, 1e9)[0].seconds / HOUR
            }
            "hours at 100 MiB/s from the first balance, nothing earned" => credits(mib_s()) / 100.0 / HOUR,
            quantity => panic!("no rule for {quantity}"),
        }
    }
}

fn after_idle(limit: RateLimit, seconds: f64) -> [Bucket; 1] {
    let mut bucket = [Bucket::empty(limit)];
    bucket::serve(&mut bucket, 0.0, seconds);
    bucket
}

fn hours_to_transfer(limit: RateLimit, mib: f64) -> f64 {
    let mut left = mib;
    let mut seconds = 0.0;
    for stretch in bucket::serve(&mut [Bucket::full(limit)], 1e9, 1e7) {
        let needed = left / stretch.rate;
        if needed <= stretch.seconds {
            return (seconds + needed) / HOUR;
        }
        left -= stretch.rate * stretch.seconds;
        seconds += stretch.seconds;
    }
    f64::NAN
}

#[test]
fn what_vendors_print_follows_from_the_formulas_but_for_what_is_named() {
    let rows = printed();
    let mut reproduced = 0;
    for row in &rows {
        let computed = row.computed();
        let agrees = (computed - row.printed).abs() <= row.tolerance + 1e-9;
        assert_eq!(agrees, row.mismatch.is_empty(), "{row:?}: {computed}");
        reproduced += usize::from(agrees);
    }
    assert_eq!((reproduced, rows.len()), (182, 187));
}
