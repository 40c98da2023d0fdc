//! What was measured, where and with what: the lines above a table.

use plimsoll_record::{
    client::ClientActivity,
    cluster::{ClusterEnvironment, VolumeEnvironment},
    environment::{CloudEnvironment, ContainerKind, DeviceEnvironment, TargetEnvironment, TargetKind},
    event::SlotPurpose,
    numbers,
    record::{Cell, Outcome, Record},
    results::SlotSummary,
};
use plimsoll_workload::{file_set::FilePlan, plan::BlockPlan, settings::EngineChoice};

use crate::found;

/// A labelled line.
pub(crate) struct Fact {
    pub(crate) label: String,
    pub(crate) text: String,
}

/// The targets of a record, in the order they are shown.
pub(crate) fn targets(record: &Record) -> Vec<&str> {
    let mut targets: Vec<&str> = Vec::new();
    for cell in &record.cells {
        if !targets.contains(&cell.target.as_str()) {
            targets.push(&cell.target);
        }
    }
    targets
}

/// The cells that ran at the same time as one.
pub(crate) fn company<'a>(record: &'a Record, cell: &'a Cell) -> impl Iterator<Item = &'a Cell> {
    record.cells.iter().filter(move |other| cell.ran_beside(other))
}

/// The short name of a target among several.
pub(crate) fn letter(index: usize) -> String {
    u8::try_from(index)
        .ok()
        .filter(|index| *index < 26)
        .map_or_else(|| format!("#{}", index + 1), |index| char::from(b'A' + index).to_string())
}

/// How a run ended, when it did not end as planned: a word and a sentence.
pub(crate) fn outcome(record: &Record) -> Option<(&'static str, String)> {
    let after = numbers::duration(record.elapsed_ns);
    match record.outcome {
        Outcome::Complete => None,
        Outcome::Interrupted if record.has_only_lives() => {
            Some(("INTERRUPTED", format!("after {after}: not all volumes that were planned had lived by then.")))
        }
        Outcome::Failed if record.has_only_lives() => {
            Some(("FAILED", format!("after {after}: not every life of a volume came to its end.")))
        }
        Outcome::Interrupted if record.cells.iter().all(has_nothing) => {
            Some(("INTERRUPTED", format!("after {after}: nothing had been measured by then.")))
        }
        Outcome::Interrupted => {
            Some(("INTERRUPTED", format!("after {after}: the numbers are those measured until then.")))
        }
        Outcome::Failed => Some(("FAILED", format!("after {after}: not everything that was planned was measured."))),
        Outcome::Lost => Some((
            "LOST",
            format!("after {after}: nobody told how it ended, and this was put together from what was told by then."),
        )),
    }
}

/// Whether nothing was measured of a cell: it was not begun, or no operation had ended.
fn has_nothing(cell: &Cell) -> bool {
    let directions = [&cell.read, &cell.write, &cell.sync];
    let is_idle = directions.into_iter().flatten().all(|direction| direction.operations == 0);
    cell.verdict.is_none() || cell.blocks().is_some() && is_idle
}

/// All lines above the tables.
pub(crate) fn of(record: &Record) -> Vec<Fact> {
    let fact = |label: &str, text: String| Fact { label: label.to_owned(), text };
    let targets = targets(record);
    let mut facts: Vec<Fact> = targets
        .iter()
        .enumerate()
        .map(|(index, name)| {
            let label = if targets.len() == 1 { "target".to_owned() } else { letter(index) };
            Fact { label, text: target(record, name) }
        })
        .collect();
    match &record.import {
        Some(_) => facts.push(fact("source", found::source(record))),
        None if record.has_only_lives() => facts.extend(lived(record)),
        None => facts.extend(measured(record)),
    }
    facts.push(fact("run", run(record)));
    facts.extend(record.name.as_ref().map(|name| fact("name", name.clone())));
    if !record.tags.is_empty() {
        let tags: Vec<String> = record.tags.iter().map(|(key, value)| format!("{key}={value}")).collect();
        facts.push(fact("tags", tags.join(", ")));
    }
    facts
}

