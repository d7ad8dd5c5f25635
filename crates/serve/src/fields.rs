//! What did a form or a query say?
//!
//! Names may be repeated, as check boxes are, so fields are kept in order and looked up by name.

use crate::problem::ProblemDetails;
use std::str::FromStr;

/// The fields of a form or a query.
#[derive(Debug, Default)]
pub(crate) struct FormFields(Vec<(String, String)>);

impl FormFields {
    /// Reads `application/x-www-form-urlencoded`.
    pub(crate) fn read(bytes: &[u8]) -> Self {
        Self(url::form_urlencoded::parse(bytes).into_owned().collect())
    }

    /// The field of this name, without blanks around it; `None` if it is missing or empty.
    pub(crate) fn one(&self, name: &str) -> Option<&str> {
        self.all(name).next()
    }

    /// All fields of this name that are not empty.
    pub(crate) fn all<'a, 'n>(&'a self, name: &'n str) -> impl Iterator<Item = &'a str> + use<'a, 'n> {
        self.every(name).filter(|value| !value.is_empty())
    }

    /// All fields of this name, without blanks around them.
    pub(crate) fn every<'a, 'n>(&'a self, name: &'n str) -> impl Iterator<Item = &'a str> + use<'a, 'n> {
        self.0.iter().filter(move |(field, _)| field == name).map(|(_, value)| value.trim())
    }

    /// The field of this name exactly as it was typed; empty if it is missing.
    pub(crate) fn typed(&self, name: &str) -> &str {
        self.0.iter().find(|(field, _)| field == name).map_or("", |(_, value)| value)
    }

    /// The field of this name, which must be there.
    pub(crate) fn needed(&self, name: &str) -> Result<&str, ProblemDetails> {
        self.one(name).ok_or_else(|| ProblemDetails::malformed(format!("{name} is missing")))
    }

    /// The field of this name as a number or the like; `None` if it is missing.
    pub(crate) fn parsed<T: FromStr>(&self, name: &str) -> Result<Option<T>, ProblemDetails> {
        let wrong = |text: &str| ProblemDetails::malformed(format!("{name} cannot be '{text}'"));
        self.one(name).map(|text| text.parse().map_err(|_| wrong(text))).transpose()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_may_be_repeated_missing_or_wrong() {
        let fields = FormFields::read(b"a=1&b=+x+&a=2&c=&d=%C3%A4");
        assert_eq!(fields.all("a").collect::<Vec<_>>(), ["1", "2"]);
        assert_eq!(
            (fields.one("b"), fields.typed("b"), fields.one("c"), fields.one("d")),
            (Some("x"), " x ", None, Some("ä"))
        );
        assert_eq!(fields.parsed::<u32>("a").unwrap(), Some(1));
        assert!(fields.parsed::<u32>("b").is_err() && fields.needed("c").is_err());
        assert_eq!(fields.parsed::<u32>("e").unwrap(), None);
    }
}
