//! Keeping: storages, states that are taken along, and files that come down.
#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use std::path::Path;
use std::time::Duration;

use common::{Case, SOON, Shared};
use serde_json::{Value, json};
use surehand_testkit::{Response, wait_until};

static SHARED: Shared = Shared::new(|site| {
    let cookies = |path: &str| {
        Response::html(format!(
            "<title>{path}</title><script>localStorage.visited = location.origin</script>"
        ))
        .header("Set-Cookie", "sid=secret-1; HttpOnly; SameSite=Strict; Path=/")
        .header("Set-Cookie", "lasting=2; Max-Age=86400; SameSite=Lax; Path=/area")
        .header("Set-Cookie", "safe=3; Secure; SameSite=None; Path=/")
    };
    site.route("/login", move |request| cookies(&request.path))
        .route("/whoami", |request| {
            let known = request.header("cookie").is_some_and(|cookies| cookies.contains("sid=secret-1"));
            Response::html(format!("<title>{}</title>", if known { "known" } else { "stranger" }))
        })
        .page("/frame", "<title>Frame</title><p>frame</p>")
        .page("/downloader", "<a id=inside href=/small>Inside</a>")
        .page("/around", "<iframe src='{{cross}}/downloader'></iframe>")
        .page("/outer", "<title>Outer</title><iframe id=f src='{{cross}}/frame'></iframe>")
        .attachment("/small", "small.txt", "small\n")
        .attachment("/other", "other.txt", "other\n")
        .attachment("/evil", "../../evil.txt", "evil\n")
        .attachment("/absolute", "/tmp/absolute-evil.txt", "evil\n")
        .attachment("/dots", "..", "dots\n")
        .fixed(
            "/slow",
            Response::attachment("slow.bin", "one ")
                .chunk(Duration::from_millis(700), "two ")
                .chunk(Duration::from_millis(700), "three"),
        )
        .fixed("/broken", Response::attachment("broken.bin", "x").broken_off())
        .page(
            "/files",
            "<a id=small href=/small>Small</a> <a id=other href=/other>Other</a> <a id=slow href=/slow>Slow</a>
             <a id=evil href=/evil>Evil</a> <a id=absolute href=/absolute>Absolute</a> <a id=dots href=/dots>Dots</a>
             <a id=broken href=/broken>Broken</a> <a id=named href=/frame download='mine.html'>Named</a>
             <button id=both onclick=\"for (const id of ['small', 'other']) setTimeout(() => document.getElementById(id).click(), id === 'small' ? 0 : 200)\">Both</button>
             <button id=none>None</button>",
        )
});

#[test]
fn storages_are_those_of_the_page() {
    let case = SHARED.case("storage");
    case.show("<p>x</p>");
    assert_eq!(case.ok(&["storage", "local"]), json!({ "items": {} }));
    for (key, value) in [
        ("theme", "dark"),
        ("schlüssel 🔑", "wert ✓\nzwei"),
        ("", "of nothing"),
        ("length", "7"),
        ("__proto__", "p"),
        ("empty", ""),
        ("dash", "-5"),
    ] {
        assert_eq!(
            case.ok(&["storage", "local", "set", "--", key, value]),
            json!({ "key": key, "value": value })
        );
        assert_eq!(case.eval(&format!("localStorage.getItem({})", json!(key))), value, "{key:?}");
        assert_eq!(case.ok(&["storage", "local", "get", "--", key])["value"], value);
    }
    let items = case.ok(&["storage", "local"])["items"].clone();
    assert_eq!(items.as_object().unwrap().len(), 7, "{items}");
    assert_eq!((&items["__proto__"], &items["length"]), (&json!("p"), &json!("7")));
    assert_eq!(case.text(&["storage", "local", "theme"]), "dark");
    assert_eq!(case.ok(&["storage", "session"]), json!({ "items": {} }), "the other one");
    case.ok(&["storage", "session", "set", "step", "2"]);
    assert_eq!(case.eval("sessionStorage.step"), "2");
    case.eval("localStorage.byPage = 'yes'");
    assert_eq!(case.ok(&["storage", "local", "get", "byPage"])["value"], "yes");
    assert_eq!(case.ok(&["storage", "local", "remove", "theme"]), json!({ "removed": "theme" }));
    case.fails(&["storage", "local", "get", "theme"]).must_be("no-item", 1).must_say("theme");
    case.fails(&["storage", "local", "remove", "theme"]).must_be("no-item", 1);
    assert_eq!(case.ok(&["storage", "local", "clear"]), json!({ "cleared": 7 }));
    assert_eq!(case.eval("[localStorage.length, sessionStorage.length]"), json!([0, 1]));
}

