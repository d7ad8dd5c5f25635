//! Which forms could be filled in?
//!
//! A field belongs to its enclosing form, or to the one its `form` attribute names, which may come
//! later. The text of an option is a slice of the page's text.

use super::attributes::Slots;
use super::name::{Attr, Tag};
use crate::entity::{self, ReferenceContext};
use crate::gather::Gather;
use crate::prose::Prose;
use orb_page::{FieldKind, Form, FormField, Sends};
use std::collections::HashMap;

/// Maximum length of an option's text in characters.
const MAX_OPTION: usize = 500;

/// Which form a field belongs to.
#[derive(Debug)]
enum Owner {
    Form(usize),
    Named(String),
    Nobody,
}

/// Maximum nesting of fieldsets; deeper ones count as disabled if their ancestor is.
const MAX_FIELDSETS: usize = 1_000;

/// Parser state of the open form.
#[derive(Debug, Default)]
pub(super) struct Forms {
    form: Option<usize>,
    select: Option<OpenSelect>,
    option: Option<OpenOption>,
    textarea: Option<(Owner, FormField)>,
    named: Vec<(String, FormField)>,
    fieldsets: Vec<Fieldset>,
    /// How many of the open fieldsets disable their content at this point.
    out_of_use: usize,
}

#[derive(Debug)]
struct OpenSelect {
    owner: Owner,
    field: FormField,
    /// Whether nothing is selected by default.
    undecided: bool,
    /// What is selected if nothing else is.
    first: Option<String>,
    /// Whether the open option group is disabled.
    group_disabled: bool,
}

/// An open fieldset.
#[derive(Debug)]
struct Fieldset {
    disabled: bool,
    legend: Legend,
}

/// Progress through a fieldset's first legend, which stays enabled even if the fieldset is
/// disabled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Legend {
    Awaited,
    Open,
    Closed,
}

#[derive(Debug)]
struct OpenOption {
    value: Option<String>,
    selected: bool,
    disabled: bool,
    start: usize,
}

impl Forms {
    /// Whether a form is open. Nested forms are ignored.
    pub(super) fn is_open(&self) -> bool {
        self.form.is_some()
    }

    /// Handles a start tag.
    #[inline]
    pub(super) fn start(&mut self, tag: Tag, attrs: &Slots<'_>, found: &mut Gather, prose: &Prose) {
        match tag {
            Tag::Form => self.form(attrs, found),
            Tag::Input | Tag::Button => self.simple_field(tag, attrs, found),
            Tag::Select => {
                self.close_select(found, prose);
                self.open_select(attrs);
            }
            Tag::Choice => {
                self.close_option(found, prose);
                let value = attrs.get(Attr::Value).map(std::borrow::Cow::into_owned);
                let disabled = attrs.has(Attr::Disabled) || self.select.as_ref().is_some_and(|s| s.group_disabled);
                let selected = attrs.has(Attr::Selected);
                self.option = Some(OpenOption { value, selected, disabled, start: prose.len() });
            }
            Tag::Optgroup => {
                self.close_option(found, prose);
                if let Some(select) = &mut self.select {
                    select.group_disabled = attrs.has(Attr::Disabled);
                }
            }
            Tag::Fieldset => self.open_fieldset(attrs.has(Attr::Disabled)),
            Tag::Legend => self.legend(Legend::Awaited, Legend::Open),
            Tag::Textarea => {
                let field = self.field(attrs, FieldKind::Text("textarea".into()));
                self.textarea = Some((self.owner(attrs), field));
            }
            _ => {}
        }
    }

    /// Handles an end tag.
    pub(super) fn end(&mut self, tag: Tag, found: &mut Gather, prose: &Prose) {
        match tag {
            Tag::Form => self.form = None,
            Tag::Select => self.close_select(found, prose),
            Tag::Choice => self.close_option(found, prose),
            Tag::Optgroup => {
                self.close_option(found, prose);
                if let Some(select) = &mut self.select {
                    select.group_disabled = false;
                }
            }
            Tag::Fieldset => self.close_fieldset(),
            Tag::Legend => self.legend(Legend::Open, Legend::Closed),
            _ => {}
        }
    }

    fn open_fieldset(&mut self, disabled: bool) {
        if self.fieldsets.len() < MAX_FIELDSETS {
            self.fieldsets.push(Fieldset { disabled, legend: Legend::Awaited });
            self.out_of_use += usize::from(disabled);
        }
    }

    fn close_fieldset(&mut self) {
        if let Some(Fieldset { disabled: true, legend }) = self.fieldsets.pop()
            && legend != Legend::Open
        {
            self.out_of_use -= 1;
        }
    }

    /// Enters or leaves a fieldset's first legend, inside which the fieldset's `disabled` has no
    /// effect.
    fn legend(&mut self, from: Legend, to: Legend) {
        let Some(fieldset) = self.fieldsets.last_mut().filter(|fieldset| fieldset.legend == from) else { return };
        fieldset.legend = to;
        match (fieldset.disabled, to) {
            (true, Legend::Open) => self.out_of_use -= 1,
            (true, _) => self.out_of_use += 1,
            (false, _) => {}
        }
    }

    /// The properties that all fields share.
    fn field(&self, attrs: &Slots<'_>, kind: FieldKind) -> FormField {
        let disabled = attrs.has(Attr::Disabled) || self.out_of_use > 0;
        FormField { name: attrs.text(Attr::Name), kind, disabled, ..FormField::default() }
    }

