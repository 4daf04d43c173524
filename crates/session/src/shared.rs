//! A browser that sessions share which want it to be started alike: started with the first, ended with the last.

use std::sync::Arc;
use std::time::Duration;

use surehand_browser::Notes;
use tokio::sync::Mutex;

use crate::Fault;
use crate::link::Link;
use crate::options::{Places, SessionOptions};

/// A browser that is asked for nothing but its version answers sooner, also on a busy machine.
const SIGN_OF_LIFE: Duration = Duration::from_secs(5);

/// See the module.
#[derive(Debug)]
pub(crate) struct SharedBrowser {
    /// How it is started.
    start: SessionOptions,
    running: Mutex<Option<Running>>,
}

#[derive(Debug)]
struct Running {
    link: Arc<Link>,
    /// How many sessions have a context in it.
    users: usize,
}

impl SharedBrowser {
    pub fn new(start: SessionOptions) -> Self {
        Self { start, running: Mutex::default() }
    }

    /// How it is started.
    pub fn start(&self) -> &SessionOptions {
        &self.start
    }

    /// One more session has a context in it.
    pub async fn enter(&self, places: &Places, notes: &Arc<dyn Notes>) -> Result<Arc<Link>, Fault> {
        let mut running = self.running.lock().await;
        let present = self.present(&mut running, places, notes).await?;
        present.users += 1;
        Ok(present.link.clone())
    }

    /// Starts it if it does not run.
    pub async fn warm_up(&self, places: &Places, notes: &Arc<dyn Notes>) -> Result<(), Fault> {
        self.present(&mut *self.running.lock().await, places, notes).await.map(drop)
    }

    async fn present<'r>(
        &self,
        running: &'r mut Option<Running>,
        places: &Places,
        notes: &Arc<dyn Notes>,
    ) -> Result<&'r mut Running, Fault> {
        if let Some(dead) = running.take_if(|present| !present.link.is_open()) {
            dead.link.close().await;
        }
        let present = match running.take() {
            Some(present) => present,
            None => {
                let link = Link::launch(&self.start, places, None, notes).await?;
                Running { link: Arc::new(link), users: 0 }
            }
        };
        Ok(running.insert(present))
    }

    /// A session has none any more.
    pub async fn leave(&self, link: &Arc<Link>, is_leased: bool) {
        let mut running = self.running.lock().await;
        // A browser that died and was replaced has no users any more.
        let Some(present) = running.as_mut().filter(|present| Arc::ptr_eq(&present.link, link)) else {
            return;
        };
        present.users -= 1;
        if !is_leased {
            Self::end_unused(&mut running).await;
        }
    }

    /// Ends it if it does not answer at all, so that the next session finds another. Those that are in it can do nothing any
    /// more either.
    pub async fn end_if_hung(&self, link: &Arc<Link>) {
        if link.answers(SIGN_OF_LIFE).await {
            return;
        }
        let mut running = self.running.lock().await;
        if let Some(hung) = running.take_if(|present| Arc::ptr_eq(&present.link, link)) {
            tracing::warn!("the browser hangs and is ended");
            hung.link.close().await;
        }
    }

    /// Ends it if nobody uses it.
    pub async fn cool_down(&self) {
        Self::end_unused(&mut *self.running.lock().await).await;
    }

    /// Nothing is left running that nobody uses.
    async fn end_unused(running: &mut Option<Running>) {
        if let Some(unused) = running.take_if(|present| present.users == 0) {
            unused.link.close().await;
        }
    }
}
