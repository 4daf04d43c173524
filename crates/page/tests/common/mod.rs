//! A real browser with one tab, without the rooms above this one.

use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use serde_json::value::RawValue;
use surehand_browser::launch::{LaunchOptions, launch_with_fallback};
use surehand_browser::{BrowserProcess, Channel, Machine, find};
use surehand_cdp::protocol::target;
use surehand_cdp::{Closed, Connection, Event, EventSink, Session, Transport, WeakConnection};
use surehand_page::{Attachment, Deadline, LoadState, Page, Screen, SharedSurroundings, Surroundings};

/// A browser that ends with the test.
pub struct Browser {
    connection: Connection,
    tabs: Arc<Tabs>,
    process: BrowserProcess,
    _scratch: tempfile::TempDir,
}

#[derive(Default)]
struct Tabs {
    connection: OnceLock<WeakConnection>,
    pages: Mutex<Vec<Page>>,
}

impl EventSink for Tabs {
    fn event(&self, _: &Session, method: &str, params: &RawValue) {
        if method == target::AttachedToTarget::METHOD {
            let attachment: Attachment = serde_json::from_str(params.get()).unwrap();
            let connection = self.connection.get().unwrap().upgrade().unwrap();
            let screen = Some(Screen::desktop(1280, 720, 1.0));
            let surroundings = SharedSurroundings::new(Surroundings { screen, ..Default::default() });
            self.pages.lock().unwrap().push(Page::take_over(&connection, &attachment, &surroundings));
        }
    }

    fn closed(&self, _: &Closed) {}
}

impl Browser {
    pub async fn start() -> Self {
        let scratch = tempfile::tempdir().unwrap();
        let found = find::find(&Machine::from_env(), None).expect("the tests need a browser");
        let launched =
            launch_with_fallback(LaunchOptions::new(found.path, scratch.path()), &()).await.unwrap();
        let Channel::Pipe(to, from) = launched.channel else { panic!("a pipe is the way on Unix") };
        let tabs = Arc::new(Tabs::default());
        let connection = Connection::open(Transport::pipe(to, from), Some(tabs.clone()));
        tabs.connection.set(connection.downgrade()).unwrap();
        let attach = target::SetAutoAttach {
            auto_attach: true,
            wait_for_debugger_on_start: true,
            flatten: Some(true),
            ..Default::default()
        };
        connection.browser().call(&attach).await.unwrap();
        Self { connection, tabs, process: launched.process, _scratch: scratch }
    }

    /// A new tab that shows this HTML.
    pub async fn page(&self, html: &str) -> Page {
        let create = target::CreateTarget { url: "about:blank".into(), ..Default::default() };
        let made = self.connection.browser().call(&create).await.unwrap();
        let mine = |page: &&Page| page.target_id() == made.target_id;
        // The browser attaches a tab before it says that it made it.
        let page = self.tabs.pages.lock().unwrap().iter().find(mine).cloned().unwrap();
        let file = self._scratch.path().join(format!("{}.html", made.target_id));
        fs_err::write(&file, format!("<!doctype html><meta charset=utf-8>{html}")).unwrap();
        page.open(&format!("file://{}", file.display()), LoadState::Load, &deadline()).await.unwrap();
        page
    }

    pub async fn end(self) {
        self.connection.close();
        self.process.end(Duration::from_secs(5)).await;
    }
}

pub fn deadline() -> Deadline {
    Deadline::after(Duration::from_secs(20))
}
