//! How is a result printed?

pub(crate) use orb_answers::{clip, grouped, harmless};
use std::io::{self, BufWriter, IsTerminal as _, Stdout, Write};

/// Buffered standard output for text. No control character except newlines and tabs passes,
/// whatever the web wrote into a title or a link: a page must not control a terminal, directly or
/// later.
pub(crate) fn stdout() -> BufWriter<Screen> {
    screen(true)
}

/// Standard output for raw content; control characters are filtered only for a terminal.
pub(crate) fn content() -> BufWriter<Screen> {
    screen(io::stdout().is_terminal())
}

/// How a run stands, and its working time.
pub(crate) fn stood(state: &str, seconds: f64) -> String {
    let how = match state {
        "running" => "running for",
        "budget" => "budget used up in",
        _ => return format!("{state} in {}", self::seconds(seconds)),
    };
    format!("{how} {}", self::seconds(seconds))
}

fn screen(guarded: bool) -> BufWriter<Screen> {
    BufWriter::with_capacity(1 << 16, Screen { out: io::stdout(), guarded, lead: false })
}

/// Where results are printed.
pub(crate) struct Screen {
    out: Stdout,
    guarded: bool,
    /// Whether the last byte was the first of a two-byte control character (U+0080 to U+009F).
    lead: bool,
}

/// The first UTF-8 byte of U+0080 to U+00BF.
const LEAD: u8 = 0xc2;

impl Write for Screen {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let special = |b: &u8| b.is_ascii_control() && !matches!(b, b'\n' | b'\t') || *b == LEAD;
        if !self.guarded || !(self.lead || bytes.iter().any(special)) {
            return self.out.write(bytes);
        }
        let mut shown = Vec::with_capacity(bytes.len() + 64);
        for &byte in bytes {
            if std::mem::take(&mut self.lead) {
                if (0x80..0xa0).contains(&byte) {
                    escape(&mut shown, byte);
                    continue;
                }
                shown.push(LEAD);
            }
            match byte {
                b'\n' | b'\t' => shown.push(byte),
                0..0x20 | 0x7f => escape(&mut shown, byte),
                LEAD => self.lead = true,
                _ => shown.push(byte),
            }
        }
        self.out.write_all(&shown).map(|()| bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// A control character in escaped form, as in JSON.
fn escape(out: &mut Vec<u8>, byte: u8) {
    out.extend(format!("\\u{byte:04x}").bytes());
}

/// One JSON value on its own line.
pub(crate) fn json(out: &mut impl Write, value: &impl serde::Serialize) -> io::Result<()> {
    serde_json::to_writer(&mut *out, value)?;
    writeln!(out)
}

/// A table with headings, columns as wide as their widest cell; numbers are right-aligned.
pub(crate) fn table(out: &mut impl Write, heads: &[&str], rows: &[Vec<String>]) -> io::Result<()> {
    let width =
        |i: usize| rows.iter().map(|r| r[i].chars().count()).chain([heads[i].chars().count()]).max().unwrap_or(0);
    let widths: Vec<usize> = (0..heads.len()).map(width).collect();
    let numeric: Vec<bool> =
        (0..heads.len()).map(|i| !rows.is_empty() && rows.iter().all(|r| is_number(&r[i]))).collect();
    let mut line = |cells: &[&str]| {
        let mut text = String::new();
        for (i, cell) in cells.iter().enumerate() {
            let pad = " ".repeat(widths[i].saturating_sub(cell.chars().count()));
            if i > 0 {
                text.push_str("  ");
            }
            text.push_str(&if numeric[i] { format!("{pad}{cell}") } else { format!("{cell}{pad}") });
        }
        writeln!(out, "{}", text.trim_end())
    };
    line(heads)?;
    rows.iter().try_for_each(|row| line(&row.iter().map(String::as_str).collect::<Vec<_>>()))
}

fn is_number(cell: &str) -> bool {
    cell.is_empty() || cell == "-" || cell.chars().all(|c| c.is_ascii_digit() || " .,%+-".contains(c))
}

/// Bytes in readable units.
pub(crate) fn bytes(n: u64) -> String {
    const UNITS: [&str; 5] = ["B", "kB", "MB", "GB", "TB"];
    #[expect(clippy::cast_precision_loss, reason = "three digits are shown")]
    let mut value = n as f64;
    let mut unit = 0;
    while value >= 1_000.0 && unit + 1 < UNITS.len() {
        value /= 1_000.0;
        unit += 1;
    }
    match unit {
        0 => format!("{n} B"),
        _ if value < 10.0 => format!("{value:.2} {}", UNITS[unit]),
        _ if value < 100.0 => format!("{value:.1} {}", UNITS[unit]),
        _ => format!("{value:.0} {}", UNITS[unit]),
    }
}

/// Seconds rounded to milliseconds, for JSON.
pub(crate) fn milliseconds(seconds: f64) -> f64 {
    (seconds * 1e3).round() / 1e3
}

/// Seconds in readable units.
pub(crate) fn seconds(s: f64) -> String {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped")]
    let whole = s.clamp(0.0, 1e12).round() as u64;
    match whole {
        0..10 => format!("{s:.1} s"),
        10..120 => format!("{whole} s"),
        120..7_200 => format!("{} min {:02} s", whole / 60, whole % 60),
        7_200..172_800 => format!("{} h {:02} min", whole / 3_600, whole / 60 % 60),
        _ => format!("{} d {:02} h", whole / 86_400, whole / 3_600 % 24),
    }
}

/// A short duration in readable units.
pub(crate) fn brief(s: f64) -> String {
    match s * 1e3 {
        ms if ms < 9.95 => format!("{ms:.1} ms"),
        ms if ms < 9_950.0 => format!("{ms:.0} ms"),
        _ => seconds(s),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_well() {
        assert_eq!(bytes(999), "999 B");
        assert_eq!(bytes(12_345), "12.3 kB");
        assert_eq!(seconds(3_725.0), "62 min 05 s");
        assert_eq!([0.000_31, 0.012, 4.25, 70.0].map(brief), ["0.3 ms", "12 ms", "4250 ms", "70 s"]);
    }

    #[test]
    fn a_table_aligns_its_columns() {
        let mut out = Vec::new();
        table(&mut out, &["name", "n"], &[vec!["a".into(), "10".into()], vec!["long".into(), "7".into()]]).unwrap();
        assert_eq!(String::from_utf8(out).unwrap(), "name   n\na     10\nlong   7\n");
    }
}
