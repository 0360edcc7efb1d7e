//! Differences of any two elements, of which compositions are made.

use support::call::{Call, same};
use support::draw::elements::{bits_of, bytes_of, highest, mixed, palette, sign};
use support::net::Net;
use support::splitmix::splitmix64;
use wgpu_pooling::{DType, Layout, Plan, TensorSpec};
use wgpu_pooling_plan::DifferencePlan;

use crate::random::compositions::minus;

/// The differences of these elements on every path.
fn check(net: &Net, dtype: DType, a: &[u64], b: &[u64]) {
    let difference: Vec<u64> = a.iter().zip(b).map(|(&a, &b)| minus(dtype, a, b)).collect();
    let spec = TensorSpec { shape: vec![1, 1, a.len()], dtype, layout: Layout::Nchw };
    let inputs = vec![bytes_of(dtype, a), bytes_of(dtype, b)];
    let call = Call::new(Plan::Difference(DifferencePlan::of(&spec)), inputs);
    let expected = Ok(vec![bytes_of(dtype, &difference)]);
    net.each(&call, |outcome| same(&expected, outcome)).unwrap_or_else(|error| panic!("{dtype}: {error}"));
}

#[test]
fn differences_of_any_two_elements() {
    let net = Net::new(0).every_level();
    for dtype in DType::ALL {
        for count in [1, 2, 3, 5, 64 * 4 + 3, 200_001] {
            let a = bits_of(dtype, &mixed(dtype, count, 3));
            let b: Vec<u64> = match count {
                // Neighbours, too, whose difference is small beside them.
                3 => a.iter().map(|bits| bits ^ 1).collect(),
                _ => bits_of(dtype, &mixed(dtype, count, 8 + count as u64)),
            };
            check(&net, dtype, &a, &b);
        }
    }
}

/// Floats of every exponent, each with those of all smaller ones that still have a part in its last digit, and all
/// pairs of a palette, which has zeros, infinities and NaN of both signs.
fn hard_pairs(dtype: DType) -> (Vec<u64>, Vec<u64>) {
    let infinity = highest(dtype)[0];
    let fraction_bits = infinity.trailing_zeros();
    let (exponents, most) = ((infinity >> fraction_bits) + 1, (1u64 << fraction_bits) - 1);
    let farthest = u64::from(fraction_bits) + 4;
    let palette = palette(dtype);
    let mut pairs: Vec<(u64, u64)> = palette.iter().flat_map(|&a| palette.iter().map(move |&b| (a, b))).collect();
    let mut seed = 0;
    let mut draw = |below: u64| {
        seed = splitmix64(seed);
        (seed >> 8) % below
    };
    for exponent in 0..exponents {
        for distance in 0..=farthest.min(exponent) {
            // What lies beyond the last digit of the larger one is half of it, nearly half, or anything.
            let (half, any) = ((1 << distance) >> 1, draw(most + 1));
            let tie = any << distance | half;
            let fractions = [0, 1, most, most - 1, half, half ^ 1, tie, tie + 1, tie.wrapping_sub(1), any, any ^ 1];
            for _ in 0..230_000 / (exponents * farthest) {
                let fraction = [0; 2].map(|_| fractions[draw(fractions.len() as u64) as usize] & most);
                let signs = [0; 2].map(|_| draw(2) * sign(dtype));
                let [large, small] = [exponent, exponent - distance].map(|exponent| exponent << fraction_bits);
                let (large, small) = (signs[0] | large | fraction[0], signs[1] | small | fraction[1]);
                pairs.push(if draw(2) == 0 { (large, small) } else { (small, large) });
            }
        }
    }
    pairs.into_iter().unzip()
}

#[test]
fn differences_of_floats_that_are_hard_to_round() {
    let net = Net::new(0).interpreted();
    for dtype in DType::ALL.into_iter().filter(|dtype| dtype.is_float()) {
        let (a, b) = hard_pairs(dtype);
        check(&net, dtype, &a, &b);
    }
    assert_eq!(net.counted("too much work to interpret"), 0, "{net}");
}

/// Every f16 minus each of 64 others.
#[test]
fn differences_of_every_f16() {
    let net = Net::new(0);
    let (hard, _) = hard_pairs(DType::F16);
    let others: Vec<u64> = (0..64).map(|i| hard[i * (hard.len() / 64)]).collect();
    for others in others.chunks(4) {
        let all = |other: u64| (0..1 << 16).map(move |a| (a, other));
        let (a, b): (Vec<u64>, Vec<u64>) = others.iter().flat_map(|&other| all(other)).unzip();
        check(&net, DType::F16, &a, &b);
    }
}
