//! Tables: aligned for people, or as markdown for documents.

/// A table: its head, and rows with as many cells as the head.
pub struct Columns {
    /// The names of the columns, and whether a column holds numbers, which are aligned to the right.
    head: Vec<(&'static str, bool)>,
    rows: Vec<Vec<String>>,
}

impl Columns {
    pub fn new(head: Vec<(&'static str, bool)>) -> Columns {
        Columns { head, rows: Vec::new() }
    }

    pub fn push(&mut self, row: Vec<String>) {
        self.rows.push(row);
    }

    pub fn text(&self, markdown: bool) -> String {
        let names: Vec<String> = self.head.iter().map(|(name, _)| (*name).to_owned()).collect();
        let rows = std::iter::once(&names).chain(&self.rows);
        if !markdown {
            let widths = self.widths();
            return rows.map(|row| self.aligned(row, &widths)).collect();
        }
        let line = |row: &Vec<String>| format!("| {} |\n", row.join(" | "));
        let rule: Vec<&str> = self.head.iter().map(|(_, number)| if *number { "---:" } else { "---" }).collect();
        let rule = format!("| {} |\n", rule.join(" | "));
        rows.map(line).enumerate().map(|(at, line)| if at == 0 { line + &rule } else { line }).collect()
    }

    fn widths(&self) -> Vec<usize> {
        let width = |(column, (name, _)): (usize, &(&str, bool))| {
            let cells = self.rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count());
            cells.fold(name.chars().count(), usize::max)
        };
        self.head.iter().enumerate().map(width).collect()
    }

    fn aligned(&self, row: &[String], widths: &[usize]) -> String {
        let cells = row.iter().zip(widths).zip(&self.head).map(|((cell, &width), (_, number))| {
            if *number { format!("{cell:>width$}") } else { format!("{cell:<width$}") }
        });
        cells.collect::<Vec<_>>().join("  ").trim_end().to_owned() + "\n"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_go_to_the_right() {
        let mut columns = Columns::new(vec![("row", false), ("us", true)]);
        columns.push(vec!["a".to_owned(), "1.25".to_owned()]);
        assert_eq!(columns.text(false), "row    us\na    1.25\n");
        assert_eq!(columns.text(true), "| row | us |\n| --- | ---: |\n| a | 1.25 |\n");
    }
}
