//! Calls on the GPU that all tests of a binary share.

use std::collections::HashMap;
use std::sync::OnceLock;

use wgpu_pooling::TestHooks;
use wgpu_pooling::wgpu::{self, BufferUsages};
use wgpu_pooling::{
    Buffers, Build, Choice, Dispatch, ExecuteError, Family, Gpu, GpuOptions, Limits, Operand, Plan, Prepared,
    PreparedPlan, Report, Results, Schedule, TensorMut, TensorRef, TensorSpec, select, with_element,
};

use super::{Net, Path, TIGHT, streamed};
use crate::call::Call;
use crate::device::{POISON, gpu};
use crate::host;

/// A device so small that tensors of a few thousand elements run in tiles.
fn small() -> &'static Gpu {
    static SMALL: OnceLock<Gpu> = OnceLock::new();
    SMALL.get_or_init(|| {
        let (binding, buffer) = (16 << 10, 32 << 10);
        let limits = wgpu::Limits::defaults();
        let limits = wgpu::Limits { max_storage_buffer_binding_size: binding, max_buffer_size: buffer, ..limits };
        Gpu::open_blocking(&GpuOptions::new().limits(limits).poison(POISON)).expect("smaller limits than the adapter's")
    })
}

impl Net {
    /// Every family that applies in the generic build; for the first calls also the specialised ones; what is selected
    /// for small bindings; and the family that is selected, encoded, in a chain, by a host and streamed, and in tiles.
    /// Drivers take most of the time, to compile kernels: those that the interpreter runs for every call run here for
    /// each third one, in turn.
    pub(super) fn on_device<'a>(
        &'a self,
        call: &Call,
        plan: &'a Plan,
        paths: &mut Vec<Path<'a>>,
    ) -> Result<(), String> {
        let limits = gpu().limits();
        let found = self.is_planned(plan, &limits)?;
        if found.is_empty() {
            return Ok(());
        }
        // As users call it, without a schedule of their own.
        paths.push(Path::new("GPU", "", |call: &Call| call.on(gpu())));
        let mut schedules = Vec::new();
        let interpreted = cfg!(feature = "interpreter") && self.interpreted;
        let is_sampled = |number: usize| !interpreted || (self.calls.get() as usize + number).is_multiple_of(3);
        let generic = found.iter().enumerate().filter(|(_, family)| family.builds().contains(&Build::Generic));
        for (_, &family) in generic.filter(|(number, _)| is_sampled(*number)) {
            let choice = Choice { family: Some(family), build: Some(Build::Generic) };
            schedules.push((select(plan, &limits, &choice).map_err(|error| format!("{family:?}: {error}"))?, ""));
        }
        let choice = Choice { build: Some(Build::Generic), ..Choice::default() };
        // Buffers and streams have no shapes.
        if let (Ok(whole), None) = (select(plan, &limits, &choice), &call.shapes) {
            self.count(&format!("GPU {:?} selected", whole.family()));
            paths.extend(encoded(&whole)?);
            // The schedule for a device with small bindings, if it is another one.
            let cut = select(plan, &TIGHT, &choice).ok().filter(|cut| cut.dispatches() != whole.dispatches());
            schedules.extend(cut.filter(|_| is_sampled(found.len())).map(|cut| (cut, " cut")));
        }
        schedules.extend(self.specialised(plan, &found));
        if self.is_turn(4) && call.shapes.is_none() {
            let turn = self.calls.get() as usize / 4 % schedules.len().max(1);
            paths.extend(schedules.get(turn).map(|(schedule, _)| by_host(schedule.clone())));
            let bytes = |specs: &[TensorSpec]| specs.iter().map(TensorSpec::bytes).max().unwrap_or(0);
            if bytes(plan.inputs()).max(bytes(plan.outputs())) > 16 << 10 {
                paths.push(Path::new("GPU tiles", "", |call: &Call| call.on(small())));
            }
            paths.extend(streamed::path(&Call::new(plan.clone(), Vec::new()), "GPU", gpu()));
        }
        for (schedule, how) in schedules {
            paths.push(scheduled(schedule, how)?);
        }
        Ok(())
    }

    /// The specialised builds, until so many calls have had them.
    fn specialised(&self, plan: &Plan, found: &[Family]) -> Vec<(Schedule, &'static str)> {
        let (left, mut schedules) = (self.specialised.get(), Vec::new());
        for &family in found.iter().filter(|family| left > 0 && family.builds().contains(&Build::Specialised)) {
            let choice = Choice { family: Some(family), build: Some(Build::Specialised) };
            // One case after the other as on a GPU and as on a software adapter.
            let limits = Limits { software: left.is_multiple_of(2), ..gpu().limits() };
            let Ok(schedule) = select(plan, &limits, &choice) else { continue };
            if schedule.dispatches().is_empty() {
                continue;
            }
            let cut = select(plan, &TIGHT, &choice).ok().filter(|cut| cut.dispatches() != schedule.dispatches());
            schedules.push((schedule, ""));
            schedules.extend(cut.map(|cut| (cut, " cut")));
        }
        self.specialised.set(left - u32::from(!schedules.is_empty()));
        schedules
    }
}

