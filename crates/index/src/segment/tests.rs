#![allow(clippy::unwrap_used, reason = "what goes wrong here fails the test")]
//! Compares our segments with those that the engine writes for the same documents.

use super::*;
use proptest::prelude::*;
use tantivy::postings::Postings as _;
use tantivy::schema::{FAST, INDEXED, NumericOptions, TextOptions};
use tantivy::{DocSet as _, IndexWriter, TERMINATED};

/// A document: its number, a list of texts, and a text; words are separated by spaces.
type Written = (u64, Vec<String>, String);

const ID: Field = Field::from_field_id(0);
const TEXT: Field = Field::from_field_id(1);
const TAG: Field = Field::from_field_id(2);

fn index() -> Index {
    let mut schema = Schema::builder();
    schema.add_u64_field("id", NumericOptions::from(INDEXED) | FAST);
    let words = TextFieldIndexing::default().set_tokenizer("whitespace");
    let text = words.clone().set_index_option(IndexRecordOption::WithFreqsAndPositions);
    schema.add_text_field("text", TextOptions::default().set_indexing_options(text));
    let tag = words.set_index_option(IndexRecordOption::Basic).set_fieldnorms(false);
    schema.add_text_field("tag", TextOptions::default().set_indexing_options(tag));
    Index::create_in_ram(schema.build())
}

fn by_us(documents: &[Written]) -> Index {
    let index = index();
    let mut writer: IndexWriter = index.writer_with_num_threads(1, 16_000_000).unwrap();
    let mut pile = Pile::of(&index.schema()).unwrap();
    for (id, texts, tags) in documents {
        let cuts: Vec<TokenizedText> =
            texts.iter().map(|text| TokenizedText::of_words(text.split_whitespace())).collect();
        let words = cuts.iter().map(|cut| (TEXT, Text::Words(cut)));
        let tags = std::iter::once((TAG, Text::Tags(tags)));
        pile.add(*id, &NumericFields(vec![(ID, NumericValue::Number(*id))]), tags.chain(words)).unwrap();
    }
    writer.add_segment(pile.write(&index).unwrap()).unwrap();
    writer.commit().unwrap();
    index
}

fn by_the_engine(documents: &[Written]) -> Index {
    let index = index();
    index.tokenizers().register("whitespace", tantivy::tokenizer::WhitespaceTokenizer::default());
    let mut writer: IndexWriter = index.writer_with_num_threads(1, 500_000_000).unwrap();
    for (id, texts, tags) in documents {
        let mut document = TantivyDocument::default();
        document.add_u64(ID, *id);
        texts.iter().for_each(|text| document.add_text(TEXT, text));
        document.add_text(TAG, tags);
        writer.add_document(document).unwrap();
    }
    writer.commit().unwrap();
    index
}

/// The full content of an index: each field's terms with documents, frequencies and positions;
/// lengths, columns, and sizes.
fn told(index: &Index) -> Vec<String> {
    let searcher = index.reader().unwrap().searcher();
    let [segment] = searcher.segment_readers() else { panic!("{} segments", searcher.segment_readers().len()) };
    let mut out = vec![format!("{} documents", segment.max_doc())];
    for (field, option) in [
        (ID, IndexRecordOption::Basic),
        (TEXT, IndexRecordOption::WithFreqsAndPositions),
        (TAG, IndexRecordOption::Basic),
    ] {
        let words = segment.inverted_index(field).unwrap();
        out.push(format!("{field:?}: {} words", words.total_num_tokens()));
        let mut stream = words.terms().stream().unwrap();
        while let Some((term, info)) = stream.next() {
            out.push(format!("{:?}: {}", String::from_utf8_lossy(term), info.doc_freq));
            let mut postings = words.read_postings_from_terminfo(info, option).unwrap();
            let mut places = Vec::new();
            while postings.doc() != TERMINATED {
                if option == IndexRecordOption::WithFreqsAndPositions {
                    postings.positions(&mut places);
                }
                out.push(format!("  {} {} {places:?}", postings.doc(), postings.term_freq()));
                postings.advance();
            }
        }
    }
    let (ids, lengths) = (segment.fast_fields().u64("id").unwrap(), segment.get_fieldnorms_reader(TEXT).unwrap());
    out.extend((0..segment.max_doc()).map(|doc| format!("{:?} {}", ids.first(doc), lengths.fieldnorm(doc))));
    let store = segment.get_store_reader(1).unwrap();
    out.extend(store.iter::<TantivyDocument>(None).map(|document| format!("{:?}", document.unwrap())));
    out
}

fn document() -> impl Strategy<Value = Written> {
    let text = "([a-d]{1,2}|abcdefgh[a-c]{0,2}|ü)( ([a-d]{1,2}|abcdefgh[a-c]{0,2}|ü)){0,30}";
    (0..50u64, proptest::collection::vec(text, 0..4), "[xy]( [xyz]){0,3}")
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]
    #[test]
    fn a_segment_says_what_the_engine_would_say(documents in proptest::collection::vec(document(), 1..40)) {
        prop_assert_eq!(told(&by_us(&documents)), told(&by_the_engine(&documents)));
    }
}

/// More tokens than fit in one sort pass, one term more frequent than that, and more documents than
/// an engine block holds.
#[test]
fn a_long_row_is_sorted_in_parts() {
    let mut dice = 1u64;
    let mut roll = |end: u64| {
        dice = dice.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (dice >> 33) % end
    };
    let mut text = |words: u64| {
        let word = |_| if roll(3) > 0 { "the".to_owned() } else { format!("w{}", roll(70_000).min(roll(70_000))) };
        (0..words).map(word).collect::<Vec<_>>().join(" ")
    };
    let documents: Vec<Written> = (0..300).map(|n| (n, vec![text(6_000), text(500)], "all".to_owned())).collect();
    assert_eq!(told(&by_us(&documents)), told(&by_the_engine(&documents)));
}
