//! How does preformatted text read, and which language is it in?

use super::inline::longest_run;
use super::tree::{NodeId, ROOT};
use super::write::MarkdownWriter;
use crate::html::name::Tag;

/// How far up a highlighter may have written the language.
const REACH: usize = 4;

/// Prefixes of class names that are followed by the language.
const PREFIXES: &[&str] = &["language-", "lang-", "highlight-source-", "highlight-", "source-", "brush:"];

/// Class names that stand beside the language.
const COMPANIONS: &[&str] = &["sourcecode", "hljs", "prettyprint", "mw-geshi", "codehilite", "code-block", "chroma"];

/// Names of no language.
const NONE: &[&str] = &["default", "none", "text", "plain", "plaintext", "txt", "nohighlight", "notranslate"];

/// What some highlighters call languages, and what everybody calls them.
const ALIASES: &[(&str, &str)] =
    &[("python3", "python"), ("pycon3", "pycon"), ("c++", "cpp"), ("js", "javascript"), ("golang", "go")];

impl MarkdownWriter<'_> {
    /// Writes a fenced code block.
    pub(super) fn code_block(&mut self, id: NodeId) {
        let text = self.plain(id).replace("\r\n", "\n");
        let code = text.strip_prefix('\n').unwrap_or(&text).trim_end();
        if code.trim().is_empty() {
            return;
        }
        let fence = "`".repeat((longest_run(code, '`') + 1).max(3));
        let language = self.language(id).unwrap_or_default();
        self.next_tight = Some(false);
        self.write(&format!("{fence}{language}\n{code}\n{fence}"));
    }

    /// The language of a code block, from the classes of what it contains and what contains it.
    fn language(&self, id: NodeId) -> Option<String> {
        let inner = self.tree.children(id).find(|child| self.tree.tag(*child) == Some(Tag::Code));
        let mut outer = id;
        let around = std::iter::from_fn(|| {
            let here = outer;
            outer = self.tree.parent(outer);
            (here != ROOT).then_some(here)
        });
        let around: Vec<NodeId> = inner.into_iter().chain(around.take(REACH)).collect();
        around.into_iter().find_map(|element| {
            let given = ["data-lang", "data-language"].iter().find_map(|name| self.tree.attribute(element, name));
            given.and_then(|name| known(&name)).or_else(|| in_classes(&self.tree.attribute(element, "class")?))
        })
    }
}

fn in_classes(classes: &str) -> Option<String> {
    let classes = classes.to_ascii_lowercase().replace("brush: ", "brush:");
    let names = || classes.split_ascii_whitespace();
    let prefixed = names().find_map(|name| {
        let rest = PREFIXES.iter().find_map(|prefix| name.strip_prefix(prefix))?;
        known(rest.trim_end_matches(';'))
    });
    prefixed.or_else(|| {
        let beside = names().any(|name| COMPANIONS.contains(&name));
        let others = || names().filter(|name| !COMPANIONS.contains(name));
        if beside { others().find_map(known) } else { None }
    })
}

/// The name of a language as it is commonly written; `None` if it is none.
fn known(name: &str) -> Option<String> {
    let name = name.trim().to_ascii_lowercase();
    let plausible = (1..20).contains(&name.len())
        && name.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'#' | b'-'));
    if !plausible || NONE.contains(&name.as_str()) {
        return None;
    }
    let alias = ALIASES.iter().find(|(alias, _)| *alias == name);
    Some(alias.map_or(name, |(_, usual)| (*usual).to_owned()))
}
