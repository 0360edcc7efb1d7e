//! Laws that hold for every pool, whatever the definitions say in detail. Each law takes a pool with indices, an index
//! of -1 for windows wholly in padding and no activation.

use wgpu_pooling::{IndexType, Layout, NanPolicy};

use support::draw::elements::{is_nan, is_unsigned, sign};
use support::draw::pools::{Conventions, Operator, PoolCase};
use support::draw::unpools::UnpoolCase;
use support::net::Net;

use super::check;
use super::definition::{Pooled, coordinates, position};

/// Y does not depend on whether indices are asked for, nor on their type.
pub fn values_do_not_depend_on_indices(case: &PoolCase, net: &Net) -> Result<(), String> {
    let Some((_, _, with)) = check::pool(case, net)? else { return Ok(()) };
    for indices in [None, Some(IndexType::I32), Some(IndexType::I64)] {
        let twin = PoolCase { indices, ..case.clone() };
        match check::pool(&twin, net)? {
            Some((_, _, twin)) if twin.y == with.y => {}
            Some(_) => return Err(format!("y is another one with indices {indices:?}")),
            None => return Err(format!("it is not planned with indices {indices:?}")),
        }
    }
    Ok(())
}

/// Every index is that of an element of its window with exactly the bits of the maximum; only a window without elements
/// has the index -1.
pub fn indices_name_their_maxima(case: &PoolCase, net: &Net) -> Result<(), String> {
    let Some((plan, defined, output)) = check::pool(case, net)? else { return Ok(()) };
    let indices = output.indices.as_ref().ok_or("the law is about indices")?;
    let space = plan.index_space().ok_or("the law is about indices")?;
    let (outputs, index_layout) = (defined.outputs(), case.conventions.index_layout.unwrap_or_default());
    for (n, c, out) in windows(case, &outputs) {
        let index = indices[position(index_layout, case.channels, &outputs, n, c, &out)];
        let y = output.y[position(case.layout(), case.channels, &outputs, n, c, &out)];
        let taps: Vec<&[usize]> = out.iter().zip(&defined.windows).map(|(&o, axis)| &axis[o].taps[..]).collect();
        let nothing = |at: Vec<usize>| {
            let at: Vec<usize> = at.iter().zip(&taps).map(|(&tap, taps)| taps[tap]).collect();
            is_nan(case.dtype, case.x[position(case.layout(), case.channels, &case.spatial, n, c, &at)])
        };
        let counts: Vec<usize> = taps.iter().map(|taps| taps.len()).collect();
        if counts.contains(&0)
            || case.nan_policy == Some(NanPolicy::Ignore) && coordinates(&counts).into_iter().all(nothing)
        {
            if index != -1 {
                return Err(format!("window {out:?} of plane ({n}, {c}) is empty, but its index is {index}"));
            }
            continue;
        }
        let Some((named_n, named_c, at)) = space.decode(index, n, c) else {
            return Err(format!("index {index} of window {out:?} of plane ({n}, {c}) names nothing"));
        };
        if (named_n, named_c) != (n, c) {
            return Err(format!("index {index} of plane ({n}, {c}) names plane ({named_n}, {named_c})"));
        }
        if space.encode(n, c, &at.iter().map(|&p| p as i64).collect::<Vec<_>>()) != index {
            return Err(format!("index {index} names {at:?}, whose index is another one"));
        }
        if stands_for_nothing(case, y) {
            // The constant of a window without an element above the lowest value comes with the index of the plane's
            // first element.
            continue;
        }
        if at.iter().zip(&taps).any(|(p, taps)| !taps.contains(p)) {
            return Err(format!("index {index} of window {out:?} names {at:?}, which is not in the window"));
        }
        let x = case.x[position(case.layout(), case.channels, &case.spatial, n, c, &at)];
        if x != y {
            return Err(format!("index {index} names {x:#x}, but the maximum is {y:#x}"));
        }
    }
    Ok(())
}

/// Undoing a pool gives every maximum at its place and zeros everywhere else.
pub fn unpooling_keeps_every_maximum_at_its_place(case: &PoolCase, net: &Net) -> Result<(), String> {
    let Some((plan, defined, output)) = check::pool(case, net)? else { return Ok(()) };
    if output.y.iter().any(|&y| stands_for_nothing(case, y)) {
        net.count("with a constant for a maximum");
        return Ok(());
    }
    let Some(back) = undone(case, &defined, &output, net)? else { return Ok(()) };
    let indices = output.indices.as_ref().ok_or("the law is about indices")?;
    let space = plan.index_space().ok_or("the law is about indices")?;
    let (outputs, index_layout) = (defined.outputs(), case.conventions.index_layout.unwrap_or_default());
    let mut expected = vec![0; case.x.len()];
    for (n, c, out) in windows(case, &outputs) {
        let index = indices[position(index_layout, case.channels, &outputs, n, c, &out)];
        if let Some((n, c, at)) = space.decode(index, n, c) {
            let at = position(case.layout(), case.channels, &case.spatial, n, c, &at);
            expected[at] = case.x[at];
        }
    }
    match expected.iter().zip(&back).position(|(expected, back)| expected != back) {
        None => Ok(()),
        Some(i) => Err(format!("element {i} came back as {:#x}, not {:#x}", back[i], expected[i])),
    }
}

