//! Configurations of Terraform: their form by Terraform itself, and their words by those of the providers. Providers
//! are not in any package registry, so `terraform validate` has none to ask here; but what they take stands in the type
//! declarations of packages that were made from their schemas, and those can be had.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::Path,
    process::Command,
};

use tempfile::TempDir;

use crate::support::{Case, Place, cases, skipped, target, terraform, told};

#[test]
fn terraform_finds_the_form_of_every_configuration_right() {
    let Some(program) = terraform() else { return };
    let check = |place: &Place| {
        let mut command = Command::new(&program);
        command.args(["fmt", "-check", "-diff"]).arg(place.path("terraform"));
        command.env("CHECKPOINT_DISABLE", "1").env("TF_CLI_CONFIG_FILE", "/dev/null").output().unwrap()
    };
    for case in cases() {
        let output = check(&Place::of(&case.files));
        assert!(output.status.success(), "{}: {}", case.name, told(&output));
    }
    let mut case = cases().remove(0);
    let file = case.files.iter_mut().find(|file| file.name == "terraform/plan.tf").unwrap();
    file.text = file.text.replace(" = ", "=");
    assert!(!check(&Place::of(&case.files)).status.success());
    file_with(&mut case, "terraform/plan.tf").text += "}\n";
    assert!(!check(&Place::of(&case.files)).status.success());
}

/// A block of a configuration, from its first line to the bracket below it.
fn block_of(text: &str, first: &str) -> String {
    let lines: Vec<&str> = text.lines().skip_while(|line| *line != first).collect();
    let end = format!("{}}}", &first[..first.len() - first.trim_start().len()]);
    let length = lines.iter().position(|line| *line == end).unwrap_or_else(|| panic!("{first}"));
    lines[..=length].join("\n") + "\n"
}

#[test]
fn a_region_without_its_zone_is_refused_before_anything_is_made() {
    let Some(program) = terraform() else { return };
    for case in cases().into_iter().filter(|case| !case.name.starts_with("azure")) {
        // What is checked, of a resource that takes no provider.
        let main = case.text("terraform/main.tf");
        let checked = [r#"variable "region" {"#, r#"variable "zone" {"#].map(|first| block_of(main, first)).concat();
        let lifecycle = block_of(main, "  lifecycle {");
        let directory = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        let text = format!("{checked}resource \"terraform_data\" \"all\" {{\n{lifecycle}}}\n");
        fs::write(directory.path().join("main.tf"), text).unwrap();
        let run = |arguments: &[&str], variables: &[(&str, &str)]| {
            let mut command = Command::new(&program);
            command
                .arg(format!("-chdir={}", directory.path().display()))
                .args(arguments)
                .args(["-input=false", "-no-color"]);
            command.env("CHECKPOINT_DISABLE", "1").env("TF_CLI_CONFIG_FILE", "/dev/null");
            command.envs(variables.iter().copied()).output().unwrap()
        };
        assert!(run(&["init"], &[]).status.success());
        let (region, zone) =
            if case.name.starts_with("aws") { ("us-east-1", "us-east-1b") } else { ("us-west1", "us-west1-a") };
        for (variables, is_right) in [
            (&[][..], true),
            (&[("TF_VAR_region", region)], false),
            (&[("TF_VAR_zone", zone)], false),
            (&[("TF_VAR_region", region), ("TF_VAR_zone", zone)], true),
        ] {
            let output = run(&["plan"], variables);
            assert_eq!(output.status.success(), is_right, "{variables:?}: {}", told(&output));
            let said = told(&output).split_whitespace().collect::<Vec<_>>().join(" ");
            assert_eq!(said.contains("set TF_VAR_zone with TF_VAR_region"), !is_right, "{said}");
        }
    }
}

fn file_with<'a>(case: &'a mut Case, name: &str) -> &'a mut plimsoll_generate::GeneratedFile {
    case.files.iter_mut().find(|file| file.name == name).unwrap()
}

#[test]
fn what_is_named_is_there() {
    for case in cases() {
        let files = case.files.iter().filter(|file| file.name.ends_with(".tf"));
        let text: String = files.map(|file| file.text.as_str()).collect();
        let used = |prefix: &str| -> BTreeSet<String> { names_behind(&text, prefix) };
        let plan = case.text("terraform/plan.tf");
        let defined =
            plan.lines().filter(|line| line.starts_with("  ") && !line.starts_with("   ") && line.contains(" = "));
        let defined: BTreeSet<String> = defined.map(|line| line.trim().split(' ').next().unwrap().to_owned()).collect();
        assert_eq!(used("local."), defined, "{}: values that are used, and those that there are", case.name);
        let variables = names_behind(&text, "variable \"");
        assert_eq!(used("var."), variables, "{}", case.name);
        for line in text.lines().filter(|line| !line.starts_with("resource ") && !line.starts_with("data ")) {
            for word in line.split(|letter: char| !(letter.is_ascii_alphanumeric() || "_.".contains(letter))) {
                let mut parts = word.split('.');
                let (Some(kind), Some(name)) = (parts.next(), parts.next()) else { continue };
                if ["azurerm_", "aws_", "google_"].iter().any(|prefix| kind.starts_with(prefix)) {
                    let is_there = text.contains(&format!("\"{kind}\" \"{name}\" {{"));
                    assert!(is_there, "{}: {kind}.{name} is nowhere", case.name);
                }
            }
        }
    }
}

