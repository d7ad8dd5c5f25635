//! Which pages are there?

use crate::fields::FormFields;
use crate::problem::{Handled, ProblemDetails};
use crate::request::AdmittedRequest;
use crate::routes::{Right, RouteRow};
use crate::steer::ListSteps;
use crate::view::{Frame, bytes, minute};
use askama::Template;
use orb_answers::{PageFilter, PageList, PageRow, pages};
use orb_page::PageKind;

pub(crate) const ROUTES: &[RouteRow] = &[RouteRow::get(
    "/p/{p}/pages",
    Right::Read,
    |request| Box::pin(list(request)),
    "Pages by kind, host, status or type",
)
.for_guests()];

/// Pages on one screen.
const ROWS: u64 = 100;

/// The name of all kinds of failures together: what other screens count as errors.
const FAILED: &str = "FAILED";

/// What pages are filtered by: a kind, or all failures.
pub(crate) fn kind_names() -> Vec<&'static str> {
    PageKind::ALL.iter().map(|kind| kind.name()).chain([FAILED]).collect()
}

/// The kinds that a name stands for.
fn kinds_named(name: &str) -> Result<Vec<PageKind>, ProblemDetails> {
    if name.eq_ignore_ascii_case(FAILED) {
        return Ok(PageKind::FAILED.to_vec());
    }
    let named = PageKind::from_name(&name.to_ascii_uppercase()).map(|kind| vec![kind]);
    named.ok_or_else(|| ProblemDetails::malformed(format!("there is no kind '{name}'")))
}

#[derive(Template)]
#[template(path = "pages.html")]
struct PagesPage<'a> {
    frame: Frame,
    p: &'a str,
    kinds: Vec<(&'static str, bool)>,
    host: &'a str,
    status: &'a str,
    mime: &'a str,
    url: &'a str,
    rows: Vec<PageLine<'a>>,
    steps: ListSteps,
}

struct PageLine<'a> {
    page: &'a PageRow,
    title: &'a str,
    problem: Option<&'a str>,
    status: String,
    length: String,
    when: String,
}

/// Which pages a query asks for.
pub(crate) fn page_filter(fields: &FormFields) -> Result<PageFilter, ProblemDetails> {
    Ok(PageFilter {
        kinds: fields.one("kind").map(kinds_named).transpose()?.unwrap_or_default(),
        host: fields.parsed("host")?,
        status: fields.one("status").map(str::parse).transpose()?,
        mime: fields.one("mime").map(str::to_owned),
        url: fields.one("url").map(str::to_owned),
    })
}

async fn list(request: AdmittedRequest) -> Handled {
    let fields = request.query();
    let (filter, chosen) = (page_filter(&fields)?, fields.one("kind").unwrap_or_default());
    let after = fields.parsed("after")?.unwrap_or(0);
    let found: PageList = request.ask(move |collection| pages(collection, &filter, after, ROWS)).await?;
    let next = found.next.map(|next| next.to_string());
    let page = PagesPage {
        frame: request.frame(),
        p: &request.project()?.name,
        kinds: kind_names().into_iter().map(|name| (name, name.eq_ignore_ascii_case(chosen))).collect(),
        host: fields.one("host").unwrap_or_default(),
        status: fields.one("status").unwrap_or_default(),
        mime: fields.one("mime").unwrap_or_default(),
        url: fields.one("url").unwrap_or_default(),
        rows: found.pages.iter().map(line).collect(),
        steps: ListSteps {
            before: (after > 0).then(|| request.here_with(&[("after", None)])),
            after: next.map(|next| request.here_with(&[("after", Some(&next))])),
        },
    };
    request.page(&page, &found)
}

fn line(page: &PageRow) -> PageLine<'_> {
    PageLine {
        title: page.title.as_deref().filter(|title| !title.is_empty()).unwrap_or(&page.url),
        problem: page.problem.as_deref().filter(|problem| !problem.is_empty()),
        status: page.status.map(|status| status.to_string()).unwrap_or_default(),
        length: page.length.map(bytes).unwrap_or_default(),
        when: page.fetched_at.as_deref().map(minute).unwrap_or_default(),
        page,
    }
}
