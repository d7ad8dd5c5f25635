//! `orb inspect`: what do we make of one thing, without crawling?

use super::{forms, sessions};
use crate::args::{Common, Inspect, InspectArgs};
use crate::failure::CommandFailure;
use crate::out;
use anyhow::Context as _;
use orb_extract::Content;
use orb_frontier::Robots;
use orb_frontier::robots::path_of;
use orb_page::{Document, LinkKind};
use orb_urls::{Address, Canonicaliser, Rules, session, surt};
use serde::Serialize;
use serde_json::json;
use std::io::{Read as _, Write as _};
use std::path::Path;

pub(crate) fn run(common: &Common, args: &InspectArgs) -> Result<(), CommandFailure> {
    match &args.what {
        Inspect::Robots { file, agent, urls } => robots(common, file, agent, urls),
        Inspect::Document { file, base, mime } => document(file, base, mime.as_deref()),
        Inspect::Forms { page, resolve, .. } if page.contains("://") => forms::of_url(common, page, resolve),
        Inspect::Forms { page, base, .. } => forms::of_file(common, &read(Path::new(page))?, base),
        Inspect::Sessions { file, second } => {
            let second = second.as_deref().map(read).transpose()?;
            sessions::run(common, &read(file)?, second.as_deref())
        }
        Inspect::Url { urls, base } => url(common, urls, base.as_deref()),
    }
}

/// The bytes of a file; `-` is standard input.
fn read(file: &Path) -> Result<Vec<u8>, CommandFailure> {
    if file.as_os_str() == "-" {
        let mut bytes = Vec::new();
        std::io::stdin().read_to_end(&mut bytes).context("cannot read standard input")?;
        return Ok(bytes);
    }
    Ok(std::fs::read(file).with_context(|| format!("cannot read {}", file.display()))?)
}

#[derive(Serialize)]
struct RobotsRow {
    url: String,
    allowed: bool,
    rule: Option<String>,
    line: Option<u32>,
}

fn robots(common: &Common, file: &Path, agent: &str, urls: &[String]) -> Result<(), CommandFailure> {
    let robots = Robots::parse(&read(file)?, agent);
    let mut rows = Vec::new();
    for url in urls {
        let path = path_of(url);
        let ruling = robots.allows(&path);
        let (line, rule) = ruling.rule.unzip();
        rows.push(RobotsRow { url: url.clone(), allowed: ruling.allowed, rule, line });
    }
    let mut stdout = out::stdout();
    if common.json {
        out::json(&mut stdout, &rows)?;
    } else {
        for row in &rows {
            let verdict = if row.allowed { "allowed" } else { "disallowed" };
            match (&row.rule, row.line) {
                (Some(rule), Some(line)) => writeln!(stdout, "{verdict}\t{}\tline {line}: {rule}", row.url)?,
                _ => writeln!(stdout, "{verdict}\t{}\tno rule", row.url)?,
            }
        }
    }
    Ok(stdout.flush()?)
}

/// A link with its canonical target beside what was written.
#[derive(Serialize)]
struct InspectedLink<'a> {
    url: Option<String>,
    target: &'a str,
    kind: LinkKind,
    anchor: &'a str,
    rel: &'a str,
    position: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    refused: Option<String>,
}

fn document(file: &Path, base: &str, mime: Option<&str>) -> Result<(), CommandFailure> {
    let bytes = read(file)?;
    let canonical = Canonicaliser::new(Rules::default());
    let own = canonical.parse_seed(base).map_err(|e| CommandFailure::Usage(format!("--base '{base}': {e}")))?;
    let (mime, charset) = split_mime(mime);
    let content = Content { bytes: &bytes, mime: mime.as_deref(), charset: charset.as_deref(), url: own.as_str() };
    let document = orb_extract::extract(&content);
    let mut stdout = out::stdout();
    serde_json::to_writer_pretty(&mut stdout, &described(&canonical, &own, &document)?)?;
    writeln!(stdout)?;
    Ok(stdout.flush()?)
}

