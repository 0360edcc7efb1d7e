//! Pools of many small planes, or of other windows that are runs of elements, a batch of them at a time: vector
//! instructions do the last steps of each plane for all planes of the batch.
//!
//! ```text
//! plane 0   0 1 2 3 | 4 5 6 7 | 5 6 7 8        running maxima    a0 a1 a2 a3
//! plane 1   0 1 2 3 | 4 5 6 7 | 5 6 7 8                          b0 b1 b2 b3
//!                              the last chunk ends where the plane ends
//! halves    a0 a1 a2 a3 b0 b1 b2 b3  ->  a01 a23 b01 b23  ->  a b
//! ```
//!
//! Positions are searched in the same way: the first chunk in which a lane equals the plane's maximum, then the first
//! such lane.

use bytemuck::Zeroable;
use wgpu_pooling_plan::Element;

use super::lane::{Code, Lane, any_nan};
use super::simd::SimdLevel;
use super::tuning::global::STREAMS;

/// The most elements of a small plane: the number of positions that 8 bits can distinguish.
pub(crate) const SMALL: usize = 256;
/// The planes of a batch.
pub(crate) const PLANES: usize = 64;

/// The planes of a batch: their number, their elements, and the distance from the beginning of one to the next.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PlaneBatch {
    pub count: usize,
    pub plane: usize,
    pub step: usize,
}

impl PlaneBatch {
    #[inline(always)]
    fn plane<'a, T>(&self, x: &'a [T], number: usize) -> &'a [T] {
        &x[number * self.step..][..self.plane]
    }
}

/// The winners of a batch of planes.
pub(crate) struct Winners<T> {
    pub values: [T; PLANES],
    /// Whether no element replaced the value that the window begins with.
    pub stays: [bool; PLANES],
    /// The positions of winners if the rule asks for them; 0 for planes that stay.
    pub places: [u8; PLANES],
}

impl<T: Element> Winners<T> {
    pub fn new() -> Winners<T> {
        Winners { values: [T::zeroed(); PLANES], stays: [false; PLANES], places: [0; PLANES] }
    }
}

/// The seed that windows begin with instead of their first element, whether NaN wins, and whether positions are
/// computed.
pub(crate) type Rule<T> = (Option<T>, bool, bool);

/// Lanes that can be reduced in batches.
pub(crate) trait SmallPlanes: Lane {
    /// Computes the winners of up to `PLANES` planes. The first plane begins at the start of X.
    fn winners<C: Code<Lane = Self>>(
        simd: SimdLevel,
        x: &[C::Element],
        planes: PlaneBatch,
        rule: Rule<C::Element>,
        winners: &mut Winners<C::Element>,
    );
}

