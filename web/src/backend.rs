//! What computes: WebGPU or the CPU.

use std::sync::Arc;

use js_sys::Function;
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::spawn_local;
use wgpu_pooling::{Backend as _, Choice, Cpu, Device, Gpu, PreparedPlan, Tensor, select};

use crate::picture::Picture;
use crate::plans::Plans;
use crate::results::Results;
use crate::{milliseconds, thrown};

/// WebGPU or the CPU.
#[wasm_bindgen]
pub struct Backend {
    pub(crate) device: Device,
}

#[wasm_bindgen]
impl Backend {
    /// The CPU. Its calls block the page until they are done.
    pub fn cpu() -> Backend {
        Backend { device: Cpu::new().into() }
    }

    /// Opens WebGPU. `lost` is called with the reason when the device is lost.
    #[wasm_bindgen(js_name = openWebGpu)]
    pub async fn open_web_gpu(lost: Function) -> Result<Backend, JsError> {
        let gpu = Gpu::new().await.map_err(thrown)?;
        let loss = gpu.until_lost();
        spawn_local(async move {
            // What the page's function throws is the page's affair.
            let _ = lost.call1(&JsValue::NULL, &loss.await.into());
        });
        Ok(Backend { device: gpu.into() })
    }

    /// The backend in words.
    #[wasm_bindgen(getter)]
    pub fn name(&self) -> String {
        self.device.name()
    }

    /// Destroys the device of WebGPU, which is then lost as if its driver had given it up. On the CPU nothing happens.
    pub fn destroy(&self) {
        if let Device::Gpu(gpu) = &self.device {
            gpu.device().destroy();
        }
    }

    /// Makes plans ready. On WebGPU their kernels are compiled: `progress` is called with the number of those that are
    /// ready and the number of all.
    pub async fn prepare(&self, plans: &Plans, progress: Function) -> Result<Prepared, JsError> {
        let (pool, unpool) = (plans.pool.clone(), plans.unpool.clone());
        if let Device::Gpu(gpu) = &self.device {
            let choice = Choice::default();
            let schedules = [
                select(&pool, &gpu.limits(), &choice).map_err(thrown)?,
                select(&unpool, &gpu.limits(), &choice).map_err(thrown)?,
            ];
            let tell = |ready: usize, kernels: usize| {
                // What the page's function throws is the page's affair.
                let _ = progress.call2(&JsValue::NULL, &(ready as u32).into(), &(kernels as u32).into());
            };
            gpu.warm_up(&schedules, tell).await.map_err(thrown)?;
        }
        Ok(Prepared {
            pool: self.device.prepare(pool).await.map_err(thrown)?,
            unpool: self.device.prepare(unpool).await.map_err(thrown)?,
        })
    }
}

/// A pool and its unpool, ready to run any number of times.
#[wasm_bindgen]
pub struct Prepared {
    pool: Arc<dyn PreparedPlan>,
    unpool: Arc<dyn PreparedPlan>,
}

#[wasm_bindgen]
impl Prepared {
    /// The names of the kernels that compute.
    #[wasm_bindgen(getter)]
    pub fn kernels(&self) -> Vec<String> {
        vec![self.pool.kernel(), self.unpool.kernel()]
    }

    /// Pools a picture and unpools the result.
    pub async fn run(&self, picture: &Picture) -> Result<Results, JsError> {
        let begin = milliseconds();
        let inputs = &[(&picture.planes).into()];
        let (pooled, indices): (Tensor<f32>, Tensor<i32>) = self.pool.call(inputs).await.map_err(thrown)?;
        let between = milliseconds();
        let inputs = &[(&pooled).into(), (&indices).into()];
        let unpooled: Tensor<f32> = self.unpool.call(inputs).await.map_err(thrown)?;
        let end = milliseconds();
        let Some(space) = self.unpool.plan().index_space().cloned() else {
            return Err(JsError::new("an unpool was prepared from another plan"));
        };
        Ok(Results { pooled, indices, unpooled, space, pool_ms: between - begin, unpool_ms: end - between })
    }
}
