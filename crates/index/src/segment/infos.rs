//! What does the term dictionary say about each term?
//!
//! Its number of documents, and where its posting list and its positions begin, in the engine's
//! format: blocks of terms whose first is written out, and the others as differences to it, all
//! with as many bits as the largest of the block needs.

/// Terms per block.
const BLOCK: usize = 256;

/// One term. Its lists end where those of the next begin.
#[derive(Clone, Copy, Default)]
pub(super) struct TermFacts {
    pub(super) documents: u32,
    pub(super) postings: u64,
    pub(super) positions: u64,
}

/// The facts of all terms of a field.
#[derive(Default)]
pub(super) struct TermFactsWriter {
    heads: Vec<u8>,
    packed: Vec<u8>,
    block: Vec<TermFacts>,
}

impl TermFactsWriter {
    /// Adds the next term.
    pub(super) fn push(&mut self, facts: TermFacts) {
        if self.block.len() == BLOCK {
            self.close(facts);
        }
        self.block.push(facts);
    }

    /// Writes a block; `end` is where its last lists end.
    fn close(&mut self, end: TermFacts) {
        let Some((first, rest)) = self.block.split_first() else { return };
        let second = rest.first().unwrap_or(&end);
        let after = |facts: &TermFacts| (facts.postings - first.postings, facts.positions - first.positions);
        let (postings, positions) = after(&end);
        let most = rest.iter().map(|facts| facts.documents).max().unwrap_or(0);
        let sizes @ [of_documents, of_postings, of_positions] = [u64::from(most), postings, positions].map(bits);
        self.heads.extend_from_slice(&(self.packed.len() as u64).to_le_bytes());
        self.heads.extend_from_slice(&first.documents.to_le_bytes());
        for (begin, length) in [(first.postings, after(second).0), (first.positions, after(second).1)] {
            self.heads.extend_from_slice(&begin.to_le_bytes());
            self.heads.extend_from_slice(&u32::try_from(length).unwrap_or(u32::MAX).to_le_bytes());
        }
        self.heads.extend(sizes.map(|size| size as u8));
        let mut out = BitWriter { out: &mut self.packed, bits: 0, filled: 0 };
        for facts in rest {
            let (postings, positions) = after(facts);
            out.write(postings, of_postings);
            out.write(positions, of_positions);
            out.write(u64::from(facts.documents), of_documents);
        }
        out.write(postings, of_postings);
        out.write(positions, of_positions);
        out.finish();
        self.block.clear();
    }

    /// All of it, given where the last lists end and how many terms there are.
    pub(super) fn finish(mut self, end: TermFacts, terms: u64) -> Vec<u8> {
        self.close(end);
        let mut out = Vec::with_capacity(16 + self.heads.len() + self.packed.len());
        out.extend_from_slice(&(self.heads.len() as u64).to_le_bytes());
        out.extend_from_slice(&terms.to_le_bytes());
        out.extend_from_slice(&self.heads);
        out.extend_from_slice(&self.packed);
        out
    }
}

/// Bits that a number takes.
fn bits(number: u64) -> u32 {
    u64::BITS - number.leading_zeros()
}

/// Numbers of some bits each, lowest first.
struct BitWriter<'a> {
    out: &'a mut Vec<u8>,
    bits: u128,
    filled: u32,
}

impl BitWriter<'_> {
    fn write(&mut self, number: u64, size: u32) {
        self.bits |= u128::from(number) << self.filled;
        self.filled += size;
        if self.filled >= u64::BITS {
            self.out.extend_from_slice(&(self.bits as u64).to_le_bytes());
            self.bits >>= u64::BITS;
            self.filled -= u64::BITS;
        }
    }

    fn finish(self) {
        let bytes = self.filled.div_ceil(8) as usize;
        self.out.extend_from_slice(&self.bits.to_le_bytes()[..bytes]);
    }
}
