//! Closed shadow roots: the page's scripts cannot reach them, the protocol can.

use futures_util::future::join_all;
use surehand_cdp::Session;
use surehand_cdp::protocol::{dom, runtime};

use crate::page::Page;
use crate::{Deadline, Error, FrameId, Result};

impl Page {
    /// Hands the closed shadow roots of these elements to the injected script; true if there was any.
    pub(crate) async fn open_closed_roots(
        &self,
        frame: &FrameId,
        hosts: &[u64],
        deadline: &Deadline,
    ) -> Result<bool> {
        let Some(session) = self.frame_session(frame) else { return Ok(false) };
        self.unless_blocked(deadline, async {
            let context = self.world(frame).await?.context;
            let opened = join_all(hosts.iter().map(|host| open_root(&session, context, *host))).await;
            // An element that went away meanwhile has no root to show.
            Ok(opened.into_iter().any(|opened| opened.unwrap_or(false)))
        })
        .await
    }
}

async fn open_root(session: &Session, context: i64, host: u64) -> Result<bool> {
    let find = runtime::Evaluate {
        expression: format!("surehand.elementOf({host})"),
        context_id: Some(context),
        ..Default::default()
    };
    let object_id = session.call(&find).await?.result.object_id;
    let describe = dom::DescribeNode {
        object_id: object_id.clone(),
        depth: Some(0),
        pierce: Some(true),
        ..Default::default()
    };
    let roots = session.call(&describe).await?.node.shadow_roots.unwrap_or_default();
    let Some(closed) = roots.iter().find(|root| root.shadow_root_type.as_deref() == Some("closed")) else {
        return Ok(false);
    };
    let resolve = dom::ResolveNode {
        backend_node_id: Some(closed.backend_node_id),
        execution_context_id: Some(context),
        ..Default::default()
    };
    let root = session.call(&resolve).await?.object;
    let adopt = runtime::CallFunctionOn {
        function_declaration: "function(root) { surehand.adoptRoot(this, root) }".to_owned(),
        object_id,
        arguments: Some(vec![runtime::CallArgument { object_id: root.object_id, ..Default::default() }]),
        ..Default::default()
    };
    session.call(&adopt).await.map(|_| true).map_err(Error::from)
}
