//! How much does it cost to decide whether a page has changed?
//!
//! A page of 200 blocks and 6,000 words with an advertisement, a counter, a token, a clock and a
//! shuffled list: compared with a second response, and with what is known about its host alone.

use divan::{Bencher, black_box};
use orb_page::Block;
use orb_track::compare::{AroundRule, CompareJudgement, ComparedPart, Comparison, Passage, Views};
use orb_track::diff::Diff;
use orb_track::noise::Noise;

fn main() {
    divan::main();
}

/// A response, already split into blocks.
struct Answer(Vec<Block>, String);

impl Views for Answer {
    fn bytes(&self) -> &[u8] {
        self.1.as_bytes()
    }

    fn mime(&self) -> &str {
        "text/html"
    }

    fn is_text(&self) -> bool {
        true
    }

    fn passage(&self, _: &ComparedPart<'_>) -> Passage {
        Passage { blocks: self.0.clone(), matched: true, note: None }
    }

    fn simhash(&self, _: &str) -> u64 {
        0
    }
}

/// The `n`th response of a page.
fn answer(page: u64, n: u64, edited: bool) -> Answer {
    let block = |path: u64, text: String| Block { path, named: true, place: "p".into(), text, around: false };
    let word = |i: u64| format!("word{}", (i * 7_919 + page * 31) % 4_001);
    let sentence = |from: u64, count: u64| (from..from + count).map(word).collect::<Vec<_>>().join(" ");
    let mut blocks: Vec<Block> = (0..190).map(|i| block(1, sentence(i * 40, 31))).collect();
    blocks.insert(20, block(2, sentence(n * 1_013 + 17, 8)));
    blocks.push(block(3, format!("You are visitor number {}", 1_000 + n)));
    blocks.push(block(4, format!("Generated at 12:{:02}:{:02} UTC", n % 60, n * 7 % 60)));
    blocks.extend((0..8).map(|i| block(5, format!("Teaser number {}", (i + n) % 8))));
    blocks[3].text += &format!(" ticket {:x} is yours", 0x9e37_79b9 * (n + 1));
    if edited {
        blocks[100].text += " more";
    }
    let text = blocks.iter().map(|b| b.text.as_str()).collect::<Vec<_>>().join("\n");
    Answer(blocks, text)
}

#[divan::bench(args = [false, true])]
fn with_a_second_answer(bencher: Bencher<'_, '_>, edited: bool) {
    let comparison = Comparison::new(&[], AroundRule::Ignore).expect("no rule");
    let (old, new, again) = (answer(1, 1, false), answer(1, 2, edited), answer(1, 3, edited));
    let noise = Noise::new();
    bencher.bench_local(|| {
        let said = comparison.judge("http://h/", black_box(&old), &new, Some(&again), &noise);
        assert_eq!(said == CompareJudgement::Same, !edited);
    });
}

#[divan::bench]
fn with_what_is_known(bencher: Bencher<'_, '_>) {
    let comparison = Comparison::new(&[], AroundRule::Ignore).expect("no rule");
    let noise = Noise::new();
    for page in 2..20 {
        comparison.learn(
            &format!("http://h/{page}"),
            &answer(page, page, false),
            &answer(page, page + 1, false),
            &noise,
        );
    }
    let (old, new) = (answer(1, 1, false), answer(1, 2, false));
    bencher.bench_local(|| {
        assert_eq!(comparison.judge("http://h/", black_box(&old), &new, None, &noise), CompareJudgement::Same);
    });
}

#[divan::bench]
fn shown(bencher: Bencher<'_, '_>) {
    let (old, new) = (answer(1, 1, false), answer(1, 2, true));
    let lines = |page: &'static str| page.lines().collect::<Vec<_>>();
    let (old, new) = (lines(old.1.leak()), lines(new.1.leak()));
    bencher.bench_local(|| Diff::of(black_box(&old), &new).rows.len());
}
