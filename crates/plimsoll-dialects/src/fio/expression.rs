//! Arithmetic in values: `(4*1024)k`, `(60+30)s`; and, without units, around `$mb_memory` and its like.

use crate::problem::Wrong;

/// Nested parentheses, so that no input overflows the stack.
const DEPTH_MAX: usize = 64;

/// What a unit means: bytes and microseconds share letters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Quantity {
    /// `m` is 2^20.
    Bytes,
    /// `m` is a minute, in microseconds.
    Time,
}

/// The value of an expression.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Evaluated {
    /// Bytes or microseconds, or a bare number.
    pub(super) value: f64,
    /// Whether a unit was in it.
    pub(super) has_unit: bool,
}

/// Evaluates a whole expression.
pub(super) fn evaluate(text: &str, quantity: Quantity) -> Result<Evaluated, Wrong> {
    let mut parser = Parser { text, at: 0, quantity, has_unit: false, depth: 0 };
    let value = parser.sum()?;
    parser.skip_blanks();
    if parser.at < text.len() {
        return Err(parser.wrong("cannot be read from here on"));
    }
    if !value.is_finite() {
        return Err(Wrong::new(format!("\"{text}\" has no finite value")));
    }
    Ok(Evaluated { value, has_unit: parser.has_unit })
}

struct Parser<'a> {
    text: &'a str,
    at: usize,
    quantity: Quantity,
    has_unit: bool,
    depth: usize,
}

impl Parser<'_> {
    fn rest(&self) -> &str {
        &self.text[self.at..]
    }

    fn skip_blanks(&mut self) {
        self.at += self.rest().len() - self.rest().trim_start_matches([' ', '\t']).len();
    }

    fn takes(&mut self, operator: char) -> bool {
        self.skip_blanks();
        let found = self.rest().starts_with(operator);
        self.at += if found { operator.len_utf8() } else { 0 };
        found
    }

    fn wrong(&self, why: &str) -> Wrong {
        Wrong::new(format!("the expression \"{}\" {why}: \"{}\"", self.text, self.rest()))
            .instead("write it with numbers, units, + - * / % ^ and parentheses")
    }

    fn sum(&mut self) -> Result<f64, Wrong> {
        let mut value = self.product()?;
        loop {
            if self.takes('+') {
                value += self.product()?;
            } else if self.takes('-') {
                value -= self.product()?;
            } else {
                return Ok(value);
            }
        }
    }

    /// A unit is that of the whole product before it: `(8/2k)` is 4k.
    fn product(&mut self) -> Result<f64, Wrong> {
        let mut value = self.power()?;
        loop {
            if self.takes('*') {
                value *= self.power()?;
            } else if self.takes('/') {
                let divisor = self.power()?;
                value = self.divided(value, divisor)?;
            } else if let Some(scale) = self.unit() {
                self.has_unit = true;
                value *= scale;
            } else {
                return Ok(value);
            }
        }
    }

    /// Whole numbers divide as whole numbers.
    fn divided(&self, dividend: f64, divisor: f64) -> Result<f64, Wrong> {
        if divisor.abs() < 1e-20 {
            return Err(self.wrong("divides by zero"));
        }
        let quotient = dividend / divisor;
        Ok(if is_whole(dividend) && is_whole(divisor) { quotient.trunc() } else { quotient })
    }

    fn power(&mut self) -> Result<f64, Wrong> {
        let value = self.remainder()?;
        if self.takes('^') { self.nested(Self::power).map(|exponent| value.powf(exponent)) } else { Ok(value) }
    }

    fn remainder(&mut self) -> Result<f64, Wrong> {
        let mut value = self.signed()?;
        while self.takes('%') {
            let divisor = self.signed()?;
            if !is_whole(value) || !is_whole(divisor) || divisor.abs() < 1.0 {
                return Err(self.wrong("takes a remainder of what are not whole numbers"));
            }
            value %= divisor;
        }
        Ok(value)
    }

    fn signed(&mut self) -> Result<f64, Wrong> {
        if self.takes('-') { self.nested(Self::signed).map(|value| -value) } else { self.atom() }
    }

    fn atom(&mut self) -> Result<f64, Wrong> {
        if !self.takes('(') {
            return self.number();
        }
        let value = self.nested(Self::sum)?;
        if self.takes(')') { Ok(value) } else { Err(self.wrong("lacks a closing parenthesis")) }
    }

    fn nested(&mut self, part: fn(&mut Self) -> Result<f64, Wrong>) -> Result<f64, Wrong> {
        if self.depth == DEPTH_MAX {
            return Err(Wrong::new(format!("an expression is nested deeper than {DEPTH_MAX}")));
        }
        self.depth += 1;
        let value = part(self);
        self.depth -= 1;
        value
    }

    fn number(&mut self) -> Result<f64, Wrong> {
        let rest = self.rest();
        if let Some(digits) = rest.strip_prefix("0x").or_else(|| rest.strip_prefix("0X")) {
            let end = digits.find(|c: char| !c.is_ascii_hexdigit()).unwrap_or(digits.len());
            let number = u64::from_str_radix(&digits[..end], 16).map_err(|_| self.wrong("lacks a number"))?;
            self.at += 2 + end;
            return Ok(number as f64);
        }
        let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
        let number: f64 = rest[..end].parse().map_err(|_| self.wrong("lacks a number"))?;
        self.at += end;
        Ok(number)
    }

    fn unit(&mut self) -> Option<f64> {
        self.skip_blanks();
        let end = self.rest().find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(self.rest().len());
        let unit = self.rest()[..end].to_ascii_lowercase();
        let scale = match self.quantity {
            Quantity::Time => match unit.as_str() {
                "us" | "usec" => 1.0,
                "ms" | "msec" => 1e3,
                "s" => 1e6,
                "m" => 60e6,
                "h" => 3600e6,
                "d" => 86_400e6,
                _ => return None,
            },
            Quantity::Bytes => match unit.as_str() {
                "b" => 1.0,
                "k" | "kb" => 2_f64.powi(10),
                "m" | "mb" => 2_f64.powi(20),
                "g" | "gb" => 2_f64.powi(30),
                "t" | "tb" => 2_f64.powi(40),
                "p" | "pb" => 2_f64.powi(50),
                "kib" => 1e3,
                "mib" => 1e6,
                "gib" => 1e9,
                "tib" => 1e12,
                "pib" => 1e15,
                _ => return None,
            },
        };
        self.at += end;
        Some(scale)
    }
}

