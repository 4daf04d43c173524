//! What was not let out: a bounded list in which repeats are counted. A proxy serves calls one after another, so each can
//! take a mark and ask what came since.

use std::collections::{HashMap, VecDeque};
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
    /// How often, since the mark that was asked with.
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

/// How far a ledger was at some time. The default is its beginning.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Mark {
    /// How often each entry had been refused, by its number.
    counts: HashMap<u64, u64>,
    refused: u64,
    lost: u64,
}

/// A request that was let out and got no answer: the proxy answered in place of the server.
struct Lost {
    url: String,
    why: String,
    number: u64,
}

/// Of those the latest are kept: who looks for one has just asked for it.
const MOST_LOST: usize = 50;

fn shortened(url: &str) -> String {
    url.chars().take(500).collect()
}

/// Entries that are kept. The latest ones: who looks for one has just asked for it, here, too.
const MOST: usize = 200;

/// See the module.
#[derive(Default)]
pub(super) struct Ledger(Mutex<Entries>);

#[derive(Default)]
struct Entries {
    /// The oldest first.
    list: Vec<Entry>,
    /// How many refusals there were at all.
    refused: u64,
    dropped: u64,
    lost: VecDeque<Lost>,
    /// How many got no answer at all.
    lost_ever: u64,
}

struct Entry {
    blocked: Blocked,
    /// Which refusal made it; no other entry ever has the same.
    number: u64,
    /// Which refusal was its last.
    latest: u64,
}

impl Entries {
    /// Makes room for one more.
    fn drop_stalest(&mut self) {
        let stalest = self.list.iter().enumerate().min_by_key(|(_, entry)| entry.latest);
        if let Some((index, _)) = stalest {
            self.dropped += self.list.remove(index).blocked.count;
        }
    }
}

impl Ledger {
    fn entries(&self) -> MutexGuard<'_, Entries> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn record(&self, method: &str, url: &str, denied: &Denied) {
        let url = shortened(url);
        let mut entries = self.entries();
        let (number, now) = (entries.refused, SystemTime::now());
        entries.refused += 1;
        let same = |Entry { blocked, .. }: &&mut Entry| {
            blocked.url == url && blocked.method == method && blocked.denied.reason == denied.reason
        };
        if let Some(known) = entries.list.iter_mut().find(same) {
            known.blocked.count += 1;
            known.blocked.last = now;
            known.latest = number;
            return;
        }
        if entries.list.len() == MOST {
            entries.drop_stalest();
        }
        let blocked = Blocked {
            url,
            host: denied.host.clone(),
            port: denied.port,
            method: method.chars().take(40).collect(),
            denied: denied.clone(),
            at: now,
            last: now,
            count: 1,
        };
        entries.list.push(Entry { blocked, number, latest: number });
    }

    pub fn record_lost(&self, url: &str, why: &str) {
        let mut entries = self.entries();
        if entries.lost.len() == MOST_LOST {
            entries.lost.pop_front();
        }
        let number = entries.lost_ever;
        entries.lost_ever += 1;
        entries.lost.push_back(Lost { url: shortened(url), why: why.to_owned(), number });
    }

    pub fn mark(&self) -> Mark {
        let entries = self.entries();
        Mark {
            counts: entries.list.iter().map(|entry| (entry.number, entry.blocked.count)).collect(),
            refused: entries.refused,
            lost: entries.lost_ever,
        }
    }

    /// Why this page got no answer since then, if it got none.
    pub fn lost(&self, page: &str, since: &Mark) -> Option<String> {
        let (_, _, asked) = read_page(page)?;
        let entries = self.entries();
        let found = entries.lost.iter().rev().find(|lost| lost.number >= since.lost && lost.url == asked);
        found.map(|lost| lost.why.clone())
    }

    pub fn since(&self, mark: &Mark) -> Vec<Blocked> {
        let entries = self.entries();
        let told = |entry: &Entry| {
            let before = mark.counts.get(&entry.number).copied().unwrap_or_default();
            let count = entry.blocked.count.saturating_sub(before);
            (count > 0).then(|| Blocked { count, ..entry.blocked.clone() })
        };
        entries.list.iter().filter_map(told).collect()
    }

    pub fn count_since(&self, mark: &Mark) -> u64 {
        self.entries().refused.saturating_sub(mark.refused)
    }

    pub fn dropped(&self) -> u64 {
        self.entries().dropped
    }
}
