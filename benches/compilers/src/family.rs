//! The GPUs that are compiled for, and what their cards can do.

/// A family of GPUs by the driver's name, with the card that stands for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, clap::ValueEnum)]
pub enum Family {
    /// RDNA 3: RX 7900 XTX.
    Navi31,
    /// RDNA 2: RX 6900 XT.
    Navi21,
}

/// A card in numbers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Card {
    pub simds: f64,
    pub clock_hz: f64,
    pub bytes_per_second: f64,
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

    pub fn card(self) -> Card {
        match self {
            Family::Navi31 => Card { simds: 192.0, clock_hz: 2.5e9, bytes_per_second: 960e9 },
            Family::Navi21 => Card { simds: 160.0, clock_hz: 2.25e9, bytes_per_second: 512e9 },
        }
    }
}
