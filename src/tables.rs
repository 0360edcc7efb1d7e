//! Tables of windows, for axes whose windows no 32-bit formula gives. Planning records only the rows' formulas and the
//! table's length; the table is filled when a schedule is prepared.

use wgpu_pooling_plan::AxisWindow;
use wgpu_pooling_plan::internal::take_digit;

/// Words of an entry: the first tap and the number of taps of a window.
const ENTRY_WORDS: u64 = 2;

/// The entries of one axis.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum TableRows {
    /// The taps of each of `output` windows on an axis of `input` elements.
    Windows { window: AxisWindow, input: usize, output: usize },
    /// The covering windows of each of `elements` elements, among `windows` windows on an axis of `extent` elements.
    CoveringWindows { window: AxisWindow, elements: usize, extent: usize, windows: usize },
    /// The `parts` parts, of `part_taps` taps each, of each of `output` windows on an axis of `input` elements. The
    /// last parts of a window can be empty.
    Parts { window: AxisWindow, input: usize, output: usize, parts: usize, part_taps: i64 },
}

impl TableRows {
    /// The number of entries; `None` if it overflows 64 bits.
    pub fn entries(&self) -> Option<u64> {
        match *self {
            TableRows::Windows { output, .. } => Some(output as u64),
            TableRows::CoveringWindows { elements, .. } => Some(elements as u64),
            TableRows::Parts { output, parts, .. } => (output as u64).checked_mul(parts as u64),
        }
    }

    /// The first tap and the number of taps of an entry.
    pub fn entry(&self, number: u64) -> [i64; 2] {
        match *self {
            TableRows::Windows { window, input, .. } => {
                let taps = window.taps(number as usize, input);
                [taps.first, taps.count]
            }
            TableRows::CoveringWindows { window, extent, windows, .. } => {
                window.covering_windows(number as usize, extent, windows)
            }
            TableRows::Parts { window, input, parts, part_taps, .. } => {
                let mut number = number;
                let part = take_digit(&mut number, parts as u64) as i64;
                let taps = window.taps(number as usize, input);
                let done = part.saturating_mul(part_taps);
                let skipped = done.min(taps.count).saturating_mul(taps.step);
                [taps.first.saturating_add(skipped), taps.count.saturating_sub(done).clamp(0, part_taps)]
            }
        }
    }
}

/// The tables of a schedule, concatenated in one buffer.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Tables {
    rows: Vec<TableRows>,
    entries: u64,
}

impl Tables {
    /// Appends the entries of an axis and returns the word at which they begin; `None` if the bytes overflow 64 bits.
    pub fn push(&mut self, rows: TableRows) -> Option<u64> {
        let first = self.words();
        let entries = self.entries.checked_add(rows.entries()?)?;
        // `bytes` must not overflow either, which is checked once, here.
        entries.checked_add(1)?.checked_mul(ENTRY_WORDS.checked_mul(4)?)?;
        self.entries = entries;
        self.rows.push(rows);
        Some(first)
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
        for rows in &self.rows {
            for number in 0..rows.entries().unwrap_or(0) {
                let [first, count] = rows.entry(number);
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
        let rows = TableRows::Windows { window, input: 35, output: 1 << 24 };
        assert_eq!(tables.push(rows), Some(2));
        let parts = TableRows::Parts { window, input: 5000, output: 2, parts: 3, part_taps: 1024 };
        assert_eq!(tables.push(parts), Some(2 + (2 << 24)));
        assert_eq!(tables.words(), 2 + (2 << 24) + 12);
        let endless = TableRows::Parts { window, input: 1, output: usize::MAX, parts: usize::MAX, part_taps: 1 };
        assert_eq!(tables.push(endless), None);
        assert_eq!(tables.words(), 2 + (2 << 24) + 12);
    }

    #[test]
    fn the_parts_of_a_window_are_its_taps_in_order() {
        let window = AxisWindow::Strided { kernel: 7, stride: 2, dilation: 3, pad_begin: 4 };
        let (input, output) = (20, 5);
        let rows = TableRows::Parts { window, input, output, parts: 4, part_taps: 2 };
        assert_eq!(rows.entries(), Some(20));
        for number in 0..output {
            let taps = window.taps(number, input);
            let found: Vec<i64> = (0..4)
                .map(|part| rows.entry(number as u64 * 4 + part))
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
        tables.push(TableRows::CoveringWindows {
            window: AxisWindow::adaptive(3, 2),
            elements: 3,
            extent: 3,
            windows: 2,
        });
        tables.push(TableRows::Windows { window, input: 2, output: 2 });
        let mut bytes = Vec::new();
        tables.fill(&mut bytes);
        assert_eq!(bytes.len() as u64, tables.bytes());
        let words: Vec<u32> = bytemuck::pod_collect_to_vec(&bytes);
        assert_eq!(words, [0, 0, 0, 1, 0, 2, 1, 1, 0, 1, 1, 1]);
    }
}
