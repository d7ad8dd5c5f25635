//! Which part of a list is wanted?

/// A part of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// Maximum number of rows.
    pub limit: u64,
    /// Number of rows to skip.
    pub offset: u64,
}

impl Window {
    /// Everything.
    pub const ALL: Self = Self { limit: u64::MAX, offset: 0 };

    /// Limit and offset as `usize`.
    pub(crate) fn sizes(self) -> (usize, usize) {
        let size = |n: u64| usize::try_from(n).unwrap_or(usize::MAX);
        (size(self.limit), size(self.offset))
    }

    /// The wanted rows of a list.
    pub fn of<T>(self, rows: impl IntoIterator<Item = T>) -> Vec<T> {
        let (limit, offset) = self.sizes();
        rows.into_iter().skip(offset).take(limit).collect()
    }
}
