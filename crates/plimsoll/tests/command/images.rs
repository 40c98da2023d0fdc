//! The image that pods run: what is saved, and what a real registry takes, with and without passwords, tokens and TLS.

pub(crate) mod registry;

use std::{
    fs,
    os::unix::fs::{PermissionsExt, symlink},
    path::PathBuf,
};

use base64::{Engine as _, prelude::BASE64_STANDARD};
use plimsoll_image::{image::checksum, reading::ImageRead};
use serde_json::{Value, json};

use self::registry::{PASSWORD, Registry, Server, USER, openssl};
use crate::support::{Mounted, Place, Said, is_root, names};

const MANIFEST: &str = "application/vnd.oci.image.manifest.v1+json";

/// What passes for a static program: an ELF file with one header, which asks for no loader.
fn program(place: &Place, name: &str, bytes: usize) -> PathBuf {
    let mut program = vec![0_u8; 64 + 56];
    program[..4].copy_from_slice(b"\x7fELF");
    (program[4], program[5], program[18]) = (2, 1, 0x3e);
    (program[32], program[54], program[56], program[64]) = (64, 56, 1, 1);
    program.extend(name.as_bytes());
    // Noise, which cannot be compressed.
    let mut state = 1_u64;
    program.extend((0..bytes).map(|_| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (state >> 56) as u8
    }));
    let path = place.path(name);
    fs::write(&path, program).unwrap();
    path
}

/// `image push`, with settings of the environment.
fn push(place: &Place, image: &str, settings: &[(&str, &str)]) -> Said {
    let mut command = place.command(&format!("kubernetes image push --binary ROOT/program {image}"));
    command.envs(settings.iter().copied());
    Said::of(command.output().unwrap())
}

#[test]
fn what_is_saved_is_an_image_of_the_program() {
    let place = Place::new();
    let path = program(&place, "program", 1000);
    let said = place.run("kubernetes image save --binary program --name example.org/bench/plimsoll:7 -o image.tar");
    assert_eq!((said.code, said.stderr.as_str()), (Some(0), ""));
    let image = ImageRead::of(&fs::read(place.path("image.tar")).unwrap()).unwrap();
    fs::create_dir(place.path("root")).unwrap();
    image.unpack(&place.path("root")).unwrap();
    assert_eq!(image.entrypoint, "/plimsoll");
    assert_eq!(names(&place.path("root")), ["plimsoll"]);
    assert_eq!(fs::read(place.path("root/plimsoll")).unwrap(), fs::read(path).unwrap());
    assert_eq!(fs::metadata(place.path("root/plimsoll")).unwrap().permissions().mode() & 0o777, 0o755);
    for part in ["sha256:", "example.org/bench/plimsoll:7", "linux/amd64", "ctr -n k8s.io images import image.tar"] {
        assert!(said.stdout.contains(part), "{part} is not in {}", said.stdout);
    }
    let saved = place.run("kubernetes image save --binary program -o other.tar --json").json();
    assert_eq!(saved["size_bytes"], fs::metadata(place.path("other.tar")).unwrap().len());
    assert!(said.stdout.contains(saved["digest"].as_str().unwrap()), "another name is no other image");
}

#[test]
fn a_program_that_would_not_start_in_the_image_is_refused() {
    let place = Place::new();
    // Tests are run with an ordinary build, which needs a loader.
    let error = place.run("kubernetes image save -o image.tar");
    assert!(error.error(2).contains("cargo xtask dist") && error.stderr.contains("--binary"), "{}", error.stderr);
    fs::write(place.path("script"), "#!/bin/sh\n").unwrap();
    let error = place.run("kubernetes image push localhost:1/a --binary script");
    assert!(error.error(2).contains("script is no static binary"), "{}", error.stderr);
    let mut of_riscv = fs::read(program(&place, "riscv", 0)).unwrap();
    of_riscv[18] = 243;
    fs::write(place.path("riscv"), of_riscv).unwrap();
    let error = place.run("kubernetes image save --binary riscv -o image.tar");
    assert!(error.error(2).contains("riscv is for another machine than amd64 and arm64"), "{}", error.stderr);
    assert!(!place.path("image.tar").exists());
}

