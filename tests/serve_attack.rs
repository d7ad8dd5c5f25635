//! Does the server go on for everybody else while somebody attacks it?
#![allow(clippy::unwrap_used, reason = "what goes wrong here fails the test")]

mod harness;

use harness::orb::{Home, PROJECT};
use harness::script::{Script, page, reply};
use harness::served::{HttpReply, Served, add_user, text};
use harness::until;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use std::io::{ErrorKind, Read as _, Write as _};
use std::net::TcpStream;
use std::time::{Duration, Instant};

/// A home with the projects `p` and `q`, an administrator, and somebody who may run `p`.
fn inhabited() -> Home {
    let home = Home::new();
    for project in [PROJECT, "q"] {
        home.orb(&["project", "new", project, "--seed", "http://a.test/"]).expect(0);
    }
    add_user(&home, "ann", &["--admin"]);
    add_user(&home, "bob", &[]);
    home.orb(&["user", "grant", "bob", PROJECT, "run"]).expect(0);
    home
}

/// The cookie of somebody who logs in.
fn log_in(served: &Served, name: &str) -> String {
    let reply = served.post("/login", &[], &format!("name={name}&password=a+password"));
    reply.cookie().unwrap_or_else(|| panic!("{name} cannot log in: {reply:?}")).to_owned()
}

/// Lets this process hold so many files, if the system allows it; returns how many it may.
fn files(wanted: u64) -> u64 {
    let now = getrlimit(Resource::Nofile);
    let most = now.maximum.map_or(wanted, |maximum| maximum.min(wanted));
    if now.current.is_some_and(|current| current < most) {
        setrlimit(Resource::Nofile, Rlimit { current: Some(most), maximum: now.maximum }).unwrap();
    }
    most
}

#[test]
fn ten_thousand_open_connections_keep_nobody_out() {
    let home = inhabited();
    let served = Served::start(&home, &["--no-schedule"]);
    let wanted = files(10_500).saturating_sub(500).min(10_000);
    let each = usize::try_from(wanted / 20).unwrap();
    let open = |address| -> Vec<TcpStream> {
        let connected = (0..each).filter_map(|_| TcpStream::connect_timeout(&address, Duration::from_secs(60)).ok());
        // Some say nothing, some begin a request that they never end.
        let begun = connected.enumerate().map(|(number, mut stream)| {
            // It may have been closed already, which is what is tested here.
            let _ = if number % 2 == 0 { Ok(()) } else { stream.write_all(b"GET / HTTP/1.1\r\nHost: ") };
            stream
        });
        begun.collect()
    };
    std::thread::scope(|scope| {
        let attackers: Vec<_> = (0..20).map(|_| scope.spawn(|| open(served.address))).collect();
        let mut asked = 0;
        while attackers.iter().any(|attacker| !attacker.is_finished()) || asked < 20 {
            let begun = Instant::now();
            assert_eq!(served.get("/healthz", &[]).status, 200);
            assert!(begun.elapsed() < Duration::from_secs(30), "an answer took {:?}", begun.elapsed());
            asked += 1;
        }
        let held: Vec<TcpStream> = attackers.into_iter().flat_map(|attacker| attacker.join().unwrap()).collect();
        assert!(held.len() as u64 > wanted * 9 / 10, "only {} connections were made", held.len());
        let cookie = log_in(&served, "bob");
        assert_eq!(served.get("/p/p", &[("Cookie", &cookie)]).status, 200);
    });
}

#[test]
fn bodies_that_do_not_come_keep_nobody_waiting() {
    let home = inhabited();
    let served = Served::start(&home, &["--no-schedule", "--patience", "2s"]);
    let slow = |_| {
        let mut stream = TcpStream::connect(served.address).unwrap();
        let request = text(served.address, "POST /login", &[], "").replace("Content-Length: 0", "Content-Length: 999");
        stream.write_all(format!("{request}name=bob").as_bytes()).unwrap();
        stream
    };
    // More than there may be requests at once.
    let slow: Vec<TcpStream> = (0..200).map(slow).collect();
    let begun = Instant::now();
    let cookie = log_in(&served, "bob");
    assert_eq!(served.get("/p/p", &[("Cookie", &cookie)]).status, 200);
    assert!(begun.elapsed() < Duration::from_secs(20), "others waited for {:?}", begun.elapsed());
    for stream in slow {
        let reply = HttpReply::read(stream);
        assert_eq!(reply.status, 408, "{reply:?}");
    }
}

