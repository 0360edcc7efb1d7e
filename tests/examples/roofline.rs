//! The program `roofline` (benches/roofline) from the outside: every row of the catalogue, made small, is computed,
//! verified and timed. The times themselves are not checked.

use std::fs;

use serde_json::Value;
use support::calls::reference;
use support::splitmix::{STEP, splitmix64};
use support::tests;
use wgpu_pooling::{DType, IndexType, MaxPool, SimdLevel, Tensor};

use crate::absent::ABSENT_BACKEND;
use crate::example::Example;

tests! {
    gpu =>
        every_row_is_verified_and_timed,
        types_and_rows_are_those_asked_for,
        inputs_and_checksums_are_as_documented,
        the_rule_for_nan_is_the_one_asked_for,
        a_sweep_verifies_and_sums_up_what_it_draws,
        clocks_are_those_asked_for,
        what_a_device_cannot_hold_is_said,
        constants_are_measured_with_their_reasons,
        tables_are_plain_or_markdown,
        figures_that_cannot_be_written_are_said_in_one_line;
    cpu =>
        every_row_is_verified_and_timed_on_the_cpu,
        the_cpu_computes_as_it_is_told,
        inputs_and_checksums_on_the_cpu_are_as_documented,
        a_sweep_on_the_cpu_verifies_what_it_draws,
        rows_are_as_large_as_asked_for,
        a_longer_sweep_begins_with_a_shorter_one,
        rows_are_listed_without_a_device,
        what_is_wrong_is_said_in_one_line,
        help_is_no_error;
}

static EXAMPLE: Example = Example::new("roofline");

const CATALOGUE: &str = include_str!("../../benches/catalogue.json");
const CPU_CATALOGUE: &str = include_str!("../../benches/cpu_catalogue.json");
const MODEL_CATALOGUE: &str = include_str!("../../benches/model_catalogue.json");
/// Shapes as small and timings as short as possible.
const QUICK: [&str; 8] = ["--shrink", "1000000", "--rounds", "1", "--pass", "0", "--memory", "64"];

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

fn names(rows: &Value) -> Vec<&str> {
    rows["rows"].as_array().unwrap().iter().map(|row| row["name"].as_str().unwrap()).collect()
}

/// What programs read of each row, from a GPU and from the CPU.
const KEYS: [&str; 26] = [
    "bytes",
    "copy_gbps",
    "copy_median_seconds",
    "copy_seconds",
    "dispatches",
    "dtype",
    "first_use_cpu_seconds",
    "gbps",
    "indices",
    "indices_checksum",
    "kernel",
    "median_seconds",
    "name",
    "nan_policy",
    "op",
    "others",
    "percent_of_copy",
    "pooled_shape",
    "seconds",
    "slices",
    "time_over_copy",
    "verified_slices",
    "x_shape",
    "y_checksum",
    "y_shape",
    "buffer_sets",
];

/// The keys of a row, sorted.
fn keys(row: &Value) -> Vec<&str> {
    let mut keys: Vec<&str> = row.as_object().unwrap().keys().map(String::as_str).collect();
    keys.sort_unstable();
    keys
}

fn sorted<'a>(keys: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    let mut keys: Vec<&str> = keys.into_iter().collect();
    keys.sort_unstable();
    keys
}

fn every_row_is_verified_and_timed() {
    let folder = EXAMPLE.scratch("every_row");
    let report = EXAMPLE.run_well(&folder, &[&QUICK[..], &["--json", "figures.json"]].concat());
    let figures = json(&fs::read_to_string(folder.join("figures.json")).unwrap());
    rows_are_verified_and_timed(&figures, &json(CATALOGUE), &report);
    assert!(figures["rows"].as_array().unwrap().iter().all(|row| keys(row) == sorted(KEYS)), "{figures}");
    let others = figures["rows"].as_array().unwrap().iter().map(|row| row["others"].as_array().unwrap().len());
    assert!(others.sum::<usize>() > 25, "other kernels apply to most rows");
    for row in figures["rows"].as_array().unwrap() {
        for kernel in [row].into_iter().chain(row["others"].as_array().unwrap()) {
            let dispatches = kernel["dispatches"].as_u64().unwrap();
            let said = format!(" ({dispatches} dispatch{})", if dispatches == 1 { "" } else { "es" });
            assert!(kernel["kernel"].as_str().unwrap().ends_with(&said), "{kernel}");
        }
    }
}

