//! Does everything that is put into an index come out again, however it was batched?
#![allow(clippy::unwrap_used, reason = "what goes wrong here fails the test")]

use orb_index::{
    ExistingIndex, IndexEntry, IndexError, IndexSplitReader, PageIndexWriter, SearchRequest, Searcher, StemLanguage,
    Stems, TokenizedText, Weights, WriterRules, pack,
};
use orb_page::{Moment, PageId};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Three threads with so little memory that each writes several segments.
fn rules() -> WriterRules {
    WriterRules { memory: 1, threads: 3, stems: Stems::default() }
}

/// A page of a thousand words, including its number and its edition.
fn page(number: u64, edition: &str) -> IndexEntry {
    let filler: String = (0..998).map(|n| format!("w{} ", (number * 31 + n * 7) % 5_000)).collect();
    let text = TokenizedText::of(&format!("page{number} {edition} {filler}"));
    let url = format!("http://a/{number}");
    IndexEntry { page: PageId(number), cluster: PageId(number), at: Moment(1), url, text, ..IndexEntry::default() }
}

fn total(dir: &Path, query: &str) -> u64 {
    let weights = Weights::default();
    let request =
        SearchRequest { query, limit: 1, offset: 0, per_host: 0, weights: &weights, now: Moment(0), explain: false };
    Searcher::open(dir).unwrap().search(&request, None).unwrap().total
}

#[test]
fn pages_put_replaced_and_taken_out_between_commits_are_as_they_were_last() {
    let dir = tempfile::tempdir().unwrap();
    let (mut writer, _) = PageIndexWriter::open(dir.path(), &rules()).unwrap();
    (0..3_000).for_each(|n| writer.put(page(n, "first")).unwrap());
    writer.commit(Some("1")).unwrap();
    assert!(Searcher::open(dir.path()).unwrap().segments() > 3, "memory for one segment was enough");
    // Known from the last commit; put since; put and replaced since; deleted and put again.
    (0..200).for_each(|n| writer.put(page(n, "second")).unwrap());
    (3_000..3_100).for_each(|n| writer.put(page(n, "first")).unwrap());
    (100..150).for_each(|n| writer.put(page(n, "third")).unwrap());
    (3_000..3_050).for_each(|n| writer.forget(PageId(n)).unwrap());
    (3_000..3_010).for_each(|n| writer.put(page(n, "third")).unwrap());
    let to_be = writer.pages();
    writer.commit(Some("2")).unwrap();
    writer.finish().unwrap();
    let editions = ["first", "second", "third"].map(|edition| total(dir.path(), edition));
    assert_eq!(editions, [3_000 - 200 + 50, 150, 60]);
    assert_eq!(["page7", "page120 third", "page3040"].map(|query| total(dir.path(), query)), [1, 1, 0]);
    let (writer, found) = PageIndexWriter::open(dir.path(), &rules()).unwrap();
    assert_eq!(found, ExistingIndex::Index(Some("2".to_owned())));
    assert_eq!(writer.holdings().unwrap().len(), 3_060);
    assert!(writer.holdings().unwrap().iter().map(|(page, _)| page).eq(&to_be));
}

#[test]
fn what_was_not_committed_is_not_there() {
    let dir = tempfile::tempdir().unwrap();
    let (mut writer, _) = PageIndexWriter::open(dir.path(), &rules()).unwrap();
    writer.put(page(1, "first")).unwrap();
    writer.commit(Some("1")).unwrap();
    (2..2_000).for_each(|n| writer.put(page(n, "second")).unwrap());
    drop(writer);
    assert_eq!((total(dir.path(), "first"), total(dir.path(), "second")), (1, 0));
    let (mut writer, found) = PageIndexWriter::open(dir.path(), &rules()).unwrap();
    assert_eq!(found, ExistingIndex::Index(Some("1".to_owned())));
    writer.put(page(1, "third")).unwrap();
    writer.commit(Some("2")).unwrap();
    writer.finish().unwrap();
    assert_eq!(["first", "second", "third"].map(|edition| total(dir.path(), edition)), [0, 0, 1]);
}

