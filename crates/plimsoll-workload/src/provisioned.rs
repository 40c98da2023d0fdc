//! What was bought: the product, size and machine that a catalog derives a limit from, as people name them.
//!
//! Pure data in which anything may be absent. It stands in plan files, in files of context for results that do not
//! tell it, and in records.

use std::{collections::BTreeMap, fmt, str::FromStr};

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::{
    limit::Limit,
    units::{Bandwidth, ByteCount, ValueError, serde_as_text},
};

/// Whether the machine's host keeps a cache of a disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Caching {
    /// No.
    None,
    /// Of reads.
    ReadOnly,
    /// Of reads and writes.
    ReadWrite,
}

/// How disks are attached.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Interface {
    /// As SCSI disks.
    Scsi,
    /// As NVMe namespaces.
    Nvme,
}

/// What was bought for a target.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct Provisioned {
    /// The product, or an entry of it: `Premium_LRS`, `P30`, `gp3`, `pd-ssd`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sku: Option<String>,
    /// The provisioned size of one disk, volume or share, which may exceed what a test uses of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size: Option<ByteCount>,
    /// Provisioned operations per second, of products that sell them apart from size.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub iops: Option<u64>,
    /// Provisioned bytes per second, of products that sell them apart from size.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bandwidth: Option<Bandwidth>,
    /// A performance tier above that of the size: `P50`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tier: Option<String>,
    /// The size of the pool that it shares with others, of products that have one: the base size of a SAN for example.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pool: Option<ByteCount>,
    /// Whether the machine's host caches it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub caching: Option<Caching>,
    /// Whether bursting on demand is enabled.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub on_demand_bursting: Option<bool>,
    /// Whether it was made with more performance than its size has by itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub performance_plus: Option<bool>,
    /// How many such disks are striped.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub disks: Option<u32>,
    /// The size of the virtual machine, or type of the instance: `Standard_D16s_v5`, `m5.large`, `n2-standard-8`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub vm: Option<String>,
    /// How the machine sees disks, where its size has limits for either.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interface: Option<Interface>,
    /// How many loads like this one share the machine's limits at the same time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub vm_share: Option<u32>,
    /// What somebody says that it delivers, instead of what a catalog would.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<Limit>,
    /// What its disks get together at most, because they share a controller, a storage account or what is behind them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shared_limit: Option<Limit>,
    /// Whether `plimsoll emulate` stands in for it, which holds reads and writes back apart and knows no bursts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub emulated: Option<bool>,
}

/// What was bought for the targets of a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, default)]
pub struct Provisioning {
    /// What targets have in common.
    #[serde(skip_serializing_if = "Provisioned::is_empty")]
    pub defaults: Provisioned,
    /// What holds for one, by the target's name.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub targets: BTreeMap<String, Provisioned>,
}

impl Provisioned {
    /// This, and what it leaves open from the other.
    #[must_use]
    pub fn or(self, other: &Self) -> Self {
        let of = |own: Option<String>, other: &Option<String>| own.or_else(|| other.clone());
        Self {
            sku: of(self.sku, &other.sku),
            size: self.size.or(other.size),
            iops: self.iops.or(other.iops),
            bandwidth: self.bandwidth.or(other.bandwidth),
            tier: of(self.tier, &other.tier),
            pool: self.pool.or(other.pool),
            caching: self.caching.or(other.caching),
            on_demand_bursting: self.on_demand_bursting.or(other.on_demand_bursting),
            performance_plus: self.performance_plus.or(other.performance_plus),
            disks: self.disks.or(other.disks),
            vm: of(self.vm, &other.vm),
            interface: self.interface.or(other.interface),
            vm_share: self.vm_share.or(other.vm_share),
            limit: self.limit.or(other.limit),
            shared_limit: self.shared_limit.or(other.shared_limit),
            emulated: self.emulated.or(other.emulated),
        }
    }

    /// Whether anything is known.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

impl Provisioning {
    /// What was bought for the target of this name.
    pub fn of(&self, target: &str) -> Provisioned {
        self.targets.get(target).cloned().unwrap_or_default().or(&self.defaults)
    }

    /// What was bought for a cell of a result that others told: that of its target, or else of the longest name that
    /// occurs in its target or workload, because texts name disks in many places.
    pub fn of_cell(&self, target: &str, workload: &str) -> Provisioned {
        let occurs =
            |name: &&String| !name.is_empty() && (target.contains(name.as_str()) || workload.contains(name.as_str()));
        let known = match self.targets.get(target) {
            Some(known) => Some(known),
            None => self.targets.keys().filter(occurs).max_by_key(|name| name.len()).map(|name| &self.targets[name]),
        };
        known.cloned().unwrap_or_default().or(&self.defaults)
    }

