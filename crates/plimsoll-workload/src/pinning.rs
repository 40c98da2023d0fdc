//! Which processors the workers of a cell run on.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::units::{ValueError, serde_as_text};

/// Where workers may run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Pinning {
    /// Wherever the kernel puts them.
    #[default]
    None,
    /// Each worker on a processor of its own, in order, over those this process may use.
    Auto,
    /// Each worker on a processor of its own, in order, over this list.
    Processors(Vec<u32>),
}

impl FromStr for Pinning {
    type Err = ValueError;

    fn from_str(text: &str) -> Result<Self, ValueError> {
        let bad = || {
            ValueError::new(format!("\"{text}\" is not a list of processors: write none, auto, or numbers as in 0-3,6"))
        };
        match text {
            "none" => return Ok(Self::None),
            "auto" => return Ok(Self::Auto),
            _ => {}
        }
        let mut processors = Vec::new();
        for part in text.split(',') {
            let (first, last) = part.split_once('-').unwrap_or((part, part));
            let first: u32 = first.trim().parse().map_err(|_| bad())?;
            let last: u32 = last.trim().parse().map_err(|_| bad())?;
            if first > last || last > 65_535 {
                return Err(bad());
            }
            processors.extend(first..=last);
        }
        Ok(Self::Processors(processors))
    }
}

impl fmt::Display for Pinning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::None => f.write_str("none"),
            Self::Auto => f.write_str("auto"),
            Self::Processors(list) => {
                for (index, processor) in list.iter().enumerate() {
                    write!(f, "{}{processor}", if index == 0 { "" } else { "," })?;
                }
                Ok(())
            }
        }
    }
}

serde_as_text! { Pinning, "none, auto, or a list of processors as \"0-3,6\""; }

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_and_ranges_are_understood() {
        assert_eq!("0-2,5".parse::<Pinning>().unwrap().to_string(), "0,1,2,5");
        for text in ["", "a", "3-1", "-1", "0,,1"] {
            assert!(text.parse::<Pinning>().is_err(), "{text}");
        }
    }
}
