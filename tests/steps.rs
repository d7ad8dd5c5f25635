//! Does a project get through a log-in and a search like a person, and no further than configured?
#![allow(clippy::unwrap_used, reason = "what goes wrong here fails the test")]

mod harness;

use harness::orb::{Home, PROJECT, crawling};
use harness::script::{Script, absent, page, reply};
use harness::web::{World, assert_polite, assert_same};
use orb_testweb::{Feature, MEMBER, MEMBER_ITEMS, MEMBER_WORDS};
use std::collections::BTreeSet;
use std::time::Duration;

fn members() -> World {
    World::with(&[Feature::Members])
}

const FETCHED: &str = "SELECT url FROM page WHERE kind NOT IN ('OUTSIDE', 'FRONTIER', 'DISALLOWED')";

/// The fetched pages, according to the catalogue.
fn fetched(home: &Home) -> BTreeSet<String> {
    home.catalogue().column(FETCHED).into_iter().collect()
}

/// A project with only these steps.
fn project(world: &World, home: &Home, steps: &str) -> String {
    let file = world.project(home, &["frontier.delay = '0s'", steps]);
    let text = std::fs::read_to_string(&file).unwrap();
    let without_seeds = text.lines().filter(|line| !line.starts_with("seeds = "));
    std::fs::write(&file, without_seeds.collect::<Vec<_>>().join("\n")).unwrap();
    file
}

fn log_in(world: &World, password: &str) -> String {
    format!(
        "[[steps]]\nname = 'log in'\nstart = ['{}']\ncollect = false\nexpect_selector = 'a.logout'\nexpect_not = 'Wrong'\n\
         form = {{ id = 'login', fields = {{ user = '{}', password = '{password}' }} }}\n",
        world.url(0, "/members/login"),
        MEMBER.0
    )
}

/// Searches by GET and passes through all result pages, then collects the results and what they
/// link to.
const SEARCH: &str = "[[steps]]\nname = 'search'\ncollect = false\nform = { action = 'search', fields = { q = 'basalt' } }\n\
    depth = 9\nrules = [{ allow = '[?&]page=' }]\n\
    [[steps]]\nname = 'results'\nlinks = 'ol.results a'\ndepth = 1\nrules = [{ allow = '/inside/item-' }]\n";

fn item(world: &World, n: usize, what: &str) -> String {
    world.url(0, &format!("/members/inside/item-{}{what}.html", n % MEMBER_ITEMS))
}

/// The items of a word and what they link to.
fn two_levels(world: &World, word: usize) -> BTreeSet<String> {
    let items = (0..MEMBER_ITEMS).filter(|n| n % MEMBER_WORDS.len() == word);
    let pages = |n: usize| [(n, ""), (n, "/part-1"), (n, "/part-2"), (n + 1, ""), (n + 3, "")];
    items.flat_map(pages).map(|(n, what)| item(world, n, what)).collect()
}

#[test]
fn a_members_area_is_entered_searched_and_its_results_collected_two_levels_deep() {
    let (world, home) = (members(), Home::new());
    let second = format!(
        "[[steps]]\nname = 'shelves'\nstart = ['{}']\ncollect = false\n\
         [[steps]]\nname = 'on the shelves'\nlinks_matching = 'shelf-[12]\\.html$'\ndepth = 1\nmode = 'prefix'\nrules = [{{ allow = 'shelf' }}]\n",
        world.url(0, "/members/catalogue.html")
    );
    let file = project(&world, &home, &[log_in(&world, MEMBER.1), SEARCH.to_owned(), second].concat());
    home.crawl(&[file.as_str()]);
    let mut wanted = two_levels(&world, 1);
    wanted.extend(["1", "2", "1/label", "2/label"].map(|n| world.url(0, &format!("/members/shelf-{n}.html"))));
    assert_same("fetched", &fetched(&home), &wanted);
    let kinds = home.catalogue().column("SELECT DISTINCT kind FROM page WHERE kind <> 'OUTSIDE'");
    assert_eq!(kinds, ["HTML"]);
    assert_eq!(home.catalogue().number("SELECT count(*) FROM page WHERE url LIKE '%logout%' AND kind <> 'OUTSIDE'"), 0);
    home.orb(&["check", PROJECT]).expect(0);
    // Completed steps are not repeated: there is no needless log-in.
    world.asked();
    home.crawl(&[file.as_str()]);
    assert_eq!(world.asked().len(), 0);
}

