//! Claims that were there before, with what somebody has in them.

use std::{
    fs::{self, File},
    io::{self, Write as _},
    iter,
    os::unix::fs::{MetadataExt as _, PermissionsExt as _, chown},
    path::Path,
};

use crate::{
    client::{Client, told},
    namespace::{Namespace, SOON_S},
};

/// Who a database is that refuses data which others may read.
const DATABASE: u32 = 999;

fn give(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    chown(path, Some(DATABASE), Some(DATABASE)).unwrap();
}

fn owner_and_mode(path: &Path) -> (u32, u32, u32) {
    let found = fs::metadata(path).unwrap();
    (found.uid(), found.gid(), found.mode() & 0o7777)
}

#[test]
fn who_owns_what_is_in_a_claim_and_who_may_read_it_stays_as_it_was() {
    let space = Namespace::new("data-of-others");
    let client = Client::new(&space);
    space.claim("data", "loop-wffc", "128Mi");
    space.holder("holder", "data", Some("node1"));
    space.wait_for_phase("pod", "holder", "Running", SOON_S);
    let root = space.path_of("holder", "data");
    let (folder, file) = (root.join("pgdata"), root.join("pgdata/PG_VERSION"));
    fs::create_dir(&folder).unwrap();
    fs::write(&file, "15").unwrap();
    [(&root, 0o755), (&folder, 0o700), (&file, 0o600)].into_iter().for_each(|(path, mode)| give(path, mode));
    let reads = ["--pvc", "data", "--node", "node1", "--rw", "randread", "--region", "32MiB", "--duration", "2s"];
    let refused = client.run(&reads);
    assert!(!refused.status.success() && told(&refused).contains("--run-as-user"), "{}", told(&refused));
    let record = client.record(&[&reads[..], &["--run-as-user", "999"]].concat());
    assert!(record.pointer("/cells/0/read/iops").and_then(serde_json::Value::as_f64).unwrap() > 0.0);
    for (path, mode) in [(&root, 0o755), (&folder, 0o700), (&file, 0o600)] {
        assert_eq!(owner_and_mode(path), (DATABASE, DATABASE, mode), "{}", path.display());
    }
    let left: Vec<_> = fs::read_dir(&root).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert!(left.iter().all(|name| name == "pgdata" || name == "lost+found"), "{left:?}");
}

/// What plimsoll has made in a claim, looked at from a pod on a node.
fn made_in(space: &Namespace, claim: &str, node: &str) -> Vec<String> {
    space.holder("holder", claim, Some(node));
    space.wait_for_phase("pod", "holder", "Running", SOON_S);
    let found = fs::read_dir(space.path_of("holder", claim)).unwrap();
    let names = found.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let ours = names.filter(|name| name.contains("plimsoll")).collect();
    space.delete("pod", "holder");
    ours
}

#[test]
fn what_a_killed_program_left_in_a_claim_is_told_and_removed_by_the_next_run() {
    let space = Namespace::new("killed-in-claim");
    let client = Client::new(&space);
    space.claim("data", "free", "512Mi");
    let place = ["--pvc", "data", "--fs-group", "10001", "--node", "node1", "--rw", "randread"];
    let hungry =
        ["--region", "256MiB", "--block-size", "4MiB", "--queue-depth", "32", "--duration", "5s", "--memory", "64Mi"];
    let output = client.run(&[&place[..], &hungry].concat());
    let said = told(&output);
    assert_eq!(output.status.code(), Some(6), "{said}");
    let left = made_in(&space, "data", "node1");
    assert_eq!(left.len(), 1, "{left:?}: {said}");
    let sentence = format!(
        "claim data may still have test files of the run, in {}: the next run of one pod with --pvc data removes them \
         if it is on node1 ",
        left[0]
    );
    assert!(said.contains("OOMKilled") && said.contains(&sentence), "{said}");
    // Until not even the first operation finds room.
    space.holder("holder", "data", Some("node1"));
    space.wait_for_phase("pod", "holder", "Running", SOON_S);
    let mut others = File::create(space.path_of("holder", "data").join("others")).unwrap();
    let full = iter::repeat_with(|| others.write_all(&[1; 4096])).find_map(Result::err).unwrap();
    assert_eq!(full.kind(), io::ErrorKind::StorageFull);
    drop(others);
    space.delete("pod", "holder");
    client.record(&[&place[..], &["--region", "128MiB", "--duration", "2s"]].concat());
    assert_eq!(made_in(&space, "data", "node1"), [""; 0]);
}
