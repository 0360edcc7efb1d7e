//! The ways in which the CPU backend computes a plan: kernels, levels of vector instructions, threads, and what the
//! threads' processors make of subnormal floats.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::OnceLock;

use rayon::{ThreadPool, ThreadPoolBuilder};
use wgpu_pooling::{Cpu, CpuKernel, ExecuteError, Plan, PlanError, PreparedCpu, SimdLevel};

use crate::flags::{KNOWN, take_subnormals_for_zeros};

/// The kernel that the backend chooses, then every kernel that applies, at each of these levels, with a name.
pub fn ways(plan: &Plan, levels: &[SimdLevel]) -> Result<Vec<(String, PreparedCpu)>, ExecuteError> {
    let mut ways = Vec::new();
    for &level in levels {
        let cpu = Cpu::new().with_simd(level)?;
        let chosen = cpu.prepare(plan.clone())?;
        ways.push((format!("{} chosen, {}", chosen.kernel().name(), level.name()), chosen));
        for &kernel in CpuKernel::ALL {
            if let Some(prepared) = applying(&cpu, kernel, plan)? {
                ways.push((format!("{}, {}", kernel.name(), level.name()), prepared));
            }
        }
    }
    Ok(ways)
}

/// A plan in a kernel, if the kernel applies. The general kernel applies to every plan; of the others one may be
/// refused as such, and for no other reason.
pub fn applying(cpu: &Cpu, kernel: CpuKernel, plan: &Plan) -> Result<Option<PreparedCpu>, ExecuteError> {
    match cpu.clone().with_kernel(kernel).prepare(plan.clone()) {
        Err(ExecuteError::Plan(PlanError::KernelDoesNotApply { kernel: refused, .. }))
            if refused == kernel.name() && kernel != CpuKernel::General =>
        {
            Ok(None)
        }
        prepared => {
            let prepared = prepared?;
            assert_eq!(prepared.kernel(), kernel, "the kernel that was asked for");
            Ok(Some(prepared))
        }
    }
}

/// Which threads of a call take subnormal floats for zeros.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flushing {
    None,
    All,
    Caller,
    AllButTheCaller,
}

impl Flushing {
    fn of(self, thread: usize) -> bool {
        match self {
            Flushing::None => false,
            Flushing::All => true,
            Flushing::Caller => thread == 0,
            Flushing::AllButTheCaller => thread > 0,
        }
    }
}

/// Threads that share a call.
pub struct Host {
    flushing: Flushing,
    /// The threads, of which the first one makes the call; `None` for those of rayon's global pool, which all take
    /// subnormals for zeros, while the thread that makes the call is none of them and does not.
    threads: Option<ThreadPool>,
}

impl Host {
    fn new(count: usize, flushing: Flushing) -> Host {
        let start = move |thread: usize| {
            if flushing.of(thread) {
                take_subnormals_for_zeros();
            }
        };
        let threads = ThreadPoolBuilder::new().num_threads(count).start_handler(start).build().unwrap();
        Host { flushing, threads: Some(threads) }
    }

    /// The host of a caller that is no thread of the pool, so that others compute all parts of a large call. `None` if
    /// rayon's global pool was used before.
    fn outside() -> Option<Host> {
        let threads = ThreadPoolBuilder::new().num_threads(3).start_handler(|_| take_subnormals_for_zeros());
        threads.build_global().ok().map(|()| Host { flushing: Flushing::AllButTheCaller, threads: None })
    }