#[test]
fn a_search_by_post_leads_to_its_results() {
    let (world, home) = (members(), Home::new());
    let steps = "[[steps]]\nname = 'find'\ncollect = false\nform = { name = 'finder', fields = { q = 'cedar' } }\n\
        [[steps]]\nname = 'results'\nlinks = 'ol.results'\ndepth = 0\n\
        [[steps]]\nname = 'parts'\nlinks_matching = '/part-1'\ndepth = 0\n";
    let file = project(&world, &home, &(log_in(&world, MEMBER.1) + steps));
    home.crawl(&[file.as_str()]);
    let items = (0..MEMBER_ITEMS).filter(|n| n % MEMBER_WORDS.len() == 2);
    let wanted = items.flat_map(|n| [item(&world, n, ""), item(&world, n, "/part-1")]).collect();
    assert_same("fetched", &fetched(&home), &wanted);
}

#[test]
fn a_failed_log_in_stops_the_run_with_its_place_in_the_file() {
    let (world, home) = (members(), Home::new());
    let file = project(&world, &home, &(log_in(&world, "wrong horse") + SEARCH));
    let failed = home.orb(&crawling(&[file.as_str()]));
    let line = failed.complaint(1);
    let expected = format!("orb: {file}:8:");
    assert!(line.starts_with(&expected), "{line}\n{}", std::fs::read_to_string(&file).unwrap());
    assert!(line.contains("step 'log in': 'Wrong' stands on ") && !line.contains("horse"), "{line}");
    assert_eq!(home.catalogue().column(FETCHED), Vec::<String>::new());
    // With the right password it continues.
    let file = project(&world, &home, &(log_in(&world, MEMBER.1) + SEARCH));
    home.crawl(&[file.as_str()]);
    assert_same("fetched", &fetched(&home), &two_levels(&world, 1));
}

#[test]
fn what_a_step_does_not_find_is_said_with_its_place() {
    let (world, home) = (members(), Home::new());
    let start =
        |more: &str| format!("[[steps]]\nname = 'one'\nstart = ['{}']\n{more}\n", world.url(0, "/members/login"));
    let next = "[[steps]]\nname = 'two'\n";
    for (steps, place, said) in [
        (start("form = { id = 'nope' }"), "6:", "there is no such form; "),
        (start("form = { fields = { q = 'x' }, position = 9 }"), "6:", "there is no form 9; "),
        (
            start("form = { id = 'login', fields = { name = 'x' } }"),
            "6:",
            "the form has no field 'name'; it has 'csrf', 'user'",
        ),
        (start("form = { id = 'login', fields = { keep = 'no' } }"), "6:", "does not offer 'no'; it offers 'yes'"),
        (
            start("form = { id = 'login', fields = { user = { env = 'NOT_SET_HERE' } } }"),
            "6:",
            "NOT_SET_HERE is not set",
        ),
        (start("expect = 'Welcome'"), "6:", "'Welcome' is not on "),
        (start("collect = false") + next + "links = 'table a'", "9:", "'table a' chooses no link on the 1 pages"),
        (start("collect = false") + next + "links = 'form'\nlinks_matching = 'x'", "", "chooses no link"),
        (start("collect = false") + next, "8:", "step 'two' leads nowhere"),
        (start("collect = false"), "6:", "collects nothing, and no step continues from it"),
        (start("links = 'a['"), "", "start, or which links"),
        (start("expect_selector = 'a['"), "6:", "'a[' is not a CSS selector"),
        (start("links_matchin = 'a'"), "6:", "unknown key `links_matchin`; did you mean `links_matching`?"),
        (start("") + &start(""), "", "is called 'one' too"),
        ("[[steps]]\nname = 'first'\nlinks = 'a'".to_owned(), "", "is the first and needs start"),
    ] {
        let file = project(&world, &home, &steps);
        let failed = home.orb(&crawling(&[file.as_str()]));
        let line = failed.complaint(1);
        assert!(line.contains(&format!("{file}:{place}")) && line.contains(said), "{steps}\n{line}");
    }
}