fn names_behind(text: &str, prefix: &str) -> BTreeSet<String> {
    let rest = text.split(prefix).skip(1);
    let name =
        |rest: &str| rest.chars().take_while(|letter| letter.is_ascii_alphanumeric() || *letter == '_').collect();
    rest.map(name).collect()
}

/// What a block takes.
#[derive(Debug, Default)]
struct Schema {
    /// By the name of an argument: whether it must be there, and the kind of block that it is, if it is one.
    arguments: BTreeMap<String, (bool, Option<String>)>,
}

/// The packages, each with the provider whose schema it was made from: `xtask/src/setup.rs` fetches them.
const PACKAGES: [(&str, &str); 3] = [
    ("azurerm", "cdktf-provider-azurerm-14.23.1.tgz"),
    ("aws", "cdktf-provider-aws-21.22.1.tgz"),
    ("google", "cdktf-provider-google-16.12.1.tgz"),
];

/// The declarations of some resources of a package, each in a folder of its own: packages are large, and are read once.
fn unpacked(package: &Path, folders: &BTreeSet<String>) -> TempDir {
    let directory = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let mut command = Command::new("tar");
    command.arg("-xzf").arg(package).arg("-C").arg(directory.path()).arg("--wildcards");
    let output = command.args(folders.iter().map(|folder| format!("package/lib/{folder}/*.d.ts"))).output().unwrap();
    assert!(output.status.success(), "{}", told(&output));
    directory
}

/// The text of all declarations in a folder, and in those below.
fn declarations(folder: &Path) -> String {
    let mut text = String::new();
    for entry in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
        text += &if entry.is_dir() { declarations(&entry) } else { fs::read_to_string(&entry).unwrap() };
    }
    text
}

/// What blocks of a resource take, by the package's names of them; the resource's own is `Config`.
fn schemas(text: &str) -> BTreeMap<String, Schema> {
    let mut all = BTreeMap::new();
    let (mut open, mut documented) = (None, String::new());
    for line in text.lines() {
        if let Some(rest) = line.strip_prefix("export interface ") {
            let name = rest.split([' ', '{']).next().unwrap();
            let name = if rest.contains("TerraformMetaArguments") { "Config" } else { name };
            open = Some((name.to_owned(), Schema::default()));
        } else if line.starts_with('}') {
            all.extend(open.take());
        } else if let Some((_, anchor)) = line.split_once('#').filter(|_| line.contains("Docs at Terraform Registry")) {
            documented = anchor.split([' ', '}']).next().unwrap().to_owned();
        } else if let (Some((_, schema)), Some(rest)) = (&mut open, line.trim().strip_prefix("readonly ")) {
            let (name, kind) = rest.split_once(':').unwrap();
            let kind: String = kind.trim().chars().take_while(char::is_ascii_alphanumeric).collect();
            schema.arguments.insert(documented.clone(), (!name.ends_with('?'), Some(kind)));
        }
    }
    let names: BTreeSet<String> = all.keys().cloned().collect();
    for schema in all.values_mut() {
        for (_, kind) in schema.arguments.values_mut() {
            *kind = kind.take().filter(|kind| names.contains(kind));
        }
    }
    all
}

/// A block of a configuration: its arguments and its blocks.
#[derive(Debug, Default)]
struct Block {
    header: String,
    arguments: BTreeSet<String>,
    blocks: Vec<Block>,
}

/// The blocks of a configuration that Terraform finds well formed.
fn blocks(text: &str) -> Vec<Block> {
    let mut open = vec![Block::default()];
    let mut deep = 0_i32;
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#')) {
        if deep == 0 {
            if line == "}" {
                let block = open.pop().unwrap();
                open.last_mut().unwrap().blocks.push(block);
                continue;
            }
            match line.split_once(" = ") {
                // A value that goes on over lines is not looked into.
                Some((name, _)) => open.last_mut().unwrap().arguments.extend([name.trim().to_owned()]),
                None if line.ends_with('{') => {
                    open.push(Block { header: line.trim_end_matches(" {").to_owned(), ..Block::default() });
                    continue;
                }
                None => {}
            }
        }
        deep += line
            .chars()
            .map(|letter| i32::from("([{".contains(letter)) - i32::from(")]}".contains(letter)))
            .sum::<i32>();
    }
    assert_eq!((open.len(), deep), (1, 0));
    open.remove(0).blocks
}

