//! Which texts of a plan may stand in scripts. None of these has a character that a shell or Terraform would take for
//! more than itself, so that nothing has to be quoted, and nothing can be smuggled in.

use std::net::Ipv4Addr;

use plimsoll_catalog::product::Provider;

use crate::error::{GenerateError, impossible};

/// A kind of word: what it is called, how long it may be, and whether a text is one.
pub(crate) struct Kind {
    what: &'static str,
    length_max: usize,
    is_one: fn(&str) -> bool,
}

/// What everything is called by: the shortest of what providers allow, a SAN, has 24 characters with `-san` behind it.
pub(crate) const NAME: Kind = Kind {
    what: "name: take up to 20 small letters, digits and hyphens, with a letter first and none of its hyphens doubled",
    length_max: 20,
    is_one: is_name,
};
/// A region or a zone.
pub(crate) const PLACE: Kind = Kind {
    what: "region or zone: take the provider's word for it, of small letters, digits and hyphens",
    length_max: 40,
    is_one: |text| text.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-'),
};
/// An image.
pub(crate) const IMAGE: Kind = Kind {
    what: "image: take letters, digits and any of . _ : / -",
    length_max: 256,
    is_one: |text| text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._:/-".contains(&byte)),
};
/// A project of Google Cloud.
pub(crate) const PROJECT: Kind = Kind {
    what: "project: take small letters, digits and hyphens, as in its id",
    length_max: 63,
    is_one: |text| {
        text.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"-:.".contains(&byte))
    },
};
/// A version of Kubernetes.
pub(crate) const VERSION: Kind = Kind {
    what: "version of Kubernetes: write it as 1.34",
    length_max: 20,
    is_one: |text| text.contains('.') && text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.'),
};
/// A name of an object of Kubernetes.
pub(crate) const OBJECT: Kind = Kind {
    what: "name of a StorageClass: take small letters, digits and hyphens, with a letter first",
    length_max: OBJECT_LENGTH_MAX,
    is_one: is_name,
};
/// A range of addresses.
pub(crate) const ADDRESSES: Kind = Kind {
    what: "range of addresses: write it as 203.0.113.7/32",
    length_max: 43,
    is_one: |text| {
        let Some((address, bits)) = text.split_once('/') else { return false };
        address.parse::<Ipv4Addr>().is_ok() && bits.parse::<u32>().is_ok_and(|bits| bits <= 32)
    },
};
/// A directory to mount a disk at.
pub(crate) const MOUNT: Kind = Kind {
    what: "place for a disk: take a directory of its own below the root, as /mnt/data, of letters, digits and any of . _ -",
    length_max: 200,
    is_one: is_mount,
};
/// A name of a machine's size or type.
pub(crate) const MACHINE: Kind = Kind {
    what: "machine: take letters, digits and any of . _ -",
    length_max: 64,
    is_one: |text| text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._-".contains(&byte)),
};

/// So many characters a disk's name has at most, so that with the setup's before it no provider refuses it.
pub(crate) const DISK_LENGTH_MAX: usize = 36;
/// So many characters the name of a class has at most.
pub(crate) const OBJECT_LENGTH_MAX: usize = 63;

/// Directories of the system, at which and below which no disk is mounted.
const WHOLE: [&str; 12] = ["bin", "boot", "dev", "etc", "lib", "lib64", "proc", "root", "run", "sbin", "sys", "usr"];
/// Those below which one may be.
const TOPS: [&str; 5] = ["media", "mnt", "opt", "tmp", "var"];

fn is_name(text: &str) -> bool {
    let is_of = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    text.bytes().next().is_some_and(|first| first.is_ascii_lowercase())
        && !text.ends_with('-')
        && !text.contains("--")
        && text.bytes().all(is_of)
}

fn is_mount(text: &str) -> bool {
    let Some(rest) = text.strip_prefix('/') else { return false };
    let is_part = |part: &str| {
        !part.is_empty()
            && !part.starts_with('.')
            && part.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._-".contains(&byte))
    };
    let (first, below) = rest.split_once('/').map_or((rest, None), |(first, below)| (first, Some(below)));
    // A home is as much of the system as what is in none.
    let is_home = first == "home" && below.is_none_or(|below| !below.contains('/'));
    let is_system = WHOLE.contains(&first) || (below.is_none() && TOPS.contains(&first)) || is_home;
    rest.split('/').all(is_part) && !is_system
}

impl Kind {
    /// The text, when it is a word of this kind.
    pub(crate) fn of(&self, place: &str, text: &str) -> Result<String, GenerateError> {
        if text.is_empty() || text.len() > self.length_max || !(self.is_one)(text) {
            return Err(GenerateError::Word { place: place.to_owned(), text: text.to_owned(), what: self.what });
        }
        Ok(text.to_owned())
    }
}

/// A range of addresses that somebody means: not all that there are, and none that goes on behind its bits.
pub(crate) fn addresses(place: &str, text: &str) -> Result<String, GenerateError> {
    let text = ADDRESSES.of(place, text)?;
    let parts = text.split_once('/').and_then(|(address, bits)| Some((address.parse().ok()?, bits.parse().ok()?)));
    let (address, bits): (Ipv4Addr, u32) = parts.unwrap_or((Ipv4Addr::UNSPECIFIED, 0));
    if bits == 0 {
        return Err(impossible(
            place,
            format!("{text} is everybody in the world: say who may reach the machine, as 203.0.113.7/32"),
        ));
    }
    let beginning = Ipv4Addr::from_bits(address.to_bits() & (u32::MAX << (32 - bits)));
    if beginning != address {
        return Err(impossible(
            place,
            format!("{text} goes on behind its {bits} bits: write {beginning}/{bits}, or {address}/32 for one address"),
        ));
    }
    Ok(text)
}

