//! The crate's own calls, timed for `calls.py`: one line for each device and shape, `cpu 1x1x4x4 0.8`, in microseconds.

use std::time::Instant;

use wgpu_pooling::{Backend, Cpu, DType, Device, Gpu, IndexType, MaxPool, TensorMut, TensorRef};

/// The shapes of `calls.py`.
const SHAPES: [[usize; 4]; 3] = [[1, 1, 4, 4], [1, 3, 64, 64], [1, 8, 64, 64]];
const CALLS: usize = 1000;

fn main() -> Result<(), wgpu_pooling::ExecuteError> {
    let gpu = Gpu::new_blocking().map(Device::from).ok();
    for (name, device) in [("cpu", Some(Device::from(Cpu::new()))), ("gpu", gpu)] {
        for shape in SHAPES {
            if let Some(device) = &device {
                let microseconds = median(device, &shape)?;
                let shape = shape.map(|extent| extent.to_string()).join("x");
                println!("{name} {shape} {microseconds:.1}");
            }
        }
    }
    Ok(())
}

/// The median of calls that plan, take memory for Y and Indices, and compute: what Python's call does too.
fn median(device: &Device, shape: &[usize]) -> Result<f64, wgpu_pooling::ExecuteError> {
    let x: Vec<u8> = (0..4 * shape.iter().product::<usize>()).map(|byte| (byte % 61) as u8).collect();
    let mut times = Vec::with_capacity(CALLS);
    for _ in 0..CALLS {
        let begun = Instant::now();
        let pool = MaxPool::pytorch([2, 2]);
        let plan = pool.plan(shape, DType::F32, Some(IndexType::I64))?;
        let outputs = wgpu_pooling::Plan::outputs(&plan);
        let (mut y, mut indices) = (vec![0; outputs[0].bytes() as usize], vec![0; outputs[1].bytes() as usize]);
        let (of_y, of_indices) = (&outputs[0].shape, &outputs[1].shape);
        let written =
            &mut [TensorMut::new(DType::F32, of_y, &mut y)?, TensorMut::new(DType::I64, of_indices, &mut indices)?];
        device.run_blocking(&plan, &[TensorRef::new(DType::F32, shape, &x)?], written)?;
        times.push(begun.elapsed().as_secs_f64() * 1e6);
    }
    times.sort_by(f64::total_cmp);
    Ok(times[CALLS / 2])
}
