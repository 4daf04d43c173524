//! The command line.

use std::path::PathBuf;

use anyhow::{Context, Result};
use clap::Parser;

/// Measure surehand against the raw protocol.
///
/// Exit code: 0 every limit holds, 1 one is over or a case failed, 2 nothing could be measured.
#[derive(Debug, Clone, Parser)]
#[command(name = "surehand-bench", version)]
pub struct Options {
    /// Rounds of each case (default: 15; cold starts and whole accessibility trees take fewer)
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub runs: Option<u32>,

    /// Only these cases, or all whose name begins so
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    pub only: Vec<String>,

    /// The binary to measure (default: `surehand` beside this program)
    #[arg(long, value_name = "PATH")]
    pub binary: Option<PathBuf>,

    /// The browser that both sides launch (default: SUREHAND_BROWSER, else /usr/bin/chromium)
    #[arg(long, value_name = "PATH", default_value_os_t = usual_browser(), hide_default_value = true)]
    pub browser: PathBuf,

    /// Measure only the floor
    #[arg(long)]
    pub raw_only: bool,

    /// Also write the figures to this file
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,

    /// List the cases and end
    #[arg(long)]
    pub list: bool,
}

impl Options {
    /// How many rounds a case takes that would take `usual` by itself.
    pub fn rounds(&self, usual: u32) -> u32 {
        self.runs.map_or(usual, |runs| if usual < ROUNDS { runs.min(usual) } else { runs })
    }

    /// Whether the case `name` was asked for.
    pub fn wants(&self, name: &str) -> bool {
        self.only.is_empty() || self.only.iter().any(|each| name.starts_with(each.as_str()))
    }

    /// The binary to measure, as an absolute path.
    pub fn binary(&self) -> Result<PathBuf> {
        let path = match &self.binary {
            Some(path) => path.clone(),
            None => std::env::current_exe()?.with_file_name("surehand"),
        };
        fs_err::canonicalize(&path)
            .context("no binary to measure: `cargo build --release` first, or --binary, or --raw-only")
    }
}

/// What both sides launch if nothing else is said.
pub fn usual_browser() -> PathBuf {
    std::env::var_os("SUREHAND_BROWSER").map_or_else(|| "/usr/bin/chromium".into(), PathBuf::from)
}

/// Rounds of a case that is quick.
pub const ROUNDS: u32 = 15;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn selects_and_limits() {
        let options = Options::parse_from(["bench", "--only", "snapshot,get-url", "--runs", "9"]);
        assert!(options.wants("snapshot-400") && options.wants("get-url") && !options.wants("memory"));
        assert_eq!((options.rounds(ROUNDS), options.rounds(3)), (9, 3));
        assert_eq!(Options::parse_from(["bench"]).rounds(7), 7);
        assert!(Options::try_parse_from(["bench", "--runs", "0"]).is_err());
    }
}
