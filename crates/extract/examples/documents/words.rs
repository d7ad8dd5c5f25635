//! Which words are in a text, and how many do two texts share?

use std::collections::HashMap;

/// The words of a text with their counts. Characters of scripts without spaces are words.
#[derive(Debug, Default)]
pub(crate) struct Words {
    counts: HashMap<String, usize>,
    total: usize,
    other: usize,
}

impl Words {
    /// The words of a text.
    pub(crate) fn of(text: &str) -> Self {
        let mut words = Self::default();
        let mut word = String::new();
        let text = text.replace('\u{FB01}', "fi").replace('\u{FB02}', "fl").replace('\u{FB00}', "ff");
        for c in text.chars().flat_map(char::to_lowercase) {
            if is_unspaced(c) {
                words.add(&mut word);
                word.push(c);
                words.add(&mut word);
            } else if c.is_alphanumeric() {
                word.push(c);
            } else {
                words.add(&mut word);
            }
        }
        words.add(&mut word);
        words
    }

    fn add(&mut self, word: &mut String) {
        if !word.is_empty() {
            self.total += 1;
            self.other += usize::from(word.chars().any(|c| c >= '\u{590}' && c.is_alphabetic() && c != '\u{FB01}'));
            *self.counts.entry(std::mem::take(word)).or_default() += 1;
        }
    }

    /// How many there are.
    pub(crate) fn count(&self) -> usize {
        self.total
    }

    /// How many two texts have in common, each as often as in both.
    pub(crate) fn common(&self, other: &Self) -> usize {
        let both = |(word, count): (&String, &usize)| other.counts.get(word).map_or(0, |theirs| *theirs.min(count));
        self.counts.iter().map(both).sum()
    }

    /// Whether most of it is in another script than Latin, Greek or Cyrillic.
    pub(crate) fn is_other(&self) -> bool {
        self.other * 3 > self.total
    }
}

fn is_unspaced(c: char) -> bool {
    matches!(c, '\u{2E80}'..='\u{9FFF}' | '\u{AC00}'..='\u{D7AF}' | '\u{F900}'..='\u{FAFF}' | '\u{20000}'..='\u{3FFFF}')
}
