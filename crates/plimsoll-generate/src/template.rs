//! Texts with places for words: `{{name}}`. What stands there is decided before, so that texts have no conditions.

/// The text with its places filled. A place that nobody fills stays, and a test finds it.
pub(crate) fn fill(text: &str, words: &[(&str, &str)]) -> String {
    words.iter().fold(text.to_owned(), |text, (name, word)| text.replace(&format!("{{{{{name}}}}}"), word))
}

#[cfg(test)]
mod tests {
    #[test]
    fn every_place_of_a_name_is_filled_and_others_stay() {
        assert_eq!(super::fill("{{a}} ${b} {{a}} {{c}}", &[("a", "x")]), "x ${b} x {{c}}");
    }
}
