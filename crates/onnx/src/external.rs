//! Elements of tensors that lie in other files than the model.

use std::path::{Component, Path};

use super::error::{ModelError, at_most};
use super::files::{MAX_FILE, RegularFile};
use super::proto::TensorMessage;

/// Where the elements of a tensor lie, by its `external_data`.
#[derive(Debug, Clone, PartialEq)]
pub struct ExternalData {
    location: String,
    offset: u64,
    length: Option<u64>,
}

impl ExternalData {
    /// Where the elements lie, if they are not in the model's file.
    pub fn of(tensor: &TensorMessage<'_>) -> Result<Option<ExternalData>, ModelError> {
        if !tensor.is_external {
            return Ok(None);
        }
        let mut external = ExternalData { location: String::new(), offset: 0, length: None };
        for entry in tensor.entries() {
            let (key, value) = entry?;
            let number = || value.parse::<u64>().ok();
            match key {
                "location" => external.location = value.to_owned(),
                "offset" => external.offset = number().ok_or_else(|| external.refused("its offset is no number"))?,
                "length" => {
                    external.length = Some(number().ok_or_else(|| external.refused("its length is no number"))?);
                }
                _ => {}
            }
        }
        Ok(Some(external))
    }

    pub fn refused(&self, reason: impl Into<String>) -> ModelError {
        ModelError::External { location: self.location.clone(), reason: reason.into() }
    }

    /// Reads the elements, which have to be `expected` bytes, from a file in the model's folder or below it.
    pub fn read(&self, folder: &Path, expected: u64) -> Result<Vec<u8>, ModelError> {
        let location = Path::new(&self.location);
        let stays_below = location.components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
        if self.location.is_empty() || !stays_below || self.location.contains(['\\', ':']) {
            return Err(self.refused("it is no path that stays in the model's folder"));
        }
        let failed = |error: std::io::Error| self.refused(error.to_string());
        let mut file = RegularFile::inside(folder, location).map_err(failed)?;
        let rest = file.length.checked_sub(self.offset);
        let rest = rest.ok_or_else(|| self.refused("its offset is behind the end of the file"))?;
        let length = self.length.unwrap_or(rest.min(expected));
        if length > rest {
            return Err(self.refused("its length reaches behind the end of the file"));
        }
        if length != expected {
            return Err(self.refused(format!("it has {length} bytes, but the tensor's shape needs {expected}")));
        }
        at_most("bytes of external data", length, MAX_FILE)?;
        file.read(self.offset..self.offset.saturating_add(length)).map_err(failed)
    }
}
