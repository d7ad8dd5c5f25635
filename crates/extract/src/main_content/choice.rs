//! Which blocks are taken, given the odds of each?
//!
//! The model judges every block alone and has seen articles above all. Here blocks that belong
//! together stay together: a heading goes with the text below it, a doubtful item or row with the
//! rest of its list or table. Where much of a page looks like programs, or several do, it is
//! documentation, and the element around what was chosen is taken whole. If a page has too little
//! text to judge, what it marks as its main content counts; if it marks nothing, nothing is chosen
//! and the caller uses the whole page: a list of links or a page of a few words is all there is.

use super::elements::{ElementKind, FAR, Holder, STRONG};
use super::features::heading;
use super::scene::Scene;
use crate::html::name::Tag;
use crate::html::outline::OutlineBlock;
use std::collections::{HashMap, HashSet};

/// Log-odds from which a block is content, in thousandths.
const ENOUGH: i32 = 0;
/// Log-odds from which a heading goes with chosen text below it.
const HEADING: i32 = -1_500;
/// Log-odds from which a block goes with its list or table.
const SIBLING: i32 = -1_200;
/// Log-odds from which a block goes with others like it.
const ALIKE: i32 = -1_000;
/// How many elements like each other are a series.
const CLUSTERS: usize = 3;
/// Log-odds from which what looks like a program counts as one.
const CODE: i32 = -3_500;
/// Thousandths of a page's text that are programs if it is documentation, or how many programs.
const REFERENCE: usize = 60;
const PROGRAMS: usize = 5;
/// Thousandths of a page's text that are marked as code if it describes an interface.
const NAMED: usize = 60;
/// Characters that are content, however long the page is.
const FEW: usize = 250;
/// Characters of a small table.
const SMALL: usize = 1_500;
/// Less than one in this many characters of a page is too little.
const LEAST: usize = 20;

/// One in this many characters of a page of a few words is enough.
const SHORT: usize = 5;

/// Log-odds up to which it is doubtful whether a block is content, on either side of [`ENOUGH`].
const DOUBT: i32 = 1_000;
/// What elements with navigation are called.
const NAVIGATION: &[&str] = &["nav", "menu", "breadcrumb"];
/// So many characters of a block count where it is asked which element holds most of the page: one
/// long program is not the page.
const LONG: usize = 400;
/// Percentage of the characters of preformatted declarations that no prose has.
const DECLARING: usize = 3;
/// How much of a name is searched.
const LONGEST_NAME: usize = 200;

/// What stands beside the text.
const ASIDE: usize = ElementKind::Aside as usize;

/// Kinds that are never content, whoever contains them: comments, advertisements, notices,
/// navigation, footers.
const OUTSIDE: [usize; 6] = [
    ElementKind::Comment as usize,
    ElementKind::Advertisement as usize,
    ElementKind::Notice as usize,
    ElementKind::Aside as usize,
    ElementKind::NavigationTag as usize,
    ElementKind::FooterTag as usize,
];

/// The same with related pages and what is called a footer.
const BOILERPLATE: [usize; 8] = [
    ElementKind::Comment as usize,
    ElementKind::Related as usize,
    ElementKind::Footer as usize,
    ElementKind::Advertisement as usize,
    ElementKind::Notice as usize,
    ElementKind::Aside as usize,
    ElementKind::NavigationTag as usize,
    ElementKind::FooterTag as usize,
];

/// Kinds that hold no price of the page's own offer. What shops call a popup may hold it.
const ELSEWHERE: [usize; 6] = [
    ElementKind::Comment as usize,
    ElementKind::Related as usize,
    ElementKind::Advertisement as usize,
    ElementKind::Aside as usize,
    ElementKind::FooterTag as usize,
    ElementKind::Hidden as usize,
];

