//! Index conventions as affine maps: encoding and decoding of indices.

use std::num::NonZeroU64;

use crate::bad_indices::BadIndices;
use crate::error::{ExecuteError, PlanError};
use crate::options::{IndexFlattening, Layout, StorageOrder};

/// Splits off the lowest digit of a mixed-radix number. With radix 0, as of the channel of a tensor without channels,
/// the digit is 0 and the number is unchanged.
#[inline]
pub fn take_digit(number: &mut u64, radix: u64) -> u64 {
    let radix = NonZeroU64::new(radix).unwrap_or(NonZeroU64::MIN);
    let digit = *number % radix;
    *number /= radix;
    digit
}

/// An index convention on tensors of a given size: which integer names the element at (n, c, spatial coordinates).
///
/// Every convention is an affine map, `n * stride_n + c * stride_c + sum of p[a] * stride[a]`; they differ in the
/// strides.
///
/// ```
/// use wgpu_pooling::IndexSpace;
///
/// // Two batch items of three channels of four rows of five: the last element, and back.
/// let onnx = IndexSpace::new(2, 3, [4, 5]);
/// assert_eq!(onnx.encode(1, 2, &[3, 4]), 119);
/// assert_eq!(onnx.decode(119, 0, 0), Some((1, 2, vec![3, 4])));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[must_use]
pub struct IndexSpace {
    #[doc(hidden)]
    pub flatten: IndexFlattening,
    #[doc(hidden)]
    pub order: StorageOrder,
    #[doc(hidden)]
    pub layout: Layout,
    #[doc(hidden)]
    pub batch: usize,
    #[doc(hidden)]
    pub channels: usize,
    /// Spatial extents, outermost first, without padding.
    #[doc(hidden)]
    pub extents: Vec<usize>,
}

impl std::fmt::Display for IndexSpace {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (order, flatten, shape) = (self.order.name(), self.flatten.name(), self.shape());
        write!(formatter, "{order} through the {flatten} of N, C and extents {shape:?}, {:?}", self.layout)
    }
}

/// The strides of an index convention.
///
/// ```
/// use wgpu_pooling_plan::{IndexSpace, IndexStrides};
/// assert_eq!(IndexSpace::new(2, 3, [4, 5]).strides(), IndexStrides { n: 60, c: 20, spatial: vec![5, 1] });
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IndexStrides {
    /// The stride of the batch.
    pub n: i64,
    /// The stride of the channel.
    pub c: i64,
    /// The strides of the spatial axes, outermost first.
    pub spatial: Vec<i64>,
}

impl IndexStrides {
    /// The flat index of `coordinates`, one for each spatial axis, in plane (n, c): the affine map itself, in wrapping
    /// arithmetic.
    ///
    /// ```
    /// use wgpu_pooling_plan::IndexStrides;
    ///
    /// let strides = IndexStrides { n: 60, c: 20, spatial: vec![5, 1] };
    /// assert_eq!(strides.flat(1, 2, &[3, 4]), 119);
    /// assert_eq!(strides.flat(0, 0, &[-1, -1]), -6);
    /// ```
    #[inline]
    pub fn flat(&self, n: usize, c: usize, coordinates: &[i64]) -> i64 {
        let offset = (n as i64).wrapping_mul(self.n).wrapping_add((c as i64).wrapping_mul(self.c));
        self.spatial
            .iter()
            .zip(coordinates)
            .fold(offset, |index, (stride, &coordinate)| index.wrapping_add(coordinate.wrapping_mul(*stride)))
    }
}

impl IndexSpace {
    /// ONNX's convention on tensors with these extents: flat over the whole tensor, row major, NCHW.
    ///
    /// ```
    /// use wgpu_pooling::{IndexFlattening, IndexSpace, Layout, StorageOrder};
    ///
    /// let onnx = IndexSpace::new(2, 3, [4, 5]);
    /// assert_eq!((onnx.flatten(), onnx.index_count()), (IndexFlattening::Tensor, 120));
    /// assert_eq!((onnx.order(), onnx.layout()), (StorageOrder::RowMajor, Layout::Nchw));
    /// ```
    pub fn new(batch: usize, channels: usize, extents: impl AsRef<[usize]>) -> Self {
        IndexSpace {
            flatten: IndexFlattening::default(),
            order: StorageOrder::default(),
            layout: Layout::default(),
            batch,
            channels,
            extents: extents.as_ref().to_vec(),
        }
    }

    /// This convention with another [`IndexFlattening`].
    ///
    /// ```
    /// use wgpu_pooling::{IndexFlattening, IndexSpace};
    /// let pytorch = IndexSpace::new(2, 3, [4, 5]).with_flatten(IndexFlattening::Plane);
    /// assert_eq!(pytorch.encode(1, 2, &[3, 4]), 19);
    /// ```
    pub fn with_flatten(mut self, flatten: IndexFlattening) -> Self {
        self.flatten = flatten;
        self
    }

