//! Drawn unpools: MaxUnpool from attributes, and inverses of drawn pools.

use wgpu_pooling::{
    Activation, DType, Duplicates, IndexFlattening, IndexSpace, IndexType, Layout, MaxUnpool, OutOfBounds,
    OutsideWindow, Plan, PlanError, UnpoolMinSize, UnpoolSpace,
};

use super::bias::Bias;
use super::bytes::Bytes;
use super::code::{Code, Written};
use super::elements::{Recipe, bits_of, picks};
use super::odd::Reach;
use super::pools::{
    Conventions, Named, PoolCase, activation, impossible_activation, set_conventions, shape, small_count, unless,
};
use crate::call::Call;
use crate::splitmix::splitmix64;

/// What determines an unpool's output shape: its attributes, or the pool that it inverts.
#[derive(Debug, Clone)]
pub enum Target {
    Attributes { kernel: Vec<i64>, strides: Option<Vec<i64>>, pads: Option<Vec<i64>>, output_shape: Option<Vec<i64>> },
    Inverse(Box<PoolCase>),
}

/// The options that only unpools have; `None` leaves a setter uncalled.
#[derive(Debug, Clone, Default)]
pub struct UnpoolOptions {
    /// A preset, and its name, instead of `MaxUnpool::new`.
    pub preset: Option<Named<MaxUnpool>>,
    pub space: Option<UnpoolSpace>,
    pub min_size: Option<UnpoolMinSize>,
    pub duplicates: Option<Duplicates>,
    pub out_of_bounds: Option<OutOfBounds>,
    pub outside_window: Option<OutsideWindow>,
    pub activation: Option<Activation>,
}

impl UnpoolOptions {
    /// Other defaults than `MaxUnpool::new` has.
    pub const PRESETS: [Named<MaxUnpool>; 3] = [
        ("onnxruntime", |kernel| MaxUnpool::onnxruntime(kernel)),
        ("pytorch", |kernel| MaxUnpool::pytorch(kernel)),
        ("onnxruntime_nhwc", |kernel| MaxUnpool::onnxruntime_nhwc(kernel)),
    ];

    /// Those that unpools from attributes and inverses share.
    fn draw(bytes: &mut Bytes<'_>) -> UnpoolOptions {
        UnpoolOptions {
            duplicates: bytes.option(Duplicates::ALL),
            out_of_bounds: bytes.option(OutOfBounds::ALL),
            outside_window: bytes.sometimes(40, |bytes| bytes.of(OutsideWindow::ALL)),
            activation: bytes.sometimes(25, activation),
            ..UnpoolOptions::default()
        }
    }
}

/// An unpool, its X and its indices.
#[derive(Debug, Clone)]
pub struct UnpoolCase {
    pub target: Target,
    pub conventions: Conventions,
    pub options: UnpoolOptions,
    pub batch: usize,
    pub channels: usize,
    pub spatial: Vec<usize>,
    pub dtype: DType,
    pub index_type: IndexType,
    /// The elements of X as bits, in its layout.
    pub x: Vec<u64>,
    /// The indices, in their own layout.
    pub indices: Vec<i64>,
}

impl UnpoolCase {
    /// The inverse of a pool, on what the pool gives, with every option at its default.
    pub fn inverse_of(
        pool: &PoolCase,
        outputs: &[usize],
        index_type: IndexType,
        x: Vec<u64>,
        indices: Vec<i64>,
    ) -> Self {
        UnpoolCase {
            // An inverse takes its pool's conventions and refuses others.
            conventions: Conventions::default(),
            options: UnpoolOptions::default(),
            batch: pool.batch,
            channels: pool.channels,
            spatial: outputs.to_vec(),
            dtype: pool.dtype,
            index_type,
            x,
            indices,
            target: Target::Inverse(Box::new(pool.clone())),
        }
    }

    /// The same where it is defined which of equal indices wins.
    pub fn decided(mut self) -> Self {
        self.options.duplicates = None;
        self
    }

    /// The conventions that apply: an inverse has those of its pool.
    fn effective(&self) -> &Conventions {
        match &self.target {
            Target::Attributes { .. } => &self.conventions,
            Target::Inverse(pool) => &pool.conventions,
        }
    }

    pub fn shape(&self) -> Vec<usize> {
        shape(self.effective().layout.unwrap_or_default(), self.batch, self.channels, &self.spatial)
    }

    fn maker(&self) -> fn(&[i64]) -> MaxUnpool {
        self.options.preset.map_or(|kernel| MaxUnpool::new(kernel), |(_, new)| new)
    }

