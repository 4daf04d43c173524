//! The table of behaviours: a page, what is done, and what the page itself saw.
//!
//! Each row serves its page, runs its command lines and compares an expression of the page with what is expected. A line
//! that starts with `!code ` must fail with that code. `{files}` is a folder with `a.txt` and `b.txt`.
#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use common::{Case, Shared};
use serde_json::{Value, json};
use surehand_testkit::Response;

static SHARED: Shared = Shared::new(|site| {
    site.attachment("/report", "report.txt", "payload\n")
        .page(
            "/counter",
            "<title>C</title><button id=inc onclick='n.value++'>Count up</button><output id=n>0</output>",
        )
        .route("/late", |_| Response::html("<title>Late</title>").delay(std::time::Duration::from_millis(50)))
});

/// Every page has a list `seen` and a way to note things in it.
const HEAD: &str = "<title>T</title><script>var seen=[];function note(x){seen.push(x)}</script>";

type Row = (&'static str, &'static str, &'static [&'static str], &'static str, fn() -> Value);

const ROWS: &[Row] = &[
    (
        "right click",
        "<b id=a>x</b><script>a.oncontextmenu=e=>{note(e.button);e.preventDefault()}</script>",
        &["click #a --button right"],
        "seen",
        || json!([2]),
    ),
    (
        "middle click",
        "<b id=a>x</b><script>a.onauxclick=e=>note(e.button)</script>",
        &["click #a --button middle"],
        "seen",
        || json!([1]),
    ),
    (
        "click with keys held",
        "<b id=a>x</b><script>a.onclick=e=>note([e.shiftKey,e.altKey,e.ctrlKey])</script>",
        &["click #a --modifiers shift,alt"],
        "seen",
        || json!([[true, true, false]]),
    ),
    (
        "click at a position",
        "<div id=a style='position:absolute;left:10px;top:20px;width:100px;height:50px;background:#ddd'></div><script>a.onclick=e=>note([e.offsetX,e.offsetY])</script>",
        &["click #a --position 7,9"],
        "seen",
        || json!([[7, 9]]),
    ),
    ("click on trial", "<b id=a onclick=note(1)>x</b>", &["click #a --trial"], "seen", || json!([])),
    (
        "click by force",
        "<b id=a style='display:block;height:20px'>x</b><div style='position:fixed;inset:0' onclick=note('cover')></div>",
        &["click #a --force"],
        "seen",
        || json!(["cover"]),
    ),
    (
        "click at no position",
        "<b id=a onclick=note(1)>x</b>",
        &["!bad-number click #a --position here"],
        "seen",
        || json!([]),
    ),
    (
        "double click",
        "<b id=a>word</b><script>a.ondblclick=()=>note('dbl')</script>",
        &["dblclick #a"],
        "seen",
        || json!(["dbl"]),
    ),
    (
        "hover",
        "<style>#m ul{display:none}#m:hover ul{display:block}</style><div id=m>File<ul><li id=o onclick=note(1)>Open</ul></div>",
        &["hover #m", "click #o"],
        "seen",
        || json!([1]),
    ),
    (
        "hover under a cover",
        "<b id=a>x</b><div style='position:fixed;inset:0'></div>",
        &["!covered hover #a --timeout 500"],
        "seen",
        || json!([]),
    ),
    ("focus", "<input id=a><input id=b>", &["focus #b"], "document.activeElement.id", || json!("b")),
    (
        "focus nothing",
        "<p id=a>x</p>",
        &["!wrong-element focus #a"],
        "document.activeElement.tagName",
        || json!("BODY"),
    ),
    ("clear", "<input id=a value=full oninput=note(value)>", &["clear #a"], "[a.value, seen]", || {
        json!(["", [""]])
    }),
    ("check", "<input type=checkbox id=a onchange=note(checked)>", &["check #a", "check #a"], "seen", || {
        json!([true])
    }),
    ("uncheck", "<input type=checkbox id=a checked onchange=note(checked)>", &["uncheck #a"], "seen", || {
        json!([false])
    }),
    (
        "check a radio",
        "<input type=radio name=r id=a><input type=radio name=r id=b checked>",
        &["check #a"],
        "b.checked",
        || json!(false),
    ),
    (
        "check a switch",
        "<div id=a role=switch tabindex=0 aria-checked=false onclick=\"setAttribute('aria-checked','true')\">W</div>",
        &["check #a"],
        "a.getAttribute('aria-checked')",
        || json!("true"),
    ),
    (
        "check through a label",
        "<label id=l>Terms <input type=checkbox id=a></label>",
        &["check #l"],
        "a.checked",
        || json!(true),
    ),
    (
        "check what refuses",
        "<input type=checkbox id=a onclick='return false'>",
        &["!value-differs check #a"],
        "a.checked",
        || json!(false),
    ),
    ("check what is none", "<p id=a>x</p>", &["!wrong-element check #a"], "seen", || json!([])),
    (
        "check what is disabled",
        "<input type=checkbox id=a disabled>",
        &["!disabled check #a --timeout 500"],
        "a.checked",
        || json!(false),
    ),
    (
        "select by value",
        "<select id=a onchange=note(value)><option value=x>Ex<option value=y>Why</select>",
        &["select #a y"],
        "seen",
        || json!(["y"]),
    ),
    (
        "select by label",
        "<select id=a onchange=note(value)><option value=x>Ex<option value=y>Why</select>",
        &["select #a Why"],
        "seen",
        || json!(["y"]),
    ),
    (
        "select several",
        "<select id=a multiple><option>p<option>q<option>r</select>",
        &["select #a p r"],
        "[...a.selectedOptions].map(o=>o.value)",
        || json!(["p", "r"]),
    ),
    (
        "select what is not there",
        "<select id=a><option>p</select>",
        &["!no-option select #a z --timeout 300"],
        "a.value",
        || json!("p"),
    ),
    (
        "select two of a single list",
        "<select id=a><option>p<option>q</select>",
        &["!wrong-element select #a p q"],
        "a.value",
        || json!("p"),
    ),
    (
        "select what comes later",
        "<select id=a></select><script>setTimeout(()=>a.innerHTML='<option>z',100)</script>",
        &["select #a z"],
        "a.value",
        || json!("z"),
    ),
    (
        "held modifiers",
        "<script>addEventListener('keydown',e=>note(e.key+e.shiftKey))</script>",
        &["keydown Shift", "press ArrowUp", "keyup Shift", "press ArrowUp"],
        "seen",
        || json!(["Shifttrue", "ArrowUptrue", "ArrowUpfalse"]),
    ),
    ("keyboard type", "<input id=a autofocus>", &["focus #a", "keyboard type aB!"], "a.value", || {
        json!("aB!")
    }),
    (
        "keyboard inserttext",
        "<input id=a oninput=note(event.inputType)>",
        &["focus #a", "keyboard inserttext 東京"],
        "[a.value, seen.length]",
        || json!(["東京", 1]),
    ),
    (
        "html5 drag",
        "<div id=a draggable=true ondragstart=\"event.dataTransfer.setData('text/plain','cargo')\">A</div><div id=b style='height:60px;background:#ddd' ondragover='event.preventDefault()' ondrop=\"note(event.dataTransfer.getData('text/plain'))\">B</div>",
        &["drag #a #b"],
        "seen",
        || json!(["cargo"]),
    ),
    (
        "pointer drag",
        "<div id=a style='position:absolute;left:0;top:0;width:40px;height:40px;background:red'></div><div id=b style='position:absolute;left:300px;top:200px;width:40px;height:40px'></div><script>let on;a.onmousedown=()=>on=1;onmousemove=e=>on&&note(1);onmouseup=e=>note([e.clientX,e.clientY])</script>",
        &["drag #a #b"],
        "seen.at(-1)",
        || json!([320, 220]),
    ),
    ("upload", "<input type=file id=a>", &["upload #a {files}/a.txt"], "a.files[0].name", || json!("a.txt")),
    (
        "upload two to one",
        "<input type=file id=a>",
        &["!wrong-element upload #a {files}/a.txt {files}/b.txt"],
        "a.files.length",
        || json!(0),
    ),
    (
        "upload what is not there",
        "<input type=file id=a>",
        &["!missing-file upload #a {files}/none"],
        "a.files.length",
        || json!(0),
    ),
    (
        "upload through a chooser",
        "<input type=file id=a hidden onchange=note(files[0].name)><button onclick=a.click()>Pick</button>",
        &["upload button {files}/b.txt"],
        "seen",
        || json!(["b.txt"]),
    ),
    ("scroll", "<div style='height:5000px'></div>", &["scroll down 400"], "scrollY", || json!(400)),
    (
        "scroll an element",
        "<div id=a style='height:50px;overflow:auto'><p style='height:900px'></div>",
        &["scroll down 70 -s #a"],
        "a.scrollTop",
        || json!(70),
    ),
    (
        "scroll into view",
        "<div style='height:3000px'></div><p id=a>x</p>",
        &["scrollintoview #a"],
        "a.getBoundingClientRect().top < innerHeight",
        || json!(true),
    ),
    (
        "mouse",
        "<script>onmousedown=e=>note([e.clientX,e.clientY]);onmouseup=()=>note('up')</script>",
        &["mouse move 30 40", "mouse down", "mouse up"],
        "seen",
        || json!([[30, 40], "up"]),
    ),
    (
        "find by role",
        "<button onclick=note(1)>Save</button><button onclick=note(2)>Drop</button>",
        &["find role button click --name Drop"],
        "seen",
        || json!([2]),
    ),
    ("find by label", "<label>Town <input id=a></label>", &["find label Town fill Oslo"], "a.value", || {
        json!("Oslo")
    }),
    (
        "find by placeholder",
        "<input id=a placeholder='Your name'>",
        &["find placeholder name fill Ada"],
        "a.value",
        || json!("Ada"),
    ),
    ("find by test id", "<b data-testid=x onclick=note(1)>x</b>", &["find testid x"], "seen", || json!([1])),
    (
        "find the last",
        "<i onclick=note(1)>a</i><i onclick=note(2)>b</i>",
        &["find last i click"],
        "seen",
        || json!([2]),
    ),
    (
        "find several",
        "<button>Go</button><button>Go on</button>",
        &["!ambiguous find text Go click"],
        "seen",
        || json!([]),
    ),
    (
        "frame",
        "<iframe id=f src=/counter></iframe>",
        &["frame #f", "click #inc", "frame main"],
        "f.contentDocument.querySelector('#n').value",
        || json!("1"),
    ),
    (
        "frame of another site",
        "<iframe id=f src={{cross}}/counter></iframe>",
        &["frame #f", "click #inc", "wait text=1 --timeout 2000", "frame main"],
        "seen",
        || json!([]),
    ),
    ("frame that is none", "<p id=f>x</p>", &["!wrong-element frame #f"], "seen", || json!([])),
    (
        "wait for a condition",
        "<script>setTimeout(()=>window.ready=5,60)</script>",
        &["wait --fn window.ready===5"],
        "ready",
        || json!(5),
    ),
    ("wait in vain", "<p>x</p>", &["!timeout wait --fn window.never --timeout 300"], "seen", || json!([])),
    ("viewport", "<p>x</p>", &["set viewport 500 400"], "[innerWidth, innerHeight]", || json!([500, 400])),
];

