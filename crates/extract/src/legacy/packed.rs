//! What is in the packed rich text of a mail of Outlook?
//!
//! Outlook keeps the body of a mail as RTF, packed in a way of its own ([MS-OXRTFCP]): a window of
//! 4 kB that begins with what most of them contain. A body that came as HTML is wrapped in it
//! ([MS-OXRTFEX]), its tags in groups `\*\htmltag`.

use crate::package::u32_at;

/// The window before anything is written.
const BEGINNING: &[u8] = b"{\\rtf1\\ansi\\mac\\deff0\\deftab720{\\fonttbl;}{\\f0\\fnil \\froman \\fswiss \\fmodern \
    \\fscript \\fdecor MS Sans SerifSymbolArialTimes New RomanCourier{\\colortbl\\red0\\green0\\blue0\r\n\\par \
    \\pard\\plain\\f0\\fs20\\b\\i\\u\\tab\\tx";
/// The size of the window.
const WINDOW: usize = 4_096;
/// Maximum size of what is unpacked.
const MAX_UNPACKED: usize = 16 << 20;

/// Unpacks a rich text, as far as it is sound.
pub(super) fn unpacked(bytes: &[u8]) -> Option<Vec<u8>> {
    let packed = bytes.get(16..)?;
    match bytes.get(8..12)? {
        b"MELA" => Some(packed.get(..u32_at(bytes, 4)? as usize).unwrap_or(packed).to_vec()),
        b"LZFu" => Some(inflate(packed)),
        _ => None,
    }
}

fn inflate(packed: &[u8]) -> Vec<u8> {
    let mut window = [b' '; WINDOW];
    window[..BEGINNING.len()].copy_from_slice(BEGINNING);
    let mut at = BEGINNING.len();
    let mut out = Vec::new();
    let mut rest = packed.iter().copied();
    while let Some(flags) = rest.next() {
        for bit in 0..8 {
            if flags >> bit & 1 == 0 {
                let Some(byte) = rest.next() else { return out };
                out.push(byte);
                window[at % WINDOW] = byte;
                at += 1;
                continue;
            }
            let (Some(high), Some(low)) = (rest.next(), rest.next()) else { return out };
            let reference = usize::from(u16::from_be_bytes([high, low]));
            let (from, count) = (reference >> 4, (reference & 15) + 2);
            if from == at % WINDOW || out.len() > MAX_UNPACKED {
                return out;
            }
            for place in from..from + count {
                let byte = window[place % WINDOW];
                out.push(byte);
                window[at % WINDOW] = byte;
                at += 1;
            }
        }
    }
    out
}

/// The targets of links in a rich text that wraps HTML.
pub(super) fn wrapped_links(rtf: &str) -> impl Iterator<Item = &str> {
    let tags = rtf.split("\\htmltag").skip(1).filter_map(|rest| rest.split('}').next());
    tags.filter_map(|tag| tag.split("href=\"").nth(1)?.split('"').next()).filter(|target| !target.contains('\\'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packed_text_refers_to_its_window() {
        // The example of the specification.
        let packed = b"\x2d\0\0\0\x2b\0\0\0LZFu\xf1\xc5\xc7\xa7\x03\0\x0a\0rcpg125B2\x0a\xf3 hel\x09\0 bw\x05\xb0ld}\x0a\x80\x0f\xa0";
        let text = unpacked(packed).expect("packed");
        assert_eq!(String::from_utf8_lossy(&text), "{\\rtf1\\ansi\\ansicpg1252\\pard hello world}\r\n");
        assert_eq!(unpacked(b"\0\0\0\0\x02\0\0\0MELA\0\0\0\0ab").as_deref(), Some(&b"ab"[..]));
        assert_eq!(unpacked(b"no"), None);
        assert!(unpacked(&[&b"\0\0\0\0\0\0\0\0LZFu\0\0\0\0"[..], &[0xFF; 100_000]].concat()).is_some());
    }

    #[test]
    fn links_stand_in_wrapped_tags() {
        let rtf = "{\\*\\htmltag84 <a href=\"http://a.example/\">}here{\\*\\htmltag92 </a>} href=\"no\"";
        assert_eq!(wrapped_links(rtf).collect::<Vec<_>>(), ["http://a.example/"]);
    }
}
