//! What do furnished pages embed?
//!
//! A style sheet, a script, a logo, a tracking pixel and a few photographs on every host.

use crate::picture;
use crate::plain::PHOTOGRAPHS;
use crate::reply::Reply;

const STYLE: &[u8] = b"body { font: 1.1em/1.5 serif; max-width: 40em; margin: auto }\n\
    nav ul { list-style: none; display: flex; gap: 1em }\nfooter { background: url(/assets/dot.gif) }\n";
const SCRIPT: &[u8] = b"document.querySelectorAll('img').forEach(function (image) { image.loading = 'lazy'; });\n";

/// What every furnished host has besides photographs.
pub(crate) const FIXED: [&str; 4] = ["/assets/style.css", "/assets/site.js", "/assets/logo.svg", "/assets/dot.gif"];

/// Answers a path below `/assets/`; false if there is none.
pub(crate) fn answer(path: &str, reply: &mut Reply) -> bool {
    let Some(name) = path.strip_prefix("/assets/") else {
        return false;
    };
    match name {
        "style.css" => reply.thing("text/css", STYLE),
        "site.js" => reply.thing("text/javascript", SCRIPT),
        "logo.svg" => reply.thing("image/svg+xml", picture::SVG),
        "dot.gif" => reply.thing("image/gif", picture::GIF),
        _ => {
            let number = name.strip_prefix("photo-").and_then(|name| name.strip_suffix(".png"));
            let Some(number) =
                number.and_then(|number| number.parse::<u32>().ok()).filter(|number| *number < PHOTOGRAPHS)
            else {
                return false;
            };
            reply.thing("image/png", &picture::png(u64::from(number)));
        }
    }
    true
}
