//! How are bits written, lowest first, as DEFLATE requires?

/// A bit buffer. Capacity for the output must be reserved beforehand.
#[derive(Clone, Default)]
pub(super) struct BitBuffer {
    waiting: u64,
    count: u32,
    at: usize,
}

impl BitBuffer {
    /// Starts at the end of what is there.
    pub(super) fn begin(&mut self, out: &[u8]) {
        *self = Self { waiting: 0, count: 0, at: out.len() };
    }

    /// Adds bits; at most 56 between two calls of [`flush`](Self::flush).
    #[inline]
    pub(super) fn add(&mut self, bits: u64, count: u32) {
        self.waiting |= bits << self.count;
        self.count += count;
    }

    /// Writes complete bytes. There must be room for eight more than are written.
    #[inline]
    pub(super) fn flush(&mut self, out: &mut [u8]) {
        if let Some(room) = out[self.at..].first_chunk_mut() {
            *room = self.waiting.to_le_bytes();
        }
        self.at += (self.count / 8) as usize;
        self.waiting >>= self.count & !7;
        self.count &= 7;
    }

    /// Reserves room for this many bits, including flushes.
    pub(super) fn make_room(&self, bits: usize, out: &mut Vec<u8>) {
        out.resize(self.at + bits / 8 + 32, 0);
    }

    /// Pads the last byte and truncates the reserved room.
    pub(super) fn finish_byte(&mut self, out: &mut Vec<u8>) {
        self.make_room(64, out);
        let len = self.close(out);
        out.truncate(len);
    }

    /// Pads the last byte; returns the number of bytes.
    pub(super) fn close(&mut self, out: &mut [u8]) -> usize {
        self.count = self.count.next_multiple_of(8);
        self.flush(out);
        self.at
    }

    /// Writes whole bytes, after [`finish_byte`](Self::finish_byte).
    pub(super) fn bytes(&mut self, bytes: &[u8], out: &mut Vec<u8>) {
        out.extend_from_slice(bytes);
        self.at = out.len();
    }
}
