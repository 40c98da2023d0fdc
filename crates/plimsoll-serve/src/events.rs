//! Server-sent events: the newest state to everybody who stays, and nothing while nothing changes.

use std::{collections::VecDeque, convert::Infallible, sync::Arc, time::Duration};

use axum::{
    http::StatusCode,
    response::{
        IntoResponse, Response,
        sse::{Event, KeepAlive, Sse},
    },
};
use futures_util::stream;
use tokio::sync::watch;

use super::{
    answer::{Refusal, away},
    following::Snapshot,
    server::Shared,
};

/// After so much silence a comment says that the server is still there.
const HEARTBEAT: Duration = Duration::from_secs(15);
/// After so much time a browser asks again when the server has gone.
const RETRY: Duration = Duration::from_secs(1);

/// So many may stay at a time, which leaves connections to those who ask for something else.
const LISTENERS_MAX: usize = 100;

/// Who stays.
struct Listener {
    newest: watch::Receiver<Arc<Snapshot>>,
    /// What is to be sent of the newest state: at most one event of each name.
    pending: VecDeque<Event>,
    live_revision: u64,
    history_revision: u64,
}

/// `GET /api/events`.
pub(crate) async fn events(shared: Arc<Shared>) -> Result<Response, Refusal> {
    let Some(newest) = shared.following.listen(LISTENERS_MAX) else {
        let sentence = format!("{LISTENERS_MAX} listen already: ask again later, or ask /api/live from time to time");
        return Err(Refusal::new(StatusCode::SERVICE_UNAVAILABLE, sentence));
    };
    let first = away(move || Ok(shared.following.look())).await?;
    let mut listener = Listener { newest, pending: VecDeque::new(), live_revision: 0, history_revision: 0 };
    listener.take_in(&first);
    if let Some(event) = listener.pending.pop_front() {
        listener.pending.push_front(event.retry(RETRY));
    }
    let events = stream::unfold(listener, |mut listener| async move {
        let event = listener.next().await?;
        Some((Ok::<_, Infallible>(event), listener))
    });
    Ok(Sse::new(events).keep_alive(KeepAlive::new().interval(HEARTBEAT).text("")).into_response())
}

impl Listener {
    async fn next(&mut self) -> Option<Event> {
        loop {
            if let Some(event) = self.pending.pop_front() {
                return Some(event);
            }
            self.newest.changed().await.ok()?;
            let newest = Arc::clone(&self.newest.borrow_and_update());
            self.take_in(&newest);
        }
    }

    fn take_in(&mut self, snapshot: &Snapshot) {
        if snapshot.live_revision > self.live_revision {
            self.live_revision = snapshot.live_revision;
            self.pending.push_back(Event::default().event("live").data(&snapshot.live));
        }
        if snapshot.history_revision > self.history_revision {
            self.history_revision = snapshot.history_revision;
            self.pending.push_back(Event::default().event("runs").data(&snapshot.history));
        }
    }
}
