//! Results as XML, element for element as diskspd 2.2 prints them. What is of Windows alone is left out.

use jiff::tz::TimeZone;
use plimsoll_measure::{latency::LatencyHistogram, verdict::Verdict};
use plimsoll_record::results::JobDirection;
use quick_xml::escape::escape;

use super::{
    super::{profile::TimeSpan, profile_xml::Writer},
    Reported, Section, Span, TargetResult, ThreadResult, deviation, latency_deviation_ns, milliseconds,
};

/// Percentiles beside the whole ones, and how they are written.
const NINES: [&str; 7] = ["99.9", "99.99", "99.999", "99.9999", "99.99999", "99.999999", "99.9999999"];

pub(super) fn report(reported: &Reported<'_>) -> String {
    let mut out = Writer::default();
    out.within("Results", |out| {
        system(out, reported);
        out.profile(reported.profile);
        for span in reported.spans() {
            out.within("TimeSpan", |out| time_span(out, &span, reported));
        }
    });
    out.text
}

fn system(out: &mut Writer, reported: &Reported<'_>) {
    let machine = &reported.record.environment.machine;
    let started = reported.record.started.to_zoned(TimeZone::UTC).strftime("%Y/%m/%d %H:%M:%S UTC").to_string();
    out.within("System", |out| {
        out.value("ComputerName", machine.hostname.as_deref().unwrap_or(""));
        out.within("Tool", |out| {
            out.value("Version", format_args!("plimsoll {}", reported.record.tool.version));
            out.value("VersionDate", "");
        });
        out.value("RunTime", started);
        out.within_with("ProcessorTopology", " Heterogeneous=\"false\"", |out| {
            let count = machine.processors_online.unwrap_or(1);
            out.line(format_args!("<Group Group=\"0\" MaximumProcessors=\"{count}\" ActiveProcessors=\"{count}\"/>"));
        });
    });
}

fn time_span(out: &mut Writer, span: &Span<'_>, reported: &Reported<'_>) {
    if span.elapsed_ns == 0 {
        let text = "The test was interrupted before the measurements began. No results are displayed.";
        return out.value("Error", text);
    }
    let asked = span.asked;
    out.value("TestTimeSeconds", format_args!("{:.2}", span.seconds()));
    out.value("ThreadCount", span.threads);
    out.value("RequestCount", asked.depth);
    out.value("ProcCount", reported.record.environment.machine.processors_online.unwrap_or(1));
    processors(out, span);
    if asked.measures_latency {
        latency(out, span);
    }
    if asked.measures_deviation {
        iops(out, asked, &span.targets);
    }
    let rows = span.rows();
    for of_thread in rows.chunk_by(|(one, ..), (other, ..)| one == other) {
        out.within("Thread", |out| {
            out.value("Id", of_thread[0].0);
            for (_, target, thread) in of_thread {
                out.within("Target", |out| target_result(out, asked, target, thread));
            }
        });
    }
    own_words(out, span, reported);
}

fn processors(out: &mut Writer, span: &Span<'_>) {
    let shares = |out: &mut Writer, busy: f64, user: f64| {
        out.value("UsagePercent", format_args!("{busy:.2}"));
        out.value("UserPercent", format_args!("{user:.2}"));
        out.value("KernelPercent", format_args!("{:.2}", (busy - user).max(0.0)));
        out.value("IdlePercent", format_args!("{:.2}", (100.0 - busy).max(0.0)));
    };
    out.within("CpuUtilization", |out| {
        for processor in &span.processors {
            out.within("CPU", |out| {
                out.value("Group", 0);
                out.value("Id", processor.number);
                shares(out, processor.busy, processor.user);
            });
        }
        let (busy, user) = span.processors_mean();
        out.within("Average", |out| shares(out, busy, user));
    });
}

