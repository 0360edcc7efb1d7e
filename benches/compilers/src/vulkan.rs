//! AMD's compiler through Vulkan: a device that only compiles, and what it says of a pipeline.
//!
//! All `unsafe` of this package is here. RADV is asked for null hardware (`RADV_FORCE_FAMILY`), so nothing is ever
//! submitted.

use std::ffi::{CStr, c_char};

use ash::{Device, Entry, Instance, khr, vk};
use naga::AddressSpace;

use crate::source::Source;
use crate::table::Figures;
use crate::translations::writers::spirv;

/// A device that only compiles.
pub struct Compiler {
    // The loader's library has to stay loaded while its objects are alive.
    _entry: Entry,
    instance: Instance,
    device: Device,
    executables: khr::pipeline_executable_properties::Device,
    driver: String,
}

impl Compiler {
    /// Opens the RADV device of the environment.
    pub fn open() -> Result<Compiler, String> {
        // SAFETY: the loader is the system's own libvulkan, whose initialisers have no conditions beyond those of any
        // library.
        let entry = unsafe { Entry::load() }.map_err(|error| format!("no Vulkan loader: {error}"))?;
        let application = vk::ApplicationInfo::default().api_version(vk::API_VERSION_1_2);
        let create = vk::InstanceCreateInfo::default().application_info(&application);
        // SAFETY: the structure and what it points to live until the call returns.
        let instance =
            unsafe { entry.create_instance(&create, None) }.map_err(|error| format!("no Vulkan instance: {error}"))?;
        match open_device(&instance) {
            Ok((device, driver)) => {
                let executables = khr::pipeline_executable_properties::Device::new(&instance, &device);
                Ok(Compiler { _entry: entry, instance, device, executables, driver })
            }
            Err(error) => {
                // SAFETY: no object of the instance is alive: open_device gives an error only if it has made no device,
                // and the handles of physical devices need no release.
                unsafe { instance.destroy_instance(None) };
                Err(error)
            }
        }
    }

    /// The driver's version, in its own words.
    pub fn driver(&self) -> &str {
        &self.driver
    }

    /// Compiles a kernel whose entry point is `main` and whose bindings are all in group 0, as wgpu gives it to RADV:
    /// the device has robustBufferAccess2, so the bounds of buffers are left to it.
    pub fn compile(&self, source: &Source) -> Result<Figures, String> {
        let mut objects = Objects::new(&self.device);
        let pipeline = objects.pipeline(source)?;
        let failed = |error: vk::Result| format!("the driver does not describe its pipeline: {error}");
        let executable = vk::PipelineExecutableInfoKHR::default().pipeline(pipeline).executable_index(0);
        // SAFETY: the pipeline is of this device, lives, has an executable of number 0, and was made with
        // CAPTURE_STATISTICS; the extension was enabled with its feature.
        let statistics = unsafe { self.executables.get_pipeline_executable_statistics(&executable) }.map_err(failed)?;
        let statistic = |name: &str| {
            let found = statistics.iter().find(|it| text(&it.name) == name);
            found.map(number).ok_or_else(|| format!("the driver does not tell {name:?}"))
        };
        Ok(Figures {
            instructions: statistic("Instructions")?,
            registers: statistic("VGPRs")?,
            spilled: statistic("Spilled VGPRs")? + statistic("Spilled SGPRs")?,
            code: statistic("Code size")?,
        })
    }
}

impl Drop for Compiler {
    fn drop(&mut self) {
        // SAFETY: every object of the device was released by `Objects`, the device is the instance's only one, and
        // neither is used again.
        unsafe {
            self.device.destroy_device(None);
            self.instance.destroy_instance(None);
        }
    }
}

/// The objects that compiling one module makes; they are released together.
struct Objects<'a> {
    device: &'a Device,
    module: vk::ShaderModule,
    set_layout: vk::DescriptorSetLayout,
    layout: vk::PipelineLayout,
    pipeline: vk::Pipeline,
}

