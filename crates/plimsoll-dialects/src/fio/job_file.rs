//! A job file as sections of options, each with its place; nothing is interpreted but the layout.

use crate::problem::{Place, Problem, Wrong};
use std::sync::Arc;

/// Bytes of a job file and of everything that it includes.
pub const BYTES_MAX: usize = 1 << 20;
/// Bytes of a line; fio cuts longer ones in two.
pub const LINE_BYTES_MAX: usize = 8191;
/// Sections of a file.
pub const SECTIONS_MAX: usize = 4096;
/// Options of a section, or of all global ones together.
pub const OPTIONS_MAX: usize = 10_000;
/// Bytes of a section's name.
pub const NAME_BYTES_MAX: usize = 255;
/// Problems that are told; who has more of them does not read on.
pub const PROBLEMS_MAX: usize = 100;
/// What editors of Windows put before a text.
const BYTE_ORDER_MARK: &[u8] = "\u{feff}".as_bytes();
/// Files that include each other.
pub const INCLUDE_DEPTH_MAX: usize = 16;

/// Hands over the content of a job file by its name: `None` when there is no such file. `-` is the standard input.
pub type ReadFile<'a> = dyn FnMut(&str) -> Result<Option<Vec<u8>>, String> + 'a;

/// A section: a job, or values for the jobs below it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Section {
    /// The name between the brackets.
    pub name: String,
    /// Where it begins.
    pub place: Place,
    /// Whether its options hold for the jobs below it.
    pub is_global: bool,
    /// Its options in the order of reading.
    pub options: Vec<OptionLine>,
}

/// An option as it stands: `key=value` or `key`, without blanks around it or a comment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OptionLine {
    /// Where it begins.
    pub place: Place,
    /// The text.
    pub text: String,
}

/// Reads a job file with what it includes: its sections, as far as they can be told apart, and what is wrong with them.
pub fn read(name: &str, read_file: &mut ReadFile<'_>) -> (Vec<Section>, Vec<Problem>) {
    let mut reader = Reader { read_file, sections: Vec::new(), problems: Vec::new(), bytes: 0, is_before_first: true };
    let place = Place { file: name.into(), line: 1, column: 1 };
    match (reader.read_file)(name) {
        Ok(Some(content)) => reader.file(&place.file, &content, 0),
        Ok(None) => reader.problem(place, Wrong::new("there is no such job file")),
        Err(error) => reader.problem(place, Wrong::new(format!("the job file cannot be read: {error}"))),
    }
    (reader.sections, reader.problems)
}

/// A section whose name begins so is global, as in fio.
pub(super) fn is_global(name: &str) -> bool {
    name.starts_with("global")
}

struct Reader<'a, 'b> {
    read_file: &'a mut ReadFile<'b>,
    sections: Vec<Section>,
    problems: Vec<Problem>,
    bytes: usize,
    /// No section yet, and nobody was told that options have none.
    is_before_first: bool,
}

impl Reader<'_, '_> {
    fn problem(&mut self, place: Place, wrong: Wrong) {
        self.problems.push(wrong.at(place));
    }

    fn file(&mut self, file: &Arc<str>, content: &[u8], depth: usize) {
        self.bytes += content.len();
        if self.bytes > BYTES_MAX {
            let place = Place { file: Arc::clone(file), line: 1, column: 1 };
            let what = format!("the job file is longer than {BYTES_MAX} bytes with what it includes");
            return self.problem(place, Wrong::new(what));
        }
        let content = content.strip_prefix(BYTE_ORDER_MARK).unwrap_or(content);
        for (index, line) in content.split(|byte| *byte == b'\n').enumerate() {
            if self.problems.len() >= PROBLEMS_MAX {
                return;
            }
            let place = Place { file: Arc::clone(file), line: index + 1, column: 1 };
            if line.len() > LINE_BYTES_MAX {
                self.problem(place, Wrong::new(format!("the line is longer than {LINE_BYTES_MAX} bytes")));
                continue;
            }
            let end = line.iter().position(|byte| b";#".contains(byte)).unwrap_or(line.len());
            let Ok(text) = std::str::from_utf8(&line[..end]) else {
                self.problem(place, Wrong::new("the line is not UTF-8"));
                continue;
            };
            let is_blank = |c: char| c.is_ascii_whitespace() || c.is_control();
            let column = 1 + text.len() - text.trim_start_matches(is_blank).len();
            let text = text.trim_matches(is_blank);
            if !text.is_empty() && !self.line(place.at(column), text, depth) {
                return;
            }
        }
    }

