//! How important is a page that is only known from a link?
//!
//! For best-first order. Without a topic, pages near the seeds and with short paths go first. With
//! a topic, the share of its words that occur in the anchor text and URL has the same weight
//! (focused crawling in its simplest form).

use orb_urls::Address;

/// The words that make a page important.
#[derive(Clone, Debug, Default)]
pub(crate) struct Topic {
    words: Vec<String>,
}

impl Topic {
    /// A topic with these words.
    pub(crate) fn new(words: &[String]) -> Self {
        Self { words: words.iter().map(|w| w.to_lowercase()).collect() }
    }

    /// From 0 to 1.
    pub(crate) fn priority(&self, depth: u32, target: &Address, anchor: &str) -> f32 {
        let segments = target.path().bytes().filter(|b| *b == b'/').count() + usize::from(target.query().is_some());
        #[expect(clippy::cast_precision_loss, reason = "small numbers")]
        let near = 0.5 / (1.0 + depth as f32) + 0.5 / segments.max(1) as f32;
        if self.words.is_empty() {
            return near;
        }
        let text = format!("{anchor} {}", target.as_str()).to_lowercase();
        let hits = self.words.iter().filter(|w| text.contains(w.as_str())).count();
        #[expect(clippy::cast_precision_loss, reason = "small numbers")]
        let share = hits as f32 / self.words.len() as f32;
        near / 2.0 + share / 2.0
    }
}
