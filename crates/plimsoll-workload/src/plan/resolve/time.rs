//! How a cell spends its time.

use super::Draft;
use crate::{
    certainty::StoppingRule,
    plan::PlanError,
    settings::Effort,
    units::{ByteCount, Span},
};

/// The ramp of slots whose length is left to the rules.
const fn usual_ramp(effort: Effort) -> Span {
    match effort {
        Effort::Quick => Span::from_milliseconds(200),
        Effort::Standard | Effort::Thorough => Span::from_seconds(2),
    }
}

/// Slots are at most this long when several cells take turns.
const INTERLEAVED_SLOT: Span = Span::from_seconds(5);

/// When a cell is done, and what its slots are.
pub(super) struct Time {
    pub(super) stopping: StoppingRule,
    pub(super) ramp_ns: u64,
    pub(super) slot_ns: Option<u64>,
}

impl Draft<'_> {
    /// The stopping rule, and the ramp and measured time of a slot.
    pub(super) fn time(&self, cells: usize) -> Result<Time, PlanError> {
        let workload = self.workload;
        if workload.operations == Some(0) || workload.loops == Some(0) || workload.io_size == Some(ByteCount(0)) {
            return Err(self.contradiction("an amount of zero operations, bytes or loops does nothing"));
        }
        if [workload.batch, workload.submit].contains(&Some(0))
            || workload.fsync == Some(0)
            || workload.fdatasync == Some(0)
        {
            return Err(
                self.contradiction("--batch, submit, --fsync and --fdatasync count from 1: leave them out for none")
            );
        }
        if workload.duration == Some(Span { ns: 0 }) {
            return Err(self.contradiction("--duration 0 measures nothing"));
        }
        if workload.phase.is_some() && !workload.has_own_end() {
            return Err(self.contradiction(
                "--phase runs workloads at the same time, which is no rate of one alone: say with --duration, or with \
                 an amount, when it ends",
            ));
        }
        let passes = self.certainty.passes;
        let fixed = |slots, ramp: Span, slot_ns| Time {
            stopping: StoppingRule::Fixed { slots, discarded: self.certainty.discard_first.unwrap_or(0) },
            ramp_ns: workload.ramp.unwrap_or(ramp).ns,
            slot_ns,
        };
        if workload.has_amount() {
            return Ok(fixed(passes.unwrap_or(1), Span::default(), workload.duration.map(|duration| duration.ns)));
        }
        let short_ramp = |slot_ns: u64| Span { ns: (slot_ns / 4).min(1_000_000_000) };
        let Some(duration) = workload.duration else {
            return Ok(match passes {
                Some(passes) => fixed(passes, short_ramp(INTERLEAVED_SLOT.ns), Some(INTERLEAVED_SLOT.ns)),
                None => {
                    let ramp = workload.ramp.unwrap_or_else(|| usual_ramp(self.certainty.effort));
                    Time { stopping: StoppingRule::Sure, ramp_ns: ramp.ns, slot_ns: None }
                }
            });
        };
        if let Some(passes) = passes {
            return Ok(fixed(passes, short_ramp(duration.ns), Some(duration.ns)));
        }
        let slots = if cells > 1 && workload.phase.is_none() { duration.ns.div_ceil(INTERLEAVED_SLOT.ns) } else { 1 };
        let slot_ns = duration.ns / slots;
        let slots = u32::try_from(slots).map_err(|_| self.contradiction("--duration is too long"))?;
        Ok(fixed(slots, short_ramp(slot_ns), Some(slot_ns)))
    }
}
