//! The packs that look at a page: pictures, fields, Markdown.

use std::time::Duration;

use serde_json::json;
use surehand_testkit::{Response, Site};

use crate::fixture::{pages, quick, shared};
use crate::interact::png_size;

#[test]
fn a_picture_is_kept_and_fetched_at_a_signed_address() {
    let (service, site) = (shared(), pages(&[("/", "<div style='height:3000px'>tall</div>")]));
    for (input, height) in [
        (json!({ "url": site.url("/") }), 720),
        (json!({ "url": site.url("/"), "fullPage": true }), 3016),
        (json!({ "url": site.url("/"), "full_page": true }), 3016),
    ] {
        let output = service.pack("browser.screenshot_url", &input).ok();
        assert_eq!(output["url"], site.url("/"));
        let url = output["artifact_url"].as_str().unwrap();
        let path = url.strip_prefix(&format!("http://{}", service.host)).expect(url);
        // The address is all that is needed.
        let fetched = service.ask("GET", path, &[], b"");
        assert_eq!(
            (fetched.status, fetched.header("content-type")),
            (200, Some("image/png")),
            "{}",
            fetched.text()
        );
        assert_eq!(fetched.body.len(), output["size"].as_u64().unwrap() as usize);
        let (width, tall) = png_size(&fetched.body);
        assert!(width <= 1280 && tall == height, "{width} × {tall}");
    }
    let output = service.pack("browser.screenshot_url", &json!({ "url": site.url("/") })).ok();
    let key = output["artifact_key"].as_str().unwrap();
    let url = output["artifact_url"].as_str().unwrap();
    let query = url.split_once('?').unwrap().1;
    let (expires, signature) = query.split_once('&').unwrap();
    let later: u64 = expires.strip_prefix("expires=").unwrap().parse::<u64>().unwrap() + 1;
    let address = |key: &str, query: &str| format!("/api/v1/artifacts/{key}?{query}");
    for tampered in [
        address(key, &format!("expires={later}&{signature}")),
        address(key, &format!("{expires}&signature=AAAA")),
        address(key, &format!("expires=1&{signature}")),
        address("other.png", query),
        address(".key", query),
        address("..%2Fsurehand.db", query),
        address("%2e%2e%2fsurehand.db", query),
    ] {
        let refused = service.ask("GET", &tampered, &[], b"");
        refused.must_be(403, "invalid_signature");
    }
    for nonsense in
        [address(key, ""), address(key, &format!("expires=soon&{signature}")), address(key, expires)]
    {
        service.ask("GET", &nonsense, &[], b"").must_be(400, "invalid_input");
    }
    // For their owner alone.
    use std::os::unix::fs::PermissionsExt;
    let file = service.cli.home().path().join("artifacts").join(key);
    assert_eq!(fs_err::metadata(&file).unwrap().permissions().mode() & 0o077, 0);
    // One that was tidied away was there once.
    fs_err::remove_file(&file).unwrap();
    service.ask("GET", &address(key, query), &[], b"").must_be(404, "not_found");
}

#[test]
fn fields_of_a_page_that_scripts_draw() {
    let (service, site) = (
        shared(),
        pages(&[(
            "/",
            "<div id=app></div><script>setTimeout(() => app.innerHTML =
             '<h1>Blue <b>mug</b></h1><p class=price>9 €</p><ul><li>one<li>two</ul>', 200)</script>",
        )]),
    );
    let fields = json!({
        "name": { "selector": "h1" }, "price": { "selector": ".price", "format": "text" },
        "list": { "selector": "ul", "format": "html" },
    });
    let output = service.pack("web.scrape_spa", &json!({ "url": site.url("/"), "fields": fields })).ok();
    assert_eq!(output["data"]["name"], "Blue mug");
    assert_eq!(output["data"]["price"], "9 €");
    assert!(output["data"]["list"].as_str().unwrap().starts_with("<li>one"), "{output}");
    assert_eq!((&output["missing"], &output["url"]), (&json!([]), &json!(site.url("/"))));
    // What is not there is named; nothing at all is a failure.
    let some = json!({ "a": { "selector": "h1" }, "b": { "selector": "#none" } });
    let output = quick().pack("web.scrape_spa", &json!({ "url": site.url("/"), "fields": some })).ok();
    assert_eq!((&output["data"], &output["missing"]), (&json!({ "a": "Blue mug" }), &json!(["b"])));
    let none = json!({ "b": { "selector": "#none" } });
    let failed =
        quick().pack("web.scrape_spa", &json!({ "url": site.url("/"), "fields": none, "wait_ms": 50 }));
    failed.must_be(502, "handler_failed");
    let wrong = json!({ "b": { "selector": "p[" } });
    quick()
        .pack("web.scrape_spa", &json!({ "url": site.url("/"), "fields": wrong }))
        .must_be(400, "invalid_input");
}

