//! Unpools on slices.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};

use super::choose::CpuKernel;
use super::convert::Offences;
use super::parts::{Context, Part, cut, pieces, runs, wanted};
use super::view::{Places, unpool_planes};
use crate::activation::apply_to_all;
use crate::element::{Element, Index};
use crate::error::{ExecuteError, PlanError};
use crate::offence::{Offence, stay_in_plane};
use crate::options::{Layout, OutsideWindow, StorageOrder};
use crate::plan::{MAX_SPATIAL_AXES, Named, UnpoolPlan};
use crate::tensor::for_each;

/// An unpool and how it is computed.
#[derive(Debug)]
pub(crate) struct UnpoolWork {
    kernel: CpuKernel,
}

impl UnpoolWork {
    pub fn of(plan: &UnpoolPlan, asked: Option<CpuKernel>) -> Result<UnpoolWork, PlanError> {
        let refused = |kernel: CpuKernel, reason| PlanError::CpuKernelDoesNotApply { kernel: kernel.name(), reason };
        let kernel = match (asked, scatters(plan)) {
            (None | Some(CpuKernel::Scatter), Ok(())) => CpuKernel::Scatter,
            (None | Some(CpuKernel::General), _) => CpuKernel::General,
            (Some(CpuKernel::Scatter), Err(reason)) => return Err(refused(CpuKernel::Scatter, reason)),
            (Some(other), _) => return Err(refused(other, "it is for pools")),
        };
        Ok(UnpoolWork { kernel })
    }

    pub fn kernel(&self) -> CpuKernel {
        self.kernel
    }

    /// Writes Y. If indices are bad and the plan refuses such, nothing is written.
    pub fn run<T: Element, I: Index>(
        &self,
        plan: &UnpoolPlan,
        context: &Context<'_>,
        x: &[T],
        indices: &[I],
        y: &mut [T],
    ) -> Result<(), ExecuteError> {
        // An output without elements has no index that names one.
        if y.is_empty() {
            return refuse_bad(plan, context, indices);
        }
        if self.kernel == CpuKernel::Scatter && stay_in_their_planes(plan, context, indices)? {
            return scatter(plan, context, x, indices, y);
        }
        refuse_bad(plan, context, indices)?;
        general(plan, context, x, indices, y)
    }
}

/// Whether an index that stays in its plane is a position of Y's plane, less a number that the plane's indices share.
fn scatters(plan: &UnpoolPlan) -> Result<(), &'static str> {
    if plan.layout() != Layout::Nchw || plan.space.layout != Layout::Nchw {
        return Err("X and Indices have to be NCHW");
    }
    if plan.space.extents != plan.y_extents || plan.space.order != StorageOrder::RowMajor {
        return Err("the indices have to be positions of Y");
    }
    if plan.outside_window != OutsideWindow::Scatter {
        return Err("indices are held to their windows");
    }
    Ok(())
}

/// The index of a plane's first element.
fn base(plan: &UnpoolPlan, plane: usize) -> i64 {
    let strides = plan.space.strides();
    let (n, c) = (plane / plan.channels, plane % plan.channels);
    (n as i64).wrapping_mul(strides.n).wrapping_add((c as i64).wrapping_mul(strides.c))
}

/// The planes of X and Y in tasks, each of them with whole planes.
fn planes(plan: &UnpoolPlan) -> Vec<Part> {
    let planes = plan.batch * plan.channels;
    cut(planes, 1, wanted(plan.bytes(), rayon::current_num_threads).min(planes))
}

/// Whether every index names an element of its own plane, or none if the plan skips those.
fn stay_in_their_planes<I: Index>(
    plan: &UnpoolPlan,
    context: &Context<'_>,
    indices: &[I],
) -> Result<bool, ExecuteError> {
    let [plane, y_plane] = unpool_planes(plan);
    let strays = AtomicBool::new(false);
    context.run(planes(plan), |part, _| {
        for outer in part.outer {
            let (base, indices) = (base(plan, outer), &indices[outer * plane..][..plane]);
            let stay = context.simd.run(
                #[inline(always)]
                || stay_in_plane(indices, base, y_plane as u64, plan.skip_minus_one),
            );
            if !stay {
                strays.store(true, Ordering::Relaxed);
            }
        }
        Ok(())
    })?;
    Ok(!strays.into_inner())
}

