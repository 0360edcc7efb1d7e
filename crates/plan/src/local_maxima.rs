//! Local maxima, found by the indices of a pool.

use crate::bad_indices::BadIndices;
use crate::element::{Element, Index};
use crate::error::{ExecuteError, PlanError};
use crate::index::{IndexSpace, take_digit};
use crate::options::NanPolicy;
use crate::plan::{IndexPlan, PoolPlan};
use crate::pooling::Pooling;
use crate::request::AsTensor;
use crate::tensor::{for_each_element, position, zeros};

/// A local maximum of a map.
///
/// ```
/// let peak = wgpu_pooling::Peak { position: vec![0, 0, 4], value: 7u8 };
/// assert_eq!((peak.position[2], peak.value), (4, 7));
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Peak<T> {
    /// Its coordinates, one for each axis of Y, in Y's layout.
    pub position: Vec<usize>,
    /// Its value in Y.
    pub value: T,
}

/// The local maxima of a map, from Y and Indices of a pool of the map that has an output for each element, computed by
/// any backend. This itself runs on the host.
///
/// An element is a peak if the index in its place names the element itself: it wins its own window. With a `threshold`
/// its value has to be above that, too. The largest peak comes first, and equal ones come in the row-major order of
/// their positions. A pool of minima gives local minima: those below the threshold, the smallest first.
///
/// **Plateaus**: of equal elements the first one in row-major order wins a window. Hence an equal element before it in
/// its window keeps an element from being a peak, and one after it does not. Of elements that are all in each other's
/// windows at most one is a peak; a plateau that is larger than the windows can have several. Zeros of both signs are
/// equal.
///
/// **NaN** is never a peak. Which windows it wins is the pool's [`NanPolicy`](crate::NanPolicy): all of its own under
/// [`PropagateLast`](crate::NanPolicy::PropagateLast), so that no element with a NaN in its window is a peak, and by
/// default those whose first element it is.
///
/// # Errors
/// Those of the pool's `plan` for an X of the shape of `y`; [`PlanError::NotEachElement`] if the pool gives a Y of
/// another shape than its X, and [`PlanError::IndexShape`] if `indices` has another shape than its Indices; for indices
/// that this pool does not give [`ExecuteError::IndexOutOfRange`] if they name nothing, but for -1,
/// [`ExecuteError::IndexNotInPlane`] if they name an element of another plane, and
/// [`ExecuteError::IndexOutsideWindow`] if they name one outside their window (those of a pool with smaller windows do
/// not, and are taken; under [`SeedLowest`](crate::NanPolicy::SeedLowest) the first element of a plane is too);
/// [`PlanError::UnknownValue`] for a threshold that is NaN; [`ExecuteError::OutOfMemory`].
///
/// ```
/// use wgpu_pooling::{AutoPad, MaxPool, Reference, TensorView, local_maxima};
///
/// let map = TensorView::new(&[1, 1, 2, 6], &[9u8, 1, 0, 4, 4, 4, 0, 1, 0, 0, 0, 3])?;
/// let pool = MaxPool::new([3, 3]).auto_pad(AutoPad::SameLower);
/// let (y, indices) = pool.on(map).with_indices::<i64>().run_blocking(&Reference)?;
/// let peaks = local_maxima(&pool, &y, &indices, Some(2))?;
/// assert_eq!(peaks.iter().map(|peak| peak.value).collect::<Vec<_>>(), [9, 4]);
/// assert_eq!(peaks[1].position, [0, 0, 0, 3], "the first of the plateau of three");
/// # Ok::<(), wgpu_pooling::ExecuteError>(())
/// ```
pub fn local_maxima<'a, T: Element, I: AsTensor<'a, Element: Index>>(
    pool: &(impl Pooling + ?Sized),
    y: impl AsTensor<'a, Element = T>,
    indices: I,
    threshold: Option<T>,
) -> Result<Vec<Peak<T>>, ExecuteError> {
    let (y, indices) = (y.tensor()?, indices.tensor()?);
    let (plan, rules) = pool.plan_and_rules(y.shape(), T::DTYPE)?;
    if plan.output_shape() != y.shape() {
        let (input, output) = (y.shape().to_vec(), plan.output_shape().to_vec());
        return Err(PlanError::NotEachElement { input, output }.into());
    }
    let rules = IndexPlan { index_type: I::Element::INDEX_TYPE, ..rules };
    let plan = plan.with_indices(rules.clone())?;
    for (spec, (what, tensor)) in plan.outputs.iter().zip([("y", y), ("indices", indices)]) {
        spec.check_dtype(what, tensor.dtype())?;
    }
    if plan.outputs[1].shape != indices.shape() {
        let (shape, space) = (indices.shape().to_vec(), rules.space.shape());
        return Err(PlanError::IndexShape { shape, space }.into());
    }
    if threshold.is_some_and(Element::is_nan) {
        let (attribute, value) = ("threshold", "NaN".to_owned());
        return Err(PlanError::UnknownValue { attribute, value, expected: "a number" }.into());
    }
    let values = y.elements::<T>()?;
    let mut places = own_winners(&plan, &rules, &indices.elements::<I::Element>()?)?;
    let wins = |value: T, other: T| plan.reduction.prefers(value, other);
    let passes = |value: T| !value.is_nan() && threshold.is_none_or(|threshold| wins(value, threshold));
    places.retain(|&place| passes(values[place]));
    places.sort_unstable_by(|&first, &second| {
        let (value, other) = (values[first], values[second]);
        wins(other, value).cmp(&wins(value, other)).then(first.cmp(&second))
    });
    let mut peaks = Vec::new();
    peaks.try_reserve_exact(places.len()).map_err(|_| out_of_memory(places.len()))?;
    for place in places {
        peaks.push(Peak { position: coordinates(place, y.shape())?, value: values[place] });
    }
    Ok(peaks)
}

