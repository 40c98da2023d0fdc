//! JSON as fio writes it: a space on both sides of the colon, and six decimals.

use std::io;

use serde::{Serialize, Serializer, ser::SerializeMap as _};
use serde_json::ser::{Formatter, PrettyFormatter};

/// Writes a value, with a newline at the end.
pub(super) fn write(value: &impl Serialize) -> String {
    let mut text = Vec::new();
    let layout = Layout { pretty: PrettyFormatter::new() };
    value
        .serialize(&mut serde_json::Serializer::with_formatter(&mut text, layout))
        .expect("keys are text, and memory takes every byte");
    text.push(b'\n');
    String::from_utf8(text).expect("JSON is UTF-8")
}

/// Names with values, in order.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Pairs<V>(pub(super) Vec<(String, V)>);

impl<V> Pairs<V> {
    pub(super) const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The values of names that are known.
    pub(super) fn of(names: &[&str], values: impl IntoIterator<Item = V>) -> Self {
        Self(names.iter().map(|name| (*name).to_owned()).zip(values).collect())
    }
}

impl<V: Serialize> Serialize for Pairs<V> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (name, value) in &self.0 {
            map.serialize_entry(name, value)?;
        }
        map.end()
    }
}

struct Layout {
    pretty: PrettyFormatter<'static>,
}

impl Formatter for Layout {
    fn write_f64<W: ?Sized + io::Write>(&mut self, writer: &mut W, value: f64) -> io::Result<()> {
        write!(writer, "{value:.6}")
    }

    fn begin_array<W: ?Sized + io::Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.pretty.begin_array(writer)
    }

    fn end_array<W: ?Sized + io::Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.pretty.end_array(writer)
    }

    fn begin_array_value<W: ?Sized + io::Write>(&mut self, writer: &mut W, first: bool) -> io::Result<()> {
        self.pretty.begin_array_value(writer, first)
    }

    fn end_array_value<W: ?Sized + io::Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.pretty.end_array_value(writer)
    }

    fn begin_object<W: ?Sized + io::Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.pretty.begin_object(writer)
    }

    fn end_object<W: ?Sized + io::Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.pretty.end_object(writer)
    }

    fn begin_object_key<W: ?Sized + io::Write>(&mut self, writer: &mut W, first: bool) -> io::Result<()> {
        self.pretty.begin_object_key(writer, first)
    }

    fn begin_object_value<W: ?Sized + io::Write>(&mut self, writer: &mut W) -> io::Result<()> {
        writer.write_all(b" : ")
    }

    fn end_object_value<W: ?Sized + io::Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.pretty.end_object_value(writer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_is_laid_out_as_by_fio() {
        #[derive(Serialize)]
        struct Example {
            whole: u64,
            share: f64,
            never: f64,
            levels: Pairs<f64>,
            rows: [u64; 2],
        }
        let levels = Pairs::of(&["1", ">=64"], [99.5, 1e-9]);
        let example = Example { whole: 7, share: 2.0 / 3.0, never: f64::NAN, levels, rows: [1, 2] };
        let expected = r#"{
  "whole" : 7,
  "share" : 0.666667,
  "never" : null,
  "levels" : {
    "1" : 99.500000,
    ">=64" : 0.000000
  },
  "rows" : [
    1,
    2
  ]
}
"#;
        assert_eq!(write(&example), expected);
    }
}
