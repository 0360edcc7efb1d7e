//! Runs the pooling nodes whose inputs are known, and compares what they give with what is recorded.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use examples::host::host;
use wgpu_pooling::onnx::{FileTensor, Model, ModelError, ModelInput, ValueSource};
use wgpu_pooling::{Activation, DType, Plan, Preset, TensorRef};

/// A tensor of the run.
#[derive(Clone)]
struct Held {
    dtype: DType,
    shape: Vec<usize>,
    bytes: Vec<u8>,
}

impl Held {
    fn of(tensor: &FileTensor<'_>) -> Held {
        Held { dtype: tensor.dtype(), shape: tensor.shape().to_vec(), bytes: tensor.bytes().to_vec() }
    }
}

/// The recorded tensors, and the outputs of the nodes that have run.
pub struct Recorded<'a> {
    folder: PathBuf,
    model: &'a Model,
    /// The positions of the model's outputs that are a node's, by its number.
    positions: HashMap<usize, Vec<usize>>,
    outputs: HashMap<(usize, usize), Held>,
}

/// What a node that has run gave.
pub struct Run {
    pub plan: Plan,
    /// The model's outputs that are this node's: names, and how they compare.
    pub compared: Vec<(String, Comparison)>,
}

pub enum Comparison {
    /// Equal, with the words for how it was compared.
    Agrees(&'static str),
    Differs(String),
    NotRecorded(String),
}

impl<'a> Recorded<'a> {
    pub fn new(folder: &Path, model: &'a Model) -> Self {
        let mut positions: HashMap<_, Vec<usize>> = HashMap::new();
        for (position, (_, source)) in model.outputs().iter().enumerate() {
            if let ValueSource::Output { node, .. } = *source {
                positions.entry(node).or_default().push(position);
            }
        }
        Recorded { folder: folder.to_owned(), model, positions, outputs: HashMap::new() }
    }

    /// Runs a node, or says why it cannot be run.
    pub fn run(&mut self, number: usize, preset: Preset) -> Result<Run, String> {
        let node = &self.model.nodes()[number];
        let held = node.inputs().iter().map(|input| self.input(input)).collect::<Result<Vec<_>, _>>()?;
        let views = held.iter().map(|held| TensorRef::new(held.dtype, &held.shape, &held.bytes));
        let views = views.collect::<Result<Vec<_>, _>>().map_err(|error| error.to_string())?;
        let ran = node.run_blocking(&*host(), preset, &views).map_err(|error| error.to_string())?;
        let (plan, outputs) = (ran.0, ran.1.iter().map(Held::of).collect::<Vec<_>>());
        let mut compared = Vec::new();
        for &position in self.positions.get(&number).into_iter().flatten() {
            let (name, source) = &self.model.outputs()[position];
            if let ValueSource::Output { output, .. } = *source
                && let Some(held) = outputs.get(output)
            {
                // Indices are exact, whatever function is applied to Y.
                let rounds = output == 0 && rounds(&plan);
                compared.push((name.clone(), self.compare(position, held, rounds)));
            }
        }
        self.outputs.extend(outputs.into_iter().enumerate().map(|(output, held)| ((number, output), held)));
        Ok(Run { plan, compared })
    }

    fn input(&self, input: &ModelInput) -> Result<Held, String> {
        let name = &input.name;
        match &input.source {
            ValueSource::Input(number) => self.file(&format!("input_{number}.pb")),
            ValueSource::Constant(number) => {
                self.model.constant(*number).as_ref().map(Held::of).map_err(|error| error.to_string())
            }
            ValueSource::Output { node, output } => {
                let given = self.outputs.get(&(*node, *output));
                given.cloned().ok_or_else(|| format!("{name:?} is an output of node {node}, which was not run"))
            }
            ValueSource::Elsewhere(op_type) if op_type.is_empty() => Err(format!("the model does not give {name:?}")),
            // Constants of an IR have their values in the list of what the plan depends on.
            ValueSource::Elsewhere(op_type) => match (&input.values, &input.shape) {
                (Some(values), Some(shape)) => {
                    let bytes = values.iter().flat_map(|value| value.to_ne_bytes()).collect();
                    Ok(Held { dtype: DType::I64, shape: shape.clone(), bytes })
                }
                _ => Err(format!("{name:?} is an output of {op_type}, which this program does not run")),
            },
            _ => Err(format!("{name:?} comes from where this program does not look")),
        }
    }

    fn file(&self, name: &str) -> Result<Held, String> {
        let path = self.folder.join(name);
        FileTensor::open(&path).as_ref().map(Held::of).map_err(|error| match error {
            // It names the file itself.
            ModelError::File { .. } => error.to_string(),
            _ => format!("{}: {error}", path.display()),
        })
    }

    fn compare(&self, position: usize, own: &Held, rounds: bool) -> Comparison {
        let theirs = match self.file(&format!("output_{position}.pb")) {
            Ok(theirs) => theirs,
            Err(why) => return Comparison::NotRecorded(why),
        };
        if (own.dtype, &own.shape) != (theirs.dtype, &theirs.shape) {
            let [own, theirs] = [own, &theirs].map(|held| format!("{} {:?}", held.dtype.name(), held.shape));
            return Comparison::Differs(format!("it is {own}, but recorded as {theirs}"));
        }
        let width = own.dtype.bytes();
        let pairs = || own.bytes.chunks(width).zip(theirs.bytes.chunks(width));
        let equal = |(own, theirs): (&[u8], &[u8])| own == theirs || (rounds && close(own, theirs));
        let differ = pairs().filter(|pair| !equal(*pair)).count();
        match (pairs().position(|pair| !equal(pair)), rounds) {
            (Some(first), _) => Comparison::Differs(format!("{differ} elements differ, the first at {first}")),
            (None, true) => Comparison::Agrees("within 0.00001 of the recorded values, because its activation rounds"),
            (None, false) => Comparison::Agrees("bit for bit"),
        }
    }
}

/// Whether the function that is applied to Y rounds.
fn rounds(plan: &Plan) -> bool {
    let activation = match plan {
        Plan::Pool(plan) => plan.activation,
        Plan::Unpool(plan) => plan.activation,
        Plan::Difference(_) | Plan::Composition(_) => Activation::Identity,
    };
    !matches!(activation, Activation::Identity | Activation::Relu | Activation::Clip { .. })
}

/// Whether two floats of 32 bits are close to each other.
fn close(own: &[u8], theirs: &[u8]) -> bool {
    let float = |bytes: &[u8]| bytes.try_into().ok().map(f32::from_le_bytes);
    let (Some(own), Some(theirs)) = (float(own), float(theirs)) else {
        return false;
    };
    approx::relative_eq!(own, theirs, epsilon = 1e-5, max_relative = 1e-5)
}
