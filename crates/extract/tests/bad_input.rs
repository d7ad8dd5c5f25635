//! What becomes of pages that no template was made for?
//!
//! Each case states what a reader gets, and that it takes linear time and a small stack: everything
//! here runs in a thread with half of the usual one.
#![allow(clippy::unwrap_used, reason = "what goes wrong here fails the test")]

use orb_extract::{MainContent, MarkdownRequest, markdown};
use std::time::{Duration, Instant};

const STACK: usize = 1 << 20;
/// The cases are linear work of some megabytes each; a quadratic path takes hours.
const TIME: Duration = Duration::from_secs(60);

const PROSE: &str = "The committee met on Tuesday and decided, after a long debate, to build the bridge. Nobody had \
    expected that the vote would be so clear.";

/// A page as its reader gets it: its text, whether main content was told, and its Markdown.
struct Reading {
    page: MainContent,
    main: String,
    made: String,
}

fn read(html: String) -> Reading {
    let started = Instant::now();
    let work = move || {
        let page = MainContent::of(&html, false);
        let ranges = page.ranges();
        let only = page.is_told.then_some(&ranges[..]);
        let made = markdown(&html, &MarkdownRequest { url: Some("http://a.example/"), only });
        Reading { main: page.main_text(), made, page }
    };
    let reading = std::thread::Builder::new().stack_size(STACK).spawn(work).unwrap().join().unwrap();
    assert!(started.elapsed() < TIME, "{:?}", started.elapsed());
    reading
}

/// An article between navigation and a footer.
fn article(head: &str, paragraphs: &[&str]) -> String {
    let text: String = paragraphs.iter().map(|p| format!("<p>{p}</p>")).collect();
    let links: String = (0..20).map(|i| format!("<li><a href=/{i}>Section {i}</a>")).collect();
    format!(
        "<html><head><title>The bridge is built</title>{head}</head><body><nav><ul>{links}</ul></nav>\
         <article><h1>The bridge is built</h1>{text}</article><footer>All rights reserved</footer>"
    )
}

fn linked_data(json: &str) -> String {
    article(&format!("<script type='application/ld+json'>{json}</script>"), &[PROSE, PROSE, PROSE])
}

#[test]
fn a_million_nested_elements_say_what_they_hold() {
    for element in ["<div>", "<ul><li>", "<blockquote>", "<b>", "<span class=mw-geshi>", "<table><tr><td>", "<dl><dd>"]
    {
        let got = read(element.repeat(1_000_000 / element.matches('<').count()) + PROSE);
        assert_eq!(got.main, PROSE, "{element}");
        let said = got.made.trim_start_matches(|c: char| !c.is_alphabetic()).trim_end();
        assert!(said.starts_with("The committee") && got.made.len() < 2_000, "{element}: {}", got.made);
    }
    let deep = format!("{}{PROSE}{}", "<a href=/x>".repeat(300_000), "</a>".repeat(300_000));
    assert_eq!(read(deep).made, format!("[{PROSE}](http://a.example/x)\n"));
}

#[test]
fn a_page_without_text_is_empty() {
    let empty = [
        "",
        " \n\t ",
        "<main></main>",
        "<div><p></p><br><hr></div>",
        "<script>let text = 1;</script><style>p { color: red }</style><template><p>No</template>",
        "<svg><style>.a { fill: red }</style><script>x()</script><title>Icon</title></svg>",
        "<title>Only a title</title><!-- nothing -->",
    ];
    for html in empty {
        let got = read(html.to_owned());
        assert_eq!((got.main.as_str(), got.page.text.as_str(), got.made.trim()), ("", "", ""), "{html}");
        assert!(!got.page.is_told && got.page.blocks.is_empty(), "{html}");
    }
    let picture = read("<img src=/a.png alt='A map'><img src=/b.png alt=''>".to_owned());
    assert_eq!((picture.main.as_str(), picture.made.as_str()), ("", "![A map](http://a.example/a.png)\n"));
}

#[test]
fn a_page_of_links_alone_is_all_of_them() {
    let links: String = (0..2_000).map(|i| format!("<li><a href=/p/{i}>Page number {i}</a>")).collect();
    for html in [
        format!("<ul>{links}</ul>"),
        format!("<title>All pages</title><h1>All pages</h1><main><ul>{links}</ul></main>"),
        format!("<nav><ul>{links}</ul></nav>"),
    ] {
        let got = read(html);
        assert_eq!(got.main.matches("Page number").count(), 2_000, "{}", got.page.is_told);
        assert_eq!(got.made.matches("- [Page number").count(), 2_000, "{}", &got.made[..200]);
    }
}

