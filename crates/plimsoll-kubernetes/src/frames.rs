//! What a pod tells whoever follows its log: messages, each in one line or several.
//!
//! Logs are cut, rotated, delivered twice and mixed with other lines. Each line therefore has a number, says which part
//! of a message it is, and has a checksum; it is shorter than what container runtimes split. What is no such line is
//! for people, and passed on as text.

mod packed_slot;

use std::io::{Read as _, Write as _};

use base64::{Engine as _, prelude::BASE64_STANDARD};
use flate2::{Compression, read::DeflateDecoder, write::DeflateEncoder};
use jiff::Timestamp;
use plimsoll_record::{
    event::{RunEvent, SlotResult},
    pods::PodCell,
    record::{Outcome, Record},
};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// What lines of a message begin with.
pub(crate) const MARK: &str = "plimsoll-message";

/// Characters of content in a line. Runtimes split at 16 KiB.
const PART_LENGTH_MAX: usize = 8000;

/// Parts of a message: enough for a record of some hundred cells.
const PARTS_MAX: u32 = 8192;

/// Bytes of a message when it is unpacked.
const MESSAGE_BYTES_MAX: u64 = 512 << 20;

/// What a pod tells. An enum with a tag inside would have serde read all of it twice.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Message {
    /// The program runs.
    Running {
        /// When it began, by the clock of the node.
        at: Timestamp,
        /// The run.
        run: Uuid,
        /// Which of the run's pods it is, from 0.
        number: u32,
        /// How many pods the run has.
        count: u32,
    },
    /// The first operation on a target was done.
    FirstIo {
        /// The target.
        target: String,
        /// When, by the clock of the node.
        at: Timestamp,
    },
    /// The program sees that its volume is larger than before.
    Grown {
        /// Since when, by the clock of the node.
        at: Timestamp,
    },
    /// Something happened in the run.
    Event {
        /// When, by the clock of the node.
        at: Timestamp,
        /// What.
        event: Box<RunEvent>,
    },
    /// A visit to a cell ended.
    Slot {
        /// When, by the clock of the node.
        at: Timestamp,
        /// What it measured.
        #[serde(with = "packed_slot")]
        slot: Box<SlotResult>,
    },
    /// The run is over.
    Done {
        /// All of it.
        record: Box<Record>,
    },
    /// The run of one of several pods is over: what it did itself. What all did together is added up from slots.
    DoneTogether {
        /// How it ended.
        outcome: Outcome,
        /// In each cell.
        cells: Vec<PodCell>,
        /// Where the pod is.
        node: Option<String>,
    },
    /// The run could not be done.
    Failed {
        /// The exit code that the same run on a machine would have.
        exit: u8,
        /// Why.
        text: String,
    },
}

impl Message {
    /// That something happened in the run.
    pub fn of_event(at: Timestamp, event: &RunEvent) -> Self {
        match event {
            RunEvent::SlotFinished(slot) => Self::Slot { at, slot: slot.clone() },
            event => Self::Event { at, event: Box::new(event.clone()) },
        }
    }
}

/// Makes lines of messages.
#[derive(Debug, Default)]
pub struct Writer {
    next: u64,
}

impl Writer {
    /// The lines of the next message, each with its end.
    pub fn lines(&mut self, message: &Message) -> String {
        let json = serde_json::to_vec(message).expect("messages have string keys");
        let mut encoder = DeflateEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(&json).expect("memory takes everything");
        let text = BASE64_STANDARD.encode(encoder.finish().expect("memory takes everything"));
        let parts: Vec<_> = text.as_bytes().chunks(PART_LENGTH_MAX).collect();
        let mut lines = String::new();
        for (index, part) in parts.iter().enumerate() {
            let part = str::from_utf8(part).expect("base64 is ASCII");
            let body = format!("{} {}/{} {part}", self.next, index + 1, parts.len());
            lines += &format!("{MARK} {:08x} {body}\n", crc32c::crc32c(body.as_bytes()));
            self.next += 1;
        }
        lines
    }
}

/// What a line of a log was.
#[derive(Clone, Debug, PartialEq)]
pub enum Line {
    /// The end of a message.
    Message(Message),
    /// A part of a message, or one that was here before.
    Part,
    /// Something for people.
    Text,
}

