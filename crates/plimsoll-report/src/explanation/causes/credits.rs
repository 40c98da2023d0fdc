//! Burst credits: what a full bucket gives over a run, and what an empty one says of the time before.

use plimsoll_record::numbers;
use serde_json::json;

use super::{Cause, Scene};
use crate::explanation::{
    show,
    standing::{Judged, Standing},
};

pub(super) fn causes(scene: &Scene<'_>) -> Vec<Cause> {
    scene.telling().filter_map(|judged| of(scene, judged)).collect()
}

fn of(scene: &Scene<'_>, judged: &Judged) -> Option<Cause> {
    let rate = |value| show::rate(judged.unit, value);
    let name = scene.name(judged.part);
    let (burst, burst_s) = (judged.burst?, judged.burst_seconds?);
    let seconds = |seconds: f64| numbers::duration((seconds * 1e9) as u64);
    let refill = judged.refill_seconds.map_or_else(String::new, |refill| {
        format!("; an empty bucket takes {} of rest to be full again", seconds(refill))
    });
    let evidence = [
        ("burst", json!(burst)),
        ("burst_seconds", json!(burst_s)),
        ("lasting", json!(judged.lasting)),
        ("mean_from_full", json!(judged.mean_from_full)),
        ("refill_seconds", json!(judged.refill_seconds)),
        ("measured", json!(judged.measured)),
    ];
    let advice = format!("count on {}: what is above it ends with the credits", rate(judged.lasting));
    match (judged.standing, judged.mean_from_full, scene.load.elapsed_s) {
        (Standing::BurstOnly, Some(mean), Some(elapsed)) if judged.is_mean_from_full() => {
            let text = if elapsed > burst_s {
                format!(
                    "burst credits: a full bucket of {name} gives {} for {}, then {}, so {} over {}; measured {} ({}){refill}",
                    rate(burst),
                    seconds(burst_s),
                    rate(judged.lasting),
                    rate(mean),
                    seconds(elapsed),
                    rate(judged.measured),
                    show::signed(judged.measured, mean)
                )
            } else {
                format!(
                    "burst credits: {name} bursts to {} for {}, and the load took {}; measured {} ({}), which does not \
                     last{refill}",
                    rate(burst),
                    seconds(burst_s),
                    seconds(elapsed),
                    rate(judged.measured),
                    show::signed(judged.measured, burst)
                )
            };
            Some(Cause::new("burst-credits", 1.0, text, &evidence).advising(advice))
        }
        (Standing::BurstOnly, mean, _) => {
            if mean.is_none() && (judged.measured / burst - 1.0).abs() <= judged.tolerance.over {
                let text = format!(
                    "burst credits: {} are the burst of {name} ({}, {}), which lasts {}; then it is {}{refill}",
                    rate(judged.measured),
                    rate(burst),
                    show::signed(judged.measured, burst),
                    seconds(burst_s),
                    rate(judged.lasting),
                );
                return Some(Cause::new("burst-credits", 1.0, text, &evidence).advising(advice));
            }
            let full =
                mean.map_or_else(String::new, |mean| format!(" (a full bucket would have given {})", rate(mean)));
            let text = format!(
                "burst credits: {} are more than the {} that {name} keeps up, and less than the {} of its burst{full}{refill}",
                rate(judged.measured),
                rate(judged.lasting),
                rate(burst),
            );
            Some(Cause::new("burst-credits", 0.9, text, &evidence).advising(advice))
        }
        (Standing::Within, Some(mean), Some(elapsed)) if mean > judged.lasting * (1.0 + judged.tolerance.over) => {
            let text = format!(
                "no burst credits were used: a full bucket would have given {} over {}. Either load before this one \
                 had spent them{refill}; or the disk did not burst",
                rate(mean),
                seconds(elapsed)
            );
            Some(Cause::new("no-burst-credits", 0.7, text, &evidence))
        }
        _ => None,
    }
}
