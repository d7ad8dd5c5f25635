//! To what have projects subscribed?

use crate::problem::ProblemDetails;
use orb_page::Moment;
use orb_project::{ProjectDir, StoreError, fresh_secret};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs::{self, OpenOptions};
use std::io::{self, ErrorKind, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// How a subscription stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum SubscriptionState {
    /// The hub was asked, or will be.
    Pending,
    /// The hub has confirmed.
    Active,
    /// The hub has refused.
    Denied,
}

/// A subscription.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Subscription {
    /// The feed.
    pub(crate) topic: String,
    /// Who delivers it.
    pub(crate) hub: String,
    /// What only the hub knows: the end of the address it calls.
    pub(crate) id: String,
    /// What deliveries are signed with.
    pub(crate) secret: String,
    pub(crate) state: SubscriptionState,
    /// When the hub was last asked.
    pub(crate) asked_at: Option<String>,
    /// When the lease ends.
    pub(crate) until: Option<String>,
}

/// How long we wait before a hub that did not confirm is asked again.
const AGAIN: Duration = Duration::from_secs(3_600);

/// How long before its end a lease is renewed: long enough for some failures.
const BEFORE_END: Duration = Duration::from_secs(6 * 3_600);

/// How long a hub that refused is left alone.
const DENIED: Duration = Duration::from_secs(7 * 86_400);

impl Subscription {
    fn new(topic: String, hub: String) -> Result<Self, StoreError> {
        let (id, secret) = (fresh_secret()?, fresh_secret()?);
        Ok(Self { topic, hub, id, secret, state: SubscriptionState::Pending, asked_at: None, until: None })
    }

    /// Whether its hub should be asked now.
    pub(crate) fn is_due(&self, now: Moment) -> bool {
        let parsed = |text: &Option<String>| text.as_deref().and_then(Moment::parse);
        let Some(asked) = parsed(&self.asked_at) else { return true };
        match self.state {
            SubscriptionState::Pending => now >= asked.plus(AGAIN),
            SubscriptionState::Denied => now >= asked.plus(DENIED),
            SubscriptionState::Active => {
                let ends = parsed(&self.until).unwrap_or(now);
                now.plus(BEFORE_END) >= ends && now >= asked.plus(AGAIN)
            }
        }
    }
}

/// What a project keeps of its subscriptions.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct SubscriptionFile {
    /// The last run in whose pages hubs were looked for.
    pub(crate) run: u32,
    pub(crate) subscriptions: Vec<Subscription>,
}

/// The subscriptions of all projects, by project.
#[derive(Default)]
pub(crate) struct Subscriptions(Mutex<BTreeMap<String, SubscriptionFile>>);

impl Subscriptions {
    fn all(&self) -> MutexGuard<'_, BTreeMap<String, SubscriptionFile>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What a project keeps, read from its file the first time.
    pub(crate) fn of(&self, project: &ProjectDir) -> io::Result<SubscriptionFile> {
        if let Some(known) = self.all().get(&project.name) {
            return Ok(known.clone());
        }
        let file = match fs::read(project.dir.join("websub.json")) {
            Ok(text) => serde_json::from_slice(&text)?,
            Err(e) if e.kind() == ErrorKind::NotFound => SubscriptionFile::default(),
            Err(e) => return Err(e),
        };
        Ok(self.all().entry(project.name.clone()).or_insert(file).clone())
    }

    /// Changes what a project keeps, and writes it down.
    pub(crate) fn change(&self, project: &ProjectDir, how: impl FnOnce(&mut SubscriptionFile)) -> io::Result<()> {
        self.of(project)?;
        let mut all = self.all();
        let file = all.entry(project.name.clone()).or_default();
        how(file);
        write(project, file)
    }

