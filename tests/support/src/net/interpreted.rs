//! Schedules in an interpreter of kernels, which needs no driver and compiles nothing: every family and build, as GPUs
//! and software adapters run them, with sizes that are drawn, so that small tensors run as large ones do.

use std::hash::{DefaultHasher, Hash, Hasher};

use wgpu_pooling::{Build, Choice, Dispatch, Family, Limits, Plan, PreparedPlan, Schedule, Sizes, families, select};

use super::{Net, Path, TIGHT};
use crate::call::Call;
use crate::splitmix::splitmix64;

/// Loop iterations of a schedule that is interpreted: half a minute.
const MOST_WORK: u64 = 1 << 22;

/// More taps than this for a workgroup take the interpreter long, where a kernel reads every window tap by tap.
const MOST_TAPS: u64 = 1 << 11;

/// Numbers drawn from a text.
struct Draw(u64);

impl Draw {
    fn of(text: &str) -> Draw {
        let mut hasher = DefaultHasher::new();
        text.hash(&mut hasher);
        Draw(hasher.finish())
    }

    fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        self.0 = splitmix64(self.0);
        from[(self.0 >> 8) as usize % from.len()]
    }

    /// In a quarter of the draws the sizes that a plan has by itself.
    fn sizes(&mut self) -> Sizes {
        if self.pick(&[true, false, false, false]) {
            return Sizes::default();
        }
        Sizes {
            tile_lines: self.pick(&[None, Some(2), Some(4), Some(8), Some(8)]),
            strip_blocks: self.pick(&[None, Some(1), Some(2), Some(3), Some(8)]),
            run: self.pick(&[None, None, Some(2), Some(4), Some(8), Some(16)]),
            chunks: self.pick(&[None, Some(2), Some(3), Some(5), Some(8)]),
            planes: self.pick(&[None, Some(1), Some(2), Some(5)]),
            part_bytes: self.pick(&[None, Some(1 << 10), Some(1 << 11), Some(1 << 12)]),
            part_taps: self.pick(&[None, Some(2), Some(3), Some(7)]),
            members: self.pick(&[None, Some(2), Some(4), Some(8)]),
            quads: self.pick(&[None, Some(1), Some(2), Some(3), Some(4)]),
            cell_lines: self.pick(&[None, Some(1), Some(2), Some(4)]),
            idle: self.pick(&[None, Some(1), Some(64), Some(128)]),
            taps: self.pick(&[None, None, None, Some(1 << 9), Some(1 << 12)]),
        }
    }
}

impl Net {
    /// Every family and build in the interpreter, and what is selected for a device with small bindings.
    pub(super) fn in_interpreter(&self, plan: &Plan, paths: &mut Vec<Path<'_>>) {
        let mut draw = Draw::of(&format!("{plan:?}"));
        let mut found: Vec<(String, Schedule)> = Vec::new();
        let mut add = |limits: &Limits, choice: Choice, sizes: Sizes| {
            // Sizes divide outputs further than some limits allow.
            let sized = sizes.select(plan, limits, &choice);
            let Ok(schedule) = sized.or_else(|_| select(plan, limits, &choice)) else { return };
            let work = schedule.dispatches().iter().map(Dispatch::work).fold(0, u64::saturating_add);
            if work > MOST_WORK {
                return self.count("too much work to interpret");
            }
            if found.iter().all(|(_, other)| *other != schedule) {
                found.push((format!(", {} for {limits:?}, {sizes:?}", schedule.kernel()), schedule));
            }
        };
        let outputs = plan.output_shape().iter().product::<usize>() as u64;
        let taps = plan.pool().map_or(0, |pool| pool.most_taps().saturating_mul(outputs.div_ceil(64)));
        for family in families(plan, &Limits::WEBGPU) {
            let most = match family {
                Family::Strip | Family::Sliding | Family::Reducing => u64::MAX,
                Family::Teamed => 4 * MOST_TAPS,
                _ => MOST_TAPS,
            };
            if taps > most {
                continue;
            }
            // Kernels that hold several outputs, twice: more depends on their sizes.
            let twice = !matches!(family, Family::Direct | Family::Separable | Family::Accumulating);
            let builds = family.builds().iter().chain(family.builds().last().filter(|_| twice));
            for &build in builds {
                let limits = Limits { software: draw.pick(&[false, true]), ..Limits::WEBGPU };
                add(&limits, Choice { family: Some(family), build: Some(build) }, draw.sizes());
            }
        }
        if taps <= MOST_TAPS {
            let build = draw.pick(&[Build::Generic, Build::Specialised]);
            let limits = Limits { software: draw.pick(&[false, true]), ..TIGHT };
            add(&limits, Choice { family: None, build: Some(build) }, draw.sizes());
        }
        self.add("schedules", found.len() as u32);
        for (detail, schedule) in found {
            let kind = format!("interpreter {:?} {:?}", schedule.build(), schedule.family());
            let run = crate::interpreter::interpreted(schedule);
            paths.push(Path::new(kind, detail, move |call: &Call| call.outcome(|x, y| run.run_blocking(x, y))));
        }
    }
}
