//! The example `pool_image` from the outside: its exit codes, its one line on stderr, and the pixels of its files,
//! which are computed here once more from the definitions.

use std::fs;
use std::path::Path;

use image::{DynamicImage, GrayImage, ImageBuffer, Luma, Rgb, RgbImage, Rgba};
use support::tests;

use crate::example::Example;
use crate::pictures::{cat, check_refusals, check_without_a_gpu, noise, read};

tests! {
    cpu =>
        the_default_picture_on_the_cpu,
        without_a_gpu_the_host_computes_and_says_so,
        pictures_of_every_kind,
        files_are_replaced_and_nothing_else_is_left,
        what_is_wrong_is_said_in_one_line,
        help_is_no_error;
    gpu =>
        files_are_the_same_from_the_gpu;
}

static EXAMPLE: Example = Example::new("pool_image");
const FILES: [&str; 4] = ["pooled.png", "unpooled.png", "adaptive.png", "contact_sheet.png"];

/// The ranges of pixels that the windows of one axis cover.
fn strided(input: u32, kernel: i64, stride: i64, pads: [i64; 2]) -> Vec<std::ops::Range<u32>> {
    let input = i64::from(input);
    let last = input + pads[0] + pads[1] - kernel;
    (0..=last)
        .step_by(stride as usize)
        .map(|start| {
            let [first, end] = [start - pads[0], start - pads[0] + kernel].map(|at| at.clamp(0, input) as u32);
            first..end
        })
        .collect()
}

fn adaptive(input: u32, output: u32) -> Vec<std::ops::Range<u32>> {
    (0..output).map(|cell| cell * input / output..((cell + 1) * input).div_ceil(output)).collect()
}

/// The maxima of each channel over the windows, and where in the picture each was found first.
fn pooled(picture: &RgbImage, rows: &[std::ops::Range<u32>], columns: &[std::ops::Range<u32>]) -> [RgbImage; 2] {
    let mut small = RgbImage::new(columns.len() as u32, rows.len() as u32);
    let mut scattered = RgbImage::new(picture.width(), picture.height());
    for (y, row) in (0..).zip(rows) {
        for (x, column) in (0..).zip(columns) {
            for channel in 0..3 {
                let taps = row.clone().flat_map(|in_y| column.clone().map(move |in_x| (in_x, in_y)));
                let value = |&(x, y): &(u32, u32)| picture.get_pixel(x, y).0[channel];
                // `max_by_key` would take the last of equal ones.
                let first = taps.reduce(|best, tap| if value(&tap) > value(&best) { tap } else { best });
                if let Some((in_x, in_y)) = first {
                    small.get_pixel_mut(x, y).0[channel] = value(&(in_x, in_y));
                    scattered.get_pixel_mut(in_x, in_y).0[channel] = value(&(in_x, in_y));
                }
            }
        }
    }
    [small, scattered]
}

/// Options of a run in numbers, so that the expected pictures can be made from them.
struct Case {
    kernel: [i64; 2],
    stride: [i64; 2],
    pads: [i64; 4],
    grid: [u32; 2],
}

impl Case {
    const DEFAULT: Case = Case { kernel: [2, 2], stride: [2, 2], pads: [0; 4], grid: [24, 36] };

    fn check(&self, original: &RgbImage, folder: &Path) {
        let (width, height) = original.dimensions();
        let [top, left, bottom, right] = self.pads;
        let rows = strided(height, self.kernel[0], self.stride[0], [top, bottom]);
        let columns = strided(width, self.kernel[1], self.stride[1], [left, right]);
        let [expected_pooled, expected_unpooled] = pooled(original, &rows, &columns);
        let [expected_adaptive, _] = pooled(original, &adaptive(height, self.grid[0]), &adaptive(width, self.grid[1]));
        for (name, expected) in FILES.iter().zip([expected_pooled, expected_unpooled, expected_adaptive]) {
            let actual = read(folder.join(name));
            assert_eq!(actual.dimensions(), expected.dimensions(), "{name}");
            assert!(actual == expected, "{name} has other pixels");
        }
        let sheet = read(folder.join("contact_sheet.png"));
        let panels = 4 * u64::from(width) * u64::from(height);
        assert!(u64::from(sheet.width()) * u64::from(sheet.height()) > panels, "four panels do not fit");
    }
}

fn the_default_picture_on_the_cpu() {
    let folder = EXAMPLE.scratch("default");
    let stdout = EXAMPLE.run_well(&folder, &["--backend", "cpu"]);
    for shape in ["f32 [1, 3, 150, 225]", "i64 [1, 3, 75, 112]", "f32 [1, 3, 24, 36]"] {
        assert!(stdout.contains(shape), "{stdout}");
    }
    Case::DEFAULT.check(&read(cat()), &folder.join("pool_image_out"));
}

fn without_a_gpu_the_host_computes_and_says_so() {
    let folder = EXAMPLE.scratch("no_gpu");
    check_without_a_gpu(&EXAMPLE, &folder);
    Case::DEFAULT.check(&read(cat()), &folder.join("pool_image_out"));
}

