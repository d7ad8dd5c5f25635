//! Are the bytes of a shared project where its rows say?
#![allow(clippy::unwrap_used, reason = "what goes wrong here fails the test")]

mod cluster;

use cluster::bucket::Bucket;
use cluster::worker::{NAME, SCHEMA, Store, Worker};
use orb_page::{Body, Moment, WarcPosition};
use orb_store::{
    ArchiveReader, Batch, Encoded, Encoder, Exchange, Home, RecordedAs, S3Options, SharedAddress, SharedMaking,
    SharedProject, StoreError,
};
use std::sync::atomic::Ordering;
use std::time::Duration;

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
    // An object that no row names is an orphan, once its batch can never happen.
    std::fs::write(dir.join("demo-1-1-9-00.warc.gz"), b"left behind").unwrap();
    let stock = project.take_stock().unwrap();
    assert_eq!((stock.objects, stock.under_way, stock.orphans.len(), stock.lost.len()), (1, 1, 0, 0));
    worker.clerk.leave().unwrap();
    let stock = project.take_stock().unwrap();
    let orphans: Vec<_> = stock.orphans.iter().map(|orphan| (orphan.name.as_str(), orphan.length)).collect();
    assert_eq!((orphans, stock.under_way), (vec![("demo-1-1-9-00.warc.gz", 11)], 0));
    project.remove_orphans(&stock.orphans).unwrap();
    assert_eq!(std::fs::read_dir(&dir).unwrap().count(), 1);
    read_back(&project, &batch);
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
    let made = SharedMaking { shards: Some(16), settings: String::new() };
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
    let stock = project.take_stock().unwrap();
    assert_eq!(stock.orphans.iter().map(|orphan| orphan.name.as_str()).collect::<Vec<_>>(), ["left.warc.gz"]);
    assert_eq!(store.server.number(&format!("SELECT count(*) FROM {SCHEMA}.visit_row")), 20);
}

/// Noise that does not become smaller when it is packed.
fn noise(seed: u64, bytes: usize) -> String {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut letter = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        char::from(b' ' + u8::try_from(state >> 33 & 63).unwrap())
    };
    (0..bytes).map(|_| letter()).collect()
}

#[test]
fn objects_are_stitched_together_in_parts_and_records_found_at_their_new_places() {
    let store = Store::start();
    let bucket = Bucket::start();
    let s3 = S3Options {
        endpoint: Some(format!("http://127.0.0.1:{}", bucket.port)),
        key_id: Some("id".to_owned()),
        secret: Some("secret".to_owned()),
        ..S3Options::default()
    };
    let at = SharedAddress { archive: "s3://crawl".to_owned(), s3, ..store.address() };
    let made = SharedMaking { shards: Some(16), settings: String::new() };
    let mut project = SharedProject::create(&at, NAME, &made).unwrap();
    plant(&store);
    let mut worker = Worker::join(&at, "w", LONG);
    worker.settle();
    let mut batch = worker.digest();
    worker.commit(&mut batch).unwrap();
    // Four objects of five records each, 24 MB together.
    for _ in 0..4 {
        let mut batch = worker.visit(5, |_| Vec::new());
        for finished in &mut batch.visits {
            let page = finished.visit.page.0;
            finished.records.push(encoded(&finished.visit.url, &noise(page, 1_600_000)));
        }
        worker.commit(&mut batch).unwrap();
    }
    let busy = project.stitch(1 << 30, false, |_| ());
    assert!(matches!(&busy, Err(StoreError::Shared(why)) if why.contains("worker w")), "{busy:?}");
    worker.clerk.leave().unwrap();
    let mut told = 0;
    let done = project.stitch(1 << 30, false, |_| told += 1).unwrap();
    assert_eq!((done.objects, done.into, done.left, told), (4, 1, 1, 1));
    let parts = bucket.state.parts.lock().unwrap().clone();
    assert!(parts.len() > 1 && parts[..parts.len() - 1].iter().all(|part| *part == 8 << 20), "{parts:?}");
    assert_eq!(bucket.state.objects.lock().unwrap().len(), 1);
    let archive = project.archive().unwrap();
    let rows = store.server.rows(&format!(
        "SELECT v.page, p.url, f.name, v.warc_offset, v.warc_length FROM {SCHEMA}.visit_row v
         JOIN {SCHEMA}.page_row p ON p.id = v.page JOIN {SCHEMA}.warc_row f ON f.id = v.warc"
    ));
    assert_eq!(rows.len(), 20);
    for row in rows {
        let number = |at: usize| row.get::<_, i64>(at).cast_unsigned();
        let place = WarcPosition { file: row.get::<_, String>(2).into(), offset: number(3), length: number(4) };
        let stored = archive.exchange(&place).unwrap();
        assert_eq!(stored.url, row.get::<_, String>(1));
        assert_eq!(stored.body, noise(number(0), 1_600_000));
    }
}

/// More than one request may carry: it goes up in parts, and at no time is it in memory as a whole.
#[test]
fn a_large_batch_goes_up_in_parts() {
    const BYTES: usize = 20_000_000;
    let store = Store::start();
    let bucket = Bucket::start();
    let s3 = S3Options {
        endpoint: Some(format!("http://127.0.0.1:{}", bucket.port)),
        key_id: Some("id".to_owned()),
        secret: Some("secret".to_owned()),
        ..S3Options::default()
    };
    let at = SharedAddress { archive: "s3://crawl".to_owned(), s3, ..store.address() };
    let made = SharedMaking { shards: Some(16), settings: String::new() };
    let project = SharedProject::create(&at, NAME, &made).unwrap();
    plant(&store);
    let mut worker = Worker::join(&at, "w", LONG);
    worker.settle();
    let mut batch = worker.digest();
    worker.commit(&mut batch).unwrap();
    let mut batch = worker.visit(5, |_| Vec::new());
    for finished in &mut batch.visits {
        let page = finished.visit.page.0;
        finished.records.push(encoded(&finished.visit.url, &noise(page, BYTES)));
    }
    bucket.state.fail_every.store(5, Ordering::SeqCst);
    worker.commit(&mut batch).unwrap();
    let parts = bucket.state.parts.lock().unwrap().clone();
    assert!(parts.len() > 8 && parts[..parts.len() - 1].iter().all(|part| *part == 8 << 20), "{parts:?}");
    let archive = project.archive().unwrap();
    for finished in &batch.visits {
        let stored = archive.exchange(finished.visit.warc.as_ref().unwrap()).unwrap();
        assert_eq!(stored.url, finished.visit.url);
        assert!(stored.body == noise(finished.visit.page.0, BYTES), "{}", stored.url);
    }
}
