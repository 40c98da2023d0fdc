//! Conversations with registries.

use std::{
    io::{Read as _, Write as _},
    net::TcpListener,
    thread,
};

use super::*;

#[test]
fn an_upload_that_breaks_off_is_told_as_one_and_so_is_one_that_is_too_long() {
    for (is_read, words) in [(false, "broke off while 67108864 bytes were being sent"), (true, "status 413")] {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let server = thread::spawn(move || {
            for stream in listener.incoming() {
                let mut stream = stream.unwrap();
                let mut head = Vec::new();
                while !head.ends_with(b"\r\n\r\n") {
                    let mut byte = [0];
                    stream.read_exact(&mut byte).unwrap();
                    head.extend(byte);
                }
                let answer = match head[0] {
                    b'H' => "404 Not Found\r\n",
                    b'P' if head[1] == b'O' => "202 Accepted\r\nLocation: /upload\r\nContent-Length: 0\r\n",
                    _ => "413 Payload Too Large\r\nContent-Length: 0\r\n",
                };
                if is_read && head.starts_with(b"PUT") {
                    std::io::copy(&mut (&stream).take(64 << 20), &mut std::io::sink()).unwrap();
                }
                // Who sends more than is read has gone by then.
                let _ = write!(stream, "HTTP/1.1 {answer}Connection: close\r\n\r\n");
                if head.starts_with(b"PUT") {
                    return;
                }
            }
        });
        let reference: Reference = format!("{address}/plimsoll:1").parse().unwrap();
        let access =
            Access { plain_http: true, certificates: None, credentials: Vec::new(), proxies: Proxies::default() };
        let layer = Blob { media_type: "", digest: "sha256:0".to_owned(), bytes: vec![0; 64 << 20] };
        let error = Registry::of(&reference, &access).unwrap().upload(&layer).unwrap_err().to_string();
        server.join().unwrap();
        assert!(error.contains(words) && error.contains("a proxy before the registry may limit"), "{error}");
    }
}

#[test]
fn an_upload_goes_where_the_answer_says() {
    let (origin, asked) = ("https://r:5000", "https://r:5000/v2/a/b/blobs/uploads/");
    let to = |place| resolved(origin, asked, place);
    assert_eq!(to("/v2/a/b/blobs/uploads/7?s=1").unwrap(), "https://r:5000/v2/a/b/blobs/uploads/7?s=1");
    assert_eq!(to("7?s=1").unwrap(), "https://r:5000/v2/a/b/blobs/uploads/7?s=1");
    assert_eq!(to("//other/7").unwrap(), "https://other/7");
    assert_eq!(to("http://other:1/7").unwrap(), "http://other:1/7");
    for nowhere in ["", "ftp://other/7", "../7", "https://", "a b"] {
        assert_eq!(to(nowhere), None, "{nowhere}");
    }
}

#[test]
fn an_address_of_the_registry_is_known_however_it_is_written() {
    for (name, plain_http, ours, others) in [
        ("127.0.0.1:80/x:1", true, "http://127.0.0.1/v2/x", "http://127.0.0.1:5000/v2/x"),
        ("registry.example.org/x:1", false, "https://Registry.Example.org:443/v2", "http://registry.example.org/v2"),
        ("registry.example.org:443/x:1", false, "https://registry.example.org", "https://registry.example.org.evil/"),
        ("r.example:5000/x:1", false, "https://r.example:5000?a=b", "https://r.example:5000@evil.example/v2"),
    ] {
        let reference: Reference = name.parse().unwrap();
        let access = Access { plain_http, certificates: None, credentials: Vec::new(), proxies: Proxies::default() };
        let registry = Registry::of(&reference, &access).unwrap();
        assert!(registry.is_ours(ours) && !registry.is_ours(others), "{name}: {ours}, {others}");
    }
}

#[test]
fn a_proxy_that_does_not_answer_is_named_without_its_password() {
    let reference: Reference = "registry.invalid/x:1".parse().unwrap();
    let https = Some("http://user:secret@127.0.0.1:1".to_owned());
    let proxies = Proxies { https, ..Proxies::default() };
    let access = Access { plain_http: false, certificates: None, credentials: Vec::new(), proxies };
    let blob = Blob { media_type: "", digest: "sha256:0".to_owned(), bytes: Vec::new() };
    let error = Registry::of(&reference, &access).unwrap().has_blob(&blob).unwrap_err().to_string();
    assert!(error.contains("registry.invalid, asked through the proxy 127.0.0.1:1, does not answer"), "{error}");
    assert!(error.contains("connection refused") && !error.contains("secret"), "{error}");
}

#[test]
fn what_registries_say_is_told_and_what_others_answer_is_not() {
    let errors = r#"{"errors":[{"code":"DENIED","message":"not yours"},{"code":"UNKNOWN"}]}"#;
    assert_eq!(said(errors), " (not yours; UNKNOWN)");
    assert_eq!(said("<html>"), "");
}
