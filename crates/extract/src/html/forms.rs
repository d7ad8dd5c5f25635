//! Which forms could be filled in?
//!
//! A field belongs to the form it stands in, or to the one its `form` attribute names, which may come later. The text
//! of an option is a slice of the page's text.

use super::attributes::Slots;
use super::name::{Attr, Tag};
use crate::entity::{self, Place};
use crate::gather::Gather;
use crate::prose::Prose;
use orb_page::{Field, Form};
use std::collections::HashMap;

/// The longest text of an option kept, in characters.
const MAX_OPTION: usize = 500;

/// Where a field belongs.
#[derive(Debug)]
enum Owner {
    Form(usize),
    Named(String),
    Nobody,
}

/// What of forms is open.
#[derive(Debug, Default)]
pub(super) struct Forms {
    form: Option<usize>,
    select: Option<(Owner, Field, bool)>,
    option: Option<OpenOption>,
    textarea: Option<(Owner, Field)>,
    named: Vec<(String, Field)>,
}

#[derive(Debug)]
struct OpenOption {
    value: Option<String>,
    selected: bool,
    start: usize,
}

impl Forms {
    /// Whether a form is open: a form within a form is none.
    pub(super) fn is_open(&self) -> bool {
        self.form.is_some()
    }

    /// A start tag.
    #[inline]
    pub(super) fn start(&mut self, tag: Tag, attrs: &Slots<'_>, found: &mut Gather, prose: &Prose) {
        match tag {
            Tag::Form => self.form(attrs, found),
            Tag::Input | Tag::Button => self.simple_field(tag, attrs, found),
            Tag::Select => {
                self.close_select(found, prose);
                let field = Field { name: attrs.text(Attr::Name), kind: "select".into(), ..Field::default() };
                self.select = Some((self.owner(attrs), field, attrs.has(Attr::Multiple)));
            }
            Tag::Choice => {
                self.close_option(found, prose);
                let value = attrs.get(Attr::Value).map(std::borrow::Cow::into_owned);
                self.option = Some(OpenOption { value, selected: attrs.has(Attr::Selected), start: prose.len() });
            }
            Tag::Optgroup => self.close_option(found, prose),
            Tag::Textarea => {
                let field = Field { name: attrs.text(Attr::Name), kind: "textarea".into(), ..Field::default() };
                self.textarea = Some((self.owner(attrs), field));
            }
            _ => {}
        }
    }

    /// An end tag.
    pub(super) fn end(&mut self, tag: Tag, found: &mut Gather, prose: &Prose) {
        match tag {
            Tag::Form => self.form = None,
            Tag::Select => self.close_select(found, prose),
            Tag::Choice => self.close_option(found, prose),
            _ => {}
        }
    }

    fn form(&mut self, attrs: &Slots<'_>, found: &mut Gather) {
        if self.form.is_some() {
            return;
        }
        let method = match attrs.lower(Attr::Method).as_str() {
            "post" => "post",
            "dialog" => "dialog",
            _ => "get",
        };
        let enctype = match attrs.lower(Attr::Enctype).as_str() {
            "multipart/form-data" => "multipart/form-data",
            "text/plain" => "text/plain",
            _ => "application/x-www-form-urlencoded",
        };
        self.form = found.form(Form {
            action: attrs.get(Attr::Action).map_or_else(String::new, |a| crate::gather::trim(&a).to_owned()),
            method: method.into(),
            enctype: enctype.into(),
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
        let chooses = matches!(kind.as_str(), "checkbox" | "radio");
        let value = match attrs.get(Attr::Value) {
            None if chooses => "on".into(),
            value => value.map_or_else(String::new, std::borrow::Cow::into_owned),
        };
        let checked = chooses && attrs.has(Attr::Checked);
        let field = Field { name: attrs.text(Attr::Name), kind, value, checked, options: Vec::new() };
        let owner = self.owner(attrs);
        self.place(owner, field, found);
    }

    /// The content of a `<textarea>`.
    pub(super) fn textarea(&mut self, found: &mut Gather, text: &str) {
        let Some((owner, mut field)) = self.textarea.take() else { return };
        let text = text.strip_prefix("\r\n").or_else(|| text.strip_prefix('\n')).unwrap_or(text);
        field.value = entity::unescape(text, Place::Text).into_owned();
        self.place(owner, field, found);
    }

    fn owner(&self, attrs: &Slots<'_>) -> Owner {
        match (attrs.get(Attr::Form), self.form) {
            (Some(id), _) => Owner::Named(id.into_owned()),
            (None, Some(form)) => Owner::Form(form),
            (None, None) => Owner::Nobody,
        }
    }

    fn place(&mut self, owner: Owner, field: Field, found: &mut Gather) {
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
        let Some((_, field, _)) = &mut self.select else { return };
        let value = option.value.unwrap_or_else(|| prose.since(option.start, MAX_OPTION));
        if option.selected {
            field.value.clone_from(&value);
            field.checked = true;
        }
        found.option(field, value);
    }

    fn close_select(&mut self, found: &mut Gather, prose: &Prose) {
        self.close_option(found, prose);
        let Some((owner, mut field, multiple)) = self.select.take() else { return };
        if !field.checked
            && !multiple
            && let Some(first) = field.options.first()
        {
            field.value.clone_from(first);
        }
        self.place(owner, field, found);
    }

    /// The end of the page: what is open closes, what was named finds its form.
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