    /// Takes feeds up that were found in the pages of a run, at most so many.
    pub(crate) fn take_up(
        &self,
        project: &ProjectDir,
        run: u32,
        found: Vec<orb_answers::FeedHub>,
        most: usize,
    ) -> Result<(), ProblemDetails> {
        let known = self.of(project).map_err(|e| ProblemDetails::failed(&e))?.subscriptions;
        let news = found.into_iter().filter(|feed| !known.iter().any(|known| known.topic == feed.topic));
        let room = most.saturating_sub(known.len());
        let news: Vec<Subscription> =
            news.take(room).map(|f| Subscription::new(f.topic, f.hub)).collect::<Result<_, _>>()?;
        let added = self.change(project, |file| {
            file.run = run;
            file.subscriptions.extend(news);
        });
        added.map_err(|e| ProblemDetails::failed(&e))
    }

    /// The project and the subscription that a hub means by this id.
    pub(crate) fn find(&self, id: &str) -> Option<(String, Subscription)> {
        let all = self.all();
        let mut each = all.iter().flat_map(|(project, file)| file.subscriptions.iter().map(move |one| (project, one)));
        each.find(|(_, one)| one.id == id).map(|(project, one)| (project.clone(), one.clone()))
    }
}

/// Replaces the file of a project; nobody else may read it.
fn write(project: &ProjectDir, file: &SubscriptionFile) -> io::Result<()> {
    let (path, unfinished) = (project.dir.join("websub.json"), project.dir.join("websub.json.new"));
    let text = serde_json::to_vec(file)?;
    let mut out = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&unfinished)?;
    out.write_all(&text).and_then(|()| out.sync_data())?;
    fs::rename(&unfinished, &path)
}

#[cfg(test)]
mod tests {
    use super::*;
    use orb_answers::FeedHub;
    use orb_project::Home;

    #[test]
    fn a_hub_is_asked_again_before_its_lease_ends_and_not_too_often() {
        let mut one = Subscription::new("t".into(), "h".into()).unwrap();
        let (now, hour) = (Moment::now(), |n: u64| Duration::from_secs(n * 3_600));
        assert!(one.is_due(now));
        one.asked_at = Some(now.to_string());
        assert!(!one.is_due(now.plus(hour(0))) && one.is_due(now.plus(hour(1) + Duration::from_secs(1))));
        (one.state, one.until) = (SubscriptionState::Active, Some(now.plus(hour(240)).to_string()));
        assert!(!one.is_due(now.plus(hour(230))) && one.is_due(now.plus(hour(235))));
        one.until = Some(now.plus(Duration::from_secs(60)).to_string());
        assert!(!one.is_due(now.plus(Duration::from_secs(61))), "a short lease is no reason to ask all the time");
        one.state = SubscriptionState::Denied;
        assert!(!one.is_due(now.plus(hour(24))) && one.is_due(now.plus(hour(24 * 7 + 1))));
    }

    #[test]
    fn subscriptions_outlive_the_server_and_are_the_owners_alone() {
        use std::os::unix::fs::PermissionsExt as _;
        let tmp = tempfile::tempdir().unwrap();
        let project = Home::open(tmp.path()).unwrap().project("p").unwrap();
        let feed = |topic: &str| FeedHub { topic: topic.into(), hub: "http://h.test/".into() };
        let book = Subscriptions::default();
        book.take_up(&project, 3, vec![feed("a"), feed("b")], 10).unwrap();
        book.take_up(&project, 4, vec![feed("b"), feed("c"), feed("d")], 3).unwrap();
        let kept = Subscriptions::default().of(&project).unwrap();
        assert_eq!(kept.subscriptions.iter().map(|one| one.topic.as_str()).collect::<Vec<_>>(), ["a", "b", "c"]);
        assert_eq!(kept.run, 4);
        let (name, found) = book.find(&kept.subscriptions[1].id).unwrap();
        assert_eq!((name.as_str(), found.topic.as_str(), book.find("x")), ("p", "b", None));
        let mode = fs::metadata(project.dir.join("websub.json")).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }
}
