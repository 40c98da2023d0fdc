//! `plimsoll kubernetes discover`: what a cluster has to make volumes with.

use plimsoll_kubernetes::{
    discover::{Discovered, OtherClass, classes::Class, discover as look},
    nodes::{NodeDriver, NodeFound},
};
use plimsoll_record::numbers;
use plimsoll_report::sheets::{Sheet, number, sheets, text};

use super::{super::catalog, connect};
use crate::{
    cli::kubernetes::DiscoverArguments,
    exit::{Exit, OutputLost},
    printer::Printer,
};

/// Does `plimsoll kubernetes discover`.
pub(super) fn discover(arguments: &DiscoverArguments, printer: Printer) -> anyhow::Result<Exit> {
    let catalog = catalog::read(arguments.limits.as_deref())?;
    let cluster = connect(&arguments.cluster)?;
    let found = look(&cluster, arguments.size.0, &catalog)?;
    let answer = if arguments.json {
        serde_json::to_string_pretty(&found)? + "\n"
    } else {
        sheets(&tables(&found), printer.width())
    };
    printer.answer(answer).map_err(OutputLost)?;
    Ok(Exit::Success)
}

fn tables(found: &Discovered) -> Vec<Sheet> {
    let mut all = Vec::new();
    all.extend(found.storage_classes.as_ref().map(|classes| storage_classes(classes, found.size_bytes)));
    all.extend(found.drivers.as_ref().map(|drivers| {
        let rows = drivers.iter().map(|driver| {
            vec![
                driver.name.clone(),
                yes(driver.attaches),
                driver.fs_group_policy.clone(),
                driver.modes.join(", "),
                yes(driver.tells_capacity),
            ]
        });
        Sheet {
            title: counted(drivers.len(), "CSI driver"),
            heads: vec![
                text("driver", 0),
                text("attaches", 0),
                text("group by", 1),
                text("modes", 1),
                text("tells capacity", 2),
            ],
            rows: rows.collect(),
            lines: Vec::new(),
        }
    }));
    let others = [
        (&found.volume_attributes_classes, "VolumeAttributesClass"),
        (&found.volume_snapshot_classes, "VolumeSnapshotClass"),
    ];
    for (classes, kind) in others {
        all.extend(classes.as_ref().filter(|classes| !classes.is_empty()).map(|classes| other_classes(classes, kind)));
    }
    all.extend(found.nodes.as_ref().map(|all| nodes(all)));
    if !found.unseen.is_empty() {
        all.push(Sheet {
            title: "Not seen:".to_owned(),
            lines: found.unseen.iter().map(|unseen| (String::new(), unseen.sentence())).collect(),
            ..Sheet::default()
        });
    }
    all
}

fn storage_classes(classes: &[Class], size_bytes: u64) -> Sheet {
    let rate = |rate: Option<f64>, format: fn(f64) -> String| rate.map(format).unwrap_or_default();
    let rows = classes.iter().map(|class| {
        let expected = class.expected.as_ref();
        vec![
            marked(&class.name, class.is_default),
            class.provisioner.clone(),
            rate(expected.and_then(|expected| expected.iops), numbers::iops),
            rate(expected.and_then(|expected| expected.iops_burst), numbers::iops),
            rate(expected.and_then(|expected| expected.bytes_per_second), numbers::throughput),
            rate(expected.and_then(|expected| expected.bytes_per_second_burst), numbers::throughput),
            class.binding_mode.clone(),
            class.reclaim_policy.clone(),
            yes(class.can_grow),
        ]
    });
    let mut lines: Vec<(String, String)> = Vec::new();
    for class in classes {
        let mut told = Vec::new();
        match (&class.expected, &class.unexpected) {
            (Some(expected), _) => {
                told.push(format!("a volume of {} is {}", numbers::bytes(size_bytes), expected.parts.join(" behind ")));
                told.extend(expected.notes.iter().cloned());
            }
            (None, why) => told.push(format!("nothing is expected: {}", why.as_deref().unwrap_or("nobody says"))),
        }
        if !class.parameters.is_empty() {
            told.push(format!("parameters {}", pairs(&class.parameters)));
        }
        if !class.mount_options.is_empty() {
            told.push(format!("mounted with {}", class.mount_options.join(",")));
        }
        let told = told.join("; ");
        match lines.iter_mut().find(|(_, other)| *other == told) {
            Some((names, _)) => *names = format!("{names}, {}", class.name),
            None => lines.push((class.name.clone(), told)),
        }
    }
    let size = numbers::bytes(size_bytes);
    Sheet {
        title: format!(
            "{}, and what a volume of {size} should deliver (random 4 KiB and sequential 1 MiB reads)",
            counted(classes.len(), "StorageClass")
        ),
        heads: vec![
            text("class", 0),
            text("provisioner", 0),
            number("IOPS", 0),
            number("burst", 3),
            number("MB/s", 0),
            number("burst", 3),
            text("binding", 2),
            text("reclaim", 1),
            text("grows", 4),
        ],
        rows: rows.collect(),
        lines,
    }
}

