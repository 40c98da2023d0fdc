//! The one table of flags: how each is written, what it says, how far it is honoured. The reference page, the help, the
//! parser and the tests all read it.

mod apply;

use self::apply as say;
use super::{
    command_line::Line,
    profile::{Access, Cache, Content, Flush, Priority, Profile, Target, TimeSpan},
};
use crate::{
    problem::Wrong,
    support::Support::{self, Approximate, Exact, Ignored, Refused},
};

/// A flag.
#[derive(Clone, Copy, Debug)]
pub struct Flag {
    /// How it is written.
    pub form: &'static str,
    /// What it says without being given.
    pub default: Option<&'static str>,
    /// How far it is honoured.
    pub support: Support,
    /// What it says.
    pub help: &'static str,
    /// It, as it may be written.
    pub example: &'static str,
    /// What words begin with that are it.
    begins: &'static str,
    takes: Takes,
    /// Says it; none of what no profile can say.
    pub(super) apply: Option<Apply>,
    /// Whether a target asks for what it is about, of a flag that is not exact.
    differs: fn(&Use<'_>) -> bool,
}

/// What stands behind the letters of a flag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Takes {
    Nothing,
    /// What begins with a digit.
    Digits,
    Anything,
}

/// A target in its surroundings.
pub(super) struct Use<'a> {
    pub(super) profile: &'a Profile,
    pub(super) span: &'a TimeSpan,
    pub(super) target: &'a Target,
}

type Apply = fn(&mut Line, &str) -> Result<(), Wrong>;

const fn flag(
    begins: &'static str,
    takes: Takes,
    form: &'static str,
    example: &'static str,
    help: &'static str,
    apply: Apply,
) -> Flag {
    let apply = Some(apply);
    Flag { form, default: None, support: Exact, help, example, begins, takes, apply, differs: |_| false }
}

/// A flag about what only Windows has.
const fn windows(
    begins: &'static str,
    form: &'static str,
    example: &'static str,
    help: &'static str,
    reason: &'static str,
) -> Flag {
    let support = Refused(reason);
    Flag { form, default: None, support, help, example, begins, takes: Anything, apply: None, differs: |_| false }
}

impl Flag {
    const fn default(self, default: &'static str) -> Self {
        Self { default: Some(default), ..self }
    }

    /// How far it is honoured, and of which targets that is to be told.
    const fn but(self, support: Support, differs: fn(&Use<'_>) -> bool) -> Self {
        Self { support, differs, ..self }
    }

    /// What keeps a target from being done, or is not quite as it asks.
    pub(super) fn of(&self, asked: &Use<'_>) -> Option<Result<String, Wrong>> {
        if !(self.differs)(asked) {
            return None;
        }
        match self.support {
            Exact => None,
            Approximate(_) | Ignored(_) => Some(Ok(format!("{} is {}", self.form, self.support))),
            Refused(reason) => Some(Err(self.not_possible(reason))),
        }
    }

    /// What the words begin with that are it.
    pub(super) const fn stem(&self) -> &'static str {
        self.begins
    }

    fn not_possible(&self, reason: &str) -> Wrong {
        Wrong::new(format!("{} is not possible: {reason}", self.form)).instead("leave it out")
    }
}

use Takes::{Anything, Digits, Nothing};