/// What Terraform itself takes in every resource.
const OF_TERRAFORM: [&str; 5] = ["for_each", "count", "depends_on", "provider", "lifecycle"];

fn problems(block: &Block, kind: &str, schemas: &BTreeMap<String, Schema>, place: &str, problems: &mut Vec<String>) {
    let schema = &schemas[kind];
    let given: BTreeSet<&str> = block
        .arguments
        .iter()
        .map(String::as_str)
        .chain(block.blocks.iter().map(|block| block.header.as_str()))
        .collect();
    for name in given.iter().filter(|name| !OF_TERRAFORM.contains(name)) {
        if !schema.arguments.contains_key(*name) {
            problems.push(format!("{place} takes no {name}"));
        }
    }
    let required = schema.arguments.iter().filter(|(_, (is_required, _))| *is_required);
    problems.extend(
        required.filter(|(name, _)| !given.contains(name.as_str())).map(|(name, _)| format!("{place} lacks {name}")),
    );
    for inner in block.blocks.iter().filter(|inner| !OF_TERRAFORM.contains(&inner.header.as_str())) {
        match schema.arguments.get(&inner.header) {
            Some((_, Some(kind))) => {
                self::problems(inner, kind, schemas, &format!("{place}.{}", inner.header), problems);
            }
            Some((_, None)) => problems.push(format!("{place}: {} is no block", inner.header)),
            None => {}
        }
    }
}

/// The provider of a resource or of data, and the package's folder of it; nothing for other blocks.
fn folder(block: &Block) -> Option<(&str, String)> {
    let mut words = block.header.split(' ').map(|word| word.trim_matches('"'));
    let (kind, of) = (words.next()?, words.next()?);
    let (provider, name) = of.split_once('_').filter(|_| ["resource", "data"].contains(&kind))?;
    let name = name.replace('_', "-");
    Some((provider, if kind == "data" { format!("data-{provider}-{name}") } else { name }))
}

/// What providers do not take in configurations, and how many kinds of blocks there were; nothing when their words
/// cannot be had.
fn judged(texts: &[(String, &str)]) -> Option<(Vec<String>, usize)> {
    let all: Vec<(&str, Block)> =
        texts.iter().flat_map(|(place, text)| blocks(text).into_iter().map(|block| (place.as_str(), block))).collect();
    let (mut found, mut kinds) = (Vec::new(), 0);
    for (provider, file) in PACKAGES {
        let of_provider = |block: &Block| folder(block).filter(|(of, _)| *of == provider).map(|(_, folder)| folder);
        let folders: BTreeSet<String> = all.iter().filter_map(|(_, block)| of_provider(block)).collect();
        if folders.is_empty() {
            continue;
        }
        let package = target().join("terraform").join(file);
        if !package.exists() {
            skipped("the words of Terraform's providers, which cargo xtask setup fetches");
            return None;
        }
        let directory = unpacked(&package, &folders);
        let schemas: BTreeMap<String, BTreeMap<String, Schema>> = folders
            .iter()
            .map(|folder| (folder.clone(), schemas(&declarations(&directory.path().join("package/lib").join(folder)))))
            .collect();
        kinds += schemas.len();
        for (place, block) in &all {
            if let Some(folder) = of_provider(block) {
                problems(block, "Config", &schemas[&folder], &format!("{place}: {}", block.header), &mut found);
            }
        }
    }
    Some((found, kinds))
}

#[test]
fn providers_take_every_argument_and_miss_none() {
    let cases = cases();
    let configurations = cases.iter().flat_map(|case| {
        let files = case.files.iter().filter(|file| file.name.ends_with(".tf"));
        files.map(|file| (format!("{}: {}", case.name, file.name), file.text.as_str()))
    });
    let Some((found, kinds)) = judged(&configurations.collect::<Vec<_>>()) else { return };
    assert!(found.is_empty(), "{found:?}");
    assert!(kinds >= 40, "{kinds}");
    let wrong = "resource \"azurerm_managed_disk\" \"d\" {\n  name = \"d\"\n  size_gb = 5\n  tags {\n  }\n}\n";
    let (found, _) = judged(&[(String::new(), wrong)]).unwrap();
    for words in ["takes no size_gb", "tags is no block", "lacks create_option", "lacks storage_account_type"] {
        assert!(found.iter().any(|problem| problem.contains(words)), "{words}: {found:?}");
    }
}
