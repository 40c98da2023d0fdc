//! A slot on its way: its histograms, which are most of it, as bytes beside it.

use base64::{Engine as _, prelude::BASE64_STANDARD};
use plimsoll_measure::latency::{CompactHistogram, LatencyHistogram};
use plimsoll_record::event::{SlotDirection, SlotResult};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};

/// The slot without its histograms, and these in the order of its fields.
#[derive(Serialize, Deserialize)]
struct PackedSlot {
    slot: Box<SlotResult>,
    histograms: Vec<String>,
}

pub(super) fn serialize<S: Serializer>(slot: &SlotResult, serializer: S) -> Result<S::Ok, S::Error> {
    let mut slot = Box::new(slot.clone());
    let mut histograms = Vec::new();
    let mut pack = |histogram: &LatencyHistogram| histograms.push(BASE64_STANDARD.encode(histogram.to_bytes()));
    for histogram in whole(&mut slot) {
        pack(&std::mem::replace(histogram, LatencyHistogram::coarse()));
    }
    for second in std::mem::take(&mut slot.seconds) {
        pack(&LatencyHistogram::from(second));
    }
    PackedSlot { slot, histograms }.serialize(serializer)
}

pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Box<SlotResult>, D::Error> {
    let PackedSlot { mut slot, histograms } = PackedSlot::deserialize(deserializer)?;
    let unpack = |text: String| LatencyHistogram::from_bytes(&BASE64_STANDARD.decode(text).ok()?);
    let mut histograms =
        histograms.into_iter().map(|text| unpack(text).ok_or_else(|| D::Error::custom("no histogram")));
    for histogram in whole(&mut slot) {
        *histogram = histograms.next().ok_or_else(|| D::Error::custom("a histogram is missing"))??;
    }
    slot.seconds = histograms.map(|second| second.map(CompactHistogram::from)).collect::<Result<_, _>>()?;
    Ok(slot)
}

/// The histograms of a slot, but for those of its seconds.
fn whole(slot: &mut SlotResult) -> impl Iterator<Item = &mut LatencyHistogram> {
    let SlotResult { read, write, sync, service, .. } = slot;
    let of_directions = [read, write, sync].into_iter().flatten().map(|SlotDirection { histogram, .. }| histogram);
    of_directions.chain(service)
}
