//! JUnit XML, which continuous integration shows beside tests.
//!
//! Attributes and elements are those that both the schema of Ant's reports and that of Jenkins know, in the order that
//! the stricter one demands.

use std::io;

use jiff::Timestamp;
use quick_xml::{
    Writer,
    events::{BytesDecl, BytesText, Event},
};

/// Tests that belong together.
pub(crate) struct Suite {
    pub(crate) name: String,
    pub(crate) started: Timestamp,
    pub(crate) elapsed_ns: u64,
    pub(crate) hostname: Option<String>,
    /// Names and values.
    pub(crate) properties: Vec<(String, String)>,
    pub(crate) tests: Vec<Test>,
    /// What stands below them.
    pub(crate) text: String,
}

/// A test.
pub(crate) struct Test {
    pub(crate) class: String,
    pub(crate) name: String,
    pub(crate) ending: Ending,
}

/// What became of a test.
pub(crate) enum Ending {
    /// It held.
    Passed,
    /// It could not be judged, for this reason.
    Skipped(String),
    /// It did not hold, for this reason.
    Failed(String),
}

/// Suites as a file.
pub(crate) fn text(suites: &[Suite]) -> String {
    let mut writer = Writer::new_with_indent(Vec::new(), b' ', 2);
    write(suites, &mut writer).expect("memory takes everything");
    let mut text = String::from_utf8(writer.into_inner()).expect("only text was written");
    text.push('\n');
    text
}

fn write(suites: &[Suite], writer: &mut Writer<Vec<u8>>) -> io::Result<()> {
    writer.write_event(Event::Decl(BytesDecl::new("1.0", Some("UTF-8"), None)))?;
    writer.create_element("testsuites").write_inner_content(|writer| {
        suites.iter().enumerate().try_for_each(|(index, suite)| write_suite(writer, index, suite))
    })?;
    Ok(())
}

fn write_suite(writer: &mut Writer<Vec<u8>>, index: usize, suite: &Suite) -> io::Result<()> {
    let count = |is: fn(&Ending) -> bool| suite.tests.iter().filter(|test| is(&test.ending)).count().to_string();
    let seconds = format!("{:.3}", suite.elapsed_ns as f64 / 1e9);
    let hostname = suite.hostname.clone().filter(|name| !name.is_empty()).unwrap_or_else(|| "localhost".to_owned());
    let attributes = [
        ("name", legal(&suite.name)),
        ("package", "plimsoll".to_owned()),
        ("id", index.to_string()),
        ("timestamp", suite.started.strftime("%Y-%m-%dT%H:%M:%S").to_string()),
        ("hostname", legal(&hostname)),
        ("tests", suite.tests.len().to_string()),
        ("failures", count(|ending| matches!(ending, Ending::Failed(_)))),
        ("errors", "0".to_owned()),
        ("skipped", count(|ending| matches!(ending, Ending::Skipped(_)))),
        ("time", seconds),
    ];
    let attributes = attributes.iter().map(|(name, value)| (*name, value.as_str()));
    writer.create_element("testsuite").with_attributes(attributes).write_inner_content(|writer| {
        write_properties(writer, &suite.properties)?;
        suite.tests.iter().try_for_each(|test| write_test(writer, test))?;
        writer.create_element("system-out").write_text_content(BytesText::new(&legal(&suite.text)))?;
        writer.create_element("system-err").write_text_content(BytesText::new(""))?;
        Ok(())
    })?;
    Ok(())
}

fn write_properties(writer: &mut Writer<Vec<u8>>, properties: &[(String, String)]) -> io::Result<()> {
    writer.create_element("properties").write_inner_content(|writer| {
        for (name, value) in properties {
            let (name, value) = (legal(name), legal(value));
            let attributes = [("name", name.as_str()), ("value", value.as_str())];
            writer.create_element("property").with_attributes(attributes).write_empty()?;
        }
        Ok(())
    })?;
    Ok(())
}

fn write_test(writer: &mut Writer<Vec<u8>>, test: &Test) -> io::Result<()> {
    let (name, class) = (legal(&test.name), legal(&test.class));
    let attributes = [("name", name.as_str()), ("classname", class.as_str()), ("time", "0")];
    let element = writer.create_element("testcase").with_attributes(attributes);
    match &test.ending {
        Ending::Passed => element.write_empty()?,
        Ending::Skipped(reason) => element.write_inner_content(|writer| {
            let message = legal(reason);
            writer.create_element("skipped").with_attributes([("message", message.as_str())]).write_empty()?;
            Ok(())
        })?,
        Ending::Failed(reason) => element.write_inner_content(|writer| {
            let message = legal(reason);
            let attributes = [("message", message.as_str()), ("type", "expectation")];
            let element = writer.create_element("failure").with_attributes(attributes);
            element.write_text_content(BytesText::new(&message))?;
            Ok(())
        })?,
    };
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