#[test]
fn a_client_that_takes_nothing_is_cut_off() {
    let home = inhabited();
    let served = Served::start(&home, &["--no-schedule", "--patience", "300ms"]);
    let page = served.get("/login", &[]).body;
    let style = page.split('"').find(|part| part.starts_with("/assets/") && part.ends_with(".css")).unwrap();
    let request = format!("GET {style} HTTP/1.1\r\nHost: {}\r\n\r\n", served.address);
    let mut stream = TcpStream::connect(served.address).unwrap();
    stream.set_nonblocking(true).unwrap();
    let requests = request.repeat(10_000);
    let (mut sent, bytes) = (0, requests.as_bytes());
    // One request after the other, of whose answers nobody reads a byte.
    until("the connection is cut off", || match stream.write(&bytes[sent % bytes.len()..]) {
        Ok(count) => {
            sent += count;
            assert!(sent < 100 * bytes.len(), "the server answers without end");
            false
        }
        Err(e) => e.kind() != ErrorKind::WouldBlock,
    });
    assert_eq!(served.get("/healthz", &[]).status, 200);
}

/// The bytes of the archived page: more than fits into what lies between a server and a client.
const LARGE: usize = 12 << 20;

#[test]
fn downloads_that_nobody_reads_keep_nobody_else_from_theirs() {
    let body = "x".repeat(LARGE);
    let site = Script::serve(move |_| reply("200 OK", "Content-Type: text/plain\r\n", &body));
    let home = Home::new();
    home.crawl(&[&format!("http://{}/", site.address), "--max-size", "20MB"]);
    add_user(&home, "bob", &[]);
    home.orb(&["user", "grant", "bob", PROJECT, "read"]).expect(0);
    let served = Served::start(&home, &["--no-schedule", "--patience", "10m"]);
    let cookie = log_in(&served, "bob");
    let path = format!("/p/{PROJECT}/pages/1/content?as=raw");
    let request = text(served.address, &format!("GET {path}"), &[("Cookie", &cookie)], "");
    let begun = |_| {
        let mut stream = TcpStream::connect(served.address).unwrap();
        stream.write_all(request.as_bytes()).unwrap();
        // Its first byte: the download is under way.
        stream.read_exact(&mut [0]).unwrap();
        stream
    };
    let slow: Vec<TcpStream> = (0..20).map(begun).collect();
    let whole = served.get(&path, &[("Cookie", &cookie)]);
    assert_eq!((whole.status, whole.body.len()), (200, LARGE));
    assert!(whole.header("content-disposition").unwrap().starts_with("attachment; filename="), "{:?}", whole.headers);
    drop(slow);
}

#[test]
fn what_is_too_large_is_refused_while_it_comes() {
    let home = inhabited();
    let served = Served::start(&home, &["--no-schedule"]);
    // Sends a head and then a part again and again; the status, or none if the line was cut before
    // it could be read.
    let answered = |head: &str, part: &[u8], times: usize| {
        let mut stream = TcpStream::connect(served.address).unwrap();
        let head = format!("{head}\r\nHost: {}\r\nConnection: close\r\n", served.address);
        // Whoever goes on sending after the answer finds the line closed.
        let _ = stream.write_all(head.as_bytes()).and_then(|()| (0..times).try_for_each(|_| stream.write_all(part)));
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        String::from_utf8_lossy(&answer).split(' ').nth(1).map(str::to_owned)
    };
    let post = "POST /login HTTP/1.1\r\nContent-Type: application/x-www-form-urlencoded";
    let announced = answered(&format!("{post}\r\nContent-Length: 99999999999"), b"\r\n", 1);
    assert_eq!(announced.as_deref(), Some("413"));
    let chunk = format!("\r\n100000\r\n{}", "x".repeat(0x10_0000));
    // Without an end: as long as it is taken, it is sent.
    let chunked = answered(&format!("{post}\r\nTransfer-Encoding: chunked"), chunk.as_bytes(), 4_000);
    assert!(chunked.as_deref().is_none_or(|status| status == "413"), "{chunked:?}");
    for part in ["X: y\r\n", "X: "] {
        let head = answered("GET /healthz HTTP/1.1", part.as_bytes(), 1_000_000);
        assert!(head.as_deref().is_none_or(|status| matches!(status, "400" | "431")), "{part}: {head:?}");
    }
    let target = answered(&format!("GET /{} HTTP/1.1", "a".repeat(1_000_000)), b"\r\n", 1);
    assert!(target.as_deref().is_none_or(|status| matches!(status, "400" | "414" | "431")), "{target:?}");
    assert_eq!(served.get("/healthz", &[]).status, 200);
}

