//! Which layers of the document are shown?
//!
//! Optional content (ISO 32000-2, 8.11): groups that a reader can switch on and off. What is off in
//! the default configuration is not read, as no one sees it.

use hayro_syntax::object::{Array, Dict, Name, ObjectIdentifier};
use std::collections::HashSet;

/// The groups that are off.
#[derive(Debug, Default)]
pub(super) struct Layers {
    off: HashSet<ObjectIdentifier>,
}

impl Layers {
    /// Those of a document, by its catalogue.
    pub(super) fn of(catalog: &Dict<'_>) -> Self {
        Self::read(catalog).unwrap_or_default()
    }

    fn read(catalog: &Dict<'_>) -> Option<Self> {
        let properties = catalog.get::<Dict<'_>>(b"OCProperties")?;
        let config = properties.get::<Dict<'_>>(b"D")?;
        let listed = |dict: &Dict<'_>, key: &[u8]| groups(dict, key);
        let starts_off = config.get::<Name<'_>>(b"BaseState").is_some_and(|state| state.as_ref() == b"OFF");
        let mut off = if starts_off { listed(&properties, b"OCGs") } else { HashSet::new() };
        off.retain({
            let on = listed(&config, b"ON");
            move |group| !on.contains(group)
        });
        off.extend(listed(&config, b"OFF"));
        Some(Self { off })
    }

    /// Whether content that belongs to the group, or the groups, that a dictionary names is shown.
    pub(super) fn shows(&self, dict: &Dict<'_>, key: &[u8]) -> bool {
        if self.off.is_empty() {
            return true;
        }
        let Some(group) = dict.get::<Dict<'_>>(key) else { return true };
        if group.get::<Name<'_>>(b"Type").is_none_or(|kind| kind.as_ref() != b"OCMD") {
            return dict.get_ref(key).is_none_or(|group| !self.off.contains(&group.into()));
        }
        let members = match group.get_ref(b"OCGs") {
            Some(one) if group.get::<Array<'_>>(b"OCGs").is_none() => HashSet::from([one.into()]),
            _ => groups(&group, b"OCGs"),
        };
        let is_off = |member: &ObjectIdentifier| self.off.contains(member);
        let policy = group.get::<Name<'_>>(b"P");
        members.is_empty()
            || match policy.as_deref() {
                Some(b"AllOn") => !members.iter().any(is_off),
                Some(b"AnyOff") => members.iter().any(is_off),
                Some(b"AllOff") => members.iter().all(is_off),
                _ => !members.iter().all(is_off),
            }
    }
}

/// The groups in an array.
fn groups(dict: &Dict<'_>, key: &[u8]) -> HashSet<ObjectIdentifier> {
    let Some(array) = dict.get::<Array<'_>>(key) else { return HashSet::new() };
    array.raw_iter().filter_map(|item| item.as_obj_ref()).map(Into::into).collect()
}
