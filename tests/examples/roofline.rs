//! The program `roofline` (benches/roofline) from the outside: every row of the catalogues, made small, is computed,
//! verified by the program itself, and timed. The times themselves are not checked.

use std::fs;
use std::path::Path;

use gpu_test::gpu_test;
use serde_json::Value;
use support::splitmix::{STEP, splitmix64};
use wgpu_pooling::SimdLevel;

use crate::example::{ABSENT_BACKEND, Example, Files, names};

static ROOFLINE: Example = Example::new("roofline");
pub const EXAMPLES: Files = &[(&ROOFLINE, wrong)];

const CATALOGUE: &str = include_str!("../../benches/catalogue.json");
const CPU_CATALOGUE: &str = include_str!("../../benches/cpu_catalogue.json");
const MODEL_CATALOGUE: &str = include_str!("../../benches/model_catalogue.json");
/// Timings as short as possible, and shapes as small.
const SHORT: &str = "--rounds 1 --pass 0";
const QUICK: &str = "--rounds 1 --pass 0 --shrink 1000000 --memory 64";
/// What programs read of each row, from a GPU and from the CPU, sorted.
const KEYS: &str = "buffer_sets bytes copy_gbps copy_median_seconds copy_seconds dispatches dtype \
                    first_use_cpu_seconds gbps indices indices_checksum kernel median_seconds name nan_policy op \
                    others percent_of_copy pooled_shape seconds slices time_over_copy verified_slices x_shape \
                    y_checksum y_shape";

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

/// The rows that a run prints.
fn rows(folder: &Path, arguments: &str) -> Vec<Value> {
    json(&ROOFLINE.says(folder, &format!("{arguments} --json -"), &[]))["rows"].as_array().unwrap().clone()
}

/// Some keys of rows.
fn of(rows: &[Value], keys: &[&str]) -> Vec<Vec<Value>> {
    rows.iter().map(|row| keys.iter().map(|&key| row[key].clone()).collect()).collect()
}

/// Runs all rows of a catalogue, which the program verifies, and reads the file that it writes.
fn rows_are_verified_and_timed(folder: &Path, catalogue: &str, arguments: &str, more_keys: &[&str]) {
    fs::write(folder.join("rows.json"), catalogue).unwrap();
    let arguments = format!("{QUICK} --catalogue rows.json --json figures.json {arguments}");
    let report = ROOFLINE.says(folder, &arguments, &[", selected"]);
    let figures = json(&fs::read_to_string(folder.join("figures.json")).unwrap());
    let (rows, wanted) = (figures["rows"].as_array().unwrap(), json(catalogue));
    let wanted = wanted["rows"].as_array().unwrap();
    assert_eq!(of(rows, &["name", "op"]), of(wanted, &["name", "op"]));
    let mut expected: Vec<&str> = KEYS.split_whitespace().chain(more_keys.iter().copied()).collect();
    expected.sort_unstable();
    for (row, wanted) in rows.iter().zip(wanted) {
        let mut keys: Vec<&String> = row.as_object().unwrap().keys().collect();
        keys.sort_unstable();
        assert_eq!(keys, expected);
        assert_eq!(row["verified_slices"], row["slices"], "rows as small as this are verified whole: {row}");
        assert_eq!(row["dtype"], *wanted.get("dtype").unwrap_or(&"f32".into()), "{row}");
        let writes_indices = wanted["op"] != "MaxUnpool" && wanted["indices"] != "none";
        assert_eq!(row["indices_checksum"].is_string(), writes_indices, "{row}");
        for figure in ["seconds", "copy_seconds", "gbps", "copy_gbps", "percent_of_copy", "time_over_copy"] {
            assert!(row[figure].as_f64().is_some_and(|figure| figure > 0.0), "{figure} of {row}");
        }
        let kernel = row["kernel"].as_str().unwrap();
        assert!(report.lines().any(|line| line.contains(", selected") && line.contains(kernel)), "{kernel}: {report}");
        for other in row["others"].as_array().unwrap() {
            assert!(other["time_over_selected"].is_f64() || other["left_out"].is_string(), "{other}");
        }
    }
}

#[gpu_test]
fn every_row_is_verified_and_timed() {
    rows_are_verified_and_timed(&ROOFLINE.scratch("rows"), CATALOGUE, "", &[]);
}

#[test]
fn every_row_is_verified_and_timed_on_the_cpu() {
    let folder = ROOFLINE.scratch("rows_cpu");
    let counts_cpu = cfg!(any(target_os = "linux", target_os = "macos"));
    let of_cpus: &[&str] = if counts_cpu { &["cpu_over_wall", "copy_cpu_over_wall"] } else { &[] };
    for catalogue in [CATALOGUE, CPU_CATALOGUE, MODEL_CATALOGUE] {
        rows_are_verified_and_timed(&folder, catalogue, "--backend cpu", of_cpus);
    }
}