#[test]
fn the_page_saw_what_was_done() {
    let case = SHARED.case("rows");
    let files = tempfile::tempdir().unwrap();
    for name in ["a.txt", "b.txt"] {
        fs_err::write(files.path().join(name), name).unwrap();
    }
    let failures: Vec<String> = ROWS
        .iter()
        .filter_map(|row| {
            run(&case, row, files.path().to_str().unwrap()).err().map(|why| format!("{}: {why}", row.0))
        })
        .collect();
    assert!(failures.is_empty(), "{} of {} rows fail:\n{}", failures.len(), ROWS.len(), failures.join("\n"));
}

fn run(case: &Case, row: &Row, files: &str) -> Result<(), String> {
    let (_, html, lines, expression, expected) = row;
    case.show(&format!("{HEAD}{html}"));
    for line in *lines {
        let (code, line) = match line.strip_prefix('!').and_then(|rest| rest.split_once(' ')) {
            Some((code, line)) => (code, line),
            None => ("", *line),
        };
        let words: Vec<String> = line.split(' ').map(|word| word.replace("{files}", files)).collect();
        let answer = case.cli.json(&words).map_err(|error| error.to_string())?;
        let got = answer.error_code();
        if got != code {
            return Err(format!("`{line}` gave {got:?} instead of {code:?}: {}", answer.value));
        }
    }
    let seen = case.eval(expression);
    if seen == expected() { Ok(()) } else { Err(format!("{expression} is {seen}, not {}", expected())) }
}

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
