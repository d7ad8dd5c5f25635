//! Does what we write as Markdown mean what the page meant?
//!
//! A CommonMark parser reads it back: whatever signs a text contains, it must come out as it went
//! in, with the same links, code and cells.

use orb_extract::{MarkdownRequest, markdown};
use proptest::prelude::*;
use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

const OPTIONS: Options = Options::ENABLE_TABLES.union(Options::ENABLE_STRIKETHROUGH);

fn made(html: &str) -> String {
    markdown(html, &MarkdownRequest { url: Some("http://a.example/"), only: None })
}

/// What a reader sees of Markdown, in one line.
fn read(made: &str) -> String {
    let mut out = String::new();
    for event in Parser::new_ext(made, OPTIONS) {
        match event {
            Event::Text(text) | Event::Code(text) => out.push_str(&text),
            Event::SoftBreak | Event::HardBreak | Event::Rule => out.push(' '),
            Event::InlineHtml(html) if &*html == "<br>" => out.push(' '),
            Event::InlineHtml(html) | Event::Html(html) => out.push_str(&format!("<<{html}>>")),
            Event::Start(Tag::Item | Tag::Paragraph | Tag::TableCell | Tag::CodeBlock(_)) => out.push(' '),
            Event::End(TagEnd::CodeBlock) => out.push(' '),
            _ => {}
        }
    }
    folded(&out)
}

fn folded(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;")
}

/// Texts with signs that Markdown takes for markup somewhere.
fn signs() -> impl Strategy<Value = String> {
    let pieces = [
        "a",
        "b1",
        " ",
        " ",
        "*",
        "**",
        "_",
        "__",
        "`",
        "``",
        "~",
        "~~",
        "<",
        ">",
        "<b>",
        "</i>",
        "<!--",
        "&",
        "&amp;",
        "&#35;",
        "&x",
        "[",
        "]",
        "](",
        "(",
        ")",
        "![",
        "[a]: b",
        "!",
        "#",
        "# ",
        "- ",
        "+ ",
        "1. ",
        "2) ",
        "= ",
        "---",
        "===",
        ": ",
        "|",
        "\\",
        "\\*",
        ".",
        "http://b.example/",
        ">",
        "é",
        "中",
    ];
    proptest::collection::vec(prop::sample::select(pieces.to_vec()), 0..10).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 2_000, ..ProptestConfig::default() })]

    #[test]
    fn a_paragraph_says_what_it_said(text in signs(), more in signs()) {
        let made = made(&format!("<p>{}<span>{}</span></p>", escaped(&text), escaped(&more)));
        prop_assert_eq!(read(&made), folded(&format!("{text}{more}")), "{}", made);
    }

    #[test]
    fn emphasis_loses_no_sign(before in signs(), text in signs(), after in signs()) {
        let (b, t, a) = (escaped(&before), escaped(&text), escaped(&after));
        let made = made(&format!("<p>{b}<b>{t}</b>{a}</p>"));
        prop_assert_eq!(read(&made), folded(&format!("{before}{text}{after}")), "{}", made);
    }

    #[test]
    fn code_is_what_it_was(code in signs()) {
        let inline = made(&format!("<p>x <code>{}</code> y</p>", escaped(&code)));
        prop_assert_eq!(read(&inline), folded(&format!("x {code} y")), "{}", inline);
        let block = made(&format!("<ul><li>x<pre>{}</pre></ul>", escaped(&code)));
        prop_assert_eq!(read(&block), folded(&format!("x {code}")), "{}", block);
    }

    #[test]
    fn items_and_cells_say_what_they_said(one in signs(), two in signs()) {
        let (a, b) = (escaped(&one), escaped(&two));
        let list = made(&format!("<ol><li>.{a}<li>.{b}</ol>"));
        prop_assert_eq!(read(&list), folded(&format!(".{one} .{two}")), "{}", list);
        let table = made(&format!("<table><tr><th>.{a}<th>.{b}<tr><td><code>.{a}</code><td>.{b}</table>"));
        prop_assert_eq!(read(&table), folded(&format!(".{one} .{two} .{one} .{two}")), "{}", table);
    }

    #[test]
    fn a_link_keeps_its_label_and_its_target(label in "[a-z][a-z*_`<\\]\\[!() ]{0,8}[a-z]", path in "[a-z()<>_* %]{0,8}") {
        let made = made(&format!("<p>See!<a href='/{path}'>{}</a>.</p>", escaped(&label)));
        let mut targets = Parser::new_ext(&made, OPTIONS).filter_map(|event| match event {
            Event::Start(Tag::Link { dest_url, .. }) => Some(dest_url.into_string()),
            _ => None,
        });
        let wanted = url::Url::parse("http://a.example/").unwrap().join(&format!("/{path}")).unwrap();
        let target = targets.next().and_then(|target| url::Url::parse(&target).ok());
        prop_assert_eq!(target, Some(wanted), "{}", made);
        prop_assert_eq!(read(&made), folded(&format!("See!{label}.")), "{}", made);
    }
}

#[test]
fn cells_keep_their_columns_whatever_they_span() {
    let made = made(
        "<table><tr><th rowspan=2>type<th colspan=2>size<tr><th>least<th>most<tr><td rowspan=2>int<td>16<td>64\
         <tr><td>a|b<td><ul><li>x<li>y</ul></table>",
    );
    let rows: Vec<Vec<&str>> = made.lines().map(|line| line.split(" | ").collect()).collect();
    assert!(rows.iter().all(|row| row.len() == 3), "{made}");
    assert_eq!(rows[2], ["| ", "least", "most |"], "{made}");
    assert_eq!(rows[3], ["| int", "16", "64 |"], "{made}");
    assert_eq!(rows[4], ["| ", "a\\|b", "• x<br>• y |"], "{made}");
}
