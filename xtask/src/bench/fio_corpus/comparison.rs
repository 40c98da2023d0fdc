//! What two programs say that they did, job by job.

use serde_json::Value;

use super::job_text::JobText;

/// A comparison.
pub(super) enum Outcome {
    /// Both did the same.
    Same,
    /// They did not.
    Different(String),
    /// That cannot be told, for a reason.
    Not(String),
}

/// What a job did.
struct Done {
    name: String,
    group: u64,
    bytes: [u64; 2],
    operations: [u64; 2],
    milliseconds: u64,
}

/// What is wrong with a report, if anything is.
pub(super) fn complaint(text: &str) -> Option<String> {
    let report: Value = match serde_json::from_str(text) {
        Ok(report) => report,
        Err(error) => return Some(format!("the report is not JSON: {error}")),
    };
    let jobs = report["jobs"].as_array().map_or(&[][..], Vec::as_slice);
    let is_idle = || jobs.iter().all(|job| done(job).operations == [0, 0]);
    match error_in(text) {
        Some(error) => Some(error),
        None if jobs.is_empty() => Some("the report has no jobs".into()),
        None if is_idle() => Some("nothing was read or written".into()),
        None => None,
    }
}

/// The error of a job in a report.
pub(super) fn error_in(text: &str) -> Option<String> {
    let report: Value = serde_json::from_str(text).ok()?;
    let jobs = report["jobs"].as_array()?;
    let error = jobs.iter().filter_map(|job| job["error"].as_i64()).find(|error| *error != 0)?;
    Some(format!("a job has the error {error}"))
}

/// Compares two reports.
pub(super) fn compare(ours: &str, theirs: &str, text: &JobText) -> Outcome {
    // Notes may stand before fio's JSON.
    let theirs = theirs.find('{').map_or("", |at| &theirs[at..]);
    let (Ok(ours), Ok(theirs)) = (serde_json::from_str::<Value>(ours), serde_json::from_str::<Value>(theirs)) else {
        return Outcome::Not("a report is not JSON".into());
    };
    let jobs = |report: &Value| report["jobs"].as_array().map(|jobs| jobs.iter().map(done).collect::<Vec<_>>());
    let (ours, theirs) = (jobs(&ours).unwrap_or_default(), jobs(&theirs).unwrap_or_default());
    if ours.len() != theirs.len() {
        return Outcome::Different(format!("{} jobs are reported where fio has {}", ours.len(), theirs.len()));
    }
    if theirs.iter().chain(&ours).any(|job| job.milliseconds >= 19_000) {
        return Outcome::Not("a job ended by time".into());
    }
    ours.iter()
        .zip(&theirs)
        .find_map(|(ours, theirs)| difference(ours, theirs, text))
        .map_or(Outcome::Same, Outcome::Different)
}

fn difference(ours: &Done, theirs: &Done, text: &JobText) -> Option<String> {
    // The copy for fio may not have sections that are called like devices.
    let name = |done: &Done| done.name.replace('/', ".");
    if ours.group != theirs.group || name(ours) != name(theirs) && !text.has_names() {
        return Some("names or groups of jobs differ".into());
    }
    let (our_writes, their_writes) = (ours.operations[1], theirs.operations[1]);
    if text.verifies() {
        // To fio, reading again is reading; what a mix writes is drawn.
        let differs = ours.operations[0] == 0 && ours.bytes[1] != theirs.bytes[1] && !text.draws_sizes();
        return differs.then(|| format!("{our_writes} writes where fio has {their_writes}, which verifies"));
    }
    let kinds = |done: &Done| [done.operations[0] > 0, done.operations[1] > 0];
    if kinds(ours) != kinds(theirs) {
        return Some("one reads or writes where the other does not".into());
    }
    let (bytes, their_bytes): (u64, u64) = (ours.bytes.iter().sum(), theirs.bytes.iter().sum());
    let (operations, their_operations): (u64, u64) = (ours.operations.iter().sum(), theirs.operations.iter().sum());
    let is_close = text.draws_sizes() && bytes.abs_diff(their_bytes) * 20 <= their_bytes;
    if bytes != their_bytes && !is_close {
        return Some(format!("{bytes} bytes where fio has {their_bytes}"));
    }
    if operations != their_operations && !text.draws_sizes() {
        return Some(format!("{operations} operations where fio has {their_operations}"));
    }
    let share = |done: &Done| done.operations[0] as f64 / done.operations.iter().sum::<u64>().max(1) as f64;
    // What is drawn lies within four standard deviations, of which half an operation each is the most.
    let noise = 4.0 * 0.5 * (1.0 / operations as f64 + 1.0 / their_operations as f64).sqrt();
    if (share(ours) - share(theirs)).abs() > noise {
        return Some(format!("{:.2} are reads where fio has {:.2}", share(ours), share(theirs)));
    }
    None
}

fn done(job: &Value) -> Done {
    let number = |direction: &str, field: &str| job[direction][field].as_u64().unwrap_or(0);
    let both = |field: &str| [number("read", field), number("write", field)];
    Done {
        name: job["jobname"].as_str().unwrap_or_default().to_owned(),
        group: job["groupid"].as_u64().unwrap_or(0),
        bytes: both("io_bytes"),
        operations: both("total_ios"),
        milliseconds: both("runtime").into_iter().max().unwrap_or(0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(name: &str, bytes: u64) -> String {
        let operations = bytes / 4096;
        format!(
            r#"note {{"jobs": [{{"jobname": "{name}", "groupid": 0, "error": 0,
                "read": {{"io_bytes": {bytes}, "total_ios": {operations}, "runtime": 10}}}}]}}"#
        )
    }

    #[test]
    fn other_bytes_names_and_errors_are_told() {
        let text = JobText::default();
        let ours = report("a", 8192).replace("note ", "");
        assert!(matches!(compare(&ours, &report("a", 8192), &text), Outcome::Same));
        assert!(matches!(compare(&ours, &report("a", 4096), &text), Outcome::Different(_)));
        assert!(matches!(compare(&ours, &report("b", 8192), &text), Outcome::Different(_)));
        assert!(complaint(&ours).is_none());
        assert!(complaint(&ours.replace("\"error\": 0", "\"error\": 5")).is_some());
        assert!(complaint("{\"jobs\": []}").is_some() && complaint("").is_some());
    }
}
