//! Making arrays: the commands, each a step, and doing them.

use std::{
    fmt,
    path::{Path, PathBuf},
    thread,
    time::Duration,
};

use plimsoll_io::write_guard::GuardedDevice;
use plimsoll_workload::{
    array::{Array, ArrayKind, FileSystem},
    shell_word::quoted,
};
use uuid::Uuid;

use super::{
    ALIGNMENT_BYTES, Member, PLACES, Stripe, StripedArray, StripedDisk, VOLUME, checks, geometry, identity, real,
};
use crate::{
    error::DeviceError,
    notes::{self, Note},
    tool,
};

/// How often, and after what pause, a device is looked for that was made: kernel and udev may take ten seconds.
const LOOKS: (u32, Duration) = (500, Duration::from_millis(20));
const SECTOR_BYTES: u64 = 512;
/// The label of every file system that is made.
const LABEL: &str = "plimsoll";

/// A command that makes something.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    tool: &'static str,
    arguments: Vec<String>,
    input: Option<String>,
    /// A device that is there afterwards.
    makes: Option<PathBuf>,
}

impl Step {
    fn new<A: Into<String>>(tool: &'static str, arguments: impl IntoIterator<Item = A>) -> Self {
        let arguments = arguments.into_iter().map(Into::into).collect();
        Self { tool, arguments, input: None, makes: None }
    }

    fn with(mut self, paths: &[PathBuf]) -> Self {
        self.arguments.extend(paths.iter().map(|path| text(path)));
        self
    }

    fn making(self, device: PathBuf) -> Self {
        Self { makes: Some(device), ..self }
    }

    /// Does it, and gives what was printed.
    pub(super) fn told(&self) -> Result<String, DeviceError> {
        let arguments: Vec<&str> = self.arguments.iter().map(String::as_str).collect();
        match &self.input {
            Some(input) => tool::run_with(self.tool, &arguments, input),
            None => tool::run(self.tool, &arguments),
        }
    }

    fn run(&self) -> Result<(), DeviceError> {
        self.told()?;
        let Some(device) = &self.makes else { return Ok(()) };
        let (looks, pause) = LOOKS;
        for _ in 0..looks {
            if device.exists() {
                return Ok(());
            }
            thread::sleep(pause);
        }
        Err(DeviceError::Gone { device: device.clone() })
    }
}

/// As a shell takes it.
impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(input) = &self.input {
            write!(f, "printf '%s' {} | ", quoted(input))?;
        }
        f.write_str(self.tool)?;
        self.arguments.iter().try_for_each(|argument| write!(f, " {}", quoted(argument)))
    }
}

fn text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

impl Stripe {
    /// Makes its arrays, each at its targets. When one cannot be made, nothing is left. Of one that is there already
    /// and is asked for again, what went with the machine's last boot is brought back.
    pub fn up(mut self, state: &Path, destroy: &[PathBuf]) -> Result<Self, DeviceError> {
        let _lock = notes::lock::<Self>(state)?;
        if let Some(there) = self.is_up(state)? {
            checks::means(&self)?;
            return there.bring_back();
        }
        let guards = self.guarded(state, destroy)?;
        notes::write(&self, state)?;
        let made = self.make(guards).and_then(|()| geometry::check(&self));
        if let Err(error) = made {
            return Err(error.and_then_left(self.take_down(state), &format!("stripe down {}", self.name)));
        }
        self.is_complete = true;
        notes::write(&self, state)?;
        Ok(self)
    }

    /// All that is done to make it, if it could be made now. `None` when it is there already.
    pub fn rehearse(&self, state: &Path, destroy: &[PathBuf]) -> Result<Option<Vec<Step>>, DeviceError> {
        if self.is_up(state)?.is_some() {
            return Ok(None);
        }
        self.guarded(state, destroy)?;
        Ok(Some(self.dividing().into_iter().chain(self.wiping()).chain(self.building()).collect()))
    }

    /// The one that is there, which has to be like this one.
    fn is_up(&self, state: &Path) -> Result<Option<Self>, DeviceError> {
        if !notes::path::<Self>(state, &self.name).exists() {
            return Ok(None);
        }
        let there = Self::find(state, &self.name)?;
        match (there.is_complete, there.is_like(self)) {
            (true, true) => Ok(Some(there)),
            (false, _) => Err(DeviceError::Unfinished { name: there.name }),
            (true, false) => Err(DeviceError::Exists { made: Self::MADE, name: there.name }),
        }
    }

