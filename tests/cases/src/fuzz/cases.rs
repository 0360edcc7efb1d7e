//! Turns any bytes into attributes, shapes, options and limits of any size, and plans them. Nothing panics, nothing
//! large is allocated, and every plan and schedule keeps its promises.

use support::calls::reference;
use wgpu_pooling::{
    Activation, AdaptiveMaxPool, Attribute, AutoPad, AxisWindow, Backend, Build, CeilRule, Choice, DType, Duplicates,
    EmptyIndex, EmptyValue, Family, GlobalMaxPool, IndexFlattening, IndexSpace, IndexType, Layout, Limits,
    MAX_ITERATIONS, MaxPool, MaxUnpool, Minimum, NanPolicy, Node, OutOfBounds, OutsideWindow, PadsLimit, Plan, Pooling,
    Preset, Reference, SamePadding, SizeRounding, StorageOrder, Tensor, TensorMut, TensorRef, TensorView,
    UnpoolMinSize, UnpoolSpace, element_count, families, local_maxima, select, wgsl,
};

use super::bytes::Bytes;
use crate::compositions::Composition;

impl Bytes<'_> {
    /// A small number most of the time, else one near a power of two, an extreme one, or any number.
    fn number(&mut self) -> i64 {
        match self.byte() {
            tag @ 0..=159 => i64::from(tag % 10),
            160..=179 => i64::from(self.byte()),
            180..=199 => i64::from(self.word() as i32),
            200..=239 => {
                let edge =
                    self.of(&[0, 16, 20, 21, 22, 24, 27, 28, 29, 30, 31, 32, 33, 40, 50, 57, 58, 59, 60, 61, 62]);
                let near = i64::from(self.byte() % 5) - 2;
                let edge = (1i64 << edge).wrapping_add(near);
                if self.flag() { edge } else { edge.wrapping_neg() }
            }
            240..=247 => self.of(&[i64::MAX, i64::MIN, i64::MAX - 1, -1, 1_000_000_000, i64::MAX / 2]),
            _ => self.word() as i64,
        }
    }

    fn numbers(&mut self, count: usize) -> Vec<i64> {
        (0..count).map(|_| self.number()).collect()
    }

    /// As many numbers as there are axes, or sometimes another count.
    fn list(&mut self, axes: usize) -> Vec<i64> {
        let count = match self.byte() {
            0..=239 => axes,
            240..=251 => usize::from(self.byte() % 16),
            _ => 300,
        };
        self.numbers(count)
    }

    fn limits(&mut self) -> Limits {
        let any = |bytes: &mut Self| bytes.number() as u64;
        match self.byte() % 4 {
            0 => Limits {
                max_buffer_bytes: any(self),
                max_binding_bytes: any(self),
                max_workgroups_per_dimension: any(self) as u32,
                max_storage_buffers: any(self) as u32,
                software: self.of(&[false, true]),
            },
            1 => Limits {
                max_buffer_bytes: self.of(&[0, 1, 3, 4, u64::MAX]),
                max_binding_bytes: self.of(&[0, 1, 3, 4, u64::MAX]),
                max_workgroups_per_dimension: self.of(&[0, 1, 2, u32::MAX]),
                max_storage_buffers: self.of(&[0, 1, 4, u32::MAX]),
                software: self.of(&[false, true]),
            },
            2 => Limits { max_buffer_bytes: u64::MAX, max_binding_bytes: u64::MAX, ..Limits::WEBGPU },
            _ => Limits::WEBGPU,
        }
    }

    fn choice(&mut self) -> Choice {
        Choice {
            family: self.sometimes(|bytes| bytes.of(Family::ALL)),
            build: self.sometimes(|bytes| bytes.of(&[Build::Generic, Build::Specialised])),
        }
    }

    fn text(&mut self) -> String {
        let known = ["NOTSET", "VALID", "SAME_UPPER", "SAME_LOWER", "Relu", "Clip", "LeakyRelu", "", "\0", "é"];
        self.of(&known).to_owned()
    }

    fn attribute(&mut self, axes: usize) -> (String, Attribute) {
        let names = [
            "kernel_shape",
            "strides",
            "pads",
            "dilations",
            "ceil_mode",
            "auto_pad",
            "storage_order",
            "activation",
            "activation_params",
            "Strides",
            "",
            "output_shape",
        ];
        let name = self.of(&names).to_owned();
        let value = match self.byte() % 5 {
            0 => Attribute::Int(self.number()),
            1 | 2 => Attribute::Ints(self.list(if name == "pads" { 2 * axes } else { axes })),
            3 => Attribute::String(self.text()),
            _ => Attribute::Floats((0..self.byte() % 4).map(|_| f32::from_bits(self.word() as u32)).collect()),
        };
        (name, value)
    }

    fn activation(&mut self) -> Activation {
        match self.byte() % 6 {
            0 | 1 => Activation::Identity,
            2 => Activation::Relu,
            3 => Activation::Clip { min: f32::from_bits(self.word() as u32), max: f32::from_bits(self.word() as u32) },
            4 => Activation::Tanh,
            _ => Activation::LeakyRelu { alpha: f32::from_bits(self.word() as u32) },
        }
    }

    /// A pool with any attributes.
    fn max_pool(&mut self, axes: usize) -> MaxPool {
        let kernel = self.list(axes);
        let mut pool = match self.byte() % 10 {
            0 => MaxPool::onnxruntime(kernel),
            1 => MaxPool::onnxruntime_nhwc(kernel),
            2 => MaxPool::pytorch(kernel),
            3 => MaxPool::openvino(kernel),
            4 => MaxPool::tensorflow(kernel),
            5 => {
                let count = self.byte() % 8;
                let attributes: Vec<_> = (0..count).map(|_| self.attribute(axes)).collect();
                MaxPool::from_onnx(attributes).unwrap_or_else(|_| MaxPool::new(kernel))
            }
            _ => MaxPool::new(kernel),
        };
        let options = self.byte();
        let asked = |bit: u8| options >> bit & 1 == 1;
        if asked(0) {
            pool = pool.strides(self.list(axes));
        }
        if asked(1) {
            pool = pool.dilations(self.list(axes));
        }
        if asked(2) {
            pool = pool.pads(self.list(2 * axes));
        }
        if asked(3) {
            pool = pool.auto_pad(self.of(AutoPad::ALL)).same_padding(self.of(SamePadding::ALL));
        }
        if asked(4) {
            pool = pool.ceil_mode(self.number());
        }
        if asked(5) {
            pool = pool.ceil_rule(self.of(CeilRule::ALL)).size_rounding(self.of(SizeRounding::ALL));
            pool = pool.nan_policy(self.of(NanPolicy::ALL)).empty_value(self.of(EmptyValue::ALL));
            pool = pool.empty_index(self.of(EmptyIndex::ALL)).pads_limit(self.of(PadsLimit::ALL));
        }
        if asked(6) {
            pool = pool.layout(self.of(Layout::ALL)).index_layout(self.of(Layout::ALL));
            pool = pool.flatten(self.of(IndexFlattening::ALL)).index_order(self.of(StorageOrder::ALL));
        }
        if asked(7) {
            pool = pool.storage_order(self.number()).activation(self.activation());
        }
        pool
    }

    fn pooling(&mut self, axes: usize) -> Box<dyn Pooling> {
        let pool = self.maxima(axes);
        if self.flag() { Box::new(Minimum::of(pool)) } else { pool }
    }

    fn maxima(&mut self, axes: usize) -> Box<dyn Pooling> {
        match self.byte() % 8 {
            0 => {
                let pool = GlobalMaxPool::new().layout(self.of(Layout::ALL)).nan_policy(self.of(NanPolicy::ALL));
                Box::new(pool.empty_value(self.of(EmptyValue::ALL)).empty_index(self.of(EmptyIndex::ALL)))
            }
            1 | 2 => {
                let pool = AdaptiveMaxPool::new(self.list(axes)).layout(self.of(Layout::ALL));
                let pool = pool.flatten(self.of(IndexFlattening::ALL)).index_order(self.of(StorageOrder::ALL));
                let pool = pool.nan_policy(self.of(NanPolicy::ALL)).index_layout(self.of(Layout::ALL));
                Box::new(pool.empty_value(self.of(EmptyValue::ALL)).empty_index(self.of(EmptyIndex::ALL)))
            }
            _ => Box::new(self.max_pool(axes)),
        }
    }

    fn unpool(&mut self, axes: usize, shape: &[usize]) -> MaxUnpool {
        let mut unpool = match self.byte() % 8 {
            0 | 1 => {
                let of = if self.flag() { shape.to_vec() } else { self.shape(axes) };
                MaxUnpool::inverse_of(self.pooling(axes).as_ref(), &of)
            }
            2 => MaxUnpool::onnxruntime(self.list(axes)),
            3 => MaxUnpool::pytorch(self.list(axes)),
            4 => MaxUnpool::onnxruntime_nhwc(self.list(axes)),
            _ => MaxUnpool::new(self.list(axes)),
        };
        let options = self.byte();
        let asked = |bit: u8| options >> bit & 1 == 1;
        if asked(0) {
            unpool = unpool.strides(self.list(axes));
        }
        if asked(1) {
            unpool = unpool.pads(self.list(2 * axes));
        }
        if asked(2) {
            unpool = unpool.output_shape(self.list(axes + 2));
        }
        if asked(3) {
            unpool = unpool.layout(self.of(Layout::ALL)).index_layout(self.of(Layout::ALL));
            unpool = unpool.flatten(self.of(IndexFlattening::ALL)).index_order(self.of(StorageOrder::ALL));
        }
        if asked(4) {
            unpool = unpool.unpool_space(self.of(UnpoolSpace::ALL)).unpool_min_size(self.of(UnpoolMinSize::ALL));
        }
        if asked(5) {
            unpool = unpool.duplicates(self.of(Duplicates::ALL)).out_of_bounds(self.of(OutOfBounds::ALL));
            unpool = unpool.outside_window(self.of(OutsideWindow::ALL));
        }
        if asked(6) {
            unpool = unpool.activation(self.activation());
        }
        unpool
    }

    /// N, C and one extent for each axis; now and then a shape of another rank.
    fn shape(&mut self, axes: usize) -> Vec<usize> {
        self.list(axes + 2).into_iter().map(|extent| extent as usize).collect()
    }

    fn space(&mut self, axes: usize) -> IndexSpace {
        let [batch, channels] = [self.number(), self.number()].map(|extent| extent as usize);
        let extents: Vec<usize> = self.list(axes).into_iter().map(|extent| extent as usize).collect();
        let space = IndexSpace::new(batch, channels, extents).with_flatten(self.of(IndexFlattening::ALL));
        space.with_order(self.of(StorageOrder::ALL)).with_layout(self.of(Layout::ALL))
    }
}

