//! How does a sheet show a number?
//!
//! A cell holds a bare number; its format says whether that is an amount, a percentage or a date.
//! People search for what they see, so numbers are written as the format says (ECMA-376-1,
//! 18.8.31). Colours are ignored, a fill or a padding becomes a space. What a narrow column would
//! cut off of a number without a format is shown: it may be searched for.

use super::calendar::{self, DatePiece};
use std::cmp::Ordering;
use std::fmt::Write;

pub(crate) use super::calendar::DateSystem;

/// Maximum length of a format that is read.
const MAX_CODE: usize = 512;
/// Maximum number of decimals.
const MAX_DECIMALS: usize = 30;
/// How many characters shorter a number is, rounded to ten digits, if the rest is noise.
const NOISE: usize = 7;

/// A number format.
#[derive(Clone, Debug, Default)]
pub(crate) struct NumberFormat {
    /// Its sections: positive, negative, zero, text; none for the general format.
    sections: Vec<FormatSection>,
}

#[derive(Clone, Debug, Default)]
struct FormatSection {
    before: String,
    after: String,
    digits: DigitFormat,
    date: Vec<DatePiece>,
    /// Which numbers it is for, if it says so.
    condition: Option<FormatCondition>,
    /// Whether it shows the number at all.
    shows: bool,
    /// Whether it shows it as a general number.
    general: bool,
}

/// Which numbers a section is for: those that compare with another one in one of these ways.
#[derive(Clone, Debug)]
struct FormatCondition {
    holds: Vec<Ordering>,
    than: f64,
}

#[derive(Clone, Debug, Default)]
struct DigitFormat {
    whole: usize,
    decimals: usize,
    /// Decimals that are shown even if they are zero.
    kept: usize,
    grouped: bool,
    /// Powers of ten by which the number is multiplied: 2 for a percentage, -3 for thousands.
    scale: i32,
    exponent: Option<usize>,
    /// Digits of the denominator, for a fraction.
    fraction: Option<usize>,
    /// Places for digits with characters between them, as in a telephone number; empty if there
    /// are none.
    pattern: String,
    places: usize,
}

impl NumberFormat {
    /// The format of this code.
    pub(crate) fn of(code: &str) -> Self {
        if code.len() > MAX_CODE || code.is_empty() || code.eq_ignore_ascii_case("general") || code == "@" {
            return Self::default();
        }
        Self { sections: split(code).iter().map(|s| section(s)).take(4).collect() }
    }

    /// A format by its number among those that every sheet knows.
    pub(crate) fn built_in(number: u32) -> Self {
        Self::of(match number {
            1 => "0",
            2 => "0.00",
            3 => "#,##0",
            4 => "#,##0.00",
            5 | 6 => "\"$\"#,##0_);(\"$\"#,##0)",
            7 | 8 => "\"$\"#,##0.00_);(\"$\"#,##0.00)",
            9 => "0%",
            10 => "0.00%",
            11 => "0.00E+00",
            12 => "# ?/?",
            13 => "# ??/??",
            14 => "m/d/yy",
            15 => "d-mmm-yy",
            16 => "d-mmm",
            17 => "mmm-yy",
            18 => "h:mm AM/PM",
            19 => "h:mm:ss AM/PM",
            20 => "h:mm",
            21 => "h:mm:ss",
            22 => "m/d/yy h:mm",
            37 | 38 => "#,##0_);(#,##0)",
            39 | 40 => "#,##0.00_);(#,##0.00)",
            41 => "_(* #,##0_);_(* (#,##0);_(* \"-\"_);_(@_)",
            42 => "_(\"$\"* #,##0_);_(\"$\"* (#,##0);_(\"$\"* \"-\"_);_(@_)",
            43 => "_(* #,##0.00_);_(* (#,##0.00);_(* \"-\"??_);_(@_)",
            44 => "_(\"$\"* #,##0.00_);_(\"$\"* (#,##0.00);_(\"$\"* \"-\"??_);_(@_)",
            45 => "mm:ss",
            46 => "[h]:mm:ss",
            47 => "mm:ss.0",
            48 => "##0.0E+0",
            _ => "",
        })
    }

