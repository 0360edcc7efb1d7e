//! Tables of windows, for axes whose windows no 32-bit formula gives. Planning records only the rows' formulas and the
//! table's length; the table is filled when a schedule is prepared.

use wgpu_pooling_plan::AxisWindow;
use wgpu_pooling_plan::internal::take_digit;

/// Words of an entry: the first tap and the number of taps of a window.
const ENTRY_WORDS: u64 = 2;

/// The entries in 256 bytes, at whose multiples a binding may begin on every device.
const ALIGNMENT: u64 = 32;

/// The windows of one axis of a pass.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum PassWindow {
    /// Output `i` is element `i`.
    Identity,
    /// The windows of the plan.
    Axis(AxisWindow),
    /// Windows cut into consecutive parts: the windows, the parts per window, and the taps of a part. The last parts of
    /// a window can be empty.
    Parts(AxisWindow, u64, u64),
    /// The inverse map, from an element to the windows that cover it; the number is the axis's extent.
    CoveringWindows(AxisWindow, u64),
}

impl PassWindow {
    /// The first tap and the number of taps of an output, or of windows that cover an element, on an axis of `input`
    /// elements or windows.
    pub fn entry(self, output: u64, input: u64) -> [i64; 2] {
        let of_window = |window: AxisWindow, number: u64| window.taps(number as usize, input as usize);
        match self {
            PassWindow::Identity => [output as i64, 1],
            PassWindow::Axis(window) => {
                let taps = of_window(window, output);
                [taps.first, taps.count]
            }
            PassWindow::CoveringWindows(window, extent) => {
                window.covering_windows(output as usize, extent as usize, input as usize)
            }
            PassWindow::Parts(window, parts, part_taps) => {
                let mut number = output;
                let part = take_digit(&mut number, parts);
                let taps = of_window(window, number);
                let done = part.saturating_mul(part_taps) as i64;
                let skipped = done.min(taps.count).saturating_mul(taps.step);
                [taps.first.saturating_add(skipped), taps.count.saturating_sub(done).clamp(0, part_taps as i64)]
            }
        }
    }
}

/// The entries of one axis: the windows, the extent that they lie in, and their number.
#[derive(Debug, Clone, Copy, PartialEq)]
struct TableRows {
    window: PassWindow,
    input: u64,
    entries: u64,
}

/// The tables of a schedule, concatenated in one buffer.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Tables {
    rows: Vec<TableRows>,
    entries: u64,
}

impl Tables {
    /// Appends the entries of an axis and returns the word at which they begin; `None` if the bytes overflow 64 bits.
    pub fn push(&mut self, window: PassWindow, input: u64, entries: u64) -> Option<u64> {
        let (first, rows) = (self.words(), TableRows { window, input, entries });
        let entries = self.entries.checked_add(entries)?;
        // `bytes` must not overflow either, which is checked once, here.
        entries.checked_add(1)?.checked_mul(ENTRY_WORDS.checked_mul(4)?)?;
        self.entries = entries;
        self.rows.push(rows);
        Some(first)
    }

    /// Appends the tables of another schedule, and returns the byte at which they begin: a multiple of 256, at which a
    /// binding may begin.
    pub fn append(&mut self, other: &Tables) -> u64 {
        // Nothing is read of an unused entry.
        if other.rows.is_empty() {
            return 0;
        }
        let end = self.entries.saturating_add(1);
        let begin = end.next_multiple_of(ALIGNMENT);
        let unused = begin.saturating_sub(end).saturating_add(1);
        self.rows.push(TableRows { window: PassWindow::Identity, input: 0, entries: unused });
        self.rows.extend(&other.rows);
        self.entries = begin.saturating_add(other.entries);
        begin.saturating_mul(ENTRY_WORDS).saturating_mul(4)
    }

    /// The words of all tables. A binding cannot be empty, so the first entry is an unused one.
    pub fn words(&self) -> u64 {
        self.entries.saturating_add(1).saturating_mul(ENTRY_WORDS)
    }

