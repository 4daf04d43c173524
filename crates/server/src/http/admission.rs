//! Who may work now: so many sessions at once, a line for the others, and turns between callers, so that one who sends
//! a thousand requests does not keep out one who sends a single one.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::oneshot;

use super::shares::{Share, Shares};

/// How many at once, and how many wait.
#[derive(Debug, Clone, Copy)]
pub struct Capacity {
    /// Sessions at once.
    pub sessions: usize,
    /// Requests that wait for one, of all callers.
    pub waiting: usize,
}

/// See the module.
#[derive(Debug)]
pub struct Admission {
    capacity: Capacity,
    /// Places that callers have for longer than a call.
    kept: Shares,
    state: Arc<Mutex<State>>,
}

#[derive(Debug, Default)]
struct State {
    working: usize,
    /// Callers with somebody in line, in the order of their turns.
    turns: VecDeque<String>,
    lines: HashMap<String, VecDeque<Waiting>>,
    waiting: usize,
}

/// One in line hears that it is its turn, or that it must make room.
type Waiting = oneshot::Sender<Result<Permit, Busy>>;

/// Why somebody cannot even wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Busy {
    /// This caller has taken its share of the line.
    Caller,
    /// This caller keeps its share of the places.
    Keeper,
    /// The line is full.
    Everybody,
}

/// A place to work; it goes to the next in line when it is dropped.
#[derive(Debug)]
pub struct Permit {
    state: Arc<Mutex<State>>,
}

/// A place that its caller has for longer than a call.
#[derive(Debug)]
pub struct KeptPermit {
    _share: Share,
    _permit: Permit,
}

type Turn = oneshot::Receiver<Result<Permit, Busy>>;

impl Admission {
    /// Nobody is there yet.
    pub fn new(capacity: Capacity) -> Self {
        let kept = Shares::new(capacity.sessions.div_ceil(2));
        Self { capacity, kept, state: Arc::default() }
    }

    /// A place, at once or when it is this caller's turn. Dropping the future leaves the line.
    pub async fn enter(&self, caller: &str) -> Result<Permit, Busy> {
        let mut turn = match self.place_or_turn(caller)? {
            Ok(permit) => return Ok(permit),
            Err(turn) => turn,
        };
        // The sender goes only with the service itself.
        (&mut turn).await.unwrap_or(Err(Busy::Everybody))
    }

    /// The same for longer than a call. Nobody keeps more than half of the places: others want to work, too.
    pub async fn enter_and_keep(&self, caller: &str) -> Result<KeptPermit, Busy> {
        // It is given back also if nobody waits any more.
        let share = self.kept.take(caller).ok_or(Busy::Keeper)?;
        let permit = self.enter(caller).await?;
        Ok(KeptPermit { _share: share, _permit: permit })
    }

    fn place_or_turn(&self, caller: &str) -> Result<Result<Permit, Turn>, Busy> {
        let mut state = lock(&self.state);
        state.forget_gone();
        if state.working < self.capacity.sessions && state.waiting == 0 {
            state.working += 1;
            return Ok(Ok(Permit { state: self.state.clone() }));
        }
        if state.waiting >= self.capacity.waiting {
            state.make_room_for(caller)?;
        }
        let (sender, receiver) = oneshot::channel();
        state.join(caller, sender);
        Ok(Err(receiver))
    }

    /// How many work, and how many wait.
    pub fn load(&self) -> (usize, usize) {
        let mut state = lock(&self.state);
        state.forget_gone();
        (state.working, state.waiting)
    }

    /// How many may work at once.
    pub fn capacity(&self) -> Capacity {
        self.capacity
    }
}

impl State {
    /// In a full line whoever has the most of it gives one place to who has less: the last who came.
    fn make_room_for(&mut self, caller: &str) -> Result<(), Busy> {
        let mine = self.lines.get(caller).map_or(0, VecDeque::len);
        let longest = self.lines.iter().max_by_key(|(_, line)| line.len());
        let Some((greedy, theirs)) = longest.map(|(name, line)| (name.clone(), line.len())) else {
            return Err(Busy::Everybody);
        };
        if theirs <= mine + 1 {
            return Err(if mine > 0 { Busy::Caller } else { Busy::Everybody });
        }
        if let Some(last) = self.lines.get_mut(&greedy).and_then(VecDeque::pop_back) {
            self.waiting -= 1;
            // Who hung up in this moment has made room, too.
            let _ = last.send(Err(Busy::Caller));
        }
        Ok(())
    }

    fn join(&mut self, caller: &str, sender: Waiting) {
        let line = self.lines.entry(caller.to_owned()).or_default();
        if line.is_empty() {
            self.turns.push_back(caller.to_owned());
        }
        line.push_back(sender);
        self.waiting += 1;
    }