/// Which volumes lived where.
fn lived(record: &Record) -> Vec<Fact> {
    let cluster_of = record.environment.cluster.as_ref();
    let volumes = cluster_of.iter().flat_map(|cluster| &cluster.volumes);
    let volume = |volume: &VolumeEnvironment| Fact {
        label: "volumes".to_owned(),
        text: format!("{}: {}", volume.target, describe_volume(volume)),
    };
    let told = cluster_of.map(|told| Fact { label: "cluster".to_owned(), text: cluster(told) });
    volumes.map(volume).chain(told).collect()
}

/// What plimsoll did, with what and where.
fn measured(record: &Record) -> Vec<Fact> {
    let fact = |label: &str, text: String| Fact { label: label.to_owned(), text };
    let mut facts = vec![fact("load", load(&record.cells))];
    facts.extend(record.asked.certainty.limit.map(|limit| fact("limit", limit.to_string())));
    facts.extend(layout(record).map(|text| fact("layout", text)));
    facts.push(fact("engine", engines(record)));
    facts.extend(Some(machine(record)).filter(|text| !text.is_empty()).map(|text| fact("machine", text)));
    facts.extend(record.environment.cloud.as_ref().map(|told| fact("cloud", cloud(told))));
    facts.extend(record.environment.cluster.as_ref().map(|told| fact("cluster", cluster(told))));
    if let Some(command) = &record.asked.background {
        facts.push(fact("beside", command.clone()));
        facts.push(fact("pressure", pressure(&record.cells)));
    }
    facts
}

pub(crate) const fn kind_word(kind: TargetKind) -> &'static str {
    match kind {
        TargetKind::Directory => "directory",
        TargetKind::File => "file",
        TargetKind::Device => "block device",
    }
}

/// A target with what lies behind it, as far as is known.
pub(crate) fn target(record: &Record, name: &str) -> String {
    let is_virtual = record.environment.machine.hypervisor == Some(true);
    let known = record.environment.targets.iter().find(|known| known.name == name);
    let described = known.map_or_else(
        || name.to_owned(),
        |known| {
            let place = record.environment.place_of(name).map_or_else(String::new, |path| format!(" ({path})"));
            format!("{name}{place}: {}", describe_target(known, is_virtual))
        },
    );
    let volumes = record.environment.cluster.iter().flat_map(|cluster| &cluster.volumes);
    match volumes.into_iter().find(|volume| volume.target == name) {
        Some(volume) => format!("{described}; {}", describe_volume(volume)),
        None => described,
    }
}

fn describe_volume(volume: &VolumeEnvironment) -> String {
    let mut parts = Vec::new();
    parts.extend(volume.class.as_ref().map(|class| format!("StorageClass {class}")));
    parts.extend(volume.driver.as_ref().map(|driver| format!("driver {driver}")));
    parts.extend(volume.size_bytes.map(numbers::bytes));
    if volume.is_kept {
        parts.push(format!("claim {}", volume.claim));
    }
    parts.join(", ")
}

fn describe_target(target: &TargetEnvironment, is_virtual: bool) -> String {
    let mut parts = vec![match target.kind {
        // Room is told where files are made, so not of a file that was there.
        TargetKind::File if target.free_bytes.is_some() => "new file".to_owned(),
        kind => kind_word(kind).to_owned(),
    }];
    if let (Some(mount), true) = (&target.mount, target.kind != TargetKind::Device) {
        parts[0] += &format!(" on {}", mount.file_system);
        if target.device.is_none() {
            parts[0] += &format!(" of {}", mount.source);
        }
    }
    parts.extend(target.device.as_ref().map(|device| describe_device(device, is_virtual)));
    parts.extend(target.free_bytes.map(|free| format!("{} free", numbers::bytes(free))));
    parts.join(", ")
}

fn describe_device(device: &DeviceEnvironment, is_virtual: bool) -> String {
    let mut facts: Vec<String> = Vec::new();
    facts.extend(device.model.as_deref().map(|model| model.trim().to_owned()).filter(|model| !model.is_empty()));
    facts.extend(device.transport.clone().filter(|transport| !device.name.starts_with(transport.as_str())));
    facts.extend(device.size_bytes.map(numbers::bytes));
    // Hypervisors say so of disks that have never turned.
    if device.rotational == Some(true) && !is_virtual {
        facts.push("spinning".to_owned());
    }
    if !device.beneath.is_empty() {
        facts.push(format!("over {}", device.beneath.join(", ")));
    }
    let name = device.partition.as_deref().unwrap_or(&device.name);
    if facts.is_empty() { name.to_owned() } else { format!("{name} ({})", facts.join(", ")) }
}