/// Which blocks are main content; nothing if it cannot be told.
pub(super) fn choose(scene: &Scene<'_>, scores: &[i32]) -> Option<Vec<bool>> {
    let is_chosen = |(i, score): (usize, &i32)| *score >= ENOUGH && !is_menu(scene, i);
    let mut chosen: Vec<bool> = scores.iter().enumerate().map(is_chosen).collect();
    keep_siblings(scene, scores, &mut chosen);
    keep_alike(scene, scores, &mut chosen);
    keep_headings(scene, scores, &mut chosen);
    let is_code =
        |(i, score): (usize, &i32)| *score >= CODE && (scene.is_code(i) || is_synopsis(scene, i)) && !is_menu(scene, i);
    let code: Vec<bool> = scores.iter().enumerate().map(is_code).collect();
    keep_programs(scene, scores, &mut chosen);
    if is_documentation(scene, &code) || names_code(scene, scores) {
        keep_container(scene, &code, &mut chosen);
        leave_menus(scene, &mut chosen);
    }
    keep_contents(scene, &mut chosen);
    keep_headline(scene, &mut chosen);
    keep_price(scene, &mut chosen);
    let kept = chars(scene, &chosen);
    let is_enough = kept > 0 && (kept >= FEW || kept * LEAST >= scene.chars);
    if !is_enough || scene.prose < FEW {
        return declared(scene).or_else(|| short(scene, &chosen)).or_else(|| is_enough.then_some(chosen));
    }
    Some(chosen)
}

/// Which blocks are certainly not main content; nothing if it cannot be told.
///
/// Where the odds are doubtful, elements that are never content decide; without any, the block
/// counts as content. What is called an advertisement needs better odds than anything else. On a
/// page whose elements have no names the odds alone say too little: a link below its text may be
/// news.
pub(super) fn certainly_around(scene: &Scene<'_>, scores: &[i32]) -> Option<Vec<bool>> {
    let chosen = choose(scene, scores)?;
    let generous: Vec<i32> = scores.iter().map(|score| score + DOUBT).collect();
    let possible = choose(scene, &generous).unwrap_or_else(|| vec![true; chosen.len()]);
    let is_content = |i: usize| {
        let Some(holder) = scene.holder(i) else { return true };
        let main = holder.distance[ElementKind::Main as usize];
        let is_inside = |kinds: &[usize]| holder.nearest(kinds) < main;
        match scores[i] {
            score if is_inside(&[ElementKind::Advertisement as usize]) => score >= 2 * DOUBT,
            score if is_inside(&OUTSIDE) => chosen[i] && score >= DOUBT,
            _ => chosen[i] || possible[i] || is_plain(scene, i),
        }
    };
    Some((0..chosen.len()).map(|i| !is_content(i)).collect())
}

/// Whether a block of links stands in `<nav>`, however long it is.
fn is_menu(scene: &Scene<'_>, i: usize) -> bool {
    let is_inside = |h: &Holder| h.distance[ElementKind::NavigationTag as usize] < FAR;
    scene.holder(i).is_some_and(is_inside) && scene.measures.get(i).is_some_and(|m| m.linked * 10 >= m.bytes * 8)
}

/// Whether a block stands in nothing that has a name, nor in an element that is boilerplate.
fn is_plain(scene: &Scene<'_>, i: usize) -> bool {
    let own = scene.outline.pieces.get(i).map(|piece| piece.frame);
    let is_unnamed = |at: usize| {
        let frame = scene.outline.frames.get(at);
        frame.is_some_and(|f| {
            matches!(f.tag, Tag::Body | Tag::Html | Tag::Main) || (f.id.is_empty() && f.class.is_empty())
        })
    };
    scene.ancestors(own).all(is_unnamed) && scene.holder(i).is_some_and(|h| h.nearest(&STRONG) == FAR)
}

/// What the page itself marks as its main content, for pages with too little text to judge.
fn declared(scene: &Scene<'_>) -> Option<Vec<bool>> {
    let is_main = |i: usize| {
        let marked = scene.holder(i).map(|h| (h.distance[ElementKind::Main as usize], h.nearest(&OUTSIDE)));
        marked.is_some_and(|(main, other)| main < FAR && other > main)
    };
    let chosen: Vec<bool> = (0..scene.measures.len()).map(is_main).collect();
    chosen.contains(&true).then_some(chosen)
}

/// What a page of a few words says outside links and the elements that are named after boilerplate,
/// if the model found little of it: it needs running text, and that of a shop may be its notice
/// about cookies alone.
fn short(scene: &Scene<'_>, judged: &[bool]) -> Option<Vec<bool>> {
    let navigation = navigation(scene);
    let is_own = |i: usize| {
        let Some(piece) = scene.outline.pieces.get(i) else { return false };
        scene.holder(i).is_some_and(|h| h.nearest(&BOILERPLATE) == FAR)
            && piece.linked * 2 <= piece.text.len()
            && !scene.ancestors(Some(piece.frame)).any(|at| navigation[at])
    };
    let chosen: Vec<bool> = (0..scene.measures.len()).map(is_own).collect();
    let kept = chars(scene, &chosen);
    let both: Vec<bool> = chosen.iter().zip(judged).map(|(chosen, judged)| *chosen && *judged).collect();
    (chars(scene, &both) * 3 < kept && kept < scene.chars && kept * SHORT >= scene.chars).then_some(chosen)
}