    /// The next whose turn it is.
    fn next(&mut self) -> Option<Waiting> {
        let caller = self.turns.pop_front()?;
        let line = self.lines.get_mut(&caller)?;
        let sender = line.pop_front();
        match line.is_empty() {
            true => _ = self.lines.remove(&caller),
            false => self.turns.push_back(caller),
        }
        self.waiting -= usize::from(sender.is_some());
        sender
    }

    /// Who hung up does not stand in line.
    fn forget_gone(&mut self) {
        let before = self.waiting;
        for line in self.lines.values_mut() {
            line.retain(|sender| !sender.is_closed());
        }
        self.lines.retain(|_, line| !line.is_empty());
        let lines = &self.lines;
        self.turns.retain(|caller| lines.contains_key(caller));
        self.waiting = self.lines.values().map(VecDeque::len).sum();
        debug_assert!(self.waiting <= before, "nobody joins by leaving");
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        let next = {
            let mut state = lock(&self.state);
            state.forget_gone();
            let next = state.next();
            if next.is_none() {
                state.working -= 1;
            }
            next
        };
        if let Some(next) = next {
            // Who left in this very moment gives the place back by dropping it.
            let _ = next.send(Ok(Permit { state: self.state.clone() }));
        }
    }
}

fn lock(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn admission(sessions: usize, waiting: usize) -> Admission {
        Admission::new(Capacity { sessions, waiting })
    }

    fn waits<F: Future>(future: std::pin::Pin<&mut F>) -> bool {
        let mut context = std::task::Context::from_waker(std::task::Waker::noop());
        future.poll(&mut context).is_pending()
    }

    #[tokio::test]
    async fn callers_take_turns() {
        let admission = Arc::new(admission(1, 10));
        let first = admission.enter("a").await.unwrap();
        let order = Arc::new(Mutex::new(Vec::new()));
        let mut tasks = Vec::new();
        for caller in ["a", "a", "a", "b", "c"] {
            let (admission, order) = (admission.clone(), order.clone());
            let waiting = admission.load().1;
            tasks.push(tokio::spawn({
                let admission = admission.clone();
                async move {
                    let permit = admission.enter(caller).await.unwrap();
                    order.lock().unwrap().push(caller);
                    drop(permit);
                }
            }));
            while admission.load().1 == waiting {
                tokio::task::yield_now().await;
            }
        }
        drop(first);
        for task in tasks {
            task.await.unwrap();
        }
        assert_eq!(*order.lock().unwrap(), ["a", "b", "c", "a", "a"]);
        assert_eq!(admission.load(), (0, 0));
    }

    #[tokio::test]
    async fn a_full_line_says_whose_fault_it_is() {
        let admission = admission(1, 2);
        let _working = admission.enter("a").await.unwrap();
        let (mut one, mut two) = (Box::pin(admission.enter("a")), Box::pin(admission.enter("a")));
        assert!(waits(one.as_mut()) && waits(two.as_mut()));
        assert_eq!(admission.enter("a").await.unwrap_err(), Busy::Caller);
        // Who has nothing of it gets a place of who has the most: the last.
        let mut other = Box::pin(admission.enter("b"));
        assert!(waits(other.as_mut()) && waits(one.as_mut()));
        assert_eq!(two.await.unwrap_err(), Busy::Caller);
        assert_eq!(admission.enter("c").await.unwrap_err(), Busy::Everybody);
        assert_eq!(admission.load(), (1, 2));
    }

    #[tokio::test]
    async fn nobody_keeps_more_than_half_of_the_places() {
        let admission = admission(3, 10);
        let kept =
            (admission.enter_and_keep("a").await.unwrap(), admission.enter_and_keep("a").await.unwrap());
        assert_eq!(admission.enter_and_keep("a").await.unwrap_err(), Busy::Keeper);
        let call = admission.enter("a").await.unwrap();
        {
            let mut waiting = Box::pin(admission.enter_and_keep("b"));
            assert!(waits(waiting.as_mut()));
        }
        drop(kept.0);
        let again = admission.enter_and_keep("a").await.unwrap();
        assert_eq!(admission.load(), (3, 0));
        drop((call, kept.1, again));
        assert_eq!(admission.load(), (0, 0));
    }

    #[tokio::test]
    async fn who_hangs_up_leaves_the_line_and_loses_no_place() {
        let admission = admission(1, 2);
        let working = admission.enter("a").await.unwrap();
        {
            let mut gone = Box::pin(admission.enter("b"));
            assert!(waits(gone.as_mut()));
        }
        assert_eq!(admission.load(), (1, 0));
        drop(working);
        assert_eq!(admission.load(), (0, 0));
        assert!(admission.enter("c").await.is_ok());
    }
}
