//! The HTTP service at its public edge: the real program, a real browser, pages on loopback.
//!
//! Most tests share one service; those that fill it, kill its browser or end it have one of their own.
#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "../common/mod.rs"]
mod common;
mod fixture;
mod forge;
#[path = "../serving/mod.rs"]
mod serving;

mod agents;
mod catalogue;
mod commands;
mod crowd;
mod input;
mod interact;
mod login;
mod operating;
mod scraping;
mod sessions;
mod slow;
mod tokens;
mod unruly;
