//! Who is refused, and who is not.

use super::{
    super::{
        access::Token,
        server::{ServeError, Server},
    },
    *,
};

const TOKEN: &str = "0123456789abcdef+/=";

#[tokio::test]
async fn on_loopback_other_names_are_refused() {
    let place = Place::new(0);
    let ask =
        async |host: &str| place.send(request(Method::GET, "/", &[("host", host)]).body(Body::empty()).unwrap()).await;
    for host in ["localhost:7457", "127.0.0.1:7457", "[::1]:7457"] {
        assert_eq!(ask(host).await.status, StatusCode::OK, "{host}");
    }
    for host in ["localhost", "localhost:7458", "evil.example:7457", "localhost.evil.example:7457"] {
        ask(host).await.error(StatusCode::FORBIDDEN);
    }
    let nameless = Request::builder().uri("/api/runs").body(Body::empty()).unwrap();
    place.send(nameless).await.error(StatusCode::FORBIDDEN);
    let twice = request(Method::GET, "/", &[("host", "localhost:7457"), ("host", "evil.example")]);
    place.send(twice.body(Body::empty()).unwrap()).await.error(StatusCode::FORBIDDEN);
}

/// Everything that changes something.
const WRITING: [(Method, &str); 5] = [
    (Method::PUT, "/api/runs/latest/tags"),
    (Method::DELETE, "/api/runs/latest"),
    (Method::PUT, "/api/baselines/x"),
    (Method::DELETE, "/api/baselines/x"),
    (Method::POST, "/api/import"),
];

#[tokio::test]
async fn pages_of_others_change_nothing() {
    let place = Place::new(1);
    let own = [("x-plimsoll", "1"), ("origin", "http://localhost:7457")];
    for (method, path) in WRITING {
        for headers in [
            &[][..],
            &[("x-plimsoll", "0")],
            &[("origin", "http://localhost:7457")],
            &[("x-plimsoll", "1"), ("origin", "http://evil.example")],
            &[("x-plimsoll", "1"), ("origin", "http://localhost:7458")],
            &[("x-plimsoll", "1"), ("origin", "null")],
        ] {
            let answered = place.send(request(method.clone(), path, headers).body(Body::empty()).unwrap()).await;
            answered.error(StatusCode::FORBIDDEN);
        }
        let answered = place.send(request(method, path, &own).body(Body::empty()).unwrap()).await;
        assert_ne!(answered.status, StatusCode::FORBIDDEN, "{path}");
    }
}

#[tokio::test]
async fn pages_of_others_have_the_machine_do_nothing() {
    let place = Place::new(1);
    let ask = async |path: &str, headers: &[(&str, &str)]| {
        place.send(request(Method::GET, path, headers).body(Body::empty()).unwrap()).await
    };
    let others = [
        ("sec-fetch-site", "cross-site"),
        ("sec-fetch-site", "same-site"),
        ("origin", "http://evil.example"),
        ("origin", "http://localhost:7458"),
        ("origin", "null"),
    ];
    for path in ["/api/runs", "/api/report?runs=latest", "/api/live", "/api/events", "/metrics"] {
        for other in others {
            let error = ask(path, &[other]).await.error(StatusCode::FORBIDDEN);
            assert!(error.contains("another origin"), "{error}");
        }
    }
    for own in [
        ("sec-fetch-site", "same-origin"),
        ("sec-fetch-site", "none"),
        ("origin", "http://localhost:7457"),
        ("accept", "*/*"),
    ] {
        for path in ["/api/runs", "/metrics"] {
            assert_eq!(ask(path, &[own]).await.status, StatusCode::OK, "{path}: {own:?}");
        }
    }
    // A link to the page may stand anywhere.
    assert_eq!(ask("/", &[("sec-fetch-site", "cross-site")]).await.status, StatusCode::OK);
}

#[tokio::test]
async fn who_has_the_token_may_ask_from_anywhere() {
    let token = |settings: &mut Settings| settings.token = Some(Token::parse(TOKEN).unwrap());
    let place = Place::with(1, "127.0.0.1:7457", token);
    let bearer = format!("Bearer {TOKEN}");
    let headers =
        [("authorization", bearer.as_str()), ("sec-fetch-site", "cross-site"), ("origin", "http://b.example")];
    let answered = place.send(request(Method::GET, "/api/runs", &headers).body(Body::empty()).unwrap()).await;
    assert_eq!(answered.status, StatusCode::OK);
}

#[tokio::test]
async fn a_server_that_is_read_only_changes_nothing() {
    let place = Place::with(1, "127.0.0.1:7457", |settings| settings.read_only = true);
    for (method, path) in WRITING {
        let error = place.write(method, path, "").await.error(StatusCode::FORBIDDEN);
        assert!(error.contains("--read-only"), "{error}");
    }
    let list = place.get("/api/runs").await.json();
    assert_eq!((&list["is_read_only"], &list["total"]), (&true.into(), &1.into()));
}

#[tokio::test]
async fn where_others_reach_it_a_token_is_needed() {
    let token = |settings: &mut Settings| settings.token = Some(Token::parse(TOKEN).unwrap());
    let place = Place::with(1, "0.0.0.0:7457", token);
    let ask = async |path: &str, headers: &[(&str, &str)]| {
        let headers = [&[("host", "storage.example")], headers].concat();
        place.send(request(Method::GET, path, &headers).body(Body::empty()).unwrap()).await
    };
    for path in ["/", "/api/runs", "/metrics", "/api/events", "/nothing"] {
        let refused = ask(path, &[]).await;
        assert_eq!(refused.headers[header::WWW_AUTHENTICATE], "Bearer");
        refused.error(StatusCode::UNAUTHORIZED);
        ask(path, &[("authorization", "Bearer 0123456789abcdeX")]).await.error(StatusCode::UNAUTHORIZED);
        ask(path, &[("cookie", "plimsoll_token_7457=")]).await.error(StatusCode::UNAUTHORIZED);
    }
    let bearer = format!("Bearer {TOKEN}");
    for path in ["/", "/api/runs", "/metrics"] {
        assert_eq!(ask(path, &[("authorization", &bearer)]).await.status, StatusCode::OK, "{path}");
    }
    ask("/?token=0123456789abcdeX", &[]).await.error(StatusCode::UNAUTHORIZED);
    let entered = ask(&format!("/?token={TOKEN}"), &[]).await;
    assert_eq!((entered.status, &entered.headers[header::LOCATION]), (StatusCode::SEE_OTHER, &"/".parse().unwrap()));
    let cookie = entered.headers[header::SET_COOKIE].to_str().unwrap();
    assert!(cookie.contains("HttpOnly") && cookie.contains("SameSite=Lax"), "{cookie}");
    let cookie = format!("other=1; {}", cookie.split(';').next().unwrap());
    assert_eq!(ask("/api/runs", &[("cookie", &cookie)]).await.status, StatusCode::OK);
    // The cookie alone changes nothing.
    let headers = [("host", "storage.example"), ("cookie", cookie.as_str())];
    let answered = place.send(request(Method::DELETE, "/api/runs/latest", &headers).body(Body::empty()).unwrap()).await;
    answered.error(StatusCode::FORBIDDEN);
}

#[test]
fn a_server_that_others_reach_does_not_start_without_a_token() {
    let directory = tempfile::tempdir().unwrap();
    let refused = Server::bind("0.0.0.0:0".parse().unwrap(), settings(directory.path()));
    assert!(matches!(refused.err(), Some(ServeError::NeedsToken(_))));
}
