//! Is the main content told from what is around it, whatever the page looks like?

use orb_extract::{MainContent, MarkdownRequest, WantedPart, markdown, select};
use proptest::prelude::*;
use std::time::{Duration, Instant};

const PROSE: &str = "The committee met on Tuesday and decided, after a long debate, to build the bridge after all. \
    Nobody had expected that the vote would be so clear.";

/// A page like many: navigation, an article, related stories, comments, a footer.
fn article() -> String {
    let menu: String = (0..12).map(|i| format!("<li><a href=/{i}>Section {i}</a></li>")).collect();
    let related: String = (0..5).map(|i| format!("<li><a href=/s{i}>Another story, number {i}</a></li>")).collect();
    let prose: String = (0..6).map(|i| format!("<p>{PROSE} That was point {i}.</p>")).collect();
    format!(
        "<html lang=en><head><title>The bridge is built | Gazette</title></head><body>\
        <header class=site-header><a href=/>Gazette</a><nav><ul>{menu}</ul></nav></header>\
        <main><article><h1>The bridge is built</h1><div class=entry-content>{prose}\
        <h2>What comes next</h2><p>{PROSE}</p><ul><li>{PROSE}</li><li>{PROSE}</li></ul></div>\
        <div class=share-buttons><a href=x>Share on Facebook</a> <a href=y>Tweet</a></div></article>\
        <aside class=related><h3>Related stories</h3><ul>{related}</ul></aside>\
        <section id=comments class=comments><h3>2 comments</h3><div class=comment><p>I do not think so at all.</p></div></section></main>\
        <div class=cookie-notice>We use cookies to improve your experience. <button>Accept</button></div>\
        <footer class=site-footer><p>© 2020 Gazette. All rights reserved.</p></footer></body></html>"
    )
}

#[test]
fn an_article_is_told_from_navigation_comments_and_notices() {
    let html = article();
    let page = MainContent::of(&html, false);
    assert!(page.is_told);
    let text = page.main_text();
    for belongs in ["That was point 0.", "That was point 5.", "What comes next", PROSE] {
        assert!(text.contains(belongs), "{belongs} is missing in\n{text}");
    }
    let around = page.around_text();
    for other in ["Section 3", "Another story, number 4", "We use cookies", "All rights reserved", "Share on Facebook"]
    {
        assert!(!text.contains(other), "{other} is in\n{text}");
        assert!(around.contains(other), "{other} is nowhere");
    }
}

#[test]
fn a_reference_keeps_its_programs_and_short_entries() {
    let entry = |i: usize| {
        let program = format!("<div class=highlight><pre>OPTION_{i} = {{'key': [{i}, f(x)]}}</pre></div>");
        format!(
            "<div class=section><h3><code>OPTION_{i}</code></h3><p>Default: <code>{i}</code></p><p>{PROSE} {PROSE} {PROSE} {PROSE} Example:</p>{program}</div>"
        )
    };
    let entries: String = (0..8).map(entry).collect();
    let menu: String = (0..12).map(|i| format!("<li><a href=/{i}>Section {i}</a></li>")).collect();
    let html = format!(
        "<html lang=en><head><title>Options</title></head><body><nav><ul>{menu}</ul></nav>\
         <div class=body><h1>Options</h1><p>{PROSE}</p>{entries}</div><footer><p>© 2020 Somebody</p></footer></body></html>"
    );
    let text = MainContent::of(&html, false).main_text();
    for i in 0..8 {
        let wanted = [format!("\nOPTION_{i}\n"), format!("Default: {i}"), format!("OPTION_{i} = {{'key'")];
        assert!(wanted.iter().all(|wanted| text.contains(wanted.as_str())), "{i}: {text}");
    }
    assert!(!text.contains("Section 3") && !text.contains("2020"), "{text}");
}

#[test]
fn annotations_of_a_formula_are_not_content() {
    let formula =
        "<math><semantics><mi>q</mi><annotation encoding='application/x-tex'>\\hidden</annotation></semantics></math>";
    let html = article().replace("That was point 3.", &format!("It is {formula}, point 3."));
    let text = MainContent::of(&html, false).main_text();
    assert!(text.contains("It is q, point 3.") && !text.contains("hidden"), "{text}");
}

