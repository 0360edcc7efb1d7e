//! Kernel families, each one algorithm, and their builds.

use wgpu_pooling_plan::PlanError;

/// A family of kernels: one algorithm that computes plans. All families that apply to a plan give the same bits.
///
/// ```
/// use wgpu_pooling::{select, Choice, DType, Family, Limits, MaxPool};
///
/// let plan = MaxPool::new([3, 3]).plan(&[1, 1, 9, 9], DType::F32, None)?;
/// let choice = Choice { family: Some(Family::Separable), ..Choice::default() };
/// assert_eq!(select(&plan, &Limits::WEBGPU, &choice)?.family(), Family::Separable);
/// # Ok::<(), wgpu_pooling::PlanError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Family {
    /// Pools: an invocation reads its whole window; a pass covers up to three spatial axes.
    Direct,
    /// Pools with small windows, none of them empty: an invocation computes a thread tile of neighbouring outputs and
    /// loads shared elements once, in wide loads. Specialised only.
    ThreadTile,
    /// Pools with windows of 8 to 31 lines and columns that move by one element, none of them empty: both axes in one
    /// dispatch, unless elements have 64 bits. Eight invocations compute a strip of Y. Specialised only.
    Strip,
    /// Pools with overlapping windows, none of them empty: a sliding maximum along one axis at a time, so that the cost
    /// hardly grows with the window. Specialised only.
    Sliding,
    /// Pools of small whole planes and with large windows, NCHW: a team of neighbouring invocations shares a window and
    /// reads its rows in wide loads of neighbouring words, wherever the rows begin. A plane is read as one row; the
    /// smallest planes are read by one invocation. Specialised only.
    Teamed,
    /// Pools of whole planes in two dispatches: in the first, workgroups read parts of a plane in wide loads and write
    /// a candidate each; the second reduces the candidates of each plane.
    Reducing,
    /// Pools: one pass per axis, so that the cost grows with the sum of the kernel's extents. Windows of more than 1024
    /// taps along an axis are cut into parts, which are reduced tap by tap.
    Separable,
    /// Pools: windows are reduced in parts, each dispatch reading as much as one binding holds, so that no X or window
    /// is too large. Slow, but always possible on up to three spatial axes.
    Accumulating,
    /// Unpools: every output element is gathered from the few sources whose windows cover it. A source whose index
    /// lies outside its own window claims the element that the index names, and a later dispatch decides which source
    /// wins, unless [`OutsideWindow`](crate::OutsideWindow) skips or forbids such indices.
    Gather,
    /// Unpools: every source claims its target element, then every output element reads its owner. Works for any
    /// indices.
    ClaimEmit,
}

impl Family {
    /// Every family.
    ///
    /// ```
    /// use wgpu_pooling::Family;
    /// assert!(Family::ALL.iter().all(|family| !family.builds().is_empty()));
    /// ```
    pub const ALL: &'static [Family] = &[
        Family::Direct,
        Family::ThreadTile,
        Family::Strip,
        Family::Sliding,
        Family::Teamed,
        Family::Reducing,
        Family::Separable,
        Family::Accumulating,
        Family::Gather,
        Family::ClaimEmit,
    ];

    /// The family's name.
    pub const fn name(self) -> &'static str {
        match self {
            Family::Direct => "direct",
            Family::ThreadTile => "thread_tile",
            Family::Strip => "strip",
            Family::Sliding => "sliding",
            Family::Teamed => "teamed",
            Family::Reducing => "reducing",
            Family::Separable => "separable",
            Family::Accumulating => "accumulating",
            Family::Gather => "gather",
            Family::ClaimEmit => "claim_emit",
        }
    }

    /// The error of a plan to which the family does not apply, with the reason.
    pub(crate) fn refuse<T>(self, reason: &'static str) -> Result<T, PlanError> {
        Err(PlanError::KernelDoesNotApply { kernel: self.name(), reason })
    }

    /// The builds that the family's kernels have.
    ///
    /// ```
    /// use wgpu_pooling::{Build, Family};
    /// assert_eq!(Family::Direct.builds(), [Build::Generic, Build::Specialised]);
    /// assert_eq!(Family::ThreadTile.builds(), [Build::Specialised]);
    /// ```
    pub const fn builds(self) -> &'static [Build] {
        match self {
            Family::Direct | Family::Separable | Family::Gather => &[Build::Generic, Build::Specialised],
            Family::ThreadTile | Family::Strip | Family::Sliding | Family::Teamed => &[Build::Specialised],
            Family::Reducing | Family::Accumulating | Family::ClaimEmit => &[Build::Generic],
        }
    }
}

/// How a kernel gets its window's attributes.
///
/// ```
/// use wgpu_pooling::{select, Build, Choice, DType, Limits, MaxPool};
///
/// let plan = MaxPool::new([2]).plan(&[1, 1, 4], DType::F32, None)?;
/// let choice = Choice { build: Some(Build::Specialised), ..Choice::default() };
/// assert_eq!(select(&plan, &Limits::WEBGPU, &choice)?.build(), Build::Specialised);
/// # Ok::<(), wgpu_pooling::PlanError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Build {
    /// From the uniform: one pipeline serves every configuration of an element type.
    #[default]
    Generic,
    /// As constants of the shader: one pipeline per configuration.
    Specialised,
}
