//! Openings, closings, gradients and top-hats at random beside their definitions, and differences of any two elements.

use support::tests;
use wgpu_pooling::{
    Backend, DType, DifferencePlan, Element, EmptyValue, ExecuteError, Layout, NanPolicy, Plan, PlanError, Reference,
    TensorMut, TensorRef, TensorSpec, with_element,
};

use crate::case::{Case, Outcome, bytes_of, same};
use crate::compositions::{Composition, minus};
use crate::nasty::{STYLES, elements};
use support::splitmix::splitmix64;

tests! {
    here =>
        compositions_give_what_their_definitions_say,
        differences_of_any_two_elements;
}

/// The bits of elements, and their bytes.
fn drawn(dtype: DType, count: usize, seed: u64) -> (Vec<u64>, Vec<u8>) {
    with_element!(dtype, T => {
        let x: Vec<T> = elements(count, seed, STYLES);
        (x.iter().map(|element| element.to_bits64()).collect(), bytemuck::cast_slice(&x).to_vec())
    })
}

/// Every backend of this program. On the CPU each level of vectors has its own code.
fn backends() -> Vec<Box<dyn Backend>> {
    #[cfg_attr(not(any(feature = "cpu", feature = "gpu")), expect(unused_mut, reason = "there are no others"))]
    let mut backends: Vec<Box<dyn Backend>> = vec![Box::new(Reference)];
    #[cfg(feature = "cpu")]
    for &level in wgpu_pooling::SimdLevel::available() {
        backends.push(Box::new(wgpu_pooling::Cpu::new().with_simd(level).unwrap()));
    }
    #[cfg(feature = "gpu")]
    if support::harness::computes_on_gpu() {
        backends.push(Box::new(support::device::gpu().clone()));
    }
    backends
}

/// What a backend gives; on the host also where all threads take subnormals for zeros, if that is known of them.
fn outcomes(
    case: &Case,
    backend: &dyn Backend,
    run: impl Fn(&dyn Backend, &[TensorRef<'_>], &mut [TensorMut<'_>]) -> Result<(), ExecuteError> + Sync,
) -> Vec<Outcome> {
    let outcome = || case.outcome(|x, y| run(backend, x, y));
    #[cfg_attr(not(feature = "cpu"), expect(unused_mut, reason = "there are no others"))]
    let mut outcomes = vec![outcome()];
    #[cfg(feature = "cpu")]
    if on_host(backend) {
        outcomes.extend(support::cpu::Host::flushing().map(|host| host.call(outcome)));
    }
    outcomes
}

fn on_host(backend: &dyn Backend) -> bool {
    backend.name() == "reference" || backend.name().starts_with("CPU")
}

/// Whether a GPU refuses differences of the type, and says so.
fn refused(backend: &dyn Backend, dtype: DType, outcome: &Outcome) -> bool {
    let other_float = dtype.is_float() && dtype != DType::F32;
    let error = Err(ExecuteError::Plan(PlanError::NotOnGpu {
        what: match dtype {
            DType::F16 => "differences of f16",
            DType::Bf16 => "differences of bf16",
            _ => "differences of f64",
        },
    }));
    !on_host(backend) && other_float && *outcome == error
}

fn compositions_give_what_their_definitions_say() {
    let backends = backends();
    for number in 0..DType::ALL.len() * Composition::KINDS.len() * 5 {
        let mut state = number as u64;
        let mut below = |limit: usize| {
            state = splitmix64(state);
            state as usize % limit
        };
        let (dtype, kind) =
            (DType::ALL[number % DType::ALL.len()], number / DType::ALL.len() % Composition::KINDS.len());
        let axes = 1 + below(3);
        let extents: Vec<usize> = (0..axes).map(|axis| 1 + below([70, 17, 7][axes - 1] - axis)).collect();
        let layout = Layout::ALL[below(2)];
        let (batch, channels) = (1 + below(2), 1 + below(4));
        let shape = match layout {
            Layout::Nchw => [&[batch, channels], &extents[..]].concat(),
            Layout::Nhwc => [&[batch], &extents[..], &[channels]].concat(),
        };
        let largest = [3, 6, 101][below(3)];
        let kernel_shape: Vec<i64> = (0..axes).map(|_| 1 + below(largest) as i64).collect();
        let anchor = kernel_shape.iter().map(|&extent| below(extent as usize) as i64).collect();
        let anchor = Some(anchor).filter(|_| below(2) == 0);
        let iterations = 1 + below(3) as i64;
        let nan_policy = NanPolicy::ALL[below(6).saturating_sub(6 - NanPolicy::ALL.len())];
        let values = EmptyValue::ALL.len() - usize::from(!dtype.is_float());
        let empty_value = EmptyValue::ALL[below(values)];
        let by = Composition { kind, kernel_shape, anchor, iterations, layout, nan_policy, empty_value };
        let (x, x_bytes) = drawn(dtype, shape.iter().product(), number as u64);
        let expected = Ok(vec![bytes_of(dtype, &by.definition(&shape, dtype, &x))]);
        let steps = by.steps(&shape, dtype).unwrap();
        let case = Case { offset: number % 2, ..Case::new(steps.first().clone(), vec![x_bytes]) };
        for backend in &backends {
            for outcome in outcomes(&case, backend, |backend, x, y| backend.run_steps_blocking(&steps, x, y)) {
                if by.subtracts() && refused(backend, dtype, &outcome) {
                    continue;
                }
                let found = same(&expected, &outcome);
                found.unwrap_or_else(|error| panic!("{} of {dtype} {shape:?}, {by:?}: {error}", backend.name()));
            }
        }
    }
}

fn differences_of_any_two_elements() {
    for dtype in DType::ALL {
        for count in [1, 2, 3, 5, 64 * 4 + 3, 200_001] {
            let (a, a_bytes) = drawn(dtype, count, 3);
            let (b, b_bytes) = drawn(dtype, count, 8 + count as u64);
            // Neighbours, too, whose difference is small beside them.
            let (b, b_bytes) = if count == 3 {
                let b: Vec<u64> = a.iter().map(|bits| bits ^ 1).collect();
                let bytes = bytes_of(dtype, &b);
                (b, bytes)
            } else {
                (b, b_bytes)
            };
            let expected: Vec<u64> = a.iter().zip(&b).map(|(&a, &b)| minus(dtype, a, b)).collect();
            let spec = TensorSpec { shape: vec![1, 1, count], dtype, layout: Layout::Nchw };
            let case = Case::new(Plan::Difference(DifferencePlan::of(&spec)), vec![a_bytes, b_bytes]);
            let expected = Ok(vec![bytes_of(dtype, &expected)]);
            for backend in backends() {
                for outcome in outcomes(&case, &backend, |backend, x, y| backend.run_blocking(&case.plan, x, y)) {
                    if !refused(&backend, dtype, &outcome) {
                        let found = same(&expected, &outcome);
                        found.unwrap_or_else(|error| panic!("{} of {dtype}: {error}", backend.name()));
                    }
                }
            }
        }
    }
}
