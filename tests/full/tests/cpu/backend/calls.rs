//! What calls of the CPU backend refuse, that they then write nothing, and tensors at any address.

use std::process::Command;

use support::call::{Call, same};
use support::calls::{self, reference};
use support::cpu::ways;
use wgpu_pooling::{
    AdaptiveMaxPool, Backend, Cpu, CpuKernel, DType, ExecuteError, IndexType, Layout, MaxPool, MaxUnpool, Plan,
    PlanError, PreparedCpu, PreparedPlan, Reference, SimdLevel, TensorMut, TensorRef, TensorView,
};

use super::{case, undone};

/// Every kernel that applies gives the reference's bits or its error, wherever the tensors begin.
#[track_caller]
fn at_any_address(case: &Call) {
    let expected = case.expected();
    for (name, prepared) in ways(&case.plan, SimdLevel::available()).unwrap() {
        for offset in [0, 1, 2, 4] {
            let case = Call { offset, ..case.clone() };
            let outcome = case.outcome(|inputs, outputs| prepared.run_blocking(inputs, outputs));
            same(&expected, &outcome)
                .unwrap_or_else(|error| panic!("{name}, offset {offset}: {error}: {:?}", &case.plan));
        }
    }
}

#[test]
fn every_type_at_any_address() {
    let shape = [2, 3, 17, 29];
    let pool = MaxPool::new([3, 2]).strides([2, 2]).pads([1, 0, 1, 1]);
    for dtype in DType::ALL {
        at_any_address(&case(AdaptiveMaxPool::new([3, 4]).plan(&shape, dtype, None).unwrap(), 1));
        for index_type in [IndexType::I32, IndexType::I64] {
            for layout in [Layout::Nchw, Layout::Nhwc] {
                let pool = pool.clone().layout(layout);
                let pooled = case(pool.plan(&shape, dtype, Some(index_type)).unwrap(), 2);
                at_any_address(&pooled);
                at_any_address(&undone(MaxUnpool::inverse_of(&pool, &shape), &pooled, &pooled.expected().unwrap()));
            }
        }
    }
}

/// An unpool of two planes with one index that names nothing.
fn with_a_bad_index() -> Call {
    let plan: Plan = MaxUnpool::new([2]).strides([2]).plan(&[1, 2, 3], DType::F64, IndexType::I64).unwrap();
    let mut case = case(plan, 3);
    case.inputs.push([0i64, 2, 4, 6, -9, 10].into_iter().flat_map(i64::to_ne_bytes).collect());
    case
}

#[test]
fn an_error_leaves_outputs_at_any_address_as_they_were() {
    let case = with_a_bad_index();
    let error = ExecuteError::IndexOutOfRange { position: 4, value: -9, index_count: 12, count: 1 };
    assert_eq!(case.expected(), Err(error));
    // That nothing was written is checked of every outcome.
    at_any_address(&case);
}

