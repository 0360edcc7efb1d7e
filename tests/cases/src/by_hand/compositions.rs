//! Differences of any two elements, of which compositions are made.

use support::call::{Call, same};
use support::draw::elements::{bits_of, bytes_of, mixed};
use support::net::Net;
use wgpu_pooling::{DType, DifferencePlan, Layout, Plan, TensorSpec};

use crate::random::compositions::minus;

#[test]
fn differences_of_any_two_elements() {
    let net = Net::new(0).every_level();
    for dtype in DType::ALL {
        for count in [1, 2, 3, 5, 64 * 4 + 3, 200_001] {
            let a = bits_of(dtype, &mixed(dtype, count, 3));
            let b = match count {
                // Neighbours, too, whose difference is small beside them.
                3 => a.iter().map(|bits| bits ^ 1).collect(),
                _ => bits_of(dtype, &mixed(dtype, count, 8 + count as u64)),
            };
            let difference: Vec<u64> = a.iter().zip(&b).map(|(&a, &b)| minus(dtype, a, b)).collect();
            let spec = TensorSpec { shape: vec![1, 1, count], dtype, layout: Layout::Nchw };
            let inputs = vec![bytes_of(dtype, &a), bytes_of(dtype, &b)];
            let call = Call::new(Plan::Difference(DifferencePlan::of(&spec)), inputs);
            let expected = Ok(vec![bytes_of(dtype, &difference)]);
            net.each(&call, |outcome| same(&expected, outcome)).unwrap_or_else(|error| panic!("{dtype}: {error}"));
        }
    }
}