/// Pooling an unpool's output gives the pooled tensor again, where no two windows share an element and no element is
/// below the zeros of the unpool. Takes a case made by [`disjoint`].
pub fn pooling_again_changes_nothing(case: &PoolCase, net: &Net) -> Result<(), String> {
    let Some((_, defined, output)) = check::pool(case, net)? else { return Ok(()) };
    if !defined.is_disjoint() {
        return Err("the case should have windows that share nothing".to_owned());
    }
    let Some(back) = undone(case, &defined, &output, net)? else { return Ok(()) };
    let twin = PoolCase { x: back, ..case.clone() };
    let Some((_, _, again)) = check::pool(&twin, net)? else {
        return Err("it was planned once, but not again".to_owned());
    };
    if (&again.y, &again.indices) != (&output.y, &output.indices) {
        return Err(format!(
            "first {:x?} at {:?}, then {:x?} at {:?}",
            output.y, output.indices, again.y, again.indices
        ));
    }
    Ok(())
}

/// Makes the windows of a pool disjoint and its elements non-negative.
pub fn disjoint(mut case: PoolCase) -> PoolCase {
    // The zeros of an unpool are above minima.
    case.minimum = false;
    // Under SeedLowest the lowest value itself never wins, and under Ignore a window of NaN alone comes back as zeros.
    let keeps = |&policy: &NanPolicy| !matches!(policy, NanPolicy::SeedLowest | NanPolicy::Ignore);
    case.nan_policy = case.nan_policy.filter(keeps);
    if !is_unsigned(case.dtype) {
        let sign = sign(case.dtype);
        case.x.iter_mut().for_each(|bits| *bits &= !sign);
    }
    match &mut case.operator {
        Operator::Max(options) => {
            let stride = |(a, &kernel): (usize, &i64)| {
                let effective = (kernel - 1) * options.dilations.as_ref().map_or(1, |dilations| dilations[a]) + 1;
                options.strides.as_ref().map_or(1, |strides| strides[a]).max(effective)
            };
            options.strides = Some(options.kernel.iter().enumerate().map(stride).collect());
        }
        Operator::Adaptive(size) => {
            for (size, &extent) in size.iter_mut().zip(&case.spatial) {
                // Windows share elements unless their number divides the extent.
                let divides = |&size: &i64| extent.is_multiple_of(size as usize);
                *size = (1..=*size).rev().find(divides).unwrap_or(1);
            }
        }
        Operator::Global => {}
    }
    case
}

/// Pooling a transposed X gives the transposed Y, and the same indices.
pub fn layouts_are_transpositions(case: &PoolCase, net: &Net) -> Result<(), String> {
    let laid = |layout| Conventions { layout: Some(layout), ..case.conventions.clone() };
    let first = PoolCase { conventions: laid(Layout::Nchw), ..case.clone() };
    let x = transposed(&first, &case.spatial, &case.x);
    let second = PoolCase { conventions: laid(Layout::Nhwc), x, ..case.clone() };
    match (check::pool(&first, net)?, check::pool(&second, net)?) {
        (None, None) => Ok(()),
        (Some((_, defined, first_output)), Some((_, _, second_output))) => {
            if transposed(&first, &defined.outputs(), &first_output.y) != second_output.y {
                return Err(format!("NCHW gives {:x?}, NHWC {:x?}", first_output.y, second_output.y));
            }
            if first_output.indices != second_output.indices {
                return Err(format!(
                    "the indices are {:?}, for NHWC {:?}",
                    first_output.indices, second_output.indices
                ));
            }
            Ok(())
        }
        _ => Err("one layout is planned, the other is refused".to_owned()),
    }
}

/// NHWC elements from NCHW ones.
fn transposed(case: &PoolCase, extents: &[usize], elements: &[u64]) -> Vec<u64> {
    let mut nhwc = vec![0; elements.len()];
    for (n, c, at) in windows(case, extents) {
        let from = position(Layout::Nchw, case.channels, extents, n, c, &at);
        nhwc[position(Layout::Nhwc, case.channels, extents, n, c, &at)] = elements[from];
    }
    nhwc
}

/// Every element of a tensor with these spatial extents.
fn windows(case: &PoolCase, extents: &[usize]) -> Vec<(usize, usize, Vec<usize>)> {
    let (channels, all) = (case.channels, coordinates(extents));
    let planes = (0..case.batch).flat_map(|n| (0..channels).map(move |c| (n, c)));
    planes.flat_map(|(n, c)| all.iter().map(move |at| (n, c, at.clone()))).collect()
}

/// Whether a maximum may be the constant that [`NanPolicy::SeedLowest`] gives where nothing is above it.
fn stands_for_nothing(case: &PoolCase, y: u64) -> bool {
    case.nan_policy == Some(NanPolicy::SeedLowest) && case.furthest().contains(&y)
}

/// The output of the pool, unpooled by its inverse. `None` if the output has no elements, which an unpool refuses.
fn undone(case: &PoolCase, defined: &Pooled, output: &check::Output, net: &Net) -> Result<Option<Vec<u64>>, String> {
    let (Some(index_type), Some(indices)) = (case.indices, &output.indices) else {
        return Err("the law is about indices".to_owned());
    };
    let unpool = UnpoolCase::inverse_of(case, &defined.outputs(), index_type, output.y.clone(), indices.clone());
    let back = check::unpool(&unpool, net)?;
    if back.is_none() && !unpool.spatial.contains(&0) {
        return Err("the inverse of a pool is refused".to_owned());
    }
    Ok(back)
}
