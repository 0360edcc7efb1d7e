//! The brightness of each pixel, which is the input of the pool, computed on the CPU.

use std::error::Error;

use image::{Rgb, RgbImage};
use wgpu_pooling::Tensor;

/// What is done to a picture, for the report.
pub const WHAT: &str = "made grey and smoothed over 5 x 5 pixels on the CPU";

/// The weights of red, green and blue in grey, out of 256, after Rec. 709.
const GREY: [u32; 3] = [54, 183, 19];
/// The weights of the binomial filter along an axis, out of 16. The filter removes grain, which would make maxima of
/// its own, and separates most pixels that 8 bits had made equal.
const SMOOTH: [u32; 5] = [1, 4, 6, 4, 1];
/// The units in one step of 8-bit grey. Weighted sums are not divided, so that brightness is an exact integer.
const UNITS: f64 = 256.0 * 16.0 * 16.0;

/// The brightness of a picture: 1 x 1 x height x width, in units of its own.
pub fn of(picture: &RgbImage) -> Result<Tensor<u32>, Box<dyn Error>> {
    let size = [picture.width() as usize, picture.height() as usize];
    let grey = |pixel: &Rgb<u8>| pixel.0.iter().zip(GREY).map(|(&sample, weight)| u32::from(sample) * weight).sum();
    let grey: Vec<u32> = picture.pixels().map(grey).collect();
    let smooth = smooth(&smooth(&grey, size, [1, 0]), size, [0, 1]);
    Ok(Tensor::new([1, 1, size[1], size[0]], smooth)?)
}

/// A brightness as 8-bit grey, from 0 to 255.
pub fn in_grey(units: u32) -> f64 {
    f64::from(units) / UNITS
}

/// A plane, smoothed along one axis. Beyond an edge the last pixel is repeated.
fn smooth(plane: &[u32], [width, height]: [usize; 2], [along_x, along_y]: [isize; 2]) -> Vec<u32> {
    let beside = |at: usize, step: isize, extent: usize| at.saturating_add_signed(step).min(extent - 1);
    let pixel = |position: usize| {
        let weighted = (-2..).zip(SMOOTH).map(|(step, weight)| {
            let x = beside(position % width, step * along_x, width);
            let y = beside(position / width, step * along_y, height);
            weight * plane[y * width + x]
        });
        weighted.sum()
    };
    (0..plane.len()).map(pixel).collect()
}
