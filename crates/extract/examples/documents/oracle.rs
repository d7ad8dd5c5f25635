//! What do other people's programs say of a document?

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

/// Title, author, when it was made, when it was changed, number of pages.
pub(crate) type Properties = [Option<String>; 5];

/// The targets of a document's links.
pub(crate) type Targets = BTreeSet<String>;

/// A format and its oracles. A function returns nothing where its program is not installed or
/// cannot read the file.
pub(crate) struct JudgedFormat {
    /// Its name.
    pub(crate) name: &'static str,
    /// How the names of its files end.
    pub(crate) endings: &'static [&'static str],
    /// Its media type.
    pub(crate) mime: &'static str,
    /// The text.
    pub(crate) text: fn(&Path) -> Option<String>,
    /// The targets of the links.
    pub(crate) links: Option<fn(&Path) -> Option<Targets>>,
    /// The properties.
    pub(crate) properties: Option<fn(&Path) -> Option<Properties>>,
}

/// The formats that are judged.
pub(crate) const FORMATS: &[JudgedFormat] = &[JudgedFormat {
    name: "PDF against pdftotext",
    endings: &["pdf"],
    mime: "application/pdf",
    text: pdftotext,
    links: Some(qpdf_links),
    properties: Some(pdfinfo),
}];

impl JudgedFormat {
    /// Whether a file is of this format, by its name.
    pub(crate) fn is_of(&self, file: &Path) -> bool {
        let ending = file.extension().and_then(|ending| ending.to_str()).unwrap_or("").to_ascii_lowercase();
        self.endings.contains(&ending.as_str())
    }
}

/// What a program prints; nothing if it is not there or fails.
fn printed(program: &str, before: &[&str], file: &Path, after: &[&str]) -> Option<String> {
    let output = Command::new(program).args(before).arg(file).args(after).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
}

fn pdftotext(file: &Path) -> Option<String> {
    printed("pdftotext", &["-q", "-enc", "UTF-8"], file, &["-"])
}

/// The text of a file, by what Tika wrote into a directory: a page of HTML in JSON.
pub(crate) fn tika(directory: &Path, name: &Path) -> Option<String> {
    let told = std::fs::read(directory.join(format!("{}.json", name.display()))).ok()?;
    let told: serde_json::Value = serde_json::from_slice(&told).ok()?;
    let page = told.get(0)?.get("X-TIKA:content")?.as_str()?;
    let body = page.find("<body").and_then(|at| page.get(at..)).unwrap_or(page);
    let mut text = String::new();
    for piece in body.split('<') {
        text.push(' ');
        text.push_str(piece.split_once('>').map_or(piece, |(_, text)| text));
    }
    Some(text.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"").replace("&amp;", "&"))
}

/// The targets of all URI actions that qpdf sees.
fn qpdf_links(file: &Path) -> Option<Targets> {
    let told = printed("qpdf", &["--json=1", "--json-key=objects", "--no-warn"], file, &[])?;
    let told: serde_json::Value = serde_json::from_str(&told).ok()?;
    let mut found = BTreeSet::new();
    actions(&told["objects"], &told, &mut found);
    Some(found)
}

fn actions(objects: &serde_json::Value, value: &serde_json::Value, found: &mut Targets) {
    match value {
        serde_json::Value::Array(all) => all.iter().for_each(|value| actions(objects, value, found)),
        serde_json::Value::Object(map) => {
            // A value may stand elsewhere: `12 0 R`.
            let text = |key: &str| {
                let own = map.get(key)?.as_str()?;
                objects.get(own).map_or(Some(own), serde_json::Value::as_str)
            };
            if let (Some("/URI"), Some(target)) = (text("/S"), text("/URI")) {
                found.insert(target.trim_matches(|c: char| c <= ' ').to_owned());
            }
            map.values().for_each(|value| actions(objects, value, found));
        }
        _ => {}
    }
}

fn pdfinfo(file: &Path) -> Option<Properties> {
    let told = printed("pdfinfo", &["-isodates", "-enc", "UTF-8"], file, &[])?;
    let field = |name: &str| {
        let line = told.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))?;
        let value = line.split_whitespace().collect::<Vec<_>>().join(" ");
        (!value.is_empty()).then_some(value)
    };
    let date = |name: &str| {
        let date = field(name)?;
        // It writes `+02`, and `Z`.
        let short = date.len().checked_sub(3).is_some_and(|at| matches!(date.as_bytes()[at], b'+' | b'-'));
        Some(if short { format!("{date}:00") } else { date })
    };
    Some([field("Title"), field("Author"), date("CreationDate"), date("ModDate"), field("Pages")])
}
