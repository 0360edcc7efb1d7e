//! The pages `memory` and `guests` of the documentation: their functions and shaders are taken from them and run. What
//! they compute is compared with the reference.

use std::error::Error;
use std::sync::Arc;

use gpu_test::gpu_test;
use support::calls::reference;
use support::device::gpu;
use support::splitmix::splitmix64;
use support::tensors::seeded;
use wgpu_pooling::wgpu::util::DeviceExt;
use wgpu_pooling::wgpu::{self, BufferUsages, TextureFormat, TextureUsages};
use wgpu_pooling::{
    Buffers, DType, DeviceTensor, Element, ExecuteError, Gpu, IndexType, Layout, MaxPool, Plan, Prepared, PreparedPlan,
    Tensor, TensorSpec, half, required_limits,
};

const PAGES: &str =
    concat!(include_str!("../../../../src/docs/memory.md"), include_str!("../../../../src/docs/guests.md"));

/// The shader of the pages that has this line.
fn shader(line: &str) -> &'static str {
    let mut shaders = PAGES.split("```wgsl\n").skip(1).filter_map(|rest| rest.split("```").next());
    shaders.find(|text| text.contains(line)).unwrap_or_else(|| panic!("no shader of the pages has {line:?}"))
}

// The functions of the pages.
include!(concat!(env!("OUT_DIR"), "/pages.rs"));

/// Records commands and submits them.
fn submitted<T>(record: impl FnOnce(&mut wgpu::CommandEncoder) -> T) -> T {
    let mut encoder = gpu().device().create_command_encoder(&Default::default());
    let recorded = record(&mut encoder);
    gpu().queue().submit([encoder.finish()]);
    recorded
}

