//! naga's HLSL with the options of wgpu-hal 30 for DX12.

use naga::back::hlsl;
use naga::valid::ModuleInfo;
use naga::{Module, ShaderStage};

/// A module with an entry point `main`, as wgpu gives it to FXC (5.1) or DXC (6.0).
pub fn write(module: &Module, info: &ModuleInfo, shader_model: hlsl::ShaderModel) -> Result<String, hlsl::Error> {
    let bindings = module.global_variables.iter().filter_map(|(_, variable)| variable.binding);
    let target = |binding: naga::ResourceBinding| hlsl::BindTarget { register: binding.binding, ..Default::default() };
    let options = hlsl::Options {
        shader_model,
        binding_map: bindings.map(|binding| (binding, target(binding))).collect(),
        fake_missing_bindings: false,
        // The crate's pipelines ask for no zeros in workgroup memory.
        zero_initialize_workgroup_memory: false,
        ..hlsl::Options::default()
    };
    let pipeline = hlsl::PipelineOptions { entry_point: Some((ShaderStage::Compute, "main".to_owned())) };
    let mut text = String::new();
    hlsl::Writer::new(&mut text, &options, &pipeline).write(module, info, None)?;
    Ok(text)
}
