//! Regions: those of Azure, to tell a slip from a region that is newer than this list, which nothing is refused for;
//! of others how their names are built.

use plimsoll_catalog::product::Provider;

/// By their names in commands, without the numbers behind them.
///
/// <https://learn.microsoft.com/azure/reliability/regions-list>
const NAMES: [&str; 57] = [
    "australiacentral",
    "australiaeast",
    "australiasoutheast",
    "austriaeast",
    "belgiumcentral",
    "brazilsouth",
    "brazilsoutheast",
    "canadacentral",
    "canadaeast",
    "centralindia",
    "centralus",
    "chilecentral",
    "chinaeast",
    "chinanorth",
    "denmarkeast",
    "eastasia",
    "eastus",
    "francecentral",
    "francesouth",
    "germanynorth",
    "germanywestcentral",
    "indonesiacentral",
    "israelcentral",
    "italynorth",
    "japaneast",
    "japanwest",
    "jioindiacentral",
    "jioindiawest",
    "koreacentral",
    "koreasouth",
    "malaysiawest",
    "mexicocentral",
    "newzealandnorth",
    "northcentralus",
    "northeurope",
    "norwayeast",
    "norwaywest",
    "polandcentral",
    "qatarcentral",
    "southafricanorth",
    "southafricawest",
    "southcentralus",
    "southeastasia",
    "southindia",
    "spaincentral",
    "swedencentral",
    "swedensouth",
    "switzerlandnorth",
    "switzerlandwest",
    "uaecentral",
    "uaenorth",
    "uksouth",
    "ukwest",
    "westcentralus",
    "westeurope",
    "westindia",
    "westus",
];

/// A region as commands have it: also `West Europe` is one.
pub(crate) fn plain(region: &str) -> String {
    region.chars().filter(|letter| *letter != ' ').collect::<String>().to_ascii_lowercase()
}

/// The region that somebody has meant who has slipped once.
pub(crate) fn meant(region: &str) -> Option<&'static str> {
    let name = region.trim_end_matches(|letter: char| letter.is_ascii_digit());
    if NAMES.contains(&name) {
        return None;
    }
    NAMES.into_iter().find(|known| is_a_slip(name, known))
}

/// Whether a letter is too much, missing, another, or before the one that it should be behind.
fn is_a_slip(one: &str, other: &str) -> bool {
    let (one, other) = (one.as_bytes(), other.as_bytes());
    let same = one.iter().zip(other).take_while(|(one, other)| one == other).count();
    let (one, other) = (&one[same..], &other[same..]);
    let behind = |bytes: &[u8], count: usize| bytes.get(count..).map(<[u8]>::to_vec);
    let is_same =
        |of_one: usize, of_other: usize| behind(one, of_one).is_some_and(|rest| Some(rest) == behind(other, of_other));
    let is_turned = one.len() > 1 && other.len() > 1 && one[0] == other[1] && one[1] == other[0] && is_same(2, 2);
    is_same(1, 0) || is_same(0, 1) || is_same(1, 1) || is_turned
}

/// Where a name is built as those of no region are, one that is.
pub(crate) fn odd(provider: Provider, region: &str) -> Option<&'static str> {
    let is_digit = |character: char| character.is_ascii_digit();
    let parts = region.rsplit_once('-');
    let (is_built_so, example) = match provider {
        Provider::Aws => {
            let is_so = |(place, number): (&str, &str)| place.contains('-') && number.chars().all(is_digit);
            (parts.is_some_and(is_so), "us-east-1")
        }
        Provider::Gcp => {
            let is_so = |(_, place): (&str, &str)| place.ends_with(is_digit) && !place.starts_with(is_digit);
            (parts.is_some_and(is_so), "us-central1")
        }
        _ => (true, ""),
    };
    (!is_built_so).then_some(example)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_is_told_from_a_region_that_nobody_has_heard_of() {
        for slip in ["westeuropea", "westeurop", "westeurpoe", "westevrope", "esteurope"] {
            assert_eq!(meant(slip), Some("westeurope"), "{slip}");
        }
        for region in ["westeurope", "eastus2", "eastus9", "malaysiaeast", "italysouth", "a", ""] {
            assert_eq!(meant(region), None, "{region}");
        }
        assert_eq!(plain("West Europe"), "westeurope");
    }

    #[test]
    fn names_that_are_built_as_those_of_another_cloud_are_odd() {
        for (provider, names, others) in [
            (
                Provider::Aws,
                ["us-east-1", "us-gov-west-1", "ap-southeast-2"],
                ["westeurope", "us-central1", "us-east-1a"],
            ),
            (
                Provider::Gcp,
                ["us-central1", "europe-west12", "asia-east1"],
                ["westeurope", "us-east-1", "us-central1-a"],
            ),
        ] {
            assert!(names.iter().all(|name| odd(provider, name).is_none()), "{names:?}");
            assert!(others.iter().all(|name| odd(provider, name).is_some()), "{others:?}");
        }
    }
}
