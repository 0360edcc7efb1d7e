//! Unpools in which any of equal indices may win and bad ones are skipped: two dispatches for elements of four bytes.
//! Every element of Y is the activation of zero, or of the value of one of the sources that name it.

use support::calls::{self, reference};
use support::device::gpu;
use support::splitmix::splitmix64;
use support::tests;
use wgpu_pooling::{
    Activation, Choice, DType, Duplicates, Element, Family, Index, IndexType, Layout, Limits, MaxPool, MaxUnpool,
    Operand, OutOfBounds, Plan, Schedule, Tensor, families, select,
};

tests! {
    gpu =>
        any_source_may_win_but_one_of_them_does,
        all_sources_may_name_one_element;
    cpu =>
        elements_of_four_bytes_take_two_dispatches;
}

fn free(unpool: MaxUnpool) -> MaxUnpool {
    unpool.duplicates(Duplicates::Any).out_of_bounds(OutOfBounds::Skip)
}

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

/// Checks Y of every family and build, whole and cut, against the values that each element may have.
fn check<T: Element, I: Index>(plan: &Plan, x: &Tensor<T>, indices: &Tensor<I>) -> usize {
    // The reference computes each source alone: what it writes where is what may stand there.
    let outputs = plan.output_shape().iter().product::<usize>();
    let mut may_be: Vec<Vec<u64>> = vec![Vec::new(); outputs];
    let none = Tensor::new(indices.shape(), vec![I::from_i64(-1); indices.data().len()]).unwrap();
    let nothing = reference::max_unpool(plan, x, &none).unwrap();
    for source in 0..indices.data().len() {
        let mut alone = none.clone();
        alone.data_mut()[source] = indices.data()[source];
        let y = reference::max_unpool(plan, x, &alone).unwrap();
        for (at, (value, zero)) in y.data().iter().zip(nothing.data()).enumerate() {
            if value.to_bits64() != zero.to_bits64() {
                may_be[at].push(value.to_bits64());
            }
        }
    }
    let mut tried = 0;
    for limits in [gpu().limits(), Limits { max_binding_bytes: 512, ..gpu().limits() }] {
        for family in families(plan, &limits) {
            for &build in family.builds() {
                let Ok(schedule) = select(plan, &limits, &Choice { family: Some(family), build: Some(build) }) else {
                    continue;
                };
                let y = calls::max_unpool(&gpu().prepare_blocking(schedule).unwrap(), x, indices).unwrap();
                for (at, (value, zero)) in y.data().iter().zip(nothing.data()).enumerate() {
                    let (value, zero) = (value.to_bits64(), zero.to_bits64());
                    let ok = if may_be[at].is_empty() { value == zero } else { may_be[at].contains(&value) };
                    assert!(
                        ok,
                        "{family:?} {build:?}: element {at} is {value:x}, may be {:x?} or {zero:x}",
                        may_be[at]
                    );
                }
                tried += 1;
            }
        }
    }
    tried
}

fn any_source_may_win_but_one_of_them_does() {
    let mut tried = 0;
    for (number, layout) in [(1, Layout::Nchw), (2, Layout::Nhwc), (3, Layout::Nchw)] {
        let shape = [2, 3, 5, 4];
        let count = 120;
        let unpool = free(MaxUnpool::new([2, 2]).strides([2, 2]).layout(layout));
        let unpool = if number == 3 { unpool.activation(Activation::Clip { min: 0.5, max: 1e30 }) } else { unpool };
        let plan = unpool.plan(&shape, DType::F32, IndexType::I64).unwrap();
        let unit = plan.index_space().unwrap().index_count() as i64;
        let x = Tensor::new(shape, (0..count).map(|element| 1.0 + element as f32).collect()).unwrap();
        let index = |element: u64| {
            let random = splitmix64(element * 7 + number);
            match random % 10 {
                0 => -1,
                1 => unit + (random >> 8) as i64 % 9,
                2 => (random >> 8) as i64,
                3 => i64::MIN | ((random >> 40) as i64 % unit),
                _ => (random >> 8) as i64 % (unit / 8),
            }
        };
        let indices: Vec<i64> = (0..count).map(index).collect();
        let wide = Tensor::new(&plan.inputs()[1].shape, indices.clone()).unwrap();
        tried += check::<f32, i64>(&plan, &x, &wide);
        let plan = unpool.plan(&shape, DType::U32, IndexType::I32);
        if let Ok(plan) = plan {
            let x = Tensor::new(shape, (0..count).map(|element| 1 + element as u32).collect()).unwrap();
            let narrow = indices.iter().map(|&index| index as i32).collect();
            tried += check::<u32, i32>(&plan, &x, &Tensor::new(&plan.inputs()[1].shape, narrow).unwrap());
        }
    }
    assert!(tried >= 18, "{tried} schedules");
}

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
