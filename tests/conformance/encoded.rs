//! The encode-only path: the caller's encoder, an open pass of the caller's, slices in the middle of larger buffers,
//! one submit of the caller's. Both ways of encoding have to give the same words and leave the surroundings alone.

use wgpu_pooling::wgpu::{self, BufferUsages};
use wgpu_pooling::{Buffers, ExecuteError, Gpu, Operand, Plan, Prepared, TensorMut, TensorRef};

use crate::paths::{Failure, Path, guarded};

/// The word that outputs and their surroundings are filled with.
const POISON: u32 = 0x5C3A_96E1;

/// Bytes of a buffer before and behind the slice in it: a multiple of every device's alignment.
const EDGE: u64 = 256;

/// A prepared plan whose runs are encoded into buffers of the test's own.
pub struct Encoded<'a> {
    gpu: &'a Gpu,
    prepared: Prepared,
}

/// A buffer with a slice of `bytes` bytes in its middle.
struct Island {
    buffer: wgpu::Buffer,
    bytes: u64,
}

impl Island {
    fn slice(&self) -> wgpu::BufferSlice<'_> {
        self.buffer.slice(EDGE..EDGE + self.bytes)
    }
}

/// The outputs of one run.
struct Outputs {
    y: Option<Island>,
    indices: Option<Island>,
    report: Option<Island>,
}

impl Outputs {
    fn islands(&self) -> impl Iterator<Item = &Island> {
        [&self.y, &self.indices, &self.report].into_iter().flatten()
    }
}

impl<'a> Encoded<'a> {
    pub fn prepare(gpu: &'a Gpu, plan: &Plan) -> Result<Self, Failure> {
        guarded(|| Ok(Encoded { gpu, prepared: gpu.prepare_blocking(plan.clone())? }))
    }

    fn island(&self, bytes: u64, contents: &[u8]) -> Island {
        let words = (bytes + 2 * EDGE).div_ceil(4) as usize;
        let mut filled: Vec<u8> = bytemuck::cast_slice(&vec![POISON; words]).to_vec();
        filled[EDGE as usize..][..contents.len()].copy_from_slice(contents);
        let usage = BufferUsages::STORAGE | BufferUsages::COPY_SRC | BufferUsages::COPY_DST;
        let buffer = self.buffer(filled.len() as u64, usage);
        self.gpu.queue().write_buffer(&buffer, 0, &filled);
        Island { buffer, bytes }
    }

    fn buffer(&self, size: u64, usage: BufferUsages) -> wgpu::Buffer {
        let descriptor = wgpu::BufferDescriptor { label: None, size, usage, mapped_at_creation: false };
        self.gpu.device().create_buffer(&descriptor)
    }

    fn outputs(&self) -> Outputs {
        let schedule = self.prepared.schedule();
        let island = |bytes: u64| self.island(bytes, &[]);
        Outputs {
            y: schedule.operand_bytes(Operand::Y).map(island),
            indices: schedule.operand_bytes(Operand::IndicesOut).map(island),
            report: schedule.operand_bytes(Operand::Report).map(island),
        }
    }

    /// Encodes both ways, submits once, and gives the words of Y, of the indices and of the report.
    fn run(&self, x: &[u8], indices: Option<&[u8]>) -> Result<[Vec<u32>; 3], ExecuteError> {
        let schedule = self.prepared.schedule();
        if schedule.dispatches().is_empty() {
            return Ok([Vec::new(), Vec::new(), vec![0; 8]]);
        }
        let x = schedule.operand_bytes(Operand::X).map(|bytes| self.island(bytes, x));
        let indices =
            schedule.operand_bytes(Operand::Indices).map(|bytes| self.island(bytes, indices.unwrap_or_default()));
        let runs = [self.outputs(), self.outputs()];
        let mut encoder = self.gpu.device().create_command_encoder(&Default::default());
        self.prepared.encode(&mut encoder, given(&x, &indices, &runs[0]))?;
        let mut pass = encoder.begin_compute_pass(&Default::default());
        self.prepared.encode_pass(&mut pass, given(&x, &indices, &runs[1]))?;
        drop(pass);
        let size = runs.iter().flat_map(Outputs::islands).map(|island| island.buffer.size()).sum();
        let staging = self.buffer(size, BufferUsages::MAP_READ | BufferUsages::COPY_DST);
        let mut at = 0;
        for island in runs.iter().flat_map(Outputs::islands) {
            encoder.copy_buffer_to_buffer(&island.buffer, 0, &staging, at, island.buffer.size());
            at += island.buffer.size();
        }
        self.gpu.queue().submit([encoder.finish()]);
        staging.map_async(wgpu::MapMode::Read, .., |result| result.expect("the buffer can be mapped"));
        self.gpu.device().poll(wgpu::PollType::wait_indefinitely()).expect("the device answers");
        let words: Vec<u32> = bytemuck::pod_collect_to_vec(&staging.get_mapped_range(..).expect("it is mapped"));
        let mut rest = words.as_slice();
        let [first, second] = runs.map(|outputs| {
            [outputs.y, outputs.indices, outputs.report].map(|island| {
                island.map_or(Vec::new(), |island| {
                    let (own, others) = rest.split_at(island.buffer.size() as usize / 4);
                    rest = others;
                    let edge = EDGE as usize / 4;
                    let (slice, behind) = own[edge..].split_at(island.bytes as usize / 4);
                    let untouched = own[..edge].iter().chain(behind).all(|&word| word == POISON);
                    assert!(untouched, "words around a slice were written");
                    slice.to_vec()
                })
            })
        });
        assert_eq!(first, second, "an encoder and an open pass give different words");
        Ok(first)
    }
}

fn given<'a>(x: &'a Option<Island>, indices: &'a Option<Island>, outputs: &'a Outputs) -> Buffers<'a> {
    Buffers {
        x: x.as_ref().map(Island::slice),
        indices: indices.as_ref().map(Island::slice),
        y: outputs.y.as_ref().map(Island::slice),
        indices_out: outputs.indices.as_ref().map(Island::slice),
        report: outputs.report.as_ref().map(Island::slice),
        ..Buffers::default()
    }
}

/// Writes the bytes at the beginning of some words to an output; the bytes behind them in the last word have to be
/// zero.
fn write(output: &mut TensorMut<'_>, words: &[u32]) {
    let bytes = output.bytes_mut().unwrap();
    if bytes.is_empty() {
        return;
    }
    let (own, behind) = bytemuck::cast_slice::<u32, u8>(words).split_at(bytes.len());
    assert!(behind.iter().all(|&byte| byte == 0), "the tail of the last word is not zero");
    bytes.copy_from_slice(own);
}

impl Path for Encoded<'_> {
    fn execute(
        &self,
        plan: &Plan,
        inputs: &[TensorRef<'_>],
        outputs: &mut [TensorMut<'_>],
    ) -> Result<(), ExecuteError> {
        // Buffers have no shape, so a caller who encodes has to check the shapes.
        for ((x, spec), what) in inputs.iter().zip(plan.inputs()).zip(["x", "indices"]) {
            if x.shape() != spec.shape {
                let (expected, actual) = (spec.shape.clone(), x.shape().to_vec());
                return Err(ExecuteError::ShapeMismatch { what, expected, actual });
            }
        }
        let [y, indices, report] = self.run(inputs[0].bytes(), inputs.get(1).map(TensorRef::bytes))?;
        if let Plan::Unpool(_) = plan {
            self.prepared.read_report(report.first_chunk().expect("a report of eight words"))?;
        }
        for (output, words) in outputs.iter_mut().zip([y, indices]) {
            write(output, &words);
        }
        Ok(())
    }
}
