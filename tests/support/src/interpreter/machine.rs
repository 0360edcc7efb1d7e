//! A workgroup, statement by statement.

use std::rc::Rc;

use naga::proc::TypeResolution;
use naga::valid::FunctionInfo;
use naga::{
    AddressSpace, Binding, Block, BuiltIn, EntryPoint, Expression, Function, Handle, Module, Statement, SwitchCase,
    SwitchValue, TypeInner,
};

use super::Kernel;
use super::buffers::Buffers;
use super::mask::{MOST, Mask};
use super::memory::{Layout, Pointer, Root, Value, words};
use super::operations;

/// Runs workgroup `number` of a grid, with the words of the uniform.
pub fn workgroup(
    kernel: &Kernel,
    [number, grid]: [[u32; 3]; 2],
    uniform: &[u32],
    buffers: &mut Buffers,
) -> Result<(), String> {
    let (entry, info) = (&kernel.module.entry_points[0], kernel.info.get_entry_point(0));
    let lanes = entry.workgroup_size.iter().product::<u32>() as usize;
    if lanes > MOST {
        return Err(format!("a workgroup of {lanes}: at most {MOST} can be run"));
    }
    let (variables, constants, frames) = (Vec::new(), Vec::new(), Vec::new());
    let mut machine = Machine { kernel, lanes, buffers, variables, constants, frames };
    for (_, expression) in kernel.module.global_expressions.iter() {
        let value = machine.constant(expression)?;
        machine.constants.push(value);
    }
    for (_, variable) in kernel.module.global_variables.iter() {
        let words = || words(&kernel.module.types, &kernel.module.types[variable.ty].inner);
        machine.variables.push(match (variable.space, variable.init) {
            (AddressSpace::Uniform, _) => uniform.to_vec(),
            (AddressSpace::WorkGroup, _) => vec![0; words()? as usize],
            (AddressSpace::Private, Some(init)) => machine.constants[init.index()].to_vec(),
            (AddressSpace::Private, None) => vec![0; words()? as usize * lanes],
            _ => Vec::new(),
        });
    }
    let arguments = builtins(entry, [number, grid])?;
    machine.call(&entry.function, info, arguments, Mask::of(lanes, |_| true))?;
    Ok(())
}

/// The arguments of an entry point.
fn builtins(entry: &EntryPoint, [number, grid]: [[u32; 3]; 2]) -> Result<Vec<Value>, String> {
    let size = entry.workgroup_size;
    let within = |lane: u32| [lane % size[0], lane / size[0] % size[1], lane / size[0] / size[1]];
    let each = |count: usize, of: &dyn Fn(usize, u32) -> u32| -> Vec<u32> {
        let lanes = 0..size.iter().product();
        (0..count).flat_map(|word| lanes.clone().map(move |lane| of(word, lane))).collect()
    };
    let value = |argument: &naga::FunctionArgument| match argument.binding {
        Some(Binding::BuiltIn(BuiltIn::LocalInvocationIndex)) => Ok(each(1, &|_, lane| lane).into()),
        Some(Binding::BuiltIn(BuiltIn::LocalInvocationId)) => Ok(each(3, &|word, lane| within(lane)[word]).into()),
        Some(Binding::BuiltIn(BuiltIn::GlobalInvocationId)) => {
            Ok(each(3, &|word, lane| number[word] * size[word] + within(lane)[word]).into())
        }
        Some(Binding::BuiltIn(BuiltIn::WorkGroupId)) => Ok(each(3, &|word, _| number[word]).into()),
        Some(Binding::BuiltIn(BuiltIn::NumWorkGroups)) => Ok(each(3, &|word, _| grid[word]).into()),
        ref other => Err(format!("an argument that is {other:?}")),
    };
    entry.function.arguments.iter().map(value).collect()
}

pub struct Machine<'a> {
    kernel: &'a Kernel,
    pub lanes: usize,
    pub buffers: &'a mut Buffers,
    /// The words of the module's variables: of private memory for each invocation, of storage buffers none.
    variables: Vec<Vec<u32>>,
    /// The module's constant expressions.
    pub constants: Vec<Rc<Vec<u32>>>,
    pub frames: Vec<Frame<'a>>,
}

/// A running function.
pub struct Frame<'a> {
    pub function: &'a Function,
    pub info: &'a FunctionInfo,
    pub arguments: Vec<Value>,
    pub values: Vec<Option<Value>>,
    locals: Vec<Vec<u32>>,
    result: Option<Vec<u32>>,
}

/// The invocations that left a block by `break` and `continue`.
#[derive(Default)]
struct Flow {
    broke: Mask,
    continued: Mask,
}

