//! Drawn pools, unpools and compositions of every kind, against definitions that are written here once more, and laws
//! that hold whatever the definitions say. Every case runs on every path ([`support::net`]); all of them have to give
//! the same bits. Each test prints at its end how many took each path.
//!
//! `WGPU_POOLING_CASES` is the number of cases of all tests together, `WGPU_POOLING_SEED` the seed; a case that fails
//! is printed as a test.

mod check;
pub mod compositions;
pub mod definition;
#[cfg(feature = "cpu")]
mod kernels;
mod laws;
mod runner;
mod unpool;

use support::draw::Case;
use support::draw::bias::{
    Bias, CELLS, CHANNELS_LAST, COMPOSED, DIVIDED, LARGE_WINDOWS, PLANES, POOLS, REACHING, SERIES, SMALL_WINDOWS,
    STRIPS, TIDY,
};
use support::draw::bytes::Bytes;
use support::draw::compositions::CompositionCase;
use support::draw::pools::PoolCase;
use support::draw::unpools::{self, UNPOOLS, UnpoolCase, Unpools};
use support::net::Net;
use wgpu_pooling::{Duplicates, IndexType, OutOfBounds, OutsideWindow};

use runner::{caught, run};

/// What is drawn runs on a GPU, unless the tests that need one are left out.
#[cfg(feature = "gpu")]
#[gpu_test::gpu_test]
fn a_gpu_is_among_the_paths() {
    let net = Net::new(0);
    let call = Case::Pool(PoolCase::draw(&TIDY, &mut Bytes(&[]))).call().unwrap().unwrap();
    net.agree(&call).unwrap();
    assert_eq!((net.counted("GPU"), net.counted("GPU encoded")), (1, 1), "{net}");
}

/// A case against its definition.
pub fn check(case: &Case, net: &Net) -> Result<(), String> {
    match case {
        Case::Pool(case) => check::pool(case, net).map(drop),
        Case::Unpool(case) => check::unpool(case, net).map(drop),
        Case::Composition(case) => check::composition(case, net),
    }
}

fn pools(name: &str, percent: u64, specialised: u32, bias: Bias) {
    run(name, percent, specialised, |bytes| Case::Pool(PoolCase::draw(&bias, bytes)), check);
}

fn unpools(name: &str, percent: u64, specialised: u32, of: Unpools) {
    run(name, percent, specialised, |bytes| Case::Unpool(UnpoolCase::draw(&of, bytes)), check);
}

fn inverses(name: &str, percent: u64, specialised: u32, bias: Bias) {
    run(name, percent, specialised, |bytes| Case::Unpool(UnpoolCase::inverse(&bias, bytes)), check);
}

#[test]
fn pools_are_what_their_definition_says() {
    pools("pools", 30, 40, POOLS);
}

#[test]
fn pools_of_innermost_channels_are_what_their_definition_says() {
    pools("channels last", 2, 24, CHANNELS_LAST);
}

#[test]
fn pools_in_several_dispatches_are_what_their_definition_says() {
    pools("divided", 2, 24, DIVIDED);
}

#[test]
fn pools_of_small_windows_are_what_their_definition_says() {
    pools("small windows", 14, 48, SMALL_WINDOWS);
}

#[test]
fn pools_of_large_windows_are_what_their_definition_says() {
    pools("large windows", 5, 12, LARGE_WINDOWS);
}

#[test]
fn strips_are_what_their_definition_says() {
    pools("strips", 8, 8, STRIPS);
}

#[test]
fn series_are_what_their_definition_says() {
    pools("series", 20, 16, SERIES);
}

#[test]
fn whole_planes_are_what_their_definition_says() {
    pools("planes", 4, 12, PLANES);
}

#[test]
fn unpools_are_what_their_definition_says() {
    unpools("unpools", 22, 16, UNPOOLS);
}

#[test]
fn inverses_of_pools_are_what_their_definition_says() {
    inverses("inverses", 13, 16, POOLS);
}

#[test]
fn inverses_of_small_windows_are_what_their_definition_says() {
    inverses("inverses of small windows", 8, 8, CELLS);
}

#[test]
fn pools_whose_windows_reach_far_are_what_their_definition_says() {
    pools("far-reaching pools", 5, 48, REACHING);
}

