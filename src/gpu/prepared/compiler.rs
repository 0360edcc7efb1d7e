//! Decides whether a call takes specialised or generic kernels, because its plan may never come again. A thread
//! compiles the specialised kernels of plans that come again.

use std::collections::HashMap;
#[cfg(not(target_arch = "wasm32"))]
use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
#[cfg(not(target_arch = "wasm32"))]
use std::thread::{Builder, JoinHandle};

use super::pipelines::Pipelines;
use crate::gpu::device::OpenDevice;
#[cfg(not(target_arch = "wasm32"))]
use crate::gpu::device::gate::contained;
use crate::gpu::device::gate::lock;
#[cfg(not(target_arch = "wasm32"))]
use crate::gpu::device::polling::join;
use crate::schedule::{Dispatch, Schedule};
use crate::wgsl::key::KernelKey;

/// The time to compile a specialised kernel, in small calls. On software Vulkan (Mesa 22.3), calls each with new
/// windows ran at 4 to 6 a second, and at 270 to 326 a second with the generic build.
const CALLS_OF_A_KERNEL: u64 = 64;

/// The loop iterations that a generic kernel does in the time of a small call, on software adapters and on GPUs. On
/// software Vulkan a call took 2 to 3 ms and an iteration 5 ns. The number for GPUs assumes 2^37 iterations a second
/// and calls of 1 ms.
const ITERATIONS_OF_A_CALL: [u64; 2] = [1 << 19, 1 << 27];

/// The most kernels whose calls are counted. The one that was wanted longest ago is forgotten.
const MOST_COUNTED: usize = 256;

/// The most kernels that wait to be compiled. If there is no place for a kernel, its calls are counted from zero again.
#[cfg(not(target_arch = "wasm32"))]
const MOST_ORDERED: usize = 64;

/// Decides when specialised kernels are worth compiling, and compiles them while calls go on with generic ones.
#[derive(Debug, Default)]
pub(in crate::gpu) struct Compiler {
    counts: Mutex<Counts>,
    #[cfg(not(target_arch = "wasm32"))]
    orders: Arc<Mutex<Orders>>,
}

/// For each kernel that was wanted and is not compiled: the time of the calls that ran a generic kernel instead.
#[derive(Debug, Default)]
struct Counts {
    kernels: HashMap<KernelKey, Count>,
    uses: u64,
}

#[derive(Debug, Default)]
struct Count {
    /// The time of these calls, in small calls.
    calls: u64,
    /// The number of the latest call.
    last_use: u64,
}

/// The kernels to compile, and the thread that compiles them. It ends when there are none, and the next order starts
/// another.
#[cfg(not(target_arch = "wasm32"))]
#[derive(Debug, Default)]
struct Orders {
    /// The first is being compiled.
    kernels: VecDeque<Dispatch>,
    running: bool,
    thread: Option<JoinHandle<()>>,
}

impl Compiler {
    /// Whether a call runs its specialised schedule, some of whose kernels are not compiled yet. It does if a generic
    /// run would take at least as long as compiling them. It also does if the calls so far have taken that long and no
    /// thread can compile the kernels. Otherwise it runs the generic schedule.
    ///
    /// This is the break-even rule of the ski rental problem: rent until the rent has come to the price, then buy. So
    /// compiling takes about as long as the earlier calls that wanted the kernels, and never many times as long.
    pub fn takes_specialised(
        &self,
        device: &Arc<OpenDevice>,
        pipelines: &Arc<Pipelines>,
        missing: Vec<&Dispatch>,
        generic: &Schedule,
    ) -> bool {
        let price = CALLS_OF_A_KERNEL * missing.len() as u64;
        let call = calls(generic, device.limits.software);
        if call >= price {
            return true;
        }
        let mut counts = lock(&self.counts);
        if counts.add(&missing, call) < price {
            return false;
        }
        for dispatch in &missing {
            counts.kernels.remove(dispatch.key());
        }
        drop(counts);
        !self.order(device, pipelines, missing)
    }

    /// Forgets which kernels were wanted.
    pub fn forget(&self) {
        lock(&self.counts).kernels.clear();
    }

    /// Orders kernels from the thread. Returns whether there is one; the web has none.
    #[cfg(target_arch = "wasm32")]
    fn order(&self, _: &Arc<OpenDevice>, _: &Arc<Pipelines>, _: Vec<&Dispatch>) -> bool {
        false
    }

