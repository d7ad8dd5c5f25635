//! What of a webhook's address may be shown?
//!
//! Those of many services hold their secret in the path. Whoever may edit the project has written
//! it, or could; everybody else is told the host.

use orb_crawl::outputs::OutputStanding;

/// The outputs as those see them who may not edit the project.
pub(crate) fn without_secrets(outputs: Vec<OutputStanding>) -> Vec<OutputStanding> {
    let shown = |standing: OutputStanding| {
        let Some(host) = host_of(&standing.output) else { return standing };
        let failure = standing.failure.map(|mut failure| {
            failure.why = failure.why.replace(&standing.output, &host);
            failure
        });
        OutputStanding { output: host, failure, ..standing }
    };
    outputs.into_iter().map(shown).collect()
}

/// A webhook's address up to its path; `None` if it is none, or has no more than a host.
fn host_of(output: &str) -> Option<String> {
    let url = url::Url::parse(output).ok().filter(|url| matches!(url.scheme(), "http" | "https"))?;
    let has_more = url.path() != "/" || url.query().is_some() || !url.username().is_empty() || url.password().is_some();
    let port = url.port().map(|port| format!(":{port}")).unwrap_or_default();
    has_more.then(|| format!("{}://{}{port}/…", url.scheme(), url.host_str().unwrap_or_default()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_after_the_host_is_shown() {
        let shown = |output: &str| host_of(output).unwrap_or_else(|| output.to_owned());
        assert_eq!(shown("https://hooks.test:8443/T0/B1/secret?x#y"), "https://hooks.test:8443/…");
        assert_eq!(shown("http://me:secret@hooks.test/"), "http://hooks.test/…");
        for whole in ["https://hooks.test/", "changes.jsonl", "/var/lib/x.jsonl"] {
            assert_eq!(shown(whole), whole);
        }
    }
}
