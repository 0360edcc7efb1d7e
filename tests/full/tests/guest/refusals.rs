//! Machines without an adapter, adapters that refuse, devices with next to no limits: errors that say what was found
//! and what to do.

use gpu_test::gpu_test;
use support::calls::reference;
use support::device::{POISON, gpu};
use wgpu_pooling::TestHooks;
use wgpu_pooling::{
    DType, Device, ExecuteError, Gpu, GpuOptions, IndexType, MaxPool, MaxUnpool, PlanError, Tensor,
    list_adapters_blocking, wgpu,
};

use crate::faults::{Uncaptured, is_child, passed, run_child};

/// Runs the test again as a child that finds no adapter, and returns the error that it printed.
fn in_a_child(test: &str, environment: &[(&str, &str)]) -> Option<String> {
    if is_child() {
        let error = Gpu::new_blocking().expect_err("there is nothing to open");
        assert!(matches!(error, ExecuteError::NoAdapter(_)), "{error:?}");
        println!("error: {error}");
        // The reference works all the same.
        let plan = MaxPool::new([2]).plan(&[1, 1, 2], DType::U8, None).unwrap();
        let x = Tensor::new([1, 1, 2], vec![3u8, 5]).unwrap();
        assert_eq!(reference::max_pool(&plan, x.view()).unwrap().data(), [5]);
        return None;
    }
    let text = passed(&run_child(test, environment));
    let error = text.lines().find_map(|line| line.strip_prefix("error: no usable")).expect("it printed its error");
    println!("no usable{error}");
    assert!(error.contains("install a GPU driver") && error.contains("wgpu_pooling::Cpu"), "{error}");
    Some(error.to_owned())
}

#[gpu_test]
fn a_machine_without_adapters_says_what_to_install() {
    let nowhere = "/nowhere/driver.json";
    let environment = [("VK_DRIVER_FILES", nowhere), ("VK_ICD_FILENAMES", nowhere), ("WGPU_BACKEND", "vulkan")];
    if let Some(error) = in_a_child("refusals::a_machine_without_adapters_says_what_to_install", &environment) {
        assert!(error.contains("WGPU_BACKEND=vulkan"), "{error}");
    }
}

#[gpu_test]
fn a_name_in_the_environment_that_no_adapter_has_is_said() {
    let environment = [("WGPU_ADAPTER_NAME", "no such card")];
    if let Some(error) = in_a_child("refusals::a_name_in_the_environment_that_no_adapter_has_is_said", &environment) {
        let found = gpu().adapter_info().name;
        assert!(error.contains("WGPU_ADAPTER_NAME=no such card") && error.contains(&found), "{error}");
    }
}

#[gpu_test]
fn software_is_no_hardware() {
    let name = gpu().adapter_info().name;
    let is_software = |info: &wgpu::AdapterInfo| info.device_type == wgpu::DeviceType::Cpu;
    let hardware = list_adapters_blocking(&GpuOptions::new().hardware());
    assert!(!hardware.iter().any(is_software), "{hardware:?}");
    match Device::open_blocking(&GpuOptions::new()) {
        (Device::Gpu(gpu), None) => {
            assert!(!is_software(&gpu.adapter_info()) || std::env::var("WGPU_ADAPTER_NAME").is_ok())
        }
        (Device::Cpu(_), Some(ExecuteError::NoAdapter(why))) => {
            assert!(hardware.is_empty() && why.contains("none is hardware"), "{why}");
            assert!(why.contains(&name) && why.contains("WGPU_ADAPTER_NAME"), "{why}");
        }
        (device, why) => panic!("{device:?}: {why:?}"),
    }
    // An adapter that is named is taken, software too.
    let (device, why) = Device::open_blocking(&GpuOptions::new().adapter_name(&name));
    assert!(matches!(&device, Device::Gpu(gpu) if gpu.adapter_info().name == name), "{device:?}: {why:?}");
}

#[gpu_test]
fn backends_that_do_not_exist_are_no_adapter() {
    let environment = [("WGPU_BACKEND", "abacus")];
    if let Some(error) = in_a_child("refusals::backends_that_do_not_exist_are_no_adapter", &environment) {
        assert!(error.contains("WGPU_BACKEND=abacus"), "{error}");
        assert!(list_adapters_blocking(&GpuOptions::new().backends(wgpu::Backends::empty())).is_empty());
    }
}

