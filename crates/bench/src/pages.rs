//! The pages that both sides look at.

use std::fmt::Write;

use anyhow::Result;
use surehand_testkit::Site;

/// Sizes of the list pages, in elements.
pub const LIST_SIZES: [usize; 3] = [400, 4_000, 20_000];

/// Starts a site with every page.
pub fn serve() -> Result<Site> {
    let mut site = Site::builder()
        .page("/small", SMALL)
        .page("/hands", HANDS)
        .page("/login", LOGIN)
        // Browsers ask for it with the first page; a 404 would only add noise.
        .file("/favicon.ico", "image/x-icon", "");
    for elements in LIST_SIZES {
        site = site.page(&list_path(elements), list(elements));
    }
    Ok(site.start()?)
}

/// Where the list page with that many elements is.
pub fn list_path(elements: usize) -> String {
    format!("/list-{elements}")
}

const SMALL: &str = "<!doctype html><html lang=en><title>Small page</title>\
    <h1>Small page</h1><p>Some text.</p><form><label>Email <input type=email></label><button>Send</button></form>";

/// Something to click, to fill, to read and to wait for. It counts and notes what happens to it.
const HANDS: &str = "<!doctype html><html lang=en><title>Hands</title>\
    <h1>Hands</h1><p id=text>Some text.</p><button id=go>Go</button> <input id=field><div id=place></div>\
    <script>\
    let clicks = 0, changed = 0;\
    document.getElementById('go').addEventListener('click', () => clicks++);\
    function showLater(delay) {\
        document.getElementById('place').textContent = '';\
        setTimeout(() => {\
            document.getElementById('place').innerHTML = '<b id=late>Late</b>';\
            changed = Date.now();\
        }, delay);\
    }\
    </script>";

/// A form behind a button, and a greeting behind the form.
const LOGIN: &str = "<!doctype html><html lang=en><title>Shop</title>\
    <h1>Shop</h1><button id=login-btn>Log in</button>\
    <form hidden><input id=username value=old> <input id=password type=password> <button id=submit>Go</button></form>\
    <script>\
    const form = document.querySelector('form');\
    document.getElementById('login-btn').addEventListener('click', () => form.hidden = false);\
    form.addEventListener('submit', (event) => {\
        event.preventDefault();\
        document.querySelector('h1').textContent = `Welcome, ${form.elements[0].value}`;\
    });\
    </script>";

/// Four elements an item: what a shop's result page is made of.
fn list(elements: usize) -> String {
    let mut html =
        format!("<!doctype html><html lang=en><title>List of {elements}</title><h1>List</h1><ul>\n");
    for i in 0..elements / 4 {
        let _ = writeln!(
            html,
            "<li><a href=\"#{i}\">Item {i}</a> <button id=b{i}>Buy {i}</button><p>Text of {i}</p></li>"
        );
    }
    html.push_str("</ul>");
    html
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_has_as_many_elements_as_it_says() {
        let html = list(400);
        let count = |tag: &str| html.matches(tag).count();
        assert_eq!(count("<li>") + count("<a ") + count("<button ") + count("<p>"), 400);
    }
}
