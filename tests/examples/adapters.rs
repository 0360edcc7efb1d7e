//! The example `adapters` from the outside. Scripts ask it whether there is an adapter, so its exit code is a promise.

use std::collections::HashMap;

use support::tests;

use crate::absent::{ABSENT_BACKEND, WITHOUT_AN_ADAPTER};
use crate::example::Example;

tests! {
    gpu =>
        what_is_opened_is_among_what_is_there,
        the_environment_chooses_and_is_shown;
    cpu =>
        without_an_adapter_it_fails_in_one_line,
        help_is_no_error;
}

static EXAMPLE: Example = Example::new("adapters");

/// An adapter's limits: what it has, and what is asked for.
type Rows = HashMap<String, [u64; 2]>;

/// The adapters of a report with the rows under their names.
fn parse(report: &str) -> Vec<(String, Rows)> {
    let mut adapters: Vec<(String, Rows)> = Vec::new();
    for line in report.lines().take_while(|line| !line.starts_with("opened: ")) {
        let words: Vec<&str> = line.split_whitespace().collect();
        match (line.starts_with("  "), &words[..]) {
            (true, [name, has, asked]) if has.parse::<u64>().is_ok() => {
                let row = [has, asked].map(|number| number.parse().unwrap());
                adapters.last_mut().expect("an adapter").1.insert((*name).to_owned(), row);
            }
            (false, [name, ..]) if !name.starts_with("WGPU_") => adapters.push((line.to_owned(), Rows::new())),
            _ => {}
        }
    }
    adapters
}

fn what_is_opened_is_among_what_is_there() {
    let folder = EXAMPLE.scratch("here");
    let report = EXAMPLE.run_well(&folder, &[]);
    let adapters = parse(&report);
    let opened = report.lines().find_map(|line| line.strip_prefix("opened: ")).expect("one is opened");
    let (name, rows) = adapters.iter().find(|(name, _)| name == opened).expect("it is listed");
    for (limit, [has, asked]) in rows {
        // A smaller alignment is the better one, so a larger one may be asked for.
        let within = if limit.starts_with("min_") { asked >= has } else { asked <= has };
        assert!(within, "{limit} of {name}: {report}");
    }
    assert_eq!(rows.len(), 7, "{report}");

    // A tensor that fits one binding can be pooled, and one that exceeds the largest buffer cannot. An unpool of u8 has
    // larger indices than values.
    let [buffer, binding] = ["max_buffer_size", "max_storage_buffer_binding_size"].map(|limit| rows[limit][1]);
    for (dtype, element_bytes) in [("u8", 1), ("f16", 2), ("f32", 4), ("f64", 8)] {
        let line = report.lines().find(|line| line.trim_start().starts_with(&format!("{dtype} ")));
        let numbers = line.into_iter().flat_map(str::split_whitespace).skip(1).map(|number| number.parse().unwrap());
        let [pooled, unpooled]: [u64; 2] = numbers.collect::<Vec<_>>().try_into().expect("two numbers");
        let one_binding = (buffer.min(binding) / 4 * 4 / element_bytes).min(1 << 31);
        assert!((one_binding..=buffer / element_bytes).contains(&pooled), "{dtype}: {report}");
        assert!((one_binding / 8..=buffer / element_bytes).contains(&unpooled), "{dtype}: {report}");
    }
    for kernel in ["max_pool ", "max_unpool ", "adaptive_max_pool ", "global_max_pool "] {
        assert!(report.lines().any(|line| line.trim_start().starts_with(kernel)), "{kernel} in {report}");
    }
}

fn the_environment_chooses_and_is_shown() {
    let folder = EXAMPLE.scratch("environment");
    let output = EXAMPLE.run_with(&folder, &[("WGPU_POWER_PREF", "low"), ("WGPU_ADAPTER_NAME", "")], &[]);
    let report = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{report}");
    let shown = |variable: &str| {
        let line = report.lines().find_map(|line| line.strip_prefix(variable));
        line.unwrap_or_else(|| panic!("{variable} is not in {report}")).trim().to_owned()
    };
    assert_eq!([shown("WGPU_POWER_PREF"), shown("WGPU_ADAPTER_NAME")], ["low", ""]);

    let nobody = "an adapter that nobody has";
    let output = EXAMPLE.run_with(&folder, &[("WGPU_ADAPTER_NAME", nobody)], &[]);
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!((output.status.code(), stderr.lines().count()), (Some(1), 1), "{stderr}");
    assert!(stderr.contains(nobody) && output.stdout.is_empty(), "{stderr}");
    // An option comes before the variable.
    let first = parse(&EXAMPLE.run_well(&folder, &[])).remove(0).0;
    let name = first.split([',', '(']).next().unwrap().trim();
    let output = EXAMPLE.run_with(&folder, &[("WGPU_ADAPTER_NAME", nobody)], &["--adapter", &name.to_uppercase()]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

fn without_an_adapter_it_fails_in_one_line() {
    let folder = EXAMPLE.scratch("none");
    let table: &[(&[&str], &str)] = &[(&["--adapter"], "--adapter"), (&["card"], "card")];
    for &(arguments, expected) in WITHOUT_AN_ADAPTER.iter().chain(table) {
        EXAMPLE.fails(&folder, arguments, expected);
    }
    // With this variable no GPU is found.
    let output = EXAMPLE.run_with(&folder, &[("WGPU_BACKEND", ABSENT_BACKEND)], &[]);
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!((output.status.code(), stderr.lines().count()), (Some(1), 1), "{stderr}");
    assert!(output.stdout.is_empty());
}

fn help_is_no_error() {
    EXAMPLE.has_help(&["--help"], &["--backend", "--adapter"]);
}
