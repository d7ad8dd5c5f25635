//! What do the images of this web look like?
//!
//! They are small, but valid.

use crate::chance::mix;
use crate::press;

/// One transparent pixel.
pub(crate) const GIF: &[u8] =
    b"GIF89a\x01\0\x01\0\x80\0\0\0\0\0\xff\xff\xff!\xf9\x04\x01\0\0\0\0,\0\0\0\0\x01\0\x01\0\0\x02\x02D\x01\0;";

/// A web with a spider in it.
pub(crate) const SVG: &[u8] =
    b"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"48\" height=\"48\" viewBox=\"0 0 48 48\">\
    <title>A web</title><path d=\"M24 2v44M2 24h44M8 8l32 32M40 8L8 40\" stroke=\"#334\" fill=\"none\"/>\
    <circle cx=\"24\" cy=\"24\" r=\"5\" fill=\"#a33\"/></svg>\n";

const SIDE: u32 = 8;

/// A PNG of 8 by 8 pixels, different for each number.
pub(crate) fn png(number: u64) -> Vec<u8> {
    let mut header = Vec::new();
    for side in [SIDE, SIDE] {
        header.extend(side.to_be_bytes());
    }
    // Eight bits per channel, true colour, and the only defined compression, filter and interlace
    // methods.
    header.extend([8, 2, 0, 0, 0]);
    let mut pixels = Vec::new();
    for row in 0..u64::from(SIDE) {
        pixels.push(0);
        for column in 0..u64::from(SIDE) {
            let [red, green, blue, ..] = mix(number * 64 + row * 8 + column).to_le_bytes();
            pixels.extend([red, green, blue]);
        }
    }
    let mut out = b"\x89PNG\r\n\x1a\n".to_vec();
    chunk(b"IHDR", &header, &mut out);
    chunk(b"IDAT", &press::deflate(&pixels), &mut out);
    chunk(b"IEND", &[], &mut out);
    out
}

fn chunk(kind: &[u8; 4], content: &[u8], out: &mut Vec<u8>) {
    out.extend((content.len() as u32).to_be_bytes());
    let start = out.len();
    out.extend_from_slice(kind);
    out.extend_from_slice(content);
    out.extend(press::crc(&out[start..]).to_be_bytes());
}
