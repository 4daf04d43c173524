//! Installing from a server on loopback, and falling through the ways with the reasons kept.

use std::{
    io::{Cursor, Read, Write},
    net::{TcpListener, TcpStream},
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use super::*;
use crate::{
    Product, Source,
    testing::{Kept, bare, program},
};

const FAKE: &str = "#!/bin/sh\necho 'Chrome for Testing 150.0.1.2'\n";
const LACKING: &str = "#!/bin/sh\n[ -e \"$0.fixed\" ] && echo 'Chrome 1' && exit\n\
    echo 'x: error while loading shared libraries: libnss3.so: cannot open' >&2\nexit 127\n";

/// A zip file as Chrome for Testing's are: a folder with a program in it.
fn archive(name: &str, text: &str) -> Vec<u8> {
    let mut zip = zip::ZipWriter::new(Cursor::new(Vec::new()));
    let options = zip::write::SimpleFileOptions::default().unix_permissions(0o755);
    zip.start_file(name, options).unwrap();
    zip.write_all(text.as_bytes()).unwrap();
    zip.finish().unwrap().into_inner()
}

/// A site with an index and an archive, which counts the downloads.
struct Site {
    index_url: String,
    downloads: Arc<AtomicUsize>,
}

/// How the site sends the archive.
#[derive(Clone, Copy, PartialEq)]
enum Sending {
    Whole,
    BreaksOff,
    Stalls,
}

fn site(archive: Vec<u8>, sending: Sending) -> Site {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let base = format!("http://{}", listener.local_addr().unwrap());
    let downloads = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&downloads);
    let builds = ["linux64", "linux-arm64"]
        .map(|p| format!(r#"{{"platform":"{p}","url":"{base}/chrome.zip"}}"#))
        .join(",");
    let index = format!(
        r#"{{"timestamp":"x","channels":{{"Stable":{{"channel":"Stable","version":"150.0.1.2","revision":"1","downloads":{{"chrome":[{builds}]}}}}}}}}"#
    );
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let (index, archive, count) = (index.clone(), archive.clone(), Arc::clone(&count));
            thread::spawn(move || serve(stream, index.as_bytes(), &archive, sending, &count));
        }
    });
    Site { index_url: format!("{base}/index.json"), downloads }
}

fn serve(mut stream: TcpStream, index: &[u8], archive: &[u8], sending: Sending, count: &AtomicUsize) {
    let mut request = Vec::new();
    while !request.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        if stream.read(&mut byte).unwrap_or(0) == 0 {
            return;
        }
        request.push(byte[0]);
    }
    let is_archive = request.starts_with(b"GET /chrome.zip");
    let body = if is_archive { archive } else { index };
    let _ = write!(stream, "HTTP/1.1 200 OK\r\nContent-Length: {}\r\nConnection: close\r\n\r\n", body.len());
    if !is_archive || sending == Sending::Whole {
        count.fetch_add(usize::from(is_archive), Ordering::SeqCst);
        let _ = stream.write_all(body);
        return;
    }
    let _ = stream.write_all(&body[..body.len() / 2]);
    if sending == Sending::Stalls {
        // Until the client gives up and closes.
        let _ = stream.read(&mut [0]);
    }
}

fn machine(site: &Site, dir: &Path) -> Machine {
    Machine { cache: Some(dir.join("cache")), index_url: site.index_url.clone(), ..bare() }
}

/// Installs. What was just unpacked may still be open for writing in a child that another test forks, and cannot be
/// executed then: that tells nothing of the installer, so it is asked again.
fn install(machine: &Machine, notes: &dyn Notes) -> Result<Found, Error> {
    loop {
        match super::install(machine, notes) {
            Err(error) if error.to_string().contains("Text file busy") => {
                thread::sleep(Duration::from_millis(5));
            }
            other => return other,
        }
    }
}

fn files(dir: &Path) -> Vec<String> {
    let names =
        fs_err::read_dir(dir).unwrap().flatten().map(|entry| entry.file_name().into_string().unwrap());
    let mut names: Vec<_> = names.filter(|name| name != ".install.lock").collect();
    names.sort();
    names
}

