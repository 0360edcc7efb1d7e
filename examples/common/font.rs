//! A 5 x 7 font with the characters that captions need, and two more rows for descenders.

use image::{Rgb, RgbImage};

/// The distance from one character to the next, in dots.
const ADVANCE: u32 = 6;
/// The height of a line in dots.
pub const HEIGHT: u32 = 7 + DESCENT;
/// How many dots some characters reach below the line.
const DESCENT: u32 = 2;

/// The width of a text in dots.
pub fn width(text: &str) -> u32 {
    (text.len() as u32 * ADVANCE).saturating_sub(1)
}

/// Draws a text, its upper left corner at `x`, `y`, each dot a square of `dot` pixels.
pub fn draw(picture: &mut RgbImage, [x, y]: [u32; 2], dot: u32, colour: Rgb<u8>, text: &str) {
    for (column, character) in text.bytes().enumerate() {
        let left = x + column as u32 * ADVANCE * dot;
        let top = y + if b"gpy,".contains(&character) { DESCENT * dot } else { 0 };
        for (row, bits) in glyph(character).into_iter().enumerate() {
            for bit in (0..5).filter(|bit| bits >> (4 - bit) & 1 == 1) {
                for (dx, dy) in (0..dot * dot).map(|index| (index % dot, index / dot)) {
                    picture.put_pixel(left + bit * dot + dx, top + row as u32 * dot + dy, colour);
                }
            }
        }
    }
}

/// The rows of a character from the top, five bits each. A character without a glyph is blank.
#[rustfmt::skip]
fn glyph(character: u8) -> [u8; 7] {
    match character {
        b'a' => [0b00000, 0b00000, 0b01110, 0b00001, 0b01111, 0b10001, 0b01111],
        b'b' => [0b10000, 0b10000, 0b11110, 0b10001, 0b10001, 0b10001, 0b11110],
        b'c' => [0b00000, 0b00000, 0b01110, 0b10000, 0b10000, 0b10001, 0b01110],
        b'd' => [0b00001, 0b00001, 0b01111, 0b10001, 0b10001, 0b10001, 0b01111],
        b'e' => [0b00000, 0b00000, 0b01110, 0b10001, 0b11111, 0b10000, 0b01110],
        b'f' => [0b00110, 0b01001, 0b01000, 0b11100, 0b01000, 0b01000, 0b01000],
        b'g' => [0b01111, 0b10001, 0b10001, 0b10001, 0b01111, 0b00001, 0b01110],
        b'h' => [0b10000, 0b10000, 0b10110, 0b11001, 0b10001, 0b10001, 0b10001],
        b'i' => [0b00100, 0b00000, 0b01100, 0b00100, 0b00100, 0b00100, 0b01110],
        b'k' => [0b10000, 0b10000, 0b10010, 0b10100, 0b11000, 0b10100, 0b10010],
        b'l' => [0b01100, 0b00100, 0b00100, 0b00100, 0b00100, 0b00100, 0b01110],
        b'm' => [0b00000, 0b00000, 0b11010, 0b10101, 0b10101, 0b10101, 0b10101],
        b'n' => [0b00000, 0b00000, 0b10110, 0b11001, 0b10001, 0b10001, 0b10001],
        b'o' => [0b00000, 0b00000, 0b01110, 0b10001, 0b10001, 0b10001, 0b01110],
        b'p' => [0b11110, 0b10001, 0b10001, 0b10001, 0b11110, 0b10000, 0b10000],
        b'r' => [0b00000, 0b00000, 0b10110, 0b11001, 0b10000, 0b10000, 0b10000],
        b's' => [0b00000, 0b00000, 0b01110, 0b10000, 0b01110, 0b00001, 0b11110],
        b't' => [0b01000, 0b01000, 0b11100, 0b01000, 0b01000, 0b01001, 0b00110],
        b'u' => [0b00000, 0b00000, 0b10001, 0b10001, 0b10001, 0b10011, 0b01101],
        b'v' => [0b00000, 0b00000, 0b10001, 0b10001, 0b10001, 0b01010, 0b00100],
        b'w' => [0b00000, 0b00000, 0b10001, 0b10001, 0b10101, 0b10101, 0b01010],
        b'x' => [0b00000, 0b00000, 0b10001, 0b01010, 0b00100, 0b01010, 0b10001],
        b'y' => [0b10001, 0b10001, 0b10001, 0b10001, 0b01111, 0b00001, 0b01110],
        b'0' => [0b01110, 0b10001, 0b10011, 0b10101, 0b11001, 0b10001, 0b01110],
        b'1' => [0b00100, 0b01100, 0b00100, 0b00100, 0b00100, 0b00100, 0b01110],
        b'2' => [0b01110, 0b10001, 0b00001, 0b00010, 0b00100, 0b01000, 0b11111],
        b'3' => [0b11111, 0b00010, 0b00100, 0b00010, 0b00001, 0b10001, 0b01110],
        b'4' => [0b00010, 0b00110, 0b01010, 0b10010, 0b11111, 0b00010, 0b00010],
        b'5' => [0b11111, 0b10000, 0b11110, 0b00001, 0b00001, 0b10001, 0b01110],
        b'6' => [0b00110, 0b01000, 0b10000, 0b11110, 0b10001, 0b10001, 0b01110],
        b'7' => [0b11111, 0b00001, 0b00010, 0b00100, 0b01000, 0b01000, 0b01000],
        b'8' => [0b01110, 0b10001, 0b10001, 0b01110, 0b10001, 0b10001, 0b01110],
        b'9' => [0b01110, 0b10001, 0b10001, 0b01111, 0b00001, 0b00010, 0b01100],
        b':' => [0b00000, 0b01100, 0b01100, 0b00000, 0b01100, 0b01100, 0b00000],
        b',' => [0b00000, 0b00000, 0b00000, 0b01100, 0b00100, 0b01000, 0b00000],
        _ => [0; 7],
    }
}
