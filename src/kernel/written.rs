//! The kernels whose bodies are still written out by src/wgsl/block.rs.

use super::{Binding, Sink, WindowConstants, binding};
use crate::attributes::NanPolicy;

/// What an invocation of a block kernel computes, and how it reads and writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Block {
    pub(crate) window: WindowConstants,
    /// Axes from the last one on; those before have one element.
    pub(crate) axes: usize,
    /// Neighbours along the last axis; where `flat`, neighbours in Y, of which each has a row of its own.
    pub(crate) outputs: u32,
    pub(crate) flat: bool,
    /// Neighbours inside the last axis: channels, for NHWC.
    pub(crate) lanes: u32,
    /// Whether there is anything inside the last axis.
    pub(crate) inner: bool,
    /// Whether blocks come out even with the last axis.
    pub(crate) exact: bool,
    /// Words of a load; 0 where elements are loaded one by one.
    pub(crate) load_words: u32,
    /// Words of a store to Y; 0 where elements are stored one by one.
    pub(crate) store_words: u32,
    /// Padding before the last axis, where loads are wider than an element.
    pub(crate) pad: u32,
    /// How an index is made of a position.
    pub(crate) index_map: IndexMap,
    /// Whether indices are written in the order of Y.
    pub(crate) same_place: bool,
}

/// How a block makes an index of a position in X.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum IndexMap {
    /// The index is the position, counted from the index of the first element.
    Position,
    /// Within a plane, or a batch item of NHWC, indices count as positions do.
    Offset,
    /// By the digits of the position.
    Digits,
}

impl Block {
    /// Outputs of one invocation.
    pub(crate) fn outputs(&self) -> u32 {
        self.outputs.saturating_mul(self.lanes)
    }

    /// Outputs that lie beside each other in Y and are written together.
    pub(crate) fn run(&self) -> u32 {
        match (self.inner && !self.flat, self.exact) {
            (true, _) => self.lanes,
            (false, true) => self.outputs,
            (false, false) => 1,
        }
    }
}

/// A body that is written out behind the parts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Written {
    Block(Block),
}

/// The bindings of a pool in one pass, whose windows are constants and never empty.
fn pool_bindings(sink: Sink, nan_policy: NanPolicy) -> Vec<Binding> {
    let of = |number, read_only| Binding { number, read_only };
    let mut bindings = vec![of(binding::X, true), of(binding::Y, false)];
    if let Sink::ValuesAndIndices(_) = sink {
        // Only a window without a winner needs the way from an output to its index.
        if nan_policy == NanPolicy::SeedLowest {
            bindings.push(of(binding::TABLES, true));
        }
        bindings.push(of(binding::INDICES_OUT, false));
    }
    bindings
}

impl Written {
    pub(crate) fn bindings(&self, sink: Sink) -> Vec<Binding> {
        let Written::Block(block) = self;
        pool_bindings(sink, block.window.nan_policy)
    }
}