#[test]
fn chrome_for_testing_is_downloaded_unpacked_and_found_again() {
    let dir = tempfile::tempdir().unwrap();
    let site = site(archive("chrome-linux64/chrome", FAKE), Sending::Whole);
    let machine = machine(&site, dir.path());
    // What an installer that was killed leaves behind.
    program(&dir.path().join("cache/.part-chrome-1/chrome-linux64/chrome"), "#!/bin/sh\n");
    let notes = Kept::default();
    let found = install(&machine, &notes).unwrap();
    assert_eq!((found.source, found.product), (Source::Surehand, Product::ChromeForTesting));
    assert_eq!(crate::find::find(&machine, None).unwrap(), found);
    assert_eq!(files(&dir.path().join("cache")), ["chrome-150.0.1.2"]);
    assert!(
        notes.text().contains("because no browser was found") && notes.text().contains("150.0.1.2"),
        "{}",
        notes.text()
    );
    let (done, total) = *notes.progress.lock().unwrap().last().unwrap();
    assert_eq!(Some(done), total);
    install(&machine, &()).unwrap();
    assert_eq!(site.downloads.load(Ordering::SeqCst), 1, "what is there is not downloaded again");
}

#[test]
fn installers_at_the_same_time_download_once() {
    let dir = tempfile::tempdir().unwrap();
    let site = site(archive("chrome-linux64/chrome", FAKE), Sending::Whole);
    let machine = machine(&site, dir.path());
    thread::scope(|scope| {
        let installers: Vec<_> =
            (0..6).map(|_| scope.spawn(|| install(&machine, &()).unwrap().path)).collect();
        for installer in installers {
            assert!(installer.join().unwrap().exists());
        }
    });
    assert_eq!(site.downloads.load(Ordering::SeqCst), 1);
}

#[test]
fn broken_downloads_leave_nothing_and_say_why() {
    let cases = [
        (b"not a zip".to_vec(), Sending::Whole, "unusable"),
        (archive("readme", "x"), Sending::Whole, "no browser program"),
        (archive("../../escape", "x"), Sending::Whole, "unusable"),
        (archive("chrome-linux64/chrome", FAKE), Sending::BreaksOff, "cannot download"),
    ];
    for (bytes, sending, why) in cases {
        let dir = tempfile::tempdir().unwrap();
        let site = site(bytes, sending);
        let error = install(&machine(&site, &dir.path().join("a")), &()).unwrap_err().to_string();
        assert!(error.contains(why), "{why}: {error}");
        assert_eq!(files(&dir.path().join("a/cache")), [] as [&str; 0], "{why}");
        assert!(!dir.path().join("escape").exists());
    }
}

#[test]
fn a_stalled_download_is_given_up() {
    let dir = tempfile::tempdir().unwrap();
    let site = site(vec![7; 100_000], Sending::Stalls);
    let machine = machine(&site, dir.path());
    let client = download::Client::with_stall(&machine, Duration::from_millis(300)).unwrap();
    let url = site.index_url.replace("index.json", "chrome.zip");
    let started = Instant::now();
    let error = client.file(&url, &dir.path().join("x"), "x", &()).unwrap_err().to_string();
    assert!(started.elapsed() < Duration::from_secs(15), "{:?}", started.elapsed());
    assert!(error.contains("stalled"), "{error}");
}

#[test]
fn an_unreachable_host_costs_seconds_and_every_way_is_listed() {
    let dir = tempfile::tempdir().unwrap();
    let refused = Machine { cache: Some(dir.path().into()), os_release: "ID=debian".into(), ..bare() };
    let nowhere = Machine { index_url: "https://no-such-host.invalid/index.json".into(), ..refused.clone() };
    for machine in [refused, nowhere] {
        let started = Instant::now();
        let error = install(&machine, &()).unwrap_err();
        assert!(started.elapsed() < Duration::from_secs(15), "{:?}", started.elapsed());
        let Error::Install { attempts, advice } = &error else { panic!("{error}") };
        assert_eq!(
            attempts.iter().map(|attempt| attempt.way).collect::<Vec<_>>(),
            ["Chrome for Testing", "the distribution's package"]
        );
        assert!(
            advice
                .contains("sudo apt-get update && sudo apt-get install -y --no-install-recommends chromium"),
            "{advice}"
        );
        assert!(error.to_string().contains(&machine.index_url), "{error}");
    }
}

#[test]
fn a_silent_host_costs_seconds() {
    // The address is set aside for documentation; nothing answers there, or the system refuses at once.
    let dir = tempfile::tempdir().unwrap();
    let silent = Machine {
        index_url: "https://192.0.2.1/index.json".into(),
        cache: Some(dir.path().into()),
        ..bare()
    };
    let started = Instant::now();
    install(&silent, &()).unwrap_err();
    assert!(started.elapsed() < Duration::from_secs(15), "{:?}", started.elapsed());
}

