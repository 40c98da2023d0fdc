//! A parameter that may have several values: their product is the cells of a sweep.

use std::{fmt, marker::PhantomData, str::FromStr};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use crate::units::ValueError;

/// One or more values of a parameter, in the order given; never empty, and none of them twice when read from text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sweep<T>(Vec<T>);

impl<T> Sweep<T> {
    /// A single value.
    pub fn one(value: T) -> Self {
        Self(vec![value])
    }

    /// These values, which have to differ.
    pub fn of<const N: usize>(values: [T; N]) -> Self {
        const { assert!(N > 0, "a sweep has a value") };
        Self(values.into())
    }

    /// The values.
    pub fn values(&self) -> &[T] {
        &self.0
    }
}

impl<T: PartialEq + fmt::Display> Sweep<T> {
    /// These values, unless one is there twice: the two cells would be the same.
    fn of_different(values: Vec<T>) -> Result<Self, ValueError> {
        let mut repeated = values.iter().enumerate().filter(|(index, value)| values[..*index].contains(value));
        match repeated.next() {
            Some((_, value)) => Err(ValueError::new(format!("\"{value}\" is listed twice: name each value once"))),
            None => Ok(Self(values)),
        }
    }
}

impl<T: FromStr<Err: fmt::Display> + PartialEq + fmt::Display> FromStr for Sweep<T> {
    type Err = ValueError;

    fn from_str(text: &str) -> Result<Self, ValueError> {
        text.split(',')
            .map(|part| part.trim().parse().map_err(|error: T::Err| describe(part, &error.to_string())))
            .collect::<Result<_, _>>()
            .and_then(Self::of_different)
    }
}

impl<T: fmt::Display> fmt::Display for Sweep<T> {
    /// The values as they are written in a flag: `4KiB,64KiB`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, value) in self.0.iter().enumerate() {
            write!(f, "{}{value}", if index == 0 { "" } else { "," })?;
        }
        Ok(())
    }
}

/// Our own messages name the value already; those of plain integers do not.
fn describe(part: &str, message: &str) -> ValueError {
    if message.starts_with('"') {
        ValueError::new(message)
    } else if !part.trim().is_empty() && part.trim().bytes().all(|byte| byte.is_ascii_digit()) {
        ValueError::new(format!("\"{part}\" is too large: write a smaller number"))
    } else {
        ValueError::new(format!("\"{part}\" is not a whole number: write one, or several separated by commas"))
    }
}

impl<T: Serialize> Serialize for Sweep<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0.as_slice() {
            [one] => one.serialize(serializer),
            many => many.serialize(serializer),
        }
    }
}

struct SweepVisitor<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de> + PartialEq + fmt::Display> de::Visitor<'de> for SweepVisitor<T> {
    type Value = Sweep<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("one value or a list of values")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Self::Value, E> {
        if text.contains(',') {
            let is_number = |part: &str| part.parse::<u64>().is_ok();
            let values: Vec<_> = text
                .split(',')
                .map(str::trim)
                .map(|part| if is_number(part) { part.to_owned() } else { format!("\"{part}\"") })
                .collect();
            return Err(E::custom(format!("\"{text}\" is one text: write several values as [{}]", values.join(", "))));
        }
        T::deserialize(de::value::StrDeserializer::new(text)).map(Sweep::one)
    }

    fn visit_u64<E: de::Error>(self, number: u64) -> Result<Self::Value, E> {
        T::deserialize(de::value::U64Deserializer::new(number)).map(Sweep::one)
    }

    fn visit_i64<E: de::Error>(self, number: i64) -> Result<Self::Value, E> {
        T::deserialize(de::value::I64Deserializer::new(number)).map(Sweep::one)
    }

    fn visit_seq<A: de::SeqAccess<'de>>(self, mut sequence: A) -> Result<Self::Value, A::Error> {
        let mut values = Vec::new();
        while let Some(value) = sequence.next_element()? {
            values.push(value);
        }
        if values.is_empty() {
            return Err(de::Error::invalid_length(0, &self));
        }
        Sweep::of_different(values).map_err(de::Error::custom)
    }
}

impl<'de, T: Deserialize<'de> + PartialEq + fmt::Display> Deserialize<'de> for Sweep<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(SweepVisitor(PhantomData))
    }
}

#[cfg(feature = "schema")]
impl<T: schemars::JsonSchema> schemars::JsonSchema for Sweep<T> {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        format!("SweepOf{}", T::schema_name()).into()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        let one = generator.subschema_for::<T>();
        schemars::json_schema!({ "anyOf": [one.clone(), { "type": "array", "items": one, "minItems": 1 }] })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_and_a_single_value_read_alike() {
        assert_eq!("1,2,4".parse::<Sweep<u32>>().unwrap().values(), [1, 2, 4]);
        assert_eq!(serde_json::from_str::<Sweep<u32>>("[1, 2]").unwrap().values(), [1, 2]);
        assert_eq!(serde_json::from_str::<Sweep<u32>>("7").unwrap().values(), [7]);
        assert!(serde_json::from_str::<Sweep<u32>>("[]").is_err());
        assert!("1,,2".parse::<Sweep<u32>>().is_err());
        let error = "4294967296".parse::<Sweep<u32>>().unwrap_err();
        assert_eq!(error.to_string(), "\"4294967296\" is too large: write a smaller number");
    }

    #[test]
    fn several_values_in_one_text_are_told_as_the_list_to_write() {
        let depths = serde_json::from_str::<Sweep<u32>>("\"1,2\"").unwrap_err().to_string();
        assert!(depths.contains("\"1,2\" is one text: write several values as [1, 2]"), "{depths}");
        let sizes =
            serde_json::from_str::<Sweep<crate::block_sizes::BlockSizes>>("\"4k, 64k\"").unwrap_err().to_string();
        assert!(sizes.contains("write several values as [\"4k\", \"64k\"]"), "{sizes}");
    }

    #[test]
    fn a_value_that_is_listed_twice_is_refused_however_it_is_written() {
        let error = "4k,64k,4096".parse::<Sweep<crate::block_sizes::BlockSizes>>().unwrap_err();
        assert_eq!(error.to_string(), "\"4KiB\" is listed twice: name each value once");
        assert!(serde_json::from_str::<Sweep<u32>>("[1, 2, 1]").is_err());
    }
}
