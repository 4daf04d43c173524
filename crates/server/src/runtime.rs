//! Work of several things at once in a process that otherwise does one after the other.

use surehand_session::Fault;

/// Does the work to its end, on a runtime of its own.
pub fn block_on<T>(work: impl Future<Output = T>) -> Result<T, Fault> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .map_err(crate::internal)?;
    let done = runtime.block_on(work);
    // Something that is stuck in a blocking call must not keep the process.
    runtime.shutdown_timeout(std::time::Duration::from_secs(1));
    Ok(done)
}

/// Does the work, unless this process is asked to end first.
pub async fn unless_asked_to_end<T>(work: impl Future<Output = T>) -> Option<T> {
    tokio::select! {
        done = work => Some(done),
        _ = crate::ipc::asked_to_end() => None,
    }
}

/// Calls this each time that the process is asked to end, for as long as the runtime lives: the process then does not end
/// by itself.
pub fn when_asked_to_end(asked: impl Fn() + Send + 'static) {
    tokio::spawn(async move {
        while crate::ipc::asked_to_end().await.is_ok() {
            asked();
        }
    });
}
