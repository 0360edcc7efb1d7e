//! The names of the kernels.

/// A kernel of the CPU backend. The choice of a kernel changes the running time and no bit of the result.
///
/// ```
/// use wgpu_pooling::{Cpu, CpuKernel, DType, IndexType, MaxPool};
///
/// // A plan has a best kernel, and the general one computes every plan.
/// let pool = MaxPool::new([13, 13]).pads([6, 6, 6, 6]);
/// let plan = pool.plan(&[1, 8, 40, 40], DType::F32, Some(IndexType::I64))?;
/// assert_eq!(Cpu::new().prepare(plan.clone())?.kernel(), CpuKernel::Separable);
/// assert_eq!(Cpu::new().with_kernel(CpuKernel::General).prepare(plan)?.kernel(), CpuKernel::General);
/// # Ok::<(), wgpu_pooling::ExecuteError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum CpuKernel {
    /// For every plan: computes one output, or one index, after the other.
    General,
    /// For pools with small windows: a row of outputs takes the taps of one row of X after the other.
    Direct,
    /// For pools without indices, with two axes or more, windows of up to 125 x 125 and small strides along the rows:
    /// rows of X that follow each other in memory are reduced as one row, long windows in steps.
    Flat,
    /// For pools of small planes or short rows: interleaves the elements of several planes and pools them like channels
    /// that lie innermost.
    Interleaved,
    /// For pools: computes the maxima of columns over the rows of a window, then the maxima along the columns.
    Columns,
    /// For pools whose windows are runs of neighbouring elements, such as whole planes or windows along rows: computes
    /// the maximum of each run, then searches for it.
    Global,
    /// For pools: reduces a block of X in cache along one axis after the other.
    Separable,
    /// For unpools: fills a plane of Y with zeros, then writes the elements of X to it.
    Scatter,
}

impl CpuKernel {
    /// Every kernel.
    ///
    /// ```
    /// use wgpu_pooling::CpuKernel;
    /// assert!(CpuKernel::ALL.contains(&CpuKernel::General));
    /// ```
    pub const ALL: &'static [CpuKernel] = &[
        CpuKernel::General,
        CpuKernel::Direct,
        CpuKernel::Flat,
        CpuKernel::Interleaved,
        CpuKernel::Columns,
        CpuKernel::Global,
        CpuKernel::Separable,
        CpuKernel::Scatter,
    ];

    /// The kernel's name.
    pub const fn name(self) -> &'static str {
        match self {
            CpuKernel::General => "general",
            CpuKernel::Direct => "direct",
            CpuKernel::Flat => "flat",
            CpuKernel::Interleaved => "interleaved",
            CpuKernel::Columns => "columns",
            CpuKernel::Global => "global",
            CpuKernel::Separable => "separable",
            CpuKernel::Scatter => "scatter",
        }
    }
}
