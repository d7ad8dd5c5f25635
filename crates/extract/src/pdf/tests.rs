//! What is read of PDFs that are written here?

use crate::{Content, extract};
use orb_page::{Document, LinkKind};

/// A PDF of these objects, numbered from 1; the first is its catalogue. There is no table of them:
/// they are found all the same.
fn pdf(objects: &[&str]) -> Vec<u8> {
    let mut out = "%PDF-1.7\n".to_owned();
    for (number, object) in objects.iter().enumerate() {
        out.push_str(&format!("{} 0 obj\n{object}\nendobj\n", number + 1));
    }
    out.push_str("trailer\n<</Root 1 0 R>>\n");
    out.into_bytes()
}

/// A page with this content, with further entries and objects from 6 on.
fn page(content: &str, entries: &str, more: &[&str]) -> Document {
    let page = format!("<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 800]/Contents 5 0 R/Resources 4 0 R{entries}>>");
    let stream = format!("<</Length {}>>\nstream\n{content}\nendstream", content.len());
    let resources = "<</Font<</F<</Type/Font/Subtype/Type1/BaseFont/Courier>>/U 6 0 R>>\
        /XObject<</X 6 0 R>>/Properties<</L 6 0 R>>>>";
    let mut objects = vec![
        "<</Type/Catalog/Pages 2 0 R/OCProperties<</OCGs[6 0 R]/D<</OFF[6 0 R]>>>>>>",
        "<</Type/Pages/Count 1/Kids[3 0 R]>>",
        &page,
        resources,
        &stream,
    ];
    objects.extend_from_slice(more);
    read(&pdf(&objects))
}

fn read(bytes: &[u8]) -> Document {
    extract(&Content { bytes, mime: Some("application/pdf"), charset: None, url: "http://a.example/x.pdf" })
}

fn text(content: &str) -> String {
    page(&format!("BT /F 10 Tf {content} ET"), "", &[]).text
}

#[test]
fn words_come_from_places_not_from_the_order_of_drawing() {
    assert_eq!(text("1 0 0 1 100 700 Tm (world) Tj 1 0 0 1 60 700 Tm (hello) Tj"), "hello world");
    assert_eq!(text("1 0 0 1 60 700 Tm (hel) Tj 18 0 Td (lo) Tj"), "hello");
    assert_eq!(text("60 700 Td [(hel)-20(lo)-300(world)] TJ"), "hello world");
    assert_eq!(text("60 700 Td (below) Tj 0 50 Td (above) Tj"), "above\nbelow");
    assert_eq!(text("60 700 Td (x) Tj 3 Ts (2) Tj 0 Ts ( and) Tj"), "x2 and");
    assert_eq!(text("60 700 Td (off) Tj 1000 0 Td (paper) Tj"), "off");
}

#[test]
fn what_is_drawn_twice_is_read_once() {
    assert_eq!(text("60 700 Td (bold) Tj 0.3 0 Td (bold) Tj"), "bold");
}

#[test]
fn turned_text_is_read_along_its_own_lines() {
    assert_eq!(
        text("60 700 Td (flat words) Tj 0 1 -1 0 300 100 Tm (up) Tj 0 1 -1 0 310 100 Tm (on) Tj"),
        "flat words\nup on"
    );
}

#[test]
fn a_divided_word_has_a_hyphen_if_it_is_spelt_so_elsewhere() {
    let line = |y: u32, words: &str| format!("1 0 0 1 60 {y} Tm ({words}) Tj ");
    let lines = line(700, "who co-operate are well-") + &line(688, "known when they co-") + &line(676, "operate a lot");
    assert_eq!(text(&lines).replace('\n', " "), "who co-operate are wellknown when they co-operate a lot");
}