/// Threads, vector instructions and kernels are those asked for, and none of them changes a result.
#[test]
fn the_cpu_computes_as_it_is_told() {
    let folder = ROOFLINE.scratch("cpu");
    let quick = format!("{QUICK} --backend cpu --data nasty --rows stem_3x3s2p1_i64,adaptive_odd,unpool_2x2s2");
    let run = |more: &str, adapter: &str| {
        let figures = json(&ROOFLINE.says(&folder, &format!("{quick} --json - {more}"), &[]));
        assert!(figures["adapter"].as_str().unwrap().contains(adapter), "{figures}");
        (of(figures["rows"].as_array().unwrap(), &["y_checksum", "indices_checksum"]), figures)
    };
    let (best, figures) = run("", &format!(", CPU, {}, ", SimdLevel::best().name()));
    assert_eq!(figures["rows"][0]["buffer_sets"], 1, "what fits the caches is in them");
    let (three, _) = run("--threads 3 --simd baseline --clock wall", ", CPU, baseline, 3 threads");
    let (general, figures) = run("--threads 1 --kernel general --cache 1", ", 1 thread");
    assert!(figures["rows"].as_array().unwrap().iter().all(|row| row["kernel"] == "general"), "{figures}");
    assert!(figures["rows"][0]["buffer_sets"].as_u64().unwrap() > 1, "{figures}");
    assert_eq!([&three, &general], [&best; 2]);
    if cfg!(any(target_os = "linux", target_os = "macos")) {
        assert_eq!(run("--clock cpu", "").1["clock"], "CPU time of the process");
    }
    ROOFLINE.fails(&folder, &format!("{quick} --kernel scatter"), "2 of 3 rows failed: stem_3x3s2p1_i64, f32");
}

