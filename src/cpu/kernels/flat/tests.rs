use bytemuck::{cast_slice, cast_slice_mut};

use super::band::Band;
use super::{Flat, MOST_BYTES};
use crate::cpu::Cpu;
use crate::cpu::kernels::choose::CpuKernel;
use crate::cpu::kernels::lane::{OfF16, WideF16};
use crate::cpu::kernels::scratch::Scratch;
use crate::cpu::kernels::simd::SimdLevel;
use crate::cpu::kernels::view::View;
use crate::element::DType;
use crate::ops::MaxPool;
use crate::options::{Layout, NanPolicy};
use crate::plan::Plan;
use crate::untyped::{TensorMut, TensorRef};

/// Random numbers.
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % end
    }

    fn of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len())]
    }

    /// Bytes of elements; one in `rare` is a zero, an infinity or a NaN, if they are floats.
    fn elements(&mut self, dtype: DType, count: usize, rare: usize) -> Vec<u64> {
        let singles = [0u32, 1 << 31, 0x7F80_0000, 0xFF80_0000, 0x7FC0_0001, 0xFFC0_0002, 0x7FC0_0003, 1];
        let halves = [0u32, 1 << 15, 0x7C00, 0xFC00, 0x7F81, 0xFFC2, 0x7FC3, 0x3F80];
        let mut words = vec![0u64; (count * dtype.bytes()).div_ceil(8)];
        let bytes: &mut [u8] = cast_slice_mut(&mut words);
        for own in bytes.chunks_exact_mut(dtype.bytes()).take(count) {
            let is_rare = self.below(rare) == 0;
            let number = self.below(1 << 12) as u64;
            let bits = match dtype {
                DType::F32 if is_rare => self.of(&singles).into(),
                DType::F64 if is_rare => f64::from(f32::from_bits(self.of(&singles))).to_bits(),
                DType::F16 | DType::Bf16 if is_rare => self.of(&halves).into(),
                DType::F32 => (number as f32 - 3000.0).to_bits().into(),
                DType::F64 => (number as f64 - 3000.0).to_bits(),
                DType::F16 | DType::Bf16 => (number & 0x3FF) << 4 | (number & 0x800) << 4,
                _ => number.wrapping_mul(0x0123_4567_89AB_CDEF),
            };
            own.copy_from_slice(&bits.to_le_bytes()[..own.len()]);
        }
        words
    }

    fn pool(&mut self) -> (MaxPool, Vec<usize>, DType) {
        let axes = 2 + self.below(2);
        let dtype = self.of(&DType::ALL);
        let layout = self.of(&[Layout::Nchw, Layout::Nhwc]);
        let policy = self.of(&[NanPolicy::SeedFirst, NanPolicy::PropagateLast, NanPolicy::SeedLowest]);
        let kernel: Vec<i64> = (0..axes).map(|_| 1 + self.below(5) as i64).collect();
        let dilations: Vec<i64> = (0..axes).map(|_| 1 + self.below(3) as i64).collect();
        let mut strides: Vec<i64> = (0..axes).map(|_| 1 + self.below(2) as i64).collect();
        strides[axes - 1] = 1;
        let reach = |axis: usize| (kernel[axis] - 1) * dilations[axis];
        let pads: Vec<i64> = (0..2 * axes).map(|pad| self.below(1 + reach(pad % axes) as usize) as i64).collect();
        // Rows of a strip and of several, bands of all rows and of some.
        let most = if axes == 2 { self.of(&[12, 60, 300]) } else { 20 };
        let mut extents: Vec<usize> = (0..axes).map(|_| 1 + self.below(most)).collect();
        if axes == 2 && self.below(4) == 0 {
            extents = vec![1 + self.below(6), 1000 + self.below(9000)];
        }
        let channels = self.of(&[0, 1, 1, 2, 3, 17]);
        let shape: Vec<usize> = match layout {
            Layout::Nchw => [1 + self.below(2), channels].into_iter().chain(extents).collect(),
            Layout::Nhwc => [1 + self.below(2)].into_iter().chain(extents).chain([channels]).collect(),
        };
        let pool = MaxPool::new(kernel).strides(strides).dilations(dilations).pads(pads);
        (pool.layout(layout).nan_policy(policy), shape, dtype)
    }
}

