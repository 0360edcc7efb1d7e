//! The examples that compute on a GPU alone. They compare with the reference, or with a definition, themselves.

use gpu_test::gpu_test;
use std::fs;

use crate::example::{ABSENT_BACKEND, Example, Files, fingerprint, line, names};

static ADAPTERS: Example = Example::new("adapters");
static BARE_WGPU: Example = Example::new("bare_wgpu");
static DEPTH_PYRAMID: Example = Example::new("depth_pyramid");
static OWN_DEVICE: Example = Example::new("own_device");
static SEGNET: Example = Example::new("segnet");

pub const EXAMPLES: Files =
    &[(&ADAPTERS, |_| ()), (&BARE_WGPU, |_| ()), (&DEPTH_PYRAMID, |_| ()), (&OWN_DEVICE, |_| ()), (&SEGNET, |_| ())];

#[gpu_test]
fn what_they_say_is_known() {
    for example in [&BARE_WGPU, &DEPTH_PYRAMID, &SEGNET] {
        let folder = example.scratch("known");
        example.reports(&folder);
        assert!(names(&folder).is_empty(), "something is written");
    }
}

#[gpu_test]
fn adapters_lists_what_it_opens() {
    let report =
        ADAPTERS.says(&ADAPTERS.scratch("here"), "", &["\n  max_buffer_size ", "\n  f16 ", "\n    max_unpool gather "]);
    let opened = line(&report, "opened: ");
    assert!(report.lines().any(|line| line == opened), "{report}");
}

#[gpu_test]
fn adapters_says_what_the_environment_chooses() {
    let folder = ADAPTERS.scratch("environment");
    let output = ADAPTERS.run(&folder, &[("WGPU_POWER_PREF", "low"), ("WGPU_ADAPTER_NAME", "")], "");
    let report = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{report}");
    assert_eq!(["WGPU_POWER_PREF", "WGPU_ADAPTER_NAME"].map(|name| line(&report, name).trim()), ["low", ""]);
    // Scripts ask by the exit code whether there is an adapter.
    for variable in [("WGPU_ADAPTER_NAME", "an adapter that nobody has"), ("WGPU_BACKEND", ABSENT_BACKEND)] {
        let output = ADAPTERS.run(&folder, &[variable], "");
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert_eq!(
            (output.status.code(), stderr.lines().count(), &output.stdout[..]),
            (Some(1), 1, &[][..]),
            "{stderr}"
        );
    }
    // An option comes before the variable.
    let name = line(&report, "opened: ").split([',', '(']).next().unwrap().trim().to_uppercase();
    let output =
        ADAPTERS.command(&folder, &["--adapter", &name]).env("WGPU_ADAPTER_NAME", "nobody's").output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// A level 0 that is not filled would have depths of 0 beside the scene's, which are from 0.1 to 1.
#[gpu_test]
fn a_reversed_depth_pyramid_is_of_the_same_scene() {
    let folder = DEPTH_PYRAMID.scratch("reversed");
    let depths = |arguments, ends| -> [f32; 2] {
        let report = DEPTH_PYRAMID.says(&folder, arguments, &[]);
        let depths = line(&report, &format!("depth        {ends}, here from ")).split(';').next().unwrap();
        let (low, high) = depths.split_once(" to ").unwrap();
        [low, high].map(|depth| depth.parse().unwrap())
    };
    let [low, high] = depths("--size 203x101", "0 near, 1 far");
    let [reversed_low, reversed_high] = depths("--size 203x101 --reversed", "1 near, 0 far");
    assert!((0.1..0.3).contains(&low) && high == 1.0, "{low} {high}");
    assert!((reversed_high - (1.0 - low)).abs() < 1e-4 && reversed_low == 0.0, "{reversed_low} {reversed_high}");
}

#[gpu_test]
fn own_device_draws_its_picture() {
    let folder = OWN_DEVICE.scratch("picture");
    // Windows that do not divide the picture, and one window. The pictures are as computed once from the definitions.
    for (arguments, [values, indices], picture) in [
        ("", [1_052_672, 4096], "48dbb33f8e1a4dc0"),
        ("--size 101 --window 7", [41_588, 784], "69b07978e1f81ff7"),
        ("--size 33 --window 33", [4_360, 4], "a384b0205ed5eae2"),
    ] {
        let lines = [
            "device       opened by this program: ",
            "encoded      max_pool ",
            // An unpool of a pool's own indices is not computed by claims.
            "encoded      max_unpool gather ",
            // wgpu has counted as many submits as this program has made, so nobody else has made one.
            "submitted    once, by this program; the device's first: SubmissionIndex { index: 1 }",
            &format!("agreement    with the reference: {values} values and {indices} indices, bit for bit"),
            "heard: Destroyed; the library then says: the device is lost: Destroyed",
        ];
        OWN_DEVICE.says(&folder, arguments, &lines);
        assert_eq!(fingerprint(&folder, &["own_device.png"]), picture, "{arguments}");
    }
    assert_eq!(names(&folder), ["own_device.png"]);
    fs::create_dir_all(folder.join("taken.png")).unwrap();
    for out in ["absent/picture.png", "taken.png"] {
        OWN_DEVICE.fails(&folder, &format!("--out {out}"), &format!("cannot write {out}"));
    }
    assert_eq!(names(&folder), ["own_device.png", "taken.png"], "an unfinished file is left behind");
}

#[gpu_test]
fn segnet_has_timings_or_says_that_there_are_none() {
    let report = SEGNET.says(&SEGNET.scratch("timings"), "--size 32 --levels 2 --timings", &[]);
    let timed: Vec<&str> = report.lines().filter(|line| line.contains(" took ")).collect();
    if report.contains("timings      none: this adapter has no timestamps") {
        return assert!(timed.is_empty(), "{report}");
    }
    let names = ["down 1 took", "down 2 took", "up 2 took", "up 1 took", "all took"];
    assert!(
        timed.len() == names.len() && timed.iter().zip(names).all(|(line, name)| line.starts_with(name)),
        "{report}"
    );
    let all: f64 = line(&report, "all took").trim().trim_end_matches(" us").parse().unwrap();
    assert!(all > 0.0, "{report}");
}