/// Reads attributes, shapes, options and limits from any bytes and plans them. Returns false if the plan was refused.
pub fn plan(data: &[u8]) -> bool {
    let mut bytes = Bytes(data);
    let axes = match bytes.byte() {
        0..=220 => usize::from(bytes.byte() % 4),
        221..=250 => usize::from(bytes.byte() % 12),
        _ => 64,
    };
    let kind = bytes.byte();
    let shape = bytes.shape(axes);
    let _ = element_count(&shape);
    let _ = TensorView::new(&shape, &[0u8; 3]);
    let dtype = bytes.of(&DType::ALL);
    match kind % 8 {
        0..=3 => {
            let pool = bytes.pooling(axes);
            let indices = bytes.sometimes(Bytes::index_type);
            let Ok(plan) = pool.plan(&shape, dtype, indices) else { return false };
            assert_eq!(plan.input_shape(), shape);
            if small(plan.input_shape()) && small(plan.output_shape()) {
                pool_reference(&plan, &mut bytes);
                peaks(&*pool, &shape, &mut bytes);
            }
            scheduled(plan, &mut bytes);
        }
        4 | 5 => {
            let unpool = bytes.unpool(axes, &shape);
            let index_type = bytes.index_type();
            let Ok(plan) = unpool.plan(&shape, dtype, index_type) else { return false };
            if small(plan.input_shape()) && small(plan.output_shape()) {
                unpool_reference(&plan, &mut bytes);
            }
            scheduled(plan, &mut bytes);
        }
        6 => {
            let (from, to) = (bytes.space(axes), bytes.space(axes));
            let to = if bytes.flag() { from.clone().with_flatten(bytes.of(IndexFlattening::ALL)) } else { to };
            if !small(&shape) {
                return false;
            }
            let indices = garbage(element_count(&shape).unwrap_or(0) as usize, &mut bytes);
            let view = TensorView::new(&shape, &indices).expect("it has the shape's length");
            let _ = (from.convert::<i64>(&to, view), from.convert::<i32>(&to, view));
        }
        _ if bytes.byte() % 4 == 0 => composition(axes, &mut bytes),
        _ if bytes.flag() => node(axes, &mut bytes),
        _ => pure_functions(axes, &mut bytes),
    }
    true
}

