//! Which of a few names is this?

use crate::fields::FormFields;
use crate::problem::ProblemDetails;
use orb_answers::{By, CHANGES, ContentExtent, ContentForm, DiffBy, Direction, HealthKind};
use orb_page::Flag;

/// The measures of a ranking.
pub(crate) const BY: &[(&str, By)] = &[
    ("pagerank", By::Pagerank),
    ("backlinks", By::Backlinks),
    ("hub", By::Hub),
    ("authority", By::Authority),
    ("harmonic", By::Harmonic),
    ("outdegree", By::Outdegree),
];

/// The ways along links.
pub(crate) const DIRECTIONS: &[(&str, Direction)] =
    &[("both", Direction::Both), ("in", Direction::In), ("out", Direction::Out)];

/// The forms of content.
pub(crate) const FORMS: &[(&str, ContentForm)] =
    &[("raw", ContentForm::Raw), ("text", ContentForm::Text), ("markdown", ContentForm::Markdown)];

/// How much of a page is wanted.
pub(crate) const EXTENTS: &[(&str, ContentExtent)] = &[("main", ContentExtent::Main), ("whole", ContentExtent::Whole)];

/// What of two versions is compared.
pub(crate) const DIFFS: &[(&str, DiffBy)] =
    &[("text", DiffBy::Text), ("main", DiffBy::Main), ("source", DiffBy::Source)];

/// The flags of documents.
const FLAGS: &[(&str, Flag)] =
    &[("NEW", Flag::New), ("SAM", Flag::Same), ("UPD", Flag::Updated), ("MIS", Flag::Missing), ("ERR", Flag::Error)];

/// The names of choices.
pub(crate) fn names<T>(choices: &[(&'static str, T)]) -> Vec<&'static str> {
    choices.iter().map(|(name, _)| *name).collect()
}

/// A list of flags.
pub(crate) const FLAG_LIST: &str = "^(NEW|SAM|UPD|MIS|ERR)(,(NEW|SAM|UPD|MIS|ERR))*$";

/// What this name stands for; the first choice without a name.
pub(crate) fn choose<T: Copy>(what: &str, name: Option<&str>, choices: &[(&str, T)]) -> Result<T, ProblemDetails> {
    let found = match name {
        Some(name) => choices.iter().find(|(choice, _)| choice.eq_ignore_ascii_case(name)),
        None => choices.first(),
    };
    let names = || choices.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ");
    let wrong = || ProblemDetails::malformed(format!("{what} is one of {}", names()));
    found.map(|(_, value)| *value).ok_or_else(wrong)
}

/// The kind of problem with this name.
pub(crate) fn health_kind(name: &str) -> Result<HealthKind, ProblemDetails> {
    let named = HealthKind::ALL.into_iter().find(|kind| kind.name() == name);
    named.ok_or_else(|| ProblemDetails::not_found(format!("there is no kind of problem called {name}")))
}

/// Flags by name, repeated or with commas between them; those of changes if there is none.
pub(crate) fn flags<'a>(names: impl Iterator<Item = &'a str>) -> Result<Vec<Flag>, ProblemDetails> {
    let names = names.flat_map(|names| names.split(',')).map(str::trim).filter(|name| !name.is_empty());
    let chosen: Vec<Flag> = names.map(|name| choose("flag", Some(name), FLAGS)).collect::<Result<_, _>>()?;
    Ok(if chosen.is_empty() { CHANGES.to_vec() } else { chosen })
}

/// Whether a field says yes; it says no if it is missing.
pub(crate) fn is_set(fields: &FormFields, name: &str) -> Result<bool, ProblemDetails> {
    choose(name, fields.one(name), &[("false", false), ("true", true), ("0", false), ("1", true)])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_chosen_and_wrong_ones_are_told_the_right_ones() {
        assert_eq!(choose("by", None, BY).unwrap(), By::Pagerank);
        assert_eq!(choose("by", Some("Hub"), BY).unwrap(), By::Hub);
        assert_eq!(choose("by", Some("x"), DIFFS).unwrap_err().detail, "by is one of text, main, source");
        assert_eq!(flags(["new,upd", "MIS"].into_iter()).unwrap(), [Flag::New, Flag::Updated, Flag::Missing]);
        assert_eq!(flags([""].into_iter()).unwrap(), CHANGES);
        assert!(flags(["gone"].into_iter()).is_err());
    }
}
