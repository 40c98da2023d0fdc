//! Modules of the guest's kernel with what they need, and the tables by which `modprobe` finds them: Debian makes those
//! when it installs a kernel, which nobody does here.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write as _,
    fs, io,
    path::{Path, PathBuf},
};

/// Modules by name, with underscores.
pub(super) struct Modules {
    paths: BTreeMap<String, PathBuf>,
}

/// A module as it goes into a guest.
pub(super) struct Module {
    pub(super) name: String,
    pub(super) content: Vec<u8>,
}

impl Module {
    /// The values of a property that its author gave it.
    fn property(&self, property: &str) -> Vec<String> {
        let values = self.content.split(|byte| *byte == 0).filter_map(|text| text.strip_prefix(property.as_bytes()));
        values.filter_map(|value| Some(std::str::from_utf8(value.strip_prefix(b"=")?).ok()?.to_owned())).collect()
    }

    fn needs(&self) -> Vec<String> {
        let all = self.property("depends");
        all.iter().flat_map(|names| names.split(',')).filter(|name| !name.is_empty()).map(named).collect()
    }
}

fn named(name: &str) -> String {
    name.replace('-', "_")
}

impl Modules {
    /// All below a directory.
    pub(super) fn below(directory: &Path) -> io::Result<Self> {
        let mut paths = BTreeMap::new();
        let mut directories = vec![directory.to_owned()];
        while let Some(directory) = directories.pop() {
            for entry in fs::read_dir(directory)? {
                let path = entry?.path();
                if path.is_dir() {
                    directories.push(path);
                } else if path.extension().is_some_and(|extension| extension == "ko") {
                    let name = path.file_stem().unwrap_or_default().to_string_lossy();
                    paths.insert(named(&name), path);
                }
            }
        }
        Ok(Self { paths })
    }

    /// These and all that they need. What is none of the modules is part of the kernel.
    pub(super) fn with_needs(&self, names: &[&str]) -> io::Result<Vec<Module>> {
        let mut wanted: Vec<String> = names.iter().map(|name| named(name)).collect();
        let mut taken = BTreeSet::new();
        let mut modules = Vec::new();
        while let Some(name) = wanted.pop() {
            let Some(path) = self.paths.get(&name) else { continue };
            if taken.insert(name.clone()) {
                let module = Module { name, content: fs::read(path)? };
                wanted.extend(module.needs());
                modules.push(module);
            }
        }
        Ok(modules)
    }
}

/// `modules.dep`: each module, and all that has to be there before it, the first of them last.
pub(super) fn dependencies(modules: &[Module]) -> String {
    let mut table = String::new();
    for module in modules {
        let mut chain = Vec::new();
        follow(modules, module, &mut chain);
        let files: Vec<String> = chain.iter().map(|name| format!(" {name}.ko")).collect();
        let _ = writeln!(table, "{}.ko:{}", module.name, files.concat());
    }
    table
}

fn follow(modules: &[Module], module: &Module, chain: &mut Vec<String>) {
    for need in module.needs() {
        if let Some(next) = modules.iter().find(|other| other.name == need) {
            chain.retain(|name| *name != need);
            chain.push(need);
            follow(modules, next, chain);
        }
    }
}

/// `modules.alias`: under which names the kernel asks for them, as for a file system that somebody mounts.
pub(super) fn aliases(modules: &[Module]) -> String {
    let mut table = String::new();
    for module in modules {
        for alias in module.property("alias") {
            let _ = writeln!(table, "alias {alias} {}", module.name);
        }
    }
    table
}
