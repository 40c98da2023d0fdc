//! The text report, line for line as diskspd 2.2 prints it.

use std::fmt::{self, Display, Write as _};

use jiff::tz::TimeZone;
use plimsoll_measure::{
    latency::{LatencyHistogram, Percentile},
    verdict::Verdict,
};

use super::{
    super::profile::{
        Access, Cache, Content, Distribution, Flush, Priority, Profile, RangeUnit, Rate, Target, TimeSpan,
    },
    Reported, Section, Span, latency_deviation_ns, milliseconds,
};

const STARS: &str = "*******************************************************************************";

/// Percentiles and what they are called.
const PERCENTILES: [(f64, &str); 13] = [
    (0.25, "25th"),
    (0.50, "50th"),
    (0.75, "75th"),
    (0.90, "90th"),
    (0.95, "95th"),
    (0.99, "99th"),
    (0.999, "3-nines"),
    (0.999_9, "4-nines"),
    (0.999_99, "5-nines"),
    (0.999_999, "6-nines"),
    (0.999_999_9, "7-nines"),
    (0.999_999_99, "8-nines"),
    (0.999_999_999, "9-nines"),
];

pub(super) fn report(reported: &Reported<'_>) -> String {
    let mut out = profile(reported.profile, reported.command_line);
    system(&mut out, reported);
    let spans = reported.spans();
    for (index, span) in spans.iter().enumerate() {
        results(&mut out, index, span);
    }
    if spans.len() > 1 {
        totals(&mut out, &spans);
    }
    own_words(&mut out, reported, &spans);
    out
}

/// What is asked.
pub(super) fn profile(profile: &Profile, command_line: &str) -> String {
    let mut out = format!("\nCommand Line: {command_line}\n\n");
    if profile.experiments != 0 {
        let _ = writeln!(out, "Experiment Flags: 0x{0:x} ({0})\n", profile.experiments);
    }
    out += "Input parameters:\n\n";
    if profile.is_verbose {
        out += "\tusing verbose mode\n";
    }
    for (index, span) in profile.spans.iter().enumerate() {
        let _ = write!(out, "\ttimespan: {:3}\n\t-------------\n", index + 1);
        time_span(&mut out, span);
        out.push('\n');
    }
    out
}

fn time_span(out: &mut String, span: &TimeSpan) {
    let mut line = |line: &dyn Display| writeln!(out, "\t{line}").expect("a string has room");
    line(&format_args!("duration: {}s", span.duration_s));
    line(&format_args!("warm up time: {}s", span.warmup_s));
    line(&format_args!("cool down time: {}s", span.cooldown_s));
    if span.is_affinity_off {
        line(&"affinity disabled");
    }
    if span.measures_latency {
        line(&"measuring latency");
    }
    if span.measures_deviation {
        line(&format_args!("gathering IOPS at intervals of {}ms", span.bucket_ms));
    }
    line(&format_args!("random seed: {}", span.seed));
    if span.threads > 0 {
        line(&format_args!("thread pool with {} threads", span.threads));
        line(&format_args!("number of outstanding I/O operations per thread: {}", span.depth));
    }
    if !span.affinity.is_empty() {
        let processors = span.affinity.iter().map(|processor| format!("{}/{}", processor.group, processor.number));
        let list = processors.collect::<Vec<_>>().join(", ");
        line(&format_args!("advanced affinity round robin (group/core): {list}"));
    }
    if span.writes_random_data {
        line(&"generating random data for each write IO");
        line(&"  WARNING: this increases the CPU cost of issuing writes and should only");
        line(&"           be compared to other results using the -Zr flag");
    }
    for of in &span.targets {
        target(out, span, of);
    }
}

