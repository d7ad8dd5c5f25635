//! Does the parser agree with RFC 9309 and with the parser Google published?
//!
//! Every fact that parser's own tests state is restated here with our own files and paths, and so
//! are the RFC's examples.

use super::{Access, Robots, path_of, pattern, product_token};
use std::time::Duration;

/// One file and agent, with paths that are allowed (`+`) and disallowed (`-`).
fn check(file: &str, agent: &str, paths: &str) {
    let robots = Robots::parse(file.as_bytes(), agent);
    for path in paths.split_whitespace() {
        let (expected, path) = path.split_at(1);
        assert_eq!(robots.is_allowed(path), expected == "+", "{agent} asks {path} of\n{file}");
        assert_eq!(robots.allows(path).allowed, expected == "+", "{agent} asks {path} of\n{file}");
    }
}

/// A group for `spider` that disallows everything except what the given line allows.
fn only(allowed: &str, paths: &str) {
    check(&format!("User-agent: spider\nDisallow: /\nAllow: {allowed}\n"), "spider", paths);
}

#[test]
fn nothing_said_means_everything_allowed() {
    let shut = "user-agent: spider\ndisallow: /\n";
    check("", "spider", "+/");
    check("", "", "+/");
    check(shut, "", "+/");
    check(shut, "spider", "-/");
}

#[test]
fn a_line_is_a_name_and_a_value_and_the_colon_may_be_forgotten() {
    check("user-agent: spider\ndisallow: /\n", "spider", "-/a/b");
    check("agent: spider\nforbid: /\n", "spider", "+/a/b");
    check("user-agent spider\ndisallow /\n", "spider", "-/a/b");
    check("user-agent: spider\ndisallow / now\n", "spider", "+/a/b");
    check("user-agent: spider\n: /\n", "spider", "+/a/b");
}

#[test]
fn groups_end_at_the_next_agent_and_those_of_one_agent_are_merged() {
    let file = "allow: /before/any/\n\nuser-agent: ant\ndisallow: /\nallow: /p/\nuser-agent: bee\ndisallow: /\nallow: /q/\n\n\nallow: /r/\n\
                user-agent: cat\n\nuser-agent: ant\nallow: /s/\ndisallow: /\n";
    check(file, "ant", "+/p/1 +/s/1 -/q/1 -/before/any/");
    check(file, "bee", "+/q/1 +/r/1 -/s/1 -/before/any/");
    check(file, "cat", "+/s/1 -/before/any/");
}

#[test]
fn only_rules_end_a_list_of_agents() {
    for line in ["Sitemap: https://h.example/map", "Mystery: 1", "Crawl-delay: 1", ""] {
        let file = format!("User-agent: ant\n{line}\nUser-agent: *\nDisallow: /\n");
        check(&file, "ant", "-/");
        check(&file, "bee", "-/");
    }
}

#[test]
fn names_of_lines_are_read_in_any_case_and_in_the_usual_misspellings() {
    for (agent, allow, disallow) in [
        ("USER-AGENT", "ALLOW", "DISALLOW"),
        ("user-agent", "allow", "disallow"),
        ("uSeR-aGeNt", "AlLoW", "dIsAlLoW"),
        ("useragent", "allow", "dissallow"),
        ("user agent", "allowed", "dissalow"),
        ("User-Agents", "allow", "disalow"),
        ("user-agent", "allow", "diasllow"),
        ("user-agent", "allow", "disallaw"),
    ] {
        check(&format!("{agent}: spider\n{allow}: /p/\n{disallow}: /\n"), "spider", "+/p/1 -/q/1");
    }
}

