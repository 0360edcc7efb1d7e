//! The fuzz targets `plan` and `cpu_reference` as tests. `fuzz/README.md` has them for cargo-fuzz, and says how a
//! failing input is tried alone.

use ::cases::fuzz::attempts::fuzz;
use ::cases::fuzz::cases;
use support::tests;

tests! {
    cpu =>
        any_bytes_as_plans,
        #[cfg(feature = "cpu")]
        any_bytes_on_the_cpu_backend;
}

fn any_bytes_as_plans() {
    fuzz("plan", |data| _ = cases::plan(data));
}

#[cfg(feature = "cpu")]
fn any_bytes_on_the_cpu_backend() {
    fuzz("cpu_reference", ::cases::fuzz::agree);
}
