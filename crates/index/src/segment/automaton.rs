//! How do sorted terms become the engine's term dictionary?
//!
//! As a finite state transducer in the engine's format, which maps every term to its ordinal. The
//! engine's own builder accepts any outputs and looks every state up in a table of states with
//! lists of transitions; on texts with many words it takes a third of the time of indexing. Here
//! outputs are ordinals, so what a transition adds follows from the first term below each of its
//! two states, and a state with one transition is told from others by a single integer. Only such
//! states are shared: on real texts others hardly ever are equal.

use std::io::{self, Write};

/// The versions of the transducer's format, and of the dictionary's around it.
const FST_VERSION: u64 = 2;
const DICTIONARY_VERSION: u32 = 1;
const DICTIONARY_TYPE: u32 = 1;

/// The address of the state that is final and has no transitions, which is never written.
const END: u64 = 0;
/// An address that no state has.
const NOWHERE: u64 = 1;

/// Inputs that are stored within the byte of a state, each as its place here plus one.
const COMMON: &[u8; 63] = b"te/oasripcnw.hlm-du012g=:bf3y5&_4v9678k%?xCDASFIBEjPTzRNM+LOqHG";
const COMMON_CODES: [u8; 256] = {
    let (mut codes, mut at) = ([0; 256], 0);
    while at < COMMON.len() {
        codes[COMMON[at] as usize] = at as u8 + 1;
        at += 1;
    }
    codes
};

/// Kinds of states, in the upper two bits of their byte.
const ONE_NEXT: u8 = 0b1100_0000;
const ONE: u8 = 0b1000_0000;
const FINAL: u8 = 0b0100_0000;

/// The most transitions that are stored within the byte of a state, and that have no index.
const FEW_ARCS: usize = 63;
const UNINDEXED_ARCS: usize = 32;

/// Log2 of how many states are remembered to be shared.
const REMEMBERED: u32 = 15;

/// Bytes collected before they are written.
const PIECE: usize = 1 << 16;

/// A state to which transitions may still be added.
#[derive(Clone, Copy)]
struct OpenState {
    is_final: bool,
    /// The ordinal of the first term that leads through it.
    first: u64,
    /// Where its transitions begin.
    arcs: usize,
}

/// A transition to a state that is written.
#[derive(Clone, Copy)]
struct StateArc {
    input: u8,
    output: u64,
    to: u64,
}

/// A transducer under construction.
pub(super) struct TermAutomaton<W> {
    out: W,
    /// What is not written yet, and the number of bytes before.
    bytes: Vec<u8>,
    before: u64,
    terms: u64,
    last: Vec<u8>,
    /// The states of the last term, one more than it has letters.
    open: Vec<OpenState>,
    /// Their transitions, except those of the last term.
    arcs: Vec<StateArc>,
    /// The state that was written last.
    newest: u64,
    /// States with one transition: what they are, and where.
    known: Vec<(u64, u64)>,
}

impl<W: Write> TermAutomaton<W> {
    pub(super) fn new(out: W) -> Self {
        let mut bytes = Vec::with_capacity(2 * PIECE);
        bytes.extend_from_slice(&FST_VERSION.to_le_bytes());
        bytes.extend_from_slice(&0u64.to_le_bytes());
        Self {
            out,
            bytes,
            before: 0,
            terms: 0,
            last: Vec::new(),
            open: vec![OpenState { is_final: false, first: 0, arcs: 0 }],
            arcs: Vec::new(),
            newest: NOWHERE,
            known: vec![(0, END); 1 << REMEMBERED],
        }
    }

    /// Number of terms.
    pub(super) fn terms(&self) -> u64 {
        self.terms
    }

    /// Adds a term, which comes after all others.
    pub(super) fn insert(&mut self, term: &[u8]) -> io::Result<()> {
        let shared = self.last.iter().zip(term).take_while(|(a, b)| a == b).count();
        self.close_to(shared);
        self.last.truncate(shared);
        self.last.extend_from_slice(&term[shared..]);
        let new = OpenState { is_final: false, first: self.terms, arcs: self.arcs.len() };
        self.open.resize(term.len() + 1, new);
        if let Some(state) = self.open.last_mut() {
            state.is_final = true;
        }
        self.terms += 1;
        if self.bytes.len() >= PIECE { self.flush() } else { Ok(()) }
    }

    /// Writes the states of the last term beyond this one, last first.
    fn close_to(&mut self, depth: usize) {
        while self.open.len() > depth + 1 {
            let Some(state) = self.open.pop() else { return };
            let to = self.close(state);
            self.arcs.truncate(state.arcs);
            let from = self.open.len() - 1;
            self.arcs.push(StateArc { input: self.last[from], output: state.first - self.open[from].first, to });
        }
    }

