//! Turning GPU tests off.

/// Whether GPU tests are turned off. A run that turns them off says so.
pub fn skip() -> bool {
    let skip = std::env::var("WGPU_POOLING_SKIP_GPU").is_ok_and(|value| value == "1");
    if skip {
        eprintln!("WGPU_POOLING_SKIP_GPU=1: nothing is tested on a GPU");
    }
    skip
}