#[test]
fn operands_that_are_not_the_plans_are_the_references_errors() {
    let pool: Plan = MaxPool::new([2]).plan(&[1, 1, 4], DType::F32, Some(IndexType::I64)).unwrap();
    let unpool: Plan = MaxUnpool::new([2]).plan(&[1, 1, 4], DType::F32, IndexType::I64).unwrap();
    let bytes = [0; 64];
    fn tensor<'a>(bytes: &'a [u8], dtype: DType, shape: &'static [usize; 3]) -> TensorRef<'a> {
        TensorRef::new(dtype, shape, &bytes[..shape.iter().product::<usize>() * dtype.bytes()]).unwrap()
    }
    let inputs = [
        vec![],
        vec![tensor(&bytes, DType::F32, &[1, 1, 4])],
        vec![tensor(&bytes, DType::F32, &[1, 1, 5])],
        vec![tensor(&bytes, DType::U32, &[1, 1, 4])],
        vec![tensor(&bytes, DType::I64, &[1, 1, 4])],
        vec![tensor(&bytes, DType::F32, &[1, 1, 4]), tensor(&bytes, DType::I64, &[1, 1, 4])],
        vec![tensor(&bytes, DType::F32, &[1, 1, 4]), tensor(&bytes, DType::I32, &[1, 1, 4])],
        vec![tensor(&bytes, DType::F32, &[1, 1, 4]), tensor(&bytes, DType::I64, &[1, 4, 1])],
    ];
    let written = [
        vec![],
        vec![(DType::F32, [1, 1, 3])],
        vec![(DType::F32, [1, 1, 3]), (DType::I64, [1, 1, 3])],
        vec![(DType::F32, [1, 1, 3]), (DType::I32, [1, 1, 3])],
        vec![(DType::F32, [1, 1, 4]), (DType::I64, [1, 1, 3])],
        vec![(DType::F32, [1, 1, 5])],
        vec![(DType::I64, [1, 1, 4])],
    ];
    let mut right = 0;
    for plan in [pool, unpool] {
        let prepared = Cpu::new().prepare(plan.clone()).unwrap();
        for inputs in &inputs {
            for specs in &written {
                let run = |execute: &dyn Fn(&mut [TensorMut<'_>]) -> Result<(), ExecuteError>| {
                    let mut outputs = vec![[0xC7; 64]; specs.len()];
                    let views = outputs.iter_mut().zip(specs).map(|(bytes, (dtype, shape))| {
                        let bytes = &mut bytes[..shape.iter().product::<usize>() * dtype.bytes()];
                        TensorMut::new(*dtype, shape, bytes).unwrap()
                    });
                    let result = execute(&mut views.collect::<Vec<_>>());
                    assert!(result.is_ok() || outputs.iter().flatten().all(|&byte| byte == 0xC7), "{result:?}");
                    result.map(|()| outputs)
                };
                let expected = run(&|outputs| Reference.run_blocking(&plan, inputs, outputs));
                assert_eq!(run(&|outputs| prepared.run_blocking(inputs, outputs)), expected, "{plan:?}");
                right += usize::from(expected.is_ok());
            }
        }
    }
    assert_eq!(right, 2, "each operator has one right call among the wrong ones");
}

fn prepared(plan: Plan) -> PreparedCpu {
    Cpu::new().prepare(plan).unwrap()
}

#[test]
fn typed_calls_refuse_what_does_not_fit_the_plan() {
    let pool = MaxPool::new([2]);
    let values = prepared(pool.plan(&[1, 1, 4], DType::F32, None).unwrap());
    let both = prepared(pool.plan(&[1, 1, 4], DType::F32, Some(IndexType::I64)).unwrap());
    let unpool = prepared(MaxUnpool::new([2]).plan(&[1, 1, 3], DType::F32, IndexType::I64).unwrap());
    let data = [3.0f32, 1.0, 2.0, 4.0, 5.0];
    let x = || TensorView::new(&[1, 1, 4], &data[..4]).unwrap();
    let short = || TensorView::new(&[1, 1, 3], &data[..3]).unwrap();
    let indices = || TensorView::new(&[1, 1, 3], &[0i64, 1, 2]).unwrap();
    let (mut y, mut at, mut narrow) = ([9.0f32; 5], [9i64; 5], [9i32; 3]);
    let length = |actual| Err(PlanError::DataLength { shape: vec![1, 1, 3], expected: 3, actual }.into());

    for wrong in [2, 4] {
        assert_eq!(calls::max_pool_into(&values, x(), &mut y[..wrong]), length(wrong));
        assert_eq!(calls::max_pool_with_indices_into(&both, x(), &mut y[..wrong], &mut at[..3]), length(wrong));
        assert_eq!(calls::max_pool_with_indices_into(&both, x(), &mut y[..3], &mut at[..wrong]), length(wrong));
    }
    let four = PlanError::DataLength { shape: vec![1, 1, 4], expected: 4, actual: 3 };
    assert_eq!(calls::max_unpool_into(&unpool, short(), indices(), &mut y[..3]), Err(four.into()));
    let is_shape = |result| matches!(result, Err(ExecuteError::ShapeMismatch { .. }));
    assert!(is_shape(calls::max_pool_into(&values, short(), &mut y[..3])));
    assert!(is_shape(calls::max_unpool_into(&unpool, x(), indices(), &mut y[..4])));
    let is_type = |result| matches!(result, Err(ExecuteError::TypeMismatch { .. }));
    assert!(is_type(calls::max_pool_with_indices_into(&both, x(), &mut y[..3], &mut narrow)));
    assert!(is_type(calls::max_pool_into(&values, TensorView::new(&[1, 1, 4], &[1u32; 4]).unwrap(), &mut [9u32; 3])));
    let is_count = |result| matches!(result, Err(ExecuteError::Plan(PlanError::OperandCount { .. })));
    assert!(is_count(calls::max_pool_with_indices::<f32, i64>(&values, x()).map(drop)));
    assert!(is_count(calls::max_pool_into(&both, x(), &mut y[..3])));
    assert!(is_count(calls::max_pool(&unpool, x()).map(drop)));
    assert!(is_count(calls::max_unpool_into(&values, short(), indices(), &mut y[..3])));
    assert!(is_type(calls::max_pool(&values, indices()).map(drop)));
    assert_eq!((y, at, narrow), ([9.0; 5], [9; 5], [9; 3]), "nothing was written");
    // The right calls are not refused.
    calls::max_pool_with_indices_into(&both, x(), &mut y[..3], &mut at[..3]).unwrap();
    assert_eq!((y, at), ([3.0, 2.0, 4.0, 9.0, 9.0], [0, 2, 3, 9, 9]));
}

#[test]
fn bad_indices_leave_y_as_it_was() {
    let x = TensorView::new(&[1, 1, 3], &[1.0f32, 2.0, 3.0]).unwrap();
    let plan = MaxUnpool::new([2]).strides([2]).plan(&[1, 1, 3], DType::F32, IndexType::I32).unwrap();
    for (name, prepared) in ways(&plan, SimdLevel::available()).unwrap() {
        for bad in [-1, 6, i32::MIN, i32::MAX] {
            for place in 0..3 {
                let (mut indices, mut y) = ([0, 2, 4], [9.0; 6]);
                indices[place] = bad;
                let indices = TensorView::new(&[1, 1, 3], &indices).unwrap();
                let error = calls::max_unpool_into(&prepared, x, indices, &mut y);
                let (position, value) = (place as u64, bad.into());
                assert_eq!(
                    error,
                    Err(ExecuteError::IndexOutOfRange { position, value, index_count: 6, count: 1 }),
                    "{name}"
                );
                assert_eq!(y, [9.0; 6], "{name}");
            }
        }
    }
}

/// Plans of every operator, large and small.
fn plans() -> Vec<Plan> {
    let shape = [2, 16, 56, 56];
    let pool = |kernel: i64| MaxPool::new([kernel, kernel]).strides([2, 2]);
    let unpool = MaxUnpool::inverse_of(&pool(2), &shape);
    let mut plans: Vec<Plan> = vec![unpool.plan(&[2, 16, 28, 28], DType::F32, IndexType::I64).unwrap()];
    let neighbours = pool(3).strides([1, 1]);
    for pool in [pool(2), pool(3), neighbours, MaxPool::new([13, 13]).pads([6; 4]), pool(3).layout(Layout::Nhwc)] {
        plans.push(pool.plan(&shape, DType::F32, None).unwrap());
        plans.push(pool.plan(&shape, DType::F32, Some(IndexType::I64)).unwrap());
    }
    plans.push(wgpu_pooling::GlobalMaxPool::new().plan(&shape, DType::F32, None).unwrap());
    plans.push(AdaptiveMaxPool::new([5, 6]).plan(&shape, DType::F32, None).unwrap());
    plans
}

#[test]
fn every_kernel_computes_something_and_is_refused_where_it_does_not_apply() {
    let plans = plans();
    for &kernel in CpuKernel::ALL {
        let refused = |plan: &&Plan| Cpu::new().with_kernel(kernel).prepare((*plan).clone()).is_err();
        let count = plans.iter().filter(refused).count();
        assert!(count < plans.len(), "{kernel:?} computes none of these plans, so nothing tests it");
        // No kernel but the general one is for every operator.
        assert_eq!(count == 0, kernel == CpuKernel::General, "{kernel:?} is refused for {count} plans");
    }
    // Where no kernel was asked for, some plans have a better one than the general one.
    let chosen = plans.iter().filter(|plan| prepared((*plan).clone()).kernel() != CpuKernel::General).count();
    assert!(chosen > 0);
}

#[test]
fn levels_that_the_processor_lacks_are_refused() {
    let levels = [SimdLevel::Baseline, SimdLevel::Avx2, SimdLevel::Avx512];
    for level in levels {
        let refused = Cpu::new().with_simd(level).map(|cpu| cpu.simd());
        let expected = match SimdLevel::available().contains(&level) {
            true => Ok(level),
            false => Err(ExecuteError::SimdMissing { level: level.name() }),
        };
        assert_eq!(refused, expected);
    }
}

#[test]
fn one_shot_calls_are_the_prepared_ones() {
    let (cpu, pool, shape) = (Cpu::new(), MaxPool::new([2, 2]).strides([2, 2]), [1, 2, 9, 8]);
    let x: Vec<f32> = (0..144).map(|place| (place * 7919 % 23) as f32).collect();
    let x = TensorView::new(&shape, &x).unwrap();
    let plan = pool.plan(&shape, DType::F32, Some(IndexType::I32)).unwrap();
    let (y, indices) = pool.on(x).with_indices::<i32>().run_blocking(&cpu).unwrap();
    assert_eq!(reference::max_pool_with_indices(&plan, x), Ok((y.clone(), indices.clone())));
    assert_eq!(pool.on(x).run_blocking(&cpu).as_ref(), Ok(&y));
    let unpool = MaxUnpool::inverse_of(&pool, &shape);
    let back = unpool.plan(y.shape(), DType::F32, IndexType::I32).unwrap();
    assert_eq!(unpool.on(&y, &indices).run_blocking(&cpu), reference::max_unpool(&back, &y, &indices));
    // What `plan()` refuses, the call refuses.
    let too_large = MaxPool::new([30, 30]);
    let refused = too_large.plan(&shape, DType::F32, None).unwrap_err();
    assert_eq!(too_large.on(x).run_blocking(&cpu), Err(refused.into()));
}

/// The variable that tells this program to make small calls and nothing else.
const ALONE: &str = "WGPU_POOLING_SMALL_CALLS_ALONE";

/// Rayon's global pool can be configured as long as nobody has used it: in a process of its own.
#[test]
fn small_calls_leave_rayons_global_pool_alone() {
    if std::env::var_os(ALONE).is_some() {
        one_shot_calls_are_the_prepared_ones();
        rayon::ThreadPoolBuilder::new().build_global().expect("nobody has used the global pool");
        return;
    }
    let mut command = Command::new(std::env::current_exe().expect("a test has a file"));
    command.args(["backend::calls::small_calls_leave_rayons_global_pool_alone", "--exact"]).env(ALONE, "1");
    let output = command.output().expect("a test can start itself");
    let said = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
    assert!(output.status.success() && said.contains("1 passed"), "{said}");
}
