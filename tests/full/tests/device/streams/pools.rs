//! Streaming runs: the bits of the reference, in the memory that was allowed.

use std::io;
use std::ops::ControlFlow;

use support::call::{Call, same};
use support::draw::elements::mixed;
use support::net::streamed;
use wgpu_pooling::{
    AdaptiveMaxPool, AsyncSink, AsyncSource, DType, Element, EmptyIndex, EmptyValue, ExecuteError, GlobalMaxPool,
    IndexType, Layout, MaxPool, Minimum, NanPolicy, Plan, PlanError, Pooling, Sink, Source, StorageOrder, Stream,
    StreamReport,
};

use super::On;
use support::tensors::{bits, of_all_styles as tensor};

/// One run with indices and one without, each compared with the reference.
fn check(on: &On, pool: &dyn Pooling, shape: &[usize], dtype: DType, budget: u64) -> StreamReport {
    let run = |indices| {
        let plan = pool.plan(shape, dtype, indices).unwrap();
        let call = Call::new(plan, vec![mixed(dtype, shape.iter().product(), 7)]);
        let mut last = None;
        let (outcome, report) = streamed(&call, budget, &on.device, |progress| {
            last = Some((progress.done, progress.tiles));
            ControlFlow::Continue(())
        });
        let plan = &call.plan;
        same(&call.expected(), &outcome).unwrap_or_else(|error| panic!("{error}: {plan:?} in {budget} bytes"));
        let report = report.expect("a run that succeeds");
        assert!(last.is_some_and(|(done, tiles)| done == tiles && tiles >= report.tiles), "{last:?} {plan:?}");
        assert!(report.peak_bytes <= budget && report.peak_bytes > 0, "{report:?} in {budget} bytes");
        assert!(report.peak_host_bytes <= report.peak_bytes && report.peak_device_bytes <= report.peak_bytes);
        assert_eq!(report.peak_device_bytes > 0, on.is_gpu, "{report:?}");
        report
    };
    run(None);
    run(Some(IndexType::I64))
}

/// Budgets from one that holds the whole pool down to those that cut windows into parts.
fn budgets(on: &On) -> [u64; 4] {
    on.either([64 << 20, 48 << 10, 24 << 10, 19 << 10], [64 << 20, 20 << 10, 1 << 10, 60])
}

#[test]
fn every_layout_type_and_rank_in_any_budget() {
    for on in On::each() {
        let square = || MaxPool::new([3, 2]).strides([2, 1]).pads([1, 0, 2, 1]);
        for budget in budgets(&on) {
            check(&on, &square(), &[2, 3, 20, 17], DType::F32, budget);
            check(&on, &square().layout(Layout::Nhwc), &[2, 20, 17, 3], DType::U8, budget);
            check(&on, &square().layout(Layout::Nhwc).index_layout(Layout::Nhwc), &[2, 20, 17, 3], DType::F16, budget);
            check(&on, &square().index_order(StorageOrder::ColumnMajor), &[1, 3, 20, 17], DType::I64, budget);
            check(&on, &MaxPool::new([5]).strides([3]).pads([2, 2]), &[2, 2, 300], DType::F32, budget);
            check(&on, &MaxPool::new([2, 2, 2]).dilations([2, 1, 2]), &[1, 2, 6, 7, 8], DType::F16, budget);
            check(
                &on,
                &MaxPool::new([2, 1, 2, 2]).pads([1, 0, 0, 0, 0, 0, 1, 1]),
                &[1, 2, 3, 4, 5, 6],
                DType::U8,
                budget,
            );
            check(&on, &AdaptiveMaxPool::new([7, 9]), &[2, 2, 20, 17], DType::F32, budget);
            check(&on, &AdaptiveMaxPool::new([30, 5]).layout(Layout::Nhwc), &[1, 20, 17, 3], DType::F32, budget);
            check(&on, &MaxPool::new([3, 3]).ceil_mode(1).strides([2, 2]), &[1, 3, 20, 18], DType::F32, budget);
        }
    }
}

#[test]
fn every_rule_about_nan_and_empty_windows_in_any_budget() {
    for on in On::each() {
        for &policy in NanPolicy::ALL {
            for empty in
                [EmptyIndex::MinusOne, EmptyIndex::OrtUnderflow, EmptyIndex::ClampedStart, EmptyIndex::UnitBase]
            {
                let pool =
                    MaxPool::new([3, 2]).dilations([7, 1]).pads([9, 4, 8, 5]).nan_policy(policy).empty_index(empty);
                for budget in on.either([20 << 10, 13 << 10], [200, 44]) {
                    check(&on, &pool.clone().empty_value(EmptyValue::LowestFinite), &[1, 2, 5, 6], DType::F32, budget);
                    check(&on, &pool.clone().layout(Layout::Nhwc), &[1, 5, 6, 2], DType::F16, budget);
                    check(
                        &on,
                        &Minimum::of(pool.clone().empty_value(EmptyValue::Nan)),
                        &[1, 1, 5, 6],
                        DType::F32,
                        budget,
                    );
                }
            }
        }
    }
}

