//! How does a link into another shard get there, once?
//!
//! What a batch has to say to another shard is one row: its letters together, compressed. It is
//! written in the transaction of the pages that say it and deleted in the transaction of what
//! becomes of it, so that a letter is lost or read twice only if a page is. The row's key names the
//! sender and its batch: writing one twice is an error of the database, not a doubled link.

use super::connect::{Redial, SharedLine};
use super::rows::CopyRows;
use super::{ShardId, WorkerId};
use crate::error::{Result, StoreError};
use crate::index::{put_varint, take_varint};
use orb_page::{LinkKind, Moment, PageId, SkipReason, Verdict};
use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

/// What one shard tells another.
#[derive(Clone, Debug, PartialEq)]
pub enum Letter {
    /// A page of yours is linked to, or is a seed.
    Found(FoundLetter),
    /// This content was seen: who was first?
    Digest(DigestLetter),
    /// A page of yours repeats another.
    Same(SameLetter),
    /// A page of yours is nearer to the seeds than it seemed.
    Nearer(NearerLetter),
}

/// A page of yours is linked to, or is a seed.
#[derive(Clone, Debug, PartialEq)]
pub struct FoundLetter {
    /// The page it was found on, and that page's shard; `None` for a seed, page 0 for a robots.txt.
    pub from: Option<(PageId, ShardId)>,
    /// When it was found.
    pub at: Moment,
    /// The worker that found it.
    pub by: Arc<str>,
    /// The step of the project in which it is collected.
    pub step: Option<u32>,
    /// The target's distance from the seed.
    pub depth: u32,
    /// The length of the redirect chain that leads to the target.
    pub redirects: u8,
    /// The target's canonical URL.
    pub url: String,
    /// The URL to request if it is not the canonical one.
    pub asked: Option<String>,
    /// The kind of link.
    pub kind: LinkKind,
    /// Its anchor text.
    pub anchor: String,
    /// Its `rel`.
    pub rel: String,
    /// How often it occurs on the page.
    pub count: u32,
    /// Its priority, 0 to 1.
    pub priority: f32,
    /// Whether to follow it.
    pub verdict: Verdict,
    /// Whether it becomes a row.
    pub row: bool,
}

impl FoundLetter {
    /// A page from which a crawl begins: a seed, or with another kind a sitemap.
    pub fn root(url: &str, step: Option<u32>, at: Moment, by: &Arc<str>) -> Self {
        Self {
            from: None,
            at,
            by: Arc::clone(by),
            step,
            depth: 0,
            redirects: 0,
            url: url.to_owned(),
            asked: None,
            kind: LinkKind::A,
            anchor: String::new(),
            rel: String::new(),
            count: 1,
            priority: 1.0,
            verdict: Verdict::Follow,
            row: false,
        }
    }
}

/// Some content was seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DigestLetter {
    /// sha256 of the content.
    pub digest: [u8; 32],
    /// The page that has it.
    pub page: PageId,
    /// That page's shard, where an answer goes.
    pub shard: ShardId,
}

/// A page repeats another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SameLetter {
    /// The page.
    pub page: PageId,
    /// The one that was first.
    pub of: PageId,
}

/// A page's depth was corrected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NearerLetter {
    /// The page.
    pub page: PageId,
    /// Its distance from the seeds.
    pub depth: u32,
}

/// Which letters: those of one batch to one shard.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct LetterId {
    /// The shard they are for.
    pub to: ShardId,
    /// The worker that wrote them; 0 for whoever planted a run.
    pub from: WorkerId,
    /// Its batch.
    pub batch: u64,
}

/// Letters to digest together.
#[derive(Clone, Debug, PartialEq)]
pub struct LetterBundle {
    /// Which they are.
    pub id: LetterId,
    /// How many bytes they take, about.
    pub bytes: usize,
    /// The letters.
    pub letters: Vec<Letter>,
}

/// Reads what is written to the shards of a worker. One thread's.
pub struct Mailbox {
    line: Redial,
    delivered: HashSet<LetterId>,
}

impl Mailbox {
    pub(super) fn new(line: Redial) -> Self {
        Self { line, delivered: HashSet::new() }
    }

