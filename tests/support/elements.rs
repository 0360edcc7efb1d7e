//! From a dtype to its Rust type.

/// Evaluates an expression with a type alias for the Rust type of a dtype.
macro_rules! with_element {
    ($dtype:expr, $type:ident => $body:expr) => {
        match $dtype {
            wgpu_pooling::DType::F32 => with_element!(@ $type = f32, $body),
            wgpu_pooling::DType::F16 => with_element!(@ $type = half::f16, $body),
            wgpu_pooling::DType::Bf16 => with_element!(@ $type = half::bf16, $body),
            wgpu_pooling::DType::F64 => with_element!(@ $type = f64, $body),
            wgpu_pooling::DType::I8 => with_element!(@ $type = i8, $body),
            wgpu_pooling::DType::U8 => with_element!(@ $type = u8, $body),
            wgpu_pooling::DType::I16 => with_element!(@ $type = i16, $body),
            wgpu_pooling::DType::U16 => with_element!(@ $type = u16, $body),
            wgpu_pooling::DType::I32 => with_element!(@ $type = i32, $body),
            wgpu_pooling::DType::U32 => with_element!(@ $type = u32, $body),
            wgpu_pooling::DType::I64 => with_element!(@ $type = i64, $body),
            wgpu_pooling::DType::U64 => with_element!(@ $type = u64, $body),
        }
    };
    (@ $type:ident = $rust:ty, $body:expr) => {{
        type $type = $rust;
        $body
    }};
}
pub(crate) use with_element;
