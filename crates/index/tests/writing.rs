//! Does everything that is put into an index come out again, however it was batched?
#![allow(clippy::unwrap_used, reason = "what goes wrong here fails the test")]

use orb_index::{
    ExistingIndex, IndexEntry, PageIndexWriter, SearchRequest, Searcher, Stems, TokenizedText, Weights, WriterRules,
};
use orb_page::{Moment, PageId};
use std::path::Path;

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