#[gpu_test]
fn limits_above_the_adapters_are_no_device() {
    let limits = wgpu::Limits { max_bind_groups: u32::MAX, ..wgpu::Limits::defaults() };
    let error = Gpu::open_blocking(&GpuOptions::new().limits(limits)).unwrap_err();
    let ExecuteError::NoDevice(text) = &error else { panic!("{error:?}") };
    let name = &gpu().adapter_info().name;
    assert!(text.contains(name) && text.contains("max_bind_groups") && text.contains("GpuOptions::limits"), "{text}");
}

/// Each limit in turn as low as it goes: the reference's answer, or an error that names the limit.
#[gpu_test]
fn limits_below_what_a_kernel_needs_are_named() {
    let defaults = wgpu::Limits::defaults();
    type Lower = fn(wgpu::Limits) -> wgpu::Limits;
    let rows: [(&str, Lower); 12] = [
        ("max_buffer_bytes", |limits| wgpu::Limits { max_buffer_size: 256, ..limits }),
        ("max_buffer_bytes", |limits| wgpu::Limits { max_buffer_size: 0, ..limits }),
        ("max_binding_bytes", |limits| wgpu::Limits { max_storage_buffer_binding_size: 4, ..limits }),
        ("max_workgroups_per_dimension", |limits| wgpu::Limits { max_compute_workgroups_per_dimension: 1, ..limits }),
        ("max_workgroups_per_dimension", |limits| wgpu::Limits { max_compute_workgroups_per_dimension: 0, ..limits }),
        ("max_storage_buffers", |limits| wgpu::Limits { max_storage_buffers_per_shader_stage: 2, ..limits }),
        ("max_compute_invocations_per_workgroup", |limits| wgpu::Limits {
            max_compute_invocations_per_workgroup: 32,
            ..limits
        }),
        ("max_compute_workgroup_size_x", |limits| wgpu::Limits { max_compute_workgroup_size_x: 32, ..limits }),
        ("max_bind_groups", |limits| wgpu::Limits { max_bind_groups: 0, ..limits }),
        ("max_bindings_per_bind_group", |limits| wgpu::Limits { max_bindings_per_bind_group: 2, ..limits }),
        ("max_uniform_buffers_per_shader_stage", |limits| wgpu::Limits {
            max_uniform_buffers_per_shader_stage: 0,
            ..limits
        }),
        ("max_uniform_buffer_binding_size", |limits| wgpu::Limits { max_uniform_buffer_binding_size: 16, ..limits }),
    ];
    let x = Tensor::new([1, 2, 30, 40], (0..2400).map(|i| (i * 7919 % 97) as f32).collect()).unwrap();
    let plan = MaxPool::new([2, 2]).plan(x.shape(), DType::F32, Some(IndexType::I64)).unwrap();
    let expected = reference::max_pool_with_indices::<f32, i64>(&plan, x.view()).unwrap();
    let (mut opened, mut refused) = (0, 0);
    for (what, lower) in rows {
        let options = GpuOptions::new().limits(lower(defaults.clone())).poison(POISON);
        // Some drivers open no device with so little.
        let gpu = match Gpu::open_blocking(&options) {
            Ok(gpu) => gpu,
            Err(ExecuteError::NoDevice(_)) => continue,
            Err(error) => panic!("{what}: {error:?}"),
        };
        opened += 1;
        let uncaptured = Uncaptured::on(gpu.device());
        let pooled = MaxPool::new([2, 2]).on(x.view()).with_indices::<i64>().run_blocking(&gpu);
        match pooled {
            Ok(pooled) => assert_eq!(pooled, expected, "{what}"),
            Err(ExecuteError::Plan(PlanError::ExceedsLimit { what: named, needed, limit })) => {
                assert!(named.contains(what) && needed > limit, "{what}: {named}, {needed} of {limit}");
                refused += 1;
            }
            Err(error) => panic!("{what}: {error:?}"),
        }
        let unpool = MaxUnpool::new([2, 2]).strides([2, 2]);
        let indices = Tensor::new([1, 2, 30, 40], (0..2400).collect::<Vec<i64>>()).unwrap();
        match unpool.on(x.view(), indices.view()).run_blocking(&gpu) {
            Ok(_) | Err(ExecuteError::Plan(_)) => {}
            Err(error) => panic!("{what}: {error:?}"),
        }
        uncaptured.assert_silent();
    }
    println!("{opened} devices with a limit of next to nothing, {refused} refusals by name");
    assert!(refused > 0);
}
