//! The emulator computes what the reference computes: schedules of small plans, all their workgroups, bit by bit.

use std::collections::BTreeMap;

use compilers::emulate::{Buffers, Numbers, Seen, workgroup};
use compilers::spirv::Source;
use wgpu_pooling::{
    AdaptiveMaxPool, Backend, Choice, DType, GlobalMaxPool, IndexType, Layout, Limits, MaxPool, MaxUnpool, Operand,
    Plan, Pooling, Reference, Schedule, TensorMut, TensorRef, families, select, wgsl,
};

/// The buffers of a schedule, and what the dispatch binds.
struct Device {
    buffers: BTreeMap<String, Vec<u8>>,
    bound: Vec<(u32, String, u64, u64)>,
}

impl Device {
    fn word(&mut self, binding: u32, byte: u32) -> &mut [u8] {
        let (_, name, offset, _) = self.bound.iter().find(|(number, ..)| *number == binding).unwrap();
        let at = (*offset + u64::from(byte)) as usize;
        &mut self.buffers.get_mut(name).unwrap()[at..at + 4]
    }
}

impl Buffers for Device {
    fn bytes(&self, binding: u32) -> u32 {
        self.bound.iter().find(|(number, ..)| *number == binding).map_or(0, |(.., bytes)| *bytes as u32)
    }

    fn load(&mut self, binding: u32, byte: u32) -> u32 {
        u32::from_le_bytes(self.word(binding, byte).try_into().unwrap())
    }

    fn store(&mut self, binding: u32, byte: u32, word: u32) {
        self.word(binding, byte).copy_from_slice(&word.to_le_bytes());
    }
}

/// The bytes of Y and Indices by the emulator.
fn emulated(schedule: &Schedule, inputs: &[Vec<u8>]) -> Vec<Vec<u8>> {
    let mut buffers: BTreeMap<String, Vec<u8>> = BTreeMap::new();
    for operand in schedule.operands() {
        buffers.insert(operand.name(), vec![0xa5; schedule.operand_bytes(operand).unwrap() as usize]);
    }
    for (operand, bytes) in schedule.input_operands().iter().zip(inputs) {
        buffers.get_mut(&operand.name()).unwrap()[..bytes.len()].copy_from_slice(bytes);
    }
    if let Some(tables) = buffers.get_mut("tables") {
        tables.copy_from_slice(&schedule.window_tables().unwrap());
    }
    let mut device = Device { buffers, bound: Vec::new() };
    for dispatch in schedule.dispatches() {
        let bytes = |operand: Operand| device.buffers[&operand.name()].len() as u64;
        device.bound = dispatch
            .bindings()
            .map(|(it, of)| {
                (it.number, of.operand.name(), of.offset, of.bytes.unwrap_or(bytes(of.operand) - of.offset))
            })
            .collect();
        let grid = dispatch.indirect().map_or(dispatch.grid(), |of| {
            let words = &device.buffers[&of.operand.name()][of.offset as usize..][..12];
            bytemuck::pod_read_unaligned(words)
        });
        let source = Source::parse(&wgsl(dispatch.key())).unwrap();
        let (numbers, uniform) = (Numbers::of(&source), bytemuck::pod_collect_to_vec(dispatch.uniform()));
        let mut seen = Seen::default();
        for number in 0..grid.into_iter().product() {
            let [x, y] = [grid[0], grid[1]];
            let number = [number % x, number / x % y, number / x / y];
            workgroup(&source, &numbers, [number, grid], &uniform, &mut device, &mut seen).unwrap();
        }
    }
    schedule.output_operands().iter().filter_map(|operand| device.buffers.remove(&operand.name())).collect()
}

