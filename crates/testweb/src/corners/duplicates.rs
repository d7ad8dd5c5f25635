//! Corner: which pages are one page under several URLs?

use super::{Corner, Spot, escaped};
use crate::prose;
use crate::reply::{Ask, Reply, WebView};
use crate::spec::Feature;

pub(super) const CORNER: Corner = Corner {
    feature: Feature::Duplicates,
    name: "duplicates",
    title: "Pages under several names",
    hosts: &[],
    spots,
    answer,
};

fn spots(_: &WebView<'_>) -> Vec<Spot> {
    let at = |name: &str| Spot::page(format!("/duplicates/{name}"));
    let mut spots: Vec<_> = (1..=5).map(|n| at(&format!("copy-{n}.html")).same("copy")).collect();
    spots.extend(
        ["article.html", "article.html?ref=feed", "article.html?ref=mail"].map(|name| at(name).same("article")),
    );
    spots.extend((1..=3).map(|n| at(&format!("near-{n}.html"))));
    // Every missing page responds with 200: a soft 404.
    spots.extend((1..=3).map(|n| at(&format!("soft/no-such-page-{n}.html")).same("soft")));
    spots
}

/// Paragraphs that make a page long enough to be compared.
fn article(first: usize) -> String {
    (first..first + 8).map(|number| String::from_utf8_lossy(prose::stock(number)).into_owned()).collect()
}

fn answer(ask: &Ask<'_>, rest: &str, reply: &mut Reply) -> bool {
    if rest.starts_with("soft/") {
        reply.page(200, "Sorry", "<p>We could not find what you look for, but we would not say so.</p>");
        return true;
    }
    let known = spots(&ask.scene).iter().any(|spot| spot.path.split('?').next() == Some(ask.path));
    if !known || rest.is_empty() {
        return false;
    }
    if let Some(number) = rest.strip_prefix("near-") {
        let inside = format!("{}<p>Printed as {}.</p>", article(40), escaped(number));
        reply.page(200, "Nearly the same", &inside);
    } else if rest == "article.html" {
        reply.page(200, "An article with three names", &article(60));
        let canonical = "<link rel=\"canonical\" href=\"/duplicates/article.html\">\n</head>";
        reply.body = String::from_utf8_lossy(&reply.body).replacen("</head>", canonical, 1).into_bytes();
    } else {
        reply.page(200, "One of five copies", &article(20));
    }
    true
}