    /// A number as this format shows it.
    pub(crate) fn show(&self, value: f64, system: DateSystem) -> String {
        let Some(first) = self.sections.first() else { return general(value) };
        let second = self.sections.get(1);
        let (section, value) = match (value < 0.0, second) {
            _ if self.sections.iter().any(|section| section.condition.is_some()) => {
                let is_for = |section: &&FormatSection| section.condition.as_ref().is_none_or(|c| c.is_met(value));
                (self.sections.iter().take(3).find(is_for).unwrap_or(first), value)
            }
            (true, Some(negative)) => (negative, -value),
            _ if value == 0.0 => (self.sections.get(2).unwrap_or(first), value),
            _ => (first, value),
        };
        if !section.date.is_empty() {
            return calendar::show(&section.date, value, system).unwrap_or_else(|| general(value));
        }
        let sign = if value < 0.0 { "-" } else { "" };
        let shown = match section.shows {
            true if section.general => general(value.abs()),
            true => section.digits.show(value.abs()),
            false => String::new(),
        };
        let zeros = shown.bytes().all(|b| matches!(b, b'0' | b'.' | b','));
        let sign = if zeros { "" } else { sign };
        format!("{}{sign}{shown}{}", section.before, section.after)
    }
}

/// The sections of a code, which semicolons separate.
fn split(code: &str) -> Vec<String> {
    let mut sections = vec![String::new()];
    let mut quoted = false;
    let mut escaped = false;
    for c in code.chars() {
        if c == ';' && !quoted && !escaped {
            sections.push(String::new());
            continue;
        }
        quoted ^= c == '"' && !escaped;
        escaped = c == '\\' && !escaped && !quoted;
        if let Some(last) = sections.last_mut() {
            last.push(c);
        }
    }
    sections
}

fn section(code: &str) -> FormatSection {
    let date = calendar::pieces(code);
    let mut section = FormatSection { condition: FormatCondition::of(code), ..FormatSection::default() };
    if !date.is_empty() {
        return FormatSection { date, shows: true, ..section };
    }
    let mut state = DigitReading::default();
    let mut chars = code.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '"' => {
                let literal: String = chars.by_ref().take_while(|&c| c != '"').collect();
                section.literal(&literal, state.seen);
            }
            '\\' => {
                if let Some(c) = chars.next() {
                    section.literal(c.encode_utf8(&mut [0; 4]), state.seen);
                }
            }
            '_' | '*' => {
                chars.next();
                section.literal(" ", state.seen);
            }
            '[' => {
                let inside: String = chars.by_ref().take_while(|&c| c != ']').collect();
                if let Some(currency) = inside.strip_prefix('$') {
                    section.literal(currency.split('-').next().unwrap_or(""), state.seen);
                }
            }
            'G' | 'g' if code.to_ascii_lowercase().contains("general") => {
                let rest: String = chars.by_ref().take("eneral".len()).collect();
                section.general = rest.eq_ignore_ascii_case("eneral");
                section.shows = true;
                state.seen = true;
            }
            'E' | 'e' if state.seen && matches!(chars.peek(), Some('+' | '-')) => {
                chars.next();
                section.digits.exponent = Some(0);
            }
            '0' | '#' | '?' | '.' | ',' | '/' if state.takes(c) => section.digit(c, &mut state),
            '%' => {
                section.digits.scale += 2;
                section.literal("%", state.seen);
            }
            '@' => {}
            c => section.literal(c.encode_utf8(&mut [0; 4]), state.seen),
        }
    }
    section.digits.scale -= 3 * i32::try_from(state.commas).unwrap_or(0);
    section
}