#[test]
fn agents_are_compared_by_their_product_token_in_any_case() {
    for written in ["SPIDER X", "spider x", "SpIdEr xY", "spider/1.0", "Spider*"] {
        for ours in ["Spider", "spider", "Spider/2.1 (+https://h.example/bot)", "spider 1.0", "spider (x)"] {
            check(&format!("User-Agent: {written}\nAllow: /p/\nDisallow: /\n"), ours, "+/p/1 -/q/1");
        }
    }
    for (agent, token) in [
        ("Weaver", "Weaver"),
        ("Weaver-Image", "Weaver-Image"),
        ("Weaver_x", "Weaver_x"),
        (" Weaver ", "Weaver"),
        ("Weaver/2.1", "Weaver"),
        ("Weaver*", "Weaver"),
        ("Weaver (x)", "Weaver"),
        ("", ""),
        ("ツ", ""),
        ("Weaver Two", ""),
    ] {
        assert_eq!(product_token(agent), token, "{agent:?}");
    }
}

#[test]
fn an_agent_of_several_bare_words_obeys_the_rules_for_all() {
    let file = "User-Agent: *\nDisallow: /\nUser-Agent: Ant Eater\nAllow: /p/\nDisallow: /\n";
    check(file, "Ant", "+/p/1");
    check(file, "Ant Eater", "-/p/1");
}

#[test]
fn the_rules_for_all_count_where_no_group_is_ours() {
    check("user-agent: *\nallow: /\nuser-agent: ant\ndisallow: /\n", "ant", "-/a");
    check("user-agent: *\nallow: /\nuser-agent: ant\ndisallow: /\n", "bee", "+/a");
    check("user-agent: ant\nallow: /\nuser-agent: bee\ndisallow: /\nuser-agent: cat\ndisallow: /\n", "dog", "+/a");
    check("user-agent: * (all)\ndisallow: /\n", "dog", "-/a");
    check("user-agent: *dog\ndisallow: /\n", "dog", "+/a");
    check("user-agent: *\ndisallow: /p/\nuser-agent: ant\ndisallow: /q/\n", "ant", "+/p/1 -/q/1");
    check("user-agent: *\ndisallow: /\nuser-agent: ant\n", "ant", "+/p/1");
}

#[test]
fn paths_are_compared_with_regard_to_case() {
    check("user-agent: a\ndisallow: /p/\n", "a", "-/p/1 +/P/1");
    check("user-agent: a\ndisallow: /P/\n", "a", "+/p/1 -/P/1");
}

#[test]
fn the_longest_rule_decides_and_allow_wins_a_tie() {
    for (rules, paths) in [
        ("disallow: /d/file.html\nallow: /d/", "-/d/file.html"),
        ("allow: /d/file.html\ndisallow: /d/", "+/d/file.html -/d/"),
        ("disallow: \nallow: ", "+/d/file.html"),
        ("disallow: /\nallow: /", "+/d/file.html"),
        ("disallow: /d\nallow: /d/", "-/d +/d/"),
        ("disallow: /d/file.html\nallow: /d/file.html", "+/d/file.html"),
        ("allow: /file\ndisallow: /*.html", "-/file.html +/file"),
        ("allow: /d/file.\ndisallow: /*.html", "+/d/file.html -/d/x.html"),
        ("allow: /f\ndisallow: /", "+/file"),
        ("allow: /dir\ndisallow: /dir", "+/dir/file"),
        ("allow: /file\ndisallow: /*.htm", "-/file.htm"),
        ("allow: /$\ndisallow: /", "+/ -/file.html"),
    ] {
        check(&format!("user-agent: spider\n{rules}\n"), "spider", paths);
    }
}

#[test]
fn escapes_are_compared_as_the_parser_published_does() {
    only("/d/e?k=v&url=http://h.example?x&y", "+/d/e?k=v&url=http://h.example?x&y");
    only("/d/ツ", "+/d/%E3%83%84 -/d/ツ");
    only("/d/%E3%83%84", "+/d/%E3%83%84 -/d/ツ");
    only("/d/%e3%83%84", "+/d/%E3%83%84");
    only("/d/%62%61%7A", "-/d/baz +/d/%62%61%7A");
    for (written, compared) in
        [("http://h.example", "http://h.example"), ("/a/b", "/a/b"), ("á", "%C3%A1"), ("%aa", "%AA")]
    {
        assert_eq!(pattern::normalise(written.as_bytes(), pattern::Escapes::Marks), compared.as_bytes());
    }
}

