//! What is true of the address, of the words for what happened, and of all parsers.

use proptest::prelude::*;

use super::*;

type Parse = fn(&str) -> Result<CloudEnvironment, NotUnderstood>;

const PARSERS: [(Parse, &str); 3] =
    [(azure::parse, azure::tests::ANSWER), (aws::parse, aws::tests::ANSWER), (google::parse, google::tests::ANSWER)];

#[test]
fn an_address_has_a_host_and_at_most_a_port() {
    for text in
        ["http://169.254.169.254", "http://127.0.0.1:8080", "http://metadata.google.internal/", "http://[fd00::1]:80"]
    {
        let address: ServiceAddress = text.parse().unwrap();
        assert_eq!(address.to_string(), text.trim_end_matches('/'));
    }
    for text in [
        "",
        "169.254.169.254",
        "http://",
        "http://:80",
        "https://169.254.169.254",
        "ftp://169.254.169.254",
        "http://a b",
        "http://user:word@host",
        "http://host:99999",
        "http://host:",
        "http://host/metadata",
        "http://host?x=1",
        "http://host/#a",
        "/metadata",
    ] {
        let error = text.parse::<ServiceAddress>().unwrap_err().to_string();
        assert!(error.starts_with(&format!("\"{text}\" is not the address of")), "{error}");
    }
    assert_eq!(ServiceAddress::default(), USUAL_ADDRESS.parse().unwrap());
}

#[test]
fn no_service_takes_the_answer_of_another_for_its_own() {
    for (asked, (parse, _)) in PARSERS.into_iter().enumerate() {
        for (answers, (_, answer)) in PARSERS.into_iter().enumerate() {
            assert_eq!(parse(answer).is_ok(), asked == answers);
        }
    }
}

#[test]
fn the_most_telling_of_what_happened_is_said() {
    let silent = || Failure::Silent("connection refused".to_owned());
    let foreign = || Failure::Foreign("status 404".to_owned());
    let garbled = || Failure::Garbled("the answer has no instanceType".to_owned());
    let said = |azure, aws, google| {
        let failures = [(CloudProvider::Azure, azure), (CloudProvider::Aws, aws), (CloudProvider::Gcp, google)];
        unknown(ServiceAddress::default(), &failures).to_string()
    };
    let end = "so it is not known which cloud's machine this is";
    assert_eq!(
        said(silent(), silent(), silent()),
        format!("no instance metadata service answered at http://169.254.169.254 (connection refused), {end}")
    );
    assert_eq!(
        said(foreign(), silent(), foreign()),
        format!(
            "what answers at http://169.254.169.254 is not the instance metadata service of Azure (status 404), AWS \
             (connection refused), Google Cloud (status 404), {end}"
        )
    );
    assert_eq!(
        said(foreign(), garbled(), silent()),
        format!(
            "the instance metadata service at http://169.254.169.254 is not understood, {end}: as AWS's, the answer has \
             no instanceType"
        )
    );
}

/// What is kept has to be fit to be shown, and to be read back.
fn check(answer: &str) {
    for (parse, _) in PARSERS {
        let Ok(cloud) = parse(answer) else { continue };
        assert!(cloud.instance_type.is_some());
        let text = serde_json::to_string(&cloud).unwrap();
        assert_eq!(serde_json::from_str::<CloudEnvironment>(&text).unwrap(), cloud);
        let names = [&cloud.instance_type, &cloud.region, &cloud.zone].into_iter().flatten();
        assert!(names.flat_map(|name| name.chars()).all(|character| !character.is_control()));
    }
}

/// A value that may stand where a fact is expected.
fn value() -> impl Strategy<Value = String> {
    prop_oneof![
        Just("null".to_owned()),
        Just("\"\"".to_owned()),
        any::<i64>().prop_map(|number| number.to_string()),
        any::<u64>().prop_map(|number| format!("\"{number}\"")),
        "[a-z/-]{0,12}".prop_map(|text| format!("\"{text}\"")),
        Just(r#""\u001b[2J""#.to_owned()),
        Just("[[],{}]".to_owned()),
        Just("{\"option\": \"Local\"}".to_owned()),
        Just("1e999".to_owned()),
    ]
}

proptest! {
    #[test]
    fn no_text_makes_a_parser_fail_otherwise_than_by_saying_so(text in ".{0,200}") {
        check(&text);
    }

    #[test]
    fn facts_of_another_kind_are_not_known(provider in 0..3_usize, fact in 0..60_usize, value in value()) {
        // The n-th value behind a colon becomes another.
        let (_, answer) = PARSERS[provider];
        let mut parts: Vec<String> = answer.split(':').map(str::to_owned).collect();
        let part = 1 + fact % (parts.len() - 1);
        let end = parts[part].find([',', '}', ']']).unwrap_or(parts[part].len());
        parts[part].replace_range(..end, &value);
        check(&parts.join(":"));
    }

    #[test]
    fn what_breaks_off_is_not_understood(provider in 0..3_usize, length in 0..4000_usize) {
        let (parse, answer) = PARSERS[provider];
        let length = answer.floor_char_boundary(length.min(answer.len() - 1));
        prop_assert!(parse(&answer[..length]).is_err());
    }
}
