//! A workgroup, statement by statement.

use std::collections::HashMap;
use std::rc::Rc;

use naga::proc::TypeResolution;
use naga::valid::FunctionInfo;
use naga::{
    AddressSpace, Binding, Block, BuiltIn, Expression, Function, GlobalVariable, Handle, Literal, Module, Statement,
    SwitchValue, TypeInner,
};

use super::mask::{MOST, Mask};
use super::memory::{Buffers, Pointee, Pointer, Root, Value, kind, words};
use super::numbers::Numbers;
use super::operations;
use super::seen::{Access, Seen};
use crate::spirv::Source;

/// Runs workgroup `number` of a grid, with the words of the uniform, and adds what is seen, if somebody looks. A store
/// outside of a buffer is an error: not every device leaves it out.
pub fn workgroup(
    source: &Source,
    numbers: &Numbers,
    [number, grid]: [[u32; 3]; 2],
    uniform: &[u32],
    buffers: &mut dyn Buffers,
    seen: Option<&mut Seen>,
) -> Result<(), String> {
    let lanes = source.workgroup as usize;
    if lanes > MOST {
        return Err(format!("a workgroup of {lanes}: at most {MOST} can be run"));
    }
    let module = &source.module;
    let at = module.entry_points.iter().position(|entry| entry.name == "main").ok_or("no entry point named main")?;
    let (entry, info) = (&module.entry_points[at], source.info.get_entry_point(at));
    let mut machine = Machine {
        source,
        numbers,
        lanes,
        uniform,
        buffers,
        seen,
        workgroup: HashMap::new(),
        private: HashMap::new(),
        frames: Vec::new(),
        globals: Vec::new(),
    };
    for (_, expression) in module.global_expressions.iter() {
        let value = machine.global(expression)?;
        machine.globals.push(value);
    }
    for (handle, variable) in module.global_variables.iter() {
        let inner = &module.types[variable.ty].inner;
        match variable.space {
            AddressSpace::WorkGroup => {
                machine.workgroup.insert(handle, vec![0; words(module, inner)?]);
            }
            AddressSpace::Private => {
                let first = match variable.init {
                    Some(init) => machine.globals[init.index()].to_vec(),
                    None => vec![0; words(module, inner)? * lanes],
                };
                machine.private.insert(handle, first);
            }
            _ => {}
        }
    }
    let size = entry.workgroup_size;
    let within = |lane: u32| [lane % size[0], lane / size[0] % size[1], lane / size[0] / size[1]];
    let each = |of: &dyn Fn(usize, u32) -> u32, count: usize| -> Vec<u32> {
        (0..count)
            .flat_map(|word| (0..lanes as u32).map(move |lane| (word, lane)))
            .map(|(word, lane)| of(word, lane))
            .collect()
    };
    let mut arguments = Vec::new();
    for argument in &entry.function.arguments {
        let Some(Binding::BuiltIn(builtin)) = argument.binding else { return Err("an argument of main".to_owned()) };
        arguments.push(Value::from(match builtin {
            BuiltIn::LocalInvocationIndex => each(&|_, lane| lane, 1),
            BuiltIn::LocalInvocationId => each(&|word, lane| within(lane)[word], 3),
            BuiltIn::GlobalInvocationId => each(&|word, lane| number[word] * size[word] + within(lane)[word], 3),
            BuiltIn::WorkGroupId => each(&|word, _| number[word], 3),
            BuiltIn::NumWorkGroups => each(&|word, _| grid[word], 3),
            other => return Err(format!("{other:?}")),
        }));
    }
    machine.call(&entry.function, info, arguments, Mask::of(lanes, |_| true))?;
    if let Some(seen) = machine.seen {
        seen.workgroups += 1;
    }
    Ok(())
}

struct Machine<'a> {
    source: &'a Source,
    numbers: &'a Numbers,
    lanes: usize,
    uniform: &'a [u32],
    buffers: &'a mut dyn Buffers,
    seen: Option<&'a mut Seen>,
    /// The words of workgroup memory, and for each invocation those of private memory.
    workgroup: HashMap<Handle<GlobalVariable>, Vec<u32>>,
    private: HashMap<Handle<GlobalVariable>, Vec<u32>>,
    frames: Vec<Frame<'a>>,
    globals: Vec<Rc<Vec<u32>>>,
}

