//! The emulator computes what the reference computes: schedules of small plans, all their workgroups, bit by bit.

use compilers::emulate::interpreted;
use wgpu_pooling::{
    AdaptiveMaxPool, Backend, Choice, DType, EmptyValue, GlobalMaxPool, IndexType, Layout, Limits, MaxPool, MaxUnpool,
    Minimum, NanPolicy, Plan, Pooling, Reference, Run, Schedule, TensorMut, TensorRef, families, select,
};

/// Every schedule of the plan, for GPUs and for software adapters, in every build, gives the reference's bytes.
fn check(plan: &Plan, inputs: &[Vec<u8>]) {
    let specs: Vec<_> = plan.inputs().iter().collect();
    let views: Vec<TensorRef<'_>> =
        inputs.iter().zip(&specs).map(|(bytes, it)| TensorRef::new(it.dtype, &it.shape, bytes).unwrap()).collect();
    let outputs = plan.outputs();
    let computed = |run: &dyn Run| {
        let mut bytes: Vec<Vec<u8>> = outputs.iter().map(|it| vec![0x5a; it.bytes() as usize]).collect();
        let targets = bytes.iter_mut().zip(outputs);
        let mut targets: Vec<TensorMut<'_>> =
            targets.map(|(bytes, it)| TensorMut::new(it.dtype, &it.shape, bytes).unwrap()).collect();
        run.run_blocking(&views, &mut targets).unwrap();
        drop(targets);
        bytes
    };
    let expected = computed(&*pollster::block_on(Reference.prepare(plan.clone())).unwrap());
    let mut seen: Vec<Schedule> = Vec::new();
    for software in [false, true] {
        let limits = Limits { software, ..Limits::WEBGPU };
        for family in families(plan, &limits) {
            for &build in family.builds() {
                let Ok(schedule) = select(plan, &limits, &Choice { family: Some(family), build: Some(build) }) else {
                    continue;
                };
                if seen.iter().all(|other| *other != schedule) {
                    let name = schedule.kernel();
                    assert_eq!(computed(&*interpreted(schedule.clone())), expected, "{name}: {plan:?}");
                    seen.push(schedule);
                }
            }
        }
    }
    assert!(!seen.is_empty());
}

/// Bytes of X: ties everywhere, and the special values of floats: NaN of several payloads, infinities, both zeros, the
/// smallest. `rare` in eight of them are special; nine stand for special ones with runs of NaN among them.
fn x(plan: &Plan, rare: u32, seed: u64) -> Vec<u8> {
    let mut random = fastrand::Rng::with_seed(seed);
    let spec = &plan.inputs()[0];
    let size = spec.dtype.bytes();
    // Sign, exponent and mantissa of floats.
    let (exponent, mantissa) = match spec.dtype {
        DType::F16 => (0x7c00u64, 10),
        DType::Bf16 => (0x7f80, 7),
        DType::F64 => (0x7ff0_0000_0000_0000, 52),
        _ => (0x7f80_0000, 23),
    };
    let sign = 1u64 << (8 * size - 1);
    let special =
        [0, sign, exponent, exponent | sign, exponent | 1, exponent | sign | 1 << (mantissa - 1), 1, 1 | sign];
    let (mut bytes, mut hole, mut left) = (Vec::new(), false, 0usize);
    while bytes.len() < spec.bytes() as usize {
        if rare == 9 && left == 0 {
            let most = [2, 9, 60, 600][random.usize(..4)];
            (hole, left) = (random.bool(), random.usize(1..most));
        }
        left = left.saturating_sub(1);
        // A few numbers around one, positive in a quarter of the tensors.
        let ordinary = (exponent >> 1) & !(1 << mantissa) | random.u64(..4) << (mantissa - 2);
        let ordinary = if seed.is_multiple_of(4) || random.bool() { ordinary } else { ordinary | sign };
        let bits = if !spec.dtype.is_float() {
            random.u64(..).rotate_left(7) & !(random.u64(..4) << 3)
        } else if hole {
            special[4 + random.usize(..2)]
        } else if random.u32(..8) < rare {
            special[random.usize(..special.len())]
        } else {
            ordinary
        };
        bytes.extend_from_slice(&bits.to_le_bytes()[..size]);
    }
    bytes
}

fn check_pool(pool: &dyn Pooling, shape: &[usize], dtype: DType, indices: Option<IndexType>) {
    let plan = pool.plan(shape, dtype, indices).unwrap();
    check(&plan, &[x(&plan, 3, 7)]);
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
    // NaN with and without a sign, in the kernels that tell it by its key.
    check_pool(&MaxPool::new([6]).pads([1, 1]), &[1, 4, 60], DType::F64, Some(IndexType::I64));
    // Taps outside a line of all channels, whose next tap is one behind the tile's own vectors.
    let apart = MaxPool::new([2, 2]).strides([3, 1]).dilations([3, 3]).pads([3, 2, 2, 1]).layout(Layout::Nhwc);
    check_pool(&apart, &[2, 22, 16, 2], DType::U16, None);
    check_pool(&GlobalMaxPool::new(), &[3, 2, 70, 9], DType::F32, None);
    check_pool(&AdaptiveMaxPool::new([3, 5]), &[2, 2, 10, 7], DType::F32, Some(IndexType::I64));
}

/// Windows of NaN alone, of both signs, among others, in each family and build.
#[test]
fn nan_that_is_ignored_gives_the_references_bits() {
    let pools: [(MaxPool, &[usize]); 5] = [
        (MaxPool::new([3, 3]).pads([1; 4]), &[1, 2, 12, 16]),
        (MaxPool::new([2, 3]).strides([2, 1]).layout(Layout::Nhwc), &[1, 9, 10, 3]),
        (MaxPool::new([9, 8]).pads([4; 4]), &[1, 1, 20, 24]),
        (MaxPool::new([9, 9]).layout(Layout::Nhwc), &[1, 14, 16, 4]),
        (MaxPool::new([19]).pads([18, 0]), &[1, 2, 90]),
    ];
    for (number, (pool, shape)) in pools.into_iter().enumerate() {
        for (seed, dtype) in [DType::F32, DType::F16, DType::F64].into_iter().enumerate() {
            for (value, indices) in [(EmptyValue::Nan, None), (EmptyValue::LowestFinite, Some(IndexType::I64))] {
                let pool = pool.clone().nan_policy(NanPolicy::Ignore).empty_value(value);
                let plan = match seed {
                    1 => Minimum::of(pool).plan(shape, dtype, indices).unwrap(),
                    _ => pool.plan(shape, dtype, indices).unwrap(),
                };
                check(&plan, &[x(&plan, 9, (5 * seed + number) as u64)]);
            }
        }
    }
}

#[test]
fn unpools_give_the_references_bits() {
    let pool = MaxPool::new([2, 2]).strides([2, 2]);
    let plan = pool.plan(&[2, 3, 8, 12], DType::F32, Some(IndexType::I64)).unwrap();
    let unpool = MaxUnpool::inverse_of(&pool, &[2, 3, 8, 12]);
    let unpool = unpool.plan(plan.output_shape(), DType::F32, IndexType::I64).unwrap();
    let mut random = fastrand::Rng::with_seed(3);
    let x = x(&unpool, 3, 7);
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