/// Runs a kernel whose bindings are `resources`.
fn run<const N: usize>(kernel: &wgpu::ComputePipeline, resources: [wgpu::BindingResource<'_>; N], groups: [u32; 2]) {
    submitted(|encoder| {
        let pass = &mut encoder.begin_compute_pass(&Default::default());
        dispatch(pass, (gpu().device(), kernel), resources, groups);
    });
}

/// Where an element of a picture of so many pixels and channels lies: its pixel and its channel.
fn place(at: usize, layout: Layout, pixels: usize, channels: usize) -> (usize, usize) {
    match layout {
        Layout::Nchw => (at % pixels, at / pixels),
        Layout::Nhwc => (at / channels, at % channels),
    }
}

/// A number for each seed, all bits of it.
fn random(count: usize) -> impl Iterator<Item = u64> {
    (0..count as u64).map(splitmix64)
}

/// Reads every element of a tensor by a function of the pages, and returns what the shader makes of it.
fn read_by(reader: &str, x: &DeviceTensor) -> Vec<[u32; 2]> {
    let entry = format!(
        "@group(0) @binding(1) var<storage, read_write> found: array<vec2<u32>>;
        @compute @workgroup_size(64)
        fn main(@builtin(global_invocation_id) id: vec3<u32>) {{
            if id.x < arrayLength(&found) {{
                found[id.x] = {reader};
            }}
        }}"
    );
    let count = x.shape().iter().product::<usize>();
    let found = gpu().zeros_blocking([1, 1, count], DType::U64, Layout::Nchw).unwrap();
    let kernel = kernel(gpu().device(), &format!("{}{entry}", shader("fn load_u8")));
    run(&kernel, [x.as_binding(), found.as_binding()], [count.div_ceil(64) as u32, 1]);
    let found = gpu().download_blocking::<u64>(&found).unwrap();
    found.data().iter().map(|&pair| [pair as u32, (pair >> 32) as u32]).collect()
}

/// Elements of one type, read by a function, and what each has to be.
fn are_read<T: Element>(reader: &str, elements: Vec<T>, expected: impl Fn(T) -> [u32; 2]) {
    let x = Tensor::new([1, 1, elements.len()], elements).unwrap();
    let found = read_by(reader, &gpu().upload_blocking(&x, Layout::Nchw).unwrap());
    for (&element, found) in x.data().iter().zip(found) {
        assert_eq!(found, expected(element), "{reader} of {element:?}");
    }
}

#[gpu_test]
fn elements_of_every_type_are_read_from_words() {
    // Not a multiple of four, so that the last word has elements of 8 and 16 bits that do not exist.
    let bits = || random(203);
    are_read("vec2(load_u8(id.x), 0u)", bits().map(|bits| bits as u8).collect(), |x| [x.into(), 0]);
    are_read("vec2(load_u16(id.x), 0u)", bits().map(|bits| bits as u16).collect(), |x| [x.into(), 0]);
    are_read("vec2(load_u32(id.x), 0u)", bits().map(|bits| bits as u32).collect(), |x| [x, 0]);
    are_read("vec2(bitcast<u32>(load_i8(id.x)), 0u)", bits().map(|bits| bits as i8).collect(), |x| [x as u32, 0]);
    are_read("vec2(bitcast<u32>(load_i16(id.x)), 0u)", bits().map(|bits| bits as i16).collect(), |x| [x as u32, 0]);
    are_read("vec2(bitcast<u32>(load_i32(id.x)), 0u)", bits().map(|bits| bits as i32).collect(), |x| [x as u32, 0]);
    let halves = |x: u64| [x as u32, (x >> 32) as u32];
    are_read("load_64(id.x)", bits().collect(), halves);
    are_read("load_64(id.x)", bits().map(|bits| bits as i64).collect(), |x| halves(x as u64));
    let indices = vec![-1, 0, 1, i64::MAX, i64::MIN, -2, 0xffff_ffff, -1 << 32, -1];
    are_read("vec2(u32(is_minus_one(load_64(id.x))), 0u)", indices, |x| [(x == -1).into(), 0]);

    // Floats: ordinary ones, zeros and infinities.
    let special = [0.0, -0.0, f64::INFINITY, f64::NEG_INFINITY, 1.0, -1.5];
    let ordinary = || bits().map(|bits| (bits as i32 as f64) / 65_536.0 / 7.0).chain(special);
    let read = |reader: &str| format!("vec2(bitcast<u32>({reader}(id.x)), 0u)");
    are_read(&read("load_f32"), ordinary().map(|x| x as f32).collect(), |x| [x.to_bits(), 0]);
    are_read(&read("load_f16"), ordinary().map(half::f16::from_f64).collect(), |x| [x.to_f32().to_bits(), 0]);
    are_read(&read("load_bf16"), ordinary().map(half::bf16::from_f64).collect(), |x| [x.to_f32().to_bits(), 0]);
    // Beyond both ends of f32, at its smallest normal number and just below it.
    let small = f64::from(f32::MIN_POSITIVE);
    let ends = [1e39, -1e300, 1e-300, small, small * 0.999, f64::from(f32::MAX), f64::from(f32::MAX) * 1.000_001];
    are_read(&read("load_f64"), ordinary().chain(ends).collect(), |x| {
        // The same number toward zero: the low 29 bits of the mantissa are dropped.
        let toward_zero = f64::from_bits(x.to_bits() & !((1 << 29) - 1)) as f32;
        let normal = if toward_zero.is_subnormal() { 0.0f32.copysign(toward_zero) } else { toward_zero };
        [normal.to_bits(), 0]
    });
    let nans: Vec<f64> = [0x7ff8 << 48, 0xfff0 << 48 | 1, 0x7ff4 << 48].map(f64::from_bits).to_vec();
    are_read("vec2(bitcast<u32>(load_f64(id.x)) & 0x7fc00000u, 0u)", nans, |_| [0x7fc0_0000, 0]);
}

#[gpu_test]
fn a_kernel_behind_a_pool_reads_the_maxima_and_their_indices() {
    // Two taps, 9 apart, on rows of 8 with pads: some windows lie wholly in the padding.
    let pool = MaxPool::new([2, 2]).dilations([1, 9]).pads([0, 3, 0, 3]);
    let [x, other] = [1, 2].map(|seed| seeded(&[2, 3, 7, 8], seed));
    let plan = pool.plan(x.shape(), DType::F32, Some(IndexType::I64)).unwrap();
    let (y, indices) = reference::max_pool_with_indices::<f32, i64>(&plan, &x).unwrap();
    let product = |(y, &index): (&f32, &i64)| if index < 0 { 0.0 } else { y * other.data()[index as usize] };
    let expected: Vec<f32> = y.data().iter().zip(indices.data()).map(product).collect();
    assert!(indices.data().contains(&-1) && expected.iter().any(|&product| product != 0.0));

    let pool = gpu().prepare_blocking(plan).unwrap();
    let multiply = kernel(gpu().device(), shader("products[id.x] = product"));
    let on_device = [&x, &other].map(|tensor| gpu().upload_blocking(tensor, Layout::Nchw).unwrap());
    let products =
        submitted(|encoder| multiply_at_maxima((gpu(), &pool, &multiply), encoder, on_device.each_ref()).unwrap());
    assert_eq!(gpu().download_blocking::<f32>(&products).unwrap().data(), expected);

    // The same kernel in a chain.
    let mut chain = gpu().chain();
    let [maxima, indices] = chain.step(&pool, &[&on_device[0]]).unwrap();
    let products = gpu().zeros_blocking(y.shape(), DType::F32, Layout::Nchw).unwrap();
    let mut pass = chain.encoder().begin_compute_pass(&Default::default());
    let resources = [maxima.as_binding(), indices.as_binding(), on_device[1].as_binding(), products.as_binding()];
    dispatch(&mut pass, (gpu().device(), &multiply), resources, [expected.len().div_ceil(64) as u32, 1]);
    drop(pass);
    let wanted = chain.read_back::<f32>(&products).unwrap();
    assert_eq!(chain.run_blocking().unwrap().take(wanted).unwrap().data(), expected);
}

#[gpu_test]
fn a_binding_is_the_tensor_and_not_its_buffer() {
    let device = gpu().device();
    let usage = BufferUsages::STORAGE | BufferUsages::COPY_SRC;
    let contents: Vec<u32> = (0..300).collect();
    let contents = bytemuck::cast_slice(&contents);
    let buffer = device.create_buffer_init(&wgpu::util::BufferInitDescriptor { label: None, contents, usage });
    // Word 64 is the first one; 7 elements of 16 bits are four words.
    let part = DeviceTensor::from_buffer(gpu(), buffer.clone(), 256, [1, 7], DType::U16, Layout::Nchw).unwrap();
    let wgpu::BindingResource::Buffer(binding) = part.as_binding() else { panic!("another kind of binding") };
    assert_eq!((binding.buffer, binding.offset, binding.size.map(u64::from)), (&buffer, 256, Some(16)));
    let text = "@group(0) @binding(0) var<storage, read> part: array<u32>;
        @group(0) @binding(1) var<storage, read_write> found: array<u32>;
        @compute @workgroup_size(1)
        fn main() {
            found[0] = arrayLength(&part);
            found[1] = part[0];
        }";
    let found = gpu().zeros_blocking([1, 1, 2], DType::U32, Layout::Nchw).unwrap();
    run(&kernel(device, text), [part.as_binding(), found.as_binding()], [1, 1]);
    assert_eq!(gpu().download_blocking::<u32>(&found).unwrap().data(), [4, 64]);
}

fn texture(size: [u32; 2], format: TextureFormat) -> wgpu::Texture {
    texture_for(TextureUsages::STORAGE_BINDING | TextureUsages::COPY_DST, size, format)
}

/// A texture that is bound and copied from, and used otherwise.
fn texture_for(usage: TextureUsages, [width, height]: [u32; 2], format: TextureFormat) -> wgpu::Texture {
    gpu().device().create_texture(&wgpu::TextureDescriptor {
        label: None,
        size: wgpu::Extent3d { width, height, depth_or_array_layers: 1 },
        mip_level_count: 1,
        sample_count: 1,
        dimension: wgpu::TextureDimension::D2,
        format,
        usage: usage | TextureUsages::TEXTURE_BINDING | TextureUsages::COPY_SRC,
        view_formats: &[],
    })
}

/// A texture of pixels of four bytes, and these bytes.
fn filled<T: bytemuck::Pod>([width, height]: [u32; 2], format: TextureFormat, pixels: &[T]) -> wgpu::Texture {
    let texture = texture([width, height], format);
    let layout =
        wgpu::TexelCopyBufferLayout { offset: 0, bytes_per_row: Some(width * 4), rows_per_image: Some(height) };
    gpu().queue().write_texture(texture.as_image_copy(), bytemuck::cast_slice(pixels), layout, texture.size());
    texture
}

/// The bytes of a texture's pixels, row by row without gaps.
fn pixels(texture: &wgpu::Texture) -> Vec<u8> {
    let tensor = submitted(|encoder| texture_to_padded(gpu(), encoder, texture).unwrap());
    let padded = gpu().download_blocking::<u8>(&tensor).unwrap();
    let rows = padded.data().chunks(tensor.shape()[2] * 4);
    rows.flat_map(|row| row[..texture.width() as usize * 4].to_vec()).collect()
}

fn bytes(count: usize) -> Vec<u8> {
    random(count).map(|bits| bits as u8).collect()
}

/// Compares a pool of a wider tensor, in the columns of the picture in it, with the reference's pool of the picture.
fn is_pooled_as(pool: &MaxPool, x: &Tensor<u8>, wider: &Tensor<u8>) {
    let plan = pool.plan(x.shape(), DType::U8, Some(IndexType::I32)).unwrap();
    let (y, indices) = reference::max_pool_with_indices::<u8, i32>(&plan, x).unwrap();
    let (wide_y, mut wide_indices) = pool.on(wider).with_indices::<i32>().run_blocking(&gpu()).unwrap();
    let row = |tensor: &[usize]| tensor[2] * 4;
    let (pitch, width) = (row(wider.shape()) as i32, row(x.shape()) as i32);
    for index in wide_indices.data_mut() {
        *index = *index / pitch * width + *index % pitch;
    }
    assert!(row(y.shape()) > 0 && y.shape()[1] == wide_y.shape()[1]);
    let rows = y.data().chunks(row(y.shape())).zip(wide_y.data().chunks(row(wide_y.shape())));
    assert!(rows.into_iter().all(|(row, wide)| *row == wide[..row.len()]), "{:?}", x.shape());
    let rows = indices.data().chunks(row(y.shape())).zip(wide_indices.data().chunks(row(wide_y.shape())));
    assert!(rows.into_iter().all(|(row, wide)| *row == wide[..row.len()]), "{:?}", x.shape());
}

#[gpu_test]
fn a_padded_picture_is_pooled_without_repacking() {
    let pool = MaxPool::new([3, 3]).strides([2, 2]).dilations([1, 2]).layout(Layout::Nhwc).index_layout(Layout::Nhwc);
    let mut dense = 0;
    for [width, height] in [[64, 9], [101, 37], [192, 5], [3, 70], [65, 1]] {
        let shape = [1, height as usize, width as usize, 4];
        let x = Tensor::new(shape, bytes(shape.iter().product())).unwrap();
        let picture = filled([width, height], TextureFormat::Rgba8Unorm, x.data());
        // To a tensor, and back at once.
        let copy = texture([width, height], TextureFormat::Rgba8Unorm);
        let padded = submitted(|encoder| {
            let padded = texture_to_padded(gpu(), encoder, &picture).unwrap();
            padded_to_texture(encoder, &padded, &copy);
            padded
        });
        assert!(pixels(&copy) == x.data(), "{width} x {height}");
        let mut wider = gpu().download_blocking::<u8>(&padded).unwrap();
        dense += usize::from(padded.shape() == shape && wider == x);
        // What lies in the columns beyond the picture must not matter.
        for row in wider.data_mut().chunks_mut(padded.shape()[2] * 4) {
            row[width as usize * 4..].fill(255);
        }
        is_pooled_as(&pool.clone().pads([1, 2, 1, 0]), &x, &wider);
    }
    assert_eq!(dense, 2);

    // The columns are zeros: a pool with `ceil_mode` and pads at the end finds the picture's elements alone, of which
    // many are zero too.
    for [width, height] in [[100, 6], [101, 7], [63, 8], [6, 5]] {
        let shape = [1, height, width, 4];
        let sparse = random(shape.iter().product()).map(|bits| if bits % 8 == 0 { bits as u8 } else { 0 });
        let x = Tensor::new(shape, sparse.collect()).unwrap();
        let picture = filled([width as u32, height as u32], TextureFormat::Rgba8Unorm, x.data());
        let padded = submitted(|encoder| texture_to_padded(gpu(), encoder, &picture).unwrap());
        is_pooled_as(&pool.clone().pads([1, 2, 1, 3]).ceil_mode(1), &x, &gpu().download_blocking(&padded).unwrap());
    }

    // Planes of a larger buffer, without a copy: 2 of 5, the first one at 256 bytes.
    let x = Tensor::new([1, 5, 16, 16], bytes(5 * 256)).unwrap();
    let whole = gpu().upload_blocking(&x, Layout::Nchw).unwrap();
    let buffer = whole.slice().buffer().clone();
    let planes = DeviceTensor::from_buffer(gpu(), buffer, 256, [1, 2, 16, 16], DType::U8, Layout::Nchw).unwrap();
    assert_eq!(gpu().download_blocking::<u8>(&planes).unwrap().data(), &x.data()[256..768]);
}

#[gpu_test]
fn pictures_of_any_width_are_pooled_by_shaders() {
    let device = gpu().device();
    let with_picture = |line| kernel(device, &format!("{}{}", shader("struct Picture"), shader(line)));
    let kernels = [with_picture("u32(round(texel[channel]"), with_picture("texture_storage_2d<rgba8unorm, write>")];
    let cases =
        [Layout::Nchw, Layout::Nhwc].into_iter().flat_map(|layout| (1..=4).map(move |channels| (layout, channels)));
    for [width, height] in [[101, 37], [64, 8], [3, 5], [2, 3]] {
        let count = width * height;
        let picture = bytes(count * 4);
        let from = filled([width as u32, height as u32], TextureFormat::Rgba8Unorm, &picture);
        for (layout, channels) in cases.clone() {
            let shape = match layout {
                Layout::Nchw => [1, channels, height, width],
                Layout::Nhwc => [1, height, width, channels],
            };
            let plan = MaxPool::new([2, 2]).layout(layout).plan(&shape, DType::U8, None).unwrap();
            let element = |at| {
                let (pixel, channel) = place(at, layout, count, channels);
                picture[pixel * 4 + channel]
            };
            let y =
                reference::max_pool(&plan, &Tensor::new(shape, (0..count * channels).map(element).collect()).unwrap());
            // The channels that Y has, 0 for those that it lacks, alpha 255.
            let outputs = (width - 1) * (height - 1);
            let mut expected = [0, 0, 0, 255].repeat(outputs);
            for (at, &value) in y.unwrap().data().iter().enumerate() {
                let (pixel, channel) = place(at, layout, outputs, channels);
                expected[pixel * 4 + channel] = value;
            }
            let to = texture([width as u32 - 1, height as u32 - 1], TextureFormat::Rgba8Unorm);
            let pool = gpu().prepare_blocking(plan).unwrap();
            submitted(|encoder| pool_texture((gpu(), &pool), kernels.each_ref(), encoder, [&from, &to]).unwrap());
            assert!(pixels(&to) == expected, "{shape:?}, {layout:?}");
        }
    }
}

/// A kernel between a texture and a tensor, with an invocation for each pixel.
fn per_pixel(kernel: &wgpu::ComputePipeline, tensor: &DeviceTensor, texture: &wgpu::Texture, reads_texture: bool) {
    let device = gpu().device();
    let (uniform, [width, height, ..]) = picture_of(device, tensor.spec());
    let is_depth = texture.format().has_depth_aspect();
    let aspect = if is_depth { wgpu::TextureAspect::DepthOnly } else { wgpu::TextureAspect::All };
    let view = texture.create_view(&wgpu::TextureViewDescriptor { aspect, ..Default::default() });
    let texels = wgpu::BindingResource::TextureView(&view);
    let [first, second] = if reads_texture { [texels, tensor.as_binding()] } else { [tensor.as_binding(), texels] };
    run(kernel, [uniform.as_entire_binding(), first, second], [width.div_ceil(8), height.div_ceil(8)]);
}

#[gpu_test]
fn floats_go_through_textures() {
    let device = gpu().device();
    let with_picture = |text: &str| kernel(device, &format!("{}{text}", shader("struct Picture")));
    let read = with_picture(shader("tensor[element(id.xy, channel)] = texel[channel]"));
    let mut text = shader("texture_storage_2d<rgba8unorm, write>").to_owned();
    let exchanged = [
        ("array<u32>", "array<f32>"),
        ("f32(extractBits(tensor[at / 4u], at % 4u * 8u, 8u)) / 255.0", "tensor[at]"),
        ("rgba8unorm", "r32float"),
    ];
    for (before, after) in exchanged {
        assert!(PAGES.contains(&format!("`{after}`")) && text.contains(before), "{before}, {after}");
        text = text.replace(before, after);
    }
    let write = with_picture(&text);
    let [width, height] = [37u32, 11u32];

    // One channel of floats, there and back.
    let x = seeded(&[1, 1, height as usize, width as usize], 5);
    let from = filled([width, height], TextureFormat::R32Float, x.data());
    let on_device = gpu().zeros_blocking(x.shape(), DType::F32, Layout::Nchw).unwrap();
    per_pixel(&read, &on_device, &from, true);
    assert_eq!(gpu().download_blocking::<f32>(&on_device).unwrap(), x);
    let to = texture([width, height], TextureFormat::R32Float);
    per_pixel(&write, &on_device, &to, false);
    assert_eq!(pixels(&to), bytemuck::cast_slice::<f32, u8>(x.data()));

    // Bytes as floats from 0 to 1, three channels of four, in both layouts.
    let picture = bytes((width * height * 4) as usize);
    let from = filled([width, height], TextureFormat::Rgba8Unorm, &picture);
    let (w, h) = (width as usize, height as usize);
    for (layout, shape) in [(Layout::Nchw, [1, 3, h, w]), (Layout::Nhwc, [1, h, w, 3])] {
        let on_device = gpu().zeros_blocking(shape, DType::F32, layout).unwrap();
        per_pixel(&read, &on_device, &from, true);
        for (at, value) in gpu().download_blocking::<f32>(&on_device).unwrap().data().iter().enumerate() {
            let (pixel, channel) = place(at, layout, w * h, 3);
            // Drivers may divide by 255 with an error of a few units in the last place.
            let expected = f32::from(picture[pixel * 4 + channel]) / 255.0;
            assert!((value - expected).abs() < 1e-6, "{layout:?}, {at}: {value}, {expected}");
        }
    }
}

/// A texture with the depth (x + 64 y) / 1024.
fn depths(size: [u32; 2], format: TextureFormat) -> wgpu::Texture {
    let device = gpu().device();
    let texture = texture_for(TextureUsages::RENDER_ATTACHMENT, size, format);
    let text = "
        @vertex fn corner(@builtin(vertex_index) at: u32) -> @builtin(position) vec4<f32> {
            return vec4(f32(at % 2u) * 4.0 - 1.0, f32(at / 2u) * 4.0 - 1.0, 0.0, 1.0);
        }
        @fragment fn depth(@builtin(position) at: vec4<f32>) -> @builtin(frag_depth) f32 {
            return (floor(at.x) + 64.0 * floor(at.y)) / 1024.0;
        }";
    let source = wgpu::ShaderSource::Wgsl(text.into());
    let module = &device.create_shader_module(wgpu::ShaderModuleDescriptor { label: None, source });
    let vertex = wgpu::VertexState { module, entry_point: None, compilation_options: Default::default(), buffers: &[] };
    let fragment =
        wgpu::FragmentState { module, entry_point: None, compilation_options: Default::default(), targets: &[] };
    let pipeline = device.create_render_pipeline(&wgpu::RenderPipelineDescriptor {
        label: None,
        layout: None,
        vertex,
        primitive: wgpu::PrimitiveState::default(),
        depth_stencil: Some(wgpu::DepthStencilState {
            format,
            depth_write_enabled: Some(true),
            depth_compare: Some(wgpu::CompareFunction::Always),
            stencil: wgpu::StencilState::default(),
            bias: wgpu::DepthBiasState::default(),
        }),
        multisample: wgpu::MultisampleState::default(),
        fragment: Some(fragment),
        multiview_mask: None,
        cache: None,
    });
    let view = &texture.create_view(&wgpu::TextureViewDescriptor::default());
    let depth_ops = Some(wgpu::Operations { load: wgpu::LoadOp::Clear(1.0), store: wgpu::StoreOp::Store });
    let depth = wgpu::RenderPassDepthStencilAttachment { view, depth_ops, stencil_ops: None };
    submitted(|encoder| {
        let pass = wgpu::RenderPassDescriptor { depth_stencil_attachment: Some(depth), ..Default::default() };
        let mut pass = encoder.begin_render_pass(&pass);
        pass.set_pipeline(&pipeline);
        pass.draw(0..3, 0..1);
    });
    texture
}

#[gpu_test]
fn depth_is_read_by_a_shader_and_by_a_copy() {
    let text = shader("tensor[element(id.xy, channel)] = texel[channel]");
    let read = kernel(gpu().device(), &format!("{}{text}", shader("struct Picture")));
    let [width, height] = [37usize, 11];
    let expected = |at: usize| (at % width + 64 * (at / width)) as f32 / 1024.0;
    for format in [TextureFormat::Depth16Unorm, TextureFormat::Depth24Plus, TextureFormat::Depth32Float] {
        let texture = depths([width as u32, height as u32], format);
        let on_device = gpu().zeros_blocking([1, 1, height, width], DType::F32, Layout::Nchw).unwrap();
        per_pixel(&read, &on_device, &texture, true);
        let x = gpu().download_blocking::<f32>(&on_device).unwrap();
        let off = |(at, depth): (usize, &f32)| (depth - expected(at)).abs() > 1.0 / 65535.0;
        assert!(!x.data().iter().enumerate().any(off), "{format:?}: {:?}", x.data());

        let (element, dtype) = match format {
            TextureFormat::Depth32Float => (4, DType::F32),
            TextureFormat::Depth16Unorm => (2, DType::U16),
            _ => continue,
        };
        if gpu().adapter_info().backend == wgpu::Backend::Gl {
            eprintln!("GL copies no depth to buffers: the copy of {format:?} is not tested");
            continue;
        }
        let pitch = (texture.width() * element).next_multiple_of(wgpu::COPY_BYTES_PER_ROW_ALIGNMENT);
        let columns = (pitch / element) as usize;
        let padded = gpu().zeros_blocking([1, height, columns, 1], dtype, Layout::Nhwc).unwrap();
        submitted(|encoder| {
            encoder.copy_texture_to_buffer(texture.as_image_copy(), rows_of(&padded, pitch), texture.size());
        });
        let copied: Vec<f32> = match dtype {
            DType::F32 => gpu().download_blocking::<f32>(&padded).unwrap().data().to_vec(),
            _ => {
                let steps = gpu().download_blocking::<u16>(&padded).unwrap();
                steps.data().iter().map(|&step| f32::from(step) / 65535.0).collect()
            }
        };
        for (row, read) in copied.chunks(columns).zip(x.data().chunks(width)) {
            assert!(row[..width].iter().zip(read).all(|(a, b)| (a - b).abs() < 1e-6), "{format:?}");
            assert!(row[width..].iter().all(|&beyond| beyond == 0.0), "{format:?}");
        }
    }
}

#[gpu_test]
fn rows_change_their_pitch() {
    let device = gpu().device();
    let copy_rows = kernel(device, shader("struct Rows"));
    let [words, rows] = [37usize, 11usize];
    let dense: Vec<u32> = random(words * rows).map(|bits| bits as u32).collect();
    let upload = |data: &[u32]| {
        gpu().upload_blocking(&Tensor::new([1, 1, data.len()], data.to_vec()).unwrap(), Layout::Nchw).unwrap()
    };
    let repack = |source: &DeviceTensor, [source_pitch, copy_pitch]: [usize; 2]| {
        // Poison shows which words are not written.
        let copy = upload(&vec![7; copy_pitch * rows]);
        let uniform = [words, rows, source_pitch, copy_pitch].map(|number| number as u32);
        let contents = bytemuck::bytes_of(&uniform);
        let usage = BufferUsages::UNIFORM;
        let uniform = device.create_buffer_init(&wgpu::util::BufferInitDescriptor { label: None, contents, usage });
        let resources = [uniform.as_entire_binding(), source.as_binding(), copy.as_binding()];
        run(&copy_rows, resources, [words.div_ceil(8) as u32, rows.div_ceil(8) as u32]);
        copy
    };
    let padded = repack(&upload(&dense), [words, 64]);
    let found = gpu().download_blocking::<u32>(&padded).unwrap();
    for (row, expected) in found.data().chunks(64).zip(dense.chunks(words)) {
        assert_eq!((&row[..words], &row[words..]), (expected, &[7; 27][..]));
    }
    let back = repack(&padded, [64, words]);
    assert_eq!(gpu().download_blocking::<u32>(&back).unwrap().data(), dense);

    // A dense tensor of 37 x 11 pixels on its way to a texture.
    let buffer = padded.slice().buffer().clone();
    let padded = DeviceTensor::from_buffer(gpu(), buffer, 0, [1, rows, 64, 4], DType::U8, Layout::Nhwc).unwrap();
    let to = texture([words as u32, rows as u32], TextureFormat::Rgba8Unorm);
    submitted(|encoder| padded_to_texture(encoder, &padded, &to));
    assert_eq!(pixels(&to), bytemuck::cast_slice::<u32, u8>(&dense));
}

#[gpu_test]
fn a_lost_device_is_replaced() {
    let instance = wgpu::Instance::new(wgpu::InstanceDescriptor::new_without_display_handle_from_env());
    let x = seeded(&[1, 2, 6, 7], 3);
    let plan = MaxPool::new([2, 2]).plan(x.shape(), DType::F32, None).unwrap();
    let expected = reference::max_pool(&plan, &x).unwrap();
    let mut on_device = pollster::block_on(OnDevice::open(&instance, plan)).unwrap();
    let first = on_device.gpu.clone();
    for lose in [false, true, true] {
        if lose {
            on_device.gpu.device().destroy();
        }
        assert_eq!(pollster::block_on(on_device.max_pool(&instance, &x)).unwrap(), expected);
    }
    assert!(first.device() != on_device.gpu.device(), "the device was replaced");
    assert!(matches!(first.upload_blocking(&x, Layout::Nchw), Err(ExecuteError::DeviceLost(_))));
}

#[gpu_test]
fn calls_run_on_tokio() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).build().unwrap();
    let xs: Vec<_> = (0..16).map(|seed| seeded(&[1, 2, 9, 9], seed)).collect();
    let pool = MaxPool::new([3, 3]);
    let plan = pool.plan(xs[0].shape(), DType::F32, None).unwrap();
    let expected: Vec<_> = xs.iter().map(|x| reference::max_pool(&plan, x).unwrap()).collect();
    let results = runtime.block_on(async {
        let prepared = Arc::new(gpu().prepare(plan).await.unwrap());
        pool_in_tasks(prepared, xs.clone()).await.unwrap()
    });
    assert_eq!(results, expected);
    let beside = pool_beside_tasks(gpu().clone(), pool.clone(), xs[0].clone());
    assert_eq!(runtime.block_on(beside).unwrap(), expected[0]);
    let x = xs[1].clone();
    let task = runtime.spawn(async move { tokio::task::block_in_place(|| pool.on(&x).run_blocking(&gpu())) });
    assert_eq!(runtime.block_on(task).unwrap().unwrap(), expected[1]);
}
