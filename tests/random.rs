//! Random pools and unpools of every kind, against definitions that are written here once more, and laws that hold
//! whatever the definitions say. Every case runs on the reference and, in the generic build, in every family that applies
//! on the GPU; all of them have to give the same bits.
//!
//! `WGPU_POOLING_CASES` is the number of cases of all tests together, `WGPU_POOLING_SEED` where they begin; a case that
//! fails is printed as Rust code. `WGPU_POOLING_SKIP_GPU=1` leaves the reference.
#![cfg(feature = "gpu")]

mod common;
mod random {
    pub mod check;
    pub mod code;
    pub mod definition;
    pub mod elements;
    pub mod laws;
    pub mod pools;
    pub mod runner;
    pub mod unpools;
}

use proptest::strategy::Strategy;
use random::pools::{plain_pools, pools};
use random::runner::run;
use random::unpools::{inverses, unpools};
use random::{check, laws};

#[test]
fn pools_are_what_their_definition_says() {
    run("pools", 34, pools(), |case, bench| check::pool(case, bench).map(drop));
}

#[test]
fn unpools_are_what_their_definition_says() {
    run("unpools", 26, unpools(), |case, bench| check::unpool(case, bench).map(drop));
}

#[test]
fn inverses_of_pools_are_what_their_definition_says() {
    run("inverses", 15, inverses(), |case, bench| check::unpool(case, bench).map(drop));
}

#[test]
fn values_do_not_depend_on_indices() {
    run("values without indices", 5, plain_pools(), laws::values_do_not_depend_on_indices);
}

#[test]
fn indices_name_their_maxima() {
    run("indices", 5, plain_pools(), laws::indices_name_their_maxima);
}

#[test]
fn unpooling_keeps_every_maximum_at_its_place() {
    run("there and back", 5, plain_pools(), laws::unpooling_keeps_every_maximum_at_its_place);
}

#[test]
fn pooling_again_changes_nothing() {
    run("pooling again", 5, plain_pools().prop_map(laws::disjoint), laws::pooling_again_changes_nothing);
}

#[test]
fn layouts_are_transpositions() {
    run("layouts", 5, plain_pools(), laws::layouts_are_transpositions);
}
