//! Who may work now: so many sessions at once, a line for the others, and turns between callers, so that one who sends
//! a thousand requests does not keep out one who sends a single one.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::oneshot;

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
    state: Arc<Mutex<State>>,
}

#[derive(Debug, Default)]
struct State {
    working: usize,
    /// Callers with somebody in line, in the order of their turns.
    turns: VecDeque<String>,
    lines: HashMap<String, VecDeque<oneshot::Sender<Permit>>>,
    waiting: usize,
}

/// Why somebody cannot even wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Busy {
    /// This caller has taken its share of the line.
    Caller,
    /// The line is full.
    Everybody,
}

/// A place to work; it goes to the next in line when it is dropped.
#[derive(Debug)]
pub struct Permit {
    state: Arc<Mutex<State>>,
}

impl Admission {
    /// Nobody is there yet.
    pub fn new(capacity: Capacity) -> Self {
        Self { capacity, state: Arc::default() }
    }

    /// A place, at once or when it is this caller's turn. Dropping the future leaves the line.
    pub async fn enter(&self, caller: &str) -> Result<Permit, Busy> {
        let mut turn = match self.place_or_turn(caller)? {
            Ok(permit) => return Ok(permit),
            Err(turn) => turn,
        };
        // The sender goes only with the service itself.
        (&mut turn).await.map_err(|_| Busy::Everybody)
    }

    fn place_or_turn(&self, caller: &str) -> Result<Result<Permit, oneshot::Receiver<Permit>>, Busy> {
        let mut state = lock(&self.state);
        state.forget_gone();
        if state.working < self.capacity.sessions && state.waiting == 0 {
            state.working += 1;
            return Ok(Ok(Permit { state: self.state.clone() }));
        }
        let mine = state.lines.get(caller).map_or(0, VecDeque::len);
        let others = state.lines.keys().any(|name| name != caller);
        // Alone one may use the whole line; with others, half of it.
        let share = if others { self.capacity.waiting.div_ceil(2) } else { self.capacity.waiting };
        if state.waiting >= self.capacity.waiting {
            return Err(if mine > 0 && !others { Busy::Caller } else { Busy::Everybody });
        }
        if mine >= share {
            return Err(Busy::Caller);
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
    fn join(&mut self, caller: &str, sender: oneshot::Sender<Permit>) {
        let line = self.lines.entry(caller.to_owned()).or_default();
        if line.is_empty() {
            self.turns.push_back(caller.to_owned());
        }
        line.push_back(sender);
        self.waiting += 1;
    }

    /// The next whose turn it is.
    fn next(&mut self) -> Option<oneshot::Sender<Permit>> {
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
            let _ = next.send(Permit { state: self.state.clone() });
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
        assert_eq!(admission.enter("b").await.unwrap_err(), Busy::Everybody);
    }

    #[tokio::test]
    async fn with_others_in_line_one_caller_has_half_of_it() {
        let admission = admission(1, 4);
        let _working = admission.enter("a").await.unwrap();
        let mut lines: Vec<_> = ["b", "a", "a"].map(|caller| Box::pin(admission.enter(caller))).into();
        assert!(lines.iter_mut().all(|line| waits(line.as_mut())));
        assert_eq!(admission.enter("a").await.unwrap_err(), Busy::Caller);
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
