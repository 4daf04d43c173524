//! Actions: a success means that it happened, a failure says why and that the page saw nothing.
#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use common::{Case, SOON, Shared};
use serde_json::json;
use surehand_testkit::wait_for;

static SHARED: Shared = Shared::new(|site| site.page("/next", "<title>Next</title><h1>Next</h1>"));

/// Counts, in the page, every event that a click or a key causes.
const WATCH: &str = "<script>
    window.seen = [];
    for (const type of ['pointerdown', 'mousedown', 'mouseup', 'click', 'input', 'change', 'keydown'])
        addEventListener(type, event => seen.push(type + ':' + (event.target.id || event.target.localName)), true);
    </script>";

fn watched(session: &str, html: &str) -> Case {
    let case = SHARED.case(session);
    case.show(&format!("{WATCH}{html}"));
    case
}

fn seen(case: &Case) -> Vec<String> {
    let list = case.eval("seen");
    list.as_array().expect("a list").iter().map(|each| each.as_str().expect("a text").to_owned()).collect()
}

#[test]
fn covered_for_a_while_is_waited_for() {
    let case = watched(
        "covered",
        "<button id=go>Go</button><div id=veil style='position:fixed;inset:0'></div>
         <script>setTimeout(() => veil.remove(), 300)</script>",
    );
    case.ok(&["click", "#go"]);
    assert_eq!(seen(&case), ["pointerdown:go", "mousedown:go", "mouseup:go", "click:go"]);
}

#[test]
fn covered_for_ever_names_what_is_in_the_way() {
    let case = watched(
        "veiled",
        "<button id=go>Go</button><div id=veil class=modal style='position:fixed;inset:0'>Wait…</div>",
    );
    let failure = case.fails_early(&["click", "#go", "--timeout", "400"]);
    failure.must_be("covered", 1).must_say("<div id=\"veil\"").must_say("<button id=\"go\"");
    assert_eq!(seen(&case), Vec::<String>::new(), "the page must not notice");
}

/// A veil that comes when the pointer arrives would swallow the click between check and press.
#[test]
fn what_slides_in_under_the_pointer_does_not_get_the_click() {
    let case = watched(
        "slides",
        "<button id=go>Go</button><script>go.addEventListener('mouseover', () => {
            const veil = document.createElement('div'); veil.id = 'veil'; veil.style = 'position:fixed;inset:0'; document.body.append(veil) })</script>",
    );
    case.fails(&["click", "#go", "--timeout", "400"]).must_be("covered", 1).must_say("veil");
    assert_eq!(seen(&case), Vec::<String>::new());
}

#[test]
fn disabled_for_a_while_and_for_ever() {
    let case = watched(
        "disabled",
        "<button id=later disabled>Later</button><fieldset disabled><button id=never>Never</button></fieldset>
         <div aria-disabled=true><button id=aria>Aria</button></div><script>setTimeout(() => later.disabled = false, 200)</script>",
    );
    case.ok(&["click", "#later"]);
    for id in ["#never", "#aria"] {
        case.fails(&["click", id, "--timeout", "500"]).must_be("disabled", 1);
    }
    assert!(!seen(&case).iter().any(|event| event.contains("never") || event.contains("aria")));
}

#[test]
fn hidden_is_an_error_that_says_why() {
    let case = watched(
        "hidden",
        "<button id=none style='display:none'>A</button><button id=invisible style='visibility:hidden'>B</button>
         <button id=empty style='width:0;height:0;padding:0;border:0;overflow:hidden'></button><button id=clear style='opacity:0'>C</button>",
    );
    for id in ["#none", "#invisible", "#empty"] {
        case.fails(&["click", id, "--timeout", "500"]).must_be("not-visible", 1).must_say(&id[1..]);
    }
    assert_eq!(seen(&case), Vec::<String>::new());
    case.ok(&["click", "#clear"]);
    case.fails(&["click", "#missing", "--timeout", "500"]).must_be("not-found", 1).must_say("#missing");
}

