//! What was not let out: a bounded list in which repeats are counted.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use url::Url;

use crate::egress::denied::Denied;
use crate::egress::host::Host;

/// A request that was not let out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Blocked {
    /// `http://host:port/path` without the query, or `host:port` of a tunnel.
    pub url: String,
    /// The host as it was judged.
    pub host: String,
    /// The port.
    pub port: u16,
    /// The method of the request; `CONNECT` for a tunnel.
    pub method: String,
    /// Why; its `Display` can be shown.
    pub denied: Denied,
    /// When it was refused for the first time.
    pub at: SystemTime,
    /// When it was refused for the last time.
    pub last: SystemTime,
    /// How often.
    pub count: u64,
}

impl Blocked {
    /// Whether it was this page, however its host is written, that was asked for.
    pub fn is_of(&self, page: &str) -> bool {
        let Some((host, port, asked)) = read_page(page) else { return false };
        port == self.port && host == self.host && (self.method == "CONNECT" || self.url == asked)
    }
}

/// Host, port and address of a page, as they are noted here.
fn read_page(page: &str) -> Option<(String, u16, String)> {
    let url = Url::parse(page).ok()?;
    let host = Host::parse(url.host_str()?).ok()?.to_string();
    let port = url.port_or_known_default()?;
    let asked = shortened(&format!("{}://{host}:{port}{}", url.scheme(), url.path()));
    Some((host, port, asked))
}

/// A request that was let out and got no answer: the proxy answered in place of the server.
struct Lost {
    url: String,
    why: String,
    at: SystemTime,
}

/// Of those the latest are kept: who looks for one has just asked for it.
const MOST_LOST: usize = 50;

fn shortened(url: &str) -> String {
    url.chars().take(500).collect()
}

/// Entries that are kept. The first ones: they tell how it began.
const MOST: usize = 200;

/// See the module.
#[derive(Default)]
pub(super) struct Ledger(Mutex<Entries>);

#[derive(Default)]
struct Entries {
    list: Vec<Blocked>,
    dropped: u64,
    lost: VecDeque<Lost>,
}

impl Ledger {
    fn entries(&self) -> MutexGuard<'_, Entries> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn record(&self, method: &str, url: &str, denied: &Denied) {
        let url = shortened(url);
        let mut entries = self.entries();
        let same =
            |one: &&mut Blocked| one.url == url && one.method == method && one.denied.reason == denied.reason;
        if let Some(known) = entries.list.iter_mut().find(same) {
            known.count += 1;
            known.last = SystemTime::now();
        } else if entries.list.len() < MOST {
            let now = SystemTime::now();
            entries.list.push(Blocked {
                url,
                host: denied.host.clone(),
                port: denied.port,
                method: method.chars().take(40).collect(),
                denied: denied.clone(),
                at: now,
                last: now,
                count: 1,
            });
        } else {
            entries.dropped += 1;
        }
    }

    pub fn record_lost(&self, url: &str, why: &str) {
        let mut entries = self.entries();
        if entries.lost.len() == MOST_LOST {
            entries.lost.pop_front();
        }
        entries.lost.push_back(Lost { url: shortened(url), why: why.to_owned(), at: SystemTime::now() });
    }

    /// Why this page got no answer since then, if it got none.
    pub fn lost(&self, page: &str, since: SystemTime) -> Option<String> {
        let (_, _, asked) = read_page(page)?;
        let entries = self.entries();
        let found = entries.lost.iter().rev().find(|lost| lost.at >= since && lost.url == asked);
        found.map(|lost| lost.why.clone())
    }

    pub fn list(&self) -> Vec<Blocked> {
        self.entries().list.clone()
    }

    pub fn dropped(&self) -> u64 {
        self.entries().dropped
    }
}
