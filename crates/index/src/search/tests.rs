#![allow(clippy::unwrap_used, reason = "what goes wrong here fails the test")]

use super::*;
use crate::search::source::any_of;
use crate::{
    AnchorWriter, ExistingIndex, IndexEntry, PageIndexWriter, SectionMark, StemLanguage, TokenizedText, WriterRules,
};

fn rules(stems: &[StemLanguage]) -> WriterRules {
    WriterRules { memory: 20_000_000, threads: 1, stems: Stems(stems.to_vec()) }
}

/// A page with number, URL, title and text.
fn page(number: u64, url: &str, title: &str, text: &str) -> IndexEntry {
    let (page, title, text) = (PageId(number), title.to_owned(), text.into());
    let simhash = number.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let lang = Some("en".to_owned());
    IndexEntry {
        page,
        cluster: page,
        at: Moment(1_000 * number.cast_signed()),
        url: url.to_owned(),
        title,
        text,
        simhash,
        lang,
        ..IndexEntry::default()
    }
}

fn indexed(pages: Vec<IndexEntry>) -> (tempfile::TempDir, Searcher) {
    let dir = tempfile::tempdir().unwrap();
    let (mut writer, found) = PageIndexWriter::open(dir.path(), &rules(&[])).unwrap();
    assert_eq!(found, ExistingIndex::Nothing);
    pages.into_iter().for_each(|page| writer.put(page).unwrap());
    writer.commit(Some("1")).unwrap();
    writer.finish().unwrap();
    let searcher = Searcher::open(dir.path()).unwrap();
    (dir, searcher)
}

fn request<'a>(query: &'a str, weights: &'a Weights) -> SearchRequest<'a> {
    SearchRequest { query, limit: 10, offset: 0, per_host: 0, weights, now: Moment(0), explain: false }
}

/// The numbers of the matching pages, best first.
fn found(searcher: &Searcher, query: &str) -> Vec<u64> {
    let answer = searcher.search(&request(query, &Weights::default()), None).unwrap();
    assert_eq!(answer.total as usize, answer.hits.iter().map(|hit| 1 + hit.alike.len()).sum::<usize>());
    answer.hits.iter().map(|hit| hit.page.0).collect()
}

fn sorted(mut pages: Vec<u64>) -> Vec<u64> {
    pages.sort_unstable();
    pages
}

fn library() -> (tempfile::TempDir, Searcher) {
    indexed(vec![
        page(
            1,
            "http://docs.a.org/json.html",
            "json — JSON encoder and decoder",
            "json.load reads a file. Use load to read.",
        ),
        page(2, "http://docs.a.org/pickle.html", "pickle", "Unlike json, pickle can load and dump objects from a file"),
        page(3, "http://b.org/vector/push_back", "std::vector::push_back", "Appends the given element to the end"),
        page(4, "http://b.org/vector", "std::vector", "vector has push_back and pop_back; the back is pushed"),
        page(5, "http://b.org/東京.txt", "東京", "東京都は日本の首都です"),
        page(6, "http://b.org/x.pdf", "Müller report", "the the the the report of Frau Müller on C++"),
    ])
}

#[test]
fn words_in_titles_and_addresses_count_for_more() {
    let (_dir, index) = library();
    assert_eq!(found(&index, "json load file"), [1, 2]);
    assert_eq!(found(&index, "vector push_back")[0], 3);
    assert_eq!(found(&index, "std::vector")[0], 4);
    assert_eq!(found(&index, "push"), [3, 4], "the parts of an identifier are found");
}

