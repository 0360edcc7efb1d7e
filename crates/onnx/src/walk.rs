//! Finds the pooling nodes of an ONNX model, in its graph, in the graphs inside nodes, and in the functions that it
//! calls.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use wgpu_pooling_plan::{Attribute, DType, Node, Plan, Preset};

use super::budget::Budget;
use super::error::{ModelError, at_most};
use super::external::ExternalData;
use super::node::{Constant, ModelInput, ModelNode, Parts, SHAPE, ValueSource, operand};
use super::proto::{
    AttributeMessage, BodyFields, FUNCTION, FunctionMessage, GRAPH, ModelMessage, NamedSizes, NodeMessage,
    TensorMessage, TypeOf, dtype, value_info,
};
use super::tensor::FileTensor;
use super::wire::{Message, push};

/// The most pooling nodes.
const MAX_POOLING_NODES: usize = 1 << 14;
/// The most inputs or outputs of a pooling node.
const MAX_OPERANDS: usize = 8;
/// The most values of an input that a plan depends on.
const MAX_LIST: usize = 64;
/// The most graphs and functions inside each other.
const MAX_DEPTH: u64 = 64;
/// The steps of an attribute that is looked up, of a node, and of a call.
const ATTRIBUTE: u64 = 64;
const NODE: u64 = 32;
const CALL: u64 = 64;

/// Domain, name and overload of a function.
type FunctionKey<'a> = (&'a str, &'a str, &'a str);

/// The attributes of a call of a function.
type GivenAttributes<'a> = HashMap<&'a str, Message<'a>>;

/// What is known of a value.
#[derive(Clone, Default)]
struct Known<'a> {
    /// A `TypeProto`.
    info: Option<Message<'a>>,
    origin: ValueOrigin<'a>,
}

#[derive(Clone)]
enum ValueOrigin<'a> {
    Input(usize),
    /// A `TensorProto`.
    Tensor(Message<'a>),
    Integers(Vec<i64>),
    Output(usize, usize),
    Operator(&'a str),
}

impl Default for ValueOrigin<'_> {
    fn default() -> Self {
        ValueOrigin::Operator("")
    }
}

/// The values of a graph or of a function's body by name, its opsets and its call.
struct Scope<'a, 's> {
    values: HashMap<&'a str, Known<'a>>,
    outer: Option<&'s Scope<'a, 's>>,
    /// The path of the graph or body, to be shown to users.
    path: Arc<str>,
    opsets: &'s [(&'a str, i64)],
    /// In a function's body: the attributes of the call, or nothing if the function is not called.
    call: Option<Option<&'s GivenAttributes<'a>>>,
    depth: u64,
}

/// What is known of a tensor that the model has: with its values, if they are a short list.
#[derive(Clone)]
struct TensorOf {
    dtype: Option<DType>,
    shape: Option<Vec<usize>>,
    values: Option<Vec<i64>>,
}

struct Walk<'a> {
    functions: HashMap<FunctionKey<'a>, Message<'a>>,
    called: HashSet<FunctionKey<'a>>,
    parts: Parts,
    /// The tensors that pooling nodes take, by where they lie: each is read once.
    tensors: HashMap<usize, TensorOf>,
    /// The plans of pooling nodes whose outputs others take: each is made once, and paid with its node.
    plans: HashMap<usize, Option<Plan>>,
    budget: &'a Budget,
    sizes: &'a NamedSizes<'a>,
}

/// The pooling nodes of a model, and what they take.
pub fn model(bytes: &[u8], sizes: &NamedSizes<'_>) -> Result<Parts, ModelError> {
    let budget = Budget::of(bytes.len());
    let model = ModelMessage::read(Message::of_file(bytes, &budget))?;
    let graph = Some(&model.graph[..]).filter(|parts| !parts.is_empty()).ok_or(ModelError::NoGraph)?;
    let mut walk = Walk {
        functions: HashMap::new(),
        called: HashSet::new(),
        parts: Parts::default(),
        tensors: HashMap::new(),
        plans: HashMap::new(),
        budget: &budget,
        sizes,
    };
    for &message in &model.functions {
        let function = FunctionMessage::read(message)?;
        walk.functions.insert(key(function.domain, function.name, function.overload), message);
    }
    let mut scope = Scope::new(Arc::from(""), &model.opsets, None, 0);
    walk.declare(graph, GRAPH, &mut scope, "")?;
    walk.inputs(graph, &mut scope)?;
    walk.body(graph, GRAPH, &mut scope)?;
    for field in graph.iter().flat_map(|part| part.numbered(GRAPH.value_infos[1])) {
        let (name, _) = value_info(field?.message()?)?;
        let source = walk.source(scope.known(name, &budget)?)?;
        let name = budget.keep(name)?;
        walk.parts.outputs.push((name, source));
    }
    walk.functions_without_a_call(&model)?;
    Ok(walk.parts)
}

