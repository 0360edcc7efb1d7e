//! Streams the input once more, through the reference, into sinks that compare with the files that were written.

use std::error::Error;
use std::io;
use std::path::Path;

use wgpu_pooling::{DType, Plan, Reference, Sink, Source, Stream};

use crate::file::Input;

/// The memory budget of the comparison, in bytes.
const COMPARED_AT_A_TIME: u64 = 64 << 20;

/// A file whose elements have to be those that are written to it.
struct Written {
    what: &'static str,
    file: Input,
    bytes: Vec<u8>,
    agreed: usize,
}

impl Written {
    fn open(what: &'static str, path: &Path) -> Result<Written, Box<dyn Error>> {
        Ok(Written { what, file: Input::open(path, None)?, bytes: Vec::new(), agreed: 0 })
    }
}

impl Sink for Written {
    fn write(&mut self, offset: u64, expected: &[u8]) -> io::Result<()> {
        self.bytes.resize(expected.len(), 0);
        self.file.read(offset, &mut self.bytes)?;
        let size = self.file.header.dtype.bytes();
        let elements = self.bytes.chunks(size).zip(expected.chunks(size));
        if let Some((at, (own, other))) = elements.enumerate().find(|(_, (own, other))| own != other) {
            let at = at as u64 + offset / size as u64;
            let differ = format!("{} {at} has the bytes {own:?} and the reference's {other:?}", self.what);
            return Err(io::Error::other(format!("the results are not the reference's: {differ}")));
        }
        self.agreed += expected.len() / size;
        Ok(())
    }

    fn dtype(&self) -> Option<DType> {
        Some(self.file.header.dtype)
    }
}

/// The numbers of values and of indices in the files, if all are those of the reference; otherwise the first
/// difference.
pub fn compare(plan: &Plan, input: &mut Input, y: &Path, indices: Option<&Path>) -> Result<[usize; 2], Box<dyn Error>> {
    let mut y = Written::open("value", y)?;
    let mut indices = indices.map(|path| Written::open("index", path)).transpose()?;
    let mut stream = Stream::new(plan.clone(), COMPARED_AT_A_TIME).source(input).sink(&mut y);
    if let Some(indices) = &mut indices {
        stream = stream.sink(indices);
    }
    stream.run_blocking(&Reference)?;
    Ok([y.agreed, indices.map_or(0, |indices| indices.agreed)])
}
