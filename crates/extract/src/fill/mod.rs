//! What would a browser send for this form?
//!
//! Whoever fills a form in names the fields that differ; all others go as the page wants them, hidden ones and tokens among them. The
//! rules are those of the HTML standard (4.10.21, form submission): which fields are sent, which button counts as pressed, how names and
//! values become bytes. It knows nothing of where the form goes: that is the form's `action`, resolved by whoever sends it.

mod encode;

use encode::Entry;
use orb_page::{Field, Form, Submission};
use std::collections::{HashMap, HashSet};

/// Values, of a field's name that is not sent, that an error lists at most.
const MAX_LISTED: usize = 40;

/// What somebody puts into a field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Typed {
    /// These values: one for a text, one of its choices for a list or a set of buttons, several where several may be chosen.
    Values(Vec<String>),
    /// A box ticked or not, a button pressed or not.
    Switch(bool),
}

/// A field that somebody fills in.
#[derive(Clone, PartialEq, Eq)]
pub struct Filling {
    /// The field's name.
    pub name: String,
    /// What goes into it.
    pub typed: Typed,
    /// Whether nobody but the server is to know; the same holds for password fields.
    pub secret: bool,
}

impl std::fmt::Debug for Filling {
    /// Without what goes into it, which may be a password.
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
        /// The field asked for.
        name: String,
        /// Those there are.
        known: Vec<String>,
    },
    /// The field does not offer this value.
    #[error("the field '{name}' does not offer '{value}'; it offers {}", listed(known))]
    NotOffered {
        /// The field.
        name: String,
        /// The value asked for.
        value: String,
        /// What it offers.
        known: Vec<String>,
    },
    /// True or false for a field that takes a text.
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
    /// A file to be sent.
    #[error("the field '{name}' takes a file, which cannot be sent")]
    File {
        /// The field.
        name: String,
    },
    /// A form that a browser does not send.
    #[error("the form closes a dialog of its page and is not sent anywhere")]
    Dialog,
    /// More than any form holds.
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

/// What a browser would send for a form with these fields filled in, on a page in this encoding.
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

