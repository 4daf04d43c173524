//! The pipe: calls, answers and events, with a limit on every wait.

use std::collections::VecDeque;
use std::io::{BufRead, BufReader, PipeReader, PipeWriter, Write};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow, bail};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

/// No single answer may take longer.
const LIMIT: Duration = Duration::from_secs(60);

/// Events nobody asked for yet; the oldest go first.
const MOST_EVENTS: usize = 1000;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Envelope<'a> {
    id: Option<u64>,
    method: Option<String>,
    session_id: Option<String>,
    #[serde(borrow)]
    result: Option<&'a RawValue>,
    #[serde(borrow)]
    error: Option<&'a RawValue>,
}

/// Both ends of a browser's pipe.
#[derive(Debug)]
pub struct Wire {
    to: PipeWriter,
    from: BufReader<PipeReader>,
    message: Vec<u8>,
    last: u64,
    events: VecDeque<(Option<String>, String)>,
}

impl Wire {
    pub fn new(to: PipeWriter, from: PipeReader) -> Self {
        Self {
            to,
            from: BufReader::with_capacity(256 * 1024, from),
            message: vec![],
            last: 0,
            events: VecDeque::new(),
        }
    }

    /// One call and its answer, not parsed.
    pub fn call(&mut self, session: Option<&str>, method: &str, params: &Value) -> Result<Box<RawValue>> {
        self.last += 1;
        let id = self.last;
        let mut message = serde_json::json!({"id": id, "method": method, "params": params});
        if let Some(session) = session {
            message["sessionId"] = session.into();
        }
        let mut bytes = serde_json::to_vec(&message)?;
        bytes.push(0);
        self.to.write_all(&bytes).with_context(|| format!("cannot send {method}: the browser is gone"))?;

        let deadline = Instant::now() + LIMIT;
        loop {
            self.receive(deadline).with_context(|| format!("no answer to {method}"))?;
            let envelope: Envelope<'_> = serde_json::from_slice(&self.message)?;
            match envelope {
                Envelope { id: Some(answered), error: Some(error), .. } if answered == id => {
                    bail!("{method}: {error}")
                }
                Envelope { id: Some(answered), result: Some(result), .. } if answered == id => {
                    return Ok(result.to_owned());
                }
                Envelope { method: Some(event), session_id, .. } => {
                    if self.events.len() == MOST_EVENTS {
                        self.events.pop_front();
                    }
                    self.events.push_back((session_id, event));
                }
                _ => {}
            }
        }
    }

    /// Like [`Wire::call`], parsed.
    pub fn value(&mut self, session: Option<&str>, method: &str, params: &Value) -> Result<Value> {
        Ok(serde_json::from_str(self.call(session, method, params)?.get())?)
    }

    /// Waits for the event `method` of `session`; one that came meanwhile counts, and is used up.
    pub fn wait_for(&mut self, session: &str, method: &str) -> Result<()> {
        let fits = |each: &(Option<String>, String)| each.0.as_deref() == Some(session) && each.1 == method;
        let deadline = Instant::now() + LIMIT;
        loop {
            if let Some(place) = self.events.iter().position(fits) {
                self.events.remove(place);
                return Ok(());
            }
            self.receive(deadline).with_context(|| format!("no event {method}"))?;
            let envelope: Envelope<'_> = serde_json::from_slice(&self.message)?;
            if let Some(event) = envelope.method {
                self.events.push_back((envelope.session_id, event));
            }
        }
    }

    /// Forgets the events so far.
    pub fn forget_events(&mut self) {
        self.events.clear();
    }

    /// Reads one message, without its NUL, into `self.message`.
    fn receive(&mut self, deadline: Instant) -> Result<()> {
        self.message.clear();
        loop {
            if self.from.buffer().is_empty() {
                wait_readable(self.from.get_ref(), deadline)?;
            }
            let chunk = self.from.fill_buf()?;
            if chunk.is_empty() {
                bail!("the browser closed its pipe");
            }
            // `contains` is vectorized, `position` is not: most chunks of a large message have no NUL.
            let end = if chunk.contains(&0) { chunk.iter().position(|byte| *byte == 0) } else { None };
            let length = chunk.len();
            self.message.extend_from_slice(&chunk[..end.unwrap_or(length)]);
            self.from.consume(end.map_or(length, |end| end + 1));
            if end.is_some() {
                return Ok(());
            }
        }
    }
}

fn wait_readable(pipe: &PipeReader, deadline: Instant) -> Result<()> {
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        let timeout = Timespec::try_from(left).map_err(|_| anyhow!("timeout out of range"))?;
        match poll(&mut [PollFd::new(pipe, PollFlags::IN)], Some(&timeout)) {
            Ok(0) => bail!("nothing came for {LIMIT:?}"),
            Ok(_) => return Ok(()),
            Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::pipe;
    use std::thread;

    use serde_json::json;

    use super::*;

    /// A browser that sends `answers` after it got one message.
    fn against(answers: &'static str) -> Wire {
        let (theirs, to) = pipe().unwrap();
        let (from, mut answer) = pipe().unwrap();
        thread::spawn(move || {
            let mut got = vec![];
            BufReader::new(theirs).read_until(0, &mut got).unwrap();
            answer.write_all(answers.replace('|', "\0").as_bytes()).unwrap();
        });
        Wire::new(to, from)
    }

    #[test]
    fn answers_are_told_from_events() {
        let mut wire = against(
            r#"{"method":"E.x","sessionId":"s","params":{}}|{"id":9,"result":{}}|{"id":1,"result":{"a":2}}|{"method":"E.y","sessionId":"s"}|"#,
        );
        assert_eq!(wire.value(None, "M", &json!({})).unwrap()["a"], 2);
        wire.wait_for("s", "E.y").unwrap();
        wire.wait_for("s", "E.x").unwrap();
        let error = wire.wait_for("s", "E.x").unwrap_err();
        assert!(format!("{error:#}").contains("closed its pipe"), "{error:#}");
    }

    #[test]
    fn an_error_is_an_error() {
        let mut wire = against(r#"{"id":1,"error":{"message":"no such method"}}|"#);
        let error = wire.call(None, "M.n", &json!({})).unwrap_err();
        assert!(error.to_string().contains("no such method"));
    }
}