fn other_classes(classes: &[OtherClass], kind: &str) -> Sheet {
    let rows = classes
        .iter()
        .map(|class| vec![marked(&class.name, class.is_default), class.driver.clone(), pairs(&class.parameters)]);
    Sheet {
        title: counted(classes.len(), kind),
        heads: vec![text("class", 0), text("driver", 0), text("parameters", 1)],
        rows: rows.collect(),
        lines: Vec::new(),
    }
}

fn nodes(nodes: &[NodeFound]) -> Sheet {
    let or = |value: &Option<String>| value.clone().unwrap_or_default();
    let state = |node: &NodeFound| match (node.is_ready, node.is_schedulable) {
        (true, true) => "ready",
        (true, false) => "cordoned",
        (false, _) => "not ready",
    };
    let rows = nodes.iter().map(|node| {
        let systems = [&node.operating_system, &node.architecture].map(|part| part.as_deref().unwrap_or("unknown"));
        vec![
            node.name.clone(),
            state(node).to_owned(),
            or(&node.instance_type),
            or(&node.zone),
            systems.join("/"),
            or(&node.kubelet),
            or(&node.container_runtime),
            node.drivers.iter().flatten().map(volumes).collect::<Vec<_>>().join("\n"),
        ]
    });
    let tainted = nodes.iter().filter(|node| !node.taints.is_empty());
    Sheet {
        title: counted(nodes.len(), "node"),
        heads: vec![
            text("node", 0),
            text("state", 0),
            text("machine", 0),
            text("zone", 1),
            text("system", 1),
            text("kubelet", 2),
            text("runtime", 3),
            text("room for volumes", 1),
        ],
        rows: rows.collect(),
        lines: tainted.map(|node| (node.name.clone(), format!("taints {}", node.taints.join(", ")))).collect(),
    }
}

fn volumes(driver: &NodeDriver) -> String {
    let NodeDriver { name, volumes_max, volumes_attached } = driver;
    match (driver.volumes_free(), volumes_max, volumes_attached) {
        (Some(free), Some(most), _) => format!("{name}: {free} of {most}"),
        (None, Some(most), _) => format!("{name}: at most {most}"),
        (_, None, Some(attached)) => format!("{name}: no limit, {attached} in use"),
        (_, None, None) => format!("{name}: no limit"),
    }
}

fn marked(name: &str, is_default: bool) -> String {
    format!("{name}{}", if is_default { " (default)" } else { "" })
}

fn yes(is_so: bool) -> String {
    if is_so { "yes" } else { "no" }.to_owned()
}

fn pairs<'a>(pairs: impl IntoIterator<Item = (&'a String, &'a String)>) -> String {
    pairs.into_iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join(" ")
}

fn counted(count: usize, what: &str) -> String {
    match (count, what.ends_with('s')) {
        (1, _) => format!("1 {what}"),
        (_, true) => format!("{} {what}es", numbers::count(count as u64)),
        (_, false) => format!("{} {what}s", numbers::count(count as u64)),
    }
}
