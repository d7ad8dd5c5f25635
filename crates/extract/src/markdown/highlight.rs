//! Which language is a program in?
//!
//! Highlighters write it into classes and attributes of the element, of the `<code>` in it, or of
//! an element around it, each in a way of its own.

use super::tree::{NodeId, ROOT};
use super::write::MarkdownWriter;
use crate::html::name::Tag;

/// How far up a highlighter may have written the language.
const REACH: usize = 6;

/// Attributes that hold the language.
const GIVEN: &[&str] = &["data-lang", "data-language", "data-enlighter-language"];

/// An attribute that holds settings of a highlighter, the language among them.
const SETTINGS: &str = "data-syntaxhighlighter-params";

/// Prefixes of class names that are followed by the language.
const PREFIXES: &[&str] = &["language-", "lang-", "highlight-source-", "highlight-", "source-", "brush:"];

/// Class names that stand beside the language.
const COMPANIONS: &[&str] = &[
    "sourcecode",
    "hljs",
    "prettyprint",
    "mw-geshi",
    "codehilite",
    "code-block",
    "chroma",
    "syntaxhighlighter",
    "rust-example-rendered",
    "item-decl",
];

/// What is a language wherever it stands alone as a class of a program.
const LANGUAGES: &[&str] = &[
    "bash",
    "c++",
    "clojure",
    "cmake",
    "console",
    "cpp",
    "csharp",
    "css",
    "dart",
    "diff",
    "dockerfile",
    "elixir",
    "elm",
    "erlang",
    "fortran",
    "fsharp",
    "go",
    "golang",
    "graphql",
    "groovy",
    "haskell",
    "hcl",
    "html",
    "http",
    "ini",
    "java",
    "javascript",
    "js",
    "json",
    "jsx",
    "julia",
    "kotlin",
    "latex",
    "less",
    "lisp",
    "lua",
    "makefile",
    "markdown",
    "matlab",
    "nginx",
    "nix",
    "ocaml",
    "pascal",
    "perl",
    "php",
    "powershell",
    "prolog",
    "protobuf",
    "pycon",
    "python",
    "python3",
    "ruby",
    "rust",
    "scala",
    "scheme",
    "scss",
    "sh",
    "shell",
    "sql",
    "swift",
    "tcl",
    "terraform",
    "toml",
    "ts",
    "tsx",
    "typescript",
    "vbnet",
    "xml",
    "yaml",
    "yml",
    "zig",
];

/// Names of no language.
const NONE: &[&str] =
    &["default", "none", "text", "plain", "plaintext", "txt", "nohighlight", "notranslate", "rouge", "line-numbers"];

/// What some highlighters call languages, and what everybody calls them.
const ALIASES: &[(&str, &str)] = &[
    ("python3", "python"),
    ("ipython3", "python"),
    ("ipython", "python"),
    ("pycon3", "pycon"),
    ("c++", "cpp"),
    ("js", "javascript"),
    ("golang", "go"),
    ("phpcode", "php"),
];

impl MarkdownWriter<'_> {
    /// The language of a code block, from what it contains and what contains it.
    pub(super) fn language(&self, id: NodeId) -> Option<String> {
        let inner = self.tree.children(id).find(|child| self.tree.tag(*child) == Some(Tag::Code));
        let mut outer = id;
        let around = std::iter::from_fn(|| {
            let here = outer;
            outer = self.tree.parent(outer);
            (here != ROOT).then_some(here)
        });
        let around: Vec<NodeId> = around.take(REACH).collect();
        let own = inner.into_iter().chain(around.first().copied());
        own.clone().find_map(|element| self.own_language(element)).or_else(|| {
            let said = around.iter().skip(1).find_map(|element| self.given_language(*element));
            said.or_else(|| own.clone().find_map(|element| self.bare_language(element)))
        })
    }

    /// The language that an element says in a way that only highlighters use.
    pub(super) fn own_language(&self, element: NodeId) -> Option<String> {
        let lang = || self.tree.short_attribute(element, "lang").filter(|name| is_language(name));
        self.given_language(element).or_else(|| known(&lang()?))
    }

    fn given_language(&self, element: NodeId) -> Option<String> {
        let given = GIVEN.iter().find_map(|name| self.tree.short_attribute(element, name));
        let settings = || in_classes(&self.tree.short_attribute(element, SETTINGS)?);
        let classes = || in_classes(&self.tree.short_attribute(element, "class")?);
        given.and_then(|name| known(&name)).or_else(classes).or_else(settings)
    }

    /// The language that is a class of its own.
    fn bare_language(&self, element: NodeId) -> Option<String> {
        let classes = self.tree.short_attribute(element, "class")?;
        classes.split_ascii_whitespace().find(|name| is_language(name)).and_then(known)
    }
}

fn is_language(name: &str) -> bool {
    LANGUAGES.iter().any(|language| name.trim().eq_ignore_ascii_case(language))
}

fn in_classes(classes: &str) -> Option<String> {
    let classes = classes.to_ascii_lowercase().replace("brush: ", "brush:");
    let names = || classes.split_ascii_whitespace();
    let prefixed = names().find_map(|name| {
        let rest = PREFIXES.iter().find_map(|prefix| name.strip_prefix(prefix))?;
        known(rest.trim_end_matches(';'))
    });
    // Notebooks write `hl-python`, and so do others for colours.
    let notebook =
        || names().find_map(|name| name.strip_prefix("hl-").filter(|name| is_language(name) || *name == "ipython3"));
    prefixed.or_else(|| notebook().and_then(known)).or_else(|| {
        let beside = names().any(|name| COMPANIONS.contains(&name));
        let others = || names().filter(|name| !COMPANIONS.contains(name));
        if beside { others().find_map(known) } else { names().find(|name| *name == "phpcode").and_then(known) }
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
