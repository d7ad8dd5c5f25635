//! The HTML reader against html5ever's tree: on pages made to be nasty, and on endless soup.
//!
//! The reader builds no tree, so what only a tree can do is left out of the soup: tables, whose stray content moves
//! in front of them, and frame sets. A tree may hold one anchor several times where tags overlap; that a link is
//! there is what counts.

mod oracle;

use oracle::{Saying, reader, tree};
use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::RngSeed;
use std::collections::BTreeSet;

const PAGES: &[(&str, &str)] = &[
    ("attributes", include_str!("pages/attributes.html")),
    ("characters", include_str!("pages/characters.html")),
    ("comments", include_str!("pages/comments.html")),
    ("foreign", include_str!("pages/foreign.html")),
    ("links", include_str!("pages/links.html")),
    ("raw", include_str!("pages/raw.html")),
    ("soup", include_str!("pages/soup.html")),
];

/// The links as a set, the title and the text.
fn gist(saying: Saying) -> (BTreeSet<(&'static str, String)>, Option<String>, String) {
    (saying.links.into_iter().collect(), saying.title, saying.text)
}

#[test]
fn nasty_pages_say_what_their_tree_says() {
    for (name, page) in PAGES {
        let page = page.strip_prefix('\u{FEFF}').unwrap_or(page);
        assert_eq!(gist(reader(page)), gist(tree(page)), "{name}");
    }
}

/// Pieces of pages; `#` becomes a target of its own.
const PIECES: &[&str] = &[
    "<a href=#>",
    "</a>",
    "<a href='#'>t</a>",
    "<a name=x>",
    "<A HREF=\"#\" rel=nofollow>",
    "<area href=#>",
    "text ",
    " ",
    "\n",
    "&amp;",
    "&lt",
    "&notit;",
    "é😀",
    "<p>",
    "</p>",
    "<div class=\"c\">",
    "</div>",
    "<b>",
    "</b>",
    "<i>",
    "</i>",
    "<ul>",
    "<li>",
    "</ul>",
    "<h1>",
    "</h1>",
    "<h2>",
    "<br>",
    "<br/>",
    "</br>",
    "<hr>",
    "<img src=# alt='a'>",
    "<image src=#>",
    "<img alt=>",
    "<title>t",
    "</title>",
    "<style>x{}",
    "</style>",
    "<script>",
    "</script>",
    "<script>'<!--'",
    "<script><!--<script>",
    "-->",
    "<!--",
    "<!-- x -->",
    "<!x>",
    "<?x>",
    "</x y>",
    "</>",
    "<",
    ">",
    "\"",
    "'",
    "=",
    "/",
    "<textarea>",
    "</textarea>",
    "<xmp>",
    "</xmp>",
    "<iframe src=#>",
    "</iframe>",
    "<noembed>",
    "</noembed>",
    "<noscript>",
    "</noscript>",
    "<form action=#>",
    "</form>",
    "<input type=image src=#>",
    "<button formaction=#>",
    "</button>",
    "<select>",
    "</select>",
    "<option>",
    "<link rel=next href=#>",
    "<meta name=x>",
    "<video src=# poster=#>",
    "</video>",
    "<source src=#>",
    "<q cite=#>",
    "</q>",
    "<pre>",
    "</pre>",
    "<span title='#'>",
    "</span>",
    "<x-y z>",
    "</x-y>",
    "<body>",
    "</body>",
    "<head>",
    "</head>",
    "</html>",
    "<nobr>",
    "<font color=x>",
    "</font>",
    "<object data=#>",
    "</object>",
    "<embed src=#>",
    "<ruby>",
    "<rt>",
    "<marquee>",
    "</marquee>",
];

/// Pieces of SVG and MathML, each whole.
const FOREIGN: &[&str] = &[
    "<svg><a xlink:href=#>t</a></svg>",
    "<svg><style><a href=#>t</a></style></svg>",
    "<svg><title>x</title></svg>",
    "<svg/>",
    "<svg><![CDATA[a<b]]></svg>",
    "<svg><g><p>t",
    "<svg><foreignObject><p>t<style><a href=#></style></p></foreignObject></svg>",
    "<math><mi>x</mi><mo>y</mo></math>",
    "<math><style><a href=#>t</a></style></math>",
    "<svg><font>t</font><font size=1>u",
    "<math><annotation-xml encoding=text/html><b>t</b></annotation-xml></math>",
    "<![CDATA[x]]>",
    "<svg><image href=# /></svg>",
    "<svg><script>a<b></b></script></svg>",
    "<svg><desc><a href=#>t</a></desc></svg>",
];

/// Pieces joined, every `#` a target of its own.
fn page(pieces: &[&str]) -> String {
    let mut page = String::from("<!DOCTYPE html><body>");
    let mut number = 0;
    for piece in pieces {
        for (i, part) in piece.split('#').enumerate() {
            if i > 0 {
                page.push_str(&format!("u{number}"));
                number += 1;
            }
            page.push_str(part);
        }
    }
    page
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, rng_seed: RngSeed::Fixed(7), ..ProptestConfig::default() })]

    #[test]
    fn soup_says_what_its_tree_says(pieces in prop::collection::vec(select(PIECES), 0..60)) {
        let page = page(&pieces);
        prop_assert_eq!(gist(reader(&page)), gist(tree(&page)), "{}", page);
    }

    #[test]
    fn soup_with_foreign_pieces_says_what_its_tree_says(
        pieces in prop::collection::vec(prop_oneof![select(FOREIGN), select(&["<a href=#>t</a>", "<p>", "text", "<style>x</style>", "<br>"][..])], 0..20)
    ) {
        let page = page(&pieces);
        prop_assert_eq!(gist(reader(&page)), gist(tree(&page)), "{}", page);
    }

    #[test]
    fn soup_with_characters_gone_or_added_says_what_its_tree_says(
        pieces in prop::collection::vec(select(PIECES), 0..40),
        changes in prop::collection::vec((any::<prop::sample::Index>(), select(&["", "<", ">", "\"", "'", "-", "!", "/", "=", " ", "a", "&", ";"][..])), 0..10),
    ) {
        let mut page = page(&pieces);
        for (index, put) in changes {
            let at = page.char_indices().map(|(i, _)| i).nth(index.index(page.chars().count())).unwrap_or(0);
            let end = at + page[at..].chars().next().map_or(0, char::len_utf8);
            page.replace_range(at..end, put);
        }
        prop_assume!(!page.contains("<frame"));
        prop_assert_eq!(gist(reader(&page)), gist(tree(&page)), "{}", page);
    }
}