    /// This convention with another [`StorageOrder`].
    ///
    /// ```
    /// use wgpu_pooling::{IndexSpace, StorageOrder};
    /// let columns = IndexSpace::new(1, 1, [4, 5]).with_order(StorageOrder::ColumnMajor);
    /// assert_eq!(columns.encode(0, 0, &[0, 1]), 4);
    /// ```
    pub fn with_order(mut self, order: StorageOrder) -> Self {
        self.order = order;
        self
    }

    /// This convention with another layout, both of its arithmetic and of the index tensor. No convention combines NHWC
    /// with planes or with column-major order: plans refuse that ([`PlanError::Combination`]).
    ///
    /// ```
    /// use wgpu_pooling::{IndexSpace, Layout};
    /// let nhwc = IndexSpace::new(1, 3, [4, 5]).with_layout(Layout::Nhwc);
    /// assert_eq!(nhwc.encode(0, 2, &[0, 1]), 5);
    /// ```
    pub fn with_layout(mut self, layout: Layout) -> Self {
        self.layout = layout;
        self
    }

    /// The range that an index counts through: tensor, batch item or plane.
    pub fn flatten(&self) -> IndexFlattening {
        self.flatten
    }

    /// The order of the spatial coordinates.
    pub fn order(&self) -> StorageOrder {
        self.order
    }

    /// The layout of the index tensor and of its arithmetic.
    pub fn layout(&self) -> Layout {
        self.layout
    }

    /// N, C and the spatial extents, in this order whatever the layout.
    pub fn shape(&self) -> Vec<usize> {
        [&[self.batch, self.channels], self.extents.as_slice()].concat()
    }

    /// Whether both conventions count tensors of one size and name every element by the same index. The
    /// strides of axes with one element do not matter.
    ///
    /// ```
    /// use wgpu_pooling::{IndexFlattening, IndexSpace};
    ///
    /// let planes = |space: &IndexSpace| space.clone().with_flatten(IndexFlattening::Plane);
    /// let (many, one) = (IndexSpace::new(2, 3, [4, 5]), IndexSpace::new(1, 1, [4, 5]));
    /// assert!(!many.agrees_with(&planes(&many)) && one.agrees_with(&planes(&one)));
    /// ```
    pub fn agrees_with(&self, other: &IndexSpace) -> bool {
        let (shape, [own, others]) = (self.shape(), [self, other].map(IndexSpace::strides));
        let along = |strides: &IndexStrides| [&[strides.n, strides.c], strides.spatial.as_slice()].concat();
        let pairs = along(&own).into_iter().zip(along(&others)).zip(&shape);
        shape == other.shape() && pairs.into_iter().all(|((own, other), &extent)| extent < 2 || own == other)
    }

    /// Refuses indices of another convention.
    #[doc(hidden)]
    pub fn check_indices(&self, actual: &IndexSpace) -> Result<(), PlanError> {
        if self.agrees_with(actual) {
            return Ok(());
        }
        Err(PlanError::IndexSpaceMismatch { expected: self.to_string(), actual: actual.to_string() })
    }

    /// Refuses indices that name nothing, or elements of another plane than their own.
    pub(crate) fn refuse(&self, bad: BadIndices) -> Result<(), ExecuteError> {
        let Some((position, value, count)) = bad.found() else { return Ok(()) };
        let index_count = self.index_count();
        Err(match u64::try_from(value) {
            Ok(index) if index < index_count => ExecuteError::IndexNotInPlane { position, value, count },
            _ => ExecuteError::IndexOutOfRange { position, value, index_count, count },
        })
    }

    /// Refuses combinations that no convention has.
    pub(crate) fn check(&self) -> Result<(), PlanError> {
        let second = match (self.layout, self.order) {
            (Layout::Nchw, _) => return Ok(()),
            (Layout::Nhwc, _) if !self.flatten.counts_channels() => "flatten plane",
            (Layout::Nhwc, StorageOrder::RowMajor) => return Ok(()),
            (Layout::Nhwc, StorageOrder::ColumnMajor) => "index_order column_major (storage_order 1)",
        };
        Err(PlanError::Combination { first: "index_layout NHWC", second })
    }

    /// The number of elements that the convention counts through: valid indices are below it. Sizes beyond 64 bits
    /// saturate; plans refuse them.
    ///
    /// ```
    /// use wgpu_pooling::{IndexFlattening, IndexSpace};
    /// let indices = |flatten| IndexSpace::new(2, 3, [4, 5]).with_flatten(flatten).index_count();
    /// assert_eq!(IndexFlattening::ALL.iter().map(|&flatten| indices(flatten)).collect::<Vec<_>>(), [120, 60, 20]);
    /// ```
    pub fn index_count(&self) -> u64 {
        let batch = if self.flatten.counts_batch() { self.batch } else { 1 };
        (batch as u64).saturating_mul(self.counted_channels() as u64).saturating_mul(self.plane())
    }

