//! Are pages told apart that the rule was not changed for?
//!
//! Further families of shells and of pages that say something, made like those of `sorting.rs` and
//! after the rule was last changed. Whoever changes the rule because of them writes new ones.

use super::sorting::{PageMaker, number_of, told_apart};

/// Pages of each kind.
const PAGES: usize = 120;

impl PageMaker {
    /// A page that is empty without `/bundle.js`.
    fn later_shell(&mut self) -> String {
        let words = self.words(1, 2);
        let body = match self.below(6) {
            // Settings and translations for the script, and nothing to see.
            0 => {
                let texts = self.words(60, 200);
                format!("<x-shop></x-shop><script id=state type=application/json>{{\"texts\":\"{texts}\"}}</script>")
            }
            // Grey boxes where the page will be.
            1 => {
                let boxes =
                    "<li class=skeleton aria-hidden=true><span></span><span></span></li>".repeat(2 + self.below(9));
                format!("<div class=layout aria-busy=true><ul>{boxes}</ul></div>")
            }
            // A logo drawn in place, and a bar that runs.
            2 => format!(
                "<div id=splash><svg viewBox='0 0 9 9'><title>{words}</title><path d='M1 1L8 8'/></svg>\
                 <progress></progress></div><div id=main-view></div>"
            ),
            // Legacy desktops: a table as the frame of what a script writes.
            3 => "<table width=100% height=100%><tr><td id=north></td></tr><tr><td id=center></td></tr></table>"
                .to_owned(),
            // A banner about cookies, hidden until a script shows it, and a link past the menu.
            4 => {
                let text = self.words(8, 8);
                format!(
                    "<a class=skip href=#main>Skip to content</a><div id=cookies hidden>{text}</div><main id=main></main>"
                )
            }
            // The parts are asked for one by one.
            _ => "<div hx-get=/menu hx-trigger=load></div><turbo-frame id=page src=/part loading=lazy></turbo-frame>"
                .to_owned(),
        };
        let script = ["<script src=/bundle.js></script>", "<script type=module async src=\"/bundle.js\"></script>"];
        let script = script[self.below(2)];
        let asks = if self.one_in(3) { "<noscript>This page works with JavaScript only.</noscript>" } else { "" };
        format!("<!doctype html><html><head>{}</head><body>{asks}{body}{script}</body></html>", self.head())
    }

    /// A page that says everything by itself, and has a script all the same.
    fn later_told(&mut self) -> String {
        let title = format!("<h1>{}</h1>", self.words(2, 5));
        let body = match self.below(6) {
            0 => {
                let terms = 6 + self.below(20);
                let list: String =
                    (0..terms).map(|_| format!("<dt>{}<dd>{}", self.words(1, 2), self.words(6, 20))).collect();
                format!("{title}<dl>{list}</dl>")
            }
            1 => {
                let lines = 12 + self.below(30);
                format!("{title}<p>{}</p>", (0..lines).map(|_| self.words(5, 5) + "<br>").collect::<String>())
            }
            // What a server lists of a directory.
            2 => {
                let files = 5 + self.below(40);
                let list: String =
                    (0..files).map(|n| format!("<a href=\"f{n}.iso\">f{n}.iso</a>  2024-01-01  1G\n")).collect();
                format!("<h1>Index of /</h1><pre><a href=\"../\">../</a>\n{list}</pre>")
            }
            3 => {
                let figures = 4 + self.below(12);
                let figure =
                    |text: String| format!("<figure><img src=p.jpg alt=''><figcaption>{text}</figcaption></figure>");
                format!("{title}{}", (0..figures).map(|_| figure(self.words(6, 12))).collect::<String>())
            }
            // A post with everything else in a frame of its own.
            4 => format!("<article>{title}{}</article><iframe src=/comments></iframe>", self.paragraphs(2, 4)),
            // A timetable, whose cells are short.
            _ => {
                let rows = 8 + self.below(30);
                let row = |n: usize| format!("<tr><th>{}<td>{}:{:02}<td>{}", n, 5 + n % 18, n * 7 % 60, n * 31 % 97);
                let head = self.words(3, 3);
                format!(
                    "{title}<table><caption>{head}</caption>{}</table><p>{}</p>",
                    (0..rows).map(row).collect::<String>(),
                    self.words(20, 30)
                )
            }
        };
        let page = format!("<!DOCTYPE html><html><head>{}</head><body>{body}", self.head());
        page + "<script src=/menu.js defer></script></body></html>"
    }
}

/// The page of a host: those with even numbers are shells.
fn later_page_of(host: &str) -> String {
    let number = number_of(host);
    let mut maker = PageMaker::new(number as u64 + 770_077);
    if number.is_multiple_of(2) { maker.later_shell() } else { maker.later_told() }
}

#[test]
fn families_that_the_rule_was_not_changed_for_are_told_apart_too() {
    told_apart(later_page_of, PAGES);
}
