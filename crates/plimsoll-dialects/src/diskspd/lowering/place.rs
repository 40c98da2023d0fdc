//! Which part of which file or device a target is.

use plimsoll_workload::{
    file_names::FileNames,
    file_sizes::FileSizes,
    settings::Layout,
    units::{ByteCount, Extent},
    workload::Workload,
};

use super::Said;
use crate::{
    diskspd::profile::Target,
    found::{FoundKind, Look},
    problem::Wrong,
};

/// What operations of a target touch.
pub(super) struct Region {
    /// The directory, or the device.
    target: String,
    /// The file in it.
    name: Option<String>,
    /// Bytes of the file or device.
    pub(super) whole: u64,
    offset: u64,
    pub(super) size: u64,
    /// Bytes of a file that is to be made.
    file_size: Option<u64>,
}

impl Region {
    pub(super) fn of(target: &Target, look: &Look<'_>) -> Result<Self, Said<Wrong>> {
        let path = target.path.as_str();
        if let Some(wrong) = windows_name(path) {
            return Err(("", wrong));
        }
        let found = look(path);
        let whole = match (found.map(|found| found.kind), target.file_size) {
            (Some(FoundKind::Directory), _) => {
                let wrong = Wrong::new(format!("{path} is a directory"));
                return Err(("", wrong.instead("name a file in it, and -c<size> to make it")));
            }
            (Some(FoundKind::Other), _) => {
                let wrong = Wrong::new(format!("{path} is neither a file nor a block device"));
                return Err(("", wrong.instead("name a file or a block device")));
            }
            (Some(FoundKind::Device), Some(_)) => {
                let wrong = Wrong::new(format!("{path} is a device, which has its size"));
                return Err(("-c", wrong.instead("leave -c out; -f ends operations earlier")));
            }
            (None, _) if path.starts_with("/dev/") && !path.starts_with("/dev/shm/") => {
                let wrong = Wrong::new(format!("there is no device {path}"));
                return Err(("", wrong.instead("attach it, or name another; a file of that name would be in memory")));
            }
            (None, None) => {
                let wrong = Wrong::new(format!("there is no file {path}"));
                return Err(("", wrong.instead("write -c<size> to make it")));
            }
            (_, Some(size)) => size,
            (Some(_), None) => found.map_or(0, |found| found.size_bytes),
        };
        let end = if target.max_offset == 0 { whole } else { target.max_offset.min(whole) };
        let block = u64::from(target.block_size);
        let size = end.checked_sub(target.base_offset).filter(|size| *size >= block).ok_or_else(|| {
            let wrong = Wrong::new(format!(
                "{path} has {whole} bytes, and there is no room for a block of {block} where operations go"
            ));
            ("-B", wrong.instead("write less for -B and -b, or more for -f and -c"))
        })?;
        let is_device = found.is_some_and(|found| found.kind == FoundKind::Device);
        let (directory, name) = path.rsplit_once('/').unwrap_or((".", path));
        let directory = if directory.is_empty() { "/" } else { directory };
        Ok(Self {
            target: if is_device { path } else { directory }.to_owned(),
            name: (!is_device).then(|| name.to_owned()),
            whole,
            offset: target.base_offset,
            size,
            file_size: target.file_size,
        })
    }

    pub(super) fn put(&self, workload: &mut Workload) {
        workload.target = Some(self.target.clone());
        workload.offset = Some(Extent::Bytes(ByteCount(self.offset)));
        workload.size = Some(Extent::Bytes(ByteCount(self.size)));
        if let Some(name) = &self.name {
            workload.file_names = Some(FileNames::of([name.clone()]));
            workload.file_size = self.file_size.map(FileSizes::One);
            // Unlike diskspd, which leaves holes: reading those measures no storage.
            workload.layout = Some(Layout::Written);
        }
    }
}

/// Why a path is one of Windows alone.
fn windows_name(path: &str) -> Option<Wrong> {
    let is_letter = |text: &str| text.len() == 1 && text.bytes().all(|byte| byte.is_ascii_alphabetic());
    let has_drive = path
        .split_once(':')
        .is_some_and(|(drive, rest)| is_letter(drive) && (rest.is_empty() || rest.starts_with('\\')));
    let is_disk = path.strip_prefix('#').is_some_and(|number| number.parse::<u32>().is_ok());
    if has_drive || path.starts_with("\\\\") {
        let wrong = Wrong::new(format!("{path} is a name of Windows"));
        return Some(wrong.instead("name a file, or a block device as /dev/sdb"));
    }
    is_disk.then(|| {
        Wrong::new(format!("{path} is a disk as Windows counts them")).instead("name a block device as /dev/sdb")
    })
}
