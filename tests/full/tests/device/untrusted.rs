//! Indices are untrusted: whatever bits they have, nothing outside the output is written, and the error names the first
//! offender as the reference does. Tested in one-shot calls, in chains, and encoded into slices of poisoned buffers.

use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use support::calls::{self, reference};
use support::device::{POISON, gpu};
use support::tests;
use wgpu_pooling::wgpu::{self, BufferUsages};
use wgpu_pooling::{
    Buffers, Build, Choice, DType, DeviceTensor, Element, ExecuteError, Family, Index, IndexFlattening, IndexType,
    Layout, MaxUnpool, Operand, OutOfBounds, Plan, Prepared, Tensor, select,
};

tests! {
    gpu =>
        any_bits_as_indices_write_nothing_outside_the_output,
        both_index_types_refuse_what_the_other_takes;
}

/// Index tensors for each way to compute an unpool.
const TENSORS: u32 = 48;

/// Bytes of poison on each side of a slice: a multiple of every device's offset alignment.
const EDGE: u64 = 256;

const USAGES: BufferUsages = BufferUsages::STORAGE.union(BufferUsages::COPY_SRC).union(BufferUsages::COPY_DST);

/// A buffer of the host. A slice of `bytes` bytes and both sides of it are filled with poison.
struct Surrounded {
    buffer: wgpu::Buffer,
    bytes: u64,
}

impl Surrounded {
    fn new(bytes: u64) -> Surrounded {
        let descriptor =
            wgpu::BufferDescriptor { label: None, size: bytes + 2 * EDGE, usage: USAGES, mapped_at_creation: false };
        Surrounded { buffer: gpu().device().create_buffer(&descriptor), bytes }
    }

    /// Poisons the whole buffer, then writes these bytes into the slice.
    fn fill(&self, contents: &[u8]) {
        gpu().queue().write_buffer(&self.buffer, 0, bytemuck::cast_slice(&vec![POISON; self.words()]));
        let mut contents = contents.to_vec();
        contents.resize(contents.len().next_multiple_of(4), 0);
        gpu().queue().write_buffer(&self.buffer, EDGE, &contents);
    }

    fn words(&self) -> usize {
        (self.buffer.size() / 4) as usize
    }

    fn slice(&self) -> wgpu::BufferSlice<'_> {
        self.buffer.slice(EDGE..EDGE + self.bytes)
    }

    /// The words of the slice, after checking that the words around it are still poison.
    #[track_caller]
    fn inside(&self) -> Vec<u32> {
        let all = [1, 1, self.words()];
        let tensor = DeviceTensor::from_buffer(gpu(), self.buffer.clone(), 0, all, DType::U32, Layout::Nchw).unwrap();
        let words = gpu().download_blocking::<u32>(&tensor).unwrap().into_data();
        let (edge, end) = ((EDGE / 4) as usize, ((EDGE + self.bytes) / 4) as usize);
        let untouched = words[..edge].iter().chain(&words[end..]).all(|&word| word == POISON);
        assert!(untouched, "something was written outside a slice of {} bytes", self.bytes);
        words[edge..end].to_vec()
    }
}

/// One way to compute an unpool, and its buffers.
struct Way {
    plan: Plan,
    /// The same plan with bad indices skipped: it gives Y, whether or not an error is reported.
    skipping: Plan,
    prepared: Prepared,
    /// X, Y, indices, report.
    buffers: [Surrounded; 4],
    scratch: Vec<Surrounded>,
}

impl Way {
    fn new<T: Element, I: Index>(unpool: &MaxUnpool, shape: &[usize], choice: &Choice) -> Option<Way> {
        let plan = unpool.plan(shape, T::DTYPE, I::INDEX_TYPE).unwrap();
        let skipping = unpool.clone().out_of_bounds(OutOfBounds::Skip).plan(shape, T::DTYPE, I::INDEX_TYPE).unwrap();
        let schedule = select(&plan, &gpu().limits(), choice).ok()?;
        let bytes = [
            schedule.operand_bytes(Operand::X),
            schedule.operand_bytes(Operand::Y),
            schedule.operand_bytes(Operand::Indices),
            schedule.operand_bytes(Operand::Report),
        ];
        let buffers = bytes.map(|bytes| Surrounded::new(bytes.unwrap()));
        let scratch = schedule.scratch().iter().map(|&bytes| Surrounded::new(bytes)).collect();
        let prepared = gpu().prepare_blocking(schedule).unwrap();
        Some(Way { plan, skipping, prepared, buffers, scratch })
    }

