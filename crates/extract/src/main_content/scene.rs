//! What is known of a page as a whole before its blocks are judged?
//!
//! The element with most of the running text, scored as in Readability: running text counts fully
//! for the element that contains it and less for each one above. The heading that is most like the
//! title. Blocks that are alike. All in time linear in the blocks and bounded by the depth of the
//! outline.

use super::elements::{ElementKind, FAR, Holder, holders};
use super::features::heading;
use super::measure::{BlockMeasure, Declarations};
use crate::html::name::Tag;
use crate::html::outline::Outline;
use crate::prose::folded;
use std::collections::HashMap;

/// Maximum length of what the title and the description are compared by, in characters.
const DECLARED: usize = 1_000;
/// Headlines are not longer than this.
const HEADLINE: usize = 250;
/// What stands between a headline and the name of the site.
const SEPARATORS: [char; 7] = ['-', '–', '—', '|', '_', '·', '»'];
/// Percentage of the characters of a program that no prose has.
const MARKED: usize = 6;
/// No block of a kind is on that side.
const NOWHERE: u8 = 99;
/// How far a distance is counted.
const SINCE: u8 = 60;

/// BlockSums over blocks.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct BlockSums {
    pub(super) blocks: usize,
    pub(super) chars: usize,
    pub(super) bytes: usize,
    pub(super) linked: usize,
    pub(super) sentences: usize,
    pub(super) prose: usize,
}

impl BlockSums {
    fn add(&mut self, m: &BlockMeasure) {
        self.blocks += 1;
        self.chars += m.chars;
        self.bytes += m.bytes;
        self.linked += m.linked;
        self.sentences += m.sentences;
        self.prose += m.prose;
    }
}

/// A page with everything that is known of it.
#[derive(Debug)]
pub(crate) struct Scene<'a> {
    pub(crate) outline: &'a Outline<'a>,
    pub(super) declared: Declarations,
    pub(super) measures: Vec<BlockMeasure>,
    pub(super) holders: Vec<Holder>,
    /// The element with most of the running text.
    pub(super) best: Option<usize>,
    /// The block that is most like the title, and how much in thousandths.
    pub(super) most_like_title: Option<(usize, i16)>,
    pub(super) chars: usize,
    /// Characters of running text, at least one.
    pub(super) prose: usize,
    /// For each block, the distances to running text before and after, the same within the best
    /// element, the distance to the last heading, and its level.
    pub(super) distances: Vec<[u8; 6]>,
    /// Steps from the best element up to each of its ancestors.
    chain: HashMap<usize, usize>,
    groups: HashMap<u64, BlockSums>,
    /// BlockSums of all blocks before each.
    before: Vec<BlockSums>,
}

impl<'a> Scene<'a> {
    /// Looks at a page.
    pub(super) fn of(outline: &'a Outline<'a>) -> Self {
        let declared = declarations(outline);
        let measures: Vec<BlockMeasure> =
            outline.pieces.iter().map(|p| BlockMeasure::of(outline.said(p), p.linked, &declared)).collect();
        let holders = holders(outline, &measures);
        let mut all = BlockSums::default();
        let mut before = Vec::with_capacity(measures.len() + 1);
        let mut groups: HashMap<u64, BlockSums> = HashMap::new();
        for (piece, measure) in outline.pieces.iter().zip(&measures) {
            before.push(all);
            all.add(measure);
            groups.entry(holders.get(piece.frame).map_or(0, |h| h.alike)).or_default().add(measure);
        }
        before.push(all);
        let mut scene = Self {
            outline,
            declared,
            measures,
            holders,
            best: None,
            most_like_title: None,
            chars: all.chars,
            prose: all.prose.max(1),
            distances: Vec::new(),
            chain: HashMap::new(),
            groups,
            before,
        };
        scene.best = scene.densest();
        scene.chain = scene.ancestors(scene.best).enumerate().map(|(steps, holder)| (holder, steps)).collect();
        scene.most_like_title = scene.compare_with_title();
        scene.distances = scene.distances();
        scene
    }

