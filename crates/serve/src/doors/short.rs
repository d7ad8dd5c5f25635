//! How do programs reach a report or a document by a short name?
//!
//! `/log/{project}.{run}` is the report of a run and `/doc/{project}.{page}[.{run}]` a document, as
//! it came. Whatever else is asked for is not there: these two doors say 200 or 404 to those who
//! may know, and nothing in between.

use crate::api::runs::report_page;
use crate::problem::{Handled, ProblemDetails};
use crate::publish::publish;
use crate::request::{AdmittedRequest, json};
use crate::routes::{Right, RouteRow};
use crate::shared::ServedHome;
use orb_answers::{ContentExtent, ContentForm, ReportWish, content};
use orb_page::Flag;
use orb_project::{ProjectDir, StoreError};

pub(crate) const ROUTES: &[RouteRow] = &[
    RouteRow::get("/log/{name}", Right::SignedIn, |request| Box::pin(log(request)), "The report of a run, by id"),
    RouteRow::get("/doc/{name}", Right::SignedIn, |request| Box::pin(doc(request)), "A document, by id"),
];

/// Documents of a report that are listed.
const LISTED: u64 = 10_000;

async fn log(request: AdmittedRequest) -> Handled {
    let (project, numbers) = find(&request, Right::Read, 1).await?;
    let run = numbers.first().and_then(|&run| u32::try_from(run).ok());
    let flags = vec![Flag::New, Flag::Same, Flag::Updated, Flag::Missing, Flag::Error];
    let wish = ReportWish { run, flags, limit: Some(LISTED), ..ReportWish::default() };
    let report = request.state.desk.ask(&project, move |collection| report_page(collection, &wish)).await;
    json(&report.map_err(|_| nothing())?)
}

async fn doc(request: AdmittedRequest) -> Handled {
    let (project, numbers) = find(&request, Right::Content, 2).await?;
    let page = numbers.first().copied().ok_or_else(nothing)?;
    let run = numbers.get(1).map(|&run| u32::try_from(run)).transpose().map_err(|_| nothing())?;
    let version = request.state.desk.ask(&project, move |collection| {
        let url = collection.numbered(page)?.url;
        content(collection, &url, run)
    });
    let version = version.await.map_err(|_| nothing())?;
    publish(&request, version, (ContentForm::Raw, ContentExtent::Whole)).await
}

fn nothing() -> ProblemDetails {
    ProblemDetails::not_found("there is nothing of this name")
}

/// The project that a name begins with, and up to so many numbers behind it. Names of projects may
/// hold dots and digits themselves: the longest project that exists is meant.
async fn find(request: &AdmittedRequest, right: Right, most: usize) -> Result<(ProjectDir, Vec<u64>), ProblemDetails> {
    let (name, identity) = (request.param("name")?.to_owned(), request.identity()?.clone());
    let found = move |home: &ServedHome| {
        let readings = readings(&name, most).into_iter();
        let known = readings.filter_map(|(project, numbers)| Some((home.find(project).ok()?, numbers)));
        Ok::<_, StoreError>(known.into_iter().find(|(project, _)| identity.may(right, &project.name)))
    };
    request.work(found).await?.ok_or_else(nothing)
}

/// The ways to read a name, the longest project first.
fn readings(name: &str, most: usize) -> Vec<(&str, Vec<u64>)> {
    let (mut rest, mut numbers, mut ways) = (name, Vec::new(), Vec::new());
    while let Some((project, number)) = rest.rsplit_once('.') {
        let is_number = !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit());
        let Some(number) = number.parse().ok().filter(|_| is_number && numbers.len() < most) else { break };
        numbers.insert(0, number);
        ways.push((project, numbers.clone()));
        rest = project;
    }
    ways
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_a_project_and_numbers() {
        assert_eq!(readings("p.3", 2), [("p", vec![3])]);
        assert_eq!(readings("a.b.3.4", 2), [("a.b.3", vec![4]), ("a.b", vec![3, 4])]);
        assert_eq!(readings("a.1.2.3", 2), [("a.1.2", vec![3]), ("a.1", vec![2, 3])]);
        for none in ["p", "p.", "p.x", "p.+1", ".", ""] {
            assert!(readings(none, 2).is_empty(), "{none}");
        }
    }
}