#[test]
fn planes_are_those_of_the_general_kernel() {
    let mut random = Random(1);
    // Pools; of these, some in several strips, in several bands, and some whose windows have several planes.
    let mut counts = [0; 4];
    while counts[0] < 200 {
        let (pool, shape, dtype) = random.pool();
        let Ok(plan) = pool.plan(&shape, dtype, None) else { continue };
        let Ok(flat) = Flat::new(&plan, &View::of(&plan).unwrap()) else { continue };
        let several = [true, flat.strips.len() > 1, flat.rows < flat.axes[flat.down].output, flat.planes > 1];
        counts.iter_mut().zip(several).for_each(|(count, is)| *count += usize::from(is));
        let (plan, count) = (Plan::from(plan), shape.iter().product::<usize>());
        let y_shape = plan.outputs()[0].shape.clone();
        let bytes = y_shape.iter().product::<usize>() * dtype.bytes();
        let rare = random.of(&[usize::MAX, 1000, 20]);
        let x = random.elements(dtype, count, rare);
        let pooled = |cpu: Cpu| {
            let mut y = vec![0xAAAA_AAAA_AAAA_AAAAu64; bytes.div_ceil(8)];
            let x = TensorRef::new(dtype, &shape, &cast_slice(&x)[..count * dtype.bytes()]).unwrap();
            let outputs = &mut cast_slice_mut(&mut y)[..bytes];
            cpu.execute(&plan, &[x], &mut [TensorMut::new(dtype, &y_shape, outputs).unwrap()]).unwrap();
            y
        };
        let expected = pooled(Cpu::new().with_kernel(CpuKernel::General));
        for &level in SimdLevel::available() {
            let actual = pooled(Cpu::new().with_kernel(CpuKernel::Flat).with_simd(level).unwrap());
            assert!(actual == expected, "{pool:?} {shape:?} {dtype:?} {level:?}");
        }
    }
    assert!(counts[1..].iter().all(|&count| count >= 5), "{counts:?}");
}

#[test]
fn the_memory_of_a_band_is_bounded() {
    let mut found = 0;
    for kernel in [[1, 2, 2], [1, 3, 3], [3, 3, 3], [1, 8, 8], [2, 8, 8], [5, 5, 5]] {
        for (dilation, channels, extents) in [
            (1, 1, [4, 300, 300]),
            (1, 1, [4, 60, 1 << 20]),
            (2, 3, [4, 60, 9000]),
            (1, 64, [4, 56, 56]),
            (4, 4096, [4, 56, 56]),
            (1, 1 << 20, [4, 60, 60]),
            (1, 1 << 40, [4, 60, 60]),
        ] {
            let pool = MaxPool::new(kernel).dilations([1, dilation, dilation]).layout(Layout::Nhwc);
            let plan = pool.plan(&[1, extents[0], extents[1], extents[2], channels], DType::F16, None).unwrap();
            let Ok(flat) = Flat::new(&plan, &View::of(&plan).unwrap()) else { continue };
            let rows = 0..flat.rows.min(flat.axes[flat.down].output);
            let band = Band::of([&flat.axes[flat.down], flat.along()], flat.inner, &flat.strips[0], rows);
            let mut scratch = Scratch::default();
            let memory = flat.memory::<OfF16, WideF16>(&band, &mut scratch).unwrap();
            let own = [memory.loaded.len(), memory.reduced.len(), memory.best.len()];
            let words = own.into_iter().chain(memory.planes.iter().map(|plane| plane.len())).sum::<usize>();
            assert!(
                words * 8 <= 5 * MOST_BYTES / 2,
                "{} bytes: {kernel:?} {dilation} {channels} {extents:?}",
                words * 8
            );
            found += 1;
        }
    }
    assert!(found > 20, "{found}");
}