impl<'a> Machine<'a> {
    pub fn module(&self) -> &'a Module {
        &self.kernel.module
    }

    pub fn frame(&mut self) -> &mut Frame<'a> {
        self.frames.last_mut().expect("code runs in a function")
    }

    /// The type of an expression of the running function.
    pub fn inner(&self, expression: Handle<Expression>) -> &'a TypeInner {
        let resolution: &'a TypeResolution = &self.frames.last().expect("code runs in a function").info[expression].ty;
        resolution.inner_with(&self.module().types)
    }

    fn call(
        &mut self,
        function: &'a Function,
        info: &'a FunctionInfo,
        arguments: Vec<Value>,
        mask: Mask,
    ) -> Result<Option<Value>, String> {
        let values = vec![None; function.expressions.len()];
        self.frames.push(Frame { function, info, arguments, values, locals: Vec::new(), result: None });
        for (_, local) in function.local_variables.iter() {
            let types = &self.module().types;
            let first = match local.init {
                Some(init) => self.words(init)?.to_vec(),
                None => vec![0; words(types, &types[local.ty].inner)? as usize * self.lanes],
            };
            self.frame().locals.push(first);
        }
        self.block(&function.body, mask, &mut Flow::default())?;
        Ok(self.frames.pop().and_then(|frame| frame.result).map(Value::from))
    }

    /// Runs a block; gives the invocations that reach its end.
    fn block(&mut self, block: &'a Block, mut mask: Mask, flow: &mut Flow) -> Result<Mask, String> {
        for statement in block.iter() {
            if !mask.any() {
                break;
            }
            mask = self.statement(statement, mask, flow)?;
        }
        Ok(mask)
    }

    fn statement(&mut self, statement: &'a Statement, mask: Mask, flow: &mut Flow) -> Result<Mask, String> {
        match statement {
            Statement::Emit(range) => {
                for expression in range.clone() {
                    let value = self.evaluate(expression, mask)?;
                    self.frame().values[expression.index()] = Some(value);
                }
            }
            Statement::Block(block) => return self.block(block, mask, flow),
            Statement::If { condition, accept, reject } => {
                let holds = self.holds(*condition)?;
                return Ok(self.block(accept, mask & holds, flow)? | self.block(reject, mask & !holds, flow)?);
            }
            Statement::Switch { selector, cases } => return self.switch(*selector, cases, mask, flow),
            Statement::Loop { body, continuing, break_if } => return self.repeat([body, continuing], *break_if, mask),
            Statement::Break => {
                flow.broke = flow.broke | mask;
                return Ok(Mask::NONE);
            }
            Statement::Continue => {
                flow.continued = flow.continued | mask;
                return Ok(Mask::NONE);
            }
            Statement::Return { value } => {
                if let Some(value) = value {
                    let (value, lanes) = (self.words(*value)?, self.lanes);
                    let result = self.frame().result.get_or_insert_with(|| vec![0; value.len()]);
                    for (to, from) in result.chunks_mut(lanes).zip(value.chunks(lanes)) {
                        mask.lanes().for_each(|lane| to[lane] = from[lane]);
                    }
                }
                return Ok(Mask::NONE);
            }
            Statement::ControlBarrier(_) | Statement::MemoryBarrier(_) => {}
            Statement::WorkGroupUniformLoad { pointer, result } => {
                let value = self.load(*pointer, mask)?;
                self.frame().values[result.index()] = Some(value.into());
            }
            Statement::Store { pointer, value } => self.store(*pointer, *value, mask)?,
            Statement::Atomic { pointer, fun, value, result } => {
                let before = self.atomic(*pointer, fun, *value, mask)?;
                if let Some(result) = result {
                    self.frame().values[result.index()] = Some(before.into());
                }
            }
            Statement::Call { function, arguments, result } => {
                let called = &self.module().functions[*function];
                let arguments = arguments.iter().map(|&it| self.value(it)).collect::<Result<_, _>>()?;
                let value = self.call(called, &self.kernel.info[*function], arguments, mask)?;
                if let Some(result) = result {
                    // Where every invocation that calls has ended, there is no value, and none is asked for.
                    self.frame().values[result.index()] = value;
                }
            }
            other => return Err(format!("{other:?}")),
        }
        Ok(mask)
    }

    /// The invocations in which a condition holds, those that do not run among them.
    fn holds(&mut self, condition: Handle<Expression>) -> Result<Mask, String> {
        let holds = self.words(condition)?;
        Ok(Mask::of(self.lanes, |lane| holds[lane] != 0))
    }

    fn switch(
        &mut self,
        selector: Handle<Expression>,
        cases: &'a [SwitchCase],
        mask: Mask,
        flow: &mut Flow,
    ) -> Result<Mask, String> {
        let chosen = self.words(selector)?;
        let is = |value: &SwitchValue, lane: usize| match *value {
            SwitchValue::I32(value) => chosen[lane] == value as u32,
            SwitchValue::U32(value) => chosen[lane] == value,
            SwitchValue::Default => false,
        };
        let named = |lane: usize| cases.iter().any(|case| is(&case.value, lane));
        let mut own = Flow::default();
        let (mut through, mut ended) = (Mask::NONE, Mask::NONE);
        for case in cases {
            let default = case.value == SwitchValue::Default;
            let enters = Mask::of(self.lanes, |lane| is(&case.value, lane) || default && !named(lane)) & mask;
            let left = self.block(&case.body, enters | through, &mut own)?;
            (through, ended) = if case.fall_through { (left, ended) } else { (Mask::NONE, ended | left) };
        }
        flow.continued = flow.continued | own.continued;
        Ok(ended | through | own.broke)
    }

    fn repeat(
        &mut self,
        [body, continuing]: [&'a Block; 2],
        break_if: Option<Handle<Expression>>,
        mask: Mask,
    ) -> Result<Mask, String> {
        let (mut active, mut left) = (mask, Mask::NONE);
        while active.any() {
            let mut flow = Flow::default();
            let through = self.block(body, active, &mut flow)? | flow.continued;
            left = left | flow.broke;
            active = self.block(continuing, through, &mut Flow::default())?;
            if let (Some(condition), true) = (break_if, active.any()) {
                let ends = self.holds(condition)?;
                left = left | (active & ends);
                active = active & !ends;
            }
        }
        Ok(left)
    }

    /// The words of a variable; then how many of them lie between a word and the next one of the same invocation, and
    /// between that of an invocation and of the next one.
    fn memory(&mut self, root: Root) -> (&mut [u32], [usize; 2]) {
        match root {
            Root::Local(frame, local) => (&mut self.frames[frame].locals[local.index()], [self.lanes, 1]),
            Root::Private(variable) => (&mut self.variables[variable.index()], [self.lanes, 1]),
            Root::Workgroup(variable) | Root::Uniform(variable) => (&mut self.variables[variable.index()], [1, 0]),
            Root::Storage(binding) => (self.buffers.bound(binding), [1, 0]),
        }
    }

    /// A pointer, and the words that it points to, from its own offset.
    fn target(&mut self, pointer: Handle<Expression>) -> Result<(Rc<Pointer>, Vec<u32>), String> {
        let at = self.pointer(pointer)?;
        let base = self.inner(pointer).pointer_base_type().ok_or("no pointer")?;
        let (layout, mut offsets) = (self.layout(at.root), Vec::new());
        layout.offsets(base.inner_with(layout.types), 0, &mut offsets)?;
        Ok((at, offsets))
    }

    pub fn layout(&self, root: Root) -> Layout<'a> {
        let in_buffer = matches!(root, Root::Uniform(_) | Root::Storage(_));
        Layout { types: &self.module().types, in_buffer }
    }

    pub fn load(&mut self, pointer: Handle<Expression>, mask: Mask) -> Result<Vec<u32>, String> {
        let (at, offsets) = self.target(pointer)?;
        let lanes = self.lanes;
        let mut loaded = vec![0; offsets.len() * lanes];
        let (memory, [apart, of_lane]) = self.memory(at.root);
        for (loaded, offset) in loaded.chunks_mut(lanes).zip(offsets) {
            for lane in mask.lanes() {
                let from = at.offsets[lane].saturating_add(offset) as usize * apart + lane * of_lane;
                loaded[lane] = memory.get(from).copied().unwrap_or(0);
            }
        }
        Ok(loaded)
    }

    fn store(&mut self, pointer: Handle<Expression>, value: Handle<Expression>, mask: Mask) -> Result<(), String> {
        let (value, lanes) = (self.words(value)?, self.lanes);
        let (at, offsets) = self.target(pointer)?;
        let (memory, [apart, of_lane]) = self.memory(at.root);
        for (value, offset) in value.chunks(lanes).zip(offsets) {
            for lane in mask.lanes() {
                let to = at.offsets[lane].saturating_add(offset) as usize * apart + lane * of_lane;
                *memory.get_mut(to).ok_or_else(|| outside(&at, lane))? = value[lane];
            }
        }
        Ok(())
    }

    /// What was in memory before each invocation, one after the other.
    fn atomic(
        &mut self,
        pointer: Handle<Expression>,
        fun: &naga::AtomicFunction,
        value: Handle<Expression>,
        mask: Mask,
    ) -> Result<Vec<u32>, String> {
        let operation = operations::atomic(*fun, self.kind(value)?)?;
        let (at, value) = (self.pointer(pointer)?, self.words(value)?);
        let mut before = vec![0; self.lanes];
        let (memory, [apart, of_lane]) = self.memory(at.root);
        for lane in mask.lanes() {
            let word = memory.get_mut(at.offsets[lane] as usize * apart + lane * of_lane);
            let word = word.ok_or_else(|| outside(&at, lane))?;
            before[lane] = *word;
            *word = operation(*word, value[lane]);
        }
        Ok(before)
    }
}

fn outside(at: &Pointer, lane: usize) -> String {
    format!("a store to word {} of {:?}, which ends before", at.offsets[lane], at.root)
}
