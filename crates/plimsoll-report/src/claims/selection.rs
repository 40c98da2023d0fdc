//! Which cells words mean: all of them have to occur in the target, the workload, the command or the record's name.

use super::{figures::Source, statement::Phrase};

/// How well a word fits a name; the best of all names counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Fit {
    Anywhere,
    Beginning,
    Whole,
}

/// The cells that have every word, in the order of the sources. A word that is a whole one in some names means only
/// those; one that some begin with, only these.
pub(super) fn select<'a>(phrase: &Phrase, sources: &[Source<'a>]) -> Result<Vec<Source<'a>>, String> {
    let names: Vec<String> = sources.iter().map(haystack).collect();
    let mut selected: Vec<bool> = vec![true; sources.len()];
    for spellings in &phrase.selection {
        let mut any = vec![false; sources.len()];
        for word in spellings {
            let needle = normal(word);
            let fits: Vec<Option<Fit>> = names.iter().map(|name| fit(name, &needle)).collect();
            let best = fits.iter().flatten().max().copied();
            if best.is_none() {
                return Err(format!("nothing in the data is called \"{word}\"{}", called(sources)));
            }
            any.iter_mut().zip(&fits).for_each(|(any, fit)| *any |= *fit == best);
        }
        selected.iter_mut().zip(&any).for_each(|(selected, any)| *selected &= *any);
    }
    let selected: Vec<Source<'a>> =
        sources.iter().zip(&selected).filter(|(_, selected)| **selected).map(|(source, _)| *source).collect();
    match selected.is_empty() {
        true if phrase.selection.is_empty() => Err("there are no results".to_owned()),
        true => Err(format!("no result has all of {}", phrase.selected())),
        false => Ok(selected),
    }
}

/// What results are called, a few of them.
pub(super) fn called(sources: &[Source<'_>]) -> String {
    const SHOWN_MAX: usize = 4;
    let mut names: Vec<String> = Vec::new();
    for source in sources {
        let name = source.name();
        if !names.contains(&name) {
            names.push(name);
        }
    }
    let more = names.len().saturating_sub(SHOWN_MAX);
    names.truncate(SHOWN_MAX);
    match (names.is_empty(), more) {
        (true, _) => String::new(),
        (false, 0) => format!("; there are: {}", names.join(", ")),
        (false, more) => format!("; there are: {} and {more} more", names.join(", ")),
    }
}

fn haystack(source: &Source<'_>) -> String {
    let name = source.record.name.as_deref().unwrap_or_default();
    normal(&format!("{name}\n{}\n{}", source.cell.target, source.cell.workload))
}

/// The best fit of a word in a name.
fn fit(name: &str, word: &str) -> Option<Fit> {
    if word.is_empty() {
        return None;
    }
    let is_outside = |next: Option<char>| next.is_none_or(|next| !(next.is_alphanumeric() || next == '_'));
    name.match_indices(word)
        .map(|(at, _)| {
            let begins = is_outside(name[..at].chars().next_back()) || !word.starts_with(char::is_alphanumeric);
            let ends = is_outside(name[at + word.len()..].chars().next()) || !word.ends_with(char::is_alphanumeric);
            match (begins, ends) {
                (true, true) => Fit::Whole,
                (true, false) => Fit::Beginning,
                (false, _) => Fit::Anywhere,
            }
        })
        .max()
}

/// Lower case, single blanks, and sizes as their number and one letter, since a file of 10 KiB is also called one of
/// 10kb and of 10 k.
fn normal(text: &str) -> String {
    let lower = text.to_lowercase();
    let mut out = String::with_capacity(lower.len());
    let mut word = String::new();
    for character in lower.chars().chain(['\n']) {
        if character.is_alphanumeric() {
            word.push(character);
            continue;
        }
        out.push_str(size(&word).as_deref().unwrap_or(&word));
        word.clear();
        let blank = character.is_whitespace();
        if !blank {
            out.push(character);
        } else if !out.ends_with(' ') {
            out.push(' ');
        }
    }
    out.trim().to_owned()
}

/// `16kib` as `16k`.
fn size(word: &str) -> Option<String> {
    let digits = word.find(|character: char| !character.is_ascii_digit()).filter(|digits| *digits > 0)?;
    let (number, unit) = word.split_at(digits);
    let letter = unit.chars().next().filter(|letter| "kmgt".contains(*letter))?;
    matches!(&unit[1..], "" | "b" | "ib").then(|| format!("{number}{letter}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_one_word_however_they_are_written() {
        assert_eq!(normal("100 files of 100KiB\n"), "100 files of 100k");
        assert_eq!((normal("10Mb"), normal("4k"), normal("D2s_v3")), ("10m".into(), "4k".into(), "d2s_v3".into()));
    }

    #[test]
    fn whole_words_fit_better_than_beginnings_and_those_better_than_the_rest() {
        let fits = |name, word| fit(&normal(name), &normal(word));
        assert_eq!(fits("async-r-premiumssd.ini", "premiumssd"), Some(Fit::Whole));
        assert_eq!(fits("async-r-premiumssd_v2.ini", "premiumssd"), Some(Fit::Beginning));
        assert_eq!(fits("/acstor-volume/test", "acs"), Some(Fit::Beginning));
        assert_eq!(fits("Import dbacstor", "acs"), Some(Fit::Anywhere));
        assert_eq!(fits("1000 files of 10KiB", "100 files"), None);
        assert_eq!(fits("5 files of 100MiB", "100Mb"), Some(Fit::Whole));
        assert_eq!(fits("anything", ""), None);
    }
}
