//! Compound files, rich texts, films, mails, pictures and sounds that are out to harm their reader.

use crate::HostileFile;
use flate2::Compression;
use flate2::write::ZlibEncoder;
use std::io::Write as _;
use std::process::{Command, Stdio};

const SECTOR: usize = 512;
const END: u32 = 0xFFFF_FFFE;

/// A compound file with one stream of these bytes, as Word names it: the header, the table, the
/// directory, the content.
fn compound(content: &[u8], claimed: u32) -> Vec<u8> {
    let sectors = content.len().div_ceil(SECTOR);
    let mut out = b"\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1".to_vec();
    out.resize(SECTOR, 0);
    let mut put = |at: usize, value: u32| out[at..at + 4].copy_from_slice(&value.to_le_bytes());
    put(24, 0x0003_003E);
    put(28, 0x0009_FFFE);
    put(32, 6);
    // One sector of the table, the directory behind it, no mini stream, no further table.
    for (at, value) in [(44, 1), (48, 1), (56, 4_096), (60, END), (68, END), (76, 0)] {
        put(at, value);
    }
    (80..SECTOR).step_by(4).for_each(|at| put(at, u32::MAX));
    let mut table = vec![0xFFFF_FFFD, END];
    table.extend((0..sectors).map(|n| if n + 1 == sectors { END } else { u32::try_from(n + 3).unwrap() }));
    table.resize(SECTOR / 4, u32::MAX);
    out.extend(table.iter().flat_map(|next| next.to_le_bytes()));
    out.extend(directory("Root Entry", 5, 1, (END, 0)));
    out.extend(directory("WordDocument", 2, u32::MAX, (2, claimed)));
    out.resize(3 * SECTOR, 0);
    out.extend(content);
    out.resize((3 + sectors) * SECTOR, 0);
    out
}

fn directory(name: &str, kind: u8, child: u32, (start, size): (u32, u32)) -> Vec<u8> {
    let mut entry: Vec<u8> = name.encode_utf16().flat_map(u16::to_le_bytes).collect();
    let length = u16::try_from(entry.len() + 2).unwrap();
    entry.resize(128, 0);
    entry[64..66].copy_from_slice(&length.to_le_bytes());
    entry[66] = kind;
    for (at, value) in [(68, u32::MAX), (72, u32::MAX), (76, child), (116, start), (120, size)] {
        entry[at..at + 4].copy_from_slice(&value.to_le_bytes());
    }
    entry
}

/// A compound file some numbers of which were changed.
fn changed(mut file: Vec<u8>, numbers: &[(usize, u32)]) -> Vec<u8> {
    for &(at, number) in numbers {
        file[at..at + 4].copy_from_slice(&number.to_le_bytes());
    }
    file
}

fn compounds() -> Vec<HostileFile> {
    let word = "application/msword";
    let sound = || compound(&[0x20; 10 * SECTOR], 5_120);
    let table = SECTOR;
    let stream = 2 * SECTOR + 128;
    let looped: Vec<(usize, u32)> = (0..128).map(|n| (table + 4 * n, u32::try_from(n).unwrap())).collect();
    vec![
        ("table-cycle.doc", word, changed(sound(), &looped)),
        // The chain of tables leads back to its own first sector.
        ("tables-cycle.doc", word, changed(sound(), &[(68, 2), (72, u32::MAX), (2 * SECTOR + 508, 2)])),
        // A mini stream whose table is the table itself, and a stream that lies in it.
        (
            "mini-cycle.doc",
            word,
            changed(
                sound(),
                &[(60, 0), (64, 1), (2 * SECTOR + 116, 2), (2 * SECTOR + 120, 5_120), (stream + 120, 4_000)],
            ),
        ),
        ("claims.doc", word, changed(sound(), &[(stream + 120, u32::MAX)])),
        ("directory-cycle.doc", word, changed(sound(), &[(stream + 68, 1), (stream + 72, 0), (stream + 76, 1)])),
    ]
}

