//! The results of a sweep of random geometries: the distribution of the ratios of each class, and the worst geometries.

use std::fmt::Write;

use serde_json::{Value, json};

use crate::classes::{CLASSES, Class};
use crate::columns::Columns;
use crate::figures::{Entry, Figures};
use crate::options::Options;
use crate::tasks::dtypes;
use crate::verify::Verified;

/// How many of the worst geometries are described.
const WORST: usize = 10;
/// The goals, as multiples of the time of an f32 copy of as many elements: geometries should stay within the first, and
/// none may exceed the second.
const GOALS: [f64; 2] = [3.0, 6.0];

/// The time of a geometry as a multiple of another time.
struct Ratio {
    /// The key in JSON.
    key: &'static str,
    title: &'static str,
    of: fn(&Figures) -> Option<f64>,
}

const RATIOS: [Ratio; 3] = [
    Ratio {
        key: "time_over_copy",
        title: "Time over a copy of the same bytes:",
        of: |figures| Some(figures.time_over_copy()),
    },
    Ratio {
        key: "time_over_f32_copy",
        title: "Time over an f32 copy of as many elements (4 bytes for each element of X and Y, and the indices' \
                bytes):",
        of: Figures::time_over_f32_copy,
    },
    Ratio {
        key: "time_over_fastest",
        title: "Time over the fastest of all kernels that apply:",
        of: Figures::time_over_fastest,
    },
];

/// A distribution of ratios.
#[derive(Debug, Clone, PartialEq)]
struct Distribution {
    /// In ascending order; never empty.
    sorted: Vec<f64>,
}

impl Distribution {
    const PERCENTS: [u64; 6] = [25, 50, 75, 90, 95, 100];

    fn of(ratios: impl Iterator<Item = f64>) -> Option<Distribution> {
        let mut sorted: Vec<f64> = ratios.collect();
        sorted.sort_by(f64::total_cmp);
        (!sorted.is_empty()).then_some(Distribution { sorted })
    }

    /// The smallest ratio that at least `percent` percent of the ratios do not exceed.
    fn percentile(&self, percent: u64) -> f64 {
        let rank = (self.sorted.len() as u64 * percent).div_ceil(100).max(1) as usize;
        self.sorted.get(rank - 1).copied().unwrap_or(f64::NAN)
    }

    fn geometric_mean(&self) -> f64 {
        (self.sorted.iter().map(|ratio| ratio.ln()).sum::<f64>() / self.sorted.len() as f64).exp()
    }

    /// The percentage of ratios that do not exceed a bound.
    fn percent_within(&self, bound: f64) -> f64 {
        self.sorted.iter().filter(|ratio| **ratio <= bound).count() as f64 * 100.0 / self.sorted.len() as f64
    }
}

/// The parameters of a sweep, from which its geometries can be drawn again.
#[derive(Debug, Clone)]
pub struct Draws {
    pub seed: u64,
    /// The numbers of the geometries, in their order.
    pub numbers: Vec<u64>,
    pub bytes: u64,
    pub taps: u64,
    pub dtypes: Vec<&'static str>,
    /// The options that the geometries and their data depend on.
    pub options: String,
}

impl Draws {
    pub fn new(seed: u64, numbers: Vec<u64>, asked_for: &Options) -> Draws {
        let (bytes, taps) = (asked_for.sweep.bytes, asked_for.sweep.taps);
        let dtypes: Vec<&str> = dtypes(asked_for).iter().map(|dtype| dtype.name()).collect();
        let mut options = format!("--seed {seed} --sweep-bytes {bytes} --sweep-taps {taps}");
        if !asked_for.dtypes.is_empty() {
            options += &format!(" --dtypes {}", dtypes.join(","));
        }
        if let Some(policy) = asked_for.nan_policy {
            options += &format!(" --nan-policy {}", policy.name());
        }
        options += &format!(" --data {}", asked_for.data.name());
        Draws { seed, numbers, bytes, taps, dtypes, options }
    }

    /// The command line that runs a geometry alone.
    fn command(&self, number: u64) -> String {
        format!("roofline {} --sweep-only {number}", self.options)
    }
}

/// The distributions, class by class.
pub fn summary(draws: &Draws, entries: &[Entry], markdown: bool) -> String {
    let mut text = format!("{} geometries; {}\n", entries.len(), draws.options);
    for ratio in &RATIOS {
        if entries.iter().all(|entry| entry.outcome.as_ref().ok().and_then(|figures| (ratio.of)(figures)).is_none()) {
            continue;
        }
        let _ = write!(text, "\n{}\n{}", ratio.title, if markdown { "\n" } else { "" });
        text.push_str(&distributions(entries, ratio).text(markdown));
    }
    text
}