    /// The operator.
    pub fn operator(&self) -> MaxUnpool {
        let start = match &self.target {
            Target::Attributes { kernel, .. } => self.maker()(kernel),
            Target::Inverse(pool) => MaxUnpool::inverse_of(&*pool.written().value, &pool.shape()),
        };
        self.set(Written::new(start, String::new())).value
    }

    pub fn plan(&self) -> Result<Plan, PlanError> {
        self.operator().plan(&self.shape(), self.dtype, self.index_type)
    }

    /// The code that plans it. It can be printed even where making the operator panics.
    pub(super) fn code(&self) -> String {
        let start = match &self.target {
            Target::Attributes { kernel, .. } => {
                format!("MaxUnpool::{}({kernel:?})", self.options.preset.map_or("new", |it| it.0))
            }
            Target::Inverse(pool) => format!("MaxUnpool::inverse_of(&{}, &{:?})", pool.written().code, pool.shape()),
        };
        let unpool = self.set(Written::new(MaxUnpool::new([]), start)).code;
        format!("{unpool}.plan(&{:?}, {}, {})", self.shape(), self.dtype.code(), self.index_type.code())
    }

    fn set(&self, mut written: Written<MaxUnpool>) -> Written<MaxUnpool> {
        if let Target::Attributes { strides, pads, output_shape, .. } = &self.target {
            written = written.set("strides", strides, MaxUnpool::strides).set("pads", pads, MaxUnpool::pads);
            written = written.set("output_shape", output_shape, MaxUnpool::output_shape);
        }
        let options = &self.options;
        set_conventions!(written, MaxUnpool, self.conventions)
            .set("unpool_space", &options.space, MaxUnpool::unpool_space)
            .set("unpool_min_size", &options.min_size, MaxUnpool::unpool_min_size)
            .set("duplicates", &options.duplicates, MaxUnpool::duplicates)
            .set("out_of_bounds", &options.out_of_bounds, MaxUnpool::out_of_bounds)
            .set("outside_window", &options.outside_window, MaxUnpool::outside_window)
            .set("activation", &options.activation, MaxUnpool::activation)
    }

    /// Whether positions of windows are so far off that an unpool which looks at its windows may be refused.
    pub fn is_far(&self) -> bool {
        let Target::Attributes { kernel, strides, pads, .. } = &self.target else { return false };
        let far = |value: i128| value.unsigned_abs() >= 1 << 61;
        let starts = strides.iter().flatten().zip(&self.spatial);
        let mut starts = starts.map(|(&stride, &sources)| i128::from(stride) * (sources as i128 - 1));
        let mut numbers = kernel.iter().chain(strides.iter().flatten()).chain(pads.iter().flatten());
        starts.any(far) || numbers.any(|&number| far(number.into()))
    }

    /// An unpool from attributes.
    pub fn draw(unpools: &Unpools, bytes: &mut Bytes<'_>) -> UnpoolCase {
        let oddity = (unpools.oddity)(bytes);
        let mut case = UnpoolCase {
            target: Target::Attributes { kernel: Vec::new(), strides: None, pads: None, output_shape: None },
            conventions: Conventions::draw(bytes),
            options: UnpoolOptions {
                space: bytes.option(UnpoolSpace::ALL),
                min_size: bytes.sometimes(30, |bytes| bytes.of(UnpoolMinSize::ALL)),
                ..UnpoolOptions::draw(bytes)
            },
            batch: bytes.of(unpools.batch),
            channels: bytes.of(unpools.channels),
            spatial: Vec::new(),
            dtype: bytes.of(&DType::ALL),
            index_type: bytes.of(&[IndexType::I64, IndexType::I32]),
            x: Vec::new(),
            indices: Vec::new(),
        };
        case.attributes(unpools, &oddity, bytes);
        match oddity {
            Oddity::Loose => {}
            Oddity::Defect { kind, axis, value } => spoil(&mut case, kind, axis, value),
            _ => case.conventions.tidy(IndexFlattening::Tensor),
        }
        let style = bytes.of(&[Valid, Valid, Repeated, Wild, Wild, Own, Own]);
        let (recipe, picks) = (Recipe::draw(bytes), picks(bytes));
        if let (Ok(plan), Some(count)) = (case.plan(), small_count(&case.shape(), unpools.most_elements)) {
            let (space, draw) = (plan.index_space().expect("an unpool has one"), Indices { style, picks, case: &case });
            case.indices =
                if style == Own { draw.own(space) } else { (0..count).map(|at| draw.index(at, space)).collect() };
            case.x = recipe.elements(case.dtype, count);
        }
        case
    }

