//! Activations: what they change, and every bit that they leave alone.

use half::{bf16, f16};
use support::calls::reference;
use wgpu_pooling::{Activation, DType, Element, IndexType, MaxPool, MaxUnpool, PlanError, TensorView};

use super::both::{pools, unpools};

const RELU: Activation = Activation::Relu;

fn clip(min: f32, max: f32) -> Activation {
    Activation::Clip { min, max }
}

/// Checks an activation of every element of X, by windows of one element.
#[track_caller]
fn gives<T: Element>(activation: Activation, x: &[T], y: &[T]) {
    let shape = [1, 1, x.len()];
    let indices: Vec<i64> = (0..x.len() as i64).collect();
    pools(&MaxPool::new([1]).activation(activation), (&shape, x), (&shape, y), (&shape, &indices));
}

/// Applies an activation on the reference only: kernels may differ within a bound where they round.
fn on_reference<T: Element>(activation: Activation, x: &[T]) -> Vec<T> {
    let shape = [1, 1, x.len()];
    let view = TensorView::new(&shape, x).unwrap();
    let plan = MaxPool::new([1]).activation(activation).plan(view.shape(), T::DTYPE, None).unwrap();
    reference::max_pool(&plan, view).unwrap().into_data()
}

fn floats(bits: &[u32]) -> Vec<f32> {
    bits.iter().map(|&bits| f32::from_bits(bits)).collect()
}

/// A quiet NaN with a payload, a negative one, a signalling one, -0, +0, the smallest numbers, -3, 5 and the
/// infinities.
const SPECIAL: [u32; 11] = [
    0x7FC0_1234,
    0xFFC0_0001,
    0x7F80_0001,
    0x8000_0000,
    0x0000_0000,
    0x0000_0001,
    0x8000_0001,
    0xC040_0000,
    0x40A0_0000,
    0x7F80_0000,
    0xFF80_0000,
];

#[test]
fn relu_changes_what_is_below_zero_and_nothing_else() {
    let mut y = SPECIAL;
    // The negative number nearest to zero, -3 and -inf become +0. -0 is not below zero and stays.
    (y[6], y[7], y[10]) = (0, 0, 0);
    gives(RELU, &floats(&SPECIAL), &floats(&y));
    let f16s = |bits: [u16; 7]| bits.map(f16::from_bits);
    gives(
        RELU,
        &f16s([0x7E05, 0xFC01, 0x8000, 0x8001, 0x0001, 0xFC00, 0xC200]),
        &f16s([0x7E05, 0xFC01, 0x8000, 0, 1, 0, 0]),
    );
    let bf16s = |bits: [u16; 7]| bits.map(bf16::from_bits);
    gives(
        RELU,
        &bf16s([0x7FC5, 0xFF81, 0x8000, 0x8001, 0x0001, 0xFF80, 0xC040]),
        &bf16s([0x7FC5, 0xFF81, 0x8000, 0, 1, 0, 0]),
    );
    let f64s = |bits: [u64; 6]| bits.map(f64::from_bits);
    gives(
        RELU,
        &f64s([0x7FF8_0000_0000_0005, 0xFFF0_0000_0000_0001, 1 << 63, (1 << 63) + 1, 1, 0xC008_0000_0000_0000]),
        &f64s([0x7FF8_0000_0000_0005, 0xFFF0_0000_0000_0001, 1 << 63, 0, 1, 0]),
    );
}

#[test]
fn relu_on_integers() {
    gives(RELU, &[-128i8, -1, 0, 1, 127], &[0, 0, 0, 1, 127]);
    gives(RELU, &[i16::MIN, -1, 0, i16::MAX], &[0, 0, 0, i16::MAX]);
    gives(RELU, &[i32::MIN, -1, 0, i32::MAX], &[0, 0, 0, i32::MAX]);
    gives(RELU, &[i64::MIN, -1, 0, i64::MAX], &[0, 0, 0, i64::MAX]);
    gives(RELU, &[0u8, 128, 255], &[0, 128, 255]);
    gives(RELU, &[0, 0x8000, u16::MAX], &[0, 0x8000, u16::MAX]);
    gives(RELU, &[0, 1 << 31, u32::MAX], &[0, 1 << 31, u32::MAX]);
    gives(RELU, &[0, 1 << 63, u64::MAX], &[0, 1 << 63, u64::MAX]);
}

