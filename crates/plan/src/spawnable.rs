//! Outside the web every call's future can be spawned on any runtime, whatever the backend. Nothing here runs; it
//! compiles only if this is so.

use std::sync::Arc;

use crate::backend::{Backend, PreparedPlan};
use crate::error::ExecuteError;
use crate::ops::{MaxPool, MaxUnpool};
use crate::plan::Plan;
use crate::stream::{AsyncSource, Stream};
use crate::tensor::Tensor;
use crate::untyped::{TensorMut, TensorRef};

const fn spawnable<T: Send + 'static>(_: &T) {}

/// A task that owns what its request borrows.
#[allow(dead_code, reason = "it only has to compile")]
fn requests(backend: Arc<dyn Backend>, (pool, unpool): (MaxPool, MaxUnpool), x: Arc<Tensor<f32>>) {
    spawnable(&async move {
        let (mut y, indices) = pool.on(&*x).with_indices::<i64>().run(&backend).await?;
        pool.on(&*x).peaks().min_distance(2).run(&backend).await?;
        let back = unpool.on(&y, &indices).run(&backend).await?;
        pool.on(&back).to(y.data_mut()).run(&backend).await
    });
}

#[allow(dead_code, reason = "it only has to compile")]
fn generic<B: Backend + 'static>(backend: Arc<B>, plan: Plan, x: Tensor<f32>, mut y: Tensor<f32>) {
    spawnable(&async move {
        backend.run(&plan, &[(&x).into()], &mut [(&mut y).into()]).await?;
        let prepared = backend.prepare(plan).await?;
        let y: Tensor<f32> = prepared.call(&[(&x).into()]).await?;
        Ok::<_, ExecuteError>(y)
    });
}

#[allow(dead_code, reason = "it only has to compile")]
fn streams(backend: Arc<dyn Backend>, plan: Plan, mut ends: (Box<dyn AsyncSource>, Vec<f32>)) {
    spawnable(&async move { Stream::new(plan, 1 << 20).source(&mut *ends.0).sink(&mut ends.1).run(&backend).await });
}

#[allow(dead_code, reason = "it only has to compile")]
fn prepared(prepared: Arc<dyn PreparedPlan>, x: Vec<u8>, mut y: Vec<u8>) {
    spawnable(&async move {
        let (read, written) = (prepared.plan().inputs()[0].clone(), prepared.plan().outputs()[0].clone());
        let x = TensorRef::new(read.dtype, &read.shape, &x)?;
        let y = TensorMut::new(written.dtype, &written.shape, &mut y)?;
        prepared.run(&[x], &mut [y]).await
    });
}