    /// Its disks, each of which may be written to, when all of it could be made.
    fn guarded(&self, state: &Path, destroy: &[PathBuf]) -> Result<Vec<GuardedDevice>, DeviceError> {
        checks::means(self)?;
        let guards = checks::guard(self, &Self::all(state)?, destroy)?;
        for disk in 0..self.disks.len() {
            let mut members = self.partitions(disk).map(|(_, member)| self.member_path(member));
            if let Some(path) = members.find(|path| path.symlink_metadata().is_ok()) {
                let found = "there although its disk has no partitions".to_owned();
                return Err(DeviceError::Misplaced { path, found });
            }
        }
        let place = self.place();
        if let Some(path) = [Path::new(PLACES), &place].into_iter().find(|path| path.is_symlink()) {
            let found = "a link, and arrays are mounted below it".to_owned();
            return Err(DeviceError::Misplaced { path: path.to_owned(), found });
        }
        if place.exists() {
            let place = place.display();
            return Err(DeviceError::Usage(format!(
                "{place} exists, perhaps by a stripe of somebody else: name another with --name, or remove it"
            )));
        }
        Ok(guards)
    }

    fn make(&self, guards: Vec<GuardedDevice>) -> Result<(), DeviceError> {
        self.dividing().iter().try_for_each(Step::run)?;
        // What is divided bears our tables. Its partitions are taken by the tools that write to them.
        drop(guards);
        // Whatever has their names is written to from here on.
        identity::refuse_other_nodes(self)?;
        self.wiping().iter().chain(&self.building()).try_for_each(Step::run)
    }

    fn dividing(&self) -> Vec<Step> {
        self.disks.iter().enumerate().flat_map(|(index, disk)| self.divide(index, disk)).collect()
    }

    fn wiping(&self) -> Vec<Step> {
        let parts =
            |index: usize| self.partitions(index).map(|(_, member)| self.member_path(member)).collect::<Vec<_>>();
        (0..self.disks.len()).map(|index| wipe(&parts(index))).collect()
    }

    fn building(&self) -> Vec<Step> {
        let mut steps = Vec::new();
        for array in &self.arrays {
            steps.extend(self.assemble(array));
            // Arrays begin somewhere within partitions, where what had been on the disks may come to light.
            steps.extend(array.is_assembled().then(|| wipe(&self.devices(array))));
            steps.extend(self.make_file_systems(array));
            steps.extend(self.targets(array).iter().enumerate().flat_map(|(at, _)| self.place_target(array, at)));
        }
        steps
    }

    /// Assembles and mounts what is there on disk and not in the system.
    fn bring_back(self) -> Result<Self, DeviceError> {
        identity::refuse_others(&self)?;
        identity::show_partitions(&self)?;
        identity::refuse_other_nodes(&self)?;
        for array in &self.arrays {
            if array.is_assembled() && !self.devices(array).iter().all(|device| device.exists()) {
                self.reassemble(array).iter().try_for_each(Step::run)?;
            }
            if array.array.kind == ArrayKind::Btrfs {
                self.show_to_btrfs(array).run()?;
            }
            identity::refuse_other_file_systems(&self, array)?;
            identity::refuse_added_disks(&self, array)?;
            self.place_missing(array)?;
        }
        geometry::check(&self)?;
        Ok(self)
    }

    /// The arrays that have a partition of a disk, in the order of those.
    pub(super) fn partitions(&self, disk: usize) -> impl Iterator<Item = (&StripedArray, &Member)> {
        self.arrays
            .iter()
            .flat_map(|array| array.members.iter().map(move |member| (array, member)))
            .filter(move |(_, member)| member.disk == disk)
    }