#[test]
fn windows_larger_than_the_budget_are_put_together_from_parts() {
    for on in On::each() {
        for &policy in NanPolicy::ALL {
            let pool = MaxPool::new([60, 50]).strides([30, 40]).pads([20, 10, 20, 10]).nan_policy(policy);
            let report = check(&on, &pool, &[1, 2, 64, 70], DType::F32, on.either(24 << 10, 1 << 10));
            assert!(report.tiles > 2 * 2 * 2, "{report:?}");
            check(&on, &pool.layout(Layout::Nhwc), &[1, 64, 70, 2], DType::U8, on.either(14 << 10, 300));
        }
        check(&on, &GlobalMaxPool::new(), &[2, 2, 5000], DType::F32, on.either(24 << 10, 1 << 10));
        check(&on, &AdaptiveMaxPool::new([2, 1]), &[1, 1, 90, 70], DType::F32, on.either(24 << 10, 1 << 10));
        // Taps far from each other.
        check(&on, &MaxPool::new([3]).dilations([2000]), &[1, 1, 4003], DType::F32, on.either(24 << 10, 1 << 10));
    }
}

#[test]
fn the_callback_sees_every_tile_and_can_stop() {
    for on in On::each() {
        let x = tensor::<f32>(&[8, 2, 16, 16]);
        let plan = MaxPool::new([2, 2]).strides([2, 2]).plan(x.shape(), DType::F32, None).unwrap();
        let run = |stop_after: u64, seen: &mut Vec<[u64; 4]>| {
            let (mut x, mut y) = (x.view(), vec![0.0f32; 8 * 2 * 64]);
            let stream = Stream::new(plan.clone(), on.either(24 << 10, 6 << 10)).source(&mut x).sink(&mut y);
            let stream = stream.progress(|progress| {
                seen.push([progress.done, progress.tiles, progress.bytes_read, progress.bytes_written]);
                if progress.done < stop_after { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
            });
            stream.run_blocking(&on.device)
        };
        let mut seen = Vec::new();
        let report = run(u64::MAX, &mut seen).unwrap();
        assert!(report.tiles >= 4, "{report:?}");
        assert_eq!(seen.iter().map(|seen| seen[0]).collect::<Vec<_>>(), (0..=report.tiles).collect::<Vec<_>>());
        assert_eq!(seen.last(), Some(&[report.tiles, report.tiles, 8 * 2 * 256 * 4, 8 * 2 * 64 * 4]));
        for stop_after in [0, 2] {
            let error = run(stop_after, &mut Vec::new()).unwrap_err();
            assert_eq!(error, ExecuteError::Stopped { done: stop_after, tiles: report.tiles });
        }
    }
}

/// Fails from the second call on.
struct Failing {
    calls: usize,
}

impl Source for Failing {
    fn read(&mut self, _: u64, bytes: &mut [u8]) -> io::Result<()> {
        self.calls += 1;
        bytes.fill(0);
        if self.calls > 1 { Err(io::Error::other("the cable is out")) } else { Ok(()) }
    }
}

impl Sink for Failing {
    fn write(&mut self, _: u64, _: &[u8]) -> io::Result<()> {
        self.calls += 1;
        if self.calls > 1 { Err(io::Error::other("no space left")) } else { Ok(()) }
    }
}

#[test]
fn what_sources_and_sinks_say_is_the_error_of_the_run() {
    for on in On::each() {
        let plan = MaxPool::new([2]).strides([2]).plan(&[1, 64, 256], DType::F32, Some(IndexType::I64)).unwrap();
        let (mut y, mut indices) = (vec![0.0f32; 64 * 128], vec![0i64; 64 * 128]);
        let x = vec![0.0f32; 64 * 256];
        let budget = 48 << 10;
        let mut failing = Failing { calls: 0 };
        let run = Stream::new(plan.clone(), budget)
            .source(&mut failing)
            .sink(&mut y)
            .sink(&mut indices)
            .run_blocking(&on.device);
        let Err(ExecuteError::Source { what: "x", first: 1.., error, .. }) = &run else { panic!("{run:?}") };
        assert_eq!(error, "the cable is out");
        let mut failing = Failing { calls: 0 };
        let run = Stream::new(plan.clone(), budget)
            .source(&mut &x[..])
            .sink(&mut y)
            .sink(&mut failing)
            .run_blocking(&on.device);
        let Err(ExecuteError::Sink { what: "indices", error, .. }) = &run else { panic!("{run:?}") };
        assert_eq!(error, "no space left");
        // Slices that are too short give an error.
        let whole = Stream::new(plan.clone(), 64 << 20);
        let run = whole.source(&mut &x[1..]).sink(&mut y).sink(&mut indices).run_blocking(&on.device);
        assert!(matches!(run, Err(ExecuteError::Source { first: 0, elements: 16384, .. })), "{run:?}");
        let run = Stream::new(plan.clone(), budget)
            .source(&mut &x[..])
            .sink(&mut &mut y[1..])
            .sink(&mut indices)
            .run_blocking(&on.device);
        assert!(matches!(run, Err(ExecuteError::Sink { what: "y", .. })), "{run:?}");
    }
}

/// Reports success, but leaves out the last element of each slice that it is given.
#[cfg(debug_assertions)]
struct Short(DType);

#[cfg(debug_assertions)]
impl Source for Short {
    fn read(&mut self, _: u64, bytes: &mut [u8]) -> io::Result<()> {
        let elements = bytes.chunks_exact_mut(self.0.bytes());
        let filled = elements.len() - 1;
        elements.take(filled).for_each(|element| element.copy_from_slice(&3u64.to_le_bytes()[..element.len()]));
        Ok(())
    }
}

#[cfg(debug_assertions)]
#[test]
fn what_a_source_leaves_out_shows_in_the_result() {
    for on in On::each() {
        fn check<T: Element>(on: &On, left_out: u64) {
            let plan = MaxPool::new([2]).strides([2]).plan(&[1, 1, 4], T::DTYPE, None).unwrap();
            let mut y = vec![T::from_bits64(0); 2];
            // Several runs, so that memory of earlier runs could be mistaken for elements.
            for _ in 0..3 {
                let (mut short, stream) = (Short(T::DTYPE), Stream::new(plan.clone(), 1 << 20));
                stream.source(&mut short).sink(&mut y).run_blocking(&on.device).unwrap();
                assert_eq!(bits(&y), [3, left_out], "{}", T::DTYPE.name());
            }
        }
        check::<f32>(&on, 0x7F7F_7F7F);
        check::<half::bf16>(&on, 0x7F7F);
        check::<f64>(&on, 0x7F7F_7F7F_7F7F_7F7F);
        check::<i8>(&on, 0x7F);
        check::<u8>(&on, 0x7F);
        check::<i64>(&on, 0x7F7F_7F7F_7F7F_7F7F);
        // Indices that the source leaves out are reported as bad.
        let unpool =
            wgpu_pooling::MaxUnpool::new([2]).strides([2]).plan(&[1, 1, 4], DType::F32, IndexType::I64).unwrap();
        let (mut x, mut y) = (&[1.0f32; 4][..], vec![0.0f32; 8]);
        let stream = Stream::new(unpool, 1 << 20).source(&mut x);
        let run = stream.source(&mut Short(DType::I64)).sink(&mut y).run_blocking(&on.device);
        let value = 0x7F7F_7F7F_7F7F_7F7F;
        assert_eq!(run, Err(ExecuteError::IndexOutOfRange { position: 3, value, index_count: 8, count: 1 }));
    }
}

#[test]
fn a_call_that_does_not_fit_the_plan_is_refused() {
    for on in On::each() {
        let plan = |indices| -> Plan { MaxPool::new([2]).plan(&[1, 1, 4], DType::F32, indices).unwrap() };
        let x = [0.0f32; 4];
        let run = |plan: &Plan, budget| {
            Stream::new(plan.clone(), budget).source(&mut &x[..]).sink(&mut vec![0.0f32; 3]).run_blocking(&on.device)
        };
        let count = run(&plan(Some(IndexType::I64)), 1 << 20);
        let two = PlanError::OperandCount { operator: "max_pool", what: "sinks", expected: "2", actual: 1 };
        assert_eq!(count, Err(two.into()));
        let budget = on.either(500, 11);
        let exceeds = run(&plan(None), budget);
        let Err(ExecuteError::Plan(PlanError::ExceedsLimit { needed, limit, .. })) = exceeds else {
            panic!("{exceeds:?}")
        };
        assert!(limit == budget && needed > budget, "{needed} bytes of {limit}");
        let other = |source: &mut dyn AsyncSource, sink: &mut dyn AsyncSink| {
            Stream::new(plan(None), 1 << 20).source(source).sink(sink).run_blocking(&on.device).unwrap_err()
        };
        let mismatch = |what| ExecuteError::TypeMismatch { what, expected: "f32", actual: "u8" };
        assert_eq!(other(&mut &[0u8; 4][..], &mut vec![0.0f32; 3]), mismatch("x"));
        assert_eq!(other(&mut &x[..], &mut vec![0u8; 3]), mismatch("y"));
        // A plan without elements succeeds, whatever the budget.
        let nothing = MaxPool::new([2]).plan(&[0, 3, 4], DType::F32, None).unwrap();
        assert_eq!(run(&nothing, 0), Ok(StreamReport::default()));
    }
}