#[test]
fn a_storage_follows_the_frame_and_belongs_to_the_session() {
    let (case, other) = (SHARED.case("storage-frame"), SHARED.case("storage-other"));
    case.ok(&["open", &case.site().url("/outer")]);
    case.ok(&["storage", "local", "set", "where", "main"]);
    case.ok(&["frame", "#f"]);
    assert_eq!(case.ok(&["storage", "local"]), json!({ "items": {} }), "another origin");
    case.ok(&["storage", "local", "set", "where", "frame"]);
    assert_eq!(case.eval("localStorage.where"), "frame");
    assert_eq!(case.snapshot(&[]).trim(), "- paragraph\n  - text \"frame\"");
    case.ok(&["frame", "main"]);
    assert_eq!(case.ok(&["storage", "local", "where"])["value"], "main");
    assert_eq!(case.eval("document.title"), "Outer");
    case.ok(&["frame", "#f"]);
    case.ok(&["open", &case.site().cross_url("/frame")]);
    assert_eq!(case.eval("document.title"), "Frame", "a navigation leads out of the frame");
    other.ok(&["open", &case.site().url("/outer")]);
    assert_eq!(other.ok(&["storage", "local"]), json!({ "items": {} }));
}

#[test]
fn what_cannot_be_kept_is_told() {
    let case = SHARED.case("no-storage");
    for url in ["about:blank", "data:text/html,<p>x</p>"] {
        case.ok(&["open", url]);
        for command in [&["storage", "local"][..], &["storage", "session", "set", "a", "b"]] {
            case.fails(command).must_be("no-storage", 1).must_say("open a page");
        }
    }
    case.show("<p>x</p>");
    case.eval("localStorage.old = 'kept'; localStorage.filler = 'x'.repeat(5 * 1024 * 1024 - 100); 1");
    case.fails(&["storage", "local", "set", "big", &"y".repeat(1000)])
        .must_be("no-storage", 1)
        .must_say("quota");
    assert_eq!(case.ok(&["storage", "local", "get", "old"])["value"], "kept");
    case.fails(&["storage", "local", "get", "big"]).must_be("no-item", 1);
    // A page that keeps what it likes is not believed.
    case.show("<script>Storage.prototype.setItem = () => {}</script>");
    case.ok(&["storage", "local", "clear"]);
    case.ok(&["storage", "local", "set", "a", "b"]);
    assert_eq!(case.eval("localStorage.getItem('a')"), "b", "the page's own functions are not used");
}

/// Cookies without what the clock says, by name.
fn cookies(case: &Case) -> Value {
    let list = case.ok(&["cookies"])["cookies"].clone();
    let mut list = list.as_array().expect("a list").clone();
    list.sort_by_key(|cookie| cookie["name"].as_str().map(ToOwned::to_owned));
    Value::Array(list)
}

#[cfg(unix)]
fn mode(path: &Path) -> u32 {
    use std::os::unix::fs::PermissionsExt;
    fs_err::metadata(path).expect("a file").permissions().mode() & 0o777
}

#[cfg(unix)]
#[test]
fn a_state_is_taken_along_to_another_session() {
    let (case, other) = (SHARED.case("state-from"), SHARED.case("state-to"));
    case.ok(&["open", &case.site().url("/login")]);
    case.ok(&["tab", "new", &case.site().cross_url("/login")]);
    case.ok(&["tab", "close"]);
    case.ok(&["storage", "local", "set", "schlüssel", "wert 🔑"]);
    let path = case.cli.home().work().join("deep/state.json");
    // Even where everybody could read what was there before.
    fs_err::create_dir_all(path.parent().unwrap()).unwrap();
    fs_err::write(&path, "old").unwrap();
    let (tabs, titles) = (case.ok(&["tab", "list"]), case.eval("document.title"));
    let saved = case.ok(&["state", "save", "deep/state.json"]);
    assert_eq!((&saved["path"], &saved["origins"]), (&json!(path), &json!(2)), "{saved}");
    assert_eq!(mode(&path), 0o600);
    assert_eq!((case.ok(&["tab", "list"]), case.eval("document.title")), (tabs, titles), "nothing moved");
    assert_eq!(case.ok(&["tab", "new"])["tabId"], "t3", "and no number was used up");
    let known = cookies(&case);
    assert!(known.as_array().unwrap().len() >= 3, "{known}");

    // Before any page is open.
    let loaded = other.ok(&["state", "load", "deep/state.json"]);
    assert_eq!((&loaded["cookies"], &loaded["origins"]), (&saved["cookies"], &saved["origins"]));
    assert_eq!(other.ok(&["tab", "list"])["tabs"], json!([]), "no tab appears");
    assert_eq!(cookies(&other), known, "with all their marks");
    assert_eq!(other.ok(&["open", &case.site().url("/whoami")])["title"], "known");
    assert_eq!(other.ok(&["tab", "list"])["tabs"][0]["tabId"], "t1");
    assert_eq!(
        other.ok(&["storage", "local"])["items"],
        json!({ "visited": case.site().url(""), "schlüssel": "wert 🔑" })
    );
    assert_eq!(
        other.eval("document.cookie").as_str().map(|seen| seen.contains("sid")),
        Some(false),
        "still hidden from scripts"
    );
    other.ok(&["open", &case.site().cross_url("/whoami")]);
    assert_eq!(other.ok(&["storage", "local", "get", "visited"])["value"], case.site().cross_url(""));

    // What was loaded and never visited is saved again.
    let third = SHARED.case("state-third");
    third.ok(&["state", "load", "deep/state.json"]);
    assert_eq!(third.ok(&["state", "save", "again.json"])["origins"], 2);
    let read = |name: &str| -> Value {
        serde_json::from_slice(&fs_err::read(case.cli.home().work().join(name)).unwrap()).unwrap()
    };
    assert_eq!(read("again.json")["origins"], read("deep/state.json")["origins"]);
}