fn target(out: &mut String, span: &TimeSpan, target: &Target) {
    let _ = match target.path.strip_prefix('*') {
        Some(number) => writeln!(out, "\tpath: template target '{number}'"),
        None => writeln!(out, "\tpath: '{}'", target.path),
    };
    let mut line = |line: &dyn Display| writeln!(out, "\t\t{line}").expect("a string has room");
    line(&format_args!("think time: {}ms", target.think_time_ms.unwrap_or(0)));
    line(&format_args!("burst size: {}", target.burst.unwrap_or(0)));
    line(&match target.cache {
        Cache::All => "using software cache",
        Cache::NotLocal => "local software cache disabled, remote cache enabled",
        Cache::None => "software cache disabled",
    });
    line(&match (target.writes_through, target.cache) {
        (true, Cache::None) => "hardware write cache disabled, writethrough on",
        (true, _) => "hardware and software write caches disabled, writethrough on",
        (false, _) => "using hardware write cache, writethrough off",
    });
    if target.is_mapped {
        let flush = match target.flush {
            None => "",
            Some(Flush::View) => ", flush mode: FlushViewOfFile",
            Some(Flush::Memory) => ", flush mode: FlushNonVolatileMemory",
            Some(Flush::MemoryNoDrain) => ", flush mode: FlushNonVolatileMemory with no drain",
        };
        line(&format_args!("memory mapped I/O enabled{flush}"));
    }
    match &target.content {
        Content::Counting => {}
        Content::Zero => line(&"zeroing write buffers"),
        Content::Buffer { size, file } => {
            line(&format_args!("write buffer size: {}", Size(*size)));
            match file {
                Some(file) => line(&format_args!("write buffer source: '{file}'")),
                None => line(&"write buffer source: random fill"),
            }
        }
    }
    if target.is_parallel {
        line(&"using parallel async I/O");
    }
    match target.write_percent {
        0 => line(&"performing read test"),
        100 => line(&"performing write test"),
        writes => line(&format_args!("performing mix test (read/write ratio: {}/{writes})", 100 - writes)),
    }
    line(&format_args!("block size: {}", Size(target.block_size.into())));
    let alignment = Size(target.alignment());
    match &target.access {
        Access::Random { percent: 100, .. } => line(&format_args!("using random I/O (alignment: {alignment})")),
        Access::Random { percent, .. } => {
            line(&format_args!(
                "using mixed random/sequential I/O ({percent}% random) (alignment/stride: {alignment})"
            ));
        }
        Access::Sequential { is_interlocked, .. } => {
            let how = if *is_interlocked { " interlocked" } else { "" };
            line(&format_args!("using{how} sequential I/O (stride: {alignment})"));
        }
    }
    if span.threads == 0 || span.depth == 0 {
        line(&format_args!("number of outstanding I/O operations per thread: {}", target.depth));
    } else {
        line(&format_args!("relative IO weight in thread pool: {}", target.weight));
    }
    let sizes = [
        ("base file offset", target.base_offset),
        ("max file size", target.max_offset),
        ("thread stride size", target.thread_stride),
    ];
    for (what, size) in sizes.into_iter().filter(|(_, size)| *size > 0) {
        line(&format_args!("{what}: {}", Size(size)));
    }
    let hints = [
        (target.hints_sequential, "FILE_FLAG_SEQUENTIAL_SCAN"),
        (target.hints_random, "FILE_FLAG_RANDOM_ACCESS"),
        (target.hints_temporary, "FILE_ATTRIBUTE_TEMPORARY"),
    ];
    for (_, hint) in hints.into_iter().filter(|(is_given, _)| *is_given) {
        line(&format_args!("using {hint} hint"));
    }
    if span.threads == 0 {
        line(&format_args!("threads per file: {}", target.threads));
        if target.depth > 1 && span.uses_completion_routines {
            line(&"using completion routines (ReadFileEx/WriteFileEx)");
        } else if target.depth > 1 {
            line(&"using I/O Completion Ports");
        }
    }
    line(&match target.priority {
        Priority::VeryLow => "IO priority: very low",
        Priority::Low => "IO priority: low",
        Priority::Normal => "IO priority: normal",
    });
    match target.rate {
        Some(Rate::Iops(iops)) => line(&format_args!("throughput rate-limited to {iops} IOPS")),
        Some(Rate::BytesPerMillisecond(bytes)) => line(&format_args!("throughput rate-limited to {bytes} B/ms")),
        None => {}
    }
    if let Access::Random { distribution: Some(given), .. } = &target.access {
        line(&"IO Distribution:");
        distribution(given, &mut line);
    }
}

