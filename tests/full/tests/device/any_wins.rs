//! Unpools in which any of equal indices may win and bad ones are skipped: two dispatches for elements of four bytes.
//! Every element of Y is the activation of zero, or of the value of one of the sources that name it.

use gpu_test::gpu_test;
use support::calls;
use support::device::gpu;
use wgpu_pooling::{
    Choice, DType, Duplicates, Family, IndexType, Limits, MaxPool, MaxUnpool, Operand, OutOfBounds, Plan, Schedule,
    Tensor, select,
};

fn free(unpool: MaxUnpool) -> MaxUnpool {
    unpool.duplicates(Duplicates::Any).out_of_bounds(OutOfBounds::Skip)
}

#[test]
fn elements_of_four_bytes_take_two_dispatches() {
    for extent in [6, 600] {
        let pool = MaxPool::new([2, 2]).strides([2, 2]);
        let shape = [1, 2, extent, extent];
        for dtype in DType::ALL {
            let plan = |unpool: MaxUnpool| -> Plan {
                let pooled = pool.plan(&shape, dtype, Some(IndexType::I64)).unwrap();
                unpool.plan(pooled.output_shape(), dtype, IndexType::I64).unwrap()
            };
            let of = |unpool| select(&plan(unpool), &Limits::WEBGPU, &Choice::default()).unwrap();
            let unpool = MaxUnpool::inverse_of(&pool, &shape);
            let schedule: Schedule = of(free(unpool.clone()));
            if dtype.bytes() == 4 {
                assert_eq!((schedule.family(), schedule.dispatches().len()), (Family::ClaimEmit, 2), "{dtype:?}");
                assert_eq!((schedule.scratch_bytes(), schedule.operand_bytes(Operand::Report)), (0, None), "{dtype:?}");
            } else {
                assert!(schedule.dispatches().len() > 2, "{dtype:?}");
            }
            // One freedom alone is not enough.
            let others = [unpool.clone().duplicates(Duplicates::Any), unpool.out_of_bounds(OutOfBounds::Skip)];
            assert!(others.into_iter().all(|unpool| of(unpool).dispatches().len() > 2), "{dtype:?}");
        }
    }
}

#[gpu_test]
fn all_sources_may_name_one_element() {
    let shape = [1, 1, 1 << 18];
    let unpool = free(MaxUnpool::new([2]).strides([2]));
    let plan = unpool.plan(&shape, DType::I32, IndexType::I64).unwrap();
    let prepared = gpu().prepare_blocking(plan).unwrap();
    assert_eq!(prepared.schedule().dispatches().len(), 2);
    let x = Tensor::new(shape, (0..1 << 18).map(|element| element + 1).collect::<Vec<i32>>()).unwrap();
    let y = calls::max_unpool(&prepared, &x, &Tensor::new(shape, vec![77i64; 1 << 18]).unwrap()).unwrap();
    assert!((1..=1 << 18).contains(&y.data()[77]), "{}", y.data()[77]);
    assert!(y.data().iter().enumerate().all(|(at, &value)| at == 77 || value == 0));
}
