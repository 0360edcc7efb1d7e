//! Conversion of indices from one convention to another.

use crate::bad_indices::BadIndices;
use crate::element::{DType, Index};
use crate::error::{ExecuteError, PlanError};
use crate::index::IndexSpace;
use crate::plan::{Dimensions, assemble, check_index_type};
use crate::request::AsTensor;
use crate::tensor::{Tensor, element_count, for_each_element, position, zeros};

impl IndexSpace {
    /// Indices of this convention in another one, for example ONNX's indices of the whole tensor as PyTorch's indices
    /// of a plane, row major as column major, or NCHW as NHWC. It runs on the host: an unpool reads the indices of any
    /// convention, also on a device.
    ///
    /// The index tensor has the layout of this convention, and N and C of both; its spatial extents are those of the
    /// pool's output. -1, the index of an empty window, stays -1. The convention of a plan's indices is
    /// [`Plan::index_space`](crate::Plan::index_space).
    ///
    /// # Errors
    /// [`PlanError::SpaceMismatch`] if the conventions count tensors of different sizes, [`PlanError::IndexShape`] if
    /// the index tensor has another N, C or number of axes than the conventions, [`PlanError::IndexTypeTooNarrow`] if a
    /// convention has more indices than an index type; [`ExecuteError::IndexOutOfRange`] for those outside this one,
    /// [`ExecuteError::IndexNotInPlane`] for those that name another plane than their own where the other convention
    /// cannot express that; [`ExecuteError::OutOfMemory`].
    ///
    /// ```
    /// use wgpu_pooling::{IndexFlattening, IndexSpace, Tensor};
    ///
    /// // Two channels of four elements: ONNX counts on through the second, PyTorch starts again.
    /// let onnx = IndexSpace::new(1, 2, [4]);
    /// let pytorch = onnx.clone().with_flatten(IndexFlattening::Plane);
    /// let indices = Tensor::new([1, 2, 2], vec![1i64, 3, 4, 7])?;
    /// assert_eq!(onnx.convert::<i32>(&pytorch, &indices)?.data(), &[1, 3, 0, 3]);
    /// # Ok::<(), wgpu_pooling::ExecuteError>(())
    /// ```
    pub fn convert<'a, To: Index>(
        &self,
        to: &IndexSpace,
        indices: impl AsTensor<'a, Element: Index>,
    ) -> Result<Tensor<To>, ExecuteError> {
        let indices = indices.tensor()?;
        match indices.dtype() {
            DType::I32 => self.convert_elements::<i32, To>(to, indices.shape(), &indices.elements()?),
            DType::I64 => self.convert_elements::<i64, To>(to, indices.shape(), &indices.elements()?),
            other => Err(ExecuteError::TypeMismatch { what: "indices", expected: "i32 or i64", actual: other.name() }),
        }
    }

    fn convert_elements<From: Index, To: Index>(
        &self,
        to: &IndexSpace,
        shape: &[usize],
        indices: &[From],
    ) -> Result<Tensor<To>, ExecuteError> {
        let Dimensions { batch, channels, spatial } = self.check_conversion(to, shape)?;
        for (space, index_type) in [(self, From::INDEX_TYPE), (to, To::INDEX_TYPE)] {
            space.check()?;
            check_index_type(index_type, space.index_count())?;
        }
        let shape = assemble(to.layout, batch, channels, &spatial);
        let mut converted: Vec<To> = zeros(&shape)?;
        let (strides, mut bad) = (to.strides(), BadIndices::default());
        let (mut coordinates, mut target) = (vec![0; spatial.len()], vec![0; spatial.len()]);
        for_each_element(batch, channels, &spatial, &mut |n, c, at| {
            let place = position(self.layout, channels, &spatial, n, c, at);
            let index = indices[place].to_i64();
            let named = self.decode_into(index, n, c, &mut coordinates).filter(|&(target_n, target_c)| {
                (to.flatten.counts_batch() || target_n == n) && (to.flatten.counts_channels() || target_c == c)
            });
            if named.is_none() && index != -1 {
                bad.add(place, index);
            }
            let value = named.map_or(-1, |(n, c)| {
                target.iter_mut().zip(&coordinates).for_each(|(to, &from)| *to = from as i64);
                strides.flat(n, c, &target)
            });
            converted[position(to.layout, channels, &spatial, n, c, at)] = To::from_i64(value);
        });
        self.refuse(bad)?;
        Ok(Tensor::from_parts(shape, converted))
    }

    /// The dimensions of an index tensor of this shape that holds indices of both conventions.
    fn check_conversion(&self, to: &IndexSpace, shape: &[usize]) -> Result<Dimensions, PlanError> {
        if self.shape() != to.shape() {
            return Err(PlanError::SpaceMismatch { from: self.shape(), to: to.shape() });
        }
        let dimensions = Dimensions::of(shape, self.layout)?;
        let of_indices = (dimensions.batch, dimensions.channels, dimensions.spatial.len());
        if of_indices != (self.batch, self.channels, self.extents.len()) {
            return Err(PlanError::IndexShape { shape: shape.to_vec(), space: self.shape() });
        }
        element_count(&self.shape())?;
        Ok(dimensions)
    }
}
