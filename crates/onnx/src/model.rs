//! A model, read from its file.

use std::borrow::Cow;
use std::cell::Cell;
use std::collections::HashMap;
use std::path::{Path, PathBuf};

use super::error::{ModelError, at_most};
use super::external::ExternalData;
use super::files::{self, MAX_FILE};
use super::node::{Constant, ModelNode, Parts, ValueSource};
use super::proto::{NamedSizes, TensorMessage};
use super::tensor::{FileTensor, kind};
use super::wire::Message;
use super::{ir, walk};

/// The most bytes of the text of an OpenVINO IR.
const MAX_TEXT: u64 = 1 << 28;

/// A model and its pooling nodes, those inside graphs of `If`, `Loop` and `Scan` and inside functions too.
///
/// Of an ONNX file only what the pooling nodes need is read; the rest, such as the weights, is skipped. The reader
/// takes files from strangers: errors are typed, and time and memory are bounded by a multiple of the file's length and
/// a constant, however graphs and functions are nested and called ([`ModelError::TooMuchWork`]).
///
/// ```no_run
/// use wgpu_pooling::{Preset, onnx::Model};
///
/// let model = Model::open("model.onnx".as_ref())?;
/// for node in model.nodes() {
///     println!("{} {}: {:?}", node.op_type(), node.name(), node.plan(Preset::Onnx));
/// }
/// # Ok::<(), wgpu_pooling::onnx::ModelError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[must_use]
pub struct Model {
    /// The ONNX file; empty for an IR.
    bytes: Vec<u8>,
    /// Where external data lie.
    folder: Option<PathBuf>,
    parts: Parts,
}

impl Model {
    /// Reads a model's file: an OpenVINO IR if its name ends in `.xml`, with its weights in the file of the same name
    /// that ends in `.bin`, and otherwise ONNX. Only regular files are read, no pipes and no devices. A model's other
    /// files have to lie in its folder or below, after links are resolved.
    ///
    /// # Errors
    /// [`ModelError::File`] for a file that cannot be read or is no regular one; [`ModelError::Open`] with an error
    /// of [`Model::from_onnx`] or [`Model::from_ir`].
    ///
    /// ```
    /// use wgpu_pooling::onnx::{Model, ModelError};
    /// assert!(matches!(Model::open("no such file".as_ref()), Err(ModelError::File { .. })));
    /// assert!(matches!(Model::open("Cargo.toml".as_ref()), Err(ModelError::Open { .. })));
    /// ```
    pub fn open(path: &Path) -> Result<Model, ModelError> {
        Model::read(path).map_err(|error| match error {
            ModelError::File { .. } => error,
            _ => ModelError::Open { path: path.display().to_string(), reason: Box::new(error) },
        })
    }

    fn read(path: &Path) -> Result<Model, ModelError> {
        let is_ir = path.extension().is_some_and(|ending| ending == "xml");
        let bytes = files::read(path, "bytes of a model", if is_ir { MAX_TEXT } else { MAX_FILE })?;
        // The folder of a bare name is the current one.
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        if is_ir {
            let text = String::from_utf8(bytes).map_err(|error| ModelError::Ir(error.to_string()))?;
            let weights = path.with_extension("bin");
            let mut file = None;
            let parts = ir::read(&text, &mut |range| ir::weights_of_file(folder, &weights, &mut file, range))?;
            return Ok(Model { bytes: Vec::new(), folder: None, parts });
        }
        let model = Model::from_onnx(bytes)?;
        Ok(Model { folder: Some(folder.to_owned()), ..model })
    }

    /// Reads an ONNX model, a `ModelProto`. Tensors in other files are refused when they are asked for.
    ///
    /// # Errors
    /// [`ModelError::Malformed`], [`ModelError::NoGraph`], [`ModelError::TooMany`] and [`ModelError::TooMuchWork`].
    /// What is wrong with a single node, such as a domain that is not imported, is an error of its [`ModelNode::node`].
    ///
    /// ```
    /// use wgpu_pooling::onnx::{Model, ModelError};
    /// assert_eq!(Model::from_onnx(Vec::new()), Err(ModelError::NoGraph));
    /// ```
    pub fn from_onnx(bytes: Vec<u8>) -> Result<Model, ModelError> {
        at_most("bytes of a model", bytes.len() as u64, MAX_FILE)?;
        let parts = walk::model(&bytes, &HashMap::new())?;
        Ok(Model { bytes, folder: None, parts })
    }