#[test]
fn a_table_is_read_row_by_row() {
    let cell = |x: u32, y: u32, word: &str| format!("1 0 0 1 {x} {y} Tm ({word}) Tj ");
    let rows = [("Apples", "3"), ("Pears", "14"), ("Plums", "5"), ("Nuts", "92")];
    let cells: String =
        (0..).zip(rows).map(|(i, (a, b))| cell(60, 700 - 14 * i, a) + &cell(300, 700 - 14 * i, b)).collect();
    assert_eq!(text(&cells).replace('\n', " "), "Apples 3 Pears 14 Plums 5 Nuts 92");
}

#[test]
fn a_document_says_what_its_glyphs_mean() {
    let replaced = "/Span <</ActualText(\\376\\377\\0f\\0f)>> BDC (x) Tj EMC (y) Tj";
    assert_eq!(text(&format!("60 700 Td {replaced}")), "ffy");
}

#[test]
fn what_is_written_from_right_to_left_is_read_so() {
    let map = "1 begincodespacerange <00> <ff> endcodespacerange 1 beginbfrange <61> <63> <05D0> endbfrange";
    let map = format!("<</Length {}>>\nstream\n{map}\nendstream", map.len());
    let font = "<</Type/Font/Subtype/Type1/BaseFont/Courier/ToUnicode 7 0 R>>";
    let doc = page("BT /U 10 Tf 60 700 Td (cba 12 bb) Tj ET", "", &[font, &map]);
    assert_eq!(doc.text, "\u{5D1}\u{5D1} 12 \u{5D0}\u{5D1}\u{5D2}");
}

#[test]
fn layers_that_are_off_are_not_read() {
    let content = "BT /F 10 Tf 60 700 Td (seen) Tj /OC /L BDC ( hidden) Tj EMC ( too) Tj ET";
    let doc = page(content, "", &["<</Type/OCG/Name(L)>>"]);
    assert_eq!(doc.text, "seen too");
}

#[test]
fn forms_and_the_looks_of_annotations_are_read() {
    let content = "BT /F 10 Tf 5 5 Td (inside) Tj ET";
    let form = format!("<</Subtype/Form/BBox[0 0 100 20]/Length {}>>\nstream\n{content}\nendstream", content.len());
    let field = "/Annots[<</Subtype/Widget/Rect[50 500 150 520]/AP<</N 6 0 R>>>>]";
    let doc = page("q 1 0 0 1 100 600 cm /X Do Q", field, &[&form]);
    assert_eq!(doc.text, "inside\ninside");
}

#[test]
fn links_have_the_text_under_them_and_addresses_in_the_text_are_links() {
    let link = "/Annots[<</Subtype/Link/Rect[58 695 100 712]/A<</S/URI/URI( http://b.example/ )>>>>\
        <</Subtype/Link/Rect[0 0 1 1]/A<</S/GoTo/D[0]>>>>]";
    let doc = page("BT /F 10 Tf 60 700 Td (the page, http://c.example/d and http://b.example/) Tj ET", link, &[]);
    let found: Vec<_> = doc.links.iter().map(|l| (l.kind, l.target.as_str(), l.anchor.as_str())).collect();
    let wanted = [(LinkKind::Document, "http://b.example/", "the pag"), (LinkKind::Text, "http://c.example/d", "")];
    assert_eq!(found, wanted);
}

#[test]
fn the_files_of_a_portfolio_are_named_and_read() {
    let file = |name: &str, stream: u32| format!("<</Type/Filespec/F({name})/EF<</F {stream} 0 R>>>>");
    let stream = |text: &str| format!("<</Length {}>>\nstream\n{text}\nendstream", text.len());
    let names = format!("[(a){}(x)42(b){}]", file("a.txt", 6), file("b.rtf", 7));
    let told = |kind: &str| {
        read(&pdf(&[
            &format!("<</Type/Catalog/Pages 2 0 R{kind}/Names<</EmbeddedFiles<</Kids[<</Names{names}>>]>>>>>>"),
            "<</Type/Pages/Count 1/Kids[3 0 R]>>",
            "<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 800]/Contents 4 0 R/Resources 5 0 R>>",
            &stream("BT /F 10 Tf 60 700 Td (cover) Tj ET"),
            "<</Font<</F<</Type/Font/Subtype/Type1/BaseFont/Courier>>>>>>",
            &stream("plain notes, http://a.example/n"),
            &stream("{\\rtf1 rich {\\field{\\*\\fldinst HYPERLINK \"http://b.example/\"}{\\fldrslt notes}}}"),
        ]))
    };
    assert_eq!(told("").text, "cover");
    let doc = told("/Collection<</View/D>>");
    assert_eq!(doc.text, "cover\na.txt\nplain notes, http://a.example/n\nb.rtf\nrich notes");
    let mut targets: Vec<&str> = doc.links.iter().map(|link| link.target.as_str()).collect();
    targets.sort_unstable();
    assert_eq!(targets, ["http://a.example/n", "http://b.example/"]);
}