impl<'a> Objects<'a> {
    fn new(device: &'a Device) -> Objects<'a> {
        Objects {
            device,
            module: vk::ShaderModule::null(),
            set_layout: vk::DescriptorSetLayout::null(),
            layout: vk::PipelineLayout::null(),
            pipeline: vk::Pipeline::null(),
        }
    }

    fn pipeline(&mut self, source: &Source) -> Result<vk::Pipeline, String> {
        let failed = |error: vk::Result| format!("refused by the driver: {error}");
        let device = self.device;
        let words = spirv(&source.module, &source.info, (1, 5));
        let module = vk::ShaderModuleCreateInfo::default().code(&words);
        // SAFETY: the words are SPIR-V that naga wrote of a module that it validated, and live until the call returns.
        self.module = unsafe { device.create_shader_module(&module, None) }.map_err(failed)?;
        let bindings = source.module.global_variables.iter().filter_map(|(_, variable)| {
            let kind = match variable.space {
                AddressSpace::Uniform => vk::DescriptorType::UNIFORM_BUFFER,
                _ => vk::DescriptorType::STORAGE_BUFFER,
            };
            let binding = vk::DescriptorSetLayoutBinding::default().binding(variable.binding?.binding);
            Some(binding.descriptor_type(kind).descriptor_count(1).stage_flags(vk::ShaderStageFlags::COMPUTE))
        });
        let bindings: Vec<_> = bindings.collect();
        let set_layout = vk::DescriptorSetLayoutCreateInfo::default().bindings(&bindings);
        // SAFETY: the list lives until the call returns, and no number stands in it twice: naga refuses such modules.
        self.set_layout = unsafe { device.create_descriptor_set_layout(&set_layout, None) }.map_err(failed)?;
        let set_layouts = [self.set_layout];
        let layout = vk::PipelineLayoutCreateInfo::default().set_layouts(&set_layouts);
        // SAFETY: the set layout is of this device and lives.
        self.layout = unsafe { device.create_pipeline_layout(&layout, None) }.map_err(failed)?;
        let stage = vk::PipelineShaderStageCreateInfo::default()
            .stage(vk::ShaderStageFlags::COMPUTE)
            .module(self.module)
            .name(c"main");
        let capture = vk::PipelineCreateFlags::CAPTURE_STATISTICS_KHR;
        let create = vk::ComputePipelineCreateInfo::default().flags(capture).stage(stage).layout(self.layout);
        // SAFETY: module and layout are of this device and live; the layout has every binding that the module declares,
        // and the feature of the capture flag was enabled.
        let made = unsafe { device.create_compute_pipelines(vk::PipelineCache::null(), &[create], None) };
        let pipelines = made.map_err(|(_, error)| failed(error))?;
        self.pipeline = pipelines.first().copied().ok_or("the driver made no pipeline")?;
        Ok(self.pipeline)
    }
}

impl Drop for Objects<'_> {
    fn drop(&mut self) {
        // SAFETY: each handle is null, which is allowed, or an object of this device that nothing uses any more:
        // nothing is ever submitted, and the pipeline is read before its objects are dropped.
        unsafe {
            self.device.destroy_pipeline(self.pipeline, None);
            self.device.destroy_pipeline_layout(self.layout, None);
            self.device.destroy_descriptor_set_layout(self.set_layout, None);
            self.device.destroy_shader_module(self.module, None);
        }
    }
}

/// Opens the RADV device of an instance, with what wgpu enables on the library's own devices. Gives the driver's
/// version too.
fn open_device(instance: &Instance) -> Result<(Device, String), String> {
    // SAFETY: the instance lives.
    let physical = unsafe { instance.enumerate_physical_devices() }.map_err(|error| format!("no device: {error}"))?;
    for physical in physical {
        let mut driver = vk::PhysicalDeviceDriverProperties::default();
        let mut properties = vk::PhysicalDeviceProperties2::default().push_next(&mut driver);
        // SAFETY: the handle is the instance's, which is of version 1.2, where this call and both structures are core.
        unsafe { instance.get_physical_device_properties2(physical, &mut properties) };
        let name = text(&properties.properties.device_name);
        let version = text(&driver.driver_info);
        if driver.driver_id != vk::DriverId::MESA_RADV {
            continue;
        }
        let extensions = [khr::pipeline_executable_properties::NAME.as_ptr(), c"VK_EXT_robustness2".as_ptr()];
        let priorities = [1.0];
        let queues = [vk::DeviceQueueCreateInfo::default().queue_priorities(&priorities)];
        let core = vk::PhysicalDeviceFeatures::default().robust_buffer_access(true);
        let mut robust = vk::PhysicalDeviceRobustness2FeaturesEXT::default().robust_buffer_access2(true);
        let mut describe =
            vk::PhysicalDevicePipelineExecutablePropertiesFeaturesKHR::default().pipeline_executable_info(true);
        let mut memory = vk::PhysicalDeviceVulkanMemoryModelFeatures::default().vulkan_memory_model(true);
        let create = vk::DeviceCreateInfo::default()
            .queue_create_infos(&queues)
            .enabled_extension_names(&extensions)
            .enabled_features(&core)
            .push_next(&mut robust)
            .push_next(&mut describe)
            .push_next(&mut memory);
        // SAFETY: everything that the structure points to lives until the call returns. Queue family 0 exists on every
        // RADV device; where an extension or feature is missing the driver gives an error.
        let device = unsafe { instance.create_device(physical, &create, None) };
        return device.map(|device| (device, version)).map_err(|error| format!("{name} does not open: {error}"));
    }
    Err("no RADV driver among the Vulkan devices".to_owned())
}

/// A fixed-size C string of the driver's.
fn text(characters: &[c_char]) -> String {
    let bytes: Vec<u8> = characters.iter().map(|&character| character as u8).collect();
    CStr::from_bytes_until_nul(&bytes).map(|text| text.to_string_lossy().into_owned()).unwrap_or_default()
}

/// A statistic, of which none that is asked for is negative or has a fraction.
fn number(statistic: &vk::PipelineExecutableStatisticKHR<'_>) -> u32 {
    use vk::PipelineExecutableStatisticFormatKHR as Format;
    // SAFETY: the format says which member the driver wrote; each is plain old data.
    unsafe {
        match statistic.format {
            Format::BOOL32 => statistic.value.b32,
            Format::INT64 => statistic.value.i64 as u32,
            Format::UINT64 => statistic.value.u64 as u32,
            _ => statistic.value.f64 as u32,
        }
    }
}
