//! The keyboard: chords and runs of text, as the events that a real one makes.

use std::collections::VecDeque;
use std::time::Duration;

use surehand_cdp::protocol::input;
use surehand_cdp::{Call, Empty};

use crate::keys::{self, Key, KeyChord};
use crate::page::Page;
use crate::{Aftermath, Deadline, Error, Result};

/// A page that does much with every key gets this for each.
const KEY_TIME: Duration = Duration::from_millis(20);

/// More events than this do not wait in the browser: it has others to serve, and who stops typing has stopped.
const UNDER_WAY: usize = 64;

impl Page {
    /// Presses a chord such as `Control+a` where the focus is. Returns what followed.
    pub async fn press(&self, chord: &KeyChord, deadline: &Deadline) -> Result<Aftermath> {
        let before = self.mark();
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
        let key = with_held(&chord.key, held);
        events.push(down(&key, held));
        events.push(up(&key, held));
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
        self.send_keys(vec![down(&with_held(&chord.key, held), held)], deadline).await
    }

    /// Lets a key go.
    pub async fn key_up(&self, chord: &KeyChord, deadline: &Deadline) -> Result<()> {
        let held = {
            let mut state = self.lock();
            state.hands.modifiers &= !chord.key.modifier_bit();
            state.hands.modifiers
        };
        self.send_keys(vec![up(&with_held(&chord.key, held), held)], deadline).await
    }

    /// Types a text where the focus is, with keys: with Shift held down they type capitals, as on any keyboard.
    pub async fn type_here(&self, text: &str, delay: Duration, deadline: &Deadline) -> Result<()> {
        let held = self.lock().hands.modifiers;
        match self.type_holding(held, text, delay, deadline).await {
            Err(Error::DialogOpen(_)) => Ok(()),
            other => other,
        }
    }

    /// Puts a text where the focus is, as a paste would.
    pub async fn insert_here(&self, text: &str, deadline: &Deadline) -> Result<()> {
        self.insert_text(text, deadline).await
    }

    /// Types exactly this text where the focus is, whatever is held down.
    pub(crate) async fn type_text(&self, text: &str, delay: Duration, deadline: &Deadline) -> Result<()> {
        self.type_holding(0, text, delay, deadline).await
    }

    /// Keys where the keyboard has one for the character, else the character itself.
    async fn type_holding(&self, held: i64, text: &str, delay: Duration, deadline: &Deadline) -> Result<()> {
        // The deadline is for the page to be ready; typing itself takes its time.
        let characters = u32::try_from(text.chars().count()).unwrap_or(u32::MAX);
        let deadline = &deadline.extended((KEY_TIME + delay).saturating_mul(characters));
        self.unless_blocked(deadline, async {
            let mut calls = VecDeque::new();
            for (index, character) in text.chars().enumerate() {
                if index > 0 && !delay.is_zero() {
                    answered(&mut calls, 0).await?;
                    tokio::time::sleep(delay).await;
                }
                answered(&mut calls, UNDER_WAY).await?;
                self.send_character(character, held, &mut calls);
            }
            answered(&mut calls, 0).await
        })
        .await
    }

    fn send_character(&self, character: char, held: i64, calls: &mut VecDeque<Call<Empty>>) {
        let session = self.session();
        let Some((key, shift)) = keys::for_character(character) else {
            return calls.push_back(session.call(&input::InsertText { text: character.into() }));
        };
        let held = if shift { held | keys::SHIFT } else { held };
        let key = with_held(&key, held);
        calls.push_back(session.call(&down(&key, held)));
        calls.push_back(session.call(&up(&key, held)));
    }

    /// Sent together: the browser keeps their order.
    async fn send_keys(&self, events: Vec<input::DispatchKeyEvent>, deadline: &Deadline) -> Result<()> {
        self.unless_blocked(deadline, async {
            answered(&mut events.iter().map(|event| self.session().call(event)).collect(), 0).await
        })
        .await
    }
}

/// Waits until no more than so many are under way.
async fn answered(calls: &mut VecDeque<Call<Empty>>, most: usize) -> Result<()> {
    while calls.len() > most
        && let Some(first) = calls.pop_front()
    {
        first.await?;
    }
    Ok(())
}

/// What a key is while these modifiers are held: with Shift `b` is `B` and `2` is `@`.
fn with_held(key: &Key, held: i64) -> Key {
    let types = key.text.as_ref().is_some_and(|text| text.chars().count() == 1);
    if held & keys::SHIFT == 0 || !types {
        return key.clone();
    }
    let shifted =
        (' '..='~').filter_map(keys::for_character).find(|(other, shift)| *shift && other.code == key.code);
    shifted.map_or_else(|| key.clone(), |(other, _)| other)
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
        // The protocol has a field of its own for the number pad, which events tell as location 3.
        is_keypad: (key.location == 3).then_some(true),
        location: matches!(key.location, 1 | 2).then_some(key.location),
        ..Default::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shift_that_is_held_is_in_the_key() {
        for (name, shifted) in
            [("b", "B"), ("2", "@"), ("B", "B"), ("/", "?"), ("Enter", "Enter"), ("é", "é")]
        {
            let key = KeyChord::parse(name).unwrap().key;
            assert_eq!(with_held(&key, keys::SHIFT).key, shifted, "{name}");
            assert_eq!(with_held(&key, 0).key, name);
        }
    }
}
