//! A statement cut into numbers, words and signs.

use super::{
    ParseError,
    number::{self, Number, Thousands},
    unit::{self, Kind, Unit},
};

/// A piece of a statement.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Token {
    Number(Number),
    /// A word as it is written.
    Word(String),
    /// A text between quotation marks.
    Quoted(String),
    Sign(Sign),
}

/// A sign that is no word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sign {
    Plus,
    Minus,
    Times,
    Per,
    Open,
    Close,
    Equal,
    More,
    Less,
    AtLeast,
    AtMost,
    About,
    /// From one number to another.
    To,
    Semicolon,
    Comma,
}

/// A token and where it begins, in bytes.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Placed {
    pub(super) token: Token,
    pub(super) at: usize,
}

/// Words that are numbers.
const NUMBER_WORDS: [(&str, f64, &Unit); 14] = [
    ("twice", 2.0, &unit::FACTOR),
    ("thrice", 3.0, &unit::FACTOR),
    ("double", 2.0, &unit::FACTOR),
    ("half", 0.5, &unit::FACTOR),
    ("one", 1.0, &unit::PLAIN),
    ("two", 2.0, &unit::PLAIN),
    ("three", 3.0, &unit::PLAIN),
    ("four", 4.0, &unit::PLAIN),
    ("five", 5.0, &unit::PLAIN),
    ("six", 6.0, &unit::PLAIN),
    ("seven", 7.0, &unit::PLAIN),
    ("eight", 8.0, &unit::PLAIN),
    ("nine", 9.0, &unit::PLAIN),
    ("ten", 10.0, &unit::PLAIN),
];

/// Signs, longer ones first.
const SIGNS: [(&str, Sign); 22] = [
    ("==", Sign::Equal),
    (">=", Sign::AtLeast),
    ("<=", Sign::AtMost),
    ("≥", Sign::AtLeast),
    ("≤", Sign::AtMost),
    ("≈", Sign::About),
    ("~", Sign::About),
    ("=", Sign::Equal),
    (">", Sign::More),
    ("<", Sign::Less),
    ("+", Sign::Plus),
    ("−", Sign::Minus),
    ("-", Sign::Minus),
    ("–", Sign::To),
    ("—", Sign::To),
    ("*", Sign::Times),
    ("×", Sign::Times),
    ("÷", Sign::Per),
    ("/", Sign::Per),
    ("(", Sign::Open),
    (")", Sign::Close),
    (";", Sign::Semicolon),
];

/// The sign that a text begins with, as it is written.
pub(super) fn sign(text: &str) -> &str {
    let longest = SIGNS.iter().map(|(sign, _)| *sign).find(|sign| text.starts_with(sign));
    longest.unwrap_or_else(|| &text[..text.chars().next().map_or(0, char::len_utf8)])
}

/// Cuts a statement into its pieces.
pub(super) fn tokens(text: &str, thousands: Thousands) -> Result<Vec<Placed>, ParseError> {
    let mut placed: Vec<Placed> = Vec::new();
    let mut at = 0;
    while let Some(character) = text[at..].chars().next() {
        if character.is_whitespace() {
            at += character.len_utf8();
            continue;
        }
        let (token, length) = next(text, at, thousands, placed.last())?;
        placed.push(Placed { token, at });
        at += length;
    }
    // A sentence may end as sentences do.
    if placed.last().is_some_and(|last| last.token == Token::Word(".".to_owned())) {
        placed.pop();
    }
    Ok(placed)
}

fn next(text: &str, at: usize, thousands: Thousands, last: Option<&Placed>) -> Result<(Token, usize), ParseError> {
    let rest = &text[at..];
    let error = |message: String| ParseError { at, message };
    let first = rest.chars().next().expect("the caller saw a character");
    let behind = &rest[first.len_utf8()..];
    if let Some(closing) = closing_mark(first) {
        let end = behind.find(closing).ok_or_else(|| error(format!("the quotation ends nowhere: write {closing}")))?;
        let name = &behind[..end];
        if name.trim().is_empty() || name.contains('"') {
            return Err(error("a quotation holds a name, and no other quotation mark".to_owned()));
        }
        return Ok((Token::Quoted(name.to_owned()), first.len_utf8() + end + closing.len_utf8()));
    }
    if number::leading(rest) > 0 && (first.is_ascii_digit() || starts_decimals(rest)) {
        return number(rest, thousands).map_err(error);
    }
    // A hyphen right between two numbers means from one to the other; a difference has blanks.
    let follows_number = matches!(last, Some(Placed { token: Token::Number(_), .. }));
    let is_tight = !text[..at].ends_with(char::is_whitespace) && behind.starts_with(|next: char| next.is_ascii_digit());
    if first == '-' && follows_number && is_tight {
        return Ok((Token::Sign(Sign::To), 1));
    }
    // What divides has blanks on both sides or on none; before a path there is one.
    let is_apart = at == 0 || text[..at].ends_with(char::is_whitespace);
    let is_path = first == '/'
        && behind.starts_with(char::is_alphabetic)
        && (is_apart || last.is_none())
        && !matches!(last, Some(Placed { token: Token::Number(_) | Token::Sign(Sign::Close), .. }));
    if !is_path && let Some((sign, meaning)) = SIGNS.iter().find(|(sign, _)| rest.starts_with(sign)) {
        return Ok((Token::Sign(*meaning), sign.len()));
    }
    if first == ',' {
        return Ok((Token::Sign(Sign::Comma), 1));
    }
    if first == ':' && behind.starts_with(char::is_whitespace) {
        return Ok((Token::Sign(Sign::Equal), 1));
    }
    if first == '.' || first == ':' {
        let what = if first == '.' && rest.len() == 1 { Ok((Token::Word(".".to_owned()), 1)) } else { Err(()) };
        return what.map_err(|()| error(format!("\"{first}\" means nothing here: leave it out")));
    }
    if !is_path && !first.is_alphabetic() && first != '_' {
        return Err(error(format!("\"{first}\" means nothing here: quote what is a name, as in \"a {first} b\"")));
    }
    word(rest).map_err(error)
}

