//! Which links of a page does a step take, and is the page the expected one?

use super::walker::Passed;
use orb_extract::Picker;
use orb_page::LinkKind;
use orb_project::{StepSettings, matching};
use orb_urls::{Address, Canonicaliser, Scope};

/// A page from which links are chosen.
pub(super) struct LinkSource<'a> {
    pub(super) base: &'a Address,
    pub(super) html: &'a str,
    pub(super) links: &'a [orb_page::Link],
}

impl<'a> From<&'a Passed> for LinkSource<'a> {
    fn from(passed: &'a Passed) -> Self {
        Self { base: &passed.base, html: &passed.html, links: &passed.document.links }
    }
}

/// How links are chosen.
pub(super) struct LinkChoice {
    picker: Option<Picker>,
    matching: Option<Scope>,
}

impl LinkChoice {
    /// The choice of a step; invalid selectors were rejected before.
    pub(super) fn of(step: &StepSettings) -> Result<Self, String> {
        let picker = step.links.as_deref().map(Picker::new).transpose()?;
        let matching = step.links_matching.as_deref().map(matching).transpose().map_err(|e| e.to_string())?;
        Ok(Self { picker, matching })
    }

    /// The links it takes from a page, in document order.
    pub(super) fn links(&self, canonical: &Canonicaliser, page: &LinkSource<'_>) -> Result<Vec<Address>, String> {
        let targets: Vec<String> = match &self.picker {
            Some(picker) => picker.pick(page.html).map_err(|why| format!("{}: {why}", page.base))?.targets,
            None => {
                use LinkKind::{A, Area, Entry, Frame};
                let followed = |link: &&orb_page::Link| matches!(link.kind, A | Area | Frame | Entry);
                page.links.iter().filter(followed).map(|link| link.target.clone()).collect()
            }
        };
        let addresses = targets.iter().filter_map(|target| canonical.resolve(page.base, target).ok());
        let fits = |address: &Address| self.matching.as_ref().is_none_or(|m| m.judge(address, None).is_in());
        Ok(addresses.filter(fits).collect())
    }
}

/// What is wrong with a page that a step did not expect: the offending key, and why.
pub(super) fn unexpected(step: &StepSettings, passed: &Passed) -> Option<(&'static str, String)> {
    let at = format!("{} (status {})", passed.address, passed.status);
    let says = |words: &str| {
        let text = &passed.document.text;
        let title = passed.document.title.as_deref().unwrap_or_default();
        text.contains(words) || title.contains(words)
    };
    if let Some(words) = step.expect.as_deref().filter(|words| !says(words)) {
        return Some(("expect", format!("'{words}' is not on {at}")));
    }
    if let Some(words) = step.expect_not.as_deref().filter(|words| says(words)) {
        return Some(("expect_not", format!("'{words}' stands on {at}")));
    }
    let picks = |selector: &str| Picker::new(selector)?.pick(&passed.html).map(|p| p.elements).map_err(str::to_owned);
    for (key, selector, wanted) in [
        ("expect_selector", step.expect_selector.as_deref(), true),
        ("expect_not_selector", step.expect_not_selector.as_deref(), false),
    ] {
        let Some(selector) = selector else { continue };
        match picks(selector) {
            Err(why) => return Some((key, format!("{at}: {why}"))),
            Ok(found) if (found > 0) != wanted => {
                let how = if wanted { "matches nothing" } else { "matches" };
                return Some((key, format!("'{selector}' {how} on {at}")));
            }
            Ok(_) => {}
        }
    }
    (passed.status >= 400 && !step.expects()).then(|| ("name", format!("{at} answers with an error")))
}