    fn open_select(&mut self, attrs: &Slots<'_>) {
        let multiple = attrs.has(Attr::Multiple);
        let undecided = multiple || attrs.pixels(Attr::Size).is_some_and(|rows| rows > 1);
        let field = FormField { multiple, ..self.field(attrs, FieldKind::Select) };
        let owner = self.owner(attrs);
        self.select = Some(OpenSelect { owner, field, undecided, first: None, group_disabled: false });
    }

    fn form(&mut self, attrs: &Slots<'_>, found: &mut Gather) {
        if self.form.is_some() {
            return;
        }
        self.form = found.form(Form {
            action: attrs.get(Attr::Action).map_or_else(String::new, |a| crate::gather::trim(&a).to_owned()),
            method: method(&attrs.lower(Attr::Method)),
            enctype: enctype(&attrs.lower(Attr::Enctype)),
            charsets: attrs.text(Attr::AcceptCharset),
            id: attrs.text(Attr::Id),
            name: attrs.text(Attr::Name),
            fields: Vec::new(),
        });
    }

    fn simple_field(&mut self, tag: Tag, attrs: &Slots<'_>, found: &mut Gather) {
        let mut kind = attrs.lower(Attr::Type);
        if kind.is_empty() {
            kind = if tag == Tag::Button { "submit" } else { "text" }.into();
        }
        let kind = FieldKind::from(kind);
        let chooses = matches!(kind, FieldKind::Checkbox | FieldKind::Radio);
        let value = match attrs.get(Attr::Value) {
            None if chooses => "on".into(),
            value => value.map_or_else(String::new, std::borrow::Cow::into_owned),
        };
        let checked = chooses && attrs.has(Attr::Checked);
        let sends = matches!(kind, FieldKind::Submit | FieldKind::Image).then(|| sends(attrs)).flatten();
        let field = FormField { value, checked, sends, ..self.field(attrs, kind) };
        let owner = self.owner(attrs);
        self.place(owner, field, found);
    }

    /// Handles the content of a `<textarea>`.
    pub(super) fn textarea(&mut self, found: &mut Gather, text: &str) {
        let Some((owner, mut field)) = self.textarea.take() else { return };
        let text = text.strip_prefix("\r\n").or_else(|| text.strip_prefix('\n')).unwrap_or(text);
        field.value = entity::unescape(text, ReferenceContext::Text).into_owned();
        self.place(owner, field, found);
    }

    fn owner(&self, attrs: &Slots<'_>) -> Owner {
        match (attrs.get(Attr::Form), self.form) {
            (Some(id), _) => Owner::Named(id.into_owned()),
            (None, Some(form)) => Owner::Form(form),
            (None, None) => Owner::Nobody,
        }
    }

    fn place(&mut self, owner: Owner, field: FormField, found: &mut Gather) {
        if matches!(owner, Owner::Nobody) || !found.may_add_field() {
            return;
        }
        match owner {
            Owner::Form(form) => {
                if let Some(form) = found.doc.forms.get_mut(form) {
                    form.fields.push(field);
                }
            }
            Owner::Named(id) => self.named.push((id, field)),
            Owner::Nobody => {}
        }
    }

    fn close_option(&mut self, found: &mut Gather, prose: &Prose) {
        let Some(option) = self.option.take() else { return };
        let Some(OpenSelect { field, first, .. }) = &mut self.select else { return };
        let value = option.value.unwrap_or_else(|| prose.since(option.start, MAX_OPTION));
        if option.disabled {
            // A disabled option is visible but cannot be selected.
            return;
        }
        if first.is_none() {
            *first = Some(value.clone());
        }
        if option.selected {
            field.value.clone_from(&value);
            field.checked = true;
            if !field.multiple {
                field.chosen.clear();
            }
            found.chosen(field, &value);
        }
        found.option(field, value);
    }

    fn close_select(&mut self, found: &mut Gather, prose: &Prose) {
        self.close_option(found, prose);
        let Some(OpenSelect { owner, mut field, undecided, first, .. }) = self.select.take() else { return };
        if !field.checked
            && !undecided
            && let Some(first) = first
        {
            field.value.clone_from(&first);
            field.chosen = vec![first];
        }
        self.place(owner, field, found);
    }

    /// At the end of the page, closes what is open and resolves `form` attributes.
    pub(super) fn finish(&mut self, found: &mut Gather, prose: &Prose) {
        self.close_select(found, prose);
        if self.named.is_empty() {
            return;
        }
        let mut by_id: HashMap<String, usize> = HashMap::new();
        for (i, form) in found.doc.forms.iter().enumerate() {
            by_id.entry(form.id.clone()).or_insert(i);
        }
        for (id, field) in self.named.drain(..) {
            if let Some(form) = by_id.get(&id).and_then(|&i| found.doc.forms.get_mut(i)) {
                form.fields.push(field);
            }
        }
    }
}

/// The method of a form or button.
fn method(written: &str) -> String {
    match written {
        "post" => "post",
        "dialog" => "dialog",
        _ => "get",
    }
    .into()
}

/// The encoding type of a form or button.
fn enctype(written: &str) -> String {
    match written {
        "multipart/form-data" => "multipart/form-data",
        "text/plain" => "text/plain",
        _ => "application/x-www-form-urlencoded",
    }
    .into()
}

/// What a button overrides in its form.
fn sends(attrs: &Slots<'_>) -> Option<Box<Sends>> {
    let sends = Sends {
        action: attrs.get(Attr::Formaction).map(|a| crate::gather::trim(&a).to_owned()),
        method: attrs.has(Attr::Formmethod).then(|| method(&attrs.lower(Attr::Formmethod))),
        enctype: attrs.has(Attr::Formenctype).then(|| enctype(&attrs.lower(Attr::Formenctype))),
    };
    (sends != Sends::default()).then(|| Box::new(sends))
}