/// A split of these pages, fetched at these times, packed into a file.
fn split(dir: &Path, stems: &Stems, pages: &[(u64, i64, &str)]) -> PathBuf {
    let (index, file) = (dir.join("made"), dir.join("packed"));
    let mut writer = PageIndexWriter::make(&index, &WriterRules { stems: stems.clone(), ..rules() }).unwrap();
    for (number, at, edition) in pages {
        writer.put(IndexEntry { at: Moment(*at), ..page(*number, edition) }).unwrap();
    }
    writer.commit(None).unwrap();
    writer.finish().unwrap();
    let packed = pack(&index, &file).unwrap();
    assert_eq!(packed, pages.iter().map(|(number, ..)| number).collect::<BTreeSet<_>>().len() as u64);
    file
}

#[test]
fn what_is_wanted_of_a_split_is_taken_over_and_replaces_what_was_there() {
    let (dir, stems) = (tempfile::tempdir().unwrap(), Stems::default());
    let (index, unpacked) = (dir.path().join("index"), dir.path().join("unpacked"));
    let (mut writer, _) = PageIndexWriter::open(&index, &rules()).unwrap();
    (0..20).for_each(|n| writer.put(page(n, "first")).unwrap());
    writer.commit(Some("1")).unwrap();
    // One page was put twice where the split was made.
    let mut pages: Vec<_> = (10..40).map(|n| (n, 2, "second")).collect();
    pages.push((35, 3, "third"));
    let file = split(dir.path(), &stems, &pages);
    let split = IndexSplitReader::unpack(&file, &unpacked, &stems).unwrap();
    let mut offered = Vec::new();
    let taken = writer.take_over(&split, &mut |entry| {
        offered.push((entry.page.0, entry.at.0));
        entry.page.0 >= 15
    });
    assert_eq!(taken.unwrap(), 25);
    offered.sort_unstable();
    assert_eq!(offered, (10..40).map(|n| (n, if n == 35 { 3 } else { 2 })).collect::<Vec<_>>());
    writer.commit(Some("2")).unwrap();
    let editions = ["first", "second", "third", "page12", "page17 second"].map(|query| total(&index, query));
    assert_eq!(editions, [15, 24, 1, 1, 1]);
    // A second time, everything in it is wanted: its segments are copied as they are.
    assert_eq!(writer.take_over(&split, &mut |_| true).unwrap(), 30);
    writer.commit(Some("3")).unwrap();
    writer.finish().unwrap();
    assert_eq!(["first", "second", "third"].map(|query| total(&index, query)), [10, 29, 1]);
    assert_eq!(Searcher::open(&index).unwrap().damaged().unwrap(), Vec::<PathBuf>::new());
}

#[test]
fn a_split_that_is_damaged_cut_off_or_stemmed_otherwise_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let unpacked = dir.path().join("unpacked");
    let file = split(dir.path(), &Stems::default(), &[(1, 1, "first"), (2, 1, "first")]);
    let whole = std::fs::read(&file).unwrap();
    let unpack = |bytes: &[u8], stems: &Stems| {
        std::fs::write(&file, bytes).unwrap();
        IndexSplitReader::unpack(&file, &unpacked, stems).map(drop)
    };
    unpack(&whole, &Stems::default()).unwrap();
    let english = Stems(vec![StemLanguage::English]);
    let mut damaged = whole.clone();
    let place = damaged.len() * 2 / 3;
    damaged[place] ^= 1;
    for (what, refused) in [
        ("stemmed", unpack(&whole, &english)),
        ("damaged", unpack(&damaged, &Stems::default())),
        ("cut off", unpack(&whole[..whole.len() - 9], &Stems::default())),
        ("cut off in its header", unpack(&whole[..20], &Stems::default())),
        ("something else", unpack(b"<html>no such object</html>", &Stems::default())),
    ] {
        assert!(refused.as_ref().is_err_and(IndexError::is_unfit), "{what}: {refused:?}");
    }
}