/// A form with what somebody decided about its fields.
struct Filled<'a> {
    form: &'a Form,
    given: HashMap<&'a str, &'a Filling>,
    /// Names of which a field offers values.
    offering: HashSet<&'a str>,
    /// Where the first box or radio button of a name is.
    first: HashMap<&'a str, usize>,
    /// Where the last radio button of a name is that is chosen at first.
    chosen: HashMap<&'a str, usize>,
    /// The place of the button that counts as pressed.
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
        let is_first = |f: &Field| sends_form(f) && !f.disabled && !released.contains(f.name.as_str());
        let button = pressed.or_else(|| form.fields.iter().position(is_first));
        let given = given.iter().map(|filling| (filling.name.as_str(), filling)).collect();
        let (mut offering, mut first, mut chosen) = (HashSet::new(), HashMap::new(), HashMap::new());
        for (at, field) in form.fields.iter().enumerate().filter(|(_, field)| offers(field)) {
            let name = field.name.as_str();
            offering.insert(name);
            if matches!(field.kind.as_str(), "checkbox" | "radio") {
                first.entry(name).or_insert(at);
            }
            if field.kind == "radio" && field.checked {
                chosen.insert(name, at);
            }
        }
        Ok(Self { form, given, offering, first, chosen, button })
    }

    /// Names and values in the order of the fields.
    fn entries(&self, charset: &str) -> Vec<Entry> {
        let mut entries = Vec::with_capacity(self.form.fields.len());
        let mut texts: HashMap<&str, usize> = HashMap::new();
        for (at, field) in self.form.fields.iter().enumerate() {
            let filling = self.given.get(field.name.as_str()).copied();
            let secret = field.kind == "password" || filling.is_some_and(|f| f.secret);
            let mut push = |name: &str, value: &str| {
                entries.push(Entry {
                    name: name.to_owned(),
                    value: value.to_owned(),
                    secret,
                    file: field.kind == "file",
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
            match field.kind.as_str() {
                "checkbox" | "radio" if self.is_ticked(at, field, filling) => push(&field.name, &field.value),
                "checkbox" | "radio" => {}
                "select" => match filling.map(|f| &f.typed) {
                    Some(Typed::Values(values)) => values.iter().for_each(|value| push(&field.name, value)),
                    _ => field.chosen.iter().for_each(|value| push(&field.name, value)),
                },
                "hidden" if field.name == "_charset_" && filling.is_none() => push(&field.name, charset),
                _ => {
                    let place = texts.entry(&field.name).or_default();
                    push(&field.name, self.text(*place, field, filling));
                    *place += 1;
                }
            }
        }
        entries
    }

    fn is_ticked(&self, at: usize, field: &Field, filling: Option<&Filling>) -> bool {
        match filling.map(|f| &f.typed) {
            Some(Typed::Values(values)) => values.contains(&field.value),
            // Of several boxes the first is meant; the others are ticked by their values.
            Some(Typed::Switch(on)) => *on && self.first.get(field.name.as_str()) == Some(&at),
            // Of radio buttons, the last one chosen.
            None if field.kind == "radio" => self.chosen.get(field.name.as_str()) == Some(&at),
            None => field.checked,
        }
    }

    /// The value of a text field: of several of one name, the first value goes into the first.
    fn text<'b>(&self, place: usize, field: &'b Field, filling: Option<&'b Filling>) -> &'b str {
        let Some(Typed::Values(values)) = filling.map(|f| &f.typed) else { return &field.value };
        let own = self.offering.contains(field.name.as_str());
        values.get(place).filter(|_| !own).map_or(&field.value, String::as_str)
    }
}

/// Whether a field is a button that sends the form.
fn sends_form(field: &Field) -> bool {
    matches!(field.kind.as_str(), "submit" | "image")
}

/// Whether a field is one of which nothing is ever sent.
fn is_inert(field: &Field) -> bool {
    matches!(field.kind.as_str(), "button" | "reset")
}

/// Whether a field offers values to choose from.
fn offers(field: &Field) -> bool {
    matches!(field.kind.as_str(), "checkbox" | "radio" | "select" | "submit" | "image")
}

/// A button is sent under its name; a picture, where it was pressed.
fn button_values(field: &Field, push: &mut dyn FnMut(&str, &str)) {
    if field.kind == "image" {
        let dot = if field.name.is_empty() { "" } else { "." };
        push(&format!("{}{dot}x", field.name), "0");
        push(&format!("{}{dot}y", field.name), "0");
    } else if !field.name.is_empty() {
        push(&field.name, &field.value);
    }
}

/// The button that a filling presses, if it names one.
fn pressed(form: &Form, filling: &Filling) -> Option<usize> {
    let is_meant = |field: &Field| {
        let meant = match &filling.typed {
            Typed::Switch(on) => *on,
            Typed::Values(values) => values.contains(&field.value),
        };
        meant && sends_form(field) && field.name == filling.name
    };
    form.fields.iter().position(is_meant)
}

/// Whether the fields of a name take what somebody wants to put into them.
fn check(form: &Form, filling: &Filling) -> Result<(), FormError> {
    let name = || filling.name.clone();
    let fields: Vec<&Field> =
        form.fields.iter().filter(|f| f.name == filling.name && !f.name.is_empty() && !is_inert(f)).collect();
    if fields.is_empty() {
        return Err(FormError::UnknownField { name: name(), known: names(form) });
    }
    if fields.iter().any(|f| f.kind == "file") {
        return Err(FormError::File { name: name() });
    }
    let choices: Vec<&&Field> = fields.iter().filter(|f| offers(f)).collect();
    let Typed::Values(values) = &filling.typed else {
        let switch = choices.iter().any(|f| f.kind != "select");
        return if switch { Ok(()) } else { Err(FormError::NotASwitch { name: name() }) };
    };
    if choices.is_empty() {
        let (takes, given) = (fields.len(), values.len());
        return if given <= takes { Ok(()) } else { Err(FormError::TooMany { name: name(), takes, given }) };
    }
    let known: Vec<String> = choices
        .iter()
        .flat_map(|f| if f.kind == "select" { f.options.clone() } else { vec![f.value.clone()] })
        .collect();
    if let Some(value) = values.iter().find(|value| !known.contains(value)) {
        return Err(FormError::NotOffered { name: name(), value: value.clone(), known });
    }
    let several = choices.iter().any(|f| f.multiple || f.kind == "checkbox") || choices.len() > values.len();
    match values.len() {
        given if given > 1 && !several => Err(FormError::TooMany { name: name(), takes: 1, given }),
        _ => Ok(()),
    }
}

/// The names of a form's fields, each once.
fn names(form: &Form) -> Vec<String> {
    let mut seen = HashSet::new();
    let named = form.fields.iter().filter(|f| !f.name.is_empty() && !is_inert(f));
    named.filter(|f| seen.insert(f.name.as_str())).map(|f| f.name.clone()).collect()
}

#[cfg(test)]
mod tests;
