//! Tables: aligned for people, or as markdown for documents.

/// A table: its head, and rows with as many cells as the head.
pub struct Columns {
    /// The names of the columns: of words first, then of numbers, which are aligned to the right.
    head: Vec<String>,
    words: usize,
    rows: Vec<Vec<String>>,
}

impl Columns {
    pub fn new(words: &[&str], numbers: &[&str]) -> Columns {
        let head = words.iter().chain(numbers).map(|&name| name.to_owned()).collect();
        Columns { head, words: words.len(), rows: Vec::new() }
    }

    pub fn push(&mut self, row: Vec<String>) {
        self.rows.push(row);
    }

    pub fn text(&self, markdown: bool) -> String {
        let rows = || std::iter::once(&self.head).chain(&self.rows);
        if !markdown {
            let width = |column: usize| {
                let cells = rows().filter_map(|row| row.get(column));
                cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
            };
            let widths: Vec<usize> = (0..self.head.len()).map(width).collect();
            return rows().map(|row| self.aligned(row, &widths)).collect();
        }
        let line = |row: &Vec<String>| format!("| {} |\n", row.join(" | "));
        let rule = (0..self.head.len()).map(|column| if column < self.words { "---" } else { "---:" }.to_owned());
        let rule = line(&rule.collect());
        rows().map(line).enumerate().map(|(at, line)| if at == 0 { line + &rule } else { line }).collect()
    }

    fn aligned(&self, row: &[String], widths: &[usize]) -> String {
        let cells = row.iter().zip(widths).enumerate().map(|(column, (cell, &width))| {
            if column < self.words { format!("{cell:<width$}") } else { format!("{cell:>width$}") }
        });
        cells.collect::<Vec<_>>().join("  ").trim_end().to_owned() + "\n"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_go_to_the_right() {
        let mut columns = Columns::new(&["row"], &["us"]);
        columns.push(vec!["a".to_owned(), "1.25".to_owned()]);
        assert_eq!(columns.text(false), "row    us\na    1.25\n");
        assert_eq!(columns.text(true), "| row | us |\n| --- | ---: |\n| a | 1.25 |\n");
    }
}
