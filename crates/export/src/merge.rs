//! How do sorted files become one sorted stream?
//!
//! By a k-way merge: memory is one line and one buffer per file.

use orb_store::IndexLines;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::io;

/// Calls back with every line of the sources in byte order; each source must be sorted.
pub(super) fn merge(mut sources: Vec<IndexLines>, mut each: impl FnMut(&[u8]) -> io::Result<()>) -> io::Result<()> {
    let mut heads = BinaryHeap::with_capacity(sources.len());
    for (i, source) in sources.iter_mut().enumerate() {
        heads.extend(source.next().transpose()?.map(|line| Reverse((line, i))));
    }
    while let Some(Reverse((line, i))) = heads.pop() {
        each(&line)?;
        heads.extend(sources[i].next().transpose()?.map(|line| Reverse((line, i))));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::BufRead as _;

    #[test]
    fn lines_of_all_sources_come_in_one_order() {
        let mut out = Vec::new();
        let sources = [b"a\nd\n".as_slice(), b"", b"b\nc\nd\nz"];
        let sources = sources.map(|text| Box::new(io::BufReader::new(text).split(b'\n')) as IndexLines);
        merge(sources.into(), |line| {
            out.push(String::from_utf8(line.to_vec()).unwrap());
            Ok(())
        })
        .unwrap();
        assert_eq!(out, ["a", "b", "c", "d", "d", "z"]);
    }
}
