//! The network: its plans, its schedules on a device, and one run of them.

use std::error::Error;

use examples::agreement::expected;
use wgpu_pooling::{
    Chain, Element, ExecuteError, Gpu, IndexType, Layout, MaxPool, MaxUnpool, Operand, OutsideWindow, Plan, Prepared,
    Results, Schedule, Tensor, element_count,
};

/// The most elements of the input. With more of them the reference would take minutes.
const MOST_ELEMENTS: u64 = 1 << 27;

/// The plans from the first level down.
pub struct Plans {
    pub pools: Vec<Plan>,
    pub unpools: Vec<Plan>,
}

impl Plans {
    /// Max pools of 2 x 2, stride 2, each with an unpool that undoes it, also where a side is odd.
    pub fn new<T: Element>(shape: &[usize], levels: u32) -> Result<Plans, Box<dyn Error>> {
        let elements = element_count(shape)?;
        if elements > MOST_ELEMENTS {
            return Err(format!("{shape:?} has {elements} elements, and this example takes {MOST_ELEMENTS}").into());
        }
        let pool = MaxPool::new([2, 2]).strides([2, 2]);
        let mut plans = Plans { pools: Vec::new(), unpools: Vec::new() };
        let mut shape = shape.to_vec();
        for level in 1..=levels {
            if shape[2..].iter().any(|&side| side < 2) {
                let [height, width] = [shape[2], shape[3]];
                return Err(format!("nothing is left to pool for level {level}: {height} x {width} elements").into());
            }
            let down = pool.plan(&shape, T::DTYPE, Some(IndexType::I32))?;
            // Indices of a pool lie in their own windows. An unpool that is told so is one dispatch or two, without
            // scratch memory.
            let up = MaxUnpool::inverse_of(&pool, &shape).outside_window(OutsideWindow::Error);
            let up = up.plan(down.output_shape(), T::DTYPE, IndexType::I32)?;
            shape = down.output_shape().to_vec();
            plans.pools.push(down);
            plans.unpools.push(up);
        }
        Ok(plans)
    }

    /// Runs all pools and unpools by the reference.
    pub fn by_reference<T: Element>(&self, x: &Tensor<T>) -> Result<Tensor<T>, ExecuteError> {
        let (mut y, mut levels) = (x.clone(), Vec::<Tensor<i32>>::new());
        for pool in &self.pools {
            let (maxima, indices) = expected(pool.clone(), &[(&y).into()])?;
            y = maxima;
            levels.push(indices);
        }
        for (unpool, indices) in self.unpools.iter().zip(&levels).rev() {
            y = expected(unpool.clone(), &[(&y).into(), indices.into()])?;
        }
        Ok(y)
    }
}

/// The plans on a device, compiled.
pub struct Network {
    pub pools: Vec<Prepared>,
    pub unpools: Vec<Prepared>,
}

/// Bytes across the bus.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bus {
    pub up: u64,
    pub down: u64,
}

/// What a run gives.
pub struct Run<T> {
    pub y: Tensor<T>,
    pub results: Results,
    pub bus: Bus,
}

impl Network {
    pub fn new(gpu: &Gpu, plans: &Plans) -> Result<Network, ExecuteError> {
        Ok(Network {
            pools: plans.pools.iter().map(|plan| gpu.prepare_blocking(plan.clone())).collect::<Result<_, _>>()?,
            unpools: plans.unpools.iter().map(|plan| gpu.prepare_blocking(plan.clone())).collect::<Result<_, _>>()?,
        })
    }

    /// Runs all pools and unpools in one submit. The values and indices of the levels stay on the device.
    pub fn run<T: Element>(&self, mut chain: Chain, x: &Tensor<T>) -> Result<Run<T>, ExecuteError> {
        let mut y = chain.upload(x, Layout::Nchw)?;
        let up = y.bytes();
        let mut on_device = Vec::new();
        for pool in &self.pools {
            let [maxima, indices] = chain.step(pool, &[&y])?;
            y = maxima;
            on_device.push(indices);
        }
        for (unpool, indices) in self.unpools.iter().zip(&on_device).rev() {
            [y] = chain.step(unpool, &[&y, indices])?;
        }
        let y = chain.read_back::<T>(&y)?;
        let results = chain.run_blocking()?;
        let down = results.bytes_read_back();
        Ok(Run { y: results.take(y)?, results, bus: Bus { up, down } })
    }

    /// The bytes across the bus if each operator were a call from slices to vectors: its inputs go up, its outputs and
    /// its report come down.
    pub fn call_by_call(&self) -> Bus {
        let bytes = |operand| self.schedules().filter_map(move |schedule| schedule.operand_bytes(operand));
        let total = |operand| bytes(operand).sum::<u64>();
        Bus {
            up: total(Operand::X) + total(Operand::Indices),
            down: total(Operand::Y) + total(Operand::IndicesOut) + total(Operand::Report),
        }
    }

    /// The schedules in the order in which they run.
    pub fn schedules(&self) -> impl Iterator<Item = &Schedule> {
        self.pools.iter().chain(self.unpools.iter().rev()).map(Prepared::schedule)
    }
}
