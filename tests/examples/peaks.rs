//! The example `peaks` from the outside: what it lists and marks beside what the definition of a peak gives, pixel by
//! pixel.

use std::cmp::Reverse;
use std::fs;
use std::path::Path;

use image::{GrayImage, ImageBuffer, Luma, Rgb, RgbImage};
use support::tests;

use crate::example::Example;
use crate::pictures::{cat, check_refusals, check_without_a_gpu, noise, picture, read};

tests! {
    cpu =>
        the_default_picture_on_the_cpu,
        without_a_gpu_the_host_computes_and_says_so,
        small_pictures_by_the_definition,
        what_is_wrong_is_said_in_one_line,
        help_is_no_error;
    gpu =>
        answers_are_the_same_from_the_gpu;
}

static EXAMPLE: Example = Example::new("peaks");
const DEFAULT_PICTURE: &str = "hubble_deep_field.jpg";
const INK: Rgb<u8> = Rgb([120, 230, 90]);

/// A line of the table.
#[derive(Debug, PartialEq)]
struct Row {
    x: u32,
    y: u32,
    brightness: String,
}

/// What the example says.
#[derive(Debug, PartialEq)]
struct Answer {
    maxima: usize,
    peaks: usize,
    rows: Vec<Row>,
}

impl Answer {
    fn parse(report: &str) -> Answer {
        let number = |name: &str| {
            let line = report.lines().find(|line| line.split_whitespace().next() == Some(name));
            let line = line.unwrap_or_else(|| panic!("no {name} in {report}"));
            line.split_whitespace().nth(1).unwrap().trim_end_matches(',').parse().unwrap()
        };
        let table = report.lines().skip_while(|line| !line.trim_start().starts_with("rank")).skip(1);
        let rows = (1..).zip(table).map(|(rank, line)| {
            let columns: Vec<&str> = line.split_whitespace().collect();
            assert_eq!(columns[0], rank.to_string(), "{report}");
            Row { x: columns[1].parse().unwrap(), y: columns[2].parse().unwrap(), brightness: columns[3].to_owned() }
        });
        Answer { maxima: number("maxima"), peaks: number("peaks"), rows: rows.collect() }
    }

    /// By the definition: no pixel of the window around a maximum is brighter, and none that is as bright comes before
    /// it.
    fn by_definition(picture: &RgbImage, window: i64, threshold: f64, top: usize) -> Answer {
        let [width, height] = [picture.width(), picture.height()].map(i64::from);
        let brightness = brightness(picture);
        let around = |at: i64, extent: i64| (at - window / 2).max(0)..(at + window / 2 + 1).min(extent);
        let is_maximum = |&position: &i64| {
            let mine = (brightness[position as usize], Reverse(position));
            around(position / width, height)
                .flat_map(|y| around(position % width, width).map(move |x| y * width + x))
                .all(|other| (brightness[other as usize], Reverse(other)) <= mine)
        };
        let mut maxima: Vec<i64> = (0..width * height).filter(is_maximum).collect();
        let count = maxima.len();
        let grey = |position: i64| f64::from(brightness[position as usize]) / 65536.0;
        maxima.retain(|&position| grey(position) >= threshold);
        maxima.sort_by_key(|&position| (Reverse(brightness[position as usize]), position));
        let row = |&position: &i64| Row {
            x: (position % width) as u32,
            y: (position / width) as u32,
            brightness: format!("{:.2}", grey(position)),
        };
        Answer { maxima: count, peaks: maxima.len(), rows: maxima.iter().take(top).map(row).collect() }
    }
}

/// Grey, then the binomial filter over 5 x 5 pixels, in 65,536ths.
fn brightness(picture: &RgbImage) -> Vec<u32> {
    let [right, bottom] = [picture.width() as i64 - 1, picture.height() as i64 - 1];
    let grey = |x: i64, y: i64| {
        let [r, g, b] = picture.get_pixel(x.clamp(0, right) as u32, y.clamp(0, bottom) as u32).0.map(u32::from);
        54 * r + 183 * g + 19 * b
    };
    let weights = [1, 4, 6, 4, 1];
    let taps = || (-2i64..).zip(weights).flat_map(|(dy, a)| (-2i64..).zip(weights).map(move |(dx, b)| (dx, dy, a * b)));
    let pixels = (0..=bottom).flat_map(|y| (0..=right).map(move |x| (x, y)));
    pixels.map(|(x, y)| taps().map(|(dx, dy, weight)| weight * grey(x + dx, y + dy)).sum()).collect()
}

/// What is drawn lies around the peaks, and every one of them has its ring.
fn check_marks(original: &RgbImage, marked: &RgbImage, rows: &[Row]) {
    assert_eq!(marked.dimensions(), original.dimensions());
    for (x, y, pixel) in marked.enumerate_pixels() {
        let near = |row: &Row| row.x.abs_diff(x) < 40 && row.y.abs_diff(y) < 12;
        assert!(pixel == original.get_pixel(x, y) || rows.iter().any(near), "something is drawn at {x}, {y}");
    }
    for Row { x, y, .. } in rows {
        let [left, right] = [x.checked_sub(9), Some(x + 9)].map(|x| marked.get_pixel_checked(x?, *y));
        assert!(left == Some(&INK) || right == Some(&INK), "no ring around {x}, {y}");
    }
}

fn the_default_picture_on_the_cpu() {
    let folder = EXAMPLE.scratch("default");
    let report = EXAMPLE.run_well(&folder, &["--backend", "cpu"]);
    let original = read(picture(DEFAULT_PICTURE));
    let answer = Answer::parse(&report);
    assert_eq!(answer, Answer::by_definition(&original, 15, 60.0, 30), "{report}");
    assert_eq!(answer.rows.len(), 30);
    check_marks(&original, &read(folder.join("peaks.png")), &answer.rows);
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 1, "more than the picture is written");
}

