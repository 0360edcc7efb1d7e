//! Streams: plans over tensors that need not be in memory, tile by tile, on any backend.

mod ends;
mod flights;
mod pool;
mod progress;
mod run;
mod unpool;

pub use ends::{AsyncSink, AsyncSource, MaybeSend, Sink, Source};
pub use flights::IN_FLIGHT;
pub use progress::{StreamProgress, StreamReport};
pub use run::Stream;