#[test]
fn phrases_fields_and_filters_narrow() {
    let (_dir, index) = library();
    assert_eq!(found(&index, "\"load and dump\""), [2]);
    assert_eq!(found(&index, "\"dump and load\""), Vec::<u64>::new());
    assert_eq!(sorted(found(&index, "title:vector")), [3, 4]);
    assert_eq!(found(&index, "vector -title:push_back"), [4]);
    assert_eq!(sorted(found(&index, "pickle OR report")), [2, 6]);
    assert_eq!(found(&index, "inurl:pdf"), [6]);
    assert_eq!(found(&index, "report filetype:pdf lang:en site:org host:b.org"), [6]);
    assert_eq!(found(&index, "report host:org"), Vec::<u64>::new());
    assert_eq!(sorted(found(&index, "site:a.org")), [1, 2]);
    assert_eq!(sorted(found(&index, "* since:1970 until:1970")), [1, 2, 3, 4, 5, 6]);
    assert_eq!(found(&index, "* until:1969"), Vec::<u64>::new());
}

#[test]
fn accents_case_signs_and_spelling_do_not_hide_a_page() {
    let (_dir, index) = library();
    assert_eq!(found(&index, "muller"), [6]);
    assert_eq!(found(&index, "MÜLLER c++"), [6]);
    assert_eq!(found(&index, "pikle~"), [2]);
    assert_eq!(found(&index, "encod*"), [1]);
}

#[test]
fn scripts_without_spaces_are_found_by_any_part() {
    let (_dir, index) = library();
    for query in ["東京", "東京都", "首都", "日本の首都", "都", "で"] {
        assert_eq!(found(&index, query), [5], "{query}");
    }
    assert_eq!(found(&index, "京東"), Vec::<u64>::new());
}

#[test]
fn where_no_page_has_all_words_those_with_some_are_given() {
    let (_dir, index) = library();
    let answer = index.search(&request("pickle zzz", &Weights::default()), None).unwrap();
    assert!(answer.relaxed && answer.hits[0].page == PageId(2));
    let answer = index.search(&request("pickle +zzz", &Weights::default()), None).unwrap();
    assert_eq!((answer.relaxed, answer.total), (false, 0));
}

#[test]
fn a_common_word_is_not_required() {
    let pages = (1..=20).map(|n| page(n, "http://a/", "t", if n == 7 { "rare thing" } else { "how to do it" }));
    let (_dir, index) = indexed(pages.collect());
    let answer = index.search(&request("how to rare", &Weights::default()), None).unwrap();
    assert_eq!((answer.relaxed, answer.hits[0].page), (false, PageId(7)));
    assert_eq!(found(&index, "+how rare"), Vec::<u64>::new());
}

#[test]
fn pages_that_say_the_same_are_one_result() {
    let mut pages: Vec<IndexEntry> =
        (1..=6).map(|n| page(n, &format!("http://h{}/{n}", n % 2), "t", "same words")).collect();
    pages[1].cluster = PageId(1);
    pages[4].simhash = pages[3].simhash ^ 0b101;
    for (page, host) in pages.iter_mut().zip([1, 2, 1, 1, 1, 2]) {
        page.host = HostId(host);
    }
    let (_dir, index) = indexed(pages);
    let answer = index.search(&request("same", &Weights::default()), None).unwrap();
    let groups: Vec<(u64, Vec<u64>)> =
        answer.hits.iter().map(|hit| (hit.page.0, hit.alike.iter().map(|p| p.0).collect())).collect();
    assert_eq!(groups, [(1, vec![2]), (3, vec![]), (4, vec![5]), (6, vec![])]);
    let weights = Weights::default();
    let few = index.search(&SearchRequest { per_host: 1, ..request("same", &weights) }, None).unwrap();
    assert_eq!(few.hits.iter().map(|hit| hit.page.0).collect::<Vec<_>>(), [1, 6]);
    let second = index.search(&SearchRequest { limit: 2, offset: 1, ..request("same", &weights) }, None).unwrap();
    assert_eq!(second.hits.iter().map(|hit| hit.page.0).collect::<Vec<_>>(), [3, 4]);
    assert_eq!(second.total, 6);
}

