//! The kernels that AMD's compiler gets: for every row of the crate's catalogue, in four types and both layouts, those
//! that `select` chooses; and those of every family and build, of the first row in each type to which it applies.

use std::collections::{BTreeMap, BTreeSet};

use wgpu_pooling::{Choice, DType, Family, Layout, Limits, Schedule, select, wgsl};

use crate::catalogue::{self, Row};
use crate::work::Plans;

/// What wgpu allows on the cards of today: buffers and bindings of two gigabytes.
const LIMITS: Limits = Limits { max_buffer_bytes: (2 << 30) - 1, max_binding_bytes: (2 << 30) - 4, ..Limits::WEBGPU };

const DTYPES: [DType; 4] = [DType::F32, DType::F16, DType::U8, DType::F64];

/// The texts, each once, by the row, type, layout and kernel's name of the first that has it.
pub fn kernels() -> Result<BTreeMap<String, String>, String> {
    let rows = catalogue::parse(catalogue::OWN)?;
    let mut list = List::default();
    for (row, dtype) in rows.iter().flat_map(|row| DTYPES.map(|dtype| (row, dtype))) {
        if row.dtype.is_some_and(|own| own != dtype) {
            continue;
        }
        for layout in [Layout::Nchw, Layout::Nhwc] {
            if row.layout == Layout::Nchw || row.layout == layout {
                list.add(&Row { layout, ..row.clone() }, dtype, &Choice::default())?;
            }
        }
    }
    let builds = Family::ALL.iter().flat_map(|&family| family.builds().iter().map(move |&build| (family, build)));
    for ((family, build), dtype) in builds.flat_map(|chosen| DTYPES.map(|dtype| (chosen, dtype))) {
        let choice = Choice { family: Some(family), build: Some(build) };
        rows.iter().find(|row| list.add(row, dtype, &choice).is_ok());
    }
    Ok(list.texts)
}

#[derive(Default)]
struct List {
    texts: BTreeMap<String, String>,
    known: BTreeSet<String>,
}

impl List {
    /// Adds the kernels of a row.
    fn add(&mut self, row: &Row, dtype: DType, choice: &Choice) -> Result<(), String> {
        let plan = Plans::new(row, dtype).map_err(|error| format!("{}: {error}", row.name))?.plan;
        let schedule: Schedule = select(&plan, &LIMITS, choice).map_err(|error| format!("{}: {error}", row.name))?;
        let layout = if row.layout == Layout::Nchw { "NCHW" } else { "NHWC" };
        for dispatch in schedule.dispatches() {
            let text = wgsl(dispatch.key());
            if self.known.insert(text.clone()) {
                let name = format!("{} {} {layout}: {}", row.name, dtype.name(), dispatch.key().name());
                let names = (2..).map(|number| format!("{name} ({number})"));
                let mut names = std::iter::once(name.clone()).chain(names);
                let free = names.find(|name| !self.texts.contains_key(name));
                self.texts.extend(free.map(|name| (name, text)));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_type_and_layout_has_kernels() {
        let names: Vec<String> = kernels().unwrap().into_keys().collect();
        for part in DTYPES.map(DType::name).into_iter().chain(["NCHW", "NHWC", "sliding", "strips", "teams", "unpool"])
        {
            assert!(names.iter().any(|name| name.contains(part)), "{part}");
        }
        assert!(names.len() > 150, "{}", names.len());
    }
}
