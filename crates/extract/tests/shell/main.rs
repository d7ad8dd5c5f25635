//! Are pages that need a browser told from those that do not?
//!
//! Three hundred of each, from templates after what frameworks and content systems write, filled in
//! at random from a seed. The rules were made by looking at half of the templates; the other half
//! is judged by itself.

mod shells;
mod statics;

use orb_extract::shell_signs;

/// Pages of each kind.
const PAGES: usize = 300;

/// The share that must be told right.
const RIGHT: f64 = 0.98;

/// A page made from a template.
pub(crate) type Template = fn(&mut Chance) -> String;

/// Draws by xorshift: the pages are the same in every run.
pub(crate) struct Chance(u64);

impl Chance {
    /// A number below `most`.
    pub(crate) fn below(&mut self, most: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % most as u64).unwrap_or(0)
    }

    /// One of these.
    pub(crate) fn one<'a>(&mut self, of: &[&'a str]) -> &'a str {
        of[self.below(of.len())]
    }

    /// So many words.
    pub(crate) fn words(&mut self, count: usize) -> String {
        const WORDS: [&str; 16] = [
            "river", "stone", "market", "letter", "garden", "winter", "engine", "harbour", "paper", "silver",
            "council", "report", "season", "island", "museum", "bridge",
        ];
        (0..count).map(|_| self.one(&WORDS)).collect::<Vec<_>>().join(" ")
    }

    /// A name as bundlers give it.
    pub(crate) fn hash(&mut self) -> String {
        (0..8).map(|_| char::from(b"0123456789abcdef"[self.below(16)])).collect()
    }

    /// So many links.
    pub(crate) fn links(&mut self, count: usize) -> String {
        (0..count).map(|n| format!("<a href=\"/{}/{n}\">{}</a>\n", self.hash(), self.words(2))).collect()
    }

    /// Scripts of the kinds that every site has.
    pub(crate) fn trackers(&mut self) -> String {
        let tag = self.hash();
        format!(
            "<script async src=\"https://tags.example/gtag/js?id=G-{tag}\"></script>\n<script>window.layer = window.layer || []; \
             function tag() {{ layer.push(arguments) }} tag('config', '{tag}');</script>\n"
        )
    }
}

/// The shares of shells and of other pages that were told right.
fn judged(templates: &[Template], is_shell: bool) -> f64 {
    let mut right = 0;
    for n in 0..PAGES {
        let mut chance = Chance(0x9e37_79b9_7f4a_7c15 ^ (n as u64 + 1).wrapping_mul(0xff51_afd7_ed55_8ccd));
        (0..5).for_each(|_| _ = chance.below(2));
        let page = templates[n % templates.len()](&mut chance);
        right += usize::from(shell_signs(page.as_bytes()).is_shell() == is_shell);
    }
    right as f64 / PAGES as f64
}

#[test]
fn shells_and_other_pages_are_told_apart() {
    for (what, templates, is_shell) in [
        ("shells that were looked at", shells::LOOKED_AT, true),
        ("shells that were not", shells::HELD_OUT, true),
        ("static pages that were looked at", statics::LOOKED_AT, false),
        ("static pages that were not", statics::HELD_OUT, false),
    ] {
        let right = judged(templates, is_shell);
        assert!(right >= RIGHT, "{what}: {right}");
    }
}
