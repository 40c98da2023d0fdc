//! What a cache answered.

use plimsoll_measure::detect::cache::{self, CacheNumbers, CacheSign, Repeats};
use plimsoll_record::{
    event::SlotPurpose,
    limit::Bound,
    numbers::{self, iops, percent},
    record::Cell,
    results::{Finding, Severity, SlotSummary},
};
use plimsoll_workload::plan::BlockPlan;
use serde_json::json;

use crate::findings::finding;

pub(super) fn cache_numbers(cell: &Cell) -> CacheNumbers {
    let storage = cell.cache.as_ref().and_then(|cache| Some((cache.storage_read_bytes?, cache.requested_read_bytes)));
    let bound = cell.highest_bound();
    CacheNumbers {
        requested_bytes: storage.map(|(_, requested)| requested as f64),
        device_bytes: storage.map(|(storage, _)| storage as f64),
        rate: bound.map_or(0.0, |bound| bound.rate),
        limit: bound.map(|bound| bound.limit),
        look_seconds: look_seconds(cell),
        repeats: repeats(cell),
    }
}

/// How long the slots were, which other cells had their turns between.
fn look_seconds(cell: &Cell) -> Option<f64> {
    let slots: Vec<u64> = judged(cell).map(|slot| slot.elapsed_ns).collect();
    (!slots.is_empty()).then(|| slots.iter().sum::<u64>() as f64 / 1e9 / slots.len() as f64)
}

/// All slots, whatever the verdict's window, because the verdict is made with this.
fn judged(cell: &Cell) -> impl Iterator<Item = &SlotSummary> {
    cell.slots.iter().filter(|slot| slot.purpose == SlotPurpose::Measured)
}

pub(super) fn cached(cell: &Cell, plan: &BlockPlan) -> Vec<Finding> {
    let sentence = |sign: CacheSign| {
        Some(match sign {
            CacheSign::PageCache(share) if plan.buffered => {
                let residency = cell.cache.as_ref().and_then(|cache| cache.residency.as_ref());
                let held = residency.map(|held| (held.after_bytes.unwrap_or(held.before_bytes), held.total_bytes));
                let resident = held.filter(|(_, total)| *total > 0).map_or_else(String::new, |(held, total)| {
                    format!("; the cache held {} of the working set", percent(held as f64 / total as f64))
                });
                let evidence = [
                    ("hit_share", json!(share)),
                    ("resident_bytes", json!(held.map(|(held, _)| held))),
                    ("working_set_bytes", json!(held.map(|(_, total)| total))),
                ];
                let text = format!("the page cache answered {} of what was read{resident}", percent(share));
                finding("cached-reads", Severity::Warning, text, &evidence)
            }
            CacheSign::PageCache(share) => finding(
                "reads-without-storage",
                Severity::Warning,
                format!("{} of what was read needed no storage: holes, or blocks never written", percent(share)),
                &[("share", json!(share))],
            ),
            CacheSign::AboveLimit(ratio) => finding(
                "read-above-device-limit",
                Severity::Warning,
                format!(
                    "the rate is {} times the {}: something else answered, or the limit is another one",
                    numbers::ratio(ratio),
                    cell.highest_bound().map_or_else(|| "limit".to_owned(), Bound::words)
                ),
                &[("ratio", json!(ratio))],
            ),
            CacheSign::RepeatFaster(ratio) => return repeats_faster(cell, Some(ratio)),
        })
    };
    let unknown = plan.reads() && cache_numbers(cell).device_bytes.is_none();
    let page_cache = (plan.buffered && (unknown || plan.writes())).then(|| {
        finding(
            "page-cache",
            Severity::Warning,
            "buffered I/O: the page cache took part in this, so the numbers are not the storage's alone",
            &[],
        )
    });
    let signs = cache::signs(&cache_numbers(cell));
    let takes_part = signs.iter().any(|sign| matches!(sign, CacheSign::RepeatFaster(_)));
    let behind = if takes_part { None } else { repeats_faster(cell, None) };
    signs.into_iter().filter_map(sentence).chain(behind).chain(page_cache).collect()
}

fn repeats(cell: &Cell) -> Option<Repeats> {
    let repeats = cell.cache.as_ref()?.repeats.as_ref().filter(|repeats| repeats.fresh_iops > 0.0)?;
    let operations: u64 = judged(cell).filter_map(|slot| slot.read.as_ref()).map(|read| read.operations).sum();
    let rate = operations as f64 * 1e9 / judged(cell).map(|slot| slot.elapsed_ns).sum::<u64>().max(1) as f64;
    Some(Repeats { ratio_lowest: repeats.ratio_lowest, rate_over_fresh: rate / repeats.fresh_iops })
}

/// What reading again showed, when it was faster. It is a warning when the cell's own rate has gained from that.
fn repeats_faster(cell: &Cell, ratio: Option<f64>) -> Option<Finding> {
    repeats(cell).filter(Repeats::are_faster)?;
    let found = cell.cache.as_ref()?.repeats.as_ref()?;
    let rates = format!(
        "something beyond this machine's page cache remembers reads: {} IOPS the second time, {} the first time",
        iops(found.repeat_iops),
        iops(found.fresh_iops)
    );
    let (code, severity, text) = match ratio {
        Some(ratio) => (
            "repeated-reads-faster",
            Severity::Warning,
            format!("{rates}. The rate includes it: it is {} times that of first reads", numbers::ratio(ratio)),
        ),
        None => ("cache-behind", Severity::Info, format!("{rates}. The rate is that of first reads")),
    };
    let evidence = [
        ("ratio", json!(ratio)),
        ("fresh_iops", json!(found.fresh_iops)),
        ("repeat_iops", json!(found.repeat_iops)),
        ("pair_ratio_lowest", json!(found.ratio_lowest)),
        ("pairs", json!(found.pairs)),
    ];
    Some(finding(code, severity, text, &evidence))
}

#[cfg(test)]
mod tests {
    use plimsoll_measure::latency::LatencyHistogram;
    use plimsoll_record::{
        builder::RecordBuilder,
        event::{RunEvent, SlotDirection, SlotResult},
        limit::CellLimit,
    };
    use plimsoll_workload::limit::Expected;

    use super::*;
    use crate::test_plans::{plan, started};

    #[test]
    fn a_rate_above_the_limit_names_the_one_that_it_is_above() {
        let said = |limit: &str| {
            let mut histogram = LatencyHistogram::fine();
            histogram.record_many(30_000, 28_565);
            let read = Some(SlotDirection { operations: 28_565, bytes: 28_565 << 12, histogram });
            let slot = SlotResult { elapsed_ns: 1_000_000_000, read, ..SlotResult::default() };
            let mut builder = RecordBuilder::new(started("rw = 'randread'"));
            builder.apply(&RunEvent::SlotFinished(Box::new(slot)));
            let mut cell = builder.finish().cells.remove(0);
            cell.limit = Some(CellLimit::of(&Expected::given(limit.parse().unwrap()), 4096.0));
            cached(&cell, &plan("rw = 'randread'")).remove(0).text
        };
        let burst = said("iops=500,burst-iops=3500,bucket=5.4M");
        assert!(burst.starts_with("the rate is 8.16 times the burst limit of 3,500 IOPS: "), "{burst}");
        let lasting = said("iops=500");
        assert!(lasting.starts_with("the rate is 57.1 times the limit of 500 IOPS: "), "{lasting}");
    }
}
