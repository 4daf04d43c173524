//! `${SECRET:NAME}` of tools, MCP and playbooks: from the file that was given, else from the vault.

use serde_json::json;
use surehand_testkit::Site;

use crate::common::{fails, fresh_cli, json as run_json, ok};
use crate::guarded::Mcp;
use crate::stored;

const VALUE: &str = "telling value/1";
const PAGE: &str = "<title>Form</title><label>Word <input id=w></label><label>Name <input id=n></label>
<p id=out></p><script>w.oninput = () => { out.textContent = 'you typed ' + w.value; document.title = w.value }</script>";

fn site() -> Site {
    Site::builder().page("/", PAGE).start().unwrap()
}

#[test]
fn tools_get_secrets_of_the_vault_and_never_tell_them() {
    let (cli, site) = (fresh_cli(), site());
    // `Word` alone is no such credential yet, and asking makes no vault.
    let fill = json!({ "fields": { "Word": "${SECRET:shop#password}" } }).to_string();
    ok(&cli, &["open", &site.url("/")]);
    fails(&cli, &["tool", "fill_form", &fill]).must_be("missing-secret", 2).must_say("vault set");
    assert!(!cli.home().path().join("surehand.db").exists());
    stored(
        &cli,
        &["shop", "--type", "login", "--field", "username=ada", "--secret", "password"],
        &format!("{VALUE}\n"),
    );
    let filled = ok(&cli, &["tool", "fill_form", &fill]);
    assert!(!filled.to_string().contains(VALUE), "{filled}");
    assert_eq!(ok(&cli, &["eval", "w.value.length"])["result"], VALUE.len());
    // A later call, which knows nothing of it, does not tell it either.
    for (tool, arguments) in
        [("read_page", json!({})), ("javascript_tool", json!({ "code": "return document.title" }))]
    {
        let told = ok(&cli, &["tool", tool, &arguments.to_string()]).to_string();
        assert!(!told.contains(VALUE) && told.contains("${SECRET:shop#password}"), "{told}");
    }
    let name = json!({ "fields": { "Name": "${SECRET:shop#username}" } }).to_string();
    ok(&cli, &["tool", "fill_form", &name]);
    assert_eq!(ok(&cli, &["get", "value", "#n"])["value"], "ada");
    // Where no secret belongs none is put.
    let misplaced = json!({ "url": "${SECRET:shop#password}" }).to_string();
    fails(&cli, &["tool", "navigate", &misplaced]).must_be("usage", 2).must_say("takes no secret");
    // A file goes first.
    let file = cli.home().work().join("secrets.env");
    fs_err::write(&file, "shop#password=from-the-file\n").unwrap();
    ok(&cli, &["tool", "fill_form", &fill, "--secrets", file.to_str().unwrap()]);
    assert_eq!(ok(&cli, &["get", "value", "#w"])["value"], "from-the-file");
    let usage = ok(&cli, &["vault", "usage", "shop"]);
    let rows = usage["usage"].as_array().unwrap();
    assert!(rows.len() == 2 && rows.iter().all(|row| row["subject"] == "local"), "{usage}");
}

#[test]
fn mcp_gets_secrets_of_the_vault_and_never_tells_them() {
    let (cli, site) = (fresh_cli(), site());
    stored(&cli, &["api"], &format!("{VALUE}\n"));
    for place in [&[][..], &["--session", "shared"]] {
        let mut mcp = Mcp::start(&cli, place);
        mcp.text("navigate", &json!({ "url": site.url("/") }));
        mcp.text("fill_form", &json!({ "fields": { "Word": "${SECRET:api}" } }));
        let seen = mcp.text("read_page", &json!({}));
        assert!(seen.contains("you typed ${SECRET:api}"), "{seen}");
        let length = mcp.text("javascript_tool", &json!({ "code": "return w.value.length" }));
        assert!(length.contains(&VALUE.len().to_string()), "{length}");
        let error = mcp.error("fill_form", &json!({ "fields": { "Word": "${SECRET:none}" } }));
        assert_eq!(error["code"], "missing-secret", "{error}");
        let all = mcp.end();
        assert!(!all.contains(VALUE) && !all.contains("telling"), "{all}");
    }
}

#[test]
fn playbooks_get_secrets_of_the_vault_and_never_tell_them() {
    let (cli, site) = (fresh_cli(), site());
    let file = cli.home().work().join("login.playbook.yaml");
    let text = format!(
        "name: Login\nsteps:\n  - navigate: {{ url: \"{}\" }}\n  - fill_form:\n      fields:\n        Word: ${{SECRET:shop.1#password}}\n        Name: ${{SECRET:shop.1#username}}\n  - read_page: {{}}\n",
        site.url("/")
    );
    fs_err::write(&file, text).unwrap();
    let path = file.to_str().unwrap();
    let before = run_json(&cli, &["playbook", "check", path]);
    assert!(
        !before.success() && before.value.to_string().contains("no secret has this name"),
        "{}",
        before.value
    );
    stored(
        &cli,
        &["shop.1", "--type", "login", "--field", "username=ada", "--secret", "password"],
        &format!("{VALUE}\n"),
    );
    ok(&cli, &["playbook", "check", path]);
    let html = cli.home().work().join("report");
    let out = cli.home().work().join("report.md");
    let arguments =
        ["playbook", "run", path, "--html", html.to_str().unwrap(), "--out", out.to_str().unwrap()];
    for more in [&[][..], &["--json"]] {
        let run = cli.run(&[&arguments[..], more].concat()).unwrap();
        assert!(run.ok(), "{run:?}");
        let all = format!(
            "{}{}{}{}",
            run.stdout,
            run.stderr,
            fs_err::read_to_string(&out).unwrap(),
            fs_err::read_to_string(html.join("index.html")).unwrap()
        );
        assert!(!all.contains(VALUE) && !all.contains("telling"), "{all}");
    }
}
