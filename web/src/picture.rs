//! Pictures as tensors, and tensors as pictures.

use wasm_bindgen::prelude::*;
use wgpu_pooling::{IndexSpace, Tensor};

use crate::thrown;

/// A 4K picture has a little less. For each pixel the page holds about a hundred bytes: planes, indices and results of
/// two backends, and their pictures.
const MOST_PIXELS: u64 = 1 << 23;

/// An error if the page has no room for a picture of this size.
pub fn check_size(what: &str, width: usize, height: usize) -> Result<(), JsError> {
    match (width as u64).saturating_mul(height as u64) {
        pixels if pixels > MOST_PIXELS => Err(JsError::new(&format!(
            "{what} is {width} × {height}, which are {pixels} pixels, and this page takes {MOST_PIXELS} at most."
        ))),
        _ => Ok(()),
    }
}

/// The most pixels that a picture may have on this page.
#[wasm_bindgen(js_name = mostPixels)]
pub fn most_pixels() -> f64 {
    MOST_PIXELS as f64
}

/// A picture as planes: 1 x 3 x height x width, from 0 to 255.
#[wasm_bindgen]
pub struct Picture {
    pub(crate) planes: Tensor<f32>,
}

#[wasm_bindgen]
impl Picture {
    /// From the pixels of a canvas: red, green, blue and alpha, of which alpha is left out.
    #[wasm_bindgen(constructor)]
    pub fn new(rgba: &[u8], height: u32, width: u32) -> Result<Picture, JsError> {
        let (height, width) = (height as usize, width as usize);
        check_size("The picture", width, height)?;
        let plane = |channel: usize| rgba.chunks_exact(4).map(move |pixel| f32::from(pixel[channel]));
        let planes = (0..3).flat_map(plane).collect();
        Ok(Picture { planes: Tensor::new([1, 3, height, width], planes).map_err(thrown)? })
    }

    /// The picture, subdued, as pixels, with the elements that `indices` point at in full colour: a channel that has
    /// its maximum there is lit, the others are not.
    pub(crate) fn marked(&self, indices: &Tensor<i32>, space: &IndexSpace) -> Vec<u8> {
        let width = self.planes.shape()[3];
        let mut pixels = pixels(&self.planes);
        for pixel in pixels.chunks_exact_mut(4) {
            let grey = (54 * u32::from(pixel[0]) + 183 * u32::from(pixel[1]) + 19 * u32::from(pixel[2])) / 256;
            for sample in &mut pixel[..3] {
                *sample = ((3 * u32::from(*sample) + grey) * 11 / 64) as u8;
            }
        }
        let outputs = (indices.data().len() / 3).max(1);
        let places = indices.data().chunks(outputs).enumerate().flat_map(|(channel, plane)| {
            let at = move |&index: &i32| space.decode(index.into(), 0, channel).map(|(.., at)| (channel, at));
            plane.iter().filter_map(at)
        });
        let mut marks = vec![[false; 3]; pixels.len() / 4];
        for (channel, at) in places {
            if let Some(mark) = marks.get_mut(at[0] * width + at[1]) {
                mark[channel] = true;
            }
        }
        for (pixel, mark) in pixels.chunks_exact_mut(4).zip(marks).filter(|(_, mark)| mark.contains(&true)) {
            pixel[..3].copy_from_slice(&mark.map(|lit| if lit { 255 } else { 105 }));
        }
        pixels
    }
}

/// Planes as the pixels of a canvas. A cast from float to integer saturates, and minus infinity, the value of a window
/// wholly in padding, is black.
pub fn pixels(planes: &Tensor<f32>) -> Vec<u8> {
    let size = planes.data().len() / 3;
    let [red, green, blue] = [0, 1, 2].map(|channel| &planes.data()[channel * size..(channel + 1) * size]);
    let pixel = |((&red, &green), &blue): ((&f32, &f32), &f32)| [red as u8, green as u8, blue as u8, 255];
    red.iter().zip(green).zip(blue).flat_map(pixel).collect()
}
