//! The kernels of sliding maxima.

use wgpu_pooling_plan::NanPolicy;

use super::one_pass::positions_are_indices;
use super::partition::same_place;
use super::slide_pass::{SlidePass, SlidingRow};
use super::sliding::{NanStarts, Sliding};
use crate::kernel::{ActivationKind, Fact, Kernel, PassOutput};
use crate::wgsl::key::KernelKey;

impl Sliding<'_> {
    /// The kernel of a pass.
    pub fn kernel(&self, pass: &SlidePass) -> KernelKey {
        let (plan, slide, lanes) = (self.plan, &pass.slide, pass.lanes());
        // What is kept for another pass is not activated.
        let (sink, activation) = match pass.is_last {
            true => (PassOutput::of(plan), self.activation_kind),
            false => (PassOutput::Candidates, ActivationKind::Identity),
        };
        let (entry, along) = match pass.row {
            None => ("pool_sliding", ""),
            Some(SlidingRow { even: true, .. }) => ("pool_sliding_row", " along fours"),
            Some(_) => ("pool_sliding_row", " along a row"),
        };
        let dtype = plan.dtype().name();
        let from = if pass.number == 0 { "X" } else { "kept" };
        let to = if pass.is_last { sink.name() } else { "kept" };
        let (chunks, chunk) = (slide.chunks, slide.chunk);
        let name =
            format!("pool {dtype} sliding from {from} to {to}, {chunks} chunks of {chunk}, {lanes} lanes{along}");
        let by_digits = sink.index_type().is_some() && !(positions_are_indices(plan) && same_place(plan));
        let digits = self.epilogue.index_digits(plan).consts().into_iter().filter(|_| by_digits);
        let kernel = Kernel::of_pool(name, entry, plan, sink, activation).with(self.facts(pass));
        kernel.constants(slide.window()).constants(self.consts(pass)).constants(digits).into()
    }

    /// What chooses the parts of the kernel. Kernels that have the same parts have the same facts.
    fn facts(&self, pass: &SlidePass) -> impl Iterator<Item = Fact> + use<> {
        let (plan, first, last, lanes) = (self.plan, pass.number == 0, pass.is_last, pass.lanes());
        // Whether the key alone tells which element it is.
        let whole = plan.dtype().bytes() <= 4 && plan.nan_policy != NanPolicy::PropagateLast;
        let facts = [
            ("KEY_IS_ELEMENT", !plan.dtype().is_float() || whole),
            ("FIRST", first),
            ("LAST", last),
            ("PLACES", plan.indices.is_some() && !last),
            ("FOURS", pass.row.is_some_and(|row| row.even)),
            ("X_LANES", first && pass.row.is_none() && lanes > 1 && self.even_source(lanes)),
            ("FLAGS", self.nan_starts == NanStarts::PerGroup && (first || last)),
            ("NOTES", matches!(self.nan_starts, NanStarts::PerWindow(_)) && first),
        ];
        let numbers = [("LANES", lanes as u32), ("LANE_BYTES", self.layout.bytes as u32)];
        facts.into_iter().map(|(name, is)| (name, is.into())).chain(numbers)
    }

    /// The constants, without those of the window and of index digits.
    fn consts(&self, pass: &SlidePass) -> Vec<Fact> {
        let plan = self.plan;
        let mut consts = vec![("RUN", pass.run as u32)];
        if pass.is_last {
            consts.extend(pass.slide.first_elements(plan));
            if let NanStarts::PerWindow(windows) = self.nan_starts {
                consts.push(("NOTED", windows));
            }
        }
        consts.extend([
            ("NAN_POLICY", plan.nan_policy as u32),
            ("PARTIAL", self.partial(pass).into()),
            ("POSITION_INDEX", positions_are_indices(plan).into()),
            ("SAME_PLACE", same_place(plan).into()),
        ]);
        consts.extend(pass.row.map(|row| ("LEFT", row.left)));
        consts
    }
}
