//! Elements that are meant to be found again after we let go of a tab and took it over anew: by the browser's own number
//! of the node, which lives as long as its document.

use futures_util::future::join_all;
use surehand_cdp::Session;
use surehand_cdp::protocol::{dom, runtime};

use crate::page::Page;
use crate::world::World;
use crate::{Deadline, Error, FrameId, Handle, Result};

/// See the module.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Keepsake {
    frame: FrameId,
    /// Another load of the frame is another document, in which the number may mean something else.
    loader: String,
    node: i64,
}

impl Page {
    /// What to find elements again by; `None` for those that are gone.
    pub async fn keepsakes(&self, handles: &[Handle], deadline: &Deadline) -> Vec<Option<Keepsake>> {
        let all = join_all(handles.iter().map(|handle| self.keepsake(*handle)));
        deadline.run("the elements", all).await.unwrap_or_else(|_| vec![None; handles.len()])
    }

    async fn keepsake(&self, handle: Handle) -> Option<Keepsake> {
        let frame = self.frame_of(handle)?;
        let (session, loader, world) = {
            let state = self.lock();
            let known = state.frames.get(&frame)?;
            (known.session.clone(), known.loader_id.clone(), known.world?)
        };
        let element = runtime::Evaluate {
            expression: format!("surehand.elementOf({})", handle.element),
            context_id: Some(world.context),
            ..Default::default()
        };
        let found = session.call(&element).await.ok().filter(|found| found.exception_details.is_none())?;
        let describe = dom::DescribeNode { object_id: found.result.object_id, ..Default::default() };
        let node = session.call(&describe).await.ok()?.node.backend_node_id;
        Some(Keepsake { frame, loader, node })
    }

    /// The element of a keepsake; `None` when its document or the element is gone.
    pub async fn recognise(&self, keepsake: &Keepsake, deadline: &Deadline) -> Result<Option<Handle>> {
        let session = {
            let state = self.lock();
            match state.frames.get(&keepsake.frame).filter(|frame| frame.loader_id == keepsake.loader) {
                Some(frame) => frame.session.clone(),
                None => return Ok(None),
            }
        };
        let found = async {
            let world = self.world(&keepsake.frame).await?;
            self.handle_of_node(&session, world, keepsake.node).await
        };
        match self.unless_blocked(deadline, found).await {
            Ok(handle) => Ok(Some(handle)),
            Err(Error::NavigatedAway { .. } | Error::Protocol(surehand_cdp::Error::Refused { .. })) => {
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    /// Our name of a node that the browser numbered.
    pub(crate) async fn handle_of_node(&self, session: &Session, world: World, node: i64) -> Result<Handle> {
        let resolve = dom::ResolveNode {
            backend_node_id: Some(node),
            execution_context_id: Some(world.context),
            ..Default::default()
        };
        let object = session.call(&resolve).await?.object;
        let id_of = runtime::CallFunctionOn {
            function_declaration: "function(){ return surehand.idOfElement(this) }".to_owned(),
            object_id: object.object_id,
            return_by_value: Some(true),
            ..Default::default()
        };
        let answer = session.call(&id_of).await?.result.value.unwrap_or_default();
        let element = serde_json::from_str(answer.get())
            .map_err(|_| Error::NavigatedAway { what: "a node was looked up".to_owned() })?;
        Ok(Handle { world: world.id, element })
    }
}
