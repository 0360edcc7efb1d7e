//! Turns any bytes into attributes, shapes, options and limits of any size, and plans them. Nothing panics, nothing
//! large is allocated, and every plan and schedule keeps its promises.

use support::call::Call;
use support::draw::bias::{Axis, Bias, Size, TIDY};
use support::draw::bytes::Bytes;
use support::draw::compositions::CompositionCase;
use support::draw::odd::Oddity;
use support::draw::pools::{MaxPoolOptions, Operator, PoolCase};
use support::draw::unpools::{Target, UNPOOLS, UnpoolCase, UnpoolOptions};
use wgpu_pooling::{
    Activation, Attribute, Backend, Build, Choice, DType, EmptyValue, Family, IndexFlattening, IndexSpace, Layout,
    Limits, MAX_ITERATIONS, MaxPool, Node, Peaks, Plan, Plateaus, Pooling, Preset, Reference, Request, StorageOrder,
    TensorMut, TensorRef, TensorView, element_count, families, select, wgsl,
};
use wgpu_pooling_plan::AxisWindow;

/// Pools whose lists have numbers of any size.
const HOSTILE: Bias = Bias {
    axes: &[1, 2, 3],
    axis: |bytes, _, _| {
        let mut number = || bytes.number();
        let (extent, kernel, stride, dilation) = (number(), number(), number(), number());
        let (pads, output) = ([number(), number()], number());
        Axis { size: Size::Input(extent), kernel, stride, dilation, pads, output }
    },
    oddity: |_| Oddity::Loose,
    most_elements: 128,
    ..TIDY
};

/// A pool with any attributes, now and then of another number of axes, or with another runtime's defaults.
fn pool(bytes: &mut Bytes<'_>) -> PoolCase {
    let mut case = PoolCase::draw(&HOSTILE, bytes);
    let axes = case.spatial.len();
    if bytes.percent(20) {
        (case.batch, case.channels) = (bytes.number() as usize, bytes.number() as usize);
    }
    match &mut case.operator {
        Operator::Max(options) => {
            options.preset = bytes.sometimes(50, |bytes| bytes.of(&MaxPoolOptions::PRESETS));
            options.activation = bytes.sometimes(40, any_activation);
            options.ceil_mode = options.ceil_mode.map(|_| bytes.number());
            options.storage_order = options.storage_order.map(|_| bytes.number());
            match bytes.byte() {
                0..=199 => {}
                200..=215 => options.kernel = bytes.list(axes),
                216..=228 => options.strides = Some(bytes.list(axes)),
                229..=241 => options.dilations = Some(bytes.list(axes)),
                _ => options.pads = Some(bytes.list(2 * axes)),
            }
        }
        Operator::Adaptive(size) => *size = bytes.list(axes),
        Operator::Global => {}
    }
    case
}

/// An unpool with any attributes, or of any pool.
fn unpool(bytes: &mut Bytes<'_>) -> UnpoolCase {
    let mut case = UnpoolCase::draw(&UNPOOLS, bytes);
    let axes = case.spatial.len();
    case.options.activation = bytes.sometimes(40, any_activation);
    if bytes.percent(25) {
        case.target = Target::Inverse(Box::new(pool(bytes)));
    } else if let Target::Attributes { kernel, strides, pads, output_shape } = &mut case.target {
        case.options.preset = bytes.sometimes(50, |bytes| bytes.of(&UnpoolOptions::PRESETS));
        *kernel = bytes.list(axes);
        *strides = bytes.sometimes(50, |bytes| bytes.list(axes));
        *pads = bytes.sometimes(50, |bytes| bytes.list(2 * axes));
        *output_shape = bytes.sometimes(50, |bytes| bytes.list(axes + 2));
    }
    case
}

fn any_activation(bytes: &mut Bytes<'_>) -> Activation {
    let any = |bytes: &mut Bytes<'_>| f32::from_bits(bytes.word() as u32);
    match bytes.byte() % 4 {
        0 => Activation::Relu,
        1 => Activation::Clip { min: any(bytes), max: any(bytes) },
        2 => Activation::Tanh,
        _ => Activation::LeakyRelu { alpha: any(bytes) },
    }
}

