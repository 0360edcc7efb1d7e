//! Values of many invocations, and where they lie in memory.

use std::rc::Rc;

use naga::{GlobalVariable, Handle, LocalVariable, Module, Scalar, ScalarKind, Type, TypeInner, VectorSize};

/// The storage buffers of a dispatch. Words that lie outside are zero and are not written, as on a device with robust
/// accesses.
pub trait Buffers {
    /// The bytes of a binding.
    fn bytes(&self, binding: u32) -> u32;
    /// The word at a byte, which is inside.
    fn load(&mut self, binding: u32, byte: u32) -> u32;
    /// Sets the word at a byte, which is inside.
    fn store(&mut self, binding: u32, byte: u32, word: u32);
}

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

/// A pointer in every invocation.
#[derive(Debug, Clone)]
pub struct Pointer {
    pub root: Root,
    /// Offsets from the root: in bytes in buffers, in words elsewhere.
    pub offsets: Vec<u32>,
}

/// A variable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Root {
    Local(usize, Handle<LocalVariable>),
    Private(Handle<GlobalVariable>),
    Workgroup(Handle<GlobalVariable>),
    Uniform(u32),
    Storage(u32),
}

impl Root {
    pub fn is_buffer(self) -> bool {
        matches!(self, Root::Uniform(_) | Root::Storage(_))
    }
}

/// What a pointer points to.
#[derive(Debug, Clone, Copy)]
pub enum Pointee<'a> {
    Type(&'a TypeInner),
    Part(Option<VectorSize>),
}

impl<'a> Pointee<'a> {
    pub fn of(module: &'a Module, pointer: &TypeInner) -> Option<Pointee<'a>> {
        match *pointer {
            TypeInner::Pointer { base, .. } => Some(Pointee::Type(&module.types[base].inner)),
            TypeInner::ValuePointer { size, .. } => Some(Pointee::Part(size)),
            _ => None,
        }
    }

    /// How many words it has.
    pub fn words(self, module: &Module) -> Result<usize, String> {
        match self {
            Pointee::Type(inner) => words(module, inner),
            Pointee::Part(size) => Ok(size.map_or(1, |size| size as usize)),
        }
    }

    /// The offset of an element or member from what it is part of, and how many of them there are, if that is fixed.
    pub fn part(self, module: &Module, in_buffer: bool, index: u32) -> Result<(u32, Option<u32>), String> {
        let unit = if in_buffer { 4 } else { 1 };
        let of = |number: u32, each: u32| number.saturating_mul(each);
        match self {
            Pointee::Part(Some(size)) | Pointee::Type(&TypeInner::Vector { size, .. }) => {
                Ok((of(index, unit), Some(size as u32)))
            }
            Pointee::Type(&TypeInner::Array { base, size, stride }) => {
                let each = if in_buffer { stride } else { words(module, &module.types[base].inner)? as u32 };
                let fixed = match size {
                    naga::ArraySize::Constant(size) => Some(size.get()),
                    _ => None,
                };
                Ok((of(index, each), fixed))
            }
            Pointee::Type(TypeInner::Struct { members, .. }) => {
                let member = members.get(index as usize).ok_or("a member that is not there")?;
                if in_buffer {
                    return Ok((member.offset, None));
                }
                let before = members[..index as usize].iter().map(|it| words(module, &module.types[it.ty].inner));
                Ok((before.sum::<Result<usize, String>>()? as u32, None))
            }
            other => Err(format!("a part of {other:?}")),
        }
    }

    /// Adds the offset of each word in a buffer.
    pub fn offsets(self, module: &Module, begin: u32, found: &mut Vec<u32>) -> Result<(), String> {
        let count = match self {
            Pointee::Type(TypeInner::Struct { members, .. }) => members.len() as u32,
            Pointee::Type(&TypeInner::Array { size: naga::ArraySize::Constant(size), .. }) => size.get(),
            _ => {
                found.extend((0..self.words(module)? as u32).map(|word| begin + 4 * word));
                return Ok(());
            }
        };
        for index in 0..count {
            let inner: Handle<Type> = match self {
                Pointee::Type(TypeInner::Struct { members, .. }) => members[index as usize].ty,
                Pointee::Type(&TypeInner::Array { base, .. }) => base,
                _ => continue,
            };
            let (offset, _) = self.part(module, true, index)?;
            Pointee::Type(&module.types[inner].inner).offsets(module, begin + offset, found)?;
        }
        Ok(())
    }
}

/// The words of a value of a type.
pub fn words(module: &Module, inner: &TypeInner) -> Result<usize, String> {
    match *inner {
        TypeInner::Scalar(_) | TypeInner::Atomic(_) => Ok(1),
        TypeInner::Vector { size, .. } => Ok(size as usize),
        TypeInner::Array { base, size: naga::ArraySize::Constant(size), .. } => {
            Ok(words(module, &module.types[base].inner)? * size.get() as usize)
        }
        TypeInner::Struct { ref members, .. } => {
            members.iter().map(|member| words(module, &module.types[member.ty].inner)).sum()
        }
        ref other => Err(format!("a value of {other:?}")),
    }
}

/// The kind of a value's scalars.
pub fn kind(inner: &TypeInner) -> Result<ScalarKind, String> {
    match *inner {
        TypeInner::Scalar(Scalar { kind, .. })
        | TypeInner::Vector { scalar: Scalar { kind, .. }, .. }
        | TypeInner::Atomic(Scalar { kind, .. }) => Ok(kind),
        ref other => Err(format!("a scalar of {other:?}")),
    }
}
