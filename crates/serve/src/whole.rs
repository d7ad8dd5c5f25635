//! Is this number whole?
//!
//! To JSON Schema 476.0 is an integer, and some programs write one so; serde reads it as a fraction
//! only.

use serde::{Deserialize as _, Deserializer};
use serde_json::Number;

/// Reads a whole number, however it is written and however large it is.
pub(crate) fn whole<'de, D: Deserializer<'de>, T: TryFrom<u64>>(reader: D) -> Result<Option<T>, D::Error> {
    let Some(number) = Option::<Number>::deserialize(reader)? else { return Ok(None) };
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "whole, and saturates")]
    let rounded = |x: f64| (x.fract() == 0.0 && x >= 0.0).then_some(x as u64);
    let whole = number.as_u64().or_else(|| number.as_f64().and_then(rounded));
    let wrong = || serde::de::Error::custom(format!("{number} is not a whole number in range"));
    whole.and_then(|n| T::try_from(n).ok()).map(Some).ok_or_else(wrong)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_whole_number_may_have_a_point() {
        let read = |text: &str| whole::<_, u32>(&mut serde_json::Deserializer::from_str(text)).ok();
        assert_eq!([read("476.0"), read("476"), read("4e2")], [Some(Some(476)), Some(Some(476)), Some(Some(400))]);
        assert_eq!(whole::<_, u64>(&mut serde_json::Deserializer::from_str("1e40")).ok(), Some(Some(u64::MAX)));
        assert_eq!([read("null"), read("0.5"), read("-1"), read("5000000000")], [Some(None), None, None, None]);
    }
}
