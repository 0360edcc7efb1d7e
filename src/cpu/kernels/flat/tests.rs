use bytemuck::{cast_slice, cast_slice_mut};

use crate::cpu::Cpu;
use crate::cpu::kernels::choose::CpuKernel;
use crate::cpu::kernels::simd::SimdLevel;
use crate::element::DType;
use crate::error::{ExecuteError, PlanError};
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
        let channels = self.of(&[1, 2, 3, 17]);
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
    let mut compared = 0;
    while compared < 300 {
        let (pool, shape, dtype) = random.pool();
        let Ok(plan) = pool.plan(&shape, dtype, None) else { continue };
        let (plan, count) = (Plan::from(plan), shape.iter().product::<usize>());
        let y_shape = plan.outputs()[0].shape.clone();
        let bytes = y_shape.iter().product::<usize>() * dtype.bytes();
        let rare = random.of(&[usize::MAX, 1000, 20]);
        let x = random.elements(dtype, count, rare);
        let pooled = |cpu: Cpu| {
            let mut y = vec![0xAAAA_AAAA_AAAA_AAAAu64; bytes.div_ceil(8)];
            let x = TensorRef::new(dtype, &shape, &cast_slice(&x)[..count * dtype.bytes()]).unwrap();
            let outputs = &mut cast_slice_mut(&mut y)[..bytes];
            cpu.execute(&plan, &[x], &mut [TensorMut::new(dtype, &y_shape, outputs).unwrap()]).map(|()| y)
        };
        let expected = pooled(Cpu::new().with_kernel(CpuKernel::General)).unwrap();
        for &level in SimdLevel::available() {
            match pooled(Cpu::new().with_kernel(CpuKernel::Flat).with_simd(level).unwrap()) {
                Ok(actual) => assert!(actual == expected, "{pool:?} {shape:?} {dtype:?} {level:?}"),
                Err(ExecuteError::Plan(PlanError::CpuKernelDoesNotApply { .. })) => continue,
                Err(error) => panic!("{error}"),
            }
            compared += 1;
        }
    }
}
