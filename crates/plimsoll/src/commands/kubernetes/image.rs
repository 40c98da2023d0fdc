//! `plimsoll kubernetes image`: the image that pods run, made of the program that is running.

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, bail};
use plimsoll_image::{
    image::{Image, Label},
    program::{architecture, is_elf, is_static},
    registry::{Access, push as push_to},
    saving,
};
use plimsoll_record::numbers;
use serde::Serialize;

use crate::{
    cli::kubernetes::image::{ImageCommand, ImagePushArguments, ImageSaveArguments, ProgramArguments},
    environment_variables,
    exit::{Exit, OutputLost},
    printer::Printer,
    stop,
};

/// The program that is running, even when its file has been replaced meanwhile.
const RUNNING: &str = "/proc/self/exe";

/// What `--json` prints.
#[derive(Serialize)]
struct Answer<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<&'a Path>,
    name: String,
    digest: &'a str,
    architecture: &'a str,
    size_bytes: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    uploaded_bytes: Option<u64>,
}

/// Does `plimsoll kubernetes image`.
pub(super) fn image(command: &ImageCommand, printer: Printer) -> anyhow::Result<Exit> {
    let answer = match command {
        ImageCommand::Save(arguments) => save(arguments)?,
        ImageCommand::Push(arguments) => push(arguments, printer)?,
    };
    printer.answer(answer).map_err(OutputLost)?;
    Ok(Exit::Success)
}

fn save(arguments: &ImageSaveArguments) -> anyhow::Result<String> {
    let (file, name) = (&arguments.output, arguments.name.to_string());
    // What is refused is refused at once.
    saving::check(file, arguments.force)?;
    let image = build(&arguments.program)?;
    let label = Label { program: Label::RELEASE.program, name: &name };
    let archive = image.archive(label).context("build the archive of the image")?;
    let stop = stop::on_signals().context("listen for signals")?;
    saving::save(&archive, file, arguments.force, &stop)?;
    let size_bytes = archive.len() as u64;
    let (digest, architecture) = (&image.manifest.digest, image.architecture);
    if arguments.json {
        let answer = Answer { file: Some(file), name, digest, architecture, size_bytes, uploaded_bytes: None };
        return Ok(serde_json::to_string_pretty(&answer)? + "\n");
    }
    let shown = file.display();
    let rest = format!("{}:{}", arguments.name.repository, arguments.name.tag);
    Ok(format!(
        "{shown}: image {name} for linux/{architecture}, {}\n{digest}\n\n\
         on each node:   ctr -n k8s.io images import {shown}\n\
         with Docker:    docker load -i {shown}\n\
         to a registry:  skopeo copy oci-archive:{shown} docker://REGISTRY/{rest}\n",
        numbers::bytes(size_bytes)
    ))
}

fn push(arguments: &ImagePushArguments, printer: Printer) -> anyhow::Result<String> {
    let certificates = |path: &PathBuf| fs::read(path).with_context(|| format!("read {}", path.display()));
    let access = Access {
        plain_http: arguments.plain_http,
        certificates: arguments.ca.as_ref().map(certificates).transpose()?,
        credentials: environment_variables::registry_credentials(),
        proxies: environment_variables::proxies(),
    };
    let image = build(&arguments.program)?;
    let (name, size_bytes) = (arguments.name.to_string(), image.size_bytes());
    printer.note(format!("pushing {name}, {}", numbers::bytes(size_bytes)));
    let pushed = push_to(&image, &arguments.name, &access)?;
    let (digest, architecture) = (&image.manifest.digest, image.architecture);
    if arguments.json {
        let uploaded_bytes = Some(pushed.uploaded_bytes);
        let answer = Answer { file: None, name, digest, architecture, size_bytes, uploaded_bytes };
        return Ok(serde_json::to_string_pretty(&answer)? + "\n");
    }
    let uploaded = match pushed.uploaded_bytes {
        0 => "all of it was there".to_owned(),
        bytes => format!("uploaded {}", numbers::bytes(bytes)),
    };
    Ok(format!(
        "image {name} for linux/{architecture}, {uploaded}\n{digest}\n\n\
         to measure with it:  plimsoll kubernetes run --image {name}\n"
    ))
}

/// The image of the program that is to be in it.
fn build(arguments: &ProgramArguments) -> anyhow::Result<Image> {
    let path = arguments.binary.as_deref().unwrap_or(Path::new(RUNNING));
    let program = fs::read(path).with_context(|| format!("read {}", path.display()))?;
    if is_elf(&program) && architecture(&program).is_none() {
        bail!("{} is for another machine than amd64 and arm64, which plimsoll is built for", path.display());
    }
    if !is_static(&program) {
        match &arguments.binary {
            None => bail!(
                "this plimsoll needs the libraries of the system, and the image has nothing but the program: \
                 use the static binary, which `cargo xtask dist` builds, or name it with --binary"
            ),
            Some(path) => bail!(
                "{} is no static binary, and the image has nothing but the program: `cargo xtask dist` builds one",
                path.display()
            ),
        }
    }
    Image::of(Label::RELEASE.program, &program).context("build the image")
}
