//! Which pages should be rendered?

use orb_page::{Lease, Response};
use orb_project::{RenderWhen, Settings, matching, number};
use orb_urls::{Address, Judgement, Scope, ScopeError};
use std::collections::HashMap;

/// How much of a page is looked at.
const LOOKED_AT: u64 = 4 << 20;

/// What the settings say about rendering.
pub(crate) struct RenderWishes {
    project: RenderWhen,
    rules: Vec<(Scope, RenderWhen)>,
    steps: HashMap<u32, RenderWhen>,
}

impl RenderWishes {
    /// Whether any page could be rendered.
    pub(crate) fn wants_any(settings: &Settings) -> bool {
        let rules = settings.render.rules.iter().map(|rule| rule.when);
        let steps = settings.steps.iter().filter_map(|step| step.render);
        std::iter::once(settings.render.when).chain(rules).chain(steps).any(|when| when != RenderWhen::Never)
    }

    /// The wishes of a project.
    pub(crate) fn new(settings: &Settings) -> Result<Self, ScopeError> {
        let rules = settings.render.rules.iter().map(|rule| Ok((matching(&rule.matches)?, rule.when)));
        let steps = settings.steps.iter().filter_map(|step| Some((number(&step.name), step.render?)));
        Ok(Self {
            project: settings.render.when,
            rules: rules.collect::<Result<_, ScopeError>>()?,
            steps: steps.collect(),
        })
    }

    /// What holds for pages that no rule and no step names.
    pub(crate) fn of_project(&self) -> RenderWhen {
        self.project
    }

    /// What holds for a page: the first rule that fits, its step's, the project's.
    pub(crate) fn of_page(&self, url: &str, step: Option<u32>) -> RenderWhen {
        let address = (!self.rules.is_empty()).then(|| Address::from_canonical(url).ok()).flatten();
        let fits = |scope: &Scope| address.as_ref().is_some_and(|address| scope.judge(address, None) == Judgement::In);
        let ruled = self.rules.iter().find(|(scope, _)| fits(scope)).map(|(_, when)| *when);
        let stepped = || step.and_then(|step| self.steps.get(&step)).copied();
        ruled.or_else(stepped).unwrap_or(self.project)
    }

    /// What holds for a leased page.
    pub(crate) fn of(&self, lease: &Lease) -> RenderWhen {
        self.of_page(&lease.url, lease.step)
    }
}

/// Whether a page is empty without its scripts.
pub(super) fn is_shell(response: &Response) -> bool {
    let decoded = orb_fetch::decode(&response.body, &response.headers.codings(), LOOKED_AT);
    orb_extract::shell_signs(&decoded.bytes).is_shell()
}
