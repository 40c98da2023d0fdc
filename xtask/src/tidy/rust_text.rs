//! Rust source with comments and literals blanked out, so that a search finds code only.

/// The source with every comment, string and character literal replaced by spaces; lines and columns stay.
pub(super) fn code_of(source: &str) -> String {
    let characters: Vec<char> = source.chars().collect();
    let mut code = String::with_capacity(source.len());
    let mut at = 0;
    while at < characters.len() {
        let end = literal_or_comment_end(&characters, at);
        if end == at {
            code.push(characters[at]);
            at += 1;
            continue;
        }
        code.extend(characters[at..end].iter().map(|character| if *character == '\n' { '\n' } else { ' ' }));
        at = end;
    }
    code
}

/// Where the comment or literal that starts at `at` ends; `at` itself when none does.
fn literal_or_comment_end(text: &[char], at: usize) -> usize {
    let next = text.get(at + 1).copied();
    match text[at] {
        '/' if next == Some('/') => find(text, at, |rest| rest[0] == '\n').unwrap_or(text.len()),
        '/' if next == Some('*') => block_comment_end(text, at),
        '"' => string_end(text, at),
        'r' if !continues_word(text, at) => raw_string_end(text, at).unwrap_or(at),
        // A lifetime has no closing quote; a character literal has one after one character or an escape.
        '\'' if next == Some('\\') => find(text, at + 3, |rest| rest[0] == '\'').map_or(text.len(), |quote| quote + 1),
        '\'' if text.get(at + 2) == Some(&'\'') => at + 3,
        _ => at,
    }
}

/// Whether the character at `at` goes on a word, as the `r` of `attr` does. `br` and `cr` begin raw strings.
fn continues_word(text: &[char], at: usize) -> bool {
    let word = |index: usize| text[index].is_alphanumeric() || text[index] == '_';
    at > 0 && word(at - 1) && !(matches!(text[at - 1], 'b' | 'c') && (at == 1 || !word(at - 2)))
}

fn find(text: &[char], from: usize, found: impl Fn(&[char]) -> bool) -> Option<usize> {
    (from..text.len()).find(|at| found(&text[*at..]))
}

fn block_comment_end(text: &[char], at: usize) -> usize {
    let (mut depth, mut at) = (0, at);
    while at < text.len() {
        match (text[at], text.get(at + 1)) {
            ('/', Some('*')) => (depth, at) = (depth + 1, at + 2),
            ('*', Some('/')) if depth == 1 => return at + 2,
            ('*', Some('/')) => (depth, at) = (depth - 1, at + 2),
            _ => at += 1,
        }
    }
    text.len()
}

fn string_end(text: &[char], at: usize) -> usize {
    let mut at = at + 1;
    while at < text.len() {
        match text[at] {
            '\\' => at += 2,
            '"' => return at + 1,
            _ => at += 1,
        }
    }
    text.len()
}

fn raw_string_end(text: &[char], at: usize) -> Option<usize> {
    let hashes = text[at + 1..].iter().take_while(|character| **character == '#').count();
    let open = at + 1 + hashes;
    if text.get(open) != Some(&'"') {
        return None;
    }
    let closes = |rest: &[char]| {
        rest[0] == '"' && rest.len() > hashes && rest[1..=hashes].iter().all(|character| *character == '#')
    };
    Some(find(text, open + 1, closes).map_or(text.len(), |quote| quote + 1 + hashes))
}

/// Where the unit tests at the end of a file begin, as an index into its code; the length of the code when it has none.
pub(super) fn tests_start(code: &str) -> usize {
    let mut from = 0;
    while let Some(found) = code[from..].find("#[cfg(test)]") {
        let start = from + found;
        let after = code[start + "#[cfg(test)]".len()..].trim_start();
        let body = after.find(['{', ';']).map(|at| &after[at..=at]);
        if after.starts_with("mod ") && body == Some("{") {
            return start;
        }
        from = start + 1;
    }
    code.len()
}

/// The lines, counted from one, on which `word` stands by itself.
pub(super) fn lines_with_word<'a>(code: &'a str, word: &'a str) -> impl Iterator<Item = usize> + 'a {
    code.lines().enumerate().filter(move |(_, line)| has_word(line, word)).map(|(index, _)| index + 1)
}

fn has_word(line: &str, word: &str) -> bool {
    let part_of_word = |character: char| character.is_alphanumeric() || character == '_';
    line.match_indices(word).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        let after = line[at + word.len()..].chars().next();
        // A needle that ends with `!` or `(` is its own boundary.
        let closed = word.ends_with(|last: char| !part_of_word(last));
        !before.is_some_and(part_of_word) && (closed || !after.is_some_and(part_of_word))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_and_literals_are_blank_and_code_stays() {
        let source =
            "let a = \"x // \\\" y\"; // gone\n/* a /* b */ c */ let b: &'static str = r#\"q \" q\"#;\nlet c = '\"';";
        let code = code_of(source);
        assert_eq!(code.lines().count(), 3);
        for word in ["gone", "x", "q", "c */"] {
            assert!(!code.contains(&format!(" {word} ")), "{word} in {code}");
        }
        assert!(code.contains("let b: &'static str =") && code.contains("let c ="), "{code}");
        assert!(!code.contains('"'), "{code}");
    }

    #[test]
    fn an_escaped_quote_is_a_character_not_a_string() {
        assert_eq!(code_of(r"f('\'', '\\', x)").replace(' ', ""), "f(,,x)");
        assert_eq!(code_of("attr\"s\" br\"t\"").trim_end(), "attr    b");
    }

    #[test]
    fn unit_tests_are_the_module_and_not_a_declaration() {
        let code = "#[cfg(test)]\nmod doubles;\nfn f() {}\n#[cfg(test)]\nmod tests { }";
        assert_eq!(&code[tests_start(code)..], "#[cfg(test)]\nmod tests { }");
        assert_eq!(tests_start("fn f() {}"), 9);
    }

    #[test]
    fn a_word_inside_a_word_does_not_count() {
        assert_eq!(lines_with_word("forbid(unsafe_code)\nunsafe {", "unsafe").collect::<Vec<_>>(), [2]);
        assert_eq!(lines_with_word("eprintln!()\nprintln!()", "println!").collect::<Vec<_>>(), [2]);
    }
}