    /// Draws the lists of the attributes, and the extents.
    fn attributes(&mut self, unpools: &Unpools, oddity: &Oddity, bytes: &mut Bytes<'_>) {
        let rank = bytes.of(unpools.axes);
        let in_padding = if let Oddity::InPadding { axis } = oddity { Some(axis % rank) } else { None };
        if in_padding.is_some() {
            (self.options.space, self.options.min_size) = (Some(UnpoolSpace::OutputShape), None);
        }
        let is_given = bytes.flag() || in_padding.is_some();
        let is_loose = matches!(oddity, Oddity::Loose);
        // Whether an axis of the output may be smaller than inferred.
        let shrinks = self.options.space == Some(UnpoolSpace::OutputShape)
            && self.options.min_size != Some(UnpoolMinSize::PerAxis);
        let most = if rank > 3 { 2 } else { 4 };
        let (mut kernel, mut strides, mut pads) = (Vec::new(), Vec::new(), vec![0; 2 * rank]);
        let mut outputs = vec![self.batch as i64, self.channels as i64];
        for axis in 0..rank {
            let extent = bytes.between(1..=(unpools.most_extent)(rank));
            let (mut k, s) = (bytes.between(1..=most), bytes.between(1..=most));
            let mut both = [(); 2].map(|()| bytes.of(&[0, 0, 0, 0, 0, 0, 0, 0, 1, 2]));
            if let Oddity::Reaching(reaches) = oddity {
                (k, both) = reaches[axis].unpool(extent, s).unwrap_or((k, both));
            }
            let full = (extent - 1) * s + k;
            if full - both[0] - both[1] < 1 && !is_loose {
                both = [0, 0];
            }
            let larger: i64 = bytes.of(&[0, 1, 2, 3, 4, 5, -1, -2, -3]);
            let larger = if shrinks || is_loose { larger } else { larger.abs() % 4 };
            let (extent, output) = match in_padding {
                Some(own) if own == axis => (1, 1),
                _ => (extent, (full - both[0] - both[1] + larger).max(0)),
            };
            (pads[axis], pads[rank + axis]) = if in_padding == Some(axis) { (k, 0) } else { both.into() };
            outputs.push(output);
            self.spatial.push(extent as usize);
            kernel.push(k);
            strides.push(s);
        }
        self.target = Target::Attributes {
            kernel,
            strides: unless(1, strides),
            pads: unless(0, pads),
            output_shape: is_given.then_some(outputs),
        };
    }

    /// The inverse of a drawn pool, mostly with the pool's own Y and indices.
    pub fn inverse(bias: &Bias, bytes: &mut Bytes<'_>) -> UnpoolCase {
        let has_any_empty = bytes.percent(12);
        let index_type = bytes.of(&[IndexType::I64, IndexType::I32]);
        let is_spoilt = bytes.percent(5);
        // Some cases replace the pool's Y by other elements: only then do equal indices come with different elements.
        let has_others = bytes.flag();
        let style = bytes.of(&[Valid, Valid, Valid, Corrupted, Moved]);
        let options = UnpoolOptions::draw(bytes);
        let mut pool = PoolCase::draw(bias, bytes);
        if !has_any_empty {
            pool.empty.index = None;
        }
        let spatial = pool.spatial.clone();
        let mut case = UnpoolCase::inverse_of(&pool, &spatial, index_type, Vec::new(), Vec::new());
        case.options = options;
        pool.indices = Some(IndexType::I64);
        let is_small = small_count(&pool.shape(), bias.most_elements).is_some();
        let (Ok(plan), true) = (pool.plan(), is_small) else { return case };
        if small_count(plan.output_shape(), bias.most_elements).is_none() {
            return case;
        }
        let first = if pool.layout() == Layout::Nchw { 2 } else { 1 };
        case.spatial = plan.output_shape()[first..][..spatial.len()].to_vec();
        let pooled = Call::pool(plan, &pool.x).expected().expect("a pool is computed");
        case.spatial[0] += usize::from(is_spoilt);
        if let Ok(plan) = case.plan() {
            let (space, draw) =
                (plan.index_space().expect("an unpool has one"), Indices { style, picks: picks(bytes), case: &case });
            let own = bits_of(DType::I64, &pooled[1]);
            case.indices = own.iter().enumerate().map(|(at, &own)| draw.changed(at, own as i64, space)).collect();
            case.x = match has_others {
                true => Recipe::draw(bytes).elements(case.dtype, case.indices.len()),
                false => bits_of(case.dtype, &pooled[0]),
            };
        }
        case
    }
}