    /// Runs on these indices in every form of call.
    fn check<T: Element, I: Index>(&self, x: &Tensor<T>, indices: &Tensor<I>) {
        let expected = reference::max_unpool(&self.plan, x.view(), indices.view());
        let written = reference::max_unpool(&self.skipping, x.view(), indices.view()).unwrap();
        let same = |actual: Result<Tensor<T>, ExecuteError>| match (&expected, actual) {
            (Ok(expected), Ok(actual)) => {
                let [expected, actual] = [expected, &actual].map(|y| bytemuck::cast_slice::<T, u8>(y.data()).to_vec());
                assert_eq!(actual, expected);
            }
            (expected, actual) => assert_eq!(actual.err().as_ref(), expected.as_ref().err()),
        };
        same(calls::max_unpool(&self.prepared, x.view(), indices.view()));

        let mut chain = gpu().chain();
        let on_device = chain.upload(x.view(), Layout::Nchw).unwrap();
        let places = chain.upload(indices.view(), Layout::Nchw).unwrap();
        let [y] = chain.step(&self.prepared, &[&on_device, &places]).unwrap();
        let y = chain.read_back::<T>(&y).unwrap();
        same(chain.run_blocking().and_then(|results| results.take(y)).map_err(|error| match error {
            ExecuteError::InChain { step: 0, error, .. } => *error,
            other => other,
        }));

        let [x_buffer, y_buffer, indices_buffer, report] = &self.buffers;
        x_buffer.fill(bytemuck::cast_slice(x.data()));
        indices_buffer.fill(bytemuck::cast_slice(indices.data()));
        self.scratch.iter().chain([y_buffer, report]).for_each(|buffer| buffer.fill(&[]));
        let scratch: Vec<_> = self.scratch.iter().map(Surrounded::slice).collect();
        let buffers = Buffers {
            x: Some(x_buffer.slice()),
            y: Some(y_buffer.slice()),
            indices: Some(indices_buffer.slice()),
            report: Some(report.slice()),
            scratch: &scratch,
            ..Buffers::default()
        };
        let mut encoder = gpu().device().create_command_encoder(&Default::default());
        self.prepared.encode(&mut encoder, buffers).unwrap();
        gpu().queue().submit([encoder.finish()]);
        let words = y_buffer.inside();
        let y: &[u8] = bytemuck::cast_slice(written.data());
        let bytes: &[u8] = bytemuck::cast_slice(&words);
        assert_eq!((&bytes[..y.len()], &bytes[y.len()..]), (y, &[0; 3][..bytes.len() - y.len()]));
        if self.plan != self.skipping {
            assert_eq!(self.prepared.read_report(report.inside().first_chunk().unwrap()), expected.map(|_| ()));
        }
        [x_buffer, indices_buffer].into_iter().chain(&self.scratch).for_each(|buffer| drop(buffer.inside()));
    }
}

/// Any bits, bits whose low word is a valid index, valid indices with one bit changed, edges, and valid indices.
fn index(unit: i64) -> impl Strategy<Value = i64> + Clone {
    let edges = vec![-1, i64::MIN, i64::MAX, unit, unit - 1, -unit, 0, 1 << 31, (1 << 32) - 1, -(1 << 31), 1 << 63];
    prop_oneof![
        1 => any::<i64>(),
        1 => (0..unit, any::<i32>()).prop_map(|(low, high)| low | i64::from(high) << 32),
        1 => (0..unit, 0..64u32).prop_map(|(low, bit)| low ^ 1 << bit),
        1 => proptest::sample::select(edges),
        4 => 0..unit,
    ]
}