/// The places, in Y, of the elements whose indices name themselves. Refuses indices that this pool does not give: those
/// of other planes, and those outside their windows that no window without a winner has.
fn own_winners<I: Index>(plan: &PoolPlan, rules: &IndexPlan, indices: &[I]) -> Result<Vec<usize>, ExecuteError> {
    let space = &rules.space;
    let IndexSpace { batch, channels, extents, .. } = space;
    let (strides, mut target) = (space.strides(), vec![0; extents.len()]);
    let (mut bad, mut outside) = (BadIndices::default(), BadIndices::default());
    let (mut own, mut reserved) = (Vec::new(), Ok(()));
    for_each_element(*batch, *channels, extents, &mut |n, c, at| {
        let place = position(space.layout, *channels, extents, n, c, at);
        let index = indices[place].to_i64();
        let in_plane = space.decode_into(index, n, c, &mut target) == Some((n, c));
        let mut taps = plan.axes.iter().zip(at).map(|(axis, &o)| axis.taps(o)).zip(&target);
        if in_plane && taps.all(|(taps, &target)| taps.contains(target as i64)) {
            if target == at && reserved.is_ok() {
                reserved = own.try_reserve(1).map_err(|_| out_of_memory(own.len()));
                own.extend(reserved.is_ok().then(|| position(plan.layout(), *channels, extents, n, c, at)));
            }
            return;
        }
        let may_be_empty = plan.ignores_nan() || plan.axes.iter().zip(at).any(|(axis, &o)| axis.taps(o).count == 0);
        let of_nothing = index == -1
            || may_be_empty && index == plan.empty_index(rules, n, c, at)
            || plan.nan_policy == NanPolicy::SeedLowest && index == strides.flat(n, c, &[]);
        if !of_nothing {
            if in_plane { outside.add(place, index) } else { bad.add(place, index) }
        }
    });
    space.refuse(bad)?;
    if let Some((position, _, count)) = outside.found() {
        return Err(ExecuteError::IndexOutsideWindow { position, count });
    }
    reserved.map(|()| own)
}

/// The coordinates of an element by its place in a tensor of this shape.
fn coordinates(place: usize, shape: &[usize]) -> Result<Vec<usize>, ExecuteError> {
    let (mut position, mut rest) = (zeros(&[shape.len()])?, place as u64);
    for (coordinate, &extent) in position.iter_mut().zip(shape).rev() {
        *coordinate = take_digit(&mut rest, extent as u64) as usize;
    }
    Ok(position)
}

fn out_of_memory(peaks: usize) -> ExecuteError {
    ExecuteError::OutOfMemory(format!("{peaks} peaks"))
}