/// All flags, in the order of the alphabet.
pub static FLAGS: &[Flag] = &[
    flag("-?", Nothing, "-?", "-?", "print these flags", say::help),
    flag("-:", Digits, "-:<mask>", "-:1", "experiments", say::experiments)
        .but(Ignored("plimsoll paces operations in its own way, which sleeps as long as a rate allows"), |asked| {
            asked.profile.experiments != 0
        }),
    flag(
        "-a",
        Anything,
        "-a[g#,]#[,#,...]",
        "-a0,1",
        "bind threads to these processors, one after the other; g# is the group of those behind it, and there is only \
         group 0",
        say::affinity,
    ),
    flag("-ag", Nothing, "-ag", "-ag", "bind threads to all processors, one after the other", |_, _| Ok(()))
        .but(Ignored("the kernel places threads unless -a names processors"), |_| false),
    flag("-b", Digits, "-b<size>", "-b4K", "bytes of an operation", |_, _| Ok(())).default("64K"),
    flag(
        "-B",
        Digits,
        "-B<base>[:length]",
        "-B1M:8M",
        "where operations begin in the target, and how far they reach",
        say::base,
    )
    .default("0"),
    flag("-c", Digits, "-c<size>", "-c1G", "make files of that size", say::create),
    flag("-C", Digits, "-C<seconds>", "-C5", "load after the measurement", say::cooldown)
        .default("0")
        .but(Ignored("nothing is measured then, so the load ends with the measurement"), |asked| {
            asked.span.cooldown_s > 0
        }),
    flag("-d", Digits, "-d<seconds>", "-d30", "how long to measure", say::duration).default("10"),
    flag(
        "-D",
        Anything,
        "-D[milliseconds]",
        "-D500",
        "tell how much IOPS deviate from one interval of that length to the next",
        say::deviation,
    )
    .default("off; 1000")
    .but(Approximate("intervals are whole seconds"), |asked| {
        asked.span.measures_deviation && !asked.span.bucket_ms.is_multiple_of(1000)
    }),
    windows(
        "-e",
        "-e<...>",
        "-eDISK_IO",
        "trace events",
        "there is no Event Tracing for Windows on Linux: use perf trace or bpftrace",
    ),
    flag("-f", Digits, "-f<size>", "-f8M", "behind the last byte of the target that operations touch", say::max_offset)
        .default("all"),
    flag("-fr", Nothing, "-fr", "-fr", "tell the kernel that access is random", |line, _| {
        line.target.hints_random = true;
        Ok(())
    }),
    flag("-fs", Nothing, "-fs", "-fs", "tell the kernel that access is sequential", |line, _| {
        line.target.hints_sequential = true;
        Ok(())
    }),
    flag("-ft", Nothing, "-ft", "-ft", "tell the system that the file is temporary", |line, _| {
        line.target.hints_temporary = true;
        Ok(())
    })
    .but(Ignored("Linux has no such hint"), |asked| asked.target.hints_temporary),
    flag("-F", Digits, "-F<count>", "-F4", "threads in all, each of which uses every target", say::threads_in_all),
    flag(
        "-g",
        Digits,
        "-g<value>[i]",
        "-g500i",
        "what each thread does to each target at most: bytes a millisecond, or with i operations a second",
        say::rate,
    )
    .default("no limit")
    .but(
        Approximate("operations are due at even distances, and what is late counts with the time it waited"),
        |asked| asked.target.rate.is_some(),
    ),
    flag("-h", Nothing, "-h", "-h", "the same as -Sh", say::unbuffered_and_through),
    flag("-i", Digits, "-i<count>", "-i8 -j10", "operations of a thread between two pauses; see -j", say::burst)
        .but(Approximate("a pause begins when all operations before it have completed"), |asked| {
            asked.target.burst.is_some()
        }),
    flag("-I", Digits, "-I<priority>", "-I1", "1 very low, 2 low, 3 normal priority of operations", say::priority)
        .default("3")
        .but(Ignored("operations have the priority of the process: begin the command line with ionice"), |asked| {
            asked.target.priority != Priority::Normal
        }),
    flag("-j", Digits, "-j<milliseconds>", "-i8 -j10", "length of a pause; see -i", say::think_time),
    flag("-l", Nothing, "-l", "-l", "large pages for buffers", |line, _| {
        line.target.uses_large_pages = true;
        Ok(())
    })
    .but(Ignored("buffers are registered with the kernel, where it takes them"), |asked| asked.target.uses_large_pages),
    flag("-L", Nothing, "-L", "-L", "tell latencies; they are always measured", |line, _| {
        line.span.measures_latency = true;
        Ok(())
    }),
    flag("-n", Nothing, "-n", "-n", "do not bind threads to processors unless -a says so", |line, _| {
        line.span.is_affinity_off = true;
        Ok(())
    }),
    flag("-Nv", Nothing, "-Nv", "-Sm -Nv", "flush each write to mapped memory to the file", |line, _| {
        line.target.flush = Some(Flush::View);
        Ok(())
    })
    .but(Approximate("fdatasync follows each write"), |asked| asked.target.flush == Some(Flush::View)),
    flag("-Nn", Nothing, "-Nn", "-Sm -Nn", "flush each write to persistent memory", |line, _| {
        line.target.flush = Some(Flush::Memory);
        Ok(())
    })
    .but(Refused("persistent memory is not measured by mapping it yet"), |asked| {
        asked.target.flush == Some(Flush::Memory)
    }),
    flag("-Ni", Nothing, "-Ni", "-Sm -Ni", "the same, without waiting until it is there", |line, _| {
        line.target.flush = Some(Flush::MemoryNoDrain);
        Ok(())
    })
    .but(Refused("persistent memory is not measured by mapping it yet"), |asked| {
        asked.target.flush == Some(Flush::MemoryNoDrain)
    }),
    flag("-o", Digits, "-o<count>", "-o8", "operations that each thread keeps in flight for each target", say::depth)
        .default("2"),
    flag(
        "-O",
        Digits,
        "-O<count>",
        "-F2 -O8",
        "operations that each thread of -F keeps in flight for all targets together, a whole number for each",
        say::depth_in_all,
    )
    .but(Approximate("each target has its share of the operations in flight all the time"), |asked| {
        asked.span.threads > 0 && asked.span.depth > 0 && asked.span.targets.len() > 1
    }),
    flag("-p", Nothing, "-p", "-p", "a thread's operations in flight all begin at the same place", |line, _| {
        line.target.is_parallel = true;
        Ok(())
    })
    .but(Refused("sequences that repeat each place are not there yet"), |asked| {
        asked.target.is_parallel && asked.target.depth > 1
    }),
    flag("-P", Anything, "-P[count]", "-P1000", "a dot after so many operations of a thread", say::progress)
        .default("off; 65536")
        .but(Ignored("progress is shown where a person watches"), |_| false),
    flag(
        "-r",
        Anything,
        "-r[align]",
        "-r4K",
        "random access, at multiples of that; nothing but a block is possible, which it is where it is not given",
        say::random,
    ),
    flag(
        "-rd",
        Anything,
        "-rd<pct|abs><io%/range>[:...]",
        "-r -rdpct90/10:5/5",
        "shares of random operations for ranges of the target: percentages of it, or sizes",
        say::distribution,
    )
    .default("uniform"),
    flag(
        "-rs",
        Anything,
        "-rs<percentage>",
        "-rs25",
        "random access for so many of a hundred operations",
        say::random_share,
    )
    .but(Approximate("in a sequence between two random places there are reads and writes, as -w says"), |asked| {
        (1..100).contains(&asked.target.random_percent()) && (1..100).contains(&asked.target.write_percent)
    }),
    flag("-R", Anything, "-R<text|xml>", "-Rxml", "how results are told", |line, text| say::format(line, text, false))
        .default("text"),
    flag("-Rp", Anything, "-Rp[text|xml]", "-Rpxml", "check and print what is asked, and do nothing", |line, text| {
        say::format(line, text, true)
    }),
    flag(
        "-s",
        Anything,
        "-s[stride]",
        "-s128K",
        "sequential access, with that from the beginning of one operation to that of the next, which is a block or more; \
         a block where it is not given",
        |line, text| say::sequential(line, text, false),
    ),
    flag(
        "-si",
        Anything,
        "-si[stride]",
        "-si",
        "the same, in one sequence that all threads of a target share",
        |line, text| say::sequential(line, text, true),
    )
    .but(Approximate("one thread keeps the operations of all in flight"), |asked| {
        let is_interlocked = matches!(asked.target.access, Access::Sequential { is_interlocked: true, .. });
        is_interlocked && asked.target.threads.max(asked.span.threads) > 1
    }),
    flag("-S", Nothing, "-S", "-S", "the same as -Su", |line, _| say::cache(line, Cache::None, "-S")),
    flag(
        "-Sb",
        Nothing,
        "-Sb",
        "-Sb",
        "go through the page cache; letters of -S can be joined, as in -Suw",
        |line, _| say::cache(line, Cache::All, "-Sb"),
    ),
    flag("-Sh", Nothing, "-Sh", "-Sh", "the same as -Suw", say::unbuffered_and_through),
    flag("-Sm", Nothing, "-Sm", "-Sm", "access by mapped memory", say::mapped)
        .but(Approximate("reads and writes go through the page cache, by calls instead of by page faults"), |asked| {
            asked.target.is_mapped
        }),
    flag(
        "-Sr",
        Nothing,
        "-Sr",
        "-Sr",
        "go around the cache of this machine, and through that of a server",
        |line, _| say::cache(line, Cache::NotLocal, "-Sr"),
    )
    .but(Refused("Linux cannot go around one and through the other"), |asked| asked.target.cache == Cache::NotLocal),
    flag("-Su", Nothing, "-Su", "-Su", "go around the page cache (O_DIRECT)", |line, _| {
        say::cache(line, Cache::None, "-Su")
    }),
    flag(
        "-Sw",
        Nothing,
        "-Sw",
        "-Sw",
        "a write has ended when it is durable, and not in the cache of a device only (O_DSYNC)",
        say::writes_through,
    ),
    flag("-t", Digits, "-t<count>", "-t8", "threads of each target", say::threads).default("1"),
    flag(
        "-T",
        Digits,
        "-T<offset>",
        "-t2 -T1M",
        "how far apart the sequences of two threads begin on the same target",
        say::thread_stride,
    )
    .default("0")
    .but(Approximate("each thread turns back where the last one of them has as much behind it"), |asked| {
        asked.target.thread_stride > 0
    }),
    flag("-v", Nothing, "-v", "-v", "tell more", |line, _| {
        line.profile.is_verbose = true;
        Ok(())
    })
    .but(Ignored("what diskspd tells then is about its own threads"), |_| false),
    flag("-vs", Nothing, "-vs", "-vs", "tell how often it waited for completions", |line, _| {
        line.profile.has_verbose_statistics = true;
        Ok(())
    })
    .but(Ignored("what diskspd tells then is about its own threads"), |_| false),
    flag("-w", Digits, "-w<percentage>", "-w50", "writes among operations; what is there is overwritten", say::writes)
        .default("0"),
    flag("-W", Digits, "-W<seconds>", "-W5", "load before the measurement", say::warmup).default("5"),
    flag("-x", Nothing, "-x", "-x", "completion routines instead of completion ports", |line, _| {
        line.span.uses_completion_routines = true;
        Ok(())
    })
    .but(Ignored("completions come as the kernel's io_uring or AIO has them"), |asked| {
        asked.span.uses_completion_routines
    }),
    flag(
        "-X",
        Anything,
        "-X<file>",
        "-Xprofile.xml",
        "take all from an XML profile but -W, -d, -C, -R, -v, -z and targets, which take the places of *1, *2 and so on",
        |_, _| Ok(()),
    ),
    windows(
        "-y",
        "-y<s|f|r|p|e><name>",
        "-ysstart",
        "wait for named events, and set them",
        "there are no named events on Linux: begin and end plimsoll with signals",
    ),
    flag("-z", Anything, "-z[seed]", "-z42", "what random numbers begin with; -z alone is drawn", say::seed)
        .default("drawn"),
    flag("-Z", Nothing, "-Z", "-Z", "write zeros", |line, _| {
        line.target.content = Content::Zero;
        Ok(())
    })
    .default("the bytes 0 to 255, repeated"),
    flag("-Zr", Nothing, "-Zr", "-Zr", "write random bytes, new ones each time", |line, _| {
        line.span.writes_random_data = true;
        Ok(())
    }),
    flag(
        "-Z",
        Digits,
        "-Z<size>[,<file>]",
        "-Z1M",
        "write parts of a buffer of random bytes; a file to fill it from is refused",
        say::buffer,
    )
    .but(Approximate("each write has new random bytes"), |asked| {
        matches!(asked.target.content, Content::Buffer { file: None, .. }) && asked.target.write_percent > 0
    }),
];

