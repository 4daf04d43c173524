//! `mcp install`: each client's file, with everything else in it kept. No browser.
#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use surehand_testkit::{Cli, JsonRun, TempHome};

const BINARY: &str = env!("CARGO_BIN_EXE_surehand");
const CLIENTS: [&str; 7] = ["claude", "cursor", "vscode", "opencode", "codex", "gemini", "zed"];

/// A person with an empty home and a project.
struct Person {
    cli: Cli,
    home: PathBuf,
    project: PathBuf,
    _root: TempHome,
}

impl Person {
    fn new() -> Self {
        let root = TempHome::new().expect("a temporary folder");
        // A program's own path is told without links.
        let home = root.path().canonicalize().expect("the home").join("person");
        let project = root.work().canonicalize().expect("the work folder");
        fs_err::create_dir(&home).expect("a home");
        let cli = Cli::new(BINARY, &root).env("HOME", &home).directory(&project);
        let cli = ["XDG_CONFIG_HOME", "APPDATA", "CODEX_HOME", "CLAUDE_CONFIG_DIR"]
            .iter()
            .fold(cli, |cli, name| cli.env(*name, ""));
        Self { cli, home, project, _root: root }
    }

    fn run(&self, words: &str) -> JsonRun {
        let words: Vec<&str> = ["mcp", "install"].into_iter().chain(words.split(' ')).collect();
        self.cli.json(&words).expect("an answer")
    }

    fn install(&self, words: &str) -> (PathBuf, bool) {
        let run = self.run(words);
        assert!(run.success(), "{words}: {}", run.value);
        let path = run.data()["path"].as_str().expect("a path");
        (PathBuf::from(path), run.data()["changed"] == true)
    }

    fn put(&self, path: &str, text: &str) -> PathBuf {
        let path = self.home.join(path);
        fs_err::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        fs_err::write(&path, text).expect("a file");
        path
    }
}

fn text(path: &Path) -> String {
    fs_err::read_to_string(path).expect("a file")
}

fn parsed(path: &Path) -> Value {
    serde_json::from_str(&text(path)).expect("JSON")
}

fn program() -> String {
    Path::new(BINARY).canonicalize().expect("the program").display().to_string()
}

#[test]
fn each_client_gets_its_own_kind_of_entry() {
    let person = Person::new();
    let program = program();
    let stdio = json!({ "type": "stdio", "command": program, "args": ["mcp"] });
    let plain = json!({ "command": program, "args": ["mcp"] });
    let local = json!({ "type": "local", "command": [program, "mcp"], "enabled": true });
    let custom = json!({ "source": "custom", "command": program, "args": ["mcp"], "env": {} });
    let cases = [
        ("claude", ".claude.json", json!({ "mcpServers": { "surehand": stdio } })),
        ("cursor", ".cursor/mcp.json", json!({ "mcpServers": { "surehand": stdio } })),
        ("gemini", ".gemini/settings.json", json!({ "mcpServers": { "surehand": plain } })),
        ("opencode", ".config/opencode/opencode.json", json!({ "mcp": { "surehand": local } })),
        #[cfg(target_os = "linux")]
        ("vscode", ".config/Code/User/mcp.json", json!({ "servers": { "surehand": stdio } })),
        #[cfg(unix)]
        ("zed", ".config/zed/settings.json", json!({ "context_servers": { "surehand": custom } })),
    ];
    for (client, file, wanted) in cases {
        let (path, changed) = person.install(client);
        assert_eq!((path.as_path(), changed), (person.home.join(file).as_path(), true));
        assert_eq!(parsed(&path), wanted, "{client}");
    }
    let (path, _) = person.install("codex");
    assert_eq!(path, person.home.join(".codex/config.toml"));
    assert_eq!(
        text(&path),
        format!("[mcp_servers.surehand]\ncommand = {}\nargs = [\"mcp\"]\n", Value::from(program))
    );
}

#[test]
fn a_project_has_files_of_its_own() {
    let person = Person::new();
    for (client, file) in [
        ("claude", ".mcp.json"),
        ("cursor", ".cursor/mcp.json"),
        ("vscode", ".vscode/mcp.json"),
        ("opencode", "opencode.json"),
        ("codex", ".codex/config.toml"),
        ("gemini", ".gemini/settings.json"),
        ("zed", ".zed/settings.json"),
    ] {
        let (path, _) = person.install(&format!("{client} --project --toolsets page,direct"));
        assert_eq!(path, person.project.join(file));
        assert!(text(&path).contains("\"--toolsets\", \"page,direct\""), "{}", text(&path));
    }
    assert_eq!(person.home.read_dir().expect("the home").count(), 0, "nothing went into the home");
}

