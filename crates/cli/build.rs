//! Leaves out of a released program what nobody can use in it, where the linker knows how.
//!
//! Here and not in the profile: cargo has no flags per profile, and those of `.cargo/config.toml` would also be those of
//! debug builds, which unwind. Tests of this crate's own modules that are built with `--release` end at the first that
//! fails.
#![allow(clippy::print_stdout, reason = "that is how a build script speaks")]

use std::env::var;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=no-unwind-tables.ld");
    if is("PROFILE", "release") && is("CARGO_CFG_TARGET_OS", "linux") {
        without_unwind_tables();
        if links_with_lld() {
            // The same machine code of different types is kept once.
            flag("--icf=all");
        }
    }
}

/// A release aborts when it panics, and has no symbols to show in a backtrace: nobody reads the tables, which are 8 % of
/// the program.
fn without_unwind_tables() {
    let folder = var("CARGO_MANIFEST_DIR").unwrap_or_default();
    flag(&format!("-T,{folder}/no-unwind-tables.ld"));
    flag("--no-eh-frame-hdr");
}

/// It is the default only there, and only as long as nobody chose something else.
fn links_with_lld() -> bool {
    let chosen = var("RUSTC_LINKER").or_else(|_| var("CARGO_ENCODED_RUSTFLAGS"));
    is("TARGET", "x86_64-unknown-linux-gnu") && chosen.is_ok_and(|chosen| chosen.is_empty())
}

fn is(name: &str, value: &str) -> bool {
    var(name).is_ok_and(|found| found == value)
}

fn flag(flag: &str) {
    println!("cargo::rustc-link-arg-bins=-Wl,{flag}");
}