/// `one` when all are the same, else the span from the least to the greatest.
fn span(values: impl Iterator<Item = u64> + Clone, format: fn(u64) -> String) -> Option<String> {
    Some(numbers::range(values.clone().min()?, values.max()?, format))
}

fn load(cells: &[Cell]) -> String {
    let plans = cells.iter().filter_map(|cell| cell.blocks());
    let (of_names, of_blocks): (Vec<&BlockPlan>, Vec<&BlockPlan>) =
        plans.clone().partition(|plan| plan.name_operation().is_some());
    let sizes = of_blocks.iter().map(|plan| plan.working_set_bytes());
    let files = of_names.iter().map(|plan| u64::from(plan.files_in_all()));
    let mut parts: Vec<String> =
        span(sizes, numbers::bytes).map(|size| format!("working set {size}")).into_iter().collect();
    parts.extend(span(files, numbers::count).map(|files| format!("{files} files to create, stat or delete")));
    let sets = cells.iter().filter_map(Cell::file_plan);
    let set_files = sets.clone().map(|plan| u64::from(plan.file_count));
    if let (Some(files), Some(bytes)) =
        (span(set_files, numbers::count), span(sets.clone().map(FilePlan::content_bytes), numbers::bytes))
    {
        let noun = if files == "1" { "file" } else { "files" };
        parts.push(match sets.map(FilePlan::content_bytes).max() {
            Some(1..) => format!("sets of {files} {noun}, {bytes} in each set"),
            _ => format!("sets of {files} empty {noun}"),
        });
    }
    let applications = cells.iter().filter(|cell| cell.application.is_some()).count() as u64;
    if applications > 0 {
        parts.push(if applications == 1 {
            "a command timed".to_owned()
        } else {
            format!("{} commands timed", numbers::count(applications))
        });
    }
    let has_sets = applications > 0 || cells.iter().any(|cell| cell.files.is_some());
    parts.extend((!(has_sets && of_blocks.is_empty())).then(|| match plans.filter(|plan| plan.buffered).count() {
        _ if of_blocks.is_empty() => "nothing read or written".to_owned(),
        0 => "direct I/O".to_owned(),
        count if count == cells.len() => "buffered I/O (page cache in play)".to_owned(),
        count => format!("direct I/O, {count} of {} workloads buffered", cells.len()),
    }));
    let measured = cells.iter().filter_map(|cell| {
        if cell.application.is_some() {
            return Some(cell.durations().iter().map(|duration| duration.elapsed_ns).sum());
        }
        if cell.files.is_some() {
            let samples = cell.whole_phases().flat_map(|phase| &phase.samples);
            return Some(samples.map(|sample| sample.elapsed_ns).sum());
        }
        [&cell.read, &cell.write, &cell.sync].into_iter().flatten().map(|result| result.elapsed_ns).max()
    });
    let measured: Vec<u64> = measured.filter(|elapsed_ns| *elapsed_ns > 0).collect();
    let measured_cells = measured.len();
    if let Some(time) = span(measured.into_iter(), numbers::duration) {
        let slots = |is_one: fn(&SlotSummary) -> bool| {
            let counts = cells.iter().map(|cell| cell.slots.iter().filter(|slot| is_one(slot)).count() as u64);
            span(counts.filter(|slots| *slots > 0), numbers::count)
        };
        let measured = slots(|slot| slot.counted).unwrap_or_default();
        let unit = if measured == "1" { "slot" } else { "slots" };
        let each = match cells.len() {
            1 => String::new(),
            count if measured_cells == count => "each workload ".to_owned(),
            count => format!("{measured_cells} of {count} workloads "),
        };
        let discarded = slots(|slot| slot.purpose == SlotPurpose::Discarded).map(|count| format!("{count} discarded"));
        let left_out = slots(|slot| !slot.counted && slot.purpose != SlotPurpose::Discarded);
        let left_out = left_out.map(|count| format!("{count} left out"));
        let seconds = cells.iter().map(Cell::left_out_ns).filter(|left_out_ns| *left_out_ns > 0);
        let seconds = span(seconds, numbers::duration).map(|time| format!("{time} left out"));
        let others: Vec<_> = discarded.into_iter().chain(left_out).chain(seconds).collect();
        let others = if others.is_empty() { String::new() } else { format!(" (besides {})", others.join(", ")) };
        parts.push(format!("{each}measured {time} in {measured} {unit}{others}"));
    }
    parts.join(", ")
}

