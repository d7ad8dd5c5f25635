//! Which part of a list is wanted?

/// A part of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// Rows at most.
    pub limit: u64,
    /// Rows to leave out at the beginning.
    pub offset: u64,
}

impl Window {
    /// Everything.
    pub const ALL: Self = Self { limit: u64::MAX, offset: 0 };

    /// The same in the sizes of things in memory: limit and offset.
    pub(crate) fn sizes(self) -> (usize, usize) {
        let size = |n: u64| usize::try_from(n).unwrap_or(usize::MAX);
        (size(self.limit), size(self.offset))
    }

    /// The rows of a list that are wanted.
    pub(crate) fn of<T>(self, rows: impl IntoIterator<Item = T>) -> Vec<T> {
        let (limit, offset) = self.sizes();
        rows.into_iter().skip(offset).take(limit).collect()
    }
}
