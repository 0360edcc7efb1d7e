//! A kernel as the key of the pipeline cache.

use std::hash::{Hash, Hasher};
use std::sync::{Arc, OnceLock};

use super::link::{Linked, link};
use crate::kernel::{Binding, INPUT_BINDINGS, Kernel};

/// Everything that a kernel's text depends on. Equal keys share a pipeline.
///
/// ```
/// use wgpu_pooling::{select, Choice, DType, KernelKey, Limits, MaxPool};
///
/// // The shape is no part of it.
/// let key = |extent| -> Result<KernelKey, wgpu_pooling::PlanError> {
///     let plan = MaxPool::new([2]).plan(&[1, 1, extent], DType::F32, None)?;
///     Ok(select(&plan, &Limits::WEBGPU, &Choice::default())?.dispatches()[0].key().clone())
/// };
/// assert_eq!(key(8)?, key(9)?);
/// # Ok::<(), wgpu_pooling::PlanError>(())
/// ```
#[derive(Debug, Clone)]
pub struct KernelKey(Arc<LinkedKernel>);

/// A kernel, and its linked parts, which are computed on first use.
#[derive(Debug)]
struct LinkedKernel {
    kernel: Kernel,
    linked: OnceLock<Linked>,
}

impl From<Kernel> for KernelKey {
    fn from(kernel: Kernel) -> KernelKey {
        KernelKey(Arc::new(LinkedKernel { kernel, linked: OnceLock::new() }))
    }
}

impl PartialEq for KernelKey {
    fn eq(&self, other: &KernelKey) -> bool {
        Arc::ptr_eq(&self.0, &other.0) || self.0.kernel == other.0.kernel
    }
}

impl Eq for KernelKey {}

impl Hash for KernelKey {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.kernel.hash(state);
    }
}

impl KernelKey {
    /// The kernel's name: operator, types and build, for labels and logs.
    pub fn name(&self) -> &str {
        &self.0.kernel.name
    }

    /// The storage bindings of the kernel, in the order of their numbers.
    pub fn bindings(&self) -> &[Binding] {
        &self.linked().bindings
    }

    /// This kernel with X and the indices that it reads declared writable; itself if it reads neither.
    pub(crate) fn with_writable_inputs(&self) -> KernelKey {
        let reads = |binding: &Binding| binding.read_only && INPUT_BINDINGS.contains(&binding.number);
        if !self.bindings().iter().any(reads) {
            return self.clone();
        }
        let kernel = self.kernel().clone();
        let name = format!("{}, writable inputs", kernel.name);
        Kernel { name, writable_inputs: true, ..kernel }.into()
    }

    /// The invocations of a workgroup.
    pub(crate) fn workgroup(&self) -> u32 {
        self.linked().workgroup
    }

    pub(crate) fn kernel(&self) -> &Kernel {
        &self.0.kernel
    }

    pub(crate) fn linked(&self) -> &Linked {
        self.0.linked.get_or_init(|| link(&self.0.kernel))
    }
}
