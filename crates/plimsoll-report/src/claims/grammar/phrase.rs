//! The name of a figure: what it is and of what, in any order.

use super::{Parsed, Parser, Phrase, Sign, Token};
use crate::claims::{
    number::Number,
    unit::Kind,
    words::{self, Aggregate, Direction, Expected, Figure, Level, Meaning, Threads},
};

impl Parser<'_> {
    /// Whether a name begins here.
    pub(super) fn begins_phrase(&self) -> bool {
        match self.peek() {
            Some(Token::Quoted(_) | Token::Sign(Sign::Open)) => true,
            Some(Token::Word(word)) => !words::ends_a_name(&word.to_lowercase()) && !self.begins_by(),
            _ => false,
        }
    }

    /// "by 40 %", "by a factor of 4".
    fn begins_by(&self) -> bool {
        self.is_word(0, "by")
            && (matches!(self.tokens.get(self.next + 1).map(|placed| &placed.token), Some(Token::Number(_)))
                || self.is_word(1, "a")
                || self.is_word(1, "about")
                || self.is_word(1, "more"))
    }

    /// "at least 4", "over 60", "up to 5".
    pub(super) fn begins_bound(&self) -> bool {
        let number = |ahead: usize| {
            matches!(self.tokens.get(self.next + ahead).map(|placed| &placed.token), Some(Token::Number(_)))
        };
        match self.word(0).as_deref() {
            Some("at") => self.is_word(1, "least") || self.is_word(1, "most"),
            Some("over" | "under") => number(1),
            Some("up") => self.is_word(1, "to"),
            _ => false,
        }
    }

    /// The name of a figure, which is not empty.
    pub(super) fn phrase(&mut self) -> Parsed<Phrase> {
        let begin = self.next;
        let phrase = self.words_of_phrase()?;
        if phrase.is_empty() {
            self.next = begin;
            return Err(self.unexpected("a number or the name of a figure"));
        }
        Ok(phrase)
    }

    pub(super) fn words_of_phrase(&mut self) -> Parsed<Phrase> {
        let mut phrase = Phrase::default();
        let mut is_alternative = false;
        loop {
            if let Some(selected) = self.selected(&phrase) {
                match phrase.selection.last_mut().filter(|_| is_alternative) {
                    Some(alternatives) => alternatives.push(selected),
                    None => phrase.selection.push(vec![selected]),
                }
                is_alternative = !phrase.selection.is_empty() && self.is_word(0, "or");
                self.next += usize::from(is_alternative);
                continue;
            }
            if is_alternative {
                return Err(self.unexpected("another name behind \"or\""));
            }
            if self.begins_bound() || self.begins_by() {
                break;
            }
            let ahead = self.ahead();
            match words::meaning(&ahead) {
                Some((meaning, length)) => {
                    self.mean(meaning, &mut phrase)?;
                    self.next += length;
                    self.after(meaning, &mut phrase)?;
                }
                None => break,
            }
        }
        if phrase.threads == Some(Threads::All)
            && phrase.figure.is_none()
            && matches!(phrase.aggregate, None | Some(Aggregate::Count))
        {
            (phrase.threads, phrase.aggregate, phrase.figure) = (None, None, Some(Figure::Threads));
        }
        Ok(phrase)
    }

    /// A word of a name that means nothing in the language, so that it selects.
    fn selected(&mut self, phrase: &Phrase) -> Option<String> {
        let selected = match self.peek()? {
            Token::Quoted(text) => text.clone(),
            Token::Word(word) => {
                let lower = word.to_lowercase();
                let ahead = self.ahead();
                if !words::is_disk(word) && (words::ends_a_name(&lower) || words::meaning(&ahead).is_some()) {
                    return None;
                }
                word.clone()
            }
            // A size stands in the name of a workload: "aci 10 MiB", "randread 4k".
            Token::Number(number) if !phrase.is_empty() && names(number) => number.size.clone()?,
            Token::Number(_) | Token::Sign(_) => return None,
        };
        self.next += 1;
        Some(selected)
    }

    fn mean(&self, meaning: Meaning, phrase: &mut Phrase) -> Parsed<()> {
        let twice =
            |what: &str| Err(self.error(format!("two {what} in one name: write them apart, or quote the second")));
        match meaning {
            Meaning::Figure(figure) => match phrase.figure {
                Some(Figure::Percentile(_)) if figure == Figure::Latency => {}
                Some(Figure::Latency) if matches!(figure, Figure::Percentile(_)) => phrase.figure = Some(figure),
                Some(_) => return twice("figures"),
                None => phrase.figure = Some(figure),
            },
            Meaning::Aggregate(aggregate) if phrase.aggregate.is_none_or(|before| before == aggregate) => {
                phrase.aggregate = Some(aggregate);
            }
            Meaning::Aggregate(_) => return twice("aggregates"),
            Meaning::Direction(direction) => match phrase.direction {
                None | Some(Direction::Total) => phrase.direction = Some(direction),
                Some(_) if direction == Direction::Total => {}
                Some(before) if before == direction => {}
                Some(_) => phrase.direction = Some(Direction::Each),
            },
            Meaning::Threads(threads) => phrase.threads = phrase.threads.or(Some(threads)),
            Meaning::OnlyThreads(threads) => phrase.threads = Some(threads),
            Meaning::Expected(expected) => phrase.expected = Some(expected),
            Meaning::Each | Meaning::Filler => {}
        }
        Ok(())
    }

    /// What may follow only here.
    fn after(&mut self, meaning: Meaning, phrase: &mut Phrase) -> Parsed<()> {
        match meaning {
            Meaning::Each => self.each = true,
            Meaning::OnlyThreads(_) if !self.take_any(&["threads", "thread"]) => {
                return Err(self.unexpected("\"threads\""));
            }
            Meaning::Threads(_) => {
                let number =
                    self.number().filter(|number| number.is_plain() && number.value.fract().abs() < f64::EPSILON);
                if let Some(number) = number {
                    phrase.threads = Some(Threads::One(number.value as usize));
                    self.next += 1;
                }
            }
            Meaning::Expected(Expected::Catalog(_)) => {
                if let Some(level) = self.word(0).as_deref().and_then(level) {
                    phrase.expected = Some(Expected::Catalog(level));
                    self.next += 1;
                }
            }
            // "reads and writes"
            Meaning::Direction(Direction::Read | Direction::Write) if self.is_word(0, "and") => {
                let ahead: Vec<String> = self.word(1).into_iter().collect();
                if let Some((Meaning::Direction(other), _)) = words::meaning(&ahead)
                    && matches!(other, Direction::Read | Direction::Write)
                {
                    phrase.direction = Some(if phrase.direction == Some(other) { other } else { Direction::Each });
                    self.next += 2;
                }
            }
            _ => {}
        }
        Ok(())
    }
}

/// Whether a number stands in the name of a workload.
fn names(number: &Number) -> bool {
    number.size.is_some()
        && (number.is_plain() || number.unit.kind == Kind::Ambiguous || number.unit.dimension.bytes == 1)
}

fn level(word: &str) -> Option<Level> {
    match word {
        "burst" => Some(Level::Burst),
        "machine" | "vm" => Some(Level::Machine),
        "cached" => Some(Level::Cached),
        "sustained" | "base" | "baseline" => Some(Level::Sustained),
        _ => None,
    }
}
