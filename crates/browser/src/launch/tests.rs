//! Real browsers, started and ended in every way.

use std::{path::Path, time::Instant};

use tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::*;
use crate::{
    Exit,
    testing::{Kept, chromium, processes_with, program, until},
};

fn options(scratch: &Path) -> LaunchOptions {
    LaunchOptions::new(chromium(), scratch)
}

fn fake(scratch: &Path, text: &str) -> LaunchOptions {
    LaunchOptions::new(program(&scratch.join("fake"), text), scratch.join("profiles"))
}

/// The browser's own profile directory, while there is one.
fn profiles(scratch: &Path) -> Vec<PathBuf> {
    let entries = fs_err::read_dir(scratch).unwrap().flatten();
    entries.map(|entry| entry.path()).filter(|path| path.is_dir()).collect()
}

async fn ask(channel: &mut Channel, message: &str) -> String {
    let Channel::Pipe(sender, receiver) = channel else { panic!("not a pipe") };
    sender.write_all(format!("{message}\0").as_bytes()).await.unwrap();
    let mut answer = Vec::new();
    while answer.last() != Some(&0) {
        assert_ne!(receiver.read_buf(&mut answer).await.unwrap(), 0, "the pipe closed");
    }
    String::from_utf8(answer).unwrap()
}

