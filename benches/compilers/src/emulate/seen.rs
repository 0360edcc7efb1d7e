//! What was seen while workgroups ran.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::mask::Mask;
use crate::marks::LoopName;

/// The invocations whose accesses a card serves together.
pub const NEIGHBOURS: usize = 32;
/// The bytes of a line of a card's cache, and of the sectors that it is filled by.
pub const LINE: u32 = 128;
pub const SECTOR: u32 = 32;

/// How often waves reached a loop, and how often they went through its body.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Runs {
    pub reached: u64,
    pub trips: u64,
}

/// An access of the text to a storage buffer, all its executions together.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Access {
    pub binding: u32,
    pub writes: bool,
    pub atomic: bool,
    /// The line of the text.
    pub line: u32,
    /// The bytes of one invocation.
    pub width: u32,
    /// How often neighbours made the access together.
    pub times: u64,
    /// The lines of cache that neighbours touch together, summed up.
    pub lines: u64,
    /// The pairs of neighbouring invocations that made the access, and those of them whose bytes do not lie beside
    /// each other.
    pub pairs: u64,
    pub apart: u64,
}

impl Access {
    /// The access in words.
    pub fn describe(&self) -> String {
        let lines = self.lines as f64 / self.times.max(1) as f64;
        let Access { binding, line, width, .. } = self;
        format!("line {line}: {width} bytes at binding {binding}, {lines:.1} lines of cache")
    }
}

/// What was seen.
#[derive(Debug, Default)]
pub struct Seen {
    pub workgroups: u64,
    pub loops: HashMap<LoopName, Runs>,
    /// Whether the two sides of a branch were taken, by function and number.
    pub sides: HashMap<(String, usize), [bool; 2]>,
    /// The accesses by their places in the module.
    pub accesses: BTreeMap<usize, Access>,
    /// The sectors that were read and written, by binding, and in which workgroup.
    sectors: BTreeMap<(u32, bool), BTreeSet<(u64, u32)>>,
}

impl Seen {
    /// Adds an access of some invocations, each with its address in bytes.
    pub fn access(&mut self, place: usize, one: Access, active: Mask, addresses: &[u32]) {
        let workgroup = self.workgroups;
        let sectors = self.sectors.entry((one.binding, one.writes)).or_default();
        let width = one.width.max(1);
        let access = self.accesses.entry(place).or_insert(one);
        for first in (0..addresses.len()).step_by(NEIGHBOURS) {
            let neighbours = first..(first + NEIGHBOURS).min(addresses.len());
            let mut lines: Vec<u32> = Vec::new();
            for lane in neighbours.clone().filter(|&lane| active.has(lane)) {
                let (begin, end) = (addresses[lane], addresses[lane].saturating_add(width - 1));
                lines.extend(begin / LINE..=end / LINE);
                sectors.extend((begin / SECTOR..=end / SECTOR).map(|sector| (workgroup, sector)));
                if lane + 1 < neighbours.end && active.has(lane + 1) {
                    access.pairs += 1;
                    access.apart += u64::from(addresses[lane + 1].abs_diff(begin) != width);
                }
            }
            lines.sort_unstable();
            lines.dedup();
            access.times += u64::from(!lines.is_empty());
            access.lines += lines.len() as u64;
        }
    }

    /// The lines of cache that the accesses of a workgroup touch, in the mean.
    pub fn lines(&self) -> f64 {
        self.accesses.values().map(|access| access.lines).sum::<u64>() as f64 / self.workgroups.max(1) as f64
    }

    /// How often neighbours in a workgroup make an access, in the mean.
    pub fn accesses_of_neighbours(&self) -> f64 {
        self.accesses.values().map(|access| access.times).sum::<u64>() as f64 / self.workgroups.max(1) as f64
    }

    /// How often a loop's body runs each time that the loop is reached.
    pub fn trips(&self, name: &LoopName) -> f64 {
        let Runs { reached, trips } = self.loops.get(name).copied().unwrap_or_default();
        trips as f64 / reached.max(1) as f64
    }

    /// Adds the sides that others took.
    pub fn sides(&mut self, other: &Seen) {
        for (name, sides) in &other.sides {
            let own = self.sides.entry(name.clone()).or_default();
            *own = [own[0] | sides[0], own[1] | sides[1]];
        }
    }

    /// The bytes that a workgroup reads or writes of each binding, in the mean, in whole sectors.
    pub fn bytes(&self) -> impl Iterator<Item = (u32, f64)> + '_ {
        let bytes = |sectors: &BTreeSet<(u64, u32)>| sectors.len() as f64 * f64::from(SECTOR);
        self.sectors
            .iter()
            .map(move |((binding, _), sectors)| (*binding, bytes(sectors) / self.workgroups.max(1) as f64))
    }

    /// The stores whose neighbours mostly do not write neighbouring bytes, or that write more than 16 bytes an
    /// invocation.
    pub fn scattered(&self) -> impl Iterator<Item = &Access> {
        let scattered = |access: &&Access| {
            access.writes && !access.atomic && (access.width > 16 || access.apart * 4 > access.pairs)
        };
        self.accesses.values().filter(scattered)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(width: u32, step: u32) -> Seen {
        let addresses: Vec<u32> = (0..64).map(|lane| lane * step).collect();
        let mut seen = Seen { workgroups: 1, ..Seen::default() };
        let store = Access { binding: 2, writes: true, width, ..Access::default() };
        seen.access(1, store, Mask::of(64, |_| true), &addresses);
        seen
    }

    #[test]
    fn neighbours_that_write_neighbouring_bytes_touch_few_lines() {
        assert_eq!((seen(4, 4).lines(), seen(16, 16).lines(), seen(4, 16).lines()), (2.0, 8.0, 8.0));
        assert_eq!(seen(4, 256).lines(), 64.0);
        assert!(seen(4, 4).scattered().next().is_none() && seen(16, 16).scattered().next().is_none());
    }

    #[test]
    fn stores_with_holes_between_neighbours_are_scattered() {
        assert_eq!(seen(16, 32).scattered().count(), 1);
        assert_eq!(seen(32, 32).scattered().count(), 1, "more than 16 bytes");
    }

    #[test]
    fn a_byte_that_is_touched_twice_counts_once() {
        let bytes: Vec<_> = seen(16, 0).bytes().collect();
        assert_eq!(bytes, [(2, 32.0)]);
    }
}
