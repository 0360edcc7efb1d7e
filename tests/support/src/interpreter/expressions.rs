//! Expressions, for all invocations of a workgroup.

use std::rc::Rc;

use naga::{AddressSpace, Expression, Handle, Literal, RelationalFunction, ScalarKind, TypeInner};

use super::machine::Machine;
use super::mask::Mask;
use super::memory::{Layout, Pointer, Root, Value, words};
use super::operations;

impl Machine<'_> {
    /// A value that was computed before, or that needs no computing.
    pub fn value(&mut self, expression: Handle<Expression>) -> Result<Value, String> {
        if let Some(value) = &self.frame().values[expression.index()] {
            return Ok(value.clone());
        }
        let value = self.evaluate(expression, Mask::NONE)?;
        self.frame().values[expression.index()] = Some(value.clone());
        Ok(value)
    }

    pub fn words(&mut self, expression: Handle<Expression>) -> Result<Rc<Vec<u32>>, String> {
        match self.value(expression)? {
            Value::Words(words) => Ok(words),
            Value::Pointer(_) => Err("a pointer where a value is wanted".to_owned()),
        }
    }

    pub fn pointer(&mut self, expression: Handle<Expression>) -> Result<Rc<Pointer>, String> {
        match self.value(expression)? {
            Value::Pointer(pointer) => Ok(pointer),
            Value::Words(_) => Err("a value where a pointer is wanted".to_owned()),
        }
    }

    /// An expression of the module, which is constant.
    pub fn constant(&mut self, expression: &Expression) -> Result<Rc<Vec<u32>>, String> {
        let (module, lanes) = (self.module(), self.lanes);
        let words = match expression {
            Expression::Literal(literal) => vec![literal_word(*literal)?; lanes],
            Expression::Constant(constant) => {
                return Ok(self.constants[module.constants[*constant].init.index()].clone());
            }
            Expression::ZeroValue(ty) => vec![0; words(&module.types, &module.types[*ty].inner)? as usize * lanes],
            Expression::Compose { components, .. } => {
                components.iter().flat_map(|component| self.constants[component.index()].to_vec()).collect()
            }
            Expression::Splat { size, value } => self.constants[value.index()].repeat(*size as usize),
            other => return Err(format!("{other:?}")),
        };
        Ok(Rc::new(words))
    }

    pub fn evaluate(&mut self, handle: Handle<Expression>, mask: Mask) -> Result<Value, String> {
        let lanes = self.lanes;
        let zero = |root| Ok(Value::Pointer(Rc::new(Pointer { root, offsets: vec![0; lanes] })));
        let function = self.frame().function;
        let words = match &function.expressions[handle] {
            constant @ (Expression::Literal(_) | Expression::Constant(_) | Expression::ZeroValue(_)) => {
                return Ok(Value::Words(self.constant(constant)?));
            }
            Expression::FunctionArgument(number) => return Ok(self.frame().arguments[*number as usize].clone()),
            Expression::GlobalVariable(variable) => {
                let global = &self.module().global_variables[*variable];
                return zero(match global.space {
                    AddressSpace::Uniform => Root::Uniform(*variable),
                    AddressSpace::Storage { .. } => Root::Storage(global.binding.map_or(0, |it| it.binding)),
                    AddressSpace::WorkGroup => Root::Workgroup(*variable),
                    AddressSpace::Private => Root::Private(*variable),
                    other => return Err(format!("{other:?}")),
                });
            }
            Expression::LocalVariable(variable) => return zero(Root::Local(self.frames.len() - 1, *variable)),
            Expression::Access { base, index } => {
                let index = self.words(*index)?;
                return self.part(*base, &|lane| index[lane]);
            }
            Expression::AccessIndex { base, index } => return self.part(*base, &|_| *index),
            Expression::Load { pointer } => self.load(*pointer, mask)?,
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
                let pattern = pattern[..*size as usize].iter();
                pattern.flat_map(|&component| &vector[component as usize * lanes..][..lanes]).copied().collect()
            }
            Expression::ArrayLength(array) => {
                let (pointer, base) = (self.pointer(*array)?, self.inner(*array).pointer_base_type());
                let inner = base.as_ref().map(|base| base.inner_with(&self.module().types));
                let (Root::Storage(binding), Some(TypeInner::Array { stride, .. })) = (pointer.root, inner) else {
                    return Err("the length of no array in a buffer".to_owned());
                };
                vec![self.buffers.bound(binding).len() as u32 * 4 / stride; lanes]
            }
            other => self.computed(other)?,
        };
        Ok(words.into())
    }

    /// An expression that is computed word by word.
    fn computed(&mut self, expression: &Expression) -> Result<Vec<u32>, String> {
        let lanes = self.lanes;
        // Of a vector and a scalar, the scalar is taken again for each word.
        let at = |words: &[u32], at: usize| words[if words.len() == lanes { at % lanes } else { at }];
        match expression {
            Expression::Unary { op, expr } => {
                let operation = operations::unary(*op, self.kind(*expr)?);
                Ok(self.words(*expr)?.iter().map(|&word| operation(word)).collect())
            }
            Expression::Binary { op, left, right } => {
                let operation = operations::binary(*op, self.kind(*left)?)?;
                let (left, right) = (self.words(*left)?, self.words(*right)?);
                let count = left.len().max(right.len());
                Ok((0..count).map(|it| operation(at(&left, it), at(&right, it))).collect())
            }
            Expression::Select { condition, accept, reject } => {
                let (condition, accept) = (self.words(*condition)?, self.words(*accept)?);
                let reject = self.words(*reject)?;
                let of = |it: usize| if at(&condition, it) != 0 { accept[it] } else { reject[it] };
                Ok((0..accept.len()).map(of).collect())
            }
            Expression::Relational { fun, argument } => {
                let argument = self.words(*argument)?;
                let of_lane = |lane: usize| argument.iter().skip(lane).step_by(lanes).map(|&word| word != 0);
                match fun {
                    RelationalFunction::All => Ok((0..lanes).map(|it| of_lane(it).all(|is| is).into()).collect()),
                    RelationalFunction::Any => Ok((0..lanes).map(|it| of_lane(it).any(|is| is).into()).collect()),
                    other => Err(format!("{other:?}")),
                }
            }
            Expression::Math { fun, arg, arg1, arg2, .. } => {
                let operation = operations::math(*fun, self.kind(*arg)?)?;
                let first = self.words(*arg)?;
                // Those that a function lacks are not looked at.
                let second = self.words(arg1.unwrap_or(*arg))?;
                let third = self.words(arg2.unwrap_or(*arg))?;
                Ok((0..first.len()).map(|it| operation(first[it], second[it], third[it])).collect())
            }
            Expression::As { expr, convert: None, .. } => Ok(self.words(*expr)?.to_vec()),
            Expression::As { expr, kind: to, convert: Some(_) } => {
                let operation = operations::convert(self.kind(*expr)?, *to)?;
                Ok(self.words(*expr)?.iter().map(|&word| operation(word)).collect())
            }
            other => Err(format!("{other:?}")),
        }
    }

    /// The kind of a value's scalars.
    pub fn kind(&self, expression: Handle<Expression>) -> Result<ScalarKind, String> {
        let inner = self.inner(expression);
        inner.scalar_kind().ok_or_else(|| format!("a scalar of {inner:?}"))
    }

    /// An element or a member of a value, or a pointer to it.
    fn part(&mut self, base: Handle<Expression>, index: &dyn Fn(usize) -> u32) -> Result<Value, String> {
        let (inner, lanes) = (self.inner(base), self.lanes);
        match self.value(base)? {
            Value::Pointer(pointer) => {
                let (layout, base) = (self.layout(pointer.root), inner.pointer_base_type().ok_or("no pointer")?);
                let base = base.inner_with(layout.types);
                let offset = |lane: usize| Ok(pointer.offsets[lane].saturating_add(layout.part(base, index(lane))?));
                let offsets = (0..lanes).map(offset).collect::<Result<_, String>>()?;
                Ok(Value::Pointer(Rc::new(Pointer { root: pointer.root, offsets })))
            }
            Value::Words(all) => {
                let layout = Layout { types: &self.module().types, in_buffer: false };
                let of_part = inner.component_type(index(0) as usize).ok_or("a part of no value")?;
                let size = words(layout.types, of_part.inner_with(layout.types))? as usize;
                let mut part = vec![0; size * lanes];
                for lane in 0..lanes {
                    let first = layout.part(inner, index(lane))? as usize;
                    for word in 0..size {
                        part[word * lanes + lane] = all[(first + word) * lanes + lane];
                    }
                }
                Ok(part.into())
            }
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
