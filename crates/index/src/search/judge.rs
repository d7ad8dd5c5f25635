//! How well does a page answer, and which of its sections does?
//!
//! The formula is in [`crate::rank`]. A page is judged by what its fields have of the query, by its
//! best section, by how much its name or its section's name *is* the query, and by how close the
//! words of the query are to each other.

use super::evidence::{BODY, PageEvidence, UnitPlace, UnitPlaces};
use super::units::QueryUnit;
use crate::rank::{Aspect, Weights};
use crate::schema::TextField;
use crate::section::NameMark;

/// Saturation of term frequencies, and the influence of lengths, as in BM25.
const K1: f32 = 1.2;
const B: f32 = 0.75;

/// The length of a section that counts as average, in tokens.
const USUAL_SECTION: f32 = 150.0;

/// An occurrence in the title of a section counts as this many in its text.
const IN_TITLE: f32 = 2.0;

/// What the worse of a page's two names adds to the better one, what the worse of the page's and
/// the section's does, and what the name of a section counts compared with that of a page.
const BOTH: f32 = 0.5;
const SECOND: f32 = 0.3;
const OF_SECTION: f32 = 0.8;

/// What a page loses that is hardly more than links; from half its text on, a part of that. The
/// alphabetical index of a manual is not links only: what they lead to is named before them.
const ONLY_LINKS: f32 = 0.9;
const HALF: f32 = 50.0;
const TO_ONLY: f32 = 20.0;

/// How close two words must be to count as neighbours, in tokens, and what they count in the other
/// order.
const NEAR: u32 = 3;
const OTHER_ORDER: f32 = 0.5;

/// The same for any two words of the query, in either order: in a sentence, say. What they count
/// compared with neighbours, how soon they are enough, and of how many words pairs are formed.
const IN_REACH: u32 = 12;
const LOOSELY: f32 = 0.6;
const K_LOOSELY: f32 = 2.0;
const PAIRED: usize = 8;

/// What a page of average length would be, by field.
pub(super) type AverageLengths = [f32; TextField::ALL.len()];

/// The judgement of a page.
#[derive(Clone, Debug, Default)]
pub(super) struct PageJudgement {
    pub(super) text: f32,
    /// The number of its best section.
    pub(super) section: Option<usize>,
    /// The parts of the score, if they are asked for.
    pub(super) shares: Vec<(String, Aspect, f32)>,
}

/// A query, to judge pages by.
pub(super) struct Judge<'a> {
    pub(super) units: &'a [QueryUnit],
    pub(super) weights: &'a Weights,
    pub(super) average: AverageLengths,
    /// Whether the parts of each score are asked for.
    pub(super) explain: bool,
}

/// For each unit, how much of it a name has: 1 if as typed, less in another form, 0 if not.
type UnitShares = Vec<f32>;

/// What a section has of the query.
#[derive(Clone, Debug, Default)]
struct SectionMatch {
    /// Its number; `None` for what stands before the first one.
    number: Option<usize>,
    /// Occurrences by unit.
    counts: Vec<f32>,
    /// What its title has.
    titled: UnitShares,
}

