//! The known word that is nearest to an unknown one.

/// Words longer than this are nobody's typing mistake.
const LENGTH_MAX: usize = 64;

/// The nearest of the names, when no more than half of the letters differ.
pub(super) fn nearest<'a>(word: &str, names: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    if word.is_empty() || word.len() > LENGTH_MAX {
        return None;
    }
    let most = word.len().div_ceil(2);
    // The letters that one has more are as many differences, which need no counting.
    let alike = names.filter(|name| name.len().abs_diff(word.len()) <= most);
    let nearest = alike.map(|name| (distance(word, name), name)).min_by_key(|(distance, _)| *distance)?;
    (nearest.0 <= most.min(nearest.1.len())).then_some(nearest.1)
}

/// The least number of letters to insert, drop or replace that makes one word the other.
fn distance(left: &str, right: &str) -> usize {
    let right: Vec<char> = right.chars().collect();
    let mut row: Vec<usize> = (0..=right.len()).collect();
    for (line, from) in left.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = line + 1;
        for (column, to) in right.iter().enumerate() {
            let replaced = diagonal + usize::from(from != *to);
            diagonal = row[column + 1];
            row[column + 1] = replaced.min(diagonal + 1).min(row[column] + 1);
        }
    }
    row[right.len()]
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
        assert_eq!((distance("kitten", "sitting"), distance("", "abc"), distance("abc", "abc")), (3, 3, 0));
    }
}