fn is_whole(value: f64) -> bool {
    value.fract().abs() < f64::MIN_POSITIVE
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(text: &str) -> Option<f64> {
        evaluate(text, Quantity::Bytes).ok().map(|evaluated| evaluated.value)
    }

    #[test]
    fn operators_bind_as_in_arithmetic_and_units_follow_numbers() {
        for (text, value) in [
            ("(4*1024)", 4096.0),
            ("(4*1024)k", 4_194_304.0),
            ("(2+3)*4", 20.0),
            ("(2^3^2)", 512.0),
            ("(7/2)", 3.0),
            ("(17 % 5)", 2.0),
            ("(-3 + 0x10)", 13.0),
            ("(1mib)", 1e6),
            ("(2*3k)", 6144.0),
            ("(8/2k)", 4096.0),
            ("(1k+1k)", 2048.0),
        ] {
            assert_eq!(bytes(text), Some(value), "{text}");
        }
        assert_eq!(evaluate("(1m)", Quantity::Time).map(|evaluated| evaluated.value), Ok(60e6));
    }

    #[test]
    fn what_is_no_expression_is_refused_however_deep() {
        for text in ["(", "(1", "(1))", "1+", "(4/0)", "(1.5%2)", "()", "(2^9999)", "(1x)"] {
            assert_eq!(bytes(text), None, "{text}");
        }
        assert_eq!(bytes(&"(".repeat(100_000)), None);
        assert_eq!(bytes(&"-".repeat(100_000)), None);
        assert_eq!(bytes(&"2^".repeat(100_000)), None);
    }
}
