//! Streaming pools: the tiles, what they read, and where their results go.

use std::borrow::Cow;
use std::marker::PhantomData;

use super::ends::{AsyncStreamSink, AsyncStreamSource, gather, scatter};
use super::progress::{StreamOptions, StreamState};
use crate::element::{Element, Index};
use crate::error::ExecuteError;
use crate::plan::PoolPlan;
use crate::tile::{Region, SplitWindow, Tile, Tiling};

/// A pool's run.
pub struct PoolRun<'a> {
    /// How far it has come.
    pub run: StreamState<'a>,
    /// The whole pool.
    pub plan: &'a PoolPlan,
    /// Its tiles.
    pub tiling: Tiling,
}

impl<'a> PoolRun<'a> {
    /// A run before its first tile.
    pub fn new(plan: &'a PoolPlan, tiling: Tiling, options: StreamOptions<'a>) -> PoolRun<'a> {
        PoolRun { run: StreamState::new(tiling.len(), options), plan, tiling }
    }

    /// Reads the box of X that a tile needs; returns the bytes read.
    pub async fn read<T: Element>(
        &mut self,
        tile: &Tile,
        source: &mut impl AsyncStreamSource<T>,
        x: &mut [T],
    ) -> Result<u64, ExecuteError> {
        gather(tile.input(), (self.plan.input_shape(), self.plan.layout()), source, x).await?;
        let bytes = size_of_val(x) as u64;
        self.run.progress.bytes_read += bytes;
        Ok(bytes)
    }
}

/// The sinks of a pool, and the window whose parts are being put together.
pub struct Sinks<'a, T, I, Y, P> {
    plan: &'a PoolPlan,
    y: &'a mut Y,
    indices: &'a mut P,
    window: SplitWindow<T>,
    index: PhantomData<I>,
}

impl<'a, T: Element, I: Index, Y: AsyncStreamSink<T>, P: AsyncStreamSink<I>> Sinks<'a, T, I, Y, P> {
    /// Sinks into which nothing was written yet.
    pub fn new(plan: &'a PoolPlan, y: &'a mut Y, indices: &'a mut P) -> Self {
        Sinks { plan, y, indices, window: SplitWindow::new(), index: PhantomData }
    }

    /// Takes the results of a tile, which has whole windows or a part of one; returns the bytes written, which are none
    /// before a window's last part.
    pub async fn take<J: Index>(&mut self, tile: &Tile, y: &[T], indices: Option<&[J]>) -> Result<u64, ExecuteError> {
        let Some(part) = tile.part() else {
            return self.write(tile.output(), y, indices).await;
        };
        if let ([value], Some([position])) = (y, indices) {
            self.window.combine(tile.plan(), *value, position.to_i64() as u64);
        }
        if !part.last {
            return Ok(0);
        }
        let (n, c) = (tile.output().batch.start, tile.output().channels.start);
        let window = std::mem::replace(&mut self.window, SplitWindow::new());
        let (value, index) = window.finish(self.plan, n, c);
        self.write(tile.output(), &[value], index.as_ref().map(std::slice::from_ref)).await
    }

    async fn write<J: Index>(&mut self, region: &Region, y: &[T], indices: Option<&[J]>) -> Result<u64, ExecuteError> {
        let mut bytes = scatter("sink", region, (self.plan.output_shape(), self.plan.layout()), y, self.y).await?;
        if let (Some(indices), Some(of)) = (indices, self.plan.outputs.get(1)) {
            let indices = converted::<I, J>(indices);
            bytes += scatter("indices", region, (&of.shape, of.layout), &indices, self.indices).await?;
        }
        Ok(bytes)
    }
}

/// Indices in their sink's type. Only those of single windows may have another one.
fn converted<I: Index, J: Index>(indices: &[J]) -> Cow<'_, [I]> {
    if I::INDEX_TYPE == J::INDEX_TYPE {
        Cow::Borrowed(bytemuck::cast_slice(indices))
    } else {
        Cow::Owned(indices.iter().map(|index| I::from_i64(index.to_i64())).collect())
    }
}