fn every_row_is_verified_and_timed_on_the_cpu() {
    let folder = EXAMPLE.scratch("every_row_cpu");
    let catalogues = [("rows", CATALOGUE), ("further_rows", CPU_CATALOGUE), ("rows_of_models", MODEL_CATALOGUE)];
    for (name, catalogue) in catalogues {
        let [rows, written] = [format!("{name}.json"), format!("{name}_figures.json")];
        fs::write(folder.join(&rows), catalogue).unwrap();
        let arguments = ["--backend", "cpu", "--catalogue", &rows, "--json", &written];
        let report = EXAMPLE.run_well(&folder, &[&QUICK[..], &arguments].concat());
        assert!(report.contains(", CPU, ") && report.contains("; wall clock; "), "{report}");
        let figures = json(&fs::read_to_string(folder.join(written)).unwrap());
        rows_are_verified_and_timed(&figures, &json(catalogue), &report);
        let counts_cpu = cfg!(any(target_os = "linux", target_os = "macos"));
        let of_cpus: &[&str] = if counts_cpu { &["cpu_over_wall", "copy_cpu_over_wall"] } else { &[] };
        let expected = sorted(KEYS.into_iter().chain(of_cpus.iter().copied()));
        for row in figures["rows"].as_array().unwrap() {
            assert_eq!(keys(row), expected);
            assert!(row["dispatches"].is_null(), "{row}");
            assert!(row["kernel"] == "general" || !row["others"].as_array().unwrap().is_empty(), "{row}");
        }
    }
}

fn rows_are_verified_and_timed(figures: &Value, catalogue: &Value, report: &str) {
    assert_eq!(names(figures), names(catalogue));
    for (row, wanted) in figures["rows"].as_array().unwrap().iter().zip(catalogue["rows"].as_array().unwrap()) {
        assert!(row["failure"].is_null(), "{row}");
        assert!(row["verified_slices"].as_u64().unwrap() > 0, "{row}");
        assert_eq!(row["verified_slices"], row["slices"], "rows as small as this are verified whole: {row}");
        assert_eq!(row["dtype"], *wanted.get("dtype").unwrap_or(&"f32".into()), "{row}");
        assert_eq!(row["op"], wanted["op"]);
        let writes_indices = wanted["op"] != "MaxUnpool" && wanted["indices"] != "none";
        assert_eq!(row["indices_checksum"].is_string(), writes_indices, "{row}");
        for figure in ["seconds", "copy_seconds", "gbps", "copy_gbps", "percent_of_copy", "time_over_copy"] {
            assert!(row[figure].as_f64().is_some_and(|figure| figure > 0.0), "{figure} of {row}");
        }
        if cfg!(any(target_os = "linux", target_os = "macos")) {
            assert!(row["first_use_cpu_seconds"].as_f64().is_some_and(|seconds| seconds > 0.0), "{row}");
        }
        let name = row["name"].as_str().unwrap();
        let kernel = row["kernel"].as_str().unwrap();
        let line = report.lines().find(|line| line.starts_with(name) && line.contains(", selected")).unwrap();
        assert!(line.contains(kernel), "{line}");
        for other in row["others"].as_array().unwrap() {
            assert!(other["kernel"] != row["kernel"], "{row}");
            assert!(other["time_over_selected"].is_f64() || other["left_out"].is_string(), "{other}");
        }
    }
}

