//! Measures the built `surehand` binary against a floor: what the same browser does for a client that speaks the
//! bare protocol, measured in the same run, interleaved, as medians.
//!
//! Lives here: the raw client (`raw`), the product as a subject (`ours`, and over its socket `daemon`), one file per
//! case (`cases`), the figures (`measure`) and the one place that prints (`report`). To add a case: one file in `cases`, one line in
//! `cases::all`.
//!
//! Must not live here: product code. The floor is only worth something if it shares nothing with what it judges.

#[cfg(target_os = "linux")]
mod bench;
#[cfg(target_os = "linux")]
mod cases;
#[cfg(target_os = "linux")]
mod daemon;
#[cfg(target_os = "linux")]
mod measure;
#[cfg(target_os = "linux")]
mod options;
#[cfg(target_os = "linux")]
mod ours;
#[cfg(target_os = "linux")]
mod pages;
#[cfg(target_os = "linux")]
mod raw;
#[cfg(target_os = "linux")]
mod report;
#[cfg(target_os = "linux")]
mod run;

#[cfg(target_os = "linux")]
fn main() -> std::process::ExitCode {
    run::main()
}

/// The floor is read off `/proc`, so there is nothing to run elsewhere.
#[cfg(not(target_os = "linux"))]
fn main() -> std::process::ExitCode {
    std::process::ExitCode::from(2)
}