/// Reads messages out of lines.
#[derive(Debug, Default)]
pub struct Reader {
    /// The number of the next line.
    next: u64,
    /// What there is of a message; `None` when its beginning was lost.
    partial: Option<String>,
    lost: u64,
    begins_late: bool,
}

/// A line that is whole.
struct Frame<'a> {
    number: u64,
    checksum: u32,
    part: u32,
    parts: u32,
    content: &'a str,
}

impl Reader {
    /// Takes in the next line of the log.
    pub fn line(&mut self, line: &str) -> Line {
        let Some(rest) = line.trim_end().strip_prefix(MARK) else { return Line::Text };
        let Some(frame) = frame(rest) else {
            // Which it was nobody knows: the next one tells that it is missing.
            return Line::Part;
        };
        if frame.number < self.next {
            return Line::Part;
        }
        if frame.number > self.next {
            self.begins_late |= self.next == 0;
            self.lost += frame.number - self.next;
            self.partial = None;
        }
        self.next = frame.number + 1;
        if frame.part == 1 {
            self.partial = Some(String::new());
        }
        let Some(partial) = &mut self.partial else { return Line::Part };
        partial.push_str(frame.content);
        if frame.part < frame.parts {
            return Line::Part;
        }
        match self.partial.take().and_then(|text| message(&text)) {
            Some(message) => Line::Message(message),
            None => {
                self.lost += 1;
                Line::Part
            }
        }
    }

    /// How many lines are missing so far.
    pub const fn lost(&self) -> u64 {
        self.lost
    }

    /// Whether the first ones are.
    pub const fn begins_late(&self) -> bool {
        self.begins_late
    }
}

/// The number and the checksum of a line that is whole: of one pod, no other line has the same number.
pub(crate) fn identity(line: &str) -> Option<(u64, u32)> {
    let frame = frame(line.trim_end().strip_prefix(MARK)?)?;
    Some((frame.number, frame.checksum))
}

fn frame(rest: &str) -> Option<Frame<'_>> {
    let (checksum, body) = rest.strip_prefix(' ')?.split_once(' ')?;
    let checksum = u32::from_str_radix(checksum, 16).ok()?;
    if checksum != crc32c::crc32c(body.as_bytes()) {
        return None;
    }
    let mut words = body.splitn(3, ' ');
    let number = words.next()?.parse().ok()?;
    let (part, parts) = words.next()?.split_once('/')?;
    let (part, parts) = (part.parse().ok()?, parts.parse().ok()?);
    let is_possible = 1 <= part && part <= parts && parts <= PARTS_MAX && number < u64::MAX;
    is_possible.then_some(Frame { number, checksum, part, parts, content: words.next()? })
}

fn message(text: &str) -> Option<Message> {
    let packed = BASE64_STANDARD.decode(text).ok()?;
    let mut json = Vec::new();
    DeflateDecoder::new(packed.as_slice()).take(MESSAGE_BYTES_MAX).read_to_end(&mut json).ok()?;
    serde_json::from_slice(&json).ok()
}

#[cfg(test)]
mod tests {
    use plimsoll_measure::latency::{CompactHistogram, LatencyHistogram};
    use plimsoll_record::event::SlotDirection;
    use proptest::prelude::*;

    use super::*;