    fn divide(&self, index: usize, disk: &StripedDisk) -> Vec<Step> {
        let table = disk.table;
        let mut script = format!("label: gpt\nlabel-id: {table}\n");
        // In mebibytes, because sectors may have 512 bytes or 4096.
        let mut start = 1;
        let mut last = None;
        for (array, member) in self.partitions(index) {
            let size = member.size_bytes / ALIGNMENT_BYTES;
            let (id, name) = (member.id, &array.array.name);
            script += &format!("start={start}MiB, size={size}MiB, uuid={id}, name=\"{LABEL} {name}\"\n");
            start += size;
            last = Some(self.member_path(member));
        }
        let device = [real(&disk.device)];
        // Kernels that do not know such tables can still be told of partitions, one by one. What lay there before the
        // disk was blank would be taken for what is on them, and used by the system as soon as it sees them.
        let divide = ["--quiet", "--wipe", "never", "--wipe-partitions", "always", "--no-reread", "--no-tell-kernel"];
        let divide = Step::new("sfdisk", divide).with(&device);
        let tell = Step::new("partx", ["--update"]).with(&device);
        vec![Step { input: Some(script), ..divide }, Step { makes: last, ..tell }]
    }

    /// Puts the disks of an array together.
    fn assemble(&self, own: &StripedArray) -> Vec<Step> {
        let (name, members) = (own.system_name(), self.member_paths(own));
        let Array { kind, chunk_bytes, .. } = own.array;
        let device = || self.devices(own).into_iter().next().unwrap_or_default();
        let count = members.len().to_string();
        match kind {
            ArrayKind::None | ArrayKind::Jbod => Vec::new(),
            ArrayKind::Btrfs => {
                let profile = if members.len() == 1 { "single" } else { "raid0" };
                let id = own.file_systems[0].to_string();
                let make = [
                    "--quiet",
                    "--nodiscard",
                    "--label",
                    LABEL,
                    "--uuid",
                    &id,
                    "--data",
                    profile,
                    "--metadata",
                    profile,
                ];
                vec![Step::new("mkfs.btrfs", make).with(&members), self.show_to_btrfs(own)]
            }
            ArrayKind::Md => {
                let chunk = format!("--chunk={}K", chunk_bytes >> 10);
                let (id, count) = (format!("--uuid={}", of_md(own.id)), format!("--raid-devices={count}"));
                let device = device();
                let mut step = Step::new("mdadm", ["--create", &text(&device), "--quiet", "--run", "--level=0"]);
                step.arguments.extend(["--metadata=1.2".to_owned(), chunk, id]);
                // One disk is an array only for those who insist.
                step.arguments.extend((members.len() == 1).then(|| "--force".to_owned()));
                step.arguments.push(count);
                vec![step.with(&members).making(device)]
            }
            ArrayKind::Lvm => {
                let mut steps: Vec<Step> = own
                    .members
                    .iter()
                    .map(|member| {
                        let id = member.volume_id();
                        lvm("pvcreate", &["--quiet", "--yes", "--uuid", &id, "--norestorefile"])
                            .with(&[self.member_path(member)])
                    })
                    .collect();
                steps.push(lvm("vgcreate", &["--quiet", &name]).with(&members));
                let chunk = format!("{}k", chunk_bytes >> 10);
                // What is found where a volume begins is not asked about: the disks were blank.
                let mut create = vec!["--quiet", "--yes", "--wipesignatures", "n", "--zero", "n", "--stripes", &count];
                if members.len() > 1 {
                    create.extend(["--stripesize", &chunk]);
                }
                create.extend(["--extents", "100%FREE", "--name", VOLUME, &name]);
                steps.push(lvm("lvcreate", &create).making(device()));
                steps
            }
            ArrayKind::Dm => vec![self.map(own)],
        }
    }

    /// Puts the disks of an array together that has been made before.
    fn reassemble(&self, own: &StripedArray) -> Vec<Step> {
        let members = self.member_paths(own);
        let device = self.devices(own).into_iter().next().unwrap_or_default();
        match own.array.kind {
            ArrayKind::None | ArrayKind::Jbod => Vec::new(),
            ArrayKind::Btrfs => vec![self.show_to_btrfs(own)],
            ArrayKind::Md => {
                // The system may have assembled it under a name of its own.
                let stop = self.holders(own).into_iter().map(|holder| Step::new("mdadm", ["--stop", &holder]));
                let id = format!("--uuid={}", of_md(own.id));
                let assemble = Step::new("mdadm", ["--assemble", &text(&device), "--quiet", "--run", &id]);
                stop.chain([assemble.with(&members).making(device)]).collect()
            }
            ArrayKind::Lvm => vec![lvm("vgchange", &["--quiet", "--activate", "y", &own.system_name()]).making(device)],
            ArrayKind::Dm => vec![self.map(own)],
        }
    }

