//! Rows drawn at random. Each depends on the seed and its own number alone, so a longer sweep begins with the
//! geometries of a shorter one, and any geometry can be drawn again.

use wgpu_pooling::{DType, IndexType, Layout, NanPolicy, OutsideWindow, PlanError};

use crate::catalogue::{IndexSource, Operator, Row, Window};
use crate::data::{STEP, finish};
use crate::work::Plans;

/// The longest kernel on an axis.
const LONGEST_KERNEL: u64 = 31;
/// The most channels.
const MOST_CHANNELS: u64 = 512;

/// The bounds of all geometries of a sweep.
#[derive(Debug, Clone, PartialEq)]
pub struct Bounds {
    /// The fewest bytes that a geometry moves; the most are about four times as many.
    pub bytes: u64,
    /// The most taps that all windows of a geometry have together.
    pub taps: u64,
    /// The element types to draw from.
    pub dtypes: Vec<DType>,
}

impl Bounds {
    /// The most taps of all windows of one plane, since the reference computes at least one plane of each geometry.
    const TAPS_OF_A_PLANE: u64 = 1 << 27;
}

/// A geometry of a sweep.
#[derive(Debug, Clone, PartialEq)]
pub struct Drawn {
    pub row: Row,
    pub dtype: DType,
}

/// Geometry `number` of the sweep with this seed.
///
/// The kind of the geometry is drawn once, so that refused draws do not change the shares of the classes. Extents,
/// windows and channels are drawn again until the operator accepts them and they are within the bounds.
pub fn draw(seed: u64, number: u64, bounds: &Bounds) -> Drawn {
    let mut random = Random::new(seed, number);
    let kind = Kind::draw(&mut random, bounds);
    loop {
        let mut row = kind.plane(&mut random, format!("sweep_{seed}_{number}"));
        if let Ok(true) = kind.fill(&mut random, &mut row, bounds) {
            return Drawn { row, dtype: kind.dtype };
        }
    }
}

/// The kind of a geometry, which is drawn first and only once.
struct Kind {
    dtype: DType,
    axes: usize,
    layout: Layout,
    operator: OperatorKind,
    indices: Option<IndexType>,
}

#[derive(Clone, Copy)]
enum OperatorKind {
    MaxPool,
    GlobalMaxPool,
    AdaptiveMaxPool,
    MaxUnpool,
}

impl Kind {
    fn draw(random: &mut Random, bounds: &Bounds) -> Kind {
        let operator = match random.below(100) {
            0..55 => OperatorKind::MaxPool,
            55..63 => OperatorKind::GlobalMaxPool,
            63..78 => OperatorKind::AdaptiveMaxPool,
            _ => OperatorKind::MaxUnpool,
        };
        let axes = match random.below(100) {
            0..15 => 1,
            15..75 => 2,
            _ => 3,
        };
        let layout = if random.percent(35) { Layout::Nhwc } else { Layout::Nchw };
        let index_type = if random.percent(50) { IndexType::I32 } else { IndexType::I64 };
        let with_indices = random.percent(50) || matches!(operator, OperatorKind::MaxUnpool);
        let dtype = random.one_of(&bounds.dtypes).unwrap_or(DType::F32);
        Kind { dtype, axes, layout, operator, indices: with_indices.then_some(index_type) }
    }

    /// A row of one plane.
    fn plane(&self, random: &mut Random, name: String) -> Row {
        let extents: Vec<u64> = (0..self.axes).map(|axis| self.extent(random, axis)).collect();
        let operator = match self.operator {
            OperatorKind::MaxPool => Operator::MaxPool(window(random, &extents)),
            OperatorKind::GlobalMaxPool => Operator::GlobalMaxPool,
            OperatorKind::AdaptiveMaxPool => Operator::AdaptiveMaxPool { output_size: output_size(random, &extents) },
            OperatorKind::MaxUnpool => {
                let (indices, outside_window) = (IndexSource::Pool, OutsideWindow::default());
                Operator::MaxUnpool { window: window(random, &extents), indices, outside_window }
            }
        };
        let pooled = [1, 1].into_iter().chain(extents).map(|extent| extent as usize).collect();
        let nan_policy = NanPolicy::default();
        Row { name, operator, dtype: Some(self.dtype), layout: self.layout, nan_policy, pooled, indices: self.indices }
    }

