//! How much is read of what two other programs agree on?
//!
//! No program is right about every document. Where two that know nothing of each other find nearly
//! the same words, those that both find are as good as the truth.

use crate::oracle::{JudgedFormat, tika};
use crate::verdicts::MeasuredTargets;
use crate::words::Words;
use orb_extract::{Content, extract};
use std::path::{Path, PathBuf};

/// How much of the larger text must be in the other one.
const AGREEMENT: f64 = 0.9;
/// Files with fewer words than this say nothing about shares.
const MIN_WORDS: usize = 5;
/// Recall and precision, as means over the files.
const WORDS: f64 = 0.97;
/// The same of scripts whose words are not divided by spaces or go from right to left.
const OTHER_WORDS: f64 = 0.90;

/// Sums over files: how many, and recall and precision of each.
#[derive(Debug, Default)]
struct AgreedSums {
    files: usize,
    recall: f64,
    precision: f64,
    /// Words in common, words of the judges, words of ours.
    words: [usize; 3],
}

/// Judges files below a directory, of which Tika's answers are in another.
pub(crate) fn judge(
    format: &JudgedFormat,
    files: &[&PathBuf],
    places: (&Path, &Path),
    worst: usize,
    targets: &mut MeasuredTargets,
) {
    let (mut latin, mut other) = (AgreedSums::default(), AgreedSums::default());
    let mut ranking: Vec<(f64, String)> = Vec::new();
    let mut apart = 0;
    for file in files {
        let second = file.strip_prefix(places.0).ok().and_then(|name| tika(places.1, name));
        let (Some(first), Some(second)) = ((format.text)(file), second) else { continue };
        let (first, second) = (Words::of(&first), Words::of(&second));
        let wanted = first.shared(&second);
        if wanted.count() < MIN_WORDS {
            continue;
        }
        if (wanted.count() as f64) < AGREEMENT * first.count().max(second.count()) as f64 {
            apart += 1;
            continue;
        }
        let Ok(bytes) = std::fs::read(file) else { continue };
        let content = Content { bytes: &bytes, mime: Some(format.mime), charset: None, url: "http://a.example/" };
        let found = Words::of(&extract(&content).text);
        let common = found.common(&wanted);
        let sums = if first.is_other() { &mut other } else { &mut latin };
        let (recall, precision) = sums.add(common, wanted.count(), found.count());
        let missing: Vec<&str> = wanted.missing_in(&found).into_iter().take(8).map(|word| word.0).collect();
        let line = format!("recall {recall:.3} precision {precision:.3} {} {}", file.display(), missing.join(" "));
        ranking.push((recall.min(precision), line));
    }
    latin.print("words on which both judges agree (Latin, Greek, Cyrillic)");
    other.print("words on which both judges agree (CJK, right to left, Indic)");
    latin.verdicts(&format!("{}: words", format.name), WORDS, targets);
    other.verdicts(&format!("{}: words (CJK, right to left, Indic)", format.name), OTHER_WORDS, targets);
    println!("  the judges do not agree on {apart} files");
    ranking.sort_by(|a, b| a.0.total_cmp(&b.0));
    ranking.iter().take(worst).for_each(|(_, line)| println!("    {line}"));
}

impl AgreedSums {
    /// Adds a file; its recall and precision.
    fn add(&mut self, common: usize, wanted: usize, found: usize) -> (f64, f64) {
        let share = |all: usize| common as f64 / all.max(1) as f64;
        let (recall, precision) = (share(wanted), share(found));
        self.files += 1;
        self.recall += recall;
        self.precision += precision;
        self.words = [self.words[0] + common, self.words[1] + wanted, self.words[2] + found];
        (recall, precision)
    }

    fn verdicts(&self, what: &str, wanted: f64, targets: &mut MeasuredTargets) {
        if self.files == 0 {
            return targets.skipped(what, "the judges agree on no such file");
        }
        let files = self.files as f64;
        targets.at_least(&format!("{what}, recall"), self.recall / files, wanted);
        targets.at_least(&format!("{what}, precision"), self.precision / files, wanted);
    }

    fn print(&self, what: &str) {
        let files = self.files.max(1) as f64;
        let [common, wanted, found] = self.words;
        println!("{what}: {} files", self.files);
        println!("  mean        recall {:.4}  precision {:.4}", self.recall / files, self.precision / files);
        let share = |all: usize| common as f64 / all.max(1) as f64;
        println!("  all words   recall {:.4}  precision {:.4}  of {wanted}", share(wanted), share(found));
    }
}
