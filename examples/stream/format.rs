//! The two file formats: a header that says what the tensor is, then its elements.

use std::error::Error;
use std::fs::File;
use std::io::Read;
use std::path::Path;

use safetensors::tensor::{Metadata, TensorInfo};
use wgpu_pooling::{DType, element_count};

/// A longer header is refused.
const LONGEST_HEADER: u64 = 100 << 20;

/// What a file's header says of its tensor.
#[derive(Debug, Clone, PartialEq)]
pub struct Header {
    pub dtype: DType,
    pub shape: Vec<usize>,
    /// Where the elements begin, in bytes.
    pub begin: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    Npy,
    Safetensors,
}

impl Format {
    /// The format by the ending of the file's name.
    pub fn of(path: &Path) -> Result<Format, String> {
        match path.extension().and_then(|ending| ending.to_str()) {
            Some("npy") => Ok(Format::Npy),
            Some("safetensors") => Ok(Format::Safetensors),
            _ => Err(format!("{}: expected a name that ends in .npy or .safetensors", path.display())),
        }
    }

    /// Reads the header of a file, and checks that the file holds all elements.
    pub fn read(self, path: &Path, file: &mut File, tensor: Option<&str>) -> Result<Header, Box<dyn Error>> {
        let name = path.display();
        let say = |what: String| -> Box<dyn Error> { format!("{name}: {what}").into() };
        let length = file.metadata().map_err(|error| say(error.to_string()))?.len();
        let header = match self {
            Format::Npy if tensor.is_some() => Err("--tensor is for safetensors files".to_owned()),
            Format::Npy => read_npy(file),
            Format::Safetensors => read_safetensors(file, tensor),
        };
        let header = header.map_err(say)?;
        let elements = element_count(&header.shape).map_err(|error| say(error.to_string()))?;
        let needed = u128::from(header.begin) + u128::from(elements) * header.dtype.bytes() as u128;
        if needed > u128::from(length) {
            return Err(say(format!("{length} bytes, but its header asks for {needed}")));
        }
        Ok(header)
    }

    /// The header with which a new file begins.
    pub fn header(self, name: &str, dtype: DType, shape: &[usize]) -> Result<Vec<u8>, Box<dyn Error>> {
        match self {
            Format::Npy => npy_header(dtype, shape),
            Format::Safetensors => safetensors_header(name, dtype, shape),
        }
    }
}

fn take(file: &mut File, bytes: u64) -> Result<Vec<u8>, String> {
    let mut taken = Vec::new();
    file.take(bytes).read_to_end(&mut taken).map_err(|error| error.to_string())?;
    if taken.len() as u64 == bytes { Ok(taken) } else { Err("the file ends within its header".to_owned()) }
}

/// NumPy's name of an element type, which begins with the order of its bytes; it has none for bf16.
fn npy_type(dtype: DType) -> Option<String> {
    let order = if dtype.bytes() == 1 { '|' } else { '<' };
    (dtype != DType::Bf16).then(|| format!("{order}{}{}", &dtype.name()[..1], dtype.bytes()))
}

