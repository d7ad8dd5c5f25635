//! How does a request start, stop or acknowledge a run?

use super::{LaunchState, Launched, RunWish};
use crate::problem::ProblemDetails;
use crate::request::AdmittedRequest;
use crate::shared::ServedHome;
use orb_answers::AckRow;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How long whoever asks waits for the run to begin, or to fail.
const PATIENCE: Duration = Duration::from_secs(5);

/// Between two looks of a thread that waits.
const LOOK: Duration = Duration::from_millis(20);

/// Starts a run of the request's project and waits a moment for it to begin. One that fails at once
/// is refused with its own words.
pub(crate) async fn start_run(request: &AdmittedRequest, wish: RunWish) -> Result<LaunchState, ProblemDetails> {
    let (project, by) = (request.project()?.clone(), request.user()?.name.clone());
    let state = Arc::clone(&request.state);
    let start = move |home: &ServedHome| state.launcher.start(home, &project, &wish, by.as_str().into());
    let mut launched = request.work(start).await?;
    let begun = launched.wait_for(|state| *state != LaunchState::Starting);
    // If it takes its time, or the thread that watches it has gone, it is still starting.
    let _ = tokio::time::timeout(PATIENCE, begun).await;
    request.catch_up().await;
    unless_failed(launched.borrow().clone())
}

/// The same for a thread that may wait: the state of a run once it has begun.
pub(crate) fn begun(launched: &Launched) -> Result<LaunchState, ProblemDetails> {
    let asked = Instant::now();
    while *launched.borrow() == LaunchState::Starting && asked.elapsed() < PATIENCE {
        std::thread::sleep(LOOK);
    }
    unless_failed(launched.borrow().clone())
}

/// A run that has failed is refused with its own words.
fn unless_failed(state: LaunchState) -> Result<LaunchState, ProblemDetails> {
    match state {
        LaunchState::Ended(record) if record.has_failed() => {
            let told = record.told.unwrap_or_else(|| "it was killed".to_owned());
            Err(ProblemDetails::unprocessable(told))
        }
        state => Ok(state),
    }
}

/// Asks the run `{n}` to end with everything saved.
pub(crate) async fn stop_run(request: &AdmittedRequest) -> Result<u32, ProblemDetails> {
    let (project, by) = (request.project()?.clone(), request.user()?.name.clone());
    let run: u32 = request.number("n")?;
    let state = Arc::clone(&request.state);
    request.work(move |home| state.launcher.end(home, &project, run, &by)).await?;
    request.catch_up().await;
    Ok(run)
}

/// Records that whoever asks has looked at the changes of the run `{n}` and of all before it.
pub(crate) async fn acknowledge_run(request: &AdmittedRequest, note: Option<String>) -> Result<AckRow, ProblemDetails> {
    let (project, by) = (request.project()?.clone(), request.user()?.name.clone());
    let run: u32 = request.number("n")?;
    let state = Arc::clone(&request.state);
    let acknowledge =
        move |home: &ServedHome| state.launcher.acknowledge(home, &project, Some(run), (&by, note.as_deref()));
    let row = request.work(acknowledge).await?;
    request.catch_up().await;
    Ok(row)
}
