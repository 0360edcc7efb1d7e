//! Max pools of blobs, such as files, which need not fit in memory.

use std::io;

use js_sys::{Error, Function, Promise, Uint8Array};
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::JsFuture;
use wgpu_pooling::{AsyncStreamSink, AsyncStreamSource, DType, ExecuteError, MaxPool, StreamOptions};

use crate::backend::Backend;
use crate::plans::whole;

#[wasm_bindgen]
extern "C" {
    /// A blob of the browser. Files are blobs.
    pub type Blob;

    #[wasm_bindgen(method, catch)]
    fn slice(this: &Blob, begin: f64, end: f64) -> Result<Blob, JsValue>;

    #[wasm_bindgen(method, catch, js_name = arrayBuffer)]
    fn array_buffer(this: &Blob) -> Result<Promise, JsValue>;
}

impl AsyncStreamSource<u8> for Blob {
    async fn read_async(&mut self, first: u64, elements: &mut [u8]) -> io::Result<()> {
        let (begin, end) = (first as f64, (first + elements.len() as u64) as f64);
        let promise = self.slice(begin, end).and_then(|slice| slice.array_buffer()).map_err(said)?;
        let bytes = Uint8Array::new(&JsFuture::from(promise).await.map_err(said)?);
        if bytes.length() as usize != elements.len() {
            return Err(io::Error::other(format!("the blob has {} of these bytes", bytes.length())));
        }
        bytes.copy_to(elements);
        Ok(())
    }
}

/// A function of the page that takes bytes and their position. If it returns a promise, that is awaited.
struct Taker(Function);

impl AsyncStreamSink<u8> for Taker {
    async fn write_async(&mut self, first: u64, elements: &[u8]) -> io::Result<()> {
        let bytes = Uint8Array::from(elements);
        let returned = self.0.call2(&JsValue::NULL, &(first as f64).into(), &bytes).map_err(said)?;
        JsFuture::from(Promise::resolve(&returned)).await.map(|_| ()).map_err(said)
    }
}

/// What JavaScript threw.
fn said(thrown: JsValue) -> io::Error {
    let words = thrown.dyn_ref::<Error>().map(|error| String::from(error.message()));
    io::Error::other(words.unwrap_or_else(|| format!("{thrown:?}")))
}

/// An error as JavaScript has them. Its name is `SourceError` or `SinkError` where the blob or the function failed.
fn named(error: ExecuteError) -> Error {
    let thrown = Error::new(&error.to_string());
    match error {
        ExecuteError::Source { .. } => thrown.set_name("SourceError"),
        ExecuteError::Sink { .. } => thrown.set_name("SinkError"),
        _ => {}
    }
    thrown
}

#[wasm_bindgen]
impl Backend {
    /// Max pools a tensor of bytes that lies in a blob, on WebGPU in at most so many bytes of memory beside the piece
    /// that is read or written, and hands the result to `take(first, bytes)` in pieces. `shape` is batch, channels and
    /// the spatial extents. Returns the number of tiles that were computed.
    #[wasm_bindgen(js_name = streamMaxPool)]
    pub async fn stream_max_pool(
        &self,
        mut blob: Blob,
        shape: Vec<f64>,
        kernel: Vec<f64>,
        strides: Vec<f64>,
        budget_bytes: f64,
        take: Function,
    ) -> Result<f64, JsValue> {
        let Some(gpu) = &self.gpu else {
            return Err(JsError::new("blobs are pooled by WebGPU alone").into());
        };
        let pool = MaxPool::new(whole("the window", &kernel)?).strides(whole("the stride", &strides)?);
        let extents = whole("the shape", &shape)?.into_iter().map(usize::try_from).collect::<Result<Vec<_>, _>>();
        let plan = pool.plan(&extents.map_err(JsError::from)?, DType::U8, None).map_err(JsError::from)?;
        let budget = whole("the budget", &[budget_bytes])?.into_iter().map(u64::try_from).next();
        let options = StreamOptions::new(budget.transpose().map_err(JsError::from)?.unwrap_or(0));
        let report = gpu.stream_max_pool(&plan, &mut blob, &mut Taker(take), options).await.map_err(named)?;
        Ok(report.tiles as f64)
    }
}
