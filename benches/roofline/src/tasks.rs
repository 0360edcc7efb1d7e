//! What the options ask for: rows of a catalogue, or random geometries.

use wgpu_pooling::DType;

use crate::catalogue::{self, Row};
use crate::draw::{Bounds, Drawn, draw};
use crate::options::Options;
use crate::shrink::shrunk;
use crate::sweep::Draws;
use crate::work::Plans;

/// A row in an element type.
pub struct Task {
    pub row: Row,
    pub dtype: DType,
    /// The number of the geometry in a sweep.
    pub number: Option<u64>,
}

pub struct Tasks {
    pub tasks: Vec<Task>,
    /// The parameters of the sweep, if the tasks are one.
    pub sweep: Option<Draws>,
}

pub fn tasks(options: &Options) -> Result<Tasks, String> {
    let numbers = options.sweep.numbers();
    if numbers.is_empty() {
        return Ok(Tasks { tasks: rows(options)?, sweep: None });
    }
    let dtypes = if options.dtypes.is_empty() { DType::ALL.to_vec() } else { options.dtypes.clone() };
    let bounds = Bounds { bytes: options.sweep.bytes, taps: options.sweep.taps, dtypes };
    let seed = options.sweep.seed_or_new();
    let task = |&number: &u64| {
        let Drawn { mut row, dtype } = draw(seed, number, &bounds);
        row.nan_policy = options.nan_policy.unwrap_or(row.nan_policy);
        Task { row, dtype, number: Some(number) }
    };
    let tasks = numbers.iter().map(task).collect();
    Ok(Tasks { tasks, sweep: Some(Draws::new(seed, numbers, &bounds, options)) })
}

/// How many times smaller a row has to be made.
fn by(row: &Row, dtype: DType, options: &Options) -> u64 {
    let bytes = Plans::new(row, dtype).map_or(0, |plans| plans.bytes());
    options.row_bytes.map_or(options.shrink, |most| bytes.div_ceil(most).max(1))
}

/// The rows that the options ask for, in the element types that they ask for.
fn rows(options: &Options) -> Result<Vec<Task>, String> {
    let rows = match &options.catalogue {
        None => catalogue::parse(catalogue::OWN)?,
        Some(path) => {
            let name = path.display();
            let text = std::fs::read_to_string(path).map_err(|error| format!("cannot read {name}: {error}"))?;
            catalogue::parse(&text).map_err(|error| format!("{name} is no catalogue: {error}"))?
        }
    };
    if let Some(part) = options.rows.iter().find(|part| !rows.iter().any(|row| row.name.contains(part.as_str()))) {
        let names: Vec<&str> = rows.iter().map(|row| row.name.as_str()).collect();
        return Err(format!("no row has {part:?} in its name: {}", names.join(", ")));
    }
    let asked_for = |row: &&Row| options.rows.is_empty() || options.rows.iter().any(|part| row.name.contains(part));
    let in_types = |row: &Row| {
        let types = match &options.dtypes[..] {
            [] => vec![row.dtype.unwrap_or(DType::F32)],
            types => types.to_vec(),
        };
        let nan_policy = options.nan_policy.unwrap_or(row.nan_policy);
        let row = Row { nan_policy, ..row.clone() };
        types.into_iter().map(move |dtype| Task { row: shrunk(&row, by(&row, dtype, options)), dtype, number: None })
    };
    Ok(rows.iter().filter(asked_for).flat_map(in_types).collect())
}
