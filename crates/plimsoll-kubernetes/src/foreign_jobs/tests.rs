//! What the objects say, and whether a cluster could read all of it.

use std::{
    fs,
    io::{Read as _, Write as _},
    net::TcpListener,
    os::unix::fs::PermissionsExt,
    path::Path,
    process::{Command, Output},
    thread,
};

use k8s_openapi::api::{batch::v1::Job, core::v1::Secret};

use super::*;
use crate::foreign_jobs::sql_restore::Secrets;

fn diskspd(volume: Volume) -> Value {
    let job = ForeignJob {
        name: "windows".to_owned(),
        volume,
        image: "example.org/diskspd:ltsc2022".to_owned(),
        pull_secrets: vec!["pull".to_owned()],
        tolerations: vec!["os=windows:NoSchedule".parse().unwrap()],
        keep_s: 86_400,
    };
    let arguments: Vec<String> = diskspd::ARGUMENTS.iter().map(ToString::to_string).collect();
    diskspd::objects(&job, 4, &arguments).remove(0)
}

fn sql_restore(secrets: &Secrets) -> Vec<Value> {
    let job = ForeignJob {
        name: "restore".to_owned(),
        volume: Volume::Class { class: "fast".to_owned(), size_bytes: 64 << 30 },
        image: "example.org/mssql:2022".to_owned(),
        pull_secrets: Vec::new(),
        tolerations: Vec::new(),
        keep_s: 3600,
    };
    sql_restore::objects(&job, secrets, 5, "4Gi")
}

fn new_secret() -> Secrets {
    Secrets::New { password: "Hidden-7".to_owned(), url: "https://example.org/db.bacpac?signature".to_owned() }
}

/// Nothing of the object is lost on a cluster of the oldest version that is talked to: it knows every field.
fn is_whole<T: serde::Serialize + serde::de::DeserializeOwned>(object: &Value) {
    let typed: T = serde_json::from_value(object.clone()).unwrap();
    assert_eq!(&serde_json::to_value(typed).unwrap(), object);
}

#[test]
fn the_types_of_kubernetes_have_every_field() {
    is_whole::<Job>(&diskspd(Volume::Class { class: "fast".to_owned(), size_bytes: 8 << 30 }));
    is_whole::<Job>(&diskspd(Volume::Claim("data".to_owned())));
    let objects = sql_restore(&new_secret());
    is_whole::<Secret>(&objects[0]);
    is_whole::<Job>(&objects[1]);
    assert_eq!(objects.len(), 2);
}

#[test]
fn arguments_reach_diskspd_as_they_are() {
    let volume = Volume::Claim("data".to_owned());
    let job = ForeignJob {
        name: "windows".to_owned(),
        volume,
        image: "example.org/diskspd".to_owned(),
        pull_secrets: Vec::new(),
        tolerations: Vec::new(),
        keep_s: 3600,
    };
    let object = diskspd::objects(&job, 1, &["-$(HOME)$".to_owned()]).remove(0);
    // Kubernetes takes two for one.
    assert_eq!(object.pointer("/spec/template/spec/containers/0/command/1").unwrap(), "-$$(HOME)$$");
}

#[test]
fn no_secret_is_anywhere_but_in_the_secret() {
    let objects = sql_restore(&new_secret());
    assert!(objects[0].to_string().contains("Hidden-7") && objects[0].to_string().contains("signature"));
    assert!(!objects[1].to_string().contains("Hidden-7") && !objects[1].to_string().contains("signature"));
    let there = sql_restore(&Secrets::There("mine".to_owned()));
    assert_eq!(there.len(), 1);
    let keys = there[0].pointer("/spec/template/spec/containers/0/env/0/valueFrom/secretKeyRef").unwrap();
    assert_eq!(keys, &json!({ "name": "mine", "key": "sa-password" }));
}

