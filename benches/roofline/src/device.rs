//! The device: buffers filled, poisoned and read back, and passes timed.

use std::time::Duration;

use wgpu_pooling::{Gpu, wgpu};

use crate::clock::{Clock, time};
use crate::failure::Failure;
use crate::tensors::POISON;

/// The most bytes that are staged for one transfer.
const STAGED_BYTES: usize = 32 << 20;
/// How long to wait for the device: longer than any pass that is worth measuring.
const PATIENCE: Duration = Duration::from_secs(600);

pub struct Device {
    pub gpu: Gpu,
    pub clock: Clock,
    timestamps: Option<Timestamps>,
}

/// The device's own clock.
struct Timestamps {
    queries: wgpu::QuerySet,
    resolved: wgpu::Buffer,
    /// Seconds in a tick.
    tick: f64,
}

const TIMESTAMPS: u64 = 2;

impl Device {
    /// A device with the given clock. By default software adapters are timed by CPU time, which other programs disturb
    /// least.
    pub fn new(gpu: Gpu, clock: Option<Clock>) -> Result<Device, Failure> {
        let has_timestamps = gpu.device().features().contains(wgpu::Features::TIMESTAMP_QUERY);
        let mut device = Device { gpu, clock: Clock::Wall, timestamps: None };
        let in_software = device.is_software();
        let by_default = if in_software && Clock::COUNTS_CPU { Clock::Cpu } else { Clock::Device };
        device.clock = match clock.unwrap_or(by_default) {
            Clock::Cpu if !in_software => {
                return Err(Failure::Other("--clock cpu: the device does not compute on the CPU".to_owned()));
            }
            Clock::Device if !has_timestamps => Clock::Wall,
            clock => clock,
        };
        if device.clock == Clock::Device {
            let usage = wgpu::BufferUsages::QUERY_RESOLVE | wgpu::BufferUsages::COPY_SRC;
            let (label, ty, count) = (Some("roofline"), wgpu::QueryType::Timestamp, TIMESTAMPS as u32);
            let queries = wgpu::QuerySetDescriptor { label, ty, count };
            device.timestamps = Some(Timestamps {
                queries: device.scoped(|device| device.wgpu().create_query_set(&queries))?,
                resolved: device.buffer_for("roofline timestamps", TIMESTAMPS * 8, usage)?,
                tick: f64::from(device.gpu.queue().get_timestamp_period()) * 1e-9,
            });
        }
        Ok(device)
    }

    /// The same adapter once more, from an instance that validates indirect dispatches, or from one that does not.
    pub fn again(&self, validates_indirect: bool) -> Result<Device, Failure> {
        let info = self.gpu.adapter_info();
        let mut descriptor = wgpu::InstanceDescriptor::new_without_display_handle_from_env();
        descriptor.backends = info.backend.into();
        descriptor.flags.set(wgpu::InstanceFlags::VALIDATION_INDIRECT_CALL, validates_indirect);
        let instance = wgpu::Instance::new(descriptor);
        let adapters = pollster::block_on(instance.enumerate_adapters(info.backend.into()));
        let adapter = adapters.into_iter().find(|adapter| adapter.get_info() == info);
        let adapter = adapter.ok_or_else(|| Failure::Other("the adapter is not found once more".to_owned()))?;
        let opened = pollster::block_on(adapter.request_device(&wgpu::DeviceDescriptor {
            required_features: self.wgpu().features(),
            required_limits: self.wgpu().limits(),
            ..Default::default()
        }));
        let (device, queue) = opened.map_err(|error| Failure::Other(error.to_string()))?;
        Device::new(Gpu::from_wgpu(device, queue), Some(self.clock))
    }

    pub fn wgpu(&self) -> &wgpu::Device {
        self.gpu.device()
    }

    pub fn is_software(&self) -> bool {
        self.gpu.adapter_info().device_type == wgpu::DeviceType::Cpu
    }