    /// With what is said of every target before all that is said here.
    #[must_use]
    pub fn overridden_by(self, said: &Provisioned) -> Self {
        let targets = self.targets.into_iter().map(|(target, own)| (target, said.clone().or(&own))).collect();
        Self { defaults: said.clone().or(&self.defaults), targets }
    }

    /// This, and what it leaves open from the other: even what is said here of all comes before what the other says of
    /// one.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        let mut targets = self.targets.clone();
        for (target, known) in other.targets {
            let own = self.of(&target);
            targets.insert(target, own.or(&known));
        }
        Self { defaults: self.defaults.or(&other.defaults), targets }
    }

    /// What was said and means nothing by what is known of targets by now: its flag, and what it takes. A limit that
    /// the run was given does for all of them.
    pub fn unheeded(&self, known: &Self, targets: &[String], has_limit: bool) -> Option<(&'static str, &'static str)> {
        type Asks<'a> = &'a dyn Fn(&Provisioned) -> bool;
        let has_product: Asks<'_> = &|of| of.sku.is_some();
        let has_machine: Asks<'_> = &|of| of.vm.is_some();
        let has_disks: Asks<'_> = &|of| of.sku.is_some() || of.limit.is_some() || of.shared_limit.is_some();
        let has_any: Asks<'_> = &|of| has_limit || has_disks(of) || has_machine(of);
        let all: [(&str, &str, Asks<'_>, Asks<'_>); 10] = [
            ("--provisioned-iops", "--sku", &|of| of.iops.is_some(), has_product),
            ("--provisioned-bandwidth", "--sku", &|of| of.bandwidth.is_some(), has_product),
            ("--tier", "--sku", &|of| of.tier.is_some(), has_product),
            ("--pool", "--sku", &|of| of.pool.is_some(), has_product),
            ("--on-demand-bursting", "--sku", &|of| of.on_demand_bursting == Some(true), has_product),
            ("--performance-plus", "--sku", &|of| of.performance_plus == Some(true), has_product),
            ("--disks", "--sku", &|of| of.disks.is_some(), has_disks),
            ("--caching", "--sku", &|of| of.caching.is_some(), has_any),
            ("--interface", "--vm", &|of| of.interface.is_some(), has_machine),
            ("--vm-share", "--vm", &|of| of.vm_share.is_some(), has_machine),
        ];
        let is_in_vain = |is_said: Asks<'_>, is_heeded: Asks<'_>| {
            let mut targets = targets.iter().filter(|target| is_said(&self.of(target))).peekable();
            targets.peek().is_some() && !targets.any(|target| is_heeded(&known.of(target)))
        };
        let mut in_vain = all.into_iter().filter(|(.., is_said, is_heeded)| is_in_vain(*is_said, *is_heeded));
        in_vain.next().map(|(flag, needed, ..)| (flag, needed))
    }

    /// Whether nothing is known of any target.
    pub fn is_empty(&self) -> bool {
        self.defaults.is_empty() && self.targets.is_empty()
    }
}

impl FromStr for Caching {
    type Err = ValueError;

    fn from_str(text: &str) -> Result<Self, ValueError> {
        [Self::None, Self::ReadOnly, Self::ReadWrite]
            .into_iter()
            .find(|caching| caching.to_string().eq_ignore_ascii_case(text.trim()))
            .ok_or_else(|| {
                ValueError::new(format!("\"{text}\" is no host caching: choose None, ReadOnly or ReadWrite"))
            })
    }
}

impl fmt::Display for Caching {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::None => "None",
            Self::ReadOnly => "ReadOnly",
            Self::ReadWrite => "ReadWrite",
        })
    }
}

serde_as_text! { Caching, "\"None\", \"ReadOnly\" or \"ReadWrite\""; }

impl FromStr for Interface {
    type Err = ValueError;

    fn from_str(text: &str) -> Result<Self, ValueError> {
        match text.trim().to_ascii_lowercase().as_str() {
            "scsi" => Ok(Self::Scsi),
            "nvme" => Ok(Self::Nvme),
            _ => Err(ValueError::new(format!("\"{text}\" is no interface: choose scsi or nvme"))),
        }
    }
}

