//! The example `own_device` from the outside: what it says of its submit, and its picture, which is computed here once
//! more from the definitions.

use std::fs;
use std::path::Path;

use image::{Rgb, RgbImage};
use support::tests;

use crate::absent::ABSENT_BACKEND;
use crate::example::Example;

tests! {
    gpu =>
        the_picture_is_what_the_definitions_give,
        what_goes_wrong_with_a_device_is_said_in_one_line;
    cpu =>
        what_is_wrong_is_said_in_one_line,
        help_is_no_error;
}

static EXAMPLE: Example = Example::new("own_device");

/// The height of a wave at a distance in eighths of a pixel: parabolic arcs around a middle of 4032.
fn wave(distance: u32, length: u32) -> u32 {
    let phase = distance % length * 256 / length;
    let bow = phase % 128 * (127 - phase % 128);
    if phase < 128 { 4032 + bow } else { 4032 - bow }
}

/// The waves of three lamps, with one wavelength for each colour, added up and scaled to 255.
fn waves(size: u32) -> RgbImage {
    let lamps = [[9, 12], [50, 20], [24, 58]].map(|lamp| lamp.map(|at| at * size / 64));
    RgbImage::from_fn(size, size, |x, y| {
        let distances = lamps.map(|[lamp_x, lamp_y]| {
            let (dx, dy) = (x.abs_diff(lamp_x), y.abs_diff(lamp_y));
            ((dx * dx + dy * dy) * 64).isqrt()
        });
        Rgb([1520, 1240, 1024].map(|length| {
            let sum: u32 = distances.iter().map(|&distance| wave(distance, length)).sum();
            (sum * 255 / (3 * 8064)) as u8
        }))
    })
}

/// The unpooled maxima: for each window and each colour the maximum, at the pixel where it is found first.
fn maxima(frame: &RgbImage, window: u32) -> RgbImage {
    let mut maxima = RgbImage::new(frame.width(), frame.height());
    for (row, column) in (0..frame.height() / window).flat_map(|y| (0..frame.width() / window).map(move |x| (y, x))) {
        for channel in 0..3 {
            let value = |&(x, y): &(u32, u32)| frame.get_pixel(x, y).0[channel];
            let taps = (0..window * window).map(|at| (column * window + at % window, row * window + at / window));
            // `max_by_key` would take the last of equal ones.
            let (x, y) = taps.reduce(|best, tap| if value(&tap) > value(&best) { tap } else { best }).unwrap();
            maxima.get_pixel_mut(x, y).0[channel] = value(&(x, y));
        }
    }
    maxima
}

/// The waves at a quarter of their brightness, and around each maximum a light that reaches six pixels far.
fn expected(size: u32, window: u32) -> RgbImage {
    let frame = waves(size);
    let mut picture = RgbImage::from_fn(size, size, |x, y| Rgb(frame.get_pixel(x, y).0.map(|sample| sample / 4)));
    for (x, y, maximum) in maxima(&frame, window).enumerate_pixels() {
        for at in 0..13 * 13 {
            let (dx, dy) = (at % 13 - 6, at / 13 - 6);
            let Some(pixel) = u32::try_from(x as i32 + dx)
                .and_then(|x| Ok((x, u32::try_from(y as i32 + dy)?)))
                .ok()
                .and_then(|(x, y)| picture.get_pixel_mut_checked(x, y))
            else {
                continue;
            };
            let dimming = (36 - dx * dx - dy * dy).max(0) as u32;
            for (sample, &light) in pixel.0.iter_mut().zip(&maximum.0) {
                *sample = (*sample).max((u32::from(light) * dimming / 36) as u8);
            }
        }
    }
    picture
}

fn check(folder: &Path, arguments: &[&str], file: &str, [size, window]: [u32; 2]) {
    let report = EXAMPLE.run_well(folder, arguments);
    let windows = (size / window) * (size / window) * 4;
    let values = windows + size * size * 4;
    let lines = [
        "device       opened by this program: ".to_owned(),
        "limits       ".to_owned(),
        format!("frame        u8 [1, {size}, {size}, 4]"),
        "encoded      max_pool ".to_owned(),
        // An unpool of a pool's own indices is not computed by claims.
        "encoded      max_unpool gather ".to_owned(),
        // wgpu has counted as many submits as this program has made, so nobody else has made one.
        "submitted    once, by this program; the device's first: SubmissionIndex { index: 1 }".to_owned(),
        format!("agreement    with the reference: {values} values and {windows} indices, bit for bit"),
        format!("wrote        {file}"),
        "lost         this program's callback heard: Destroyed; the library then says: the device is lost: Destroyed"
            .to_owned(),
    ];
    for start in lines {
        assert!(report.lines().any(|line| line.starts_with(&start)), "{start:?} begins no line of {report}");
    }
    let picture = image::open(folder.join(file)).unwrap().into_rgb8();
    assert_eq!(picture.dimensions(), (size, size));
    assert!(picture == expected(size, window), "the picture has other pixels: {arguments:?}");
}

fn the_picture_is_what_the_definitions_give() {
    let folder = EXAMPLE.scratch("picture");
    check(&folder, &[], "own_device.png", [512, 16]);
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 1, "more than the picture is written");
    // Windows that do not divide the picture, one window, one pixel.
    let folder = EXAMPLE.scratch("sizes");
    check(&folder, &["--size", "101", "--window", "7", "--out", "small.png"], "small.png", [101, 7]);
    check(&folder, &["--size", "33", "--window", "33"], "own_device.png", [33, 33]);
    check(&folder, &["--size", "1", "--window", "1"], "own_device.png", [1, 1]);
}

fn what_is_wrong_is_said_in_one_line() {
    let folder = EXAMPLE.scratch("wrong");
    let table: &[(&[&str], &str)] = &[
        (&["--size", "0"], "0 is not in 1..=4096"),
        (&["--size", "4097"], "4097 is not in 1..=4096"),
        (&["--size", "large"], "'large'"),
        (&["--window", "0"], "kernel_shape[0] is 0"),
        (&["--window", "-3"], "kernel_shape[0] is -3"),
        (&["--window", "513"], "no window of 513 x 513 fits into a picture of 512 x 512"),
        (&["--window", "9223372036854775808"], "too large"),
        (&["--backend", "cpu"], "auto, vulkan, metal, dx12, gl"),
        (&["--backend", ABSENT_BACKEND], "no usable GPU adapter"),
        (&["--backend", ABSENT_BACKEND, "--adapter", "card"], "no usable GPU adapter"),
        (&["--sharpen"], "--sharpen"),
        (&["picture.png"], "picture.png"),
    ];
    for &(arguments, expected) in table {
        EXAMPLE.fails(&folder, arguments, expected);
    }
}

fn what_goes_wrong_with_a_device_is_said_in_one_line() {
    let folder = EXAMPLE.scratch("wrong with a device");
    fs::create_dir_all(folder.join("taken.png")).unwrap();
    EXAMPLE.fails(&folder, &["--out", "absent/picture.png"], "cannot write absent/picture.png");
    EXAMPLE.fails(&folder, &["--out", "taken.png"], "cannot write taken.png");
    EXAMPLE.fails(&folder, &["--adapter", "an adapter that nobody has"], "no usable GPU adapter: none is named");
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 1, "an unfinished file is left behind");
}

fn help_is_no_error() {
    EXAMPLE.has_help(&["--help"], &["--size", "--window", "--out", "--backend", "--adapter"]);
}
