//! The cases: one file each, one list, and the rounds that they share.
//!
//! A new case is a type with [`Case`] in a file of its own and one line in [`all`].

mod binary_size;
mod click;
mod cold_open;
mod fill;
mod get_url;
mod mcp;
mod memory;
mod playbook;
mod reading;
mod second_session;
mod service;
mod snapshot;
mod wait;

use std::time::{Duration, Instant};

use anyhow::Result;

use crate::bench::{Bench, go_on};
use crate::measure::{Row, Samples};
use crate::options::ROUNDS;
use crate::pages::LIST_SIZES;
use crate::raw::RawPage;

/// Something that is measured.
pub trait Case {
    /// What `--only` calls it.
    fn name(&self) -> &'static str;

    /// One line for `--list`.
    fn about(&self) -> &'static str;

    /// Measures it. It leaves neither tabs nor browsers of its own behind; the product's daemon may be in any state.
    fn run(&self, bench: &mut Bench) -> Result<Vec<Row>>;
}

/// Every case, in the order in which they run: those that restart the daemon come last.
pub fn all() -> Vec<Box<dyn Case>> {
    let mut cases: Vec<Box<dyn Case>> = vec![Box::new(binary_size::BinarySize), Box::new(get_url::GetUrl)];
    for elements in LIST_SIZES {
        cases.push(Box::new(snapshot::Snapshot { elements }));
    }
    cases.extend(reading::all());
    cases.push(Box::new(fill::Fill));
    cases.push(Box::new(click::Click));
    cases.push(Box::new(click::ClickBatch));
    cases.push(Box::new(wait::Wait));
    cases.push(Box::new(mcp::Mcp));
    cases.push(Box::new(playbook::Playbook));
    cases.push(Box::new(service::Service));
    cases.push(Box::new(second_session::SecondSession));
    cases.push(Box::new(memory::Memory));
    cases.push(Box::new(cold_open::ColdOpen));
    cases
}

/// Both sides on the page with something to click, to fill, to read and to wait for; the raw one's tab.
fn open_hands(bench: &mut Bench) -> Result<RawPage> {
    let url = bench.site.url("/hands");
    bench.warm("/hands")?;
    let raw = bench.raw()?;
    let page = RawPage::open(raw)?;
    page.navigate(raw, &url)?;
    Ok(page)
}

/// Rounds of a case that takes milliseconds: three times as many, because its limit is close to what a scheduler may add.
fn cheap_rounds(bench: &Bench) -> u32 {
    3 * bench.options.rounds(ROUNDS)
}

/// How long `work` takes.
fn timed<T>(work: impl FnOnce() -> Result<T>) -> Result<(Duration, T)> {
    let started = Instant::now();
    let value = work()?;
    Ok((started.elapsed(), value))
}

/// One thing to time; `None` where there is no product to measure.
type Step<'a> = &'a dyn Fn(&mut Bench) -> Result<Option<Duration>>;

/// Takes every step once a round, beginning with another one each time, so that what the machine does meanwhile
/// and what one step leaves warm for the next falls on all of them. A first round is not counted.
fn interleave<const N: usize>(bench: &mut Bench, rounds: u32, steps: [Step<'_>; N]) -> Result<[Samples; N]> {
    let mut samples = std::array::from_fn(|_| Samples::default());
    for round in 0..=rounds as usize {
        for place in 0..N {
            let number = (round + place) % N;
            go_on()?;
            let time = steps[number](bench)?;
            if let (Some(time), 1..) = (time, round) {
                samples[number].push(time);
            }
        }
    }
    Ok(samples)
}

#[cfg(test)]
mod tests;