#[test]
fn a_state_of_another_tool_is_read_and_garbage_is_not() {
    let case = SHARED.case("state-bad");
    let work = case.cli.home().work().to_owned();
    let origin = case.site().url("");
    // As Playwright writes it, with members that we do not know.
    let state = json!({
        "cookies": [{ "name": "sid", "value": "secret-1", "domain": "127.0.0.1", "path": "/", "expires": -1, "httpOnly": true, "secure": false, "sameSite": "Lax" }],
        "origins": [{ "origin": origin, "localStorage": [{ "name": "a", "value": "b" }], "indexedDB": [] }],
    });
    fs_err::write(work.join("foreign.json"), state.to_string()).unwrap();
    case.ok(&["open", &case.site().url("/frame")]);
    case.ok(&["state", "load", "foreign.json"]);
    assert_eq!(case.ok(&["storage", "local"])["items"], json!({ "a": "b" }));
    assert_eq!(case.eval("document.title"), "Frame", "the page that is open stays");
    assert_eq!(case.ok(&["open", &case.site().url("/whoami")])["title"], "known");
    case.ok(&["storage", "local", "clear"]);
    case.ok(&["cookies", "clear"]);
    for (name, bytes) in [
        ("garbage.json", &b"\xff\xfe not json"[..]),
        ("empty.json", b""),
        ("list.json", b"[1, 2]"),
        ("half.json", br#"{"cookies": [{"name": "sid"}]}"#),
        ("wrong.json", br#"{"cookies": 7}"#),
        ("other.json", br#"{"name": "a package", "version": "1"}"#),
        ("origin.json", br#"{"origins": [{"origin": "not an origin", "localStorage": [{"name": "a", "value": "b"}]}]}"#),
        ("script.json", br#"{"origins": [{"origin": "javascript:alert(1)", "localStorage": [{"name": "a", "value": "b"}]}]}"#),
    ] {
        fs_err::write(work.join(name), bytes).unwrap();
        case.fails(&["state", "load", name]).must_be("bad-file", 2).must_say(name);
    }
    assert_eq!(case.ok(&["cookies"])["cookies"], json!([]), "nothing of it was taken");
    assert_eq!(case.ok(&["tab", "list"])["tabs"].as_array().unwrap().len(), 1);
    case.fails(&["state", "load", "nowhere.json"]).must_be("missing-file", 2).must_say("nowhere.json");
    case.fails(&["state", "save", "/proc/state.json"]).must_be("unwritable-path", 3);
}

fn files(session: &str) -> Case {
    let case = SHARED.case(session);
    case.ok(&["open", &case.site().url("/files")]);
    case
}

fn text_of(path: &Value) -> String {
    fs_err::read_to_string(path.as_str().expect("a path")).expect("a file")
}

/// A click that tells of the download that it began. A browser that is busy tells of one later than a click waits for it:
/// that one is taken, and another begun.
#[track_caller]
fn begin_small(case: &Case) {
    let is_told = || match &case.ok(&["click", "#small"])["downloads"] {
        Value::Null => {
            case.ok(&["wait", "--download", "late.txt"]);
            false
        }
        told => *told == json!(["small.txt"]),
    };
    assert!(wait_until(SOON, is_told), "told by what began it");
}

#[test]
fn a_download_is_waited_for_and_taken_once() {
    let case = files("downloads");
    let work = case.cli.home().work().to_owned();
    begin_small(&case);
    let kept = case.ok(&["wait", "--download", "first.txt"]);
    assert_eq!(
        kept,
        json!({ "waited": "download", "path": work.join("first.txt"), "url": case.site().url("/small"), "bytes": 6 })
    );
    assert_eq!(text_of(&kept["path"]), "small\n");
    let again = case.fails(&["wait", "--download", "second.txt", "--timeout", "300"]);
    again.must_be("timeout", 1).must_say(&case.site().url("/files")).must_say("a download");
    assert!(!work.join("second.txt").exists());

    case.ok(&["click", "#slow"]);
    // The time is for it to begin; all of it takes longer.
    let kept = case.ok(&["wait", "--download", "slow.bin", "--timeout", "800"]);
    assert_eq!(text_of(&kept["path"]), "one two three", "complete before it is told");

    // Two of one click come one after the other.
    case.ok(&["click", "#both"]);
    let names: Vec<Value> =
        (0..2).map(|_| case.ok(&["wait", "--download", "both/"])["path"].clone()).collect();
    assert_eq!(names, [json!(work.join("both/small.txt")), json!(work.join("both/other.txt"))]);

    // What an earlier action began is not what the next one is asked about.
    begin_small(&case);
    case.ok(&["click", "#none"]);
    case.fails(&["wait", "--download", "--timeout", "300"]).must_be("timeout", 1);
    assert_eq!(case.ok(&["get", "url"])["url"], case.site().url("/files"));
}

#[test]
fn a_download_gets_the_name_and_the_folder_that_were_asked_for() {
    let case = files("download-names");
    let work = case.cli.home().work().join("names");
    fs_err::create_dir_all(work.join("there")).unwrap();
    let here = case.cli.directory(&work);
    let wait = |path: &[&str]| common::ok(&here, &[&["wait", "--download"], path].concat())["path"].clone();
    for (link, path, want) in [
        ("#small", &["there"][..], "there/small.txt"),
        ("#small", &["new/folder/"], "new/folder/small.txt"),
        ("#small", &["new/file"], "new/file"),
        ("#small", &[], "small.txt"),
        ("#named", &[], "mine.html"),
    ] {
        case.ok(&["click", link]);
        assert_eq!(wait(path), json!(work.join(want)));
        assert!(work.join(want).is_file(), "{want}");
    }
    // Over what is there, as copying does.
    case.ok(&["click", "#other"]);
    assert_eq!(text_of(&wait(&["new/file"])), "other\n");
    case.ok(&["click", "#small"]);
    common::fails(&here, &["wait", "--download", "/proc/x/y"]).must_be("unwritable-path", 3);
    // What could not be written is not lost.
    assert_eq!(text_of(&wait(&["second-try.txt"])), "small\n");
}

#[test]
fn a_server_cannot_choose_the_folder() {
    let case = files("escape");
    let work = case.cli.home().work().join("cage/inner");
    fs_err::create_dir_all(&work).unwrap();
    let here = case.cli.directory(&work);
    for link in ["#evil", "#absolute", "#dots"] {
        case.ok(&["click", link]);
        let kept = common::ok(&here, &["wait", "--download"]);
        let path = Path::new(kept["path"].as_str().unwrap());
        assert_eq!(path.parent(), Some(work.as_path()), "{kept}");
        assert!(path.is_file(), "{kept}");
        case.ok(&["click", link]);
        let kept = common::ok(&here, &["wait", "--download", "sub/"]);
        assert_eq!(
            Path::new(kept["path"].as_str().unwrap()).parent(),
            Some(work.join("sub").as_path()),
            "{kept}"
        );
    }
    assert!(!work.parent().unwrap().join("evil.txt").exists());
    assert!(!Path::new("/tmp/absolute-evil.txt").exists());
}

#[test]
fn a_download_that_breaks_off_is_no_success() {
    let case = files("broken");
    case.ok(&["click", "#broken"]);
    let failure = case.fails(&["wait", "--download", "broken.bin"]);
    failure.must_be("download-failed", 1).must_say(&case.site().url("/broken"));
    assert!(!case.cli.home().work().join("broken.bin").exists());
    case.ok(&["click", "#small"]);
    assert_eq!(
        text_of(&case.ok(&["wait", "--download", "broken.bin"])["path"]),
        "small\n",
        "the next one is another"
    );
}

#[test]
fn a_download_of_a_frame_is_waited_for() {
    let case = SHARED.case("download-frames");
    case.ok(&["open", &case.site().url("/around")]);
    case.ok(&["click", "#inside"]);
    assert_eq!(text_of(&case.ok(&["wait", "--download", "inside.txt"])["path"]), "small\n");
}
