//! Which links become arcs?

use orb_page::{LinkKind, PageId};
use serde::{Deserialize, Serialize};

/// Which links become arcs of the graph. Those that do not are kept apart, for `who points here` alone.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GraphOptions {
    /// The kinds that do, each once.
    pub kinds: Vec<LinkKind>,
    /// Links marked `nofollow` do, too.
    pub nofollow: bool,
    /// Links of a page to itself do, too.
    pub self_loops: bool,
    /// Links that are no longer there do, too.
    pub gone: bool,
}

/// The kinds by which a reader gets from one page to another: a click, a frame, or being sent on.
const NAVIGATION: [LinkKind; 5] = [LinkKind::A, LinkKind::Area, LinkKind::Frame, LinkKind::Redirect, LinkKind::Refresh];

impl Default for GraphOptions {
    fn default() -> Self {
        Self { kinds: NAVIGATION.to_vec(), nofollow: true, self_loops: false, gone: false }
    }
}

/// A link as the graph looks at it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SeenLink {
    /// The page it is on.
    pub src: PageId,
    /// The page it points to.
    pub dst: PageId,
    /// By what it points.
    pub kind: LinkKind,
    /// Whether it is marked `nofollow`.
    pub nofollow: bool,
    /// Whether it is no longer there.
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