/// A function's key: both spellings of ONNX's own domain are one.
fn key<'a>(domain: &'a str, name: &'a str, overload: &'a str) -> FunctionKey<'a> {
    (own_domain(domain), name, overload)
}

fn own_domain(domain: &str) -> &str {
    if domain == "ai.onnx" { "" } else { domain }
}

/// Whether a node is one of this crate's.
fn is_pooling(node: &NodeMessage<'_>) -> bool {
    match own_domain(node.domain) {
        "" | "com.ms.internal.nhwc" => matches!(node.op_type, "MaxPool" | "MaxUnpool" | "GlobalMaxPool"),
        "wgpu.pooling" => matches!(node.op_type, "MaxPool" | "MaxUnpool" | "GlobalMaxPool" | "AdaptiveMaxPool"),
        _ => false,
    }
}

impl<'a, 's> Scope<'a, 's> {
    fn new(
        path: Arc<str>,
        opsets: &'s [(&'a str, i64)],
        call: Option<Option<&'s GivenAttributes<'a>>>,
        depth: u64,
    ) -> Self {
        Scope { values: HashMap::new(), outer: None, path, opsets, call, depth }
    }

    fn known(&self, name: &str, budget: &Budget) -> Result<Option<&Known<'a>>, ModelError> {
        let mut scope = Some(self);
        while let Some(here) = scope {
            budget.look_up(name)?;
            if let Some(known) = here.values.get(name) {
                return Ok(Some(known));
            }
            scope = here.outer;
        }
        Ok(None)
    }

    /// The message that has an attribute's value: of the call, if the attribute refers to it. An attribute that the
    /// call does not give is absent.
    fn attribute(&self, message: Message<'a>) -> Result<Option<Message<'a>>, ModelError> {
        let Some(refers_to) = AttributeMessage::refers_to(message)? else {
            return Ok(Some(message));
        };
        let given = self
            .call
            .flatten()
            .ok_or_else(|| ModelError::AttributeOfCaller { name: refers_to.chars().take(100).collect() })?;
        message.spend(ATTRIBUTE)?;
        Ok(given.get(refers_to).copied())
    }
}