impl Judge<'_> {
    /// The sum of all rarities.
    fn whole(&self) -> f32 {
        self.units.iter().map(|unit| unit.rarity).sum::<f32>().max(f32::MIN_POSITIVE)
    }

    /// The rarities of what a name has.
    fn rarities(&self, shares: &[f32]) -> f32 {
        self.units.iter().zip(shares).map(|(unit, share)| unit.rarity * share).sum()
    }

    /// Judges a page; `described` is how well another page describes it.
    pub(super) fn judge(&self, page: &PageEvidence, described: f32) -> PageJudgement {
        let mut out = PageJudgement::default();
        let (named, name) = self.name(page);
        self.fields(page, &mut out);
        let best = self.best_section(page, &named);
        if let Some((number, section, in_name)) = best {
            // A page that is named like the query answers as a whole.
            let answers = number.filter(|_| in_name > name || name <= 0.0);
            out.section = answers.and_then(|number| page.numbers.get(number).copied());
            self.add(&mut out, "", Aspect::Section, self.weights.section() * section);
            let (more, less) = if in_name > name { (1.0, SECOND) } else { (SECOND, 1.0) };
            self.add(&mut out, "", Aspect::SectionName, self.weights.name() * more * in_name);
            self.add(&mut out, "", Aspect::Name, self.weights.name() * less * name);
        } else {
            self.add(&mut out, "", Aspect::Name, self.weights.name() * name);
        }
        // What others say about a page counts as far as it is more than its name says.
        let said = self.weights.name() * best.map_or(name, |(_, _, in_name)| in_name.max(name));
        self.add(&mut out, "", Aspect::Described, (self.weights.described() * described - said).max(0.0));
        let near = self.near(page, best.and_then(|(number, ..)| number)) + LOOSELY * self.together(page);
        self.add(&mut out, "", Aspect::Near, self.weights.phrase() * near);
        self.discount(page, &mut out);
        out
    }

    /// A page that is hardly more than links says where answers are, not what they are.
    fn discount(&self, page: &PageEvidence, out: &mut PageJudgement) {
        let beyond_half = ((f32::from(page.name.linked) - HALF) / TO_ONLY).clamp(0.0, 1.0);
        let factor = 1.0 - ONLY_LINKS * beyond_half;
        out.text *= factor;
        out.shares.iter_mut().for_each(|(.., score)| *score *= factor);
    }

    fn add(&self, out: &mut PageJudgement, words: &str, aspect: Aspect, score: f32) {
        out.text += score;
        if self.explain && score > 0.0 {
            out.shares.push((words.to_owned(), aspect, score));
        }
    }

    /// What the fields have: those that name the page together (BM25F), and the text.
    fn fields(&self, page: &PageEvidence, out: &mut PageJudgement) {
        for (unit, places) in self.units.iter().zip(&page.units) {
            let mut parts = [0.0; TextField::ALL.len()];
            for (field, part) in TextField::ALL.iter().enumerate() {
                parts[field] = self.weights.of(*part) * self.normal(page, field, places.counts[field]);
            }
            parts[BODY] = 0.0;
            let names: f32 = parts.iter().sum();
            let text = self.normal(page, BODY, places.counts[BODY]);
            let naming = unit.rarity / (K1 + names);
            let texting = self.weights.of(TextField::Body) * unit.rarity * text / (K1 + text);
            for (part, count) in TextField::ALL.iter().zip(parts) {
                self.add(out, &unit.text, Aspect::Field(*part), naming * count);
            }
            self.add(out, &unit.text, Aspect::Field(TextField::Body), texting);
        }
    }

    /// Occurrences in a field, as in one of average length.
    #[expect(clippy::cast_precision_loss, reason = "a length")]
    fn normal(&self, page: &PageEvidence, field: usize, count: f32) -> f32 {
        let (length, average) = (page.lengths[field] as f32, self.average[field]);
        let known = length > 0.0 && average > 0.0;
        if known { count / (1.0 - B + B * length / average) } else { count }
    }

    /// How much the page's name is the query, by its main heading and by the end of its URL; and
    /// which units are in either.
    fn name(&self, page: &PageEvidence) -> (UnitShares, f32) {
        let NameMark { from, to, .. } = page.name;
        let mut in_url = self.shares(page, |places| best_between(&places.url, from, to));
        let url = self.likeness(&in_url, &in_url, to.saturating_sub(from));
        let heading = page.sections.iter().find(|section| section.level == 1);
        let (in_heading, heading) = match heading {
            Some(section) => {
                let title = section.title_range();
                let shares = self.shares(page, |places| best_between(&places.body, title.start, title.end));
                let likeness = self.likeness(&shares, &shares, u32::from(section.telling));
                (shares, likeness)
            }
            None => {
                let shares = self.shares(page, |places| best_between(&places.title, 0, u32::MAX));
                let likeness = self.likeness(&shares, &shares, page.lengths[0]);
                (shares, likeness)
            }
        };
        join(&mut in_url, &in_heading);
        (in_url, url.max(heading) + BOTH * url.min(heading))
    }

    /// Between 0 and the sum of all rarities: how much of the query a name has, and how much of the
    /// name the query has.
    #[expect(clippy::cast_precision_loss, reason = "a few tokens")]
    fn likeness(&self, asked: &[f32], own: &[f32], length: u32) -> f32 {
        let tokens: f32 = self.units.iter().zip(own).map(|(unit, share)| unit.len() as f32 * share).sum();
        if tokens <= 0.0 {
            return 0.0;
        }
        let (share, rarities) = ((tokens / (length as f32).max(1.0)).min(1.0), self.rarities(asked));
        rarities * share * (rarities / self.whole())
    }

    fn shares(&self, page: &PageEvidence, of: impl Fn(&UnitPlaces) -> f32) -> UnitShares {
        page.units.iter().map(of).collect()
    }

    /// The best section: its number, its score by its text and by its name.
    fn best_section(&self, page: &PageEvidence, named: &[f32]) -> Option<(Option<usize>, f32, f32)> {
        let mut best: Option<(Option<usize>, f32, f32)> = None;
        for section in self.sections(page) {
            let text = self.section_text(page, &section);
            let mark = section.number.map(|number| page.sections[number]);
            // The words of the page's name need not be repeated in those of its sections.
            let in_name = mark.filter(|mark| mark.level > 1).map_or(0.0, |mark| {
                let mut asked = section.titled.clone();
                join(&mut asked, named);
                OF_SECTION * self.likeness(&asked, &section.titled, u32::from(mark.telling))
            });
            let sum = self.weights.section() * text + self.weights.name() * in_name;
            let most = best.map_or(0.0, |(_, text, name)| self.weights.section() * text + self.weights.name() * name);
            if best.is_none() || sum > most {
                best = Some((section.number, text, in_name));
            }
        }
        best
    }

    /// BM25 with the section as the document.
    #[expect(clippy::cast_precision_loss, reason = "a length")]
    fn section_text(&self, page: &PageEvidence, section: &SectionMatch) -> f32 {
        let begin = section.number.map_or(0, |number| page.sections[number].begin);
        let next = section.number.map_or(0, |number| number + 1);
        let end = page.sections.get(next).map_or(page.lengths[BODY], |next| next.begin);
        let length = end.saturating_sub(begin) as f32;
        let norm = K1 * (1.0 - B + B * length / USUAL_SECTION);
        let score = |(unit, count): (&QueryUnit, &f32)| unit.rarity * count / (norm + count);
        self.units.iter().zip(&section.counts).map(score).sum()
    }

    /// The sections that have something of the query.
    fn sections(&self, page: &PageEvidence) -> Vec<SectionMatch> {
        let mut places: Vec<(Option<usize>, usize, bool, f32)> = Vec::new();
        for (unit, found) in page.units.iter().enumerate() {
            let mut next = 0;
            for place in &found.body {
                while page.sections.get(next).is_some_and(|section| section.begin <= place.at) {
                    next += 1;
                }
                let number = next.checked_sub(1);
                let titled = number.is_some_and(|number| page.sections[number].title_range().contains(&place.at));
                places.push((number, unit, titled, place.worth));
            }
        }
        places.sort_by_key(|(number, ..)| *number);
        let of = |places: &[(Option<usize>, usize, bool, f32)]| {
            let nothing = vec![0.0; self.units.len()];
            let mut section = SectionMatch { number: places[0].0, counts: nothing.clone(), titled: nothing };
            for (_, unit, titled, worth) in places {
                section.counts[*unit] += worth * if *titled { IN_TITLE } else { 1.0 };
                if *titled {
                    section.titled[*unit] = section.titled[*unit].max(*worth);
                }
            }
            section
        };
        places.chunk_by(|a, b| a.0 == b.0).map(of).collect()
    }

    /// Units that follow each other in the query and are close to each other in the text.
    fn near(&self, page: &PageEvidence, section: Option<usize>) -> f32 {
        let begin = section.map_or(0, |number| page.sections[number].begin);
        let end = section.and_then(|number| page.sections.get(number + 1)).map_or(u32::MAX, |next| next.begin);
        let mut sum = 0.0;
        for (units, places) in self.units.windows(2).zip(page.units.windows(2)) {
            let ([a, b], [of_a, of_b]) = (units, places) else { continue };
            let reach = NEAR + u32::try_from(a.len()).unwrap_or(0);
            let within = |places: &'_ [UnitPlace]| {
                let from = places.partition_point(|place| place.at < begin);
                let to = places.partition_point(|place| place.at < end);
                from..to.max(from)
            };
            let (first, second) = (&of_a.body[within(&of_a.body)], &of_b.body[within(&of_b.body)]);
            let count = followed(first, second, reach) + OTHER_ORDER * followed(second, first, reach);
            let titled = followed(&of_a.title, &of_b.title, reach).min(1.0);
            let count = count + 2.0 * titled;
            sum += 0.5 * (a.rarity + b.rarity) * count / (K1 + count);
        }
        sum
    }
}

