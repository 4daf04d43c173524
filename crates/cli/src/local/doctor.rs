//! `doctor`: what a browser needs, what is wrong, and how to mend it.

use std::process::ExitCode;

use surehand_browser::Machine;
use surehand_browser::doctor::{Check, DoctorInput, Status, check};
use surehand_server::{Client, Home, Request, Task, version};
use surehand_session::{Fault, Kind};

use crate::printer::Printer;

pub(super) fn run(printer: &Printer) -> Result<ExitCode, Fault> {
    let home = Home::from_env()?;
    let input = DoctorInput { scratch: home.scratch(), home: home.root.clone(), executable: None };
    let mut checks = check(&Machine::from_env(), input);
    checks.push(daemon(&home));
    let data: Vec<_> = checks.iter().map(as_json).collect();
    let text: Vec<_> = checks.iter().map(line).collect();
    let failed = checks.iter().filter(|check| check.status == Status::Fail).count();
    let (data, text) = (serde_json::json!({ "checks": data, "failed": failed }), text.join("\n"));
    if failed == 0 {
        return Ok(printer.result(&data, &text));
    }
    let fault = Fault::new(Kind::CheckFailed, format!("{failed} of {} checks failed", checks.len()))
        .hint("each failed check has a fix");
    Ok(printer.failed_result(&data, &text, fault))
}

fn daemon(home: &Home) -> Check {
    let request = Request { version: version(), task: Task::Status, log: None };
    let (status, message, fix) = match Client::new(home.clone()).ask_running(&request) {
        Ok(None) => (Status::Ok, "no daemon runs; one starts with the next command".to_owned(), None),
        Ok(Some(answer)) if answer.starts_with(r#"{"success":true"#) => {
            let pid = fs_err::read_to_string(home.pid_file()).unwrap_or_default();
            (Status::Ok, format!("a daemon runs (pid {pid}) at {}", home.socket.display()), None)
        }
        Ok(Some(_)) => {
            let fix = "surehand close --all".to_owned();
            (
                Status::Warn,
                format!("a daemon of another version runs at {}", home.socket.display()),
                Some(fix),
            )
        }
        Err(fault) => {
            let fix = match fault.kind {
                Kind::ForeignSocket => "set SUREHAND_HOME to a directory of your own".to_owned(),
                _ => format!("remove {} and run a command again", home.socket.display()),
            };
            (Status::Fail, fault.message, Some(fix))
        }
    };
    Check { id: "daemon", status, message, fix }
}

fn word(status: Status) -> &'static str {
    match status {
        Status::Ok => "ok",
        Status::Warn => "warn",
        Status::Fail => "fail",
    }
}

fn as_json(check: &Check) -> serde_json::Value {
    serde_json::json!({ "id": check.id, "status": word(check.status), "message": check.message, "fix": check.fix })
}

fn line(check: &Check) -> String {
    let fix = check.fix.as_ref().map(|fix| format!("\n        fix: {fix}")).unwrap_or_default();
    format!("{:4}  {}: {}{fix}", word(check.status), check.id, check.message)
}
