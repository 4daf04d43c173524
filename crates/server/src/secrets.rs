//! Secrets around a call: put into its arguments before, taken out of everything that comes back; and told to a server of
//! this program, which must not write them down.

use std::borrow::Cow;
use std::sync::Arc;

use serde_json::Value;
use surehand_browser::Notes;
use surehand_guard::{ResolveError, Secrets};
use surehand_session::{Fault, Kind};
use surehand_tools::Answer;

use crate::wire::SecretsBody;

/// The member of `_meta` by which a client of this program tells a server of it what it must not write down. The values are
/// in the arguments already; only that they are secret is new to the server.
pub(crate) const META: &str = "surehand/secrets";

/// What a server is told of them.
pub(crate) fn told(secrets: &Secrets) -> Option<Value> {
    let body = SecretsBody::from(secrets.clone());
    if body.is_empty() { None } else { serde_json::to_value(body).ok() }
}

/// What a client told, together with what the server has itself.
pub(crate) fn with_told(own: &Arc<Secrets>, told: &Value) -> Result<Arc<Secrets>, Fault> {
    let wrong =
        |why: String| Fault::new(Kind::Usage, format!("{META}: {why}")).hint("it is a list of [name, value]");
    let told: SecretsBody =
        serde_json::from_value(told.clone()).map_err(|_| wrong("no secrets".to_owned()))?;
    let told = Secrets::try_from(told).map_err(|error| wrong(error.to_string()))?;
    own.and(&told).map(Arc::new).map_err(|error| wrong(error.to_string()))
}

/// Puts secrets into the arguments of a tool. What comes back is to be masked with the result.
pub fn resolve(secrets: &Secrets, tool: &str, arguments: &mut Value) -> Result<Secrets, Fault> {
    secrets.resolve(tool, arguments).map_err(|error| {
        let message = error.to_string();
        match error {
            ResolveError::Missing { known, .. } if known.is_empty() => {
                Fault::new(Kind::MissingSecret, message).hint("name a file of them with --secrets FILE")
            }
            ResolveError::Missing { known, .. } => {
                Fault::new(Kind::MissingSecret, message).hint(format!("there are {}", known.join(", ")))
            }
            ResolveError::Misplaced { .. } => Fault::new(Kind::Usage, message)
                .hint("secrets go into values of fields, sentences of act and JavaScript"),
            _ => Fault::new(Kind::Usage, message).hint("use fill_form, which takes any value"),
        }
    })
}

/// Takes secrets out of what came of a call. A picture stays as it is.
pub fn mask(secrets: &Secrets, called: Result<Answer, Fault>) -> Result<Answer, Fault> {
    match called {
        Ok(mut answer) => {
            if let Cow::Owned(masked) = secrets.mask_document(&answer.text) {
                answer.text = masked;
            }
            if let Some(structured) = &mut answer.structured {
                secrets.mask_value(structured);
            }
            Ok(answer)
        }
        Err(fault) => {
            let masked = Fault::new(fault.kind, secrets.mask(&fault.message));
            Err(fault.hints.iter().fold(masked, |masked, hint| masked.hint(secrets.mask(hint))))
        }
    }
}

/// Takes secrets out of what is told while a call runs.
pub(crate) struct MaskedNotes {
    pub secrets: Arc<Secrets>,
    pub to: Arc<dyn Notes>,
}

impl Notes for MaskedNotes {
    fn note(&self, line: &str) {
        self.to.note(&self.secrets.mask(line));
    }

    fn progress(&self, what: &str, done: u64, total: Option<u64>) {
        self.to.progress(&self.secrets.mask(what), done, total);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn without_a_file_a_placeholder_says_how_to_give_one() {
        let mut arguments = json!({ "fields": { "a": "${SECRET:PW}" } });
        let fault = resolve(&Secrets::default(), "fill_form", &mut arguments).unwrap_err();
        assert_eq!((fault.kind, fault.message.as_str()), (Kind::MissingSecret, "there is no secret \"PW\""));
        assert!(fault.hints[0].contains("--secrets"));
    }

    #[test]
    fn what_a_client_tells_is_masked_beside_what_the_server_has() {
        let own = Arc::new(Secrets::parse("PW=hunter2").unwrap());
        let told = told(&Secrets::parse("PW=hunter2\nPIN=73519264").unwrap()).unwrap();
        let both = with_told(&own, &told).unwrap();
        assert_eq!(both.mask("hunter2 73519264"), "${SECRET:PW} ${SECRET:PIN}");
        assert!(super::told(&Secrets::default()).is_none());
        for wrong in [json!("hunter2"), json!({ "PW": "hunter2" }), json!([["PIN", "1"]])] {
            let fault = with_told(&own, &wrong).unwrap_err();
            assert!(fault.kind == Kind::Usage && !fault.message.contains("hunter2"), "{fault:?}");
        }
    }

    #[test]
    fn answers_and_faults_are_masked_everywhere() {
        let secrets = Secrets::parse("PW=hunter2\nPIN=1234567").unwrap();
        let answer = Answer {
            text: json!({ "pin": 1234567, "a": "hunter2" }).to_string(),
            structured: Some(json!({ "b": ["aHVudGVyMg=="] })),
            ..Answer::default()
        };
        let masked = mask(&secrets, Ok(answer)).unwrap();
        assert_eq!(masked.text, r#"{"pin":"${SECRET:PIN}","a":"${SECRET:PW}"}"#);
        assert_eq!(masked.structured, Some(json!({ "b": ["${SECRET:PW}"] })));
        let fault =
            mask(&secrets, Err(Fault::new(Kind::Usage, "no hunter2").hint("try hunter2"))).unwrap_err();
        assert_eq!(
            (fault.message.as_str(), fault.hints[0].as_str()),
            ("no ${SECRET:PW}", "try ${SECRET:PW}")
        );
    }
}
