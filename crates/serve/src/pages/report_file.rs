//! How does somebody take the report of a run along?

use crate::problem::Handled;
use crate::request::{AdmittedRequest, typed};
use crate::routes::{Right, RouteRow};
use crate::sheet::csv_line;
use axum::response::Response;
use http::header::{CONTENT_DISPOSITION, HeaderValue};
use orb_answers::{AnswerError, Collection, ReportRow, ReportWish, report};
use orb_page::Flag;

pub(crate) const ROUTES: &[RouteRow] = &[
    RouteRow::get("/p/{p}/runs/{n}/report.csv", Right::Read, |request| Box::pin(csv(request)), "A report as CSV")
        .for_guests(),
    RouteRow::get("/p/{p}/runs/{n}/report.txt", Right::Read, |request| Box::pin(text(request)), "A report as text")
        .for_guests(),
];

/// Documents of a file. Programs read longer reports part by part.
const ROWS: u64 = 50_000;

/// The columns of a sheet.
const COLUMNS: [&str; 9] = ["flag", "page_id", "url", "title", "at", "status", "mime", "moved_to", "detail"];

async fn csv(request: AdmittedRequest) -> Handled {
    let lines = lines(&request, |row| {
        let text = |value: &Option<String>| value.clone().unwrap_or_default();
        csv_line([
            row.flag.name().to_owned(),
            row.page.0.to_string(),
            row.url.clone(),
            text(&row.title),
            row.at.to_string(),
            row.status.map(|status| status.to_string()).unwrap_or_default(),
            text(&row.mime),
            text(&row.moved_to),
            text(&row.detail),
        ])
    });
    let body = csv_line(COLUMNS) + &lines.await?;
    attached(&request, typed("text/csv; charset=utf-8", body), "csv")
}

async fn text(request: AdmittedRequest) -> Handled {
    let lines = lines(&request, |row| {
        let detail = row.detail.as_deref().map(|detail| format!("  {detail}")).unwrap_or_default();
        // A line is a document, whatever its title says.
        format!("{} {}{detail}", row.flag.name(), row.url).replace(['\n', '\r'], " ") + "\n"
    });
    let body = lines.await?;
    attached(&request, typed("text/plain; charset=utf-8", body), "txt")
}

/// The documents with the flags that are asked for, line by line.
async fn lines(
    request: &AdmittedRequest,
    line: impl Fn(&ReportRow) -> String + Send + 'static,
) -> Result<String, crate::problem::ProblemDetails> {
    let flags: Vec<Flag> = request.query().all("flag").filter_map(Flag::from_name).collect();
    let wish = ReportWish { run: Some(request.number("n")?), flags, limit: Some(ROWS), ..ReportWish::default() };
    let written = move |collection: &Collection| {
        report(collection, &wish, |report| {
            let mut out = String::new();
            report.each(|row| {
                out.push_str(&line(&row));
                Ok(())
            })?;
            Ok::<_, AnswerError>(out)
        })?
    };
    request.ask(written).await
}

/// The response as a file with a name of its own.
fn attached(request: &AdmittedRequest, mut response: Response, ending: &str) -> Handled {
    let name = format!("attachment; filename=\"{}-run-{}.{ending}\"", request.project()?.name, request.param("n")?);
    response.headers_mut().extend(HeaderValue::from_str(&name).ok().map(|name| (CONTENT_DISPOSITION, name)));
    Ok(response)
}
