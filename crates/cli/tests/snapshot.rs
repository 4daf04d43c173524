//! Snapshots and references: what is shown, and that a reference never means something else.
#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use common::{Shared, reference, without_refs};

static SHARED: Shared = Shared::new(|site| site.page("/plain", "<title>Plain</title><button>Plain</button>"));

/// All numbers of references in a snapshot.
fn numbers(snapshot: &str) -> Vec<u32> {
    snapshot
        .split("ref=e")
        .skip(1)
        .map(|rest| rest.split([']', ',']).next().unwrap().parse().unwrap())
        .collect()
}

#[test]
fn an_element_keeps_its_reference_while_it_lives() {
    let case = SHARED.case("keeps");
    case.show("<button id=a>A</button><button id=b>B</button>");
    let before = case.snapshot(&["-i"]);
    assert_eq!(case.snapshot(&["-i"]), before);
    // A new element before it, another name, another place: it is still the same element.
    case.eval("document.body.prepend(Object.assign(document.createElement('button'), {textContent: 'New'})); b.textContent = 'Bee'; document.body.append(a); 0");
    let after = case.snapshot(&["-i"]);
    assert_eq!(reference(&after, "\"A\""), reference(&before, "\"A\""));
    assert_eq!(reference(&after, "\"Bee\""), reference(&before, "\"B\""));
    assert!(!numbers(&before).contains(&numbers(&after)[0]), "{before}{after}");
    assert!(
        after.find("\"New\"") < after.find("\"Bee\"") && after.find("\"Bee\"") < after.find("\"A\""),
        "{after}"
    );
}

#[test]
fn what_is_gone_is_stale_and_no_number_comes_back() {
    let case = SHARED.case("stale");
    let url = case.show("<button id=a onclick='n = 1'>Same</button>");
    let mut seen = vec![];
    let first = case.snapshot(&["-i"]);
    seen.extend(numbers(&first));
    let removed = reference(&first, "Same");
    // A twin in the same place is another element.
    case.eval("a.outerHTML = a.outerHTML");
    for command in [
        &["click", removed.as_str()][..],
        &["get", "text", &removed],
        &["fill", &removed, "x"],
        &["wait", &removed],
    ] {
        case.fails_early(command).must_be("stale-ref", 1).must_say(&removed).must_say("snapshot");
    }
    assert_eq!(case.eval("typeof n"), "undefined");
    let second = case.snapshot(&["-i"]);
    let twin = reference(&second, "Same");
    assert!(!numbers(&second).iter().any(|number| seen.contains(number)), "{first}{second}");
    seen.extend(numbers(&second));

    case.ok(&["open", &url]);
    case.fails_early(&["click", &twin]).must_be("stale-ref", 1);
    let third = case.snapshot(&["-i"]);
    assert!(!numbers(&third).iter().any(|number| seen.contains(number)), "{third}");
    case.ok(&["reload"]);
    case.fails(&["click", &reference(&third, "Same")]).must_be("stale-ref", 1);
    assert_eq!(case.eval("typeof n"), "undefined");
    assert_eq!(case.ok(&["wait", &twin, "--state", "hidden"])["waited"], "selector");
}

#[test]
fn a_reference_outlives_a_change_of_the_address_within_the_page() {
    let case = SHARED.case("pushed");
    case.show("<button onclick='n = 1'>Go</button>");
    let go = reference(&case.snapshot(&["-i"]), "Go");
    case.eval("history.pushState(0, '', '/elsewhere')");
    case.ok(&["click", &go]);
    assert_eq!(case.eval("n"), 1);
}

#[test]
fn a_reference_of_another_tab_is_not_this_one() {
    let case = SHARED.case("othertab");
    case.show("<button>Here</button>");
    let here = reference(&case.snapshot(&["-i"]), "Here");
    case.ok(&["tab", "new", &case.site().url("/plain")]);
    case.fails(&["click", &here]).must_be("other-tab", 1).must_say("t1");
    let there = case.snapshot(&["-i"]);
    assert_ne!(reference(&there, "Plain"), here);
    case.ok(&["tab", "t1"]);
    case.ok(&["click", &here]);
}

