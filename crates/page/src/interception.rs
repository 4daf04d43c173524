//! Requests that the browser holds until we let them go: it does so where it may have to ask us for a login, and in a
//! tab whose pages are not to be fetched at all.

use std::collections::HashSet;

use serde_json::value::RawValue;
use surehand_cdp::protocol::fetch;
use surehand_cdp::{Event, Session};

use crate::events::parse;
use crate::page::{Inner, Page};
use crate::{Deadline, Result};

/// What is done with held requests.
#[derive(Debug, Default)]
pub(crate) struct Interception {
    /// Every request is answered with an empty page.
    answers_blank: bool,
    /// Requests that a login was given for: who asks again did not like it.
    answered: HashSet<String>,
}

/// More than this are not under way at once; the oldest are long over.
const REMEMBERED: usize = 1000;

impl Page {
    /// From now on every page of this tab is empty and nothing is fetched: only its origin counts.
    pub async fn answer_blank(&self, deadline: &Deadline) -> Result<()> {
        self.lock().interception.answers_blank = true;
        let call = self.session().call(&fetch::Enable::default());
        deadline.run("the tab", call).await??;
        Ok(())
    }
}

impl Inner {
    pub(crate) fn fold_fetch(&self, session: &Session, method: &str, params: &RawValue) {
        match method {
            fetch::RequestPaused::METHOD => {
                let Some(event) = parse::<fetch::RequestPaused>(params) else { return };
                self.let_go(session, event.request_id);
            }
            fetch::AuthRequired::METHOD => {
                let Some(event) = parse::<fetch::AuthRequired>(params) else { return };
                session.post(&fetch::ContinueWithAuth {
                    auth_challenge_response: self.login_for(&event),
                    request_id: event.request_id,
                });
            }
            _ => {}
        }
    }

    fn let_go(&self, session: &Session, request_id: String) {
        if !self.lock().interception.answers_blank {
            session.post(&fetch::ContinueRequest { request_id, ..Default::default() });
            return;
        }
        let html = fetch::HeaderEntry { name: "Content-Type".to_owned(), value: "text/html".to_owned() };
        session.post(&fetch::FulfillRequest {
            request_id,
            response_code: 200,
            response_headers: Some(vec![html]),
            ..Default::default()
        });
    }

    fn login_for(&self, event: &fetch::AuthRequired) -> fetch::AuthChallengeResponse {
        let login =
            self.surroundings.lock().logins.iter().find(|login| login.suits(&event.auth_challenge)).cloned();
        let refuse = |response: &str| fetch::AuthChallengeResponse {
            response: response.to_owned(),
            ..Default::default()
        };
        let Some(login) = login else { return refuse("Default") };
        if !self.lock().interception.is_first(&event.request_id) {
            return refuse("CancelAuth");
        }
        fetch::AuthChallengeResponse {
            response: "ProvideCredentials".to_owned(),
            username: Some(login.user),
            password: Some(login.password),
        }
    }
}

impl Interception {
    fn is_first(&mut self, request_id: &str) -> bool {
        if self.answered.len() >= REMEMBERED {
            self.answered.clear();
        }
        self.answered.insert(request_id.to_owned())
    }
}