    /// Takes a line; false when the rest of the file is of no use.
    fn line(&mut self, place: Place, text: &str, depth: usize) -> bool {
        if text.starts_with('[') {
            return self.section(place, text, depth);
        }
        if let Some(path) = included(text) {
            self.include(&place, path, depth);
            return true;
        }
        match self.sections.last_mut() {
            Some(section) if section.options.len() == OPTIONS_MAX => {
                self.problem(place, Wrong::new(format!("the section has more than {OPTIONS_MAX} options")));
                return false;
            }
            Some(section) => section.options.push(OptionLine { place, text: text.to_owned() }),
            None if self.is_before_first => {
                self.is_before_first = false;
                let wrong = Wrong::new(format!("the option \"{text}\" stands before the first section"));
                self.problem(place, wrong.instead("write [global] above it"));
            }
            None => {}
        }
        true
    }

    fn section(&mut self, place: Place, text: &str, depth: usize) -> bool {
        if depth > 0 {
            let wrong = Wrong::new(format!("\"{text}\" begins a section in an included file"));
            self.problem(place, wrong.instead("include files of options only"));
            return true;
        }
        let name = text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
        if name.is_none() {
            self.problem(place.clone(), Wrong::new(format!("\"{text}\" does not end with ]")).instead("write [name]"));
        }
        // What follows belongs to this section, however it is called.
        let name = name.unwrap_or(text);
        if name.is_empty() || name.len() > NAME_BYTES_MAX {
            let what = format!("the name of a section has {} bytes", name.len());
            self.problem(place.clone(), Wrong::new(what).instead(format!("write 1 to {NAME_BYTES_MAX}")));
        }
        if self.sections.len() == SECTIONS_MAX {
            self.problem(place, Wrong::new(format!("the job file has more than {SECTIONS_MAX} sections")));
            return false;
        }
        let is_global = is_global(name);
        self.sections.push(Section { name: name.to_owned(), place, is_global, options: Vec::new() });
        true
    }

    /// Relative names are looked for where the program runs, then beside the including file.
    fn include(&mut self, place: &Place, path: &str, depth: usize) {
        if self.sections.is_empty() {
            let wrong = Wrong::new(format!("\"include {path}\" stands before the first section"));
            return self.problem(place.clone(), wrong.instead("write [global] above it"));
        }
        if depth == INCLUDE_DEPTH_MAX {
            let wrong = Wrong::new(format!("files include each other more than {INCLUDE_DEPTH_MAX} deep"));
            return self.problem(place.clone(), wrong);
        }
        if path.is_empty() || path == "-" {
            return self.problem(place.clone(), Wrong::new("an include names no file").instead("write include FILE"));
        }
        if self.bytes > BYTES_MAX {
            return;
        }
        let mut found = (self.read_file)(path).map(|content| content.map(|content| (path.to_owned(), content)));
        if let (Ok(None), Some((folder, _)), false) = (&found, place.file.rsplit_once('/'), path.starts_with('/')) {
            let beside = format!("{folder}/{path}");
            found = (self.read_file)(&beside).map(|content| content.map(|content| (beside, content)));
        }
        // Each file that is read costs at least this, so that empty files cannot be included without end.
        self.bytes += 64;
        match found {
            Ok(Some((name, content))) => self.file(&name.into(), &content, depth + 1),
            Ok(None) => self.problem(place.clone(), Wrong::new(format!("there is no file \"{path}\" to include"))),
            Err(error) => {
                self.problem(place.clone(), Wrong::new(format!("the file \"{path}\" cannot be included: {error}")));
            }
        }
    }
}