/// Tries many index tensors on every family in every build. Returns the numbers of tensors and of bad indices.
fn tried<T: Element, I: Index>(unpool: &MaxUnpool, shape: &[usize]) -> (u32, u64) {
    let (mut tensors, bad) = (0, std::cell::Cell::new(0));
    let count = shape.iter().product::<usize>();
    let choice = |(family, build)| Choice { family: Some(family), build: Some(build) };
    let all =
        [(Family::Gather, Build::Generic), (Family::Gather, Build::Specialised), (Family::ClaimEmit, Build::Generic)];
    for choice in all.map(choice) {
        let Some(way) = Way::new::<T, I>(unpool, shape, &choice) else { continue };
        let unit = way.plan.index_space().unwrap().index_count() as i64;
        let elements = proptest::collection::vec(any::<u64>(), count);
        let indices = proptest::collection::vec(index(unit), count);
        // Every run draws the same tensors; a failure prints them.
        let mut runner = TestRunner::new_with_rng(
            Config { cases: TENSORS, failure_persistence: None, ..Config::default() },
            proptest::test_runner::TestRng::deterministic_rng(proptest::test_runner::RngAlgorithm::ChaCha),
        );
        let result = runner.run(&(elements, indices), |(elements, indices)| {
            let x = Tensor::new(shape, elements.into_iter().map(T::from_bits64).collect()).unwrap();
            let indices: Tensor<I> = Tensor::new(shape, indices.into_iter().map(I::from_i64).collect()).unwrap();
            let wrong = indices.data().iter().filter(|index| !(0..unit).contains(&index.to_i64())).count();
            bad.set(bad.get() + wrong as u64);
            way.check(&x, &indices);
            Ok(())
        });
        result.unwrap_or_else(|error| panic!("{choice:?}: {error}"));
        tensors += TENSORS;
    }
    (tensors, bad.get())
}

fn any_bits_as_indices_write_nothing_outside_the_output() {
    let (mut tensors, mut bad) = (0, 0);
    for rule in [OutOfBounds::Error, OutOfBounds::Skip] {
        let apart = MaxUnpool::new([2, 2]).strides([2, 2]).out_of_bounds(rule);
        let overlapping = MaxUnpool::new([3, 3]).strides([1, 2]).out_of_bounds(rule);
        let planes = apart.clone().flatten(IndexFlattening::Plane);
        // An odd number of packed elements, so that the last word has bytes behind them.
        let shape = [1, 3, 3, 3];
        for (more, wrong) in [
            tried::<f32, i64>(&apart, &shape),
            tried::<f32, i32>(&overlapping, &shape),
            tried::<u8, i64>(&overlapping, &shape),
            tried::<u8, i32>(&apart, &[1, 1, 3, 3]),
            tried::<f64, i64>(&planes, &shape),
        ] {
            tensors += more;
            bad += wrong;
        }
    }
    println!("{tensors} index tensors with {bad} bad indices, three forms of call each");
}

/// A plan takes index tensors of its own index type only.
fn both_index_types_refuse_what_the_other_takes() {
    let x = Tensor::new([1, 1, 2], vec![1.0f32, 2.0]).unwrap();
    for index_type in [IndexType::I32, IndexType::I64] {
        let plan = MaxUnpool::new([2]).plan(x.shape(), DType::F32, index_type).unwrap();
        let prepared = gpu().prepare_blocking(plan).unwrap();
        let wide = Tensor::new([1, 1, 2], vec![0i64, 1]).unwrap();
        let narrow = Tensor::new([1, 1, 2], vec![0i32, 1]).unwrap();
        let outcomes = [
            calls::max_unpool(&prepared, x.view(), wide.view()).is_ok(),
            calls::max_unpool(&prepared, x.view(), narrow.view()).is_ok(),
        ];
        assert_eq!(outcomes, [index_type == IndexType::I64, index_type == IndexType::I32]);
    }
}
