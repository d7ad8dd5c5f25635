//! Are declarations believed where the page bears them out, and only there?

use crate::{MainContent, PageFacts};

fn of(html: &str) -> PageFacts {
    MainContent::of(html, false).facts
}

const TEXT: &str = "<p>The committee met on Tuesday and decided, after a long debate, to build the bridge after all.";

#[test]
fn an_article_tells_who_wrote_it_and_when() {
    let html = format!(
        r#"<html lang=en><title>The bridge is built | Gazette</title><meta property="og:site_name" content="The Gazette">
        <script type="application/ld+json">{{"@graph":[{{"@type":"WebSite","name":"x"}},{{"@type":"NewsArticle",
        "headline":"The bridge is built","author":[{{"@type":"Person","name":"Ann Smith"}}],
        "datePublished":"2020-03-04T05:06:07Z","dateModified":"2020-03-05"}}]}}</script>
        <h1>The bridge is built</h1><p class=byline>By Ann Smith</p>{TEXT}{TEXT}"#
    );
    let facts = of(&html);
    assert_eq!(facts.title.as_deref(), Some("The bridge is built"));
    assert_eq!(facts.author.as_deref(), Some("Ann Smith"));
    assert_eq!(facts.published.as_deref(), Some("2020-03-04T05:06:07Z"));
    assert_eq!(facts.modified.as_deref(), Some("2020-03-05"));
    assert_eq!((facts.site_name.as_deref(), facts.language.as_deref()), (Some("The Gazette"), Some("en")));
}

#[test]
fn what_the_page_does_not_bear_out_is_not_believed() {
    let lying = |headline: &str, author: &str, modified: &str| {
        format!(
            r#"<title>The bridge is built</title><script type="application/ld+json">{{"@type":"Article",
            "headline":"{headline}","author":"{author}","datePublished":"2020-03-04","dateModified":"{modified}"}}</script>
            <h1>The bridge is built</h1><p>By Ann Smith{TEXT}{TEXT}"#
        )
    };
    let other = of(&lying("Ten shoes for the summer", "Ann Smith", "2020-03-05"));
    assert_eq!((other.author, other.published), (None, None), "another page");
    assert_eq!(of(&lying("The bridge is built", "Admin Istrator", "2020-03-05")).author, None, "nobody mentions him");
    assert_eq!(of(&lying("The bridge is built", "https://a.example/ann", "2020-03-05")).author, None, "no name");
    assert_eq!(of(&lying("The bridge is built", "Ann Smith", "2019-03-05")).modified, None, "before it was published");
    assert_eq!(of(&lying("The bridge is built", "Ann Smith", "2020-02-31")).modified, None, "no day");
}

#[test]
fn without_declarations_the_text_near_the_headline_tells() {
    let html = format!(
        "<title>Die Brücke steht</title><h1>Die Brücke steht</h1><div class=author>Von Anna Schmidt</div>\
        <div>4. März 2020</div>{TEXT}{TEXT}"
    );
    let facts = of(&html);
    assert_eq!(facts.author.as_deref(), Some("Anna Schmidt"));
    assert_eq!(facts.published.as_deref(), Some("2020-03-04"));
}

#[test]
fn broken_and_endless_declarations_tell_nothing() {
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    for script in ["", "{", "nonsense", "{\"@type\":\"Article\",\"author\":{\"name\":{\"name\":1}}}", deep.as_str()] {
        let html = format!("<script type=application/ld+json>{script}</script><p>x");
        assert_eq!(of(&html).author, None);
    }
}

#[test]
fn what_the_markup_calls_an_author_near_the_headline_is_one() {
    let of = |byline: &str| {
        of(&format!("<title>The bridge is built</title><h1>The bridge is built</h1>{byline}{TEXT}{TEXT}"))
    };
    for (byline, author) in [
        ("<div class=meta>By <a rel=author href=/ann>Ann</a> | 516 views</div>", Some("Ann")),
        (
            "<div><span class=post-author>By Ann Smith</span> <span>516 views</span> <span>3 comments</span></div>",
            Some("Ann Smith"),
        ),
        ("<div>Von <span itemprop=author><span itemprop=name>Anna Schmidt</span></span></div>", Some("Anna Schmidt")),
        ("<div class=comment-author>Bob Miller says:</div>", None),
        ("<div class=author-nav><a class=author-link href=/me>Your account</a></div>", None),
        ("<div id=comments class=comments><p><a rel=author href=/b>Bob Miller</a></p></div>", None),
    ] {
        assert_eq!(of(byline).author.as_deref(), author, "{byline}");
    }
}

#[test]
fn the_clock_of_a_site_and_the_days_of_a_list_are_no_publication() {
    let head = "<header class=site><a href=/>Gazette</a> Monday, 2 November 2026<nav><a href=/a>A</a></nav></header>";
    let rows = "<table><tr><td>a.tgz<td>2001-02-03 10:00<tr><td>b.tgz<td>2001-02-04 10:00</table>";
    let profile = "<dl><dt>captain<dd>Joined: May 1, 2012</dl>";
    for (before, after, day) in [
        (head, "", None),
        (head, "<p class=date>4 March 2020</p>", Some("2020-03-04")),
        ("", rows, None),
        ("", profile, None),
        ("", "<ul class=entry-meta><li>4 March 2020<li>3 comments</ul>", Some("2020-03-04")),
    ] {
        let html = format!(
            "<title>The bridge is built</title><body>{before}<main><h1>The bridge is built</h1>{after}{TEXT}{TEXT}</main>"
        );
        assert_eq!(of(&html).published.as_deref(), day, "{before}{after}");
    }
}

#[test]
fn the_name_of_a_manual_is_not_the_title_of_its_pages() {
    for (html, title) in [
        (
            "<title>mod_sed - Fast Server Version 2</title><div>Fast Server Version 2</div><h1>Module mod_sed</h1>",
            "Module mod_sed",
        ),
        (
            "<title>Cluster | Runner v18 Documentation</title><h1>Runner v18 documentation</h1><h2>Cluster</h2>",
            "Cluster",
        ),
        ("<title>Lists (Api 17)</title><div>Api 17</div><h1>Class Lists</h1>", "Class Lists"),
        (
            "<title>Gazette: The bridge is built</title><h1>Gazette</h1><h1>The bridge is built</h1>",
            "The bridge is built",
        ),
        (
            "<title>The bridge is built | Gazette</title><h1>The bridge is built</h1><h2>Gazette</h2>",
            "The bridge is built",
        ),
    ] {
        assert_eq!(of(&format!("{html}{TEXT}{TEXT}")).title.as_deref(), Some(title), "{html}");
    }
}

#[test]
fn a_headline_goes_without_the_name_of_the_site_that_is_repeated_elsewhere() {
    for (title, head) in [
        ("英雄的城，有英勇的你！-新华网", "英雄的城，有英勇的你！"),
        ("The bridge is built|Gazette", "The bridge is built"),
    ] {
        let facts = of(&format!(
            "<title>{title}</title><div class=h>{head}</div><div>2020-02-19 20:29:58 Source: x</div>{TEXT}{TEXT}<div>{title}</div>"
        ));
        assert_eq!(
            (facts.title.as_deref(), facts.published.as_deref()),
            (Some(head), Some("2020-02-19T20:29:58")),
            "{title}"
        );
    }
}
