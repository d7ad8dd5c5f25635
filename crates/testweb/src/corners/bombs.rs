//! Corner: which responses are decompression bombs?
//!
//! Zeros in every content coding, compressed twice, in fifty codings and in a hundred thousand gzip
//! members.

use super::{Corner, Fate, Spot};
use crate::press::{self, BOMB, MIDDLES};
use crate::reply::{Ask, Flow, Reply, WebView, Wire};
use crate::spec::Feature;
use std::sync::LazyLock;

pub(super) const CORNER: Corner =
    Corner { feature: Feature::Bombs, name: "bombs", title: "Small answers that are large", hosts: &[], spots, answer };

static NAMES: &[&str] = &["gzip", "br", "zstd", "deflate", "twice", "fifty", "members"];

/// 256 MiB of zeros, compressed with Brotli at level 9.
const BROTLI: &str = "\
cbffff3f002400e2b14072effff8ffff078004401c1680eefd1fffffff00900088c302d0bdffe3ffff1f001200715800\
baf77ffcffff034002200e0b40f7fe8fffff7f004800c46101e8defff1ffff0f000980382c00ddfb3ffeffff01200110\
8705a07bffc7ffff3f002400e2b00074effff8ffff078004401c1680eefd1fffffff00900088c302d0bdffe3ffff1f00\
1200715800baf77ffcffff034002200e0b40f7fe8fffff7f004800c46101e8defff1ffff0f000980382c00ddfb3ffeff\
ff012001108705a07bffc7ffff3f002400e2b00074effff8ffff078004401c1680eefd1fffffff00900088c302d0bdff\
e3ffff1f001200715800baf77ffcffff034002200e0b40f7fe8fffff7f004800c46101e8defff1ffff0f000980382c00\
ddfb3ffeffff012001108705a07bffc7ffff3f002400e2b00074effff8ffff078004401c1680eefd1fffffff00900088\
c302d0bdffe3ffff1f001200715800baf77ffcffff034002200e0b40f7fe8fffff7f004800c46101e8defff1ffff0f00\
0980382c00ddfb3ffeffff012001108705a07bff37";

/// Number of zstd blocks of 128 KiB each: half a gibibyte in total.
const ZSTD_BLOCKS: u32 = 4_096;

/// The gzip bomb, compressed once more.
static TWICE: LazyLock<Vec<u8>> =
    LazyLock::new(|| press::gzip(&[BOMB.head, &BOMB.middle.repeat(MIDDLES), &BOMB.end].concat()));

fn spots(_: &WebView<'_>) -> Vec<Spot> {
    NAMES.iter().map(|name| Spot::new(format!("/bombs/{name}.html"), Fate::Broken)).collect()
}

fn answer(_: &Ask<'_>, rest: &str, reply: &mut Reply) -> bool {
    let name = rest.strip_suffix(".html").unwrap_or_default();
    let (coding, body) = match name {
        "gzip" => {
            reply.wire = Wire::Flow(Flow::Bomb);
            return true;
        }
        "br" => ("br".to_owned(), bytes_of(BROTLI)),
        "zstd" => ("zstd".to_owned(), zstd()),
        "deflate" => ("deflate".to_owned(), [BOMB.middle.repeat(256).as_slice(), &press::LAST_BLOCK].concat()),
        "twice" => ("gzip, gzip".to_owned(), TWICE.clone()),
        "fifty" => (vec!["gzip"; 50].join(", "), press::gzip(b"<p>Fifty times, they say.</p>")),
        "members" => ("gzip".to_owned(), press::gzip(b"").repeat(100_000)),
        _ => return false,
    };
    reply.thing("text/html", &body);
    reply.header("Content-Encoding", &coding);
    true
}

/// A frame without a content size and with a window of 8 MiB, made of RLE blocks (RFC 8878,
/// 3.1.1.2).
fn zstd() -> Vec<u8> {
    let mut frame = vec![0x28, 0xb5, 0x2f, 0xfd, 0, 13 << 3];
    for block in 1..=ZSTD_BLOCKS {
        let head = (128 << 10) << 3 | 1 << 1 | u32::from(block == ZSTD_BLOCKS);
        frame.extend_from_slice(&head.to_le_bytes()[..3]);
        frame.push(0);
    }
    frame
}

fn bytes_of(hex: &str) -> Vec<u8> {
    let digit = |b: u8| char::from(b).to_digit(16).unwrap_or(0) as u8;
    hex.as_bytes().chunks_exact(2).map(|two| digit(two[0]) << 4 | digit(two[1])).collect()
}
