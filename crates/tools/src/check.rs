//! Do arguments fit a tool? Everything that does not, with its place, before anything runs.

use std::collections::BTreeSet;

use serde::de::DeserializeOwned;
use serde_json::{Map, Number, Value};
use surehand_session::{Fault, Kind};
use surehand_verbs::Flaw;

/// Something in the arguments of a tool that does not fit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Misfit {
    /// Where, as a JSON pointer; empty for the arguments as a whole.
    pub pointer: String,
    /// What is wrong, in a sentence without the place.
    pub message: String,
    /// Is it the name of a member that is wrong, and not its value?
    pub is_about_name: bool,
}

/// Names that are less alike than this are not mistaken for each other.
const ALIKE: f64 = 0.75;

/// Letters that changed places are one slip, also in a short name such as `ulr`.
fn likeness(known: &str, name: &str) -> f64 {
    let is_short = (3..=64).contains(&name.len());
    let is_slip = is_short && strsim::osa_distance(known, name) == 1;
    strsim::jaro(known, name).max(if is_slip { 0.9 } else { 0.0 })
}

impl Misfit {
    /// A member that means nothing here.
    pub(crate) fn unknown<'k>(name: &str, at: String, known: impl Iterator<Item = &'k str>) -> Self {
        let known: Vec<&str> = known.collect();
        let likeness = |known: &str| likeness(known, name);
        let nearest = known.iter().max_by(|a, b| likeness(a).total_cmp(&likeness(b)));
        let help = match nearest.filter(|known| likeness(known) > ALIKE) {
            Some(near) => format!("; did you mean `{near}`?"),
            None if known.is_empty() => String::new(),
            None => format!("; there are {}", known.join(", ")),
        };
        let message = format!("unknown argument `{}`{help}", cut(name));
        Self { pointer: cut(&at), message, is_about_name: true }
    }

    /// A member that would do nothing beside the others, and why.
    pub(crate) fn idle(name: &str, why: &str) -> Self {
        let message = format!("`{name}` would do nothing: {why}");
        Self { pointer: format!("/{name}"), message, is_about_name: true }
    }

    /// An address that cannot be opened, if it is one.
    pub(crate) fn of_address(at: &str, checked: Result<String, Fault>) -> Vec<Self> {
        checked.err().map(|fault| Self::value(at.to_owned(), fault.message)).into_iter().collect()
    }

    /// A value that is wrong, or missing.
    pub(crate) fn value(at: String, message: String) -> Self {
        Self { pointer: cut(&at), message: cut(&message), is_about_name: false }
    }
}

impl Misfit {
    /// What a call would fail with, if it would.
    pub(crate) fn fault<T>(pointer: &str, result: Result<T, Fault>) -> Option<Self> {
        Flaw::of(pointer, result).map(Self::from)
    }
}

impl From<Flaw> for Misfit {
    fn from(flaw: Flaw) -> Self {
        Self::value(flaw.pointer, flaw.message)
    }
}

/// More of what a caller wrote is not repeated to it.
const ECHO: usize = 200;

/// More than this at once is not read.
const TOLD: usize = 10;

