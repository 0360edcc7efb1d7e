//! The application's scene, drawn into a depth texture.

use wgpu_pooling::wgpu;

const FORMAT: wgpu::TextureFormat = wgpu::TextureFormat::Depth32Float;
const TRIANGLES: u32 = 2000;

/// A depth texture, and what draws the scene into it.
pub struct Scene {
    pub view: wgpu::TextureView,
    /// The depth at the greatest distance.
    pub far: f32,
    pipeline: wgpu::RenderPipeline,
}

impl Scene {
    /// Depth is 0 near and 1 far; if it is `reversed`, 1 near and 0 far.
    pub fn new(device: &wgpu::Device, [width, height]: [u32; 2], reversed: bool) -> Scene {
        let texture = device.create_texture(&wgpu::TextureDescriptor {
            label: Some("depth"),
            size: wgpu::Extent3d { width, height, depth_or_array_layers: 1 },
            mip_level_count: 1,
            sample_count: 1,
            dimension: wgpu::TextureDimension::D2,
            format: FORMAT,
            usage: wgpu::TextureUsages::RENDER_ATTACHMENT | wgpu::TextureUsages::TEXTURE_BINDING,
            view_formats: &[],
        });
        let module = &device.create_shader_module(wgpu::include_wgsl!("scene.wgsl"));
        let (far, nearer) =
            if reversed { (0.0, wgpu::CompareFunction::Greater) } else { (1.0, wgpu::CompareFunction::Less) };
        let constants: &[(&str, f64)] = &[("FAR", far.into())];
        let compilation_options = wgpu::PipelineCompilationOptions { constants, ..Default::default() };
        let pipeline = device.create_render_pipeline(&wgpu::RenderPipelineDescriptor {
            label: Some("scene"),
            layout: None,
            vertex: wgpu::VertexState { module, entry_point: None, compilation_options, buffers: &[] },
            primitive: wgpu::PrimitiveState::default(),
            depth_stencil: Some(wgpu::DepthStencilState {
                format: FORMAT,
                depth_write_enabled: Some(true),
                depth_compare: Some(nearer),
                stencil: wgpu::StencilState::default(),
                bias: wgpu::DepthBiasState::default(),
            }),
            multisample: wgpu::MultisampleState::default(),
            // Depth alone is drawn.
            fragment: None,
            multiview_mask: None,
            cache: None,
        });
        Scene { view: texture.create_view(&wgpu::TextureViewDescriptor::default()), far, pipeline }
    }

    pub fn draw(&self, encoder: &mut wgpu::CommandEncoder) {
        let depth_ops = Some(wgpu::Operations { load: wgpu::LoadOp::Clear(self.far), store: wgpu::StoreOp::Store });
        let view = &self.view;
        let mut pass = encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
            label: Some("scene"),
            depth_stencil_attachment: Some(wgpu::RenderPassDepthStencilAttachment {
                view,
                depth_ops,
                stencil_ops: None,
            }),
            ..Default::default()
        });
        pass.set_pipeline(&self.pipeline);
        pass.draw(0..3, 0..TRIANGLES);
    }
}