/// The characters of some blocks.
fn chars(scene: &Scene<'_>, chosen: &[bool]) -> usize {
    scene.measures.iter().zip(chosen).filter(|(_, chosen)| **chosen).map(|(m, _)| m.chars).sum()
}

/// Chooses doubtful blocks of lists and tables that are nearly all chosen, and programs in elements
/// of which half is chosen.
fn keep_siblings(scene: &Scene<'_>, scores: &[i32], chosen: &mut [bool]) {
    let mut sums = vec![(0usize, 0usize); scene.holders.len()];
    let parts: Vec<Option<usize>> = (0..scores.len()).map(|i| whole(scene, i)).collect();
    for ((part, m), chosen) in parts.iter().zip(&scene.measures).zip(chosen.iter()) {
        if let Some(sum) = part.and_then(|p| sums.get_mut(p)) {
            sum.0 += if *chosen { m.chars } else { 0 };
            sum.1 += m.chars;
        }
    }
    for (i, part) in parts.iter().enumerate().filter(|(i, _)| scores[*i] < ENOUGH) {
        let Some((kept, all)) = part.and_then(|p| sums.get(p)) else { continue };
        let is_code = scene.holder(i).is_some_and(|h| h.tag == Tag::Pre);
        // A small table is read as a whole or not at all.
        let is_table = part.and_then(|p| scene.holders.get(p)).is_some_and(|h| h.tag == Tag::Table && h.chars < SMALL);
        let (least, quarters) = match (is_code, is_table) {
            (true, _) => (CODE, 2),
            (_, true) => (CODE, 1),
            _ => (SIBLING, 3),
        };
        chosen[i] |= scores[i] >= least && kept * 4 >= all * quarters;
    }
}

/// Chooses doubtful blocks that are like many chosen ones: the other answers of a thread, the other
/// stories of a front page.
fn keep_alike(scene: &Scene<'_>, scores: &[i32], chosen: &mut [bool]) {
    let mut groups: HashMap<u64, AlikeBlocks> = HashMap::new();
    for (i, m) in scene.measures.iter().enumerate() {
        let Some(cluster) = cluster(scene, i) else { continue };
        let group = groups.entry(scene.alike(i)).or_default();
        group.clusters.insert(cluster);
        if chosen[i] {
            group.chars += m.chars;
            group.chosen.insert(cluster);
        }
    }
    for i in (0..scores.len()).filter(|i| scores[*i] < ENOUGH && scores[*i] >= ALIKE) {
        let (Some(cluster), Some(group)) = (cluster(scene, i), groups.get(&scene.alike(i))) else { continue };
        let is_many = group.clusters.len() >= CLUSTERS && group.chars * 2 >= scene.group(i).chars;
        chosen[i] |= is_many && !group.chosen.contains(&cluster);
    }
}

/// Blocks that are alike.
#[derive(Default)]
struct AlikeBlocks {
    /// Characters of those that are chosen.
    chars: usize,
    /// The elements that hold them, and those that hold chosen ones.
    clusters: HashSet<usize>,
    chosen: HashSet<usize>,
}

/// The element that holds a block with its neighbours.
fn cluster(scene: &Scene<'_>, i: usize) -> Option<usize> {
    let own = scene.outline.pieces.get(i)?.frame;
    let holder = scene.holders.get(own)?;
    match holder.tag {
        Tag::P | Tag::Li | Tag::H1 | Tag::H2 | Tag::H3 | Tag::H4 | Tag::H5 | Tag::H6 => holder.parent,
        _ => Some(own),
    }
}

/// The list or table that a block is part of, or the element that a program is part of.
fn whole(scene: &Scene<'_>, i: usize) -> Option<usize> {
    let own = scene.outline.pieces.get(i)?.frame;
    let is_list = |at: &usize| {
        let tag = scene.holders.get(*at).map(|h| h.tag);
        matches!(tag, Some(Tag::Ul | Tag::Ol | Tag::Dl | Tag::Table))
    };
    let list = scene.ancestors(Some(own)).take(4).find(is_list);
    list.or_else(|| scene.holders.get(own).filter(|h| h.tag == Tag::Pre)?.parent)
}