    fn map(&self, own: &StripedArray) -> Step {
        let (name, members) = (own.system_name(), self.member_paths(own));
        let chunk = own.array.chunk_bytes / SECTOR_BYTES;
        let each = own.members.iter().map(|member| member.size_bytes).min().unwrap_or(0) / SECTOR_BYTES / chunk * chunk;
        let count = members.len();
        let mut table = format!("0 {} striped {count} {chunk}", each * count as u64);
        for member in &members {
            table += &format!(" {} 0", member.display());
        }
        let id = format!("PLIMSOLL-{}", own.id.simple());
        let mut create = vec!["create", &name, "--uuid", &id, "--table", &table];
        if !has_udev() {
            create.extend(["--noudevrules", "--noudevsync"]);
        }
        let device = self.devices(own).into_iter().next().unwrap_or_default();
        Step::new("dmsetup", create).making(device)
    }

    fn show_to_btrfs(&self, own: &StripedArray) -> Step {
        Step::new("btrfs", ["device", "scan"]).with(&self.member_paths(own))
    }

    fn make_file_systems(&self, own: &StripedArray) -> Vec<Step> {
        if own.array.kind == ArrayKind::Btrfs {
            return Vec::new();
        }
        let devices = self.devices(own);
        let make = |(device, id): (PathBuf, &Uuid)| make_file_system(own, *id).map(|step| step.with(&[device]));
        devices.into_iter().zip(&own.file_systems).filter_map(make).collect()
    }

    /// Places those targets of an array that are not in their places.
    pub(super) fn place_missing(&self, own: &StripedArray) -> Result<(), DeviceError> {
        for at in 0..self.targets(own).len() {
            if !identity::is_target_in_place(self, own, at)? {
                self.place_target(own, at).iter().try_for_each(Step::run)?;
            }
        }
        Ok(())
    }

    /// Mounts what has a file system, and links to what has none.
    fn place_target(&self, own: &StripedArray, at: usize) -> Vec<Step> {
        let (targets, devices) = (self.targets(own), self.devices(own));
        let (Some(target), Some(device)) = (targets.get(at), devices.get(at)) else { return Vec::new() };
        let parent = target.parent().map(Path::to_owned).unwrap_or_default();
        let options = match own.array.file_system {
            FileSystem::Raw => {
                let link = Step::new("ln", ["-sT"]);
                return vec![Step::new("mkdir", ["-p"]).with(&[parent]), link.with(&[device.clone(), target.clone()])];
            }
            // What it would initialize behind the measurement's back stays as it is.
            FileSystem::Ext4 => "noinit_itable".to_owned(),
            FileSystem::Xfs => "defaults".to_owned(),
            // With checksums and copies, direct I/O is none, and rewrites are no rewrites.
            FileSystem::Btrfs => {
                let members = self.member_paths(own);
                let devices = members.iter().skip(1).map(|member| format!(",device={}", member.display()));
                format!("nodatacow{}", devices.collect::<String>())
            }
        };
        let mount = Step::new("mount", ["-t", own.array.file_system.as_str(), "-o", &options]);
        vec![
            Step::new("mkdir", ["-p"]).with(std::slice::from_ref(target)),
            mount.with(&[device.clone(), target.clone()]),
        ]
    }
}

/// Erases the marks of whatever lies on devices.
fn wipe(devices: &[PathBuf]) -> Step {
    Step::new("wipefs", ["--all", "--quiet"]).with(devices)
}

fn make_file_system(own: &StripedArray, id: Uuid) -> Option<Step> {
    let Array { chunk_bytes, file_system, block_bytes, cluster_bytes, .. } = own.array;
    let id = id.to_string();
    let block = block_bytes.unwrap_or(SECTOR_BYTES);
    let width = if own.is_assembled() { own.members.len() as u64 } else { 1 };
    match file_system {
        FileSystem::Raw => None,
        FileSystem::Ext4 => {
            let mut extended = "lazy_itable_init=1,lazy_journal_init=1,nodiscard".to_owned();
            if own.is_assembled() {
                let stride = (chunk_bytes / block).max(1);
                extended += &format!(",stride={stride},stripe_width={}", stride * width);
            }
            let mut step =
                Step::new("mkfs.ext4", ["-q", "-L", LABEL, "-U", &id, "-b", &block.to_string(), "-E", &extended]);
            if let Some(cluster) = cluster_bytes.filter(|cluster| *cluster > block) {
                step.arguments.extend(["-O", "bigalloc", "-C", &cluster.to_string()].map(str::to_owned));
            }
            Some(step)
        }
        FileSystem::Xfs => {
            let (id, block) = (format!("uuid={id}"), format!("size={block}"));
            let mut step = Step::new("mkfs.xfs", ["-q", "-K", "-L", LABEL, "-m", &id, "-b", &block]);
            if own.is_assembled() {
                step.arguments.extend(["-d".to_owned(), format!("su={chunk_bytes},sw={width}")]);
            }
            Some(step)
        }
        FileSystem::Btrfs => Some(Step::new("mkfs.btrfs", ["--quiet", "--nodiscard", "--label", LABEL, "--uuid", &id])),
    }
}

