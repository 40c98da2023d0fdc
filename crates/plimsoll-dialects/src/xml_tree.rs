//! XML as a tree of elements that know their line: enough to read profiles and results.

use quick_xml::{
    Reader, XmlVersion,
    escape::resolve_xml_entity,
    events::{BytesRef, BytesStart, Event},
};

/// Elements may lie so deep in each other.
const DEPTH_MAX: usize = 64;

/// An element.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Element {
    pub(crate) name: String,
    pub(crate) attributes: Vec<(String, String)>,
    pub(crate) children: Vec<Self>,
    /// The characters directly in it, those of all its parts in a row, without spaces around them.
    pub(crate) text: String,
    /// The line that it begins in, from 1.
    pub(crate) line: usize,
}

/// Why a text is no tree.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct NotXml {
    pub(crate) line: usize,
    pub(crate) why: String,
}

impl Element {
    /// The value of an attribute.
    pub(crate) fn attribute(&self, name: &str) -> Option<&str> {
        self.attributes.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    /// The first child of that name.
    pub(crate) fn child(&self, name: &str) -> Option<&Self> {
        self.children.iter().find(|child| child.name == name)
    }
}

/// Reads a text that is one element.
pub(crate) fn parse(text: &str) -> Result<Element, NotXml> {
    let mut reader = Reader::from_str(text);
    let mut lines = Lines { text, at: 0, line: 1 };
    // The outermost is no element: it holds the one that the text is.
    let mut open = vec![Element::default()];
    loop {
        let begins = reader.buffer_position();
        let event = reader.read_event();
        let line = lines.of(begins);
        let wrong = |why: String| NotXml { line, why };
        match event.map_err(|error| wrong(error.to_string()))? {
            Event::Start(_) if open.len() > DEPTH_MAX => {
                return Err(wrong(format!("elements are more than {DEPTH_MAX} deep in each other")));
            }
            Event::Start(start) => open.push(element(&start, line).map_err(wrong)?),
            Event::Empty(start) => {
                let element = element(&start, line).map_err(wrong)?;
                innermost(&mut open).children.push(element);
            }
            Event::End(_) => {
                let mut closed = open.pop().unwrap_or_default();
                closed.text = closed.text.trim().to_owned();
                innermost(&mut open).children.push(closed);
            }
            Event::Text(text) => innermost(&mut open).text.push_str(&text.xml10_content()),
            Event::CData(text) => innermost(&mut open).text.push_str(&text.xml10_content()),
            Event::GeneralRef(reference) => {
                let content = resolved(&reference)
                    .ok_or_else(|| wrong(format!("there is no entity &{};", reference.xml10_content())))?;
                innermost(&mut open).text.push_str(&content);
            }
            Event::Comment(_) | Event::Decl(_) | Event::PI(_) | Event::DocType(_) => {}
            Event::Eof => break,
        }
    }
    if open.len() > 1 {
        let last = innermost(&mut open);
        return Err(NotXml { line: last.line, why: format!("<{}> has no end", last.name) });
    }
    let mut root = open.pop().unwrap_or_default();
    match (root.children.len(), root.text.trim()) {
        (1, "") => Ok(root.children.remove(0)),
        (0, _) => Err(NotXml { line: 1, why: "there is no element".to_owned() }),
        _ => Err(NotXml { line: 1, why: "there is more than one element".to_owned() }),
    }
}

fn innermost(open: &mut [Element]) -> &mut Element {
    open.last_mut().expect("the outermost is never closed: the reader matches ends with beginnings")
}

fn element(start: &BytesStart<'_>, line: usize) -> Result<Element, String> {
    let mut attributes = Vec::new();
    for attribute in start.attributes() {
        let attribute = attribute.map_err(|error| error.to_string())?;
        let value = attribute.normalized_value(XmlVersion::Implicit1_0).map_err(|error| error.to_string())?;
        attributes.push((attribute.key.0.to_owned(), value.into_owned()));
    }
    Ok(Element { name: start.name().0.to_owned(), attributes, line, ..Element::default() })
}

fn resolved(reference: &BytesRef<'_>) -> Option<String> {
    match reference.resolve_char_ref() {
        Ok(Some(character)) => Some(character.to_string()),
        Ok(None) => resolve_xml_entity(&reference.xml10_content()).map(str::to_owned),
        Err(_) => None,
    }
}

/// Counts lines up to places that come in order.
struct Lines<'a> {
    text: &'a str,
    at: usize,
    line: usize,
}

impl Lines<'_> {
    fn of(&mut self, position: u64) -> usize {
        let position = usize::try_from(position).unwrap_or(usize::MAX).min(self.text.len());
        let passed = self.text.as_bytes().get(self.at..position).unwrap_or_default();
        self.line += passed.iter().filter(|byte| **byte == b'\n').count();
        self.at = self.at.max(position);
        self.line
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_have_their_parts_and_their_lines() {
        let root = parse(
            "<?xml version='1.0'?>\n<!-- a -->\n<a>\n <b x='1 &amp; 2'> t &lt;&#65;<![CDATA[<]]> </b>\n<c/></a>\n",
        );
        let root = root.unwrap();
        assert_eq!((root.name.as_str(), root.line), ("a", 3));
        let b = root.child("b").unwrap();
        assert_eq!((b.text.as_str(), b.attribute("x"), b.line), ("t <A<", Some("1 & 2"), 4));
        assert_eq!(root.child("c").unwrap().line, 5);
    }

    #[test]
    fn what_is_no_tree_is_told_with_its_line() {
        let deep = "<a>".repeat(100);
        for (text, line) in [("", 1), ("<a>\n<b></a>", 2), ("<a/><b/>", 1), ("<a>\n&no;</a>", 2), (deep.as_str(), 1)] {
            assert_eq!(parse(text).unwrap_err().line, line, "{text}");
        }
    }
}
