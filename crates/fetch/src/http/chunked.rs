//! Where is the content between the chunk frames? (RFC 9112, 7.1)
//!
//! Marks the ranges of content in wire bytes that arrive piece by piece, and copies nothing.
//! Unreasonably long extensions or trailers break the framing, so a hostile server cannot make us
//! read for ever.

use std::ops::Range;

/// Maximum length of a line with a chunk's size and extensions.
const LONGEST_LINE: usize = 4 * 1024;
/// Maximum length of all trailers together.
const TRAILERS: usize = 64 * 1024;

/// A parser of chunked framing.
#[derive(Debug)]
pub(super) struct Dechunker {
    state: ChunkState,
    /// How many bytes of content may still come.
    room: u64,
    /// Length of the current line, or of the trailers, so far.
    line: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ChunkState {
    /// In the digits of a size; `true` once there was one.
    Size(u64, bool),
    /// After the digits, up to the newline.
    Extension(u64),
    /// In the content.
    Data(u64),
    /// After the content, up to the newline.
    DataEnd,
    /// In the trailers; whether the line is empty so far.
    Trailers(bool),
    Done,
}

/// The state after a piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ChunkProgress {
    /// The whole piece belongs to the body and more is to come.
    More,
    /// The body ended after this many bytes of the piece.
    Done(usize),
    /// The limit was reached after this many bytes of the piece.
    Full(usize),
    /// The framing is invalid from this offset of the piece.
    Broken(usize),
}

impl Dechunker {
    /// A parser that accepts at most `room` bytes of content.
    pub(super) const fn new(room: u64) -> Self {
        Self { state: ChunkState::Size(0, false), room, line: 0 }
    }

    /// Parses one more piece and reports the ranges of content in it.
    pub(super) fn feed(&mut self, piece: &[u8], mut content: impl FnMut(Range<usize>)) -> ChunkProgress {
        let mut at = 0;
        while at < piece.len() {
            if let ChunkState::Data(left) = self.state {
                let here = usize::try_from(left.min(self.room)).unwrap_or(usize::MAX).min(piece.len() - at);
                if here > 0 {
                    content(at..at + here);
                }
                at += here;
                self.room -= here as u64;
                self.state =
                    if left == here as u64 { ChunkState::DataEnd } else { ChunkState::Data(left - here as u64) };
                if self.room == 0 && self.state != ChunkState::DataEnd {
                    return ChunkProgress::Full(at);
                }
                continue;
            }
            let Some(next) = self.step(piece[at]) else { return ChunkProgress::Broken(at) };
            self.state = next;
            at += 1;
            if self.state == ChunkState::Done {
                return ChunkProgress::Done(at);
            }
        }
        ChunkProgress::More
    }

    /// The state after one byte of framing.
    fn step(&mut self, byte: u8) -> Option<ChunkState> {
        self.line += 1;
        let longest = if matches!(self.state, ChunkState::Trailers(_)) { TRAILERS } else { LONGEST_LINE };
        if self.line > longest {
            return None;
        }
        match (self.state, byte) {
            (ChunkState::Size(size, _), b'0'..=b'9' | b'a'..=b'f' | b'A'..=b'F') => {
                let digit = char::from(byte).to_digit(16)?;
                Some(ChunkState::Size(size.checked_mul(16)?.checked_add(u64::from(digit))?, true))
            }
            (ChunkState::Size(size, true), b'\n') => Some(self.after_size(size)),
            (ChunkState::Size(size, true), b'\r' | b';' | b' ' | b'\t') => Some(ChunkState::Extension(size)),
            (ChunkState::Extension(size), b'\n') => Some(self.after_size(size)),
            (state @ ChunkState::Extension(_), _) => Some(state),
            (ChunkState::DataEnd, b'\r') => Some(ChunkState::DataEnd),
            (ChunkState::DataEnd, b'\n') => {
                self.line = 0;
                Some(ChunkState::Size(0, false))
            }
            (ChunkState::Trailers(true), b'\n') => Some(ChunkState::Done),
            (ChunkState::Trailers(_), b'\n') => Some(ChunkState::Trailers(true)),
            (state @ ChunkState::Trailers(_), b'\r') => Some(state),
            (ChunkState::Trailers(_), _) => Some(ChunkState::Trailers(false)),
            _ => None,
        }
    }