fn distribution(given: &Distribution, line: &mut dyn FnMut(&dyn Display)) {
    let mut from = 0_u64;
    for range in &given.ranges {
        let (percent, to) = (range.io_percent, from.saturating_add(range.size));
        match given.unit {
            RangeUnit::Percent => {
                line(&format_args!("   {percent:3}% of IO => [{from:2}% - {to:3}%) of target"));
            }
            RangeUnit::Bytes => {
                let from = if from == 0 { "     0   ".to_owned() } else { Size(from).aligned() };
                let to = if range.size == 0 { "      end".to_owned() } else { Size(to).aligned() };
                line(&format_args!("   {percent:3}% of IO => [{from} - {to})"));
            }
        }
        from = to;
    }
}

fn system(out: &mut String, reported: &Reported<'_>) {
    let machine = &reported.record.environment.machine;
    let started = reported.record.started.to_zoned(TimeZone::UTC).strftime("%Y/%m/%d %H:%M:%S UTC").to_string();
    let count = machine.processors_online.unwrap_or(1);
    let _ = write!(
        out,
        "System information:\n\n\tcomputer name: {}\n\tstart time: {started}\n\n\tcpu count:\t\t{count}\n",
        machine.hostname.as_deref().unwrap_or("")
    );
}

fn results(out: &mut String, index: usize, span: &Span<'_>) {
    let _ = write!(out, "\nResults for timespan {}:\n{STARS}\n", index + 1);
    if span.elapsed_ns == 0 {
        *out += "The test was interrupted before the measurements began. No results are displayed.\n";
        return;
    }
    let _ = write!(out, "\nactual test time:\t{:.2}s\nthread count:\t\t{}\n", span.seconds(), span.threads);
    if span.asked.threads > 0 && span.asked.depth > 0 {
        let _ = writeln!(out, "request count:\t\t{}", span.asked.depth);
    }
    processors(out, span);
    for (section, title) in Section::ALL.into_iter().zip(["Total IO", "Read IO", "Write IO"]) {
        let _ = writeln!(out, "\n{title}");
        section_table(out, section, span);
    }
    if span.asked.measures_latency {
        latencies(out, span);
    }
}

fn processors(out: &mut String, span: &Span<'_>) {
    const BORDER: &str = "----------------------------------------\n";
    *out += "\nCPU |  Usage |  User  | Kernel |  Idle\n";
    *out += BORDER;
    let cells = |busy: f64, user: f64| {
        format!("{busy:6.2}%| {user:6.2}%| {:6.2}%| {:6.2}%", (busy - user).max(0.0), (100.0 - busy).max(0.0))
    };
    for processor in &span.processors {
        let _ = writeln!(out, "{:4}| {}", processor.number, cells(processor.busy, processor.user));
    }
    *out += BORDER;
    let (busy, user) = span.processors_mean();
    let _ = writeln!(out, "avg.| {}", cells(busy, user));
}

fn border(span: &TimeSpan) -> String {
    let latency = if span.measures_latency { 11 + 12 } else { 0 };
    let deviation = if span.measures_deviation { 13 } else { 0 };
    "-".repeat(66 + latency + deviation + 12)
}

