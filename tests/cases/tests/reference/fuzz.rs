//! The fuzz targets `plan` and `cpu_reference` as tests. `fuzz/README.md` has them for cargo-fuzz, and says how a
//! failing input is tried alone.

mod seeds;

use ::cases::fuzz::attempts::fuzz;
use ::cases::fuzz::cases;
#[cfg(feature = "cpu")]
use ::cases::fuzz::processors;
use support::{place, tests};

tests! {
    cpu =>
        any_bytes_as_plans,
        #[cfg(feature = "cpu")]
        any_bytes_on_the_cpu_backend,
        seeds_are_read_as_they_were_written;
    when_asked_for =>
        write_the_corpus;
}

fn any_bytes_as_plans() {
    fuzz("plan", seeds::plans(), |data| _ = cases::plan(data));
}

#[cfg(feature = "cpu")]
fn any_bytes_on_the_cpu_backend() {
    fuzz("cpu_reference", Vec::new(), processors::cpu_reference);
}

/// The seeds are read as they were written: most of them are planned.
fn seeds_are_read_as_they_were_written() {
    let planned = seeds::plans().iter().filter(|seed| cases::plan(seed)).count();
    assert!(planned * 2 > seeds::plans().len(), "{planned} of {} are planned", seeds::plans().len());
}

/// Writes the seeds as files, under fuzz/corpus, for cargo-fuzz:
/// `cargo test -p test-cases --test reference -- --ignored write_the_corpus`.
fn write_the_corpus() {
    let folder = place::root().join("fuzz/corpus/plan");
    std::fs::create_dir_all(&folder).unwrap();
    for (number, seed) in seeds::plans().iter().enumerate() {
        std::fs::write(folder.join(format!("vector-{number:04}")), seed).unwrap();
    }
}
