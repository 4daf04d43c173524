//! Configuration in layers: the user's `surehand.toml`, the project's, the environment, the flags; later ones win.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use clap::Args;
use serde::{Deserialize, Serialize};
use surehand_guard::egress::{EgressPolicy, Otherwise};
use surehand_session::{Egress, Fault, Kind, SessionOptions};
use surehand_verbs::{Settings, split_words};
use toml::{Table, Value};

/// A week: nobody means to wait longer.
const LONGEST_MS: u64 = 7 * 24 * 3600 * 1000;

/// Flags of every command. Each is also a key of `surehand.toml` and, as `SUREHAND_…`, a variable of the environment.
#[derive(Debug, Clone, Default, Args, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", default)]
#[command(next_help_heading = "Options for every command")]
pub(crate) struct Flags {
    /// The session to use; each has its own tabs, cookies and storage [default: default]
    #[arg(long, global = true, value_name = "NAME")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// Print one JSON object {success, data, error} instead of text
    #[arg(long, global = true)]
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub json: bool,
    /// How long to wait, in milliseconds [default: 5000, for navigation 30000]
    #[arg(long, global = true, value_name = "MS", allow_negative_numbers = true, value_parser = clap::value_parser!(u64).range(0..=LONGEST_MS))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeout: Option<u64>,
    /// Show the browser's window
    #[arg(long, global = true, num_args = 0..=1, default_missing_value = "true", require_equals = true, value_name = "BOOL")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub headed: Option<bool>,
    /// A profile directory that is kept
    #[arg(long, global = true, value_name = "DIR")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub profile: Option<PathBuf>,
    /// The browser to start
    #[arg(long, global = true, value_name = "PATH")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub executable_path: Option<PathBuf>,
    /// More arguments for the browser, in one word
    #[arg(long, global = true, value_name = "ARGS", allow_hyphen_values = true, value_parser = parse_words)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub args: Option<Words>,
    /// A proxy for all traffic, e.g. http://127.0.0.1:3128
    #[arg(long, global = true, value_name = "URL")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub proxy: Option<String>,
    /// Another user agent
    #[arg(long, global = true, value_name = "TEXT")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub user_agent: Option<String>,
    /// Accept certificates that nobody vouches for
    #[arg(long, global = true, num_args = 0..=1, default_missing_value = "true", require_equals = true, value_name = "BOOL")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ignore_https_errors: Option<bool>,
    /// Let pages reach public addresses only; `surehand serve` does so unless told --egress=false
    #[arg(long, global = true, num_args = 0..=1, default_missing_value = "true", require_equals = true, value_name = "BOOL")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub egress: Option<bool>,
    /// Let pages reach this, too: HOST, *.SUFFIX, ADDRESS or CIDR, with or without :PORT; several with commas
    #[arg(long, global = true, value_name = "RULES", value_delimiter = ',')]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub egress_allow: Vec<String>,
    /// Never let pages reach this; goes before what is allowed
    #[arg(long, global = true, value_name = "RULES", value_delimiter = ',')]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub egress_deny: Vec<String>,
    /// Let pages reach nothing but what is allowed
    #[arg(long, global = true, num_args = 0..=1, default_missing_value = "true", require_equals = true, value_name = "BOOL")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub egress_only: Option<bool>,
    /// Close the session after this long without a command, in milliseconds; 0 for never [default: 1800000]
    #[arg(long, global = true, value_name = "MS", allow_negative_numbers = true, value_parser = clap::value_parser!(u64).range(0..=LONGEST_MS))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub idle_timeout: Option<u64>,
}

/// Words of a command line in one argument.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct Words(Vec<String>);

fn parse_words(text: &str) -> Result<Words, String> {
    split_words(text).map(Words).ok_or_else(|| "a quote is not closed".to_owned())
}

/// What a key holds.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Shape {
    Text,
    Number,
    Switch,
    Words,
}

/// Every key, and what it holds.
const KEYS: [(&str, Shape); 15] = [
    ("session", Shape::Text),
    ("json", Shape::Switch),
    ("timeout", Shape::Number),
    ("headed", Shape::Switch),
    ("profile", Shape::Text),
    ("executable-path", Shape::Text),
    ("args", Shape::Words),
    ("proxy", Shape::Text),
    ("user-agent", Shape::Text),
    ("ignore-https-errors", Shape::Switch),
    ("egress", Shape::Switch),
    ("egress-allow", Shape::Words),
    ("egress-deny", Shape::Words),
    ("egress-only", Shape::Switch),
    ("idle-timeout", Shape::Number),
];

