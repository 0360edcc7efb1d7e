//! The attribute of tests that need a GPU.

use proc_macro::TokenStream;

/// A test that shows as ignored where `WGPU_POOLING_SKIP_GPU` is 1. The build script of a package that has such tests
/// turns the variable into the condition `skips_gpu`.
#[proc_macro_attribute]
pub fn gpu_test(_: TokenStream, function: TokenStream) -> TokenStream {
    let attributes = r#"#[test] #[cfg_attr(skips_gpu, ignore = "WGPU_POOLING_SKIP_GPU=1")]"#;
    let attributes: TokenStream = attributes.parse().expect("these are attributes");
    attributes.into_iter().chain(function).collect()
}