fn pictures_of_every_kind() {
    let folder = EXAMPLE.scratch("kinds");
    let mut noise = noise();
    let grey: GrayImage = ImageBuffer::from_fn(37, 23, |_, _| Luma([noise()]));
    let rgb: RgbImage = ImageBuffer::from_fn(16, 40, |_, _| Rgb([noise(), noise(), noise()]));
    let wide = |sample: u8| u16::from(sample) * 257;
    let rgba16 = ImageBuffer::from_fn(9, 11, |_, _| Rgba([noise(), noise(), noise(), noise()].map(wide)));
    let tall: GrayImage = ImageBuffer::from_fn(2, 700, |_, _| Luma([noise()]));
    let pictures = [
        ("grey.png", DynamicImage::from(grey)),
        ("rgb.png", rgb.clone().into()),
        ("rgb.jpeg", rgb.into()),
        ("rgba16.png", rgba16.into()),
        ("tall.png", tall.into()),
        ("one.png", GrayImage::from_pixel(1, 1, Luma([200])).into()),
    ];
    let cases = [
        (&["--kernel", "1", "--grid", "1x1"][..], Case { kernel: [1, 1], stride: [1, 1], pads: [0; 4], grid: [1, 1] }),
        (
            &["--kernel", "3,2", "--stride", "2x1", "--pads", "1,0,2,1", "--grid", "5,7"],
            Case { kernel: [3, 2], stride: [2, 1], pads: [1, 0, 2, 1], grid: [5, 7] },
        ),
        // Windows wholly in padding are black, and there is nothing to unpool from them.
        (&["--pads", "3"], Case { pads: [3; 4], ..Case::DEFAULT }),
    ];
    for (name, picture) in pictures {
        picture.save(folder.join(name)).unwrap();
        let original = read(folder.join(name));
        for (options, case) in &cases {
            let arguments = [&["--backend", "cpu", "--out", "out", name][..], options].concat();
            EXAMPLE.run_well(&folder, &arguments);
            case.check(&original, &folder.join("out"));
        }
    }
}

/// The bits of the results do not depend on where they are computed, and nothing of the adapter is in the files.
fn files_are_the_same_from_the_gpu() {
    let folder = EXAMPLE.scratch("gpu");
    let cases: [&[&str]; 3] = [
        &[],
        &["--kernel", "5x3", "--stride", "2", "--pads", "2,0,1,3", "--grid", "7"],
        &["--kernel", "300", "--pads", "300"],
    ];
    for options in cases {
        let files = ["cpu", "vulkan"].map(|backend| {
            let stdout =
                EXAMPLE.run_well(&folder, &[&["--backend", backend, "--out", backend, &cat()], options].concat());
            assert!(stdout.contains("indices, bit for bit"), "{stdout}");
            FILES.map(|name| fs::read(folder.join(backend).join(name)).unwrap())
        });
        for ((name, cpu), vulkan) in FILES.iter().zip(&files[0]).zip(&files[1]) {
            assert!(cpu == vulkan, "{name} differs with {options:?}");
        }
    }
}

fn files_are_replaced_and_nothing_else_is_left() {
    let folder = EXAMPLE.scratch("replaced");
    fs::write(folder.join("pooled.png"), "old").unwrap();
    EXAMPLE.run_well(&folder, &["--backend", "cpu", "--out", "."]);
    let first = FILES.map(|name| fs::read(folder.join(name)).unwrap());
    EXAMPLE.run_well(&folder, &["--backend", "cpu", "--out", "."]);
    assert!(first == FILES.map(|name| fs::read(folder.join(name)).unwrap()), "a second run writes other bytes");
    assert_eq!(fs::read_dir(&folder).unwrap().count(), FILES.len());
}

fn what_is_wrong_is_said_in_one_line() {
    let folder = EXAMPLE.scratch("wrong");
    check_refusals(&EXAMPLE, &folder);
    GrayImage::new(1, 1).save(folder.join("one.png")).unwrap();
    fs::create_dir_all(folder.join("taken/pooled.png")).unwrap();
    let table: &[(&[&str], &str)] = &[
        (&["--kernel", "0"], "kernel_shape[0] is 0"),
        (&["--kernel", "2,-1"], "kernel_shape[1] is -1"),
        (&["--kernel", "two"], "\"two\" is not a whole number"),
        (&["--kernel", ""], "\"\" is not a whole number"),
        (&["--kernel", "1,2,3"], "3 numbers"),
        (&["--kernel", "151,225"], "exceeds the padded 150 x 225 picture"),
        (&["--kernel", "2000", "--stride", "1"], "effective kernel 2000 exceeds the padded input 150"),
        (&["--kernel", "9223372036854775807"], "64-bit"),
        (&["--kernel", "9223372036854775808"], "too large"),
        (&["--stride", "0"], "strides[0] is 0"),
        (&["--stride", "1x-2"], "strides[1] is -2"),
        (&["--pads", "-1"], "pads[0] is -1"),
        (&["--pads", "1,2,3"], "3 numbers"),
        (&["--pads", "100000"], "100075 x 100112"),
        (&["--pads", "9223372036854775807"], "64-bit"),
        (&["--grid", "0x0"], "0 x 0 has no cells"),
        (&["--grid", "3x0"], "3 x 0 has no cells"),
        (&["--grid", "-3"], "-3 x -3 has no cells"),
        (&["--grid", "100000"], "100000 x 100000"),
        (&["--grid", "9223372036854775807"], "9223372036854775807"),
        (&["--out", "text.png"], "text.png"),
        (&["--out", "text.png/below"], "text.png/below"),
        (&["--out", "taken"], "cannot write taken/pooled.png"),
        (&["one.png"], "exceeds the padded 1 x 1 picture"),
    ];
    for &(arguments, expected) in table {
        let backend: &[&str] = if arguments[0] == "--backend" { &[] } else { &["--backend", "cpu"] };
        EXAMPLE.fails(&folder, &[backend, arguments].concat(), expected);
    }
    assert_eq!(fs::read_dir(folder.join("taken")).unwrap().count(), 1, "an unfinished file is left behind");
    assert!(!folder.join("pool_image_out").exists(), "a folder is made though nothing can be written");
}

fn help_is_no_error() {
    let options = ["--kernel", "--stride", "--pads", "--grid", "--backend", "--adapter", "--out"];
    EXAMPLE.has_help(&["--help"], &options);
}
