//! What does a server's listing say?
//!
//! Three kinds: MLSD, made for machines (RFC 3659, section 7); LIST, made for people, as `ls -l` of
//! Unix or `dir` of DOS write it, or in the form EPLF; and NLST, names alone. An entry whose date
//! cannot be read, because it is in another language, has none. Whatever cannot be read at all is
//! left out, and nothing that a name says leads out of the directory ([`ListingEntry::new`]).

use crate::listed::EntryStamp;
use orb_page::{ListingEntry, Moment};

const SECOND: i64 = 1_000;
const MINUTE: i64 = 60 * SECOND;
const DAY: i64 = 24 * 60 * MINUTE;
/// Listings write the year instead of the time of day for what is older than half a year, or
/// later than now.
const HALF_YEAR: i64 = 183 * DAY;

/// An entry with the stamp by which versions are told apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct FtpEntry {
    pub(super) entry: ListingEntry,
    pub(super) stamp: Option<EntryStamp>,
}

/// What an entry is, as far as the listing says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum EntryType {
    File,
    Directory,
    /// This directory or the one above, or what is neither a file nor a directory.
    Other,
}

/// The form of a listing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ListingForm {
    Machine,
    People,
    Names,
}

/// The entries of a listing, sorted by name, each once.
pub(super) fn entries(body: &[u8], form: ListingForm, now: Moment) -> Vec<FtpEntry> {
    let lines = body.split(|b| *b == b'\n').map(|line| line.strip_suffix(b"\r").unwrap_or(line));
    let read = |line: &[u8]| match form {
        ListingForm::Machine => facts(line).map(|(_, entry)| entry),
        ListingForm::People => unix(line, now).or_else(|| dos(line)).or_else(|| eplf(line)),
        // With or without the directory in front of them.
        ListingForm::Names => entry(line.rsplit(|b| *b == b'/').next().unwrap_or(line), EntryType::File, None),
    };
    let mut entries: Vec<FtpEntry> = lines.filter(|line| !line.is_empty()).filter_map(read).collect();
    entries.sort_by(|a, b| a.entry.reference.cmp(&b.entry.reference));
    entries.dedup_by(|a, b| a.entry.reference == b.entry.reference);
    entries
}

/// The facts of a path that MLST was asked for: whether it is a directory, and its stamp.
pub(super) fn facts_of(line: &[u8]) -> Option<(bool, Option<EntryStamp>)> {
    let space = line.iter().position(|b| *b == b' ')?;
    let (kind, size, modified) = machine_facts(&line[..space]);
    Some((kind == EntryType::Directory, modified.map(|(at, grain)| exact(size, at, grain))))
}

/// `type=file;size=12;modify=20261117060708; name`, with its kind.
fn facts(line: &[u8]) -> Option<(EntryType, FtpEntry)> {
    let space = line.iter().position(|b| *b == b' ')?;
    let (kind, size, modified) = machine_facts(&line[..space]);
    let stamp = modified.map(|(at, grain)| exact(size, at, grain));
    let mut found = entry(&line[space + 1..], kind, stamp)?;
    found.entry.size = size.filter(|_| kind == EntryType::File);
    Some((kind, found))
}

fn machine_facts(facts: &[u8]) -> (EntryType, Option<u64>, Option<(Moment, i64)>) {
    let (mut kind, mut size, mut modified) = (EntryType::File, None, None);
    for fact in String::from_utf8_lossy(facts).split(';') {
        let Some((name, value)) = fact.split_once('=') else { continue };
        match name.to_ascii_lowercase().as_str() {
            "type" => kind = kind_of(value),
            "size" => size = value.parse().ok(),
            "modify" => modified = compact_time(value),
            _ => {}
        }
    }
    (kind, size, modified)
}

