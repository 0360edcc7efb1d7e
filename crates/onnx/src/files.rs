//! Files that strangers may have put there. Only regular files are read, and no more of each than its length when it
//! was opened.

use std::fs::{File, Metadata};
use std::io::{self, Error, ErrorKind, Read, Seek, SeekFrom};
use std::ops::Range;
use std::path::Path;

use super::error::{ModelError, at_most};

/// The most bytes of a file or of a tensor: what Protocol Buffers allow.
pub const MAX_FILE: u64 = (1 << 31) - 1;

/// A regular file.
#[derive(Debug)]
pub struct RegularFile {
    file: File,
    pub length: u64,
}

/// The length of a regular file.
fn length(metadata: &Metadata) -> io::Result<u64> {
    let refused =
        || Error::new(ErrorKind::InvalidInput, "it is no regular file: folders, pipes and devices are not read");
    if metadata.is_file() { Ok(metadata.len()) } else { Err(refused()) }
}

impl RegularFile {
    pub fn open(path: &Path) -> io::Result<Self> {
        // Asked before, because opening a pipe waits for its writer, and after, because the path may lead elsewhere.
        length(&std::fs::metadata(path)?)?;
        let file = File::open(path)?;
        let length = length(&file.metadata()?)?;
        Ok(RegularFile { file, length })
    }

    /// Opens a file in a folder or below it. Links may not lead out of the folder.
    pub fn inside(folder: &Path, location: &Path) -> io::Result<Self> {
        let (folder, path) = (folder.canonicalize()?, folder.join(location).canonicalize()?);
        if !path.starts_with(&folder) {
            return Err(Error::new(ErrorKind::InvalidInput, "it is a link that leaves the model's folder"));
        }
        RegularFile::open(&path)
    }

    /// Reads a range, which has to lie within the file.
    pub fn read(&mut self, range: Range<u64>) -> io::Result<Vec<u8>> {
        let missing = || Error::new(ErrorKind::UnexpectedEof, format!("it has {} bytes, not {range:?}", self.length));
        let length = range.end.checked_sub(range.start).filter(|_| range.end <= self.length).ok_or_else(missing)?;
        let mut bytes = Vec::new();
        let room = usize::try_from(length).map_err(Error::other)?;
        bytes.try_reserve_exact(room)?;
        self.file.seek(SeekFrom::Start(range.start))?;
        (&self.file).take(length).read_to_end(&mut bytes)?;
        if bytes.len() == room { Ok(bytes) } else { Err(missing()) }
    }
}

/// Reads a whole file of at most `most` bytes.
pub fn read(path: &Path, what: &'static str, most: u64) -> Result<Vec<u8>, ModelError> {
    let mut file = RegularFile::open(path).map_err(|error| failed(path, &error))?;
    at_most(what, file.length, most)?;
    file.read(0..file.length).map_err(|error| failed(path, &error))
}

pub fn failed(path: &Path, error: &Error) -> ModelError {
    ModelError::File { path: path.display().to_string(), reason: error.to_string() }
}