impl FormatCondition {
    /// The condition in a section's code: `[>=1000]`.
    fn of(code: &str) -> Option<Self> {
        let inside = code.split('[').skip(1).filter_map(|rest| rest.split(']').next());
        let told = inside.into_iter().find(|inside| inside.starts_with(['<', '>', '=']))?;
        let end = told.find(|c: char| !matches!(c, '<' | '>' | '=')).unwrap_or(told.len());
        let (sign, than) = told.split_at_checked(end)?;
        let holds = match sign {
            "<" => vec![Ordering::Less],
            "<=" => vec![Ordering::Less, Ordering::Equal],
            ">" => vec![Ordering::Greater],
            ">=" => vec![Ordering::Greater, Ordering::Equal],
            "<>" => vec![Ordering::Less, Ordering::Greater],
            _ => vec![Ordering::Equal],
        };
        Some(Self { holds, than: than.trim().parse().ok()? })
    }

    fn is_met(&self, value: f64) -> bool {
        value.partial_cmp(&self.than).is_some_and(|order| self.holds.contains(&order))
    }
}

/// How far the digits of a code have been read.
#[derive(Default)]
struct DigitReading {
    seen: bool,
    in_decimals: bool,
    /// Commas since the last digit.
    commas: usize,
}

impl DigitReading {
    /// Whether a character belongs to the digits.
    fn takes(&self, c: char) -> bool {
        self.seen || !matches!(c, ',' | '/')
    }
}

impl FormatSection {
    fn literal(&mut self, text: &str, after: bool) {
        if after { self.after.push_str(text) } else { self.before.push_str(text) }
    }

    fn digit(&mut self, c: char, state: &mut DigitReading) {
        let digits = &mut self.digits;
        match c {
            '.' => state.in_decimals = true,
            ',' => state.commas += 1,
            '/' => digits.fraction = Some(0),
            c => {
                self.shows = true;
                state.seen = true;
                if state.commas > 0 {
                    digits.grouped = true;
                    state.commas = 0;
                }
                if let Some(exponent) = &mut digits.exponent {
                    *exponent += 1;
                } else if let Some(denominator) = &mut digits.fraction {
                    *denominator += 1;
                } else if state.in_decimals {
                    digits.decimals = (digits.decimals + 1).min(MAX_DECIMALS);
                    if c == '0' {
                        digits.kept = digits.decimals;
                    }
                } else {
                    digits.places += 1;
                    if !self.after.is_empty() {
                        // What stood behind the digits so far stands between them.
                        let before = digits.places - 1 - digits.pattern.matches('0').count();
                        digits.pattern.push_str(&"0".repeat(before));
                        digits.pattern.extend(self.after.drain(..).filter(|c| !c.is_ascii_digit()));
                    }
                    digits.whole = (digits.whole + usize::from(c == '0')).min(MAX_DECIMALS);
                }
            }
        }
    }
}

impl DigitFormat {
    fn show(&self, value: f64) -> String {
        let value = value * 10f64.powi(self.scale);
        if !value.is_finite() {
            return general(value);
        }
        if let Some(digits) = self.fraction {
            return fraction(value, digits);
        }
        if let Some(digits) = self.exponent {
            return self.scientific(value, digits);
        }
        let plain = format!("{:.*}", self.decimals, rounded(value, self.decimals));
        let (whole, decimals) = plain.split_once('.').unwrap_or((&plain, ""));
        let decimals = trimmed(decimals, self.kept);
        let whole = if whole == "0" && self.whole == 0 && !decimals.is_empty() { "" } else { whole };
        let mut whole = format!("{whole:0>width$}", width = self.whole);
        if !self.pattern.is_empty() {
            whole = self.patterned(&whole);
        } else if self.grouped {
            whole = grouped(&whole);
        }
        if decimals.is_empty() { whole } else { format!("{whole}.{decimals}") }
    }

