//! The audit: what is written down, by whom it can be read, that nobody changes it unnoticed, and a disk that is full.
#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used, reason = "a test fails by panicking")]

mod chain;
#[path = "../common/mod.rs"]
mod common;
#[cfg(target_os = "linux")]
mod disk;
mod rows;
#[path = "../serving/mod.rs"]
mod serving;
