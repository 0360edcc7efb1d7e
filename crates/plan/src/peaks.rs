//! Peaks: the elements of a map that win the windows around them.

mod choice;
mod search;

use crate::attributes::Activation;
use crate::backend::Backend;
use crate::element::Element;
use crate::error::{ExecuteError, PlanError};
use crate::options::Plateaus;
use crate::plan::{Plan, PoolPlan};
use crate::request::{AsTensor, Request, ValuesOnly};
use crate::tensor::{Tensor, zeros};
use crate::tile::{Tile, Tiling};
use crate::untyped::{TensorMut, TensorRef};
use choice::{Choosing, coordinates};
use search::Search;

/// The bytes of X and Y of a band, which caches hold. Larger bands are taken where windows are so tall that bands of
/// this size would read X more than [`MOST_READS`] times over.
const BAND_BYTES: u64 = 8 << 20;
const MOST_READS: f64 = 1.25;

/// A peak of a map.
///
/// ```
/// let peak = wgpu_pooling::Peak { position: &[0, 0, 4], value: 7u8 };
/// assert_eq!((peak.position[2], peak.value), (4, 7));
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Peak<'a, T> {
    /// Its coordinates, one for each axis of X, in X's layout.
    pub position: &'a [usize],
    /// Its value.
    pub value: T,
}

/// The peaks of a map, the largest first (of minima the smallest), and equal ones in the row-major order of their
/// positions.
///
/// ```
/// use wgpu_pooling::{Dilate, Reference, TensorView};
/// let peaks = Dilate::new([3]).on(TensorView::new(&[1, 1, 5], &[3, 1, 0, 9, 2])?).peaks().run_blocking(&Reference)?;
/// assert_eq!((peaks.values(), peaks.positions()), (&[9, 3][..], &[0, 0, 3, 0, 0, 0][..]));
/// assert_eq!(peaks.iter().next().map(|peak| peak.position[2]), Some(3));
/// # Ok::<(), wgpu_pooling::ExecuteError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Peaks<T> {
    axes: usize,
    positions: Vec<usize>,
    values: Vec<T>,
}

impl<T: Element> Peaks<T> {
    /// The number of peaks.
    pub fn len(&self) -> usize {
        self.values.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// The coordinates of all peaks, one peak after the other: as many for each as X has axes.
    pub fn positions(&self) -> &[usize] {
        &self.positions
    }

    /// The value of each peak.
    pub fn values(&self) -> &[T] {
        &self.values
    }

    /// The peaks, one by one.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = Peak<'_, T>> {
        let positions = self.positions.chunks_exact(self.axes);
        positions.zip(&self.values).map(|(position, &value)| Peak { position, value })
    }
}

impl<'a, T: Element> Request<'a, Tensor<T>, ValuesOnly> {
    /// Asks for the peaks of X instead of Y: the elements that are the maximum of the windows around them.
    ///
    /// ```
    /// use wgpu_pooling::{Dilate, Reference, TensorView};
    /// let x = TensorView::new(&[1, 1, 5], &[3, 1, 4, 2, 5])?;
    /// assert_eq!(Dilate::new([3]).on(x).peaks().run_blocking(&Reference)?.values(), [5, 4, 3]);
    /// # Ok::<(), wgpu_pooling::ExecuteError>(())
    /// ```
    pub fn peaks(self) -> PeaksRequest<'a, T> {
        let planned = self.into_plan().and_then(|(plan, mut inputs)| match (plan, inputs.pop()) {
            (Plan::Pool(pool), Some(x)) => Ok((pool, x)),
            (plan, _) => Err(PlanError::Combination { first: plan.kind(), second: "peaks" }),
        });
        PeaksRequest {
            planned,
            threshold: None,
            plateaus: Plateaus::default(),
            exclude_border: None,
            min_distance: 0,
            largest: None,
            band_bytes: BAND_BYTES,
            most_reads: MOST_READS,
        }
    }
}

