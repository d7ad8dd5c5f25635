//! Which form of a page is meant, and what is submitted?

use super::walker::{Passed, Question};
use orb_extract::{Filling, Typed, fill};
use orb_page::Form;
use orb_project::{FieldValue, FormSettings, SecretSource};
use orb_urls::{Address, Canonicaliser};

/// The form of a page, filled in and ready to be sent; errors carry their key within the form's
/// settings.
pub(super) fn submit(
    settings: &FormSettings,
    canonical: &Canonicaliser,
    page: &Passed,
) -> Result<Question, (String, String)> {
    let form = find(settings, canonical, page).map_err(|(key, why)| (format!("form{key}"), why))?;
    let given: Vec<Filling> = settings.fields.iter().map(|(name, value)| filling(name, value)).collect();
    let wrong = |why: String| ("form".to_owned(), why);
    let submission = fill(form, &given, page.document.charset.as_deref()).map_err(|why| {
        let key = given.iter().find(|g| why.to_string().contains(&format!("'{}'", g.name)));
        let key = key.map_or_else(|| "form.fields".to_owned(), |g| format!("form.fields.{}", g.name));
        (key, format!("{why} (on {})", page.address))
    })?;
    let to = if submission.action.is_empty() { page.address.as_str() } else { &submission.action };
    let to = canonical.resolve(&page.base, to).map_err(|why| wrong(format!("the form leads to '{to}': {why}")))?;
    keep_at_home(settings, &to, submission.query.is_some())?;
    let address = match &submission.query {
        Some(query) => with_query(canonical, &to, query).ok_or_else(|| wrong(format!("the form leads to '{to}'")))?,
        None => to,
    };
    Ok(Question { address, payload: submission.payload })
}

/// Refuses to send a secret elsewhere than to its site, or in an address, which is recorded.
fn keep_at_home(settings: &FormSettings, to: &Address, is_address: bool) -> Result<(), (String, String)> {
    for (name, value) in &settings.fields {
        let FieldValue::Hidden(SecretSource { secret: Some(secret), site: Some(site), .. }) = value else { continue };
        let wrong = |why: String| Err((format!("form.fields.{name}"), why));
        if to.origin().to_string() != *site {
            return wrong(format!("the secret '{secret}' is for {site}, and the form leads to {to}"));
        }
        if is_address {
            return wrong(format!("the form would put the secret '{secret}' into an address"));
        }
    }
    Ok(())
}

/// A URL with another query.
fn with_query(canonical: &Canonicaliser, address: &Address, query: &str) -> Option<Address> {
    let plain = address.as_str().split('?').next().unwrap_or_default();
    canonical.parse(&format!("{plain}?{query}")).ok()
}

fn filling(name: &str, value: &FieldValue) -> Filling {
    let (typed, secret) = match value {
        FieldValue::Switch(on) => (Typed::Switch(*on), false),
        FieldValue::Number(number) => (Typed::Values(vec![number.to_string()]), false),
        FieldValue::Text(text) => (Typed::Values(vec![text.clone()]), false),
        FieldValue::Many(values) => (Typed::Values(values.clone()), false),
        FieldValue::Hidden(source) => (Typed::Values(source.found.iter().cloned().collect()), true),
    };
    Filling { name: name.to_owned(), typed, secret }
}

/// The form that is meant: all conditions must match; without any, the only form that has all the
/// fields.
fn find<'p>(
    settings: &FormSettings,
    canonical: &Canonicaliser,
    page: &'p Passed,
) -> Result<&'p Form, (&'static str, String)> {
    let forms = &page.document.forms;
    let there = || match forms.len() {
        0 => format!("{} has no form", page.address),
        n => format!("{} has {}", page.address, listed(forms, n)),
    };
    if let Some(position) = settings.position
        && forms.get(position.wrapping_sub(1)).is_none()
    {
        return Err((".position", format!("there is no form {position}; {}", there())));
    }
    let resolved =
        |to: &str| canonical.resolve(&page.base, if to.is_empty() { page.address.as_str() } else { to }).ok();
    let leads =
        |form: &Form, to: &str| form.action == to || (resolved(to).is_some() && resolved(&form.action) == resolved(to));
    let fits = |(n, form): &(usize, &Form)| {
        settings.position.is_none_or(|position| position == n + 1)
            && settings.id.as_ref().is_none_or(|id| *id == form.id)
            && settings.name.as_ref().is_none_or(|name| *name == form.name)
            && settings.action.as_ref().is_none_or(|action| leads(form, action))
    };
    let fitting: Vec<&Form> = forms.iter().enumerate().filter(fits).map(|(_, form)| form).collect();
    let said =
        settings.position.is_some() || settings.id.is_some() || settings.name.is_some() || settings.action.is_some();
    let has_all = |form: &&&Form| settings.fields.keys().all(|name| form.fields.iter().any(|f| f.name == *name));
    let complete: Vec<&&Form> = fitting.iter().filter(has_all).collect();
    match (fitting.len(), complete.as_slice()) {
        (0, _) => Err(("", format!("there is no such form; {}", there()))),
        (1, _) => Ok(fitting[0]),
        (_, [only]) => Ok(only),
        _ if said => Ok(fitting[0]),
        _ => Err(("", format!("which form? Say its action, id, name or position; {}", there()))),
    }
}

/// The forms of a page in a few words.
fn listed(forms: &[Form], count: usize) -> String {
    let one = |(n, form): (usize, &Form)| {
        let called = [("id", &form.id), ("name", &form.name), ("action", &form.action)];
        let called: Vec<String> =
            called.iter().filter(|(_, v)| !v.is_empty()).map(|(k, v)| format!("{k} '{v}'")).collect();
        format!("form {} ({})", n + 1, if called.is_empty() { "no name".to_owned() } else { called.join(", ") })
    };
    let shown: Vec<String> = forms.iter().enumerate().take(10).map(one).collect();
    format!("{}{}", shown.join(", "), if count > 10 { " and more" } else { "" })
}