#[test]
fn saving_replaces_nothing_unless_told_and_no_device_ever() {
    let place = Place::new();
    program(&place, "program", 1000);
    fs::write(place.path("image.tar"), "precious").unwrap();
    let save = "kubernetes image save --binary program -o";
    assert!(place.run(&format!("{save} image.tar")).error(2).contains("--force"));
    assert_eq!(fs::read_to_string(place.path("image.tar")).unwrap(), "precious");
    assert_eq!(place.run(&format!("{save} image.tar --force")).code, Some(0));
    ImageRead::of(&fs::read(place.path("image.tar")).unwrap()).unwrap();
    symlink("/dev/null", place.path("device")).unwrap();
    for name in ["device", "data"] {
        let said = place.run(&format!("{save} {name} --force"));
        assert!(said.error(2).contains("no regular file"), "{}", said.stderr);
    }
    assert!(place.run(&format!("{save} absent/image.tar")).error(5).contains("absent/image.tar"));
    assert_eq!(names(&place.path("")), ["data", "device", "image.tar", "program"]);
}

#[test]
fn a_disk_that_is_full_is_said_and_nothing_is_left_on_it() {
    if !is_root() {
        return;
    }
    let place = Place::new();
    program(&place, "program", 12 << 20);
    let disk = Mounted::ext4(&place, 8 << 20);
    let said = place.run("kubernetes image save --binary program -o ROOT/mount/image.tar");
    let error = said.error(5);
    assert!(error.contains("mount/image.tar") && error.contains("No space left"), "{error}");
    assert_eq!(names(&disk.point), ["lost+found"]);
}

#[test]
fn a_registry_gives_back_what_was_pushed_and_is_sent_nothing_twice() {
    let place = Place::new();
    program(&place, "program", 100_000);
    let Some(registry) = Registry::start("") else { return };
    let image = format!("{}/bench/plimsoll:7", registry.address);
    let pushed = push(&place, &format!("{image} --json"), &[]).json();
    let saved = place.run("kubernetes image save --binary program --json").json();
    assert_eq!(pushed["digest"], saved["digest"]);
    assert_eq!(pushed["uploaded_bytes"], pushed["size_bytes"]);

    let get = |what: &str| registry.get(&format!("/v2/bench/plimsoll/{what}"), &format!("Accept: {MANIFEST}\r\n"));
    let manifest = get("manifests/7");
    assert_eq!(format!("sha256:{}", checksum(&manifest)), pushed["digest"].as_str().unwrap());
    let manifest: Value = serde_json::from_slice(&manifest).unwrap();
    for part in [&manifest["config"], &manifest["layers"][0]] {
        let digest = part["digest"].as_str().unwrap();
        let blob = get(&format!("blobs/{digest}"));
        assert_eq!((format!("sha256:{}", checksum(&blob)).as_str(), &part["size"]), (digest, &blob.len().into()));
    }

    let before = registry.requests().len();
    let again = push(&place, &format!("{image} --json"), &[]).json();
    assert_eq!((&again["uploaded_bytes"], &again["digest"]), (&0.into(), &pushed["digest"]));
    let requests = registry.requests().split_off(before);
    assert!(requests.len() == 3 && requests.iter().all(|request| request.starts_with("HEAD ")), "{requests:?}");
    let text = push(&place, &image, &[]).stdout;
    assert!(text.contains("all of it was there") && text.contains(&format!("--image {image}")), "{text}");

    // A tag that is of another image is moved, and of that image only what is new is sent.
    program(&place, "program", 50_000);
    let moved = push(&place, &format!("{image} --json"), &[]).json();
    assert_eq!(moved["uploaded_bytes"], moved["size_bytes"]);
    assert_eq!(format!("sha256:{}", checksum(&get("manifests/7"))), moved["digest"].as_str().unwrap());
    let tagged = push(&place, &format!("{}/bench/plimsoll:8 --json", registry.address), &[]).json();
    assert!(tagged["uploaded_bytes"].as_u64().unwrap() < 1000, "{tagged}");
}

