//! The journal of a session: one line on disk for each thing that was done in it, so that it outlives the session and can
//! become a playbook.
//!
//! Nothing that must not leave is in it: secrets and what went into password fields are placeholders, and references,
//! which mean nothing later, are selectors.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use surehand_guard::redact;

use crate::Named;
use crate::hidden::Hidden;

/// See the module.
#[derive(Debug)]
pub struct Journal {
    folder: PathBuf,
    session: String,
    /// Opened with the first line: a session in which nothing is done leaves nothing.
    file: Mutex<Option<fs_err::File>>,
}

/// A line.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    /// Seconds since 1970.
    pub at: f64,
    /// The session.
    pub session: String,
    /// The verb or the tool.
    pub what: String,
    /// What it was called with.
    pub arguments: Value,
    /// `<iframe>` elements to go into before, from the page itself, if it did not go on where it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub frames: Option<Vec<String>>,
    /// Does it need a snapshot before, which opens closed shadow roots?
    #[serde(default, skip_serializing_if = "is_false")]
    pub snapshot: bool,
    /// Did it work?
    pub ok: bool,
    /// How long it took.
    pub ms: u64,
    /// What it told that may be of use later.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub seen: Map<String, Value>,
}

/// Something that was done.
#[derive(Debug)]
pub struct Done<'d> {
    /// The verb or the tool.
    pub what: &'d str,
    /// What it was called with.
    pub arguments: Value,
    /// What the references in those meant then.
    pub named: Named,
    /// Did it work?
    pub ok: bool,
    /// How long it took.
    pub took: Duration,
    /// What it returned.
    pub result: Option<&'d Value>,
}

/// Members of results that are kept: few, small, and of use for a playbook.
const KEPT: [&str; 8] = ["url", "title", "text", "navigated", "role", "name", "verdict", "status"];

/// Longer texts are not kept.
const LONGEST: usize = 500;

impl Journal {
    /// For a session, in a folder.
    pub fn new(folder: &Path, session: &str) -> Self {
        Self { folder: folder.to_owned(), session: session.to_owned(), file: Mutex::default() }
    }

    /// Notes something. A journal that cannot be written does not stop the work, but is told in the log.
    pub(crate) fn note(&self, done: Done<'_>, hidden: &mut Hidden) {
        // What failed may have been a secret that nobody recognised: only what worked is kept whole.
        let mut arguments = if done.ok { done.arguments } else { Value::Null };
        hidden.hide_keys(done.what, &mut arguments);
        hidden.learn(&arguments);
        let before = done.named.write(&mut arguments, |selector| hidden.is_in(selector));
        hidden.mask(&mut arguments);
        let mut seen = done.result.map(seen).unwrap_or_default();
        seen.values_mut().for_each(|value| hidden.mask(value));
        let entry = Entry {
            at: SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs_f64(),
            session: self.session.clone(),
            what: done.what.to_owned(),
            arguments: harmless(arguments),
            frames: before.frames,
            snapshot: before.snapshot,
            ok: done.ok,
            ms: u64::try_from(done.took.as_millis()).unwrap_or(u64::MAX),
            seen,
        };
        if let Err(error) = self.write(&entry) {
            tracing::warn!("the journal cannot be written: {error}");
        }
    }

    fn write(&self, entry: &Entry) -> std::io::Result<()> {
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        if file.is_none() {
            *file = Some(self.open()?);
        }
        let Some(file) = file.as_mut() else { return Ok(()) };
        let mut line = serde_json::to_vec(entry)?;
        line.push(b'\n');
        file.write_all(&line)
    }

    fn open(&self) -> std::io::Result<fs_err::File> {
        fs_err::create_dir_all(&self.folder)?;
        forget_old(&self.folder);
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_millis();
        let name = format!("{now}-{}-{}.jsonl", std::process::id(), plain(&self.session));
        let mut options = fs_err::OpenOptions::new();
        options.create(true).append(true);
        #[cfg(unix)]
        {
            use fs_err::os::unix::fs::OpenOptionsExt;
            options.mode(0o600);
        }
        let file = options.open(self.folder.join(name))?;
        // Held as long as the session lives: others know by it that this journal is not an old one.
        file.file().lock_shared()?;
        Ok(file)
    }
}

/// What is known of the last life of a session: its entries, oldest first.
pub fn read(folder: &Path, session: &str) -> std::io::Result<Vec<Entry>> {
    let ending = format!("-{}.jsonl", plain(session));
    let mut files = journals(folder)?;
    files.retain(|path| path.to_string_lossy().ends_with(&ending));
    // Names begin with the time; the last one counts, if it is of this session and not of one that is written alike.
    for path in files.iter().rev() {
        let text = fs_err::read_to_string(path)?;
        let entries: Vec<Entry> = text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
        if entries.first().is_some_and(|first| first.session == session) {
            return Ok(entries);
        }
    }
    Ok(Vec::new())
}

/// So many journals are kept.
const MOST: usize = 200;

fn forget_old(folder: &Path) {
    let files = journals(folder).unwrap_or_default();
    for old in files.iter().rev().skip(MOST).filter(|old| !is_held(old)) {
        // Somebody else may have done so already.
        let _ = fs_err::remove_file(old);
    }
}

/// Does a session still write it?
fn is_held(journal: &Path) -> bool {
    fs_err::File::open(journal).is_ok_and(|file| file.file().try_lock().is_err())
}

