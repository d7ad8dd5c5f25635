//! Does this version say what the last one said?
//!
//! A chain of checks, cheapest first: the bytes; then the visible text of the part that the rule
//! selects, with white space collapsed and ignored patterns removed; then a program, a similarity
//! threshold, or by default the noise filter, after which differences around the main content
//! (advertisements, navigation, footers) are told from changes. A page never makes the comparison
//! as a whole fail: what goes wrong is reported for that page alone.

mod detail;
mod rule;
mod views;

#[cfg(test)]
mod tests;

pub use rule::{AroundRule, CompareBy, CompareRule};
pub use views::{ComparedPart, Passage, Views};

use crate::TrackError;
use crate::noise::{self, Noise, RemainingChanges};
use crate::plugin::{Program, ProgramAnswer, ProgramQuestion, ShownContent};
use orb_page::Block;
use regex::Regex;
use rule::expressions;

/// The verdict on two versions of a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CompareJudgement {
    /// They say the same.
    Same,
    /// They differ.
    Changed {
        /// What changed, in one line.
        detail: String,
    },
    /// They differ only around their main content.
    Around {
        /// What changed there, in one line.
        detail: String,
    },
    /// They differ, and only a second response can tell whether that is noise.
    AskAgain,
    /// They could not be compared, and why, in one line.
    Failed(String),
}

/// How the pages of a project are compared.
#[derive(Debug)]
pub struct Comparison {
    chains: Vec<Chain>,
    default: Chain,
}

/// A compiled rule.
#[derive(Debug)]
struct Chain {
    /// Its number, from 1; 0 for pages without a rule.
    number: usize,
    url: Option<Regex>,
    ignore: Vec<Regex>,
    program: Option<Program>,
    /// Whether what lies around the main content is told from it.
    mark_around: bool,
    rule: CompareRule,
}

impl Chain {
    fn new(number: usize, rule: &CompareRule, around: AroundRule) -> Result<Self, TrackError> {
        rule.check()?;
        let (url, ignore) = expressions(rule)?;
        let program = (!rule.program.is_empty()).then(|| Program::new(&rule.program, rule.timeout));
        let mark_around = around == AroundRule::Ignore && rule.leaves_around_open();
        Ok(Self { number, url, ignore, program, mark_around, rule: rule.clone() })
    }
}

impl Comparison {
    /// Compiles rules, which are tried in order, and says what a change around the main content
    /// is where they leave that open.
    pub fn new(rules: &[CompareRule], around: AroundRule) -> Result<Self, TrackError> {
        let chain = |(i, rule)| Chain::new(i + 1, rule, around);
        let chains = rules.iter().enumerate().map(chain).collect::<Result<_, _>>()?;
        Ok(Self { chains, default: Chain::new(0, &CompareRule::default(), around)? })
    }

    /// Judges the previous and the current version of a page, with a second response fetched right
    /// after the current one, if there is one. Given a second response, it never asks for another.
    pub fn judge(
        &self,
        url: &str,
        old: &dyn Views,
        new: &dyn Views,
        again: Option<&dyn Views>,
        noise: &Noise,
    ) -> CompareJudgement {
        if old.bytes() == new.bytes() && old.mime() == new.mime() {
            return CompareJudgement::Same;
        }
        let chain = self.chain(url);
        if chain.rule.by == Some(CompareBy::Bytes) || !(old.is_text() && new.is_text()) {
            return chain.bytes(url, old, new);
        }
        chain.judge(url, old, new, again, noise)
    }

    /// Learns from two back-to-back responses of a page, for the benefit of the other pages of its
    /// host. Worth doing while [`Noise::is_young`].
    pub fn learn(&self, url: &str, one: &dyn Views, other: &dyn Views, noise: &Noise) {
        let chain = self.chain(url);
        if chain.rule.by == Some(CompareBy::Bytes) || !(one.is_text() && other.is_text()) {
            return;
        }
        let blocks = |page: &dyn Views| chain.kept(chain.passage(page).blocks);
        noise::learn(url, &blocks(one), &blocks(other), noise);
    }

    /// The number of the rule that applies to a URL, from 1; `None` if none does.
    pub fn rule_for(&self, url: &str) -> Option<usize> {
        Some(self.chain(url).number).filter(|number| *number > 0)
    }

    /// What of a version is compared, block by block.
    pub fn compared(&self, url: &str, page: &dyn Views) -> Vec<String> {
        let chain = self.chain(url);
        if !page.is_text() {
            return vec![format!("{}, {} bytes", page.mime(), page.bytes().len())];
        }
        if chain.rule.by == Some(CompareBy::Bytes) {
            return String::from_utf8_lossy(page.bytes()).lines().map(str::to_owned).collect();
        }
        chain.kept(chain.passage(page).blocks).into_iter().map(|block| block.text).collect()
    }

    fn chain(&self, url: &str) -> &Chain {
        self.chains.iter().find(|c| c.url.as_ref().is_none_or(|r| r.is_match(url))).unwrap_or(&self.default)
    }
}

/// Describes a change in bytes.
fn in_bytes(old: &dyn Views, new: &dyn Views) -> String {
    let (before, now) = (old.bytes().len(), new.bytes().len());
    if old.mime() != new.mime() {
        return format!("{} became {}", old.mime(), new.mime());
    }
    if before != now {
        return format!("{before} bytes became {now}");
    }
    let at = old.bytes().iter().zip(new.bytes()).position(|(a, b)| a != b).unwrap_or(0);
    format!("the bytes differ from number {at} on")
}