/// What was written before the measurement, and how long that took.
fn layout(record: &Record) -> Option<String> {
    let bytes: u64 = record.layouts.iter().map(|layout| layout.written_bytes).sum();
    let elapsed_ns: u64 = record.layouts.iter().map(|layout| layout.elapsed_ns).sum();
    (bytes > 0).then(|| format!("{} written in {} first", numbers::bytes(bytes), numbers::duration(elapsed_ns)))
}

/// Workloads that are named one by one in a sentence that is about several.
const NAMES_MAX: usize = 4;

/// The names of cells, with their targets' letters when there are several targets.
pub(crate) fn names(record: &Record, cells: &[usize]) -> String {
    names_by(record, cells, |index, _| letter(index))
}

/// The same, with what their targets are called by their places and names.
pub(crate) fn names_by(record: &Record, cells: &[usize], called: impl Fn(usize, &str) -> String) -> String {
    let targets = targets(record);
    let name = |index: &usize| {
        let cell = &record.cells[*index];
        match targets.iter().position(|target| *target == cell.target) {
            Some(target) if targets.len() > 1 => format!("{} {}", called(target, &cell.target), cell.workload),
            _ => cell.workload.clone(),
        }
    };
    let mut names: Vec<String> = cells.iter().take(NAMES_MAX).map(name).collect();
    if cells.len() > NAMES_MAX {
        names.push(format!("{} more", cells.len() - NAMES_MAX));
    }
    names.join(", ")
}

/// The engine that most cells used, and the others with the cells that used them.
fn engines(record: &Record) -> String {
    let mut engines: Vec<(&str, Vec<usize>)> = Vec::new();
    for (index, cell) in record.cells.iter().enumerate().filter(|(_, cell)| cell.engine != EngineChoice::Auto) {
        // The usual engine needs no reason; any other does.
        let text = match cell.engine {
            EngineChoice::IoUring => cell.engine.as_str(),
            _ if cell.engine_reason.is_empty() => cell.engine.as_str(),
            _ => &cell.engine_reason,
        };
        match engines.iter_mut().find(|(known, _)| *known == text) {
            Some((_, cells)) => cells.push(index),
            None => engines.push((text, vec![index])),
        }
    }
    engines.sort_by_key(|(_, cells)| std::cmp::Reverse(cells.len()));
    let Some(((usual, _), others)) = engines.split_first() else {
        return "none was chosen".to_owned();
    };
    let others = others.iter().map(|(engine, cells)| format!("; {}: {engine}", names(record, cells)));
    (*usual).to_owned() + &others.collect::<String>()
}

fn machine(record: &Record) -> String {
    let environment = &record.environment;
    let machine = &environment.machine;
    let mut parts: Vec<String> = Vec::new();
    if let Some(kernel) = &machine.kernel_release {
        let architecture = machine.architecture.as_deref().unwrap_or_default();
        parts.push(format!("kernel {kernel} {architecture}").trim_end().to_owned());
    }
    if let Some(count) = machine.processors_allowed.or(machine.processors_online) {
        parts.push(format!("{count} {}", if count == 1 { "processor" } else { "processors" }));
    }
    let cgroup = environment.cgroup.as_ref();
    parts.extend(
        cgroup
            .and_then(|group| group.cpu_quota_processors)
            .map(|quota| format!("CPU quota {}", numbers::processors(quota))),
    );
    parts.extend(machine.memory_bytes.map(|bytes| format!("{} memory", numbers::bytes(bytes))));
    parts.extend(machine.product.clone());
    let container = environment.container.as_ref().map(|container| container.kind);
    parts.extend(container.and_then(container_word).map(str::to_owned));
    parts.join(", ")
}

