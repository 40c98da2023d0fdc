//! Profiles as XML: what `-X` takes and `-Rpxml` prints. Elements may stand in any order; what is left out has
//! diskspd's default.

mod write;

use std::{collections::HashSet, sync::Arc};

pub(super) use self::write::Writer;
pub use self::write::write;
use super::profile::{
    Access, Cache, Content, Distribution, Flush, Priority, Processor, Profile, Range, RangeUnit, Rate, ResultFormat,
    Target, ThreadTarget, TimeSpan,
};
use crate::{
    problem::{Place, Problem, Problems, Wrong},
    suggestion,
    xml_tree::{self, Element},
};

/// So many problems are told.
const PROBLEMS_MAX: usize = 50;
/// So many bytes may a profile have.
pub const BYTES_MAX: usize = 16 << 20;
/// Targets of a file.
const TARGETS_MAX: usize = 10_000;

/// A profile, and the lines of the targets of each of its time spans.
///
/// # Errors
/// With all that is wrong with it.
pub fn read(text: &str, file: &str) -> Result<(Profile, Vec<Vec<usize>>), Problems> {
    let mut reader = Reader { file: file.into(), problems: Vec::new(), targets: 0 };
    if text.len() > BYTES_MAX {
        reader.problem(1, Wrong::new(format!("a profile has at most {} MiB", BYTES_MAX >> 20)));
        return Err(Problems(reader.problems));
    }
    let root = match xml_tree::parse(text.trim_start_matches('\u{feff}')) {
        Ok(root) => root,
        Err(not_xml) => {
            reader.problem(not_xml.line, Wrong::new(format!("this is not XML: {}", not_xml.why)));
            return Err(Problems(reader.problems));
        }
    };
    if root.name != "Profile" {
        let wrong = Wrong::new(format!("a profile begins with <Profile>, and this with <{}>", root.name));
        reader.problem(root.line, wrong.instead("write what diskspd -Rpxml prints"));
        return Err(Problems(reader.problems));
    }
    let (profile, lines) = reader.profile(&root);
    if reader.problems.is_empty() { Ok((profile, lines)) } else { Err(Problems(reader.problems)) }
}

struct Reader {
    file: Arc<str>,
    problems: Vec<Problem>,
    targets: usize,
}

/// What the content of an element becomes.
type Read<T> = Result<T, Wrong>;

impl Reader {
    fn problem(&mut self, line: usize, wrong: Wrong) {
        if self.problems.len() < PROBLEMS_MAX {
            self.problems.push(wrong.at(Place { file: Arc::clone(&self.file), line, column: 1 }));
        }
    }

    /// Hands over each child; what is said twice or not known is a problem.
    fn each(&mut self, parent: &Element, known: &[&str], mut take: impl FnMut(&mut Self, &Element) -> Read<()>) {
        let mut seen = HashSet::new();
        for child in &parent.children {
            let said = if !known.contains(&child.name.as_str()) {
                let wrong = Wrong::new(format!("<{}> has no <{}>", parent.name, child.name));
                Err(match suggestion::nearest(&child.name, known.iter().copied()) {
                    Some(near) => wrong.instead(format!("did you mean <{near}>?")),
                    None => wrong.instead("leave it out"),
                })
            } else if !seen.insert(child.name.as_str()) {
                Err(Wrong::new(format!("<{}> stands twice in <{}>", child.name, parent.name)).instead("write one"))
            } else {
                take(self, child)
            };
            if let Err(wrong) = said {
                self.problem(child.line, wrong);
            }
        }
    }

