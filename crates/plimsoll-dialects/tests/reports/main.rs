//! Reports in fio's forms: what they promise, what they look like, and whether fio and readers of fio agree.

#![expect(clippy::unwrap_used, reason = "a failing helper fails its test")]

mod any_record;
mod golden;
mod logs;
mod made_up;
mod oracle;
mod promises;
mod watch;