#[test]
fn importance_and_anchors_move_a_page_up() {
    let (dir, index) = indexed((1..=3).map(|n| page(n, "http://a/", "t", "some words")).collect());
    assert_eq!(found(&index, "words"), [1, 2, 3]);
    let important = |pages: &[PageId]| pages.iter().map(|p| if p.0 == 3 { 1.0 } else { 0.0 }).collect();
    let answer = index.search(&request("words", &Weights::default()), Some(&important)).unwrap();
    assert_eq!(answer.hits[0].page, PageId(3));
    assert!((answer.hits[0].score / answer.hits[0].text - 1.0 - f64::from(Weights::default().importance)).abs() < 1e-6);
    let mut writer = AnchorWriter::open(dir.path()).unwrap();
    writer.put(PageId(2), [("the best words", 9), ("élan", 1)].into_iter(), 10).unwrap();
    writer.put(PageId(99), [("words", 9)].into_iter(), 10).unwrap();
    writer.commit("7").unwrap();
    let index = Searcher::open(dir.path()).unwrap();
    assert_eq!(index.anchors_mark(), Some("7"));
    assert_eq!(found(&index, "words")[0], 2);
    assert_eq!(found(&index, "elan words"), [2], "a word of a link and a word of the page");
    assert_eq!(found(&index, "\"the best\""), [2]);
    assert_eq!(found(&index, "anchor:words"), [2]);
}

/// Pages over several windows and segments, some of them deleted, with terms of all, of many, of
/// few, and of anchor texts.
fn many() -> (tempfile::TempDir, Searcher) {
    let dir = tempfile::tempdir().unwrap();
    let (mut writer, _) = PageIndexWriter::open(dir.path(), &rules(&[])).unwrap();
    for n in 1..=10_000_u64 {
        let has = |word: &str, every: u64| {
            if n % every == 0 { format!("{word} ").repeat(1 + n as usize % 4) } else { String::new() }
        };
        let text = ["all", "half", "tenth", "rare"].iter().zip([1, 2, 10, 997]).map(|(word, every)| has(word, every));
        writer.put(page(n, &format!("http://h/{}", n % 50), &has("title", 7), &text.collect::<String>())).unwrap();
        if n % 6_000 == 0 {
            writer.commit(Some("1")).unwrap();
        }
    }
    (1..=10_000).step_by(11).for_each(|n| writer.forget(PageId(n)).unwrap());
    writer.commit(Some("1")).unwrap();
    writer.finish().unwrap();
    let mut anchors = AnchorWriter::open(dir.path()).unwrap();
    for n in (1..=10_000).rev().step_by(5) {
        anchors.put(PageId(n), [("half link", 1 + n % 3)].into_iter(), n).unwrap();
    }
    anchors.commit("1").unwrap();
    let searcher = Searcher::open(dir.path()).unwrap();
    assert!(searcher.segments() > 1);
    (dir, searcher)
}

/// The engine's query for pages with all soft clauses, or with any.
fn engine_query(plan: &QueryPlan, share: f32) -> Box<dyn tantivy::query::Query> {
    use tantivy::query::{BooleanQuery, Occur, Query};
    let mut clauses: Vec<(Occur, Box<dyn Query>)> =
        plan.clauses.iter().map(|clause| (clause.occur, any_of(&clause.sources))).collect();
    let soft = plan.soft.iter().map(|clause| any_of(&clause.sources));
    match share > 0.0 {
        // A clause without weight is not required.
        true => clauses.extend(
            soft.zip(&plan.soft)
                .map(|(query, clause)| (if clause.weight > 0.0 { Occur::Must } else { Occur::Should }, query)),
        ),
        false if !plan.soft.is_empty() => clauses.push((Occur::Must, Box::new(BooleanQuery::union(soft.collect())))),
        false => {}
    }
    Box::new(BooleanQuery::new(clauses))
}

