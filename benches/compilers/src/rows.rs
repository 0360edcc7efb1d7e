//! What is judged: every row of the crate's catalogue in every type and layout, as `select` schedules it.

use wgpu_pooling::{
    Choice, DType, Dispatch, Family, IndexType, Layout, Limits, NanPolicy, Plan, PlanError, Schedule, select,
};

use crate::catalogue::Row;
use crate::work::Plans;

/// What wgpu allows on the cards of today: buffers and bindings of two gigabytes.
pub const LIMITS: Limits =
    Limits { max_buffer_bytes: (2 << 30) - 1, max_binding_bytes: (2 << 30) - 4, ..Limits::WEBGPU };

/// The types, layouts and NaN rule in which rows are judged.
#[derive(Debug, Clone)]
pub struct Ask {
    pub dtypes: Vec<DType>,
    pub layouts: Vec<Layout>,
    /// A NaN rule instead of each row's own.
    pub nan_policy: Option<NanPolicy>,
    /// A family of kernels instead of the one that is selected; cases to which it does not apply are left out.
    pub kernels: Option<Family>,
}

/// A row in a type and a layout.
#[derive(Debug, Clone)]
pub struct Case {
    pub row: String,
    pub dtype: DType,
    pub layout: Layout,
    pub nan_policy: NanPolicy,
    pub schedule: Schedule,
    /// The pool whose indices an unpool has. Those of other unpools are random.
    pub filled_by: Option<Plan>,
    /// N, C and the spatial extents of what is pooled.
    pub pooled: Vec<usize>,
    /// The type of the indices, if there are any.
    pub indices: Option<IndexType>,
}

impl Case {
    /// The dispatches of a run in scratch memory that is clear already.
    pub fn dispatches(&self) -> &[Dispatch] {
        &self.schedule.dispatches()[usize::from(self.schedule.clears_scratch())..]
    }

    /// Whether an unpool's indices are random, so that most lie outside their sources' windows.
    pub fn general(&self) -> bool {
        matches!(self.schedule.plan(), Plan::Unpool(_)) && self.filled_by.is_none()
    }

    /// The most time that the card may take, over that of a copy.
    pub fn limit(&self) -> f64 {
        match self.dtype.bytes() {
            _ if self.general() => 5.0,
            _ if self.schedule.bytes_moved() <= LARGE => 3.0,
            1 => 3.0,
            2 => 2.0,
            _ => 1.25,
        }
    }
}

/// The bytes from which on a schedule has to be nearly as fast as a copy.
const LARGE: u64 = 64_000_000;

/// The cases of a row: in each of the given types and layouts, or only in those that the row asks for.
pub fn cases(row: &Row, ask: &Ask) -> Result<Vec<Case>, PlanError> {
    let mut cases = Vec::new();
    for &dtype in ask.dtypes.iter().filter(|dtype| row.dtype.is_none_or(|own| own == **dtype)) {
        for &layout in ask.layouts.iter().filter(|layout| row.layout == Layout::Nchw || row.layout == **layout) {
            let nan_policy = ask.nan_policy.unwrap_or(row.nan_policy);
            let row = Row { layout, nan_policy, ..row.clone() };
            let Plans { plan, filled_by } = Plans::new(&row, dtype)?;
            let schedule = match select(&plan, &LIMITS, &Choice { family: ask.kernels, build: None }) {
                Err(_) if ask.kernels.is_some() => continue,
                schedule => schedule?,
            };
            let Row { name, pooled, indices, .. } = row;
            cases.push(Case { row: name, dtype, layout, nan_policy, schedule, filled_by, pooled, indices });
        }
    }
    Ok(cases)
}

/// The layout's name.
pub fn layout_name(layout: Layout) -> &'static str {
    match layout {
        Layout::Nchw => "NCHW",
        Layout::Nhwc => "NHWC",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalogue;

    fn of(name: &str) -> Vec<Case> {
        let rows = catalogue::parse(catalogue::OWN).unwrap();
        let row = rows.iter().find(|row| row.name == name).unwrap();
        let ask = Ask {
            dtypes: vec![DType::F32, DType::F16, DType::U8],
            layouts: vec![Layout::Nchw, Layout::Nhwc],
            nan_policy: None,
            kernels: None,
        };
        cases(row, &ask).unwrap()
    }

    #[test]
    fn a_row_is_judged_in_every_type_and_layout_but_where_it_has_its_own() {
        assert_eq!(of("stem_3x3s2p1").len(), 6);
        assert_eq!(of("f16_2x2s2_i32").iter().map(|case| case.dtype).collect::<Vec<_>>(), [DType::F16; 2]);
        assert!(of("nhwc_2x2s2").iter().all(|case| case.layout == Layout::Nhwc));
    }

    #[test]
    fn a_limit_follows_from_the_bytes_and_their_type() {
        let limits = |name: &str| of(name).iter().map(Case::limit).collect::<Vec<_>>();
        assert_eq!(limits("vgg_2x2s2"), [1.25, 1.25, 2.0, 2.0, 3.0, 3.0]);
        assert_eq!(limits("global_7x7")[0], 3.0, "13 MB");
        assert_eq!(limits("unpool_random")[0], 5.0);
    }
}
