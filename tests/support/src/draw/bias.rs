//! What drawn cases are like: a few lines for each kernel and for each question, as numbers of axes, extents and
//! windows.

use wgpu_pooling::{DType, Layout};

use super::bytes::Bytes;
use super::odd::Oddity;

/// The numbers of one axis, before they are fitted to each other.
#[derive(Debug, Clone)]
pub struct Axis {
    pub size: Size,
    pub kernel: i64,
    pub stride: i64,
    pub dilation: i64,
    pub pads: [i64; 2],
    /// Where an adaptive pool's number of outputs comes from.
    pub output: i64,
}

/// How long an axis is.
#[derive(Debug, Clone, Copy)]
pub enum Size {
    Input(i64),
    /// As long as so many windows need.
    Outputs(i64),
}

impl Axis {
    /// The elements between the first tap of a window and its last one, both included.
    pub fn reach(&self) -> i64 {
        (self.kernel - 1) * self.dilation + 1
    }

    pub fn extent(&self) -> usize {
        let extent = match self.size {
            Size::Input(extent) => extent,
            Size::Outputs(outputs) => (outputs - 1) * self.stride + self.reach() - self.pads[0] - self.pads[1],
        };
        extent.max(1) as usize
    }

    /// Pads below the reach of a window: none, a tenth of it or more.
    fn padded(mut self, bytes: &mut Bytes<'_>) -> Axis {
        let reach = self.reach();
        self.pads = [(); 2].map(|()| match bytes.byte() % 8 {
            0..4 => 0,
            4 | 5 => bytes.of(&[1, 2, 1, 9]) * reach / 10,
            _ => bytes.below(reach as usize) as i64,
        });
        self
    }
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Kind {
    Max,
    Adaptive,
    Global,
}

/// What drawn pools are like. Of lists one entry is taken, and each is as likely as another.
#[derive(Clone, Copy)]
pub struct Bias {
    /// How many spatial axes there are.
    pub axes: &'static [usize],
    /// An axis, of how many, and how far it is from the last one.
    pub axis: fn(&mut Bytes<'_>, usize, usize) -> Axis,
    pub kinds: &'static [Kind],
    pub layouts: &'static [Option<Layout>],
    pub batch: &'static [usize],
    pub channels: &'static [usize],
    pub dtypes: &'static [DType],
    /// How many of a hundred pools have indices.
    pub indices: u32,
    pub oddity: fn(&mut Bytes<'_>) -> Oddity,
    /// Whether pads are the axes' own, and limits are not asked for.
    pub is_plain: bool,
    /// The most elements of X. Cases with more are planned and not computed.
    pub most_elements: usize,
}

use DType::{Bf16, F16, F32, F64, I8, I16, I32, I64, U8, U16, U32, U64};
use Kind::{Adaptive, Global, Max};

const FLOATS: &[DType] = &[F32, F16, Bf16, F64, F32, F16, U8, I64];
const NHWC: &[Option<Layout>] = &[Some(Layout::Nhwc)];
const EITHER: &[Option<Layout>] = &[Some(Layout::Nchw), Some(Layout::Nhwc)];
/// Mostly small numbers of batch items and channels, sometimes none.
const FEW: &[usize] = &[1, 2, 3, 1, 2, 3, 1, 2, 3, 1, 2, 3, 1, 2, 3, 4, 5, 4, 5, 0];

/// Pools of every kind, most of them valid.
pub const POOLS: Bias = Bias {
    axes: &[1, 2, 3, 4, 5],
    axis: |bytes, rank, _| {
        let most = [24, 9, 6, 4, 3][rank - 1];
        let size = Size::Input(bytes.between(1..=most));
        small(bytes, size, [9, 6, 3, 2, 1][rank - 1])
    },
    kinds: &[Max, Max, Max, Max, Max, Max, Max, Max, Adaptive, Adaptive, Adaptive, Global],
    layouts: &[None],
    batch: FEW,
    channels: FEW,
    dtypes: &DType::ALL,
    indices: 75,
    oddity: Oddity::any,
    is_plain: false,
    most_elements: 1 << 16,
};

/// A small window, with pads that may exceed it.
fn small(bytes: &mut Bytes<'_>, size: Size, most_pad: i64) -> Axis {
    let (kernel, stride) = (bytes.between(1..=5), bytes.between(1..=4));
    let dilation = bytes.sometimes(33, |bytes| bytes.between(2..=4)).unwrap_or(1);
    let pads = [(); 2].map(|()| bytes.of(&[0, 0, 0, 0, 1, 2, 1, 2, 0, 0, 0, 0, 1, 2, 1, 2, 3, 9]).min(most_pad));
    Axis { size, kernel, stride, dilation, pads, output: bytes.word() as i64 >> 8 & 0xFFFF_FFFF }
}

/// The same without what is invalid or unusual.
pub const TIDY: Bias = Bias { oddity: Oddity::tidy, ..POOLS };

/// Tiny tensors whose windows reach far.
pub const REACHING: Bias = Bias { oddity: Oddity::reaching, ..POOLS };

/// Channels innermost, in about half of the cases a multiple of four of them.
pub const CHANNELS_LAST: Bias =
    Bias { axes: &[1, 2, 3], kinds: &[Max], layouts: NHWC, channels: &[1, 2, 3, 4, 4, 5, 8, 8, 11, 12, 16], ..TIDY };

/// More than the smallest bindings hold, so that outputs are divided among several dispatches, which begin inside lines
/// and inside the outputs of an invocation.
pub const DIVIDED: Bias = Bias {
    axes: &[1, 2, 3],
    axis: |bytes, rank, last| {
        let spans: &[[i64; 2]] = [&[[800, 1_600]][..], &[[20, 60], [9, 32]], &[[9, 30], [7, 16], [3, 6]]][rank - 1];
        let size = Size::Input(bytes.between(spans[last][0]..=spans[last][1]));
        let axis = small(bytes, size, 3);
        Axis { stride: 1 + axis.stride % 2, ..axis }
    },
    batch: &[2],
    channels: &[3, 4, 5, 2],
    kinds: &[Max],
    ..TIDY
};

/// Windows of a few lines: as many outputs as thread tiles have lines and more, whose windows share lines, interlock,
/// or leave lines between them.
pub const SMALL_WINDOWS: Bias = Bias {
    axes: &[1, 2, 3],
    axis: |bytes, rank, _| {
        let size = Size::Outputs(bytes.between(1..=[24, 12, 6][rank - 1]));
        let axis = small(bytes, size, 0);
        let stride = axis.stride + bytes.of(&[0, 0, 0, 1, 2]);
        Axis { stride, ..axis }.padded(bytes)
    },
    kinds: &[Max],
    batch: &[1],
    channels: &[1, 1, 2, 3, 4, 5, 8],
    dtypes: &[F32, F16, Bf16, F64, I8, U8, I16, U16, I32, U32, I64, U64, F32, F16, Bf16, F32, F16, Bf16],
    indices: 50,
    is_plain: true,
    ..TIDY
};

/// Large windows that slide by one element, along one axis or two; some are dilated or further apart.
pub const LARGE_WINDOWS: Bias = Bias {
    axes: &[2, 1, 2],
    axis: |bytes, rank, _| {
        let (kernel, outputs) = (bytes.between(8..=33), bytes.between(1..=16));
        let (stride, dilation) = if bytes.percent(12) { (bytes.between(1..=2), bytes.between(1..=2)) } else { (1, 1) };
        let (kernel, outputs) = if rank == 1 { (kernel * kernel / 4, outputs * 8) } else { (kernel, outputs) };
        Axis { size: Size::Outputs(outputs), kernel, stride, dilation, pads: [0; 2], output: 0 }.padded(bytes)
    },
    channels: &[1, 1, 2, 3, 4],
    ..SMALL_WINDOWS
};

/// Elements of at most 32 bits, for strips of several blocks, which need more lines of outputs than windows have.
pub const STRIPS: Bias = Bias {
    axes: &[2],
    axis: |bytes, _, last| {
        let (kernel, outputs) = (bytes.between(8..=11), if last == 1 { 17..=44 } else { 4..=12 });
        let size = Size::Outputs(bytes.between(outputs));
        Axis { size, kernel, stride: 1, dilation: 1, pads: [0; 2], output: 0 }.padded(bytes)
    },
    dtypes: &[F32, F16, Bf16, I32, U8],
    ..LARGE_WINDOWS
};

/// Long windows along one axis, beside axes of one element, mostly of floats.
pub const SERIES: Bias = Bias {
    axes: &[1, 2, 2, 3],
    axis: |bytes, rank, last| {
        if last + 1 < rank {
            return Axis { size: Size::Input(1), kernel: 1, stride: 1, dilation: 1, pads: [0; 2], output: 0 };
        }
        let (kernel, outputs) = (bytes.between(5..=40), bytes.between(1..=40));
        let (stride, dilation) = if bytes.percent(25) { (bytes.between(1..=4), bytes.between(1..=2)) } else { (1, 1) };
        Axis { size: Size::Outputs(outputs), kernel, stride, dilation, pads: [0; 2], output: 0 }.padded(bytes)
    },
    channels: &[1, 1, 2, 3],
    dtypes: FLOATS,
    ..SMALL_WINDOWS
};

/// Whole planes of a thousand elements and more.
pub const PLANES: Bias = Bias {
    axes: &[2],
    axis: |bytes, _, last| {
        let extent = bytes.between(if last == 0 { 1..=40 } else { 60..=150 });
        small(bytes, Size::Input(extent), 0)
    },
    kinds: &[Global],
    batch: &[1, 2, 1, 3],
    channels: &[1, 2, 1],
    ..TIDY
};

/// Windows of neighbouring cells, apart or overlapping their neighbours alone, whose unpools are written cell by cell.
pub const CELLS: Bias = Bias {
    axis: |bytes, rank, _| {
        let (kernel, outputs) = (bytes.between(1..=4), bytes.between(1..=[24, 12, 6][rank - 1]));
        let (stride, pad) = if bytes.flag() { ((kernel + 1) / 2, kernel / 2) } else { (kernel, 0) };
        Axis { size: Size::Outputs(outputs), kernel, stride, dilation: 1, pads: [pad; 2], output: 0 }
    },
    ..SMALL_WINDOWS
};

/// Larger tensors, for kernels of the CPU that compute several rows or blocks together.
const LARGE: Bias = Bias { batch: &[1, 2, 3], layouts: EITHER, most_elements: 100_000, is_plain: true, ..TIDY };

/// For `columns`: rows of outputs that are computed together and fewer, and channels that are columns.
pub const COLUMNS: Bias = Bias {
    axes: &[2, 1, 3],
    axis: |bytes, rank, _| {
        let size = Size::Input(bytes.between(1..=[700, 40, 12][rank - 1]));
        let widest = bytes.of(&[4, 4, 20, 100]);
        let (kernel, stride, dilation) = (bytes.between(1..=widest), bytes.between(1..=6), bytes.between(1..=2));
        Axis { kernel, stride, dilation, ..small(bytes, size, 0) }.padded(bytes)
    },
    kinds: &[Max, Adaptive],
    channels: &[1, 2, 5, 17, 70],
    ..LARGE
};

/// For `columns`: rows with several blocks of columns; thousands of rows, of which not all are listed.
pub const LONG_ROWS: Bias = Bias {
    axes: &[2, 2, 3],
    axis: |bytes, rank, last| {
        let size = match (last, rank) {
            (0, 2) => bytes.between(1_000..=4_000),
            (0, _) => bytes.between(9_000..=39_000),
            _ => bytes.between(1..=4),
        };
        let (kernel, stride) = (bytes.between(1..=4), bytes.between(1..=6));
        Axis { kernel, stride, ..small(bytes, Size::Input(size), 0) }.padded(bytes)
    },
    batch: &[1],
    channels: &[1, 2],
    layouts: &[Some(Layout::Nchw)],
    ..COLUMNS
};

/// For `columns`: thousands of rows, of which not all are listed.
pub const MANY_ROWS: Bias = Bias {
    axes: &[2],
    axis: |bytes, _, last| {
        let size = Size::Input(bytes.between(if last == 0 { 1..=6 } else { 4_000..=7_000 }));
        let (kernel, stride) = (bytes.between(1..=20), bytes.between(1..=6));
        Axis { kernel, stride, ..small(bytes, size, 0) }.padded(bytes)
    },
    ..LONG_ROWS
};

/// For `flat`: planes cut into strips of long rows and into bands of many rows, and windows with several planes.
pub const FLAT: Bias = Bias {
    axes: &[2, 3],
    axis: |bytes, rank, last| {
        let most = if rank == 2 { bytes.of(&[12, 60, 300]) } else { 20 };
        let stride = if last == 0 { bytes.of(&[1, 1, 2, 2, 3, 4]) } else { bytes.between(1..=2) };
        let kernel = if last < 2 && bytes.percent(30) { bytes.between(1..=125) } else { bytes.between(1..=5) };
        let (size, dilation) = (Size::Input(bytes.between(1..=most)), bytes.between(1..=3));
        Axis { kernel, stride, dilation, ..small(bytes, size, 0) }.padded(bytes)
    },
    kinds: &[Max],
    channels: &[1, 1, 2, 3, 17, 0],
    indices: 0,
    ..LARGE
};

/// For `separable`: windows of many taps, reduced in steps, with every stride; windows of more taps than lanes can
/// number, and larger than X.
pub const LONG_WINDOWS: Bias = Bias {
    axes: &[1, 2, 2, 3],
    axis: |bytes, rank, last| {
        let extent = bytes.between(1..=[9_000, 300, 20][rank - 1]);
        let is_long = last == 0 || bytes.percent(50);
        let kernel = bytes.between(1..=if is_long { extent + extent / 3 + 1 } else { 5 });
        let (stride, dilation) = (bytes.of(&[1, 1, 2, 3, 7, 40]), bytes.of(&[1, 1, 2, 5]));
        Axis { kernel, stride, dilation, ..small(bytes, Size::Input(extent), 0) }.padded(bytes)
    },
    kinds: &[Max],
    channels: &[1, 1, 2, 3, 17],
    ..LARGE
};

/// For `flat`: few rows of thousands of elements.
pub const FLAT_ROWS: Bias = Bias {
    axes: &[2],
    axis: |bytes, _, last| {
        let extent = if last == 0 { bytes.between(1_000..=9_999) } else { bytes.between(1..=6) };
        let stride = if last == 0 { bytes.of(&[1, 1, 2, 3]) } else { 1 };
        Axis { stride, ..small(bytes, Size::Input(extent), 0) }.padded(bytes)
    },
    ..FLAT
};

/// For `interleaved`: fewer planes than a vector has lanes, as many, and several blocks of them; planes smaller than a
/// vector and larger; leading axes that are counted among the planes.
pub const INTERLEAVED: Bias = Bias {
    axes: &[1, 2, 3],
    axis: |bytes, rank, last| {
        let folded = last > 0 && last + 1 == rank && bytes.percent(33);
        let (kernel, stride) = if folded { (1, 1) } else { (bytes.between(1..=4), bytes.between(1..=6)) };
        let most = bytes.of(&[[200, 30, 9], [20, 6, 3]])[rank - 1];
        let (size, dilation) = (Size::Input(bytes.between(1..=most)), bytes.between(1..=2));
        Axis { kernel, stride, dilation, ..small(bytes, size, 0) }.padded(bytes)
    },
    kinds: &[Max],
    batch: &[1, 2, 1, 3, 1, 5, 4],
    channels: &[1, 15, 8, 11, 64, 13, 300, 257, 1100],
    layouts: &[Some(Layout::Nchw)],
    ..LARGE
};

/// For `global`: windows that are runs of neighbouring elements along rows, cut by borders, with gaps and shared
/// elements.
pub const RUNS: Bias = Bias {
    axes: &[1, 2, 3],
    axis: |bytes, _, last| {
        if last > 0 {
            let (stride, size) = (bytes.of(&[1, 1, 2]), Size::Input(bytes.between(1..=5)));
            return Axis { size, kernel: 1, stride, dilation: 1, pads: [0; 2], output: 0 };
        }
        let kernel = bytes.of(&[2, 3, 7, 8, 9, 15, 16, 17, 40, 255, 256, 257, 700]);
        let rest = bytes.sometimes(60, |bytes| bytes.below(kernel as usize) as i64).unwrap_or(0);
        let stride = bytes.of(&[kernel, kernel, kernel + 1, (kernel + 1) / 2, 1 + rest]);
        let pads =
            bytes.of(&[[0, 0], [0, 0], [0, 1], [kernel / 2, kernel / 2], [0, kernel - 1], [kernel - 1, kernel - 1]]);
        Axis { size: Size::Input(kernel * bytes.between(1..=9) + rest), kernel, stride, dilation: 1, pads, output: 0 }
    },
    kinds: &[Max],
    channels: &[1, 5, 1, 3, 70],
    layouts: &[Some(Layout::Nchw)],
    ..LARGE
};

/// For `global`: windows of whole rows.
pub const WHOLE_ROWS: Bias = Bias {
    axes: &[2, 3],
    axis: |bytes, _, last| {
        let row = bytes.of(&[2, 3, 7, 8, 9, 15, 16, 17, 40, 255, 256, 257, 700]);
        let kernel = if last == 0 {
            row
        } else if last == 1 {
            bytes.between(1..=5)
        } else {
            1
        };
        let size = if last == 0 { row } else { bytes.between(kernel..=5) };
        Axis { size: Size::Input(size), kernel, stride: bytes.between(1..=3), dilation: 1, pads: [0; 2], output: 0 }
    },
    ..RUNS
};

/// For `global`: windows of many blocks, which threads share: it matters which threads compare floats.
pub const SHARED_PLANES: Bias = Bias {
    axes: &[2],
    axis: |bytes, _, last| {
        let extent = bytes.between(if last == 0 { 500..=800 } else { 300..=600 });
        small(bytes, Size::Input(extent), 0)
    },
    kinds: &[Global],
    batch: &[1],
    channels: &[1, 2, 3],
    dtypes: FLOATS,
    most_elements: 1 << 21,
    ..RUNS
};

/// Tensors of a megabyte, of which threads share whole planes, rows of a plane, channels of a row, blocks of a window.
pub const SHARED: Bias = Bias {
    axes: &[2, 2, 1, 3],
    axis: |bytes, rank, _| {
        let most = bytes.of(&[[90_000, 600, 60], [300_000, 260, 90], [20_000, 25, 40]])[rank - 1];
        let kernel = bytes.of(&[2, 3, 3, 5, 13]).min(most);
        let stride = bytes.of(&[1, 1, 2, 2, 3, kernel]);
        let size = Size::Input(bytes.between(most / 2..=most));
        Axis { kernel, stride, ..small(bytes, size, 0) }.padded(bytes)
    },
    kinds: &[Max, Max, Max, Max, Adaptive, Global],
    batch: &[1, 2, 1, 20],
    channels: &[1, 3, 1, 2, 24, 70, 300],
    most_elements: 1 << 19,
    ..LARGE
};

/// Compositions whose definition, which tries every position for every element, is computed in a moment.
pub const COMPOSED: Bias = Bias {
    axes: &[2, 1, 3],
    axis: |bytes, rank, _| {
        let size = Size::Input(bytes.between(1..=[70, 17, 7][rank - 1]));
        let largest = bytes.of(&[3, 6, 101]);
        Axis { size, kernel: bytes.between(1..=largest), stride: 1, dilation: 1, pads: [0; 2], output: 0 }
    },
    batch: &[1, 2],
    channels: &[1, 2, 3, 4],
    ..TIDY
};

/// Pools of networks: planes of up to a hundred thousand elements, and usual windows, mostly the same along all axes.
/// Whoever measures them chooses the batch, and draws the elements.
pub const NETWORKS: Bias = Bias {
    axes: &[2, 2, 3, 2, 1, 2, 3],
    axis: |bytes, rank, _| {
        let longest = bytes.of(&[[20, 200, 2_000, 10_000], [12, 40, 150, 300], [6, 12, 24, 48]][rank - 1]);
        let rest = bytes.between(1..=longest);
        // The last bytes are common to all axes.
        let mut common = Bytes(&bytes.0[bytes.0.len().saturating_sub(16)..]);
        let bytes = if common.percent(60) { &mut common } else { bytes };
        let (any, step) = (bytes.between(1..=[31, 31, 9][rank - 1]), bytes.between(1..=8));
        let kernel = bytes.of(&[2, 3, 2, 3, 5, 7, any, any, any]);
        let stride = bytes.of(&[1, 1, 2, 2, kernel, kernel, step]);
        let dilation = bytes.sometimes(25, |bytes| bytes.between(2..=4)).unwrap_or(1);
        let reach = (kernel - 1) * dilation + 1;
        let (begin, end) = (bytes.below(reach as usize) as i64, bytes.below(reach as usize) as i64);
        let pads = bytes.of(&[[0, 0], [0, 0], [reach / 2, (reach - 1) / 2], [begin, end]]);
        let output = 18 * bytes.between(0..=20) + bytes.between(0..=16);
        Axis { size: Size::Input(reach + rest), kernel, stride, dilation, pads, output }
    },
    batch: &[1],
    channels: &[1, 3, 16, 24, 64, 65, 96, 128, 256, 257, 512],
    layouts: &[Some(Layout::Nchw), Some(Layout::Nchw), Some(Layout::Nhwc)],
    indices: 50,
    is_plain: true,
    most_elements: 0,
    ..TIDY
};
