//! Judges kernels by AMD's compiler (ACO in RADV, from Mesa) on null hardware: no GPU is needed, and nothing is run.
//!
//! `cargo run --release -p compilers --bin radv` compiles what `select` chooses for every row of the crate's catalogue,
//! in four types and both layouts, for RDNA 3 and RDNA 2, and prints vector registers, spilled registers, workgroup
//! memory, waves that fit on a SIMD, vector operations for an output and as many as an H100 has time for, the lines of
//! cache that a load or store of 32 neighbours touches, dispatches, and the time on an H100 over that of a copy. The
//! documentation of this package's library (`src/lib.rs`) describes what is counted, `card.rs` the card.
//!
//! Limits: no spill, at most 128 vector registers, at most 32 KB of code; 1.25 copies above 64 MB, 2 for 16-bit
//! elements and 3 for 8-bit ones, 3 copies below 64 MB, 5 for unpools with indices at random. Cases that miss a limit
//! are listed in misses.json with what they take their time for. The exit code is 1 if a case misses a limit and is not
//! listed, or is worse than listed, and 3 if there is no such driver.
//!
//! The driver is Mesa's RADV behind the Vulkan loader: on Debian and Ubuntu the packages mesa-vulkan-drivers and
//! libvulkan1. Navi31 needs Mesa 23. A newer driver need not be installed: unpack the package of a later release, for
//! example of bookworm-backports, write the full path of the library into its JSON file, and name that file in an
//! environment variable:
//!
//! ```sh
//! apt-get download mesa-vulkan-drivers/bookworm-backports && dpkg-deb -x mesa-vulkan-drivers_*.deb newer
//! driver=$(echo newer/usr/share/vulkan/icd.d/radeon_icd*.json)
//! sed -i "s|\"libvulkan_radeon|\"$PWD/newer/usr/lib/x86_64-linux-gnu/libvulkan_radeon|" $driver
//! VK_DRIVER_FILES=$PWD/$driver cargo run --release -p compilers --bin radv
//! ```

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Parser;
use compilers::card;
use compilers::catalogue::{self, Row};
use compilers::draw::{Bounds, Drawn, draw};
use compilers::family::Family;
use compilers::judge::{Candidate, Kept};
use compilers::misses::{Misses, Verdict, compiler};
use compilers::part::Part;
use compilers::report;
use compilers::rows::{Ask, Case, cases};
use compilers::spirv::Source;
use compilers::survey::{Failure, Figures, Kernels};
use compilers::worker::{self, Unavailable};
use wgpu_pooling::{DType, Layout, NanPolicy};

/// The path of the checked-in list.
const MISSES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/misses.json");
/// How many cases are compiled before the time is looked at.
const AT_ONCE: usize = 8;
/// The exit code if there is no driver to judge with.
const NO_DRIVER: u8 = 3;