/// Threads, vector instructions and kernels are those asked for, and none of them changes a result.
fn the_cpu_computes_as_it_is_told() {
    let folder = EXAMPLE.scratch("cpu");
    let rows = ["--rows", "stem_3x3s2p1_i64,adaptive_odd,unpool_2x2s2", "--json", "-", "--data", "nasty"];
    let quick = [&QUICK[..], &rows, &["--backend", "cpu"]].concat();
    let figures = |more: &[&str]| json(&EXAMPLE.run_well(&folder, &[&quick[..], more].concat()));
    let results = |figures: &Value| {
        let rows = figures["rows"].as_array().unwrap().iter();
        rows.map(|row| ["y_checksum", "indices_checksum"].map(|key| row[key].clone())).collect::<Vec<_>>()
    };
    let best = figures(&[]);
    assert_eq!(best["simd"], SimdLevel::best().name());
    assert!(best["adapter"].as_str().unwrap().contains(&format!(", CPU, {}, ", SimdLevel::best().name())), "{best}");
    let three = figures(&["--threads", "3", "--simd", "baseline", "--clock", "wall"]);
    assert_eq!((&three["threads"], &three["simd"]), (&3.into(), &"baseline".into()));
    assert!(three["adapter"].as_str().unwrap().ends_with(", CPU, baseline, 3 threads"), "{three}");
    let general = figures(&["--threads", "1", "--kernel", "general"]);
    assert!(general["adapter"].as_str().unwrap().ends_with(", 1 thread"), "{general}");
    for row in general["rows"].as_array().unwrap() {
        assert!(row["kernel"] == "general" && row["others"].as_array().unwrap().is_empty(), "{row}");
    }
    assert_eq!([results(&three), results(&general)], [results(&best), results(&best)]);
    let sets = |more: &[&str]| figures(more)["rows"][0]["buffer_sets"].as_u64().unwrap();
    assert_eq!(sets(&[]), 1, "what fits the caches is in them");
    assert!(sets(&["--cache", "1"]) > 1);
    if cfg!(any(target_os = "linux", target_os = "macos")) {
        assert_eq!(figures(&["--clock", "cpu"])["clock"], "CPU time of the process");
    }
    let quick = [&QUICK[..], &["--backend", "cpu", "--rows", "stem_3x3s2p1_i64"]].concat();
    EXAMPLE.fails(
        &folder,
        &[&quick[..], &["--kernel", "scatter"]].concat(),
        "1 of 1 rows failed: stem_3x3s2p1_i64, f32",
    );
}

fn a_sweep_on_the_cpu_verifies_what_it_draws() {
    let folder = EXAMPLE.scratch("sweep_cpu");
    let arguments = [&SMALL_SWEEP[..], &["--backend", "cpu", "--sweep", "6", "--json", "sweep.json"]].concat();
    let report = EXAMPLE.run_well(&folder, &arguments);
    let figures = json(&fs::read_to_string(folder.join("sweep.json")).unwrap());
    for row in figures["rows"].as_array().unwrap() {
        assert!(row["verified_slices"].as_u64().unwrap() > 0 && row["time_over_f32_copy"].is_f64(), "{row}");
    }
    assert!(report.contains("6 geometries; --seed 5 ") && report.contains("% within 3"), "{report}");
}

/// No row moves more bytes, and those that moved more move not much less.
fn rows_are_as_large_as_asked_for() {
    let folder = EXAMPLE.scratch("row_bytes");
    let quick = ["--backend", "cpu", "--rounds", "1", "--pass", "0", "--selected-only", "--json", "-"];
    let rows = ["--rows", "stem,segnet", "--dtypes", "f32,u8", "--verify-taps", "0", "--row-bytes", "1000000"];
    let figures = json(&EXAMPLE.run_well(&folder, &[&quick[..], &rows].concat()));
    for row in figures["rows"].as_array().unwrap() {
        assert!((500_000..=1_000_000).contains(&row["bytes"].as_u64().unwrap()), "{row}");
    }
}

