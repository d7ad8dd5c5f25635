//! When are hubs asked?
//!
//! Once a minute the projects are looked through: one that has been run since the last look is
//! searched for feeds with hubs, and hubs whose lease ends soon, or that did not confirm, are
//! asked. What fails is tried again later.

use super::book::Subscription;
use crate::shared::ServedHome;
use crate::state::AppState;
use orb_answers::{hubs, last_run};
use orb_crawl::send_form;
use orb_page::Moment;
use orb_project::{AskedProject, ProjectDir};
use std::sync::Arc;
use std::time::Duration;

/// Between two looks.
const LOOK: Duration = Duration::from_secs(60);

/// Subscriptions of a project at most.
const MOST: usize = 100;

/// The lease we ask for.
const LEASE: Duration = Duration::from_secs(10 * 86_400);

/// Keeps subscriptions until the server stops; `public` is the address by which hubs reach it.
pub(crate) async fn keep_subscriptions(state: Arc<AppState>, public: String) {
    let mut closing = state.closing.clone();
    loop {
        let projects = state.desk.work(|home: &ServedHome| home.alone().list().unwrap_or_default()).await;
        for project in projects.unwrap_or_default() {
            look_after(&state, &project, &public).await;
        }
        tokio::select! {
            () = tokio::time::sleep(LOOK) => {}
            _ = closing.wait_for(|closing| *closing) => return,
        }
    }
}

/// Looks for new hubs of a project, and asks those that are due.
async fn look_after(state: &Arc<AppState>, project: &ProjectDir, public: &str) {
    let Ok(kept) = state.websub.of(project) else {
        return tracing::warn!("the subscriptions of project {} cannot be read", project.name);
    };
    let last = last_run(project).ok().flatten().map_or(0, |run| run.id.0);
    if last > kept.run
        && let Ok(found) = state.desk.ask(project, hubs).await
        && let Err(problem) = state.websub.take_up(project, last, found, MOST)
    {
        tracing::warn!("project {} does not subscribe: {}", project.name, problem.detail);
    }
    let subscriptions = state.websub.of(project).map(|kept| kept.subscriptions).unwrap_or_default();
    for one in subscriptions.into_iter().filter(|one| one.is_due(Moment::now())) {
        ask(state, project, one, public).await;
    }
}

/// Asks a hub to deliver.
async fn ask(state: &Arc<AppState>, project: &ProjectDir, one: Subscription, public: &str) {
    let fields = fields(&one, public);
    let (name, hub, now) = (project.name.clone(), one.hub.clone(), Moment::now().to_string());
    // Whoever confirms at once must find it asked.
    let noted = state.websub.change(project, |file| {
        if let Some(known) = file.subscriptions.iter_mut().find(|known| known.id == one.id) {
            known.asked_at = Some(now);
        }
    });
    if noted.is_err() {
        return tracing::warn!("the subscriptions of project {name} cannot be written");
    }
    let known = move |home: &ServedHome| AskedProject::kept(home, &name).map(|asked| (asked, home.path().to_owned()));
    let asked = state.desk.work(move |home: &ServedHome| known(home).map_err(|e| e.to_string())).await;
    let Ok(Ok((AskedProject { settings, seeds, .. }, scratch))) = asked else { return };
    let sent = tokio::task::spawn_blocking(move || send_form(&settings, &seeds, &scratch, &hub, fields)).await;
    match sent {
        Ok(Ok(200..=299)) => {}
        Ok(Ok(status)) => tracing::warn!("the hub {} of {} answered {status}", one.hub, one.topic),
        Ok(Err(error)) => tracing::warn!("the hub {} of {} was not reached: {error}", one.hub, one.topic),
        Err(error) => tracing::warn!("asking the hub {} failed: {error}", one.hub),
    }
}

/// What a hub is told.
fn fields(one: &Subscription, public: &str) -> String {
    let callback = format!("{}/websub/{}", public.trim_end_matches('/'), one.id);
    let mut form = url::form_urlencoded::Serializer::new(String::new());
    form.append_pair("hub.mode", "subscribe").append_pair("hub.topic", &one.topic);
    form.append_pair("hub.callback", &callback).append_pair("hub.secret", &one.secret);
    form.append_pair("hub.lease_seconds", &LEASE.as_secs().to_string()).finish()
}