fn prepared(schedule: Schedule) -> Result<Prepared, String> {
    let kernel = schedule.kernel();
    gpu().prepare_blocking(schedule).map_err(|error| format!("{kernel}: {error}"))
}

/// A schedule in calls.
fn scheduled<'a>(schedule: Schedule, how: &str) -> Result<Path<'a>, String> {
    let kind = format!("GPU {:?} {:?}{how}", schedule.build(), schedule.family());
    let detail = format!(", {}", schedule.kernel());
    let prepared = prepared(schedule)?;
    Ok(Path::new(kind, detail, move |call: &Call| call.outcome(|x, y| prepared.run_blocking(x, y))))
}

/// A schedule that is encoded by a caller, and in a chain.
fn encoded<'a>(schedule: &Schedule) -> Result<[Path<'a>; 2], String> {
    let [one, other] = [prepared(schedule.clone())?, prepared(schedule.clone())?];
    Ok([
        Path::new("GPU encoded", "", move |call: &Call| call.outcome(|x, y| encode(&one, x, y))),
        Path::new("GPU chain", "", move |call: &Call| call.outcome(|x, y| chained(&other, x, y))),
    ])
}

/// Takes the bytes of a tensor from a chain's results.
type Take = Box<dyn FnOnce(&Results) -> Result<Vec<u8>, ExecuteError>>;

/// A step of a chain.
fn chained(prepared: &Prepared, inputs: &[TensorRef<'_>], outputs: &mut [TensorMut<'_>]) -> Result<(), ExecuteError> {
    let mut chain = gpu().chain();
    let mut tensors = Vec::new();
    for (input, spec) in inputs.iter().zip(prepared.plan().inputs()) {
        tensors.push(chain.upload(*input, spec.layout)?);
    }
    let inputs: Vec<_> = tensors.iter().collect();
    let made: Vec<_> = match outputs.len() {
        2 => chain.step::<2>(prepared, &inputs)?.into(),
        _ => chain.step::<1>(prepared, &inputs)?.into(),
    };
    let mut wanted: Vec<Take> = Vec::new();
    for tensor in &made {
        wanted.push(with_element!(tensor.dtype(), T => {
            let wanted = chain.read_back::<T>(tensor)?;
            Box::new(move |results| Ok(bytemuck::cast_slice(results.take(wanted)?.data()).to_vec()))
        }));
    }
    let results = chain.run_blocking().map_err(|error| match error {
        ExecuteError::InChain { step: 0, error, .. } => *error,
        other => other,
    })?;
    for (output, take) in outputs.iter_mut().zip(wanted) {
        output.bytes_mut()?.copy_from_slice(&take(&results)?);
    }
    Ok(())
}

/// Bytes of a buffer before and behind the slice in it: a multiple of every device's alignment.
const EDGE: u64 = 256;

/// A buffer with a slice of some bytes in its middle.
struct Island {
    buffer: wgpu::Buffer,
    bytes: u64,
}