    /// The text of a block; empty if there is no such block.
    pub(crate) fn text(&self, i: usize) -> &str {
        self.outline.pieces.get(i).map_or("", |piece| self.outline.said(piece))
    }

    /// Whether a block looks like a program or a declaration.
    pub(super) fn is_code(&self, i: usize) -> bool {
        let m = &self.measures[i];
        m.marks >= 2 && m.marks * 100 >= m.chars * MARKED
    }

    /// The block that is the headline.
    pub(crate) fn headline(&self) -> Option<usize> {
        self.most_like_title.map(|(at, _)| at)
    }

    /// The headline as readers see it: where a page repeats all of its title in plain text, for
    /// whoever shares it, an earlier block may be the first part, before the name of the site.
    pub(crate) fn shown_headline(&self) -> Option<usize> {
        let found = self.headline()?;
        if self.holder(found).is_some_and(|h| heading(h.tag) > 0) {
            return Some(found);
        }
        let whole = self.text(found);
        let is_first_part = |i: &usize| {
            let text = self.text(*i);
            let rest = whole.strip_prefix(text).filter(|rest| rest.len() < text.len());
            let is_site = rest.is_some_and(|rest| rest.trim_start().starts_with(SEPARATORS));
            is_site && self.is_title(*i) && !self.is_around(*i)
        };
        (0..found).find(is_first_part).or(Some(found))
    }

    /// The heading that is like the first part of the title, before the name of the manual or the
    /// site: where the page's most prominent text is that name. It follows the headline, if that is
    /// a heading.
    pub(crate) fn subject(&self) -> Option<usize> {
        let title = self.outline.title.as_deref()?;
        let end = [" - ", " | ", " — ", " – ", " · ", " (", ": "].iter().filter_map(|sign| title.find(sign)).min()?;
        let subject = Declarations::new(title.get(..end)?, "");
        let level = |i: usize| self.holder(i).map_or(0, |h| heading(h.tag));
        let from = self.headline().filter(|at| matches!(level(*at), 1 | 2)).map_or(0, |at| at + 1);
        (from..self.measures.len()).filter(|i| matches!(level(*i), 1 | 2) && !self.is_around(*i)).find(|i| {
            let m = BlockMeasure::of(self.text(*i), 0, &subject);
            let common = m.title.count_ones() as usize;
            let either = (m.words + subject.title as usize).saturating_sub(common);
            common > 0 && common * 2 >= either && self.measures[*i].linked * 2 < self.measures[*i].bytes
        })
    }

    /// Whether a block can be the title of a page: a heading, or anything else that is not a link.
    pub(crate) fn is_title(&self, i: usize) -> bool {
        let is_heading = self.holder(i).is_some_and(|h| heading(h.tag) > 0);
        is_heading || self.measures.get(i).is_some_and(|m| m.linked * 2 < m.bytes)
    }

    /// Whether a text has enough words in common with the title to be the page's headline.
    pub(crate) fn is_like_title(&self, text: &str) -> bool {
        let m = BlockMeasure::of(text, 0, &self.declared);
        let common = m.title.count_ones() as usize;
        common > 0 && (common >= 3 || common * 3 >= m.words)
    }

    /// Whether a block is in an element named after authors.
    pub(crate) fn is_byline(&self, i: usize) -> bool {
        self.holder(i).is_some_and(|h| h.distance[ElementKind::Byline as usize] <= 1)
    }

    /// Whether a block is in a comment, a footer, a sidebar or among related pages, and the
    /// headline is not.
    pub(crate) fn is_around(&self, i: usize) -> bool {
        let kinds = [
            ElementKind::Comment,
            ElementKind::Related,
            ElementKind::Footer,
            ElementKind::Sidebar,
            ElementKind::Aside,
            ElementKind::NavigationTag,
        ];
        self.is_apart(i, &kinds.map(|kind| kind as usize))
    }

    /// Whether a block is in a comment, and the headline is not.
    pub(crate) fn is_comment(&self, i: usize) -> bool {
        self.is_apart(i, &[ElementKind::Comment as usize])
    }

