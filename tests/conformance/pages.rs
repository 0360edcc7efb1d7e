//! Examples of operator pages that no node test holds, and uneven adaptive windows worked out by hand.
//!
//! The examples of the ONNX MaxPool and MaxUnpool pages are node tests of the same names: see `tests/onnx-node-tests`.

use support::splitmix::splitmix64;
use support::vectors::case::{Case, Expectation, Expected, Input};
use support::vectors::compare::NanRule;
use support::vectors::recipe::Recipe;
use support::vectors::tensors::RawTensor;
use wgpu_pooling::Attribute;

pub fn cases() -> Vec<Case> {
    vec![
        adaptive_32x32_to_16x16(),
        // Windows [0, 3) and [2, 5) share the element at 2.
        adaptive(
            "adaptive_max_pool_5_to_2",
            &[2],
            (&[1, 3, 5], &[1.0, 1.0, 9.0, 2.0, 3.0, 3.0, 1.0, 4.0, 1.0, 5.0, 2.0, 7.0, 7.0, 0.0, 7.0]),
            (&[1, 3, 2], &[9.0, 9.0, 4.0, 5.0, 7.0, 7.0], &[2, 2, 2, 4, 1, 2]),
        ),
        // More outputs than inputs: windows [0, 1), [0, 1), [0, 2), [1, 2), [1, 2).
        adaptive(
            "adaptive_max_pool_2_to_5",
            &[5],
            (&[2, 1, 2], &[7.0, 3.0, 3.0, 7.0]),
            (&[2, 1, 5], &[7.0, 7.0, 7.0, 3.0, 3.0, 3.0, 3.0, 7.0, 7.0, 7.0], &[0, 0, 0, 1, 1, 0, 0, 1, 1, 1]),
        ),
        // Rows [0, 3), [2, 5), [4, 7) and columns [0, 3), [2, 5). The 7 lies in two windows, and the last window has 5
        // twice, of which the first counts.
        adaptive(
            "adaptive_max_pool_7x5_to_3x2",
            &[3, 2],
            (
                &[1, 1, 7, 5],
                &[
                    1.0, 2.0, 3.0, 4.0, 5.0, //
                    9.0, 0.0, 0.0, 0.0, 8.0, //
                    0.0, 0.0, 7.0, 0.0, 0.0, //
                    0.0, 6.0, 0.0, 0.0, 6.0, //
                    0.0, 0.0, 0.0, 0.0, 0.0, //
                    -1.0, -1.0, -1.0, 5.0, -1.0, //
                    5.0, -2.0, 4.0, 5.0, -3.0,
                ],
            ),
            (&[1, 1, 3, 2], &[9.0, 8.0, 7.0, 7.0, 5.0, 5.0], &[5, 9, 12, 12, 30, 28]),
        ),
        // Three axes, one of them uneven: depth 3 to 2 has the windows [0, 2) and [1, 3).
        adaptive(
            "adaptive_max_pool_3x1x2_to_2x1x1",
            &[2, 1, 1],
            (&[1, 1, 3, 1, 2], &[1.0, 4.0, 2.0, 3.0, 0.0, 6.0]),
            (&[1, 1, 2, 1, 1], &[4.0, 6.0], &[1, 5]),
        ),
    ]
}

/// The example of OpenVINO's AdaptiveMaxPool-8 page: 1x3x32x32 to 16x16. Every window is 2x2.
fn adaptive_32x32_to_16x16() -> Case {
    // Few values, so that ties are common.
    let x: Vec<f32> = (0..3 * 32 * 32).map(|i| (splitmix64(i) % 7) as f32 - 3.0).collect();
    let (mut y, mut indices) = (Vec::new(), Vec::new());
    for plane in x.chunks_exact(32 * 32) {
        for out in 0..16 * 16 {
            let corner = out / 16 * 2 * 32 + out % 16 * 2;
            let mut best = corner;
            for position in [corner + 1, corner + 32, corner + 33] {
                if plane[position] > plane[best] {
                    best = position;
                }
            }
            y.push(plane[best]);
            indices.push(best as i64);
        }
    }
    let shape = [1, 3, 16, 16];
    adaptive("adaptive_max_pool_32x32_to_16x16", &[16, 16], (&[1, 3, 32, 32], &x), (&shape, &y, &indices))
}

fn adaptive(
    name: &str,
    output_size: &[i64],
    (shape, x): (&[usize], &[f32]),
    (y_shape, y, indices): (&[usize], &[f32], &[i64]),
) -> Case {
    Case {
        name: format!("pages::{name}"),
        recipe: Recipe {
            operator: "AdaptiveMaxPool".to_owned(),
            attributes: vec![("output_size".to_owned(), Attribute::Ints(output_size.to_vec()))],
            options: Vec::new(),
            output_shape: None,
        },
        x: Input::Stored(RawTensor::of(shape, x)),
        indices: None,
        expectation: Expectation::Output {
            y: Expected::Stored(RawTensor::of(y_shape, y)),
            indices: Some(Expected::Stored(RawTensor::of(y_shape, indices))),
        },
        specialised: false,
        nan: NanRule::Exact,
    }
}
