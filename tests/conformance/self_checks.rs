//! Tests of the runner itself: a comparison that cannot fail would prove nothing.

use std::path::Path;
use std::process::{Command, Output as Finished};

use libtest_mimic::Trial;
use serde_json::Value;
use support::call::same;
use support::place;
use support::vectors::case::{Case, Expectation, Expected, Input};
use support::vectors::compare::{NanRule, compare};
use support::vectors::generated::digest;
use support::vectors::recipe::Recipe;
use support::vectors::tensors::RawTensor;
use wgpu_pooling::{Attribute, ExecuteError};

use crate::checks::Subject;
use crate::specialised::mark_listed;

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
        trial("a_list_that_is_wrong_fails", a_list_that_is_wrong_fails),
        trial("a_batch_with_our_names_has_its_own_list", a_batch_with_our_names_has_its_own_list),
        trial("outcomes_that_differ_fail", outcomes_that_differ_fail),
    ]
}

/// The cases of this repository that run in specialised builds are still listed.
pub fn own_cases_are_specialised(cases: &[Case]) -> Trial {
    let specialised = cases.iter().filter(|case| case.specialised).count();
    Trial::test("runner::own_cases_are_specialised", move || {
        assert_eq!(specialised, 64, "as tests/README.md says");
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

/// A pool of three elements in windows of two, whose kernel is given in the attribute of this name.
fn case_named(name: &str, attribute: &str, expectation: Expectation) -> Case {
    Case {
        name: name.to_owned(),
        recipe: Recipe {
            operator: "MaxPool".to_owned(),
            attributes: vec![(attribute.to_owned(), Attribute::Ints(vec![2]))],
            options: Vec::new(),
            output_shape: None,
        },
        x: Input::Stored(RawTensor::of(&[1, 1, 3], &[1.0f32, 5.0, 2.0])),
        indices: None,
        expectation,
        specialised: false,
        nan: NanRule::Any,
    }
}

fn a_case_that_is_wrong_fails() {
    let case = |attribute: &str, expectation| Subject::new(case_named("runner::case", attribute, expectation));
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

fn a_list_that_is_wrong_fails() {
    let name = |number: usize| format!("vectors::batch-{number:04}");
    let marked = |list: &str| {
        let mut cases: Vec<Case> =
            (0..70).map(|number| case_named(&name(number), "kernel_shape", Expectation::MayReject)).collect();
        let result = mark_listed(list, &mut cases);
        result.map(|()| cases.into_iter().filter(|case| case.specialised).map(|case| case.name).collect::<Vec<_>>())
    };
    assert_eq!(marked("# batch-0001\n\n batch-0002\nbatch-0069"), Ok(vec![name(2), name(69)]));
    assert!(marked("batch-0070").is_err_and(|error| error.contains("no case batch-0070")));
    assert!(marked("batch-0007\nbatch-0007").is_err_and(|error| error.contains("listed twice")));
    let ids = |count| (0..count).map(|number| format!("batch-{number:04}\n")).collect::<String>();
    assert_eq!(marked(&ids(64)).map(|marked| marked.len()), Ok(64));
    assert!(marked(&ids(65)).is_err(), "more than the budget");
}

/// A batch from elsewhere may have the names and the ids of one in this repository. An id that is listed here may then
/// stand for a case that no specialised kernel computes.
fn a_batch_with_our_names_has_its_own_list() {
    let own = place::root().join("tests/vectors");
    let id = "ort_maxunpool-0000";
    let list = std::fs::read_to_string(own.join("specialised.txt")).unwrap();
    assert!(list.lines().any(|line| line == id), "{id} is listed");
    // An unpool whose windows overlap.
    let mut manifest: Value = serde_json::from_slice(&std::fs::read(own.join("ort_roundtrip.json")).unwrap()).unwrap();
    let mut case =
        manifest["cases"].as_array().unwrap().iter().find(|case| case["id"] == "ort_roundtrip-0002").unwrap().clone();
    case["id"] = id.into();
    manifest["tensors"] = "ort_maxunpool.safetensors".into();
    manifest["case_count"] = 1.into();
    manifest["cases"] = vec![case].into();

    let foreign = std::env::temp_dir().join(format!("wgpu-pooling-foreign-{}", std::process::id()));
    std::fs::create_dir_all(&foreign).unwrap();
    std::fs::write(foreign.join("ort_maxunpool.json"), manifest.to_string()).unwrap();
    std::fs::copy(own.join("ort_roundtrip.safetensors"), foreign.join("ort_maxunpool.safetensors")).unwrap();
    let without = run_on(&foreign);
    std::fs::write(foreign.join("specialised.txt"), id).unwrap();
    let listed = run_on(&foreign);
    std::fs::write(foreign.join("specialised.txt"), "ort_maxunpool-0006").unwrap();
    let unknown = run_on(&foreign);
    std::fs::remove_dir_all(&foreign).unwrap();

    let text =
        |finished: &Finished| String::from_utf8_lossy(&[&finished.stdout[..], &finished.stderr].concat()).into_owned();
    assert!(without.status.success() && text(&without).contains("1 cases"), "{}", text(&without));
    assert!(!unknown.status.success() && text(&unknown).contains("there is no case"), "{}", text(&unknown));
    // Only a GPU runs specialised builds.
    #[cfg(feature = "gpu")]
    let fails = !support::harness::skips_gpu();
    #[cfg(not(feature = "gpu"))]
    let fails = false;
    let said = text(&listed);
    assert_eq!((!listed.status.success(), said.contains("none applies")), (fails, fails), "{said}");
}

/// This program on the cases of a directory.
fn run_on(directory: &Path) -> Finished {
    Command::new(std::env::current_exe().unwrap())
        .arg("vectors::")
        .env("WGPU_POOLING_VECTORS", directory)
        .output()
        .unwrap()
}

fn outcomes_that_differ_fail() {
    let output = |bits: u32, index: i64| Ok(vec![bits.to_le_bytes().to_vec(), index.to_le_bytes().to_vec()]);
    let refused = |value| Err(ExecuteError::IndexOutOfRange { position: 0, value, index_count: 2, count: 1 });
    assert_eq!(same(&output(0x7FC0_0000, 3), &output(0x7FC0_0000, 3)), Ok(()));
    assert!(same(&output(0x7FC0_0000, 3), &output(0x7FC0_0001, 3)).is_err(), "another payload");
    assert!(same(&output(0x7FC0_0000, 3), &output(0x7FC0_0000, 4)).is_err(), "another index");
    assert_eq!(same(&refused(7), &refused(7)), Ok(()));
    assert!(same(&refused(7), &refused(8)).is_err(), "another error");
    assert!(same(&refused(7), &output(0, 0)).is_err() && same(&output(0, 0), &refused(7)).is_err());
}