#[test]
fn markdown_of_the_main_content_has_its_structure_and_nothing_else() {
    let html = article();
    let ranges = MainContent::of(&html, false).ranges();
    let made = markdown(&html, &MarkdownRequest { only: Some(&ranges), ..MarkdownRequest::default() });
    assert!(made.contains("## What comes next") && made.contains(PROSE), "{made}");
    assert!(!made.contains("Section 3") && !made.contains("cookies") && !made.contains("Another story"), "{made}");
}

#[test]
fn documentation_keeps_its_programs_and_declarations() {
    let html = format!(
        "<title>push_back</title><div class=nav><a href=a>Home</a> <a href=b>Index</a></div><div id=content>\
        <h1>std::vector&lt;T&gt;::push_back</h1><table class=decl><tr><td>void push_back(const T&amp; value);</td></tr>\
        <tr><td>void push_back(T&amp;&amp; value);</td></tr></table><p>Appends the given element to the end of the container.</p>\
        <h3>Parameters</h3><table><tr><td>value</td><td>the value of the element to append</td></tr></table>\
        <p>{PROSE}</p><pre>std::vector&lt;int&gt; v; v.push_back(1); assert(v.size() == 1);</pre></div>\
        <footer>© 2020</footer>"
    );
    let text = MainContent::of(&html, false).main_text();
    for belongs in ["void push_back(T&& value);", "Parameters", "the element to append", "v.push_back(1);"] {
        assert!(text.contains(belongs), "{belongs} is missing in\n{text}");
    }
}

#[test]
fn on_a_page_of_a_few_words_its_own_marks_count() {
    for (html, main) in [
        ("<nav>x</nav><main><p>a</main>", "a"),
        (
            "<title>Shop</title><nav>Menu</nav><main><h1>Tea</h1><p>A tin of it costs 20 EUR.<p>It is green.</main>",
            "Tea\nA tin of it costs 20 EUR.\nIt is green.",
        ),
        ("<div role=main>a<aside class=advertisement>Buy</aside><p>b</div><footer>c</footer>", "a\nb"),
    ] {
        let page = MainContent::of(html, false);
        assert_eq!((page.main_text().as_str(), page.is_told), (main, true), "{html}");
    }
}

#[test]
fn where_nothing_can_be_told_the_whole_page_counts() {
    for html in ["", "<p>", "<main></main>", "<nav>only this</nav>", "<p>a<p>b", "<main></main><div>Hello</div>"] {
        let page = MainContent::of(html, false);
        assert_eq!(page.main_text(), page.text, "{html}");
    }
    let links: String = (0..200).map(|i| format!("<li><a href=/{i}>Page number {i}</a></li>")).collect();
    let list = MainContent::of(&format!("<title>All pages</title><h1>All pages</h1><ul>{links}</ul>"), false);
    assert!(list.main_text().contains("Page number 7"), "{}", list.is_told);
}

#[test]
fn text_without_spaces_and_from_right_to_left_is_content_too() {
    for sentence in [
        "委员会于星期二开会，经过长时间的辩论，决定修建这座桥。没有人料到投票结果会如此明确。",
        "اجتمعت اللجنة يوم الثلاثاء وقررت، بعد نقاش طويل، بناء الجسر. لم يتوقع أحد أن تكون النتيجة بهذا الوضوح.",
    ] {
        let html = article().replace(PROSE, sentence);
        let text = MainContent::of(&html, false).main_text();
        assert!(text.contains(sentence) && !text.contains("Section 3"), "{text}");
    }
}

#[test]
fn what_lies_beyond_the_limits_is_no_text_but_its_change_is_seen() {
    let page = |end: &str| format!("<main>{}</main><p>{end}", format!("<p>{PROSE}</p>").repeat(20_000));
    let main = |html: &str| select(html, &WantedPart { main: true, ..WantedPart::default() }).blocks;
    let (one, other) = (page("one"), page("two"));
    assert_ne!(main(&one).last(), main(&other).last());
    let read = MainContent::of(&one, false);
    assert!(read.text.ends_with("so clear.") && read.text.len() <= 3 << 20);
    assert_eq!(read.blocks.last().map(|b| b.text.end), Some(read.text.len()));
}

