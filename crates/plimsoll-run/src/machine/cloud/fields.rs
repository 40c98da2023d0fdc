//! Single facts out of an answer. What is missing, empty or of another kind is not known.

use serde_json::Value;

use super::NotUnderstood;

/// Longer names are none; no provider has such.
const TEXT_CHARACTERS_MAX: usize = 256;

/// More disks than any machine has.
const DISKS_MAX: usize = 1024;

/// A name, as far as it is one that can be shown.
pub(super) fn text(value: &Value, pointer: &str) -> Option<String> {
    let text = value.pointer(pointer)?.as_str()?.trim();
    let is_name =
        !text.is_empty() && text.chars().count() <= TEXT_CHARACTERS_MAX && !text.chars().any(char::is_control);
    is_name.then(|| text.to_owned())
}

/// What a path such as `projects/1/machineTypes/n2-standard-8` ends with.
pub(super) fn last_of_path(value: &Value, pointer: &str) -> Option<String> {
    let path = text(value, pointer)?;
    path.rsplit('/').next().filter(|last| !last.is_empty()).map(str::to_owned)
}

/// A whole number, written as one or as text: in Azure's answers everything is text.
pub(super) fn number(value: &Value, pointer: &str) -> Option<u64> {
    match value.pointer(pointer)? {
        Value::Number(number) => number.as_u64(),
        Value::String(text) => text.trim().parse().ok(),
        _ => None,
    }
}

/// The elements of a list of disks; none when there is no such list.
pub(super) fn disks<'a>(value: &'a Value, pointer: &str) -> Result<&'a [Value], NotUnderstood> {
    let disks = value.pointer(pointer).and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    if disks.len() > DISKS_MAX { Err(NotUnderstood::Disks(disks.len())) } else { Ok(disks) }
}
