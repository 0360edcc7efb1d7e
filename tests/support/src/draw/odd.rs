//! How unusual a drawn pool is: valid and small, or with numbers that few networks have, or invalid.

use wgpu_pooling::{AutoPad, EmptyIndex, IndexFlattening, IndexType, Layout, StorageOrder};

use super::bias::{Axis, Size};
use super::bytes::Bytes;
use super::pools::{Operator, PoolCase, impossible_activation};

#[derive(Debug, Clone)]
pub enum Oddity {
    /// Valid, unless a random option excludes it, such as a limit on pads.
    Tidy,
    /// Kernels that may exceed the padded input, conventions that may exclude each other.
    Loose,
    /// One axis has numbers that are too large for 32-bit formulas.
    Huge { axis: usize, kind: u8, huge: i64, extra: i64, is_clamped: bool },
    /// Windows of thousands of elements.
    Long { extent: i64, kernel: i64, outputs: i64, is_rich: bool },
    /// Windows that reach far beyond the elements, on any of the axes.
    Reaching(Vec<Reach>),
    /// One attribute, extent or convention is invalid.
    Defect { kind: u8, axis: usize, value: i64 },
}

impl Oddity {
    pub fn tidy(_: &mut Bytes<'_>) -> Oddity {
        Oddity::Tidy
    }

    /// Of every kind, but most are tidy.
    pub fn any(bytes: &mut Bytes<'_>) -> Oddity {
        match bytes.byte() {
            0..183 => Oddity::Tidy,
            183..207 => Oddity::Loose,
            207..221 => Oddity::Huge {
                axis: bytes.below(5),
                kind: bytes.byte() % 5,
                huge: 1 << bytes.of(&[31, 28, 29, 30, 31, 32, 33, 40]),
                extra: bytes.between(0..=4),
                is_clamped: bytes.flag(),
            },
            221..228 => Oddity::Long {
                extent: bytes.between(1_000..=8_999),
                kernel: bytes.between(0..=8_999),
                outputs: bytes.between(1..=5),
                is_rich: bytes.flag(),
            },
            _ => Oddity::Defect {
                kind: bytes.byte() % 16,
                axis: bytes.below(5),
                value: bytes.of(&[0, -1, i64::MIN, i64::MAX, i64::MAX / 4, 1 << 40, 1 << 31, 7]),
            },
        }
    }

    /// Windows that reach far.
    pub fn reaching(bytes: &mut Bytes<'_>) -> Oddity {
        Oddity::Reaching((0..5).map(|_| Reach::draw(bytes)).collect())
    }

    /// Whether the case has to be a MaxPool.
    pub(super) fn is_max_pool(&self) -> bool {
        matches!(self, Oddity::Reaching(_))
    }

    pub(super) fn is_loose(&self) -> bool {
        matches!(self, Oddity::Loose)
    }

    /// Whether elements are any bits.
    pub(super) fn is_rich(&self) -> bool {
        matches!(self, Oddity::Long { is_rich: true, .. })
    }

    /// Changes what was drawn, before windows are made to fit.
    pub(super) fn before(&self, case: &mut PoolCase, axes: &mut Vec<Axis>) {
        match *self {
            // The clamped start of such a window is so far away that its index exceeds 32 bits.
            Oddity::Huge { is_clamped: true, .. } => {
                (case.empty.index, case.indices) = (Some(EmptyIndex::ClampedStart), Some(IndexType::I64));
            }
            Oddity::Long { extent, outputs, .. } => {
                (case.batch, case.channels) = (case.batch.min(2), case.channels.min(2));
                // The second axis stays narrow, so that the reference has something to do but not too much.
                axes.truncate(2);
                axes.iter_mut().for_each(|axis| axis.size = Size::Input(1 + axis.extent() as i64 % 2));
                (axes[0].size, axes[0].output) = (Size::Input(extent), outputs - 1);
            }
            _ => {}
        }
    }