/// Chooses headings directly above chosen text.
fn keep_headings(scene: &Scene<'_>, scores: &[i32], chosen: &mut [bool]) {
    let mut follows = false;
    for i in (0..scores.len()).rev() {
        if !chosen[i] && scene.holder(i).is_some_and(|h| heading(h.tag) > 0) {
            chosen[i] = follows && scores[i] >= HEADING;
        }
        follows = chosen[i];
    }
}

/// Whether much of a page is programs, or it has several of them.
fn is_documentation(scene: &Scene<'_>, code: &[bool]) -> bool {
    let programs = (0..code.len()).filter(|i| code[*i] && is_program(scene, *i)).count();
    chars(scene, code) * 1000 >= scene.chars * REFERENCE || programs >= PROGRAMS
}

/// Whether much of a page is marked as code, be it names within its sentences: the reference of an
/// interface may be without any program.
fn names_code(scene: &Scene<'_>, scores: &[i32]) -> bool {
    let coded = |(piece, score): (&OutlineBlock, &i32)| if *score >= CODE { piece.coded } else { 0 };
    let all: usize = scene.outline.pieces.iter().zip(scores).map(coded).sum();
    all * 1000 >= scene.chars * NAMED
}

fn is_program(scene: &Scene<'_>, i: usize) -> bool {
    scene.holder(i).is_some_and(|h| h.tag == Tag::Pre)
}

/// Whether preformatted text is a program with few marks: declarations are made of names.
fn is_synopsis(scene: &Scene<'_>, i: usize) -> bool {
    is_program(scene, i) && scene.measures.get(i).is_some_and(|m| m.marks >= 2 && m.marks * 100 >= m.chars * DECLARING)
}

/// Chooses programs directly below chosen text, which says what they are.
fn keep_programs(scene: &Scene<'_>, scores: &[i32], chosen: &mut [bool]) {
    for (i, score) in scores.iter().enumerate().skip(1) {
        chosen[i] |= chosen[i - 1] && *score >= CODE && is_program(scene, i);
    }
}

/// Chooses the headline, if anything was chosen behind it.
fn keep_headline(scene: &Scene<'_>, chosen: &mut [bool]) {
    let Some(at) = scene.headline() else { return };
    let is_followed = chosen.iter().skip(at + 1).any(|chosen| *chosen);
    let is_heading = scene.holder(at).is_some_and(|h| heading(h.tag) == 1 && h.nearest(&OUTSIDE) == FAR);
    // A heading that is a link may be the banner of the site.
    let is_link = scene.measures.get(at).is_some_and(|m| m.linked * 2 >= m.bytes);
    chosen[at] |= is_followed && is_heading && !is_link;
}

/// Chooses the price of what a page offers: the first behind its headline that is marked as one.
fn keep_price(scene: &Scene<'_>, chosen: &mut [bool]) {
    let Some(headline) = scene.headline().filter(|at| chosen.get(*at) == Some(&true)) else { return };
    let is_shown = |i: &usize| {
        let is_own = |h: &Holder| h.nearest(&ELSEWHERE) == FAR;
        *i > headline && scene.holder(*i).is_some_and(is_own) && scene.measures.get(*i).is_some_and(|m| m.chars <= FEW)
    };
    if let Some(price) = scene.outline.declared.prices.iter().copied().find(is_shown) {
        chosen[price] = true;
    }
}

