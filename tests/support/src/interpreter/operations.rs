//! Operations on words, by their names. What no kernel of this crate computes is an error.

use naga::{AtomicFunction, BinaryOperator, MathFunction, ScalarKind, UnaryOperator};

/// An operation on floats as one on words.
macro_rules! float {
    ($($x:ident),+ => $value:expr) => { |$($x),+| { $(let $x = f32::from_bits($x);)+ f32::to_bits($value) } };
}

pub fn unary(op: UnaryOperator, kind: ScalarKind) -> fn(u32) -> u32 {
    match (op, kind) {
        (UnaryOperator::Negate, ScalarKind::Float) => float!(x => -x),
        (UnaryOperator::Negate, _) => u32::wrapping_neg,
        (UnaryOperator::LogicalNot, _) => |a| u32::from(a == 0),
        (UnaryOperator::BitwiseNot, _) => |a| !a,
    }
}

pub fn binary(op: BinaryOperator, kind: ScalarKind) -> Result<fn(u32, u32) -> u32, String> {
    use BinaryOperator as Op;
    let compare = match kind {
        ScalarKind::Float => compare::<f32>(op),
        ScalarKind::Sint => compare::<i32>(op),
        _ => compare::<u32>(op),
    };
    Ok(match (op, kind) {
        (Op::Add, ScalarKind::Float) => float!(x, y => x + y),
        (Op::Subtract, ScalarKind::Float) => float!(x, y => x - y),
        (Op::Multiply, ScalarKind::Float) => float!(x, y => x * y),
        (Op::Divide, ScalarKind::Float) => float!(x, y => x / y),
        (Op::Add, _) => u32::wrapping_add,
        (Op::Subtract, _) => u32::wrapping_sub,
        (Op::Multiply, _) => u32::wrapping_mul,
        (Op::Divide, ScalarKind::Sint) => |a, b| (a as i32).checked_div(b as i32).unwrap_or(a as i32) as u32,
        (Op::Divide, _) => |a, b| a.checked_div(b).unwrap_or(a),
        (Op::Modulo, ScalarKind::Sint) => |a, b| (a as i32).checked_rem(b as i32).unwrap_or(0) as u32,
        (Op::Modulo, ScalarKind::Uint) => |a, b| a.checked_rem(b).unwrap_or(0),
        (Op::And | Op::LogicalAnd, _) => |a, b| a & b,
        (Op::InclusiveOr | Op::LogicalOr, _) => |a, b| a | b,
        (Op::ExclusiveOr, _) => |a, b| a ^ b,
        (Op::ShiftLeft, _) => u32::wrapping_shl,
        (Op::ShiftRight, ScalarKind::Sint) => |a, b| (a as i32).wrapping_shr(b) as u32,
        (Op::ShiftRight, _) => u32::wrapping_shr,
        (op, kind) => return compare.ok_or_else(|| format!("{op:?} of {kind:?}")),
    })
}

/// What a word stands for.
trait Scalar: PartialOrd {
    fn of(word: u32) -> Self;
}

impl Scalar for u32 {
    fn of(word: u32) -> Self {
        word
    }
}

impl Scalar for i32 {
    fn of(word: u32) -> Self {
        word as i32
    }
}

impl Scalar for f32 {
    fn of(word: u32) -> Self {
        f32::from_bits(word)
    }
}

fn compare<T: Scalar>(op: BinaryOperator) -> Option<fn(u32, u32) -> u32> {
    Some(match op {
        BinaryOperator::Equal => |a, b| u32::from(T::of(a) == T::of(b)),
        BinaryOperator::NotEqual => |a, b| u32::from(T::of(a) != T::of(b)),
        BinaryOperator::Less => |a, b| u32::from(T::of(a) < T::of(b)),
        BinaryOperator::LessEqual => |a, b| u32::from(T::of(a) <= T::of(b)),
        BinaryOperator::Greater => |a, b| u32::from(T::of(a) > T::of(b)),
        BinaryOperator::GreaterEqual => |a, b| u32::from(T::of(a) >= T::of(b)),
        _ => return None,
    })
}

