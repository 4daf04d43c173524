//! Secrets around a call: put into its arguments before, taken out of everything that comes back.

use std::borrow::Cow;
use std::sync::Arc;

use serde_json::Value;
use surehand_browser::Notes;
use surehand_guard::{ResolveError, Secrets};
use surehand_session::{Fault, Kind};
use surehand_tools::Answer;

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