impl<'a> Walk<'a> {
    /// The scope's entry for a name, to be changed.
    fn value<'w>(&self, scope: &'w mut Scope<'a, '_>, name: &'a str) -> Result<&'w mut Known<'a>, ModelError> {
        self.budget.look_up(name)?;
        Ok(scope.values.entry(name).or_default())
    }

    /// Takes the types of values and the initializers of a graph. `holder` is the type of the node whose graph it is.
    fn declare(
        &mut self,
        body: &[Message<'a>],
        fields: BodyFields,
        scope: &mut Scope<'a, '_>,
        holder: &'a str,
    ) -> Result<(), ModelError> {
        for field in body.iter().flat_map(|part| part.fields()) {
            let field = field?;
            if fields.value_infos.contains(&field.number) {
                let (name, info) = value_info(field.message()?)?;
                let value = self.value(scope, name)?;
                value.info = value.info.or(Some(info));
                if fields.initializer.is_some() && field.number == fields.value_infos[0] {
                    value.origin = ValueOrigin::Operator(holder);
                }
            }
        }
        // After the inputs, because an initializer may give an input its value.
        for field in body.iter().flat_map(|part| part.fields()) {
            let field = field?;
            if Some(field.number) == fields.initializer {
                let tensor = field.message()?;
                self.value(scope, TensorMessage::name(tensor)?)?.origin = ValueOrigin::Tensor(tensor);
            }
        }
        Ok(())
    }

    /// Numbers the inputs of the model's graph that no initializer gives.
    fn inputs(&mut self, graph: &[Message<'a>], scope: &mut Scope<'a, '_>) -> Result<(), ModelError> {
        for field in graph.iter().flat_map(|part| part.numbered(GRAPH.value_infos[0])) {
            let (name, _) = value_info(field?.message()?)?;
            let value = self.value(scope, name)?;
            if !matches!(value.origin, ValueOrigin::Tensor(_)) {
                value.origin = ValueOrigin::Input(self.parts.inputs.len());
                let name = self.budget.keep(name)?;
                self.parts.inputs.push(name);
            }
        }
        Ok(())
    }

    fn body(&mut self, body: &[Message<'a>], fields: BodyFields, scope: &mut Scope<'a, '_>) -> Result<(), ModelError> {
        at_most("graphs and functions inside each other", scope.depth, MAX_DEPTH)?;
        for field in body.iter().flat_map(|part| part.numbered(fields.node)) {
            let field = field?;
            self.budget.spend(NODE)?;
            self.node(&NodeMessage::read(field.message()?)?, scope)?;
        }
        Ok(())
    }

    fn node(&mut self, node: &NodeMessage<'a>, scope: &mut Scope<'a, '_>) -> Result<(), ModelError> {
        let mut origins: Vec<Known<'a>> = Vec::new();
        let key = key(node.domain, node.op_type, node.overload);
        for name in [node.domain, node.op_type, node.overload] {
            self.budget.spend_text(name.as_bytes())?;
        }
        if let Some(&function) = self.functions.get(&key) {
            origins = self.call(node, function, scope)?;
        } else if is_pooling(node) {
            let number = self.parts.nodes.len();
            self.pooling(node, scope)?;
            let outputs = 0..node.outputs.len();
            origins.extend(outputs.map(|output| Known { info: None, origin: ValueOrigin::Output(number, output) }));
        } else if node.op_type == "Constant" && own_domain(node.domain).is_empty() {
            origins.extend(constant(node, scope)?.map(|origin| Known { info: None, origin }));
        } else {
            for &attribute in &node.attributes {
                for graph in AttributeMessage::graphs(attribute)? {
                    let name = AttributeMessage::name(attribute)?;
                    self.inner_graph(node, name, graph, scope)?;
                }
            }
        }
        let mut origins = origins.into_iter();
        for &name in &node.outputs {
            let known = origins.next();
            let value = self.value(scope, name)?;
            let Known { info, origin } =
                known.unwrap_or(Known { info: None, origin: ValueOrigin::Operator(node.op_type) });
            value.info = value.info.or(info);
            value.origin = origin;
        }
        Ok(())
    }

    fn inner_graph(
        &mut self,
        node: &NodeMessage<'a>,
        attribute: &str,
        graph: Message<'a>,
        outer: &Scope<'a, '_>,
    ) -> Result<(), ModelError> {
        let path = self.path(outer, node, attribute)?;
        let scope = Scope::new(path, outer.opsets, outer.call, outer.depth.saturating_add(1));
        let mut scope = Scope { outer: Some(outer), ..scope };
        self.declare(&[graph], GRAPH, &mut scope, node.op_type)?;
        self.body(&[graph], GRAPH, &mut scope)
    }

    /// The path of what is inside a node.
    fn path(&self, outer: &Scope<'a, '_>, node: &NodeMessage<'a>, part: &str) -> Result<Arc<str>, ModelError> {
        let name = if node.name.is_empty() { node.op_type } else { node.name };
        let before = if outer.path.is_empty() { String::new() } else { format!("{}/", outer.path) };
        for text in [outer.path.as_ref(), name, part] {
            self.budget.spend_text(text.as_bytes())?;
        }
        Ok(Arc::from(format!("{before}{name}.{part}")))
    }

    /// Walks through a function's body for a call, and says what is known of the call's outputs.
    fn call(
        &mut self,
        node: &NodeMessage<'a>,
        message: Message<'a>,
        outer: &Scope<'a, '_>,
    ) -> Result<Vec<Known<'a>>, ModelError> {
        self.called.insert(key(node.domain, node.op_type, node.overload));
        self.budget.spend(CALL)?;
        let function = FunctionMessage::read(message)?;
        let mut given = HashMap::new();
        for &attribute in &node.attributes {
            if let Ok(Some(value)) = outer.attribute(attribute) {
                self.budget.spend(ATTRIBUTE)?;
                given.insert(AttributeMessage::name(attribute)?, value);
            }
        }
        for &default in &function.defaults {
            self.budget.spend(ATTRIBUTE)?;
            given.entry(AttributeMessage::name(default)?).or_insert(default);
        }
        let path = self.path(outer, node, node.op_type)?;
        let given = outer.call.is_none_or(|call| call.is_some()).then_some(&given);
        let mut scope = Scope::new(path, &function.opsets, Some(given), outer.depth.saturating_add(1));
        for (&formal, &actual) in function.inputs.iter().zip(&node.inputs) {
            if let Some(known) = outer.known(actual, self.budget)? {
                *self.value(&mut scope, formal)? = known.clone();
            }
        }
        self.declare(&[message], FUNCTION, &mut scope, "")?;
        self.body(&[message], FUNCTION, &mut scope)?;
        let known =
            function.outputs.iter().map(|name| Ok(scope.known(name, self.budget)?.cloned().unwrap_or_default()));
        known.collect()
    }

    fn functions_without_a_call(&mut self, model: &ModelMessage<'a>) -> Result<(), ModelError> {
        for &message in &model.functions {
            let function = FunctionMessage::read(message)?;
            if self.called.contains(&key(function.domain, function.name, function.overload)) {
                continue;
            }
            self.budget.spend(CALL)?;
            let path = self.budget.keep(&format!("{}, which nothing calls", function.name))?;
            let mut scope = Scope::new(Arc::from(path), &function.opsets, Some(None), 1);
            self.declare(&[message], FUNCTION, &mut scope, "")?;
            self.body(&[message], FUNCTION, &mut scope)?;
        }
        Ok(())
    }

    /// Takes a pooling node.
    fn pooling(&mut self, node: &NodeMessage<'a>, scope: &Scope<'a, '_>) -> Result<(), ModelError> {
        let inputs = trimmed(&node.inputs);
        let outputs = trimmed(&node.outputs);
        self.budget.spend_pooling(&scope.path)?;
        let most = at_most("operands of a pooling node", inputs.len().max(outputs.len()) as u64, MAX_OPERANDS as u64);
        let mut found = ModelNode {
            scope: scope.path.clone(),
            name: self.budget.keep(node.name)?,
            op_type: self.budget.keep(node.op_type)?,
            domain: self.budget.keep(node.domain)?,
            node: most.and_then(|()| self.read_node(node, scope)),
            inputs: Vec::new(),
            outputs: Vec::new(),
        };
        for (number, name) in inputs.iter().take(MAX_OPERANDS).enumerate() {
            let values = operand(node.op_type, number) == SHAPE;
            found.inputs.push(self.input(name, scope, values)?);
        }
        for name in outputs.iter().take(MAX_OPERANDS) {
            found.outputs.push(self.budget.keep(name)?);
        }
        push(&mut self.parts.nodes, found, "pooling nodes", MAX_POOLING_NODES)
    }

    /// The node as a value: its attributes, and the opset of its domain.
    fn read_node(&self, node: &NodeMessage<'a>, scope: &Scope<'a, '_>) -> Result<Node, ModelError> {
        let domain = own_domain(node.domain);
        let each = (domain.len() as u64 / 16).saturating_add(1);
        self.budget.spend(each.saturating_mul(scope.opsets.len() as u64))?;
        let opset = scope.opsets.iter().find(|(imported, _)| own_domain(imported) == domain);
        let &(_, opset) = opset.ok_or_else(|| ModelError::NoOpset { domain: domain.to_owned() })?;
        let mut read = Node::new(node.op_type, opset).domain(domain);
        for (name, message) in node.pooling_attributes()? {
            if let Some(message) = scope.attribute(message)? {
                let value = AttributeMessage::read(message)?.value;
                self.budget.spend_kept(message.bytes.len())?;
                read = read.attribute(self.budget.keep(name)?, value);
            }
        }
        Ok(read)
    }

    /// An input of a pooling node; with its values, if the plan depends on them.
    fn input(&mut self, name: &str, scope: &Scope<'a, '_>, values: bool) -> Result<ModelInput, ModelError> {
        let known = scope.known(name, self.budget)?;
        let info = known.and_then(|known| known.info).map(|info| TypeOf::read(info, self.sizes));
        let info = info.transpose()?.unwrap_or_default();
        let (mut dtype, mut shape, mut list) = (info.dtype(), info.shape, None);
        let (name, source) = (self.budget.keep(name)?, self.source(known)?);
        match known.map(|known| &known.origin) {
            Some(ValueOrigin::Tensor(message)) => {
                let tensor = self.tensor(*message)?;
                (dtype, shape) = (tensor.dtype, tensor.shape);
                list = tensor.values;
            }
            Some(ValueOrigin::Integers(own)) => {
                (dtype, shape) = (Some(DType::I64), Some(vec![own.len()]));
                list = values.then(|| own.clone());
            }
            // What a pooling node gives follows from what it takes, whether the model says it or not.
            Some(&ValueOrigin::Output(node, output)) if dtype.is_none() || shape.is_none() => {
                let nodes = &self.parts.nodes;
                let plan = || nodes.get(node).and_then(|node| node.plan(Preset::Onnx).ok());
                let plan = self.plans.entry(node).or_insert_with(plan);
                if let Some(spec) = plan.as_ref().and_then(|plan| plan.outputs().get(output)) {
                    (dtype, shape) = (Some(spec.dtype), Some(spec.shape.clone()));
                }
            }
            _ => {}
        }
        let symbols = info.symbols.iter().filter(|_| shape.is_none()).map(|name| self.budget.keep(name));
        let symbols = symbols.collect::<Result<_, _>>()?;
        Ok(ModelInput { name, dtype, shape, symbols, values: list.filter(|_| values), source })
    }

    fn tensor(&mut self, message: Message<'a>) -> Result<TensorOf, ModelError> {
        if let Some(known) = self.tensors.get(&message.at) {
            return Ok(known.clone());
        }
        let tensor = TensorMessage::read(message)?;
        let (dtype, shape) = (dtype(tensor.number).ok(), tensor.shape());
        let is_list = matches!(dtype, Some(DType::I64 | DType::I32))
            && matches!(shape.as_deref(), Some([length]) if *length <= MAX_LIST);
        let values = match is_list && ExternalData::of(&tensor)?.is_none() {
            true => FileTensor::inside(&tensor)?.integers(),
            false => None,
        };
        let known = TensorOf { dtype, shape, values };
        self.tensors.insert(message.at, known.clone());
        Ok(known)
    }

    /// Where a value comes from, for the caller.
    fn source(&mut self, known: Option<&Known<'a>>) -> Result<ValueSource, ModelError> {
        let constant = match known.map(|known| &known.origin) {
            Some(&ValueOrigin::Input(number)) => return Ok(ValueSource::Input(number)),
            Some(&ValueOrigin::Output(node, output)) => return Ok(ValueSource::Output { node, output }),
            Some(ValueOrigin::Tensor(message)) => {
                let end = message.at.saturating_add(message.bytes.len());
                Constant::Message(message.at..end)
            }
            Some(ValueOrigin::Integers(values)) => {
                self.budget.spend_kept(values.len())?;
                Constant::Integers(values.clone())
            }
            Some(ValueOrigin::Operator(op_type)) => return Ok(ValueSource::Elsewhere(self.budget.keep(op_type)?)),
            None => return Ok(ValueSource::Elsewhere(String::new())),
        };
        self.budget.spend(NODE)?;
        self.parts.constants.push(constant);
        Ok(ValueSource::Constant(self.parts.constants.len().saturating_sub(1)))
    }
}

/// Names without the empty ones at the end, which stand for operands that are left out.
fn trimmed<'n, 'a>(names: &'n [&'a str]) -> &'n [&'a str] {
    let last = names.iter().rposition(|name| !name.is_empty());
    &names[..last.map_or(0, |last| last.saturating_add(1))]
}

/// What a node `Constant` gives, if it is a tensor or a list of integers.
fn constant<'a>(node: &NodeMessage<'a>, scope: &Scope<'a, '_>) -> Result<Option<ValueOrigin<'a>>, ModelError> {
    let Some(&attribute) = node.attributes.first() else {
        return Ok(None);
    };
    let name = AttributeMessage::name(attribute)?;
    if !matches!(name, "value" | "value_ints") {
        return Ok(None);
    }
    let Ok(Some(message)) = scope.attribute(attribute) else {
        return Ok(None);
    };
    // A longer list than attributes of pooling nodes can be is none that they take.
    let Ok(read) = AttributeMessage::read(message) else {
        return Ok(None);
    };
    Ok(match (name, read.tensor, read.value) {
        ("value", Some(tensor), _) => Some(ValueOrigin::Tensor(tensor)),
        ("value_ints", _, Attribute::Ints(values)) if values.len() <= MAX_LIST => Some(ValueOrigin::Integers(values)),
        _ => None,
    })
}