#[test]
fn options_choose_what_is_shown() {
    let case = SHARED.case("options");
    case.show(
        "<h1>Top</h1><div><section><ul><li>One<li>Two</ul></section></div><div role=group></div>
         <form id=f aria-label=Form><a href='/plain?a=b'>Link</a><button>In form</button></form>
         <div style='height:5000px'></div><button>Far below</button>",
    );
    let full = case.snapshot(&[]);
    assert!(full.contains("- text: One") || full.contains("listitem"), "{full}");
    assert!(full.contains("- heading \"Top\" [level=1"), "{full}");

    let interactive = case.snapshot(&["-i"]);
    assert!(!interactive.contains("One") && interactive.contains("Far below"), "{interactive}");

    let compact = case.snapshot(&["-c"]);
    assert!(compact.lines().count() < full.lines().count(), "{compact}\n{full}");
    assert!(!compact.contains("- group") && compact.contains("In form"), "{compact}");

    let shallow = case.snapshot(&["-d", "1"]);
    assert!(!shallow.contains("    - "), "{shallow}");
    assert!(shallow.contains("Top"), "{shallow}");
    assert!(shallow.lines().count() < full.lines().count());

    let part = case.snapshot(&["-s", "#f"]);
    assert!(part.contains("In form") && !part.contains("Top") && !part.contains("Far below"), "{part}");
    assert_eq!(reference(&part, "In form"), reference(&full, "In form"));
    case.fails(&["snapshot", "-s", "#none", "--timeout", "500"]).must_be("not-found", 1);

    let url = case.site().url("/plain?a=b");
    assert!(!interactive.contains("url="), "{interactive}");
    let urls = case.snapshot(&["-i", "-u"]);
    assert!(
        urls.lines().any(|line| line.contains("\"Link\"") && line.contains(&format!("url={url}"))),
        "{urls}"
    );

    let view = case.snapshot(&["--viewport"]);
    assert!(view.contains("In form") && !view.contains("Far below"), "{view}");
    case.eval("scrollTo(0, 5000)");
    let view = case.snapshot(&["--viewport"]);
    assert!(!view.contains("In form") && view.contains("Far below"), "{view}");
}

#[test]
fn a_delta_is_what_changed() {
    let case = SHARED.case("delta");
    case.show("<button id=a>A</button><button id=b>B</button><p id=p></p>");
    let first = case.snapshot(&["-i", "--delta"]);
    assert!(first.contains("\"A\"") && first.contains("\"B\""), "the first one is whole: {first}");
    assert_eq!(case.snapshot(&["-i", "--delta"]).trim(), "(unchanged)");
    case.eval("a.disabled = true; b.remove(); 0");
    let changed = case.snapshot(&["-i", "--delta"]);
    let (went, came): (Vec<&str>, Vec<&str>) = changed.lines().partition(|line| line.starts_with("- "));
    assert_eq!(went.len(), 2, "{changed}");
    assert!(came.len() == 1 && came[0].starts_with("+ ") && came[0].contains("disabled"), "{changed}");
}

#[test]
fn states_are_shown() {
    let case = SHARED.case("states");
    case.show(
        "<input type=checkbox checked aria-label=Yes><input type=radio aria-label=No><button disabled>Off</button>
         <input aria-label=Wrong aria-invalid=true required value=v><button aria-pressed=true>Bold</button>
         <button aria-expanded=false>Menu</button><div role=tab aria-selected=true tabindex=0>Tab</div>
         <input type=range min=0 max=10 value=4 aria-label=Loud><div onclick='0'>Box</div>
         <div contenteditable aria-label=Notes>Dear</div><details><summary>More</summary>Hidden</details>",
    );
    let snapshot = without_refs(&case.snapshot(&["-i"]));
    for line in [
        "- checkbox \"Yes\" [checked, ref]",
        "- radio \"No\" [checked=false, ref]",
        "- button \"Off\" [disabled, ref]",
        "- textbox \"Wrong\" [required, invalid, ref]: v",
        "- button \"Bold\" [pressed=true, ref]",
        "- button \"Menu\" [expanded=false, ref]",
        "- tab \"Tab\" [selected, ref]",
        "- slider \"Loud\" [ref]: 4",
    ] {
        assert!(snapshot.lines().any(|each| each.trim() == line), "{line:?} is not in\n{snapshot}");
    }
    for part in ["Box", "clickable", "\"Notes\"", ": Dear", "\"More\"", "expanded=false"] {
        assert!(snapshot.contains(part), "{part:?} is not in\n{snapshot}");
    }
    assert!(!snapshot.contains("Hidden"), "{snapshot}");
}