#[tokio::test]
async fn a_launched_browser_answers_and_ends_without_a_trace() {
    let scratch = tempfile::tempdir().unwrap();
    let notes = Kept::default();
    let mut launched = launch_with_fallback(options(scratch.path()), &notes).await.unwrap();
    assert!(launched.product.as_deref().unwrap().contains("Chrome/"), "{:?}", launched.product);
    if group::is_root() {
        assert_eq!(notes.lines.lock().unwrap().len(), 1);
        assert!(notes.text().contains("sandbox is off"), "{}", notes.text());
    }
    let dir = profiles(scratch.path()).remove(0);
    assert!(dir.join("owner.lock").exists());
    // The ping was taken off the pipe whole: the next answer is to the next question.
    let answer = ask(&mut launched.channel, r#"{"id":7,"method":"Target.getBrowserContexts"}"#).await;
    assert!(answer.starts_with(r#"{"id":7,"#), "{answer}");

    let closed = ask(&mut launched.channel, r#"{"id":8,"method":"Browser.close"}"#).await;
    assert!(closed.starts_with(r#"{"id":8,"#), "{closed}");
    launched.process.end(Duration::from_secs(10)).await;
    assert!(!dir.exists());
    // Killed is not gone yet.
    until("its processes are gone", || processes_with(dir.to_str().unwrap()).is_empty());
}

#[tokio::test]
async fn a_browser_without_grace_is_killed_with_all_its_processes() {
    let scratch = tempfile::tempdir().unwrap();
    let launched = launch_with_fallback(options(scratch.path()), &()).await.unwrap();
    let dir = profiles(scratch.path()).remove(0);
    launched.process.end(Duration::ZERO).await;
    assert!(!dir.exists());
    until("its processes are gone", || processes_with(dir.to_str().unwrap()).is_empty());
}

#[tokio::test]
async fn dropping_a_browser_ends_it_and_removes_its_profile() {
    let scratch = tempfile::tempdir().unwrap();
    let launched = launch_with_fallback(options(scratch.path()), &()).await.unwrap();
    let dir = profiles(scratch.path()).remove(0);
    drop(launched);
    assert!(!dir.exists());
    until("its processes are gone", || processes_with(dir.to_str().unwrap()).is_empty());
}

#[tokio::test]
async fn closing_the_pipe_ends_the_browser() {
    let scratch = tempfile::tempdir().unwrap();
    let Launched { channel, mut process, .. } =
        launch_with_fallback(options(scratch.path()), &()).await.unwrap();
    drop(channel);
    tokio::time::timeout(Duration::from_secs(30), process.wait())
        .await
        .expect("it lives on without its pipe");
}

#[tokio::test]
async fn a_killed_browser_is_noticed_at_once_and_said_to_be_killed() {
    let scratch = tempfile::tempdir().unwrap();
    let mut launched = launch_with_fallback(options(scratch.path()), &()).await.unwrap();
    let started = Instant::now();
    group::kill(launched.process.pid);
    let status = launched.process.wait().await;
    assert!(started.elapsed() < Duration::from_secs(10), "{:?}", started.elapsed());
    let error = launched.process.exited(status);
    assert!(matches!(error, Error::Exited { why: Exit::Killed { .. }, .. }), "{error}");
}

#[tokio::test]
async fn a_users_own_profile_is_kept_and_cannot_be_used_twice() {
    let scratch = tempfile::tempdir().unwrap();
    let mine = scratch.path().join("mine");
    let own = LaunchOptions { profile: Some(mine.clone()), ..options(&scratch.path().join("profiles")) };
    let first = launch_with_fallback(own.clone(), &()).await.unwrap();
    let second = launch_with_fallback(own, &()).await.unwrap_err();
    assert!(matches!(second, Error::Exited { why: Exit::ProfileInUse, .. }), "{second:?}");
    first.process.end(Duration::ZERO).await;
    assert!(mine.join("Local State").exists() || mine.join("Default").exists());
}

#[tokio::test]
async fn a_headed_browser_without_a_screen_says_so() {
    let scratch = tempfile::tempdir().unwrap();
    let no_screen = ["DISPLAY", "WAYLAND_DISPLAY"].map(|name| (name.to_owned(), String::new()));
    let headed = LaunchOptions { headed: true, extra_env: no_screen.into(), ..options(scratch.path()) };
    let error = launch_with_fallback(headed, &()).await.unwrap_err();
    assert!(matches!(error, Error::Exited { why: Exit::NoDisplay, .. }), "{error:?}");
    assert_eq!(profiles(scratch.path()), [] as [PathBuf; 0]);
}

#[tokio::test]
async fn what_cannot_be_executed_is_named() {
    let scratch = tempfile::tempdir().unwrap();
    let error = launch(LaunchOptions::new("/no/such/browser", scratch.path()), &()).await.unwrap_err();
    assert!(error.to_string().starts_with("cannot start /no/such/browser"), "{error}");
    assert_eq!(profiles(scratch.path()), [] as [PathBuf; 0]);
}

#[tokio::test]
async fn a_program_that_never_answers_is_given_up_in_time() {
    let scratch = tempfile::tempdir().unwrap();
    let silent = fake(scratch.path(), "#!/bin/sh\necho thinking >&2\nexec sleep 600\n");
    let started = Instant::now();
    // Long enough for it to say something.
    let error = launch_with_fallback(LaunchOptions { timeout: Duration::from_secs(3), ..silent }, &())
        .await
        .unwrap_err();
    assert!(started.elapsed() < Duration::from_secs(30));
    assert!(matches!(error, Error::Silent { .. }) && error.to_string().contains("thinking"), "{error}");
}

#[tokio::test]
async fn missing_libraries_are_told_with_the_command_that_brings_them() {
    let scratch = tempfile::tempdir().unwrap();
    let words = "chrome: error while loading shared libraries: libnss3.so: cannot open shared object file";
    let bare = fake(scratch.path(), &format!("#!/bin/sh\necho '{words}' >&2\nexit 127\n"));
    let error = launch_with_fallback(bare, &()).await.unwrap_err().to_string();
    assert!(error.contains("libnss3.so") && error.contains("apt-get install"), "{error}");
}

#[tokio::test]
async fn where_the_sandbox_must_be_on_its_failure_is_the_error() {
    let scratch = tempfile::tempdir().unwrap();
    let strict = fake(scratch.path(), "#!/bin/sh\necho 'FATAL: No usable sandbox!' >&2\nexit 1\n");
    let error =
        launch_with_fallback(LaunchOptions { sandbox: Sandbox::On, ..strict }, &()).await.unwrap_err();
    assert!(error.is_sandbox_failure(), "{error}");
}

/// Root never sees the fallback, so these run in a child that is somebody else; see `as_nobody`.
mod unprivileged {
    use std::{os::unix::process::CommandExt, process::Command};

    use super::*;

    const NOBODY: &str = "65534";

    /// Runs one of the ignored tests below as another user, through `wrapper`.
    fn as_nobody(test: &str, wrapper: &[&str]) -> String {
        let dir = tempfile::tempdir().unwrap();
        let exe = dir.path().join("tests");
        // The build's own folder may be closed to others.
        assert!(
            Command::new("cp").arg(std::env::current_exe().unwrap()).arg(&exe).status().unwrap().success()
        );
        assert!(Command::new("chmod").args(["-R", "777"]).arg(dir.path()).status().unwrap().success());
        let user = ["setpriv", "--reuid", NOBODY, "--regid", NOBODY, "--clear-groups"];
        let words: Vec<&str> = wrapper.iter().chain(&user).copied().collect();
        let mut command = Command::new(words[0]);
        let output = command
            .args(&words[1..])
            .arg(&exe)
            .args(["--exact", &format!("launch::tests::unprivileged::{test}"), "--ignored", "--nocapture"])
            .env("TMPDIR", dir.path())
            .env("HOME", dir.path())
            .env_remove("XDG_CACHE_HOME")
            .current_dir("/")
            .process_group(0)
            .output()
            .unwrap();
        let said = format!(
            "{}\n{}",
            String::from_utf8_lossy(&output.stdout),
            String::from_utf8_lossy(&output.stderr)
        );
        assert!(output.status.success() && said.contains("1 passed"), "{said}");
        said
    }

    fn works(words: &[&str]) -> bool {
        Command::new(words[0]).args(&words[1..]).output().is_ok_and(|output| output.status.success())
    }

    /// Whether this machine lets other users have what the sandbox is made of; closed containers do not.
    fn has_sandboxes() -> bool {
        works(&["setpriv", "--reuid", NOBODY, "--regid", NOBODY, "--clear-groups", "unshare", "-U", "true"])
    }

    #[test]
    fn another_user_has_the_sandbox() {
        if group::is_root() && has_sandboxes() {
            as_nobody("inner_sandbox_on", &[]);
        }
    }

    /// The kernel refuses user namespaces to who is in a chroot, as it does in closed containers.
    #[test]
    fn without_a_usable_sandbox_it_still_works_and_says_so_once() {
        if !group::is_root() {
            return;
        }
        let root = tempfile::tempdir().unwrap();
        let close = "mount --rbind / \"$0\" && exec chroot \"$0\" \"$@\"";
        let chroot = ["unshare", "-m", "sh", "-c", close, root.path().to_str().unwrap()];
        if !has_sandboxes() {
            as_nobody("inner_sandbox_off", &[]);
        } else if works(&[&chroot[..], &["true"]].concat()) {
            as_nobody("inner_sandbox_off", &chroot);
        }
    }

    #[tokio::test]
    #[ignore = "run as another user by another_user_has_the_sandbox"]
    async fn inner_sandbox_on() {
        let scratch = tempfile::tempdir().unwrap();
        let notes = Kept::default();
        let launched = launch_with_fallback(options(scratch.path()), &notes).await.unwrap();
        assert_eq!(notes.text(), "");
        let line = fs_err::read_to_string(format!("/proc/{}/cmdline", launched.process.pid)).unwrap();
        assert!(!line.contains("--no-sandbox"));
        launched.process.end(Duration::from_millis(100)).await;
    }

    #[tokio::test]
    #[ignore = "run as another user by without_a_usable_sandbox_it_still_works_and_says_so_once"]
    async fn inner_sandbox_off() {
        let scratch = tempfile::tempdir().unwrap();
        let notes = Kept::default();
        let launched = launch_with_fallback(options(scratch.path()), &notes).await.unwrap();
        assert_eq!(notes.lines.lock().unwrap().len(), 1, "{}", notes.text());
        assert!(notes.text().contains("sandbox is off"), "{}", notes.text());
        assert!(launched.product.is_some());
        launched.process.end(Duration::from_millis(100)).await;
    }
}