fn section_table(out: &mut String, section: Section, span: &Span<'_>) {
    let (asked, seconds) = (span.asked, span.seconds());
    let only = |is_told: bool, text: &'static str| if is_told { text } else { "" };
    let _ = writeln!(
        out,
        "thread |       bytes     |     I/Os     |    MiB/s   |  I/O per s {}{}{}|  file",
        only(asked.measures_latency, "|  AvgLat  "),
        only(asked.measures_deviation, "| IopsStdDev "),
        only(asked.measures_latency, "| LatStdDev ")
    );
    let border = border(asked);
    let _ = writeln!(out, "{border}");
    let rate = |bytes: u64, operations: u64| {
        let (mib, iops) = (bytes as f64 / 1024.0 / 1024.0 / seconds, operations as f64 / seconds);
        format!("{bytes:15} | {operations:12} | {mib:10.2} | {iops:10.2}")
    };
    let statistics = |out: &mut String, mean_ns: f64, iops_deviation: Option<f64>, latency_deviation: Option<f64>| {
        if asked.measures_latency {
            let _ = write!(out, " | {:8.3}", milliseconds(mean_ns));
        }
        if asked.measures_deviation {
            let _ = match iops_deviation {
                Some(deviation) => write!(out, " | {deviation:10.2}"),
                None => write!(out, " | {:>10}", "N/A"),
            };
        }
        if asked.measures_latency {
            let _ = match latency_deviation {
                Some(ns) => write!(out, " |  {:8.3}", milliseconds(ns)),
                None => write!(out, " |       N/A"),
            };
        }
    };
    let mut sum = plimsoll_record::results::JobDirection::default();
    for (index, target, thread) in span.rows() {
        let of = thread.of(section);
        let _ = write!(out, "{index:6} | {}", rate(of.bytes, of.operations));
        let is_alone = target.threads.len() == 1;
        let iops_deviation = if is_alone { target.iops_deviation(section, asked) } else { None };
        statistics(out, of.latency_mean_ns, iops_deviation, (of.timed > 0).then(|| latency_deviation_ns(&of)));
        let _ = writeln!(out, " | {} ({})", target.asked.path, Size(target.size_bytes));
        sum.add(&of);
    }
    let _ = write!(out, "{border}\ntotal:   {}", rate(sum.bytes, sum.operations));
    let deviation_ns = (sum.timed > 0).then(|| latency_deviation_ns(&sum));
    statistics(out, sum.latency_mean_ns, span.iops_deviation(section), deviation_ns);
    out.push('\n');
}

fn latencies(out: &mut String, span: &Span<'_>) {
    if span.targets.len() > 1 {
        for target in &span.targets {
            let _ = writeln!(out, "\nLatency distribution: {}", target.asked.path);
            chart(out, Section::ALL.map(|section| target.latencies(section)));
        }
    }
    *out += "\nTotal latency distribution:\n";
    chart(out, Section::ALL.map(|section| span.latencies(section)));
}

fn chart(out: &mut String, [total, read, write]: [Option<LatencyHistogram>; 3]) {
    *out += "  %-ile |  Read (ms) | Write (ms) | Total (ms)\n----------------------------------------------\n";
    let total = total.unwrap_or_else(LatencyHistogram::fine);
    let mut row = |name: &str, of: &dyn Fn(&LatencyHistogram) -> Option<u64>| {
        let cell = |histogram: &Option<LatencyHistogram>| {
            let ns = histogram.as_ref().and_then(of);
            ns.map_or_else(|| "N/A".to_owned(), |ns| format!("{:.3}", milliseconds(ns as f64)))
        };
        let all = milliseconds(of(&total).unwrap_or(0) as f64);
        let _ = writeln!(out, "{name:>7} | {:>10} | {:>10} | {all:10.3}", cell(&read), cell(&write));
    };
    row("min", &LatencyHistogram::min_ns);
    for (quantile, name) in PERCENTILES {
        row(name, &|histogram| histogram.quantile_ns(quantile));
    }
    row("max", &LatencyHistogram::max_ns);
}

