//! Behaviours that need more than a row.

use serde_json::json;
use surehand_testkit::wait_until;

use crate::SHARED;
use crate::common::{SOON, fails, ok};

#[test]
fn states_are_told() {
    let case = SHARED.case("states");
    case.show(
        "<input id=a checked type=checkbox><input id=b disabled><p id=c hidden>x</p><input id=d readonly>",
    );
    for (state, selector, yes) in [
        ("visible", "#a", true),
        ("visible", "#c", false),
        ("visible", "#none", false),
        ("enabled", "#b", false),
        ("checked", "#a", true),
        ("editable", "#d", false),
        ("focused", "#a", false),
    ] {
        assert_eq!(case.ok(&["is", state, selector]), json!({ state: yes }), "{state} {selector}");
    }
}

#[test]
fn a_download_is_on_disk_and_complete() {
    let case = SHARED.case("download");
    case.show("<a id=a href=/report>Report</a><a id=b href='#x'>None</a>");
    let folder = tempfile::tempdir().unwrap();
    let target = folder.path().join("deep/kept.txt");
    let done = case.ok(&["download", "#a", target.to_str().unwrap()]);
    assert_eq!(done["bytes"], 8);
    assert_eq!(fs_err::read_to_string(&target).unwrap(), "payload\n");
    case.ok(&["download", "#a", folder.path().to_str().unwrap()]);
    assert!(folder.path().join("report.txt").is_file(), "the server's name in a folder");
    case.fails(&["download", "#b", "x.txt", "--timeout", "500"]).must_be("timeout", 1);
}

#[test]
fn pictures_without_a_path_get_names_of_their_own() {
    let case = SHARED.case("pictures");
    case.show("<h1>Picture</h1>");
    // Others work where this would be otherwise.
    let folder = tempfile::tempdir().unwrap();
    let here = case.cli.directory(folder.path());
    let taken: Vec<String> = std::thread::scope(|scope| {
        let shots: Vec<_> = (0..4).map(|_| scope.spawn(|| ok(&here, &["screenshot"]))).collect();
        let path = |shot: std::thread::ScopedJoinHandle<'_, serde_json::Value>| {
            shot.join().unwrap()["path"].as_str().unwrap().to_owned()
        };
        shots.into_iter().map(path).collect()
    });
    for (index, path) in taken.iter().enumerate() {
        assert!(!taken[..index].contains(path), "{path} was taken twice");
        assert!(fs_err::metadata(path).unwrap().len() > 100, "{path}");
    }
    let count = || fs_err::read_dir(folder.path()).unwrap().count();
    assert_eq!(count(), taken.len());
    fails(&here, &["screenshot", "#none", "--timeout", "300"]).must_be("not-found", 1);
    assert_eq!(count(), taken.len(), "a picture that failed leaves no file");
}

#[test]
fn a_page_is_printed() {
    let case = SHARED.case("pdf");
    case.show("<h1>Paper</h1>");
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("page.pdf");
    case.ok(&["pdf", path.to_str().unwrap()]);
    assert!(fs_err::read(path).unwrap().starts_with(b"%PDF-"));
}

#[test]
fn a_tab_that_a_page_opens_is_told() {
    let case = SHARED.case("popup");
    case.show("<a id=a target=_blank href=/counter>New</a><button id=b onclick=\"window.open('/counter')\">Pop</button><a id=c href=/counter>Here</a>");
    assert_eq!(case.ok(&["click", "#a"])["opened"], json!(["t2"]));
    assert_eq!(case.ok(&["click", "#b"])["opened"], json!(["t3"]));
    assert_eq!(case.ok(&["click", "#c", "--new-tab"])["opened"], json!(["t4"]));
    case.ok(&["tab", "t2"]);
    assert_eq!(case.ok(&["click", "#inc"]).get("opened"), None);
    assert_eq!(case.ok(&["get", "text", "#n"])["text"], "1");
}

#[test]
fn cookies_belong_to_the_session() {
    let (case, other) = (SHARED.case("cookies"), SHARED.case("other-cookies"));
    case.show("<p>x</p>");
    other.show("<p>x</p>");
    case.ok(&["cookies", "set", "theme", "dark"]);
    case.ok(&["cookies", "set", "hidden", "x", "--http-only", "--same-site", "Strict"]);
    assert_eq!(case.eval("document.cookie"), json!("theme=dark"));
    assert_eq!(case.ok(&["cookies"])["cookies"].as_array().unwrap().len(), 2);
    assert_eq!(other.ok(&["cookies", "get"])["cookies"], json!([]));
    case.fails(&["cookies", "set", "bad", "x", "--expires", "1"]).must_be("bad-value", 1);
    assert_eq!(case.ok(&["cookies", "clear"]), json!({ "cleared": true }));
    assert_eq!(case.eval("document.cookie"), json!(""));
}

/// A click waits a moment for the first words of the page that it leads to. One that takes longer for them, because the
/// machine is busy, is led to again.
#[test]
fn what_the_page_says_that_a_click_leads_to_is_told() {
    let case = SHARED.case("first-words");
    let says = json!([{ "type": "alert", "message": "one" }, { "type": "alert", "message": "two" }]);
    let url = case.show("<a id=a href=/says>A</a>");
    let is_told = || {
        case.ok(&["open", &url]);
        case.ok(&["click", "#a"])["accepted"] == says
    };
    assert!(wait_until(SOON, is_told));
    assert_eq!(case.eval("document.title"), "Says");
    let url = case.show("<a id=a href=/asks>A</a>");
    let asks = || {
        case.ok(&["open", &url]);
        let clicked = case.ok(&["click", "#a"]);
        // One that is open by now is in the way of what comes next.
        assert!(wait_until(SOON, || case.ok(&["dialog", "status"])["hasDialog"] == true));
        case.ok(&["dialog", "accept"]);
        clicked["navigated"] == case.site().url("/asks") && clicked["dialog"]["message"] == "c?"
    };
    assert!(wait_until(SOON, asks));
    assert_eq!(case.eval("answer"), true);
}