#[test]
fn what_is_gathered_is_what_the_engine_itself_finds() {
    let (_dir, index) = many();
    let queries = "all|rare|half tenth|rare all|rare half tenth|half link|link title rare|all -half|rare -tenth -link|half OR rare|\
        (half tenth) OR rare|\"tenth half\" rare|\"half tenth\"|rare \"all half\"|title:title half|inurl:7 link|ra* half|hafl~ rare|* -all|\
        * rare|(half -tenth) link|anchor:\"half link\" rare|all half tenth link title|+all rare|nothing|nothing half|site:h rare";
    for (text, share) in queries.split('|').flat_map(|text| [(text, 1.0), (text, 0.0)]) {
        let reading = index.read(parse(text, Moment(0)).unwrap(), false).unwrap();
        let units = index.units(&reading).unwrap();
        let plan = index.plan(&reading, &units, &Stems::default(), &Weights::default()).unwrap();
        let query = engine_query(&plan, share);
        for most in [1, 50, 20_000] {
            let mut ours = index.gather(&plan, share, most).unwrap();
            let both = (tantivy::collector::Count, tantivy::collector::TopDocs::with_limit(most).order_by_score());
            let (total, best) = index.engine.search(&query, &both).unwrap();
            assert_eq!((ours.total, ours.best.len()), (total as u64, best.len()), "{text}");
            ours.best.sort_by(|a, b| b.0.total_cmp(&a.0));
            for (ours, theirs) in ours.best.iter().zip(&best) {
                assert!((ours.0 - theirs.0).abs() < 1e-4, "{text}: {ours:?} is not {theirs:?}");
            }
            let places = |best: &[(Score, DocAddress)]| best.iter().map(|(_, at)| *at).collect::<HashSet<_>>();
            assert!(most < 20_000 || places(&ours.best) == places(&best), "{text}");
        }
    }
}

#[test]
fn a_page_may_lack_a_common_word_but_not_a_rare_one() {
    let text = |n: u64| match n {
        7 => "quick sorting",
        8 => "quick list",
        _ if n.is_multiple_of(2) => "list of words",
        _ => "other words",
    };
    let (_dir, index) = indexed((1..=40).map(|n| page(n, &format!("http://a/{n}"), "t", text(n))).collect());
    assert_eq!(found(&index, "quick sorting of a list"), [7, 8]);
    let answer = index.search(&request("quick sorting list", &Weights::default()), None).unwrap();
    assert!(answer.relaxed, "no page has all three");
    assert_eq!(found(&index, "quick +sorting list"), [7]);
}

#[test]
fn other_forms_of_a_word_are_found_and_count_less() {
    let (_dir, index) = indexed(vec![
        page(1, "http://a/1", "t", "the tables are sorted"),
        page(2, "http://a/2", "t", "a table is sortable"),
        page(3, "http://a/3", "t", "sorting one table of many"),
        page(4, "http://a/4", "t", "a filename"),
    ]);
    assert_eq!(sorted(found(&index, "sort tables")), [1, 3], "sort itself is nowhere");
    assert_eq!(found(&index, "tables")[0], 1);
    assert_eq!(sorted(found(&index, "tables")), [1, 2, 3]);
    assert_eq!(found(&index, "+tables"), [1], "insisted upon");
    assert_eq!(found(&index, "\"tables are\""), [1]);
    assert_eq!(found(&index, "file name"), [4], "two words in one");
}

#[test]
fn contractions_are_read_in_full_and_words_in_both_spellings() {
    let (_dir, index) = indexed(vec![
        page(1, "http://a/1", "t", "python has a collector of garbage"),
        page(2, "http://a/2", "t", "the color of a wall"),
        page(3, "http://a/3", "t", "a colour by name, and what s is"),
    ]);
    let total = |query: &str| index.search(&request(query, &Weights::default()), None).unwrap().total;
    assert_eq!(found(&index, "what's python's collector"), [1]);
    assert_eq!(found(&index, "why can’t garbage"), [1]);
    assert_eq!(total("\"what's\""), 1, "a phrase is as it is written");
    assert_eq!(sorted(found(&index, "colour")), [2, 3]);
    assert_eq!(found(&index, "+colour"), [3]);
}

