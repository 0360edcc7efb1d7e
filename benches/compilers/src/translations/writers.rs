//! naga's writers with the options of wgpu-hal 30: dx12 with either compiler, Metal, desktop GL and GL ES, Vulkan.

use std::collections::BTreeMap;

use naga::back::{glsl, hlsl, msl, spv};
use naga::proc::{BoundsCheckPolicies, BoundsCheckPolicy};
use naga::valid::ModuleInfo;
use naga::{Module, ResourceBinding, ShaderStage};

fn bindings(module: &Module) -> impl Iterator<Item = ResourceBinding> + '_ {
    module.global_variables.iter().filter_map(|(_, variable)| variable.binding)
}

fn policies(policy: BoundsCheckPolicy) -> BoundsCheckPolicies {
    let binding_array = BoundsCheckPolicy::Unchecked;
    BoundsCheckPolicies { index: policy, buffer: policy, image_load: policy, binding_array }
}

/// A module with an entry point `main`, as wgpu gives it to FXC (5.1) or DXC (6.0).
pub fn hlsl(module: &Module, info: &ModuleInfo, shader_model: hlsl::ShaderModel) -> Result<String, hlsl::Error> {
    let target = |binding: ResourceBinding| hlsl::BindTarget { register: binding.binding, ..Default::default() };
    let options = hlsl::Options {
        shader_model,
        binding_map: bindings(module).map(|binding| (binding, target(binding))).collect(),
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

pub fn msl(module: &Module, info: &ModuleInfo, lang_version: (u8, u8)) -> String {
    let target = |slot: usize| msl::BindTarget { buffer: Some(slot as u8), mutable: true, ..Default::default() };
    let resources = msl::EntryPointResources {
        resources: bindings(module).enumerate().map(|(slot, binding)| (binding, target(slot))).collect(),
        immediates_buffer: None,
        sizes_buffer: Some(30),
    };
    let options = msl::Options {
        lang_version,
        per_entry_point_map: BTreeMap::from([("main".to_owned(), resources)]),
        fake_missing_bindings: false,
        bounds_check_policies: policies(BoundsCheckPolicy::Restrict),
        zero_initialize_workgroup_memory: false,
        ..msl::Options::default()
    };
    let pipeline = msl::PipelineOptions {
        entry_point: Some((ShaderStage::Compute, "main".to_owned())),
        vertex_pulling_transform: true,
        ..msl::PipelineOptions::default()
    };
    msl::write_string(module, info, &options, &pipeline).unwrap().0
}

pub fn glsl(module: &Module, info: &ModuleInfo, version: glsl::Version) -> String {
    let options = glsl::Options {
        version,
        writer_flags: glsl::WriterFlags::empty(),
        binding_map: bindings(module).enumerate().map(|(slot, binding)| (binding, slot as u8)).collect(),
        zero_initialize_workgroup_memory: false,
    };
    let pipeline =
        glsl::PipelineOptions { shader_stage: ShaderStage::Compute, entry_point: "main".to_owned(), multiview: None };
    let mut text = String::new();
    let policies = policies(BoundsCheckPolicy::Unchecked);
    glsl::Writer::new(&mut text, module, info, &options, &pipeline, policies).unwrap().write().unwrap();
    text
}

/// The module as SPIR-V of a version: wgpu takes 1.3, 1.5 and 1.6 for Vulkan 1.1, 1.2 and 1.3.
pub fn spirv(module: &Module, info: &ModuleInfo, lang_version: (u8, u8)) -> Vec<u32> {
    let options = spv::Options {
        lang_version,
        flags: spv::WriterFlags::empty(),
        binding_map: bindings(module)
            .map(|it| {
                let (descriptor_set, binding) = (it.group, it.binding);
                (it, spv::BindingInfo { descriptor_set, binding, binding_array_size: None })
            })
            .collect(),
        fake_missing_bindings: false,
        bounds_check_policies: BoundsCheckPolicies {
            buffer: BoundsCheckPolicy::Unchecked,
            ..policies(BoundsCheckPolicy::Restrict)
        },
        zero_initialize_workgroup_memory: spv::ZeroInitializeWorkgroupMemoryMode::None,
        ..spv::Options::default()
    };
    let pipeline = spv::PipelineOptions { shader_stage: ShaderStage::Compute, entry_point: "main".to_owned() };
    spv::write_vec(module, info, &options, Some(&pipeline)).unwrap()
}

/// What is wrong with the module as SPIR-V: capabilities beyond `Shader`, types of 64 bits.
pub fn spirv_faults(module: &Module, info: &ModuleInfo) -> Vec<String> {
    const OP_CAPABILITY: u32 = 17;
    const OP_TYPE_INT: u32 = 21;
    const OP_TYPE_FLOAT: u32 = 22;
    const SHADER: u32 = 1;
    let words = spirv(module, info, (1, 3));
    let mut faults = Vec::new();
    let mut at = 5;
    while at < words.len() {
        let (length, operation) = ((words[at] >> 16) as usize, words[at] & 0xffff);
        match operation {
            OP_CAPABILITY if words[at + 1] != SHADER => faults.push(format!("SPIR-V has capability {}", words[at + 1])),
            OP_TYPE_INT | OP_TYPE_FLOAT if words[at + 2] != 32 => {
                faults.push(format!("SPIR-V has a type of {} bits", words[at + 2]));
            }
            _ => {}
        }
        at += length.max(1);
    }
    faults
}
