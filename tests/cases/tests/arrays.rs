//! Arrays of the crate ndarray as tensors and back: nothing is copied, and what is not dense is refused, not reordered.

use ndarray::{Array, Array3, ArrayD, ArrayViewD, Axis, Slice, s};
use wgpu_pooling::{MaxPool, PlanError, Reference, Tensor, TensorView};

fn counting() -> Array3<f32> {
    Array::from_shape_fn((2, 3, 4), |(n, c, w)| (n * 12 + c * 4 + w) as f32)
}

#[test]
fn views_go_in_and_out_without_a_copy() {
    let array = counting();
    let view = TensorView::try_from(&array).unwrap();
    assert_eq!((view.shape(), view.data().as_ptr()), (&[2, 3, 4][..], array.as_ptr()));
    let back = ArrayViewD::try_from(view).unwrap();
    assert_eq!((back.as_ptr(), &back), (array.as_ptr(), &array.view().into_dyn()));
    let y = MaxPool::new([2]).on(view).run_blocking(&Reference).unwrap();
    let y = ArrayD::try_from(y).unwrap();
    assert_eq!(y[[1, 2, 2]], 23.0);
}

#[test]
fn owned_arrays_keep_their_memory() {
    let array = counting();
    let pointer = array.as_ptr();
    let tensor = Tensor::try_from(array).unwrap();
    assert_eq!(tensor.data().as_ptr(), pointer);
    let array = ArrayD::try_from(tensor).unwrap();
    assert_eq!((array.as_ptr(), array.shape()), (pointer, &[2, 3, 4][..]));
}

#[test]
fn a_part_of_an_array_is_the_tensor_of_that_part() {
    let mut array = counting();
    array.slice_axis_inplace(Axis(0), Slice::from(1..));
    let tensor = Tensor::try_from(array).unwrap();
    assert_eq!(tensor.shape(), &[1, 3, 4]);
    assert_eq!(tensor.data(), (12..24).map(|i| i as f32).collect::<Vec<_>>());
    let mut front = counting();
    front.slice_axis_inplace(Axis(0), Slice::from(..1));
    assert_eq!(Tensor::try_from(front).unwrap().data().len(), 12);
    let array = counting();
    let slice = array.slice(s![1, 1..2, ..]);
    let middle = TensorView::try_from(&slice).unwrap();
    assert_eq!(middle.data(), [16.0, 17.0, 18.0, 19.0]);
}

#[test]
fn what_is_not_dense_and_row_major_is_refused_with_its_strides() {
    let array = counting();
    let refused = |shape: [usize; 3], strides: [isize; 3]| PlanError::NotDense {
        shape: shape.to_vec(),
        strides: strides.to_vec(),
    };
    let transposed = TensorView::try_from(&array.t()).unwrap_err();
    assert_eq!(transposed, refused([4, 3, 2], [1, 4, 12]));
    let reversed = TensorView::try_from(&array.slice(s![.., .., ..;-1])).unwrap_err();
    assert_eq!(reversed, refused([2, 3, 4], [12, 4, -1]));
    let gaps = TensorView::try_from(&array.slice(s![.., .., ..3])).unwrap_err();
    assert_eq!(gaps, refused([2, 3, 3], [12, 4, 1]));
    let owned = Tensor::try_from(array.reversed_axes()).unwrap_err();
    assert_eq!(owned, refused([4, 3, 2], [1, 4, 12]));
}

#[test]
fn arrays_without_elements_are_tensors_without_elements() {
    let array = Array3::<u8>::zeros((0, 3, 4));
    assert_eq!(TensorView::try_from(&array).unwrap().shape(), &[0, 3, 4]);
    let tensor = Tensor::try_from(array).unwrap();
    assert_eq!(ArrayD::try_from(tensor).unwrap().shape(), &[0, 3, 4]);
}
