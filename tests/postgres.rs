//! Does a real PostgreSQL hold both classic models, row for row?
#![allow(clippy::unwrap_used, reason = "what goes wrong here fails the test")]

mod harness;

use harness::orb::{Finished, Home, PROJECT};
use harness::postgres::{PASSWORD, Postgres};
use harness::web::World;

fn export(home: &Home, args: &[&str]) -> Finished {
    home.orb(&[&["export", PROJECT, "postgres"], args, &["--progress", "none"]].concat())
}

#[test]
fn both_models_have_the_rows_of_the_catalogue() {
    let (world, home) = World::crawled();
    let (postgres, catalogue) = (Postgres::start(), home.catalogue());
    let finished = export(&home, &[&postgres.url()]);
    finished.expect(0);
    assert!(finished.text().contains("crawldb.page: ") && !finished.text().contains(PASSWORD), "{finished}");
    for (theirs, ours) in [
        ("hosts", "host"),
        ("resources", "page"),
        ("links", "link"),
        ("crawldb.site", "host"),
        ("crawldb.page", "page"),
        ("crawldb.image", "image"),
        ("crawldb.link", "(SELECT DISTINCT src, dst FROM link)"),
        ("crawldb.page_data", "page WHERE kind = 'BINARY'"),
        ("crawldb.page WHERE page_type_code = 'HTML' AND html_content IS NOT NULL", "page WHERE kind = 'HTML'"),
        ("crawldb.page WHERE page_type_code = 'DUPLICATE'", "page WHERE kind = 'DUPLICATE'"),
        ("crawldb.page WHERE http_status_code = 404", "page WHERE status = 404"),
        ("resources WHERE ptime IS NOT NULL", "page WHERE fetched_at IS NOT NULL"),
        ("resources r JOIN hosts h USING (hid)", "page"),
        ("links l JOIN resources a ON a.rid = l.frid JOIN resources b ON b.rid = l.rid", "link"),
    ] {
        let count = catalogue.number(&format!("SELECT count(*) FROM {ours}"));
        assert!(count > 0, "{ours} is empty");
        assert_eq!(postgres.number(&format!("SELECT count(*) FROM {theirs}")), count, "{theirs}");
    }
    let url = world.url(0, "/");
    let row = postgres
        .client()
        .query_one("SELECT p.id, s.domain, r.rid = upper(md5(p.url)), r.source = p.html_content, p.html_content, r.dbot, \
                    extract(epoch FROM p.accessed_time)::bigint FROM crawldb.page p JOIN crawldb.site s ON s.id = p.site_id \
                    JOIN resources r USING (url) WHERE p.url = $1", &[&url])
        .unwrap();
    let page = catalogue.page(&url);
    assert_eq!(i64::from(row.get::<_, i32>(0)), page.id);
    assert!(url.contains(row.get::<_, &str>(1)) && row.get::<_, bool>(2) && row.get::<_, bool>(3));
    let sent = world.server.web().get(world.naming(), 0, "/").body;
    assert_eq!(row.get::<_, &str>(4).as_bytes(), sent);
    let fetched = catalogue.number(&format!("SELECT unixepoch(fetched_at) FROM page WHERE url = '{url}'"));
    assert!((row.get::<_, i64>(6) - fetched).abs() <= 1, "times are in UTC");
    let pdf = world.server.web().get(world.naming(), 0, "/media/paper.pdf").body;
    let row =
        postgres.client().query_one("SELECT data FROM crawldb.page_data WHERE data_type_code = 'PDF'", &[]).unwrap();
    assert_eq!(row.get::<_, Vec<u8>>(0), pdf);
    // The sequence continues after the last row.
    postgres
        .client()
        .batch_execute("INSERT INTO crawldb.page (url) VALUES ('x'); INSERT INTO hosts (hname) VALUES ('x')")
        .unwrap();
}

#[test]
fn tables_that_are_there_are_replaced_only_when_they_may_be_and_as_a_whole() {
    let (_world, home) = World::crawled();
    let postgres = Postgres::start();
    postgres
        .client()
        .batch_execute(
            "CREATE SCHEMA mine; CREATE TABLE mine.links (precious text); INSERT INTO mine.links VALUES ('x')",
        )
        .unwrap();
    let url = postgres.url();
    let args = [url.as_str(), "--schema", "mine", "--no-content"];
    let finished = export(&home, &args);
    let line = finished.complaint(1);
    assert!(line.contains("links") && line.contains("--force") && !line.contains(PASSWORD), "{line}");
    assert_eq!(postgres.number("SELECT count(*) FROM mine.links"), 1);
    assert_eq!(
        postgres.number("SELECT count(*) FROM pg_tables WHERE schemaname = 'mine'"),
        1,
        "half an export was left"
    );
    export(&home, &[args.as_slice(), &["--force"]].concat()).expect(0);
    export(&home, &[args.as_slice(), &["--force", "--model", "classic"]].concat()).expect(0);
    let links = home.catalogue().number("SELECT count(*) FROM link");
    assert_eq!(postgres.number("SELECT count(*) FROM mine.links"), links);
    assert_eq!(postgres.number("SELECT count(*) FROM mine.resources WHERE source IS NOT NULL"), 0);
    export(&home, &[&url, "--model", "crawldb", "--schema", "odd \"name'"]).expect(0);
    assert_eq!(
        postgres.number("SELECT count(*) FROM \"odd \"\"name'\".page"),
        home.catalogue().number("SELECT count(*) FROM page")
    );
}

#[test]
fn a_password_may_stand_in_the_environment_and_is_never_said() {
    let (_world, home) = World::crawled();
    let postgres = Postgres::start();
    let address = postgres.without_password();
    let args = ["export", PROJECT, "postgres", &address, "--no-content", "--progress", "none"];
    home.start(&args, &[("PGPASSWORD", PASSWORD)]).finish().expect(0);
    let wrong = export(&home, &[&postgres.with_password("wr0ng-one"), "--force"]);
    let line = wrong.complaint(1);
    assert!(line.contains("password") && !line.contains("wr0ng-one"), "{line}");
    for (url, words) in [
        ("postgres://u:pa55word@127.0.0.1:1/d", "refused"),
        ("postgres://u:pa55word@localhost/d?sslmode=require", "TLS"),
        ("mysql://u:pa55word@h/d", "postgres://"),
        ("postgres://u:pa55word@h:port/d", "postgres://"),
    ] {
        let finished = export(&home, &[url]);
        let line = finished.complaint(1);
        assert!(line.contains(words) && !line.contains("pa55word"), "{line}");
    }
}
