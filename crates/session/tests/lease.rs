//! A lease keeps the shared browser between sessions, and nothing is left when it ends.
#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used, reason = "a test fails by panicking")]
#![cfg(target_os = "linux")]

use std::sync::Arc;
use std::time::Duration;

use surehand_browser::{Machine, Notes};
use surehand_session::{Fault, Kind, Place, Places, SessionOptions, Sessions};
use surehand_testkit::{processes, wait_until};

/// Far longer than anything takes.
const SOON: Duration = Duration::from_secs(20);

struct Owner {
    sessions: Arc<Sessions>,
    notes: Arc<dyn Notes>,
    home: tempfile::TempDir,
}

impl Owner {
    fn new() -> Self {
        let home = tempfile::tempdir().unwrap();
        let places = Places {
            scratch: home.path().join("profiles"),
            downloads: home.path().join("downloads"),
            journals: home.path().join("journals"),
            machine: Machine::from_env(),
        };
        Self { sessions: Arc::new(Sessions::new(places)), notes: Arc::new(()), home }
    }

    /// Opens a session and ends it again.
    async fn visit(&self, name: &str) {
        self.sessions.open(name, &SessionOptions::default(), &self.notes).await.unwrap();
        assert!(self.sessions.close(name).await);
    }

    /// The processes of browsers that are ours.
    fn browsers(&self) -> Vec<u32> {
        processes::with_arg(&self.home.path().to_string_lossy())
    }

    /// The browser that we started. Its helpers are its own children, and those of one that was killed may outlive it.
    fn browser(&self) -> u32 {
        let mut ours = self.browsers();
        ours.retain(|pid| processes::parent(*pid) == Some(std::process::id()));
        assert_eq!(ours.len(), 1, "one browser");
        ours[0]
    }

    /// Where the browsers that are ours keep their things, each once.
    fn profiles(&self) -> std::collections::BTreeSet<String> {
        let args = self.browsers().into_iter().flat_map(processes::args);
        args.filter(|arg| arg.starts_with("--user-data-dir=")).collect()
    }

    fn is_alone(&self) -> bool {
        wait_until(Duration::from_secs(20), || self.browsers().is_empty())
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn sessions_after_each_other_find_the_same_browser() {
    let owner = Owner::new();
    let lease = owner.sessions.keep_warm();
    assert!(owner.browsers().is_empty(), "it starts with the first session");
    owner.visit("a").await;
    let first = owner.browser();
    let second_lease = owner.sessions.keep_warm();
    owner.visit("b").await;
    second_lease.end().await;
    assert_eq!(owner.browser(), first);
    // One that died is replaced, and the lease holds for its successor.
    assert!(processes::kill(first) && wait_until(Duration::from_secs(10), || !processes::alive(first)));
    owner.visit("c").await;
    let successor = owner.browser();
    owner.visit("d").await;
    assert!(successor != first && owner.browser() == successor);
    lease.end().await;
    assert!(owner.is_alone());
    owner.visit("e").await;
    assert!(owner.is_alone(), "without a lease it goes with its last session");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_lease_warms_up_and_may_end_before_the_sessions_do() {
    let owner = Owner::new();
    let lease = owner.sessions.keep_warm();
    lease.warm_up(&SessionOptions::default(), &owner.notes).await.unwrap();
    let browser = owner.browser();
    owner.sessions.open("a", &SessionOptions::default(), &owner.notes).await.unwrap();
    drop(lease);
    assert!(processes::alive(browser));
    assert!(owner.sessions.close("a").await);
    assert!(owner.is_alone());
    let dropped = owner.sessions.keep_warm();
    dropped.warm_up(&SessionOptions::default(), &owner.notes).await.unwrap();
    drop(dropped);
    assert!(owner.is_alone(), "a lease that is dropped ends its browser, too");
}

#[tokio::test(flavor = "multi_thread")]
async fn under_a_lease_sessions_share_a_browser_that_is_started_as_they_wish() {
    let owner = Owner::new();
    let options = SessionOptions { user_agent: Some("Tester".to_owned()), ..SessionOptions::default() };
    let lease = owner.sessions.keep_warm();
    for name in ["a", "b"] {
        owner.sessions.open(name, &options, &owner.notes).await.unwrap();
    }
    let first = owner.profiles();
    assert_eq!(first.len(), 1, "two sessions, one browser");
    owner.sessions.open("c", &SessionOptions::default(), &owner.notes).await.unwrap();
    assert_eq!(owner.profiles().len(), 2, "another wish, another browser");
    owner.sessions.close_all().await;
    assert!(owner.profiles().is_superset(&first), "it stays for the next");
    lease.end().await;
    assert!(owner.is_alone());
}

/// Begins something and stops waiting for it at once.
async fn begin_and_leave<F: Future + Send>(work: F) {
    let mut work = Box::pin(work);
    let begun = std::future::poll_fn(|cx| std::task::Poll::Ready(work.as_mut().poll(cx).is_pending())).await;
    assert!(begun, "it was over at once");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_ends_whole_also_if_nobody_waits() {
    let owner = Owner::new();
    let options = SessionOptions::default();
    let place = Arc::new(());
    let held = place.clone();
    let given = async { Ok::<Place, Fault>(held) };
    owner.sessions.open_in_place("a", &options, &owner.notes, given).await.unwrap();
    assert_eq!(Arc::strong_count(&place), 2);
    begin_and_leave(owner.sessions.close("a")).await;
    assert!(owner.is_alone(), "the browser goes with its last session");
    assert!(wait_until(SOON, || Arc::strong_count(&place) == 1), "the place is given back");
    assert!(wait_until(SOON, || owner.sessions.is_empty()));
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_left_of_a_session_that_could_not_be_made() {
    let owner = Owner::new();
    let options = SessionOptions { executable_path: Some("/nowhere".into()), ..SessionOptions::default() };
    assert!(owner.sessions.open("a", &options, &owner.notes).await.is_err());
    assert!(owner.sessions.is_empty());
    // One that still waits for its place.
    let (options, nowhere) = (SessionOptions::default(), std::future::pending::<Result<Place, Fault>>());
    begin_and_leave(owner.sessions.open_in_place("b", &options, &owner.notes, nowhere)).await;
    assert!(owner.sessions.is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_browser_that_hangs_is_replaced() {
    let owner = Owner::new();
    let lease = owner.sessions.keep_warm();
    owner.visit("a").await;
    let hung = owner.browser();
    assert!(processes::stop(hung));
    let fault = owner.sessions.open("b", &SessionOptions::default(), &owner.notes).await.unwrap_err();
    assert_eq!(fault.kind, Kind::Timeout, "{fault}");
    assert!(wait_until(SOON, || !processes::alive(hung)), "it is still there");
    owner.visit("c").await;
    assert_ne!(owner.browser(), hung);
    lease.end().await;
    assert!(owner.is_alone());
}