    /// The children of a list.
    fn list<'a>(&mut self, parent: &'a Element, name: &str) -> Vec<&'a Element> {
        let (known, others): (Vec<_>, Vec<_>) = parent.children.iter().partition(|child| child.name == name);
        for other in others {
            let wrong = Wrong::new(format!("<{}> has no <{}>", parent.name, other.name));
            self.problem(other.line, wrong.instead(format!("write <{name}>")));
        }
        if known.is_empty() {
            self.problem(
                parent.line,
                Wrong::new(format!("<{}> is empty", parent.name)).instead(format!("write a <{name}>")),
            );
        }
        known
    }

    fn profile(&mut self, root: &Element) -> (Profile, Vec<Vec<usize>>) {
        const KNOWN: &[&str] = &[
            "Progress",
            "ResultFormat",
            "Verbose",
            "VerboseStats",
            "ExperimentFlags",
            "PrecreateFiles",
            "ETW",
            "TimeSpans",
        ];
        let (mut profile, mut lines) = (Profile::default(), Vec::new());
        self.each(root, KNOWN, |reader, child| {
            match child.name.as_str() {
                "Progress" => profile.progress = number(child)?,
                "ResultFormat" => {
                    profile.format = word(child, &[("text", ResultFormat::Text), ("xml", ResultFormat::Xml)])?;
                }
                "Verbose" => profile.is_verbose = boolean(child)?,
                "VerboseStats" => profile.has_verbose_statistics = boolean(child)?,
                "ExperimentFlags" => profile.experiments = number(child)?,
                // Files are made before anything is measured anyway.
                "PrecreateFiles" => {}
                "ETW" => {
                    let wrong = Wrong::new("<ETW> is refused: there is no Event Tracing for Windows on Linux");
                    return Err(wrong.instead("leave it out"));
                }
                _ => {
                    for span in reader.list(child, "TimeSpan") {
                        let (span, of) = reader.span(span);
                        profile.spans.push(span);
                        lines.push(of);
                    }
                }
            }
            Ok(())
        });
        if root.child("TimeSpans").is_none() {
            self.problem(root.line, Wrong::new("there are no <TimeSpans>").instead("write what diskspd -Rpxml prints"));
        }
        (profile, lines)
    }

    fn span(&mut self, element: &Element) -> (TimeSpan, Vec<usize>) {
        const KNOWN: &[&str] = &[
            "CompletionRoutines",
            "MeasureLatency",
            "CalculateIopsStdDev",
            "DisableAffinity",
            "GroupAffinity",
            "Duration",
            "Warmup",
            "Cooldown",
            "ThreadCount",
            "RequestCount",
            "IoBucketDuration",
            "RandSeed",
            "RandomWriteData",
            "Affinity",
            "Targets",
        ];
        let (mut span, mut lines) = (TimeSpan::default(), Vec::new());
        self.each(element, KNOWN, |reader, child| {
            match child.name.as_str() {
                "CompletionRoutines" => span.uses_completion_routines = boolean(child)?,
                "MeasureLatency" => span.measures_latency = boolean(child)?,
                "CalculateIopsStdDev" => span.measures_deviation = boolean(child)?,
                "DisableAffinity" => span.is_affinity_off = boolean(child)?,
                "GroupAffinity" => drop(boolean(child)?),
                "Duration" => span.duration_s = at_least_one(child)?,
                "Warmup" => span.warmup_s = number(child)?,
                "Cooldown" => span.cooldown_s = number(child)?,
                "ThreadCount" => span.threads = number(child)?,
                "RequestCount" => span.depth = number(child)?,
                "IoBucketDuration" => span.bucket_ms = at_least_one(child)?,
                "RandSeed" => span.seed = number(child)?,
                "RandomWriteData" => span.writes_random_data = boolean(child)?,
                "Affinity" => span.affinity = affinity(child)?,
                _ => {
                    for target in reader.list(child, "Target") {
                        reader.targets += 1;
                        if reader.targets > TARGETS_MAX {
                            return Err(Wrong::new(format!("there are more than {TARGETS_MAX} targets")));
                        }
                        lines.push(target.line);
                        span.targets.push(reader.target(target));
                    }
                }
            }
            Ok(())
        });
        if element.child("Targets").is_none() {
            self.problem(element.line, Wrong::new("a <TimeSpan> has no <Targets>").instead("write them"));
        }
        (span, lines)
    }

    fn target(&mut self, element: &Element) -> Target {
        const KNOWN: &[&str] = &[
            "Path",
            "BlockSize",
            "BaseFileOffset",
            "SequentialScan",
            "RandomAccess",
            "TemporaryFile",
            "UseLargePages",
            "DisableOSCache",
            "DisableLocalCache",
            "DisableAllCache",
            "WriteThrough",
            "MemoryMappedIo",
            "FlushType",
            "WriteBufferContent",
            "ParallelAsyncIO",
            "BurstSize",
            "ThinkTime",
            "FileSize",
            "Random",
            "RandomRatio",
            "Distribution",
            "StrideSize",
            "InterlockedSequential",
            "ThreadStride",
            "MaxFileSize",
            "RequestCount",
            "WriteRatio",
            "Throughput",
            "ThreadsPerFile",
            "IOPriority",
            "Weight",
            "ThreadTargets",
        ];
        let (mut target, mut parts) = (Target::default(), AccessParts::default());
        self.each(element, KNOWN, |_, child| {
            match child.name.as_str() {
                "Path" => target.path.clone_from(&child.text),
                "BlockSize" => target.block_size = at_least_one(child)?,
                "BaseFileOffset" => target.base_offset = number(child)?,
                "SequentialScan" => target.hints_sequential = boolean(child)?,
                "RandomAccess" => target.hints_random = boolean(child)?,
                "TemporaryFile" => target.hints_temporary = boolean(child)?,
                "UseLargePages" => target.uses_large_pages = boolean(child)?,
                "DisableOSCache" if boolean(child)? => target.cache = Cache::None,
                "DisableLocalCache" if boolean(child)? => target.cache = Cache::NotLocal,
                "DisableAllCache" if boolean(child)? => {
                    (target.cache, target.writes_through) = (Cache::None, true);
                }
                "DisableOSCache" | "DisableLocalCache" | "DisableAllCache" => {}
                "WriteThrough" => target.writes_through |= boolean(child)?,
                "MemoryMappedIo" => target.is_mapped = boolean(child)?,
                "FlushType" => {
                    let words = [
                        ("ViewOfFile", Flush::View),
                        ("NonVolatileMemory", Flush::Memory),
                        ("NonVolatileMemoryNoDrain", Flush::MemoryNoDrain),
                    ];
                    target.flush = Some(word(child, &words)?);
                }
                "WriteBufferContent" => target.content = content(child)?,
                "ParallelAsyncIO" => target.is_parallel = boolean(child)?,
                "BurstSize" => target.burst = Some(number(child)?).filter(|burst| *burst > 0),
                "ThinkTime" => target.think_time_ms = Some(number(child)?).filter(|time| *time > 0),
                "FileSize" => target.file_size = Some(number(child)?),
                "Random" => parts.random = Some(at_least_one(child)?),
                "RandomRatio" => parts.random_percent = Some(percent(child, &child.text, 1..=99)?),
                "Distribution" => parts.distribution = Some(distribution(child)?),
                "StrideSize" => parts.stride = Some(number(child)?),
                "InterlockedSequential" => parts.is_interlocked = boolean(child)?,
                "ThreadStride" => target.thread_stride = number(child)?,
                "MaxFileSize" => target.max_offset = number(child)?,
                "RequestCount" => target.depth = at_least_one(child)?,
                "WriteRatio" => target.write_percent = percent(child, &child.text, 0..=100)?,
                "Throughput" => target.rate = rate(child)?,
                "ThreadsPerFile" => target.threads = at_least_one(child)?,
                "IOPriority" => {
                    let words = [
                        ("0", Priority::Normal),
                        ("1", Priority::VeryLow),
                        ("2", Priority::Low),
                        ("3", Priority::Normal),
                    ];
                    target.priority = word(child, &words)?;
                }
                "Weight" => target.weight = number(child)?,
                _ => target.thread_targets = thread_targets(child)?,
            }
            Ok(())
        });
        match parts.access(target.block_size) {
            Ok(access) => target.access = access,
            Err(wrong) => self.problem(element.line, wrong),
        }
        if target.path.is_empty() {
            self.problem(element.line, Wrong::new("a <Target> has no <Path>").instead("write one"));
        }
        target
    }
}

