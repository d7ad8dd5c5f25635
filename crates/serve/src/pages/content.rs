//! What does an archived page say?
//!
//! Its bytes as an attachment, its text, its Markdown, or a safe view: the page without anything
//! that acts, in a frame whose policy forbids scripts, styles and requests. Links and pictures lead
//! to what is archived.

use crate::archived::{attachment, sent_as};
use crate::problem::{Handled, ProblemDetails};
use crate::request::{AdmittedRequest, json, text_of, typed};
use crate::routes::{Right, RouteRow};
use crate::view::{Frame, minute};
use crate::viewing::ViewTicket;
use askama::Template;
use http::header::{CONTENT_SECURITY_POLICY, HOST, HeaderValue};
use orb_answers::{
    AnswerError, ArchivedVersion, ContentExtent, ContentForm, PageContent, PageRow, VisitRow, content, safe_view,
    visited,
};
use std::time::Instant;

pub(crate) const ROUTES: &[RouteRow] = &[RouteRow::get(
    "/p/{p}/pages/{id}/content",
    Right::Content,
    |request| Box::pin(read(request)),
    "The content of a page: safe view, text, Markdown or bytes",
)
.with_secret()
.for_guests()];

/// Around the view: our own policy, and the frame.
const AROUND: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; \
     connect-src 'self'; form-action 'self'; frame-src {view}; frame-ancestors 'none'; base-uri 'none'";

/// Inside the frame nothing runs, nothing is loaded but pictures that are part of it, and the only
/// way out is a link that somebody clicks on.
const INSIDE: &str = "sandbox allow-top-navigation-by-user-activation; default-src 'none'; img-src data:; \
     form-action 'none'; frame-ancestors {around}; base-uri 'none'";

#[derive(Template)]
#[template(path = "content.html")]
struct ContentPage<'a> {
    frame: Frame,
    p: &'a str,
    page: &'a PageRow,
    title: &'a str,
    run: u32,
    captured: String,
    versions: Vec<(u32, String)>,
    shape: &'static str,
    text: String,
    has_picture: bool,
    /// Where the frame finds the view.
    view: String,
}

async fn read(request: AdmittedRequest) -> Handled {
    let id: u64 = request.number("id")?;
    let fields = request.query();
    let run: Option<u32> = fields.parsed("run")?;
    let extent = if fields.one("extent") == Some("whole") { ContentExtent::Whole } else { ContentExtent::Main };
    match fields.one("as") {
        None => around(&request, id, run).await,
        Some("view") => match apart(&request, id, run)? {
            Some((place, _)) => AdmittedRequest::redirect(&place),
            None => shown_inert(&request, id, run, None).await,
        },
        Some("picture") => picture(&request, id, run).await,
        // Whoever reads without an account reads what we make of a page, and not its bytes.
        Some("raw") if request.is_guest() => Err(ProblemDetails::unauthenticated()),
        Some("raw") => raw(&request, id, run).await,
        Some("text") => text(&request, id, run, (ContentForm::Text, extent)).await,
        Some("markdown") => text(&request, id, run, (ContentForm::Markdown, extent)).await,
        Some(other) => Err(ProblemDetails::malformed(format!(
            "as cannot be '{other}'; it is raw, text, markdown, view or picture"
        ))),
    }
}

async fn version(request: &AdmittedRequest, id: u64, run: Option<u32>) -> Result<ArchivedVersion, ProblemDetails> {
    request.ask(move |collection| content(collection, &collection.numbered(id)?.url, run)).await
}

async fn raw(request: &AdmittedRequest, id: u64, run: Option<u32>) -> Handled {
    let version = version(request, id, run).await?;
    let ending = match version.mime.as_deref() {
        Some("text/html") => "html",
        Some("application/pdf") => "pdf",
        Some("application/json") => "json",
        Some("text/plain") => "txt",
        _ => "bin",
    };
    let name = format!("{}-{id}-{}.{ending}", request.project()?.name, version.run);
    attachment(request, version, &name).await
}

async fn text(
    request: &AdmittedRequest,
    id: u64,
    run: Option<u32>,
    (form, extent): (ContentForm, ContentExtent),
) -> Handled {
    let found: PageContent = request
        .ask(move |collection| content(collection, &collection.numbered(id)?.url, run)?.content(form, extent))
        .await?;
    if request.wants_json() { json(&found) } else { Ok(typed("text/plain; charset=utf-8", found.content)) }
}

/// A page without anything that acts, in a frame of the server at `home`, or of this one.
pub(crate) async fn shown_inert(request: &AdmittedRequest, id: u64, run: Option<u32>, home: Option<&str>) -> Handled {
    let name = request.project()?.name.clone();
    let begin = home.map(|home| format!("//{home}")).unwrap_or_default();
    // What was never fetched has a record and no content.
    let address = move |page: &PageRow| {
        let content = if page.warc_file.is_some() { "/content" } else { "" };
        format!("{begin}/p/{name}/pages/{}{content}", page.id)
    };
    let view = request.ask(move |collection| safe_view(collection, id, run, address)).await?;
    let mut response = typed("text/html; charset=utf-8", view.document);
    let policy = INSIDE.replace("{around}", home.unwrap_or("'self'"));
    let policy = HeaderValue::from_str(&policy).map_err(|e| ProblemDetails::failed(&e))?;
    response.headers_mut().insert(CONTENT_SECURITY_POLICY, policy);
    Ok(response)
}