/// The document as JSON, with every URL resolved.
fn described(
    canonical: &Canonicaliser,
    own: &Address,
    document: &Document,
) -> Result<serde_json::Value, CommandFailure> {
    let base = canonical.canonical_base(own, document.base.as_deref());
    let resolve = |href: &str| canonical.resolve(&base, href);
    let links: Vec<InspectedLink<'_>> = document
        .links
        .iter()
        .map(|l| {
            let (url, refused) = match resolve(&l.target) {
                Ok(address) => (Some(address.into_string()), None),
                Err(refused) => (None, Some(refused.to_string())),
            };
            InspectedLink {
                url,
                target: &l.target,
                kind: l.kind,
                anchor: &l.anchor,
                rel: &l.rel,
                position: l.position,
                refused,
            }
        })
        .collect();
    let mut value = serde_json::to_value(document)?;
    value["url"] = json!(own.as_str());
    value["base"] = json!(base.as_str());
    value["links"] = serde_json::to_value(links)?;
    value["canonical"] = json!(document.canonical.as_deref().and_then(|c| resolve(c).ok()).map(Address::into_string));
    if let Some(images) = value["images"].as_array_mut() {
        for image in images {
            let src = image["src"].as_str().unwrap_or_default();
            image["url"] = json!(resolve(src).ok().map(Address::into_string));
        }
    }
    let simhash = (!document.text.is_empty()).then(|| format!("{:016x}", orb_extract::simhash(&document.text)));
    value["simhash"] = json!(simhash);
    Ok(value)
}

fn split_mime(mime: Option<&str>) -> (Option<String>, Option<String>) {
    let headers: orb_page::Headers = mime.map(|m| ("Content-Type", m)).into_iter().collect();
    (headers.mime(), headers.charset())
}

#[derive(Serialize)]
struct InspectedUrl {
    given: String,
    url: Option<String>,
    canonical: Option<String>,
    surt: Option<String>,
    key: Option<String>,
    site: Option<String>,
    host: Option<String>,
    port: Option<u16>,
    sessions: Vec<serde_json::Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    refused: Option<String>,
}

fn url(common: &Common, urls: &[String], base: Option<&str>) -> Result<(), CommandFailure> {
    let canonical = Canonicaliser::new(Rules::default());
    let base = base
        .map(|b| canonical.parse_seed(b).map_err(|e| CommandFailure::Usage(format!("--base '{b}': {e}"))))
        .transpose()?;
    let site = session::one_session(&urls.iter().map(String::as_str).collect::<Vec<_>>());
    let rows: Vec<InspectedUrl> = urls
        .iter()
        .map(|given| {
            let address = match &base {
                Some(base) => canonical.resolve(base, given),
                None => canonical.parse_seed(given),
            };
            describe(given, address, &site)
        })
        .collect();
    let mut stdout = out::stdout();
    if common.json {
        out::json(&mut stdout, &rows)?;
        return Ok(stdout.flush()?);
    }
    for row in &rows {
        writeln!(stdout, "{}", row.given)?;
        if let Some(refused) = &row.refused {
            writeln!(stdout, "  refused    {refused}")?;
            continue;
        }
        let show = |v: &Option<String>| v.clone().unwrap_or_default();
        writeln!(stdout, "  canonical  {}", show(&row.url))?;
        writeln!(stdout, "  SURT       {}", show(&row.surt))?;
        writeln!(stdout, "  site       {}", show(&row.site))?;
        for session in &row.sessions {
            writeln!(stdout, "  session    {} = {} ({})", session["name"], session["value"], session["place"])?;
        }
    }
    Ok(stdout.flush()?)
}

/// The description of a URL; `site` knows the session ids that the given URLs share.
fn describe(given: &str, address: Result<Address, orb_urls::Refused>, site: &session::Site) -> InspectedUrl {
    let known = session::found(given);
    let shared = site.ids_in(given).into_iter().filter(|id| !known.iter().any(|known| known.value == *id));
    let shared = shared.filter_map(|id| {
        let rule = site.rules.iter().find(|rule| rule.ids.iter().any(|known| known == id))?;
        Some(json!({"name": rule.name, "value": id, "place": rule.place.name()}))
    });
    let sessions = known.iter().map(|s| json!({"name": s.name, "value": s.value, "place": s.place.name()}));
    let sessions = sessions.chain(shared).collect();
    let refused = address.as_ref().err().map(ToString::to_string);
    let address = address.ok();
    InspectedUrl {
        given: given.to_owned(),
        surt: address.as_ref().map(surt::surt),
        key: address.as_ref().map(|a| surt::cdx_key(a.as_str())),
        site: address.as_ref().map(|a| a.site().to_owned()),
        host: address.as_ref().map(|a| a.host().to_owned()),
        port: address.as_ref().map(Address::port),
        canonical: address.as_ref().map(|a| a.as_str().to_owned()),
        url: address.map(Address::into_string),
        sessions,
        refused,
    }
}