fn without_a_gpu_the_host_computes_and_says_so() {
    let folder = EXAMPLE.scratch("no_gpu");
    check_without_a_gpu(&EXAMPLE, &folder);
    assert!(folder.join("peaks.png").exists());
}

/// Plateaus, ties, edges and windows larger than the picture.
fn small_pictures_by_the_definition() {
    let folder = EXAMPLE.scratch("small");
    let mut noise = noise();
    let flat = RgbImage::from_pixel(50, 40, Rgb([80; 3]));
    let mut star = RgbImage::new(60, 50);
    star.put_pixel(30, 25, Rgb([255; 3]));
    // Squares that smoothing leaves flat, two of them equal and apart.
    let squares = RgbImage::from_fn(90, 60, |x, y| match (x / 15, y / 15) {
        (1, 1) | (4, 1) => Rgb([200; 3]),
        (2, 2) => Rgb([250, 90, 30]),
        _ => Rgb([10, 0, 30]),
    });
    let pictures: [(&str, RgbImage); 6] = [
        ("flat.png", flat),
        ("star.png", star),
        ("squares.png", squares),
        ("noise.png", ImageBuffer::from_fn(61, 43, |_, _| Rgb([noise(), noise(), noise()]))),
        ("column.png", ImageBuffer::from_fn(1, 200, |_, _| Rgb([noise(); 3]))),
        ("one.png", RgbImage::from_pixel(1, 1, Rgb([9, 8, 7]))),
    ];
    for (name, picture) in pictures {
        picture.save(folder.join(name)).unwrap();
        for (window, threshold, top) in [(1, 128.0, 7), (3, 0.0, 1000), (15, 60.0, 0), (63, -1.0, 5)] {
            let numbers = [window.to_string(), threshold.to_string(), top.to_string()];
            let [window_text, threshold_text, top_text] = numbers.each_ref().map(String::as_str);
            let options = ["--window", window_text, "--threshold", threshold_text, "--top", top_text];
            let report = EXAMPLE.run_well(&folder, &[&["--backend", "cpu", name][..], &options].concat());
            let expected = Answer::by_definition(&picture, window, threshold, top);
            assert_eq!(Answer::parse(&report), expected, "{name} {options:?}: {report}");
            assert_eq!(read(folder.join("peaks.png")).dimensions(), picture.dimensions());
        }
    }
    let report = EXAMPLE.run_well(&folder, &["--backend", "cpu", "flat.png"]);
    assert_eq!(Answer::parse(&report).maxima, 1, "a plateau has one maximum");
    let report = EXAMPLE.run_well(&folder, &["--backend", "cpu", "star.png", "--out", "marked.PNG"]);
    assert_eq!(Answer::parse(&report).rows.len(), 0, "a lone pixel is smoothed below the threshold");
    assert!(read(folder.join("marked.PNG")) == read(folder.join("star.png")), "there was nothing to mark");
}

/// The bits of the results do not depend on where they are computed, and nothing of the adapter is in the file.
fn answers_are_the_same_from_the_gpu() {
    let folder = EXAMPLE.scratch("gpu");
    let run = |backend: &str, options: &[&str]| {
        let file = format!("{backend}.png");
        let report = EXAMPLE.run_well(&folder, &[&["--backend", backend, "--out", &file], options].concat());
        assert!(report.contains("indices, bit for bit"), "{report}");
        (Answer::parse(&report), fs::read(folder.join(file)).unwrap())
    };
    for options in [&[][..], &["--window", "5", "--top", "100"], &["--window", "31", &cat()]] {
        let ((on_cpu, cpu_file), (on_gpu, gpu_file)) = (run("cpu", options), run("vulkan", options));
        assert_eq!(on_gpu, on_cpu, "{options:?}");
        assert!(gpu_file == cpu_file, "the pictures differ with {options:?}");
    }
}

fn what_is_wrong_is_said_in_one_line() {
    let folder = EXAMPLE.scratch("wrong");
    check_refusals(&EXAMPLE, &folder);
    GrayImage::from_pixel(3, 3, Luma([50])).save(folder.join("small.png")).unwrap();
    fs::create_dir_all(folder.join("taken.png")).unwrap();
    let table: &[(&[&str], &str)] = &[
        (&["--window", "14"], "14 pixels has none in its middle"),
        (&["--window", "0"], "a window of 0 pixels, expected 1 to 63"),
        (&["--window", "-3"], "a window of -3 pixels"),
        (&["--window", "65"], "a window of 65 pixels"),
        (&["--window", "wide"], "\"wide\" is not a whole number"),
        (&["--threshold", "nan"], "\"nan\" is not a number"),
        (&["--threshold", "bright"], "\"bright\" is not a number"),
        (&["--top", "-1"], "-1"),
        (&["--out", "peaks.jpg"], "end in .png"),
        (&["--out", ""], "--out"),
        (&["--out", "absent/peaks.png"], "cannot write absent/peaks.png"),
        (&["--out", "taken.png"], "cannot write taken.png"),
    ];
    for &(arguments, expected) in table {
        EXAMPLE.fails(&folder, &[&["--backend", "cpu", "small.png"], arguments].concat(), expected);
    }
    let left = |path: &Path| fs::read_dir(path).unwrap().count();
    assert_eq!((left(&folder.join("taken.png")), left(&folder)), (0, 6), "an unfinished file is left behind");
}

fn help_is_no_error() {
    EXAMPLE.has_help(&["--help"], &["--window", "--threshold", "--top", "--out", "--backend", "--adapter"]);
}