    /// Letters to these shards that this mailbox has not delivered yet, up to about `bytes`.
    pub fn read(&mut self, shards: &[ShardId], bytes: usize) -> Result<Vec<LetterBundle>> {
        let Self { line, delivered } = self;
        // What was lost with its shard must not be kept out when the shard comes back.
        delivered.retain(|id| shards.contains(&id.to));
        let shards: Vec<i16> = shards.iter().map(|shard| shard.sql()).collect();
        let found = line.with(|line| {
            let heads = line.prepared(
                "look for letters",
                "SELECT to_shard, sender, batch, octet_length(body) FROM letter WHERE to_shard = ANY($1) ORDER BY at LIMIT 10000",
            )?;
            let rows = line.wait("look for letters", line.client().query(&heads, &[&shards]))?;
            let (mut wanted, mut size) = (Vec::new(), 0);
            for row in rows {
                let id = LetterId {
                    to: ShardId::from_sql(row.get(0)),
                    from: WorkerId(row.get(1)),
                    batch: row.get::<_, i64>(2).cast_unsigned(),
                };
                if delivered.contains(&id) {
                    continue;
                }
                if size > bytes {
                    break;
                }
                size += usize::try_from(row.get::<_, i32>(3)).unwrap_or(0);
                wanted.push(id);
            }
            fetch(line, &wanted)
        })?;
        delivered.extend(found.iter().map(|delivery| delivery.id));
        Ok(found)
    }

    /// Forgets letters that a commit has deleted.
    pub fn settle(&mut self, read: &[LetterId]) {
        read.iter().for_each(|id| _ = self.delivered.remove(id));
    }
}

fn fetch(line: &mut SharedLine, wanted: &[LetterId]) -> Result<Vec<LetterBundle>> {
    if wanted.is_empty() {
        return Ok(Vec::new());
    }
    let (to, from, batch) = columns(wanted);
    let sql = line.prepared(
        "read letters",
        "SELECT l.to_shard, l.sender, l.batch, l.body FROM letter l
         JOIN unnest($1::smallint[], $2::bigint[], $3::bigint[]) AS w(to_shard, sender, batch) USING (to_shard, sender, batch)",
    )?;
    let rows = line.wait("read letters", line.client().query(&sql, &[&to, &from, &batch]))?;
    let mut found = Vec::with_capacity(rows.len());
    for row in rows {
        let id = LetterId {
            to: ShardId::from_sql(row.get(0)),
            from: WorkerId(row.get(1)),
            batch: row.get::<_, i64>(2).cast_unsigned(),
        };
        let (letters, bytes) = unpack(row.get(3)).ok_or_else(|| {
            StoreError::Shared(format!(
                "letter {} of worker {} to shard {} cannot be read",
                id.batch, id.from.0, id.to.0
            ))
        })?;
        found.push(LetterBundle { id, bytes, letters });
    }
    Ok(found)
}

/// The ids as columns.
fn columns(ids: &[LetterId]) -> (Vec<i16>, Vec<i64>, Vec<i64>) {
    let mut columns = (Vec::new(), Vec::new(), Vec::new());
    for id in ids {
        columns.0.push(id.to.sql());
        columns.1.push(id.from.0);
        columns.2.push(id.batch.cast_signed());
    }
    columns
}

/// Deletes letters within the transaction of what became of them. One that is not there any more
/// was consumed by somebody else, which must not be.
pub(super) fn consume(line: &mut SharedLine, read: &[LetterId]) -> Result<()> {
    if read.is_empty() {
        return Ok(());
    }
    let (to, from, batch) = columns(read);
    let sql = line.prepared(
        "consume letters",
        "DELETE FROM letter l USING unnest($1::smallint[], $2::bigint[], $3::bigint[]) AS w(to_shard, sender, batch)
         WHERE l.to_shard = w.to_shard AND l.sender = w.sender AND l.batch = w.batch",
    )?;
    let gone = line.wait("consume letters", line.client().execute(&sql, &[&to, &from, &batch]))?;
    if gone == read.len() as u64 {
        return Ok(());
    }
    Err(StoreError::BadBatch(format!("{} of {} letters are not there any more", read.len() as u64 - gone, read.len())))
}