#[test]
fn hostile_pages_take_bounded_time() {
    let start = Instant::now();
    for html in [
        "<div>".repeat(1_000_000) + PROSE,
        "<p class=comment>".repeat(300_000) + PROSE,
        "<ul><li>".repeat(300_000) + PROSE,
        format!("<div class='{}'>{PROSE}</div>", "article ".repeat(300_000)),
        "<p>a<table><tr><td>b".repeat(100_000),
        "x ".repeat(2_000_000),
        "<meta name=author content=x>".repeat(300_000),
    ] {
        let page = MainContent::of(&html, false);
        let _ = (page.main_text(), page.ranges());
    }
    // Linear work of some 30 MB; a quadratic path takes hours.
    assert!(start.elapsed() < Duration::from_secs(120));
}

/// Fragments of pages.
const PIECES: [&str; 16] = [
    "<p>",
    "</p>",
    "<div class=content>",
    "</div>",
    "<ul><li>",
    "</ul>",
    "<table><tr><td>",
    "</table>",
    "<main>",
    "<aside>",
    "word and another. ",
    "<a href=x>link</a>",
    "<template>",
    "<svg><style>",
    "<pre>x = f(y);</pre>",
    "<img src=i>",
];

proptest! {
    #[test]
    fn whatever_the_markup_the_blocks_are_those_of_the_page(picks in proptest::collection::vec(0..PIECES.len(), 0..40)) {
        let html: String = picks.iter().map(|i| PIECES[*i]).collect();
        let page = MainContent::of(&html, false);
        let lines: Vec<_> = page.blocks.iter().map(|b| &page.text[b.text.clone()]).collect();
        prop_assert_eq!(lines.join("\n"), page.text.as_str());
        prop_assert!(page.blocks.windows(2).all(|two| two[0].source.end <= two[1].source.start));
        prop_assert!(page.is_told || page.blocks.iter().all(|b| b.is_main));
        prop_assert!(page.ranges().windows(2).all(|two| two[0].end <= two[1].start));
        prop_assert_eq!(&page, &MainContent::of(&html, false));
    }
}

#[test]
fn the_page_of_a_shop_is_its_product_and_not_its_notice_about_cookies() {
    let html = "<title>Brass lamp - Ship shop</title><div class=cookie-banner><p>We use cookies to improve your experience. \
        By continuing you agree to our policy and to the use of your data by our partners.</p></div><nav><a href=/a>Bells</a></nav>\
        <div class=product><h1>Brass lamp</h1><div class=price>49.90</div><div>In stock</div><ul><li>Solid brass<li>30 cm</ul>\
        <div class=tab-specs><table><tr><th>Weight<td>1.2 kg</table></div></div>\
        <div class=related-products><ul><li><a href=/x>Copper lamp</a> 39.90</ul></div><footer>Subscribe now</footer>";
    let text = MainContent::of(html, false).main_text();
    assert_eq!(text, "Brass lamp\n49.90\nIn stock\nSolid brass\n30 cm\nWeight 1.2 kg");
}

#[test]
fn the_description_of_an_interface_keeps_its_tables_and_names_without_any_program() {
    let rows: String =
        (0..6).map(|i| format!("<div><code>int</code></div><div><code>method{i}(int a)</code></div>")).collect();
    let html = format!(
        "<title>Spliterators</title><body><div class=top-nav id=navbar-top><ul><li><a href=a>Overview</a><li><a href=b>Index</a></ul></div>\
         <main><h1>Class Spliterators</h1><div class=signature>public class <code>Spliterators</code></div><p>{PROSE} {PROSE}</p>\
         <h2>Methods</h2><div class=summary-table>{rows}</div><dl><dt>Returns:<dd>the <code>estimate</code> or <code>MAX</code></dl>\
         <div class=deprecation-block><div class=deprecation-comment>Does not work.</div></div></main><footer><p>Copyright</footer>"
    );
    let text = MainContent::of(&html, false).main_text();
    for belongs in ["public class Spliterators", "method5(int a)", "Returns:", "the estimate or MAX", "Does not work."]
    {
        assert!(text.contains(belongs), "{belongs} is missing in\n{text}");
    }
    assert!(!text.contains("Overview") && !text.contains("Copyright"), "{text}");
}

