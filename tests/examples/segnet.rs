//! The example `segnet` from the outside: its shapes, the bytes that it counts beside those that follow from the
//! shapes, and its one line on stderr.

use support::tests;

use crate::absent::ABSENT_BACKEND;
use crate::example::Example;

tests! {
    gpu =>
        shapes_and_bytes_follow_from_the_network,
        timings_are_there_or_said_not_to_be;
    cpu =>
        what_is_wrong_is_said_in_one_line,
        help_is_no_error;
}

static EXAMPLE: Example = Example::new("segnet");

/// The bytes of a report on bad indices.
const REPORT: u64 = 32;

/// A network in numbers: batch and channels, the input's height and width, the number of levels, the bytes of an
/// element.
struct Case {
    arguments: &'static [&'static str],
    planes: [u64; 2],
    size: [u64; 2],
    levels: u32,
    dtype: &'static str,
    element_bytes: u64,
}

impl Case {
    /// Height and width at a level; level 0 is the input.
    fn size_at(&self, level: u32) -> [u64; 2] {
        self.size.map(|side| side >> level)
    }

    fn shape(&self, level: u32) -> String {
        let ([batch, channels], [height, width]) = (self.planes, self.size_at(level));
        format!("[{batch}, {channels}, {height}, {width}]")
    }

    /// What a tensor of a level occupies: whole words.
    fn bytes(&self, level: u32, element_bytes: u64) -> u64 {
        let [batch, channels] = self.planes;
        let [height, width] = self.size_at(level);
        (batch * channels * height * width * element_bytes).next_multiple_of(4)
    }

    /// The steps in order: what each is called, and the level whose shape it gives.
    fn steps(&self) -> Vec<(String, u32)> {
        let down = (1..=self.levels).map(|level| (format!("down {level}"), level));
        down.chain((1..=self.levels).rev().map(|level| (format!("up {level}"), level - 1))).collect()
    }

    fn check(&self, report: &str) {
        let starting = |start: &str| {
            let line = report.lines().find(|line| line.starts_with(start));
            line.unwrap_or_else(|| panic!("no line begins with {start:?}: {report}"))
        };
        assert!(starting("x  ").ends_with(&format!("{} {}", self.dtype, self.shape(0))), "{report}");
        for (name, level) in self.steps() {
            let kernel = if name.starts_with("down") { "max_pool " } else { "max_unpool " };
            let line = starting(&format!("{name} "));
            assert!(line.contains(&format!("{} by {kernel}", self.shape(level))), "{line}");
            assert!(line.contains(&format!(" {} ", self.dtype)), "{line}");
        }
        // An unpool of a pool's own indices takes no scratch memory.
        let submitted = format!("once, {} steps; 0 bytes of scratch memory", 2 * self.levels);
        assert!(starting("submitted").contains(&submitted), "{report}");

        let reports = REPORT * u64::from(self.levels);
        let chain = [self.bytes(0, self.element_bytes), self.bytes(0, self.element_bytes) + reports];
        // Of two neighbouring levels: the pool's X goes up, and so do the unpool's X and its indices; the pool's Y and
        // its indices come down, and so does the unpool's Y.
        let calls = (1..=self.levels).map(|level| {
            let [large, small] = [level - 1, level].map(|level| self.bytes(level, self.element_bytes));
            let indices = self.bytes(level, 4);
            [large + small + indices, small + indices + large]
        });
        let calls = calls.fold([0, reports], |[up, down], [more_up, more_down]| [up + more_up, down + more_down]);
        for (start, [up, down]) in [("across bus", chain), ("call by call", calls)] {
            let expected = format!("{up} bytes up, {down} bytes down, {} in all", up + down);
            assert!(starting(start).contains(&expected), "{expected}: {report}");
        }
        let times = calls.iter().sum::<u64>() as f64 / chain.iter().sum::<u64>() as f64;
        assert!(starting("so ").contains(&format!("{times:.2} times")), "{report}");
        let elements = self.planes.iter().chain(&self.size).product::<u64>();
        assert!(starting("agreement").ends_with(&format!("{elements} values, bit for bit")), "{report}");
    }
}