#[test]
fn passwords_stand_in_the_environment_and_nowhere_else() {
    let (world, home) = (members(), Home::new());
    let steps = log_in(&world, "x").replace("'x'", "{ env = 'MEMBER_PASSWORD' }") + SEARCH;
    let file = project(&world, &home, &steps);
    home.start(&crawling(&[file.as_str()]), &[("MEMBER_PASSWORD", MEMBER.1)]).finish().expect(0);
    assert_same("fetched", &fetched(&home), &two_levels(&world, 1));
    let mut looked = 0;
    for entry in walk(&home.path()) {
        let bytes = std::fs::read(&entry).unwrap();
        let mut unpacked = Vec::new();
        if entry.extension().is_some_and(|e| e == "gz") {
            std::io::Read::read_to_end(&mut flate2::read::MultiGzDecoder::new(&bytes[..]), &mut unpacked).unwrap();
        }
        let text = [bytes, unpacked].concat();
        assert!(!String::from_utf8_lossy(&text).contains("correct horse"), "{}", entry.display());
        assert!(!String::from_utf8_lossy(&text).contains("correct+horse"), "{}", entry.display());
        looked += 1;
    }
    assert!(looked > 3);
}

fn walk(dir: &std::path::Path) -> Vec<std::path::PathBuf> {
    let entries = std::fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path());
    entries.flat_map(|path| if path.is_dir() { walk(&path) } else { vec![path] }).collect()
}

#[test]
fn steps_are_as_polite_as_the_crawl_that_follows() {
    let (world, home) = (members(), Home::new());
    let steps = "[[steps]]\nname = 'find'\ncollect = false\nform = { name = 'finder', fields = { q = 'cedar' } }\n\
        [[steps]]\nname = 'results'\nlinks = 'ol.results li:first-child a'\ndepth = 0\n";
    let file = project(&world, &home, &(log_in(&world, MEMBER.1) + steps).replace("delay = '0s'", ""));
    let text = std::fs::read_to_string(&file).unwrap().replace("frontier.delay = '0s'", "frontier.delay = '300ms'");
    std::fs::write(&file, text).unwrap();
    home.crawl(&[file.as_str()]);
    assert_polite(&world.server.log().take(), Duration::from_millis(300));
}

#[test]
fn a_run_that_was_killed_goes_on_where_it_was_after_logging_in_again() {
    let (world, home) = (members(), Home::new());
    let file = project(&world, &home, &(log_in(&world, MEMBER.1) + SEARCH));
    let killed = home.start(&crawling(&[file.as_str()]), &[("ORB_FAIL", "after-catalogue:3")]).finish();
    assert_ne!(killed.code, Some(0), "{killed}");
    home.crawl(&[PROJECT]);
    assert_same("fetched", &fetched(&home), &two_levels(&world, 1));
    assert_eq!(home.catalogue().number("SELECT max(id) FROM run"), 1);
    home.orb(&["check", PROJECT]).expect(0);
}

#[test]
fn tracking_logs_in_again_and_judges_every_page_by_its_step() {
    let (world, home) = (members(), Home::new());
    let file = project(&world, &home, &(log_in(&world, MEMBER.1) + SEARCH));
    let crawled = home.crawl(&[file.as_str()]);
    let before = fetched(&home);
    let tracked = home.orb(&["track", PROJECT, "--json", "--progress", "none"]);
    tracked.expect(0);
    assert_eq!(tracked.json()["flags"]["SAM"].as_u64(), Some(crawled.number("pages")), "{tracked}");
    for flag in ["NEW", "UPD", "MIS", "ERR"] {
        assert_eq!(tracked.json()["flags"][flag].as_u64(), Some(0), "{flag}: {tracked}");
    }
    assert_same("fetched", &fetched(&home), &before);
}

#[test]
fn the_forms_of_a_page_are_listed_as_steps_ready_to_paste() {
    let (world, home) = (members(), Home::new());
    let (url, port) = (world.url(0, "/members/login"), world.server.addr().port());
    let fixed = format!("{}:{port}:{}", orb_testweb::name(0), orb_testweb::address(0));
    let listed = home.orb(&["inspect", "forms", &url, "--resolve", &fixed]);
    listed.expect(0);
    let login = listed.text().split("\n# Form 2 of 2").nth(1).unwrap();
    assert!(login.contains("# \"csrf\" = \"") && login.contains("\"keep\" = true"), "{login}");
    let pasted = login.split_once('\n').unwrap().1.replace("\"user\" = \"\"", &format!("\"user\" = \"{}\"", MEMBER.0));
    let file = project(&world, &home, &(pasted + "\n" + SEARCH));
    home.start(&crawling(&[file.as_str()]), &[("PASSWORD", MEMBER.1)]).finish().expect(0);
    assert_same("fetched", &fetched(&home), &two_levels(&world, 1));
    let kept = home.beside("page.html");
    std::fs::write(&kept, "<form name=f><select name='a\"b\n' multiple><option>x&#27;[31m<option selected>y</select><input name=q></form>").unwrap();
    let told = home.orb(&["inspect", "forms", kept.to_str().unwrap()]);
    assert!(!told.expect(0).text().contains('\u{1b}'), "{told}");
    let read: toml::Table = told.text().parse().unwrap_or_else(|error| panic!("{error}: {told}"));
    assert_eq!(read["steps"][0]["form"]["name"].as_str(), Some("f"));
    let json = home.orb(&["inspect", "forms", kept.to_str().unwrap(), "--json"]).json();
    assert_eq!(json["forms"][0]["fields"][1]["name"], "q");
}

