//! What writes and laid-out files contain: the words; `content.rs` produces the bytes.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::units::{Percent, ValueError, serde_as_text};

/// What the buffers of writes are filled with, and files before the first slot.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Payload {
    /// The bytes themselves.
    pub fill: Fill,
    /// Share of every 4 KiB that compresses away. Only with random fill.
    pub compressible: Percent,
    /// Share of operations whose content repeats that of others. Only with random fill.
    pub duplicate: Percent,
}

/// The bytes of a payload.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fill {
    /// New random bytes for every write, and every block of a file.
    Random,
    /// Zeros.
    Zero,
    /// These bytes, repeated.
    Pattern(Vec<u8>),
}

impl Default for Payload {
    fn default() -> Self {
        Self { fill: Fill::Random, compressible: Percent::default(), duplicate: Percent::default() }
    }
}

fn pattern(text: &str) -> Result<Vec<u8>, ValueError> {
    let bad = || {
        ValueError::new(format!("\"{text}\" is not a pattern: write bytes in hexadecimal, as in pattern:0xdeadbeef"))
    };
    let digits = text.strip_prefix("0x").unwrap_or(text);
    if digits.is_empty() || !digits.len().is_multiple_of(2) || digits.len() > 1024 || !digits.is_ascii() {
        return Err(bad());
    }
    (0..digits.len()).step_by(2).map(|at| u8::from_str_radix(&digits[at..at + 2], 16).map_err(|_| bad())).collect()
}

impl FromStr for Payload {
    type Err = ValueError;

    fn from_str(text: &str) -> Result<Self, ValueError> {
        let mut payload = Self::default();
        for part in text.split(',') {
            match part.trim().split_once(':').unwrap_or((part.trim(), "")) {
                ("random", "") => payload.fill = Fill::Random,
                ("zero", "") => payload.fill = Fill::Zero,
                ("pattern", bytes) => payload.fill = Fill::Pattern(pattern(bytes)?),
                ("compressible", percent) => payload.compressible = percent.parse()?,
                ("duplicate", percent) => payload.duplicate = percent.parse()?,
                _ => {
                    return Err(ValueError::new(format!(
                        "\"{part}\" is not a payload: choose random, zero, pattern:0xHEX, compressible:PERCENT or \
                         duplicate:PERCENT, joined by commas"
                    )));
                }
            }
        }
        let shaped = payload.compressible.get() > 0 || payload.duplicate.get() > 0;
        if shaped && payload.fill != Fill::Random {
            return Err(ValueError::new(format!("payload \"{text}\": compressible and duplicate need random bytes")));
        }
        Ok(payload)
    }
}

impl fmt::Display for Payload {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.fill {
            Fill::Random => f.write_str("random")?,
            Fill::Zero => f.write_str("zero")?,
            Fill::Pattern(bytes) => {
                f.write_str("pattern:0x")?;
                bytes.iter().try_for_each(|byte| write!(f, "{byte:02x}"))?;
            }
        }
        if self.compressible.get() > 0 {
            write!(f, ",compressible:{}", self.compressible)?;
        }
        if self.duplicate.get() > 0 {
            write!(f, ",duplicate:{}", self.duplicate)?;
        }
        Ok(())
    }
}

serde_as_text! {
    Payload, "random, zero, pattern:0xHEX, compressible:PERCENT or duplicate:PERCENT, joined by commas";
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_prints_as_it_parses() {
        for text in ["random", "zero", "pattern:0xdeadbeef", "random,compressible:50%,duplicate:20%"] {
            assert_eq!(text.parse::<Payload>().unwrap().to_string(), text);
        }
        for text in ["", "pattern:", "pattern:0xabc", "pattern:xyz1", "zero,compressible:5", "compressible:101"] {
            assert!(text.parse::<Payload>().is_err(), "{text}");
        }
    }
}