    /// Writes a state, unless there is one like it; returns its address.
    fn close(&mut self, state: OpenState) -> u64 {
        match &self.arcs[state.arcs..] {
            [] if state.is_final => END,
            [arc] => {
                // What it adds to the ordinal follows: one if a term ends here, nothing otherwise.
                let key = arc.to << 9 | u64::from(arc.input) << 1 | u64::from(state.is_final);
                let slot = (key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (u64::BITS - REMEMBERED)) as usize;
                match self.known[slot] {
                    (known, at) if known == key && at != END => at,
                    _ => {
                        let at = self.write(state);
                        self.known[slot] = (key, at);
                        at
                    }
                }
            }
            _ => self.write(state),
        }
    }

    fn write(&mut self, state: OpenState) -> u64 {
        let (at, arcs) = (self.before + self.bytes.len() as u64, &self.arcs[state.arcs..]);
        match arcs {
            [arc] if !state.is_final => write_one(&mut self.bytes, at, *arc, self.newest),
            _ => write_any(&mut self.bytes, at, arcs, state.is_final),
        }
        self.newest = self.before + self.bytes.len() as u64 - 1;
        self.newest
    }

    fn flush(&mut self) -> io::Result<()> {
        self.before += self.bytes.len() as u64;
        self.out.write_all(&self.bytes)?;
        self.bytes.clear();
        Ok(())
    }

    /// Writes the rest, followed by what the dictionary says about the terms.
    pub(super) fn finish(mut self, facts: &[u8]) -> io::Result<()> {
        self.close_to(0);
        let root = self.open.pop().map_or(END, |root| self.close(root));
        self.bytes.extend_from_slice(&self.terms.to_le_bytes());
        self.bytes.extend_from_slice(&root.to_le_bytes());
        self.flush()?;
        self.out.write_all(facts)?;
        self.bytes.extend_from_slice(&(facts.len() as u64).to_le_bytes());
        self.bytes.extend_from_slice(&DICTIONARY_VERSION.to_le_bytes());
        self.bytes.extend_from_slice(&DICTIONARY_TYPE.to_le_bytes());
        self.flush()
    }
}

/// A state that is not final and has one transition, which adds nothing.
fn write_one(out: &mut Vec<u8>, at: u64, arc: StateArc, newest: u64) {
    let kind = if arc.to == newest {
        ONE_NEXT
    } else {
        let step = step(at, arc.to);
        let size = packed_size(step);
        pack(out, step, size);
        out.push(size << 4);
        ONE
    };
    let code = COMMON_CODES[usize::from(arc.input)];
    if code == 0 {
        out.push(arc.input);
    }
    out.push(kind | code);
}

/// Any other state.
fn write_any(out: &mut Vec<u8>, at: u64, arcs: &[StateArc], is_final: bool) {
    let step_size = arcs.iter().map(|arc| packed_size(step(at, arc.to))).max().unwrap_or(0);
    let most = arcs.iter().map(|arc| arc.output).max().unwrap_or(0);
    let output_size = if most == 0 { 0 } else { packed_size(most) };
    if output_size > 0 {
        // A term that ends here adds nothing.
        pack(out, 0, if is_final { output_size } else { 0 });
        arcs.iter().rev().for_each(|arc| pack(out, arc.output, output_size));
    }
    arcs.iter().rev().for_each(|arc| pack(out, step(at, arc.to), step_size));
    out.extend(arcs.iter().rev().map(|arc| arc.input));
    if arcs.len() > UNINDEXED_ARCS {
        let mut index = [u8::MAX; 256];
        for (place, arc) in arcs.iter().enumerate() {
            index[usize::from(arc.input)] = place as u8;
        }
        out.extend_from_slice(&index);
    }
    out.push(step_size << 4 | output_size);
    let few = u8::try_from(arcs.len()).ok().filter(|few| (1..=FEW_ARCS).contains(&usize::from(*few)));
    if few.is_none() {
        // One stands for 256, since one transition is never stored here.
        out.push(u8::try_from(arcs.len()).unwrap_or(1));
    }
    out.push(if is_final { FINAL } else { 0 } | few.unwrap_or(0));
}

/// How far back from its own beginning a state refers to another.
fn step(at: u64, to: u64) -> u64 {
    if to == END { 0 } else { at - to }
}

/// Bytes that a number takes, at least one.
fn packed_size(number: u64) -> u8 {
    (u64::BITS - (number | 1).leading_zeros()).div_ceil(8) as u8
}

fn pack(out: &mut Vec<u8>, number: u64, size: u8) {
    out.extend_from_slice(&number.to_le_bytes()[..usize::from(size)]);
}