#[test]
fn a_disallowed_path_is_disallowed_however_it_is_spelt() {
    let file = "user-agent: a\ndisallow: /%62%61%7a/\ndisallow: /~me/\ndisallow: /my files/\ndisallow: /%zz%\n";
    check(file, "a", "-/baz/1 -/%62az/1 -/~me/ -/%7Eme/ -/%7eme/ -/my%20files/x -/%zz% +/else%");
    only("/%7Eme/", "+/~me/ +/%7Eme/");
}

#[test]
fn star_dollar_and_hash_are_special() {
    check("user-agent: a\ndisallow: /d/e/f\nallow: /d/*/g\n", "a", "-/d/e/f +/d/f +/d//f +/d/x/f");
    check("user-agent: a\ndisallow: /d/e$\nallow: /d/e/g\n", "a", "-/d/e +/d/e/g +/d/e/ +/d/e/h");
    check("user-agent: a\n# disallow: /\ndisallow: /d/f#g\nallow: /\n", "a", "+/d/e -/d/f");
    check("user-agent: a\ndisallow: /a$b\ndisallow: $\ndisallow: c\n", "a", "-/a$b +/a +/c");
}

#[test]
fn an_allowed_index_file_allows_its_directory() {
    let file = "User-Agent: *\nAllow: /open/index.html\nDisallow: /\n";
    check(file, "spider", "+/open/ -/open/index.htm +/open/index.html -/other");
    check("User-Agent: *\nDisallow: /open/index.html\n", "spider", "+/open/ -/open/index.html");
}

#[test]
fn what_stands_far_to_the_right_on_a_line_is_not_read() {
    let most = 2083 * 8 - 1;
    let long = |c: char, name: &str| format!("/p/{}", c.to_string().repeat(most - name.len() - 3 - 1));
    let barred = long('a', "disallow: ");
    check(&format!("user-agent: s\ndisallow: {barred}/cut\n"), "s", &format!("+/other -{barred}/else"));
    let (first, second) = (long('a', "allow: "), long('b', "allow: "));
    let file = format!("user-agent: s\ndisallow: /\nallow: {first}/cut\nallow: {second}/cut\n");
    check(&file, "s", &format!("-/ +{first}/cut +{second}/else"));
}

#[test]
fn the_documented_examples_hold() {
    only(
        "/carp",
        "-/x +/carp +/carp.html +/carp/koi.html +/carpet +/carpet/red.html +/carp.html?id=1 -/Carp.asp -/mycarp -/?id=carp",
    );
    only(
        "/carp*",
        "-/x +/carp +/carp.html +/carp/koi.html +/carpet +/carpet/red.html +/carp.html?id=1 -/Carp.x -/mycarp -/?id=carp",
    );
    only(
        "/carp/",
        "-/x +/carp/ +/carp/koi +/carp/?koi +/carp/koi.html +/carp/?id=1 -/carp -/carp.html -/Carp/Koi.html",
    );
    only("/*.php", "-/x +/f.php +/d/f.php +/d/f.php?q +//d/f.php.g.html +/f.php/ +/i?f=f.php/ -/php/ -/i?php -/w.PHP");
    only("/*.php$", "-/x +/f.php +/d/f.php -/f.php?q -/f.php/ -/f.php5 -/php/ -/f?php -/aphpa -//w.PHP");
    only("/carp*.php", "-/x +/carp.php +/carpet/carp.php?q -/Carp.PHP");
}

