//! By which rules are the pages of a step judged?

use crate::scope::SharedScope;
use hashbrown::HashMap;
use orb_project::Settings;
use orb_project::StepSettings;
use orb_project::number;
use orb_urls::{Address, Canonicaliser, ScopeError, ScopeSpec};
use std::sync::Arc;

/// The scope and depth of a step.
#[derive(Clone)]
pub(crate) struct StepRules {
    /// Its scope.
    pub scope: Arc<SharedScope>,
    /// Maximum distance from its roots.
    pub depth: Option<u32>,
}

impl StepRules {
    /// The rules of every step, by its number. The area of a step is around the addresses at which
    /// its path starts.
    pub(crate) fn of_all(settings: &Settings) -> Result<HashMap<u32, Self>, ScopeError> {
        let mut rules = HashMap::with_capacity(settings.steps.len());
        for (step, area) in settings.steps.iter().zip(areas(settings)) {
            let scope = Arc::new(SharedScope::around(&spec(&settings.scope, step), &area)?);
            rules.insert(number(&step.name), Self { scope, depth: step.depth.or(settings.frontier.depth) });
        }
        Ok(rules)
    }
}

/// For each step the addresses at which its path starts.
pub(crate) fn areas(settings: &Settings) -> Vec<Vec<Address>> {
    let canonical = Canonicaliser::new(settings.urls);
    let mut area: Vec<Address> = Vec::new();
    let mut areas = Vec::with_capacity(settings.steps.len());
    for step in &settings.steps {
        if !step.goes_on() {
            area = step.start.iter().filter_map(|url| canonical.parse_seed(url).ok()).collect();
        }
        // Where such links lead is not around where they stand.
        if step.chooses_by_kind() {
            area.clear();
        }
        areas.push(area.clone());
    }
    areas
}

/// The scope of a step: the project's, with the step's overrides.
fn spec(project: &ScopeSpec, step: &StepSettings) -> ScopeSpec {
    ScopeSpec {
        mode: step.mode.unwrap_or(project.mode),
        rules: step.rules.clone().unwrap_or_else(|| project.rules.clone()),
        ..project.clone()
    }
}
