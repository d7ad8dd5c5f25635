//! How is an answer kept short?

use serde_json::{Value, json};

/// The most bytes of an answer for which nobody asked for more.
pub(super) const USUAL: usize = 32_000;

/// The most bytes of any answer.
pub(super) const MOST: usize = 96_000;

/// What the parts of an answer beside its text or list may take.
const AROUND: usize = 2_000;

/// Drops the last rows of a list in an answer until it fits, and says so.
pub(super) fn fit(mut answer: Value, list: &str) -> Value {
    let length = |value: &Value| value.to_string().len();
    let Some(rows) = answer.get_mut(list).and_then(Value::as_array_mut) else { return answer };
    let mut left = USUAL - AROUND;
    let kept = rows.iter().take_while(|row| {
        let cost = length(row) + 1;
        let fits = cost <= left;
        left = left.saturating_sub(cost);
        fits
    });
    let kept = kept.count();
    if kept < rows.len() {
        rows.truncate(kept);
        answer["truncated"] = json!(true);
        answer["kept"] = json!(kept);
    }
    answer
}

/// A part of a text that takes at most so many characters, and so many bytes as JSON; and the
/// character after it, if it does not go up to the end.
pub(super) fn excerpt(text: &str, start: usize, (characters, bytes): (usize, usize)) -> (&str, Option<usize>) {
    let cost = |c: char| match c {
        '"' | '\\' | '\n' | '\r' | '\t' => 2,
        '\0'..='\x1f' => 6,
        c => c.len_utf8(),
    };
    let from = text.char_indices().nth(start).map_or(text.len(), |(at, _)| at);
    let mut left = bytes.saturating_sub(AROUND);
    for (taken, (at, c)) in text[from..].char_indices().enumerate() {
        if taken >= characters || cost(c) > left {
            return (&text[from..from + at], Some(start + taken));
        }
        left -= cost(c);
    }
    (&text[from..], None)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_is_cut_to_the_budget_and_says_so() {
        let rows: Vec<String> = (0..100).map(|n| format!("{n}{}", "x".repeat(1_000))).collect();
        let cut = fit(json!({"rows": rows, "next": 5}), "rows");
        assert!(cut["truncated"] == true && cut["kept"] == 29 && cut["rows"].as_array().unwrap().len() == 29);
        assert!(cut.to_string().len() <= USUAL);
        let whole = fit(json!({"rows": ["a"]}), "rows");
        assert_eq!(whole, json!({"rows": ["a"]}));
    }

    #[test]
    fn a_text_is_read_part_by_part() {
        let text = "ä\n\"b".repeat(2_000);
        let (mut start, mut read) = (0, String::new());
        loop {
            let (part, next) = excerpt(&text, start, (5_000, 6_000));
            assert!(part.chars().count() <= 5_000 && json!(part).to_string().len() <= 4_002);
            read.push_str(part);
            match next {
                Some(next) => start = next,
                None => break,
            }
        }
        assert_eq!(read, text);
        assert_eq!(excerpt("abc", 9, (5, 5_000)), ("", None));
    }
}