    /// The kernels that the thread has not compiled yet.
    #[cfg(target_arch = "wasm32")]
    pub fn ordered(&self) -> Vec<Dispatch> {
        Vec::new()
    }

    #[cfg(not(target_arch = "wasm32"))]
    fn order(&self, device: &Arc<OpenDevice>, pipelines: &Arc<Pipelines>, kernels: Vec<&Dispatch>) -> bool {
        let mut orders = lock(&self.orders);
        for kernel in kernels {
            let is_ordered = orders.kernels.iter().any(|ordered| ordered.key() == kernel.key());
            if !is_ordered && orders.kernels.len() < MOST_ORDERED {
                orders.kernels.push_back(kernel.clone());
            }
        }
        if orders.running {
            return true;
        }
        orders.thread.take().into_iter().for_each(|thread| join(thread, "compiler"));
        let (device, pipelines, shared) = (Arc::clone(device), Arc::clone(pipelines), Arc::clone(&self.orders));
        let named = Builder::new().name("wgpu-pooling compiler".to_owned());
        match named.spawn(move || compile_all(&device, &pipelines, &shared)) {
            Ok(thread) => {
                orders.thread = Some(thread);
                orders.running = true;
            }
            Err(error) => {
                log::warn!("no thread to compile kernels: {error}");
                orders.kernels.clear();
            }
        }
        orders.running
    }

    #[cfg(not(target_arch = "wasm32"))]
    pub fn ordered(&self) -> Vec<Dispatch> {
        lock(&self.orders).kernels.iter().cloned().collect()
    }

    /// Waits until the thread is done with kernels that are compiled: until then it may look at one of them, which then
    /// counts as missing.
    #[cfg(target_arch = "wasm32")]
    pub fn until_done(&self, _: &[Dispatch]) {}

    #[cfg(not(target_arch = "wasm32"))]
    pub fn until_done(&self, kernels: &[Dispatch]) {
        let is_one = |ordered: &Dispatch| kernels.iter().any(|kernel| kernel.key() == ordered.key());
        while self.ordered().iter().any(is_one) {
            std::thread::yield_now();
        }
    }
}

#[cfg(not(target_arch = "wasm32"))]
impl Drop for Compiler {
    /// Waits for the kernel that is being compiled, so that no driver code runs while the process ends, and gives up
    /// the others.
    fn drop(&mut self) {
        let mut orders = lock(&self.orders);
        orders.kernels.clear();
        let thread = orders.thread.take();
        drop(orders);
        thread.into_iter().for_each(|thread| join(thread, "compiler"));
    }
}

impl Counts {
    /// Counts a call that wanted these kernels. Returns the shortest of the kernels' times so far.
    fn add(&mut self, wanted: &[&Dispatch], calls: u64) -> u64 {
        self.uses += 1;
        let mut least = u64::MAX;
        for dispatch in wanted {
            let count = self.kernels.entry(dispatch.key().clone()).or_default();
            count.calls = count.calls.saturating_add(calls);
            count.last_use = self.uses;
            least = least.min(count.calls);
        }
        while self.kernels.len() > MOST_COUNTED
            && let Some(oldest) = self.kernels.iter().min_by_key(|(_, count)| count.last_use)
        {
            let oldest = oldest.0.clone();
            self.kernels.remove(&oldest);
        }
        least
    }
}

/// The time of a run of a schedule, in small calls, of which each step of a composition is one.
fn calls(schedule: &Schedule, software: bool) -> u64 {
    let [on_software, on_gpus] = ITERATIONS_OF_A_CALL;
    let work = schedule.dispatches().iter().fold(0u64, |work, dispatch| work.saturating_add(dispatch.work()));
    let steps = 1 + schedule.later_families.len() as u64;
    steps + work / if software { on_software } else { on_gpus }
}

#[cfg(not(target_arch = "wasm32"))]
fn compile_all(device: &OpenDevice, pipelines: &Pipelines, orders: &Mutex<Orders>) {
    let first = || {
        let mut orders = lock(orders);
        orders.running = !orders.kernels.is_empty();
        orders.kernels.front().cloned()
    };
    while let Some(dispatch) = first() {
        let compile = || pollster::block_on(pipelines.get(device, &dispatch));
        if let Some(Err(error)) = contained("compiling a kernel", compile) {
            log::warn!("{} is not compiled: {error}", dispatch.key().name());
        }
        // None, if the last handle was dropped meanwhile.
        let done = lock(orders).kernels.pop_front();
        drop(done);
    }
}
