//! Where does a page point, and may we go there?
//!
//! The links of a page are resolved, judged, and stripped of their host's session ids: a target is
//! identified by its URL without them, and requested by the one on the page.

use super::ResponseReader;
use crate::read::picture::mime_of_path;
use hashbrown::HashMap;
use hashbrown::hash_map::Entry;
use orb_page::{
    Document, Lease, Link, LinkKind, Links, PageKind, Pictured, Problem, Response, RobotsMeta, SkipReason, UrlKey,
    Verdict, Visit,
};
use orb_urls::session::Site;
use orb_urls::{Address, Judgement, OutOfScope};
use std::sync::Arc;

/// Maximum memory for the links of one page, and the same for its images: a long base URL makes
/// them many times larger than the page.
const MAX_FOUND: usize = 16 << 20;

/// Maximum links of a page from which session ids are learnt.
const LEARNT_FROM: usize = 2_000;

/// Maximum size of a page that may be there only to reload itself, and what it contains.
const MAX_RELOADING: usize = 4 << 10;
const REFRESH: &[u8] = b"http-equiv";

/// Expected links per page, and expected bytes of URL and anchor text of one, for capacity.
const LIKELY: usize = 16;
const ROOM: usize = 80;

/// A page whose links are being resolved.
struct LinkingPage<'a> {
    lease: &'a Lease,
    /// Its canonical identity.
    own: &'a Address,
    robots: RobotsMeta,
    /// What is known about the session ids of its host.
    site: Option<Arc<Site>>,
}

impl ResponseReader {
    /// Whether a page does nothing but reload itself with a session id. It is then requested by
    /// that URL, once.
    pub(super) fn reloads(&mut self, lease: &Lease, response: &Response, bytes: &[u8]) -> bool {
        let may_be = response.status == 200 && bytes.len() <= MAX_RELOADING && lease.asked.is_none();
        if !may_be || !bytes.windows(REFRESH.len()).any(|word| word.eq_ignore_ascii_case(REFRESH)) {
            return false;
        }
        let document = self.extract(lease, response, response.headers.mime().as_deref(), bytes);
        let mut refreshes = document.links.iter().filter(|link| link.kind == LinkKind::Refresh);
        refreshes.any(|link| self.rules.sessions.reloads(lease, &link.target))
    }

    /// Resolves and judges the links and images of a page.
    pub(super) fn point(
        &self,
        lease: &Lease,
        visit: &mut Visit,
        mut document: Document,
        robots: RobotsMeta,
        problems: &mut Vec<Problem>,
    ) -> Option<String> {
        let asked = self.rules.sessions.asked(lease)?;
        let before = self.rules.sessions.of(asked.host());
        let reader = self.rules.sessions.reader(before.as_deref());
        let base = reader.canonical_base(&asked, document.base.as_deref()).into_owned();
        let charset = document.charset.clone();
        let resolve = |mut link: Link| {
            let target = std::mem::take(&mut link.target);
            Some((self.resolve(&base, target, charset.as_deref(), before.as_deref())?, link))
        };
        let mut links = std::mem::take(&mut document.links).into_iter();
        let mut first: Vec<(Address, Link)> = Vec::with_capacity(links.len().min(LEARNT_FROM));
        first.extend(links.by_ref().take(LEARNT_FROM).filter_map(resolve));
        let learnt = self.learn(&asked, &first);
        let own = if lease.asked.is_some() { self.rules.canonical.parse(&lease.url).ok()? } else { asked };
        let origin = LinkingPage { lease, own: &own, robots, site: self.rules.sessions.of(own.host()) };
        visit.images = self.pictured(&origin, &base, &document);
        visit.links = self.found(&origin, first.into_iter().chain(links.filter_map(resolve)));
        if size_of_targets(&visit.links) > MAX_FOUND {
            problems.push(Problem::new("too-many-links", "links beyond the first 16 MB were left out"));
        }
        learnt
    }

    /// Learns session ids from a page's links to its own host.
    fn learn(&self, asked: &Address, targets: &[(Address, Link)]) -> Option<String> {
        // A listing names what is there: ids in it are names.
        if !asked.scheme().starts_with("http") {
            return None;
        }
        let is_own = |target: &Address, link: &Link| leads_on(link.kind) && target.host() == asked.host();
        let own: Vec<&str> = targets.iter().filter(|(t, l)| is_own(t, l)).map(|(t, _)| t.as_str()).collect();
        self.rules.sessions.observe(asked, &own)
    }

    /// Judges the links, one for each target and kind.
    fn found(&self, origin: &LinkingPage<'_>, targets: impl Iterator<Item = (Address, Link)>) -> Links {
        let scope = self.rules.of(origin.lease.step).0.current();
        let expected = targets.size_hint().0.max(LIKELY);
        let mut places: HashMap<(UrlKey, LinkKind), usize> = HashMap::with_capacity(expected);
        let mut out = Links::with_capacity(expected, expected * ROOM);
        let mut size = 0;
        for (target, link) in targets {
            if size > MAX_FOUND {
                break;
            }
            let (target, asked) = self.known_by(origin, target);
            let key = UrlKey::of(target.as_str());
            match places.entry((key, link.kind)) {
                Entry::Occupied(seen) => {
                    out.repeat(*seen.get(), &link.anchor);
                }
                Entry::Vacant(place) => {
                    place.insert(out.len());
                    let verdict = match scope.judge(&target, Some(origin.own)) {
                        Judgement::In => self.verdict(origin.lease, &link, origin.robots),
                        Judgement::Out(why) => Verdict::Outside(out_of_scope(why)),
                    };
                    let priority = self.rules.topic.priority(origin.lease.depth + 1, &target, &link.anchor);
                    size += target.as_str().len();
                    let found = out.push(target.as_str(), key, link.kind, &link.anchor);
                    (found.asked, found.rel, found.verdict, found.priority) = (asked, link.rel, verdict, priority);
                }
            }
        }
        out
    }

