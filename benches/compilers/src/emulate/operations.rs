//! Operations on words.

use naga::{AtomicFunction, BinaryOperator, MathFunction, ScalarKind, UnaryOperator};

pub fn unary(op: UnaryOperator, kind: ScalarKind, a: u32) -> Result<u32, String> {
    Ok(match (op, kind) {
        (UnaryOperator::Negate, ScalarKind::Float) => (-f32::from_bits(a)).to_bits(),
        (UnaryOperator::Negate, _) => a.wrapping_neg(),
        (UnaryOperator::LogicalNot, _) => u32::from(a == 0),
        (UnaryOperator::BitwiseNot, _) => !a,
    })
}

pub fn binary(op: BinaryOperator, kind: ScalarKind, a: u32, b: u32) -> Result<u32, String> {
    use BinaryOperator as Op;
    let (x, y) = (f32::from_bits(a), f32::from_bits(b));
    let (i, j) = (a as i32, b as i32);
    let ordering = match kind {
        ScalarKind::Float => x.partial_cmp(&y),
        ScalarKind::Sint => Some(i.cmp(&j)),
        _ => Some(a.cmp(&b)),
    };
    let word = match (op, kind) {
        (Op::Add, ScalarKind::Float) => (x + y).to_bits(),
        (Op::Subtract, ScalarKind::Float) => (x - y).to_bits(),
        (Op::Multiply, ScalarKind::Float) => (x * y).to_bits(),
        (Op::Divide, ScalarKind::Float) => (x / y).to_bits(),
        (Op::Add, _) => a.wrapping_add(b),
        (Op::Subtract, _) => a.wrapping_sub(b),
        (Op::Multiply, _) => a.wrapping_mul(b),
        (Op::Divide, ScalarKind::Sint) => i.checked_div(j).unwrap_or(i) as u32,
        (Op::Divide, _) => a.checked_div(b).unwrap_or(a),
        (Op::Modulo, ScalarKind::Sint) => i.checked_rem(j).unwrap_or(0) as u32,
        (Op::Modulo, ScalarKind::Uint) => a.checked_rem(b).unwrap_or(0),
        (Op::Equal, _) => u32::from(ordering.is_some_and(|it| it.is_eq())),
        (Op::NotEqual, _) => u32::from(ordering.is_none_or(|it| it.is_ne())),
        (Op::Less, _) => u32::from(ordering.is_some_and(|it| it.is_lt())),
        (Op::LessEqual, _) => u32::from(ordering.is_some_and(|it| it.is_le())),
        (Op::Greater, _) => u32::from(ordering.is_some_and(|it| it.is_gt())),
        (Op::GreaterEqual, _) => u32::from(ordering.is_some_and(|it| it.is_ge())),
        (Op::And | Op::LogicalAnd, _) => a & b,
        (Op::InclusiveOr | Op::LogicalOr, _) => a | b,
        (Op::ExclusiveOr, _) => a ^ b,
        (Op::ShiftLeft, _) => a.wrapping_shl(b),
        (Op::ShiftRight, ScalarKind::Sint) => i.wrapping_shr(b) as u32,
        (Op::ShiftRight, _) => a.wrapping_shr(b),
        (op, kind) => return Err(format!("{op:?} of {kind:?}")),
    };
    Ok(word)
}

