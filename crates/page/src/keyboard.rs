//! The keyboard: chords and runs of text, as the events that a real one makes.

use surehand_cdp::protocol::input;

use crate::keys::{self, Key, KeyChord};
use crate::page::Page;
use crate::{Deadline, Error, Result};

/// A page that does much with every key gets this for each.
const KEY_TIME: std::time::Duration = std::time::Duration::from_millis(20);

impl Page {
    /// Presses a chord such as `Control+a` where the focus is. Returns the new address if it led to one.
    pub async fn press(&self, chord: &KeyChord, deadline: &Deadline) -> Result<Option<String>> {
        let before = self.navigation_mark();
        match self.press_chord(chord, deadline).await {
            // The key did what it should: the dialog is its effect.
            Ok(()) => self.let_page_react(deadline).await,
            Err(Error::DialogOpen(_)) => {}
            Err(error) => return Err(error),
        }
        Ok(self.settle(&before, deadline).await)
    }

    pub(crate) async fn press_chord(&self, chord: &KeyChord, deadline: &Deadline) -> Result<()> {
        let mut events = Vec::new();
        let mut held = self.lock().hands.modifiers;
        for modifier in &chord.modifiers {
            held |= modifier.modifier_bit();
            events.push(down(modifier, held));
        }
        events.push(down(&chord.key, held));
        events.push(up(&chord.key, held));
        for modifier in chord.modifiers.iter().rev() {
            held &= !modifier.modifier_bit() | self.lock().hands.modifiers;
            events.push(up(modifier, held));
        }
        self.send_keys(events, deadline).await
    }

    /// Holds a key down until [`Page::key_up`].
    pub async fn key_down(&self, chord: &KeyChord, deadline: &Deadline) -> Result<()> {
        let held = {
            let mut state = self.lock();
            state.hands.modifiers |= chord.key.modifier_bit();
            state.hands.modifiers
        };
        self.send_keys(vec![down(&chord.key, held)], deadline).await
    }

    /// Lets a key go.
    pub async fn key_up(&self, chord: &KeyChord, deadline: &Deadline) -> Result<()> {
        let held = {
            let mut state = self.lock();
            state.hands.modifiers &= !chord.key.modifier_bit();
            state.hands.modifiers
        };
        self.send_keys(vec![up(&chord.key, held)], deadline).await
    }

    /// Types a text where the focus is, with keys.
    pub async fn type_here(&self, text: &str, deadline: &Deadline) -> Result<()> {
        match self.type_text(text, deadline).await {
            Err(Error::DialogOpen(_)) => Ok(()),
            other => other,
        }
    }

    /// Puts a text where the focus is, as a paste would.
    pub async fn insert_here(&self, text: &str, deadline: &Deadline) -> Result<()> {
        self.insert_text(text, deadline).await
    }

    /// Types a text where the focus is: keys where the keyboard has one, else the character itself.
    pub(crate) async fn type_text(&self, text: &str, deadline: &Deadline) -> Result<()> {
        // The deadline is for the page to be ready; typing itself takes its time.
        let characters = u32::try_from(text.chars().count()).unwrap_or(u32::MAX);
        let deadline = &deadline.extended(KEY_TIME.saturating_mul(characters));
        self.unless_blocked(deadline, async {
            let session = self.session();
            let mut calls = Vec::new();
            for character in text.chars() {
                match keys::for_character(character) {
                    Some((key, shift)) => {
                        let held = if shift { keys::SHIFT } else { 0 };
                        calls.push(session.call(&down(&key, held)));
                        calls.push(session.call(&up(&key, held)));
                    }
                    None => calls.push(session.call(&input::InsertText { text: character.into() })),
                }
            }
            for call in calls {
                call.await?;
            }
            Ok(())
        })
        .await
    }

    /// Sent together: the browser keeps their order.
    async fn send_keys(&self, events: Vec<input::DispatchKeyEvent>, deadline: &Deadline) -> Result<()> {
        self.unless_blocked(deadline, async {
            let calls: Vec<_> = events.iter().map(|event| self.session().call(event)).collect();
            for call in calls {
                call.await?;
            }
            Ok(())
        })
        .await
    }
}

fn down(key: &Key, held: i64) -> input::DispatchKeyEvent {
    // With Control, Alt or Meta held a key makes no text.
    let text = key.text.clone().filter(|_| held & !keys::SHIFT == 0);
    let kind = if text.is_some() { "keyDown" } else { "rawKeyDown" };
    input::DispatchKeyEvent { text: text.clone(), unmodified_text: text, ..event(kind, key, held) }
}

fn up(key: &Key, held: i64) -> input::DispatchKeyEvent {
    event("keyUp", key, held)
}

fn event(kind: &str, key: &Key, held: i64) -> input::DispatchKeyEvent {
    input::DispatchKeyEvent {
        r#type: kind.to_owned(),
        modifiers: Some(held),
        key: Some(key.key.clone()),
        code: Some(key.code.clone()),
        windows_virtual_key_code: Some(key.virtual_code),
        location: (key.location > 0).then_some(key.location),
        ..Default::default()
    }
}