fn kind_of(value: &str) -> EntryType {
    match value.to_ascii_lowercase().as_str() {
        "dir" => EntryType::Directory,
        "cdir" | "pdir" => EntryType::Other,
        // A symbolic link is a file if it leads to one: a directory is entered by its own name.
        link if link.starts_with("os.unix=slink") || link.starts_with("os.unix=symlink") => EntryType::File,
        special if special.starts_with("os.") => EntryType::Other,
        _ => EntryType::File,
    }
}

/// `20261117060708` or `20261117060708.123` (RFC 3659, 2.3), and how exact it is.
pub(super) fn compact_time(text: &str) -> Option<(Moment, i64)> {
    let (whole, fraction) = text.trim().split_once('.').map_or((text.trim(), None), |(w, f)| (w, Some(f)));
    if whole.len() != 14 || !whole.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    let part = |from: usize, to: usize| whole[from..to].parse::<i64>().ok();
    let at = Moment::from_civil((part(0, 4)?, part(4, 6)?, part(6, 8)?), (part(8, 10)?, part(10, 12)?, part(12, 14)?))?;
    let Some(fraction) = fraction.filter(|f| f.len() >= 3 && f.bytes().all(|b| b.is_ascii_digit())) else {
        return Some((at, SECOND));
    };
    Some((Moment(at.0 + fraction.get(..3)?.parse::<i64>().ok()?), 1))
}

/// `-rw-r--r--   1 user group   1234 Nov 17 06:07 name`, also with links `name -> target`.
fn unix(line: &[u8], now: Moment) -> Option<FtpEntry> {
    let kind = match line.first()? {
        b'-' | b'l' => EntryType::File,
        b'd' => EntryType::Directory,
        b'b' | b'c' | b'p' | b's' | b'D' => EntryType::Other,
        _ => return None,
    };
    let fields = fields_of(line);
    let date = date_in(&fields, now)?;
    let size = number(fields[date.first - 1].1);
    // One space, then the name, which may begin with spaces of its own.
    let (start, last) = fields[date.last];
    let mut name = line.get(start + last.len() + 1..)?;
    if line[0] == b'l' {
        name = name.windows(4).position(|w| w == b" -> ").map_or(name, |at| &name[..at]);
    }
    let is_file = line[0] == b'-';
    let size = size.filter(|_| is_file);
    let stamp = date.at.map(|(at, grain)| EntryStamp { size, modified: at, grain, is_local: true });
    let mut found = entry(name, kind, stamp.filter(|_| is_file))?;
    found.entry.size = size;
    Some(found)
}

/// A date in a line of `ls -l`.
struct ListedDate {
    /// Its first field, the one before which is the size, and its last, after which is the name.
    first: usize,
    last: usize,
    /// Nothing if it is in another language.
    at: Option<(Moment, i64)>,
}

/// The date is found by its form, because owners have spaces in their names and some servers leave
/// the group out: `Nov 17 06:07`, `17 Nov 2025`, `2026-11-17 06:07`.
fn date_in(fields: &[(usize, &[u8])], now: Moment) -> Option<ListedDate> {
    let field = |at: usize| fields.get(at).map_or(&b""[..], |(_, field)| *field);
    for first in 2..fields.len().saturating_sub(2) {
        if number(field(first - 1)).is_none() {
            continue;
        }
        if let Some(at) = plain_time(field(first), field(first + 1)) {
            // A time zone may follow.
            let is_zone =
                matches!(field(first + 2), [b'+' | b'-', zone @ ..] if zone.len() == 4 && number(zone).is_some());
            let last = first + if is_zone { 2 } else { 1 };
            return (last + 1 < fields.len()).then_some(ListedDate { first, last, at: Some(at) });
        }
        let last = first + 2;
        let [a, b, rest] = [field(first), field(first + 1), field(last)];
        let is_end = rest.contains(&b':') || rest.len() == 4 && number(rest).is_some();
        if last + 1 >= fields.len() || !is_end {
            continue;
        }
        let is_day = |field: &[u8]| day_of(field).is_some();
        if month_of(a).is_some() && is_day(b) {
            return Some(ListedDate { first, last, at: people_time(a, b, rest, now) });
        }
        if is_day(a) && month_of(b).is_some() {
            return Some(ListedDate { first, last, at: people_time(b, a, rest, now) });
        }
        if is_day(a) && is_word(b) || is_word(a) && is_day(b) {
            return Some(ListedDate { first, last, at: None });
        }
    }
    None
}