#[test]
fn what_cannot_be_read_is_a_problem() {
    assert_eq!(read(b"%PDF-1.7\nnothing").problems[0].code, "pdf-damaged");
    let drawing_itself = page("/X Do /X Do", "", &["<</Subtype/Form/Length 11>>\nstream\n/X Do /X Do\nendstream"]);
    assert_eq!(drawing_itself.text, "");
}

#[test]
fn accents_and_letters_drawn_apart_are_put_together() {
    // As TeX draws them: the accent, back, the letter; a cedilla comes after its letter.
    assert_eq!(text("60 700 Td [(f)] TJ [<C8>600(u)] TJ (r) Tj"), "für");
    assert_eq!(text("60 700 Td [(fa) (c)600<CB>(ade)] TJ"), "façade");
    assert_eq!(text("1 0 0 1 60 702 Tm <C2> Tj 1 0 0 1 60 700 Tm (Et) Tj"), "Ét");
    assert_eq!(text("60 700 Td (a) Tj <C1> Tj (b) Tj <C1> Tj"), "a`b`");
}

#[test]
fn a_large_heading_in_the_next_column_keeps_lines_apart() {
    let left = (0..8).map(|n| format!("1 0 0 1 60 {} Tm (left column line {n}) Tj ", 700 - 12 * n));
    let right = (0..8).map(|n| format!("1 0 0 1 180 {} Tm (right side of line {n}) Tj ", 694 - 12 * n));
    let heading = "/F 18 Tf 1 0 0 1 180 644 Tm (Big) Tj /F 10 Tf ";
    let all: String = left.chain(right.filter(|line| !line.contains("line 4"))).collect();
    let read = text(&format!("{all}{heading}"));
    assert!(read.contains("left column line 4"), "{read}");
    assert!(read.find("line 7").unwrap() < read.find("right side").unwrap(), "{read}");
}

#[test]
fn comments_are_read_and_fields_that_nobody_has_drawn() {
    let notes = "/Annots[<</Subtype/Text/Rect[0 0 9 9]/Contents(a comment)>><</Subtype/Widget/Rect[0 0 9 9]/FT/Tx/V(filled in)>>\
        <</Subtype/Text/F 2/Rect[0 0 9 9]/Contents(hidden)>><</Subtype/Popup/Rect[0 0 9 9]/Contents(again)>>\
        <</Subtype/FreeText/Rect[0 0 9 9]/Contents(written)>>]";
    let doc = page("BT /F 10 Tf 60 700 Td (page) Tj ET", notes, &[]);
    assert_eq!(doc.text, "page\na comment\nfilled in\nwritten");
}

#[test]
fn the_anchor_of_a_link_is_what_is_read_there() {
    let link =
        "/Annots[<</Subtype/Link/Rect[50 690 200 720]/A<</S/URI/URI<687474703A2F2F612E6578616D706C652FC3BC>>>>>]";
    let doc = page("BT /F 10 Tf 1 0 0 1 90 700 Tm (second) Tj 1 0 0 1 60 700 Tm (one) Tj ET", link, &[]);
    assert_eq!((doc.links[0].anchor.as_str(), doc.links[0].target.as_str()), ("one second", "http://a.example/ü"));
}
