//! What the tests of the examples that read pictures and compute on a GPU or the CPU have in common.

use std::fs;
use std::path::Path;

use image::{GrayImage, Luma, RgbImage};
use support::place::root;

use crate::absent::{ABSENT_BACKEND, HOST, WITHOUT_A_GPU};
use crate::example::Example;

/// A picture in the repository.
pub fn picture(name: &str) -> String {
    root().join("examples/images").join(name).display().to_string()
}

pub fn cat() -> String {
    picture("chelsea.jpg")
}

pub fn read(path: impl AsRef<Path>) -> RgbImage {
    image::open(path).unwrap().into_rgb8()
}

/// Reproducible noise with few levels, so that maxima tie.
pub fn noise() -> impl FnMut() -> u8 {
    let mut state = 12345u32;
    move || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 24) as u8 / 32 * 36
    }
}

/// Checks that a run on a machine that seems to have no GPU says so in one line and succeeds.
pub fn check_without_a_gpu(example: &Example, folder: &Path) {
    // With this variable no GPU is found.
    let output = example.run_with(folder, &[("WGPU_BACKEND", ABSENT_BACKEND)], &[]);
    let [stdout, stderr] = [output.stdout, output.stderr].map(|text| String::from_utf8(text).unwrap());
    assert!(output.status.success() && stderr.is_empty(), "{stdout}{stderr}");
    let host = |line: &&str| line.starts_with(&format!("computed on  {HOST}")) && line.contains(WITHOUT_A_GPU);
    assert_eq!(stdout.lines().filter(host).count(), 1, "{stdout}");
    assert!(stdout.contains("agreement    with the reference: "), "{stdout}");
}

/// Checks the errors for unusable pictures, devices and command lines.
pub fn check_refusals(example: &Example, folder: &Path) {
    fs::write(folder.join("text.png"), "no picture\nat all\n").unwrap();
    fs::write(folder.join("empty.png"), "").unwrap();
    let mut noise = noise();
    GrayImage::from_fn(99, 99, |_, _| Luma([noise()])).save(folder.join("half.png")).unwrap();
    let whole = fs::read(folder.join("half.png")).unwrap();
    fs::write(folder.join("half.png"), &whole[..whole.len() / 2]).unwrap();
    GrayImage::from_pixel(70_000, 1, Luma([9])).save(folder.join("long.png")).unwrap();
    let table: &[(&[&str], &str)] = &[
        (&["--backend", "abacus"], "auto, vulkan, metal, dx12, gl, cpu"),
        (&["--backend", ABSENT_BACKEND], "no usable GPU adapter"),
        (&["--backend", ABSENT_BACKEND, "--adapter", "card"], "no usable GPU adapter"),
        (&["--backend", "cpu", "--adapter", "card"], "--adapter"),
        (&["--sharpen"], "--sharpen"),
        (&["absent.png"], "cannot read absent.png"),
        (&["."], "cannot read ."),
        (&["text.png"], "text.png is not a usable picture"),
        (&["empty.png"], "empty.png is not a usable picture"),
        (&["half.png"], "half.png is not a usable picture"),
        (&["long.png"], "70000 wide and 1 high"),
        (&["text.png", "two.png"], "two.png"),
    ];
    for &(arguments, expected) in table {
        example.fails(folder, arguments, expected);
    }
}
