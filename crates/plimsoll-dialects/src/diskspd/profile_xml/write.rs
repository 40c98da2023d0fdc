//! A profile in diskspd's layout: its elements, order and indentation.

use std::fmt::{Display, Write as _};

use quick_xml::escape::minimal_escape;

use super::super::profile::{
    Access, Cache, Content, Flush, Priority, Profile, RangeUnit, Rate, ResultFormat, Target, TimeSpan,
};

/// A profile as XML, the same as diskspd prints it.
pub fn write(profile: &Profile) -> String {
    let mut out = Writer::default();
    out.profile(profile);
    out.text
}

/// Elements in lines.
#[derive(Default)]
pub(in crate::diskspd) struct Writer {
    pub(in crate::diskspd) text: String,
    indent: usize,
}

impl Writer {
    pub(in crate::diskspd) fn profile(&mut self, profile: &Profile) {
        self.within("Profile", |out| {
            out.value("Progress", profile.progress);
            if profile.experiments != 0 {
                out.value("ExperimentFlags", profile.experiments);
            }
            let format = if profile.format == ResultFormat::Xml { "xml" } else { "text" };
            out.value("ResultFormat", format);
            out.value("Verbose", profile.is_verbose);
            out.when("VerboseStats", profile.has_verbose_statistics);
            out.within("TimeSpans", |out| profile.spans.iter().for_each(|time| span(out, time)));
        });
    }

    pub(in crate::diskspd) fn line(&mut self, line: impl Display) {
        let _ = writeln!(self.text, "{:1$}{line}", "", self.indent * 2);
    }

    pub(in crate::diskspd) fn value(&mut self, name: &str, value: impl Display) {
        let value = value.to_string();
        self.line(format_args!("<{name}>{}</{name}>", minimal_escape(value.as_str())));
    }

    /// A flag that is written only when it is set.
    fn when(&mut self, name: &str, is_set: bool) {
        if is_set {
            self.value(name, true);
        }
    }

    fn given(&mut self, name: &str, value: Option<impl Display>) {
        if let Some(value) = value {
            self.value(name, value);
        }
    }

    pub(in crate::diskspd) fn within(&mut self, name: &str, inside: impl FnOnce(&mut Self)) {
        self.within_with(name, "", inside);
    }

    /// The same for an element with attributes.
    pub(in crate::diskspd) fn within_with(&mut self, name: &str, attributes: &str, inside: impl FnOnce(&mut Self)) {
        self.line(format_args!("<{name}{attributes}>"));
        self.indent += 1;
        inside(self);
        self.indent -= 1;
        self.line(format_args!("</{name}>"));
    }
}

fn span(out: &mut Writer, span: &TimeSpan) {
    out.within("TimeSpan", |out| {
        out.value("CompletionRoutines", span.uses_completion_routines);
        out.value("MeasureLatency", span.measures_latency);
        out.value("CalculateIopsStdDev", span.measures_deviation);
        out.value("DisableAffinity", span.is_affinity_off);
        out.value("Duration", span.duration_s);
        out.value("Warmup", span.warmup_s);
        out.value("Cooldown", span.cooldown_s);
        out.value("ThreadCount", span.threads);
        out.value("RequestCount", span.depth);
        out.value("IoBucketDuration", span.bucket_ms);
        out.value("RandSeed", span.seed);
        // Diskspd forgets this one, and reads it.
        out.when("RandomWriteData", span.writes_random_data);
        if !span.affinity.is_empty() {
            out.within("Affinity", |out| {
                for processor in &span.affinity {
                    let (group, number) = (processor.group, processor.number);
                    out.line(format_args!("<AffinityGroupAssignment Group=\"{group}\" Processor=\"{number}\"/>"));
                }
            });
        }
        out.within("Targets", |out| span.targets.iter().for_each(|of| target(out, of)));
    });
}

fn target(out: &mut Writer, target: &Target) {
    out.within("Target", |out| {
        out.value("Path", &target.path);
        out.value("BlockSize", target.block_size);
        out.value("BaseFileOffset", target.base_offset);
        out.value("SequentialScan", target.hints_sequential);
        out.value("RandomAccess", target.hints_random);
        out.value("TemporaryFile", target.hints_temporary);
        out.value("UseLargePages", target.uses_large_pages);
        out.when("DisableLocalCache", target.cache == Cache::NotLocal);
        out.when("DisableOSCache", target.cache == Cache::None);
        out.when("WriteThrough", target.writes_through);
        out.when("MemoryMappedIo", target.is_mapped);
        out.given(
            "FlushType",
            target.flush.map(|flush| match flush {
                Flush::View => "ViewOfFile",
                Flush::Memory => "NonVolatileMemory",
                Flush::MemoryNoDrain => "NonVolatileMemoryNoDrain",
            }),
        );
        out.within("WriteBufferContent", |out| content(out, &target.content));
        out.value("ParallelAsyncIO", target.is_parallel);
        out.given("BurstSize", target.burst);
        out.given("ThinkTime", target.think_time_ms);
        out.given("FileSize", target.file_size);
        access(out, target);
        out.value("ThreadStride", target.thread_stride);
        out.value("MaxFileSize", target.max_offset);
        out.value("RequestCount", target.depth);
        out.value("WriteRatio", target.write_percent);
        match target.rate {
            Some(Rate::Iops(iops)) => out.line(format_args!("<Throughput unit=\"IOPS\">{iops}</Throughput>")),
            Some(Rate::BytesPerMillisecond(bytes)) => out.value("Throughput", bytes),
            None => out.value("Throughput", 0),
        }
        out.value("ThreadsPerFile", target.threads);
        let priority = match target.priority {
            Priority::VeryLow => 1,
            Priority::Low => 2,
            Priority::Normal => 3,
        };
        out.value("IOPriority", priority);
        out.value("Weight", target.weight);
        if !target.thread_targets.is_empty() {
            out.within("ThreadTargets", |out| {
                for of in &target.thread_targets {
                    out.within("ThreadTarget", |out| {
                        out.value("Thread", of.thread);
                        out.given("Weight", Some(of.weight).filter(|weight| *weight > 0));
                    });
                }
            });
        }
    });
}

fn content(out: &mut Writer, content: &Content) {
    match content {
        Content::Zero => out.value("Pattern", "zero"),
        Content::Counting => out.value("Pattern", "sequential"),
        Content::Buffer { size, file } => {
            out.value("Pattern", "random");
            out.within("RandomDataSource", |out| {
                out.value("SizeInBytes", size);
                out.given("FilePath", file.as_ref());
            });
        }
    }
}

fn access(out: &mut Writer, target: &Target) {
    match &target.access {
        Access::Sequential { is_interlocked, .. } => {
            out.value("StrideSize", target.alignment());
            out.value("InterlockedSequential", is_interlocked);
        }
        Access::Random { percent, distribution, .. } => {
            out.value("Random", target.alignment());
            out.given("RandomRatio", Some(percent).filter(|percent| **percent < 100));
            let Some(distribution) = distribution else { return };
            let unit = if distribution.unit == RangeUnit::Percent { "Percent" } else { "Absolute" };
            out.within("Distribution", |out| {
                out.within(unit, |out| {
                    for range in &distribution.ranges {
                        out.line(format_args!("<Range IO=\"{}\">{}</Range>", range.io_percent, range.size));
                    }
                });
            });
        }
    }
}
