//! Streaming runs, wherever they compute: what they read and write, how far they have come, and the memory that they
//! hold.

mod ends;
mod pool;
mod progress;
mod unpool;

pub use ends::{AsyncStreamSink, AsyncStreamSource, MaybeSend, Nowhere, StreamSink, StreamSource, without_waiting};
pub use pool::{PoolRun, Sinks};
pub use progress::{StreamOptions, StreamProgress, StreamReport};
pub use unpool::{UnpoolRun, largest_box};
