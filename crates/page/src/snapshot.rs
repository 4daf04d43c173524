//! Snapshots: every frame describes itself in one call; here they are put together into one tree.

use std::time::Duration;

use futures_util::future::join_all;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::page::Page;
use crate::world::World;
use crate::{Deadline, Error, FrameId, Handle, Locator, Result};

/// What to show.
#[derive(Debug, Clone, Default, Serialize)]
pub struct SnapshotOptions {
    /// Only what can be acted on, and what tells it apart.
    pub interactive: bool,
    /// Leave out structure that holds nothing.
    pub compact: bool,
    /// How many levels.
    pub depth: Option<u32>,
    /// Only this part of the page.
    pub root: Option<Locator>,
    /// Show where links lead.
    pub urls: bool,
    /// Only what is in view.
    pub viewport: bool,
    /// Where roles and names come from.
    pub names: NameSource,
}

/// Where roles and names come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum NameSource {
    /// Computed by the injected script; works on every browser.
    #[default]
    Own,
    /// The browser's own, where it gives them to scripts.
    Browser,
}

/// One line of a snapshot.
#[derive(Debug, Clone, Copy)]
pub struct Node<'a> {
    /// Level in the tree.
    pub depth: usize,
    /// ARIA role.
    pub role: &'a str,
    /// Accessible name.
    pub name: &'a str,
    /// States and hints, separated by spaces.
    pub flags: &'a str,
    /// What a field holds.
    pub value: &'a str,
    /// The element, when it can be referred to.
    pub handle: Option<Handle>,
}

/// A snapshot of a tab.
#[derive(Debug)]
pub struct Snapshot {
    /// The address of the main frame.
    pub url: String,
    /// How many levels are shown.
    depth: Option<u32>,
    pieces: Vec<Piece>,
}

/// What one frame described.
#[derive(Debug)]
struct Piece {
    world: u64,
    /// The `<iframe>` element that shows it; `None` for where the snapshot starts.
    owner: Option<Handle>,
    rows: String,
}

#[derive(Deserialize)]
struct Described {
    rows: String,
    /// Elements that may have a closed shadow root and were not looked at before.
    closed: Vec<u64>,
}

/// A frame that does not describe itself in this time is shown as an empty frame: it stalls only itself.
const FRAME_TIME: Duration = Duration::from_secs(2);

/// The role of what may be a frame.
const EMBEDDED: &str = "embed";

/// Frames in frames in frames: no honest page goes deeper, and a snapshot must end.
const DEEPEST: usize = 64;

impl Page {
    /// Describes the tab as a tree of roles and names.
    pub async fn snapshot(&self, options: &SnapshotOptions, deadline: &Deadline) -> Result<Snapshot> {
        loop {
            match self.try_snapshot(options, deadline).await {
                // The page changed meanwhile: the new one is what the user wants to see.
                Err(Error::NavigatedAway { .. }) if !deadline.passed() => {}
                other => return other,
            }
        }
    }

    async fn try_snapshot(&self, options: &SnapshotOptions, deadline: &Deadline) -> Result<Snapshot> {
        let root_frame = match &options.root {
            Some(locator) => self.frame_to_act_in(locator, deadline).await?,
            None => self.frame_in_scope()?,
        };
        if options.names == NameSource::Browser {
            self.wake_accessibility(deadline).await?;
        }
        let others: Vec<FrameId> =
            self.lock().frames.ids().into_iter().filter(|id| *id != root_frame).collect();
        let whole = SnapshotOptions { root: None, ..options.clone() };
        let bounded = deadline.at_most(FRAME_TIME);
        let (root, rest) = tokio::join!(
            self.describe(&root_frame, options, deadline),
            join_all(others.iter().map(|frame| self.describe_child(frame, &whole, &bounded))),
        );
        let root = root.map_err(|error| match &options.root {
            Some(locator) => crate::locate::with_locator(error, locator),
            None => error,
        })?;
        let mut pieces = vec![root];
        pieces.extend(rest.into_iter().flatten());
        Ok(Snapshot { url: self.url(), depth: options.depth, pieces })
    }

