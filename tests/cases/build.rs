//! Tests that need a GPU are ignored where the environment says so.

fn main() {
    println!("cargo::rustc-check-cfg=cfg(skips_gpu)");
    println!("cargo::rerun-if-env-changed=WGPU_POOLING_SKIP_GPU");
    if std::env::var_os("WGPU_POOLING_SKIP_GPU").is_some_and(|value| value == "1") {
        println!("cargo::rustc-cfg=skips_gpu");
        println!("cargo::warning=WGPU_POOLING_SKIP_GPU=1: nothing is tested on a GPU");
    }
}
