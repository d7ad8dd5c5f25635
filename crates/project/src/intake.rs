//! How is a project told which pages to visit next?
//!
//! A call names pages that somebody knows to be new or changed. It waits in the project's intake
//! until the next run takes it first. What is said here is only whether it can be understood: the
//! run judges scope, robots.txt and addresses, as for every page.

use crate::{ProjectError, Settings};
use orb_page::Moment;
use orb_store::{CatalogueReader, LONGEST_CALL, MOST_CALLS, ProjectDir};
use orb_urls::{Address, Canonicaliser, Judgement, Scope};
use schemars::JsonSchema;
use serde::Serialize;

/// The longest name of a source, in characters.
const LONGEST_SOURCE: usize = 100;

/// What became of a call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct CallAccount {
    /// The project.
    pub project: String,
    /// Pages that wait for the next run now.
    pub taken: u64,
    /// Pages that were waiting already.
    pub waiting: u64,
    /// Pages that nobody will visit, and why.
    pub refused: Vec<RefusedCall>,
}

/// A page that will not be visited.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct RefusedCall {
    /// As it was given.
    pub url: String,
    /// Why.
    pub why: String,
}

/// Asks for visits of pages.
pub fn call_for(project: &ProjectDir, urls: &[String], source: &str) -> Result<CallAccount, ProjectError> {
    let settings = Settings::kept(project)?.unwrap_or_default();
    let canonical = Canonicaliser::new(settings.urls);
    let (mut understood, mut refused) = (Vec::new(), Vec::new());
    for url in urls {
        let refuse = |why: String| RefusedCall { url: url.chars().take(200).collect(), why };
        match canonical.parse_seed(url) {
            Ok(address) if address.as_str().len() > LONGEST_CALL => {
                refused.push(refuse(format!("it is longer than {LONGEST_CALL} bytes")));
            }
            Ok(address) => understood.push(address.into_string()),
            Err(why) => refused.push(refuse(why.to_string())),
        }
    }
    let source: String = source.chars().filter(|c| !c.is_control()).take(LONGEST_SOURCE).collect();
    let receipt = project.intake().add(&understood, &source, &Moment::now().to_string())?;
    if receipt.full > 0 {
        let why = format!("{MOST_CALLS} calls wait already; the next run takes them");
        refused.push(RefusedCall { url: format!("{} more", receipt.full), why });
    }
    Ok(CallAccount { project: project.name.clone(), taken: receipt.taken, waiting: receipt.waiting, refused })
}

/// Which of these pages belong to a project, by its settings and by where its seeds were found to
/// redirect to.
pub fn within_scope(
    project: &ProjectDir,
    (settings, seeds): (&Settings, &[Address]),
    urls: &[Address],
) -> Result<Vec<Address>, ProjectError> {
    let wrong = |e: orb_urls::ScopeError| ProjectError::Malformed(e.to_string());
    let moved = if project.is_empty() { Vec::new() } else { CatalogueReader::open(project)?.seed_urls()? };
    let moved = moved.iter().filter_map(|url| Address::from_canonical(url).ok());
    let all: Vec<Address> = seeds.iter().cloned().chain(moved).collect();
    let scope = Scope::new(&settings.scope, &all).map_err(wrong)?;
    let is_in = |url: &&Address| scope.judge(url, seeds.first().or(Some(url))) == Judgement::In;
    Ok(urls.iter().filter(is_in).cloned().collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use orb_store::Home;

    #[test]
    fn calls_are_canonical_and_what_is_no_url_is_told() {
        let tmp = tempfile::tempdir().unwrap();
        let project = Home::open(tmp.path()).unwrap().project("p").unwrap();
        let urls = ["HTTP://A.test:80/x#y", "http://a.test/x", "mailto:me@a.test", "http://a.test/b"];
        let account = call_for(&project, &urls.map(str::to_owned), "me\n").unwrap();
        assert_eq!((account.taken, account.waiting, account.refused.len()), (2, 1, 1), "{account:?}");
        let waiting = project.intake().waiting().unwrap();
        assert_eq!((waiting[0].url.as_str(), waiting[0].source.as_str()), ("http://a.test/x", "me"));
    }

    #[test]
    fn a_page_belongs_to_a_project_by_its_scope() {
        let tmp = tempfile::tempdir().unwrap();
        let project = Home::open(tmp.path()).unwrap().project("p").unwrap();
        let address = |url: &str| Canonicaliser::default().parse_seed(url).unwrap();
        let urls = ["http://a.test/x", "http://b.test/"].map(address);
        let found = within_scope(&project, (&Settings::default(), &[address("http://a.test/")]), &urls).unwrap();
        assert_eq!(found, urls[..1]);
    }
}