#[test]
fn no_path_leads_out_of_what_is_served() {
    let home = inhabited();
    std::fs::write(home.path().join("secret.txt"), "the secret").unwrap();
    std::fs::create_dir(home.path().join("hidden")).unwrap();
    let served = Served::start(&home, &["--no-schedule"]);
    let cookie = log_in(&served, "ann");
    let ann = [("Cookie", cookie.as_str())];
    let long = "a".repeat(5_000);
    let names = [
        "..",
        "%2e%2e",
        "..%2fsecret.txt",
        "..%5c..",
        "%2e%2e%2f%2e%2e%2fetc%2fpasswd",
        "orb.db",
        "orb.db-wal",
        "secret.txt",
        "hidden",
        "p%00",
        "p%2f..%2fq",
        "P",
        "p;q",
        "p%20",
        "%ff%fe",
        "*",
        &long,
    ];
    for name in names {
        for path in [
            format!("/p/{name}"),
            format!("/p/{name}/settings"),
            format!("/api/v1/projects/{name}"),
            format!("/api/v1/projects/{name}/exports/{name}/file"),
            format!("/p/p/exports/{name}/file"),
            format!("/assets/{name}"),
            format!("/doc/{name}.1"),
            format!("/log/{name}.1"),
        ] {
            let reply = served.get(&path, &ann);
            assert!(matches!(reply.status, 400 | 404 | 405), "{path}: {}", reply.status);
            assert!(!reply.body.contains("the secret") && !reply.body.contains("root:"), "{path}: {}", reply.body);
        }
    }
    for (target, status) in [("http://evil.test/healthz", 421), ("//evil.test/healthz", 404), ("/healthz/", 404)] {
        assert_eq!(served.get(target, &[]).status, status, "{target}");
    }
    let made = served.post("/p/%2e%2e/settings", &ann, "text=x");
    assert_eq!(made.status, 404, "{made:?}");
}

/// Queries that would run for hours, or fill the memory.
fn runaways() -> Vec<String> {
    let endless = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n)";
    let long = "printf('%.*c', 60000000, 'a')";
    let half = "printf('%.*c', 130000, 'a')";
    let calls = |call: &str, times| vec![call; times].join(", ");
    vec![
        format!("{endless} SELECT max(x) FROM n"),
        format!("{endless} SELECT count(*) FROM n a, n b"),
        format!("{endless} SELECT x FROM n ORDER BY -x"),
        format!("{endless} SELECT group_concat(hex(randomblob(1000))) FROM n"),
        format!("{endless}, m(y) AS (SELECT hex(zeroblob(1000000)) FROM n) SELECT y FROM m ORDER BY y"),
        "SELECT replace(hex(zeroblob(400000000)), '0', 'aaaaaaaaaa')".to_owned(),
        "SELECT printf('%.*c', 2000000000, 'x')".to_owned(),
        "SELECT 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab' GLOB '*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*ac'".to_owned(),
        // What takes long within one function.
        format!("SELECT instr({long}, {long} || 'b')"),
        format!("SELECT replace({long}, printf('%.*c', 30000000, 'a') || 'b', '')"),
        format!("SELECT {long} LIKE printf('%.*c', 49990, '%') || 'b'"),
        format!("SELECT {}", calls("instr(x, y || 'b')", 100)),
        format!("SELECT {} FROM (SELECT {half} || {half} AS x, {half} AS y)", calls("instr(x, y || 'b')", 8)),
        format!("SELECT {} FROM (SELECT {half} || {half} AS x, {half} AS y)", calls("trim(x, y || 'b')", 8)),
        format!("SELECT unhex({half} || 'z', {half})"),
        format!("{endless} SELECT count(*) FROM n WHERE {half} LIKE printf('%.*c', 900, '%') || 'b'"),
        // What takes long before it begins.
        format!(
            "WITH t0 AS NOT MATERIALIZED (SELECT 1 AS x LIMIT 2) {} SELECT * FROM t40",
            (1..=40)
                .map(|n| format!(", t{n} AS NOT MATERIALIZED (SELECT a.x FROM t{m} a, t{m} b LIMIT 2)", m = n - 1))
                .collect::<String>()
        ),
    ]
}

