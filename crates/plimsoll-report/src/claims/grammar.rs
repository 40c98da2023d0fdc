//! From words to a statement: recursive descent, one function a rule. `docs/claims.md` has the grammar.

use super::{
    ParseError,
    number::{Number, Thousands},
    statement::{Bound, Clause, Expression, Operator, Phrase, Relation, Statement},
    token::{self, Placed, Sign, Token},
    unit::{Dimension, Kind},
    words::{self, Meaning},
};

mod phrase;
mod relation;

/// How deep parentheses may go.
const DEPTH_MAX: usize = 32;
/// More pieces than any sentence has.
const TOKENS_MAX: usize = 400;

/// Reads a statement.
pub(super) fn statement(text: &str, thousands: Thousands) -> Result<Statement, ParseError> {
    let tokens = token::tokens(text.trim_end(), thousands)?;
    if tokens.len() > TOKENS_MAX {
        return Err(ParseError { at: 0, message: format!("a statement has at most {TOKENS_MAX} words") });
    }
    let mut parser =
        Parser { text, tokens: &tokens, end: text.trim_end().len(), next: 0, depth: 0, each: false, goes_on: false };
    parser.statement()
}

/// Whether a text that is no statement speaks of a figure at all.
pub(super) fn names_a_figure(text: &str, thousands: Thousands) -> bool {
    let Ok(tokens) = token::tokens(text, thousands) else { return false };
    tokens.iter().any(|placed| match &placed.token {
        Token::Number(number) => number.unit.dimension != Dimension::PLAIN,
        Token::Word(word) => {
            matches!(words::meaning(&[word.to_lowercase()]), Some((Meaning::Figure(_) | Meaning::Direction(_), _)))
        }
        Token::Quoted(_) | Token::Sign(_) => false,
    })
}

/// Where reading is.
struct Parser<'a> {
    text: &'a str,
    tokens: &'a [Placed],
    /// Where the text ends.
    end: usize,
    next: usize,
    depth: usize,
    /// Whether the clause is said of every workload.
    each: bool,
    /// Whether another figure of the same subject follows: "5000 IOPS with a latency of 2 ms".
    goes_on: bool,
}

type Parsed<T> = Result<T, ParseError>;

impl<'a> Parser<'a> {
    fn statement(&mut self) -> Parsed<Statement> {
        let mut clauses: Vec<Clause> = Vec::new();
        loop {
            let clause = self.clause(clauses.last())?;
            clauses.push(clause);
            if self.goes_on {
                continue;
            }
            let joined = self.take_sign(Sign::Semicolon) || self.take_sign(Sign::Comma);
            if !(self.take_any(&["and", "but", "while"]) || joined) {
                break;
            }
        }
        match self.peek() {
            None => Ok(Statement { clauses }),
            Some(_) => Err(self.unexpected("the end, or \"and\" with another statement")),
        }
    }

    fn clause(&mut self, before: Option<&Clause>) -> Parsed<Clause> {
        self.each = false;
        let goes_on = std::mem::take(&mut self.goes_on);
        let subject = match before {
            Some(before) if goes_on => self.other_figure(&before.subject)?,
            // "A is faster than B and slower than C".
            Some(before) if self.begins_relation() => before.subject.clone(),
            _ => self.subject()?,
        };
        let mut clause = Clause { each: false, subject, relation: Relation::Extreme(words::Aggregate::Mean, None) };
        clause.relation = self.relation(&mut clause.subject)?;
        self.quantifier();
        clause.each = self.each;
        if clause.phrases().is_empty() {
            return Err(ParseError { at: 0, message: "no figure of the data is named".to_owned() });
        }
        Ok(clause)
    }

    /// What something is said of. "A writes 109 GB": a size at its end is no name when nothing else is said.
    fn subject(&mut self) -> Parsed<Expression> {
        let mut subject = self.expression()?;
        let ends = self.peek().is_none() || self.is_word(0, "and") || matches!(self.peek(), Some(Token::Sign(_)));
        if let Expression::Phrase(phrase) = &mut subject
            && ends
            && !self.begins_relation_sign()
            && let Some(Token::Number(number)) = self.tokens.get(self.next.wrapping_sub(1)).map(|placed| &placed.token)
            && phrase
                .selection
                .last()
                .is_some_and(|last| number.size.as_ref().is_some_and(|size| *last == [size.clone()]))
        {
            phrase.selection.pop();
            self.next -= 1;
        }
        Ok(subject)
    }

    /// "in every workload" at the end.
    fn quantifier(&mut self) {
        let begin = self.next;
        while let Some((meaning, length)) = words::meaning(&self.ahead()) {
            match meaning {
                Meaning::Filler => self.next += length,
                Meaning::Each => {
                    self.next += length;
                    self.each = true;
                    return;
                }
                _ => break,
            }
        }
        self.next = begin;
    }

    /// The next words, as many as may mean something together.
    fn ahead(&self) -> Vec<String> {
        const WORDS_MAX: usize = 3;
        (0..WORDS_MAX).map_while(|ahead| self.word(ahead)).collect()
    }