/// Whether a provider makes a class of this name in every cluster, or keeps such names for classes that it makes.
///
/// Azure: <https://learn.microsoft.com/azure/aks/concepts-storage>, and `managed`, `managed-premium` before CSI; AWS:
/// <https://docs.aws.amazon.com/eks/latest/userguide/ebs-csi.html>; Google Cloud:
/// <https://cloud.google.com/kubernetes-engine/docs/concepts/persistent-volumes>, and the classes of Filestore.
pub(crate) fn is_built_in(class: &str, provider: Provider) -> bool {
    match provider {
        Provider::Azure => {
            let names = [
                "default",
                "managed",
                "managed-premium",
                "managed-csi",
                "managed-csi-premium",
                "managed-csi-premium-v2",
                "local-csi",
                "azuresan-csi",
            ];
            names.contains(&class) || ["azurefile", "azureblob", "acstor-"].iter().any(|kind| class.starts_with(kind))
        }
        Provider::Aws => class == "gp2",
        _ => {
            let names = ["standard", "standard-rwo", "premium-rwo", "dynamic-rwo", "enterprise-multishare-rwx"];
            let of_filestore = ["standard-rwx", "premium-rwx", "zonal-rwx", "enterprise-rwx"];
            names.contains(&class) || of_filestore.contains(&class)
        }
    }
}

/// The name of a class like one that there is, in characters that plans take.
pub(crate) fn of_class(class: &str, provider: Provider) -> String {
    let lower = class.to_ascii_lowercase();
    let parts = lower.split(|letter: char| !letter.is_ascii_alphanumeric()).filter(|part| !part.is_empty());
    let name = parts.collect::<Vec<_>>().join("-");
    let is_free = name.starts_with(|first: char| first.is_ascii_lowercase()) && !is_built_in(&name, provider);
    if is_free { name } else { format!("like-{name}") }
}

/// A name of at most so many characters that nothing has yet: the name itself, or its beginning with a number.
pub(crate) fn unique(name: &str, length_max: usize, is_taken: impl Fn(&str) -> bool) -> String {
    let numbered = |number: u32| {
        let number = if number == 1 { String::new() } else { format!("-{number}") };
        let beginning: String = name.chars().take(length_max - number.len()).collect();
        beginning.trim_end_matches('-').to_owned() + &number
    };
    let mut number = 1;
    while is_taken(&numbered(number)) {
        number += 1;
    }
    numbered(number)
}

/// The name of a disk: the last part of where it is mounted, in characters that all providers allow.
pub(crate) fn of_mount(mount: &str) -> String {
    let last = mount.rsplit('/').next().unwrap_or_default().to_ascii_lowercase();
    let parts = last.split(|letter: char| !letter.is_ascii_alphanumeric()).filter(|part| !part.is_empty());
    let name = parts.collect::<Vec<_>>().join("-");
    if name.starts_with(|first: char| first.is_ascii_lowercase()) { name } else { format!("disk-{name}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_shell_would_take_for_more_than_a_word_is_refused() {
        for text in
            ["a b", "a;b", "$(id)", "a\"b", "a'b", "`id`", "a\nb", "", "A", "a--b", "a-", "-a", "ä", "a\u{2013}b"]
        {
            assert!(NAME.of("cloud.name", text).is_err(), "{text}");
            assert!(OBJECT.of("class", text).is_err(), "{text}");
        }
        assert!(IMAGE.of("image", "Canonical:ubuntu-24_04-lts:server:latest").is_ok());
        assert!(IMAGE.of("image", "a b").is_err() && PLACE.of("region", "West Europe").is_err());
        assert!(ADDRESSES.of("ssh_from", "203.0.113.7/32").is_ok() && ADDRESSES.of("ssh_from", "0.0.0.0").is_err());
    }

    #[test]
    fn names_that_plans_do_not_take_become_others_that_nothing_has() {
        for (class, name) in [("fast", "fast"), ("Fast.v2", "fast-v2"), ("default", "like-default"), ("2x", "like-2x")]
        {
            assert_eq!(of_class(class, Provider::Azure), name);
            assert!(OBJECT.of("class", name).is_ok() && !is_built_in(name, Provider::Azure));
        }
        assert_eq!(
            (of_class("gp2", Provider::Azure).as_str(), of_class("gp2", Provider::Aws).as_str()),
            ("gp2", "like-gp2")
        );
        let taken = ["abc", "abc-2", "ab-2"];
        let free = |name: &str, most| unique(name, most, |name| taken.contains(&name));
        assert_eq!([free("a", 9), free("abc", 9), free("abc-defg", 4)], ["a", "abc-3", "ab-3"]);
    }

    #[test]
    fn a_disk_has_a_directory_of_its_own_and_a_name_from_it() {
        for mount in ["/", "/etc", "data", "/mnt/../etc", "/mnt/a b", "/mnt/", "/mnt/$x", "/mnt/.hidden"] {
            assert!(MOUNT.of("cloud.disks", mount).is_err(), "{mount}");
        }
        assert!(MOUNT.of("cloud.disks", "/mnt/premium_v2").is_ok());
        assert_eq!((of_mount("/mnt/premium_v2").as_str(), of_mount("/mnt/0").as_str()), ("premium-v2", "disk-0"));
    }
}