#[cfg(test)]
mod tests {
    use super::super::infos::{TermFacts, TermFactsWriter};
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;
    use tantivy::directory::FileSlice;
    use tantivy::postings::TermInfo;
    use tantivy::termdict::{TermDictionary, TermDictionaryBuilder};

    /// What is said about the nth term.
    fn info(n: u64) -> TermInfo {
        let begin = |n: u64| (n * n / 3 + n) as usize;
        let documents = (n.wrapping_mul(0x9e37_79b9) % 1_000) as u32 + 1;
        TermInfo { doc_freq: documents, postings_range: begin(n)..begin(n + 1), positions_range: 0..0 }
    }

    fn facts(n: u64) -> TermFacts {
        let TermInfo { doc_freq, postings_range, .. } = info(n);
        TermFacts { documents: doc_freq, postings: postings_range.start as u64, positions: 0 }
    }

    fn by_us(terms: &BTreeSet<Vec<u8>>) -> Vec<u8> {
        let (mut out, mut told) = (Vec::new(), TermFactsWriter::default());
        let mut automaton = TermAutomaton::new(&mut out);
        for (term, n) in terms.iter().zip(0..) {
            automaton.insert(term).unwrap();
            told.push(facts(n));
        }
        let count = automaton.terms();
        automaton.finish(&told.finish(facts(count), count)).unwrap();
        out
    }

    fn by_the_engine(terms: &BTreeSet<Vec<u8>>) -> Vec<u8> {
        let mut builder = TermDictionaryBuilder::create(Vec::new()).unwrap();
        for (term, n) in terms.iter().zip(0..) {
            builder.insert(term, &info(n)).unwrap();
        }
        builder.finish().unwrap()
    }

    /// The engine reads what it would have read of its own, forwards and one by one.
    fn assert_read(terms: &BTreeSet<Vec<u8>>) {
        let (ours, theirs) = (by_us(terms), by_the_engine(terms));
        let [ours, theirs] = [ours, theirs].map(|bytes| TermDictionary::open(FileSlice::from(bytes)).unwrap());
        assert_eq!(ours.num_terms(), terms.len());
        let (mut one, mut other) = (ours.stream().unwrap(), theirs.stream().unwrap());
        while let Some((term, info)) = one.next() {
            assert_eq!(other.next(), Some((term, info)));
        }
        assert!(other.next().is_none());
        let mut term = Vec::new();
        for (known, n) in terms.iter().zip(0..) {
            assert_eq!(ours.get(known).unwrap(), Some(info(n)), "{known:?}");
            assert_eq!(ours.term_ord(known).unwrap(), Some(n));
            assert!(ours.ord_to_term(n, &mut term).unwrap() && term == *known, "{known:?}");
            let longer = [known.as_slice(), b"\xff"].concat();
            assert_eq!(ours.get(&longer).unwrap(), theirs.get(&longer).unwrap());
        }
    }

    fn word() -> impl Strategy<Value = Vec<u8>> {
        let ending = "[a-e]{0,9}(ing|ed|s|ation|)";
        prop_oneof![ending.prop_map(String::into_bytes), proptest::collection::vec(any::<u8>(), 0..4)]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(60))]
        #[test]
        fn any_terms_are_found_as_in_a_dictionary_of_the_engine(
            terms in proptest::collection::btree_set(word(), 0..700)
        ) {
            assert_read(&terms);
        }
    }

    #[test]
    fn states_with_every_input_and_dictionaries_of_one_term_are_read() {
        assert_read(&BTreeSet::new());
        assert_read(&BTreeSet::from([Vec::new()]));
        assert_read(&(0..=255).map(|byte| vec![byte]).collect());
        assert_read(&(0..70_000u64).map(|n| (n * 257).to_be_bytes().to_vec()).collect());
        for arcs in [2u8, 32, 33, 63, 64, 255] {
            assert_read(&(0..arcs).flat_map(|byte| [vec![7, byte], vec![7, byte, 0]]).collect());
        }
    }

    #[test]
    fn common_endings_are_stored_once() {
        let mixed =
            |n: u64| (n + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let word = |n: u64| -> Vec<u8> {
            let (stem, letters) = (mixed(n), 4 + mixed(n) % 6);
            let stem: String = (0..letters).map(|at| char::from(b'a' + (stem >> (7 * at) & 15) as u8)).collect();
            (stem + ["", "s", "ing", "ation", "ed"][(mixed(n) >> 33) as usize % 5]).into_bytes()
        };
        let terms: BTreeSet<Vec<u8>> = (0..50_000).map(word).collect();
        let (ours, theirs) = (by_us(&terms).len(), by_the_engine(&terms).len());
        assert!(ours * 10 < theirs * 11, "{ours} bytes instead of {theirs} for {} terms", terms.len());
        assert_read(&terms);
    }
}
