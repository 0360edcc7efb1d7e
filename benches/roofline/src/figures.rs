//! What is known of a row once it has run.

use wgpu_pooling::{DType, Plan};

use crate::catalogue::Row;
use crate::data::checksums;
use crate::failure::Failure;
use crate::measure::Time;
use crate::verify::{Verified, verify};
use crate::work::{Plans, Slices};

/// A row in an element type, and its outcome.
pub struct Entry {
    pub row: Row,
    pub dtype: DType,
    /// The number of the geometry in a sweep.
    pub number: Option<u64>,
    pub outcome: Result<Figures, Failure>,
}

/// The figures of a row.
#[derive(Debug, Clone)]
pub struct Figures {
    pub x_shape: Vec<usize>,
    pub y_shape: Vec<usize>,
    pub kernel: String,
    /// How many dispatches the kernel takes; `None` on the CPU.
    pub dispatches: Option<usize>,
    /// The fewest bytes that have to be moved.
    pub bytes: u64,
    pub time: Time,
    pub copy: Time,
    /// The bytes that the copy moved, rounded up to whole vectors.
    pub copy_bytes: u64,
    /// An f32 copy of as many elements, if it was asked for.
    pub f32_copy: Option<F32Copy>,
    pub sets: usize,
    pub checked: Checked,
    pub others: Vec<Other>,
}

/// What is known of the selected kernel before it is timed.
#[derive(Debug, Clone)]
pub struct Checked {
    pub verified: Verified,
    pub y_checksum: u64,
    /// The checksum of a pool's indices, widened to 64 bits.
    pub indices_checksum: Option<u64>,
    /// The CPU seconds of this process for preparing the kernel and running it once, mostly for compiling if the
    /// tensors are small. `None` on platforms that do not measure CPU time.
    pub first_use_cpu: Option<f64>,
}

impl Checked {
    /// What the outputs of a row say, if they are those of the reference.
    pub fn new(
        (row, dtype): (&Row, DType),
        inputs: &[&[u8]],
        outputs: &[&[u8]],
        most_taps: u64,
        first_use_cpu: Option<f64>,
    ) -> Result<Checked, Failure> {
        let verified = verify(&Slices::new(row, dtype)?, inputs, outputs, most_taps)?;
        let (y_checksum, indices_checksum) = checksums(&Plans::new(row, dtype)?.plan, outputs);
        Ok(Checked { verified, y_checksum, indices_checksum, first_use_cpu })
    }
}

impl Figures {
    /// From what was checked and what was measured. `kernels` are the names and the numbers of dispatches of what was
    /// timed, the selected kernel first.
    pub fn new(
        plan: &Plan,
        checked: Checked,
        kernels: impl Iterator<Item = (String, Option<usize>)>,
        Times { copy, copy_bytes, f32_copy, kernels: times, sets }: Times,
        left_out: Vec<Other>,
    ) -> Result<Figures, Failure> {
        let mut timed = kernels.zip(times);
        let ((kernel, dispatches), time) =
            timed.next().ok_or_else(|| Failure::Other("nothing was measured".to_owned()))?;
        let others = timed.map(|((kernel, dispatches), time)| Other { kernel, dispatches, outcome: Ok(time) });
        Ok(Figures {
            x_shape: plan.input_shape().to_vec(),
            y_shape: plan.output_shape().to_vec(),
            kernel,
            dispatches,
            bytes: plan.bytes(),
            time,
            copy,
            copy_bytes,
            f32_copy,
            sets,
            checked,
            others: others.chain(left_out).collect(),
        })
    }

    pub fn gbps(&self) -> f64 {
        self.bytes as f64 / self.time.best * 1e-9
    }

    pub fn copy_gbps(&self) -> f64 {
        self.copy_bytes as f64 / self.copy.best * 1e-9
    }

    pub fn percent_of_copy(&self) -> f64 {
        self.gbps() / self.copy_gbps() * 100.0
    }

    pub fn time_over_copy(&self) -> f64 {
        self.time.best / self.copy.best
    }

    pub fn time_over_f32_copy(&self) -> Option<f64> {
        self.f32_copy.map(|copy| self.time.best / copy.time.best)
    }

    /// `None` unless other kernels were timed too.
    pub fn time_over_fastest(&self) -> Option<f64> {
        let others = self.others.iter().filter_map(|other| Some(other.outcome.as_ref().ok()?.best));
        let fastest = others.reduce(f64::min)?;
        Some(self.time.best / fastest.min(self.time.best))
    }
}

/// A copy of the bytes that a row would move if its elements were f32: 4 for each element of X and Y, and the indices
/// as they are.
#[derive(Debug, Clone, Copy)]
pub struct F32Copy {
    pub time: Time,
    pub bytes: u64,
}

/// A kernel that was not selected.
#[derive(Debug, Clone)]
pub struct Other {
    pub kernel: String,
    /// As in `Figures`.
    pub dispatches: Option<usize>,
    /// The time, or why the kernel did not run.
    pub outcome: Result<Time, String>,
}

/// What was measured.
pub struct Times {
    pub copy: Time,
    pub copy_bytes: u64,
    pub f32_copy: Option<F32Copy>,
    /// In the order in which the kernels were given.
    pub kernels: Vec<Time>,
    /// How many sets of buffers were taken in turn.
    pub sets: usize,
}

impl Times {
    /// Times in the order of measurement: a copy, an f32 copy if it is another one, kernels.
    pub fn new<C>(
        times: Vec<Time>,
        copy: &C,
        f32_copy: Option<&C>,
        bytes: impl Fn(&C) -> u64,
        f32_asked_for: bool,
        sets: usize,
    ) -> Result<Times, Failure> {
        let mut times = times.into_iter();
        let missing = || Failure::Other("a copy was not measured".to_owned());
        let time = times.next().ok_or_else(missing)?;
        let f32_copy = match f32_copy {
            Some(copy) => Some(F32Copy { time: times.next().ok_or_else(missing)?, bytes: bytes(copy) }),
            None => f32_asked_for.then(|| F32Copy { time, bytes: bytes(copy) }),
        };
        Ok(Times { copy: time, copy_bytes: bytes(copy), f32_copy, kernels: times.collect(), sets })
    }
}