/// A file that comes with somebody's code must not choose which program runs, what it may reach, through whom, whose
/// certificates it believes, nor with whose cookies.
const NOT_FROM_PROJECTS: [&str; 9] = [
    "executable-path",
    "args",
    "profile",
    "proxy",
    "ignore-https-errors",
    "egress",
    "egress-allow",
    "egress-deny",
    "egress-only",
];

/// Keys that hold paths.
const PATHS: [&str; 2] = ["profile", "executable-path"];

/// Where a value came from.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Source {
    File(PathBuf),
    Environment(String),
    Flag(String),
}

impl std::fmt::Display for Source {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Source::File(path) => write!(f, "{}", path.display()),
            Source::Environment(name) | Source::Flag(name) => f.write_str(name),
        }
    }
}

/// All layers, one over the other.
#[derive(Debug, Default)]
pub(crate) struct Effective {
    pub values: BTreeMap<String, (Value, Source)>,
}

/// Reads all layers.
pub(crate) fn effective(flags: &Flags) -> Result<Effective, Fault> {
    let mut all = Effective::default();
    for path in files() {
        all.add_file(&path)?;
    }
    all.add_environment()?;
    all.add_flags(flags)?;
    Ok(all)
}

/// The user's file and the project's, as far as they exist.
pub(crate) fn files() -> Vec<PathBuf> {
    user_file().into_iter().chain(project_file()).filter(|path| path.is_file()).collect()
}

/// Where the user's file is, or would be.
pub(crate) fn user_file() -> Option<PathBuf> {
    use etcetera::BaseStrategy;
    if let Some(home) = std::env::var_os("SUREHAND_HOME").filter(|home| !home.is_empty()) {
        return Some(Path::new(&home).join("surehand.toml"));
    }
    Some(etcetera::choose_base_strategy().ok()?.config_dir().join("surehand").join("surehand.toml"))
}

/// The nearest `surehand.toml` from the current directory upwards.
fn project_file() -> Option<PathBuf> {
    let here = std::env::current_dir().ok()?;
    let found = here.ancestors().map(|dir| dir.join("surehand.toml")).find(|path| path.is_file())?;
    (Some(&found) != user_file().as_ref()).then_some(found)
}

impl Effective {
    fn add_file(&mut self, path: &Path) -> Result<(), Fault> {
        let wrong = |why: String| {
            Fault::new(Kind::Usage, format!("{}: {why}", path.display()))
                .hint(format!("correct the file; the keys are {}", keys().collect::<Vec<_>>().join(", ")))
        };
        let text = fs_err::read_to_string(path).map_err(|error| wrong(error.to_string()))?;
        let table: Table = text.parse().map_err(|error: toml::de::Error| wrong(error.to_string()))?;
        let is_project = Some(path) != user_file().as_deref();
        for (key, value) in table {
            let Some((name, shape)) = KEYS.iter().find(|(name, _)| *name == key) else {
                return Err(wrong(format!("there is no key {key:?}{}", nearest(&key))));
            };
            if is_project && NOT_FROM_PROJECTS.contains(name) {
                return Err(wrong(format!(
                    "{key} may only stand in your own surehand.toml, not in a project's"
                )));
            }
            if !shape.fits(&value) {
                return Err(wrong(format!("{key} must be {}", shape.words())));
            }
            self.values.insert(key, (value, Source::File(path.to_owned())));
        }
        Ok(())
    }

    fn add_environment(&mut self) -> Result<(), Fault> {
        for (key, shape) in KEYS {
            let name = format!("SUREHAND_{}", key.replace('-', "_").to_uppercase());
            let Some(text) = std::env::var_os(&name).filter(|text| !text.is_empty()) else { continue };
            let text = text.into_string().map_err(|_| unusable(format!("{name} is not UTF-8")))?;
            let value = shape
                .read(&text)
                .ok_or_else(|| unusable(format!("{name}={text} must be {}", shape.words())))?;
            self.values.insert(key.to_owned(), (value, Source::Environment(name)));
        }
        Ok(())
    }