#[test]
fn all_stories_of_a_series_belong_to_a_page() {
    let teaser = |i: usize| {
        format!(
            "<div class=teaser><h2><a href=/{i}>Story {i}</a></h2><p>A short teaser of story number {i} that goes on.</p></div>"
        )
    };
    let teasers: String = (0..8).map(teaser).collect();
    let menu: String = (0..5).map(|i| format!("<li><a href=/m{i}>Menu {i}</a>")).collect();
    let html = format!(
        "<title>Front</title><body><header><a href=/>Gazette</a><nav><ul>{menu}</ul></nav></header><main><h1>Front</h1>{teasers}</main>\
         <aside class=sidebar><ul><li><a href=/1>Ten walks along the coast</a><li><a href=/2>Museum opens</a></ul></aside><footer>© 2026</footer>"
    );
    let text = MainContent::of(&html, false).main_text();
    assert!((0..8).all(|i| text.contains(&format!("story number {i} "))), "{text}");
    assert!(!text.contains("Menu 3") && !text.contains("Ten walks"), "{text}");
}

/// Documentation of nested sections, one of which is on comments.
fn language_reference() -> String {
    let section = |id: &str, title: &str| {
        format!(
            "<section id={id}><h2>{title}</h2><p>{PROSE} In <code>{id}</code>:</p><pre>x_{id} = f({{'{id}': [1, 2]}})  # {title}</pre></section>"
        )
    };
    let sections: String = ["lines", "comments", "related-names", "strings"].map(|id| section(id, id)).concat();
    let menu: String = (0..12).map(|i| format!("<li><a href=/{i}><code>f_{i}(x)</code></a></li>")).collect();
    format!(
        "<title>Lexical analysis</title><div class=top-navbar><ul>{menu}<li><b><code>lexical::analysis(x, y)</code></b></ul></div>\
         <div class=body role=main><section id=lexical-analysis><h1>Lexical analysis</h1>\
         <aside class=sidebar><p>Tutorial</p><p>There is an introduction. It is easier to read than this page.</p></aside><p>{PROSE}</p>{sections}</section></div>"
    )
}

#[test]
fn a_section_of_documentation_on_comments_is_no_section_of_comments() {
    let text = MainContent::of(&language_reference(), false).main_text();
    for id in ["lines", "comments", "related-names", "strings"] {
        assert!(text.contains(&format!("In {id}:")) && text.contains(&format!("x_{id} =")), "{id}: {text}");
    }
    assert!(text.contains("There is an introduction.") && !text.contains("f_3"), "{text}");
    assert!(!text.contains("lexical::analysis"), "{text}");
}

#[test]
fn one_long_program_is_not_the_page_of_a_reference() {
    let rows: String =
        (0..20).map(|i| format!("<tr><td><a href=/{i}>function_{i}</a><td>does what number {i} does</tr>")).collect();
    let synopsis: String = (0..200).map(|i| format!("    template<class T> T function_{i}(T* a, T* b);\n")).collect();
    let html = format!(
        "<title>Header algorithm</title><div id=menu><a href=a>Home</a></div><div id=content><h1>Header algorithm</h1>\
         <p>{PROSE}</p><h3>Functions</h3><table>{rows}</table><h3>Synopsis</h3><div class=source><pre>{synopsis}</pre></div></div><footer>© 2020</footer>"
    );
    let text = MainContent::of(&html, false).main_text();
    for belongs in ["function_7 does what number 7 does", "T function_150(T* a, T* b);", "Functions"] {
        assert!(text.contains(belongs), "{belongs} is missing in\n{text}");
    }
    assert!(!text.contains("Home") && !text.contains("2020"), "{text}");
}

#[test]
fn the_price_of_an_offer_belongs_to_its_page() {
    let menu: String = (0..12).map(|i| format!("<li><a href=/{i}>Section {i}</a></li>")).collect();
    let html = format!(
        "<title>Brass lamp - Ship shop</title><nav><ul>{menu}</ul></nav><div id=product><div class=head><h1>Brass lamp</h1></div>\
         <form action=/cart><div class=buy><div class=cost>Each: <span itemprop=price content=49.9>49,90 EUR</span></div>\
         <div>Quantity</div></div></form><div class=text><p>{PROSE}</p><p>{PROSE}</p></div></div>\
         <div class=related-products><h3>More</h3><div>Copper lamp <span itemprop=price>39,90 EUR</span></div></div>"
    );
    let text = MainContent::of(&html, false).main_text();
    assert!(text.contains("Each: 49,90 EUR") && text.contains(PROSE) && !text.contains("39,90"), "{text}");
}
