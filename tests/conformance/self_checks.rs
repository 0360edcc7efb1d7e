//! The runner itself: a comparison that cannot fail would prove nothing.

use libtest_mimic::Trial;
use wgpu_pooling::Attribute;

use crate::case::{Case, Expectation, Expected, Input};
use crate::checks::Subject;
use crate::compare::{NanRule, compare};
use crate::generated::digest;
use crate::recipe::Recipe;
use crate::tensors::RawTensor;

pub fn trials() -> Vec<Trial> {
    vec![
        Trial::test("runner::comparison_is_by_bits", || Ok(comparison_is_by_bits())),
        Trial::test("runner::a_digest_notices_one_bit_and_no_payload", || Ok(digests())),
        Trial::test("runner::a_case_that_is_wrong_fails", || Ok(wrong_cases_fail())),
    ]
}

fn comparison_is_by_bits() {
    let tensor = |elements: &[f32]| RawTensor::of(&[1, 1, elements.len()], elements);
    let compare = |a: &RawTensor, b: &RawTensor, nan| compare("y", a, b, nan);
    let payload = f32::from_bits(0x7F80_0001);
    let [zero, negative_zero] = [tensor(&[1.0, 0.0]), tensor(&[1.0, -0.0])];
    assert_eq!(compare(&zero, &zero, NanRule::Exact), Ok(()));
    let error = compare(&zero, &negative_zero, NanRule::Any).expect_err("zeros of different sign are different");
    assert!(error.contains("1 of 2 elements differ, the first at [0, 0, 1] (flat 1)"), "{error}");
    assert!(error.contains("0x00000000") && error.contains("0x80000000"), "{error}");
    let [nan, other_nan] = [tensor(&[f32::NAN]), tensor(&[payload])];
    assert_eq!(compare(&nan, &other_nan, NanRule::Any), Ok(()));
    assert!(compare(&nan, &other_nan, NanRule::Exact).is_err());
    assert!(compare(&nan, &tensor(&[f32::INFINITY]), NanRule::Any).is_err());
    assert!(compare(&zero, &RawTensor::of(&[2, 1, 1], &[1.0f32, 0.0]), NanRule::Any).is_err(), "another shape");
    assert!(compare(&RawTensor::of(&[1], &[1i32]), &RawTensor::of(&[1], &[1u32]), NanRule::Any).is_err());
}

fn digests() {
    let tensor = |bits: [u32; 3]| RawTensor::of(&[3], &bits.map(f32::from_bits));
    let plain = digest(&tensor([0, 0x3F80_0000, 0x7FC0_0000]));
    assert_eq!(plain, digest(&tensor([0, 0x3F80_0000, 0xFF80_0001])), "any NaN counts the same");
    assert_ne!(plain, digest(&tensor([0x8000_0000, 0x3F80_0000, 0x7FC0_0000])));
    assert_ne!(plain, digest(&tensor([0x3F80_0000, 0, 0x7FC0_0000])), "the order counts");
}

fn wrong_cases_fail() {
    let case = |attribute: &str, expectation| {
        Subject::new(Case {
            name: "runner::case".to_owned(),
            recipe: Recipe {
                operator: "MaxPool".to_owned(),
                attributes: vec![(attribute.to_owned(), Attribute::Ints(vec![2]))],
                options: Vec::new(),
                output_shape: None,
            },
            x: Input::Stored(RawTensor::of(&[1, 1, 3], &[1.0f32, 5.0, 2.0])),
            indices: None,
            expectation,
            nan: NanRule::Any,
        })
    };
    let output = |y: [f32; 2], indices: [i64; 2]| Expectation::Output {
        y: Expected::Stored(RawTensor::of(&[1, 1, 2], &y)),
        indices: Some(Expected::Stored(RawTensor::of(&[1, 1, 2], &indices))),
    };
    let kernel = "kernel_shape";
    assert_eq!(case(kernel, output([5.0, 5.0], [1, 1])).check_reference(), Ok(()));
    assert!(case(kernel, output([5.0, 4.0], [1, 1])).check_reference().is_err(), "a wrong value");
    assert!(case(kernel, output([5.0, 5.0], [1, 2])).check_reference().is_err(), "a wrong index");
    assert!(case(kernel, Expectation::MustReject).check_reference().is_err(), "a result in place of an error");
    assert!(case("kernel", output([5.0, 5.0], [1, 1])).check_reference().is_err(), "an error in place of a result");
    assert_eq!(case("kernel", Expectation::MustReject).check_reference(), Ok(()));
}