#[test]
fn sql_that_runs_away_is_stopped_and_others_are_answered_meanwhile() {
    let site = Script::serve(|_| page(["/"; 0]));
    let home = Home::new();
    home.crawl(&[&format!("http://{}/", site.address)]);
    add_user(&home, "bob", &[]);
    home.orb(&["user", "grant", "bob", PROJECT, "read"]).expect(0);
    let made = home.orb(&["user", "token", "bob", "--scope", "read", "--scope", "sql", "--json"]).json();
    let bearer = format!("Bearer {}", made["token"].as_str().unwrap());
    let served = Served::start(&home, &["--no-schedule"]);
    let ask = |query: &str| {
        let fields = [("Authorization", bearer.as_str()), ("Content-Type", "application/json")];
        let body = serde_json::json!({"query": query, "seconds": 1.0}).to_string();
        served.send(&format!("POST /api/v1/projects/{PROJECT}/sql"), &fields, &body)
    };
    let runaways = runaways();
    std::thread::scope(|scope| {
        let ask = &ask;
        // Only two are answered at once; the others are told to come again, and do.
        let insist = move |query: &String| loop {
            let begun = Instant::now();
            let reply = ask(query);
            if reply.status != 503 {
                return (query.clone(), reply, begun.elapsed());
            }
            assert!(reply.header("retry-after").is_some(), "{reply:?}");
        };
        let asked: Vec<_> = runaways.iter().map(|query| scope.spawn(move || insist(query))).collect();
        let mut others = 0;
        while asked.iter().any(|asked| !asked.is_finished()) || others == 0 {
            let begun = Instant::now();
            let state = served.get(&format!("/api/v1/projects/{PROJECT}"), &[("Authorization", &bearer)]);
            assert_eq!(state.status, 200, "{state:?}");
            assert!(begun.elapsed() < Duration::from_secs(20), "others waited for {:?}", begun.elapsed());
            others += 1;
        }
        for asked in asked {
            let (query, reply, took) = asked.join().unwrap();
            assert!(took < Duration::from_secs(20), "{query} went on for {took:?}");
            let is_small = reply.body.len() < 20_000_000;
            assert!(matches!(reply.status, 200 | 422) && is_small, "{query}: {} {}", reply.status, reply.body.len());
        }
    });
    for forbidden in [
        "ATTACH '/etc/passwd' AS x",
        "SELECT load_extension('x')",
        "SELECT writefile('x', 'y')",
        "SELECT readfile('/etc/passwd')",
        "PRAGMA journal_mode = DELETE",
        "CREATE TABLE x (y)",
        "SELECT 1; DELETE FROM run_row",
        "VACUUM INTO '/tmp/stolen'",
    ] {
        let reply = ask(forbidden);
        assert!(matches!(reply.status, 400 | 422), "{forbidden}: {reply:?}");
    }
}

