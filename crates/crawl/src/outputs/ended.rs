//! Who is told that a run has ended?
//!
//! Webhooks that ask for it: `run.finished` with the account of the run, `run.failed` with the
//! reason. Unlike changes, which wait until they are accepted, this is news: if a receiver does not
//! take it after all retries, it is not sent again.

use super::Delivery;
use super::webhook::{Parcel, Receiver};
use crate::Summary;
use orb_project::{HookEvent, WebhookSettings, without_user};
use orb_store::ProjectDir;
use serde_json::{Value, json};

/// How a run has ended.
pub enum RunEnd<'a> {
    /// As it should, or because somebody stopped it.
    Finished(&'a Summary),
    /// It could not go on.
    Failed {
        /// `crawl` or `track`.
        kind: &'static str,
        /// Why.
        why: &'a str,
    },
    /// There was no run: somebody tries whether the receiver is there.
    Trial,
}

impl RunEnd<'_> {
    /// What a webhook must ask for to be told; a trial is for all of them.
    const fn event(&self) -> Option<HookEvent> {
        match self {
            Self::Finished(_) => Some(HookEvent::RunFinished),
            Self::Failed { .. } => Some(HookEvent::RunFailed),
            Self::Trial => None,
        }
    }

    /// What a receiver gets.
    fn parcel(&self, project: &ProjectDir, hook: &WebhookSettings, at: &str) -> Parcel {
        let mut body = match self {
            Self::Finished(summary) => serde_json::to_value(summary).unwrap_or_default(),
            Self::Failed { kind, why } => json!({"kind": kind, "why": why}),
            Self::Trial => json!({}),
        };
        let run = body.get("run").and_then(Value::as_u64).unwrap_or(0);
        let event = self.event().map_or("test", HookEvent::name);
        let key = format!("{event} {} {} {run} {at} {}", project.name, project.created_at.0, hook.url);
        if let Some(fields) = body.as_object_mut() {
            fields.insert("type".to_owned(), event.into());
            fields.insert("project".to_owned(), project.name.clone().into());
            fields.insert("at".to_owned(), at.into());
        }
        Parcel::of(&key, body)
    }
}

impl Delivery<'_> {
    /// Tells the webhooks that ask for it how a run has ended. Returns those that did not take it,
    /// with the reason.
    pub fn tell_end(&self, end: &RunEnd<'_>) -> Vec<(String, String)> {
        let at = orb_page::Moment::now().to_string();
        let wants = |hook: &&WebhookSettings| end.event().is_none_or(|event| hook.events.contains(&event));
        let tell = |hook: &WebhookSettings| {
            let told = Receiver::new(self.project, hook, self.settings, self.variable)
                .and_then(|receiver| receiver.deliver(self.stop, &end.parcel(self.project, hook, &at)));
            told.err().map(|error| (without_user(&hook.url), super::chain(&error)))
        };
        self.settings.outputs.webhook.iter().filter(wants).filter_map(tell).collect()
    }
}
