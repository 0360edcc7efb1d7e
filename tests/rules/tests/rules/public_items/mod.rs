//! The public items of each crate stand in tests/rules/public_items/, a line for each, so that a change to them is
//! seen; and in hidden_items.txt those that are public for the other crates of the library alone.
//!
//! They are read from the sources, so that the list does not depend on the compiler. Of the items that macros of this
//! library write, the list has the macros' lines and the types that the macros are called for.

mod library;
mod syntax;

use std::collections::BTreeSet;

use crate::sources::{CRATES, root, sources_of};
use library::Library;

/// How the lists are written anew.
const COMMAND: &str = "WGPU_POOLING_WRITE=1 cargo test -p rules public_items";

/// The name of the list of a crate: `root`, or the name of its folder.
fn list_of(folder: &str) -> &str {
    folder.rsplit('/').next().filter(|name| !name.is_empty()).unwrap_or("root")
}

/// What the crates of the library share and nobody else is to use.
fn hidden_items() -> BTreeSet<String> {
    let of = |folder| {
        let hidden = Library::read(folder).hidden;
        hidden.into_iter().map(move |line| format!("{}::{line}", list_of(folder)))
    };
    CRATES.into_iter().flat_map(of).collect()
}

/// Compares a list with its file.
fn compare(name: &str, items: &BTreeSet<String>) {
    let file = root().join(format!("tests/rules/public_items/{name}.txt"));
    let listed: String = items.iter().map(|line| line.to_owned() + "\n").collect();
    if std::env::var_os("WGPU_POOLING_WRITE").is_some_and(|value| value == "1") {
        std::fs::write(&file, &listed).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    }
    let before =
        std::fs::read_to_string(&file).unwrap_or_else(|error| panic!("{}: {error}\n{COMMAND}", file.display()));
    let before: BTreeSet<String> = before.lines().map(str::to_owned).collect();
    let gone = before.difference(items).map(|line| format!("-{line}\n"));
    let new = items.difference(&before).map(|line| format!("+{line}\n"));
    let changes: String = gone.chain(new).collect();
    assert!(
        changes.is_empty(),
        "The items are no longer those of {}. If that is meant, {COMMAND} writes the files anew.\n{changes}",
        file.display()
    );
}

#[test]
fn a_change_to_the_public_items_is_seen() {
    for folder in CRATES {
        compare(list_of(folder), &Library::read(folder).lines);
    }
}

#[test]
fn a_change_to_the_hidden_items_is_seen() {
    compare("hidden_items", &hidden_items());
}

/// They are what keeps the crates from being apart.
#[test]
fn few_items_are_hidden_and_all_of_them_are_listed() {
    let items = hidden_items();
    assert!(items.len() <= 150, "{} hidden items", items.len());
    let texts = CRATES.into_iter().flat_map(sources_of);
    // Items, not exports.
    let marks =
        |text: String| text.matches("#[doc(hidden)]\n").count() - text.matches("#[doc(hidden)]\npub use ").count();
    let marked: usize = texts.map(|(_, text)| marks(text)).sum();
    let exported = items.iter().filter(|item| item.contains(": pub use ")).count();
    assert_eq!(items.len() - exported, marked, "items that are marked as hidden");
}

/// A blocking twin may leave it to the other one.
#[test]
fn operators_options_and_entry_points_have_an_example() {
    let items: Vec<(String, bool)> = CRATES.into_iter().flat_map(|folder| Library::read(folder).examples).collect();
    let shown: BTreeSet<&str> = items.iter().filter(|(_, has)| *has).map(|(name, _)| &name[..]).collect();
    let is_shown = |name: &str| shown.contains(name.strip_suffix("_blocking").unwrap_or(name)) || shown.contains(name);
    let without: Vec<&str> = items.iter().map(|(name, _)| &name[..]).filter(|name| !is_shown(name)).collect();
    assert!(without.is_empty(), "{} public items without an example:\n{}", without.len(), without.join("\n"));
    assert!(items.len() > 300, "{} items were looked at", items.len());
}

/// An item of each kind is found.
#[test]
fn the_list_has_every_kind_of_item() {
    let items: BTreeSet<String> = CRATES.into_iter().flat_map(|folder| Library::read(folder).lines).collect();
    for begin in [
        "AutoPad: #[non_exhaustive] by option!",
        "AutoPad::NotSet = \"NOTSET\": #[default] by option!",
        "AutoPad: by parse_names!",
        "AutoPad::SameUpper = \"SAME_UPPER\": by option!",
        "Buffers::x: pub Option",
        "DType::ALL: pub const ALL: [DType; 12]",
        "DType::bytes: pub const fn bytes(self) -> usize",
        "Element::to_bits64: fn to_bits64(self) -> u64",
        "Gpu::new: pub async fn new() -> Result<Gpu, ExecuteError> [feature = \"gpu\"]",
        "MAX_SPATIAL_AXES: pub const ",
        "MaxPool: by pool_options!",
        "PlanError::UnknownValue: variant (attribute: ",
        "bf16: by float_element!",
        "half: pub use half",
        "option!: pub const fn name(self) -> &'static str",
        "pool_options!: pub fn layout(mut self, layout: Layout) -> Self",
        "PreparedPlan::call: fn call<",
        "with_element!: ($dtype:expr, $type:ident => $body:expr)",
    ] {
        assert!(items.iter().any(|item| item.starts_with(begin)), "{begin}");
    }
}
