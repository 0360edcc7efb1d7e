//! What the buffers of a case hold when its kernels are emulated: numbers without NaN, windows' tables, indices as a
//! pool writes them or at random, zeros in scratch memory, and owners of random elements after random claims.

use std::collections::HashMap;

use wgpu_pooling::{BoundRange, Dispatch, IndexStrides, IndexType, Operand, element_count};

use crate::data::{STEP, finish};
use crate::emulate::Buffers;
use crate::rows::Case;

/// The bits that make a word, or each half of it, at most 2 as a float: no NaN and no infinity.
const FINITE: u32 = 0xbfff_bfff;

/// The words of an unpool's scratch memory before its owners (shaders/core/owners.wgsl).
const OWNERS_FROM: u64 = 4;

/// The buffers of a case, and which of them a dispatch binds.
pub struct Contents<'a> {
    case: &'a Case,
    tables: Vec<u32>,
    indices: Option<Indices<'a>>,
    bound: Vec<(u32, BoundRange, u32)>,
    /// Whether the dispatch follows the claims of random indices, of which few are emulated.
    claimed: bool,
    /// Words of scratch memory and of the report that were written, by operand and word.
    written: HashMap<(Operand, u64), u32>,
}

/// The indices of an unpool.
struct Indices<'a> {
    case: &'a Case,
    strides: IndexStrides,
    /// The words of an index.
    words: u64,
    /// N, C and the spatial extents of the indices.
    shape: Vec<u64>,
}

impl<'a> Contents<'a> {
    pub fn new(case: &'a Case) -> Result<Contents<'a>, String> {
        let tables = case.schedule.window_tables().map_err(|error| error.to_string())?;
        let plan = case.schedule.plan();
        let indices = match (plan.inputs().get(1), plan.index_space()) {
            (Some(tensor), Some(space)) => Some(Indices {
                case,
                strides: space.strides(),
                words: if case.indices == Some(IndexType::I32) { 1 } else { 2 },
                shape: tensor.shape.iter().map(|&extent| extent as u64).collect(),
            }),
            _ => None,
        };
        let (bound, written) = (Vec::new(), HashMap::new());
        let tables = bytemuck::pod_collect_to_vec(&tables);
        Ok(Contents { case, tables, indices, bound, claimed: false, written })
    }

    /// Binds what a dispatch binds.
    pub fn bind(&mut self, dispatch: &Dispatch) {
        let bytes = |range: BoundRange| {
            let all = self.case.schedule.operand_bytes(range.operand).unwrap_or(0);
            range.bytes.unwrap_or(all.saturating_sub(range.offset))
        };
        let bound = dispatch
            .bindings()
            .map(|(binding, range)| (binding.number, range, u32::try_from(bytes(range)).unwrap_or(u32::MAX)));
        self.bound = bound.collect();
        let name = dispatch.key().name();
        self.claimed = self.case.general() && ["unpool settle", "unpool emit"].iter().any(|it| name.starts_with(it));
    }

    fn range(&self, binding: u32) -> Option<(BoundRange, u32)> {
        self.bound.iter().find(|(number, ..)| *number == binding).map(|&(_, range, bytes)| (range, bytes))
    }
}

impl Buffers for Contents<'_> {
    fn bytes(&self, binding: u32) -> u32 {
        self.range(binding).map_or(0, |(_, bytes)| bytes)
    }

    fn load(&mut self, binding: u32, byte: u32) -> u32 {
        let Some((range, _)) = self.range(binding) else { return 0 };
        let word = (range.offset + u64::from(byte)) / 4;
        match range.operand {
            Operand::X => noise(word) as u32 & FINITE,
            Operand::Tables => self.tables.get(word as usize).copied().unwrap_or(0),
            Operand::Indices => self.indices.as_ref().map_or(0, |indices| indices.word(word)),
            Operand::Scratch(_) if self.claimed && word >= OWNERS_FROM => self.owner(word),
            other => self.written.get(&(other, word)).copied().unwrap_or(0),
        }
    }

    fn store(&mut self, binding: u32, byte: u32, word: u32) {
        let Some((range, _)) = self.range(binding) else { return };
        if matches!(range.operand, Operand::Scratch(_) | Operand::Report) {
            self.written.insert((range.operand, (range.offset + u64::from(byte)) / 4), word);
        }
    }
}

impl Contents<'_> {
    /// One more than the rank of a random source, for as many elements as there are sources.
    fn owner(&self, word: u64) -> u32 {
        let plan = self.case.schedule.plan();
        let elements = |shape: &[usize]| element_count(shape).unwrap_or(1).max(1) as u64;
        let [sources, outputs] = [&plan.inputs()[0], &plan.outputs()[0]].map(|tensor| elements(&tensor.shape));
        let random = noise(word);
        if sources > random % outputs { ((random >> 32) % sources) as u32 + 1 } else { 0 }
    }
}

impl Indices<'_> {
    fn word(&self, word: u64) -> u32 {
        let index = self.index(word / self.words) as u64;
        if word.is_multiple_of(self.words) { index as u32 } else { (index >> 32) as u32 }
    }

    /// The index of a source: that of an element of its window, or of any element of the plane.
    fn index(&self, source: u64) -> i64 {
        let mut rest = source;
        let mut place: Vec<u64> = vec![0; self.shape.len()];
        for (at, &extent) in place.iter_mut().zip(&self.shape).rev() {
            (*at, rest) = (rest % extent.max(1), rest / extent.max(1));
        }
        let mut random = noise(source) >> 16;
        let mut below = |end: u64| {
            let number = random % end.max(1);
            random /= end.max(1);
            number
        };
        let pool = self.case.filled_by.as_ref().and_then(|plan| plan.pool());
        let at = (2..self.shape.len()).map(|axis| match pool.map(|pool| pool.axes[axis - 2]) {
            Some(axis_of) => {
                let taps = axis_of.window.taps(place[axis] as usize, axis_of.input);
                taps.first + taps.step * below(taps.count as u64) as i64
            }
            None => below(self.case.pooled[axis] as u64) as i64,
        });
        let at: Vec<i64> = at.collect();
        self.strides.flat(place[0] as usize, place[1] as usize, &at)
    }
}

fn noise(number: u64) -> u64 {
    finish(number.wrapping_add(1).wrapping_mul(STEP))
}
