//! What is said of a subject.

use super::{Bound, Expression, Number, Parsed, Parser, Relation, Sign, Token};
use crate::claims::{
    statement::{Claim, Comparator, Phrase, Sense},
    unit::{self, Kind},
    words::{self, Aggregate, Meaning, VERBS},
};

impl Parser<'_> {
    /// Whether what comes is said of something, and is not something itself.
    pub(super) fn begins_relation(&self) -> bool {
        match self.peek() {
            Some(Token::Sign(sign)) => bound_of(*sign).is_some(),
            Some(Token::Word(word)) => words::ends_a_name(&word.to_lowercase()) || self.begins_bound(),
            _ => false,
        }
    }

    /// Whether a sign comes that says how a number is meant.
    pub(super) fn begins_relation_sign(&self) -> bool {
        matches!(self.peek(), Some(Token::Sign(sign)) if bound_of(*sign).is_some())
    }

    pub(super) fn relation(&mut self, subject: &mut Expression) -> Parsed<Relation> {
        if self.take_any(&["outperforms", "outperformed", "beats", "beat"]) {
            return self.compared(Sense::Faster);
        }
        if self.take_any(&["exceeds"]) {
            return self.compared(Sense::Higher);
        }
        let has_verb = self.take_any(VERBS);
        self.modifiers(subject)?;
        self.heading(subject)?;
        if self.is_word(0, "not") {
            return Err(self.error("negations are not understood: say what is the case instead"));
        }
        if let Some(sameness) = self.sameness()? {
            return Ok(sameness);
        }
        if let Some(extreme) = self.extreme(subject)? {
            return Ok(extreme);
        }
        if self.take_any(&["between"]) || (self.is_word(0, "from") && self.next_is_number() && self.take_any(&["from"]))
        {
            let low = self.expression()?;
            if !(self.take_any(&["and", "to"]) || self.take_sign(Sign::To)) {
                return Err(self.unexpected("\"and\" with the upper end"));
            }
            let high = self.expression()?;
            return self.within(low, high, subject);
        }
        let bound = self.bound()?;
        if let Some((sense, is_share)) = self.comparator(subject)? {
            return match bound {
                None if is_share => self.expression().map(|other| Relation::Same(true, other)),
                None => self.compared(sense),
                Some(_) => Err(self.unexpected("a number")),
            };
        }
        if bound.is_none() && !has_verb && self.number().is_none() {
            return Err(self.error(
                "nothing is said of a figure here: write what, as in ... is 4 times faster than ..., or ... = 500 IOPS",
            ));
        }
        let amount = self.expression()?;
        // "3 to 4 times", but not "3 s to restore".
        if self.take_sign(Sign::To) || (self.next_is_number() && self.take_any(&["to"])) {
            let high = self.expression()?;
            return self.within(amount, high, subject);
        }
        let bound = bound.unwrap_or(Bound::Exactly);
        if let Expression::Number(number) = &amount
            && let Some((sense, is_share)) = self.comparator(subject)?
        {
            return self.ratio(Claim::One(bound, number.clone()), sense, is_share);
        }
        self.trailing(subject)?;
        Ok(Relation::Amount(bound, amount))
    }

    /// "consistently", "on average", "only" before what is said.
    fn modifiers(&mut self, subject: &mut Expression) -> Parsed<()> {
        loop {
            let is_extreme = self.is_word(0, "the") || self.begins_bound();
            let ahead = self.ahead();
            match words::meaning(&ahead) {
                Some((Meaning::Each, length)) => {
                    self.each = true;
                    self.next += length;
                }
                Some((Meaning::Aggregate(Aggregate::Mean), 2)) => {
                    set_average(subject);
                    self.next += 2;
                }
                Some((Meaning::Filler, 1)) if !is_extreme && ahead[0] != "from" => self.next += 1,
                _ => return Ok(()),
            }
        }
    }

    /// What stands before an amount: "has a p99 latency of 5 ms", "took an average time of 3h 14m".
    fn heading(&mut self, subject: &mut Expression) -> Parsed<()> {
        let begin = self.next;
        let phrase = self.words_of_phrase();
        let is_amount = self.number().is_some() || self.begins_bound() || self.is_word(0, "about");
        match phrase {
            Ok(phrase) if is_amount && !phrase.is_empty() && phrase.selection.is_empty() => {
                self.complete(subject, phrase)
            }
            _ => {
                self.next = begin;
                Ok(())
            }
        }
    }

    /// Says of a subject what was said elsewhere in the sentence: which figure it is about.
    fn complete(&self, subject: &mut Expression, phrase: Phrase) -> Parsed<()> {
        let Phrase { aggregate, direction, figure, expected, threads, mut selection } = phrase;
        let Expression::Phrase(name) = subject else {
            return Err(self.unexpected("the end"));
        };
        if expected.is_some() || threads.is_some() {
            return Err(self.error("names stand before the number: write what it is of first"));
        }
        name.aggregate = name.aggregate.or(aggregate);
        name.direction = name.direction.or(direction);
        name.figure = name.figure.or(figure);
        name.selection.append(&mut selection);
        Ok(())
    }

    /// What stands behind an amount: "0.4 ms read latency", "3h 14m on average"; or what begins another one: "5000 IOPS
    /// with a latency of 2 ms".
    fn trailing(&mut self, subject: &mut Expression) -> Parsed<()> {
        let at = self.next;
        let phrase = self.words_of_phrase()?;
        if phrase.is_empty() {
            return Ok(());
        }
        let goes_on = self.number().is_some() || self.begins_bound();
        if goes_on && phrase.figure.is_some() {
            self.next = at;
            self.goes_on = true;
            return Ok(());
        }
        let end = std::mem::replace(&mut self.next, at);
        self.complete(subject, phrase)?;
        self.next = end;
        Ok(())
    }

    /// "faster than B", perhaps "by a factor of 4".
    fn compared(&mut self, sense: Sense) -> Parsed<Relation> {
        let than = self.expression()?;
        if !self.take_any(&["by"]) {
            return Ok(Relation::Compare(Comparator { direction: sense, is_share: false }, than));
        }
        self.take_any(&["a"]);
        let is_factor = self.take_any(&["factor"]);
        self.take_any(&["of"]);
        let bound = self.bound()?.unwrap_or(Bound::Exactly);
        let Some(number) = self.number() else { return Err(self.unexpected("a number")) };
        let mut number = self.literal(number)?;
        if number.is_plain() && is_factor {
            number = number.in_unit_of(&Number::new(
                crate::claims::number::Numeral::of_word("one", 1.0),
                None,
                &unit::TIMES,
            ));
        }
        self.check_ratio(&number)?;
        let comparator = Comparator { direction: sense, is_share: false };
        Ok(Relation::Ratio { claim: Claim::One(bound, number), comparator, than })
    }

    fn within(&mut self, low: Expression, high: Expression, subject: &mut Expression) -> Parsed<Relation> {
        let (low, high) = match (low, high) {
            (Expression::Number(low), Expression::Number(high)) => (low.in_unit_of(&high), high),
            (low, high) => return Ok(Relation::Within(low, high)),
        };
        if let Some((sense, is_share)) = self.comparator(subject)? {
            return self.ratio(Claim::Between(low, high), sense, is_share);
        }
        self.trailing(subject)?;
        Ok(Relation::Within(Expression::Number(low), Expression::Number(high)))
    }

    fn ratio(&mut self, claim: Claim, direction: Sense, is_share: bool) -> Parsed<Relation> {
        match &claim {
            Claim::One(_, number) => self.check_ratio(number)?,
            Claim::Between(low, high) => {
                self.check_ratio(low)?;
                self.check_ratio(high)?;
            }
        }
        let than = self.expression()?;
        Ok(Relation::Ratio { claim, comparator: Comparator { direction, is_share }, than })
    }

    fn check_ratio(&self, number: &Number) -> Parsed<()> {
        match number.unit.kind {
            Kind::Percent | Kind::Times | Kind::Orders => Ok(()),
            Kind::Scale | Kind::Ambiguous => {
                Err(self.error(format!("{number} is no ratio: write {number} times or {number} %")))
            }
        }
    }

    /// "faster than", "as much as", "a lower latency than": the sense, and whether it is a share.
    fn comparator(&mut self, subject: &mut Expression) -> Parsed<Option<(Sense, bool)>> {
        let begin = self.next;
        self.take_any(&["a"]);
        let is_share = self.take_any(&["as"]);
        let first = self.word(0).unwrap_or_default();
        let sense = match (is_share, first.as_str()) {
            (false, "faster" | "quicker" | "better") | (true, "fast" | "quick" | "good") => Sense::Faster,
            (false, "slower" | "worse") | (true, "slow" | "bad") => Sense::Slower,
            (false, "more" | "higher" | "larger" | "greater" | "longer" | "bigger")
            | (true, "much" | "many" | "high" | "large" | "long") => Sense::Higher,
            (false, "less" | "lower" | "smaller" | "shorter" | "fewer") | (true, "little" | "low" | "short") => {
                Sense::Lower
            }
            _ => {
                self.next = begin;
                return Ok(None);
            }
        };
        self.next += 1;
        let join = if is_share { "as" } else { "than" };
        // "more IOPS than", "slower on average than"; "more performance than" says nothing more.
        let noun = if self.is_word(1, join) && !self.knows(0) { 1 } else { 0 };
        let phrase = if noun == 0 { self.words_of_phrase()? } else { Phrase::default() };
        if !self.is_word(noun, join) {
            self.next = begin;
            return Ok(None);
        }
        if !phrase.is_empty() {
            self.complete(subject, phrase)?;
        }
        self.next += noun + 1;
        Ok(Some((sense, is_share)))
    }

    /// Whether a word so many pieces ahead is one of the language.
    fn knows(&self, ahead: usize) -> bool {
        self.word(ahead).is_some_and(|word| words::meaning(&[word]).is_some())
    }

    fn sameness(&mut self) -> Parsed<Option<Relation>> {
        let begin = self.next;
        self.take_any(&["the"]);
        let is_same = if self.take_any(&["same", "identical", "equal"]) {
            true
        } else if self.take_any(&["different", "differs"]) {
            false
        } else {
            self.next = begin;
            return Ok(None);
        };
        let joins: &[&str] = if is_same { &["as", "to"] } else { &["from", "than"] };
        if !self.take_any(joins) {
            return Err(self.unexpected(if is_same { "\"as\"" } else { "\"from\"" }));
        }
        Ok(Some(Relation::Same(is_same, self.expression()?)))
    }

    /// "the fastest", "the lowest of A or B"; "more consistent than".
    fn extreme(&mut self, subject: &mut Expression) -> Parsed<Option<Relation>> {
        if (self.is_word(0, "more") || self.is_word(0, "less")) && self.is_word(1, "consistent") {
            let is_more = self.is_word(0, "more");
            self.next += 2;
            if !self.take_any(&["than"]) {
                return Err(self.unexpected("\"than\""));
            }
            return Ok(Some(Relation::Consistent { is_more, than: self.expression()? }));
        }
        let begin = self.next;
        self.take_any(&["the"]);
        let extreme = match words::meaning(&self.word(0).into_iter().collect::<Vec<_>>()) {
            Some((Meaning::Aggregate(extreme), _)) => Some(extreme),
            _ => None,
        };
        let is_one = |extreme: &Aggregate| {
            matches!(extreme, Aggregate::Fastest | Aggregate::Slowest | Aggregate::Highest | Aggregate::Lowest)
        };
        let Some(extreme) = extreme.filter(is_one) else {
            self.next = begin;
            return Ok(None);
        };
        self.next += 1;
        // "the fastest of A or B" says of which; "the fastest for writing" says what the subject is.
        let says_of_which = self.is_word(0, "of");
        let phrase = self.words_of_phrase()?;
        if says_of_which && !phrase.is_empty() {
            return Ok(Some(Relation::Extreme(extreme, Some(phrase))));
        }
        if !phrase.is_empty() {
            self.complete(subject, phrase)?;
        }
        Ok(Some(Relation::Extreme(extreme, None)))
    }

    fn next_is_number(&self) -> bool {
        matches!(self.tokens.get(self.next + 1).map(|placed| &placed.token), Some(Token::Number(_)))
    }

    /// How a number is meant. "more than" is a bound before a number only.
    fn bound(&mut self) -> Parsed<Option<Bound>> {
        if let Some(Token::Sign(sign)) = self.peek()
            && let Some(bound) = bound_of(*sign)
        {
            self.next += 1;
            return Ok(Some(bound));
        }
        let than_number = self.is_word(1, "than")
            && matches!(self.tokens.get(self.next + 2).map(|placed| &placed.token), Some(Token::Number(_)));
        let (bound, length) = match self.word(0).as_deref() {
            Some("more" | "greater" | "higher" | "larger" | "longer" | "faster") if than_number => (Bound::More, 2),
            Some("less" | "lower" | "smaller" | "shorter" | "fewer") if than_number => (Bound::Less, 2),
            Some("over" | "above") => (Bound::More, 1),
            Some("under" | "below") => (Bound::Less, 1),
            Some("at") if self.is_word(1, "least") => (Bound::AtLeast, 2),
            Some("at") if self.is_word(1, "most") => (Bound::AtMost, 2),
            Some("up") if self.is_word(1, "to") => (Bound::AtMost, 2),
            Some("about" | "roughly" | "around" | "approximately" | "nearly" | "almost") => (Bound::About, 1),
            Some("exactly" | "equals") => (Bound::Exactly, 1),
            _ => return Ok(None),
        };
        self.next += length;
        Ok(Some(bound))
    }
}

fn set_average(subject: &mut Expression) {
    if let Expression::Phrase(phrase) = subject {
        phrase.aggregate = phrase.aggregate.or(Some(Aggregate::Mean));
    }
}

const fn bound_of(sign: Sign) -> Option<Bound> {
    match sign {
        Sign::Equal => Some(Bound::Exactly),
        Sign::More => Some(Bound::More),
        Sign::Less => Some(Bound::Less),
        Sign::AtLeast => Some(Bound::AtLeast),
        Sign::AtMost => Some(Bound::AtMost),
        Sign::About => Some(Bound::About),
        _ => None,
    }
}