    /// The channels that an index counts through: all of them, or its own.
    fn counted_channels(&self) -> usize {
        if self.flatten.counts_channels() { self.channels } else { 1 }
    }

    /// The number of elements of a plane.
    pub(crate) fn plane(&self) -> u64 {
        self.extents.iter().fold(1, |product: u64, &extent| product.saturating_mul(extent as u64))
    }

    /// The strides of the affine map.
    ///
    /// ```
    /// use wgpu_pooling_plan::{IndexSpace, IndexStrides, Layout};
    /// let nhwc = IndexSpace::new(2, 3, [4, 5]).with_layout(Layout::Nhwc);
    /// assert_eq!(nhwc.strides(), IndexStrides { n: 60, c: 1, spatial: vec![15, 3] });
    /// ```
    #[doc(hidden)]
    pub fn strides(&self) -> IndexStrides {
        let (plane, channels) = (self.plane() as i64, self.channels as i64);
        let innermost = if self.layout == Layout::Nhwc { channels } else { 1 };
        let mut spatial = vec![0; self.extents.len()];
        let mut stride = innermost;
        let mut assign = |axis: usize| {
            spatial[axis] = stride;
            stride = stride.wrapping_mul(self.extents[axis] as i64);
        };
        match self.order {
            StorageOrder::RowMajor => (0..self.extents.len()).rev().for_each(&mut assign),
            StorageOrder::ColumnMajor => (0..self.extents.len()).for_each(&mut assign),
        }
        let c = match self.layout {
            _ if !self.flatten.counts_channels() => 0,
            Layout::Nchw => plane,
            Layout::Nhwc => 1,
        };
        let n = if self.flatten.counts_batch() { plane.wrapping_mul(self.counted_channels() as i64) } else { 0 };
        IndexStrides { n, c, spatial }
    }

    /// The flat index of the element at `coordinates`, one for each spatial axis, of plane (n, c).
    ///
    /// Coordinates outside the plane are neither clamped nor wrapped: the affine map is applied unchanged.
    ///
    /// ```
    /// use wgpu_pooling::IndexSpace;
    /// let space = IndexSpace::new(2, 3, [4, 5]);
    /// assert_eq!(space.encode(0, 1, &[0, 0]), 20);
    /// assert_eq!(space.encode(0, 1, &[-1, -1]), 14);
    /// ```
    pub fn encode(&self, n: usize, c: usize, coordinates: &[i64]) -> i64 {
        self.strides().flat(n, c, coordinates)
    }

    /// The element that `index`, stored in plane (n, c), names: batch, channel and spatial coordinates. A batch or
    /// channel that the convention does not count is `n` or `c`.
    ///
    /// `None` if the index lies outside `0..index_count()`.
    ///
    /// ```
    /// use wgpu_pooling::{IndexFlattening, IndexSpace};
    ///
    /// let plane = IndexSpace::new(2, 3, [4, 5]).with_flatten(IndexFlattening::Plane);
    /// // 7 is in the second row; batch and channel are those of the plane in which it stands.
    /// assert_eq!(plane.decode(7, 1, 2), Some((1, 2, vec![1, 2])));
    /// assert_eq!((plane.decode(20, 1, 2), plane.decode(-1, 1, 2)), (None, None));
    /// ```
    pub fn decode(&self, index: i64, n: usize, c: usize) -> Option<(usize, usize, Vec<usize>)> {
        let mut coordinates = vec![0; self.extents.len()];
        let (n, c) = self.decode_into(index, n, c, &mut coordinates)?;
        Some((n, c, coordinates))
    }

    /// As `decode`, with the spatial coordinates written to a slice that has one for each axis.
    pub(crate) fn decode_into(
        &self,
        index: i64,
        n: usize,
        c: usize,
        coordinates: &mut [usize],
    ) -> Option<(usize, usize)> {
        let index = u64::try_from(index).ok().filter(|&index| index < self.index_count())?;
        let (mut n, mut c, mut rest) = (n, c, index);
        let mut digit = |radix: usize| take_digit(&mut rest, radix as u64) as usize;
        if self.layout == Layout::Nhwc {
            c = digit(self.channels);
        }
        let axes = coordinates.iter_mut().zip(&self.extents);
        match self.order {
            StorageOrder::RowMajor => axes.rev().for_each(|(coordinate, &extent)| *coordinate = digit(extent)),
            StorageOrder::ColumnMajor => axes.for_each(|(coordinate, &extent)| *coordinate = digit(extent)),
        }
        if self.layout == Layout::Nchw && self.flatten.counts_channels() {
            c = digit(self.channels);
        }
        if self.flatten.counts_batch() {
            n = digit(self.batch);
        }
        Some((n, c))
    }
}
