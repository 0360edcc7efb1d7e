//! The layout of a sliding maximum's elements in registers and in scratch memory.

use wgpu_pooling_plan::{NanPolicy, PlanError, PoolPlan};

use super::bounds::MAX_ITERATIONS;
use super::epilogue::lanes;
use super::slide::{Pitch, Slide, slides};
use super::target::Target;
use super::tuning::sliding::{GOOD_RUN, MOST_WORDS, MOST_WORDS_WITH_PLACES};

/// The most windows of an invocation. Kernels have 16, 8, 4, 2 or 1 (`RUN` in shaders/kernel/pool_sliding.wgsl).
const MOST_RUN: u64 = 16;

// The number of a tap shares a word with a key of 16 bits, of which one tells that there is none.
const _: () = assert!(MAX_ITERATIONS < 1 << 15);

/// The layout of elements in registers and in scratch memory.
pub(super) struct SlideLayout {
    /// Words of an accumulator.
    words: u64,
    /// The most words of the accumulators of an invocation.
    most_words: u64,
    /// The most windows of an invocation, and the most chunks of a window, where they do not follow from registers.
    most: [Option<u64>; 2],
    /// The fewest lanes of a pass, and the most.
    lanes: [u64; 2],
    /// Bytes of an element in scratch memory.
    pub bytes: usize,
    /// The row pitch of scratch memory.
    pub pitch: Pitch,
}

impl SlideLayout {
    pub fn of(plan: &PoolPlan, limits: &Target) -> Result<SlideLayout, PlanError> {
        let dtype = plan.dtype();
        let carried = dtype.is_float() && (dtype.bytes() > 4 || plan.nan_policy == NanPolicy::PropagateLast);
        let of_key = dtype.bytes().div_ceil(4) as u64;
        let words =
            if carried { of_key.saturating_mul(2) } else { of_key }.saturating_add(plan.indices.is_some().into());
        let few = plan.indices.is_some() && dtype.bytes() == 4 && !limits.software;
        let of_a_word = lanes(dtype);
        // Where the lines of all passes are whole words, elements stay packed.
        let slides = slides(plan, u64::MAX)?;
        let even = slides.iter().all(|slide| slide.inner.is_multiple_of(of_a_word));
        let packed = of_a_word > 1 && even && slides.len() > 1;
        let most = if dtype.bytes() > 4 { 2 } else { 4 };
        Ok(SlideLayout {
            words,
            most: [limits.sizes.run, limits.sizes.chunks],
            most_words: if few { MOST_WORDS_WITH_PLACES } else { MOST_WORDS },
            lanes: [if packed { of_a_word } else { 1 }, most],
            pitch: Pitch::of(&slides, if packed { 1 } else { most }),
            bytes: if packed { dtype.bytes() } else { dtype.bytes().max(4) },
        })
    }

    /// The most chunks of a window that is pooled in one pass; for longer windows two passes load less. An invocation
    /// loads the chunks of its first window, and one more chunk for each further window.
    pub fn most_chunks(&self) -> u64 {
        if let [_, Some(chunks)] = self.most {
            return chunks.max(2);
        }
        let run = self.most_words.checked_div(self.words.saturating_mul(self.lanes[1])).unwrap_or(1);
        run.clamp(GOOD_RUN.min(MOST_RUN), MOST_RUN).saturating_mul(4)
    }

    /// Whether results take a word each in scratch memory before they are packed into Y.
    pub fn is_apart(&self, plan: &PoolPlan) -> bool {
        plan.dtype().bytes() < self.bytes
    }

    /// Windows per invocation: at most as many as a window has chunks.
    pub fn run(&self, slide: &Slide, lanes: u64) -> u64 {
        let words = lanes.saturating_mul(self.words);
        let most = self.most[0].unwrap_or(MOST_RUN).min(slide.chunks);
        let fits = |run: &u64| *run <= most && run.saturating_mul(words) <= self.most_words;
        [MOST_RUN, 8, 4, 2].into_iter().find(fits).unwrap_or(1)
    }

    /// The most lanes of a pass that registers have room for.
    pub fn lanes(&self, slide: &Slide) -> u64 {
        let [least, most] = self.lanes;
        let good = self.run(slide, least).min(GOOD_RUN);
        let fits = |&lanes: &u64| lanes <= most && slide.inner.is_multiple_of(lanes) && self.run(slide, lanes) >= good;
        [4, 2].into_iter().find(fits).unwrap_or(1).max(least)
    }
}
