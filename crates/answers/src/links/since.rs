//! Which links are new, lost or changed since a run?

use crate::{AnswerError, Collection, Result, Window};
use orb_page::{PageId, RunId};
use orb_store::{LinkChange, LinkChangeRow};
use std::ops::ControlFlow;

/// Which changes of links are wanted: all of them if none is set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LinkFilter {
    /// Links that are new.
    pub new: bool,
    /// Links that are lost.
    pub lost: bool,
    /// Links whose anchor text, rel or count changed.
    pub changed: bool,
}

impl LinkFilter {
    fn wants(self, change: LinkChange) -> bool {
        let all = self == Self::default();
        match change {
            LinkChange::New => all || self.new,
            LinkChange::Lost => all || self.lost,
            LinkChange::Changed => all || self.changed,
        }
    }
}

/// Calls back with the links that changed since a run, of all pages or of one, until `each` breaks
/// off.
///
/// There may be many: they are streamed, not collected.
pub fn links_since(
    collection: &Collection,
    (since, url): (RunId, Option<&str>),
    filter: LinkFilter,
    rows: Window,
    mut each: impl FnMut(&LinkChangeRow) -> ControlFlow<()>,
) -> Result<()> {
    let reader = collection.catalogue();
    let page = url.map(|url| collection.page(url)).transpose()?.map(|page| PageId(page.id));
    if reader.run(since)?.is_none() {
        return Err(AnswerError::Unknown(format!(
            "project {} has no run {}; orb sql … \"SELECT * FROM run\" lists them",
            collection.name(),
            since.0
        )));
    }
    let (mut skip, mut left) = (rows.offset, rows.limit);
    reader.link_changes(since, page, |row| {
        if left == 0 {
            return ControlFlow::Break(());
        }
        if !filter.wants(row.change) {
            return ControlFlow::Continue(());
        }
        if skip > 0 {
            skip -= 1;
            return ControlFlow::Continue(());
        }
        left -= 1;
        each(&row)
    })?;
    Ok(())
}