#[test]
fn who_pushes_is_known_from_where_docker_and_podman_keep_it() {
    let place = Place::new();
    program(&place, "program", 1000);
    fs::write(place.path("htpasswd"), format!("{USER}:{}\n", registry::HTPASSWD)).unwrap();
    let users = place.path("htpasswd");
    let Some(registry) = Registry::start(&format!("auth: {{htpasswd: {{realm: r, path: {}}}}}", users.display()))
    else {
        return;
    };
    let (address, image) = (registry.address.as_str(), format!("{}/plimsoll:1", registry.address));
    let refused = push(&place, &image, &[]);
    let error = refused.error(6);
    assert!(error.contains(&format!("docker login {address}")) && error.contains(".docker/config.json"), "{error}");

    let folder = |name: &str, content: &Value| {
        let folder = place.path(name);
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("config.json"), content.to_string()).unwrap();
        folder.to_str().unwrap().to_owned()
    };
    let auths =
        |secret: &str| json!({"auths": {address: {"auth": BASE64_STANDARD.encode(format!("{USER}:{secret}"))}}});
    let wrong = push(&place, &image, &[("DOCKER_CONFIG", &folder("wrong", &auths("no-7-secret")))]);
    assert!(wrong.error(6).contains("credentials were found"), "{}", wrong.stderr);
    assert!(!wrong.stderr.contains("no-7-secret"), "{}", wrong.stderr);

    let right = folder("right", &auths(PASSWORD));
    assert_eq!(push(&place, &image, &[("DOCKER_CONFIG", &right)]).code, Some(0));
    let file = format!("{right}/config.json");
    let others = [("REGISTRY_AUTH_FILE", file.as_str()), ("DOCKER_CONFIG", &folder("wrong", &auths("x")))];
    assert_eq!(push(&place, &image, &others).code, Some(0));
    folder(".docker", &auths(PASSWORD));
    assert_eq!(push(&place, &image, &[]).code, Some(0));

    // A program that keeps credentials, as docker has them for keyrings.
    let helper = place.path("docker-credential-test");
    let script = format!(
        "#!/bin/sh\n[ \"$1\" = get ] || exit 2\nread -r server || :\n[ \"$server\" = {address} ] || exit 3\n\
         echo '{{\"ServerURL\": \"\", \"Username\": \"{USER}\", \"Secret\": \"{PASSWORD}\"}}'\n"
    );
    fs::write(&helper, script).unwrap();
    fs::set_permissions(&helper, fs::Permissions::from_mode(0o755)).unwrap();
    let path = format!("{}:/usr/bin:/bin", place.path("").display());
    for content in [json!({"credHelpers": {address: "test"}}), json!({"credsStore": "test"})] {
        let settings = [("DOCKER_CONFIG", folder("helper", &content)), ("PATH", path.clone())];
        let settings = settings.each_ref().map(|(name, value)| (*name, value.as_str()));
        let said = push(&place, &image, &settings);
        assert_eq!(said.code, Some(0), "{}", said.stderr);
    }
    let absent = folder("helper", &json!({"credsStore": "no-such"}));
    let said = push(&place, &image, &[("DOCKER_CONFIG", &absent)]);
    assert!(said.error(2).contains("docker-credential-no-such"), "{}", said.stderr);
}

#[test]
fn tokens_are_fetched_where_the_registry_says() {
    let place = Place::new();
    program(&place, "program", 1000);
    let Some(authority) = registry::Authority::start(&place) else { return };
    let Some(registry) = Registry::start(&authority.settings()) else { return };
    let (address, image) = (registry.address.as_str(), format!("{}/bench/plimsoll:1", registry.address));
    // Nobody in particular gets a token with which nothing can be pushed.
    let refused = push(&place, &image, &[]);
    assert!(refused.error(6).contains("docker login"), "{}", refused.stderr);
    let pair = BASE64_STANDARD.encode(format!("{USER}:{PASSWORD}"));
    let refreshing = json!({"auth": BASE64_STANDARD.encode("0000:"), "identitytoken": PASSWORD});
    for (name, entry) in [("basic", json!({ "auth": pair })), ("refreshing", refreshing)] {
        let path = place.path(&format!("{name}.json"));
        fs::write(&path, json!({"auths": {address: entry}}).to_string()).unwrap();
        let image = format!("{address}/{name}/plimsoll:1");
        let said = push(&place, &image, &[("REGISTRY_AUTH_FILE", path.to_str().unwrap())]);
        assert_eq!(said.code, Some(0), "{name}: {}", said.stderr);
    }
    let asked = authority.requests();
    let wanted = "scope=repository%3Abasic%2Fplimsoll%3Apull%2Cpush&client_id=plimsoll";
    assert!(asked.iter().any(|request| request.contains(wanted)), "{asked:?}");
}

