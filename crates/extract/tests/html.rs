//! What does the HTML reader extract from pages, through the public API?

use expect_test::{Expect, expect};
use orb_extract::{Content, extract};
use orb_page::Document;
use std::fmt::Write;

fn read_as(html: &str, mime: &str) -> Document {
    extract(&Content { bytes: html.as_bytes(), mime: Some(mime), charset: None, url: "http://a.example/" })
}

fn read(html: &str) -> Document {
    read_as(html, "text/html")
}

/// The links as lines: kind, target, anchor text and `rel`.
fn links(doc: &Document) -> String {
    doc.links.iter().fold(String::new(), |mut out, l| {
        let _ = write!(out, "{} {}", l.kind, l.target);
        if !l.anchor.is_empty() {
            let _ = write!(out, " «{}»", l.anchor);
        }
        if !l.rel.is_empty() {
            let _ = write!(out, " [{}]", l.rel);
        }
        out.push('\n');
        out
    })
}

#[track_caller]
fn check(html: &str, expected: &Expect) {
    expected.assert_eq(&links(&read(html)));
}

#[test]
fn every_element_that_points_is_a_link() {
    check(
        include_str!("pages/links.html"),
        &expect![[r##"
            link app.cache
            img fav.ico [shortcut icon]
            link feed.xml «News» [alternate feed]
            link 2.html [next]
            canonical /canonical [canonical]
            link nothing
            refresh later.html
            img bg.png
            a a.html «A picture and text» [nofollow ugc]
            img in.png «A picture»
            area area.html «An area»
            img x.png
            img low.png
            cite long.html
            frame frame.html «A frame»
            object e.swf
            object o.pdf
            media v.mp4
            media p.jpg
            media v.webm
            media t.vtt
            media a.ogg
            media b.mid
            cite c.html
            cite q.html
            cite i.html
            cite d.html
            form f.cgi
            img go.png «Go»
            form other.cgi
            img div.png
            a #top «up»
            a  «self»
            a mailto:a@b.example «mail»
        "##]],
    );
}

#[test]
fn a_page_says_what_it_is() {
    let doc = read(include_str!("pages/links.html"));
    assert_eq!(doc.lang.as_deref(), Some("de-AT"));
    assert_eq!(doc.base.as_deref(), Some("/base/"));
    assert_eq!(doc.canonical.as_deref(), Some("/canonical"));
    assert_eq!(doc.description.as_deref(), Some("About this"));
    assert!(doc.robots.noindex && doc.robots.nofollow && !doc.robots.noarchive);
    let sizes: Vec<_> = doc.images.iter().map(|i| (i.src.as_str(), i.alt.as_deref(), i.width, i.height)).collect();
    assert_eq!(
        sizes,
        [
            ("in.png", Some("A picture"), None, None),
            ("x.png", None, Some(10), Some(20)),
            ("go.png", Some("Go"), None, None)
        ]
    );
    assert_eq!((doc.mime.as_str(), doc.charset.as_deref()), ("text/html", Some("UTF-8")));
}

#[test]
fn sets_styles_scripts_and_handlers_point_too() {
    check(
        "<img srcset='a.png 1x, b.png 2x' src=c.png><picture><source srcset=d.webp></picture><link rel=preload as=script href=e.js>\
        <style>@import 'f.css'; p{background:url(g.png)}</style><p style=\"background:url('h.png')\">\
        <script>var u='http://i.example/';location.href='j.html'</script><button onclick=\"window.open('k.html')\">\
        <a href=\"javascript:location='l.html'\">x</a><a href=m onclick=\"go('/n.html')\" ONCLICK=\"go('/no.html')\">\
        <link rel=preconnect href=//no.example><iframe srcdoc=\"<a href='o'>in &quot;frame&quot;</a>\"></iframe>\
        <object codebase=dir data=p.swf></object><applet codebase=/c/ code=Q.class archive='r.jar, s.jar'></applet>\
        <object><param name=movie value=t.swf><param name=quality value=high></object><img data-src=u.png>",
        &expect![[r#"
            img c.png
            img a.png
            img b.png
            img d.webp
            script e.js [preload]
            css f.css
            css g.png
            css h.png
            js http://i.example/
            js j.html
            onclick k.html
            a javascript:location='l.html' «x»
            onclick l.html
            a m
            onclick /n.html
            a o «in "frame"»
            object dir/p.swf
            object /c/Q.class
            object /c/r.jar
            object /c/s.jar
            object t.swf
            img u.png
        "#]],
    );
}

#[test]
fn what_a_click_leads_to_is_a_link_wherever_it_is_written() {
    check(
        "<tr data-href=/row/1><div data-url='http://a.example/x' data-link=y.html><span data-url=modal data-href=''>\
        <map><area href=\"javascript:go('z.html')\"></map><li onmousedown=\"show('?item=7')\"><p onclick=\"hide('menu')\">",
        &expect![[r#"
            onclick /row/1
            onclick y.html
            onclick http://a.example/x
            area javascript:go('z.html')
            onclick z.html
            onclick ?item=7
        "#]],
    );
}

#[test]
fn anchor_text_is_what_a_reader_sees_in_it() {
    check(
        "<a href=1> one <b>bold</b>\n<br>line </a><a href=2><img alt='the picture'></a><a href=3 title='a title'></a>\
        <a href=4>open <a href=5>next</a><table><tr><td><a href=6>cell</td><td>other</td></table>\
        <a href=7><table><tr><td>whole</td><td>table</td></tr></table></a>outside<a href=8><script>no</script>&lt;yes&gt;</a>\
        <a href=9>before <img alt=mid> after</a>",
        &expect![[r#"
            a 1 «one bold line»
            a 2 «the picture»
            a 3 «a title»
            a 4 «open»
            a 5 «next»
            a 6 «cell»
            a 7 «whole table»
            a 8 «<yes>»
            a 9 «before mid after»
        "#]],
    );
    let long = read(&format!("<a href=x>{}</a>", "é".repeat(2_000)));
    assert_eq!(long.links[0].anchor.chars().count(), 500);
}

#[test]
fn text_has_a_line_for_every_block() {
    let doc = read(
        "<title>T</title><body>one <i>t</i>wo<p>three\n\n  four<div>five</div>six<ul><li>a<li>b</ul><pre>x\n y</pre>\
        <table><tr><td>c1<td>c2<tr><td>d1</table><script>no</script><style>no</style><template>no</template>\
        <textarea>no</textarea><noscript>yes</noscript><br>end&nbsp;<wbr>.",
    );
    let expected = expect![[r#"
        one two
        three four
        five
        six
        a
        b
        x y
        c1 c2
        d1
        yes
        end ."#]];
    expected.assert_eq(&doc.text);
    assert_eq!(doc.title.as_deref(), Some("T"));
}

#[test]
fn headings_have_levels() {
    let doc = read("<h1>One <b>1</b></h1><h2>Two<h3>Three</h2><p>x<h6></h6>");
    let headings: Vec<_> = doc.headings.iter().map(|h| (h.level, h.text.as_str())).collect();
    assert_eq!(headings, [(1, "One 1"), (2, "Two"), (3, "Three")]);
}

#[test]
fn forms_have_their_fields() {
    let doc = read(
        "<form id=f action=' go ' method=POST enctype='multipart/form-data'><input name=q value='a&amp;b'><input type=CheckBox name=c checked>\
        <input type=hidden name=h value=1><select name=s><option value=1>one<option selected>two &amp; more<optgroup><option>three</select>\
        <textarea name=t>\n x &lt;</textarea><button name=b>Go</button></form><input name=late form=f><input name=lost>\
        <form><form action=nested><select name=m multiple><option>x</select></form>",
    );
    let form = &doc.forms[0];
    assert_eq!(
        (form.action.as_str(), form.method.as_str(), form.enctype.as_str()),
        ("go", "post", "multipart/form-data")
    );
    let fields: Vec<_> =
        form.fields.iter().map(|f| (f.name.as_str(), f.kind.as_str(), f.value.as_str(), f.checked)).collect();
    assert_eq!(
        fields,
        [
            ("q", "text", "a&b", false),
            ("c", "checkbox", "on", true),
            ("h", "hidden", "1", false),
            ("s", "select", "two & more", true),
            ("t", "textarea", " x <", false),
            ("b", "submit", "", false),
            ("late", "text", "", false),
        ]
    );
    assert_eq!(form.fields[3].options, ["1", "two & more", "three"]);
    assert_eq!((doc.forms.len(), doc.forms[1].method.as_str(), doc.forms[1].fields[0].value.as_str()), (2, "get", ""));
}

#[test]
fn frames_and_what_they_offer_instead_are_read() {
    check(
        "<frameset><frame src=a.html><noframes><body><a href=b.html>instead</a></noframes></frameset>",
        &expect![[r#"
            frame a.html
            a b.html «instead»
        "#]],
    );
}

#[test]
fn xhtml_closes_elements_with_a_slash() {
    let html = "<?xml version='1.0' encoding='utf-8'?><html xmlns='x' xml:lang='fr'><head><title/><script src='a.js'/></head>\
        <body><a href='b'/>text<![CDATA[ & <i> ]]><a href='c'>d</a></body></html>";
    let doc = read_as(html, "application/xhtml+xml");
    assert_eq!(links(&doc), "script a.js\na b\na c «d»\n");
    assert_eq!((doc.text.as_str(), doc.lang.as_deref()), ("text & <i> d", Some("fr")));
    assert_eq!(links(&read(html)), "");
}

#[test]
fn the_language_is_told_where_it_is_not_said() {
    let text = "All human beings are born free and equal in dignity and rights.";
    assert_eq!(read(&format!("<p>{text}")).lang.as_deref(), Some("en"));
    assert_eq!(read(&format!("<html lang=''><p>{text}")).lang.as_deref(), Some("en"));
    assert_eq!(read("<meta http-equiv=Content-Language content=sl><p>x").lang.as_deref(), Some("sl"));
    assert_eq!(read("<p>OK").lang, None);
}

#[test]
fn links_know_where_they_stand() {
    let html = "<p>é<a href=x>";
    assert_eq!(read(html).links[0].position as usize, html.find("<a").expect("an anchor"));
}

#[test]
fn our_own_names_in_robots_meta_count() {
    assert!(read("<meta name=Orbweaver content=nofollow>").robots.nofollow);
    assert!(!read("<meta name=otherbot content=nofollow>").robots.nofollow);
}

#[test]
fn a_charset_within_the_media_type_counts() {
    let doc =
        extract(&Content { bytes: b"<p>\xE9", mime: Some("text/html; charset=iso-8859-1"), charset: None, url: "" });
    assert_eq!(
        (doc.text.as_str(), doc.charset.as_deref(), doc.mime.as_str()),
        ("é", Some("windows-1252"), "text/html")
    );
}

#[test]
fn annotations_of_a_formula_are_not_text() {
    let formula = |annotation: &str| {
        read(&format!("<p>So <math><semantics><mi>x</mi>{annotation}</semantics></math> it is.")).text
    };
    for hidden in [
        "<annotation encoding='application/x-tex'>\\alpha</annotation>",
        "<annotation>StarMath</annotation>",
        "<annotation-xml encoding=MathML-Content><apply><ci>y</ci></apply></annotation-xml>",
        "<annotation-xml><svg><text>z</text></svg></annotation-xml>",
        "<annotation-xml><annotation>a</annotation><mi>b</mi></annotation-xml>",
    ] {
        assert_eq!(formula(hidden), "So x it is.", "{hidden}");
    }
    for shown in ["text/html", "application/xhtml+xml", "MathML-Presentation"] {
        let said = formula(&format!("<annotation-xml encoding='{shown}'><mtext>ex</mtext></annotation-xml>"));
        assert!(said.contains("ex"), "{shown}: {said}");
    }
    // Nothing is lost after one that is not closed, nor where there is no formula.
    assert_eq!(read("<math><annotation>tex</math> it is <annotation>so</annotation>").text.trim(), "it is so");
}