/// Reads attributes, shapes, options and limits from any bytes and plans them. Returns false if the plan was refused.
pub fn plan(data: &[u8]) -> bool {
    let mut bytes = Bytes(data);
    match bytes.byte() % 8 {
        0..=3 => {
            let case = pool(&mut bytes);
            let (shape, pool) = (case.shape(), case.written().value);
            let _ = (element_count(&shape), TensorView::new(&shape, &[0u8; 3]));
            let Ok(plan) = case.plan() else { return false };
            assert_eq!(plan.input_shape(), shape);
            if small(plan.input_shape()) && small(plan.output_shape()) {
                peaks(&*pool, &shape, &mut bytes);
            }
            computed(plan, &mut bytes);
        }
        4 | 5 => {
            let Ok(plan) = unpool(&mut bytes).plan() else { return false };
            computed(plan, &mut bytes);
        }
        6 => conversion(&mut bytes),
        _ => match bytes.byte() % 4 {
            0 => composition(&mut bytes),
            1 => node(&mut bytes),
            _ => pure_functions(&mut bytes),
        },
    }
    true
}

/// Computes a small plan on the reference, and selects schedules for any.
fn computed(plan: Plan, bytes: &mut Bytes<'_>) {
    let specs = plan.inputs().iter().chain(plan.outputs());
    if specs.clone().all(|spec| small(&spec.shape)) {
        let inputs = plan.inputs().iter().map(|spec| (0..spec.bytes()).map(|_| bytes.byte()).collect()).collect();
        let outcome = Call::new(plan.clone(), inputs).expected();
        assert!(outcome.is_ok() || matches!(plan, Plan::Unpool(_)), "{plan:?}: {outcome:?}");
    }
    scheduled(plan, bytes);
}

fn conversion(bytes: &mut Bytes<'_>) {
    let axes = bytes.below(5);
    let (shape, from, to) = (shape(bytes, axes), space(bytes, axes), space(bytes, axes));
    let to = if bytes.flag() { from.clone().with_flatten(bytes.of(IndexFlattening::ALL)) } else { to };
    if small(&shape) {
        let indices: Vec<i64> = (0..element_count(&shape).unwrap_or(0)).map(|_| bytes.number()).collect();
        let view = TensorView::new(&shape, &indices).expect("it has the shape's length");
        let _ = (from.convert::<i64>(&to, view), from.convert::<i32>(&to, view));
    }
}

/// A composition by any box: an error, or a plan that the reference computes and for which a GPU has schedules.
fn composition(bytes: &mut Bytes<'_>) {
    let mut case = CompositionCase::draw(&HOSTILE, bytes);
    let axes = case.kernel_shape.len();
    case.anchor = bytes.sometimes(50, |bytes| bytes.list(axes));
    case.iterations = bytes.number();
    case.empty_value = bytes.of(EmptyValue::ALL);
    let limits = limits(bytes);
    let Ok(plan) = case.plan() else { return };
    if let Ok(schedule) = select(&plan, &limits, &choice(bytes)) {
        assert_eq!(schedule.check(&limits), Ok(()), "{case:?}");
    }
    if small(&case.shape) {
        let outcome = Call::pool(plan, &case.x).expected();
        assert!(outcome.is_ok(), "{case:?}: {outcome:?}");
    }
}

