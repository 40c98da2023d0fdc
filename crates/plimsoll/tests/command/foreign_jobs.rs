//! Jobs of other programs as they are printed, and what of their logs is read.

use std::{fs, path::Path};

use crate::support::{Place, Said};

const SQL: &str = "kubernetes manifest sql-restore --storage-class fast --name restore";

fn golden(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/kubernetes").join(name);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The password that was drawn.
fn password(said: &Said) -> String {
    said.stdout.lines().find_map(|line| line.trim().strip_prefix("sa-password: ")).unwrap().to_owned()
}

#[test]
fn what_is_printed_is_what_was_printed_before() {
    let place = Place::new();
    let diskspd = "kubernetes manifest diskspd --image example.org/diskspd:ltsc2022 --storage-class fast --size 8Gi";
    let said = place.run(&format!("{diskspd} --nodes 4 --toleration os=windows:NoSchedule --image-pull-secret pull"));
    assert_eq!((said.code, said.stderr.as_str()), (Some(0), ""));
    assert_eq!(said.stdout, golden("diskspd.yaml"));
    let said = place.run(&format!("{SQL} --bacpac https://example.org/db.bacpac --keep 1h"));
    assert_eq!((said.code, said.stderr.as_str()), (Some(0), ""));
    assert_eq!(said.stdout.replace(&password(&said), "PASSWORD"), golden("sql-restore.yaml"));
}

#[test]
fn diskspd_does_what_stands_behind_two_dashes() {
    let place = Place::new();
    let said = place.run("kubernetes manifest diskspd --image a --pvc data -o json -- -b8K -w30 -d60");
    let job = &said.json()["items"][0];
    let container = &job["spec"]["template"]["spec"]["containers"][0];
    assert_eq!(
        container["command"],
        serde_json::json!(["diskspd.exe", "-b8K", "-w30", "-d60", r"C:\data\testfile.dat"])
    );
    let claim = job.pointer("/spec/template/spec/volumes/0/persistentVolumeClaim/claimName").unwrap();
    assert_eq!(claim, "data");
}

#[test]
fn a_file_that_has_room_is_made_whatever_else_diskspd_is_asked() {
    let place = Place::new();
    let diskspd = "kubernetes manifest diskspd --image a";
    for arguments in ["--storage-class fast --size 8Gi -- -c8G -ep -ag -yrready /w50", "--pvc data -- -c800G"] {
        let said = place.run(&format!("{diskspd} {arguments}"));
        assert_eq!(said.code, Some(0), "{arguments}: {}", said.stderr);
    }
}

#[test]
fn every_password_is_another_and_a_secret_that_is_there_is_not_printed() {
    let place = Place::new();
    let print = || password(&place.run(&format!("{SQL} --bacpac https://example.org/db.bacpac")));
    let (one, other) = (print(), print());
    assert!(one != other && one.len() >= 32, "{one} {other}");
    let kinds = [char::is_uppercase, char::is_lowercase, char::is_numeric];
    assert!(kinds.iter().all(|is_kind| one.contains(*is_kind)), "SQL Server refuses {one}");
    let said = place.run(&format!("{SQL} --secret mine"));
    assert!(!said.stdout.contains("kind: Secret") && said.stdout.contains("name: mine"), "{}", said.stdout);
}

#[test]
fn what_makes_no_sense_is_refused() {
    let place = Place::new();
    for (arguments, word) in [
        ("diskspd --image a", "--storage-class"),
        ("diskspd --image a --pvc data --storage-class fast", "--pvc"),
        ("diskspd --image a --pvc data --nodes 2", "cannot all have"),
        ("diskspd --image a --pvc data --nodes 0", "0"),
        ("diskspd --pvc data", "--image"),
        (
            r"diskspd --image a --pvc data -- -b8K -L D:\test.dat",
            r"diskspd would measure D:\test.dat too: the file is on the volume, so leave it out",
        ),
        ("diskspd --image a --storage-class fast -- test.dat -b8K", "test.dat too"),
        (
            "diskspd --image a --storage-class fast --size 1Gi -- -b8K -c8G",
            "a file of 8GiB (-c) has no room on a volume of 1GiB",
        ),
        ("diskspd --image a --storage-class fast --size 1Gi -- -c262144b -b8K", "a file of 2GiB"),
        ("diskspd --image a --storage-class fast --size 1Gi -- /c8G", "a file of 8GiB"),
        ("diskspd --image a --storage-class fast --size 512Mi", "a file of 1GiB"),
        ("diskspd --image a --storage-class fast -- -c1X", "-c"),
        ("sql-restore --pvc data", "--bacpac"),
        ("sql-restore --pvc data --secret mine --bacpac https://example.org/", "--secret"),
        ("sql-restore --pvc data --secret mine --name Not_A_Name", "small letters"),
    ] {
        let said = place.run(&format!("kubernetes manifest {arguments}"));
        assert_eq!((said.code, said.stdout.as_str()), (Some(2), ""), "{arguments}");
        assert!(said.stderr.contains(word), "{arguments}: {}", said.stderr);
    }
}

#[test]
fn the_log_of_a_restore_is_read() {
    let place = Place::new();
    let log = "Import 1\n\nreal\t190m56.505s\nuser\t92m14.391s\nsys\t1m23.157s\n\
               Import 2\n\nreal\t191m57.523s\nuser\t93m11.703s\nsys\t1m24.109s\n";
    fs::write(place.path("log"), log).unwrap();
    let said = place.run("import log --json");
    assert_eq!(said.code, Some(0), "{}", said.stderr);
    assert!(said.stdout.contains("11456505000000"), "the first import took 190 min 56.505 s: {}", said.stdout);
}
