//! Every element type on both backends against the reference, whose plain loops define what plans mean.

use std::sync::Arc;

use fastrand::Rng;
use js_sys::{Function, Promise};
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::JsFuture;
use wgpu_pooling::{
    AdaptiveMaxPool, Backend as _, CeilRule, DType, ExecuteError, GlobalMaxPool, IndexFlattening, IndexType, Layout,
    MaxPool, MaxUnpool, NanPolicy, Open, Plan, Pooling, PreparedPlan, Reference, StorageOrder, TensorMut, TensorRef,
    TopHat,
};

use crate::backend::Backend;
use crate::thrown;

/// What both backends made of the cases.
#[wasm_bindgen]
pub struct Check {
    dtypes: Vec<String>,
    cases: u32,
    agreed: u32,
    bytes: u32,
    failures: Vec<String>,
}

#[wasm_bindgen]
impl Check {
    /// The element types that were tried.
    #[wasm_bindgen(getter)]
    pub fn dtypes(&self) -> Vec<String> {
        self.dtypes.clone()
    }

    /// The number of cases: an operator with its options on random data, on one backend.
    #[wasm_bindgen(getter)]
    pub fn cases(&self) -> u32 {
        self.cases
    }

    /// The number of cases whose outputs all have the bits of the reference.
    #[wasm_bindgen(getter)]
    pub fn agreed(&self) -> u32 {
        self.agreed
    }

    /// The number of bytes that were compared.
    #[wasm_bindgen(getter)]
    pub fn bytes(&self) -> u32 {
        self.bytes
    }

    /// What the other cases had instead, a line for each.
    #[wasm_bindgen(getter)]
    pub fn failures(&self) -> Vec<String> {
        self.failures.clone()
    }
}

/// Runs every case in every element type on these backends. `progress` is called with each element type before its
/// cases; if it returns a promise, that is awaited, so that the page is drawn in between.
#[wasm_bindgen]
pub async fn check(backends: Vec<Backend>, seed: u32, progress: Function) -> Result<Check, JsError> {
    let mut random = Rng::with_seed(seed.into());
    let mut check = Check { dtypes: Vec::new(), cases: 0, agreed: 0, bytes: 0, failures: Vec::new() };
    for dtype in DType::ALL {
        // What the page's function throws is the page's affair.
        if let Ok(promise) = progress.call1(&JsValue::NULL, &dtype.name().into()) {
            let _ = JsFuture::from(Promise::resolve(&promise)).await;
        }
        check.dtypes.push(dtype.name().to_owned());
        for case in cases(dtype).map_err(thrown)? {
            let inputs = case.inputs(&mut random).await.map_err(thrown)?;
            let mut expected = outputs(&case.plan, 0);
            run(Reference.prepare(case.plan.clone()), &inputs, &mut expected).await.map_err(thrown)?;
            for backend in &backends {
                // Elements that no kernel writes would keep this garbage.
                let mut computed = outputs(&case.plan, 0xA5);
                let ran = run(backend.device.prepare(case.plan.clone()), &inputs, &mut computed).await;
                check.cases += 1;
                check.bytes += computed.iter().map(|bytes| bytes.len() as u32).sum::<u32>();
                match ran.err().map(|error| error.to_string()).or_else(|| difference(&computed, &expected)) {
                    None => check.agreed += 1,
                    Some(what) => {
                        check.failures.push(format!("{} {} on {}: {what}", dtype.name(), case.name, backend.name()));
                    }
                }
            }
        }
    }
    Ok(check)
}

/// A plan to run on random data.
struct Case {
    name: &'static str,
    plan: Plan,
    /// The pool whose values and indices an unpool takes.
    pool: Option<Plan>,
}

impl Case {
    /// Random bytes of X, and of an unpool what its pool makes of them.
    async fn inputs(&self, random: &mut Rng) -> Result<Vec<Vec<u8>>, ExecuteError> {
        let first = self.pool.as_ref().unwrap_or(&self.plan);
        let spec = &first.inputs()[0];
        let x = vec![elements(random, spec.dtype, spec.element_count())];
        let Some(pool) = &self.pool else { return Ok(x) };
        let mut pooled = outputs(pool, 0);
        run(Reference.prepare(pool.clone()), &x, &mut pooled).await?;
        Ok(pooled)
    }
}

/// A pool's name, the pool, the shape of X, and the type of its indices.
type PoolCase<'a> = (&'static str, &'a dyn Pooling, &'a [usize], Option<IndexType>);

