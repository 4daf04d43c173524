//! A run as Markdown, for `--out`, pull requests and chat.

use crate::brief;
use crate::clean::{one_line, visible};
use crate::run::{RunReport, StepReport};

/// A run: a heading, a table of its steps, what failed, and the result.
pub fn run_markdown(run: &RunReport) -> String {
    let mut parts = vec![format!("# Playbook: {}", escaped(run.title())), table(&run.steps)];
    parts.extend(run.failures().map(failure));
    parts.push(result(run));
    parts.extend(run.error.iter().map(|error| format!("**Error:** {}", escaped(&error.message))));
    let mut text = parts.join("\n\n");
    text.push('\n');
    text
}

/// A column of the table: its heading, and its cell of a step. Columns that only some playbooks need are left out
/// where no step fills them.
struct Column {
    heading: &'static str,
    always: bool,
    cell: fn(&StepReport) -> Option<String>,
}

const COLUMNS: &[Column] = &[
    Column { heading: "#", always: true, cell: |step| Some(step.index.to_string()) },
    Column { heading: "ID", always: false, cell: |step| step.id.as_deref().map(escaped) },
    Column { heading: "Name", always: false, cell: |step| step.name.as_deref().map(escaped) },
    Column { heading: "Where", always: false, cell: place },
    Column { heading: "Verb", always: true, cell: |step| Some(escaped(&step.verb)) },
    Column { heading: "Tool", always: true, cell: |step| Some(escaped(&step.tool)) },
    Column { heading: "Status", always: true, cell: |step| Some(step.status.word().to_owned()) },
    Column { heading: "Duration", always: true, cell: |step| Some(brief::duration(step.duration_ms)) },
];

fn table(steps: &[StepReport]) -> String {
    let is_filled =
        |column: &&Column| column.always || steps.iter().any(|step| (column.cell)(step).is_some());
    let columns: Vec<&Column> = COLUMNS.iter().filter(is_filled).collect();
    let mut rows = vec![
        row(columns.iter().map(|column| column.heading.to_owned())),
        row(columns.iter().map(|_| "---".to_owned())),
    ];
    rows.extend(
        steps.iter().map(|step| row(columns.iter().map(|column| (column.cell)(step).unwrap_or_default()))),
    );
    rows.join("\n")
}

fn row(cells: impl Iterator<Item = String>) -> String {
    format!("| {} |", cells.collect::<Vec<_>>().join(" | "))
}

fn place(step: &StepReport) -> Option<String> {
    let words: Vec<String> =
        step.phase.word().map(str::to_owned).into_iter().chain(step.path.as_deref().map(escaped)).collect();
    (!words.is_empty()).then(|| words.join(", "))
}

fn failure(step: &StepReport) -> String {
    let mut lines = vec![visible(step.error_text().as_deref().unwrap_or("failed"))];
    for (word, value) in [("expected", &step.expected), ("actual", &step.actual)] {
        if let Some(value) = value {
            lines.push(format!("{word}: {}", visible(&value.to_string())));
        }
    }
    format!("## Step {} failed: {}\n\n{}", step.index, escaped(&step.verb), block(&lines.join("\n")))
}

fn result(run: &RunReport) -> String {
    let summary = &run.summary;
    let word = if summary.ok { "passed" } else { "failed" };
    format!(
        "**Result: {word}** ({} passed, {} failed, {} skipped, {} in all, {})",
        summary.passed,
        summary.failed,
        summary.skipped,
        summary.total,
        brief::duration(run.duration_ms())
    )
}

/// A block of text as it is. Its fence is longer than any row of backticks in it, so that the text cannot end it.
fn block(text: &str) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    format!("{fence}text\n{}\n{fence}", text.trim_end())
}

/// Text that stays text in a line or a cell.
fn escaped(text: &str) -> String {
    let line = one_line(text);
    let mut safe = String::with_capacity(line.len());
    let mut before = ' ';
    let mut characters = line.chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '&' => safe.push_str("&amp;"),
            // Between letters it means nothing, and `fill_form` should stay readable.
            '_' if before.is_alphanumeric() && characters.peek().is_some_and(|c| c.is_alphanumeric()) => {
                safe.push('_');
            }
            '\\' | '|' | '`' | '*' | '_' | '[' | ']' | '~' | '#' => safe.extend(['\\', character]),
            plain => safe.push(plain),
        }
        before = character;
    }
    safe
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::run::Phase;
    use crate::samples::{HOSTILE, failed_run, hostile_run, passed_run, passed_step};

    #[test]
    fn a_failed_run() {
        assert_eq!(
            run_markdown(&failed_run()),
            "# Playbook: fail-fast fixture\n\n\
             | # | Verb | Tool | Status | Duration |\n\
             | --- | --- | --- | --- | --- |\n\
             | 0 | navigate | navigate | ok | 45 ms |\n\
             | 1 | assert | oc_assert | failed | 12 ms |\n\
             | 2 | interact | interact | skipped | 0 ms |\n\n\
             ## Step 1 failed: assert\n\n\
             ```text\n\
             Step 1 (assert): assert verdict=\"fail\"\n\
             expected: {\"pattern\":\"Example\",\"selector\":\"h1\"}\n\
             actual: \"Hello\"\n\
             ```\n\n\
             **Result: failed** (1 passed, 1 failed, 1 skipped, 3 in all, 57 ms)\n"
        );
    }

    #[test]
    fn a_passed_run_has_no_failures() {
        let text = run_markdown(&passed_run());
        assert!(!text.contains("##"), "{text}");
        assert!(
            text.ends_with("**Result: passed** (1 passed, 0 failed, 0 skipped, 1 in all, 45 ms)\n"),
            "{text}"
        );
    }

    #[test]
    fn columns_appear_when_a_step_fills_them() {
        let mut run = passed_run();
        run.steps.push(passed_step(1, "fill_form", json!({}), 3));
        run.steps[1].id = Some("login".to_owned());
        run.steps[1].phase = Phase::Teardown;
        run.steps[1].path = Some("for_each item=a|b".to_owned());
        let text = run_markdown(&run);
        assert!(text.contains("| # | ID | Where | Verb | Tool | Status | Duration |\n"), "{text}");
        assert!(text.contains("| 0 |  |  | navigate | navigate | ok | 45 ms |\n"), "{text}");
        assert!(
            text.contains(
                "| 1 | login | teardown, for_each item=a\\|b | fill_form | fill_form | ok | 3 ms |\n"
            ),
            "{text}"
        );
    }

    #[test]
    fn a_cell_is_text() {
        assert_eq!(escaped("a|b\n`c` <b>&*_d_*"), "a\\|b \\`c\\` &lt;b&gt;&amp;\\*\\_d\\_\\*");
        assert_eq!(escaped("[x](javascript:1)"), "\\[x\\](javascript:1)");
    }

    #[test]
    fn a_text_cannot_end_its_block() {
        assert_eq!(block("a\n````\nb"), "`````text\na\n````\nb\n`````");
    }

    #[test]
    fn hostile_text_adds_no_rows_cells_or_markup() {
        let text = run_markdown(&hostile_run());
        let outside: String = text.split("```").step_by(2).collect();
        assert!(!outside.contains("<script"), "{outside}");
        let rows: Vec<&str> = outside.lines().filter(|line| line.starts_with('|')).collect();
        assert_eq!(rows.len(), 3, "{rows:?}");
        let bars = |row: &str| row.replace("\\|", "").matches('|').count();
        assert_eq!(bars(rows[2]), bars(rows[0]), "{rows:?}");
        assert!(HOSTILE.contains('\u{1b}') && !text.contains('\u{1b}'));
    }
}
