//! The examples that read pictures, and compute on a GPU or the CPU: their numbers, and the pixels of their files.

use gpu_test::gpu_test;
use std::fs;
use std::path::Path;

use image::{DynamicImage, GrayImage, ImageBuffer, Luma, Rgb, RgbImage, Rgba};

use crate::example::{Example, Files, fingerprint, names};

static POOL_IMAGE: Example = Example::new("pool_image");
static PEAKS: Example = Example::new("peaks");
pub const EXAMPLES: Files = &[(&POOL_IMAGE, wrong), (&PEAKS, wrong)];

const FILES: [&str; 4] = ["adaptive.png", "contact_sheet.png", "pooled.png", "unpooled.png"];

/// A picture of reproducible noise with few levels, so that maxima tie.
fn noise(width: u32, height: u32) -> RgbImage {
    let mut state = 12345u32;
    let mut sample = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 24) as u8 / 32 * 36
    };
    ImageBuffer::from_fn(width, height, |_, _| Rgb([sample(), sample(), sample()]))
}

#[test]
fn without_a_gpu_the_host_computes_and_says_so() {
    POOL_IMAGE.computes_without_a_gpu("", "agreement    with the reference: ");
    PEAKS.computes_without_a_gpu("", "agreement    with the reference: ");
}

#[test]
fn their_own_pictures_give_known_numbers() {
    for (example, files) in [(&POOL_IMAGE, 5), (&PEAKS, 1)] {
        let folder = example.scratch("known");
        example.reports(&folder);
        assert_eq!(names(&folder).len(), files, "more than the pictures is written");
    }
}

/// The pictures of noise as they were computed once from the definitions.
fn pool_image_is_exact(backend: &str) {
    let folder = POOL_IMAGE.scratch(backend);
    noise(37, 23).save(folder.join("noise.png")).unwrap();
    // Windows wholly in padding are black, and there is nothing to unpool from them.
    let cases =
        [("--kernel 3,2 --stride 2x1 --pads 1,0,2,1 --grid 5,7", "0cc2b3b7e4b98243"), ("--pads 3", "6bf5deda9a85b0eb")];
    for (options, expected) in cases {
        let arguments = format!("--backend {backend} --out . noise.png {options}");
        POOL_IMAGE.says(&folder, &arguments, &["indices, bit for bit"]);
        assert_eq!(fingerprint(&folder, &FILES), expected, "{options}");
    }
}

#[test]
fn pool_image_writes_exact_pictures() {
    pool_image_is_exact("cpu");
}

#[test]
fn pool_image_takes_pictures_of_every_kind() {
    let folder = POOL_IMAGE.scratch("kinds");
    let rgb = noise(16, 40);
    let wide = |pixel: &Rgb<u8>| Rgba([pixel[0], pixel[1], pixel[2], pixel[0]].map(|sample| u16::from(sample) * 257));
    let rgba16 = ImageBuffer::from_fn(16, 40, |x, y| wide(rgb.get_pixel(x, y)));
    let grey = GrayImage::from_fn(37, 23, |x, y| Luma([(x * y) as u8]));
    let as_rgb = DynamicImage::from(grey.clone()).into_rgb8();
    let pairs: [[DynamicImage; 2]; 2] = [[rgb.into(), rgba16.into()], [as_rgb.into(), grey.into()]];
    for pair in pairs {
        let [one, other] = pair.map(|picture| {
            picture.save(folder.join("x.png")).unwrap();
            POOL_IMAGE.says(&folder, "--backend cpu --out . x.png", &[]);
            fingerprint(&folder, &FILES)
        });
        assert_eq!(one, other);
    }
    for (width, height) in [(2, 700), (1, 1)] {
        noise(width, height).save(folder.join("x.png")).unwrap();
        POOL_IMAGE.says(&folder, "--backend cpu --out . x.png --kernel 1 --grid 1x1", &["indices, bit for bit"]);
    }
}

#[test]
fn files_are_replaced_and_nothing_else_is_left() {
    let folder = POOL_IMAGE.scratch("replaced");
    fs::write(folder.join("pooled.png"), "old").unwrap();
    let bytes = || {
        POOL_IMAGE.says(&folder, "--backend cpu --out .", &[]);
        FILES.map(|name| fs::read(folder.join(name)).unwrap())
    };
    assert!(bytes() == bytes(), "a second run writes other bytes");
    assert_eq!(names(&folder), FILES);
}

/// The peaks of noise, and their marks, as they were computed once from the definitions.
fn peaks_are_exact(backend: &str) {
    let folder = PEAKS.scratch(backend);
    noise(61, 43).save(folder.join("noise.png")).unwrap();
    for (options, maxima, peaks, picture) in [
        ("--window 3 --threshold 120 --top 1000", "maxima       100 in ", "peaks        96, ", "f358835af0f81879"),
        ("--window 63 --threshold -1 --top 5", "maxima       2 in ", "peaks        2, ", "89cbdf281a6638d8"),
    ] {
        let first = "\n     1     14      0      182.58\n";
        PEAKS.says(&folder, &format!("--backend {backend} noise.png {options}"), &[maxima, peaks, first]);
        assert_eq!(fingerprint(&folder, &["peaks.png"]), picture, "{options}");
    }
    // A lone pixel is smoothed below the threshold, so nothing is marked.
    let mut star = RgbImage::new(60, 50);
    star.put_pixel(30, 25, Rgb([255; 3]));
    star.save(folder.join("star.png")).unwrap();
    PEAKS.says(&folder, &format!("--backend {backend} star.png --out marked.PNG"), &["peaks        0, "]);
    assert_eq!(fingerprint(&folder, &["marked.PNG"]), fingerprint(&folder, &["star.png"]));
}

#[test]
fn peaks_marks_exact_pictures() {
    peaks_are_exact("cpu");
}

/// The bits of the results do not depend on where they are computed, and nothing of the adapter is in the pictures.
#[gpu_test]
fn pictures_are_the_same_from_a_gpu() {
    pool_image_is_exact("auto");
    peaks_are_exact("auto");
}

/// Pictures that cannot be used, and places that cannot be written to.
fn wrong(folder: &Path) {
    fs::write(folder.join("text.png"), "no picture\nat all\n").unwrap();
    noise(99, 99).save(folder.join("half.png")).unwrap();
    let whole = fs::read(folder.join("half.png")).unwrap();
    fs::write(folder.join("half.png"), &whole[..whole.len() / 2]).unwrap();
    GrayImage::from_pixel(70_000, 1, Luma([9])).save(folder.join("long.png")).unwrap();
    noise(1, 1).save(folder.join("one.png")).unwrap();
    noise(3, 3).save(folder.join("small.png")).unwrap();
    fs::write(folder.join("empty.png"), "").unwrap();
    fs::create_dir_all(folder.join("taken/pooled.png")).unwrap();
    fs::create_dir_all(folder.join("taken.png")).unwrap();
}
