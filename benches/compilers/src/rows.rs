//! What is judged: every row of the crate's catalogue in every type and layout, as `select` schedules it.

use wgpu_pooling::{Choice, DType, Dispatch, Family, Layout, Limits, NanPolicy, Operand, PlanError, Schedule, select};

use crate::catalogue::{IndexSource, Operator, Row};
use crate::judge::Known;
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
}

/// A row in a type and a layout.
#[derive(Debug, Clone)]
pub struct Case {
    pub row: String,
    pub dtype: DType,
    pub layout: Layout,
    pub nan_policy: NanPolicy,
    /// The extents of the largest window along three axes.
    pub widest: [u64; 3],
    pub schedule: Schedule,
    /// The largest part of the memory time that arithmetic may take.
    pub target: f64,
    /// Whether the indirect dispatches of an unpool run; they do if the indices are random.
    pub indirect: bool,
}

impl Case {
    /// What is known of the loops of a dispatch's kernel.
    pub fn known(&self, dispatch: &Dispatch, workgroup: u32) -> Known {
        let shape = self.schedule.output_shape();
        let innermost = match self.layout {
            Layout::Nchw => shape.len().checked_sub(1),
            Layout::Nhwc => shape.len().checked_sub(2),
        };
        let line = innermost.and_then(|axis| shape.get(axis)).map_or(1, |&extent| extent.max(1) as u64);
        let outputs: f64 = shape.iter().map(|&extent| extent as f64).product();
        let same = self.schedule.dispatches().iter().filter(|it| it.key() == dispatch.key());
        let invocations = same.map(groups).sum::<u64>() * u64::from(workgroup);
        let lines = outputs / line as f64 / invocations.max(1) as f64;
        Known { widest: self.widest, axes: shape.len() as u64, line, lines }
    }

    /// The bytes of X that an invocation of a dispatch loads. They are known in the first pass of a pool of whole
    /// planes, whose invocations share the planes and load no element twice.
    pub fn share_of_x(&self, dispatch: &Dispatch, workgroup: u32) -> Option<f64> {
        let first = self.schedule.dispatches().first()?;
        if self.schedule.family() != Family::Reducing || first.key() != dispatch.key() {
            return None;
        }
        let same = self.schedule.dispatches().iter().filter(|it| it.key() == dispatch.key());
        let invocations = same.map(groups).sum::<u64>() * u64::from(workgroup);
        Some(self.schedule.operand_bytes(Operand::X)? as f64 / invocations.max(1) as f64)
    }

    /// The dispatches that run.
    pub fn running(&self) -> impl Iterator<Item = &Dispatch> {
        self.schedule.dispatches().iter().filter(|dispatch| self.indirect || dispatch.indirect().is_none())
    }
}

fn groups(dispatch: &Dispatch) -> u64 {
    dispatch.grid().into_iter().map(u64::from).product()
}

/// The cases of a row: in each of the given types and layouts, or only in those that the row asks for.
pub fn cases(row: &Row, ask: &Ask) -> Result<Vec<Case>, PlanError> {
    let mut cases = Vec::new();
    for &dtype in ask.dtypes.iter().filter(|dtype| row.dtype.is_none_or(|own| own == **dtype)) {
        for &layout in ask.layouts.iter().filter(|layout| row.layout == Layout::Nchw || row.layout == **layout) {
            let nan_policy = ask.nan_policy.unwrap_or(row.nan_policy);
            let row = Row { layout, nan_policy, ..row.clone() };
            let plan = Plans::new(&row, dtype)?.plan;
            let schedule = select(&plan, &LIMITS, &Choice::default())?;
            // The arithmetic of windows up to 5x5 may take only half of the memory time, since a card does not overlap
            // arithmetic and memory everywhere.
            let widest = window(&row);
            let small = widest.into_iter().all(|extent| extent <= 5);
            let target = if small { 0.5 } else { 1.0 };
            let indirect = matches!(row.operator, Operator::MaxUnpool { indices: IndexSource::Random, .. });
            cases.push(Case { row: row.name, dtype, layout, nan_policy, widest, schedule, target, indirect });
        }
    }
    Ok(cases)
}

/// The extents of a row's largest window along three axes. Axes that the row lacks come first, and have one tap.
fn window(row: &Row) -> [u64; 3] {
    let mut widest = [1; 3];
    for (to, from) in widest.iter_mut().rev().zip(extents(row).into_iter().rev()) {
        *to = from.max(1) as u64;
    }
    widest
}

fn extents(row: &Row) -> Vec<i64> {
    match &row.operator {
        Operator::MaxPool(window) | Operator::MaxUnpool { window, .. } => window.kernel_shape.clone(),
        Operator::GlobalMaxPool => row.pooled[2..].iter().map(|&extent| extent as i64).collect(),
        Operator::AdaptiveMaxPool { output_size } => {
            // If the extents do not divide evenly, a window has at most two elements more than the quotient.
            let widest = |(&input, &output): (&usize, &i64)| {
                let (input, output) = (input as i64, output.max(1));
                if input % output == 0 { input / output } else { input / output + 2 }
            };
            row.pooled[2..].iter().zip(output_size).map(widest).collect()
        }
    }
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
    fn small_windows_have_to_leave_half_of_the_time() {
        assert_eq!(of("sppf_5x5s1p2")[0].target, 0.5);
        assert_eq!(of("adaptive_7x7")[0].target, 0.5);
        assert_eq!(of("spp_13x13s1p6")[0].target, 1.0);
        assert_eq!(of("global_7x7")[0].target, 1.0);
    }

    #[test]
    fn the_first_pass_over_planes_loads_each_byte_once() {
        let case = &of("global_512x512")[0];
        let [first, second] = [0, 1].map(|number| &case.schedule.dispatches()[number]);
        let share = case.share_of_x(first, 64).unwrap();
        assert_eq!(share * 64.0 * groups(first) as f64, case.schedule.operand_bytes(Operand::X).unwrap() as f64);
        assert_eq!(case.share_of_x(second, 64), None);
        let small = &of("vgg_2x2s2")[0];
        assert_eq!(small.share_of_x(&small.schedule.dispatches()[0], 64), None);
    }

    #[test]
    fn the_general_path_of_an_unpool_runs_where_indices_are_random() {
        let dispatches = |name: &str| of(name)[0].running().count();
        assert!(dispatches("unpool_2x2s2") < dispatches("unpool_random"));
    }
}
