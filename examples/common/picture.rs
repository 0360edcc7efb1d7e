//! Pictures as files, and marks on them.

use std::error::Error;
use std::fs;
use std::io::Cursor;
use std::path::Path;

use image::codecs::png::{CompressionType, FilterType, PngEncoder};
use image::{DynamicImage, ImageDecoder, ImageReader, RgbImage};

/// Enough for 8K. With more pixels, f32 planes and 64-bit indices would need more memory than a small machine has.
pub const MOST_PIXELS: u64 = 1 << 25;
/// The longest side. The gaps of the contact sheet grow with a picture's sides, not with its area.
const LONGEST_SIDE: u32 = 1 << 16;

/// The picture in a file, or the example's own.
///
/// Grey, alpha and 16-bit pictures become 8-bit RGB (transparency is left out), and a photograph is turned as its
/// metadata says.
pub fn read(path: Option<&Path>, own: &[u8]) -> Result<RgbImage, Box<dyn Error>> {
    let Some(path) = path else {
        return decode(own).map_err(|error| format!("the default picture: {error}").into());
    };
    let bytes = fs::read(path).map_err(|error| format!("cannot read {}: {error}", path.display()))?;
    decode(&bytes).map_err(|error| format!("{} is not a usable picture: {error}", path.display()).into())
}

fn decode(bytes: &[u8]) -> Result<RgbImage, Box<dyn Error>> {
    let mut decoder = ImageReader::new(Cursor::new(bytes)).with_guessed_format()?.into_decoder()?;
    let (width, height) = decoder.dimensions();
    // Checked before the pixels are decoded: a small file can claim a very large picture.
    if u64::from(width) * u64::from(height) > MOST_PIXELS || width.max(height) > LONGEST_SIDE {
        let most = format!("{MOST_PIXELS} pixels and {LONGEST_SIDE} on a side");
        return Err(format!("it is {width} wide and {height} high, and this example takes {most} at most").into());
    }
    let orientation = decoder.orientation()?;
    let mut picture = DynamicImage::from_decoder(decoder)?;
    picture.apply_orientation(orientation);
    Ok(picture.into_rgb8())
}

/// Writes a PNG file.
///
/// The file is written under another name first, so that readers see the old file or the new one, never a part.
pub fn write(target: &Path, picture: &RgbImage) -> Result<(), Box<dyn Error>> {
    let mut bytes = Vec::new();
    // Both are set here instead of by default, so that the same picture always gives the same file.
    let encoder = PngEncoder::new_with_quality(&mut bytes, CompressionType::Default, FilterType::Adaptive);
    picture.write_with_encoder(encoder)?;
    let name = target.file_name().ok_or_else(|| format!("{} names no file", target.display()))?;
    let unfinished = target.with_file_name(format!(".{}.{}", name.display(), std::process::id()));
    fs::write(&unfinished, bytes).and_then(|()| fs::rename(&unfinished, target)).map_err(|error| {
        // The first error is the one to report.
        let _ = fs::remove_file(&unfinished);
        format!("cannot write {}: {error}", target.display()).into()
    })
}

/// Draws a ring with soft edges. It takes only operations that IEEE 754 rounds exactly, so the ring is the same on
/// every machine.
pub fn ring(picture: &mut RgbImage, [x, y]: [f32; 2], [radius, half_line]: [f32; 2], colour: [f32; 3]) {
    let reach = radius + half_line + 1.0;
    let range = |centre: f32, extent: u32| (centre - reach).max(0.0) as u32..((centre + reach) as u32 + 1).min(extent);
    for py in range(y, picture.height()) {
        for px in range(x, picture.width()) {
            let (dx, dy) = (px as f32 + 0.5 - x, py as f32 + 0.5 - y);
            let distance = (dx * dx + dy * dy).sqrt();
            let cover = (half_line + 0.5 - (distance - radius).abs()).clamp(0.0, 1.0);
            for (sample, ink) in picture.get_pixel_mut(px, py).0.iter_mut().zip(colour) {
                let under = f32::from(*sample);
                *sample = (under + (ink - under) * cover + 0.5) as u8;
            }
        }
    }
}