/// What elements say of access.
#[derive(Default)]
struct AccessParts {
    random: Option<u64>,
    random_percent: Option<u8>,
    distribution: Option<Distribution>,
    stride: Option<u64>,
    is_interlocked: bool,
}

impl AccessParts {
    fn access(self, block_size: u32) -> Read<Access> {
        let other_than_block = |given: Option<u64>| given.filter(|given| *given != u64::from(block_size));
        let is_random = self.random.is_some() || self.random_percent.is_some();
        if is_random && (self.stride.is_some() || self.is_interlocked) {
            let wrong = Wrong::new("<StrideSize> and <InterlockedSequential> contradict <Random> and <RandomRatio>");
            return Err(wrong.instead("write one of them"));
        }
        if !is_random && self.distribution.is_some() {
            let wrong = Wrong::new("<Distribution> says where random operations go, and there are none");
            return Err(wrong.instead("write <Random> as well"));
        }
        if !is_random {
            let (stride, is_interlocked) = (other_than_block(self.stride), self.is_interlocked);
            return Ok(Access::Sequential { stride, is_interlocked });
        }
        Ok(Access::Random {
            alignment: other_than_block(self.random),
            percent: self.random_percent.unwrap_or(100),
            distribution: self.distribution,
        })
    }
}

fn number<T: std::str::FromStr>(element: &Element) -> Read<T> {
    let is_plain = !element.text.is_empty() && element.text.bytes().all(|byte| byte.is_ascii_digit());
    let wrong = || {
        Wrong::new(format!("<{}> \"{}\" is not a whole number of its range", element.name, element.text))
            .instead("write one without a unit")
    };
    if is_plain { element.text.parse().map_err(|_| wrong()) } else { Err(wrong()) }
}

