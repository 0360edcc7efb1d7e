//! The GPUs that are compiled for.

/// A family of GPUs by the driver's name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, clap::ValueEnum)]
pub enum Family {
    /// RDNA 3.
    Navi31,
    /// RDNA 2.
    Navi21,
}

impl Family {
    pub const ALL: [Family; 2] = [Family::Navi31, Family::Navi21];

    /// The driver's name.
    pub fn name(self) -> &'static str {
        match self {
            Family::Navi31 => "navi31",
            Family::Navi21 => "navi21",
        }
    }

    /// The version of the driver that compiles for the family.
    pub fn needs(self) -> &'static str {
        match self {
            Family::Navi31 => "Mesa 23 or later",
            Family::Navi21 => "Mesa 21 or later",
        }
    }
}