#[test]
fn what_nobody_sees_is_not_shown() {
    let case = SHARED.case("unseen");
    case.show(
        "<button style='display:none'>One</button><button style='visibility:hidden'>Two</button><button hidden>Three</button>
         <div aria-hidden=true><button>Four</button></div><div inert><button>Five</button></div>
         <button style='opacity:0'>Six</button><template><button>Seven</button></template>",
    );
    let snapshot = case.snapshot(&["-i"]);
    assert_eq!(snapshot.lines().count(), 1, "{snapshot}");
    assert!(snapshot.contains("Six"), "{snapshot}");
}

#[test]
fn passwords_are_masked() {
    let case = SHARED.case("password");
    case.show("<input type=password aria-label=Secret value=hunter2><input type=password aria-label=Long value=correct-horse-battery>");
    for options in [&["-i"][..], &[], &["-c"]] {
        let snapshot = case.snapshot(options);
        assert!(!snapshot.contains("hunter2") && !snapshot.contains("horse"), "{snapshot}");
        let masks: Vec<&str> =
            snapshot.lines().filter_map(|line| line.split_once("]: ")).map(|(_, mask)| mask).collect();
        assert_eq!(masks.len(), 2, "{snapshot}");
        assert_eq!(masks[0], masks[1], "the length is a secret too: {snapshot}");
    }
}

#[test]
fn frames_are_part_of_the_page() {
    let case = SHARED.case("frames");
    let leaf = case.page("<button onclick='this.textContent = \"Leaf clicked\"'>Leaf</button>");
    let cross = case.page(&format!(
        "<button onclick='this.textContent = \"Cross clicked\"'>Cross</button><iframe title=Leafy src='{{{{origin}}}}{leaf}'></iframe>"
    ));
    let same = case.page(
        "<label>Name <input></label><button onclick='this.textContent = \"Same clicked\"'>Same</button>",
    );
    case.show(&format!(
        "<h1>Top</h1><iframe title=Near src='{same}'></iframe><iframe title=Far src='{{{{cross}}}}{cross}' width=500 height=400></iframe><button>After</button>"
    ));
    let snapshot = case.snapshot(&["-i"]);
    let order =
        ["\"Near\"", "\"Name\"", "\"Same\"", "\"Far\"", "\"Cross\"", "\"Leafy\"", "\"Leaf\"", "\"After\""];
    let places: Vec<usize> = order
        .iter()
        .map(|part| snapshot.find(part).unwrap_or_else(|| panic!("{part} is not in\n{snapshot}")))
        .collect();
    assert!(places.is_sorted(), "document order: {snapshot}");
    let depth = |part: &str| {
        snapshot.lines().find(|line| line.contains(part)).map(|line| line.len() - line.trim_start().len())
    };
    assert!(depth("\"Near\"") < depth("\"Name\"") && depth("\"Cross\"") < depth("\"Leaf\""), "{snapshot}");
    for name in ["Same", "Cross", "Leaf"] {
        let button = reference(&snapshot, &format!("\"{name}\""));
        case.ok(&["click", &button]);
        assert_eq!(case.ok(&["get", "text", &button])["text"], format!("{name} clicked"));
    }
    case.ok(&["fill", &reference(&snapshot, "\"Name\""), "Ada"]);
    let after = case.snapshot(&["-i"]);
    assert!(after.contains(": Ada") && after.contains("Leaf clicked"), "{after}");
    assert_eq!(reference(&after, "Cross clicked"), reference(&snapshot, "\"Cross\""));
}

