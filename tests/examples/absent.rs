//! A GPU that is not there.

/// A backend that this system cannot have, so that asking for it loads no driver.
pub const ABSENT_BACKEND: &str = if cfg!(windows) { "metal" } else { "dx12" };

/// What examples that open an adapter refuse, and what they say.
pub const WITHOUT_AN_ADAPTER: &[(&[&str], &str)] = &[
    (&["--backend", ABSENT_BACKEND], "no usable GPU adapter"),
    (&["--backend", ABSENT_BACKEND, "--adapter", "card"], "no usable GPU adapter"),
    (&["--backend", "cpu"], "auto, vulkan, metal, dx12, gl"),
];
