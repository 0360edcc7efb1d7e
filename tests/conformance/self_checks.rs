//! The runner itself: a comparison that cannot fail would prove nothing.

use std::collections::HashSet;

use libtest_mimic::Trial;
use wgpu_pooling::Attribute;
#[cfg(feature = "gpu")]
use wgpu_pooling::ExecuteError;

use crate::case::{Case, Expectation, Expected, Input};
use crate::checks::Subject;
#[cfg(feature = "gpu")]
use crate::checks::agree;
use crate::compare::{NanRule, compare};
use crate::generated::digest;
#[cfg(feature = "gpu")]
use crate::paths::{Failure, Outcome, Output};
use crate::recipe::Recipe;
use crate::specialised::SPECIALISED;
use crate::tensors::RawTensor;

pub fn trials() -> Vec<Trial> {
    let trial = |name: &str, check: fn()| {
        Trial::test(format!("runner::{name}"), move || {
            check();
            Ok(())
        })
    };
    vec![
        trial("comparison_is_by_bits", comparison_is_by_bits),
        trial("a_digest_notices_one_bit_and_no_payload", a_digest_notices_one_bit_and_no_payload),
        trial("a_case_that_is_wrong_fails", a_case_that_is_wrong_fails),
        #[cfg(feature = "gpu")]
        trial("paths_that_differ_fail", paths_that_differ_fail),
    ]
}

/// Every id of the list is a case of this repository, so that no entry is idle.
pub fn specialised_list(cases: &[Case]) -> Trial {
    let id = |case: &Case| case.name.rsplit("::").next().map(str::to_owned);
    let ids: HashSet<String> = cases.iter().filter_map(id).collect();
    Trial::test("runner::specialised_ids_are_cases", move || {
        let unknown: Vec<_> = SPECIALISED.iter().filter(|id| !ids.contains(**id)).collect();
        assert!(unknown.is_empty(), "no such cases: {unknown:?}");
        let distinct: HashSet<_> = SPECIALISED.iter().collect();
        assert_eq!(distinct.len(), SPECIALISED.len(), "an id is listed twice");
        assert!(SPECIALISED.len() <= 64, "{} cases take too long to compile", SPECIALISED.len());
        Ok(())
    })
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

fn a_digest_notices_one_bit_and_no_payload() {
    let tensor = |bits: [u32; 3]| RawTensor::of(&[3], &bits.map(f32::from_bits));
    let plain = digest(&tensor([0, 0x3F80_0000, 0x7FC0_0000]));
    assert_eq!(plain, digest(&tensor([0, 0x3F80_0000, 0xFF80_0001])), "any NaN counts the same");
    assert_ne!(plain, digest(&tensor([0x8000_0000, 0x3F80_0000, 0x7FC0_0000])));
    assert_ne!(plain, digest(&tensor([0x3F80_0000, 0, 0x7FC0_0000])), "the order counts");
}

fn a_case_that_is_wrong_fails() {
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

#[cfg(feature = "gpu")]
fn paths_that_differ_fail() {
    let output = |bits: u32, index: i64| -> Outcome {
        let y = RawTensor::of(&[1], &[f32::from_bits(bits)]);
        Ok(Output { y, indices: Some(RawTensor::of(&[1], &[index])) })
    };
    let refused =
        |value| Err(Failure::Refused(ExecuteError::IndexOutOfRange { position: 0, value, unit: 2, count: 1 }));
    assert_eq!(agree(&output(0x7FC0_0000, 3), &output(0x7FC0_0000, 3)), Ok(()));
    assert!(agree(&output(0x7FC0_0000, 3), &output(0x7FC0_0001, 3)).is_err(), "another payload");
    assert!(agree(&output(0x7FC0_0000, 3), &output(0x7FC0_0000, 4)).is_err(), "another index");
    assert_eq!(agree(&refused(7), &refused(7)), Ok(()));
    assert!(agree(&refused(7), &refused(8)).is_err(), "another error");
    assert!(agree(&refused(7), &output(0, 0)).is_err() && agree(&output(0, 0), &refused(7)).is_err());
    let panicked = || Err(Failure::Panicked("as tested".to_owned()));
    assert!(agree(&panicked(), &panicked()).is_err(), "a panic is never right");
}
