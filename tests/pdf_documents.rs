//! Are PDFs read like pages, and does no PDF ever harm a crawl?
//!
//! The PDFs are written here, byte by byte: sound ones, and such as overflow stacks, ask for all
//! memory or never end.
#![allow(clippy::unwrap_used, reason = "what goes wrong here fails the test")]

mod harness;

use flate2::Compression;
use flate2::write::ZlibEncoder;
use harness::orb::{Home, PROJECT, crawling, peak_of_crawl};
use harness::script::{Script, absent, page};
use harness::until;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use std::io::Write as _;
use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// How often the memory of a crawl is measured before it is too much.
const TRIES: usize = 3;
/// How long a crawl of all hostile PDFs may take.
const LONGEST: Duration = Duration::from_secs(400);

/// A PDF of these objects, numbered from 1; the first is its catalogue.
fn pdf(objects: &[Vec<u8>], trailer: &str) -> Vec<u8> {
    let mut out = b"%PDF-1.7\n".to_vec();
    let mut places = Vec::new();
    for (number, object) in objects.iter().enumerate() {
        places.push(out.len());
        out.extend_from_slice(format!("{} 0 obj\n", number + 1).as_bytes());
        out.extend_from_slice(object);
        out.extend_from_slice(b"\nendobj\n");
    }
    let (start, size) = (out.len(), objects.len() + 1);
    out.extend_from_slice(format!("xref\n0 {size}\n0000000000 65535 f \n").as_bytes());
    for place in places {
        out.extend_from_slice(format!("{place:010} 00000 n \n").as_bytes());
    }
    let end = format!("trailer\n<</Size {size}/Root 1 0 R{trailer}>>\nstartxref\n{start}\n%%EOF\n");
    out.extend_from_slice(end.as_bytes());
    out
}

fn stream(content: &[u8], entries: &str) -> Vec<u8> {
    let mut out = format!("<<{entries}/Length {}>>\nstream\n", content.len()).into_bytes();
    out.extend_from_slice(content);
    out.extend_from_slice(b"\nendstream");
    out
}

/// A PDF with one page: its content, further entries of the page, and further objects from 6 on.
fn one_page(content: &[u8], entries: &str, more: &[Vec<u8>], trailer: &str) -> Vec<u8> {
    let page = format!(
        "<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Contents 5 0 R\
         /Resources<</Font<</F 4 0 R/G 6 0 R>>/XObject<</X 5 0 R/Y 6 0 R>>>>{entries}>>"
    );
    let mut objects = vec![
        b"<</Type/Catalog/Pages 2 0 R>>".to_vec(),
        b"<</Type/Pages/Count 1/Kids[3 0 R]>>".to_vec(),
        page.into_bytes(),
        b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>".to_vec(),
        stream(content, ""),
    ];
    objects.extend_from_slice(more);
    pdf(&objects, trailer)
}

/// A sound report with a link over its first line.
fn report(text: &str, made: &str) -> Vec<u8> {
    let content = format!("BT /F 12 Tf 72 700 Td (Figures of the year) Tj 0 -40 Td ({text}) Tj ET");
    let link = "/Annots[<</Subtype/Link/Rect[70 690 300 715]/A<</S/URI/URI(/linked.html)>>>>]";
    let about = format!("<</Title(The report)/Author(Ada Byron)/CreationDate({made})/ModDate({made})>>");
    let id = format!("/Info 6 0 R/ID[<{0}><{0}>]", made.bytes().map(|b| format!("{b:02x}")).collect::<String>());
    one_page(content.as_bytes(), link, &[about.into_bytes()], &id)
}

fn reply(mime: &str, body: &[u8]) -> Vec<u8> {
    let mut out =
        format!("HTTP/1.1 200 OK\r\nContent-Type: {mime}\r\nContent-Length: {}\r\n\r\n", body.len()).into_bytes();
    out.extend_from_slice(body);
    out
}