fn latency(out: &mut Writer, span: &Span<'_>) {
    let directions = ["Read", "Write", "Total"];
    let all = [Section::Read, Section::Write, Section::Total].map(|section| span.latencies(section));
    let buckets = |of: &Option<LatencyHistogram>| of.as_ref().map_or(0, |of| of.buckets().count());
    let attributes: String = (directions.iter().zip(&all))
        .map(|(direction, of)| format!(" {direction}HistoBuckets=\"{}\"", buckets(of)))
        .collect();
    out.within_with("Latency", &attributes, |out| {
        for (direction, of) in directions.iter().zip(&all) {
            let Some(of) = of else { continue };
            let of = JobDirection::of(0, 0, of);
            let prefix = if *direction == "Total" { "" } else { direction };
            out.milliseconds(&format!("Average{direction}Milliseconds"), of.latency_mean_ns);
            out.milliseconds(&format!("{prefix}LatencyStdev"), latency_deviation_ns(&of));
        }
        let bucket = |out: &mut Writer, percentile: &str, value: &dyn Fn(&LatencyHistogram) -> Option<u64>| {
            out.within("Bucket", |out| {
                out.value("Percentile", percentile);
                for (direction, of) in directions.iter().zip(&all) {
                    if let Some(ns) = of.as_ref().and_then(value) {
                        out.milliseconds(&format!("{direction}Milliseconds"), ns as f64);
                    }
                }
            });
        };
        bucket(out, "0", &LatencyHistogram::min_ns);
        let whole = (1..100).map(|percent: u32| percent.to_string());
        for percentile in whole.chain(NINES.map(str::to_owned)) {
            let quantile = percentile.parse::<f64>().unwrap_or(100.0) / 100.0;
            bucket(out, &percentile, &|of| of.quantile_ns(quantile));
        }
        bucket(out, "100", &LatencyHistogram::max_ns);
    });
}

fn target_result(out: &mut Writer, asked: &TimeSpan, target: &TargetResult<'_>, thread: &ThreadResult) {
    let all = thread.of(Section::Total);
    out.value("Path", &target.asked.path);
    out.value("BytesCount", all.bytes);
    out.value("FileSize", target.size_bytes);
    out.value("IOCount", all.operations);
    out.value("ReadBytes", thread.read.bytes);
    out.value("ReadCount", thread.read.operations);
    out.value("WriteBytes", thread.write.bytes);
    out.value("WriteCount", thread.write.operations);
    if asked.measures_latency {
        for (prefix, of) in [("Read", &thread.read), ("Write", &thread.write), ("", &all)] {
            if of.timed > 0 {
                out.milliseconds(&format!("Average{prefix}LatencyMilliseconds"), of.latency_mean_ns);
                out.milliseconds(&format!("{prefix}LatencyStdev"), latency_deviation_ns(of));
            }
        }
    }
    // What is counted second by second is counted for all threads of a target together.
    if asked.measures_deviation && target.threads.len() == 1 {
        iops(out, asked, std::slice::from_ref(target));
    }
}

/// How many operations there were in each interval of `-D`, over these targets.
fn iops(out: &mut Writer, asked: &TimeSpan, targets: &[TargetResult<'_>]) {
    let sums = |section| super::sums(targets, section, asked);
    let [total, reads, writes] = Section::ALL.map(sums);
    out.within("Iops", |out| {
        for (prefix, of) in [("Read", &reads), ("Write", &writes), ("", &total)] {
            if let Some(deviation) = deviation(of).filter(|_| of.iter().any(|count| *count > 0.0)) {
                out.value(&format!("{prefix}IopsStdDev"), format_args!("{deviation:.3}"));
            }
        }
        let length_ms = u64::from(super::bucket_seconds(asked)) * 1000;
        for (index, (reads, writes)) in reads.iter().zip(&writes).enumerate() {
            out.line(format_args!(
                "<Bucket SampleMillisecond=\"{}\" Read=\"{reads:.0}\" Write=\"{writes:.0}\" Total=\"{:.0}\"/>",
                length_ms * (index as u64 + 1),
                reads + writes
            ));
        }
    });
}

/// What diskspd does not say.
fn own_words(out: &mut Writer, span: &Span<'_>, reported: &Reported<'_>) {
    let record = if reported.is_kept { format!(" Record=\"{}\"", reported.record.id) } else { String::new() };
    out.within_with("Plimsoll", &record, |out| {
        for target in &span.targets {
            let cell = target.cell;
            let verdict = cell.verdict.map_or("", Verdict::as_str);
            out.line(format_args!(
                "<Verdict Target=\"{}\" Workload=\"{}\">{}</Verdict>",
                escape(target.asked.path.as_str()),
                escape(cell.workload.as_str()),
                escape(verdict)
            ));
            cell.findings.iter().for_each(|finding| out.value("Finding", &finding.text));
            for error in &cell.error_kinds {
                let (count, operation, error) = (error.count, &error.operation, &error.error);
                out.value("Failure", format_args!("{count} times a {operation} failed: {error}"));
            }
        }
        reported.notes.iter().for_each(|note| out.value("Note", note));
    });
}

impl Writer {
    fn milliseconds(&mut self, name: &str, ns: f64) {
        self.value(name, format_args!("{:.3}", milliseconds(ns)));
    }
}
