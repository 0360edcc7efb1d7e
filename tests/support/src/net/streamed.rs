//! A call as a stream, in little memory.

use std::io;
use std::ops::ControlFlow;

use wgpu_pooling::{Backend, ExecuteError, Plan, PlanError, Sink, Source, Stream, StreamProgress, StreamReport};

use super::Path;
use crate::call::{Call, Outcome};

/// Bytes of elements.
struct Bytes<B>(B);

impl Source for Bytes<&[u8]> {
    fn read(&mut self, offset: u64, bytes: &mut [u8]) -> io::Result<()> {
        bytes.copy_from_slice(&self.0[offset as usize..][..bytes.len()]);
        Ok(())
    }
}

impl Sink for Bytes<&mut [u8]> {
    fn write(&mut self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        self.0[offset as usize..][..bytes.len()].copy_from_slice(bytes);
        Ok(())
    }
}

/// The path through a stream, in a third of the memory that its tensors take, or somewhat more than it cannot do
/// without. There is none for what cannot be streamed.
pub fn path<'a>(call: &Call, name: &str, backend: &(impl Backend + Clone + 'a)) -> Option<Path<'a>> {
    let (plan, None) = (&call.plan, &call.shapes) else { return None };
    if matches!(plan, Plan::Difference(_)) {
        return None;
    }
    let whole: u64 = plan.inputs().iter().chain(plan.outputs()).map(|spec| spec.bytes()).sum();
    let backend = backend.clone();
    Some(Path::new(format!("{name} streamed"), "", move |call: &Call| {
        let mut budget = whole / 3;
        let mut outcome = || match streamed(call, budget, &backend, |_| ControlFlow::Continue(())).0 {
            Err(ExecuteError::Plan(PlanError::ExceedsLimit { needed, limit, .. })) if limit == budget => {
                // The least budget would be a tile for each window.
                budget = needed + whole / 2;
                None
            }
            outcome => Some(outcome),
        };
        (0..8).find_map(|_| outcome()).expect("a budget that is enough")
    }))
}

/// A call as a stream in so many bytes, and what the run reports.
pub fn streamed(
    call: &Call,
    budget: u64,
    backend: &dyn Backend,
    progress: impl FnMut(&StreamProgress) -> ControlFlow<()> + Send,
) -> (Outcome, Option<StreamReport>) {
    let mut report = None;
    let outcome = call.outcome(|inputs, outputs| {
        let mut sources: Vec<Bytes<&[u8]>> = inputs.iter().map(|input| Bytes(input.bytes())).collect();
        let mut sinks = Vec::new();
        for output in outputs {
            sinks.push(Bytes(output.bytes_mut()?));
        }
        let stream = Stream::new(call.plan.clone(), budget).progress(progress);
        let stream = sources.iter_mut().fold(stream, |stream, source| stream.source(source));
        let stream = sinks.iter_mut().fold(stream, |stream, sink| stream.sink(sink));
        report = Some(stream.run_blocking(backend)?);
        Ok(())
    });
    (outcome, report)
}
