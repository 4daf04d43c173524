//! Forms whose fields have the names of properties: what a script reads of such a form is the field instead.

use serde_json::json;

use crate::table::{Row, check};

/// One row per name.
macro_rules! forms_with_a_field_called {
    ($($name:literal,)*) => {
        &[$(
            (
                concat!("a field called ", $name, " hides nothing of its form"),
                concat!(
                    "<form><input id=i name=", $name,
                    " aria-label=I><button id=b type=button onclick=note(1)>Go</button></form>",
                ),
                &[
                    "snapshot",
                    "click @{Go}",
                    "fill @{I} x",
                    "find role button click --name Go",
                    "find text Go click",
                    "wait form",
                    "get text form",
                ],
                "[seen.length, i.value]",
                || json!([3, "x"]),
            ),
        )*]
    };
}

pub const ROWS: &[Row] = forms_with_a_field_called![
    "parentNode",
    "assignedSlot",
    "getAttribute",
    "nodeType",
    "shadowRoot",
    "childNodes",
    "localName",
    "id",
    "children",
    "attributes",
    "ownerDocument",
    "isConnected",
    "getBoundingClientRect",
    "getRootNode",
    "closest",
    "matches",
    "parentElement",
    "firstElementChild",
    "nextElementSibling",
    "namespaceURI",
    "checkVisibility",
    "hasAttribute",
    "getAttributeNames",
    "tabIndex",
    "inert",
];

#[test]
fn clobbered() {
    check("clobbered", ROWS);
}
