//! What a page says and asks while it loads, tabs that links open, and addresses that cannot be opened.

use serde_json::json;

use crate::table::{Row, check};

pub const ROWS: &[Row] = &[
    (
        "a question while a page is opened",
        "<p>x</p>",
        &[
            "open {origin}/asks => {\"url\":\"{origin}/asks\",\"dialog\":{\"type\":\"confirm\",\"message\":\"c?\"}}",
            "?dialog-open(c?) get title",
            "dialog accept",
        ],
        "answer",
        || json!(true),
    ),
    (
        "a question while a page is loaded again",
        "<script>if(sessionStorage.n){var answer=prompt('again?')}sessionStorage.n=1</script>",
        &[
            "reload => {\"dialog\":{\"type\":\"prompt\",\"message\":\"again?\"}}",
            "dialog accept yes",
            "eval 'delete sessionStorage.n'",
        ],
        "answer",
        || json!("yes"),
    ),
    (
        "a question while a new tab is opened",
        "<p>x</p>",
        &["tab new {origin}/asks => {\"dialog\":{\"message\":\"c?\"}}", "dialog dismiss"],
        "answer",
        || json!(false),
    ),
    (
        "a question on the way back",
        "<script>onpageshow=e=>{if(performance.getEntriesByType('navigation')[0].type!='navigate'||e.persisted)var a=confirm('back?')}</script>",
        &["open {origin}/next", "back => {\"dialog\":{\"message\":\"back?\"}}", "dialog accept"],
        "document.title",
        || json!("T"),
    ),
    (
        "a wait for a page that asks",
        "<a id=a href=/asks-late>A</a>",
        &["click #a", "?dialog-open(late?) wait --load load", "dialog accept"],
        "answer",
        || json!(true),
    ),
    (
        "what a page says while it is opened",
        "<a id=a href=/says>A</a>",
        &[
            "open {origin}/says => {\"accepted\":[{\"type\":\"alert\",\"message\":\"one\"},{\"type\":\"alert\",\"message\":\"two\"}]}",
            "reload => {\"accepted\":[{\"type\":\"alert\",\"message\":\"one\"},{\"type\":\"alert\",\"message\":\"two\"}]}",
        ],
        "document.title",
        || json!("Says"),
    ),
    (
        "a link in a tab of its own is known with its request",
        "<a id=a href=/popup>A</a>",
        &[
            "click #a --new-tab => {\"opened\":[\"t2\"]}",
            "tab t2 => {\"url\":\"{origin}/popup\"}",
            "get url => {\"url\":\"{origin}/popup\"}",
            "wait --url popup",
            "wait --request popup",
            "wait --load load",
        ],
        "document.title",
        || json!("Popup"),
    ),
    (
        "a link in windows of its own",
        "<a id=a href=/popup>A</a>",
        &[
            "click #a --modifiers shift",
            "click #a --button middle",
            "click #a --modifiers shift",
            "tab t2 => {\"url\":\"{origin}/popup\"}",
            "tab t3 => {\"url\":\"{origin}/popup\"}",
            "tab t4 => {\"url\":\"{origin}/popup\"}",
        ],
        "location.pathname",
        || json!("/popup"),
    ),
    (
        "a click that should open a tab and does not",
        "<button id=a onclick=note(1)>A</button><a id=b href=#x onclick='note(2);event.preventDefault()'>B</a>",
        &[
            "?not-changed(no tab opened) click #a --new-tab --timeout 700",
            "?not-changed click #b --new-tab --timeout 700",
            "click #a --new-tab --trial",
        ],
        "seen",
        || json!([1, 2]),
    ),
    (
        "a link to where nobody is",
        "<a id=a href=http://127.0.0.1:1/x>A</a>",
        &[
            "click #a => {\"failedLoad\":{\"url\":\"http://127.0.0.1:1/x\",\"error\":\"net::ERR_UNSAFE_PORT\"}}",
            "?navigation-failed(http://127.0.0.1:1/x) reload",
        ],
        "location.protocol",
        || json!("chrome-error:"),
    ),
    (
        "a box that asks before it changes is not called checked",
        "<input type=checkbox id=a onclick='return confirm(1)'>",
        &[
            "check #a => {\"clicked\":\"#a\",\"verified\":false,\"dialog\":{\"message\":\"1\"}}",
            "dialog dismiss",
        ],
        "a.checked",
        || json!(false),
    ),
    (
        "a switch that takes its time",
        "<div id=a role=switch aria-checked=false onclick=\"setTimeout(()=>ariaChecked='true',900)\">A</div>",
        &["check #a => {\"checked\":\"#a\",\"role\":\"switch\"}"],
        "a.ariaChecked",
        || json!("true"),
    ),
    (
        "a label of a box that is so already",
        "<label id=l><input type=checkbox checked onclick=note(1)>L</label>",
        &["check #l => {\"role\":\"checkbox\",\"name\":\"L\"}"],
        "seen",
        || json!([]),
    ),
    (
        "a function is waited for by what it gives",
        "<script>setTimeout(()=>document.title='now',300)</script>",
        &[
            "!timeout(it is false) wait --fn '()=>document.title === \"never\"' --timeout 400",
            "!timeout wait --fn 'async ()=>false' --timeout 400",
            "!timeout wait --fn 'function () { return 0 }' --timeout 400",
            "wait --fn '()=>document.title === \"now\"' => {\"result\":true}",
            "wait --fn 'async function () { return 5 }' => {\"result\":5}",
        ],
        "document.title",
        || json!("now"),
    ),
    (
        "waits that mean nothing",
        "<p>x</p>",
        &["!usage wait --text ''", "!usage wait 50 --state hidden"],
        "acts",
        || json!(0),
    ),
    (
        "a wait in vain for a page that is all in a frame",
        "<iframe srcdoc='<p>inside</p>'></iframe>",
        &[
            "!timeout(the page shows: inside) wait #never --timeout 500",
            "!timeout(the page shows: inside) wait --text never --timeout 500",
        ],
        "acts",
        || json!(0),
    ),
    (
        "one of several that is not there",
        "<ul><li class=li>1<li class=li>2<li class=li>3</ul>",
        &["!not-found(there are only 3) find nth 9 .li click --timeout 3000"],
        "acts",
        || json!(0),
    ),
    (
        "matches in several frames are told apart",
        "<iframe src=/counter></iframe><iframe src={{cross}}/counter></iframe>",
        &["!ambiguous(in the frame {cross}/counter) click #inc"],
        "acts",
        || json!(0),
    ),
    (
        "documents in objects and embeds are in the snapshot",
        "<object type=text/html data=/counter width=300 height=100></object><embed src=/popup width=300 height=100>",
        &[
            "wait h1",
            "wait #inc",
            "snapshot",
            "click @{\"Count up\"}",
            "get text @{\"Popup\"} => {\"text\":\"Popup\"}",
        ],
        "document.querySelector('object').contentDocument.getElementById('n').value",
        || json!("1"),
    ),
    (
        "an embedded picture is no frame",
        "<embed src='data:image/gif;base64,R0lGODlhAQABAAAAACH5BAEKAAEALAAAAAABAAEAAAICTAEAOw==' width=50 height=50><p>x</p>",
        &["snapshot => {\"snapshot\":\"- paragraph\\n  - text \\\"x\\\"\\n\"}"],
        "acts",
        || json!(0),
    ),
    (
        "a popup that closes at once is not told",
        "<button id=a onclick=\"const w=window.open('about:blank');w.close()\">A</button>",
        &["click #a", "tab list"],
        "acts > 0",
        || json!(true),
    ),
];

#[test]
fn arriving() {
    check("arriving", ROWS);
}
