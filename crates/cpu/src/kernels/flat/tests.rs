use wgpu_pooling_plan::{DType, Layout, MaxPool};

use super::FlatSizes;
use super::band::Band;
use crate::kernels::kernel::OfferedPool;
use crate::kernels::lane::{OfF16, WideF16};
use crate::kernels::scratch::ThreadMemory;
use crate::kernels::tuning::flat::MOST_BYTES;
use crate::kernels::view::View;

#[test]
fn the_memory_of_a_band_is_bounded() {
    let mut found = 0;
    for kernel in
        [[1, 2, 2], [1, 3, 3], [3, 3, 3], [1, 8, 8], [2, 8, 8], [5, 5, 5], [1, 13, 13], [1, 31, 99], [2, 125, 9]]
    {
        for (dilation, channels, extents) in [
            (1, 1, [4, 300, 300]),
            (1, 1, [4, 60, 1 << 20]),
            (2, 3, [4, 60, 9000]),
            (1, 64, [4, 56, 56]),
            (4, 4096, [4, 56, 56]),
            (1, 1 << 20, [4, 60, 60]),
            (1, 1 << 40, [4, 60, 60]),
        ] {
            let pool = MaxPool::new(kernel).dilations([1, dilation, dilation]).layout(Layout::Nhwc);
            let Ok(plan) = pool.plan(&[1, extents[0], extents[1], extents[2], channels], DType::F16, None) else {
                continue;
            };
            let plan = plan.pool().unwrap();
            let view = View::new(plan).unwrap();
            let pool = OfferedPool::new(plan, &view, &[]);
            let Ok(flat) = FlatSizes::new(&pool).map(|sizes| sizes.layout(view.inner)) else { continue };
            let rows = 0..flat.rows.min(flat.axes[flat.down].output);
            let band = Band::new(&flat.lanes, flat.inner, &flat.strips[0], rows);
            let mut scratch = ThreadMemory::default();
            let memory = flat.memory::<OfF16, WideF16>(&band, &mut scratch).unwrap();
            let own = [memory.loaded.len(), memory.reduced.len(), memory.best.len(), memory.dense.len()];
            let others = memory.planes.iter().chain(&memory.steps).map(|own| own.len());
            let words = own.into_iter().chain(others).sum::<usize>();
            assert!(
                words * 8 <= 5 * MOST_BYTES / 2,
                "{} bytes: {kernel:?} {dilation} {channels} {extents:?}",
                words * 8
            );
            found += 1;
        }
    }
    assert!(found > 20, "{found}");
}