/// Where the view of a page is on the host for views, with a ticket, and that host; `None` if there
/// is none.
fn apart(request: &AdmittedRequest, id: u64, run: Option<u32>) -> Result<Option<(String, String)>, ProblemDetails> {
    let named = || text_of(&request.parts.headers, &HOST);
    let home = request.parts.uri.authority().map_or_else(named, |authority| authority.as_str()).to_owned();
    let Some(host) = request.state.views.beside(&home) else { return Ok(None) };
    let (secret, project) = (orb_project::fresh_secret()?, request.project()?.name.clone());
    let ticket = ViewTicket { project, page: id, run, home };
    request.state.views.hand_out(secret.clone(), ticket, Instant::now());
    Ok(Some((format!("//{host}/view/{secret}"), host)))
}

/// The picture that was taken when the page was rendered.
async fn picture(request: &AdmittedRequest, id: u64, run: Option<u32>) -> Handled {
    let taken = request.ask(move |collection| content(collection, &collection.numbered(id)?.url, run)?.picture());
    let Some((mime, bytes)) = taken.await? else {
        return Err(ProblemDetails::not_found("no picture was taken of this page"));
    };
    Ok(typed(sent_as(Some(&mime)), bytes))
}

/// What can be read of a version that is no web page. Styles and scripts have no words: whoever may
/// read bytes is shown their source.
fn whole_text(version: &ArchivedVersion, may_read_source: bool) -> Result<String, AnswerError> {
    let text = version.content(ContentForm::Text, ContentExtent::Whole)?.content;
    if may_read_source && text.trim().is_empty() && version.mime.as_deref().is_some_and(is_source) {
        return Ok(version.content(ContentForm::Raw, ContentExtent::Whole)?.content);
    }
    Ok(text)
}

/// Whether documents of this type are text that people write.
fn is_source(mime: &str) -> bool {
    let ending = mime.rsplit(['/', '+']).next().unwrap_or_default();
    mime.starts_with("text/") || matches!(ending, "javascript" | "json" | "xml")
}

/// The bar that says what is shown, and below it the content.
async fn around(request: &AdmittedRequest, id: u64, run: Option<u32>) -> Handled {
    let may_read_source = !request.is_guest();
    let found = request.ask(move |collection| {
        let shown = visited(collection, id)?;
        let version = content(collection, &shown.page.url, run)?;
        let is_html = matches!(version.mime.as_deref(), None | Some("text/html" | "application/xhtml+xml"));
        let shape = match sent_as(version.mime.as_deref()) {
            _ if is_html => "frame",
            kind if kind.starts_with("image/") => "picture",
            _ => "text",
        };
        let has_text = shape == "text" || shape == "frame" && version.mime.is_none();
        let text = if has_text { whole_text(&version, may_read_source)? } else { String::new() };
        let has_picture = version.picture()?.is_some();
        Ok::<_, AnswerError>((shown, version, (shape, text, has_picture)))
    });
    let (shown, version, (shape, text, has_picture)) = found.await?;
    let seen = |visit: &&VisitRow| visit.run == version.run;
    let here = || (format!("?run={}&as=view", version.run), "'self'".to_owned());
    let (view, origin) = apart(request, id, Some(version.run))?.unwrap_or_else(here);
    let page = ContentPage {
        frame: request.frame(),
        p: &request.project()?.name,
        title: shown.page.title.as_deref().filter(|title| !title.is_empty()).unwrap_or(&shown.page.url),
        run: version.run,
        captured: shown.visits.iter().find(seen).map(|visit| minute(&visit.at)).unwrap_or_default(),
        versions: shown
            .visits
            .iter()
            .filter(|visit| visit.warc_file.is_some())
            .map(|v| (v.run, minute(&v.at)))
            .collect(),
        page: &shown.page,
        shape,
        text,
        has_picture,
        view,
    };
    let mut response = request.page(&page, &shown)?;
    let policy = HeaderValue::from_str(&AROUND.replace("{view}", &origin)).map_err(|e| ProblemDetails::failed(&e))?;
    response.headers_mut().insert(CONTENT_SECURITY_POLICY, policy);
    Ok(response)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn styles_scripts_and_data_are_source_and_archives_are_not() {
        for mime in ["text/css", "text/javascript", "application/javascript", "application/json", "image/svg+xml"] {
            assert!(is_source(mime), "{mime}");
        }
        for mime in ["application/zip", "application/octet-stream", "font/woff2", ""] {
            assert!(!is_source(mime), "{mime}");
        }
    }
}