#[test]
fn clip_returns_a_bound_or_the_element_itself() {
    let mut y = SPECIAL;
    // -3 and -inf become -1, 5 and inf become 1.
    (y[7], y[10], y[8], y[9]) = (0xBF80_0000, 0xBF80_0000, 0x3F80_0000, 0x3F80_0000);
    gives(clip(-1.0, 1.0), &floats(&SPECIAL), &floats(&y));
    // -0 is not below +0, but the smallest negative number is; +0 is not above -0.
    gives(clip(0.0, 5.0), &floats(&[0x8000_0000, 0x8000_0001, 0]), &floats(&[0x8000_0000, 0, 0]));
    gives(clip(-5.0, -0.0), &floats(&[0, 1, 0x8000_0000]), &floats(&[0, 0x8000_0000, 0x8000_0000]));
    // Without bounds everything stays.
    gives(clip(f32::NEG_INFINITY, f32::INFINITY), &floats(&SPECIAL), &floats(&SPECIAL));
    // Bounds that cross: elements below 2 become 2; elements of 2 and more are above 1 and become 1.
    gives(clip(2.0, 1.0), &[0.0f32, 1.5, 2.0, 3.0], &[2.0, 2.0, 1.0, 1.0]);
}

#[test]
fn clip_compares_with_the_bound_itself_where_f16_has_none() {
    let f16s = |bits: &[u16]| bits.iter().map(|&bits| f16::from_bits(bits)).collect::<Vec<_>>();
    let check = |activation, x: &[u16], y: &[u16]| gives(activation, &f16s(x), &f16s(y));
    // 0.1 lies between 0x2E66 = 1638 / 2^14 = 0.09998 and 0x2E67 = 0.10004, nearer to the first, which is below it.
    check(clip(0.1, 9.0), &[0x2E65, 0x2E66, 0x2E67, 0x0000, 0x7E05], &[0x2E66, 0x2E66, 0x2E67, 0x2E66, 0x7E05]);
    check(clip(-9.0, 0.1), &[0x2E65, 0x2E66, 0x2E67, 0x3C00], &[0x2E65, 0x2E66, 0x2E66, 0x2E66]);
    // As an f16, 10^-9 is below half of the smallest number, 2^-24, so the bound becomes +0. Elements are compared with
    // 10^-9 itself, so -0 is below it too.
    check(clip(1e-9, 9.0), &[0x8000, 0x0000, 0x0001, 0xBC00], &[0x0000, 0x0000, 0x0001, 0x0000]);
    // 70000 is above all finite numbers and becomes infinity; 65519 is below the half-way point 65520 and becomes
    // 65504.
    check(clip(-9.0, 70_000.0), &[0x7C00, 0x7BFF], &[0x7C00, 0x7BFF]);
    check(clip(-9.0, 65_519.0), &[0x7C00, 0x7BFF], &[0x7BFF, 0x7BFF]);
    // As a lower bound 65520 becomes infinity, and the largest finite number is below it.
    check(clip(65_520.0, f32::INFINITY), &[0x7BFF, 0x7C00, 0xFE01], &[0x7C00, 0x7C00, 0xFE01]);
    // The largest f16 subnormal is 1023 / 2^24 = 0x03FF; a bound of half of it is 511.5 / 2^24, and rounds to even,
    // 512.
    check(clip(1023.0 / 33_554_432.0, 9.0), &[0x01FF, 0x0200], &[0x0200, 0x0200]);
}

