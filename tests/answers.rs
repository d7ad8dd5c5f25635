//! Can a collection be kept open, asked again and again, and by programs that know nothing of it?
#![allow(clippy::unwrap_used, reason = "what goes wrong here fails the test")]

mod harness;

use harness::orb::{Home, PROJECT};
use harness::web::World;
use orb_answers::{
    AnswerError, By, Collection, ContentExtent, ContentForm, GraphAge, HealthKind, HealthPart, HealthWish, Query,
    RankedKind, Window, Wishes,
};
use orb_testweb::Feature;
use schemars::{JsonSchema, schema_for};
use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeSet;

/// A small web that changes, crawled.
fn crawled() -> (World, Home) {
    let world = World::with(&[Feature::Changes]);
    let home = Home::new();
    home.crawl(&world.args(&["--delay", "0"]));
    (world, home)
}

fn opened(home: &Home) -> Collection {
    Collection::open(&orb_project::Home::open(&home.path()).unwrap(), PROJECT).unwrap()
}

fn query(text: &str) -> Query<'_> {
    Query { text, limit: 100, offset: 0, per_host: None, explain: true, snippets: true }
}

/// The URLs that a search gives.
fn found(collection: &Collection, text: &str) -> BTreeSet<String> {
    orb_answers::search(collection, &query(text)).unwrap().hits.into_iter().map(|hit| hit.url).collect()
}

#[test]
fn a_collection_that_is_kept_open_sees_what_was_collected_and_built_since() {
    let (world, home) = crawled();
    let mut collection = opened(&home);
    let (steady, new) = (world.url(0, "/changes/steady-1.html"), world.url(0, "/changes/appears-at-1.html"));
    let before = found(&collection, "time");
    assert!(before.contains(&steady) && !before.contains(&new), "{before:?}");
    assert!(matches!(orb_answers::graph_stats(&collection), Err(AnswerError::NotBuilt(_))));
    assert!(matches!(orb_answers::show(&collection, &new, 0), Err(AnswerError::Unknown(_))));

    world.server.web().set_epoch(1);
    home.orb(&["track", PROJECT, "--progress", "none"]).expect(0);
    home.orb(&["graph", "build", PROJECT, "--progress", "none"]).expect(0);
    let shown = orb_answers::show(&collection, &steady, 0).unwrap();
    assert_eq!(shown.visits.len(), 2, "facts are as of now");
    collection.refresh().unwrap();
    assert!(found(&collection, "time").contains(&new));
    let stats = orb_answers::graph_stats(&collection).unwrap();
    assert_eq!((stats.figures.standing, stats.ranks.is_some()), (GraphAge::Current, true));
    assert!(orb_answers::show(&collection, &new, 0).unwrap().ranks.is_some());
    collection.refresh().unwrap();
    assert_eq!(orb_answers::graph_stats(&collection).unwrap().figures.nodes, stats.figures.nodes);
}

/// Fails the test unless the schema of an answer names every key of it.
#[track_caller]
fn assert_described<T: Serialize + JsonSchema>(answer: &T) {
    let (said, schema) = (serde_json::to_value(answer).unwrap(), schema_for!(T).to_value());
    let named = |schema: &Value| -> BTreeSet<String> {
        schema["properties"].as_object().into_iter().flatten().map(|(key, _)| key.clone()).collect()
    };
    let keys: BTreeSet<String> = said.as_object().unwrap().keys().cloned().collect();
    let named = named(&schema);
    let unnamed: Vec<_> = keys.difference(&named).collect();
    assert!(unnamed.is_empty(), "{} has no {unnamed:?}: {schema:#}", std::any::type_name::<T>());
}

#[test]
fn answers_describe_themselves() {
    let (world, home) = crawled();
    home.orb(&["graph", "build", PROJECT, "--progress", "none"]).expect(0);
    let (collection, url) = (opened(&home), world.url(0, "/"));
    let few = Window { limit: 3, offset: 0 };
    assert_described(&orb_answers::show(&collection, &url, 5).unwrap());
    assert_described(
        &orb_answers::content(&collection, &url, None)
            .unwrap()
            .content(ContentForm::Text, ContentExtent::Main)
            .unwrap(),
    );
    assert_described(&orb_answers::links_out(&collection, &url, few).unwrap()[0]);
    assert_described(&orb_answers::link_texts(&collection, &url, few).unwrap());
    assert_described(&orb_answers::search(&collection, &query("time")).unwrap().hits[0]);
    assert_described(&orb_answers::top(&collection, By::Pagerank, RankedKind::Pages, few).unwrap().rows[0]);
    assert_described(&orb_answers::graph_stats(&collection).unwrap());
    assert_described(&orb_answers::stats(&collection).unwrap());
    let (wish, titles) = (HealthWish::default(), HealthKind::EqualTitle);
    let health = orb_answers::health(&collection, wish).unwrap();
    assert_described(&health.kinds[0]);
    assert_described(&health);
    let listed = orb_answers::health_rows(&collection, titles, HealthPart::All, wish, few).unwrap();
    assert_described(&listed.rows[0]);
    assert_described(&listed);
    assert_described(&orb_answers::index_status(&collection).unwrap());
    assert_described(&orb_answers::changes(&collection, 0, &orb_answers::CHANGES, 10).unwrap());
    assert_described(&orb_answers::check(collection.project()).unwrap());
    assert_described(&orb_crawl::why(collection.project()).unwrap());
    let wishes = Wishes { pages: 1e6, ..Wishes::default() };
    assert_described(&orb_answers::plan(&home.path(), &wishes, None).unwrap());
    let home = orb_project::Home::open(&home.path()).unwrap();
    assert_described(&orb_answers::status(&home, Window::ALL).unwrap().projects[0]);
}

#[test]
fn what_is_inspected_describes_itself() {
    let (page, url) =
        (b"<title>A</title><img src=i.png><a href=/b>b</a>", "http://a.test/?PHPSESSID=0123456789abcdef0123");
    let urls = [url.to_owned()];
    let document = orb_answers::inspect_document(page, url, None).unwrap();
    assert_described(&document);
    assert_described(&document.links[0]);
    assert_eq!(document.images[0].url.as_deref(), Some("http://a.test/i.png"));
    assert_described(&orb_answers::inspect_robots(b"User-agent: *\nDisallow: /b", "orb", &urls)[0]);
    assert_described(&orb_answers::inspect_urls(&urls, None).unwrap()[0]);
    assert_described(&orb_answers::inspect_sessions(url, None));
    assert_described(&orb_answers::inspect_forms(page, url));
    let unknown = orb_answers::inspect_document(page, "http://[/", None);
    assert!(matches!(unknown, Err(AnswerError::Malformed(_))), "{unknown:?}");
}