/// The rows of a batch's letters, one for each shard they go to.
pub(super) fn rows(sender: WorkerId, batch: u64, letters: &[(ShardId, Letter)]) -> Result<CopyRows> {
    let mut sorted: BTreeMap<ShardId, Vec<&Letter>> = BTreeMap::new();
    for (to, letter) in letters {
        sorted.entry(*to).or_default().push(letter);
    }
    let mut rows = CopyRows::default();
    for (to, letters) in sorted {
        let count = i32::try_from(letters.len()).unwrap_or(i32::MAX);
        let body = pack(letters.into_iter())?;
        rows.row(5).small(to.sql()).big(sender.0).unsigned(batch).int(count).blob(&body);
    }
    Ok(rows)
}

/// Writes letters that no worker sends, within a transaction.
pub(super) fn write_from_nobody(line: &SharedLine, letters: &BTreeMap<ShardId, Vec<Letter>>) -> Result<()> {
    let no = "SELECT coalesce(max(batch), 0) + 1 FROM letter WHERE sender = 0";
    let batch: i64 = line.wait("write letters", line.client().query_one(no, &[]))?.get(0);
    for (to, letters) in letters {
        let (body, count) = (pack(letters.iter())?, i32::try_from(letters.len()).unwrap_or(i32::MAX));
        let sql = "INSERT INTO letter (to_shard, sender, batch, letters, body) VALUES ($1, 0, $2, $3, $4)";
        line.wait("write letters", line.client().execute(sql, &[&to.sql(), &batch, &count, &body]))?;
    }
    Ok(())
}

const FORMAT: u64 = 1;

fn pack<'a>(letters: impl Iterator<Item = &'a Letter>) -> Result<Vec<u8>> {
    let mut out = Vec::new();
    put_varint(&mut out, FORMAT);
    letters.for_each(|letter| put(&mut out, letter));
    zstd::bulk::compress(&out, 1).map_err(StoreError::Output)
}

fn put(out: &mut Vec<u8>, letter: &Letter) {
    match letter {
        Letter::Found(found) => {
            put_varint(out, 0);
            put_found(out, found);
        }
        Letter::Digest(seen) => {
            put_varint(out, 1);
            out.extend_from_slice(&seen.digest);
            put_varint(out, seen.page.0);
            put_varint(out, u64::from(seen.shard.0));
        }
        Letter::Same(same) => {
            put_varint(out, 2);
            put_varint(out, same.page.0);
            put_varint(out, same.of.0);
        }
        Letter::Nearer(nearer) => {
            put_varint(out, 3);
            put_varint(out, nearer.page.0);
            put_varint(out, u64::from(nearer.depth));
        }
    }
}

fn put_found(out: &mut Vec<u8>, found: &FoundLetter) {
    let text = |out: &mut Vec<u8>, text: &str| {
        put_varint(out, text.len() as u64);
        out.extend_from_slice(text.as_bytes());
    };
    let (verdict, why) = match found.verdict {
        Verdict::Follow => (0, ""),
        Verdict::Outside(why) => (1, why.name()),
    };
    put_varint(out, found.from.map_or(0, |(page, _)| page.0 + 1));
    put_varint(out, found.from.map_or(0, |(_, shard)| u64::from(shard.0)));
    put_varint(out, found.at.0.cast_unsigned());
    text(out, &found.by);
    put_varint(out, found.step.map_or(0, |step| u64::from(step) + 1));
    put_varint(out, u64::from(found.depth));
    put_varint(out, u64::from(found.redirects));
    text(out, &found.url);
    put_varint(out, u64::from(found.asked.is_some()));
    text(out, found.asked.as_deref().unwrap_or(""));
    put_varint(out, u64::from(found.kind.code()));
    text(out, &found.anchor);
    text(out, &found.rel);
    put_varint(out, u64::from(found.count));
    out.extend_from_slice(&found.priority.to_le_bytes());
    put_varint(out, verdict);
    text(out, why);
    put_varint(out, u64::from(found.row));
}

/// The most that one body may unpack to.
const MOST: usize = 1 << 30;

/// The letters of a body, and how many bytes they take when it is unpacked.
fn unpack(body: &[u8]) -> Option<(Vec<Letter>, usize)> {
    let bytes =
        zstd::bulk::decompress(body, MOST.min(zstd::bulk::Decompressor::upper_bound(body).unwrap_or(MOST))).ok()?;
    let mut reader = LetterBytes(&bytes);
    if reader.number()? != FORMAT {
        return None;
    }
    let mut letters = Vec::new();
    while !reader.0.is_empty() {
        letters.push(reader.letter()?);
    }
    Some((letters, bytes.len()))
}