/// A month or a day in any language: a few letters, or a number with a sign for what it counts.
fn is_word(field: &[u8]) -> bool {
    field.len() <= 16 && field.iter().any(|b| b.is_ascii_alphabetic() || !b.is_ascii())
}

/// A day of a month, also as `17.` or with a sign that is not in ASCII.
fn day_of(field: &[u8]) -> Option<u64> {
    let end = field.iter().position(|b| !b.is_ascii_digit()).unwrap_or(field.len());
    let (digits, rest) = field.split_at(end);
    let is_sign = rest.iter().all(|b| *b == b'.' || !b.is_ascii());
    number(digits).filter(|day| is_sign && (1..=31).contains(day))
}

/// `2026-11-17` and `06:07`, or `06:07:08.123456789`.
fn plain_time(date: &[u8], time: &[u8]) -> Option<(Moment, i64)> {
    let (date, time) = (std::str::from_utf8(date).ok()?, std::str::from_utf8(time).ok()?);
    let mut date = date.split('-');
    let year = date.next().filter(|year| year.len() == 4)?.parse::<i64>().ok()?;
    let (month, day) = (date.next()?.parse::<i64>().ok()?, date.next()?.parse::<i64>().ok()?);
    let mut clock = time.split(['.', ',']).next()?.split(':').map(|part| part.parse::<i64>().ok());
    let (hour, minute) = (clock.next()??, clock.next()??);
    let (second, grain) = clock.next().map_or(Some((0, MINUTE)), |second| Some((second?, SECOND)))?;
    Some((Moment::from_civil((year, month, day), (hour, minute, second))?, grain))
}

/// `+i8388621.48594,m825718503,r,s280,\tname`: facts, then a tabulator and the name. Times are in
/// seconds since 1970.
fn eplf(line: &[u8]) -> Option<FtpEntry> {
    let tab = line.iter().position(|b| *b == b'\t')?;
    let facts = line.get(..tab)?.strip_prefix(b"+")?;
    let (mut kind, mut size, mut at) = (EntryType::Other, None, None);
    for fact in facts.split(|b| *b == b',') {
        match fact {
            b"/" => kind = EntryType::Directory,
            b"r" => kind = EntryType::File,
            [b's', digits @ ..] => size = number(digits),
            [b'm', digits @ ..] => {
                let seconds = number(digits).and_then(|seconds| i64::try_from(seconds).ok());
                at = seconds.and_then(|seconds| seconds.checked_mul(SECOND));
            }
            _ => {}
        }
    }
    let mut found = entry(line.get(tab + 1..)?, kind, at.map(|at| exact(size, Moment(at), SECOND)))?;
    found.entry.size = size.filter(|_| kind == EntryType::File);
    Some(found)
}

/// `11-17-26  06:07AM       1234 name`, or `<DIR>` for the size.
fn dos(line: &[u8]) -> Option<FtpEntry> {
    let fields = fields_of(line);
    let [(_, date), (_, time), (start, size), ..] = fields[..] else { return None };
    let at = dos_time(std::str::from_utf8(date).ok()?, std::str::from_utf8(time).ok()?)?;
    let kind = if size.eq_ignore_ascii_case(b"<DIR>") { EntryType::Directory } else { EntryType::File };
    let size = number(size);
    if kind == EntryType::File && size.is_none() {
        return None;
    }
    let rest = &line[start..];
    let space = rest.iter().position(|b| *b == b' ')?;
    let name = rest[space..].trim_ascii_start();
    let stamp = EntryStamp { size, modified: at, grain: MINUTE, is_local: true };
    let mut found = entry(name, kind, Some(stamp))?;
    found.entry.size = size;
    Some(found)
}

