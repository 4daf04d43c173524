//! The end of what a browser says on its standard error: always drained, never more than a few kilobytes kept.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use tokio::{
    io::{AsyncRead, AsyncReadExt},
    task::JoinHandle,
    time::timeout,
};

const KEPT: usize = 16 << 10;

/// A reader that drains a stream for as long as it lives and keeps its end.
#[derive(Debug)]
pub(super) struct Tail {
    kept: Arc<Mutex<VecDeque<u8>>>,
    reader: JoinHandle<()>,
    given_up: bool,
}

impl Tail {
    pub(super) fn of(mut stream: impl AsyncRead + Unpin + Send + 'static) -> Self {
        let kept = Arc::new(Mutex::new(VecDeque::new()));
        let shared = Arc::clone(&kept);
        let reader = tokio::spawn(async move {
            let mut chunk = vec![0; 4096];
            while let Ok(n @ 1..) = stream.read(&mut chunk).await {
                tracing::debug!(target: "browser", "{}", String::from_utf8_lossy(&chunk[..n]).trim_end());
                keep(&mut shared.lock().unwrap_or_else(PoisonError::into_inner), &chunk[..n]);
            }
        });
        Tail { kept, reader, given_up: false }
    }

    pub(super) fn text(&self) -> String {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        String::from_utf8_lossy(kept.make_contiguous()).into_owned()
    }

    /// Waits for the stream's end, but not for a grandchild that keeps it open.
    pub(super) async fn finish(&mut self) {
        if !self.given_up && !self.reader.is_finished() {
            self.given_up = timeout(Duration::from_millis(200), &mut self.reader).await.is_err();
        }
    }
}

impl Drop for Tail {
    fn drop(&mut self) {
        self.reader.abort();
    }
}

fn keep(kept: &mut VecDeque<u8>, new: &[u8]) {
    kept.extend(new);
    let surplus = kept.len().saturating_sub(KEPT);
    kept.drain(..surplus);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn only_the_end_is_kept() {
        let mut said = vec![b'a'; 100_000];
        said.extend(b"the end");
        let mut tail = Tail::of(std::io::Cursor::new(said));
        tail.finish().await;
        assert_eq!(tail.text().len(), KEPT);
        assert!(tail.text().ends_with("aathe end"));
    }
}