/// Programs in other languages make the same inputs and compute the same checksums: splitmix64, seeded with 0.
fn inputs_and_checksums(backend: &str) {
    let folder = ROOFLINE.scratch(&format!("checksums_{backend}"));
    let row = r#"{"name": "a", "op": "MaxPool", "x": [1, 1, 72], "kernel_shape": [2], "indices": "i64"}"#;
    fs::write(folder.join("rows.json"), format!(r#"{{"rows": [{row}]}}"#)).unwrap();
    let rows = rows(&folder, &format!("--catalogue rows.json --data peers {SHORT} --backend {backend}"));
    let step = |index: u64| index.wrapping_mul(STEP);
    let x = |index: u64| (splitmix64(step(index)) % 251) as f32;
    let sum = |bits: &dyn Fn(u64) -> u64| {
        let terms = (0..71).map(|index| splitmix64(bits(index).wrapping_add(step(index)).wrapping_sub(STEP)));
        format!("{:016x}", terms.fold(0u64, u64::wrapping_add))
    };
    assert_eq!(rows[0]["y_checksum"], sum(&|at| x(at).max(x(at + 1)).to_bits().into()));
    assert_eq!(rows[0]["indices_checksum"], sum(&|at| at + u64::from(x(at + 1) > x(at))));
}

#[gpu_test]
fn inputs_and_checksums_are_as_documented() {
    inputs_and_checksums("auto");
}

#[test]
fn inputs_and_checksums_on_the_cpu_are_as_documented() {
    inputs_and_checksums("cpu");
}

#[test]
fn rules_and_sizes_are_those_asked_for() {
    let folder = ROOFLINE.scratch("rules");
    // On data with NaN each rule gives other maxima; the option wins over the row's own.
    let row = r#""op": "MaxPool", "x": [1, 2, 40, 9], "kernel_shape": [2, 2]"#;
    let own =
        format!(r#"{{"rows": [{{"name": "a", {row}}}, {{"name": "b", {row}, "nan_policy": "propagate_last"}}]}}"#);
    fs::write(folder.join("rows.json"), own).unwrap();
    let run = |more: &str| {
        let arguments = format!("--backend cpu --catalogue rows.json {SHORT} --data nasty {more}");
        of(&rows(&folder, &arguments), &["nan_policy", "y_checksum"])
    };
    let [first, last, lowest] = ["seed-first", "propagate-last", "seed_lowest"].map(|policy| {
        let found = run(&format!("--nan-policy {policy}"));
        assert!(found[0] == found[1] && found[0][0] == policy.replace('-', "_"), "{found:?}");
        found[0].clone()
    });
    assert!(first[1] != last[1] && last[1] != lowest[1] && lowest[1] != first[1], "{first:?} {last:?} {lowest:?}");
    assert_eq!(run(""), [first, last]);
    assert!(run("--nan-policy seed-lowest --dtypes i8")[0][0].is_null(), "integers have no NaN");
    // No row moves more bytes than asked for, and those that moved more move not much less.
    let sized = format!("--backend cpu {SHORT} --selected-only --rows stem,segnet --verify-taps 0 --row-bytes 1000000");
    for row in rows(&folder, &sized) {
        assert!((500_000..=1_000_000).contains(&row["bytes"].as_u64().unwrap()), "{row}");
    }
    assert_eq!(names(&folder), ["rows.json"]);
}

/// Windows are verified by the reference or by a queue, and the largest steps from one to the next are told.
#[test]
fn windows_follow_each_other() {
    let folder = ROOFLINE.scratch("windows");
    let arguments = format!("--backend cpu --windows --rows volume --dtypes u8 {SHORT} --json windows.json");
    ROOFLINE.says(
        &folder,
        &arguments,
        &[" of 32 steps cost more than 3 times as much. The largest:", "volume", "u8, [1, 1, 64, 64, 64]"],
    );
    let rows = json(&fs::read_to_string(folder.join("windows.json")).unwrap())["rows"].as_array().unwrap().clone();
    assert!(rows.len() == 34 && rows.iter().all(|row| row["verified_slices"] == 1), "{rows:?}");
    let windows: Vec<u64> = rows.iter().map(|row| row["row"]["kernel_shape"][0].as_u64().unwrap()).collect();
    assert_eq!((&windows[..5], windows[16], windows[17]), (&[1, 2, 3, 4, 5][..], 65, 1));
}

/// A sweep whose geometries are small enough for a test.
const SMALL_SWEEP: &str = "--seed 5 --sweep-bytes 65536 --rounds 1 --pass 0";

#[gpu_test]
fn a_sweep_verifies_and_sums_up_what_it_draws() {
    let folder = ROOFLINE.scratch("sweep");
    let report =
        ROOFLINE.says(&folder, &format!("{SMALL_SWEEP} --sweep 6 --json sweep.json"), &["6 geometries; --seed 5 "]);
    let figures = json(&fs::read_to_string(folder.join("sweep.json")).unwrap());
    let drawn = figures["rows"].as_array().unwrap();
    assert_eq!(drawn.len(), 6);
    for (number, row) in drawn.iter().enumerate() {
        assert_eq!((&row["sweep_number"], &row["classes"][0]), (&number.into(), &"all".into()), "{row}");
        assert!(row["verified_slices"].as_u64().unwrap() > 0 && row["bytes"].as_u64().unwrap() >= 65536, "{row}");
    }
    let most = drawn.iter().map(|row| row["time_over_f32_copy"].as_f64().unwrap()).fold(0.0, f64::max);
    let (all, worst) = (&figures["sweep"]["classes"][0], &figures["sweep"]["worst"][0]);
    assert_eq!((&all["name"], &all["count"]), (&"all".into(), &6.into()));
    assert_eq!([&all["time_over_f32_copy"]["percentile_100"], &worst["time_over_f32_copy"]], [most; 2]);
    // The worst geometry can be run alone, by the printed command and as a row of a catalogue.
    let command = worst["command"].as_str().unwrap().strip_prefix("roofline ").unwrap();
    assert!(report.contains(command) && report.contains(&worst["row"].to_string()), "{report}");
    fs::write(folder.join("rows.json"), format!(r#"{{"rows": [{}]}}"#, worst["row"])).unwrap();
    let keys = ["name", "op", "dtype", "x_shape", "y_shape", "kernel", "y_checksum", "indices_checksum"];
    let known = drawn.iter().find(|row| row["name"] == worst["name"]).unwrap();
    for arguments in [command, "--catalogue rows.json"] {
        assert_eq!(of(&rows(&folder, &format!("{arguments} {SHORT}")), &keys), of(std::slice::from_ref(known), &keys));
    }
}

#[test]
fn a_sweep_can_be_told_again() {
    let folder = ROOFLINE.scratch("sweep_list");
    let list = |arguments: &str| ROOFLINE.says(&folder, &format!("--list --backend {ABSENT_BACKEND} {arguments}"), &[]);
    let [short, long] = ["20", "60"].map(|count| list(&format!("--sweep {count} --seed 9")));
    assert!(long.starts_with(&short) && short.starts_with("--seed 9 "), "{short}");
    let line = |number: usize| long.lines().nth(number + 1).unwrap();
    assert_eq!(list("--sweep-only 31,4 --seed 9").lines().skip(1).collect::<Vec<_>>(), [line(31), line(4)]);
    let typed = list("--sweep 9 --dtypes i8 --nan-policy seed-lowest");
    assert!(typed.contains(" --dtypes i8 --nan-policy seed_lowest ") && typed.matches(r#""dtype":"i8""#).count() == 9);
    // Without --seed a sweep draws a new seed and prints it.
    let seed = typed.split(' ').nth(1).unwrap();
    let again = list(&format!("--sweep 9 --dtypes i8 --nan-policy seed-lowest --seed {seed}"));
    assert!(
        again.lines().skip(1).eq(typed.lines().skip(1)) && seed.parse::<u64>().is_ok_and(|seed| seed != 9),
        "{seed}"
    );
    ROOFLINE.says(
        &folder,
        &format!("{SMALL_SWEEP} --backend cpu --sweep 6"),
        &["6 geometries; --seed 5 ", "% within 3"],
    );
}

#[gpu_test]
fn clocks_are_those_asked_for() {
    let folder = ROOFLINE.scratch("clock");
    let quick = format!("{QUICK} --rows global_7x7 --selected-only");
    let clock = |more: &str| {
        let figures = json(&ROOFLINE.says(&folder, &format!("{quick} --json - {more}"), &[]));
        (figures["clock"].as_str().unwrap().to_owned(), figures["adapter"].as_str().unwrap().contains(", Cpu, "))
    };
    assert_eq!(clock("--clock wall").0, "wall clock around submits");
    let (device, in_software) = clock("--clock device");
    assert!(["timestamps of the device", "wall clock around submits"].contains(&device.as_str()), "{device}");
    if !in_software {
        ROOFLINE.fails(&folder, &format!("{quick} --clock cpu"), "--clock cpu: the device does not compute on the CPU");
    } else if cfg!(any(target_os = "linux", target_os = "macos")) {
        assert_eq!(clock("").0, "CPU time of the process around submits");
    }
}

#[gpu_test]
fn what_a_device_cannot_hold_is_said() {
    let folder = ROOFLINE.scratch("too_large");
    // 2^40 elements exceed every device.
    let row = r#"{"name": "huge", "op": "MaxPool", "x": [1024, 1024, 1024, 1024], "kernel_shape": [2, 2]}"#;
    let small = r#"{"name": "small", "op": "GlobalMaxPool", "x": [1, 1, 4]}"#;
    fs::write(folder.join("rows.json"), format!(r#"{{"rows": [{row}, {small}]}}"#)).unwrap();
    let arguments = format!("--catalogue rows.json {SHORT} --json out.json");
    ROOFLINE.fails(&folder, &arguments, "1 of 2 rows failed: huge, f32: too large: ");
    let figures = json(&fs::read_to_string(folder.join("out.json")).unwrap());
    assert_eq!(
        (&figures["rows"][0]["failure"], &figures["rows"][1]["verified_slices"]),
        (&"too large".into(), &1.into())
    );
    ROOFLINE.says(&folder, &format!("{arguments} --skip-too-large"), &["huge, f32: too large: "]);
}

/// Each kernel is compared with what it has to write; a wrong word fails the run.
#[gpu_test]
fn constants_are_measured_with_their_reasons() {
    let folder = ROOFLINE.scratch("constants");
    let report = ROOFLINE.says(&folder, &format!("{QUICK} --constants --json constants.json"), &[]);
    let figures = json(&fs::read_to_string(folder.join("constants.json")).unwrap());
    let figures = figures["figures"].as_array().unwrap();
    for figure in figures {
        assert!(figure["value"].as_f64().is_some_and(|value| value > 0.0) && figure["unit"].is_string(), "{figure}");
        assert!(figure["decides"].as_str().is_some_and(|sentence| sentence.ends_with('.')), "{figure}");
        assert!(report.contains(figure["name"].as_str().unwrap()), "{report}");
    }
    assert!(figures.len() > 20, "{report}");
}

#[test]
fn lists_and_tables_are_as_known() {
    ROOFLINE.reports(&ROOFLINE.scratch("known"));
}

fn wrong(folder: &Path) {
    let row = |more: &str| format!(r#"{{"rows": [{{"name": "a", "x": [1, 1, 4], {more}}}]}}"#);
    fs::write(folder.join("bad.json"), row(r#""op": "MaxPool""#)).unwrap();
    fs::write(folder.join("kernel.json"), row(r#""op": "GlobalMaxPool", "y": 1"#)).unwrap();
}
