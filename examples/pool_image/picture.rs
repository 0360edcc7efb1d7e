//! Pictures as tensors, tensors as pictures, and pictures as files.

use std::error::Error;
use std::fs;
use std::io::Cursor;
use std::path::Path;

use image::codecs::png::{CompressionType, FilterType, PngEncoder};
use image::{DynamicImage, ImageDecoder, ImageReader, RgbImage};
use wgpu_pooling::Tensor;

/// The picture that is taken when none is named: CC0, see examples/images/README.md.
const DEFAULT_PICTURE: &[u8] = include_bytes!("../images/chelsea.png");

/// Enough for 8K. Above, f32 planes and 64-bit indices would ask for more memory than a small machine has.
pub const MOST_PIXELS: u64 = 1 << 25;
/// The gaps of the contact sheet grow with a picture's sides, not with its area.
const LONGEST_SIDE: u32 = 1 << 16;

/// The picture in a file, or the default one.
///
/// Grey, alpha and 16-bit pictures become 8-bit RGB (transparency is left out), and a photograph stands as its camera says.
pub fn read(path: Option<&Path>) -> Result<RgbImage, Box<dyn Error>> {
    let Some(path) = path else {
        return decode(DEFAULT_PICTURE).map_err(|error| format!("the default picture: {error}").into());
    };
    let bytes = fs::read(path).map_err(|error| format!("cannot read {}: {error}", path.display()))?;
    decode(&bytes).map_err(|error| format!("{} is not a usable picture: {error}", path.display()).into())
}

fn decode(bytes: &[u8]) -> Result<RgbImage, Box<dyn Error>> {
    let mut decoder = ImageReader::new(Cursor::new(bytes)).with_guessed_format()?.into_decoder()?;
    let (width, height) = decoder.dimensions();
    // Asked before the pixels are decoded: a small file can claim a very large picture.
    if u64::from(width) * u64::from(height) > MOST_PIXELS || width.max(height) > LONGEST_SIDE {
        let most = format!("{MOST_PIXELS} pixels and {LONGEST_SIDE} on a side");
        return Err(format!("it is {width} wide and {height} high, and this example takes {most} at most").into());
    }
    let orientation = decoder.orientation()?;
    let mut picture = DynamicImage::from_decoder(decoder)?;
    picture.apply_orientation(orientation);
    Ok(picture.into_rgb8())
}

/// The picture as planes: 1 x 3 x height x width, from 0 to 255.
pub fn to_tensor(picture: &RgbImage) -> Result<Tensor<f32>, Box<dyn Error>> {
    let (width, height) = picture.dimensions();
    let plane = |channel: usize| picture.pixels().map(move |pixel| f32::from(pixel.0[channel]));
    let planes = (0..3).flat_map(plane).collect();
    Ok(Tensor::new([1, 3, height as usize, width as usize], planes)?)
}

/// Planes as a picture. Minus infinity, the value of a window wholly in padding, is black.
pub fn from_tensor(planes: &Tensor<f32>) -> Result<RgbImage, Box<dyn Error>> {
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

/// Writes `name` into `folder`.
///
/// The file is written under another name first, so that whoever looks sees the old file or the new one, never a half.
pub fn write(folder: &Path, name: &str, picture: &RgbImage) -> Result<(), Box<dyn Error>> {
    let mut bytes = Vec::new();
    // Named here and not left to defaults, so that the same picture is the same file.
    let encoder = PngEncoder::new_with_quality(&mut bytes, CompressionType::Default, FilterType::Adaptive);
    picture.write_with_encoder(encoder)?;
    let target = folder.join(name);
    let unfinished = folder.join(format!(".{name}.{}", std::process::id()));
    fs::write(&unfinished, bytes).and_then(|()| fs::rename(&unfinished, &target)).map_err(|error| {
        // The first error is the one to tell.
        let _ = fs::remove_file(&unfinished);
        format!("cannot write {}: {error}", target.display()).into()
    })
}
