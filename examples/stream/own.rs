//! A file that the example makes if none is named.

use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};

use wgpu_pooling::{DType, Layout, Sink};

use crate::file::Output;

/// A temporary folder that is removed with everything in it when it is dropped.
pub struct Folder(PathBuf);

impl Folder {
    pub fn create() -> Result<Folder, Box<dyn Error>> {
        let path = std::env::temp_dir().join(format!("wgpu-pooling-stream-{}", std::process::id()));
        fs::create_dir(&path).map_err(|error| format!("cannot make {}: {error}", path.display()))?;
        Ok(Folder(path))
    }

    pub fn path(&self) -> &Path {
        &self.0
    }

    /// A tensor of noise in a file, four times as large as the budget.
    pub fn tensor(&self, layout: Layout, budget: u64) -> Result<PathBuf, Box<dyn Error>> {
        const WIDTH: usize = 1024;
        const CHANNELS: usize = 4;
        let rows = usize::try_from(budget / (WIDTH * CHANNELS) as u64)?.max(1);
        let shape = match layout {
            Layout::Nchw => [1, CHANNELS, rows, WIDTH],
            Layout::Nhwc => [1, rows, WIDTH, CHANNELS],
        };
        let path = self.0.join("x.npy");
        let mut output = Output::create(&path, "x", DType::F32, &shape)?;
        let mut state = 1u32;
        for row in 0..rows * CHANNELS {
            let value = |_| {
                state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                (state >> 8) as f32 / (1 << 24) as f32
            };
            let values: Vec<f32> = (0..WIDTH).map(value).collect();
            let written = output.write((row * WIDTH * size_of::<f32>()) as u64, bytemuck::cast_slice(&values));
            written.map_err(|error| format!("cannot write {error}"))?;
        }
        output.finish()?;
        Ok(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}
