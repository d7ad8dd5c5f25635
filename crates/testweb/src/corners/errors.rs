//! Corner: which responses are permanent errors?

use super::{Corner, Fate, Spot};
use crate::reply::{Ask, Reply, WebView};
use crate::spec::Feature;

pub(super) const CORNER: Corner =
    Corner { feature: Feature::Errors, name: "errors", title: "Pages that say no", hosts: &[], spots, answer };

const STATUSES: [u16; 8] = [400, 401, 403, 404, 406, 410, 418, 451];

fn spots(_: &WebView<'_>) -> Vec<Spot> {
    STATUSES.iter().map(|status| Spot::new(format!("/errors/{status}.html"), Fate::Status(*status))).collect()
}

fn answer(_: &Ask<'_>, rest: &str, reply: &mut Reply) -> bool {
    let asked = rest.strip_suffix(".html").and_then(|number| number.parse().ok());
    let Some(status) = STATUSES.into_iter().find(|status| asked == Some(*status)) else {
        return false;
    };
    reply.page(status, "No", &format!("<p>The answer is {status}, today and tomorrow.</p>"));
    if status == 401 {
        reply.header("WWW-Authenticate", "Basic realm=\"nobody\"");
    }
    true
}
