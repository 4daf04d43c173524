//! What is known of each client: where it keeps its servers, and how an entry looks.

use std::path::{Path, PathBuf};

use clap::ValueEnum;
use serde_json::Value;

use super::json_text::Node;

/// How our entry is called.
pub(super) const NAME: &str = "surehand";

/// A program that starts MCP servers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Client {
    /// Claude Code
    Claude,
    /// Cursor
    Cursor,
    /// Visual Studio Code
    Vscode,
    /// opencode
    Opencode,
    /// Codex
    Codex,
    /// Gemini CLI
    Gemini,
    /// Zed
    Zed,
}

/// The folders that files are looked for in.
#[derive(Debug, Clone)]
pub(super) struct Folders {
    pub home: PathBuf,
    /// `XDG_CONFIG_HOME`, else `~/.config`.
    pub config: PathBuf,
    /// Where programs with windows keep their settings on this system.
    pub applications: PathBuf,
    /// `CLAUDE_CONFIG_DIR` and `CODEX_HOME`, if set.
    pub claude: Option<PathBuf>,
    pub codex: Option<PathBuf>,
    /// The current one.
    pub project: PathBuf,
}

impl Client {
    /// As it is called on the command line.
    pub fn id(self) -> &'static str {
        match self {
            Client::Claude => "claude",
            Client::Cursor => "cursor",
            Client::Vscode => "vscode",
            Client::Opencode => "opencode",
            Client::Codex => "codex",
            Client::Gemini => "gemini",
            Client::Zed => "zed",
        }
    }

    /// As people call it.
    pub fn title(self) -> &'static str {
        match self {
            Client::Claude => "Claude Code",
            Client::Cursor => "Cursor",
            Client::Vscode => "Visual Studio Code",
            Client::Opencode => "opencode",
            Client::Codex => "Codex",
            Client::Gemini => "Gemini CLI",
            Client::Zed => "Zed",
        }
    }

    /// The file of the user, or of the project.
    pub fn file(self, folders: &Folders, project: bool) -> PathBuf {
        let Folders { home, config, applications, claude, codex, project: here } = folders;
        match (self, project) {
            (Client::Claude, false) => claude.as_ref().unwrap_or(home).join(".claude.json"),
            (Client::Claude, true) => here.join(".mcp.json"),
            (Client::Cursor, false) => home.join(".cursor/mcp.json"),
            (Client::Cursor, true) => here.join(".cursor/mcp.json"),
            (Client::Vscode, false) => applications.join("Code/User/mcp.json"),
            (Client::Vscode, true) => here.join(".vscode/mcp.json"),
            (Client::Opencode, false) => with_comments(config.join("opencode/opencode.json")),
            (Client::Opencode, true) => with_comments(here.join("opencode.json")),
            (Client::Codex, false) => {
                codex.clone().unwrap_or_else(|| home.join(".codex")).join("config.toml")
            }
            (Client::Codex, true) => here.join(".codex/config.toml"),
            (Client::Gemini, false) => home.join(".gemini/settings.json"),
            (Client::Gemini, true) => here.join(".gemini/settings.json"),
            (Client::Zed, false) if cfg!(windows) => applications.join("Zed/settings.json"),
            (Client::Zed, false) if cfg!(target_os = "macos") => home.join(".config/zed/settings.json"),
            (Client::Zed, false) => config.join("zed/settings.json"),
            (Client::Zed, true) => here.join(".zed/settings.json"),
        }
    }

    /// The way to our entry in a file that holds this already.
    pub fn way(self, present: &Value) -> Vec<&'static str> {
        match self {
            Client::Claude | Client::Cursor | Client::Gemini => vec!["mcpServers", NAME],
            Client::Vscode => vec!["servers", NAME],
            Client::Zed => vec!["context_servers", NAME],
            Client::Codex => vec!["mcp_servers", NAME],
            Client::Opencode if nests_servers(present) => vec!["mcp", "servers", NAME],
            Client::Opencode => vec!["mcp", NAME],
        }
    }

    /// The members of our entry that are ours to set.
    pub fn entry(self, program: &str, arguments: &[String], present: &Value) -> Vec<(String, Node)> {
        let command = || ("command".to_owned(), Node::of(&program.into()));
        let args = || ("args".to_owned(), Node::of(&arguments.into()));
        let text = |name: &str, text: &str| (name.to_owned(), Node::of(&text.into()));
        match self {
            Client::Claude | Client::Cursor | Client::Vscode => {
                vec![text("type", "stdio"), command(), args()]
            }
            Client::Gemini | Client::Codex => vec![command(), args()],
            Client::Zed => {
                let env = ("env".to_owned(), Node::Object(Vec::new()));
                vec![text("source", "custom"), command(), args(), env]
            }
            Client::Opencode => {
                let words: Vec<&str> =
                    std::iter::once(program).chain(arguments.iter().map(String::as_str)).collect();
                let command = ("command".to_owned(), Node::of(&words.into()));
                let mut entry = vec![text("type", "local"), command];
                if !nests_servers(present) {
                    entry.push(("enabled".to_owned(), Node::of(&true.into())));
                }
                entry
            }
        }
    }
}

/// opencode 2 has its servers one level deeper than opencode 1, and starts all that are not disabled.
fn nests_servers(present: &Value) -> bool {
    let servers = &present["mcp"]["servers"];
    servers.is_object() && !servers["type"].is_string()
}

/// opencode reads both; the one that is there is meant.
fn with_comments(path: PathBuf) -> PathBuf {
    let other = path.with_extension("jsonc");
    if Path::exists(&other) && !path.exists() { other } else { path }
}