    /// Runs `work` in error scopes, and gives what the device refuses as an error.
    pub fn scoped<T>(&self, work: impl FnOnce(&Device) -> T) -> Result<T, Failure> {
        use wgpu::ErrorFilter::{Internal, OutOfMemory, Validation};
        let [memory, internal, validation] =
            [OutOfMemory, Internal, Validation].map(|filter| self.wgpu().push_error_scope(filter));
        let result = work(self);
        let [validation, internal, memory] = [validation.pop(), internal.pop(), memory.pop()].map(pollster::block_on);
        match (memory, internal.or(validation)) {
            (None, None) => Ok(result),
            (Some(error), _) => Err(Failure::TooLarge(error.to_string())),
            (None, Some(error)) => Err(Failure::Other(error.to_string())),
        }
    }

    /// A buffer for a tensor.
    pub fn buffer(&self, label: &str, bytes: u64) -> Result<wgpu::Buffer, Failure> {
        let usage = wgpu::BufferUsages::STORAGE | wgpu::BufferUsages::COPY_SRC | wgpu::BufferUsages::COPY_DST;
        self.buffer_for(label, bytes, usage)
    }

    /// A buffer of whole words.
    pub fn buffer_for(&self, label: &str, bytes: u64, usage: wgpu::BufferUsages) -> Result<wgpu::Buffer, Failure> {
        let limit = self.gpu.limits().max_buffer_bytes;
        if bytes > limit {
            return Err(Failure::TooLarge(format!("{label} of {bytes} bytes, and the device's buffers have {limit}")));
        }
        let (label, size, mapped_at_creation) = (Some(label), bytes.next_multiple_of(4), false);
        let buffer = wgpu::BufferDescriptor { label, size, usage, mapped_at_creation };
        self.scoped(|device| device.wgpu().create_buffer(&buffer))
    }

