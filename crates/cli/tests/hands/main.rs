//! The table of behaviours: a page, what is done, and what the page itself saw.
//!
//! A row serves its page, runs its command lines and compares an expression of the page with what is expected. How a
//! line is written is told at [`step::Step`]. Each family of behaviours is a module with its own rows and one test.
#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "../common/mod.rs"]
mod common;
mod step;
mod table;

mod arriving;
mod basics;
mod carrying;
mod clobbered;
mod dialogs;
mod editors;
mod fields;
mod finding;
mod frames;
mod keys;
mod leaving;
mod moving;
mod places;
mod single;
mod states;
mod trees;
mod turned;
mod typing;
mod views;

use std::time::Duration;

use common::Shared;
use surehand_testkit::{Response, SiteBuilder};
use table::Row;

static SHARED: Shared = Shared::new(site);

/// Every family, for what must hold across all of them.
const FAMILIES: &[&[Row]] = &[
    arriving::ROWS,
    basics::ROWS,
    carrying::ROWS,
    clobbered::ROWS,
    dialogs::ROWS,
    editors::ROWS,
    fields::ROWS,
    finding::ROWS,
    frames::ROWS,
    keys::ROWS,
    leaving::ROWS,
    moving::ROWS,
    places::ROWS,
    states::ROWS,
    trees::ROWS,
    turned::ROWS,
    views::ROWS,
    typing::ROWS,
];

/// What frames and links of the rows lead to.
fn site(site: SiteBuilder) -> SiteBuilder {
    let tell = "<script>const tell=x=>top.postMessage(x,'*')</script>";
    site.attachment("/report", "report.txt", "payload\n")
        .page("/counter", "<title>C</title><button id=inc onclick='n.value++'>Count up</button><output id=n>0</output>")
        .page("/next", "<title>Next</title><h1>Next</h1>")
        .page("/frame", format!("{tell}<title>F</title><button id=in onclick=\"tell('in')\">In</button><input id=txt oninput=tell(value)><div id=drop style='height:40px;background:#ddd' ondragover='event.preventDefault()' ondrop=\"tell(event.dataTransfer.getData('text'))\">Drop</div>"))
        .page("/long-frame", format!("{tell}<div style='height:1500px'></div><button id=deep onclick=\"tell('deep')\">Deep</button>"))
        .page("/file-frame", format!("{tell}<input type=file id=file onchange=tell(files[0].name)>"))
        .page("/chooser-frame", format!("{tell}<button id=b onclick=f.click()>Pick</button><input type=file id=f hidden onchange=tell(files[0].name)>"))
        .page("/p-close", "<button id=close onclick=window.close()>Close</button>")
        .page("/nest", "<iframe id=inner src={{cross}}/frame></iframe>")
        .page("/popup", "<title>Popup</title><h1>Popup</h1>")
        .page("/editor-frame", "<body id=t contenteditable><p>ce</p></body>")
        .page("/editor-frame-2", "<body id=v contenteditable><p>ce</p></body>")
        .page("/asks", "<script>var answer=confirm('c?')</script><p>q")
        .page("/asks-late", "<p>q<script>setTimeout(()=>{answer=confirm('late?')},600)</script><img src=/hangs>")
        .page("/says", "<title>Says</title><script>alert('one');onload=()=>alert('two')</script>")
        .page("/self-closing", "<script>opener.note('was there');close()</script>")
        .redirect("/moved", "/next")
        .slow("/slower", Duration::from_secs(3), "<title>Slower</title>")
        .slow("/slow", Duration::from_millis(400), "<title>Slow</title><h1>Slow</h1>")
        .slow("/late", Duration::from_millis(1200), "late")
        .fixed("/begun", Response::text("begun").never_ending())
        .fixed("/hangs", Response::silence())
        .fixed("/nothing", Response::text("").status(204))
        .fixed("/broken", Response::attachment("b.bin", "some").broken_off())
        .route("/echo", |request| {
            let body = String::from_utf8_lossy(&request.body).into_owned();
            Response::html(format!("<title>Echo</title><pre id=said>{} {} {body}</pre>", request.method, request.query))
        })
}

#[test]
fn every_row_has_its_own_name() {
    let mut names: Vec<&str> = FAMILIES.iter().flat_map(|rows| rows.iter().map(|row| row.0)).collect();
    let count = names.len();
    names.sort_unstable();
    for pair in names.windows(2) {
        assert_ne!(pair[0], pair[1], "two rows have this name");
    }
    assert!(count >= 500, "the table has only {count} rows");
}