macro_rules! small_planes {
    ($($lane:ty, $place:ty, $lanes:literal);+) => {
        $(impl SmallPlanes for $lane {
            fn winners<C: Code<Lane = Self>>(
                simd: SimdLevel,
                x: &[C::Element],
                planes: PlaneBatch,
                rule: Rule<C::Element>,
                winners: &mut Winners<C::Element>,
            ) {
                simd.run(#[inline(always)] || batch::<C, $place, $lanes>(x, planes, rule, winners));
            }
        })+
    };
}

// The numbers of lanes that were measured to be fastest. More lanes need fewer steps along a plane and more halvings.
small_planes!(f32, i32, 8; f64, i64, 4; u8, u8, 16; i16, i16, 8; i32, i32, 8; i64, i64, 4);

/// Lanes that can be compared in pairs of neighbours.
trait Pairs: Lane {
    /// The greater lane of each pair of neighbours.
    fn halve(pairs: &[Self; 2 * PLANES]) -> [Self; PLANES];
}

macro_rules! pairs {
    ($($type:ty),+) => {
        $(impl Pairs for $type {
            #[inline(always)]
            fn halve(pairs: &[Self; 2 * PLANES]) -> [Self; PLANES] {
                let mut halves = [Self::LOWEST; PLANES];
                for (i, half) in halves.iter_mut().enumerate() {
                    *half = pairs[2 * i].step(pairs[2 * i + 1], 0);
                }
                halves
            }
        })+
    };
}

pairs!(f32, f64, i32, i64);

// Pairs of narrow lanes are compared as the two halves of a wider integer, in either order: few processors have
// instructions that deinterleave neighbours of 8 and 16 bits.
impl Pairs for i16 {
    #[inline(always)]
    fn halve(pairs: &[Self; 2 * PLANES]) -> [Self; PLANES] {
        let pairs: [i32; PLANES] = bytemuck::cast(*pairs);
        pairs.map(
            #[inline(always)]
            |pair| (pair << 16 >> 16).max(pair >> 16) as i16,
        )
    }
}

impl Pairs for u8 {
    #[inline(always)]
    fn halve(pairs: &[Self; 2 * PLANES]) -> [Self; PLANES] {
        let pairs: [u16; PLANES] = bytemuck::cast(*pairs);
        pairs.map(
            #[inline(always)]
            |pair| ((pair & 0xFF) as i16).max((pair >> 8) as i16) as u8,
        )
    }
}

/// Positions in a small plane as lanes; earlier positions are greater.
trait Place: Pairs {
    fn from_position(position: usize) -> Self;

    fn position(self) -> u8;
}

macro_rules! place {
    ($($type:ty),+) => {
        $(impl Place for $type {
            #[inline(always)]
            fn from_position(position: usize) -> $type {
                !(position as $type)
            }
            #[inline(always)]
            fn position(self) -> u8 {
                !self as u8
            }
        })+
    };
}

place!(u8, i16, i32, i64);

#[inline(always)]
fn batch<C: Code<Lane: Pairs>, P: Place, const N: usize>(
    x: &[C::Element],
    planes: PlaneBatch,
    (seed, nan_wins, with_places): Rule<C::Element>,
    winners: &mut Winners<C::Element>,
) {
    let best = maxima::<C, N>(x, planes);
    let mut firsts = [C::Element::zeroed(); PLANES];
    for (number, first) in firsts[..planes.count].iter_mut().enumerate() {
        *first = seed.unwrap_or(x[number * planes.step]);
    }
    // The lane of a zero does not tell -0 from +0.
    let (zero, mut zeros) = (C::encode(C::Element::zeroed()), false);
    for i in 0..PLANES {
        let stays = firsts[i].is_nan() | (best[i] <= C::encode(firsts[i]));
        winners.stays[i] = stays;
        winners.values[i] = if stays { firsts[i] } else { C::decode(best[i]) };
        zeros |= !stays & (best[i] == zero);
    }
    if with_places {
        let places = places::<C, P, N>(x, planes, &best);
        for (i, place) in places.into_iter().enumerate() {
            winners.places[i] = if winners.stays[i] { 0 } else { place.position() };
        }
    }
    if zeros && C::Element::DTYPE.is_float() {
        for number in 0..planes.count {
            let plane = planes.plane(x, number);
            if best[number] == zero && !winners.stays[number] {
                winners.values[number] =
                    plane.iter().copied().find(|&element| C::encode(element) == zero).unwrap_or(firsts[number]);
            }
        }
    }
    // The elements between planes are searched for NaN too if they are fewer than the elements of the planes.
    if nan_wins && (planes.step > 2 * planes.plane || any_nan(x)) {
        for number in 0..planes.count {
            let plane = planes.plane(x, number);
            if let Some(place) = plane.iter().rposition(|element| element.is_nan()) {
                (winners.values[number], winners.places[number]) = (plane[place], place as u8);
                winners.stays[number] = false;
            }
        }
    }
}

/// The greatest lane of each plane.
#[inline(always)]
fn maxima<C: Code<Lane: Pairs>, const N: usize>(x: &[C::Element], planes: PlaneBatch) -> [C::Lane; PLANES] {
    let mut maxima = [[C::Lane::LOWEST; N]; PLANES];
    let count = planes.count;
    let stream = count.div_ceil(STREAMS);
    for ahead in 0..stream {
        for number in (0..STREAMS).map(|of| of * stream + ahead).filter(|&number| number < count) {
            let plane = planes.plane(x, number);
            let mut running = [C::Lane::LOWEST; N];
            match plane.last_chunk::<N>() {
                None => raise::<C, N>(&mut running, plane),
                Some(last) => {
                    for chunk in plane.as_chunks::<N>().0 {
                        raise::<C, N>(&mut running, chunk);
                    }
                    raise::<C, N>(&mut running, last);
                }
            }
            maxima[number] = running;
        }
    }
    greatest(maxima)
}

#[inline(always)]
fn raise<C: Code, const N: usize>(running: &mut [C::Lane; N], chunk: &[C::Element]) {
    for (running, &element) in running.iter_mut().zip(chunk) {
        *running = running.step(C::encode(element), 0);
    }
}

/// The first position of the maximum in each plane. It has no meaning where the maximum is the lowest lane.
#[inline(always)]
fn places<C: Code, P: Place, const N: usize>(
    x: &[C::Element],
    planes: PlaneBatch,
    maxima: &[C::Lane; PLANES],
) -> [P; PLANES] {
    let mut places = [[P::LOWEST; N]; PLANES];
    for (number, (places, &best)) in places.iter_mut().zip(maxima).enumerate().take(planes.count) {
        let elements = planes.plane(x, number);
        let mut first = [P::LOWEST; N];
        match elements.last_chunk::<N>() {
            None => find::<C, P, N>(&mut first, best, elements, 0),
            Some(last) => {
                find::<C, P, N>(&mut first, best, last, planes.plane - N);
                for (number, chunk) in elements.as_chunks::<N>().0.iter().enumerate().rev() {
                    find::<C, P, N>(&mut first, best, chunk, number * N);
                }
            }
        }
        *places = first;
    }
    greatest(places)
}

/// Takes the positions of the lanes of a chunk that equal the maximum. Chunks are visited from the last one to the
/// first.
#[inline(always)]
fn find<C: Code, P: Place, const N: usize>(first: &mut [P; N], best: C::Lane, chunk: &[C::Element], from: usize) {
    for (i, (first, &element)) in first.iter_mut().zip(chunk).enumerate() {
        *first = if C::encode(element) == best { P::from_position(from + i) } else { *first };
    }
}

/// The greatest lane of each plane.
#[inline(always)]
fn greatest<L: Pairs, const N: usize>(mut lanes: [[L; N]; PLANES]) -> [L; PLANES] {
    let flat = lanes.as_flattened_mut();
    let mut left = N * PLANES;
    while left > 2 * PLANES {
        left /= 2;
        // The lanes that are overwritten have been read before.
        for block in 0..left / PLANES {
            let mut pairs = [L::LOWEST; 2 * PLANES];
            pairs.copy_from_slice(&flat[block * 2 * PLANES..][..2 * PLANES]);
            flat[block * PLANES..][..PLANES].copy_from_slice(&L::halve(&pairs));
        }
    }
    let mut pairs = [L::LOWEST; 2 * PLANES];
    pairs.copy_from_slice(&flat[..2 * PLANES]);
    L::halve(&pairs)
}
