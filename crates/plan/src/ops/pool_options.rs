//! The options that all pools have: layouts, the index convention, the rules for NaN and for empty windows.

use crate::index::IndexSpace;
use crate::options::{EmptyIndex, EmptyValue, IndexFlattening, Layout, NanPolicy, StorageOrder};
use crate::plan::Dimensions;

/// The options that all pools have.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct PoolOptions {
    pub layout: Layout,
    pub index_layout: Layout,
    pub flatten: IndexFlattening,
    /// `None` leaves the order to the operator's other attributes.
    pub index_order: Option<StorageOrder>,
    pub nan_policy: NanPolicy,
    pub empty_value: EmptyValue,
    pub empty_index: EmptyIndex,
}

impl PoolOptions {
    pub fn new(flatten: IndexFlattening) -> Self {
        PoolOptions {
            layout: Layout::default(),
            index_layout: Layout::default(),
            flatten,
            index_order: None,
            nan_policy: NanPolicy::default(),
            empty_value: EmptyValue::default(),
            empty_index: EmptyIndex::default(),
        }
    }

    /// The convention of the indices, with the order of the operator's attribute.
    pub fn space(&self, order: StorageOrder, dimensions: &Dimensions) -> IndexSpace {
        let space = IndexSpace::new(dimensions.batch, dimensions.channels, &dimensions.spatial);
        let order = self.index_order.unwrap_or(order);
        space.with_flatten(self.flatten).with_order(order).with_layout(self.index_layout)
    }
}

