//! The one place that prints, and the file with the figures.

use std::path::Path;

use anyhow::Result;
use serde_json::json;

use crate::measure::{Row, Verdict};

const NAME: usize = 16;
const FIGURE: usize = 12;

/// Collects rows and prints each as it comes, so that a long run shows where it is.
#[derive(Debug, Default)]
pub struct Report {
    rows: Vec<Row>,
    failures: Vec<(String, String)>,
}

impl Report {
    /// What is measured, with what.
    pub fn head(&self, lines: &[String]) {
        for line in lines {
            print(line);
        }
        print(&format!(
            "\n{:NAME$} {:>FIGURE$} {:>FIGURE$} {:>FIGURE$} {:>FIGURE$}  {:8} what",
            "case", "floor", "ours", "relation", "limit", "",
        ));
    }

    /// One figure; a row without any is left out.
    pub fn row(&mut self, row: Row) {
        if row.floor.is_none() && row.ours.is_none() {
            return;
        }
        let show =
            |amount: Option<crate::measure::Amount>| amount.map_or_else(|| "-".into(), |it| it.to_string());
        let verdict = match row.verdict() {
            Verdict::Ok => "ok",
            Verdict::Over => "OVER",
            Verdict::Noise => "NOISE",
            Verdict::Reported => "",
        };
        print(&format!(
            "{:NAME$} {:>FIGURE$} {:>FIGURE$} {:>FIGURE$} {:>FIGURE$}  {verdict:8} {}",
            row.case,
            show(row.floor),
            show(row.ours),
            row.relation().unwrap_or_else(|| "-".into()),
            row.limit.to_string(),
            row.what,
        ));
        self.rows.push(row);
    }

    /// A case that could not be measured.
    pub fn failure(&mut self, case: &str, error: &anyhow::Error) {
        print(&format!("{case:NAME$} FAILED: {error:#}"));
        self.failures.push((case.to_owned(), format!("{error:#}")));
    }

    /// The last line; says whether every limit holds.
    pub fn finish(&self) -> bool {
        let named = |verdict: Verdict| -> Vec<&str> {
            self.rows.iter().filter(|row| row.verdict() == verdict).map(|row| row.case.as_str()).collect()
        };
        let (over, noise) = (named(Verdict::Over), named(Verdict::Noise));
        let failed: Vec<_> = self.failures.iter().map(|(case, _)| case.as_str()).collect();
        let tested = self.rows.iter().filter(|row| row.verdict() != Verdict::Reported).count();
        let good = over.is_empty() && noise.is_empty() && failed.is_empty();
        print(&match (good, tested) {
            (true, 0) => "\nno limit was tested".to_owned(),
            (true, _) => format!("\nall {tested} limits hold"),
            (false, _) => format!(
                "\nover their limit: [{}]; too noisy, run again: [{}]; failed: [{}]",
                over.join(", "),
                noise.join(", "),
                failed.join(", ")
            ),
        });
        good
    }

    /// All figures as JSON.
    pub fn write(&self, file: &Path, about: &serde_json::Value) -> Result<()> {
        let rows: Vec<_> = self
            .rows
            .iter()
            .map(|row| json!({"row": row, "relation": row.relation(), "verdict": row.verdict()}))
            .collect();
        let failures: Vec<_> =
            self.failures.iter().map(|(case, error)| json!({"case": case, "error": error})).collect();
        let document = json!({"about": about, "rows": rows, "failures": failures});
        Ok(fs_err::write(file, format!("{document:#}\n"))?)
    }
}

/// Prints one line.
#[expect(clippy::print_stdout, reason = "the benchmark's one printer")]
pub fn print(line: &str) {
    println!("{line}");
}

/// Says why nothing could be measured.
#[expect(clippy::print_stderr, reason = "the benchmark's one printer")]
pub fn complain(error: &anyhow::Error) {
    eprintln!("surehand-bench: {error:#}");
}
