//! A worker that crawls nothing, but records as if it did.

use super::server::Server;
use orb_page::{Discovered, HostId, LinkKind, Moment, PageId, PageKind, RunId, RunKind, UrlKey, Verdict, Visit};
use orb_store::*;
use orb_urls::Address;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use tempfile::TempDir;

/// A store with one project, and a place for its bytes.
pub struct Store {
    pub server: Server,
    pub bytes: TempDir,
}

/// The name of the project.
pub const NAME: &str = "demo";
/// Its schema.
pub const SCHEMA: &str = "orb_demo";
/// How many shards it has.
pub const SHARDS: u16 = 16;

impl Store {
    pub fn start() -> Self {
        Self { server: Server::start(), bytes: TempDir::new().unwrap() }
    }

    pub fn address(&self) -> SharedAddress {
        self.address_at(self.server.port)
    }

    pub fn address_at(&self, port: u16) -> SharedAddress {
        let archive = format!("file://{}", self.bytes.path().display());
        SharedAddress { postgres: self.server.url_at(port), archive, ..SharedAddress::default() }
    }

    pub fn project(&self) -> SharedProject {
        let made = SharedMaking { shards: Some(SHARDS), settings: "x = 1".to_owned() };
        SharedProject::create(&self.address(), NAME, &made).unwrap()
    }

    /// Plants a run with these seeds.
    pub fn plant(&self, seeds: &[&str]) -> RunId {
        let seeds = seeds.iter().map(|url| SeedToPlant { url: (*url).to_owned(), step: None }).collect();
        let run = PlantedRun {
            kind: RunKind::Crawl,
            settings: "s".to_owned(),
            budget: Some(1_000),
            machines: Vec::new(),
            seeds,
            by: "planter".into(),
        };
        self.project().plant(&run).unwrap()
    }

    pub fn count(&self, what: &str) -> i64 {
        self.server.number(&format!("SELECT count(*) FROM {SCHEMA}.{what}"))
    }
}

/// A worker with its desks.
pub struct Worker {
    pub member: Membership,
    pub clerk: ShardClerk,
    pub mail: Mailbox,
    pub project: Project,
    pub run: RunId,
    pub home: TempDir,
}

impl Worker {
    pub fn join(at: &SharedAddress, name: &str, lease: Duration) -> Self {
        let shared = SharedProject::open(at, NAME).unwrap();
        let card = WorkerCard { name: name.to_owned(), machine: "here".to_owned(), weight: 1, lease };
        let member = shared.join(&card).unwrap();
        let (home, project) = scratch(&member);
        let (clerk, mail) = (member.clerk().unwrap(), member.mailbox().unwrap());
        Self { member, clerk, mail, project, run: RunId(0), home }
    }

    /// Takes its share and loads it.
    pub fn settle(&mut self) -> usize {
        let beat = self.clerk.beat(&WorkerReport::default()).unwrap();
        if let Some(run) = &beat.run {
            self.run = run.record.id;
            self.project.enter_run(run).unwrap();
        }
        let most = beat.share.saturating_sub(u16::try_from(beat.held.len()).unwrap());
        let taken = self.clerk.take(most).unwrap();
        self.project.adopt(&taken).unwrap();
        taken.len()
    }

    /// A batch of what letters say: new pages and links.
    pub fn digest(&mut self) -> Batch {
        let mut batch = Batch { run: self.run, ..Batch::default() };
        let held = self.project.held();
        for delivery in self.mail.read(&held, 1 << 20).unwrap() {
            for letter in delivery.letters {
                let Letter::Found(found) = letter else { continue };
                let dst = self.found(&mut batch, &found.url, found.from.map(|(page, _)| page), found.depth);
                if let Some((src, shard)) = found.from.filter(|_| found.row) {
                    let (kind, anchor, rel, count) = (found.kind, found.anchor, found.rel, found.count);
                    batch.told.push(ToldLink { src, shard, dst, kind, anchor, rel, count });
                }
            }
            batch.read.push(delivery.id);
        }
        batch
    }

    /// The number of a page, which is put into the batch if it is new.
    pub fn found(&mut self, batch: &mut Batch, url: &str, from: Option<PageId>, depth: u32) -> PageId {
        let mut out = Vec::new();
        self.project.admit(&[UrlKey::of(url)], &mut out).unwrap();
        let page = out[0].page();
        if let Admission::New(page) = out[0] {
            let address = Address::from_canonical(url).unwrap();
            let host = self.project.admit_host(&address.origin(), || Moment(1)).unwrap();
            batch.discovered.push(Discovered {
                page,
                url: url.to_owned(),
                key: UrlKey::of(url),
                host,
                kind: PageKind::Frontier,
                why: None,
                depth,
                redirects: 0,
                priority: 0.5,
                rank: page.0,
                at: Moment(1),
                by: Arc::from(self.member.name()),
                step: None,
                asked: None,
                from,
            });
        }
        page
    }

    /// Visits up to `most` queued pages, each of which links to these URLs.
    pub fn visit(&mut self, most: usize, links: impl Fn(&str) -> Vec<String>) -> Batch {
        let mut batch = Batch { run: self.run, ..Batch::default() };
        let queues = self.project.queues();
        let (mut after, mut visited) = (HostId(0), 0);
        while let Some(host) = queues.next_host(after).unwrap() {
            after = host;
            for queued in queues.peek(host, None, most - visited).unwrap() {
                visited += 1;
                let mut visit =
                    Visit::blank(queued.page, host, queued.url.clone(), Moment(2), Arc::from(self.member.name()));
                visit.kind = PageKind::Html;
                visit.status = Some(200);
                let shard = self.project.shard_of(Address::from_canonical(&queued.url).unwrap().host()).unwrap();
                let mut targets = Vec::new();
                for url in links(&queued.url) {
                    visit.links.push(&url, UrlKey::of(&url), LinkKind::A, "words");
                    let target = Address::from_canonical(&url).unwrap();
                    if self.project.owns(target.host()) {
                        let page = self.found(&mut batch, &url, Some(queued.page), 1);
                        targets.push(page);
                    } else {
                        targets.push(PageId(0));
                        let to = self.project.shard_of(target.host()).unwrap();
                        batch.letters.push((to, letter(&url, (queued.page, shard))));
                    }
                }
                batch.finished.push(QueuePlace { host, rank: queued.rank, page: queued.page });
                batch.visits.push(FinishedVisit::unarchived(visit, targets));
            }
            if visited >= most {
                break;
            }
        }
        batch
    }

    /// Commits, and forgets the letters that it digested.
    pub fn commit(&mut self, batch: &mut Batch) -> Result<Committed> {
        let done = self.project.commit(batch)?;
        self.mail.settle(&batch.read);
        Ok(done)
    }
}

pub fn scratch(member: &Membership) -> (TempDir, Project) {
    let home = TempDir::new().unwrap();
    let project = open_scratch(home.path(), member);
    (home, project)
}

pub fn open_scratch(home: &Path, member: &Membership) -> Project {
    let dir = Home::open(home).unwrap().project(NAME).unwrap();
    Project::join(&dir, member, &ProjectOptions::default()).unwrap()
}

pub fn letter(url: &str, from: (PageId, ShardId)) -> Letter {
    Letter::Found(FoundLetter {
        from: Some(from),
        at: Moment(3),
        by: "w".into(),
        step: None,
        depth: 1,
        redirects: 0,
        url: url.to_owned(),
        asked: None,
        kind: LinkKind::A,
        anchor: "words".to_owned(),
        rel: String::new(),
        count: 1,
        priority: 0.5,
        verdict: Verdict::Follow,
        row: true,
    })
}