/// A request for the peaks of a map: the elements that are the maximum of the windows around them. The method
/// [`peaks`](crate::Request::peaks) of a pool's request makes it.
///
/// The pool has to have an output for each element, as [`Dilate`](crate::Dilate) has; its options say what a window is,
/// what a NaN does ([`NanPolicy`](crate::NanPolicy)) and how X lies. A pool of minima, such as
/// [`Erode`](crate::Erode), gives minima. A NaN is never a peak, and neither is an element that its own window leaves
/// out.
///
/// The backend computes the pool's values, in bands of some megabytes, or larger ones where windows are tall; the
/// calling thread compares them with X. Beside X and the result that takes a band, and some 50 bytes for each peak that
/// is found: with [`largest`](Self::largest) for twice as many as are kept or some thousand, unless
/// [`min_distance`](Self::min_distance) needs all of them, which takes some 150 bytes for each that it keeps.
///
/// ```
/// use wgpu_pooling::{Dilate, Reference, TensorView};
///
/// let map = TensorView::new(&[1, 1, 2, 6], &[9u8, 1, 0, 4, 4, 4, 0, 1, 0, 0, 0, 3])?;
/// let peaks = Dilate::new([3, 3]).on(map).peaks().threshold(2).run_blocking(&Reference)?;
/// assert_eq!(peaks.values(), [9, 4]);
/// assert_eq!(peaks.positions()[4..], [0, 0, 0, 3], "the first of the plateau of three");
/// # Ok::<(), wgpu_pooling::ExecuteError>(())
/// ```
#[must_use = "a request computes nothing until it is run"]
#[derive(Debug)]
pub struct PeaksRequest<'a, T> {
    planned: Result<(PoolPlan, TensorRef<'a>), PlanError>,
    threshold: Option<T>,
    plateaus: Plateaus,
    exclude_border: Option<Vec<usize>>,
    min_distance: usize,
    largest: Option<usize>,
    band_bytes: u64,
    most_reads: f64,
}

impl<'a, T: Element> PeaksRequest<'a, T> {
    /// Leaves out peaks that are not above this value; minima that are not below it.
    ///
    /// ```
    /// use wgpu_pooling::{Erode, Reference, TensorView};
    /// let x = TensorView::new(&[1, 1, 5], &[3, 1, 4, 2, 2])?;
    /// let minima = Erode::new([3]).on(x).peaks().threshold(2).run_blocking(&Reference)?;
    /// assert_eq!(minima.values(), [1]);
    /// # Ok::<(), wgpu_pooling::ExecuteError>(())
    /// ```
    pub fn threshold(self, threshold: T) -> Self {
        PeaksRequest { threshold: Some(threshold), ..self }
    }

    /// Which of the equal elements in a window are peaks; by default the first.
    ///
    /// ```
    /// use wgpu_pooling::{Dilate, Plateaus, Reference, TensorView};
    /// let x = TensorView::new(&[1, 1, 5], &[1, 4, 4, 2, 0])?;
    /// assert_eq!(Dilate::new([3]).on(x).peaks().plateaus(Plateaus::All).run_blocking(&Reference)?.values(), [4, 4]);
    /// # Ok::<(), wgpu_pooling::ExecuteError>(())
    /// ```
    pub fn plateaus(self, plateaus: Plateaus) -> Self {
        PeaksRequest { plateaus, ..self }
    }

    /// Leaves out peaks whose distance to an end of a spatial axis is less than this number of elements, a number for
    /// each axis: with 1 the first and the last element. Such elements still win windows.
    ///
    /// ```
    /// use wgpu_pooling::{Dilate, Reference, TensorView};
    /// let x = TensorView::new(&[1, 1, 5], &[3, 1, 4, 2, 5])?;
    /// let peaks = Dilate::new([3]).on(x).peaks().exclude_border([1]).run_blocking(&Reference)?;
    /// assert_eq!(peaks.values(), [4]);
    /// # Ok::<(), wgpu_pooling::ExecuteError>(())
    /// ```
    pub fn exclude_border(self, elements: impl Into<Vec<usize>>) -> Self {
        PeaksRequest { exclude_border: Some(elements.into()), ..self }
    }

    /// Keeps a peak only if it is at least this number of elements away, along some spatial axis, from every peak of
    /// its plane that is kept before it, the largest first. Windows of `2 * elements - 1` or more do this by
    /// themselves, but for equal elements. `peak_local_max(x, min_distance=d)` of scikit-image is a window of
    /// `2 * d + 1` with this distance, [`Plateaus::All`], a border of `d` and the least value as threshold.
    ///
    /// ```
    /// use wgpu_pooling::{Dilate, Reference, TensorView};
    /// let x = TensorView::new(&[1, 1, 7], &[5, 0, 6, 0, 4, 0, 3])?;
    /// let peaks = Dilate::new([3]).on(x).peaks().min_distance(3).run_blocking(&Reference)?;
    /// assert_eq!(peaks.values(), [6, 3], "5 and 4 are two elements away from 6");
    /// # Ok::<(), wgpu_pooling::ExecuteError>(())
    /// ```
    pub fn min_distance(self, elements: usize) -> Self {
        PeaksRequest { min_distance: elements, ..self }
    }

    /// Keeps this number of peaks of each batch item, the largest, over all of its channels.
    ///
    /// ```
    /// use wgpu_pooling::{Dilate, Reference, TensorView};
    /// let x = TensorView::new(&[2, 1, 5], &[5, 0, 6, 0, 4, 1, 0, 2, 0, 3])?;
    /// let peaks = Dilate::new([3]).on(x).peaks().largest(2).run_blocking(&Reference)?;
    /// assert_eq!(peaks.values(), [6, 5, 3, 2]);
    /// # Ok::<(), wgpu_pooling::ExecuteError>(())
    /// ```
    pub fn largest(self, peaks: usize) -> Self {
        PeaksRequest { largest: Some(peaks), ..self }
    }

