//! What a scalar means, by the core schema of YAML 1.2: `yes` and `on` are texts, and `0o17` is fifteen.

use serde_json::Number;
use serde_saphyr::granit_parser::Tag;

use super::Value;

/// The value of a scalar. A tag of the schema decides before the looks do.
pub(super) fn value(text: &str, is_plain: bool, tag: Option<&Tag>) -> Result<Value, String> {
    let wanted =
        tag.map(|tag| if tag.parts() == ("", "!") { "str" } else { tag.core_suffix().unwrap_or("") });
    let looks = || plain(text);
    match wanted {
        Some("str") => Ok(Value::String(text.to_owned())),
        Some("null") => Ok(Value::Null),
        Some(sort @ ("bool" | "int" | "float")) => match looks()? {
            value @ Value::Bool(..) if sort == "bool" => Ok(value),
            value @ Value::Number(..) if sort != "bool" => Ok(value),
            _ => Err(format!("the tag says !!{sort}, and this is none")),
        },
        Some(_) => Err(tag.map(unknown_tag).unwrap_or_default()),
        None if is_plain => looks(),
        None => Ok(Value::String(text.to_owned())),
    }
}

/// Who writes a tag wants something of it, and only those of the schema mean anything here.
pub(super) fn unknown_tag(tag: &Tag) -> String {
    let written = tag.to_string().replace("tag:yaml.org,2002:", "!!");
    format!("the tag {written} means nothing in a playbook; leave it out")
}

fn plain(text: &str) -> Result<Value, String> {
    Ok(match text {
        "" | "~" | "null" | "Null" | "NULL" => Value::Null,
        "true" | "True" | "TRUE" => Value::Bool(true, text.into()),
        "false" | "False" | "FALSE" => Value::Bool(false, text.into()),
        // Most texts begin with a letter.
        _ if !text.starts_with(|first: char| first.is_ascii_digit() || "+-.".contains(first)) => {
            Value::String(text.to_owned())
        }
        _ => match number(text)? {
            Some(number) => Value::Number(number, text.into()),
            None => Value::String(text.to_owned()),
        },
    })
}

fn number(text: &str) -> Result<Option<Number>, String> {
    let of_base = |prefix: &str, base: u32| {
        let digits = text
            .strip_prefix(prefix)
            .filter(|digits| digits.bytes().all(|byte| byte.is_ascii_alphanumeric()))?;
        u64::from_str_radix(digits, base).ok()
    };
    if let Some(whole) = of_base("0x", 16).or_else(|| of_base("0o", 8)) {
        return Ok(Some(whole.into()));
    }
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    let is_infinite = matches!(unsigned, ".inf" | ".Inf" | ".INF");
    if is_infinite || matches!(text, ".nan" | ".NaN" | ".NAN") {
        return Err(not_finite());
    }
    if !is_decimal(unsigned) {
        return Ok(None);
    }
    let signed = text.strip_prefix('+').unwrap_or(text);
    let whole = signed.parse::<i64>().map(Number::from).or_else(|_| signed.parse::<u64>().map(Number::from));
    if let Ok(whole) = whole {
        return Ok(Some(whole));
    }
    let number = signed.parse::<f64>().ok().and_then(Number::from_f64);
    number.map(Some).ok_or_else(not_finite)
}

fn not_finite() -> String {
    "a number must be finite; put it in quotes if it is a text".to_owned()
}

/// Digits, perhaps with a point, perhaps with an exponent. Rust reads more than that, e.g. `infinity`.
fn is_decimal(text: &str) -> bool {
    let (mantissa, exponent) = match text.find(['e', 'E']) {
        Some(at) => (&text[..at], Some(&text[at + 1..])),
        None => (text, None),
    };
    let all_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let (before, after) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let has_mantissa = all_digits(before) && all_digits(after) && !(before.is_empty() && after.is_empty());
    let has_exponent = exponent.is_none_or(|exponent| {
        let digits = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
        !digits.is_empty() && all_digits(digits)
    });
    has_mantissa && has_exponent
}
