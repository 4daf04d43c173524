//! Every type of input, with the verb that fits it, and with values that it does not take.

use serde_json::json;

use crate::table::{Row, check};

pub const ROWS: &[Row] = &[
    (
        "a list that chooses otherwise",
        "<select id=a onchange=\"this.value='1'\"><option value=1>One<option value=2>Two</select>",
        &["?value-differs select #a Two"],
        "a.value",
        || json!("1"),
    ),
    (
        "a field that passes the focus on keeps its secret",
        "<input id=u><input id=p type=password onfocus='setTimeout(()=>u.focus())'>",
        &[
            "!focus-moved(<input id=\"u\">) fill #p hunter2 --timeout 1500",
            "!focus-moved type #p hunter2 --timeout 1500",
        ],
        "[u.value, p.value]",
        || json!(["", ""]),
    ),
    (
        "what a field made of the keys is told",
        "<input id=a maxlength=3>",
        &["type #a hello => {\"value\":\"hel\"}"],
        "a.value",
        || json!("hel"),
    ),
    (
        "a text field",
        "<input id=a value=old oninput=note(event.inputType) onchange=note('change')>",
        &["fill #a new"],
        "[a.value, seen]",
        || json!(["new", ["insertText"]]),
    ),
    (
        "a change is told when the focus leaves",
        "<input id=a onchange=note(value)><input id=b>",
        &["fill #a new", "focus #b"],
        "seen",
        || json!(["new"]),
    ),
    (
        "a search field",
        "<input type=search id=a value=old oninput=note(value)>",
        &["fill #a 'two words'"],
        "seen",
        || json!(["two words"]),
    ),
    ("a telephone number", "<input type=tel id=a>", &["fill #a '+49 30 1'"], "a.value", || json!("+49 30 1")),
    ("an address", "<input type=url id=a>", &["fill #a 'https://a.example/?x=1&y'"], "a.value", || {
        json!("https://a.example/?x=1&y")
    }),
    (
        "an e-mail address",
        "<input type=email id=a>",
        &["fill #a ada@example.com"],
        "[a.value, a.validity.valid]",
        || json!(["ada@example.com", true]),
    ),
    (
        "a password is not told",
        "<input type=password id=a maxlength=3>",
        &["?value-differs(••••••) fill #a secret"],
        "a.value",
        || json!("sec"),
    ),
    ("a number", "<input type=number id=a oninput=note(valueAsNumber)>", &["fill #a -2.5"], "seen", || {
        json!([-2.5])
    }),
    (
        "a number in scientific form",
        "<input type=number id=a step=any>",
        &["fill #a 1e3"],
        "a.valueAsNumber",
        || json!(1000),
    ),
    (
        "a word is no number",
        "<input type=number id=a value=7>",
        &["!bad-value(is not a number) fill #a seven"],
        "a.value",
        || json!("7"),
    ),
    (
        "a range",
        "<input type=range id=a min=0 max=50 step=5 oninput=note(value) onchange=note('c')>",
        &["fill #a 35"],
        "seen",
        || json!(["35", "c"]),
    ),
    (
        "a range has its steps",
        "<input type=range id=a min=0 max=50 step=5 value=10>",
        &["!bad-value(from 0 to 50 in steps of 5) fill #a 33"],
        "a.value",
        || json!("10"),
    ),
    (
        "a range has its ends",
        "<input type=range id=a min=0 max=50 value=10>",
        &["!bad-value fill #a 51", "!bad-value fill #a much"],
        "a.value",
        || json!("10"),
    ),
    (
        "a date",
        "<input type=date id=a oninput=note(value) onchange=note('c')>",
        &["fill #a 2024-02-29"],
        "seen",
        || json!(["2024-02-29", "c"]),
    ),
    (
        "a date that does not exist",
        "<input type=date id=a value=2024-01-01>",
        &["!bad-value(YYYY-MM-DD) fill #a 2023-02-29"],
        "a.value",
        || json!("2024-01-01"),
    ),
    (
        "a date in another form",
        "<input type=date id=a>",
        &["!bad-value fill #a 29.02.2024"],
        "a.value",
        || json!(""),
    ),
    (
        "a date is cleared",
        "<input type=date id=a value=2024-01-01 oninput=note(value)>",
        &["clear #a"],
        "[a.value, seen]",
        || json!(["", [""]]),
    ),
    (
        "a date and a time",
        "<input type=datetime-local id=a>",
        &["fill #a 2024-05-06T07:08"],
        "a.value",
        || json!("2024-05-06T07:08"),
    ),
    ("a month", "<input type=month id=a oninput=note(value)>", &["fill #a 2024-05"], "seen", || {
        json!(["2024-05"])
    }),
    (
        "a month that does not exist",
        "<input type=month id=a>",
        &["!bad-value(YYYY-MM) fill #a 2024-13"],
        "a.value",
        || json!(""),
    ),
    ("a week", "<input type=week id=a>", &["fill #a 2024-W09"], "a.value", || json!("2024-W09")),
    ("a time", "<input type=time id=a oninput=note(value)>", &["fill #a 23:59"], "seen", || json!(["23:59"])),
    (
        "a time that does not exist",
        "<input type=time id=a>",
        &["!bad-value(HH:MM) fill #a 25:00"],
        "a.value",
        || json!(""),
    ),
    ("a colour", "<input type=color id=a oninput=note(value)>", &["fill #a #FF8000"], "seen", || {
        json!(["#ff8000"])
    }),
    (
        "a word is no colour",
        "<input type=color id=a value=#112233>",
        &["!bad-value(#rrggbb) fill #a red"],
        "a.value",
        || json!("#112233"),
    ),
    (
        "a box is not filled",
        "<input type=checkbox id=a>",
        &["!wrong-element(use check) fill #a on"],
        "a.checked",
        || json!(false),
    ),
    (
        "a radio is not filled",
        "<input type=radio id=a>",
        &["!wrong-element(use check) fill #a on"],
        "a.checked",
        || json!(false),
    ),
    (
        "a file field is not filled",
        "<input type=file id=a>",
        &["!wrong-element(use upload) fill #a x"],
        "a.files.length",
        || json!(0),
    ),
    (
        "a list is not filled",
        "<select id=a><option>p<option>q</select>",
        &["!wrong-element(use select) fill #a q"],
        "a.value",
        || json!("p"),
    ),
    (
        "a submit button is not filled",
        "<form onsubmit='note(1);return false'><input type=submit id=a value=Go></form>",
        &["!wrong-element(use click) fill #a x"],
        "[a.value, seen]",
        || json!(["Go", []]),
    ),
    (
        "a submit input submits",
        "<form onsubmit='note(event.submitter.id);return false'><input type=submit id=a></form>",
        &["click #a"],
        "seen",
        || json!(["a"]),
    ),
    (
        "a reset input resets",
        "<form onreset=note('reset')><input id=t value=old><input type=reset id=a></form>",
        &["fill #t new", "click #a"],
        "[t.value, seen]",
        || json!(["old", ["reset"]]),
    ),
    (
        "a button input is clicked",
        "<input type=button id=a value=Go onclick=note(value)>",
        &["click text=Go"],
        "seen",
        || json!(["Go"]),
    ),
    (
        "an image input tells where it was clicked",
        "<form onsubmit='note([...new FormData(this,event.submitter)].map(String));return false'><input type=image id=a name=i alt=Go style='width:40px;height:30px' src='data:image/gif;base64,R0lGODlhAQABAAAAACw='></form>",
        &["click #a --position 10,20"],
        "seen",
        || json!([["i.x,10", "i.y,20"]]),
    ),
    (
        "a hidden input is for nobody",
        "<input type=hidden id=a value=old>",
        &["!wrong-element(hidden) fill #a new"],
        "a.value",
        || json!("old"),
    ),
    (
        "a field that takes less tells it",
        "<input id=a maxlength=4>",
        &["?value-differs(\"long\") fill #a longer"],
        "a.value",
        || json!("long"),
    ),
    (
        "a field with a limit takes what fits",
        "<input id=a maxlength=4>",
        &["fill #a four"],
        "a.value",
        || json!("four"),
    ),
    (
        "a field that formats tells the difference",
        "<input id=a oninput='value=value.toUpperCase()'>",
        &["?value-differs(ABC) fill #a abc"],
        "a.value",
        || json!("ABC"),
    ),
    (
        "lines in an area",
        "<textarea id=a oninput=note(1)></textarea>",
        &["fill #a 'one\ntwo\n'"],
        "a.value",
        || json!("one\ntwo\n"),
    ),
    (
        "a line break cannot be in a field",
        "<input id=a>",
        &["?value-differs fill #a 'one\ntwo'"],
        "a.value.includes('\\n')",
        || json!(false),
    ),
    (
        "an empty text clears",
        "<textarea id=a oninput=note(event.inputType)>old</textarea>",
        &["fill #a ''"],
        "[a.value, seen]",
        || json!(["", ["deleteContentForward"]]),
    ),
    (
        "filling what is there already",
        "<input id=a value=same oninput=note(value)>",
        &["fill #a same"],
        "[a.value, seen]",
        || json!(["same", ["same"]]),
    ),
    ("typing goes on after what is there", "<input id=a value=ab>", &["type #a cd"], "a.value", || {
        json!("abcd")
    }),
    (
        "typing into a date is typing",
        "<input type=number id=a value=1>",
        &["type #a 2"],
        "a.value.length",
        || json!(2),
    ),
    (
        "a field below an element is named",
        "<div id=w><input id=in></div>",
        &["!wrong-element(#in) fill #w x"],
        "seen.length + w.children[0].value",
        || json!("0"),
    ),
    (
        "a heading is no field",
        "<h1 id=a>H</h1>",
        &["!wrong-element fill #a x", "!wrong-element type #a x"],
        "a.textContent",
        || json!("H"),
    ),
    (
        "a datalist takes any text",
        "<input id=a list=l><datalist id=l><option>one</datalist>",
        &["fill #a other"],
        "a.value",
        || json!("other"),
    ),
    ("a field without a type of its own", "<input id=a type=nonsense>", &["fill #a x"], "a.value", || {
        json!("x")
    }),
    (
        "a field that is moved away when it gets the focus",
        "<div id=p><input id=a></div><script>a.onfocus=()=>{a.onfocus=null;p.innerHTML='<input id=b>'}</script>",
        &["?not-found fill #a x --timeout 600"],
        "b.value",
        || json!(""),
    ),
];

#[test]
fn fields() {
    check("fields", ROWS);
}
