//! The rules that the sources keep, and the lists of the public items.

mod house_rules;
mod imports;
mod pages;
mod public_items;
mod sources;