    /// Reads an OpenVINO IR from its text and its weights.
    ///
    /// # Errors
    /// [`ModelError::Ir`], [`ModelError::TooMany`] and [`ModelError::TooMuchWork`].
    ///
    /// ```
    /// use wgpu_pooling::onnx::Model;
    /// let model = Model::from_ir("<net name='n' version='11'><layers/><edges/></net>", &[])?;
    /// assert!(model.nodes().is_empty());
    /// # Ok::<(), wgpu_pooling::onnx::ModelError>(())
    /// ```
    pub fn from_ir(text: &str, weights: &[u8]) -> Result<Model, ModelError> {
        at_most("bytes of a model", text.len() as u64, MAX_TEXT)?;
        let parts = ir::read(text, &mut |range| ir::weights_of_slice(weights, range))?;
        Ok(Model { bytes: Vec::new(), folder: None, parts })
    }

    /// The model with sizes for extents that it gives by names, such as `N`; sizes of an earlier call are not kept. An
    /// IR has no names. Where an extent follows from a named one, `onnx.shape_inference.infer_shapes` makes up a name,
    /// such as `unk__0`, which needs a size too.
    ///
    /// # Errors
    /// As [`Model::from_onnx`]; [`ModelError::NoSuchExtent`] for a name that no input of a pooling node has.
    ///
    /// ```
    /// use wgpu_pooling::onnx::{Model, ModelError};
    /// let model = Model::open("models/test_maxpool_1d_default.onnx".as_ref())?;
    /// let error = model.with_sizes(&[("N", 1)]).unwrap_err(); // Its X is [1, 3, 32].
    /// assert_eq!(error, ModelError::NoSuchExtent("N".to_owned()));
    /// # Ok::<(), ModelError>(())
    /// ```
    pub fn with_sizes(self, sizes: &[(&str, usize)]) -> Result<Model, ModelError> {
        let by_name: NamedSizes<'_> = sizes.iter().map(|&(name, size)| (name, (size, Cell::new(false)))).collect();
        let parts = if self.bytes.is_empty() { self.parts } else { walk::model(&self.bytes, &by_name)? };
        match sizes.iter().find(|(name, _)| !by_name[name].1.get()) {
            Some((name, _)) => Err(ModelError::NoSuchExtent((*name).to_owned())),
            None => Ok(Model { parts, ..self }),
        }
    }

    /// The pooling nodes, in the order of the file.
    pub fn nodes(&self) -> &[ModelNode] {
        &self.parts.nodes
    }

    /// The names of the model's inputs, without those that initializers give.
    pub fn inputs(&self) -> &[String] {
        &self.parts.inputs
    }

    /// The names of the model's outputs, and where their values come from.
    pub fn outputs(&self) -> &[(String, ValueSource)] {
        &self.parts.outputs
    }

    /// A tensor that the model has, by its number in [`ValueSource::Constant`]. External data are read from their file.
    ///
    /// # Errors
    /// As [`FileTensor::read`]; [`ModelError::External`] for a location that is absolute or leaves the model's folder,
    /// and for a range that is not in the file.
    ///
    /// ```
    /// let model = wgpu_pooling::onnx::Model::open("models/test_maxpool_1d_default.onnx".as_ref())?;
    /// assert!(model.constant(0).is_err(), "its node takes no constant");
    /// # Ok::<(), wgpu_pooling::onnx::ModelError>(())
    /// ```
    pub fn constant(&self, number: usize) -> Result<FileTensor<'_>, ModelError> {
        let missing = ModelError::Malformed { what: "the model has no constant of this number", at: 0 };
        let range = match self.parts.constants.get(number).ok_or(missing.clone())? {
            Constant::Integers(values) => return Ok(FileTensor::of_integers(values)),
            Constant::Message(range) => range.clone(),
        };
        let at = range.start;
        let tensor = TensorMessage::read(Message::at(self.bytes.get(range).ok_or(missing)?, at))?;
        let Some(external) = ExternalData::of(&tensor)? else {
            return FileTensor::inside(&tensor);
        };
        let Some(folder) = &self.folder else {
            return Err(external.refused("the model was not read from a file"));
        };
        let (_, _, expected) = kind(&tensor)?;
        FileTensor::with_bytes(&tensor, Cow::Owned(external.read(folder, expected)?))
    }
}
