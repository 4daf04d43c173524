//! Fingers, trials and paced keys: what the page hears is what was asked for.
#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use common::{Case, EARLY, Shared};
use serde_json::{Value, json};

static SHARED: Shared = Shared::new(|site| {
    site.page("/inner", "<button id=in onclick=\"this.textContent = 'Tapped'\">In</button>")
        .page("/next", "<title>Next</title>")
});

/// Writes down, in the page, every event that a finger, a pointer or a key causes.
const WATCH: &str = "<!doctype html><meta name=viewport content='width=device-width'><script>
    window.seen = []; window.all = [];
    for (const type of ['touchstart', 'touchmove', 'touchend', 'touchcancel', 'pointerdown', 'pointermove', 'pointerup', 'pointercancel', 'mousemove', 'mousedown', 'mouseup', 'click',
            'dblclick', 'mouseover', 'mouseenter', 'focusin', 'input', 'change', 'keydown', 'scroll'])
        addEventListener(type, event => { all.push(type); seen.push(type + ':' + (event.target.id || event.target.localName)) }, { capture: true, passive: true });
    const count = type => all.filter(each => each === type).length;
    </script>";

fn watched(session: &str, html: &str) -> Case {
    let case = SHARED.case(session);
    case.show(&format!("{WATCH}{html}"));
    case
}

fn on_phone(session: &str, html: &str) -> Case {
    let case = SHARED.case(session);
    case.ok(&["set", "device", "Pixel 7"]);
    case.show(&format!("{WATCH}{html}"));
    case
}