    fn is_apart(&self, i: usize, kinds: &[usize]) -> bool {
        let steps = self.headline().map_or(usize::from(FAR), |at| self.way(i, at).0);
        self.holder(i).is_some_and(|h| usize::from(h.nearest(kinds)) < steps)
    }

    /// The steps from a block's element up to the first one that contains another block, too, and
    /// that element, if it is not the page itself.
    fn way(&self, from: usize, to: usize) -> (usize, Option<usize>) {
        let frame = |i: usize| self.outline.pieces.get(i).map(|piece| piece.frame);
        let above: Vec<usize> = self.ancestors(frame(to)).collect();
        let steps = self.ancestors(frame(from)).take_while(|at| !above.contains(at)).count();
        (steps, self.ancestors(frame(from)).nth(steps))
    }

    /// Whether a block stands beside the headline: not in the head of the site above it, nor in a
    /// list or table of other things.
    pub(crate) fn is_beside(&self, i: usize, headline: usize) -> bool {
        let (steps, common) = self.way(i, headline);
        let is_page = common.and_then(|at| self.holders.get(at)).is_none_or(|h| matches!(h.tag, Tag::Body | Tag::Html));
        let listed = [ElementKind::Item as usize, ElementKind::Cell as usize];
        let is_dated = [ElementKind::Byline as usize, ElementKind::Dated as usize];
        let is_other = |h: &Holder| {
            let is_term = matches!(h.tag, Tag::Dt | Tag::Dd | Tag::Th);
            (is_term || usize::from(h.nearest(&listed)) < steps) && h.nearest(&is_dated) == FAR
        };
        // Above the headline and apart from it is the head of the site, with today's date.
        let is_head = |h: &Holder| h.tag == Tag::Header || h.distance[ElementKind::Header as usize] == 0;
        let is_near = !is_page || (steps <= 1 && !self.holder(i).is_some_and(is_head));
        (i > headline || is_near) && !self.holder(i).is_some_and(is_other)
    }

    /// The element of a block.
    pub(super) fn holder(&self, i: usize) -> Option<&Holder> {
        self.holders.get(self.outline.pieces.get(i)?.frame)
    }

    /// What blocks that are alike have in common.
    pub(super) fn alike(&self, i: usize) -> u64 {
        self.holder(i).map_or(0, |h| h.alike)
    }

    /// All blocks that are like this one.
    pub(super) fn group(&self, i: usize) -> BlockSums {
        self.groups.get(&self.alike(i)).copied().unwrap_or_default()
    }

    pub(super) fn chars_before(&self, i: usize) -> usize {
        self.before.get(i).map_or(0, |sums| sums.chars)
    }

    /// The sums of a range of blocks.
    pub(super) fn between(&self, from: usize, to: usize) -> BlockSums {
        match (self.before.get(from), self.before.get(to)) {
            (Some(a), Some(b)) if from < to => BlockSums {
                blocks: b.blocks - a.blocks,
                chars: b.chars - a.chars,
                bytes: b.bytes - a.bytes,
                linked: b.linked - a.linked,
                sentences: b.sentences - a.sentences,
                prose: b.prose - a.prose,
            },
            _ => BlockSums::default(),
        }
    }

    /// The steps from a block's element up to the first one that also contains the best element,
    /// and from the best element up to there.
    pub(super) fn way_to_best(&self, i: usize) -> (usize, usize) {
        let Some(piece) = self.outline.pieces.get(i).filter(|_| self.best.is_some()) else { return (99, 99) };
        let mut steps = 0;
        for holder in self.ancestors(Some(piece.frame)) {
            if let Some(down) = self.chain.get(&holder) {
                return (steps, *down);
            }
            steps += 1;
        }
        (steps, 99)
    }