#[test]
fn a_misspelt_word_is_corrected_from_the_collection_and_said_so() {
    let mut pages: Vec<IndexEntry> =
        (1..=80).map(|n| page(n, &format!("http://a/{n}"), "t", "a regular expression matches a pattern")).collect();
    pages.push(page(99, "http://a/99", "t", "a regular expresion by mistake, and pushback"));
    let (_dir, index) = indexed(pages);
    let asked = |query: &str| {
        let answer = index.search(&request(query, &Weights::default()), None).unwrap();
        let told: Vec<String> = answer.corrections.iter().map(|c| format!("{}={}", c.typed, c.used)).collect();
        (answer.total, told.join(" "))
    };
    assert_eq!(asked("regular expressoin"), (80, "expressoin=expression".to_owned()));
    assert_eq!(asked("regular expresion").1, "expresion=expression", "far rarer than its neighbour");
    assert_eq!(asked("regular +expresion"), (1, String::new()));
    assert_eq!(asked("\"expresion\""), (1, String::new()));
    assert_eq!(asked("regularPattern"), (0, "regularPattern=regular_pattern".to_owned()));
    assert_eq!(asked("pushback"), (1, String::new()), "rare, and like no other word");
    assert_eq!(asked("regx 123456 zzzzzzzz").1, "", "too far from anything");
}

#[test]
fn the_section_that_answers_is_told() {
    let body = "Built-in functions abs gives the absolute value open opens a file and returns it sorted sorts a list";
    let (text, begins) = TokenizedText::with_positions(body, &[0, 19, 47, 80]);
    let titles = ["Built-in functions", "abs", "open", "sorted"];
    let marks = titles.iter().zip(begins).zip([1, 7, 7, 7]);
    let sections = marks.map(|((title, begin), level)| SectionMark::new(begin, level, title, Some("en"))).collect();
    let pages = vec![
        IndexEntry { text, sections, ..page(1, "http://a/functions", "Functions", "") },
        page(2, "http://a/other", "Other", "open a file, open a door, open the window of a house"),
    ];
    let (_dir, index) = indexed(pages);
    let best = |query: &str| {
        let answer = index.search(&request(query, &Weights::default()), None).unwrap();
        (answer.hits[0].page.0, answer.hits[0].section)
    };
    assert_eq!(best("open"), (1, Some(2)));
    assert_eq!(best("absolute value"), (1, Some(1)));
    assert_eq!(best("how do I sort a list"), (1, Some(3)));
    assert_eq!(best("window"), (2, None));
}

#[test]
fn a_text_is_completed_by_the_words_of_titles_first() {
    let (_dir, index) = library();
    let complete = |text: &str| index.completions(text, 3).unwrap().into_iter().map(|c| c.0).collect::<Vec<_>>();
    assert_eq!(complete("std::ve"), ["std::vector"]);
    assert_eq!(complete("how to pu"), ["how to push", "how to pushed"]);
    assert_eq!(complete("json "), Vec::<String>::new());
    assert_eq!(complete(""), Vec::<String>::new());
}

#[test]
fn a_query_of_anything_is_answered() {
    let (_dir, index) = library();
    for query in
        ["the", "to be or not to be", "a", "x", "東", "שלום עולם", "مرحبا", &"word ".repeat(199), "+the", "-the json"]
    {
        index.search(&request(query, &Weights::default()), None).unwrap();
    }
    for query in [&"x".repeat(10_000), "…!?", ""] {
        assert!(index.search(&request(query, &Weights::default()), None).is_err());
    }
}

