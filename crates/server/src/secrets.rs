//! Secrets around a call: put into its arguments before, taken out of everything that comes back; and told to a server of
//! this program, which must not write them down.

use std::borrow::Cow;
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::Value;
use surehand_browser::Notes;
use surehand_guard::vault::SecretText;
use surehand_guard::{ResolveError, Secrets, SecretsError};
use surehand_session::{Fault, Kind, Sessions};
use surehand_tools::Answer;
use surehand_tools::packs::Credentials;

use crate::home::Home;
use crate::safe::{Lent, Safe};
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

/// Secrets of a file, and of the vault where the file does not have them. What the vault gave once is masked ever after.
pub struct Keeper {
    secrets: Arc<Secrets>,
    credentials: Arc<dyn Credentials>,
    given: Mutex<Arc<Secrets>>,
}

impl std::fmt::Debug for Keeper {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Keeper").field("secrets", &self.secrets).finish_non_exhaustive()
    }
}

impl Keeper {
    /// Of a file and a vault.
    pub fn new(secrets: Arc<Secrets>, credentials: Arc<dyn Credentials>) -> Self {
        Self { secrets, credentials, given: Mutex::default() }
    }

    /// The same of the user of this machine, who may use the whole vault.
    pub fn of_local(home: &Home, secrets: Arc<Secrets>) -> Self {
        Self::new(secrets, Arc::new(Lent::to_local(&Safe::of(home))))
    }

    /// Puts secrets into the arguments of a tool. What comes back is to be masked with the result. May wait for the disk.
    pub fn resolve(&self, tool: &str, arguments: &mut Value) -> Result<Arc<Secrets>, Fault> {
        let mut known = (*self.secrets).clone();
        loop {
            let mut filled = arguments.clone();
            match known.resolve(tool, surehand_tools::secret_places(tool), &mut filled) {
                Ok(resolved) => {
                    *arguments = filled;
                    return Ok(Arc::new(resolved));
                }
                Err(ResolveError::Missing { name, known: names }) => match self.borrow(&name)? {
                    Some(value) => known = self.remember(&known, &name, &value)?,
                    None => return Err(refusal(ResolveError::Missing { name, known: names })),
                },
                Err(error) => return Err(refusal(error)),
            }
        }
    }

    /// The same without holding up others while the disk is waited for.
    pub async fn resolve_aside(
        self: &Arc<Self>,
        tool: &str,
        mut arguments: Value,
    ) -> Result<(Arc<Secrets>, Value), Fault> {
        if Secrets::named_in(&arguments).is_empty() {
            let resolved = self.resolve(tool, &mut arguments)?;
            return Ok((resolved, arguments));
        }
        let (keeper, tool) = (self.clone(), tool.to_owned());
        let resolving = tokio::task::spawn_blocking(move || {
            keeper.resolve(&tool, &mut arguments).map(|resolved| (resolved, arguments))
        });
        resolving.await.map_err(crate::internal)?
    }

    /// Takes out of what came of a call what was put in, now or before.
    pub fn mask(&self, resolved: &Secrets, called: Result<Answer, Fault>) -> Result<Answer, Fault> {
        let called = mask(resolved, called);
        mask(&self.given(), called)
    }

    /// The same before anything was put in.
    pub fn mask_all(&self, called: Result<Answer, Fault>) -> Result<Answer, Fault> {
        self.mask(&self.secrets, called)
    }

    /// The same with secrets that a client told, in the form in which `_meta` carries them.
    pub(crate) fn told(&self, told: &Value) -> Result<Self, Fault> {
        let secrets = with_told(&self.secrets, told)?;
        Ok(Self { secrets, credentials: self.credentials.clone(), given: Mutex::new(self.given()) })
    }

    /// Those of the file.
    pub fn secrets(&self) -> Arc<Secrets> {
        self.secrets.clone()
    }

    fn given(&self) -> Arc<Secrets> {
        self.given.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// What the vault has under that name, for this caller.
    fn borrow(&self, name: &str) -> Result<Option<SecretText>, Fault> {
        let Ok(reference) = name.parse() else { return Ok(None) };
        match self.credentials.reveal(&reference) {
            Ok(value) => Ok(Some(value)),
            Err(fault) if fault.kind == Kind::MissingSecret => Ok(None),
            Err(fault) => Err(fault),
        }
    }

    fn remember(&self, known: &Secrets, name: &str, value: &SecretText) -> Result<Secrets, Fault> {
        let unusable = |error: SecretsError| {
            Fault::new(Kind::MissingSecret, format!("the credential {name:?} cannot be used: {error}"))
                .hint("values that could not be masked are not typed: store a longer one")
        };
        let mut given = self.given.lock().unwrap_or_else(PoisonError::into_inner);
        if !given.reveal().any(|one| one == (name, value.reveal())) {
            *given = Arc::new(given.with(name, value.reveal()).map_err(unusable)?);
        }
        drop(given);
        known.with(name, value.reveal()).map_err(unusable)
    }
}

/// Takes out of the answer of a call what was ever put into its session by anybody.
pub(crate) async fn veiled(
    sessions: &Sessions,
    name: &str,
    calling: impl Future<Output = Result<Answer, Fault>>,
) -> Result<Answer, Fault> {
    // Somebody may end the session meanwhile: what was in it then is still secret.
    let before = sessions.present(name);
    let called = calling.await;
    let sessions = before.into_iter().chain(sessions.present(name));
    let masks: Vec<Arc<Secrets>> = sessions.flat_map(|session| session.masks()).collect();
    masks.iter().fold(called, |called, secrets| mask(secrets, called))
}

fn refusal(error: ResolveError) -> Fault {
    let message = error.to_string();
    match error {
        ResolveError::Missing { known, .. } => {
            let fault = Fault::new(Kind::MissingSecret, message);
            let fault = match known.is_empty() {
                true => fault.hint("name a file of them with --secrets FILE"),
                false => fault.hint(format!("there are {}", known.join(", "))),
            };
            fault.hint("or put it into the vault with `surehand vault set NAME`")
        }
        ResolveError::Misplaced { .. } => Fault::new(Kind::Usage, message)
            .hint("secrets go into values of fields, sentences of act and JavaScript"),
        _ => Fault::new(Kind::Usage, message).hint("use fill_form, which takes any value"),
    }
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
        let folder = tempfile::tempdir().unwrap();
        let home = Home { root: folder.path().to_owned(), socket: folder.path().join("socket") };
        let keeper = Keeper::of_local(&home, Arc::default());
        let fault = keeper.resolve("fill_form", &mut arguments).unwrap_err();
        assert_eq!(fs_err::read_dir(folder.path()).unwrap().count(), 0, "asking makes no vault");
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
