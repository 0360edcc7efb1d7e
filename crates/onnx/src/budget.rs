//! What reading a file may cost: counted in steps, whatever the file says.

use std::cell::Cell;

use super::error::ModelError;

/// The steps that a file of any length may take.
const FIXED: u64 = 1 << 23;
/// The steps for each byte of a file.
const PER_BYTE: u64 = 32;
/// The steps of a name that is looked up or kept, beside those of its bytes.
const NAME: u64 = 64;
/// The steps of each byte or number that is kept, which callers copy and print.
const KEPT: u64 = 4;
/// The steps of a pooling node, of which the reader and its caller ask for plans and traps.
const POOLING: u64 = 1 << 8;

/// The steps that a file has left. A step takes some nanoseconds: a field is one, and so are a few bytes of a text.
///
/// Every loop of the readers spends from it, because what a file says once can be asked for many times: names, types,
/// and the bodies of functions.
#[derive(Debug)]
pub struct Budget {
    bytes: u64,
    limit: u64,
    left: Cell<u64>,
}

impl Budget {
    /// For a file of this many bytes.
    pub fn of(bytes: usize) -> Self {
        let bytes = bytes as u64;
        let limit = bytes.saturating_mul(PER_BYTE).saturating_add(FIXED);
        Budget { bytes, limit, left: Cell::new(limit) }
    }

    pub fn spend(&self, steps: u64) -> Result<(), ModelError> {
        let left = self.left.get().checked_sub(steps);
        self.left.set(left.unwrap_or(0));
        left.map(drop).ok_or(ModelError::TooMuchWork { bytes: self.bytes, limit: self.limit })
    }

    /// Spends the cost of checking, hashing or comparing a text.
    pub fn spend_text(&self, text: &[u8]) -> Result<(), ModelError> {
        self.spend(text.len() as u64 / 4)
    }

    /// Spends the cost of looking up a name.
    pub fn look_up(&self, name: &str) -> Result<(), ModelError> {
        self.spend(NAME)?;
        self.spend_text(name.as_bytes())
    }

    /// Spends the cost of keeping this many bytes or numbers of a file.
    pub fn spend_kept(&self, length: usize) -> Result<(), ModelError> {
        self.spend(KEPT.saturating_mul(length as u64))
    }

    pub fn keep(&self, name: &str) -> Result<String, ModelError> {
        self.spend(NAME)?;
        self.spend_kept(name.len())?;
        Ok(name.to_owned())
    }

    /// Spends the cost of a pooling node and of its path, which is printed with it.
    pub fn spend_pooling(&self, path: &str) -> Result<(), ModelError> {
        self.spend(POOLING)?;
        self.spend_kept(path.len())
    }
}