fn journals(folder: &Path) -> std::io::Result<Vec<PathBuf>> {
    if !folder.exists() {
        return Ok(Vec::new());
    }
    let mut files: Vec<PathBuf> = fs_err::read_dir(folder)?.flatten().map(|entry| entry.path()).collect();
    files.retain(|path| path.extension().is_some_and(|ending| ending == "jsonl"));
    files.sort();
    Ok(files)
}

/// A session's name as part of a file's.
fn plain(session: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    session.chars().take(60).map(|c| if is_plain(c) { c } else { '_' }).collect()
}

/// What is secret in addresses does not stay.
fn harmless(value: Value) -> Value {
    match value {
        Value::String(text) => Value::String(redact::mask_queries(&text).into_owned()),
        Value::Array(items) => items.into_iter().map(harmless).collect(),
        Value::Object(members) => {
            members.into_iter().map(|(name, value)| (name, harmless(value))).collect::<Map<_, _>>().into()
        }
        other => other,
    }
}

fn is_false(value: &bool) -> bool {
    !value
}

fn seen(result: &Value) -> Map<String, Value> {
    let is_small = |value: &Value| value.as_str().is_none_or(|text| text.len() <= LONGEST);
    let members = result.as_object().into_iter().flatten();
    let kept = members.filter(|(name, value)| KEPT.contains(&name.as_str()) && is_small(value));
    kept.map(|(name, value)| (name.clone(), without_query(name, value))).collect()
}

/// A form may send what was entered in the address that it leads to, in any spelling; where it led says enough.
fn without_query(name: &str, value: &Value) -> Value {
    match value.as_str().filter(|_| matches!(name, "url" | "navigated")) {
        Some(url) => url.split(['?', '#']).next().into(),
        None => value.clone(),
    }
}

pub(crate) fn rewrite(value: &mut Value, write: &dyn Fn(&str) -> String) {
    match value {
        Value::String(text) => *text = write(text),
        Value::Array(items) => items.iter_mut().for_each(|item| rewrite(item, write)),
        Value::Object(members) => {
            // Names of fields may be references, too.
            let taken = std::mem::take(members);
            for (name, mut value) in taken {
                rewrite(&mut value, write);
                members.insert(write(&name), value);
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use serde_json::json;
    use surehand_guard::Secrets;

    use super::*;

    fn note(journal: &Journal, arguments: Value, hidden: &mut Hidden) {
        let result = json!({ "role": "button", "navigated": "http://x/?token=abc", "snapshot": "long" });
        let took = Duration::from_millis(5);
        let named = Named::default();
        journal.note(Done { what: "click", arguments, named, ok: true, took, result: Some(&result) }, hidden);
    }

    #[test]
    fn the_journal_of_a_session_that_lives_is_not_old() {
        let folder = tempfile::tempdir().unwrap();
        let (living, mut hidden) = (Journal::new(folder.path(), "living"), Hidden::default());
        note(&living, json!({ "selector": "#go" }), &mut hidden);
        // Names begin with the time: these are later.
        let later = |number: usize| folder.path().join(format!("9{number:013}-1-x.jsonl"));
        (0..=MOST).for_each(|number| fs_err::write(later(number), "").unwrap());
        let dead = folder.path().join("0-1-dead.jsonl");
        fs_err::write(&dead, "").unwrap();
        forget_old(folder.path());
        assert!(!dead.exists() && !later(0).exists() && later(1).exists());
        assert_eq!(read(folder.path(), "living").unwrap().len(), 1);
        drop(living);
        forget_old(folder.path());
        assert_eq!(read(folder.path(), "living").unwrap(), []);
    }

    #[test]
    fn what_was_done_can_be_read_again() {
        let folder = tempfile::tempdir().unwrap();
        let journal = Journal::new(folder.path(), "my shop");
        let mut hidden = Hidden::default();
        hidden.entered("New password", "hunter2");
        note(&journal, json!({ "selector": "#go", "to": "http://ada:leak@x/" }), &mut hidden);
        note(&journal, json!({ "fields": { "New": "hunter2", "Api token": "xyz" } }), &mut hidden);
        let entries = read(folder.path(), "my shop").unwrap();
        assert_eq!(
            entries[0].arguments,
            json!({ "selector": "#go", "to": "http://ada:${SECRET:PASSWORD}@x/" })
        );
        assert_eq!(entries[1].arguments["fields"]["New"], "${SECRET:NEW_PASSWORD}");
        assert_eq!(entries[1].arguments["fields"]["Api token"], "${SECRET:API_TOKEN}");
        assert_eq!(entries[0].seen.get("role"), Some(&json!("button")));
        assert!(!entries[0].seen.contains_key("snapshot"));
        hidden.secrets(&Arc::new(Secrets::parse("KEY=s3cret-value").unwrap()));
        note(&journal, json!({ "script": "atob('czNjcmV0LXZhbHVl') + 's3cret-value'" }), &mut hidden);
        let entries = read(folder.path(), "my shop").unwrap();
        assert_eq!(entries[2].arguments["script"], "atob('${SECRET:KEY}') + '${SECRET:KEY}'");
        let text = serde_json::to_string(&entries).unwrap();
        assert!(!text.contains("hunter2") && !text.contains("token=abc"), "{text}");
        assert_eq!(read(folder.path(), "my-shop").unwrap(), []);
        assert_eq!(read(&folder.path().join("none"), "x").unwrap(), []);
    }

    #[cfg(unix)]
    #[test]
    fn only_its_owner_reads_it() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        note(&Journal::new(folder.path(), "a"), json!({}), &mut Hidden::default());
        let file = journals(folder.path()).unwrap().remove(0);
        assert_eq!(fs_err::metadata(file).unwrap().permissions().mode() & 0o777, 0o600);
    }
}
