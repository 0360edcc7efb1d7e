//! Tensors in files as sources and sinks, by positioned reads and writes. A file gets its final name only when it is
//! complete.

use std::error::Error;
use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use wgpu_pooling::{DType, Sink, Source, element_count};

use crate::format::{Format, Header};

/// A file from which a tensor is read.
pub struct Input {
    pub header: Header,
    file: File,
}

impl Input {
    pub fn open(path: &Path, tensor: Option<&str>) -> Result<Input, Box<dyn Error>> {
        let format = Format::of(path)?;
        let mut file = File::open(path).map_err(|error| format!("cannot read {}: {error}", path.display()))?;
        let header = format.read(path, &mut file, tensor)?;
        Ok(Input { header, file })
    }
}

impl Source for Input {
    fn read(&mut self, offset: u64, bytes: &mut [u8]) -> io::Result<()> {
        self.file.seek(SeekFrom::Start(self.header.begin + offset))?;
        self.file.read_exact(bytes)
    }

    fn dtype(&self) -> Option<DType> {
        Some(self.header.dtype)
    }
}

/// A file to which a tensor is written, under a temporary name until it is complete. An unfinished file is removed.
pub struct Output {
    path: PathBuf,
    unfinished: PathBuf,
    file: Option<File>,
    begin: u64,
}

impl Output {
    pub fn create(path: &Path, name: &str, dtype: DType, shape: &[usize]) -> Result<Output, Box<dyn Error>> {
        let header = Format::of(path)?.header(name, dtype, shape)?;
        let file_name = path.file_name().ok_or_else(|| format!("{} is no file name", path.display()))?;
        let mut unfinished = file_name.to_os_string();
        unfinished.push(format!(".{}.unfinished", std::process::id()));
        let unfinished = path.with_file_name(unfinished);
        let file = File::create_new(&unfinished);
        let file = file.map_err(|error| format!("cannot write {}: {error}", unfinished.display()))?;
        // From here on the file is removed when `output` is dropped.
        let mut output = Output { path: path.to_owned(), unfinished, file: Some(file), begin: header.len() as u64 };
        let bytes = element_count(shape)? * dtype.bytes() as u64;
        output.begin_with(&header, bytes).map_err(|error| format!("cannot write {}: {error}", path.display()))?;
        Ok(output)
    }

    fn begin_with(&mut self, header: &[u8], bytes: u64) -> io::Result<()> {
        let file = self.file()?;
        file.set_len(header.len() as u64 + bytes)?;
        file.write_all(header)
    }

    fn file(&mut self) -> io::Result<&mut File> {
        self.file.as_mut().ok_or_else(|| io::Error::other("it is finished"))
    }

    /// Gives the file its final name, once all of it has reached the disk.
    pub fn finish(mut self) -> Result<(), Box<dyn Error>> {
        let finished = self.file().and_then(|file| file.sync_all());
        self.file = None;
        let finished = finished.and_then(|()| fs::rename(&self.unfinished, &self.path));
        Ok(finished.map_err(|error| format!("cannot write {}: {error}", self.path.display()))?)
    }
}

impl Sink for Output {
    fn write(&mut self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        let at = self.begin + offset;
        let write = |file: &mut File| {
            file.seek(SeekFrom::Start(at))?;
            file.write_all(bytes)
        };
        let path = self.path.display().to_string();
        write(self.file()?).map_err(|error| io::Error::new(error.kind(), format!("{path}: {error}")))
    }
}

impl Drop for Output {
    fn drop(&mut self) {
        self.file = None;
        // A finished file has been renamed, so nothing is left to remove.
        let _ = fs::remove_file(&self.unfinished);
    }
}