#[test]
fn moving_is_waited_for_and_then_hit() {
    let style = "<style>@keyframes go { from { left: 0 } to { left: 400px } } button { position: absolute; top: 50px }</style>";
    let case = watched(
        "moving",
        &format!("{style}<button id=go style='animation: go .4s linear forwards'>Go</button>"),
    );
    case.ok(&["click", "#go"]);
    assert!(seen(&case).contains(&"click:go".to_owned()));
    assert_eq!(case.ok(&["get", "box", "#go"])["x"].as_f64(), Some(400.0), "it had come to rest");
    case.show(&format!("{WATCH}{style}<button id=go style='animation: go 1s linear infinite'>Go</button>"));
    case.fails(&["click", "#go", "--timeout", "400"]).must_be("not-stable", 1);
    assert_eq!(seen(&case), Vec::<String>::new());
}

#[test]
fn out_of_view_is_scrolled_to() {
    let case = watched(
        "scroll",
        "<header style='position:sticky;top:0;height:100px;background:red'>Sticky</header><div style='height:3000px'></div><button id=down>Down</button>
         <div style='height:100px;width:200px;overflow:auto'><div style='height:2000px'></div><button id=inside>Inside</button></div><div style='height:3000px'></div>",
    );
    for id in ["#down", "#inside", "#down"] {
        case.ok(&["click", id]);
    }
    let clicks: Vec<String> = seen(&case).into_iter().filter(|event| event.starts_with("click:")).collect();
    assert_eq!(clicks, ["click:down", "click:inside", "click:down"]);
    // Back up: what a sticky header covers after a scroll to the top edge is still hit.
    case.eval("scrollTo(0, document.body.scrollHeight)");
    case.ok(&["click", "#down"]);
    assert_eq!(seen(&case).iter().filter(|event| *event == "click:down").count(), 3);
}

#[test]
fn several_matches_are_listed_never_guessed() {
    let case = watched(
        "several",
        "<button id=one>Save</button><button>Save</button><button data-testid=three>Save</button>",
    );
    let failure = case.fails_early(&["click", "text=Save"]);
    failure.must_be("ambiguous", 1).must_say("3 elements").must_say("#one").must_say("three");
    assert_eq!(seen(&case), Vec::<String>::new());
    case.fails(&["fill", "button", "x"]).must_be("ambiguous", 1);
    case.fails(&["type", "button", "x"]).must_be("ambiguous", 1);
    case.ok(&["click", "#one"]);
    case.ok(&["click", "xpath=//button[2]"]);
}

#[test]
fn a_text_inside_a_button_clicks_the_button_and_a_label_its_control() {
    let case = watched(
        "retarget",
        "<button id=b onclick='n = 1'><span id=icon style='pointer-events:none'>★</span> Star</button>
         <label id=l for=c>Agree</label><input type=checkbox id=c><label id=k>Name <input id=name></label>",
    );
    case.ok(&["click", "#icon"]);
    assert_eq!(case.eval("n"), 1);
    case.ok(&["click", "#l"]);
    assert_eq!(case.eval("c.checked"), true);
    case.ok(&["fill", "#k", "Ada"]);
    assert_eq!(case.value("#name"), "Ada");
}

#[test]
fn fill_sets_every_kind_of_field() {
    let case = watched(
        "kinds",
        "<input id=text value=old><textarea id=area>old</textarea><input id=date type=date><input id=time type=time><input id=month type=month>
         <input id=week type=week><input id=local type=datetime-local><input id=range type=range min=0 max=100><input id=color type=color>
         <input id=number type=number><input id=email type=email><input id=search type=search><input id=password type=password><div id=edit contenteditable>old</div>",
    );
    for (id, value) in [
        ("text", "new ✓ 😀"),
        ("area", "two\nlines"),
        ("date", "2024-02-29"),
        ("time", "23:59"),
        ("month", "2024-02"),
        ("week", "2024-W09"),
        ("local", "2024-02-29T23:59"),
        ("range", "42"),
        ("color", "#ff8800"),
        ("number", "-1.5"),
        ("email", "a@b.c"),
        ("search", "find"),
        ("password", "hunter2"),
    ] {
        case.eval("seen = []");
        case.ok(&["fill", &format!("#{id}"), value]);
        assert_eq!(case.value(&format!("#{id}")), value, "{id}");
        assert!(seen(&case).contains(&format!("input:{id}")), "{id} must hear of it");
    }
    case.ok(&["fill", "#edit", "new text"]);
    assert_eq!(case.ok(&["get", "text", "#edit"])["text"], "new text");
    case.ok(&["fill", "#text", ""]);
    assert_eq!(case.value("#text"), "");
}

