//! Random pools and unpools of every kind, against definitions that are written here once more, and laws that hold
//! whatever the definitions say. Every case runs on the reference, in every kernel of the CPU backend that applies and,
//! in the binary `device`, in every family that applies on the GPU in the generic build; all of them have to give the
//! same bits. Specialised kernels are compiled for each case alone, so a fixed number of the first cases to which they
//! apply runs in them. Each test prints this number at its end.
//!
//! `WGPU_POOLING_CASES` is the number of cases of all tests together, `WGPU_POOLING_SEED` the seed; a case that fails
//! is printed as Rust code.

mod check;
mod code;
pub(crate) mod definition;
pub(crate) mod elements;
mod laws;
mod pools;
mod reach;
mod runner;
mod unpools;

use proptest::strategy::Strategy;

pub use check::{interpret, interpreted};
use pools::{
    channels_last_pools, divided_pools, plain_pools, planes, pools, reaching_pools, series_pools, sliding_pools,
    tiled_pools,
};
use runner::{caught, run};
use support::tests;
use unpools::{inverses, reaching_inverses, reaching_unpools, tiled_inverses, unpools};

tests! {
    here =>
        pools_are_what_their_definition_says,
        pools_of_innermost_channels_are_what_their_definition_says,
        pools_in_several_dispatches_are_what_their_definition_says,
        pools_of_small_windows_are_what_their_definition_says,
        pools_of_large_windows_are_what_their_definition_says,
        series_are_what_their_definition_says,
        whole_planes_are_what_their_definition_says,
        unpools_are_what_their_definition_says,
        inverses_of_pools_are_what_their_definition_says,
        inverses_of_small_windows_are_what_their_definition_says,
        pools_whose_windows_reach_far_are_what_their_definition_says,
        unpools_whose_windows_reach_far_are_what_their_definition_says,
        inverses_whose_windows_reach_far_are_what_their_definition_says,
        values_do_not_depend_on_indices,
        indices_name_their_maxima,
        unpooling_keeps_every_maximum_at_its_place,
        pooling_again_changes_nothing,
        layouts_are_transpositions,
        a_case_that_fails_is_shrunk_and_printed_as_code;
}

fn pools_are_what_their_definition_says() {
    run("pools", 28, 32, pools(), |case, bench| check::pool(case, bench).map(drop));
}

fn pools_of_innermost_channels_are_what_their_definition_says() {
    run("channels last", 2, 24, channels_last_pools(), |case, bench| check::pool(case, bench).map(drop));
}

fn pools_in_several_dispatches_are_what_their_definition_says() {
    run("divided", 1, 24, divided_pools(), |case, bench| check::pool(case, bench).map(drop));
}

fn pools_of_small_windows_are_what_their_definition_says() {
    run("small windows", 14, 32, tiled_pools(), |case, bench| check::pool(case, bench).map(drop));
}

fn pools_of_large_windows_are_what_their_definition_says() {
    run("large windows", 6, 8, sliding_pools(), |case, bench| check::pool(case, bench).map(drop));
}

fn series_are_what_their_definition_says() {
    run("series", 12, 8, series_pools(), |case, bench| check::pool(case, bench).map(drop));
}

fn whole_planes_are_what_their_definition_says() {
    run("planes", 3, 8, planes(), |case, bench| check::pool(case, bench).map(drop));
}

fn unpools_are_what_their_definition_says() {
    run("unpools", 22, 16, unpools(), |case, bench| check::unpool(case, bench).map(drop));
}

fn inverses_of_pools_are_what_their_definition_says() {
    run("inverses", 13, 16, inverses(), |case, bench| check::unpool(case, bench).map(drop));
}

fn inverses_of_small_windows_are_what_their_definition_says() {
    run("inverses of small windows", 8, 8, tiled_inverses(), |case, bench| check::unpool(case, bench).map(drop));
}

fn pools_whose_windows_reach_far_are_what_their_definition_says() {
    run("far-reaching pools", 5, 48, reaching_pools(), |case, bench| check::pool(case, bench).map(drop));
}

fn unpools_whose_windows_reach_far_are_what_their_definition_says() {
    run("far-reaching unpools", 3, 16, reaching_unpools(), |case, bench| check::unpool(case, bench).map(drop));
}

fn inverses_whose_windows_reach_far_are_what_their_definition_says() {
    run("far-reaching inverses", 2, 16, reaching_inverses(), |case, bench| check::unpool(case, bench).map(drop));
}

fn values_do_not_depend_on_indices() {
    run("values without indices", 5, 0, plain_pools(), laws::values_do_not_depend_on_indices);
}

fn indices_name_their_maxima() {
    run("indices", 5, 0, plain_pools(), laws::indices_name_their_maxima);
}

fn unpooling_keeps_every_maximum_at_its_place() {
    run("there and back", 5, 0, plain_pools(), laws::unpooling_keeps_every_maximum_at_its_place);
}

fn pooling_again_changes_nothing() {
    run("pooling again", 5, 0, plain_pools().prop_map(laws::disjoint), laws::pooling_again_changes_nothing);
}

fn layouts_are_transpositions() {
    run("layouts", 5, 0, plain_pools(), laws::layouts_are_transpositions);
}

fn a_case_that_fails_is_shrunk_and_printed_as_code() {
    let planted = || {
        run("a planted failure", 1, 0, pools(), |_, _| Err("planted".to_owned()));
        Ok(())
    };
    let text = caught(planted).expect_err("a failing check fails the test");
    for line in [
        "a planted failure: planted\n",
        "let x = Tensor::new([1, 1, 1], [0x00000000].map(f32::from_bits64).to_vec()).unwrap();\n",
        "let pool = MaxPool::new([1]);\n",
        "let plan = pool.plan(x.shape(), DType::F32, None).unwrap();\n",
    ] {
        assert!(text.contains(line), "{line:?} is not in:\n{text}");
    }
}