/// Every schedule of the plan gives the reference's bytes.
fn check(plan: &Plan, inputs: &[Vec<u8>]) {
    let specs: Vec<_> = plan.inputs().iter().collect();
    let views: Vec<TensorRef<'_>> =
        inputs.iter().zip(&specs).map(|(bytes, it)| TensorRef::new(it.dtype, &it.shape, bytes).unwrap()).collect();
    let mut expected: Vec<Vec<u8>> = plan.outputs().iter().map(|it| vec![0; it.bytes() as usize]).collect();
    let outputs = plan.outputs();
    let mut targets: Vec<TensorMut<'_>> = expected
        .iter_mut()
        .zip(outputs)
        .map(|(bytes, it)| TensorMut::new(it.dtype, &it.shape, bytes).unwrap())
        .collect();
    Reference.run_blocking(plan, &views, &mut targets).unwrap();
    drop(targets);
    let found = families(plan, &Limits::WEBGPU);
    assert!(!found.is_empty());
    for family in found {
        let schedule = select(plan, &Limits::WEBGPU, &Choice { family: Some(family), build: None }).unwrap();
        for (number, (emulated, expected)) in emulated(&schedule, inputs).iter().zip(&expected).enumerate() {
            assert_eq!(&emulated[..expected.len()], expected, "output {number} of {}", schedule.kernel());
        }
    }
}

/// Bytes of X, small numbers of few values, so that maxima tie, with NaN among floats.
fn x(plan: &Plan) -> Vec<u8> {
    let mut random = fastrand::Rng::with_seed(7);
    let spec = &plan.inputs()[0];
    let float = |random: &mut fastrand::Rng| [0.0f32, -0.0, 1.5, -2.0, f32::NAN, 3.0, 0.25][random.usize(..7)];
    let mut bytes = Vec::new();
    while bytes.len() < spec.bytes() as usize {
        match spec.dtype {
            DType::F32 => bytes.extend(float(&mut random).to_le_bytes()),
            DType::F64 => bytes.extend(f64::from(float(&mut random)).to_le_bytes()),
            _ => bytes.push(random.u8(..) & 0x3f),
        }
    }
    bytes
}

fn check_pool(pool: &dyn Pooling, shape: &[usize], dtype: DType, indices: Option<IndexType>) {
    let plan = pool.plan(shape, dtype, indices).unwrap();
    check(&plan, &[x(&plan)]);
}

#[test]
fn pools_give_the_references_bits() {
    let small = MaxPool::new([3, 3]).strides([2, 1]).pads([1, 1, 1, 1]);
    for dtype in [DType::F32, DType::F64, DType::U8] {
        check_pool(&small, &[2, 3, 9, 8], dtype, None);
        check_pool(&small, &[2, 3, 9, 8], dtype, Some(IndexType::I64));
    }
    check_pool(&small.clone().layout(Layout::Nhwc), &[1, 9, 8, 4], DType::F32, Some(IndexType::I32));
    check_pool(&MaxPool::new([9, 9]).strides([1, 1]).pads([4; 4]), &[1, 2, 12, 20], DType::F32, Some(IndexType::I64));
    check_pool(&GlobalMaxPool::new(), &[3, 2, 70, 9], DType::F32, None);
    check_pool(&AdaptiveMaxPool::new([3, 5]), &[2, 2, 10, 7], DType::F32, Some(IndexType::I64));
}

#[test]
fn unpools_give_the_references_bits() {
    let pool = MaxPool::new([2, 2]).strides([2, 2]);
    let plan = pool.plan(&[2, 3, 8, 12], DType::F32, Some(IndexType::I64)).unwrap();
    let unpool = MaxUnpool::inverse_of(&pool, &[2, 3, 8, 12]);
    let unpool = unpool.plan(plan.output_shape(), DType::F32, IndexType::I64).unwrap();
    let mut random = fastrand::Rng::with_seed(3);
    let x = x(&unpool);
    for own in [true, false] {
        let index = |source: u64| {
            let (plane, row, column) = (source / 24, source / 6 % 4, source % 6);
            let tap = if own { 0 } else { random.u64(..96) };
            if own { plane * 96 + row * 24 + column * 2 + tap } else { plane * 96 + tap }
        };
        let indices: Vec<u8> = (0..144).map(index).flat_map(u64::to_le_bytes).collect();
        check(&unpool, &[x.clone(), indices]);
    }
}