#[test]
fn fill_that_did_not_happen_is_an_error() {
    let case = watched(
        "unfilled",
        "<input id=readonly readonly value=old><input id=short maxlength=3><input id=date type=date><input id=number type=number><input id=range type=range min=0 max=10>
         <input id=off disabled><input id=check type=checkbox><div id=div>old</div><input id=stubborn oninput='this.value = \"mine\"'><input id=file type=file>
         <select id=select><option>One</select><input id=color type=color>",
    );
    case.fails(&["fill", "#readonly", "new", "--timeout", "500"]).must_be("not-editable", 1).must_say("read");
    assert_eq!(case.value("#readonly"), "old");
    case.fails(&["fill", "#short", "abcdef"])
        .must_be("value-differs", 1)
        .must_say("abcdef")
        .must_say("\"abc\"");
    for (id, value) in [("#date", "29.2.2024"), ("#number", "many"), ("#range", "11"), ("#color", "red-ish")]
    {
        case.fails_early(&["fill", id, value]).must_be("bad-value", 1);
    }
    case.fails(&["fill", "#off", "x", "--timeout", "500"]).must_be("disabled", 1);
    for (id, verb) in [("#check", "check"), ("#select", "select"), ("#file", "upload"), ("#div", "")] {
        case.fails_early(&["fill", id, "x"]).must_be("wrong-element", 1).must_say(verb);
    }
    case.fails(&["fill", "#stubborn", "yours"]).must_be("value-differs", 1).must_say("mine");
    assert_eq!(case.ok(&["get", "text", "#div"])["text"], "old");
}

#[test]
fn a_secret_is_not_repeated_in_errors() {
    let case = watched("secret", "<input id=p type=password oninput='this.value = \"x\"'>");
    let failure = case.fails(&["fill", "#p", "hunter2"]);
    failure.must_be("value-differs", 1);
    assert!(!failure.message.contains("hunter2"), "{failure:?}");
}

#[test]
fn type_uses_real_keys_after_what_is_there() {
    let case = watched("type", "<input id=a value=ab><textarea id=t></textarea>");
    case.ok(&["type", "#a", "cD é"]);
    assert_eq!(case.value("#a"), "abcD é");
    // No key of the layout makes an é: it is inserted.
    assert!(seen(&case).iter().filter(|event| *event == "keydown:a").count() >= 3);
    case.ok(&["type", "#t", "one\ntwo"]);
    assert_eq!(case.value("#t"), "one\ntwo");
}

#[test]
fn press_knows_chords_and_names() {
    let case = watched(
        "press",
        "<form action=/next><input id=a name=a value=abc autofocus></form><script>addEventListener('keydown', e => last =
         [e.key, e.code, e.ctrlKey, e.shiftKey, e.altKey, e.metaKey])</script>",
    );
    case.ok(&["click", "#a"]);
    case.ok(&["press", "Control+a"]);
    assert_eq!(case.eval("last"), json!(["a", "KeyA", true, false, false, false]));
    case.ok(&["press", "Delete"]);
    assert_eq!(case.value("#a"), "");
    case.ok(&["press", "Shift+q"]);
    assert_eq!(case.value("#a"), "Q");
    case.ok(&["press", "ArrowLeft"]);
    assert_eq!(case.eval("[last[0], a.selectionStart]"), json!(["ArrowLeft", 0]));
    case.ok(&["press", "Alt+Shift+F5"]);
    assert_eq!(case.eval("last"), json!(["F5", "F5", false, true, true, false]));
    case.ok(&["press", "+"]);
    assert_eq!(case.value("#a"), "+Q");
    case.fails(&["press", "Entr"]).must_be("unknown-key", 2).must_say("Enter");
    case.fails(&["press", "Ctl+a"]).must_be("unknown-key", 2);
    assert_eq!(case.ok(&["press", "Enter"])["navigated"], case.site().url("/next?a=%2BQ"));
}

