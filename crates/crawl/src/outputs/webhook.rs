//! How are changes delivered to webhooks?
//!
//! A batch of changes is one POST of JSON. A 2xx response means it was accepted, and only then the
//! cursor advances; anything else is retried with exponential back-off, and finally left for the
//! next delivery under the same id and with the same changes. So a receiver gets everything at
//! least once and can deduplicate. Deliveries follow a run or stand alone, when no line of a run is
//! open: a receiver gets one of its own, under the same settings, so name server, proxy,
//! certificates, bandwidth and the address guard apply here too. Only internal addresses that the
//! project file itself names are allowed.

use super::OutputSource;
use super::sign::signature;
use crate::config::fetch_config;
use crate::{CrawlError, Stop};
use bytes::Bytes;
use orb_fetch::{FetchConfig, Fetchers, HttpRequest, Timeouts, Unwatched};
use orb_page::{Flag, Moment, RequestBody};
use orb_project::{HookEvent, Settings, WebhookSettings};
use orb_store::{ProjectDir, ReportRow};
use orb_urls::{Address, Canonicaliser, Rules};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use std::time::Duration;

/// Maximum wait between two attempts.
const LONGEST_WAIT: Duration = Duration::from_secs(30);

/// Maximum bytes read of a response.
const ANSWER: u64 = 64_000;

/// A receiver and how to reach it.
pub(super) struct Receiver<'a> {
    hook: &'a WebhookSettings,
    secret: Option<String>,
    fetchers: Fetchers,
    runtime: tokio::runtime::Runtime,
}

/// A delivery: its body, and its stable id.
pub(super) struct Parcel {
    id: String,
    payload: RequestBody,
}

impl Parcel {
    /// An object that is sent under an id made of what is the same whenever it is sent again.
    pub(super) fn of(key: &str, mut body: Value) -> Self {
        let digest: String = Sha256::digest(key).iter().take(16).map(|b| format!("{b:02x}")).collect();
        let id = format!("orb_{digest}");
        if let Some(fields) = body.as_object_mut() {
            fields.insert("id".to_owned(), id.clone().into());
        }
        let bytes = Bytes::from(body.to_string());
        Self { id, payload: RequestBody { mime: "application/json".to_owned(), kept: bytes.clone(), bytes } }
    }
}

/// Delivers to a webhook, batch by batch.
pub(super) fn post(
    source: &OutputSource<'_>,
    hook: &WebhookSettings,
    settings: &Settings,
    variable: &(dyn Fn(&str) -> Option<String> + Sync),
) -> Result<u64, CrawlError> {
    let flags: Vec<Flag> = hook.flags.iter().map(|name| name.flag()).collect();
    let last = source.reader.last_change()?;
    if !hook.events.contains(&HookEvent::Changes) {
        source.mark_delivered(last)?;
        return Ok(0);
    }
    let mut delivered = 0;
    let mut receiver = None;
    loop {
        let cursor = source.cursor();
        let rows = source.reader.feed(cursor, &flags, u32::try_from(hook.batch).unwrap_or(u32::MAX))?;
        let Some(end) = rows.last().and_then(|row| row.seq) else { break };
        let end = source.until(cursor, end)?;
        let rows: Vec<ReportRow> = rows.into_iter().filter(|row| row.seq <= Some(end)).collect();
        let receiver = match &mut receiver {
            Some(receiver) => receiver,
            none => none.insert(Receiver::new(source.project, hook, settings, variable)?),
        };
        receiver.deliver(source.stop, &parcel(source, hook, cursor, &rows))?;
        delivered += rows.len() as u64;
        source.mark_delivered(end)?;
    }
    source.mark_delivered(last)?;
    Ok(delivered)
}

/// The body: the changes with their range.
fn parcel(source: &OutputSource<'_>, hook: &WebhookSettings, after: u64, rows: &[ReportRow]) -> Parcel {
    let project = source.project;
    let next = rows.last().and_then(|row| row.seq).unwrap_or(after);
    let key = format!("{} {} {} {after} {next}", project.name, project.created_at.0, hook.url);
    Parcel::of(&key, json!({"type": "changes", "project": project.name, "after": after, "next": next, "changes": rows}))
}

impl<'a> Receiver<'a> {
    pub(super) fn new(
        project: &ProjectDir,
        hook: &'a WebhookSettings,
        settings: &Settings,
        variable: &(dyn Fn(&str) -> Option<String> + Sync),
    ) -> Result<Self, CrawlError> {
        let secret = match &hook.secret_env {
            Some(name) => {
                let unset = || CrawlError::Setting(format!("the variable {name}, which holds its secret, is not set"));
                Some(variable(name).ok_or_else(unset)?)
            }
            None => hook.secret.clone(),
        };
        let named = Canonicaliser::new(Rules { strip_userinfo: false, ..Rules::default() }).parse_seed(&hook.url);
        let named: Vec<Address> = named.into_iter().collect();
        let config = FetchConfig {
            timeouts: Timeouts::within(hook.timeout.0),
            max_size: ANSWER,
            accept: Vec::new(),
            cookies: false,
            connections: 1,
            per_host: 1,
            spool_dir: project.dir.clone(),
            ..fetch_config(&settings.fetch, &named)?
        };
        let runtime =
            tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(CrawlError::Threads)?;
        let fetchers = runtime.block_on(async { Fetchers::new(config) })?;
        Ok(Self { hook, secret, fetchers, runtime })
    }

    /// Sends until it is accepted, or the retries are exhausted.
    pub(super) fn deliver(&self, stop: &Stop, parcel: &Parcel) -> Result<(), CrawlError> {
        let mut wait = Duration::from_secs(1);
        let mut attempt = 0;
        loop {
            let refused = match self.send(parcel) {
                Ok(()) => return Ok(()),
                Err(refused) => refused,
            };
            let patient = refused.may_pass && attempt < self.hook.retries;
            if !patient || stop.wait(refused.wait.unwrap_or(wait).min(LONGEST_WAIT)) {
                return Err(CrawlError::Setting(refused.why));
            }
            attempt += 1;
            wait = (wait * 2).min(LONGEST_WAIT);
        }
    }

    fn send(&self, parcel: &Parcel) -> Result<(), RejectedDelivery> {
        let seconds = Moment::now().0.div_euclid(1_000);
        let mut fields = vec![("webhook-id", parcel.id.clone()), ("webhook-timestamp", seconds.to_string())];
        if let Some(secret) = &self.secret {
            fields.push(("webhook-signature", signature(secret, &parcel.id, seconds, &parcel.payload.bytes)));
        }
        let lost = |why: String, may_pass| RejectedDelivery { why, may_pass, wait: None };
        let request = HttpRequest::post(&self.hook.url, &parcel.payload, fields).map_err(|e| lost(e.detail, false))?;
        let outcome = self.runtime.block_on(self.fetchers.send(&request, &Unwatched));
        let answer = outcome.result.map_err(|failure| lost(failure.detail, true))?;
        match answer.status {
            200..=299 => Ok(()),
            status => {
                let wait =
                    answer.headers.get("retry-after").and_then(|text| text.parse().ok().map(Duration::from_secs));
                let may_pass = status >= 500 || [408, 425, 429].contains(&status);
                Err(RejectedDelivery { why: format!("it answered {status}"), may_pass, wait })
            }
        }
    }
}

/// Why a receiver rejected a delivery.
struct RejectedDelivery {
    why: String,
    may_pass: bool,
    wait: Option<Duration>,
}