    async fn describe(
        &self,
        frame: &FrameId,
        options: &SnapshotOptions,
        deadline: &Deadline,
    ) -> Result<Piece> {
        let mut described: Described = self.script(frame, "snapshot", &json!(options), deadline).await?;
        if !described.closed.is_empty() && self.open_closed_roots(frame, &described.closed, deadline).await? {
            described = self.script(frame, "snapshot", &json!(options), deadline).await?;
        }
        let world: World = self.world(frame).await?;
        Ok(Piece { world: world.id, owner: None, rows: described.rows })
    }

    async fn describe_child(
        &self,
        frame: &FrameId,
        options: &SnapshotOptions,
        deadline: &Deadline,
    ) -> Option<Piece> {
        let (owner, piece) =
            tokio::join!(self.frame_owner(frame, deadline), self.describe(frame, options, deadline));
        let (_, owner) = owner.ok().flatten()?;
        Some(Piece { owner: Some(owner), ..piece.ok()? })
    }

    /// The browser computes names fast only while its accessibility tree is alive.
    async fn wake_accessibility(&self, deadline: &Deadline) -> Result<()> {
        use surehand_cdp::protocol::accessibility as cdp;
        let frames = self.lock().frames.ids();
        let wake = frames.iter().filter_map(|frame| {
            let session = self.frame_session(frame)?;
            session.post(&cdp::Enable {});
            let root = cdp::GetRootAxNode { frame_id: Some(frame.to_string()) };
            Some(session.call(&root))
        });
        let woken = join_all(wake).await;
        tracing::debug!("accessibility of {} frames is awake; {:?} left", woken.len(), deadline.remaining());
        Ok(())
    }
}

impl Snapshot {
    /// Visits every line in document order, frames inside their `<iframe>`.
    pub fn walk(&self, mut visit: impl FnMut(&Node<'_>)) {
        if let Some(root) = self.pieces.first() {
            self.walk_piece(root, 0, 0, &mut visit);
        }
    }

    fn walk_piece(&self, piece: &Piece, indent: usize, nested: usize, visit: &mut impl FnMut(&Node<'_>)) {
        for row in piece.rows.lines() {
            let Some(mut node) = parse_row(row, piece.world) else { continue };
            node.depth += indent;
            let child = self.shown_in(&node);
            if node.role == EMBEDDED {
                // One that shows a picture or a player says nothing.
                if child.is_none() {
                    continue;
                }
                node.role = "iframe";
            }
            if self.depth.is_some_and(|depth| node.depth >= depth as usize) {
                continue;
            }
            visit(&node);
            if let Some(child) = child.filter(|_| nested < DEEPEST) {
                self.walk_piece(child, node.depth + 1, nested + 1, visit);
            }
        }
    }

    fn shown_in(&self, node: &Node<'_>) -> Option<&Piece> {
        let handle = node.handle.filter(|_| node.role == "iframe" || node.role == EMBEDDED)?;
        self.pieces.iter().find(|piece| piece.owner == Some(handle))
    }
}

fn parse_row(row: &str, world: u64) -> Option<Node<'_>> {
    let mut fields = row.split('\t');
    let depth = fields.next()?.parse().ok()?;
    let role = fields.next()?;
    let handle = fields.next()?.parse().ok().map(|element| Handle { world, element });
    let flags = fields.next()?;
    let name = fields.next()?;
    let value = fields.next().unwrap_or_default();
    Some(Node { depth, role, name, flags, value, handle })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_are_shown_inside_their_element() {
        let handle = |world, element| Handle { world, element };
        let snapshot = Snapshot {
            url: String::new(),
            depth: None,
            pieces: vec![
                Piece {
                    world: 1,
                    owner: None,
                    rows: "0\theading\t\tlevel=1\tTop\t\n0\tiframe\t4\t\tF\t\n0\tbutton\t5\t\tB\t\n".into(),
                },
                Piece { world: 2, owner: Some(handle(1, 4)), rows: "0\tbutton\t1\t\tInner\t\n".into() },
            ],
        };
        let mut seen = Vec::new();
        snapshot.walk(|node| seen.push((node.depth, node.name.to_owned(), node.handle)));
        assert_eq!(
            seen,
            [
                (0, "Top".to_owned(), None),
                (0, "F".to_owned(), Some(handle(1, 4))),
                (1, "Inner".to_owned(), Some(handle(2, 1))),
                (0, "B".to_owned(), Some(handle(1, 5))),
            ]
        );
    }
}