/// Fills a plane with zeros and writes its elements in order, so that of equal indices the last one wins.
fn scatter<T: Element, I: Index>(
    plan: &UnpoolPlan,
    context: &Context<'_>,
    x: &[T],
    indices: &[I],
    y: &mut [T],
) -> Result<(), ExecuteError> {
    let [plane, y_plane] = unpool_planes(plan);
    let parts = planes(plan);
    let y = pieces(y, parts.iter().map(|part| part.outer.len() * y_plane));
    context.run(parts.iter().zip(y).collect(), |(part, y), _| {
        for (outer, y) in part.outer.clone().zip(y.chunks_exact_mut(y_plane)) {
            let base = base(plan, outer);
            y.fill(T::zeroed());
            let sources = x[outer * plane..][..plane].iter().zip(&indices[outer * plane..][..plane]);
            for (value, index) in sources {
                // An index that is skipped is outside the plane.
                if let Some(place) = y.get_mut(index.to_i64().wrapping_sub(base) as usize) {
                    *place = *value;
                }
            }
            apply_to_all(plan.activation, y);
        }
        Ok(())
    })
}

/// The error of bad indices, where the plan refuses them.
fn refuse_bad<I: Index>(plan: &UnpoolPlan, context: &Context<'_>, indices: &[I]) -> Result<(), ExecuteError> {
    if !plan.refuses_bad_indices() {
        return Ok(());
    }
    let planes = plan.batch * plan.channels;
    let offences = Offences::default();
    context.run(
        cut(planes, 1, wanted((indices.len() as u64).saturating_mul(64), rayon::current_num_threads).min(planes)),
        |part, _| {
            let mut offence = Offence::default();
            sources(plan, part.outer, |_, place, n, c, at| {
                let index = indices[place].to_i64();
                let mut target = [0; MAX_SPATIAL_AXES];
                if let Named::OutOfRange | Named::Outside = plan.named(index, n, c, at, &mut target[..at.len()]) {
                    offence.add(place, index);
                }
            });
            offences.merge(offence);
            Ok(())
        },
    )?;
    offences.found().map_or(Ok(()), |(first, value, count)| Err(plan.offence(first, value, count)))
}

/// Each task owns a run of Y and takes from all sources that may name one of its elements those that do, in order.
fn general<T: Element, I: Index>(
    plan: &UnpoolPlan,
    context: &Context<'_>,
    x: &[T],
    indices: &[I],
    y: &mut [T],
) -> Result<(), ExecuteError> {
    let [_, y_plane] = unpool_planes(plan);
    let places = Places::of(plan.layout(), plan.channels, y_plane);
    let wanted = wanted((indices.len() as u64).saturating_mul(64), rayon::current_num_threads);
    // A task reads all sources, or those of its batch items or planes where an index cannot name others.
    let wanted = if plan.space.flatten.counts_batch() { wanted.min(rayon::current_num_threads()) } else { wanted };
    let owned = runs(y.len(), wanted);
    let slices = pieces(y, owned.iter().map(Range::len));
    context.run(owned.iter().zip(slices).collect(), |(owned, y), _| {
        y.fill(T::zeroed());
        sources(plan, relevant(plan, owned, y_plane), |from, place, n, c, at| {
            let mut target = [0; MAX_SPATIAL_AXES];
            let target = &mut target[..at.len()];
            if let Named::Element(n, c) = plan.named(indices[place].to_i64(), n, c, at, target) {
                let position =
                    target.iter().zip(&plan.y_extents).fold(0, |position, (at, extent)| position * extent + at);
                let to = places.at(n, c, position);
                if owned.contains(&to) {
                    y[to - owned.start] = x[from];
                }
            }
        });
        apply_to_all(plan.activation, y);
        Ok(())
    })
}

/// The planes (n, c) of X whose indices can name an element in this run of Y.
fn relevant(plan: &UnpoolPlan, owned: &Range<usize>, y_plane: usize) -> Range<usize> {
    let channels = plan.channels;
    if plan.space.flatten.counts_batch() {
        return 0..plan.batch * channels;
    }
    let (first, last) = (owned.start / y_plane, (owned.end - 1) / y_plane);
    if plan.layout() == Layout::Nchw && !plan.space.flatten.counts_channels() {
        return first..last + 1;
    }
    let items = match plan.layout() {
        Layout::Nchw => first / channels..last / channels + 1,
        Layout::Nhwc => owned.start / (y_plane * channels)..(owned.end - 1) / (y_plane * channels) + 1,
    };
    items.start * channels..items.end * channels
}

/// Visits the sources of some planes (n, c) in (n, c, spatial) order: the place in X, that in Indices, and the coordinates.
fn sources(plan: &UnpoolPlan, planes: Range<usize>, mut visit: impl FnMut(usize, usize, usize, usize, &[usize])) {
    let [plane, _] = unpool_planes(plan);
    let x_places = Places::of(plan.layout(), plan.channels, plane);
    let index_places = Places::of(plan.space.layout, plan.channels, plane);
    for outer in planes {
        let (n, c) = (outer / plan.channels, outer % plan.channels);
        let mut position = 0;
        for_each(&plan.x_extents, |at| {
            visit(x_places.at(n, c, position), index_places.at(n, c, position), n, c, at);
            position += 1;
        });
    }
}
