//! The example `depth_pyramid` from the outside: its levels, its depths, and where a chain of 2 x 2 pools is wrong.

use support::tests;

use crate::absent::ABSENT_BACKEND;
use crate::example::Example;

tests! {
    gpu =>
        every_level_is_exact_at_any_size,
        reversed_depth_is_the_same_scene;
    cpu =>
        what_is_wrong_is_said_in_one_line,
        help_is_no_error;
}

static EXAMPLE: Example = Example::new("depth_pyramid");

/// The rest of the line that begins like this.
fn line<'a>(report: &'a str, start: &str) -> &'a str {
    let found = report.lines().find_map(|line| line.strip_prefix(start));
    found.unwrap_or_else(|| panic!("no line begins with {start:?}: {report}"))
}

/// The lowest and the highest depth of the scene.
fn depths(report: &str, ends: &str) -> [f32; 2] {
    let depths = line(report, &format!("depth        {ends}, here from "));
    let (low, high) = depths.split(';').next().unwrap().split_once(" to ").unwrap();
    [low, high].map(|depth| depth.parse().unwrap())
}

fn every_level_is_exact_at_any_size() {
    let folder = EXAMPLE.scratch("sizes");
    // For each size the levels from which levels are pooled, from level 1 on.
    let cases: [(&str, [usize; 2], &[usize]); 6] = [
        ("37x23", [37, 23], &[0, 0, 0, 3, 4]),
        ("1x1", [1, 1], &[]),
        ("127x61", [127, 61], &[0, 0, 0, 1, 3, 5]),
        ("31x1", [31, 1], &[0, 0, 1, 3]),
        ("1x29", [1, 29], &[0, 1, 0, 3]),
        ("64x32", [64, 32], &[0, 1, 2, 3, 4, 5]),
    ];
    for (argument, size, sources) in cases {
        let report = EXAMPLE.run_well(&folder, &["--size", argument]);
        line(&report, &format!("levels       {}, ", sources.len() + 1));
        let mut texels = 0;
        for (level, from) in (1..).zip(sources) {
            let [width, height] = size.map(|side| (side >> level).max(1));
            let extent = format!("{width} x {height}");
            let bytes = width * height * 4;
            line(&report, &format!("{level:<6} {extent:<12} {from:<5} {bytes:<9} 0             0             "));
            texels += width * height;
        }
        line(&report, &format!("agreement    with the definition: {texels} maxima and {texels} minima, bit for bit"));
        // Sides that halve evenly down to 1 lose nothing in a chain of 2 x 2 pools.
        let wrong: usize = line(&report, "2 x 2 chain  ").split(' ').next().unwrap().parse().unwrap();
        let even = size.iter().all(|side| side.is_power_of_two());
        assert_eq!(wrong == 0, even, "{report}");
    }
    assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 0, "nothing is written");
}

/// A level 0 that is not filled would have depths of 0 beside the scene's, which are from 0.1 to 1.
fn reversed_depth_is_the_same_scene() {
    let folder = EXAMPLE.scratch("reversed");
    let [ordinary, reversed] = [&["--size", "203x101"][..], &["--size", "203x101", "--reversed"]]
        .map(|arguments| EXAMPLE.run_well(&folder, arguments));
    let ([low, high], [reversed_low, reversed_high]) =
        (depths(&ordinary, "0 near, 1 far"), depths(&reversed, "1 near, 0 far"));
    assert!((0.1..0.3).contains(&low) && high == 1.0, "{ordinary}");
    assert!((reversed_high - (1.0 - low)).abs() < 1e-4 && reversed_low == 0.0, "{reversed}");
    for report in [&ordinary, &reversed] {
        assert!(!line(report, "2 x 2 chain  ").starts_with("0 "), "{report}");
    }
}

fn what_is_wrong_is_said_in_one_line() {
    let folder = EXAMPLE.scratch("wrong");
    let table: &[(&[&str], &str)] = &[
        (&["--size", "0x3"], "\"0x3\" is not a width and a height from 1 to 4096"),
        (&["--size", "3x4097"], "\"3x4097\" is not a width"),
        (&["--size", "-3x4"], "\"-3x4\" is not a width"),
        (&["--size", "1921"], "\"1921\" is not a width"),
        (&["--size", "1x2x3"], "\"1x2x3\" is not a width"),
        (&["--size", "4294967297x1"], "\"4294967297x1\" is not a width"),
        (&["--backend", "cpu"], "auto, vulkan, metal, dx12, gl"),
        (&["--backend", ABSENT_BACKEND], "no usable GPU adapter"),
        (&["depth.exr"], "depth.exr"),
    ];
    for &(arguments, expected) in table {
        EXAMPLE.fails(&folder, arguments, expected);
    }
}

fn help_is_no_error() {
    EXAMPLE.has_help(&["--help"], &["--size", "--reversed", "--backend", "--adapter"]);
}