impl Chain {
    /// Compares every byte.
    fn bytes(&self, url: &str, old: &dyn Views, new: &dyn Views) -> CompareJudgement {
        if old.bytes() == new.bytes() {
            return CompareJudgement::Same;
        }
        match &self.program {
            Some(program) => {
                let (old, now) = (ShownContent::Bytes(old.bytes()), ShownContent::Bytes(new.bytes()));
                said(program.ask(&ProgramQuestion { url, mime: new.mime(), by: "bytes", old, new: now }))
            }
            None => CompareJudgement::Changed { detail: in_bytes(old, new) },
        }
    }

    fn judge(
        &self,
        url: &str,
        old: &dyn Views,
        new: &dyn Views,
        again: Option<&dyn Views>,
        noise: &Noise,
    ) -> CompareJudgement {
        let (before, now) = (self.passage(old), self.passage(new));
        match (before.matched, now.matched) {
            (true, false) => return self.gone(),
            (false, false) => return CompareJudgement::Failed(self.nothing()),
            _ => {}
        }
        let (before, now_blocks) = (self.kept(before.blocks), self.kept(now.blocks));
        if before.iter().map(|b| &b.text).eq(now_blocks.iter().map(|b| &b.text)) {
            return CompareJudgement::Same;
        }
        if let Some(program) = &self.program {
            let (before, now) = (joined(&before), joined(&now_blocks));
            let (old, now) = (ShownContent::Text(&before), ShownContent::Text(&now));
            return said(program.ask(&ProgramQuestion { url, mime: new.mime(), by: self.by(), old, new: now }));
        }
        if let Some(bits) = self.rule.similarity
            && (new.simhash(&joined(&before)) ^ new.simhash(&joined(&now_blocks))).count_ones() <= bits
        {
            return CompareJudgement::Same;
        }
        // The main content is looked for only now: most pages have no difference.
        let (before, now_blocks) = match self.mark_around {
            true => (self.marked(old), self.marked(new)),
            false => (before, now_blocks),
        };
        let Some(second) = again else {
            return decided(noise::judge(url, &before, &now_blocks, None, noise), now.note.as_deref());
        };
        // A response passed as its own second means that there will be no other. It teaches
        // nothing, and neither does one without text.
        if std::ptr::eq(second.bytes(), new.bytes()) || !second.is_text() {
            let left = noise::judge(url, &before, &now_blocks, Some(&now_blocks), &noise.apart());
            return decided(self.told(left), now.note.as_deref());
        }
        let again = self.kept(self.passage(second).blocks);
        let left = noise::judge(url, &before, &now_blocks, Some(&again), noise);
        decided(self.told(left), now.note.as_deref())
    }

    /// Counters are no change where what lies around is none.
    fn told<'a>(&self, left: RemainingChanges<'a>) -> RemainingChanges<'a> {
        if self.mark_around { left.without_counters() } else { left }
    }

    fn by(&self) -> &'static str {
        match self.rule.by {
            Some(CompareBy::Bytes) => "bytes",
            Some(CompareBy::Main) => "main",
            Some(CompareBy::Selector) => "selector",
            Some(CompareBy::Text) => "text",
            None if self.rule.include.is_empty() => "text",
            None => "selector",
        }
    }

    fn passage(&self, page: &dyn Views) -> Passage {
        page.passage(&self.part())
    }

    /// What is compared, with the blocks marked that lie around the main content.
    fn marked(&self, page: &dyn Views) -> Vec<Block> {
        self.kept(page.passage(&ComparedPart { mark_around: true, ..self.part() }).blocks)
    }

    fn part(&self) -> ComparedPart<'_> {
        let CompareRule { by, include, exclude, .. } = &self.rule;
        ComparedPart { main: *by == Some(CompareBy::Main), mark_around: false, include, exclude }
    }

    /// The blocks without ignored patterns.
    fn kept(&self, mut blocks: Vec<Block>) -> Vec<Block> {
        if self.ignore.is_empty() {
            return blocks;
        }
        for block in &mut blocks {
            for regex in &self.ignore {
                if regex.is_match(&block.text) {
                    let text = regex.replace_all(&block.text, " ");
                    block.text = text.split_whitespace().collect::<Vec<_>>().join(" ");
                }
            }
        }
        blocks.retain(|b| !b.text.is_empty());
        blocks
    }

    fn gone(&self) -> CompareJudgement {
        CompareJudgement::Changed { detail: format!("nothing matches {} any more", self.rule.include.join(", ")) }
    }

    fn nothing(&self) -> String {
        let include = self.rule.include.join(", ");
        format!("[[track.compare]] number {}: nothing on the page matches include = {include}", self.number)
    }
}

/// The verdict on a page with these remaining differences.
fn decided(left: RemainingChanges<'_>, note: Option<&str>) -> CompareJudgement {
    match left {
        RemainingChanges::Nothing => CompareJudgement::Same,
        RemainingChanges::Unclear => CompareJudgement::AskAgain,
        RemainingChanges::Changes(findings) => CompareJudgement::Changed { detail: detail::line(&findings, note) },
        RemainingChanges::Around(findings) => CompareJudgement::Around { detail: detail::line(&findings, note) },
    }
}

/// The verdict from a program's answer.
fn said(answer: Result<ProgramAnswer, String>) -> CompareJudgement {
    match answer {
        Ok(ProgramAnswer { same: true, .. }) => CompareJudgement::Same,
        Ok(ProgramAnswer { detail, .. }) => CompareJudgement::Changed { detail },
        Err(why) => CompareJudgement::Failed(why),
    }
}

/// The text of blocks.
fn joined(blocks: &[Block]) -> String {
    blocks.iter().map(|b| b.text.as_str()).collect::<Vec<_>>().join("\n")
}