    /// Hosts of few threads and of more than there are processors, with each setting. Where it is not known how a
    /// processor is told to take subnormals for zeros, all are in the default mode.
    pub fn all() -> &'static [Host] {
        static HOSTS: OnceLock<Vec<Host>> = OnceLock::new();
        HOSTS.get_or_init(|| {
            use Flushing::{All, AllButTheCaller, Caller, None};
            let hosts = [(1, None), (3, All), (8, None), (1, All), (3, Caller), (3, None), (8, AllButTheCaller)];
            let hosts = hosts.into_iter().chain([(3, AllButTheCaller), (8, All), (8, Caller)]);
            let hosts = hosts.filter(|(_, flushing)| KNOWN || *flushing == None);
            let outside = KNOWN.then(Host::outside).flatten();
            hosts.map(|(count, own)| Host::new(count, own)).chain(outside).collect()
        })
    }

    /// A host whose threads all take subnormals for zeros, if it is known how they are told.
    pub fn flushing() -> Option<&'static Host> {
        Host::all().iter().find(|host| host.flushing == Flushing::All)
    }

    /// Makes a call on the first thread, or on this one, which is in the default mode.
    pub fn call<R: Send>(&self, call: impl Fn() -> R + Sync) -> R {
        let Some(threads) = &self.threads else { return call() };
        let results = threads.broadcast(|thread| (thread.index() == 0).then(&call));
        results.into_iter().flatten().next().expect("there is a first thread")
    }

    /// What each thread answers, the one that makes calls first.
    pub fn each<R: Send>(&self, ask: impl Fn() -> R + Sync) -> Vec<R> {
        match &self.threads {
            Some(threads) => threads.broadcast(|_| ask()),
            None => [ask()].into_iter().chain(rayon::broadcast(|_| ask())).collect(),
        }
    }

    /// Whether each thread takes subnormals for zeros, the one that makes calls first.
    pub fn flushes(&self) -> Vec<bool> {
        let count = self.threads.as_ref().map_or(4, ThreadPool::current_num_threads);
        (0..count).map(|thread| self.flushing.of(thread)).collect()
    }
}

impl fmt::Display for Host {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} threads, subnormals are zeros for {:?}", self.flushes().len(), self.flushing)
    }
}

/// How a case is computed by a kernel.
#[derive(Clone, Copy)]
pub struct Way {
    pub level: SimdLevel,
    pub host: &'static Host,
}

impl fmt::Display for Way {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}, {}", self.level.name(), self.host)
    }
}

/// Drawn cases, each of which runs in every kernel that applies. The cases that a kernel computes for an operator take
/// all ways in turn: each level on each host.
#[derive(Default)]
pub struct Turns {
    first: usize,
    computed: RefCell<BTreeMap<(String, &'static str), usize>>,
}

impl Turns {
    /// Begins at a turn.
    pub fn at(first: usize) -> Turns {
        Turns { first, ..Turns::default() }
    }

    fn ways() -> usize {
        Host::all().len() * SimdLevel::available().len()
    }

    /// The way that is next for an operator in a kernel.
    pub fn way(&self, operator: &str, kernel: CpuKernel) -> Way {
        let (levels, hosts) = (SimdLevel::available(), Host::all());
        let computed = self.computed.borrow().get(&(operator.to_owned(), kernel.name())).copied().unwrap_or(0);
        let number = self.first.wrapping_add(computed) % Turns::ways();
        // Neighbouring cases are at different levels, and a host is at another one in each round of hosts.
        let (round, host) = (number / hosts.len(), number % hosts.len());
        Way { level: levels[(round + host) % levels.len()], host: &hosts[host] }
    }

    /// Counts a case that was computed in the way that was next.
    pub fn count(&self, operator: &str, kernel: CpuKernel) {
        *self.computed.borrow_mut().entry((operator.to_owned(), kernel.name())).or_default() += 1;
    }

    /// The operators that kernels have computed; a composition is named by its steps.
    pub fn operators(&self) -> BTreeSet<String> {
        self.computed.borrow().keys().map(|(operator, _)| operator.clone()).collect()
    }

    /// Whether these kernels have computed each of these operators in every way.
    ///
    /// # Panics
    /// If not.
    pub fn is_complete<S: AsRef<str>>(&self, operators: impl IntoIterator<Item = S>, kernels: &[CpuKernel]) {
        let computed = self.computed.borrow();
        for operator in operators {
            let operator = operator.as_ref();
            for kernel in kernels.iter().map(|kernel| kernel.name()) {
                let count = computed.get(&(operator.to_owned(), kernel)).copied().unwrap_or(0);
                let ways = Turns::ways();
                assert!(count >= ways, "{operator} ran in {kernel} {count} times, and there are {ways} ways");
            }
        }
    }
}