    /// The pipeline of the entry point of a WGSL text, whose workgroups have `workgroup` invocations.
    pub fn pipeline(&self, entry_point: &str, text: &str, workgroup: u32) -> Result<wgpu::ComputePipeline, Failure> {
        let label = Some(entry_point);
        let source = wgpu::ShaderSource::Wgsl(text.into());
        let constants: &[(&str, f64)] = &[("WORKGROUP", f64::from(workgroup))];
        self.scoped(|device| {
            let module = device.wgpu().create_shader_module(wgpu::ShaderModuleDescriptor { label, source });
            device.wgpu().create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
                label,
                layout: None,
                module: &module,
                entry_point: Some(entry_point),
                compilation_options: wgpu::PipelineCompilationOptions { constants, ..Default::default() },
                cache: None,
            })
        })
    }

    /// Fills a buffer from its beginning.
    pub fn upload(&self, buffer: &wgpu::Buffer, bytes: &[u8]) -> Result<(), Failure> {
        for (number, part) in bytes.chunks(STAGED_BYTES).enumerate() {
            let mut part = std::borrow::Cow::Borrowed(part);
            let whole_words = part.len().next_multiple_of(4);
            if part.len() < whole_words {
                part.to_mut().resize(whole_words, 0);
            }
            // Submitted at once, so that the staging memory of this part is freed before the next part is staged.
            self.scoped(|device| device.gpu.queue().write_buffer(buffer, (number * STAGED_BYTES) as u64, &part))?;
            self.submit(|_| Ok(()))?;
        }
        Ok(())
    }

    pub fn poison(&self, buffer: &wgpu::Buffer) -> Result<(), Failure> {
        let whole = buffer.size();
        let pattern = self.buffer("poison", whole.min(STAGED_BYTES as u64))?;
        self.upload(&pattern, &vec![POISON; pattern.size() as usize])?;
        self.submit(|encoder| {
            for offset in (0..whole).step_by(STAGED_BYTES) {
                encoder.copy_buffer_to_buffer(&pattern, 0, buffer, offset, pattern.size().min(whole - offset));
            }
            Ok(())
        })
    }

    pub fn read_back(&self, buffer: &wgpu::Buffer) -> Result<Vec<u8>, Failure> {
        let whole = buffer.size();
        let mut bytes = Vec::with_capacity(whole as usize);
        let usage = wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST;
        let staging = self.buffer_for("roofline staging", whole.min(STAGED_BYTES as u64), usage)?;
        for offset in (0..whole).step_by(STAGED_BYTES) {
            let size = staging.size().min(whole - offset);
            self.submit(|encoder| {
                encoder.copy_buffer_to_buffer(buffer, offset, &staging, 0, size);
                Ok(())
            })?;
            let (sender, receiver) = std::sync::mpsc::channel();
            staging.map_async(wgpu::MapMode::Read, ..size, move |answer| {
                // The receiver waits below.
                let _ = sender.send(answer);
            });
            self.wait()?;
            match receiver.try_recv() {
                Ok(Ok(())) => {}
                Ok(Err(error)) => return Err(Failure::Other(format!("reading back: {error}"))),
                Err(_) => return Err(Failure::Other("reading back: the device gives no answer".to_owned())),
            }
            let mapped = staging.get_mapped_range(..size);
            let mapped = mapped.map_err(|error| Failure::Other(format!("reading back: {error}")))?;
            bytes.extend_from_slice(&mapped);
            drop(mapped);
            staging.unmap();
        }
        Ok(bytes)
    }

    /// Encodes commands, submits them, and waits until the device has finished them.
    pub fn submit(&self, encode: impl FnOnce(&mut wgpu::CommandEncoder) -> Result<(), Failure>) -> Result<(), Failure> {
        self.scoped(|device| {
            let label = Some("roofline");
            let mut encoder = device.wgpu().create_command_encoder(&wgpu::CommandEncoderDescriptor { label });
            encode(&mut encoder)?;
            device.gpu.queue().submit([encoder.finish()]);
            Ok::<(), Failure>(())
        })??;
        self.wait()
    }

    fn wait(&self) -> Result<(), Failure> {
        let all = wgpu::PollType::Wait { submission_index: None, timeout: Some(PATIENCE) };
        self.wgpu().poll(all).map(|_| ()).map_err(|error| Failure::Other(format!("waiting for the device: {error}")))
    }

    /// The seconds that a pass takes, by the clock of this `Device`.
    pub fn time(&self, record: impl FnOnce(&mut wgpu::ComputePass<'_>) -> Result<(), Failure>) -> Result<f64, Failure> {
        let timestamp_writes = self.timestamps.as_ref().map(|clock| wgpu::ComputePassTimestampWrites {
            query_set: &clock.queries,
            beginning_of_pass_write_index: Some(0),
            end_of_pass_write_index: Some(1),
        });
        let commands = self.scoped(|device| {
            let label = Some("roofline");
            let mut encoder = device.wgpu().create_command_encoder(&wgpu::CommandEncoderDescriptor { label });
            let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor { label, timestamp_writes });
            record(&mut pass)?;
            drop(pass);
            if let Some(clock) = &device.timestamps {
                encoder.resolve_query_set(&clock.queries, 0..TIMESTAMPS as u32, &clock.resolved, 0);
            }
            Ok::<_, Failure>(encoder.finish())
        })??;
        let run = || {
            self.scoped(|device| device.gpu.queue().submit([commands]))?;
            self.wait()
        };
        let Some(clock) = &self.timestamps else { return Ok(time(self.clock, run)?.seconds) };
        run()?;
        let stamps: Vec<u64> = bytemuck::pod_collect_to_vec(&self.read_back(&clock.resolved)?);
        match stamps[..] {
            [start, end] if end > start => Ok((end - start) as f64 * clock.tick),
            _ => Err(Failure::Other(format!("the device's timestamps are no interval: {stamps:?}"))),
        }
    }
}