/// Operators and options that take every part of the kernels: windows apart and overlapping, padded, dilated, rounded
/// up; one to three axes; both layouts, index types and orders; the NaN rules; adaptive and global windows; unpools by
/// each; compositions, whose later steps read scratch memory.
fn cases(dtype: DType) -> Result<Vec<Case>, ExecuteError> {
    let apart = MaxPool::new([2, 2]).strides([2, 2]);
    let overlapping = MaxPool::new([3, 3]).strides([2, 2]).pads([1, 1, 1, 1]);
    let sliding = MaxPool::new([5, 5]).pads([2, 2, 2, 2]).nan_policy(NanPolicy::PropagateLast);
    let dilated = MaxPool::new([2, 3])
        .dilations([2, 1])
        .ceil_rule(CeilRule::CeilDrop)
        .layout(Layout::Nhwc)
        .index_layout(Layout::Nhwc);
    let by_columns = MaxPool::new([3, 2]).strides([1, 2]).index_order(StorageOrder::ColumnMajor);
    let line = MaxPool::new([4]).strides([3]).nan_policy(NanPolicy::SeedLowest);
    let volume = MaxPool::new([2, 3, 2]).flatten(IndexFlattening::Plane);
    let adaptive = AdaptiveMaxPool::new([4, 5]);
    let global = GlobalMaxPool::new();
    let (flat, deep, long) = ([2, 3, 13, 18], [1, 2, 5, 6, 7], [2, 3, 41]);

    let pools: [PoolCase<'_>; 11] = [
        ("windows apart, i64 indices", &apart, &flat, Some(IndexType::I64)),
        ("windows apart, values alone", &apart, &flat, None),
        ("overlapping windows, i32 indices", &overlapping, &flat, Some(IndexType::I32)),
        ("sliding windows, NaN propagated", &sliding, &flat, Some(IndexType::I64)),
        ("dilated windows, NHWC", &dilated, &[2, 13, 18, 3], Some(IndexType::I32)),
        ("indices in column major order", &by_columns, &flat, Some(IndexType::I64)),
        ("a line, NaN ignored", &line, &long, Some(IndexType::I64)),
        ("a volume, indices by plane", &volume, &deep, Some(IndexType::I64)),
        ("adaptive windows", &adaptive, &flat, Some(IndexType::I64)),
        ("a global window", &global, &flat, Some(IndexType::I32)),
        ("a global window of a volume, values alone", &global, &deep, None),
    ];
    let unpools: [(&str, &dyn Pooling, &[usize], IndexType); 6] = [
        ("unpool of windows apart", &apart, &flat, IndexType::I64),
        ("unpool of overlapping windows", &overlapping, &flat, IndexType::I32),
        ("unpool, NHWC", &dilated, &[2, 13, 18, 3], IndexType::I64),
        ("unpool by indices in column major order", &by_columns, &flat, IndexType::I32),
        ("unpool of a volume by plane", &volume, &deep, IndexType::I32),
        ("unpool of adaptive windows", &adaptive, &flat, IndexType::I64),
    ];
    let mut cases = Vec::new();
    for (name, pool, shape, indices) in pools {
        cases.push(Case { name, plan: pool.plan(shape, dtype, indices)?, pool: None });
    }
    for (name, pool, shape, indices) in unpools {
        let pooled = pool.plan(shape, dtype, Some(indices))?;
        let plan = MaxUnpool::inverse_of(pool, shape).plan(pooled.output_shape(), dtype, indices)?;
        cases.push(Case { name, plan, pool: Some(pooled) });
    }
    let opened = Open::new([3, 2]).plan(&flat, dtype, None)?;
    let hat = TopHat::new([2, 3]).layout(Layout::Nhwc).plan(&[2, 13, 18, 3], dtype, None)?;
    for (name, plan) in [("an opening", opened), ("a top-hat, NHWC", hat)] {
        cases.push(Case { name, plan, pool: None });
    }
    Ok(cases)
}

/// Elements of which a half are what kernels get wrong: zeros of both signs, infinities, NaN, the largest and the
/// smallest, and subnormals; many are equal. The other half are random bits.
fn elements(random: &mut Rng, dtype: DType, count: u64) -> Vec<u8> {
    let bytes = dtype.bytes();
    let finite = dtype.lowest_finite_bits();
    let low = finite + u64::from(dtype.is_float());
    let sign = 1u64 << (8 * bytes - 1);
    // Of a float, the bits of an infinity with one below and one above: the largest finite number and a signalling NaN.
    let special = [0, 1, sign, sign | 1, low, low ^ sign, low | 1, (low ^ sign) | 1, finite, sign - 1, !0];
    let element = |_| {
        let bits = if random.bool() { special[random.usize(..special.len())] } else { random.u64(..) };
        bits.to_le_bytes()
    };
    (0..count).map(element).flat_map(|bits| bits.into_iter().take(bytes)).collect()
}

/// The bytes of a plan's outputs, filled with garbage.
fn outputs(plan: &Plan, garbage: u8) -> Vec<Vec<u8>> {
    plan.outputs().iter().map(|output| vec![garbage; output.bytes() as usize]).collect()
}

/// The tensors of a plan in these bytes.
fn tensors<'a>(
    plan: &'a Plan,
    inputs: &'a [Vec<u8>],
    outputs: &'a mut [Vec<u8>],
) -> Result<(Vec<TensorRef<'a>>, Vec<TensorMut<'a>>), ExecuteError> {
    let inputs = plan.inputs().iter().zip(inputs).map(|(spec, bytes)| TensorRef::new(spec.dtype, &spec.shape, bytes));
    let outputs =
        plan.outputs().iter().zip(outputs).map(|(spec, bytes)| TensorMut::new(spec.dtype, &spec.shape, bytes));
    Ok((inputs.collect::<Result<_, _>>()?, outputs.collect::<Result<_, _>>()?))
}

/// Computes a plan that is being prepared.
async fn run(
    prepared: impl Future<Output = Result<Arc<dyn PreparedPlan>, ExecuteError>>,
    inputs: &[Vec<u8>],
    outputs: &mut [Vec<u8>],
) -> Result<(), ExecuteError> {
    let prepared = prepared.await?;
    let (inputs, mut outputs) = tensors(prepared.plan(), inputs, outputs)?;
    prepared.run(&inputs, &mut outputs).await
}

/// The first difference between outputs, in words.
fn difference(computed: &[Vec<u8>], expected: &[Vec<u8>]) -> Option<String> {
    computed.iter().zip(expected).zip(["values", "indices"]).find_map(|((computed, expected), what)| {
        let at = computed.iter().zip(expected).position(|(a, b)| a != b)?;
        Some(format!("byte {at} of the {what} is {:#04x}, the reference's {:#04x}", computed[at], expected[at]))
    })
}
