//! How is a page kept up to date?
//!
//! By server-sent events: an endless response in which every event is a piece of a page, rendered
//! as the page itself is. At most one a second, and none if nothing has changed; a comment every
//! few seconds tells that the line is alive. Viewers of one thing share what is seen of it: the
//! cost is that of one look, whatever their number. A stream ends when what it shows has ended,
//! when the server stops, or after some minutes, so that the right to read it is checked again.

use crate::problem::{Handled, ProblemDetails};
use crate::request::typed;
use crate::state::AppState;
use axum::body::Body;
use bytes::Bytes;
use http_body_util::channel::{Channel, Sender};
use std::collections::HashMap;
use std::convert::Infallible;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::Mutex as AsyncMutex;

/// Between two looks.
const LOOK: Duration = Duration::from_secs(1);

/// Looks without news before a sign of life.
const SILENCE: u32 = 10;

/// Looks of one stream.
const LOOKS: u32 = 600;

/// How old a look may be that another viewer had.
const FRESH: Duration = Duration::from_millis(500);

/// A piece of a page, and whether it is the last.
pub(crate) struct StreamPiece {
    event: Bytes,
    is_last: bool,
}

impl StreamPiece {
    pub(crate) fn new(html: &str, is_last: bool) -> Self {
        Self { event: event("piece", html), is_last }
    }
}

/// What was last seen of something, and when.
type SharedLook = AsyncMutex<Option<(Instant, Arc<StreamPiece>)>>;

/// What viewers see, by the name of what they look at.
#[derive(Default)]
pub(crate) struct SharedLooks(Mutex<HashMap<String, Arc<SharedLook>>>);

impl SharedLooks {
    fn of(&self, what: String) -> Arc<SharedLook> {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.retain(|_, look| Arc::strong_count(look) > 1);
        Arc::clone(all.entry(what).or_default())
    }
}

/// What another viewer saw just now, or else a look of one's own.
async fn seen(shared: &SharedLook, look: &StreamLook) -> Result<Arc<StreamPiece>, ProblemDetails> {
    let mut last = shared.lock().await;
    if let Some((at, piece)) = &*last
        && at.elapsed() < FRESH
    {
        return Ok(Arc::clone(piece));
    }
    let piece = Arc::new(look().await?);
    *last = Some((Instant::now(), Arc::clone(&piece)));
    Ok(piece)
}

/// Looks at what is shown.
pub(crate) type StreamLook =
    Box<dyn Fn() -> Pin<Box<dyn Future<Output = Result<StreamPiece, ProblemDetails>> + Send>> + Send + Sync>;

/// A response that tells what every look sees, beginning with the first. `what` names what is
/// looked at: whoever looks at the same shares it.
pub(crate) fn respond(state: &Arc<AppState>, what: String, look: StreamLook) -> Handled {
    let seat = Arc::clone(&state.streams).try_acquire_owned();
    let seat = seat.map_err(|_| ProblemDetails::busy("too many people are watching"))?;
    let (sender, body) = Channel::<Bytes, Infallible>::new(4);
    let (mut closing, shared) = (state.closing.clone(), state.looks.of(what));
    tokio::spawn(async move {
        tokio::select! {
            () = tell(sender, &shared, look) => {}
            _ = closing.wait_for(|closing| *closing) => {}
        }
        drop(seat);
    });
    Ok(typed("text/event-stream", Body::new(body)))
}

async fn tell(mut sender: Sender<Bytes, Infallible>, shared: &SharedLook, look: StreamLook) {
    let (mut shown, mut silent) = (Bytes::new(), 0);
    for _ in 0..LOOKS {
        // What cannot be shown any more ends the stream; the page itself says why.
        let Ok(piece) = seen(shared, &look).await else { return };
        silent += 1;
        if piece.event != shown {
            (shown, silent) = (piece.event.clone(), 0);
            if sender.send_data(shown.clone()).await.is_err() {
                return;
            }
        } else if silent >= SILENCE {
            silent = 0;
            if sender.send_data(Bytes::from_static(b": alive\n\n")).await.is_err() {
                return;
            }
        }
        if piece.is_last {
            let _ = sender.send_data(event("end", "")).await;
            return;
        }
        tokio::time::sleep(LOOK).await;
    }
}

/// An event: every line of the text becomes one of its data. Browsers end a line at a lone carriage
/// return, too, and what pages say may hold one.
fn event(name: &str, text: &str) -> Bytes {
    let data: String = text.lines().map(|line| format!("data: {}\n", line.replace('\r', " "))).collect();
    let data = if data.is_empty() { "data:\n".to_owned() } else { data };
    Bytes::from(format!("event: {name}\n{data}\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_has_a_line_of_data_for_every_line_of_text() {
        assert_eq!(event("piece", "<p>a\r\n\n</p>"), "event: piece\ndata: <p>a\ndata: \ndata: </p>\n\n");
        assert_eq!(event("end", ""), "event: end\ndata:\n\n");
        assert_eq!(event("piece", "a\revent: end"), "event: piece\ndata: a event: end\n\n");
    }
}
