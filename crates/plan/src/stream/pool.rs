//! Streaming pools: the tiles, what they read, and where their results go.

use super::ends::{Ends, gather, scatter};
use super::flights::{Flights, Tensors};
use super::progress::{Callback, Running, StreamReport};
use crate::backend::Backend;
use crate::element::DType;
use crate::error::{ExecuteError, within};
use crate::plan::{Plan, PoolPlan};
use crate::tile::{SplitWindow, Tile, Tiling};

/// A pool's stream while it runs.
struct PoolStream<'s, 'p> {
    ends: Ends<'s>,
    running: Running<'s>,
    plan: &'p PoolPlan,
    /// The window whose parts are being put together.
    window: SplitWindow,
}

pub(super) async fn run<'s>(
    plan: &PoolPlan,
    ends: Ends<'s>,
    backend: &dyn Backend,
    (budget_bytes, progress): (u64, Option<Callback<'s>>),
) -> Result<StreamReport, ExecuteError> {
    let tiling = Tiling::new(plan, |largest| {
        let needed = backend.stream_bytes(&Plan::Pool(largest.clone()))?;
        within("bytes of tiles (budget_bytes)", needed, budget_bytes).map(|()| needed)
    })?;
    let running = Running::new(tiling.len(), progress);
    let mut pool = PoolStream { ends, running, plan, window: SplitWindow::default() };
    let mut flights = Flights::new(backend);
    pool.running.tell()?;
    for number in 0..tiling.len() {
        let Some(tile) = tiling.tile(number) else {
            pool.running.progress.done += 1;
            continue;
        };
        backend.check_alive()?;
        let (run, mut tensors) = flights.prepare(&tile.plan().clone().into(), &mut pool.running).await?;
        let x = tensors.inputs[0].bytes_mut();
        gather("x", tile.input(), &plan.inputs[0], pool.ends.sources[0], x).await?;
        pool.running.progress.bytes_read += x.len() as u64;
        flights.launch(tile, run, tensors, &mut pool.running).await;
        pool.land(&mut flights, false).await?;
    }
    pool.land(&mut flights, true).await?;
    pool.running.finish()?;
    Ok(pool.running.report)
}

impl PoolStream<'_, '_> {
    /// Writes the tiles that are computed, or all of them.
    async fn land(&mut self, flights: &mut Flights<'_, Tile>, all: bool) -> Result<(), ExecuteError> {
        while let Some((tile, tensors)) = flights.landed(all, &mut self.running).await? {
            self.take(&tile, &tensors).await?;
            flights.reuse(tensors);
            self.running.tile_done()?;
        }
        Ok(())
    }

    /// Takes the results of a tile: of whole windows, or of a part of one, which is written with its last part.
    async fn take(&mut self, tile: &Tile, tensors: &Tensors) -> Result<(), ExecuteError> {
        let y = tensors.outputs[0].bytes();
        let indices = tensors.outputs.get(1).map(|indices| (indices.bytes(), tile.plan().outputs[1].dtype));
        let Some(part) = tile.part() else {
            return self.write(tile, y, indices).await;
        };
        if let Some((position, _)) = indices {
            self.window.combine(tile.plan(), y, integers(position, DType::I64).next().unwrap_or(0) as u64);
        }
        if !part.last {
            return Ok(());
        }
        let (n, c) = (tile.output().batch.start, tile.output().channels.start);
        let (value, index) = std::mem::take(&mut self.window).finish(self.plan, n, c);
        let index = index.map(i64::to_ne_bytes);
        self.write(tile, &value, index.as_ref().map(|index| (&index[..], DType::I64))).await
    }

    async fn write(&mut self, tile: &Tile, y: &[u8], indices: Option<(&[u8], DType)>) -> Result<(), ExecuteError> {
        scatter("y", tile.output(), &self.plan.outputs[0], y, self.ends.sinks[0]).await?;
        self.running.progress.bytes_written += y.len() as u64;
        let (Some((indices, dtype)), Some(spec)) = (indices, self.plan.outputs.get(1)) else { return Ok(()) };
        // Where windows are cut, tiles have the index of one window, in 64 bits.
        let narrowed: Vec<u8>;
        let indices = if dtype == spec.dtype {
            indices
        } else {
            narrowed = integers(indices, dtype).flat_map(|index| (index as i32).to_ne_bytes()).collect();
            &narrowed
        };
        scatter("indices", tile.output(), spec, indices, self.ends.sinks[1]).await?;
        self.running.progress.bytes_written += indices.len() as u64;
        Ok(())
    }
}

/// The integers in the bytes of a tensor of indices.
fn integers(bytes: &[u8], dtype: DType) -> impl Iterator<Item = i64> {
    bytes.chunks_exact(dtype.bytes()).map(move |bytes| match bytes {
        &[a, b, c, d] => i64::from(i32::from_ne_bytes([a, b, c, d])),
        bytes => bytes.try_into().map_or(0, i64::from_ne_bytes),
    })
}
