//! Rings around the peaks, and their ranks beside them.

use examples::font;
use examples::picture::ring;
use image::{Rgb, RgbImage};

/// The radius of a ring, large enough to leave its object visible.
const RADIUS: f32 = 9.0;
/// Half the width of a ring's line.
const HALF_LINE: f32 = 0.75;
const INK: [u8; 3] = [120, 230, 90];
const SHADOW: [u8; 3] = [0; 3];

/// The picture with its peaks, each an x and a y, marked and numbered.
pub fn draw(picture: &RgbImage, peaks: &[[u32; 2]]) -> RgbImage {
    let mut marked = picture.clone();
    // All shadows are drawn first, so that none hides the ink of another ring.
    for &peak in peaks {
        ring(&mut marked, centre(peak), [RADIUS, HALF_LINE + 1.0], SHADOW.map(f32::from));
    }
    for &peak in peaks {
        ring(&mut marked, centre(peak), [RADIUS, HALF_LINE], INK.map(f32::from));
    }
    for (rank, &peak) in (1..).zip(peaks) {
        let text = rank.to_string();
        let Some([left, top]) = place(&marked, peak, &text, peaks) else {
            continue;
        };
        for (dx, dy) in (0..9).map(|step| (step % 3, step / 3)) {
            font::draw(&mut marked, [left + dx - 1, top + dy - 1], 1, Rgb(SHADOW), &text);
        }
        font::draw(&mut marked, [left, top], 1, Rgb(INK), &text);
    }
    marked
}

fn centre(peak: [u32; 2]) -> [f32; 2] {
    peak.map(|at| at as f32 + 0.5)
}

/// Where the rank of a peak is written: to the right of its ring, or to the left if it would meet another ring or the
/// picture's edge on the right. `None` if there is room on neither side.
fn place(picture: &RgbImage, peak: [u32; 2], text: &str, peaks: &[[u32; 2]]) -> Option<[u32; 2]> {
    const REACH: i64 = RADIUS as i64 + 3;
    let [x, y] = peak.map(i64::from);
    let (width, height) = (i64::from(font::width(text)), i64::from(font::HEIGHT));
    let top = y - 3;
    // The shadow takes a pixel on every side.
    let inside = |at: i64, length: i64, extent: u32| at >= 1 && at + length < i64::from(extent);
    let free = |left: i64| {
        let meets = |other: [u32; 2]| {
            let [other_x, other_y] = other.map(i64::from);
            (left - REACH..left + width + REACH).contains(&other_x)
                && (top - REACH..top + height + REACH).contains(&other_y)
        };
        !peaks.iter().any(|&other| other != peak && meets(other))
    };
    let sides = [x + REACH + 1, x - REACH - width];
    let fits = |&left: &i64| inside(left, width, picture.width()) && inside(top, height, picture.height());
    let left = sides.into_iter().find(|left| fits(left) && free(*left)).or_else(|| sides.into_iter().find(fits))?;
    Some([u32::try_from(left).ok()?, u32::try_from(top).ok()?])
}