    fn extent(&self, random: &mut Random, axis: usize) -> u64 {
        match (self.axes, axis) {
            (1, _) => random.small_or_large(7, 10_000),
            (3, 0) => random.small_or_large(3, 40),
            _ if random.percent(50) => random.between(7, 300),
            _ => random.small_or_large(7, 300),
        }
    }

    /// Adds batch items and channels to a row of one plane until it moves enough bytes. Gives false if the row is out
    /// of bounds.
    fn fill(&self, random: &mut Random, row: &mut Row, bounds: &Bounds) -> Result<bool, PlanError> {
        let plane = Plans::new(row, self.dtype)?;
        let target = random.between(bounds.bytes, bounds.bytes.saturating_mul(2));
        if plane.window_taps() > Bounds::TAPS_OF_A_PLANE || plane.bytes() == 0 || plane.bytes() > target {
            return Ok(false);
        }
        let planes = target.div_ceil(plane.bytes());
        let channels = random.small_or_large(1, MOST_CHANNELS).min(planes);
        row.pooled[0] = planes.div_ceil(channels) as usize;
        row.pooled[1] = channels as usize;
        Ok(Plans::new(row, self.dtype)?.window_taps() <= bounds.taps)
    }
}

/// The attributes of a window that fits the extents and its own pads.
fn window(random: &mut Random, extents: &[u64]) -> Window {
    // Most networks have the same numbers on all axes, and small kernels.
    let longest = if random.percent(50) { 5 } else { LONGEST_KERNEL };
    let kernels = random.per_axis(extents.len(), 60, |random| random.between(1, longest));
    let rule = random.below(100);
    // `None` stands for a stride as long as the kernel.
    let strides = random.per_axis(extents.len(), 80, |random| match rule {
        0..35 => Some(1),
        35..55 => Some(2),
        55..75 => None,
        _ => Some(random.between(1, 8)),
    });
    let dilated = random.percent(25);
    let dilations = random.per_axis(extents.len(), 60, |random| if dilated { random.between(1, 4) } else { 1 });
    let padding = random.below(100);
    let mut window = Window { kernel_shape: vec![], strides: None, pads: None, dilations: None };
    let (mut all_strides, mut all_dilations, mut begins, mut ends) = (vec![], vec![], vec![], vec![]);
    for (axis, &extent) in extents.iter().enumerate() {
        let kernel = kernels[axis].min(extent);
        // The reach stays within the extent, so that every window has an element whatever the pads, which are below the
        // reach.
        let dilation = dilations[axis].min(((extent - 1) / (kernel - 1).max(1)).max(1));
        let reach = (kernel - 1) * dilation + 1;
        let (begin, end) = match padding {
            0..40 => (0, 0),
            40..75 => (reach / 2, (reach - 1) / 2),
            _ => (random.below(reach), random.below(reach)),
        };
        window.kernel_shape.push(kernel as i64);
        all_strides.push(strides[axis].unwrap_or(kernel) as i64);
        all_dilations.push(dilation as i64);
        begins.push(begin as i64);
        ends.push(end as i64);
    }
    window.strides = Some(all_strides);
    window.dilations = Some(all_dilations);
    window.pads = Some([begins, ends].concat());
    window
}

/// The output size along each axis: in half of the draws at most 14, otherwise any number up to the extent.
fn output_size(random: &mut Random, extents: &[u64]) -> Vec<i64> {
    let most = if random.percent(50) { 14 } else { u64::MAX };
    extents.iter().map(|&extent| random.between(1, extent.min(most)) as i64).collect()
}

/// Random numbers by splitmix64. They are the same in every version of the program, which libraries of random numbers
/// do not promise.
struct Random {
    state: u64,
}

impl Random {
    fn new(seed: u64, number: u64) -> Random {
        // Seed and number are both mixed, so that the sequences of neighbouring numbers and seeds do not overlap.
        Random { state: finish(finish(seed.wrapping_add(STEP)).wrapping_add(number)) }
    }

    fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(STEP);
        finish(self.state)
    }

    /// A number from 0 to `end` - 1. The bias of the remainder does not matter for numbers this small.
    fn below(&mut self, end: u64) -> u64 {
        self.next() % end.max(1)
    }

    fn between(&mut self, least: u64, most: u64) -> u64 {
        least + self.below(most.saturating_sub(least).saturating_add(1))
    }

    /// A number from `least` to `most`, with all orders of magnitude equally likely.
    fn small_or_large(&mut self, least: u64, most: u64) -> u64 {
        let halvings = (most / least.max(1)).ilog2() as u64;
        let most = (most >> self.between(0, halvings)).max(least);
        self.between(least.max(most / 2), most)
    }

    fn percent(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }

    fn one_of<T: Copy>(&mut self, choices: &[T]) -> Option<T> {
        let choice = self.below(choices.len() as u64) as usize;
        choices.get(choice).copied()
    }

    /// One value for each axis; in `alike` percent of the draws all axes have the same value.
    fn per_axis<T: Clone>(&mut self, axes: usize, alike: u64, mut draw: impl FnMut(&mut Random) -> T) -> Vec<T> {
        if self.percent(alike) { vec![draw(self); axes] } else { (0..axes).map(|_| draw(self)).collect() }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use serde_json::json;

    use super::*;
    use crate::classes::CLASSES;

    fn bounds() -> Bounds {
        Bounds { bytes: 8 << 20, taps: 1 << 32, dtypes: DType::ALL.to_vec() }
    }

    #[test]
    fn a_geometry_follows_from_seed_and_number() {
        assert_eq!(draw(7, 12, &bounds()), draw(7, 12, &bounds()));
        let draws = (0..20).flat_map(|seed| (0..20).map(move |number| draw(seed, number, &bounds())));
        let different: BTreeSet<String> = draws.map(|drawn| format!("{:?}", drawn.row.pooled)).collect();
        assert!(different.len() > 380, "{} of 400", different.len());
    }

    /// Figures of one version are compared with those of another by seed and number.
    #[test]
    fn geometries_are_the_same_in_every_version() {
        let Drawn { row, dtype } = draw(1, 3, &bounds());
        let expected = json!({
            "name": "sweep_1_3", "op": "MaxPool", "dtype": "i32", "x": [1462, 2, 108, 8], "kernel_shape": [27, 8],
            "strides": [8, 8], "pads": [39, 1, 59, 3], "dilations": [3, 1], "indices": "i32",
        });
        assert_eq!(row.entry(dtype), expected);
    }

    #[test]
    fn the_operator_takes_every_geometry_and_it_is_within_the_bounds() {
        for number in 0..1000 {
            let Drawn { row, dtype } = draw(3, number, &bounds());
            let plans = Plans::new(&row, dtype).unwrap_or_else(|error| panic!("{row:?}: {error}"));
            let bytes = plans.bytes();
            assert!((8 << 20..=40 << 20).contains(&bytes), "{bytes} bytes: {row:?}");
            assert!(plans.window_taps() <= 1 << 32, "{row:?}");
            let pool = plans.filled_by.as_ref().unwrap_or(&plans.plan).pool().unwrap();
            for axis in &pool.axes {
                assert!(axis.output > 0, "{row:?}");
                let taps = |o| axis.window.taps(o, axis.input).count;
                assert!((0..axis.output).all(|o| taps(o) > 0), "a window without elements: {row:?}");
            }
            if let Operator::MaxPool(window) | Operator::MaxUnpool { window, .. } = &row.operator {
                let axes = window.kernel_shape.len();
                for axis in 0..axes {
                    let pads = window.pads.as_ref().unwrap();
                    assert!((1..=31).contains(&window.kernel_shape[axis]), "{row:?}");
                    assert!(pads[axis].max(pads[axis + axes]) < window.reach(axis), "{row:?}");
                }
            }
            let extents = 7..=if row.pooled.len() == 3 { 10_000 } else { 300 };
            let first = if row.pooled.len() == 5 { 3 } else { 2 };
            assert!(row.pooled[first..].iter().all(|extent| extents.contains(extent)), "{row:?}");
        }
    }

    #[test]
    fn every_class_and_type_is_drawn() {
        let drawn: Vec<Drawn> = (0..500).map(|number| draw(11, number, &bounds())).collect();
        for class in CLASSES {
            let count = drawn.iter().filter(|drawn| class.has(&drawn.row, drawn.dtype)).count();
            assert!(count >= 10, "{}: {count} of 500", class.name);
        }
        for dtype in DType::ALL {
            assert!(drawn.iter().filter(|drawn| drawn.dtype == dtype).count() >= 20, "{}", dtype.name());
        }
        let bytes_alone = Bounds { dtypes: vec![DType::I8, DType::U8], ..bounds() };
        assert!((0..100).all(|number| draw(11, number, &bytes_alone).dtype.bytes() == 1));
    }
}