/// `Azure Standard_D16s_v5 in westeurope, zone 1`
fn cluster(cluster: &ClusterEnvironment) -> String {
    let mut parts =
        vec![format!("Kubernetes {}", cluster.version.as_deref().unwrap_or_default()).trim_end().to_owned()];
    for node in &cluster.nodes {
        let facts = [&node.instance_type, &node.zone, &node.container_runtime, &node.operating_system];
        let facts: Vec<&str> = facts.into_iter().filter_map(|fact| fact.as_deref()).collect();
        let facts = if facts.is_empty() { String::new() } else { format!(" ({})", facts.join(", ")) };
        parts.push(format!("{}{facts}", node.name));
    }
    parts.push(format!("namespace {}", cluster.namespace));
    parts.push(format!("image {}", cluster.image));
    parts.join(", ")
}

fn cloud(cloud: &CloudEnvironment) -> String {
    let mut text = cloud.provider.name().to_owned();
    let parts = [(" ", &cloud.instance_type), (" in ", &cloud.region), (", zone ", &cloud.zone)];
    for (before, part) in parts {
        text.extend(part.iter().flat_map(|part| [before, part.as_str()]));
    }
    text
}

pub(crate) const fn container_word(kind: ContainerKind) -> Option<&'static str> {
    match kind {
        ContainerKind::None => None,
        ContainerKind::Kubernetes => Some("in Kubernetes"),
        ContainerKind::Docker => Some("in Docker"),
        ContainerKind::Podman => Some("in Podman"),
        ContainerKind::Containerd => Some("in containerd"),
        ContainerKind::Other => Some("in a container"),
    }
}

fn run(record: &Record) -> String {
    let id = record.id.to_string();
    let tool = &record.tool;
    let mut parts = vec![numbers::id_prefix(&id).to_owned()];
    match &record.import {
        Some(import) if import.at == record.started => parts.push(format!("imported {}", numbers::moment(import.at))),
        Some(import) => {
            parts.push(numbers::moment(record.started));
            parts.push(format!("imported {}", numbers::moment(import.at)));
        }
        None => parts.extend([
            numbers::moment(record.started),
            format!("took {}", numbers::duration(record.elapsed_ns)) + &pauses(record),
        ]),
    }
    parts.push(format!("plimsoll {}", tool.version));
    if tool.profile == "debug" && record.import.is_none() {
        parts.push("a debug build: its numbers are not to be trusted".to_owned());
    }
    parts.join(", ")
}

/// How long a run that was resumed had been interrupted. A slot that was cut off is no part of the run, so its time is
/// one of the pause: ` (paused for 2h 00m from its last whole slot on, resumed 2026-11-21 10:10 UTC)`.
fn pauses(record: &Record) -> String {
    let Some(last) = record.resumed.last() else { return String::new() };
    let times = match record.resumed.len() {
        1 => " from its last whole slot on".to_owned(),
        count => format!(" in {count} pauses, each from the last whole slot on"),
    };
    format!(" (paused for {}{times}, resumed {})", numbers::duration(record.paused_ns()), numbers::moment(last.at))
}