/// A composition by any box: an error, or steps that the reference computes and for which a GPU has schedules.
fn composition(axes: usize, bytes: &mut Bytes<'_>) {
    let by = Composition {
        kind: usize::from(bytes.byte()) % Composition::KINDS.len(),
        kernel_shape: bytes.list(axes),
        anchor: bytes.sometimes(|bytes| bytes.list(axes)),
        iterations: bytes.number(),
        layout: bytes.of(Layout::ALL),
        nan_policy: bytes.of(NanPolicy::ALL),
        empty_value: bytes.of(EmptyValue::ALL),
    };
    let (dtype, shape, limits) = (bytes.of(&DType::ALL), bytes.shape(axes), bytes.limits());
    let Ok(steps) = by.steps(&shape, dtype) else { return };
    for (plan, _) in steps.each() {
        if let Ok(schedule) = select(plan, &limits, &bytes.choice()) {
            assert_eq!(schedule.check(&limits), Ok(()), "{by:?}");
        }
    }
    if small(&shape) {
        let x = vec![bytes.byte(); steps.first().outputs()[0].bytes() as usize];
        let mut y = x.clone();
        let x = TensorRef::new(dtype, &shape, &x).expect("its length");
        let y = TensorMut::new(dtype, &shape, &mut y).expect("its length");
        let result = Reference.run_steps_blocking(&steps, &[x], &mut [y]);
        assert!(result.is_ok(), "{by:?}: {result:?}");
    }
}

