//! The page that shows reports: one HTML file with everything in it, built from `ui/` by this crate's build script.
//!
//! The file has a block for data. With a document in it, it is a report that needs nothing else and may reach nothing;
//! without, it says that there is none. Whatever stands in a document is data to the page and never markup: see
//! [`report`].

#![forbid(unsafe_code)]

use std::{io::Read as _, sync::LazyLock};

use flate2::read::GzDecoder;
use thiserror::Error;

/// The page without data; empty when it was not built.
static TEMPLATE: LazyLock<String> = LazyLock::new(|| {
    let mut page = String::new();
    let mut compressed = GzDecoder::new(include_bytes!(concat!(env!("OUT_DIR"), "/page.html.gz")).as_slice());
    compressed.read_to_string(&mut page).expect("the build script compressed it");
    page
});

/// Where a document goes: the whole content of the block for data.
const DATA: (&str, &str) = ("<script type=\"application/json\" id=\"report-data\">", "</script>");
/// Where the title goes.
const TITLE: (&str, &str) = ("<title>", "</title>");
/// Where text for readers without scripts goes.
const TEXT: &str = "<!--noscript-->";
/// What the page may reach as it is built, and a report may not.
const CONNECT: (&str, &str) = ("connect-src 'self'", "connect-src 'none'");

/// Where the page says what it may load.
const POLICY: (&str, &str) = ("<meta http-equiv=\"Content-Security-Policy\" content=\"", "\"");

/// That there is no page.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error(
    "this plimsoll has no HTML page: when it was built, {reason}; write a report as .md, .csv, .json or .xml, or build \
     it again with Node.js and npm"
)]
pub struct NoPage {
    reason: &'static str,
}

/// The page with a document in it. The text is for readers whose browser runs no scripts.
pub fn report(document_json: &str, title: &str, text: &str) -> Result<String, NoPage> {
    let page = template()?;
    let page = between(page, TITLE, &escaped(title));
    let page = page.replacen(CONNECT.0, CONNECT.1, 1);
    let page = page.replacen(TEXT, &format!("<pre>{}</pre>", escaped(text)), 1);
    Ok(between(&page, DATA, &inert(document_json)))
}

/// The page without data, which asks whoever served it.
pub fn served() -> Result<&'static str, NoPage> {
    template()
}

/// What a page says that it may load and reach, for whoever serves it: a header says more than the page itself may.
pub fn policy(page: &str) -> Option<&str> {
    let (_, rest) = page.split_once(POLICY.0)?;
    rest.split_once(POLICY.1).map(|(policy, _)| policy)
}

fn template() -> Result<&'static str, NoPage> {
    match option_env!("PLIMSOLL_NO_PAGE") {
        Some(reason) => Err(NoPage { reason }),
        None => Ok(&TEMPLATE),
    }
}

/// The page with another text between two marks, the first of their kind: what a document brings comes later.
fn between(page: &str, (begin, end): (&str, &str), text: &str) -> String {
    let Some((head, rest)) = page.split_once(begin) else { return page.to_owned() };
    let Some((_, tail)) = rest.split_once(end) else { return page.to_owned() };
    [head, begin, text, end, tail].concat()
}

/// JSON that ends no script and begins no comment, and is the same JSON: within strings a character may be escaped, and
/// these occur nowhere else.
fn inert(json: &str) -> String {
    let mut out = String::with_capacity(json.len());
    for character in json.chars() {
        match character {
            '<' => out.push_str("\\u003c"),
            '>' => out.push_str("\\u003e"),
            '\u{2028}' => out.push_str("\\u2028"),
            '\u{2029}' => out.push_str("\\u2029"),
            _ => out.push(character),
        }
    }
    out
}

/// Text that is no markup.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOSTILE: &str = "</script><script>alert(1)</script><!--noscript--><title>x</title>";

    #[test]
    fn data_is_inert_and_the_same() {
        let json = format!("{{\"title\":\"{HOSTILE}\u{2028}\"}}");
        let inert = inert(&json);
        assert!(!inert.contains(['<', '>', '\u{2028}']), "{inert}");
        assert_eq!(inert.replace("\\u003c", "<").replace("\\u003e", ">").replace("\\u2028", "\u{2028}"), json);
    }

    #[test]
    fn text_replaces_what_stands_between_the_first_marks() {
        assert_eq!(between("<title>a</title><title>b</title>", TITLE, "c"), "<title>c</title><title>b</title>");
        assert_eq!(between("none", TITLE, "c"), "none");
    }

    #[test]
    fn a_report_reaches_nothing_and_has_its_places_filled() {
        let Ok(page) = report("{\"a\":1}", HOSTILE, HOSTILE) else {
            // Where there is no npm, the one who asks is told what to do.
            let message = report("null", "", "").unwrap_err().to_string();
            assert!(message.contains(".md") && message.contains("npm"), "{message}");
            return;
        };
        assert!(page.contains("id=\"report-data\">{\"a\":1}</script>"));
        assert!(page.contains(CONNECT.1) && !page.contains(CONNECT.0));
        assert!(page.contains("<title>&lt;/script&gt;") && page.contains("<pre>&lt;/script&gt;"));
        assert!(!page.contains(HOSTILE));
    }

    #[test]
    fn the_policy_of_a_page_can_be_a_header() {
        assert_eq!(policy("<meta http-equiv=\"Content-Security-Policy\" content=\"a 'b'\"><x a=\"\">"), Some("a 'b'"));
        assert_eq!(policy("<title>none</title>"), None);
        if let Ok(page) = served() {
            let policy = policy(page).unwrap();
            assert!(policy.contains("default-src 'none'") && policy.contains(CONNECT.0), "{policy}");
        }
    }
}
