//! The algorithms that kernels come in, and their builds.

/// A way to compute a plan. All families that apply give the same bits.
///
/// ```
/// use wgpu_pooling::{select, Choice, DType, Family, Limits, MaxPool};
///
/// let plan = MaxPool::new([3, 3]).plan(&[1, 1, 9, 9], DType::F32, None)?.into();
/// let choice = Choice { family: Some(Family::Separable), ..Choice::default() };
/// assert_eq!(select(&plan, &Limits::WEBGPU, &choice)?.family(), Family::Separable);
/// # Ok::<(), wgpu_pooling::PlanError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Family {
    /// Pools: an invocation looks at every element of its window, three spatial axes at a time.
    Direct,
    /// Pools with small windows, none of them empty: an invocation computes several neighbouring outputs, loads what they share
    /// once and in wide words, and knows its window. Specialised only.
    Blocked,
    /// Pools with windows that overlap, none of them empty: a maximum that slides along one axis after another, so that the cost
    /// hardly grows with the window. Specialised only.
    Sliding,
    /// Pools of small whole planes and with large windows, NCHW: a few neighbouring invocations share a window, so that they read
    /// neighbouring words, and read the rows of a window in wide words wherever they begin. A plane is read as one row, the
    /// smallest ones by one invocation. Specialised only.
    Teamed,
    /// Pools of whole planes: many invocations share a plane, each reads a part of it in wide words and leaves a candidate, and
    /// further stages choose among those.
    Reducing,
    /// Pools: one pass for each axis, so that the cost grows with the sum of the kernel's extents. A window longer than 1024
    /// along its axis is cut into parts, each looked at tap by tap for every output.
    Separable,
    /// Pools: windows are looked at in parts, each dispatch at what one binding can hold, so that neither X nor a window can be
    /// too large for it. Slow, but always possible on up to three axes.
    Accumulating,
    /// Unpools: every output element looks at the few sources whose windows hold it. Indices that lie outside their own
    /// windows are noticed on the device, and the steps of `ClaimEmit` then follow without a round trip.
    Streaming,
    /// Unpools: every source claims its target, then every output element looks for its owner. Any indices will do.
    ClaimEmit,
    /// Index conversions: an invocation for each index.
    Convert,
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
        Family::Blocked,
        Family::Sliding,
        Family::Teamed,
        Family::Reducing,
        Family::Separable,
        Family::Accumulating,
        Family::Streaming,
        Family::ClaimEmit,
        Family::Convert,
    ];

    /// The family's name.
    pub const fn name(self) -> &'static str {
        match self {
            Family::Direct => "direct",
            Family::Blocked => "blocked",
            Family::Sliding => "sliding",
            Family::Teamed => "teamed",
            Family::Reducing => "reducing",
            Family::Separable => "separable",
            Family::Accumulating => "accumulating",
            Family::Streaming => "streaming",
            Family::ClaimEmit => "claim_emit",
            Family::Convert => "convert",
        }
    }

    /// The builds that the family's kernels have.
    ///
    /// ```
    /// use wgpu_pooling::{Build, Family};
    /// assert_eq!(Family::Direct.builds(), [Build::Generic, Build::Specialised]);
    /// assert_eq!(Family::Blocked.builds(), [Build::Specialised]);
    /// ```
    pub const fn builds(self) -> &'static [Build] {
        match self {
            Family::Direct | Family::Separable | Family::Streaming => &[Build::Generic, Build::Specialised],
            Family::Blocked | Family::Sliding | Family::Teamed => &[Build::Specialised],
            Family::Reducing | Family::Accumulating | Family::ClaimEmit | Family::Convert => &[Build::Generic],
        }
    }
}

/// How a kernel gets its window's attributes.
///
/// ```
/// use wgpu_pooling::{select, Build, Choice, DType, Limits, MaxPool};
///
/// let plan = MaxPool::new([2]).plan(&[1, 1, 4], DType::F32, None)?.into();
/// let choice = Choice { build: Some(Build::Specialised), ..Choice::default() };
/// assert_eq!(select(&plan, &Limits::WEBGPU, &choice)?.build(), Build::Specialised);
/// # Ok::<(), wgpu_pooling::PlanError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Build {
    /// From the uniform: one pipeline serves every configuration of an element type.
    #[default]
    Generic,
    /// As constants of the shader: a pipeline for each configuration.
    Specialised,
}
