//! What answers as a cloud's instance metadata service. On a machine of no cloud that is whoever has the address.
#![no_main]

use libfuzzer_sys::fuzz_target;
use plimsoll_record::environment::CloudEnvironment;
use plimsoll_run::machine::cloud::{ServiceAddress, aws, azure, google};

fuzz_target!(|text: &str| {
    for cloud in [azure::parse(text), aws::parse(text), google::parse(text)].into_iter().flatten() {
        let names = [&cloud.instance_type, &cloud.region, &cloud.zone].into_iter();
        let names = names.chain(cloud.disks.iter().flat_map(|disk| [&disk.name, &disk.sku, &disk.caching]));
        for name in names.flatten() {
            assert!(!name.is_empty() && !name.chars().any(char::is_control), "a name that can be shown");
        }
        assert!(cloud.instance_type.is_some(), "without its type a machine is not known");
        let json = serde_json::to_string(&cloud).expect("what is known becomes text");
        let read: CloudEnvironment = serde_json::from_str(&json).expect("what is known is read back");
        assert_eq!(read, cloud);
    }
    if let Ok(address) = text.parse::<ServiceAddress>() {
        assert_eq!(address.to_string().parse(), Ok(address));
    }
});