/// Which indices an unpool gets.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Style {
    /// Any element.
    Valid,
    /// A few elements again and again.
    Repeated,
    /// One index in four names no element.
    Wild,
    /// Each index names an element of its source's own window, as a pool's index would. In every second case one of the
    /// indices is replaced and names any element, or none.
    Own,
    /// One index in eight names any element, and one in eight names none. For inverses.
    Corrupted,
    /// One index or two name a neighbour of their element, in a row, a column or among the channels.
    Moved,
}

use Style::{Corrupted, Moved, Own, Repeated, Valid, Wild};

/// Where the indices of a case come from.
struct Indices<'a> {
    style: Style,
    picks: Vec<u8>,
    case: &'a UnpoolCase,
}

impl Indices<'_> {
    fn pick(&self, at: usize) -> u8 {
        self.picks[at % self.picks.len()]
    }

    fn index(&self, at: usize, space: &IndexSpace) -> i64 {
        let (pick, unit) = (self.pick(at), space.index_count() as i64);
        self.fits(match self.style {
            Repeated => valid(pick, at, unit, 3),
            Wild if pick % 4 == 1 => wild(pick, at, unit),
            _ => valid(pick, at, unit, i64::MAX),
        })
    }

    /// An index of the pool, or another one in its place.
    fn changed(&self, at: usize, own: i64, space: &IndexSpace) -> i64 {
        let (pick, unit) = (self.pick(at), space.index_count() as i64);
        let is_moved = at == usize::from(self.picks[0]) || at == usize::from(self.picks[1]) / 2;
        let row = self.case.spatial.last().map_or(1, |&row| 2 * row as i64);
        self.fits(match (self.style, pick % 8) {
            (Corrupted, 1) => valid(pick, at, unit, i64::MAX),
            (Corrupted, 5) => wild(pick, at, unit),
            (Moved, _) if is_moved => own + [1, -1, row, -row, self.case.channels as i64][usize::from(pick % 5)],
            _ => own,
        })
    }

    fn fits(&self, index: i64) -> i64 {
        if self.case.index_type == IndexType::I32 { i64::from(index as i32) } else { index }
    }

    /// Indices that name elements of their sources' own windows.
    fn own(&self, space: &IndexSpace) -> Vec<i64> {
        let case = self.case;
        let Target::Attributes { kernel, strides, pads, .. } = &case.target else { return Vec::new() };
        let of = |list: &Option<Vec<i64>>, axis: usize, default: i64| list.as_ref().map_or(default, |list| list[axis]);
        let (sources, channels) = (case.spatial.iter().product::<usize>(), case.channels);
        let mut indices: Vec<i64> = (0..case.batch * channels * sources)
            .map(|stored| {
                let (n, c, mut source) = match case.conventions.index_layout.unwrap_or_default() {
                    Layout::Nchw => (stored / sources / channels, stored / sources % channels, stored % sources),
                    Layout::Nhwc => (stored / channels / sources, stored % channels, stored / channels % sources),
                };
                let mut at = vec![0; kernel.len()];
                for axis in (0..kernel.len()).rev() {
                    let tap = splitmix64(u64::from(self.pick(stored)) << 32 | (stored * 8 + axis) as u64) >> 8;
                    let out = (source % case.spatial[axis]) as i64;
                    source /= case.spatial[axis];
                    let place = out * of(strides, axis, 1) - of(pads, axis, 0) + tap as i64 % kernel[axis];
                    let extents = &space.shape()[if space.layout() == Layout::Nchw { 2 } else { 1 }..];
                    at[axis] = place.min(extents[axis] as i64 - 1).max(0);
                }
                space.encode(n, c, &at)
            })
            .collect();
        let (one, other, count) = (self.picks[0], self.picks[1], indices.len());
        if let Some(index) = indices.get_mut(usize::from(other) % count.max(1)) {
            *index = match one % 4 {
                1 => valid(other, count, space.index_count() as i64, i64::MAX),
                // The source's own index with another high word.
                3 => self.fits(*index + (i64::from(other) << 32)),
                _ => *index,
            };
        }
        indices
    }
}

