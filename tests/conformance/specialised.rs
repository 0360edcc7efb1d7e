//! Which cases of a directory run in specialised builds: those that its list names.

use std::path::Path;

use support::vectors::case::Case;

/// A specialised kernel is compiled for its window, which takes longer than most cases take to run.
const MOST: usize = 64;

/// Marks the cases that `specialised.txt` beside the batches names. A directory without the file has none.
pub fn mark(directory: &Path, cases: &mut [Case]) -> Result<(), String> {
    let path = directory.join("specialised.txt");
    if !path.exists() {
        return Ok(());
    }
    let text = std::fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    mark_listed(&text, cases).map_err(|error| format!("{}: {error}", path.display()))
}

/// Marks the cases that a list names: an id in each line that is no comment.
pub fn mark_listed(list: &str, cases: &mut [Case]) -> Result<(), String> {
    let ids = list.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
    for (number, id) in ids.enumerate() {
        if number == MOST {
            return Err(format!("more than {MOST} cases take too long to compile"));
        }
        let case = cases.iter_mut().find(|case| case.name.rsplit("::").next() == Some(id));
        let case = case.ok_or_else(|| format!("there is no case {id}"))?;
        if std::mem::replace(&mut case.specialised, true) {
            return Err(format!("{id} is listed twice"));
        }
    }
    Ok(())
}