#[test]
fn clip_compares_with_the_bound_itself_where_bf16_and_f64_have_none() {
    let bf16s = |bits: &[u16]| bits.iter().map(|&bits| bf16::from_bits(bits)).collect::<Vec<_>>();
    let check = |activation, x: &[u16], y: &[u16]| gives(activation, &bf16s(x), &bf16s(y));
    // 0.1 lies between 0x3DCC = 204 / 2^11 = 0.09961 and 0x3DCD = 0.10010, nearer to the second, which is above it.
    check(clip(0.1, 9.0), &[0x3DCC, 0x3DCD, 0x8000, 0xFF81], &[0x3DCD, 0x3DCD, 0x3DCD, 0xFF81]);
    check(clip(-9.0, 0.1), &[0x3DCC, 0x3DCD, 0x3DCE], &[0x3DCC, 0x3DCD, 0x3DCD]);
    // f32's largest number rounds to infinity.
    check(clip(-9.0, f32::MAX), &[0x7F7F, 0x7F80], &[0x7F7F, 0x7F80]);
    check(clip(f32::MAX, f32::INFINITY), &[0x7F7F, 0x7F80], &[0x7F80, 0x7F80]);
    // In f64 the bound is f32's 0.1, which is 0x3FB9_9999_A000_0000: above f64's 0.1.
    let tenth = f64::from(0.1f32);
    gives(clip(0.1, 9.0), &[0.1f64, tenth, -1.0, -0.0], &[tenth, tenth, tenth, tenth]);
    gives(clip(-9.0, 0.1), &[0.1f64, tenth, 0.100_000_002, -0.0], &[0.1, tenth, tenth, -0.0]);
    let nan = f64::from_bits(0xFFF8_0000_0000_1234);
    gives(clip(-1.0, 1.0), &[nan, f64::MIN, f64::MAX, 5e-324], &[nan, -1.0, 1.0, 5e-324]);
}

#[test]
fn clip_on_integers_rounds_bounds_into_the_window() {
    // -1.5 up to -1, 2.5 down to 2.
    gives(clip(-1.5, 2.5), &[-9i8, -2, -1, 2, 3, 9], &[-1, -1, -1, 2, 2, 2]);
    gives(clip(-1.5, 2.5), &[-9i16, -1, 2, 9], &[-1, -1, 2, 2]);
    gives(clip(-1.5, 2.5), &[-9i32, -1, 2, 9], &[-1, -1, 2, 2]);
    gives(clip(-1.5, 2.5), &[-9i64, -1, 2, 9], &[-1, -1, 2, 2]);
    gives(clip(0.5, 254.5), &[0u8, 1, 254, 255], &[1, 1, 254, 254]);
    // Bounds outside the type's range are clamped to it.
    gives(clip(-5.0, 300.0), &[0u8, 255], &[0, 255]);
    gives(clip(300.0, 400.0), &[0u8, 255], &[255, 255]);
    gives(clip(-400.0, -300.0), &[-128i8, 127], &[-128, -128]);
    gives(clip(f32::NEG_INFINITY, f32::INFINITY), &[i64::MIN, i64::MAX], &[i64::MIN, i64::MAX]);
    // Both bounds lie between 0 and 1: elements below 1 become 1, and elements above 0 become 0.
    gives(clip(0.2, 0.8), &[0u16, 1, 5], &[1, 0, 0]);
    // 2^53 is an f32, 2^53 + 1 is not even an f64, so integers are compared. 2^64 is above every u64.
    let large = 9_007_199_254_740_992.0;
    gives(clip(-9.0, large), &[(1i64 << 53) - 1, 1 << 53, (1 << 53) + 1], &[(1 << 53) - 1, 1 << 53, 1 << 53]);
    gives(clip(large, f32::INFINITY), &[(1u64 << 53) - 1, (1 << 53) + 1], &[1 << 53, (1 << 53) + 1]);
    gives(clip(0.0, 18_446_744_073_709_551_616.0), &[u64::MAX, 1 << 63], &[u64::MAX, 1 << 63]);
    gives(clip(2_147_483_648.0, 4_294_967_296.0), &[0u32, 1 << 31, u32::MAX], &[1 << 31, 1 << 31, u32::MAX]);
}

#[test]
fn a_window_without_elements_is_activated_too_and_indices_never_are() {
    let pool = MaxPool::new([2]).dilations([3]).pads([1, 3]);
    let x: (&[usize], &[f32]) = (&[1, 1, 2], &[-7.0, 8.0]);
    let shape = [1, 1, 3];
    pools::<_, i64>(&pool.clone().activation(RELU), x, (&shape, &[0.0, 0.0, 8.0]), (&shape, &[-1, 0, 1]));
    pools::<_, i64>(&pool.activation(clip(-6.0, 6.0)), x, (&shape, &[-6.0, -6.0, 6.0]), (&shape, &[-1, 0, 1]));
}

