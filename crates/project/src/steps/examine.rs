//! Which steps are invalid?

use super::{FieldValue, FormSettings, StepSettings, matching, number};
use crate::examine::Wrong;
use crate::settings::Settings;
use orb_urls::{Canonicaliser, Scope, ScopeSpec};
use std::collections::HashMap;

/// Maximum steps per project.
const MOST: usize = 200;

/// What is invalid in `[[steps]]`.
pub(crate) fn examine(settings: &Settings) -> Vec<Wrong> {
    let mut wrongs = Vec::new();
    let mut names: HashMap<u32, usize> = HashMap::new();
    for (n, step) in settings.steps.iter().enumerate() {
        let mut wrong = |key: &str, what: String| wrongs.push(Wrong::new(format!("steps[{n}].{key}"), what));
        if n == MOST {
            wrong("name", format!("a project has {MOST} steps at most"));
        }
        if step.name.trim().is_empty() || step.name.len() > 100 || step.name.contains(char::is_control) {
            wrong("name", "a step needs a name of up to 100 characters".to_owned());
        }
        if let Some(other) = names.insert(number(&step.name), n) {
            wrong("name", format!("step {} is called '{}' too; give it another name", other + 1, step.name));
        }
        way(settings, n, step, &mut wrong);
        words(step, &mut wrong);
        if let Some(form) = &step.form {
            form_of(form, &mut wrong);
        }
        if let Some(Err(why)) = step.rules.as_ref().map(|rules| {
            let alone = ScopeSpec { rules: rules.clone(), ..ScopeSpec::default() };
            Scope::new(&alone, &[]).map(drop)
        }) {
            wrong("rules", why.to_string());
        }
    }
    wrongs
}

/// Checks where a step starts and leads to.
fn way(settings: &Settings, n: usize, step: &StepSettings, wrong: &mut dyn FnMut(&str, String)) {
    let reader = Canonicaliser::new(settings.urls);
    for (at, url) in step.start.iter().enumerate() {
        if let Err(why) = reader.parse_seed(url) {
            wrong(&format!("start[{at}]"), format!("'{url}' is not a URL to start from: {why}"));
        }
    }
    let before = n.checked_sub(1).and_then(|at| settings.steps.get(at));
    match (step.start.is_empty(), step.chooses()) {
        (false, true) => wrong("start", "say start, or which links of the step before to take, not both".to_owned()),
        (true, _) if before.is_none() => {
            wrong("name", format!("step '{}' is the first and needs start = [\"URL\"]", step.name));
        }
        (true, false) if step.form.is_none() => {
            wrong(
                "name",
                format!("step '{}' leads nowhere: it needs start, links, links_matching or a form", step.name),
            );
        }
        (true, false) if before.is_some_and(StepSettings::collects) => {
            wrong(
                "form",
                "the step before collects; say on which of its links the form is (links, links_matching)".to_owned(),
            );
        }
        _ => {}
    }
    if step.goes_on() && before.is_some_and(StepSettings::collects) {
        if !step.collects() || step.form.is_some() || step.expects() {
            wrong(
                "name",
                "a step after one that collects can only collect, too; begin a way of its own with start".to_owned(),
            );
        }
        if !settings.store.archive {
            wrong(
                "name",
                "links of collected pages are chosen in the archive, which is not kept (store.archive)".to_owned(),
            );
        }
    }
    let next = settings.steps.get(n + 1);
    if !step.collects() && step.form.is_none() && !step.expects() && next.is_none_or(|next| !next.goes_on()) {
        wrong("collect", format!("step '{}' collects nothing, and no step continues from it", step.name));
    }
}

/// Checks selectors and regular expressions.
fn words(step: &StepSettings, wrong: &mut dyn FnMut(&str, String)) {
    for (key, selector) in [
        ("links", step.link_selector()),
        ("expect_selector", step.expect_selector.as_deref()),
        ("expect_not_selector", step.expect_not_selector.as_deref()),
    ] {
        if let Some(Err(why)) = selector.map(orb_extract::Picker::new) {
            wrong(key, why);
        }
    }
    if let Some(Err(why)) = step.links_matching.as_deref().map(matching) {
        wrong("links_matching", why.to_string());
    }
    for (key, text) in [("expect", &step.expect), ("expect_not", &step.expect_not)] {
        if text.as_ref().is_some_and(|text| text.trim().is_empty()) {
            wrong(key, "there are no words to look for".to_owned());
        }
    }
}

fn form_of(form: &FormSettings, wrong: &mut dyn FnMut(&str, String)) {
    if form.position == Some(0) {
        wrong("form.position", "forms are counted from 1".to_owned());
    }
    for (name, value) in &form.fields {
        if let FieldValue::Hidden(source) = value
            && [source.env.is_some(), source.file.is_some(), source.secret.is_some()].iter().filter(|is| **is).count()
                != 1
        {
            let what = "say env = \"NAME\", file = \"path\" or secret = \"name\"";
            wrong(&format!("form.fields.{name}"), what.to_owned());
        }
    }
}
