//! Failures as workflow commands of GitHub, which shows them at the lines of the playbooks.

use crate::clean::{one_line, visible};
use crate::run::{RunReport, StepReport};
use crate::suite::{Outcome, SuiteReport, TestReport};

/// A line for each failed step and each broken test: errors, or warnings where a later attempt passed.
pub fn annotations(suite: &SuiteReport) -> String {
    suite.tests.iter().flat_map(of_test).collect()
}

fn of_test(test: &TestReport) -> Vec<String> {
    let decided = test.run.iter().flat_map(RunReport::failures).map(|step| of_step("error", test, step));
    let flaky = test.earlier.iter().filter(|_| test.outcome == Outcome::Flaky);
    let survived = flaky.flat_map(RunReport::failures).map(|step| of_step("warning", test, step));
    let problem = test.problem.iter().map(|problem| {
        let title = format!("{}: {}", test.full_title(), test.outcome.word());
        command("error", &[("file", test.file.clone()), ("title", one_line(&title))], problem)
    });
    decided.chain(survived).chain(problem).collect()
}

fn of_step(level: &str, test: &TestReport, step: &StepReport) -> String {
    let file = step.place.as_ref().and_then(|place| place.file.as_ref()).unwrap_or(&test.file);
    let mut properties = vec![("file", file.clone())];
    if let Some(place) = &step.place {
        properties.push(("line", place.line.to_string()));
        properties.push(("col", place.column.to_string()));
    }
    let title = format!("{}: step {} ({}) failed", test.full_title(), step.index, step.verb);
    properties.push(("title", one_line(&title)));
    command(level, &properties, &message(step))
}

fn message(step: &StepReport) -> String {
    let mut message = step.error.clone().unwrap_or_else(|| format!("Step {} failed", step.index));
    for (word, value) in [("expected", &step.expected), ("actual", &step.actual)] {
        if let Some(value) = value {
            message.push_str(&format!("\n{word}: {value}"));
        }
    }
    message
}

fn command(level: &str, properties: &[(&str, String)], message: &str) -> String {
    let properties: Vec<String> =
        properties.iter().map(|(name, value)| format!("{name}={}", escaped_property(value))).collect();
    format!("::{level} {}::{}\n", properties.join(","), escaped_data(&visible(message)))
}

/// A raw line end would end the command, and the rest would be a command of its own.
fn escaped_data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

fn escaped_property(text: &str) -> String {
    escaped_data(&visible(text)).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::Place;
    use crate::samples::{hostile_run, suite};

    #[test]
    fn failures_are_errors_and_survived_failures_are_warnings() {
        assert_eq!(
            annotations(&suite()),
            "::error file=tests/fail.playbook.yaml,line=7,col=5,title=fail-fast fixture%3A step 1 (assert) failed::\
             Step 1 (assert): assert verdict=\"fail\"%0Aexpected: {\"pattern\":\"Example\",\"selector\":\"h1\"}%0A\
             actual: \"Hello\"\n\
             ::warning file=tests/sanity.playbook.yaml,line=7,col=5,title=sanity (repeat 2)%3A step 1 (assert) \
             failed::Step 1 (assert): assert verdict=\"fail\"%0Aexpected: {\"pattern\":\"Example\",\"selector\":\"h1\"}%0A\
             actual: \"Hello\"\n\
             ::error file=tests/bad.playbook.yaml,title=bad%3A broken::line 3, column 5: there is no verb \"clik\"\n"
        );
    }

    #[test]
    fn a_step_of_another_file_points_there() {
        let mut suite = suite();
        suite.tests.truncate(2);
        if let Some(run) = &mut suite.tests[1].run {
            run.steps[1].place = Some(Place { file: Some("tests/a,b.yaml".to_owned()), line: 2, column: 1 });
        }
        let text = annotations(&suite);
        assert!(text.starts_with("::error file=tests/a%2Cb.yaml,line=2,col=1,title="), "{text}");
    }

    #[test]
    fn hostile_text_stays_in_its_command() {
        let text = annotations(&hostile_run().into());
        assert_eq!(text.lines().count(), 1, "{text}");
        let properties = text.trim_start_matches("::error ").split("::").next().unwrap();
        assert_eq!(properties.split(',').count(), 4, "{properties}");
        assert!(text.contains("%25%0A"), "per cent and the line end are escaped: {text}");
    }

    #[test]
    fn escapes_are_those_of_the_runner() {
        assert_eq!(escaped_data("100%\r\na:b,c"), "100%25%0D%0Aa:b,c");
        assert_eq!(escaped_property("a:b,c%"), "a%3Ab%2Cc%25");
    }
}
