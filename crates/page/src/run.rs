//! Running scripts in the page's own world, and ending those of the user that nobody waits for any more.

use std::time::Duration;

use serde_json::value::RawValue;
use surehand_cdp::protocol::runtime;
use surehand_cdp::{Call, Session};

use crate::console::exception_text;
use crate::page::Page;
use crate::{Deadline, Error, FrameId, Result};

/// The result of a user's script.
#[derive(Debug)]
pub struct Evaluated {
    /// As JSON; `undefined` is null.
    pub result: Box<RawValue>,
    /// Was it `undefined`?
    pub is_undefined: bool,
}

/// A page that runs its scripts answers a trivial one at once.
const PROBE_TIME: Duration = Duration::from_millis(500);

impl Page {
    /// The title of the main frame's document.
    pub async fn title(&self, deadline: &Deadline) -> Result<String> {
        let title = self.peek("document.title", deadline).await?;
        Ok(serde_json::from_str(title.result.get()).unwrap_or_default())
    }

    /// Runs a script of the user in the page's own world, in the frame that was chosen, and waits for its promise. One
    /// that does not come back in time, or that nobody waits for any more, is ended.
    pub async fn evaluate_in_scope(&self, expression: &str, deadline: &Deadline) -> Result<Evaluated> {
        let chosen = self.frame_in_scope()?;
        self.evaluate_in_frame(&chosen, expression, deadline).await
    }

    /// The same in the main frame.
    pub async fn evaluate(&self, expression: &str, deadline: &Deadline) -> Result<Evaluated> {
        let main = self.lock().frames.main().id.clone();
        self.evaluate_in_frame(&main, expression, deadline).await
    }

    /// Runs a short script of ours in the main frame. Where it does not come back the page is stuck by itself, and nothing is
    /// ended for that.
    pub async fn peek(&self, expression: &str, deadline: &Deadline) -> Result<Evaluated> {
        let main = self.lock().frames.main().id.clone();
        let (session, context) = self.page_world(&main)?;
        self.unless_blocked(deadline, evaluate_now(&session, context, expression)).await
    }

    async fn evaluate_in_frame(
        &self,
        frame: &FrameId,
        expression: &str,
        deadline: &Deadline,
    ) -> Result<Evaluated> {
        let (session, context) = self.page_world(frame)?;
        let running = Running::new(&session);
        let evaluated = self.unless_blocked(deadline, evaluate_now(&session, context, expression)).await;
        match evaluated {
            Err(error @ (Error::Unresponsive { .. } | Error::Timeout { .. })) => match running.end().await {
                End::NotBegun => Err(error),
                End::Waits => Err(deadline.timeout("the script's promise to settle")),
                End::Ended => Err(deadline.timeout("the script to end; it was stopped")),
            },
            // It came back, or it waits for the answer to a dialog and goes on with it.
            other => {
                running.forget();
                other
            }
        }
    }

    /// The world of a frame's own scripts: none where it is the one that the session speaks to anyway.
    fn page_world(&self, frame: &FrameId) -> Result<(Session, Option<i64>)> {
        let state = self.lock();
        let known = state.frames.get(frame).ok_or(Error::FrameGone)?;
        let parent = known.parent.as_ref().and_then(|parent| state.frames.get(parent));
        let is_root = parent.is_none_or(|parent| parent.session.id() != known.session.id());
        Ok((known.session.clone(), known.page_context.filter(|_| !is_root)))
    }
}

/// A script of the user under way. Whoever drops it ends the script.
#[derive(Debug)]
struct Running {
    session: Session,
    /// Asked right before the script: its answer says that the script's turn has come.
    turn: Option<Call<runtime::EvaluateReturns>>,
}

/// What became of a script that nobody waits for any more.
enum End {
    /// The page is busy with something else, which is none of our business; the script is ended when its turn comes.
    NotBegun,
    /// The page runs: the script waits for something, and holds up nobody.
    Waits,
    /// It held up the page and was ended.
    Ended,
}

impl Running {
    fn new(session: &Session) -> Self {
        Self { session: session.clone(), turn: Some(session.call(&probe())) }
    }

    /// It came back.
    fn forget(mut self) {
        self.turn = None;
    }

    async fn end(mut self) -> End {
        let Some(mut turn) = self.turn.take() else { return End::Waits };
        match tokio::time::timeout(PROBE_TIME, &mut turn).await {
            Ok(_) => end_if_stuck(&self.session).await,
            Err(_) => {
                end_later(self.session.clone(), turn);
                End::NotBegun
            }
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if let Some(turn) = self.turn.take() {
            end_later(self.session.clone(), turn);
        }
    }
}

fn probe() -> runtime::Evaluate {
    runtime::Evaluate { expression: "0".to_owned(), ..Default::default() }
}

/// Without a runtime there is no connection either.
fn end_later(session: Session, turn: Call<runtime::EvaluateReturns>) {
    let Ok(runtime) = tokio::runtime::Handle::try_current() else { return };
    runtime.spawn(async move {
        if turn.await.is_ok() {
            end_if_stuck(&session).await;
        }
    });
}

/// Ends what runs, if it runs for long. The browser ends the next script where none runs: so it is asked only when the page
/// does not answer, and something trivial follows that would take the blow if the script came to its end just then.
async fn end_if_stuck(session: &Session) -> End {
    if tokio::time::timeout(PROBE_TIME, session.call(&probe())).await.is_ok() {
        return End::Waits;
    }
    session.post(&runtime::TerminateExecution {});
    session.post(&probe());
    End::Ended
}

async fn evaluate_now(session: &Session, context_id: Option<i64>, expression: &str) -> Result<Evaluated> {
    let mut script = runtime::Evaluate {
        expression: expression.to_owned(),
        return_by_value: Some(true),
        await_promise: Some(true),
        user_gesture: Some(true),
        context_id,
        ..Default::default()
    };
    let mut answer = session.call(&script).await.map_err(explain)?;
    if answer.exception_details.as_ref().is_some_and(wants_console_rules) {
        script.repl_mode = Some(true);
        answer = session.call(&script).await.map_err(explain)?;
    }
    if let Some(details) = &answer.exception_details {
        return Err(Error::Script { message: exception_text(details) });
    }
    let is_undefined = answer.result.r#type == "undefined";
    Ok(Evaluated { result: json_of(answer.result), is_undefined })
}

/// Was the script not even started, because it uses `await` at the top level as only consoles allow? (They do not await
/// a promise that is only the last value, so their rules are not the first choice.)
fn wants_console_rules(details: &runtime::ExceptionDetails) -> bool {
    exception_text(details).starts_with("SyntaxError: await is only valid")
}

/// JSON has no NaN and no bigints: they are given as the strings that JavaScript prints.
fn json_of(object: runtime::RemoteObject) -> Box<RawValue> {
    if let Some(special) = object.unserializable_value {
        let text = serde_json::to_string(&special).unwrap_or_default();
        return RawValue::from_string(text).unwrap_or_default();
    }
    object.value.unwrap_or_default()
}

fn explain(error: surehand_cdp::Error) -> Error {
    match &error {
        surehand_cdp::Error::Refused { message, .. } if message.contains("reference chain is too long") => {
            Error::NotJson { why: "it refers to itself or is nested too deeply".to_owned() }
        }
        surehand_cdp::Error::Refused { message, .. } if message.contains("returned by value") => {
            Error::NotJson { why: "it holds something that JSON has no word for".to_owned() }
        }
        _ if error.is_gone() => Error::NavigatedAway { what: "the script ran".to_owned() },
        _ => error.into(),
    }
}