    /// An element and its ancestors.
    pub(super) fn ancestors(&self, from: Option<usize>) -> impl Iterator<Item = usize> + '_ {
        let known = from.filter(|at| *at < self.holders.len());
        std::iter::successors(known, |at| self.holders.get(*at)?.parent)
    }

    /// The element with most of the running text.
    fn densest(&self) -> Option<usize> {
        let mut scores = vec![0usize; self.holders.len()];
        for (piece, m) in self.outline.pieces.iter().zip(&self.measures).filter(|(_, m)| m.prose > 0) {
            let Some(own) = self.holders.get(piece.frame) else { continue };
            let kinds = [
                ElementKind::Comment,
                ElementKind::Footer,
                ElementKind::FooterTag,
                ElementKind::Aside,
                ElementKind::NavigationTag,
            ];
            let is_around = own.nearest(&kinds.map(|kind| kind as usize)) < FAR;
            let score = m.prose.min(1 << 24) * if is_around { 300 } else { 1000 };
            let holds = matches!(
                own.tag,
                Tag::Div | Tag::Td | Tag::Section | Tag::Article | Tag::Main | Tag::Body | Tag::Center
            );
            let first = if holds { Some(piece.frame) } else { own.parent.or(Some(piece.frame)) };
            for (holder, percent) in self.ancestors(first).zip([100, 60, 30, 15]) {
                if let Some(sum) = scores.get_mut(holder) {
                    *sum += score / 100 * percent;
                }
            }
        }
        let best = scores.iter().enumerate().max_by_key(|(i, score)| (**score, std::cmp::Reverse(*i)))?;
        (*best.1 > 0).then_some(best.0)
    }

    /// The block that is most like the title: words in common by words in either, and more for a
    /// heading.
    fn compare_with_title(&self) -> Option<(usize, i16)> {
        let mut best = None;
        for (i, m) in self.measures.iter().enumerate().filter(|(_, m)| m.title != 0 && m.chars <= HEADLINE) {
            let common = m.title.count_ones() as usize;
            let either = (m.words + self.declared.title as usize).saturating_sub(common).max(1);
            let holder = self.holder(i);
            let above = holder.and_then(|h| self.holders.get(h.parent?));
            let level = holder.map_or(0, |h| heading(h.tag));
            let outer = above.map_or(0, |h| heading(h.tag));
            let bonus = if level == 1 { 300 } else { 150 * usize::from(matches!(level.max(outer), 1 | 2)) };
            let likeness = common * 1000 / either + bonus;
            if likeness > 300 && best.is_none_or(|(_, most)| likeness > most) {
                best = Some((i, likeness));
            }
        }
        best.map(|(i, likeness)| (i, i16::try_from(likeness).unwrap_or(i16::MAX)))
    }

    fn distances(&self) -> Vec<[u8; 6]> {
        let inside: Vec<bool> = (0..self.measures.len()).map(|i| self.way_to_best(i).1 == 0).collect();
        let mut out = vec![[NOWHERE, NOWHERE, NOWHERE, NOWHERE, NOWHERE, 7]; self.measures.len()];
        let (mut prose, mut in_best, mut since, mut level) = (NOWHERE, NOWHERE, NOWHERE, 7);
        let next = |distance: u8, is_here: bool| if is_here { 1 } else { distance.saturating_add(1).min(NOWHERE) };
        for (i, m) in self.measures.iter().enumerate() {
            let own = self.holder(i).map_or(0, |h| heading(h.tag));
            (since, level) = if own > 0 { (0, own) } else { (since, level) };
            out[i] = [prose, NOWHERE, in_best, NOWHERE, since, level];
            prose = next(prose, m.prose > 0);
            in_best = next(in_best, m.prose > 0 && inside[i]);
            since = if since == NOWHERE { NOWHERE } else { (since + 1).min(SINCE) };
        }
        (prose, in_best) = (NOWHERE, NOWHERE);
        for (i, m) in self.measures.iter().enumerate().rev() {
            (out[i][1], out[i][3]) = (prose, in_best);
            prose = next(prose, m.prose > 0);
            in_best = next(in_best, m.prose > 0 && inside[i]);
        }
        out
    }
}

fn declarations(outline: &Outline<'_>) -> Declarations {
    let of = |names: &[&str]| outline.declared.meta(names).map_or_else(String::new, |text| folded(text, DECLARED));
    let title = outline.title.as_deref().unwrap_or("");
    let titles = format!("{} {}", title, of(&["og:title"]));
    Declarations::new(&titles, &format!("{} {}", of(&["og:description"]), of(&["description"])))
}