    /// Another figure of what a clause was about.
    fn other_figure(&mut self, before: &Expression) -> Parsed<Expression> {
        let mut phrase = self.phrase()?;
        if let Expression::Phrase(before) = before {
            phrase.selection.clone_from(&before.selection);
        }
        Ok(Expression::Phrase(phrase))
    }

    /// `term (("+" | "-") term)*`
    fn expression(&mut self) -> Parsed<Expression> {
        let mut left = self.term()?;
        loop {
            let operator = if self.take_sign(Sign::Plus) {
                Operator::Add
            } else if self.take_sign(Sign::Minus) {
                Operator::Subtract
            } else {
                return Ok(left);
            };
            left = Expression::Binary(Box::new(left), operator, Box::new(self.term()?));
        }
    }

    /// `factor (("*" | "/") factor)*`
    fn term(&mut self) -> Parsed<Expression> {
        let mut left = self.factor()?;
        loop {
            let operator = if self.take_sign(Sign::Times) {
                Operator::Multiply
            } else if self.take_sign(Sign::Per) {
                Operator::Divide
            } else {
                return Ok(left);
            };
            left = Expression::Binary(Box::new(left), operator, Box::new(self.factor()?));
        }
    }

    /// `"(" expression ")" | "-" factor | number | factor "times" figure | figure`
    fn factor(&mut self) -> Parsed<Expression> {
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            return Err(self.error("parentheses go too deep"));
        }
        let factor = self.factor_within();
        self.depth -= 1;
        factor
    }

    fn factor_within(&mut self) -> Parsed<Expression> {
        if self.take_sign(Sign::Open) {
            let inner = self.expression()?;
            return if self.take_sign(Sign::Close) { Ok(inner) } else { Err(self.unexpected("\")\"")) };
        }
        if self.take_sign(Sign::Minus) {
            return Ok(Expression::Negative(Box::new(self.factor()?)));
        }
        let Some(Token::Number(number)) = self.peek() else {
            return self.phrase().map(Expression::Phrase);
        };
        let number = self.literal(number)?;
        // "4 times B", "40 % of B".
        let is_share = match number.unit.kind {
            Kind::Times => self.begins_phrase(),
            Kind::Percent => self.is_word(0, "of"),
            Kind::Scale | Kind::Orders | Kind::Ambiguous => false,
        };
        if !is_share {
            return Ok(Expression::Number(number));
        }
        if self.is_word(0, "of") {
            self.next += 1;
        }
        let of = if matches!(self.peek(), Some(Token::Sign(Sign::Open))) {
            self.factor()?
        } else {
            Expression::Phrase(self.phrase()?)
        };
        Ok(Expression::Binary(Box::new(Expression::Number(number)), Operator::Multiply, Box::new(of)))
    }

    /// A number whose unit is known.
    fn literal(&mut self, number: &Number) -> Parsed<Number> {
        if number.unit.kind == Kind::Ambiguous {
            return Err(self.error("Mb and kb may be bits or bytes: write MB, MiB or Mbit"));
        }
        self.next += 1;
        Ok(number.clone())
    }

    fn peek(&self) -> Option<&'a Token> {
        self.tokens.get(self.next).map(|placed| &placed.token)
    }

    fn number(&self) -> Option<&'a Number> {
        match self.peek() {
            Some(Token::Number(number)) => Some(number),
            _ => None,
        }
    }

    /// The word so many pieces ahead, in lower case.
    fn word(&self, ahead: usize) -> Option<String> {
        match self.tokens.get(self.next + ahead).map(|placed| &placed.token) {
            Some(Token::Word(word)) => Some(word.to_lowercase()),
            _ => None,
        }
    }

    fn is_word(&self, ahead: usize, word: &str) -> bool {
        self.word(ahead).is_some_and(|found| found == word)
    }

    fn take_any(&mut self, words: &[&str]) -> bool {
        let is_one = self.word(0).is_some_and(|word| words.contains(&word.as_str()));
        self.next += usize::from(is_one);
        is_one
    }

    fn take_sign(&mut self, sign: Sign) -> bool {
        let is_it = self.peek() == Some(&Token::Sign(sign));
        self.next += usize::from(is_it);
        is_it
    }

    fn error(&self, message: impl Into<String>) -> ParseError {
        let at = self.tokens.get(self.next).map_or(self.end, |placed| placed.at);
        ParseError { at, message: message.into() }
    }

    fn unexpected(&self, expected: &str) -> ParseError {
        let found = match self.peek() {
            None => "the end".to_owned(),
            Some(Token::Number(number)) => format!("\"{number}\""),
            Some(Token::Word(word) | Token::Quoted(word)) => format!("\"{word}\""),
            Some(Token::Sign(_)) => format!("\"{}\"", token::sign(&self.text[self.tokens[self.next].at..])),
        };
        self.error(format!("{found} where {expected} was expected"))
    }
}
