//! The fused activations that round: how far a GPU may be from the CPU path. Relu and Clip are exact and compared bit
//! by bit elsewhere.

use approx::relative_eq;
use gpu_test::gpu_test;
use half::{bf16, f16};
use support::calls::reference;
use support::device::gpu;
use wgpu_pooling::{Activation, DType, Element, ExecuteError, IndexType, MaxPool, MaxUnpool, PlanError, Tensor};

/// An activation and the stated bound, in units in the last place of f32 and of the 16-bit types.
const BOUNDS: [(Activation, [f64; 2]); 6] = [
    (Activation::LeakyRelu { alpha: 0.01 }, [1.0, 1.0]),
    (Activation::LeakyRelu { alpha: -3.5 }, [1.0, 1.0]),
    (Activation::HardSigmoid { alpha: 0.2, beta: 0.5 }, [1.0, 1.0]),
    (Activation::HardSigmoid { alpha: -7.0, beta: 0.25 }, [1.0, 1.0]),
    (Activation::Tanh, [8.0, 1.0]),
    (Activation::Sigmoid, [8.0, 1.0]),
];

/// f32 values of every magnitude and both signs, and those at which formulas change.
fn singles() -> Vec<f32> {
    let corners = [0.25f32, 10.0, 87.0, 87.34, 2f32.powi(-12), 1.0, 2.5, 0.0, f32::INFINITY, f32::MAX, f32::NAN];
    let around = corners.into_iter().flat_map(|corner| {
        [corner, f32::from_bits(corner.to_bits().wrapping_sub(1)), f32::from_bits(corner.to_bits() + 1)]
    });
    let spread = (0..60_000u32).map(|i| f32::from_bits(i * 71_583));
    around.chain(spread).flat_map(|x| [x, -x]).collect()
}

/// Compares a GPU's activations of `data` with the reference's and returns the largest distance in units of the last
/// place.
fn compare<T: Element>(
    activation: Activation,
    data: Vec<T>,
    bound: f64,
    significand: i32,
    wide: fn(T) -> f64,
    narrow: fn(f32) -> T,
) -> f64 {
    let x = Tensor::new([1, 1, data.len()], data).unwrap();
    let pool = MaxPool::new([1]).activation(activation);
    let plan = pool.plan(x.shape(), T::DTYPE, None).unwrap();
    let expected = reference::max_pool(&plan, x.view()).unwrap();
    let actual = pool.on(x.view()).run_blocking(&gpu()).unwrap();
    let unit = 2f64.powi(1 - significand);
    let mut worst = 0.0f64;
    for ((&x, &expected), &actual) in x.data().iter().zip(expected.data()).zip(actual.data()) {
        let (wide_expected, wide_actual) = (wide(expected), wide(actual));
        // A product and a sum may be fused, which shows where they cancel.
        if let Activation::HardSigmoid { alpha, beta } = activation {
            let fused = alpha.mul_add(wide(x) as f32, beta).clamp(0.0, 1.0);
            if wide(narrow(fused)) == wide_actual {
                continue;
            }
        }
        if wide_expected.is_nan() {
            assert!(wide_actual.is_nan(), "{activation:?} of {x:?}");
            continue;
        }
        // A shader may flush a subnormal f32, so below the smallest normal one any result is as good as zero. It may
        // flush its input as well, before it is multiplied.
        let factor =
            if let Activation::LeakyRelu { alpha } = activation { f64::from(alpha).abs().max(1.0) } else { 1.0 };
        let flushed = f64::from(f32::MIN_POSITIVE) * factor;
        let close = wide_expected == wide_actual
            || relative_eq!(wide_expected, wide_actual, max_relative = bound * unit, epsilon = flushed);
        assert!(close, "{activation:?} of {x:?}: {actual:?} on the GPU, {expected:?} on the CPU, bound {bound}");
        if wide_expected.abs() > flushed {
            worst = worst.max((wide_expected - wide_actual).abs() / (wide_expected.abs() * unit));
        }
    }
    worst
}

#[gpu_test]
fn activations_that_round_stay_within_their_bounds() {
    let halves: Vec<f16> = (0..=u16::MAX).map(f16::from_bits).collect();
    let brains: Vec<bf16> = (0..=u16::MAX).map(bf16::from_bits).collect();
    for (activation, [single, narrow]) in BOUNDS {
        let worst = [
            compare(activation, singles(), single, 24, f64::from, |x| x),
            compare(activation, halves.clone(), narrow, 11, f16::to_f64, f16::from_f32),
            compare(activation, brains.clone(), narrow, 8, bf16::to_f64, bf16::from_f32),
        ];
        println!("{activation:?}: at most {worst:.2?} units in the last place of f32, f16, bf16");
    }
}

#[gpu_test]
fn an_unpool_applies_its_activation_to_filled_zeros_too() {
    let x = Tensor::new([1, 1, 2], vec![2.0f32, -1.0]).unwrap();
    let indices = Tensor::new([1, 1, 2], vec![1i64, 2]).unwrap();
    // 0.25 * x + 0.5 is exact here, fused or not: zeros become 0.5, 2 becomes 1 and -1 becomes 0.25.
    let activation = Activation::HardSigmoid { alpha: 0.25, beta: 0.5 };
    let unpool = MaxUnpool::new([2]).strides([2]).activation(activation);
    let plan = unpool.plan(x.shape(), DType::F32, IndexType::I64).unwrap();
    let expected = [0.5, 1.0, 0.25, 0.5];
    assert_eq!(reference::max_unpool(&plan, x.view(), indices.view()).unwrap().data(), &expected);
    assert_eq!(unpool.on(x.view(), indices.view()).run_blocking(&gpu()).unwrap().data(), &expected);
}

#[gpu_test]
fn what_a_gpu_cannot_do_is_an_error_and_the_cpu_does_it() {
    let x = Tensor::new([1, 1, 1], vec![1.0f64]).unwrap();
    let pool = MaxPool::new([1]).activation(Activation::Tanh);
    let refused = pool.on(x.view()).run_blocking(&gpu());
    assert!(matches!(refused, Err(ExecuteError::Plan(PlanError::NotOnGpu { .. }))), "{refused:?}");
    let plan = pool.plan(x.shape(), DType::F64, None).unwrap();
    assert_eq!(reference::max_pool(&plan, x.view()).unwrap().data(), &[1f64.tanh()]);

    let pool = MaxPool::new([1]).activation(Activation::Sigmoid);
    assert_eq!(
        pool.plan(&[1, 1, 1], DType::I8, None),
        Err(PlanError::ActivationType { activation: "Sigmoid", dtype: DType::I8 })
    );
}
