//! What machines of a provider cannot do though they are sold: facts of documents, each beside where it stands. Of a
//! machine that no document speaks of, nothing is refused.

/// Whether a size of Azure starts from images of generation 1 alone: series A, Dv2, Dv3, Ev3 and NP.
///
/// <https://learn.microsoft.com/azure/virtual-machines/generation-2#generation-2-vm-sizes>, and the page of each series
/// below <https://learn.microsoft.com/azure/virtual-machines/sizes/overview>, under "VM Generation Support".
pub(crate) fn is_of_generation_1(size: &str) -> bool {
    let size = size.to_ascii_lowercase();
    let size = size.trim_start_matches("standard_").trim_start_matches("basic_");
    let series = size.trim_end_matches(|letter: char| !letter.is_ascii_digit());
    let series = series.split(|letter: char| letter.is_ascii_digit()).next().unwrap_or_default();
    let behind = size[series.len()..].trim_start_matches(|letter: char| letter.is_ascii_digit());
    match series {
        "a" => true,
        "d" => matches!(behind, "_v2" | "_v2_promo" | "_v3"),
        "e" => matches!(behind, "_v3" | "i_v3"),
        "np" => behind == "s",
        _ => false,
    }
}

/// Whether an image of Azure is of generation 2, as far as its name says: Ubuntu's from 24.04 on say it where they are
/// not, others where they are.
///
/// <https://documentation.ubuntu.com/azure/azure-how-to/instances/find-ubuntu-images/>
pub(crate) fn is_image_of_generation_2(image: &str) -> bool {
    let mut parts = image.split(':').skip(1).map(str::to_ascii_lowercase);
    let (offer, sku) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
    let is_of_generation_1 = sku.ends_with("gen1") || sku.ends_with("-g1");
    let is_named_so = sku.contains("gen2") || sku.contains("-g2") || sku.contains("gensecond");
    is_named_so || (offer.starts_with("ubuntu-2") && !is_of_generation_1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_size_of_generation_1_is_told_by_its_series() {
        for size in
            ["Standard_A1_v2", "Standard_A8m_v2", "Basic_A0", "Standard_D2_v2", "Standard_D15_v2", "Standard_D4_v3"]
        {
            assert!(is_of_generation_1(size), "{size}");
        }
        assert!(is_of_generation_1("Standard_E64i_v3") && is_of_generation_1("Standard_NP10s"));
        for size in
            ["Standard_D2s_v3", "Standard_DS2_v2", "Standard_D4_v4", "Standard_E4s_v3", "Standard_NC24ads_A100_v4"]
        {
            assert!(!is_of_generation_1(size), "{size}");
        }
        assert!(is_image_of_generation_2("Canonical:ubuntu-24_04-lts:server:latest"));
        assert!(is_image_of_generation_2("Canonical:0001-com-ubuntu-server-jammy:22_04-lts-gen2:latest"));
        assert!(!is_image_of_generation_2("Canonical:ubuntu-24_04-lts:server-gen1:latest"));
        assert!(!is_image_of_generation_2("Canonical:0001-com-ubuntu-server-jammy:22_04-lts:latest"));
    }
}
