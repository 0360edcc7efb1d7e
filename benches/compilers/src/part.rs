//! Which part of a long list is taken: as much as there is time for, in an order that a seed gives; and threads that
//! work on a list.

use std::collections::{BTreeMap, HashMap};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// The options of a program that may take only a part.
#[derive(Debug, Clone, clap::Args)]
pub struct Part {
    /// Take only this many, drawn at random
    #[arg(long, value_name = "N")]
    pub sample: Option<usize>,
    /// Begin no more of them after so many seconds
    #[arg(long, value_name = "N")]
    pub seconds: Option<u64>,
    /// The seed of the order
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
}

impl Part {
    /// The items to take, in a random order in which each group has its first item before any has its second: a small
    /// part has something of every group.
    pub fn of<T>(&self, mut items: Vec<T>, group: impl Fn(&T) -> String) -> Vec<T> {
        fastrand::Rng::with_seed(self.seed).shuffle(&mut items);
        let mut seen: HashMap<String, usize> = HashMap::new();
        let mut numbered: Vec<(usize, T)> = Vec::new();
        for item in items {
            let number = seen.entry(group(&item)).or_default();
            numbered.push((*number, item));
            *number += 1;
        }
        numbered.sort_by_key(|(number, _)| *number);
        numbered.truncate(self.sample.unwrap_or(usize::MAX));
        numbered.into_iter().map(|(_, item)| item).collect()
    }

    /// When no more are begun; never, if no time was given.
    pub fn end(&self) -> End {
        End(self.seconds.map(|seconds| Instant::now() + Duration::from_secs(seconds)))
    }
}

/// The time after which nothing is begun.
#[derive(Debug, Clone, Copy)]
pub struct End(Option<Instant>);

/// Threads that keep every processor busy.
pub fn processors() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

impl End {
    pub const NEVER: End = End(None);

    pub fn is_past(self) -> bool {
        self.0.is_some_and(|end| Instant::now() >= end)
    }
}

/// What `work` gives for each item, in the items' order, by so many threads. What is not begun at `end` is left out.
pub fn each<T: Sync, R: Send>(items: &[T], jobs: usize, end: End, work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let (next, done) = (AtomicUsize::new(0), Mutex::new(BTreeMap::new()));
    std::thread::scope(|scope| {
        for _ in 0..jobs.max(1) {
            scope.spawn(|| {
                while !end.is_past() {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    let Some(item) = items.get(number) else { break };
                    let result = work(item);
                    done.lock().expect("a thread that panics ends the program").insert(number, result);
                }
            });
        }
    });
    done.into_inner().expect("a thread that panics ends the program").into_values().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_small_part_has_something_of_every_group() {
        let part = |sample, seed| Part { sample: Some(sample), seconds: None, seed };
        let items: Vec<usize> = (0..100).collect();
        let group = |item: &usize| (item.min(&97) / 97 * item).to_string();
        let mut first = part(4, 7).of(items.clone(), group);
        assert_eq!(first, part(4, 7).of(items.clone(), group));
        first.sort_unstable();
        assert_eq!(first[1..], [97, 98, 99]);
        assert_ne!(part(50, 7).of(items.clone(), group), part(50, 8).of(items.clone(), group));
        assert_eq!(part(200, 7).of(items, group).len(), 100);
    }

    #[test]
    fn results_have_the_items_order() {
        let items: Vec<u32> = (0..100).collect();
        assert_eq!(each(&items, 3, End::NEVER, |item| item * 2), (0..200).step_by(2).collect::<Vec<u32>>());
        assert!(each(&items, 3, End(Some(Instant::now())), |item| *item).is_empty());
    }

    #[test]
    fn without_a_time_there_is_no_end() {
        let part = |seconds| Part { sample: None, seconds, seed: 1 };
        assert!(!part(None).end().is_past() && !part(Some(60)).end().is_past() && part(Some(0)).end().is_past());
    }
}