#[test]
fn a_score_is_the_sum_of_what_is_explained() {
    let (_dir, index) = library();
    let weights = Weights::default();
    let answer = index.search(&SearchRequest { explain: true, ..request("json load", &weights) }, None).unwrap();
    let hit = &answer.hits[0];
    let sum: f64 = hit.shares.iter().map(|(_, _, score)| score).sum();
    assert!((sum - hit.text).abs() < 1e-3, "{sum} is not {} of {:?}", hit.text, hit.shares);
    assert!(hit.shares.iter().any(|(words, part, _)| words == "json" && *part == Aspect::Field(TextField::Title)));
}

#[test]
fn a_page_put_again_replaces_itself_and_one_forgotten_is_gone() {
    let dir = tempfile::tempdir().unwrap();
    let (mut writer, _) = PageIndexWriter::open(dir.path(), &rules(&[])).unwrap();
    for n in 1..=3 {
        writer.put(page(n, "http://a/", "t", "first")).unwrap();
    }
    writer.commit(Some("1")).unwrap();
    drop(writer);
    let (mut writer, standing) = PageIndexWriter::open(dir.path(), &rules(&[])).unwrap();
    assert_eq!(standing, ExistingIndex::Index(Some("1".to_owned())));
    writer.put(page(2, "http://a/", "t", "second")).unwrap();
    writer.put(page(2, "http://a/", "t", "third")).unwrap();
    writer.forget(PageId(3)).unwrap();
    writer.commit(None).unwrap();
    let held: Vec<u64> = writer.holdings().unwrap().iter().map(|(page, _)| page.0).collect();
    assert_eq!(held, [1, 2]);
    writer.finish().unwrap();
    let index = Searcher::open(dir.path()).unwrap();
    assert_eq!((found(&index, "first"), found(&index, "second"), found(&index, "third")), (vec![1], vec![], vec![2]));
    assert_eq!((index.mark(), index.pages()), (None, 2));
}

#[test]
fn a_hidden_page_is_known_and_found_by_nothing() {
    let (_dir, index) = indexed(vec![IndexEntry { hidden: true, ..page(1, "http://secret/", "secret", "secret") }]);
    assert_eq!((found(&index, "secret"), found(&index, "*"), index.pages()), (vec![], vec![], 1));
}

#[test]
fn stems_find_other_forms_of_a_word() {
    let dir = tempfile::tempdir().unwrap();
    let (mut writer, _) = PageIndexWriter::open(dir.path(), &rules(&[StemLanguage::English])).unwrap();
    writer.put(page(1, "http://a/", "Running dogs", "they ran and are running dogs")).unwrap();
    writer.put(IndexEntry { lang: Some("de".into()), ..page(2, "http://a/", "x", "running") }).unwrap();
    writer.commit(Some("1")).unwrap();
    writer.finish().unwrap();
    let index = Searcher::open(dir.path()).unwrap();
    assert_eq!(sorted(found(&index, "running")), [1, 2]);
    assert_eq!(found(&index, "dog runs"), [1]);
    assert_eq!(found(&index, "\"running dog\""), [1]);
    let (_, standing) = PageIndexWriter::open(dir.path(), &rules(&[])).unwrap();
    assert_eq!(standing, ExistingIndex::Unfit("its words were stemmed in other languages".to_owned()));
}

#[test]
fn the_dictionary_gives_every_place_of_a_word() {
    let (_dir, index) = library();
    let counts = index.count("json").unwrap();
    let of = |part: TextField| counts.iter().find(|c| c.field == part).map(|c| (c.documents, c.occurrences));
    assert_eq!(
        (of(TextField::Title), of(TextField::Body), of(TextField::Url), of(TextField::Headings)),
        (Some((1, 2)), Some((2, 2)), Some((1, 1)), None)
    );
    let places = index.occurrences("json", 100, 0).unwrap();
    let shown: Vec<String> = places.iter().map(|o| format!("{}@{}:{}", o.page.0, o.position, o.field.name())).collect();
    assert_eq!(shown, ["1@0:title", "1@1:title", "1@0:body", "1@3:url", "2@1:body"]);
    assert_eq!(index.occurrences("json", 2, 2).unwrap(), places[2..4]);
    assert_eq!(index.occurrences("json", 2, 9).unwrap(), []);
    let start: Vec<String> = index.beginning("pi", 9, 0).unwrap().into_iter().map(|c| c.word).collect();
    assert_eq!(start, ["pickle", "pickle", "pickle"]);
    assert_eq!(Searcher::as_kept("JSON!"), Some("json".to_owned()));
    assert_eq!(Searcher::as_kept("a b"), None);
}