fn shapes_and_bytes_follow_from_the_network() {
    let folder = EXAMPLE.scratch("networks");
    let cases = [
        Case { arguments: &[], planes: [1, 16], size: [256; 2], levels: 5, dtype: "f32", element_bytes: 4 },
        // SegNet's own input size, which has an odd extent at one level.
        Case {
            arguments: &["--size", "360x480", "--channels", "3", "--batch", "2", "--dtype", "f16"],
            planes: [2, 3],
            size: [360, 480],
            levels: 5,
            dtype: "f16",
            element_bytes: 2,
        },
        Case {
            arguments: &["--levels", "3", "--size", "61,97", "--channels", "5", "--dtype", "bf16"],
            planes: [1, 5],
            size: [61, 97],
            levels: 3,
            dtype: "bf16",
            element_bytes: 2,
        },
        Case {
            arguments: &["--levels", "1", "--size", "3", "--channels", "1", "--dtype", "u8", "--timings"],
            planes: [1, 1],
            size: [3, 3],
            levels: 1,
            dtype: "u8",
            element_bytes: 1,
        },
    ];
    for case in cases {
        case.check(&EXAMPLE.run_well(&folder, case.arguments));
    }
    assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 0, "nothing is written");
}

fn timings_are_there_or_said_not_to_be() {
    let report = EXAMPLE.run_well(&EXAMPLE.scratch("timings"), &["--size", "32", "--levels", "3", "--timings"]);
    let timed: Vec<&str> = report.lines().filter(|line| line.contains(" took ")).collect();
    if report.contains("timings      none: this adapter has no timestamps") {
        assert!(timed.is_empty(), "{report}");
        return;
    }
    let names = ["down 1 took", "down 2 took", "down 3 took", "up 3 took", "up 2 took", "up 1 took", "all took"];
    assert_eq!(timed.len(), names.len(), "{report}");
    for (line, name) in timed.iter().zip(names) {
        let time = line.strip_prefix(name).and_then(|line| line.split(" us").next()).map(str::trim);
        let time: f64 = time.and_then(|time| time.parse().ok()).unwrap_or_else(|| panic!("no time in {line}"));
        assert!(time > 0.0 || name != "all took", "{report}");
    }
}

fn what_is_wrong_is_said_in_one_line() {
    let folder = EXAMPLE.scratch("wrong");
    let table: &[(&[&str], &str)] = &[
        (&["--levels", "0"], "0 is not in 1..=16"),
        (&["--levels", "-1"], "-1"),
        (&["--levels", "9"], "nothing is left to pool for level 9: 1 x 1 elements"),
        (&["--size", "4x2", "--levels", "2"], "nothing is left to pool for level 2: 2 x 1 elements"),
        (&["--size", "0"], "expected at least 1"),
        (&["--size", "-4"], "\"-4\" is not a whole number"),
        (&["--size", "wide"], "\"wide\" is not a whole number"),
        (&["--size", "1x2x3"], "3 numbers"),
        (&["--batch", "0"], "expected at least 1"),
        (&["--channels", "18446744073709551616"], "too large"),
        (&["--channels", "18446744073709551615"], "more elements than 64-bit byte counts hold"),
        (&["--batch", "100000"], "104857600000 elements"),
        (&["--dtype", "f8"], "f32, f16, bf16, u8"),
        (&["--backend", "cpu"], "auto, vulkan, metal, dx12, gl"),
        (&["--backend", ABSENT_BACKEND], "no usable GPU adapter"),
        (&["--backend", ABSENT_BACKEND, "--adapter", "card"], "no usable GPU adapter"),
        (&["picture.png"], "picture.png"),
    ];
    for &(arguments, expected) in table {
        EXAMPLE.fails(&folder, arguments, expected);
    }
}

fn help_is_no_error() {
    let options = ["--levels", "--size", "--batch", "--channels", "--dtype", "--timings", "--backend", "--adapter"];
    EXAMPLE.has_help(&["--help"], &options);
}
