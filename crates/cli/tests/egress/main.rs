//! The egress guard with a real browser: whatever a page or a caller does, a server that is not allowed sees nobody.
#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "../common/mod.rs"]
mod common;
#[path = "../guarded/mod.rs"]
mod guarded;
mod options;
mod pages;
mod places;
mod service;
#[path = "../serving/mod.rs"]
mod serving;
mod torn;

use surehand_testkit::{Cli, Site, SiteBuilder};

/// A guarded session of a home of its own, and the rules that let it reach the site.
#[derive(Debug)]
pub struct Fenced {
    pub cli: Cli,
    pub rules: Vec<String>,
}

impl Fenced {
    pub fn with_site(site: &Site) -> Self {
        let host = site.url("").replace("http://", "");
        Self { cli: common::fresh_cli(), rules: vec!["--egress-allow".to_owned(), host] }
    }

    fn arguments<'a>(&'a self, arguments: &[&'a str]) -> Vec<&'a str> {
        self.rules.iter().map(String::as_str).chain(arguments.iter().copied()).collect()
    }

    #[track_caller]
    pub fn ok(&self, arguments: &[&str]) -> serde_json::Value {
        common::ok(&self.cli, &self.arguments(arguments))
    }

    /// It must be the guard that refuses, and say so.
    #[track_caller]
    pub fn denied(&self, arguments: &[&str]) -> String {
        let failure = common::fails(&self.cli, &self.arguments(arguments));
        failure.must_be("egress-denied", 1);
        assert!(failure.message.starts_with("egress denied: "), "{failure:?}");
        failure.message
    }
}

/// A page under `/`, and more.
pub fn site(html: &str, more: impl FnOnce(SiteBuilder) -> SiteBuilder) -> Site {
    more(Site::builder().page("/", html).page("/fine", "<title>Fine</title><p id=fine>fine</p>"))
        .start()
        .expect("a port on loopback")
}