    /// Changes the windows of a MaxPool.
    pub(super) fn axes(&self, axes: &mut [Axis], is_padded: bool) {
        match self {
            Oddity::Huge { axis, kind, huge, extra, .. } if is_padded => {
                let rank = axes.len();
                enlarge(&mut axes[axis % rank], *kind, *huge, *extra);
            }
            &Oddity::Long { extent, kernel, outputs, .. } => {
                let axis = &mut axes[0];
                axis.dilation = axis.dilation.min(2);
                (axis.kernel, axis.stride) = (1 + kernel % (extent / axis.dilation), 1 + extent / outputs);
            }
            Oddity::Reaching(reaches) => axes.iter_mut().zip(reaches).for_each(|(axis, reach)| reach.pool(axis)),
            _ => {}
        }
    }

    /// Makes the case valid, or invalid.
    pub(super) fn after(&self, case: &mut PoolCase) {
        match *self {
            Oddity::Loose => {}
            Oddity::Defect { kind, axis, value } => spoil(case, kind, axis, value),
            _ => case.tidy(),
        }
    }
}

/// Windows that reach far beyond tiny tensors along an axis: kernels and dilations near powers of two, with pads that
/// keep elements inside every window, so that kernels that do not support empty windows are tested too.
#[derive(Debug, Clone)]
pub struct Reach {
    kind: u8,
    numbers: [i64; 2],
    /// Which tap of a window, or which split of the pads, meets the elements.
    at: i64,
    outputs: i64,
}

impl Reach {
    pub(super) fn draw(bytes: &mut Bytes<'_>) -> Reach {
        let kind = bytes.byte() % 6;
        let mut number = || 1i64 << bytes.of(&[3, 8, 15, 16, 20, 21, 22, 24, 27, 28, 29, 30, 31, 32, 33]);
        let numbers = [number(), number()];
        let offset = bytes.of(&[0, 1, 2, -2, -1]);
        let at = bytes.word() as u32;
        Reach { kind, numbers: numbers.map(|number| number + offset), at: at.into(), outputs: bytes.between(1..=8) }
    }

    /// Windows of a pool: one is empty only where the stride jumps over the elements.
    fn pool(&self, axis: &mut Axis) {
        let (extent, at) = (axis.extent() as i64, self.at);
        axis.size = Size::Input(extent);
        let apart = |axis: &mut Axis, kernel: i64, dilation: i64, tap: i64| {
            let pads = [tap * dilation, (kernel - 1 - tap) * dilation];
            (axis.kernel, axis.stride, axis.dilation, axis.pads) = (kernel, 1, dilation, pads);
        };
        match self.kind {
            // This axis stays an ordinary one beside the others.
            0 => {}
            // One long kernel: every window holds the elements up to one of them, or from one on.
            1 | 2 => {
                let kernel = self.numbers[0].max(2);
                let before = kernel - 1 - at % extent;
                let behind = (self.outputs - extent + at % extent).max(0);
                axis.pads = if self.kind == 1 { [before, behind] } else { [behind, before] };
                (axis.kernel, axis.stride, axis.dilation) = (kernel, 1, 1);
            }
            // A few taps far apart, of which one meets each output's own element.
            3 => apart(axis, 2 + at % 8, self.numbers[0], (at >> 8) % (2 + at % 8)),
            // Many taps far apart: the product of kernel and dilation must not wrap.
            4 => {
                let kernel = self.numbers[0].max(2);
                apart(axis, kernel, self.numbers[1].min((1 << 40) / kernel).max(1), at % kernel);
            }
            // Windows far apart, the first or the second of which meets the elements.
            _ => {
                let stride = self.numbers[0];
                axis.pads = [(at % 2) * stride, (at >> 8) % 2 * stride];
                (axis.kernel, axis.stride, axis.dilation) = (extent, stride, 1);
            }
        }
    }

    /// Kernel and pads of an unpool of this many sources along an axis, for an output of a few elements.
    pub(super) fn unpool(&self, sources: i64, stride: i64) -> Option<(i64, [i64; 2])> {
        if self.kind == 0 {
            return None;
        }
        let kernel = self.numbers[0].max(1);
        let total = ((sources - 1) * stride + kernel - self.outputs).max(0);
        let before = match self.at % 4 {
            0 => 0,
            1 => total,
            2 => total / 2,
            _ => (total - (self.at >> 8) % 8).max(0),
        };
        Some((kernel, [before, total - before]))
    }
}

