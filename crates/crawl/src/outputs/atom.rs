//! How are changes published for feed readers? As Atom (RFC 4287).
//!
//! The file is rebuilt from the latest changes and replaced atomically. A change has the same id
//! however often it is written: a name-based UUID (version 8, RFC 9562) of the project and the
//! change, since change numbers are unique only within a project.

use super::OutputSource;
use crate::CrawlError;
use orb_page::{Flag, Moment, escape_markup};
use orb_store::{ProjectDir, ReportRow, replace};
use sha2::{Digest as _, Sha256};
use std::fmt::Write as _;
use std::path::Path;

/// Writes the feed.
pub(super) fn write(source: &OutputSource<'_>, path: &Path, entries: usize) -> Result<u64, CrawlError> {
    let rows = source.reader.latest_changes(u32::try_from(entries).unwrap_or(u32::MAX))?;
    let last = source.reader.last_change()?;
    if source.cursor() == last && path.exists() {
        return Ok(0);
    }
    if let Some(dir) = path.parent() {
        std::fs::create_dir_all(dir).map_err(|e| CrawlError::Output { path: path.to_owned(), source: e })?;
    }
    replace(path, feed(source.project, &rows).as_bytes(), ["report-written", "report-kept"])?;
    source.mark_delivered(last)?;
    Ok(rows.len() as u64)
}

/// The feed of a project with these changes, latest first.
pub fn feed(project: &ProjectDir, rows: &[ReportRow]) -> String {
    // They come in the order in which they were recorded, which is nearly that in which they were
    // seen.
    let updated = rows.iter().map(|row| row.at).max().unwrap_or(project.created_at);
    let mut xml = format!(
        "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<feed xmlns=\"http://www.w3.org/2005/Atom\">\n\
         <id>{}</id>\n<title>Changes of {}</title>\n<updated>{updated}</updated>\n\
         <author><name>Orbweaver</name></author>\n<generator>Orbweaver</generator>\n",
        id(project, ""),
        escaped(&project.name),
    );
    rows.iter().for_each(|row| entry(&mut xml, project, row));
    xml + "</feed>\n"
}

fn entry(xml: &mut String, project: &ProjectDir, row: &ReportRow) {
    let title = row.title.as_deref().filter(|title| !title.trim().is_empty()).unwrap_or(&row.url);
    let words = match row.flag {
        Flag::New => "New",
        Flag::Updated => "Updated",
        Flag::Missing => "Gone",
        Flag::Same | Flag::Error => "Unavailable",
    };
    let moved = row.moved_to.as_ref().map(|to| format!("moved to {to}"));
    let said: Vec<String> = [row.detail.clone(), moved].into_iter().flatten().collect();
    let key = format!("{} {} {} {}", row.seq.unwrap_or(0), row.run, row.at.0, row.url);
    // Writing to a string cannot fail.
    let _ = write!(
        xml,
        "<entry>\n<id>{}</id>\n<title>{words}: {}</title>\n<updated>{}</updated>\n<link rel=\"alternate\" href=\"{}\"/>\n\
         <category term=\"{}\" label=\"{words}\"/>\n<summary>{words} in run {}{}{}</summary>\n</entry>\n",
        id(project, &key),
        escaped(title),
        row.at,
        escaped(&row.url),
        row.flag,
        row.run,
        if said.is_empty() { "" } else { ": " },
        escaped(&said.join("; ")),
    );
}

/// A unique, stable id.
fn id(project: &ProjectDir, key: &str) -> String {
    let Moment(made) = project.created_at;
    let hash = Sha256::digest(format!("{} {made}\n{key}", project.name));
    let mut hex: String = hash.iter().take(16).map(|b| format!("{b:02x}")).collect();
    // Set the version and variant bits.
    hex.replace_range(12..13, "8");
    hex.replace_range(16..17, ["8", "9", "a", "b"][usize::from(hash[8] & 3)]);
    format!("urn:uuid:{}-{}-{}-{}-{}", &hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..])
}

/// Escapes text for XML, dropping what XML cannot represent.
fn escaped(text: &str) -> String {
    escape_markup(text, |c, out| match c {
        '\t' | '\n' | '\r' => out.push(' '),
        '\0'..='\x1f' | '\u{fffe}' | '\u{ffff}' => {}
        c => out.push(c),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_a_uuid_and_the_same_every_time() {
        let dir = "/x".into();
        let project = ProjectDir { name: "p".to_owned(), dir, created_at: Moment(5) };
        let one = id(&project, "1");
        assert_eq!((one.len(), one.clone()), (45, id(&project, "1")));
        assert_ne!(one, id(&project, "2"));
        let at = |n: usize| one.as_bytes()[9 + n] as char;
        assert!(at(14) == '8' && "89ab".contains(at(19)), "{one}");
        assert_eq!(escaped("a<b> & \"c\"\u{0}\u{1b}\n"), "a&lt;b&gt; &amp; &quot;c&quot; ");
    }
}
