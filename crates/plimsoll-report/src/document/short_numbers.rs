//! Numbers as short as JSON has them: a whole number without a fraction. There are tens of thousands in a document.

use serde::{Serialize, Serializer};

struct Short(f64);

impl Serialize for Short {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let is_whole = self.0.fract().abs() < f64::EPSILON && self.0.abs() < 9e15;
        if is_whole { serializer.serialize_i64(self.0 as i64) } else { serializer.serialize_f64(self.0) }
    }
}

pub(super) fn one<S: Serializer>(value: &f64, serializer: S) -> Result<S::Ok, S::Error> {
    Short(*value).serialize(serializer)
}

pub(super) fn list<S: Serializer>(values: &[f64], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(values.iter().map(|value| Short(*value)))
}

pub(super) fn known<S: Serializer>(values: &[Option<f64>], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(values.iter().map(|value| value.map(Short)))
}

pub(super) fn pairs<S: Serializer>(values: &[[f64; 2]], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(values.iter().map(|pair| pair.map(Short)))
}

pub(super) fn classes<S: Serializer>(values: &[(f64, u64)], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(values.iter().map(|(end, count)| (Short(*end), *count)))
}