/// Chooses the lists and tables of a page that consists of them: an index, a table of contents.
fn keep_contents(scene: &Scene<'_>, chosen: &mut [bool]) {
    if chars(scene, chosen) * 3 >= scene.chars {
        return;
    }
    let navigation = navigation(scene);
    let is_outside = |i: usize| {
        let own = scene.outline.pieces.get(i).map(|piece| piece.frame);
        let kinds = |h: &Holder| h.nearest(&OUTSIDE).min(h.distance[ElementKind::Hidden as usize]);
        scene.holder(i).is_none_or(|h| kinds(h) < FAR) || scene.ancestors(own).any(|at| navigation[at])
    };
    let inside: Vec<bool> = (0..scene.measures.len()).map(|i| !is_outside(i)).collect();
    let is_listed = |i: usize| {
        let own = scene.outline.pieces.get(i).map(|piece| piece.frame);
        let tags = scene.ancestors(own).filter_map(|at| scene.holders.get(at)).map(|h| h.tag);
        inside[i] && tags.into_iter().any(|tag| matches!(tag, Tag::Ul | Tag::Ol | Tag::Dl | Tag::Table))
    };
    let listed: Vec<bool> = (0..scene.measures.len()).map(is_listed).collect();
    let is_declared = |i: usize| scene.holder(i).is_some_and(|h| h.distance[ElementKind::Main as usize] < FAR);
    let is_all_declared = (0..listed.len()).all(|i| !listed[i] || is_declared(i));
    let whole = if is_all_declared { chars(scene, &inside) } else { scene.chars };
    if listed.contains(&true) && chars(scene, &listed) * 2 >= whole {
        keep_container(scene, &listed, chosen);
    }
}

/// Which elements are called navigation and hold many links, but not most of the page.
fn navigation(scene: &Scene<'_>) -> Vec<bool> {
    let is_called = |name: &str| {
        let name = name.get(..LONGEST_NAME).unwrap_or(name).to_ascii_lowercase();
        NAVIGATION.iter().any(|word| name.contains(word))
    };
    let is_likely = |h: &Holder| h.linked * 10 >= h.bytes * 4 && h.chars * 4 <= scene.chars * 3;
    let elements = scene.outline.frames.iter().zip(&scene.holders);
    elements.map(|(f, h)| is_likely(h) && (is_called(f.id) || is_called(f.class))).collect()
}

/// Leaves out what looks like code in the navigation of documentation: the names of its pages.
fn leave_menus(scene: &Scene<'_>, chosen: &mut [bool]) {
    let mut menus = navigation(scene);
    menus.iter_mut().zip(&scene.holders).for_each(|(is_menu, holder)| *is_menu &= holder.sentences == 0);
    for (chosen, piece) in chosen.iter_mut().zip(&scene.outline.pieces).filter(|(chosen, _)| **chosen) {
        *chosen = !scene.ancestors(Some(piece.frame)).any(|at| menus[at]);
    }
}

/// Whether an aside of a section says something itself, as a hint or a warning does.
fn is_note(scene: &Scene<'_>, holder: &Holder) -> bool {
    let is_own = || holder.parent.and_then(|at| scene.holders.get(at)).is_some_and(|h| h.tag == Tag::Section);
    holder.tag == Tag::Aside && holder.sentences > 0 && holder.linked * 2 <= holder.bytes && is_own()
}

/// Chooses everything in the innermost element with nearly all that was chosen or is a program,
/// except what is marked as something else.
fn keep_container(scene: &Scene<'_>, code: &[bool], chosen: &mut [bool]) {
    let mut sums = vec![0usize; scene.holders.len()];
    let mut all = 0;
    for (i, m) in scene.measures.iter().enumerate().filter(|(i, _)| chosen[*i] || code[*i]) {
        all += m.chars.min(LONG);
        if let Some(sum) = scene.outline.pieces.get(i).and_then(|piece| sums.get_mut(piece.frame)) {
            *sum += m.chars.min(LONG);
        }
    }
    for i in (0..sums.len()).rev() {
        if let Some(parent) = scene.holders[i].parent {
            sums[parent] += sums[i];
        }
    }
    let Some(container) = sums.iter().rposition(|sum| *sum * 100 >= all * 85 && all > 0) else { return };
    let depth = scene.holders[container].depth;
    let navigation = navigation(scene);
    for (i, piece) in scene.outline.pieces.iter().enumerate() {
        let Some(own) = scene.holders.get(piece.frame) else { continue };
        let steps = own.depth.saturating_sub(depth).min(FAR);
        let below: Vec<usize> = scene.ancestors(Some(piece.frame)).take_while(|at| *at != container).collect();
        let is_inside = below.last().map_or(piece.frame, |at| scene.holders[*at].parent.unwrap_or(*at)) == container;
        let is_note = || below.iter().any(|at| scene.holders.get(*at).is_some_and(|holder| is_note(scene, holder)));
        let is_outside = |kind: &usize| own.distance[*kind] < steps && !(*kind == ASIDE && is_note());
        chosen[i] |= is_inside && !OUTSIDE.iter().any(is_outside) && !below.iter().any(|at| navigation[*at]);
    }
}