/// A command of LVM that leaves no copies of metadata behind, and does not wait for a udev that is not there.
pub(super) fn lvm(command: &str, arguments: &[&str]) -> Step {
    // Nor a line in the list of devices that some systems keep.
    let mut config = "backup{backup=0 archive=0} devices{use_devicesfile=0}".to_owned();
    if !has_udev() {
        config += " activation{udev_sync=0 udev_rules=0} devices{obtain_device_list_from_udev=0 \
                   external_device_info_source=\"none\"}";
    }
    Step::new("lvm", [command, "--config", &config].into_iter().chain(arguments.iter().copied()))
}

fn has_udev() -> bool {
    Path::new("/run/udev/control").exists()
}

/// An identity in the form that mdadm has.
fn of_md(id: Uuid) -> String {
    let digits = id.simple().to_string();
    let parts: Vec<&str> = [0..8, 8..16, 16..24, 24..32].into_iter().map(|range| &digits[range]).collect();
    parts.join(":")
}

#[cfg(test)]
mod tests {
    use plimsoll_workload::array::Striping;
    use serde_json::json;

    use super::*;

    /// A stripe of two disks that are not there.
    fn stripe(kind: &str, file_system: &str) -> Stripe {
        let devices = ["/none/a", "/none/b"].map(PathBuf::from);
        let array = json!({"kind": kind, "disks": 2, "file_system": file_system});
        let asked: Striping = serde_json::from_value(json!({"devices": devices, "array": [array]})).unwrap();
        let array = asked.expand().unwrap().remove(0);
        let member = |disk| Member { disk, partition: 1, size_bytes: 1 << 30, id: Uuid::from_u128(disk as u128) };
        let disk = |device| StripedDisk { device, serial: None, size_bytes: 0, group: None, table: Uuid::from_u128(9) };
        let file_systems = vec![Uuid::from_u128(7)];
        let array = StripedArray { array, id: Uuid::from_u128(8), members: vec![member(0), member(1)], file_systems };
        Stripe {
            form: Stripe::FORM.to_owned(),
            name: "stripe".to_owned(),
            is_complete: false,
            disks: devices.into_iter().map(disk).collect(),
            arrays: vec![array],
        }
    }

    #[test]
    fn what_comes_to_light_in_an_array_is_erased_before_its_file_system_is_made() {
        let place = |steps: &[Step], begins: &str| {
            steps.iter().position(|step| step.to_string().starts_with(begins)).unwrap_or_else(|| panic!("{begins}"))
        };
        for (kind, made_by, device) in [
            ("md", "mdadm --create", "/dev/md/plimsoll-"),
            ("lvm", "lvm lvcreate", "/dev/plimsoll-"),
            ("dm", "dmsetup create", "/dev/mapper/plimsoll-"),
        ] {
            for (file_system, then) in [("xfs", "mkfs.xfs"), ("btrfs", "mkfs.btrfs"), ("raw", "mkdir")] {
                let steps = stripe(kind, file_system).building();
                let wiped = place(&steps, &format!("wipefs --all --quiet {device}"));
                assert!(place(&steps, made_by) < wiped && wiped < place(&steps, then), "{kind} {file_system}");
            }
        }
    }

    #[test]
    fn what_lay_on_partitions_is_erased_before_the_kernel_knows_them() {
        let stripe = stripe("md", "ext4");
        let [divide, tell] = &stripe.divide(0, &stripe.disks[0])[..] else { panic!("two steps") };
        let divide = divide.to_string();
        assert!(divide.contains(" sfdisk ") && divide.contains(" --wipe-partitions always "), "{divide}");
        assert!(tell.to_string().starts_with("partx --update "), "{tell}");
    }
}
