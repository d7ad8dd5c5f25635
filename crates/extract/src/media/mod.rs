//! What do sound and film say of themselves?
//!
//! Only their tags are read: title, artist, album, date, comments, lyrics, and how long they take.
//! Each family of containers has a file of its own that hands its tags to [`MediaTags`].

mod asf;
mod id3;
mod matroska;
mod mp3;
mod mp4;
mod riff;
mod vorbis;

use crate::flow::TextFlow;
use crate::gather::Gather;
use crate::prose::folded_literal;
use crate::stamp::moment;
use crate::{Extract, TypedContent};

/// Maximum length of a tag in characters.
const MAX_TAG: usize = 1_000;
/// Maximum number of other tags.
const MAX_OTHERS: usize = 200;

/// Extracts the tags of sound and film.
#[derive(Debug)]
pub(crate) struct MediaExtractor;

impl Extract for MediaExtractor {
    fn accepts(&self, source: &TypedContent<'_>) -> bool {
        source.mime.starts_with("audio/") || source.mime.starts_with("video/") || source.mime == "application/ogg"
    }

    fn aside(&self) -> bool {
        true
    }

    fn extract(&self, source: &TypedContent<'_>, found: &mut Gather) {
        let mut tags = MediaTags::default();
        let bytes = source.bytes;
        match bytes {
            [b'I', b'D', b'3', ..] | [0xFF, ..] => id3::read(bytes, &mut tags),
            [b'O', b'g', b'g', b'S', ..] => vorbis::read_ogg(bytes, &mut tags),
            [b'f', b'L', b'a', b'C', ..] => vorbis::read_flac(bytes, &mut tags),
            [b'R', b'I', b'F', b'F', ..] => riff::read(bytes, &mut tags),
            [0x30, 0x26, 0xB2, 0x75, ..] => {
                asf::read(bytes, &mut tags);
            }
            [0x1A, 0x45, 0xDF, 0xA3, ..] => matroska::read(bytes, &mut tags),
            [_, _, _, _, b'f', b't', b'y', b'p', ..] => mp4::read(bytes, &mut tags),
            _ => {}
        }
        tags.finish(found);
    }
}

/// The tags of a recording.
#[derive(Debug, Default)]
struct MediaTags {
    title: String,
    artist: String,
    album: String,
    date: String,
    created: Option<String>,
    seconds: Option<u64>,
    /// Comments, lyrics and whatever else people wrote.
    others: Vec<String>,
}

impl MediaTags {
    /// Keeps a tag by its name in Vorbis comments, which other formats are mapped to.
    fn set(&mut self, name: &str, value: &str) {
        let value = value.trim_matches(|c: char| c == '\0' || c.is_whitespace());
        if value.is_empty() {
            return;
        }
        let place = match name.to_ascii_lowercase().as_str() {
            "title" => &mut self.title,
            "artist" => &mut self.artist,
            "album" => &mut self.album,
            "date" | "year" => &mut self.date,
            "comment" | "description" | "lyrics" | "copyright" | "composer" | "genre" | "performer" | "albumartist" => {
                if self.others.len() < MAX_OTHERS && !self.others.iter().any(|o| o == value) {
                    self.others.push(value.to_owned());
                }
                return;
            }
            _ => return,
        };
        if place.is_empty() {
            value.clone_into(place);
        }
    }

    fn finish(self, found: &mut Gather) {
        let fold = |text: &str| Some(folded_literal(text, MAX_TAG)).filter(|t| !t.is_empty());
        found.doc.title = fold(&self.title);
        found.doc.author = fold(&self.artist);
        found.doc.created = moment(&self.date).or(self.created);
        found.doc.description = self.seconds.filter(|&s| s > 0).map(|s| format!("{}:{:02} minutes", s / 60, s % 60));
        let mut flow = TextFlow::new(found, 0);
        for text in [&self.title, &self.artist, &self.album, &self.date].into_iter().chain(&self.others) {
            flow.paragraph(text);
        }
        flow.finish();
    }
}

#[cfg(test)]
mod tests {
    use crate::{Content, extract};
    use orb_page::Document;

    fn read(bytes: &[u8], mime: &str) -> Document {
        extract(&Content { bytes, mime: Some(mime), charset: None, url: "" })
    }

    fn told(doc: &Document) -> (Option<&str>, Option<&str>, Option<&str>, &str) {
        (doc.title.as_deref(), doc.author.as_deref(), doc.created.as_deref(), doc.text.as_str())
    }

