//! How do sorted files become one sorted stream?
//!
//! One line of each is looked at, and the smallest goes next: memory is a line and a buffer a file.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::io::{self, BufRead};

/// Gives every line of the sources, without its line end, in the order of bytes; each source must be in that order.
pub(super) fn merge<R: BufRead>(mut sources: Vec<R>, mut each: impl FnMut(&[u8]) -> io::Result<()>) -> io::Result<()> {
    let mut heads = BinaryHeap::with_capacity(sources.len());
    for (i, source) in sources.iter_mut().enumerate() {
        heads.extend(next(source, Vec::new())?.map(|line| Reverse((line, i))));
    }
    while let Some(Reverse((line, i))) = heads.pop() {
        each(&line)?;
        heads.extend(next(&mut sources[i], line)?.map(|line| Reverse((line, i))));
    }
    Ok(())
}

/// The next line, in a buffer used before.
fn next(source: &mut impl BufRead, mut line: Vec<u8>) -> io::Result<Option<Vec<u8>>> {
    line.clear();
    if source.read_until(b'\n', &mut line)? == 0 {
        return Ok(None);
    }
    if line.last() == Some(&b'\n') {
        line.pop();
    }
    Ok(Some(line))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_all_sources_come_in_one_order() {
        let mut out = Vec::new();
        let sources: Vec<&[u8]> = vec![b"a\nd\n", b"", b"b\nc\nd\nz"];
        merge(sources, |line| {
            out.push(String::from_utf8(line.to_vec()).unwrap());
            Ok(())
        })
        .unwrap();
        assert_eq!(out, ["a", "b", "c", "d", "d", "z"]);
    }
}