/// A Debian whose `apt-get` writes down what it is asked, and runs `then` on `install`.
fn debian(dir: &Path, os: &str, then: &str, depends: &str) -> (Machine, PathBuf) {
    let bin = dir.join("bin");
    let log = dir.join("log");
    program(
        &bin.join("apt-get"),
        &format!(
            "#!/bin/sh\necho \"$DEBIAN_FRONTEND $*\" >> {}\n[ \"$1\" = update ] && exit 0\n{then}\n",
            log.display()
        ),
    );
    program(&bin.join("apt-cache"), &format!("#!/bin/sh\necho '{depends}'\n"));
    let machine = Machine {
        path: vec![bin],
        root: true,
        os_release: os.into(),
        cache: Some(dir.join("cache")),
        ..bare()
    };
    (machine, log)
}

#[test]
fn as_root_on_debian_the_package_is_installed_after_a_refresh_of_the_lists() {
    let dir = tempfile::tempdir().unwrap();
    let browser = dir.path().join("bin/chromium");
    let make = format!("printf '#!/bin/sh\\necho Chromium 1\\n' > {0}; chmod 755 {0}", browser.display());
    let (machine, log) = debian(dir.path(), "ID=debian\n", &make, "");
    let notes = Kept::default();
    let found = install(&machine, &notes).unwrap();
    assert_eq!((found.path, found.source), (browser, Source::System));
    let log = fs_err::read_to_string(log).unwrap();
    let lines: Vec<&str> = log.lines().collect();
    assert!(lines[0].starts_with("noninteractive update"), "{log}");
    assert!(lines[1].starts_with("noninteractive install -y --no-install-recommends chromium"), "{log}");
    assert!(notes.text().contains("because this is root"), "{}", notes.text());
}

#[test]
fn apts_own_words_are_in_the_error() {
    let dir = tempfile::tempdir().unwrap();
    let (machine, _) =
        debian(dir.path(), "ID=debian\n", "echo 'E: Unable to locate package chromium' >&2; exit 100", "");
    let error = install(&machine, &()).unwrap_err().to_string();
    assert!(error.contains("E: Unable to locate package chromium"), "{error}");
}

#[test]
fn ubuntus_stub_is_not_installed_and_called_what_it_is() {
    let dir = tempfile::tempdir().unwrap();
    let (machine, log) =
        debian(dir.path(), "ID=ubuntu\nID_LIKE=debian\n", "exit 0", "chromium-browser\n  PreDepends: snapd");
    let error = install(&machine, &()).unwrap_err().to_string();
    assert!(error.contains("only a stub that installs a snap"), "{error}");
    assert!(error.contains("google-chrome-stable_current_amd64.deb"), "{error}");
    assert!(!fs_err::read_to_string(log).unwrap().contains("install"));
}

#[test]
fn on_ubuntu_missing_libraries_are_installed_for_chrome_for_testing() {
    let dir = tempfile::tempdir().unwrap();
    let fix = format!("touch {}/cache/chrome-150.0.1.2/chrome-linux64/chrome.fixed", dir.path().display());
    let (machine, log) = debian(dir.path(), "ID=ubuntu\n", &fix, "");
    let site = site(archive("chrome-linux64/chrome", LACKING), Sending::Whole);
    let found = install(&Machine { index_url: site.index_url, ..machine }, &()).unwrap();
    assert_eq!(found.source, Source::Surehand);
    assert!(fs_err::read_to_string(log).unwrap().contains("libnss3"));
}

#[test]
fn on_debian_missing_libraries_lead_to_the_package_and_elsewhere_to_the_command() {
    let dir = tempfile::tempdir().unwrap();
    let make = format!(
        "printf '#!/bin/sh\\necho Chromium 1\\n' > {0}; chmod 755 {0}",
        dir.path().join("bin/chromium").display()
    );
    let (machine, _) = debian(dir.path(), "ID=debian\n", &make, "");
    let site = site(archive("chrome-linux64/chrome", LACKING), Sending::Whole);
    let machine = Machine { index_url: site.index_url, ..machine };
    assert_eq!(install(&machine, &()).unwrap().source, Source::System);
    let other = Machine { os_release: "ID=fedora".into(), ..machine };
    let error = install(&other, &()).unwrap_err().to_string();
    assert!(error.contains("libnss3.so") && error.contains("apt-get install -y"), "{error}");
}

/// For a bare machine only (a fresh Debian in a chroot): installs for real and shows that the browser runs.
#[test]
#[ignore = "changes the system: run it in a fresh Debian (debootstrap, chroot)"]
fn for_real_on_a_bare_machine() {
    let notes = Kept::default();
    let started = Instant::now();
    let found = install(&Machine::from_env(), &notes);
    println!("{}\n{:?} after {:?}", notes.text(), found, started.elapsed());
    println!("{}", crate::version(&found.unwrap().path).unwrap());
}