    fn add_flags(&mut self, flags: &Flags) -> Result<(), Fault> {
        let table = Table::try_from(flags).map_err(crate::internal)?;
        for (key, value) in table {
            let flag = format!("--{key}");
            self.values.insert(key, (value, Source::Flag(flag)));
        }
        Ok(())
    }

    /// Are results for programs?
    pub fn json(&self) -> bool {
        self.values.get("json").and_then(|(value, _)| value.as_bool()).unwrap_or(false)
    }

    /// The flags of this command line as another needs them, from wherever it is started: without `--json`, which is about
    /// this one's output, and with full paths.
    pub fn flag_words(&self) -> Result<Vec<String>, Fault> {
        let here = std::env::current_dir().map_err(crate::internal)?;
        let given = self
            .values
            .iter()
            .filter(|(key, (_, source))| matches!(source, Source::Flag(_)) && key.as_str() != "json");
        Ok(given.flat_map(|(key, (value, _))| words_of(key, value, &here)).collect())
    }

    /// Did anybody switch it off?
    pub fn is_false(&self, key: &str) -> bool {
        self.values.get(key).and_then(|(value, _)| value.as_bool()) == Some(false)
    }

    /// Was it given on this command line?
    pub fn is_flag(&self, key: &str) -> bool {
        self.values.get(key).is_some_and(|(_, source)| matches!(source, Source::Flag(_)))
    }

    /// Did anybody name a session?
    pub fn names_session(&self) -> bool {
        self.values.contains_key("session")
    }

    /// What the daemon needs to know.
    pub fn settings(&self) -> Result<Settings, Fault> {
        let table: Table = self.values.iter().map(|(key, (value, _))| (key.clone(), value.clone())).collect();
        let flags: Flags = table.try_into().map_err(crate::internal)?;
        let egress = egress_of(&flags)?;
        let cwd = std::env::current_dir().unwrap_or_else(|_| PathBuf::from("/"));
        let absolute = |path: PathBuf| cwd.join(path);
        Ok(Settings {
            without_files: false,
            session: session_name(flags.session.as_deref())?,
            options: SessionOptions {
                headed: flags.headed,
                profile: flags.profile.map(absolute),
                executable_path: flags.executable_path.map(absolute),
                args: flags.args.map(|words| words.0),
                proxy: flags.proxy,
                user_agent: flags.user_agent,
                ignore_https_errors: flags.ignore_https_errors,
                idle_timeout: flags.idle_timeout,
                egress,
                connect: None,
            },
            timeout: flags.timeout,
            cwd,
            json: flags.json,
        })
    }
}

/// A rule asks for the guard, too; nobody writes one to be without.
fn egress_of(flags: &Flags) -> Result<Option<Egress>, Fault> {
    let only = flags.egress_only == Some(true);
    let has_rules = only || !flags.egress_allow.is_empty() || !flags.egress_deny.is_empty();
    if flags.egress == Some(false) && has_rules {
        return Err(Fault::new(Kind::Usage, "--egress=false and rules for it exclude each other")
            .hint("leave one of them out; `surehand config` shows where each comes from"));
    }
    if !has_rules && flags.egress != Some(true) {
        return Ok(None);
    }
    // From a file or the environment they may come with commas, too.
    let rules = |texts: &[String]| -> Vec<String> {
        texts.iter().flat_map(|text| text.split(',')).map(|rule| rule.trim().to_owned()).collect()
    };
    let default = if only { Otherwise::Deny } else { Otherwise::Allow };
    let policy = EgressPolicy::parse(rules(&flags.egress_allow), rules(&flags.egress_deny), default)
        .map_err(|error| {
            Fault::new(Kind::Usage, error.to_string())
                .hint("rules are like example.com, *.example.com:443, 10.0.0.0/8, 127.0.0.1:8000, [::1]:8000")
        })?;
    Ok(Some(Egress { policy, max_bytes: None }))
}

fn words_of(key: &str, value: &Value, here: &Path) -> Vec<String> {
    let flag = format!("--{key}");
    let text = match value {
        Value::Boolean(true) => return vec![flag],
        Value::Boolean(false) => return vec![format!("{flag}=false")],
        Value::Array(words) => {
            let words: Vec<String> = words.iter().filter_map(Value::as_str).map(str::to_owned).collect();
            // Rules are told apart by commas, words by blanks.
            if key.starts_with("egress") { words.join(",") } else { surehand_verbs::join_words(&words) }
        }
        Value::String(path) if PATHS.contains(&key) => here.join(path).display().to_string(),
        Value::String(text) => text.clone(),
        Value::Integer(number) => number.to_string(),
        // No key holds anything else.
        _ => return Vec::new(),
    };
    // What looks like a flag must not become one.
    if text.starts_with('-') { vec![format!("{flag}={text}")] } else { vec![flag, text] }
}

