//! Pictures as tensors, and tensors as pictures.

use std::error::Error;

use image::RgbImage;
use wgpu_pooling::Tensor;

/// The picture as planes: 1 x 3 x height x width, from 0 to 255.
pub fn from_picture(picture: &RgbImage) -> Result<Tensor<f32>, Box<dyn Error>> {
    let (width, height) = picture.dimensions();
    let plane = |channel: usize| picture.pixels().map(move |pixel| f32::from(pixel.0[channel]));
    let planes = (0..3).flat_map(plane).collect();
    Ok(Tensor::new([1, 3, height as usize, width as usize], planes)?)
}

/// Planes as a picture. Minus infinity, the value of a window wholly in padding, is black.
pub fn to_picture(planes: &Tensor<f32>) -> Result<RgbImage, Box<dyn Error>> {
    let &[1, 3, height, width] = planes.shape() else {
        return Err(format!("{:?} is not the shape of a picture", planes.shape()).into());
    };
    let data = planes.data();
    // A cast from float to integer saturates.
    Ok(RgbImage::from_fn(u32::try_from(width)?, u32::try_from(height)?, |x, y| {
        let pixel = y as usize * width + x as usize;
        image::Rgb([0, 1, 2].map(|channel| data[channel * height * width + pixel] as u8))
    }))
}
