//! What would a browser submit for this form?
//!
//! The caller names only the fields that differ from the page's defaults; all others are submitted
//! as the page has them, including hidden fields and CSRF tokens. The rules are the HTML standard's
//! (4.10.21, form submission): which controls are successful, which submit button counts as
//! pressed, how names and values are encoded. Where the form goes is not decided here: that is its
//! `action`, resolved by the caller.

mod encode;

use encode::FormEntry;
use orb_page::{FieldKind, Form, FormField, Submission};
use std::collections::{HashMap, HashSet};

/// Maximum number of known names or values that an error lists.
const MAX_LISTED: usize = 40;

/// A value to enter into a field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Typed {
    /// One value for a text field, one of the options for a select or radio group, several if
    /// several may be selected.
    Values(Vec<String>),
    /// A check box ticked or not, a button pressed or not.
    Switch(bool),
}

/// A field to fill in.
#[derive(Clone, PartialEq, Eq)]
pub struct Filling {
    /// The field's name.
    pub name: String,
    /// The value to enter.
    pub typed: Typed,
    /// Whether the value must not be shown or recorded. Password fields are always secret.
    pub secret: bool,
}

impl std::fmt::Debug for Filling {
    /// Omits the value, which may be a password.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Filling").field("name", &self.name).finish_non_exhaustive()
    }
}

/// Why a form cannot be filled in like that.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FormError {
    /// It has no such field.
    #[error("the form has no field '{name}'; it has {}", listed(known))]
    UnknownField {
        /// The name given.
        name: String,
        /// The names that exist.
        known: Vec<String>,
    },
    /// The field does not offer this value.
    #[error("the field '{name}' does not offer '{value}'; it offers {}", listed(known))]
    NotOffered {
        /// The field.
        name: String,
        /// The value given.
        value: String,
        /// The values offered.
        known: Vec<String>,
    },
    /// A boolean for a field that takes text.
    #[error("the field '{name}' takes a text, not true or false")]
    NotASwitch {
        /// The field.
        name: String,
    },
    /// More values than the field takes.
    #[error("the field '{name}' takes {takes} of the {given} values given")]
    TooMany {
        /// The field.
        name: String,
        /// How many it takes.
        takes: usize,
        /// How many there are.
        given: usize,
    },
    /// File uploads are not supported.
    #[error("the field '{name}' takes a file, which cannot be sent")]
    File {
        /// The field.
        name: String,
    },
    /// A form with method `dialog`, which browsers do not submit.
    #[error("the form closes a dialog of its page and is not sent anywhere")]
    Dialog,
    /// The submission is too large.
    #[error("the form holds more than {0} bytes")]
    TooLarge(usize),
}

fn listed(known: &[String]) -> String {
    let shown = known.iter().take(MAX_LISTED).map(|k| format!("'{k}'")).collect::<Vec<_>>().join(", ");
    match known.len() {
        0 => "none".to_owned(),
        n if n > MAX_LISTED => format!("{shown} and {} more", n - MAX_LISTED),
        _ => shown,
    }
}

/// The submission a browser would send for a form with these fields filled in, on a page with this
/// charset.
pub fn fill(form: &Form, given: &[Filling], charset: Option<&str>) -> Result<Submission, FormError> {
    let filled = Filled::new(form, given)?;
    let button = filled.button.and_then(|at| form.fields.get(at)).and_then(|field| field.sends.as_deref());
    let said = |own: &str, other: Option<&String>| other.map_or_else(|| own.to_owned(), Clone::clone);
    let action = said(&form.action, button.and_then(|b| b.action.as_ref()));
    let method = said(&form.method, button.and_then(|b| b.method.as_ref()));
    let enctype = said(&form.enctype, button.and_then(|b| b.enctype.as_ref()));
    let encoding = encode::encoding(&form.charsets, charset);
    let entries = filled.entries(encoding.name());
    match method.as_str() {
        "dialog" => Err(FormError::Dialog),
        "post" => {
            let payload = Some(encode::payload(&enctype, &entries, encoding)?);
            Ok(Submission { action, query: None, payload })
        }
        _ => {
            let query = Some(encode::query(&entries, encoding)?);
            Ok(Submission { action, query, payload: None })
        }
    }
}