#[test]
fn an_unpool_activates_filled_zeros_as_well() {
    let unpool = MaxUnpool::new([2]).strides([2]);
    let x: (&[usize], &[f32]) = (&[1, 1, 2], &[5.0, -3.0]);
    let indices: (&[usize], &[i64]) = (&[1, 1, 2], &[1, 2]);
    let result = |y: &'static [f32]| Ok((&[1usize, 1, 4][..], y));
    unpools(&unpool.clone().activation(clip(1.0, 2.0)), x, indices, result(&[1.0, 2.0, 1.0, 1.0]));
    unpools(&unpool.clone().activation(clip(-2.0, -1.0)), x, indices, result(&[-1.0, -1.0, -2.0, -1.0]));
    unpools(&unpool.clone().activation(RELU), x, indices, result(&[0.0, 5.0, 0.0, 0.0]));
    // The scattered -0 stays; filled zeros are +0, which is not below -0.
    let x: (&[usize], &[f32]) = (&[1, 1, 2], &[-0.0, -3.0]);
    unpools(&unpool.clone().activation(clip(-0.0, 1.0)), x, indices, result(&[0.0, -0.0, -0.0, 0.0]));
    unpools::<u8, i64>(
        &unpool.activation(clip(3.0, 200.0)),
        (&[1, 1, 3], &[2, 100, 250]),
        (&[1, 1, 3], &[0, 4, 5]),
        Ok((&[1, 1, 6], &[3, 3, 3, 3, 100, 200])),
    );
}

#[test]
fn leaky_relu_is_a_slope_below_zero() {
    let leaky = |alpha| Activation::LeakyRelu { alpha };
    let bits = |values: Vec<f32>| values.into_iter().map(f32::to_bits).collect::<Vec<_>>();
    let mut y = SPECIAL;
    // Half of the smallest negative number is half-way between it and -0, and rounds to even, -0. Half of -3 is -1.5.
    (y[6], y[7]) = (0x8000_0000, 0xBFC0_0000);
    assert_eq!(bits(on_reference(leaky(0.5), &floats(&SPECIAL))), y);
    assert_eq!(on_reference(leaky(-2.0), &[-3.0f32, 3.0]), [6.0, 3.0]);
    // f32's 0.1 times -1, rounded to f16 and to bf16 once: the nearest are 0x2E66 and 0x3DCD, with the sign.
    let f16s = on_reference(leaky(0.1), &[f16::NEG_ONE, f16::from_bits(0xFE05), f16::NEG_ZERO, f16::ONE]);
    assert_eq!(f16s.map_bits(), [0xAE66, 0xFE05, 0x8000, 0x3C00]);
    let bf16s = on_reference(leaky(0.1), &[bf16::NEG_ONE, bf16::from_bits(0xFFC5), bf16::NEG_ZERO]);
    assert_eq!(bf16s.map_bits(), [0xBDCD, 0xFFC5, 0x8000]);
    // In f64 the slope is f32's 0.1, and the product is computed in f64.
    assert_eq!(on_reference(leaky(0.1), &[-1.0f64, -3.0]), [-f64::from(0.1f32), -3.0 * f64::from(0.1f32)]);
}

#[test]
fn hard_sigmoid_is_a_line_between_zero_and_one() {
    let line = Activation::HardSigmoid { alpha: 0.25, beta: 0.5 };
    // x / 4 + 1 / 2: zero at -2, one at 2.
    let x = [-3.0f32, -2.0, -1.0, 0.0, -0.0, 1.0, 2.0, 3.0, f32::INFINITY, f32::NEG_INFINITY];
    let y = [0.0, 0.0, 0.25, 0.5, 0.5, 0.75, 1.0, 1.0, 1.0, 0.0];
    let given = on_reference(line, &x);
    assert_eq!(given.iter().map(|y| y.to_bits()).collect::<Vec<_>>(), y.map(f32::to_bits));
    assert!(on_reference(line, &[f32::NAN])[0].is_nan());
    assert_eq!(on_reference(line, &[1.0f64, -9.0, 9.0]), [0.75, 0.0, 1.0]);
    assert_eq!(on_reference(line, &[f16::ONE]), [f16::from_f32(0.75)]);
    // 0.2 * 1 + 0.5 in f32 is 0.7; its nearest bf16 is 179 / 256 = 0x3F33.
    let default = Activation::from_onnx("HardSigmoid", &[]).unwrap();
    assert_eq!(on_reference(default, &[bf16::ONE]).map_bits(), [0x3F33]);
}