/// Judges kernels by AMD's compiler, without a GPU
#[derive(Parser)]
struct Options {
    /// Judge only rows whose names contain one of these
    #[arg(long, value_delimiter = ',')]
    rows: Vec<String>,
    /// Rows to judge, as benches/catalogue.json has them, each in its own type and layout; may be given more than once
    /// [default: the crate's catalogue, in f32, f16, u8 and f64 and both layouts]
    #[arg(long, value_name = "FILE")]
    catalogue: Vec<PathBuf>,
    /// Judge so many geometries drawn at random, of 8 to 32 MB, in one of the types each
    #[arg(long, value_name = "N", conflicts_with = "rows")]
    sweep: Option<u64>,
    /// Element types
    #[arg(long, value_delimiter = ',', value_parser = catalogue::dtype)]
    dtypes: Vec<DType>,
    /// Layouts, where a row has none of its own
    #[arg(long, value_delimiter = ',', value_parser = layout)]
    layout: Vec<Layout>,
    /// The families to compile for [default: all that the driver knows]
    #[arg(long, value_enum, value_delimiter = ',')]
    family: Vec<Family>,
    /// The NaN rule, instead of each row's own
    #[arg(long, value_name = "POLICY", value_parser = catalogue::nan_policy)]
    nan_policy: Option<NanPolicy>,
    /// Judge this family of kernels, where it applies, instead of the one that is selected
    #[arg(long, value_name = "FAMILY", value_parser = kernels)]
    kernels: Option<wgpu_pooling::Family>,
    /// Judge one WGSL text by itself, entry point `main`
    #[arg(long, value_name = "FILE", conflicts_with_all = ["rows", "json", "write_misses"])]
    wgsl: Option<PathBuf>,
    /// With --wgsl: how often each loop that is left runs
    #[arg(long, requires = "wgsl", default_value_t = 1.0)]
    trips: f64,
    #[command(flatten)]
    part: Part,
    /// Print only the cases that fail
    #[arg(long)]
    failures: bool,
    /// Write the figures as JSON, for the first family
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Write text, assembly and intermediate representation of the kernels whose name contains KEYTEXT to FOLDER; with
    /// --wgsl an empty KEYTEXT will do
    #[arg(long, num_args = 2, value_names = ["KEYTEXT", "FOLDER"])]
    dump: Vec<String>,
    /// Write the current misses to misses.json; reasons stay
    #[arg(long, conflicts_with_all = ["sample", "seconds"])]
    write_misses: bool,
    #[arg(long, hide = true)]
    worker: bool,
}

fn layout(name: &str) -> Result<Layout, String> {
    match name.to_ascii_uppercase().as_str() {
        "NCHW" => Ok(Layout::Nchw),
        "NHWC" => Ok(Layout::Nhwc),
        _ => Err("expected NCHW or NHWC".to_owned()),
    }
}

fn kernels(name: &str) -> Result<wgpu_pooling::Family, String> {
    let names = || wgpu_pooling::Family::ALL.iter().map(|family| family.name()).collect::<Vec<_>>().join(", ");
    wgpu_pooling::Family::ALL.iter().copied().find(|family| family.name() == name).ok_or_else(names)
}

fn main() -> ExitCode {
    let options = Options::parse();
    let outcome = if options.worker {
        worker::serve().map(|()| ExitCode::SUCCESS).map_err(Failure::Kernel)
    } else if let Some(path) = &options.wgsl {
        one_text(&options, path)
    } else {
        catalogue_rows(&options)
    };
    outcome.unwrap_or_else(|failure| match failure {
        Failure::Unavailable(unavailable @ (Unavailable::Driver(_) | Unavailable::Family(_))) => {
            eprintln!("{unavailable}");
            ExitCode::from(NO_DRIVER)
        }
        Failure::Unavailable(fault) => {
            eprintln!("{fault}");
            ExitCode::FAILURE
        }
        Failure::Kernel(what) => {
            eprintln!("{what}");
            ExitCode::FAILURE
        }
    })
}

impl Options {
    /// The results of `judge` for each family that was asked for. If none was, families that the driver does not know
    /// are left out with a message, and it is an error if no family is left.
    fn each_family<T>(&self, judge: impl Fn(Family) -> Result<T, Failure>) -> Result<Vec<T>, Failure> {
        let asked = if self.family.is_empty() { &Family::ALL[..] } else { &self.family[..] };
        let (mut results, mut unknown) = (Vec::new(), None);
        for &family in asked {
            match judge(family) {
                Err(Failure::Unavailable(Unavailable::Family(family))) if self.family.is_empty() => {
                    let unavailable = Unavailable::Family(family);
                    eprintln!("{unavailable}");
                    unknown = Some(unavailable);
                }
                result => results.push(result?),
            }
        }
        match unknown {
            Some(unavailable) if results.is_empty() => Err(Failure::Unavailable(unavailable)),
            _ => Ok(results),
        }
    }
}

fn file_error(path: &Path) -> impl Fn(std::io::Error) -> Failure + '_ {
    move |error| Failure::Kernel(format!("{}: {error}", path.display()))
}

