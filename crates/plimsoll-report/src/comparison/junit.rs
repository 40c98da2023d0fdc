//! A comparison as JUnit XML, which continuous integration shows beside tests.
//!
//! Each side with the reference is a suite; each expectation about a number is a test. Without expectations each cell
//! is one, which cannot fail. What could not be judged, or not for certain, is skipped. Attributes and elements are
//! those that both the schema of Ant's reports and that of Jenkins know, in the order that the stricter one demands.

use std::io;

use quick_xml::{
    Writer,
    events::{BytesDecl, BytesText, Event},
};

use super::{Comparison, Pair, Side, expectation::Standing};

/// A test of the report.
struct Test {
    class: String,
    name: String,
    result: Standing,
    text: String,
}

impl Test {
    /// Why it neither passes nor fails; `None` when it does.
    fn why_skipped(&self) -> Option<String> {
        match self.result {
            Standing::NotJudged => Some(self.text.clone()),
            Standing::Unsure => Some(format!("{}: {}", self.result.as_str(), self.text)),
            Standing::Held | Standing::PartlyHeld | Standing::Breached => None,
        }
    }
}

/// The report.
pub fn junit(comparison: &Comparison) -> String {
    let mut writer = Writer::new_with_indent(Vec::new(), b' ', 2);
    write(comparison, &mut writer).expect("memory takes everything");
    let mut text = String::from_utf8(writer.into_inner()).expect("only text was written");
    text.push('\n');
    text
}

fn write(comparison: &Comparison, writer: &mut Writer<Vec<u8>>) -> io::Result<()> {
    writer.write_event(Event::Decl(BytesDecl::new("1.0", Some("UTF-8"), None)))?;
    writer.create_element("testsuites").write_inner_content(|writer| {
        for (index, pair) in comparison.pairs.iter().enumerate() {
            let side = comparison.sides.iter().find(|side| side.letter == pair.side);
            let side = side.expect("a pair is made of sides");
            write_suite(writer, index, pair, side, &tests(comparison, pair))?;
        }
        Ok(())
    })?;
    Ok(())
}

fn tests(comparison: &Comparison, pair: &Pair) -> Vec<Test> {
    let class = |cell: &str| format!("plimsoll.{cell}");
    if comparison.expectations.is_empty() {
        let test = |cell: &super::CellPair| {
            let is_compared = cell.headline().is_some_and(|metric| metric.compared.is_some());
            Test {
                class: class(&cell.label()),
                name: format!("{} against {}", pair.side, pair.reference),
                result: if is_compared { Standing::Held } else { Standing::NotJudged },
                text: cell.sentence.clone(),
            }
        };
        let one_sided = pair.one_sided().map(|(cell, text)| Test {
            class: class(cell),
            name: format!("{} against {}", pair.side, pair.reference),
            result: Standing::NotJudged,
            text,
        });
        return pair.cells.iter().map(test).chain(one_sided).collect();
    }
    let judged = comparison.expectations.iter().flat_map(|outcome| {
        outcome.cells.iter().filter(|judged| judged.side == pair.side).map(move |judged| (outcome, judged))
    });
    let tests = judged.map(|(outcome, judged)| Test {
        class: class(&judged.cell),
        name: match judged.operation {
            Some(operation) => format!("{} {}", operation.plural(), outcome.expectation),
            None => outcome.expectation.clone(),
        },
        result: judged.result,
        text: judged.text.clone(),
    });
    tests.collect()
}

fn write_suite(writer: &mut Writer<Vec<u8>>, index: usize, pair: &Pair, side: &Side, tests: &[Test]) -> io::Result<()> {
    let count = |result: Standing| tests.iter().filter(|test| test.result == result).count().to_string();
    let seconds = format!("{:.3}", side.elapsed_ns as f64 / 1e9);
    let hostname = side.hostname.clone().filter(|name| !name.is_empty()).unwrap_or_else(|| "localhost".to_owned());
    let attributes = [
        ("name", format!("plimsoll compare {} against {}", pair.side, pair.reference)),
        ("package", "plimsoll".to_owned()),
        ("id", index.to_string()),
        ("timestamp", side.started.strftime("%Y-%m-%dT%H:%M:%S").to_string()),
        ("hostname", legal(&hostname)),
        ("tests", tests.len().to_string()),
        ("failures", count(Standing::Breached)),
        ("errors", "0".to_owned()),
        ("skipped", tests.iter().filter(|test| test.why_skipped().is_some()).count().to_string()),
        ("time", seconds),
    ];
    let attributes = attributes.iter().map(|(name, value)| (*name, value.as_str()));
    writer.create_element("testsuite").with_attributes(attributes).write_inner_content(|writer| {
        write_properties(writer, pair)?;
        tests.iter().try_for_each(|test| write_test(writer, test))?;
        let sentences: Vec<String> =
            pair.cells.iter().map(|cell| format!("{}: {}", cell.label(), cell.sentence)).collect();
        writer.create_element("system-out").write_text_content(BytesText::new(&legal(&sentences.join("\n"))))?;
        writer.create_element("system-err").write_text_content(BytesText::new(""))?;
        Ok(())
    })?;
    Ok(())
}

fn write_properties(writer: &mut Writer<Vec<u8>>, pair: &Pair) -> io::Result<()> {
    writer.create_element("properties").write_inner_content(|writer| {
        for difference in &pair.confounded {
            let name = legal(&format!("confounded {}", difference.name));
            let value =
                legal(&format!("{} {}, {} {}", pair.reference, difference.reference, pair.side, difference.value));
            let attributes = [("name", name.as_str()), ("value", value.as_str())];
            writer.create_element("property").with_attributes(attributes).write_empty()?;
        }
        Ok(())
    })?;
    Ok(())
}

fn write_test(writer: &mut Writer<Vec<u8>>, test: &Test) -> io::Result<()> {
    let (name, class, text) = (legal(&test.name), legal(&test.class), legal(&test.text));
    let attributes = [("name", name.as_str()), ("classname", class.as_str()), ("time", "0")];
    let element = writer.create_element("testcase").with_attributes(attributes);
    if let Some(reason) = test.why_skipped() {
        element.write_inner_content(|writer| {
            let message = legal(&reason);
            writer.create_element("skipped").with_attributes([("message", message.as_str())]).write_empty()?;
            Ok(())
        })?;
    } else if test.result == Standing::Breached {
        element.write_inner_content(|writer| {
            let attributes = [("message", text.as_str()), ("type", "expectation")];
            writer.create_element("failure").with_attributes(attributes).write_text_content(BytesText::new(&text))?;
            Ok(())
        })?;
    } else {
        element.write_empty()?;
    }
    Ok(())
}

/// Text without the characters that XML 1.0 cannot hold even when they are escaped.
fn legal(text: &str) -> String {
    let is_legal = |character: char| {
        matches!(character, '\t' | '\n' | '\r' | '\u{20}'..='\u{fffd}' | '\u{10000}'..='\u{10ffff}')
            && !('\u{7f}'..='\u{9f}').contains(&character)
    };
    text.chars().map(|character| if is_legal(character) { character } else { '\u{fffd}' }).collect()
}