#[test]
fn every_kind_of_line_end_counts_lines_alike() {
    let lines = ["User-Agent: a", "Allow: /p", "User-Agent: b", "", "", "Disallow: /"];
    for file in [
        lines.join("\n") + "\n",
        lines.join("\r\n") + "\r\n",
        lines.join("\r") + "\r",
        lines.join("\n"),
        "User-Agent: a\nAllow: /p\r\nUser-Agent: b\n\r\n\nDisallow: /".to_owned(),
    ] {
        let ruling = |agent: &str| Robots::parse(file.as_bytes(), agent).allows("/p").rule;
        assert_eq!(ruling("a"), Some((2, "Allow: /p".to_owned())), "{file:?}");
        assert_eq!(ruling("b"), Some((6, "Disallow: /".to_owned())), "{file:?}");
    }
}

#[test]
fn a_byte_order_mark_is_skipped_at_the_beginning_alone() {
    let rest = b"User-Agent: a\nDisallow: /p\n";
    let read = |mark: &[u8]| !Robots::parse(&[mark, rest].concat(), "a").is_allowed("/p");
    assert!(read(b"\xEF\xBB\xBF") && read(b"\xEF\xBB") && read(b"\xEF") && read(b""));
    assert!(!read(b"\xEF\x11\xBF"));
    assert!(Robots::parse(b"User-Agent: a\n\xEF\xBB\xBFDisallow: /p\n", "a").is_allowed("/p"));
}

#[test]
fn sitemaps_are_read_wherever_they_stand() {
    let groups = "User-Agent: a\nAllow: /p\nUser-Agent: b\n\n\n";
    for file in [format!("{groups}Sitemap: http://h/map.xml\n"), format!("Site-map: http://h/map.xml\n{groups}")] {
        assert_eq!(Robots::parse(file.as_bytes(), "c").sitemaps(), ["http://h/map.xml"]);
    }
}

#[test]
fn the_path_of_a_url_as_typed_is_what_rules_are_compared_with() {
    for (url, path) in [
        ("", "/"),
        ("http://www.h.example", "/"),
        ("http://www.h.example/", "/"),
        ("http://www.h.example/p", "/p"),
        ("http://www.h.example/p/", "/p/"),
        ("http://www.h.example/p/q?r=http://s.t/", "/p/q?r=http://s.t/"),
        ("http://www.h.example/p/q?r=s&t=u#part", "/p/q?r=s&t=u"),
        ("h.example", "/"),
        ("h.example/", "/"),
        ("h.example/p", "/p"),
        ("h.example/p/", "/p/"),
        ("h.example/p/q?r=s&t=u#part", "/p/q?r=s&t=u"),
        ("p", "/"),
        ("p/", "/"),
        ("/p", "/p"),
        ("p/q", "/q"),
        ("h.example?p", "/?p"),
        ("h.example/p;q#r", "/p;q"),
        ("//p/q/r", "/q/r"),
        ("http://h.example#p/q", "/"),
    ] {
        assert_eq!(path_of(url), path, "{url}");
    }
}

#[test]
fn the_examples_of_rfc_9309_hold() {
    let simple = "User-Agent: *\nDisallow: *.gif$\nDisallow: /example/\nAllow: /publications/\n\n\
                  User-Agent: foobot\nDisallow:/\nAllow:/example/page.html\nAllow:/example/allowed.gif\n\n\
                  User-Agent: barbot\nUser-Agent: bazbot\nDisallow: /example/page.html\n\nUser-Agent: quxbot\n";
    check(simple, "foobot", "-/ +/example/page.html +/example/allowed.gif -/example/other");
    check(simple, "barbot", "-/example/page.html +/example/allowed.gif +/x.gif");
    check(simple, "bazbot", "-/example/page.html +/example/allowed.gif");
    check(simple, "quxbot", "+/example/page.html +/x.gif");
    check(simple, "other", "-/x.gif +/x.gift -/example/page.html +/publications/1");
    let longest = "User-Agent: foobot\nAllow: /example/page/\nDisallow: /example/page/disallowed.gif\n";
    check(longest, "foobot", "-/example/page/disallowed.gif +/example/page/");
    let merged = "user-agent: ExampleBot\ndisallow: /foo\ndisallow: /bar\n\nuser-agent: ExampleBot\ndisallow: /baz\n";
    check(merged, "ExampleBot", "-/foo -/bar -/baz +/qux");
    check("user-agent: *\ndisallow: /\n", "a", "+/robots.txt");
}

