//! A GPU that is not there.

/// A backend that this system cannot have, so that asking for it loads no driver.
pub const ABSENT_BACKEND: &str = if cfg!(windows) { "metal" } else { "dx12" };

/// How the name of what computes without a GPU begins.
pub const HOST: &str = if cfg!(feature = "cpu") { "CPU, " } else { "reference: " };
/// What is said of it, where it is not what was asked for.
pub const WITHOUT_A_GPU: &str = ": no usable GPU adapter";

/// What examples that open an adapter refuse, and what they say.
pub const WITHOUT_AN_ADAPTER: &[(&[&str], &str)] = &[
    (&["--backend", ABSENT_BACKEND], "no usable GPU adapter"),
    (&["--backend", ABSENT_BACKEND, "--adapter", "card"], "no usable GPU adapter"),
    (&["--backend", "cpu"], "auto, vulkan, metal, dx12, gl"),
];
