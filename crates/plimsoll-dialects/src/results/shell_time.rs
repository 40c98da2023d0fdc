//! What `time` of bash prints: `real`, `user` and `sys`, one below the other.

use super::{
    Durations, FoundResult, Measured, Source,
    numbers::shell_time_ns,
    passage::{Passage, without_marks},
};

pub(super) fn find(passage: &Passage<'_>) -> Vec<FoundResult> {
    let mut found = Vec::new();
    for (index, line) in passage.each() {
        let Some(elapsed_ns) = value(line, "real") else { continue };
        let user_ns = value(passage.line(index + 1), "user");
        let system_ns = value(passage.line(index + 2), "sys");
        let (Some(user_ns), Some(system_ns)) = (user_ns, system_ns) else { continue };
        let measured = Measured::Duration(Durations { elapsed_ns, user_ns, system_ns });
        found.push(FoundResult::new(passage, Source::ShellTime, index..=index + 2, measured));
    }
    found
}

fn value(line: &str, name: &str) -> Option<u64> {
    let rest = without_marks(line).strip_prefix(name)?;
    shell_time_ns(rest.strip_prefix(|letter: char| letter.is_whitespace())?.trim())
}
