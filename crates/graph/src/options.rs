//! Which links become arcs?

use orb_page::{LinkKind, PageId};
use serde::{Deserialize, Serialize};

/// Which links become arcs of the graph. The others are kept separately, for backlink queries only.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GraphOptions {
    /// The link kinds that do, without duplicates.
    pub kinds: Vec<LinkKind>,
    /// Whether `nofollow` links do.
    pub nofollow: bool,
    /// Whether self-links do.
    pub self_loops: bool,
    /// Whether links that have disappeared do.
    pub gone: bool,
}

/// The kinds by which a reader gets from one page to another: a click, a frame, or a redirect.
const NAVIGATION: [LinkKind; 5] = [LinkKind::A, LinkKind::Area, LinkKind::Frame, LinkKind::Redirect, LinkKind::Refresh];

impl Default for GraphOptions {
    fn default() -> Self {
        Self { kinds: NAVIGATION.to_vec(), nofollow: true, self_loops: false, gone: false }
    }
}

/// A link as the graph sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SeenLink {
    /// The page it is on.
    pub src: PageId,
    /// The page it points to.
    pub dst: PageId,
    /// Its kind.
    pub kind: LinkKind,
    /// Whether it is marked `nofollow`.
    pub nofollow: bool,
    /// Whether it has disappeared from the page.
    pub gone: bool,
}

impl GraphOptions {
    /// Whether a link becomes an arc.
    pub(crate) fn takes(&self, link: &SeenLink) -> bool {
        (self.nofollow || !link.nofollow)
            && (self.gone || !link.gone)
            && (self.self_loops || link.src != link.dst)
            && self.kinds.contains(&link.kind)
    }
}
