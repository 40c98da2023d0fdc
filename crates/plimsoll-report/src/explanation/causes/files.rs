//! Files that are made durable one by one: each costs the device several writes, so that its operations and not its
//! bytes bind.

use plimsoll_record::{figures::Operation, numbers};
use serde_json::json;

use super::{Cause, Scene};
use crate::explanation::{
    show,
    standing::{Standing, Unit},
};

/// Writes of the device for a file that is created, written and synced on ext4: its data, and a commit of the journal
/// in two. The test `a_file_that_is_synced_costs_ext4_three_writes` measures it.
pub(in crate::explanation) const DEVICE_WRITES_A_FILE: f64 = 3.0;

/// Files above this size are bound by bytes on anything that is sold.
const SMALL_MAX: u64 = 256 << 10;

pub(super) fn causes(scene: &Scene<'_>) -> Vec<Cause> {
    let (Some(files), Some(expectation)) = (scene.load.files, scene.expectation) else { return Vec::new() };
    let Some(judged) = scene.judged.iter().find(|judged| judged.operation == Operation::Write) else {
        return Vec::new();
    };
    let Some(disk) = expectation.part(judged.part).filter(|_| judged.unit == Unit::FilesPerSecond) else {
        return Vec::new();
    };
    if files.size_bytes > SMALL_MAX || judged.measured <= 0.0 {
        return Vec::new();
    }
    let ms = |a_second: f64| numbers::latency_in_text(1e9 / a_second);
    let evidence = [
        ("files_per_second_predicted", json!(judged.lasting)),
        ("files_per_second_measured", json!(judged.measured)),
        ("device_writes_a_file", json!(DEVICE_WRITES_A_FILE)),
    ];
    let arithmetic = format!(
        "a file that is created, written and synced costs a device with ext4 {DEVICE_WRITES_A_FILE} writes, so the {} of \
         {} are {}, {} each",
        show::iops(judged.lasting * DEVICE_WRITES_A_FILE),
        disk.name,
        show::rate(Unit::FilesPerSecond, judged.lasting),
        ms(judged.lasting)
    );
    if judged.standing == Standing::Within {
        let text = format!("as if each file was synced: {arithmetic}; measured {} each", ms(judged.measured));
        let cause = Cause::new("fsync-cost", 0.95, text, &evidence);
        let advice = "sync once for several files, or take a disk with more IOPS: its MB/s do not matter here";
        return vec![cause.advising(advice)];
    }
    let text = format!("{} for each file: {arithmetic}, which is not what binds here", ms(judged.measured));
    vec![Cause::new("file-cost", 0.2, text, &evidence)]
}
