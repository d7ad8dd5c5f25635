//! What do documents of Word, Excel and PowerPoint before 2007 say?
//!
//! Binary formats in a compound file, each read by hand: what they hold is a matter of a few
//! records, and every number in them is a claim (decision 55). Properties come from the same place
//! for all.

mod biff;
mod doc;
mod msg;
mod ppt;
mod summary;
mod xls;

pub(crate) use biff::utf16;
pub(crate) use msg::OutlookExtractor;

use crate::compound::CompoundFile;
use crate::flow::TextFlow;
use crate::gather::Gather;
use crate::sniff::{COMPOUND, EXCEL, POWERPOINT, PROTECTED, WORD};
use crate::{Extract, TypedContent};
use encoding_rs::Encoding;

/// Extracts binary documents of Office.
#[derive(Debug)]
pub(crate) struct LegacyExtractor;

impl Extract for LegacyExtractor {
    fn accepts(&self, source: &TypedContent<'_>) -> bool {
        let is_compound = source.bytes.starts_with(b"\xD0\xCF\x11\xE0");
        match source.mime {
            WORD | POWERPOINT | PROTECTED | COMPOUND => is_compound,
            EXCEL => is_compound || source.bytes.starts_with(b"\x09"),
            _ => false,
        }
    }

    fn aside(&self) -> bool {
        true
    }

    fn extract(&self, source: &TypedContent<'_>, found: &mut Gather) {
        let file = CompoundFile::open(source.bytes);
        if let Some(file) = &file {
            summary::read(file, found);
        }
        let mut flow = TextFlow::new(found, source.bytes.len());
        match source.mime {
            EXCEL => {
                let stream = file.as_ref().and_then(|f| f.stream("Workbook").or_else(|| f.stream("Book")));
                if !xls::read(stream.as_deref().unwrap_or(source.bytes), &mut flow) {
                    encrypted(&mut flow);
                }
            }
            WORD | POWERPOINT => {
                let read = if source.mime == WORD { doc::read } else { ppt::read };
                if !file.is_none_or(|file| read(&file, &mut flow)) {
                    encrypted(&mut flow);
                }
            }
            PROTECTED => encrypted(&mut flow),
            _ => {}
        }
        flow.finish();
    }
}

fn encrypted(flow: &mut TextFlow<'_>) {
    flow.found.problem("encrypted", "it is encrypted, so that nothing can be read without its password");
}

/// The encoding of a code page of Windows, as far as the web knows it.
pub(crate) fn code_page(number: u32) -> Option<&'static Encoding> {
    let label = match number {
        65001 => "utf-8".to_owned(),
        1200 => "utf-16le".to_owned(),
        932 => "shift_jis".to_owned(),
        936 => "gbk".to_owned(),
        949 => "euc-kr".to_owned(),
        950 => "big5".to_owned(),
        866 => "ibm866".to_owned(),
        10000 | 32768 => "macintosh".to_owned(),
        10007 => "x-mac-cyrillic".to_owned(),
        20866 => "koi8-r".to_owned(),
        28591..=28606 => format!("iso-8859-{}", number - 28590),
        874 | 1250..=1258 => format!("windows-{number}"),
        _ => return None,
    };
    Encoding::for_label(label.as_bytes())
}