pub fn math(fun: MathFunction, kind: ScalarKind, [a, b, c]: [u32; 3]) -> Result<u32, String> {
    use MathFunction as Fun;
    let floats = [a, b, c].map(f32::from_bits);
    let [x, y, z] = floats;
    let [i, j, k] = [a, b, c].map(|word| word as i32);
    let word = match (fun, kind) {
        (Fun::Min, ScalarKind::Uint) => a.min(b),
        (Fun::Max, ScalarKind::Uint) => a.max(b),
        (Fun::Clamp, ScalarKind::Uint) => a.max(b).min(c),
        (Fun::Min, ScalarKind::Sint) => i.min(j) as u32,
        (Fun::Max, ScalarKind::Sint) => i.max(j) as u32,
        (Fun::Clamp, ScalarKind::Sint) => i.max(j).min(k) as u32,
        (Fun::Abs, ScalarKind::Sint) => i.wrapping_abs() as u32,
        (Fun::Abs, ScalarKind::Uint) => a,
        (Fun::Min, ScalarKind::Float) => x.min(y).to_bits(),
        (Fun::Max, ScalarKind::Float) => x.max(y).to_bits(),
        (Fun::Clamp, ScalarKind::Float) => x.max(y).min(z).to_bits(),
        (Fun::Abs, ScalarKind::Float) => x.abs().to_bits(),
        (Fun::Floor, ScalarKind::Float) => x.floor().to_bits(),
        (Fun::Fma, ScalarKind::Float) => x.mul_add(y, z).to_bits(),
        (Fun::Exp, ScalarKind::Float) => x.exp().to_bits(),
        (Fun::Exp2, ScalarKind::Float) => x.exp2().to_bits(),
        (Fun::Tanh, ScalarKind::Float) => x.tanh().to_bits(),
        (Fun::FirstTrailingBit, _) => {
            if a == 0 {
                u32::MAX
            } else {
                a.trailing_zeros()
            }
        }
        (Fun::FirstLeadingBit, ScalarKind::Uint) => {
            if a == 0 {
                u32::MAX
            } else {
                31 - a.leading_zeros()
            }
        }
        (Fun::CountLeadingZeros, _) => a.leading_zeros(),
        (Fun::CountTrailingZeros, _) => a.trailing_zeros(),
        (Fun::CountOneBits, _) => a.count_ones(),
        (fun, kind) => return Err(format!("{fun:?} of {kind:?}")),
    };
    Ok(word)
}

/// A conversion from one kind of scalar to another, or the same bits.
pub fn convert(from: ScalarKind, to: ScalarKind, bits: bool, a: u32) -> Result<u32, String> {
    let x = f32::from_bits(a);
    Ok(match (from, to) {
        _ if bits => a,
        (ScalarKind::Uint | ScalarKind::Sint, ScalarKind::Uint | ScalarKind::Sint) => a,
        (ScalarKind::Uint, ScalarKind::Float) => (a as f32).to_bits(),
        (ScalarKind::Sint, ScalarKind::Float) => (a as i32 as f32).to_bits(),
        (ScalarKind::Float, ScalarKind::Uint) => x as u32,
        (ScalarKind::Float, ScalarKind::Sint) => x as i32 as u32,
        (ScalarKind::Bool, ScalarKind::Float) => (a as f32).to_bits(),
        (ScalarKind::Bool, _) => a,
        (_, ScalarKind::Bool) => u32::from(a != 0),
        (from, to) => {
            if from == to {
                a
            } else {
                return Err(format!("{from:?} as {to:?}"));
            }
        }
    })
}

/// What an atomic operation leaves in memory.
pub fn atomic(fun: AtomicFunction, kind: ScalarKind, old: u32, value: u32) -> Result<u32, String> {
    let signed = kind == ScalarKind::Sint;
    Ok(match fun {
        AtomicFunction::Add => old.wrapping_add(value),
        AtomicFunction::Subtract => old.wrapping_sub(value),
        AtomicFunction::And => old & value,
        AtomicFunction::ExclusiveOr => old ^ value,
        AtomicFunction::InclusiveOr => old | value,
        AtomicFunction::Max if signed => (old as i32).max(value as i32) as u32,
        AtomicFunction::Min if signed => (old as i32).min(value as i32) as u32,
        AtomicFunction::Max => old.max(value),
        AtomicFunction::Min => old.min(value),
        AtomicFunction::Exchange { compare: None } => value,
        AtomicFunction::Exchange { compare: Some(_) } => return Err("an exchange that compares".to_owned()),
    })
}