fn write_files(folder: &Path, files: Vec<(String, &str)>) -> Result<(), Failure> {
    std::fs::create_dir_all(folder).map_err(file_error(folder))?;
    for (name, text) in files {
        let path = folder.join(name);
        std::fs::write(&path, text).map_err(file_error(&path))?;
    }
    Ok(())
}

fn one_text(options: &Options, path: &Path) -> Result<ExitCode, Failure> {
    let text = std::fs::read_to_string(path).map_err(file_error(path))?;
    let candidate = Source::parse(&text).and_then(|source| Candidate::new(&source, None)).map_err(Failure::Kernel)?;
    let kernels = [candidate.kernel.clone(), candidate.marked.clone()];
    options.each_family(|family| {
        let (driver, compiled) = worker::compile_all(family, &kernels).map_err(Failure::Unavailable)?;
        let compiled = compiled.into_iter().collect::<Result<Vec<_>, _>>().map_err(Failure::Kernel)?;
        let kept = Kept::new(&candidate, &compiled[0], &compiled[1]).map_err(Failure::Kernel)?;
        if let [_, folder] = &options.dump[..] {
            let file = |ending: &str| format!("{}.{ending}", family.name());
            let files = vec![(file("s"), compiled[0].assembly.as_str()), (file("aco"), compiled[0].ir.as_str())];
            write_files(Path::new(folder), files)?;
        }
        let executed = kept.executed(|_| options.trips).map_err(Failure::Kernel)?;
        print!("{}", report::alone(&kept, &executed, family.name(), &driver));
        Ok(())
    })?;
    Ok(ExitCode::SUCCESS)
}

/// The types of cases, where neither the command nor a row says more.
const DTYPES: [DType; 4] = [DType::F32, DType::F16, DType::U8, DType::F64];
/// The fewest bytes of a geometry that is drawn, and the most taps of its windows.
const SWEPT: u64 = 8 << 20;
const SWEPT_TAPS: u64 = 1 << 34;

fn selected(options: &Options) -> Result<Vec<Case>, Failure> {
    let mut all = Vec::new();
    let mut add = |rows: &[Row], ask: &Ask| {
        for row in rows {
            let wanted = options.rows.is_empty() || options.rows.iter().any(|part| row.name.contains(part));
            if wanted {
                all.extend(cases(row, ask).map_err(|error| Failure::Kernel(format!("{}: {error}", row.name)))?);
            }
        }
        Ok::<(), Failure>(())
    };
    let asked = |dtypes: &[DType], layouts: &[Layout]| Ask {
        dtypes: if options.dtypes.is_empty() { dtypes.to_vec() } else { options.dtypes.clone() },
        layouts: if options.layout.is_empty() { layouts.to_vec() } else { options.layout.clone() },
        nan_policy: options.nan_policy,
        kernels: options.kernels,
    };
    for path in &options.catalogue {
        let text = std::fs::read_to_string(path).map_err(file_error(path))?;
        let rows = catalogue::parse(&text).map_err(|error| Failure::Kernel(format!("{}: {error}", path.display())))?;
        for row in rows {
            let ask = asked(&[row.dtype.unwrap_or(DType::F32)], &[row.layout]);
            add(&[row], &ask)?;
        }
    }
    if let Some(number) = options.sweep {
        let dtypes = asked(&DTYPES, &[]).dtypes;
        let bounds = Bounds { bytes: SWEPT, taps: SWEPT_TAPS, dtypes };
        for Drawn { row, dtype } in (0..number).map(|number| draw(options.part.seed, number, &bounds)) {
            let ask = Ask { dtypes: vec![dtype], layouts: vec![row.layout], ..asked(&[], &[]) };
            add(&[row], &ask)?;
        }
    }
    if options.catalogue.is_empty() && options.sweep.is_none() {
        let rows = catalogue::parse(catalogue::OWN).map_err(Failure::Kernel)?;
        add(&rows, &asked(&DTYPES, &[Layout::Nchw, Layout::Nhwc]))?;
    }
    if all.is_empty() { Err(Failure::Kernel("no row is left to judge".to_owned())) } else { Ok(all) }
}

