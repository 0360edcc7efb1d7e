//! Schedules beside the reference, on elements of all styles.

use support::call::{Call, same};
use support::draw::elements::{bits_of, mixed};
use wgpu_pooling::{Choice, Gpu, IndexType, Limits, MaxUnpool, Plan, PreparedPlan, Schedule, families, select};

/// A plan on elements that are made for it.
pub fn call(plan: Plan) -> Call {
    let spec = &plan.inputs()[0];
    let count = spec.element_count() as usize;
    let x = mixed(spec.dtype, count, count as u64);
    Call::new(plan, vec![x])
}

/// An unpool of what a pool gives, its bits, and the pool's own indices.
pub struct Undone {
    pub plan: Plan,
    pub y: Vec<u64>,
    pub own: Vec<i64>,
}

impl Undone {
    pub fn new(unpool: &MaxUnpool, pooled: &Call) -> Undone {
        let outputs = pooled.expected().unwrap();
        let index_type = pooled.plan.index_type().expect("a pool with indices");
        let dtype = pooled.plan.inputs()[0].dtype;
        let index = |bits: u64| if index_type == IndexType::I32 { (bits as u32 as i32).into() } else { bits as i64 };
        Undone {
            plan: unpool.plan(pooled.plan.output_shape(), dtype, index_type).unwrap(),
            y: bits_of(dtype, &outputs[0]),
            own: bits_of(index_type.dtype(), &outputs[1]).into_iter().map(index).collect(),
        }
    }

    /// The unpool with these indices.
    pub fn with(&self, indices: &[i64]) -> Call {
        Call::unpool(self.plan.clone(), &self.y, indices)
    }
}

/// A schedule gives the reference's bits, or its error, for each of these calls. Returns the number of its dispatches.
pub fn is_right(gpu: &Gpu, schedule: Schedule, calls: &[Call]) -> usize {
    let names: Vec<String> = schedule.dispatches().iter().map(|dispatch| dispatch.key().name().to_string()).collect();
    let kernel = schedule.kernel();
    let prepared = gpu.prepare_blocking(schedule).unwrap();
    for call in calls {
        let found = call.outcome(|x, y| prepared.run_blocking(x, y));
        same(&call.expected(), &found)
            .unwrap_or_else(|error| panic!("{kernel} by {names:?}: {error}: {:?}", &call.plan));
    }
    names.len()
}

/// The schedules that a GPU takes, and a software adapter if they are others.
pub fn schedules(plan: &Plan, limits: &Limits, choice: &Choice) -> Vec<Schedule> {
    let select = |software| {
        let limits = Limits { software, ..*limits };
        select(plan, &limits, choice).unwrap_or_else(|error| panic!("{plan:?}: {error}"))
    };
    let (hardware, software) = (select(false), select(true));
    if hardware.dispatches() == software.dispatches() { vec![hardware] } else { vec![hardware, software] }
}

/// Every family that applies under the limits gives the reference's bits. Returns the number of dispatches.
pub fn every_family(gpu: &Gpu, call: &Call, limits: &Limits) -> usize {
    let plan = &call.plan;
    let run = |family| {
        let schedule = select(plan, limits, &Choice { family: Some(family), ..Choice::default() }).unwrap();
        schedule.check(limits).unwrap();
        is_right(gpu, schedule, std::slice::from_ref(call))
    };
    let dispatches = families(plan, limits).into_iter().map(run).sum();
    assert!(dispatches > 0, "{plan:?}");
    dispatches
}
