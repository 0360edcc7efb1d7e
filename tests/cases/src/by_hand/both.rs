//! Runs one computation on every path and compares the results.

#[cfg(feature = "cpu")]
use wgpu_pooling::SimdLevel;
use wgpu_pooling::{Build, DType, Element, ExecuteError, Index, IndexType, MaxUnpool, Pooling, Tensor, TensorView};
#[cfg(feature = "gpu")]
use wgpu_pooling::{Choice, Plan, PlanError, Prepared, families, select};

use support::calls::reference;
#[cfg(feature = "cpu")]
use support::cpu::ways;

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

/// The same in these builds of the kernels.
#[track_caller]
pub fn pools_in<T: Element, I: Index>(
    builds: &[Build],
    pool: &impl Pooling,
    x: Dense<T>,
    y: Dense<T>,
    indices: Dense<I>,
) {
    let _ = builds;
    let view = TensorView::new(x.0, x.1).unwrap();
    let plan = pool.plan(x.0, T::DTYPE, Some(I::INDEX_TYPE)).unwrap();
    let (reference_y, reference_indices) = reference::max_pool_with_indices::<T, I>(&plan, view).unwrap();
    same("reference", &reference_y, y);
    assert_eq!((reference_indices.shape(), reference_indices.data()), indices, "reference");
    let values_only = pool.plan(x.0, T::DTYPE, None).unwrap();
    same("reference, values only", &reference::max_pool(&values_only, view).unwrap(), y);
    #[cfg(feature = "gpu")]
    {
        on_gpu(builds, &plan, |kernel, prepared| {
            let (gpu_y, gpu_indices) = support::calls::max_pool_with_indices::<T, I>(&prepared, view).unwrap();
            same(kernel, &gpu_y, y);
            assert_eq!((gpu_indices.shape(), gpu_indices.data()), indices, "{kernel}");
        });
        on_gpu(builds, &values_only, |kernel, prepared| {
            same(kernel, &support::calls::max_pool(&prepared, view).unwrap(), y);
        });
    }
    #[cfg(feature = "cpu")]
    {
        for (kernel, prepared) in ways(&plan, SimdLevel::available()).unwrap() {
            let (cpu_y, cpu_indices) = support::calls::max_pool_with_indices::<T, I>(&prepared, view).unwrap();
            same(&kernel, &cpu_y, y);
            assert_eq!((cpu_indices.shape(), cpu_indices.data()), indices, "{kernel}");
        }
        for (kernel, prepared) in ways(&values_only, SimdLevel::available()).unwrap() {
            same(&kernel, &support::calls::max_pool(&prepared, view).unwrap(), y);
        }
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

/// The same in these builds of the kernels.
#[track_caller]
pub fn unpools_in<T: Element, I: Index>(
    builds: &[Build],
    unpool: &MaxUnpool,
    x: Dense<T>,
    indices: Dense<I>,
    expected: Result<Dense<T>, ExecuteError>,
) {
    check_unpool_in(builds, unpool, x, indices, |path, result| match &expected {
        Ok(y) => same(path, &result.unwrap_or_else(|error| panic!("{path}: {error}")), *y),
        Err(error) => assert_eq!(result, Err(error.clone()), "{path}"),
    });
}

/// Runs an unpool on every path and passes each result to `check`.
#[track_caller]
pub fn check_unpool<T: Element, I: Index>(
    unpool: &MaxUnpool,
    x: Dense<T>,
    indices: Dense<I>,
    check: impl Fn(&str, Result<Tensor<T>, ExecuteError>),
) {
    check_unpool_in(GENERIC, unpool, x, indices, check);
}

#[track_caller]
fn check_unpool_in<T: Element, I: Index>(
    builds: &[Build],
    unpool: &MaxUnpool,
    x: Dense<T>,
    indices: Dense<I>,
    check: impl Fn(&str, Result<Tensor<T>, ExecuteError>),
) {
    let _ = builds;
    let x_view = TensorView::new(x.0, x.1).unwrap();
    let indices_view = TensorView::new(indices.0, indices.1).unwrap();
    let plan = unpool.plan(x.0, T::DTYPE, I::INDEX_TYPE).unwrap();
    check("reference", reference::max_unpool(&plan, x_view, indices_view));
    #[cfg(feature = "cpu")]
    for (kernel, prepared) in ways(&plan, SimdLevel::available()).unwrap() {
        check(&kernel, support::calls::max_unpool(&prepared, x_view, indices_view));
    }
    #[cfg(feature = "gpu")]
    on_gpu(builds, &plan, |kernel, prepared| {
        check(kernel, support::calls::max_unpool(&prepared, x_view, indices_view));
    });
}

/// Most cases run in the generic kernels alone: a specialised one takes longer to compile than all the others of a case
/// take to run.
const GENERIC: &[Build] = &[Build::Generic];

/// Calls `run` with the name and the prepared form of every kernel that applies, in these builds.
#[cfg(feature = "gpu")]
#[track_caller]
fn on_gpu(builds: &[Build], plan: &Plan, mut run: impl FnMut(&str, &Prepared)) {
    if !support::harness::computes_on_gpu() {
        return;
    }
    let gpu = support::device::gpu();
    let mut schedules = 0;
    for family in families(plan, &gpu.limits()) {
        for build in family.builds().iter().filter(|build| builds.contains(build)) {
            let choice = Choice { family: Some(family), build: Some(*build) };
            let schedule = match select(plan, &gpu.limits(), &choice) {
                // A family may have this build for other plans.
                Err(PlanError::KernelDoesNotApply { .. }) => continue,
                schedule => schedule.unwrap(),
            };
            let kernel = schedule.kernel();
            run(&kernel, &gpu.prepare_blocking(schedule).unwrap());
            schedules += 1;
        }
    }
    assert!(schedules > 0, "no kernel applies: {:?}", select(plan, &gpu.limits(), &Choice::default()));
}

/// Checks that shapes and bits are equal: -0 is not +0, and payloads of NaN count.
#[track_caller]
fn same<T: Element>(path: &str, actual: &Tensor<T>, (shape, expected): Dense<T>) {
    let bits = |values: &[T]| values.iter().map(|value| format!("{:#x}", value.to_bits64())).collect::<Vec<_>>();
    assert_eq!((actual.shape(), bits(actual.data())), (shape, bits(expected)), "{path}, {:?}", T::DTYPE);
}

/// The plan's output shape for an f32 X, without computing anything.
#[track_caller]
pub fn output_shape(pool: &impl Pooling, shape: &[usize]) -> Vec<usize> {
    pool.plan(shape, DType::F32, Some(IndexType::I64)).unwrap().output_shape().to_vec()
}