    #[test]
    fn how_long_a_sound_takes_is_counted() {
        // 1,000 frames of 1,152 samples, 44,100 a second.
        let frame = [&[0xFF, 0xFB, 0x90, 0x64][..], &[0; 32], b"Info\0\0\0\x01\0\0\x03\xE8", &[0; 400]].concat();
        let tagged = [&b"ID3\x03\0\0\0\0\0\x0E"[..], b"TIT2\0\0\0\x04\0\0\0One", &frame].concat();
        let doc = read(&tagged, "audio/mpeg");
        assert_eq!((doc.title.as_deref(), doc.description.as_deref()), (Some("One"), Some("0:26 minutes")));
        // 128 kbit a second without a count.
        let plain = [&[0xFF, 0xFB, 0x90, 0x64][..], &[0; 160_000]].concat();
        assert_eq!(read(&plain, "audio/mpeg").description.as_deref(), Some("0:10 minutes"));

        let page = |at: u64, packet: &[u8]| {
            let length = u8::try_from(packet.len()).expect("short");
            [&b"OggS\0\0"[..], &at.to_le_bytes(), &[0; 12], &[1, length], packet].concat()
        };
        let opus = [page(0, b"OpusHead\x01\x02\x38\x01"), page(0, b"OpusTags"), page(48_000 * 65, b"sound")].concat();
        assert_eq!(read(&opus, "application/ogg").description.as_deref(), Some("1:05 minutes"));

        let avi = b"RIFF\0\0\0\0AVI LIST\x20\0\0\0hdrlavih\x14\0\0\0\x40\x9C\0\0\0\0\0\0\0\0\0\0\0\0\0\0\xFA\0\0\0";
        assert_eq!(read(avi, "video/avi").description.as_deref(), Some("0:10 minutes"));
    }

    #[test]
    fn windows_media_has_titles() {
        let object =
            |id: &[u8; 4], body: &[u8]| [&id[..], &[0; 12], &(24 + body.len() as u64).to_le_bytes(), body].concat();
        let wide = |text: &str| text.encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<u8>>();
        let lengths = [8u16, 6, 0, 0, 0].map(u16::to_le_bytes).concat();
        let titles = object(&[0x33, 0x26, 0xB2, 0x75], &[lengths, wide("Song"), wide("Ann")].concat());
        let figures = [&[0; 40][..], &(12 * 10_000_000_u64).to_le_bytes(), &[0; 8], &2_000_u64.to_le_bytes()].concat();
        let figures = object(&[0xA1, 0xDC, 0xAB, 0x8C], &figures);
        let file = [&[0x30, 0x26, 0xB2, 0x75][..], &[0; 26], &figures, &titles].concat();
        let doc = read(&file, "video/x-ms-asf");
        assert_eq!((doc.title.as_deref(), doc.author.as_deref()), (Some("Song"), Some("Ann")));
        assert_eq!(doc.description.as_deref(), Some("0:10 minutes"));
    }

    #[test]
    fn id3_tags_are_read_in_their_encodings() {
        let frame = |name: &[u8; 4], body: &[u8]| {
            let mut frame = name.to_vec();
            frame.extend(u32::try_from(body.len()).expect("short").to_be_bytes());
            frame.extend([0, 0]);
            frame.extend(body);
            frame
        };
        let wide: Vec<u8> =
            [1u8, 0xFF, 0xFE].into_iter().chain("Ünder".encode_utf16().flat_map(u16::to_le_bytes)).collect();
        let frames = [
            frame(b"TIT2", b"\0Caf\xE9"),
            frame(b"TPE1", &wide),
            frame(b"TALB", b"\x03Alb\xC3\xBCm"),
            frame(b"TYER", b"\x001999"),
            frame(b"COMM", b"\0eng\0well"),
        ]
        .concat();
        let mut mp3 = b"ID3\x03\0\0\0\0".to_vec();
        mp3.extend([
            u8::try_from(frames.len() >> 7).expect("short"),
            u8::try_from(frames.len() & 0x7F).expect("short"),
        ]);
        mp3.extend(frames);
        let doc = read(&mp3, "audio/mpeg");
        assert_eq!(told(&doc), (Some("Café"), Some("Ünder"), Some("1999"), "Café\nÜnder\nAlbüm\n1999\nwell"));
    }

