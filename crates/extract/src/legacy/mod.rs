//! What do documents of Word, Excel and PowerPoint before 2007 say?
//!
//! Binary formats in a compound file, each read by hand: what they hold is a matter of a few
//! records, and every number in them is a claim (decision 55). Properties come from the same place
//! for all.

mod biff;
mod doc;
mod msg;
mod packed;
mod ppt;
mod summary;
mod xls;

pub(crate) use biff::utf16;
pub(crate) use msg::OutlookExtractor;

use crate::compound::CompoundFile;
use crate::flow::TextFlow;
use crate::gather::Gather;
use crate::nested;
use crate::sniff::{COMPOUND, EXCEL, POWERPOINT, PROTECTED, WORD, sniff};
use crate::{Extract, TypedContent, dispatch, locked};
use encoding_rs::Encoding;

/// Maximum number of embedded objects that are named.
const MAX_OBJECTS: usize = 1_000;

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
        let Some(file) = CompoundFile::open(source.bytes) else {
            let mut flow = TextFlow::new(found, source.bytes.len());
            if source.mime == EXCEL && !xls::read(source.bytes, &mut flow) {
                encrypted(&mut flow);
            }
            return flow.finish();
        };
        if source.mime == PROTECTED
            && let Some(bytes) = locked::opened(&file)
        {
            let mime = sniff(&bytes, None);
            found.doc.mime = mime.clone().into_owned();
            return dispatch(&TypedContent { bytes: &bytes, mime: &mime, ..*source }, found);
        }
        summary::read(&file, found);
        read_object(&file, source.mime, found);
    }
}

/// Reads a document in a compound file, or in a directory of one.
pub(crate) fn read_object(file: &CompoundFile<'_>, mime: &str, found: &mut Gather) {
    let mut flow = TextFlow::new(found, 0);
    let is_open = match mime {
        EXCEL => {
            let stream = file.stream("Workbook").or_else(|| file.stream("Book"));
            stream.is_none_or(|stream| xls::read(&stream, &mut flow))
        }
        WORD => doc::read(file, &mut flow),
        POWERPOINT => ppt::read(file, &mut flow),
        PROTECTED => false,
        _ => true,
    };
    if !is_open {
        encrypted(&mut flow);
    }
    write_objects(file, mime, &mut flow);
    flow.finish();
}

/// Writes the names and texts of objects that are embedded in a text or a sheet, each of which has
/// a directory.
fn write_objects(file: &CompoundFile<'_>, mime: &str, flow: &mut TextFlow<'_>) {
    let place = if mime == WORD { file.directory("ObjectPool") } else { Some(file.clone()) };
    let Some(place) = place else { return };
    let is_object = |name: &str| mime == WORD || (mime == EXCEL && name.starts_with("MBD"));
    let objects = place.directories().into_iter().filter(|(_, name)| is_object(name));
    for (number, name) in objects.take(MAX_OBJECTS) {
        let object = place.within(number);
        flow.paragraph(&nested::object_name(&object, &name));
        nested::write_object(&object, flow);
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
