//! Streaming pools: the tiles, what they read, and where their results go.

use std::marker::PhantomData;

use super::ends::{StreamSink, StreamSource, gather, scatter};
use super::progress::{Run, StreamOptions};
use crate::element::{Element, Index};
use crate::error::ExecuteError;
use crate::plan::PoolPlan;
use crate::tile::{Region, SplitWindow, Tile, Tiling};

/// A pool's run.
pub(crate) struct PoolRun<'a> {
    pub run: Run<'a>,
    pub plan: &'a PoolPlan,
    pub tiling: Tiling,
}

impl<'a> PoolRun<'a> {
    /// A run before its first tile.
    pub fn new(plan: &'a PoolPlan, tiling: Tiling, options: StreamOptions<'a>) -> PoolRun<'a> {
        PoolRun { run: Run::new(tiling.len(), options), plan, tiling }
    }

    /// Reads the box of X that a tile needs; returns the bytes read.
    pub fn read<T: Element>(
        &mut self,
        tile: &Tile,
        source: &mut impl StreamSource<T>,
        x: &mut [T],
    ) -> Result<u64, ExecuteError> {
        gather(tile.input(), (self.plan.input_shape(), self.plan.layout()), source, x)?;
        let bytes = size_of_val(x) as u64;
        self.run.progress.bytes_read += bytes;
        Ok(bytes)
    }
}

/// The sinks of a pool, and the window whose parts are being put together.
pub(crate) struct Sinks<'a, T, I, Y, P> {
    plan: &'a PoolPlan,
    y: &'a mut Y,
    indices: &'a mut P,
    window: SplitWindow<T>,
    index: PhantomData<I>,
}

impl<'a, T: Element, I: Index, Y: StreamSink<T>, P: StreamSink<I>> Sinks<'a, T, I, Y, P> {
    pub fn new(plan: &'a PoolPlan, y: &'a mut Y, indices: &'a mut P) -> Self {
        Sinks { plan, y, indices, window: SplitWindow::new(), index: PhantomData }
    }

    /// Writes the results of a tile of whole windows; returns the bytes written.
    pub fn whole(&mut self, region: &Region, y: &[T], indices: Option<&[I]>) -> Result<u64, ExecuteError> {
        let mut bytes = scatter("sink", region, (self.plan.output_shape(), self.plan.layout()), y, self.y)?;
        if let (Some(indices), Some(of)) = (indices, self.plan.outputs.get(1)) {
            bytes += scatter("indices", region, (&of.shape, of.layout), indices, self.indices)?;
        }
        Ok(bytes)
    }

    /// Takes the results of a tile that is one window or a part of one; returns the bytes written, which are none before the
    /// window's last part.
    pub fn part(&mut self, tile: &Tile, y: &[T], positions: Option<&[i64]>) -> Result<u64, ExecuteError> {
        let Some(part) = tile.part() else {
            let indices = positions.map(|indices| indices.iter().map(|&index| I::from_i64(index)).collect::<Vec<_>>());
            return self.whole(tile.output(), y, indices.as_deref());
        };
        if let ([value], Some([position])) = (y, positions) {
            self.window.combine(tile.plan(), *value, *position as u64);
        }
        if !part.last {
            return Ok(0);
        }
        let (n, c) = (tile.output().batch.start, tile.output().channels.start);
        let window = std::mem::replace(&mut self.window, SplitWindow::new());
        let (value, index) = window.finish(self.plan, n, c);
        let index = index.map(I::from_i64);
        self.whole(tile.output(), &[value], index.as_ref().map(std::slice::from_ref))
    }
}