    fn after_size(&mut self, size: u64) -> ChunkState {
        self.line = 0;
        if size == 0 { ChunkState::Trailers(true) } else { ChunkState::Data(size) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Content and progress after feeding the pieces in turn.
    fn read(pieces: &[&[u8]], room: u64) -> (Vec<u8>, ChunkProgress) {
        let (mut out, mut reader) = (Vec::new(), Dechunker::new(room));
        for piece in pieces {
            match reader.feed(piece, |r| out.extend_from_slice(&piece[r])) {
                ChunkProgress::More => (),
                end => return (out, end),
            }
        }
        (out, ChunkProgress::More)
    }

    #[test]
    fn contents_are_found_between_frames_extensions_and_trailers() {
        let wire = b"5\r\nhello\r\n6;name=value\r\n world\r\n0\r\nX-T: y\r\n\r\nnext";
        assert_eq!(read(&[wire], 99), (b"hello world".to_vec(), ChunkProgress::Done(wire.len() - 4)));
        assert_eq!(read(&[b"2\nab\n0\n\n"], 99), (b"ab".to_vec(), ChunkProgress::Done(8)));
        assert_eq!(read(&[b"00A \r\n0123456789\r\n0\r\n\r\n"], 99).0, b"0123456789");
    }

    #[test]
    fn what_is_no_frame_breaks_where_it_stands() {
        assert_eq!(read(&[b"2\r\nab\r\nzz"], 99), (b"ab".to_vec(), ChunkProgress::Broken(7)));
        assert_eq!(read(&[b"2\r\nabc"], 99), (b"ab".to_vec(), ChunkProgress::Broken(5)));
        assert_eq!(read(&[b"\r\n"], 99), (vec![], ChunkProgress::Broken(0)));
        assert_eq!(read(&[b"fffffffffffffffff\r\n"], 99).1, ChunkProgress::Broken(16));
        assert_eq!(read(&[b"-1\r\n"], 99).1, ChunkProgress::Broken(0));
    }

    #[test]
    fn endless_extensions_and_trailers_break() {
        let extension = [b"1;", vec![b'x'; LONGEST_LINE].as_slice()].concat();
        assert!(matches!(read(&[&extension], 99).1, ChunkProgress::Broken(_)));
        let trailers = [b"0\r\n", b"a: b\r\n".repeat(TRAILERS).as_slice()].concat();
        assert!(matches!(read(&[&trailers], 99).1, ChunkProgress::Broken(_)));
    }

    #[test]
    fn the_room_ends_inside_a_chunk() {
        assert_eq!(read(&[b"a\r\n0123456789\r\n"], 4), (b"0123".to_vec(), ChunkProgress::Full(7)));
        assert_eq!(read(&[b"4\r\n0123\r\n0\r\n\r\n"], 4), (b"0123".to_vec(), ChunkProgress::Done(14)));
        assert_eq!(read(&[b"4\r\n0123\r\n1\r\nx"], 4), (b"0123".to_vec(), ChunkProgress::Full(12)));
    }

    proptest! {
        #[test]
        fn framing_round_trips_however_it_is_cut(chunks in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 1..40), 0..8), size in 1_usize..20) {
            let mut wire = Vec::new();
            for chunk in &chunks {
                wire.extend_from_slice(format!("{:x}\r\n", chunk.len()).as_bytes());
                wire.extend_from_slice(chunk);
                wire.extend_from_slice(b"\r\n");
            }
            wire.extend_from_slice(b"0\r\n\r\n");
            let pieces: Vec<_> = wire.chunks(size).collect();
            let (content, end) = read(&pieces, u64::MAX);
            prop_assert_eq!(content, chunks.concat());
            prop_assert!(matches!(end, ChunkProgress::Done(_)));
        }

        #[test]
        fn no_bytes_break_the_dechunker(bytes: Vec<u8>, room in 0_u64..50) {
            prop_assert!(read(&[&bytes], room).0.len() as u64 <= room);
        }
    }
}