fn zlib(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// Three hundred megabytes of one tag, packed with LZMA as films are: the size of what follows, the
/// properties of the coder, what is packed.
fn lzma_film() -> Vec<u8> {
    let packing = "import lzma,sys;c=lzma.LZMACompressor(lzma.FORMAT_ALONE,filters=[{'id':lzma.FILTER_LZMA1}])\n\
        out=b''.join([c.compress(b'\\x40'*(1<<20)) for _ in range(300)]+[c.flush()]);sys.stdout.buffer.write(out)";
    let mut python = Command::new("python3");
    let packed = python.args(["-c", packing]).stderr(Stdio::inherit()).output().unwrap();
    assert!(packed.status.success(), "python3 packs");
    let (properties, rest) = (&packed.stdout[..5], &packed.stdout[13..]);
    let mut film = b"ZWS\x0D".to_vec();
    film.extend(((300u32 << 20) + 8).to_le_bytes());
    film.extend(u32::try_from(rest.len()).unwrap().to_le_bytes());
    film.extend(properties);
    film.extend(rest);
    film
}

fn films() -> Vec<HostileFile> {
    let flash = "application/x-shockwave-flash";
    let mut bomb = b"CWS\x09\xFF\xFF\xFF\xFF".to_vec();
    bomb.extend(zlib(&vec![0x40; 300 << 20]));
    let mut endless = b"FWS\x09\xFF\0\0\0\0\0\x01\x01\0".to_vec();
    endless.extend([0xFF, 0x03, 0xFF, 0xFF, 0xFF, 0xFF]);
    vec![("bomb.swf", flash, bomb), ("packed-bomb.swf", flash, lzma_film()), ("tag.swf", flash, endless)]
}

fn base64(bytes: &[u8]) -> Vec<u8> {
    const SIGNS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = Vec::new();
    for three in bytes.chunks(3) {
        let number = three.iter().fold(0u32, |n, b| n << 8 | u32::from(*b)) << (8 * (3 - three.len()));
        out.extend((0..4).map(|at| SIGNS[(number >> (18 - 6 * at) & 63) as usize]));
    }
    out
}

fn mails() -> Vec<HostileFile> {
    let mail = "message/rfc822";
    let head = "From: a@a.example\r\nTo: b@a.example\r\nSubject: s\r\nMIME-Version: 1.0\r\n";
    let mut nested = head.to_owned();
    for n in 0..10_000 {
        nested.push_str(&format!("Content-Type: multipart/mixed; boundary=b{n}\r\n\r\n--b{n}\r\n"));
    }
    let attached = "Content-Type: message/rfc822\r\nContent-Transfer-Encoding: base64\r\n\r\n";
    let mut inner = format!("{head}\r\ntext").into_bytes();
    for _ in 0..12 {
        inner = [head.as_bytes(), attached.as_bytes(), &base64(&inner)].concat();
    }
    vec![("multiparts.eml", mail, nested.into_bytes()), ("base64.eml", mail, inner)]
}

fn media() -> Vec<HostileFile> {
    // A directory of one entry, which leads to another directory: itself.
    let tiff = b"II*\0\x08\0\0\0\x01\0\x69\x87\x04\0\x01\0\0\0\x08\0\0\0\x08\0\0\0";
    let mut picture = b"\xFF\xD8\xFF\xE1".to_vec();
    picture.extend(u16::try_from(tiff.len() + 8).unwrap().to_be_bytes());
    picture.extend(b"Exif\0\0");
    picture.extend(tiff);
    picture.extend(b"\xFF\xD9");
    let mut film = b"\0\0\0\x14ftypisom\0\0\0\0isom".to_vec();
    film.extend(b"\0\0\0\x01moov");
    film.extend((1u64 << 63).to_be_bytes());
    film.extend([0; 64]);
    vec![("exif.jpg", "image/jpeg", picture), ("box.mp4", "video/mp4", film)]
}

pub(super) fn files() -> Vec<HostileFile> {
    let rtf = "application/rtf";
    let braces = [b"{\\rtf1 ".to_vec(), vec![b'{'; 1_000_000]].concat();
    let mut all = vec![("braces.rtf", rtf, braces), ("bin.rtf", rtf, b"{\\rtf1 a\\bin4294967295 b}".to_vec())];
    all.extend(compounds());
    all.extend(films());
    all.extend(mails());
    all.extend(media());
    all
}
