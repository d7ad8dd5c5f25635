//! How is a form of the web filled in here, and what of it becomes settings?
//!
//! A field that is left as the page has it is not written down: the page's own value is sent.
//! Fields that nobody fills in (hidden ones, buttons, files) are not shown.

use crate::fields::FormFields;
use crate::problem::ProblemDetails;
use orb_page::{FieldKind, Form, FormField};
use orb_project::{FieldValue, FormSettings, SecretSource, form_site};

/// The most fields that are taken over.
const MOST: usize = 200;

/// A form that was found on a page.
pub(super) struct FoundForm {
    /// Its number on the page, from 1.
    pub(super) number: usize,
    pub(super) method: String,
    pub(super) action: String,
    /// By which it is found again: `id`, `name` or `position`.
    pub(super) by: &'static str,
    pub(super) key: String,
    pub(super) has_password: bool,
    pub(super) fields: Vec<FoundField>,
}

/// A field that somebody fills in.
pub(super) struct FoundField {
    pub(super) name: String,
    /// `text`, `password`, `switch`, `one` or `many`.
    pub(super) kind: &'static str,
    pub(super) value: String,
    /// The values to choose from, and which are chosen.
    pub(super) options: Vec<(String, bool)>,
}

/// The forms of a page.
pub(super) fn found_forms(forms: &[Form]) -> Vec<FoundForm> {
    forms.iter().enumerate().map(|(n, form)| found(n + 1, form)).collect()
}

fn found(number: usize, form: &Form) -> FoundForm {
    let (by, key) = match (form.id.is_empty(), form.name.is_empty()) {
        (false, _) => ("id", form.id.clone()),
        (true, false) => ("name", form.name.clone()),
        _ => ("position", number.to_string()),
    };
    let mut fields: Vec<FoundField> = Vec::new();
    for field in form.fields.iter().filter(|field| !field.name.is_empty() && !field.disabled).take(MOST) {
        match (fields.iter_mut().find(|known| known.name == field.name), &field.kind) {
            (Some(group), FieldKind::Radio) => {
                group.options.push((field.value.clone(), field.checked));
                if field.checked {
                    group.value.clone_from(&field.value);
                }
            }
            (None, _) => fields.extend(found_field(field)),
            _ => {}
        }
    }
    let has_password = fields.iter().any(|field| field.kind == "password");
    FoundForm { number, method: form.method.clone(), action: form.action.clone(), by, key, has_password, fields }
}

fn found_field(field: &FormField) -> Option<FoundField> {
    let offered = |value: &String| (value.clone(), field.chosen.contains(value) || *value == field.value);
    let (kind, options) = match &field.kind {
        FieldKind::Text(_) => ("text", Vec::new()),
        FieldKind::Password => ("password", Vec::new()),
        FieldKind::Checkbox => ("switch", vec![(field.value.clone(), field.checked)]),
        FieldKind::Radio => ("one", vec![(field.value.clone(), field.checked)]),
        FieldKind::Select if field.multiple => ("many", field.options.iter().map(offered).collect()),
        FieldKind::Select => ("one", field.options.iter().map(offered).collect()),
        _ => return None,
    };
    let value = match kind {
        "switch" => if field.checked { "on" } else { "" }.to_owned(),
        "many" => field.chosen.join("\n"),
        "one" if matches!(field.kind, FieldKind::Radio) && !field.checked => String::new(),
        _ => field.value.clone(),
    };
    Some(FoundField { name: field.name.clone(), kind, value, options })
}

/// What was filled in, as settings.
pub(super) fn taken(form: &FormFields) -> Result<FormSettings, ProblemDetails> {
    let key = form.needed("key")?.to_owned();
    let mut settings = FormSettings::default();
    match form.needed("by")? {
        "id" => settings.id = Some(key),
        "name" => settings.name = Some(key),
        _ => settings.position = form.parsed("key")?,
    }
    let count: usize = form.parsed("fields")?.unwrap_or(0);
    for n in 0..count.min(MOST) {
        let field = |what: &str| form.typed(&format!("{what}.{n}"));
        let (name, was, value) = (field("field"), field("was"), field("value"));
        let many = || form.all(&format!("value.{n}")).map(str::to_owned).collect::<Vec<_>>();
        let value = match field("kind") {
            "switch" if (value == "on") == (was == "on") => continue,
            "switch" => FieldValue::Switch(value == "on"),
            "many" if many().join("\n") == was.replace("\r\n", "\n") => continue,
            "many" => FieldValue::Many(many()),
            "password" if !field("env").trim().is_empty() => {
                let env = Some(field("env").trim().to_owned());
                FieldValue::Hidden(SecretSource { env, ..SecretSource::default() })
            }
            _ if value == was => continue,
            // It is kept where the other secrets are, for the site that the form is sent to.
            "password" => FieldValue::Hidden(SecretSource {
                found: Some(value.to_owned()),
                site: form_site(form.one("action"), form.typed("start").lines().next().unwrap_or_default()),
                ..SecretSource::default()
            }),
            _ => FieldValue::Text(value.to_owned()),
        };
        settings.fields.insert(name.to_owned(), value);
    }
    Ok(settings)
}
