//! `plimsoll kubernetes manifest`: Jobs for programs that plimsoll is none of, to be created by kubectl.

use anyhow::{Context, bail};
use plimsoll_dialects::diskspd::{Surroundings, translate};
use plimsoll_kubernetes::foreign_jobs::{
    ForeignJob, Volume, diskspd,
    sql_restore::{self, Secrets},
};
use plimsoll_workload::units::ByteCount;
use serde_json::Value;

use super::run::{printed, seconds};
use crate::{
    cli::kubernetes::manifest::{ForeignJobArguments, ManifestCommand},
    exit::{Exit, OutputLost},
    printer::Printer,
};

/// Does `plimsoll kubernetes manifest`.
pub(super) fn manifest(command: &ManifestCommand, printer: Printer) -> anyhow::Result<Exit> {
    let (objects, format): (Vec<Value>, &str) = match command {
        ManifestCommand::Diskspd(arguments) => {
            let nodes = arguments.nodes.get();
            if let (Some(claim), 2..) = (&arguments.rest.pvc, nodes) {
                bail!("{nodes} nodes cannot all have the volume of claim {claim}: leave --nodes out, or name a class");
            }
            let job = job(&arguments.name, &arguments.image, &arguments.rest)?;
            refuse_other_files(&arguments.arguments, &job.volume)?;
            (diskspd::objects(&job, nodes, &arguments.arguments), &arguments.rest.output)
        }
        ManifestCommand::SqlRestore(arguments) => {
            let secrets = match (&arguments.secret, &arguments.bacpac) {
                (Some(secret), _) => Secrets::There(secret.clone()),
                (None, url) => Secrets::New { password: password()?, url: url.clone().unwrap_or_default() },
            };
            let job = job(&arguments.name, &arguments.image, &arguments.rest)?;
            let iterations = arguments.iterations.get();
            (sql_restore::objects(&job, &secrets, iterations, &arguments.memory), &arguments.rest.output)
        }
    };
    printer.answer(printed(&objects, format)?).map_err(OutputLost)?;
    Ok(Exit::Success)
}

fn job(name: &str, image: &str, arguments: &ForeignJobArguments) -> anyhow::Result<ForeignJob> {
    let volume = match (&arguments.pvc, &arguments.storage_class) {
        (Some(claim), _) => Volume::Claim(claim.clone()),
        (None, Some(class)) => Volume::Class { class: class.clone(), size_bytes: arguments.size.0 },
        (None, None) => bail!("name a class or a claim: --storage-class or --pvc"),
    };
    Ok(ForeignJob {
        name: name.to_owned(),
        volume,
        image: image.to_owned(),
        pull_secrets: arguments.image_pull_secret.clone(),
        tolerations: arguments.toleration.clone(),
        keep_s: seconds(arguments.keep),
    })
}

/// Refuses what diskspd would measure besides the file on the volume, and a file that the volume has no room for.
///
/// Other flags are diskspd's own business: on Windows it knows more of them than are read here.
fn refuse_other_files(arguments: &[String], volume: &Volume) -> anyhow::Result<()> {
    if let Some(file) = arguments.iter().find(|argument| !argument.starts_with(['-', '/'])) {
        bail!("diskspd would measure {file} too: the file is on the volume, so leave it out");
    }
    let Volume::Class { size_bytes, .. } = volume else { return Ok(()) };
    // A size may be in blocks. What stands last holds.
    let flags = arguments.iter().map(|argument| format!("-{}", &argument[1..]));
    let mut words: Vec<String> = flags.filter(|flag| flag.starts_with("-b") || flag.starts_with("-c")).collect();
    words.push("file".to_owned());
    let mut surroundings = Surroundings { fresh_seed: 1, read_file: &mut |_| Ok(None) };
    let asked = translate(&words, &mut surroundings)?;
    let file = asked.profile.spans.iter().flat_map(|span| &span.targets).find_map(|target| target.file_size);
    if let Some(file) = file.filter(|file| file > size_bytes) {
        let [file, size] = [file, *size_bytes].map(ByteCount);
        bail!("a file of {file} (-c) has no room on a volume of {size}: make it smaller, or give a larger --size");
    }
    Ok(())
}

/// A password that nobody can guess, of all kinds of characters that SQL Server asks for.
fn password() -> anyhow::Result<String> {
    let mut bytes = [0; 16];
    let read = rustix::rand::getrandom(&mut bytes, rustix::rand::GetRandomFlags::empty()).context("draw a password")?;
    if read < bytes.len() {
        bail!("draw a password: the kernel gave {read} bytes of {}", bytes.len());
    }
    Ok(format!("Pw-{:032x}", u128::from_ne_bytes(bytes)))
}