impl Judge<'_> {
    /// Any two units that are near each other somewhere in the text.
    #[expect(clippy::cast_precision_loss, reason = "a few pairs")]
    fn together(&self, page: &PageEvidence) -> f32 {
        let mut rarest: Vec<usize> = (0..self.units.len()).collect();
        rarest.sort_by(|a, b| self.units[*b].rarity.total_cmp(&self.units[*a].rarity));
        rarest.truncate(PAIRED);
        let (mut sum, mut pairs) = (0.0, 0usize);
        for (i, a) in rarest.iter().enumerate() {
            for b in &rarest[i + 1..] {
                let (x, y) = (&page.units[*a].body, &page.units[*b].body);
                let count = followed(x, y, IN_REACH) + followed(y, x, IN_REACH);
                sum += 0.5 * (self.units[*a].rarity + self.units[*b].rarity) * count / (K_LOOSELY + count);
                pairs += 1;
            }
        }
        sum / (pairs.max(1) as f32).sqrt()
    }
}

/// The best of the occurrences in a range, by what it counts; 0 if there is none.
fn best_between(places: &[UnitPlace], from: u32, to: u32) -> f32 {
    let first = places.partition_point(|place| place.at < from);
    places[first..].iter().take_while(|place| place.at < to).map(|place| place.worth).fold(0.0, f32::max)
}

/// Adds what another name has.
fn join(shares: &mut [f32], others: &[f32]) {
    shares.iter_mut().zip(others).for_each(|(share, other)| *share = share.max(*other));
}

/// How many occurrences are followed by another within reach.
fn followed(first: &[UnitPlace], second: &[UnitPlace], reach: u32) -> f32 {
    let follows = |place: &UnitPlace| {
        let next = second.partition_point(|other| other.at <= place.at);
        let near = second.get(next).filter(|other| other.at < place.at.saturating_add(reach));
        near.map_or(0.0, |other| place.worth * other.worth)
    };
    first.iter().map(follows).sum()
}