impl Island {
    fn new(bytes: u64, contents: &[u8]) -> Island {
        let words = (bytes + 2 * EDGE).div_ceil(4) as usize;
        let mut filled: Vec<u8> = bytemuck::cast_slice(&vec![POISON; words]).to_vec();
        filled[EDGE as usize..][..contents.len()].copy_from_slice(contents);
        let buffer =
            buffer(filled.len() as u64, BufferUsages::STORAGE | BufferUsages::COPY_SRC | BufferUsages::COPY_DST);
        gpu().queue().write_buffer(&buffer, 0, &filled);
        Island { buffer, bytes }
    }

    fn slice(&self) -> wgpu::BufferSlice<'_> {
        self.buffer.slice(EDGE..EDGE + self.bytes)
    }

    /// The words of the slice. Nothing around it may have been written.
    fn words(&self, all: &[u32]) -> Vec<u32> {
        let (before, rest) = all.split_at(EDGE as usize / 4);
        let (slice, behind) = rest.split_at(self.bytes as usize / 4);
        assert!(before.iter().chain(behind).all(|&word| word == POISON), "words around a slice were written");
        slice.to_vec()
    }
}

fn buffer(size: u64, usage: BufferUsages) -> wgpu::Buffer {
    gpu().device().create_buffer(&wgpu::BufferDescriptor { label: None, size, usage, mapped_at_creation: false })
}

/// Encodes what inputs give into outputs.
fn encode(prepared: &Prepared, inputs: &[TensorRef<'_>], outputs: &mut [TensorMut<'_>]) -> Result<(), ExecuteError> {
    if prepared.schedule().dispatches().is_empty() {
        return prepared.run_blocking(inputs, outputs);
    }
    let [y, indices, report] = encoded_words(prepared, inputs)?;
    if let Some(report) = report.first_chunk() {
        prepared.read_report(report)?;
    }
    for (output, words) in outputs.iter_mut().zip([y, indices]) {
        write(output, bytemuck::cast_slice(&words))?;
    }
    Ok(())
}

/// The words of Y, of the indices and of the report. There are three ways of encoding: an encoder of the caller's, an
/// open pass with the caller's scratch memory, buffers that are bound once. They have to give the same words, in slices
/// in the middle of larger buffers, with one submit of the caller's.
pub fn encoded_words(prepared: &Prepared, inputs: &[TensorRef<'_>]) -> Result<[Vec<u32>; 3], ExecuteError> {
    let schedule = prepared.schedule();
    let given: HashMap<Operand, Island> = [Operand::X, Operand::Indices]
        .into_iter()
        .zip(inputs)
        .filter_map(|(operand, input)| Some((operand, Island::new(schedule.operand_bytes(operand)?, input.bytes()))))
        .collect();
    // A report that is kept over several runs is zero before the first one.
    let cleared: &[u8] = if schedule.keeps_report() { &[0; 32] } else { &[] };
    let written = [(Operand::Y, &[][..]), (Operand::IndicesOut, &[]), (Operand::Report, cleared)];
    let runs = [(); 3]
        .map(|()| written.map(|(operand, contents)| Some(Island::new(schedule.operand_bytes(operand)?, contents))));
    let own: Vec<Island> = schedule.scratch().iter().map(|&bytes| Island::new(bytes, &[])).collect();
    let scratch: Vec<_> = own.iter().map(Island::slice).collect();
    let buffers = runs.each_ref().map(|[y, indices, report]| Buffers {
        x: given.get(&Operand::X).map(Island::slice),
        indices: given.get(&Operand::Indices).map(Island::slice),
        y: y.as_ref().map(Island::slice),
        indices_out: indices.as_ref().map(Island::slice),
        report: report.as_ref().map(Island::slice),
        ..Buffers::default()
    });
    let mut encoder = gpu().device().create_command_encoder(&Default::default());
    prepared.encode(&mut encoder, buffers[0])?;
    let bound = prepared.bind(buffers[2])?;
    let mut pass = encoder.begin_compute_pass(&Default::default());
    prepared.encode_pass(&mut pass, Buffers { scratch: &scratch, ..buffers[1] })?;
    bound.encode(&mut pass)?;
    drop(pass);
    let outputs: Vec<&Island> = runs.iter().flatten().flatten().collect();
    let words = read(encoder, outputs.iter().copied().chain(given.values()).chain(&own));
    let of_a_run = outputs.len() / runs.len();
    let all = words[..outputs.len()].chunks(of_a_run).all(|run| run == &words[..of_a_run]);
    assert!(all, "ways of encoding give different words");
    let mut words = words.into_iter();
    Ok(runs[0].each_ref().map(|island| island.as_ref().map_or(Vec::new(), |_| words.next().unwrap_or_default())))
}

/// Writes what a device has of an output. Bytes behind the last element, in its word, are zero.
fn write(output: &mut TensorMut<'_>, words: &[u8]) -> Result<(), ExecuteError> {
    let bytes = output.bytes_mut()?;
    let (own, behind) = words.split_at(bytes.len());
    assert!(bytes.is_empty() || behind.iter().all(|&byte| byte == 0), "the tail of the last word is not zero");
    bytes.copy_from_slice(own);
    Ok(())
}

/// Submits, and gives the words of slices. Nothing around them may have been written.
fn read<'a>(mut encoder: wgpu::CommandEncoder, islands: impl Iterator<Item = &'a Island> + Clone) -> Vec<Vec<u32>> {
    let size = islands.clone().map(|island| island.buffer.size()).sum();
    let staging = buffer(size, BufferUsages::MAP_READ | BufferUsages::COPY_DST);
    let mut at = 0;
    for island in islands.clone() {
        encoder.copy_buffer_to_buffer(&island.buffer, 0, &staging, at, island.buffer.size());
        at += island.buffer.size();
    }
    gpu().queue().submit([encoder.finish()]);
    staging.map_async(wgpu::MapMode::Read, .., |result| result.expect("the buffer can be mapped"));
    gpu().device().poll(wgpu::PollType::wait_indefinitely()).expect("the device answers");
    let words: Vec<u32> = bytemuck::pod_collect_to_vec(&staging.get_mapped_range(..).expect("it is mapped"));
    let mut rest = words.as_slice();
    let own = islands.map(|island| {
        let (own, others) = rest.split_at(island.buffer.size() as usize / 4);
        rest = others;
        island.words(own)
    });
    own.collect()
}