#[test]
fn a_host_that_asks_is_told_who_we_are_and_nobody_else_is() {
    let server = Script::serve(|heard| {
        let (host, port) = heard.field("host").unwrap().split_once(':').unwrap();
        let asks = |how: &str| reply("401 Unauthorized", &format!("WWW-Authenticate: {how}\r\n"), "");
        match (heard.target.as_str(), host, heard.field("authorization")) {
            ("/robots.txt", ..) => absent(),
            (_, "basic.test", None) => asks("Basic realm=\"all\""),
            (_, "digest.test", None) => asks("Digest realm=\"all\", nonce=\"n\", qop=\"auth\", algorithm=SHA-256"),
            ("/", "basic.test", Some("Basic bWU6cHc=")) => page([
                "/more".to_owned(),
                format!("http://digest.test:{port}/"),
                format!("http://stranger.test:{port}/"),
            ]),
            (_, "stranger.test", _) => asks("Basic realm=\"all\""),
            _ => page([""; 0]),
        }
    });
    let (home, port) = (Home::new(), server.port());
    let names = ["basic.test", "digest.test", "stranger.test", "token.test"];
    let resolve: Vec<String> = names.iter().map(|name| format!("{name}:{port}:127.0.0.1")).collect();
    std::fs::write(home.beside("secret"), "pw\n").unwrap();
    std::fs::write(home.beside("cookies.txt"), "token.test\tFALSE\t/\tFALSE\t0\tid\tabc\n").unwrap();
    let settings = format!(
        "seeds = ['http://basic.test:{port}/', 'http://token.test:{port}/']\nfetch.resolve = {resolve:?}\nscope.mode = 'any'\n\
         frontier = {{ delay = '0s', retries = 0 }}\n[[auth]]\nhost = 'basic.test'\nuser = 'me'\npassword_file = 'secret'\n\
         [[auth]]\nhost = 'digest.test'\nuser = 'me'\npassword = 'hidden'\n[[auth]]\nhost = 'token.test'\ntoken_env = 'TOKEN'\n"
    );
    std::fs::write(home.beside("p.toml"), settings).unwrap();
    let args = crawling(&["p.toml", "--cookies", "cookies.txt", "--allow-private"]);
    home.start(&args, &[("TOKEN", "tttt")]).finish().expect(0);
    let statuses: Vec<String> =
        home.catalogue().column("SELECT url || ' ' || status FROM page WHERE status > 0 ORDER BY url");
    let wanted: Vec<String> =
        ["basic.test/ 200", "basic.test/more 200", "digest.test/ 200", "stranger.test/ 401", "token.test/ 200"]
            .iter()
            .map(|row| format!("http://{}", row.replacen(".test/", &format!(".test:{port}/"), 1)))
            .collect();
    assert_eq!(statuses, wanted);
    for heard in server.heard() {
        let told = heard.field("authorization").unwrap_or_default().to_owned();
        match heard.host() {
            "basic.test" => assert!(told.is_empty() || told == "Basic bWU6cHc=", "{heard:?}"),
            "digest.test" => {
                assert!(told.is_empty() || (told.starts_with("Digest ") && !told.contains("hidden")), "{heard:?}");
            }
            "token.test" => {
                assert_eq!(told, "Bearer tttt");
                assert_eq!(heard.field("cookie"), Some("id=abc"));
            }
            _ => assert!(told.is_empty() && heard.field("cookie").is_none(), "{heard:?}"),
        }
    }
    let kept = home.catalogue().column("SELECT settings FROM run").concat();
    assert!(!kept.contains("hidden") && !kept.contains("tttt") && kept.contains("digest.test"), "{kept}");
}
