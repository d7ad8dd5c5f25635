//! Are the bytes of a shared project where its rows say?
#![allow(clippy::unwrap_used, reason = "what goes wrong here fails the test")]

mod cluster;

use cluster::bucket::Bucket;
use cluster::worker::{NAME, SCHEMA, Store, Worker};
use orb_page::{Body, Moment};
use orb_store::{
    ArchiveReader, Batch, Encoded, Encoder, Exchange, Home, RecordedAs, S3Options, SharedAddress, SharedMaking,
    SharedProject, StoreError,
};
use std::sync::atomic::Ordering;
use std::time::{Duration, SystemTime};

const LONG: Duration = Duration::from_secs(60);

fn encoded(url: &str, content: &str) -> Encoded {
    let exchange = Exchange {
        url,
        key: &orb_urls::surt::cdx_key(url),
        at: Moment(1_700_000_000_000),
        recorded_as: RecordedAs::Response,
        request_head: b"GET / HTTP/1.1\r\nHost: h\r\n\r\n",
        head: b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n",
        wire: &Body::Memory(content.to_owned().into()),
        digest: None,
        truncated: None,
        ip: None,
        revisit: None,
    };
    Encoder::default().exchange(&exchange).unwrap()
}

/// A batch that visits all seeds, with a record each.
fn visited(worker: &mut Worker) -> Batch {
    let mut batch = worker.digest();
    worker.commit(&mut batch).unwrap();
    let mut batch = worker.visit(50, |_| Vec::new());
    for finished in &mut batch.visits {
        let url = finished.visit.url.clone();
        finished.records.push(encoded(&url, &format!("this is {url}")));
    }
    batch
}

/// Every visit's record is what was recorded.
fn read_back(project: &SharedProject, batch: &Batch) {
    read_from(&project.archive().unwrap(), batch);
}

/// A copy without bytes of its own reads them where they are, one with bytes in its own files.
fn read_copies(project: &mut SharedProject, batch: &Batch) {
    for bytes in [false, true] {
        let home = tempfile::TempDir::new().unwrap();
        let dir = Home::open(home.path()).unwrap().project("copy").unwrap();
        let pulled = project.pull(&dir, bytes).unwrap();
        assert_eq!((pulled.pages, pulled.files, dir.archive().exists()), (20, u64::from(bytes), bytes));
        read_from(&ArchiveReader::open(&dir), batch);
    }
}

fn read_from(archive: &ArchiveReader, batch: &Batch) {
    for finished in &batch.visits {
        let place = finished.visit.warc.as_ref().unwrap();
        let stored = archive.exchange(place).unwrap();
        assert_eq!(stored.url, finished.visit.url);
        assert_eq!(stored.body, format!("this is {}", finished.visit.url));
    }
}

fn seeds() -> Vec<String> {
    (0..20).map(|n| format!("http://site{n}.org/")).collect()
}

fn plant(store: &Store) {
    store.plant(&seeds().iter().map(String::as_str).collect::<Vec<_>>());
}

#[test]
fn a_batch_is_one_object_and_a_record_one_read_of_it() {
    let store = Store::start();
    let mut project = store.project();
    plant(&store);
    let mut worker = Worker::join(&store.address(), "w", LONG);
    worker.settle();
    let mut batch = visited(&mut worker);
    worker.commit(&mut batch).unwrap();
    read_back(&project, &batch);
    assert_eq!((store.count("warc_row"), store.count("visit_row v WHERE v.warc IS NOT NULL")), (1, 20));
    let dir = store.bytes.path().join(NAME);
    let names: Vec<_> =
        std::fs::read_dir(&dir).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    assert_eq!(names.len(), 1);
    assert_eq!(store.count(&format!("page p WHERE p.warc_file = '{}'", names[0])), 20);
    // An object that no row names is an orphan, once it is old enough to belong to no commit.
    std::fs::write(dir.join("demo-1-1-9-00.warc.gz"), b"left behind").unwrap();
    assert!(project.orphans().unwrap().is_empty());
    let old = SystemTime::now() - Duration::from_secs(7_200);
    for name in names.iter().map(String::as_str).chain(["demo-1-1-9-00.warc.gz"]) {
        std::fs::File::options().write(true).open(dir.join(name)).unwrap().set_modified(old).unwrap();
    }
    let orphans = project.orphans().unwrap();
    assert_eq!(
        orphans.iter().map(|o| (o.name.as_str(), o.length)).collect::<Vec<_>>(),
        [("demo-1-1-9-00.warc.gz", 11)]
    );
}

#[test]
fn a_bucket_that_fails_now_and_then_holds_the_same() {
    let store = Store::start();
    let bucket = Bucket::start();
    let s3 = S3Options {
        endpoint: Some(format!("http://127.0.0.1:{}", bucket.port)),
        key_id: Some("id".to_owned()),
        secret: Some("secret".to_owned()),
        ..S3Options::default()
    };
    let at = SharedAddress { archive: "s3://crawl/some/where".to_owned(), s3, ..store.address() };
    let made = SharedMaking { shards: 16, settings: String::new() };
    let nowhere = SharedAddress { archive: "s3://absent/x".to_owned(), ..at.clone() };
    let refused = SharedProject::create(&nowhere, NAME, &made).map(drop);
    assert!(matches!(refused, Err(StoreError::Shared(_))), "{refused:?}");
    let mut project = SharedProject::create(&at, NAME, &made).unwrap();
    plant(&store);
    let mut worker = Worker::join(&at, "w", LONG);
    worker.settle();
    let mut batch = visited(&mut worker);
    bucket.state.fail_every.store(2, Ordering::SeqCst);
    worker.commit(&mut batch).unwrap();
    read_back(&project, &batch);
    assert!(bucket.state.failures.load(Ordering::SeqCst) > 5);
    bucket.state.fail_every.store(0, Ordering::SeqCst);
    orb_store::reach_s3(at.s3.clone());
    read_copies(&mut project, &batch);
    let place = batch.visits[0].visit.warc.clone().unwrap();
    let asked = format!("bytes={}-{}", place.offset, place.offset + place.length - 1);
    assert!(bucket.state.ranges.lock().unwrap().contains(&asked), "a record is one ranged read");
    let keys: Vec<String> = bucket.state.objects.lock().unwrap().keys().cloned().collect();
    assert_eq!(keys.len(), 1);
    assert!(keys[0].starts_with("some/where/demo/demo-1-1-"), "{keys:?}");
    bucket.state.objects.lock().unwrap().insert("some/where/demo/left.warc.gz".to_owned(), vec![0; 3]);
    assert_eq!(project.orphans().unwrap().iter().map(|o| o.name.as_str()).collect::<Vec<_>>(), ["left.warc.gz"]);
    assert_eq!(store.server.number(&format!("SELECT count(*) FROM {SCHEMA}.visit_row")), 20);
}