/// A schedule by a host that takes nothing but values from the library.
fn by_host<'a>(schedule: Schedule) -> Path<'a> {
    Path::new("GPU host of schedules", "", move |call: &Call| {
        call.outcome(|inputs, outputs| hosted(&schedule, &call.plan, inputs, outputs))
    })
}

/// Executes a schedule by a host of its own (examples/bare_wgpu). Outputs, report and scratch memory are poisoned
/// before.
pub fn hosted(
    schedule: &Schedule,
    plan: &Plan,
    inputs: &[TensorRef<'_>],
    outputs: &mut [TensorMut<'_>],
) -> Result<(), ExecuteError> {
    let mut contents = host::Contents::new();
    for (operand, input) in [Operand::X, Operand::Indices].into_iter().zip(inputs) {
        // The bytes after the last element may be anything.
        let mut bytes = input.bytes().to_vec();
        bytes.resize(bytes.len().next_multiple_of(4), 0x7E);
        contents.insert(operand, bytes);
    }
    for operand in schedule.operands().into_iter().filter(|operand| *operand != Operand::Tables) {
        let words = schedule.operand_bytes(operand).expect("its size") as usize / 4;
        // A report that is kept over several runs is zero before the first one.
        let zero = operand == Operand::Report && schedule.keeps_report();
        let filled = vec![if zero { 0 } else { POISON }; words];
        contents.entry(operand).or_insert_with(|| bytemuck::cast_slice(&filled).to_vec());
    }
    let offsets = schedule.dispatches().iter().flat_map(Dispatch::bindings).map(|(_, range)| range.offset);
    assert!(offsets.into_iter().all(|offset| offset.is_multiple_of(256)), "{}", schedule.kernel());
    let written = host::execute(gpu().device(), gpu().queue(), schedule, &contents).expect("a valid schedule");
    if let Some(report) = written.get(&Operand::Report) {
        Report::from_bytes(report).expect("eight words").check(plan)?;
    }
    for (operand, output) in [Operand::Y, Operand::IndicesOut].into_iter().zip(outputs) {
        if let Some(words) = written.get(&operand) {
            write(output, words)?;
        }
    }
    Ok(())
}