fn catalogue_rows(options: &Options) -> Result<ExitCode, Failure> {
    let cases = selected(options)?;
    let number = cases.len();
    let cases = options.part.of(cases, |case| case.row.clone());
    let end = options.part.end();
    // Without a time all are compiled together: cases share kernels.
    let at_once = if options.part.seconds.is_some() { AT_ONCE } else { number };
    let (mut all, mut ran) = (Vec::new(), 0);
    for cases in cases.chunks(at_once.max(1)) {
        if end.is_past() {
            break;
        }
        let kernels = Kernels::of(cases)?;
        let by_family = options.each_family(|family| {
            let compilation = kernels.compile(family)?;
            if let [name_part, folder] = &options.dump[..] {
                write_files(Path::new(folder), compilation.files(name_part))?;
            }
            let figures = cases.iter().enumerate().map(|(number, case)| compilation.figures(number, case));
            figures.collect::<Result<Vec<Figures>, String>>().map_err(Failure::Kernel)
        })?;
        all.extend(by_family.into_iter().flatten());
        ran += cases.len();
    }

    let path = Path::new(MISSES);
    let text = std::fs::read_to_string(path).map_err(file_error(path))?;
    let mut misses = Misses::parse(&text).map_err(|error| Failure::Kernel(format!("{MISSES}: {error}")))?;
    if options.write_misses {
        misses.update(&all);
        let text = misses.text().map_err(Failure::Kernel)?;
        std::fs::write(path, text).map_err(file_error(path))?;
    }
    let judged: Vec<_> = all.iter().map(|figures| (figures, misses.judge(figures))).collect();
    if let Some(path) = &options.json {
        let first = all.first().map(|figures| figures.family);
        let rows: Vec<&Figures> = all.iter().filter(|figures| Some(figures.family) == first).collect();
        let text = serde_json::to_string_pretty(&serde_json::json!({ "rows": rows }));
        std::fs::write(path, text.map_err(|error| Failure::Kernel(error.to_string()))?).map_err(file_error(path))?;
    }
    println!("{}", report::head());
    for (figures, verdicts) in judged.iter().filter(|(_, verdicts)| !options.failures || fail(verdicts)) {
        print!("{}", report::case(figures, verdicts));
    }
    let code = conclude(&judged, &misses);
    let failed = judged.iter().filter(|(_, verdicts)| fail(verdicts)).count();
    let families: std::collections::BTreeSet<&str> = all.iter().map(|figures| figures.family).collect();
    let families: Vec<&str> = families.into_iter().collect();
    println!("ran {ran} of {number} cases for {}, {failed} failed", families.join(" and "));
    Ok(code)
}

fn fail(verdicts: &[Verdict]) -> bool {
    verdicts.iter().any(|verdict| matches!(verdict, Verdict::Fails(_)))
}

/// Prints the last lines, and gives the exit code.
fn conclude(judged: &[(&Figures, [Verdict; 4])], misses: &Misses) -> ExitCode {
    let mut compilers: Vec<String> = judged.iter().map(|(figures, _)| compiler(figures)).collect();
    compilers.sort();
    compilers.dedup();
    if !compilers.iter().any(|compiler| compiler == card::FITTED) {
        eprintln!(
            "the copies are those of counts by other compilers than {}, which the card was fitted to",
            card::FITTED
        );
    }
    for compiler in compilers.iter().filter(|compiler| !misses.knows(compiler)) {
        eprintln!("misses.json has no figures of {compiler}: a listed case may have any");
    }
    let verdicts = || judged.iter().flat_map(|(_, verdicts)| verdicts);
    let listed = verdicts().filter(|verdict| **verdict == Verdict::Listed).count();
    let met = verdicts().filter(|verdict| **verdict == Verdict::Met).count();
    let failed = judged.iter().filter(|(_, verdicts)| fail(verdicts)).count();
    eprintln!(
        "{} cases by {}: {listed} listed misses, {met} listed but met, {failed} cases fail",
        judged.len(),
        compilers.join(" and ")
    );
    if failed > 0 { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}
