//! The proxy at its edge: real sockets on loopback, and a resolver that says what a test wants.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test fails by panicking")]

mod blocking;
mod budget;
mod ending;
mod framing;
mod messages;
mod names;
mod tunnels;
mod world;