#[test]
fn a_frame_that_goes_takes_its_references_along() {
    let case = SHARED.case("framegone");
    let inner = case.page("<button>Inner</button>");
    case.show(&format!("<iframe id=f title=F src='{{{{cross}}}}{inner}'></iframe>"));
    let inner = reference(&case.snapshot(&["-i"]), "\"Inner\"");
    case.eval("f.remove()");
    case.fails_early(&["click", &inner]).must_be("stale-ref", 1);
}

#[test]
fn shadow_roots_slots_and_owned_nodes() {
    let case = SHARED.case("shadow");
    case.show(
        "<x-card><b slot=title>Slotted</b><button>Light</button></x-card>
         <div role=list aria-label=Owner aria-owns='late'></div><div role=listitem id=between>Between</div>
         <div role=listitem id=late><button>Owned</button></div>
         <script>
         customElements.define('x-card', class extends HTMLElement { connectedCallback() {
             this.attachShadow({mode: 'open'}).innerHTML = `<button id=in>Shadow</button><h2><slot name=title></slot></h2><slot></slot><x-deep></x-deep>` } });
         customElements.define('x-deep', class extends HTMLElement { connectedCallback() {
             this.attachShadow({mode: 'open'}).innerHTML = `<button onclick='this.textContent=\"Deep clicked\"'>Deep</button>` } });
         </script>",
    );
    let snapshot = case.snapshot(&[]);
    let order = ["\"Shadow\"", "Slotted", "\"Light\"", "\"Deep\"", "\"Owner\"", "\"Owned\"", "Between"];
    let places: Vec<usize> = order
        .iter()
        .map(|part| snapshot.find(part).unwrap_or_else(|| panic!("{part} is not in\n{snapshot}")))
        .collect();
    assert!(places.is_sorted(), "{snapshot}");
    for once in ["\"Light\"", "\"Owned\"", "\"Deep\""] {
        assert_eq!(snapshot.matches(once).count(), 1, "{snapshot}");
    }
    assert!(snapshot.contains("heading \"Slotted\" [level=2"), "{snapshot}");
    case.ok(&["click", &reference(&snapshot, "\"Deep\"")]);
    assert_eq!(case.ok(&["get", "text", "x-deep button"])["text"], "Deep clicked");
}

#[test]
fn fifty_thousand_elements() {
    let case = SHARED.case("many");
    case.show(
        "<body><script>document.body.innerHTML = Array.from({length: 25000}, (_, i) => `<div><a href='#${i}'>Link ${i}</a></div>`).join('')</script>",
    );
    assert!(case.eval("document.querySelectorAll('*').length").as_u64().unwrap() >= 50_000);
    let text = case.text(&["snapshot", "-i"]);
    assert_eq!(text.lines().count(), 25_000);
    assert!(text.lines().last().unwrap().starts_with("- link \"Link 24999\" ["));
    let data = case.ok(&["snapshot", "-i"]);
    assert_eq!(data["refs"].as_object().unwrap().len(), 25_000);
    case.ok(&["click", &reference(&text, "\"Link 24999\"")]);
    assert_eq!(case.eval("location.hash"), "#24999");
}

#[test]
fn json_has_text_refs_and_origin() {
    let case = SHARED.case("json");
    let url = case.show("<button>Say \"hi\"</button>");
    let data = case.ok(&["snapshot", "-i"]);
    let name = reference(data["snapshot"].as_str().unwrap(), "Say").replace('@', "");
    let want = serde_json::json!({
        "origin": url,
        "snapshot": format!("- button \"Say \\\"hi\\\"\" [ref={name}]\n"),
        "refs": { name: { "role": "button", "name": "Say \"hi\"" } },
    });
    assert_eq!(data, want);
    case.show("<p>Nothing to act on</p>");
    assert_eq!(case.text(&["snapshot", "-i"]), "(nothing to show)");
}
