//! Which files do pages load?
//!
//! One style sheet and one script, compiled in, and those of the map. Their names hold a digest of
//! their content, so that browsers may keep them for ever and a new version is loaded at once. No
//! request names a file: what is served is in a table.

use crate::gate::{gzip, takes_gzip};
use crate::problem::{Handled, ProblemDetails};
use crate::request::{AdmittedRequest, typed};
use crate::routes::{Right, RouteRow};
use bytes::Bytes;
use flate2::Compression;
use http::header::{CACHE_CONTROL, CONTENT_ENCODING, HeaderValue, VARY};
use orb_answers::DRAWING_SCRIPTS;
use sha2::{Digest as _, Sha256};
use std::sync::LazyLock;

pub(crate) const ROUTES: &[RouteRow] = &[RouteRow::get(
    "/assets/{name}",
    Right::Open,
    |request| Box::pin(send(request)),
    "A style sheet or script of the pages",
)];

/// A file that pages load.
struct Asset {
    path: String,
    kind: &'static str,
    text: String,
    packed: Bytes,
}

const STYLE: &str = "text/css; charset=utf-8";
const SCRIPT: &str = "text/javascript; charset=utf-8";

impl Asset {
    fn new(stem: &str, ending: &str, kind: &'static str, text: &str) -> Self {
        let digest = Sha256::digest(text.as_bytes());
        let short = u64::from_be_bytes(digest[..8].try_into().unwrap_or_default());
        let packed = gzip(text.as_bytes(), Compression::best());
        Self { path: format!("/assets/{stem}.{short:016x}.{ending}"), kind, text: text.to_owned(), packed }
    }
}

/// All of them.
static ASSETS: LazyLock<[Asset; 5]> = LazyLock::new(|| {
    [
        Asset::new("style", "css", STYLE, include_str!("style.css")),
        Asset::new("orb", "js", SCRIPT, include_str!("orb.js")),
        Asset::new("map", "css", STYLE, include_str!("map.css")),
        Asset::new("map", "js", SCRIPT, include_str!("map.js")),
        // What draws the same graph in a file of its own (orb graph export html).
        Asset::new("drawing", "js", SCRIPT, &DRAWING_SCRIPTS.concat()),
    ]
});

/// The path of the style sheet.
pub(crate) fn style() -> &'static str {
    &ASSETS[0].path
}

/// The path of the script.
pub(crate) fn script() -> &'static str {
    &ASSETS[1].path
}

/// The paths of what the map needs besides: its style, its script and what draws.
pub(crate) fn map() -> [&'static str; 3] {
    [&ASSETS[2].path, &ASSETS[3].path, &ASSETS[4].path]
}

async fn send(request: AdmittedRequest) -> Handled {
    let path = request.parts.uri.path();
    let asset = ASSETS.iter().find(|asset| asset.path == path);
    let asset = asset.ok_or_else(|| ProblemDetails::not_found("there is no such file"))?;
    let is_packed = takes_gzip(&request.parts.headers);
    let mut response = match is_packed {
        true => typed(asset.kind, asset.packed.clone()),
        false => typed(asset.kind, asset.text.as_str()),
    };
    if is_packed {
        response.headers_mut().insert(CONTENT_ENCODING, HeaderValue::from_static("gzip"));
    }
    response.headers_mut().insert(VARY, HeaderValue::from_static("accept-encoding"));
    let forever = HeaderValue::from_static("public, max-age=31536000, immutable");
    response.headers_mut().insert(CACHE_CONTROL, forever);
    Ok(response)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn style_and_script_are_small() {
        let sum: usize = ASSETS[..2].iter().map(|asset| asset.text.len()).sum();
        assert!(sum <= 40_000, "{sum} bytes");
        let with_map: usize = ASSETS.iter().map(|asset| asset.text.len()).sum();
        assert!(with_map <= 90_000, "{with_map} bytes");
        let packed: usize = ASSETS[..2].iter().map(|asset| asset.packed.len()).sum();
        assert!(packed <= 15_000, "{packed} bytes");
    }
}