struct Frame<'a> {
    function: &'a Function,
    info: &'a FunctionInfo,
    arguments: Vec<Value>,
    values: Vec<Option<Value>>,
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
    fn module(&self) -> &'a Module {
        &self.source.module
    }

    /// Adds an access to what is seen.
    fn see(&mut self, place: usize, access: Access, span: naga::Span, mask: Mask, addresses: &[u32]) {
        let line = if self.seen.is_some() { self.line(span) } else { 0 };
        if let Some(seen) = self.seen.as_deref_mut() {
            seen.access(place, Access { line, ..access }, mask, addresses);
        }
    }

    fn line(&self, span: naga::Span) -> u32 {
        if span.is_defined() { span.location(&self.source.text).line_number } else { 0 }
    }

    fn frame(&mut self) -> &mut Frame<'a> {
        self.frames.last_mut().expect("code runs in a function")
    }

    /// The type of an expression of the running function.
    fn inner(&self, expression: Handle<Expression>) -> &'a TypeInner {
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
            let first = match local.init {
                Some(init) => self.words(init)?.to_vec(),
                None => vec![0; words(self.module(), &self.module().types[local.ty].inner)? * self.lanes],
            };
            self.frame().locals.push(first);
        }
        self.block(&function.body, mask, &mut Flow::default())?;
        Ok(self.frames.pop().and_then(|frame| frame.result).map(Value::from))
    }

    /// Runs a block; gives the invocations that reach its end.
    fn block(&mut self, block: &'a Block, mut mask: Mask, flow: &mut Flow) -> Result<Mask, String> {
        for (statement, span) in block.span_iter() {
            if !mask.any() {
                break;
            }
            match statement {
                Statement::Emit(range) => {
                    for expression in range.clone() {
                        let value = self.evaluate(expression, mask)?;
                        self.frame().values[expression.index()] = Some(value);
                    }
                }
                Statement::Block(block) => mask = self.block(block, mask, flow)?,
                Statement::If { condition, accept, reject } => {
                    let holds = self.words(*condition)?;
                    let holds = Mask::of(self.lanes, |lane| holds[lane] != 0);
                    let sides = [mask & holds, mask & !holds];
                    let name = self.numbers.branches.get(&std::ptr::from_ref(statement));
                    if let (Some(name), Some(seen)) = (name, self.seen.as_deref_mut()) {
                        let taken = seen.sides.entry(name.clone()).or_default();
                        *taken = [taken[0] | sides[0].any(), taken[1] | sides[1].any()];
                    }
                    mask = self.block(accept, sides[0], flow)? | self.block(reject, sides[1], flow)?;
                }
                Statement::Switch { selector, cases } => mask = self.switch(*selector, cases, mask, flow)?,
                Statement::Loop { body, continuing, break_if } => {
                    mask = self.repeat(statement, [body, continuing], *break_if, mask)?;
                }
                Statement::Break => {
                    flow.broke = flow.broke | mask;
                    mask = Mask::NONE;
                }
                Statement::Continue => {
                    flow.continued = flow.continued | mask;
                    mask = Mask::NONE;
                }
                Statement::Return { value } => {
                    if let Some(value) = value {
                        let value = self.words(*value)?;
                        let lanes = self.lanes;
                        let result = self.frame().result.get_or_insert_with(|| vec![0; value.len()]);
                        blend(result, &value, lanes, mask);
                    }
                    mask = Mask::NONE;
                }
                Statement::ControlBarrier(_) | Statement::MemoryBarrier(_) => {}
                Statement::WorkGroupUniformLoad { pointer, result } => {
                    let value = self.load(*pointer, mask, std::ptr::from_ref(statement) as usize, *span)?;
                    self.frame().values[result.index()] = Some(value.into());
                }
                Statement::Store { pointer, value } => {
                    let place = std::ptr::from_ref(statement) as usize;
                    let value = self.words(*value)?;
                    self.store(*pointer, &value, mask, place, *span)?;
                }
                Statement::Atomic { pointer, fun, value, result } => {
                    let at = self.pointer(*pointer)?;
                    let kind = kind(self.inner(*value))?;
                    let value = self.words(*value)?;
                    if let Root::Storage(binding) = at.root {
                        let access = Access { binding, writes: true, atomic: true, width: 4, ..Access::default() };
                        self.see(std::ptr::from_ref(statement) as usize, access, *span, mask, &at.offsets);
                    }
                    let mut before = vec![0; self.lanes];
                    for lane in mask.lanes() {
                        before[lane] = self.word(at.root, at.offsets[lane], lane);
                        let word = operations::atomic(*fun, kind, before[lane], value[lane])?;
                        self.set_word(at.root, at.offsets[lane], lane, word)?;
                    }
                    if let Some(result) = result {
                        self.frame().values[result.index()] = Some(before.into());
                    }
                }
                Statement::Call { function, arguments, result } => {
                    let called = &self.module().functions[*function];
                    let arguments = arguments.iter().map(|&it| self.value(it)).collect::<Result<_, _>>()?;
                    let value = self.call(called, &self.source.info[*function], arguments, mask)?;
                    if let Some(result) = result {
                        // Where every invocation that calls has ended, there is no value, and none is asked for.
                        self.frame().values[result.index()] = value;
                    }
                }
                other => return Err(format!("{other:?}")),
            }
        }
        Ok(mask)
    }

    fn switch(
        &mut self,
        selector: Handle<Expression>,
        cases: &'a [naga::SwitchCase],
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
        let mut through = Mask::NONE;
        let mut ended = Mask::NONE;
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
        statement: &'a Statement,
        [body, continuing]: [&'a Block; 2],
        break_if: Option<Handle<Expression>>,
        mask: Mask,
    ) -> Result<Mask, String> {
        let name = self.numbers.loops.get(&std::ptr::from_ref(statement)).cloned().ok_or("a loop without a number")?;
        let (mut active, mut left) = (mask, Mask::NONE);
        if let Some(seen) = self.seen.as_deref_mut() {
            seen.loops.entry(name.clone()).or_default().reached += mask.waves();
        }
        while active.any() {
            let mut flow = Flow::default();
            let through = self.block(body, active, &mut flow)? | flow.continued;
            left = left | flow.broke;
            active = self.block(continuing, through, &mut Flow::default())?;
            if let (Some(condition), true) = (break_if, active.any()) {
                let ends = self.words(condition)?;
                let ends = Mask::of(self.lanes, |lane| ends[lane] != 0);
                left = left | (active & ends);
                active = active & !ends;
            }
            if let Some(seen) = self.seen.as_deref_mut() {
                seen.loops.entry(name.clone()).or_default().trips += active.waves();
            }
        }
        Ok(left)
    }

    /// A value that was computed before, or that needs no computing.
    fn value(&mut self, expression: Handle<Expression>) -> Result<Value, String> {
        match &self.frame().values[expression.index()] {
            Some(value) => Ok(value.clone()),
            None => {
                let value = self.evaluate(expression, Mask::NONE)?;
                self.frame().values[expression.index()] = Some(value.clone());
                Ok(value)
            }
        }
    }

    fn words(&mut self, expression: Handle<Expression>) -> Result<Rc<Vec<u32>>, String> {
        match self.value(expression)? {
            Value::Words(words) => Ok(words),
            Value::Pointer(_) => Err("a pointer where a value is wanted".to_owned()),
        }
    }

    fn pointer(&mut self, expression: Handle<Expression>) -> Result<Rc<Pointer>, String> {
        match self.value(expression)? {
            Value::Pointer(pointer) => Ok(pointer),
            Value::Words(_) => Err("a value where a pointer is wanted".to_owned()),
        }
    }

    /// A constant expression of the module.
    fn global(&mut self, expression: &Expression) -> Result<Rc<Vec<u32>>, String> {
        let words = match expression {
            Expression::Literal(literal) => vec![literal_word(*literal)?; self.lanes],
            Expression::Constant(constant) => {
                return Ok(self.globals[self.module().constants[*constant].init.index()].clone());
            }
            Expression::ZeroValue(ty) => vec![0; words(self.module(), &self.module().types[*ty].inner)? * self.lanes],
            Expression::Compose { components, .. } => {
                components.iter().flat_map(|component| self.globals[component.index()].to_vec()).collect()
            }
            Expression::Splat { size, value } => self.globals[value.index()].repeat(*size as usize),
            other => return Err(format!("{other:?}")),
        };
        Ok(Rc::new(words))
    }

    fn evaluate(&mut self, handle: Handle<Expression>, mask: Mask) -> Result<Value, String> {
        let lanes = self.lanes;
        let function = self.frame().function;
        let words = match &function.expressions[handle] {
            Expression::Literal(_) | Expression::Constant(_) | Expression::ZeroValue(_) => {
                return Ok(Value::Words(self.global(&function.expressions[handle])?));
            }
            Expression::Compose { components, .. } => {
                let mut all = Vec::new();
                for &component in components {
                    all.extend_from_slice(&self.words(component)?);
                }
                all
            }
            Expression::Splat { size, value } => self.words(*value)?.repeat(*size as usize),
            Expression::Swizzle { size, vector, pattern } => {
                let vector = self.words(*vector)?;
                let of = |&component: &naga::SwizzleComponent| &vector[component as usize * lanes..][..lanes];
                pattern[..*size as usize].iter().flat_map(of).copied().collect()
            }
            Expression::FunctionArgument(number) => return Ok(self.frame().arguments[*number as usize].clone()),
            Expression::GlobalVariable(variable) => {
                let global = &self.module().global_variables[*variable];
                let number = global.binding.map_or(0, |binding| binding.binding);
                let root = match global.space {
                    AddressSpace::Uniform => Root::Uniform(number),
                    AddressSpace::Storage { .. } => Root::Storage(number),
                    AddressSpace::WorkGroup => Root::Workgroup(*variable),
                    AddressSpace::Private => Root::Private(*variable),
                    other => return Err(format!("{other:?}")),
                };
                return Ok(Value::Pointer(Rc::new(Pointer { root, offsets: vec![0; lanes] })));
            }
            Expression::LocalVariable(variable) => {
                let root = Root::Local(self.frames.len() - 1, *variable);
                return Ok(Value::Pointer(Rc::new(Pointer { root, offsets: vec![0; lanes] })));
            }
            Expression::Access { base, index } => {
                let index = self.words(*index)?;
                return self.part(*base, &|lane| index[lane]);
            }
            Expression::AccessIndex { base, index } => return self.part(*base, &|_| *index),
            Expression::Load { pointer } => {
                let place = std::ptr::from_ref(&function.expressions[handle]) as usize;
                self.load(*pointer, mask, place, function.expressions.get_span(handle))?
            }
            Expression::Unary { op, expr } => {
                let kind = kind(self.inner(*expr))?;
                let words = self.words(*expr)?;
                words.iter().map(|&word| operations::unary(*op, kind, word)).collect::<Result<_, _>>()?
            }
            Expression::Binary { op, left, right } => {
                let kind = kind(self.inner(*left))?;
                let (left, right) = (self.words(*left)?, self.words(*right)?);
                // Of a vector and a scalar, the scalar is taken again for each word.
                let count = left.len().max(right.len());
                let at = |words: &[u32], at: usize| words[if words.len() == lanes { at % lanes } else { at }];
                let each = (0..count).map(|it| operations::binary(*op, kind, at(&left, it), at(&right, it)));
                each.collect::<Result<_, _>>()?
            }
            Expression::Select { condition, accept, reject } => {
                let (condition, accept) = (self.words(*condition)?, self.words(*accept)?);
                let reject = self.words(*reject)?;
                let of = |at: usize| if condition.len() == lanes { condition[at % lanes] } else { condition[at] };
                (0..accept.len()).map(|at| if of(at) != 0 { accept[at] } else { reject[at] }).collect()
            }
            Expression::Relational { fun, argument } => {
                let argument = self.words(*argument)?;
                let lane = |lane: usize| argument.iter().skip(lane).step_by(lanes).map(|&word| word != 0);
                let holds = |at: usize| match fun {
                    naga::RelationalFunction::All => Ok(lane(at).all(|it| it)),
                    naga::RelationalFunction::Any => Ok(lane(at).any(|it| it)),
                    other => Err(format!("{other:?}")),
                };
                (0..lanes).map(|at| holds(at).map(u32::from)).collect::<Result<_, _>>()?
            }
            Expression::Math { fun, arg, arg1, arg2, .. } => {
                let kind = kind(self.inner(*arg))?;
                let first = self.words(*arg)?;
                let mut others = Vec::new();
                for argument in [arg1, arg2].into_iter().flatten() {
                    others.push(self.words(*argument)?);
                }
                let other = |number: usize, at: usize| others.get(number).map_or(0, |words| words[at]);
                let each =
                    (0..first.len()).map(|at| operations::math(*fun, kind, [first[at], other(0, at), other(1, at)]));
                each.collect::<Result<_, _>>()?
            }
            Expression::As { expr, kind: to, convert } => {
                let from = kind(self.inner(*expr))?;
                let words = self.words(*expr)?;
                let each = words.iter().map(|&word| operations::convert(from, *to, convert.is_none(), word));
                each.collect::<Result<_, _>>()?
            }
            Expression::ArrayLength(array) => {
                let pointer = self.pointer(*array)?;
                let Root::Storage(binding) = pointer.root else { return Err("the length of no buffer".to_owned()) };
                let Some(Pointee::Type(TypeInner::Array { stride, .. })) =
                    Pointee::of(self.module(), self.inner(*array))
                else {
                    return Err("the length of no array".to_owned());
                };
                vec![self.buffers.bytes(binding) / stride; lanes]
            }
            other => return Err(format!("{other:?}")),
        };
        Ok(words.into())
    }

    /// An element or a member of a value, or a pointer to it. Numbers beyond the end of something with a fixed length
    /// are clamped, as naga clamps them.
    fn part(&mut self, base: Handle<Expression>, index: &dyn Fn(usize) -> u32) -> Result<Value, String> {
        let module = self.module();
        let inner = self.inner(base);
        let clamped = |of: Pointee<'_>, in_buffer: bool, lane: usize| {
            let (_, count) = of.part(module, in_buffer, 0)?;
            let number = count.map_or(index(lane), |count| index(lane).min(count - 1));
            Ok::<u32, String>(of.part(module, in_buffer, number)?.0)
        };
        match self.value(base)? {
            Value::Pointer(pointer) => {
                let of = Pointee::of(module, inner).ok_or("a part of no pointer")?;
                let offset = |lane: usize| {
                    let offset = clamped(of, pointer.root.is_buffer(), lane)?;
                    Ok(pointer.offsets[lane].saturating_add(offset))
                };
                let offsets = (0..self.lanes).map(offset).collect::<Result<_, String>>()?;
                Ok(Value::Pointer(Rc::new(Pointer { root: pointer.root, offsets })))
            }
            Value::Words(all) => {
                let of = Pointee::Type(inner);
                let size = match inner {
                    TypeInner::Vector { .. } => 1,
                    TypeInner::Array { base, .. } => words(module, &module.types[*base].inner)?,
                    TypeInner::Struct { members, .. } => {
                        words(module, &module.types[members[index(0) as usize].ty].inner)?
                    }
                    other => return Err(format!("a part of {other:?}")),
                };
                let mut part = vec![0; size * self.lanes];
                for lane in 0..self.lanes {
                    let first = clamped(of, false, lane)? as usize;
                    for word in 0..size {
                        part[word * self.lanes + lane] = all[(first + word) * self.lanes + lane];
                    }
                }
                Ok(part.into())
            }
        }
    }

    /// The offsets of the words that a pointer points to, from its own.
    fn offsets(&self, pointer: Handle<Expression>, in_buffer: bool) -> Result<Vec<u32>, String> {
        let of = Pointee::of(self.module(), self.inner(pointer)).ok_or("no pointer")?;
        let mut offsets = Vec::new();
        if in_buffer {
            of.offsets(self.module(), 0, &mut offsets)?;
        } else {
            offsets.extend(0..of.words(self.module())? as u32);
        }
        Ok(offsets)
    }

    fn load(
        &mut self,
        pointer: Handle<Expression>,
        mask: Mask,
        place: usize,
        span: naga::Span,
    ) -> Result<Vec<u32>, String> {
        let at = self.pointer(pointer)?;
        let offsets = self.offsets(pointer, at.root.is_buffer())?;
        if let Root::Storage(binding) = at.root {
            let width = 4 * offsets.len() as u32;
            self.see(place, Access { binding, width, ..Access::default() }, span, mask, &at.offsets);
        }
        let mut loaded = vec![0; offsets.len() * self.lanes];
        for (word, offset) in offsets.into_iter().enumerate() {
            for lane in mask.lanes() {
                loaded[word * self.lanes + lane] = self.word(at.root, at.offsets[lane].saturating_add(offset), lane);
            }
        }
        Ok(loaded)
    }

    fn store(
        &mut self,
        pointer: Handle<Expression>,
        value: &[u32],
        mask: Mask,
        place: usize,
        span: naga::Span,
    ) -> Result<(), String> {
        let at = self.pointer(pointer)?;
        let offsets = self.offsets(pointer, at.root.is_buffer())?;
        if let Root::Storage(binding) = at.root {
            let width = 4 * offsets.len() as u32;
            let access = Access { binding, writes: true, width, ..Access::default() };
            self.see(place, access, span, mask, &at.offsets);
        }
        for (word, offset) in offsets.into_iter().enumerate() {
            for lane in mask.lanes() {
                let to = at.offsets[lane].saturating_add(offset);
                self.set_word(at.root, to, lane, value[word * self.lanes + lane])?;
            }
        }
        Ok(())
    }

    fn word(&mut self, root: Root, offset: u32, lane: usize) -> u32 {
        let at = offset as usize;
        let own = at.saturating_mul(self.lanes).saturating_add(lane);
        match root {
            Root::Local(frame, variable) => self.frames[frame].locals[variable.index()].get(own).copied().unwrap_or(0),
            Root::Private(variable) => self.private.get(&variable).and_then(|all| all.get(own)).copied().unwrap_or(0),
            Root::Workgroup(variable) => {
                self.workgroup.get(&variable).and_then(|all| all.get(at)).copied().unwrap_or(0)
            }
            Root::Uniform(_) => self.uniform.get(at / 4).copied().unwrap_or(0),
            Root::Storage(binding) if inside(self.buffers.bytes(binding), offset) => self.buffers.load(binding, offset),
            Root::Storage(_) => 0,
        }
    }

    fn set_word(&mut self, root: Root, offset: u32, lane: usize, word: u32) -> Result<(), String> {
        let at = offset as usize;
        let own = at.saturating_mul(self.lanes).saturating_add(lane);
        let to = match root {
            Root::Local(frame, variable) => self.frames[frame].locals[variable.index()].get_mut(own),
            Root::Private(variable) => self.private.get_mut(&variable).and_then(|all| all.get_mut(own)),
            Root::Workgroup(variable) => self.workgroup.get_mut(&variable).and_then(|all| all.get_mut(at)),
            Root::Uniform(_) => None,
            Root::Storage(binding) => {
                if !inside(self.buffers.bytes(binding), offset) {
                    return Err(format!("a store at byte {offset} of binding {binding}, which ends before"));
                }
                self.buffers.store(binding, offset, word);
                None
            }
        };
        if let Some(to) = to {
            *to = word;
        }
        Ok(())
    }
}

fn inside(bytes: u32, offset: u32) -> bool {
    offset.checked_add(4).is_some_and(|end| end <= bytes)
}

fn blend(to: &mut [u32], from: &[u32], lanes: usize, mask: Mask) {
    for (at, (to, from)) in to.iter_mut().zip(from).enumerate() {
        if mask.has(at % lanes) {
            *to = *from;
        }
    }
}

fn literal_word(literal: Literal) -> Result<u32, String> {
    match literal {
        Literal::U32(value) => Ok(value),
        Literal::I32(value) => Ok(value as u32),
        Literal::F32(value) => Ok(value.to_bits()),
        Literal::Bool(value) => Ok(u32::from(value)),
        other => Err(format!("{other:?}")),
    }
}