/// The file of `include FILE`.
fn included(text: &str) -> Option<&str> {
    let rest = text.strip_prefix("include")?;
    (rest.is_empty() || rest.starts_with([' ', '\t', '='])).then(|| rest.trim_start_matches(['=', ' ', '\t']).trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sections(files: &[(&str, &str)]) -> Result<Vec<Section>, Vec<String>> {
        let mut read_file = |name: &str| {
            let file = files.iter().find(|(file, _)| *file == name);
            Ok(file.map(|(_, content)| content.as_bytes().to_vec()))
        };
        let (sections, problems) = read(files[0].0, &mut read_file);
        if problems.is_empty() { Ok(sections) } else { Err(problems.iter().map(ToString::to_string).collect()) }
    }

    fn texts(section: &Section) -> Vec<(usize, usize, &str)> {
        section.options.iter().map(|option| (option.place.line, option.place.column, option.text.as_str())).collect()
    }

    #[test]
    fn sections_hold_options_with_their_places() {
        let found =
            sections(&[("a", "; one\n[global]\r\n\trw=read # two\r\n\n[job 1]\nbs = 4k\ntime_based;x\n")]).unwrap();
        assert_eq!((found[0].name.as_str(), found[0].is_global, found[0].place.line), ("global", true, 2));
        assert_eq!(texts(&found[0]), [(3, 2, "rw=read")]);
        assert_eq!((found[1].name.as_str(), found[1].is_global), ("job 1", false));
        assert_eq!(texts(&found[1]), [(6, 1, "bs = 4k"), (7, 1, "time_based")]);
    }

    #[test]
    fn a_byte_order_mark_is_no_part_of_a_file() {
        let files = [("a", "\u{feff}[job]\nrw=read\ninclude b\n"), ("b", "\u{feff}bs=4k\n")];
        let found = sections(&files).unwrap();
        assert_eq!((found[0].name.as_str(), found[0].options.len()), ("job", 2));
    }

    #[test]
    fn everything_that_begins_with_global_is_global() {
        let found = sections(&[("a", "[globalx]\n[myglobal]\n")]).unwrap();
        assert_eq!((found[0].is_global, found[1].is_global), (true, false));
    }

    #[test]
    fn included_files_are_found_beside_the_including_one_and_add_their_options() {
        let files = [
            ("jobs/a", "[global]\ninclude b\nrw=read\n[x]\ninclude jobs/c\n"),
            ("jobs/b", "size=1m\ninclude c\n"),
            ("jobs/c", "bs=4k\n"),
        ];
        let found = sections(&files).unwrap();
        assert_eq!(
            found[0].options.iter().map(|option| option.text.as_str()).collect::<Vec<_>>(),
            ["size=1m", "bs=4k", "rw=read"]
        );
        assert_eq!(found[1].options[0].place.to_string(), "jobs/c:1:1");
    }

    #[test]
    fn all_problems_of_a_file_are_told_at_once() {
        let problems = sections(&[("a", "rw=read\nbs=4k\n[]\n[x\n[y]\ninclude none\n")]).unwrap_err();
        assert_eq!(problems.len(), 4, "{problems:?}");
        assert!(problems[0].starts_with("a:1:1: the option \"rw=read\" stands before"), "{problems:?}");
        assert!(sections(&[("a", "[x]\ninclude a\n")]).is_err());
        assert!(sections(&[("a", "[x]\ninclude b\n"), ("b", "[y]\n")]).is_err());
    }

    #[test]
    fn files_that_include_themselves_many_times_end() {
        let mut read_file = |_: &str| Ok(Some(b"[x]\ninclude a\ninclude a\ninclude a\n".to_vec()));
        assert!(!read("a", &mut read_file).1.is_empty());
        let mut read_file = |name: &str| {
            Ok(Some(if name == "a" { b"[x]\ninclude b".to_vec() } else { "include b\n".repeat(1000).into_bytes() }))
        };
        assert!(!read("a", &mut read_file).1.is_empty());
    }

    #[test]
    fn what_is_no_text_is_a_problem_unless_it_is_a_comment() {
        let mut read_file = |_: &str| Ok(Some(b"[x]\n# \xff\nbs=4k ; \xff\n".to_vec()));
        assert!(read("a", &mut read_file).1.is_empty());
        let mut read_file = |_: &str| Ok(Some(b"[x]\nfilename=\xff\n".to_vec()));
        assert!(!read("a", &mut read_file).1.is_empty());
    }
}
