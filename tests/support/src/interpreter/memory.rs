//! Values of all invocations of a workgroup, and how they lie in memory.

use std::rc::Rc;

use naga::{ArraySize, GlobalVariable, Handle, LocalVariable, Type, TypeInner, UniqueArena};

/// A value in every invocation.
#[derive(Debug, Clone)]
pub enum Value {
    /// Word by word, each for all invocations. Bools are words of 0 and 1.
    Words(Rc<Vec<u32>>),
    Pointer(Rc<Pointer>),
}

impl From<Vec<u32>> for Value {
    fn from(words: Vec<u32>) -> Value {
        Value::Words(Rc::new(words))
    }
}

/// A pointer in every invocation: a variable, and for each invocation the words from the variable's begin.
#[derive(Debug, Clone)]
pub struct Pointer {
    pub root: Root,
    pub offsets: Vec<u32>,
}

/// A variable: of a running function, by its depth; of an invocation, of the workgroup, or a binding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Root {
    Local(usize, Handle<LocalVariable>),
    Private(Handle<GlobalVariable>),
    Workgroup(Handle<GlobalVariable>),
    Uniform(Handle<GlobalVariable>),
    Storage(u32),
}

/// How values lie in memory: in buffers as their types say, elsewhere without holes.
#[derive(Clone, Copy)]
pub struct Layout<'a> {
    pub types: &'a UniqueArena<Type>,
    pub in_buffer: bool,
}

impl Layout<'_> {
    /// The words before an element or a member of a value. Numbers beyond the end of something with a fixed length are
    /// clamped, as naga clamps them.
    pub fn part(self, inner: &TypeInner, index: u32) -> Result<u32, String> {
        match *inner {
            TypeInner::Vector { size, .. } => Ok(index.min(size as u32 - 1)),
            TypeInner::Array { base, size, stride } => {
                let each = if self.in_buffer { stride / 4 } else { words(self.types, &self.types[base].inner)? };
                let last = if let ArraySize::Constant(size) = size { size.get() - 1 } else { u32::MAX };
                Ok(index.min(last).saturating_mul(each))
            }
            TypeInner::Struct { ref members, .. } if self.in_buffer => Ok(members[index as usize].offset / 4),
            TypeInner::Struct { ref members, .. } => {
                members[..index as usize].iter().map(|member| words(self.types, &self.types[member.ty].inner)).sum()
            }
            ref other => Err(format!("a part of {other:?}")),
        }
    }

    /// Appends the offset of each word of a value that begins at `begin`.
    pub fn offsets(self, inner: &TypeInner, begin: u32, found: &mut Vec<u32>) -> Result<(), String> {
        let count = match inner {
            TypeInner::Struct { members, .. } => members.len() as u32,
            TypeInner::Array { size: ArraySize::Constant(size), .. } => size.get(),
            _ => {
                found.extend(begin..begin + words(self.types, inner)?);
                return Ok(());
            }
        };
        for index in 0..count {
            let part = inner.component_type(index as usize).ok_or("a value without parts")?;
            self.offsets(part.inner_with(self.types), begin + self.part(inner, index)?, found)?;
        }
        Ok(())
    }
}

/// The words of a value of a type.
pub fn words(types: &UniqueArena<Type>, inner: &TypeInner) -> Result<u32, String> {
    match *inner {
        TypeInner::Scalar(_) | TypeInner::Atomic(_) => Ok(1),
        TypeInner::Vector { size, .. } => Ok(size as u32),
        TypeInner::Array { base, size: ArraySize::Constant(size), .. } => {
            Ok(words(types, &types[base].inner)? * size.get())
        }
        TypeInner::Struct { ref members, .. } => {
            members.iter().map(|member| words(types, &types[member.ty].inner)).sum()
        }
        ref other => Err(format!("a value of {other:?}")),
    }
}
