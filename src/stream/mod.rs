//! Streaming runs, wherever they compute: what they read and write, how far they have come, and the memory that they hold.

mod ends;
mod pool;
mod progress;
mod unpool;

pub(crate) use ends::Nowhere;
#[cfg(feature = "cpu")]
pub(crate) use ends::without_waiting;
pub use ends::{AsyncStreamSink, AsyncStreamSource, MaybeSend, StreamSink, StreamSource};
pub(crate) use pool::{PoolRun, Sinks};
pub use progress::{StreamOptions, StreamProgress, StreamReport};
pub(crate) use unpool::{UnpoolRun, largest_box};
