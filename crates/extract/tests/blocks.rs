//! Is a page's visible text split into blocks, each with the elements that contain it?

use orb_extract::{Content, Selected, WantedPart, check_selector, extract, select};
use proptest::prelude::*;

fn whole(html: &str) -> Selected {
    select(html, &WantedPart::default())
}

fn chosen(html: &str, include: &[&str], exclude: &[&str]) -> Selected {
    let owned = |texts: &[&str]| texts.iter().map(|t| (*t).to_owned()).collect::<Vec<_>>();
    select(html, &WantedPart { include: &owned(include), exclude: &owned(exclude), ..WantedPart::default() })
}

fn texts(selected: &Selected) -> Vec<&str> {
    selected.blocks.iter().map(|b| b.text.as_str()).collect()
}

fn main(html: &str) -> Vec<String> {
    let selected = select(html, &WantedPart { main: true, ..WantedPart::default() });
    selected.blocks.into_iter().map(|b| b.text).collect()
}

#[test]
fn a_page_is_its_blocks_each_in_its_place() {
    let html = "<html><head><title> The  page </title><style>p{}</style></head><body><div id=main><h1>Head</h1>\
        <p class='lead big'>One <b>two</b><p>Three<br>four<ul><li>a<li>b</ul></div><script>x()</script>\
        <my-ad id=ad-817263>Buy</my-ad><table><tr><td>1<td>2</table>end</body>";
    let page = whole(html);
    let found: Vec<_> = page.blocks.iter().map(|b| (&*b.place, b.text.as_str(), b.named)).collect();
    let expected = [
        ("title", "The page", true),
        ("div#main h1", "Head", true),
        ("p.lead.big", "One two", true),
        ("div#main p", "Three", true),
        ("div#main p", "four", true),
        ("div#main li", "a", true),
        ("div#main li", "b", true),
        ("my-ad#ad", "Buy", true),
        ("td", "1 2", false),
        ("body", "end", false),
    ];
    assert_eq!(found, expected);
    assert_eq!(page.blocks[3].path, page.blocks[4].path);
    assert_ne!(page.blocks[3].path, page.blocks[2].path);
    let again = whole(&html.replace("817263", "99"));
    assert_eq!(page.blocks, again.blocks, "digits in names are no part of a path");
}

#[test]
fn selectors_take_and_leave_out_elements() {
    let html = "<title>t</title><body><nav>menu</nav><div class=news><p>one<div class=ad>buy</div><p>two</div><p class=news>three";
    assert_eq!(texts(&chosen(html, &[".news"], &[])), ["one", "buy", "two", "three"]);
    assert_eq!(texts(&chosen(html, &[".news", ".news p"], &[".ad"])), ["one", "two", "three"]);
    assert_eq!(texts(&chosen(html, &[], &["nav", ".ad"])), ["t", "one", "two", "three"]);
    let none = chosen(html, &[".olds"], &[]);
    assert!(!none.matched && none.blocks.is_empty());
    assert!(check_selector("div > p:not(.x)").is_ok());
    for wrong in ["", ">>", "p:nope", "div["] {
        assert!(check_selector(wrong).is_err_and(|why| why.contains("not a CSS selector")), "{wrong}");
    }
}

#[test]
fn the_main_content_is_told_from_what_stands_around_it() {
    let prose = "Running text of some length, so that it counts as such.";
    let told =
        format!("<nav>Menu</nav><main><p>{prose}</p><aside>Read this too</aside></main><footer>Imprint</footer>");
    assert_eq!(main(&told), [prose]);
    let articles = format!("<div>Menu</div><article><h1>Head</h1><p>{prose}<p>{prose}</article><div>Contact</div>");
    assert_eq!(main(&articles), ["Head", prose, prose]);
    let links: String =
        (0..9).map(|i| format!("<li><a href={i}>A link with a rather long text, number {i}</a>")).collect();
    let dense = format!(
        "<div class=x><ul>{links}</ul></div><div class=y><h2>Head</h2><p>{prose}<p>{prose}<p>short</div><div class=ads>{prose}</div>"
    );
    assert_eq!(main(&dense), ["Head", prose, prose, "short"]);
    assert_eq!(main("<p>a<p>b"), ["a", "b"]);
    assert_eq!(main("<nav>only this</nav>"), ["only this"]);
}

#[test]
fn a_page_too_wild_for_selectors_is_taken_whole_and_it_is_said() {
    let deep = format!("{}<p class=x>y", "<div>".repeat(100_000));
    let taken = chosen(&deep, &["p.x"], &[]);
    assert_eq!(texts(&taken), ["y"]);
    assert!(taken.matched && taken.note.is_some_and(|n| n.contains("too deep")));
    let many = "<b></b>".repeat(30_000);
    assert!(chosen(&many, &["b ~ b"], &[]).note.is_some_and(|n| n.contains("too many")));
    assert!(chosen(&many, &["b + b"], &[]).note.is_none());
}

#[test]
fn a_change_far_behind_in_a_huge_page_is_seen() {
    let page = |end: &str| format!("{}<p>{end}", "<p>some words of no great interest".repeat(100_000));
    let (one, other) = (whole(&page("end")), whole(&page("END")));
    assert_ne!(one.blocks.last(), other.blocks.last());
    assert_eq!(one.blocks.len(), other.blocks.len());
    let lines = "<p>a".repeat(400_000);
    assert!(whole(&lines).blocks.len() <= 200_001);
}

/// Fragments of pages.
const PIECES: [&str; 34] = [
    "<p>",
    "</p>",
    "<div id=a1>",
    "</div>",
    "<li>",
    "<ul>",
    "</ul>",
    "<td>",
    "<tr>",
    "<table>",
    "</table>",
    "text ",
    "a&amp;b ",
    "<br>",
    "<b>",
    "</b>",
    "<script>",
    "</script>",
    "<title>",
    "</title>",
    "<textarea>",
    "</textarea>",
    "<svg>",
    "</svg>",
    "<desc>",
    "<template>",
    "</template>",
    "<a href=x>",
    "</a>",
    "<select><option>",
    "</select>",
    "<plaintext>",
    "<xmp>",
    "</xmp>",
];

proptest! {
    #[test]
    fn blocks_say_what_the_text_says(picks in proptest::collection::vec(0..PIECES.len(), 0..60)) {
        let html: String = picks.iter().map(|&i| PIECES[i]).collect();
        let content = Content { bytes: html.as_bytes(), mime: Some("text/html"), charset: Some("utf-8"), url: "http://a.example/" };
        let blocks = whole(&html).blocks;
        let said: Vec<_> = blocks.iter().filter(|b| &*b.place != "title").map(|b| b.text.as_str()).collect();
        prop_assert_eq!(said.join("\n"), extract(&content).text);
    }

    #[test]
    fn anything_can_be_chosen_from_anything(html in "(<[a-z/!]{1,3}[ =\"']?>?|[a-z& ]){0,200}", selector in "[a-z*.#\\[\\]:~>+() ]{0,12}") {
        let _ = check_selector(&selector);
        let selected = chosen(&html, &[selector.as_str()], &["b"]);
        prop_assert!(selected.blocks.iter().all(|b| !b.text.is_empty()));
        let _ = main(&html);
    }
}