#[test]
fn a_registry_with_a_certificate_of_its_own_is_believed_when_told_whose_it_is() {
    let place = Place::new();
    program(&place, "program", 1000);
    let Some((certificate, key)) = openssl(&place, "CA:FALSE") else { return };
    let settings = format!("  tls: {{certificate: {}, key: {}}}", certificate.display(), key.display());
    let Some(registry) = Registry::start(&settings) else { return };
    let image = format!("{}/plimsoll:1", registry.address);
    let plain = push(&place, &image, &[]);
    assert!(plain.error(6).contains("HTTPS") && plain.stderr.contains("--ca"), "{}", plain.stderr);
    let said = push(&place, &format!("{image} --ca ROOT/certificate.pem"), &[]);
    assert_eq!(said.code, Some(0), "{}", said.stderr);
    // One of somebody else.
    fs::rename(&certificate, place.path("certificate-of-registry.pem")).unwrap();
    openssl(&place, "CA:FALSE");
    let said = push(&place, &format!("{image} --ca ROOT/certificate.pem"), &[]);
    assert!(said.error(6).contains("nobody whom this machine trusts"), "{}", said.stderr);
    fs::write(place.path("empty.pem"), "nothing").unwrap();
    let said = push(&place, &format!("{image} --ca ROOT/empty.pem"), &[]);
    assert!(said.error(2).contains("BEGIN CERTIFICATE"), "{}", said.stderr);
}

#[test]
fn a_certificate_that_no_server_can_have_is_explained() {
    let place = Place::new();
    program(&place, "program", 1000);
    // As guides to registries have it made.
    let Some((certificate, key)) = openssl(&place, "CA:TRUE") else { return };
    let settings = format!("  tls: {{certificate: {}, key: {}}}", certificate.display(), key.display());
    let Some(registry) = Registry::start(&settings) else { return };
    let said = push(&place, &format!("{}/plimsoll:1 --ca ROOT/certificate.pem", registry.address), &[]);
    assert!(said.error(6).contains("basicConstraints=CA:FALSE"), "{}", said.stderr);
}

#[test]
fn what_goes_wrong_on_the_way_is_said() {
    let place = Place::new();
    program(&place, "program", 1000);
    for (answer, words) in [
        ("503 Service Unavailable\r\n\r\n", ["503", "the registry's fault"]),
        ("404 Not Found\r\n\r\n<html>", ["404", "no registry is there"]),
        (
            "403 Forbidden\r\n\r\n{\"errors\":[{\"code\":\"DENIED\",\"message\":\"not yours\"}]}",
            ["not permit", "docker login"],
        ),
        ("302 Found\r\nLocation: http://example.org/\r\n\r\n", ["302", "elsewhere"]),
    ] {
        let server = Server::start(move |_| format!("HTTP/1.1 {answer}"));
        let said = push(&place, &format!("{}/plimsoll:1", server.address), &[]);
        let error = said.error(6);
        assert!(words.iter().all(|word| error.contains(word)), "{error}");
    }
    let server = Server::start(|request| {
        let answer = if request.starts_with("HEAD ") { "404 Not Found" } else { "202 Accepted" };
        format!("HTTP/1.1 {answer}\r\n\r\n")
    });
    let said = push(&place, &format!("{}/plimsoll:1", server.address), &[]);
    assert!(said.error(6).contains("does not say where to"), "{}", said.stderr);
    // A web server that has the same page for everything.
    let server =
        Server::start(|_| "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 6\r\n\r\n<html>".to_owned());
    let said = push(&place, &format!("{}/plimsoll:1", server.address), &[]);
    assert!(said.error(6).contains("no registry is there"), "{}", said.stderr);
    let said = push(&place, "localhost:1/plimsoll", &[]);
    assert!(said.error(6).contains("localhost:1 does not answer: connection refused"), "{}", said.stderr);
    let said = push(&place, "no-such-host.invalid/plimsoll", &[]);
    assert!(said.error(6).contains("no-such-host.invalid does not answer: no such host"), "{}", said.stderr);
    let said = push(&place, "plimsoll:1", &[]);
    assert_eq!(said.code, Some(2));
    assert!(said.stderr.contains("begins with a registry"), "{}", said.stderr);
}
