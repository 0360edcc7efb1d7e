//! One frame: the application's kernels and the library's between them, in one encoder and with one submit.

use std::error::Error;

use bytemuck::pod_collect_to_vec;
use examples::application::Host;
use wgpu_pooling::wgpu::{self, BufferUsages};
use wgpu_pooling::{
    Buffers, DType, ExecuteError, Gpu, IndexType, Layout, MaxPool, MaxUnpool, Operand, OutsideWindow, Plan, Prepared,
    Tensor,
};

/// A pool and its unpool on frames of one size.
pub struct Plans {
    pub pool: Plan,
    pub unpool: Plan,
}

impl Plans {
    /// The bytes of a frame are used as a tensor without conversion: u8, channels last. The fourth channel is 255
    /// throughout.
    pub fn new(size: u32, window: i64) -> Result<Plans, Box<dyn Error>> {
        if window > i64::from(size) {
            return Err(format!("no window of {window} x {window} fits into a picture of {size} x {size}").into());
        }
        let shape = [1, size as usize, size as usize, 4];
        let pool = MaxPool::new([window; 2]).strides([window; 2]).layout(Layout::Nhwc).index_layout(Layout::Nhwc);
        // Indices of a pool lie in their own windows. An unpool that is told so is one dispatch or two, without scratch
        // memory.
        let unpool = MaxUnpool::inverse_of(&pool, &shape).outside_window(OutsideWindow::Error);
        let pool = pool.plan(&shape, DType::U8, Some(IndexType::I32))?;
        let unpool = unpool.plan(pool.output_shape(), DType::U8, IndexType::I32)?;
        Ok(Plans { pool, unpool })
    }
}

/// What came back from the device.
pub struct Results {
    pub frame: Tensor<u8>,
    pub maxima: Tensor<u8>,
    pub indices: Tensor<i32>,
    pub unpooled: Tensor<u8>,
    pub picture: Tensor<u8>,
    /// The index of the submit, as wgpu prints it.
    pub submission: String,
}

/// The library's part, ready for any number of frames.
pub struct Pooling {
    pub pool: Prepared,
    pub unpool: Prepared,
}

impl Pooling {
    /// Compiles the pipelines; nothing runs yet.
    pub fn new(gpu: &Gpu, plans: &Plans) -> Result<Pooling, ExecuteError> {
        Ok(Pooling {
            pool: gpu.prepare_blocking(plans.pool.clone())?,
            unpool: gpu.prepare_blocking(plans.unpool.clone())?,
        })
    }
}

/// Draws a frame. All work for the device is encoded into `encoder`, which this application submits.
pub fn draw(host: &Host, pooling: &Pooling, plans: &Plans) -> Result<Results, Box<dyn Error>> {
    let Pooling { pool, unpool } = pooling;
    let missing = "a schedule without bytes";
    let bytes = |operand, prepared: &Prepared| prepared.schedule().operand_bytes(operand).ok_or(missing);
    let usage = BufferUsages::STORAGE | BufferUsages::COPY_SRC;
    let frame = host.buffer("frame", bytes(Operand::X, pool)?, usage);
    let maxima = host.buffer("maxima", bytes(Operand::Y, pool)?, usage);
    let indices = host.buffer("indices", bytes(Operand::IndicesOut, pool)?, usage);
    let unpooled = host.buffer("unpooled", bytes(Operand::Y, unpool)?, usage);
    // Such an unpool adds to its report, which has to begin with zeros, as buffers of wgpu do.
    let report = host.buffer("report", bytes(Operand::Report, unpool)?, usage);
    let picture = host.buffer("picture", frame.size(), usage);
    let &[_, height, width, _] = plans.pool.input_shape() else {
        return Err("a frame has four axes".into());
    };
    let size = [u32::try_from(width)?, u32::try_from(height)?];
    let uniform = host.buffer("size", 8, BufferUsages::UNIFORM | BufferUsages::COPY_DST);
    host.queue.write_buffer(&uniform, 0, bytemuck::bytes_of(&size));
    let waves = host.kernel("interference", include_str!("interference.wgsl"), &bindings([&uniform, &frame]));
    let darken = host.kernel("darken", include_str!("darken.wgsl"), &bindings([&uniform, &frame, &picture]));
    let lights = host.kernel("lights", include_str!("lights.wgsl"), &bindings([&uniform, &unpooled, &picture]));

    let mut encoder = host.device.create_command_encoder(&wgpu::CommandEncoderDescriptor { label: Some("frame") });
    // First comes a pass of the application's own.
    let label = Some("draw");
    let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor { label, timestamp_writes: None });
    waves.dispatch(&mut pass, size);
    drop(pass);
    // Then comes a pass of the library's in the same encoder.
    let buffers = Buffers {
        x: Some(frame.slice(..)),
        y: Some(maxima.slice(..)),
        indices_out: Some(indices.slice(..)),
        ..Buffers::default()
    };
    pool.encode(&mut encoder, buffers)?;
    // Then comes another pass of the application's, into which the library encodes its dispatches. They change the
    // pipeline and the bind group of the pass.
    let label = Some("light up");
    let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor { label, timestamp_writes: None });
    darken.dispatch(&mut pass, size);
    let buffers = Buffers {
        x: Some(maxima.slice(..)),
        indices: Some(indices.slice(..)),
        y: Some(unpooled.slice(..)),
        report: Some(report.slice(..)),
        ..Buffers::default()
    };
    unpool.encode_pass(&mut pass, buffers)?;
    lights.dispatch(&mut pass, size);
    drop(pass);

    let parts = [&frame, &maxima, &indices, &unpooled, &report, &picture];
    let mut ends = Vec::new();
    for part in parts {
        ends.push(ends.last().copied().unwrap_or(0) + part.size());
    }
    let total = ends.last().copied().unwrap_or(0);
    let staging = host.buffer("readback", total, BufferUsages::MAP_READ | BufferUsages::COPY_DST);
    for (part, end) in parts.into_iter().zip(&ends) {
        encoder.copy_buffer_to_buffer(part, 0, &staging, end - part.size(), part.size());
    }
    let submission = host.queue.submit([encoder.finish()]);
    let text = format!("{submission:?}");
    staging.map_async(wgpu::MapMode::Read, .., |_| {});
    host.device.poll(wgpu::PollType::Wait { submission_index: Some(submission), timeout: None })?;
    host.check()?;
    let view = staging.get_mapped_range(..)?;
    let read = |part: usize| &view[(ends[part] - parts[part].size()) as usize..ends[part] as usize];
    let report: Vec<u32> = pod_collect_to_vec(read(4));
    unpool.read_report(report.first_chunk().ok_or("the report is too short")?)?;
    Ok(Results {
        frame: Tensor::new(plans.pool.input_shape(), read(0).to_vec())?,
        maxima: Tensor::new(plans.pool.output_shape(), read(1).to_vec())?,
        indices: Tensor::new(&plans.pool.outputs()[1].shape, pod_collect_to_vec(read(2)))?,
        unpooled: Tensor::new(plans.unpool.output_shape(), read(3).to_vec())?,
        picture: Tensor::new(plans.pool.input_shape(), read(5).to_vec())?,
        submission: text,
    })
}

fn bindings<const N: usize>(buffers: [&wgpu::Buffer; N]) -> [wgpu::BindingResource<'_>; N] {
    buffers.map(wgpu::Buffer::as_entire_binding)
}