#[test]
fn a_link_tells_where_it_led() {
    let case = watched(
        "link",
        "<a id=a href=/next>Next</a><a id=hash href='#here'>Here</a><button onclick='location.href = \"/next?js\"'>Js</button>",
    );
    let here = case.ok(&["click", "#hash"]);
    assert!(here["navigated"].as_str().is_some_and(|url| url.ends_with("#here")), "{here}");
    assert_eq!(case.ok(&["click", "button"])["navigated"], case.site().url("/next?js"));
    assert_eq!(case.ok(&["get", "title"])["title"], "Next", "the click waited for the new page");
    case.ok(&["back"]);
    assert_eq!(case.ok(&["click", "#a"])["navigated"], case.site().url("/next"));
    case.show("<button onclick='n = 1'>Stay</button>");
    assert!(case.ok(&["click", "button"])["navigated"].is_null());
}

#[test]
fn a_confirm_waits_for_its_answer() {
    let case = watched("confirm", "<button onclick='answer = confirm(\"Really?\")'>Delete</button>");
    for (word, want) in [("dismiss", false), ("accept", true)] {
        let clicked = case.ok(&["click", "button"]);
        assert_eq!(clicked["dialog"], json!({ "type": "confirm", "message": "Really?" }));
        for command in [
            &["click", "button"][..],
            &["snapshot"],
            &["get", "text", "button"],
            &["eval", "1"],
            &["screenshot", "x.png"],
            &["wait", "--text", "x"],
        ] {
            let failure = case.fails_early(command);
            failure
                .must_be("dialog-open", 1)
                .must_say("Really?")
                .must_say("dialog accept")
                .must_say("dialog dismiss");
        }
        case.ok(&["console"]);
        case.ok(&["dialog", word]);
        assert_eq!(case.eval("answer"), want);
    }
}

#[test]
fn an_alert_does_not_stop_anything() {
    let case = watched(
        "alert",
        "<button onclick='alert(1); n = 1'>Alert</button><script>onbeforeunload = event => event.preventDefault()</script>",
    );
    case.ok(&["click", "button"]);
    assert_eq!(case.eval("n"), 1);
    // The page asks whether to leave; the answer is yes.
    assert_eq!(case.ok(&["open", &case.site().url("/next")])["title"], "Next");
}

#[test]
fn a_wait_that_a_dialog_interrupts_says_so() {
    let case = watched("interrupted", "<script>setTimeout(() => prompt('Who?', 'Ada'), 200)</script>");
    case.fails(&["wait", "--text", "never"]).must_be("dialog-open", 1).must_say("Who?");
    case.ok(&["dialog", "accept", "Bob"]);
}

#[test]
fn an_endless_loop_is_told_and_left() {
    let case = watched("loop", "<button onclick='for (;;);'>Hang</button>");
    let failure = case.fails_early(&["click", "button", "--timeout", "700"]);
    assert!(matches!(failure.code.as_str(), "page-unresponsive" | "timeout"), "{failure:?}");
    for command in [&["get", "text", "button"][..], &["eval", "1"], &["snapshot"]] {
        let failure = case.fails_early(&[command, &["--timeout", "300"]].concat());
        failure.must_be("page-unresponsive", 1);
    }
    // A tab list still answers, and the tab can be left.
    assert_eq!(case.ok(&["tab", "list"])["tabs"].as_array().unwrap().len(), 1);
    assert_eq!(case.ok(&["open", &case.site().url("/next")])["title"], "Next");
}

#[test]
fn a_page_that_closes_itself_is_told() {
    let case = watched("closing", "<a href=/next target=_blank>New</a>");
    case.ok(&["click", "a"]);
    let opened = wait_for(SOON, || {
        case.ok(&["tab", "list"])["tabs"].as_array().filter(|tabs| tabs.len() == 2).map(|_| ())
    });
    assert!(opened.is_some());
    case.ok(&["tab", "t2"]);
    case.ok(&["wait", "h1"]);
    case.eval("document.querySelector('h1').onclick = () => close(); 0");
    case.ok(&["click", "h1"]);
    let closed = wait_for(SOON, || {
        case.ok(&["tab", "list"])["tabs"].as_array().filter(|tabs| tabs.len() == 1).map(|_| ())
    });
    assert!(closed.is_some(), "the tab is gone from the list");
    assert_eq!(case.ok(&["get", "text", "a"])["text"], "New", "commands go to the tab that is left");
}
