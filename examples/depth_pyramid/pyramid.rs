//! The pyramid: its levels as ranges of one buffer, the pools between them, and what they have to compute.

use std::iter;
use std::ops::Range;

use wgpu_pooling::{
    AdaptiveMaxPool, Bound, Buffers, Choice, DType, ExecuteError, Gpu, MaxPool, Minimum, Pooling, select, wgpu,
};

/// The levels of a depth texture, and where they lie in a buffer.
pub struct Levels {
    /// Width and height of each level, as mip levels have them. Level 0 is the texture.
    pub sizes: Vec<[u32; 2]>,
    /// The bytes of each level of maxima, and of each level of minima. Level 0 is the same in both.
    pub ranges: [Vec<Range<u64>>; 2],
    /// The bytes of the buffer.
    pub bytes: u64,
}

impl Levels {
    /// A binding begins at a multiple of `alignment`, the device's `min_storage_buffer_offset_alignment`.
    pub fn new(size: [u32; 2], alignment: u64) -> Levels {
        let last = size[0].max(size[1]).ilog2();
        let sizes: Vec<_> = (0..=last).map(|level| size.map(|side| (side >> level).max(1))).collect();
        let mut bytes: u64 = 0;
        let mut place = |&[width, height]: &[u32; 2]| {
            let start = bytes.next_multiple_of(alignment);
            bytes = start + u64::from(width) * u64::from(height) * 4;
            start..bytes
        };
        let level_0 = place(&sizes[0]);
        let ranges = [(); 2].map(|()| iter::once(level_0.clone()).chain(sizes[1..].iter().map(&mut place)).collect());
        Levels { sizes, ranges, bytes }
    }

    /// The texels of each level of maxima, and of each level of minima, from the words of the buffer.
    pub fn texels(&self, words: &[f32]) -> Texels {
        let at = |range: &Range<u64>| words[(range.start / 4) as usize..(range.end / 4) as usize].to_vec();
        self.ranges.each_ref().map(|ranges| ranges.iter().map(at).collect())
    }
}

/// Maxima and minima, level by level.
pub type Texels = [Vec<Vec<f32>>; 2];

/// The ways to compute the levels.
#[derive(Debug, Clone, Copy)]
pub enum Way {
    /// Adaptive pools, whose windows are the footprints of texels.
    Exact,
    /// Pools of 2 x 2 with stride 2, which leave out the last row and column where a side is odd.
    Chain,
}

impl Way {
    /// The level from which a level is pooled.
    ///
    /// If the sides of a finer level are multiples of this level's, then the footprint of a texel consists of the
    /// footprints of whole texels there, and pooling them is exact. Otherwise texels there reach beyond the footprint:
    /// their bound would be safe, but not the tightest. Such levels are pooled from level 0.
    pub fn source(self, sizes: &[[u32; 2]], level: usize) -> usize {
        let divides = |finer: &usize| iter::zip(sizes[*finer], sizes[level]).all(|(there, here)| there % here == 0);
        match self {
            Way::Exact => (1..level).rfind(divides).unwrap_or(0),
            Way::Chain => level - 1,
        }
    }

    /// The pools for maxima and for minima, from a level of one size to a level of the other.
    fn pools(self, from: [u32; 2], to: [u32; 2]) -> [Box<dyn Pooling>; 2] {
        // Tensors name height before width.
        let [width, height] = to.map(i64::from);
        let adaptive = AdaptiveMaxPool::new([height, width]);
        let [width, height] = from.map(|side| i64::from(side.min(2)));
        let halving = MaxPool::new([height, width]).strides([height, width]);
        match self {
            Way::Exact => [Box::new(adaptive.clone()), Box::new(Minimum::of(adaptive))],
            Way::Chain => [Box::new(halving.clone()), Box::new(Minimum::of(halving))],
        }
    }

    /// The pools of all levels, compiled and bound to ranges of one buffer. A program does this once and records them
    /// in every frame.
    pub fn bind(self, gpu: &Gpu, levels: &Levels, buffer: &wgpu::Buffer) -> Result<Vec<Bound>, ExecuteError> {
        let mut bound = Vec::new();
        for level in 1..levels.sizes.len() {
            let from = self.source(&levels.sizes, level);
            let [width, height] = levels.sizes[from].map(|side| side as usize);
            for (pool, ranges) in self.pools(levels.sizes[from], levels.sizes[level]).iter().zip(&levels.ranges) {
                let plan = pool.plan(&[1, 1, height, width], DType::F32, None)?;
                // WebGPU has no dispatch that binds a buffer both as read-only and as writable storage, whatever the
                // ranges. So the input is bound as writable too.
                let schedule = select(&plan, &gpu.limits(), &Choice::default())?.with_writable_inputs();
                let [x, y] = [from, level].map(|level| Some(buffer.slice(ranges[level].clone())));
                bound.push(gpu.prepare_blocking(schedule)?.bind(Buffers { x, y, ..Buffers::default() })?);
            }
        }
        Ok(bound)
    }
}

/// What a texel of a level covers along an axis of level 0: every texel that it touches, in the coordinates from 0 to 1
/// that all levels of a texture share.
fn footprint(at: usize, level: usize, level_0: usize) -> Range<usize> {
    at * level_0 / level..((at + 1) * level_0).div_ceil(level)
}

/// A level by its definition: of the depths in each texel's footprint the one that `pick` chooses.
pub fn definition(depth: &[f32], levels: &Levels, level: usize, pick: fn(f32, f32) -> f32) -> Vec<f32> {
    let [[full_width, full_height], [width, height]] =
        [0, level].map(|level| levels.sizes[level].map(|side| side as usize));
    let texel = |at: usize| {
        let columns = footprint(at % width, width, full_width);
        let rows = footprint(at / width, height, full_height).map(|row| &depth[row * full_width..][columns.clone()]);
        rows.flatten().copied().reduce(pick).unwrap_or(f32::NAN)
    };
    (0..width * height).map(texel).collect()
}