#[test]
fn text_from_right_to_left_and_without_spaces_is_kept_as_it_is() {
    for (sentence, language) in [
        ("委员会于星期二开会，经过长时间的辩论，决定修建这座桥。没有人料到投票结果会如此明确。", "zh"),
        (
            "委員会は火曜日に集まり、長い議論の末、橋を建てることを決めました。こんなにはっきりした結果になるとは、誰も思っていませんでした。",
            "ja",
        ),
        ("اجتمعت اللجنة يوم الثلاثاء وقررت، بعد نقاش طويل، بناء الجسر. لم يتوقع أحد أن تكون النتيجة بهذا الوضوح.", "ar"),
        ("הוועדה התכנסה ביום שלישי והחליטה, לאחר דיון ארוך, לבנות את הגשר. איש לא ציפה שהתוצאה תהיה כה ברורה.", "he"),
    ] {
        let marked = format!("<b>{sentence}</b>");
        let got = read(article("", &[sentence, &marked, sentence, sentence]));
        assert_eq!(got.main.matches(sentence).count(), 4, "{}", got.main);
        assert!(!got.main.contains("Section 3") && !got.main.contains("All rights"), "{}", got.main);
        assert!(got.made.contains(&format!("\n\n**{sentence}**\n\n")) && !got.made.contains('\\'), "{}", got.made);
        assert_eq!(got.page.facts.language.as_deref(), Some(language));
    }
}

#[test]
fn one_article_may_have_many_languages() {
    let texts = [
        PROSE,
        "Der Ausschuss traf sich am Dienstag und beschloss nach langer Debatte, die Brücke zu bauen. Niemand hatte das erwartet.",
        "委员会于星期二开会，经过长时间的辩论，决定修建这座桥。没有人料到投票结果会如此明确。",
        "اجتمعت اللجنة يوم الثلاثاء وقررت، بعد نقاش طويل، بناء الجسر. لم يتوقع أحد أن تكون النتيجة بهذا الوضوح.",
        "Комитет собрался во вторник и решил после долгих споров построить мост. Никто не ожидал такого ясного исхода.",
    ];
    let got = read(article("", &texts));
    assert_eq!(got.main, format!("The bridge is built\n{}", texts.join("\n")));
    assert_eq!(got.made, format!("# The bridge is built\n\n{}\n", texts.join("\n\n")));
}

#[test]
fn an_empty_main_element_hides_nothing() {
    let got =
        read(format!("<main id=app> <div></div></main><div class=content><h1>Bridge</h1><p>{PROSE}<p>{PROSE}</div>"));
    assert_eq!(got.main, format!("Bridge\n{PROSE}\n{PROSE}"));
    let short = read("<main></main><div>Hello, you.</div>".to_owned());
    assert_eq!((short.main.as_str(), short.made.as_str()), ("Hello, you.", "Hello, you.\n"));
}

#[test]
fn json_ld_that_lies_changes_nothing() {
    let plain = read(article("", &[PROSE, PROSE, PROSE]));
    let body = "Ten shoes that nobody will want to miss this summer. ".repeat(50);
    let lies = [
        format!(r#"{{"@type":"NewsArticle","headline":"Ten shoes","author":"A Liar","articleBody":"{body}","datePublished":"2020-01-02"}}"#),
        format!(r#"{{"@type":"NewsArticle","headline":"The bridge is built","author":"A Liar","articleBody":"{body}"}}"#),
        r#"{"@type":"Article","headline":"The bridge is built","datePublished":"99999-12-31","dateModified":"2020-13-45T99:99:99Z"}"#.to_owned(),
        r#"{"@type":"Article","headline":"The bridge is built","datePublished":{"@value":17},"author":[[["x"]],{"name":{"name":7}}]}"#.to_owned(),
        r#"{"@type":["Article",{}],"headline":null,"author":"https://a.example/@ann"}"#.to_owned(),
        "{ not json at all".to_owned(),
    ];
    for lie in &lies {
        let got = read(linked_data(lie));
        assert_eq!((&got.main, &got.made), (&plain.main, &plain.made), "{lie}");
        assert_eq!(got.page.facts, plain.page.facts, "{lie}");
    }
}

#[test]
fn json_ld_without_end_is_read_in_bounded_time() {
    let plain = read(article("", &[PROSE, PROSE, PROSE]));
    let claim = r#"{"@type":"Article","headline":"The bridge is built","datePublished":"2020-03-04"}"#;
    let text = "x".repeat(5_000_000);
    for json in [
        "[".repeat(1_000_000),
        r#"{"@graph":["#.repeat(200_000),
        format!("{}{claim}{}", "[".repeat(500_000), "]".repeat(500_000)),
        format!(r#"{{"articleBody":"{text}"}}"#),
        format!("[{}]", vec!["[]"; 1_000_000].join(",")),
        format!("[{}]", vec![r#"{"@type":"Article","headline":"Ten shoes"}"#; 50_000].join(",")),
    ] {
        let got = read(linked_data(&json));
        assert_eq!((&got.main, &got.page.facts), (&plain.main, &plain.page.facts), "{}", &json[..20]);
    }
    let scripts = format!("<script type='application/ld+json'>{claim}</script>").repeat(20_000);
    let got = read(article(&scripts, &[PROSE, PROSE, PROSE]));
    assert_eq!((got.main, got.page.facts.published.as_deref()), (plain.main, Some("2020-03-04")));
}

#[test]
fn attributes_without_end_are_not_read_again_for_every_element_below() {
    let long = "x ".repeat(500_000);
    let many = format!("<div class='{long}'>{}</div>", "<pre>f(x);</pre><dl><dt>a<dd>b</dl>".repeat(20_000));
    let got = read(many);
    assert_eq!(got.made.matches("```\nf(x);\n```").count(), 20_000);
    let spans = format!("<table><tr>{}<tr><td>a</table>", "<td colspan=60000 rowspan=60000>x".repeat(2_000));
    assert!(read(spans).made.len() < 100_000);
}
