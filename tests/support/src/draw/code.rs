//! Cases as Rust code: what a failing case prints is pasted into a test.

use std::fmt::Write;

use wgpu_pooling::{
    Activation, AutoPad, CeilRule, DType, Duplicates, EmptyIndex, EmptyValue, IndexFlattening, IndexType, Layout,
    NanPolicy, OutOfBounds, OutsideWindow, PadsLimit, SamePadding, SizeRounding, StorageOrder, UnpoolMinSize,
    UnpoolSpace,
};

/// A value that can be written as Rust code.
pub trait Code {
    fn code(&self) -> String;
}

macro_rules! code_by_debug {
    ($($type:ident),+) => {
        $(impl Code for $type {
            fn code(&self) -> String {
                format!("{}::{self:?}", stringify!($type))
            }
        })+
    };
}

code_by_debug!(AutoPad, CeilRule, DType, Duplicates, EmptyIndex, EmptyValue, IndexFlattening, IndexType, Layout);
code_by_debug!(
    NanPolicy,
    OutOfBounds,
    OutsideWindow,
    PadsLimit,
    SamePadding,
    SizeRounding,
    StorageOrder,
    UnpoolMinSize,
    UnpoolSpace
);

impl Code for i64 {
    fn code(&self) -> String {
        self.to_string()
    }
}

impl Code for Vec<i64> {
    fn code(&self) -> String {
        format!("{self:?}")
    }
}

impl<T: Code> Code for Option<T> {
    fn code(&self) -> String {
        self.as_ref().map_or("None".to_owned(), |value| format!("Some({})", value.code()))
    }
}

impl Code for Activation {
    fn code(&self) -> String {
        match self {
            Activation::Clip { min, max } => {
                let bits = |bound: &f32| format!("f32::from_bits({:#010x})", bound.to_bits());
                format!("Activation::Clip {{ min: {}, max: {} }}", bits(min), bits(max))
            }
            other => format!("Activation::{other:?}"),
        }
    }
}

/// An operator and the calls that made it, so that what is printed is what ran.
pub struct Written<P> {
    pub value: P,
    pub code: String,
}

impl<P> Written<P> {
    pub fn new(value: P, code: String) -> Self {
        Written { value, code }
    }

    /// Calls a setter, unless the option is left at its default.
    pub fn set<V: Code + Clone>(mut self, name: &str, option: &Option<V>, setter: impl FnOnce(P, V) -> P) -> Self {
        if let Some(option) = option {
            let _ = write!(self.code, ".{name}({})", option.code());
            self.value = setter(self.value, option.clone());
        }
        self
    }
}

/// The bytes of elements that are given as bits.
pub fn elements(dtype: DType, elements: &[u64]) -> String {
    let digits = 2 + 2 * dtype.bytes();
    let bits: Vec<String> = elements.iter().map(|bits| format!("{bits:#0digits$x}")).collect();
    format!("bytes_of({}, &[{}])", dtype.code(), bits.join(", "))
}

/// A test that computes a call on every path.
pub fn test(plan: &str, inputs: &[String]) -> String {
    let mut text = String::from(
        "#[allow(unused_imports)]\n\
         use {support::{call::Call, draw::elements::bytes_of, net::Net}, wgpu_pooling::*};\n\n\
         #[test]\n\
         fn reproducer() {\n",
    );
    let inputs = inputs.join(", ");
    let _ = writeln!(text, "    let plan = {plan}.unwrap();");
    let _ = writeln!(text, "    let call = Call::new(plan, vec![{inputs}]);");
    text.push_str("    Net::new(u32::MAX).agree(&call).unwrap();\n}\n");
    text
}
