//! From WGSL to SPIR-V as wgpu writes it for RADV.

use naga::back::spv;
use naga::proc::{BoundsCheckPolicies, BoundsCheckPolicy};
use naga::valid::{Capabilities, ModuleInfo, ValidationFlags, Validator};
use naga::{AddressSpace, Module, ResourceBinding, ShaderStage};
use serde::{Deserialize, Serialize};

/// A buffer of group 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Bound {
    pub number: u32,
    pub kind: BufferKind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum BufferKind {
    Uniform,
    Storage,
}

/// A kernel as the driver takes it: its entry point is `main`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Kernel {
    pub words: Vec<u32>,
    pub bindings: Vec<Bound>,
}

/// A text that naga has parsed and validated.
pub struct Source {
    pub text: String,
    pub module: Module,
    pub info: ModuleInfo,
    /// Invocations of a workgroup.
    pub workgroup: u32,
}

impl Source {
    pub fn parse(wgsl: &str) -> Result<Source, String> {
        let module = naga::front::wgsl::parse_str(wgsl).map_err(|error| error.emit_to_string(wgsl))?;
        Source::of(module, wgsl)
    }

    /// A module that was made from that of a text.
    pub fn of(module: Module, wgsl: &str) -> Result<Source, String> {
        // The crate's devices have no optional features.
        let info = Validator::new(ValidationFlags::all(), Capabilities::empty())
            .validate(&module)
            .map_err(|error| error.emit_to_string(wgsl))?;
        let entry = module.entry_points.iter().find(|entry| entry.name == "main");
        let workgroup = entry.ok_or("the text has no entry point named main")?.workgroup_size.iter().product();
        Ok(Source { text: wgsl.to_owned(), module, info, workgroup })
    }

    /// The kernel as wgpu writes it.
    pub fn kernel(&self) -> Result<Kernel, String> {
        self.write(spv::WriterFlags::empty())
    }

    /// The kernel with the names of functions and variables.
    pub fn named(&self) -> Result<Kernel, String> {
        self.write(spv::WriterFlags::DEBUG)
    }

    fn write(&self, flags: spv::WriterFlags) -> Result<Kernel, String> {
        let pipeline = spv::PipelineOptions { shader_stage: ShaderStage::Compute, entry_point: "main".to_owned() };
        let options = spv::Options { flags, ..options(&self.module) };
        let words = spv::write_vec(&self.module, &self.info, &options, Some(&pipeline))
            .map_err(|error| format!("SPIR-V: {error}"))?;
        let bindings = bindings(&self.module).map(|(binding, kind)| Bound { number: binding.binding, kind });
        Ok(Kernel { words, bindings: bindings.collect() })
    }
}

fn bindings(module: &Module) -> impl Iterator<Item = (ResourceBinding, BufferKind)> + '_ {
    module.global_variables.iter().filter_map(|(_, variable)| {
        let kind = match variable.space {
            AddressSpace::Uniform => BufferKind::Uniform,
            _ => BufferKind::Storage,
        };
        variable.binding.map(|binding| (binding, kind))
    })
}

/// The options that wgpu-hal gives naga for RADV. Its devices have robustBufferAccess2, so naga bounds indices but
/// leaves the bounds of buffers to the device. The crate's pipelines do not ask for workgroup memory to be zeroed.
fn options(module: &Module) -> spv::Options<'static> {
    let binding_map = bindings(module).map(|(it, _)| {
        let (descriptor_set, binding) = (it.group, it.binding);
        (it, spv::BindingInfo { descriptor_set, binding, binding_array_size: None })
    });
    spv::Options {
        lang_version: (1, 5),
        binding_map: binding_map.collect(),
        fake_missing_bindings: false,
        bounds_check_policies: BoundsCheckPolicies {
            index: BoundsCheckPolicy::Restrict,
            buffer: BoundsCheckPolicy::Unchecked,
            image_load: BoundsCheckPolicy::Unchecked,
            binding_array: BoundsCheckPolicy::Unchecked,
        },
        zero_initialize_workgroup_memory: spv::ZeroInitializeWorkgroupMemoryMode::None,
        force_loop_bounding: true,
        ..spv::Options::default()
    }
}
