//! Does the server do on the wire what it is meant to?

#![allow(clippy::unwrap_used, reason = "a test may fail where it stands")]

mod client;

use client::{Answer, exchange, get, parse};
use orb_testweb::{Feature, GzipMode, HostNaming, Latency, Server, Spec};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

fn spawn(spec: Spec) -> (Server, String) {
    let server = Server::spawn(spec).unwrap();
    let authority = server.addr().to_string();
    (server, authority)
}

/// One response with a length, from a connection that stays open.
fn next(socket: &mut TcpStream) -> Answer {
    let mut bytes = Vec::new();
    let mut byte = [0];
    while !bytes.ends_with(b"\r\n\r\n") {
        socket.read_exact(&mut byte).unwrap();
        bytes.push(byte[0]);
    }
    let mut answer = parse(&bytes);
    answer.body = vec![0; answer.header("content-length").map_or(0, |length| length.parse().unwrap())];
    socket.read_exact(&mut answer.body).unwrap();
    answer
}

#[test]
fn pipelined_requests_are_answered_in_order_over_one_connection() {
    let (server, authority) = spawn(Spec::default());
    let mut socket = TcpStream::connect(&authority).unwrap();
    let one = format!("GET / HTTP/1.1\r\nHost: {authority}\r\n\r\n");
    let two = format!("GET /nothing HTTP/1.1\r\nHost: {authority}\r\n\r\n");
    // The last request arrives in two parts.
    socket.write_all(format!("{one}{two}{}", &one[..9]).as_bytes()).unwrap();
    assert_eq!((next(&mut socket).status, next(&mut socket).status), (200, 404));
    socket.write_all(&one.as_bytes()[9..]).unwrap();
    assert_eq!(next(&mut socket).status, 200);
    let counters = server.counters();
    assert_eq!((counters.requests, counters.connections, counters.open), (3, 1, 1));
    assert_eq!(counters.by_status.into_iter().collect::<Vec<_>>(), [(200, 2), (404, 1)]);
}

#[test]
fn a_proxy_request_names_the_host() {
    let (_server, authority) = spawn(Spec { cross_host_links: 0.9, ..Spec::default() });
    let bytes = exchange(&authority, "GET http://h2.test/ HTTP/1.1\r\nHost: proxy\r\nConnection: close\r\n\r\n");
    let page = String::from_utf8(parse(&bytes).body).unwrap();
    assert!(page.contains("http://h0001.test/") || page.contains("http://h0000.test/"));
    assert!(!page.contains(&authority));
}

#[test]
fn links_lead_back_to_the_port_that_was_asked_even_where_the_client_does_not_name_it() {
    let (server, authority) = spawn(Spec { cross_host_links: 0.3, links: 16, ..Spec::default() });
    for (host, naming) in [("127.0.0.1", server.addresses()), ("h0000.test", server.names())] {
        let bytes = exchange(&authority, &format!("GET / HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n"));
        let page = String::from_utf8(parse(&bytes).body).unwrap();
        for (number, whose) in [(0, "its own"), (1, "another's")] {
            let home = naming.url(number, "/");
            assert!(page.contains(&home), "{host}: {whose} {home} is not in {page}");
        }
    }
}

#[test]
fn names_addresses_and_localhost_lead_to_the_same_host() {
    let (server, authority) = spawn(Spec::default());
    let title = |host: &str| {
        let bytes = exchange(&authority, &format!("GET / HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n"));
        let page = String::from_utf8(parse(&bytes).body).unwrap();
        page.split("<title>").nth(1).unwrap().split('<').next().unwrap().to_owned()
    };
    assert_eq!(title("h0000.test"), title("127.0.0.1:99"));
    assert_eq!(title("h0000.test"), title("localhost"));
    assert_eq!(title("h0002.test"), title("127.0.0.3"));
    assert_ne!(title("h0002.test"), title("127.0.0.1"));
    assert_eq!(title("example.com"), "No such host");
    assert_eq!(server.log().requested("/"), 9);
}

