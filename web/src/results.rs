//! What a backend computed.

use wasm_bindgen::prelude::*;
use wgpu_pooling::{IndexSpace, Tensor};

use crate::picture::{Picture, pixels};

/// A pooled picture, the indices of its maxima, and the unpooled picture.
#[wasm_bindgen]
pub struct Results {
    pub(crate) pooled: Tensor<f32>,
    pub(crate) indices: Tensor<i32>,
    pub(crate) unpooled: Tensor<f32>,
    pub(crate) space: IndexSpace,
    pub(crate) pool_ms: f64,
    pub(crate) unpool_ms: f64,
}

#[wasm_bindgen]
impl Results {
    /// The milliseconds that the pool took; on a GPU with the transfers in both directions.
    #[wasm_bindgen(js_name = poolMs, getter)]
    pub fn pool_ms(&self) -> f64 {
        self.pool_ms
    }

    /// The milliseconds that the unpool took; on a GPU with the transfers in both directions.
    #[wasm_bindgen(js_name = unpoolMs, getter)]
    pub fn unpool_ms(&self) -> f64 {
        self.unpool_ms
    }

    /// The pooled picture as the pixels of a canvas.
    #[wasm_bindgen(js_name = pooledPixels)]
    pub fn pooled_pixels(&self) -> Vec<u8> {
        pixels(&self.pooled)
    }

    /// The unpooled picture as the pixels of a canvas.
    #[wasm_bindgen(js_name = unpooledPixels)]
    pub fn unpooled_pixels(&self) -> Vec<u8> {
        pixels(&self.unpooled)
    }

    /// The picture that was pooled, with its maxima marked, as the pixels of a canvas.
    #[wasm_bindgen(js_name = markedPixels)]
    pub fn marked_pixels(&self, picture: &Picture) -> Vec<u8> {
        picture.marked(&self.indices, &self.space)
    }

    /// How many values and indices there are.
    #[wasm_bindgen(getter)]
    pub fn count(&self) -> Vec<u32> {
        let values = self.pooled.data().len() + self.unpooled.data().len();
        vec![values as u32, self.indices.data().len() as u32]
    }

    /// The first difference from what another backend computed, in a sentence; nothing if all bits agree.
    pub fn difference(&self, other: &Results) -> Option<String> {
        first_difference("pooled value", &self.pooled, &other.pooled, f32::to_bits)
            .or_else(|| first_difference("index", &self.indices, &other.indices, |index| index as u32))
            .or_else(|| first_difference("unpooled value", &self.unpooled, &other.unpooled, f32::to_bits))
    }
}

fn first_difference<T: Copy>(
    what: &str,
    ours: &Tensor<T>,
    theirs: &Tensor<T>,
    bits: impl Fn(T) -> u32,
) -> Option<String> {
    if ours.shape() != theirs.shape() {
        return Some(format!("{what}s have the shapes {:?} and {:?}", ours.shape(), theirs.shape()));
    }
    let at = ours.data().iter().zip(theirs.data()).position(|(&a, &b)| bits(a) != bits(b))?;
    let [ours, theirs] = [ours, theirs].map(|tensor| bits(tensor.data()[at]));
    Some(format!("{what} {at} has the bits {ours:#010x} and {theirs:#010x}"))
}
