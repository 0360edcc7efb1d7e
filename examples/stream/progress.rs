//! Shows the progress, as a bar on a terminal and as plain lines elsewhere, and lets Ctrl-C stop the run.

use std::io::{self, IsTerminal, Write};
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use indicatif::{ProgressBar, ProgressStyle};
use wgpu_pooling::StreamProgress;

pub struct Progress {
    bar: Option<ProgressBar>,
    tenths: u64,
    stop: Arc<AtomicBool>,
}

impl Progress {
    /// From now on Ctrl-C ends the run after the tile that is being written, instead of ending the program at once.
    pub fn new() -> Result<Progress, Box<dyn std::error::Error>> {
        let stop = Arc::new(AtomicBool::new(false));
        let flag = Arc::clone(&stop);
        ctrlc::set_handler(move || flag.store(true, Ordering::Relaxed))?;
        let style = ProgressStyle::with_template("{bar:40} {percent:>3} %  {pos} of {len} tiles  {msg}  {eta} left")?;
        let bar = io::stderr().is_terminal().then(|| ProgressBar::new(1).with_style(style));
        Ok(Progress { bar, tenths: 0, stop })
    }

    pub fn tell(&mut self, progress: &StreamProgress) -> ControlFlow<()> {
        let StreamProgress { done, tiles, bytes_read, .. } = *progress;
        let read = format!("{} MiB read", bytes_read >> 20);
        match &self.bar {
            Some(bar) => {
                bar.set_length(tiles);
                bar.set_position(done);
                bar.set_message(read);
                if done == tiles {
                    bar.finish_and_clear();
                }
            }
            None => {
                let tenths = (done as u128 * 10 / u128::from(tiles.max(1))) as u64;
                if tenths > self.tenths {
                    self.tenths = tenths;
                    // It is no failure if stderr is closed.
                    let _ = writeln!(io::stderr(), "{:>3} %: {done} of {tiles} tiles, {read}", tenths * 10);
                }
            }
        }
        if self.stop.load(Ordering::Relaxed) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}