fn unusable(why: String) -> Fault {
    Fault::new(Kind::Usage, why).hint("correct or unset it; `surehand config` shows all settings")
}

/// A session's name becomes part of file names later.
fn session_name(name: Option<&str>) -> Result<String, Fault> {
    let name = name.unwrap_or("default");
    let fine = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.' | '@');
    if name.is_empty() || name.len() > 100 || !name.chars().all(fine) {
        return Err(Fault::new(Kind::Usage, format!("{name:?} cannot be the name of a session"))
            .hint("use letters, digits, - _ . and @, at most 100"));
    }
    Ok(name.to_owned())
}

impl Shape {
    fn fits(self, value: &Value) -> bool {
        match self {
            Shape::Text => value.is_str(),
            Shape::Number => value.as_integer().is_some_and(is_sane),
            Shape::Switch => value.is_bool(),
            Shape::Words => value.as_array().is_some_and(|words| words.iter().all(Value::is_str)),
        }
    }

    fn read(self, text: &str) -> Option<Value> {
        match self {
            Shape::Text => Some(Value::String(text.to_owned())),
            Shape::Number => text.parse::<i64>().ok().filter(|number| is_sane(*number)).map(Value::Integer),
            Shape::Switch => match text.to_ascii_lowercase().as_str() {
                "1" | "true" | "yes" | "on" => Some(Value::Boolean(true)),
                "0" | "false" | "no" | "off" => Some(Value::Boolean(false)),
                _ => None,
            },
            Shape::Words => Some(Value::Array(split_words(text)?.into_iter().map(Value::String).collect())),
        }
    }

    fn words(self) -> &'static str {
        match self {
            Shape::Text => "a text",
            Shape::Number => "a whole number of milliseconds, at most a week",
            Shape::Switch => "true or false",
            Shape::Words => "a list of texts",
        }
    }
}

fn is_sane(number: i64) -> bool {
    u64::try_from(number).is_ok_and(|number| number <= LONGEST_MS)
}

fn nearest(key: &str) -> String {
    let likeness = |name: &str| strsim::jaro_winkler(name, key);
    let best = KEYS.iter().map(|(name, _)| *name).max_by(|a, b| likeness(a).total_cmp(&likeness(b)));
    best.filter(|name| likeness(name) > 0.7)
        .map(|name| format!("; did you mean {name:?}?"))
        .unwrap_or_default()
}

/// Every key there is.
pub(crate) fn keys() -> impl Iterator<Item = &'static str> {
    KEYS.iter().map(|(name, _)| *name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_flag_is_a_key() {
        let everything = Flags {
            session: Some("s".into()),
            json: true,
            timeout: Some(1),
            headed: Some(true),
            profile: Some("p".into()),
            executable_path: Some("e".into()),
            args: Some(Words(vec!["a".into()])),
            proxy: Some("x".into()),
            user_agent: Some("u".into()),
            ignore_https_errors: Some(true),
            egress: Some(true),
            egress_allow: vec!["a".into()],
            egress_deny: vec!["b".into()],
            egress_only: Some(true),
            idle_timeout: Some(1),
        };
        let table = Table::try_from(&everything).unwrap();
        let mut names: Vec<_> = table.keys().map(String::as_str).collect();
        let mut known: Vec<_> = keys().collect();
        names.sort_unstable();
        known.sort_unstable();
        assert_eq!(names, known);
        for (key, shape) in KEYS {
            assert!(shape.fits(&table[key]), "{key}");
        }
    }

    #[test]
    fn rules_stay_rules_on_another_command_line() {
        let flags = Flags { egress_allow: vec!["a.example".into(), "10.0.0.0/8".into()], ..Flags::default() };
        let all = effective(&flags).unwrap();
        assert_eq!(all.flag_words().unwrap(), ["--egress-allow", "a.example,10.0.0.0/8"]);
    }

    #[test]
    fn session_names_are_checked() {
        assert_eq!(session_name(None).unwrap(), "default");
        assert!(session_name(Some("a/b")).is_err());
        assert!(session_name(Some("")).is_err());
    }
}
