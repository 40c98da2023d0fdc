//! The grammar: what is understood, what it means, and what is said of what is not.

use super::*;

fn parse(text: &str) -> Result<Statement, ParseError> {
    Statement::parse(text, Thousands::Untold)
}

/// How a statement is written back.
#[track_caller]
fn means(text: &str, canonical: &str) {
    let statement = parse(text).unwrap_or_else(|error| panic!("{text}: {error} at {}", error.at));
    assert_eq!(statement.to_string(), canonical, "{text}");
    assert_eq!(parse(canonical).as_ref(), Ok(&statement), "{canonical}");
}

#[test]
fn statements_of_the_same_meaning_are_the_same() {
    means("read iops of acs randread = 59,365", "read IOPS of \"acs\" \"randread\" = 59,365");
    means("The read IOPS for acs randread are 59365.", "read IOPS of \"acs\" \"randread\" = 59365");
    means("acs is more than 4x azdisk", "\"acs\" > 4 times * \"azdisk\"");
    means("acs is 4 times faster than azdisk", "\"acs\" is 4 times faster than \"azdisk\"");
    means("acs writes are twice as fast as azdisk", "write of \"acs\" is twice as fast as \"azdisk\"");
    means("acs outperformed azdisk by a factor of > 60", "\"acs\" is more than 60 times faster than \"azdisk\"");
    means("x is between 40 and 50 % faster than y", "\"x\" is between 40 % and 50 % faster than \"y\"");
    means("x is 40-50% slower than y", "\"x\" is between 40 % and 50 % slower than \"y\"");
    means("x is 3 to 4 times faster than y", "\"x\" is between 3 times and 4 times faster than \"y\"");
    means("x took 3h14m14s on average", "average of \"x\" = 3h 14min 14s");
    means("x has 0.4 ms read latency", "read latency of \"x\" = 0.4 ms");
    means("p99.9 latency of x < 20 ms", "p99.9 latency of \"x\" < 20 ms");
    means("x is the same as y", "\"x\" is the same as \"y\"");
    means("x is as fast as y", "\"x\" is the same as \"y\"");
    means("x 10kb or 100kb is the fastest", "\"x\" \"10k\" or \"100k\" is the fastest");
    means("iops of x is the lowest of y or z", "IOPS of \"x\" is the lowest of \"y\" or \"z\"");
    means(
        "reads and writes of x are always slower than y",
        "read and write of \"x\" is slower than \"y\" in every workload",
    );
    means("(iops of x + iops of y) / 2 ~ 500", "(IOPS of \"x\" + IOPS of \"y\") / 2 ~ 500");
    means("iops of x - (iops of y - 5) = -3", "IOPS of \"x\" - (IOPS of \"y\" - 5) = -3");
    means("sum of iops of odd threads of x = 5", "sum IOPS of odd threads of \"x\" = 5");
    means("expected burst iops of x = 3.5k", "expected burst IOPS of \"x\" = 3.5k");
    means("x is faster than y and slower than z", "\"x\" is faster than \"y\"; \"x\" is slower than \"z\"");
    means(
        "The x solution took an average time of 3h 14min 14sec",
        "average duration of \"x\" \"solution\" = 3h 14min 14s",
    );
    means("x has a p99 latency of about 5 ms", "p99 latency of \"x\" ~ 5 ms");
    means("x reached 5000 IOPS with a latency of 2 ms", "\"x\" = 5000 IOPS; latency of \"x\" = 2 ms");
    means("x has 20% more IOPS than y", "IOPS of \"x\" is 20 % higher than \"y\"");
    means("x has a lower write latency than y", "write latency of \"x\" is lower than \"y\"");
    means("x gives 4 times more performance than y", "\"x\" is 4 times higher than \"y\"");
    means("x is the fastest for writing 100Mb files", "write of \"x\" \"100m\" \"files\" is the fastest");
    means("x writes only 109 GB and reads 5 MiB/s of y", "write of \"x\" = 109 GB; read of \"y\" = 5 MiB/s");
    means("x took 3 s to restore", "\"x\" \"restore\" = 3 s");
    means("x's throughput is double that of y", "bandwidth of \"x\" = double * \"y\"");
    means("x: 500 IOPS", "\"x\" = 500 IOPS");
    means("cpu share of x is 49.2 percent", "cpu share of \"x\" = 49.2 %");
    means(
        "x is at least two orders of magnitude slower than y",
        "\"x\" is at least two orders of magnitude slower than \"y\"",
    );
    means("/data/x randread 4k = 5 MiB/s", "\"/data/x\" \"randread\" \"4k\" = 5 MiB/s");
}

#[test]
fn what_is_not_understood_says_where_and_what_to_write() {
    for (text, at, words) in [
        ("", 0, "a number or the name of a figure"),
        ("iops of x", 9, "nothing is said"),
        ("x is faster", 5, "a number or the name"),
        ("x is 4 faster than y", 19, "no ratio"),
        ("x is not faster than y", 5, "negations"),
        ("iops bandwidth of x = 4", 5, "two figures"),
        ("x = 5 Mb/s", 4, "bits or bytes"),
        ("(iops of x = 4", 11, "\")\""),
        ("x = 1.2.3", 4, "groups of three"),
        ("x / z = 4 of y", 10, "\"of\" where the end"),
        ("x = 4 of odd threads of y", 6, "names stand before"),
        ("\"x = 4", 0, "ends nowhere"),
        ("x ? y", 2, "means nothing here"),
        ("x is the same", 13, "\"as\""),
        ("5 = 5", 0, "no figure of the data is named"),
    ] {
        let error = parse(text).expect_err(text);
        assert!(error.message.contains(words), "{text}: {error}");
        assert_eq!(error.at, at, "{text}: {error}");
    }
    let deep = "(".repeat(1000) + "a" + &")".repeat(1000);
    assert!(parse(&deep).is_err());
}

#[test]
fn a_sign_where_none_belongs_is_named_as_it_is_written() {
    for (text, sign) in [("iops of x >>> 3", ">"), ("iops of x > ≥ 3", "≥"), ("iops of x > , 3", ",")] {
        let message = parse(text).unwrap_err().message;
        assert!(message.starts_with(&format!("\"{sign}\" where a number")), "{text}: {message}");
    }
}
