//! How do rows become the bytes of `COPY … (FORMAT binary)`?
//!
//! Written straight into one buffer: a batch has fifty thousand links, and a value that is boxed,
//! typed and dispatched for every field costs more than the row itself. PostgreSQL's text knows no
//! NUL, which is dropped.

use orb_page::{HostId, PageId};

const HEAD: &[u8] = b"PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0";

/// Rows of one table.
pub(crate) struct CopyRows {
    bytes: Vec<u8>,
    rows: u64,
}

impl Default for CopyRows {
    fn default() -> Self {
        Self { bytes: HEAD.to_vec(), rows: 0 }
    }
}

impl CopyRows {
    /// How many rows there are.
    pub(crate) fn len(&self) -> u64 {
        self.rows
    }

    /// Begins a row of this many fields.
    pub(crate) fn row(&mut self, fields: i16) -> &mut Self {
        self.rows += 1;
        self.bytes.extend_from_slice(&fields.to_be_bytes());
        self
    }

    /// All of it, with its end.
    pub(crate) fn finish(mut self) -> Vec<u8> {
        self.bytes.extend_from_slice(&(-1i16).to_be_bytes());
        self.bytes
    }

    fn field(&mut self, bytes: &[u8]) -> &mut Self {
        let length = i32::try_from(bytes.len()).unwrap_or(i32::MAX);
        self.bytes.extend_from_slice(&length.to_be_bytes());
        self.bytes.extend_from_slice(bytes);
        self
    }

    pub(crate) fn null(&mut self) -> &mut Self {
        self.bytes.extend_from_slice(&(-1i32).to_be_bytes());
        self
    }

    pub(crate) fn small(&mut self, n: impl Into<i16>) -> &mut Self {
        self.field(&n.into().to_be_bytes())
    }

    pub(crate) fn int(&mut self, n: i32) -> &mut Self {
        self.field(&n.to_be_bytes())
    }

    /// A count that PostgreSQL keeps in 32 bits with a sign.
    pub(crate) fn count(&mut self, n: u32) -> &mut Self {
        self.int(i32::try_from(n).unwrap_or(i32::MAX))
    }

    pub(crate) fn big(&mut self, n: i64) -> &mut Self {
        self.field(&n.to_be_bytes())
    }

    pub(crate) fn unsigned(&mut self, n: u64) -> &mut Self {
        self.big(n.cast_signed())
    }

    pub(crate) fn page(&mut self, page: PageId) -> &mut Self {
        self.unsigned(page.0)
    }

    pub(crate) fn host(&mut self, host: HostId) -> &mut Self {
        self.count(host.0)
    }

    pub(crate) fn real(&mut self, x: f32) -> &mut Self {
        self.field(&x.to_be_bytes())
    }

    pub(crate) fn double(&mut self, x: f64) -> &mut Self {
        self.field(&x.to_be_bytes())
    }

    pub(crate) fn text(&mut self, text: &str) -> &mut Self {
        if memchr::memchr(0, text.as_bytes()).is_some() {
            return self.field(text.replace('\0', "").as_bytes());
        }
        self.field(text.as_bytes())
    }

    pub(crate) fn blob(&mut self, bytes: &[u8]) -> &mut Self {
        self.field(bytes)
    }

    /// A value, or NULL.
    pub(crate) fn maybe<T>(&mut self, value: Option<T>, put: impl FnOnce(&mut Self, T) -> &mut Self) -> &mut Self {
        match value {
            Some(value) => put(self, value),
            None => self.null(),
        }
    }

    pub(crate) fn maybe_text(&mut self, text: Option<&str>) -> &mut Self {
        self.maybe(text, Self::text)
    }

    /// A text, or NULL where it is empty.
    pub(crate) fn filled(&mut self, text: &str) -> &mut Self {
        self.maybe((!text.is_empty()).then_some(text), Self::text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_is_as_postgresql_documents_it() {
        let mut rows = CopyRows::default();
        rows.row(4).small(-2i16).text("a\0b").null().filled("");
        assert_eq!(rows.len(), 1);
        let mut want = HEAD.to_vec();
        want.extend_from_slice(b"\0\x04\0\0\0\x02\xff\xfe\0\0\0\x02ab\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff");
        assert_eq!(rows.finish(), want);
    }
}