    /// Digits in their places, from the last one on.
    fn patterned(&self, digits: &str) -> String {
        let rest = self.places - self.pattern.matches('0').count();
        let pattern = format!("{}{}", self.pattern, "0".repeat(rest));
        let mut digits = digits.chars().rev().peekable();
        let mut out: Vec<char> = Vec::new();
        for place in pattern.chars().rev() {
            match place {
                '0' => out.extend(digits.next()),
                between if digits.peek().is_some() => out.push(between),
                _ => {}
            }
        }
        out.extend(digits);
        out.into_iter().rev().collect()
    }

    fn scientific(&self, value: f64, digits: usize) -> String {
        let plain = format!("{value:.*e}", self.decimals);
        let (mantissa, exponent) = plain.split_once('e').unwrap_or((&plain, "0"));
        let (sign, exponent) = match exponent.strip_prefix('-') {
            Some(exponent) => ('-', exponent),
            None => ('+', exponent),
        };
        format!("{mantissa}E{sign}{exponent:0>digits$}")
    }
}

/// A number rounded to its decimals, half of the last one upwards, as sheets do.
fn rounded(value: f64, decimals: usize) -> f64 {
    let scale = 10f64.powi(i32::try_from(decimals).unwrap_or(i32::MAX));
    let mut scaled = value * scale;
    // A sheet counts with fifteen digits: 1.005 is shown as 1.01, although the number behind it is
    // a little less than that.
    if (scaled.fract().abs() - 0.5).abs() < 1e-6 {
        scaled = format!("{scaled:.14e}").parse().unwrap_or(scaled);
    }
    if scaled.abs() < 1e15 { scaled.round() / scale } else { value }
}

/// Decimals without the zeros at their end, but at least this many.
fn trimmed(decimals: &str, kept: usize) -> &str {
    let len = decimals.trim_end_matches('0').len().max(kept).min(decimals.len());
    decimals.get(..len).unwrap_or(decimals)
}

fn grouped(whole: &str) -> String {
    let mut out = String::with_capacity(whole.len() * 4 / 3);
    for (place, c) in whole.chars().enumerate() {
        if place > 0 && (whole.len() - place).is_multiple_of(3) {
            out.push(',');
        }
        out.push(c);
    }
    out
}

/// A number as a whole and a fraction whose denominator has at most this many digits.
fn fraction(value: f64, digits: usize) -> String {
    let whole = value.trunc();
    let rest = value - whole;
    let largest = 10u32.pow(u32::try_from(digits.clamp(1, 3)).unwrap_or(1)) - 1;
    let error = |d: u32| ((rest * f64::from(d)).round() / f64::from(d) - rest).abs();
    let best = (1..=largest).min_by(|&a, &b| error(a).total_cmp(&error(b))).unwrap_or(1);
    let over = (rest * f64::from(best)).round();
    match (whole == 0.0, over == 0.0) {
        (_, true) => format!("{whole}"),
        (true, false) => format!("{over}/{best}"),
        (false, false) => format!("{whole} {over}/{best}"),
    }
}

/// A number as it is shown without a format: up to fifteen digits, which is what is exact of it,
/// and up to ten decimals.
pub(crate) fn general(value: f64) -> String {
    if !value.is_finite() {
        return String::new();
    }
    let size = value.abs();
    if size != 0.0 && !(1e-10..1e15).contains(&size) {
        let plain = format!("{value:.14e}");
        let (mantissa, exponent) = plain.split_once('e').unwrap_or((&plain, "0"));
        let mantissa = mantissa.trim_end_matches('0').trim_end_matches('.');
        let sign = if exponent.starts_with('-') { "" } else { "+" };
        return format!("{mantissa}E{sign}{exponent}");
    }
    let exact = plain(value, 15);
    // The last digits of what was computed are noise: 39627.9999999884 is 39628.
    let short = plain(value, 10);
    if exact.len() >= short.len() + NOISE { short } else { exact }
}

