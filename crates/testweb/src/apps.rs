//! Which pages are empty without their scripts?
//!
//! Three small single-page applications, as React, Vue and Svelte build them: one HTML file for
//! every address, a mount point, a script with a router, data by requests. Every page exists twice:
//! as the shell that a server sends, and as what a browser makes of it, which is known here.

use std::collections::BTreeSet;

/// Number of items that an application shows.
pub const APP_ITEMS: u32 = 12;

/// Items of one answer where the list grows.
const STEP: u32 = 4;

/// What the application is built like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WebApp {
    /// A module, a virtual tree, `fetch`.
    React,
    /// A classic script, a second chunk, XHR, a rewritten address.
    Vue,
    /// Shadow trees, and a list that grows as it is scrolled.
    Svelte,
}

impl WebApp {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::React, Self::Vue, Self::Svelte];

    /// Media type and body for a path with its query; `None` if there is nothing.
    pub fn answer(self, target: &str) -> Option<(&'static str, String)> {
        self.answer_among(APP_ITEMS, target)
    }

    /// The same of an application with this many items.
    pub fn answer_among(self, items: u32, target: &str) -> Option<(&'static str, String)> {
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        if let Some(name) = path.strip_prefix("/assets/") {
            return self.script(name).map(|text| ("text/javascript", text.to_owned()));
        }
        if let Some(name) = path.strip_prefix("/api/") {
            return data(items, name, query).map(|text| ("application/json", text));
        }
        let item = path.strip_prefix("/items/").and_then(|number| number.parse().ok());
        let is_page = matches!(path, "/" | "/about") || item.is_some_and(|number| (1..=items).contains(&number));
        is_page.then(|| ("text/html; charset=utf-8", self.shell().to_owned()))
    }

    /// The paths of its pages.
    pub fn paths() -> BTreeSet<String> {
        let items = (1..=APP_ITEMS).map(|n| format!("/items/{n}"));
        ["/", "/about"].into_iter().map(str::to_owned).chain(items).collect()
    }

    /// The links of a page, as people see them.
    pub fn links(path: &str) -> BTreeSet<String> {
        let menu = ["/".to_owned(), "/about".to_owned()].into_iter();
        let own: Vec<String> = match path.strip_prefix("/items/").and_then(|n| n.parse::<u32>().ok()) {
            Some(n) => (n + 1..=APP_ITEMS).take(1).map(|next| format!("/items/{next}")).collect(),
            None if path == "/" => (1..=APP_ITEMS).map(|n| format!("/items/{n}")).collect(),
            None => Vec::new(),
        };
        menu.chain(own).collect()
    }

    /// The title that a page gets.
    pub fn title(path: &str) -> String {
        match path {
            "/" => "All items".to_owned(),
            "/about" => "About".to_owned(),
            item => format!("Item number {}", item.trim_start_matches("/items/")),
        }
    }

    fn shell(self) -> &'static str {
        match self {
            Self::React => {
                "<!doctype html><html lang=en><head><meta charset=utf-8><title>App</title>\
                 <link rel=icon href=/favicon.ico></head><body><noscript>You need to enable JavaScript to run this app.</noscript>\
                 <div id=\"root\"></div><script type=\"module\" src=\"/assets/react.js\"></script></body></html>"
            }
            Self::Vue => {
                "<!doctype html><html lang=en><head><meta charset=utf-8><title>App</title></head><body>\
                 <div id=app></div><script src=/assets/vue.js></script></body></html>"
            }
            Self::Svelte => {
                "<!doctype html><html lang=en><head><meta charset=utf-8><title>App</title>\
                 <link rel=modulepreload href=/assets/svelte.js></head><body><div id=\"svelte\"></div>\
                 <script type=module src=/assets/svelte.js></script></body></html>"
            }
        }
    }

    fn script(self, name: &str) -> Option<&'static str> {
        match (self, name) {
            (Self::React, "react.js") => Some(include_str!("../apps/react.js")),
            (Self::Vue, "vue.js") => Some(include_str!("../apps/vue.js")),
            (Self::Vue, "list.js") => Some(include_str!("../apps/list.js")),
            (Self::Svelte, "svelte.js") => Some(include_str!("../apps/svelte.js")),
            _ => None,
        }
    }
}

/// What a script is told: all items, some of them, or one.
fn data(items: u32, name: &str, query: &str) -> Option<String> {
    let item = |n: u32| {
        let next = if n < items { (n + 1).to_string() } else { "null".to_owned() };
        let text = format!("What a script has to say about the {n}th thing of this application, at some length.");
        format!("{{\"id\":{n},\"name\":\"Item number {n}\",\"text\":\"{text}\",\"next\":{next}}}")
    };
    if name == "items.json" {
        let from = query.strip_prefix("from=").and_then(|from| from.parse::<u32>().ok());
        let shown = from.map_or(1..=items, |from| from + 1..=items.min(from + STEP));
        return Some(format!("[{}]", shown.map(item).collect::<Vec<_>>().join(",")));
    }
    let number = name.strip_prefix("items/")?.strip_suffix(".json")?.parse().ok()?;
    (1..=items).contains(&number).then(|| item(number))
}