    /// The bytes of all tables.
    pub fn bytes(&self) -> u64 {
        self.words().saturating_mul(4)
    }

    /// Appends the tables' words, as bytes.
    pub fn fill(&self, words: &mut Vec<u8>) {
        words.extend_from_slice(bytemuck::bytes_of(&[0u32; ENTRY_WORDS as usize]));
        for &TableRows { window, input, entries } in &self.rows {
            for number in 0..entries {
                let [first, count] = window.entry(number, input);
                // A first tap beyond 32 bits belongs to an empty window.
                let entry = [u32::try_from(first).unwrap_or(u32::MAX), count as u32];
                words.extend_from_slice(bytemuck::bytes_of(&entry));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_length_is_known_before_an_entry_is() {
        let window = AxisWindow::adaptive(35, 1 << 24);
        let mut tables = Tables::default();
        assert_eq!((tables.words(), tables.bytes()), (2, 8));
        assert_eq!(tables.push(PassWindow::Axis(window), 35, 1 << 24), Some(2));
        assert_eq!(tables.push(PassWindow::Parts(window, 3, 1024), 5000, 6), Some(2 + (2 << 24)));
        assert_eq!(tables.words(), 2 + (2 << 24) + 12);
        assert_eq!(tables.push(PassWindow::Axis(window), 1, u64::MAX), None);
        assert_eq!(tables.words(), 2 + (2 << 24) + 12);
    }

    #[test]
    fn appended_tables_begin_where_a_binding_may() {
        let (mut tables, mut other) = (Tables::default(), Tables::default());
        assert_eq!((tables.append(&other), tables.bytes()), (0, 8), "nothing is appended");
        other.push(PassWindow::Identity, 9, 9);
        for (already, begin) in [(0, 256), (20, 512), (5, 768)] {
            tables.push(PassWindow::Identity, already, already);
            assert_eq!(tables.append(&other), begin);
            let mut bytes = Vec::new();
            tables.fill(&mut bytes);
            let words: Vec<u32> = bytemuck::pod_collect_to_vec(&bytes);
            let own: Vec<u32> = (0..9).flat_map(|entry| [entry, 1]).collect();
            // The tables of a schedule begin with an unused entry.
            assert_eq!(words[begin as usize / 4 + 2..], own);
            assert_eq!(tables.bytes(), bytes.len() as u64);
        }
    }

    #[test]
    fn the_parts_of_a_window_are_its_taps_in_order() {
        let window = AxisWindow::Strided { kernel: 7, stride: 2, dilation: 3, pad_begin: 4 };
        for number in 0..5 {
            let taps = window.taps(number, 20);
            let found: Vec<i64> = (0..4)
                .map(|part| PassWindow::Parts(window, 4, 2).entry(number as u64 * 4 + part, 20))
                .flat_map(|[first, count]| (0..count).map(move |tap| first + tap * taps.step))
                .collect();
            assert_eq!(found, taps.positions().collect::<Vec<_>>(), "window {number}");
        }
    }

    #[cfg(feature = "gpu")]
    #[test]
    fn what_is_filled_is_as_long_as_was_said() {
        let window = AxisWindow::Strided { kernel: 2, stride: 1, dilation: 1 << 40, pad_begin: 1 << 40 };
        let mut tables = Tables::default();
        tables.push(PassWindow::CoveringWindows(AxisWindow::adaptive(3, 2), 3), 2, 3);
        tables.push(PassWindow::Axis(window), 2, 2);
        let mut bytes = Vec::new();
        tables.fill(&mut bytes);
        assert_eq!(bytes.len() as u64, tables.bytes());
        let words: Vec<u32> = bytemuck::pod_collect_to_vec(&bytes);
        assert_eq!(words, [0, 0, 0, 1, 0, 2, 1, 1, 0, 1, 1, 1]);
    }
}
