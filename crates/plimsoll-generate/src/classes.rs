//! StorageClasses, as their drivers take them. The catalog reads the same parameters, and a test has it read these.

use plimsoll_catalog::product::Provider;
use plimsoll_workload::provisioned::Caching;

use crate::{GeneratedFile, aws, cluster::Backing, cluster::Class, setup::Setup};

/// The file of all classes, where there are any.
pub(crate) fn file(setup: &Setup) -> Option<GeneratedFile> {
    let cluster = setup.cluster.as_ref().filter(|cluster| !cluster.classes.is_empty())?;
    let san_tib = cluster.container_storage.as_ref().and_then(|pool| match pool.backing {
        Backing::ElasticSan { tib } => Some(tib),
        _ => None,
    });
    let texts: Vec<String> =
        cluster.classes.iter().map(|class| class_text(class, setup.provider, &setup.name, san_tib)).collect();
    let head = "# What volumes are made of. Written by plimsoll generate.\n";
    Some(GeneratedFile::text("classes.yaml", head.to_owned() + &texts.join("---\n")))
}

fn class_text(class: &Class, provider: Provider, setup: &str, san_tib: Option<u64>) -> String {
    let driver = match (provider, class.product) {
        (Provider::Azure, "elastic-san") => "san.csi.azure.com",
        (Provider::Azure, _) => "disk.csi.azure.com",
        (Provider::Aws, _) => "ebs.csi.aws.com",
        _ => "pd.csi.storage.gke.io",
    };
    let parameters = parameters(class, provider, san_tib);
    let parameters: String = parameters.iter().map(|(name, value)| format!("  {name}: \"{value}\"\n")).collect();
    let mut text = format!(
        "apiVersion: storage.k8s.io/v1\nkind: StorageClass\nmetadata:\n  name: {}\n  labels:\n    plimsoll-setup: {setup}\n\
         provisioner: {driver}\n",
        class.name
    );
    if !parameters.is_empty() {
        text += &format!("parameters:\n{parameters}");
    }
    // A volume is made where its pod is, and goes with its claim: nothing of it is paid for afterwards.
    text + "reclaimPolicy: Delete\nvolumeBindingMode: WaitForFirstConsumer\nallowVolumeExpansion: true\n"
}

fn parameters(class: &Class, provider: Provider, san_tib: Option<u64>) -> Vec<(&'static str, String)> {
    let bought = &class.provisioned;
    let mut all = Vec::new();
    let mut parameter = |name, value: Option<String>| all.extend(value.map(|value| (name, value)));
    let (iops, throughput) = (class.bought.iops.map(|iops| iops.to_string()), class.bought.throughput);
    match provider {
        Provider::Azure if class.product == "elastic-san" => {
            parameter("initialStorageTiB", san_tib.map(|tib| tib.to_string()));
        }
        Provider::Azure => {
            parameter("skuName", Some(class.product.to_owned()));
            parameter("cachingMode", Some(bought.caching.unwrap_or(Caching::None).to_string()));
            parameter("DiskIOPSReadWrite", iops);
            parameter("DiskMBpsReadWrite", throughput.map(|rate| rate.to_string()));
            parameter("enableBursting", bought.on_demand_bursting.map(|is_on| is_on.to_string()));
            parameter("enablePerformancePlus", bought.performance_plus.map(|is_on| is_on.to_string()));
        }
        Provider::Aws => {
            parameter("type", Some(aws::volume_type(class.product).to_owned()));
            parameter("iops", iops);
            parameter("throughput", throughput.map(|rate| rate.to_string()));
        }
        _ => {
            parameter("type", Some(class.product.to_owned()));
            parameter("provisioned-iops-on-create", iops);
            parameter("provisioned-throughput-on-create", throughput.map(|rate| format!("{rate}Mi")));
        }
    }
    all
}
