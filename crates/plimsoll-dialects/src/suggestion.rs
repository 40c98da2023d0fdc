//! The known word that is nearest to an unknown one.

/// Words longer than this are nobody's typing mistake. A fuzzer makes up almost all of its words, and would do little
/// else than to compare them.
const LENGTH_MAX: usize = if cfg!(fuzzing) { 0 } else { 64 };

/// The nearest of the names, when no more than half of the letters differ.
pub(crate) fn nearest<'a>(word: &str, names: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    if word.is_empty() || word.len() > LENGTH_MAX {
        return None;
    }
    let most = word.len().div_ceil(2);
    // The letters that one has more are as many differences, which need no counting.
    let alike = names.filter(|name| name.len().abs_diff(word.len()) <= most);
    let nearest = alike.map(|name| (strsim::osa_distance(word, name), name)).min_by_key(|(distance, _)| *distance)?;
    (nearest.0 <= most.min(nearest.1.len())).then_some(nearest.1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_of_the_keyboard_finds_its_word() {
        let names = ["direct", "directory", "iodepth", "bs"];
        for (word, name) in
            [("direcotry", Some("directory")), ("iodpeth", Some("iodepth")), ("qqqqqqqq", None), ("", None)]
        {
            assert_eq!(nearest(word, names.into_iter()), name, "{word}");
        }
    }
}
