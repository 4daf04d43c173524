//! Running one program to its end, with a limit on the wall time and on nothing else.

use std::io::{self, Read, Write};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// How long the output may stay open after the program has ended. On a machine with far more work than cores, the thread
/// that reads it may not get its turn for seconds.
const OUTPUT_GRACE: Duration = Duration::from_secs(8);

/// What a program did.
#[derive(Debug, Clone)]
pub struct Run {
    /// The exit code; `None` if a signal ended it.
    pub code: Option<i32>,
    /// What it printed (lossily decoded).
    pub stdout: String,
    /// What it complained about (lossily decoded).
    pub stderr: String,
    /// From just before it was spawned until it was gone.
    pub elapsed: Duration,
    /// A descendant still held its output seconds after it ended: `$(surehand …)` would hang there.
    pub held_open: bool,
}

impl Run {
    /// Whether the exit code is 0.
    #[must_use]
    pub fn ok(&self) -> bool {
        self.code == Some(0)
    }
}

/// Why a program did not run to its end.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// It could not be started.
    #[error("cannot start {program}: {source}")]
    Spawn {
        /// The program.
        program: String,
        /// What the system said.
        source: io::Error,
    },
    /// It could not be waited for.
    #[error("cannot wait for process {pid}: {source}")]
    Wait {
        /// Its id.
        pid: u32,
        /// What the system said.
        source: io::Error,
    },
    /// It was still running at the limit and was killed.
    #[error(
        "process {pid} was still running after {limit:?} and was killed: {command}\nstdout: {stdout}\nstderr: {stderr}"
    )]
    Overrun {
        /// Its id.
        pid: u32,
        /// The limit.
        limit: Duration,
        /// The program and its arguments.
        command: String,
        /// What it had printed until then.
        stdout: String,
        /// What it had complained about until then.
        stderr: String,
    },
}

/// Runs `command` with `input` as its standard input (closed if empty) and kills it, by its id, at `limit`.
pub fn run_bounded(mut command: Command, input: &[u8], limit: Duration) -> Result<Run, RunError> {
    command.stdin(if input.is_empty() { Stdio::null() } else { Stdio::piped() });
    command.stdout(Stdio::piped()).stderr(Stdio::piped());

    let started = Instant::now();
    let mut child = command.spawn().map_err(|source| RunError::Spawn {
        program: command.get_program().to_string_lossy().into_owned(),
        source,
    })?;
    let pid = child.id();

    let (sender, ended) = channel();
    let stdout = Drain::start(child.stdout.take(), sender.clone());
    let stderr = Drain::start(child.stderr.take(), sender);
    if let Some(mut pipe) = child.stdin.take() {
        let input = input.to_vec();
        // A program that does not read its input must not block us: its pipe breaks when it ends.
        thread::spawn(move || pipe.write_all(&input));
    }

    let mut open = 2;
    let status = wait_for_exit(&mut child, &ended, &mut open, started + limit)
        .map_err(|source| RunError::Wait { pid, source })?;
    let elapsed = started.elapsed();
    let Some(status) = status else {
        let _ = child.kill();
        let _ = child.wait();
        wait_for_output(&ended, &mut open);
        return Err(RunError::Overrun {
            pid,
            limit,
            command: format!("{command:?}"),
            stdout: stdout.text(),
            stderr: stderr.text(),
        });
    };
    wait_for_output(&ended, &mut open);
    Ok(Run {
        code: status.code(),
        stdout: stdout.text(),
        stderr: stderr.text(),
        elapsed,
        held_open: open > 0,
    })
}

/// Waits for the exit without a fixed polling step: the end of the output, which comes just before the exit,
/// wakes it up. `open` counts the outputs that are not at their end. `None` at the deadline.
fn wait_for_exit(
    child: &mut Child,
    ended: &Receiver<()>,
    open: &mut usize,
    deadline: Instant,
) -> io::Result<Option<std::process::ExitStatus>> {
    let mut closed_at = None;
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        let now = Instant::now();
        if now >= deadline {
            return Ok(None);
        }
        if *open > 0 {
            // A leaked output never ends: look at the process as well.
            match ended.recv_timeout(Duration::from_millis(5).min(deadline - now)) {
                Ok(()) => *open -= 1,
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => *open = 0,
            }
        } else if now.duration_since(*closed_at.get_or_insert(now)) < Duration::from_millis(3) {
            thread::yield_now();
        } else {
            thread::sleep(Duration::from_millis(1));
        }
    }
}

/// Waits until what was printed has been read, but not for somebody who keeps an output open.
fn wait_for_output(ended: &Receiver<()>, open: &mut usize) {
    let grace = Instant::now() + OUTPUT_GRACE;
    while *open > 0 && ended.recv_timeout(grace.saturating_duration_since(Instant::now())).is_ok() {
        *open -= 1;
    }
}

/// Collects one output on a thread of its own.
struct Drain(Arc<Mutex<Vec<u8>>>);

impl Drain {
    fn start(pipe: Option<impl Read + Send + 'static>, ended: Sender<()>) -> Self {
        let collected = Arc::new(Mutex::new(vec![]));
        let target = Arc::clone(&collected);
        thread::spawn(move || {
            let mut chunk = vec![0; 64 * 1024];
            if let Some(mut pipe) = pipe {
                while let Ok(count @ 1..) = pipe.read(&mut chunk) {
                    target.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(&chunk[..count]);
                }
            }
            let _ = ended.send(());
        });
        Self(collected)
    }

    fn text(&self) -> String {
        String::from_utf8_lossy(&self.0.lock().unwrap_or_else(PoisonError::into_inner)).into_owned()
    }
}

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        command
    }

    #[test]
    fn collects_output_code_and_input() {
        let run =
            run_bounded(shell("cat; echo oops >&2; exit 3"), b"hello", Duration::from_secs(10)).unwrap();
        assert_eq!((run.code, run.stdout.as_str(), run.stderr.as_str()), (Some(3), "hello", "oops\n"));
        assert!(!run.ok() && !run.held_open);
    }

    #[test]
    fn kills_at_the_limit_and_says_so() {
        let started = Instant::now();
        let error = run_bounded(shell("echo begun; exec sleep 60"), b"", Duration::from_secs(3)).unwrap_err();
        assert!(started.elapsed() < Duration::from_secs(30));
        let RunError::Overrun { pid, stdout, .. } = &error else { panic!("{error}") };
        assert_eq!(stdout, "begun\n");
        assert!(!crate::processes::alive(*pid));
        assert!(error.to_string().contains("still running after 3s and was killed"));
    }

    #[test]
    fn notices_a_descendant_that_keeps_the_output() {
        let run = run_bounded(shell("sleep 60 & echo $!"), b"", Duration::from_secs(30)).unwrap();
        let sleeper = run.stdout.trim().parse().unwrap();
        assert!(crate::processes::kill(sleeper), "it was still there");
        assert!(run.held_open);
        assert!(run.ok());
    }

    #[test]
    fn large_output_does_not_block() {
        let run = run_bounded(shell("head -c 3000000 /dev/zero"), b"", Duration::from_secs(10)).unwrap();
        assert_eq!(run.stdout.len(), 3_000_000);
    }

    #[test]
    fn a_missing_program_is_named() {
        let error = run_bounded(Command::new("/nowhere/surehand"), b"", Duration::from_secs(1)).unwrap_err();
        assert!(error.to_string().contains("/nowhere/surehand"));
    }
}