#[test]
fn unpools_whose_windows_reach_far_are_what_their_definition_says() {
    unpools("far-reaching unpools", 3, 16, unpools::REACHING);
}

#[test]
fn inverses_whose_windows_reach_far_are_what_their_definition_says() {
    inverses("far-reaching inverses", 2, 16, REACHING);
}

/// Where indices are kept to their windows, an unpool of a pool's own indices is one dispatch.
#[test]
fn indices_outside_their_windows_are_errors_or_skipped() {
    let draw = |bytes: &mut Bytes<'_>| {
        let (rule, bias) = (bytes.of(&[OutsideWindow::Error, OutsideWindow::Skip]), bytes.of(&[CELLS, SMALL_WINDOWS]));
        let mut case = match bytes.byte() % 10 {
            0 | 1 => UnpoolCase::draw(&UNPOOLS, bytes),
            2 | 3 => UnpoolCase::draw(&unpools::IN_PADDING, bytes),
            _ => UnpoolCase::inverse(&bias, bytes),
        };
        case.options.outside_window = Some(rule);
        Case::Unpool(case)
    };
    run("own windows", 12, 24, draw, check);
}

/// Unpools whose equal indices are not told apart and whose bad ones are skipped take two dispatches for elements of
/// four bytes.
#[test]
fn any_source_may_win_but_one_of_them_does() {
    let draw = |bytes: &mut Bytes<'_>| {
        let mut case = UnpoolCase::draw(&UNPOOLS, bytes);
        case.options.duplicates = Some(Duplicates::Any);
        case.options.out_of_bounds = Some(OutOfBounds::Skip);
        Case::Unpool(case)
    };
    run("any wins", 6, 12, draw, check);
}

#[test]
fn compositions_are_what_their_definition_says() {
    run("compositions", 10, 4, |bytes| Case::Composition(CompositionCase::draw(&COMPOSED, bytes)), check);
}

/// A pool with indices and without an activation. Windows wholly in padding have the index -1.
fn plain(bytes: &mut Bytes<'_>) -> PoolCase {
    let mut case = PoolCase::draw(&TIDY, bytes);
    case.indices = case.indices.or(Some(IndexType::I64));
    case.empty.index = None;
    if let support::draw::pools::Operator::Max(options) = &mut case.operator {
        (options.activation, options.pads_limit) = (None, None);
    }
    case
}

/// A law about pools.
fn law(name: &str, draw: impl Fn(PoolCase) -> PoolCase, law: fn(&PoolCase, &Net) -> Result<(), String>) {
    run(
        name,
        5,
        0,
        |bytes| Case::Pool(draw(plain(bytes))),
        |case, net| match case {
            Case::Pool(case) => law(case, net),
            other => Err(format!("{other:?} is no pool")),
        },
    );
}

#[test]
fn values_do_not_depend_on_indices() {
    law("values without indices", |case| case, laws::values_do_not_depend_on_indices);
}

#[test]
fn indices_name_their_maxima() {
    law("indices", |case| case, laws::indices_name_their_maxima);
}

#[test]
fn unpooling_keeps_every_maximum_at_its_place() {
    law("there and back", |case| case, laws::unpooling_keeps_every_maximum_at_its_place);
}

#[test]
fn pooling_again_changes_nothing() {
    law("pooling again", laws::disjoint, laws::pooling_again_changes_nothing);
}

#[test]
fn layouts_are_transpositions() {
    law("layouts", |case| case, laws::layouts_are_transpositions);
}

#[test]
fn a_case_that_fails_is_simplified_and_printed_as_code() {
    let planted = || {
        let draw = |bytes: &mut Bytes<'_>| Case::Pool(PoolCase::draw(&POOLS, bytes));
        run("a planted failure", 1, 0, draw, |_, _| Err("planted".to_owned()));
        Ok(())
    };
    let text = caught(planted).expect_err("a failing check fails the test");
    for line in [
        "a planted failure: planted\n",
        "let plan = MaxPool::new([1]).plan(&[1, 1, 1], DType::F32, None).unwrap();\n",
        "let call = Call::new(plan, vec![bytes_of(DType::F32, &[0x00000000])]);\n",
    ] {
        assert!(text.contains(line), "{line:?} is not in:\n{text}");
    }
}