fn at_least_one<T: std::str::FromStr + PartialEq + Default>(element: &Element) -> Read<T> {
    let value: T = number(element)?;
    if value == T::default() {
        return Err(Wrong::new(format!("<{}> is 0", element.name)).instead("write 1 or more"));
    }
    Ok(value)
}

fn percent(element: &Element, text: &str, range: std::ops::RangeInclusive<u8>) -> Read<u8> {
    let percent = text.parse::<u8>().ok().filter(|percent| range.contains(percent) && !text.starts_with('+'));
    percent.ok_or_else(|| {
        Wrong::new(format!("<{}> \"{text}\" is not a percentage of its range", element.name)).instead(format!(
            "write {} to {}",
            range.start(),
            range.end()
        ))
    })
}

fn boolean(element: &Element) -> Read<bool> {
    word(element, &[("true", true), ("false", false), ("1", true), ("0", false)])
}

fn word<T: Copy>(element: &Element, words: &[(&str, T)]) -> Read<T> {
    words.iter().find(|(word, _)| *word == element.text).map(|(_, value)| *value).ok_or_else(|| {
        let known: Vec<_> = words.iter().map(|(word, _)| *word).collect();
        Wrong::new(format!("<{}> cannot be \"{}\"", element.name, element.text))
            .instead(format!("write {}", known.join(", ")))
    })
}

fn affinity(element: &Element) -> Read<Vec<Processor>> {
    let unreadable = |child: &Element| {
        Wrong::new(format!("<{}> names no processor", child.name))
            .instead("write <AffinityGroupAssignment Group=\"0\" Processor=\"1\"/>")
    };
    let processor = |child: &Element| match child.name.as_str() {
        "AffinityAssignment" => Ok(Processor { group: 0, number: number(child)? }),
        "AffinityGroupAssignment" => {
            let attribute = |name| child.attribute(name).ok_or_else(|| unreadable(child));
            let group = attribute("Group")?.parse().map_err(|_| unreadable(child))?;
            Ok(Processor { group, number: attribute("Processor")?.parse().map_err(|_| unreadable(child))? })
        }
        _ => Err(unreadable(child)),
    };
    element.children.iter().map(processor).collect()
}

