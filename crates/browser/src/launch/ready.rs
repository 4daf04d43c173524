//! Waiting until a fresh browser answers, or for the reason why it does not.

use std::time::Duration;

use super::{Channel, Launched};
use crate::Error;

/// Asks the browser what it is and takes the answer off the pipe, whole, so that the pipe is as it was.
#[cfg_attr(not(unix), expect(unused_variables, reason = "without a pipe the browser has answered already"))]
pub(super) async fn wait(mut launched: Launched, limit: Duration) -> Result<Launched, Error> {
    match &mut launched.channel {
        #[cfg(unix)]
        Channel::Pipe(sender, receiver) => {
            tokio::select! {
                // An exit explains more than the end of the pipe that comes with it.
                biased;
                status = launched.process.wait() => return Err(launched.process.exited(status)),
                product = pipe::product(sender, receiver) => match product {
                    Ok(product) => launched.product = product,
                    Err(error) => return Err(pipe::explain(&mut launched, error).await),
                },
                () = tokio::time::sleep(limit) => return Err(launched.process.silent(limit)),
            }
            Ok(launched)
        }
        // This transport is only known once the browser has opened its port.
        Channel::WebSocket(_) => Ok(launched),
    }
}

#[cfg(unix)]
mod pipe {
    use std::{io, time::Duration};

    use tokio::{
        io::{AsyncReadExt, AsyncWriteExt},
        net::unix::pipe::{Receiver, Sender},
        time::timeout,
    };

    use super::Launched;
    use crate::Error;

    const PING: &[u8] = b"{\"id\":0,\"method\":\"Browser.getVersion\"}\0";

    /// Nothing else was asked and no events are enabled, so the first message is the answer and the last byte read is
    /// its end.
    pub(super) async fn product(sender: &mut Sender, receiver: &mut Receiver) -> io::Result<Option<String>> {
        sender.write_all(PING).await?;
        let mut answer = Vec::with_capacity(1024);
        loop {
            if receiver.read_buf(&mut answer).await? == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            if answer.last() == Some(&0) {
                answer.pop();
                return Ok(read(&answer));
            }
        }
    }

    fn read(answer: &[u8]) -> Option<String> {
        let answer: serde_json::Value = serde_json::from_slice(answer).ok()?;
        answer.pointer("/result/product")?.as_str().map(str::to_owned)
    }

    /// A closed pipe is followed by the browser's end, which says why.
    pub(super) async fn explain(launched: &mut Launched, error: io::Error) -> Error {
        match timeout(Duration::from_secs(2), launched.process.wait()).await {
            Ok(status) => launched.process.exited(status),
            Err(_) => Error::Io { doing: "the browser closed its debugging pipe", source: error },
        }
    }
}