/// A form together with the values given for it.
struct Filled<'a> {
    form: &'a Form,
    given: HashMap<&'a str, &'a Filling>,
    /// Names whose fields offer options.
    offering: HashSet<&'a str>,
    /// Index of the first check box or radio button of each name.
    first: HashMap<&'a str, usize>,
    /// Index of the last initially checked radio button of each name.
    chosen: HashMap<&'a str, usize>,
    /// Index of the submit button that counts as pressed.
    button: Option<usize>,
}

impl<'a> Filled<'a> {
    fn new(form: &'a Form, given: &'a [Filling]) -> Result<Self, FormError> {
        for filling in given {
            check(form, filling)?;
        }
        let pressed = given.iter().find_map(|filling| pressed(form, filling));
        let released: HashSet<&str> =
            given.iter().filter(|f| f.typed == Typed::Switch(false)).map(|f| f.name.as_str()).collect();
        let is_first = |f: &FormField| sends_form(f) && !f.disabled && !released.contains(f.name.as_str());
        let button = pressed.or_else(|| form.fields.iter().position(is_first));
        let given = given.iter().map(|filling| (filling.name.as_str(), filling)).collect();
        let (mut offering, mut first, mut chosen) = (HashSet::new(), HashMap::new(), HashMap::new());
        for (at, field) in form.fields.iter().enumerate().filter(|(_, field)| offers(field)) {
            let name = field.name.as_str();
            offering.insert(name);
            if matches!(field.kind, FieldKind::Checkbox | FieldKind::Radio) {
                first.entry(name).or_insert(at);
            }
            if field.kind == FieldKind::Radio && field.checked {
                chosen.insert(name, at);
            }
        }
        Ok(Self { form, given, offering, first, chosen, button })
    }

    /// Names and values in the order of the fields.
    fn entries(&self, charset: &str) -> Vec<FormEntry> {
        let mut entries = Vec::with_capacity(self.form.fields.len());
        let mut texts: HashMap<&str, usize> = HashMap::new();
        for (at, field) in self.form.fields.iter().enumerate() {
            let filling = self.given.get(field.name.as_str()).copied();
            let secret = field.kind == FieldKind::Password || filling.is_some_and(|f| f.secret);
            let mut push = |name: &str, value: &str| {
                entries.push(FormEntry {
                    name: name.to_owned(),
                    value: value.to_owned(),
                    secret,
                    file: field.kind == FieldKind::File,
                });
            };
            if sends_form(field) {
                if self.button == Some(at) {
                    button_values(field, &mut push);
                }
                continue;
            }
            if field.name.is_empty() || (field.disabled && filling.is_none()) || is_inert(field) {
                continue;
            }
            match &field.kind {
                FieldKind::Checkbox | FieldKind::Radio if self.is_ticked(at, field, filling) => {
                    push(&field.name, &field.value);
                }
                FieldKind::Checkbox | FieldKind::Radio => {}
                FieldKind::Select => match filling.map(|f| &f.typed) {
                    Some(Typed::Values(values)) => values.iter().for_each(|value| push(&field.name, value)),
                    _ => field.chosen.iter().for_each(|value| push(&field.name, value)),
                },
                FieldKind::Hidden if field.name == "_charset_" && filling.is_none() => push(&field.name, charset),
                _ => {
                    let place = texts.entry(&field.name).or_default();
                    push(&field.name, self.text(*place, field, filling));
                    *place += 1;
                }
            }
        }
        entries
    }

    fn is_ticked(&self, at: usize, field: &FormField, filling: Option<&Filling>) -> bool {
        match filling.map(|f| &f.typed) {
            Some(Typed::Values(values)) => values.contains(&field.value),
            // Among several check boxes a boolean means the first; the others are selected by
            // value.
            Some(Typed::Switch(on)) => *on && self.first.get(field.name.as_str()) == Some(&at),
            // Of several checked radio buttons the last one wins.
            None if field.kind == FieldKind::Radio => self.chosen.get(field.name.as_str()) == Some(&at),
            None => field.checked,
        }
    }