    /// The identity of a target, and the URL to request if it differs.
    fn known_by(&self, origin: &LinkingPage<'_>, target: Address) -> (Address, Option<String>) {
        let site = origin.site.as_deref().filter(|_| target.host() == origin.own.host());
        match site.and_then(|site| self.rules.sessions.identity(site, &target)) {
            Some(identity) => (identity, Some(target.into_string())),
            None => (target, None),
        }
    }

    /// The target of a link. On a page that is not in UTF-8, its query is written in the page's own
    /// encoding, as browsers do.
    fn resolve(&self, base: &Address, target: String, charset: Option<&str>, site: Option<&Site>) -> Option<Address> {
        let canonical = self.rules.sessions.reader(site);
        match charset {
            Some(charset) if charset != "UTF-8" && !target.is_ascii() => {
                canonical.resolve_encoded(base, &target, &|query| orb_extract::encoded(query, charset)).ok()
            }
            _ => canonical.resolve_owned(base, target).ok(),
        }
    }

    /// Whether to follow a link in scope.
    fn verdict(&self, lease: &Lease, link: &Link, robots: RobotsMeta) -> Verdict {
        if link.kind == LinkKind::Form {
            return Verdict::Outside(SkipReason::Form);
        }
        if !self.rules.follow_nofollow && (robots.nofollow || link.has_rel("nofollow")) {
            return Verdict::Outside(SkipReason::Nofollow);
        }
        match self.rules.of(lease.step).1 {
            Some(max) if lease.depth >= max => Verdict::Outside(SkipReason::Depth),
            _ => Verdict::Follow,
        }
    }

    fn pictured(&self, origin: &LinkingPage<'_>, base: &Address, document: &Document) -> Vec<Pictured> {
        let resolve = |image: &orb_page::Image| {
            let (address, _) = self.known_by(origin, self.rules.canonical.resolve(base, &image.src).ok()?);
            Some(Pictured {
                mime: mime_of_path(address.path()).map(str::to_owned),
                url: address.into_string(),
                alt: image.alt.clone(),
                width: image.width,
                height: image.height,
            })
        };
        let mut size = 0;
        let fits = |image: &Pictured| {
            size += image.url.len();
            size <= MAX_FOUND
        };
        document.images.iter().filter_map(resolve).take_while(fits).collect()
    }

    /// A redirect is a link like any other, but does not count as a step away from the seed.
    pub(super) fn follow_redirect(&self, lease: &Lease, visit: &mut Visit, response: &Response) -> Option<String> {
        if visit.kind != PageKind::Redirect {
            return None;
        }
        let location = response.headers.location()?;
        let asked = self.rules.sessions.asked(lease)?;
        let site = self.rules.sessions.of(asked.host());
        let target = match self.rules.sessions.reader(site.as_deref()).resolve(&asked, &location) {
            Ok(target) => target,
            Err(refused) => {
                visit.problem = Some(format!("redirect to '{}': {refused}", clip(&location, 200)));
                return None;
            }
        };
        let learnt = (target.host() == asked.host()).then(|| self.rules.sessions.redirected(&asked, &target)).flatten();
        let own = if lease.asked.is_some() { self.rules.canonical.parse(&lease.url).ok()? } else { asked };
        let site = self.rules.sessions.of(own.host());
        let origin = LinkingPage { lease, own: &own, robots: RobotsMeta::default(), site };
        let (target, asked) = self.known_by(&origin, target);
        if target == own {
            visit.problem =
                Some(format!("redirect-loop: the server leads from '{}' to itself", clip(own.as_str(), 200)));
        }
        if lease.depth == 0 {
            self.rules.of(lease.step).0.seed_moved(&own, &target);
        }
        // The page itself is in scope, so its redirect target is judged like its own link on a
        // seed's host.
        let (scope, _) = self.rules.of(lease.step);
        let from = scope.a_seed().unwrap_or(&own);
        let verdict = match scope.current().judge(&target, Some(from)) {
            Judgement::Out(why) => Verdict::Outside(out_of_scope(why)),
            Judgement::In if lease.redirects >= self.rules.max_redirects => Verdict::Outside(SkipReason::Redirects),
            Judgement::In => Verdict::Follow,
        };
        let priority = self.rules.topic.priority(lease.depth, &target, "");
        let found = visit.links.push(target.as_str(), UrlKey::of(target.as_str()), LinkKind::Redirect, "");
        (found.asked, found.verdict, found.priority) = (asked, verdict, priority);
        learnt
    }
}

/// Why a URL out of scope is not fetched.
pub(crate) const fn out_of_scope(why: OutOfScope) -> SkipReason {
    match why {
        OutOfScope::Area => SkipReason::Scope,
        OutOfScope::Extension => SkipReason::Extension,
        OutOfScope::Path => SkipReason::Path,
        OutOfScope::Rule => SkipReason::Rule,
    }
}

/// Whether a link of this kind is navigational, since sites write session ids into those.
const fn leads_on(kind: LinkKind) -> bool {
    matches!(
        kind,
        LinkKind::A | LinkKind::Area | LinkKind::Frame | LinkKind::Form | LinkKind::Refresh | LinkKind::Handler
    )
}

/// Total bytes of the links' URLs.
fn size_of_targets(links: &Links) -> usize {
    links.iter().map(|link| links.url(link).len()).sum()
}

/// The first `max` characters.
fn clip(text: &str, max: usize) -> &str {
    text.char_indices().nth(max).map_or(text, |(at, _)| &text[..at])
}
