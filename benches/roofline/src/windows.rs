//! Windows of all lengths, numbers of channels and strides: what each costs over the one before.

use std::fmt::Write;
use std::ops::RangeInclusive;

use wgpu_pooling::{DType, IndexType, Layout, NanPolicy};

use crate::catalogue::{Operator, Row, Window};
use crate::figures::Entry;
use crate::options::Options;
use crate::tasks::Task;

/// How many of the largest steps are described.
const WORST: usize = 10;
/// No row should cost this many times what the row before it costs.
const GOAL: f64 = 3.0;
/// What follows each other in a series: N, C and the spatial extents, the window and the stride along each axis.
type Geometry = (Vec<usize>, usize, usize);

/// The series by their names, each with its geometries in order. Outputs have the extents of X over the stride.
fn series() -> Vec<(String, Layout, Vec<Geometry>)> {
    let mut series = Vec::new();
    let shapes =
        [("series", vec![1, 1, 1 << 20]), ("plane", vec![1, 1, 1024, 1024]), ("volume", vec![1, 1, 64, 64, 64])];
    for (name, shape) in shapes {
        let powers: RangeInclusive<u32> = 1..=usize::ilog2(shape[2]);
        let mut windows: Vec<usize> = powers.flat_map(|power| (1 << power) - 1..=(1 << power) + 1).collect();
        windows.dedup();
        let geometries = windows.into_iter().map(|window| (shape.clone(), window, 1));
        series.push((name.to_owned(), Layout::Nchw, geometries.collect()));
    }
    for window in [2, 3, 5, 9, 31, 101] {
        let geometries = (1..=20).map(|channels| (vec![1, channels, 125, 125], window, 1));
        series.push((format!("channels_{window}x{window}"), Layout::Nhwc, geometries.collect()));
    }
    for (window, channels) in [(2, 1), (2, 4), (9, 1), (9, 4), (101, 1), (101, 4)] {
        let geometries = (1..=9).map(|stride| (vec![1, channels, 1 << 17], window, stride));
        series.push((format!("strides_{window}_c{channels}"), Layout::Nhwc, geometries.collect()));
    }
    series
}

/// The rows of all series, without and with indices.
pub fn tasks(options: &Options) -> Vec<Task> {
    let common = [DType::U8, DType::F16, DType::F32, DType::F64];
    let dtypes = if options.dtypes.is_empty() { &common } else { &options.dtypes[..] };
    let mut rows = Vec::new();
    for (name, layout, geometries) in series() {
        for (&dtype, indices) in
            dtypes.iter().flat_map(|dtype| [None, Some(IndexType::I64)].map(|indices| (dtype, indices)))
        {
            let name = if indices.is_some() { format!("{name}_i64") } else { name.clone() };
            if !options.rows.is_empty() && !options.rows.iter().any(|part| name.contains(part.as_str())) {
                continue;
            }
            rows.extend(geometries.iter().cloned().map(|(pooled, window, stride)| {
                let along = |number: usize| vec![number as i64; pooled.len() - 2];
                let pads = Some([along(window / 2), along((window - 1) / 2)].concat());
                let (kernel_shape, strides) = (along(window), Some(along(stride)));
                let operator = Operator::MaxPool(Window { kernel_shape, strides, pads, dilations: None });
                let (name, nan_policy) = (name.clone(), NanPolicy::default());
                let row = Row { name, operator, dtype: Some(dtype), layout, nan_policy, pooled, indices };
                (row, dtype)
            }));
        }
    }
    (0..).zip(rows).map(|(number, (row, dtype))| Task { row, dtype, number: Some(number) }).collect()
}

/// The largest steps from one row of a series to the next, in time by the bytes that are moved.
pub fn worst_of(entries: &[Entry]) -> String {
    let steps = entries.iter().zip(entries.iter().skip(1)).filter_map(|(first, second)| {
        let [Ok(before), Ok(next)] = [&first.outcome, &second.outcome] else { return None };
        let [own, other] = [next, before].map(|figures| figures.time.best / figures.bytes as f64);
        let is_next = first.row.name == second.row.name && first.dtype == second.dtype;
        is_next.then_some((own / other, [&before.kernel, &next.kernel], second))
    });
    let mut steps: Vec<_> = steps.collect();
    steps.sort_by(|one, other| other.0.total_cmp(&one.0));
    let above = steps.iter().filter(|(ratio, ..)| *ratio > GOAL).count();
    let mut text = format!("{above} of {} steps cost more than {GOAL} times as much. The largest:\n\n", steps.len());
    for (ratio, [before, next], Entry { row, dtype, .. }) in steps.iter().take(WORST) {
        let (window, dtype, shape) = (row.operator.in_words(), dtype.name(), &row.pooled);
        let _ = writeln!(text, "{ratio:6.2}  {}, {dtype}, {shape:?}{window}: {next} after {before}", row.name);
    }
    text
}
