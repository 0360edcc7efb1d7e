//! Streaming pools and compositions: the tiles, what they read, and where their results go.

use std::borrow::Cow;

use bytemuck::cast_slice;

use super::ends::{Ends, read_box, write_box};
use super::flights::{Flights, Tensors};
use super::progress::{Callback, Running, StreamReport, warn_of_reads};
use crate::backend::Backend;
use crate::error::ExecuteError;
use crate::indices::Indices;
use crate::plan::Plan;
use crate::tensor::index_bytes;
use crate::tile::{SplitWindow, Tile, Tiling};

/// A stream of tiles while it runs.
struct PoolStream<'s, 'p> {
    ends: Ends<'s>,
    running: Running<'s>,
    plan: &'p Plan,
    /// The window whose parts are being put together.
    window: SplitWindow,
}

pub(super) async fn run<'s>(
    plan: &Plan,
    ends: Ends<'s>,
    backend: &dyn Backend,
    (budget_bytes, progress): (u64, Option<Callback<'s>>),
) -> Result<StreamReport, ExecuteError> {
    let tiling = Tiling::new(plan, budget_bytes, |tile| backend.stream_bytes(tile))?;
    warn_of_reads(plan.operator(), budget_bytes, tiling.len(), tiling.reads());
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
        let (run, mut tensors) = flights.prepare(tile.plan(), &mut pool.running).await?;
        let x = tensors.inputs[0].bytes_mut();
        read_box("x", tile.input(), &plan.inputs()[0], pool.ends.sources[0], x).await?;
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
        let indices = tile.plan().index_type().zip(tensors.outputs.get(1));
        let indices = indices.map(|(index_type, indices)| Indices::new(indices.bytes(), index_type));
        // The windows of pools alone are cut.
        let (Some(last), Some(pool), Some(part)) = (tile.last_part(), self.plan.pool(), tile.plan().pool()) else {
            return self.write(tile, y, indices).await;
        };
        if let Some(position) = indices {
            self.window.combine(part, y, position.get(0) as u64);
        }
        if !last {
            return Ok(());
        }
        let (n, c) = (tile.output().batch.start, tile.output().channels.start);
        let out: Vec<usize> = tile.output().spatial.iter().map(|range| range.start).collect();
        let (value, index) = std::mem::take(&mut self.window).finish(pool, n, c, &out);
        self.write(tile, &value, index.as_ref().map(|index| Indices::I64(std::slice::from_ref(index)))).await
    }

    async fn write(&mut self, tile: &Tile, y: &[u8], indices: Option<Indices<'_>>) -> Result<(), ExecuteError> {
        write_box("y", tile.output(), &self.plan.outputs()[0], y, self.ends.sinks[0]).await?;
        self.running.progress.bytes_written += y.len() as u64;
        let (Some(indices), Some(index_type), Some(spec)) =
            (indices, self.plan.index_type(), self.plan.outputs().get(1))
        else {
            return Ok(());
        };
        // Where windows are cut, tiles have the index of one window, in 64 bits.
        let indices = match indices {
            Indices::I64(indices) => index_bytes(indices, index_type)?,
            Indices::I32(indices) => Cow::Borrowed(cast_slice(indices)),
        };
        write_box("indices", tile.output(), spec, &indices, self.ends.sinks[1]).await?;
        self.running.progress.bytes_written += indices.len() as u64;
        Ok(())
    }
}
