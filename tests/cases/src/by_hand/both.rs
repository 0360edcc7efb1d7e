//! Runs one computation on every path and compares the results.

use support::call::{Call, Outcome, same};
use support::net::Net;
use wgpu_pooling::{DType, Element, ExecuteError, Index, IndexType, MaxUnpool, Pooling};

/// A shape and its elements.
pub type Dense<'a, T> = (&'a [usize], &'a [T]);

/// An element type that small numbers can be written in.
pub trait Number: Element {
    /// The element with this value; the value is one that the type has.
    fn of(value: f64) -> Self;
}

macro_rules! numbers {
    ($($type:ty: $of:expr),+) => {
        $(impl Number for $type {
            fn of(value: f64) -> Self {
                $of(value)
            }
        })+
    };
}

numbers!(
    f32: |value| value as f32, f64: |value| value, half::f16: half::f16::from_f64, half::bf16: half::bf16::from_f64,
    i8: |value| value as i8, u8: |value| value as u8, i16: |value| value as i16, u16: |value| value as u16,
    i32: |value| value as i32, u32: |value| value as u32, i64: |value| value as i64, u64: |value| value as u64
);

/// The elements with these values.
pub fn numbers<T: Number>(values: &[f64]) -> Vec<T> {
    values.iter().map(|&value| T::of(value)).collect()
}

/// Calls a function with the type of every dtype.
macro_rules! for_every_dtype {
    ($function:ident) => {{
        $function::<f32>();
        $function::<half::f16>();
        $function::<half::bf16>();
        $function::<f64>();
        $function::<i8>();
        $function::<u8>();
        $function::<i16>();
        $function::<u16>();
        $function::<i32>();
        $function::<u32>();
        $function::<i64>();
        $function::<u64>();
    }};
}
pub(crate) use for_every_dtype;

/// Checks that a pool of X gives exactly this Y and these indices, in every bit, and the same Y without indices.
#[track_caller]
pub fn pools<T: Element, I: Index>(pool: &impl Pooling, x: Dense<T>, y: Dense<T>, indices: Dense<I>) {
    pools_in(GENERIC, pool, x, y, indices);
}

/// The same, in the specialised builds of this many calls.
#[track_caller]
pub fn pools_in<T: Element, I: Index>(
    specialised: u32,
    pool: &impl Pooling,
    x: Dense<T>,
    y: Dense<T>,
    indices: Dense<I>,
) {
    let net = Net::new(specialised).every_level();
    for index_type in [Some(I::INDEX_TYPE), None] {
        let plan = pool.plan(x.0, T::DTYPE, index_type).unwrap();
        assert_eq!(plan.output_shape(), y.0);
        let mut expected = vec![bytes(y.1)];
        if index_type.is_some() {
            assert_eq!(plan.outputs()[1].shape, indices.0);
            expected.push(bytes(indices.1));
        }
        let expected = Ok(expected);
        let call = Call::new(plan, vec![bytes(x.1)]);
        net.each(&call, |outcome| same(&expected, outcome)).unwrap();
    }
}

/// Checks that an unpool of X at these indices gives exactly this Y, in every bit, or this error.
#[track_caller]
pub fn unpools<T: Element, I: Index>(
    unpool: &MaxUnpool,
    x: Dense<T>,
    indices: Dense<I>,
    expected: Result<Dense<T>, ExecuteError>,
) {
    unpools_in(GENERIC, unpool, x, indices, expected);
}

/// The same, in the specialised builds of this many calls.
#[track_caller]
pub fn unpools_in<T: Element, I: Index>(
    specialised: u32,
    unpool: &MaxUnpool,
    x: Dense<T>,
    indices: Dense<I>,
    expected: Result<Dense<T>, ExecuteError>,
) {
    let shape = unpool.plan(x.0, T::DTYPE, I::INDEX_TYPE).unwrap().output_shape().to_vec();
    assert!(expected.as_ref().map_or(true, |y| y.0 == shape), "the output shape is {shape:?}");
    let expected = expected.map(|y| vec![bytes(y.1)]);
    check_unpool(specialised, unpool, x, indices, |outcome| same(&expected, outcome));
}

/// Runs an unpool on every path and passes each result to `check`.
#[track_caller]
pub fn check_unpool<T: Element, I: Index>(
    specialised: u32,
    unpool: &MaxUnpool,
    x: Dense<T>,
    indices: Dense<I>,
    check: impl FnMut(&Outcome) -> Result<(), String>,
) {
    let plan = unpool.plan(x.0, T::DTYPE, I::INDEX_TYPE).unwrap();
    let call = Call::new(plan, vec![bytes(x.1), bytes(indices.1)]);
    Net::new(specialised).every_level().each(&call, check).unwrap();
}

/// Most cases run in the generic kernels alone: a specialised one takes longer to compile than all the others of a case
/// take to run.
pub const GENERIC: u32 = 0;

/// The bytes of elements.
pub fn bytes<T: bytemuck::NoUninit>(elements: &[T]) -> Vec<u8> {
    bytemuck::cast_slice(elements).to_vec()
}

/// The plan's output shape for an f32 X, without computing anything.
#[track_caller]
pub fn output_shape(pool: &impl Pooling, shape: &[usize]) -> Vec<usize> {
    pool.plan(shape, DType::F32, Some(IndexType::I64)).unwrap().output_shape().to_vec()
}