/// Sets numbers from about 2^28 on that still give few windows.
fn enlarge(axis: &mut Axis, kind: u8, huge: i64, extra: i64) {
    let (extent, [begin, _]) = (axis.extent() as i64, axis.pads);
    axis.size = Size::Input(extent);
    match kind {
        // Taps so far apart that at most one of them lies inside.
        0 => {
            axis.kernel = axis.kernel.clamp(2, 3);
            axis.dilation = huge + begin;
            axis.stride = axis.stride.min(2);
            // The tap inside the input is the second or the last one; in the first windows it may lie before the input.
            let skipped = if extra % 2 == 0 { axis.dilation } else { axis.reach() - 1 };
            let begin = skipped + begin.min(2) - (extra % 3).min(extent - 1);
            axis.pads = [begin, (axis.reach() + extra - extent - begin).max(0)];
        }
        // A kernel that reaches far into the padding before the input.
        1 => (axis.kernel, axis.dilation, axis.pads) = (huge, 1, [huge - 1 - begin.min(extra), extra]),
        // A kernel that reaches far into the padding behind the input.
        2 => (axis.kernel, axis.dilation, axis.pads) = (huge, 1, [begin, huge - extent - begin + extra]),
        // Windows so far apart that most of them miss the input on either side.
        3 => (axis.stride, axis.pads) = (huge, [huge + begin.min(extent - 1), huge + 9]),
        // One window beyond a huge stride.
        _ => axis.stride = huge,
    }
}

/// Makes one attribute, extent or convention invalid, if the operator has it.
fn spoil(case: &mut PoolCase, kind: u8, axis: usize, value: i64) {
    let rank = case.spatial.len();
    let axis = axis % rank;
    match (kind, &mut case.operator) {
        (0, _) => case.spatial[axis] = if value < 0 { usize::MAX } else { value as usize },
        (1, _) => case.spatial = vec![1; if value < 0 { 0 } else { 11 }],
        (2, _) => {
            case.conventions.index_layout = Some(Layout::Nhwc);
            match value < 0 {
                true => case.conventions.flatten = Some(IndexFlattening::Plane),
                false => case.conventions.index_order = Some(StorageOrder::ColumnMajor),
            }
        }
        (3, _) => (case.batch, case.channels) = if axis == 0 { (usize::MAX, 0) } else { (1 << 40, 1 << 40) },
        (_, Operator::Global) => {}
        (4..9, Operator::Adaptive(size)) => size[axis] = value,
        (_, Operator::Adaptive(size)) => size.extend(std::iter::repeat_n(1, axis + 1)),
        (4, Operator::Max(options)) => options.kernel[axis] = value,
        (5, Operator::Max(options)) => options.strides.get_or_insert_with(|| vec![1; rank])[axis] = value,
        (6, Operator::Max(options)) => options.dilations.get_or_insert_with(|| vec![1; rank])[axis] = value,
        (7, Operator::Max(options)) => options.pads.get_or_insert_with(|| vec![0; 2 * rank])[axis] = value,
        (8, Operator::Max(options)) => options.pads = Some(vec![1; rank + 2]),
        (9, Operator::Max(options)) => options.kernel.truncate(axis),
        (10, Operator::Max(options)) => options.strides = Some(vec![2; rank + 1]),
        (11, Operator::Max(options)) => {
            (options.ceil_mode, options.ceil_rule) = (Some(if value == 0 { 2 } else { value }), None);
        }
        (12, Operator::Max(options)) => {
            options.storage_order = Some(if value == 0 { 2 } else { value });
            case.conventions.index_order = None;
        }
        (13, Operator::Max(options)) => options.activation = Some(impossible_activation(case.dtype, value)),
        (_, Operator::Max(options)) => {
            options.auto_pad = Some(AutoPad::SameLower);
            options.pads = Some([vec![0; 2 * rank - 1], vec![2]].concat());
        }
    }
}
