//! When the operations of a workload are issued.

use super::Draft;
use crate::{
    limits,
    plan::{Pacing, PlanError},
    settings::{Arrival, RateScope},
    units::Rate,
};

impl Draft<'_> {
    pub(super) fn pacing(&self, jobs: u32) -> Result<Pacing, PlanError> {
        let workload = self.workload;
        let Some(rate) = workload.rate else {
            return match (workload.arrival, workload.rate_per) {
                (Some(arrival), _) => Err(self.contradiction(format!("--arrival {arrival} needs --rate"))),
                (None, Some(scope)) => Err(self.contradiction(format!("--rate-per {scope} needs --rate"))),
                (None, None) => Ok(Pacing::Closed),
            };
        };
        if workload.think_time.is_some() {
            return Err(self.contradiction("--think-time and --rate contradict each other: choose one"));
        }
        if let Rate::Operations(rate) = rate
            && rate > limits::RATE_MAX
        {
            return Err(self.contradiction(format!(
                "--rate {} is {rate:.0} operations a second, more than any storage does: lower it, or say bytes, as in \
                 200MB or 200MiB",
                Rate::Operations(rate)
            )));
        }
        let share = match workload.rate_per.unwrap_or(RateScope::Total) {
            RateScope::Total => f64::from(jobs),
            RateScope::Job => 1.0,
        };
        let (operations, bytes) = match rate {
            Rate::Operations(rate) => (Some(rate / share), None),
            Rate::Bytes(rate) => (None, Some(rate as f64 / share)),
        };
        Ok(Pacing::Open {
            arrival: workload.arrival.unwrap_or(Arrival::Fixed),
            operations_per_second_per_job: operations,
            bytes_per_second_per_job: bytes,
        })
    }
}
