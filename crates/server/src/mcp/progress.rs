//! How far a call is, told to a client that asked for it: one thing after the other, each with a higher number.

use std::convert::Infallible;
use std::time::Duration;

use rmcp::RoleServer;
use rmcp::model::{ProgressNotificationParam, ProgressToken};
use rmcp::service::Peer;
use surehand_browser::Notes;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

/// A client that asked for progress hears at least this often that a call is under way.
const SIGN_OF_LIFE: Duration = Duration::from_secs(2);

/// Where a call notes what it does.
pub(super) struct Progress(UnboundedSender<String>);

/// Tells the client, while the call runs.
pub(super) struct Teller {
    peer: Peer<RoleServer>,
    token: Option<ProgressToken>,
    notes: UnboundedReceiver<String>,
    told: u32,
}

/// Both ends for one call.
pub(super) fn progress(peer: Peer<RoleServer>, token: Option<ProgressToken>) -> (Progress, Teller) {
    let (sender, notes) = unbounded_channel();
    (Progress(sender), Teller { peer, token, notes, told: 0 })
}

impl Teller {
    /// Tells what is noted, and that there is nothing new, until dropped.
    pub async fn keep_telling(&mut self) -> Infallible {
        loop {
            match tokio::time::timeout(SIGN_OF_LIFE, self.notes.recv()).await {
                Ok(Some(note)) => self.tell(note).await,
                // Who could note something is gone, and with it the call.
                Ok(None) => std::future::pending().await,
                Err(_) => self.tell("under way".to_owned()).await,
            }
        }
    }

    /// What was noted in the last moment comes before the answer, too.
    pub async fn tell_rest(mut self) {
        while let Ok(note) = self.notes.try_recv() {
            self.tell(note).await;
        }
    }

    async fn tell(&mut self, message: String) {
        let Some(token) = self.token.clone() else { return };
        self.told += 1;
        let mut notification = ProgressNotificationParam::new(token, f64::from(self.told));
        notification.message = Some(message);
        // A client that went away needs no progress.
        let _ = self.peer.notify_progress(notification).await;
    }
}

impl Notes for Progress {
    fn note(&self, line: &str) {
        tracing::info!("{line}");
        let _ = self.0.send(line.to_owned());
    }

    fn progress(&self, what: &str, done: u64, total: Option<u64>) {
        let of = total.map(|total| format!(" of {total}")).unwrap_or_default();
        let _ = self.0.send(format!("{what}: {done}{of}"));
    }
}