/// The flags that a word is, each with what stands behind its letters; several where letters are joined, as in `-Suw`.
pub(super) fn find(word: &str) -> Result<Vec<(&'static Flag, &str)>, Wrong> {
    let takes = |flag: &Flag, rest: &str| match flag.takes {
        Nothing => rest.is_empty(),
        Digits => rest.starts_with(|first: char| first.is_ascii_digit()),
        Anything => true,
    };
    let fitting = FLAGS.iter().filter_map(|flag| Some((flag, word.strip_prefix(flag.begins)?)));
    let longest = fitting.clone().filter(|(flag, rest)| takes(flag, rest)).max_by_key(|(flag, _)| flag.begins.len());
    if let Some(found) = longest {
        return Ok(vec![found]);
    }
    // Letters of -S and -f may be joined.
    let letters = word.strip_prefix("-S").map(|letters| ("-S", letters));
    let letters = letters.or_else(|| word.strip_prefix("-f").map(|letters| ("-f", letters)));
    if let Some((stem, letters)) = letters.filter(|(_, letters)| (2..64).contains(&letters.len())) {
        let flag = |letter: char| {
            FLAGS.iter().find(|flag| flag.begins.strip_prefix(stem).is_some_and(|rest| rest.chars().eq([letter])))
        };
        let joined: Option<Vec<_>> = letters.chars().map(|letter| Some((flag(letter)?, ""))).collect();
        return joined.ok_or_else(|| no_flag(word).instead(format!("write one of {}", forms(stem))));
    }
    let stem: String = word.chars().take(2).collect();
    let forms = forms(&stem);
    Err(if forms.is_empty() {
        no_flag(word).instead("plimsoll diskspd -? prints all")
    } else {
        Wrong::new(format!("\"{word}\" is not complete, or has something behind it")).instead(format!("write {forms}"))
    })
}

fn no_flag(word: &str) -> Wrong {
    Wrong::new(format!("there is no flag \"{word}\""))
}

/// How flags are written that begin so.
fn forms(stem: &str) -> String {
    let forms = FLAGS.iter().filter(|flag| flag.begins.starts_with(stem));
    forms.map(|flag| flag.form).collect::<Vec<_>>().join(", ")
}