/// A function of up to three arguments.
pub fn math(fun: MathFunction, kind: ScalarKind) -> Result<fn(u32, u32, u32) -> u32, String> {
    use MathFunction as Fun;
    Ok(match (fun, kind) {
        (Fun::Min, ScalarKind::Uint) => |a, b, _| a.min(b),
        (Fun::Max, ScalarKind::Uint) => |a, b, _| a.max(b),
        (Fun::Clamp, ScalarKind::Uint) => |a, b, c| a.max(b).min(c),
        (Fun::Min, ScalarKind::Sint) => |a, b, _| (a as i32).min(b as i32) as u32,
        (Fun::Max, ScalarKind::Sint) => |a, b, _| (a as i32).max(b as i32) as u32,
        (Fun::Clamp, ScalarKind::Sint) => |a, b, c| (a as i32).max(b as i32).min(c as i32) as u32,
        (Fun::Abs, ScalarKind::Sint) => |a, _, _| (a as i32).wrapping_abs() as u32,
        (Fun::Abs, ScalarKind::Uint) => |a, _, _| a,
        (Fun::Min, ScalarKind::Float) => float!(x, y, _z => x.min(y)),
        (Fun::Max, ScalarKind::Float) => float!(x, y, _z => x.max(y)),
        (Fun::Clamp, ScalarKind::Float) => float!(x, y, z => x.max(y).min(z)),
        (Fun::Abs, ScalarKind::Float) => float!(x, _y, _z => x.abs()),
        (Fun::Floor, ScalarKind::Float) => float!(x, _y, _z => x.floor()),
        (Fun::Fma, ScalarKind::Float) => float!(x, y, z => x.mul_add(y, z)),
        (Fun::Exp, ScalarKind::Float) => float!(x, _y, _z => x.exp()),
        (Fun::Exp2, ScalarKind::Float) => float!(x, _y, _z => x.exp2()),
        (Fun::Tanh, ScalarKind::Float) => float!(x, _y, _z => x.tanh()),
        (Fun::FirstTrailingBit, _) => |a, _, _| (a & a.wrapping_neg()).checked_ilog2().unwrap_or(u32::MAX),
        (Fun::FirstLeadingBit, ScalarKind::Uint) => |a, _, _| a.checked_ilog2().unwrap_or(u32::MAX),
        (Fun::CountLeadingZeros, _) => |a, _, _| a.leading_zeros(),
        (Fun::CountTrailingZeros, _) => |a, _, _| a.trailing_zeros(),
        (Fun::CountOneBits, _) => |a, _, _| a.count_ones(),
        (fun, kind) => return Err(format!("{fun:?} of {kind:?}")),
    })
}

/// A conversion from one kind of scalar to another.
pub fn convert(from: ScalarKind, to: ScalarKind) -> Result<fn(u32) -> u32, String> {
    Ok(match (from, to) {
        (ScalarKind::Uint | ScalarKind::Bool, ScalarKind::Float) => |a| (a as f32).to_bits(),
        (ScalarKind::Sint, ScalarKind::Float) => |a| (a as i32 as f32).to_bits(),
        (ScalarKind::Float, ScalarKind::Uint) => |a| f32::from_bits(a) as u32,
        (ScalarKind::Float, ScalarKind::Sint) => |a| f32::from_bits(a) as i32 as u32,
        (ScalarKind::Uint | ScalarKind::Sint, ScalarKind::Bool) => |a| u32::from(a != 0),
        (ScalarKind::Uint | ScalarKind::Sint | ScalarKind::Bool, ScalarKind::Uint | ScalarKind::Sint) => |a| a,
        (from, to) if from == to => |a| a,
        (from, to) => return Err(format!("{from:?} as {to:?}")),
    })
}

/// What an atomic operation leaves in memory of what was there and its argument.
pub fn atomic(fun: AtomicFunction, kind: ScalarKind) -> Result<fn(u32, u32) -> u32, String> {
    let signed = kind == ScalarKind::Sint;
    Ok(match fun {
        AtomicFunction::Add => u32::wrapping_add,
        AtomicFunction::Subtract => u32::wrapping_sub,
        AtomicFunction::And => |a, b| a & b,
        AtomicFunction::ExclusiveOr => |a, b| a ^ b,
        AtomicFunction::InclusiveOr => |a, b| a | b,
        AtomicFunction::Max if signed => |a, b| (a as i32).max(b as i32) as u32,
        AtomicFunction::Min if signed => |a, b| (a as i32).min(b as i32) as u32,
        AtomicFunction::Max => |a, b| a.max(b),
        AtomicFunction::Min => |a, b| a.min(b),
        AtomicFunction::Exchange { compare: None } => |_, b| b,
        AtomicFunction::Exchange { compare: Some(_) } => return Err("an exchange that compares".to_owned()),
    })
}