    /// The value of a text field. Several fields of one name take the given values in order.
    fn text<'b>(&self, place: usize, field: &'b FormField, filling: Option<&'b Filling>) -> &'b str {
        let Some(Typed::Values(values)) = filling.map(|f| &f.typed) else { return &field.value };
        let own = self.offering.contains(field.name.as_str());
        values.get(place).filter(|_| !own).map_or(&field.value, String::as_str)
    }
}

/// Whether a field is a submit button.
fn sends_form(field: &FormField) -> bool {
    matches!(field.kind, FieldKind::Submit | FieldKind::Image)
}

/// Whether a field is never submitted.
fn is_inert(field: &FormField) -> bool {
    matches!(field.kind, FieldKind::Button | FieldKind::Reset)
}

/// Whether a field offers options.
fn offers(field: &FormField) -> bool {
    matches!(
        field.kind,
        FieldKind::Checkbox | FieldKind::Radio | FieldKind::Select | FieldKind::Submit | FieldKind::Image
    )
}

/// A submit button is sent under its name; an image button sends the click coordinates.
fn button_values(field: &FormField, push: &mut dyn FnMut(&str, &str)) {
    if field.kind == FieldKind::Image {
        let dot = if field.name.is_empty() { "" } else { "." };
        push(&format!("{}{dot}x", field.name), "0");
        push(&format!("{}{dot}y", field.name), "0");
    } else if !field.name.is_empty() {
        push(&field.name, &field.value);
    }
}

/// The submit button that a filling presses, if it names one.
fn pressed(form: &Form, filling: &Filling) -> Option<usize> {
    let is_meant = |field: &FormField| {
        let meant = match &filling.typed {
            Typed::Switch(on) => *on,
            Typed::Values(values) => values.contains(&field.value),
        };
        meant && sends_form(field) && field.name == filling.name
    };
    form.fields.iter().position(is_meant)
}

/// Checks that the fields of this name accept the values.
fn check(form: &Form, filling: &Filling) -> Result<(), FormError> {
    let name = || filling.name.clone();
    let fields: Vec<&FormField> =
        form.fields.iter().filter(|f| f.name == filling.name && !f.name.is_empty() && !is_inert(f)).collect();
    if fields.is_empty() {
        return Err(FormError::UnknownField { name: name(), known: names(form) });
    }
    if fields.iter().any(|f| f.kind == FieldKind::File) {
        return Err(FormError::File { name: name() });
    }
    let choices: Vec<&&FormField> = fields.iter().filter(|f| offers(f)).collect();
    let Typed::Values(values) = &filling.typed else {
        let switch = choices.iter().any(|f| f.kind != FieldKind::Select);
        return if switch { Ok(()) } else { Err(FormError::NotASwitch { name: name() }) };
    };
    if choices.is_empty() {
        let (takes, given) = (fields.len(), values.len());
        return if given <= takes { Ok(()) } else { Err(FormError::TooMany { name: name(), takes, given }) };
    }
    let known: Vec<String> = choices
        .iter()
        .flat_map(|f| if f.kind == FieldKind::Select { f.options.clone() } else { vec![f.value.clone()] })
        .collect();
    if let Some(value) = values.iter().find(|value| !known.contains(value)) {
        return Err(FormError::NotOffered { name: name(), value: value.clone(), known });
    }
    let several = choices.iter().any(|f| f.multiple || f.kind == FieldKind::Checkbox) || choices.len() > values.len();
    match values.len() {
        given if given > 1 && !several => Err(FormError::TooMany { name: name(), takes: 1, given }),
        _ => Ok(()),
    }
}

/// The distinct names of a form's fields.
fn names(form: &Form) -> Vec<String> {
    let mut seen = HashSet::new();
    let named = form.fields.iter().filter(|f| !f.name.is_empty() && !is_inert(f));
    named.filter(|f| seen.insert(f.name.as_str())).map(|f| f.name.clone()).collect()
}

#[cfg(test)]
mod tests;
