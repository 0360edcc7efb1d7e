//! Max pools of blobs, such as files, which need not fit in memory.

use std::io;

use js_sys::{Error, Function, Promise, Uint8Array};
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::JsFuture;
use wgpu_pooling::{AsyncSink, AsyncSource, BoxFuture, DType, ExecuteError, MaxPool, Stream};

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

impl AsyncSource for Blob {
    fn read_async<'a>(&'a mut self, offset: u64, bytes: &'a mut [u8]) -> BoxFuture<'a, (), io::Error> {
        Box::pin(async move {
            let (begin, end) = (offset as f64, (offset + bytes.len() as u64) as f64);
            let promise = self.slice(begin, end).and_then(|slice| slice.array_buffer()).map_err(said)?;
            let read = Uint8Array::new(&JsFuture::from(promise).await.map_err(said)?);
            if read.length() as usize != bytes.len() {
                return Err(io::Error::other(format!("the blob has {} of these bytes", read.length())));
            }
            read.copy_to(bytes);
            Ok(())
        })
    }
}

/// A function of the page that takes bytes and their position. If it returns a promise, that is awaited.
struct Taker(Function);

impl AsyncSink for Taker {
    fn write_async<'a>(&'a mut self, offset: u64, bytes: &'a [u8]) -> BoxFuture<'a, (), io::Error> {
        Box::pin(async move {
            let bytes = Uint8Array::from(bytes);
            let returned = self.0.call2(&JsValue::NULL, &(offset as f64).into(), &bytes).map_err(said)?;
            JsFuture::from(Promise::resolve(&returned)).await.map(|_| ()).map_err(said)
        })
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
    /// Max pools a tensor of bytes that lies in a blob, in at most so many bytes of memory beside the piece
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
        let pool = MaxPool::new(whole("the window", &kernel)?).strides(whole("the stride", &strides)?);
        let extents = whole("the shape", &shape)?.into_iter().map(usize::try_from).collect::<Result<Vec<_>, _>>();
        let plan = pool.plan(&extents.map_err(JsError::from)?, DType::U8, None).map_err(JsError::from)?;
        let budget = whole("the budget", &[budget_bytes])?.into_iter().map(u64::try_from).next();
        let budget = budget.transpose().map_err(JsError::from)?.unwrap_or(0);
        let mut taker = Taker(take);
        let stream = Stream::new(plan, budget).source(&mut blob).sink(&mut taker);
        let report = stream.run(&self.device).await.map_err(named)?;
        Ok(report.tiles as f64)
    }
}