#[test]
fn a_status_tells_what_may_be_asked_for() {
    for (status, access) in [
        (200, Access::Read),
        (204, Access::Read),
        (301, Access::Unavailable),
        (403, Access::Unavailable),
        (404, Access::Unavailable),
        (429, Access::Unreachable),
        (500, Access::Unreachable),
        (0, Access::Unreachable),
    ] {
        assert_eq!(Access::of(status), access, "{status}");
        let robots = Robots::from_status(status, b"User-agent: *\nDisallow: /p", "a");
        assert_eq!(robots.is_allowed("/p"), access == Access::Unavailable, "{status}");
        assert_eq!(robots.is_allowed("/q"), access != Access::Unreachable, "{status}");
        assert!(robots.is_allowed("/robots.txt"));
    }
}

#[test]
fn crawl_delay_is_that_of_the_group_and_the_longest_counts() {
    let of = |file: &str| Robots::parse(file.as_bytes(), "spider").crawl_delay();
    assert_eq!(of("User-agent: *\nCrawl-delay: 10\n"), Some(Duration::from_secs(10)));
    assert_eq!(of("User-agent: *\nCrawl-delay: 10\nUser-agent: spider\nDisallow:\n"), None);
    assert_eq!(of("User-agent: *\nDisallow:\nCrawl-delay: 10\nUser-agent: spider\nDisallow:\n"), None);
    assert_eq!(of("User-agent: spider\nCrawl-delay: 0.5s\nCrawl-delay: .25\n"), Some(Duration::from_millis(500)));
    assert_eq!(of("User-agent: spider\nCrawl-delay: 1e99\n"), Some(Duration::from_secs(1)));
    assert_eq!(
        of(&format!("User-agent: spider\nCrawl-delay: {}\n", "9".repeat(400))),
        Some(Duration::from_secs(86_400))
    );
    for bad in ["-1", "0", "nan", "inf", "", ".", "1.2.3"] {
        assert_eq!(of(&format!("User-agent: spider\nCrawl-delay: {bad}\n")), None, "{bad}");
    }
}

#[test]
fn what_stands_beyond_the_first_500_kib_is_not_read() {
    let file = |fill: usize| format!("User-agent: a\n#{}\nDisallow: /p\n", "x".repeat(fill));
    assert!(!Robots::parse(file(400 * 1024).as_bytes(), "a").is_allowed("/p"));
    assert!(Robots::parse(file(500 * 1024).as_bytes(), "a").is_allowed("/p"));
}

#[test]
fn hostile_files_are_read_and_asked_quickly() {
    let stars = format!("User-agent: a\nDisallow: /{}x\n", "*a".repeat(8_000));
    let many = "User-agent: a\n".to_owned() + &"Disallow: /*a*a*a*b\n".repeat(25_000);
    let nested = (1..900).fold("User-agent: a\n".to_owned(), |f, i| f + "Disallow: /" + &"a".repeat(i) + "b\n");
    let url = format!("/{}", "a".repeat(2_000));
    for file in [stars, many, nested, "\u{0}".repeat(1_000), "User-agent:*".repeat(40_000)] {
        let robots = Robots::parse(file.as_bytes(), "a");
        let _ = robots.allows(&url);
    }
}

proptest::proptest! {
    #[test]
    fn no_bytes_break_the_reader(file: Vec<u8>, path in "/\\PC{0,40}") {
        let text = [b"user-agent: a\ndisallow: ".as_slice(), &file].concat();
        let _ = Robots::parse(&file, "a").allows(&path);
        let _ = Robots::parse(&text, "a").allows(&path);
        let _ = path_of(&path);
    }
}