    /// Finds the peaks, with the pool computed on a backend.
    ///
    /// # Errors
    /// Those of the pool's `plan`; [`PlanError::NotEachElement`] if Y has another shape than X;
    /// [`PlanError::Combination`] if the pool has an activation, or is a composition; [`PlanError::UnknownValue`] for a
    /// threshold that is NaN; [`PlanError::AttributeLength`] for a border with another number of axes; the errors of
    /// [`Backend::run`]; [`ExecuteError::OutOfMemory`].
    ///
    /// ```
    /// # async fn f(gpu: &dyn wgpu_pooling::Backend) -> Result<(), wgpu_pooling::ExecuteError> {
    /// use wgpu_pooling::{Dilate, Tensor};
    /// let heat = Tensor::new([1, 1, 5], vec![0.1f32, 0.9, 0.3, 0.7, 0.2])?;
    /// let centers = Dilate::new([3]).on(&heat).peaks().largest(100).run(gpu).await?;
    /// # Ok(())
    /// # }
    /// ```
    pub async fn run(self, backend: &dyn Backend) -> Result<Peaks<T>, ExecuteError> {
        self.check()?;
        let (pool, x) = self.planned.as_ref().map_err(Clone::clone)?;
        let elements = x.elements::<T>()?;
        let mut search = self.search(pool, &elements);
        let plan = Plan::Pool(pool.clone());
        let bands = self.bands(&plan)?;
        let (mut part, mut y) = (Vec::new(), Vec::new());
        for band in (0..bands.len()).filter_map(|number| bands.tile(number)) {
            backend.check_alive()?;
            let (of_x, of_y) = (&band.plan().inputs()[0], &band.plan().outputs()[0]);
            let x =
                TensorRef::new(T::DTYPE, &of_x.shape, bytemuck::cast_slice(input(&band, pool, &elements, &mut part)?))?;
            let length = usize::try_from(of_y.element_count()).unwrap_or(usize::MAX);
            if y.len() < length {
                y = zeros(&[length])?;
            }
            let made = TensorMut::new(T::DTYPE, &of_y.shape, bytemuck::cast_slice_mut(&mut y[..length]))?;
            backend.run(band.plan(), &[x], &mut [made.fresh()]).await?;
            // A band's outputs lie one behind the other, and behind those of the bands before it.
            let first = band.output().runs(pool.output_shape(), pool.layout()).next();
            search.run(first.map_or(0, |(first, _)| first as usize), &y[..length])?;
        }
        peaks(pool, search.found.kept()?)
    }

    /// [`PeaksRequest::run`], waiting for the result in this thread. Outside the web.
    ///
    /// # Errors
    /// As [`PeaksRequest::run`].
    #[cfg(not(target_arch = "wasm32"))]
    pub fn run_blocking(self, backend: &dyn Backend) -> Result<Peaks<T>, ExecuteError> {
        pollster::block_on(self.run(backend))
    }