const ARTICLE: &str = "<title>The mug</title>
<nav><a href=/>Home</a></nav>
<main><h1>The <em>blue</em> mug</h1><h2>Why</h2>
<p>It is <strong>good</strong>, see <a href=/more>more</a>.</p>
<ul><li>one<li>two<ol><li>inner</ol></ul>
<table><tr><th>Size<th>Price<tr><td>S<td>9 | 10</table>
<pre><code>let x = `1`;\n  y</code></pre><p>Use <code>x</code>.</p>
<img src=/mug.png alt='A mug'><blockquote>quoted</blockquote>
<p hidden>invisible one</p><p style='display:none'>invisible two</p>
<script>document.querySelector('main').insertAdjacentHTML('beforeend', '<p>drawn by a script</p>')</script>
<style>p { color: red }</style><noscript>no script</noscript><template>template</template></main>";

#[test]
fn a_page_is_read_as_clean_markdown() {
    let (service, site) = (shared(), pages(&[("/", ARTICLE), ("/empty", "")]));
    let output = service.pack("web.scrape", &json!({ "url": site.url("/") })).ok();
    assert_eq!((&output["title"], &output["final_url"]), (&json!("The mug"), &json!(site.url("/"))));
    assert!(output.get("html").is_none() && output.get("text").is_none(), "{output}");
    let markdown = output["markdown"].as_str().unwrap();
    let more = format!("see [more]({})", site.url("/more"));
    for part in [
        "# The *blue* mug",
        "## Why",
        "It is **good**",
        &more,
        "- one",
        "- two",
        "1. inner",
        "| Size | Price |",
        "| S | 9 \\| 10 |",
        "```\nlet x = `1`;\n  y\n```",
        "Use `x`.",
        "A mug",
        "> quoted",
        "drawn by a script",
    ] {
        assert!(markdown.contains(part), "{part:?} is not in:\n{markdown}");
    }
    for part in ["invisible", "insertAdjacentHTML", "color: red", "no script", "template"] {
        assert!(!markdown.contains(part), "{part:?} is in:\n{markdown}");
    }
    let all = json!({ "url": site.url("/"), "formats": ["text", "html", "markdown"], "wait_ms": 10 });
    let output = service.pack("web.scrape", &all).ok();
    assert!(output["html"].as_str().unwrap().contains("<h2>Why</h2>"), "{output}");
    assert!(
        output["text"].as_str().unwrap().contains("Why")
            && !output["text"].as_str().unwrap().contains("<h2>")
    );
    assert_eq!(service.pack("web.scrape", &json!({ "url": site.url("/empty") })).ok()["markdown"], "");
}

#[test]
fn where_a_page_was_in_the_end_is_told() {
    let service = shared();
    let site = Site::builder()
        .redirect("/old", "/new")
        .page("/new", "<title>New</title><p>here</p>")
        .fixed("/gone", Response::html("<h1>Gone</h1>").status(410))
        .slow("/slow", Duration::from_millis(300), "<p>late</p>")
        .start()
        .unwrap();
    let output = service.pack("web.scrape", &json!({ "url": site.url("/old") })).ok();
    assert_eq!((&output["url"], &output["final_url"]), (&json!(site.url("/old")), &json!(site.url("/new"))));
    // A page that says that it is gone is a page, too.
    assert_eq!(service.pack("web.scrape", &json!({ "url": site.url("/gone") })).ok()["markdown"], "# Gone");
    assert_eq!(service.pack("web.scrape", &json!({ "url": site.url("/slow") })).ok()["markdown"], "late");
}