#[test]
fn queries_that_wait_keep_nobody_else_waiting() {
    let site = Script::serve(|_| page(["/"; 0]));
    let home = Home::new();
    home.crawl(&[&format!("http://{}/", site.address)]);
    add_user(&home, "bob", &[]);
    home.orb(&["user", "grant", "bob", PROJECT, "read"]).expect(0);
    let served = Served::start(&home, &["--no-schedule"]);
    let cookie = log_in(&served, "bob");
    let bob = [("Cookie", cookie.as_str()), ("Content-Type", "application/json")];
    let endless = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT max(x) FROM n";
    let body = serde_json::json!({"query": endless, "seconds": 5.0}).to_string();
    let tool = serde_json::json!({"name": "sql", "arguments": {"project": PROJECT, "query": endless}});
    let tool = serde_json::json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": tool}).to_string();
    let page = format!("/p/{PROJECT}/sql?q={}", endless.replace(' ', "+"));
    std::thread::scope(|scope| {
        // By every door at once, more than requests are answered at once.
        let by_api = || served.send(&format!("POST /api/v1/projects/{PROJECT}/sql"), &bob, &body).status;
        let by_page = || served.get(&page, &bob).status;
        let by_tool = || served.send("POST /mcp", &bob, &tool).status;
        let asked: Vec<_> = (0..90)
            .map(|n| {
                scope.spawn(move || match n % 3 {
                    0 => by_api(),
                    1 => by_page(),
                    _ => by_tool(),
                })
            })
            .collect();
        let begun = Instant::now();
        assert_eq!(served.get(&format!("/p/{PROJECT}"), &bob).status, 200);
        assert!(begun.elapsed() < Duration::from_secs(4), "others waited for {:?}", begun.elapsed());
        let answers: Vec<u16> = asked.into_iter().map(|asked| asked.join().unwrap()).collect();
        let refused = answers.iter().filter(|status| **status == 503).count();
        assert!(refused >= 60 && answers.len() - refused >= 2, "{answers:?}");
    });
}

#[test]
fn guesses_at_once_are_counted_one_by_one() {
    let home = inhabited();
    let served = Served::start(&home, &["--no-schedule"]);
    let guess = || served.post("/login", &[], "name=bob&password=a+guess").status;
    let answers: Vec<u16> = std::thread::scope(|scope| {
        let asked: Vec<_> = (0..60).map(|_| scope.spawn(guess)).collect();
        asked.into_iter().map(|asked| asked.join().unwrap()).collect()
    });
    let looked_at = answers.iter().filter(|status| **status == 403).count();
    let refused = answers.iter().filter(|status| **status == 429).count();
    // Hashing 60 passwords takes seconds; of every wait that ends meanwhile one more is looked at.
    assert!((5..=12).contains(&looked_at) && looked_at + refused == 60, "{answers:?}");
}

#[test]
fn behind_a_proxy_visitors_are_told_apart_and_nobody_makes_one_up() {
    let home = inhabited();
    let args = ["--no-schedule", "--trusted-proxy", "127.0.0.0/8", "--public-url", "https://orb.test"];
    let served = Served::start(&home, &args);
    let guess = |name: &str, from: &str| {
        let form = format!("name={name}&password=wrong");
        served.post("/login", &[("Host", "orb.test"), ("X-Forwarded-For", from)], &form).status
    };
    // The address that the visitor has made up is another each time; the proxy's word is the last.
    let answers: Vec<u16> = (0..12).map(|n| guess(&format!("name{n}"), &format!("203.0.113.{n}, 192.0.2.1"))).collect();
    assert!(answers[..5].iter().all(|status| *status == 403) && answers.contains(&429), "{answers:?}");
    assert_eq!(guess("somebody", "192.0.2.2"), 403, "another visitor");
    let came = served.post("/login", &[("Host", "orb.test")], "name=bob&password=a+password");
    let cookie = came.header("set-cookie").unwrap();
    assert!(cookie.starts_with("__Host-orb=") && cookie.ends_with("; Secure"), "{cookie}");
    let bob = [("Host", "orb.test"), ("Cookie", came.cookie().unwrap()), ("Origin", "https://orb.test")];
    assert_eq!(served.get("/me", &bob).status, 200);
    assert_eq!(served.post("/logout", &bob, "").status, 303);
    home.orb(&["serve", "--trusted-proxy", "proxy.test"]).expect(2);
}

