//! Names of files, as they are to be. Many of them that count up are written as one series, so that a plan with a
//! hundred thousand files is no longer than one with three.

use std::{
    collections::HashSet,
    fmt,
    hash::{DefaultHasher, Hash, Hasher},
    ops::RangeInclusive,
};

use serde::{Deserialize, Serialize};

/// As many names that count up are left as they are.
const PLAIN_MAX: u32 = 3;

/// Names of files. `data.{0/199}` stands for data.0 to data.199; a name cannot have a slash, so no name is meant
/// otherwise.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(transparent)]
pub struct FileNames(pub Vec<String>);

/// Names that differ in one number.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Series<'a> {
    before: &'a str,
    numbers: RangeInclusive<u32>,
    after: &'a str,
}

impl FileNames {
    /// These names, in this order.
    pub fn of(names: impl IntoIterator<Item = String>) -> Self {
        let mut out = Self::default();
        let mut run: Option<(String, u32)> = None;
        for name in names {
            run = match run.take() {
                Some((first, length)) if nth_after(&first, length).is_some_and(|next| next == name) => {
                    Some((first, length + 1))
                }
                Some((first, length)) => {
                    out.push_run(&first, length);
                    Some((name, 1))
                }
                None => Some((name, 1)),
            };
        }
        if let Some((first, length)) = run {
            out.push_run(&first, length);
        }
        out
    }

    fn push_run(&mut self, first: &str, length: u32) {
        match last_number(first).filter(|_| length > PLAIN_MAX) {
            Some((before, number, after)) => {
                self.0.push(format!("{before}{{{number}/{}}}{after}", number + (length - 1)));
            }
            None => self.0.extend((0..length).filter_map(|index| nth_after(first, index))),
        }
    }

    /// Whether there are none.
    pub const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// How many there are.
    pub fn count(&self) -> u64 {
        let of = |text: &String| Series::parse(text).map_or(1, |series| series.length());
        self.0.iter().map(of).sum()
    }

    /// Each of them.
    pub fn iter(&self) -> impl Iterator<Item = String> + '_ {
        self.0.iter().flat_map(|text| {
            let series = Series::parse(text);
            let alone = series.is_none().then(|| text.clone());
            alone.into_iter().chain(series.into_iter().flat_map(|series| {
                series.numbers.map(move |number| format!("{}{number}{}", series.before, series.after))
            }))
        })
    }

    /// What keeps them from being names of files in one directory, if anything does. There must not be more than
    /// what memory holds; see [`Self::count`].
    pub fn problem(&self) -> Option<String> {
        let is_name = |name: &str| {
            !name.is_empty() && name.len() <= 255 && name != "." && name != ".." && !name.contains(['/', '\0'])
        };
        // Their hashes are enough to tell names apart, and short.
        let mut known = HashSet::new();
        self.iter().find_map(|name| {
            if !is_name(&name) {
                return Some(format!("{name:?} in file_names is not the name of a file"));
            }
            let mut hasher = DefaultHasher::new();
            name.hash(&mut hasher);
            (!known.insert(hasher.finish())).then(|| format!("file_names has {name:?} twice"))
        })
    }
}

impl fmt::Display for FileNames {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.join(":"))
    }
}

impl<'a> Series<'a> {
    fn parse(text: &'a str) -> Option<Self> {
        let (left, right) = text.split_once('/')?;
        let (before, first) = left.rsplit_once('{')?;
        let (last, after) = right.split_once('}')?;
        let (first, last) = (plain_number(first)?, plain_number(last)?);
        (first <= last).then_some(Self { before, numbers: first..=last, after })
    }

    fn length(&self) -> u64 {
        u64::from(self.numbers.end() - self.numbers.start()) + 1
    }
}

/// A number that is written as a series would write it.
fn plain_number(text: &str) -> Option<u32> {
    text.parse().ok().filter(|number: &u32| number.to_string() == text)
}

/// The last number in a name, with what stands before and after it.
fn last_number(name: &str) -> Option<(&str, u32, &str)> {
    let end = name.rfind(|character: char| character.is_ascii_digit())? + 1;
    let digits = name[..end].bytes().rev().take_while(u8::is_ascii_digit).count();
    let number = plain_number(&name[end - digits..end])?;
    Some((&name[..end - digits], number, &name[end..]))
}

/// The name that comes so many after another, by its last number.
fn nth_after(name: &str, count: u32) -> Option<String> {
    if count == 0 {
        return Some(name.to_owned());
    }
    let (before, number, after) = last_number(name)?;
    Some(format!("{before}{}{after}", number.checked_add(count)?))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn names(texts: &[&str]) -> FileNames {
        FileNames(texts.iter().map(|text| (*text).to_owned()).collect())
    }

    #[test]
    fn many_names_that_count_up_are_one_series() {
        let all = (0..2).flat_map(|clone| (0..200).map(move |file| format!("t.{clone}.{file}")));
        let names_of_all = FileNames::of(all.clone());
        assert_eq!(names_of_all, names(&["t.0.{0/199}", "t.1.{0/199}"]));
        assert_eq!(names_of_all.count(), 400);
        assert!(names_of_all.iter().eq(all));
        let few = ["a.0.0", "a.0.1", "a.1.0", "a.1.1"];
        assert_eq!(FileNames::of(few.map(str::to_owned)), names(&few));
    }

    #[test]
    fn numbers_with_zeros_before_them_are_no_series() {
        let all = ["a00", "a01", "a02", "a03", "a04"];
        assert_eq!(FileNames::of(all.map(str::to_owned)), names(&all));
    }

    #[test]
    fn what_is_no_name_or_there_twice_is_told() {
        assert_eq!(names(&["a", "a.{0/3}b", "{0/0}"]).problem(), None);
        for (wrong, text) in [
            (names(&["a/b"]), "\"a/b\""),
            (names(&["a{3/2}"]), "\"a{3/2}\""),
            (names(&["a{0/01}"]), "\"a{0/01}\""),
            (names(&[".."]), "\"..\""),
            (names(&[""]), "\"\""),
            (names(&["a{1/20}", "a1{0/5}"]), "\"a10\" twice"),
        ] {
            assert!(wrong.problem().unwrap().contains(text), "{wrong}");
        }
    }

    proptest! {
        #[test]
        fn names_come_back_as_they_were(all in prop::collection::vec("[a{}0-2.]{1,4}", 0..30)) {
            let names = FileNames::of(all.clone());
            prop_assert_eq!(names.count() as usize, all.len());
            prop_assert_eq!(names.iter().collect::<Vec<_>>(), all);
        }
    }
}