fn content(element: &Element) -> Read<Content> {
    let pattern = element.child("Pattern").ok_or_else(|| {
        Wrong::new("<WriteBufferContent> has no <Pattern>").instead("write sequential, zero or random")
    })?;
    if let Some(other) =
        element.children.iter().find(|child| !matches!(child.name.as_str(), "Pattern" | "RandomDataSource"))
    {
        return Err(Wrong::new(format!("<WriteBufferContent> has no <{}>", other.name)).instead("leave it out"));
    }
    match word(pattern, &[("sequential", 0), ("zero", 1), ("random", 2)])? {
        0 => Ok(Content::Counting),
        1 => Ok(Content::Zero),
        _ => {
            let source = element.child("RandomDataSource");
            let size = source.and_then(|source| source.child("SizeInBytes")).ok_or_else(|| {
                Wrong::new("a random <Pattern> has no size").instead("write <RandomDataSource><SizeInBytes>")
            })?;
            let file = source.and_then(|source| source.child("FilePath")).map(|file| file.text.clone());
            Ok(Content::Buffer { size: at_least_one(size)?, file: file.filter(|file| !file.is_empty()) })
        }
    }
}

fn rate(element: &Element) -> Read<Option<Rate>> {
    let value: u32 = number(element)?;
    let rate = match element.attribute("unit") {
        None | Some("BPMS") => Rate::BytesPerMillisecond(value),
        Some("IOPS") => Rate::Iops(value),
        Some(unit) => {
            let wrong = Wrong::new(format!("<Throughput> has the unit \"{unit}\", which is not known"));
            return Err(wrong.instead("write IOPS or BPMS"));
        }
    };
    Ok((value > 0).then_some(rate))
}

fn distribution(element: &Element) -> Read<Distribution> {
    let [kind] = element.children.as_slice() else {
        return Err(Wrong::new("<Distribution> is not one list").instead("write one <Percent> or one <Absolute>"));
    };
    let unit = match kind.name.as_str() {
        "Percent" => RangeUnit::Percent,
        "Absolute" => RangeUnit::Bytes,
        other => {
            let wrong = Wrong::new(format!("<Distribution> has no <{other}>"));
            return Err(wrong.instead("write <Percent> or <Absolute>"));
        }
    };
    let range = |child: &Element| {
        let io = child.attribute("IO").filter(|_| child.name == "Range").ok_or_else(|| {
            Wrong::new(format!("<{}> is no range", child.name)).instead("write <Range IO=\"90\">10</Range>")
        })?;
        let io_percent = u32::from(percent(child, io, 0..=100)?);
        let size = match unit {
            RangeUnit::Percent => u64::from(percent(child, &child.text, 1..=100)?),
            RangeUnit::Bytes => number(child)?,
        };
        Ok(Range { io_percent, size })
    };
    let ranges: Vec<Range> = kind.children.iter().map(range).collect::<Read<_>>()?;
    if ranges.is_empty() {
        return Err(Wrong::new(format!("<{}> has no ranges", kind.name)).instead("write <Range IO=\"90\">10</Range>"));
    }
    Ok(Distribution::of(unit, ranges))
}

fn thread_targets(element: &Element) -> Read<Vec<ThreadTarget>> {
    let one = |child: &Element| {
        let thread = child.child("Thread").filter(|_| child.name == "ThreadTarget").ok_or_else(|| {
            Wrong::new(format!("<{}> names no thread", child.name)).instead("write <ThreadTarget><Thread>0")
        })?;
        let weight = child.child("Weight").map(number).transpose()?.unwrap_or_default();
        Ok(ThreadTarget { thread: number(thread)?, weight })
    };
    element.children.iter().map(one).collect()
}

#[cfg(test)]
mod tests;
