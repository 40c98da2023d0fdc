//! AWS's answer: the instance identity document (`/latest/dynamic/instance-identity/document`).
//!
//! See <https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/instance-identity-documents.html>. It tells of no disks.

use plimsoll_record::environment::{CloudEnvironment, CloudProvider};
use serde_json::Value;

use super::{NotUnderstood, fields::text};

/// What the service tells of the machine.
///
/// # Errors
/// When it is not the answer of this service.
pub fn parse(answer: &str) -> Result<CloudEnvironment, NotUnderstood> {
    let answer: Value = serde_json::from_str(answer)?;
    Ok(CloudEnvironment {
        provider: CloudProvider::Aws,
        instance_type: Some(text(&answer, "/instanceType").ok_or(NotUnderstood::Lacking("instanceType"))?),
        region: text(&answer, "/region"),
        zone: text(&answer, "/availabilityZone"),
        disks: Vec::new(),
    })
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// The example of the documentation, with another type.
    pub(in super::super) const ANSWER: &str = r#"{
        "devpayProductCodes" : null,
        "marketplaceProductCodes" : [ "1abc2defghijklm3nopqrs4tu" ],
        "availabilityZone" : "us-west-2b",
        "privateIp" : "10.158.112.84",
        "version" : "2017-09-30",
        "instanceId" : "i-1234567890abcdef0",
        "billingProducts" : null,
        "instanceType" : "m5.large",
        "accountId" : "123456789012",
        "imageId" : "ami-5fb8c835",
        "pendingTime" : "2016-11-19T16:32:11Z",
        "architecture" : "x86_64",
        "kernelId" : null,
        "ramdiskId" : null,
        "region" : "us-west-2"
    }"#;

    #[test]
    fn type_and_place_are_known_and_nothing_else_is_kept() {
        let cloud = parse(ANSWER).unwrap();
        let expected = CloudEnvironment {
            provider: CloudProvider::Aws,
            instance_type: Some("m5.large".to_owned()),
            region: Some("us-west-2".to_owned()),
            zone: Some("us-west-2b".to_owned()),
            disks: Vec::new(),
        };
        assert_eq!(cloud, expected);
    }

    #[test]
    fn a_document_without_a_type_is_none() {
        for answer in ["{}", "[]", "null", r#"{"instanceType": null}"#, r#"{"instanceType": 5}"#] {
            assert_eq!(parse(answer).unwrap_err().to_string(), "the answer has no instanceType");
        }
        assert!(parse("").unwrap_err().to_string().starts_with("the answer is not JSON (EOF"));
    }
}