/// NumPy's format, version 1 to 3: magic, version, the header's length, and a Python dictionary.
fn read_npy(file: &mut File) -> Result<Header, String> {
    let start = take(file, 8)?;
    if &start[..6] != b"\x93NUMPY" {
        return Err("not a .npy file".to_owned());
    }
    let length_bytes = match start[6] {
        1 => 2,
        2 | 3 => 4,
        version => return Err(format!("a .npy file of version {version}, expected 1 to 3")),
    };
    let length = take(file, length_bytes)?.iter().rev().fold(0, |length, &byte| length << 8 | u64::from(byte));
    if length > LONGEST_HEADER {
        return Err(format!("a header of {length} bytes"));
    }
    let text = take(file, length)?;
    let text = String::from_utf8_lossy(&text);
    let value = |key: &str| {
        let behind = text.split_once(&format!("'{key}':")).map(|(_, behind)| behind.trim_start());
        behind.ok_or_else(|| format!("its header has no {key}"))
    };
    let descr = value("descr")?;
    let descr = descr.strip_prefix('\'').and_then(|rest| rest.split('\'').next()).unwrap_or("a record");
    let known = |&dtype: &DType| npy_type(dtype).is_some_and(|name| name == descr);
    let Some(dtype) = DType::ALL.into_iter().find(known) else {
        let names: Vec<String> = DType::ALL.into_iter().filter_map(npy_type).collect();
        return Err(format!("its element type is {descr}, expected one of {}", names.join(" ")));
    };
    if value("fortran_order")?.starts_with("True") {
        return Err("it is in Fortran order; save it with numpy.ascontiguousarray".to_owned());
    }
    let shape = value("shape")?.strip_prefix('(').and_then(|rest| rest.split_once(')')).map(|(shape, _)| shape);
    let extents = shape.ok_or("its header has no shape")?.split(',').map(str::trim).filter(|text| !text.is_empty());
    let shape: Result<Vec<usize>, String> =
        extents.map(|text| text.parse().map_err(|_| format!("{text:?} in its shape is no extent"))).collect();
    Ok(Header { dtype, shape: shape?, begin: 8 + length_bytes + length })
}

fn npy_header(dtype: DType, shape: &[usize]) -> Result<Vec<u8>, Box<dyn Error>> {
    let descr = npy_type(dtype);
    let descr = descr.ok_or_else(|| format!("a .npy file cannot hold {}; take .safetensors", dtype.name()))?;
    let extents: String = shape.iter().map(|extent| format!("{extent}, ")).collect();
    let mut text = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': ({}), }}", extents.trim_end());
    // The elements begin at a multiple of 64.
    let padded = (10 + text.len() + 1).next_multiple_of(64);
    text.extend(std::iter::repeat_n(' ', padded - 10 - text.len() - 1));
    text.push('\n');
    let mut header = b"\x93NUMPY\x01\x00".to_vec();
    header.extend(u16::try_from(text.len())?.to_le_bytes());
    header.extend(text.bytes());
    Ok(header)
}

/// The safetensors format: the header's length, the header as JSON, the tensors.
fn read_safetensors(file: &mut File, tensor: Option<&str>) -> Result<Header, String> {
    let length = take(file, 8)?.iter().rev().fold(0, |length, &byte| length << 8 | u64::from(byte));
    if length > LONGEST_HEADER {
        return Err("not a .safetensors file".to_owned());
    }
    let metadata: Metadata =
        serde_json::from_slice(&take(file, length)?).map_err(|error| format!("not a .safetensors file: {error}"))?;
    let names = metadata.offset_keys();
    let name = match (tensor, names.as_slice()) {
        (Some(name), _) => name,
        (None, [only]) => only,
        (None, _) => return Err(format!("it has the tensors {}; name one with --tensor", names.join(", "))),
    };
    let info = metadata.info(name).ok_or_else(|| format!("it has no tensor {name}, but {}", names.join(", ")))?;
    // The library's names, in capitals.
    let dtype = info.dtype.to_string().to_lowercase().parse();
    let dtype = dtype.map_err(|_| format!("{name} has elements of type {}", info.dtype))?;
    Ok(Header { dtype, shape: info.shape.clone(), begin: 8 + length + info.data_offsets.0 as u64 })
}

fn safetensors_header(name: &str, dtype: DType, shape: &[usize]) -> Result<Vec<u8>, Box<dyn Error>> {
    let bytes = element_count(shape)? * dtype.bytes() as u64;
    let dtype = serde_json::from_value(dtype.name().to_uppercase().into())?;
    let info = TensorInfo { dtype, shape: shape.to_vec(), data_offsets: (0, usize::try_from(bytes)?) };
    let metadata = Metadata::new(None, vec![(name.to_owned(), info)])?;
    let mut text = serde_json::to_vec(&metadata)?;
    text.resize(text.len().next_multiple_of(8), b' ');
    let mut header = (text.len() as u64).to_le_bytes().to_vec();
    header.extend(text);
    Ok(header)
}
