//! The part of a long text that says where numbers are from: the lines that were read, with some around them.

/// Lines that are shown before and after those that were read.
const AROUND: usize = 3;

/// What is shown of a text in so many bytes, more or less, and how many bytes are left out. `read` has the first and
/// the last of lines that were read, counted from one.
pub(super) fn of(text: &str, read: &[(usize, usize)], limit: usize) -> (String, usize) {
    if text.len() <= limit {
        return (text.to_owned(), 0);
    }
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let mut wanted = vec![false; lines.len()];
    // What was read comes before what stands around it.
    let mut left = limit;
    for around in [0, AROUND] {
        for (first, last) in read {
            let from = first.saturating_sub(1 + around).min(lines.len());
            for at in from..last.saturating_add(around).min(lines.len()) {
                if !wanted[at] && lines[at].len() <= left {
                    wanted[at] = true;
                    left -= lines[at].len();
                }
            }
        }
    }
    if !wanted.contains(&true) {
        // Nobody knows its lines, or they are too long.
        let end = (0..=limit).rev().find(|end| text.is_char_boundary(*end)).unwrap_or(0);
        return (text[..end].to_owned(), text.len() - end);
    }
    let (mut shown, mut omitted, mut gap) = (String::new(), 0, 0);
    for (line, is_wanted) in lines.iter().zip(wanted) {
        if is_wanted {
            shown += &left_out(std::mem::take(&mut gap));
            shown += line;
        } else {
            (omitted, gap) = (omitted + line.len(), gap + 1);
        }
    }
    if gap > 0 && !shown.ends_with('\n') {
        shown.push('\n');
    }
    shown += &left_out(gap);
    (shown, omitted)
}

fn left_out(lines: usize) -> String {
    match lines {
        0 => String::new(),
        1 => "[1 line left out]\n".to_owned(),
        lines => format!("[{lines} lines left out]\n"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lines_that_were_read_are_shown_wherever_they_are() {
        let prose: String = (1..=1_000).map(|line| format!("line {line} of prose\n")).collect();
        let text = format!("{prose}read: IOPS=417\n{prose}write: IOPS=12\nthe end\n");
        let (shown, omitted) = of(&text, &[(1_001, 1_001), (2_002, 2_002)], 1_000);
        assert!(shown.contains("read: IOPS=417") && shown.contains("write: IOPS=12"), "{shown}");
        assert!(shown.starts_with("[997 lines left out]\nline 998 of prose\n"), "{shown}");
        assert!(shown.ends_with("the end\n") && shown.len() < 1_100, "{shown}");
        let kept: usize = shown.lines().filter(|line| !line.starts_with('[')).map(|line| line.len() + 1).sum();
        assert_eq!(omitted + kept, text.len());
    }

    #[test]
    fn what_is_short_is_shown_whole_and_what_has_no_lines_from_its_beginning() {
        assert_eq!(of("a\nb\n", &[(2, 2)], 10), ("a\nb\n".to_owned(), 0));
        assert_eq!(of("größe", &[], 4), ("gr\u{f6}".to_owned(), 3));
        assert_eq!(of("a long line", &[(1, 1)], 6), ("a long".to_owned(), 5));
        assert_eq!(of("a\nb\n", &[(7, 9)], 2).1, 2, "lines that are not there");
        assert_eq!(of("abc", &[(1, 1)], 0), (String::new(), 3));
    }
}
