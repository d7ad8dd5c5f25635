//! How fast are documents read, and what do they cost a crawl?
//!
//! The documents are those of the corpus beside the project: PDFs against pdftotext and Tika,
//! office files by the XML in them and against Tika. All of it on one core, and as processor time:
//! the start of pdftotext, measured on an empty page, is taken off, and Tika reads everything once
//! more than it must, so that its second reading, by a warm machine, is the difference. Then what
//! the way through a helper costs, and what a web is crawled at in which every twentieth page is a
//! PDF.

use super::measure::{self, Figures};
use super::tools::{Role, Tool, orb};
use super::verdict::{FigureTarget, TargetVerdict};
use super::web::BenchWeb;
use super::{BenchOptions, PartReport};
use crate::quality::{corpus, tika};
use crate::steps::{cargo_output, root};
use anyhow::{Context, Result};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use wait4::Wait4;

/// Every how many pages of the web one is a PDF.
const EVERY: u32 = 20;
/// Endings of office files that consist of XML.
const OFFICE: &str = "docx,xlsx,pptx";
/// A PDF with an empty page.
const EMPTY: &[u8] = b"%PDF-1.4\n1 0 obj\n<</Type/Catalog/Pages 2 0 R>>\nendobj\n2 0 obj\n<</Type/Pages/Count 1\
    /Kids[3 0 R]>>\nendobj\n3 0 obj\n<</Type/Page/Parent 2 0 R/MediaBox[0 0 9 9]>>\nendobj\ntrailer\n<</Size 4\
    /Root 1 0 R>>\n%%EOF\n";

const WITH: Tool = Tool { name: "with documents", role: Role::Ours, command: orb };
const WITHOUT: Tool = Tool { name: "pages only", role: Role::Ours, command: orb };

pub(super) fn measured(wish: &BenchOptions) -> Result<PartReport> {
    let mut report = PartReport::default();
    match corpus().map(|corpus| corpus.join("documents")).filter(|place| place.is_dir()) {
        Some(documents) => read(&documents, &mut report)?,
        None => println!("no documents to read: there is no ../shared/corpus/documents"),
    }
    overhead(&mut report)?;
    crawled(wish, &mut report)?;
    Ok(report)
}

/// Reads the documents of the corpus.
fn read(documents: &Path, report: &mut PartReport) -> Result<()> {
    let place = root().join("target/bench-documents");
    let files = gather(documents, &place)?;
    let (place, office_place) = (place.join("in"), place.join("office"));
    let ours = pace("pdf", &place)?;
    let of = |what: &str, figure, wanted| TargetVerdict::of(format!("documents: {what}"), [figure], wanted);
    let mut rows = vec![("orb", ours.seconds)];
    if let Some(theirs) = pdftotext(&files)? {
        rows.push(("pdftotext", theirs));
        let wanted = FigureTarget::AtLeast(1.0);
        report.verdicts.extend(of("PDFs a second, orb / pdftotext", theirs / ours.seconds, wanted));
    }
    if let Some(theirs) = warm_tika(&place)? {
        rows.push(("Tika, warm", theirs));
        report.verdicts.extend(of("PDFs a second, orb / Tika", theirs / ours.seconds, FigureTarget::AtLeast(3.0)));
    }
    let office = pace(OFFICE, &office_place)?;
    let xml = office.xml / 1e6 / office.seconds;
    report.verdicts.extend(of("MB of XML in office files a second", xml, FigureTarget::AtLeast(50.0)));
    if let Some(theirs) = warm_tika(&office_place)? {
        let times = theirs / office.seconds;
        report.verdicts.extend(of("office files a second, orb / Tika", times, FigureTarget::AtLeast(10.0)));
    }
    let mut table = format!("| {} PDFs, {:.0} MB | CPU s |\n|---|---|\n", ours.files, ours.bytes / 1e6);
    for (name, seconds) in rows {
        table += &format!("| {name} | {seconds:.2} |\n");
    }
    table += &format!("\n{} office files, {:.0} MB of XML: {xml:.0} MB/s.\n", office.files, office.xml / 1e6);
    report.tables.push(table);
    Ok(())
}

/// What a program of ours says of the files that it reads.
struct ReadingPace {
    files: u64,
    bytes: f64,
    xml: f64,
    seconds: f64,
}

fn pace(endings: &str, place: &Path) -> Result<ReadingPace> {
    let place = place.display().to_string();
    let told = told(&["-p", "orb-extract", "--example", "pace", "--", endings, &place])?;
    let number = |name: &str| told[name].as_f64().unwrap_or(0.0);
    let files = told["files"].as_u64().unwrap_or(0);
    Ok(ReadingPace { files, bytes: number("bytes"), xml: number("xml"), seconds: number("seconds") })
}

/// What an example prints.
fn told(example: &[&str]) -> Result<Value> {
    let args: Vec<&str> = ["run", "--release", "--quiet"].iter().chain(example).copied().collect();
    Ok(serde_json::from_str(cargo_output(&args)?.trim())?)
}

