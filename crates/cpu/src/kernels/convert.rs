//! Conversion of indices between conventions.

use std::sync::{Mutex, PoisonError};

use wgpu_pooling_plan::internal::Offence;
use wgpu_pooling_plan::{ConvertPlan, ExecuteError, IndexStrides, Layout, MAX_SPATIAL_AXES};

use super::indices::{Indices, IndicesMut};
use super::parts::Context;
use super::view::Places;

/// The bad indices that several threads found.
#[derive(Debug, Default)]
pub(crate) struct Offences(Mutex<Offence>);

impl Offences {
    pub fn merge(&self, offence: Offence) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).merge(offence);
    }

    pub fn found(self) -> Option<(u64, i64, u64)> {
        self.0.into_inner().unwrap_or_else(PoisonError::into_inner).found()
    }
}

/// The indices that a task converts.
const TASK: usize = 1 << 15;

/// Writes the indices in the target convention. If any index cannot be converted, nothing is written.
pub(crate) fn convert(
    plan: &ConvertPlan,
    context: &Context<'_>,
    indices: Indices<'_>,
    converted: IndicesMut<'_>,
) -> Result<(), ExecuteError> {
    let tasks = || (0..indices.len()).step_by(TASK);
    let length = |first: usize| TASK.min(indices.len() - first);
    let (offences, strides) = (Offences::default(), plan.to.strides());
    context.run(tasks().collect(), |first, _| {
        let mut offence = Offence::default();
        visit(plan, first, length(first), |from, n, c, at| {
            let index = indices.get(from);
            if index != -1 && converted_index(plan, &strides, index, n, c, at).is_none() {
                offence.add(from, index);
            }
        });
        offences.merge(offence);
        Ok(())
    })?;
    if let Some((first, value, count)) = offences.found() {
        return Err(plan.offence(first, value, count));
    }
    let written = converted.pieces(tasks().map(length));
    context.run(tasks().zip(written).collect(), |(first, mut written), _| {
        let mut number = 0;
        visit(plan, first, length(first), |from, n, c, at| {
            written.set(number, converted_index(plan, &strides, indices.get(from), n, c, at).unwrap_or(-1));
            number += 1;
        });
        Ok(())
    })
}

/// The index, stored in plane (n, c), in the target convention. `None` if it names no element, or an element of another
/// plane that the target convention cannot express. `at` is room for one coordinate per axis; its contents are ignored.
fn converted_index(
    plan: &ConvertPlan,
    to: &IndexStrides,
    index: i64,
    n: usize,
    c: usize,
    at: &mut [usize],
) -> Option<i64> {
    let (target_n, target_c) = plan.from.decode_into(index, n, c, at)?;
    let names_n = plan.to.flatten.counts_batch() || target_n == n;
    let names_c = plan.to.flatten.counts_channels() || target_c == c;
    let along = |stride: i64, coordinate: usize| stride.wrapping_mul(coordinate as i64);
    let plane = along(to.n, target_n).wrapping_add(along(to.c, target_c));
    let spatial = to.spatial.iter().zip(&*at).map(|(&stride, &coordinate)| along(stride, coordinate));
    (names_n && names_c).then(|| spatial.fold(plane, i64::wrapping_add))
}

/// Visits `count` indices in the order in which they are written: the place where the index is read, its batch item,
/// its channel, and room for spatial coordinates.
fn visit(plan: &ConvertPlan, first: usize, count: usize, mut visit: impl FnMut(usize, usize, usize, &mut [usize])) {
    let plane: usize = plan.extents.iter().product();
    let channels = plan.to.channels;
    let places = Places::new(plan.from.layout, channels, plane);
    let mut at = [0; MAX_SPATIAL_AXES];
    let at = &mut at[..plan.extents.len()];
    for place in first..first + count {
        let (n, c, position) = match plan.to.layout {
            Layout::Nchw => (place / plane / channels, place / plane % channels, place % plane),
            Layout::Nhwc => (place / channels / plane, place % channels, place / channels % plane),
        };
        visit(places.at(n, c, position), n, c, at);
    }
}