#[test]
fn options_go_into_the_entry() {
    let person = Person::new();
    fs_err::write(person.project.join("secrets.env"), "PW=hunter2\n").expect("a file");
    let args = |words: &str| parsed(&person.install(words).0)["mcpServers"]["surehand"]["args"].clone();
    assert_eq!(
        args("claude --session shop --headed --timeout 99"),
        json!(["mcp", "--headed", "--session", "shop", "--timeout", "99"])
    );
    let all = args(
        "claude --profile me --executable-path bin/chrome --args --foo --proxy http://127.0.0.1:1 --user-agent me \
         --ignore-https-errors=false --idle-timeout 0 --secrets secrets.env --toolsets page",
    );
    let here = |path: &str| person.project.join(path).display().to_string();
    assert_eq!(
        all,
        json!([
            "mcp",
            "--toolsets",
            "page",
            "--secrets",
            here("secrets.env"),
            "--args=--foo",
            "--executable-path",
            here("bin/chrome"),
            "--idle-timeout",
            "0",
            "--ignore-https-errors=false",
            "--profile",
            here("me"),
            "--proxy",
            "http://127.0.0.1:1",
            "--user-agent",
            "me",
        ])
    );
    // What the server would refuse is not written.
    let before = text(&person.home.join(".claude.json"));
    for (words, code) in [
        ("claude --session a/b", "usage"),
        ("claude --secrets none.env", "missing-file"),
        ("claude --http 127.0.0.1:1", "usage"),
    ] {
        assert_eq!(person.run(words).error_code(), code, "{words}");
    }
    assert_eq!(text(&person.home.join(".claude.json")), before);
}

#[test]
fn a_second_time_changes_nothing_and_says_so() {
    let person = Person::new();
    for client in CLIENTS {
        let (path, _) = person.install(client);
        let before = (text(&path), path.metadata().unwrap().modified().unwrap());
        assert_eq!(person.install(client), (path.clone(), false), "{client}");
        assert_eq!((text(&path), path.metadata().unwrap().modified().unwrap()), before, "{client}");
        let said = person.cli.run(&["mcp", "install", client]).expect("an answer");
        assert!(said.stdout.starts_with("nothing to change"), "{}", said.stdout);
    }
}

#[test]
fn what_is_there_stays_to_the_letter() {
    let person = Person::new();
    let before = "{\n    \"zeta\": [1,  2],\n    \"mcpServers\": {\n        \"other\": { \"command\": \"x\", \"args\": [] }\n    },\n    \"alpha\": \"\\u00e9\"\n}";
    let path = person.put(".claude.json", before);
    assert!(person.install("claude").1);
    let entry = format!(
        ",\n        \"surehand\": {{\n            \"type\": \"stdio\",\n            \"command\": {},\n            \"args\": [\"mcp\"]\n        }}",
        Value::from(program())
    );
    assert_eq!(text(&path), before.replace("\"args\": [] }", &format!("\"args\": [] }}{entry}")));

    let before = "# mine\nmodel = \"x\" # good\n\n[mcp_servers.other]\ncommand = \"y\"\n\n[tui]\n# last\n";
    let path = person.put(".codex/config.toml", before);
    assert!(person.install("codex").1);
    let after = text(&path);
    for line in before.lines() {
        assert!(after.contains(line), "{line} is gone: {after}");
    }
    assert!(after.contains("[mcp_servers.surehand]\n"), "{after}");
}

#[test]
fn another_entry_of_the_name_is_replaced_and_told() {
    let person = Person::new();
    let path = person.put(
        ".cursor/mcp.json",
        r#"{"mcpServers":{"surehand":{"url":"http://h","command":"old","env":{"A":"1"}},"b":{}}}"#,
    );
    let said = person.cli.run(&["mcp", "install", "cursor"]).expect("an answer");
    assert!(said.stdout.starts_with("replaced another entry"), "{}", said.stdout);
    let entry = json!({ "type": "stdio", "command": program(), "args": ["mcp"], "env": { "A": "1" } });
    assert_eq!(parsed(&path), json!({ "mcpServers": { "surehand": entry, "b": {} } }));
    assert!(!person.install("cursor").1);

    let path = person.put(
        ".codex/config.toml",
        "[mcp_servers.surehand]\ncommand = \"old\" \n# patience\nstartup_timeout_sec = 20\n",
    );
    assert!(person.install("codex").1);
    let after = text(&path);
    assert!(after.contains("# patience\nstartup_timeout_sec = 20\n") && !after.contains("old"), "{after}");
    assert!(!person.install("codex").1);
}

