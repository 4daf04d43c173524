//! The keyboard and the bare mouse: what the page hears of keys, chords, buttons and the wheel.

use serde_json::json;

use crate::table::{Row, check};

/// Notes `key`, `code` and `keyCode` of every key.
macro_rules! keys {
    ($rest:literal) => {
        concat!("<script>onkeydown=e=>{note([e.key,e.code,e.keyCode])}</script>", $rest)
    };
}

pub const ROWS: &[Row] = &[
    (
        "Shift that is held makes capitals",
        "<input id=a autofocus onkeydown='note([event.key,event.shiftKey])'>",
        &["focus #a", "keydown Shift", "press b", "press 2", "keyup Shift", "press b"],
        "[a.value, seen]",
        || json!(["B@b", [["Shift", true], ["B", true], ["@", true], ["b", false]]]),
    ),
    (
        "Shift that is held counts for typed text",
        "<input id=a onkeydown='note([event.key,event.shiftKey])'>",
        &["focus #a", "keydown Shift", "keyboard type aB1", "keyup Shift", "keyboard type c"],
        "[a.value, seen]",
        || json!(["AB!c", [["Shift", true], ["A", true], ["B", true], ["!", true], ["c", false]]]),
    ),
    ("a letter", keys!(""), &["press a", "press A"], "seen", || {
        json!([["a", "KeyA", 65], ["A", "KeyA", 65]])
    }),
    (
        "a digit and what shift makes of it",
        keys!(""),
        &["press 7", "press Shift+7"],
        "[seen[0], seen[2]]",
        || json!([["7", "Digit7", 55], ["&", "Digit7", 55]]),
    ),
    ("punctuation", keys!(""), &["press ;", "press ?"], "seen", || {
        json!([[";", "Semicolon", 186], ["?", "Slash", 191]])
    }),
    ("function keys", keys!(""), &["press F2", "press F12"], "seen", || {
        json!([["F2", "F2", 113], ["F12", "F12", 123]])
    }),
    (
        "arrows move the caret",
        "<input id=a value=abcd>",
        &["focus #a", "press End", "press ArrowLeft", "press ArrowLeft", "press Backspace"],
        "a.value",
        || json!("acd"),
    ),
    ("the space bar", keys!("<input id=a>"), &["focus #a", "press Space"], "[a.value, seen]", || {
        json!([" ", [[" ", "Space", 32]]])
    }),
    ("shift and a letter", "<input id=a>", &["focus #a", "press Shift+a"], "a.value", || json!("A")),
    (
        "control and a selects all",
        "<input id=a value=old>",
        &["focus #a", "press End", "press Control+a", "press x"],
        "a.value",
        || json!("x"),
    ),
    (
        "control and a letter makes no text",
        "<input id=a onkeydown='note([event.key,event.ctrlKey])'>",
        &["focus #a", "press Control+k"],
        "[a.value, seen]",
        || json!(["", [["Control", true], ["k", true]]]),
    ),
    (
        "alt is told",
        "<script>onkeydown=e=>note([e.code,e.altKey])</script>",
        &["press Alt+x"],
        "seen",
        || json!([["AltLeft", true], ["KeyX", true]]),
    ),
    (
        "three keys at once",
        "<script>onkeydown=e=>e.key==='S'&&note([e.ctrlKey,e.shiftKey]);onkeyup=e=>note(e.key)</script>",
        &["press Control+Shift+s"],
        "seen",
        || json!([[true, true], "S", "Shift", "Control"]),
    ),
    (
        "cut and paste",
        "<input id=a value=abc><input id=b>",
        &["focus #a", "press Control+a", "press Control+x", "focus #b", "press Control+v"],
        "[a.value, b.value]",
        || json!(["", "abc"]),
    ),
    (
        "undo",
        "<input id=a>",
        &["focus #a", "keyboard type abc", "press Control+z"],
        "a.value.length < 3",
        || json!(true),
    ),
    (
        "the tab key moves the focus",
        "<input id=a><input id=b><input id=c tabindex=-1><button id=d>D</button>",
        &["focus #a", "press Tab", "press Tab"],
        "document.activeElement.id",
        || json!("d"),
    ),
    (
        "shift and tab move it back",
        "<input id=a><input id=b>",
        &["focus #b", "press Shift+Tab"],
        "document.activeElement.id",
        || json!("a"),
    ),
    (
        "enter submits a form",
        "<form onsubmit='note(1);return false'><input id=a></form>",
        &["focus #a", "press Enter"],
        "seen",
        || json!([1]),
    ),
    (
        "enter clicks a button",
        "<button id=a onclick='note(event.detail)'>A</button>",
        &["focus #a", "press Enter"],
        "seen",
        || json!([0]),
    ),
    ("space checks a box", "<input type=checkbox id=a>", &["focus #a", "press Space"], "a.checked", || {
        json!(true)
    }),
    (
        "escape closes a dialog",
        "<dialog id=d onclose=note('closed')>Hi</dialog><script>d.showModal()</script>",
        &["press Escape", "wait --fn seen.length"],
        "[d.open, seen]",
        || json!([false, ["closed"]]),
    ),
    (
        "arrows choose a radio",
        "<input type=radio name=r id=a checked><input type=radio name=r id=b>",
        &["focus #a", "press ArrowRight"],
        "b.checked",
        || json!(true),
    ),
    (
        "arrows choose an option",
        "<select id=a onchange=note(value)><option>p<option>q</select>",
        &["focus #a", "press ArrowDown"],
        "a.value",
        || json!("q"),
    ),
    (
        "a key held down repeats nothing by itself",
        keys!("<script>onkeyup=e=>note('up')</script>"),
        &["keydown b", "keyup b"],
        "seen",
        || json!([["b", "KeyB", 66], "up"]),
    ),
    (
        "a page scrolls with its key",
        "<div style='height:5000px'></div>",
        &["press End", "wait --fn scrollY>1000"],
        "scrollY > 1000",
        || json!(true),
    ),
    (
        "a key that the page refuses types nothing",
        "<input id=a onkeydown='note(event.key);return false'>",
        &["focus #a", "press x"],
        "[a.value, seen]",
        || json!(["", ["x"]]),
    ),
    (
        "an unknown key",
        "<script>onkeydown=()=>note(1)</script>",
        &["!unknown-key(Enter) press Entr"],
        "seen",
        || json!([]),
    ),
    (
        "an unknown modifier",
        "<script>onkeydown=()=>note(1)</script>",
        &["!unknown-key press Hyper+a"],
        "seen",
        || json!([]),
    ),
    ("plus is a key too", "<input id=a>", &["focus #a", "press +", "press Shift++"], "a.value", || {
        json!("++")
    }),
    (
        "names in any case and short ones",
        keys!(""),
        &["press esc", "press PgDn"],
        "seen.map(k=>k[0])",
        || json!(["Escape", "PageDown"]),
    ),
    (
        "keys of the number pad",
        "<script>onkeydown=e=>note([e.key,e.code,e.location])</script>",
        &["press Numpad5"],
        "seen",
        || json!([["5", "Numpad5", 3]]),
    ),
    (
        "the right shift key",
        "<script>onkeydown=e=>note([e.code,e.location])</script>",
        &["press ShiftRight"],
        "seen",
        || json!([["ShiftRight", 2]]),
    ),
    (
        "typing without focus goes to nobody",
        "<input id=a><script>onkeydown=e=>note(e.target.localName)</script>",
        &["keyboard type x"],
        "[a.value, seen]",
        || json!(["", ["body"]]),
    ),
    (
        "a capital is typed with shift",
        "<input id=a onkeydown='note([event.key,event.shiftKey])'>",
        &["type #a aB"],
        "seen",
        || json!([["a", false], ["B", true]]),
    ),
    (
        "typing tells keydown, input and keyup in their order",
        "<input id=a><script>for(const t of ['keydown','keypress','beforeinput','input','keyup'])a.addEventListener(t,()=>note(t))</script>",
        &["type #a x"],
        "seen",
        || json!(["keydown", "keypress", "beforeinput", "input", "keyup"]),
    ),
    (
        "the mouse tells where it went",
        "<script>onmousemove=e=>note([e.clientX,e.clientY,e.buttons])</script>",
        &["mouse move 10 20", "mouse move 30 40"],
        "seen",
        || json!([[10, 20, 0], [30, 40, 0]]),
    ),
    (
        "the right button of the bare mouse",
        "<script>onmousedown=e=>note([e.button,e.buttons]);onmouseup=e=>note([e.button,e.buttons]);oncontextmenu=()=>false</script>",
        &["mouse move 10 20", "mouse down right", "mouse up right"],
        "seen",
        || json!([[2, 2], [2, 0]]),
    ),
    (
        "a press held and moved draws",
        "<script>onmousemove=e=>e.buttons&&note([e.clientX,e.clientY])</script>",
        &["mouse move 5 5", "mouse down", "mouse move 50 60", "mouse up", "mouse move 9 9"],
        "seen",
        || json!([[50, 60]]),
    ),
    (
        "the wheel scrolls what is under the pointer",
        "<div id=a style='height:100px;overflow:auto'><p style='height:900px'></div><div style='height:3000px'></div>",
        &["hover #a", "mouse wheel 120", "wait --fn a.scrollTop>0"],
        "[a.scrollTop > 0, scrollY]",
        || json!([true, 0]),
    ),
    (
        "the wheel turns sideways",
        "<script>onwheel=e=>note([e.deltaX,e.deltaY])</script>",
        &["mouse move 10 10", "mouse wheel 0 40", "wait --fn seen.length"],
        "seen",
        || json!([[40, 0]]),
    ),
    (
        "a wheel that the page takes for itself",
        "<div style='height:3000px'></div><script>addEventListener('wheel',e=>{e.preventDefault();note(e.deltaY)},{passive:false})</script>",
        &["mouse move 10 10", "mouse wheel 80", "wait --fn seen.length"],
        "[seen, scrollY]",
        || json!([[80], 0]),
    ),
    (
        "a tooltip comes with the pointer",
        "<button id=a>A</button><div id=t hidden>Tip</div><script>a.onmouseenter=()=>t.hidden=false;a.onmouseleave=()=>t.hidden=true</script>",
        &["hover #a", "wait #t", "mouse move 500 400", "wait #t --state hidden"],
        "t.hidden",
        || json!(true),
    ),
    (
        "a menu of two levels stays open on the way",
        "<style>li ul{display:none}li:hover>ul{display:block}ul{margin:0;padding:4px}</style><ul><li id=a>File<ul><li id=b>Export<ul><li id=c onclick=note(1)>PDF</ul></ul></ul>",
        &["hover #a", "hover #b", "click #c"],
        "seen",
        || json!([1]),
    ),
    (
        "a disabled button can be hovered",
        "<button id=a disabled style='padding:9px'>A</button><script>a.addEventListener('pointerover',()=>note(1))</script>",
        &["hover #a"],
        "seen",
        || json!([1]),
    ),
    (
        "a double click is two clicks and one double",
        "<b id=a>word</b><script>for(const t of ['click','dblclick'])a.addEventListener(t,e=>note([t,e.detail]))</script>",
        &["dblclick #a"],
        "seen",
        || json!([["click", 1], ["click", 2], ["dblclick", 2]]),
    ),
    (
        "a double click selects a word",
        "<p id=a>word</p>",
        &["dblclick #a"],
        "getSelection().toString().trim()",
        || json!("word"),
    ),
    (
        "a click tells the whole run of events",
        "<button id=a>A</button><script>for(const t of ['pointerover','pointerdown','mousedown','focus','pointerup','mouseup','click'])a.addEventListener(t,e=>e.isTrusted&&note(t))</script>",
        &["click #a"],
        "seen",
        || json!(["pointerover", "pointerdown", "mousedown", "focus", "pointerup", "mouseup", "click"]),
    ),
    (
        "a click is from a mouse",
        "<b id=a>x</b><script>a.onpointerdown=e=>note([e.pointerType,e.isPrimary,e.pressure,e.detail]);a.onclick=e=>note([e.detail,e.screenX>0])</script>",
        &["click #a"],
        "seen",
        || json!([["mouse", true, 0.5, 0], [1, true]]),
    ),
    (
        "a chord without a key is unknown",
        "<input id=a autofocus>",
        &["!unknown-key press Control+", "press +"],
        "a.value",
        || json!("+"),
    ),
];

#[test]
fn keys() {
    check("keys", ROWS);
}