/// The worst geometries, each with its row and the command that runs it alone.
pub fn worst_of(draws: &Draws, entries: &[Entry]) -> String {
    let mut text = "\nThe worst by time over an f32 copy of as many elements:\n\n".to_owned();
    for (place, (entry, figures, ratio)) in (1..).zip(worst(entries)) {
        let copy = figures.time_over_copy();
        let megabytes = figures.bytes as f64 * 1e-6;
        let Verified { slices, of } = figures.checked.verified;
        let kernel = &figures.kernel;
        let _ = writeln!(
            text,
            "{place}. {ratio:.2}, {copy:.2} over a copy of its own {megabytes:.1} MB: {kernel}, {slices} of {of} \
             planes verified"
        );
        let _ = writeln!(text, "   {}", entry.row.entry(entry.dtype));
        let _ = writeln!(text, "   {}", entry.number.map(|number| draws.command(number)).unwrap_or_default());
    }
    text
}

fn distributions(entries: &[Entry], ratio: &Ratio) -> Columns {
    let percents = ["25 %", "50 %", "75 %", "90 %", "95 %", "most"];
    let mut columns =
        Columns::new(&["class"], &[&["count", "mean"][..], &percents, &["% within 3", "% within 6"]].concat());
    for class in CLASSES {
        if let Some(found) = of_class(entries, class, ratio) {
            let percentiles = Distribution::PERCENTS.map(|percent| format!("{:.2}", found.percentile(percent)));
            let within = GOALS.map(|goal| format!("{:.1}", found.percent_within(goal)));
            let mean = format!("{:.3}", found.geometric_mean());
            let first = [class.name.to_owned(), found.sorted.len().to_string(), mean];
            columns.push([&first[..], &percentiles, &within].concat());
        }
    }
    columns
}

fn of_class(entries: &[Entry], class: &Class, ratio: &Ratio) -> Option<Distribution> {
    let of_class = entries.iter().filter(|entry| (class.has)(&entry.row, entry.dtype));
    Distribution::of(of_class.filter_map(|entry| (ratio.of)(entry.outcome.as_ref().ok()?)))
}

/// The geometries that are slowest relative to an f32 copy, the worst first.
fn worst(entries: &[Entry]) -> Vec<(&Entry, &Figures, f64)> {
    let found = entries.iter().filter_map(|entry| {
        let figures = entry.outcome.as_ref().ok()?;
        Some((entry, figures, figures.time_over_f32_copy()?))
    });
    let mut found: Vec<_> = found.collect();
    found.sort_by(|a, b| b.2.total_cmp(&a.2));
    found.truncate(WORST);
    found
}

/// The sweep's parameters, distributions and worst geometries as JSON.
pub fn document(draws: &Draws, entries: &[Entry]) -> Value {
    let Draws { seed, numbers, bytes, taps, dtypes, options } = draws;
    let classes = CLASSES.iter().filter_map(|class| {
        let mut value = json!({ "name": class.name });
        for ratio in &RATIOS {
            let Some(found) = of_class(entries, class, ratio) else { continue };
            value["count"] = json!(found.sorted.len());
            value[ratio.key]["geometric_mean"] = json!(found.geometric_mean());
            for percent in Distribution::PERCENTS {
                value[ratio.key][format!("percentile_{percent}")] = json!(found.percentile(percent));
            }
            for goal in GOALS {
                value[ratio.key][format!("percent_within_{goal}")] = json!(found.percent_within(goal));
            }
        }
        value["count"].is_number().then_some(value)
    });
    let worst = worst(entries).into_iter().map(|(entry, _, ratio)| {
        json!({
            "name": entry.row.name,
            "time_over_f32_copy": ratio,
            "row": entry.row.entry(entry.dtype),
            "command": entry.number.map(|number| draws.command(number)),
        })
    });
    json!({
        "seed": seed,
        "numbers": numbers,
        "bytes": bytes,
        "taps": taps,
        "dtypes": dtypes,
        "options": options,
        "classes": classes.collect::<Vec<_>>(),
        "worst": worst.collect::<Vec<_>>(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_ratios_that_were_measured() {
        let found = Distribution::of([4.0, 1.0, 3.0, 2.0].into_iter()).unwrap();
        assert_eq!([25, 50, 75, 90, 95, 100].map(|percent| found.percentile(percent)), [1.0, 2.0, 3.0, 4.0, 4.0, 4.0]);
        let found = Distribution::of((1..=100).rev().map(f64::from)).unwrap();
        assert_eq!(
            Distribution::PERCENTS.map(|percent| found.percentile(percent)),
            [25.0, 50.0, 75.0, 90.0, 95.0, 100.0]
        );
        assert_eq!([0.5, 1.0, 95.0, 1000.0].map(|bound| found.percent_within(bound)), [0.0, 1.0, 95.0, 100.0]);
        assert_eq!(Distribution::of([].into_iter()), None);
    }
}