#[test]
fn a_file_with_comments_is_left_alone_and_the_snippet_is_printed() {
    let person = Person::new();
    for (client, file, before) in [
        ("zed", ".config/zed/settings.json", "{\n  // my theme\n  \"theme\": \"One\",\n}\n"),
        ("claude", ".claude.json", "{\"a\": "),
        ("gemini", ".gemini/settings.json", "{\"mcpServers\": []}"),
        ("codex", ".codex/config.toml", "a = = b"),
    ] {
        let path = person.put(file, before);
        let run = person.run(client);
        assert_eq!((run.error_code(), run.code), ("bad-file", Some(2)), "{}", run.value);
        assert_eq!(run.data()["changed"], false);
        assert!(run.data()["snippet"].as_str().unwrap().contains("surehand"));
        let said = person.cli.run(&["mcp", "install", client]).expect("an answer");
        assert!(said.stdout.contains(file) && said.stdout.contains(&program()), "{}", said.stdout);
        assert_eq!(text(&path), before, "{client}");
    }
}

#[test]
fn print_changes_nothing() {
    let person = Person::new();
    for client in CLIENTS {
        let run = person.run(&format!("{client} --print"));
        assert_eq!((run.success(), &run.data()["changed"]), (true, &json!(false)));
        let said = person.cli.run(&["mcp", "install", client, "--print"]).expect("an answer");
        assert_eq!(said.stdout, run.data()["snippet"].as_str().unwrap());
    }
    assert_eq!(person.home.read_dir().expect("the home").count(), 0);
}

#[test]
fn a_file_that_cannot_be_written_is_told() {
    let person = Person::new();
    fs_err::write(person.home.join(".cursor"), "a file").expect("a file");
    let run = person.run("cursor");
    assert_eq!((run.error_code(), run.code), ("unwritable-path", Some(3)), "{}", run.value);
    let message = run.value["error"]["message"].as_str().unwrap();
    assert!(message.contains(".cursor/mcp.json"), "{message}");
    // A folder in the place of the file.
    fs_err::create_dir_all(person.home.join(".gemini/settings.json")).expect("a folder");
    assert_eq!(person.run("gemini").error_code(), "unwritable-path");
}

#[test]
fn the_folders_that_the_environment_names_are_used() {
    let person = Person::new();
    let elsewhere = person.home.join("elsewhere");
    let cli = person.cli.env("XDG_CONFIG_HOME", &elsewhere).env("CODEX_HOME", &elsewhere);
    let path = |client: &str| {
        let run = cli.json(&["mcp", "install", client]).expect("an answer");
        PathBuf::from(run.data()["path"].as_str().expect("a path"))
    };
    assert_eq!(path("opencode"), elsewhere.join("opencode/opencode.json"));
    assert_eq!(path("codex"), elsewhere.join("config.toml"));
}

#[test]
fn opencode_2_and_its_other_file_are_known() {
    let person = Person::new();
    let path =
        person.put(".config/opencode/opencode.jsonc", r#"{"mcp": {"servers": {"a": {"type": "local"}}}}"#);
    assert_eq!(person.install("opencode"), (path.clone(), true));
    let entry = json!({ "type": "local", "command": [program(), "mcp"] });
    assert_eq!(parsed(&path)["mcp"]["servers"]["surehand"], entry);
}

#[cfg(unix)]
#[test]
fn links_and_rights_are_kept() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let person = Person::new();
    let real = person.put("dotfiles/claude.json", "{}");
    fs_err::set_permissions(&real, PermissionsExt::from_mode(0o640)).expect("rights");
    symlink(&real, person.home.join(".claude.json")).expect("a link");
    assert!(person.install("claude").1);
    assert!(person.home.join(".claude.json").is_symlink());
    assert_eq!(real.metadata().unwrap().permissions().mode() & 0o777, 0o640);
    assert!(parsed(&real)["mcpServers"]["surehand"].is_object());
    assert_eq!(real.parent().unwrap().read_dir().unwrap().count(), 1, "nothing is left beside it");
}

#[test]
fn a_wrong_client_or_set_is_a_usage_error() {
    let person = Person::new();
    assert_eq!(person.run("emacs").error_code(), "usage");
    assert_eq!(person.run("claude --toolsets nope").error_code(), "usage");
    let serving = person.cli.json(&["mcp", "--toolsets", "page", "install", "claude"]).expect("an answer");
    assert_eq!(serving.error_code(), "usage");
    assert_eq!(person.home.read_dir().expect("the home").count(), 0);
}