/// The methods that set an operator's `options`. `line` and `grid` are expressions for the examples: a pool whose
/// window is a line of two elements, and a pool whose window is a grid of two by three. The texts `flatten` and
/// `index_order` end the documentation of these options.
macro_rules! pool_options {
    (
        $type:ident, line: $line:literal, grid: $grid:literal, flatten: $flatten:literal,
        index_order: $index_order:literal
    ) => {
        impl $type {
            /// The layout of X and Y. Default NCHW; NHWC is the form of `com.ms.internal.nhwc`.
            ///
            /// ```
            #[doc = concat!(" use wgpu_pooling::{DType, Layout, ", stringify!($type), "};")]
            #[doc = concat!(" let plan = ", $line, ".layout(Layout::Nhwc).plan(&[1, 2, 3], DType::F32, None)?;")]
            /// assert_eq!(plan.output_shape(), &[1, 1, 3]);
            /// # Ok::<(), wgpu_pooling::PlanError>(())
            /// ```
            pub fn layout(mut self, layout: Layout) -> Self {
                self.options.layout = layout;
                self
            }

            /// The layout of Indices, in shape and in arithmetic. Default NCHW, also for NHWC data, as in onnxruntime.
            /// No convention counts through NHWC planes.
            ///
            /// ```
            #[doc = concat!(" use wgpu_pooling::{DType, IndexFlattening, IndexType, Layout, ", stringify!($type), "};")]
            ///
            #[doc = concat!(" let pool = ", $line, ".layout(Layout::Nhwc).flatten(IndexFlattening::Batch);")]
            /// assert_eq!(pool.plan(&[1, 2, 3], DType::F32, Some(IndexType::I64))?.outputs()[1].shape, [1, 3, 1]);
            /// let pool = pool.index_layout(Layout::Nhwc);
            /// assert_eq!(pool.plan(&[1, 2, 3], DType::F32, Some(IndexType::I64))?.outputs()[1].shape, [1, 1, 3]);
            /// let pool = pool.flatten(IndexFlattening::Plane);
            /// assert!(pool.plan(&[1, 2, 3], DType::F32, Some(IndexType::I64)).is_err());
            /// # Ok::<(), wgpu_pooling::PlanError>(())
            /// ```
            pub fn index_layout(mut self, layout: Layout) -> Self {
                self.options.index_layout = layout;
                self
            }

            #[doc = concat!(" The range that an index counts through. ", $flatten)]
            ///
            /// ```
            #[doc = concat!(" use wgpu_pooling::", stringify!($type), ";")]
            /// use wgpu_pooling::{IndexFlattening, Reference, TensorView};
            ///
            /// let x = TensorView::new(&[1, 2, 2], &[1u8, 2, 4, 3])?;
            /// for (flatten, found) in [(IndexFlattening::Plane, [1, 0]), (IndexFlattening::Tensor, [1, 2])] {
            #[doc = concat!("     let pool = ", $line, ".flatten(flatten);")]
            ///     assert_eq!(pool.on(x).with_indices::<i64>().run_blocking(&Reference)?.1.data(), &found);
            /// }
            /// # Ok::<(), wgpu_pooling::ExecuteError>(())
            /// ```
            pub fn flatten(mut self, flatten: IndexFlattening) -> Self {
                self.options.flatten = flatten;
                self
            }

            #[doc = concat!(" The order in which an index counts spatial coordinates. ", $index_order)]
            ///
            /// ```
            #[doc = concat!(" use wgpu_pooling::", stringify!($type), ";")]
            /// use wgpu_pooling::{Reference, StorageOrder, TensorView};
            ///
            /// // Column major: two elements of the first column precede the 9.
            /// let x = TensorView::new(&[1, 1, 2, 3], &[0u8, 9, 0, 0, 0, 0])?;
            #[doc = concat!(" let pool = ", $grid, ".index_order(StorageOrder::ColumnMajor);")]
            /// assert_eq!(pool.on(x).with_indices::<i64>().run_blocking(&Reference)?.1.data(), &[2]);
            /// # Ok::<(), wgpu_pooling::ExecuteError>(())
            /// ```
            pub fn index_order(mut self, order: StorageOrder) -> Self {
                self.options.index_order = Some(order);
                self
            }

            /// The rule for NaN. Default [`NanPolicy::SeedFirst`], as in onnxruntime with Indices (1.29 and newer) and
            /// in OpenVINO's AdaptiveMaxPool.
            ///
            /// ```
            #[doc = concat!(" use wgpu_pooling::{NanPolicy, Reference, TensorView, ", stringify!($type), "};")]
            ///
            /// let x = TensorView::new(&[1, 1, 2], &[1.0f32, f32::NAN])?;
            #[doc = concat!(" let pool = ", $line, ";")]
            /// assert_eq!(pool.on(x).run_blocking(&Reference)?.data(), &[1.0]);
            /// let pool = pool.nan_policy(NanPolicy::PropagateLast);
            /// assert!(pool.on(x).run_blocking(&Reference)?.data()[0].is_nan());
            /// # Ok::<(), wgpu_pooling::ExecuteError>(())
            /// ```
            pub fn nan_policy(mut self, policy: NanPolicy) -> Self {
                self.options.nan_policy = policy;
                self
            }

            /// The value of an empty window, one wholly in padding or, under [`NanPolicy::Ignore`], one of NaN alone.
            /// Default [`EmptyValue::NegInf`], the maximum of nothing.
            ///
            /// ```
            #[doc = concat!(" use wgpu_pooling::", stringify!($type), ";")]
            /// use wgpu_pooling::{EmptyValue, NanPolicy, Reference, TensorView};
            ///
            /// let x = TensorView::new(&[1, 1, 2], &[f32::NAN; 2])?;
            #[doc = concat!(" let pool = ", $line, ".nan_policy(NanPolicy::Ignore);")]
            /// assert_eq!(pool.on(x).run_blocking(&Reference)?.data(), &[f32::NEG_INFINITY]);
            /// let pool = pool.empty_value(EmptyValue::LowestFinite);
            /// assert_eq!(pool.on(x).run_blocking(&Reference)?.data(), &[f32::MIN]);
            /// # Ok::<(), wgpu_pooling::ExecuteError>(())
            /// ```
            pub fn empty_value(mut self, value: EmptyValue) -> Self {
                self.options.empty_value = value;
                self
            }

            /// The index of an empty window. Default -1, the only one that [`MaxUnpool::inverse_of`] can distinguish
            /// from the index of an element.
            ///
            /// [`MaxUnpool::inverse_of`]: crate::MaxUnpool::inverse_of
            ///
            /// ```
            #[doc = concat!(" use wgpu_pooling::", stringify!($type), ";")]
            /// use wgpu_pooling::{EmptyIndex, NanPolicy, Reference, TensorView};
            ///
            /// let x = TensorView::new(&[1, 1, 2], &[f32::NAN; 2])?;
            #[doc = concat!(" let pool = ", $line, ".nan_policy(NanPolicy::Ignore).empty_index(EmptyIndex::UnitBase);")]
            /// assert_eq!(pool.on(x).with_indices::<i64>().run_blocking(&Reference)?.1.data(), &[0]);
            /// # Ok::<(), wgpu_pooling::ExecuteError>(())
            /// ```
            pub fn empty_index(mut self, index: EmptyIndex) -> Self {
                self.options.empty_index = index;
                self
            }
        }
    };
}
pub(super) use pool_options;