#[test]
fn a_tap_is_a_touch_and_then_a_click() {
    // On a desktop, too: a page may listen to touches there.
    for (session, device) in [("tap-desktop", "Desktop Chrome"), ("tap-phone", "Pixel 7")] {
        let case = SHARED.case(session);
        case.ok(&["set", "device", device]);
        case.show(&format!("{WATCH}<button id=b style='margin:50px'>B</button><script>
            b.addEventListener('pointerdown', event => window.kind = event.pointerType);
            b.addEventListener('pointerdown', event => window.down = [Math.round(event.offsetX), Math.round(event.offsetY)]);
            b.addEventListener('click', event => window.click = [event.pointerType, event.isTrusted, event.shiftKey]);
            b.addEventListener('touchstart', event => window.touches = event.touches.length)</script>"));
        let tapped = case.ok(&["tap", "#b"]);
        assert_eq!(
            (&tapped["tapped"], &tapped["role"], &tapped["name"]),
            (&json!("#b"), &json!("button"), &json!("B")),
            "{device}"
        );
        case.ok(&["wait", "--fn", "window.click"]);
        let order = case.eval("seen.filter(each => each !== 'mousemove:b' && !/^(pointermove|mouseover|mouseenter|focusin)/.test(each))");
        assert_eq!(
            order,
            json!([
                "pointerdown:b",
                "touchstart:b",
                "pointerup:b",
                "touchend:b",
                "mousedown:b",
                "mouseup:b",
                "click:b"
            ]),
            "{device}"
        );
        assert_eq!(
            case.eval("[kind, touches, click[0], click[1], click[2]]"),
            json!(["touch", 1, "touch", true, false]),
            "{device}"
        );
        case.ok(&["tap", "#b", "--position", "4,5", "--modifiers", "shift"]);
        case.ok(&["wait", "--fn", "click[2]"]);
        assert_eq!(case.eval("down"), json!([4, 5]), "{device}: from the corner of its box");
    }
}

#[test]
fn a_tap_that_something_else_would_get_fails() {
    let case = on_phone(
        "tap-covered",
        "<button id=b>B</button><button id=off disabled>Off</button><div id=veil style='position:fixed;inset:0'></div>",
    );
    case.fails(&["tap", "#b", "--timeout", "300"]).must_be("covered", 1).must_say("veil");
    case.eval("veil.remove()");
    case.fails(&["tap", "#off", "--timeout", "300"]).must_be("disabled", 1);
    case.fails(&["tap", "#nowhere", "--timeout", "300"]).must_be("not-found", 1);
    case.fails(&["tap", "button", "--timeout", "300"]).must_be("ambiguous", 1);
    case.fails(&["tap", "#b", "--position", "1000,5"]).must_be("out-of-view", 1);
    assert_eq!(
        case.eval("seen.filter(each => !each.startsWith('scroll'))"),
        json!([]),
        "the page must not notice"
    );
    // A veil that comes while the finger goes down.
    case.show(&format!("{WATCH}<button id=b>B</button><script>b.addEventListener('touchstart', () => {{ const veil = document.createElement('div'); veil.id = 'veil'; veil.style = 'position:fixed;inset:0'; document.body.append(veil) }})</script>"));
    case.ok(&["tap", "#b"]);
    assert_eq!(
        case.eval("seen.filter(each => each.startsWith('touchstart'))"),
        json!(["touchstart:b"]),
        "it was touched all the same"
    );
}

#[test]
fn a_tap_that_the_page_keeps_for_itself_is_a_success() {
    let case = on_phone(
        "tap-prevented",
        "<button id=b>B</button><script>b.addEventListener('touchstart', event => { event.preventDefault(); window.own = 1 }, { passive: false })</script>",
    );
    case.ok(&["tap", "#b"]);
    assert_eq!(
        case.eval("[own, count('touchstart'), count('touchend'), count('click')]"),
        json!([1, 1, 1, 0])
    );
}

#[test]
fn a_tap_reaches_frames_and_what_is_out_of_view() {
    let case = on_phone(
        "tap-frames",
        "<iframe src='{{cross}}/inner'></iframe><div style='height:3000px'></div><button id=down>Down</button>",
    );
    case.ok(&["tap", "#in"]);
    case.ok(&["wait", "--text", "Tapped"]);
    case.ok(&["tap", "#down"]);
    case.ok(&["wait", "--fn", "seen.includes('click:down')"]);
    assert!(case.eval("scrollY").as_f64().unwrap() > 1000.0);
}

#[test]
fn a_swipe_scrolls_what_is_under_the_finger() {
    let case = on_phone(
        "swipe",
        "<body style='margin:0'><div id=box style='height:200px;overflow:auto;background:#eee'><div style='height:2000px'>inner</div></div><div style='height:4000px'>outer</div>",
    );
    assert_eq!(case.ok(&["swipe", "up", "300"]), json!({ "swiped": "up" }));
    case.ok(&["wait", "--fn", "scrollY > 150"]);
    assert_eq!(case.eval("box.scrollTop"), 0);
    // A quick finger leaves the page gliding.
    let at_rest = "new Promise(done => { let last = -1; const look = () => scrollY === last ? done(true) : (last = scrollY, setTimeout(look, 100)); look() })";
    case.ok(&["wait", "--fn", at_rest]);
    let before = case.eval("scrollY");
    case.ok(&["swipe", "down", "200"]);
    case.ok(&["wait", "--fn", &format!("scrollY < {before} - 100")]);
    case.ok(&["wait", "--fn", at_rest]);
    case.eval("scrollTo(0, 0)");
    case.ok(&["swipe", "up", "90", "--selector", "#box"]);
    case.ok(&["wait", "--fn", "box.scrollTop > 40"]);
    assert_eq!(case.eval("scrollY"), 0, "only the inner one");
    assert_eq!(case.eval("count('click')"), 0, "a swipe is no tap");
    case.fails(&["swipe", "up", "--selector", "#nowhere", "--timeout", "300"]).must_be("not-found", 1);
    case.fails(&["swipe", "sideways"]).must_be("usage", 2);
    case.fails(&["swipe", "up", "0"]).must_be("bad-number", 2);
}

#[test]
fn a_swipe_moves_a_carousel() {
    let case = on_phone("carousel", "<div id=pointers style='height:200px;touch-action:none'>P</div><div id=touches style='height:200px'>T</div><script>
        window.moved = {};
        const follow = (element, start, move, end, x) => {
            let from = null;
            element.addEventListener(start, event => { from = x(event); moved[element.id] = { steps: 0, by: 0, ended: false } });
            element.addEventListener(move, event => { if (from !== null) { event.preventDefault(); moved[element.id].steps++; moved[element.id].by = x(event) - from } }, { passive: false });
            element.addEventListener(end, () => { moved[element.id].ended = true; from = null });
        };
        follow(pointers, 'pointerdown', 'pointermove', 'pointerup', event => event.clientX);
        follow(touches, 'touchstart', 'touchmove', 'touchend', event => event.changedTouches[0].clientX);
        </script>");
    for (id, direction, want) in [("pointers", "left", -150.0), ("touches", "right", 150.0)] {
        case.ok(&["swipe", direction, "150", "--selector", &format!("#{id}")]);
        case.ok(&["wait", "--fn", &format!("moved.{id}?.ended")]);
        let moved = case.eval(&format!("moved.{id}"));
        assert!((moved["by"].as_f64().unwrap() - want).abs() < 2.0, "{id}: {moved}");
        assert!(moved["steps"].as_i64().unwrap() >= 3, "a movement, not a jump: {id}: {moved}");
    }
    assert_eq!(case.eval("count('pointercancel') + count('touchcancel')"), 0);
}

#[test]
fn a_trial_never_changes_the_page() {
    let html = "<body style='margin:0'><button id=b style='position:absolute;left:10px;top:100px' onclick=\"document.title = 'clicked'\">B</button>
        <input id=c type=checkbox style='position:absolute;left:200px;top:100px'><input id=d type=checkbox checked style='position:absolute;left:300px;top:100px'>
        <a id=l href=/next style='position:absolute;left:400px;top:100px'>Link</a>";
    let case = watched("trial", html);
    let url = case.ok(&["get", "url"]);
    for (verb, id, word) in [
        ("click", "#b", "could click"),
        ("dblclick", "#b", "could double-click"),
        ("hover", "#b", "could hover over"),
        ("tap", "#b", "could tap"),
        ("check", "#c", "could check"),
        ("uncheck", "#d", "could uncheck"),
        ("click", "#l", "could click"),
        ("tap", "#l", "could tap"),
    ] {
        assert_eq!(case.ok(&[verb, id, "--trial"])["trial"], true, "{verb} {id}");
        assert!(case.text(&[verb, id, "--trial"]).starts_with(word), "{verb} {id}");
        let noise = case.eval("[count('pointerdown'), count('mousedown'), count('touchstart'), count('click'), count('dblclick'), count('input'), count('change'), count('focusin')]");
        assert_eq!(noise, json!([0, 0, 0, 0, 0, 0, 0, 0]), "{verb} {id}: {}", case.eval("seen"));
        assert_eq!(
            case.eval("[c.checked, d.checked, document.title]"),
            json!([false, true, ""]),
            "{verb} {id}"
        );
    }
    assert_eq!(case.ok(&["get", "url"]), url);
    assert_eq!(case.eval("count('mouseover')"), 0, "not even the pointer moves");
    // It fails where the real thing would.
    case.eval("document.body.insertAdjacentHTML('beforeend', '<div id=veil style=\"position:fixed;inset:0\"></div>')");
    for (verb, id) in [
        ("click", "#b"),
        ("dblclick", "#b"),
        ("hover", "#b"),
        ("tap", "#b"),
        ("check", "#c"),
        ("uncheck", "#d"),
    ] {
        case.fails(&[verb, id, "--trial", "--timeout", "200"]).must_be("covered", 1).must_say("veil");
    }
}

#[test]
fn force_position_and_modifiers_are_for_all_that_point() {
    let case = watched("options", "<body style='margin:0'><div id=pad style='position:absolute;left:50px;top:60px;width:200px;height:100px;background:#eee' tabindex=0>Pad</div>
        <input id=c type=checkbox style='position:absolute;left:300px;top:60px;width:40px;height:40px;margin:0'><script>
        const note = event => window.last = [event.offsetX, event.offsetY, event.shiftKey, event.altKey];
        for (const type of ['click', 'dblclick', 'mousemove']) pad.addEventListener(type, event => { note(event); window.kind = type });
        c.addEventListener('click', note)</script>");
    for (verb, kind) in
        [("click", "click"), ("dblclick", "dblclick"), ("hover", "mousemove"), ("tap", "click")]
    {
        case.eval("last = kind = null");
        case.ok(&[verb, "#pad", "--position", "7,9", "--modifiers", "shift,alt"]);
        case.ok(&["wait", "--fn", &format!("kind === '{kind}'")]);
        assert_eq!(case.eval("last"), json!([7, 9, true, true]), "{verb}");
        case.fails(&[verb, "#pad", "--position", "201,9"]).must_be("out-of-view", 1).must_say("200");
        case.fails(&[verb, "#pad", "--position", "x"]).must_be("bad-number", 2);
        case.fails(&[verb, "#pad", "--modifiers", "hyper"]).must_be("usage", 2);
    }
    for verb in ["check", "uncheck"] {
        case.ok(&[verb, "#c", "--position", "3,4", "--modifiers", "shift"]);
        assert_eq!(
            case.eval("[last.slice(0, 3), c.checked]"),
            json!([[3, 4, true], verb == "check"]),
            "{verb}"
        );
    }
    // Force does not ask what is in the way, and then does not promise who gets it; but a box that stays as it is is told.
    case.eval("document.body.insertAdjacentHTML('beforeend', '<div id=veil style=\"position:fixed;inset:0\"></div>'); all.length = seen.length = 0");
    for (verb, event) in [
        ("click", "click:veil"),
        ("dblclick", "dblclick:veil"),
        ("hover", "mousemove:veil"),
        ("tap", "touchstart:veil"),
    ] {
        case.ok(&[verb, "#pad", "--force"]);
        case.ok(&["wait", "--fn", &format!("seen.includes('{event}')")]);
    }
    case.fails(&["check", "#c", "--force", "--timeout", "900"]).must_be("not-changed", 1);
    assert_eq!(case.eval("c.checked"), false);
}

#[test]
fn keys_come_at_the_pace_that_was_asked_for() {
    let case = watched(
        "pace",
        "<input id=i><script>window.times = []; i.addEventListener('keydown', event => times.push([event.key, performance.now()]))</script>",
    );
    let started = std::time::Instant::now();
    case.ok(&["type", "#i", "paced ✓", "--delay", "60"]);
    let took = started.elapsed();
    assert_eq!(case.value("#i"), "paced ✓");
    let times: Vec<f64> = case
        .eval("times.map(([, time]) => time)")
        .as_array()
        .unwrap()
        .iter()
        .filter_map(Value::as_f64)
        .collect();
    assert!(times.len() >= 6, "{times:?}");
    for pair in times.windows(2) {
        // A timer may fire a little early against the page's clock.
        assert!(pair[1] - pair[0] >= 50.0, "too fast: {times:?}");
    }
    assert!(took < EARLY, "7 keys took {took:?}");
    // Longer than the usual time limit of actions, which is for readiness.
    case.eval("i.value = ''");
    case.ok(&["type", "#i", "abcdef", "--delay", "150", "--timeout", "400"]);
    assert_eq!(case.value("#i"), "abcdef");
    case.eval("times.length = 0; i.value = ''");
    case.ok(&["type", "#i", "all at once"]);
    assert_eq!(case.value("#i"), "all at once");
    case.fails(&["type", "#i", "x", "--delay", "-1"]).must_be("usage", 2);
    case.fails(&["type", "#i", "x", "--delay", "60001"]).must_be("bad-number", 2);
}