/// A number with so many digits at most, without zeros at its end.
fn plain(value: f64, digits: usize) -> String {
    // The number of digits before the point decides how many are left after it.
    let whole = if value.abs() < 1.0 { 0 } else { format!("{:.0}", value.abs()).len() };
    let mut out = String::new();
    let _ = write!(out, "{value:.*}", digits.saturating_sub(whole).min(10));
    if out.contains('.') {
        out.truncate(out.trim_end_matches('0').trim_end_matches('.').len());
    }
    if out == "-0" { "0".to_owned() } else { out }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(code: &str, value: f64, shown: &str) {
        assert_eq!(NumberFormat::of(code).show(value, DateSystem::From1900).trim(), shown, "{code}");
    }

    #[test]
    fn numbers_are_shown_as_their_format_says() {
        check("General", 1234.5, "1234.5");
        check("0.00", 2.34567, "2.35");
        check("#,##0.00", 1_234_567.891, "1,234,567.89");
        check("#,##0;(#,##0)", -1234.0, "(1234)".replace("1234", "1,234").as_str());
        check("0%", 0.256, "26%");
        check("0.00E+00", 12345.678, "1.23E+04");
        check("# ?/?", 2.5, "2 1/2");
        check("# ??/??", 0.0, "0");
        check("[$€-407] #,##0.00", 5.5, "€ 5.50");
        check("\"a;b\" 0", 7.0, "a;b 7");
        check("0.0##", 1.25, "1.25");
        check("#.##", 0.5, ".5");
        check("#,##0,", 12_345_678.0, "12,346");
        check("00000", 42.0, "00042");
        check("_(* #,##0_);_(* (#,##0);_(* \"-\"_);_(@_)", 0.0, "-");
        check("0.00;[Red]-0.00", -1.5, "-1.50");
        check("0", -0.2, "0");
        check("0", 2.5, "3");
        check("0.00", 1.005, "1.01");
        check("000-00-0000", 12_345_678.0, "012-34-5678");
        check("#####\\-#####", 4_227_200_558.0, "42272-00558");
        check("#-##", 1.0, "1");
        check("@", 12.0, "12");
        check("\"only text\"", 12.0, "only text");
        check("General\" kg\"", 12.5, "12.5 kg");
        for (value, shown) in [(999.0, "999"), (10_210.2, "10K"), (1_021_021.0, "1M"), (-5.0, "-5")] {
            check("[>999999]#,,\"M\";[>999]#,\"K\";#", value, shown);
        }
        check("[<=9999999]###-####;(###) ###-####", 1_234_567.0, "123-4567");
        check("[<oops]0", 3.0, "3");
    }

    #[test]
    fn a_general_number_has_fifteen_digits() {
        for (value, shown) in [
            (0.0, "0"),
            (-1.0, "-1"),
            (0.1 + 0.2, "0.3"),
            (1.0 / 3.0, "0.3333333333"),
            (123_456_789.123_456, "123456789.123456"),
            (12_345_678_901.0, "12345678901"),
            (123_456_789_012_345.0, "123456789012345"),
            (39_627.999_999_988_424, "39628"),
            (1e20, "1E+20"),
            (1.234_567_8e-12, "1.2345678E-12"),
            (f64::NAN, ""),
        ] {
            assert_eq!(general(value), shown);
        }
    }

    #[test]
    fn any_code_is_survived() {
        for code in ["\\", "[", "\"", "_", "*", ";;;;;;", "E+", "/", ",,,,", "0/", "?/?/?", "[$", "%%%%%%%%%%%%%%%"] {
            for value in [0.0, -1.5, 1e300, f64::INFINITY] {
                NumberFormat::of(code).show(value, DateSystem::From1900);
            }
        }
        NumberFormat::of(&"0".repeat(500)).show(1.0, DateSystem::From1900);
    }
}