    fn text(length: usize) -> Message {
        // Digits of a generator do not compress to nothing.
        let mut state = 1_u64;
        let mut digit = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            char::from(b'a' + u8::try_from(state >> 60).expect("four bits"))
        };
        Message::Failed { exit: 3, text: (0..length).map(|_| digit()).collect() }
    }

    fn read(reader: &mut Reader, log: &str) -> Vec<Message> {
        let message = |line| match reader.line(line) {
            Line::Message(message) => Some(message),
            Line::Part | Line::Text => None,
        };
        log.lines().filter_map(message).collect()
    }

    #[test]
    fn lines_are_shorter_than_what_runtimes_split() {
        let log = Writer::default().lines(&text(100_000));
        assert!(log.lines().count() > 3);
        assert!(log.lines().all(|line| line.len() < 8192));
    }

    #[test]
    fn slots_arrive_as_they_were() {
        let mut histogram = LatencyHistogram::fine();
        histogram.record_many(98_765, 43);
        let mut second = LatencyHistogram::coarse();
        second.record_many(1_234_567, 8);
        let direction = SlotDirection { operations: 43, bytes: 4096, histogram: histogram.clone() };
        let slot = SlotResult {
            read: Some(direction.clone()),
            sync: Some(SlotDirection { operations: 1, ..direction }),
            service: Some(histogram),
            seconds: vec![CompactHistogram::from(second); 2],
            ..SlotResult::default()
        };
        for slot in [slot, SlotResult::default()] {
            let message = Message::of_event(Timestamp::UNIX_EPOCH, &RunEvent::SlotFinished(Box::new(slot)));
            let log = Writer::default().lines(&message);
            assert_eq!(read(&mut Reader::default(), &log), [message]);
        }
    }

    #[test]
    fn other_lines_are_for_people() {
        let mut reader = Reader::default();
        assert_eq!(reader.line("cell 1 of 6"), Line::Text);
        assert_eq!(reader.line(""), Line::Text);
    }

    #[test]
    fn a_log_that_is_read_again_from_anywhere_tells_nothing_twice() {
        let mut writer = Writer::default();
        let messages: Vec<_> = (0..5).map(|index| text(index * 20_000)).collect();
        let log: String = messages.iter().map(|message| writer.lines(message)).collect();
        let mut reader = Reader::default();
        assert_eq!(read(&mut reader, &log), messages);
        assert_eq!(read(&mut reader, &log), []);
        assert_eq!(reader.lost(), 0);
    }

    #[test]
    fn a_damaged_line_costs_its_message_and_no_other() {
        let mut writer = Writer::default();
        let logs: Vec<_> = (0..3).map(|_| writer.lines(&text(20_000))).collect();
        let damaged = logs[1].replacen("/", "\\", 1);
        let mut reader = Reader::default();
        assert_eq!(read(&mut reader, &(logs[0].clone() + &damaged + &logs[2])).len(), 2);
        assert_eq!((reader.lost(), reader.begins_late()), (1, false));
    }

    #[test]
    fn a_log_whose_beginning_a_node_has_thrown_away_says_so() {
        let mut writer = Writer::default();
        let logs: Vec<_> = (0..3).map(|_| writer.lines(&text(20_000))).collect();
        let mut reader = Reader::default();
        let (_, kept) = logs[0].split_once('\n').unwrap();
        assert_eq!(read(&mut reader, &(kept.to_owned() + &logs[1] + &logs[2])).len(), 2);
        assert!(reader.begins_late());
        assert_eq!(reader.lost(), 1);
    }

    proptest! {
        #[test]
        fn whatever_lines_are_missing_or_repeated_messages_are_whole_or_not_there(
            picks in prop::collection::vec(0_usize..40, 0..80),
        ) {
            let mut writer = Writer::default();
            let messages: Vec<_> = (0..6).map(|index| text(index * 9_000)).collect();
            let log: String = messages.iter().map(|message| writer.lines(message)).collect();
            let lines: Vec<_> = log.lines().collect();
            let mut picks: Vec<_> = picks.into_iter().map(|pick| pick % lines.len()).collect();
            picks.sort_unstable();
            let heard: Vec<_> = picks.iter().map(|pick| lines[*pick]).collect();
            for message in read(&mut Reader::default(), &heard.join("\n")) {
                prop_assert!(messages.contains(&message));
            }
        }

        #[test]
        fn whatever_lines_stand_before_and_within_a_message_it_arrives(
            others in prop::collection::vec("(plimsoll-message [0-9a-f]{8} )?[ -~]{0,40}", 0..4),
        ) {
            let (mut reader, mut heard) = (Reader::default(), Vec::new());
            let told = text(20_000);
            for part in Writer::default().lines(&told).lines() {
                for other in &others {
                    prop_assert!(!matches!(reader.line(other), Line::Message(_)));
                }
                if let Line::Message(message) = reader.line(part) {
                    heard.push(message);
                }
            }
            prop_assert_eq!((heard, reader.lost()), (vec![told], 0));
        }

        #[test]
        fn no_line_is_too_strange(line in "(plimsoll-message )?[ -~]{0,60}") {
            Reader::default().line(&line);
        }
    }
}