#[test]
fn an_unpool_puts_the_line_through_filled_zeros() {
    // x / 4 + 1 / 2 at 0, 1, 0 and -2.
    let unpool = MaxUnpool::new([2]).strides([2]).activation(Activation::HardSigmoid { alpha: 0.25, beta: 0.5 });
    let plan = unpool.plan(&[1, 1, 2], DType::F32, IndexType::I64).unwrap();
    let (x, indices) = ([1.0f32, -2.0], [1i64, 3]);
    let x = TensorView::new(&[1, 1, 2], &x).unwrap();
    let y = reference::max_unpool(&plan, x, TensorView::new(&[1, 1, 2], &indices).unwrap()).unwrap();
    assert_eq!(y.data(), &[0.5, 0.75, 0.5, 0.0]);
}

#[test]
fn tanh_and_sigmoid_are_the_functions() {
    // tanh 1 = (e^2 - 1) / (e^2 + 1), sigmoid 1 = e / (e + 1).
    let (tanh, sigmoid) = (0.761_594_155_955_764_9_f64, 0.731_058_578_630_004_9_f64);
    let x = [1.0f32, -1.0, 0.0, f32::INFINITY, f32::NEG_INFINITY];
    for (y, expected) in on_reference(Activation::Tanh, &x).iter().zip([tanh, -tanh, 0.0, 1.0, -1.0]) {
        approx::assert_ulps_eq!(*y, expected as f32, max_ulps = 2);
    }
    for (y, expected) in on_reference(Activation::Sigmoid, &x).iter().zip([sigmoid, 1.0 - sigmoid, 0.5, 1.0, 0.0]) {
        approx::assert_ulps_eq!(*y, expected as f32, max_ulps = 2);
    }
    approx::assert_ulps_eq!(on_reference(Activation::Tanh, &[1.0f64])[0], tanh, max_ulps = 2);
    approx::assert_ulps_eq!(on_reference(Activation::Sigmoid, &[1.0f64])[0], sigmoid, max_ulps = 2);
    // 0.7615942 * 2^11 = 1559.7, so the nearest f16 is 1560 / 2^11: 0x3800 + 1560 - 1024 = 0x3A18.
    assert_eq!(on_reference(Activation::Tanh, &[f16::ONE]).map_bits(), [0x3A18]);
    // 0.7310586 * 2^8 = 187.15, so the nearest bf16 is 187 / 2^8: 0x3F00 + 187 - 128 = 0x3F3B.
    assert_eq!(on_reference(Activation::Sigmoid, &[bf16::ONE]).map_bits(), [0x3F3B]);
    // NaN keep their bits here too, and tanh keeps the sign of zero.
    let nan = f32::from_bits(0x7FC0_1234);
    for activation in [Activation::Tanh, Activation::Sigmoid] {
        assert_eq!(on_reference(activation, &[nan])[0].to_bits(), nan.to_bits());
    }
    assert_eq!(on_reference(Activation::Tanh, &[-0.0f32])[0].to_bits(), 0x8000_0000);
}

#[test]
fn integers_have_relu_and_clip_alone() {
    for (activation, name) in [
        (Activation::LeakyRelu { alpha: 0.5 }, "LeakyRelu"),
        (Activation::HardSigmoid { alpha: 0.2, beta: 0.5 }, "HardSigmoid"),
        (Activation::Tanh, "Tanh"),
        (Activation::Sigmoid, "Sigmoid"),
    ] {
        for dtype in DType::ALL.into_iter().filter(|dtype| !dtype.is_float()) {
            let refused = PlanError::ActivationType { activation: name, dtype };
            let pool = MaxPool::new([1]).activation(activation).plan(&[1, 1, 1], dtype, None);
            assert_eq!(pool.map(|_| ()), Err(refused.clone()));
            let unpool = MaxUnpool::new([1]).activation(activation).plan(&[1, 1, 1], dtype, IndexType::I64);
            assert_eq!(unpool.map(|_| ()), Err(refused));
        }
    }
}

/// The bits of 16-bit floats.
trait MapBits {
    fn map_bits(&self) -> Vec<u16>;
}

impl<T: Element> MapBits for Vec<T> {
    fn map_bits(&self) -> Vec<u16> {
        self.iter().map(|value| value.to_bits64() as u16).collect()
    }
}
