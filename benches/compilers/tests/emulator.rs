//! The emulator computes what the reference computes: schedules of small plans, all their workgroups, bit by bit.

use std::collections::BTreeMap;

use compilers::emulate::{Buffers, Numbers, Seen, workgroup};
use compilers::spirv::Source;
use wgpu_pooling::{
    AdaptiveMaxPool, Backend, Choice, DType, Duplicates, EmptyIndex, EmptyValue, Family, GlobalMaxPool,
    IndexFlattening, IndexType, Layout, Limits, MaxPool, MaxUnpool, Minimum, NanPolicy, Operand, OutOfBounds,
    OutsideWindow, Plan, Pooling, Reference, Schedule, TensorMut, TensorRef, families, select, wgsl,
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
        let grid = dispatch.grid();
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

/// Every schedule of the plan, for GPUs and for software adapters, in every build, gives the reference's bytes; `only`
/// those of one family. Gives how many there were, and what is wrong with others.
fn wrong(plan: &Plan, inputs: &[Vec<u8>], only: Option<Family>) -> (usize, Vec<String>) {
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
    let mut schedules: Vec<Schedule> = Vec::new();
    for software in [false, true] {
        let limits = Limits { software, ..Limits::WEBGPU };
        for family in families(plan, &limits).into_iter().filter(|family| only.is_none_or(|only| *family == only)) {
            for &build in family.builds() {
                let schedule = select(plan, &limits, &Choice { family: Some(family), build: Some(build) });
                schedules.extend(schedule.ok().filter(|it| schedules.iter().all(|other| other != it)));
            }
        }
    }
    assert!(!schedules.is_empty());
    let mut wrong = Vec::new();
    for schedule in &schedules {
        for (number, (emulated, expected)) in emulated(schedule, inputs).iter().zip(&expected).enumerate() {
            if let Some(at) = (0..expected.len()).find(|&at| emulated[at] != expected[at]) {
                let key = schedule.dispatches().last().map_or("", |dispatch| dispatch.key().name());
                let beside = at / 8 * 8..(at / 8 * 8 + 8).min(expected.len());
                let found = &emulated[beside.clone()];
                let expected = &expected[beside];
                wrong.push(format!("{key}: byte {at} of output {number}: {found:x?}, not {expected:x?}: {plan:?}"));
            }
        }
    }
    (schedules.len(), wrong)
}

fn check(plan: &Plan, inputs: &[Vec<u8>]) {
    let (_, wrong) = wrong(plan, inputs, None);
    assert!(wrong.is_empty(), "{wrong:#?}");
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

/// A pool drawn at random: kernels up to 7, strides, dilations and pads, one to three axes; or large windows that slide
/// by one element along two axes.
fn drawn(random: &mut fastrand::Rng) -> (MaxPool, Vec<usize>, DType, Option<IndexType>, bool) {
    let axes = [1, 2, 2, 2, 3][random.usize(..5)];
    let per_axis = |random: &mut fastrand::Rng, of: &dyn Fn(&mut fastrand::Rng) -> i64| -> Vec<i64> {
        let alike = of(random);
        if random.bool() { vec![alike; axes] } else { (0..axes).map(|_| of(random)).collect() }
    };
    let large = axes == 2 && random.usize(..3) == 0;
    let kernels = if large { 8..=33 } else { 1..=[7, 7, 3][axes - 1] };
    let kernel = per_axis(random, &|random| random.i64(kernels.clone()));
    let strides = per_axis(random, &|random| if large { 1 } else { [1, 1, 1, 2, 2, 3, 4][random.usize(..7)] });
    let dilations = per_axis(random, &|random| if large { 1 } else { [1, 1, 1, 2, 3][random.usize(..5)] });
    let reach: Vec<i64> = kernel.iter().zip(&dilations).map(|(kernel, dilation)| (kernel - 1) * dilation + 1).collect();
    // In some draws a window lies wholly in the padding.
    let beyond = if !large && random.usize(..8) == 0 { 2 } else { 0 };
    let begins = reach.iter().map(|&reach| random.i64(0..reach + beyond));
    let begins: Vec<i64> = begins.collect();
    let ends: Vec<i64> = reach.iter().map(|&reach| random.i64(0..reach)).collect();
    let most = [40, 24, 8][axes - 1];
    let extents = reach.iter().map(|&reach| (random.i64(1..=most)).max(reach) as usize);
    // In half of the draws rows are multiples of four.
    let mut extents: Vec<usize> = extents.collect();
    if random.bool()
        && let Some(last) = extents.last_mut()
    {
        *last = last.next_multiple_of(4);
    }
    let (batch, channels) = (random.usize(1..=2), [1, 2, 3, 4, 8][random.usize(..5)]);
    let layout = if random.bool() { Layout::Nchw } else { Layout::Nhwc };
    let policy = NanPolicy::ALL[random.usize(..NanPolicy::ALL.len())];
    let pool = MaxPool::new(kernel).strides(strides).dilations(dilations).pads([begins, ends].concat());
    let shape = match layout {
        Layout::Nchw => [vec![batch, channels], extents].concat(),
        Layout::Nhwc => [vec![batch], extents, vec![channels]].concat(),
    };
    let indices = [None, None, Some(IndexType::I32), Some(IndexType::I64)][random.usize(..4)];
    let dtype = DType::ALL[random.usize(..DType::ALL.len())];
    let value = EmptyValue::ALL[random.usize(..EmptyValue::ALL.len() - usize::from(!dtype.is_float()))];
    let index = EmptyIndex::ALL[random.usize(..EmptyIndex::ALL.len())];
    (pool.layout(layout).nan_policy(policy).empty_value(value).empty_index(index), shape, dtype, indices, large)
}

/// Pools drawn at random, in every kernel that applies. `WGPU_POOLING_CASES` sets their number, `WGPU_POOLING_SEED`
/// where they begin.
#[test]
fn random_pools_give_the_references_bits() {
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    let (cases, seed) = (number("WGPU_POOLING_CASES").unwrap_or(100), number("WGPU_POOLING_SEED").unwrap_or(1));
    let (mut valid, mut schedules, mut all_wrong) = (0, 0, Vec::new());
    for case in seed..seed + cases {
        let mut random = fastrand::Rng::with_seed(case);
        let (pool, shape, dtype, indices, large) = drawn(&mut random);
        let plan = match random.usize(..3) {
            0 => Minimum::of(pool).plan(&shape, dtype, indices),
            _ => pool.plan(&shape, dtype, indices),
        };
        let Ok(plan) = plan else { continue };
        let rare = [0, 1, 4, 8, 9][random.usize(..5)];
        // Other families read every tap of a large window, which takes the emulator long.
        let only = large.then_some(Family::Sliding);
        let (number, wrong) = wrong(&plan, &[x(&plan, rare, case)], only);
        schedules += number;
        all_wrong.extend(wrong.into_iter().map(|what| format!("seed {case}: {what}")));
        valid += 1;
    }
    println!("{valid} of {cases} pools in {schedules} schedules, from seed {seed}");
    assert!(all_wrong.is_empty(), "{} are wrong: {all_wrong:#?}", all_wrong.len());
    assert!(valid * 2 > cases, "{valid} of {cases}");
}

/// Whole planes drawn at random, in two dispatches. Planes are a few parts of 4 KiB long, with a few elements more or
/// less; most of a plane may be one value, and NaN, both zeros and several maxima may lie anywhere, as at the ends of
/// parts.
#[test]
fn random_planes_give_the_references_bits() {
    let (mut parts, mut all_wrong) = ([false; 3], Vec::new());
    for case in 0..120 {
        let mut random = fastrand::Rng::with_seed(case);
        let dtype = DType::ALL[random.usize(..DType::ALL.len())];
        let part = 4096 / dtype.bytes();
        let number = [0, 1, 1, 2, 7, 17][random.usize(..6)];
        let elements = (part * number + [0, random.usize(1..9), random.usize(1..part)][random.usize(..3)]).max(1);
        let planes = [1, random.usize(2..=5)][usize::from(number < 7)];
        let channels = if random.bool() { [planes, 1] } else { [1, planes] };
        let layout = if channels[1] == 1 && random.bool() { Layout::Nhwc } else { Layout::Nchw };
        let rows = (2..9).find(|rows| elements.is_multiple_of(*rows)).unwrap_or(1);
        let extents = [rows, elements / rows];
        let shape = match layout {
            Layout::Nchw => [channels, extents].concat(),
            Layout::Nhwc => [&channels[..1], &extents, &channels[1..]].concat(),
        };
        let policy = NanPolicy::ALL[random.usize(..NanPolicy::ALL.len())];
        let pool = MaxPool::new(extents.map(|extent| extent as i64)).layout(layout).nan_policy(policy);
        let indices = [None, Some(IndexType::I32), Some(IndexType::I64)][random.usize(..3)];
        let plan = match random.bool() {
            true => Minimum::of(pool).plan(&shape, dtype, indices).unwrap(),
            false => pool.plan(&shape, dtype, indices).unwrap(),
        };
        let drawn = x(&plan, [0, 1, 8, 9][random.usize(..4)], case);
        let mut bytes = drawn.clone();
        if random.bool() {
            // One value, and others in few places.
            let (size, all) = (dtype.bytes(), drawn.len() / dtype.bytes());
            bytes = drawn[..size].repeat(all);
            for _ in 0..random.usize(..6) {
                let near = part * random.usize(..=all / part) + random.usize(..3);
                let at = [0, elements - 1, near.saturating_sub(1).min(all - 1)][random.usize(..3)] * size;
                let from = random.usize(..all) * size;
                bytes[at..at + size].copy_from_slice(&drawn[from..from + size]);
            }
        }
        let (_, wrong) = wrong(&plan, &[bytes], Some(Family::Reducing));
        parts[[0, 1, 9].into_iter().rposition(|least| elements.div_ceil(part) > least).unwrap()] = true;
        all_wrong.extend(wrong.into_iter().map(|what| format!("seed {case}: {what}")));
    }
    assert!(all_wrong.is_empty(), "{} are wrong: {all_wrong:#?}", all_wrong.len());
    assert_eq!(parts, [true; 3], "one part, a few, and more than eight invocations have candidates");
}

/// Inverses of drawn pools in which nothing wins many windows, under every rule about indices.
#[test]
fn inverses_of_windows_in_which_nothing_won_give_the_references_bits() {
    let (mut schedules, mut all_wrong) = (0, Vec::new());
    for case in 0..150 {
        let mut random = fastrand::Rng::with_seed(case);
        let (pool, shape, dtype, _, large) = drawn(&mut random);
        let pool = pool.nan_policy(NanPolicy::SeedLowest).empty_index(EmptyIndex::MinusOne);
        let pool = pool.flatten(IndexFlattening::ALL[random.usize(..3)]).storage_order(random.i64(0..2));
        let pool = Minimum::of(pool);
        let Ok(pooled) = pool.plan(&shape, dtype, Some(IndexType::I64)) else { continue };
        if large || shape.iter().product::<usize>() > 2_000 {
            continue;
        }
        let x = x(&pooled, 9, case);
        let [y, indices] = [0, 1].map(|number| &pooled.outputs()[number]);
        let (mut values, mut places) = (vec![0; y.bytes() as usize], vec![0; indices.bytes() as usize]);
        let of_x = TensorRef::new(dtype, &shape, &x).unwrap();
        let of_y = TensorMut::new(dtype, &y.shape, &mut values).unwrap();
        let of_indices = TensorMut::new(indices.dtype, &indices.shape, &mut places).unwrap();
        Reference.run_blocking(&pooled, &[of_x], &mut [of_y, of_indices]).unwrap();
        // Some sources name the first element of a plane, whoever's it is.
        let channels = if pooled.inputs()[0].layout == Layout::Nchw { shape[1] } else { shape[shape.len() - 1] };
        let of_plane = (shape.iter().product::<usize>() / shape[0] / channels) as u64;
        for place in places.chunks_exact_mut(8).filter(|_| random.usize(..6) == 0) {
            let first = i64::from_le_bytes((*place).try_into().unwrap()).max(0) as u64 / of_plane * of_plane;
            place.copy_from_slice(&first.to_le_bytes());
        }
        let inverse = MaxUnpool::inverse_of(&pool, &shape).out_of_bounds(OutOfBounds::Skip);
        // Where any of several sources may win, all have one value.
        let duplicates = Duplicates::ALL[random.usize(..2)];
        if duplicates == Duplicates::Any {
            values.fill(0x41);
        }
        let inverse = inverse.duplicates(duplicates);
        let rule = [OutsideWindow::Scatter, OutsideWindow::Skip][random.usize(..2)];
        let plan = inverse.outside_window(rule).plan(&y.shape, dtype, IndexType::I64).unwrap();
        let (number, wrong) = wrong(&plan, &[values, places], None);
        schedules += number;
        all_wrong.extend(wrong.into_iter().map(|what| format!("seed {case}: {what}")));
    }
    println!("{schedules} schedules");
    assert!(all_wrong.is_empty(), "{} are wrong: {all_wrong:#?}", all_wrong.len());
    assert!(schedules > 100, "{schedules}");
}