const fn closing_mark(opening: char) -> Option<char> {
    match opening {
        '"' => Some('"'),
        '\u{201c}' => Some('\u{201d}'),
        '\u{ab}' => Some('\u{bb}'),
        '`' => Some('`'),
        _ => None,
    }
}

fn starts_decimals(rest: &str) -> bool {
    rest.starts_with('.') && rest[1..].starts_with(|next: char| next.is_ascii_digit())
}

/// A number with what belongs to it; or a word that begins with digits.
fn number(rest: &str, thousands: Thousands) -> Result<(Token, usize), String> {
    let length = number::leading(rest);
    let attached = &rest[length..];
    let found = |numeral, letter, unit, length| Ok((Token::Number(Number::new(numeral, letter, unit)), length));
    if let Some(clock) = clock(rest, thousands) {
        return Ok(clock);
    }
    if let Some((unit, taken)) = unit::leading(attached) {
        return found(number::read(&rest[..length], thousands)?, None, unit, length + taken);
    }
    let letters = attached.find(|next: char| !(next.is_alphanumeric() || next == '_')).unwrap_or(attached.len());
    let letter = match &attached[..letters] {
        "" => None,
        "k" => Some('k'),
        "K" => Some('K'),
        "M" => Some('M'),
        "G" => Some('G'),
        _ if rest.as_bytes()[0].is_ascii_digit() => return word(rest),
        _ => return Err("write a blank between the number and the word behind it".to_owned()),
    };
    let numeral = number::read(&rest[..length], thousands)?;
    let end = length + usize::from(letter.is_some());
    let behind = rest[end..].trim_start();
    match unit::leading(behind) {
        Some((unit, taken)) if !is_operator(unit, behind, taken) => {
            found(numeral, letter, unit, rest.len() - behind.len() + taken)
        }
        _ => found(numeral, letter, &unit::PLAIN, end),
    }
}

/// `3 × 4` multiplies, where `3×` and `3 x faster` are factors.
fn is_operator(unit: &Unit, behind: &str, taken: usize) -> bool {
    unit.kind == Kind::Times
        && matches!(&behind[..taken], "x" | "×")
        && behind[taken..].trim_start().starts_with(|next: char| next.is_ascii_digit() || next == '(')
}

/// A time in hours, minutes and seconds; `None` of what has but one of them.
fn clock(rest: &str, thousands: Thousands) -> Option<(Token, usize)> {
    let mut parts: Vec<(number::Numeral, &'static Unit)> = Vec::new();
    let mut at = 0;
    loop {
        let begin = at + (rest[at..].len() - rest[at..].trim_start().len());
        let length = number::leading(&rest[begin..]);
        if length == 0 {
            break;
        }
        let numeral = number::read(&rest[begin..begin + length], thousands).ok()?;
        let behind = rest[begin + length..].trim_start();
        let letters = behind.bytes().take_while(u8::is_ascii_alphabetic).count();
        let word = &behind[..letters];
        let is = |unit: &Unit| unit.spellings.contains(&word);
        let before = parts.last().map(|(_, unit)| unit.name());
        let unit: &'static Unit = match before {
            None if is(&unit::HOURS) => &unit::HOURS,
            None | Some("h") if is(&unit::MINUTES) || word == "m" => &unit::MINUTES,
            Some(_) if is(&unit::SECONDS) => &unit::SECONDS,
            _ => break,
        };
        parts.push((numeral, unit));
        at = rest.len() - behind.len() + letters;
        if unit.name() == unit::SECONDS.name() {
            break;
        }
    }
    match parts.as_slice() {
        [(minutes, _)] if rest[..at].ends_with('m') => {
            Some((Token::Number(Number::new(minutes.clone(), None, &unit::MINUTES)), at))
        }
        [] | [_] => None,
        several => Number::of_clock(several).map(|number| (Token::Number(number), at)),
    }
}

/// A word, or a number that is written as one.
fn word(rest: &str) -> Result<(Token, usize), String> {
    let is_path = rest.starts_with('/');
    let goes_on = |character: char| {
        character.is_alphanumeric()
            || matches!(character, '-' | '_' | '.' | '\'' | '’')
            || (is_path && character == '/')
    };
    let mut length = rest.find(|character| !goes_on(character)).unwrap_or(rest.len());
    for special in ["I/Os", "I/O"] {
        if rest.get(..special.len()).is_some_and(|start| start.eq_ignore_ascii_case(special)) {
            length = length.max(special.len());
        }
    }
    let word = rest[..length].trim_end_matches(['.', '-', '\'', '’']);
    // "P30's IOPS" are those of P30.
    let length = word.len();
    let word = word.strip_suffix("'s").or_else(|| word.strip_suffix("’s")).unwrap_or(word);
    if word.is_empty() {
        return Err("a word is missing".to_owned());
    }
    let lower = word.to_lowercase();
    let Some((_, value, unit)) = NUMBER_WORDS.iter().find(|(name, ..)| *name == lower) else {
        return Ok((Token::Word(word.to_owned()), length));
    };
    let numeral = number::Numeral::of_word(&lower, *value);
    let behind = rest[length..].trim_start();
    match unit::leading(behind) {
        Some((behind_it, taken)) if unit.kind == Kind::Scale => {
            Ok((Token::Number(Number::new(numeral, None, behind_it)), rest.len() - behind.len() + taken))
        }
        _ => Ok((Token::Number(Number::new(numeral, None, unit)), length)),
    }
}