fn totals(out: &mut String, spans: &[Span<'_>]) {
    let seconds: f64 = spans.iter().map(Span::seconds).sum();
    let sum = |section| {
        let mut sum = plimsoll_record::results::JobDirection::default();
        spans.iter().flat_map(Span::rows).for_each(|(_, _, thread)| sum.add(&thread.of(section)));
        sum
    };
    const BORDER: &str = "-------------------------------------------------------------------------------\n";
    let _ = write!(
        out,
        "\n\nTotals:\n{STARS}\n\ntype   |       bytes     |     I/Os     |    MiB/s   |  I/O per s\n{BORDER}"
    );
    let row = |name: &str, section| {
        let of = sum(section);
        let (mib, iops) = (of.bytes as f64 / 1024.0 / 1024.0 / seconds, of.operations as f64 / seconds);
        format!("{name:6} | {:15} | {:12} | {mib:10.2} | {iops:10.2}\n", of.bytes, of.operations)
    };
    *out += &row("write", Section::Write);
    *out += &row("read", Section::Read);
    *out += BORDER;
    *out += &row("total", Section::Total);
    let _ = writeln!(out, "\ntotal test time:\t{seconds:.2}s");
}

/// What diskspd does not say, in lines that begin with who says it.
fn own_words(out: &mut String, reported: &Reported<'_>, spans: &[Span<'_>]) {
    let mut lines: Vec<String> = Vec::new();
    for span in spans {
        if let Some(latencies) = span.latencies(Section::Total).filter(|_| span.asked.measures_latency) {
            lines.extend(unsupported(&latencies));
        }
        for target in &span.targets {
            let (cell, path) = (target.cell, &target.asked.path);
            let verdict = cell.verdict.map(Verdict::as_str).or(cell.verdict_reason.as_deref());
            lines.push(format!("{path}: {}", verdict.unwrap_or("no verdict")));
            lines.extend(cell.findings.iter().map(|finding| format!("{path}: {}", finding.text)));
            for error in &cell.error_kinds {
                lines.push(format!("{path}: {} times a {} failed: {}", error.count, error.operation, error.error));
            }
        }
    }
    lines.extend(reported.record.warnings.iter().cloned());
    lines.extend(reported.notes.iter().map(|note| format!("note: {note}")));
    if reported.is_kept {
        lines.push(format!("everything is in the record {}", reported.record.id));
    }
    lines.dedup();
    out.push('\n');
    for line in lines {
        let _ = writeln!(out, "plimsoll: {line}");
    }
}

/// From which percentile on these are too few.
fn unsupported(latencies: &LatencyHistogram) -> Option<String> {
    PERCENTILES.into_iter().find_map(|(quantile, name)| match latencies.percentile(quantile) {
        Percentile::Supported(_) => None,
        Percentile::Unsupported { needed, have } => Some(format!(
            "percentiles from {name} on stand for a few operations: {name} needs {needed} of them, and there were {have}"
        )),
    })
}

/// Bytes as diskspd tells them.
struct Size(u64);

impl Size {
    fn unit(&self) -> Option<(u32, &'static str)> {
        [(40, "TiB"), (30, "GiB"), (20, "MiB"), (10, "KiB")].into_iter().find(|(shift, _)| self.0 >= 1 << shift)
    }

    /// The same in a column.
    fn aligned(&self) -> String {
        match self.unit() {
            Some((shift, unit)) if self.0.trailing_zeros() >= shift => format!("{:6}{unit}", self.0 >> shift),
            Some((shift, unit)) => format!("{:6.2}{unit}", self.0 as f64 / (1_u64 << shift) as f64),
            None => self.0.to_string(),
        }
    }
}

impl Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.unit() {
            Some((shift, unit)) if self.0.trailing_zeros() >= shift => write!(f, "{}{unit}", self.0 >> shift),
            Some((shift, unit)) => write!(f, "{:.2}{unit}", self.0 as f64 / (1_u64 << shift) as f64),
            None => write!(f, "{}", self.0),
        }
    }
}