/// Copies the PDFs of which pdftotext finds a page, and the office files, into directories, so that
/// all read the same.
fn gather(documents: &Path, place: &Path) -> Result<Vec<PathBuf>> {
    let (input, office) = (place.join("in"), place.join("office"));
    fs::create_dir_all(&input)?;
    fs::create_dir_all(&office)?;
    fs::write(place.join("empty.pdf"), EMPTY)?;
    let mut files = Vec::new();
    for set in fs::read_dir(documents)?.flatten().map(|set| set.path()) {
        for path in fs::read_dir(&set).into_iter().flatten().flatten().map(|file| file.path()) {
            let own = |path: &Path| path.file_name().unwrap_or_default().display().to_string();
            let name = format!("{}-{}", own(&set), own(&path));
            let ending = path.extension().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
            if OFFICE.split(',').any(|known| known == ending) {
                fs::copy(&path, office.join(&name))?;
            }
            if ending == "pdf" && cpu(Command::new("pdfinfo").arg(&path)).is_ok_and(|cpu| cpu.is_some()) {
                let to = input.join(name);
                fs::copy(&path, &to)?;
                files.push(to);
            }
        }
    }
    Ok(files)
}

/// Processor seconds of a program and of those that it starts; `None` if it fails.
fn cpu(command: &mut Command) -> Result<Option<f64>> {
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let Ok(mut child) = command.spawn() else { return Ok(None) };
    let used = child.wait4().context("a judge was lost")?;
    let seconds = (used.rusage.utime + used.rusage.stime).as_secs_f64();
    Ok(used.status.success().then_some(seconds))
}

/// Processor seconds that pdftotext takes for all files, without those that it takes to start.
fn pdftotext(files: &[PathBuf]) -> Result<Option<f64>> {
    let one = |file: &Path| cpu(Command::new("pdftotext").args(["-q", "-enc", "UTF-8"]).arg(file).arg("/dev/null"));
    let empty = files.first().and_then(|file| file.parent()?.parent()).map(|place| place.join("empty.pdf"));
    let Some(empty) = empty else { return Ok(None) };
    let mut starts: Vec<f64> = (0..21).filter_map(|_| one(&empty).ok().flatten()).collect();
    starts.sort_by(f64::total_cmp);
    let Some(start) = starts.get(starts.len() / 2) else { return Ok(None) };
    let mut sum = 0.0;
    for file in files {
        sum += one(file)?.map_or(0.0, |seconds| (seconds - start).max(0.0));
    }
    Ok(Some(sum))
}

/// Processor seconds that Tika takes for all files when it has read all of them before.
fn warm_tika(input: &Path) -> Result<Option<f64>> {
    let Some(jar) = tika::jar() else { return Ok(None) };
    let own = input.file_name().unwrap_or_default().display().to_string();
    let twice = input.with_file_name(format!("{own}-twice"));
    for copy in ["first", "second"] {
        fs::create_dir_all(twice.join(copy))?;
        for file in fs::read_dir(input)?.flatten() {
            fs::copy(file.path(), twice.join(copy).join(file.file_name()))?;
        }
    }
    let run = |from: &Path, to: &str| {
        let output = input.with_file_name(format!("{own}-{to}"));
        let _ = fs::remove_dir_all(&output);
        let mut java = Command::new("java");
        java.arg("-jar").arg(&jar).args(["-t", "-numConsumers", "1", "-i"]).arg(from).arg("-o").arg(&output);
        cpu(&mut java)
    };
    let (once, both) = (run(input, "tika-once")?, run(&twice, "tika-twice")?);
    Ok(once.zip(both).map(|(once, both)| both - once))
}

/// What the way through a helper costs.
fn overhead(report: &mut PartReport) -> Result<()> {
    let told = told(&["-p", "orb-aside", "--example", "overhead"])?;
    let micros = |name: &str| told[name].as_f64().unwrap_or(f64::MAX);
    let more = (micros("aside") - micros("here")) / 1_000.0;
    let what = "documents: milliseconds more to be read aside";
    report.verdicts.extend(TargetVerdict::of(what, [more], FigureTarget::AtMost(1.0)));
    Ok(())
}

/// Crawls a web of pages, and one in which some are documents, in turn.
fn crawled(wish: &BenchOptions, report: &mut PartReport) -> Result<()> {
    let (web, mixed) =
        (BenchWeb::start((200, 100), wish.pages)?, BenchWeb::with_documents((200, 100), wish.pages, EVERY)?);
    let mut rounds: [Vec<Figures>; 2] = Default::default();
    for _ in 0..wish.rounds {
        rounds[0].push(measure::run(&WITHOUT, &web, &wish.orb)?);
        rounds[1].push(measure::run(&WITH, &mixed, &wish.orb)?);
    }
    let rows =
        [WITHOUT, WITH].iter().zip(&rounds).filter_map(|(tool, all)| Some((tool.name, measure::median(all.iter())?)));
    report.tables.push(measure::table(&web.title(), web.pages(), rows.collect::<Vec<_>>().into_iter()));
    // Documents are read behind the pages, so what counts is how fast addresses are fetched.
    let kept: Vec<f64> =
        rounds[1].iter().zip(&rounds[0]).map(|(with, alone)| with.fetching() / alone.fetching()).collect();
    report.verdicts.extend(TargetVerdict::of(
        "documents: addresses a second while fetching, 5 % documents / only pages",
        kept,
        FigureTarget::AtLeast(0.98),
    ));
    Ok(())
}