fn types_and_rows_are_those_asked_for() {
    let folder = EXAMPLE.scratch("types");
    let types = DType::ALL.map(DType::name).join(",");
    let wanted = ["--selected-only", "--rows", "segnet_2x2s2_i64,unpool_3x3", "--json", "-", "--dtypes", &types];
    let figures = json(&EXAMPLE.run_well(&folder, &[&QUICK[..], &wanted].concat()));
    let rows = figures["rows"].as_array().unwrap();
    let found: Vec<[&str; 2]> =
        rows.iter().map(|row| ["name", "dtype"].map(|key| row[key].as_str().unwrap())).collect();
    let expected = ["segnet_2x2s2_i64", "unpool_3x3s2p1"].map(|name| DType::ALL.map(|dtype| [name, dtype.name()]));
    assert_eq!(found, expected.as_flattened());
    assert!(rows.iter().all(|row| row["others"].as_array().unwrap().is_empty()));
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 0, "nothing is written");
}

/// Programs in other languages can make the same inputs and compute the same checksums: splitmix64, seeded with 0.
fn inputs_and_checksums_are_as_documented() {
    inputs_and_checksums("auto");
}

fn inputs_and_checksums_on_the_cpu_are_as_documented() {
    inputs_and_checksums("cpu");
}

fn inputs_and_checksums(backend: &str) {
    let folder = EXAMPLE.scratch(&format!("checksums_{backend}"));
    let row = r#"{"name": "a", "op": "MaxPool", "x": [2, 3, 9, 8], "kernel_shape": [3, 2], "strides": [2, 1], "indices": "i64"}"#;
    fs::write(folder.join("rows.json"), format!(r#"{{"rows": [{row}]}}"#)).unwrap();
    let arguments = ["--catalogue", "rows.json", "--data", "peers", "--json", "-", "--rounds", "1", "--pass", "0"];
    let figures = json(&EXAMPLE.run_well(&folder, &[&arguments[..], &["--backend", backend]].concat()));

    let step = |index: u64| index.wrapping_mul(STEP);
    let sum = |bits: &mut dyn Iterator<Item = u64>| {
        let terms = bits.zip(0..).map(|(bits, index)| splitmix64(bits.wrapping_add(step(index)).wrapping_sub(STEP)));
        format!("{:016x}", terms.fold(0u64, u64::wrapping_add))
    };
    let shape = [2, 3, 9, 8];
    let data = (0..shape.iter().product()).map(|index| (splitmix64(step(index as u64)) % 251) as f32).collect();
    let x = Tensor::new(shape, data).unwrap();
    let plan = MaxPool::new([3, 2]).strides([2, 1]).plan(&shape, DType::F32, Some(IndexType::I64)).unwrap();
    let (y, indices) = reference::max_pool_with_indices::<f32, i64>(&plan, x.view()).unwrap();
    let found = &figures["rows"][0];
    assert_eq!(found["y_checksum"], sum(&mut y.data().iter().map(|value| u64::from(value.to_bits()))));
    assert_eq!(found["indices_checksum"], sum(&mut indices.data().iter().map(|&index| index as u64)));
}

/// On data with NaN each of the three NaN policies gives other maxima.
fn the_rule_for_nan_is_the_one_asked_for() {
    let folder = EXAMPLE.scratch("nan_policy");
    let row = |name: &str, more: &str| {
        format!(
            r#"{{"name": "{name}", "op": "MaxPool", "x": [1, 2, 40, 9], "kernel_shape": [2, 2], "indices": "i32"{more}}}"#
        )
    };
    let rows = [row("plain", ""), row("own", r#", "nan_policy": "propagate_last""#)].join(", ");
    fs::write(folder.join("rows.json"), format!(r#"{{"rows": [{rows}]}}"#)).unwrap();
    let figures = |more: &[&str]| {
        let arguments = ["--catalogue", "rows.json", "--json", "-", "--rounds", "1", "--pass", "0", "--data", "nasty"];
        let figures = json(&EXAMPLE.run_well(&folder, &[&arguments[..], more].concat()));
        assert_eq!(figures["data"], "nasty");
        let found = figures["rows"].as_array().unwrap().iter();
        found.map(|row| (row["nan_policy"].clone(), row["y_checksum"].clone())).collect::<Vec<_>>()
    };
    let defaults = figures(&[]);
    assert_eq!([&defaults[0].0, &defaults[1].0], ["seed_first", "propagate_last"]);
    let [first, last, lowest] = ["seed-first", "propagate-last", "seed_lowest"].map(|policy| {
        let found = figures(&["--nan-policy", policy]);
        assert_eq!(found[0], found[1], "the option wins over the row");
        assert_eq!(found[0].0, policy.replace('-', "_"));
        found[0].clone()
    });
    assert_eq!(defaults, [first.clone(), last.clone()]);
    assert!(first.1 != last.1 && last.1 != lowest.1 && lowest.1 != first.1, "{first:?} {last:?} {lowest:?}");
    // Integers have no NaN.
    let integers = ["seed-first", "seed-lowest"].map(|policy| figures(&["--nan-policy", policy, "--dtypes", "i8"]));
    assert!(integers[0] == integers[1] && integers[0][0].0.is_null(), "{integers:?}");
}

/// A sweep whose geometries are small enough for a test.
const SMALL_SWEEP: [&str; 8] = ["--seed", "5", "--sweep-bytes", "65536", "--rounds", "1", "--pass", "0"];

fn a_sweep_verifies_and_sums_up_what_it_draws() {
    let folder = EXAMPLE.scratch("sweep");
    let arguments = [&SMALL_SWEEP[..], &["--sweep", "6", "--json", "sweep.json"]].concat();
    let report = EXAMPLE.run_well(&folder, &arguments);
    let figures = json(&fs::read_to_string(folder.join("sweep.json")).unwrap());
    let rows = figures["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 6);
    for (number, row) in rows.iter().enumerate() {
        assert_eq!((&row["sweep_number"], &row["row"]["name"]), (&number.into(), &row["name"]), "{row}");
        assert!(row["verified_slices"].as_u64().unwrap() > 0 && row["bytes"].as_u64().unwrap() >= 65536, "{row}");
        assert_eq!(row["classes"][0], "all");
        let ratio = row["seconds"].as_f64().unwrap() / row["f32_copy_seconds"].as_f64().unwrap();
        // Numbers lose their last bit on their way through JSON.
        assert!((row["time_over_f32_copy"].as_f64().unwrap() / ratio - 1.0).abs() < 1e-9, "{row}");
        // 4 bytes for each element of X and Y, and the bytes of the indices. The copy reads one half and writes the
        // other, each rounded up to whole vectors of 16 bytes.
        let elements =
            |key: &str| row[key].as_array().unwrap().iter().map(|extent| extent.as_u64().unwrap()).product::<u64>();
        let index_bytes = row["indices"].as_str().map_or(0, |name| if name == "i64" { 8 } else { 4 });
        let indices = index_bytes * elements(if row["op"] == "MaxUnpool" { "x_shape" } else { "y_shape" });
        let bytes = 4 * (elements("x_shape") + elements("y_shape")) + indices;
        assert_eq!(row["f32_copy_bytes"], 2 * bytes.div_ceil(2).next_multiple_of(16), "{row}");
    }
    let sweep = &figures["sweep"];
    assert_eq!((&sweep["seed"], &sweep["numbers"]), (&5.into(), &(0..6).collect::<Vec<_>>().into()));
    let all = &sweep["classes"][0];
    assert_eq!((&all["name"], &all["count"]), (&"all".into(), &6.into()));
    let most = rows.iter().map(|row| row["time_over_f32_copy"].as_f64().unwrap()).fold(0.0, f64::max);
    assert_eq!(all["time_over_f32_copy"]["percentile_100"], most);
    assert_eq!(sweep["worst"][0]["time_over_f32_copy"], most);
    // The worst geometry can be run alone, by the printed command and as a row of a catalogue.
    let worst = &sweep["worst"][0];
    let command = worst["command"].as_str().unwrap().strip_prefix("roofline ").unwrap();
    assert!(report.contains(command) && report.contains(&worst["row"].to_string()), "{report}");
    let command: Vec<&str> = command.split(' ').collect();
    let report = EXAMPLE.run_well(&folder, &[&command[..], &["--rounds", "1", "--pass", "0"]].concat());
    assert!(report.contains("time/copy  time/f32 copy  verified") && !report.contains("class"), "{report}");
    let quick = ["--rounds", "1", "--pass", "0", "--json", "-"];
    let alone = json(&EXAMPLE.run_well(&folder, &[&command[..], &quick].concat()));
    fs::write(folder.join("rows.json"), format!(r#"{{"rows": [{}]}}"#, worst["row"])).unwrap();
    let as_row = json(&EXAMPLE.run_well(&folder, &[&["--catalogue", "rows.json"], &quick[..]].concat()));
    let known = rows.iter().find(|row| row["name"] == worst["name"]).unwrap();
    for key in ["name", "op", "dtype", "x_shape", "y_shape", "kernel", "y_checksum", "indices_checksum"] {
        assert_eq!((&alone["rows"][0][key], &as_row["rows"][0][key]), (&known[key], &known[key]), "{key}");
    }
    assert!(known["others"].as_array().unwrap().is_empty(), "a sweep times what is selected");
}

fn a_longer_sweep_begins_with_a_shorter_one() {
    let folder = EXAMPLE.scratch("sweep_list");
    let list =
        |arguments: &[&str]| EXAMPLE.run_well(&folder, &[&["--list", "--backend", ABSENT_BACKEND], arguments].concat());
    let [short, long] = ["20", "60"].map(|count| list(&["--sweep", count, "--seed", "9"]));
    assert!(long.starts_with(&short) && short.starts_with("--seed 9 "), "{short}");
    let line = |number: usize| long.lines().nth(number + 1).unwrap();
    let some = list(&["--sweep-only", "31,4", "--seed", "9"]);
    assert_eq!(some.lines().skip(1).collect::<Vec<_>>(), [line(31), line(4)]);
    assert_ne!(list(&["--sweep", "20", "--seed", "10"]).lines().nth(1), short.lines().nth(1));
    let typed = list(&["--sweep", "9", "--dtypes", "i8", "--nan-policy", "seed-lowest"]);
    assert!(typed.contains(" --dtypes i8 --nan-policy seed_lowest ") && typed.matches(r#""dtype":"i8""#).count() == 9);
    // Without --seed a sweep draws a new seed and prints it.
    let seed = |list: &str| list.split(' ').nth(1).unwrap().parse::<u64>().unwrap();
    let again =
        list(&["--sweep", "1", "--seed", &seed(&typed).to_string(), "--dtypes", "i8", "--nan-policy", "seed-lowest"]);
    assert_eq!(again.lines().nth(1), typed.lines().nth(1));
}

fn clocks_are_those_asked_for() {
    let folder = EXAMPLE.scratch("clock");
    let clock = |more: &[&str]| {
        let arguments = [&QUICK[..], &["--rows", "global_7x7", "--selected-only", "--json", "-"], more].concat();
        let figures = json(&EXAMPLE.run_well(&folder, &arguments));
        assert!(figures["rows"][0]["seconds"].as_f64().unwrap() > 0.0);
        (figures["clock"].as_str().unwrap().to_owned(), figures["adapter"].as_str().unwrap().contains(", Cpu, "))
    };
    assert_eq!(clock(&["--clock", "wall"]).0, "wall clock around submits");
    let (device, in_software) = clock(&["--clock", "device"]);
    assert!(["timestamps of the device", "wall clock around submits"].contains(&device.as_str()), "{device}");
    if !in_software {
        let arguments = [&QUICK[..], &["--rows", "global_7x7", "--clock", "cpu"]].concat();
        EXAMPLE.fails(&folder, &arguments, "--clock cpu: the device does not compute on the CPU");
        assert_eq!(clock(&[]).0, device);
    } else if cfg!(any(target_os = "linux", target_os = "macos")) {
        assert_eq!(clock(&["--clock", "cpu"]).0, "CPU time of the process around submits");
        assert_eq!(clock(&[]).0, "CPU time of the process around submits");
    }
}

fn what_a_device_cannot_hold_is_said() {
    let folder = EXAMPLE.scratch("too_large");
    // 2^40 elements exceed every device.
    let row = r#"{"name": "huge", "op": "MaxPool", "x": [1024, 1024, 1024, 1024], "kernel_shape": [2, 2]}"#;
    let small = r#"{"name": "small", "op": "GlobalMaxPool", "x": [1, 1, 4]}"#;
    fs::write(folder.join("rows.json"), format!(r#"{{"rows": [{row}, {small}]}}"#)).unwrap();
    let arguments = ["--catalogue", "rows.json", "--rounds", "1", "--pass", "0", "--json", "out.json"];
    EXAMPLE.fails(&folder, &arguments, "1 of 2 rows failed: huge, f32: too large: ");
    let figures = json(&fs::read_to_string(folder.join("out.json")).unwrap());
    assert_eq!(figures["rows"][0]["failure"], "too large");
    assert_eq!(figures["rows"][1]["verified_slices"], 1);
    let report = EXAMPLE.run_well(&folder, &[&arguments[..], &["--skip-too-large"]].concat());
    assert!(report.contains("huge, f32: too large: "), "{report}");
}

/// Each kernel is compared with what it has to write; a wrong word fails the run.
fn constants_are_measured_with_their_reasons() {
    let folder = EXAMPLE.scratch("constants");
    let report = EXAMPLE.run_well(&folder, &[&["--constants", "--json", "constants.json"], &QUICK[..]].concat());
    let written = json(&fs::read_to_string(folder.join("constants.json")).unwrap());
    let figures = written["figures"].as_array().unwrap();
    for figure in figures {
        assert!(figure["value"].as_f64().is_some_and(|value| value > 0.0), "{figure}");
        assert!(figure["seconds"].is_f64() && figure["copy_seconds"].is_f64(), "{figure}");
        assert!(figure["decides"].as_str().is_some_and(|sentence| sentence.ends_with('.')), "{figure}");
        assert!(report.contains(figure["name"].as_str().unwrap()), "{report}");
    }
    for (unit, some) in [("us", "indirect dispatch, not"), ("copies", "stores of 4"), ("G/s", "operations: a + b")] {
        let of_unit = |figure: &&Value| figure["unit"] == unit && figure["name"].as_str().unwrap().contains(some);
        assert!(figures.iter().any(|figure| of_unit(&figure)), "{unit}: {some}");
    }
    let printed = json(&EXAMPLE.run_well(&folder, &[&["--constants", "--json", "-"], &QUICK[..]].concat()));
    let names = |figures: &Value| -> Vec<Value> {
        figures["figures"].as_array().unwrap().iter().map(|figure| figure["name"].clone()).collect()
    };
    assert_eq!(names(&printed), names(&written));
}

fn tables_are_plain_or_markdown() {
    let folder = EXAMPLE.scratch("tables");
    let arguments = [&QUICK[..], &["--rows", "global_7x7", "--selected-only"]].concat();
    assert!(EXAMPLE.run_well(&folder, &arguments).contains("\nglobal_7x7  f32 "));
    let report = EXAMPLE.run_well(&folder, &[&arguments[..], &["--markdown"]].concat());
    assert!(report.contains("\n| --- | ") && report.contains("\n| global_7x7 | f32 | "), "{report}");
}

fn rows_are_listed_without_a_device() {
    let folder = EXAMPLE.scratch("list");
    let list = EXAMPLE.run_well(&folder, &["--list", "--backend", ABSENT_BACKEND]);
    let listed: Vec<&str> = list.lines().filter_map(|line| line.split_whitespace().next()).collect();
    assert_eq!(listed, names(&json(CATALOGUE)));
    let list = EXAMPLE.run_well(&folder, &["--list", "--rows", "dilate_", "--shrink", "12", "--dtypes", "u8,f16"]);
    let expected = ["u8", "f16"]
        .map(|dtype| format!("dilate_31x31s1p15    MaxPool         {dtype:<4} [1, 1, 1080, 1920], no indices; NCHW"))
        .map(|line| line + ", kernel [31, 31], strides [1, 1], pads [15, 15, 15, 15]");
    assert_eq!(list.lines().collect::<Vec<_>>(), expected);
}

fn what_is_wrong_is_said_in_one_line() {
    let folder = EXAMPLE.scratch("wrong");
    fs::write(folder.join("bad.json"), r#"{"rows": [{"name": "a", "op": "MaxPool", "x": [1, 1, 4]}]}"#).unwrap();
    fs::write(
        folder.join("kernel.json"),
        r#"{"rows": [{"name": "a", "op": "GlobalMaxPool", "x": [1, 1, 4], "y": 1}]}"#,
    )
    .unwrap();
    let table: &[(&[&str], &str)] = &[
        (&["--shrink", "0"], "0 is not in 1..=1000000"),
        (&["--shrink", "1000001"], "1000001 is not in 1..=1000000"),
        (&["--rounds", "0"], "0 is not in 1..=1000"),
        (&["--dtypes", "f8"], "unknown value \"f8\", expected f32, f16"),
        (&["--rows", "stem,nothing"], "no row has \"nothing\" in its name: stem_3x3s2p1, "),
        (&["--data", "ones"], "mixed, peers, nasty, zeros"),
        (&["--nan-policy", "first"], "is no NaN policy: seed_first, propagate_last, seed_lowest, ignore"),
        (&["--constants", "--rows", "stem"], "--rows"),
        (&["--constants", "--backend", "cpu"], "--constants are those of a GPU"),
        (&["--sweep", "0"], "0 is not in 1..=1000000"),
        (&["--sweep", "2", "--rows", "stem"], "--rows"),
        (&["--sweep", "2", "--sweep-only", "1", "--seed", "1"], "--sweep-only"),
        (&["--sweep-only", "1"], "--seed"),
        (&["--sweep", "1", "--sweep-bytes", "1"], "1 is not in 4096"),
        (&["--clock", "sun"], "device, wall, cpu"),
        (&["--catalogue", "absent.json"], "cannot read absent.json"),
        (&["--catalogue", "bad.json"], "bad.json is no catalogue: row a: kernel_shape is missing"),
        (&["--catalogue", "kernel.json"], "row a: y is no key of a row"),
        (&["--backend", "tpu"], "auto, vulkan, metal, dx12, gl, cpu"),
        (&["--backend", "cpu", "--adapter", "card"], "--adapter names a GPU, but --backend cpu takes none"),
        (&["--backend", "cpu", "--clock", "device"], "--clock device: the CPU is no device"),
        (&["--backend", "cpu", "--threads", "0"], "0 is not in 1..=1024"),
        (&["--backend", "cpu", "--simd", "sse"], "\"sse\" is none of this processor's: baseline"),
        (&["--backend", "cpu", "--kernel", "fast"], "\"fast\" is no kernel: general, "),
        (&["--threads", "1"], "--threads is for --backend cpu"),
        (&["--simd", "baseline"], "--simd is for --backend cpu"),
        (&["--kernel", "general"], "--kernel is for --backend cpu"),
        (&["--shrink", "2", "--row-bytes", "2000"], "--row-bytes"),
        (&["--row-bytes", "1"], "1 is not in 1024"),
        (&["--backend", ABSENT_BACKEND], "no usable GPU adapter"),
        (&["rows"], "rows"),
    ];
    for &(arguments, expected) in table {
        EXAMPLE.fails(&folder, arguments, expected);
    }
}

fn figures_that_cannot_be_written_are_said_in_one_line() {
    let folder = EXAMPLE.scratch("unwritable");
    let unwritable = ["--rows", "global_7x7", "--json", "no/such/folder.json"];
    EXAMPLE.fails(&folder, &[&QUICK[..], &unwritable].concat(), "cannot write no/such/folder.json");
}

fn help_is_no_error() {
    let options = [
        "--nan-policy",
        "--clock",
        "--constants",
        "--sweep-only",
        "--seed",
        "--sweep-bytes",
        "--catalogue",
        "--rows",
        "--dtypes",
        "--shrink",
        "--verify-taps",
        "--json",
        "--markdown",
        "--list",
        "--backend",
        "--threads",
        "--simd",
        "--kernel",
    ];
    EXAMPLE.has_help(&["--help"], &options);
}
