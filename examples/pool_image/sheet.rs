//! The contact sheet: four panels of the picture's size, and on the first one where the maxima are.

use std::collections::BTreeMap;

use examples::font;
use examples::picture::ring;
use image::{Rgb, RgbImage};
use wgpu_pooling::{IndexSpace, Tensor};

/// A picture and the caption above it.
pub struct Panel<'a> {
    pub picture: &'a RgbImage,
    pub caption: String,
}

const BACKGROUND: Rgb<u8> = Rgb([22, 24, 29]);
const INK: Rgb<u8> = Rgb([214, 218, 226]);
/// Pictures are enlarged by a whole number to about this length, so that a mark and a pixel can be told apart.
const PANEL_LENGTH: u32 = 960;
/// The gap between panels and around them, in pixels.
const GAP: u32 = 24;

/// The pixels that are the maximum of a cell in some channel: by position, whether each channel has its maximum there.
type Marks = BTreeMap<[usize; 2], [bool; 3]>;

/// The panels side by side: in one row, two, or four, whichever gives the sheet that is nearest to 3 : 2.
///
/// The first panel's picture gives the size of all; rings on it mark the elements that `indices` point at.
pub fn compose(panels: [Panel<'_>; 4], indices: &Tensor<i64>, space: &IndexSpace) -> RgbImage {
    let (width, height) = panels[0].picture.dimensions();
    let longer = width.max(height);
    let enlargement = ((PANEL_LENGTH + longer / 2) / longer).max(1);
    let (width, height) = (width * enlargement, height * enlargement);
    // Either all panels have captions or none: on a narrow panel a caption would run into the next one.
    let caption_width = panels.iter().map(|panel| font::width(&panel.caption)).max().unwrap_or(0).max(1);
    let dot = (width / caption_width).min(3);
    let header = if dot == 0 { 0 } else { (font::HEIGHT + 3) * dot };

    let sheet_size = |columns: u32| {
        let rows = 4 / columns;
        [columns * (width + GAP) + GAP, rows * (header + height + GAP) + GAP]
    };
    let columns = [4, 2, 1].into_iter().min_by(|&a, &b| oddness(sheet_size(a)).total_cmp(&oddness(sheet_size(b))));
    let columns = columns.unwrap_or(4);
    let [sheet_width, sheet_height] = sheet_size(columns);
    let mut sheet = RgbImage::from_pixel(sheet_width, sheet_height, BACKGROUND);
    for (index, panel) in (0..).zip(&panels) {
        let left = GAP + index % columns * (width + GAP);
        let top = GAP + index / columns * (header + height + GAP);
        if dot > 0 {
            font::draw(&mut sheet, [left, top], dot, INK, &panel.caption);
        }
        let mut enlarged = enlarge(panel.picture, [width, height]);
        if index == 0 {
            draw_marks(&mut enlarged, &marks(indices, space), enlargement, indices.shape());
        }
        image::imageops::replace(&mut sheet, &enlarged, left.into(), (top + header).into());
    }
    sheet
}

/// How far a size is from 3 : 2; 1 is the least.
fn oddness([width, height]: [u32; 2]) -> f32 {
    let ratio = width as f32 / (height as f32 * 1.5);
    ratio.max(1.0 / ratio)
}

/// A picture at another size by its nearest pixels.
fn enlarge(picture: &RgbImage, [width, height]: [u32; 2]) -> RgbImage {
    let nearest = |at: u32, to: u32, from: u32| (u64::from(at) * u64::from(from) / u64::from(to)) as u32;
    RgbImage::from_fn(width, height, |x, y| {
        *picture.get_pixel(nearest(x, width, picture.width()), nearest(y, height, picture.height()))
    })
}

fn marks(indices: &Tensor<i64>, space: &IndexSpace) -> Marks {
    let mut marks = Marks::new();
    let cells = (indices.data().len() / 3).max(1);
    for (channel, plane) in indices.data().chunks(cells).enumerate() {
        for (_, _, at) in plane.iter().filter_map(|&index| space.decode(index, 0, channel)) {
            marks.entry([at[0], at[1]]).or_default()[channel] = true;
        }
    }
    marks
}

/// The colour of the channels that have their maximum in the same pixel.
fn colour(channels: [bool; 3]) -> [f32; 3] {
    channels.map(|present| if present { 255.0 } else { 105.0 })
}

/// Rings around the marked pixels, or dots on them where cells are small, on a subdued picture.
///
/// All dark rims are drawn before all colours, so that no rim hides the colour of another mark.
fn draw_marks(picture: &mut RgbImage, marks: &Marks, enlargement: u32, grid: &[usize]) {
    for pixel in picture.pixels_mut() {
        let [r, g, b] = pixel.0.map(u32::from);
        let grey = (54 * r + 183 * g + 19 * b) / 256;
        pixel.0 = [r, g, b].map(|sample| ((3 * sample + grey) * 11 / 64) as u8);
    }
    let cell = (picture.width() / grid[3] as u32).min(picture.height() / grid[2] as u32);
    // A ring leaves the marked pixel visible but needs room; a ring of radius 0 is a dot.
    let [radius, half_line] = if cell < 32 { [0.0, (cell as f32 * 0.15).max(0.75)] } else { [7.0, 1.5] };
    for rim in [true, false] {
        for (at, &channels) in marks {
            let centre = [at[1], at[0]].map(|at| (at as f32 + 0.5) * enlargement as f32);
            if rim {
                ring(picture, centre, [radius, half_line + 1.0], [8.0, 9.0, 12.0]);
            } else {
                ring(picture, centre, [radius, half_line], colour(channels));
            }
        }
    }
}