/// A node of a model with any attributes and inputs: an error, or a plan that the reference computes.
fn node(axes: usize, bytes: &mut Bytes<'_>) {
    let op_type = bytes.of(&["MaxPool", "MaxPool", "GlobalMaxPool", "MaxUnpool", "MaxUnpool", "Conv"]);
    let domain = bytes.of(&["", "", "ai.onnx", "com.ms.internal.nhwc", "com.microsoft"]);
    let count = bytes.byte() % 6;
    let attributes: Vec<_> = (0..count).map(|_| bytes.attribute(axes)).collect();
    let node = Node::new(op_type, bytes.number()).domain(domain).attributes(attributes).preset(bytes.of(Preset::ALL));
    let _ = node.operator();
    let inputs: Vec<(DType, Vec<usize>, Vec<u8>)> = (0..bytes.byte() % 5)
        .map(|_| {
            let (dtype, shape) = (bytes.of(&DType::ALL), bytes.shape(axes));
            let length = if small(&shape) { shape.iter().product::<usize>() * dtype.bytes() } else { 3 };
            let data = (0..length).map(|_| bytes.byte() & 3).collect();
            (dtype, shape, data)
        })
        .collect();
    let views = inputs.iter().filter_map(|(dtype, shape, data)| TensorRef::new(*dtype, shape, data).ok());
    let views: Vec<TensorRef<'_>> = views.collect();
    let Ok(plan) = node.plan(&views, usize::from(bytes.byte() % 4)) else { return };
    if !plan.outputs().iter().all(|output| small(&output.shape)) {
        return;
    }
    let sizes = plan.outputs().iter().map(|output| output.bytes() as usize);
    let mut written: Vec<Vec<u8>> = sizes.map(|size| vec![0; size]).collect();
    let outputs = plan.outputs().iter().zip(&mut written);
    let outputs = outputs.map(|(spec, bytes)| TensorMut::new(spec.dtype, &spec.shape, bytes).expect("its own size"));
    let result = Reference.run_blocking(&plan, &views[..plan.inputs().len()], &mut outputs.collect::<Vec<_>>());
    assert!(result.is_ok() || matches!(plan, Plan::Unpool(_)), "{plan:?}: {result:?}");
}

/// Functions that need no plan, called with arguments that may make no sense.
fn pure_functions(axes: usize, bytes: &mut Bytes<'_>) {
    let space = bytes.space(axes);
    let _ = (space.index_count(), space.strides(), space.shape());
    let [n, c] = [bytes.number() as usize, bytes.number() as usize];
    let coordinates = bytes.list(axes);
    let index = space.encode(n, c, &coordinates);
    for index in [index, bytes.number(), 0] {
        if let Some((_, _, at)) = space.decode(index, n, c) {
            assert_eq!(at.len(), coordinates_of(&space));
        }
    }
    let window = AxisWindow::Strided {
        kernel: bytes.number(),
        stride: bytes.number(),
        dilation: bytes.number(),
        pad_begin: bytes.number(),
    };
    let [input, output] = [bytes.number(), bytes.number()].map(|number| number as usize);
    for window in [window, AxisWindow::adaptive(input, output)] {
        let [index, input] = [bytes.number(), bytes.number()].map(|number| number as usize);
        let taps = window.taps(index, input);
        let _ = taps.positions().take(10).count();
        let _ = window.most_taps(input);
    }
}

fn coordinates_of(space: &IndexSpace) -> usize {
    space.shape().len() - 2
}

