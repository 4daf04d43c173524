//! One row for each verb and each of its plain options.

use serde_json::json;

use crate::table::{Row, check};

pub const ROWS: &[Row] = &[
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
        &["!covered hover #a --timeout 600"],
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
        &["?not-changed(<input id=\"a\" type=\"checkbox\"> is not checked) check #a --timeout 900"],
        "a.checked",
        || json!(false),
    ),
    ("check what is none", "<p id=a>x</p>", &["!wrong-element check #a"], "seen", || json!([])),
    (
        "check what is disabled",
        "<input type=checkbox id=a disabled>",
        &["!disabled check #a --timeout 600"],
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
        &["!no-option select #a z --timeout 600"],
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
        &["!too-many-files upload #a {files}/a.txt {files}/b.txt"],
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
        &["frame #f", "click #inc", "wait text=1 --timeout 15000", "frame main"],
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
    ("wait in vain", "<p>x</p>", &["!timeout wait --fn window.never --timeout 600"], "seen", || json!([])),
    ("viewport", "<p>x</p>", &["set viewport 500 400"], "[innerWidth, innerHeight]", || json!([500, 400])),
];

#[test]
fn basics() {
    check("basics", ROWS);
}
