//! The buffers of a schedule.

use std::ops::Range;

use wgpu_pooling::{Dispatch, Operand, Schedule, TensorRef};

/// What memory holds that nobody has written.
const POISON: u32 = 0xa5a5_a5a5;

/// The words of each operand, and of which of them a dispatch binds which, by the binding's number.
pub struct Buffers {
    operands: Vec<(Operand, Vec<u32>)>,
    bound: Vec<(u32, usize, Range<usize>)>,
}

impl Buffers {
    /// Buffers before the first dispatch. Those that nobody gives are poisoned.
    pub fn new(schedule: &Schedule, inputs: &[TensorRef<'_>]) -> Buffers {
        let poisoned = |operand| {
            let bytes = schedule.operand_bytes(operand).expect("a schedule binds its own operands");
            (operand, vec![POISON; bytes as usize / 4])
        };
        let operands = schedule.operands().into_iter().map(poisoned).collect();
        let mut buffers = Buffers { operands, bound: Vec::new() };
        for (&operand, tensor) in schedule.input_operands().iter().zip(inputs) {
            if let Some(buffer) = buffers.bytes(operand) {
                buffer[..tensor.bytes().len()].copy_from_slice(tensor.bytes());
            }
        }
        if let Some(tables) = buffers.bytes(Operand::Tables) {
            tables.copy_from_slice(&schedule.window_tables().expect("tables of a test"));
        }
        if let Some(report) = buffers.bytes(Operand::Report).filter(|_| schedule.keeps_report()) {
            report.fill(0);
        }
        buffers
    }

    /// The bytes of an operand, if a dispatch binds it.
    pub fn bytes(&mut self, operand: Operand) -> Option<&mut [u8]> {
        let own = self.operands.iter_mut().find(|(own, _)| *own == operand);
        own.map(|(_, words)| bytemuck::cast_slice_mut(words))
    }

    /// Binds what a dispatch binds.
    pub fn bind(&mut self, dispatch: &Dispatch) {
        let bound = dispatch.bindings().map(|(binding, range)| {
            let buffer = self.operands.iter().position(|(own, _)| *own == range.operand);
            let buffer = buffer.expect("operands are what dispatches bind");
            let begin = range.offset as usize / 4;
            let end = range.bytes.map_or(self.operands[buffer].1.len(), |bytes| begin + bytes as usize / 4);
            (binding.number, buffer, begin..end)
        });
        self.bound = bound.collect();
    }

    /// The words of a binding.
    pub fn bound(&mut self, binding: u32) -> &mut [u32] {
        let bound = self.bound.iter().find(|(number, ..)| *number == binding);
        let (_, buffer, words) = bound.expect("a dispatch binds what its kernel reads");
        &mut self.operands[*buffer].1[words.clone()]
    }
}