/// The beginning of a text that a caller wrote.
pub(crate) fn cut(text: &str) -> String {
    match text.char_indices().nth(ECHO) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// All of it in one sentence, as far as anybody reads.
pub(crate) fn told(misfits: &[Misfit]) -> String {
    let told = misfits.iter().take(TOLD).map(|misfit| match misfit.pointer.strip_prefix('/') {
        Some(place) if !misfit.is_about_name => format!("`{place}`: {}", misfit.message),
        _ => misfit.message.clone(),
    });
    let mut told: Vec<String> = told.collect();
    if misfits.len() > TOLD {
        told.push(format!("and {} more", misfits.len() - TOLD));
    }
    told.join("; ")
}

/// Why a call was not made, with the arguments that there are.
pub(crate) fn refusal(tool: &str, misfits: &[Misfit], known: Option<&Map<String, Value>>) -> Fault {
    let fault = Fault::new(Kind::Usage, format!("the arguments of {tool} do not fit: {}", told(misfits)));
    let known: Vec<&str> = known.into_iter().flat_map(Map::keys).map(String::as_str).collect();
    match known.is_empty() {
        true => fault.hint("it takes no arguments"),
        false => fault.hint(format!("its arguments are {}", known.join(", "))),
    }
}

/// To JSON `3.0` is an integer, and some clients write it so.
pub(crate) fn whole_numbers(value: &mut Value) {
    /// Beyond this a number has no digits for its fraction.
    const EXACT: f64 = 9_007_199_254_740_992.0;
    match value {
        Value::Number(number) if number.is_f64() => {
            let whole = number.as_f64().filter(|number| number.fract() == 0.0 && number.abs() < EXACT);
            if let Some(whole) = whole {
                *number = Number::from(whole as i64);
            }
        }
        Value::Array(values) => values.iter_mut().for_each(whole_numbers),
        Value::Object(members) => members.values_mut().for_each(whole_numbers),
        _ => {}
    }
}

/// Reads `arguments` as a `T` and collects what stands in the way: what does not fit is noted and taken away, and the
/// rest is read again. The schema is asked for only when a name is wrong.
pub(crate) fn read_all<T: DeserializeOwned>(
    mut arguments: Value,
    schema: impl Fn() -> Map<String, Value>,
) -> Result<T, Vec<Misfit>> {
    let (mut misfits, mut taken) = (Vec::new(), BTreeSet::new());
    loop {
        let error = match serde_path_to_error::deserialize::<_, T>(&arguments) {
            Ok(read) if misfits.is_empty() => return Ok(read),
            Ok(_) => return Err(misfits),
            Err(error) => error,
        };
        let pointer = pointer(error.path());
        let message = error.into_inner().to_string();
        // What was taken away is missing now; that is no second misfit.
        let is_echo = taken.iter().any(|name| message == format!("missing field `{name}`"));
        let name = pointer.rsplit('/').next().unwrap_or_default();
        if message.starts_with(&format!("unknown field `{name}`")) {
            let schema = schema();
            let known = members(&schema).into_iter().flat_map(Map::keys).map(String::as_str);
            misfits.push(Misfit::unknown(name, pointer.clone(), known));
        } else if !is_echo {
            misfits.push(Misfit::value(pointer.clone(), message));
        }
        match take(&mut arguments, &pointer) {
            Some(name) if !is_echo => _ = taken.insert(name),
            _ => return Err(misfits),
        }
    }
}

/// The members that a schema of arguments names.
pub(crate) fn members(schema: &Map<String, Value>) -> Option<&Map<String, Value>> {
    schema.get("properties").and_then(Value::as_object)
}

fn pointer(path: &serde_path_to_error::Path) -> String {
    use serde_path_to_error::Segment;
    path.iter()
        .map_while(|segment| match segment {
            // A choice is written as an object with one member.
            Segment::Map { key } | Segment::Enum { variant: key } => {
                Some(format!("/{}", key.replace('~', "~0").replace('/', "~1")))
            }
            Segment::Seq { index } => Some(format!("/{index}")),
            Segment::Unknown => None,
        })
        .collect()
}

/// Takes the value at a pointer away and returns the name of the member that went; a list goes as a whole.
pub(crate) fn take(arguments: &mut Value, pointer: &str) -> Option<String> {
    let (above, name) = pointer.rsplit_once('/')?;
    match arguments.pointer_mut(above)? {
        Value::Object(members) => {
            let name = name.replace("~1", "/").replace("~0", "~");
            members.shift_remove(&name).map(|_| name)
        }
        _ => take(arguments, above),
    }
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;
    use serde_json::json;

    use super::*;

    #[derive(Debug, Deserialize)]
    #[serde(rename_all = "camelCase", deny_unknown_fields)]
    #[allow(dead_code, reason = "only reading counts")]
    struct Arguments {
        url: String,
        depth: Option<u32>,
        #[serde(default)]
        files: Vec<String>,
    }

    fn pointers(arguments: Value) -> Vec<String> {
        let misfits = read_all::<Arguments>(arguments, Map::new).map(drop).err().unwrap_or_default();
        misfits.into_iter().map(|misfit| misfit.pointer).collect()
    }

    #[test]
    fn a_wrong_name_is_told_with_the_nearest() {
        let properties = json!({ "url": {}, "depth": {} });
        let schema = || Map::from_iter([("properties".to_owned(), properties.clone())]);
        let misfits = read_all::<Arguments>(json!({ "url": "x", "dept": 1 }), schema).unwrap_err();
        let swapped = Misfit::unknown("ulr", "/ulr".to_owned(), ["tabId", "url"].into_iter());
        assert!(swapped.message.ends_with("did you mean `url`?"), "{swapped:?}");
        let wanted = "unknown argument `dept`; did you mean `depth`?";
        assert_eq!((misfits[0].message.as_str(), misfits[0].is_about_name), (wanted, true));
    }

    #[test]
    fn everything_that_does_not_fit_is_told_once() {
        assert_eq!(pointers(json!({ "url": "x" })), [""; 0]);
        assert_eq!(
            pointers(json!({ "url": 5, "depth": "x", "stealth": true })),
            ["/url", "/depth", "/stealth"]
        );
        assert_eq!(pointers(json!({ "files": ["a", 5] })), ["/files/1", ""]);
        assert_eq!(pointers(json!({})), [""]);
        assert_eq!(pointers(json!([])), [""]);
    }

    #[test]
    fn long_arguments_and_many_misfits_are_not_repeated_at_length() {
        let long = "x".repeat(100_000);
        let misfits = read_all::<Arguments>(json!({ "url": [&long], (long.as_str()): 1 }), Map::new);
        let fault = refusal("tool", &misfits.unwrap_err(), None);
        assert!(fault.message.len() < 1000, "{}", fault.message.len());
        let many = vec![Misfit::value("/a".to_owned(), "is wrong".to_owned()); 100_000];
        let fault = refusal("tool", &many, None);
        assert!(fault.message.len() < 1000 && fault.message.contains("99990 more"), "{}", fault.message);
    }

    #[test]
    fn whole_numbers_may_be_written_with_a_point() {
        let mut arguments = json!({ "uid": 3.0, "list": [-2.0, 2.5, 1e300], "text": "3.0" });
        whole_numbers(&mut arguments);
        assert_eq!(arguments, json!({ "uid": 3, "list": [-2, 2.5, 1e300], "text": "3.0" }));
    }
}
