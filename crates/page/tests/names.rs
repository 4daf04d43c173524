//! Roles and names: our own computation, the browser's, and its accessibility tree must agree.
#![cfg(unix)]
#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use std::collections::BTreeSet;

use common::{Browser, deadline};
use surehand_cdp::protocol::accessibility as cdp;
use surehand_page::{NameSource, Page, SnapshotOptions};

/// Controls and content that are named in as many ways as HTML knows.
const PAGE: &str = r##"
<h1>Top <b>heading</b></h1><h2 aria-label="Second">ignored</h2>
<nav aria-label="Main"><a href="#a">Link <i>one</i></a> <a href="#b"><img alt="Shop" src="data:,"></a></nav>
<form aria-label="Order">
<label for="street">Street</label><input id="street"><label>Town <input></label>
<span id="n1">Invoice</span> <span id="n2">amount</span><input aria-labelledby="n1 n2">
<input placeholder="Search stock"><input type="search" aria-label="Find"><input title="Titled">
<input type="checkbox" aria-label="Sold" checked><label><input type="radio" name="r"> Express</label>
<input type="range" aria-label="Volume"><input type="number" aria-label="Count">
<input type="submit" value="Send it"><input type="reset"><input type="button" value="Plain">
<button aria-label="Close window">×</button><button title="Undo last"></button><button>Save <b>all</b></button>
<select aria-label="Size"><option>Small</option><option selected>Large</option></select>
<textarea aria-label="Notes"></textarea>
<fieldset><legend>Address</legend><input aria-label="Zip"></fieldset>
</form>
<table><caption>Stock</caption><tr><th>Part</th><th scope="col">Price</th></tr><tr><td>Nut</td><td>3</td></tr></table>
<ul><li>Bolts</li></ul><details><summary>More</summary><p>hidden text</p></details>
<div role="button" tabindex="0">Div button</div><div role="switch" aria-checked="true" aria-label="Wifi" tabindex="0"></div>
<div role="tablist"><div role="tab" aria-selected="true" tabindex="0">First tab</div></div>
<svg role="img" aria-label="Chart" width="10" height="10"></svg>
<main><section aria-label="Part"><p>text</p></section></main>
<div contenteditable="true" role="textbox" aria-label="Editor">draft</div>
"##;

#[tokio::test]
async fn own_names_browser_names_and_the_accessibility_tree_agree() {
    let browser = Browser::start().await;
    let page = browser.page(PAGE).await;
    let own = named(&page, NameSource::Own).await;
    let from_browser = named(&page, NameSource::Browser).await;
    assert!(own.len() > 25, "{own:?}");
    assert_eq!(own, from_browser);
    let tree = accessibility_tree(&page).await;
    let missing: Vec<_> = own.iter().filter(|node| !tree.contains(*node)).collect();
    assert!(missing.is_empty(), "not in the accessibility tree: {missing:?}\nwhich has {tree:?}");
    browser.end().await;
}

/// What can be acted on, with role and name.
async fn named(page: &Page, names: NameSource) -> BTreeSet<(String, String)> {
    let options = SnapshotOptions { interactive: true, names, ..Default::default() };
    let snapshot = page.snapshot(&options, &deadline()).await.unwrap();
    let mut found = BTreeSet::new();
    snapshot.walk(|node| {
        // A row is named by its cells for us, so that rows can be told apart; the tree does without.
        if node.handle.is_some() && !node.name.is_empty() && node.role != "row" {
            found.insert((node.role.to_owned(), node.name.to_owned()));
        }
    });
    found
}

async fn accessibility_tree(page: &Page) -> BTreeSet<(String, String)> {
    let tree = page.session().call(&cdp::GetFullAxTree::default()).await.unwrap();
    let text = |value: Option<cdp::AxValue>| {
        let raw = value.and_then(|value| value.value).map(|raw| raw.get().to_owned()).unwrap_or_default();
        serde_json::from_str::<String>(&raw).unwrap_or_default()
    };
    tree.nodes.into_iter().map(|node| (spelled(&text(node.role)), text(node.name))).collect()
}

/// The tree has names of its own for some roles.
fn spelled(role: &str) -> String {
    match role {
        "image" => "img",
        "DisclosureTriangle" => "button",
        other => other,
    }
    .to_owned()
}