#[test]
fn a_page_is_zipped_where_it_is_accepted() {
    let spec = Spec { page_bytes: 20_000, features: Spec::demo().features, ..Spec::default() };
    let (server, _) = spawn(spec.clone());
    let paths = ["/", "/corners/", "/markup/", "/charsets/utf16le-mark.html"];
    for path in paths {
        let url = server.addresses().url(0, path);
        let (plain, zipped) = (get(&url, ""), get(&url, "Accept-Encoding: gzip\r\n"));
        assert_eq!(
            (plain.header("content-encoding"), zipped.header("content-encoding")),
            (None, Some("gzip")),
            "{path}"
        );
        let mut body = Vec::new();
        flate2::read::GzDecoder::new(&zipped.body[..]).read_to_end(&mut body).unwrap();
        assert!(body == plain.body && zipped.body.len() < body.len(), "{path}");
    }
    let (never, _) = spawn(Spec { gzip: GzipMode::Never, ..spec });
    assert_eq!(get(&never.url(0), "Accept-Encoding: gzip\r\n").header("content-encoding"), None);
}

#[test]
fn what_the_client_has_is_not_sent_again() {
    let (server, _) = spawn(Spec::default().with(Feature::Validators).with(Feature::Changes));
    let url = server.addresses().url(0, "/changes/always-1.html");
    let first = get(&url, "");
    let (etag, date) = (first.header("etag").unwrap(), first.header("last-modified").unwrap());
    let by_tag = get(&url, &format!("If-None-Match: {etag}\r\n"));
    let by_date = get(&url, &format!("If-Modified-Since: {date}\r\n"));
    assert_eq!((by_tag.status, by_tag.body.len(), by_date.status), (304, 0, 304));
    server.web().set_epoch(1);
    assert_eq!(get(&url, &format!("If-None-Match: {etag}\r\n")).status, 200);
    assert_eq!(get(&url, &format!("If-Modified-Since: {date}\r\n")).status, 200);
}

#[test]
fn head_has_the_header_of_get() {
    let (_server, authority) = spawn(Spec::default());
    let bytes = exchange(&authority, &format!("HEAD / HTTP/1.1\r\nHost: {authority}\r\nConnection: close\r\n\r\n"));
    let head = parse(&bytes);
    assert_eq!((head.status, head.header("content-length"), head.body.len()), (200, Some("4000"), 0));
}

#[test]
fn odd_requests_are_refused_and_the_server_lives() {
    let (server, authority) = spawn(Spec::zoo());
    for odd in [
        "\r\n\r\n",
        "GET\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: \u{e9}\r\nConnection: close\r\n\r\n",
        "PUT / HTTP/1.0\r\n\r\n",
    ] {
        exchange(&authority, odd);
    }
    let huge = format!("GET /{} HTTP/1.1\r\n", "x".repeat(300_000));
    assert_eq!(parse(&[exchange(&authority, &huge), b"\r\n\r\n".to_vec()].concat()).status, 431);
    assert_eq!(get(&server.url(0), "").status, 200);
}

#[test]
fn floods_come_and_can_be_left() {
    let (server, _) = spawn(Spec { hosts: 1, ..Spec::default().with(Feature::Floods) });
    let at = |name: &str| server.addresses().url(0, &format!("/floods/{name}"));
    // The client stops reading after 3 MiB.
    for (name, least) in
        [("endless.html", 3_000_000), ("headers.html", 0), ("long-header.html", 0), ("large.bin", 3_000_000)]
    {
        assert!(get(&at(name), "").body.len() > least || least == 0, "{name}");
    }
    let bomb = get(&at("bomb.html"), "");
    assert_eq!(bomb.header("content-length").unwrap().parse::<usize>().unwrap(), bomb.body.len());
    let zeros = std::io::copy(&mut flate2::read::GzDecoder::new(&bomb.body[..]).take(1 << 24), &mut std::io::sink());
    assert_eq!(zeros.unwrap(), 1 << 24);
}

#[test]
fn a_drip_arrives_in_the_end_and_silence_does_not() {
    let (server, authority) = spawn(Spec { hosts: 1, ..Spec::default().with(Feature::Stalls) });
    let drip = get(&server.addresses().url(0, "/stalls/drip.html"), "");
    assert_eq!(drip.header("content-length").unwrap().parse::<usize>().unwrap(), drip.body.len());
    let mut socket = TcpStream::connect(&authority).unwrap();
    write!(socket, "GET /stalls/never.html HTTP/1.1\r\nHost: {authority}\r\n\r\n").unwrap();
    socket.set_read_timeout(Some(Duration::from_millis(50))).unwrap();
    assert!(socket.read(&mut [0]).is_err());
}