fn small(shape: &[usize]) -> bool {
    shape
        .iter()
        .try_fold(1usize, |product, &extent| product.checked_mul(extent.max(1)))
        .is_some_and(|count| count <= 128)
}

fn garbage(count: usize, bytes: &mut Bytes<'_>) -> Vec<i64> {
    (0..count).map(|_| bytes.number()).collect()
}

fn pool_reference(plan: &wgpu_pooling::Plan, bytes: &mut Bytes<'_>) {
    if plan.inputs()[0].dtype != DType::F32 {
        return;
    }
    let count = element_count(plan.input_shape()).unwrap_or(0) as usize;
    let x = Tensor::new(plan.input_shape(), (0..count).map(|_| f32::from_bits(bytes.word() as u32)).collect())
        .expect("it has the shape's length");
    let y = match plan.index_type() {
        None => reference::max_pool(plan, x.view()).expect("the plan is this tensor's"),
        Some(IndexType::I32) => reference::max_pool_with_indices::<f32, i32>(plan, x.view()).expect("as above").0,
        Some(IndexType::I64) => reference::max_pool_with_indices::<f32, i64>(plan, x.view()).expect("as above").0,
    };
    assert_eq!(y.shape(), plan.output_shape());
}

/// The local maxima of any values by any indices: an error, or peaks that lie in the map.
fn peaks(pool: &dyn Pooling, shape: &[usize], bytes: &mut Bytes<'_>) {
    let count = element_count(shape).unwrap_or(0) as usize;
    let y: Vec<f32> = (0..count).map(|_| f32::from_bits(bytes.word() as u32)).collect();
    let indices: Vec<i64> = (0..count as i64).map(|own| if bytes.flag() { bytes.number() } else { own }).collect();
    let threshold = bytes.sometimes(|bytes| f32::from_bits(bytes.word() as u32));
    let y = TensorView::new(shape, &y).expect("it has the shape's length");
    let indices = TensorView::new(shape, &indices).expect("as above");
    let found = local_maxima(pool, y, indices, threshold);
    for peak in found.into_iter().flatten() {
        assert!(!peak.value.is_nan() && peak.position.iter().zip(shape).all(|(at, extent)| at < extent));
    }
}

fn unpool_reference(plan: &wgpu_pooling::Plan, bytes: &mut Bytes<'_>) {
    if plan.inputs()[0].dtype != DType::F32 || plan.index_type() != Some(IndexType::I64) {
        return;
    }
    let count = element_count(plan.input_shape()).unwrap_or(0) as usize;
    let x = Tensor::new(plan.input_shape(), vec![1.5f32; count]).expect("it has the shape's length");
    let indices = Tensor::new(&plan.inputs()[1].shape, garbage(count, bytes)).expect("it has X's length");
    if let Ok(y) = reference::max_unpool(plan, x.view(), indices.view()) {
        assert_eq!(y.shape(), plan.output_shape());
    }
}

/// Selects a schedule for WebGPU's limits and for any others: the result is an error, or a schedule that keeps to the
/// limits.
fn scheduled(plan: Plan, bytes: &mut Bytes<'_>) {
    let _ = format!("{plan:?}").len();
    for limits in [Limits::WEBGPU, bytes.limits()] {
        let choice = bytes.choice();
        for choice in [Choice::default(), choice] {
            let Ok(schedule) = select(&plan, &limits, &choice) else { continue };
            // Scratch memory may exceed a binding, because it is then bound in parts.
            let most = limits.max_buffer_bytes;
            assert!(schedule.scratch().iter().all(|&buffer| buffer <= most), "{limits:?}");
            let _ = (schedule.kernel(), schedule.bytes_moved(), schedule.scratch_bytes());
            assert_eq!(schedule.check(&limits), Ok(()));
            let schedule = if bytes.flag() { schedule.with_writable_inputs() } else { schedule };
            assert_eq!(schedule.check(&limits), Ok(()));
            for dispatch in schedule.dispatches() {
                assert!(dispatch.iterations() <= MAX_ITERATIONS, "{plan:?}");
                let most = limits.max_workgroups_per_dimension;
                assert!(dispatch.grid().iter().all(|&groups| groups <= most.max(1)), "{:?}", dispatch.grid());
            }
            // Texts are long, so one of them is enough.
            let text = schedule.dispatches().first().map(|dispatch| wgsl(dispatch.key()));
            assert!(text.is_none_or(|text| text.contains("@compute")));
        }
    }
    if bytes.byte().is_multiple_of(8) {
        families(&plan, &Limits::WEBGPU);
    }
}
