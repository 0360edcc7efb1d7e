//! The fuzz targets: what each does with any bytes. `fuzz` has them for cargo-fuzz, and says how a failing input is
//! tried alone; the tests try random bytes.

#[cfg(test)]
mod attempts;
pub mod cases;

use support::draw::Case;
use support::draw::bias::{Bias, COLUMNS, COMPOSED, FLAT, INTERLEAVED, POOLS, REACHING, RUNS, SMALL_WINDOWS, TIDY};
use support::draw::bytes::Bytes;
use support::draw::compositions::CompositionCase;
use support::draw::pools::PoolCase;
use support::draw::unpools::{UNPOOLS, UnpoolCase};
use support::net::Net;

/// What an input is made into.
const BIASES: [Bias; 8] = [TIDY, SMALL_WINDOWS, REACHING, COLUMNS, FLAT, INTERLEAVED, RUNS, POOLS];

/// The most elements of X, so that there are many inputs a second.
const MOST_ELEMENTS: usize = 2048;

/// Runs a case that is made of the bytes on these paths, and expects the bits or the error of the reference.
/// A GPU runs generic builds: there are thousands of inputs, and a specialised kernel is compiled for its window alone.
pub fn agree(data: &[u8], paths: fn(Net) -> Net) {
    let mut bytes = Bytes(data);
    let turn = bytes.word();
    let bias = Bias { most_elements: MOST_ELEMENTS, ..bytes.of(&BIASES) };
    let case = match bytes.byte() % 8 {
        0..4 => Case::Pool(PoolCase::draw(&bias, &mut bytes)),
        4 | 5 => Case::Unpool(UnpoolCase::draw(&UNPOOLS, &mut bytes).decided()),
        6 => Case::Unpool(UnpoolCase::inverse(&bias, &mut bytes).decided()),
        _ => Case::Composition(CompositionCase::draw(&COMPOSED, &mut bytes)),
    };
    if let Ok(Some(call)) = case.call() {
        paths(Net::at(turn as u32)).agree(&call).unwrap_or_else(|error| panic!("{error}\n\n{}", case.reproducer()));
    }
}
