//! Corner: which encodings do pages come in, and where do they declare them?
//!
//! The encoders are our own because the alphabets are small: Latin, Cyrillic and kana map to ISO
//! 8859-1, windows-1251 and Shift_JIS by ranges (see the indexes of the WHATWG Encoding Standard).

use super::{Corner, Spot, Via};
use crate::chance::Chance;
use crate::reply::{Ask, Reply, WebView};
use crate::spec::Feature;
use crate::words::{FRENCH, GERMAN, JAPANESE, RUSSIAN};

pub(super) const CORNER: Corner = Corner {
    feature: Feature::Charsets,
    name: "charsets",
    title: "Pages in many encodings",
    hosts: &[],
    spots,
    answer,
};

#[derive(Clone, Copy, PartialEq, Eq)]
enum Charset {
    Utf8,
    Latin1,
    Windows1251,
    ShiftJis,
    Utf16Le,
    Utf16Be,
}
use Charset::{Latin1, ShiftJis, Utf8, Utf16Be, Utf16Le, Windows1251};

/// A page: its name, its encoding, the server's header, and the declaration in its head.
struct CharsetSample {
    name: &'static str,
    charset: Charset,
    mime: &'static str,
    head: &'static str,
    mark: bool,
}

const fn sample(name: &'static str, charset: Charset, mime: &'static str, head: &'static str) -> CharsetSample {
    CharsetSample { name, charset, mime, head, mark: false }
}

const fn marked(name: &'static str, charset: Charset) -> CharsetSample {
    CharsetSample { name, charset, mime: "text/html", head: "", mark: true }
}

static SAMPLES: &[CharsetSample] = &[
    sample("utf8-header.html", Utf8, "text/html; charset=UTF-8", ""),
    sample("utf8-meta.html", Utf8, "text/html", "<meta charset=utf-8>"),
    sample("utf8-unsaid.html", Utf8, "text/html", ""),
    marked("utf8-mark.html", Utf8),
    sample("latin1-header.html", Latin1, "text/html; charset=iso-8859-1", ""),
    sample("latin1-meta.html", Latin1, "text/html", "<meta charset='iso-8859-1'>"),
    sample("latin1-over-meta.html", Latin1, "text/html;charset=\"latin1\"", "<meta charset=utf-8>"),
    sample("1251-header.html", Windows1251, "text/html; charset=windows-1251", ""),
    sample(
        "1251-meta.html",
        Windows1251,
        "text/html",
        "<meta http-equiv=\"Content-Type\" content=\"text/html; charset=windows-1251\">",
    ),
    sample("1251-unsaid.html", Windows1251, "text/html", ""),
    sample("sjis-header.html", ShiftJis, "text/html; Charset=Shift_JIS", ""),
    sample("sjis-meta.html", ShiftJis, "text/html", "<META CHARSET=\"Shift_JIS\">"),
    sample("utf16le-header.html", Utf16Le, "text/html; charset=utf-16le", ""),
    marked("utf16le-mark.html", Utf16Le),
    marked("utf16be-mark.html", Utf16Be),
];

/// The target of a link whose path is written in the page's encoding.
const SUMMER: &str = "/charsets/%C3%A9t%C3%A9.html";

fn spots(_: &WebView<'_>) -> Vec<Spot> {
    SAMPLES
        .iter()
        .map(|sample| Spot::page(format!("/charsets/{}", sample.name)))
        .chain([Spot::page(SUMMER).via(Via::Spot)])
        .collect()
}

fn answer(ask: &Ask<'_>, rest: &str, reply: &mut Reply) -> bool {
    if ask.path == SUMMER {
        reply.page(200, "Summer", "<p>L\u{2019}\u{e9}t\u{e9}.</p>");
        return true;
    }
    let Some(sample) = SAMPLES.iter().find(|sample| sample.name == rest) else {
        return false;
    };
    reply.mime = sample.mime;
    let text = page(sample);
    if sample.mark {
        encode("\u{feff}", sample.charset, &mut reply.body);
    }
    encode(&text, sample.charset, &mut reply.body);
    true
}

fn page(sample: &CharsetSample) -> String {
    let (lang, title, words, link) = match sample.charset {
        Windows1251 => ("ru", "Сад и река", RUSSIAN, "<a href=\"/charsets/\">Назад</a>"),
        ShiftJis => ("ja", "かわ と にわ", JAPANESE, "<a href=\"/charsets/\">もどる</a>"),
        Utf16Le | Utf16Be => ("de", "Über die Brücke", GERMAN, "<a href=\"/charsets/\">Zurück</a>"),
        Utf8 | Latin1 => ("fr", "Où va la rivière", FRENCH, "<a href=\"/charsets/été.html\">L'été</a>"),
    };
    let mut chance = Chance::of(&[sample.name.len() as u64, 41]);
    let prose: Vec<_> = (0..200).map(|_| chance.frequent_of(words)).collect();
    let (head, prose) = (sample.head, prose.join(" "));
    format!(
        "<!doctype html>\n<html lang=\"{lang}\"><head>{head}<title>{title}</title></head>\n\
         <body><h1>{title}</h1>\n<p>{prose}</p>\n<p>{link}</p></body></html>\n"
    )
}

fn encode(text: &str, charset: Charset, out: &mut Vec<u8>) {
    match charset {
        Utf8 => out.extend_from_slice(text.as_bytes()),
        Utf16Le => out.extend(text.encode_utf16().flat_map(u16::to_le_bytes)),
        Utf16Be => out.extend(text.encode_utf16().flat_map(u16::to_be_bytes)),
        Latin1 => out.extend(text.chars().map(|letter| u8::try_from(letter).unwrap_or(b'?'))),
        Windows1251 => out.extend(text.chars().map(windows_1251)),
        ShiftJis => text.chars().for_each(|letter| shift_jis(letter, out)),
    }
}

fn windows_1251(letter: char) -> u8 {
    match letter {
        'ё' => 0xb8,
        'Ё' => 0xa8,
        'А'..='я' => (letter as u32 - 'А' as u32 + 0xc0) as u8,
        _ if letter.is_ascii() => letter as u8,
        _ => b'?',
    }
}

fn shift_jis(letter: char, out: &mut Vec<u8>) {
    let pair = |second: u32, first: u8| [first, second as u8];
    let code = letter as u32;
    match letter {
        'ぁ'..='ん' => out.extend(pair(code - 'ぁ' as u32 + 0x9f, 0x82)),
        // The second byte skips 0x7f.
        'ァ'..='ミ' => out.extend(pair(code - 'ァ' as u32 + 0x40, 0x83)),
        'ム'..='ヶ' => out.extend(pair(code - 'ム' as u32 + 0x80, 0x83)),
        'ー' => out.extend([0x81, 0x5b]),
        _ => out.push(if letter.is_ascii() { letter as u8 } else { b'?' }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_independent_decoder_reads_every_sample() {
        for sample in SAMPLES {
            let text = page(sample);
            let mut bytes = Vec::new();
            encode(&text, sample.charset, &mut bytes);
            let encoding = match sample.charset {
                Utf8 => encoding_rs::UTF_8,
                Latin1 => encoding_rs::WINDOWS_1252,
                Windows1251 => encoding_rs::WINDOWS_1251,
                ShiftJis => encoding_rs::SHIFT_JIS,
                Utf16Le => encoding_rs::UTF_16LE,
                Utf16Be => encoding_rs::UTF_16BE,
            };
            assert_eq!(encoding.decode_without_bom_handling(&bytes), (text.into(), false), "{}", sample.name);
        }
    }
}
