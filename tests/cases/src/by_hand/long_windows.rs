//! Long windows, which nothing computes tap by tap: the CPU backend beside a monotone queue, whose work does not depend
//! on the window.

use support::queue::winners;
use wgpu_pooling::{Cpu, IndexType, Layout, MaxPool, PreparedPlan, Tensor, TensorRef, TensorView};

use super::both::Number;

/// One plane, or the channels of one item, with the same window along each of the axes.
fn is_right<T: Number>(axes: &[usize], channels: usize, window: [usize; 3]) {
    let shape = [&[1], axes, &[channels]].concat();
    // Slowly falling, with equal elements and peaks: winners come from everywhere in their windows.
    let count = shape.iter().product::<usize>();
    let value = |place: usize| {
        let peak = if place.wrapping_mul(2_654_435_761).is_multiple_of(9_001) { 20.0 } else { 0.0 };
        ((count - place) as f64 * 100.0 / count as f64).round() + peak
    };
    let x: Vec<T> = (0..count).map(|place| T::of(value(place))).collect();
    let [kernel, pad, stride] = window.map(|number| vec![number as i64; axes.len()]);
    let pool = MaxPool::new(kernel).strides(stride).pads([&pad[..], &pad[..]].concat()).layout(Layout::Nhwc);
    let view = TensorRef::from(TensorView::new(&shape, &x).unwrap());
    let values = pool.plan(&shape, T::DTYPE, None).unwrap();
    let expected = winners(values.pool().unwrap(), &x);
    let y: Tensor<T> = Cpu::new().prepare(values).unwrap().call_blocking(&[view]).unwrap();
    let same = y.data().iter().zip(&expected).all(|(y, &place)| y.to_bits64() == x[place].to_bits64());
    assert!(same && y.data().len() == expected.len(), "{axes:?}, {channels}, {window:?}, {}", T::DTYPE.name());
    let with_indices = pool.index_layout(Layout::Nhwc).plan(&shape, T::DTYPE, Some(IndexType::I64)).unwrap();
    let prepared = Cpu::new().prepare(with_indices).unwrap();
    let (y, indices): (Tensor<T>, Tensor<i64>) = prepared.call_blocking(&[view]).unwrap();
    let own = y.data().iter().zip(indices.data()).zip(&expected);
    let differs = own
        .into_iter()
        .position(|((y, &index), &place)| y.to_bits64() != x[place].to_bits64() || index != place as i64);
    assert_eq!(differs, None, "{axes:?}, {channels}, {window:?}, {} with indices", T::DTYPE.name());
}

/// Every power of two and its neighbours, with types, strides and channels in turn.
fn sweep(axes: &[usize], least: u32, most: u32) {
    let windows = (least..=most).flat_map(|power| [(1usize << power) - 1, 1 << power, (1 << power) + 1]);
    for (number, kernel) in windows.enumerate() {
        let window = [kernel, [kernel / 2, 0, kernel - 1][number % 3], [1, 1, 2, 1, 5, 1, 1][number % 7]];
        let window =
            if axes.iter().any(|extent| extent + 2 * window[1] < kernel) { [kernel, kernel - 1, 1] } else { window };
        let channels = if number % 4 == 3 { 2 + number % 3 } else { 1 };
        match number % 5 {
            0 => is_right::<f32>(axes, channels, window),
            1 => is_right::<u8>(axes, channels, window),
            2 => is_right::<half::f16>(axes, channels, window),
            3 => is_right::<f64>(axes, channels, window),
            _ => is_right::<i32>(axes, channels, window),
        }
    }
}

#[test]
fn along_one_axis() {
    sweep(&[150_000], 8, 20);
}

#[test]
fn along_two_axes() {
    sweep(&[190, 260], 4, 10);
}

#[test]
fn along_three_axes() {
    sweep(&[24, 40, 33], 3, 6);
}
