//! What does a reader make of a page that went through a browser?
//!
//! The rendered document is read like any other. Its links are united with those of the page as it
//! was fetched, which a script may have removed, and with the addresses that it used. The archive
//! keeps the answer of the server, what the browser made of it as a `conversion` record, and what
//! the page loaded as records of their own; the visit's place is that of the conversion, so that
//! whoever reads the page later reads what was read here.

use super::ResponseReader;
use crate::render::{DrawnExtras, RenderGain};
use bytes::Bytes;
use hashbrown::HashSet;
use orb_page::{Body, Document, Flag, Lease, Link, LinkKind, Moment, PageKind, Problem, Response, ResponseKind, Visit};
use orb_render::SeenResource;
use orb_store::{Encoded, Exchange, RecordedAs, StoreError, VIEW};
use orb_urls::surt::cdx_key;
use serde_json::{Map, Value, json};

/// What stands before a page's URL in the name of the record that says what the page was made of.
const PAGE_FACTS: &str = "urn:pageinfo:";

impl ResponseReader {
    /// Packs what a rendered page has loaded.
    pub(crate) fn pack_parts(&mut self, drawn: &mut DrawnExtras) -> Vec<Encoded> {
        let parts = std::mem::take(&mut drawn.parts);
        let answered = parts.iter().filter_map(|part| Some((part, part.outcome.result.as_ref().ok()?)));
        answered.filter_map(|(part, response)| self.pack(&part.url, part.outcome.at, response)).collect()
    }

    /// Adds to a document what the browser and the page as it was fetched know besides.
    pub(super) fn unite(&mut self, lease: &Lease, response: &Response, document: &mut Document, drawn: &DrawnExtras) {
        if let ResponseKind::Rendered { original } = &response.kind {
            let opened = self.open(original);
            let mime = original.headers.mime();
            let fetched = self.extract(lease, original, mime.as_deref(), &opened.bytes);
            if let Some((areas, area)) = &drawn.learning {
                let links = (spoken(&fetched), spoken(document));
                areas.note(*area, RenderGain { links, text: (fetched.text.len(), document.text.len()) });
            }
            document.robots = document.robots.merge(fetched.robots);
            add_links(document, fetched.links);
        }
        let used = drawn.links.iter().map(|seen| Link {
            target: seen.url.clone(),
            kind: seen.kind,
            anchor: String::new(),
            rel: String::new(),
            position: 0,
            entry: None,
        });
        add_links(document, used.collect());
    }

    /// The archive records of a response: the last one answers for the visit, apart from additions
    /// behind it.
    pub(super) fn records(
        &mut self,
        lease: &Lease,
        at: Moment,
        response: &Response,
        (digest, drawn): (Option<[u8; 32]>, Option<&DrawnExtras>),
    ) -> Result<Vec<Encoded>, StoreError> {
        let url = lease.url.as_str();
        let ResponseKind::Rendered { original } = &response.kind else {
            return Ok(self.encode(url, at, response, (digest, None))?.into_iter().collect());
        };
        let Some(answer) = self.encode(url, at, original, (None, None))? else { return Ok(Vec::new()) };
        let key = cdx_key(url);
        let made = Exchange {
            url,
            key: &key,
            at,
            recorded_as: RecordedAs::Conversion { mime: Response::RENDERED, of: answer.id() },
            request_head: &[],
            head: &[],
            wire: &response.wire,
            truncated: None,
            ip: None,
            digest,
            revisit: None,
        };
        let made = self.encoder.as_mut().map(|encoder| encoder.exchange(&made)).transpose()?;
        let mut records: Vec<Encoded> = std::iter::once(answer).chain(made).collect();
        if let Some(drawn) = drawn {
            // The picture stands directly behind the document, where it is looked for.
            let picture = drawn.screenshot.clone().map(|picture| (VIEW, "image/jpeg", picture));
            let facts = (PAGE_FACTS, "application/json", page_facts(lease, at, drawn));
            for (name, mime, bytes) in picture.into_iter().chain([facts]) {
                records.extend(self.addition(&format!("{name}{url}"), at, (mime, bytes))?);
            }
        }
        Ok(records)
    }

    /// A record that says more about the page before it.
    fn addition(&mut self, url: &str, at: Moment, (mime, bytes): (&str, Bytes)) -> Result<Option<Encoded>, StoreError> {
        let Ok(response) = Response::resource(200, mime, Body::Memory(bytes), "rendered") else { return Ok(None) };
        Ok(self.encode(url, at, &response, (None, None))?.map(Encoded::as_addition))
    }
}

/// What a page was made of, as Browsertrix writes it down and replay tools read it.
fn page_facts(lease: &Lease, at: Moment, drawn: &DrawnExtras) -> Bytes {
    let resource = |seen: &SeenResource| {
        (seen.url.clone(), json!({ "status": seen.status, "mime": seen.mime, "type": seen.kind }))
    };
    let urls: Map<String, Value> = drawn.resources.iter().map(resource).collect();
    let facts = json!({
        "pageid": lease.page.0.to_string(),
        "url": lease.url,
        "ts": at.to_string(),
        "urls": urls,
    });
    facts.to_string().into()
}

/// Says of a visit that the browser failed, if it did, and what was odd.
pub(super) fn tell_drawing(visit: &mut Visit, drawn: &DrawnExtras, problems: &mut Vec<Problem>) {
    problems.extend(drawn.problems.iter().cloned());
    if let Some(why) = &drawn.failed {
        problems.push(Problem::new("browser", why.clone()));
        visit.kind = PageKind::BrowserError;
        visit.flag = Flag::Error;
    }
}

/// Adds links that are not there yet.
fn add_links(document: &mut Document, more: Vec<Link>) {
    let there: HashSet<(String, LinkKind)> =
        document.links.iter().map(|link| (link.target.clone(), link.kind)).collect();
    document.links.extend(more.into_iter().filter(|link| !there.contains(&(link.target.clone(), link.kind))));
}

/// Links that people see.
fn spoken(document: &Document) -> usize {
    document.links.iter().filter(|link| LinkKind::SPOKEN.contains(&link.kind)).count()
}