#[test]
fn tokens_that_ended_or_are_for_something_else_open_nothing() {
    let home = inhabited();
    let served = Served::start(&home, &["--no-schedule"]);
    let made = |more: &[&str]| {
        let args = [&["user", "token", "bob", "--json"], more].concat();
        format!("Bearer {}", home.orb(&args).json()["token"].as_str().unwrap())
    };
    let ask = |bearer: &str, path: &str| served.get(path, &[("Authorization", bearer)]).status;
    let (mine, run) = (made(&["--scope", "read", "--days", "1"]), made(&["--scope", "run"]));
    assert_eq!(ask(&mine, "/api/v1/projects/p"), 200);
    assert_eq!(ask(&mine, "/api/v1/projects/q"), 404, "a project that its user may not see");
    assert_eq!(ask(&run, "/api/v1/projects/p"), 403, "a scope that it lacks");
    let other = made(&["--scope", "read", "--project", "q"]);
    assert_eq!(ask(&other, "/api/v1/projects/p"), 404, "a project that it is not for");
    assert_eq!(ask(&other, "/api/v1/projects/q"), 404, "a project that its user may not see");
    let token = mine.trim_start_matches("Bearer ");
    for wrong in ["Bearer", "Bearer ", "Bearer orb_", &format!("Basic {token}"), &mine[..mine.len() - 1]] {
        assert_eq!(ask(wrong, "/api/v1/projects/p"), 401, "{wrong}");
    }
    let all = home.orb(&["user", "token", "ann", "--scope", "read", "--scope", "admin", "--json"]).json();
    let all = format!("Bearer {}", all["token"].as_str().unwrap());
    let ann = [("Authorization", all.as_str()), ("Content-Type", "application/json")];
    assert_eq!(served.get("/api/v1/users", &ann).status, 200);
    let eve = r#"{"name": "eve", "password": "a password", "admin": true}"#;
    for (request, body) in [
        ("POST /api/v1/users", eve),
        ("DELETE /api/v1/users/bob", ""),
        ("PUT /api/v1/users/bob/grants/p", r#"{"level": "edit"}"#),
        ("POST /users/bob/password", "{}"),
        ("POST /api/v1/tokens", "{}"),
    ] {
        assert_eq!(served.send(request, &ann, body).status, 403, "no token changes an account: {request}");
    }
    for path in [format!("/api/v1/projects/p?token={token}"), format!("/api/v1/projects/p?access_token={token}")] {
        assert_eq!(served.get(&path, &[]).status, 401, "a token in an address");
    }
    assert_eq!(served.get("/api/v1/projects/p", &[("Cookie", &format!("orb={token}"))]).status, 401);
    let feed = |bearer: &str| served.get(&format!("/feed/{}", bearer.trim_start_matches("Bearer ")), &[]).status;
    assert_eq!(feed(&mine), 404, "a token for all projects in an address");
    assert_eq!(feed(&made(&["--scope", "read", "--scope", "sql", "--project", "p"])), 404, "a token for more");
    assert_eq!(feed(&other), 404, "a token of another project");
    // Whoever was let in a moment ago is not let in when the token has ended, by the clock or by
    // somebody's word.
    let accounts = rusqlite::Connection::open(home.path().join("orb.db")).unwrap();
    assert_eq!(ask(&mine, "/api/v1/projects/p"), 200);
    accounts.execute("UPDATE token SET until = 1 WHERE until NOTNULL", []).unwrap();
    assert_eq!(ask(&mine, "/api/v1/projects/p"), 401, "a token that has ended");
    let reader = made(&["--scope", "read"]);
    assert_eq!(ask(&reader, "/api/v1/projects/p"), 200);
    home.orb(&["user", "grant", "bob", PROJECT, "none"]).expect(0);
    assert_eq!(ask(&reader, "/api/v1/projects/p"), 404, "a right that was taken away");
    let cookie = log_in(&served, "bob");
    assert_eq!(served.get("/me", &[("Cookie", &cookie)]).status, 200);
    home.orb(&["user", "remove", "bob"]).expect(0);
    assert_eq!(served.get("/me", &[("Cookie", &cookie)]).status, 401, "a session of nobody");
}