impl fmt::Display for Interface {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Scsi => "SCSI",
            Self::Nvme => "NVMe",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_said_of_one_target_comes_before_what_is_said_of_all() {
        let file = r#"
            [defaults]
            vm = "Standard_D16s_v5"
            caching = "ReadOnly"
            [targets."/mnt/a"]
            sku = "Premium_LRS"
            size = "8Gi"
            [targets."/mnt/b"]
            sku = "Premium_LRS"
            size = "2Ti"
            caching = "None"
        "#;
        let provisioning: Provisioning = toml::from_str(file).unwrap();
        let (one, other) = (provisioning.of("/mnt/a"), provisioning.of("/mnt/b"));
        assert_eq!((one.size, one.caching), (Some(ByteCount(8 << 30)), Some(Caching::ReadOnly)));
        assert_eq!((other.size, other.caching), (Some(ByteCount(2 << 40)), Some(Caching::None)));
        assert_eq!((one.vm, other.vm), (provisioning.defaults.vm.clone(), provisioning.defaults.vm.clone()));
        assert!(provisioning.of("/mnt/c").sku.is_none());
        let again: Provisioning = toml::from_str(&toml::to_string(&provisioning).unwrap()).unwrap();
        assert_eq!(again, provisioning);
    }

    #[test]
    fn what_is_left_open_comes_from_the_other_even_for_one_target() {
        let read = |text: &str| toml::from_str::<Provisioning>(text).unwrap();
        let said = read("[defaults]\nvm = \"m5.large\"\n[targets.a]\nsku = \"gp2\"");
        let found = read(
            "[defaults]\nsku = \"gp3\"\n[targets.b]\nsku = \"io2\"\nvm = \"c5.large\"\n[targets.a]\nsize = \"8Gi\"",
        );
        let all = said.or(found);
        let of = |target: &str| {
            let known = all.of(target);
            (known.sku.unwrap_or_default(), known.vm.unwrap_or_default(), known.size.map(|size| size.0 >> 30))
        };
        assert_eq!(of("a"), ("gp2".into(), "m5.large".into(), Some(8)));
        assert_eq!(of("b"), ("io2".into(), "m5.large".into(), None));
        assert_eq!(of("c"), ("gp3".into(), "m5.large".into(), None));
    }

    #[test]
    fn what_is_said_of_no_product_or_machine_is_not_heeded() {
        let read = |text: &str| toml::from_str::<Provisioning>(text).unwrap();
        let flag = |said: &str, found: &str, has_limit: bool| {
            let said = read(said);
            let known = said.clone().or(read(found));
            said.unheeded(&known, &["a".to_owned(), "b".to_owned()], has_limit).map(|(flag, _)| flag)
        };
        for (said, expected) in [
            ("iops = 5", Some("--provisioned-iops")),
            ("limit = 'iops=5'\ntier = 'P50'", Some("--tier")),
            ("disks = 4", Some("--disks")),
            ("limit = 'iops=5'\ndisks = 4", None),
            ("shared_limit = 'iops=5'\ndisks = 4", None),
            ("vm = 'm5.large'\ncaching = 'None'\nvm_share = 2", None),
            ("sku = 'gp3'\nvm_share = 2", Some("--vm-share")),
            ("interface = 'nvme'", Some("--interface")),
            ("on_demand_bursting = false\nsize = '1Ti'", None),
        ] {
            assert_eq!(flag(&format!("[defaults]\n{said}"), "", false), expected, "{said}");
        }
        let said = "[defaults]\niops = 5\nvm_share = 2";
        assert_eq!(flag(said, "[targets.b]\nsku = 'gp3'\nvm = 'm5.large'", false), None, "found of one of them");
        assert_eq!(flag("[targets.a]\niops = 5", "[targets.b]\nsku = 'gp3'", false), Some("--provisioned-iops"));
        assert_eq!(flag("[defaults]\ncaching = 'None'", "", false), Some("--caching"));
        assert_eq!(flag("[defaults]\ncaching = 'None'", "", true), None);
    }

    #[test]
    fn the_longest_name_that_occurs_in_a_result_is_meant() {
        let provisioning: Provisioning =
            toml::from_str("[targets.premium]\nsku = \"a\"\n[targets.premium_v2]\nsku = \"b\"").unwrap();
        let sku = |target: &str, workload: &str| provisioning.of_cell(target, workload).sku.unwrap_or_default();
        assert_eq!(sku("disks", "fio read-premium_v2.ini"), "b");
        assert_eq!((sku("premium", "read"), sku("other", "read")), ("a".to_owned(), String::new()));
    }

    #[test]
    fn a_misspelt_key_is_refused_by_name() {
        for (text, key) in [("[default]\nsku = \"gp3\"", "default"), ("[defaults]\nSKU = \"gp3\"", "SKU")] {
            let error = toml::from_str::<Provisioning>(text).unwrap_err().to_string();
            assert!(error.contains(&format!("unknown field `{key}`")), "{error}");
        }
    }
}