fn entry(name: &[u8], kind: EntryType, stamp: Option<EntryStamp>) -> Option<FtpEntry> {
    if kind == EntryType::Other {
        return None;
    }
    let is_directory = kind == EntryType::Directory;
    let entry = ListingEntry::new(name, is_directory)?;
    let stamp = stamp.filter(|_| !is_directory);
    Some(FtpEntry { entry: ListingEntry { modified: stamp.map(|stamp| stamp.modified), ..entry }, stamp })
}

fn exact(size: Option<u64>, modified: Moment, grain: i64) -> EntryStamp {
    EntryStamp { size, modified, grain, is_local: false }
}

/// The fields of a line with their places.
fn fields_of(line: &[u8]) -> Vec<(usize, &[u8])> {
    let (mut fields, mut at) = (Vec::with_capacity(9), 0);
    while fields.len() < 24 {
        let Some(start) = line[at..].iter().position(|b| *b != b' ').map(|skip| at + skip) else { break };
        let end = line[start..].iter().position(|b| *b == b' ').map_or(line.len(), |len| start + len);
        fields.push((start, &line[start..end]));
        at = end;
    }
    fields
}

fn number(field: &[u8]) -> Option<u64> {
    std::str::from_utf8(field).ok().filter(|text| text.bytes().all(|b| b.is_ascii_digit()))?.parse().ok()
}

fn month_of(field: &[u8]) -> Option<i64> {
    const MONTHS: [&[u8; 3]; 12] =
        [b"jan", b"feb", b"mar", b"apr", b"may", b"jun", b"jul", b"aug", b"sep", b"oct", b"nov", b"dec"];
    let place = MONTHS.iter().position(|month| field.eq_ignore_ascii_case(*month))?;
    i64::try_from(place + 1).ok()
}

/// `Nov 17 06:07` of the last half year, or `Nov 17 2025`.
fn people_time(month: &[u8], day: &[u8], rest: &[u8], now: Moment) -> Option<(Moment, i64)> {
    let (month, day) = (month_of(month)?, i64::try_from(number(day)?).ok()?);
    let rest = std::str::from_utf8(rest).ok()?;
    let Some((hour, minute)) = rest.split_once(':') else {
        let year = rest.parse().ok()?;
        return Some((Moment::from_civil((year, month, day), (0, 0, 0))?, DAY));
    };
    let (hour, minute) = (hour.parse().ok()?, minute.parse().ok()?);
    let year = now.civil().year;
    let candidates = [year + 1, year, year - 1].map(|year| Moment::from_civil((year, month, day), (hour, minute, 0)));
    // The latest that is not in the future, by more than the clocks of time zones are apart.
    let at = candidates.into_iter().flatten().find(|at| at.0 <= now.0 + 2 * DAY)?;
    (now.0 - at.0 <= 2 * HALF_YEAR).then_some((at, MINUTE))
}

/// `11-17-26` or `11-17-2026`, and `06:07AM` or `18:07`.
fn dos_time(date: &str, time: &str) -> Option<Moment> {
    let mut date = date.split('-').map(|part| part.parse::<i64>().ok());
    let (month, day, year) = (date.next()??, date.next()??, date.next()??);
    let year = match year {
        0..70 => 2000 + year,
        70..100 => 1900 + year,
        _ => year,
    };
    let upper = time.to_ascii_uppercase();
    let (clock, afternoon) = match (upper.strip_suffix("AM"), upper.strip_suffix("PM")) {
        (Some(clock), _) => (clock, Some(false)),
        (_, Some(clock)) => (clock, Some(true)),
        _ => (upper.as_str(), None),
    };
    let (hour, minute) = clock.split_once(':')?;
    let (hour, minute): (i64, i64) = (hour.parse().ok()?, minute.parse().ok()?);
    let hour = match afternoon {
        Some(afternoon) => hour % 12 + if afternoon { 12 } else { 0 },
        None => hour,
    };
    Moment::from_civil((year, month, day), (hour, minute, 0))
}

#[cfg(test)]
mod tests;