/// An index that names one of the first `most` elements, if there is one.
fn valid(pick: u8, at: usize, unit: i64, most: i64) -> i64 {
    let word = || splitmix64(u64::from(pick) << 32 | at as u64) >> 1;
    if pick == 0 || unit == 0 { 0 } else { word() as i64 % unit.min(most) }
}

/// An index that names no element; some of these would name one if their high word were lost.
fn wild(pick: u8, at: usize, unit: i64) -> i64 {
    let named = valid(pick, at, unit, i64::MAX);
    let wild = [
        -1,
        unit,
        -2,
        unit + 1,
        i64::MIN,
        i64::MAX,
        (1 << 32) + named,
        -(1 << 32) + named,
        (unit << 32) + named,
        u32::MAX.into(),
        i32::MIN.into(),
        i32::MAX.into(),
        i64::MIN + named,
    ];
    wild[usize::from(pick / 4) % wild.len()]
}

/// What unpools from attributes are like.
#[derive(Clone, Copy)]
pub struct Unpools {
    pub axes: &'static [usize],
    /// The largest extent of X along an axis, of how many.
    pub most_extent: fn(usize) -> i64,
    pub batch: &'static [usize],
    pub channels: &'static [usize],
    pub oddity: fn(&mut Bytes<'_>) -> Oddity,
    pub most_elements: usize,
}

/// Unpools of every kind, most of them valid.
pub const UNPOOLS: Unpools = Unpools {
    axes: &[1, 2, 3, 4, 5],
    most_extent: |rank| [12, 6, 4, 3, 2][rank - 1],
    batch: super::bias::POOLS.batch,
    channels: super::bias::POOLS.channels,
    oddity: |bytes| match bytes.byte() {
        0..171 => Oddity::Tidy,
        171..195 => Oddity::Loose,
        195..231 => Oddity::InPadding { axis: bytes.below(5) },
        _ => {
            let value = bytes.of(&[0, -1, i64::MIN, i64::MAX, 1 << 40]);
            Oddity::Defect { kind: bytes.byte() % 10, axis: bytes.below(5), value }
        }
    },
    most_elements: 1 << 16,
};

/// Tiny tensors whose windows reach far.
pub const REACHING: Unpools =
    Unpools { oddity: |bytes| Oddity::Reaching((0..5).map(|_| Reach::draw(bytes)).collect()), ..UNPOOLS };

/// An axis with one source, whose window lies in the padding.
pub const IN_PADDING: Unpools = Unpools { oddity: |bytes| Oddity::InPadding { axis: bytes.below(5) }, ..UNPOOLS };

/// For the CPU kernel `scatter`: channels and positions that fill blocks and do not.
pub const SCATTER: Unpools = Unpools {
    axes: &[2, 1, 3],
    most_extent: |rank| [400, 19, 7][rank - 1],
    batch: &[1, 2],
    channels: &[1, 3, 16, 64, 127, 128, 129, 300],
    oddity: |_| Oddity::Tidy,
    ..UNPOOLS
};

/// What is wrong with the lists, if anything is.
#[derive(Debug, Clone)]
pub enum Oddity {
    Tidy,
    /// Pads and output shapes are not made to fit.
    Loose,
    /// Windows that reach far beyond the output, on any of the axes.
    Reaching(Vec<Reach>),
    /// An axis with one source, whose window lies in the padding, and one output.
    InPadding {
        axis: usize,
    },
    Defect {
        kind: u8,
        axis: usize,
        value: i64,
    },
}

/// Makes one attribute, extent or convention invalid.
fn spoil(case: &mut UnpoolCase, kind: u8, axis: usize, value: i64) {
    let rank = case.spatial.len();
    let axis = axis % rank;
    if kind == 8 {
        case.options.activation = Some(impossible_activation(case.dtype, value));
    }
    let Target::Attributes { kernel, strides, pads, output_shape } = &mut case.target else { return };
    match kind {
        0 => kernel[axis] = value,
        1 => strides.get_or_insert_with(|| vec![1; rank])[axis] = value,
        2 => pads.get_or_insert_with(|| vec![0; 2 * rank])[axis] = value,
        3 => *pads = Some(vec![0; rank]),
        4 => kernel.push(1),
        5 => output_shape.get_or_insert_with(|| vec![1; rank + 2])[axis + 1] = value,
        6 => *output_shape = Some(vec![9; rank + 1]),
        7 => case.spatial[axis] = if value < 0 { usize::MAX } else { value as usize },
        8 => {}
        _ => {
            case.conventions.index_layout = Some(Layout::Nhwc);
            case.conventions.flatten = Some(IndexFlattening::Plane);
        }
    }
}