#[test]
fn an_index_that_cannot_be_read_is_told_or_made_anew() {
    let (dir, _) = library();
    assert!(matches!(Searcher::open(&dir.path().join("none")), Err(IndexError::Absent { .. })));
    std::fs::write(dir.path().join("meta.json"), "{").unwrap();
    assert!(matches!(Searcher::open(dir.path()), Err(IndexError::Unfit { .. })));
    let (mut writer, found) = PageIndexWriter::open(dir.path(), &rules(&[])).unwrap();
    assert!(matches!(found, ExistingIndex::Unfit(_)), "{found:?}");
    writer.commit(None).unwrap();
    assert_eq!(Searcher::open(dir.path()).unwrap().pages(), 0);
}

#[test]
fn a_page_is_found_by_what_others_say_about_it() {
    let url = |name: &str| format!("http://a.org/{name}.html");
    let filler = "and nothing else of interest is said on this page about numbers";
    let mut list = page(1, &url("list"), "All of them", "radix computes the square root of numbers");
    list.described = vec![crate::DescriptionMark { begin: 0, len: 7, target: crate::UrlHash::of(&url("radix")) }];
    let own = |number, name: &str| page(number, &url(name), name, &format!("square root {filler}"));
    let (_dir, index) = indexed(vec![list, own(2, "other"), own(3, "radix"), own(4, "third")]);
    let weights = Weights::default();
    let answer = index.search(&SearchRequest { explain: true, ..request("square root", &weights) }, None);
    let hits = answer.unwrap().hits;
    let place = |page: u64| hits.iter().position(|hit| hit.page.0 == page).unwrap();
    assert!(place(3) < place(2) && place(2) < place(4), "{hits:?}");
    let aspects = |page: u64| hits[place(page)].shares.iter().map(|(_, aspect, _)| *aspect).collect::<Vec<_>>();
    assert!(aspects(3).contains(&Aspect::Described) && !aspects(2).contains(&Aspect::Described));
}

#[test]
fn an_identifier_that_no_page_has_is_searched_for_by_its_components() {
    let (_dir, index) = library();
    assert_eq!(found(&index, "std::string::push_back"), Vec::<u64>::new(), "there is no string at all");
    assert_eq!(found(&index, "json::push_back")[0], 3);
    assert_eq!(found(&index, "std::push_back")[0], 3);
}

#[test]
fn a_question_finds_other_words_for_the_same() {
    let (_dir, index) = indexed(vec![
        page(1, "http://a.org/1", "Directories", "Creates a directory and its parents"),
        page(2, "http://a.org/2", "Files", "Writes a file that somebody caught"),
    ]);
    assert_eq!(found(&index, "how to make a folder"), [1]);
    assert_eq!(found(&index, "how to catch a file"), [2]);
    assert_eq!(found(&index, "folder").len(), 0, "only in questions");
}

#[test]
fn a_section_around_the_text_is_no_answer() {
    let mut one = page(1, "http://a.org/1", "x", "alpha beta gamma delta epsilon");
    let sections =
        [SectionMark::new(0, 1, "alpha", None), SectionMark::around(2), SectionMark::new(3, 2, "delta", None)];
    one.sections = sections.to_vec();
    let (_dir, index) = indexed(vec![one]);
    let section = |query| index.search(&request(query, &Weights::default()), None).unwrap().hits[0].section;
    assert_eq!((section("gamma"), section("delta epsilon")), (Some(0), Some(2)));
}