/// How much tasks waited in the measured time, from the cell with the least to that with the most.
fn pressure(cells: &[Cell]) -> String {
    let clients = || cells.iter().filter_map(|cell| cell.client.as_ref());
    let waited = |what: &str, share: fn(&ClientActivity) -> Option<f64>| {
        let least = clients().filter_map(share).min_by(f64::total_cmp)?;
        let most = clients().filter_map(share).max_by(f64::total_cmp)?;
        let [least, most] = [least, most].map(numbers::percent);
        let shares = if least == most { most } else { format!("{} to {most}", least.trim_end_matches(" %")) };
        Some(format!("for {what} {shares}"))
    };
    let parts = [
        waited("a processor", ClientActivity::pressure_cpu_share),
        waited("I/O", ClientActivity::pressure_io_share),
        waited("memory", ClientActivity::pressure_memory_share),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    if parts.is_empty() {
        return match clients().next() {
            Some(_) => "unknown: this kernel keeps no pressure stall information",
            None => "unknown: nothing was measured",
        }
        .to_owned();
    }
    format!("tasks of the machine waited {} of the measured time", parts.join(", "))
}

#[cfg(test)]
mod tests {
    use plimsoll_record::{environment::CloudProvider, record::Resumption};

    use super::*;
    use crate::test_records;

    #[test]
    fn only_a_disk_of_a_real_machine_is_said_to_spin() {
        let disk = DeviceEnvironment { name: "sda".into(), rotational: Some(true), ..DeviceEnvironment::default() };
        assert_eq!(describe_device(&disk, false), "sda (spinning)");
        assert_eq!(describe_device(&disk, true), "sda");
    }

    #[test]
    fn targets_have_letters_and_then_numbers() {
        assert_eq!([letter(0), letter(25), letter(26)], ["A", "Z", "#27"]);
    }

    #[test]
    fn a_target_that_was_typed_without_its_directory_is_told_with_it() {
        let mut record = test_records::canonical();
        let own = &mut record.environment.targets[0];
        (own.name, own.path) = ("data".to_owned(), Some("/srv/one/data".to_owned()));
        assert!(
            target(&record, "data").starts_with("data (/srv/one/data): directory on "),
            "{}",
            target(&record, "data")
        );
        record.environment.targets[0].name = "/link/data".to_owned();
        assert!(target(&record, "/link/data").starts_with("/link/data: directory on "));
    }

    #[test]
    fn a_pause_is_said_to_begin_with_what_was_cut_off() {
        let mut record = test_records::canonical();
        let at = record.started;
        record.resumed = vec![Resumption { at, t_ns: 9_000_000_000, paused_ns: 7_000_000_000 }];
        let text = "took 54 s (paused for 7.00 s from its last whole slot on, resumed 2025-10-08 09:30 UTC)";
        assert!(run(&record).contains(text), "{}", run(&record));
        record.resumed.push(record.resumed[0]);
        let text = "(paused for 14 s in 2 pauses, each from the last whole slot on, resumed";
        assert!(run(&record).contains(text), "{}", run(&record));
    }

    #[test]
    fn a_cloud_tells_its_machine_and_place_as_far_as_known() {
        let mut record = test_records::canonical();
        let told = |record: &Record| of(record).into_iter().find(|fact| fact.label == "cloud").map(|fact| fact.text);
        assert_eq!(told(&record), None);
        let mut environment = CloudEnvironment { provider: CloudProvider::Azure, ..CloudEnvironment::default() };
        environment.instance_type = Some("Standard_D16s_v5".to_owned());
        assert_eq!(cloud(&environment), "Azure Standard_D16s_v5");
        environment.region = Some("westeurope".to_owned());
        environment.zone = Some("1".to_owned());
        record.environment.cloud = Some(environment);
        assert_eq!(told(&record).as_deref(), Some("Azure Standard_D16s_v5 in westeurope, zone 1"));
    }

    #[test]
    fn sets_of_files_have_the_bytes_that_phases_write_or_find() {
        let told = |phases: &str| {
            let workload = format!("phases = '{phases}'\nfile_count = 10\nfile_size = '1M'");
            let run = test_records::Story::new(&["/mnt/a"], &[toml::from_str(&workload).unwrap()]);
            load(&run.end(1, Outcome::Complete).cells)
        };
        assert!(told("write,read").starts_with("sets of 10 files, 10 MiB in each set"), "{}", told("write,read"));
        assert!(told("create,delete").starts_with("sets of 10 empty files"), "{}", told("create,delete"));
    }

    #[test]
    fn a_load_beside_the_run_shows_in_how_long_tasks_waited() {
        let mut record = test_records::canonical();
        let told = |record: &Record| {
            let facts = of(record).into_iter().filter(|fact| ["beside", "pressure"].contains(&fact.label.as_str()));
            facts.map(|fact| fact.text).collect::<Vec<_>>()
        };
        assert_eq!(told(&record), Vec::<String>::new());
        record.asked.background = Some("stress".to_owned());
        assert_eq!(told(&record), ["stress", "unknown: nothing was measured"]);
        for (cell, waited_ns) in record.cells.iter_mut().zip([300, 500, 400, 310, 320, 330]) {
            cell.client = Some(ClientActivity { span_ns: 1000, ..ClientActivity::default() });
            assert!(pressure(std::slice::from_ref(cell)).contains("this kernel keeps no pressure stall information"));
            let client = cell.client.as_mut().unwrap();
            (client.pressure_cpu_ns, client.pressure_io_ns, client.pressure_memory_ns) =
                (Some(waited_ns), Some(990), Some(0));
        }
        let text = "tasks of the machine waited for a processor 30 to 50 %, for I/O 99 %, for memory 0 % of the \
                    measured time";
        assert_eq!(told(&record)[1], text);
    }
}
