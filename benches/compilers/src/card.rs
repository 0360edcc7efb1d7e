//! How long a schedule would take on a card that is not here: an H100, from what its compilers' counts and its lines of
//! cache say.
//!
//! A dispatch takes what launching it takes, and then about as long as the slowest of three: its bytes, its vector
//! operations, the lines of cache that its loads and stores touch. The constants are those of benches/RESULTS.md's
//! H100: bandwidth and launch from copies, operations from twelve rows (rms 7 %). The counts that they go with are
//! those of Mesa 25.0 for RDNA 3.

use serde::Serialize;

/// The compiler whose counts the constants were fitted to.
pub const FITTED: &str = "navi31, Mesa 25.0";

const BYTES_PER_SECOND: f64 = 3.05e12;
const LAUNCH_SECONDS: f64 = 2.5e-6;
const OPERATIONS_PER_SECOND: f64 = 13.4e12;
/// A line a cycle for each of 132 multiprocessors.
const LINES_PER_SECOND: f64 = 132.0 * 1.98e9;
/// How sharply the slowest of the three decides.
const POWER: i32 = 5;

/// What a dispatch does.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct Work {
    /// Bytes that it reads and writes, each once.
    pub bytes: f64,
    /// Vector operations of all invocations.
    pub operations: f64,
    /// Lines of cache that neighbouring invocations touch together, over all loads and stores.
    pub lines: f64,
}

impl Work {
    fn seconds(self) -> f64 {
        let parts =
            [self.bytes / BYTES_PER_SECOND, self.operations / OPERATIONS_PER_SECOND, self.lines / LINES_PER_SECOND];
        let together = parts.into_iter().map(|part| part.powi(POWER)).sum::<f64>().powf(1.0 / f64::from(POWER));
        LAUNCH_SECONDS + together
    }
}

/// The vector operations that the card has time for while it moves bytes.
pub fn budget(bytes: u64) -> f64 {
    bytes as f64 * OPERATIONS_PER_SECOND / BYTES_PER_SECOND
}

/// The time of a schedule's dispatches over that of a copy that moves the same bytes.
pub fn copies(dispatches: &[Work], bytes: u64) -> f64 {
    let seconds: f64 = dispatches.iter().map(|work| work.seconds()).sum();
    seconds / Work { bytes: bytes as f64, ..Work::default() }.seconds()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_takes_as_long_as_itself_and_a_second_launch_is_worth_some_megabytes() {
        let copy = Work { bytes: 100e6, ..Work::default() };
        assert_eq!(copies(&[copy], 100_000_000), 1.0);
        let twice = copies(&[copy, Work::default()], 100_000_000);
        assert!((twice - copies(&[Work { bytes: 107.625e6, ..copy }], 100_000_000)).abs() < 1e-9, "{twice}");
    }

    #[test]
    fn the_slowest_of_bytes_operations_and_lines_decides() {
        let work = |operations: f64, lines: f64| copies(&[Work { bytes: 300e6, operations, lines }], 300_000_000);
        assert!(work(1e8, 1e6) < 1.001);
        assert!((work(4.4 * 600e6, 0.0) - 1.97).abs() < 0.05);
        assert!(work(0.0, 300e6) > 10.0);
    }
}
