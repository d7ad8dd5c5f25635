//! Does every record come back from our deflater as it went in?

use orb_store::RecordCompressor;
use std::io::Read as _;

/// Separates two records of an input.
const BETWEEN: u8 = 0x1e;
/// Records are no longer than this, which is beyond every limit at which the deflater changes its
/// method.
const LONGEST: usize = 300 << 10;

/// Records that one deflater compresses one after the other, so that later ones use the codes that
/// earlier ones left behind. Input: records with a separator between them; the first byte of each
/// says how often the rest is repeated.
pub fn deflate(bytes: &[u8]) {
    let mut deflater = RecordCompressor::default();
    for record in bytes.split(|b| *b == BETWEEN).take(8) {
        let Some((times, rest)) = record.split_first() else { continue };
        let mut raw = rest.repeat(usize::from(*times) + 1);
        raw.truncate(LONGEST);
        check(&mut deflater, &raw);
    }
}

fn check(deflater: &mut RecordCompressor, raw: &[u8]) {
    let mut out = b"before".to_vec();
    deflater.gzip(raw, &mut out);
    let member = out.strip_prefix(b"before").unwrap_or_else(|| panic!("what stood before is gone"));
    // Blocks that do not shrink are stored, at five bytes each.
    assert!(member.len() <= raw.len() + raw.len() / 4_096 + 64, "{} bytes became {}", raw.len(), member.len());
    let mut back = Vec::with_capacity(raw.len());
    flate2::read::GzDecoder::new(member).read_to_end(&mut back).unwrap_or_else(|e| panic!("zlib-rs: {e}"));
    assert!(back == raw, "{} bytes came back as {}", raw.len(), back.len());
    // libdeflate is stricter about incomplete codes.
    let mut again = vec![0; raw.len() + 1];
    let length = libdeflater::Decompressor::new()
        .gzip_decompress(member, &mut again)
        .unwrap_or_else(|e| panic!("libdeflate: {e}"));
    assert!(again[..length] == *raw, "{} bytes came back as {length}", raw.len());
}
