//! Packs as tools: what MCP clients and `surehand pack run` call. Each call has a session of its own.

use std::sync::Arc;
use std::time::Duration;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde_json::Value;
use surehand_guard::vault::{Reference, SecretText};
use surehand_page::Deadline;
use surehand_session::{Ephemeral, Fault, Kind};

use super::pack::{
    Artifact, Artifacts, Credentials, PackContext, PackEntry, PackFailure, Witness, Witnessed,
};
use crate::{Answer, Image, ToolContext};

/// What packs borrow from who runs them.
#[derive(Clone)]
pub struct Lender {
    /// Who lends credentials.
    pub credentials: Arc<dyn Credentials>,
    /// Where files go.
    pub artifacts: Arc<dyn Artifacts>,
    /// How long a call may take.
    pub call_time: Duration,
    /// How long one action may wait.
    pub action_time: Duration,
}

impl std::fmt::Debug for Lender {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Lender").field("call_time", &self.call_time).finish_non_exhaustive()
    }
}

/// A call may take this long.
pub const CALL_TIME: Duration = Duration::from_secs(5 * 60);

/// An action waits this long for its element.
pub const ACTION_TIME: Duration = Duration::from_secs(10);

impl Default for Lender {
    /// Nothing to lend, and nowhere to put files.
    fn default() -> Self {
        let (credentials, artifacts) = (Arc::new(Nothing), Arc::new(Nothing));
        Self { credentials, artifacts, call_time: CALL_TIME, action_time: ACTION_TIME }
    }
}

struct Nothing;

impl Credentials for Nothing {
    fn reveal(&self, reference: &Reference) -> Result<SecretText, Fault> {
        Err(Fault::new(Kind::CredentialDenied, format!("there is no vault that could have {reference}")))
    }
}

impl Artifacts for Nothing {
    fn keep(&self, _: &str, _: &'static str, _: &[u8]) -> Result<Artifact, Fault> {
        Err(Fault::new(Kind::UnwritablePath, "there is no folder for files"))
    }
}

/// Nobody writes down what a local user does; the journal of a session does that.
struct Nobody;

impl Witness for Nobody {
    fn saw(&self, _: &Witnessed<'_>) {}
}

/// Runs a pack in a session of its own.
pub async fn run(pack: &PackEntry, input: Value, cx: &ToolContext) -> Result<Value, PackFailure> {
    let prepared = pack.prepare(input)?;
    let options = &cx.verbs.settings.options;
    let held = Ephemeral::open(&cx.verbs.sessions, "pack", options, &cx.verbs.notes).await?;
    let lender = &cx.lender;
    let time = cx.verbs.settings.timeout.map_or(lender.action_time, Duration::from_millis);
    let done = prepared
        .run(&PackContext::new(
            held.session().clone(),
            Deadline::after(lender.call_time),
            time,
            lender.credentials.clone(),
            &*lender.artifacts,
            &Nobody,
        ))
        .await;
    held.end().await;
    done
}

/// The same as the answer of a tool.
pub(crate) async fn answer(
    pack: &'static PackEntry,
    input: Value,
    cx: &ToolContext,
) -> Result<Answer, Fault> {
    match run(pack, input, cx).await {
        Ok(output) => shown(output),
        Err(failure) => Ok(Answer { is_error: true, ..Answer::json(&failure.envelope())? }),
    }
}

/// What came out of a pack, as the answer of a tool. A model sees the last picture; the bytes of the others would only be
/// text to it.
pub fn shown(mut output: Value) -> Result<Answer, Fault> {
    let image = show_pictures(&mut output);
    Ok(Answer { image, ..Answer::json(&output)? })
}

fn show_pictures(output: &mut Value) -> Option<Image> {
    let pictures = output.get_mut("screenshots")?.as_array_mut()?;
    let mut last = None;
    for picture in pictures {
        let bytes = BASE64_STANDARD.decode(picture.as_str()?).ok()?;
        *picture = format!("PNG, {} bytes", bytes.len()).into();
        last = Some(Image { bytes, mime_type: "image/png".into() });
    }
    last
}