#[test]
fn a_download_says_how_it_went_and_nothing_of_where_from() {
    if !Path::new("/usr/bin/wget").exists() {
        println!("skipped: there is no wget, which downloads a backup");
        return;
    }
    let place = tempfile::tempdir().unwrap();
    let objects = sql_restore(&new_secret());
    let script = objects[1].pointer("/spec/template/spec/initContainers/0/command/2").unwrap().as_str().unwrap();
    let download = |url: &str| {
        let mut bash = Command::new("/bin/bash");
        bash.args(["-c", script]).env_clear().env("PATH", "/usr/bin:/bin");
        bash.env("BACKUP", place.path()).env("BACPAC_URL", url).output().unwrap()
    };
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let server = thread::spawn(move || {
        for status in ["200 OK", "403 Forbidden"] {
            let (mut stream, _) = listener.accept().unwrap();
            let _ = stream.read(&mut [0; 4096]).unwrap();
            write!(stream, "HTTP/1.1 {status}\r\nContent-Length: 4\r\nConnection: close\r\n\r\nbits").unwrap();
        }
    });
    let url = format!("http://{address}/db.bacpac?sig=hidden");
    // At last nobody listens any more.
    for (url, code) in [(url.as_str(), 0), (&url, 8), (&url, 4), ("nonsense://hidden", 1), ("http:///hidden", 1)] {
        let output = download(url);
        let said = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
        assert_eq!(output.status.code(), Some(code), "{url}: {said}");
        assert!(!said.contains("hidden") && !said.contains("127.0.0.1"), "{said}");
        assert_eq!(said.contains(&format!("wget ended with {code}")), code > 0, "{said}");
        if code == 0 {
            assert_eq!(fs::read_to_string(place.path().join("db.bacpac")).unwrap(), "bits");
        }
        if code == 8 {
            // Its listener goes with the thread.
            while !server.is_finished() {
                thread::yield_now();
            }
        }
    }
}

/// A folder with programs that do what they are told instead of SQL Server's.
fn stand_ins(sqlcmd: &str, sqlpackage: &str) -> tempfile::TempDir {
    let place = tempfile::tempdir().unwrap();
    for (name, script) in [("sqlcmd", sqlcmd), ("sqlpackage", sqlpackage)] {
        let path = place.path().join(name);
        fs::write(&path, format!("#!/bin/sh\ncd {}\n{script}\n", place.path().display())).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    }
    place
}

/// Does what the container does, with other programs.
fn restore(place: &Path) -> Output {
    let objects = sql_restore(&new_secret());
    let container = objects[1].pointer("/spec/template/spec/containers/0").unwrap();
    let script = container["command"][2].as_str().unwrap();
    Command::new("/bin/bash")
        .args(["-c", script])
        .env_clear()
        .env("PATH", format!("{}:/usr/bin:/bin", place.display()))
        .env("MSSQL_SA_PASSWORD", "Hidden-7")
        .env("FOLDER", place.join("volume"))
        .env("BACKUP", "/backup")
        .env("ITERATIONS", "5")
        .output()
        .unwrap()
}

#[test]
fn every_import_is_timed_and_the_password_is_in_no_log() {
    let place = stand_ins("echo \"$*\" >> asked", "echo \"$*\" >> imported");
    let output = restore(place.path());
    let (said, timed) = (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
    assert!(output.status.success(), "{timed}");
    assert_eq!(said, "Import 1\nImport 2\nImport 3\nImport 4\nImport 5\n");
    assert_eq!(timed.lines().filter(|line| line.starts_with("real\t")).count(), 5, "{timed}");
    let asked = fs::read_to_string(place.path().join("asked")).unwrap();
    assert!(asked.contains("DROP DATABASE restored") && !asked.contains("Hidden-7"), "{asked}");
    assert!(!said.contains("Hidden-7") && !timed.contains("Hidden-7"));
}

#[test]
fn what_fails_ends_the_job_with_its_exit_code() {
    let second_fails = "echo >> imported; [ $(wc -l < imported) -lt 2 ] || exit 3";
    for (sqlcmd, sqlpackage, code, imports) in [
        ("exit 0", second_fails, 3, 2),
        ("case \"$*\" in *'left no table'*) exit 5;; esac", "exit 0", 5, 1),
        ("exit 7", "exit 0", 7, 0),
    ] {
        let output = restore(stand_ins(sqlcmd, sqlpackage).path());
        let said = String::from_utf8(output.stdout).unwrap();
        assert_eq!((output.status.code(), said.lines().count()), (Some(code), imports), "{said}");
    }
}