    #[test]
    fn vorbis_comments_are_read_from_ogg_and_flac() {
        let mut comments = vec![2, 0, 0, 0, b'v', b'v', 2, 0, 0, 0];
        for text in ["TITLE=Song", "artist=Ann"] {
            comments.extend(u32::try_from(text.len()).expect("short").to_le_bytes());
            comments.extend(text.as_bytes());
        }
        let mut flac = b"fLaC".to_vec();
        flac.extend([0, 0, 0, 34]);
        let mut stream = [0; 34];
        // 44,100 Hz, 441,000 samples.
        stream[10..18].copy_from_slice(&((44_100u64 << 44) | 441_000).to_be_bytes());
        flac.extend(stream);
        flac.extend([0x84, 0, 0, u8::try_from(comments.len()).expect("short")]);
        flac.extend(&comments);
        let doc = read(&flac, "audio/flac");
        assert_eq!(told(&doc), (Some("Song"), Some("Ann"), None, "Song\nAnn"));
        assert_eq!(doc.description.as_deref(), Some("0:10 minutes"));
        let mut packet = b"\x03vorbis".to_vec();
        packet.extend(&comments);
        let mut ogg = b"OggS\0\0".to_vec();
        ogg.extend([0; 20]);
        ogg.extend([1, u8::try_from(packet.len()).expect("short")]);
        ogg.extend(&packet);
        assert_eq!(told(&read(&ogg, "audio/ogg")), (Some("Song"), Some("Ann"), None, "Song\nAnn"));
    }

    fn boxed(name: &[u8; 4], body: &[u8]) -> Vec<u8> {
        let mut all = u32::try_from(body.len() + 8).expect("short").to_be_bytes().to_vec();
        all.extend(name);
        all.extend(body);
        all
    }

    #[test]
    fn mp4_tags_are_read_and_endless_boxes_end() {
        let datum = boxed(b"data", b"\0\0\0\x01\0\0\0\0Film");
        let list = boxed(b"ilst", &boxed(b"\xA9nam", &datum));
        let meta = boxed(b"meta", &[&[0, 0, 0, 0][..], &list].concat());
        let mut head = vec![0; 20];
        head[12..16].copy_from_slice(&1_000u32.to_be_bytes());
        head[16..20].copy_from_slice(&61_000u32.to_be_bytes());
        let moov = boxed(b"moov", &[boxed(b"mvhd", &head), boxed(b"udta", &meta)].concat());
        let film = [boxed(b"ftyp", b"isom0000"), moov].concat();
        let doc = read(&film, "video/mp4");
        assert_eq!((doc.title.as_deref(), doc.description.as_deref()), (Some("Film"), Some("1:01 minutes")));
        let mut huge = boxed(b"ftyp", b"isom0000");
        huge.extend([0, 0, 0, 1, b'm', b'o', b'o', b'v', 0x80, 0, 0, 0, 0, 0, 0, 0]);
        read(&huge, "video/mp4");
        let mut nested = Vec::new();
        for _ in 0..10_000 {
            nested = boxed(b"moov", &nested);
        }
        read(&[boxed(b"ftyp", b"isom0000"), nested].concat(), "video/mp4");
    }

    #[test]
    fn matroska_and_riff_tags_are_read() {
        let element = |id: &[u8], body: &[u8]| {
            let mut all = id.to_vec();
            all.push(0x80 | u8::try_from(body.len()).expect("short"));
            all.extend(body);
            all
        };
        let tag = element(&[0x67, 0xC8], &[element(&[0x45, 0xA3], b"ARTIST"), element(&[0x44, 0x87], b"Ann")].concat());
        let info = [element(&[0x7B, 0xA9], b"Talk"), element(&[0x44, 0x89], &65_000f64.to_be_bytes())].concat();
        let segment = [
            element(&[0x15, 0x49, 0xA9, 0x66], &info),
            element(&[0x12, 0x54, 0xC3, 0x67], &element(&[0x73, 0x73], &tag)),
        ]
        .concat();
        let film = [element(&[0x1A, 0x45, 0xDF, 0xA3], b"webm"), element(&[0x18, 0x53, 0x80, 0x67], &segment)].concat();
        let doc = read(&film, "video/webm");
        assert_eq!((doc.title.as_deref(), doc.author.as_deref()), (Some("Talk"), Some("Ann")));
        assert_eq!(doc.description.as_deref(), Some("1:05 minutes"));
        let wave = b"RIFF\x2C\0\0\0WAVELIST\x20\0\0\0INFOINAM\x05\0\0\0Noise\0IART\x03\0\0\0Bob\0";
        let doc = read(wave, "audio/wave");
        assert_eq!((doc.title.as_deref(), doc.author.as_deref()), (Some("Noise"), Some("Bob")));
    }
}
