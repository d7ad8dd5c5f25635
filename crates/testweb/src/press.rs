//! How are pages compressed at the rate they are requested?
//!
//! Compressing 20 kB takes longer than everything else that is done for a request. But most of a
//! plain page comes from the stock of prose, and a deflate stream can be assembled from pieces: a
//! full flush ends on a byte boundary and resets the window (RFC 1951, zlib's manual on
//! `Z_FULL_FLUSH`). So each piece of prose is compressed once, and a page costs the compression of
//! its head, links and footer, and one checksum.

use crate::prose::{self, STOCK};
use crate::reply::Filler;
use flate2::{Compress, Compression, Crc, FlushCompress};
use std::sync::LazyLock;

/// Magic number, deflate, no flags, no time, no hint, unknown system.
const GZIP_HEAD: [u8; 10] = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff];
/// An empty final block of a deflate stream.
pub(crate) const LAST_BLOCK: [u8; 2] = [3, 0];

static PIECES: LazyLock<Vec<Vec<u8>>> = LazyLock::new(|| {
    let mut compress = Compress::new(Compression::new(9), false);
    (0..STOCK).map(|number| piece(&mut compress, prose::stock(number), FlushCompress::Full)).collect()
});

/// Compresses all of `bytes` and appends to `out`.
fn append(compress: &mut Compress, bytes: &[u8], flush: FlushCompress, out: &mut Vec<u8>) {
    let start = compress.total_in();
    loop {
        out.reserve(bytes.len() / 2 + 256);
        let done = (compress.total_in() - start) as usize;
        let rest = bytes.get(done..).unwrap_or_default();
        // The stream is in a good state, and there is capacity: nothing can fail.
        let ended = compress.compress_vec(rest, out, flush).is_err();
        let all = compress.total_in() - start == bytes.len() as u64;
        if ended || (all && out.len() < out.capacity()) {
            break;
        }
    }
}

fn piece(compress: &mut Compress, bytes: &[u8], flush: FlushCompress) -> Vec<u8> {
    let mut out = Vec::new();
    compress.reset();
    append(compress, bytes, flush, &mut out);
    out
}

/// The CRC-32 of gzip and PNG.
pub(crate) fn crc(bytes: &[u8]) -> u32 {
    let mut crc = Crc::new();
    crc.update(bytes);
    crc.sum()
}

/// Bytes as a zlib stream.
pub(crate) fn deflate(bytes: &[u8]) -> Vec<u8> {
    piece(&mut Compress::new(Compression::new(6), true), bytes, FlushCompress::Finish)
}

/// Bytes as a gzip file.
pub(crate) fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    Press::default().gzip(bytes, &Filler { start: bytes.len(), end: bytes.len(), ..Filler::default() }, &mut out);
    out
}

/// Compresses one body after another.
pub(crate) struct Press(Compress);

impl Default for Press {
    fn default() -> Self {
        Self(Compress::new(Compression::new(1), false))
    }
}

impl Press {
    /// Appends `body` as a gzip file, reusing the compressed pieces of its filler.
    pub(crate) fn gzip(&mut self, body: &[u8], filler: &Filler, out: &mut Vec<u8>) {
        out.extend_from_slice(&GZIP_HEAD);
        self.0.reset();
        let (head, foot) = (body.get(..filler.start), body.get(filler.end..));
        append(&mut self.0, head.unwrap_or(body), FlushCompress::Full, out);
        for number in &filler.pieces {
            out.extend_from_slice(PIECES.get(usize::from(*number)).map_or(&[], Vec::as_slice));
        }
        append(&mut self.0, foot.unwrap_or_default(), FlushCompress::Full, out);
        out.extend_from_slice(&LAST_BLOCK);
        out.extend(crc(body).to_le_bytes());
        out.extend((body.len() as u32).to_le_bytes());
    }
}

/// A gibibyte of zeros as a gzip file: a beginning, a middle to be sent `MIDDLES` times, and an
/// end.
pub(crate) struct Bomb {
    pub(crate) head: &'static [u8],
    pub(crate) middle: Vec<u8>,
    pub(crate) end: Vec<u8>,
}

/// How often the middle of the bomb is sent; each is one mebibyte.
pub(crate) const MIDDLES: usize = 1_024;

/// A gzip file of a prefix and a gibibyte of one byte. Its checksum is wrong, but nobody reads that
/// far.
pub(crate) fn bomb(start: &[u8], byte: u8) -> Vec<u8> {
    let mut compress = Compress::new(Compression::new(9), false);
    let start = piece(&mut compress, start, FlushCompress::Full);
    let middle = piece(&mut compress, &vec![byte; 1 << 20], FlushCompress::Full);
    [&GZIP_HEAD, start.as_slice(), &middle.repeat(MIDDLES), &LAST_BLOCK, &[0; 8]].concat()
}

/// The bomb, built once.
pub(crate) static BOMB: LazyLock<Bomb> = LazyLock::new(|| {
    let zeros = vec![0; 1 << 20];
    let middle = piece(&mut Compress::new(Compression::new(9), false), &zeros, FlushCompress::Full);
    let mut sum = Crc::new();
    sum.update(&zeros);
    // Each round doubles the length that the checksum covers.
    for _ in 0..MIDDLES.ilog2() {
        let mut twice = Crc::new();
        twice.combine(&sum);
        twice.combine(&sum);
        sum = twice;
    }
    let length = (MIDDLES << 20) as u32;
    let end = [LAST_BLOCK.as_slice(), &sum.sum().to_le_bytes(), &length.to_le_bytes()].concat();
    Bomb { head: &GZIP_HEAD, middle, end }
});

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::read::GzDecoder;
    use std::io::{Read, copy, sink};

    fn unzipped(bytes: &[u8]) -> Vec<u8> {
        let mut out = Vec::new();
        GzDecoder::new(bytes).read_to_end(&mut out).unwrap();
        out
    }

    #[test]
    fn a_page_put_together_from_pieces_is_whole() {
        let mut body = b"<p>head</p>".repeat(50);
        let mut filler = Filler { start: body.len(), ..Filler::default() };
        for number in [3_u16, 500, 3] {
            body.extend_from_slice(prose::stock(usize::from(number)));
            filler.pieces.push(number);
        }
        filler.end = body.len();
        body.extend(b"<p>foot</p>");
        let (mut press, mut out) = (Press::default(), Vec::new());
        for _ in 0..2 {
            out.clear();
            press.gzip(&body, &filler, &mut out);
            assert_eq!(unzipped(&out), body);
        }
    }

    #[test]
    fn anything_can_be_zipped() {
        let noise: Vec<u8> = (0..100_000_u64).map(|n| crate::chance::mix(n) as u8).collect();
        for bytes in [&b""[..], b"a", &noise] {
            assert_eq!(unzipped(&gzip(bytes)), bytes);
        }
    }

    #[test]
    fn the_bomb_is_a_valid_gibibyte() {
        let bomb = &*BOMB;
        let middles = bomb.middle.repeat(MIDDLES);
        let file = bomb.head.chain(&middles[..]).chain(&bomb.end[..]);
        assert!(middles.len() < 2 << 20);
        assert_eq!(copy(&mut GzDecoder::new(file), &mut sink()).unwrap(), 1 << 30);
    }
}