    /// Finds the peaks by the pool's Y, which was computed before, such as on a device by steps that went on with it.
    ///
    /// # Errors
    /// As [`PeaksRequest::run`], and [`ExecuteError::ShapeMismatch`] if `y` has another shape than X.
    ///
    /// ```
    /// use wgpu_pooling::{Dilate, Reference, Tensor};
    /// let (pool, x) = (Dilate::new([3]), Tensor::new([1, 1, 5], vec![3, 1, 4, 2, 5])?);
    /// let y = pool.on(&x).run_blocking(&Reference)?;
    /// assert_eq!(pool.on(&x).peaks().of_y(&y)?, pool.on(&x).peaks().run_blocking(&Reference)?);
    /// # Ok::<(), wgpu_pooling::ExecuteError>(())
    /// ```
    pub fn of_y<'b>(self, y: impl AsTensor<'b, Element = T>) -> Result<Peaks<T>, ExecuteError> {
        self.check()?;
        let (pool, x) = self.planned.as_ref().map_err(Clone::clone)?;
        let (y, elements) = (y.tensor()?, x.elements::<T>()?);
        pool.outputs[0].check_shape("y", y.shape())?;
        let mut search = self.search(pool, &elements);
        search.run(0, &y.elements::<T>()?)?;
        peaks(pool, search.found.kept()?)
    }

    /// Refuses what has no peaks.
    fn check(&self) -> Result<(), PlanError> {
        let (pool, _) = self.planned.as_ref().map_err(Clone::clone)?;
        if pool.output_shape() != pool.input_shape() {
            let (input, output) = (pool.input_shape().to_vec(), pool.output_shape().to_vec());
            return Err(PlanError::NotEachElement { input, output });
        }
        if pool.activation != Activation::Identity {
            return Err(PlanError::Combination { first: "activation", second: "peaks" });
        }
        if self.threshold.is_some_and(Element::is_nan) {
            let (attribute, value) = ("threshold", "NaN".to_owned());
            return Err(PlanError::UnknownValue { attribute, value, expected: "a number" });
        }
        let (attribute, expected) = ("exclude_border", pool.axes.len());
        match &self.exclude_border {
            Some(border) if border.len() != expected => {
                Err(PlanError::AttributeLength { attribute, expected, actual: border.len() })
            }
            _ => Ok(()),
        }
    }

    /// The pool in bands of rows, or of whole planes.
    fn bands(&self, plan: &Plan) -> Result<Tiling, PlanError> {
        let mut budget_bytes = self.band_bytes.min(plan.bytes());
        loop {
            let bands = Tiling::new(plan, budget_bytes, |band| Ok(band.bytes()));
            let is_whole = budget_bytes >= plan.bytes();
            match bands {
                Ok(bands) if is_whole || (!bands.cuts_windows() && bands.reads() <= self.most_reads) => {
                    return Ok(bands);
                }
                Err(error) if is_whole => return Err(error),
                _ => budget_bytes = budget_bytes.saturating_mul(2).min(plan.bytes()),
            }
        }
    }

    fn search<'s>(&self, pool: &'s PoolPlan, x: &'s [T]) -> Search<'s, T> {
        let border = self.exclude_border.clone().unwrap_or_else(|| vec![0; pool.axes.len()]);
        let found = Choosing::new(pool, x, self.threshold, (self.largest, self.min_distance));
        Search::new(pool, x, self.plateaus, &border, found)
    }
}

/// Peaks by their places and values.
fn peaks<T: Element>(
    pool: &PoolPlan,
    found: impl ExactSizeIterator<Item = (usize, T)>,
) -> Result<Peaks<T>, ExecuteError> {
    let (shape, axes) = (pool.input_shape(), pool.input_shape().len());
    let (mut values, mut positions) = (zeros(&[found.len()])?, zeros(&[found.len(), axes])?);
    for ((value, position), (place, of_x)) in values.iter_mut().zip(positions.chunks_exact_mut(axes)).zip(found) {
        *value = of_x;
        coordinates(place, shape, position);
    }
    Ok(Peaks { axes, positions, values })
}

/// The elements of X that a band reads, copied to `part` where they do not lie one behind the other.
fn input<'a, T: Element>(
    band: &Tile,
    pool: &PoolPlan,
    x: &'a [T],
    part: &'a mut Vec<T>,
) -> Result<&'a [T], ExecuteError> {
    let mut runs = band.input().runs(pool.input_shape(), pool.layout()).peekable();
    let run = |(first, length): (u64, usize)| &x[first as usize..][..length];
    let Some(first) = runs.next() else { return Ok(&[]) };
    if runs.peek().is_none() {
        return Ok(run(first));
    }
    part.clear();
    let elements = band.input().elements() as usize;
    part.try_reserve(elements).map_err(|_| ExecuteError::OutOfMemory(format!("{elements} elements of a band")))?;
    std::iter::once(first).chain(runs).for_each(|of_x| part.extend_from_slice(run(of_x)));
    Ok(part)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ops::Dilate;
    use crate::options::{Layout, Plateaus};
    use crate::reference::Reference;

    /// Bands of any size, also such as cut rows and channels, give the peaks of the whole map.
    #[test]
    fn bands_give_the_peaks_of_the_map() {
        for (shape, layout) in [([2, 3, 7, 11], Layout::Nchw), ([2, 7, 11, 3], Layout::Nhwc)] {
            let x: Vec<u8> = (0..462u32).map(|place| (place.wrapping_mul(2_654_435_761) >> 29) as u8).collect();
            for (kernel, plateaus) in [([3, 3], Plateaus::First), ([1, 5], Plateaus::All), ([7, 1], Plateaus::First)] {
                let pool = Dilate::new(kernel).layout(layout);
                let peaks = || pool.on((&shape, &x)).peaks().plateaus(plateaus).min_distance(2).largest(20);
                let y = pool.on((&shape, &x)).run_blocking(&Reference).unwrap();
                let whole = peaks().of_y(&y).unwrap();
                assert!(!whole.is_empty());
                for band_bytes in [16, 40, 100, 300] {
                    let cut = PeaksRequest { band_bytes, most_reads: f64::INFINITY, ..peaks() };
                    assert_eq!(cut.run_blocking(&Reference), Ok(whole.clone()), "{layout} {kernel:?} {band_bytes}");
                }
            }
        }
    }
}
