//! What the options ask for: rows of a catalogue, or random geometries.

use support::draw::bias::NETWORKS;
use support::draw::bytes::{Bytes, random};
use support::draw::pools::{self, MaxPoolOptions, PoolCase};
use wgpu_pooling::{DType, IndexType, NanPolicy, OutsideWindow};

use crate::catalogue::{self, IndexSource, Operator, Row, Window};
use crate::options::{Options, Sweep};
use crate::shrink::shrunk;
use crate::sweep::Draws;
use crate::windows;
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
    if options.windows {
        return Ok(Tasks { tasks: windows::tasks(options), sweep: None });
    }
    let numbers = options.sweep.numbers();
    if numbers.is_empty() {
        return Ok(Tasks { tasks: rows(options)?, sweep: None });
    }
    let seed = options.sweep.seed_or_new();
    let tasks = numbers.iter().map(|&number| drawn(seed, number, options)).collect();
    Ok(Tasks { tasks, sweep: Some(Draws::new(seed, numbers, options)) })
}

/// The element types of a sweep.
pub fn dtypes(options: &Options) -> &[DType] {
    if options.dtypes.is_empty() { &DType::ALL } else { &options.dtypes }
}

/// A geometry of the sweep with this seed: a drawn pool or its unpool. A longer sweep begins with those of a shorter
/// one, and any can be drawn again.
fn drawn(seed: u64, number: u64, options: &Options) -> Task {
    let name = format!("sweep_{seed}_{number}");
    let mut tries = (0..).map(|again| random(seed, &name, again));
    let task = tries.find_map(|bytes| {
        let bytes = &mut Bytes(&bytes);
        let (dtype, is_undone) = (bytes.of(dtypes(options)), bytes.percent(28));
        let row = row(PoolCase::draw(&NETWORKS, bytes), is_undone);
        let (name, nan_policy) = (name.clone(), options.nan_policy.unwrap_or_default());
        let row = filled(Row { name, dtype: Some(dtype), nan_policy, ..row }, dtype, &options.sweep)?;
        Some(Task { row, dtype, number: Some(number) })
    });
    task.expect("there is always another one")
}

/// The window, the extents and the indices of a drawn pool, or of the unpool that undoes it.
fn row(case: PoolCase, is_undone: bool) -> Row {
    let (layout, nan_policy, mut indices) = (case.layout(), NanPolicy::default(), case.indices);
    let operator = match case.operator {
        pools::Operator::Max(MaxPoolOptions { kernel, strides, pads, dilations, .. }) => {
            let window = Window { kernel_shape: kernel, strides, pads, dilations };
            if is_undone {
                indices = indices.or(Some(IndexType::I64));
                let outside_window = OutsideWindow::default();
                Operator::MaxUnpool { window, indices: IndexSource::Pool, outside_window }
            } else {
                Operator::MaxPool(window)
            }
        }
        pools::Operator::Global => Operator::GlobalMaxPool,
        pools::Operator::Adaptive(output_size) => Operator::AdaptiveMaxPool { output_size },
    };
    let pooled = [&[case.batch, case.channels], &case.spatial[..]].concat();
    Row { name: String::new(), operator, dtype: None, layout, nan_policy, pooled, indices }
}

/// A row with as many batch items as move the bytes of a sweep, smaller if one moves more. `None` if it does not get
/// small enough, or if its windows have too many taps.
fn filled(row: Row, dtype: DType, sweep: &Sweep) -> Option<Row> {
    let plans = |row: &Row| Plans::new(row, dtype).ok();
    let mut row = shrunk(&row, plans(&row)?.plan.bytes().div_ceil(sweep.bytes));
    row.pooled[0] = sweep.bytes.div_ceil(plans(&row)?.plan.bytes()) as usize;
    let plans = plans(&row)?;
    (plans.plan.bytes() / 4 <= sweep.bytes && plans.window_taps() <= sweep.taps).then_some(row)
}

/// How many times smaller a row has to be made.
fn by(row: &Row, dtype: DType, options: &Options) -> u64 {
    let bytes = Plans::new(row, dtype).map_or(0, |plans| plans.plan.bytes());
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

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::classes::CLASSES;

    #[test]
    fn every_class_and_type_is_drawn_within_the_bounds() {
        let options = Options::parse_from(["roofline", "--sweep", "500", "--seed", "11"]);
        let tasks = tasks(&options).unwrap().tasks;
        for class in CLASSES {
            let count = tasks.iter().filter(|task| (class.has)(&task.row, task.dtype)).count();
            assert!(count >= 10, "{}: {count} of 500", class.name);
        }
        for dtype in DType::ALL {
            assert!(tasks.iter().filter(|task| task.dtype == dtype).count() >= 20, "{}", dtype.name());
        }
        for Task { row, dtype, .. } in &tasks {
            let plans = Plans::new(row, *dtype).unwrap();
            assert!((8 << 20..=40 << 20).contains(&plans.plan.bytes()), "{row:?}");
            let pool = plans.filled_by.as_ref().unwrap_or(&plans.plan);
            assert!(!pool.has_empty_windows() && !pool.output_shape().contains(&0), "{row:?}");
        }
    }
}
