//! A schedule as something that computes its plan: the interpreter runs every workgroup of every dispatch. It compiles
//! nothing, so a kernel that only one case takes costs no more than one that all take.

use std::sync::Arc;

use wgpu_pooling::{ExecuteError, KernelKey, Later, Operand, Plan, Report, Run, Schedule, TensorMut, TensorRef, wgsl};

use super::memory::Buffers;
use super::numbers::Numbers;
use super::run::workgroup;
use crate::spirv::Source;

/// What memory holds that nobody has written.
const POISON: u8 = 0xa5;

/// A schedule that the interpreter runs.
pub struct Interpreted(Schedule);

/// The schedule, made ready.
pub fn interpreted(schedule: Schedule) -> Arc<dyn Run> {
    Arc::new(Interpreted(schedule))
}

/// The buffers of a schedule, and what the dispatch binds of them: the number of a binding, the buffer, the offset and
/// the bytes.
struct Device {
    buffers: Vec<(Operand, Vec<u8>)>,
    bound: Vec<(u32, usize, u64, u64)>,
}

impl Device {
    fn buffer(&mut self, operand: Operand) -> Option<&mut Vec<u8>> {
        self.buffers.iter_mut().find(|(own, _)| *own == operand).map(|(_, bytes)| bytes)
    }

    fn word(&mut self, binding: u32, byte: u32) -> &mut [u8; 4] {
        let bound = self.bound.iter().find(|(number, ..)| *number == binding);
        let &(_, buffer, offset, _) = bound.expect("bytes are those of a binding");
        let at = (offset + u64::from(byte)) as usize;
        self.buffers[buffer].1[at..].first_chunk_mut().expect("the word is inside")
    }
}

impl Buffers for Device {
    fn bytes(&self, binding: u32) -> u32 {
        self.bound.iter().find(|(number, ..)| *number == binding).map_or(0, |(.., bytes)| *bytes as u32)
    }

    fn load(&mut self, binding: u32, byte: u32) -> u32 {
        u32::from_le_bytes(*self.word(binding, byte))
    }

    fn store(&mut self, binding: u32, byte: u32, word: u32) {
        *self.word(binding, byte) = word.to_le_bytes();
    }
}

impl Interpreted {
    /// The buffers after all dispatches. Those that nobody gives are poisoned.
    fn executed(&self, inputs: &[TensorRef<'_>]) -> Device {
        let schedule = &self.0;
        let poisoned = |operand| {
            let bytes = schedule.operand_bytes(operand).expect("a schedule binds its own operands");
            (operand, vec![POISON; bytes as usize])
        };
        let buffers = schedule.operands().into_iter().map(poisoned).collect();
        let mut device = Device { buffers, bound: Vec::new() };
        for (&operand, tensor) in schedule.input_operands().iter().zip(inputs) {
            if let Some(buffer) = device.buffer(operand) {
                buffer[..tensor.bytes().len()].copy_from_slice(tensor.bytes());
            }
        }
        if let Some(tables) = device.buffer(Operand::Tables) {
            tables.copy_from_slice(&schedule.window_tables().expect("tables of a test"));
        }
        if let Some(report) = device.buffer(Operand::Report).filter(|_| schedule.keeps_report()) {
            report.fill(0);
        }
        // A kernel that is cut into many dispatches is parsed once.
        let mut parsed: Vec<(&KernelKey, Source)> = Vec::new();
        for dispatch in schedule.dispatches() {
            let bound = dispatch.bindings().map(|(it, range)| {
                let number = device.buffers.iter().position(|(own, _)| *own == range.operand);
                let number = number.expect("operands are what dispatches bind");
                let rest = device.buffers[number].1.len() as u64 - range.offset;
                (it.number, number, range.offset, range.bytes.unwrap_or(rest))
            });
            device.bound = bound.collect();
            let key = dispatch.key();
            if parsed.iter().all(|(own, _)| *own != key) {
                let text = wgsl(key);
                let source = Source::parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
                parsed.push((key, source));
            }
            let source = parsed.iter().find(|(own, _)| *own == key).map(|(_, source)| source);
            let source = source.expect("it is parsed");
            let uniform: Vec<u32> = bytemuck::pod_collect_to_vec(dispatch.uniform());
            let (numbers, grid) = (Numbers::of(source), dispatch.grid());
            for number in 0..grid.into_iter().product() {
                let number = [number % grid[0], number / grid[0] % grid[1], number / grid[0] / grid[1]];
                workgroup(source, &numbers, [number, grid], &uniform, &mut device, None)
                    .unwrap_or_else(|error| panic!("{}: {error}", dispatch.key().name()));
            }
        }
        device
    }
}

impl Run for Interpreted {
    fn plan(&self) -> &Plan {
        self.0.plan()
    }

    fn kernel(&self) -> String {
        self.0.kernel()
    }

    fn run<'a>(&'a self, inputs: &'a [TensorRef<'a>], outputs: &'a mut [TensorMut<'_>]) -> Later<'a, ()> {
        Box::pin(async move { self.run_blocking(inputs, outputs) })
    }

    fn run_blocking(&self, inputs: &[TensorRef<'_>], outputs: &mut [TensorMut<'_>]) -> Result<(), ExecuteError> {
        let mut device = self.executed(inputs);
        if let Some(bytes) = device.buffer(Operand::Report) {
            Report::from_bytes(bytes).expect("the bytes of a report").check(self.plan())?;
        }
        for (&operand, tensor) in self.0.output_operands().iter().zip(outputs) {
            let bytes = tensor.bytes_mut()?;
            if let Some(buffer) = device.buffer(operand).filter(|_| !bytes.is_empty()) {
                let (of_tensor, tail) = buffer.split_at(bytes.len());
                assert!(tail.iter().all(|&byte| byte == 0), "bytes after {operand:?} are {tail:x?}");
                bytes.copy_from_slice(of_tensor);
            }
        }
        Ok(())
    }
}
