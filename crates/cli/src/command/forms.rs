//! `orb inspect forms`: how are the forms of a page written as steps of a project file?

use crate::args::Common;
use crate::failure::CommandFailure;
use crate::out;
use anyhow::Context as _;
use orb_answers::{PageForms, inspect_forms};
use orb_crawl::look;
use orb_page::{FieldKind, Form, FormField};
use orb_project::Settings;
use orb_urls::{Canonicaliser, Rules};
use std::collections::HashSet;
use std::fmt::Write as _;
use std::io::Write as _;

/// Maximum values of a field that are listed.
const LISTED: usize = 12;

/// Lists the forms of a page on the web.
pub(super) fn of_url(common: &Common, url: &str, resolve: &[String]) -> Result<(), CommandFailure> {
    let mut settings = Settings::default();
    settings.urls = Rules { strip_session_ids: false, tidy_query: false, ..settings.urls };
    settings.fetch.resolve = resolve.to_vec();
    let address = Canonicaliser::new(settings.urls)
        .parse_seed(url)
        .map_err(|why| CommandFailure::Usage(format!("'{}' is not a URL: {why}", out::clip(url, 100))))?;
    // There need not be a home.
    let scratch = tempfile::tempdir().context("cannot make a temporary directory")?;
    let (url, document) = look(&settings, &address, scratch.path())?;
    told(common, &PageForms::of(url, document))
}

/// Lists the forms of a page in a file.
pub(super) fn of_file(common: &Common, bytes: &[u8], base: &str) -> Result<(), CommandFailure> {
    told(common, &inspect_forms(bytes, base))
}

fn told(common: &Common, page: &PageForms) -> Result<(), CommandFailure> {
    let PageForms { url, forms } = page;
    let mut stdout = out::stdout();
    if common.json {
        out::json(&mut stdout, page)?;
    } else if forms.is_empty() {
        writeln!(stdout, "# {} has no form", out::harmless(url))?;
    } else {
        for (n, form) in forms.iter().enumerate() {
            write!(stdout, "{}{}", if n > 0 { "\n" } else { "" }, step(url, n, form, forms.len()))?;
        }
    }
    Ok(stdout.flush()?)
}

/// A form as a step.
fn step(url: &str, n: usize, form: &Form, count: usize) -> String {
    let number = n + 1;
    let to = if form.action.is_empty() { "the page itself" } else { &form.action };
    let mut text = format!("# Form {number} of {count}: {} to {}\n", form.method, in_comment(to));
    let mut line = |parts: std::fmt::Arguments<'_>| {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{parts}");
    };
    line(format_args!("[[steps]]\nname = \"form {number}\"\nstart = [{}]\ncollect = false", quoted(url)));
    line(format_args!("# expect_selector = \"a.logout\"    what tells that it went well\n\n[steps.form]"));
    match (form.id.is_empty(), form.name.is_empty()) {
        (false, _) => line(format_args!("id = {}", quoted(&form.id))),
        (true, false) => line(format_args!("name = {}", quoted(&form.name))),
        _ => line(format_args!("position = {number}")),
    }
    line(format_args!("\n[steps.form.fields]"));
    let mut seen = HashSet::new();
    for field in form.fields.iter().filter(|f| !f.name.is_empty()) {
        let again = !seen.insert(field.name.as_str());
        line(format_args!("{}{}", if again { "# " } else { "" }, entry(field)));
    }
    text
}

/// A field as a line: one that a person fills in is set, the others are listed as comments.
fn entry(field: &FormField) -> String {
    let (key, value) = (quoted(&field.name), quoted(&field.value));
    let off = if field.disabled { ", out of use" } else { "" };
    match &field.kind {
        FieldKind::Hidden => format!("# {key} = {value}    hidden: sent as the page has it{off}"),
        FieldKind::Submit | FieldKind::Image => {
            format!("# {key} = true    a button to press; without it the first one counts{off}")
        }
        FieldKind::Button | FieldKind::Reset | FieldKind::File => {
            format!("# {key}: {} is not sent{off}", in_comment(field.kind.as_str()))
        }
        FieldKind::Password => format!("{key} = {{ env = \"PASSWORD\" }}    # the variable that holds it{off}"),
        FieldKind::Checkbox => format!("{key} = {}    # checkbox {value}{off}", field.checked),
        FieldKind::Radio => {
            let chosen = if field.checked { "" } else { "# " };
            format!("{chosen}{key} = {value}    # radio button{off}")
        }
        FieldKind::Select if field.multiple => {
            let chosen: Vec<String> = field.chosen.iter().map(|v| quoted(v)).collect();
            format!("{key} = [{}]    # of {}{off}", chosen.join(", "), offered(field))
        }
        FieldKind::Select => format!("{key} = {value}    # one of {}{off}", offered(field)),
        FieldKind::Text(kind) => format!("{key} = {value}    # {}{off}", in_comment(kind)),
    }
}

fn offered(field: &FormField) -> String {
    let shown: Vec<String> = field.options.iter().take(LISTED).map(|v| quoted(v)).collect();
    let more = if field.options.len() > LISTED { ", …" } else { "" };
    format!("{}{more}", shown.join(", "))
}

/// A TOML string on one line.
fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            c if c.is_control() => _ = write!(out, "\\u{:04X}", u32::from(c)),
            c => out.push(c),
        }
    }
    out + "\""
}

/// A text that cannot end its comment.
fn in_comment(text: &str) -> String {
    out::harmless(&out::clip(text, 200)).into_owned()
}