fn deflated(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn start(script: &Script) -> String {
    format!("http://127.0.0.1:{}/", script.port())
}

#[test]
fn a_pdf_is_found_by_its_words_its_links_are_followed_and_its_text_is_printed() {
    let text = "The zebrafish yield rose by a third, see http://127.0.0.1:9/paper for more.";
    let body = report(text, "D:20240102030405+01'00");
    let script = Script::serve(move |heard| match heard.target.as_str() {
        "/" => page(["report.pdf", "plain.html"]),
        // The type is told from the bytes where the server does not know it.
        "/report.pdf" => reply("application/octet-stream", &body),
        "/plain.html" => page(["/"]),
        "/linked.html" => page(["/plain.html"]),
        _ => absent(),
    });
    let home = Home::new();
    home.crawl(&[&start(&script), "--delay", "0"]);
    let url = format!("{}report.pdf", start(&script));
    let catalogue = home.catalogue();
    let row = catalogue.page(&url);
    assert_eq!((row.kind.as_str(), row.mime.as_deref()), ("BINARY", Some("application/pdf")));
    assert_eq!(row.title.as_deref(), Some("The report"));
    let linked = format!("{}linked.html", start(&script));
    assert!(catalogue.has_link(&url, &linked, "document"), "{:?}", catalogue.links());
    assert!(catalogue.has_link(&url, "http://127.0.0.1:9/paper", "text"), "{:?}", catalogue.links());
    assert_eq!(catalogue.page(&linked).kind, "HTML");
    let by = "SELECT fetched_by FROM page WHERE mime = 'application/pdf' OR title = 't' ORDER BY mime";
    let names = catalogue.column(by);
    assert!(names[0].contains("-doc-") && !names[1].contains("-doc-"), "{names:?}");

    let finds = |home: &Home| {
        let hits = home.orb(&["search", PROJECT, "zebrafish yield", "--json"]).expect(0).json();
        assert_eq!(hits[0]["url"], url.as_str(), "{hits}");
    };
    finds(&home);
    home.orb(&["index", "rebuild", PROJECT, "--quiet"]).expect(0);
    finds(&home);
    let text = home.orb(&["cat", PROJECT, &url, "--as", "text"]);
    assert!(text.expect(0).text().starts_with("Figures of the year\nThe zebrafish yield rose"), "{text}");
    let markdown = home.orb(&["cat", PROJECT, &url, "--as", "markdown"]);
    assert!(markdown.expect(0).text().contains("zebrafish") && markdown.text().contains("Ada Byron"), "{markdown}");
    let stats = home.orb(&["stats", PROJECT, "--json"]).expect(0).json();
    assert_eq!(stats["whole"]["documents"]["pdf"], 1, "{stats}");
    home.orb(&["check", PROJECT]).expect(0);
}

#[test]
fn what_a_pdf_says_of_itself_is_shown() {
    let home = Home::new();
    let file = home.beside("r.pdf");
    std::fs::write(&file, report("Text", "D:20240102030405+01'00")).unwrap();
    let shown = home.orb(&["inspect", "document", file.to_str().unwrap(), "--base", "http://a.example/"]);
    let shown = shown.expect(0).json();
    assert_eq!(shown["mime"], "application/pdf");
    assert_eq!(shown["author"], "Ada Byron");
    assert_eq!((&shown["created"], &shown["modified"]), (&"2024-01-02T03:04:05+01:00".into(), &shown["created"]));
    assert_eq!((&shown["page_count"], &shown["pages"]), (&Value::from(1), &Value::from(1)));
    assert_eq!(shown["links"][0]["url"], "http://a.example/linked.html");
    assert_eq!(shown["links"][0]["anchor"], "Figures of the year");
}

#[test]
fn columns_rows_and_divided_words_are_read_as_people_read_them() {
    let mut content = b"BT /F 10 Tf 1 0 0 1 72 740 Tm (A heading across both of the columns) Tj\n".to_vec();
    let left = ["The left column begins here", "and goes on with a divi-", "ded word before it ends"];
    let right = ["The right column is read", "when the left one is over", "and ends the page here"];
    // Row by row, as some producers draw.
    for (row, (left, right)) in left.iter().zip(right).enumerate() {
        for (x, line) in [(72, *left), (330, right)] {
            let y = 700 - 12 * row;
            content.extend_from_slice(format!("1 0 0 1 {x} {y} Tm ({line}) Tj\n").as_bytes());
        }
    }
    content.extend_from_slice(b"1 0 0 1 72 600 Tm [(W)80(o)-20(rds)-400(by)-400(kerning)] TJ ET");
    let home = Home::new();
    let file = home.beside("c.pdf");
    std::fs::write(&file, one_page(&content, "", &[], "")).unwrap();
    let shown = home.orb(&["inspect", "document", file.to_str().unwrap(), "--base", "http://a.example/"]);
    let text = shown.expect(0).json()["text"].as_str().unwrap().replace('\n', " ");
    assert_eq!(
        text,
        "A heading across both of the columns The left column begins here and goes on with a divided word before it \
         ends The right column is read when the left one is over and ends the page here Words by kerning"
    );
}

#[test]
fn a_pdf_made_anew_is_the_same_and_one_that_says_something_else_is_not() {
    let run = Arc::new(AtomicUsize::new(0));
    let now = Arc::clone(&run);
    let script = Script::serve(move |heard| match (heard.target.as_str(), now.load(Ordering::SeqCst)) {
        ("/", _) => page(["r.pdf"]),
        ("/r.pdf", 0) => reply("application/pdf", &report("Nothing new", "D:20240101000000Z")),
        ("/r.pdf", 1) => reply("application/pdf", &report("Nothing new", "D:20240202000000Z")),
        ("/r.pdf", _) => reply("application/pdf", &report("Everything is new now", "D:20240303000000Z")),
        _ => absent(),
    });
    let home = Home::new();
    home.crawl(&[&start(&script), "--delay", "0"]);
    let flag = |number: usize| {
        run.store(number, Ordering::SeqCst);
        home.orb(&["track", PROJECT, "--json", "--progress", "none", "--delay", "0"]).expect(0);
        let url = format!("{}r.pdf", start(&script));
        let sql = "SELECT flag FROM visit v JOIN page p ON p.id = v.page_id WHERE p.url = '{}' ORDER BY run DESC";
        home.catalogue().column(&sql.replace("{}", &url)).remove(0)
    };
    assert_eq!(flag(1), "SAM");
    assert_eq!(flag(2), "UPD");
}

#[test]
fn large_pdfs_are_fetched_whole_and_other_large_files_are_not() {
    let mut large = report("Far inside", "D:20240101000000Z");
    large.resize(11_000_000, b' ');
    let script = Script::serve(move |heard| match heard.target.as_str() {
        "/" => page(["large.pdf", "large.bin"]),
        "/large.pdf" => reply("application/pdf", &large),
        "/large.bin" => reply("application/octet-stream", &large[100..]),
        _ => absent(),
    });
    let home = Home::new();
    home.crawl(&[&start(&script), "--delay", "0"]);
    let cut = home.catalogue().column("SELECT url FROM page WHERE problem LIKE 'too-large%'");
    assert_eq!(cut, [format!("{}large.bin", start(&script))]);
    let hits = home.orb(&["search", PROJECT, "far inside", "--json"]).expect(0).json();
    assert_eq!(hits.as_array().map(Vec::len), Some(1), "{hits}");
}

#[test]
fn a_process_that_reads_documents_can_do_nothing_else() {
    let home = Home::new();
    let mut command = home.command(&["__read", "300000000", "10"]);
    let mut helper = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let read = |what: &str| std::fs::read_to_string(format!("/proc/{}/{what}", helper.id())).unwrap();
    // The last limit that it sets itself.
    until("it has given up everything", || limit(&read("limits"), "Max open files") == "3");
    let status = read("status");
    let field = |name: &str| status.lines().find_map(|line| line.strip_prefix(name)).map(str::trim);
    // What confines a thread confines the process only where there is no other.
    assert_eq!((field("Threads:"), field("NoNewPrivs:")), (Some("1"), Some("1")), "{status}");
    let limits = read("limits");
    assert_eq!(limit(&limits, "Max address space"), "300000000");
    for none in ["Max file size", "Max core file size", "Max processes"] {
        assert_eq!(limit(&limits, none), "0", "{none}");
    }
    drop(helper.stdin.take());
    assert!(helper.wait().unwrap().success(), "it ends with its input");
}

/// The hard limit of a resource.
fn limit(limits: &str, name: &str) -> String {
    let line = limits.lines().find_map(|line| line.strip_prefix(name)).unwrap();
    line.split_whitespace().nth(1).unwrap().to_owned()
}

/// A process that reads documents for another one: its number, and the time it has used.
struct Reader {
    pid: i32,
    cpu: Duration,
}

/// The processes that read documents for this one.
fn readers(of: i32) -> Vec<Reader> {
    let reader = |entry: std::fs::DirEntry| {
        let pid: i32 = entry.file_name().to_str()?.parse().ok()?;
        let stat = std::fs::read_to_string(entry.path().join("stat")).ok()?;
        // Behind the name, which may hold anything: state, parent, and as the twelfth the time.
        let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
        let is_ours = fields.get(1)?.parse() == Ok(of);
        let ticks: u64 = fields.get(11)?.parse().ok()?;
        is_ours.then_some(Reader { pid, cpu: Duration::from_millis(ticks * 10) })
    };
    std::fs::read_dir("/proc").unwrap().flatten().filter_map(reader).collect()
}

#[test]
fn a_reader_that_dies_or_takes_too_long_is_a_problem_of_its_document() {
    // Forms that draw themselves: seconds of work.
    let endless = |name: &str| {
        let content = format!("% {name}\n{}{}", "/X Do ".repeat(50), "q Q ".repeat(20_000));
        one_page(content.as_bytes(), "", &[], "")
    };
    let bodies = [("/one.pdf", endless("one")), ("/two.pdf", endless("two"))];
    let served = bodies.clone();
    let script = Script::serve(move |heard| match heard.target.as_str() {
        "/" => page(["one.pdf", "two.pdf", "good.pdf"]),
        "/good.pdf" => reply("application/pdf", &report("All is well", "D:20240101000000Z")),
        target => match served.iter().find(|(name, _)| *name == target) {
            Some((_, body)) => reply("application/pdf", body),
            None => absent(),
        },
    });
    let home = Home::new();
    let project = home.beside("p.toml");
    let settings = "frontier.delay = '0s'\ndocuments.workers = 1\n";
    std::fs::write(&project, format!("seeds = ['{}']\n{settings}", start(&script))).unwrap();
    let running = home.start(&crawling(&[project.to_str().unwrap()]), &[]);
    let mut ended = Vec::new();
    // A crash, and what the kernel sends to whoever has used up its time.
    for signal in [Signal::ABORT, Signal::XCPU] {
        until("a reader is at work", || {
            let busy = |reader: &Reader| reader.cpu > Duration::from_millis(100) && !ended.contains(&reader.pid);
            let Some(reader) = readers(running.pid()).into_iter().find(busy) else { return false };
            kill_process(Pid::from_raw(reader.pid).unwrap(), signal).unwrap();
            ended.push(reader.pid);
            true
        });
    }
    running.finish().expect(0);
    let catalogue = home.catalogue();
    let rows = catalogue.rows("SELECT url, kind, COALESCE(problem, '') FROM page WHERE url LIKE '%.pdf' ORDER BY 3");
    assert!(rows.iter().all(|row| row[1] == "BINARY"), "{rows:#?}");
    let [good, died, slow] = rows.as_slice() else { panic!("{rows:#?}") };
    assert!(good[0].ends_with("/good.pdf") && good[2].is_empty(), "{rows:#?}");
    assert!(died[2].starts_with("reader-died") && slow[2].starts_with("reader-slow"), "{rows:#?}");
    for (name, body) in &bodies {
        let url = format!("{}{}", start(&script), &name[1..]);
        assert_eq!(home.orb(&["cat", PROJECT, &url]).expect(0).stdout, *body, "{name} is kept");
    }
}

#[test]
fn the_memory_of_readers_is_what_the_project_says_for_whoever_reads() {
    let mut content = vec![b' '; 100 << 20];
    content.extend_from_slice(b"BT /F 9 Tf (far behind) Tj ET");
    let form = stream(&deflated(&content), "/Subtype/Form/BBox[0 0 612 792]/Filter/FlateDecode");
    let body = one_page(b"/Y Do", "", &[form], "");
    let script = Script::serve(move |heard| match heard.target.as_str() {
        "/" => page(["large.pdf"]),
        "/large.pdf" => reply("application/pdf", &body),
        _ => absent(),
    });
    let home = Home::new();
    let project = home.beside("p.toml");
    let settings = "frontier.delay = '0s'\ndocuments.memory = '80MiB'\n";
    std::fs::write(&project, format!("seeds = ['{}']\n{settings}", start(&script))).unwrap();
    home.crawl(&[project.to_str().unwrap()]);
    let url = format!("{}large.pdf", start(&script));
    let problem = home.catalogue().column("SELECT COALESCE(problem, '') FROM page WHERE url LIKE '%.pdf'").remove(0);
    assert!(problem.starts_with("reader-memory"), "{problem}");
    let text = || home.orb(&["cat", PROJECT, &url, "--as", "text"]).expect(0).text().trim().to_owned();
    assert_eq!(text(), "");
    let kept = home.project().join("project.toml");
    let settings = std::fs::read_to_string(&kept).unwrap();
    let (little, much) = (80 << 20, 400 << 20);
    let raised = settings.replace(&format!("memory = \"{little}B\""), &format!("memory = \"{much}B\""));
    assert_ne!(raised, settings);
    std::fs::write(&kept, raised).unwrap();
    assert_eq!(text(), "far behind");
}

const JBIG2: &str =
    "/Subtype/Image/Width 65535/Height 65535/BitsPerComponent 1/ColorSpace/DeviceGray/Filter/JBIG2Decode";

/// A picture that claims a page of 2^32 - 1 by 2^32 - 1 points, a dictionary of as many symbols,
/// and a region that fills the page.
fn jbig2_bomb() -> Vec<u8> {
    let segment = |number: u32, kind: u8, content: &[u8]| {
        let length = u32::try_from(content.len()).unwrap();
        [&number.to_be_bytes()[..], &[kind, 0, 1], &length.to_be_bytes(), content].concat()
    };
    let page = [vec![0xFF; 8], vec![0; 11]].concat();
    let symbols = [vec![0; 2], vec![3, 0xFF, 0xFD, 0xFF, 2, 0xFE, 0xFE, 0xFE], vec![0xFF; 8], vec![0x55; 64]].concat();
    let region = [vec![0xFF; 8], vec![0; 9], vec![0], vec![3, 0xFF, 0xFD, 0xFF, 2, 0xFE, 0xFE, 0xFE], vec![0xAA; 64]];
    [segment(0, 48, &page), segment(1, 0, &symbols), segment(2, 38, &region.concat())].concat()
}

/// PDFs that are out to harm their reader, by name.
fn hostile() -> Vec<(&'static str, Vec<u8>)> {
    let page = |content: &[u8]| one_page(content, "", &[], "");
    let bomb = || {
        let once = deflated(&vec![b' '; 300 << 20]);
        deflated(&deflated(&once))
    };
    let flate = "/Subtype/Form/BBox[0 0 1 1]/Filter[/FlateDecode/FlateDecode/FlateDecode]";
    let cmap = b"/CIDInit /ProcSet findresource begin begincmap 1 begincodespacerange <00000000> <FFFFFFFF> \
        endcodespacerange 1 beginbfrange <00000000> <FFFFFFFF> <0041> endbfrange endcmap";
    let wide = b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica/ToUnicode 7 0 R>>".to_vec();
    let drawing_itself =
        b"<</Type/Font/Subtype/Type3/FontMatrix[1 0 0 1 0 0]/FontBBox[0 0 1 1]/FirstChar 97/LastChar 97\
        /Widths[1]/Encoding<</Differences[97/a]>>/CharProcs<</a 5 0 R>>/Resources<</Font<</G 6 0 R>>>>>>";
    let annotation = "<</Subtype/Link/Rect[0 0 1 1]/A<</S/URI/URI(http://127.0.0.1:9/a)>>>>";
    let all = |content: &str| pdf(&[content.as_bytes().to_vec()], "");
    let kids = |kids: &str| pdf(&[b"<</Pages 2 0 R>>".to_vec(), format!("<</Kids[{kids}]>>").into_bytes()], "");
    let mut previous = page(b"BT /F 9 Tf (previous) Tj ET");
    let start = previous.windows(4).rposition(|part| part == b"xref").unwrap() - 5;
    let table = previous[..start].windows(4).rposition(|part| part == b"xref").unwrap();
    let tail = format!("trailer\n<</Size 6/Root 1 0 R/Prev {table}>>\nstartxref\n{table}\n%%EOF");
    let trailer = previous.windows(7).rposition(|part| part == b"trailer").unwrap();
    previous.truncate(trailer);
    previous.extend_from_slice(tail.as_bytes());
    vec![
        ("brackets", [b"%PDF-1.7\n1 0 obj\n".to_vec(), vec![b'['; 1_000_000]].concat()),
        ("dictionaries", format!("%PDF-1.7\n1 0 obj\n{}", "<</A".repeat(300_000)).into_bytes()),
        ("brackets-in-content", page(&vec![b'['; 1_000_000])),
        ("previous-cycle", previous),
        ("kids-cycle", kids("2 0 R 2 0 R 2 0 R")),
        ("many-kids", kids(&"3 0 R ".repeat(200_000))),
        ("size", pdf(&[b"<</Pages 2 0 R>>".to_vec()], "/Size 2147483648")),
        (
            "widths",
            [
                b"%PDF-1.7\n1 0 obj\n".to_vec(),
                stream(&[255; 64], "/Type/XRef/W[1 8 8]/Index[0 4294967295]/Size 2147483648/Root 1 0 R"),
                b"\nendobj\nstartxref\n9\n%%EOF".to_vec(),
            ]
            .concat(),
        ),
        ("object-stream", all("<</Type/ObjStm/N 1/First 4/Length 9/Extends 1 0 R>>\nstream\n1 0 <<>>\nendstream")),
        ("bomb", one_page(b"/Y Do", "", &[stream(&bomb(), flate)], "")),
        ("cmap", one_page(b"BT /G 9 Tf (abc) Tj ET", "", &[wide, stream(cmap, "")], "")),
        ("glyph-in-itself", one_page(b"BT /G 1 Tf (aaaa) Tj ET", "", &[drawing_itself.to_vec()], "")),
        ("form-in-itself", page(&b"/X Do ".repeat(100))),
        ("annotations", one_page(b"", &format!("/Annots[{}]", annotation.repeat(100_000)), &[], "")),
        // A million, most of which are the same object.
        (
            "million-annotations",
            one_page(b"", &format!("/Annots[{}]", "6 0 R ".repeat(1_000_000)), &[annotation.as_bytes().to_vec()], ""),
        ),
        ("jbig2", one_page(b"/Y Do", "", &[stream(&jbig2_bomb(), JBIG2)], "")),
        (
            "pictures",
            one_page(
                b"/Y Do",
                "",
                &[stream(&[0xFF; 64], "/Subtype/Image/Width 65535/Height 65535/Filter/JPXDecode")],
                "",
            ),
        ),
        (
            "encrypted",
            one_page(
                b"",
                "",
                &[],
                &format!(
                    "/ID[<00><00>]/Encrypt<</Filter/Standard/V 2/R 3/Length 128/P -4/O({0})/U({0})>>",
                    "x".repeat(32)
                ),
            ),
        ),
        ("nothing", b"%PDF-1.7\n".to_vec()),
    ]
}

#[test]
fn no_pdf_harms_a_crawl_and_every_page_is_recorded() {
    let files = hostile();
    let names: Vec<String> = files.iter().map(|(name, _)| format!("{name}.pdf")).collect();
    let links = names.clone();
    let script = Script::serve(move |heard| {
        if heard.target == "/" {
            return page(links.iter().map(String::as_str).chain(["good.pdf"]));
        }
        let name = heard.target.trim_start_matches('/').trim_end_matches(".pdf");
        match files.iter().find(|(known, _)| *known == name) {
            Some((_, body)) => reply("application/pdf", body),
            None if name == "good" => reply("application/pdf", &report("All is well", "D:20240101000000Z")),
            None => absent(),
        }
    });
    // The same sizes, and nothing but a sound page in each.
    let sizes: Vec<usize> = hostile().iter().map(|(_, body)| body.len()).collect();
    let harmless = Script::serve(move |heard| {
        let number = heard.target.trim_matches('/').trim_end_matches(".pdf").parse::<usize>();
        match number.ok().and_then(|number| sizes.get(number)) {
            Some(size) => {
                let mut body = report("All is well", &format!("D:2024010100{:02}00Z", size % 60));
                body.resize(body.len().max(*size), b' ');
                reply("application/pdf", &body)
            }
            None => page((0..sizes.len()).map(|number| format!("{number}.pdf"))),
        }
    });
    let peak = |home: &Home, script: &Script| peak_of_crawl(home, &start(script), "documents.workers = 2\n", LONGEST);
    // How much of what is fetched waits in memory at once depends on how busy the machine is. What
    // a file takes for itself, it takes every time.
    let mut taken = Vec::new();
    let home = loop {
        let usual = peak(&Home::new(), &harmless);
        let home = Home::new();
        taken.push((peak(&home, &script), usual));
        let least = taken.iter().map(|(peak, usual)| peak.saturating_sub(*usual)).min().unwrap();
        if least < 20 << 20 {
            break home;
        }
        assert!(taken.len() < TRIES, "the crawling process takes more than for harmless PDFs: {taken:?}");
    };
    let catalogue = home.catalogue();
    let rows = catalogue.rows("SELECT url, kind, COALESCE(problem, '') FROM page WHERE url LIKE '%.pdf' ORDER BY url");
    assert_eq!(rows.len(), names.len() + 1, "{rows:#?}");
    assert!(rows.iter().all(|row| row[1] == "BINARY" || row[1] == "DUPLICATE"), "{rows:#?}");
    let problem = |name: &str| rows.iter().find(|row| row[0].ends_with(&format!("/{name}.pdf"))).unwrap()[2].clone();
    assert!(problem("encrypted").contains("encrypted"), "{rows:#?}");
    assert!(problem("bomb").contains("reader-memory"), "{rows:#?}");
    assert_eq!(problem("good"), "");
    // Whoever reads them later is not harmed, either.
    for name in &names {
        let url = format!("{}{name}", start(&script));
        home.orb(&["cat", PROJECT, &url, "--as", "text"]).expect(0);
    }
    home.orb(&["index", "rebuild", PROJECT, "--quiet"]).expect(0);
    home.orb(&["export", PROJECT, "markdown", "-o", home.beside("out").to_str().unwrap(), "--quiet"]).expect(0);
    let hits = home.orb(&["search", PROJECT, "all is well", "--json"]).expect(0).json();
    assert_eq!(hits.as_array().map(Vec::len), Some(1), "{hits}");
}
