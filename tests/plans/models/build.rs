//! Writes ONNX models, byte by byte: what the reader reads is written by other code than its own.

/// A message that is being written.
#[derive(Clone, Default)]
pub struct Build(pub Vec<u8>);

/// The next number of a sequence that looks random.
pub fn next(state: &mut u64) -> usize {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    (*state >> 33) as usize
}

fn varint(mut value: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    while value >= 0x80 {
        bytes.push(value as u8 | 0x80);
        value >>= 7;
    }
    bytes.push(value as u8);
    bytes
}

impl Build {
    pub fn int(mut self, number: u64, value: i64) -> Self {
        self.0.extend([varint(number << 3), varint(value as u64)].concat());
        self
    }

    pub fn bytes(mut self, number: u64, bytes: impl AsRef<[u8]>) -> Self {
        let bytes = bytes.as_ref();
        self.0.extend([&varint(number << 3 | 2)[..], &varint(bytes.len() as u64), bytes].concat());
        self
    }

    pub fn message(self, number: u64, message: Build) -> Self {
        self.bytes(number, message.0)
    }

    pub fn packed(self, number: u64, values: &[i64]) -> Self {
        self.bytes(number, values.iter().flat_map(|&value| varint(value as u64)).collect::<Vec<u8>>())
    }

    pub fn each(self, number: u64, values: &[i64]) -> Self {
        values.iter().fold(self, |message, &value| message.int(number, value))
    }

    pub fn texts(self, number: u64, texts: &[&str]) -> Self {
        texts.iter().fold(self, |message, text| message.bytes(number, text))
    }
}

pub fn new() -> Build {
    Build::default()
}

/// A model with this graph, and ONNX's opset.
pub fn model(opset: i64, graph: Build) -> Build {
    new().int(1, 8).message(8, new().int(2, opset)).message(7, graph)
}

/// A `ValueInfoProto` of a tensor; an extent of -1 is a symbol.
pub fn value(name: &str, number: i64, shape: &[i64]) -> Build {
    let dimension = |&extent: &i64| if extent < 0 { new().bytes(2, "N") } else { new().int(1, extent) };
    let shape = shape.iter().fold(new(), |shape, extent| shape.message(1, dimension(extent)));
    new().bytes(1, name).message(2, new().message(1, new().int(1, number).message(2, shape)))
}

pub fn node(op_type: &str, inputs: &[&str], outputs: &[&str]) -> Build {
    new().texts(1, inputs).texts(2, outputs).bytes(4, op_type)
}

pub fn ints(name: &str, values: &[i64]) -> Build {
    new().bytes(1, name).each(8, values).int(20, 7)
}

pub fn int(name: &str, value: i64) -> Build {
    new().bytes(1, name).int(3, value).int(20, 2)
}

pub fn text(name: &str, value: impl AsRef<[u8]>) -> Build {
    new().bytes(1, name).bytes(4, value).int(20, 3)
}

/// An attribute of a node in a function's body whose value the call gives.
pub fn reference(name: &str, refers_to: &str) -> Build {
    new().bytes(1, name).bytes(21, refers_to).int(20, 7)
}

pub fn graph_attribute(name: &str, graph: Build) -> Build {
    new().bytes(1, name).message(6, graph).int(20, 5)
}

/// A node with this graph as a branch.
pub fn branch(graph: Build) -> Build {
    node("If", &["c"], &[]).message(5, graph_attribute("then_branch", graph))
}

/// Messages after each other.
pub fn all(messages: impl IntoIterator<Item = Build>) -> Build {
    Build(messages.into_iter().flat_map(|message| message.0).collect())
}

/// A function of the domain `own`.
pub fn function(name: &str, opset: i64, body: Build) -> Build {
    all([new().bytes(1, name).message(9, new().int(2, opset)).bytes(10, "own"), body])
}

pub fn call(name: &str, inputs: &[&str], outputs: &[&str]) -> Build {
    node(name, inputs, outputs).bytes(7, "own")
}

/// A MaxPool with the kernel 2 on each of so many axes.
pub fn pool(inputs: &[&str], outputs: &[&str], axes: usize) -> Build {
    node("MaxPool", inputs, outputs).message(5, ints("kernel_shape", &vec![2; axes]))
}

/// A `TensorProto` without its elements.
pub fn tensor(name: &str, number: i64, shape: &[i64]) -> Build {
    new().each(1, shape).int(2, number).bytes(8, name)
}
