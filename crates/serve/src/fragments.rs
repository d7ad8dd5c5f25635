//! How is a page kept up to date?
//!
//! By server-sent events: an endless response in which every event is a piece of a page, rendered
//! as the page itself is. At most one a second, and none if nothing has changed; a comment every
//! few seconds tells that the line is alive. A stream ends when what it shows has ended, when the
//! server stops, or after some minutes, so that the right to read it is checked again.

use crate::problem::{Handled, ProblemDetails};
use crate::request::typed;
use crate::state::AppState;
use axum::body::Body;
use bytes::Bytes;
use http_body_util::channel::{Channel, Sender};
use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

/// Between two looks.
const LOOK: Duration = Duration::from_secs(1);

/// Looks without news before a sign of life.
const SILENCE: u32 = 10;

/// Looks of one stream.
const LOOKS: u32 = 600;

/// A piece of a page, and whether it is the last.
pub(crate) struct StreamPiece {
    pub(crate) html: String,
    pub(crate) is_last: bool,
}

/// Looks at what is shown.
pub(crate) type StreamLook =
    Box<dyn Fn() -> Pin<Box<dyn Future<Output = Result<StreamPiece, ProblemDetails>> + Send>> + Send + Sync>;

/// A response that tells what every look sees, beginning with the first.
pub(crate) fn respond(state: &Arc<AppState>, look: StreamLook) -> Handled {
    let seat = Arc::clone(&state.streams).try_acquire_owned();
    let seat = seat.map_err(|_| ProblemDetails::busy("too many people are watching"))?;
    let (sender, body) = Channel::<Bytes, Infallible>::new(4);
    let mut closing = state.closing.clone();
    tokio::spawn(async move {
        tokio::select! {
            () = tell(sender, look) => {}
            _ = closing.wait_for(|closing| *closing) => {}
        }
        drop(seat);
    });
    Ok(typed("text/event-stream", Body::new(body)))
}

async fn tell(mut sender: Sender<Bytes, Infallible>, look: StreamLook) {
    let (mut shown, mut silent) = (String::new(), 0);
    for _ in 0..LOOKS {
        // What cannot be shown any more ends the stream; the page itself says why.
        let Ok(piece) = look().await else { return };
        silent += 1;
        if piece.html != shown {
            let event = event("piece", &piece.html);
            (shown, silent) = (piece.html, 0);
            if sender.send_data(event).await.is_err() {
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

/// An event: every line of the text becomes one of its data.
fn event(name: &str, text: &str) -> Bytes {
    let data: String = text.lines().map(|line| format!("data: {line}\n")).collect();
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
    }
}
