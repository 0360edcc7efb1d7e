//! What every streaming run keeps: what it holds, how far it has come, and who is told.

use std::ops::ControlFlow;

use super::context::Gpu;
use super::stream::{Callback, StreamOptions, StreamProgress, StreamReport};
use crate::error::ExecuteError;

/// What is held, and the most that ever was.
#[derive(Default)]
pub(super) struct Account {
    host: u64,
    device: u64,
    pub report: StreamReport,
}

impl Account {
    pub fn host(&mut self, more: u64, less: u64) {
        self.host = self.host + more - less;
        self.note();
    }

    pub fn device(&mut self, more: u64, less: u64) {
        self.device = self.device + more - less;
        self.note();
    }

    fn note(&mut self) {
        let report = &mut self.report;
        report.peak_host_bytes = report.peak_host_bytes.max(self.host);
        report.peak_device_bytes = report.peak_device_bytes.max(self.device);
        report.peak_bytes = report.peak_bytes.max(self.host + self.device);
    }
}

/// A streaming run.
pub(super) struct Run<'a> {
    pub gpu: &'a Gpu,
    pub account: Account,
    pub progress: StreamProgress,
    callback: Option<Callback<'a>>,
}

impl<'a> Run<'a> {
    /// A run that has not begun.
    pub fn new(gpu: &'a Gpu, tiles: u64, options: StreamOptions<'a>) -> Run<'a> {
        let progress = StreamProgress { done: 0, tiles, bytes_read: 0, bytes_written: 0 };
        Run { gpu, account: Account::default(), progress, callback: options.progress }
    }

    /// Calls back, and ends the run if that is the answer.
    pub fn tell(&mut self) -> Result<(), ExecuteError> {
        let StreamProgress { done, tiles, .. } = self.progress;
        match self.callback.as_mut().map(|callback| callback(&self.progress)) {
            Some(ControlFlow::Break(())) => Err(ExecuteError::Stopped { done, tiles }),
            _ => Ok(()),
        }
    }
}
