//! Are pages that say little, or too much, or something else than they claim, still found and read?

use crate::harness::orb::{Home, PROJECT};
use crate::harness::script::{Script, absent, page, reply};
use crate::watched;
use serde_json::Value;

const PROSE: &str = "The committee met on Tuesday and decided, after a long debate, to build the bridge.";

/// A query, the path of the page that must be the first result, and what its main content holds.
type Wanted = (&'static str, &'static str, &'static str);

const WANTED: &[Wanted] = &[
    ("bottom pit", "/nested", "the bottom of the pit"),
    ("lists cellar", "/lists", "a cellar of lists"),
    ("שלום", "/hebrew", "זחלנים"),
    ("الجسر", "/arabic", "بناء الجسر"),
    ("東京の天気", "/japanese", "最高気温"),
    ("собрался", "/mixed", "Комитет собрался"),
    ("Ausschuss", "/mixed", "Der Ausschuss"),
    ("outside", "/empty-main", "stands outside"),
    ("tomatoes", "/liar", "deep enough"),
    ("catalogue 399", "/links", "catalogue 399"),
];

fn body(path: &str) -> Option<String> {
    Some(match path {
        "/nested" => format!("<title>Pit</title>{}the bottom of the pit", "<div>".repeat(1_000_000)),
        "/lists" => format!("<title>Cellar</title>{}a cellar of lists", "<ul><li>".repeat(500_000)),
        "/no-text" => "<img src=/a.png><div><hr></div><script>words()</script>".to_owned(),
        "/nothing" => String::new(),
        "/links" => (0..400).map(|n| format!("<a href='#{n}'>catalogue {n}</a> ")).collect(),
        "/hebrew" => "<html lang=he dir=rtl><title>שלום</title><main><h1>שלום</h1><p>זהו טקסט על הרשת, על \
                      זחלנים ועל 123 דפים.</main>"
            .to_owned(),
        "/arabic" => {
            "<html lang=ar dir=rtl><title>الجسر</title><p>اجتمعت اللجنة وقررت، بعد نقاش طويل، بناء الجسر.".to_owned()
        }
        "/japanese" => {
            "<html lang=ja><title>東京の天気</title><p>今日の東京は晴れのち曇り、最高気温は二十五度です。".to_owned()
        }
        "/mixed" => {
            format!("<title>Bridge</title><p>{PROSE}<p>Der Ausschuss beschloss es.<p>Комитет собрался.<p>委员会开会")
        }
        "/empty-main" => format!("<title>E</title><main></main><div><h1>Story</h1><p>It stands outside. {PROSE}</div>"),
        "/liar" => format!(
            "<title>Growing tomatoes</title><script type='application/ld+json'>{}</script><script \
             type='application/ld+json'>{{\"@graph\":[</script><h1>Growing tomatoes</h1><p>A pot that is deep enough.",
            r#"{"@type":"NewsArticle","headline":"Cheap watches","author":"A Liar","datePublished":"2999-13-45",
                "articleBody":"Watches, watches, the cheapest of all."}"#
        ),
        _ => return None,
    })
}

const PATHS: [&str; 11] = [
    "/nested",
    "/lists",
    "/no-text",
    "/nothing",
    "/links",
    "/hebrew",
    "/arabic",
    "/japanese",
    "/mixed",
    "/empty-main",
    "/liar",
];

fn site() -> Script {
    Script::serve(|heard| match body(&heard.target) {
        Some(html) => reply("200 OK", "Content-Type: text/html; charset=utf-8\r\n", &html),
        None if heard.target == "/" => page(PATHS),
        None => absent(),
    })
}

#[test]
fn pages_of_any_content_are_found_by_what_they_say_and_read_as_they_are() {
    let (site, home) = (site(), Home::new());
    let at = |path: &str| format!("http://{}{path}", site.address);
    let crawled = watched(&home, &[&at("/"), "--delay", "0"]);
    assert_eq!(crawled.number("frontier"), 0, "{crawled}");
    for path in PATHS {
        let row = home.catalogue().page(&at(path));
        assert_eq!(row.kind, "HTML", "{path}");
        home.orb(&["cat", PROJECT, &at(path), "--as", "markdown", "--whole"]).expect(0);
    }
    for (query, path, said) in WANTED {
        let found = home.orb(&["search", PROJECT, query, "--json"]).expect(0).json();
        assert_eq!(found[0]["url"], at(path), "{query}: {found}");
        let text = home.orb(&["cat", PROJECT, &at(path), "--as", "text"]).expect(0).text().to_owned();
        assert!(text.contains(said), "{path}: {text}");
    }
    for lie in ["watches", "cheapest"] {
        assert_eq!(home.orb(&["search", PROJECT, lie, "--json"]).expect(0).json(), Value::Array(Vec::new()), "{lie}");
    }
    let read = home.orb(&["cat", PROJECT, &at("/liar"), "--as", "markdown"]).expect(0).text().to_owned();
    assert!(!read.contains("Liar") && !read.contains("2999"), "{read}");
    home.orb(&["check", PROJECT]).expect(0);
}

#[test]
fn questions_without_content_are_answered_or_refused_with_a_reason() {
    let (site, home) = (site(), Home::new());
    home.crawl(&[&format!("http://{}/", site.address), "--delay", "0"]);
    let phrase = format!("\"{}\"", "the bridge ".repeat(900));
    let pipes = "a|".repeat(5_000);
    let nested = "(".repeat(10_000);
    for (query, code) in [
        ("the of and", 0),
        ("THE", 0),
        ("b", 0),
        ("桥", 0),
        ("...", 2),
        ("\u{200f}؟!", 2),
        (phrase.as_str(), 2),
        (pipes.as_str(), 2),
        (nested.as_str(), 2),
    ] {
        let asked = home.orb(&["search", PROJECT, query]);
        let shown: String = query.chars().take(20).collect();
        match code {
            0 => _ = asked.expect(0),
            code => assert!(!asked.complaint(code).is_empty(), "{shown}"),
        }
        let completed = home.orb(&["search", PROJECT, "--complete", query]);
        assert!(matches!(completed.code, Some(0 | 2)), "{shown}: {completed}");
    }
}
