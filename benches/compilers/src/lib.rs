pub mod family;
pub mod spirv;
pub mod vulkan;
pub mod worker;
