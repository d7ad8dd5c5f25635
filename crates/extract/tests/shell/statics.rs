//! Pages that say what they say without a browser, scripts or not.

use crate::{Chance, Template};

pub(crate) const LOOKED_AT: &[Template] =
    &[blog, contact, documentation, rendered_on_the_server, frameset, with_widget];

pub(crate) const HELD_OUT: &[Template] =
    &[news_with_comments, shop, gallery, wiki, forum, short_notice, moved, directory, hydrated];

fn head(chance: &mut Chance) -> String {
    let title = chance.words(4);
    format!("<!doctype html><html><head><meta charset=utf-8><title>{title}</title>{}</head><body>", chance.trackers())
}

fn paragraphs(chance: &mut Chance, least: usize) -> String {
    let count = least + chance.below(8);
    (0..count)
        .map(|_| {
            let words = 40 + chance.below(60);
            format!("<p>{}</p>\n", chance.words(words))
        })
        .collect()
}

fn blog(chance: &mut Chance) -> String {
    let links = 5 + chance.below(20);
    format!(
        "{}<nav>{}</nav><article><h1>{}</h1>{}</article><script src=/js/theme.js></script></body></html>",
        head(chance),
        chance.links(links),
        chance.words(5),
        paragraphs(chance, 2)
    )
}

/// Hardly any text, but the links of the site.
fn contact(chance: &mut Chance) -> String {
    let links = 4 + chance.below(6);
    format!(
        "{}<nav>{}</nav><h1>Contact</h1><form action=/send method=post><input name=mail><textarea name=text></textarea></form>\
         <script>document.forms[0].mail.focus()</script></body></html>",
        head(chance),
        chance.links(links)
    )
}

fn documentation(chance: &mut Chance) -> String {
    format!(
        "{}<aside>{}</aside><main><h1>{}</h1>{}<pre><code>{}</code></pre></main><script src=/search.js></script></body></html>",
        head(chance),
        chance.links(30),
        chance.words(3),
        paragraphs(chance, 3),
        chance.words(60)
    )
}

fn rendered_on_the_server(chance: &mut Chance) -> String {
    format!(
        "{}<div id=\"__next\"><main><h1>{}</h1>{}{}</main></div><script id=\"__NEXT_DATA__\" type=\"application/json\">{{}}</script>\
         <script src=\"/_next/static/chunks/main-{}.js\" defer></script></body></html>",
        head(chance),
        chance.words(4),
        paragraphs(chance, 2),
        chance.links(6),
        chance.hash()
    )
}

fn frameset(chance: &mut Chance) -> String {
    format!(
        "<html><head><title>{}</title><script src=menu.js></script></head><frameset cols=\"20%,*\"><frame src=menu.html><frame src=main.html></frameset></html>",
        chance.words(3)
    )
}

/// An empty element for something small, in the middle of a page.
fn with_widget(chance: &mut Chance) -> String {
    format!(
        "{}<h1>{}</h1>{}<div id=\"app\"></div><noscript>Please enable JavaScript to use the calculator.</noscript>{}<script src=/calculator.js></script></body></html>",
        head(chance),
        chance.words(4),
        paragraphs(chance, 2),
        paragraphs(chance, 1)
    )
}

fn news_with_comments(chance: &mut Chance) -> String {
    format!(
        "{}{}<article>{}</article><div id=\"comments\"></div><noscript>Please enable JavaScript to view the comments.</noscript>\
         <script src=https://comments.example/embed.js></script></body></html>",
        head(chance),
        chance.links(25),
        paragraphs(chance, 3)
    )
}

fn shop(chance: &mut Chance) -> String {
    let products: String = (0..12)
        .map(|n| format!("<li><a href=/p/{n}><img src=/i/{n}.jpg alt=\"\"></a><b>{} €</b></li>", 10 + chance.below(90)))
        .collect();
    format!(
        "{}<ul>{products}</ul><div id=\"root-cart\"></div><noscript><img src=https://pixel.example/p.gif></noscript><script src=/cart.js></script></body></html>",
        head(chance)
    )
}

fn gallery(chance: &mut Chance) -> String {
    let pictures: String = (0..20).map(|n| format!("<a href=/full/{n}.jpg><img src=/thumb/{n}.jpg></a>")).collect();
    format!("{}{pictures}<script src=lightbox.js></script></body></html>", head(chance))
}

fn wiki(chance: &mut Chance) -> String {
    format!(
        "{}<div id=content>{}<table><tr><td>{}</td></tr></table></div>{}<script>mw.loader.using('site')</script></body></html>",
        head(chance),
        paragraphs(chance, 4),
        chance.words(40),
        chance.links(40)
    )
}

fn forum(chance: &mut Chance) -> String {
    let posts: String = (0..5)
        .map(|_| format!("<div class=post><b>{}</b><div>{}</div></div>", chance.words(1), chance.words(40)))
        .collect();
    format!("{}{posts}{}<script src=/vendor.js></script></body></html>", head(chance), chance.links(10))
}

/// Short, and nothing but its own text.
fn short_notice(chance: &mut Chance) -> String {
    format!("<!doctype html><title>{}</title><h1>{}</h1><p>{}</p>", chance.words(2), chance.words(3), chance.words(12))
}

fn moved(chance: &mut Chance) -> String {
    format!(
        "<html><head><title>Moved</title><meta http-equiv=\"refresh\" content=\"0; url=/{}\">{}</head><body><a href=/x>here</a></body></html>",
        chance.hash(),
        chance.trackers()
    )
}

fn directory(chance: &mut Chance) -> String {
    let links = 10 + chance.below(200);
    format!(
        "<html><head><title>Index of /</title></head><body><h1>Index of /</h1><pre>{}</pre></body></html>",
        chance.links(links)
    )
}

fn hydrated(chance: &mut Chance) -> String {
    format!(
        "{}<div id=\"app\" data-server-rendered=\"true\"><header>{}</header><section>{}</section></div>\
         <script>window.__INITIAL_STATE__={{\"user\":null}}</script><script src=\"/js/app.{}.js\"></script></body></html>",
        head(chance),
        chance.links(8),
        paragraphs(chance, 2),
        chance.hash()
    )
}
