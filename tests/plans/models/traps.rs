//! Which points of dispute a node meets, and which it does not.

use wgpu_pooling::onnx::{Model, Trap};

use super::build::{Build, int, ints, model, new, node, tensor, text, value};

/// The traps of a node that takes `x` of this shape, by their names.
fn traps(opset: i64, pool: Build, number: i64, shape: &[i64]) -> Vec<Trap> {
    let graph = new()
        .message(1, pool)
        .message(5, tensor("s", 7, &[3]).each(7, &[1, 1, 4]))
        .message(5, tensor("t", 7, &[3]).each(7, &[1, 1, 5]))
        .message(11, value("x", number, shape))
        .message(11, value("i", 7, shape));
    Model::from_onnx(model(opset, graph).0).unwrap().nodes()[0].traps()
}

fn names(traps: &[Trap]) -> Vec<&'static str> {
    traps.iter().map(Trap::name).collect()
}

/// A MaxPool of u8, which has no NaN, with these attributes.
fn of_bytes(shape: &[i64], kernel: &[i64], attributes: &[Build]) -> Vec<Trap> {
    let pool = node("MaxPool", &["x"], &["y"]).message(5, ints("kernel_shape", kernel));
    traps(22, attributes.iter().fold(pool, |pool, attribute| pool.message(5, attribute.clone())), 2, shape)
}

#[test]
fn rounding_up_is_a_trap_only_where_the_rules_differ() {
    let ceil = |shape: &[i64]| of_bytes(shape, &[2], &[ints("strides", &[3]), int("ceil_mode", 1)]);
    let drop = Some(vec![1, 1, 3]);
    assert_eq!(ceil(&[1, 1, 9]), [Trap::CeilRule { drop, literal: Some(vec![1, 1, 4]) }]);
    assert_eq!(ceil(&[1, 1, 10]), []);
    assert_eq!(ceil(&[1, 1, -1]), [Trap::CeilRule { drop: None, literal: None }]);
    assert!(ceil(&[1, 1, 9])[0].to_string().contains("(Y [1, 1, 3])"));
}

#[test]
fn auto_pad_has_three() {
    let same = text("auto_pad", "SAME_UPPER");
    let dilated = of_bytes(&[1, 1, 5], &[2], &[same.clone(), ints("dilations", &[2])]);
    let undilated = Some(vec![1, 1, 4]);
    assert_eq!(dilated, [Trap::SameDilated { dilated: Some(vec![1, 1, 5]), undilated }]);
    assert_eq!(names(&of_bytes(&[1, 1, 9], &[1], &[same.clone(), ints("strides", &[5])])), ["same_negative"]);
    let pads = [same.clone(), ints("pads", &[1, 0])];
    assert_eq!(names(&of_bytes(&[1, 1, 9], &[2], &pads)), ["pads_with_auto_pad"]);
    assert_eq!(of_bytes(&[1, 1, 9], &[2], &[same, ints("pads", &[0, 0])]), []);
}

#[test]
fn pads_kernels_and_axes() {
    assert_eq!(names(&of_bytes(&[1, 1, 9], &[3], &[ints("pads", &[1, 0])])), ["wide_pads"]);
    assert_eq!(names(&of_bytes(&[1, 1, 9], &[3], &[ints("pads", &[1, 1])])), [""; 0]);
    let in_padding = of_bytes(&[1, 1, 9], &[2], &[ints("pads", &[2, 2])]);
    assert_eq!(names(&in_padding), ["wide_pads", "empty_windows"]);
    assert_eq!(names(&of_bytes(&[1, 1, 4], &[5], &[ints("strides", &[2])])), ["kernel_exceeds_input"]);
    assert_eq!(names(&of_bytes(&[1, 1, 4], &[9], &[])), ["kernel_exceeds_input"]);
    assert_eq!(names(&of_bytes(&[1, 1, 2, 2, 2, 2], &[2; 4], &[])), ["spatial_axes"]);
}

#[test]
fn indices_floats_and_types() {
    let pool = || node("MaxPool", &["x"], &["y", "i2"]).message(5, ints("kernel_shape", &[2, 2]));
    assert_eq!(names(&traps(22, pool(), 1, &[1, 1, 4, 4])), ["nan"]);
    assert_eq!(names(&traps(22, pool(), 1, &[1, 3, 4, 4])), ["index_convention", "nan"]);
    let columns = pool().message(5, int("storage_order", 1));
    assert_eq!(names(&traps(22, columns, 2, &[1, 1, 4, 4])), ["column_major"]);
    assert_eq!(names(&traps(22, pool(), 16, &[1, 1, 4, 4])), ["nan", "element_type"]);
    assert_eq!(names(&traps(8, pool(), 2, &[1, 1, 4, 4])), ["element_type"], "u8 since opset 12");
    let global = node("GlobalMaxPool", &["x"], &["y"]);
    assert_eq!(traps(1, global, 1, &[1, 3, 4]), [Trap::Nan { indices: false }]);
}

#[test]
fn unpools_have_their_own() {
    let unpool = |inputs: &[&str], strides: i64| {
        let unpool = node("MaxUnpool", inputs, &["y"]).message(5, ints("kernel_shape", &[2]));
        names(&traps(11, unpool.message(5, ints("strides", &[strides])), 1, &[1, 1, 2]))
    };
    assert_eq!(unpool(&["x", "i"], 2), [""; 0]);
    assert_eq!(unpool(&["x", "i", "s"], 2), [""; 0], "the inferred shape");
    assert_eq!(unpool(&["x", "i", "t"], 2), ["output_shape"]);
    assert_eq!(unpool(&["x", "i", "unknown"], 2), ["output_shape"]);
    assert_eq!(unpool(&["x", "i"], 1), ["repeated_indices"]);
}