/// Letters as bytes, read from the front.
struct LetterBytes<'a>(&'a [u8]);

impl LetterBytes<'_> {
    fn number(&mut self) -> Option<u64> {
        take_varint(&mut self.0)
    }

    fn narrow<T: TryFrom<u64>>(&mut self) -> Option<T> {
        self.number()?.try_into().ok()
    }

    fn bytes<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (bytes, rest) = self.0.split_first_chunk::<N>()?;
        self.0 = rest;
        Some(*bytes)
    }

    fn text(&mut self) -> Option<String> {
        let length: usize = self.narrow()?;
        let (text, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        String::from_utf8(text.to_vec()).ok()
    }

    fn letter(&mut self) -> Option<Letter> {
        Some(match self.number()? {
            0 => Letter::Found(self.found()?),
            1 => {
                let digest = self.bytes()?;
                Letter::Digest(DigestLetter { digest, page: PageId(self.number()?), shard: ShardId(self.narrow()?) })
            }
            2 => Letter::Same(SameLetter { page: PageId(self.number()?), of: PageId(self.number()?) }),
            3 => Letter::Nearer(NearerLetter { page: PageId(self.number()?), depth: self.narrow()? }),
            _ => return None,
        })
    }

    fn found(&mut self) -> Option<FoundLetter> {
        let (page, shard) = (self.number()?, ShardId(self.narrow()?));
        let from = page.checked_sub(1).map(|page| (PageId(page), shard));
        let (at, by) = (Moment(self.number()?.cast_signed()), self.text()?.into());
        let step = self.number()?.checked_sub(1).and_then(|step| step.try_into().ok());
        let (depth, redirects, url) = (self.narrow()?, self.narrow()?, self.text()?);
        let (differs, asked) = (self.number()? == 1, self.text()?);
        let kind = LinkKind::from_code(self.narrow()?)?;
        let (anchor, rel, count) = (self.text()?, self.text()?, self.narrow()?);
        let priority = f32::from_le_bytes(self.bytes()?);
        let (outside, why) = (self.number()? == 1, self.text()?);
        let verdict = if outside { Verdict::Outside(SkipReason::from_name(&why)?) } else { Verdict::Follow };
        let row = self.number()? == 1;
        let asked = differs.then_some(asked);
        Some(FoundLetter {
            from,
            at,
            by,
            step,
            depth,
            redirects,
            url,
            asked,
            kind,
            anchor,
            rel,
            count,
            priority,
            verdict,
            row,
        })
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "what goes wrong here fails the test")]

    use super::*;
    use orb_page::Trap;

    fn found(from: Option<(PageId, ShardId)>, verdict: Verdict) -> Letter {
        Letter::Found(FoundLetter {
            from,
            at: Moment(1_700_000_000_123),
            by: "w-1".into(),
            step: from.map(|_| 0),
            depth: 7,
            redirects: 3,
            url: "http://b\u{fc}.example/".to_owned(),
            asked: from.map(|_| String::new()),
            kind: LinkKind::Document,
            anchor: "words".to_owned(),
            rel: "nofollow".to_owned(),
            count: u32::MAX,
            priority: 0.25,
            verdict,
            row: from.is_some(),
        })
    }

    #[test]
    fn letters_arrive_as_they_were_written() {
        let all = [
            found(None, Verdict::Follow),
            found(Some((PageId(0), ShardId(1_023))), Verdict::Outside(SkipReason::Trap(Trap::Calendar))),
            Letter::Digest(DigestLetter { digest: [7; 32], page: PageId(u64::from(u32::MAX)), shard: ShardId(5) }),
            Letter::Same(SameLetter { page: PageId(2), of: PageId(1) }),
            Letter::Nearer(NearerLetter { page: PageId(7), depth: 3 }),
        ];
        let body = pack(all.iter()).unwrap();
        assert_eq!(unpack(&body).unwrap().0, all);
        assert_eq!(unpack(&body[..body.len() - 1]), None);
        assert_eq!(unpack(b"rubbish"), None);
    }
}