/// A node of a model with any attributes and inputs: an error, or a plan that the reference computes.
fn node(bytes: &mut Bytes<'_>) {
    let axes = bytes.below(5);
    let op_type = bytes.of(&["MaxPool", "MaxPool", "GlobalMaxPool", "MaxUnpool", "MaxUnpool", "Conv"]);
    let domain = bytes.of(&["", "", "ai.onnx", "com.ms.internal.nhwc", "com.microsoft"]);
    let count = bytes.byte() % 6;
    let attributes: Vec<_> = (0..count).map(|_| attribute(bytes, axes)).collect();
    // A pool that was made of the same attributes may be another one than the node.
    let _ = MaxPool::from_onnx(attributes.clone()).map(|pool| pool.plan(&shape(bytes, axes), DType::F32, None));
    let node = Node::new(op_type, bytes.number()).domain(domain).attributes(attributes).preset(bytes.of(Preset::ALL));
    let _ = node.operator();
    let inputs: Vec<(DType, Vec<usize>, Vec<u8>)> = (0..bytes.byte() % 5)
        .map(|_| {
            let (dtype, shape) = (bytes.of(&DType::ALL), shape(bytes, axes));
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
fn pure_functions(bytes: &mut Bytes<'_>) {
    let axes = bytes.below(5);
    let space = space(bytes, axes);
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

/// The peaks of any values by any Y: an error, or peaks that lie in the map.
fn peaks(pool: &dyn Pooling, shape: &[usize], bytes: &mut Bytes<'_>) {
    let count = element_count(shape).unwrap_or(0) as usize;
    let x: Vec<f32> = (0..count).map(|_| f32::from_bits(bytes.word() as u32)).collect();
    let y: Vec<f32> = x.iter().map(|&x| if bytes.flag() { f32::from_bits(bytes.word() as u32) } else { x }).collect();
    let mut peaks = Request::pool(pool, TensorView::new(shape, &x).expect("it has the shape's length")).peaks();
    if let Some(threshold) = bytes.sometimes(50, |bytes| f32::from_bits(bytes.word() as u32)) {
        peaks = peaks.threshold(threshold);
    }
    if let Some(largest) = bytes.sometimes(50, Bytes::number) {
        peaks = peaks.largest(largest as usize).min_distance(bytes.number() as usize);
    }
    peaks = peaks.plateaus(Plateaus::ALL[usize::from(bytes.flag())]);
    let found = peaks.of_y(TensorView::new(shape, &y).expect("as above"));
    for peak in found.iter().flat_map(Peaks::iter) {
        assert!(!peak.value.is_nan() && peak.position.iter().zip(shape).all(|(at, extent)| at < extent));
    }
}

fn limits(bytes: &mut Bytes<'_>) -> Limits {
    let any = |bytes: &mut Bytes<'_>| bytes.number() as u64;
    match bytes.byte() % 4 {
        0 => Limits {
            max_buffer_bytes: any(bytes),
            max_binding_bytes: any(bytes),
            max_workgroups_per_dimension: any(bytes) as u32,
            max_storage_buffers: any(bytes) as u32,
            software: bytes.of(&[false, true]),
        },
        1 => Limits {
            max_buffer_bytes: bytes.of(&[0, 1, 3, 4, u64::MAX]),
            max_binding_bytes: bytes.of(&[0, 1, 3, 4, u64::MAX]),
            max_workgroups_per_dimension: bytes.of(&[0, 1, 2, u32::MAX]),
            max_storage_buffers: bytes.of(&[0, 1, 4, u32::MAX]),
            software: bytes.of(&[false, true]),
        },
        2 => Limits { max_buffer_bytes: u64::MAX, max_binding_bytes: u64::MAX, ..Limits::WEBGPU },
        _ => Limits::WEBGPU,
    }
}

fn choice(bytes: &mut Bytes<'_>) -> Choice {
    Choice {
        family: bytes.sometimes(50, |bytes| bytes.of(Family::ALL)),
        build: bytes.sometimes(50, |bytes| bytes.of(&[Build::Generic, Build::Specialised])),
    }
}

fn text(bytes: &mut Bytes<'_>) -> String {
    let known = ["NOTSET", "VALID", "SAME_UPPER", "SAME_LOWER", "Relu", "Clip", "LeakyRelu", "", "\0", "é"];
    bytes.of(&known).to_owned()
}

fn attribute(bytes: &mut Bytes<'_>, axes: usize) -> (String, Attribute) {
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
    let name = bytes.of(&names).to_owned();
    let value = match bytes.byte() % 5 {
        0 => Attribute::Int(bytes.number()),
        1 | 2 => Attribute::Ints(bytes.list(if name == "pads" { 2 * axes } else { axes })),
        3 => Attribute::String(text(bytes)),
        _ => Attribute::Floats((0..bytes.byte() % 4).map(|_| f32::from_bits(bytes.word() as u32)).collect()),
    };
    (name, value)
}

/// N, C and one extent for each axis; now and then a shape of another rank.
fn shape(bytes: &mut Bytes<'_>, axes: usize) -> Vec<usize> {
    bytes.list(axes + 2).into_iter().map(|extent| extent as usize).collect()
}

fn space(bytes: &mut Bytes<'_>, axes: usize) -> IndexSpace {
    let [batch, channels] = [bytes.number(), bytes.number()].map(|extent| extent as usize);
    let extents: Vec<usize> = bytes.list(axes).into_iter().map(|extent| extent as usize).collect();
    let space = IndexSpace::new(batch, channels, extents).with_flatten(bytes.of(IndexFlattening::ALL));
    space.with_order(bytes.of(StorageOrder::ALL)).with_layout(bytes.of(Layout::ALL))
}

/// Selects a schedule for WebGPU's limits and for any others: the result is an error, or a schedule that keeps to the
/// limits.
fn scheduled(plan: Plan, bytes: &mut Bytes<'_>) {
    let _ = format!("{plan:?}").len();
    for limits in [Limits::WEBGPU, limits(bytes)] {
        let choice = choice(bytes);
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