#[test]
fn latency_holds_answers_back() {
    let latency = Latency { mean: Duration::from_millis(40), spread: 0.25 };
    let (server, _) = spawn(Spec { latency, ..Spec::default() });
    let start = Instant::now();
    get(&server.url(0), "");
    assert!(start.elapsed() >= Duration::from_millis(30));
}

#[test]
fn high_water_marks_do_not_count_connections_the_client_has_left() {
    let (server, authority) = spawn(Spec::default());
    let other = format!("127.0.0.2:{}", server.addr().port());
    let ask = |authority: &str| {
        let mut socket = TcpStream::connect(authority).unwrap();
        write!(socket, "GET / HTTP/1.1\r\nHost: {authority}\r\n\r\n").unwrap();
        next(&mut socket);
        socket
    };
    // Never more than three at once, though the server may notice a close after the next connection
    // has begun.
    let (_first, _second) = (ask(&authority), ask(&other));
    for _ in 0..500 {
        drop(ask(&authority));
    }
    let counters = server.counters();
    assert_eq!((counters.max_open, counters.connections, counters.requests), (3, 502, 502));
    assert_eq!(counters.max_open_by_host[&authority], 2);
    assert_eq!(counters.max_open_by_host[&other], 1);
    assert_eq!(counters.max_open_by_local_ip[&"127.0.0.1".parse().unwrap()], 2);
}

#[test]
fn the_log_tells_gaps_hosts_and_agents() {
    let (server, _) = spawn(Spec::default());
    let names = server.addresses();
    for host in [0, 1, 0] {
        get(&names.url(host, "/"), "User-Agent: orb/1\r\n");
    }
    let log = server.log();
    assert_eq!(log.min_gap_by_host().len(), 1);
    assert_eq!(
        log.min_gap_by_local_ip().into_keys().collect::<Vec<_>>(),
        ["127.0.0.1".parse::<std::net::IpAddr>().unwrap()]
    );
    let requests = log.take();
    assert_eq!(requests.by_url()[&names.url(0, "/")], 2);
    assert!(requests.0.iter().all(|request| &*request.agent == "orb/1" && request.status == 200));
    assert!(log.all().0.is_empty());
}

#[test]
fn counters_are_exact_with_many_clients_and_threads() {
    let (server, authority) = spawn(Spec { threads: 2, log: false, ..Spec::default() });
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                let mut socket = TcpStream::connect(&authority).unwrap();
                for _ in 0..50 {
                    write!(socket, "GET / HTTP/1.1\r\nHost: {authority}\r\n\r\n").unwrap();
                    assert_eq!(next(&mut socket).status, 200);
                }
            });
        }
    });
    let counters = server.counters();
    assert_eq!((counters.requests, counters.by_status[&200], counters.connections), (400, 400, 8));
    assert!(server.log().all().0.is_empty());
}

#[test]
fn another_process_can_ask_and_move_the_epoch() {
    let (server, _) = spawn(Spec::default());
    let ask =
        |what: &str| String::from_utf8(get(&server.addresses().url(0, &format!("/.testweb/{what}")), "").body).unwrap();
    get(&server.url(0), "User-Agent: \"quoted\"\r\n");
    assert!(ask("counters").starts_with("{\"requests\":1,"));
    assert!(ask("log").contains("\"agent\":\"\\\"quoted\\\"\""));
    assert_eq!(ask("expected/linked/80").lines().count(), 60);
    assert!(ask("expected/linked/80").contains(&HostNaming::Names { port: 80 }.url(2, "/")));
    assert_eq!((ask("epoch/5").as_str(), server.web().epoch()), ("5\n", 5));
    ask("reset");
    assert_eq!((server.counters().requests, server.log().all().0.len()), (0, 0));
}

#[test]
fn a_stopped_server_is_gone() {
    let (server, authority) = spawn(Spec::default());
    let mut idle = TcpStream::connect(&authority).unwrap();
    server.shutdown();
    assert_eq!(idle.read(&mut [0]).unwrap_or(0), 0);
    assert!(TcpStream::connect(&authority).is_err());
}
